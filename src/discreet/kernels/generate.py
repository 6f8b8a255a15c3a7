"""The loop that fills made-up baskets after the Quest process, one person after the other.

It is compiled because a pattern that does not fit is carried over to the next person, so people cannot be
drawn side by side. The source of randomness is seeded: nothing here may reach a release.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .jit import kernel

# A basket that this many patterns did not fill stays as it is: patterns may be empty after corruption, or
# hold nothing new, and then filling would never end.
MAX_PICKS = 1000


@kernel
def fill_baskets(
    source: np.random.Generator,
    targets: NDArray[np.int64],
    pattern_offsets: NDArray[np.int64],
    pattern_items: NDArray[np.int32],
    cumulative: NDArray[np.float64],
    corruption: NDArray[np.float64],
    holder: NDArray[np.int64],
    codes: NDArray[np.int32],
) -> NDArray[np.int64]:
    # `cumulative` ends in 1; `holder` says by item who held it last and starts at -1; `codes` has room for
    # every target plus the longest pattern, person by person. Returns where each row ends up.
    people = len(targets)
    offsets = np.zeros(people + 1, dtype=np.int64)
    kept = np.empty(np.max(np.diff(pattern_offsets)), dtype=np.int32)
    waiting = -1
    end = 0
    for person in range(people):
        start = end
        target = targets[person]
        picks = 0
        while end - start < target and picks < MAX_PICKS:
            picks += 1
            if waiting >= 0:
                size = waiting
                waiting = -1
            else:
                pattern = np.searchsorted(cumulative, source.random(), side="right")
                first = pattern_offsets[pattern]
                size = pattern_offsets[pattern + 1] - first
                for place in range(size):
                    kept[place] = pattern_items[first + place]
                while size > 0 and source.random() < corruption[pattern]:
                    gone = int(source.random() * size)
                    size -= 1
                    kept[gone] = kept[size]
            if end - start + size > target and source.random() < 0.5:
                waiting = size
                if end > start:
                    break
                continue
            for place in range(size):
                item = kept[place]
                if holder[item] != person:
                    holder[item] = person
                    codes[end] = item
                    end += 1
        # Rows are short, so insertion beats a general sort.
        for place in range(start + 1, end):
            item = codes[place]
            before = place - 1
            while before >= start and codes[before] > item:
                codes[before + 1] = codes[before]
                before -= 1
            codes[before + 1] = item
        offsets[person + 1] = end
    return offsets
