"""The prior of itemsets around a guess, learnt from the estimates themselves, and the estimates shrunk to it.

An itemset is either about as frequent as its parts suggest (the core) or anything up to the limit that its rarest part
sets (the slab): most pairs of items have little to do with one another, and a few come together nearly always. One law
for both kinds would pull the few down with the many.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._beliefs import Belief, Evidence, Values, log_scaled_cdf, mix_normals

_UNMEASURED_VARIANCE = 1e6  # stands for infinity, with which densities would be no numbers
# Arithmetic alone: below the square of the frequency of one person among ten million, so that no quotient is infinite.
_MIN_CORE_VARIANCE = 1e-14
_MIN_NOISE = 1e-18
_MIN_SLAB_MEAN = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class ItemsetGuess:
    """The frequency of itemsets that their parts suggest.

    Parameters
    ----------
    means, variance
        The frequency if members were independent, and its variance from the noise of the parts.
    cap, floor
        The largest and the smallest possible frequency; 0 is the smallest where no floor is given.
    """

    means: Values
    variance: Values
    cap: Values
    floor: Values | None = None

    @property
    def floor_or_zero(self) -> Values:
        """The floor of each itemset."""
        return np.zeros(len(self.means)) if self.floor is None else self.floor

    def take(self, positions: NDArray[Any]) -> ItemsetGuess:
        """Return the guess of the itemsets at some positions."""
        floor = None if self.floor is None else self.floor[positions]
        return ItemsetGuess(
            means=self.means[positions], variance=self.variance[positions], cap=self.cap[positions], floor=floor
        )


class _Parts(NamedTuple):
    """Core and slab after an estimate: the logarithms of their weights, and their centres and variances."""

    core: Values
    slab: Values
    core_centre: Values  # before the estimate
    core_variance: Values  # before the estimate
    noise: Values  # of the estimate, if the itemset is of the core
    slab_centre: Values  # after the estimate; the slab is cut at the floor
    slab_variance: Values  # after the estimate


@dataclass(frozen=True)
class ItemsetPrior:
    """The prior of itemsets around a guess g: (1 - share) Normal(slope g, spread (slope g)^2) + share Exp(reach cap).

    Both g and the cap are above the floor, and so is the frequency: where nearly each person holds every member, nearly
    each person holds the whole set, and only the number of exceptions is uncertain.

    Parameters
    ----------
    slope, spread
        Of the core: the ratio of the frequency to the guess, and the relative variance around it.
    share, reach
        Of the slab: its share of the sets, and their mean as a part of the frequency of their rarest part.
    """

    slope: float
    spread: float
    share: float
    reach: float

    def posterior(self, evidence: Evidence, guess: ItemsetGuess) -> Belief:
        """Return the posterior of the frequency of each set."""
        parts = self._parts(evidence, guess)
        # The larger of two logarithms is taken out first: exp would underflow for both of an unlikely estimate.
        weights = np.exp(np.stack((parts.core, parts.slab)) - np.maximum(parts.core, parts.slab))
        weights /= weights.sum(0)
        pull = parts.core_variance / (parts.core_variance + parts.noise)
        centres = np.stack((parts.core_centre + pull * (evidence.values - parts.core_centre), parts.slab_centre))
        spreads = np.sqrt(np.stack((pull * parts.noise, parts.slab_variance)))
        return mix_normals(weights, centres, spreads, np.array([False, True]), guess.floor_or_zero)

    def likelihood(self, evidence: Evidence, guess: ItemsetGuess, multiplicities: Values) -> float:
        """Return the log likelihood of measured sets, each counted with its multiplicity."""
        parts = self._parts(evidence, guess)
        return float((multiplicities * np.logaddexp(parts.core, parts.slab)).sum())

    def _parts(self, evidence: Evidence, guess: ItemsetGuess) -> _Parts:
        """Return the weights and the centres of core and slab, given the evidence about each set."""
        values, plain_noise = evidence.values, np.clip(evidence.noise, _MIN_NOISE, _UNMEASURED_VARIANCE)
        floor = guess.floor_or_zero
        core_excess = self.slope * (guess.means - floor)
        core_centre = floor + core_excess
        # The noise of an estimate depends on the true frequency, which in the core is about the guess.
        noise = np.clip(evidence.noise_at(core_centre), _MIN_NOISE, _UNMEASURED_VARIANCE)
        noise = noise + evidence.relative * core_centre**2
        core_variance = self.spread * core_excess**2 + self.slope**2 * guess.variance + _MIN_CORE_VARIANCE
        total = core_variance + noise
        core = np.log1p(-self.share) - (values - core_centre) ** 2 / (2 * total) - np.log(2 * np.pi * total) / 2
        slab_mean = np.maximum(self.reach * (guess.cap - floor), _MIN_SLAB_MEAN)
        # In the slab a set is about as frequent as its estimate, up to its cap.
        slab_variance = plain_noise + evidence.relative * np.clip(values, 0.0, guess.cap) ** 2
        excess = values - floor
        # Exponential prior times normal error: a normal law moved by variance / mean, cut at the floor.
        moved_excess = excess - slab_variance / slab_mean
        z = moved_excess / np.sqrt(slab_variance)
        tail = log_scaled_cdf(-np.abs(z))
        # Each side of the floor in the form in which nothing cancels.
        below = tail - excess**2 / (2 * slab_variance)
        above = np.log1p(-np.exp(tail - z**2 / 2)) + slab_variance / (2 * slab_mean**2) - excess / slab_mean
        slab = np.log(self.share / slab_mean) + np.where(z < 0, below, above)
        return _Parts(core, slab, core_centre, core_variance, noise, floor + moved_excess, slab_variance)


# The prior of pairs before any pair was measured.
PAIRS = ItemsetPrior(slope=1.0, spread=0.5, share=0.1, reach=0.15)
# The prior of larger sets, for which the guess is nearer to the truth.
LARGER = ItemsetPrior(slope=1.0, spread=0.3, share=0.1, reach=0.3)
# The prior of relations between few items. The most reliable of them are far from the guess.
RELATIONS = ItemsetPrior(slope=1.0, spread=0.5, share=0.1, reach=0.3)
# Chosen as `adept.md` says, in "Constants". Four numbers are fitted, in a time linear in the sets.
_MAX_FITTED_SETS = 4000
# The steps of round r are .8 * .7^(r-1): after 7 rounds a number has moved by up to 2.4, and its last step is below .1.
_SEARCH_ROUNDS = 7
_FIRST_STEP, _STEP_SHRINKAGE = 0.8, 0.7  # the first step of a number, and the factor of a step from round to round
# Standard deviations of the logarithms of slope, spread, odds of the slab, and reach, around their defaults.
_LOG_SPREADS = (0.3, 1.0, 1.0, 0.7)
# The deviations for relations. A slab has a long tail: a reach that fits its many small members would pull down the few
# large members, so the reach may move the least.
_RELATION_LOG_SPREADS = (0.7, 1.4, 1.0, 0.3)
# Where next to no noise is left, all numbers of relations may be far from their defaults, and one search ends too soon.
_RELATION_SEARCHES = 6
_CURVATURE_STEP = 0.2  # of a logarithm: the step of the finite differences of score and posterior


class _FittingSample(NamedTuple):
    """Measured sets to learn a prior from: their multiplicities, and the default prior with its deviations."""

    default: ItemsetPrior
    log_spreads: tuple[float, ...]
    evidence: Evidence
    guess: ItemsetGuess
    multiplicities: Values

    @classmethod
    def select(
        cls, default: ItemsetPrior, log_spreads: tuple[float, ...], evidence: Evidence, guess: ItemsetGuess
    ) -> _FittingSample:
        """Return the measured sets with the largest guesses, and a systematic sample of all further sets."""
        measured_rows = np.flatnonzero(np.isfinite(evidence.noise))
        by_guess = measured_rows[np.argsort(-guess.means[measured_rows], kind="stable")]
        half = _MAX_FITTED_SETS // 2
        tail = by_guess[half:]
        step = max(1, -(-len(tail) // half))
        sampled_rows = np.concatenate((by_guess[:half], tail[::step]))
        multiplicities = np.concatenate((np.ones(len(by_guess[:half])), np.full(len(tail[::step]), float(step))))
        return cls(default, log_spreads, evidence.take(sampled_rows), guess.take(sampled_rows), multiplicities)

    def score(self, parameters: Values) -> float:
        """Return the log posterior of the logarithms of a prior's parameters, up to a constant."""
        deviations = (parameters - _parameters_of(self.default)) / self.log_spreads
        likelihood = _prior_from(parameters).likelihood(self.evidence, self.guess, self.multiplicities)
        return likelihood - float((deviations**2).sum()) / 2


