"""Itemsets end to end in two arrays: the column type of patterns and rules.

A column is cut, compared, searched, and turned into Python sets, Arrow lists or JSON text. Files, tables and measures
belong elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..baskets import Codes, Item, Offsets, Vocabulary, as_arrow, starts, take_rows
from ..checks import parse_items
from ..errors import MisuseError

if TYPE_CHECKING:
    import pyarrow as pa

Positions = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Itemsets:
    """Itemset i is ``codes[offsets[i]:offsets[i + 1]]``, its codes ascending."""

    offsets: Offsets
    codes: Codes

    def __post_init__(self) -> None:
        # Slices share this memory, so a write to one would change all.
        self.offsets.flags.writeable = False
        self.codes.flags.writeable = False

    @classmethod
    def of(cls, itemsets: Iterable[Iterable[int]]) -> Itemsets:
        """Return itemsets as one column; the codes of each must be ascending."""
        rows = [tuple(itemset) for itemset in itemsets]
        return cls(starts([len(row) for row in rows]), np.array([code for row in rows for code in row], np.int32))

    @classmethod
    def singles(cls, items: int) -> Itemsets:
        """Return one itemset per item, for the items from 0 to before `items`."""
        return cls(np.arange(items + 1), np.arange(items, dtype=np.int32))

    @classmethod
    def joined(cls, columns: Iterable[Itemsets]) -> Itemsets:
        """Return the itemsets of several columns as one column."""
        parts = list(columns)
        # An empty array first: no column at all is a column without rows.
        sizes = np.concatenate([np.empty(0, np.int64), *(column.sizes for column in parts)])
        return cls(starts(sizes), np.concatenate([np.empty(0, np.int32), *(column.codes for column in parts)]))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def tuples(self) -> list[tuple[int, ...]]:
        """Return the itemsets as tuples of codes."""
        codes = self.codes.tolist()
        return [tuple(codes[low:high]) for low, high in pairwise(self.offsets.tolist())]

    @cached_property
    def sizes(self) -> Positions:
        """Return the number of items of each itemset."""
        return np.diff(self.offsets)

    def cut(self, start: int, stop: int) -> Itemsets:
        """Return the itemsets from `start` to before `stop`, on the same memory."""
        start_code, stop_code = self.offsets[start], self.offsets[max(start, stop)]
        return Itemsets(self.offsets[start : max(start, stop) + 1] - start_code, self.codes[start_code:stop_code])

    def take(self, positions: Positions) -> Itemsets:
        """Return the itemsets at `positions`, in their order."""
        return Itemsets(*take_rows(self.offsets, positions, self.codes))

    def holding(self, codes: Codes) -> Positions:
        """Return the number of the given codes (all different) that each itemset holds."""
        # From the places of the codes to their rows by search: no loop over itemsets.
        places = np.flatnonzero(np.isin(self.codes, codes))
        rows = np.searchsorted(self.offsets, places, side="right") - 1
        return np.bincount(rows, minlength=len(self)).astype(np.int64, copy=False)

    def sets(self, vocabulary: Vocabulary) -> Iterator[frozenset[Item]]:
        """Yield the itemsets as Python sets of labels, decoded in blocks of a few thousand."""
        # Blocks keep the memory small: the labels of all itemsets at once would be Python objects by the million.
        for start in range(0, len(self), 8192):
            part = self.cut(start, min(start + 8192, len(self)))
            labels = vocabulary.take(part.codes).to_pylist()
            bounds = part.offsets.tolist()
            for low, high in pairwise(bounds):
                yield frozenset(labels[low:high])

    def to_arrow(self, vocabulary: Vocabulary) -> pa.Array:
        """Return a list column of int64 numbers or of names; 64-bit offsets, so that no size overflows."""
        import pyarrow as pa

        values = vocabulary.take(self.codes).cast(pa.int64() if vocabulary.numeric else pa.large_string())
        return pa.LargeListArray.from_arrays(as_arrow(self.offsets), values)

    def to_json(self, vocabulary: Vocabulary) -> pa.Array:
        """Return each itemset as the text of a JSON array: ``["milk", "tea"]`` or ``[3, 17]``."""
        import pyarrow as pa
        import pyarrow.compute as pc

        # Each name is rendered once, however many itemsets have it.
        used_codes, places = np.unique(self.codes, return_inverse=True)
        texts = [json.dumps(label, ensure_ascii=False) for label in vocabulary.take(used_codes).to_pylist()]
        values = pa.array(texts, pa.large_string()).take(as_arrow(places))
        lists = pa.LargeListArray.from_arrays(as_arrow(self.offsets), values)
        start, separator, end, nothing = (pa.scalar(text, pa.large_string()) for text in ("[", ", ", "]", ""))
        return pc.binary_join_element_wise(start, pc.binary_join(lists, separator), end, nothing)

    def same(self, itemsets: Itemsets) -> bool:
        """Return whether both columns hold equal codes in equal order."""
        return np.array_equal(self.offsets, itemsets.offsets) and np.array_equal(self.codes, itemsets.codes)


def same_labels(
    itemsets: Itemsets, vocabulary: Vocabulary, second_itemsets: Itemsets, second_vocabulary: Vocabulary
) -> bool:
    """Return whether two columns have equal labels, whatever the numbering of their vocabularies."""
    if not np.array_equal(itemsets.offsets, second_itemsets.offsets):
        return False
    if len(itemsets.codes) == 0 or (
        vocabulary == second_vocabulary and np.array_equal(itemsets.codes, second_itemsets.codes)
    ):
        return True
    if vocabulary.numeric != second_vocabulary.numeric:
        return False
    left_ordered, right_ordered = (
        in_label_order(column.offsets, words.take(column.codes).dictionary_encode())
        for column, words in ((itemsets, vocabulary), (second_itemsets, second_vocabulary))
    )
    return left_ordered[0].same(right_ordered[0]) and left_ordered[1] == right_ordered[1]


def in_label_order(offsets: Offsets, encoded: pa.DictionaryArray) -> tuple[Itemsets, Vocabulary]:
    """Return an encoded column with codes in the order of labels and each itemset sorted, and its vocabulary."""
    import pyarrow as pa
    import pyarrow.compute as pc

    labels = encoded.dictionary
    labels = labels.cast(pa.int64() if pa.types.is_integer(labels.type) else pa.large_string())
    # Codes in the order of labels are equal for equal sets of labels, whichever file or mechanism numbered them.
    order = pc.sort_indices(labels).to_numpy()
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    codes = rank[encoded.indices.to_numpy(zero_copy_only=False)]
    rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    if np.any((np.diff(codes) < 0) & (np.diff(rows) == 0)):
        codes = codes[np.lexsort((codes, rows))]
    return Itemsets(np.ascontiguousarray(offsets, np.int64), codes), Vocabulary(labels.take(as_arrow(order)))


class Index:
    """A hash table from itemset to its position; a repeated itemset has its first position."""

    def __init__(self, itemsets: Itemsets, items: int) -> None:
        from ..kernels import fill_slots, hash_itemsets

        self.itemsets = itemsets
        self.keys = _keys(items)
        self.hashes = hash_itemsets(itemsets.offsets, itemsets.codes, self.keys)
        # At most half of the slots are full, so that a search ends after a few steps.
        self.slots = np.full(1 << max(3, (2 * len(itemsets)).bit_length()), -1, np.int64)
        fill_slots(self.slots, self.hashes, itemsets.offsets, itemsets.codes)

    def find(self, itemsets: Itemsets) -> Positions:
        """Return the position of each itemset, -1 for an absent itemset."""
        from ..kernels import find_itemsets, hash_itemsets

        # The hash only leads to a slot; the itemsets themselves are compared, so that collisions do no harm.
        hashes = hash_itemsets(itemsets.offsets, itemsets.codes, self.keys)
        table = (self.slots, self.hashes, self.itemsets.offsets, self.itemsets.codes)
        positions: Positions = find_itemsets(*table, hashes, itemsets.offsets, itemsets.codes)
        return positions


def _keys(items: int) -> Positions:
    """Return one well-mixed 63-bit number per item, by the finaliser of SplitMix64 (Steele, Lea, Flood 2014)."""
    mixed = (np.arange(items, dtype=np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return (mixed >> np.uint64(1)).astype(np.int64)


def codes_of(items: Item | Iterable[Item], vocabulary: Vocabulary, name: str) -> Codes:
    """Return the sorted codes of one item or several; `name` is the parameter that gave them."""
    return np.unique(vocabulary.codes(parse_items(items, name)))


def frames(package: str) -> Any:
    """Return the module pandas or polars; an error with its installation if it is missing."""
    from importlib import import_module

    try:
        return import_module(package)
    except ImportError:
        raise MisuseError(
            f"to_{package}() needs {package}, which is not installed: pip install {package}, or use to_arrow()."
        ) from None
