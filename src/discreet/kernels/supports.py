"""Counting what reports speak for: how many of them support each candidate."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .bits import popcount
from .devices import U32, hashed
from .jit import kernel
from .mining import I64

TILE = 2048
"""Candidates whose counts stay in the nearest cache."""
_WORDS = 64  # of 64 reports each, whose bits stay in a near cache for a few hundred values


@kernel
def count_windows(firsts: U32, seconds: U32, lows: U32, widths: U32, items: U32, counts: I64) -> None:
    """Add how many reports support each item: those whose hash of it falls within the report's window."""
    tally = np.empty(TILE, np.uint32)
    for start in range(0, len(items), TILE):
        tile = items[start : start + TILE]
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
def count_together(named: NDArray[np.bool_], counts: I64) -> None:
    """Add how many reports name both of every two values, from a row per report."""
    many, size = named.shape
    bits, words = np.empty((size, _WORDS), np.uint64), np.empty(size, np.uint64)
    for start in range(0, many, 64 * _WORDS):
        used = 0
        for first in range(start, min(start + 64 * _WORDS, many), 64):
            words[:] = np.uint64(0)
            for row in range(first, min(first + 64, many)):
                for at in range(size):
                    words[at] |= np.uint64(named[row, at]) << np.uint64(row - first)
            bits[:, used] = words
            used += 1
        for one in range(size):
            for other in range(one + 1):
                both = np.uint64(0)
                for at in range(used):
                    both += np.uint64(popcount(bits[one, at] & bits[other, at]))
                counts[one, other] += np.int64(both)
                if other < one:
                    counts[other, one] += np.int64(both)


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
