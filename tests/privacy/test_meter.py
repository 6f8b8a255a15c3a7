"""The meter: the noise it draws is what the query asks for, and what it writes down is what it drew."""

from __future__ import annotations

from fractions import Fraction
from math import exp

import numpy as np
import pytest
from scipy import stats

from discreet import Baskets, MisuseError, Vocabulary
from discreet.exact import BasketCount, FrequentSets, LocalEngine, Sizes, Supports, Universe
from discreet.privacy import Budget, Meter, Neighbours, Noisy, SealedAnswer, SealedEngine, compose
from discreet.privacy._sealed import SealedList
from discreet.privacy.sampling import SimulationSource
from discreet.results import Itemsets

# Seeds are fixed; every chi-square test below raises a false alarm once in a million.
ALARM = 1e-6
ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE
NOBODY = SealedEngine(LocalEngine(Baskets(np.zeros(1, np.int64), np.empty(0, np.int32), Vocabulary([0, 1, 2]))))
SCORES = SealedAnswer(np.array([3, 1, 0]), 1, monotone=True)
SINGLES = Itemsets(np.arange(4), np.arange(3, dtype=np.int32))


def meter(epsilon="1", delta=0, neighbours=ADD, seed=1, **options) -> Meter:
    return Meter(Budget.of(epsilon, delta), neighbours, SimulationSource(seed), **options)


def occurring(*counts, floor=0, max_itemsets=1) -> SealedList:
    item_count = len(counts)
    listed_itemsets = FrequentSets(Itemsets.singles(item_count), np.array(counts), floor or 0)
    return SealedList(listed_itemsets, Universe(item_count, 1, 1), floor, max_itemsets)


@pytest.mark.parametrize("neighbours", [ADD, REPLACE])
@pytest.mark.parametrize("share", [Fraction(1), Fraction(1, 3)])
def test_the_scale_follows_sensitivity_relation_and_share(neighbours, share):
    pure, approximate_meter = (meter("1/2", delta, neighbours=neighbours) for delta in (0, "1e-6"))
    # Three counts, all of which anyone may hold, move by 1 each; of a histogram two bins do where one is replaced.
    for query, sensitivity in ((Supports(SINGLES), 3), (Sizes(4), 2 if neighbours is REPLACE else 1)):
        scale = 2 * sensitivity / share
        assert pure.scale(query, share) == (scale, 2 * scale**2)
        assert approximate_meter.scale(query, share) == (
            None,
            Fraction(sensitivity) / (2 * approximate_meter.total * share),
        )


def test_counts_carry_noise_of_the_law_they_claim():
    test_meter = meter("1/2", seed=5)
    noisy = [
        int(test_meter.part(Fraction(1, 4000)).count("n", NOBODY, BasketCount(), Fraction(1)).values[0])
        for _ in range(4000)
    ]
    q = exp(-1 / 8000)
    assert all(charge.epsilon == Fraction(1, 8000) for charge in test_meter.charges)
    share = np.mean(np.abs(noisy) <= 5545)  # the median of the absolute value at scale 8000
    inside = 1 - 2 * q**5546 / (1 + q)
    assert stats.binomtest(round(share * 4000), 4000, inside).pvalue > ALARM


def test_pure_charges_add_up_to_the_budget():
    test_meter = meter("1")
    test_meter.count("people", NOBODY, BasketCount(), Fraction(1, 7))
    part = test_meter.part(Fraction(2, 7))
    part.choose("choice", SCORES, 2, Fraction(1, 2))
    part.count("items", NOBODY, Supports(SINGLES), part.left)
    test_meter.choose("more", SCORES, 1, test_meter.left, "laplace")
    assert compose(test_meter.charges) == (1, 0)
    assert [charge.epsilon for charge in test_meter.charges] == [Fraction(1, 7)] * 3 + [Fraction(4, 7)]
    assert test_meter.left == 0


@pytest.mark.parametrize("way", ["exponential", "gumbel", "permute-and-flip", "laplace"])
@pytest.mark.parametrize("picks", [1, 3])
def test_zcdp_charges_stay_within_the_budget_and_close_to_it(way, picks):
    test_meter = meter("1", "1e-6")
    test_meter.choose("choice", SCORES, picks, Fraction(1, 2), way)
    test_meter.count("people", NOBODY, BasketCount(), Fraction(1, 2))
    total_rho = sum(charge.rho for charge in test_meter.charges)
    assert test_meter.total * (1 - Fraction(1, 10**9)) < total_rho <= test_meter.total
    assert compose(test_meter.charges, Fraction("1e-6"))[0] <= 1


@pytest.mark.parametrize(
    ("neighbours", "monotone", "divisor"), [(ADD, True, 1), (ADD, False, 2), (REPLACE, True, 2), (REPLACE, False, 4)]
)
def test_rates(neighbours, monotone, divisor):
    rate = meter("3/5", neighbours=neighbours).rate(4, Fraction(1, 2), "exponential", monotone=monotone, step=5)
    assert rate == Fraction(3, 10) / 4 / 5 / divisor


def test_a_choice_has_the_law_of_its_rate():
    test_meter = meter("2", seed=9)
    observed = np.zeros(3)
    for _ in range(6000):
        part = test_meter.part(Fraction(1, 6000))
        part.total = Fraction(2)
        sealed_list = SealedList(FrequentSets(Itemsets.singles(2), np.array([1, 0]), 0), Universe(3, 1, 1))
        observed[part.choose_itemsets("c", sealed_list, 1, Fraction(1))[0][0]] += 1
    weights = np.array([exp(2), 1, 1])
    assert stats.chisquare(observed, weights / weights.sum() * 6000).pvalue > ALARM


