"""The loop that fills synthetic baskets by the Quest process, one person after the next.

It is compiled because a pattern that does not fit is carried over to the next person, so people cannot be
drawn side by side. The source of randomness is seeded: nothing here may reach a release.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._jit import kernel

# Picks per basket: a pattern may be empty after corruption, or hold no new item, so a basket might never fill.
MAX_PICKS = 1000


@kernel
def fill_baskets(
    source: np.random.Generator,
    targets: NDArray[np.int64],
    pattern_offsets: NDArray[np.int64],
    pattern_items: NDArray[np.int32],
    cumulative: NDArray[np.float64],
    corruption: NDArray[np.float64],
    last_holder: NDArray[np.int64],
    codes: NDArray[np.int32],
) -> NDArray[np.int64]:
    """Fill the baskets of all people; return the offsets of the rows.

    `cumulative` ends in 1; `last_holder` has the last person that received each item and starts at -1; `codes` has room
    for the sum of all targets plus the longest pattern per person.
    """
    people = len(targets)
    offsets = np.zeros(people + 1, dtype=np.int64)
    kept_items = np.empty(np.max(np.diff(pattern_offsets)), dtype=np.int32)
    waiting_size = -1
    end = 0
    for person in range(people):
        start = end
        target = targets[person]
        picks = 0
        while end - start < target and picks < MAX_PICKS:
            picks += 1
            if waiting_size >= 0:
                size = waiting_size
                waiting_size = -1
            else:
                pattern = np.searchsorted(cumulative, source.random(), side="right")
                pattern_start = pattern_offsets[pattern]
                size = pattern_offsets[pattern + 1] - pattern_start
                for place in range(size):
                    kept_items[place] = pattern_items[pattern_start + place]
                while size > 0 and source.random() < corruption[pattern]:
                    removed_place = int(source.random() * size)
                    size -= 1
                    kept_items[removed_place] = kept_items[size]
            # An overfull basket takes the pattern with probability 1/2, else the next basket does (Quest).
            if end - start + size > target and source.random() < 0.5:
                waiting_size = size
                if end > start:
                    break
                continue
            for place in range(size):
                item = kept_items[place]
                if last_holder[item] != person:
                    last_holder[item] = person
                    codes[end] = item
                    end += 1
        # Rows are short, so insertion beats a general sort.
        for place in range(start + 1, end):
            item = codes[place]
            hole = place - 1
            while hole >= start and codes[hole] > item:
                codes[hole + 1] = codes[hole]
                hole -= 1
            codes[hole + 1] = item
        offsets[person + 1] = end
    return offsets
