"""What the oracles that hash have in common: a report supports the candidates whose hash falls into its window."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...kernels.jit import in_threads, threads
from ...kernels.supports import TILE, count_windows
from ..oracle import Counts, Oracle, ReportColumns
from .honest import found_together
from .on_card import on_card

_MIX1, _MIX2 = np.uint32(0x21F0AAAD), np.uint32(0xD35A2D97)
_PIECE = 1 << 16  # reports that threads go through at a time
_NEAR = 1 << 18  # hashes that stay in a cache while they are worked out


@dataclass(frozen=True, kw_only=True)
class HashedWindows(Oracle):
    """An oracle whose report is a hash function and a window: it names the values whose hash lies in there."""

    @abstractmethod
    def windows(self, columns: ReportColumns) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Return where the window of each report begins, and how wide it is."""

    def functions(self, columns: ReportColumns) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Return the seed of each report's hash function."""
        return columns["first"], columns["second"]

    def supports(self, columns: ReportColumns) -> Counts:
        """Count the reports in whose window the hash of each candidate lies."""
        return count_hashed(*self.functions(columns), *self.windows(columns), self.size)

    @property
    def adds_on_all_cores(self) -> bool:
        """Whether a block is: its candidates are shared out."""
        return True

    def named(self, columns: ReportColumns, values: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which of the values lie in the window of each report."""
        return windows_met(*self.functions(columns), *self.windows(columns), values)

    @property
    def at_once(self) -> int:
        """As many as some hash function puts into one window."""
        return min(self.size, found_together(self.p_other))


def count_hashed(
    first: NDArray[np.uint32],
    second: NDArray[np.uint32],
    low: NDArray[np.uint32],
    width: NDArray[np.uint32],
    size: int,
) -> Counts:
    """Return how many reports support each candidate: its hash is at `low`, or less than `width` beyond."""
    found: Counts | None = on_card(len(first) * size, lambda card: card.counts(first, second, low, width, size))
    if found is not None:
        return found
    counts = np.zeros(size, np.int64)
    # Each thread has candidates of its own: it counts in their place, and no counts have to be put together.
    many = threads() * -(-size // (threads() * TILE))
    items = np.array_split(np.arange(size, dtype=np.uint32), many)
    places = np.array_split(counts, many)

    def count(share: tuple[slice, int]) -> None:
        part, at = share
        count_windows(first[part], second[part], low[part], width[part], items[at], places[at])

    for start in range(0, len(first), _PIECE):
        in_threads(count, [(slice(start, start + _PIECE), at) for at in range(many)])
    return counts


def windows_met(
    first: NDArray[np.uint32],
    second: NDArray[np.uint32],
    low: NDArray[np.uint32],
    width: NDArray[np.uint32],
    values: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Return which of some values each report supports, a row per report, as `count_hashed` counts them."""
    met = np.empty((len(first), len(values)), np.bool_)
    rows = max(1, _NEAR // max(1, len(values)))

    def meet(start: int) -> None:
        part = slice(start, start + rows)
        found = hashes(first[part], second[part], values)
        found -= low[part, None]
        np.less(found, width[part, None], out=met[part])

    in_threads(meet, range(0, len(first), rows))
    return met


def hashes(first: NDArray[np.uint32], second: NDArray[np.uint32], values: NDArray[np.int64]) -> NDArray[np.uint32]:
    """Return what each hash function makes of some values, a row per function: `local.device.draws.mixed`."""
    mixed = values.astype(np.uint32) * first[:, None]
    mixed += second[:, None]
    spare = np.empty_like(mixed)
    for by, factor in ((16, _MIX1), (15, _MIX2)):
        mixed ^= np.right_shift(mixed, np.uint32(by), out=spare)
        mixed *= factor
    mixed ^= np.right_shift(mixed, np.uint32(15), out=spare)
    return mixed
