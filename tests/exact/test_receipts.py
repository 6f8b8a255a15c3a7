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
    ClippedCounts,
    Kth,
    KthClipped,
    Largest,
    LoadHistogram,
    LocalEngine,
    Sizes,
    Supports,
    Truncation,
)
from discreet.results import Itemsets
from naive import clipping as naive

ITEMS, MAX_BASKETS = 3, 3
SUBSETS = [frozenset(chosen_set) for size in range(ITEMS + 1) for chosen_set in combinations(range(ITEMS), size)]
BASKET = st.sampled_from(SUBSETS)
PERSON = st.lists(BASKET, min_size=1, max_size=MAX_BASKETS)
PEOPLE = st.lists(PERSON, max_size=4)


def column(sets) -> Itemsets:
    rows = [sorted(members) for members in sets]
    return Itemsets(starts([len(row) for row in rows]), np.array(list(chain(*rows)), np.int32))


def engine(people) -> LocalEngine:
    itemsets = column([basket for person in people for basket in person])
    owners = starts([len(person) for person in people])
    return LocalEngine(Baskets(itemsets.offsets, itemsets.codes, Vocabulary(range(ITEMS)), owners=owners))


SINGLE, MIXED = Itemsets.singles(ITEMS), column(SUBSETS[1:])
PAIRS = column([chosen_set for chosen_set in SUBSETS if len(chosen_set) == 2])
QUERIES = [
    BasketCount(),
    BasketsEach((1, 2, 3)),
    Sizes(2),
    Supports(MIXED),
    Supports(MIXED, Truncation(2, 14)),
    Supports(PAIRS, Truncation(2, 15, PAIRS, np.arange(3))),
    *(LoadHistogram(sets, (1, 2, 5), squares) for sets in (SINGLE, MIXED) for squares in (False, True)),
    *(
        ClippedCounts(sets, total, root)
        for sets in (SINGLE, MIXED, column([(0,)]))
        for total in (PARTS, 5 * PARTS // 2, 9 * PARTS)
        for root in (False, True)
    ),
    *(KthClipped(ClippedCounts(MIXED, 2 * PARTS, root), 2) for root in (False, True)),
    Cells(((0, 1), (1, 2))),
    *(Kth(k, 1, 3) for k in (1, 4)),
    *(Largest(2, floor) for floor in (0, 2)),
]
DATABASES = [[], [[SUBSETS[7]] * 3, [SUBSETS[1]]], [[SUBSETS[4], SUBSETS[2]]]]
PERSONS = [[chosen_set] * times for chosen_set in SUBSETS[1:] for times in (1, MAX_BASKETS)] + [
    [SUBSETS[7], SUBSETS[4], SUBSETS[1]],
    [SUBSETS[7], SUBSETS[7], SUBSETS[3]],
    [SUBSETS[1], SUBSETS[2], SUBSETS[3]],
]


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: type(query).__name__)
def test_one_person_moves_the_answer_by_no_more_than_the_query_says(query):
    sensitivity, furthest = query.sensitivity(MAX_BASKETS), np.zeros(3)
    for people in DATABASES:
        before, answers = engine(people).answer(query), []
        for person in PERSONS:
            answers.append(engine([*people, person]).answer(query))
            change = answers[-1] - before
            assert (change >= 0).all()
            moved = change.sum(), (change**2).sum(), change.max()
            assert all(
                movement <= bound
                for movement, bound in zip(
                    moved, (sensitivity.l1, sensitivity.squared_l2, sensitivity.linf), strict=True
                )
            )
            furthest = np.maximum(furthest, moved)
        for movement, other_answer in combinations(answers, 2):
            change = np.abs(movement - other_answer)
            assert change.sum() <= sensitivity.l1_replace
            assert (change**2).sum() <= sensitivity.squared_l2_replace
    if isinstance(query, BasketCount | BasketsEach | Sizes | Cells) or (
        isinstance(query, Supports) and not query.truncation
    ):
        assert furthest.tolist() == [sensitivity.l1, sensitivity.squared_l2, sensitivity.linf]  # no noise is wasted