def fit_prior(default: ItemsetPrior, evidence: Evidence, guess: ItemsetGuess) -> ItemsetPrior:
    """Return the prior of largest posterior, given the measured sets and the default.

    One parameter at a time is moved up or down, by steps that shrink: equal estimates always give equal priors, and
    the time does not depend on their values.
    """
    return _search_parameters(_FittingSample.select(default, _LOG_SPREADS, evidence, guess))


def _search_parameters(sample: _FittingSample, searches: int = 1) -> ItemsetPrior:
    """Return the prior with the largest score; each further search begins at the end of the search before."""
    if not len(sample.multiplicities):
        return sample.default
    parameters = _parameters_of(sample.default)
    best_score = sample.score(parameters)
    for _ in range(searches):
        score_before, width = best_score, _FIRST_STEP
        for _ in range(_SEARCH_ROUNDS):
            for position in range(len(parameters)):
                for sign in (1.0, -1.0):
                    moved = parameters.copy()
                    moved[position] += sign * width
                    moved_score = sample.score(moved)
                    if moved_score > best_score:
                        best_score, parameters = moved_score, moved
                        break
            width *= _STEP_SHRINKAGE
        if best_score == score_before:
            break
    return _prior_from(parameters)


def shrink_estimates(evidence: Evidence, guess: ItemsetGuess) -> tuple[Values, Values]:
    """Return the posterior mean of each relation under the prior learnt from them all, and its variance.

    The variance has the uncertainty of the prior's parameters in it (the delta method): for each parameter, the squared
    derivative of the mean, over the curvature of the score. Far from its maximum the score need not curve; then the
    parameter has the variance that it had before the data.
    """
    sample = _FittingSample.select(RELATIONS, _RELATION_LOG_SPREADS, evidence, guess)
    prior = _search_parameters(sample, _RELATION_SEARCHES)
    belief = prior.posterior(evidence, guess)
    parameters, variance = _parameters_of(prior), belief.variance
    best_score = sample.score(parameters)
    for position, log_spread in enumerate(_RELATION_LOG_SPREADS):
        step = np.zeros(len(parameters))
        step[position] = _CURVATURE_STEP
        curvature = (
            2 * best_score - sample.score(parameters + step) - sample.score(parameters - step)
        ) / _CURVATURE_STEP**2
        upper, lower = (_prior_from(parameters + sign * step).posterior(evidence, guess).means for sign in (1, -1))
        slope = (upper - lower) / (2 * _CURVATURE_STEP)
        variance = variance + slope**2 / max(curvature, 1 / log_spread**2)
    return belief.means, variance


def _parameters_of(prior: ItemsetPrior) -> Values:
    """Return the logarithms of the parameters; of the share, the logarithm of the odds."""
    return np.asarray(np.log([prior.slope, prior.spread, prior.share / (1 - prior.share), prior.reach]))


def _prior_from(parameters: Values) -> ItemsetPrior:
    """Return the prior with the given logarithms of parameters."""
    slope, spread, odds, reach = np.exp(parameters).tolist()
    # A mean above the cap would say nothing: no set is more frequent than its rarest part.
    return ItemsetPrior(slope, spread, odds / (1 + odds), min(reach, 1.0))
