"""How many candidates people hold, from a round that asked for it in bins, and what a padding cuts off.

Bins are noisy, and a padding's correction hangs on the few people who hold a lot. So the bins are pulled to a law of
three numbers that fits them best, as far as the noise says, and that law says how a bin is divided. Nothing here asks
anybody; all of it is post-processing.

`size_laws` fits the same bins for other protocols, and neither serves both. It expects few to be held: on the data that
constants were chosen on, the logarithm of the correction is off by 0.43 with it and by 0.12 with this one where all
items are asked about, and by 0.13 and 0.36 where few chosen patterns are (root mean squares, 21 and 63 rounds).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..asking import Estimate

Values: TypeAlias = NDArray[np.float64]

BINS = (0, 1, 2, 3, 4, 5, 6, 8, 11, 15, 21, 29, 41, 65, 92, 130, 184, 260, 368, 520, 736, 1040)
"""Where the bins of a size begin. Subset selection makes hardly more noise with 22 bins than with 14."""

_LARGEST = 1500  # a larger number held counts as so many
_MEANS = np.geomspace(0.02, 150, 70)
_SHAPES = np.geomspace(0.3, 20, 6)
_MEDIANS = np.geomspace(0.5, 150, 45)
_WIDTHS = np.linspace(0.3, 2.4, 10)
_TAILS = ((0.0, 1, 1.0), (0.1, 10, 0.02), (0.1, 25, 0.02), (0.2, 10, 0.02), (0.2, 25, 0.02), (0.3, 10, 0.02))
_ZEROS = np.array([0.0, 0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.75, 0.9])
_EXPOSURES = np.concatenate(([0.0], np.geomspace(1e-7, 60, 240)))


@dataclass(frozen=True, kw_only=True, eq=False)
class HeldSizes:
    """The law of how many candidates a person holds: the probability of 0, 1, 2 …, and how sure it is.

    Parameters
    ----------
    chances
        The probability of each number.
    first
        Where each bin begins.
    noise
        The covariance of the probabilities of the bins: of a law all bins of a tail are off together.
    """

    chances: Values
    first: NDArray[np.int64]
    noise: Values

    @classmethod
    def of(cls, seen: Estimate, first: tuple[int, ...], most: int) -> HeldSizes:
        """Fit the bins that a round told.

        Parameters
        ----------
        seen
            What the round's reports say.
        first
            Where each bin begins.
        most
            How many there are to hold.
        """
        starts, many = np.array(first), min(most, _LARGEST) + 1
        law, noise = _fitted(seen.values, seen.variance, starts, many)
        fitted = np.maximum(np.add.reduceat(law, starts), 1e-12)
        # How far the truth is from the law: in proportion to what a bin has.
        spare = max(float(((seen.values - fitted) ** 2 - seen.variance).sum()), 0.0) * fitted
        weight = spare / np.maximum(spare + seen.variance, 1e-18)
        told = np.clip(weight * seen.values + (1 - weight) * fitted, 0.0, None)
        told = told / told.sum() if told.sum() > 0 else fitted
        bins = np.repeat(np.arange(len(starts)), np.diff([*starts, many]))
        chances = law * (told / fitted)[bins]
        noise = np.diag(weight * seen.variance) + (1 - weight)[:, None] * noise * (1 - weight)
        return cls(chances=chances / chances.sum(), first=starts, noise=noise)

    def correction(self, pad: int) -> float:
        """Return by how much the sum of all estimates falls short where people hold more than `pad` (A5, A6)."""
        sizes = np.arange(len(self.chances))
        seen = float((np.minimum(sizes, pad) * self.chances).sum())
        return float((sizes * self.chances).sum()) / seen if seen > 0 else 1.0

    def doubt(self, pad: int) -> float:
        """Return how far the correction may be off, relative to it: one standard deviation."""
        sizes = np.arange(len(self.chances))
        mass = np.maximum(np.add.reduceat(self.chances, self.first), 1e-300)
        held = np.add.reduceat(sizes * self.chances, self.first) / mass
        kept = np.add.reduceat(np.minimum(sizes, pad) * self.chances, self.first) / mass
        total, seen = float((held * mass).sum()), float((kept * mass).sum())
        if seen <= 0:
            return 1.0
        slope = held / total - kept / seen
        return min(sqrt(max(float(slope @ self.noise @ slope), 0.0)), 1.0)

    def restored(self, values: Values, pad: int) -> tuple[Values, Values]:
        """Return estimates with what the padding cuts off given back to each, and by what their noise grows.

        A candidate is taken to be held with the chance 1 - exp(-x c) where c are held in all: one that is rare comes
        in proportion to c and is cut as all are on average, while one that is frequent is in small baskets as well,
        and loses less. What is seen of it says x, and x says what there is.
        """
        seen, true = self._table(pad)
        ratio, slope = self._ratios(pad, seen, true)
        restored: Values = values * np.interp(values, seen, ratio)
        # What is seen of next to everyone hardly says more than that; it is not taken for sure all the same.
        return restored, np.maximum(np.interp(values, seen, slope), 1.0)

    def grows(self, frequency: float, pad: int) -> float:
        """Return by what the estimate of a candidate that so many hold is to be multiplied."""
        seen, true = self._table(pad)
        return float(np.interp(frequency, true, self._ratios(pad, seen, true)[0]))

    def follows(self, pad: int, frequencies: Values) -> Values:
        """Return how far the estimate of a candidate that so many hold follows an error of the correction.

        What was seen of it is seen; only what was given back is off. So a rare one is off by as much as the correction
        is, and a frequent one, of which less was cut off, by less.
        """
        seen, true = self._table(pad)
        ratio = self._ratios(pad, seen, true)[0]
        most = 1 - 1 / ratio[0]
        return np.asarray(
            (1 - 1 / np.interp(frequencies, true, ratio)) / most if most > 0 else np.ones(len(frequencies))
        )

    def _ratios(self, pad: int, seen: Values, true: Values) -> tuple[Values, Values]:
        """Return what there is over what is seen, for every rate, and how fast the one grows with the other."""
        if seen[-1] <= 0:
            return np.ones(len(seen)), np.ones(len(seen))
        first = self.correction(pad)
        ratio = np.concatenate(([first], true[1:] / np.maximum(seen[1:], 1e-300)))
        steps = np.maximum(np.diff(seen), 1e-300)
        slope = np.minimum(np.concatenate(([first], np.diff(true) / steps)), ratio)
        return ratio, slope

    def _table(self, pad: int) -> tuple[Values, Values]:
        """Return what would be seen of a candidate, and what there is of it, for every rate of a grid."""
        kept = np.minimum(1.0, pad / np.maximum(np.arange(len(self.chances)), 1))
        return self._by_rate @ kept, self._by_rate.sum(1)

    @cached_property
    def _by_rate(self) -> Values:
        """How many people hold so many and a candidate of each rate."""
        return np.asarray(-np.expm1(-_EXPOSURES[:, None] * np.arange(len(self.chances))) * self.chances)


def _fitted(told: Values, variance: Values, first: NDArray[np.int64], many: int) -> tuple[Values, Values]:
    """Return the mean of all laws of the grid, each by how well it explains the bins, and the covariance of its bins.

    Where no law explains the bins but for their noise, all are given more of it, so that none is too sure of itself.
    """
    laws = _laws()[:, :many]
    laws = laws / np.maximum(laws.sum(1, keepdims=True), 1e-300)
    binned = np.add.reduceat(laws, first, axis=1)
    # (1 - z - t) law + z none + t tail, for every z, every tail and every law.
    others, shares, likely = [], [], []
    for zero in _ZEROS:
        for share, median, chance in _TAILS:
            other = (1 - zero) * share * _long(median, many)
            other[0] += zero
            others.append(other)
            shares.append((1 - zero) * (1 - share))
            likely.append(chance)
    added, rest = np.array(others), np.array(shares)
    grid = rest[:, None, None] * binned + np.add.reduceat(added, first, axis=1)[:, None]
    off = (((grid - told) ** 2) / np.maximum(variance, 1e-18)).sum(-1)
    loose = max(1.0, float(off.min()) / max(len(first) - 3, 1))
    weights = np.exp(-(off - off.min()) / (2 * loose)) * np.array(likely)[:, None]
    weights /= weights.sum()
    law = (weights * rest[:, None]).sum(0) @ laws + weights.sum(1) @ added
    away = (grid - np.add.reduceat(law, first)).reshape(-1, len(first))
    return law, (away * weights.reshape(-1, 1)).T @ away


def _long(median: float, many: int) -> Values:
    """Return a log-normal law of a long tail."""
    sizes = np.arange(1, many)
    law = np.concatenate(([0.0], np.exp(-((np.log(sizes / median)) ** 2) / 2) / sizes))
    return np.asarray(law / max(law.sum(), 1e-300))


@lru_cache(maxsize=1)
def _laws() -> Values:
    """Return laws of how many are held, one a row: negative binomial ones, and log-normal ones."""
    sizes = np.arange(1, _LARGEST + 1)
    mean, shape = (one.ravel()[:, None] for one in np.meshgrid(_MEANS, _SHAPES))
    odds = mean / (mean + shape)
    steps = np.log((sizes - 1 + shape) / sizes) + np.log(odds)
    logs = shape * np.log1p(-odds) + np.concatenate((np.zeros((len(mean), 1)), np.cumsum(steps, 1)), 1)
    median, width = (one.ravel()[:, None] for one in np.meshgrid(np.log(_MEDIANS), _WIDTHS))
    tails = np.exp(-((np.log(sizes) - median) ** 2) / (2 * width**2)) / sizes
    tails = np.concatenate((np.zeros((len(tails), 1)), tails / np.maximum(tails.sum(1, keepdims=True), 1e-300)), 1)
    return np.concatenate((np.exp(logs), tails))
