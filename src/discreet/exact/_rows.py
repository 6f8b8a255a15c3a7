"""The layout of rows in memory: derived arrays are kept for later queries.

Exact mining asks one query, a private mechanism five or ten, and a pass over the rows takes as long as most answers.
Item counts are therefore kept, and so are columns: a bitmap over all rows for each item of an earlier query. Columns
answer most later queries (pairs, cells, top patterns) without a pass over the rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..baskets import Lineage, starts
from ..errors import LimitError
from ..kernels import counting, in_threads, row_layout, threads

I32: TypeAlias = NDArray[np.int32]
I64: TypeAlias = NDArray[np.int64]
U64: TypeAlias = NDArray[np.uint64]
Ranks: TypeAlias = NDArray[Any]

# Columns may take this multiple of the memory of the rows, and always this number of bytes. Larger: more memory;
# smaller: more passes over the rows.
_MAX_MEMORY_FACTOR = 2
_FREE_BYTES = 1 << 20


@dataclass(frozen=True, kw_only=True, eq=False)
class RowLayout:
    """The rows to search, with the codes that may occur and the prefix of every pattern.

    `ahead` is the number of most frequent items that get columns together with the first columns, if further queries
    are expected. With a `lineage`, no pattern contains an item and its ancestor.
    """

    offsets: I64
    codes: I32
    is_allowed: NDArray[np.bool_]
    prefix: I32
    ahead: int = 0
    lineage: Lineage | None = None

    @classmethod
    def plain(cls, offsets: I64, codes: I32, items: int, ahead: int = 0, lineage: Lineage | None = None) -> RowLayout:
        """Return a layout in which all of `items` codes may occur."""
        is_allowed, prefix = np.ones(items, np.bool_), np.empty(0, np.int32)
        return cls(offsets=offsets, codes=codes, is_allowed=is_allowed, prefix=prefix, ahead=ahead, lineage=lineage)

    @property
    def people(self) -> int:
        """The number of rows."""
        return len(self.offsets) - 1

    def pieces(self, align: int = 1) -> Iterator[tuple[int, int]]:
        """Split the rows into runs of about equal work, one per thread, at multiples of `align`."""
        cuts = np.searchsorted(self.offsets, np.linspace(0, len(self.codes), threads() + 1))
        # Aligned to words of a bitmap: no two threads write to one word.
        cuts = np.minimum(cuts // align * align, self.people)
        cuts[-1] = self.people
        return ((int(a), int(b)) for a, b in pairwise(cuts) if a < b)

    @cached_property
    def item_counts(self) -> I64:
        """The number of rows with each code."""
        # Each thread counts into a table of its own, so that no two threads write to one count.
        parts = np.array_split(self.codes, threads())
        tallies = np.zeros((len(parts), len(self.is_allowed)), np.int64)
        in_threads(lambda t: counting.count_codes(parts[t], tallies[t]), range(len(parts)))
        item_counts: I64 = tallies.sum(axis=0)
        return item_counts

    @cached_property
    def columns(self) -> BitColumns:
        """The bitmaps of items."""
        return BitColumns(self)

    def frequent(self, count: int) -> I32:
        """Return the codes that may occur in a pattern, most frequent first, ties by code: the code of each rank."""
        return by_count(self.item_counts, np.flatnonzero(self.is_allowed & (self.item_counts >= max(count, 1))))

    def spans(self, labels: I32) -> I32:
        """Return the lineage of some items for the kernels; an empty array without a lineage."""
        return np.empty(0, np.int32) if self.lineage is None else self.lineage.take_spans(labels)


class BitColumns:
    """Bitmaps over all rows, one per item, made in one pass for all requested items without a bitmap."""

    def __init__(self, rows: RowLayout) -> None:
        self._rows = rows
        self._place = np.full(len(rows.is_allowed), -1, np.int32)
        self._bits = np.zeros((0, (rows.people + 63) // 64), np.uint64)

    @property
    def words(self) -> int:
        """The length of a column, in words of 64 rows."""
        return self._bits.shape[1]

    def fit(self, column_count: int) -> bool:
        """Return whether a number of columns fits the memory limit."""
        row_bytes = 4 * len(self._rows.codes) + 8 * self._rows.people
        return column_count * self.words * 8 <= max(_MAX_MEMORY_FACTOR * row_bytes, _FREE_BYTES)

    def find(self, codes: I32) -> tuple[U64, I32]:
        """Return bitmaps, and the index of the bitmap of each code. The codes must `fit`."""
        is_queried = np.zeros(len(self._place), np.bool_)
        is_queried[codes] = True
        missing_codes = np.flatnonzero(is_queried & (self._place < 0))
        if len(missing_codes):
            self._add(is_queried, missing_codes)
        return self._bits, self._place[codes]

    def _add(self, is_queried: NDArray[np.bool_], missing_codes: I64) -> None:
        rows, old_count = self._rows, len(self._bits)
        if not old_count and rows.ahead and self.fit(len(missing_codes) + rows.ahead):
            frequent_codes = by_count(
                rows.item_counts, np.flatnonzero(rows.item_counts >= largest(rows.item_counts, rows.ahead))
            )
            is_queried[frequent_codes[: rows.ahead]] = True
        elif not self.fit(old_count + len(missing_codes)):
            # No room for more columns: all columns are dropped, and only the requested ones are made anew.
            old_count = 0
            self._place[:] = -1
        new_codes = by_count(rows.item_counts, np.flatnonzero(is_queried & (self._place < 0)))
        total_count = old_count + len(new_codes)
        self._place[new_codes] = np.arange(old_count, total_count, dtype=np.int32)
        bits = np.zeros((total_count + 1, self.words), np.uint64)
        bits[:old_count] = self._bits[:old_count]
        # Other codes write to a spare column, which is discarded: a branch for each code would take longer.
        place = np.full(len(self._place), total_count, np.int32)
        place[new_codes] = self._place[new_codes]
        table = shrink_ranks(place, total_count + 1)
        in_threads(
            lambda piece: row_layout.fill_bitmaps(rows.offsets, rows.codes, table, *piece, bits), rows.pieces(align=64)
        )
        self._bits = bits[:total_count]


def largest(values: I64, rank: int) -> int:
    """Return the value of a rank, the largest value having rank 1; 0 if the rank is 0 or beyond the values."""
    return int(np.partition(values, -rank)[-rank]) if 0 < rank <= len(values) else 0


def by_count(item_counts: I64, codes: I64) -> I32:
    """Return codes in rising order as codes by falling count, ties by code."""
    return codes[np.argsort(-item_counts[codes], kind="stable")].astype(np.int32)


def ranks_of(labels: I32, codes: int) -> I32:
    """Return the rank of each code, -1 for codes without a rank."""
    rank = np.full(codes, -1, np.int32)
    rank[labels] = np.arange(len(labels), dtype=np.int32)
    return rank


def shrink_ranks(rank: I32, ranks: int) -> Ranks:
    """Return ranks in two bytes if they fit: half the memory to read."""
    return rank.astype(np.int16) if ranks < 2**15 else rank


def lay_out(rows: RowLayout, labels: I32) -> tuple[Ranks, I32, I64]:
    """Lay the rows out flat (see `kernels.mining`), and list for each rank its positions."""
    rank = shrink_ranks(ranks_of(labels, len(rows.is_allowed)), len(labels))
    # One separator after each row, and one before the first, so that a kernel stops at the end of a row.
    flat = np.empty(len(rows.codes) + rows.people + 1, rank.dtype)
    if len(flat) > np.iinfo(np.int32).max:
        raise LimitError.format(
            "These baskets hold more items in all than can be mined at once: cap them with {max_items=}."
        )

    def lay(piece: tuple[int, int]) -> tuple[int, int]:
        base = int(rows.offsets[piece[0]]) + piece[0]
        return base, row_layout.rank_rows(rows.offsets, rows.codes, rank, *piece, flat, base)

    spans = in_threads(lay, rows.pieces())
    tallies = np.zeros((len(spans) + 1, len(labels)), np.int64)
    in_threads(lambda t: row_layout.count_positions(flat, *spans[t], tallies[t + 1]), range(len(spans)))
    heads = starts(tallies.sum(axis=0))
    # Each thread writes the positions of its rows behind the positions of earlier rows.
    cursors = heads[:-1] + np.cumsum(tallies, axis=0)[:-1]
    positions = np.empty(heads[-1], np.int32)
    in_threads(lambda t: row_layout.fill_positions(flat, *spans[t], cursors[t], positions), range(len(spans)))
    return flat, positions, heads
