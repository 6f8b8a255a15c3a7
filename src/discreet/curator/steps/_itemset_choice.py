"""Shared parts of `exponential` and `laplace`: truncated counts, the choice of itemsets, the recount, the promise."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log
from typing import ClassVar

import numpy as np

from ...errors import MisuseError
from ...exact import MAX_NUMBER_BITS, Kth, Supports
from ...privacy import Budget, Meter, SealedEngine, Way, shown
from ...report import number_of
from ...results import Itemsets
from .. import Answers, Found, Mechanism, Plan, Problem

# At most LISTED itemsets are listed, under any bound: the bound rises to the count of this rank.
LISTED = 1_000_000


@dataclass(frozen=True, kw_only=True)
class ItemsetChoice(Mechanism):
    """The shared computation of both mechanisms; subclasses decide the selection method.

    Parameters
    ----------
    selecting
        The share of the budget that chooses the patterns; the remainder counts them.
    doubt
        The probability with which the promise about the result may fail (the papers' rho).
    floor
        The public floor of counts as a fraction of gamma (E3): counts below it are raised to it.
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
        """Return the selection method."""

    def check(self, problem: Problem, budget: Budget) -> None:
        """Refuse a question with fewer possible patterns than requested, or with too many to draw from."""
        super().check(problem, budget)
        check_top(problem)
        if problem.universe().bits > MAX_NUMBER_BITS:
            raise MisuseError.format(
                "{name} chooses among all itemsets of the items, and of {shortest:,} to {longest:,} items there "
                "are "
                "too many to draw from: ask for shorter patterns ({lengths=}), or another mechanism.",
                name=self.name,
                shortest=problem.min_length,
                longest=problem.max_length,
            )

    def plan(self, problem: Problem) -> Plan:
        """Choose with one share and count with the other; without counts, the choice takes the whole budget."""
        if not problem.with_counts:
            return [("choosing the patterns", Fraction(1))]
        return [("choosing the patterns", self.selecting), ("counting the patterns", 1 - self.selecting)]

    def run(self, engine: SealedEngine, problem: Problem, meter: Meter) -> Found:
        """Choose among truncated counts, then count the chosen patterns."""
        shares = dict(self.plan(problem))
        top = problem.top or 0
        universe_size = problem.universe().itemset_count
        # The rate is the exponent per person of one pick; gamma is measured in its inverse.
        rate = meter.rate(top, shares["choosing the patterns"], self.choice())
        gamma = slack(self.choice(), top, universe_size, self.doubt, rate)
        return choose_and_count(self.choice(), self.doubt, self.floor, gamma, engine, problem, meter, shares)


def check_top(problem: Problem) -> None:
    """Refuse a top beyond the number of possible patterns."""
    if problem.top is None:
        return
    pattern_count = problem.universe().up_to(problem.top)
    if pattern_count < problem.top:
        # The required items may be a pattern too: then the top of the question includes it.
        required_patterns = int(problem.required_is_pattern)
        min_length = problem.min_length + problem.required_count - required_patterns
        max_length = problem.max_length + problem.required_count
        span = f"{min_length:,} to {max_length:,} items" if min_length < max_length else number_of(max_length, "item")
        required_phrase = " with the given ones" if problem.required_count else ""
        raise MisuseError.format(
            "{top} is {given:,}, but {listed} only {there} of {span}{which}: ask for at most so many.",
            given=problem.top + required_patterns,
            listed=number_of(problem.item_count + problem.required_count, "item has", "items have"),
            there=number_of(pattern_count + required_patterns, "itemset"),
            span=span,
            which=required_phrase,
        )


def choose_and_count(
    way: Way,
    doubt: Fraction,
    floor: Fraction,
    gamma: int,
    engine: SealedEngine,
    problem: Problem,
    meter: Meter,
    shares: dict[str, Fraction],
) -> Found:
    """Choose the top itemsets by counts truncated at gamma below the K-th count, and count the chosen ones (E6)."""
    top = problem.top or 0
    universe = problem.universe()
    # The K-th count stays sealed (E9). A truncated count is the maximum of a count and of a 1-sensitive bound; both
    # rise by 0 or 1 when a person is added (E1). So truncated counts are 1-sensitive and monotone.
    min_bound = ceil(floor * gamma)
    kth = engine.answer(Kth(top, problem.min_length, problem.max_length))
    listed_itemsets = engine.above(kth.minus(gamma).at_least(min_bound), problem.min_length, problem.max_length, LISTED)
    picked_itemsets = meter.choose_itemsets(
        "choosing the patterns", listed_itemsets, top, shares["choosing the patterns"], way
    )
    itemsets = Itemsets.of(picked_itemsets)
    promise = _state_promise(problem, gamma, min_bound, universe.itemset_count, doubt)
    if not problem.with_counts:
        return Found(itemsets=itemsets, estimates=None, facts={"gamma": gamma}, notes=(promise,))
    noisy = meter.count("counting the patterns", engine, Supports(itemsets), shares["counting the patterns"])
    margin = noisy.margin()
    values = noisy.values.astype(np.float64)
    # Union bound over the counts: each exceeds eta with probability doubt / top.
    eta = noisy.margin(1 - float(doubt) / top)
    return Found(
        itemsets=itemsets,
        estimates=values,
        low=values - margin,
        high=values + margin,
        facts={"gamma": gamma, "eta": eta},
        notes=(
            promise,
            _state_accuracy(problem, eta, doubt),
            _judge_promise(problem, gamma, min_bound, int(values.min())),
        ),
    )


def _state_promise(problem: Problem, gamma: int, min_bound: int, universe_size: int, doubt: Fraction) -> str:
    """Return the promise about the choice, with its condition on the true counts (E3)."""
    last_pattern = f"the last of the true top {problem.top:,}"
    conditions = [f"{last_pattern} is held by {gamma + min_bound:,} {problem.unit} or more"] if min_bound else []
    if universe_size > LISTED:
        conditions.append(
            f"at most {LISTED:,} patterns are held by more {problem.unit} than {last_pattern} less {gamma:,}"
        )
    proviso = f", provided that {' and that '.join(conditions)}" if conditions else ""
    last_pattern = "it" if conditions else last_pattern
    return (
        f"{_name_scope(problem)} a probability of at least {1 - float(doubt):g}{proviso}: every pattern that was "
        f"chosen is held by at most {gamma:,} {problem.unit} fewer than {last_pattern}, and every pattern held by "
        f"{gamma:,} {problem.unit} more than {last_pattern} was chosen."
    )


def _state_accuracy(problem: Problem, eta: int, doubt: Fraction) -> str:
    """Return the sentence on the largest error of the counts."""
    probability = f"{_name_scope(problem)} a probability of at least {1 - float(doubt):g}"
    return f"{probability}, no count is off by more than {eta:,} {problem.unit}."


def _name_scope(problem: Problem) -> str:
    """Return the beginning of a promise, with its scope where the choice has one."""
    return f"Among the {problem.scope}, with" if problem.scope else "With"


def _judge_promise(problem: Problem, gamma: int, min_bound: int, smallest_count: int) -> str:
    """Return a sentence on the worth of the promise, judged by the smallest released count, not by the true K-th.

    The number of possible holders of a pattern is public only where the whole list of items is in scope.
    """
    among_people = "" if problem.scope else f" among {problem.people:,}"
    if (
        smallest_count <= 0
        or smallest_count < gamma + max(min_bound, 1)
        or (among_people and gamma >= problem.people - smallest_count)
    ):
        return (
            f"Judged from the released counts, that promise says little here: {gamma:,} {problem.unit} are too many "
            f"beside the smallest count of {max(smallest_count, 0):,}{among_people}. More epsilon, fewer patterns or "
            "shorter ones would help."
        )
    return (
        f"Judged from the released counts, that promise is worth having: {gamma:,} {problem.unit} are "
        f"{gamma / smallest_count:.0%} of the smallest count."
    )


def slack(way: Way, top: int, universe_size: int, doubt: Fraction, rate: Fraction) -> int:
    """Return gamma: the shortfall of a choice of `top` out of `universe_size`, exceeded with probability `doubt`."""
    if way == "laplace":
        # All candidates stay within gamma / 2 of their scores with probability 1 - rho (theorem 6).
        return ceil(2 * (logarithm(universe_size) + log(1 / doubt)) / rate)
    # Each pick misses by more than gamma with probability at most rho / 2K (theorem 2 with the 2K of E2).
    return ceil((log(2 * top / doubt) + logarithm(universe_size)) / rate)


def logarithm(number: int) -> float:
    """Return the natural logarithm of a whole number of any length; 0 for 0."""
    return log(number) if number else 0.0
