"""A family of itemsets laid out for weighted counting: what the queries `Held` and `Clipped` are answered with.

Which members a basket holds is found by walking trees of items, twice: what a person's baskets come to, the load, which
is kept, eight bytes a person, and then to add the weight that this load gives each basket. Memory grows with the family
and with the number of baskets, not with what the baskets hold of it.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.clipping import add_weights, count_members, load_people, plant
from ..kernels.jit import in_threads
from ..results.itemsets import Itemsets
from .rows import RowLayout

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
Weights = Callable[[NDArray[np.integer[Any]]], I32]


class Family:
    """Itemsets to be counted in rows, and what people hold of them. No trees where they are all single items.

    Person i has the rows from ``owners[i]`` to before ``owners[i + 1]``, or row i alone. The load of a person is how
    many members the rows hold together; with `squares` a member that v rows hold counts v squared times.
    """

    def __init__(self, rows: RowLayout, owners: I64 | None, itemsets: Itemsets, squares: bool) -> None:
        self._rows, self._owners = rows, owners
        self._many = len(itemsets)
        single = is_every_item(itemsets, len(rows.allowed))
        self._trees = None if single else _planted(rows, itemsets)
        self.loads: NDArray[np.integer[Any]] = self._loads(itemsets, squares)

    def _loads(self, itemsets: Itemsets, squares: bool) -> NDArray[np.integer[Any]]:
        rows, owners, trees = self._rows, self._owners, self._trees
        if squares and owners is not None:
            planted = trees or _planted(rows, itemsets)
            loads = np.zeros(len(owners) - 1, np.int64)

            def load(piece: tuple[int, int]) -> None:
                first, last = piece
                load_people(owners, rows.offsets, rows.codes, first, last, *planted, len(itemsets), loads)

            in_threads(load, self._pieces(owners))
            return loads
        if trees is None:
            held = np.diff(rows.offsets).astype(np.int32)
        else:
            held = np.zeros(rows.people, np.int32)

            def count(piece: tuple[int, int]) -> None:
                first, last = piece
                count_members(rows.offsets, rows.codes, first, last, *trees, held)

            in_threads(count, rows.pieces())
        # Nobody is without a row.
        return held if owners is None else np.add.reduceat(held, owners[:-1], dtype=np.int64)

    def _pieces(self, owners: I64) -> list[tuple[int, int]]:
        """Split the people into runs of about equal work."""
        edges = np.unique(np.searchsorted(owners, [first for first, _ in self._rows.pieces()]))
        return list(pairwise([*edges.tolist(), len(owners) - 1]))

    def sums(self, weights: Weights) -> I64:
        """Return for each itemset what the rows that hold it weigh, by the load of their people."""
        rows, each = self._rows, weights(self.loads)
        if self._owners is not None:
            each = np.repeat(each, np.diff(self._owners))

        def added(piece: tuple[int, int]) -> I64:
            first, last = piece
            if self._trees is None:
                return self._weighed(first, last, each[first:last])
            part = np.zeros(self._many, np.int64)
            add_weights(rows.offsets, rows.codes, first, last, *self._trees, each, part)
            return part

        return sum(in_threads(added, rows.pieces()), np.zeros(self._many, np.int64))

    def _weighed(self, first: int, last: int, each: I32) -> I64:
        """Return what some rows weigh for each item. Sums of parts of baskets are exact as floating-point numbers."""
        rows = self._rows
        held = np.repeat(each.astype(np.float64), np.diff(rows.offsets[first : last + 1]))
        codes = rows.codes[rows.offsets[first] : rows.offsets[last]]
        return np.bincount(codes, weights=held, minlength=self._many).astype(np.int64)


def counted_from(edges: tuple[int, ...], values: NDArray[np.integer[Any]]) -> I64:
    """Return how many values lie from one edge up to before the next one; the last bin has no upper end."""
    bins = np.searchsorted(np.array(edges), values, side="right")
    return np.bincount(bins, minlength=len(edges) + 1)[1:].astype(np.int64)


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
