"""Clipped counting: the law of its counts by enumeration, and statistics of released numbers, against brute force."""

# internals: this module counts the calls of a query.
from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import exp

import numpy as np
import pytest
from hypothesis import given, strategies as st

import strategies
from discreet.baskets import groceries
from discreet.curator.steps import (
    HISTOGRAM_SHARE,
    HISTOGRAM_STEP,
    Histogram,
    Tally,
    average_monotone,
    count_clipped,
    denoise_histogram,
    join_tallies,
)
from discreet.curator.steps._clipped_counting import COARSE_BINS, list_edges, list_totals
from discreet.exact import PARTS, ClippedCounts, LocalEngine, Supports, _query as query_module
from discreet.privacy import Budget, Meter, Neighbours, Noisy, SealedEngine, unsealed
from discreet.privacy.sampling import SimulationSource
from naive import truncated as naive, watching

ITEMS = 4
SUBSETS = strategies.subsets(ITEMS)


def meter(epsilon=1, delta=0, seed=1, neighbours=Neighbours.ADD_REMOVE) -> Meter:
    return Meter(Budget.of(epsilon, delta), neighbours, SimulationSource(seed))


def law(center: int, scale: Fraction, values: range) -> np.ndarray:
    """Return the probability of each value of a count with discrete Laplace noise."""
    q = exp(-1 / float(scale))
    return np.array([(1 - q) / (1 + q) * q ** abs(value - center) for value in values])


@pytest.mark.parametrize("neighbours", list(Neighbours), ids=lambda relation: relation.value)
def test_the_law_of_a_tiny_count_is_private(monkeypatch, neighbours):
    # Four parts a person, two itemsets: every pair of noisy sums that has a chance worth the name, for all neighbours.
    monkeypatch.setattr(query_module, "PARTS", 4)
    query = ClippedCounts(naive.column([{0}, {0, 1}]), 6)
    scale = meter(neighbours=neighbours).scale(query, Fraction(1))[0]
    assert scale == (8 if neighbours is Neighbours.REPLACE else 6)
    baskets = [frozenset(), frozenset({0}), frozenset({1}), frozenset({0, 1})]
    values, laws = range(-40, 60), {}
    for size in range(4):
        for people in product(baskets, repeat=size):
            sums = unsealed(watching.engine(people, 2).answer(query)).tolist()
            laws[people] = np.multiply.outer(*(law(center, scale, values) for center in sums))
            assert laws[people].sum() > 0.98 if neighbours is Neighbours.ADD_REMOVE else laws[people].sum() > 0.8
    largest_loss = 0.0
    for people, chances in laws.items():
        if neighbours is Neighbours.ADD_REMOVE:
            neighbours_of_people = [(*people, added_person) for added_person in baskets] if len(people) < 3 else []
        else:
            neighbours_of_people = [(other_basket, *people[1:]) for other_basket in baskets] if people else []
        for neighbour in neighbours_of_people:
            largest_loss = max(largest_loss, float(np.abs(np.log(chances / laws[neighbour])).max()))
    assert largest_loss <= 1 + 1e-9
    # All of it is needed under adding; under replacing no two baskets have nothing in common here, so 6 of 8 are.
    assert largest_loss > 0.99 if neighbours is Neighbours.ADD_REMOVE else largest_loss > 0.74


def test_the_noise_is_drawn_where_the_sums_lie():
    # On a coarser lattice two neighbours' answers would have no value in common. Every remainder occurs.
    people = watching.engine([{0, 1, 2}] * 50 + [{0}] * 30, ITEMS)
    query = ClippedCounts(naive.column([{0}, {1}, {2}]), PARTS)
    noisy = meter(epsilon=100).count("x", people, query, Fraction(1))
    assert unsealed(people.answer(query)).tolist() == [50 * 341 + 30 * 1024, 50 * 341, 50 * 341]
    drawn_values = [meter(epsilon=100, seed=seed).count("x", people, query, Fraction(1)).values for seed in range(40)]
    assert len(set(np.concatenate(drawn_values) % 16)) == 16
    assert noisy.scale == Fraction(PARTS, 100)


