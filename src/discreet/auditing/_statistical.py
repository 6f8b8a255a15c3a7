"""The statistical audit: many runs on two neighbours, and a lower confidence bound of the loss.

It assumes nothing about the mechanism, its meter or its samplers, and uses the results alone. One half of the runs
selects an event and the other half measures it, so the bound is valid for the selected event. It can break a claim; a
claim that stands says little, as a few thousand runs detect only events with a probability near 1 % or more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp, inf, lgamma, log, sqrt
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..curator import Mechanism
from ..errors import MisuseError
from ..privacy import Budget, Meter, Neighbours
from ..privacy.sampling import SimulationSource
from ..publish import Case, Release, build_meter, run_case
from ._engines import ENGINE_NAME, Engines
from ._neighbours import AuditQuestion, NeighbourPair
from ._verdict import Attempt

Features: TypeAlias = dict[str, float]

CONFIDENCE = 0.99
_MAX_CUTS = 25  # of one feature: more cuts find sharper events, and lose power to their number
_SCREENING_DEVIATIONS = 2.0  # a rare event must exceed noise by 2 deviations, or screening selects chance events


@dataclass(frozen=True)
class Event:
    """The results with a feature of at least (or at most) a bound."""

    name: str
    cut: float
    is_lower: bool

    def count_results(self, results: Sequence[Features]) -> int:
        """Return the number of results in the event."""
        values = [features.get(self.name, 0.0) for features in results]
        return sum(value >= self.cut if self.is_lower else value <= self.cut for value in values)

    def __str__(self) -> str:
        return f"{self.name} is at {'least' if self.is_lower else 'most'} {self.cut:g}"


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


def statistical(mechanism: Mechanism, budget: Budget, neighbours: Neighbours, runs: int, seed: int) -> Attempt:
    """Return the attempt that screens all trials, measures the most promising event, and bounds its loss."""
    start_time = perf_counter()
    source = SimulationSource(seed)
    engines = Engines()

    def run(case: Case) -> Features:
        meter: Meter = build_meter(case, source)
        try:
            return list_features(run_case(case, meter, engines))
        except Exception as error:  # an exception is visible, and so a result
            return {f"the exception {type(error).__name__}": 1.0}

    trials = list(_list_trials(mechanism, budget, neighbours))
    if not trials:
        raise MisuseError(f"{mechanism.name} refused every question of the audit.")
    screening_runs = max(1, runs // 2 // len(trials))
    best_event: tuple[float, int, Event, bool] | None = None
    for place, (_, _, cases) in enumerate(trials):
        results = [[run(case) for _ in range(screening_runs)] for case in cases]
        for event in events(results):
            for swapped in (False, True):
                first_hits, second_hits = (
                    event.count_results(side) for side in (reversed(results) if swapped else results)
                )
                score = score_event(first_hits, second_hits, screening_runs, float(budget.delta))
                if best_event is None or score > best_event[0]:
                    best_event = score, place, event, swapped
    if best_event is None:
        raise AssertionError("every result tells how many patterns it has")
    _, place, event, swapped = best_event
    question, pair, cases = trials[place]
    measuring_runs = max(1, runs - runs // 2)
    hits = [
        event.count_results([run(case) for _ in range(measuring_runs)])
        for case in (reversed(cases) if swapped else cases)
    ]
    loss = bound_loss(hits[0], hits[1], measuring_runs, budget.delta)
    run_count = 2 * (screening_runs * len(trials) + measuring_runs)
    stands = loss <= float(budget.epsilon)
    return Attempt(
        means="statistical",
        stands=stands,
        loss=loss,
        tried=f"{len(trials)} pairs of neighbours, {run_count:,} runs, seed {seed}",
        engine=ENGINE_NAME,
        pairs=len(trials),
        paths=("made-up baskets in memory",),
        pair=str(pair),
        question=str(question),
        why="" if stands else _describe_event(event, hits, measuring_runs, loss),
        seconds=perf_counter() - start_time,
    )


def _describe_event(event: Event, hits: Sequence[int], runs: int, loss: float) -> str:
    return (
        f"In {hits[0]:,} of {runs:,} runs on one side and in {hits[1]:,} on the other, {event}: with 99 % confidence "
        f"the loss is at least {loss:.4g}."
    )


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
        values: NDArray[np.float64] = np.unique([features.get(name, 0.0) for side in results for features in side])
        cuts = values[np.linspace(0, len(values) - 1, min(len(values), _MAX_CUTS)).astype(int)]
        for cut in cuts.tolist():
            yield Event(name, cut, True)
            yield Event(name, cut, False)


def _list_trials(
    mechanism: Mechanism, budget: Budget, neighbours: Neighbours
) -> Iterator[tuple[AuditQuestion, NeighbourPair, tuple[Case, Case]]]:
    """Yield a few questions with neighbours of maximal difference."""
    public: dict[str, Any] = {} if neighbours is Neighbours.REPLACE else {"people": 5}
    forms: list[tuple[int, dict[str, Any]]] = []
    if "top" in mechanism.answers:
        forms += [(1, {"top": 1}), (3, {"top": 1, "counts": False}), (2, {"top": 2, "lengths": 1})]
    if "threshold" in mechanism.answers:
        forms += [(1, {"min_count": 2}), (2, {"min_count": 1, "counts": False})]
    if "itemsets" in mechanism.answers:
        forms += [(1, {"itemsets": [[0]]}), (2, {"itemsets": [[0], [1]]})]
    for items, words in forms:
        question = AuditQuestion(items=items, words={**words, **public})
        for rows in ((), (((0,), 3), (tuple(range(items)), 3))):
            replaced_basket = None if neighbours is Neighbours.ADD_REMOVE else (items - 1,) if items > 1 else ()
            basket = tuple(range(items)) if replaced_basket is None else (0,)
            pair = NeighbourPair(rows=rows, more=basket, instead=replaced_basket)
            first_database, second_database = pair.databases
            try:
                cases = tuple(
                    question.case(mechanism, budget, neighbours, database)
                    for database in (first_database, second_database)
                )
            except MisuseError:
                break
            yield question, pair, (cases[0], cases[1])
