"""Public lists of items: declared by the caller, and taken from the data only on request (X5)."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

import numpy as np

from ..checks import is_whole
from ..errors import MisuseError, build_message
from ..heavy import pa, pc
from ._arrow import as_arrow
from ._build import parse_labels
from ._core import AnyBaskets, Codes, Item, Vocabulary
from ._list_files import Lists, find_nearest_labels, heading_note, read_labels

BasketsT = TypeVar("BasketsT", bound=AnyBaskets)

# The largest public list of items. A release keeps a few arrays of this length: 80 MB each.
MOST_ITEMS = 10_000_000
ITEM_CHOICES = build_message(
    "Say which items there are, in one of three ways: give the list, {items=} a file with one item per line, a list, "
    "or a "
    "number N for the items 0 to N - 1; or declare with {items='public'} that the items found in the data are public "
    "knowledge; or allow a delta (such as {delta=1e-6}), and the items are found privately."
)


def check_declared_items(items: Any) -> Any:
    """Return the option `items`, checked: "public", a number of items, a tuple of labels, or None."""
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
        return tuple(read_listed_items(Path(items), "items"))
    if not isinstance(items, Iterable):
        raise MisuseError.format("{given!r} is not a list of items. {choices}", given=items, choices=ITEM_CHOICES)
    labels = tuple(items)
    unfit = [label for label in labels if not isinstance(label, str) and not is_whole(label)]
    if unfit:
        raise MisuseError.format(
            "{items} is a list of names or of numbers; {unfit!r:.80} is in it. {choices}",
            unfit=unfit[0],
            choices=ITEM_CHOICES,
        )
    if not labels:
        raise MisuseError("The list of items is empty: there is nothing to find.")
    return labels


def resolve_items(items: Any, baskets: AnyBaskets) -> tuple[Vocabulary | None, str]:
    """Return the public list of items and the public fact for the guarantee; None to find items privately."""
    declared = check_declared_items(items)
    if declared is None:
        return None, ""
    if isinstance(declared, str):
        return baskets.vocabulary, describe_public_list(baskets.items, "item", "as found in the data")
    if isinstance(declared, int):
        return Vocabulary(as_arrow(np.arange(declared, dtype=np.int64))), describe_public_list(
            declared, "item", "as declared"
        )
    # A public list may have codes, names or labels of items.
    labels = declared if baskets.vocabulary.names is None else baskets.vocabulary.names.resolved(list(declared))
    vocabulary = Vocabulary(sorted(set(labels), key=lambda label: (isinstance(label, str), label)))
    return vocabulary, describe_public_list(len(vocabulary), "item", "as declared")


def describe_public_list(count: int, word: Literal["item", "segment", "label"], origin: str) -> str:
    """Return the public fact that a guarantee names for a list of `count` items, with the origin of the list."""
    return f"which {count:,} {word}s there are, {origin}" if count != 1 else f"which {word} there is, {origin}"


def read_listed_items(path: Path, kind: Lists) -> list[Item]:
    """Return the labels of a list file, one per line: numbers if all are, as the type in the data is private."""
    labels, note = read_list_with_note(path, kind)
    if note:
        # The warning points at the caller of the public function.
        warnings.warn(note, stacklevel=3)
    return labels


def read_list_with_note(path: Path, kind: Lists) -> tuple[list[Item], str]:
    """Return the labels of a list file, and a warning if its first line reads like a heading, else ""."""
    labels = parse_items(read_labels(path, kind))
    return labels, heading_note(path, labels, kind)


def parse_items(texts: list[str]) -> list[Item]:
    """Return texts as items: as numbers if all are numbers without leading zeros, else as names."""
    # Numbers only if all texts are: one type for the whole list.
    numbers, _ = parse_labels(pa.array(texts, pa.large_string()), plain=True)
    return list(texts) if numbers is None else numbers.to_pylist()


def match_label(label: Item, vocabulary: Vocabulary) -> Item:
    """Return the label on a list that equals `label` up to its type, as the name '7' for 7; else `label`."""
    converted = parse_items([label])[0] if isinstance(label, str) else str(label) if is_whole(label) else label
    return converted if label not in vocabulary and converted in vocabulary else label


def render_nearest_hint(label: Item, vocabulary: Vocabulary) -> str:
    """Return the end of a message that names the labels on a public list nearest to an unlisted label, or ""."""
    labels = find_nearest_labels(label, vocabulary)
    return f"; nearest {'is' if len(labels) == 1 else 'are'} {', '.join(map(repr, labels))}" if labels else ""


def convert_to_names(vocabulary: Vocabulary, more_names: Iterable[str] = ()) -> Vocabulary:
    """Return the vocabulary with all labels as names, and with `more_names` added."""
    texts = vocabulary.labels.cast(pa.large_string())
    labels = set(texts.to_pylist())
    if not vocabulary.numeric and labels.issuperset(more_names):
        return vocabulary
    return Vocabulary(pa.array(sorted(labels.union(more_names)), pa.large_string()))


def recode_baskets(baskets: BasketsT, vocabulary: Vocabulary) -> BasketsT:
    """Return the baskets over the items of `vocabulary`; items that are not on this list are dropped.

    Numbers and names are compared as text.
    """
    if vocabulary is baskets.vocabulary or vocabulary == baskets.vocabulary:
        return baskets
    return cast(BasketsT, baskets.recoded(build_code_table(baskets.vocabulary, vocabulary), vocabulary))


def build_code_table(old_vocabulary: Vocabulary, vocabulary: Vocabulary) -> Codes:
    """Return the code in `vocabulary` of each item, by its old code; -1 for items that are not in it."""
    if len(old_vocabulary) == 0:
        return np.empty(0, np.int32)
    # The type of the labels may differ between the list and the data, as 7 and "7".
    type_ = pa.int64() if vocabulary.numeric and old_vocabulary.numeric else pa.large_string()
    codes = pc.index_in(old_vocabulary.labels.cast(type_), value_set=vocabulary.labels.cast(type_))
    table: Codes = codes.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    return table


def restrict_items(baskets: BasketsT, codes: Codes) -> BasketsT:
    """Return the baskets over the items `codes`, which ascend; all further items are dropped."""
    if len(codes) == baskets.items:
        return baskets
    table = build_position_table(codes, baskets.items)
    return cast(BasketsT, baskets.recoded(table, Vocabulary(baskets.vocabulary.take(codes))))


def build_position_table(codes: Codes, items: int) -> Codes:
    """Return the position of each item in `codes`, by its code; -1 for items that are not in `codes`."""
    table = np.full(items, -1, np.int32)
    table[codes] = np.arange(len(codes), dtype=np.int32)
    return table
