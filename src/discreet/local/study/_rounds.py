"""Two rounds that protocols share: the number of candidates per person, and the frequency of each candidate."""

from __future__ import annotations

from collections.abc import Generator, Mapping
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
from ._conversation import Ask, Estimate, Partition, ProtocolResult
from ._questions import CandidateQuestion, ListQuestion, QuestionCandidates, SizeQuestion

Values: TypeAlias = NDArray[np.float64]
# The padding: a number, the size that nine in ten people do not exceed, the number of the least predicted error, or
# the number of candidates.
Padding: TypeAlias = int | Literal["percentile", "predicted", "all"]
# The bins of sizes: each size by itself as in the paper, or bins that widen, to which a law of sizes is fitted.
SizeBinning: TypeAlias = Literal["each", "bins"]

# Devices draw 32-bit numbers: with smaller shares, a round within a round would have no number left.
MIN_SHARE = Fraction(1, 10_000)
# Larger sizes count as this one. Larger: the correction covers larger baskets, and each bin is noisier. Half and
# double: `python -m benchmarks.constants LARGEST_SIZE`.
LARGEST_SIZE = 64
# The frequency of the last pattern of the top, before a round has measured it: a guess that only steers paddings. Half
# and double: `python -m benchmarks.constants TYPICAL_FREQUENCY`.
TYPICAL_FREQUENCY = 0.03
# Sizes get all bins where liars can change the sizes of less than one in ten people, few bins otherwise: in fact at an
# epsilon of 4, and not of 3 (`adept.md`, line 3).
_SAFE_SHARE = 0.9
# The paddings that are compared. Neighbours differ by a quarter at most, and so hardly in their error.
PADDINGS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 17, 20, 24, 29, 35, 40)


@dataclass(frozen=True, kw_only=True)
class SizesRound:
    """The sizes learnt from a round: the fractions of people with 1, 2, 3, … candidates.

    Parameters
    ----------
    fractions
        The fraction of each size, from 1 on; 0 for a size that does not stand out from noise.
    min_large_fraction
        The smallest fraction that a size of over twice the padding needs to count: noise there weighs most.
    """

    fractions: Values
    min_large_fraction: float = 0.0

    @classmethod
    def of(cls, answer: Estimate, binning: SizeBinning = "each") -> SizesRound:
        """Return the sizes of a round.

        With a bin for each size, sizes that stand out from the noise count (the significance threshold of section V).
        With bins that widen, a law of sizes is fitted (`HeldSizes`).
        """
        question = answer.ask.question
        if not isinstance(question, SizeQuestion):
            raise MisuseError("Sizes are learnt from a round that asks how many.")
        bins = question.bins
        if binning == "bins":
            return cls(fractions=HeldSizes.fit(answer, bins, len(question.candidates)).fractions())
        deviation = sqrt(answer.ask.frequencies.variance(0.0, answer.people))  # of this group and its oracle (A8)
        threshold = NormalDist().inv_cdf(1 - 0.05 / (len(bins) - 1))
        fractions = np.zeros(bins[-1])
        for low, high, value in zip(bins[1:], (*bins[2:], bins[-1] + 1), answer.values[1:], strict=True):
            if value > threshold * deviation:
                sizes = np.arange(low, high)
                fractions[sizes - 1] = value / sizes / (1 / sizes).sum()
        return cls(
            fractions=fractions, min_large_fraction=NormalDist().inv_cdf(1 - 0.001 / (len(bins) - 1)) * deviation
        )

    def padding(self, rule: int | Literal["percentile"], percentile: Fraction) -> int:
        """Return a given padding, or the size that a share of people does not exceed; 1 if no size stands out (A8)."""
        if isinstance(rule, int):
            return rule
        total = self.fractions.sum()
        if total <= 0:
            return 1
        is_reached = np.cumsum(self.fractions) / total > float(percentile)
        is_reached[np.flatnonzero(self.fractions)[-1]] = True  # the largest size that stands out is never exceeded
        return int(np.argmax(is_reached)) + 1

    def best_padding(
        self, oracle: str, epsilon: Fraction, size: int, people: float, frequency: float, liars: float = 0.0
    ) -> int:
        """Return the padding with the least predicted error of a candidate of some frequency.

        The error has three parts: noise, which grows with the padding; the sum that a share of `liars` can add; and
        half of the truncated part, which the correction restores on average only.
        """
        errors: dict[int, float] = {}
        for pad in PADDINGS:
            if pad > 1 and pad > len(self.fractions):
                break
            correction = self.correction(pad)
            try:
                noise = error(
                    make(oracle, epsilon, size, pad=pad), frequency / correction, max(1, round(people)), liars
                )
            except MisuseError:
                break  # the oracle has no room for this padding, nor for a longer one
            errors[pad] = correction**2 * noise + float(truncation_error(frequency, correction)) ** 2
        return min(errors, key=lambda pad: (errors[pad], pad), default=1)

    def correction(self, pad: int) -> float:
        """Return the factor that restores the truncated part: a ratio of sums (A5, A6).

        By noise alone, some size stands out in one of twenty runs. A size of over twice the padding could double the
        ratio, so it counts only if it stands out as noise does in one of a thousand runs.
        """
        sizes = np.arange(1, len(self.fractions) + 1)
        is_doubtful = (sizes > 2 * pad) & (self.fractions < self.min_large_fraction)
        fractions = np.where(is_doubtful, 0.0, self.fractions)
        padded_sum = float((np.minimum(sizes, pad) * fractions).sum())
        return float((sizes * fractions).sum()) / padded_sum if padded_sum > 0 else 1.0


