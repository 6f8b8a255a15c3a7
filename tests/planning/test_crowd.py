"""Imagined crowds: they are as they were described, and answer for as many people as they stand for."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.exact.engine import LocalEngine
from discreet.exact.itemsets import Itemsets
from discreet.exact.query import Kth, Largest, People, Sizes, Supports
from discreet.local.asking import Ask, Who
from discreet.local.loss import WORD
from discreet.local.questions import Candidates, Which
from discreet.planning.crowd import BASKETS, ScaledEngine, imagine, sizes_of, zipf


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
    supports, there = crowd(mean=mean, exponent=exponent)
    found = there.baskets.item_counts / len(there.baskets)
    assert np.abs(found - supports).max() < 0.03
    assert there.baskets.sizes.mean() == pytest.approx(mean, rel=0.05)


def test_typical_sizes_are_met():
    supports = zipf(100, 4.0, 1.0)
    there = imagine(supports, np.array([2, 6]), np.array([0.5, 0.5]), 50_000)
    assert set(there.baskets.sizes.tolist()) == {2, 6}


def test_less_than_an_item_a_basket():
    supports = zipf(10, 0.5, 1.0)
    there = imagine(supports, *sizes_of(0.5, supports), 10_000)
    assert set(there.baskets.sizes.tolist()) == {0, 1}


def test_the_same_numbers_draw_the_same_crowd():
    one, other = crowd()[1], crowd()[1]
    assert one.baskets == other.baskets
    assert len(one.baskets) == BASKETS
    assert one.of(7).people == 7


def test_the_engine_answers_for_everybody():
    there = crowd()[1]
    asked: list[str] = []
    engine, inner = ScaledEngine(there.exact, there.scale, asked), LocalEngine(there.baskets)
    pairs = Itemsets(np.array([0, 1, 3]), np.array([0, 0, 1], np.int32))
    for query in (People(), Sizes(5), Supports(pairs), Kth(3, 1, 2)):
        assert engine.answer(query).tolist() == (inner.answer(query) * 10).tolist()
    assert engine.answer(Largest(1, 50)).tolist() == (inner.answer(Largest(1, 5)) * 10).tolist()
    listed = engine.above(20_000, 1, 2, 1_000)
    assert (listed.counts > listed.bound).all()
    expected = inner.above(2_000, 1, 2, 1_000)
    assert listed.counts.tolist() == (expected.counts * 10).tolist()
    assert asked == ["People", "Sizes", "Supports", "Kth", "Largest", "above"]


@pytest.mark.parametrize(("oracle", "pad"), [("grr", 1), ("olh", 3), ("privset", 3), ("wheel", 3), ("oue", 1)])
def test_what_a_round_hears_is_right_on_average_and_as_noisy_as_its_oracle_says(oracle, pad):
    # The mean over 200 rounds is off by five deviations once in 10^6; a variance of 200 lies within half of the truth.
    there = crowd(items=12, mean=1.0, people=40_000)[1]
    ask = Ask.of("which", Who(0, WORD // 2), Which(Candidates(items=12)), oracle, Fraction(2), pad=pad)
    generator = np.random.default_rng(5)
    heard = [there.hear(ask, generator) for _ in range(200)]
    assert {one.people for one in heard} == {20_000}
    values = np.array([one.values for one in heard])
    true = there.baskets.item_counts / len(there.baskets)
    spread = np.sqrt(np.mean([one.variance for one in heard], axis=0))
    assert (np.abs(values.mean(axis=0) - true) < 5 * spread / np.sqrt(200)).all()
    assert (values.std(axis=0) / spread < 1.5).all()
    assert (values.std(axis=0) / spread > 0.5).all()
