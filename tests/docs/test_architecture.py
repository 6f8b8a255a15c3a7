"""The walks of docs/architecture.md, and the glossary, name files and functions that there are."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "discreet"
WALKS = (ROOT / "docs" / "architecture.md").read_text()
GLOSSARY = (ROOT / "CONTRIBUTING.md").read_text().partition("### Glossary")[2].partition("\n## ")[0]
FILE_NAMES = re.compile(r"`((?:\w+/)*\w+\.py)`[:,] (`[\w.]+`(?:, `[\w.]+`)*)")


def defined(path: Path) -> set[str]:
    """Return what a module defines: functions, classes, and methods as `Class.method`."""
    names = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            names |= {
                f"{node.name}.{definition.name}" for definition in node.body if isinstance(definition, ast.FunctionDef)
            }
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {definition.id for definition in targets if isinstance(definition, ast.Name)}
    return names


@pytest.mark.parametrize("text", [WALKS, GLOSSARY], ids=["the walks", "the glossary"])
def test_what_it_names_is_there(text):
    matches = FILE_NAMES.findall(text)
    assert len(matches) > 20
    for path, names in matches:
        for name in re.findall(r"`([\w.]+)`", names):
            if not name.endswith(".py"):
                assert name in defined(SOURCE / path), f"{path} has no {name}"


def test_every_file_and_folder_it_names_is_there():
    for path in re.findall(r"`((?:\w+/)+(?:\w+\.py)?)`", WALKS + GLOSSARY):
        assert (SOURCE / path).exists() or (ROOT / path).exists(), path


def test_the_glossary_has_one_line_per_word():
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", GLOSSARY, re.MULTILINE)[1:]
    words = [word for words, _, _ in rows for word in words.split(", ")]
    assert len(words) == len(set(words))
    assert len(rows) >= 30
