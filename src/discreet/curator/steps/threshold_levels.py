"""Patterns over a threshold, one length after the other: what `truncated-naive` and `truncated` have in common.

Single items first, then pairs of those that may be frequent, and so on up to a longest length, the user's own or one
that is estimated. Each length has its share of the budget and its own noise; where the lengths end early, what is left
counts again what is still in the running, so that nothing is wasted.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt
from typing import ClassVar

import numpy as np

from ...errors import MisuseError
from ...exact.query import Largest, Sizes, Truncation
from ...privacy.budget import Budget
from ...privacy.meter import Meter, Noisy
from ...privacy.sealed import SealedEngine
from ...results.itemsets import Itemsets
from ..mechanism import Answers, Found, Mechanism, Plan, Task
from .candidate_join import joined, rows
from .truncation import (
    CITATION,
    F64,
    I64,
    SIZES,
    Bound,
    Spread,
    check_choice,
    check_numbers,
    check_shares,
    sizing,
    supports,
)

LONGEST = "estimating the longest pattern"
ITEMSETS = "counting the itemsets"

# Counts below the threshold that noise would lift over it less often than this are not told apart.
_LIFTED = 0.01
# Counts in scores are cut off here, beyond any number of people: so sums of them fit their type, whatever the noise.
_SCORE = 2**40


@dataclass(frozen=True, eq=False)
class Level:
    """The candidates of one length, counted: in baskets that were cut, and with noise.

    `scores` are what the candidates came with, `kept` is the share of people that the cut is taken to leave, `left` the
    same by the sizes of their baskets.
    """

    itemsets: Itemsets
    scores: I64
    noisy: Noisy
    longest: int
    kept: float
    left: F64

    def only(self, places: I64) -> Level:
        """Return the candidates at these places."""
        noisy = replace(self.noisy, values=self.noisy.values[places])
        return replace(self, itemsets=self.itemsets.take(places), scores=self.scores[places], noisy=noisy)

    def merged(self, again: Level) -> Level:
        """Return the same candidates counted twice as if counted once, the less noisy count weighing more."""
        one, other = self.noisy.variance, again.noisy.variance
        weight = other / (one + other) if one + other else Fraction(1, 2)
        share = float(weight)

        variance = weight**2 * one + (1 - weight) ** 2 * other
        # The sum of two Laplace variables has lighter tails than one of the same variance: the margin is no smaller.
        scale = None if self.noisy.scale is None else Fraction(sqrt(variance / 2))
        values = np.rint(share * self.noisy.values + (1 - share) * again.noisy.values).astype(np.int64)
        return replace(
            self,
            noisy=Noisy(values, scale, variance),
            kept=share * self.kept + (1 - share) * again.kept,
            left=share * self.left + (1 - share) * again.left,
        )


@dataclass(frozen=True, kw_only=True)
class ThresholdLevels(Mechanism):
    """Settings that mining level by level has.

    Parameters
    ----------
    longest
        How many items a pattern has at most, where you know; otherwise it is estimated (algorithm 9).
    upper
        The largest number that such an estimate can give.
    coverage
        Baskets are cut to the length that this share of people does not exceed.
    longest_size
        The largest size of baskets that is told apart.
    bound
        How many candidates one basket holds at most: by how often each item is in them (``"degrees"``), or by the
        number of subsets alone, as printed (``"binomial"``).
    candidates
        How many candidates of one length are counted at most: the best by their subsets' noisy counts.
    """

    longest: int | None = None
    upper: int = 32
    coverage: Fraction = Fraction(17, 20)
    longest_size: int = 64
    bound: Bound = "degrees"
    candidates: int = 20_000

    citation: ClassVar[str] = CITATION
    answers: ClassVar[tuple[Answers, ...]] = ("threshold",)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_shares(self, "coverage")
        check_numbers(self, "upper", "longest_size", "candidates", *([] if self.longest is None else ["longest"]))
        check_choice("bound", self.bound, Bound)

    def check(self, task: Task, budget: Budget) -> None:
        """Refuse patterns that are longer than the settings allow."""
        super().check(task, budget)
        name, most = ("upper", self.upper) if self.longest is None else ("longest", self.longest)
        if task.least > most:
            raise MisuseError(
                f"Patterns of at least {task.least} items were asked for, but the setting {name} of {self.name} is "
                f"{most}: set it to {task.least} or more."
            )

    def plan(self, task: Task) -> Plan:
        """Estimate the longest length where it is not given, count sizes, and count itemsets with all the rest.

        What the first steps do not use of their shares goes to the last one.
        """
        steps: Plan = []
        rest = Fraction(1)
        least, most = self._lengths(task)
        if least < most:
            steps.append((LONGEST, _estimating(task)))
            rest -= _estimating(task)
        sizes = sizing(task, rest)
        return [*steps, (SIZES, sizes), (ITEMSETS, rest - sizes)]

    def run(self, engine: SealedEngine, task: Task, meter: Meter) -> Found:
        """Count the itemsets of one length after the other."""
        least, most = self._lengths(task)
        longest = most
        if least < most:
            longest = estimate_longest(engine, task.count or 1, meter, _estimating(task), least, most)
        each = meter.left / longest
        sized = sizing(task, each)
        sizes = meter.count(SIZES, engine, Sizes(min(self.longest_size, task.items)), sized)
        # The length is read from the noisy histogram only: the longest basket that is left would be private (C3).
        spread = Spread.of(sizes, task.items)
        situation = Situation(
            engine=engine,
            task=task,
            meter=meter,
            spread=spread,
            first=Truncation(spread.covering(self.coverage), meter.secret()),
        )
        sets, scores = rows(np.arange(task.items, dtype=np.int32)[:, None]), np.zeros(task.items, np.int64)
        levels: list[Level] = []
        for size in range(1, longest + 1):
            share = meter.left if size == longest else each - sized if size == 1 else each
            level = self._counted(situation, size, sets, scores, share)
            levels.append(level)
            if size == longest:
                break
            hopeful = level.only(np.flatnonzero(self.ceilings(level) >= situation.count))
            promise = np.clip(hopeful.noisy.values, 0, _SCORE)
            sets, scores = joined(hopeful.itemsets, promise, self.candidates, task.lineage)
            if not len(sets) or size == self._deepest(situation):
                levels = self._again(situation, levels)
                break
        return self._found(situation, longest, levels)

    def _lengths(self, task: Task) -> tuple[int, int]:
        """Return between which numbers the longest length is looked for; the same number twice where it is known."""
        most = min(self.upper if self.longest is None else self.longest, task.longest, task.items)
        most = max(most, task.least)
        return (task.least if self.longest is None else most), most

    def _deepest(self, situation: Situation) -> int:
        """Return the longest itemset that cut baskets can hold."""
        return situation.task.items

    def _counted(self, situation: Situation, size: int, sets: Itemsets, scores: I64, share: Fraction) -> Level:
        """Cut the baskets, count the candidates of one length, and say what the cut may have cost."""
        truncation = self.truncation(situation, size, sets, scores, share)
        query = supports(self.bound, sets, truncation)
        noisy = situation.meter.count(ITEMSETS, situation.engine, query, share)
        spread = situation.spread
        return Level(
            itemsets=sets,
            scores=scores,
            noisy=noisy,
            longest=truncation.longest,
            kept=self.kept(spread, size, min(truncation.longest, spread.longest)),
            left=spread.left(size, truncation.longest),
        )

    def _again(self, situation: Situation, levels: list[Level]) -> list[Level]:
        """Spend what is left on counting again what may still be frequent; all items, where nothing may."""
        hopeful = [level.only(np.flatnonzero(self.ceilings(level) >= situation.count)) for level in levels]
        hopeful = [level for level in hopeful if len(level.itemsets)] or levels[:1]
        merged = []
        for done, level in enumerate(hopeful):
            share = situation.meter.left / (len(hopeful) - done)
            size = int(level.itemsets.sizes[0])
            merged.append(level.merged(self._counted(situation, size, level.itemsets, level.scores, share)))
        return merged

    def _found(self, situation: Situation, longest: int, levels: Sequence[Level]) -> Found:
        """Return the patterns of all levels whose estimates are over the threshold."""
        task = situation.task
        several, columns = [], [[np.empty(0)] for _ in range(3)]
        for level in levels:
            if int(level.itemsets.sizes[0]) < task.least:
                continue
            estimates = self.estimates(level)
            low, high = situation.spread.interval(level.noisy, level.left)
            places = np.flatnonzero(estimates >= situation.count)
            several.append(level.itemsets.take(places))
            for column, values in zip(
                columns, (estimates, np.minimum(low, estimates), np.maximum(high, estimates)), strict=True
            ):
                column.append(values[places])
        estimates, low, high = map(np.concatenate, columns)
        return Found(
            itemsets=Itemsets.joined(several),
            estimates=estimates if task.counts else None,
            low=low if task.counts else None,
            high=high if task.counts else None,
            facts={
                "longest pattern looked for": longest,
                "sizes of patterns counted": [int(level.itemsets.sizes[0]) for level in levels],
                "candidates counted": [len(level.itemsets) for level in levels],
                "lengths baskets were cut to": [level.longest for level in levels],
            },
            notes=self._notes(longest, levels),
        )

    def _notes(self, longest: int, levels: Sequence[Level]) -> tuple[str, ...]:
        cuts = ", ".join(f"{level.longest} ({int(level.itemsets.sizes[0])})" for level in levels)
        notes = [
            f"Patterns of up to {longest} items were looked for. Before they were counted, baskets were cut to at most "
            f"this many items (for patterns of so many): {cuts}."
        ]
        if any(len(level.itemsets) == self.candidates and level.itemsets.sizes[0] > 1 for level in levels):
            notes.append(
                f"Of one length, only the {self.candidates:,} most promising candidates were counted: the setting "
                "candidates allows for more."
            )
        return tuple(notes)

    @abstractmethod
    def truncation(self, situation: Situation, size: int, sets: Itemsets, scores: I64, share: Fraction) -> Truncation:
        """Return how baskets are cut before these candidates are counted."""

    @abstractmethod
    def kept(self, spread: Spread, size: int, longest: int) -> float:
        """Return the share of an itemset's people that the cut is taken to leave."""

    @abstractmethod
    def estimates(self, level: Level) -> F64:
        """Return the estimates of the true counts, by which itemsets are frequent or not."""

    @abstractmethod
    def ceilings(self, level: Level) -> F64:
        """Return how large the true counts may be, by which itemsets stay in the running."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Situation:
    """What all levels of one run share: `first` is how baskets are cut for single items."""

    engine: SealedEngine
    task: Task
    meter: Meter
    spread: Spread
    first: Truncation

    @property
    def count(self) -> int:
        """The threshold: a number of people, never a fraction of an exact one (C4)."""
        return self.task.count or 1


def _estimating(task: Task) -> Fraction:
    """Return the share that estimates the longest length: a twentieth, or an epsilon of 0.05 up to a tenth (C8)."""
    least = Fraction(1, 20)
    return min(max(least, least / task.epsilon), Fraction(1, 10)) if task.epsilon else least


def estimate_longest(engine: SealedEngine, count: int, meter: Meter, share: Fraction, least: int, most: int) -> int:
    """Return about how many items the longest pattern over a count has, between two public numbers (algorithm 9).

    Asks for the largest count of any itemset of so many items and halves the range, at most
    ceil(log2(most - least + 1)) times (C2): it always shrinks, as the middle is above its lower end. Counts below a
    public floor are not told apart (C1): a twentieth of the threshold, or what noise would hardly lift over it.
    """
    comparisons = (most - least).bit_length()
    each = share / comparisons
    scale, variance = meter.scale(Largest(least, 0), each)
    margin = Noisy(np.empty(0, np.int64), scale, variance).margin(1 - 2 * _LIFTED)
    floor = max(-(-count // 20), count - margin)
    while least < most:
        middle = (least + most + 1) // 2
        largest = meter.count(LONGEST, engine, Largest(middle, floor), each)
        if largest.values[0] >= count:
            least = middle
        else:
            most = middle - 1
    return least
