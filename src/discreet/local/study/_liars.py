"""What a stated share of liars could have done to a result: intervals that hold whatever they sent.

A protocol's own estimates are pulled to priors that were learnt from everybody's reports, so that nobody can say how
far one report moves them. This takes the other way. Every pattern that a round asked about has an estimate that is
linear in that round's reports, and each report of it adds between two numbers that the oracle has. So how far a share
of the reports moves that estimate is known, whatever is in them. `docs/poisoning.md` has the derivation. Nothing here
asks anybody.
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
from ._pair_questions import WhichRelations
from ._questions import BinnedCount, CandidateList, DeviceQuestion, Which

# The two ends of an interval, as fractions of people.
Ends: TypeAlias = tuple[float, float]
# What a round asks about: an itemset, or a relation, of which the order of its items counts unless they are together.
Asked: TypeAlias = tuple[str, tuple[int, ...]]
# Where that stands among the values of a round; None where the round is not about it.
Places: TypeAlias = Callable[[Asked], int | None]

RISK = 0.05
"""In how many of all cases an interval may miss the truth: half of that for either end."""
_TRIED = 9  # frequencies, from end to end, among which the one with the largest variance is looked for


@dataclass(frozen=True, kw_only=True, eq=False)
class DirectRound:
    """A round about patterns one by one, some of whose reports are made up.

    Parameters
    ----------
    values, noise
        The estimates, and their largest standard deviation wherever between the ends the truth is.
    falls, rises
        By how much the lower end falls and the upper one rises, for what liars may have added and taken away.
    cut, cut_noise
        How many people's answers the padding cuts off at most, liars allowed for, and its standard deviation: of a
        pattern no more than that is missing.
    """

    values: NDArray[np.float64]
    noise: NDArray[np.float64]
    falls: float
    rises: float
    cut: float
    cut_noise: float

    @classmethod
    def of(cls, heard: Estimate, sizes: Estimate | None, share: float) -> DirectRound:
        """Return what a round says where up to this share of its reports, and of those about sizes, is made up."""
        oracle = heard.ask.frequencies
        falls, rises = reach(oracle, share)
        noise = np.zeros(len(heard.values))
        for step in np.linspace(-falls, rises, _TRIED):
            np.maximum(noise, oracle.spread(heard.values + step, heard.people), out=noise)
        np.sqrt(noise, out=noise)
        cut, cut_noise = _cut_off(oracle, sizes, share)
        return cls(values=heard.values, noise=noise, falls=falls, rises=rises, cut=cut, cut_noise=cut_noise)

    def ends(self, place: int, deviations: float) -> Ends:
        """Return between what a value's frequency lies, but for noise of so many deviations."""
        value, noise = float(self.values[place]), float(self.noise[place])
        return (
            value - self.falls - deviations * noise,
            value + self.rises + self.cut + deviations * hypot(noise, self.cut_noise),
        )


def reach(oracle: Oracle, share: float) -> Ends:
    """Return by how much a share of liars raises an estimate at most, and by how much it lowers one.

    Who names a value without holding it adds (1 - q) / (p - q) people to it. Who holds it and does not name it takes
    away what an honest report adds on average, and q / (p - q) more: p / (p - q). Where values are solved for together,
    each of it may be a little more (`amplified`).
    """
    held, other, share = oracle.p_held, oracle.p_other, share * float(oracle.amplified)
    return share * float((1 - other) / (held - other)), share * float(held / (held - other))


