"""Queries over people with several baskets: answers against plain Python, and their sensitivity by brute force."""

# internals: this module compares a query with the query of a ranking.
from __future__ import annotations

from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import discreet
from discreet import Baskets, MisuseError, Vocabulary
from discreet.baskets import starts
from discreet.exact import (
    PARTS,
    BasketCount,
    BasketsEach,
    Cells,
    Clipped,
    Held,
    Kth,
    KthClipped,
    Largest,
    LocalEngine,
    Sizes,
    Supports,
    Truncation,
)
from discreet.results import Itemsets
from naive import clipping as naive

ITEMS, MOST = 3, 3
SUBSETS = [frozenset(one) for size in range(ITEMS + 1) for one in combinations(range(ITEMS), size)]
BASKET = st.sampled_from(SUBSETS)
PERSON = st.lists(BASKET, min_size=1, max_size=MOST)
PEOPLE = st.lists(PERSON, max_size=4)


def column(sets) -> Itemsets:
    rows = [sorted(one) for one in sets]
    return Itemsets(starts([len(row) for row in rows]), np.array(list(chain(*rows)), np.int32))


def engine(people) -> LocalEngine:
    held = column([basket for person in people for basket in person])
    owners = starts([len(person) for person in people])
    return LocalEngine(Baskets(held.offsets, held.codes, Vocabulary(range(ITEMS)), owners=owners))


SINGLE, MIXED = Itemsets.singles(ITEMS), column(SUBSETS[1:])
PAIRS = column([one for one in SUBSETS if len(one) == 2])
QUERIES = [
    BasketCount(),
    BasketsEach((1, 2, 3)),
    Sizes(2),
    Supports(MIXED),
    Supports(MIXED, Truncation(2, 14)),
    Supports(PAIRS, Truncation(2, 15, PAIRS, np.arange(3))),
    *(Held(sets, (1, 2, 5), squares) for sets in (SINGLE, MIXED) for squares in (False, True)),
    *(
        Clipped(sets, total, root)
        for sets in (SINGLE, MIXED, column([(0,)]))
        for total in (PARTS, 5 * PARTS // 2, 9 * PARTS)
        for root in (False, True)
    ),
    *(KthClipped(Clipped(MIXED, 2 * PARTS, root), 2) for root in (False, True)),
    Cells(((0, 1), (1, 2))),
    *(Kth(k, 1, 3) for k in (1, 4)),
    *(Largest(2, floor) for floor in (0, 2)),
]
SOME = [[], [[SUBSETS[7]] * 3, [SUBSETS[1]]], [[SUBSETS[4], SUBSETS[2]]]]
PERSONS = [[one] * times for one in SUBSETS[1:] for times in (1, MOST)] + [
    [SUBSETS[7], SUBSETS[4], SUBSETS[1]],
    [SUBSETS[7], SUBSETS[7], SUBSETS[3]],
    [SUBSETS[1], SUBSETS[2], SUBSETS[3]],
]


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: type(query).__name__)
def test_one_person_moves_the_answer_by_no_more_than_the_query_says(query):
    said, furthest = query.sensitivity(MOST), np.zeros(3)
    for people in SOME:
        before, answers = engine(people).answer(query), []
        for person in PERSONS:
            answers.append(engine([*people, person]).answer(query))
            change = answers[-1] - before
            assert (change >= 0).all()
            moved = change.sum(), (change**2).sum(), change.max()
            assert all(one <= most for one, most in zip(moved, (said.l1, said.squared_l2, said.linf), strict=True))
            furthest = np.maximum(furthest, moved)
        for one, other in combinations(answers, 2):
            change = np.abs(one - other)
            assert change.sum() <= said.l1_replace
            assert (change**2).sum() <= said.squared_l2_replace
    if isinstance(query, BasketCount | BasketsEach | Sizes | Cells) or (
        isinstance(query, Supports) and not query.truncation
    ):
        assert furthest.tolist() == [said.l1, said.squared_l2, said.linf]  # no noise is wasted


def test_a_clipped_person_costs_what_one_basket_costs():
    # Thirty baskets of everything are scaled down to what one person may add.
    query = Clipped(MIXED, 4 * PARTS)
    for baskets in (1, 30):
        added = engine([[SUBSETS[7]] * baskets]).answer(query)
        assert added.sum() <= 4 * PARTS == query.sensitivity(baskets).l1


@given(PEOPLE, st.integers(1, 6 * PARTS), st.booleans())
def test_answers(people, total, root):
    asked, sets = engine(people), SUBSETS[1:]
    rows = [basket for person in people for basket in person]
    assert asked.answer(BasketCount()).tolist() == [len(rows)]
    each = [len(person) for person in people]
    assert asked.answer(BasketsEach((1, 3))).tolist() == [sum(many < 3 for many in each), each.count(3)]
    assert asked.answer(Supports(MIXED)).tolist() == [sum(one <= row for row in rows) for one in sets]
    for family, plain in ((MIXED, sets), (SINGLE, SUBSETS[1:4])):
        vectors = [[sum(one <= basket for basket in person) for one in plain] for person in people]
        loads = [sum(times**2 if root else times for times in vector) for vector in vectors]
        found = asked.answer(Held(family, (1, 2, 5), root)).tolist()
        assert found == [sum(low <= load < high for load in loads) for low, high in ((1, 2), (2, 5), (5, 10**9))]
        weights = [naive.weight(load, total, root) for load in loads]
        expected = [sum(w * v[place] for w, v in zip(weights, vectors, strict=True)) for place in range(len(plain))]
        assert asked.answer(Clipped(family, total, root)).tolist() == expected


@given(PEOPLE)
def test_mining_counts_baskets(people):
    rows = [basket for person in people for basket in person]
    found = discreet.mine(engine(people).baskets, min_count=1)
    assert {pattern.items: pattern.count for pattern in found} == {
        one: count for one in SUBSETS[1:] if (count := sum(one <= row for row in rows))
    }
    assert (found.people, found.unit) == (len(rows), "baskets")


def test_people_are_not_asked_about_once_their_baskets_were_cut():
    # Equal baskets are cut apart by their number, which a person who comes first changes for everybody else.
    people, cut = [[SUBSETS[7], SUBSETS[7], SUBSETS[7], SUBSETS[4]]] * 2 + [[SUBSETS[7], SUBSETS[1]]], Truncation(1, 9)
    for before in ([], [[SUBSETS[7]]]):
        asked = engine([*before, *people]).cut(cut)
        single = asked.answer(Supports(SINGLE))
        assert single.sum() == len([*before]) + 3 + 3 + 1 + 1 + 1 + 1
        for query in QUERIES:
            if isinstance(query, BasketsEach | Held | Clipped | KthClipped):
                with pytest.raises(MisuseError) as caught:
                    asked.answer(query)
                assert str(caught.value) == (
                    f"{type(query).__name__} is about all baskets of a person, and these were cut: whose they are is "
                    "no longer told. Ask before cutting, or about baskets one by one, as Supports does."
                )
            elif not (isinstance(query, Supports) and query.truncation):
                asked.answer(query)
    # Where everyone has one basket, a cut basket is a person's.
    held = engine(people).baskets
    alone = LocalEngine(Baskets(held.offsets, held.codes, held.vocabulary))
    assert alone.cut(cut).answer(Held(SINGLE, (1,))).tolist() == [len(held)]


def test_scores_have_no_baskets():
    from discreet.publish._ranking import Entries

    with pytest.raises(MisuseError, match="there are no baskets here"):
        Entries((0,), 1, True).sensitivity(2)
