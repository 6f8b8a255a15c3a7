"""Seeds for what is made up or drawn again: the same seed gives the same data."""

from __future__ import annotations

import numpy as np

from ..errors import MisuseError


def seeds(seed: int, streams: int) -> list[np.random.SeedSequence]:
    """Split a user's seed into independent streams."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise MisuseError.format("{seed} is {given!r}; it must be a whole number, 0 or more: try {seed=0}.", given=seed)
    return np.random.SeedSequence(int(seed)).spawn(streams)
