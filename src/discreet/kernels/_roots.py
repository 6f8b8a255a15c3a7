"""Triangular roots of growing variance matrices: a root gains columns, and earlier columns stay unchanged.

The linear-algebra libraries under numpy split one small matrix over all cores and wait for the slowest core, thousands
of times; on a busy machine that waiting is most of the time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._jit import helper, kernel
from ._parts import sum_in_order

F64 = NDArray[np.float64]


@kernel
def grow_root(spread: F64, factor: float, known_columns: int, root: F64) -> None:
    """Write the columns behind `known_columns` of the upper triangular root of 1 + factor * spread.

    `spread` is a variance matrix, so each diagonal entry of the root is at least 1 in exact arithmetic; rounding is cut
    off there.
    """
    for row in range(known_columns, len(spread)):
        column = factor * spread[row, :row]
        _forward(root, column)
        for position in range(row):
            root[position, row] = column[position]
        root[row, row] = np.sqrt(max(1.0, 1.0 + factor * spread[row, row] - sum_in_order(column * column)))


@kernel
def along_root(root: F64, vector: F64) -> None:
    """Replace a vector by x with root' x = vector (forward substitution)."""
    _forward(root, vector)


@kernel
def back_from_root(root: F64, vector: F64) -> None:
    """Replace a vector by x with root x = vector (backward substitution)."""
    for position in range(len(vector) - 1, -1, -1):
        vector[position] = (
            vector[position] - sum_in_order(root[position, position + 1 :] * vector[position + 1 :])
        ) / root[position, position]


@helper
def _forward(root: F64, vector: F64) -> None:
    """Replace a vector by x with root' x = vector."""
    size = len(vector)
    for position in range(size):
        vector[position] /= root[position, position]
        vector[position + 1 :] -= vector[position] * root[position, position + 1 : size]
