"""Choosing some of many candidates by noisy scores: exactly, however many there are and however far apart they lie.

Scores are whole numbers. Candidates with the same score are interchangeable, so they are held as one *tally*: the score
and how many have it. Millions of itemsets have a few hundred distinct counts, and the itemsets below a floor, of which
there may be 10^13, are one tally more that is never listed. Each routine below says in which tally each pick lies;
`members` then names the candidates.

No floating point decides anything: weights and keys are intervals (see `lazy`), and where an interval leaves
a choice open, more random bits are drawn. The proofs are in `select.md`.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cmp_to_key
from itertools import accumulate
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import MisuseError
from . import lazy
from .lazy import Interval, Lazy, Uniform
from .source import Source

_WEIGHT_BITS = 128


@dataclass(frozen=True)
class Tallies:
    """Distinct scores, the largest first, and how many candidates have each."""

    scores: tuple[int, ...]
    many: tuple[int, ...]

    def __post_init__(self) -> None:
        if any(one <= other for one, other in zip(self.scores, self.scores[1:], strict=False)):
            raise MisuseError("The scores of tallies fall and differ.")
        if len(self.scores) != len(self.many) or any(count < 1 for count in self.many):
            raise MisuseError("Each score of tallies has at least one candidate.")

    @property
    def candidates(self) -> int:
        """How many candidates there are."""
        return sum(self.many)

    @classmethod
    def of(cls, scores: NDArray[np.int64], unlisted: tuple[int, int] | None = None) -> Tallies:
        """Count listed scores, and candidates that are not listed: their one score, and how many they are."""
        values, many = np.unique(scores, return_counts=True)
        counted = dict(zip(values.tolist(), many.tolist(), strict=True))
        if unlisted is not None and unlisted[1] > 0:
            counted[unlisted[0]] = counted.get(unlisted[0], 0) + unlisted[1]
        falling = sorted(counted, reverse=True)
        return cls(tuple(falling), tuple(counted[score] for score in falling))


def _check(tallies: Tallies, picks: int) -> None:
    if not 0 <= picks <= tallies.candidates:
        raise MisuseError(f"{picks:,} of {tallies.candidates:,} candidates cannot be chosen.")


def exponential(source: Source, tallies: Tallies, rate: Fraction, picks: int) -> list[int]:
    """Choose one by one, each time with probability proportional to exp(rate * score), without putting back.

    Returns the place of each pick among the tallies, in the order of the picks.
    """
    _check(tallies, picks)
    left = list(tallies.many)
    chosen = []
    cache: dict[tuple[int, int], tuple[int, int]] = {}
    rough = _Rough(tallies, rate)
    first = 0
    for _ in range(picks):
        while not left[first]:
            first += 1
        bits = _WEIGHT_BITS
        drawn = source.bits(bits)
        place = rough.place(first, drawn / (1 << bits), 2.0**-bits)
        while place is None:
            place = _settle(tallies, left, first, rate, bits, drawn, cache)
            if place is None:
                drawn = drawn << bits | source.bits(bits)
                bits *= 2
        left[place] -= 1
        rough.take(place, left[place])
        chosen.append(place)
    return chosen


class _Rough:
    """The same choice in floating point, where that leaves no doubt: the exact way is asked only near a border.

    The numeric notes of `select.md` bound the error of all this by 10^-9 of the total; `MARGIN` is wider.
    """

    MARGIN = 1e-7

    def __init__(self, tallies: Tallies, rate: Fraction) -> None:
        scores = tallies.scores or (0,)
        self._usable = max(tallies.many, default=0) < 1e200 and scores[0] - scores[-1] < 2**52
        behind = [scores[0] - score for score in scores]
        self._behind = np.array(behind, np.float64) if self._usable else np.empty(0)
        self._left = np.array(tallies.many, np.float64) if self._usable else np.empty(0)
        self._rate = float(rate)
        self._first = -1
        self._sums = self._units = np.empty(0)
        self._stale = True

    def place(self, first: int, uniform: float, more: float) -> int | None:
        """Return where a number from `uniform` to `more` beyond falls, or None if it is too close to a border."""
        if not self._usable:
            return None
        if first != self._first:
            self._units = np.exp(-np.minimum(self._rate * (self._behind[first:] - self._behind[first]), 745.0))
            self._first, self._stale = first, True
        if self._stale:
            self._sums, self._stale = np.cumsum(self._units * self._left[first:]), False
        total = self._sums[-1]
        at, room = uniform * total, (self.MARGIN + more) * total
        place = int(np.searchsorted(self._sums, at))
        before = self._sums[place - 1] if place else -np.inf
        return first + place if before + room < at < self._sums[place] - room else None

    def take(self, place: int, left: int) -> None:
        """Note that of a tally one candidate fewer is left."""
        if self._usable:
            self._left[place] = left
            self._stale = True


def _settle(
    tallies: Tallies,
    left: list[int],
    first: int,
    rate: Fraction,
    bits: int,
    drawn: int,
    cache: dict[tuple[int, int], tuple[int, int]],
) -> int | None:
    """Find the tally that the uniform number with these first bits falls into, if they settle it."""
    lows, highs = [], []
    top = tallies.scores[first]
    for place in range(first, len(left)):
        low, high = _weight(top - tallies.scores[place], rate, bits, cache)
        lows.append(low * left[place])
        highs.append(high * left[place])
    low_sums, high_sums = list(accumulate(lows)), list(accumulate(highs))
    least, most = drawn * low_sums[-1], (drawn + 1) * high_sums[-1]
    before = 0
    for place, (low, high) in enumerate(zip(low_sums, high_sums, strict=True)):
        if most <= low << bits:
            return first + place if before << bits <= least else None
        before = high
    return None


def _weight(behind: int, rate: Fraction, bits: int, cache: dict[tuple[int, int], tuple[int, int]]) -> tuple[int, int]:
    """Return bounds of exp(-rate * behind) in units of 2^-bits."""
    known = cache.get((behind, bits))
    if known is None:
        exponent = rate * behind
        if exponent > bits:  # less than a unit by far; at more bits it is looked at again
            known = 0, 1
        else:
            digits = lazy.digits_for(bits)
            low, high = lazy.exp(lazy.negative(lazy.ratio(exponent, digits)), digits)
            unit = Decimal(1 << bits)
            down, up = lazy.contexts(digits)
            known = int(down.multiply(low, unit)), int(up.multiply(high, unit)) + 1
        cache[behind, bits] = known
    return known


def gumbel(source: Source, tallies: Tallies, rate: Fraction, picks: int) -> list[int]:
    """Choose the candidates of the largest rate * score + Gumbel noise: the same law as `exponential`, in one shot.

    Of a tally only the best members are drawn, one after the other: the j-th smallest of m exponential times is the
    sum of the first j gaps, the i-th of which is exponential with rate m - i + 1 (Rényi).
    """
    _check(tallies, picks)

    def key(place: int, uniforms: Sequence[Uniform]) -> Callable[[int], Interval]:
        def value(bits: int) -> Interval:
            digits = lazy.digits_for(bits)
            total = (Decimal(0), Decimal(0))
            for gap, uniform in enumerate(uniforms):
                time = lazy.negative(lazy.ln(uniform.within(bits), digits))
                share = lazy.ratio(Fraction(1, tallies.many[place] - gap), digits)
                total = lazy.add(total, lazy.times(time, share, digits), digits)
            head_start = lazy.negative(lazy.ratio(rate * tallies.scores[place], digits))
            return lazy.add(lazy.ln(total, digits), head_start, digits)

        return value

    return _race(source, tallies, picks, lambda place, uniforms: Lazy(key(place, uniforms)), lazy.smaller)


def _race(
    source: Source,
    tallies: Tallies,
    picks: int,
    key: Callable[[int, Sequence[Uniform]], Any],
    before: Callable[[Any, Any], bool],
) -> list[int]:
    """Return the places of the first `picks` candidates, when `key` orders the members of each tally."""
    ordered = cmp_to_key(lambda one, other: -1 if before(one[0], other[0]) else 1)  # type: ignore[index]
    waiting: list[Any] = []
    for place in range(len(tallies.many)):
        uniforms = [Uniform(source)]
        waiting.append(ordered((key(place, uniforms), place, uniforms)))
    heapq.heapify(waiting)
    chosen: list[int] = []
    while len(chosen) < picks:
        _, place, uniforms = waiting[0].obj
        chosen.append(place)
        if len(uniforms) < tallies.many[place]:
            uniforms.append(Uniform(source))
            heapq.heapreplace(waiting, ordered((key(place, list(uniforms)), place, uniforms)))
        else:
            heapq.heappop(waiting)
    return chosen


def permute_and_flip(source: Source, tallies: Tallies, rate: Fraction, picks: int) -> list[int]:
    """Choose one by one by permute-and-flip (McKenna, Sheldon 2020), without putting back.

    Each pick has the largest rate * score + standard exponential noise, drawn anew (Ding et al. 2021 show that this is
    the same law). The largest noise of m candidates is -ln(1 - U^(1/m)).
    """
    _check(tallies, picks)
    left = list(tallies.many)
    chosen = []
    for _ in range(picks):
        uniforms = [Uniform(source, int(word), 64) for word in source.words(len(left))]
        rivals = [
            (place, Lazy(_largest_exponential(uniforms[place], left[place], rate * tallies.scores[place])))
            for place in _contenders(tallies, left, rate, uniforms)
        ]
        best = rivals[0]
        for rival in rivals[1:]:
            if lazy.smaller(best[1], rival[1]):
                best = rival
        left[best[0]] -= 1
        chosen.append(best[0])
    return chosen


def _contenders(tallies: Tallies, left: list[int], rate: Fraction, uniforms: list[Uniform]) -> list[int]:
    """Return the tallies that may have the largest key, by floating point with a margin no error can reach.

    The first 64 bits of a uniform number between 2^-40 and 1 - 2^-40 give its logarithm, and that of its complement,
    to a relative error of 2^-24; rounding adds less than 2^-30. Numbers closer to an end contend in any case.
    """
    places = np.array([place for place, many in enumerate(left) if many])
    many = np.array([float(left[place]) for place in places])
    behind = np.array([float(rate * (tallies.scores[places[0]] - tallies.scores[place])) for place in places])
    first = np.array([uniforms[place].bits for place in places], np.uint64)
    value = (first.astype(np.float64) + 0.5) * 2.0**-64
    certain = (value > 2.0**-40) & (value < 1 - 2.0**-40)
    value = np.where(certain, value, 0.5)
    with np.errstate(over="ignore"):
        keys = -np.log(-np.expm1(np.log(value) / many)) - behind
    margin = 1e-4
    contending = (keys >= keys.max() - margin) | ~certain
    return [int(place) for place in places[contending]]


def _largest_exponential(uniform: Uniform, many: int, shift: Fraction) -> Callable[[int], Interval]:
    def value(bits: int) -> Interval:
        # The root is close to one for large `many`: as many digits more as `many` has keep 1 - root sharp.
        digits = lazy.digits_for(bits) + len(str(many))
        share = lazy.ratio(Fraction(1, many), digits)
        root = lazy.exp(lazy.times(lazy.ln(uniform.within(bits), digits), share, digits), digits)
        noise = lazy.negative(lazy.ln(lazy.one_minus(root, digits), digits))
        return lazy.add(noise, lazy.ratio(shift, digits), digits)

    return value


def noisy_top(source: Source, tallies: Tallies, scale: Fraction, picks: int) -> list[int]:
    """Choose the candidates of the largest score + discrete Laplace noise, ties broken by fair chance.

    The j-th largest of m uniform numbers is a product of powers of j uniform ones; the noise is its image under
    the quantile function, and where in its step it fell is a fair tie-break (see `select.md`).
    """
    _check(tallies, picks)

    def key(place: int, uniforms: Sequence[Uniform]) -> _Noisy:
        return _Noisy(tallies.scores[place], tallies.many[place], uniforms, scale)

    return _race(source, tallies, picks, key, _Noisy.before)


class _Noisy:
    """A score with discrete Laplace noise: an exact whole number, and its place within the quantile's step."""

    def __init__(self, score: int, many: int, uniforms: Sequence[Uniform], scale: Fraction) -> None:
        self.many, self.uniforms, self.scale = many, uniforms, scale
        self.bits = lazy.FIRST_BITS
        while True:
            low, high = self._noise(self.bits)
            if low == high:
                break
            self.bits *= 2
        self.noise = low
        self.value = score + low
        self._tie: Lazy | None = None

    def _log(self, bits: int, digits: int) -> Interval:
        """Return the interval of the logarithm of the uniform number behind the noise."""
        total = (Decimal(0), Decimal(0))
        for gap, uniform in enumerate(self.uniforms):
            share = lazy.ratio(Fraction(1, self.many - gap), digits)
            total = lazy.add(total, lazy.times(lazy.ln(uniform.within(bits), digits), share, digits), digits)
        return total

    def _noise(self, bits: int) -> tuple[int, int]:
        digits = lazy.digits_for(bits) + len(str(self.many))
        uniform = lazy.exp(self._log(bits, digits), digits)
        return self._quantile(uniform[0], digits)[0], self._quantile(uniform[1], digits)[1]

    def _quantile(self, uniform: Decimal, digits: int) -> tuple[int, int]:
        """Return bounds of the smallest x with F(x) >= uniform, F the distribution function of the noise."""
        if uniform <= 0:
            return -(10**30), 10**30
        if uniform >= 1:
            return -(10**30), 10**30
        point = (uniform, uniform)
        decay = lazy.exp(lazy.negative(lazy.ratio(1 / self.scale, digits)), digits)
        norm = lazy.add((Decimal(1), Decimal(1)), decay, digits)
        scale = lazy.ratio(self.scale, digits)
        # F(x) = 1 - q^(x + 1) / (1 + q) from 0 on, and q^-x / (1 + q) below.
        upper = lazy.times(lazy.one_minus(point, digits), norm, digits)
        steps = lazy.times(lazy.negative(lazy.ln(upper, digits)), scale, digits)
        if ceil(steps[0]) - 1 >= 0:
            return ceil(steps[0]) - 1, ceil(steps[1]) - 1
        lower = lazy.times(point, norm, digits)
        steps = lazy.times(lazy.negative(lazy.ln(lower, digits)), scale, digits)
        below = -int(steps[1].to_integral_value("ROUND_FLOOR")), -int(steps[0].to_integral_value("ROUND_FLOOR"))
        return min(below[0], 0), min(below[1], 0)

    def mark(self) -> Lazy:
        """Return where in its step of the distribution function the uniform number fell: 0 at the foot, 1 on top."""
        if self._tie is None:
            self._tie = Lazy(self._mark, self.bits)
        return self._tie

    def _mark(self, bits: int) -> Interval:
        digits = lazy.digits_for(bits) + len(str(self.many)) + len(str(self.noise))
        decay = lazy.exp(lazy.negative(lazy.ratio(1 / self.scale, digits)), digits)
        norm = lazy.add((Decimal(1), Decimal(1)), decay, digits)
        uniform = lazy.exp(self._log(bits, digits), digits)
        far = lazy.exp(lazy.ratio(abs(self.noise) / self.scale, digits), digits)
        if self.noise > 0:
            part = lazy.times(lazy.times(lazy.one_minus(uniform, digits), norm, digits), far, digits)
            above = lazy.one_minus(part, digits)
        else:
            part = lazy.times(lazy.times(uniform, norm, digits), far, digits)
            above = lazy.add(part, lazy.negative(decay), digits)
        return lazy.over(above, lazy.one_minus(decay, digits), digits)

    def before(self, other: _Noisy) -> bool:
        """Say whether this comes before another one: the larger value, or the larger mark at the same value."""
        if self.value != other.value:
            return self.value > other.value
        return lazy.smaller(other.mark(), self.mark())


@dataclass(frozen=True)
class Chosen:
    """Which candidates were chosen: the numbers of those that were listed, and -1 for each that was not."""

    candidates: tuple[int, ...]

    @property
    def unlisted(self) -> int:
        """How many of the chosen were not listed."""
        return self.candidates.count(-1)


def members(
    source: Source, tallies: Tallies, picks: Sequence[int], scores: NDArray[np.int64], unlisted: tuple[int, int] | None
) -> Chosen:
    """Name the candidates behind picks: of each tally as many as were picked, any of them as likely as the others.

    The candidates of a tally are numbered: the listed ones first, then the unlisted.
    """
    order = np.argsort(-scores, kind="stable")
    falling = -scores[order]
    named: list[int] = [0] * len(picks)
    for place in set(picks):
        score = tallies.scores[place]
        first, last = np.searchsorted(falling, [-score, -score + 1]).tolist()
        turns = [turn for turn, pick in enumerate(picks) if pick == place]
        for turn, number in zip(turns, source.subset(len(turns), tallies.many[place]), strict=True):
            named[turn] = int(order[first + number]) if number < last - first else -1
    if -1 in named and unlisted is None:
        raise AssertionError("an unlisted candidate was chosen where all are listed")
    return Chosen(tuple(named))