@dataclass(frozen=True, kw_only=True, eq=False)
class CandidateEstimates:
    """Estimated frequencies of candidates.

    Parameters
    ----------
    candidates
        The candidates.
    values, variance
        The fraction of the people with each candidate, and its variance.
    pad, correction
        The padding of the round, and the factor that restores the truncated part.
    sizes
        The sizes that the padding was selected by, if a round asked for sizes.
    """

    candidates: QuestionCandidates
    values: Values
    variance: Values
    pad: int
    correction: float
    sizes: SizesRound | None = None

    def select_best(self, count: int) -> list[int]:
        """Return the positions of the `count` most frequent candidates, ties in the order of the candidates."""
        positions: list[int] = np.argsort(-self.values, kind="stable")[:count].tolist()
        return positions

    def frequency_at(self, rank: int) -> float:
        """Return the frequency of the candidate at a rank, counted from 1."""
        return frequency_at(self.values, rank)

    def build_result(self, facts: Mapping[str, Any]) -> ProtocolResult:
        """Return all candidates as the result of a study."""
        itemsets = [self.candidates[position] for position in range(len(self.candidates))]
        return ProtocolResult.ranked(itemsets, self.values, self.variance, facts)


def frequency_at(values: Values, rank: int) -> float:
    """Return the value at a rank, counted from 1 for the largest, clipped to the range of a frequency."""
    return min(max(1e-4, float(np.sort(values)[::-1][min(rank, len(values)) - 1])), 1.0)


def estimate_candidates(
    candidates: QuestionCandidates,
    line: Partition,
    shares: tuple[Fraction, Fraction],
    epsilon: Fraction,
    *,
    oracles: tuple[str, str],
    padding: Padding,
    percentile: Fraction = Fraction(9, 10),
    corrected: bool = True,
    binning: SizeBinning = "each",
    frequency: float = TYPICAL_FREQUENCY,
    largest_size: int | None = None,
    robust: bool = False,
    about: str,
) -> Generator[Ask, Any, CandidateEstimates]:
    """Ask for the number of candidates per person, if the padding needs it, and then for the candidates.

    Parameters
    ----------
    candidates
        The candidates.
    line
        The people without a question so far.
    shares, oracles
        The shares of the people and the names of the oracles: for the sizes, and for the candidates.
    epsilon
        The epsilon of a report.
    padding, percentile
        The padding, or its rule.
    corrected
        Whether estimates are multiplied by the correction of the padding.
    binning
        The bins of sizes.
    frequency
        The frequency of candidates that have to be ranked, for a predicted padding.
    largest_size
        The size that all larger sizes count as; by default the number of candidates.
    robust
        Whether liars are considered: the padding counts the influence of one report as an error, sizes have few bins,
        and the padding is no longer than liars about sizes can make it.
    about
        The name of the candidates, for the names of the rounds.
    """
    # No person holds more than all candidates, and no answer may lead to a padding that the oracle refuses.
    max_pad = min(len(candidates), largest_padding(oracles[1], epsilon))
    pad, truncated, sizes = min(padding if isinstance(padding, int) else len(candidates), max_pad), 1.0, None
    if shares[0]:
        bins = tuple(low for low in BINS if low <= len(candidates))
        if robust:
            bins = size_bins(len(candidates), epsilon)
        elif binning == "each":
            bins = tuple(range(min(len(candidates), largest_size or len(candidates)) + 1))
        size_oracle = "grr" if robust else oracles[0]
        answer: Estimate = yield Ask.of(
            f"how many {about}", line.next(shares[0]), SizeQuestion(candidates, bins), size_oracle, epsilon
        )
        candidates = asked_candidates(answer)
        sizes = SizesRound.of(answer, binning)
        trusted_share = Fraction(honest_share(answer.ask.frequencies)) if robust else Fraction(1)
        if padding == "predicted":
            people = answer.people * float(shares[1] / shares[0])
            liars = LIARS if robust else 0.0
            pad = sizes.best_padding(oracles[1], epsilon, len(candidates), people, frequency, liars)
            pad = min(pad, sizes.padding("percentile", trusted_share)) if robust else pad
        else:
            pad = len(candidates) if padding == "all" else sizes.padding(padding, min(percentile, trusted_share))
        pad = min(pad, max_pad)
        truncated = sizes.correction(pad)
    answer = yield Ask.of(
        f"which {about}", line.next(shares[1]), CandidateQuestion(candidates), oracles[1], epsilon, pad=pad
    )
    correction = truncated if corrected else 1.0
    values = answer.values * correction
    return CandidateEstimates(
        candidates=asked_candidates(answer),
        values=values,
        variance=answer.variance * correction**2 + truncation_error(values, truncated) ** 2,
        pad=pad,
        correction=correction,
        sizes=sizes,
    )


