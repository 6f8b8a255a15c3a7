"""Tests that every protocol must pass: a new file in the room is covered by being there.

Promises around the reports are looked at by the audit, also over all protocols (`tests/auditing/test_local.py`).
"""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise
from typing import get_args, get_type_hints

import numpy as np
import pytest

from discreet.baskets import Baskets, Pairs, Sequences, Vocabulary, starts
from discreet.local.study import SimulatedPeople, StudyGoal, converse, simulate
from discreet.local.study._conversation import most_reports
from discreet.registry import protocol, protocols
from replaying import replay, stored

PROTOCOL_NAMES = list(protocols())
ITEMS = 8
ROWS = {
    "nobody": [],
    "one person with nothing": [[]],
    "one person": [[3]],
    "nobody holds anything": [[]] * 300,
    "everyone holds the same": [[2]] * 300,
    "everyone holds everything": [list(range(ITEMS))] * 300,
    "everyone holds another": [[item] for item in range(ITEMS)],
    "a few": [[0, 1], [1], [], [5, 6, 7]],
}


def laid(rows: list[list[int]]) -> Baskets:
    """Return people who hold the items of a row, in its order, and have a pair of each item and the next."""
    pairs = [sorted(pairwise(row)) for row in rows]
    offsets = starts([len(row) for row in rows])
    codes = np.array([item for row in rows for item in row], np.int32)
    return Baskets(
        offsets,
        codes,
        Vocabulary(list(range(ITEMS))),
        Sequences(offsets.copy(), codes.copy()),
        Pairs(
            starts([len(pairs_of_person) for pairs_of_person in pairs]),
            np.array([antecedent for pairs_of_person in pairs for antecedent, _ in pairs_of_person], np.int32),
            np.array([consequent for pairs_of_person in pairs for _, consequent in pairs_of_person], np.int32),
        ),
    )


def kinds(name: str) -> list[dict[str, str]]:
    """Return settings under which a protocol is tried: every kind of relation it knows, if it is about relations."""
    hint = get_type_hints(protocols()[name].kind).get("how")
    return [{"how": pair_kind} for pair_kind in get_args(hint)] if hint is not None else [{}]


def text_of(outcome) -> str:
    numbers = [outcome.patterns.counts.tolist(), outcome.patterns.low.tolist(), outcome.patterns.high.tolist()]
    if outcome.relations is not None:
        numbers += [outcome.relations.counts.tolist(), outcome.relations.low.tolist(), outcome.relations.high.tolist()]
    return json.dumps([outcome.to_dict(), numbers], default=str)


@pytest.mark.parametrize("number", range(len(ROWS)), ids=list(ROWS))
@pytest.mark.parametrize("name", PROTOCOL_NAMES)
def test_degenerate_data(name, number):
    """It ends, with numbers that are numbers, whatever people hold. Speeds and kinds of relations take turns."""
    baskets, known_kinds = laid(list(ROWS.values())[number]), kinds(name)
    speed = ("person", "aggregated")[number % 2]
    settings = known_kinds[number % len(known_kinds)]
    outcome = simulate(baskets, name, top=3, epsilon=1, seed=1, speed=speed, score=True, settings=settings)
    assert outcome.guarantee.epsilon == Fraction(1)
    assert sum(line.people for line in outcome.rounds) <= len(baskets)
    result_table = outcome.patterns if outcome.relations is None else outcome.relations
    assert len(result_table) <= 3
    for bound in (result_table.low, result_table.high):
        assert np.isfinite(bound).all()
    assert (result_table.low <= result_table.high).all()
    assert (result_table.counts >= 0).all()
    assert (result_table.counts <= len(baskets)).all()


@pytest.mark.parametrize("name", PROTOCOL_NAMES)
def test_the_same_seed_says_the_same(name):
    baskets, question = laid(ROWS["a few"]), {"top": 3, "epsilon": 1, "seed": 1}
    assert text_of(simulate(baskets, name, **question)) == text_of(simulate(baskets, name, **question))


@pytest.mark.parametrize("name", PROTOCOL_NAMES)
def test_one_item_in_all(name):
    lonely = Baskets(np.array([0, 1, 1, 2]), np.zeros(2, np.int32), Vocabulary(["a"]))
    assert len(simulate(lonely, name, top=3, epsilon=1, seed=1)) <= 1


@pytest.mark.parametrize("name", PROTOCOL_NAMES)
def test_everyone_is_asked_once_and_a_conversation_can_be_taken_up_again(name):
    generator = np.random.default_rng(3)
    baskets = laid([sorted(generator.choice(ITEMS, generator.integers(0, 5), replace=False)) for _ in range(2000)])
    plan, goal = protocol(name, kinds(name)[-1]), StudyGoal(items=ITEMS, top=3, epsilon=Fraction(2))
    crowd = SimulatedPeople(baskets=baskets, seed=5, speed="aggregated")
    numbers = crowd.numbers()
    result, estimates = converse(plan.ask_rounds(goal), lambda ask: crowd.hear(ask, numbers), reports=plan.reports)
    assert most_reports([estimate.ask for estimate in estimates]) == 1
    replayed = replay(plan.ask_rounds(goal), [stored(estimate) for estimate in estimates])
    assert replayed.result is not None
    assert replayed.result.itemsets == result.itemsets
    assert replayed.result.values.tolist() == result.values.tolist()
    begun = replay(plan.ask_rounds(goal), [stored(estimate) for estimate in estimates[:1]])
    assert begun.result is None or len(estimates) == 1
