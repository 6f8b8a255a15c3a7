"""Splitting rows into runs that threads can take one by one."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray


def pieces(offsets: NDArray[np.int64], many: int) -> list[tuple[int, int]]:
    """Split all rows into at most `many` runs of about equally many codes: (first, last), `last` not included."""
    rows = len(offsets) - 1
    at = np.searchsorted(offsets, np.linspace(0, int(offsets[-1]), many + 1))
    at[-1] = rows
    return [(int(first), int(last)) for first, last in pairwise(at) if first < last]
