"""Sources of random bits: the system's secure source, and seeded sources for simulations.

The two kinds have different types, so that they cannot be mixed up. A release may draw from the system's secure source
only; a seeded source marks each result that it touches as simulated. Every draw is a whole number of fair bits;
`samplers` and `selection` build distributions from the bits exactly.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from ...errors import MisuseError

_BLOCK = 512  # words fetched at a time for single draws  # 4 KiB, so that few draws call the system


class Source(ABC):
    """A source of fair random bits."""

    simulated: bool

    def __init__(self) -> None:
        self._spare_bits = 0
        self._spare_bit_count = 0

    @abstractmethod
    def words(self, count: int) -> NDArray[np.uint64]:
        """Return `count` fresh words of 64 fair bits."""

    def bits(self, count: int) -> int:
        """Return a number of `count` fair bits."""
        while self._spare_bit_count < count:
            fresh = self.words(max(_BLOCK, (count - self._spare_bit_count + 63) // 64))
            # The byte order is fixed: the same seed gives the same numbers on every machine.
            self._spare_bits |= int.from_bytes(fresh.tobytes(), "little") << self._spare_bit_count
            self._spare_bit_count += 64 * len(fresh)
        number = self._spare_bits & ((1 << count) - 1)
        self._spare_bits >>= count
        self._spare_bit_count -= count
        return number

    def below(self, bound: int) -> int:
        """Return a whole number from 0 to `bound` - 1, each with equal probability, however large `bound` is."""
        if bound < 1:
            raise MisuseError(f"There is no number below {bound} to draw.")
        # Rejection: a number modulo `bound` would favour small values.
        length = (bound - 1).bit_length()
        while True:
            number = self.bits(length)
            if number < bound:
                return number

    def subset(self, count: int, bound: int) -> list[int]:
        """Return `count` distinct numbers below `bound` in random order; all ordered subsets are equally likely."""
        if not 0 <= count <= bound:
            raise MisuseError(f"There are no {count} different numbers below {bound}.")
        # Fisher-Yates shuffle with a table of moved numbers only: memory grows with `count` and not with `bound`.
        moved_numbers: dict[int, int] = {}
        numbers = []
        for place in range(count):
            swap_place = place + self.below(bound - place)
            numbers.append(moved_numbers.get(swap_place, swap_place))
            moved_numbers[swap_place] = moved_numbers.get(place, place)
        return numbers


class SystemSource(Source):
    """The operating system's secure source, the only source of a release."""

    simulated = False

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return fresh words from the system."""
        return np.frombuffer(os.urandom(8 * count), np.uint64)

    def __repr__(self) -> str:
        return "SystemSource()"


class SimulationSource(Source):
    """A seeded source: equal seeds give equal bits. Results that it touches are marked as simulated."""

    simulated = True

    def __init__(self, seed: int) -> None:
        super().__init__()
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise MisuseError(f"A seed is a whole number, 0 or more; {seed!r} was given.")
        self.seed = seed
        # SFC64 is fast and is no cryptographic generator: it must never serve a release.
        self._generator = np.random.Generator(np.random.SFC64(seed))

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return the next words of the seeded stream."""
        return self._generator.integers(0, 2**64, count, np.uint64)

    def __repr__(self) -> str:
        return f"SimulationSource(seed={self.seed})"