def test_overspending_is_impossible():
    test_meter = meter()
    test_meter.count("people", NOBODY, BasketCount(), Fraction(2, 3))
    with pytest.raises(AssertionError, match="more than its budget"):
        test_meter.count("people", NOBODY, BasketCount(), Fraction(1, 2))
    with pytest.raises(AssertionError, match="more than its budget"):
        test_meter.part(Fraction(1, 2))
    with pytest.raises(AssertionError, match="more than its budget"):
        test_meter.part(Fraction(1, 3)).count("people", NOBODY, BasketCount(), Fraction(4, 3))
    assert len(test_meter.charges) == 1


class TestFinding:
    @pytest.mark.parametrize("max_itemsets", [1, 4])
    @pytest.mark.parametrize("delta", ["1e-3", "1e-9"])
    @pytest.mark.parametrize("neighbours", [ADD, REPLACE])
    def test_what_one_person_holds_passes_with_less_than_delta(self, max_itemsets, delta, neighbours):
        test_meter = meter("1", delta, neighbours, discovery_delta=Fraction(delta))
        assert test_meter.pure
        twice = 2 if neighbours is REPLACE else 1
        scale = test_meter._discovery_scale(max_itemsets, Fraction(1))
        threshold = test_meter.find("items", occurring(5, max_itemsets=max_itemsets), Fraction(1)).threshold
        q = exp(-1 / float(scale))
        assert scale == max_itemsets * twice
        assert twice * max_itemsets * q ** (threshold - 1) / (1 + q) <= float(delta)
        assert twice * max_itemsets * q ** (threshold - 3) > float(delta)  # not much higher than it has to be
        assert [(charge.epsilon, charge.delta) for charge in test_meter.charges] == [(1, Fraction(delta))]

    def test_it_is_paid_for_once(self):
        test_meter = meter("1", "1e-3", discovery_delta=Fraction("1e-3"))
        test_meter.part(Fraction(1, 2)).find("items", occurring(5), Fraction(1))
        with pytest.raises(MisuseError, match="needs a delta"):
            test_meter.find("items", occurring(5), Fraction(1, 2))

    def test_what_is_kept_is_what_lies_over_the_threshold(self):
        test_meter = meter("1", "1e-3", discovery_delta=Fraction("1e-3"))
        found_itemsets = test_meter.find("items", occurring(*range(1, 200), max_itemsets=2), Fraction(1))
        assert 0 < len(found_itemsets.itemsets) < 199
        assert found_itemsets.values.min() >= found_itemsets.threshold > 1
        assert found_itemsets.values.tolist() == sorted(found_itemsets.values, reverse=True)
        assert np.abs(found_itemsets.itemsets.codes + 1 - found_itemsets.values).max() < 40

    def test_a_floor_is_taken_off_and_put_back(self):
        first_meter, second_meter = (meter("1", "1e-3", discovery_delta=Fraction("1e-3")) for _ in range(2))
        plain = first_meter.find("items", occurring(30, 90, 12, max_itemsets=2), Fraction(1))
        raised = second_meter.find("items", occurring(1030, 1090, 1012, floor=1000, max_itemsets=2), Fraction(1))
        assert raised.threshold == plain.threshold + 1000
        assert raised.itemsets.tuples() == plain.itemsets.tuples()
        assert raised.values.tolist() == (plain.values + 1000).tolist()

    def test_what_may_not_be_listed_whole_is_not_looked_through(self):
        test_meter = meter("1", "1e-3", discovery_delta=Fraction("1e-3"))
        for sealed_list in (occurring(5, floor=None), occurring(5, max_itemsets=None)):
            with pytest.raises(MisuseError) as caught:
                test_meter.find("items", sealed_list, Fraction(1))
            assert str(caught.value) == (
                "What is found lies above a public floor, in baskets that were cut, and all of it is listed."
            )
        assert test_meter.charges == []

    def test_nothing_is_chosen_from_a_list_that_is_not_public(self):
        with pytest.raises(MisuseError) as caught:
            meter().choose_itemsets(
                "c", SealedList(FrequentSets(Itemsets.singles(2), np.array([1, 0]), 0), None), 1, Fraction(1)
            )
        assert str(caught.value) == (
            "Itemsets are chosen from all there are, and which items there are is not public here."
        )

    def test_half_of_delta_may_stay_for_turning_rho_into_epsilon(self):
        test_meter = meter("1", "1e-3", discovery_delta=Fraction("5e-4"))
        assert not test_meter.pure
        test_meter.find("items", occurring(5, max_itemsets=2), Fraction(1, 2))
        test_meter.count("people", NOBODY, BasketCount(), Fraction(1, 2))
        epsilon, delta = compose(test_meter.charges, test_meter.conversion)
        assert epsilon <= 1
        assert delta == Fraction("1e-3")


@pytest.mark.parametrize("scale", [Fraction(1, 100), Fraction(1, 3), Fraction(2), Fraction(137, 2)])
def test_the_margin_of_laplace_noise_is_the_smallest_that_covers(scale):
    noisy = Noisy(np.zeros(1, np.int64), scale, 2 * scale**2)
    q = exp(-float(1 / scale))
    for confidence in (0.5, 0.95, 0.999):
        margin = noisy.margin(confidence)
        assert 1 - 2 * q ** (margin + 1) / (1 + q) >= confidence - 1e-12
        if margin:
            assert 1 - 2 * q**margin / (1 + q) < confidence + 1e-12


def test_the_margin_of_gaussian_noise():
    noisy = Noisy(np.zeros(1, np.int64), None, Fraction(10_000))
    assert noisy.margin() == 196
    assert noisy.deviation == 100
    assert Noisy(np.zeros(1, np.int64), None, Fraction(0)).margin() == 0
