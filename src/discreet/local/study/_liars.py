"""Intervals that hold for any reports by a stated share of liars.

The estimates of a protocol are shrunk to priors that were learnt from all reports, so that the influence of one report
on them is unknown. The bounds here start from the rounds instead. The estimate of a pattern by a round that asked about
it is linear in the reports of the round, and the oracle bounds the part of each report. So the influence of a share of
the reports on this estimate is bounded, for any reports. `docs/poisoning.md` has the derivation. The bounds need no
further question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import hypot, sqrt
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import Oracle
from ..device import END
from ._conversation import Estimate
from ._pair_questions import Relations
from ._questions import CandidateList, CandidateQuestion, DeviceQuestion, QuestionCandidates, SizeQuestion

# The low and the high end of an interval, as fractions of people.
Interval: TypeAlias = tuple[float, float]
# A pattern with its kind: "itemset", or a relation that is "ordered" or "together".
Pattern: TypeAlias = tuple[str, tuple[int, ...]]
# Returns the position of a pattern among the values of a round; None for a pattern of no value.
FindPosition: TypeAlias = Callable[[Pattern], int | None]

# The probability that an interval misses the truth, one half for either end: the usual level of 95 %.
RISK = 0.05
# The number of frequencies in the interval among which the largest variance is searched. The variance is a parabola in
# the frequency: with 9 points, the nearest is within 1/16 of the peak, where the parabola has 98 % of its height.
_VARIANCE_GRID = 9


@dataclass(frozen=True, kw_only=True, eq=False)
class DirectRound:
    """A round about single patterns, with a share of reports by liars.

    Parameters
    ----------
    values, noise
        The estimates, and their largest standard deviation for any true frequency in the interval.
    low_margin, high_margin
        The distance to the low end, for reports that liars may have added, and to the high end, for reports that they
        may have withheld.
    truncated, truncated_noise
        An upper bound on the fraction of the people with an answer that the padding truncates, liars included, and its
        standard deviation.
    """

    values: NDArray[np.float64]
    noise: NDArray[np.float64]
    low_margin: float
    high_margin: float
    truncated: float
    truncated_noise: float

    @classmethod
    def of(cls, answer: Estimate, sizes: Estimate | None, share: float) -> DirectRound:
        """Return a round of which a share of the reports, and of the reports about sizes, is by liars."""
        oracle = answer.ask.frequencies
        low_margin, high_margin = liar_margins(oracle, share)
        variance = np.zeros(len(answer.values))
        for step in np.linspace(-low_margin, high_margin, _VARIANCE_GRID):
            np.maximum(variance, oracle.spread(answer.values + step, answer.people), out=variance)
        truncated, truncated_noise = _truncated_fraction(oracle, sizes, share)
        return cls(
            values=answer.values,
            noise=np.sqrt(variance),
            low_margin=low_margin,
            high_margin=high_margin,
            truncated=truncated,
            truncated_noise=truncated_noise,
        )

    def interval(self, position: int, deviations: float) -> Interval:
        """Return the interval of a value's frequency, with noise of `deviations` standard deviations."""
        value, noise = float(self.values[position]), float(self.noise[position])
        return (
            value - self.low_margin - deviations * noise,
            value + self.high_margin + self.truncated + deviations * hypot(noise, self.truncated_noise),
        )


def liar_margins(oracle: Oracle, share: float) -> Interval:
    """Return the largest errors that a share of liars adds to an estimate, and takes from it.

    With p = `p_held` and q = `p_other`, a liar with the name of a value outside the basket adds (1 - q) / (p - q). A
    liar without the name of a held value takes p / (p - q). An oracle that solves for values together multiplies both
    by `amplified`.
    """
    p, q, share = oracle.p_held, oracle.p_other, share * float(oracle.amplified)
    return share * float((1 - q) / (p - q)), share * float(p / (p - q))


