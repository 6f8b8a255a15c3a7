"""Triangular roots of variances that grow: rows are added to a root, and the ones before stay as they are.

The libraries under numpy share one small matrix out among all cores and wait for the slowest of them, thousands of
times; on a busy machine that waiting is most of what they do.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .jit import helper, kernel
from .parts import added

F64 = NDArray[np.float64]


@kernel
def grow_root(spread: F64, factor: float, before: int, root: F64) -> None:
    """Write the rest of the upper triangular root of 1 + factor * spread, whose first `before` columns are known.

    `spread` is a variance, so what is left of an entry of the diagonal is 1 at least, whatever rounding makes of it.
    """
    for row in range(before, len(spread)):
        along = factor * spread[row, :row]
        _forward(root, along)
        for at in range(row):
            root[at, row] = along[at]
        root[row, row] = np.sqrt(max(1.0, 1.0 + factor * spread[row, row] - added(along * along)))


@kernel
def along_root(root: F64, vector: F64) -> None:
    """Replace a vector by what it is along the root: by x with root' x = vector."""
    _forward(root, vector)


@kernel
def back_from_root(root: F64, vector: F64) -> None:
    """Replace a vector by x with root x = vector."""
    for at in range(len(vector) - 1, -1, -1):
        vector[at] = (vector[at] - added(root[at, at + 1 :] * vector[at + 1 :])) / root[at, at]


@helper
def _forward(root: F64, vector: F64) -> None:
    many = len(vector)
    for at in range(many):
        vector[at] /= root[at, at]
        vector[at + 1 :] -= vector[at] * root[at, at + 1 : many]
