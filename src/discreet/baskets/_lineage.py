"""Which items stand above which, by code: what a hierarchy says once the labels are gone.

An itemset with an item and one that stands above it says nothing that it would not say without the latter: who holds
milk holds dairy. So patterns are *antichains*: no item of theirs stands above another. How to tell two items apart in
that sense is here, and nothing about labels, levels or files.
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

# Hierarchies have few levels; what is deeper is a mistake, mostly items that stand above themselves.
DEEPEST = 64


@dataclass(frozen=True, eq=False)
class Lineage:
    """A forest of items: `parents[code]` is the code of the item right above, or -1."""

    parents: Codes

    def __post_init__(self) -> None:
        parents = self.parents
        good = isinstance(parents, np.ndarray) and parents.ndim == 1 and parents.dtype == np.int32
        if not good or (len(parents) and not (parents.min() >= -1 and parents.max() < len(parents))):
            raise InputError("A lineage has the code of the item above for each item, or -1.")
        parents.flags.writeable = False
        self.depths  # noqa: B018 -- whether it is a forest shows here

    def __len__(self) -> int:
        return len(self.parents)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Lineage) and np.array_equal(self.parents, other.parents)

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def depths(self) -> NDArray[np.int32]:
        """How many items stand above each."""
        depths = np.zeros(len(self.parents), np.int32)
        above = self.parents
        for _ in range(DEEPEST + 1):
            climbing = above >= 0
            if not climbing.any():
                return depths
            depths += climbing
            above = np.where(climbing, self.parents[above], -1).astype(np.int32)
        raise InputError(f"A lineage has at most {DEEPEST} items above one another, and no item above itself.")

    @cached_property
    def spans(self) -> NDArray[np.int32]:
        """Where each item's part of a walk begins, and behind all these where it ends.

        The walk goes through each item and then through all below it. So of two items one stands above the other, or
        is the other, just where their parts have something in common.
        """
        many, parents, depths = len(self.parents), self.parents, self.depths
        sizes = np.ones(many, np.int64)
        by_depth = np.argsort(depths, kind="stable")
        ends = np.searchsorted(depths[by_depth], np.arange(int(depths.max(initial=0)) + 2))
        for depth in range(len(ends) - 2, 0, -1):
            level = by_depth[ends[depth] : ends[depth + 1]]
            np.add.at(sizes, parents[level], sizes[level])
        begins = np.zeros(many, np.int64)
        for depth in range(len(ends) - 1):
            level = by_depth[ends[depth] : ends[depth + 1]]
            level = level[np.argsort(parents[level], kind="stable")]
            before = np.cumsum(sizes[level]) - sizes[level]
            above = parents[level]
            first = np.flatnonzero(np.diff(above, prepend=-2))
            within = before - np.repeat(before[first], np.diff(np.append(first, len(level))))
            begins[level] = within if depth == 0 else begins[above] + 1 + within
        spans = np.concatenate((begins, begins + sizes)).astype(np.int32)
        spans.flags.writeable = False
        return spans

    def of(self, codes: Codes) -> NDArray[np.int32]:
        """Return the spans of some items, as kernels take them."""
        return np.ascontiguousarray(self.spans.reshape(2, -1)[:, codes]).reshape(-1)

    def related_to(self, codes: Codes) -> NDArray[np.bool_]:
        """Say of each item whether it is one of these, stands above one of them or below."""
        begins, ends = self.spans.reshape(2, -1)
        related = np.zeros(len(self), np.bool_)
        for code in codes.tolist():
            related |= (begins < ends[code]) & (begins[code] < ends)
        return related

    def among(self, codes: Sequence[int]) -> NDArray[np.bool_]:
        """Say of every two of these items whether one is the other or stands above it."""
        begins, ends = self.spans.reshape(2, -1)[:, np.asarray(codes, np.int64)]
        met: NDArray[np.bool_] = (begins[:, None] < ends) & (begins < ends[:, None])
        return met

    def antichains(self, offsets: Offsets, codes: Codes) -> NDArray[np.bool_]:
        """Say of each itemset whether none of its items stands above another."""
        begins, ends = self.spans.reshape(2, -1)
        rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        # In the order of the walk, what stands above anything behind it stands above the very next.
        codes = codes[np.lexsort((begins[codes], rows))]
        mixed = (rows[1:] == rows[:-1]) & (begins[codes[1:]] < ends[codes[:-1]])
        good = np.ones(len(offsets) - 1, np.bool_)
        good[rows[1:][mixed]] = False
        return good

    def many_related(self, offsets: Offsets, codes: Codes, marked: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return how many of the marked items stand above or below an item of each itemset, which is an antichain."""
        begins, ends = self.spans.reshape(2, -1)
        rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        order = np.lexsort((begins[codes], rows))
        rows, codes = rows[order], codes[order]
        # Below items of an antichain lie different ones: numbers along the walk add up.
        along = np.zeros(len(self) + 1, np.int64)
        along[begins + 1] = marked
        along = np.cumsum(along)
        many = along[ends[codes]] - along[begins[codes]] - marked[codes]
        # What stands above an item and begins before the previous one ends behind both: it was counted there.
        before = np.full(len(codes), -1, np.int64)
        same = rows[1:] == rows[:-1]
        before[1:][same] = begins[codes[:-1]][same]
        above = self.parents[codes]
        while (above >= 0).any():
            many += (above >= 0) & marked[above] & (begins[above] > before)
            above = np.where(above >= 0, self.parents[above], -1)
        found = np.zeros(len(offsets) - 1, np.int64)
        np.add.at(found, rows, many)
        return found

    def recoded(self, table: NDArray[Any], items: int) -> Lineage:
        """Return the lineage of the items that have a new code, by the old one; those of -1 are dropped.

        Where the item above is dropped, the next above it takes its place.
        """
        above = np.where(self.parents >= 0, table[self.parents], -1)
        further = self.parents
        for _ in range(int(self.depths.max(initial=0))):
            missing = (above < 0) & (further >= 0)
            if not missing.any():
                break
            further = np.where(missing, self.parents[further], further).astype(np.int32)
            above = np.where(missing & (further >= 0), table[further], above)
        parents = np.full(items, -1, np.int32)
        kept = table >= 0
        parents[table[kept]] = above[kept]
        return Lineage(parents)

    def only(self, codes: Codes) -> Lineage | None:
        """Return the lineage of some items, given by rising codes, by their places; none where it would be plain.

        As :meth:`recoded`, without a look at all the others: of a few items there are many lineages to make.
        """
        above = self.parents[codes]
        while True:
            places = np.searchsorted(codes, above)
            missing = (above >= 0) & (codes[np.minimum(places, len(codes) - 1)] != above) if len(codes) else above > 0
            if not missing.any():
                break
            above = np.where(missing, self.parents[above], above)
        made = Lineage(np.where(above >= 0, places, -1).astype(np.int32))
        return None if made.plain else made

    def apart(self, offsets: Offsets, codes: Codes, rows: NDArray[Any], others: Codes) -> NDArray[np.bool_]:
        """Say of some items whether each stands neither above nor below any item of an itemset, given by its row."""
        begins, ends = self.spans.reshape(2, -1)
        sizes = np.diff(offsets)
        good = np.ones(len(others), np.bool_)
        for place in range(int(sizes.max(initial=0))):
            there = np.flatnonzero(sizes[rows] > place)
            one, other = codes[offsets[rows[there]] + place], others[there]
            good[there[(begins[one] < ends[other]) & (begins[other] < ends[one])]] = False
        return good

    @cached_property
    def plain(self) -> bool:
        """Whether no item stands above another."""
        return bool((self.parents < 0).all())


def recoded(lineage: Lineage | None, table: NDArray[Any], items: int) -> Lineage | None:
    """Return the lineage of items with new codes; none where nothing stands above anything any more."""
    if lineage is None:
        return None
    made = lineage.recoded(table, items)
    return None if made.plain else made
