"""Functions that turn the text of a command line, or a file that it names, into arguments of the public API."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from ..checks import MAX_LENGTH, parse_lengths
from ..errors import InputError
from ._terminal import say

if TYPE_CHECKING:
    from ..baskets import AnyBaskets, Item, Lists, Vocabulary
    from ..results import Patterns

# 18 digits always fit into a signed integer of 64 bits, which holds the items that are numbers.
_ITEM_NUMBER = re.compile("[0-9]{1,18}")


def parse_length_range(text: str | None) -> tuple[int, int | None] | None:
    """Return the smallest and the largest length of a text like 3, 2-4 or 2-; None for no upper end."""
    if text is None:
        return None
    low, high = parse_lengths(text)
    return low, None if high == MAX_LENGTH else high


def parse_public_items(text: str | None) -> list[Item] | str | int | None:
    """Return the items of a file, the word `public`, or the number of items."""
    if text is None or text == "public":
        return text
    # A file may have a number for a name, and then the file is meant.
    return int(text) if _ITEM_NUMBER.fullmatch(text) and not Path(text).exists() else read_list(text, "items")


def parse_settings(texts: list[str] | None) -> dict[str, str]:
    """Return the values of settings by name, from texts NAME=VALUE."""
    settings = {}
    for text in texts or []:
        name, equals, value = text.partition("=")
        # An empty value is allowed, as for a text setting; an empty name never is.
        if not equals or not name.strip():
            raise typer.BadParameter(f"a setting is written NAME=VALUE; {text!r} was given.")
        settings[name.strip()] = value.strip()
    return settings


def parse_items(texts: list[str] | None, data: AnyBaskets | Patterns) -> list[Item]:
    """Return texts as items of baskets or patterns: as integers where the items of the data are integers."""
    # The data decide: 39 is a number among numbers, and a name among names.
    numeric = data.vocabulary.numeric
    return [int(text) if numeric and _ITEM_NUMBER.fullmatch(text.removeprefix("-")) else text for text in texts or []]


def parse_numbers(text: str | None, name: str) -> str | list[int] | None:
    """Return a text without a comma unchanged, for the API to parse as a mean; else its whole numbers."""
    if text is None or "," not in text:
        return text
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and len(part) < 10 for part in parts):
        raise typer.BadParameter(f"{name} are a number such as 5, or whole numbers such as 1,2,5; {text!r} was given.")
    return [int(part) for part in parts]


def read_frequencies(path: Path | None) -> list[float] | None:
    """Return the numbers of a file, with spaces, commas or line ends between them; None without a file."""
    if path is None:
        return None
    try:
        return [float(word) for word in path.read_text().replace(",", " ").split()]
    except FileNotFoundError:
        raise InputError(f"There is no file {path}: --frequencies is a file with one fraction per line.") from None
    except ValueError:
        raise InputError(f"{path} has something else than numbers: --frequencies is one fraction per line.") from None


def read_public_list(source: str, kind: Literal["segments", "labels"]) -> list[Item] | Literal["public"]:
    """Return the entries of a file, or the word `public`, which declares the values in the data public."""
    return "public" if source == "public" else read_list(source, kind)


def read_list(source: str, kind: Lists) -> list[Item]:
    """Return the entries of a file with one per line; warn on standard error if its first line reads like a heading."""
    from ..baskets import read_list_with_note

    entries, note = read_list_with_note(Path(source), kind)
    if note:
        say(f"discreet: {note}", err=True)
    return entries


def read_public_itemsets(path: Path, public_items: Vocabulary | None) -> list[list[Item]]:
    """Return the itemsets of a file as public items: integers if every item of the file is an integer, else texts.

    The data have no part in that choice, so the question tells nothing about them. `public_items` is the public list,
    if any.
    """
    from ..baskets import parse_items

    itemsets = _read_itemset_texts(path, public_items)
    # All items are parsed together, as one name among numbers makes all items names.
    texts = list(dict.fromkeys(text for itemset in itemsets for text in itemset))
    items = dict(zip(texts, parse_items(texts), strict=True))
    return [[items[text] for text in itemset] for itemset in itemsets]


def read_itemsets(path: Path, baskets: AnyBaskets) -> list[list[Item]]:
    """Return the itemsets of a file, one per line, as items of the baskets."""
    return [parse_items(texts, baskets) for texts in _read_itemset_texts(path, baskets.vocabulary)]


def _read_itemset_texts(path: Path, vocabulary: Vocabulary | None) -> list[list[str]]:
    """Return the itemsets of a file as texts, and say on standard error how the file was parsed."""
    from ..baskets import read_itemset_file

    file = read_itemset_file(path, vocabulary)
    say(f"{path}: {file}", err=True)
    return file.itemsets
