"""Choosing some of many candidates by noisy scores: exactly, however many there are and however far apart they lie.

Scores are whole numbers. Candidates with the same score are interchangeable, so they are held as one *tally*: the score
and how many have it. Millions of itemsets have a few hundred distinct counts, and the itemsets below a floor, of which
there may be 10^13, are one tally more that is never listed. Each routine below says in which tally each pick lies;
`members` then names the candidates.

No floating point decides anything: it sets aside what certainly lost (`float_filter`); the rest are intervals
(`intervals`), and where an interval leaves a choice open, more random bits are drawn. The proofs are in `selection.md`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate
from operator import gt

import numpy as np
from numpy.typing import NDArray

from ...errors import MisuseError
from . import intervals
from .float_filter import Flips, PeelingFilter
from .intervals import Interval, Lazy, Uniform
from .race import Gumbel, LaplaceRace
from .sources import Source

_WEIGHT_BITS = 128


@dataclass(frozen=True)
class Tallies:
    """Distinct scores, the largest first, and how many candidates have each."""

    scores: tuple[int, ...]
    many: tuple[int, ...]

    def __post_init__(self) -> None:
        if not all(map(gt, self.scores, self.scores[1:])):
            raise MisuseError("The scores of tallies fall and differ.")
        if len(self.scores) != len(self.many) or min(self.many, default=1) < 1:
            raise MisuseError("Each score of tallies has at least one candidate.")

    @property
    def candidates(self) -> int:
        """How many candidates there are."""
        return sum(self.many)

    @classmethod
    def of(cls, scores: NDArray[np.int64], unlisted: tuple[int, int] | None = None) -> Tallies:
        """Count listed scores, and candidates that are not listed: their one score, and how many they are."""
        values, many = np.unique(scores, return_counts=True)
        rising: list[int] = values.tolist()
        counts: list[int] = many.tolist()
        if unlisted is not None and unlisted[1] > 0:
            place = bisect_left(rising, unlisted[0])
            if rising[place : place + 1] == [unlisted[0]]:
                counts[place] += unlisted[1]
            else:
                rising.insert(place, unlisted[0])
                counts.insert(place, unlisted[1])
        return cls(tuple(reversed(rising)), tuple(reversed(counts)))


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
    quick = PeelingFilter(tallies.scores, tallies.many, rate)
    first = 0
    for _ in range(picks):
        while not left[first]:
            first += 1
        bits = _WEIGHT_BITS
        drawn = source.bits(bits)
        place = quick.place(first, drawn / (1 << bits), 2.0**-bits)
        while place is None:
            place = _settle(tallies, left, first, rate, bits, drawn, cache)
            if place is None:
                drawn = drawn << bits | source.bits(bits)
                bits *= 2
        left[place] -= 1
        quick.take(place, left[place])
        chosen.append(place)
    return chosen


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
            digits = intervals.digits_for(bits)
            low, high = intervals.exp(intervals.negative(intervals.ratio(exponent, digits)), digits)
            unit = Decimal(1 << bits)
            down, up = intervals.contexts(digits)
            known = int(down.multiply(low, unit)), int(up.multiply(high, unit)) + 1
        cache[behind, bits] = known
    return known


def gumbel(source: Source, tallies: Tallies, rate: Fraction, picks: int) -> list[int]:
    """Choose the candidates of the largest rate * score + Gumbel noise: the same law as `exponential`, in one shot.

    Of a tally only the best members are drawn, one after the other: the j-th smallest of m exponential times is the
    sum of the first j gaps, the i-th of which is exponential with rate m - i + 1 (Rényi).
    """
    _check(tallies, picks)
    return Gumbel(source, tallies.scores, tallies.many, rate).winners(picks)


def noisy_top(source: Source, tallies: Tallies, scale: Fraction, picks: int) -> list[int]:
    """Choose the candidates of the largest score + discrete Laplace noise, ties broken by fair chance.

    The j-th largest of m uniform numbers is a product of powers of j uniform ones; the noise is its image under
    the quantile function, and where in its step it fell is a fair tie-break (see `selection.md`).
    """
    _check(tallies, picks)
    return LaplaceRace(source, tallies.scores, tallies.many, scale).winners(picks)


def permute_and_flip(source: Source, tallies: Tallies, rate: Fraction, picks: int) -> list[int]:
    """Choose one by one by permute-and-flip (McKenna, Sheldon 2020), without putting back.

    Each pick has the largest rate * score + standard exponential noise, drawn anew (Ding et al. 2021 show that this is
    the same law). The largest noise of m candidates is -ln(1 - U^(1/m)).
    """
    _check(tallies, picks)
    left = list(tallies.many)
    quick = Flips(tallies.scores, tallies.many, rate)
    chosen = []
    first = 0
    for _ in range(picks):
        while not left[first]:
            first += 1
        rivals = {place: word for place, word in quick.draw(source, first).items() if left[place]}
        best = next(iter(rivals))
        if len(rivals) > 1:
            keys = {
                place: Lazy(_largest_exponential(Uniform(source, word, 64), left[place], rate * tallies.scores[place]))
                for place, word in rivals.items()
            }
            for rival in rivals:
                if rival != best and intervals.smaller(keys[best], keys[rival]):
                    best = rival
        left[best] -= 1
        quick.take(best, left[best])
        chosen.append(best)
    return chosen


def _largest_exponential(uniform: Uniform, many: int, shift: Fraction) -> Callable[[int], Interval]:
    def value(bits: int) -> Interval:
        # The root is close to one for large `many`: as many digits more as `many` has keep 1 - root sharp.
        digits = intervals.digits_for(bits) + many.bit_length() * 3 // 10 + 1
        share = intervals.ratio(Fraction(1, many), digits)
        root = intervals.exp(intervals.times(intervals.ln(uniform.within(bits), digits), share, digits), digits)
        noise = intervals.negative(intervals.ln(intervals.one_minus(root, digits), digits))
        return intervals.add(noise, intervals.ratio(shift, digits), digits)

    return value


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
    turns_of: dict[int, list[int]] = {}
    for turn, place in enumerate(picks):
        turns_of.setdefault(place, []).append(turn)
    for place, turns in turns_of.items():
        score = tallies.scores[place]
        first, last = np.searchsorted(falling, [-score, -score + 1]).tolist()
        for turn, number in zip(turns, source.subset(len(turns), tallies.many[place]), strict=True):
            named[turn] = int(order[first + number]) if number < last - first else -1
    if -1 in named and unlisted is None:
        raise AssertionError("an unlisted candidate was chosen where all are listed")
    return Chosen(tuple(named))
