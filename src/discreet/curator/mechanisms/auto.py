"""Choosing a mechanism: by public facts where they suffice, and by small measurements that are paid for.

What is compared is a spread: how far apart two counts have to be before a way of finding patterns tells them apart. For
picks it follows from how many there are; for clipped counts, from how many items people hold; and how much of it can be
borne, from the count of the last pattern and from how fast counts fall about it. These are measured with noise, and
used by the mechanism that is chosen as well. The proof is in `auto.md`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, log2, sqrt
from typing import ClassVar

from ...exact.query import PARTS, BasketCount, Clipped, Kth, KthClipped
from ...exact.universe import MOST_BITS
from ...privacy.budget import Budget
from ...privacy.meter import Meter
from ...privacy.sealed import SealedEngine
from ...results.itemsets import Itemsets
from ..mechanism import Answers, Found, Mechanism, Plan, Task
from ..steps.basis_selection import RANK, RANK_SHARE, fewest_items
from ..steps.clipped_counting import LAST, LOOKING, Histogram, choose_total, held_histogram
from ..steps.itemset_choice import check_top, slack
from .bases import CROWDED, SEVERAL, Bases
from .clipped import ITEMS, LOWERED, MEASURING, ClippedCounting, KnownCounts, count_items
from .exponential import Exponential
from .peeling import MOST, Peeling, way

# Fitted on the data sets that `docs/flagships.md` names; `auto.md` has the measurements.
# Data are dense where so large a part of the people hold the last pattern.
DENSE = Fraction(1, 10)
# Items are few where they are so large a part of the patterns that are looked for, or less.
FEW = Fraction(3, 10)
# Where items are few, most patterns lie within their bases: the spread may be the last count over this.
CLEAR = 7
# Picks may have so large a part of the spread that clipped counting has for single items: it counts again later.
SHARPER = 0.35
# Single items alone are counted once, with all that is left.
SHARPER_ALONE = 0.6
# Or any spread by which about so large a part of the patterns is missed: their counts come out better.
MISSES = 0.045
# Counts go with the rank to a power about the last pattern. The share of what is left that measures it, what is usual
# where it is not measured, and its bounds.
SLOPING = Fraction(1, 50)
USUAL, FLATTEST, STEEPEST = 0.7, 0.15, 1.5
# Of so many patterns or fewer it does not pay to measure how many items they are made of.
SHORT = 30
# Where bases take so large a part of the picks that the patterns do, patterns are picked one by one.
SAME = 0.9
# In dense data counts lie close together: short tops are picked one by one where people are so many times the spread.
APART = 1_500
# Longer patterns alone are picked out of all there are where so large a part of what a pick may miss by, or more, is
# less than the last count.
MISSED = Fraction(2, 3)
# Where the spread is so large a part of the mark, and items so large a part of the patterns, only items are counted.
DOUBTED, MOSTLY = 0.35, 0.5
# But not where a longer pattern counts so many times as much as the last one.
STANDING = 2.0
# That is measured where picking one of several numbers tells counts apart by so large a part of the mark.
TOLD = 0.15
# Of the items that patterns are made of so large a part of what is usual is to be left by clipping. It is told apart
# by so many deviations, where so many times the share that measures a slope suffice for it.
HIDDEN, SURE, TELLING = 0.6, 2.5, 6
# The share of what is left that says how many items to pick for the top of dense data: their counts lie close together.
SURELY = Fraction(1, 10)
# The share that says about how many patterns lie over a threshold, where few people hold them; `bases` needs it surer.
ROUGHLY = Fraction(1, 50)

# The share that counts those who hold the items that every pattern has, where nobody else asked for that number.
WHOM = Fraction(1, 50)

AMONG = "counting the people with the given items"
SEEN = "measuring what clipping leaves of the last item"
SLOPE = "measuring how fast counts fall"
_FIND = "finding the patterns"
LONGER = "measuring the count of the most frequent longer pattern"
ITEMS_ONLY = (
    "Half of the patterns or more are single items, about, and hard to tell from others: longer ones were left out."
)


@dataclass(frozen=True, kw_only=True)
class Auto(Mechanism):
    """`auto` has no settings: those of the mechanism it chooses are at their defaults."""

    name: ClassVar[str] = "auto"
    summary: ClassVar[str] = "Chooses the mechanism by public facts and small measurements, and says which and why."
    citation: ClassVar[str] = "The choice among mechanisms is discreet's own; cite the one that was chosen as well."
    answers: ClassVar[tuple[Answers, ...]] = ("top", "threshold")

    def check(self, task: Task, budget: Budget) -> None:
        """Refuse more patterns than there are, and longer ones over a threshold than any mechanism finds."""
        super().check(task, budget)
        if task.top is not None:
            check_top(task)
        known = _by_facts(task)
        if known is not None:
            known[0].check(task, budget)

    def plan(self, task: Task) -> Plan:
        """Measure with a small share, and find the patterns with the rest, as the mechanism that is chosen plans it."""
        known = _by_facts(task)
        if known is not None:
            return known[0].plan(task)
        steps = [] if task.counted else [(AMONG, WHOM)]
        left = 1 - sum((share for _, share in steps), Fraction(0))
        share = left * (MEASURING if task.top is not None else _ranking(task))
        return [*steps, (LAST if task.top is not None else RANK, share), (_FIND, left - share)]

    def run(self, engine: SealedEngine, task: Task, meter: Meter) -> Found:
        """Choose, run what was chosen with all that is left, and tell."""
        known = _by_facts(task)
        if known is not None:
            how, why = known
            return _told(how.run(engine, task, meter), how, why, {})
        share = dict(self.plan(task))[RANK if task.top is None else LAST]
        if not task.counted:
            among = meter.count(AMONG, engine, BasketCount(), WHOM)
            people = max(0, int(among.values[0]))
            task = replace(task, people=people, people_margin=among.margin(), counted=True)
        if task.top is not None:
            top = task.top
            last = meter.count(LAST, engine, Kth(top, task.least, task.longest), share)
            mark = max(1, int(last.values[0]))
            low = max(1.0, mark - LOWERED * last.deviation)
            facts = {"count of the last pattern, about": mark}
        else:
            top = Bases().choose_rank(engine, task, meter, share)
            mark = max(1, task.count or 1)
            low = float(mark)
            facts = {"patterns expected": top}
        # Single items are one family however many people hold them: what people hold of it is looked at.
        dense = _dense(task, mark) and task.longest > 1
        if task.top is not None and not dense and _worth_picking(task, mark, meter):
            why = (
                f"patterns of {task.least} items or more that about {mark:,} {task.unit} hold can be picked one by one"
            )
            return _told(Exponential().run(engine, task, meter.part(meter.left)), Exponential(), why, facts)
        if dense:
            return _dense_data(engine, task, meter, top, mark, facts)
        return _sparse_data(engine, task, meter, top, mark, low, facts)


def _sparse_data(
    engine: SealedEngine, task: Task, meter: Meter, top: int, mark: int, low: float, facts: dict[str, int]
) -> Found:
    """Find patterns that few people hold: in the way that tells their counts apart best."""
    bases, singles, many = Bases(), Itemsets.singles(task.items), None
    slope = _slope(engine, task, meter, mark)
    holding = held_histogram(engine, meter, singles, meter.left * ITEMS * LOOKING)
    spread = _spread_of_all(task, singles, holding, meter, mark)
    if spread > DOUBTED * mark and _worth_counting_items(task, top, mark, meter):
        many = facts["items expected"] = _many(engine, task, top, meter)
        longer = meter.count(LONGER, engine, Kth(1, 2, task.longest), meter.left * SLOPING)
        if many >= MOSTLY * top and float(longer.values[0]) < STANDING * mark:
            task = replace(task, longest=1)
            spread = _spread_of_all(task, singles, holding, meter, mark)
    left_out = (ITEMS_ONLY,) if many is not None and task.longest == 1 else ()
    borne = max((SHARPER if task.longest > 1 else SHARPER_ALONE) * spread, MISSES * slope * mark)
    picked = f"patterns that about {mark:,} {task.unit} hold can be picked one by one"
    one_by_one = task.top is not None and task.least == 1 and _spread_of_patterns(top, meter) <= borne
    if one_by_one and (top <= SHORT or task.longest == 1):
        return _told(Peeling().find(engine, task, meter, float(mark)), Peeling(), picked, facts, left_out)
    if task.top is None and task.longest == 1 and _spread_of_items(task, top, bases.wanted(task, top), meter) <= borne:
        why = f"about {top:,} items that {mark:,} {task.unit} or more hold can be picked"
        return _told(bases.from_items(engine, task, top, top, meter), bases, why, facts)
    why = f"picks could hardly tell counts of about {mark:,} {task.unit} from smaller ones"
    few = round(FEW * bases.wanted(task, top))
    if task.longest > 1 and _spread_of_items(task, top, few, meter) <= max(borne, mark / CLEAR):
        many = facts["items expected"] = _many(engine, task, top, meter) if many is None else many
        if one_by_one and _picks(task, top, many) >= SAME * top:
            return _told(Peeling().find(engine, task, meter, float(mark)), Peeling(), picked, facts)
        if _spread_of_items(task, top, many, meter) <= max(borne, mark / CLEAR if many <= few else 0.0):
            why = f"about {many:,} items make most of the patterns, and can be picked"
            return _told(bases.from_items(engine, task, top, many, meter), bases, why, facts)
        why = f"about {many:,} items make too many patterns by themselves to pick them one by one"
    if _hidden(engine, task, meter, top, low, holding):
        if task.longest > 1:
            many = facts["items expected"] = _many(engine, task, top, meter) if many is None else many
        why = f"clipping would hide items that {mark:,} {task.unit} hold: those who hold them hold many more"
        return _told(bases.from_items(engine, task, top, many or top, meter), bases, why, facts)
    known = KnownCounts(mark=float(mark), low=low, expected=top)
    # Where all is counted at once, people have to be known by how much they hold more surely than for this choice.
    if task.longest > 1:
        known = replace(known, items=count_items(engine, task, meter, float(mark), holding))
    return _told(ClippedCounting().find(engine, task, meter, known), ClippedCounting(), why, facts, left_out)


def _many(engine: SealedEngine, task: Task, top: int, meter: Meter) -> int:
    """Choose how many items make the patterns, as `bases` does, with the share that it takes."""
    return Bases().choose_many(engine, task, top, meter, meter.left * Bases().many_share)


def _worth_counting_items(task: Task, top: int, mark: int, meter: Meter) -> bool:
    """Say whether a top may be answered with items alone, and how many items it has can be told."""
    if task.top is None or not task.least == 1 < task.longest or top > task.items:
        return False
    return float(1 / meter.rate(1, meter.left * Bases().many_share, Bases().way(meter))) <= TOLD * mark


def _spread_of_all(task: Task, singles: Itemsets, holding: Histogram, meter: Meter, mark: int) -> float:
    """Return how far off clipped counts of all items are, with their share; with all that is left for items alone."""
    return choose_total(singles, holding, meter, meter.left * _counting_items(task), mark)[1]


def _counting_items(task: Task) -> Fraction:
    """Return the share that counts all items once the histogram is known."""
    return ITEMS if task.longest > 1 else 1 - LOOKING


def _hidden(engine: SealedEngine, task: Task, meter: Meter, top: int, low: float, holding: Histogram) -> bool:
    """Say whether clipping takes much more from frequent items than from all: those who hold them hold many others.

    So many patterns are made of a certain number of items at least, each of which counts as much as the last pattern.
    """
    if task.top is None and task.longest == 1:
        # How many items lie over a threshold is known too roughly; longer patterns are made of few of them.
        return False
    singles, rank = Itemsets.singles(task.items), fewest_items(task.least, task.longest, top, task.items)
    total = choose_total(singles, holding, meter, meter.left * _counting_items(task), low)[0]
    query = KthClipped(Clipped(singles, total, not meter.pure), rank)
    expected = low * PARTS * holding.keep(total, meter.pure)
    shares = (meter.left * times * SLOPING for times in range(1, TELLING + 1))
    enough = (share for share in shares if SURE * sqrt(meter.scale(query, share)[1]) <= (1 - HIDDEN) * expected)
    share = next(enough, None)
    return share is not None and bool(meter.count(SEEN, engine, query, share).values[0] < HIDDEN * expected)


def _dense_data(engine: SealedEngine, task: Task, meter: Meter, top: int, mark: int, facts: dict[str, int]) -> Found:
    """Find patterns that a large part of the people hold: from bases, or one by one where that tells them apart."""
    bases, why = Bases(), f"many patterns are held by {mark:,} {task.unit} or more, at least {DENSE} of all"
    if task.top is not None and task.least == 1 and top <= MOST:
        apart = top <= SHORT and task.people >= APART * _spread_of_patterns(top, meter)
        if apart or (not meter.pure and mark < CROWDED * task.people):
            return _told(Peeling().find(engine, task, meter, float(mark)), Peeling(), why, facts)
    surely = SURELY if task.top is not None else bases.many_share
    many = bases.choose_many(engine, task, top, meter, meter.left * surely)
    facts["items expected"] = many
    return _told(bases.from_items(engine, task, top, many, meter, float(mark)), bases, why, facts)


def _slope(engine: SealedEngine, task: Task, meter: Meter, mark: int) -> float:
    """Return how fast counts fall about the last pattern: the power of the rank that they go with."""
    if task.top is None:
        return USUAL
    rank = task.universe().up_to(2 * task.top)
    after = meter.count(SLOPE, engine, Kth(rank, task.least, task.longest), meter.left * SLOPING)
    return min(max(log2(mark / max(float(after.values[0]), 1.0)), FLATTEST), STEEPEST)


def _by_facts(task: Task) -> tuple[Mechanism, str] | None:
    """Return the mechanism that public facts decide on, and why; None where the data have a say."""
    if task.least > Bases().largest:
        why = f"patterns of {task.least} items or more were asked for"
        return (Exponential(), why) if task.top is not None else (_truncated(), why)
    return None


def _dense(task: Task, mark: int) -> bool:
    """Say whether so many people are a large part of all."""
    return mark >= DENSE * task.people


def _ranking(task: Task) -> Fraction:
    """Return the share that says how many patterns lie over a threshold, judged by the people known beforehand."""
    return RANK_SHARE if _dense(task, task.count or 1) else ROUGHLY


def _worth_picking(task: Task, mark: int, meter: Meter) -> bool:
    """Say whether picking longer patterns alone, one by one out of all there are, would find most of them."""
    universe = task.universe()
    if task.least == 1 or universe.bits > MOST_BITS:
        return False
    how, top = Exponential(), task.top or 1
    share = meter.left * (how.selecting if task.counts else 1)
    missed = slack(how.way, top, universe.many, how.doubt, meter.rate(top, share, how.way))
    return MISSED * missed <= mark


def _picks(task: Task, top: int, many: int) -> int:
    """Return how many picks of items and pairs bases of so many items take."""
    bases = Bases()
    return max(1, many + (bases.pairs(task, top, many) if many > bases.largest else 0))


def _spread_of_items(task: Task, top: int, many: int, meter: Meter) -> float:
    """Return how far apart counts have to be for picks of so many items, and of pairs as these need."""
    return float(1 / meter.rate(_picks(task, top, many), meter.left * SEVERAL, Bases().way(meter)))


def _spread_of_patterns(top: int, meter: Meter) -> float:
    """Return how far apart counts have to be for picks of patterns one by one."""
    return float(1 / meter.rate(top, meter.left * Peeling().selecting, way(meter))) if top <= MOST else inf


def _told(found: Found, how: Mechanism, why: str, facts: dict[str, int], more: tuple[str, ...] = ()) -> Found:
    """Say what was chosen and why, beside what it says itself."""
    told = {"mechanism chosen": how.name, **facts, **found.facts}
    return replace(found, facts=told, notes=(f"{how.name} was chosen: {why}.", *more, *found.notes), chosen=how)


def _truncated() -> Mechanism:
    from .truncated import Truncated

    return Truncated()