def test_a_clipped_person_costs_what_one_basket_costs():
    # Thirty baskets of everything are scaled down to what one person may add.
    query = ClippedCounts(MIXED, 4 * PARTS)
    for baskets in (1, 30):
        contribution = engine([[SUBSETS[7]] * baskets]).answer(query)
        assert contribution.sum() <= 4 * PARTS == query.sensitivity(baskets).l1


@given(PEOPLE, st.integers(1, 6 * PARTS), st.booleans())
def test_answers(people, total, root):
    local_engine, sets = engine(people), SUBSETS[1:]
    rows = [basket for person in people for basket in person]
    assert local_engine.answer(BasketCount()).tolist() == [len(rows)]
    basket_counts = [len(person) for person in people]
    assert local_engine.answer(BasketsEach((1, 3))).tolist() == [
        sum(basket_count < 3 for basket_count in basket_counts),
        basket_counts.count(3),
    ]
    assert local_engine.answer(Supports(MIXED)).tolist() == [sum(itemset <= row for row in rows) for itemset in sets]
    for family, plain in ((MIXED, sets), (SINGLE, SUBSETS[1:4])):
        vectors = [[sum(itemset <= basket for basket in person) for itemset in plain] for person in people]
        loads = [sum(times**2 if root else times for times in vector) for vector in vectors]
        bins = local_engine.answer(LoadHistogram(family, (1, 2, 5), root)).tolist()
        assert bins == [sum(low <= load < high for load in loads) for low, high in ((1, 2), (2, 5), (5, 10**9))]
        weights = [naive.weight(load, total, root) for load in loads]
        expected = [sum(w * v[place] for w, v in zip(weights, vectors, strict=True)) for place in range(len(plain))]
        assert local_engine.answer(ClippedCounts(family, total, root)).tolist() == expected


@given(PEOPLE)
def test_mining_counts_baskets(people):
    rows = [basket for person in people for basket in person]
    patterns = discreet.mine(engine(people).baskets, min_count=1)
    assert {pattern.items: pattern.count for pattern in patterns} == {
        subset: count for subset in SUBSETS[1:] if (count := sum(subset <= row for row in rows))
    }
    assert (patterns.people, patterns.unit) == (len(rows), "baskets")


def test_people_are_not_asked_about_once_their_baskets_were_cut():
    # Equal baskets are cut apart by their number, which a person who comes first changes for everybody else.
    people, truncation = (
        [[SUBSETS[7], SUBSETS[7], SUBSETS[7], SUBSETS[4]]] * 2 + [[SUBSETS[7], SUBSETS[1]]],
        Truncation(1, 9),
    )
    for before in ([], [[SUBSETS[7]]]):
        cut_engine = engine([*before, *people]).cut(truncation)
        single = cut_engine.answer(Supports(SINGLE))
        assert single.sum() == len([*before]) + 3 + 3 + 1 + 1 + 1 + 1
        for query in QUERIES:
            if isinstance(query, BasketsEach | LoadHistogram | ClippedCounts | KthClipped):
                with pytest.raises(MisuseError) as caught:
                    cut_engine.answer(query)
                assert str(caught.value) == (
                    f"{type(query).__name__} is about all baskets of a person, and these were cut: whose they are is "
                    "no longer told. Ask before cutting, or about baskets one by one, as Supports does."
                )
            elif not (isinstance(query, Supports) and query.truncation):
                cut_engine.answer(query)
    # Where everyone has one basket, a cut basket is a person's.
    baskets = engine(people).baskets
    engine_of_baskets = LocalEngine(Baskets(baskets.offsets, baskets.codes, baskets.vocabulary))
    assert engine_of_baskets.cut(truncation).answer(LoadHistogram(SINGLE, (1,))).tolist() == [len(baskets)]


def test_scores_have_no_baskets():
    from discreet.publish._ranking import Entries

    with pytest.raises(MisuseError, match="there are no baskets here"):
        Entries((0,), 1, True).sensitivity(2)
