"""Pages of results from the command line: reports of anything, and the browser that shows them."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import pytest

import discreet
from running import run

DATA = ("--person", "customer", "--item", "product")


@pytest.fixture
def sales(tmp_path):
    path = tmp_path / "sales.csv"
    rows = [f"{person},{item}\n" for person in range(400) for item in ("tea", "milk", "jam")[: 1 + person % 3]]
    path.write_text("customer,product\n" + "".join(rows))
    return path


@pytest.fixture
def released(sales, tmp_path):
    run("release", sales, *DATA, "--top", 4, "--epsilon", 1, "--items", "public", "-o", tmp_path / "r.json", check=True)
    return tmp_path / "r.json"


@pytest.mark.parametrize(
    ("arguments", "note"),
    [
        (["mine", "--top", 3], "EXACT: not private"),
        (["rules", "--min-count", 5], "EXACT: not private"),
        (["relations", "--top", 3], "EXACT: not private"),
        (["simulate", "--top", 2, "--epsilon", 4, "--seed", 1], "SIMULATED: not a private release"),
    ],
)
def test_what_is_not_a_release_has_a_report_that_says_so(sales, tmp_path, arguments, note):
    command, *options = arguments
    completed = run(command, sales, *DATA, *options, "--report", tmp_path / "out.html", "--title", "A <shop>")
    assert completed.returncode == 0, completed.stderr
    assert f"report written to {tmp_path / 'out.html'}" in completed.stderr
    page = (tmp_path / "out.html").read_text()
    assert f'role="note">{note}</p>' in page
    assert "<h1>A &lt;shop&gt;</h1>" in page


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("out.txt", "A report is a page: give a name that ends in .html instead of {place}."),
        ("no/out.html", "{place} cannot be written"),
    ],
)
def test_a_wrong_place_is_refused_before_any_work(sales, tmp_path, name, message):
    completed = run("mine", sales, *DATA, "--top", 3, "--report", tmp_path / name)
    assert (completed.returncode, completed.stdout) == (1, "")
    assert message.format(place=tmp_path / name).partition(" cannot")[0] in completed.stderr


def test_a_report_does_not_take_the_place_of_the_data(sales, tmp_path):
    page = sales.rename(tmp_path / "sales.html")
    completed = run("mine", page, *DATA, "--input-format", "csv", "--top", 3, "--report", page, "--force")
    assert completed.returncode == 1
    assert completed.stderr == f"discreet: {page} is read: write the report to another file.\n"
    assert page.read_text().startswith("customer")


def test_a_saved_release_becomes_the_same_report_again(released, tmp_path):
    completed = run("report", released, "--title", "A shop")
    assert (completed.returncode, completed.stderr) == (0, f"report written to {tmp_path / 'r.html'}\n")
    page = (tmp_path / "r.html").read_text()
    assert page == discreet.Release.load(released).report(title="A shop")
    run("report", released, "-o", tmp_path / "other.html", check=True)
    assert "<h1>Frequent patterns: r.json</h1>" in (tmp_path / "other.html").read_text()


def test_what_compares_becomes_a_page_again(released, sales, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    diff, compared = tmp_path / "diff.json", tmp_path / "compare.json"
    run("diff", released, released, "-o", diff, check=True)
    run("compare", sales, *DATA, "--top", 2, "--mechanism", "bases", "--runs", 1, "-o", compared, check=True)
    for place, kind in ((diff, discreet.Differences), (compared, discreet.Comparison)):
        result = discreet.load(place)
        assert isinstance(result, kind)
        assert result == kind.load(place)
        run("report", place, check=True)
        assert place.with_suffix(".html").read_text() == result.report()
        run("report", place, "--title", "A shop", check=True)
        assert "<h1>A shop</h1>" in place.with_suffix(".html").read_text()
        # Nothing else can be made of them.
        completed = run("rules", place, "--min-confidence", "0.5")
        assert completed.returncode == 1
        assert "holds no patterns or rules" in completed.stderr
    page_paths: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda page: page_paths.append(page) or True)
    run("open", diff, check=True)
    assert "From r to r" in Path(page_paths[0].removeprefix("file://")).read_text()


def test_what_holds_no_result_has_no_report(sales):
    completed = run("report", sales)
    assert completed.returncode == 1
    assert "has no column 'items'" in completed.stderr


@pytest.mark.parametrize("works", [True, False])
def test_the_browser_is_shown_the_page(released, tmp_path, monkeypatch, works):
    addresses: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda place: addresses.append(place) or works)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    completed = run("open", released)
    (place,) = [Path(address.removeprefix("file://")) for address in addresses]
    assert place.read_text() == discreet.Release.load(released).report(title="Frequent patterns: r.json")
    assert place.parent.stat().st_mode & 0o077 == 0  # an exact one is for nobody else
    message = f"The page is {place}; nothing removes it but you or the system.\n"
    sorry = f"discreet: No browser could be started here. Open {place} in one, on this machine or another.\n"
    assert (completed.returncode, completed.stderr) == ((0, message) if works else (1, message + sorry))
    completed = run("open", place)
    assert addresses[1:] == [place.as_uri()]
    assert completed.returncode == (0 if works else 1)


def test_what_is_not_there_is_not_opened(tmp_path):
    completed = run("open", tmp_path / "no.html")
    assert (completed.returncode, completed.stderr) == (1, f"discreet: There is no file {tmp_path / 'no.html'}.\n")


def test_a_page_of_relations_is_that_of_the_saved_file(sales, tmp_path):
    command = ("relations", sales, *DATA, "--top", 3, "-o", tmp_path / "sales.json", "--title", "Shop")
    run(*command, "--report", tmp_path / "one.html", check=True)
    run("report", tmp_path / "sales.json", "--title", "Shop", "-o", tmp_path / "two.html", check=True)
    assert (tmp_path / "one.html").read_text() == (tmp_path / "two.html").read_text()
    assert "both items are in the basket" in (tmp_path / "one.html").read_text()


def test_no_command_says_that_there_are_no_reports():
    completed = run("rank", "--report", "page.html")
    assert "No such option: --report" in completed.stderr
    assert "every result has counts" not in completed.stderr


def test_a_page_of_a_saved_simulation_cites_what_the_first_one_did(sales, tmp_path):
    command = ("simulate", sales, *DATA, "--top", 2, "--epsilon", 4, "--seed", 1, "--title", "Shop")
    run(*command, "-o", tmp_path / "sim.json", "--report", tmp_path / "one.html", check=True)
    run("report", tmp_path / "sim.json", "--title", "Shop", "-o", tmp_path / "two.html", check=True)
    assert (tmp_path / "one.html").read_text() == (tmp_path / "two.html").read_text()
    assert "oracles: " in (tmp_path / "two.html").read_text()
