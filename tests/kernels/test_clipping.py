"""Walking a family's trees, against sets."""

# internals: this module hands kernels the arrays that the engine makes.
from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, strategies as st

import strategies
from discreet.baskets import starts
from discreet.exact import RowLayout
from discreet.exact._clipping import Family, count_bins
from discreet.kernels import add_weights, count_members, load_people, plant
from discreet.results import Itemsets
from naive import clipping as naive

ITEMS = 7
BASKETS = strategies.rows(ITEMS, 8)
ITEMSET = st.lists(st.integers(0, ITEMS - 1), min_size=1, max_size=4, unique=True).map(sorted)
# Also itemsets that are there twice, and families without a held member.
FAMILY = st.lists(ITEMSET, min_size=1, max_size=9)


def column(rows) -> Itemsets:
    return Itemsets(starts([len(row) for row in rows]), np.array([code for row in rows for code in row], np.int32))


@given(BASKETS, FAMILY, st.randoms(use_true_random=False))
def test_kernels(baskets, family, random):
    rows, sets = column(baskets), column(family)
    # Any order will do that puts first items in order and common beginnings together.
    order = np.array(sorted(range(len(family)), key=lambda place: family[place]), np.int64)
    heads = np.empty(ITEMS + 1, np.int64)
    items, ends, members = (np.empty(len(sets.codes), np.int32) for _ in range(3))
    plant(sets.offsets, sets.codes.copy(), order, heads, items, ends, members)
    assert heads[-1] <= len(sets.codes)
    assert sorted(members[: heads[-1]][members[: heads[-1]] >= 0].tolist()) == list(range(len(family)))
    member_counts = np.full(len(baskets), -1, np.int32)
    middle = random.randint(0, len(baskets))
    weights = np.array([random.randint(0, 2**10) for _ in baskets], np.int32)
    counts = np.zeros(len(family), np.int64)
    trees = (heads, items, ends, members)
    for first_row, last_row in ((0, middle), (middle, len(baskets))):
        count_members(rows.offsets, rows.codes, first_row, last_row, *trees, member_counts)
        add_weights(rows.offsets, rows.codes, first_row, last_row, *trees, weights, counts)
    assert member_counts.tolist() == [naive.count_held(basket, family) for basket in baskets]
    assert counts.tolist() == naive.sums(baskets, family, weights.tolist())
    cuts = sorted({0, len(baskets), *(random.randint(0, len(baskets)) for _ in range(3))})
    loads = np.full(len(cuts) - 1, -1, np.int64)
    for first_row, last_row in ((0, len(loads) // 2), (len(loads) // 2, len(loads))):
        load_people(np.array(cuts), rows.offsets, rows.codes, first_row, last_row, *trees, len(family), loads)
    assert loads.tolist() == [naive.squares(baskets[low:high], family) for low, high in pairwise(cuts)]


@given(BASKETS, FAMILY)
def test_a_family_lays_itself_out(baskets, family):
    rows = column(baskets)
    laid = Family(RowLayout.plain(rows.offsets, rows.codes, ITEMS), None, column(family), squares=True)
    member_counts = [naive.count_held(basket, family) for basket in baskets]
    assert laid.loads.tolist() == member_counts
    assert count_bins((1, 2, 4), laid.loads).tolist() == [
        member_counts.count(1),
        member_counts.count(2) + member_counts.count(3),
        sum(r > 3 for r in member_counts),
    ]
    weights = [7**member_count for member_count in member_counts]
    assert laid.sums(lambda loads: (7**loads).astype(np.int32)).tolist() == naive.sums(baskets, family, weights)
