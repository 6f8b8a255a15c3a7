"""The number of candidates in a basket, from a round that asked for it in bins, and the part that a padding cuts off.

A bin far out weighs a lot where sums are scaled up: a person with a thousand candidates counts a thousand times. Of
twenty such bins noise alone lifts one above two deviations every few runs, so that no bin is believed by itself.

1. Each law of a grid is compared with all bins at once. The estimate is the mean of all laws, each weighted by its
   posterior probability.
2. No law is quite true: each bin may deviate from it by a share of itself, which is learnt too. By that share the bins
   are moved from the law, and the law divides a bin among the sizes in it.

Nothing in this module sends a question; all steps are post-processing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import hypot, sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..study import Estimate

Values: TypeAlias = NDArray[np.float64]

# The constants were chosen as `local/protocols/adept.md` says, in its section "Constants".
# The least size of each bin. Subset selection makes hardly more noise with 22 bins than with 14, and a person with ten
# items has ninety ordered pairs.
BINS = (0, 1, 2, 3, 4, 5, 6, 8, 11, 15, 21, 29, 41, 65, 92, 130, 184, 260, 368, 520, 736, 1040)

# The least size of each bin if liars must not decide. With few bins a report adds less to each; all sizes from 260 on
# are one bin, in which a report can be only once.
FEW_BINS = (0, 1, 2, 3, 4, 6, 9, 14, 24, 41, 92, 260)

_LARGEST_SIZE = 1500  # the largest size of a law
_MEANS = np.geomspace(0.02, 150, 50)
_SHAPES = np.array([0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.5, 5.0, 10.0, 30.0])
_MEDIANS = np.geomspace(0.5, 150, 30)
_WIDTHS = np.linspace(0.3, 2.4, 8)
# The prior median of the number of candidates in a basket, and the standard deviation of its logarithm.
TYPICAL_SIZE = (2.0, 1.5)
# Priors of the form of a law: the centres of the shape of a negative binomial law and of the width of a log-normal law,
# then the standard deviations of the logarithm of the shape, and of the width.
_FORM_CENTRES, _FORM_DEVIATIONS = (1.0, 0.8), (1.5, 0.4)
_LOG_NORMAL_WEIGHT = 0.2  # of a log-normal law, beside 1 of a negative binomial law
# Long tails that are mixed into each law: share of the people, median, prior weight.
_TAILS = ((0.0, 1, 1.0), (0.1, 10, 0.05), (0.1, 25, 0.05), (0.2, 10, 0.05), (0.2, 25, 0.05), (0.3, 10, 0.05))
_TAIL_WIDTH = 1.0  # standard deviation of the logarithm of the size
_MAX_EMPTY_SHARE = 0.9  # of the people with an empty basket beyond the law's own
_MISFITS = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8)  # the relative deviation of a bin from its law
_OUTLIER_DEVIATIONS = 4  # of noise: a bin farther from its law deviates, for any misfit
_OVERFLOW_DEVIATIONS = 4  # of noise, above 0: less in the last bin is no evidence of sizes beyond all laws
_OVERFLOW_SIZES = 30  # the number of sizes that stand for all sizes of the last bin
EXPOSURES = np.concatenate(([0.0], np.geomspace(1e-7, 60, 240)))
_ACTIVITIES = np.geomspace(1e-4, 1e4, 1000)  # the number of items in a basket, relative to the mean
_SHARING_STEPS, _SHARING_POWER = 60, 0.7  # of the fixed point in `by_length`: the steps, and the power of each
_MIN_LENGTH_SHARE = 1e-6  # of all candidates in baskets: the least share of one length


@dataclass(frozen=True, kw_only=True, eq=False)
class PaddingEffect:
    """The part of candidates that a padding keeps, for each rate of the grid `EXPOSURES`.

    Parameters
    ----------
    kept_frequencies, true_frequencies
        The frequency of a candidate of each rate after the padding, and before it.
    ratio
        true_frequencies / kept_frequencies.
    slope
        The derivative of the true frequency in the kept frequency.
    """

    kept_frequencies: Values
    true_frequencies: Values
    ratio: Values
    slope: Values


@dataclass(frozen=True, kw_only=True, eq=False)
class HeldSizes:
    """The law of the number of candidates in a basket, and its errors.

    Parameters
    ----------
    sizes, chances
        The sizes, from 0, and the probability of each. After the sizes of the laws come the sizes beyond all laws.
    bin_starts
        The position in `sizes` of the start of each bin.
    covariance
        The covariance of the probabilities of the bins: under one law, all bins of a tail deviate together.
    mean_error
        The standard deviation of the mean size, because the last bin has no upper end.
    exposures
        For a part of the candidates: their number in a basket of each size, up to a factor. None if that grows
        as the size.
    """

    sizes: NDArray[np.int64]
    chances: Values
    bin_starts: NDArray[np.int64]
    covariance: Values
    mean_error: float = 0.0
    exposures: Values | None = None

    @classmethod
    def fit(
        cls,
        answer: Estimate,
        bin_starts: tuple[int, ...],
        max_size: int,
        typical_size: tuple[float, float] = TYPICAL_SIZE,
    ) -> HeldSizes:
        """Return the law of sizes, fitted to the bins of a round.

        Parameters
        ----------
        answer
            The estimates of the round: the share of the people in each bin.
        bin_starts
            The least size of each bin.
        max_size
            The number of candidates.
        typical_size
            The prior median of the size, and the standard deviation of its logarithm.
        """
        starts, size_count = np.array(bin_starts), min(max_size, _LARGEST_SIZE) + 1
        law, misfit, covariance = _fit_laws(answer.values, answer.variance, starts, size_count, typical_size)
        expected = np.add.reduceat(law, starts)
        residuals, variance = answer.values - expected, np.maximum(answer.variance, 1e-18)
        # The square of a residual without its noise: by the misfit of all bins, or by its own size if it is an outlier.
        spread = np.maximum(misfit * expected**2, residuals**2 - _OUTLIER_DEVIATIONS**2 * variance)
        weight = spread / (spread + variance)
        moved = np.clip(expected + weight * residuals, 0.0, None)
        moved = moved if moved.sum() > 0 else expected  # of a few reports, all estimates may be negative
        bins = np.repeat(np.arange(len(starts)), np.diff([*starts, size_count]))
        # Where the law has no mass at all, smaller sizes are taken to be likelier.
        shape = law + 1e-12 / np.maximum(np.arange(size_count), 1)
        chances = shape * (moved / np.add.reduceat(shape, starts))[bins]
        covariance = np.diag(weight * answer.variance) + (1 - weight)[:, None] * covariance * (1 - weight)
        fitted_sizes = cls(
            sizes=np.arange(size_count), chances=chances / chances.sum(), bin_starts=starts, covariance=covariance
        )
        if max_size <= _LARGEST_SIZE:
            return fitted_sizes
        return fitted_sizes._spread_overflow(
            answer.values[-1] - _OVERFLOW_DEVIATIONS * sqrt(answer.variance[-1]), max_size
        )

    def _spread_overflow(self, overflow_share: float, max_size: int) -> HeldSizes:
        """Return the law with the share of the people surely in the last bin at any size up to `max_size`.

        No law says which size: all magnitudes count alike, and `mean_error` has their spread. A share that may be noise
        stays with the laws: a few people in a thousand with ten thousand candidates would hold most of all candidates.
        """
        last_start = int(self.bin_starts[-1])
        mass = float(self.chances[last_start:].sum())
        overflow_share = min(overflow_share, mass)
        if overflow_share <= 0:
            return self
        overflow_sizes = np.rint(np.geomspace(last_start, max_size, _OVERFLOW_SIZES)).astype(np.int64)
        chances = self.chances.copy()
        chances[last_start:] *= 1 - overflow_share / mass
        return HeldSizes(
            sizes=np.concatenate((self.sizes, overflow_sizes)),
            chances=np.concatenate((chances, np.full(_OVERFLOW_SIZES, overflow_share / _OVERFLOW_SIZES))),
            bin_starts=self.bin_starts,
            covariance=self.covariance,
            mean_error=overflow_share * float(overflow_sizes.std()),
        )

    def fractions(self) -> Values:
        """Return the fractions of people with 1, 2, 3 … of the candidates."""
        fractions: Values = np.bincount(self.sizes, self.chances).astype(np.float64)[1:]
        return fractions

    def size_quantile(self, share: float) -> int:
        """Return the least size, 1 or more, that the baskets of a share of the people do not exceed."""
        reaches_share = np.cumsum(self.chances) >= share * float(self.chances.sum()) - 1e-12
        return max(1, int(self.sizes[np.argmax(reaches_share)]))

    def correction(self, pad: int) -> float:
        """Return the factor of the sum of all estimates for the part that a padding to `pad` cuts off (A5, A6)."""
        held_counts = self._exposures * self.chances
        kept_frequencies = float((held_counts * _kept_shares(self.sizes, pad)).sum())
        return float(held_counts.sum()) / kept_frequencies if kept_frequencies > 0 else 1.0

    def doubt(self, pad: int) -> float:
        """Return the relative standard deviation of the correction.

        The correction is a ratio of two sums over the bins: by the delta method, Var(log ratio) = g' C g with the
        gradient g of its logarithm and the covariance C of the bins.
        """
        bin_masses = np.maximum(np.add.reduceat(self.chances, self.bin_starts), 1e-300)
        bin_means = np.add.reduceat(self.sizes * self.chances, self.bin_starts) / bin_masses
        kept_means = np.add.reduceat(np.minimum(self.sizes, pad) * self.chances, self.bin_starts) / bin_masses
        total, kept_total = float((bin_means * bin_masses).sum()), float((kept_means * bin_masses).sum())
        if kept_total <= 0:
            return 1.0
        gradient = bin_means / total - kept_means / kept_total
        deviation = sqrt(max(float(gradient @ self.covariance @ gradient), 0.0))
        return min(hypot(deviation, self.mean_error / total), 1.0)

    def restore_frequencies(self, values: Values, pad: int) -> tuple[Values, Values]:
        """Return estimates with the part that the padding cuts off given back, and the factors of their noise.

        A candidate of rate x is taken to be in a basket of size c with the probability 1 - exp(-x c). A rare candidate
        comes in proportion to c and loses the average part of all candidates; a frequent candidate is in small
        baskets as well and loses less. The frequency after the padding determines x, and x the frequency before it.
        """
        slope = np.interp(values, self.padding_effect(pad).kept_frequencies, self.padding_effect(pad).slope)
        # The slope falls below 1 for a candidate in nearly each basket; its noise is not taken to shrink for that.
        return values * self.ratio(values, pad), np.maximum(slope, 1.0)

    def ratio(self, values: Values, pad: int) -> Values:
        """Return the factor that gives back to each estimate the part that the padding cuts off."""
        return np.interp(values, self.padding_effect(pad).kept_frequencies, self.padding_effect(pad).ratio)

    def ratio_at(self, frequency: float, pad: int) -> float:
        """Return the factor for the estimate of a candidate with the given true frequency."""
        return float(np.interp(frequency, self.padding_effect(pad).true_frequencies, self.padding_effect(pad).ratio))

    def error_share(self, pad: int, frequencies: Values) -> Values:
        """Return the share of an error of the correction in the estimate of a candidate of each true frequency.

        Only the part that was given back has the error. A rare candidate has the whole error of the correction, and a
        frequent candidate, with less cut off, has a smaller share.
        """
        effect = self.padding_effect(pad)
        largest_share = 1 - 1 / effect.ratio[0]
        return np.asarray(
            (1 - 1 / np.interp(frequencies, effect.true_frequencies, effect.ratio)) / largest_share
            if largest_share > 0
            else np.ones(len(frequencies))
        )

    def padding_effect(self, pad: int) -> PaddingEffect:
        """Return the part of candidates of each rate that a padding keeps."""
        if pad not in self._padding_effects:
            self._padding_effects[pad] = self._compute_padding_effect(pad)
        return self._padding_effects[pad]

    @cached_property
    def _padding_effects(self) -> dict[int, PaddingEffect]:
        """The computed effects, by padding."""
        return {}

    def _compute_padding_effect(self, pad: int) -> PaddingEffect:
        kept_frequencies, true_frequencies = (
            self._joint_chances @ _kept_shares(self.sizes, pad),
            self._joint_chances.sum(1),
        )
        if kept_frequencies[-1] <= 0:
            return PaddingEffect(
                kept_frequencies=kept_frequencies,
                true_frequencies=true_frequencies,
                ratio=np.ones(len(kept_frequencies)),
                slope=np.ones(len(kept_frequencies)),
            )
        # At the rate 0 both are 0: their ratio is its limit, the correction of all candidates.
        rare_ratio = self.correction(pad)
        ratio = np.concatenate(([rare_ratio], true_frequencies[1:] / np.maximum(kept_frequencies[1:], 1e-300)))
        steps = np.maximum(np.diff(kept_frequencies), 1e-300)
        slope = np.minimum(np.concatenate(([rare_ratio], np.diff(true_frequencies) / steps)), ratio)
        return PaddingEffect(
            kept_frequencies=kept_frequencies, true_frequencies=true_frequencies, ratio=ratio, slope=slope
        )

    @cached_property
    def _joint_chances(self) -> Values:
        """The probability of each size together with a candidate of each rate in the basket; one row per rate."""
        return np.asarray(-np.expm1(-EXPOSURES[:, None] * self._exposures) * self.chances)

    @property
    def _exposures(self) -> Values:
        return self.sizes.astype(np.float64) if self.exposures is None else self.exposures

    def by_length(self, expected_held: Mapping[int, float]) -> dict[int, HeldSizes]:
        """Return the law for the candidates of each length, given the expected number of each length in a basket.

        A person with s times as many items as other people has about s^2 times as many pairs. So of pairs that are
        asked for beside items, a padding cuts off more than of the items: pairs are in the largest baskets.
        """
        sizes, mean = self.sizes.astype(np.float64), float(self.sizes @ self.chances)
        lengths, sums = np.array([*expected_held]), np.array([*expected_held.values()])
        if len(lengths) < 2 or mean <= 0 or sums.sum() <= 0:
            return dict.fromkeys(expected_held, self)
        shares = np.maximum(sums / sums.sum(), _MIN_LENGTH_SHARE)
        # Candidates of length l at the activity s are factor_l s^l. A fixed point finds factors that fit the shares;
        # its power below 1 keeps the steps from swinging between two lengths.
        powers, factors = _ACTIVITIES ** lengths[:, None], shares.copy()
        for _ in range(_SHARING_STEPS):
            totals = factors @ powers
            activities = np.exp(np.interp(np.log(np.maximum(sizes, 0.5) / mean), np.log(totals), np.log(_ACTIVITIES)))
            held_counts = factors[:, None] * activities ** lengths[:, None]
            held_counts *= sizes / held_counts.sum(0)
            factors = factors * (shares * mean / np.maximum(held_counts @ self.chances, 1e-300)) ** _SHARING_POWER
        held_counts *= (mean / np.maximum(held_counts @ self.chances, 1e-300))[:, None]
        return {length: replace(self, exposures=row) for length, row in zip(expected_held, held_counts, strict=True)}


def _kept_shares(sizes: NDArray[np.int64], pad: int) -> Values:
    """Return the part of a basket of each size that a padding keeps."""
    return np.asarray(np.minimum(1.0, pad / np.maximum(sizes, 1)))


def _fit_laws(
    shares: Values,
    variance: Values,
    bin_starts: NDArray[np.int64],
    size_count: int,
    typical_size: tuple[float, float],
) -> tuple[Values, float, Values]:
    """Return the posterior mean of the laws, the mean square misfit of the bins, and the covariance of the bins.

    Each law of the grid is weighted by its prior and by its likelihood for the bins.
    """
    laws, log_priors, centres = _make_laws()
    log_priors = log_priors - (np.log(centres / typical_size[0]) / typical_size[1]) ** 2 / 2
    laws = laws[:, :size_count] / np.maximum(laws[:, :size_count].sum(1, keepdims=True), 1e-300)
    tails = np.array([share * _make_tail(median, size_count) for share, median, _ in _TAILS])
    law_shares = 1 - tails.sum(1)
    binned = law_shares[:, None, None] * np.add.reduceat(laws, bin_starts, axis=1)
    binned = binned + np.add.reduceat(tails, bin_starts, axis=1)[:, None]
    # (1 - z) (law + tail) + z empty, for each law and each tail: the z of least squares has a closed form.
    direction = np.eye(1, len(bin_starts)) - binned
    best_z = ((shares - binned) * direction).sum(-1) / np.maximum((direction**2).sum(-1), 1e-300)
    empty_shares = np.clip(best_z, 0.0, _MAX_EMPTY_SHARE)
    grid = binned + empty_shares[..., None] * direction
    squares, noise = (shares - grid) ** 2, np.maximum(variance, 1e-18)
    prior = np.log([weight for _, _, weight in _TAILS])[:, None] + log_priors
    logs = []
    for misfit in _MISFITS:
        total = noise + (misfit * grid) ** 2
        logs.append(prior - (squares / total + np.log(total)).sum(-1) / 2)
    # One axis each for misfits, tails and laws.
    posterior = np.exp(np.array(logs) - np.max(logs))
    posterior /= posterior.sum()
    weights = posterior.sum(0)
    filled_weights = weights * (1 - empty_shares)
    law = (filled_weights * law_shares[:, None]).sum(0) @ laws + filled_weights.sum(1) @ tails
    law[0] += (weights * empty_shares).sum()
    deviations = (grid - np.add.reduceat(law, bin_starts)).reshape(-1, len(bin_starts))
    mean_square_misfit = float(posterior.sum((1, 2)) @ np.square(_MISFITS))
    return law, mean_square_misfit, (deviations * weights.reshape(-1, 1)).T @ deviations


def _make_tail(median: float, size_count: int) -> Values:
    """Return the log-normal law of a long tail."""
    sizes = np.arange(1, size_count)
    law = np.concatenate(([0.0], np.exp(-((np.log(sizes / median) / _TAIL_WIDTH) ** 2) / 2) / sizes))
    return np.asarray(law / max(law.sum(), 1e-300))


@lru_cache(maxsize=1)
def _make_laws() -> tuple[Values, Values, Values]:
    """Return the laws of sizes, one per row: negative binomial laws, then log-normal laws.

    With each law comes the logarithm of the prior probability of its form, up to a constant, and its mean or median.
    """
    sizes = np.arange(1, _LARGEST_SIZE + 1)
    mean, shape = (axis.ravel()[:, None] for axis in np.meshgrid(_MEANS, _SHAPES))
    odds = mean / (mean + shape)
    # Ratios of neighbouring probabilities: P(c) / P(c - 1) = odds (c - 1 + shape) / c.
    steps = np.log((sizes - 1 + shape) / sizes) + np.log(odds)
    logs = shape * np.log1p(-odds) + np.concatenate((np.zeros((len(mean), 1)), np.cumsum(steps, 1)), 1)
    median, width = (axis.ravel()[:, None] for axis in np.meshgrid(_MEDIANS, _WIDTHS))
    tails = np.exp(-(np.log(sizes / median) ** 2) / (2 * width**2)) / sizes
    tails = np.concatenate((np.zeros((len(tails), 1)), tails / np.maximum(tails.sum(1, keepdims=True), 1e-300)), 1)
    (shape_centre, width_centre), deviations = _FORM_CENTRES, _FORM_DEVIATIONS
    shape_scores = np.log(shape / shape_centre) / deviations[0]
    width_scores = (width - width_centre) / deviations[1]
    log_priors = np.concatenate((-(shape_scores**2) / 2, np.log(_LOG_NORMAL_WEIGHT) - width_scores**2 / 2))
    return np.concatenate((np.exp(logs), tails)), log_priors.ravel(), np.concatenate((mean, median)).ravel()
