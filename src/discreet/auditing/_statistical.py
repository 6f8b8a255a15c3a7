"""Running a mechanism many times on two neighbours, and bounding from below how well they can be told apart.

Nothing is assumed about the mechanism, its meter or its samplers: what comes out is all that is looked at. One half of
the runs chooses an event, the other half measures it, so the bound holds however the event was chosen. It can break a
claim; that it does not says little, as a few thousand runs see only losses that show in every hundredth result.
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
from ._engines import NAME, Engines
from ._neighbours import AuditQuestion, NeighbourPair
from ._verdict import Attempt

Features: TypeAlias = dict[str, float]

CONFIDENCE = 0.99
_CUTS = 25  # events a number is cut into at most
_PICKING = 2.0  # deviations by which a rare event must show to be chosen


@dataclass(frozen=True)
class Event:
    """A result is in it if a number told about it is at least (or at most) so large."""

    name: str
    cut: float
    least: bool

    def among(self, results: Sequence[Features]) -> int:
        """Return how many of the results are in it."""
        values = [told.get(self.name, 0.0) for told in results]
        return sum(value >= self.cut if self.least else value <= self.cut for value in values)

    def __str__(self) -> str:
        return f"{self.name} is at {'least' if self.least else 'most'} {self.cut:g}"


def told(release: Release) -> Features:
    """Return what a release shows, as numbers by name; what it does not show is 0."""
    found: Features = {"the number of patterns": float(len(release.patterns)), "the number of people": release.people}
    total = 0.0
    for rank, pattern in enumerate(release.patterns):
        name = f"{{{', '.join(map(str, sorted(pattern.items, key=str)))}}}"
        found[f"{name} among the patterns"] = 1.0
        if rank == 0:
            found[f"{name} as the first pattern"] = 1.0
        if pattern.count is not None:
            found[f"the count of {name}"] = float(pattern.count)
            total += pattern.count
    found["the sum of all counts"] = total
    for name, value in release.facts.items():
        if isinstance(value, int | float):
            found[name] = float(value)
    for note in release.notes:
        found[f"the note {note!r}"] = 1.0
    return found


def statistical(mechanism: Mechanism, budget: Budget, neighbours: Neighbours, runs: int, seed: int) -> Attempt:
    """Run each hard case some times, the most promising one as often again as all of them, and bound its loss."""
    begun = perf_counter()
    source = SimulationSource(seed)
    engines = Engines()

    def run(case: Case) -> Features:
        meter: Meter = build_meter(case, source)
        try:
            return told(run_case(case, meter, engines))
        except Exception as error:  # an exception is a result too
            return {f"the exception {type(error).__name__}": 1.0}

    tries = list(_tries(mechanism, budget, neighbours))
    if not tries:
        raise MisuseError(f"{mechanism.name} refused every question of the audit.")
    each = max(1, runs // 2 // len(tries))
    best: tuple[float, int, Event, bool] | None = None
    for place, (_, _, cases) in enumerate(tries):
        results = [[run(case) for _ in range(each)] for case in cases]
        for event in events(results):
            for swapped in (False, True):
                one, other = (event.among(side) for side in (reversed(results) if swapped else results))
                score = promise(one, other, each, float(budget.delta))
                if best is None or score > best[0]:
                    best = score, place, event, swapped
    if best is None:
        raise AssertionError("every result tells how many patterns it has")
    _, place, event, swapped = best
    question, pair, cases = tries[place]
    half = max(1, runs - runs // 2)
    sides = [event.among([run(case) for _ in range(half)]) for case in (reversed(cases) if swapped else cases)]
    loss = bound(sides[0], sides[1], half, budget.delta)
    stands = loss <= float(budget.epsilon)
    return Attempt(
        means="statistical",
        stands=stands,
        loss=loss,
        tried=f"{len(tries)} pairs of neighbours, {2 * (each * len(tries) + half):,} runs, seed {seed}",
        engine=NAME,
        pairs=len(tries),
        paths=("made-up baskets in memory",),
        pair=str(pair),
        question=str(question),
        why="" if stands else _why(event, sides, half, loss),
        seconds=perf_counter() - begun,
    )


def _why(event: Event, sides: Sequence[int], runs: int, loss: float) -> str:
    return (
        f"In {sides[0]:,} of {runs:,} runs on one side and in {sides[1]:,} on the other, {event}: with 99 % confidence "
        f"the loss is at least {loss:.4g}."
    )


def bound(one: int, other: int, runs: int, delta: Any) -> float:
    """Return a lower bound for epsilon that holds with 99 % confidence.

    Parameters
    ----------
    one, other
        In how many of the runs an event happened, on either side.
    runs
        How many runs there were on each.
    delta
        The delta of the claim: so much of the first probability is allowed for nothing.

    Examples
    --------
    >>> round(bound(900, 100, 1000, 0), 2)
    1.93
    """
    miss = (1 - CONFIDENCE) / 2  # for each of two bounds
    least = lower(one, runs, miss) - float(delta)
    most = 1 - lower(runs - other, runs, miss)
    return max(0.0, log(least / most)) if least > 0 else 0.0


def lower(hits: int, runs: int, miss: float) -> float:
    """Return the largest probability under which so many hits or more have a chance of at most `miss`.

    The lower bound of Clopper and Pearson (1934), by bisection; it is 0 where there was no hit.
    """
    if hits == 0:
        return 0.0
    low, high = 0.0, hits / runs
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if _tail(hits, runs, middle) <= miss else (low, middle)
    return low


def _tail(hits: int, runs: int, chance: float) -> float:
    """Return the probability of so many hits or more, adding from the largest term on until the rest is nothing."""
    if chance <= 0:
        return 0.0
    ways = lgamma(runs + 1) - lgamma(hits + 1) - lgamma(runs - hits + 1)
    failing = (runs - hits) * log(1 - chance) if hits < runs else 0.0
    term = exp(ways + hits * log(chance) + failing)
    total = term
    for more in range(hits + 1, runs + 1):
        term *= (runs - more + 1) / more * chance / (1 - chance)
        total += term
        if term < total * 1e-17:
            break
    return total


def promise(one: int, other: int, runs: int, delta: float) -> float:
    """Return about the bound that so many hits would give, to compare events by."""

    def off(hits: int) -> float:
        return _PICKING * sqrt(hits * (runs - hits) / runs + 1)

    least, most = (one - off(one)) / runs - delta, (other + off(other)) / runs
    return log(least / most) if least > 0 else -inf


def events(results: Sequence[Sequence[Features]]) -> Iterator[Event]:
    """Yield events that cut the numbers told in two, at places where there are results."""
    names = sorted({name for side in results for one in side for name in one})
    for name in names:
        values: NDArray[np.float64] = np.unique([one.get(name, 0.0) for side in results for one in side])
        cuts = values[np.linspace(0, len(values) - 1, min(len(values), _CUTS)).astype(int)]
        for cut in cuts.tolist():
            yield Event(name, cut, True)
            yield Event(name, cut, False)


def _tries(
    mechanism: Mechanism, budget: Budget, neighbours: Neighbours
) -> Iterator[tuple[AuditQuestion, NeighbourPair, tuple[Case, Case]]]:
    """Yield a few questions with neighbours who differ as much as they can."""
    public: dict[str, Any] = {} if neighbours is Neighbours.REPLACE else {"people": 5}
    asked: list[tuple[int, dict[str, Any]]] = []
    if "top" in mechanism.answers:
        asked += [(1, {"top": 1}), (3, {"top": 1, "counts": False}), (2, {"top": 2, "lengths": 1})]
    if "threshold" in mechanism.answers:
        asked += [(1, {"min_count": 2}), (2, {"min_count": 1, "counts": False})]
    if "itemsets" in mechanism.answers:
        asked += [(1, {"itemsets": [[0]]}), (2, {"itemsets": [[0], [1]]})]
    for items, words in asked:
        question = AuditQuestion(items=items, words={**words, **public})
        for rows in ((), (((0,), 3), (tuple(range(items)), 3))):
            instead = None if neighbours is Neighbours.ADD_REMOVE else (items - 1,) if items > 1 else ()
            more = tuple(range(items)) if instead is None else (0,)
            pair = NeighbourPair(rows=rows, more=more, instead=instead)
            first, second = pair.databases
            try:
                cases = tuple(question.case(mechanism, budget, neighbours, database) for database in (first, second))
            except MisuseError:
                break
            yield question, pair, (cases[0], cases[1])
