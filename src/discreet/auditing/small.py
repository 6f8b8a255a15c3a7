"""An engine for data sets of a few items: it counts every itemset there is, once, and looks answers up.

An audit asks thousands of data sets a few questions each, where starting the threads of the miner would take longer
than the counting. Truncation, sizes and cells are those of the local engine. The table is plain enough to be right by
reading; that the miner finds the same is what its own tests are for.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..baskets.core import Baskets, Codes, Item, Offsets, starts
from ..exact.engine import Engine, Listed, LocalEngine
from ..exact.itemsets import Itemsets
from ..exact.query import LOOKED_AT, Query, Supports
from ..kernels.cells import supersets
from ..privacy.meter import I64

_MOST = 12  # items; the table has two to this power entries at most


class Small(LocalEngine):
    """The local engine with a table of all counts in place of the miner."""

    def __init__(self, baskets: Baskets) -> None:
        super().__init__(baskets)
        self._known: dict[Any, Any] = {}

    def answer(self, query: Query) -> I64:
        """Answer from the table, or from memory where queries can be told apart by their values."""
        if isinstance(query, Supports):
            table = self._table
            if query.truncation is not None:
                cut = self._cut(query.truncation)
                table = _table(cut.offsets, cut.codes, self.items)
            counts: I64 = table[_masks(query.itemsets.offsets, query.itemsets.codes)]
            return counts
        if type(query).__eq__ is object.__eq__:
            return super().answer(query)
        if query not in self._known:
            self._known[query] = super().answer(query)
            self._known[query].flags.writeable = False
        known: I64 = self._known[query]
        return known

    def above(self, bound: int, least: int, longest: int, limit: int) -> Listed:
        """Return the itemsets over the bound, at most so many, as the miner would."""
        key = (bound, least, longest, limit)
        if key not in self._known:
            masks, counts = self._ranked(least, longest)
            bound = max(bound, 0, self._kth(limit + 1, least, longest, (limit if least <= 1 else LOOKED_AT) + 1))
            many = int(np.count_nonzero(counts > bound))
            rows = [[item for item in range(self.items) if mask >> item & 1] for mask in masks[:many].tolist()]
            codes = np.array([item for row in rows for item in row], np.int32)
            self._known[key] = Listed(Itemsets(starts([len(row) for row in rows]), codes), counts[:many].copy(), bound)
        known: Listed = self._known[key]
        return known

    def _kth(self, k: int, least: int, longest: int, work: int) -> int:
        ranked = (k, self._ranked(least, longest)[1]), (work, self._ranked(1, longest)[1])
        return max(int(counts[rank - 1]) if rank <= len(counts) else 0 for rank, counts in ranked)

    @cached_property
    def _table(self) -> I64:
        return _table(self._rows.offsets, self._rows.codes, self.items)

    def _ranked(self, least: int, longest: int) -> tuple[I64, I64]:
        """Return the itemsets of these lengths that anyone holds, as bits, the largest counts first."""
        sizes = np.bitwise_count(np.arange(len(self._table)))
        masks = np.flatnonzero((sizes >= least) & (sizes <= longest) & (self._table > 0))
        order = np.lexsort((masks, sizes[masks], -self._table[masks]))
        return masks[order], self._table[masks[order]]


class Engines:
    """One engine for each data set that comes up."""

    def __init__(self) -> None:
        self._known: dict[tuple[bytes, bytes, tuple[Item, ...]], Engine] = {}

    def __call__(self, baskets: Baskets) -> Engine:
        """Return the engine of these baskets."""
        key = baskets.offsets.tobytes(), baskets.codes.tobytes(), tuple(baskets.vocabulary)
        if key not in self._known:
            self._known[key] = Small(baskets) if baskets.items <= _MOST else LocalEngine(baskets)
        return self._known[key]


def _masks(offsets: Offsets, codes: Codes) -> NDArray[np.int64]:
    """Return rows of codes as bits of one number each."""
    bits = (1 << codes.astype(np.int64)).tolist()
    return np.array([sum(bits[low:high]) for low, high in pairwise(offsets.tolist())], np.int64)


def _table(offsets: Offsets, codes: Codes, items: int) -> I64:
    """Return how many rows hold each itemset, by its bits."""
    exactly = np.bincount(_masks(offsets, codes), minlength=1 << items).astype(np.int64)
    held: I64 = supersets(exactly)
    return held
