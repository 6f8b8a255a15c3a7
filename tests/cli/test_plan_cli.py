"""Forecasts on the command line."""

from __future__ import annotations

import json
import re

import pytest

import running

SMALL_PLAN = ["--people", "40000", "--items", "60", "--sizes", "3", "--top", "10", "--epsilon", "1"]
MECHANISM_NAMES = ["--name", "exponential", "--name", "laplace", "--name", "svim", "--name", "svsm"]


def run(*arguments: object) -> running.CompletedRun:
    return running.run("plan", *arguments)


def test_a_table():
    completed = run(*SMALL_PLAN, "--name", "auto", "--name", "svim")
    assert (completed.returncode, completed.stderr) == (0, "")
    assert completed.stdout.startswith("A curator who holds the baskets")
    assert "Recommended for a curator: auto, which would" in completed.stdout
    assert "Recommended for devices: svim" in completed.stdout


def test_files_by_their_suffix(tmp_path):
    supports = tmp_path / "supports.txt"
    supports.write_text("0.5, 0.4\n0.3\n")
    for name in ("plan.json", "plan.svg", "plan.txt"):
        command = [
            "--people", 40_000, "--items", 60, "--frequencies", supports, "--sizes", "1,1,2", "--top", 3,
            "--epsilon", 1, "--name", "auto", "-o", tmp_path / name,
        ]  # fmt: skip
        completed = run(*command)
        assert (completed.returncode, completed.stdout) == (0, "")
        assert completed.stderr == f"forecast written to {tmp_path / name}\n"
    document = json.loads((tmp_path / "plan.json").read_text())
    assert document["asked"]["mean size"] == pytest.approx(1.3333)
    assert (tmp_path / "plan.svg").read_text().startswith("<!-- Made with discreet -->\n<svg ")
    assert "Recommended" in (tmp_path / "plan.txt").read_text()


def test_what_is_needed():
    completed = run(
        "--items", 60, "--min-support", "0.1", "--lengths", 1, "--epsilon", 2, "--name", "svim", "--format", "json"
    )
    assert (completed.returncode, completed.stderr) == (0, "")
    document = json.loads(completed.stdout)
    assert document["asked"]["looked for"] == "people"
    assert document["needed"]["svim"] == document["asked"]["people"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--top", 3, "--epsilon", 1], "Say how many items there are: --items 1000."),
        (["--items", 9, "--top", 3], "Leave out --epsilon or --people, the one that is looked for, but not both."),
        (
            [*SMALL_PLAN, "--sizes", 70],
            "--sizes is the mean size of a basket, over 0 and below 60, the number of items; 70 was given.",
        ),
        (
            ["--people", 40_000, "--items", 60, "--epsilon", 1, "--min-support", 2],
            "--min-support is a fraction of people, over 0 and at most 1, such as 0.01; 2 was given. For 2 % write "
            "0.02.",
        ),
        ([*SMALL_PLAN, "--exponent", -1], "--exponent is a number from 0 to 10, such as 1; -1 was given."),
        (
            [*SMALL_PLAN, "-o", "plan.pdf"],
            "plan.pdf ends in .pdf, but results are kept in .json, .csv, .tsv, .parquet, .arrow, .feather or .xlsx "
            "files.",
        ),
        (
            [*SMALL_PLAN, "--frequencies", "nowhere.txt"],
            "There is no file nowhere.txt: --frequencies is a file with one fraction per line.",
        ),
    ],
    ids=["items", "both", "sizes", "percent", "exponent", "suffix", "file"],
)
def test_mistakes(arguments, message):
    completed = run(*arguments)
    assert (completed.returncode, completed.stdout, completed.stderr) == (1, "", f"discreet: {message}\n")


def test_a_file_that_has_no_numbers(tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("tea")
    completed = run(*SMALL_PLAN, "--frequencies", words)
    assert completed.stderr == (
        f"discreet: {words} has something else than numbers: --frequencies is one fraction per line.\n"
    )


def test_what_cannot_be_parsed():
    assert run(*SMALL_PLAN, "--side", "middle").returncode == 2
    assert run(*SMALL_PLAN, "--sizes", "1,x").returncode == 2


@pytest.mark.parametrize("epsilon", ["1", "0.5,1,2"])
def test_a_forecast_has_a_page(tmp_path, epsilon):
    page = tmp_path / "plan.html"
    question = (
        "--people",
        90_000,
        "--items",
        100,
        "--top",
        8,
        "--epsilon",
        epsilon,
        "--title",
        "A <shop>",
        *MECHANISM_NAMES,
    )
    completed = run(*question, "--report", page, "-o", tmp_path / "plan.json")
    assert completed.returncode == 0, completed.stderr
    assert f"report written to {page}" in completed.stderr
    text = page.read_text()
    assert "<h1>A &lt;shop&gt;</h1>" in text
    assert "No data were read, and nothing was spent." in text
    assert "Recommended" in text.partition('id="bought"')[0]
    assert text.count("<table") == 2
    assert "<svg" in text
    repeated = run(*question, "--report", tmp_path / "plan.txt")
    assert "A report is a page: give a name that ends in .html" in repeated.stderr
    repeated = run(*question, "--report", page, "-o", page, "--format", "json")
    assert f"{page} holds the result: write the report to another file." in repeated.stderr


def test_a_forecast_of_nothing_has_a_page_too(tmp_path):
    question = ("--people", 20, "--items", 500, "--top", 32, "--epsilon", "0.01", "--side", "curator")
    run(*question, "--report", tmp_path / "plan.html")
    assert "Nothing can be told from noise" in (tmp_path / "plan.html").read_text()


def test_margins_of_a_forecast_have_four_digits():
    question = ("--people", 90_000_000, "--items", 500, "--top", 32, "--epsilon", "0.5,1", "--side", "local")
    question += ("--name", "svim", "--name", "svsm", "--name", "fp-tree")
    margins = re.findall(r"± ([\d,]+)", run(*question).stdout)
    assert len(margins) > 4
    assert all(len(margin.replace(",", "").rstrip("0")) <= 4 for margin in margins)
