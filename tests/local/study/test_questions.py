"""How baskets answer questions: as `local.device.client` has it for one device, for many at once."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import strategies
from discreet.baskets import Baskets, Vocabulary
from discreet.errors import MisuseError
from discreet.local.device import find_values
from discreet.local.study import (
    CandidateList,
    CandidateQuestion,
    CellQuestion,
    DeviceQuestion,
    PrefixQuestion,
    SizeQuestion,
)

KNOWN_ITEMS = 9  # items the data have; questions name up to 12
ROWS = strategies.rows(KNOWN_ITEMS, 8)
ITEMSETS = st.lists(
    st.sets(st.integers(0, 11), min_size=1, max_size=4).map(lambda itemset: tuple(sorted(itemset))),
    min_size=1,
    max_size=10,
    unique=True,
).map(lambda itemsets: CandidateList(itemsets=tuple(itemsets)))
CANDIDATES = st.one_of(st.integers(1, 12).map(lambda item_count: CandidateList(items=item_count)), ITEMSETS)


def baskets_of(rows: list[list[int]]) -> Baskets:
    offsets = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    return Baskets(
        offsets, np.array([code for row in rows for code in row], np.int32), Vocabulary(list(range(KNOWN_ITEMS)))
    )


def agree(question: DeviceQuestion, rows: list[list[int]]) -> None:
    """Everyone, in two orders, answers as their device does."""
    baskets = baskets_of(rows)
    for people in (np.arange(len(rows)), np.arange(len(rows))[::-2].copy()):
        offsets, values = question.answers(baskets, people)
        answers = [values[a:b].tolist() for a, b in pairwise(offsets)]
        assert answers == [find_values(question.form(), rows[person]) for person in people]
        assert all(0 <= value < question.values for answer in answers for value in answer)
        if question.single:
            assert all(len(answer) == 1 for answer in answers)


@given(CANDIDATES, ROWS)
def test_which(candidates, rows):
    agree(CandidateQuestion(candidates), rows)


@given(CANDIDATES, ROWS, st.sets(st.integers(1, 12), min_size=1, max_size=5))
def test_how_many(candidates, rows, bins):
    agree(SizeQuestion(candidates, (0, *sorted(bins))), rows)


@given(st.data(), ROWS)
def test_prefix(data, rows):
    order = data.draw(st.permutations(range(12)))[: data.draw(st.integers(1, 12))]
    length = data.draw(st.integers(1, min(3, len(order))))
    places = st.sets(st.integers(0, len(order) - 1), min_size=length, max_size=length)
    prefix = places.map(lambda positions: tuple(order[place] for place in sorted(positions)))
    prefixes = data.draw(st.lists(prefix, min_size=1, max_size=6, unique=True))
    agree(PrefixQuestion(tuple(order), tuple(prefixes), length), rows)


@given(st.permutations(range(12)), st.integers(1, 6), ROWS)
def test_cells(order, cell_count, rows):
    agree(CellQuestion(tuple(order[:cell_count])), rows)


def test_items_beyond_the_list_are_ignored():
    """A device may hold what the question does not know, and the data may lack what it asks about."""
    for question in (
        CandidateQuestion(CandidateList(items=3)),
        SizeQuestion.up_to(CandidateList(itemsets=((0,), (2, 11))), 2),
    ):
        inside = find_values(question.form(), [0, 2])
        assert find_values(question.form(), [-4, 0, 2, 10, 99]) == inside
        agree(question, [[0, 2, 8], [], [8]])


def test_the_empty_handed_have_an_answer_to_a_count():
    """A7: sizes begin at 0, and whoever holds nothing says so."""
    question = SizeQuestion.up_to(CandidateList(items=6), 6)
    assert question.values == 7
    assert find_values(question.form(), []) == [0]
    agree(question, [[], [0, 1, 2, 3, 4, 5]])


def test_the_last_bin_takes_the_rest():
    question = SizeQuestion(CandidateList(items=9), (0, 1, 4))
    assert [find_values(question.form(), range(value_count)) for value_count in (0, 1, 3, 4, 9)] == [
        [0],
        [1],
        [1],
        [2],
        [2],
    ]


def test_candidates_as_they_travel():
    assert CandidateList(items=7).form() == {"of": 7}
    assert CandidateList(itemsets=((3,), (1, 4))).form() == {"of": [3, [1, 4]]}
    assert (CandidateList(items=7)[5], CandidateList(itemsets=((3,), (1, 4)))[1]) == ((5,), (1, 4))
    assert len(CandidateList(itemsets=((3,), (1, 4)))) == 2


NUMBER_OR_LIST = "A question is about a number of items, or about a list of itemsets, and about something."
DIFFERENT = "The itemsets of a question are different from each other, and none is empty."
BINS = "The bins of a count begin at 0 and ascend, and there are two or more."
CELLS = "Cells are made of 1 to 16 different items."
TWICE = "The order and the prefixes of a question name nothing twice, and there is a prefix."


@pytest.mark.parametrize(
    ("kind", "arguments", "message"),
    [
        (CandidateList, {}, NUMBER_OR_LIST),
        (CandidateList, {"items": -1}, NUMBER_OR_LIST),
        (CandidateList, {"items": 2, "itemsets": ((0,),)}, NUMBER_OR_LIST),
        (CandidateList, {"itemsets": ((0,), (0,))}, DIFFERENT),
        (CandidateList, {"itemsets": ((),)}, DIFFERENT),
        (SizeQuestion, {"candidates": CandidateList(items=3), "bins": (0,)}, BINS),
        (SizeQuestion, {"candidates": CandidateList(items=3), "bins": (1, 2)}, BINS),
        (SizeQuestion, {"candidates": CandidateList(items=3), "bins": (0, 2, 2)}, BINS),
        (PrefixQuestion, {"order": (1, 1), "prefixes": ((1,),)}, TWICE),
        (PrefixQuestion, {"order": (1, 2), "prefixes": ()}, TWICE),
        (PrefixQuestion, {"order": (), "prefixes": ((),), "length": 0}, "A prefix has one item or more; 0 was given."),
        (PrefixQuestion, {"order": (1, 2), "prefixes": ((1,), (1,))}, TWICE),
        (
            PrefixQuestion,
            {"order": (1, 2), "prefixes": ((2, 1),), "length": 2},
            "A prefix is 2 items of the order, in its order; (2, 1) is not.",
        ),
        (
            PrefixQuestion,
            {"order": (1, 2), "prefixes": ((3,),)},
            "A prefix is 1 items of the order, in its order; (3,) is not.",
        ),
        (CellQuestion, {"items": ()}, CELLS),
        (CellQuestion, {"items": (3, 3)}, CELLS),
        (CellQuestion, {"items": tuple(range(17))}, CELLS),
    ],
    ids=str,
)
def test_what_is_no_question(kind: Any, arguments: dict[str, Any], message: str):
    with pytest.raises(MisuseError) as error:
        kind(**arguments)
    assert str(error.value) == message
