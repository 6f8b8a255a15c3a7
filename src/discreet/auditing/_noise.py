"""The drawn noise of runs, against the law that the meter states: its size, and its independence.

The charge of a step follows from the stated noise. The coupled audit compares charge and statement; this check compares
the statement with the draws. It finds noise that is too small for any charge, where a bound of the loss would need many
more runs, and one draw that serves for two numbers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from math import ceil, sqrt

import numpy as np
from numpy.typing import NDArray

from ._tape import NoiseDraw

# Shares of the law at which sizes are compared. Chosen: small, medium and large draws; more shares would lower the
# level of each.
_SHARES = (0.1, 0.5, 0.9)
_MAX_NUMBERS = 6  # of a step: the number of pairs grows with its square
_TAIL_WIDTH = 40  # deviations: beyond them lies less than 10^-17 of either law


class NoiseCheck:
    """Counts of hits over all runs, each with its trials and the largest probability that the stated law allows."""

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator
        self._hits: defaultdict[str, int] = defaultdict(int)
        self._trials: defaultdict[str, int] = defaultdict(int)
        self._chances: defaultdict[str, float] = defaultdict(float)

    def add(self, draws: Iterable[NoiseDraw]) -> None:
        """Add the draws of one run."""
        firsts = []
        for draw in draws:
            if draw.variance == 0 or not len(draw.values):
                continue  # no person can change the answer
            law = _compute_tails(draw.scale, draw.variance)
            sizes = np.minimum(np.abs(draw.values[:_MAX_NUMBERS]), len(law) - 2)
            # A size is discrete, so its place in the law is drawn within its step: the place is uniform.
            place = 1 - law[sizes[0]] + self._generator.random() * (law[sizes[0]] - law[sizes[0] + 1])
            for share in _SHARES:
                name = f"the noise of {draw.purpose!r} is among the smallest {share:.0%} that its stated law allows"
                self._count(name, float(place) <= share, share)
            same_chance = float((np.diff(law) ** 2).sum())
            for (place_of_size, size), (other_place, other_size) in combinations(enumerate(sizes.tolist(), 1), 2):
                name = (
                    f"the noises of the numbers {place_of_size} and {other_place} of {draw.purpose!r} are of one size"
                )
                self._count(name, size == other_size, same_chance)
            firsts.append((draw, int(sizes[0]), same_chance))
        # A source that repeats itself between steps repeats its first draw.
        for (draw, size, chance), (other_draw, other_size, _) in combinations(firsts[:_MAX_NUMBERS], 2):
            if (draw.scale, draw.variance) == (other_draw.scale, other_draw.variance):
                name = f"the first noises of {draw.purpose!r} and {other_draw.purpose!r} are of one size"
                self._count(name, size == other_size, chance)

    def _count(self, name: str, is_hit: bool, chance: float) -> None:
        self._hits[name] += is_hit
        self._trials[name] += 1
        # Budgets of later steps may depend on released values, and their laws too: the largest chance holds for all.
        self._chances[name] = max(self._chances[name], chance)

    def find_breach(self, compute_lower_chance: Callable[[int, int, float], float], error_chance: float) -> str:
        """Return the breach with the largest excess in words; "" without a breach.

        Parameters
        ----------
        compute_lower_chance
            Returns the lower bound of a probability, from hits, trials and the chance that the bound is false.
        error_chance
            The chance that a right claim is called a breach: shared evenly among all counts.
        """
        breaches = list(self._list_breaches(compute_lower_chance, error_chance / max(1, len(self._hits))))
        return max(breaches)[1] if breaches else ""

    def _list_breaches(
        self, compute_lower_chance: Callable[[int, int, float], float], error_chance: float
    ) -> Iterator[tuple[float, str]]:
        for name, hits in self._hits.items():
            trials, chance = self._trials[name], self._chances[name]
            # The bound is at most the share of hits, so most counts need no search for it.
            if hits > chance * trials and compute_lower_chance(hits, trials, error_chance) > chance:
                text = f"In {hits:,} of {trials:,} runs, {name}; {chance * trials:,.0f} were expected at most."
                yield hits / trials - chance, text


@lru_cache(maxsize=4096)
def _compute_tails(scale: Fraction | None, variance: Fraction) -> NDArray[np.float64]:
    """Return the probability of noise of at least each size: discrete Laplace, or Gaussian without a scale."""
    deviation = sqrt(variance)
    sizes = np.arange(ceil(_TAIL_WIDTH * max(deviation, 1.0)) + 2)
    weights = np.exp(-sizes / float(scale) if scale is not None else -(sizes**2) / (2 * float(variance)))
    weights[1:] *= 2  # either sign
    return np.append(np.cumsum(weights[::-1])[::-1] / weights.sum(), 0.0)
