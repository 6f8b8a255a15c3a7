"""The commands about ledgers."""

from __future__ import annotations

import csv
import io
import json
import signal
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

import discreet
import running
from discreet.privacy import Neighbours
from discreet.privacy.ledger import Ledger


def run(*arguments: object) -> running.CompletedRun:
    return running.run("ledger", *arguments)


def spend(path, epsilon, **changes):
    epsilon = Fraction(epsilon)
    spend_fields = {
        "delta": Fraction(0),
        "rho": epsilon**2 / 2,
        "discovery_delta": Fraction(0),
        "baskets": None,
    } | changes
    return Ledger.open(path).spend(
        epsilon=epsilon,
        neighbours=Neighbours.ADD_REMOVE,
        what="laplace",
        parameters={"top": 10},
        who="user",
        **spend_fields,
    )


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "budget.db"


class TestCreate:
    def test_the_least_that_is_needed(self, path):
        completed = run("create", path, "--epsilon", "0.1")
        assert (completed.returncode, completed.stderr) == (0, "")
        assert (
            completed.stdout == f"Made {path}: epsilon 0.1, add or remove one person. Keep it as you keep the data.\n"
        )
        state = Ledger.open(path).state()
        assert (state.budget.epsilon, state.accounting, state.most, state.name) == (Fraction(1, 10), "pure", None, "")

    def test_everything(self, path):
        completed = run(
            "create", path, "--epsilon", "1/3", "--delta", "1e-6", "--neighbours", "replace", "--most", "0.1",
            "--name", "wards 2026",
        )  # fmt: skip
        assert completed.stdout == (
            f"Made {path}: epsilon 1/3 at delta 1e-06, replace one person, at most 0.1 per release. Keep it as you "
            "keep the data.\n"
        )
        state = Ledger.open(path).state()
        assert (state.budget.epsilon, state.budget.delta) == (Fraction(1, 3), Fraction(1, 10**6))
        assert (state.accounting, state.neighbours, state.most) == ("zcdp", Neighbours.REPLACE, Fraction(1, 10))
        assert state.name == "wards 2026"

    def test_mistakes(self, path):
        path.write_text("precious")
        completed = run("create", path, "--epsilon", "1")
        assert (completed.returncode, completed.stdout, completed.stderr) == (
            1,
            "",
            f"discreet: Cannot create {path}: it exists already, and nothing is overwritten by a ledger. Give another "
            "name.\n",
        )
        assert path.read_text() == "precious"
        completed = run("create", path, "--epsilon", "lots")
        assert (completed.returncode, completed.stderr) == (
            1,
            "discreet: --epsilon is a number such as 1, 0.5 or 1/3; lots was given.\n",
        )
        assert run("create", path).returncode == 2
        assert run("create", path, "--epsilon", "1", "--neighbours", "any").returncode == 2


