"""One step of a mechanism on two neighbouring data sets: its required equalities, and its largest possible loss.

Both runs have received equal values so far, so their steps may differ only in the exact answer, and by no more than the
query or the candidates state. The noise and the actual difference give the loss of the step; the noise and the largest
stated difference give the amount that the step must be charged.
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

# The tolerance for sums of probabilities in floating point.
_ROUNDING = 1 + 1e-9


class Differs(Exception):  # noqa: N818
    """Two runs with equal released values differ, or a step reveals more than it is charged."""


@dataclass(frozen=True, kw_only=True)
class StepLoss:
    """The loss of one step: in pure epsilon (None for Gaussian noise), in rho, and delta."""

    epsilon: Fraction | None = Fraction(0)
    rho: Fraction = Fraction(0)
    delta: float = 0.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Step:
    """One use of the meter."""

    purpose: str
    share: Fraction
    charge: Charge | None

    def __str__(self) -> str:
        return f"the step {self.purpose!r}"


@dataclass(frozen=True, kw_only=True, eq=False)
class CountStep(Step):
    """Counts with noise."""

    query: Query
    exact: I64
    noisy: Noisy
    max_baskets: int


@dataclass(frozen=True, kw_only=True, eq=False)
class ChoiceStep(Step):
    """A selection among candidates, with the names of the picks; None for an unlisted pick without a name yet."""

    candidates: Candidates
    picks: int
    way: Way
    rate: Fraction
    chosen_names: list[Name | None]


@dataclass(frozen=True, kw_only=True, eq=False)
class FindStep(Step):
    """Itemsets that were selected by their noisy counts."""

    counts: dict[Name, int]
    max_change: int
    scale: Fraction
    threshold: int
    kept_counts: dict[Name, int]


@dataclass(frozen=True, kw_only=True, eq=False)
class DrawStep(Step):
    """A random number that is independent of the data: a key, or a number below a public bound."""

    value: int


def candidate_names(candidates: Candidates) -> list[Name]:
    """Return the name of each listed candidate: its itemset, or its place."""
    if candidates.itemsets is None:
        return list(range(len(candidates.scores)))
    return list(candidates.itemsets.tuples())


def compare_public(step: Step, twin: Step) -> None:
    """Check that the steps of two runs are equal in all but their exact answers, on any data."""
    if type(step) is not type(twin) or step.purpose != twin.purpose:
        raise Differs(f"One run goes on with {step}, the other with {twin}.")
    if step.share != twin.share:
        raise Differs(f"{step.purpose}: one run pays a share of {step.share} for it, the other {twin.share}.")
    match step, twin:
        case CountStep(), CountStep():
            _check_same_query(step, twin)
        case ChoiceStep(), ChoiceStep():
            _check_same_choice(step, twin)
        case FindStep(), FindStep():
            _check_same_search(step, twin)
        case DrawStep(), DrawStep():
            pass
    if step.charge != twin.charge:
        raise Differs(f"{step.purpose}: the two runs are charged differently.")


def compare(step: Step, twin: Step, neighbours: Neighbours) -> StepLoss:
    """Return the loss of a step from the difference of two neighbours; `Differs` states a fault."""
    compare_public(step, twin)
    loss = StepLoss()
    match step, twin:
        case CountStep(), CountStep():
            loss = _compare_counts(step, twin, neighbours)
        case ChoiceStep(), ChoiceStep():
            loss = _compare_choices(step, twin, neighbours)
        case FindStep(), FindStep():
            loss = _compare_finds(step, twin, neighbours)
    return loss


def is_same(value: Any, other_value: Any) -> bool:
    """Return whether two values are equal: dataclasses by their fields, arrays by their entries."""
    if type(value) is not type(other_value):
        return False
    if isinstance(value, np.ndarray):
        return np.array_equal(value, other_value)
    if is_dataclass(value):
        return all(is_same(getattr(value, field.name), getattr(other_value, field.name)) for field in fields(value))
    return bool(value == other_value)


def _check_same_query(step: CountStep, twin: CountStep) -> None:
    if not is_same(step.query, twin.query) or step.exact.shape != twin.exact.shape:
        raise Differs(
            f"{step.purpose}: the two runs ask different queries ({_describe_query(step)} and {_describe_query(twin)})."
        )
    if (step.noisy.scale, step.noisy.variance) != (twin.noisy.scale, twin.noisy.variance):
        raise Differs(f"{step.purpose}: the two runs add noise of different sizes.")
    if step.max_baskets != twin.max_baskets:
        raise Differs(f"{step.purpose}: the two runs reckon with different numbers of baskets of a person.")


def _compare_counts(step: CountStep, twin: CountStep, neighbours: Neighbours) -> StepLoss:
    query, noisy, charge = step.query, step.noisy, _get_charge(step)
    max_l1, max_squared_l2 = moves(query, neighbours, step.max_baskets)
    # The largest stated change bounds the loss for all data; the actual change is the loss of this pair.
    difference = step.exact - twin.exact
    changes = [abs(change) for change in difference[difference != 0].tolist()]  # few of thousands of cells
    total, squares = sum(changes), sum(change * change for change in changes)
    for norm, stated_norm, name in ((total, max_l1, "sum"), (squares, max_squared_l2, "sum of squares")):
        if norm > stated_norm:
            raise Differs(
                f"{step.purpose}: one person moves the answer by a {name} of {norm}; the query says {stated_norm}."
            )
    if noisy.variance == 0:
        return StepLoss()  # no person can change the answer
    # Gaussian noise has no pure loss: its zCDP loss is the squared change over twice the variance.
    if noisy.scale is None:
        _check_charge(step, Fraction(max_squared_l2) / (2 * noisy.variance), charge.rho)
        return StepLoss(epsilon=None, rho=squares / (2 * noisy.variance))
    _check_charge(step, Fraction(max_l1) / noisy.scale, charge.epsilon)
    epsilon = total / noisy.scale
    return StepLoss(epsilon=epsilon, rho=epsilon**2 / 2)


def _check_same_choice(step: ChoiceStep, twin: ChoiceStep) -> None:
    candidates, twin_candidates = step.candidates, twin.candidates
    if (step.picks, step.way, step.rate) != (twin.picks, twin.way, twin.rate):
        raise Differs(
            f"{step.purpose}: the two runs choose in different ways ({_describe_choice(step)}; "
            f"{_describe_choice(twin)})."
        )
    if (candidates.step, candidates.monotone) != (twin_candidates.step, twin_candidates.monotone):
        raise Differs(f"{step.purpose}: the two runs say different things about how scores move.")
    if candidates.total_count != twin_candidates.total_count:
        raise Differs(
            f"{step.purpose}: one run chooses from {candidates.total_count:,} candidates, the other from "
            f"{twin_candidates.total_count:,}."
        )
    # Places of unlisted candidates say nothing: two runs may list different candidates under equal places.
    are_named = candidates.itemsets is not None and twin_candidates.itemsets is not None
    if not are_named and (candidates.unlisted or twin_candidates.unlisted):
        raise Differs(f"{step.purpose}: candidates are not listed, and what the listed ones are is not said.")
    if None in step.chosen_names:
        raise Differs(f"{step.purpose}: an unlisted candidate was chosen, and not named by the meter.")


def _compare_choices(step: ChoiceStep, twin: ChoiceStep, neighbours: Neighbours) -> StepLoss:
    candidates = step.candidates
    changes = _list_changes(step, twin)
    is_add_remove = neighbours is Neighbours.ADD_REMOVE
    steps = candidates.step if candidates.monotone or is_add_remove else 2 * candidates.step
    largest = max(map(abs, changes), default=0)
    if largest > steps:
        raise Differs(f"{step.purpose}: one person moves a score by {largest}; the candidates say {steps}.")
    if candidates.monotone and is_add_remove and min(changes) < 0 < max(changes):
        raise Differs(f"{step.purpose}: one person moves one score up and another down; the candidates say monotone.")
    # Equal changes of all scores cancel in the selection probabilities: the spread of the changes is the sensitivity.
    spread = max(changes) - min(changes) if changes else 0
    max_spread = steps if candidates.monotone and is_add_remove else 2 * steps
    charge = _get_charge(step)
    _check_charge(step, step.picks * step.rate * max_spread, charge.epsilon)
    _check_charge(step, _rho(step, max_spread), charge.rho)
    return StepLoss(epsilon=step.picks * step.rate * spread, rho=_rho(step, spread))


def _list_changes(step: ChoiceStep, twin: ChoiceStep) -> list[int]:
    """Return the difference of the scores of each candidate, listed or unlisted."""
    scores, twin_scores = (
        dict(zip(candidate_names(run_step.candidates), run_step.candidates.scores.tolist(), strict=True))
        for run_step in (step, twin)
    )
    for names_of_step, run_step in ((scores, step), (twin_scores, twin)):
        if len(names_of_step) < len(run_step.candidates.scores):
            raise Differs(f"{step.purpose}: a candidate is listed twice.")
    default_score, twin_default = step.candidates.unlisted_score, twin.candidates.unlisted_score
    all_names = scores.keys() | twin_scores.keys()
    changes = [twin_scores.get(name, twin_default) - scores.get(name, default_score) for name in all_names]
    if len(all_names) < step.candidates.total_count:
        changes.append(twin_default - default_score)
    return changes


def _rho(step: ChoiceStep, spread: int) -> Fraction:
    """Return the zCDP loss of a selection among scores that differ by at most `spread` in their changes."""
    pick_loss = step.rate * spread
    if step.way == "laplace":
        return (step.picks * pick_loss) ** 2 / 2
    return step.picks * pick_loss**2 / (8 if step.way in ("exponential", "gumbel") else 2)


def _check_same_search(step: FindStep, twin: FindStep) -> None:
    if (step.max_change, step.scale, step.threshold) != (
        twin.max_change,
        twin.scale,
        twin.threshold,
    ):
        raise Differs(f"{step.purpose}: the two runs look for things in different ways.")


def _compare_finds(step: FindStep, twin: FindStep, neighbours: Neighbours) -> StepLoss:
    factor = 2 if neighbours is Neighbours.REPLACE else 1
    common_names = step.counts.keys() & twin.counts.keys()
    total_change = sum(abs(step.counts.get(name, 0) - twin.counts.get(name, 0)) for name in step.counts | twin.counts)
    max_change = step.max_change * factor
    if total_change > max_change:
        raise Differs(f"{step.purpose}: one person moves the counts by {total_change} in all; {max_change} was said.")
    charge = _get_charge(step)
    _check_charge(step, max_change / step.scale, charge.epsilon)
    # An itemset of one side can be found on that side alone: its chance is charged as delta.
    unshared_chance = max(
        sum(_pass_probability(count, step) for name, count in run.counts.items() if name not in common_names)
        for run in (step, twin)
    )
    if unshared_chance > float(charge.delta) * _ROUNDING:
        raise Differs(
            f"{step.purpose}: what only one person holds is found with a probability of {unshared_chance:.3g}; a delta "
            f"of {float(charge.delta):.3g} was charged."
        )
    epsilon = sum(abs(step.counts[name] - twin.counts[name]) for name in common_names) / step.scale
    return StepLoss(epsilon=epsilon, rho=epsilon**2 / 2, delta=unshared_chance)


def _pass_probability(count: int, step: FindStep) -> float:
    """Return the probability that a count with discrete Laplace noise reaches the threshold."""
    rate, distance = 1 / float(step.scale), step.threshold - count
    if distance > 0:
        return exp(-distance * rate) / (1 + exp(-rate))
    return 1 - exp((distance - 1) * rate) / (1 + exp(-rate))


def _check_charge(step: Step, loss: Fraction, charged_amount: Fraction | None) -> None:
    if charged_amount is None or loss > charged_amount:
        charge_text = "nothing" if charged_amount is None else f"{float(charged_amount):.6g}"
        raise Differs(
            f"{step.purpose}: the noise that was added can reveal {float(loss):.6g}, and {charge_text} was charged."
        )


def _get_charge(step: Step) -> Charge:
    if step.charge is None:
        raise Differs(f"{step.purpose}: nothing was charged.")
    return step.charge


def _describe_query(step: CountStep) -> str:
    query, max_l1 = step.query, step.query.sensitivity(step.max_baskets).l1
    return f"{type(query).__name__} of {query.cells:,} cells, each person moving {max_l1:,} at most"


def _describe_choice(step: ChoiceStep) -> str:
    return f"{step.picks:,} picks by {step.way} at a rate of {float(step.rate):.6g}"
