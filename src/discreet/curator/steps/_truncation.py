"""Shared parts of the mechanisms of Zeng, Naughton and Cai: basket sizes, cut lengths, and the loss by cutting.

All inputs are released or public, so this module charges nothing: the histogram of sizes has its noise already.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb, erfc, exp, expm1, log, pi, sqrt
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from ...checks import is_whole
from ...errors import MisuseError
from ...exact import Supports, Truncation
from ...privacy import Noisy, exact
from ...results import Itemsets
from .. import Problem

F64: TypeAlias = NDArray[np.float64]
I64: TypeAlias = NDArray[np.int64]
Keep: TypeAlias = Literal["none", "uniform", "size-biased", "root"]
Bound: TypeAlias = Literal["degrees", "binomial"]

CITATION = "C. Zeng, J. F. Naughton, J.-Y. Cai. On differentially private frequent itemset mining. VLDB 2012."
SIZES = "counting the sizes of baskets"

# The sizes of baskets take at most an epsilon of 0.05 and at most a tenth of the share of a step (paper, algorithm 2).
_MAX_SIZE_EPSILON = Fraction(1, 20)
_SIZE_SHARE = Fraction(1, 10)
# The noise of tail sums grows with the number of sizes; thousands of sizes would have more noise than people.
_MAX_SIZES = 10_000
# Two-sided 95 % point of the standard normal distribution.
_NORMAL_95 = 1.96


def size_share(problem: Problem, share: Fraction) -> Fraction:
    """Return the part of a share that counts basket sizes: a tenth, at most an epsilon of 0.05 (algorithm 2).

    Under zCDP the shares are of rho, and the part is the tenth.
    """
    return min(share * _SIZE_SHARE, _MAX_SIZE_EPSILON / problem.epsilon) if problem.epsilon else share * _SIZE_SHARE


@dataclass(frozen=True, eq=False)
class SizeHistogram:
    """The number of people per basket size: a noisy histogram and its denoised estimate (C9, C13).

    `people[h]` is the estimate for size h, from 0, never negative. With more `items` than counted sizes, the last size
    includes all larger baskets.
    """

    noisy: Noisy
    people: F64
    items: int

    @classmethod
    def of(cls, noisy: Noisy, items: int) -> SizeHistogram:
        """Fit the cumulative numbers of people by a sequence that never falls, as the true sequence.

        1. Beyond the first size with a tail within one deviation of its noise, the estimate is 0: each false person
        would add the items of a large basket.
        2. The limit moves up to the last run of 1, 2, 4 or 8 sizes that exceeds its noise by five deviations.
        """
        values = noisy.values[1:].astype(np.float64)
        people_up_to = np.concatenate((np.zeros(1), np.cumsum(values)))
        is_unclear = people_up_to[-1] - people_up_to[:-1] < noisy.deviation * np.sqrt(np.arange(len(values), 0, -1))
        clear_sizes = int(np.argmax(is_unclear)) if is_unclear.any() else len(values)
        for width in (1, 2, 4, 8):
            # A wide run must start late: a run from the first sizes would be clear by its first sizes alone.
            first_start = 0 if width == 1 else 3 * width
            clear_starts = np.flatnonzero(
                people_up_to[first_start + width :] - people_up_to[first_start:-width]
                > 5 * noisy.deviation * sqrt(width)
            )
            clear_sizes = max(
                clear_sizes, int(clear_starts.max(initial=-1 - first_start - width)) + first_start + width
            )
        people = np.zeros(len(values) + 1)
        people[0] = max(int(noisy.values[0]), 0)
        people[1 : clear_sizes + 1] = np.diff(np.maximum(fit_rising(np.cumsum(values[:clear_sizes])), 0.0), prepend=0.0)
        return cls(noisy, people, items)

    @property
    def longest(self) -> int:
        """The largest counted size."""
        return len(self.people) - 1

    def covering_length(self, share: Fraction) -> int:
        """Return the smallest size that covers a share of the people with at least one item.

        People without items lose nothing by a cut, so the share leaves them out. The length of an empty histogram is 1.
        """
        people_up_to = np.cumsum(self.people[1:])
        if people_up_to[-1] <= 0:
            return 1
        return 1 + int(np.searchsorted(people_up_to, min(float(share) * people_up_to[-1], people_up_to[-1])))

    def kept_shares(self, size: int, model: Keep) -> F64:
        """Return the share of the people of an itemset that a cut to each length, from 0 to the longest, leaves.

        `uniform`: holders of the itemset have the sizes of all people (equation 7 with C9). `size-biased`: larger
        baskets hold the itemset more often (C10). `root`: the square root of the latter, halfway between it and 1. An
        empty histogram keeps all.
        """
        # Equation 7 weighs sizes by people; C10 weighs them by the number of subsets as well.
        weights = self._weights(size, model)
        total = weights.sum()
        if model == "none" or total <= 0:
            return np.ones(len(weights))
        # A set of `size` items survives the cut of a basket of h items to l with probability C(l, size) / C(h, size)
        # (C9). From a length to the next shorter one, the probability falls by (l + 1 - size) / (l + 1) for all h.
        kept_of_longer = np.zeros(len(weights))
        for length in range(self.longest - 1, size - 1, -1):
            kept_of_longer[length] = (
                (kept_of_longer[length + 1] + weights[length + 1]) * (length + 1 - size) / (length + 1)
            )
        shares: F64 = np.minimum((np.cumsum(weights) + kept_of_longer) / total, 1.0)
        return np.sqrt(shares) if model == "root" else shares

    def _weights(self, size: int, model: Keep) -> F64:
        """Return the weight of each size: its people, for biased models times its number of subsets of `size` items."""
        sizes = np.arange(len(self.people), dtype=np.float64)
        weights = np.where(sizes >= size, self.people, 0.0)
        if model in ("size-biased", "root"):
            for j in range(size):  # C(h, size) over C(longest, size)
                weights = weights * np.maximum(sizes - j, 0.0) / max(self.longest - j, 1)
        return weights

    def kept_by_size(self, size: int, longest: int) -> F64:
        """Return, per basket size, the probability that a cut to `longest` items keeps `size` given items (C9).

        The last size counts as `items`, the largest possible basket.
        """
        sizes = np.arange(len(self.people), dtype=np.float64)
        sizes[-1] = max(sizes[-1], self.items)
        shares = np.ones(len(sizes))
        for j in range(size):
            shares *= max(longest - j, 0) / np.maximum(sizes - j, 1.0)
        return np.where(sizes <= max(longest, size - 1), 1.0, shares)

    def interval(self, noisy: Noisy, kept_by_size: F64) -> tuple[F64, F64]:
        """Return a 95 % interval for the true counts, given counts in cut baskets.

        A cut only loses people, so noise alone decides the lower end. The upper end supposes that the holders have the
        largest baskets, which lose most. It takes as many holders as the histogram allows, plus two deviations, with
        the lowest noise and the largest loss by chance.
        """
        margin = noisy.margin()
        # A cut never adds people, so the noise margin alone bounds the count from below.
        low = (noisy.values - margin).astype(np.float64)
        cut_sizes = np.flatnonzero(kept_by_size < 1)[::-1]  # the longest first
        values = self.noisy.values[cut_sizes].astype(np.float64)
        people_beyond = np.maximum(np.cumsum(values), 0) + 2 * self.noisy.deviation * np.sqrt(
            np.arange(1, len(cut_sizes) + 1)
        )
        people = np.diff(np.maximum.accumulate(people_beyond), prepend=0.0)
        cut_counts = np.maximum(noisy.values, 0).astype(np.float64)
        # Of a mean number of kept people, chance loses at most about its root, and at most the root of the binomial
        # variances.
        chance_variance = _NORMAL_95**2 * float(
            (people * kept_by_size[cut_sizes] * (1 - kept_by_size[cut_sizes])).sum()
        )
        half_square = _NORMAL_95**2 / 2
        chance_loss = np.minimum(
            np.sqrt(margin**2 + chance_variance),
            half_square + np.sqrt(half_square**2 + 2 * half_square * cut_counts + margin**2),
        )
        mean_counts = np.maximum(noisy.values + chance_loss, 0.0)
        lost_people = np.concatenate((np.zeros(1), np.cumsum(people * (1 - kept_by_size[cut_sizes]))))
        kept_people = np.concatenate((np.zeros(1), np.cumsum(people * kept_by_size[cut_sizes])))
        first_kept = int(np.flatnonzero(kept_people == 0)[-1])
        return low, mean_counts + np.interp(mean_counts, kept_people[first_kept:], lost_people[first_kept:])


def fit_rising(values: F64) -> F64:
    """Return the nearest sequence in least squares that never falls (pool adjacent violators)."""
    means: list[float] = []
    widths: list[int] = []
    for value in values.tolist():
        mean, width = value, 1
        # A mean that does not exceed its predecessor violates the order: the two blocks merge.
        while means and means[-1] >= mean:
            last_mean, last_width = means.pop(), widths.pop()
            mean, width = (mean * width + last_mean * last_width) / (width + last_width), width + last_width
        means.append(mean)
        widths.append(width)
    return np.repeat(np.array(means), widths)


@dataclass(frozen=True, eq=False)
class BinomialSupports(Supports):
    """Supports with the sensitivity that the paper prints: C(longest, size), or the number of itemsets if smaller."""

    @cached_property
    def l1_sensitivity(self) -> int:
        """The number of itemsets of the query that the largest cut basket may hold."""
        sizes, counts_per_size = np.unique(self.itemsets.sizes, return_counts=True)
        if self.truncation is None:
            return len(self.itemsets)
        max_size = self.truncation.longest
        return sum(
            min(comb(max_size, size), itemset_count)
            for size, itemset_count in zip(sizes.tolist(), counts_per_size.tolist(), strict=True)
        )


def supports(bound: Bound, itemsets: Itemsets, truncation: Truncation) -> Supports:
    """Return the query for the itemsets in cut baskets, with the selected bound as its sensitivity."""
    return Supports(itemsets, truncation) if bound == "degrees" else BinomialSupports(itemsets, truncation)


def bound_basket_supports(codes: NDArray[np.int32], size: int, max_length: int, bound: Bound) -> F64:
    """Return the largest number of the itemsets in one basket, cut to each length from 0 to `max_length`.

    The numbers agree with the sensitivities of the queries, for all lengths at once. `codes` has the itemsets of one
    size end to end.
    """
    itemset_count = len(codes) // size
    degrees = np.sort(np.unique(codes, return_counts=True)[1])[::-1]
    max_supports = np.zeros(max_length + 1)
    for length in range(size, max_length + 1):
        max_support = min(comb(length, size), itemset_count)
        if bound == "degrees":
            item_degrees = np.minimum(degrees[:length], min(comb(length - 1, size - 1), itemset_count))
            max_support = min(max_support, int(item_degrees.sum()) // size)
        max_supports[length] = max_support
    return max_supports


def choose_cut_length(count: int, kept: F64, deviations: F64, min_length: int) -> int:
    """Return the cut length with the least sum of lost count (at the threshold) and noise deviation (C5)."""
    # Lost people at the threshold and noise deviation are both in people, so they add up (C5).
    costs = count * (1 - kept) + deviations
    return min_length + int(np.argmin(costs[min_length:]))


def posterior_means(noisy: Noisy) -> F64:
    """Return the mean of the true counts given the noisy counts, under a flat prior on 0, 1, 2 … (theorem 12).

    The rate is 1 / scale = epsilon / sensitivity (C11). For a large value the mean is the value itself; the correction
    for the cut at 0 has a closed form.
    """
    values = noisy.values.astype(np.float64)
    # With a flat prior on 0, 1, 2 … the posterior mean is never negative.
    positive_values = np.maximum(values, 0.0)
    if noisy.variance == 0:
        return positive_values
    if noisy.scale is None:
        return _mean_nonnegative_normal(values, noisy.deviation)
    rate = 1 / float(noisy.scale)
    q, p = exp(-rate), -expm1(-rate)
    # Sum of d q^d over d > t, divided by the sum of q^|d| over d >= -t: the right side in full, the left side up to t.
    tail_weight = np.exp(-rate * (positive_values + 1))
    correction = tail_weight * ((positive_values + 1) * p + q) / p / (1 + q - tail_weight)
    return np.where(values >= 0, positive_values + correction, q / p)


def _mean_nonnegative_normal(values: F64, deviation: float) -> F64:
    """Return the mean of a normal variable around each value, conditional on being at least 0."""

    def hazard(z: float) -> float:
        if z > 8:
            return 0.0
        if z < -25:
            return -z - 1 / z + 2 / z**3  # the first terms of the series; the remainder is below 1e-6
        return sqrt(2 / pi) * exp(-z * z / 2) / erfc(-z / sqrt(2))

    scaled = (values / deviation).tolist()
    corrections = np.fromiter(map(hazard, scaled), np.float64, len(scaled))
    return np.maximum(values + deviation * corrections, 0.0)


def bound_count_before_cut(counts: F64, doubt: Fraction) -> F64:
    """Return the largest mean count from which random cutting leaves the given count with probability `doubt`.

    Chernoff's bound solved for the mean: m = c + s + sqrt(s^2 + 2 s c) with s = -ln(doubt) (equation 9).
    """
    # Chernoff: P(X <= c) <= exp(-(m - c)^2 / (2 m)) <= doubt, solved for the mean m.
    slack = -log(doubt)
    upper_counts: F64 = counts + slack + np.sqrt(slack**2 + 2 * slack * counts)
    return upper_counts


def check_shares(settings: Any, *names: str) -> None:
    """Convert settings into exact numbers in (0, 1]; refuse other values."""
    for name in names:
        value = exact(getattr(settings, name), name)
        if not 0 < value <= 1:
            raise MisuseError(f"{name} lies over 0 and is at most 1; {getattr(settings, name)} was given.")
        object.__setattr__(settings, name, value)


def check_numbers(settings: Any, *names: str) -> None:
    """Refuse settings that are not positive whole numbers, and `longest_size` beyond its limit."""
    for name in names:
        value = getattr(settings, name)
        if not is_whole(value) or value < 1:
            raise MisuseError(f"{name} is a whole number, 1 or more; {value!r} was given.")
        if name == "longest_size" and value > _MAX_SIZES:
            raise MisuseError(f"longest_size is at most {_MAX_SIZES:,}; {value:,} was given.")


def check_choice(name: str, value: Any, choices: Any) -> None:
    """Refuse a setting outside the words of its Literal."""
    words = get_args(choices)
    if value not in words:
        raise MisuseError(f"{name} is {', '.join(map(repr, words[:-1]))} or {words[-1]!r}; {value!r} was given.")