class TestShow:
    def test_nothing_spent_yet(self, path):
        Ledger.create(path, epsilon=1, name="wards")
        assert run("show", path).stdout.splitlines() == [
            f"{path}: wards",
            "  budget     epsilon 1, add or remove one person",
            "  spent      epsilon 0",
            "  remaining  epsilon 1",
            f"  head       {Ledger.open(path).head}",
            "  nothing was spent yet",
        ]

    def test_spends_with_and_without_a_release(self, path):
        Ledger.create(path, epsilon=1)
        first_spend = spend(path, "0.5", baskets=discreet.read([{1}]))
        Ledger.open(path).record(first_spend, "ab" * 32)
        second = spend(path, "1/3", baskets=discreet.read([{1}, {2}]))
        lost = "spent, no release recorded; the data had changed"
        assert run("show", path).stdout.splitlines() == [
            str(path),
            "  budget     epsilon 1, add or remove one person",
            "  spent      epsilon 5/6",
            "  remaining  epsilon 1/6",
            f"  head       {second.head}",
            "",
            f'1  {first_spend.at}  user  laplace  epsilon 0.5  {"released":<{len(lost)}}  {{"top": 10}}',
            f'2  {second.at}  user  laplace  epsilon 1/3  {lost}  {{"top": 10}}',
        ]
        document = json.loads(run("show", path, "--format", "json").stdout)
        assert (document["ledger"]["remaining"], document["ledger"]["unrecorded"]) == ("1/6", 1)
        assert [(record["state"], record["release"], record["changed"]) for record in document["spends"]] == [
            ("released", "ab" * 32, False),
            ("spent", None, True),
        ]

    def test_by_zcdp(self, path):
        Ledger.create(path, epsilon=1, delta="1e-6")
        spend(path, "0.1", delta=Fraction(1, 10**7), discovery_delta=Fraction(1, 10**7))
        ledger_lines = run("show", path).stdout.splitlines()
        assert ledger_lines[:4] == [
            str(path),
            "  budget     epsilon 1 at delta 1e-06, add or remove one person",
            "  spent      rho 0.005: epsilon 0.445198 at delta 1e-06",
            "  remaining  rho 0.0179374: a release may ask for epsilon 0.849073, and bring a delta of its own of 4e-07",
        ]
        assert "epsilon 0.1, delta 1e-07, rho 0.005  spent, no release recorded" in ledger_lines[6]

    def test_who_was_killed_between_spend_and_release(self, path):
        Ledger.create(path, epsilon=1)
        code = (
            "import os, signal, sys\n"
            "from fractions import Fraction\n"
            "from discreet.privacy._budget import Neighbours\n"
            "from discreet.privacy.ledger._ledger import Ledger\n"
            "Ledger.open(sys.argv[1]).spend(\n"
            "    epsilon=Fraction(1, 2), delta=Fraction(0), rho=Fraction(1, 8), baskets=None,\n"
            "    discovery_delta=Fraction(0),\n"
            "    neighbours=Neighbours.ADD_REMOVE, what='exponential', parameters={}, who='user')\n"
            "os.kill(os.getpid(), signal.SIGKILL)\n"
        )
        killed = subprocess.run([sys.executable, "-c", code, str(path)])
        assert killed.returncode == -signal.SIGKILL
        completed = run("show", path)
        assert completed.returncode == 0
        assert "  remaining  epsilon 0.5\n" in completed.stdout
        assert "exponential  epsilon 0.5  spent, no release recorded" in completed.stdout

    def test_no_ledger(self, path):
        path.write_text("1 2 3\n" * 100)
        completed = run("show", path)
        assert (completed.returncode, completed.stdout, completed.stderr) == (
            1,
            "",
            f"discreet: {path} is not a ledger, or so damaged that it cannot be told; put back a copy if it was one.\n",
        )


class TestAnchor:
    def test_from_create_to_show(self, path, tmp_path):
        head_path = tmp_path / "head"
        assert run("create", path, "--epsilon", "1", "--anchor", head_path).stdout == (
            f"Made {path}: epsilon 1, add or remove one person. Keep it as you keep the data. Its head is kept in "
            f"{head_path} too.\n"
        )
        assert f"\n  anchor     {head_path}\n" in run("show", path).stdout
        before = path.read_bytes()
        spend(path, "0.5")
        content = path.read_bytes()
        path.write_bytes(before)
        for command in ("show", "export"):
            for options in ((), ("--anchor", head_path)):
                completed = run(command, path, *options)
                assert (completed.returncode, completed.stdout) == (1, "")
                assert completed.stderr.startswith(
                    f"discreet: {path} is older than its anchor {head_path}, or another ledger: "
                )
        path.write_bytes(content)
        assert run("export", path, "-o", head_path, "--format", "json").stderr == (
            f"discreet: {head_path} holds the head of the ledger: write to another file.\n"
        )
        second = tmp_path / "second"
        completed = run("anchor", path, second)
        assert (completed.returncode, completed.stderr) == (0, "")
        assert (
            completed.stdout
            == f"The head of {path} is {Ledger.open(path).head}, and is kept in {second} from now on.\n"
        )
        assert second.read_text() == f"{Ledger.open(path).head}\n"
        second.unlink()
        assert run("anchor", path, second).returncode == 1
        assert run("anchor", path, second, "--anew").returncode == 0

    def test_a_release_says_the_head(self, path, tmp_path):
        head_path, data, scores = tmp_path / "head", tmp_path / "a.dat", tmp_path / "scores.csv"
        data.write_text("1 2\n" * 50)
        scores.write_text("page,visitors\na,3\nb,9\n")
        Ledger.create(path, epsilon=1, anchor=head_path)
        release = ("release", data, "--top", "1", "--epsilon", "0.1", "--items", "3", "--one-row-a-person")
        rank = ("rank", scores, "--label", "page", "--score", "visitors", "--top", "1", "--epsilon", "0.1",
                "--sensitivity", "1", "--labels", "public")  # fmt: skip
        for number, command in enumerate((release, rank), 1):
            anchored_command = [*command, "--ledger", path, "--anchor", head_path]
            completed = running.run(*anchored_command)
            assert (completed.returncode, Ledger.open(path).state().spends) == (0, number)
            assert completed.stderr.splitlines()[-1] == f"The head of {path} is {head_path.read_text().strip()}"
            assert Ledger.open(path).head not in completed.stdout
            dry = running.run(*anchored_command, "--dry-run")
            assert (dry.returncode, dry.stderr) == (0, "")
            assert f"The ledger {path} allows it" in dry.stdout.replace("\n", " ")
        lonely = running.run(*release, "--anchor", "x")
        assert lonely.stderr == (
            "discreet: --anchor is where the head of a ledger is kept: say which one by --ledger.\n"
        )


