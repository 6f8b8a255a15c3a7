"""The meter: the noise it draws is what the query asks for, and what it writes down is what it drew."""

from __future__ import annotations

from fractions import Fraction
from math import exp

import numpy as np
import pytest
from scipy import stats

from discreet import Baskets, MisuseError, Vocabulary
from discreet.exact import BasketCount, Listed, LocalEngine, Sizes, Supports, Universe
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


def meter(epsilon="1", delta=0, neighbours=ADD, seed=1, **more) -> Meter:
    return Meter(Budget.of(epsilon, delta), neighbours, SimulationSource(seed), **more)


def occurring(*counts, floor=0, most=1) -> SealedList:
    many = len(counts)
    listed = Listed(Itemsets.singles(many), np.array(counts), floor or 0)
    return SealedList(listed, Universe(many, 1, 1), floor, most)


@pytest.mark.parametrize("neighbours", [ADD, REPLACE])
@pytest.mark.parametrize("share", [Fraction(1), Fraction(1, 3)])
def test_the_scale_follows_sensitivity_relation_and_share(neighbours, share):
    pure, both = (meter("1/2", delta, neighbours=neighbours) for delta in (0, "1e-6"))
    # Three counts, all of which anyone may hold, move by 1 each; of a histogram two bins do where one is replaced.
    for query, most in ((Supports(SINGLES), 3), (Sizes(4), 2 if neighbours is REPLACE else 1)):
        scale = 2 * most / share
        assert pure.scale(query, share) == (scale, 2 * scale**2)
        assert both.scale(query, share) == (None, Fraction(most) / (2 * both.total * share))


def test_counts_carry_noise_of_the_law_they_claim():
    counted = meter("1/2", seed=5)
    noisy = [
        int(counted.part(Fraction(1, 4000)).count("n", NOBODY, BasketCount(), Fraction(1)).values[0])
        for _ in range(4000)
    ]
    q = exp(-1 / 8000)
    assert all(charge.epsilon == Fraction(1, 8000) for charge in counted.charges)
    share = np.mean(np.abs(noisy) <= 5545)  # the median of the absolute value at scale 8000
    inside = 1 - 2 * q**5546 / (1 + q)
    assert stats.binomtest(round(share * 4000), 4000, inside).pvalue > ALARM


def test_pure_charges_add_up_to_the_budget():
    counted = meter("1")
    counted.count("people", NOBODY, BasketCount(), Fraction(1, 7))
    part = counted.part(Fraction(2, 7))
    part.choose("choice", SCORES, 2, Fraction(1, 2))
    part.count("items", NOBODY, Supports(SINGLES), part.left)
    counted.choose("more", SCORES, 1, counted.left, "laplace")
    assert compose(counted.charges) == (1, 0)
    assert [charge.epsilon for charge in counted.charges] == [Fraction(1, 7)] * 3 + [Fraction(4, 7)]
    assert counted.left == 0


@pytest.mark.parametrize("way", ["exponential", "gumbel", "permute-and-flip", "laplace"])
@pytest.mark.parametrize("picks", [1, 3])
def test_zcdp_charges_stay_within_the_budget_and_close_to_it(way, picks):
    counted = meter("1", "1e-6")
    counted.choose("choice", SCORES, picks, Fraction(1, 2), way)
    counted.count("people", NOBODY, BasketCount(), Fraction(1, 2))
    spent = sum(charge.rho for charge in counted.charges)
    assert counted.total * (1 - Fraction(1, 10**9)) < spent <= counted.total
    assert compose(counted.charges, Fraction("1e-6"))[0] <= 1


@pytest.mark.parametrize(
    ("neighbours", "monotone", "divisor"), [(ADD, True, 1), (ADD, False, 2), (REPLACE, True, 2), (REPLACE, False, 4)]
)
def test_rates(neighbours, monotone, divisor):
    rate = meter("3/5", neighbours=neighbours).rate(4, Fraction(1, 2), "exponential", monotone=monotone, step=5)
    assert rate == Fraction(3, 10) / 4 / 5 / divisor


def test_a_choice_has_the_law_of_its_rate():
    counted = meter("2", seed=9)
    seen = np.zeros(3)
    for _ in range(6000):
        part = counted.part(Fraction(1, 6000))
        part.total = Fraction(2)
        listed = SealedList(Listed(Itemsets.singles(2), np.array([1, 0]), 0), Universe(3, 1, 1))
        seen[part.choose_itemsets("c", listed, 1, Fraction(1))[0][0]] += 1
    weights = np.array([exp(2), 1, 1])
    assert stats.chisquare(seen, weights / weights.sum() * 6000).pvalue > ALARM


