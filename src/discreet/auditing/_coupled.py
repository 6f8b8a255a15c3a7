"""The coupled audit: two runs on neighbours, in which the second run receives the released values of the first.

If every step asks equal queries in both runs, and the exact answers differ by no more than the query states, then each
step is as private as it is charged, and adaptive composition gives the claim from the charges. If any step, note,
column or exception differs, the data leaked past the noise. The page about the audit has the argument.
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
from ._engines import ENGINE_NAME, Engines
from ._neighbours import AuditQuestion, Database, NeighbourPair, generate_pairs, list_questions
from ._steps import Differs, Step
from ._tape import MOODS, Recorder, Replayer, Unlikely
from ._verdict import Attempt


def coupled(mechanism: Mechanism, budget: Budget, neighbours: Neighbours, seed: int) -> Attempt:
    """Return the attempt on each pair of the battery with each question, until one breaks the claim."""
    start_time = perf_counter()
    trial = _Trial(mechanism, budget, neighbours, seed)

    def run() -> dict[str, Any]:
        return {
            "means": "coupled",
            "tried": f"{trial.pairs:,} pairs of neighbours, {trial.steps:,} steps",
            "engine": ENGINE_NAME,
            "pairs": trial.pairs,
            "paths": ("made-up baskets in memory",),
            "seconds": perf_counter() - start_time,
        }

    for question in list_questions(mechanism, budget):
        try:
            violation = trial.ask(question)
        except MisuseError as refusal:
            trial.refused.append(refusal)
            continue
        if violation is not None:
            pair, flaw = violation
            return Attempt(stands=False, loss=trial.loss, pair=str(pair), question=str(question), why=flaw, **run())
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
    """The state of one coupled audit: its caches, its counts and its worst case."""

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
        """Return the first pair that breaks the claim for a question, with the reason; None if the claim stands."""
        cases: dict[Database, Case] = {}
        tapes: dict[Database, tuple[list[Step], dict[str, Any]]] = {}

        def case(database: Database) -> Case:
            if database not in cases:
                cases[database] = question.case(self.mechanism, self.budget, self.neighbours, database)
            return cases[database]

        for pair in generate_pairs(question, self.neighbours, self.seed):
            first_database, second_database = pair.databases
            try:
                if first_database not in tapes:
                    tapes[first_database] = self._record(case(first_database), len(tapes))
                loss = self._replay(case(second_database), *tapes[first_database])
            except Unlikely:
                continue
            except Differs as difference:
                self.pairs += 1
                return pair, str(difference)
            self.pairs += 1
            if self.worst is None or loss > self.loss:
                self.loss, self.worst = loss, (pair, question)
        return None

    def _record(self, case: Case, place: int) -> tuple[list[Step], dict[str, Any]]:
        meter = build_meter(case, self.source, kind=Recorder)
        meter.record(MOODS[place % len(MOODS)], self.generator, list_candidate_labels(case))
        values = run_to_values(case, meter, self.engines)
        return meter.tape, values

    def _replay(self, case: Case, tape: list[Step], values: dict[str, Any]) -> float:
        """Return the loss of a pair, in epsilon, from the differences of its exact answers."""
        meter = build_meter(case, self.source, kind=Replayer)
        meter.replay(tape, self.generator, list_candidate_labels(case))
        second_values = run_to_values(case, meter, self.engines)
        meter.check_ended()
        self.steps += len(tape)
        compare_results(values, second_values)
        return compute_loss(meter)


def compare_results(left_values: dict[str, Any], right_values: dict[str, Any]) -> None:
    """Check that two results are equal, by name; `Differs` states the first difference."""
    if left_values.keys() != right_values.keys():
        unshared_names = sorted(left_values.keys() ^ right_values.keys())
        raise Differs(f"Only one of the two results has {', '.join(map(_shorten, unshared_names[:3]))}.")
    for name, value in left_values.items():
        if right_values[name] != value:
            raise Differs(
                f"The two results differ in their {name}: {_shorten(value)} and {_shorten(right_values[name])}."
            )


def compute_loss(meter: Replayer) -> float:
    """Return the total loss of the differences that a meter saw, in epsilon."""
    if meter.pure:
        return float(sum(loss.epsilon or 0 for loss in meter.losses))
    return float(epsilon_for(Fraction(sum(loss.rho for loss in meter.losses)), meter.conversion))


def list_candidate_labels(case: Case) -> list[Item]:
    """Return the labels of the items that a pattern may have, for the items of a noisy selection."""
    vocabulary_labels = list(case.baskets.vocabulary)
    return [vocabulary_labels[code] for code in case.extra_items.tolist()]


def run_to_values(case: Case, meter: Meter, engine: Callable[[Baskets], Engine]) -> dict[str, Any]:
    """Run a case and return all visible values of its release, by name."""
    release, warning_texts = run_checked(case, meter, engine)
    return {**list_released_values(release), "warnings": warning_texts}


def run_checked(case: Case, meter: Meter, engine: Callable[[Baskets], Engine]) -> tuple[Release, list[str]]:
    """Run a case and return the release and its warnings; a breach of the rules of a release is an error."""
    return check_run(lambda: run_case(case, meter, engine), case.budget, meter)


def check_run(run: Callable[[], Release], budget: Budget, meter: Meter) -> tuple[Release, list[str]]:
    """Make a release with a meter, and see that it keeps to the rules."""
    with warnings.catch_warnings(record=True) as caught_warnings:
        warnings.simplefilter("always")
        try:
            release = run()
        except (Differs, Unlikely):
            raise
        except Exception as error:  # any exception after payment may depend on the data
            raise Differs(f"After spending began, {type(error).__name__} was raised: {error}") from error
    guarantee = release.guarantee
    if guarantee.charges != tuple(meter.charges):
        raise Differs("The guarantee is not made of the charges that the meter wrote down.")
    if (guarantee.epsilon, guarantee.delta) != (budget.epsilon, budget.delta):
        raise Differs("The guarantee states something else than the budget that was paid.")
    epsilon, delta = compose(meter.charges, Fraction(0) if meter.pure else meter.conversion)
    spent_amount = epsilon if meter.pure else sum((charge.rho for charge in meter.charges), Fraction(0))
    if spent_amount > meter.total or delta > budget.delta:
        raise Differs("The charges are more than the budget that was paid.")
    if epsilon > budget.epsilon or delta > budget.delta:
        raise Differs(f"The charges add up to epsilon = {float(epsilon):.6g}, delta = {float(delta):.3g}: too much.")
    return release, [str(warning.message) for warning in caught_warnings]


def list_released_values(release: Release) -> dict[str, Any]:
    """Return all values that a release shows, as plain values by name."""
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
        "question": dict(release.question),
        "settings": dict(release.settings),
        "public assumptions": release.guarantee.public,
        "mechanism": (release.mechanism, release.summary, release.citations),
        "items": list(patterns.vocabulary),
    }


def _shorten(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]} …"