class TestExport:
    @pytest.fixture
    def spent_ledger(self, path):
        Ledger.create(path, epsilon=1)
        spend(path, "0.5")
        return path

    def test_to_the_terminal(self, spent_ledger):
        document = json.loads(run("export", spent_ledger).stdout)
        assert (document["ledger"]["spent"], document["spends"][0]["epsilon"]) == ("1/2", "1/2")
        (row,) = csv.DictReader(io.StringIO(run("export", spent_ledger, "--format", "csv").stdout))
        assert (row["number"], row["who"], row["epsilon"]) == ("1", "user", "1/2")

    def test_to_a_file(self, spent_ledger, tmp_path):
        for name, options in (("a.csv", ()), ("b.txt", ("--format", "csv"))):
            completed = run("export", spent_ledger, "-o", tmp_path / name, *options)
            assert (completed.returncode, completed.stdout) == (0, "")
            assert (tmp_path / name).read_text().startswith("number,at,who,what,parameters,epsilon")
        run("export", spent_ledger, "-o", tmp_path / "c.json")
        assert json.loads((tmp_path / "c.json").read_text())["ledger"]["remaining"] == "1/2"

    def test_mistakes(self, spent_ledger, tmp_path):
        def message(*options):
            completed = run("export", spent_ledger, *options)
            assert (completed.returncode, completed.stdout) == (1, "")
            return completed.stderr.removeprefix("discreet: ").rstrip()

        assert (
            message("-o", spent_ledger, "--format", "json")
            == f"{spent_ledger} is the ledger itself: write to another file."
        )
        assert Ledger.open(spent_ledger).state().spent == Fraction(1, 2)
        assert message("-o", tmp_path / "x.doc") == (
            f"{tmp_path / 'x.doc'} ends in neither .json nor .csv: add --format json or --format csv."
        )
        assert message("-o", tmp_path / "x.csv", "--format", "json") == (
            f"{tmp_path / 'x.csv'} would hold json, not csv: leave --format out, or use .json."
        )


def test_help_teaches_with_examples():
    for command, example in (
        ("create", "create budget.db --epsilon 1"),
        ("show", "show budget.db"),
        ("export", "export"),
        ("anchor", "anchor budget.db /mnt/other/budget.head"),
        ("upgrade", "upgrade budget.db"),
    ):
        help_text = run(command, "--help").stdout
        assert "Examples" in help_text
        assert f"discreet ledger {example}" in help_text


class TestSpend:
    def test_a_budget_spent_elsewhere_is_entered(self, path):
        Ledger.create(path, epsilon=4, delta="1e-6")
        completed = run("spend", path, "--epsilon", "0.3", "--what", "histogram of ages", "--who", "ana")
        assert (completed.returncode, completed.stderr) == (0, "")
        assert completed.stdout.startswith(f"Entered in {path} as spend 1: epsilon 0.3, histogram of ages.\n")
        assert run("spend", path, "--epsilon", "1/3", "--delta", "1e-7", "--what", "means").returncode == 0
        ledger_text = run("show", path).stdout
        assert "histogram of ages  epsilon 0.3, rho 0.045" in ledger_text
        assert ledger_text.count("spent elsewhere") == 2
        first_spend, second_spend = json.loads(run("export", path, "--format", "json").stdout)["spends"]
        assert (first_spend["what"], first_spend["epsilon"], first_spend["parameters"]) == (
            "histogram of ages",
            "3/10",
            {"elsewhere": True},
        )
        assert (second_spend["epsilon"], second_spend["delta"], second_spend["own_delta"]) == (
            "1/3",
            "1/10000000",
            "1/10000000",
        )

    def test_what_was_spent_is_said(self, path):
        Ledger.create(path, epsilon=1)
        completed = run("spend", path, "--epsilon", "0.3")
        assert completed.returncode == 2
        assert "--what" in completed.stderr
        assert Ledger.open(path).state().spends == 0
