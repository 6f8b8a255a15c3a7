"""A card that counts reports and reads tables of published seeds, as `kernels.supports` and `kernels.tables` do.

Arguments and results are arrays of numpy. An array that is too large for the card goes there in chunks. The chunks
change no result: integers are summed exactly, and floating-point numbers within a row or within parts of the caller.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..local.oracle_steps import Counts
from ._driver import THREADS, CardArray, CupyDriver, Driver, check_room

Values = NDArray[np.float64]
Words = NDArray[np.uint32]

OLH, WHEEL, WINDOW = np.int32(0), np.int32(1), np.int32(2)
"""The meaning of the words of a report, as in `kernels.cu`."""
# The sizes of blocks. Larger: fewer blocks, which leave parts of the card idle; smaller: more copies and launches.
_TILE = THREADS * 8  # items of a block
_SLICE = 1 << 12  # reports of a block, or rows of a table
_CELLS = 1 << 12  # cells of a table in the shared memory of a block, as in `kernels.cu`
_CHUNK = 1 << 22  # reports, or cells of a table, on the card at a time: at most 128 MiB with their copies
_SPARE_BYTES = 1 << 20  # room for the small arrays of a task


def count_blocks(size: int, block_size: int = THREADS) -> int:
    """Return the number of blocks for `size` elements."""
    return -(-size // block_size)


def open_card() -> Card:
    """Return the card of this machine, or raise a `CardError` with the reason why none can be used."""
    return Card(driver=CupyDriver())


@dataclass(frozen=True, kw_only=True, eq=False)
class Card:
    """A card and its tasks.

    Parameters
    ----------
    driver
        The access to the card.
    chunk_size
        The number of reports, or cells of a table, on the card at a time.
    """

    driver: Driver
    chunk_size: int = _CHUNK

    def count_supports(self, first: Words, second: Words, low: Words, width: Words, size: int) -> Counts:
        """Return the number of reports that support each of `size` candidates, as `oracle_steps.count_hashed` does."""
        check_room(self.driver, 16 * min(self.chunk_size, len(first)) + 8 * size + _SPARE_BYTES)
        counts = self.driver.zeros((size,), np.uint64)
        for start in range(0, len(first), self.chunk_size):
            part = slice(start, start + self.chunk_size)
            words = self.driver.upload(np.stack([first[part], second[part], low[part], width[part]], axis=1))
            self.add_supports(words, min(self.chunk_size, len(first) - start), 4, WINDOW, 0, size, counts)
        return self.driver.download(counts).astype(np.int64)

    def add_supports(
        self, words: CardArray, reports: int, width: int, kind: np.int32, number: int, size: int, counts: CardArray
    ) -> None:
        """Add the supports of reports on the card to the counts.

        Parameters
        ----------
        words
            The words of the reports, `width` words for each of the `reports`.
        kind, number
            The meaning of the words: `OLH` with the number of buckets, `WHEEL` with the length of an arc, or `WINDOW`.
        size
            The number of candidates.
        counts
            The counts on the card, to be added to.
        """
        numbers = (np.uint32(number), np.int64(reports), np.int64(_SLICE), np.uint32(size))
        grid = (count_blocks(size, _TILE), count_blocks(reports, _SLICE))
        self.driver.launch("count_reports", grid, (words, np.int32(width), kind, *numbers, counts))

    def leftover(self, table: Counts, items: Words, weights: Values, slope: float, scale: float) -> NDArray[np.int32]:
        """Return the remainders of all rows of a table, as `kernels.tables.leftover` computes them."""
        out = np.empty(table.shape, np.int32)
        for start, cells in self._compute_remainders(table, items, weights, slope, scale):
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
        """Return for each of `symbols` symbols the sum of the remainders in its cells, as `kernels.tables.sum_cells`.

        The sums of `rows` rows fit into 32 bits.
        """
        buckets = table.shape[1]
        check_room(self.driver, 8 * symbols)
        sums = self.driver.zeros((symbols,), np.int64)
        step = max(1, min(rows, THREADS, _CELLS // buckets if buckets <= _CELLS else THREADS))
        for start, cells in self._compute_remainders(table, items, weights, slope, scale):
            # A small number of symbols needs a small number of blocks: blocks then have fewer rows each, so that about
            # 2,048 blocks keep the whole card busy.
            tiles = count_blocks(symbols, _TILE)
            block_rows = max(step, min(_SLICE, count_blocks(len(cells), max(1, 2048 // tiles))))
            numbers = (np.int64(start), np.int64(len(cells)), np.int64(block_rows), np.int32(step), np.uint32(buckets))
            grid = (tiles, count_blocks(len(cells), block_rows))
            self.driver.launch("sum_cells", grid, (*numbers, cells, np.uint32(symbols), sums))
        return self.driver.download(sums)

    def meet(self, reports: Counts, buckets: int, items: Words, weights: Values, rows: int) -> Values:
        """Return the sums of `kernels.tables.meet` for each part of `rows` rows: one row per part."""
        meetings = np.empty((count_blocks(len(reports), rows), len(items)))
        chunk_rows = rows * max(1, self.chunk_size // (rows * buckets))  # whole parts
        numbers_room = min(chunk_rows, len(reports)) * buckets + len(reports)
        numbers_room += count_blocks(chunk_rows, rows) * len(items)
        check_room(self.driver, 8 * numbers_room + 12 * len(items) + _SPARE_BYTES)
        all_reports = self.driver.upload(reports)
        even = float(np.cumsum(weights)[-1]) / buckets if len(weights) else 0.0
        codes, card_weights = self.driver.upload(items), self.driver.upload(weights)
        for start in range(0, len(reports), chunk_rows):
            row_count = min(chunk_rows, len(reports) - start)
            bucket_weights = self._weigh_rows(start, row_count, buckets, codes, card_weights, len(items), -even)
            parts = count_blocks(row_count, rows)
            out = self.driver.empty((parts, len(items)), np.float64)
            numbers = (np.int64(start), np.int64(row_count), np.int64(rows), np.uint32(buckets))
            arrays = (all_reports[start : start + row_count], bucket_weights, codes, np.int64(len(items)), out)
            self.driver.launch("meet_rows", (count_blocks(len(items)), parts), (*numbers, *arrays))
            meetings[start // rows : start // rows + parts] = self.driver.download(out)
        return meetings

    def _compute_remainders(
        self, table: Counts, items: Words, weights: Values, slope: float, scale: float
    ) -> Iterator[tuple[int, CardArray]]:
        """Yield chunks of rows of a table: the number of the first row, and the remainders of the cells on the card."""
        buckets = table.shape[1]
        chunk_rows = max(1, self.chunk_size // buckets)
        check_room(self.driver, 20 * min(chunk_rows, len(table)) * buckets + 12 * len(items) + _SPARE_BYTES)
        # `cumsum` adds in the order of the compiled kernel, so that the sum is equal to the last bit.
        even = slope * (float(np.cumsum(weights)[-1]) if len(weights) else 0.0) / buckets
        codes, card_weights = self.driver.upload(items), self.driver.upload(weights)
        for start in range(0, len(table), chunk_rows):
            chunk = table[start : start + chunk_rows]
            counts, rows = self.driver.upload(chunk), len(chunk)
            bucket_weights = self._weigh_rows(start, rows, buckets, codes, card_weights, len(items), 0.0)
            cells = self.driver.empty(chunk.shape, np.int32)
            numbers = (np.float64(slope), np.float64(even), np.float64(scale))
            arguments = (np.int64(rows), np.uint32(buckets), counts, bucket_weights, *numbers, cells)
            self.driver.launch("take_off", (count_blocks(rows), 1), arguments)
            yield start, cells

    def _weigh_rows(
        self, start: int, rows: int, buckets: int, items: CardArray, weights: CardArray, size: int, offset: float
    ) -> CardArray:
        """Return for each row and bucket the sum of the weights of its items and an offset, on the card."""
        bucket_weights = self.driver.empty((rows, buckets), np.float64)
        numbers = (np.int64(start), np.int64(rows), np.uint32(buckets))
        arguments = (*numbers, items, weights, np.int64(size), np.float64(offset), bucket_weights)
        self.driver.launch("weigh_rows", (count_blocks(rows), 1), arguments)
        return bucket_weights
