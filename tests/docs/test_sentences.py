"""Sentences in the documentation are short: one idea each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

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
EXCEPTIONS = {
    "wire.md",
    "fp-tree.md",
    "flagships.md",
    "evidence.md",
    "local-evidence.md",
    "relations-evidence.md",
    "benchmarks.md",
}


@pytest.mark.parametrize("page", HAND_WRITTEN, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_sentence_is_too_long(page):
    if page.name in EXCEPTIONS:
        pytest.skip("later")
    assert [one for one in sentences(page.read_text()) if words(one) > LONGEST] == []


def test_what_counts_as_a_sentence():
    text = "# A title\n\nOne, [two](three.md) `four five`. Six\nseven?\n\n| a | table |\n\n- An item\n- 1. Another.\n"
    assert list(sentences(text)) == ["One, [two] `code`.", "Six seven?", "- An item", "- 1.", "Another."]
    assert [words(one) for one in sentences(text)] == [3, 2, 2, 1, 1]
