"""Every block of code in the documentation runs.

A block whose line before says a path, as `grocer/pyproject.toml`:, is written there, for later blocks to use. After
`pip install`, the package that was written is found; nothing is installed where the tests run.
"""

# internals: this module shortens the audits that the pages show.
from __future__ import annotations

import doctest
import importlib
import os
import pkgutil
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pyarrow.csv as csv
import pytest
from typer.testing import CliRunner

import discreet
import discreet_lab
import strangers
from discreet.auditing import _coupled as coupling
from discreet.baskets import groceries_rows
from discreet.cli import app

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *(page for page in sorted((ROOT / "docs").rglob("*.md")) if "_build" not in page.parts)]
BLOCK = re.compile(
    r"(?:^`([\w/.-]+)`:\n\n)?^```(python|pycon|console|toml|markdown|csv)\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
STATUS = re.compile(r"# ends with status (\d)$")


def sales(folder: Path) -> None:
    rows = groceries_rows(2_000, seed=7)
    csv.write_csv(rows.rename_columns(["customer", "product", "time"]), folder / "sales.csv")


def install(folder: Path) -> None:
    """Let commands find a package as an installer would: its modules, and what its pyproject.toml registers."""
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    metadata = folder / "src" / f"{project['name']}-{project['version']}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    groups = (
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in entries.items())
        for group, entries in project["entry-points"].items()
    )
    (metadata / "entry_points.txt").write_text("\n".join(groups))


def forget() -> None:
    """Let the registry look again at what is installed."""
    importlib.invalidate_caches()
    strangers.forget()


def run_console(text: str) -> None:
    """Run commands; those of discreet in this process. A line that ends with a backslash goes on."""
    for line in text.replace("\\\n", " ").splitlines():
        command = shlex.split(line.removeprefix("$ "), comments=True)
        ends = STATUS.search(line)
        expected_status = int(ends[1]) if ends else 0
        if command[0] == "make":
            assert re.search(rf"^{command[1]}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
        elif command == ["pip", "install", "."]:
            continue  # discreet itself, which is there
        elif command[:2] == ["pip", "install"]:
            install(Path(command[-1]))
            forget()
        elif command[0] == "discreet":
            outcome = CliRunner().invoke(app, command[1:], prog_name="discreet")
            assert outcome.exit_code == expected_status, f"{line}\n{outcome.output}\n{outcome.exception!r}"
        else:
            command[0] = str(Path(sys.executable).with_name(command[0]))
            path = os.pathsep.join(str(folder.resolve()) for folder in Path().glob("*/src"))
            ran = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": path})
            assert ran.returncode == expected_status, f"{line}\n{ran.stdout}\n{ran.stderr}"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Work in a folder with a table of sales; what a page installs there is gone afterwards."""
    monkeypatch.chdir(tmp_path)
    sales(tmp_path)
    with strangers.oracle_tables_kept():
        yield tmp_path
    for name, module in list(sys.modules.items()):
        if (getattr(module, "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]
    monkeypatch.undo()
    forget()


@pytest.fixture
def few_pairs(monkeypatch):
    """Let audits try one pair of neighbours in eight: pages show what an audit says, and tests/auditing runs them."""
    generate_pairs = coupling.generate_pairs
    monkeypatch.setattr(coupling, "generate_pairs", lambda *given: list(generate_pairs(*given))[::8])


# Longest: docs/plan.md, 12 seconds: every mechanism and protocol for four budgets.
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page_runs(page, folder, few_pairs, monkeypatch):
    module = ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", module)  # where dataclasses look up what their annotations mean
    names = vars(module)
    for path, kind, text in BLOCK.findall(page.read_text()):
        if path:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).write_text(text)
            if kind == "toml":
                monkeypatch.syspath_prepend(Path(path).parent.resolve() / "src")
        if kind == "python":
            exec(compile(text, page.name, "exec"), names)
        elif kind == "console":
            run_console(text)
        elif kind == "pycon":
            test = doctest.DocTestParser().get_doctest(text, names, page.name, str(page), 0)
            runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
            runner.run(test, clear_globs=False)
            assert runner.failures == 0
            names.update(test.globs)


@pytest.mark.parametrize("name", ["choosing", "ledger", "plan", "promise", "tutorials/local"])
def test_code_needs_no_scrolling(name):
    """The pages on which people choose and promise are read beside a terminal: 88 characters fit."""
    page = (ROOT / "docs" / f"{name}.md").read_text()
    lines = [line for block in re.findall(r"^```\w+\n(.*?)^```$", page, re.M | re.S) for line in block.splitlines()]
    assert [line for line in lines if len(line) > 88] == []


def modules() -> list[str]:
    """Return all modules but kernels, whose examples `tests/kernels` runs."""
    every = [
        module.name
        for package in (discreet, discreet_lab)
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    ]
    return [name for name in every if not name.endswith("__main__") and not name.startswith("discreet.kernels.")]


@pytest.mark.parametrize("name", modules())
def test_examples_in_docstrings(name):
    module = importlib.import_module(name)
    assert doctest.testmod(module).failed == 0


def test_links_between_pages_lead_somewhere():
    for page in [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]:
        for target in re.findall(r"\]\(([^)#:]+?)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def anchors_of(page: Path) -> set[str]:
    """Return the anchors of the headings of a page, as Sphinx and GitHub make them."""
    text = re.sub(r"(?ms)^```.*?^```", "", page.read_text())
    headings = re.findall(r"^#{1,4} (.+)$", text, re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", re.sub(r"[`*]", "", heading).lower()).strip().replace(" ", "-") for heading in headings
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_anchors_of_links_are_headings(page):
    for target, anchor in re.findall(r"\]\(([^):#]*)#([^)]+)\)", page.read_text()):
        linked_page = page.parent / target if target else page
        if linked_page.suffix == ".md" and "_build" not in linked_page.parts:
            assert anchor in anchors_of(linked_page), f"{page.name} links to {target}#{anchor}"


def test_every_erratum_the_code_names_is_explained():
    errata = set()
    sources = (ROOT / "src", ROOT / "lab" / "src")
    for path in (path for source in sources for form in ("*.py", "*.md") for path in source.rglob(form)):
        if path.parent.name == "papers":
            continue  # 003 calls its experiments E1 to E14
        errata |= set(re.findall(r"\b[ABCDEX]\d{1,2}\b", path.read_text()))
    page = (ROOT / "docs" / "errata.md").read_text()
    explained = set(re.findall(r"\b[ABCDEX]\d{1,2}\b", page))
    # Paper sizes are no errata.
    assert errata - explained <= {"A4"}
