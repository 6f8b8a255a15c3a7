"""Comparisons on the command line."""

from __future__ import annotations

import json

import pyarrow.csv as csv
import pytest

import running
from discreet.baskets import groceries_rows
from discreet.results import Comparison

QUICK = ["--top", "5", "--epsilon", "0.5,1", "--mechanism", "bases,truncated", "--runs", "2", "--seed", "7"]
DATA_ARGUMENTS = ["sales.csv", "--person", "customer", "--item", "product"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("compare")
    csv.write_csv(groceries_rows(800, seed=7).rename_columns(["customer", "product", "time"]), place / "sales.csv")
    return place


def run(folder, *arguments: object, **options: object) -> running.CompletedRun:
    return running.run("compare", *arguments, cwd=folder, **options)


def test_a_table(folder):
    completed = run(folder, *DATA_ARGUMENTS, *QUICK)
    assert (completed.returncode, completed.stderr) == (0, "")
    assert completed.stdout.startswith("NOT PRIVATE: for the curator's eyes.")
    assert "2 mechanisms tried for the top 5 of" in completed.stdout
    assert "At epsilon 0.5 take auto:" in completed.stdout
    # In the words of the command line.
    assert "--min-support or --min-count, not --top." in " ".join(completed.stdout.split())
    assert "the seed is 7. Nothing was spent." in " ".join(completed.stdout.split())


def test_files_and_a_page(folder):
    completed = run(folder, *DATA_ARGUMENTS, *QUICK, "-o", "found.json", "--report", "page.html")
    assert (completed.returncode, completed.stdout) == (0, "")
    assert completed.stderr.startswith("comparison written to found.json: NOT PRIVATE: for the curator's eyes.")
    assert completed.stderr.endswith("report written to page.html\n")
    assert Comparison.load(folder / "found.json").seed == 7
    assert "Which mechanism for sales.csv" in (folder / "page.html").read_text()
    document = json.loads(run(folder, *DATA_ARGUMENTS, *QUICK, "--format", "json").stdout)
    assert document["standing"] == "not private"
    assert [advice["epsilon"] for advice in document["advice"]] == ["0.5", "1"]
    assert run(folder, *DATA_ARGUMENTS, *QUICK, "--format", "csv").stdout.count("\n") == 5
    assert run(folder, *DATA_ARGUMENTS, *QUICK, "-o", "found.parquet", "-q").stderr == ""


def test_without_data(folder):
    data_arguments = ["--people", 50_000, "--items", 60, "--sizes", 3, "--exponent", "0.7"]
    completed = run(folder, *data_arguments, *QUICK)
    assert (completed.returncode, completed.stderr) == (0, "")
    assert completed.stdout.startswith("SIMULATED: not a private release. No data were read")


def test_a_terminal_is_told_what_it_takes(folder, monkeypatch):
    monkeypatch.delenv("CI", raising=False)  # whose log is no place for it, terminal or not
    completed = run(folder, *DATA_ARGUMENTS, *QUICK, terminal=True)
    assert "The first of 2 rounds took" in completed.stderr


def test_what_it_reads_is_as_for_a_release(folder):
    (folder / "items.txt").write_text("whole milk\nbananas\nsugar\n")
    question = ["--items", "items.txt", "--top", 2, "--contains", "sugar", "--mechanism", "bases", "--runs", 1]
    completed = run(folder, *DATA_ARGUMENTS, *question, "--format", "json")
    assert completed.returncode == 0, completed.stderr
    document = json.loads(completed.stdout)
    assert (document["truth"]["items"], document["asked"]["contains"]) == (3, ["sugar"])


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
    completed = run(folder, *DATA_ARGUMENTS, *arguments)
    assert (completed.returncode, completed.stdout, completed.stderr) == (1, "", f"discreet: {message}\n")


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
    completed = run(folder, *arguments)
    assert (completed.returncode, completed.stdout) == (1, "")
    assert message in completed.stderr


def test_results_are_no_data(folder):
    run(folder, *DATA_ARGUMENTS, *QUICK, "-o", "found.json", "-q")
    completed = run(folder, "found.json", "--top", 3)
    assert completed.stderr == "discreet: found.json holds results already: give the data they came from.\n"
