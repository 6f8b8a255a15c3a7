"""The seal: what is under it cannot be looked at, and what is made of it moves as far as it says."""

from __future__ import annotations

import copy
import pickle
from itertools import product

import numpy as np
import pytest

import strategies
from discreet import MisuseError
from discreet.checks import MAX_COUNT
from discreet.exact import (
    BasketCount,
    Cells,
    ClippedCounts,
    Kth,
    Largest,
    LoadHistogram,
    Sizes,
    Supports,
    Truncation,
    Universe,
)
from discreet.privacy import SealedAnswer, SealedEngine, unsealed
from discreet.privacy._sealed import SealedList
from discreet.results import Itemsets
from naive import watching

ITEMS = 3
SUBSETS = strategies.subsets(ITEMS)
EVERY = Itemsets.of([tuple(sorted(subset)) for subset in SUBSETS if subset])
# Functions that a mechanism may apply, as they are used and one on another.
QUERIES = {
    "as answered": lambda engine: engine.answer(Supports(EVERY)),
    "some": lambda engine: engine.answer(Supports(EVERY)).take([4, 0, 4]),
    "append": lambda engine: engine.answer(Supports(EVERY)).append(engine.answer(Kth(2, 1, 3))),
    "falling": lambda engine: engine.answer(Supports(EVERY)).falling(),
    "less": lambda engine: engine.answer(Sizes(3)).minus(2),
    "no less than": lambda engine: engine.answer(Supports(EVERY)).at_least(range(7)),
    "near a number": lambda engine: engine.answer(Supports(EVERY)).falling().negate_distance(2),
    "near another": lambda engine: (
        engine.answer(Supports(EVERY)).falling().negate_distance(engine.answer(Kth(3, 2, 3)))
    ),
    "in order of nearness": lambda engine: engine.answer(Supports(EVERY)).negate_distance(2).falling(),
    "in parts": lambda engine: engine.answer(ClippedCounts(EVERY, 1500)),
    "parts near a number": lambda engine: engine.answer(ClippedCounts(EVERY, 1500)).negate_distance(1000),
    "bins": lambda engine: engine.answer(LoadHistogram(EVERY, (1, 3))),
    "cells": lambda engine: engine.answer(Cells(((0, 1), (2,)))),
    "cut baskets": lambda engine: engine.cut(Truncation(2, 77)).answer(Supports(EVERY)),
    "the largest": lambda engine: engine.answer(Largest(2, 1)),
    "listed above a number": lambda engine: engine.above(1, 1, 3, 3).falling(5),
    "listed above an answer": lambda engine: engine.above(
        engine.answer(Kth(2, 1, 3)).minus(1).at_least(1), 1, 3, 2
    ).falling(7),
}  # fmt: skip


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_one_person_moves_it_as_it_says(query):
    reached = 0
    for people in list(product(SUBSETS, repeat=2))[::3]:
        before = query(watching.engine(people, ITEMS))
        for basket in SUBSETS:
            after = query(watching.engine([*people, basket], ITEMS))
            assert (len(after), after.step, after.monotone) == (len(before), before.step, before.monotone)
            change = unsealed(after) - unsealed(before)
            assert np.abs(change).max() <= before.step
            assert not before.monotone or change.min() >= 0 or change.max() <= 0
            reached = max(reached, np.abs(change).max())
    assert reached == before.step


@pytest.mark.parametrize("query", [make_answer for name, make_answer in QUERIES.items() if "negate_distance" in name])
def test_nearness_is_not_said_to_be_monotone(query):
    assert not query(watching.engine([], ITEMS)).monotone


