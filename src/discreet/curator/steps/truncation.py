"""What the mechanisms of Zeng, Naughton and Cai share: how long baskets are, where to cut them, what cutting costs.

Everything here is made of released numbers and public ones, so nothing here is charged: the histogram of sizes has its
noise already, and the rest is arithmetic on it.
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
from ...exact.query import Supports, Truncation
from ...privacy.budget import exact
from ...privacy.meter import Noisy
from ...results.itemsets import Itemsets
from ..mechanism import Task

F64: TypeAlias = NDArray[np.float64]
I64: TypeAlias = NDArray[np.int64]
Keep: TypeAlias = Literal["none", "uniform", "size-biased", "root"]
Bound: TypeAlias = Literal["degrees", "binomial"]

CITATION = "C. Zeng, J. F. Naughton, J.-Y. Cai. On differentially private frequent itemset mining. VLDB 2012."
SIZES = "counting the sizes of baskets"

# The paper spends at most so much epsilon, and at most so much of a step's budget, on the sizes of baskets.
_SIZING = Fraction(1, 20)
_PART = Fraction(1, 10)
# As noise adds up over the sizes told apart, thousands of them would drown everything.
_SIZES = 10_000
# A normal variable keeps within so many deviations of its mean in 95 of 100 cases.
_DEVIATIONS = 1.96


def sizing(task: Task, share: Fraction) -> Fraction:
    """Return the part of a share that counts sizes: a tenth of it, but no more than an epsilon of 0.05 (algorithm 2).

    Under zCDP the shares are of rho, and the same share is taken there.
    """
    return min(share * _PART, _SIZING / task.epsilon) if task.epsilon else share * _PART


@dataclass(frozen=True, eq=False)
class Spread:
    """How many people hold how many items: a noisy histogram, and what is left of it once noise is taken out (C9, C13).

    `people[h]` is the estimate for size h, from 0 and never negative. Where there are more `items` than sizes told
    apart, the last size stands for all that are longer.
    """

    noisy: Noisy
    people: F64
    items: int

    @classmethod
    def of(cls, noisy: Noisy, items: int) -> Spread:
        """Fit the numbers of people with at most so many items by a sequence that never falls, as the true one.

        Nobody is taken to hold more than a size beyond which no more people are seen than one deviation of the noise
        there: each of them would weigh as much as the items they hold. Unless some sizes beyond it, taken together,
        stand out of the noise by five deviations.
        """
        values = noisy.values[1:].astype(np.float64)
        summed = np.concatenate((np.zeros(1), np.cumsum(values)))
        unclear = summed[-1] - summed[:-1] < noisy.deviation * np.sqrt(np.arange(len(values), 0, -1))
        clear = int(np.argmax(unclear)) if unclear.any() else len(values)
        for width in (1, 2, 4, 8):
            # Only where they are narrow beside their end: a wide run would stand out by its first sizes.
            first = 0 if width == 1 else 3 * width
            standing = np.flatnonzero(
                summed[first + width :] - summed[first:-width] > 5 * noisy.deviation * sqrt(width)
            )
            clear = max(clear, int(standing.max(initial=-1 - first - width)) + first + width)
        people = np.zeros(len(values) + 1)
        people[0] = max(int(noisy.values[0]), 0)
        people[1 : clear + 1] = np.diff(np.maximum(rising(np.cumsum(values[:clear])), 0.0), prepend=0.0)
        return cls(noisy, people, items)

    @property
    def longest(self) -> int:
        """The largest size that is told apart."""
        return len(self.people) - 1

    def covering(self, share: Fraction) -> int:
        """Return the smallest size that so large a share of the people who hold anything does not exceed.

        People who hold nothing do not count: they lose nothing. Where the histogram shows nobody, 1.
        """
        summed = np.cumsum(self.people[1:])
        if summed[-1] <= 0:
            return 1
        return 1 + int(np.searchsorted(summed, min(float(share) * summed[-1], summed[-1])))

    def kept(self, size: int, model: Keep) -> F64:
        """Return for each length, from 0 to the longest, the share of an itemset's people that cutting to it leaves.

        `uniform` has those who hold the itemset spread over sizes like everyone (equation 7 with C9); `size-biased` has
        them hold it more often the more they hold (C10); `root` is the square root of that, halfway between it and 1.
        Where the histogram shows nobody who could hold it, all are kept.
        """
        weights = self._weights(size, model)
        total = weights.sum()
        if model == "none" or total <= 0:
            return np.ones(len(weights))
        # Of a basket of h items cut to l, a set of `size` stays with probability C(l, size) / C(h, size) (C9); from one
        # length to the next shorter one, that falls by the factor (l + 1 - size) / (l + 1) for all h.
        longer = np.zeros(len(weights))
        for length in range(self.longest - 1, size - 1, -1):
            longer[length] = (longer[length + 1] + weights[length + 1]) * (length + 1 - size) / (length + 1)
        shares: F64 = np.minimum((np.cumsum(weights) + longer) / total, 1.0)
        return np.sqrt(shares) if model == "root" else shares

    def _weights(self, size: int, model: Keep) -> F64:
        """Return how much each size weighs: by its people, or also by how many sets of so many items they have."""
        sizes = np.arange(len(self.people), dtype=np.float64)
        weights = np.where(sizes >= size, self.people, 0.0)
        if model in ("size-biased", "root"):
            for j in range(size):  # C(h, size) over C(longest, size)
                weights = weights * np.maximum(sizes - j, 0.0) / max(self.longest - j, 1)
        return weights

    def left(self, size: int, longest: int) -> F64:
        """Return for each size of baskets the share of those who hold a set of so many items that keep it in a cut.

        A random one, that is, to so many items (C9). Whoever holds more than the sizes told apart may hold all items.
        """
        sizes = np.arange(len(self.people), dtype=np.float64)
        sizes[-1] = max(sizes[-1], self.items)
        shares = np.ones(len(sizes))
        for j in range(size):
            shares *= max(longest - j, 0) / np.maximum(sizes - j, 1.0)
        return np.where(sizes <= max(longest, size - 1), 1.0, shares)

    def interval(self, noisy: Noisy, left: F64) -> tuple[F64, F64]:
        """Return a 95 % interval for the true counts, given counts in cut baskets and what the cut leaves.

        Cutting only loses people, so noise alone decides how low a count may be. It is highest if those who hold the
        itemset are the people with the longest baskets, of whom the cut leaves fewest: as many of them as the histogram
        has room for, two deviations over what it says, and as are left when the noise is at its lowest and chance has
        cut more than it should.
        """
        margin = noisy.margin()
        low = (noisy.values - margin).astype(np.float64)
        cut = np.flatnonzero(left < 1)[::-1]  # the longest first
        values = self.noisy.values[cut].astype(np.float64)
        beyond = np.maximum(np.cumsum(values), 0) + 2 * self.noisy.deviation * np.sqrt(np.arange(1, len(cut) + 1))
        people = np.diff(np.maximum.accumulate(beyond), prepend=0.0)
        found = np.maximum(noisy.values, 0).astype(np.float64)
        # Of a mean number of people that are left, chance loses about its root, and no more than their variances say.
        spread = _DEVIATIONS**2 * float((people * left[cut] * (1 - left[cut])).sum())
        half = _DEVIATIONS**2 / 2
        chance = np.minimum(np.sqrt(margin**2 + spread), half + np.sqrt(half**2 + 2 * half * found + margin**2))
        means = np.maximum(noisy.values + chance, 0.0)
        lost = np.concatenate((np.zeros(1), np.cumsum(people * (1 - left[cut]))))
        room = np.concatenate((np.zeros(1), np.cumsum(people * left[cut])))
        sure = int(np.flatnonzero(room == 0)[-1])
        return low, means + np.interp(means, room[sure:], lost[sure:])


def rising(values: F64) -> F64:
    """Return the sequence nearest in least squares that never falls: pool adjacent violators."""
    means: list[float] = []
    widths: list[int] = []
    for value in values.tolist():
        mean, width = value, 1
        while means and means[-1] >= mean:
            before, wide = means.pop(), widths.pop()
            mean, width = (mean * width + before * wide) / (width + wide), width + wide
        means.append(mean)
        widths.append(width)
    return np.repeat(np.array(means), widths)


@dataclass(frozen=True, eq=False)
class Loose(Supports):
    """Supports with the bound the paper prints: C(longest, size), or the number of itemsets where that is less."""

    @cached_property
    def l1_sensitivity(self) -> int:
        """As many itemsets as a basket of the longest length has subsets."""
        sizes, many = np.unique(self.itemsets.sizes, return_counts=True)
        if self.truncation is None:
            return len(self.itemsets)
        longest = self.truncation.longest
        return sum(min(comb(longest, size), here) for size, here in zip(sizes.tolist(), many.tolist(), strict=True))


def supports(bound: Bound, itemsets: Itemsets, truncation: Truncation) -> Supports:
    """Return the query for these itemsets in cut baskets, with one bound or the other as its sensitivity."""
    return Supports(itemsets, truncation) if bound == "degrees" else Loose(itemsets, truncation)


def bounds(codes: NDArray[np.int32], size: int, longest: int, bound: Bound) -> F64:
    """Return how many of these itemsets a basket cut to each length, from 0 to the longest, can hold at most.

    The same numbers as the queries find when they are asked, for all lengths at once: `codes` has the itemsets of one
    size end to end.
    """
    many = len(codes) // size
    degrees = np.sort(np.unique(codes, return_counts=True)[1])[::-1]
    found = np.zeros(longest + 1)
    for length in range(size, longest + 1):
        most = min(comb(length, size), many)
        if bound == "degrees":
            each = np.minimum(degrees[:length], min(comb(length - 1, size - 1), many))
            most = min(most, int(each.sum()) // size)
        found[length] = most
    return found


def cut_at(count: int, kept: F64, deviations: F64, least: int) -> int:
    """Return the length to cut to: where what is lost of the threshold and what is drowned in noise are least (C5)."""
    costs = count * (1 - kept) + deviations
    return least + int(np.argmin(costs[least:]))


def posterior(noisy: Noisy) -> F64:
    """Return the mean of the true counts given the noisy ones, all from 0 on being as likely before (theorem 12).

    The exponent is one over the scale, epsilon over the sensitivity (C11). Away from 0 the mean is the value itself;
    what 0 cuts off is added in closed form.
    """
    values = noisy.values.astype(np.float64)
    above = np.maximum(values, 0.0)
    if noisy.variance == 0:
        return above
    if noisy.scale is None:
        return _mean_normal(values, noisy.deviation)
    rate = 1 / float(noisy.scale)
    q, p = exp(-rate), -expm1(-rate)
    # The sum of d q^d over d > t, over that of q^|d| over d >= -t: the right side whole, the left one up to t.
    tail = np.exp(-rate * (above + 1))
    lifted = tail * ((above + 1) * p + q) / p / (1 + q - tail)
    return np.where(values >= 0, above + lifted, q / p)


def _mean_normal(values: F64, deviation: float) -> F64:
    """Return the mean of a normal variable around each value given that it is not negative."""

    def hazard(z: float) -> float:
        if z > 8:
            return 0.0
        if z < -25:
            return -z - 1 / z + 2 / z**3  # the first terms of the series; the rest is below 1e-6
        return sqrt(2 / pi) * exp(-z * z / 2) / erfc(-z / sqrt(2))

    scaled = (values / deviation).tolist()
    lifted = np.fromiter(map(hazard, scaled), np.float64, len(scaled))
    return np.maximum(values + deviation * lifted, 0.0)


def most_before(counts: F64, doubt: Fraction) -> F64:
    """Return the largest mean from which random cutting still leaves so few, except with probability `doubt`.

    Chernoff's bound solved for the mean (equation 9).
    """
    slack = -log(doubt)
    found: F64 = counts + slack + np.sqrt(slack**2 + 2 * slack * counts)
    return found


def check_shares(given: Any, *names: str) -> None:
    """Turn settings into exact numbers over 0 and up to 1, and refuse others."""
    for name in names:
        value = exact(getattr(given, name), name)
        if not 0 < value <= 1:
            raise MisuseError(f"{name} lies over 0 and is at most 1; {getattr(given, name)} was given.")
        object.__setattr__(given, name, value)


def check_numbers(given: Any, *names: str) -> None:
    """Refuse settings that are not whole numbers over 0, and sizes told apart beyond all use."""
    for name in names:
        value = getattr(given, name)
        if not is_whole(value) or value < 1:
            raise MisuseError(f"{name} is a whole number, 1 or more; {value!r} was given.")
        if name == "longest_size" and value > _SIZES:
            raise MisuseError(f"longest_size is at most {_SIZES:,}; {value:,} was given.")


def check_choice(name: str, value: Any, choices: Any) -> None:
    """Refuse a setting that is none of the words of a Literal."""
    words = get_args(choices)
    if value not in words:
        raise MisuseError(f"{name} is {', '.join(map(repr, words[:-1]))} or {words[-1]!r}; {value!r} was given.")
