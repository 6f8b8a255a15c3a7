"""Selection among candidates by noisy scores, exact for any number of candidates and any distance between scores.

Scores are whole numbers. Candidates with equal scores are interchangeable and form one *tally*: the score and the
number of its candidates. Millions of itemsets have a few hundred distinct counts; the itemsets below a floor, up to
10^13, are one more tally that is never enumerated. Each routine below returns the tally of each pick; `draw_members`
then draws the candidates.

No floating point decides a pick: it discards candidates that certainly lost (`float_filter`). The remaining candidates
are compared by intervals (`intervals`); where an interval leaves a pick open, more random bits are drawn. The proofs
are in `selection.md`.
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
from ._float_filter import Flips, PeelingFilter
from ._race import Gumbel, LaplaceRace
from ._sources import Source
from .intervals import Interval, Lazy, Uniform

_WEIGHT_BITS = 128  # a first look; a pick is ambiguous with probability near 2^-128 a border, and is then refined


@dataclass(frozen=True)
class Tallies:
    """Distinct scores, the largest first, and the number of candidates with each score."""

    scores: tuple[int, ...]
    counts: tuple[int, ...]

    def __post_init__(self) -> None:
        if not all(map(gt, self.scores, self.scores[1:])):
            raise MisuseError("The scores of tallies fall and differ.")
        if len(self.scores) != len(self.counts) or min(self.counts, default=1) < 1:
            raise MisuseError("Each score of tallies has at least one candidate.")

    @property
    def candidates(self) -> int:
        """The number of candidates in all tallies."""
        return sum(self.counts)

    @classmethod
    def group_scores(cls, scores: NDArray[np.int64], unlisted: tuple[int, int] | None = None) -> Tallies:
        """Return the tallies of listed scores, and of unlisted candidates given as (score, number of candidates)."""
        values, value_counts = np.unique(scores, return_counts=True)
        rising_scores: list[int] = values.tolist()
        rising_counts: list[int] = value_counts.tolist()
        if unlisted is not None and unlisted[1] > 0:
            # Unlisted candidates join the tally of their score: a tally of their own would repeat a score.
            place = bisect_left(rising_scores, unlisted[0])
            if rising_scores[place : place + 1] == [unlisted[0]]:
                rising_counts[place] += unlisted[1]
            else:
                rising_scores.insert(place, unlisted[0])
                rising_counts.insert(place, unlisted[1])
        return cls(tuple(reversed(rising_scores)), tuple(reversed(rising_counts)))


def _check_picks(tallies: Tallies, picks: int) -> None:
    """Check that no more candidates are chosen than the tallies have."""
    if not 0 <= picks <= tallies.candidates:
        raise MisuseError(f"{picks:,} of {tallies.candidates:,} candidates cannot be chosen.")


def exponential(source: Source, tallies: Tallies, rate: Fraction, picks: int) -> list[int]:
    """Choose one by one without replacement, each pick with probability proportional to exp(rate * score).

    Returns the place of each pick among the tallies, in the order of the picks.
    """
    _check_picks(tallies, picks)
    remaining = list(tallies.counts)
    places = []
    cache: dict[tuple[int, int], tuple[int, int]] = {}
    peeling = PeelingFilter(tallies.scores, tallies.counts, rate)
    start = 0
    for _ in range(picks):
        while not remaining[start]:
            start += 1
        bits = _WEIGHT_BITS
        number = source.bits(bits)
        place = peeling.find_place(start, number / (1 << bits), 2.0**-bits)
        while place is None:
            place = _find_tally(tallies, remaining, start, rate, bits, number, cache)
            if place is None:
                number = number << bits | source.bits(bits)
                bits *= 2
        remaining[place] -= 1
        peeling.update_count(place, remaining[place])
        places.append(place)
    return places


def _find_tally(
    tallies: Tallies,
    remaining: list[int],
    start: int,
    rate: Fraction,
    bits: int,
    number: int,
    cache: dict[tuple[int, int], tuple[int, int]],
) -> int | None:
    """Return the tally of the uniform number with the given first bits, or None if the bits leave the tally open."""
    weight_lows, weight_highs = [], []
    top_score = tallies.scores[start]
    for place in range(start, len(remaining)):
        low, high = _bound_weight(top_score - tallies.scores[place], rate, bits, cache)
        weight_lows.append(low * remaining[place])
        weight_highs.append(high * remaining[place])
    low_sums, high_sums = list(accumulate(weight_lows)), list(accumulate(weight_highs))
    # U * S lies between the target ends: the ends of U and of the total weight S, multiplied without rounding.
    target_low, target_high = number * low_sums[-1], (number + 1) * high_sums[-1]
    previous_high = 0
    for place, (low, high) in enumerate(zip(low_sums, high_sums, strict=True)):
        if target_high <= low << bits:
            return start + place if previous_high << bits <= target_low else None
        previous_high = high
    return None


def _bound_weight(
    score_gap: int, rate: Fraction, bits: int, cache: dict[tuple[int, int], tuple[int, int]]
) -> tuple[int, int]:
    """Return bounds of exp(-rate * score_gap) in units of 2^-bits."""
    bounds = cache.get((score_gap, bits))
    if bounds is None:
        exponent = rate * score_gap
        if exponent > bits:  # below one unit: exp(-bits) < 2^-bits
            bounds = 0, 1
        else:
            digits = intervals.digits_for(bits)
            low, high = intervals.exp(intervals.negate(intervals.ratio(exponent, digits)), digits)
            unit = Decimal(1 << bits)
            floor_context, ceiling_context = intervals.contexts(digits)
            bounds = int(floor_context.multiply(low, unit)), int(ceiling_context.multiply(high, unit)) + 1
        cache[score_gap, bits] = bounds
    return bounds


def gumbel(source: Source, tallies: Tallies, rate: Fraction, picks: int) -> list[int]:
    """Choose the candidates of the largest rate * score + Gumbel noise: the law of `exponential`, in one shot.

    Only the best members of a tally are drawn, one after another: the j-th smallest of m exponential times is the sum
    of j gaps, and the i-th gap is exponential with rate m - i + 1 (Rényi).
    """
    _check_picks(tallies, picks)
    return Gumbel(source, tallies.scores, tallies.counts, rate).winners(picks)


def noisy_top(source: Source, tallies: Tallies, scale: Fraction, picks: int) -> list[int]:
    """Choose the candidates of the largest score + discrete Laplace noise; ties are broken by fair chance.

    The j-th largest of m uniform numbers is a product of powers of j uniform numbers. The noise is its image under the
    quantile function; the position within the step breaks ties (`selection.md`).
    """
    _check_picks(tallies, picks)
    return LaplaceRace(source, tallies.scores, tallies.counts, scale).winners(picks)


def permute_and_flip(source: Source, tallies: Tallies, rate: Fraction, picks: int) -> list[int]:
    """Choose one by one without replacement by permute-and-flip (McKenna, Sheldon 2020).

    Each pick has the largest rate * score + standard exponential noise, with fresh noise for each pick; the law is
    equal (Ding et al. 2021). The largest noise of m candidates is -ln(1 - U^(1/m)).
    """
    _check_picks(tallies, picks)
    remaining = list(tallies.counts)
    flips = Flips(tallies.scores, tallies.counts, rate)
    places = []
    start = 0
    for _ in range(picks):
        while not remaining[start]:
            start += 1
        rivals = {place: word for place, word in flips.draw_words(source, start).items() if remaining[place]}
        # Intervals are computed only where bounds leave several rivals.
        winner = next(iter(rivals))
        if len(rivals) > 1:
            keys = {
                place: Lazy(
                    _largest_exponential(Uniform(source, word, 64), remaining[place], rate * tallies.scores[place])
                )
                for place, word in rivals.items()
            }
            for rival in rivals:
                if rival != winner and intervals.is_smaller(keys[winner], keys[rival]):
                    winner = rival
        remaining[winner] -= 1
        flips.update_count(winner, remaining[winner])
        places.append(winner)
    return places


def _largest_exponential(uniform: Uniform, member_count: int, shift: Fraction) -> Callable[[int], Interval]:
    """Return a function from a number of bits to the interval of shift - ln(1 - U^(1/m))."""

    def noise_interval(bits: int) -> Interval:
        # The root is close to 1 for a large m: log10(m) further digits keep 1 - root sharp.
        digits = intervals.digits_for(bits) + member_count.bit_length() * 3 // 10 + 1
        inverse = intervals.ratio(Fraction(1, member_count), digits)
        root = intervals.exp(intervals.multiply(intervals.ln(uniform.narrow_to(bits), digits), inverse, digits), digits)
        key = intervals.negate(intervals.ln(intervals.one_minus(root, digits), digits))
        return intervals.add(key, intervals.ratio(shift, digits), digits)

    return noise_interval


@dataclass(frozen=True)
class Selection:
    """The chosen candidates: the number of each listed candidate, and -1 for each unlisted candidate."""

    candidates: tuple[int, ...]

    @property
    def unlisted(self) -> int:
        """The number of chosen candidates that are not listed."""
        return self.candidates.count(-1)


def draw_members(
    source: Source, tallies: Tallies, picks: Sequence[int], scores: NDArray[np.int64], unlisted: tuple[int, int] | None
) -> Selection:
    """Draw the candidates of the picked tallies: distinct members of each tally, all equally likely.

    The candidates of a tally are numbered: first the listed candidates, then the unlisted candidates.
    """
    falling_order = np.argsort(-scores, kind="stable")
    negated_scores = -scores[falling_order]
    candidates: list[int] = [0] * len(picks)
    picks_of: dict[int, list[int]] = {}
    for pick, place in enumerate(picks):
        picks_of.setdefault(place, []).append(pick)
    for place, tally_picks in picks_of.items():
        score = tallies.scores[place]
        start, stop = np.searchsorted(negated_scores, [-score, -score + 1]).tolist()
        for pick, number in zip(tally_picks, source.subset(len(tally_picks), tallies.counts[place]), strict=True):
            candidates[pick] = int(falling_order[start + number]) if number < stop - start else -1
    # A tally has more members than listed scores only where `unlisted` was given to `Tallies.group_scores`.
    if -1 in candidates and unlisted is None:
        raise AssertionError("an unlisted candidate was chosen where all are listed")
    return Selection(tuple(candidates))
