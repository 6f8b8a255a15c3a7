"""Counting what reports speak for: how many of them support each candidate."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import plain_counting
from .bits import popcount
from .devices import U32, hashed
from .jit import helper, kernel
from .mining import I32, I64

TILE = 2048
"""Candidates whose counts stay in the nearest cache."""
_SLICED = 252  # reports that eight bit slices count, a multiple of seven
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


@kernel(plain=plain_counting.count_symbols)
def count_symbols(reports: I32, counts: I64) -> None:
    """Add how many reports have each symbol, from a row of symbols per report."""
    for row in range(reports.shape[0]):
        for at in range(reports.shape[1]):
            counts[reports[row, at]] += 1


@helper
def _added(one: np.uint32, other: np.uint32, more: np.uint32) -> tuple[np.uint32, np.uint32]:
    """Add three words bit by bit: the sums' last bits, and their first ones."""
    odd = one ^ other
    return odd ^ more, (one & other) | (odd & more)


@kernel
def count_bits(reports: U32, size: int, counts: I64) -> None:
    """Add how many reports have each bit set.

    Counts of 32 places at a time stand in bit slices: a word for the last bit of each, one for the next, and so on.
    Seven reports become numbers of three bits by adders without a carry to wait for (Harley, Seal), and those are added
    to the slices, which are counted out before eight bits are full.
    """
    rows, width = reports.shape
    slices = np.empty((8, width), np.uint32)
    for start in range(0, rows, _SLICED):
        slices[:] = np.uint32(0)
        last = min(start + _SLICED, rows)
        for row in range(start, last - 6, 7):
            for at in range(width):
                low, two = _added(reports[row, at], reports[row + 1, at], reports[row + 2, at])
                high, other = _added(reports[row + 3, at], reports[row + 4, at], reports[row + 5, at])
                ones, more = _added(low, high, reports[row + 6, at])
                twos, fours = _added(two, other, more)
                slices[0, at], carry = _added(slices[0, at], ones, np.uint32(0))
                slices[1, at], carry = _added(slices[1, at], twos, carry)
                slices[2, at], carry = _added(slices[2, at], fours, carry)
                for bit in range(3, 8):
                    slices[bit, at], carry = slices[bit, at] ^ carry, slices[bit, at] & carry
        for row in range(last - (last - start) % 7, last):
            for at in range(width):
                carry = reports[row, at]
                for bit in range(8):
                    slices[bit, at], carry = slices[bit, at] ^ carry, slices[bit, at] & carry
        for at in range(width):
            for place in range(min(32, size - 32 * at)):
                for bit in range(8):
                    counts[32 * at + place] += np.int64((slices[bit, at] >> np.uint32(place)) & np.uint32(1)) << bit


@kernel(plain=plain_counting.count_together)
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
            for at in range(size):
                bits[at, used] = words[at]
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
