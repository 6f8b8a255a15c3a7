"""Choosing a mechanism: by public facts where they suffice, and by small measurements that are paid for.

What decides is whether data are dense, and whether picks of items can be told from noise: which depends on the data
only through the count of the last pattern and the number of items above it. Both are measured with noise, and used by
the mechanism that is chosen as well. The proof is in `auto.md`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from ...exact.query import Kth, People
from ...exact.universe import MOST_BITS, Universe
from ...privacy.budget import Budget
from ...privacy.meter import Meter
from ...privacy.sealed import SealedEngine
from ..mechanism import Answers, Found, Mechanism, Plan, Task
from ..steps.basis_selection import RANK, RANK_SHARE
from ..steps.clipped_counting import LAST
from ..steps.itemset_choice import check_top, slack
from .bases import SEVERAL, Bases
from .clipped import LOWERED, MEASURING, ClippedCounting
from .exponential import Exponential
from .peeling import MOST, Peeling

# Fitted on the data sets that `docs/flagships.md` names; `auto.md` has the measurements.
# Data are dense where so large a part of the people hold the last pattern.
DENSE = Fraction(1, 10)
# Where so large a part do, bases find more than picks of one pattern after the other, also under zCDP.
CROWDED = Fraction(3, 4)
# Items are few where they are so large a part of the patterns that are looked for, or less.
FEW = Fraction(3, 10)
# How many times the noise of one pick the last count has to be.
CLEAR = 7
# Longer patterns alone are picked out of all there are where so large a part of what a pick may miss by, or more, is
# less than the last count.
MISSED = Fraction(2, 3)
# The share of what is left that says how many items to pick for the top of dense data: their counts lie close together.
SURELY = Fraction(1, 10)
# The share that says about how many patterns lie over a threshold, where few people hold them; `bases` needs it surer.
ROUGHLY = Fraction(1, 50)

# The share that counts those who hold the items that every pattern has, where nobody else asked for that number.
WHOM = Fraction(1, 50)

AMONG = "counting the people with the given items"
_FIND = "finding the patterns"


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
        bases, clipped = Bases(), ClippedCounting()
        share = dict(self.plan(task))[RANK if task.top is None else LAST]
        if not task.counted:
            among = meter.count(AMONG, engine, People(), WHOM)
            people = max(0, int(among.values[0]))
            task = replace(task, people=people, people_margin=among.margin(), counted=True)
        if task.top is not None:
            top = task.top
            last = meter.count(LAST, engine, Kth(top, task.least, task.longest), share)
            mark = max(1, int(last.values[0]))
            low = max(1.0, mark - LOWERED * last.deviation)
            facts = {"count of the last pattern, about": mark}
        else:
            top = bases.choose_rank(engine, task, meter, share)
            mark = max(1, task.count or 1)
            low = float(mark)
            facts = {"patterns expected": top}
        dense = _dense(task, mark)
        if task.top is not None and not dense and _worth_picking(task, mark, meter):
            why = f"patterns of {task.least} items or more that about {mark:,} people hold can be picked one by one"
            return _told(Exponential().run(engine, task, meter.part(meter.left)), Exponential(), why, facts)
        crowded = mark >= CROWDED * task.people
        if dense and not crowded and not meter.pure and task.top is not None and task.least == 1 and top <= MOST:
            why = f"many patterns are held by {mark:,} people or more, at least {DENSE} of all"
            return _told(Peeling().find(engine, task, meter, float(mark)), Peeling(), why, facts)
        if dense or _clear(task, top, round(FEW * bases.wanted(task, top)), mark, meter):
            surely = SURELY if dense and task.top is not None else bases.many_share
            many = bases.choose_many(engine, task, top, meter, meter.left * surely)
            facts["items expected"] = many
            why = _why_bases(task, top, many, mark, meter)
            if why:
                return _told(bases.from_items(engine, task, top, many, meter), bases, why, facts)
            why = f"about {many:,} items make too many patterns by themselves to pick them one by one"
        else:
            why = f"picks of items could hardly tell counts of about {mark:,} people from smaller ones"
        return _told(clipped.find(engine, task, meter, float(mark), low), clipped, why, facts)


def _by_facts(task: Task) -> tuple[Mechanism, str] | None:
    """Return the mechanism that public facts decide on, and why; None where the data have a say."""
    if task.least > Bases().largest:
        why = f"patterns of {task.least} items or more were asked for"
        return (Exponential(), why) if task.top is not None else (_truncated(), why)
    if task.longest == 1:
        return ClippedCounting(), "single items were asked for, and counting all of them costs no more than some"
    return None


def _dense(task: Task, mark: int) -> bool:
    """Say whether so many people are a large part of all."""
    return mark >= DENSE * task.people


def _ranking(task: Task) -> Fraction:
    """Return the share that says how many patterns lie over a threshold, judged by the people known beforehand."""
    return RANK_SHARE if _dense(task, task.count or 1) else ROUGHLY


def _worth_picking(task: Task, mark: int, meter: Meter) -> bool:
    """Say whether picking longer patterns alone, one by one out of all there are, would find most of them."""
    universe = Universe(task.items, task.least, task.longest)
    if task.least == 1 or universe.bits > MOST_BITS:
        return False
    how, top = Exponential(), task.top or 1
    share = meter.left * (how.selecting if task.counts else 1)
    missed = slack(how.way, top, universe.many, how.doubt, meter.rate(top, share, how.way))
    return MISSED * missed <= mark


def _clear(task: Task, top: int, many: int, mark: int, meter: Meter) -> bool:
    """Say whether picks of so many items, and of pairs as these need, can tell counts of `mark` from smaller ones."""
    bases = Bases()
    picks = max(1, many + (bases.pairs(task, top, many) if many > bases.largest else 0))
    return mark * meter.rate(picks, meter.left * SEVERAL, bases.way(meter)) >= CLEAR


def _why_bases(task: Task, top: int, many: int, mark: int, meter: Meter) -> str:
    """Return why patterns of about so many items are best found from bases; nothing where they are not."""
    if _dense(task, mark):
        return f"many patterns are held by {mark:,} people or more, at least {DENSE} of all"
    few = many <= FEW * Bases().wanted(task, top)
    if few and _clear(task, top, many, mark, meter):
        return f"about {many:,} items make most of the patterns, and can be picked"
    return ""


def _told(found: Found, how: Mechanism, why: str, facts: dict[str, int]) -> Found:
    """Say what was chosen and why, beside what it says itself."""
    told = {"mechanism chosen": how.name, **facts, **found.facts}
    return replace(found, facts=told, notes=(f"{how.name} was chosen: {why}.", *found.notes), chosen=how)


def _truncated() -> Mechanism:
    from .truncated import Truncated

    return Truncated()
