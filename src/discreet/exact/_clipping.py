"""A family of itemsets laid out for weighted counting, for the queries `LoadHistogram` and `ClippedCounts`.

Trees of items find the members within a basket, in two passes: the first computes the load of each person, eight bytes
a person; the second adds the weight of that load for each basket. Memory grows with the family and with the number of
baskets, and not with the number of matches.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels import add_weights, count_members, in_threads, load_people, plant
from ..results import Itemsets
from ._rows import RowLayout

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
Weights = Callable[[NDArray[np.integer[Any]]], I32]


class Family:
    """Itemsets to be counted in rows, and the load of each person. Families of all single items need no trees.

    Person i has the rows from ``owners[i]`` to before ``owners[i + 1]``, or row i alone. The load of a person is the
    number of members within the rows; with `squares`, a member within v rows adds v^2.
    """

    def __init__(self, rows: RowLayout, owners: I64 | None, itemsets: Itemsets, squares: bool) -> None:
        self._rows, self._owners = rows, owners
        self._set_count = len(itemsets)
        single = is_every_item(itemsets, len(rows.is_allowed))
        # Single items need no trees: the load is the size of the row.
        self._trees = None if single else _plant_trees(rows, itemsets)
        self.loads: NDArray[np.integer[Any]] = self._compute_loads(itemsets, squares)

    def _compute_loads(self, itemsets: Itemsets, squares: bool) -> NDArray[np.integer[Any]]:
        rows, owners, trees = self._rows, self._owners, self._trees
        # v^2 needs the count over all rows of a person for each member, and not one sum per row.
        if squares and owners is not None:
            squared_trees = trees or _plant_trees(rows, itemsets)
            loads = np.zeros(len(owners) - 1, np.int64)

            def load(piece: tuple[int, int]) -> None:
                start, stop = piece
                load_people(owners, rows.offsets, rows.codes, start, stop, *squared_trees, len(itemsets), loads)

            in_threads(load, self._pieces(owners))
            return loads
        if trees is None:
            row_loads = np.diff(rows.offsets).astype(np.int32)
        else:
            row_loads = np.zeros(rows.people, np.int32)

            def count(piece: tuple[int, int]) -> None:
                start, stop = piece
                count_members(rows.offsets, rows.codes, start, stop, *trees, row_loads)

            in_threads(count, rows.pieces())
        # Each person has a row, as `reduceat` requires.
        return row_loads if owners is None else np.add.reduceat(row_loads, owners[:-1], dtype=np.int64)

    # A person must not be split over two pieces: the load is written once per person.
    def _pieces(self, owners: I64) -> list[tuple[int, int]]:
        """Split the people into runs of about equal work."""
        edges = np.unique(np.searchsorted(owners, [start for start, _ in self._rows.pieces()]))
        return list(pairwise([*edges.tolist(), len(owners) - 1]))

    def sums(self, weights: Weights) -> I64:
        """Return the total weight of the rows with each itemset; a person's load determines the weight of the rows."""
        rows, row_weights = self._rows, weights(self.loads)
        if self._owners is not None:
            row_weights = np.repeat(row_weights, np.diff(self._owners))

        def add_piece(piece: tuple[int, int]) -> I64:
            start, stop = piece
            if self._trees is None:
                return self._weigh_items(start, stop, row_weights[start:stop])
            sums = np.zeros(self._set_count, np.int64)
            add_weights(rows.offsets, rows.codes, start, stop, *self._trees, row_weights, sums)
            return sums

        return sum(in_threads(add_piece, rows.pieces()), np.zeros(self._set_count, np.int64))

    def _weigh_items(self, start: int, stop: int, row_weights: I32) -> I64:
        """Return the total weight of each item over some rows. Sums of parts of baskets are exact in floating point."""
        rows = self._rows
        code_weights = np.repeat(row_weights.astype(np.float64), np.diff(rows.offsets[start : stop + 1]))
        codes = rows.codes[rows.offsets[start] : rows.offsets[stop]]
        return np.bincount(codes, weights=code_weights, minlength=self._set_count).astype(np.int64)


def count_bins(edges: tuple[int, ...], values: NDArray[np.integer[Any]]) -> I64:
    """Return the number of values from each edge up to before the next edge; the last bin has no upper end."""
    bins = np.searchsorted(np.array(edges), values, side="right")
    return np.bincount(bins, minlength=len(edges) + 1)[1:].astype(np.int64)


def is_every_item(itemsets: Itemsets, items: int) -> bool:
    """Return whether a family is each of `items` items once, in the order of their codes."""
    return np.array_equal(itemsets.codes, np.arange(items)) and np.array_equal(itemsets.offsets, np.arange(items + 1))


def _plant_trees(rows: RowLayout, itemsets: Itemsets) -> tuple[I64, I32, I32, I32]:
    """Return a family as trees that begin with the rarest items, which few rows contain."""
    sets = np.repeat(np.arange(len(itemsets)), itemsets.sizes)
    rank = np.empty(len(rows.item_counts), np.int64)
    rank[np.argsort(rows.item_counts, kind="stable")] = np.arange(len(rank))
    codes = itemsets.codes[np.lexsort((rank[itemsets.codes], sets))]
    # Trees with one root are adjacent: sort by root, then by the rank of the further items.
    order = np.full((len(itemsets), int(itemsets.sizes.max(initial=1))), -1, np.int64)
    order[sets, np.arange(len(codes)) - itemsets.offsets[sets]] = rank[codes]
    order[:, 0] = codes[itemsets.offsets[:-1]]
    heads = np.empty(len(rank) + 1, np.int64)
    items, ends, members = (np.empty(len(codes), np.int32) for _ in range(3))
    plant(itemsets.offsets, codes, np.lexsort(order.T[::-1]), heads, items, ends, members)
    return heads, items, ends, members
