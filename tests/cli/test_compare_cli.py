"""Comparisons on the command line."""

from __future__ import annotations

import json

import pyarrow.csv as csv
import pytest

import running
from discreet.baskets import groceries_rows
from discreet.results import Comparison

QUICK = ["--top", "5", "--epsilon", "0.5,1", "--mechanism", "bases,truncated", "--runs", "2", "--seed", "7"]
READ = ["sales.csv", "--person", "customer", "--item", "product"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("compare")
    csv.write_csv(groceries_rows(800, seed=7).rename_columns(["customer", "product", "time"]), place / "sales.csv")
    return place


def run(folder, *arguments: object, **more: object) -> running.Done:
    return running.run("compare", *arguments, cwd=folder, **more)


def test_a_table(folder):
    done = run(folder, *READ, *QUICK)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("NOT PRIVATE: for the curator's eyes.")
    assert "2 mechanisms tried for the top 5 of" in done.stdout
    assert "At epsilon 0.5 take auto:" in done.stdout
    # In the words of the command line.
    assert "--min-support or --min-count, not --top." in " ".join(done.stdout.split())
    assert "the seed is 7. Nothing was spent." in " ".join(done.stdout.split())


def test_files_and_a_page(folder):
    done = run(folder, *READ, *QUICK, "-o", "found.json", "--report", "page.html")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("comparison written to found.json: NOT PRIVATE: for the curator's eyes.")
    assert done.stderr.endswith("report written to page.html\n")
    assert Comparison.load(folder / "found.json").seed == 7
    assert "Which mechanism for sales.csv" in (folder / "page.html").read_text()
    told = json.loads(run(folder, *READ, *QUICK, "--format", "json").stdout)
    assert told["standing"] == "not private"
    assert [one["epsilon"] for one in told["advice"]] == ["0.5", "1"]
    assert run(folder, *READ, *QUICK, "--format", "csv").stdout.count("\n") == 5
    assert run(folder, *READ, *QUICK, "-o", "found.parquet", "-q").stderr == ""


def test_without_data(folder):
    asked = ["--people", 50_000, "--items", 60, "--sizes", 3, "--exponent", "0.7"]
    done = run(folder, *asked, *QUICK)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("SIMULATED: not a private release. No data were read")


def test_a_terminal_is_told_what_it_takes(folder, monkeypatch):
    monkeypatch.delenv("CI", raising=False)  # whose log is no place for it, terminal or not
    done = run(folder, *READ, *QUICK, terminal=True)
    assert "The first of 2 rounds took" in done.stderr


def test_what_it_reads_is_as_for_a_release(folder):
    (folder / "items.txt").write_text("whole milk\nbananas\nsugar\n")
    asked = ["--items", "items.txt", "--top", 2, "--contains", "sugar", "--mechanism", "bases", "--runs", 1]
    done = run(folder, *READ, *asked, "--format", "json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["truth"]["items"], told["asked"]["contains"]) == (3, ["sugar"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Say which patterns are wanted by exactly one of --top (how many patterns), --min-support (a fraction of "
             "people) or --min-count (a number of people); none of them was given."),
        (["--top", 3, "--sizes", 5],
         "--sizes says what a made-up crowd is like: leave it out, or leave the data out."),
        (["--top", 3, "--crowd", 0], "--crowd is 0, but it must be a whole number, 1 or more."),
        (["--top", 3, "--report", "page.txt"],
         "A report is a page: give a name that ends in .html instead of page.txt."),
        (["--top", 3, "--report", "sales.html", "-o", "sales.html"],
         "sales.html ends in .html, but results are kept in .json, .csv, .tsv, .parquet, .arrow, .feather or .xlsx "
         "files."),
        (["--top", 3, "--epsilon", "half"],
         "--epsilon is a number such as 1, 0.5 or 1/3; half was given."),
    ],
    ids=["which", "sizes", "crowd", "page", "two", "epsilon"],
)  # fmt: skip
def test_mistakes(folder, arguments, message):
    done = run(folder, *READ, *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"discreet: {message}\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--top", 3],
         "Give the data to try on; or say how many --people and --items there are, two numbers, and a crowd is made "
         "up."),
        (["--top", 3, "--person", "customer"],
         "There is no FILE, but options that say how to read one: give it, or leave them out."),
        (["--top", 3, "--people", 9, "--items", 3, "--crowd", 5],
         "--crowd is about data, and none were given: give them, or leave it out."),
        (["sales.csv", "--top", 3], "sales.csv"),
    ],
    ids=["nothing", "reading", "crowd", "whose"],
)  # fmt: skip
def test_mistakes_about_data(folder, arguments, message):
    done = run(folder, *arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert message in done.stderr


def test_results_are_no_data(folder):
    run(folder, *READ, *QUICK, "-o", "found.json", "-q")
    done = run(folder, "found.json", "--top", 3)
    assert done.stderr == "discreet: found.json holds results already: give the data they came from.\n"
