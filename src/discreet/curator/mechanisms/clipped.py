"""Find patterns length by length with clipped counting, then count the doubtful candidates again.

1. Count a whole family of candidates at once, at the noise of the few members that one person may add to: all items,
then the likeliest pairs of the hopeful items, and so on.
2. Count again the candidates of all lengths that noise and clipping leave near the end of the list.
3. Count the shown patterns.

The proof is in `clipped.md`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import comb, sqrt
from typing import ClassVar

import numpy as np

from ...checks import is_whole
from ...errors import MisuseError
from ...exact import BasketCount, Kth, Supports
from ...privacy import CONFIDENCE, Budget, Meter, SealedEngine
from ...results import Itemsets
from .. import Answers, Found, Mechanism, Plan, Problem
from ..steps import (
    CLIPPED_NOTE,
    HISTOGRAM_SHARE,
    HISTOGRAM_STEP,
    I64,
    LAST_COUNT_STEP,
    SHOWN_STEP,
    ClippedCount,
    Histogram,
    Tally,
    check_top,
    choose_total,
    count_clipped,
    join_candidates,
    join_tallies,
    measure_histogram,
    recount,
    rows,
)

FIND_STEP = "counting the candidates"
DOUBT_STEP = "counting again what is in doubt"
WIDENED_NOTE = "The items were chosen by the same noisy counts that are shown, and intervals are longer for it."

# The constants below were fitted to five data sets; `clipped.md` names the data sets and gives the results of other
# values. The share that measures the count of the last pattern; and of the remaining budget, the shares of single
# items, of pairs, and of all longer candidates. The remainder counts again.
LAST_COUNT_SHARE = Fraction(3, 100)
ITEM_SHARE = Fraction(1, 5)
PAIR_SHARE = Fraction(11, 50)
LONGER_SHARE = Fraction(3, 25)
# Each longer length takes this part of the remaining share for longer candidates; lengths below the minimum length
# divide their share equally.
LENGTH_SHARE = Fraction(3, 5)
# The measured count is lowered by LOWERED_STDS deviations, so that an unlucky draw prunes little; a candidate may lie
# HOPE_STDS deviations below the lowered count and stay.
LOWERED_STDS, HOPE_STDS = 1.5, 1.0
# A candidate is in doubt within DOUBT_STDS deviations of the last pattern.
DOUBT_STDS = 2.0
# The number of kept itemsets per length, and of recounted itemsets of all lengths, in multiples of the possible
# patterns.
SPARE_FACTOR = 2
# Over a threshold, the number of patterns is unknown: the estimates decide the number of kept itemsets, at least
# MIN_KEPT.
MIN_KEPT = 400
# Pairs are counted for at least MIN_ITEMS items; a length has at most MAX_CANDIDATES candidates.
MIN_ITEMS, MAX_CANDIDATES = 10, 100_000
# Small noise leaves room: for each noise deviation (of a pair count) within the mark, one more itemset per length is
# kept and ITEMSETS_PER_STD more pairs are counted.
ITEMSETS_PER_STD = 40
# Longer patterns are not searched: their share of the budget would be negligible.
MAX_LENGTH = 12
# The part of the last budget that counts the shown patterns, where counts are wanted.
SHOWN_SHARE = Fraction(2, 5)
# Single items alone are counted once; or the shown ones a second time with RECOUNT_SHARE of the budget, where the
# predicted error is below RECOUNT_GAIN times the clipped error.
RECOUNT_SHARE, RECOUNT_GAIN = Fraction(1, 2), 0.4


@dataclass(frozen=True, kw_only=True, eq=False)
class KnownCounts:
    """Public and released values from before the candidates are counted.

    Parameters
    ----------
    mark
        The threshold, or the approximate count of the last of the top patterns.
    low
        A lower bound on this count, with an allowance for noise.
    expected
        The approximate number of patterns, or None.
    items
        The counts of all items, already charged with their share, or None.
    """

    mark: float
    low: float
    expected: int | None = None
    items: ClippedCount | None = None


@dataclass(frozen=True, eq=False)
class ClippedLevels:
    """The best candidates of each length with their counts, the contribution bound of each family, and the cut lengths.

    A length is cut where more candidates exist than are counted.
    """

    tallies: list[Tally]
    totals: list[float]
    cut_lengths: list[int]


@dataclass(frozen=True, kw_only=True)
class ClippedCounting(Mechanism):
    """Settings of `clipped`.

    Parameters
    ----------
    pairs
        The number of counted pairs per requested pattern (over a threshold: per hopeful item). The pairs with the
        largest expected counts under independence are counted. Longer lengths have a tenth of this number.
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

    def check(self, problem: Problem, budget: Budget) -> None:
        """Refuse patterns beyond the largest length, and a top beyond the number of possible patterns."""
        super().check(problem, budget)
        if problem.min_length > MAX_LENGTH:
            raise MisuseError.format(
                "clipped finds patterns of at most {longest} items, and {lengths} asks for {asked} or more: ask "
                "for "
                "shorter ones, or another mechanism.",
                longest=MAX_LENGTH,
                asked=problem.min_length,
            )
        if problem.top is not None:
            check_top(problem)

    def plan(self, problem: Problem) -> Plan:
        """Measure the last count, count candidates, count doubtful ones again, and count the shown patterns.

        The share of a length without candidates goes to the last step. For single items alone, a part may count the
        shown items.
        """
        last_count_share = LAST_COUNT_SHARE if problem.top is not None else Fraction(0)
        if _asks_items_only(problem):
            steps = [(LAST_COUNT_STEP, last_count_share)] if last_count_share else []
            histogram_share = (1 - last_count_share) * HISTOGRAM_SHARE if _may_hold_several(problem) else Fraction(0)
            steps += [(HISTOGRAM_STEP, histogram_share)] if histogram_share else []
            return [*steps, (FIND_STEP, 1 - last_count_share - histogram_share)]
        finding_share = (1 - last_count_share) * (ITEM_SHARE + PAIR_SHARE + LONGER_SHARE)
        steps = [(LAST_COUNT_STEP, last_count_share)] if last_count_share else []
        counting_part = 1 - HISTOGRAM_SHARE
        doubt_share = 1 - last_count_share - finding_share
        shown_share = doubt_share * SHOWN_SHARE if problem.with_counts else Fraction(0)
        doubt_share -= shown_share
        steps += [
            (HISTOGRAM_STEP, (finding_share + doubt_share) * HISTOGRAM_SHARE),
            (FIND_STEP, finding_share * counting_part),
            (DOUBT_STEP, doubt_share * counting_part),
        ]
        return [*steps, (SHOWN_STEP, shown_share)] if shown_share else steps

    def run(self, engine: SealedEngine, problem: Problem, meter: Meter) -> Found:
        """Measure the count of the last pattern, unless a threshold is given, and find the patterns above it."""
        if problem.top is None:
            threshold = float(problem.threshold or 1)
            return self.find(engine, problem, meter, KnownCounts(mark=threshold, low=threshold))
        last_count = meter.count(
            LAST_COUNT_STEP, engine, Kth(problem.top, problem.min_length, problem.max_length), LAST_COUNT_SHARE
        )
        mark = max(1.0, float(last_count.values[0]))
        return self.find(
            engine, problem, meter, KnownCounts(mark=mark, low=max(1.0, mark - LOWERED_STDS * last_count.deviation))
        )

    def find(self, engine: SealedEngine, problem: Problem, meter: Meter, known_counts: KnownCounts) -> Found:
        """Find the patterns with the whole remaining budget of the meter."""
        if _asks_items_only(problem):
            return _find_items(engine, problem, meter, known_counts)
        mark, low = known_counts.mark, known_counts.low
        levels = self._count_levels(engine, problem, meter, known_counts)
        pool = join_tallies([tally for size, tally in enumerate(levels.tallies, 1) if size >= problem.min_length])
        if problem.top is not None:
            pool = _fill_pool(_select_hopeful(pool, low, problem.top), problem, meter, mark)
        facts = {
            "candidates counted": [len(tally) for tally in levels.tallies],
            "most that a person added": [round(total, 2) for total in levels.totals],
        }
        # The pool may be empty over a threshold; the spent budget must not reveal it, so the last level is counted
        # instead.
        spare_pool = pool if len(pool) else levels.tallies[-1]
        doubtful_positions = _find_doubtful(problem, spare_pool, mark)
        shown_share = meter.left * SHOWN_SHARE if problem.with_counts else Fraction(0)
        second_count = count_clipped(
            DOUBT_STEP, engine, meter, spare_pool.itemsets.take(doubtful_positions), meter.left - shown_share, mark
        )
        if len(pool):
            pool = pool.merge_counts(doubtful_positions, second_count.tally).lower_to_parts(problem.max_people)
        facts |= {"counted again": len(doubtful_positions), "most that a person added then": second_count.total}
        winners = pool.take(_rank_patterns(problem, pool))
        notes = _note_cut_levels(levels.cut_lengths) if problem.top is None else ()
        if not shown_share:
            return Found(itemsets=winners.itemsets, estimates=None, facts=facts, notes=notes)
        recounted = recount(engine, problem, meter, winners, spare_pool.itemsets.take(doubtful_positions))
        return replace(recounted, facts=facts, notes=(*recounted.notes, *notes))

    def _count_levels(
        self, engine: SealedEngine, problem: Problem, meter: Meter, known_counts: KnownCounts
    ) -> ClippedLevels:
        """Count the candidates of each length, in rising order."""
        mark, low = known_counts.mark, known_counts.low
        longest = min(problem.max_length, problem.item_count, MAX_LENGTH)
        budget = meter.left if known_counts.items is None else meter.left / (1 - ITEM_SHARE)
        longer = LONGER_SHARE * budget
        # mark / deviation of the count of one pair: the number of noise deviations within the mark.
        precise_room = mark / sqrt(meter.scale(BasketCount(), PAIR_SHARE * budget)[1])
        sets = rows(np.arange(problem.item_count, dtype=np.int32)[:, None])
        hopeful_items = 0
        levels = ClippedLevels([], [], [])
        for size in range(1, longest + 1):
            if size == 1:
                share = budget * ITEM_SHARE
            elif size == 2:
                share = budget * (PAIR_SHARE if longest > 2 else PAIR_SHARE + LONGER_SHARE)
            else:
                share = longer * (
                    LENGTH_SHARE if size >= problem.min_length else Fraction(1, problem.min_length - size + 1)
                )
                longer -= share
            counted_family = known_counts.items if size == 1 else None
            if counted_family is None:
                counted_family = count_clipped(FIND_STEP, engine, meter, sets, share, mark)
            tally, total = counted_family.tally, counted_family.total
            max_kept = int(min(max(_count_possible(problem, size, tally, low), precise_room), MAX_CANDIDATES))
            # Over a threshold no counted item has to be left out.
            levels.tallies.append(
                tally if size == 1 and problem.top is None else tally.take_largest(SPARE_FACTOR * max_kept)
            )
            levels.totals.append(total)
            hopeful = _select_hopeful(tally.take_largest(max_kept), low)
            hopeful_items = len(hopeful) if size == 1 else hopeful_items
            if size == longest:
                break
            max_candidates = self._max_candidates(problem, hopeful, hopeful_items, precise_room)
            scores = np.rint(1024 * np.log2(np.maximum(hopeful.estimates, 1.0))).astype(np.int64)
            # Candidates are ordered by the product of the counts of their subsets: a sum of logarithms in units of
            # 1/1024.
            sets = join_candidates(hopeful.itemsets, scores, max_candidates, problem.lineage)[0]
            if not len(sets):
                break
            if len(sets) == max_candidates:
                levels.cut_lengths.append(size + 1)
        return levels

    def _max_candidates(self, problem: Problem, tally: Tally, item_count: int, precise_room: float) -> int:
        """Return the largest number of candidates of the next length."""
        family_size = max(item_count, len(tally), MIN_ITEMS)
        if problem.top is not None:
            family_size = problem.top * comb(max(problem.min_length, 2), 2)
        max_candidates = int(min(max(self.pairs * family_size, ITEMSETS_PER_STD * precise_room), MAX_CANDIDATES))
        # Longer candidates: a tenth, as the setting `pairs` states.
        if len(tally) and tally.itemsets.sizes[0] > 1:
            max_candidates = -(-max_candidates // 10)
        return max_candidates


def _may_hold_several(problem: Problem) -> bool:
    """Return whether one person may hold several single items: not with one basket of one possible item."""
    return problem.item_count > 1 or problem.unit == "baskets"


def _asks_items_only(problem: Problem) -> bool:
    """Return whether all patterns are single items; all items are then counted once."""
    return min(problem.max_length, problem.item_count) == 1


def count_all_items(
    engine: SealedEngine, problem: Problem, meter: Meter, mark: float, histogram: Histogram
) -> ClippedCount:
    """Count all items with the item share of the remaining budget (net of the histogram)."""
    share = meter.left * ITEM_SHARE * (1 - HISTOGRAM_SHARE) / (1 - ITEM_SHARE * HISTOGRAM_SHARE)
    return count_clipped(FIND_STEP, engine, meter, Itemsets.singles(problem.item_count), share, mark, histogram)


def _find_items(engine: SealedEngine, problem: Problem, meter: Meter, known_counts: KnownCounts) -> Found:
    """Count all items and show the requested ones, by one set of counts or by fresh, more precise counts.

    With one set of counts, the noise also selects. Of M items R are shown, so intervals have confidence 1 - 0.05 R / M;
    then at most 5 % of the shown intervals miss on average (Benjamini, Yekutieli 2005).
    """
    singles = Itemsets.singles(problem.item_count)
    histogram_share = meter.left * HISTOGRAM_SHARE if _may_hold_several(problem) else Fraction(0)
    histogram = measure_histogram(engine, meter, singles, histogram_share)
    expected_count = problem.top or known_counts.expected
    mark, typical_count = (
        known_counts.mark,
        None
        if expected_count is None
        else histogram.typical_count(known_counts.mark, expected_count, problem.item_count),
    )
    is_recounted = (
        problem.with_counts
        and expected_count is not None
        and _recount_pays(meter, singles, histogram, expected_count, typical_count or mark)
    )
    share = meter.left * (1 - RECOUNT_SHARE) if is_recounted else meter.left
    total, _ = choose_total(singles, histogram, meter, share, mark, typical_count)
    item_counts = count_clipped(FIND_STEP, engine, meter, singles, share, mark, histogram, total)
    facts: dict[str, object] = {
        "candidates counted": [problem.item_count],
        "most that a person added": [round(item_counts.total, 2)],
    }
    tally = item_counts.tally.lower_to_parts(problem.max_people)
    positions = _rank_patterns(problem, tally)
    shown_tally = tally.take(positions)
    if not problem.with_counts:
        return Found(itemsets=shown_tally.itemsets, estimates=None, facts=facts)
    if is_recounted:
        return replace(recount(engine, problem, meter, shown_tally, singles), facts=facts)
    low, high = item_counts.bounds(1 - (1 - CONFIDENCE) * max(len(positions), 1) / problem.item_count)
    low = problem.lower_ends(item_counts.tally.estimates[positions], low[positions])
    return Found(
        itemsets=shown_tally.itemsets,
        estimates=shown_tally.estimates,
        low=np.minimum(np.floor(low), shown_tally.estimates),
        high=np.maximum(np.ceil(high[positions]), shown_tally.estimates),
        facts=facts,
        notes=(CLIPPED_NOTE, WIDENED_NOTE),
    )


def _recount_pays(meter: Meter, singles: Itemsets, histogram: Histogram, expected_count: int, mark: float) -> bool:
    """Return whether fresh counts of the expected items have a much smaller error than clipped counts of all items."""
    query = Supports(singles.take(np.arange(min(expected_count, len(singles)))))
    deviation = sqrt(meter.scale(query, meter.left * RECOUNT_SHARE)[1])
    return deviation < RECOUNT_GAIN * choose_total(singles, histogram, meter, meter.left, mark)[1]


def _note_cut_levels(lengths: list[int]) -> tuple[str, ...]:
    """Return a note that names the lengths with omitted candidates; none without a cut length."""
    if not lengths:
        return ()
    length_list = " and ".join(filter(None, (", ".join(map(str, lengths[:-1])), str(lengths[-1]))))
    return (
        f"Of the candidates with {length_list} items only the likeliest were counted: patterns over the threshold may "
        "be missing.",
    )


def _count_possible(problem: Problem, size: int, tally: Tally, low: float) -> int:
    """Return the number of itemsets of a size that can be top patterns, or subsets of top patterns.

    For a top this is the requested number, times the number of subsets for shorter sizes. Over a threshold it is the
    number of estimates over the threshold, less the number that noise lifted there; the latter is estimated by the
    estimates below -threshold, as noise is symmetric.
    """
    if problem.top is None:
        lifted_count = np.count_nonzero(tally.estimates <= -low)
        return max(MIN_KEPT, int(np.count_nonzero(tally.estimates >= low) - lifted_count))
    return min(problem.top * (comb(problem.min_length, size) if size < problem.min_length else 1), MAX_CANDIDATES)


def _select_hopeful(tally: Tally, low: float, min_kept: int = 0) -> Tally:
    """Return the itemsets with a count that may reach `low`, filled up to `min_kept` with the largest estimates."""
    is_hopeless = tally.estimates + HOPE_STDS * tally.deviations < low
    order = np.lexsort((-tally.estimates, is_hopeless))
    return tally.take(order[: max(min_kept, int(np.count_nonzero(~is_hopeless)))])


def _fill_pool(pool: Tally, problem: Problem, meter: Meter, mark: float) -> Tally:
    """Return a pool with at least the requested number of patterns: missing candidates are drawn at random.

    The number of counted candidates depends on the data, so the length of the list must not reveal it. A drawn
    candidate has the estimate 0 and a deviation of `mark`.
    """
    universe = problem.universe(min(problem.max_length, MAX_LENGTH))
    missing_count = universe.up_to(problem.top or 0) - len(pool)
    if missing_count <= 0:
        return pool
    drawn_itemsets = Itemsets.of(universe.others(pool.itemsets.tuples(), missing_count, meter.below))
    return join_tallies([pool, Tally(drawn_itemsets, np.zeros(missing_count), np.full(missing_count, mark))])


def _find_doubtful(problem: Problem, pool: Tally, mark: float) -> I64:
    """Return the positions of candidates near the edge; else of candidates above the edge; else of all."""
    edge_count, max_doubtful = mark, len(pool)
    if problem.top is not None:
        edge_count, max_doubtful = (
            float(np.sort(pool.estimates)[-min(problem.top, len(pool))]),
            SPARE_FACTOR * problem.top,
        )
    distances = np.abs(pool.estimates - edge_count)
    for positions in (
        np.flatnonzero(distances <= DOUBT_STDS * pool.deviations),
        np.flatnonzero(pool.estimates >= edge_count),
    ):
        if len(positions):
            return np.sort(positions[np.argsort(distances[positions], kind="stable")[:max_doubtful]])
    return np.arange(len(pool))


def _rank_patterns(problem: Problem, pool: Tally) -> I64:
    """Return the positions of the requested patterns, in falling order of estimates."""
    order = np.lexsort((pool.itemsets.sizes, -pool.estimates))
    if problem.top is None:
        # Shown counts are rounded to whole people, so the threshold applies to the rounded estimate.
        order = order[np.rint(pool.estimates[order]) >= (problem.threshold or 1)]
    return order[: problem.top]
