"""What is known of frequencies, and what to believe of them: mixtures of normal parts, in closed form.

Single items follow a law that is learnt as a mixture of narrow normal parts over all magnitudes. The prior of itemsets
stands in `priors`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Values: TypeAlias = NDArray[np.float64]

ATOMS = 90
"""How many magnitudes the law of item frequencies has, from one in a million to all."""
_STEPS = 150  # of expectation maximisation
_FINE = 20  # estimates closer than this part of their noise count as equal when the law is learnt
_TO_NEIGHBOURS = 0.25  # which part of its weight a magnitude gives to either neighbour at every step
_BLOCK = 1 << 15
_NEXT_TO_NOTHING = 1e-12
_NEAR_ALL = 6.0  # how many deviations below 1 a part is that 1 cuts
_FAR = -30.0  # how many deviations below 0 a part that is cut there is exponential


def log_scaled(z: Values) -> Values:
    """Return the logarithm of the normal law's probability below z, plus z^2 / 2: far below 0 nothing cancels.

    The complementary error function by a Chebyshev fit (Press et al., Numerical Recipes, section 6.2), whose relative
    error is below 1.2e-7 everywhere, so that tails keep their ratio.
    """
    away = np.abs(z) / np.sqrt(2.0)
    t = 2.0 / (2.0 + away)
    poly = np.full_like(t, _TAIL[-1])
    for factor in _TAIL[-2::-1]:
        poly = poly * t + factor
    tail = np.log(t / 2) + poly  # of the probability beyond |z|
    above = np.log1p(-np.exp(np.minimum(tail - away**2, -0.69))) + away**2
    return np.asarray(np.where(z < 0, tail, above))


_TAIL = (
    -1.26551223,
    1.00002368,
    0.37409196,
    0.09678418,
    -0.18628806,
    0.27886807,
    -1.13520398,
    1.48851587,
    -0.82215223,
    0.17087277,
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Evidence:
    """Estimates, and how far they are off: by noise, and by a part of the frequency itself.

    The second is what a padding cuts off and is given back only on average. It grows with the true frequency and not
    with the estimate: an estimate that is large by noise alone is not the less surprising for it.

    Parameters
    ----------
    values
        Estimates of frequencies.
    noise
        The variance of their noise, were they true; without end for what was not measured.
    relative
        The relative variance: that of the other error over the square of the frequency.
    growth
        By how much the variance of the noise is larger where the frequency is larger by 1; it may be smaller.
    """

    values: Values
    noise: Values
    relative: Values
    growth: Values

    def noise_at(self, frequencies: Values) -> Values:
        """Return the variance of the noise, were these the true frequencies.

        Where there are few reports and nearly all of them are true, an estimate of 0 has next to no noise and a large
        one much: taken as it is, the one would be surer than it can be, and the other could be nothing but noise.
        """
        none = self.noise - self.growth * np.clip(self.values, 0.0, 1.0)
        return np.asarray(np.maximum(none + self.growth * frequencies, np.minimum(none, self.noise)))

    @classmethod
    def noisy(cls, values: Values, noise: Values) -> Evidence:
        """Return estimates that are off by noise alone."""
        nothing = np.zeros(len(values))
        return cls(values=values, noise=noise, relative=nothing, growth=nothing)

    @classmethod
    def nothing(cls, many: int) -> Evidence:
        """Return what is known of so many that were not measured."""
        return cls.noisy(np.zeros(many), np.full(many, np.inf))

    def take(self, places: NDArray[Any]) -> Evidence:
        """Return that of some."""
        return Evidence(
            values=self.values[places],
            noise=self.noise[places],
            relative=self.relative[places],
            growth=self.growth[places],
        )

    def put(self, places: NDArray[Any], other: Evidence) -> Evidence:
        """Return this with that of some replaced."""
        new = (self.values.copy(), self.noise.copy(), self.relative.copy(), self.growth.copy())
        for into, values in zip(new, (other.values, other.noise, other.relative, other.growth), strict=True):
            into[places] = values
        return Evidence(values=new[0], noise=new[1], relative=new[2], growth=new[3])

    def scaled(self, factor: Values | float, spare: Values | float = 0.0) -> Evidence:
        """Return this times a factor, with something more of relative variance."""
        return Evidence(
            values=self.values * factor,
            noise=self.noise * factor**2,
            relative=self.relative + spare * factor**2,
            growth=self.growth * factor,
        )

    def merged(self, other: Evidence, frequencies: Values) -> Evidence:
        """Return both together, weighed as is best for true values near these frequencies."""
        square = np.clip(frequencies, 0.0, 1.0) ** 2
        mine, others = (1 / (one.noise_at(frequencies) + one.relative * square) for one in (self, other))
        share = mine / (mine + others)
        values = share * self.values + (1 - share) * other.values
        growth = share**2 * self.growth + (1 - share) ** 2 * other.growth
        at = np.clip(values, 0.0, 1.0)
        known = np.where(np.isfinite(self.noise), self.noise_at(at), 0.0)
        return Evidence(
            values=values,
            noise=share**2 * known + (1 - share) ** 2 * other.noise_at(at),
            relative=share**2 * self.relative + (1 - share) ** 2 * other.relative,
            growth=growth,
        )


@dataclass(frozen=True, eq=False)
class Belief:
    """What is believed of frequencies: their means, variances, and a function of chances to be over a threshold."""

    means: Values
    variance: Values
    weights: Values  # of the normal parts, one part per row
    centres: Values
    spreads: Values  # standard deviations; a part is cut where its centre is far below
    cut: NDArray[np.bool_]  # which parts are cut at the floor; all of them are cut at 1
    floor: Values  # below which no frequency is

    def take(self, places: NDArray[Any]) -> Belief:
        """Return that of some."""
        parts = (self.weights[:, places], self.centres[:, places], self.spreads[:, places])
        return Belief(self.means[places], self.variance[places], *parts, self.cut, self.floor[places])

    def over(self, threshold: float) -> Values:
        """Return how likely each frequency is over a threshold."""
        reached, beyond = self._past(threshold), self._beyond
        if beyond is not None:
            left = 1 - beyond
            reached = np.where(left > _NEXT_TO_NOTHING, (reached - beyond) / np.maximum(left, _NEXT_TO_NOTHING), 1.0)
        return np.asarray((self.weights * np.clip(reached, 0.0, 1.0)).sum(0))

    @cached_property
    def _beyond(self) -> Values | None:
        """How much of every part is over 1, where no frequency is; None where that is next to nothing."""
        beyond = self._past(1.0)
        return beyond if float(beyond.max(initial=0.0)) > _NEXT_TO_NOTHING else None

    def _past(self, threshold: float) -> Values:
        """Return how much of each part is over a threshold, of what is over the floor where it is cut there."""
        wide = np.maximum(self.spreads, 1e-12)
        over = log_scaled((self.centres - threshold) / wide)
        logs = over - (self.centres - threshold) ** 2 / (2 * wide**2)
        centres, wide, past = self.centres[self.cut] - self.floor, wide[self.cut], threshold - self.floor
        # Of what is over the floor; the squares of both differ by this alone.
        logs[self.cut] = over[self.cut] - log_scaled(centres / wide) + past * (2 * centres - past) / (2 * wide**2)
        logs[self.cut] = np.where(past > 0, logs[self.cut], 0.0)
        return np.asarray(np.exp(np.minimum(logs, 0.0)))


def as_measured(known: Evidence) -> Belief:
    """Return what to believe where there is no law: each estimate as it is, as far off as it may be."""
    variance = known.noise + known.relative * np.clip(known.values, 0.0, 1.0) ** 2
    one = np.ones((1, len(known.values)))
    return mixed(one, known.values[None], np.sqrt(variance)[None], np.zeros(1, bool))


@dataclass(frozen=True, kw_only=True, eq=False)
class ItemLaw:
    """The law of item frequencies: how many items have about each magnitude."""

    weights: Values
    centres: Values
    spreads: Values

    @classmethod
    def learnt(cls, known: Evidence) -> ItemLaw:
        """Return the law that makes the estimates of all items likeliest."""
        centres = np.concatenate(([0.0], np.geomspace(1e-6, 1.0, ATOMS)))
        apart = (centres[2] / centres[1] - 1) / 2
        law = cls(weights=np.full(len(centres), 1 / len(centres)), centres=centres, spreads=apart * centres + 1e-9)
        # Estimates that are next to equal are taken together: the law costs the same for any number of items.
        grid = np.round(known.values / np.sqrt(known.noise) * _FINE)
        _, at, many = np.unique(grid, return_index=True, return_counts=True)
        likely = np.exp(law._logs(known.take(at))).T
        weights = law.weights
        for _ in range(_STEPS):
            mixed = likely @ weights
            weights = weights * ((many / np.maximum(mixed, 1e-300)) @ likely) / many.sum()
            # Left alone, the law would gather in a few points, and what is believed would be too sure of itself.
            weights[1:] = _smoothed(weights[1:])
        weights = weights / weights.sum() if weights.sum() > 0 else law.weights
        return cls(weights=weights, centres=law.centres, spreads=law.spreads)

    @property
    def mean(self) -> float:
        """How frequent an item is in the mean."""
        return max(float(self.weights @ self.centres), _NEXT_TO_NOTHING)

    def scaled(self, factor: Values) -> ItemLaw:
        """Return the law of frequencies that are so many times as large, one factor for each magnitude."""
        return ItemLaw(weights=self.weights, centres=self.centres * factor, spreads=self.spreads * factor)

    def _noise(self, known: Evidence) -> Values:
        """Return the variance of each estimate under each part."""
        return np.asarray(known.noise_at(self.centres[:, None]) + known.relative * self.centres[:, None] ** 2)

    def _logs(self, known: Evidence) -> Values:
        """Return the log likelihood of each estimate under each part, up to a constant of the estimate."""
        wide = self.spreads[:, None] ** 2 + self._noise(known)
        logs = -((known.values - self.centres[:, None]) ** 2) / (2 * wide) - np.log(wide) / 2
        return np.asarray(logs - logs.max(0))

    def believed(self, known: Evidence) -> Belief:
        """Return what to believe of each item."""
        logs = np.log(np.maximum(self.weights, 1e-300))[:, None] + self._logs(known)
        weights = np.exp(logs - logs.max(0))
        weights /= weights.sum(0)
        noise, prior = self._noise(known), self.spreads[:, None] ** 2
        pull = prior / (prior + noise)
        centres = self.centres[:, None] + pull * (known.values - self.centres[:, None])
        return mixed(weights, centres, np.sqrt(pull * noise), np.zeros(len(weights), bool))

    def expected(self, known: Evidence) -> Values:
        """Return the means alone, block by block: for lists of any length."""
        places = np.arange(len(known.values))
        blocks = range(0, len(places), _BLOCK)
        return np.concatenate([self.believed(known.take(places[at : at + _BLOCK])).means for at in blocks])


def _smoothed(weights: Values) -> Values:
    """Return weights of which each has given a part to either neighbour; at the ends it stays where it is."""
    wide = np.concatenate((weights[:1], weights, weights[-1:]))
    return np.asarray(_TO_NEIGHBOURS * (wide[:-2] + wide[2:]) + (1 - 2 * _TO_NEIGHBOURS) * wide[1:-1])


def mixed(
    weights: Values, centres: Values, spreads: Values, cut: NDArray[np.bool_], floor: Values | None = None
) -> Belief:
    """Return a belief with the mean and variance of a mixture of normal parts, some of them cut at a floor.

    The others are cut at 1, where they reach it: nothing is held by more than everybody.
    """
    low = np.zeros(centres.shape[1]) if floor is None else floor
    means, variance = centres, spreads**2
    near = ~cut[:, None] & (1 - centres < _NEAR_ALL * spreads)
    if near.any():
        below, squares = _cut(1 - centres[near], spreads[near])
        means, variance = means.copy(), variance.copy()
        means[near], variance[near] = 1 - below, squares
    if cut.any():
        over, squares = _cut(centres - low, spreads)
        means = np.where(cut[:, None], low + over, means)
        variance = np.where(cut[:, None], squares, variance)
    mean = (weights * means).sum(0)
    around = (weights * (variance + (means - mean) ** 2)).sum(0)
    return Belief(mean, around, weights, centres, spreads, cut, low)


def _cut(centres: Values, spreads: Values) -> tuple[Values, Values]:
    """Return the mean and variance of normal parts that are cut at 0."""
    spreads = np.maximum(spreads, 1e-12)
    z = centres / spreads
    hazard = np.exp(-log_scaled(z)) / np.sqrt(2 * np.pi)
    # Far below 0 the differences would cancel: the part is exponential there.
    far = z < _FAR
    away = spreads / np.maximum(-z, 1.0)
    means = np.where(far, away, centres + spreads * hazard)
    return means, np.where(far, away**2, spreads**2 * np.maximum(1 - z * hazard - hazard**2, 1e-12))
