"""What is typed on a command line, turned into what functions take."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from ..errors import InputError, NobodyError

if TYPE_CHECKING:
    from ..baskets.core import AnyBaskets, Baskets, Item
    from ..results.patterns import Patterns

_WHOLE = re.compile("[0-9]{1,18}")
# Each line is an itemset, however much they look like the rows of a table.
_LINES: dict[str, Literal["baskets", "fimi"]] = {".csv": "baskets", ".tsv": "baskets", ".txt": "fimi", ".dat": "fimi"}


def lengths_of(text: str | None) -> tuple[int, int | None] | None:
    """Read 3, 2-4 or 2- as least and most."""
    if text is None:
        return None
    least, dash, most = (part.strip() for part in text.partition("-"))
    whole = _WHOLE.fullmatch(least) and (not most or _WHOLE.fullmatch(most))
    if not whole or not 1 <= int(least) <= int(most or least):
        raise typer.BadParameter(
            f"lengths are a number such as 3, or a range such as 2-4 or 2-, from 1 on; {text!r} was given."
        )
    if not dash:
        return int(least), int(least)
    return int(least), int(most) if most else None


def labels(texts: list[str] | None, known: AnyBaskets | Patterns) -> list[Item]:
    """Return what the user typed as items of these baskets or patterns."""
    return [label(text, known) for text in texts or []]


def label(text: str, known: AnyBaskets | Patterns) -> Item:
    """Return what the user typed as an item of these baskets or patterns, whose items may be numbers."""
    return int(text) if known.vocabulary.numeric and _WHOLE.fullmatch(text.removeprefix("-")) else text


def typed(texts: list[str] | None) -> list[Item]:
    """Return what the user typed as items, whatever the data have: numbers if all of it is."""
    from ..baskets.recoding import as_items

    return as_items(texts or [])


def public_list(source: str, what: Literal["segments", "labels"]) -> list[Item] | Literal["public"]:
    """Return a public list that was given as a file with one per line, or by the declaration `public`."""
    if source == "public":
        return "public"
    from ..baskets.recoding import from_file

    return from_file(Path(source), what)


def public_itemsets(path: Path) -> list[list[Item]]:
    """Return the itemsets of a file, one per line, whatever the data have: numbers if all of them are."""
    from ..baskets.recoding import as_items

    itemsets = _itemsets(path, "names")
    items = as_items(itemsets.vocabulary.labels.to_pylist())
    return [[items[code] for code in itemsets.vocabulary.codes(itemset)] for itemset in itemsets]


def read_itemsets(path: Path, baskets: AnyBaskets) -> list[frozenset[Item]]:
    """Return the itemsets of a file, one per line."""
    return list(_itemsets(path, "numbers" if baskets.vocabulary.numeric else "names"))


def _itemsets(path: Path, labels: Literal["numbers", "names"]) -> Baskets:
    from ..baskets.read import read

    if not path.exists():
        raise InputError(f"There is no file {path}: --itemsets is a file with one itemset per line.")
    try:
        return read(path, labels=labels, format=_LINES.get(path.suffix.lower()))
    except NobodyError:
        raise InputError(f"{path} is empty: --itemsets is a file with one itemset per line.") from None
