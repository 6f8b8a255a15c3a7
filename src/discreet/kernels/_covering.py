"""The change of variance when two bases are merged: the inner loop of covering items and pairs with bases."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._jit import helper, kernel

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]
Masks = NDArray[np.bool_]


@helper
def variance_change(sums: float, merged_term: float, left_term: float, right_term: float) -> float:
    """Return the change of 1 / sums when two of its terms, 0 if absent, become the single term `merged_term`."""
    return 1 / (sums + (merged_term - left_term - right_term)) - 1 / sums


@helper
def sum_in_lanes(terms: F64) -> float:
    """Return the sum of numbers in eight lanes, as numpy adds: rounding decides between equally good merges.

    A different order of summing would change the covers of releases made before this loop was compiled.
    """
    lane_end = terms.shape[0] // 8 * 8
    lanes = np.zeros(8)
    for place in range(lane_end):
        lanes[place & 7] += terms[place]
    total: float = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]))
    for place in range(lane_end, terms.shape[0]):
        total += terms[place]
    return total


@kernel
def merge_changes(
    masks: Masks, lefts: I64, rights: I64, max_size: int, item_sums: F64, pair_sums: F64, lookup: I64, changes: F64
) -> None:
    """Write the change of the sum of variances when bases ``lefts[m]`` and ``rights[m]`` are merged, for each m.

    A basis of s items adds 2^(1 - s) to the sum of each of its items and twice that to the sum of each of its pairs;
    the variance is 1 / sum. Pair (i, j) is number ``lookup[i, j]``, or -1 for a pair of no interest. No merged basis
    has more than `max_size` items, and missing items up to that size count as items of no interest.
    """
    sizes = np.zeros(masks.shape[0], np.int64)
    for basis in range(masks.shape[0]):
        for item in range(masks.shape[1]):
            sizes[basis] += masks[basis, item]
    union = np.empty(max_size, np.int64)
    terms = np.empty(max_size)
    for m in range(lefts.shape[0]):
        left_mask = masks[lefts[m]]
        right_mask = masks[rights[m]]
        size = 0
        for item in range(masks.shape[1]):
            if left_mask[item] or right_mask[item]:
                union[size] = item
                size += 1
        # Each cell count has one noise term, and an item's count sums 2^(s - 1) of the 2^s cells.
        merged_term = 2.0 ** (1 - size)
        left_term = 2.0 ** (1 - sizes[lefts[m]])
        right_term = 2.0 ** (1 - sizes[rights[m]])
        terms[:] = 0
        pair_change = 0.0
        for a in range(size):
            i = union[a]
            terms[a] = variance_change(item_sums[i], merged_term, left_term * left_mask[i], right_term * right_mask[i])
            for b in range(a + 1, size):
                j = union[b]
                if lookup[i, j] >= 0:
                    pair_terms = (
                        2 * left_term * (left_mask[i] and left_mask[j]),
                        2 * right_term * (right_mask[i] and right_mask[j]),
                    )
                    pair_change += variance_change(pair_sums[lookup[i, j]], 2 * merged_term, *pair_terms)
        changes[m] = sum_in_lanes(terms) + pair_change
