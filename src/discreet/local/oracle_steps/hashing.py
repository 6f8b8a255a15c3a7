"""What the oracles that hash have in common: a report supports the candidates whose hash falls into its window."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...baskets.core import starts
from ...kernels.jit import in_threads
from ...kernels.supports import count_windows
from ..oracle import Counts

_MIX1, _MIX2 = np.uint32(0x21F0AAAD), np.uint32(0xD35A2D97)
_PIECE = 1 << 16  # reports a thread goes through at a time


def count_hashed(
    first: NDArray[np.uint32],
    second: NDArray[np.uint32],
    low: NDArray[np.uint32],
    width: NDArray[np.uint32],
    size: int,
) -> Counts:
    """Return how many reports support each candidate: its hash is at `low`, or less than `width` beyond."""
    items = np.arange(size, dtype=np.uint32)
    pieces = max(1, -(-len(first) // _PIECE))
    edges = starts([len(first) // pieces + (piece < len(first) % pieces) for piece in range(pieces)])

    def count(piece: int) -> Counts:
        part = slice(edges[piece], edges[piece + 1])
        counts = np.zeros(size, np.int64)
        count_windows(first[part], second[part], low[part], width[part], items, counts)
        return counts

    counts: Counts = np.sum(in_threads(count, range(pieces)), axis=0, dtype=np.int64)
    return counts


def windows_met(
    first: NDArray[np.uint32],
    second: NDArray[np.uint32],
    low: NDArray[np.uint32],
    width: NDArray[np.uint32],
    values: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Return which of some values each report supports, a row per report, as `count_hashed` counts them."""
    return np.asarray(hashes(first, second, values) - low[:, None] < width[:, None])


def hashes(first: NDArray[np.uint32], second: NDArray[np.uint32], values: NDArray[np.int64]) -> NDArray[np.uint32]:
    """Return what each hash function makes of some values, a row per function: `local.device.draws.mixed`."""
    mixed = values.astype(np.uint32) * first[:, None] + second[:, None]
    mixed = (mixed ^ (mixed >> np.uint32(16))) * _MIX1
    mixed = (mixed ^ (mixed >> np.uint32(15))) * _MIX2
    mixed ^= mixed >> np.uint32(15)
    return mixed
