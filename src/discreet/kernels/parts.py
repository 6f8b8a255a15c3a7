"""What several kernels need: sorting a stretch, finding a place in one, adding fractions up.

numba has all of these, and takes half a second to compile each into each kernel that uses it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .jit import helper

_FEW = 24  # so many are put in order one by one


def _sorted(values: NDArray[Any], low: int, high: int) -> None:
    values[low:high].sort()


@helper(plain=_sorted)
def sort(values: NDArray[Any], low: int, high: int) -> None:
    """Put the numbers from `low` to before `high` in rising order (Hoare's quicksort, by the middle of three)."""
    waiting = np.empty(128, np.int64)  # the larger part waits, so that each is half of the one before at most
    depth = 0
    first = np.int64(low)
    last = np.int64(high) - 1
    while True:
        while last - first >= _FEW:
            middle = (first + last) // 2
            if values[middle] < values[first]:
                values[middle], values[first] = values[first], values[middle]
            if values[last] < values[first]:
                values[last], values[first] = values[first], values[last]
            if values[last] < values[middle]:
                values[last], values[middle] = values[middle], values[last]
            pivot = values[middle]
            i = first
            j = last
            while i <= j:
                while values[i] < pivot:
                    i += 1
                while pivot < values[j]:
                    j -= 1
                if i <= j:
                    values[i], values[j] = values[j], values[i]
                    i += 1
                    j -= 1
            if j - first < last - i:
                waiting[depth] = i
                waiting[depth + 1] = last
                last = j
            else:
                waiting[depth] = first
                waiting[depth + 1] = j
                first = i
            depth += 2
        for place in range(first + 1, last + 1):
            value = values[place]
            hole = place
            while hole > first and values[hole - 1] > value:
                values[hole] = values[hole - 1]
                hole -= 1
            values[hole] = value
        if depth == 0:
            break
        depth -= 2
        first = waiting[depth]
        last = waiting[depth + 1]


def _found(values: NDArray[Any], low: int, high: int, wanted: int) -> int:
    return int(low + np.searchsorted(values[low:high], wanted))


@helper(plain=_found)
def place_of(values: NDArray[Any], low: int, high: int, wanted: int) -> int:
    """Return the first place from `low` to before `high`, which ascend, of no less than what is wanted; or `high`."""
    first = np.int64(low)
    last = np.int64(high)
    while first < last:
        middle = (first + last) // 2
        if values[middle] < wanted:
            first = middle + 1
        else:
            last = middle
    return first


def _in_turn(terms: NDArray[np.float64]) -> float:
    return float(terms.cumsum()[-1]) if len(terms) else 0.0


@helper(plain=_in_turn)
def added(terms: NDArray[np.float64]) -> float:
    """Add numbers up one after the other, compiled or not: numpy's sum is rounded in an order of its own."""
    total = 0.0
    for at in range(len(terms)):
        total += terms[at]
    return total
