"""A family of itemsets laid out for weighted counting: what the queries `Held` and `Clipped` are answered with.

Which members a basket holds is found by walking trees of items, twice: how many they are, which is kept, four bytes a
basket, and then to add the weight that this number gives the basket. Memory grows with the family and with the number
of baskets, not with what the baskets hold of it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kernels.clipping import add_weights, count_members, plant
from ..kernels.jit import in_threads
from ..results.itemsets import Itemsets
from .rows import RowLayout

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


class Family:
    """Itemsets to be counted in rows, and how many of them each row holds. No trees where they are all single items."""

    def __init__(self, rows: RowLayout, itemsets: Itemsets) -> None:
        self._rows = rows
        self._many = len(itemsets)
        self._items = is_every_item(itemsets, len(rows.allowed))
        if self._items:
            self.held: I32 = np.diff(rows.offsets).astype(np.int32)
            return
        self._trees = _planted(rows, itemsets)
        self.held = np.zeros(rows.people, np.int32)

        def count(piece: tuple[int, int]) -> None:
            first, last = piece
            count_members(rows.offsets, rows.codes, first, last, *self._trees, self.held)

        in_threads(count, rows.pieces())

    def histogram(self, edges: tuple[int, ...]) -> I64:
        """Return how many rows hold from one edge up to before the next one."""
        bins = np.searchsorted(np.array(edges), self.held, side="right")
        return np.bincount(bins, minlength=len(edges) + 1)[1:].astype(np.int64)

    def sums(self, weights: I64) -> I64:
        """Return for each itemset what the rows that hold it weigh, by how many itemsets they hold."""
        rows = self._rows

        def added(piece: tuple[int, int]) -> I64:
            first, last = piece
            if self._items:
                return self._weighed(first, last, weights)
            part = np.zeros(self._many, np.int64)
            add_weights(rows.offsets, rows.codes, first, last, *self._trees, self.held, weights, part)
            return part

        return sum(in_threads(added, rows.pieces()), np.zeros(self._many, np.int64))

    def _weighed(self, first: int, last: int, weights: I64) -> I64:
        """Return what some rows weigh for each item. Sums of parts of people are exact as floating-point numbers."""
        rows = self._rows
        each = np.repeat(weights[self.held[first:last]].astype(np.float64), self.held[first:last])
        codes = rows.codes[rows.offsets[first] : rows.offsets[last]]
        return np.bincount(codes, weights=each, minlength=self._many).astype(np.int64)


def is_every_item(itemsets: Itemsets, items: int) -> bool:
    """Say whether a family is each of so many items once, in the order of their codes."""
    return np.array_equal(itemsets.codes, np.arange(items)) and np.array_equal(itemsets.offsets, np.arange(items + 1))


def _planted(rows: RowLayout, itemsets: Itemsets) -> tuple[I64, I32, I32, I32]:
    """Lay a family out as trees that begin with the rarest items: few rows hold them, and those are all that go on."""
    sets = np.repeat(np.arange(len(itemsets)), itemsets.sizes)
    rank = np.empty(len(rows.held), np.int64)
    rank[np.argsort(rows.held, kind="stable")] = np.arange(len(rank))
    codes = itemsets.codes[np.lexsort((rank[itemsets.codes], sets))]
    order = np.full((len(itemsets), int(itemsets.sizes.max(initial=1))), -1, np.int64)
    order[sets, np.arange(len(codes)) - itemsets.offsets[sets]] = rank[codes]
    order[:, 0] = codes[itemsets.offsets[:-1]]
    heads = np.empty(len(rank) + 1, np.int64)
    items, ends, members = (np.empty(len(codes), np.int32) for _ in range(3))
    plant(itemsets.offsets, codes, np.lexsort(order.T[::-1]), heads, items, ends, members)
    return heads, items, ends, members
