"""What `exponential` and `laplace` share: truncated counts, the choice among all itemsets, the recount, the promise."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log
from typing import ClassVar

import numpy as np

from ...errors import MisuseError, told
from ...exact.query import Kth, Supports
from ...exact.universe import MOST_BITS
from ...privacy.budget import Budget, shown
from ...privacy.meter import Meter, Way
from ...privacy.sealed import SealedEngine
from ...report.text import number_of
from ...results.itemsets import Itemsets
from ..mechanism import Answers, Found, Mechanism, Plan, Task

# No more itemsets than this are listed, however low the bound: the bound is raised to the count of that rank.
LISTED = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Choosing(Mechanism):
    """What both mechanisms are but for how they choose.

    Parameters
    ----------
    selecting
        The share of the budget that chooses the patterns; the rest counts them.
    doubt
        The probability with which the promise about the result may fail (the papers' rho).
    floor
        The public floor of counts as a fraction of gamma (E3): itemsets below it are not told apart.
    """

    selecting: Fraction = Fraction(1, 2)
    doubt: Fraction = Fraction(1, 10)
    floor: Fraction = Fraction(1, 20)

    citation: ClassVar[str] = (
        "R. Bhaskar, S. Laxman, A. Smith, A. Thakurta. Discovering frequent patterns in sensitive data. KDD 2010."
    )
    answers: ClassVar[tuple[Answers, ...]] = ("top",)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("selecting", "doubt", "floor"):
            value: Fraction = getattr(self, name)
            if not 0 < value < 1 and not (name == "floor" and value == 0):
                raise MisuseError(f"{name} lies between 0 and 1; {shown(value)} was given.")

    @abstractmethod
    def choice(self) -> Way:
        """Return how patterns are chosen."""

    def check(self, task: Task, budget: Budget) -> None:
        """Refuse a question that has fewer answers than are asked for."""
        super().check(task, budget)
        check_top(task)
        if task.universe().bits > MOST_BITS:
            raise MisuseError(
                told(
                    "{name} chooses among all itemsets of the items, and of {shortest:,} to {longest:,} items there "
                    "are "
                    "too many to draw from: ask for shorter patterns ({lengths=}), or another mechanism.",
                    name=self.name,
                    shortest=task.least,
                    longest=task.longest,
                )
            )

    def plan(self, task: Task) -> Plan:
        """Choose with one share, count with the other; for the patterns alone all of it chooses."""
        if not task.counts:
            return [("choosing the patterns", Fraction(1))]
        return [("choosing the patterns", self.selecting), ("counting the patterns", 1 - self.selecting)]

    def run(self, engine: SealedEngine, task: Task, meter: Meter) -> Found:
        """Choose among truncated counts, then count the picks."""
        shares = dict(self.plan(task))
        top = task.top or 0
        many = task.universe().many
        rate = meter.rate(top, shares["choosing the patterns"], self.choice())
        gamma = slack(self.choice(), top, many, self.doubt, rate)
        return choose_and_count(self.choice(), self.doubt, self.floor, gamma, engine, task, meter, shares)


def check_top(task: Task) -> None:
    """Refuse to pick more itemsets than there are."""
    if task.top is None:
        return
    many = task.universe().up_to(task.top)
    if many < task.top:
        # What every pattern has may be a pattern too: then it is one of the top that were typed.
        more, least, longest = int(task.alone), task.least + task.fixed - task.alone, task.longest + task.fixed
        span = f"{least:,} to {longest:,} items" if least < longest else number_of(longest, "item")
        among = " with the given ones" if task.fixed else ""
        raise MisuseError(
            told(
                "{top} is {given:,}, but {listed} only {there} of {span}{which}: ask for at most so many.",
                given=task.top + more,
                listed=number_of(task.items + task.fixed, "item has", "items have"),
                there=number_of(many + more, "itemset"),
                span=span,
                which=among,
            )
        )


def choose_and_count(
    way: Way,
    doubt: Fraction,
    floor: Fraction,
    gamma: int,
    engine: SealedEngine,
    task: Task,
    meter: Meter,
    shares: dict[str, Fraction],
) -> Found:
    """Choose the top itemsets by their counts truncated gamma below the K-th, and count those chosen (E6)."""
    top = task.top or 0
    universe = task.universe()
    # The K-th count stays inside (E9). Truncated counts are maxima of counts and of a bound that is 1-sensitive, all
    # of which rise by 0 or 1 when a person is added (E1): so they are 1-sensitive and monotone.
    least = ceil(floor * gamma)
    kth = engine.answer(Kth(top, task.least, task.longest))
    listed = engine.above(kth.minus(gamma).at_least(least), task.least, task.longest, LISTED)
    picked = meter.choose_itemsets("choosing the patterns", listed, top, shares["choosing the patterns"], way)
    itemsets = Itemsets.of(picked)
    promise = _promise(task, gamma, least, universe.many, doubt)
    if not task.counts:
        return Found(itemsets=itemsets, estimates=None, facts={"gamma": gamma}, notes=(promise,))
    noisy = meter.count("counting the patterns", engine, Supports(itemsets), shares["counting the patterns"])
    margin = noisy.margin()
    values = noisy.values.astype(np.float64)
    eta = noisy.margin(1 - float(doubt) / top)
    return Found(
        itemsets=itemsets,
        estimates=values,
        low=values - margin,
        high=values + margin,
        facts={"gamma": gamma, "eta": eta},
        notes=(promise, _accuracy(task, eta, doubt), _worth(task, gamma, least, int(values.min()))),
    )


def _promise(task: Task, gamma: int, least: int, many: int, doubt: Fraction) -> str:
    """Say what is promised about the choice, and under which condition on the true counts (E3)."""
    last = f"the last of the true top {task.top:,}"
    conditions = [f"{last} is held by {gamma + least:,} {task.unit} or more"] if least else []
    if many > LISTED:
        conditions.append(f"at most {LISTED:,} patterns are held by more {task.unit} than {last} less {gamma:,}")
    given = f", provided that {' and that '.join(conditions)}" if conditions else ""
    last = "it" if conditions else last
    return (
        f"{_with(task)} a probability of at least {1 - float(doubt):g}{given}: every pattern that was chosen is held "
        f"by at most {gamma:,} {task.unit} fewer than {last}, and every pattern held by {gamma:,} {task.unit} more "
        f"than {last} was chosen."
    )


def _accuracy(task: Task, eta: int, doubt: Fraction) -> str:
    sure = f"{_with(task)} a probability of at least {1 - float(doubt):g}"
    return f"{sure}, no count is off by more than {eta:,} {task.unit}."


def _with(task: Task) -> str:
    return f"Among the {task.among}, with" if task.among else "With"


def _worth(task: Task, gamma: int, least: int, last: int) -> str:
    """Say whether the promise says anything, judged from the smallest released count in place of the true K-th.

    How many could hold a pattern is known only where all of the list of items is to choose from.
    """
    could = "" if task.among else f" among {task.people:,}"
    if last <= 0 or last < gamma + max(least, 1) or (could and gamma >= task.people - last):
        return (
            f"Judged from the released counts, that promise says little here: {gamma:,} {task.unit} are too many "
            f"beside the smallest count of {max(last, 0):,}{could}. More epsilon, fewer patterns or shorter ones "
            "would help."
        )
    return (
        f"Judged from the released counts, that promise is worth having: {gamma:,} {task.unit} are {gamma / last:.0%} "
        "of the smallest count."
    )


def slack(way: Way, top: int, many: int, doubt: Fraction, rate: Fraction) -> int:
    """Return gamma: by how much a choice of `top` out of `many` may fall short, but with a probability of `doubt`."""
    if way == "laplace":
        # All candidates keep within gamma / 2 of their scores with probability 1 - rho (theorem 6).
        return ceil(2 * (logarithm(many) + log(1 / doubt)) / rate)
    # Each pick misses by more than gamma with probability at most rho / 2K (theorem 2 with the 2K of E2).
    return ceil((log(2 * top / doubt) + logarithm(many)) / rate)


def logarithm(number: int) -> float:
    """Return the logarithm of a whole number, however long."""
    return log(number) if number else 0.0
