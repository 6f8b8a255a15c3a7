"""One step of a mechanism on two neighbouring data sets: what must be the same, and what it can reveal at most.

Both runs have been told the same so far, so whatever they ask now may differ only in the exact answer, and that by no
more than the query or the candidates say. From the noise and the difference follows what this step can reveal about the
person; from the noise and the largest difference allowed, what it may have to be charged.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from math import exp
from typing import Any, TypeAlias

import numpy as np

from ..baskets import Item
from ..exact import Query
from ..privacy import I64, Candidates, Charge, Neighbours, Noisy, Way, moves

Name: TypeAlias = Item | tuple[Item, ...]

# Probabilities are added up in floating point: so much more than was charged is still as charged.
_ROUNDING = 1 + 1e-9


class Differs(Exception):  # noqa: N818
    """Two runs that were told the same do not go on in the same way, or reveal more than is charged."""


@dataclass(frozen=True, kw_only=True)
class StepLoss:
    """What one step reveals about the person: in pure epsilon (None for Gaussian noise), in rho, and delta."""

    epsilon: Fraction | None = Fraction(0)
    rho: Fraction = Fraction(0)
    delta: float = 0.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Step:
    """One use of the meter."""

    what: str
    share: Fraction
    charge: Charge | None

    def __str__(self) -> str:
        return f"the step {self.what!r}"


@dataclass(frozen=True, kw_only=True, eq=False)
class Counted(Step):
    """Counts with noise."""

    query: Query
    exact: I64
    noisy: Noisy
    max_baskets: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Chose(Step):
    """A choice among candidates; `chosen` has their names, None for one that was not listed and not named yet."""

    candidates: Candidates
    picks: int
    way: Way
    rate: Fraction
    chosen: list[Name | None]


@dataclass(frozen=True, kw_only=True, eq=False)
class Kept(Step):
    """Things found by their noisy counts."""

    counts: dict[Name, int]
    most: int
    scale: Fraction
    threshold: int
    kept: dict[Name, int]


@dataclass(frozen=True, kw_only=True, eq=False)
class Drew(Step):
    """A random number that does not depend on the data: a key, or a number below a public bound."""

    value: int


def named(candidates: Candidates) -> list[Name]:
    """Return by which name each listed candidate is known: its itemset, or its place."""
    if candidates.itemsets is None:
        return list(range(len(candidates.scores)))
    return list(candidates.itemsets.tuples())


def compare_public(one: Step, other: Step) -> None:
    """Check that two runs ask the same in the same way; on any data, since both have heard the same so far."""
    if type(one) is not type(other) or one.what != other.what:
        raise Differs(f"One run goes on with {one}, the other with {other}.")
    if one.share != other.share:
        raise Differs(f"{one.what}: one run pays a share of {one.share} for it, the other {other.share}.")
    match one, other:
        case Counted(), Counted():
            _same_query(one, other)
        case Chose(), Chose():
            _same_choice(one, other)
        case Kept(), Kept():
            _same_search(one, other)
        case Drew(), Drew():
            pass
    if one.charge != other.charge:
        raise Differs(f"{one.what}: the two runs are charged differently.")


def compare(one: Step, other: Step, neighbours: Neighbours) -> StepLoss:
    """Return what a step reveals by the difference of two runs; `Differs` says what is wrong with it."""
    compare_public(one, other)
    loss = StepLoss()
    match one, other:
        case Counted(), Counted():
            loss = _counted(one, other, neighbours)
        case Chose(), Chose():
            loss = _chose(one, other, neighbours)
        case Kept(), Kept():
            loss = _kept(one, other, neighbours)
    return loss


def same(one: Any, other: Any) -> bool:
    """Say whether two values are the same through and through: dataclasses by their fields, arrays by their entries."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other)
    if is_dataclass(one):
        return all(same(getattr(one, field.name), getattr(other, field.name)) for field in fields(one))
    return bool(one == other)


def _same_query(one: Counted, other: Counted) -> None:
    if not same(one.query, other.query) or one.exact.shape != other.exact.shape:
        raise Differs(f"{one.what}: the two runs ask different queries ({_query(one)} and {_query(other)}).")
    if (one.noisy.scale, one.noisy.variance) != (other.noisy.scale, other.noisy.variance):
        raise Differs(f"{one.what}: the two runs add noise of different sizes.")
    if one.max_baskets != other.max_baskets:
        raise Differs(f"{one.what}: the two runs reckon with different numbers of baskets of a person.")


def _counted(one: Counted, other: Counted, neighbours: Neighbours) -> StepLoss:
    query, noisy, charge = one.query, one.noisy, _charge(one)
    most, most_squared = moves(query, neighbours, one.max_baskets)
    apart = one.exact - other.exact
    moved = [abs(change) for change in apart[apart != 0].tolist()]  # of thousands of cells, one person moves a few
    total, squares = sum(moved), sum(change * change for change in moved)
    for norm, said, name in ((total, most, "sum"), (squares, most_squared, "sum of squares")):
        if norm > said:
            raise Differs(f"{one.what}: one person moves the answer by a {name} of {norm}; the query says {said}.")
    if noisy.variance == 0:
        return StepLoss()  # a query that nobody can move
    if noisy.scale is None:
        _covers(one, Fraction(most_squared) / (2 * noisy.variance), charge.rho)
        return StepLoss(epsilon=None, rho=squares / (2 * noisy.variance))
    _covers(one, Fraction(most) / noisy.scale, charge.epsilon)
    epsilon = total / noisy.scale
    return StepLoss(epsilon=epsilon, rho=epsilon**2 / 2)


