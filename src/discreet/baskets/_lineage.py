"""The forest of a hierarchy by item code, without labels, levels and files.

Two items are *related* if they are equal or if one is above the other. An itemset with two related items has the
holders of the itemset without the upper item: each holder of milk is a holder of dairy. So all patterns are
*antichains*, itemsets without two related items.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError

if TYPE_CHECKING:
    from ._core import Codes, Offsets

# Real hierarchies have few levels; a deeper one is a mistake, mostly a cycle.
MAX_LEVELS = 64


@dataclass(frozen=True, eq=False)
class Lineage:
    """A forest of items: `parents[code]` is the code of the item right above, or -1."""

    parents: Codes

    def __post_init__(self) -> None:
        parents = self.parents
        is_vector = isinstance(parents, np.ndarray) and parents.ndim == 1 and parents.dtype == np.int32
        if not is_vector or (len(parents) and not (parents.min() >= -1 and parents.max() < len(parents))):
            raise InputError("A lineage has the code of the item above for each item, or -1.")
        parents.flags.writeable = False
        self.depths  # noqa: B018 -- raises an error if the parents have a cycle

    def __len__(self) -> int:
        return len(self.parents)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Lineage) and np.array_equal(self.parents, other.parents)

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def depths(self) -> NDArray[np.int32]:
        """The number of items above each item."""
        depths = np.zeros(len(self.parents), np.int32)
        above = self.parents
        # A cycle never reaches a root, so the number of steps is bounded.
        for _ in range(MAX_LEVELS + 1):
            has_parent = above >= 0
            if not has_parent.any():
                return depths
            depths += has_parent
            above = np.where(has_parent, self.parents[above], -1).astype(np.int32)
        raise InputError(f"A lineage has at most {MAX_LEVELS} items above one another, and no item above itself.")

    @cached_property
    def spans(self) -> NDArray[np.int32]:
        """The start of each item's span in a preorder walk, followed by the end of each span.

        The walk visits an item and then all items below it. So two items are related if and only if their spans
        overlap.
        """
        parents, depths = self.parents, self.depths
        sizes = np.ones(len(parents), np.int64)  # items at or below each item
        # 1. Subtree sizes, from the deepest level up: each item adds its size to its parent.
        by_depth = np.argsort(depths, kind="stable")
        ends = np.searchsorted(depths[by_depth], np.arange(int(depths.max(initial=0)) + 2))
        for depth in range(len(ends) - 2, 0, -1):
            level = by_depth[ends[depth] : ends[depth + 1]]
            np.add.at(sizes, parents[level], sizes[level])
        # 2. Starts, from the roots down: an item follows its parent and the subtrees of its elder siblings.
        begins = np.zeros(len(parents), np.int64)
        for depth in range(len(ends) - 1):
            level = by_depth[ends[depth] : ends[depth + 1]]
            level = level[np.argsort(parents[level], kind="stable")]
            before = np.cumsum(sizes[level]) - sizes[level]
            above = parents[level]
            siblings = np.flatnonzero(np.diff(above, prepend=-2))
            shifts = before - np.repeat(before[siblings], np.diff(np.append(siblings, len(level))))
            begins[level] = shifts if depth == 0 else begins[above] + 1 + shifts
        spans = np.concatenate((begins, begins + sizes)).astype(np.int32)
        spans.flags.writeable = False
        return spans

    def take_spans(self, codes: Codes) -> NDArray[np.int32]:
        """Return the spans of the items `codes`: all starts, then all ends, as kernels take them."""
        return np.ascontiguousarray(self.spans.reshape(2, -1)[:, codes]).reshape(-1)

    def related_to(self, codes: Codes) -> NDArray[np.bool_]:
        """Return whether each item of the forest is related to an item of `codes`."""
        begins, ends = self.spans.reshape(2, -1)
        related = np.zeros(len(self), np.bool_)
        for code in codes.tolist():
            related |= (begins < ends[code]) & (begins[code] < ends)
        return related

    def find_related_pairs(self, codes: Sequence[int]) -> NDArray[np.bool_]:
        """Return the matrix of whether every two items of `codes` are related."""
        begins, ends = self.spans.reshape(2, -1)[:, np.asarray(codes, np.int64)]
        is_related: NDArray[np.bool_] = (begins[:, None] < ends) & (begins < ends[:, None])
        return is_related

    def antichains(self, offsets: Offsets, codes: Codes) -> NDArray[np.bool_]:
        """Return whether each itemset is an antichain."""
        begins, ends = self.spans.reshape(2, -1)
        rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        # In the order of the walk, an item above a later item is above the next item too.
        codes = codes[np.lexsort((begins[codes], rows))]
        is_related = (rows[1:] == rows[:-1]) & (begins[codes[1:]] < ends[codes[:-1]])
        is_antichain = np.ones(len(offsets) - 1, np.bool_)
        is_antichain[rows[1:][is_related]] = False
        return is_antichain

    def count_related(self, offsets: Offsets, codes: Codes, marked: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the number of marked items above or below an item of each itemset; itemsets are antichains."""
        begins, ends = self.spans.reshape(2, -1)
        rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        order = np.lexsort((begins[codes], rows))
        rows, codes = rows[order], codes[order]
        # Different items are below the items of an antichain, so the counts per item add up.
        marked_before = np.zeros(len(self) + 1, np.int64)
        marked_before[begins + 1] = marked
        marked_before = np.cumsum(marked_before)
        counts = marked_before[ends[codes]] - marked_before[begins[codes]] - marked[codes]
        # An item above this item that starts before the previous item is above both, and was counted there.
        previous = np.full(len(codes), -1, np.int64)
        in_row = rows[1:] == rows[:-1]
        previous[1:][in_row] = begins[codes[:-1]][in_row]
        above = self.parents[codes]
        while (above >= 0).any():
            counts += (above >= 0) & marked[above] & (begins[above] > previous)
            above = np.where(above >= 0, self.parents[above], -1)
        row_counts = np.zeros(len(offsets) - 1, np.int64)
        np.add.at(row_counts, rows, counts)
        return row_counts

    def recoded(self, table: NDArray[Any], items: int) -> Lineage:
        """Return the lineage over `items` new codes `table[old_code]`; items with the new code -1 are dropped.

        The parent of an item is then its nearest ancestor that is not dropped.
        """
        above = np.where(self.parents >= 0, table[self.parents], -1)
        ancestors = self.parents
        for _ in range(int(self.depths.max(initial=0))):
            is_missing = (above < 0) & (ancestors >= 0)
            if not is_missing.any():
                break
            ancestors = np.where(is_missing, self.parents[ancestors], ancestors).astype(np.int32)
            above = np.where(is_missing & (ancestors >= 0), table[ancestors], above)
        parents = np.full(items, -1, np.int32)
        is_kept = table >= 0
        parents[table[is_kept]] = above[is_kept]
        return Lineage(parents)

    def only(self, codes: Codes) -> Lineage | None:
        """Return the lineage of the items `codes`, which ascend; None if no two items are related.

        As :meth:`recoded`, but in time that depends on `codes` alone: miners build many lineages of few items.
        """
        if not len(codes):
            return None
        above = self.parents[codes]
        while True:
            positions = np.searchsorted(codes, above)
            is_missing = (above >= 0) & (codes[np.minimum(positions, len(codes) - 1)] != above)
            if not is_missing.any():
                break
            above = np.where(is_missing, self.parents[above], above)
        lineage = Lineage(np.where(above >= 0, positions, -1).astype(np.int32))
        return None if lineage.plain else lineage

    def apart(self, offsets: Offsets, codes: Codes, rows: NDArray[Any], items: Codes) -> NDArray[np.bool_]:
        """Return whether item `others[i]` is unrelated to all items of the itemset in row `rows[i]`, for each i."""
        begins, ends = self.spans.reshape(2, -1)
        sizes = np.diff(offsets)
        is_unrelated = np.ones(len(items), np.bool_)
        for position in range(int(sizes.max(initial=0))):
            candidates = np.flatnonzero(sizes[rows] > position)
            member, item = codes[offsets[rows[candidates]] + position], items[candidates]
            is_unrelated[candidates[(begins[member] < ends[item]) & (begins[item] < ends[member])]] = False
        return is_unrelated

    @cached_property
    def plain(self) -> bool:
        """Whether no two items are related."""
        return bool((self.parents < 0).all())


def recode_lineage(lineage: Lineage | None, table: NDArray[Any], items: int) -> Lineage | None:
    """Return the lineage over new codes, as :meth:`Lineage.recoded`; None if no two items are related."""
    if lineage is None:
        return None
    new_lineage = lineage.recoded(table, items)
    return None if new_lineage.plain else new_lineage
