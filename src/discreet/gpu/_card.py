"""A card that counts reports and reads tables of published seeds, as `kernels.supports` and `kernels.tables` do.

Arrays come in and go out as those of numpy. What does not fit on a card at once goes there in parts; how a table is cut
changes no number, as whole numbers are summed, and floating-point ones within a row or in parts that the caller names.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..local.oracle_steps import Counts
from ._driver import THREADS, CardArray, CupyDriver, Driver, check_room

Values = NDArray[np.float64]
Words = NDArray[np.uint32]

OLH, WHEEL, WINDOW = np.int32(0), np.int32(1), np.int32(2)
"""What the words of a report are, as in `kernels.cu`."""
_TILE = THREADS * 8  # items of a block
_SLICE = 1 << 12  # reports of a block, or rows of a table
_CELLS = 1 << 12  # of a table, that a block keeps nearby
_AT_ONCE = 1 << 22  # reports, or cells of a table, that are on the card at a time
_SMALL = 1 << 20  # bytes that are always there for what is small


def across(many: int, each: int = THREADS) -> int:
    """Return how many blocks it takes."""
    return -(-many // each)


def open_card() -> Card:
    """Return the card of this machine, or raise a `CardError` that says why there is none."""
    return Card(driver=CupyDriver())


@dataclass(frozen=True, kw_only=True, eq=False)
class Card:
    """A card, and what it is asked to do.

    Parameters
    ----------
    driver
        How it is reached.
    at_once
        How many reports, or cells of a table, are on it at a time.
    """

    driver: Driver
    at_once: int = _AT_ONCE

    def counts(self, first: Words, second: Words, low: Words, width: Words, size: int) -> Counts:
        """Return how many reports support each candidate: `local.oracle_steps.hashing.count_hashed`."""
        check_room(self.driver, 16 * min(self.at_once, len(first)) + 8 * size + _SMALL)
        counts = self.driver.zeros((size,), np.uint64)
        for start in range(0, len(first), self.at_once):
            part = slice(start, start + self.at_once)
            words = self.driver.upload(np.stack([first[part], second[part], low[part], width[part]], axis=1))
            self.count(words, min(self.at_once, len(first) - start), 4, WINDOW, 0, size, counts)
        return self.driver.download(counts).astype(np.int64)

    def count(
        self, words: CardArray, many: int, wide: int, kind: np.int32, number: int, size: int, counts: CardArray
    ) -> None:
        """Add how many of the reports on the card support each candidate."""
        self.driver.launch(
            "count_reports",
            (across(size, _TILE), across(many, _SLICE)),
            (words, np.int32(wide), kind, np.uint32(number), np.int64(many), np.int64(_SLICE), np.uint32(size), counts),
        )

    def leftover(self, table: Counts, items: Words, weights: Values, slope: float, scale: float) -> NDArray[np.int32]:
        """Return what is left of a table: `kernels.tables.leftover`, all rows of it."""
        out = np.empty(table.shape, np.int32)
        for start, cells in self._left(table, items, weights, slope, scale):
            out[start : start + len(cells)] = self.driver.download(cells)
        return out

    def table_sums(
        self,
        table: Counts,
        items: Words,
        weights: Values,
        slope: float,
        scale: float,
        rows: int,
        symbols: int,
    ) -> Counts:
        """Return the sums of what is left in the cells that each symbol falls into: `kernels.tables.sum_cells`.

        Sums of so many rows fit into 32 bits.
        """
        buckets = table.shape[1]
        check_room(self.driver, 8 * symbols)
        sums = self.driver.zeros((symbols,), np.int64)
        step = max(1, min(rows, THREADS, _CELLS // buckets if buckets <= _CELLS else THREADS))
        for start, cells in self._left(table, items, weights, slope, scale):
            here = len(cells)
            # Few symbols are few blocks: rows are then shared out finely, so that the whole card is busy.
            each = max(step, min(_SLICE, across(here, max(1, 2048 // across(symbols, _TILE)))))
            self.driver.launch(
                "sum_cells",
                (across(symbols, _TILE), across(here, each)),
                (
                    np.int64(start),
                    np.int64(here),
                    np.int64(each),
                    np.int32(step),
                    np.uint32(buckets),
                    cells,
                    np.uint32(symbols),
                    sums,
                ),
            )
        return self.driver.download(sums)

    def met(self, reports: Counts, buckets: int, items: Words, weights: Values, rows: int) -> Values:
        """Return what `kernels.tables.meet` adds for each part of so many rows: a row per part."""
        found = np.empty((across(len(reports), rows), len(items)))
        here = rows * max(1, self.at_once // (rows * buckets))  # whole parts
        room = 8 * (min(here, len(reports)) * buckets + len(reports) + across(here, rows) * len(items))
        check_room(self.driver, room + 12 * len(items) + _SMALL)
        all_reports = self.driver.upload(reports)
        even = float(np.cumsum(weights)[-1]) / buckets if len(weights) else 0.0
        codes, there = self.driver.upload(items), self.driver.upload(weights)
        for start in range(0, len(reports), here):
            many = min(here, len(reports) - start)
            inside = self._weighed(start, many, buckets, codes, there, len(items), -even)
            parts = across(many, rows)
            out = self.driver.empty((parts, len(items)), np.float64)
            self.driver.launch(
                "meet_rows",
                (across(len(items)), parts),
                (
                    np.int64(start),
                    np.int64(many),
                    np.int64(rows),
                    np.uint32(buckets),
                    all_reports[start : start + many],
                    inside,
                    codes,
                    np.int64(len(items)),
                    out,
                ),
            )
            found[start // rows : start // rows + parts] = self.driver.download(out)
        return found

    def _left(
        self, table: Counts, items: Words, weights: Values, slope: float, scale: float
    ) -> Iterator[tuple[int, CardArray]]:
        """Yield what is left of some rows of a table after others: the first row, and the cells on the card."""
        buckets = table.shape[1]
        here = max(1, self.at_once // buckets)
        check_room(self.driver, 20 * min(here, len(table)) * buckets + 12 * len(items) + _SMALL)
        # In the order of the compiled kernel, which adds one by one.
        even = slope * (float(np.cumsum(weights)[-1]) if len(weights) else 0.0) / buckets
        codes, there = self.driver.upload(items), self.driver.upload(weights)
        for start in range(0, len(table), here):
            part = table[start : start + here]
            counts, rows = self.driver.upload(part), len(part)
            inside = self._weighed(start, rows, buckets, codes, there, len(items), 0.0)
            cells = self.driver.empty(part.shape, np.int32)
            numbers = (np.float64(slope), np.float64(even), np.float64(scale))
            self.driver.launch(
                "take_off", (across(rows), 1), (np.int64(rows), np.uint32(buckets), counts, inside, *numbers, cells)
            )
            yield start, cells

    def _weighed(
        self, start: int, rows: int, buckets: int, items: CardArray, weights: CardArray, many: int, begin: float
    ) -> CardArray:
        inside = self.driver.empty((rows, buckets), np.float64)
        numbers: tuple[Any, ...] = (np.int64(start), np.int64(rows), np.uint32(buckets))
        self.driver.launch(
            "weigh_rows",
            (across(rows), 1),
            (*numbers, items, weights, np.int64(many), np.float64(begin), inside),
        )
        return inside
