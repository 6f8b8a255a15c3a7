"""The slow twin of `discreet.kernels._covering`: all merges at once, in numpy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]


def merge_changes(masks, one, other, largest: int, known: F64, known_pairs: F64, lookup) -> F64:
    """Fill every union up to `largest` items with one that nobody knows anything about, and add up along rows."""
    items = masks.shape[1]
    sizes = masks.sum(axis=1)
    known, known_pairs = np.append(known, np.inf), np.append(known_pairs, np.inf)
    wider = np.append(masks, np.zeros((len(masks), 1), np.bool_), axis=1)
    unions = [np.flatnonzero(masks[a] | masks[b]) for a, b in zip(one, other, strict=True)]
    union = np.array([[*found, *[items] * (largest - len(found))] for found in unions], np.int64)
    cells = [np.exp2(1.0 - size)[:, None] for size in (sizes[one], sizes[other], np.array(list(map(len, unions))))]
    ours, theirs = wider[one[:, None], union], wider[other[:, None], union]

    def change(sums: F64, by_one, by_other, size: int) -> F64:
        more = (cells[2] - cells[0] * by_one - cells[1] * by_other) * size
        return 1 / (sums + more) - 1 / sums

    of_items = change(known[union], ours, theirs, 1).sum(axis=1)
    first, second = np.triu_indices(largest, 1)
    numbers = np.full((items + 1, items + 1), -1)
    numbers[:items, :items] = lookup
    of_pairs = np.zeros(len(one))
    for left, right in zip(first, second, strict=True):
        sums = known_pairs[numbers[union[:, left], union[:, right]]][:, None]
        both = ours[:, [left]] & ours[:, [right]], theirs[:, [left]] & theirs[:, [right]]
        of_pairs += change(sums, *both, 2)[:, 0]
    return of_items + of_pairs
