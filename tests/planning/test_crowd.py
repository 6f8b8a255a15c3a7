"""Imagined crowds: they are as they were described, and answer for as many people as they stand for."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.exact import BasketCount, Kth, Largest, LocalEngine, Sizes, Supports
from discreet.local.device import WORD
from discreet.local.study import Ask, CandidateList, CandidateQuestion, PeopleGroup
from discreet.planning._crowd import BASKETS, ScaledEngine, _draw_items, imagine, sizes_of, zipf
from discreet.results import Itemsets


def crowd(people=200_000, items=60, mean=4.0, exponent=1.0):
    supports = zipf(items, mean, exponent)
    return supports, imagine(supports, *sizes_of(mean, supports), people)


@pytest.mark.parametrize(("items", "mean", "exponent"), [(500, 5.0, 1.0), (50, 12.0, 0.5), (10, 3.0, 0.0)])
def test_supports_fall_and_add_up(items, mean, exponent):
    supports = zipf(items, mean, exponent)
    assert supports.sum() == pytest.approx(mean)
    assert (np.diff(supports) <= 1e-12).all()
    assert supports.max() <= 0.999


@pytest.mark.parametrize(("mean", "exponent"), [(1.5, 1.0), (4.0, 1.0), (20.0, 0.3)])
def test_a_crowd_has_the_supports_and_sizes_it_was_given(mean, exponent):
    # Each support is a mean over 20,000 baskets, off by five deviations (0.018) once in 10^6; the fit adds 0.01.
    supports, imagined = crowd(mean=mean, exponent=exponent)
    supports_found = imagined.baskets.item_counts / len(imagined.baskets)
    assert np.abs(supports_found - supports).max() < 0.03
    assert imagined.baskets.sizes.mean() == pytest.approx(mean, rel=0.05)


@pytest.mark.parametrize(
    ("items", "mean", "exponent"),
    [
        (188, 6.5, 1.0), (188, 8.0, 1.0), (2_603, 9.0, 1.0), (16_000, 12.0, 1.0), (50, 5.0, 1.0), (60, 30.0, 1.0),
        (200, 2.0, 3.0), (2_000, 1.2, 2.0),
    ],
)  # fmt: skip
def test_items_that_nearly_everyone_holds_leave_room_for_others(items, mean, exponent):
    # Such an item is hundreds of times as likely as the next one, and is in a basket once all the same. Means over
    # 20,000 baskets, off by five deviations once in 10^6: 0.018 of a support, 0.035 of a mean; the fit adds 0.01.
    supports, imagined = crowd(items=items, mean=mean, exponent=exponent)
    supports_found = imagined.baskets.item_counts / len(imagined.baskets)
    assert np.abs(supports_found - supports).max() < 0.03
    assert imagined.baskets.sizes.mean() == pytest.approx(mean, rel=0.035)


def test_a_dense_curve_gives_dense_baskets():
    supports = np.array([0.999] * 10 + [0.9] * 20 + [0.5] * 20 + [0.1] * 30 + [0.0] * 40)
    imagined = imagine(supports, *sizes_of(float(supports.sum()), supports), 50_000)
    assert imagined.baskets.sizes.mean() == pytest.approx(supports.sum(), rel=0.02)
    supports_found = imagined.baskets.item_counts / len(imagined.baskets)
    assert np.abs(supports_found - supports).max() < 0.05
    assert not supports_found[80:].any()


def test_a_steep_curve_over_many_items_adds_up():
    supports = zipf(100_000, 5.0, 10.0)
    assert supports.sum() == pytest.approx(5.0)
    imagined = imagine(supports, *sizes_of(5.0, supports), 50_000)
    assert imagined.baskets.sizes.mean() == pytest.approx(5.0, rel=0.01)
    assert imagined.baskets.item_counts[:4].min() > 0.98 * len(imagined.baskets)


@pytest.mark.parametrize("basket_size", [1, 40, 100], ids=["one", "some", "all"])
def test_everyone_holds_as_many_as_were_asked_for(basket_size):
    # Supports that do not belong to the size: one item outweighs the others by far.
    supports = np.array([0.999] + [1e-6] * 99 + [0.0] * 900)
    imagined = imagine(supports, np.array([basket_size]), np.array([1.0]), 5_000)
    assert set(imagined.baskets.sizes.tolist()) == {basket_size}


@pytest.mark.parametrize("mean", [1.5, 2.0, 6.5, 20.0])
def test_sizes_keep_their_mean_where_they_are_moved_towards_it(mean):
    sizes, chances = sizes_of(mean, zipf(200, mean, 3.0))
    assert chances.sum() == pytest.approx(1.0)
    assert sizes @ chances == pytest.approx(mean, rel=1e-3)


def test_what_is_drawn_one_after_the_other():
    # An item is the first of two, or the second after any other; off by five deviations of 40,000 once in 10^6.
    weights = np.array([1.0, 4.0, 1.0, 2.0])
    holders, items = _draw_items(weights, np.full(40_000, 2), np.random.default_rng(3))
    assert np.bincount(holders).tolist() == [2] * 40_000
    share = np.bincount(items) / 40_000
    for item, weight in enumerate(weights):
        second = sum(
            earlier_weight / 8 * weight / (8 - earlier_weight)
            for place, earlier_weight in enumerate(weights)
            if place != item
        )
        assert share[item] == pytest.approx(weight / 8 + second, abs=0.0125)


def test_rare_items_are_drawn_as_often_as_they_weigh():
    # Most of 2,000 items have no time of their own in baskets of one and of three; each is drawn by its weight.
    weights = np.linspace(1.0, 2.0, 2_000)
    holders, items = _draw_items(weights, np.repeat([1, 3], 20_000), np.random.default_rng(4))
    assert np.bincount(holders).tolist() == [1] * 20_000 + [3] * 20_000
    assert len(np.unique(holders * 2_000 + items)) == len(items)
    # 80,000 draws in two halves of the items, whose weights are as 5 to 7: five deviations are 0.0087.
    assert (items >= 1_000).mean() == pytest.approx(7 / 12, abs=0.009)


def test_typical_sizes_are_met():
    supports = zipf(100, 4.0, 1.0)
    imagined = imagine(supports, np.array([2, 6]), np.array([0.5, 0.5]), 50_000)
    assert set(imagined.baskets.sizes.tolist()) == {2, 6}


def test_less_than_an_item_a_basket():
    supports = zipf(10, 0.5, 1.0)
    imagined = imagine(supports, *sizes_of(0.5, supports), 10_000)
    assert set(imagined.baskets.sizes.tolist()) == {0, 1}


def test_the_same_numbers_draw_the_same_crowd():
    first_crowd, second_crowd = crowd()[1], crowd()[1]
    assert first_crowd.baskets == second_crowd.baskets
    assert len(first_crowd.baskets) == BASKETS
    assert first_crowd.of(7).people == 7


def test_the_engine_answers_for_everybody():
    imagined = crowd()[1]
    questions_heard: list[str] = []
    engine, inner = ScaledEngine(imagined.exact, imagined.scale, questions_heard), LocalEngine(imagined.baskets)
    pairs = Itemsets(np.array([0, 1, 3]), np.array([0, 0, 1], np.int32))
    for query in (BasketCount(), Sizes(5), Supports(pairs), Kth(3, 1, 2)):
        assert engine.answer(query).tolist() == (inner.answer(query) * 10).tolist()
    assert engine.answer(Largest(1, 50)).tolist() == (inner.answer(Largest(1, 5)) * 10).tolist()
    listed_itemsets = engine.above(20_000, 1, 2, 1_000)
    assert (listed_itemsets.counts > listed_itemsets.bound).all()
    expected = inner.above(2_000, 1, 2, 1_000)
    assert listed_itemsets.counts.tolist() == (expected.counts * 10).tolist()
    assert questions_heard == ["BasketCount", "Sizes", "Supports", "Kth", "Largest", "above"]


@pytest.mark.parametrize(("oracle", "pad"), [("grr", 1), ("olh", 3), ("privset", 3), ("wheel", 3), ("oue", 1)])
def test_what_a_round_hears_is_right_on_average_and_as_noisy_as_its_oracle_says(oracle, pad):
    # The mean over 200 rounds is off by five deviations once in 10^6; a variance of 200 lies within half of the truth.
    imagined = crowd(items=12, mean=1.0, people=40_000)[1]
    ask = Ask.of(
        "which", PeopleGroup(0, WORD // 2), CandidateQuestion(CandidateList(items=12)), oracle, Fraction(2), pad=pad
    )
    generator = np.random.default_rng(5)
    estimates = [imagined.hear(ask, generator) for _ in range(200)]
    assert {estimate.people for estimate in estimates} == {20_000}
    values = np.array([estimate.values for estimate in estimates])
    true_supports = imagined.baskets.item_counts / len(imagined.baskets)
    spread = np.sqrt(np.mean([estimate.variance for estimate in estimates], axis=0))
    assert (np.abs(values.mean(axis=0) - true_supports) < 5 * spread / np.sqrt(200)).all()
    assert (values.std(axis=0) / spread < 1.5).all()
    assert (values.std(axis=0) / spread > 0.5).all()
