"""What may be taken for public: the list of items, declared and never read from the data unasked (X5)."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..baskets.core import Baskets, Codes, Item, Vocabulary
from ..errors import InputError, MisuseError
from ..exact.checks import is_whole

MOST_ITEMS = 10_000_000
CHOICES = (
    "Say which items there are, in one of three ways: give the list, items= a file with one item a line, a list, or a "
    "number N for the items 0 to N - 1; or declare with items='public' that the items found in the data are public "
    "knowledge; or allow a delta (such as delta=1e-6), and the items are found privately."
)


def item_list(items: Any, baskets: Baskets) -> tuple[Vocabulary | None, str]:
    """Return the public list of items and how it came to be public; None where it has to be found."""
    if items is None:
        return None, ""
    if isinstance(items, str) and items == "public":
        return baskets.vocabulary, f"which {baskets.items:,} items there are, as found in the data"
    if is_whole(items):
        if not 1 <= items <= MOST_ITEMS:
            raise MisuseError(f"items is how many items there are, from 1 to {MOST_ITEMS:,}; {items} was given.")
        return _numbered(int(items), baskets), f"which {items:,} items there are, as declared"
    if isinstance(items, str | os.PathLike):
        labels = _from_file(Path(items), baskets.vocabulary.numeric if baskets.items else None)
    elif isinstance(items, Iterable):
        labels = list(items)
    else:
        raise MisuseError(f"{items!r} is not a list of items. {CHOICES}")
    if not labels:
        raise MisuseError("The list of items is empty: there is nothing to find.")
    vocabulary = _declared(labels, baskets)
    return vocabulary, f"which {len(vocabulary):,} items there are, as declared"


def _from_file(path: Path, numeric: bool | None) -> list[Item]:
    """Read one item a line, as numbers or names like those of the data; None where these have none to go by."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except FileNotFoundError:
        raise InputError(
            f"There is no file {path} with a list of items. For the items found in the data write items='public'."
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The list of items in {path} cannot be read: {error}.") from None
    names = [line.strip() for line in lines if line.strip()]
    if numeric is False:
        return list(names)
    try:
        return [int(name) for name in names]
    except ValueError:
        if numeric is None:
            return list(names)
        raise InputError(
            f"The items of this data are numbers, but {path} lists names: one whole number a line is needed."
        ) from None


def _numbered(many: int, baskets: Baskets) -> Vocabulary:
    import pyarrow as pa

    if baskets.items and not baskets.vocabulary.numeric:
        raise MisuseError("The items of this data are names, but the list of items has numbers.")
    return Vocabulary(pa.array(np.arange(many, dtype=np.int64)))


def _declared(labels: list[Item], baskets: Baskets) -> Vocabulary:
    distinct = set(labels)
    vocabulary = Vocabulary(sorted(distinct, key=lambda label: (isinstance(label, str), label)))
    if len(baskets.vocabulary) and vocabulary.numeric != baskets.vocabulary.numeric:
        kinds = ("numbers", "names") if baskets.vocabulary.numeric else ("names", "numbers")
        raise MisuseError(f"The items of this data are {kinds[0]}, but the list of items has {kinds[1]}.")
    return vocabulary


def onto(baskets: Baskets, vocabulary: Vocabulary) -> Baskets:
    """Return the baskets over another list of items: items that are not on it are dropped."""
    if vocabulary is baskets.vocabulary or vocabulary == baskets.vocabulary:
        return baskets
    import pyarrow as pa
    import pyarrow.compute as pc

    if len(baskets.vocabulary) == 0:
        return replace(baskets, vocabulary=vocabulary, sequences=None, pairs=None)
    kind = pa.int64() if vocabulary.numeric else pa.large_string()
    places = pc.index_in(baskets.vocabulary.labels.cast(kind), value_set=vocabulary.labels.cast(kind))
    table = places.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    return _recoded(baskets, table, vocabulary)


def only(baskets: Baskets, codes: Codes) -> Baskets:
    """Return the baskets over some of their items, given by ascending codes."""
    if len(codes) == baskets.items:
        return baskets
    table = np.full(baskets.items, -1, np.int32)
    table[codes] = np.arange(len(codes), dtype=np.int32)
    return _recoded(baskets, table, Vocabulary(baskets.vocabulary.take(codes)))


def rows(baskets: Baskets, kept: NDArray[np.int64]) -> Baskets:
    """Return the baskets of some people."""
    from ..exact.itemsets import Itemsets

    held = Itemsets(baskets.offsets, baskets.codes).take(kept)
    return Baskets(held.offsets, held.codes, baskets.vocabulary)


def _recoded(baskets: Baskets, table: NDArray[np.int32], vocabulary: Vocabulary) -> Baskets:
    """Give the items new numbers; codes that map to -1 are dropped. Rows stay sorted where the table rises."""
    codes = table[baskets.codes]
    kept = codes >= 0
    if kept.all():
        return Baskets(baskets.offsets, codes, vocabulary)
    before = np.concatenate(([0], np.cumsum(kept)))
    return Baskets(before[baskets.offsets], codes[kept], vocabulary)


def lengths_for(top: int, least: int) -> int:
    """Return the most items a pattern among the top can have: its subsets are at least as frequent (A10)."""
    from math import comb

    size = least
    while sum(comb(size + 1, length) for length in range(least, size + 2)) <= top:
        size += 1
    return size
