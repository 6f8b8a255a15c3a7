"""Helpers of several kernels: sorting a stretch, finding a place in a sorted stretch, summing in order.

numba has functions for all this, and takes half a second to compile each into each kernel that calls it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._jit import helper

_MAX_INSERTION_LENGTH = 24  # shorter parts are sorted by insertion, which costs fewer branches


def _sort_plain(values: NDArray[Any], low: int, high: int) -> None:
    """Sort a stretch by numpy."""
    values[low:high].sort()


@helper(plain=_sort_plain)
def sort(values: NDArray[Any], low: int, high: int) -> None:
    """Sort the numbers from `low` to before `high` (Hoare's quicksort, pivot by the median of three)."""
    pending_parts = np.empty(
        128, np.int64
    )  # the larger part waits, so each next part is at most half as long: 64 entries of 2 suffice
    depth = 0
    part_start = np.int64(low)
    part_end = np.int64(high) - 1
    while True:
        # Partition by the median of three, which keeps sorted input from the quadratic case.
        while part_end - part_start >= _MAX_INSERTION_LENGTH:
            middle = (part_start + part_end) // 2
            if values[middle] < values[part_start]:
                values[middle], values[part_start] = values[part_start], values[middle]
            if values[part_end] < values[part_start]:
                values[part_end], values[part_start] = values[part_start], values[part_end]
            if values[part_end] < values[middle]:
                values[part_end], values[middle] = values[middle], values[part_end]
            pivot = values[middle]
            i = part_start
            j = part_end
            while i <= j:
                while values[i] < pivot:
                    i += 1
                while pivot < values[j]:
                    j -= 1
                if i <= j:
                    values[i], values[j] = values[j], values[i]
                    i += 1
                    j -= 1
            if j - part_start < part_end - i:
                pending_parts[depth] = i
                pending_parts[depth + 1] = part_end
                part_end = j
            else:
                pending_parts[depth] = part_start
                pending_parts[depth + 1] = j
                part_start = i
            depth += 2
        # Insertion sort of a short part.
        for place in range(part_start + 1, part_end + 1):
            value = values[place]
            hole = place
            while hole > part_start and values[hole - 1] > value:
                values[hole] = values[hole - 1]
                hole -= 1
            values[hole] = value
        if depth == 0:
            break
        depth -= 2
        part_start = pending_parts[depth]
        part_end = pending_parts[depth + 1]


def _find_place_plain(values: NDArray[Any], low: int, high: int, value: int) -> int:
    """Return the place that `find_place` returns, by numpy."""
    return int(low + np.searchsorted(values[low:high], value))


@helper(plain=_find_place_plain)
def find_place(values: NDArray[Any], low: int, high: int, value: int) -> int:
    """Return the first place in [low, high), an ascending stretch, with a number of at least `value`; else `high`."""
    lower = np.int64(low)
    upper = np.int64(high)
    while lower < upper:
        middle = (lower + upper) // 2
        if values[middle] < value:
            lower = middle + 1
        else:
            upper = middle
    return lower


def _sum_in_order_plain(terms: NDArray[np.float64]) -> float:
    """Return the sum that `sum_in_order` returns: numpy's cumulative sum adds in order."""
    return float(terms.cumsum()[-1]) if len(terms) else 0.0


@helper(plain=_sum_in_order_plain)
def sum_in_order(terms: NDArray[np.float64]) -> float:
    """Return the sum of terms added one after the next: numpy's own sum rounds in a different order."""
    total = 0.0
    for position in range(len(terms)):
        total += terms[position]
    return total
