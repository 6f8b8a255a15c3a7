"""Counting the support of each candidate: the number of reports that speak for it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import _plain_counting as plain_counting
from ._bits import popcount
from ._devices import U32, hash_item
from ._jit import helper, kernel
from .mining import I32, I64

COUNTING_TILE = 2048
"""Candidates per tile: 2,048 counts of four bytes stay in the first-level cache."""
_REPORTS_PER_SLICE_SET = 252  # the largest multiple of seven below 2^8: eight slices count up to 255
_WORDS_PER_BLOCK = (
    64  # of 64 reports each: 512 bytes a value, so the bits of some hundred values stay in a first-level cache
)


@kernel
def count_windows(factors: U32, summands: U32, lows: U32, widths: U32, items: U32, counts: I64) -> None:
    """Add the number of supporting reports of each item: the item's hash lies within the window of the report."""
    tally = np.empty(COUNTING_TILE, np.uint32)
    for start in range(0, len(items), COUNTING_TILE):
        tile = items[start : start + COUNTING_TILE]
        tile_size = len(tile)
        tally[:tile_size] = np.uint32(0)
        for row in range(len(factors)):
            factor, summand, low, width = factors[row], summands[row], lows[row], widths[row]
            for position in range(tile_size):
                tally[position] += np.uint32(np.uint32(hash_item(tile[position], factor, summand) - low) < width)
        for position in range(tile_size):
            counts[start + position] += tally[position]


@kernel(plain=plain_counting.count_symbols)
def count_symbols(reports: I32, counts: I64) -> None:
    """Add the number of reports with each symbol, from a row of symbols per report."""
    for row in range(reports.shape[0]):
        for position in range(reports.shape[1]):
            counts[reports[row, position]] += 1


@helper
def _add_bits(left_bits: np.uint32, right_bits: np.uint32, carry_in: np.uint32) -> tuple[np.uint32, np.uint32]:
    """Return the sum of three words bit by bit: the low bits of the sums, and their high bits."""
    odd_bits = left_bits ^ right_bits
    return odd_bits ^ carry_in, (left_bits & right_bits) | (odd_bits & carry_in)


@kernel
def count_bits(reports: U32, size: int, counts: I64) -> None:
    """Add the number of reports with each bit set.

    Counts of 32 places at a time stand in bit slices: slice k has bit k of each count. Seven reports become numbers of
    three bits by adders without a carry to wait for (Harley and Seal; Warren, Hacker's Delight, section 5-1), and the
    numbers are added to the slices, which are counted out before eight bits are full.
    """
    rows, width = reports.shape
    slices = np.empty((8, width), np.uint32)
    for start in range(0, rows, _REPORTS_PER_SLICE_SET):
        slices[:] = np.uint32(0)
        stop = min(start + _REPORTS_PER_SLICE_SET, rows)
        for row in range(start, stop - 6, 7):
            for word_column in range(width):
                low, first_two = _add_bits(
                    reports[row, word_column], reports[row + 1, word_column], reports[row + 2, word_column]
                )
                high, second_two = _add_bits(
                    reports[row + 3, word_column], reports[row + 4, word_column], reports[row + 5, word_column]
                )
                one_bits, third_two = _add_bits(low, high, reports[row + 6, word_column])
                two_bits, four_bits = _add_bits(first_two, second_two, third_two)
                slices[0, word_column], carry = _add_bits(slices[0, word_column], one_bits, np.uint32(0))
                slices[1, word_column], carry = _add_bits(slices[1, word_column], two_bits, carry)
                slices[2, word_column], carry = _add_bits(slices[2, word_column], four_bits, carry)
                for bit in range(3, 8):
                    slices[bit, word_column], carry = slices[bit, word_column] ^ carry, slices[bit, word_column] & carry
        # The last one to six reports of a block are added one by one.
        for row in range(stop - (stop - start) % 7, stop):
            for word_column in range(width):
                carry = reports[row, word_column]
                for bit in range(8):
                    slices[bit, word_column], carry = slices[bit, word_column] ^ carry, slices[bit, word_column] & carry
        for word_column in range(width):
            for draw_place in range(min(32, size - 32 * word_column)):
                for bit in range(8):
                    counts[32 * word_column + draw_place] += (
                        np.int64((slices[bit, word_column] >> np.uint32(draw_place)) & np.uint32(1)) << bit
                    )


@kernel(plain=plain_counting.count_together)
def count_together(named_values: NDArray[np.bool_], counts: I64) -> None:
    """Add the number of reports that name both values of each pair, from a row per report."""
    report_count, size = named_values.shape
    draw_bits, words = np.empty((size, _WORDS_PER_BLOCK), np.uint64), np.empty(size, np.uint64)
    for block_start in range(0, report_count, 64 * _WORDS_PER_BLOCK):
        word_count = 0
        for word_start in range(block_start, min(block_start + 64 * _WORDS_PER_BLOCK, report_count), 64):
            words[:] = np.uint64(0)
            for row in range(word_start, min(word_start + 64, report_count)):
                for position in range(size):
                    words[position] |= np.uint64(named_values[row, position]) << np.uint64(row - word_start)
            for position in range(size):
                draw_bits[position, word_count] = words[position]
            word_count += 1
        for left_value in range(size):
            for right_value in range(left_value + 1):  # the table is symmetric
                common_count = np.uint64(0)
                for position in range(word_count):
                    common_count += np.uint64(
                        popcount(draw_bits[left_value, position] & draw_bits[right_value, position])
                    )
                counts[left_value, right_value] += np.int64(common_count)
                if right_value < left_value:
                    counts[right_value, left_value] += np.int64(common_count)


@kernel
def apply_hadamard(values: I64) -> None:
    """Replace 2^k values by their Walsh-Hadamard transform."""
    half = 1
    while half < len(values):
        for start in range(0, len(values), 2 * half):
            for position in range(start, start + half):
                left_sum, right_sum = values[position], values[position + half]
                values[position] = left_sum + right_sum
                values[position + half] = left_sum - right_sum
        half *= 2
