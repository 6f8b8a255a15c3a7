"""Patterns one length after the other by clipped counting, and then once more those that are in doubt.

A whole family of candidates is counted at once, at the price of the few that a basket is allowed to add to, instead of
paying for each pattern. First all items, then the likeliest pairs of those that may be frequent, and so on. Then those
of all lengths are counted again that noise and clipping leave near the end of the list, and at last all that is shown.
The proof is in `clipped.md`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import comb, sqrt
from typing import ClassVar

import numpy as np

from ...checks import is_whole
from ...errors import MisuseError, told
from ...exact.query import BasketCount, Kth, Supports
from ...privacy.budget import Budget
from ...privacy.meter import CONFIDENCE, Meter
from ...privacy.sealed import SealedEngine
from ...results.itemsets import Itemsets
from ..mechanism import Answers, Found, Mechanism, Plan, Task
from ..steps.candidate_join import joined, rows
from ..steps.clipped_counting import (
    HOLDING,
    I64,
    LAST,
    LOOKING,
    ClippedCount,
    Histogram,
    Tally,
    choose_total,
    count_clipped,
    end_to_end,
    held_histogram,
)
from ..steps.itemset_choice import check_top
from ..steps.winners import CLIPPED, SHOWN, recount

FIND = "counting the candidates"
AGAIN = "counting again what is in doubt"
LENGTHENED = "The items were chosen by the same noisy counts that are shown, and intervals are longer for it."

# The numbers below were fitted to five data sets; `clipped.md` says to which, and what others give.
# The share that measures the count of the last pattern; of what is left then, those of single items, of
# pairs, and of all longer candidates. The rest counts again.
MEASURING = Fraction(3, 100)
ITEMS = Fraction(1, 5)
PAIRS = Fraction(11, 50)
LONGER = Fraction(3, 25)
# Each longer length takes so much of what is left for them, unless shorter ones than are wanted have to share it.
EACH = Fraction(3, 5)
# By how many deviations the measured count is lowered, so that an unlucky draw does not prune too much; and by how many
# a candidate may lie below that and still be in the running.
LOWERED, HOPE = 1.5, 1.0
# Within how many deviations of the last pattern a candidate is in doubt.
DOUBT = 2.0
# Of each length so many times the patterns that there can be are kept to be counted again, and that many of all lengths
# are counted again at most.
SPARE = 2
# Over a threshold nobody knows how many patterns there are: of each length as many as the estimates say, and so many at
# least.
KEPT = 400
# Pairs are counted for so many items at least, and so many candidates of one length at most.
FEW_ITEMS, CANDIDATES = 10, 100_000
# Where noise is small there is room for more: for each deviation of the noise on the count of one pair that is in the
# mark, one itemset of each length is kept, and so many pairs are counted.
ROOM = 40
# Longer patterns are not looked for: their share of the budget would be nothing.
LONGEST = 12
# The part of what is left at last that counts all that is shown, where counts are wanted.
LASTLY = Fraction(2, 5)
# Single items alone are counted once; or with so much of the budget those that are shown once more, where that is
# predicted to leave less than so large a part of the error.
RECOUNTING, SURER = Fraction(1, 2), 0.4


@dataclass(frozen=True, kw_only=True, eq=False)
class KnownCounts:
    """What is public or was released before candidates are counted.

    Parameters
    ----------
    mark
        The threshold, or about what the last of the top patterns counts.
    low
        A count that it surely does not lie below.
    expected
        About how many patterns there are, where that is known.
    items
        All items, counted already with their share of what was left.
    """

    mark: float
    low: float
    expected: int | None = None
    items: ClippedCount | None = None


@dataclass(frozen=True, eq=False)
class ClippedLevels:
    """The best candidates of each length, counted; the most that a basket added to each family; which were cut short.

    A length is cut where there were more candidates than are counted.
    """

    tallies: list[Tally]
    totals: list[float]
    cut: list[int]


@dataclass(frozen=True, kw_only=True)
class ClippedCounting(Mechanism):
    """Settings of `clipped`.

    Parameters
    ----------
    pairs
        For each pattern that is asked for, so many pairs of items are counted, those that would be the most frequent if
        people chose items independently; over a threshold, for each item that may be frequent. Of longer candidates, a
        tenth of that.
    """

    pairs: int = 30

    name: ClassVar[str] = "clipped"
    summary: ClassVar[str] = (
        "Counts the candidates of one length after the other at once, people who hold many of them scaled down; counts "
        "again those that are in doubt, and at last what is shown."
    )
    citation: ClassVar[str] = "The mechanism is discreet's own."
    answers: ClassVar[tuple[Answers, ...]] = ("top", "threshold")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_whole(self.pairs) or not 1 <= self.pairs <= 1_000:
            raise MisuseError(f"pairs is a whole number from 1 to 1,000; {self.pairs!r} was given.")

    def check(self, task: Task, budget: Budget) -> None:
        """Refuse longer patterns than are looked for, and more of them than there are."""
        super().check(task, budget)
        if task.least > LONGEST:
            raise MisuseError(
                told(
                    "clipped finds patterns of at most {longest} items, and {lengths} asks for {asked} or more: ask "
                    "for "
                    "shorter ones, or another mechanism.",
                    longest=LONGEST,
                    asked=task.least,
                )
            )
        if task.top is not None:
            check_top(task)

    def plan(self, task: Task) -> Plan:
        """Measure the count of the last pattern, count candidates, again those in doubt, and at last what is shown.

        What a length does not use, as it has no candidates, goes to the last step. Of single items alone, a part may go
        to counting what is shown.
        """
        measuring = MEASURING if task.top is not None else Fraction(0)
        if _items_alone(task):
            steps = [(LAST, measuring)] if measuring else []
            looking = (1 - measuring) * LOOKING if _several_held(task) else Fraction(0)
            steps += [(HOLDING, looking)] if looking else []
            return [*steps, (FIND, 1 - measuring - looking)]
        finding = (1 - measuring) * (ITEMS + PAIRS + LONGER)
        steps = [(LAST, measuring)] if measuring else []
        counted = 1 - LOOKING
        again = 1 - measuring - finding
        last = again * LASTLY if task.counts else Fraction(0)
        again -= last
        steps += [(HOLDING, (finding + again) * LOOKING), (FIND, finding * counted), (AGAIN, again * counted)]
        return [*steps, (SHOWN, last)] if last else steps

    def run(self, engine: SealedEngine, task: Task, meter: Meter) -> Found:
        """Measure what the last pattern counts, where that is not the question, and find those above it."""
        if task.top is None:
            return self.find(engine, task, meter, KnownCounts(mark=float(task.count or 1), low=float(task.count or 1)))
        last = meter.count(LAST, engine, Kth(task.top, task.least, task.longest), MEASURING)
        mark = max(1.0, float(last.values[0]))
        return self.find(engine, task, meter, KnownCounts(mark=mark, low=max(1.0, mark - LOWERED * last.deviation)))

    def find(self, engine: SealedEngine, task: Task, meter: Meter, known: KnownCounts) -> Found:
        """Find patterns with all that a meter has left."""
        if _items_alone(task):
            return _all_items(engine, task, meter, known)
        mark, low = known.mark, known.low
        levels = self._levels(engine, task, meter, known)
        pool = end_to_end([level for size, level in enumerate(levels.tallies, 1) if size >= task.least])
        if task.top is not None:
            pool = _filled(_hopeful(pool, low, task.top), task, meter, mark)
        facts = {
            "candidates counted": [len(level) for level in levels.tallies],
            "most that a person added": [round(total, 2) for total in levels.totals],
        }
        # Over a threshold nothing of the lengths that were asked for may be left to count.
        spare = pool if len(pool) else levels.tallies[-1]
        doubtful = _doubtful(task, spare, mark)
        last = meter.left * LASTLY if task.counts else Fraction(0)
        again = count_clipped(AGAIN, engine, meter, spare.itemsets.take(doubtful), meter.left - last, mark)
        if len(pool):
            pool = pool.merged(doubtful, again.tally).lowered(task.crowd)
        facts |= {"counted again": len(doubtful), "most that a person added then": again.total}
        winners = pool.take(_order(task, pool))
        notes = _cut_short(levels.cut) if task.top is None else ()
        if not last:
            return Found(itemsets=winners.itemsets, estimates=None, facts=facts, notes=notes)
        found = recount(engine, task, meter, winners, spare.itemsets.take(doubtful))
        return replace(found, facts=facts, notes=(*found.notes, *notes))

    def _levels(self, engine: SealedEngine, task: Task, meter: Meter, known: KnownCounts) -> ClippedLevels:
        """Count candidates, one length after the other."""
        mark, low = known.mark, known.low
        longest = min(task.longest, task.items, LONGEST)
        budget = meter.left if known.items is None else meter.left / (1 - ITEMS)
        longer = LONGER * budget
        clear = mark / sqrt(meter.scale(BasketCount(), PAIRS * budget)[1])
        sets = rows(np.arange(task.items, dtype=np.int32)[:, None])
        items = 0
        levels = ClippedLevels([], [], [])
        for size in range(1, longest + 1):
            if size == 1:
                share = budget * ITEMS
            elif size == 2:
                share = budget * (PAIRS if longest > 2 else PAIRS + LONGER)
            else:
                share = longer * (EACH if size >= task.least else Fraction(1, task.least - size + 1))
                longer -= share
            tallied = known.items if size == 1 else None
            if tallied is None:
                tallied = count_clipped(FIND, engine, meter, sets, share, mark)
            level, total = tallied.tally, tallied.total
            most = int(min(max(_kept(task, size, level, low), clear), CANDIDATES))
            # All items were counted: over a threshold none of them has to be left out.
            levels.tallies.append(level if size == 1 and task.top is None else level.best(SPARE * most))
            levels.totals.append(total)
            hopeful = _hopeful(level.best(most), low)
            items = len(hopeful) if size == 1 else items
            if size == longest:
                break
            counted = self._most(task, hopeful, items, clear)
            scores = np.rint(1024 * np.log2(np.maximum(hopeful.estimates, 1.0))).astype(np.int64)
            # The likeliest by the product of the counts of their parts.
            sets = joined(hopeful.itemsets, scores, counted, task.lineage)[0]
            if not len(sets):
                break
            if len(sets) == counted:
                levels.cut.append(size + 1)
        return levels

    def _most(self, task: Task, level: Tally, items: int, clear: float) -> int:
        """Return how many itemsets of one item more than a level has are counted at most."""
        wanted = max(items, len(level), FEW_ITEMS)
        if task.top is not None:
            wanted = task.top * comb(max(task.least, 2), 2)
        most = int(min(max(self.pairs * wanted, ROOM * clear), CANDIDATES))
        if len(level) and level.itemsets.sizes[0] > 1:
            most = -(-most // 10)
        return most


def _several_held(task: Task) -> bool:
    """Say whether a person may hold more than one candidate, of single items: in one basket not of one item."""
    return task.items > 1 or task.unit == "baskets"


def _items_alone(task: Task) -> bool:
    """Say whether patterns are single items: then all of them are counted once."""
    return min(task.longest, task.items) == 1


def count_items(engine: SealedEngine, task: Task, meter: Meter, mark: float, holding: Histogram) -> ClippedCount:
    """Count all items with their share of what is left and of what the histogram took of it."""
    share = meter.left * ITEMS * (1 - LOOKING) / (1 - ITEMS * LOOKING)
    return count_clipped(FIND, engine, meter, Itemsets.singles(task.items), share, mark, holding)


def _all_items(engine: SealedEngine, task: Task, meter: Meter, known: KnownCounts) -> Found:
    """Count all items, and show those that were asked for: by the same counts, or by fresh ones where they are surer.

    Those of the same noise are chosen by what is shown. So of M items, R of which are shown, intervals are those of a
    confidence of 1 - 5 % R / M: no more than 5 % of those shown miss on average (Benjamini, Yekutieli 2005).
    """
    singles = Itemsets.singles(task.items)
    looking = meter.left * LOOKING if _several_held(task) else Fraction(0)
    holding = held_histogram(engine, meter, singles, looking)
    expected = task.top or known.expected
    mark, usual = known.mark, None if expected is None else holding.usual(known.mark, expected, task.items)
    fresh = task.counts and expected is not None and _fresher(meter, singles, holding, expected, usual or mark)
    share = meter.left * (1 - RECOUNTING) if fresh else meter.left
    total, _ = choose_total(singles, holding, meter, share, mark, usual)
    counted = count_clipped(FIND, engine, meter, singles, share, mark, holding, total)
    facts: dict[str, object] = {
        "candidates counted": [task.items],
        "most that a person added": [round(counted.total, 2)],
    }
    tally = counted.tally.lowered(task.crowd)
    places = _order(task, tally)
    shown = tally.take(places)
    if not task.counts:
        return Found(itemsets=shown.itemsets, estimates=None, facts=facts)
    if fresh:
        return replace(recount(engine, task, meter, shown, singles), facts=facts)
    low, high = counted.bounds(1 - (1 - CONFIDENCE) * max(len(places), 1) / task.items)
    return Found(
        itemsets=shown.itemsets,
        estimates=shown.estimates,
        low=np.minimum(np.floor(low[places]), shown.estimates),
        high=np.maximum(np.ceil(high[places]), shown.estimates),
        facts=facts,
        notes=(CLIPPED, LENGTHENED),
    )


def _fresher(meter: Meter, singles: Itemsets, holding: Histogram, expected: int, mark: float) -> bool:
    """Say whether so many items, counted by themselves, come out much surer than all of them clipped."""
    each = Supports(singles.take(np.arange(min(expected, len(singles)))))
    deviation = sqrt(meter.scale(each, meter.left * RECOUNTING)[1])
    return deviation < SURER * choose_total(singles, holding, meter, meter.left, mark)[1]


def _cut_short(lengths: list[int]) -> tuple[str, ...]:
    """Say of which lengths candidates were left out, where some were."""
    if not lengths:
        return ()
    named = " and ".join(filter(None, (", ".join(map(str, lengths[:-1])), str(lengths[-1]))))
    return (
        f"Of the candidates with {named} items only the likeliest were counted: patterns over the threshold may be "
        "missing.",
    )


def _kept(task: Task, size: int, level: Tally, low: float) -> int:
    """Return how many itemsets of a size can be among the top patterns, or within one of them.

    As many as are asked for; of shorter ones than that, as many as their subsets. Over a threshold as many as have an
    estimate over it, less those that noise lifted there: about as many as it pushed as far below 0.
    """
    if task.top is None:
        lifted = np.count_nonzero(level.estimates <= -low)
        return max(KEPT, int(np.count_nonzero(level.estimates >= low) - lifted))
    return min(task.top * (comb(task.least, size) if size < task.least else 1), CANDIDATES)


def _hopeful(tally: Tally, low: float, least: int = 0) -> Tally:
    """Return those that may count so much, and others with the largest estimates where they are too few."""
    doomed = tally.estimates + HOPE * tally.deviations < low
    order = np.lexsort((-tally.estimates, doomed))
    return tally.take(order[: max(least, int(np.count_nonzero(~doomed)))])


def _filled(pool: Tally, task: Task, meter: Meter, mark: float) -> Tally:
    """Return as many candidates as patterns are asked for: where fewer were counted, others are drawn.

    How many were counted is a result; so the length of the list must not tell it. They are taken to count nothing, give
    or take as much as the last pattern.
    """
    universe = task.universe(min(task.longest, LONGEST))
    missing = universe.up_to(task.top or 0) - len(pool)
    if missing <= 0:
        return pool
    others = Itemsets.of(universe.others(pool.itemsets.tuples(), missing, meter.below))
    return end_to_end([pool, Tally(others, np.zeros(missing), np.full(missing, mark))])


def _doubtful(task: Task, pool: Tally, mark: float) -> I64:
    """Return which candidates may or may not be patterns; where there are none, those that are; or all of them."""
    edge, most = mark, len(pool)
    if task.top is not None:
        edge, most = float(np.sort(pool.estimates)[-min(task.top, len(pool))]), SPARE * task.top
    away = np.abs(pool.estimates - edge)
    for places in (np.flatnonzero(away <= DOUBT * pool.deviations), np.flatnonzero(pool.estimates >= edge)):
        if len(places):
            return np.sort(places[np.argsort(away[places], kind="stable")[:most]])
    return np.arange(len(pool))


def _order(task: Task, pool: Tally) -> I64:
    """Return the places of the patterns that were asked for, the largest first."""
    order = np.lexsort((pool.itemsets.sizes, -pool.estimates))
    if task.top is None:
        # Shown are whole people.
        order = order[np.rint(pool.estimates[order]) >= (task.count or 1)]
    return order[: task.top]
