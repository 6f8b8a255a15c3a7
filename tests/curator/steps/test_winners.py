"""Patterns that were chosen before are counted in the best way, and their intervals hold for all data."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from discreet.curator import Problem
from discreet.curator.steps import Histogram, _winners as winners, count_clipped, measure_histogram
from discreet.curator.steps._clipped_counting import (
    COARSE_BINS,
    bound_noise_sum,
    bound_people_beyond,
    choose_interval_total,
    list_edges,
)
from discreet.exact import PARTS, ClippedCounts, Supports
from discreet.privacy import Budget, Meter, Neighbours, Noisy, unsealed
from discreet.privacy.sampling import SimulationSource
from discreet.results import Itemsets
from naive import watching

ITEMS = 6
few_examples = settings(max_examples=60, derandomize=True, deadline=None)


def meter(epsilon=1, delta=0, seed=1) -> Meter:
    return Meter(Budget.of(epsilon, delta), Neighbours.ADD_REMOVE, SimulationSource(seed))


def make_problem(people: int, item_count: int = ITEMS) -> Problem:
    return Problem(top=3, min_length=1, max_length=item_count, item_count=item_count, people=people)


class TestHowItIsCounted:
    def test_a_few_large_counts_by_cells(self):
        # Nine single items: groups of three have less noise than each by itself.
        crowd = watching.engine([{item} for item in range(9) for _ in range(5_000)], 9)
        counted_family = winners.count_shown(
            "x", crowd, meter(), make_problem(45_000, 9), Itemsets.singles(9), Fraction(1), 5_000.0
        )
        assert counted_family.method_note == winners.CELL_SUMS_NOTE
        assert np.abs(counted_family.estimates - 5_000).max() < 100

    def test_one_by_itself(self):
        counted_family = winners.count_shown(
            "x",
            watching.engine([{0}] * 900, ITEMS),
            meter(),
            make_problem(900),
            Itemsets.of([(0,)]),
            Fraction(1),
            900.0,
        )
        assert counted_family.method_note in (winners.SINGLE_COUNTS_NOTE, winners.CELL_SUMS_NOTE)
        assert counted_family.estimates[0] == pytest.approx(900, abs=20)

    def test_many_small_counts_clipped(self):
        # Everyone holds one of 300 items: clipping takes nothing away, and 300 counts cost the noise of a few.
        crowd = watching.engine([{item} for item in range(300) for _ in range(100)], 300)
        spent_meter, problem = meter(), make_problem(30_000, 300)
        counted_family = winners.count_shown(
            "x", crowd, spent_meter, problem, Itemsets.singles(300), Fraction(1), 100.0
        )
        assert counted_family.method_note == winners.CLIPPED_NOTE
        assert sum(charge.epsilon for charge in spent_meter.charges) == 1
        assert np.median(counted_family.high - counted_family.low) < 300

    @pytest.mark.parametrize("delta", [0, "1e-6"])
    def test_all_of_the_share_is_spent(self, delta):
        for family in (Itemsets.singles(ITEMS), Itemsets.of([(0, 1), (0, 1, 2), (3,)])):
            spent_meter = meter(delta=delta)
            winners.count_shown(
                "x", watching.engine([{0, 1}] * 30, ITEMS), spent_meter, make_problem(30), family, Fraction(1), 9.0
            )
            assert spent_meter.left == 0

    def test_bases_hold_every_pattern(self):
        names = [(0,), (1, 2), (0, 3, 4), (1, 2, 5), (2, 4)]
        bases = winners.cover_patterns(Itemsets.of(names))
        assert all(any(set(name) <= set(basis) for basis in bases) for name in names)
        assert winners.cover_patterns(Itemsets.singles(1_001)) == []
        assert winners.cover_patterns(Itemsets.of([tuple(range(13))])) == []


def true_tails(people, family, edges):
    held_counts = [sum(set(itemset) <= basket for itemset in family.tuples()) for basket in people]
    return np.array([float(sum(held_count >= edge for held_count in held_counts)) for edge in edges])


class TestTheMostThatCanHoldIt:
    @few_examples
    @given(
        people=st.lists(st.frozensets(st.integers(0, ITEMS - 1)), max_size=25),
        total=st.integers(PARTS, 4 * PARTS),
        root=st.booleans(),
    )
    def test_no_count_is_over_it(self, people, total, root):
        # Without noise: however people are made up, a clipped sum and the histogram bound the count from both sides.
        family = Itemsets.of([(item,) for item in range(ITEMS)] + list(combinations(range(3), 2)))
        query = ClippedCounts(family, total, root)
        crowd = unsealed(watching.engine(people, ITEMS))
        sums, counts = crowd.answer(query) / PARTS, crowd.answer(Supports(family))
        edges = list_edges(len(family))
        max_counts = Histogram.of(
            edges, np.zeros(len(edges)), len(family), true_tails(people, family, edges)
        ).bound_counts(sums, query)
        assert (counts <= max_counts + 1e-9).all()
        assert (sums <= counts + 1e-9).all()

    def test_bulk_buyers(self):
        # Ten people hold everything, and each adds a sixth of a person: the sum of 20 parts may be all of them.
        query = ClippedCounts(Itemsets.singles(ITEMS), PARTS, False)
        edges = list_edges(ITEMS, COARSE_BINS)
        histogram = Histogram.of(edges, np.zeros(len(edges)), ITEMS, np.array([110.0, 10, 10, 10, 10][: len(edges)]))
        weight = int(query.weights(np.array([ITEMS]))[0]) / PARTS
        assert histogram.bound_counts(np.array([10 * weight, 5 * weight, 0.0]), query) == pytest.approx([10, 5, 0])


def test_who_holds_too_many_to_add_anything():
    # Of more than 1,024 members clipped to one person nothing is left: such people are in no sum, and may hold all.
    query = ClippedCounts(Itemsets.singles(1_100), PARTS, False)
    assert query.weights(np.array([1_100])).tolist() == [0]
    edges = list_edges(1_100)
    histogram = Histogram.of(edges, np.zeros(len(edges)), 1_100, np.full(len(edges), 1_000.0))
    assert histogram.bound_counts(np.array([0.0, 5.0]), query).tolist() == [1_000.0, 1_005.0]


LAWS = [Noisy(np.zeros(1), Fraction(7), Fraction(98)), Noisy(np.zeros(1), None, Fraction(50))]


@pytest.mark.parametrize("noisy", LAWS)
def test_sums_of_noise_are_seldom_over_their_margin(noisy):
    # The margin is that of one in a hundred: 71 of 4,000 sums are over it once in a thousand tries. The seed is fixed.
    generator = np.random.default_rng(5)
    for terms in (1, 4, 20):
        size = (4_000, terms)
        noise = generator.laplace(0, 7, size) if noisy.scale else generator.normal(0, noisy.deviation, size)
        margin = bound_noise_sum(noisy, np.array([terms]), 0.01)[0]
        assert (noise.sum(axis=1) > margin).sum() <= 71
        assert margin < 5 * noisy.deviation * terms**0.5


def test_tails_never_rise():
    tails = bound_people_beyond(Noisy(np.array([50, -9, 30, 2]), Fraction(1), Fraction(2)))
    assert (np.diff(tails) <= 0).all()
    assert (tails >= 0).all()


# Data on which an average correction goes wrong: who holds many members holds what nobody else does.
CROWDS = {
    "bulk buyers": [set(range(20))] * 60 + [{20 + item} for item in range(20) for _ in range(70)],
    "all alike": [set(range(40))] * 80,
    "ties": [{item} for item in range(40) for _ in range(50)],
    "five people": [{0, 1, 2}] * 5,
    "nobody": [],
    "half and half": [set(range(40))] * 30 + [{item} for item in range(40) for _ in range(30)],
}


@pytest.mark.parametrize("delta", [0, "1e-6"])
@pytest.mark.parametrize("people", CROWDS.values(), ids=CROWDS)
def test_intervals_hold(people, delta):
    # 95 % intervals of 40 counts, 30 times; at least 93 % of them. The seeds are fixed.
    family = Itemsets.singles(40)
    crowd = watching.engine(people, 40)
    true_counts = unsealed(crowd.answer(Supports(family)))
    inside = []
    for seed in range(30):
        clipped_counts = count_clipped("x", crowd, meter(2, delta, seed), family, Fraction(1), 60.0)
        counted_family = winners.count_shown(
            "x", crowd, meter(2, delta, seed), make_problem(len(people), 40), family, Fraction(1), 60.0
        )
        inside.append([((low <= true_counts) & (true_counts <= high)).mean() for low, high in
                       (clipped_counts.bounds(), (counted_family.low, counted_family.high))])  # fmt: skip
    assert np.mean(inside, axis=0).min() >= 0.93


def test_the_total_that_makes_an_interval_short():
    # Where everyone holds one of many a small total is best; where all hold all of it, none should be clipped.
    family = Itemsets.singles(40)
    disjoint_people, alike = [{item} for item in range(40) for _ in range(90)], [set(range(40))] * 9_000
    for people, mark, min_total, max_total in ((disjoint_people, 90.0, 1, 8), (alike, 9_000.0, 30, 40)):
        meter_of_interval = meter(4)
        histogram = measure_histogram(
            watching.engine(people, 40), meter_of_interval, family, Fraction(1, 8), COARSE_BINS
        )
        total, _ = choose_interval_total(family, histogram, meter_of_interval, Fraction(7, 8), mark)
        assert min_total <= total / PARTS <= max_total
