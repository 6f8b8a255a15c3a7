"""Counting what reports speak for: how many of them support each candidate."""

from __future__ import annotations

import numpy as np

from .devices import U32, hashed
from .jit import kernel
from .mining import I64

_TILE = 2048  # candidates whose counts stay in the nearest cache


@kernel
def count_windows(firsts: U32, seconds: U32, lows: U32, widths: U32, items: U32, counts: I64) -> None:
    """Add how many reports support each item: those whose hash of it falls within the report's window."""
    tally = np.empty(_TILE, np.uint32)
    for start in range(0, len(items), _TILE):
        tile = items[start : start + _TILE]
        many = len(tile)
        tally[:many] = np.uint32(0)
        for row in range(len(firsts)):
            first, second, low, width = firsts[row], seconds[row], lows[row], widths[row]
            for at in range(many):
                tally[at] += np.uint32(np.uint32(hashed(tile[at], first, second) - low) < width)
        for at in range(many):
            counts[start + at] += tally[at]


@kernel
def count_bits(reports: U32, size: int, counts: I64) -> None:
    """Add how many reports have each bit set."""
    for row in range(reports.shape[0]):
        for at in range(reports.shape[1]):
            bits = reports[row, at]
            for bit in range(min(32, size - 32 * at)):
                counts[32 * at + bit] += (bits >> np.uint32(bit)) & np.uint32(1)


@kernel
def transform(values: I64) -> None:
    """Take the Walsh-Hadamard transform of a power of two of values, in place."""
    half = 1
    while half < len(values):
        for start in range(0, len(values), 2 * half):
            for at in range(start, start + half):
                one, other = values[at], values[at + half]
                values[at] = one + other
                values[at + half] = one - other
        half *= 2
