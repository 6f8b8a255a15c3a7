"""What is kept of rows between questions: right whatever was asked before, and never too large."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest
from hypothesis import given, strategies as st

import strategies
from discreet.baskets import starts
from discreet.exact import RowLayout, _rows as layout
from discreet.exact._rows import largest, shrink_ranks

ITEMS = 9
baskets_of = strategies.baskets(ITEMS, 150)


def laid(people, ahead=0) -> RowLayout:
    ordered = [sorted(basket) for basket in people]
    return RowLayout.plain(starts(list(map(len, ordered))), np.array(list(chain(*ordered)), np.int32), ITEMS, ahead)


def bits(people, code) -> int:
    return sum(1 << number for number, basket in enumerate(people) if code in basket)


def check(rows, people, requested_codes) -> None:
    bitmaps, places = rows.columns.find(np.array(requested_codes, np.int32))
    for code, place in zip(requested_codes, places, strict=True):
        assert sum(int(word) << 64 * position for position, word in enumerate(bitmaps[place])) == bits(people, code)


@given(
    baskets_of,
    st.integers(0, ITEMS + 2),
    st.lists(st.lists(st.integers(0, ITEMS - 1), min_size=1), min_size=1, max_size=4),
)
def test_columns_whatever_was_asked_before(people, ahead, questions):
    rows = laid(people, ahead)
    for requested_codes in questions:
        check(rows, people, requested_codes)


@given(baskets_of)
def test_counts_and_frequent_items(people):
    rows = laid(people)
    holder_counts = [sum(code in basket for basket in people) for code in range(ITEMS)]
    assert rows.item_counts.tolist() == holder_counts
    expected = sorted(
        (code for code in range(ITEMS) if holder_counts[code] >= 2), key=lambda code: (-holder_counts[code], code)
    )
    assert rows.frequent(2).tolist() == expected


def test_columns_that_would_not_fit_are_let_go(monkeypatch):
    people = [frozenset({number % 3, 3 + number % 5}) for number in range(640)]
    rows = laid(people, ahead=100)
    # A column takes 80 bytes, the rows 640 * (4 * 2 + 8): at that times 1/32, four columns fit, and none ahead.
    monkeypatch.setattr(layout, "_MAX_MEMORY_FACTOR", 1 / 32)
    monkeypatch.setattr(layout, "_FREE_BYTES", 0)
    assert rows.columns.fit(4)
    assert not rows.columns.fit(5)
    for requested_codes in ([0, 1], [2], [3, 4], [0, 5, 6], [4, 0]):
        check(rows, people, requested_codes)
        assert len(rows.columns.find(np.array(requested_codes, np.int32))[0]) <= 4


def test_the_most_frequent_come_with_the_first():
    people = [frozenset({0, 1})] * 9 + [frozenset({1, 2})] * 5 + [frozenset({4})]
    rows = laid(people, ahead=2)
    assert len(rows.columns.find(np.array([4], np.int32))[0]) == 3
    assert rows.columns.find(np.array([1, 0, 4], np.int32))[1].tolist() == [0, 1, 2]


@pytest.mark.parametrize(("rank", "expected"), [(1, 7), (2, 7), (3, 4), (5, 0), (6, 0), (0, 0)])
def test_largest(rank, expected):
    assert largest(np.array([4, 0, 7, 2, 7]), rank) == expected


def test_ranks_take_two_bytes_where_they_fit():
    for ranks, size in ((2**15 - 1, 2), (2**15, 4), (40_000, 4)):
        short_ranks = shrink_ranks(np.arange(ranks, dtype=np.int32), ranks)
        assert short_ranks.itemsize == size
        assert short_ranks[-1] == ranks - 1