class LiarBounds:
    """Intervals of frequencies that hold if up to a share of every round's reports is by liars.

    Parameters
    ----------
    estimates
        All estimates of a conversation.
    share
        The share of the reports of every round that may be by liars.
    texts
        The text of each item, if no list has the items: rounds with a different numbering of texts are ignored.
    """

    def __init__(self, estimates: Iterable[Estimate], share: Fraction, texts: tuple[str, ...] | None = None) -> None:
        self.share = share
        answers = [answer for answer in estimates if answer.people and _has_item_numbers(answer.ask.question, texts)]
        questions = [(answer, answer.ask.question) for answer in answers]
        sizes = {question.candidates: answer for answer, question in questions if isinstance(question, SizeQuestion)}
        self._rounds: list[tuple[DirectRound, FindPosition]] = [
            (
                DirectRound.of(answer, sizes.get(question.candidates), float(share)),
                _position_finder(question.candidates),
            )
            for answer, question in questions
            if isinstance(question, CandidateQuestion)
        ]

    def itemset(self, items: tuple[int, ...], cases: int = 1) -> Interval:
        """Return the interval of an itemset, such that `cases` intervals together hold with the risk of one."""
        return self._interval([("itemset", items)], items, cases)

    def relation(self, chain: tuple[int, ...], cases: int = 1) -> Interval:
        """Return the interval of a relation, such that `cases` intervals together hold with the risk of one."""
        return self._interval([("ordered", chain), ("together", tuple(sorted(chain)))], chain, cases)

    def confidence(self, first_side: tuple[int, ...], second_side: tuple[int, ...]) -> Interval:
        """Return the interval of a confidence: the fraction of the holders of `first_side` with `second_side` too."""
        low, high = self.relation(first_side + second_side, 2)
        first_low, first_high = self.itemset(first_side, 2) if len(first_side) == 1 else self.relation(first_side, 2)
        return min(low / first_high, 1.0) if first_high > 0 else 0.0, min(
            high / first_low, 1.0
        ) if first_low > 0 else 1.0

    def _interval(self, kinds: Sequence[Pattern], items: tuple[int, ...], cases: int) -> Interval:
        """Return the narrowest interval of a pattern; without a round about it, it is as rare as its rarest item."""
        intervals = self._intervals(kinds, cases)
        if intervals:
            return max(0.0, max(low for low, _ in intervals)), min(1.0, min(high for _, high in intervals))
        intervals = self._intervals([("itemset", (item,)) for item in items], cases)
        return 0.0, min([1.0, *(high for _, high in intervals)])

    def _intervals(self, patterns: Sequence[Pattern], cases: int) -> list[Interval]:
        """Return the interval by each round, so wide that the narrowest may be selected with the risk of one."""
        candidates = [(answer, find(pattern)) for answer, find in self._rounds for pattern in patterns]
        positions = [(answer, position) for answer, position in candidates if position is not None]
        deviations = _deviations(cases * max(len(positions), 1))
        return [answer.interval(position, deviations) for answer, position in positions]


@lru_cache(maxsize=256)
def _deviations(cases: int) -> float:
    return NormalDist().inv_cdf(1 - RISK / 2 / cases)


def _has_item_numbers(question: DeviceQuestion, texts: tuple[str, ...] | None) -> bool:
    """Return whether a question's items are on a list, or are numbered as the texts of the result."""
    candidates = getattr(question, "candidates", None)
    numbers = candidates.texts if isinstance(candidates, CandidateList) else None
    return numbers is None or (texts is not None and numbers.begin == tuple(text + END for text in texts))


def _position_finder(candidates: QuestionCandidates) -> FindPosition:
    """Return a function from a pattern to its position among the candidates, or None for a further pattern."""
    if isinstance(candidates, CandidateList) and candidates.items:
        # The position of every item below a number is the item: millions of items need no table.
        item_count = candidates.items
        return lambda pattern: (
            pattern[1][0] if pattern[0] == "itemset" and len(pattern[1]) == 1 and pattern[1][0] < item_count else None
        )
    patterns = [candidates[position] for position in range(len(candidates))]
    kind = "itemset"
    if isinstance(candidates, Relations):
        kind = "together" if candidates.items.how == "together" else "ordered"
        patterns = [tuple(sorted(chain)) for chain in patterns] if kind == "together" else patterns
    return {(kind, pattern): position for position, pattern in enumerate(patterns)}.get


def _truncated_fraction(oracle: Oracle, sizes: Estimate | None, share: float) -> Interval:
    """Return an upper bound on the fraction of people with a truncated answer, and its standard deviation.

    A person with m candidates, more than the padding, answers for each with probability padding / m. So the truncated
    part of a value is at most the mean of 1 - padding / m, for any holders. Sizes have bins: the largest size of a bin
    counts, and the last bin reaches to all candidates.
    """
    if oracle.pad >= oracle.size:
        return 0.0, 0.0
    if sizes is None:
        return 1.0, 0.0
    question = sizes.ask.question
    assert isinstance(question, SizeQuestion)  # noqa: S101
    largest_sizes = np.array([*(start - 1 for start in question.bins[1:]), max(oracle.size, question.bins[-1])])
    truncated = np.maximum(1 - oracle.pad / np.maximum(largest_sizes, 1), 0.0)
    size_oracle = sizes.ask.frequencies
    q, difference = float(size_oracle.p_other), float(size_oracle.p_held - size_oracle.p_other)
    largest, total = float(truncated.max()), float(truncated.sum())
    # A liar about sizes without the name of a counted bin takes away the own part, and the mean of the added noise.
    amplified = float(size_oracle.amplified)
    liar_part = share * amplified * (largest + q * total / difference)
    variance = q * (1 - q) * float((truncated**2).sum()) + difference * max(1 - 2 * q, 0.0) * largest**2
    noise = amplified * sqrt((variance + size_oracle.excess * total**2) / sizes.people) / difference
    return max(float(truncated @ sizes.values), 0.0) + liar_part, noise
