"""Sets in which no item stands above another: counted, numbered and drawn, against writing all of them down."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, strategies as st
from scipy import stats

from discreet.baskets import Lineage
from discreet.exact import Universe
from discreet.exact._universe import Forest
from discreet.privacy.sampling import SimulationSource
from naive import lineage as naive
from strategies import forests

ALARM = 1e-6


def build_lineage(parents) -> Lineage:
    return Lineage(np.array(parents, np.int32))


@given(forests(8), st.integers(1, 9))
def test_every_antichain_has_one_number(parents, longest):
    forest = Forest(build_lineage(parents), longest)
    for size, antichain_count in enumerate(forest.sizes):
        expected = {tuple(sorted(antichain)) for antichain in naive.antichains(parents, size, size)}
        assert antichain_count == len(expected)
        assert {forest.itemset(number, size) for number in range(antichain_count)} == expected
    assert not naive.antichains(parents, len(forest.sizes), longest)


@given(forests(8, min_count=1), st.integers(1, 3), st.integers(0, 5), st.integers(0, 60))
def test_universe(parents, min_size, further_sizes, bound):
    universe = Universe(len(parents), min_size, min_size + further_sizes, build_lineage(parents))
    expected = {tuple(sorted(antichain)) for antichain in naive.antichains(parents, min_size, min_size + further_sizes)}
    assert universe.itemset_count == len(expected)
    assert {universe.itemset(number) for number in range(universe.itemset_count)} == expected
    assert universe.up_to(bound) == min(bound, len(expected))
    # A bound: of a length there are no more antichains than sets.
    assert 2**universe.bits >= max(universe.sizes, default=0) * (1 - 1e-9)


def test_others_are_drawn_evenly():
    parents = [-1, 0, 0, -1, 3, -1]
    universe = Universe(6, 1, 2, build_lineage(parents))
    listed_sets = {(1, 2), (5,)}
    expected = {tuple(sorted(antichain)) for antichain in naive.antichains(parents, 1, 2)} - listed_sets
    source = SimulationSource(3)
    draws = Counter(universe.others(listed_sets, 1, source.below)[0] for _ in range(6_000))
    assert set(draws) == expected
    assert stats.chisquare([draws[antichain] for antichain in sorted(expected)]).pvalue > ALARM


def test_a_large_shop_is_counted_without_writing_it_down():
    """4,000 products in 40 categories in 4 departments: pairs, by what is left out of all of them."""
    parents = [-1] * 4 + [place // 10 for place in range(40)] + [4 + place // 100 for place in range(4_000)]
    universe = Universe(len(parents), 2, 2, build_lineage(parents))
    mixed = 40 + 2 * 4_000  # each category with its department, each product with both above it
    assert universe.itemset_count == len(parents) * (len(parents) - 1) // 2 - mixed
    source = SimulationSource(1)
    for antichain in universe.others(set(), 50, source.below):
        assert naive.are_unrelated(parents, frozenset(antichain))
