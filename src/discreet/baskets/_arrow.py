"""Conversion of whole numbers between numpy and Arrow, without a copy.

The conversions of Arrow import pandas if it is installed, which takes half a second.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..heavy import pa


def as_arrow(values: NDArray[Any]) -> pa.Array:
    """Return whole numbers as an Arrow array."""
    buffers = [None, pa.py_buffer(np.ascontiguousarray(values))]
    return pa.Array.from_buffers(pa.type_for_alias(values.dtype.name), len(values), buffers)


def as_numpy(values: pa.Array) -> NDArray[Any]:
    """Return whole numbers without nulls as a numpy array."""
    type_ = np.dtype(str(values.type))
    if not len(values):
        return np.empty(0, type_)
    # An Arrow array may be a slice of its buffer: `offset` is the number of values before it.
    return np.frombuffer(values.buffers()[1], type_, len(values), values.offset * type_.itemsize)
