"""Rows as the miner takes them: flat runs of ranks with the positions of each, or a bitmap over all rows per item."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import plain_rows
from .jit import kernel
from .parts import sort

Ranks = NDArray[Any]  # two bytes each where they fit, else four
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]

_ONE = np.uint64(1)


@kernel(plain=plain_rows.rank_rows, work=plain_rows.codes_of_some)
def rank_rows(offsets: I64, codes: I32, rank: Ranks, first: int, last: int, flat: Ranks, base: int) -> int:
    """Write rows [first, last) as sorted ranks from `flat[base]` on; rows with nothing left are dropped.

    Returns the position behind the last row.
    """
    end = base
    for row in range(first, last):
        start = end + 1
        stop = start
        for j in range(offsets[row], offsets[row + 1]):
            r = rank[codes[j]]
            if r >= 0:
                flat[stop] = r
                stop += 1
        if stop == start:
            continue
        flat[end] = -1
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


@kernel(plain=plain_rows.count_positions, work=plain_rows.between)
def count_positions(flat: Ranks, first: int, last: int, tally: I64) -> None:
    """Count for each rank the positions in [first, last) that have a predecessor in their row."""
    for p in range(first + 1, last):
        if flat[p] >= 0 and flat[p - 1] >= 0:
            tally[flat[p]] += 1


@kernel(plain=plain_rows.fill_positions, work=plain_rows.between)
def fill_positions(flat: Ranks, first: int, last: int, cursor: I64, positions: I32) -> None:
    """List for each rank the positions counted by `count_positions`, from `cursor[rank]` on."""
    for p in range(first + 1, last):
        r = flat[p]
        if r >= 0 and flat[p - 1] >= 0:
            positions[cursor[r]] = p
            cursor[r] += 1


@kernel(plain=plain_rows.fill_bitmaps, work=plain_rows.codes_of_some)
def fill_bitmaps(offsets: I64, codes: I32, rank: Ranks, first: int, last: int, bitmaps: U64) -> None:
    """Set the bit of each row in [first, last) in the bitmaps of the ranks it holds; every code has a rank here."""
    for row in range(first, last):
        word = row >> 6
        bit = _ONE << np.uint64(row & 63)
        for j in range(offsets[row], offsets[row + 1]):
            bitmaps[rank[codes[j]], word] |= bit
