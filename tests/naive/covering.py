"""The slow twin of `discreet.kernels._covering`: all merges at once, in numpy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]


def merge_changes(masks, left_masks, right_masks, largest: int, known_items: F64, known_pairs: F64, lookup) -> F64:
    """Pad every union to `largest` items with a placeholder that adds nothing, and add up along rows."""
    items = masks.shape[1]
    sizes = masks.sum(axis=1)
    known_items, known_pairs = np.append(known_items, np.inf), np.append(known_pairs, np.inf)
    wider = np.append(masks, np.zeros((len(masks), 1), np.bool_), axis=1)
    unions = [np.flatnonzero(masks[a] | masks[b]) for a, b in zip(left_masks, right_masks, strict=True)]
    union = np.array([[*members, *[items] * (largest - len(members))] for members in unions], np.int64)
    cells = [
        np.exp2(1.0 - size)[:, None]
        for size in (sizes[left_masks], sizes[right_masks], np.array(list(map(len, unions))))
    ]
    ours, theirs = wider[left_masks[:, None], union], wider[right_masks[:, None], union]

    def change(sums: F64, by_one, by_other, size: int) -> F64:
        added_information = (cells[2] - cells[0] * by_one - cells[1] * by_other) * size
        return 1 / (sums + added_information) - 1 / sums

    of_items = change(known_items[union], ours, theirs, 1).sum(axis=1)
    rows, columns = np.triu_indices(largest, 1)
    numbers = np.full((items + 1, items + 1), -1)
    numbers[:items, :items] = lookup
    of_pairs = np.zeros(len(left_masks))
    for row, column in zip(rows, columns, strict=True):
        sums = known_pairs[numbers[union[:, row], union[:, column]]][:, None]
        both_sides = ours[:, [row]] & ours[:, [column]], theirs[:, [row]] & theirs[:, [column]]
        of_pairs += change(sums, *both_sides, 2)[:, 0]
    return of_items + of_pairs
