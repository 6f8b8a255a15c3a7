"""How texts become items: for all labels of a vocabulary at once as `local.device.answering` has it for one device."""

from __future__ import annotations

import gc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st

from discreet.baskets import Baskets, Vocabulary
from discreet.errors import MisuseError
from discreet.local.device import END, find_values
from discreet.local.device._answering import number_texts
from discreet.local.study import CandidateList, CandidateQuestion, SizeQuestion, TextNumbers, _texts as texts
from discreet.local.study._texts import symbols_of
from naive import wire

ALPHABET = "abé😀"
TEXTS = st.text("abé😀xB", min_size=1, max_size=7)
ROWS = st.lists(st.lists(TEXTS, max_size=5, unique=True), min_size=1, max_size=6)


@st.composite
def numbers(draw):
    """Draw beginnings of which none begins with another, some of them whole texts."""
    beginnings = draw(st.lists(st.text(ALPHABET, max_size=3), min_size=1, max_size=5, unique=True))
    separate_beginnings = [
        beginning
        for beginning in beginnings
        if not any(
            beginning != other_beginning and beginning.startswith(other_beginning) for other_beginning in beginnings
        )
    ]
    ended = [beginning + END if beginning and draw(st.booleans()) else beginning for beginning in separate_beginnings]
    return TextNumbers(tuple(ended), ALPHABET, draw(st.integers(0, 3)), draw(st.integers(1, 6)))


def baskets_of(rows: list[list[str]]) -> Baskets:
    labels = sorted({text for row in rows for text in row})
    codes = [sorted(labels.index(text) for text in row) for row in rows]
    offsets = np.cumsum([0, *map(len, codes)]).astype(np.int64)
    return Baskets(offsets, np.array([code for row in codes for code in row], np.int32), Vocabulary(labels or ["a"]))


@given(numbers(), ROWS)
def test_everyone_answers_as_their_device_does(text_numbers, rows):
    baskets, people = baskets_of(rows), np.arange(len(rows))[::-1].copy()
    for question in (
        CandidateQuestion(CandidateList(len(text_numbers), texts=text_numbers)),
        SizeQuestion.up_to(CandidateList(len(text_numbers), texts=text_numbers), 2),
    ):
        offsets, values = question.answers(baskets, people)
        form = question.form()
        assert [values[a:b].tolist() for a, b in pairwise(offsets)] == [
            find_values(form, rows[person]) for person in people
        ]
        assert [find_values(form, row) for row in rows] == [wire.values_of(form, row) for row in rows]


@given(ROWS)
def test_itemsets_of_texts(rows):
    text_numbers = TextNumbers.whole(("a", "ab", "b"), ALPHABET, 6)
    question = CandidateQuestion(CandidateList(itemsets=((0,), (0, 2), (0, 1, 2)), texts=text_numbers))
    offsets, values = question.answers(baskets_of(rows), np.arange(len(rows)))
    assert [values[a:b].tolist() for a, b in pairwise(offsets)] == [find_values(question.form(), row) for row in rows]


@given(numbers(), TEXTS)
def test_a_number_stands_for_what_texts_begin_with(text_numbers, text):
    for number in number_texts(text_numbers.form(), [text]):
        begun = text_numbers.text(number)
        assert begun is not None
        assert f"{text}{END}".startswith(begun)


def test_what_follows_an_end_stands_for_nothing():
    text_numbers = TextNumbers(("a",), "ab", 2, 5)
    assert [text_numbers.text(number) for number in range(9)] == [
        "a\n",
        None,
        None,
        "aa\n",
        "aaa",
        "aab",
        "ab\n",
        "aba",
        "abb",
    ]


def test_whole_texts_have_the_number_of_their_place():
    text_numbers = TextNumbers.whole(("ab", "b"), "ab", 5)
    assert number_texts(text_numbers.form(), ["b", "ab", "a", "abb"]) == [0, 1]
    assert len(text_numbers) == 2
    assert text_numbers.text(1) == "b\n"


def test_labels_that_are_numbers_are_texts_too():
    text_numbers = TextNumbers(("",), "0123456789", 1, 3)
    assert text_numbers.numbers(Vocabulary([7, 12, 1234])).tolist() == [8, 2, -1]


def test_symbols_are_kept_while_their_vocabulary_is():
    vocabulary = Vocabulary(["a", "ab", "x"])
    symbols = symbols_of(vocabulary, "ab", 3)
    assert symbols.tolist() == [[1, 0, 0, 0], [1, 2, 0, 0], [0, 0, 0, 0]]
    assert symbols_of(vocabulary, "ab", 3) is symbols
    assert symbols_of(vocabulary, "ba", 3).tolist()[1] == [2, 1, 0, 0]
    del vocabulary
    gc.collect()
    assert not texts._SYMBOLS_CACHE


def test_many_texts_in_blocks(monkeypatch):
    labels = sorted({f"{number:x}" for number in range(500)})
    text_numbers = TextNumbers(("1", "f", "0\n"), "0123456789abcdef", 1, 3)
    whole_numbers = text_numbers.numbers(Vocabulary(labels)).tolist()
    monkeypatch.setattr(texts, "_BLOCK", 7)
    assert text_numbers.numbers(Vocabulary(labels)).tolist() == whole_numbers
    form = text_numbers.form()
    assert whole_numbers == [next(iter(number_texts(form, [label])), -1) for label in labels]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (((), "ab", 1, 5), "What texts may begin with is different"),
        ((("a", "ab"), "ab", 1, 5), "What texts may begin with is different"),
        ((("",), "", 1, 5), "An alphabet is the symbols of texts"),
        ((("",), "aa", 1, 5), "An alphabet is the symbols of texts"),
        ((("",), "a\n", 1, 5), "An alphabet is the symbols of texts"),
        ((("",), "ab", 1, 0), "The longest text has 1 to 1,024 symbols; 0 was given."),
        ((("",), "ab", 40, 5), "A question has up to 2,147,483,648 candidates"),
    ],
)
def test_what_is_refused(arguments, message):
    with pytest.raises(MisuseError, match=f"^{message}"):
        TextNumbers(*arguments)
