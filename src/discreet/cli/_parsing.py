"""What is typed on a command line, turned into what functions take."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from ..checks import MAX_LENGTH, parse_lengths
from ._terminal import say

if TYPE_CHECKING:
    from ..baskets import AnyBaskets, Item, Lists, Vocabulary
    from ..results import Patterns

_WHOLE = re.compile("[0-9]{1,18}")


def lengths_of(text: str | None) -> tuple[int, int | None] | None:
    """Return the least and the most items of a pattern, of a text such as 3, 2-4 or 2-."""
    if text is None:
        return None
    least, most = parse_lengths(text)
    return least, None if most == MAX_LENGTH else most


def items_of(text: str | None) -> list[Item] | str | int | None:
    """Return the list of items as it was typed: a number where it is one, and no file has that name."""
    if text is None or text == "public":
        return text
    return int(text) if _WHOLE.fullmatch(text) and not Path(text).exists() else list_in_file(text, "items")


def settings_of(texts: list[str] | None) -> dict[str, str]:
    """Return settings typed as NAME=VALUE, by name."""
    settings = {}
    for text in texts or []:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise typer.BadParameter(f"a setting is written NAME=VALUE; {text!r} was given.")
        settings[name.strip()] = value.strip()
    return settings


def labels(texts: list[str] | None, known: AnyBaskets | Patterns) -> list[Item]:
    """Return what the user typed as items of these baskets or patterns."""
    return [label(text, known) for text in texts or []]


def label(text: str, known: AnyBaskets | Patterns) -> Item:
    """Return what the user typed as an item of these baskets or patterns, whose items may be numbers."""
    return int(text) if known.vocabulary.numeric and _WHOLE.fullmatch(text.removeprefix("-")) else text


def typed(texts: list[str] | None) -> list[Item]:
    """Return what the user typed as items, whatever the data have: numbers if all of it is."""
    from ..baskets import as_items

    return as_items(texts or [])


def public_list(source: str, what: Literal["segments", "labels"]) -> list[Item] | Literal["public"]:
    """Return a public list that was given as a file with one per line, or by the declaration `public`."""
    return "public" if source == "public" else list_in_file(source, what)


def list_in_file(source: str, what: Lists) -> list[Item]:
    """Return a public list of a file with one per line; a first line that reads like a heading is warned of."""
    from ..baskets import noted_list

    labels, note = noted_list(Path(source), what)
    if note:
        say(f"discreet: {note}", err=True)
    return labels


def public_itemsets(path: Path, known: Vocabulary | None) -> list[list[Item]]:
    """Return the itemsets of a file, one per line, whatever the data have: numbers if all of them are.

    `known` is the public list of items, where there is one.
    """
    from ..baskets import as_items

    itemsets = _noted_itemsets(path, known)
    texts = list(dict.fromkeys(text for itemset in itemsets for text in itemset))
    items = dict(zip(texts, as_items(texts), strict=True))
    return [[items[text] for text in itemset] for itemset in itemsets]


def read_itemsets(path: Path, baskets: AnyBaskets) -> list[list[Item]]:
    """Return the itemsets of a file, one per line, as items of these baskets."""
    return [labels(itemset, baskets) for itemset in _noted_itemsets(path, baskets.vocabulary)]


def _noted_itemsets(path: Path, known: Vocabulary | None) -> list[list[str]]:
    """Return the itemsets of a file as texts, and say how they were read."""
    from ..baskets import read_itemset_file

    found = read_itemset_file(path, known)
    say(f"{path}: {found}", err=True)
    return found.itemsets
