"""Noisy counts over a threshold (Korolova et al. 2009; Götz et al. 2012): needs no list of items.

Only what occurs is counted, so nothing has to be listed beforehand; what few people hold hardly ever passes the
threshold, and the small chance that it does is the delta. The same code finds the items for other mechanisms where no
list of them is public. The proof is in `threshold.md`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import ClassVar

import numpy as np

from ...errors import MisuseError, told
from ...exact.query import Truncation
from ...privacy.budget import Budget
from ...privacy.meter import Meter, Things
from ...privacy.sealed import SealedEngine
from ..mechanism import Answers, Found, Mechanism, Plan, Task

# About so many itemsets are listed at most: beyond, the floor rises under which an itemset is not looked at.
LISTED = 4_000_000
# How many items a pattern has at most where that was not said.
LONGEST = 2

_FIND = "finding the patterns"


@dataclass(frozen=True, kw_only=True)
class Threshold(Mechanism):
    """Settings of `threshold`.

    Parameters
    ----------
    kept
        How many items of each basket take part, drawn at random where it holds more.
    """

    kept: int = 5

    name: ClassVar[str] = "threshold"
    summary: ClassVar[str] = (
        "Counts with noise what occurs in baskets cut to a few items, and shows what lies over a threshold that rare "
        "things hardly pass. Needs no list of items."
    )
    citation: ClassVar[str] = (
        "A. Korolova, K. Kenthapadi, N. Mishra, A. Ntoulas. Releasing search queries and clicks privately. WWW 2009. "
        "M. Götz, A. Machanavajjhala, G. Wang, X. Xiao, J. Gehrke. Publishing search logs: a comparative study of "
        "privacy guarantees. IEEE Transactions on Knowledge and Data Engineering 24, 2012."
    )
    answers: ClassVar[tuple[Answers, ...]] = ("top", "threshold")
    delta: ClassVar[bool | None] = True
    finds: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.kept <= 1_000:
            raise MisuseError(f"kept lies between 1 and 1,000; {self.kept:,} was given.")

    def check(self, task: Task, budget: Budget) -> None:
        """Refuse baskets with more subsets than can be looked at: the floor would rise over every count."""
        super().check(task, budget)
        kept, longest = self._sizes(task)
        if subsets(kept, longest) > LISTED:
            raise MisuseError(
                told(
                    "A basket cut to {kept:,} items has more than {listed:,} subsets of up to {longest:,} items, too "
                    "many to look at: ask for shorter patterns ({lengths=}), or set kept lower.",
                    kept=kept,
                    listed=LISTED,
                    longest=longest,
                )
            )

    def _sizes(self, task: Task) -> tuple[int, int]:
        """Return to how many items baskets are cut, and how many a pattern has at most."""
        kept = max(min(self.kept, task.items), task.least)
        return kept, min(task.longest if task.bounded else max(task.least, LONGEST), kept)

    def plan(self, task: Task) -> Plan:
        """Spend everything on one step."""
        return [(_FIND, Fraction(1))]

    def run(self, engine: SealedEngine, task: Task, meter: Meter) -> Found:
        """Count what occurs in the cut baskets, and keep what lies over the threshold."""
        kept, longest = self._sizes(task)
        people = task.people + task.people_margin
        things = find(
            engine,
            meter,
            _FIND,
            meter.left,
            kept=kept,
            least=task.least,
            longest=longest,
            people=people,
            over=task.count or 0,
        )
        many = len(things.values) if task.top is None else min(task.top, len(things.values))
        itemsets = things.itemsets.take(np.arange(many))
        values = things.values[:many].astype(np.float64)
        facts = {"threshold": things.threshold, "items kept of a basket": kept, "longest pattern": longest}
        notes = [
            f"Patterns of up to {longest} items were looked for in baskets cut to {kept} items, drawn at random. Those "
            f"with a noisy count of {things.threshold:,} or more are shown."
        ]
        if task.count is not None and things.threshold > task.count:
            notes.append(
                f"Below {things.threshold:,} {task.unit}, patterns that few people hold could not be told from noise: "
                f"those with {task.count:,} {task.unit} up to that are missing."
            )
        if not task.counts:
            return Found(itemsets=itemsets, estimates=None, facts=facts, notes=tuple(notes))
        # Nothing released says what cutting loses, so a pattern may be held by anyone whose basket was cut.
        notes.append(
            f"Counts are of the cut baskets: in whole baskets a pattern is held by more {task.unit}, how many is not "
            "known. So an interval reaches up to all of them."
        )
        return Found(
            itemsets=itemsets,
            estimates=values,
            low=values - things.margin,
            high=np.maximum(values + things.margin, people),
            facts=facts,
            notes=tuple(notes),
        )


def subsets(many: int, longest: int) -> int:
    """Return how many subsets of 1 to `longest` items so many items have; beyond `LISTED`, that it is more."""
    total = 0
    for size in range(1, min(longest, many) + 1):
        total += comb(many, size)
        if total > LISTED:
            break
    return total


def find(
    engine: SealedEngine,
    meter: Meter,
    what: str,
    share: Fraction,
    *,
    kept: int,
    least: int,
    longest: int,
    people: int,
    over: int = 0,
) -> Things:
    """Find the itemsets that enough people hold, without a list of those there could be.

    Parameters
    ----------
    engine, meter, what, share
        Who counts, who pays, for what, and how much of the budget.
    kept
        How many items of each basket take part.
    least, longest
        How many items an itemset has.
    people
        How many people there are at most, as far as public and released numbers say.
    over
        The count that is asked for. Where the threshold has to be higher, that one holds.
    """
    most = max(1, subsets(kept, longest) - subsets(kept, least - 1))
    needed = meter.threshold(most, share)
    # Taking a public floor off every count, down to 0, moves no count by more than before. Itemsets at the floor need
    # not be listed, and about LISTED lie above it at most, with the shorter ones that are met on the way to them.
    floor = max(over - needed, max(people, 1) * subsets(kept, longest) // LISTED)
    cut = engine.cut(Truncation(kept, meter.secret()))
    return meter.find(what, cut.above(floor, least, longest), share)