class LiarBounds:
    """Between what the frequencies of patterns lie if up to a share of every round's reports is made up.

    Parameters
    ----------
    heard
        All that a conversation heard.
    share
        Of the reports of every round, the part that may be made up.
    texts
        What the items are, where no list has them: rounds that number texts otherwise are about something else.
    """

    def __init__(self, heard: Iterable[Estimate], share: Fraction, texts: tuple[str, ...] | None = None) -> None:
        self.share = share
        every = [one for one in heard if one.people and _numbers_as(one.ask.question, texts)]
        sizes = {one.ask.question.of: one for one in every if isinstance(one.ask.question, BinnedCount)}
        self._rounds: list[tuple[DirectRound, Places]] = []
        for one in every:
            question = one.ask.question
            if isinstance(question, Which | WhichRelations):
                self._rounds.append((DirectRound.of(one, sizes.get(question.of), float(share)), _places(question)))

    def itemset(self, items: tuple[int, ...], cases: int = 1) -> Ends:
        """Return the ends for an itemset, where it is one of so many cases that all have to hold."""
        return self._ends([("itemset", items)], [("itemset", (item,)) for item in items], cases)

    def relation(self, chain: tuple[int, ...], cases: int = 1) -> Ends:
        """Return the ends for a relation."""
        ways: list[Asked] = [("ordered", chain), ("together", tuple(sorted(chain)))]
        return self._ends(ways, [("itemset", (item,)) for item in chain], cases)

    def confidence(self, first: tuple[int, ...], second: tuple[int, ...]) -> Ends:
        """Return the ends for which part of those who hold the first side hold the second too."""
        low, high = self.relation(first + second, 2)
        least, most = self.itemset(first, 2) if len(first) == 1 else self.relation(first, 2)
        return min(low / most, 1.0) if most > 0 else 0.0, min(high / least, 1.0) if least > 0 else 1.0

    def _ends(self, itself: Sequence[Asked], parts: Sequence[Asked], cases: int) -> Ends:
        """Return the best ends that any round gives; where none asked about it, it is as rare as its rarest part."""
        found = self._places(itself)
        if found:
            ends = _every(found, cases)
            return max(0.0, max(low for low, _ in ends)), min(1.0, min(high for _, high in ends))
        ends = _every(self._places(parts), cases)
        return 0.0, min([1.0, *(high for _, high in ends)])

    def _places(self, wanted: Sequence[Asked]) -> list[tuple[DirectRound, int]]:
        found = [(one, places(asked)) for one, places in self._rounds for asked in wanted]
        return [(one, place) for one, place in found if place is not None]


def _every(found: Sequence[tuple[DirectRound, int]], cases: int) -> list[Ends]:
    """Return the ends of every round, so far out that the best may be picked: none misses but with the risk of one."""
    deviations = _deviations(cases * max(len(found), 1))
    return [one.ends(place, deviations) for one, place in found]


@lru_cache(maxsize=256)
def _deviations(cases: int) -> float:
    return NormalDist().inv_cdf(1 - RISK / 2 / cases)


def _numbers_as(question: DeviceQuestion, texts: tuple[str, ...] | None) -> bool:
    """Return whether a question's items are those of a list, or of these texts."""
    of = getattr(question, "of", None)
    numbers = of.texts if isinstance(of, CandidateList) else None
    return numbers is None or (texts is not None and numbers.begin == tuple(text + END for text in texts))


def _places(question: Which | WhichRelations) -> Places:
    """Return what tells the place of an itemset or a relation among the values of a round, or None where it is none."""
    asked: list[Asked]
    if isinstance(question, WhichRelations):
        if question.of.items.how == "together":
            asked = [("together", tuple(sorted(chain))) for chain in question.of.of]
        else:
            asked = [("ordered", chain) for chain in question.of.of]
    elif question.of.items:
        # Every item below a number is at its own place: millions of them need no table.
        items = question.of.items
        return lambda one: one[1][0] if one[0] == "itemset" and len(one[1]) == 1 and one[1][0] < items else None
    else:
        asked = [("itemset", itemset) for itemset in question.of.itemsets]
    return {one: place for place, one in enumerate(asked)}.get


def _cut_off(oracle: Oracle, sizes: Estimate | None, share: float) -> Ends:
    """Return how many people's answers for one value a padding cuts off at most, and the noise of that.

    Who holds m candidates, more than the padding, answers for each with a chance of padding / m. So what is missing of
    a value is at most the mean of 1 - padding / m, whoever holds it. Sizes are told in bins, and the largest size of
    each counts; what is over the last bin is at most all candidates.
    """
    if oracle.pad >= oracle.size:
        return 0.0, 0.0
    if sizes is None:
        return 1.0, 0.0
    binned = sizes.ask.question
    assert isinstance(binned, BinnedCount)  # noqa: S101
    largest = np.array([*(start - 1 for start in binned.bins[1:]), max(oracle.size, binned.bins[-1])])
    missing = np.maximum(1 - oracle.pad / np.maximum(largest, 1), 0.0)
    told = sizes.ask.frequencies
    q, apart, most, whole = (
        float(told.p_other),
        float(told.p_held - told.p_other),
        float(missing.max()),
        float(missing.sum()),
    )
    # Who is asked for a size and names none of those that count takes away their own, and what they seem to add less.
    more = float(told.amplified)
    rises = share * more * (most + q * whole / apart)
    square = q * (1 - q) * float((missing**2).sum()) + apart * max(1 - 2 * q, 0.0) * most**2
    noise = more * sqrt((square + told.excess * whole**2) / sizes.people) / apart
    return max(float(missing @ sizes.values), 0.0) + rises, noise
