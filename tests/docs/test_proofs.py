"""Proof pages say what they must, and what they cite is there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import discreet
import discreet_lab

ROOT = Path(__file__).parents[2]
SOURCE, LAB = Path(discreet.__file__).parent, Path(discreet_lab.__file__).parent
PAGES = sorted([*SOURCE.rglob("*.md"), *LAB.rglob("*.md")])
HEADINGS = [
    "Claim", "Assumptions the code checks", "Assumptions the caller must keep", "Pseudocode", "Proof", "Numeric notes",
    "Tests that watch it",
]  # fmt: skip
# `tests/a/test_b.py`, `tests/a/test_b.py::test_c`, `privacy/meter.md`, `cover.py`
CITED = re.compile(r"`([\w./-]+\.(?:py|md))(?:::([\w:]+))?`")
# `test_c` alone is of one of the files the page cites.
TEST_NAME = re.compile(r"`((?:test_|Test)\w+)`")


def place(page: Path, path: str) -> Path | None:
    """Return the file a page cites: beside the page, in a package, or in the repository."""
    return next((base / path for base in (page.parent, SOURCE, LAB, ROOT) if (base / path).is_file()), None)


def read_cited_tests(page: Path) -> str:
    """Return where a page stands in the documentation."""
    return str(Path("lab", page.relative_to(LAB)) if page.is_relative_to(LAB) else page.relative_to(SOURCE))


def names(path: Path) -> set[str]:
    """Return the tests of a file, those of a class with it before them."""
    names = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            names |= {f"{node.name}::{inner.name}" for inner in node.body if isinstance(inner, ast.FunctionDef)}
    return names


def wrong(page: Path) -> list[str]:
    """Return what a page cites that is not there."""
    text, missing, known_names = page.read_text(), [], set()
    for path, name in CITED.findall(text):
        file = place(page, path)
        inside = names(file) if file is not None and file.suffix == ".py" else set()
        known_names |= inside
        if file is None:
            missing.append(path)
        elif name and name not in inside:
            missing.append(f"{path}::{name}")
    return missing + [name for name in TEST_NAME.findall(text) if name not in known_names]


@pytest.mark.parametrize("page", PAGES, ids=read_cited_tests)
class TestEveryPage:
    def test_cites_what_is_there(self, page):
        assert wrong(page) == []

    def test_has_its_parts_in_their_order(self, page):
        headings = re.findall(r"^## (.+)$", page.read_text(), re.MULTILINE)
        assert [heading for heading in headings if heading in HEADINGS] == HEADINGS

    def test_is_watched_by_some_test(self, page):
        watched = page.read_text().partition("## Tests that watch it")[2]
        assert re.search(r"`tests/[\w/]+\.py", watched)


def test_there_are_pages():
    assert {page.name for page in PAGES} > {"count.md", "meter.md", "ledger.md"}


def test_what_only_the_lab_runs_has_pages_too():
    from discreet_lab.comparators.comparator import Comparator
    from discreet_lab.measure.measures import comparators

    comparator_classes = [
        comparator
        for comparator in comparators().values()
        if isinstance(comparator, type) and issubclass(comparator, Comparator)
    ]
    known_pages = {comparator.proof for comparator in comparator_classes} | {
        "ldpminer-published.md",
        "reference.md",
    }  # protocols
    assert known_pages == {page.name for page in PAGES if page.parent.name == "comparators"}


ERRATUM = re.compile(r"^- \*\*((?:[A-EX]\d+(?:, )?)+)\*\*(?:, \*privacy\*)?\. ((?:.+\n)(?:  .+\n)*)", re.MULTILINE)


def test_every_erratum_is_shown_by_a_test_that_is_there():
    page = ROOT / "docs" / "errata.md"
    assert wrong(page) == []
    cited_tests = {
        letter: tests for letters, tests in ERRATUM.findall(page.read_text()) for letter in letters.split(", ")
    }
    last_numbers = {"A": 16, "B": 15, "C": 15, "D": 13, "E": 11, "X": 5}
    assert set(cited_tests) == {
        f"{letter}{number}" for letter, last_number in last_numbers.items() for number in range(1, last_number + 1)
    }
    # What is about citing and about how a paper measured has no code to be shown by.
    assert {letter for letter, tests in cited_tests.items() if not re.search(r"`tests/[\w/]+\.py::\w+", tests)} == {
        "B15",
        "C15",
    }


def test_errata_say_whose_form_they_correct():
    """What a paper prints, what code released for it does, and what neither says are three things."""
    matches = ERRATUM.findall((ROOT / "docs" / "errata.md").read_text())
    origins = {letters: text.partition(":*")[0].removeprefix("*") for letters, text in matches}
    assert set(origins.values()) == {"Printed", "Released code", "At stake"}
    # The first paper has as many dummies as its padding (definition 2), and everybody report a size.
    assert {letters for letters, origin in origins.items() if origin == "Released code"} == {"A3", "A7"}
    assert {letters for letters, origin in origins.items() if origin == "At stake"} == {"X3", "X4"}


def test_every_page_of_the_source_is_listed_on_some_page():
    """Sphinx refuses a page that no other leads to; a build takes a minute, and this does not."""
    folders = {str(Path(read_cited_tests(page)).parent) for page in PAGES}
    listed_pages = set()
    for page in (ROOT / "docs").glob("*.md"):
        for tree in re.findall(r"```{toctree}(.*?)```", page.read_text(), re.DOTALL):
            listed_pages |= set(re.findall(r"^_build/generated/proofs/(.+)/\*$", tree, re.MULTILINE))
    assert folders <= listed_pages


def test_the_checker_can_see(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "`tests/docs/test_proofs.py` has `test_there_are_pages`, not `test_of_time`; "
        "`tests/docs/test_proofs.py::TestEveryPage::test_cites_what_is_there`, `privacy/meter.md`, `meter`; "
        "`tests/nowhere.py` and `tests/docs/test_docs.py::test_nothing`."
    )
    assert wrong(page) == ["tests/nowhere.py", "tests/docs/test_docs.py::test_nothing", "test_of_time"]
