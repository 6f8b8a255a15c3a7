"""Trying to break the claim of `release_relations`: no mechanism of the registry, and so with an audit of its own.

It is the coupled one: the second run is told what the first released, and must do the same. Neighbours are people with
an order, so one who did the same things the other way round is another person.
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
from ._coupled import carried_by, compare_results, lost, seen
from ._engines import NAME, Engines
from ._neighbours import Database, NeighbourPair, pairs, planned
from ._steps import Differs
from ._tape import MOODS, Recorder, Replayer, Unlikely
from ._verdict import Attempt, Verdict

# Over how many items, how many relations among how many of them, and whether the number of people is public.
_QUESTIONS: tuple[tuple[int, dict[str, Any]], ...] = (
    (2, {"top": 1, "among": 2}),
    (4, {"top": 3, "among": 3}),
    (5, {"top": 4, "among": 5, "people": 40}),
)


def audit_relations(budget: Budget, neighbours: Neighbours, seed: int) -> Verdict:
    """Try every kind of relation, every question and every pair of neighbours, until one breaks the claim."""
    return Verdict(
        name=RELATIONS_NAME,
        settings=(),
        neighbours=neighbours,
        epsilon=budget.epsilon,
        delta=budget.delta,
        attempts=(_coupled(budget, neighbours, seed),),
        seed=seed,
    )


def _coupled(budget: Budget, neighbours: Neighbours, seed: int) -> Attempt:
    begun, tried, steps, worst = perf_counter(), 0, 0, (0.0, "", "")
    source, generator, engines = SimulationSource(seed), np.random.default_rng(seed), Engines()
    broken: dict[str, Any] = {}
    for how, items, words in ((how, *question) for how in get_args(How) for question in _QUESTIONS):
        asked = f"{how}, {', '.join(f'{name}={value}' for name, value in words.items())} over {items} items"
        for pair in _ordered(items, neighbours):
            cases = [_case(database, items, how, words, budget, neighbours) for database in pair.databases]
            recorder, replayer = Recorder(budget, neighbours, source), Replayer(budget, neighbours, source)
            recorder.record(MOODS[tried % len(MOODS)], generator, [])
            try:
                told = _ended(cases[0], recorder, engines)
                replayer.replay(recorder.tape, generator, [])
                again = _ended(cases[1], replayer, engines)
                replayer.done()
                compare_results(told, again)
            except Unlikely:
                continue
            except Differs as difference:
                broken = {"pair": str(pair), "question": asked, "why": str(difference)}
            tried, steps = tried + 1, steps + len(recorder.tape)
            if broken:
                break
            worst = max(worst, (lost(replayer), str(pair), asked))
        if broken:
            break
    said = broken or {"pair": worst[1], "question": worst[2]}
    return Attempt(
        stands=not broken,
        loss=worst[0],
        means="coupled",
        tried=f"{tried:,} pairs of neighbours, {steps:,} steps",
        engine=NAME,
        pairs=tried,
        paths=("made-up people with an order in memory",),
        seconds=perf_counter() - begun,
        **said,
    )


def _ordered(items: int, neighbours: Neighbours) -> Iterator[NeighbourPair]:
    """Yield the planned pairs of neighbours, those who differ in both orders."""
    cases = [
        (rows, list(dict.fromkeys([one for change in changes for one in (change, change[::-1])])))
        for rows, changes in planned(items, [1, 2])
    ]
    return pairs(cases, neighbours)


def _case(
    database: Database, items: int, how: How, words: dict[str, Any], budget: Budget, neighbours: Neighbours
) -> RelationCase:
    question = RelationQuestion(
        how=how,
        items=items,
        epsilon=budget.epsilon,
        delta=budget.delta,
        neighbours=neighbours,
        top=words["top"],
        among=words["among"],
        people=None if neighbours is Neighbours.REPLACE else words.get("people"),
    )
    return build_relation_case(question, ordered_people(database, items))


@lru_cache(maxsize=4096)
def ordered_people(database: Database, items: int) -> Baskets:
    """Return people who did things in the order of their tuples, and who give each with the next as a pair."""
    rows = [basket for basket, times in database for _ in range(times)]
    steps = [sorted(pairwise(row)) for row in rows]
    offsets = starts([len(row) for row in rows])

    def flat(lists: list[Any]) -> Any:
        return np.array([one for row in lists for one in row], np.int32)

    return Baskets(
        offsets,
        flat([sorted(row) for row in rows]),
        Vocabulary(list(range(items))),
        Sequences(offsets.copy(), flat(rows)),
        Pairs(
            starts([len(row) for row in steps]),
            flat([[one for one, _ in row] for row in steps]),
            flat([[other for _, other in row] for row in steps]),
        ),
    )


def _ended(case: RelationCase, meter: Meter, engines: Engines) -> dict[str, Any]:
    """Carry a case out and return all that anyone sees of it, by name."""

    def run() -> Release:
        return run_relations(case, meter, engines)

    release, heard = carried_by(run, case.budget, meter)
    found = release.relations
    if found is None:
        raise Differs("There are no relations.")
    return {**seen(release), "relations": repr(found.to_arrow().to_pydict()), "warnings": heard}
