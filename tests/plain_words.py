"""Measure how plainly each room speaks: vague words in its prose, vague names in its code, and lines of comments.

    python tests/plain_words.py          # the figures of every room, beside the limits
    python tests/plain_words.py --lower  # lower the limits of tests/words.toml to the figures

A vague word is a pronoun or a quantity in the place of a noun. A vague name is such a word, a bare participle or a bare
adjective. Prose is docstrings, comments and Markdown outside code and tables.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIMITS = ROOT / "tests" / "words.toml"
VAGUE_LISTS = tomllib.loads((ROOT / "tests" / "vague.toml").read_text())
VAGUE_WORDS = re.compile(rf"\b(?:{'|'.join(VAGUE_LISTS['words'])})\b", re.IGNORECASE)
VAGUE_NAMES = frozenset(VAGUE_LISTS["names"].split())
DIRECTIVES = ("noqa", "type:", "fmt:", "pragma", "ruff", "mypy", "!")


@dataclass(frozen=True, kw_only=True)
class Figures:
    """The figures of one room: ratios, so that rooms of any size compare."""

    words: float  # vague words in 1,000 words of prose
    names: float  # vague names in 100 names
    comments: float  # lines of comments in 100 lines of code


@dataclass
class Tally:
    """Counts over the files of a room."""

    words: int = 0
    vague_words: int = 0
    names: int = 0
    vague_names: int = 0
    code_lines: int = 0
    comment_lines: int = 0

    def add_prose(self, text: str) -> None:
        """Count the words of a text."""
        self.words += len(re.findall(r"[A-Za-z][A-Za-z'-]*", text))
        self.vague_words += len(VAGUE_WORDS.findall(text))

    def add_python(self, source: str) -> None:
        """Count the prose, the names and the lines of a module."""
        tree = ast.parse(source)
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                self.add_prose(re.sub(r"(?m)^\s*(?:>>>|\.\.\.).*$", "", ast.get_docstring(node) or ""))
            for name in bound_names(node):
                self.names += 1
                self.vague_names += name.strip("_").lower() in VAGUE_NAMES
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT and not token.string.lstrip("# ").startswith(DIRECTIVES):
                self.comment_lines += 1
                self.add_prose(token.string)
        lines = (line.strip() for line in source.splitlines())
        self.code_lines += sum(bool(line) and not line.startswith("#") for line in lines)

    def figures(self) -> Figures:
        """Return the ratios."""
        return Figures(
            words=round(1000 * self.vague_words / max(1, self.words), 1),
            names=round(100 * self.vague_names / max(1, self.names), 1),
            comments=round(100 * self.comment_lines / max(1, self.code_lines), 1),
        )


def bound_names(node: ast.AST) -> list[str]:
    """Return the names that a node of a syntax tree binds; names of one letter are formulas' and not judged."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        return [node.name, *(argument.arg for argument in arguments if argument.arg not in ("self", "cls"))]
    if isinstance(node, ast.ClassDef):
        return [node.name]
    return [node.id] if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else []


def rooms() -> dict[str, list[Path]]:
    """Return the files of each room by the path of the room."""
    room_paths: dict[str, list[Path]] = {}
    for path in sorted([*ROOT.rglob("*.py"), *ROOT.rglob("*.md")]):
        parts = path.relative_to(ROOT).parts
        if parts[0] in ("src", "lab"):
            room = "/".join(parts[: 3 if parts[0] == "src" else 1]) if len(parts) > 3 else "src/discreet"
            room = "lab" if parts[0] == "lab" else room
        elif parts[0] in ("tests", "benchmarks", "docs"):
            room = parts[0]
        elif len(parts) == 1 and path.suffix == ".md" and path.name != "CHANGELOG.md":
            room = path.name
        else:
            continue
        if not {"_build", "node_modules", "__pycache__", "papers"} & set(parts[:-1]) or parts[0] == "lab":
            room_paths.setdefault(room, []).append(path)
    return room_paths


@cache
def measure_rooms() -> dict[str, Figures]:
    """Return the figures of every room."""
    return {room: measure(paths) for room, paths in rooms().items()}


def measure(paths: Iterable[Path]) -> Figures:
    """Return the figures of some files."""
    tally = Tally()
    for path in paths:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".py":
            tally.add_python(text)
        else:
            tally.add_prose(re.sub(r"(?ms)^```.*?^```|`[^`\n]*`|^\|.*?$|<!--.*?-->", " ", text))
    return tally.figures()


def read_limits() -> dict[str, Figures]:
    """Return the limits of every room."""
    return {room: Figures(**figures) for room, figures in tomllib.loads(LIMITS.read_text()).items()}


def write_limits(limits: dict[str, Figures]) -> None:
    """Write the limits, a line per room."""
    lines = [
        f'"{room}" = {{ words = {figures.words}, names = {figures.names}, comments = {figures.comments} }}'
        for room, figures in sorted(limits.items())
    ]
    head = "# Limits for each room. They only fall, and comments only rise: python tests/plain_words.py --lower\n"
    LIMITS.write_text(head + "\n".join(lines) + "\n")


def lower_limits() -> None:
    """Lower every limit to the figure of today; a limit never rises."""
    old_limits = read_limits() if LIMITS.exists() else {}
    new_limits = {}
    for room, figures in measure_rooms().items():
        was = old_limits.get(room, figures)
        new_limits[room] = Figures(
            words=min(figures.words, was.words),
            names=min(figures.names, was.names),
            comments=max(figures.comments, was.comments),
        )
    write_limits(new_limits)


if __name__ == "__main__":
    if "--lower" in sys.argv:
        lower_limits()
    limits = read_limits()
    print(f"{'room':28} {'words':>6} {'names':>6} {'comments':>9}   limits")
    for room, measured in measure_rooms().items():
        limit = limits.get(room, measured)
        print(
            f"{room:28} {measured.words:6} {measured.names:6} {measured.comments:9}   "
            f"{limit.words}, {limit.names}, {limit.comments}"
        )
