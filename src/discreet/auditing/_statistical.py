"""The statistical audit: many runs on two neighbours, and a lower confidence bound of the loss.

It assumes nothing about the mechanism or its samplers: it uses the results, and the noisy numbers that the meter
releases to the mechanism, from the real samplers. The difference of two numbers is an event too: their noise may be one
draw. One half of the runs selects an event and the second half measures it, so the bound is valid for the selected
event. It can break a claim; a claim that stands says little, as a few thousand runs detect only events with a
probability near 1 % or more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from math import exp, inf, lgamma, log, sqrt
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..curator import Mechanism
from ..errors import MisuseError
from ..privacy import Budget, Neighbours
from ..publish import Release, build_meter
from ._attack import Attack
from ._engines import Engines
from ._neighbours import AuditQuestion, Change, Database, NeighbourPair
from ._noise import NoiseCheck
from ._relations import AuditedMechanism, RelationAudit
from ._runs import AuditedCase, Coupling, list_candidate_labels, run_release
from ._steps import CountStep, Step
from ._tape import Recorder
from ._verdict import Attempt

Features: TypeAlias = dict[str, float]

CONFIDENCE = 0.99
_MAX_CUTS = 25  # of one feature: more cuts find sharper events, and lose power to their number
# A rare event must exceed noise by 3 deviations: among 10,000 events chance makes some exceed it by 2.
_SCREENING_DEVIATIONS = 3.0
_MAX_JOINT_NUMBERS = 6  # of a step: the number of pairs grows with its square


@dataclass(frozen=True)
class Event:
    """The results with a feature of at least (or at most) a bound."""

    name: str
    cut: float
    is_lower: bool

    def count_results(self, results: Sequence[Features]) -> int:
        """Return the number of results in the event."""
        return self.count_values(_collect_values(results, self.name))

    def count_values(self, values: NDArray[np.float64]) -> int:
        """Return the number of values of the feature in the event."""
        return int(np.count_nonzero(values >= self.cut if self.is_lower else values <= self.cut))

    def __str__(self) -> str:
        return f"{self.name} is at {'least' if self.is_lower else 'most'} {self.cut:g}"


def _collect_values(results: Sequence[Features], name: str) -> NDArray[np.float64]:
    """Return the value of a feature in each result; a missing feature is 0."""
    return np.array([features.get(name, 0.0) for features in results])


def list_features(release: Release) -> Features:
    """Return the features of a release, as numbers by name; a missing feature is 0."""
    features: Features = {
        "the number of patterns": float(len(release.patterns)),
        "the number of people": release.people,
    }
    total = 0.0
    for rank, pattern in enumerate(release.patterns):
        name = f"{{{', '.join(map(str, sorted(pattern.items, key=str)))}}}"
        features[f"{name} among the patterns"] = 1.0
        if rank == 0:
            features[f"{name} as the first pattern"] = 1.0
        if pattern.count is not None:
            features[f"the count of {name}"] = float(pattern.count)
            total += pattern.count
    features["the sum of all counts"] = total
    for name, value in release.facts.items():
        if isinstance(value, int | float):
            features[name] = float(value)
    for note in release.notes:
        features[f"the note {note!r}"] = 1.0
    return features


def list_step_features(steps: Sequence[Step]) -> Features:
    """Return features of the noisy numbers that a meter released, step by step.

    The charges add up only if the noise of every number is drawn by itself. So the differences of two numbers are
    features beside the numbers: where one draw is used twice, the difference has no noise.
    """
    steps_so_far = Counter[str]()
    numbers: list[list[tuple[str, float]]] = []
    for step in steps:
        if isinstance(step, CountStep):
            steps_so_far[step.purpose] += 1
            # Steps of one purpose are distinguished by their turn.
            turn = f" ({steps_so_far[step.purpose]})" if steps_so_far[step.purpose] > 1 else ""
            values = step.noisy.values[:_MAX_JOINT_NUMBERS].tolist()
            numbers.append(
                [(f"number {place} of {step.purpose!r}{turn}", float(value)) for place, value in enumerate(values, 1)]
            )
    pairs = [pair for step_numbers in numbers for pair in combinations(step_numbers, 2)]
    # Between two steps the first numbers suffice: a source that repeats itself repeats its first draw.
    pairs += combinations([step_numbers[0] for step_numbers in numbers if step_numbers][:_MAX_JOINT_NUMBERS], 2)
    features = dict(chain.from_iterable(numbers))
    for (name, value), (other_name, other_value) in pairs:
        features[f"{name} minus {other_name}"] = value - other_value
    return features


@dataclass(frozen=True)
class Distinction:
    """The event that tells two neighbours apart best, and the bound of its loss.

    Parameters
    ----------
    place
        The number of the trial.
    event, hits, runs
        The event, and its number of hits among the measuring runs on either side, the likelier side first.
    run_count
        The number of all runs of the attack.
    loss
        The lower bound of the loss, with 99 % confidence.
    """

    place: int
    event: Event
    hits: tuple[int, int]
    runs: int
    run_count: int
    loss: float

    def describe(self, noun: str) -> str:
        """Return the finding in words; `noun` names the results."""
        return (
            f"In {self.hits[0]:,} of {self.runs:,} {noun} on one side and in {self.hits[1]:,} on the other, "
            f"{self.event}: with 99 % confidence the loss is at least {self.loss:.4g}."
        )


def find_distinction(
    draw: Callable[[int, int, int, bool], list[Features]], trial_count: int, runs: int, delta: Any
) -> Distinction | None:
    """Return the best distinction of some trials; None without a trial.

    Parameters
    ----------
    draw
        Returns fresh results: of a trial, of its side (0 or 1), a number of results, and whether for the measurement.
    trial_count, runs
        The number of trials, and of runs on either side.
    delta
        The delta of the claim.
    """
    screening_runs, measuring_runs = max(1, runs // 2 // max(1, trial_count)), max(1, runs - runs // 2)
    best_event: tuple[float, int, Event, bool] | None = None
    for place in range(trial_count):
        sides = [draw(place, side, screening_runs, False) for side in (0, 1)]
        columns: dict[str, list[NDArray[np.float64]]] = {}
        for event in events(sides):
            if event.name not in columns:
                columns = {event.name: [_collect_values(side, event.name) for side in sides]}
            hits = [event.count_values(values) for values in columns[event.name]]
            # The claim holds in both directions: either side may be the likelier one.
            for swapped in (False, True):
                score = score_event(hits[swapped], hits[not swapped], screening_runs, float(delta))
                if best_event is None or score > best_event[0]:
                    best_event = score, place, event, swapped
    if best_event is None:
        return None
    _, place, event, swapped = best_event
    # Fresh runs: the screening selected the event, so its own runs would make any event look distinctive.
    first_hits, second_hits = (
        event.count_results(draw(place, side, measuring_runs, True)) for side in (swapped, not swapped)
    )
    return Distinction(
        place=place,
        event=event,
        hits=(first_hits, second_hits),
        runs=measuring_runs,
        run_count=2 * (screening_runs * trial_count + measuring_runs),
        loss=bound_loss(first_hits, second_hits, measuring_runs, delta),
    )


def statistical(mechanism: AuditedMechanism, budget: Budget, neighbours: Neighbours, runs: int, seed: int) -> Attempt:
    """Return the attempt that screens all trials, measures the most promising event, and bounds its loss."""
    attack, coupling, engines = Attack("statistical"), Coupling(seed), Engines()
    noise_check = NoiseCheck(coupling.generator)
    trials = list(_list_trials(mechanism, budget, neighbours))
    if not trials:
        raise MisuseError(f"{mechanism.name} refused every question of the audit.")

    def run(case: AuditedCase) -> Features:
        # A recorder in a fair mood releases the drawn values, and stores them.
        meter = build_meter(case, coupling.source, kind=Recorder)
        meter.record("fair", coupling.generator, list_candidate_labels(case))
        try:
            features = list_features(run_release(case, meter, engines)) | list_step_features(meter.tape)
        except Exception as error:  # an exception is visible, and so a result
            features = {f"the exception {type(error).__name__}": 1.0}
        noise_check.add(meter.draws)
        return features

    def draw(place: int, side: int, count: int, _: bool) -> list[Features]:
        return [run(trials[place][2][side]) for _ in range(count)]

    distinction = find_distinction(draw, len(trials), runs, budget.delta)
    if distinction is None:
        raise AssertionError("every result tells how many patterns it has")
    for place, (question, pair, _) in enumerate(trials):
        attack.add(pair, question, distinction.loss if place == distinction.place else -inf)
    # Two tests of 1 % each: a bound of the loss, and the law of the noise.
    noise_flaw = noise_check.find_breach(compute_lower_chance, 1 - CONFIDENCE)
    attack.breach = distinction.describe("runs") if distinction.loss > float(budget.epsilon) else noise_flaw
    return attack.attempt(f"{len(trials)} pairs of neighbours, {distinction.run_count:,} runs, seed {seed}")


def bound_loss(first_hits: int, second_hits: int, runs: int, delta: Any) -> float:
    """Return a lower bound for epsilon with a confidence of 99 %.

    Parameters
    ----------
    first_hits, second_hits
        The number of runs with the event, on either side.
    runs
        The number of runs on each side.
    delta
        The delta of the claim: subtracted from the first probability.

    Examples
    --------
    >>> round(bound_loss(900, 100, 1000, 0), 2)
    1.93
    """
    error_chance = (1 - CONFIDENCE) / 2  # for each of two bounds
    lower_chance = compute_lower_chance(first_hits, runs, error_chance) - float(delta)
    upper_chance = 1 - compute_lower_chance(runs - second_hits, runs, error_chance)
    return max(0.0, log(lower_chance / upper_chance)) if lower_chance > 0 else 0.0


def compute_lower_chance(hits: int, runs: int, error_chance: float) -> float:
    """Return the largest probability under which `hits` or more hits have a chance of at most `error_chance`.

    The lower bound of Clopper and Pearson (1934), by bisection; 0 without a hit.
    """
    if hits == 0:
        return 0.0
    low, high = 0.0, hits / runs
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if _binomial_tail(hits, runs, middle) <= error_chance else (low, middle)
    return low


def _binomial_tail(hits: int, runs: int, chance: float) -> float:
    """Return the probability of `hits` or more hits, summed from the largest term to negligible ones."""
    if chance <= 0:
        return 0.0
    ways = lgamma(runs + 1) - lgamma(hits + 1) - lgamma(runs - hits + 1)
    failing = (runs - hits) * log(1 - chance) if hits < runs else 0.0
    term = exp(ways + hits * log(chance) + failing)
    total = term
    for hit_count in range(hits + 1, runs + 1):
        term *= (runs - hit_count + 1) / hit_count * chance / (1 - chance)
        total += term
        if term < total * 1e-17:
            break
    return total


def score_event(first_hits: int, second_hits: int, runs: int, delta: float) -> float:
    """Return an approximation of the loss bound of an event, to compare events by."""

    def margin(hits: int) -> float:
        return _SCREENING_DEVIATIONS * sqrt(hits * (runs - hits) / runs + 1)

    lower_chance, upper_chance = (
        (first_hits - margin(first_hits)) / runs - delta,
        (second_hits + margin(second_hits)) / runs,
    )
    return log(lower_chance / upper_chance) if lower_chance > 0 else -inf


def events(results: Sequence[Sequence[Features]]) -> Iterator[Event]:
    """Yield events that split the results by a feature, at values of the results."""
    names = sorted({name for side in results for features in side for name in features})
    for name in names:
        values = np.unique(np.concatenate([_collect_values(side, name) for side in results]))
        cuts = values[np.linspace(0, len(values) - 1, min(len(values), _MAX_CUTS)).astype(int)]
        for cut in cuts.tolist():
            yield Event(name, cut, True)
            yield Event(name, cut, False)


def _list_trials(
    mechanism: AuditedMechanism, budget: Budget, neighbours: Neighbours
) -> Iterator[tuple[object, NeighbourPair, tuple[AuditedCase, AuditedCase]]]:
    """Yield a few questions with neighbours of maximal difference."""
    is_replace = neighbours is Neighbours.REPLACE
    questions: Iterable[tuple[Any, list[Change]]] = (
        mechanism.list_trials(is_replace)
        if isinstance(mechanism, RelationAudit)
        else _list_questions(mechanism, is_replace)
    )
    for question, changes in questions:
        crowds: tuple[Database, Database] = ((), (((0,), 3), (tuple(range(question.items)), 3)))
        # In a crowd the first change suffices.
        for rows, (changed_basket, replaced_basket) in [
            *((crowds[0], change) for change in changes),
            (crowds[1], changes[0]),
        ]:
            pair = NeighbourPair(rows=rows, more=changed_basket, instead=replaced_basket)
            try:
                first_case, second_case = (
                    question.case(mechanism, budget, neighbours, database) for database in pair.databases
                )
            except MisuseError:
                break  # a refused question is skipped
            yield question, pair, (first_case, second_case)


def _list_questions(mechanism: Mechanism, is_replace: bool) -> Iterator[tuple[AuditQuestion, list[Change]]]:
    """Yield small questions, with the changes to one person.

    A person with all items is the largest change; one with a single item moves the differences of counts too.
    """
    public: dict[str, Any] = {} if is_replace else {"people": 5}
    forms: list[tuple[int, dict[str, Any]]] = []
    if "top" in mechanism.answers:
        forms += [(1, {"top": 1}), (3, {"top": 1, "counts": False}), (2, {"top": 2, "lengths": 1})]
    if "threshold" in mechanism.answers:
        forms += [(1, {"min_count": 2}), (2, {"min_count": 1, "counts": False})]
    if "itemsets" in mechanism.answers:
        forms += [(1, {"itemsets": [[0]]}), (2, {"itemsets": [[0], [1]]})]
    for items, words in forms:
        changes: list[Change] = list(dict.fromkeys([(tuple(range(items)), None), ((0,), None)]))
        if is_replace:
            changes = [((0,), (items - 1,) if items > 1 else ())]
        yield AuditQuestion(items=items, words={**words, **public}), changes
