"""The supports of oracles that hash: a report supports each candidate with its hash in the window of the report."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...kernels import COUNTING_TILE, count_windows, in_threads, threads
from ._adding import Counts
from .on_card import on_card

# The constants of the mixing step: Wellons, hash-prospector; `local.device.draws` has them too.
_MIX1, _MIX2 = np.uint32(0x21F0AAAD), np.uint32(0xD35A2D97)
_BLOCK_REPORTS = 1 << 16  # reports that the threads read at a time
_BLOCK_HASHES = 1 << 18  # hashes of 4 bytes each, 1 MiB, that stay in a cache while they are computed


def count_hashed(
    multipliers: NDArray[np.uint32],
    increments: NDArray[np.uint32],
    low: NDArray[np.uint32],
    width: NDArray[np.uint32],
    size: int,
) -> Counts:
    """Return the number of reports that support each candidate: its hash less `low` is below `width`, modulo 2^32."""
    card_counts: Counts | None = on_card(
        len(multipliers) * size, lambda card: card.count_supports(multipliers, increments, low, width, size)
    )
    if card_counts is not None:
        return card_counts
    counts = np.zeros(size, np.int64)
    # Each thread has its own candidates and counts in their place: no counts have to be merged.
    part_count = threads() * -(-size // (threads() * COUNTING_TILE))
    items = np.array_split(np.arange(size, dtype=np.uint32), part_count)
    places = np.array_split(counts, part_count)

    def count(task: tuple[slice, int]) -> None:
        block, part = task
        count_windows(multipliers[block], increments[block], low[block], width[block], items[part], places[part])

    for start in range(0, len(multipliers), _BLOCK_REPORTS):
        in_threads(count, [(slice(start, start + _BLOCK_REPORTS), part) for part in range(part_count)])
    return counts


def windows_met(
    multipliers: NDArray[np.uint32],
    increments: NDArray[np.uint32],
    low: NDArray[np.uint32],
    width: NDArray[np.uint32],
    values: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Return whether each report supports each value, a row per report, by the rule of `count_hashed`."""
    met = np.empty((len(multipliers), len(values)), np.bool_)
    rows = max(1, _BLOCK_HASHES // max(1, len(values)))

    def find_windows(start: int) -> None:
        block = slice(start, start + rows)
        distances = hashes(multipliers[block], increments[block], values)
        distances -= low[block, None]
        np.less(distances, width[block, None], out=met[block])

    in_threads(find_windows, range(0, len(multipliers), rows))
    return met


def hashes(
    multipliers: NDArray[np.uint32], increments: NDArray[np.uint32], values: NDArray[np.int64]
) -> NDArray[np.uint32]:
    """Return the hash of each value by each hash function, a row per function: `local.device.draws.hash_item`."""
    mixed = values.astype(np.uint32) * multipliers[:, None]
    mixed += increments[:, None]
    shifted = np.empty_like(mixed)  # one buffer for all shifts
    for shift, factor in ((16, _MIX1), (15, _MIX2)):
        mixed ^= np.right_shift(mixed, np.uint32(shift), out=shifted)
        mixed *= factor
    mixed ^= np.right_shift(mixed, np.uint32(15), out=shifted)
    return mixed
