"""Patterns picked one by one, out of what the picks so far allow: an itemset joins once all its parts were picked.

The top patterns hold all their parts: a pattern is held by no more people than its parts are. So nobody has to choose
among all itemsets there are, only among the items and among what they have made possible. The proof is in `peeling.md`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from ...baskets.core import starts
from ...errors import MisuseError, told
from ...exact.query import Kth, Supports
from ...privacy.budget import Budget, shown
from ...privacy.meter import Meter, Way
from ...privacy.sealed import SealedEngine
from ...results.itemsets import Itemsets
from ..mechanism import Answers, Found, Mechanism, Plan, Task
from ..steps.clipped_counting import LAST, falling
from ..steps.itemset_choice import check_top
from ..steps.winners import FRESH, count_winners

# More patterns than this are not picked: there may be half the square of it to choose from each time.
MOST = 1_000

# The share of counting that measures about how large the counts are.
SIZING = Fraction(1, 20)

PICK = "picking the patterns"
COUNT = "counting the patterns"

ItemTuple = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Peeling(Mechanism):
    """Settings of `peeling`.

    Parameters
    ----------
    selecting
        The share of the budget that picks the patterns; the rest counts them.
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

    def check(self, task: Task, budget: Budget) -> None:
        """Refuse longer patterns without their parts, and more patterns than there are or can be picked."""
        super().check(task, budget)
        check_top(task)
        if task.least > 1:
            raise MisuseError(
                told(
                    "peeling finds longer patterns by way of their parts: ask for {lengths} from 1 on, or another "
                    "mechanism."
                )
            )
        if task.top is not None and task.top > MOST:
            raise MisuseError(
                told(
                    "peeling picks at most {allowed:,} patterns; {top} is {given:,}: ask for fewer.",
                    allowed=MOST,
                    given=task.top,
                )
            )

    def plan(self, task: Task) -> Plan:
        """Pick with one share, count with the other; for the patterns alone all of it picks."""
        if not task.counts:
            return [(PICK, Fraction(1))]
        counting = 1 - self.selecting
        return [(PICK, self.selecting), (LAST, SIZING * counting), (COUNT, (1 - SIZING) * counting)]

    def run(self, engine: SealedEngine, task: Task, meter: Meter) -> Found:
        """Pick, and count what was picked."""
        return self.find(engine, task, meter)

    def find(self, engine: SealedEngine, task: Task, meter: Meter, mark: float | None = None) -> Found:
        """Find patterns with all that a meter has left.

        Parameters
        ----------
        engine, task, meter
            As for every mechanism.
        mark
            About what the last of the top patterns counts, a released number; without it, it is measured.
        """
        share = meter.left * dict(self.plan(task))[PICK]
        itemsets = Itemsets.of(picked(engine, task, meter, share))
        if not task.counts:
            return Found(itemsets=itemsets, estimates=None)
        if mark is None:
            # How much clipping may take away goes with what the last pattern counts.
            last = meter.count(LAST, engine, Kth(len(itemsets), 1, task.longest), meter.left * SIZING)
            mark = max(1.0, float(last.values[0]))
        counted = count_winners(COUNT, engine, meter, task, itemsets, meter.left, mark)
        estimates = falling(itemsets, counted.estimates, task.crowd)
        return Found(
            itemsets=itemsets,
            estimates=estimates,
            low=np.minimum(counted.low, estimates),
            high=np.maximum(counted.high, estimates),
            notes=(counted.how, FRESH),
        )


def way(meter: Meter) -> Way:
    """Return how patterns are picked: by permute-and-flip, which errs less but costs four times as much under zCDP."""
    return "permute-and-flip" if meter.pure else "exponential"


def picked(engine: SealedEngine, task: Task, meter: Meter, share: Fraction) -> list[ItemTuple]:
    """Return the patterns in the order of the picks, all of which together cost the share."""
    growing = Growing(engine, task)
    many = task.top or 0
    for _ in range(many):
        growing.take(meter.choose(PICK, growing.counts, 1, share / many, way(meter))[0])
    return growing.picked


class Growing:
    """What there is to pick from: items, and longer itemsets all of whose parts with one item less were picked."""

    def __init__(self, engine: SealedEngine, task: Task) -> None:
        self._engine, self._task = engine, task
        self._codes, self._sizes = np.arange(task.items, dtype=np.int32), np.ones(task.items, np.int64)
        # How many people hold each of what there is to pick from.
        self.counts = engine.answer(Supports(Itemsets.singles(task.items)))
        self.picked: list[ItemTuple] = []
        # For each picked pattern, and for nothing at all, the items with which it is a picked pattern too.
        self._beside: dict[ItemTuple, set[int]] = {(): set()}

    def candidates(self) -> Itemsets:
        """Return all that can be picked now."""
        return Itemsets(starts(self._sizes), self._codes)

    def take(self, place: int) -> None:
        """Pick one of them, and let in what it makes possible."""
        first = int(self._sizes[:place].sum())
        last = first + int(self._sizes[place])
        pattern = tuple(self._codes[first:last].tolist())
        self.picked.append(pattern)
        self._beside[pattern] = set()
        for part, item in _parts(pattern):
            self._beside[part].add(item)
        fresh = Itemsets.of(self._made_possible(pattern) if len(pattern) < self._task.longest else [])
        self._codes = np.concatenate((self._codes[:first], self._codes[last:], fresh.codes))
        self._sizes = np.concatenate((self._sizes[:place], self._sizes[place + 1 :], fresh.sizes))
        self.counts = self.counts.take(np.delete(np.arange(len(self.counts)), place))
        if len(fresh):
            self.counts = self.counts.joined(self._engine.answer(Supports(fresh)))

    def _made_possible(self, pattern: ItemTuple) -> list[ItemTuple]:
        """Return the itemsets of one item more all of whose parts are picked, this pattern being the last of them."""
        beside = sorted((self._beside[part] for part, _ in _parts(pattern)), key=len)
        shared = set.intersection(*beside) - set(pattern)
        wider = [tuple(sorted((*pattern, item))) for item in sorted(shared)]
        return [one for one, good in zip(wider, self._task.antichains(Itemsets.of(wider)), strict=True) if good]


def _parts(pattern: ItemTuple) -> Sequence[tuple[ItemTuple, int]]:
    """Return each part with one item less, and that item."""
    return [(pattern[:place] + pattern[place + 1 :], item) for place, item in enumerate(pattern)]
