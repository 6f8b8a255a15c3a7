"""Every block of code in the documentation runs."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pyarrow.csv as csv
import pytest

import discreet
from discreet.baskets.generate import groceries_rows

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(python|pycon|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def sales(folder: Path) -> None:
    rows = groceries_rows(2_000, seed=7)
    csv.write_csv(rows.rename_columns(["customer", "product", "time"]), folder / "sales.csv")


def run_console(text: str) -> None:
    for line in text.splitlines():
        command = shlex.split(line.removeprefix("$ "), comments=True)
        if command[0] == "make":
            assert re.search(rf"^{command[1]}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
            continue
        command[0] = str(Path(sys.executable).with_name(command[0]))
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, f"{line}\n{done.stderr}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sales(tmp_path)
    names: dict[str, object] = {}
    for kind, text in BLOCK.findall(page.read_text()):
        if kind == "python":
            exec(compile(text, page.name, "exec"), names)
        elif kind == "console":
            run_console(text)
        else:
            test = doctest.DocTestParser().get_doctest(text, names, page.name, str(page), 0)
            runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
            runner.run(test, clear_globs=False)
            assert runner.failures == 0
            names |= test.globs


def modules() -> list[str]:
    return [m.name for m in pkgutil.walk_packages(discreet.__path__, "discreet.") if not m.name.endswith("__main__")]


@pytest.mark.parametrize("name", modules())
def test_examples_in_docstrings(name):
    module = importlib.import_module(name)
    assert doctest.testmod(module).failed == 0


def test_every_option_and_switch_is_documented():
    contributing = (ROOT / "CONTRIBUTING.md").read_text()
    source = "".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    for switch in set(re.findall(r"DISCREET_[A-Z]+", source)):
        assert switch in contributing


def test_links_between_pages_lead_somewhere():
    for page in [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]:
        for target in re.findall(r"\]\(([^)#:]+?)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_erratum_the_code_names_is_explained():
    named = set()
    for path in [*(ROOT / "src").rglob("*.py"), *(ROOT / "src").rglob("*.md")]:
        if path.parent.name == "papers":
            continue  # 003 calls its experiments E1 to E14
        named |= set(re.findall(r"\b[ABCDEX]\d{1,2}\b", path.read_text()))
    page = (ROOT / "docs" / "errata.md").read_text()
    explained = set(re.findall(r"\b[ABCDEX]\d{1,2}\b", page))
    # Paper sizes are no errata.
    assert named - explained <= {"A4"}
