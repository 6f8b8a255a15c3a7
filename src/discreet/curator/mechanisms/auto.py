"""Choose a mechanism by public facts where they suffice, and by small paid measurements otherwise.

The choice compares pick errors and counting errors: the difference that two counts must have before a mechanism
separates them. For picks, the error follows from the number of picks; for clipped counts, from the loads of people. The
tolerable error follows from the count of the last pattern and from the slope of counts about it. All measurements are
noisy and paid for, and the chosen mechanism uses them too. The proof is in `auto.md`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, log2, sqrt
from typing import ClassVar

from ...exact import MAX_NUMBER_BITS, PARTS, BasketCount, ClippedCounts, Kth, KthClipped
from ...privacy import Budget, Meter, SealedEngine
from ...results import Itemsets
from .. import Answers, Found, Mechanism, Plan, Problem
from ..steps import (
    HISTOGRAM_SHARE,
    LAST_COUNT_STEP,
    RANK_SHARE,
    RANK_STEP,
    Histogram,
    check_top,
    choose_total,
    measure_histogram,
    min_item_count,
    slack,
)
from .bases import CROWDED_PART, SEVERAL_BASES_SHARE, Bases
from .clipped import ITEM_SHARE, LAST_COUNT_SHARE, LOWERED_STDS, ClippedCounting, KnownCounts, count_all_items
from .exponential import Exponential
from .peeling import MAX_PATTERNS, Peeling, choose_pick_method

# The constants below were fitted on the data sets that `docs/flagships.md` names; `auto.md` has the measurements. Data
# are dense where this part of the people hold the last pattern.
DENSE_PART = Fraction(1, 10)
# Items are few where their number is at most this part of the number of patterns.
FEW_ITEMS_PART = Fraction(3, 10)
# With few items, most patterns lie within their bases: the pick error may be the last count over BASIS_PRECISION.
BASIS_PRECISION = 7
# Picks may have this part of the error of clipped counts of single items, as clipped counting counts again later.
PICK_ERROR_PART = 0.35
# The part for single items alone, which are counted once with the whole budget.
PICK_ERROR_PART_ITEMS = 0.6
# Or an error that misses about this part of the patterns, as the counts of picks are more precise.
MISSED_PATTERN_PART = 0.045
# Counts follow rank^-slope about the last pattern. The share that measures the slope; the default slope ; and its
# bounds.
SLOPE_SHARE = Fraction(1, 50)
DEFAULT_SLOPE, MIN_SLOPE, MAX_SLOPE = 0.7, 0.15, 1.5
# Up to this number of patterns, measuring the number of items does not pay.
SHORT_TOP = 30
# Where bases need this part of the picks of peeling, or more, patterns are picked one by one.
EQUAL_PICKS_PART = 0.9
# In dense data counts are close together: short tops are picked one by one where people / pick error reaches this.
PEOPLE_PER_ERROR = 1_500
# Longer patterns alone are picked from the whole universe where this part of the slack is at most the last count.
SLACK_PART = Fraction(2, 3)
# Only items are counted where the clipped error exceeds DOUBTED_PART of the mark and items are ITEM_PATTERN_PART of the
# patterns;
DOUBTED_PART, ITEM_PATTERN_PART = 0.35, 0.5
# but not where a longer pattern has this multiple of the count of the last pattern.
LONGER_COUNT_FACTOR = 2.0
# The number of items is measured where the choice separates counts by this part of the mark.
ITEM_COUNT_PRECISION = 0.15
# Clipping hides items where less than HIDDEN_PART of the expected sum remains. The test needs HIDDEN_STDS deviations,
# and is made where at most MAX_HIDDEN_SHARES slope shares suffice.
HIDDEN_PART, HIDDEN_STDS, MAX_HIDDEN_SHARES = 0.6, 2.5, 6
# The share that chooses the number of items for the top of dense data, as their counts are close together.
DENSE_ITEM_COUNT_SHARE = Fraction(1, 10)
# The share that estimates the number of patterns over a threshold in sparse data; `bases` needs a more precise one.
SPARSE_RANK_SHARE = Fraction(1, 50)

# The share that counts the people with the required items, where this number is not yet known.
AMONG_SHARE = Fraction(1, 50)

AMONG_STEP = "counting the people with the given items"
HIDDEN_STEP = "measuring what clipping leaves of the last item"
SLOPE_STEP = "measuring how fast counts fall"
_FIND_STEP = "finding the patterns"
LONGER_STEP = "measuring the count of the most frequent longer pattern"
ITEMS_ONLY = (
    "Half of the patterns or more are single items, about, and hard to tell from others: longer ones were left out."
)


@dataclass(frozen=True, kw_only=True)
class Auto(Mechanism):
    """`auto` has no settings; the chosen mechanism has its default settings."""

    name: ClassVar[str] = "auto"
    summary: ClassVar[str] = "Chooses the mechanism by public facts and small measurements, and says which and why."
    citation: ClassVar[str] = "The choice among mechanisms is discreet's own; cite the one that was chosen as well."
    answers: ClassVar[tuple[Answers, ...]] = ("top", "threshold")

    def check(self, problem: Problem, budget: Budget) -> None:
        """Refuse a top beyond the number of patterns, and a threshold for patterns longer than any mechanism finds."""
        super().check(problem, budget)
        if problem.top is not None:
            check_top(problem)
        public_choice = _choose_by_facts(problem)
        if public_choice is not None:
            public_choice[0].check(problem, budget)

    def plan(self, problem: Problem) -> Plan:
        """Measure with a small share; the chosen mechanism plans the remainder."""
        public_choice = _choose_by_facts(problem)
        if public_choice is not None:
            return public_choice[0].plan(problem)
        steps = [] if problem.people_known_to_engine else [(AMONG_STEP, AMONG_SHARE)]
        remaining_share = 1 - sum((share for _, share in steps), Fraction(0))
        share = remaining_share * (LAST_COUNT_SHARE if problem.top is not None else _rank_share(problem))
        return [
            *steps,
            (LAST_COUNT_STEP if problem.top is not None else RANK_STEP, share),
            (_FIND_STEP, remaining_share - share),
        ]

    def run(self, engine: SealedEngine, problem: Problem, meter: Meter) -> Found:
        """Choose a mechanism, run it with the whole remaining budget, and explain the choice."""
        public_choice = _choose_by_facts(problem)
        if public_choice is not None:
            mechanism, reason = public_choice
            return _explain_choice(mechanism.run(engine, problem, meter), mechanism, reason, {})
        share = dict(self.plan(problem))[RANK_STEP if problem.top is None else LAST_COUNT_STEP]
        if not problem.people_known_to_engine:
            noisy_people = meter.count(AMONG_STEP, engine, BasketCount(), AMONG_SHARE)
            people = max(0, int(noisy_people.values[0]))
            problem = replace(problem, people=people, people_margin=noisy_people.margin(), people_known_to_engine=True)
        if problem.top is not None:
            top = problem.top
            last_count = meter.count(LAST_COUNT_STEP, engine, Kth(top, problem.min_length, problem.max_length), share)
            mark = max(1, int(last_count.values[0]))
            low = max(1.0, mark - LOWERED_STDS * last_count.deviation)
            facts = {"count of the last pattern, about": mark}
        else:
            top = Bases().choose_rank(engine, problem, meter, share)
            mark = max(1, problem.threshold or 1)
            low = float(mark)
            facts = {"patterns expected": top}
        # Single items are one family at any density: the histogram of loads decides on them.
        is_dense = _is_dense(problem, mark) and problem.max_length > 1
        if problem.top is not None and not is_dense and _can_pick_longer(problem, mark, meter):
            reason = (
                f"patterns of {problem.min_length} items or more that about {mark:,} {problem.unit} hold can be "
                "picked one by one"
            )
            return _explain_choice(
                Exponential().run(engine, problem, meter.part(meter.left)), Exponential(), reason, facts
            )
        if is_dense:
            return _find_in_dense_data(engine, problem, meter, top, mark, facts)
        return _find_in_sparse_data(engine, problem, meter, top, mark, low, facts)


def _find_in_sparse_data(
    engine: SealedEngine, problem: Problem, meter: Meter, top: int, mark: int, low: float, facts: dict[str, int]
) -> Found:
    """Find patterns that few people hold, with the mechanism of the smallest error.

    1. Measure the slope and the histogram of loads; restrict to items where longer patterns do not pay.
    2. Pick one by one, or by bases, where the pick error is tolerable.
    3. Otherwise count with clipping, unless clipping would hide the frequent items.
    """
    bases, singles, item_count = Bases(), Itemsets.singles(problem.item_count), None
    slope = _measure_slope(engine, problem, meter, mark)
    histogram = measure_histogram(engine, meter, singles, meter.left * ITEM_SHARE * HISTOGRAM_SHARE)
    clipped_error = _clipped_error(problem, singles, histogram, meter, mark)
    if clipped_error > DOUBTED_PART * mark and _can_afford_item_count(problem, top, mark, meter):
        item_count = facts["items expected"] = _choose_item_count(engine, problem, top, meter)
        longer_count = meter.count(LONGER_STEP, engine, Kth(1, 2, problem.max_length), meter.left * SLOPE_SHARE)
        if item_count >= ITEM_PATTERN_PART * top and float(longer_count.values[0]) < LONGER_COUNT_FACTOR * mark:
            problem = replace(problem, max_length=1)
            clipped_error = _clipped_error(problem, singles, histogram, meter, mark)
    extra_notes = (ITEMS_ONLY,) if item_count is not None and problem.max_length == 1 else ()
    max_pick_error = max(
        (PICK_ERROR_PART if problem.max_length > 1 else PICK_ERROR_PART_ITEMS) * clipped_error,
        MISSED_PATTERN_PART * slope * mark,
    )
    pick_reason = f"patterns that about {mark:,} {problem.unit} hold can be picked one by one"
    can_peel = problem.top is not None and problem.min_length == 1 and _pattern_pick_error(top, meter) <= max_pick_error
    if can_peel and (top <= SHORT_TOP or problem.max_length == 1):
        return _explain_choice(
            Peeling().find(engine, problem, meter, float(mark)), Peeling(), pick_reason, facts, extra_notes
        )
    if (
        problem.top is None
        and problem.max_length == 1
        and _item_pick_error(problem, top, bases.count_wanted_patterns(problem, top), meter) <= max_pick_error
    ):
        reason = f"about {top:,} items that {mark:,} {problem.unit} or more hold can be picked"
        return _explain_choice(bases.from_items(engine, problem, top, top, meter), bases, reason, facts)
    reason = f"picks could hardly tell counts of about {mark:,} {problem.unit} from smaller ones"
    few_items = round(FEW_ITEMS_PART * bases.count_wanted_patterns(problem, top))
    if problem.max_length > 1 and _item_pick_error(problem, top, few_items, meter) <= max(
        max_pick_error, mark / BASIS_PRECISION
    ):
        item_count = facts["items expected"] = (
            _choose_item_count(engine, problem, top, meter) if item_count is None else item_count
        )
        if can_peel and _count_picks(problem, top, item_count) >= EQUAL_PICKS_PART * top:
            return _explain_choice(Peeling().find(engine, problem, meter, float(mark)), Peeling(), pick_reason, facts)
        if _item_pick_error(problem, top, item_count, meter) <= max(
            max_pick_error, mark / BASIS_PRECISION if item_count <= few_items else 0.0
        ):
            reason = f"about {item_count:,} items make most of the patterns, and can be picked"
            return _explain_choice(bases.from_items(engine, problem, top, item_count, meter), bases, reason, facts)
        reason = f"about {item_count:,} items make too many patterns by themselves to pick them one by one"
    if _clipping_hides_items(engine, problem, meter, top, low, histogram):
        if problem.max_length > 1:
            item_count = facts["items expected"] = (
                _choose_item_count(engine, problem, top, meter) if item_count is None else item_count
            )
        reason = f"clipping would hide items that {mark:,} {problem.unit} hold: those who hold them hold many more"
        return _explain_choice(bases.from_items(engine, problem, top, item_count or top, meter), bases, reason, facts)
    known_counts = KnownCounts(mark=float(mark), low=low, expected=top)
    # Clipped counting of all lengths needs the histogram more precise than this choice does.
    if problem.max_length > 1:
        known_counts = replace(known_counts, items=count_all_items(engine, problem, meter, float(mark), histogram))
    return _explain_choice(
        ClippedCounting().find(engine, problem, meter, known_counts), ClippedCounting(), reason, facts, extra_notes
    )


def _choose_item_count(engine: SealedEngine, problem: Problem, top: int, meter: Meter) -> int:
    """Choose the number of items within the patterns, with the share that `bases` takes for it."""
    return Bases().choose_item_count(engine, problem, top, meter, meter.left * Bases().item_count_share)


def _can_afford_item_count(problem: Problem, top: int, mark: int, meter: Meter) -> bool:
    """Return whether the remaining budget suffices to count the items of the top-k patterns."""
    if problem.top is None or not problem.min_length == 1 < problem.max_length or top > problem.item_count:
        return False
    return (
        float(1 / meter.rate(1, meter.left * Bases().item_count_share, Bases().selection_method(meter)))
        <= ITEM_COUNT_PRECISION * mark
    )


def _clipped_error(problem: Problem, singles: Itemsets, histogram: Histogram, meter: Meter, mark: int) -> float:
    """Return the error of clipped counts of all items at the mark, with the item share of the budget."""
    return choose_total(singles, histogram, meter, meter.left * _item_share(problem), mark)[1]


def _item_share(problem: Problem) -> Fraction:
    """Return the share that counts all items after the histogram is known."""
    return ITEM_SHARE if problem.max_length > 1 else 1 - HISTOGRAM_SHARE


def _clipping_hides_items(
    engine: SealedEngine, problem: Problem, meter: Meter, top: int, low: float, histogram: Histogram
) -> bool:
    """Return whether clipping takes much more from frequent items than from all items.

    Holders of frequent items may hold many other items. The top patterns consist of at least `min_item_count` items,
    each with at least the count of the last pattern; the clipped sum at this rank is measured.
    """
    if problem.top is None and problem.max_length == 1:
        # The number of items over a threshold is too imprecise; longer patterns consist of few items.
        return False
    singles, rank = (
        Itemsets.singles(problem.item_count),
        min_item_count(problem.min_length, problem.max_length, top, problem.item_count),
    )
    total = choose_total(singles, histogram, meter, meter.left * _item_share(problem), low)[0]
    query = KthClipped(ClippedCounts(singles, total, not meter.pure), rank)
    expected_sum = low * PARTS * histogram.kept_share(total, meter.pure)
    shares = (meter.left * times * SLOPE_SHARE for times in range(1, MAX_HIDDEN_SHARES + 1))
    sufficient_shares = (
        share
        for share in shares
        if HIDDEN_STDS * sqrt(meter.scale(query, share)[1]) <= (1 - HIDDEN_PART) * expected_sum
    )
    share = next(sufficient_shares, None)
    return share is not None and bool(
        meter.count(HIDDEN_STEP, engine, query, share).values[0] < HIDDEN_PART * expected_sum
    )


def _find_in_dense_data(
    engine: SealedEngine, problem: Problem, meter: Meter, top: int, mark: int, facts: dict[str, int]
) -> Found:
    """Find patterns that many people hold: from bases, or one by one where picks separate the counts."""
    bases, reason = Bases(), f"many patterns are held by {mark:,} {problem.unit} or more, at least {DENSE_PART} of all"
    if problem.top is not None and problem.min_length == 1 and top <= MAX_PATTERNS:
        is_separable = top <= SHORT_TOP and problem.people >= PEOPLE_PER_ERROR * _pattern_pick_error(top, meter)
        if is_separable or (not meter.pure and mark < CROWDED_PART * problem.people):
            return _explain_choice(Peeling().find(engine, problem, meter, float(mark)), Peeling(), reason, facts)
    item_count_share = DENSE_ITEM_COUNT_SHARE if problem.top is not None else bases.item_count_share
    item_count = bases.choose_item_count(engine, problem, top, meter, meter.left * item_count_share)
    facts["items expected"] = item_count
    return _explain_choice(bases.from_items(engine, problem, top, item_count, meter, float(mark)), bases, reason, facts)


def _measure_slope(engine: SealedEngine, problem: Problem, meter: Meter, mark: int) -> float:
    """Return the slope of counts about the last pattern: s where count ~ rank^-s."""
    if problem.top is None:
        return DEFAULT_SLOPE
    rank = problem.universe().up_to(2 * problem.top)
    later_count = meter.count(
        SLOPE_STEP, engine, Kth(rank, problem.min_length, problem.max_length), meter.left * SLOPE_SHARE
    )
    return min(max(log2(mark / max(float(later_count.values[0]), 1.0)), MIN_SLOPE), MAX_SLOPE)


def _choose_by_facts(problem: Problem) -> tuple[Mechanism, str] | None:
    """Return the mechanism that public facts decide, and the reason; None where the data decide."""
    if problem.min_length > Bases().largest:
        reason = f"patterns of {problem.min_length} items or more were asked for"
        return (Exponential(), reason) if problem.top is not None else (_truncated(), reason)
    return None


def _is_dense(problem: Problem, mark: int) -> bool:
    """Return whether `mark` people are a large part of all people."""
    return mark >= DENSE_PART * problem.people


def _rank_share(problem: Problem) -> Fraction:
    """Return the share that estimates the number of patterns over a threshold, by the public number of people."""
    return RANK_SHARE if _is_dense(problem, problem.threshold or 1) else SPARSE_RANK_SHARE


def _can_pick_longer(problem: Problem, mark: int, meter: Meter) -> bool:
    """Return whether picking longer patterns from the whole universe would find most top patterns."""
    universe = problem.universe()
    if problem.min_length == 1 or universe.bits > MAX_NUMBER_BITS:
        return False
    mechanism, top = Exponential(), problem.top or 1
    share = meter.left * (mechanism.selecting if problem.with_counts else 1)
    rate = meter.rate(top, share, mechanism.way)
    pick_slack = slack(mechanism.way, top, universe.itemset_count, mechanism.doubt, rate)
    return SLACK_PART * pick_slack <= mark


def _count_picks(problem: Problem, top: int, item_count: int) -> int:
    """Return the number of picks (items and pairs) that bases of `item_count` items take."""
    bases = Bases()
    return max(1, item_count + (bases.count_pairs(problem, top, item_count) if item_count > bases.largest else 0))


def _item_pick_error(problem: Problem, top: int, item_count: int, meter: Meter) -> float:
    """Return the difference of counts that picks of items and their pairs separate."""
    return float(
        1
        / meter.rate(
            _count_picks(problem, top, item_count), meter.left * SEVERAL_BASES_SHARE, Bases().selection_method(meter)
        )
    )


def _pattern_pick_error(top: int, meter: Meter) -> float:
    """Return the difference of counts that picks of patterns one by one separate."""
    return (
        float(1 / meter.rate(top, meter.left * Peeling().selecting, choose_pick_method(meter)))
        if top <= MAX_PATTERNS
        else inf
    )


def _explain_choice(
    result: Found, mechanism: Mechanism, reason: str, facts: dict[str, int], extra_notes: tuple[str, ...] = ()
) -> Found:
    """Return the result with the chosen mechanism and the reason added to facts and notes."""
    all_facts = {"mechanism chosen": mechanism.name, **facts, **result.facts}
    return replace(
        result,
        facts=all_facts,
        notes=(f"{mechanism.name} was chosen: {reason}.", *extra_notes, *result.notes),
        chosen=mechanism,
    )


def _truncated() -> Mechanism:
    """Return the mechanism `truncated`."""
    from .truncated import Truncated

    return Truncated()
