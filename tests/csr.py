"""Rows end to end, as baskets and itemsets keep them: closed to writing.

A kernel is compiled once for arrays that may be written and once more for those that may not, which takes seconds. So
what tests hand to it is of the kind that it is used with.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray


def close_to_writing(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array that cannot be written."""
    array.flags.writeable = False
    return array


def csr(rows: Iterable[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return where each row begins, and the codes of all of them."""
    code_lists = list(rows)
    offsets = np.cumsum([0, *map(len, code_lists)]).astype(np.int64)
    return close_to_writing(offsets), close_to_writing(np.array([code for row in code_lists for code in row], np.int32))


def to_rows(offsets: NDArray[np.int64], codes: NDArray[Any]) -> list[list[int]]:
    """Return rows that lie end to end as lists."""
    return [codes[start:end].tolist() for start, end in pairwise(offsets)]