def size_bins(size: int, epsilon: Fraction) -> tuple[int, ...]:
    """Return the bins for sizes up to `size`, asked by randomised response, with little influence of liars.

    With few bins, a report adds little to each. With a large epsilon, it adds little to each of many bins too.
    """
    bins = tuple(low for low in BINS if low <= size)
    if honest_share(make("grr", epsilon, len(bins), single=True)) >= _SAFE_SHARE:
        return bins
    return tuple(low for low in FEW_BINS if low <= size)


def asked_candidates(answer: Estimate) -> QuestionCandidates:
    """Return the candidates of a round, in the order of its question: a different processor may have ordered them."""
    question = answer.ask.question
    if not isinstance(question, ListQuestion):
        raise MisuseError(f"The round {answer.ask.name!r} is not about candidates.")
    return question.candidates


def truncation_error(values: Values | float, correction: float) -> Any:
    """Return the standard error that a padding leaves in estimates: half of the part that it truncates.

    The correction is right for the sum of all candidates; a candidate that is frequent in large baskets loses more.
    """
    return np.clip(values, 0.0, 1.0) * (1 - 1 / correction) / 2


def check_candidates(
    candidates: int,
    percentile: str,
    epsilon: Fraction,
    *,
    size_oracle: str,
    oracles: tuple[str, ...],
    counts: tuple[int, ...] = (),
    size_count: int = 2,
) -> None:
    """Check settings that could only fail later: unknown oracles, and oracles with too little room.

    Answers must not decide whether a setting is refused: so it is refused before the first question.

    Parameters
    ----------
    candidates
        The number of candidates per pattern of the top, 1 or more.
    percentile
        The share of people within the padding, as text.
    epsilon
        The epsilon of a report.
    size_oracle, size_count
        The oracle for sizes, and the number of sizes.
    oracles, counts
        The oracles for candidates, and the number of candidates of each; 2 by default.
    """
    if candidates < 1:
        raise MisuseError(f"There is at least one candidate for every pattern wanted; {candidates} was given.")
    if not 0 < exact(percentile, "percentile") <= 1:
        raise MisuseError(f"percentile is over 0 and at most 1, such as 0.9; {percentile} was given.")
    make(size_oracle, epsilon, size_count, single=True)
    for oracle, count in zip(oracles, counts or [2] * len(oracles), strict=True):
        make(oracle, epsilon, count)


def check_room(numbers: int, setting: str) -> None:
    """Check that a question has at most as many numbers as a device reads."""
    if numbers > MOST_NUMBERS:
        raise MisuseError(
            f"A question to a device has room for {MOST_NUMBERS:,} numbers, and {numbers:,} would be in it: ask for "
            f"fewer patterns, or use fewer {setting}."
        )


def check_shares(shares: list[Fraction], message: str, required: tuple[int, ...]) -> None:
    """Check shares of the people, of which only the `required` positions must be over 0."""
    has_wrong_share = any(share < 0 or 0 < share < MIN_SHARE for share in shares) or sum(shares) > 1
    if has_wrong_share or not all(shares[position] for position in required):
        raise MisuseError(message)


def check_parts(name: str, parts: list[Fraction]) -> None:
    """Check the shares of a protocol that needs people for each of its parts."""
    if any(share < MIN_SHARE for share in parts) or sum(parts) > 1:
        raise MisuseError(f"The shares of {name} are {float(MIN_SHARE):g} or more each, and add up to 1 at most.")


def check_padding(padding: Padding, share: Fraction, name: str) -> None:
    """Check a padding: to learn it from sizes needs a share of the people for sizes."""
    if padding in ("percentile", "predicted") and not share:
        raise MisuseError(f"The {name} is {padding}, which is learnt from sizes: give them a share over 0.")
    if isinstance(padding, int) and padding < 1:
        raise MisuseError(f"A {name} is 1 or more; {padding} was given.")
