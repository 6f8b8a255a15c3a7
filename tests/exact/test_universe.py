"""The itemsets of a public list: numbered, counted, drawn evenly."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import comb, log2

import pytest
from scipy import stats

from discreet.exact import Universe
from discreet.privacy.sampling import SimulationSource

ALARM = 1e-6


@pytest.mark.parametrize(("items", "min_size", "longest"), [(5, 1, 3), (6, 2, 2), (3, 1, 9), (1, 1, 1), (4, 5, 6)])
def test_every_itemset_has_one_number(items, min_size, longest):
    universe = Universe(items, min_size, longest)
    expected = {itemset for size in range(min_size, longest + 1) for itemset in combinations(range(items), size)}
    numbered = [universe.itemset(number) for number in range(universe.itemset_count)]
    assert len(numbered) == len(expected) == universe.itemset_count
    assert set(numbered) == expected
    with pytest.raises(IndexError):
        universe.itemset(universe.itemset_count)


@pytest.mark.parametrize(("items", "length"), [(7, 3), (500, 2), (9, 9), (40, 1), (200, 3)])
def test_codes_are_found_the_same_by_both_ways(items, length, monkeypatch):
    numbers = range(0, comb(items, length), max(1, comb(items, length) // 97))
    numberings = []
    for dense_limit in (0, 10**9):
        monkeypatch.setattr("discreet.exact._universe._MAX_DENSE_RATIO", dense_limit)
        numberings.append([Universe(items, length, length).itemset(number) for number in numbers])
    assert numberings[0] == numberings[1]


@pytest.mark.parametrize(
    ("items", "min_size", "longest"), [(5, 1, 3), (6, 2, 2), (3, 1, 9), (1, 1, 1), (4, 5, 6), (0, 1, 1)]
)
def test_how_many_there_are_up_to_a_bound(items, min_size, longest):
    universe = Universe(items, min_size, longest)
    assert [universe.up_to(bound) for bound in range(40)] == [min(bound, universe.itemset_count) for bound in range(40)]
    sizes = [comb(items, size) for size in range(min_size, min(items, longest) + 1)]
    assert universe.bits == pytest.approx(log2(max(sizes, default=1)), abs=1e-9)


def test_a_universe_nobody_could_count():
    universe = Universe(2**30, 1, 10**9)
    assert universe.up_to(100_000) == 100_000
    assert universe.bits > 10**9


def test_a_universe_nobody_could_list():
    universe = Universe(41_270, 3, 3)
    assert universe.itemset_count == comb(41_270, 3)
    assert universe.itemset(universe.itemset_count - 1) == (41_267, 41_268, 41_269)
    assert universe.itemset(0) == (0, 1, 2)
    drawn_itemsets = universe.others([(0, 1, 2)], 50, SimulationSource(3).below)
    assert len(set(drawn_itemsets)) == 50
    assert all(a < b < c < 41_270 for a, b, c in drawn_itemsets)


@pytest.mark.parametrize("few_limit", [0, 10**6])
def test_others_are_even_and_never_listed(few_limit, monkeypatch):
    monkeypatch.setattr("discreet.exact._universe._MAX_ENUMERATED", few_limit)
    source = SimulationSource(11)
    universe = Universe(4, 1, 2)
    listed_itemsets = [(0,), (1, 2)]
    draws = Counter(itemset for _ in range(4000) for itemset in universe.others(listed_itemsets, 2, source.below))
    assert not set(listed_itemsets) & set(draws)
    assert len(draws) == 8
    # False alarm: once in a million.
    assert stats.chisquare(list(draws.values())).pvalue > ALARM


def test_all_that_is_left_can_be_drawn():
    universe = Universe(3, 1, 2)
    assert sorted(universe.others([(0,)], 5, SimulationSource(1).below)) == [(0, 1), (0, 2), (1,), (1, 2), (2,)]