@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_next_to_no_noise_gives_the_counts(delta):
    sealed_engine = SealedEngine(LocalEngine(groceries(600, seed=2)))
    pairs = naive.column(list(combinations(range(12), 2)))
    counted_family = count_clipped("x", sealed_engine, meter(10**9, delta), pairs, Fraction(1), 50.0)
    tally, total = counted_family.tally, counted_family.total
    assert np.allclose(tally.estimates, unsealed(sealed_engine.answer(Supports(pairs))), atol=0.4)
    assert tally.deviations.max() < 1
    assert total >= 1


def test_charges_and_a_family_of_one():
    sealed_engine = watching.engine([{0, 1}] * 20, ITEMS)
    family_meter = meter()
    count_clipped("some counts", sealed_engine, family_meter, naive.column([{0}, {1}]), Fraction(1, 2), 9.0)
    assert [(charge.what, charge.epsilon) for charge in family_meter.charges] == [
        (HISTOGRAM_STEP, HISTOGRAM_SHARE / 2), ("some counts", (1 - HISTOGRAM_SHARE) / 2)
    ]  # fmt: skip
    # Of one itemset nobody holds more than one: nothing has to be looked up, nothing is clipped.
    single_meter = meter()
    counted_family = count_clipped("a count", sealed_engine, single_meter, naive.column([{0, 1}]), Fraction(1, 2), 9.0)
    tally, total = counted_family.tally, counted_family.total
    assert [(charge.what, charge.epsilon) for charge in single_meter.charges] == [("a count", Fraction(1, 2))]
    assert total == 1
    assert tally.deviations.tolist() == [pytest.approx(2**0.5 / 0.5)]


def test_the_total_comes_from_the_noisy_histogram_only():
    family = naive.column([{item} for item in range(ITEMS)])
    totals = []
    for people in ([], [{0}] * 40, [{0, 1, 2, 3}] * 500):
        scripted = naive.Scripted(3, spread=400)
        count_clipped("x", watching.engine(people, ITEMS), scripted, family, Fraction(1), 100.0)
        totals.append(scripted.asked[1][1].total)
    assert len(set(totals)) == 1


def test_what_nobody_is_seen_to_hold_is_clipped_to_one_person():
    class Nobody(naive.Scripted):
        def count(self, purpose, engine, query, share):
            noisy = super().count(purpose, engine, query, share)
            return Noisy(noisy.values * 0, noisy.scale, noisy.variance)

    nobody = Nobody(1)
    family = naive.column([{item} for item in range(ITEMS)])
    counted_family = count_clipped("x", watching.engine([], ITEMS), nobody, family, Fraction(1), 100.0)
    tally, total = counted_family.tally, counted_family.total
    assert total == 1
    assert tally.estimates.tolist() == [0.0] * ITEMS


# What is made of released numbers.


