"""What may be taken for public: the list of items, declared and never read from the data unasked (X5)."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

import numpy as np

from ..checks import is_whole
from ..errors import MisuseError, build_message
from ._build import parse_labels
from ._core import AnyBaskets, Codes, Item, Vocabulary
from ._list_files import Lists, heading_note, nearest_labels, read_labels

Held = TypeVar("Held", bound=AnyBaskets)

MOST_ITEMS = 10_000_000
CHOICES = build_message(
    "Say which items there are, in one of three ways: give the list, {items=} a file with one item per line, a list, "
    "or a "
    "number N for the items 0 to N - 1; or declare with {items='public'} that the items found in the data are public "
    "knowledge; or allow a delta (such as {delta=1e-6}), and the items are found privately."
)


def declared_items(items: Any) -> Any:
    """Return a public list of items as it is declared: "public", a number, the labels as a tuple, or None."""
    if items is None or (isinstance(items, str) and items == "public"):
        return items
    if is_whole(items):
        if not 1 <= items <= MOST_ITEMS:
            raise MisuseError.format(
                "{items} is how many items there are, from 1 to {many:,}; {given} was given.",
                many=MOST_ITEMS,
                given=items,
            )
        return int(items)
    if isinstance(items, str | os.PathLike):
        return tuple(from_file(Path(items), "items"))
    if not isinstance(items, Iterable):
        raise MisuseError.format("{given!r} is not a list of items. {choices}", given=items, choices=CHOICES)
    labels = tuple(items)
    strange = [label for label in labels if not isinstance(label, str) and not is_whole(label)]
    if strange:
        raise MisuseError.format(
            "{items} is a list of names or of numbers; {strange!r:.80} is in it. {choices}",
            strange=strange[0],
            choices=CHOICES,
        )
    if not labels:
        raise MisuseError("The list of items is empty: there is nothing to find.")
    return labels


def item_list(items: Any, baskets: AnyBaskets) -> tuple[Vocabulary | None, str]:
    """Return the public list of items and how it came to be public; None where it has to be found."""
    declared = declared_items(items)
    if declared is None:
        return None, ""
    if isinstance(declared, str):
        return baskets.vocabulary, public_fact(baskets.items, "item", "as found in the data")
    if isinstance(declared, int):
        return _numbered(declared), public_fact(declared, "item", "as declared")
    labels = declared if baskets.vocabulary.names is None else baskets.vocabulary.names.resolved(list(declared))
    vocabulary = Vocabulary(sorted(set(labels), key=lambda label: (isinstance(label, str), label)))
    return vocabulary, public_fact(len(vocabulary), "item", "as declared")


def public_fact(many: int, word: Literal["item", "segment", "label"], how: str) -> str:
    """Say that a list is public, and how it came to be so, for the guarantee."""
    return f"which {many:,} {word}s there are, {how}" if many != 1 else f"which {word} there is, {how}"


def from_file(path: Path, what: Lists) -> list[Item]:
    """Read one per line: numbers if all of them are, whatever the data have, as theirs is no public matter."""
    labels, note = noted_list(path, what)
    if note:
        warnings.warn(note, stacklevel=3)
    return labels


def noted_list(path: Path, what: Lists) -> tuple[list[Item], str]:
    """Return what a file lists, one per line, and a warning where its first line reads like a heading."""
    labels = as_items(read_labels(path, what))
    return labels, heading_note(path, labels, what)


def as_items(texts: list[str]) -> list[Item]:
    """Return texts as items: numbers if all of them are plain ones, names otherwise."""
    import pyarrow as pa

    numbers, _ = parse_labels(pa.array(texts, pa.large_string()), plain=True)
    return list(texts) if numbers is None else numbers.to_pylist()


def like(label: Item, vocabulary: Vocabulary) -> Item:
    """Return an item as a list has it: the number 7 is the name '7' on a list of names, and the other way round."""
    other: Item = label
    if isinstance(label, str):
        (other,) = as_items([label])
    elif is_whole(label):
        other = str(label)
    return other if label not in vocabulary and other in vocabulary else label


def nearest_hint(label: Item, vocabulary: Vocabulary) -> str:
    """Return words that name the labels of a public list which are most like one that is not on it."""
    near = nearest_labels(label, vocabulary)
    return f"; nearest {'is' if len(near) == 1 else 'are'} {', '.join(map(repr, near))}" if near else ""


def names(vocabulary: Vocabulary, others: Iterable[str] = ()) -> Vocabulary:
    """Return the items as names, and others with them: also where there are none, and where all of them are numbers."""
    import pyarrow as pa

    texts = vocabulary.labels.cast(pa.large_string())
    known = set(texts.to_pylist())
    if not vocabulary.numeric and known.issuperset(others):
        return vocabulary
    return Vocabulary(pa.array(sorted(known.union(others)), pa.large_string()))


def _numbered(many: int) -> Vocabulary:
    import pyarrow as pa

    return Vocabulary(pa.array(np.arange(many, dtype=np.int64)))


def onto(baskets: Held, vocabulary: Vocabulary) -> Held:
    """Return the baskets over another list of items: items that are not on it are dropped.

    Whether items are numbers or names is for the list to say: the baskets' are compared as text where theirs differ.
    """
    if vocabulary is baskets.vocabulary or vocabulary == baskets.vocabulary:
        return baskets
    return cast(Held, baskets.recoded(table_onto(baskets.vocabulary, vocabulary), vocabulary))


def table_onto(known: Vocabulary, vocabulary: Vocabulary) -> Codes:
    """Return the code on a list of each item there is, by its code among these; -1 where it is not on the list."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if len(known) == 0:
        return np.empty(0, np.int32)
    alike = vocabulary.numeric == known.numeric
    kind = pa.int64() if vocabulary.numeric and alike else pa.large_string()
    places = pc.index_in(known.labels.cast(kind), value_set=vocabulary.labels.cast(kind))
    table: Codes = places.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    return table


def only(baskets: Held, codes: Codes) -> Held:
    """Return the baskets over some of their items, given by ascending codes."""
    if len(codes) == baskets.items:
        return baskets
    table = numbering(codes, baskets.items)
    return cast(Held, baskets.recoded(table, Vocabulary(baskets.vocabulary.take(codes))))


def numbering(codes: Codes, items: int) -> Codes:
    """Return the place of each item among some, by its code; -1 for the others."""
    table = np.full(items, -1, np.int32)
    table[codes] = np.arange(len(codes), dtype=np.int32)
    return table
