"""`discreet release`, `count` and `mechanisms` as a user meets them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import discreet
from discreet.catalogue import mechanisms

DISCREET = str(Path(sys.executable).with_name("discreet"))


def run(*arguments: object, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run([DISCREET, *map(str, arguments)], capture_output=True, text=True, **options)


@pytest.fixture
def sales(tmp_path):
    path = tmp_path / "sales.csv"
    lines = ["customer,product,region"]
    for person in range(400):
        region = "north" if person % 4 else "south"
        lines += [f"{person},{product},{region}" for product in ("tea", "milk", "bread")[: 1 + person % 3]]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def asked(sales):
    return ["release", sales, "--person", "customer", "--item", "product", "--items", "public", "--epsilon", "50"]


class TestRelease:
    def test_table(self, asked):
        done = run(*asked, "--top", 3)
        assert done.returncode == 0, done.stderr
        head = done.stdout.splitlines()
        assert "people" in head[0]
        assert head[1] == "central differential privacy, add or remove one person, epsilon = 50"
        assert head[2].split() == ["items", "count", "support", "low", "high"]

    def test_json_is_one_object_with_the_guarantee(self, asked):
        told = json.loads(run(*asked, "--top", 2, "--format", "json").stdout)
        assert told["guarantee"]["epsilon"] == "50"
        assert told["simulated"] is False
        assert set(told["patterns"][0]) == {"items", "count", "support", "low", "high"}

    @pytest.mark.parametrize("suffix", ["json", "parquet", "csv"])
    def test_what_it_wrote_is_read_back(self, asked, tmp_path, suffix):
        done = run(*asked, "--top", 4, "-o", tmp_path / f"r.{suffix}")
        assert done.returncode == 0, done.stderr
        back = discreet.load(tmp_path / f"r.{suffix}")
        assert len(back) == 4
        assert back.low is not None
        rules = run("rules", tmp_path / f"r.{suffix}", "--min-confidence", 0.1)
        assert rules.returncode == 0, rules.stderr

    def test_report(self, asked, tmp_path):
        done = run(*asked, "--min-support", 0.3, "--report", tmp_path / "r.html")
        assert done.returncode == 0, done.stderr
        page = (tmp_path / "r.html").read_text()
        assert page.startswith("<!")
        assert "held by at least 0.3 of the people" in page
        assert "SIMULATED" not in page.upper()

    def test_segments_write_a_file_each(self, asked, tmp_path):
        done = run(*asked, "--top", 2, "--by", "region", "-o", tmp_path / "r.json", "--report", tmp_path / "r.html")
        assert done.returncode == 0, done.stderr
        north, south = (discreet.load(tmp_path / f"r-{region}.json") for region in ("north", "south"))
        assert north.counts.max() > 2 * south.counts.max()
        assert (tmp_path / "r-north.html").exists()
        assert "which 2 segments there are, as found in the data" in north.about["guarantee"]["public"]

    def test_settings_lengths_and_must_haves(self, asked):
        done = run(
            *asked, "--top", 1, "--lengths", 2, "--contains", "tea", "--excludes", "bread",
            "--mechanism", "exponential", "--set", "selecting=0.3", "--format", "json",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        assert told["patterns"][0]["items"] == ["milk", "tea"]
        assert told["settings"]["selecting"] == "3/10"

    def test_without_counts(self, asked):
        told = json.loads(run(*asked, "--top", 2, "--no-counts", "--format", "json").stdout)
        assert told["patterns"][0]["count"] is None

    def test_a_list_of_items(self, asked, tmp_path):
        (tmp_path / "items.txt").write_text("tea\ncoffee\n")
        asked[asked.index("public")] = tmp_path / "items.txt"
        told = json.loads(run(*asked, "--top", 2, "--lengths", 1, "--format", "json").stdout)
        assert sorted(pattern["items"][0] for pattern in told["patterns"]) == ["coffee", "tea"]


class TestMoney:
    @pytest.fixture
    def ledger(self, tmp_path):
        path = tmp_path / "budget.db"
        assert run("ledger", "create", path, "--epsilon", 100).returncode == 0
        return path

    def test_the_ledger_pays_until_it_is_empty(self, asked, ledger):
        for _ in range(2):
            assert run(*asked, "--top", 2, "--ledger", ledger, "--who", "me").returncode == 0
        done = run(*asked, "--top", 2, "--ledger", ledger)
        assert done.returncode == 1
        assert done.stdout == ""
        for number in ("50", "100", "0"):
            assert number in done.stderr
        told = json.loads(run("ledger", "show", ledger, "--format", "json").stdout)
        assert [spend["state"] for spend in told["spends"]] == ["released", "released"]
        assert told["spends"][0]["who"] == "me"

    def test_dry_run_spends_nothing(self, asked, ledger):
        done = run(*asked, "--top", 2, "--ledger", ledger, "--dry-run", "--mechanism", "exponential")
        assert done.returncode == 0, done.stderr
        assert "exponential would spend epsilon = 50:" in done.stdout
        assert "allows it, and would have epsilon = 50 left." in done.stdout
        assert "Nothing was spent." in done.stdout
        assert json.loads(run("ledger", "show", ledger, "--format", "json").stdout)["spends"] == []

    def test_a_place_that_cannot_be_written_to_costs_nothing(self, asked, ledger, tmp_path):
        for option in (["--report", tmp_path / "no" / "r.html"], ["-o", tmp_path / "no" / "r.json"]):
            assert run(*asked, "--top", 2, "--ledger", ledger, *option).returncode == 1
        assert json.loads(run("ledger", "show", ledger, "--format", "json").stdout)["spends"] == []

    def test_the_ledger_and_the_data_are_not_written_over(self, asked, ledger, sales, tmp_path):
        for place in (ledger, sales):
            kept = place.read_bytes()
            done = run(*asked, "--top", 2, "--ledger", ledger, "--format", "csv", "-o", place)
            assert done.returncode == 1
            assert "is read or pays for this release: write the result to another file." in done.stderr
            assert place.read_bytes() == kept

    def test_killed_after_paying_the_spend_stands(self, asked, ledger):
        # A mechanism that never comes back: the process is killed when the ledger shows the spend.
        code = (
            "import sys, time\n"
            "from discreet.curator.exponential import Exponential\n"
            "Exponential.run = lambda *a: time.sleep(600)\n"
            "from discreet.cli import main\n"
            "sys.argv = ['discreet', *sys.argv[1:]]\n"
            "main()\n"
        )
        arguments = [*asked, "--top", 2, "--ledger", ledger, "--mechanism", "exponential"]
        child = subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)])
        try:
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline:
                told = json.loads(run("ledger", "show", ledger, "--format", "json").stdout)
                if told["spends"]:
                    break
                time.sleep(0.1)
            os.kill(child.pid, signal.SIGKILL)
        finally:
            child.kill()
            child.wait()
        told = json.loads(run("ledger", "show", ledger, "--format", "json").stdout)
        assert [spend["state"] for spend in told["spends"]] == ["spent"]
        assert "no release recorded" in run("ledger", "show", ledger).stdout


@pytest.mark.parametrize(
    ("change", "status", "message"),
    [
        (["--epsilon", "0"], 1, "epsilon must be over 0, such as 0.5 or 1; 0 was given."),
        (["--epsilon", "nan"], 1, "epsilon is a number such as 1, 0.5 or 1/3; nan was given."),
        (["--delta", "1"], 1, "delta must be 0 or more and below 1"),
        (["--mechanism", "expnential"], 1, "Did you mean 'exponential'?"),
        (["--set", "floor"], 2, "a setting is written NAME=VALUE; 'floor' was given."),
        (["--report", "r.txt"], 1, "A report is a page: give a name that ends in .html instead of r.txt."),
        (["--segment", "north"], 1, "--segment lists the values of a column: say which one by --by."),
        (["--by", "product"], 1, "Everyone must have one value in the column 'product'"),
        (["--lengths", "two"], 2, "lengths are a number such as 3"),
        (["--top", "999"], 1, "ask for at most so many."),
        (["--ledger", "nowhere.db"], 1, "nowhere.db"),
    ],
)
def test_mistakes(asked, change, status, message):
    done = run(*asked, *([] if "--top" in change else ["--top", 2]), *change)
    assert done.returncode == status
    assert message in " ".join(done.stderr.replace("│", " ").split())
    assert done.stdout == ""


def test_who_is_a_person_is_asked(sales, tmp_path):
    done = run("release", sales, "--top", 2, "--epsilon", 1, "--items", "public")
    assert done.returncode == 1
    assert done.stderr == (
        f"discreet: A release protects people: say which column of {sales} holds the person (--person) and which the "
        "item (--item); or say --one-row-a-person, if every line is one person's whole basket.\n"
    )


def test_no_epsilon(sales):
    done = run("release", sales, "--one-row-a-person", "--top", 2)
    assert done.returncode == 1
    assert done.stderr == "discreet: Say how much may be lost: --epsilon 1 is usual, less protects more.\n"


def test_the_three_choices_are_in_the_words_of_the_command_line(asked):
    done = run(*(word for word in asked if word not in ("--items", "public")), "--top", 2)
    assert done.returncode == 1
    assert "declare with --items public" in done.stderr


def test_count(sales, tmp_path):
    (tmp_path / "wanted.txt").write_text("tea milk\nbread\n")
    done = run(
        "count", sales, "--person", "customer", "--item", "product", "--itemsets", tmp_path / "wanted.txt",
        "--epsilon", 50, "--format", "json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    first, second = json.loads(done.stdout)["patterns"]
    assert abs(first["count"] - 266) < 10
    assert abs(second["count"] - 133) < 10


def test_mechanisms():
    told = json.loads(run("mechanisms", "--format", "json").stdout)
    assert [entry["name"] for entry in told] == list(mechanisms())
    table = run("mechanisms").stdout
    assert all(name in table for name in mechanisms())
    assert "Bhaskar" in run("mechanisms", "laplace").stdout
    assert run("mechanisms", "dice").returncode == 1
