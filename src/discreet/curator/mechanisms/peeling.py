"""Pick patterns one by one from a growing set: an itemset joins the set after all its subsets were picked.

A pattern is held by no more people than its subsets, so the top patterns include all their subsets. Each pick chooses
among the items and the itemsets made possible by earlier picks, not among all itemsets. The proof is in `peeling.md`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from ...baskets import starts
from ...errors import MisuseError
from ...exact import Kth, Supports
from ...privacy import Budget, Meter, SealedEngine, Way, shown
from ...results import Itemsets
from .. import Answers, Found, Mechanism, Plan, Problem
from ..steps import FRESH_NOISE_NOTE, LAST_COUNT_STEP, average_monotone, check_top, count_shown

# At most MAX_PATTERNS patterns are picked: each pick has up to half the square of this number to choose from.
MAX_PATTERNS = 1_000

# The part of the counting share that measures the size of the counts.
SIZE_SHARE = Fraction(1, 20)

PICK_STEP = "picking the patterns"
COUNT_STEP = "counting the patterns"

ItemTuple = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Peeling(Mechanism):
    """Settings of `peeling`.

    Parameters
    ----------
    selecting
        The share of the budget that picks the patterns; the remainder counts them.
    """

    selecting: Fraction = Fraction(3, 5)

    name: ClassVar[str] = "peeling"
    summary: ClassVar[str] = (
        "Picks patterns one by one, each time out of the items and of what is put together of patterns already picked, "
        "and counts them."
    )
    citation: ClassVar[str] = (
        "discreet's own, after F. McSherry, K. Talwar. Mechanism design via differential privacy. FOCS 2007; and "
        "R. Agrawal, R. Srikant. Fast algorithms for mining association rules. VLDB 1994."
    )
    answers: ClassVar[tuple[Answers, ...]] = ("top",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.selecting < 1:
            raise MisuseError(f"selecting lies between 0 and 1; {shown(self.selecting)} was given.")

    def check(self, problem: Problem, budget: Budget) -> None:
        """Refuse longer patterns without their subsets, and a top beyond the possible or allowed number."""
        super().check(problem, budget)
        check_top(problem)
        if problem.min_length > 1:
            raise MisuseError.format(
                "peeling finds longer patterns by way of their parts: ask for {lengths} from 1 on, or another "
                "mechanism."
            )
        if problem.top is not None and problem.top > MAX_PATTERNS:
            raise MisuseError.format(
                "peeling picks at most {allowed:,} patterns; {top} is {given:,}: ask for fewer.",
                allowed=MAX_PATTERNS,
                given=problem.top,
            )

    def plan(self, problem: Problem) -> Plan:
        """Pick with one share and count with the other; without counts, picking takes the whole budget."""
        if not problem.with_counts:
            return [(PICK_STEP, Fraction(1))]
        counting = 1 - self.selecting
        return [
            (PICK_STEP, self.selecting),
            (LAST_COUNT_STEP, SIZE_SHARE * counting),
            (COUNT_STEP, (1 - SIZE_SHARE) * counting),
        ]

    def run(self, engine: SealedEngine, problem: Problem, meter: Meter) -> Found:
        """Pick the patterns, and count them."""
        return self.find(engine, problem, meter)

    def find(self, engine: SealedEngine, problem: Problem, meter: Meter, mark: float | None = None) -> Found:
        """Find patterns with the whole remaining budget of the meter.

        Parameters
        ----------
        engine, problem, meter
            The arguments of `run`.
        mark
            The approximate count of the last of the top patterns, a released number; None to measure it.
        """
        share = meter.left * dict(self.plan(problem))[PICK_STEP]
        itemsets = Itemsets.of(pick_patterns(engine, problem, meter, share))
        if not problem.with_counts:
            return Found(itemsets=itemsets, estimates=None)
        if mark is None:
            # The contribution bound of clipped counting depends on the count of the last pattern.
            last_count = meter.count(
                LAST_COUNT_STEP, engine, Kth(len(itemsets), 1, problem.max_length), meter.left * SIZE_SHARE
            )
            mark = max(1.0, float(last_count.values[0]))
        fresh_counts = count_shown(COUNT_STEP, engine, meter, problem, itemsets, meter.left, mark)
        estimates = average_monotone(itemsets, fresh_counts.estimates, problem.max_people)
        return Found(
            itemsets=itemsets,
            estimates=estimates,
            low=np.minimum(fresh_counts.low, estimates),
            high=np.maximum(fresh_counts.high, estimates),
            notes=(fresh_counts.method_note, FRESH_NOISE_NOTE),
        )


def choose_pick_method(meter: Meter) -> Way:
    """Return permute-and-flip, which errs less; under zCDP it costs four times as much, so exponential there."""
    return "permute-and-flip" if meter.pure else "exponential"


def pick_patterns(engine: SealedEngine, problem: Problem, meter: Meter, share: Fraction) -> list[ItemTuple]:
    """Return the patterns in the order of the picks; all picks together cost the share."""
    pickable_itemsets = PickableItemsets(engine, problem)
    pattern_count = problem.top or 0
    for _ in range(pattern_count):
        pickable_itemsets.take(
            meter.choose(PICK_STEP, pickable_itemsets.counts, 1, share / pattern_count, choose_pick_method(meter))[0]
        )
    return pickable_itemsets.picked


class PickableItemsets:
    """The itemsets to pick from: items, and longer itemsets with all subsets of one item less picked."""

    def __init__(self, engine: SealedEngine, problem: Problem) -> None:
        self._engine, self._problem = engine, problem
        self._codes, self._sizes = np.arange(problem.item_count, dtype=np.int32), np.ones(problem.item_count, np.int64)
        # The sealed number of holders of each pickable itemset.
        self.counts = engine.answer(Supports(Itemsets.singles(problem.item_count)))
        self.picked: list[ItemTuple] = []
        # For each picked pattern, and for the empty set, the items that extend it to a picked pattern: the subset test
        # of a new candidate is then an intersection of sets.
        self._extensions: dict[ItemTuple, set[int]] = {(): set()}

    def candidates(self) -> Itemsets:
        """Return the itemsets that can be picked now."""
        return Itemsets(starts(self._sizes), self._codes)

    def take(self, position: int) -> None:
        """Pick the itemset at a position, and add the candidates that the pick makes possible."""
        code_start = int(self._sizes[:position].sum())
        code_end = code_start + int(self._sizes[position])
        pattern = tuple(self._codes[code_start:code_end].tolist())
        self.picked.append(pattern)
        self._extensions[pattern] = set()
        for part, item in _list_parts(pattern):
            self._extensions[part].add(item)
        new_candidates = Itemsets.of(
            self._list_new_candidates(pattern) if len(pattern) < self._problem.max_length else []
        )
        self._codes = np.concatenate((self._codes[:code_start], self._codes[code_end:], new_candidates.codes))
        self._sizes = np.concatenate((self._sizes[:position], self._sizes[position + 1 :], new_candidates.sizes))
        self.counts = self.counts.take(np.delete(np.arange(len(self.counts)), position))
        if len(new_candidates):
            self.counts = self.counts.append(self._engine.answer(Supports(new_candidates)))

    def _list_new_candidates(self, pattern: ItemTuple) -> list[ItemTuple]:
        """Return the itemsets of one item more with all subsets picked, this pattern the last."""
        extensions = sorted((self._extensions[part] for part, _ in _list_parts(pattern)), key=len)
        shared = set.intersection(*extensions) - set(pattern)
        candidates = [tuple(sorted((*pattern, item))) for item in sorted(shared)]
        return [
            candidate
            for candidate, possible in zip(
                candidates, self._problem.mark_antichains(Itemsets.of(candidates)), strict=True
            )
            if possible
        ]


def _list_parts(pattern: ItemTuple) -> Sequence[tuple[ItemTuple, int]]:
    """Return each subset with one item less, and the removed item."""
    return [(pattern[:position] + pattern[position + 1 :], item) for position, item in enumerate(pattern)]
