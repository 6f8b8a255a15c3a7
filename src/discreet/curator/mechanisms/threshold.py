"""Noisy counts over a threshold (Korolova et al. 2009; Götz et al. 2012), without a public list of items.

Only occurring itemsets are counted. An itemset of few people hardly ever passes the threshold, and the small
probability that it does is the delta. The code also selects the items for other mechanisms where no list of items is
public. The proof is in `threshold.md`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import ClassVar

import numpy as np

from ...errors import MisuseError
from ...exact import Truncation
from ...privacy import Budget, Meter, SealedEngine, SelectedItemsets
from .. import Answers, Found, Mechanism, Plan, Problem

# About MAX_LISTED itemsets are listed at most: beyond, the floor of listed counts rises.
MAX_LISTED = 4_000_000
# The largest number of items of a pattern where the question states none.
DEFAULT_LENGTH = 2

_FIND_STEP = "finding the patterns"


@dataclass(frozen=True, kw_only=True)
class Threshold(Mechanism):
    """Settings of `threshold`.

    Parameters
    ----------
    kept
        The number of items of each basket that take part, drawn at random from larger baskets.
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

    def check(self, problem: Problem, budget: Budget) -> None:
        """Refuse baskets with too many subsets to list: the floor would exceed each count."""
        super().check(problem, budget)
        kept_items, max_length = self._sizes(problem)
        if count_subsets(kept_items, max_length) > MAX_LISTED:
            raise MisuseError.format(
                "A basket cut to {kept:,} items has more than {listed:,} subsets of up to {longest:,} items, too "
                "many to look at: ask for shorter patterns ({lengths=}), or set kept lower.",
                kept=kept_items,
                listed=MAX_LISTED,
                longest=max_length,
            )

    def _sizes(self, problem: Problem) -> tuple[int, int]:
        """Return the cut length of baskets, and the largest number of items of a pattern."""
        kept_items = max(min(self.kept, problem.item_count), problem.min_length)
        return kept_items, min(
            problem.max_length if problem.max_length_given else max(problem.min_length, DEFAULT_LENGTH), kept_items
        )

    def plan(self, problem: Problem) -> Plan:
        """Spend the whole budget on one step."""
        return [(_FIND_STEP, Fraction(1))]

    def run(self, engine: SealedEngine, problem: Problem, meter: Meter) -> Found:
        """Count the occurring itemsets in the cut baskets, and keep itemsets over the threshold."""
        kept_items, max_length = self._sizes(problem)
        people = problem.people + problem.people_margin
        itemset_counts = find(
            engine,
            meter,
            _FIND_STEP,
            meter.left,
            kept=kept_items,
            least=problem.min_length,
            longest=max_length,
            people=people,
            over=problem.threshold or 0,
        )
        pattern_count = (
            len(itemset_counts.values) if problem.top is None else min(problem.top, len(itemset_counts.values))
        )
        itemsets = itemset_counts.itemsets.take(np.arange(pattern_count))
        values = itemset_counts.values[:pattern_count].astype(np.float64)
        facts = {
            "threshold": itemset_counts.threshold,
            "items kept of a basket": kept_items,
            "longest pattern": max_length,
        }
        notes = [
            f"Patterns of up to {max_length} items were looked for in baskets cut to {kept_items} items, drawn at "
            f"random. Those with a noisy count of {itemset_counts.threshold:,} or more are shown."
        ]
        if problem.threshold is not None and itemset_counts.threshold > problem.threshold:
            notes.append(
                f"Below {itemset_counts.threshold:,} {problem.unit}, patterns that few people hold could not be told "
                f"from noise: those with {problem.threshold:,} {problem.unit} up to that are missing."
            )
        if not problem.with_counts:
            return Found(itemsets=itemsets, estimates=None, facts=facts, notes=tuple(notes))
        # No released value bounds the loss by cutting: each person with a cut basket may hold the pattern.
        notes.append(
            f"Counts are of the cut baskets: in whole baskets a pattern is held by more {problem.unit}, how many is "
            "not known. So an interval reaches up to all of them."
        )
        return Found(
            itemsets=itemsets,
            estimates=values,
            low=values - itemset_counts.margin,
            high=np.maximum(values + itemset_counts.margin, people),
            facts=facts,
            notes=tuple(notes),
        )


def count_subsets(item_count: int, max_length: int) -> int:
    """Return the number of subsets of 1 to `max_length` items; any number above `MAX_LISTED` means too many."""
    total = 0
    for size in range(1, min(max_length, item_count) + 1):
        total += comb(item_count, size)
        if total > MAX_LISTED:
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
) -> SelectedItemsets:
    """Find the itemsets that enough people hold, without a public list of itemsets.

    Parameters
    ----------
    engine, meter, what, share
        The sealed engine, the meter that pays, the name of the step, and the share of the budget.
    kept
        The number of items of each basket that take part.
    least, longest
        The smallest and largest number of items of an itemset.
    people
        The largest number of people, by public and released numbers.
    over
        The requested threshold; the noise threshold applies if higher.
    """
    max_subsets = max(1, count_subsets(kept, longest) - count_subsets(kept, least - 1))
    noise_threshold = meter.threshold(max_subsets, share)
    # A public floor subtracted from each count, down to 0, moves no count by more than before. Itemsets at the floor
    # need not be listed; about MAX_LISTED lie above it at most, with the shorter itemsets on the way to them.
    floor = max(over - noise_threshold, max(people, 1) * count_subsets(kept, longest) // MAX_LISTED)
    cut_engine = engine.cut(Truncation(kept, meter.secret()))
    return meter.find(what, cut_engine.above(floor, least, longest), share)
