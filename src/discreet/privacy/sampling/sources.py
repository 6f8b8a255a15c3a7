"""Where randomness comes from, and of which kind it is.

There are two kinds, and they are different types so that they cannot be mixed up: the system's secure source, the only
one a release may draw from, and a seeded source for simulations, which marks everything it touches as simulated.
Everything drawn is a whole number of fair bits; distributions are built from them exactly, elsewhere.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from ...errors import MisuseError

_BLOCK = 512  # words fetched at a time for single draws


class Source(ABC):
    """Fair random bits."""

    simulated: bool

    def __init__(self) -> None:
        self._kept = 0
        self._kept_bits = 0

    @abstractmethod
    def words(self, count: int) -> NDArray[np.uint64]:
        """Return `count` fresh words of 64 fair bits."""

    def bits(self, count: int) -> int:
        """Return a number of `count` fair bits."""
        while self._kept_bits < count:
            fresh = self.words(max(_BLOCK, (count - self._kept_bits + 63) // 64))
            self._kept |= int.from_bytes(fresh.tobytes(), "little") << self._kept_bits
            self._kept_bits += 64 * len(fresh)
        drawn = self._kept & ((1 << count) - 1)
        self._kept >>= count
        self._kept_bits -= count
        return drawn

    def below(self, bound: int) -> int:
        """Return a whole number from 0 to before `bound`, each as likely as the others, however large."""
        if bound < 1:
            raise MisuseError(f"There is no number below {bound} to draw.")
        length = (bound - 1).bit_length()
        while True:
            drawn = self.bits(length)
            if drawn < bound:
                return drawn

    def subset(self, many: int, bound: int) -> list[int]:
        """Return `many` different numbers below `bound`, every such set as likely as the others, in random order."""
        if not 0 <= many <= bound:
            raise MisuseError(f"There are no {many} different numbers below {bound}.")
        # Fisher-Yates over a table that holds only the places that were touched, so that `bound` may be huge.
        moved: dict[int, int] = {}
        chosen = []
        for place in range(many):
            other = place + self.below(bound - place)
            chosen.append(moved.get(other, other))
            moved[other] = moved.get(place, place)
        return chosen


class SystemSource(Source):
    """The operating system's secure source: what releases draw from."""

    simulated = False

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return fresh words from the system."""
        return np.frombuffer(os.urandom(8 * count), np.uint64)

    def __repr__(self) -> str:
        return "SystemSource()"


class SimulationSource(Source):
    """A seeded source: the same seed, the same bits. Results it touched are simulations and say so."""

    simulated = True

    def __init__(self, seed: int) -> None:
        super().__init__()
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise MisuseError(f"A seed is a whole number, 0 or more; {seed!r} was given.")
        self.seed = seed
        self._generator = np.random.Generator(np.random.SFC64(seed))

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return the next words of the seeded stream."""
        return self._generator.integers(0, 2**64, count, np.uint64)

    def __repr__(self) -> str:
        return f"SimulationSource(seed={self.seed})"
