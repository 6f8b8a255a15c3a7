"""Splitting rows into runs that threads can take one by one."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray


def split_rows(offsets: NDArray[np.int64], max_pieces: int) -> list[tuple[int, int]]:
    """Return at most `max_pieces` runs of rows of about equally many codes: (first, last), `last` not included."""
    rows = len(offsets) - 1
    cuts = np.searchsorted(offsets, np.linspace(0, int(offsets[-1]), max_pieces + 1))
    cuts[-1] = rows
    return [(int(first_row), int(last_row)) for first_row, last_row in pairwise(cuts) if first_row < last_row]
