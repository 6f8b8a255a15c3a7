"""What there is, is documented: every command and option, every entry of the registry, every error, every picture."""

from __future__ import annotations

import importlib.util
import re
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from typer.main import get_command

from discreet import errors, registry
from discreet.cli import app
from discreet.results import FORMATS, ROW_FORMATS

DOCS = Path(__file__).parents[2] / "docs"


@cache
def loaded(name: str) -> ModuleType:
    """Return a script of the documentation as a module."""
    spec = importlib.util.spec_from_file_location(f"documentation_{name}", DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    """Return the folder with what is generated before the pages are built."""
    folder = tmp_path_factory.mktemp("docs")
    building = SimpleNamespace(srcdir=folder)
    conf = loaded("conf")
    for write in (conf.write_command_help, conf.write_proofs, conf.write_registry, conf.write_formats):
        write(building)
    return folder / "_build" / "generated"


def commands(command: Any, words: tuple[str, ...] = ("discreet",)) -> dict[tuple[str, ...], Any]:
    """Return all commands by the words that are typed."""
    found_commands = {words: command}
    for name, inner in getattr(command, "commands", {}).items():
        found_commands |= commands(inner, (*words, name))
    return found_commands


COMMANDS = commands(get_command(app))


@pytest.mark.parametrize("words", list(COMMANDS), ids=" ".join)
def test_every_command_is_on_the_page_with_its_options(words, generated):
    assert "```{include} _build/generated/commands.md" in (DOCS / "cli.md").read_text()
    text = (generated / "commands.md").read_text()
    _, heading, section = text.partition(f"## `{' '.join(words)}`\n")
    assert heading
    command_text = section.partition("\n## `")[0]
    command = COMMANDS[words]
    assert command.help
    for parameter in command.params:
        for option in (*parameter.opts, *parameter.secondary_opts):
            if option.startswith("--"):
                assert re.search(rf"{option}(?![\w-])", command_text), f"{' '.join(words)} does not show {option}"
                assert getattr(parameter, "help", None), f"{' '.join(words)} {option} says nothing"


def test_every_command_is_shown_in_use_somewhere():
    pages = "".join(page.read_text() for page in DOCS.rglob("*.md") if "_build" not in page.parts)
    example_words = {words for words in COMMANDS if not hasattr(COMMANDS[words], "commands")}
    assert {words for words in example_words if " ".join(words) not in pages} == set()


KINDS = {
    "mechanisms": ("mechanisms.md", registry.mechanisms),
    "protocols": ("local.md", registry.protocols),
    "oracles": ("local.md", registry.oracles),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_entry_of_the_registry_is_on_its_page_with_its_proof(kind, generated):
    page, entries = KINDS[kind]
    assert f"```{{include}} _build/generated/{kind}.md" in (DOCS / page).read_text()
    rows = dict(re.findall(r"^\| \[`([\w-]+)`\]\(([^)]+)\) \|", (generated / f"{kind}.md").read_text(), re.MULTILINE))
    ours = {name for name, entry in entries().items() if entry.package == "discreet"}
    assert set(rows) == ours
    for name, target in rows.items():
        assert (generated.parents[1] / target).is_file(), f"{name} links to {target}"
    # The proof pages are in the table of contents of the page, folder by folder.
    folders = {str(Path(target).parent) for target in rows.values()}
    assert all(f"\n{folder}/*\n" in (DOCS / page).read_text() for folder in folders)


def test_every_name_is_said_in_words_too():
    # The tables are only on the built pages; what lies in the repository is read as well. A page of its own says it.
    for page, entries in KINDS.values():
        text = (DOCS / page).read_text()
        ours = {name: entry.proof.read_text() for name, entry in entries().items() if entry.package == "discreet"}
        assert {name for name, proof in ours.items() if f"`{name}`" not in text and f"# {name}\n" not in proof} == set()


def test_every_format_of_files_is_on_its_page(generated):
    assert "```{include} _build/generated/formats.md" in (DOCS / "results.md").read_text()
    text = (generated / "formats.md").read_text()
    assert {suffix for form in FORMATS for suffix in form.suffixes if f"`{suffix}`" not in text} == set()
    assert {name for name in ROW_FORMATS if f" | `{name}` | " not in text} == set()


def test_every_error_is_explained():
    kinds = {
        value.__name__ for value in vars(errors).values() if isinstance(value, type) and issubclass(value, Exception)
    }
    rows = set(re.findall(r"^\| `(\w+Error)` \|", (DOCS / "errors.md").read_text(), re.MULTILINE))
    assert rows == kinds


class TestPictures:
    def test_are_all_there_and_used(self):
        pictures = {f"{name}.svg" for name in loaded("pictures").PICTURES}
        assert {path.name for path in (DOCS / "pictures").iterdir()} == pictures
        pages = "".join(page.read_text() for page in DOCS.rglob("*.md") if "_build" not in page.parts)
        assert {name for name in pictures if f"pictures/{name})" not in pages} == set()

    @pytest.mark.parametrize("name", sorted(loaded("pictures").PICTURES))
    def test_are_up_to_date_small_and_say_what_they_show(self, name):
        text = (DOCS / "pictures" / f"{name}.svg").read_text()
        assert text == loaded("pictures").PICTURES[name](), "run: python docs/pictures.py"
        assert len(text.encode()) < 15_000
        assert "<title>" in text
        assert "<text" in text

    @pytest.mark.parametrize("epsilon", ["1", "4"])
    def test_so_is_the_table_of_epsilons(self, epsilon):
        """Ten seeded runs stand on the page, three are run here: seeds are fixed, so this does not fail by chance.

        Where hardly anything is found, at small epsilons, three runs say too little to compare with.
        """
        page = (DOCS / "choosing.md").read_text()
        row = re.search(rf"^\| {re.escape(epsilon)} \| (.+) \|$", page, re.MULTILINE)
        assert row is not None
        page_numbers = [float(cell.strip(" %").replace(",", "")) for cell in row[1].split("|")]
        numbers = [
            number for right, error in loaded("pictures").worth(epsilon, 3).values() for number in (100 * right, error)
        ]
        assert len(numbers) == len(page_numbers)
        for place, (before, after) in enumerate(zip(page_numbers, numbers, strict=True)):
            if place % 2 == 0:
                assert abs(after - before) <= 15, "run: python docs/pictures.py"
            else:
                assert before / 2.5 <= after <= 2.5 * before, "run: python docs/pictures.py"
