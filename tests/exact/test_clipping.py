"""The queries of clipped counting: what one basket adds, and what the engine answers."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest
from hypothesis import given, strategies as st

import strategies
from discreet import Baskets, MisuseError, Vocabulary
from discreet.baskets import starts
from discreet.exact import PARTS, ClippedCounts, LoadHistogram, LocalEngine, Supports
from discreet.results import Itemsets
from naive import clipping as naive

ITEMS = 6
SUBSETS = strategies.subsets(ITEMS, 1, 3)
BASKET = st.frozensets(st.integers(0, ITEMS - 1))
FAMILY = st.lists(st.sampled_from(SUBSETS), min_size=1, max_size=40, unique=True)
TOTAL = st.one_of(st.integers(1, 60 * PARTS), st.sampled_from([1, PARTS - 1, PARTS, PARTS + 1, 3 * PARTS // 2]))


def column(sets) -> Itemsets:
    rows = [sorted(members) for members in sets]
    return Itemsets(starts([len(row) for row in rows]), np.array(list(chain(*rows)), np.int32))


def engine(people) -> LocalEngine:
    itemsets = column(people)
    return LocalEngine(Baskets(itemsets.offsets, itemsets.codes, Vocabulary(range(ITEMS))))


@given(BASKET, FAMILY, TOTAL, st.booleans())
def test_what_one_basket_adds_is_bounded(basket, family, total, root):
    query = ClippedCounts(column(family), total, root)
    contribution = engine([basket]).answer(query)
    assert (contribution >= 0).all()
    assert int(contribution.sum()) <= query.sensitivity().l1
    assert int((contribution**2).sum()) <= query.sensitivity().squared_l2


@given(st.integers(1, 400), TOTAL, st.booleans())
def test_weights_are_the_largest_that_fit(count, total, root):
    query = ClippedCounts(column([(0,)] * count), total, root)
    weights = query.weights(np.arange(count + 1)).tolist()
    for held_count in {1, 2, 3, count // 2 + 1, count}:
        if held_count <= count:
            assert weights[held_count] == naive.weight(held_count, total, root)
            assert held_count * weights[held_count] <= query.sensitivity().l1
            assert held_count * weights[held_count] ** 2 <= query.sensitivity().squared_l2 <= PARTS * total


def test_nearest_in_place_of_down_would_be_more_than_is_paid_for():
    # What rounding down is for: 2000 members at a total of 1000 parts would add a part each, 2000 in all.
    query = ClippedCounts(column([(0,)] * 2_000), 1_000)
    assert 2_000 * round(1_000 / 2_000 + 1e-9) > query.sensitivity().l1
    assert query.weights(np.array([2_000])).tolist() == [0]


@given(st.lists(BASKET, max_size=7), BASKET, FAMILY, TOTAL, st.booleans())
def test_what_a_basket_adds_depends_on_no_other(people, further_people, family, total, root):
    sets = column(family)
    for query in (ClippedCounts(sets, total, root), LoadHistogram(sets, (1, 2, 5))):
        change = engine([*people, further_people]).answer(query) - engine(people).answer(query)
        assert change.tolist() == engine([further_people]).answer(query).tolist()
        assert engine(people[::-1]).answer(query).tolist() == engine(people).answer(query).tolist()


@given(st.lists(BASKET, max_size=7), FAMILY, TOTAL, st.booleans())
def test_answers(people, family, total, root):
    sets, local_engine = column(family), engine(people)
    held_counts = [naive.count_held(basket, family) for basket in people]
    assert local_engine.answer(LoadHistogram(sets, (1, 3))).tolist() == [
        held_counts.count(1) + held_counts.count(2),
        sum(r > 2 for r in held_counts),
    ]
    weights = [naive.weight(held_count, total, root) for held_count in held_counts]
    assert local_engine.answer(ClippedCounts(sets, total, root)).tolist() == naive.sums(people, family, weights)
    clipped_query = ClippedCounts(sets, PARTS * len(family), root)
    assert local_engine.answer(clipped_query).tolist() == (PARTS * local_engine.answer(Supports(sets))).tolist()
    assert clipped_query.sensitivity().l1 == PARTS * len(family)
    assert (clipped_query.cells, LoadHistogram(sets, (1, 3)).cells, LoadHistogram(sets, (1, 3)).sensitivity().l1) == (
        len(family),
        2,
        1,
    )


@given(st.lists(BASKET, max_size=7), TOTAL, st.booleans())
def test_all_items_are_counted_as_any_other_family(people, total, root):
    # Single items in the order of their codes need no trees; in any other order they are walked as all families are.
    local_engine, order = engine(people), list(range(ITEMS))[::-1]
    plain, turned = Itemsets.singles(ITEMS), column([(item,) for item in order])
    expected = local_engine.answer(ClippedCounts(turned, total, root))[::-1]
    assert local_engine.answer(ClippedCounts(plain, total, root)).tolist() == expected.tolist()
    assert (
        local_engine.answer(LoadHistogram(plain, (1, 3))).tolist()
        == local_engine.answer(LoadHistogram(turned, (1, 3))).tolist()
    )


def test_members_that_nobody_holds_are_answered_too():
    local_engine = engine([{0, 1}] * 3)
    sets = column([{0}, {5}, {4, 5}, {0, 5}])
    assert local_engine.answer(ClippedCounts(sets, PARTS)).tolist() == [3 * PARTS, 0, 0, 0]
    assert local_engine.answer(LoadHistogram(sets, (1, 2, 3, 4))).tolist() == [3, 0, 0, 0]
    assert engine([]).answer(ClippedCounts(sets, PARTS)).tolist() == [0] * 4


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ClippedCounts(column([{0}]), 0), "A basket adds at least 1 part in all; 0 was given."),
        (lambda: LoadHistogram(column([{0}]), ()), "The edges of bins rise from 1 or more; [] were given."),
        (lambda: LoadHistogram(column([{0}]), (0, 1)), "The edges of bins rise from 1 or more; [0, 1] were given."),
        (
            lambda: LoadHistogram(column([{0}]), (1, 3, 3)),
            "The edges of bins rise from 1 or more; [1, 3, 3] were given.",
        ),
    ],
)
def test_misuse(make, message):
    with pytest.raises(MisuseError) as caught:
        make()
    assert str(caught.value) == message
