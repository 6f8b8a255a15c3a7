"""Rounds that protocols share: how many of some candidates people hold, and how many people hold each of them."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from statistics import NormalDist
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...errors import MisuseError
from ...privacy import exact
from ..device import MOST_NUMBERS
from ..estimation import BINS, FEW_BINS, HeldSizes
from ..oracle_steps import LIARS, error, honest_share, largest_padding, make
from ._conversation import Ask, Estimate, Partition
from ._pair_questions import HowManyRelations, Relations, WhichRelations
from ._questions import CandidateList, DeviceQuestion, HowMany, Which

Values: TypeAlias = NDArray[np.float64]
# What people are asked about one by one: itemsets, or relations.
AskedValues: TypeAlias = CandidateList | Relations
# How long a basket is taken to be: so many, what nine in ten people hold at most, what makes the predicted error least,
# or as many as there are candidates.
Padding: TypeAlias = int | Literal["percentile", "predicted", "all"]
# How sizes are asked for: each by itself as the paper does, or in bins that widen, where a law is fitted to them.
SizeBinning: TypeAlias = Literal["each", "bins"]

LEAST_SHARE = Fraction(1, 10_000)
LONGEST = 64  # a larger basket counts as one of this size where basket sizes are asked for
NEAR = 0.03  # how frequent patterns are that just make the top, before anything is known
_SAFE = 0.9  # of the people, whose sizes liars cannot move, from which on sizes are told apart as finely as they can be
_LENGTHS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 17, 20, 24, 29, 35, 40)  # paddings that are compared


@dataclass(frozen=True, kw_only=True)
class SizesRound:
    """How many candidates people hold, learnt from a round: fractions of people who hold 1, 2, 3 … of them."""

    kept: Values
    sure: float = 0.0  # what a size far over the padding must have to count, as one lucky draw there would weigh a lot

    @classmethod
    def of(cls, seen: Estimate, told: SizeBinning = "each") -> SizesRound:
        """Learn sizes from a round.

        Asked for each by itself, what stands out from the noise is kept (the significance threshold of section V). In
        bins, laws are fitted (`HeldSizes`).
        """
        question = seen.ask.question
        if not isinstance(question, HowMany | HowManyRelations):
            raise MisuseError("Sizes are learnt from a round that asks how many.")
        bins = question.bins
        if told == "bins":
            return cls(kept=HeldSizes.fit(seen, bins, len(question.of)).fractions())
        wide = sqrt(seen.ask.frequencies.variance(0.0, seen.people))  # of this group and of the oracle it used (A8)
        threshold = NormalDist().inv_cdf(1 - 0.05 / (len(bins) - 1))
        kept = np.zeros(bins[-1])
        for first, end, value in zip(bins[1:], (*bins[2:], bins[-1] + 1), seen.values[1:], strict=True):
            if value > threshold * wide:
                inside = np.arange(first, end)
                kept[inside - 1] = value / inside / (1 / inside).sum()
        return cls(kept=kept, sure=NormalDist().inv_cdf(1 - 0.001 / (len(bins) - 1)) * wide)

    def padding(self, how: int | Literal["percentile"], percentile: Fraction) -> int:
        """Return the padding; 1 where nothing stood out (A8)."""
        if isinstance(how, int):
            return how
        total = self.kept.sum()
        if total <= 0:
            return 1
        above = np.cumsum(self.kept) / total > float(percentile)
        above[np.flatnonzero(self.kept)[-1]] = True  # never exceeded: the largest that stood out
        return int(np.argmax(above)) + 1

    def best_padding(
        self, oracle: str, epsilon: Fraction, size: int, people: float, near: float, liars: float = 0.0
    ) -> int:
        """Return the padding with the least predicted error of a candidate that a fraction `near` of people holds.

        The error is noise, which grows with the padding, what a share of liars could add, and half of what is cut off,
        whose scaling up is only right on average.
        """
        errors: dict[int, float] = {}
        for pad in _LENGTHS:
            if pad > 1 and pad > len(self.kept):
                break
            scaled = self.correction(pad)
            try:
                noise = error(make(oracle, epsilon, size, pad=pad), near / scaled, max(1, round(people)), liars)
            except MisuseError:
                break  # no room for so long a padding
            errors[pad] = scaled**2 * noise + float(cut_off(near, scaled)) ** 2
        return min(errors, key=lambda pad: (errors[pad], pad), default=1)

    def correction(self, pad: int) -> float:
        """Return by how much estimates fall short where people hold more than `pad`: a ratio of sums (A5, A6).

        In one of twenty runs noise alone makes some size stand out. One of over twice the padding could double the
        ratio, so it has to stand out as noise does in one of a thousand.
        """
        sizes = np.arange(1, len(self.kept) + 1)
        kept = np.where((sizes > 2 * pad) & (self.kept < self.sure), 0.0, self.kept)
        seen = float((np.minimum(sizes, pad) * kept).sum())
        return float((sizes * kept).sum()) / seen if seen > 0 else 1.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimated:
    """Candidates with the fraction of people who hold each, its variance, and how they were asked for."""

    of: AskedValues
    values: Values
    variance: Values
    pad: int
    correction: float
    sizes: SizesRound | None = None

    def best(self, many: int) -> list[int]:
        """Return the places of the `many` most frequent, ties in the order of the candidates."""
        places: list[int] = np.argsort(-self.values, kind="stable")[:many].tolist()
        return places

    def least_of(self, many: int) -> float:
        """Return how frequent the last of the `many` most frequent is."""
        return last_of(self.values, many)


def last_of(values: Values, many: int) -> float:
    """Return the last of the `many` largest, as far as that is a frequency at all."""
    return min(max(1e-4, float(np.sort(values)[::-1][min(many, len(values)) - 1])), 1.0)


Step: TypeAlias = Generator[Ask, Any, Estimated]


def estimating(
    of: AskedValues,
    line: Partition,
    shares: tuple[Fraction, Fraction],
    epsilon: Fraction,
    *,
    oracles: tuple[str, str],
    padding: Padding,
    percentile: Fraction = Fraction(9, 10),
    corrected: bool = True,
    told: SizeBinning = "each",
    near: float = NEAR,
    longest: int | None = None,
    robust: bool = False,
    about: str,
) -> Step:
    """Ask how many of the candidates people hold, where the padding needs it, and then which.

    Parameters
    ----------
    shares, oracles
        Of the people, and by name: for the sizes and for the candidates.
    corrected
        Whether estimates are scaled up for what the padding leaves out.
    told
        How sizes are asked for.
    near
        How frequent the candidates are that have to be told apart, for a predicted padding.
    longest
        The largest size that is told apart from larger ones: that of all candidates, or a smaller one.
    robust
        Whether what liars can do is weighed: the padding by what one report can add, sizes asked for in few bins, and
        no padding longer than what liars about sizes can drive it to.
    """
    # Nobody holds more than there is, and what people answer must not ask more of an oracle than it takes.
    most = min(len(of), largest_padding(oracles[1], epsilon))
    pad, short, sizes = min(padding if isinstance(padding, int) else len(of), most), 1.0, None
    if shares[0]:
        each = min(len(of), longest or len(of))
        bins = size_bins(len(of), epsilon) if robust else tuple(first for first in BINS if first <= len(of))
        some = tuple(range(each + 1)) if told == "each" and not robust else bins
        question, sized = how_many(of, some), "grr" if robust else oracles[0]
        seen: Estimate = yield Ask.of(f"how many {about}", line.next(shares[0]), question, sized, epsilon)
        of = asked_of(seen, of)
        sizes = SizesRound.of(seen, told)
        trusted = Fraction(honest_share(seen.ask.frequencies)) if robust else Fraction(1)
        if padding == "predicted":
            people = seen.people * float(shares[1] / shares[0])
            pad = sizes.best_padding(oracles[1], epsilon, len(of), people, near, LIARS if robust else 0.0)
            pad = min(pad, sizes.padding("percentile", trusted)) if robust else pad
        else:
            pad = len(of) if padding == "all" else sizes.padding(padding, min(percentile, trusted))
        pad = min(pad, most)
        short = sizes.correction(pad)
    answer: Estimate = yield Ask.of(f"which {about}", line.next(shares[1]), which(of), oracles[1], epsilon, pad=pad)
    of = asked_of(answer, of)
    correction = short if corrected else 1.0
    values = answer.values * correction
    variance = answer.variance * correction**2 + cut_off(values, short) ** 2
    return Estimated(of=of, values=values, variance=variance, pad=pad, correction=correction, sizes=sizes)


def size_bins(most: int, epsilon: Fraction) -> tuple[int, ...]:
    """Return the bins that sizes up to `most` are asked for in, by randomised response, where liars must not decide.

    They are few, so that a report adds little to each; with a large epsilon it does so among many too.
    """
    every = tuple(first for first in BINS if first <= most)
    if honest_share(make("grr", epsilon, len(every), single=True)) >= _SAFE:
        return every
    return tuple(first for first in FEW_BINS if first <= most)


def asked_of(answer: Estimate, of: AskedValues) -> AskedValues:
    """Return what a round was about: what is asked, but for the order of relations that were listed elsewhere."""
    question = answer.ask.question
    return question.of if isinstance(question, HowManyRelations | WhichRelations) else of


def which(of: AskedValues) -> DeviceQuestion:
    """Return the question which of these people hold."""
    return WhichRelations(of) if isinstance(of, Relations) else Which(of)


def how_many(of: AskedValues, bins: tuple[int, ...]) -> DeviceQuestion:
    """Return the question how many of these people hold."""
    return HowManyRelations(of, bins) if isinstance(of, Relations) else HowMany(of, bins)


def cut_off(values: Values | float, short: float) -> Any:
    """Return by how much estimates may be off because people hold more than the padding: half of what was cut off.

    Scaling up is right for the sum of all candidates; one that comes in large baskets more often loses more.
    """
    return np.clip(values, 0.0, 1.0) * (1 - 1 / short) / 2


def checked(
    candidates: int,
    percentile: str,
    epsilon: Fraction,
    *,
    size_oracle: str,
    oracles: tuple[str, ...],
    sizes: tuple[int, ...] = (),
    counted: int = 2,
) -> None:
    """Refuse settings that could only fail later: an oracle there is not, or one too small for what it will be asked.

    `sizes` are how many candidates each of the oracles will have, and `counted` how many sizes are told apart; what
    people answer must not decide who is refused.
    """
    if candidates < 1:
        raise MisuseError(f"There is at least one candidate for every pattern wanted; {candidates} was given.")
    if not 0 < exact(percentile, "percentile") <= 1:
        raise MisuseError(f"percentile is over 0 and at most 1, such as 0.9; {percentile} was given.")
    make(size_oracle, epsilon, counted, single=True)
    for place, oracle in enumerate(oracles):
        make(oracle, epsilon, sizes[place] if sizes else 2)


def check_room(numbers: int, setting: str) -> None:
    """Refuse a question that no device would read to its end, before anyone is asked."""
    if numbers > MOST_NUMBERS:
        raise MisuseError(
            f"A question to a device has room for {MOST_NUMBERS:,} numbers, and {numbers:,} would be in it: ask for "
            f"fewer patterns, or use fewer {setting}."
        )


def check_shares(shares: list[Fraction], message: str) -> None:
    """Refuse shares that are not shares, or so small that a round within a round would have no number left."""
    if any(share < 0 or 0 < share < LEAST_SHARE for share in shares) or not 0 < sum(shares) <= 1:
        raise MisuseError(message)


def check_parts(name: str, parts: list[Fraction]) -> None:
    """Refuse the shares of a protocol that needs people for each of its parts."""
    if any(share < LEAST_SHARE for share in parts) or sum(parts) > 1:
        raise MisuseError(f"The shares of {name} are {float(LEAST_SHARE):g} or more each, and add up to 1 at most.")


def check_padding(padding: Padding, share: Fraction, name: str) -> None:
    """Refuse a padding that is learnt where nobody is asked for sizes, and one that is none."""
    if padding in ("percentile", "predicted") and not share:
        raise MisuseError(f"The {name} is {padding}, which is learnt from sizes: give them a share over 0.")
    if isinstance(padding, int) and padding < 1:
        raise MisuseError(f"A {name} is 1 or more; {padding} was given.")