@pytest.mark.parametrize("family_size", [1, 2, 3, 7, 8, 9, 100, 5_000, 10**6])
def test_bins_and_totals_follow_from_the_size_of_the_family(family_size):
    edges, totals = list_edges(family_size), list_totals(family_size)
    assert set(list_edges(family_size, COARSE_BINS)) <= set(edges)
    assert edges[0] == 1
    assert edges[-1] <= family_size
    assert list(edges) == sorted(set(edges))
    assert (totals[0], totals[-1]) == (PARTS, family_size * PARTS)
    assert totals == sorted(set(totals))
    assert len(edges) < 30
    spread = Histogram.of(edges, np.arange(1.0, len(edges) + 1), family_size)
    assert (spread.loads >= 1).all()
    assert (spread.loads <= family_size).all()
    bins = np.searchsorted(edges, spread.loads, side="right") - 1
    assert np.bincount(bins, spread.people) == pytest.approx(np.arange(1.0, len(edges) + 1))
    assert list_edges(40, COARSE_BINS) == (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
    assert list_edges(40) == (*range(1, 9), 10, 12, 14, 16, 20, 24, 28, 32, 40)
    assert list_edges(200)[-5:] == (56, 64, 96, 128, 192)
    assert [total / PARTS for total in list_totals(5)] == [1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 5]


@given(st.lists(st.integers(0, 30), min_size=4, max_size=4), st.integers(1, 6), st.booleans())
def test_what_clipping_keeps_is_the_share_of_all_that_is_held(people, total, pure):
    held_counts = np.arange(1, 5)
    weights = np.minimum(1, total / 2 / held_counts) ** (1 if pure else 0.5)
    mass = float((held_counts * people).sum())
    expected = float((held_counts * people * weights).sum()) / mass if mass else 1.0
    kept_share = Histogram(held_counts.astype(float), np.array(people, float)).kept_share(total * PARTS // 2, pure)
    assert kept_share == pytest.approx(expected)


def noisy(values, deviation) -> Noisy:
    return Noisy(np.array(values), None, Fraction(deviation) ** 2)


def test_a_histogram_without_noise_is_left_as_it_is():
    edges = list_edges(16, COARSE_BINS)
    for values in ([90, 40, 9, 3, 1, 0, 0, 0], [5, 0, 0, 7, 0, 0, 0, 1], [0] * 8):
        assert denoise_histogram(noisy(values, 0), edges).tolist() == values


@given(st.lists(st.integers(-3_000, 3_000), min_size=10, max_size=10), st.integers(1, 1_000))
def test_cleaning_makes_people_of_any_numbers(values, deviation):
    cleaned_people = denoise_histogram(noisy(values, deviation), list_edges(40, COARSE_BINS))
    assert np.isfinite(cleaned_people).all()
    assert (cleaned_people >= 0).all()


def test_a_phantom_far_out_is_not_believed():
    edges = list_edges(512)
    values = [50_000, 20_000, 8_000, 3_000, 1_000, 300, 100] + [0] * (len(edges) - 7)
    values[-1] = 240  # two deviations and a bit
    cleaned_people = denoise_histogram(noisy(values, 100), edges)
    assert cleaned_people[-1] < 20
    assert (cleaned_people * edges).sum() == pytest.approx((np.array(values[:7]) * edges[:7]).sum(), rel=0.05)


def test_merging_weighs_by_how_sure_counts_are():
    sets = naive.column([{0}, {1}, {2}])
    tally = Tally(sets, np.array([10.0, 20.0, 30.0]), np.array([3.0, 3.0, 0.0]))
    other_tally = Tally(naive.column([{0}, {2}]), np.array([20.0, 50.0]), np.array([4.0, 0.0]))
    merged_tally = tally.merge_counts(np.array([0, 2]), other_tally)
    assert merged_tally.estimates.tolist() == [pytest.approx(10 * 16 / 25 + 20 * 9 / 25), 20.0, 40.0]
    assert merged_tally.deviations.tolist() == [pytest.approx(12 / 5), 3.0, 0.0]
    assert tally.take_largest(2).estimates.tolist() == [30.0, 20.0]


@given(st.lists(st.sampled_from([subset for subset in SUBSETS if subset]), min_size=1, unique=True), st.integers(0, 99))
def test_no_estimate_is_above_that_of_a_part(family, seed):
    values = np.random.default_rng(seed).normal(size=len(family))
    column = naive.column(family)
    lowered_estimates = dict(
        zip(family, Tally(column, values, values).lower_to_parts(9.0).estimates.tolist(), strict=True)
    )
    for itemset, value in zip(family, values.tolist(), strict=True):
        assert lowered_estimates[itemset] <= value
        for part in family:
            if part < itemset and len(part) == len(itemset) - 1:
                assert lowered_estimates[itemset] <= lowered_estimates[part]
        if not any(part < itemset for part in family):
            assert lowered_estimates[itemset] == value
    halfway = dict(zip(family, average_monotone(column, values, 0.5).tolist(), strict=True))
    for itemset, value in zip(family, values.tolist(), strict=True):
        assert halfway[itemset] <= 0.5
        assert all(
            halfway[itemset] <= halfway[part] for part in family if part < itemset and len(part) == len(itemset) - 1
        )
        if not any(other_itemset < itemset or itemset < other_itemset for other_itemset in family):
            assert halfway[itemset] == min(value, 0.5)
    assert Tally(column, values, values).lower_to_parts(-1.0).estimates.max() <= -1


def test_end_to_end():
    first_tally, second_tally = (Tally(naive.column(sets), np.full(2, value), np.ones(2)) for sets, value in
                  (([{0}, {1}], 1.0), ([{0, 1}, {1, 2}], 2.0)))  # fmt: skip
    joined_tally = join_tallies([first_tally, second_tally])
    assert joined_tally.itemsets.sizes.tolist() == [1, 1, 2, 2]
    assert joined_tally.estimates.tolist() == [1.0, 1.0, 2.0, 2.0]
    assert len(join_tallies([])) == 0
