"""Choosing a mechanism: by public facts where they suffice, and by two small measurements that are paid for.

What decides is how far counts stand out of the noise each mechanism would add, which depends on the data only through
the count of the last pattern and the number of items above it. Both are measured with noise. The proof is in `auto.md`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, sqrt
from typing import ClassVar

import numpy as np

from ..exact.engine import Engine
from ..exact.query import Kth, People
from ..privacy.budget import Budget
from ..privacy.meter import Meter
from .choosing import check_top, slack
from .exponential import Exponential
from .mechanism import Answers, Asked, Found, Mechanism, Plan
from .privbasis import PrivBasis
from .universe import MOST_BITS, Universe

# The numbers below were fitted to the data sets of the papers; `auto.md` has the table.
# Up to so many single items are picked one by one; where more are wanted, all are counted.
FEW = 10
# Patterns are mostly single items where these are so large a part of them.
MOSTLY = Fraction(4, 5)
# Data are dense where so large a part of the people hold the last pattern.
DENSE = Fraction(1, 10)
# How many times the noise of one pick the last count has to be: for picks to find about half of the patterns; and for
# them to do better than counting level by level, under pure epsilon and under zCDP.
HALF = Fraction(6, 5)
GOOD = {True: Fraction(5), False: Fraction(5, 2)}
# How many deviations of the noise on one count the last count has to be for counting level by level.
LEVELS = {True: 150, False: 20}

_LAST = "measuring the count of the last pattern"
_RANK = "choosing how many patterns"
_FIND = "finding the patterns"


@dataclass(frozen=True, kw_only=True)
class Auto(Mechanism):
    """`auto` has no settings: those of the mechanism it chooses are at their defaults."""

    name: ClassVar[str] = "auto"
    summary: ClassVar[str] = "Chooses the mechanism by public facts and small measurements, and says which and why."
    citation: ClassVar[str] = "The choice among mechanisms is discreet's own; cite the one that was chosen as well."
    answers: ClassVar[tuple[Answers, ...]] = ("top", "threshold")

    def check(self, asked: Asked, budget: Budget) -> None:
        """Refuse more patterns than there are, and longer ones over a threshold than any mechanism finds."""
        super().check(asked, budget)
        if asked.top is not None:
            check_top(asked)
            if asked.least > PrivBasis().largest:
                Exponential().check(asked, budget)
        elif asked.least > PrivBasis().largest:
            _truncated().check(asked, budget)

    def plan(self, asked: Asked) -> Plan:
        """Measure with a small share, and find the patterns with the rest, as the mechanism that is chosen plans it."""
        known = _by_facts(asked)
        if known is not None:
            return known[0].plan(asked)
        if asked.top is not None:
            return [(_LAST, Fraction(3, 100)), (_FIND, Fraction(97, 100))]
        return [(_RANK, Fraction(1, 20)), (_FIND, Fraction(19, 20))]

    def run(self, engine: Engine, asked: Asked, meter: Meter) -> Found:
        """Choose, run what was chosen with all that is left, and tell."""
        known = _by_facts(asked)
        if known is not None:
            how, why = known
            return _told(how.run(engine, asked, meter), how, why, {})
        shares = dict(self.plan(asked))
        bases = PrivBasis()
        if asked.top is not None:
            top = asked.top
            last = meter.count(_LAST, engine, Kth(bases.wanted(asked, top), asked.least, asked.longest), shares[_LAST])
            mark = max(1, int(last.values[0]))
            facts = {"count of the last pattern, about": mark}
            # Where patterns are counted level by level, an unlucky draw must not leave too few over the threshold.
            low = max(1, mark - ceil(1.5 * last.deviation))
            if _worth_picking(asked, top, mark, meter):
                why = f"its promise is worth something where the last pattern is held by about {mark:,} people"
                return _told(_rest(Exponential(), engine, asked, meter), Exponential(), why, facts)
        else:
            top = bases.choose_rank(engine, asked, meter, shares[_RANK])
            mark = low = max(1, asked.count or 1)
            facts = {"patterns expected": top}
        many = bases.choose_many(engine, asked, top, meter, meter.left / 10)
        facts["items expected"] = many
        name, why = _chosen(asked, top, many, mark, meter)
        if name == "privbasis":
            return _told(bases.from_items(engine, asked, top, many, meter), bases, why, facts)
        if name == "truncated-items":
            some = replace(asked, top=None if asked.top is None else min(asked.top, asked.items), longest=1)
            return _told(_rest(_truncated_items(), engine, some, meter), _truncated_items(), why, facts)
        levels = replace(asked, top=None, count=low, counts=True)
        return _told(_first(_rest(_truncated(), engine, levels, meter), asked), _truncated(), why, facts)


def _by_facts(asked: Asked) -> tuple[Mechanism, str] | None:
    """Return the mechanism that public facts decide on, and why; None where the data have a say."""
    if asked.least > PrivBasis().largest:
        why = f"patterns of {asked.least} items or more were asked for"
        return (Exponential(), why) if asked.top is not None else (_truncated(), why)
    if asked.longest > 1:
        return None
    if asked.top is not None and asked.top <= FEW:
        return PrivBasis(), f"no more than {FEW} single items were asked for, and picking them costs little"
    return _truncated_items(), "single items were asked for, and counting all of them costs no more than counting some"


def _worth_picking(asked: Asked, top: int, mark: int, meter: Meter) -> bool:
    """Say whether picking the patterns one by one out of all there are would find them.

    Under pure epsilon, where single items are patterns, bases do better even then.
    """
    if meter.pure and asked.least == 1:
        return False
    how = Exponential()
    share = meter.left * (how.selecting if asked.counts else 1)
    universe = Universe(asked.items, asked.least, asked.longest)
    if universe.bits > MOST_BITS:
        return False
    return slack(how.way, top, universe.many, how.doubt, meter.rate(top, share, how.way)) <= mark


def _chosen(asked: Asked, top: int, many: int, mark: int, meter: Meter) -> tuple[str, str]:
    """Return the name of the mechanism for patterns down to a count of `mark`, of about so many items, and why."""
    picks = many + PrivBasis().pairs(asked, top, many)
    signal = mark * meter.rate(picks, meter.left * Fraction(4, 9), "exponential")
    # Which part of the patterns picks would find, and which part single items are.
    found, single = signal / (signal + HALF), Fraction(many, PrivBasis().wanted(asked, top))
    if asked.least == 1 and single >= MOSTLY and single > found:
        return "truncated-items", f"about {min(many, top):,} of {top:,} patterns are single items"
    if mark >= DENSE * asked.people:
        return "privbasis", f"many patterns are held by {mark:,} people or more, at least {DENSE} of all"
    if signal >= GOOD[meter.pure]:
        return "privbasis", f"{picks:,} picks can tell counts of about {mark:,} people from smaller ones"
    if asked.least > 1 or mark >= LEVELS[meter.pure] * sqrt(meter.scale(People(), meter.left)[1]):
        return "truncated", f"{picks:,} picks could hardly tell counts of about {mark:,} people from smaller ones"
    if found >= single:
        return "privbasis", f"{picks:,} picks still find more patterns than there are single items among them"
    return "truncated-items", f"with counts of about {mark:,} people little but single items can be found"


def _rest(how: Mechanism, engine: Engine, asked: Asked, meter: Meter) -> Found:
    """Run a mechanism with all that is left."""
    left = meter.left
    epsilon = None if asked.epsilon is None else asked.epsilon * left
    return how.run(engine, replace(asked, epsilon=epsilon), meter.part(left))


def _first(found: Found, asked: Asked) -> Found:
    """Keep as many patterns as were asked for, those with the largest estimates."""
    if found.estimates is None or found.low is None or found.high is None:
        raise AssertionError("asked with counts")
    order = np.lexsort((found.itemsets.sizes, -found.estimates))[: asked.top]
    if not asked.counts:
        return replace(found, itemsets=found.itemsets.take(order), estimates=None, low=None, high=None)
    return replace(
        found,
        itemsets=found.itemsets.take(order),
        estimates=found.estimates[order],
        low=found.low[order],
        high=found.high[order],
    )


def _told(found: Found, how: Mechanism, why: str, facts: dict[str, int]) -> Found:
    """Say what was chosen and why, beside what it says itself."""
    told = {"mechanism chosen": how.name, **facts, **found.facts}
    return replace(found, facts=told, notes=(f"{how.name} was chosen: {why}.", *found.notes), chosen=how)


def _truncated() -> Mechanism:
    from .truncated import Truncated

    return Truncated()


def _truncated_items() -> Mechanism:
    from .truncated_items import TruncatedItems

    return TruncatedItems()
