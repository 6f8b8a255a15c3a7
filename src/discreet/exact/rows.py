"""How rows lie in memory while questions are asked of them: what was made of them once is kept for the next question.

Exact mining asks one question, a private mechanism five or ten, and a pass over the rows costs as much as most answers.
So the counts of items are kept, and so are columns: a bitmap over all rows for each item that a question was about.
Columns answer most questions that follow (pairs, cells, top patterns) without going to the rows again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..baskets.core import starts
from ..baskets.lineage import Lineage
from ..errors import LimitError, told
from ..kernels import counting, row_layout
from ..kernels.jit import in_threads, threads

I32: TypeAlias = NDArray[np.int32]
I64: TypeAlias = NDArray[np.int64]
U64: TypeAlias = NDArray[np.uint64]
Ranks: TypeAlias = NDArray[Any]

# Columns take no more memory than the rows do, times this; below the second number, in bytes, nobody minds.
_LARGE = 2
_SMALL = 1 << 20


@dataclass(frozen=True, kw_only=True, eq=False)
class RowLayout:
    """The rows to search, and how: which codes may occur, which codes every pattern has besides.

    Where many questions are to come, `ahead` says how many of the most frequent items get columns with the first ones.
    Where there is a `lineage`, no pattern has two items of which one stands above the other.
    """

    offsets: I64
    codes: I32
    allowed: NDArray[np.bool_]
    prefix: I32
    ahead: int = 0
    lineage: Lineage | None = None

    @classmethod
    def plain(cls, offsets: I64, codes: I32, items: int, ahead: int = 0, lineage: Lineage | None = None) -> RowLayout:
        """Return rows in which all of so many codes may occur."""
        allowed, prefix = np.ones(items, np.bool_), np.empty(0, np.int32)
        return cls(offsets=offsets, codes=codes, allowed=allowed, prefix=prefix, ahead=ahead, lineage=lineage)

    @property
    def people(self) -> int:
        """How many rows there are."""
        return len(self.offsets) - 1

    def pieces(self, align: int = 1) -> Iterator[tuple[int, int]]:
        """Split the rows into runs of about equal work, one per thread, at multiples of `align`."""
        at = np.searchsorted(self.offsets, np.linspace(0, len(self.codes), threads() + 1))
        at = np.minimum(at // align * align, self.people)
        at[-1] = self.people
        return ((int(a), int(b)) for a, b in pairwise(at) if a < b)

    @cached_property
    def held(self) -> I64:
        """How many rows hold each code."""
        parts = np.array_split(self.codes, threads())
        tallies = np.zeros((len(parts), len(self.allowed)), np.int64)
        in_threads(lambda t: counting.count_codes(parts[t], tallies[t]), range(len(parts)))
        held: I64 = tallies.sum(axis=0)
        return held

    @cached_property
    def columns(self) -> BitColumns:
        """The bitmaps of items."""
        return BitColumns(self)

    def frequent(self, count: int) -> I32:
        """Return the codes that may occur in a pattern, most frequent first, ties by code: the code of each rank."""
        return by_count(self.held, np.flatnonzero(self.allowed & (self.held >= max(count, 1))))

    def spans(self, labels: I32) -> I32:
        """Return what tells kernels which of some items stand above others; nothing where none does."""
        return np.empty(0, np.int32) if self.lineage is None else self.lineage.of(labels)


class BitColumns:
    """Bitmaps over all rows, one per item, made in one pass for all items that are asked for and not there yet."""

    def __init__(self, rows: RowLayout) -> None:
        self._rows = rows
        self._place = np.full(len(rows.allowed), -1, np.int32)
        self._bits = np.zeros((0, (rows.people + 63) // 64), np.uint64)

    @property
    def words(self) -> int:
        """How long a column is, in words of 64 rows."""
        return self._bits.shape[1]

    def fit(self, many: int) -> bool:
        """Say whether so many columns stay within the memory that they may take."""
        rows = 4 * len(self._rows.codes) + 8 * self._rows.people
        return many * self.words * 8 <= max(_LARGE * rows, _SMALL)

    def of(self, codes: I32) -> tuple[U64, I32]:
        """Return bitmaps, and which of them is that of each code. The codes are so few that they `fit`."""
        asked = np.zeros(len(self._place), np.bool_)
        asked[codes] = True
        missing = np.flatnonzero(asked & (self._place < 0))
        if len(missing):
            self._add(asked, missing)
        return self._bits, self._place[codes]

    def _add(self, asked: NDArray[np.bool_], missing: I64) -> None:
        rows, old = self._rows, len(self._bits)
        if not old and rows.ahead and self.fit(len(missing) + rows.ahead):
            first = by_count(rows.held, np.flatnonzero(rows.held >= largest(rows.held, rows.ahead)))
            asked[first[: rows.ahead]] = True
        elif not self.fit(old + len(missing)):
            old = 0
            self._place[:] = -1
        new = by_count(rows.held, np.flatnonzero(asked & (self._place < 0)))
        many = old + len(new)
        self._place[new] = np.arange(old, many, dtype=np.int32)
        bits = np.zeros((many + 1, self.words), np.uint64)
        bits[:old] = self._bits[:old]
        # What is not asked for goes to one more column, which is thrown away: looking whether to write takes longer.
        place = np.full(len(self._place), many, np.int32)
        place[new] = self._place[new]
        table = narrow(place, many + 1)
        in_threads(
            lambda piece: row_layout.fill_bitmaps(rows.offsets, rows.codes, table, *piece, bits), rows.pieces(align=64)
        )
        self._bits = bits[:many]


def largest(values: I64, rank: int) -> int:
    """Return the value of a rank, the largest being the first; 0 where there are fewer, or none is asked for."""
    return int(np.partition(values, -rank)[-rank]) if 0 < rank <= len(values) else 0


def by_count(held: I64, codes: I64) -> I32:
    """Return codes in rising order as codes by falling count, ties by code."""
    return codes[np.argsort(-held[codes], kind="stable")].astype(np.int32)


def ranks_of(labels: I32, codes: int) -> I32:
    """Return the rank of each code, -1 for those that have none."""
    rank = np.full(codes, -1, np.int32)
    rank[labels] = np.arange(len(labels), dtype=np.int32)
    return rank


def narrow(rank: I32, ranks: int) -> Ranks:
    """Return ranks in two bytes where they fit: half the memory to go through."""
    return rank.astype(np.int16) if ranks < 2**15 else rank


def lay_out(rows: RowLayout, labels: I32) -> tuple[Ranks, I32, I64]:
    """Lay the rows out flat (see `kernels.mining`), and list for each rank its positions."""
    rank = narrow(ranks_of(labels, len(rows.allowed)), len(labels))
    flat = np.empty(len(rows.codes) + rows.people + 1, rank.dtype)
    if len(flat) > np.iinfo(np.int32).max:
        raise LimitError(
            told("These baskets hold more items in all than can be mined at once: cap them with {max_items=}.")
        )

    def lay(piece: tuple[int, int]) -> tuple[int, int]:
        base = int(rows.offsets[piece[0]]) + piece[0]
        return base, row_layout.rank_rows(rows.offsets, rows.codes, rank, *piece, flat, base)

    laid = in_threads(lay, rows.pieces())
    tallies = np.zeros((len(laid) + 1, len(labels)), np.int64)
    in_threads(lambda t: row_layout.count_positions(flat, *laid[t], tallies[t + 1]), range(len(laid)))
    heads = starts(tallies.sum(axis=0))
    cursors = heads[:-1] + np.cumsum(tallies, axis=0)[:-1]
    positions = np.empty(heads[-1], np.int32)
    in_threads(lambda t: row_layout.fill_positions(flat, *laid[t], cursors[t], positions), range(len(laid)))
    return flat, positions, heads
