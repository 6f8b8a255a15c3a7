"""Runs of a question, and coupled runs on two data sets: the second run receives the released values of the first.

All visible values of a release are compared, by name. A release that breaks a rule after payment, for
example by charges over its budget, breaks the claim like a difference.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from ..baskets import Item
from ..exact import Engine
from ..privacy import Meter, compose, epsilon_for
from ..privacy.sampling import SimulationSource
from ..publish import Case, RelationCase, Release, build_meter, run_case, run_relations
from ._neighbours import Database
from ._steps import Differs, Step
from ._tape import Mood, Recorder, Replayer, Unlikely

AuditedCase: TypeAlias = Case | RelationCase
EngineMaker: TypeAlias = Callable[[Any], Engine]
Values: TypeAlias = dict[str, Any]

_MAX_SHOWN_LETTERS = 200  # of a value in the text of a breach


@dataclass(frozen=True, eq=False)
class Recording:
    """A run: its steps with the released values, and all visible values of its release."""

    steps: list[Step]
    values: Values


class Coupling:
    """Coupled runs with one source of noise and one generator of made-up answers; `steps` counts replayed steps."""

    def __init__(self, seed: int) -> None:
        self.source, self.generator = SimulationSource(seed), np.random.default_rng(seed)
        self.steps = 0

    def record(self, case: AuditedCase, mood: Mood, run: Callable[[AuditedCase, Recorder], Values]) -> Recording:
        """Return a run with answers of a mood."""
        meter = build_meter(case, self.source, kind=Recorder)
        meter.record(mood, self.generator, list_candidate_labels(case))
        values = run(case, meter)
        return Recording(meter.tape, values)

    def replay(
        self,
        case: AuditedCase,
        recording: Recording,
        run: Callable[[AuditedCase, Recorder], Values],
        *,
        is_unrelated: bool = False,
    ) -> float:
        """Return the loss between a recorded run and a run on different data; 0 where the data are unrelated."""
        meter = build_meter(case, self.source, kind=Replayer)
        meter.replay(recording.steps, self.generator, list_candidate_labels(case), is_unrelated=is_unrelated)
        values = run(case, meter)
        meter.check_ended()
        compare_results(recording.values, values)
        self.steps += len(recording.steps)
        return 0.0 if is_unrelated else compute_loss(meter)


@dataclass(eq=False)
class Script:
    """One data set with a mood of answers, recorded on its first use, and replayed on further data sets."""

    coupling: Coupling
    resolve: Callable[[Database], AuditedCase]
    run: Callable[[AuditedCase, Recorder], Values]
    mood: Mood
    first_database: Database

    @cached_property
    def recording(self) -> Recording:
        """The run on the first data set."""
        return self.coupling.record(self.resolve(self.first_database), self.mood, self.run)

    def compare(self, database: Database, *, is_unrelated: bool = False) -> float:
        """Return the loss between the first data set and a second one; `Differs` states a difference."""
        # Both cases are resolved before the recording: a refusal costs no run.
        case = self.resolve(database)
        return self.coupling.replay(case, self.recording, self.run, is_unrelated=is_unrelated)


def compare_results(left_values: Values, right_values: Values) -> None:
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


def list_candidate_labels(case: AuditedCase) -> list[Item]:
    """Return the labels of the items that a pattern may have, for the items of a noisy selection."""
    if isinstance(case, RelationCase):
        return []  # relations are selected by their places alone
    vocabulary_labels = list(case.baskets.vocabulary)
    return [vocabulary_labels[code] for code in case.extra_items.tolist()]


def run_release(case: AuditedCase, meter: Meter, engine: EngineMaker) -> Release:
    """Return the release of a case."""
    return run_relations(case, meter, engine) if isinstance(case, RelationCase) else run_case(case, meter, engine)


def run_to_values(case: AuditedCase, meter: Meter, engine: EngineMaker) -> Values:
    """Run a case and return all visible values of its release, by name."""
    release, warning_texts = run_checked(case, meter, engine)
    return {**list_released_values(release), "warnings": warning_texts}


def run_checked(case: AuditedCase, meter: Meter, engine: EngineMaker) -> tuple[Release, list[str]]:
    """Run a case and return the release and its warnings; a breach of the rules of a release is an error."""
    with warnings.catch_warnings(record=True) as caught_warnings:
        warnings.simplefilter("always")
        try:
            release = run_release(case, meter, engine)
        except (Differs, Unlikely):
            raise
        except Exception as error:  # any exception after payment may depend on the data
            raise Differs(f"After spending began, {type(error).__name__} was raised: {error}") from error
    guarantee, budget = release.guarantee, case.budget
    # A reader knows the charges from the guarantee alone, so the guarantee must list exactly the meter's charges.
    if guarantee.charges != tuple(meter.charges):
        raise Differs("The guarantee is not made of the charges that the meter wrote down.")
    if (guarantee.epsilon, guarantee.delta) != (budget.epsilon, budget.delta):
        raise Differs("The guarantee states something else than the budget that was paid.")
    epsilon, delta = compose(meter.charges, Fraction(0) if meter.pure else meter.conversion)
    spent_amount = epsilon if meter.pure else sum((charge.rho for charge in meter.charges), Fraction(0))
    # Under zCDP the budget is an amount of rho, which the conversion to epsilon may hide.
    if spent_amount > meter.total or delta > budget.delta:
        raise Differs("The charges are more than the budget that was paid.")
    if epsilon > budget.epsilon or delta > budget.delta:
        raise Differs(f"The charges add up to epsilon = {float(epsilon):.6g}, delta = {float(delta):.3g}: too much.")
    return release, [str(warning.message) for warning in caught_warnings]


def list_released_values(release: Release) -> Mapping[str, Any]:
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
        "relations": None if release.relations is None else repr(release.relations.to_arrow().to_pydict()),
    }


def _shorten(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _MAX_SHOWN_LETTERS else f"{text[:_MAX_SHOWN_LETTERS]} …"
