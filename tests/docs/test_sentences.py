"""Sentences on pages and in the help of commands are short, one idea each, and say "per" where they mean it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from discreet.cli import app

ROOT = Path(__file__).parents[2]
LONGEST = 35

BLOCKS = re.compile(r"^( *)(```|~~~).*?^\1\2 *$|^<!-- (\w+): begin -->.*?^<!-- \3: end -->$", re.MULTILINE | re.DOTALL)
# A paragraph ends at an empty line, and before a heading, a row of a table or an item of a list.
PARAGRAPH = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*] |\d+\. |#|\|))|(?<=\|)\n")
SENTENCE = re.compile(r"(?<=[.!?])[\"”*_)]*\s+(?=[\"“(*_`\[]*(?:[A-Z0-9ε`]|discreet\b))")
ABBREVIATION = re.compile(r"\b(e\.g|i\.e|et al|vs|cf)\.")


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a page: without code, what is generated, addresses of links and rows of tables."""
    text = BLOCKS.sub("\n\n", text)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    text = re.sub(r"`[^`]*`", "`code`", text)
    text = re.sub(r"\$[^$\n]+\$", "`formula`", text)
    text = ABBREVIATION.sub(r"\1", text)
    for paragraph in PARAGRAPH.split(text):
        line = " ".join(paragraph.split())
        if line.startswith(("|", "#", ":")):
            continue
        yield from SENTENCE.split(line)


@cache
def helps() -> dict[str, list[str]]:
    """Return by command what its help says: about itself, and about each option."""
    help_texts: dict[str, list[str]] = {}

    def add(command: Any, name: str) -> None:
        options = (getattr(option, "help", None) for option in command.params)
        help_texts[name] = [" ".join(text.split()) for text in (command.help, *options) if text]
        for inner, subcommand in getattr(command, "commands", {}).items():
            add(subcommand, f"{name} {inner}")

    add(get_command(app), "discreet")
    return help_texts


def words(sentence: str) -> int:
    """Return how many words a sentence has: what has a letter or a digit."""
    return sum(bool(re.search(r"\w", word)) for word in sentence.split())


# Pages that are written by hand. The rest is generated, or lists facts line by line.
HAND_WRITTEN = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *(page for page in sorted((ROOT / "docs").glob("*.md"))),
    *sorted((ROOT / "docs" / "tutorials").glob("*.md")),
]
# Formulas of the wire format, and its list of what is refused, are as long as they are.
EXCEPTIONS = {"wire.md": 6}


@pytest.mark.parametrize("page", HAND_WRITTEN, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_sentence_is_too_long(page):
    long_sentences = [sentence for sentence in sentences(page.read_text()) if words(sentence) > LONGEST]
    assert long_sentences[EXCEPTIONS.get(page.name, 0) :] == []


def test_what_counts_as_a_sentence():
    text = "# A title\n\nOne, [two](three.md) `four five`. Six\nseven?\n\n| a | table |\n\n- An item\n- 1. Another.\n"
    assert list(sentences(text)) == ["One, [two] `code`.", "Six seven?", "- An item", "- 1.", "Another."]
    assert [words(sentence) for sentence in sentences(text)] == [3, 2, 2, 1, 1]


# "One a line" for "one per line": a newcomer reads it twice. A pattern, a basket and a release may have items, so only
# what is counted, or is the first noun of two, is looked at.
UNITS = "line|row|person|basket|segment|release|item|core|paper|file|experiment|report|candidate|second|relation|pair"
QUANTITY = (
    r"one(?: (?!of|from|for|with|in|at|to|is|has)\w+)?|once|twice|[a-z]*bytes|bits|a (?:basket|row|line|page|column)"
)
PER = re.compile(rf"\b(?:{QUANTITY}) an? (?:{UNITS})\b")


@pytest.mark.parametrize("command", list(helps()))
def test_help_is_short(command):
    help_sentences = [sentence for text in helps()[command] for sentence in sentences(text)]
    assert [sentence for sentence in help_sentences if words(sentence) > LONGEST] == []


@pytest.mark.parametrize("command", list(helps()))
def test_help_says_per(command):
    assert [text for text in helps()[command] if PER.search(text)] == []


@pytest.mark.parametrize("page", HAND_WRITTEN, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_say_per(page):
    per_sentences = [sentence for sentence in sentences(page.read_text()) if PER.search(sentence)]
    assert [sentence for sentence in per_sentences if "not *one row an item*" not in sentence] == []


def test_what_per_is_said_for():
    for wrong in ("a file with one a line", "one basket a person", "a row a basket", "drawn once a release"):
        assert PER.search(wrong)
    for right in ("one per line", "How many items a pattern has", "one of a pair", "a release for each segment"):
        assert not PER.search(right)
