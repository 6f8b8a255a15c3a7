"""Bounds from runs: the binomial bound itself, the events, and that a right claim stands."""

from __future__ import annotations

from math import log

import pytest
from scipy.stats import beta, binom

from discreet.auditing._statistical import Event, bound_loss, compute_lower_chance, list_features, statistical
from discreet.curator.mechanisms.count import Count
from discreet.planning import trial
from discreet.privacy import Budget, Charge, Neighbours, unsealed


@pytest.mark.parametrize(("hits", "runs"), [(1, 10), (5, 10), (10, 10), (3, 1000), (700, 1000), (1, 1)])
@pytest.mark.parametrize("miss", [0.005, 0.1])
def test_the_lower_bound_is_that_of_clopper_and_pearson(hits, runs, miss):
    assert compute_lower_chance(hits, runs, miss) == pytest.approx(beta.ppf(miss, hits, runs - hits + 1), rel=1e-9)


def test_no_hit_says_nothing():
    assert compute_lower_chance(0, 100, 0.005) == 0
    assert bound_loss(0, 100, 100, 0) == 0
    assert bound_loss(50, 50, 100, 0) == 0


@pytest.mark.parametrize("chance", [0.02, 0.3, 0.9])
def test_the_bound_holds_as_often_as_it_says(chance):
    """The chance that it lies above the truth, added up over all numbers of hits: exact, no drawing."""
    runs, miss = 60, 0.05
    above = sum(
        binom.pmf(hits, runs, chance) for hits in range(runs + 1) if compute_lower_chance(hits, runs, miss) > chance
    )
    assert above <= miss


def test_the_bound_on_epsilon():
    lowest_chance, highest_chance = compute_lower_chance(900, 1000, 0.005), 1 - compute_lower_chance(900, 1000, 0.005)
    assert bound_loss(900, 100, 1000, 0) == pytest.approx(log(lowest_chance / highest_chance))
    assert bound_loss(900, 100, 1000, "0.1") == pytest.approx(log((lowest_chance - 0.1) / highest_chance))
    assert bound_loss(9, 100, 1000, "0.5") == 0


@pytest.mark.statistical
def test_a_right_claim_stands():
    # One of a hundred such bounds lies above the truth; the seed is fixed.
    for neighbours in Neighbours:
        attempt = statistical(Count(), Budget.of(1), neighbours, 600, 3)
        assert attempt.stands
        assert attempt.loss < 1
        assert attempt.tried == "4 pairs of neighbours, 1,200 runs, seed 3"


@pytest.mark.statistical
def test_a_wrong_claim_does_not():
    # What is really 3 claims to be 1: with 500 runs a side the bound misses it with a probability below 10^-9.
    class Bold(Count):
        def run(self, engine, problem, meter):
            meter.total *= 3
            result = super().run(engine, problem, meter)
            # As if it were within the budget: more is no release at all.
            meter.charges[:] = [Charge.pure(charge.what, charge.epsilon / 3) for charge in meter.charges]
            return result

    attempt = statistical(Bold(), Budget.of(1), Neighbours.ADD_REMOVE, 1000, 1)
    assert not attempt.stands
    assert 1 < attempt.loss < 3.01
    assert attempt.why.startswith("In ")


def test_an_exception_is_a_result():
    class Touchy(Count):
        def run(self, engine, problem, meter):
            if unsealed(engine).baskets.item_counts.any():
                raise KeyError
            return super().run(engine, problem, meter)

    attempt = statistical(Touchy(), Budget.of(1), Neighbours.ADD_REMOVE, 200, 1)
    assert not attempt.stands
    assert "the exception KeyError" in attempt.why


def test_what_is_told_about_a_release():
    release = trial([{0, 1}] * 40, seed=1, top=2, epsilon=20, items=2, people=40, mechanism="exponential")
    numbers = list_features(release)
    assert numbers["the number of patterns"] == 2
    assert numbers["the number of people"] == 40
    assert numbers["the sum of all counts"] == sum(pattern.count for pattern in release.patterns)
    names = ["{" + ", ".join(map(str, sorted(pattern.items))) + "}" for pattern in release.patterns]
    assert numbers[f"the count of {names[1]}"] == release.patterns[1].count
    assert numbers[f"{names[0]} as the first pattern"] == numbers[f"{names[1]} among the patterns"] == 1
    assert numbers["gamma"] == release.facts["gamma"]
    assert sum(name.startswith("the note ") for name in numbers) == len(release.notes)


def test_events():
    results = [{"x": 1.0}, {"x": 3.0}, {}]
    assert Event("x", 1, True).count_results(results) == 2
    assert Event("x", 1, False).count_results(results) == 2
    assert str(Event("the count of {0}", 3, True)) == "the count of {0} is at least 3"
    assert str(Event("x", 2.5, False)) == "x is at most 2.5"