def _same_choice(one: Chose, other: Chose) -> None:
    mine, yours = one.candidates, other.candidates
    if (one.picks, one.way, one.rate) != (other.picks, other.way, other.rate):
        raise Differs(f"{one.what}: the two runs choose in different ways ({_way(one)}; {_way(other)}).")
    if (mine.step, mine.monotone) != (yours.step, yours.monotone):
        raise Differs(f"{one.what}: the two runs say different things about how scores move.")
    if mine.total_count != yours.total_count:
        raise Differs(
            f"{one.what}: one run chooses from {mine.total_count:,} candidates, the other from {yours.total_count:,}."
        )
    followed = mine.itemsets is not None and yours.itemsets is not None
    if not followed and (mine.unlisted or yours.unlisted):
        raise Differs(f"{one.what}: candidates are not listed, and what the listed ones are is not said.")
    if None in one.chosen:
        raise Differs(f"{one.what}: an unlisted candidate was chosen, and not named by the meter.")


def _chose(one: Chose, other: Chose, neighbours: Neighbours) -> StepLoss:
    mine = one.candidates
    changes = _changes(one, other)
    steps = mine.step if mine.monotone or neighbours is Neighbours.ADD_REMOVE else 2 * mine.step
    largest = max(map(abs, changes), default=0)
    if largest > steps:
        raise Differs(f"{one.what}: one person moves a score by {largest}; the candidates say {steps}.")
    if mine.monotone and neighbours is Neighbours.ADD_REMOVE and min(changes) < 0 < max(changes):
        raise Differs(f"{one.what}: one person moves one score up and another down; the candidates say monotone.")
    # Adding the same to all scores changes nothing, so what counts is how far apart two changes are.
    spread = max(changes) - min(changes) if changes else 0
    allowed = steps if mine.monotone and neighbours is Neighbours.ADD_REMOVE else 2 * steps
    charge = _charge(one)
    _covers(one, one.picks * one.rate * allowed, charge.epsilon)
    _covers(one, _rho(one, allowed), charge.rho)
    return StepLoss(epsilon=one.picks * one.rate * spread, rho=_rho(one, spread))


def _changes(one: Chose, other: Chose) -> list[int]:
    """Return by how much the score of each candidate differs, listed or not."""
    mine, yours = (
        dict(zip(named(step.candidates), step.candidates.scores.tolist(), strict=True)) for step in (one, other)
    )
    for listed, step in ((mine, one), (yours, other)):
        if len(listed) < len(step.candidates.scores):
            raise Differs(f"{one.what}: a candidate is listed twice.")
    rest, your_rest = one.candidates.rest, other.candidates.rest
    every = mine.keys() | yours.keys()
    changes = [yours.get(name, your_rest) - mine.get(name, rest) for name in every]
    if len(every) < one.candidates.total_count:
        changes.append(your_rest - rest)
    return changes


def _rho(step: Chose, spread: int) -> Fraction:
    """Return the zCDP loss of a choice among scores that move by so much against each other."""
    each = step.rate * spread
    if step.way == "laplace":
        return (step.picks * each) ** 2 / 2
    return step.picks * each**2 / (8 if step.way in ("exponential", "gumbel") else 2)


def _same_search(one: Kept, other: Kept) -> None:
    if (one.most, one.scale, one.threshold) != (other.most, other.scale, other.threshold):
        raise Differs(f"{one.what}: the two runs look for things in different ways.")


def _kept(one: Kept, other: Kept, neighbours: Neighbours) -> StepLoss:
    swap = 2 if neighbours is Neighbours.REPLACE else 1
    both = one.counts.keys() & other.counts.keys()
    moved = sum(abs(one.counts.get(name, 0) - other.counts.get(name, 0)) for name in one.counts | other.counts)
    if moved > one.most * swap:
        raise Differs(f"{one.what}: one person moves the counts by {moved} in all; {one.most * swap} was said.")
    charge = _charge(one)
    _covers(one, one.most * swap / one.scale, charge.epsilon)
    # What occurs on one side only can be found on that side only: the chance of that is charged as delta.
    alone = max(
        sum(_passes(count, one) for name, count in step.counts.items() if name not in both) for step in (one, other)
    )
    if alone > float(charge.delta) * _ROUNDING:
        raise Differs(
            f"{one.what}: what only one person holds is found with a probability of {alone:.3g}; a delta of "
            f"{float(charge.delta):.3g} was charged."
        )
    epsilon = sum(abs(one.counts[name] - other.counts[name]) for name in both) / one.scale
    return StepLoss(epsilon=epsilon, rho=epsilon**2 / 2, delta=alone)


def _passes(count: int, step: Kept) -> float:
    """Return the probability that a count with discrete Laplace noise reaches the threshold."""
    rate, needed = 1 / float(step.scale), step.threshold - count
    if needed > 0:
        return exp(-needed * rate) / (1 + exp(-rate))
    return 1 - exp((needed - 1) * rate) / (1 + exp(-rate))


def _covers(step: Step, loss: Fraction, charged: Fraction | None) -> None:
    if charged is None or loss > charged:
        told = "nothing" if charged is None else f"{float(charged):.6g}"
        raise Differs(f"{step.what}: the noise that was added can reveal {float(loss):.6g}, and {told} was charged.")


def _charge(step: Step) -> Charge:
    if step.charge is None:
        raise Differs(f"{step.what}: nothing was charged.")
    return step.charge


def _query(step: Counted) -> str:
    query, most = step.query, step.query.sensitivity(step.max_baskets).l1
    return f"{type(query).__name__} of {query.cells:,} cells, each person moving {most:,} at most"


def _way(step: Chose) -> str:
    return f"{step.picks:,} picks by {step.way} at a rate of {float(step.rate):.6g}"
