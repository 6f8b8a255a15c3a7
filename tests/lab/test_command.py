"""`discreet lab` from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import discreet_lab
import running
from discreet.cli import Interrupted, ProgressBar, app
from discreet_lab.command import OwnData
from discreet_lab.data.own_data import replace_data, replace_points
from discreet_lab.papers import experiment, experiments
from discreet_lab.run.experiment import Data

DATA = "1 2 3 4\n1 2 5\n3 4 5 6\n2 6\n" * 50


def invoke(*words):
    return CliRunner().invoke(app, ["lab", *words])


def test_list_names_every_experiment():
    completed = invoke("list")
    assert completed.exit_code == 0
    for name in experiments():
        assert name in completed.output


def test_run_on_data_of_ones_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.dat").write_text(DATA)
    completed = invoke("run", "004-figure-5", "--quick", "--jobs", "1", "--data", "mine.dat", "--with", "privbasis")
    assert completed.exit_code == 0, completed.output
    assert "privbasis" in completed.output
    assert (tmp_path / "lab-results" / "004-figure-5.parquet").is_file()


def test_regret_shows_goals_and_the_worst_and_makes_a_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.dat").write_text(DATA)
    small_experiment = replace_points(replace_data(experiment("regret"), Data(name="mine.dat")), ["top=3 epsilon=2"])
    monkeypatch.setattr("discreet_lab.papers.experiments", lambda: {"regret": small_experiment})
    for words, rows in ((("page", "--paper", "regret"), 0), (("run", "regret", "--jobs", "1"), 1)):
        completed = invoke(*words, "--quick")
        assert completed.exit_code == 0, completed.output
        assert ("The worst in misses" in completed.output) == bool(rows)
    assert (tmp_path / "lab-results" / "regret.parquet").is_file()
    # A page runs nothing that is run by its name.
    assert "*Not run yet*" in (tmp_path / "lab-pages" / "regret.md").read_text()
    invoke("page", "--paper", "regret", "--quick")
    assert "**The worst in misses:**" in (tmp_path / "lab-pages" / "regret.md").read_text()


def test_more_seeds_are_run_where_that_is_asked(tables):
    from discreet_lab.run.store import Store

    words = ("run", "000-table-2", "--jobs", "1")
    assert invoke(*words, "--repeats", "2").exit_code == 0
    assert {row.seed for row in Store(Path("lab-results")).read("000-table-2")} == {0, 1}
    assert str(invoke(*words, "--repeats", "0").exception) == "The number of repeats is 0; it must be 1 or more."


def test_what_takes_long_is_run_by_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert str(invoke("run", "--paper", "regret").exception) == (
        "These take long, or are run once, so they are run by their names: regret, regret-full, regret-aside."
        " Type one of them."
    )


def test_data_without_points_of_their_own_have_those_of_the_papers_or_those_that_are_typed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.dat").write_text(DATA)
    words = ("run", "002-figure-6", "--quick", "--jobs", "1", "--data", "mine.dat")
    assert "threshold = 0.006" in invoke(*words).output
    completed = invoke(*words, "--values", "0.2,0.1")
    assert completed.exit_code == 0, completed.output
    assert "threshold = 0.1" in completed.output
    assert "threshold = 0.006" not in completed.output


def test_data_that_cannot_be_read_are_told_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.dat").write_text("")
    failed = invoke("run", "004-figure-5", "--quick", "--data", "mine.dat")
    assert failed.exit_code == 1
    assert failed.output == ""
    assert str(failed.exception) == "mine.dat is empty; a file of one empty basket has one blank line."
    assert not (tmp_path / "lab-results").exists()


def test_of_a_whole_paper_what_has_no_data_is_left_out(tables, monkeypatch):
    (tables / "mine.dat").write_text(DATA)
    known_experiments = {name: experiments()[name] for name in ("002-theorem-3", "002-figure-1")}
    monkeypatch.setattr("discreet_lab.papers.experiments", lambda: known_experiments)
    completed = invoke("run", "--paper", "002", "--quick", "--jobs", "1", "--data", "mine.dat")
    assert completed.exit_code == 0, completed.output
    assert completed.stderr == (
        "left out: 002-theorem-3 computes a formula and reads no data: run it without data of your own.\n"
    )


def test_a_name_typed_twice_is_run_once(tables):
    first_run, twice = invoke("run", "000-table-2", "--jobs", "1"), invoke("run", "000-table-2", "000-table-2")
    assert first_run.output == twice.output


@pytest.mark.parametrize("words", [["run", "000-table-2"], ["page"]])
def test_an_interrupt_says_what_is_kept(words, tables, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("discreet_lab.run.runner.run", interrupted)
    failed = invoke(*words)
    assert isinstance(failed.exception, Interrupted)
    assert str(failed.exception) == "interrupted; what ran is kept, and the same command goes on from there."


def test_run_on_a_table_of_ones_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{person},{item}" for person, line in enumerate(DATA.split("\n")) for item in line.split()]
    (tmp_path / "mine.csv").write_text("\n".join(["who,what", *rows]))
    words = ("--data", "mine.csv", "--person", "who", "--item", "what")
    completed = invoke("run", "004-figure-5", "--quick", "--jobs", "1", *words)
    assert completed.exit_code == 0, completed.output


@pytest.fixture
def tables(tmp_path, monkeypatch):
    """Stand in an empty folder where formulas are all that is measured."""
    monkeypatch.chdir(tmp_path)
    known_experiments = {
        name: known_experiment
        for name, known_experiment in experiments().items()
        if known_experiment.measure == "formula"
    }
    monkeypatch.setattr("discreet_lab.papers.experiments", lambda: known_experiments)
    return tmp_path


def test_pages_and_their_index(tables):
    completed = invoke("page", "-o", "pages")
    assert completed.exit_code == 0, completed.output
    page_paths = [Path(line) for line in completed.output.splitlines()]
    assert page_paths[-1] == Path("pages/index.md")
    assert (
        len(page_paths)
        == len({known_experiment.paper for known_experiment in discreet_lab.papers.experiments().values()}) + 1
    )
    assert "(paper: " in (tables / "pages" / "000.md").read_text()
    assert (tables / "pages" / "000-figure-1-epsilon.svg").is_file()


def test_pages_of_what_is_kept_say_what_is_missing(tables):
    completed = invoke("page", "--paper", "000", "--kept")
    assert (completed.exit_code, completed.output) == (0, "lab-pages/000.md\n")
    assert not (tables / "lab-results").exists()
    page = (tables / "lab-pages" / "000.md").read_text()
    assert "- Table II: all of it (`discreet lab run 000-table-2`)\n" in page
    assert invoke("run", "000-table-2", "--jobs", "1").exit_code == 0
    invoke("page", "--paper", "000", "--kept")
    page = (tables / "lab-pages" / "000.md").read_text()
    assert "- Table II: " not in page
    assert "**Not all was run.**" in page


def test_a_page_as_one_file(tables):
    completed = invoke("page", "--paper", "000", "--html")
    assert (completed.exit_code, completed.output) == (0, "lab-pages/000.html\n")
    assert [path.name for path in (tables / "lab-pages").iterdir()] == ["000.html"]
    assert "<svg" in (tables / "lab-pages" / "000.html").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run"], "Say what to run: names from `discreet lab list`, --paper 000, or --all."),
        (["run", "004-figure-5", "--all"], "Say what to run: names from `discreet lab list`, --paper 000, or --all."),
        (["run", "009"], "There is no experiment '009'. Did you mean 003-e9? `discreet lab list` has all of them."),
        (["run", "004-figure-5", "--jobs", "0"], "The number of processes is 0; it must be 1 or more."),
        (
            ["run", "004-figure-5", "--person", "who", "--ordered"],
            "Without a file there is nothing to read: add --data FILE, or leave --person, --ordered out.",
        ),
        (["run", "000-table-2", "--with", "auto"], "000-table-2 computes formulas: neither mechanisms nor"),
        (["run", "--paper", "004", "--with", "svsm"], "004-figure-2 computes formulas: neither mechanisms nor"),
        (["run", "003-table-3", "--values", "3"], "003-table-3 has no axis: run it without values of your own."),
        (["page", "--paper", "9"], "There are no experiments of a paper '9': it is one of"),
    ],
)
def test_mistakes(words, message):
    failed = invoke(*words)
    assert failed.exit_code == 1
    assert str(failed.exception).startswith(message)


def test_data_are_read_as_messages_say(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("own.dat").write_text("1 2\n1 tea\n")
    completed = running.run("lab", "run", "004-figure-5", "--data", "own.dat")
    assert completed.returncode == 1
    assert completed.stderr.endswith("; --labels names reads items as names.\n")
    assert OwnData(data=Path("own.dat"), labels="names").build_data().reading == {"labels": "names"}
    Path("own.csv").write_text("who;what\n1;tea\n;milk\n")
    read_options = {"person": "who", "item": "what", "nulls": "drop", "delimiter": ";"}
    assert OwnData(data=Path("own.csv"), **read_options).build_data().reading == read_options


def test_the_time_left_is_known_where_shares_come_minutes_apart(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr("rich.console.monotonic", lambda: clock[0])
    bar = ProgressBar("running")
    bar._show()
    try:
        for share in (0.1, 0.2, 0.3):
            bar(share)
            clock[0] += 100
        (task,) = bar._progress.tasks
        assert task.time_remaining == pytest.approx(700, abs=1)
    finally:
        bar._progress.stop()


@pytest.mark.parametrize(("options", "name"), [((), "000.md"), (("--html",), "000.html")])
def test_a_page_replaces_an_earlier_version_of_itself_alone(tables, options, name):
    command = ("page", "--paper", "000", "--kept", *options)
    assert [invoke(*command).exit_code for _ in range(2)] == [0, 0]
    place = tables / "lab-pages" / name
    place.write_text("# Notes\n")
    completed = invoke(*command)
    assert (completed.exit_code, place.read_text()) == (1, "# Notes\n")
    assert "is no page of the lab: nothing was changed." in str(completed.exception)
