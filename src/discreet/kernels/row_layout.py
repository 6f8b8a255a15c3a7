"""Rows in the miner's form: flat runs of ranks with the positions of each rank, or a bitmap over all rows per item."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _plain_rows as plain_rows
from ._jit import kernel
from ._parts import sort

Ranks = NDArray[Any]  # two bytes each if all ranks fit, else four
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]

_ONE_BIT = np.uint64(1)


@kernel(plain=plain_rows.rank_rows, work=plain_rows.count_codes_of_ranked_rows)
def rank_rows(offsets: I64, codes: I32, rank: Ranks, first_row: int, last_row: int, flat: Ranks, base: int) -> int:
    """Write rows [first_row, last_row) as sorted ranks from `flat[base]` on; rows without ranked codes are dropped.

    Returns the position behind the last row.
    """
    end = base
    for row in range(first_row, last_row):
        start = end + 1
        stop = start
        for j in range(offsets[row], offsets[row + 1]):
            r = rank[codes[j]]
            if r >= 0:
                flat[stop] = r
                stop += 1
        if stop == start:
            continue
        # The sentinel ends the backward walk from any position of the row.
        flat[end] = -1
        # Insertion is faster up to a few dozen codes, and most rows are that short.
        if stop - start > 48:
            sort(flat, start, stop)
        else:
            for j in range(start + 1, stop):
                r = flat[j]
                k = j
                while k > start and flat[k - 1] > r:
                    flat[k] = flat[k - 1]
                    k -= 1
                flat[k] = r
        end = stop
    return end


@kernel(plain=plain_rows.count_positions, work=plain_rows.count_range)
def count_positions(flat: Ranks, first_position: int, last_position: int, tally: I64) -> None:
    """Count for each rank the positions in [first_position, last_position) that have a predecessor in their row."""
    for p in range(first_position + 1, last_position):
        if flat[p] >= 0 and flat[p - 1] >= 0:
            tally[flat[p]] += 1


@kernel(plain=plain_rows.fill_positions, work=plain_rows.count_range)
def fill_positions(flat: Ranks, first_position: int, last_position: int, cursor: I64, positions: I32) -> None:
    """Write for each rank the positions counted by `count_positions`, from `cursor[rank]` on."""
    for p in range(first_position + 1, last_position):
        r = flat[p]
        if r >= 0 and flat[p - 1] >= 0:
            positions[cursor[r]] = p
            cursor[r] += 1


@kernel(plain=plain_rows.fill_bitmaps, work=plain_rows.count_codes_of_ranked_rows)
def fill_bitmaps(offsets: I64, codes: I32, rank: Ranks, first_row: int, last_row: int, bitmaps: U64) -> None:
    """Set the bit of each row in [first_row, last_row) in the bitmaps of its ranks; every code has a rank here."""
    for row in range(first_row, last_row):
        word = row >> 6
        bit = _ONE_BIT << np.uint64(row & 63)
        for j in range(offsets[row], offsets[row + 1]):
            bitmaps[rank[codes[j]], word] |= bit
