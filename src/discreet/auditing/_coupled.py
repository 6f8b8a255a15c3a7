"""Running a mechanism on two neighbours while it is told the same, and watching that it does the same.

If every step asks the same on both sides, and the exact answers differ by no more than was said, then each step is as
private as it is charged, and adaptive composition makes the claim of the charges. If any step, note, column or
exception is different, the data came out by another way than the noise. The page about the audit has the argument.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from time import perf_counter
from typing import Any

import numpy as np

from ..baskets import Baskets, Item
from ..curator import Mechanism
from ..errors import MisuseError
from ..exact import Engine
from ..privacy import Budget, Meter, Neighbours, compose, epsilon_for
from ..privacy.sampling import SimulationSource, Source
from ..publish import Case, Release, build_meter, run_case
from ._engines import NAME, Engines
from ._neighbours import AuditQuestion, Database, NeighbourPair, battery, questions
from ._steps import Differs, Step
from ._tape import MOODS, Recorder, Replayer, Unlikely
from ._verdict import Attempt


def coupled(mechanism: Mechanism, budget: Budget, neighbours: Neighbours, seed: int) -> Attempt:
    """Try every pair of the battery with every question this mechanism answers, until one breaks the claim."""
    begun = perf_counter()
    trial = _Trial(mechanism, budget, neighbours, seed)

    def run() -> dict[str, Any]:
        return {
            "means": "coupled",
            "tried": f"{trial.pairs:,} pairs of neighbours, {trial.steps:,} steps",
            "engine": NAME,
            "pairs": trial.pairs,
            "paths": ("made-up baskets in memory",),
            "seconds": perf_counter() - begun,
        }

    for question in questions(mechanism, budget):
        try:
            broken = trial.ask(question)
        except MisuseError as refusal:
            trial.refused.append(refusal)
            continue
        if broken is not None:
            pair, why = broken
            return Attempt(stands=False, loss=trial.loss, pair=str(pair), question=str(question), why=why, **run())
    if not trial.pairs and trial.refused:
        raise MisuseError.format(
            "{name} refused every question of the audit, the last one so: {why}",
            name=mechanism.name,
            why=trial.refused[-1],
        )
    return Attempt(
        stands=True,
        loss=trial.loss,
        pair=str(trial.worst[0]) if trial.worst else "",
        question=str(trial.worst[1]) if trial.worst else "",
        **run(),
    )


class _Trial:
    """The state of going through the battery."""

    def __init__(self, mechanism: Mechanism, budget: Budget, neighbours: Neighbours, seed: int) -> None:
        self.mechanism, self.budget, self.neighbours, self.seed = mechanism, budget, neighbours, seed
        self.source: Source = SimulationSource(seed)
        self.generator = np.random.default_rng(seed)
        self.engines = Engines()
        self.pairs = self.steps = 0
        self.refused: list[MisuseError] = []
        self.loss = 0.0
        self.worst: tuple[NeighbourPair, AuditQuestion] | None = None

    def ask(self, question: AuditQuestion) -> tuple[NeighbourPair, str] | None:
        """Go through all pairs for one question; return the first that breaks the claim, and how."""
        cases: dict[Database, Case] = {}
        tapes: dict[Database, tuple[list[Step], dict[str, Any]]] = {}

        def case(database: Database) -> Case:
            if database not in cases:
                cases[database] = question.case(self.mechanism, self.budget, self.neighbours, database)
            return cases[database]

        for pair in battery(question, self.neighbours, self.seed):
            first, second = pair.databases
            try:
                if first not in tapes:
                    tapes[first] = self._recorded(case(first), len(tapes))
                total = self._replayed(case(second), *tapes[first])
            except Unlikely:
                continue
            except Differs as difference:
                self.pairs += 1
                return pair, str(difference)
            self.pairs += 1
            if self.worst is None or total > self.loss:
                self.loss, self.worst = total, (pair, question)
        return None

    def _recorded(self, case: Case, place: int) -> tuple[list[Step], dict[str, Any]]:
        meter = build_meter(case, self.source, kind=Recorder)
        meter.record(MOODS[place % len(MOODS)], self.generator, labels(case))
        told = ended(case, meter, self.engines)
        return meter.tape, told

    def _replayed(self, case: Case, tape: list[Step], told: dict[str, Any]) -> float:
        """Return the loss that the differences of this pair amount to, in epsilon."""
        meter = build_meter(case, self.source, kind=Replayer)
        meter.replay(tape, self.generator, labels(case))
        again = ended(case, meter, self.engines)
        meter.done()
        self.steps += len(tape)
        compare_results(told, again)
        return lost(meter)


def compare_results(one: dict[str, Any], other: dict[str, Any]) -> None:
    """Say what two results do not have in common, the names of what they tell included."""
    if one.keys() != other.keys():
        alone = sorted(one.keys() ^ other.keys())
        raise Differs(f"Only one of the two results has {', '.join(map(_short, alone[:3]))}.")
    for name, value in one.items():
        if other[name] != value:
            raise Differs(f"The two results differ in their {name}: {_short(value)} and {_short(other[name])}.")


def lost(meter: Replayer) -> float:
    """Return what the differences that a meter saw amount to, in epsilon."""
    if meter.pure:
        return float(sum(loss.epsilon or 0 for loss in meter.losses))
    return float(epsilon_for(Fraction(sum(loss.rho for loss in meter.losses)), meter.conversion))


def labels(case: Case) -> list[Item]:
    """Return the labels of the items that a pattern may have, where they are found."""
    every = list(case.baskets.vocabulary)
    return [every[code] for code in case.extra_items.tolist()]


def ended(case: Case, meter: Meter, engine: Callable[[Baskets], Engine]) -> dict[str, Any]:
    """Carry a case out and return all that anyone sees of it, by name."""
    release, heard = carried(case, meter, engine)
    return {**seen(release), "warnings": heard}


def carried(case: Case, meter: Meter, engine: Callable[[Baskets], Engine]) -> tuple[Release, list[str]]:
    """Carry a case out and return the release and the warnings; whatever breaks the rules of a release is an error."""
    return carried_by(lambda: run_case(case, meter, engine), case.budget, meter)


def carried_by(run: Callable[[], Release], budget: Budget, meter: Meter) -> tuple[Release, list[str]]:
    """Make a release with a meter, and see that it keeps to the rules."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            release = run()
        except (Differs, Unlikely):
            raise
        except Exception as error:  # whatever it is, nobody may see it
            raise Differs(f"After spending began, {type(error).__name__} was raised: {error}") from error
    guarantee = release.guarantee
    if guarantee.charges != tuple(meter.charges):
        raise Differs("The guarantee is not made of the charges that the meter wrote down.")
    if (guarantee.epsilon, guarantee.delta) != (budget.epsilon, budget.delta):
        raise Differs("The guarantee states something else than the budget that was paid.")
    epsilon, delta = compose(meter.charges, Fraction(0) if meter.pure else meter.conversion)
    spent = epsilon if meter.pure else sum((charge.rho for charge in meter.charges), Fraction(0))
    if spent > meter.total or delta > budget.delta:
        raise Differs("The charges are more than the budget that was paid.")
    if epsilon > budget.epsilon or delta > budget.delta:
        raise Differs(f"The charges add up to epsilon = {float(epsilon):.6g}, delta = {float(delta):.3g}: too much.")
    return release, [str(warning.message) for warning in heard]


def seen(release: Release) -> dict[str, Any]:
    """Return everything a release shows, in plain values."""
    patterns = release.patterns
    return {
        "patterns": [patterns.codes[low:high].tolist() for low, high in pairwise(patterns.offsets.tolist())],
        "counts": patterns.counts.tolist(),
        "lower ends": None if patterns.low is None else patterns.low.tolist(),
        "upper ends": None if patterns.high is None else patterns.high.tolist(),
        "columns": (patterns.counted, "numbers" if patterns.vocabulary.numeric else "names"),
        "number of people": (patterns.people, patterns.unit),
        "facts": dict(release.facts),
        "notes": release.notes,
        "question": dict(release.asked),
        "settings": dict(release.settings),
        "public assumptions": release.guarantee.public,
        "mechanism": (release.mechanism, release.summary, release.citations),
        "items": list(patterns.vocabulary),
    }


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]} …"
