"""What every protocol must pass: a new file in the room is covered by being there.

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
from discreet.local.study import SimulatedPeople, Wanted, converse, simulate
from discreet.local.study._conversation import most_reports
from discreet.registry import protocol, protocols
from replaying import replay, stored

ALL = list(protocols())
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
    """Return people who hold these items, did them in this order, and have a pair of each and the next."""
    pairs = [sorted(pairwise(row)) for row in rows]
    offsets = starts([len(row) for row in rows])
    codes = np.array([item for row in rows for item in row], np.int32)
    return Baskets(
        offsets,
        codes,
        Vocabulary(list(range(ITEMS))),
        Sequences(offsets.copy(), codes.copy()),
        Pairs(
            starts([len(some) for some in pairs]),
            np.array([one for some in pairs for one, _ in some], np.int32),
            np.array([other for some in pairs for _, other in some], np.int32),
        ),
    )


def kinds(name: str) -> list[dict[str, str]]:
    """Return settings under which a protocol is tried: every kind of relation it knows, if it is about relations."""
    hint = get_type_hints(protocols()[name].kind).get("how")
    return [{"how": how} for how in get_args(hint)] if hint is not None else [{}]


def told(outcome) -> str:
    numbers = [outcome.patterns.counts.tolist(), outcome.patterns.low.tolist(), outcome.patterns.high.tolist()]
    if outcome.relations is not None:
        numbers += [outcome.relations.counts.tolist(), outcome.relations.low.tolist(), outcome.relations.high.tolist()]
    return json.dumps([outcome.to_dict(), numbers], default=str)


@pytest.mark.parametrize("number", range(len(ROWS)), ids=list(ROWS))
@pytest.mark.parametrize("name", ALL)
def test_degenerate_data(name, number):
    """It ends, with numbers that are numbers, whatever people hold. Speeds and kinds of relations take turns."""
    baskets, known = laid(list(ROWS.values())[number]), kinds(name)
    speed = ("person", "aggregated")[number % 2]
    settings = known[number % len(known)]
    outcome = simulate(baskets, name, top=3, epsilon=1, seed=1, speed=speed, score=True, settings=settings)
    assert outcome.guarantee.epsilon == Fraction(1)
    assert sum(line.people for line in outcome.rounds) <= len(baskets)
    found = outcome.patterns if outcome.relations is None else outcome.relations
    assert len(found) <= 3
    for bound in (found.low, found.high):
        assert np.isfinite(bound).all()
    assert (found.low <= found.high).all()
    assert (found.counts >= 0).all()
    assert (found.counts <= len(baskets)).all()


@pytest.mark.parametrize("name", ALL)
def test_the_same_seed_says_the_same(name):
    baskets, asked = laid(ROWS["a few"]), {"top": 3, "epsilon": 1, "seed": 1}
    assert told(simulate(baskets, name, **asked)) == told(simulate(baskets, name, **asked))


@pytest.mark.parametrize("name", ALL)
def test_one_item_in_all(name):
    lonely = Baskets(np.array([0, 1, 1, 2]), np.zeros(2, np.int32), Vocabulary(["a"]))
    assert len(simulate(lonely, name, top=3, epsilon=1, seed=1)) <= 1


@pytest.mark.parametrize("name", ALL)
def test_everyone_is_asked_once_and_a_conversation_can_be_taken_up_again(name):
    generator = np.random.default_rng(3)
    baskets = laid([sorted(generator.choice(ITEMS, generator.integers(0, 5), replace=False)) for _ in range(2000)])
    plan, wanted = protocol(name, kinds(name)[-1]), Wanted(items=ITEMS, top=3, epsilon=Fraction(2))
    crowd = SimulatedPeople(baskets=baskets, seed=5, speed="aggregated")
    numbers = crowd.numbers()
    learnt, heard = converse(plan.talk(wanted), lambda ask: crowd.hear(ask, numbers), reports=plan.reports)
    assert most_reports([one.ask for one in heard]) == 1
    again = replay(plan.talk(wanted), [stored(one) for one in heard])
    assert again.learnt is not None
    assert again.learnt.itemsets == learnt.itemsets
    assert again.learnt.values.tolist() == learnt.values.tolist()
    begun = replay(plan.talk(wanted), [stored(one) for one in heard[:1]])
    assert begun.learnt is None or len(heard) == 1
