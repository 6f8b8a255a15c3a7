"""Evidence about frequencies, and the posterior of each frequency: a mixture of normal parts, in closed form.

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

# The number of magnitudes of the law of item frequencies, from 1e-6 to 1: 15 in each decade.
ATOMS = 90
_EM_STEPS = 150  # of expectation maximisation: one number for any data, so that the time is equal too
_BINS_PER_DEVIATION = 20  # estimates in one bin of 1/20 of their noise count as equal when the law is learnt
_NEIGHBOUR_WEIGHT = 0.25  # the part of its weight that a magnitude gives to either neighbour at each step
_BLOCK_LENGTH = 1 << 15  # items in one block: 91 parts of 8 bytes each are 24 MB
# Arithmetic alone: far above the rounding error of a sum of 91 probabilities.
_NEGLIGIBLE = 1e-12
_CUT_DEVIATIONS = 6.0  # a part is cut at 1 where its centre is less than six deviations below 1
_EXPONENTIAL_DEVIATIONS = -30.0  # below this many deviations, a part that is cut at 0 is taken as exponential


def log_scaled_cdf(z: Values) -> Values:
    """Return log Phi(z) + z^2 / 2, with Phi the normal law's distribution function: far below 0 nothing cancels.

    The complementary error function by a Chebyshev fit (Press et al., Numerical Recipes, section 6.2). Its relative
    error is below 1.2e-7 everywhere, so that tails keep their ratio.
    """
    distance = np.abs(z) / np.sqrt(2.0)
    t = 2.0 / (2.0 + distance)
    exponent = np.full_like(t, _ERFC_COEFFICIENTS[-1])
    for coefficient in _ERFC_COEFFICIENTS[-2::-1]:
        exponent = exponent * t + coefficient
    log_tail = np.log(t / 2) + exponent  # of the probability beyond |z|, times exp(z^2 / 2)
    # -0.69 > log(1/2): a tail is at most 1/2, and rounding must not make the logarithm of a negative number.
    log_body = np.log1p(-np.exp(np.minimum(log_tail - distance**2, -0.69))) + distance**2
    return np.asarray(np.where(z < 0, log_tail, log_body))


# The coefficients of `erfcc` in Press et al., Numerical Recipes, section 6.2, from the constant on.
_ERFC_COEFFICIENTS = (
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


@dataclass(frozen=True, eq=False)
class Evidence:
    """Estimates of frequencies with two errors: noise, and an error in proportion to the true frequency.

    The second error is the part that a padding cuts off, which is given back only on average. It grows with the true
    frequency and not with the estimate: an estimate that is large by noise alone is not the less surprising for it.

    Parameters
    ----------
    values
        Estimates of frequencies.
    noise
        The variance of the noise of each estimate, were the estimate true; infinite for a set that was not measured.
    relative
        The relative variance: the variance of the second error over the square of the frequency.
    growth
        The slope of the noise variance in the frequency; it may be negative.
    """

    values: Values
    noise: Values
    relative: Values
    growth: Values

    def noise_at(self, frequencies: Values) -> Values:
        """Return the variance of the noise, if `frequencies` are the true frequencies.

        In a round of few reports, nearly all true, an estimate of 0 has next to no noise and a large estimate
        has much. Taken at the estimate, the noise would make a 0 surer than it can be, and a large estimate pure noise.
        """
        # Estimates beyond 0 and 1 are noise, and so no place to extrapolate the variance to.
        noise_at_zero = self.noise - self.growth * np.clip(self.values, 0.0, 1.0)
        return np.asarray(np.maximum(noise_at_zero + self.growth * frequencies, np.minimum(noise_at_zero, self.noise)))

    @classmethod
    def noisy(cls, values: Values, noise: Values) -> Evidence:
        """Return estimates with noise as their only error."""
        zeros = np.zeros(len(values))
        return cls(values=values, noise=noise, relative=zeros, growth=zeros)

    @classmethod
    def unmeasured(cls, length: int) -> Evidence:
        """Return the evidence about `length` sets of which none was measured."""
        return cls.noisy(np.zeros(length), np.full(length, np.inf))

    @property
    def columns(self) -> tuple[Values, Values, Values, Values]:
        """The four arrays, in the order of the fields."""
        return self.values, self.noise, self.relative, self.growth

    def take(self, positions: NDArray[Any]) -> Evidence:
        """Return the evidence at some positions."""
        return Evidence(*(column[positions] for column in self.columns))

    def put(self, positions: NDArray[Any], replacement: Evidence) -> Evidence:
        """Return a copy with the evidence at some positions replaced."""
        columns = [column.copy() for column in self.columns]
        for column, values in zip(columns, replacement.columns, strict=True):
            column[positions] = values
        return Evidence(*columns)

    def scale(self, factor: Values | float, extra_relative: Values | float = 0.0) -> Evidence:
        """Return the estimates times a factor, with `extra_relative` added to their relative variance."""
        return Evidence(
            values=self.values * factor,
            noise=self.noise * factor**2,
            relative=self.relative + extra_relative * factor**2,
            growth=self.growth * factor,
        )

    def merge(self, newer: Evidence, frequencies: Values) -> Evidence:
        """Return both pieces of evidence as one, each weighted by its precision at true values near `frequencies`."""
        square = np.clip(frequencies, 0.0, 1.0) ** 2
        precision, newer_precision = (
            1 / (evidence.noise_at(frequencies) + evidence.relative * square) for evidence in (self, newer)
        )
        weight = precision / (precision + newer_precision)
        values = weight * self.values + (1 - weight) * newer.values
        growth = weight**2 * self.growth + (1 - weight) ** 2 * newer.growth
        frequencies_in_range = np.clip(values, 0.0, 1.0)
        # A set that was never measured has weight 0 and infinite noise: their product would be no number.
        finite_noise = np.where(np.isfinite(self.noise), self.noise_at(frequencies_in_range), 0.0)
        return Evidence(
            values=values,
            noise=weight**2 * finite_noise + (1 - weight) ** 2 * newer.noise_at(frequencies_in_range),
            relative=weight**2 * self.relative + (1 - weight) ** 2 * newer.relative,
            growth=growth,
        )


@dataclass(frozen=True, eq=False)
class Belief:
    """The posterior of each frequency: its mean, its variance, and the normal parts that it is a mixture of."""

    means: Values
    variance: Values
    weights: Values  # of the normal parts, one part per row
    centres: Values
    spreads: Values  # standard deviations; a part is cut where its centre is far below
    is_cut: NDArray[np.bool_]  # the parts that are cut at the floor; every part is cut at 1
    floor: Values  # the least that each frequency can be

    def take(self, positions: NDArray[Any]) -> Belief:
        """Return the posterior of the frequencies at some positions."""
        parts = (self.weights[:, positions], self.centres[:, positions], self.spreads[:, positions])
        return Belief(self.means[positions], self.variance[positions], *parts, self.is_cut, self.floor[positions])

    def probability_above(self, threshold: float) -> Values:
        """Return the probability that each frequency is above a threshold."""
        tails, tails_above_one = self._tail_masses(threshold), self._masses_above_one
        if tails_above_one is not None:
            masses = 1 - tails_above_one
            # A part with all of its mass above 1 is a point at 1, and 1 is above every threshold.
            tails = np.where(masses > _NEGLIGIBLE, (tails - tails_above_one) / np.maximum(masses, _NEGLIGIBLE), 1.0)
        return np.asarray((self.weights * np.clip(tails, 0.0, 1.0)).sum(0))

    @cached_property
    def _masses_above_one(self) -> Values | None:
        """The mass of each part above 1, where no frequency can be; None if every mass is negligible."""
        tails = self._tail_masses(1.0)
        return tails if float(tails.max(initial=0.0)) > _NEGLIGIBLE else None

    def _tail_masses(self, threshold: float) -> Values:
        """Return the mass of each part above a threshold; for a part that is cut, of its mass above the floor."""
        spreads = np.maximum(self.spreads, 1e-12)
        log_tails = log_scaled_cdf((self.centres - threshold) / spreads)
        logs = log_tails - (self.centres - threshold) ** 2 / (2 * spreads**2)
        centres, spreads, excess = self.centres[self.is_cut] - self.floor, spreads[self.is_cut], threshold - self.floor
        # log Phi(a) - log Phi(b), each with its square taken out: a^2 - b^2 is computed as one product.
        logs[self.is_cut] = (
            log_tails[self.is_cut]
            - log_scaled_cdf(centres / spreads)
            + excess * (2 * centres - excess) / (2 * spreads**2)
        )
        logs[self.is_cut] = np.where(excess > 0, logs[self.is_cut], 0.0)
        return np.asarray(np.exp(np.minimum(logs, 0.0)))


def belief_without_prior(evidence: Evidence) -> Belief:
    """Return the belief without a prior: a normal part around each estimate, as wide as its error."""
    variance = evidence.noise + evidence.relative * np.clip(evidence.values, 0.0, 1.0) ** 2
    weights = np.ones((1, len(evidence.values)))
    return mix_normals(weights, evidence.values[None], np.sqrt(variance)[None], np.zeros(1, bool))


@dataclass(frozen=True, kw_only=True, eq=False)
class ItemLaw:
    """The law of item frequencies: the share of the items near each magnitude."""

    weights: Values
    centres: Values
    spreads: Values

    @classmethod
    def learn(cls, evidence: Evidence) -> ItemLaw:
        """Return the law of largest likelihood for the estimates of all items, by expectation maximisation."""
        centres = np.concatenate(([0.0], np.geomspace(1e-6, 1.0, ATOMS)))
        # Half of the step from one magnitude to the next, so that the parts cover all frequencies between them.
        relative_spread = (centres[2] / centres[1] - 1) / 2
        law = cls(
            weights=np.full(len(centres), 1 / len(centres)), centres=centres, spreads=relative_spread * centres + 1e-9
        )
        # Nearly equal estimates are binned: the time then does not depend on the number of items.
        grid = np.round(evidence.values / np.sqrt(evidence.noise) * _BINS_PER_DEVIATION)
        _, positions, counts = np.unique(grid, return_index=True, return_counts=True)
        likelihoods = np.exp(law._log_likelihoods(evidence.take(positions))).T
        weights = law.weights
        for _ in range(_EM_STEPS):
            totals = likelihoods @ weights
            weights = weights * ((counts / np.maximum(totals, 1e-300)) @ likelihoods) / counts.sum()
            # Without smoothing, the law gathers in a few points, and the posterior becomes too narrow.
            weights[1:] = _smooth_weights(weights[1:])
        weights = weights / weights.sum() if weights.sum() > 0 else law.weights
        return cls(weights=weights, centres=law.centres, spreads=law.spreads)

    @property
    def mean(self) -> float:
        """The mean frequency of an item."""
        return max(float(self.weights @ self.centres), _NEGLIGIBLE)

    def scale(self, factors: Values) -> ItemLaw:
        """Return the law with each magnitude multiplied by its factor."""
        return ItemLaw(weights=self.weights, centres=self.centres * factors, spreads=self.spreads * factors)

    def _noise(self, evidence: Evidence) -> Values:
        """Return the variance of each estimate under each part."""
        return np.asarray(evidence.noise_at(self.centres[:, None]) + evidence.relative * self.centres[:, None] ** 2)

    def _log_likelihoods(self, evidence: Evidence) -> Values:
        """Return the log likelihood of each estimate under each part, up to a constant of the estimate."""
        variances = self.spreads[:, None] ** 2 + self._noise(evidence)
        logs = -((evidence.values - self.centres[:, None]) ** 2) / (2 * variances) - np.log(variances) / 2
        return np.asarray(logs - logs.max(0))

    def posterior(self, evidence: Evidence) -> Belief:
        """Return the posterior of the frequency of each item."""
        logs = np.log(np.maximum(self.weights, 1e-300))[:, None] + self._log_likelihoods(evidence)
        weights = np.exp(logs - logs.max(0))
        weights /= weights.sum(0)
        # Of a normal part with a normal error: the posterior is normal, with the mean weighted by precision.
        noise, prior = self._noise(evidence), self.spreads[:, None] ** 2
        pull = prior / (prior + noise)
        centres = self.centres[:, None] + pull * (evidence.values - self.centres[:, None])
        return mix_normals(weights, centres, np.sqrt(pull * noise), np.zeros(len(weights), bool))

    def posterior_means(self, evidence: Evidence) -> Values:
        """Return the posterior means alone, block by block: memory does not grow with the number of items."""
        positions = np.arange(len(evidence.values))
        blocks = range(0, len(positions), _BLOCK_LENGTH)
        return np.concatenate(
            [self.posterior(evidence.take(positions[start : start + _BLOCK_LENGTH])).means for start in blocks]
        )


def _smooth_weights(weights: Values) -> Values:
    """Return the weights after each gave a part to either neighbour; a part that would leave at an end stays."""
    padded_weights = np.concatenate((weights[:1], weights, weights[-1:]))
    return np.asarray(
        _NEIGHBOUR_WEIGHT * (padded_weights[:-2] + padded_weights[2:])
        + (1 - 2 * _NEIGHBOUR_WEIGHT) * padded_weights[1:-1]
    )


def mix_normals(
    weights: Values, centres: Values, spreads: Values, is_cut: NDArray[np.bool_], floor: Values | None = None
) -> Belief:
    """Return a belief with the mean and variance of a mixture of normal parts, some with a cut at a floor.

    A part without a cut at the floor is cut at 1, where it reaches 1: no frequency is above 1.
    """
    floors = np.zeros(centres.shape[1]) if floor is None else floor
    means, variance = centres, spreads**2
    reaches_one = ~is_cut[:, None] & (1 - centres < _CUT_DEVIATIONS * spreads)
    if reaches_one.any():
        distances, squares = _cut_moments(1 - centres[reaches_one], spreads[reaches_one])
        means, variance = means.copy(), variance.copy()
        means[reaches_one], variance[reaches_one] = 1 - distances, squares
    if is_cut.any():
        excess, squares = _cut_moments(centres - floors, spreads)
        means = np.where(is_cut[:, None], floors + excess, means)
        variance = np.where(is_cut[:, None], squares, variance)
    mean = (weights * means).sum(0)
    # The law of total variance: the variance within the parts, and of their means.
    total_variance = (weights * (variance + (means - mean) ** 2)).sum(0)
    return Belief(mean, total_variance, weights, centres, spreads, is_cut, floors)


def _cut_moments(centres: Values, spreads: Values) -> tuple[Values, Values]:
    """Return the mean and the variance of normal parts that are cut at 0."""
    spreads = np.maximum(spreads, 1e-12)
    z = centres / spreads
    hazard = np.exp(-log_scaled_cdf(z)) / np.sqrt(2 * np.pi)
    # Far below 0 the differences would cancel: the part is exponential there.
    is_exponential = z < _EXPONENTIAL_DEVIATIONS
    tail_means = spreads / np.maximum(-z, 1.0)
    means = np.where(is_exponential, tail_means, centres + spreads * hazard)
    variance = np.where(is_exponential, tail_means**2, spreads**2 * np.maximum(1 - z * hazard - hazard**2, 1e-12))
    return means, variance
