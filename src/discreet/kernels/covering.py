"""What merging two bases would change: the inner loop of covering items and pairs with bases."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .jit import helper, kernel

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]
Masks = NDArray[np.bool_]


@helper
def change(sums: float, wider: float, by_one: float, by_other: float) -> float:
    """Return how a variance of 1 / `sums` changes when two of its terms, 0 where there is none, become one."""
    return 1 / (sums + (wider - by_one - by_other)) - 1 / sums


@helper
def added(terms: F64) -> float:
    """Add up numbers in eight lanes, as numpy does: rounding decides between merges that are equally good.

    In any other order the same items and pairs would have other covers than they had before this was compiled.
    """
    even = terms.shape[0] // 8 * 8
    lanes = np.zeros(8)
    for place in range(even):
        lanes[place & 7] += terms[place]
    total: float = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]))
    for place in range(even, terms.shape[0]):
        total += terms[place]
    return total


@kernel
def merge_changes(
    masks: Masks, one: I64, other: I64, largest: int, known: F64, known_pairs: F64, lookup: I64, changes: F64
) -> None:
    """Write for each two bases, ``one[m]`` and ``other[m]``, how merging them changes the sum of variances.

    A basis of s items adds 2^(1 - s) to what is `known` of each of its items and twice that to each of its pairs; the
    variance is 1 over it. Pair (i, j) is number ``lookup[i, j]``, or -1 where it is not looked at. No merged basis has
    more than `largest` items, and what it lacks to that counts as items nobody looks at.
    """
    sizes = np.zeros(masks.shape[0], np.int64)
    for basis in range(masks.shape[0]):
        for item in range(masks.shape[1]):
            sizes[basis] += masks[basis, item]
    union = np.empty(largest, np.int64)
    terms = np.empty(largest)
    for m in range(one.shape[0]):
        ours = masks[one[m]]
        theirs = masks[other[m]]
        many = 0
        for item in range(masks.shape[1]):
            if ours[item] or theirs[item]:
                union[many] = item
                many += 1
        wider = 2.0 ** (1 - many)
        by_one = 2.0 ** (1 - sizes[one[m]])
        by_other = 2.0 ** (1 - sizes[other[m]])
        terms[:] = 0
        of_pairs = 0.0
        for a in range(many):
            i = union[a]
            terms[a] = change(known[i], wider, by_one * ours[i], by_other * theirs[i])
            for b in range(a + 1, many):
                j = union[b]
                if lookup[i, j] >= 0:
                    twice = 2 * by_one * (ours[i] and ours[j]), 2 * by_other * (theirs[i] and theirs[j])
                    of_pairs += change(known_pairs[lookup[i, j]], 2 * wider, *twice)
        changes[m] = added(terms) + of_pairs
