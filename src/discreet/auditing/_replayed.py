"""Replays of answers of every size on different data: each decision of a mechanism must be equal in all runs.

The coupled audit compares answers on small data. A decision about large data is out of its reach: the condition of an
`if` that never runs may read private data. Here the answers are made up, from 0 to millions, and so are the questions.
A mechanism learns about the data through the answers of its meter alone, so runs with equal answers must be equal on
*any* data:

1. Draw a question and data sets: two neighbours, and unrelated ones.
2. Run the mechanism on the first data set, with answers drawn from laws that span six orders of magnitude.
3. Run it on each further data set with these answers. Each step, share, query, note and count must be equal. For the
   neighbours the exact answers are compared too, as in the coupled audit.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from time import perf_counter
from typing import Any

import numpy as np

from ..curator import Mechanism
from ..errors import MisuseError
from ..privacy import Budget, Neighbours
from ..privacy.sampling import SimulationSource
from ..publish import Case, build_meter
from ..wording import number_of
from ._coupled import compare_results, compute_loss, list_candidate_labels, run_to_values
from ._engines import ENGINE_NAME, Engines
from ._neighbours import AuditQuestion, Basket, Database, NeighbourPair
from ._steps import Differs, Step
from ._tape import Recorder, Replayer, Unlikely
from ._verdict import Attempt

# Questions of all sizes, so that each decision by public numbers takes each of its values.
_ITEMS = (1, 2, 3, 8, 30, 120)
_TOPS = (1, 2, 6, 25, 80, 300)
_COUNTS = (1, 20, 1_000, 50_000)
_LENGTHS: tuple[Any, ...] = (None, 1, (1, 2), (2, 3), (1, 4), (5, 6))
# A basket of twelve items has 4,095 subsets: enough to have some unlisted, and listed in no time.
_MAX_BASKET = 12
_MAX_PEOPLE = 9


def replayed(mechanism: Mechanism, budget: Budget, neighbours: Neighbours, seed: int, *, scripts: int) -> Attempt:
    """Return the attempt that replays scripts of answers on different data, until a decision differs."""
    start_time = perf_counter()
    generator = np.random.default_rng(seed)
    trial = _ReplayTrial(mechanism, budget, neighbours, SimulationSource(seed), generator)
    broken: dict[str, Any] = {}
    for _ in range(scripts):
        question = _draw_question(mechanism, budget, generator)
        pair, unrelated_databases = _draw_data(question.items, neighbours, generator)
        try:
            trial.run(question, pair, unrelated_databases)
        except MisuseError:
            continue  # a refused question is skipped
        except Differs as difference:
            broken = {"pair": trial.data, "question": str(question), "why": str(difference)}
            break
    worst_case = broken or {"pair": trial.worst[1], "question": trial.worst[2]}
    step_sequences = len(trial.step_sequences)
    return Attempt(
        means="replayed",
        stands=not broken,
        loss=trial.worst[0],
        tried=(
            f"{number_of(trial.scripts, 'script')}, {number_of(step_sequences, 'sequence')} of steps, "
            f"{number_of(trial.runs, 'run')}"
            if trial.runs
            else "nothing: every question was refused"
        ),
        engine=ENGINE_NAME if trial.runs else "",
        pairs=trial.runs,
        paths=("made-up answers",) if trial.runs else (),
        seconds=perf_counter() - start_time,
        **worst_case,
    )


class _ReplayTrial:
    """The state of one replayed audit."""

    def __init__(
        self,
        mechanism: Mechanism,
        budget: Budget,
        neighbours: Neighbours,
        source: SimulationSource,
        generator: np.random.Generator,
    ) -> None:
        self.mechanism, self.budget, self.neighbours = mechanism, budget, neighbours
        self.source, self.generator = source, generator
        self.scripts = self.runs = 0
        self.step_sequences: set[tuple[str, ...]] = set()
        self.worst = (0.0, "", "")
        self.data = ""

    def run(self, question: AuditQuestion, pair: NeighbourPair, unrelated_databases: list[Database]) -> None:
        """Run the mechanism on all data sets with the answers of the first run; `Differs` states a difference."""
        first_database, second_database = pair.databases
        engines = Engines()
        case = self._case(question, first_database)
        recorder = build_meter(case, self.source, kind=Recorder)
        recorder.record("wide", self.generator, list_candidate_labels(case))
        self.scripts += 1
        self.data = str(pair)
        values = run_to_values(case, recorder, engines)
        self.step_sequences.add(tuple(step.purpose for step in recorder.tape))
        loss = self._replay(self._case(question, second_database), recorder.tape, values, engines, is_unrelated=False)
        if loss is not None and loss >= self.worst[0]:
            self.worst = loss, str(pair), str(question)
        for database in unrelated_databases:
            self.data = f"{_describe_database(first_database)}; or {_describe_database(database)}"
            self._replay(self._case(question, database), recorder.tape, values, engines, is_unrelated=True)

    def _replay(
        self, case: Case, tape: list[Step], values: dict[str, Any], engines: Engines, *, is_unrelated: bool
    ) -> float | None:
        """Return the loss of two neighbours from their exact answers; None if the run cannot be compared."""
        meter = build_meter(case, self.source, kind=Replayer)
        meter.replay(tape, self.generator, list_candidate_labels(case), is_unrelated=is_unrelated)
        try:
            second_values = run_to_values(case, meter, engines)
        except Unlikely:
            return None
        self.runs += 1
        meter.check_ended()
        compare_results(values, second_values)
        return compute_loss(meter)

    def _case(self, question: AuditQuestion, database: Database) -> Case:
        return question.case(self.mechanism, self.budget, self.neighbours, database)


def _draw_question(mechanism: Mechanism, budget: Budget, generator: np.random.Generator) -> AuditQuestion:
    """Return a random question that a mechanism answers, of any size."""

    def draw_value(values: tuple[Any, ...]) -> Any:
        return values[int(generator.integers(len(values)))]

    items, answers = draw_value(_ITEMS), draw_value(mechanism.answers)
    if answers == "itemsets":
        sizes = generator.integers(1, min(items, 3) + 1, 3).tolist()
        itemsets = [sorted(generator.choice(items, size, replace=False).tolist()) for size in sizes]
        return AuditQuestion(items=items, words={"itemsets": itemsets})
    lengths = draw_value(_LENGTHS)
    words = {"top": draw_value(_TOPS)} if answers == "top" else {"min_count": draw_value(_COUNTS)}
    words |= {} if lengths is None else {"lengths": lengths}
    words |= {"counts": False} if draw_value((True, False, False)) else {}
    words |= {"contains": [0]} if items > 2 and draw_value((True, False, False, False)) else {}
    has_several = draw_value((True, False, False))
    has_list = budget.pure or draw_value((True, True, False))
    return AuditQuestion(items=items, words=words, several=has_several, listed=has_list)


def _draw_data(
    items: int, neighbours: Neighbours, generator: np.random.Generator
) -> tuple[NeighbourPair, list[Database]]:
    """Return two neighbours and unrelated data sets; if a person is replaced, all have equally many people."""

    def basket() -> Basket:
        basket_items = np.flatnonzero(generator.random(items) < generator.choice([0.1, 0.5, 1.0]))
        return tuple(generator.permutation(basket_items)[:_MAX_BASKET].tolist()) if len(basket_items) else ()

    def rows(people: int) -> Database:
        return tuple((tuple(sorted(basket())), 1) for _ in range(people))

    is_replace = neighbours is Neighbours.REPLACE
    people = int(generator.integers(0, _MAX_PEOPLE))
    pair = NeighbourPair(
        rows=rows(people), more=tuple(sorted(basket())), instead=tuple(sorted(basket())) if is_replace else None
    )
    # Unrelated data: no people or empty baskets; full baskets; many people.
    large_count = people + 1 if is_replace else 3 * _MAX_PEOPLE + 1
    empty_baskets: Database = (((), people + 1),) if is_replace else ()
    full_baskets: Database = ((tuple(range(min(items, _MAX_BASKET))), people + 1 if is_replace else people + 2),)
    return pair, [empty_baskets, full_baskets, rows(large_count)]


def _describe_database(database: Database) -> str:
    """Return a data set in words."""
    people: Iterator[Basket] = chain.from_iterable([basket] * times for basket, times in database)
    sizes = sorted(len(basket) for basket in people)
    return f"{len(sizes)} people with baskets of {sizes[0]} to {sizes[-1]} items" if sizes else "nobody"
