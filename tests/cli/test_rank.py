"""`discreet rank` as a user meets it."""

from __future__ import annotations

import json
import sys

import pytest

import discreet
from discreet import Ledger
from discreet.cli import main

TABLE = "page,visitors,team\nhome,48210,a\nhelp,30922,b\nshop,21007,c\nnews,1204,d\nvoid,0,e\n"
NOT_A_NUMBER = (
    "The score of 'home' is not a number: a score is a whole number, a fraction such as '1/3' or a decimal number such "
    "as '0.25'."
)

DECLARED = {"sensitivity": 1, "labels": "public"}


@pytest.fixture
def pages(tmp_path):
    path = tmp_path / "pages.csv"
    path.write_text(TABLE)
    return path


@pytest.fixture
def ledger(tmp_path):
    path = tmp_path / "budget.db"
    Ledger.create(path, epsilon=100, really=True)
    return path


@pytest.fixture
def run(monkeypatch, capsys):
    """Return a function that runs the command line: exit status, what it printed, what it complained about."""

    def go(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["discreet", "rank", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        output = capsys.readouterr()
        return end.value.code or 0, output.out, output.err

    return go


def ranking_command(file, **changed: object) -> list[object]:
    options = {"label": "page", "score": "visitors", "top": 2, "epsilon": 50} | DECLARED | changed
    return [file, "--really", *(part for name, value in options.items() for part in (f"--{name}", value))]


class TestRanking:
    def test_table(self, run, pages):
        status, output, err = run(*ranking_command(pages), "--monotone")
        assert (status, err) == (0, "")
        lines = output.splitlines()
        assert lines[0] == "central differential privacy, add or remove one person, epsilon = 50"
        assert lines[-3].split() == ["label", "score", "low", "high"]
        assert [line.split()[0] for line in lines[-2:]] == ["home", "help"]

    def test_interrupted_it_says_where_to_look_for_what_was_paid(self, run, pages, ledger, monkeypatch):
        def stop(*_, **__):
            raise KeyboardInterrupt

        monkeypatch.setattr("discreet.publish.rank", stop)
        message = f"discreet: interrupted; no result was written. `discreet ledger show {ledger}` says what was paid.\n"
        assert run(*ranking_command(pages, ledger=ledger)) == (130, "", message)
        assert run(*ranking_command(pages)) == (130, "", "discreet: interrupted; no result was written.\n")

    @pytest.mark.parametrize("mechanism", ["exponential", "laplace"])
    def test_json(self, run, pages, mechanism):
        status, output, err = run(
            *ranking_command(pages, mechanism=mechanism, neighbours="replace"), "--format", "json"
        )
        assert (status, err) == (0, "")
        document = json.loads(output)
        assert document["labels"] == ["home", "help"]
        assert (document["mechanism"], document["simulated"]) == (mechanism, False)
        assert document["guarantee"]["epsilon"] == "50"
        assert document["guarantee"]["public"] == ["which 5 labels there are, as given with the scores"]
        assert all(
            low < score < high
            for low, score, high in zip(document["low"], document["scores"], document["high"], strict=True)
        )

    def test_a_file_comes_back_and_what_is_read_is_never_replaced(self, run, pages, tmp_path):
        place = tmp_path / "found.json"
        status, output, err = run(*ranking_command(pages), "-o", place)
        assert (status, output, err) == (0, "", f"ranking written to {place}\n")
        assert discreet.load(place).labels == ("home", "help")
        status, output, err = run(*ranking_command(pages), "-o", pages, "--force")
        assert (status, output) == (1, "")
        assert "is read or pays for this release" in err

    def test_labels_alone(self, run, pages):
        status, output, _ = run(*ranking_command(pages, delta="1e-6"), "--no-scores", "--format", "json")
        document = json.loads(output)
        assert status == 0
        assert (document["labels"], document["scores"], document["eta"]) == (["home", "help"], None, None)
        assert document["guarantee"]["delta"] == "1/1000000"
        status, output, _ = run(*ranking_command(pages), "--no-scores")
        assert output.splitlines()[-3:] == ["label", "home ", "help "]

    def test_a_label_is_taken_as_it_is_written(self, run, tmp_path):
        path = tmp_path / "odd.csv"
        path.write_text('\ufeffpage,visitors\n"[bold]a, b",7\n,"3"\n', encoding="utf-8")
        status, output, _ = run(*ranking_command(path), "--format", "json")
        assert (status, sorted(json.loads(output)["labels"])) == (0, ["", "[bold]a, b"])
        assert "[bold]a, b" in run(*ranking_command(path))[1]


class TestMoney:
    def test_the_ledger_pays_until_it_is_empty(self, run, pages, ledger):
        for _ in range(2):
            assert run(*ranking_command(pages, ledger=ledger, who="me"))[0] == 0
        status, output, err = run(*ranking_command(pages, ledger=ledger))
        assert (status, output) == (1, "")
        assert "50" in err
        spends = Ledger.open(ledger).spends()
        assert [(spend.what, spend.who, spend.state) for spend in spends] == [("rank", "me", "released")] * 2

    def test_dry_run_spends_nothing(self, run, pages, ledger):
        status, output, err = run(*ranking_command(pages, ledger=ledger), "--dry-run")
        assert (status, err) == (0, "")
        assert output == (
            "rank would spend epsilon = 50:\n\n"
            "choosing the labels  50%\n"
            "measuring their scores  50%\n\n"
            f"The ledger {ledger} allows it, and would have epsilon = 50 left.\n\n"
            "Nothing was spent.\n"
        )
        assert Ledger.open(ledger).spends() == ()

    def test_dry_run_without_a_ledger(self, run, pages):
        status, output, _ = run(*ranking_command(pages, delta="1e-6"), "--dry-run", "--no-scores")
        assert (status, output) == (
            0,
            "rank would spend epsilon = 50, delta = 1e-06:\n\nchoosing the labels  100%\n\nNothing was spent.\n",
        )

    def test_dry_run_as_json(self, run, pages, ledger):
        for options, remaining_epsilon in (({}, None), ({"ledger": ledger}, "50")):
            status, output, _ = run(*ranking_command(pages, **options), "--dry-run", "--format", "json")
            assert status == 0
            assert json.loads(output) == {
                "epsilon": "50",
                "delta": "0",
                "shares": {"choosing the labels": "1/2", "measuring their scores": "1/2"},
                "left": remaining_epsilon,
            }

    def test_dry_run_looks_at_no_score(self, run, pages):
        before = run(*ranking_command(pages), "--dry-run")
        pages.write_text(TABLE.replace("48210", "secret"))
        assert run(*ranking_command(pages), "--dry-run") == before

    def test_dry_run_refuses_what_would_be_refused(self, run, pages, ledger):
        status, output, err = run(*ranking_command(pages, epsilon=101, ledger=ledger), "--dry-run")
        assert (status, output) == (1, "")
        assert "101" in err
        assert run(*ranking_command(pages, top=6), "--dry-run")[2] == (
            "discreet: --top is 6, but there are only 5 labels: ask for at most so many.\n"
        )


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        (None, {}, "There is no file {file}."),
        ("", {}, "{file} has no column 'page'; there are none."),
        ("a,b\n1,2\n", {}, "{file} has no column 'page'; there are a, b."),
        ("page,b\n1,2\n", {}, "{file} has no column 'visitors'; there are page, b."),
        (
            "page,visitors\n",
            {},
            "scores is a score for each label, such as {{'north': 48, 'south': 21}}; there is none.",
        ),
        ("page,visitors\nhome\n", {}, "{file}, line 2 has no value in column 'visitors'."),
        (
            "page,visitors\nhome,1,204\n",
            {},
            "{file}, line 2 has more values than columns: put a value with a comma into quotes.",
        ),
        ("page,visitors\nhome,1\nhome,2\n", {}, "{file}, line 3: the label 'home' has a score already."),
        (TABLE.replace("48210", "secret"), {}, NOT_A_NUMBER),
        (TABLE.replace("48210", ""), {}, NOT_A_NUMBER),
        (TABLE, {"top": 6}, "--top is 6, but there are only 5 labels: ask for at most so many."),
        (TABLE, {"epsilon": "much"}, "--epsilon is a number such as 1, 0.5 or 1/3; much was given."),
        (TABLE, {"epsilon": "1e-30"}, "--epsilon must lie between 0.000001 and 10^60 in a ranking; 1e-30 was given."),
        (
            TABLE,
            {"sensitivity": 0},
            "--sensitivity is by how much one person can change a score, over 0; 0 was given.",
        ),
        ('page,visitors\n"home,1\n', {}, "{file} cannot be read as CSV in UTF-8: it holds something else."),
    ],
)
def test_mistakes(run, tmp_path, ledger, table, options, message):
    path = tmp_path / "pages.csv"
    if table is not None:
        path.write_text(table)
    status, output, err = run(*ranking_command(path, ledger=ledger, **options))
    assert (status, output, err) == (1, "", f"discreet: {message.format(file=path)}\n")
    assert Ledger.open(ledger).spends() == ()


def test_not_text(run, tmp_path):
    path = tmp_path / "pages.csv"
    path.write_bytes(b"page,visitors\n\xff\xfe,1\n")
    assert (
        run(*ranking_command(path))[2] == f"discreet: {path} cannot be read as CSV in UTF-8: it holds something else.\n"
    )
    assert run(*ranking_command(tmp_path))[2] == f"discreet: {tmp_path} cannot be read: Is a directory.\n"


def test_a_missing_option_is_misuse(run, pages):
    wrong = run(pages, "--label", "page", "--score", "visitors", "--top", 2)
    assert wrong == (1, "", "discreet: Say how much may be lost: --epsilon 1 is usual, less protects more.\n")