SEALED = watching.engine([{0, 1}] * 7, ITEMS)
ANSWER = SEALED.answer(Supports(EVERY))
SEALED_LIST = SEALED.above(0, 1, 2)
PEEKS = {
    "as a number": int,
    "as a fraction": float,
    "as true or false": bool,
    "as a list": list,
    "as an array": np.asarray,
    "by numpy": np.sum,
    "sorted": sorted,
    "an entry": lambda closed: closed[0],
    "compared": lambda closed: closed > 3,
    "the same": lambda closed: closed == 7,
    "another": lambda closed: closed != 7,
    "among others": lambda closed: closed in [7],
    "added up": sum,
    "plus": lambda closed: closed + 1,
    "times": lambda closed: 2 * closed,
    "its attributes": vars,
    "saved": pickle.dumps,
    "copied": copy.copy,
    "copied deeply": copy.deepcopy,
    "by a method of arrays": lambda closed: closed.any(),
    "by its field": lambda closed: closed.value,
    "by the engine's field": lambda closed: closed.baskets,
    "how many are listed": lambda closed: closed.counts,
    "its state": lambda closed: closed.__getstate__(),
    "said otherwise": lambda closed: setattr(closed, "step", 0),
    "said no more": lambda closed: delattr(closed, "items"),
}


@pytest.mark.parametrize("sealed_value", [ANSWER, SEALED_LIST, SEALED], ids=["answer", "list", "engine"])
@pytest.mark.parametrize("peek", PEEKS.values(), ids=PEEKS)
def test_it_cannot_be_looked_at(sealed_value, peek):
    with pytest.raises((TypeError, AttributeError)) as caught:
        peek(sealed_value)
    assert "7" not in str(caught.value)


def test_only_what_is_public_is_shown():
    assert len(ANSWER) == 7
    assert [repr(sealed_value) for sealed_value in (ANSWER, SEALED_LIST, SEALED)] == [
        "<SealedAnswer>",
        "<SealedList>",
        "<SealedEngine>",
    ]
    assert SEALED.items == ITEMS
    assert (SEALED_LIST.floor, SEALED_LIST.universe) == (0, Universe(ITEMS, 1, 2))
    assert SEALED.above(0, 1, 2, 5).floor is None
    assert SEALED_LIST.most is None
    assert SEALED.cut(Truncation(2, 5)).above(0, 1, 2).most == 3
    # What occurs in the data is not public: where nobody says how many items there are, the seal does not.
    unlisted = SealedEngine(unsealed(SEALED))
    assert unlisted.items is unlisted.above(0, 1, 2).universe is None
    with pytest.raises(TypeError):
        len(SEALED_LIST)


def test_the_list_is_that_of_the_engine():
    itemset_list = unsealed(SEALED.above(0, 1, 2))
    unsealed_list = unsealed(SEALED).above(0, 1, 2, MAX_COUNT)
    assert (itemset_list.itemsets.tuples(), itemset_list.counts.tolist()) == ([(0,), (1,), (0, 1)], [7, 7, 7])
    assert unsealed_list.itemsets.tuples() == itemset_list.itemsets.tuples()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: ANSWER.negate_distance(ANSWER), "One number is needed here."),
        (lambda: SEALED.above(ANSWER, 1, 2), "One number is needed here."),
        (lambda: ANSWER.minus(-(2**63) + 8), "Numbers that answers are compared with lie within 2^61."),
        (lambda: ANSWER.negate_distance(2**62), "Numbers that answers are compared with lie within 2^61."),
        (lambda: ANSWER.at_least([0] * 6 + [2**62]), "Numbers that answers are compared with lie within 2^61."),
        (
            lambda: ANSWER.negate_distance(3).append(ANSWER),
            "Only numbers that one person moves in one direction can be joined or compared.",
        ),
        (
            lambda: ANSWER.negate_distance(SEALED.answer(BasketCount()).negate_distance(3)),
            "Only numbers that one person moves in one direction can be joined or compared.",
        ),
        (
            lambda: SEALED.above(SEALED.answer(BasketCount()).negate_distance(3), 1, 2),
            "A bound under seal is a number that one person raises no further than a count.",
        ),
        (
            lambda: SEALED.above(SealedAnswer(np.array([3]), 2, monotone=True), 1, 2),
            "A bound under seal is a number that one person raises no further than a count.",
        ),
    ],
)
def test_what_would_not_move_as_it_says_is_refused(wrong, message):
    with pytest.raises(MisuseError) as caught:
        wrong()
    assert str(caught.value) == message


def test_a_sealed_engine_can_be_sealed_data_of_any_engine():
    assert isinstance(SEALED.cut(Truncation(1, 5)), SealedEngine)
    assert isinstance(SEALED.above(0, 1, 1), SealedList)
