"""The audit of `release_relations`, which is no mechanism of the registry and so has an audit of its own.

It is the coupled audit. Neighbours are people with ordered items: the reverse order makes a different person.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from time import perf_counter
from typing import Any, get_args

import numpy as np

from ..baskets import Baskets, Pairs, Sequences, Vocabulary, starts
from ..exact import How
from ..privacy import Budget, Meter, Neighbours
from ..privacy.sampling import SimulationSource
from ..publish import RELATIONS_NAME, RelationCase, RelationQuestion, Release, build_relation_case, run_relations
from ._coupled import check_run, compare_results, compute_loss, list_released_values
from ._engines import ENGINE_NAME, Engines
from ._neighbours import Database, NeighbourPair, list_pairs, list_planned_cases
from ._steps import Differs
from ._tape import MOODS, Recorder, Replayer, Unlikely
from ._verdict import Attempt, Verdict

# (items, keywords of the question): relations among all and some of the items, with private and public people.
_QUESTIONS: tuple[tuple[int, dict[str, Any]], ...] = (
    (2, {"top": 1, "among": 2}),
    (4, {"top": 3, "among": 3}),
    (5, {"top": 4, "among": 5, "people": 40}),
)


def audit_relations(budget: Budget, neighbours: Neighbours, seed: int) -> Verdict:
    """Return the verdict over every kind of relation, question and pair of neighbours, up to the first breach."""
    return Verdict(
        name=RELATIONS_NAME,
        settings=(),
        neighbours=neighbours,
        epsilon=budget.epsilon,
        delta=budget.delta,
        attempts=(_audit_coupled(budget, neighbours, seed),),
        seed=seed,
    )


def _audit_coupled(budget: Budget, neighbours: Neighbours, seed: int) -> Attempt:
    start_time, pair_count, step_count, largest_loss = perf_counter(), 0, 0, (0.0, "", "")
    source, generator, engines = SimulationSource(seed), np.random.default_rng(seed), Engines()
    broken: dict[str, Any] = {}
    for relation_kind, items, words in (
        (relation_kind, *question) for relation_kind in get_args(How) for question in _QUESTIONS
    ):
        question_text = (
            f"{relation_kind}, {', '.join(f'{name}={value}' for name, value in words.items())} over {items} items"
        )
        for pair in _list_ordered_pairs(items, neighbours):
            cases = [
                _build_case(database, items, relation_kind, words, budget, neighbours) for database in pair.databases
            ]
            recorder, replayer = Recorder(budget, neighbours, source), Replayer(budget, neighbours, source)
            recorder.record(MOODS[pair_count % len(MOODS)], generator, [])
            try:
                values = _run_to_values(cases[0], recorder, engines)
                replayer.replay(recorder.tape, generator, [])
                second_values = _run_to_values(cases[1], replayer, engines)
                replayer.check_ended()
                compare_results(values, second_values)
            except Unlikely:
                continue
            except Differs as difference:
                broken = {"pair": str(pair), "question": question_text, "why": str(difference)}
            pair_count, step_count = pair_count + 1, step_count + len(recorder.tape)
            if broken:
                break
            largest_loss = max(largest_loss, (compute_loss(replayer), str(pair), question_text))
        if broken:
            break
    worst_case = broken or {"pair": largest_loss[1], "question": largest_loss[2]}
    return Attempt(
        stands=not broken,
        loss=largest_loss[0],
        means="coupled",
        tried=f"{pair_count:,} pairs of neighbours, {step_count:,} steps",
        engine=ENGINE_NAME,
        pairs=pair_count,
        paths=("made-up people with an order in memory",),
        seconds=perf_counter() - start_time,
        **worst_case,
    )


def _list_ordered_pairs(items: int, neighbours: Neighbours) -> Iterator[NeighbourPair]:
    """Yield the planned pairs of neighbours, with both orders of the differing basket."""
    cases = [
        (rows, list(dict.fromkeys([basket for change in changes for basket in (change, change[::-1])])))
        for rows, changes in list_planned_cases(items, [1, 2])
    ]
    return list_pairs(cases, neighbours)


def _build_case(
    database: Database, items: int, relation_kind: How, words: dict[str, Any], budget: Budget, neighbours: Neighbours
) -> RelationCase:
    question = RelationQuestion(
        how=relation_kind,
        items=items,
        epsilon=budget.epsilon,
        delta=budget.delta,
        neighbours=neighbours,
        top=words["top"],
        among=words["among"],
        people=None if neighbours is Neighbours.REPLACE else words.get("people"),
    )
    return build_relation_case(question, build_ordered_people(database, items))


@lru_cache(maxsize=4096)
def build_ordered_people(database: Database, items: int) -> Baskets:
    """Return people with events in the order of their tuples, and each adjacent pair as a given pair."""
    rows = [basket for basket, times in database for _ in range(times)]
    row_pairs = [sorted(pairwise(row)) for row in rows]
    offsets = starts([len(row) for row in rows])

    def join_codes(lists: list[Any]) -> Any:
        return np.array([code for row in lists for code in row], np.int32)

    return Baskets(
        offsets,
        join_codes([sorted(row) for row in rows]),
        Vocabulary(list(range(items))),
        Sequences(offsets.copy(), join_codes(rows)),
        Pairs(
            starts([len(row) for row in row_pairs]),
            join_codes([[left_item for left_item, _ in row] for row in row_pairs]),
            join_codes([[right_item for _, right_item in row] for row in row_pairs]),
        ),
    )


def _run_to_values(case: RelationCase, meter: Meter, engines: Engines) -> dict[str, Any]:
    """Run a case and return all visible values of its release, by name."""

    def run() -> Release:
        return run_relations(case, meter, engines)

    release, warning_texts = check_run(run, case.budget, meter)
    relations = release.relations
    if relations is None:
        raise Differs("There are no relations.")
    return {
        **list_released_values(release),
        "relations": repr(relations.to_arrow().to_pydict()),
        "warnings": warning_texts,
    }