def test_overspending_is_impossible():
    counted = meter()
    counted.count("people", NOBODY, BasketCount(), Fraction(2, 3))
    with pytest.raises(AssertionError, match="more than its budget"):
        counted.count("people", NOBODY, BasketCount(), Fraction(1, 2))
    with pytest.raises(AssertionError, match="more than its budget"):
        counted.part(Fraction(1, 2))
    with pytest.raises(AssertionError, match="more than its budget"):
        counted.part(Fraction(1, 3)).count("people", NOBODY, BasketCount(), Fraction(4, 3))
    assert len(counted.charges) == 1


class TestFinding:
    @pytest.mark.parametrize("most", [1, 4])
    @pytest.mark.parametrize("delta", ["1e-3", "1e-9"])
    @pytest.mark.parametrize("neighbours", [ADD, REPLACE])
    def test_what_one_person_holds_passes_with_less_than_delta(self, most, delta, neighbours):
        counted = meter("1", delta, neighbours, discovery_delta=Fraction(delta))
        assert counted.pure
        twice = 2 if neighbours is REPLACE else 1
        scale = counted._discovery_scale(most, Fraction(1))
        threshold = counted.find("items", occurring(5, most=most), Fraction(1)).threshold
        q = exp(-1 / float(scale))
        assert scale == most * twice
        assert twice * most * q ** (threshold - 1) / (1 + q) <= float(delta)
        assert twice * most * q ** (threshold - 3) > float(delta)  # not much higher than it has to be
        assert [(charge.epsilon, charge.delta) for charge in counted.charges] == [(1, Fraction(delta))]

    def test_it_is_paid_for_once(self):
        counted = meter("1", "1e-3", discovery_delta=Fraction("1e-3"))
        counted.part(Fraction(1, 2)).find("items", occurring(5), Fraction(1))
        with pytest.raises(MisuseError, match="needs a delta"):
            counted.find("items", occurring(5), Fraction(1, 2))

    def test_what_is_kept_is_what_lies_over_the_threshold(self):
        counted = meter("1", "1e-3", discovery_delta=Fraction("1e-3"))
        found = counted.find("items", occurring(*range(1, 200), most=2), Fraction(1))
        assert 0 < len(found.itemsets) < 199
        assert found.values.min() >= found.threshold > 1
        assert found.values.tolist() == sorted(found.values, reverse=True)
        assert np.abs(found.itemsets.codes + 1 - found.values).max() < 40

    def test_a_floor_is_taken_off_and_put_back(self):
        counted, again = (meter("1", "1e-3", discovery_delta=Fraction("1e-3")) for _ in range(2))
        plain = counted.find("items", occurring(30, 90, 12, most=2), Fraction(1))
        raised = again.find("items", occurring(1030, 1090, 1012, floor=1000, most=2), Fraction(1))
        assert raised.threshold == plain.threshold + 1000
        assert raised.itemsets.tuples() == plain.itemsets.tuples()
        assert raised.values.tolist() == (plain.values + 1000).tolist()

    def test_what_may_not_be_listed_whole_is_not_looked_through(self):
        counted = meter("1", "1e-3", discovery_delta=Fraction("1e-3"))
        for listed in (occurring(5, floor=None), occurring(5, most=None)):
            with pytest.raises(MisuseError) as caught:
                counted.find("items", listed, Fraction(1))
            assert str(caught.value) == (
                "What is found lies above a public floor, in baskets that were cut, and all of it is listed."
            )
        assert counted.charges == []

    def test_nothing_is_chosen_from_a_list_that_is_not_public(self):
        with pytest.raises(MisuseError) as caught:
            meter().choose_itemsets(
                "c", SealedList(Listed(Itemsets.singles(2), np.array([1, 0]), 0), None), 1, Fraction(1)
            )
        assert str(caught.value) == (
            "Itemsets are chosen from all there are, and which items there are is not public here."
        )

    def test_half_of_delta_may_stay_for_turning_rho_into_epsilon(self):
        counted = meter("1", "1e-3", discovery_delta=Fraction("5e-4"))
        assert not counted.pure
        counted.find("items", occurring(5, most=2), Fraction(1, 2))
        counted.count("people", NOBODY, BasketCount(), Fraction(1, 2))
        epsilon, delta = compose(counted.charges, counted.conversion)
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
