"""Candidates of a question in baskets, against sets."""

from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

import strategies
from csr import csr
from discreet.kernels import (
    count_below,
    count_held,
    count_numbered,
    find_prefixes,
    gather_rows,
    list_held,
    list_numbered,
    sum_rows,
)
from naive import membership as naive

ITEMS = 7
BASKETS = strategies.rows(ITEMS, 6, min_count=1)
ITEMSET = st.lists(st.integers(0, ITEMS - 1), min_size=1, max_size=3, unique=True).map(sorted).map(tuple)
ITEMSETS = st.lists(ITEMSET, max_size=6, unique=True)


@given(BASKETS, ITEMSETS, st.randoms(use_true_random=False))
def test_itemsets(baskets, itemsets, random):
    people = [random.randrange(len(baskets)) for _ in range(4)]
    chosen_sets = [random.choice(itemset) for itemset in itemsets]  # any item will do as the anchor
    anchored = sorted(range(len(itemsets)), key=lambda place: chosen_sets[place])
    anchors = np.cumsum([0, *(chosen_sets.count(item) for item in range(ITEMS))])
    other_items = [
        [item for item in itemset if item != anchor] for itemset, anchor in zip(itemsets, chosen_sets, strict=True)
    ]
    bounds, other_codes = csr(other_items)
    marks = np.zeros(ITEMS, np.uint8)
    looked_up = (
        *csr(baskets), np.array(people), anchors.astype(np.int64), np.array(anchored, np.int64), bounds.copy(),
        other_codes.astype(np.int64), marks,
    )  # fmt: skip
    sizes = np.full(len(people), 9, np.int64)
    count_held(*looked_up, sizes)
    starts = np.cumsum([0, *sizes])
    gathered = np.empty(starts[-1], np.int32)
    list_held(*looked_up, starts, gathered)
    truth = [naive.list_held(baskets[person], itemsets) for person in people]
    assert [gathered[starts[row] : starts[row + 1]].tolist() for row in range(len(people))] == truth
    assert not marks.any()


@given(BASKETS, st.lists(st.integers(-1, 4), min_size=ITEMS, max_size=ITEMS))
def test_items_by_a_table(baskets, table):
    people = np.arange(len(baskets))[::-1].copy()
    rows = (*csr(baskets), people, np.array(table, np.int32), np.empty(ITEMS, np.int32))
    sizes = np.empty(len(people), np.int64)
    count_numbered(*rows, sizes)
    starts = np.cumsum([0, *sizes])
    gathered = np.empty(starts[-1], np.int32)
    list_numbered(*rows, starts, gathered)
    truth = [naive.numbered(baskets[person], table) for person in people]
    assert [gathered[starts[row] : starts[row + 1]].tolist() for row in range(len(people))] == truth


@given(BASKETS, st.integers(1, ITEMS + 2))
def test_items_below(baskets, bound):
    people = np.arange(len(baskets))[::-1].copy()
    offsets, codes = csr(baskets)
    sizes = np.empty(len(people), np.int64)
    count_below(offsets, codes, people, bound, sizes)
    starts = np.cumsum([0, *sizes])
    gathered = np.empty(starts[-1], np.int32)
    gather_rows(offsets, codes, people, starts, gathered)
    assert gathered.tolist() == [item for person in people for item in baskets[person] if item < bound]


@given(
    BASKETS, st.permutations(range(ITEMS)), st.integers(1, 3), st.integers(2, ITEMS), st.randoms(use_true_random=False)
)
def test_prefixes(baskets, order, length, ranked_items, random):
    from discreet.local.study import PrefixQuestion

    order = tuple(order[:ranked_items])
    chosen_people = {
        tuple(sorted(random.sample(order, length), key=order.index)) for _ in range(4) if length <= len(order)
    }  # fmt: skip
    prefixes = sorted(chosen_people) or [order[:1]]
    length = len(prefixes[0])
    question = PrefixQuestion(order=order, prefixes=tuple(prefixes), length=length)
    keys, children = question._tree
    ranks = np.array([order.index(item) if item in order else -1 for item in range(ITEMS)])
    output = np.empty(len(baskets), np.int64)
    people = np.arange(len(baskets))
    find_prefixes(*csr(baskets), people, ranks, length, len(order), keys, children, len(prefixes), output)
    assert output.tolist() == [naive.prefix(basket, order, prefixes, length) for basket in baskets]


@given(BASKETS, st.lists(st.integers(-5, 2**40), min_size=ITEMS, max_size=ITEMS))
def test_sums(baskets, worth):
    people = np.arange(len(baskets))[::-1].copy()
    output = np.empty(len(people), np.int64)
    sum_rows(*csr(baskets), people, np.array(worth, np.int64), output)
    assert output.tolist() == [naive.total(baskets[person], worth) for person in people]
