"""Beliefs of `adept` about frequencies near 1."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.baskets import read
from discreet.local.estimation import Evidence, ItemsetGuess, PatternBeliefs
from discreet.local.estimation._beliefs import ItemLaw, mix_normals
from discreet.local.estimation._candidates import EvidenceTable, PatternLevel, build_larger_sets, build_pairs
from discreet.local.estimation._priors import PAIRS
from discreet.local.study import simulate


def evidence(values, noise):
    return Evidence.noisy(np.asarray(values, float), np.full(len(values), float(noise)))


class TestNothingIsHeldByMoreThanEverybody:
    def test_a_part_that_reaches_over_1_is_cut_there(self):
        belief = mix_normals(np.ones((1, 2)), np.array([[1.1, 0.5]]), np.array([[0.1, 0.1]]), np.zeros(1, bool))
        grid = np.linspace(0, 1, 200_001)
        law = np.exp(-((grid - 1.1) ** 2) / 0.02)
        mean = (law * grid).sum() / law.sum()
        assert belief.means == pytest.approx([mean, 0.5], abs=1e-4)
        assert belief.variance[0] == pytest.approx((law * (grid - mean) ** 2).sum() / law.sum(), rel=1e-2)
        probability_over = law[grid > 0.95].sum() / law.sum()
        assert belief.probability_above(0.95)[0] == pytest.approx(probability_over, abs=1e-3)
        assert belief.probability_above(1.0) == pytest.approx([0, 0], abs=1e-6)

    def test_what_is_over_1_says_by_how_much_all_is_too_large(self):
        """Ten items of everybody, told a fifth too high by a correction that is known to a tenth."""
        rng = np.random.default_rng(1)
        true_frequencies = np.concatenate((np.full(10, 0.99), np.full(40, 0.3)))
        known_evidence = evidence(true_frequencies * 1.2 + rng.normal(0, 0.02, 50), 0.02**2)
        picture = PatternBeliefs(known_evidence, 0.1, top=8, least=1, largest=1)
        assert picture.items.values[10:].mean() == pytest.approx(0.3, abs=0.02)
        assert picture.levels[0].means.max() <= 1
        # Where nothing is near 1, nothing is taken off.
        plain = evidence(np.full(50, 0.3), 1e-4)
        assert (PatternBeliefs(plain, 0.1, top=8, least=1, largest=1).items.values == 0.3).all()

    def test_the_threshold_of_dense_data_is_below_1(self):
        known_evidence = evidence(np.linspace(0.9, 1.0, 20), 0.02**2)
        picture = PatternBeliefs(known_evidence, 0.0, top=4, least=2, largest=2)
        assert 0.9 < picture.threshold < 0.999


class TestFloor:
    def test_who_holds_two_items_that_nearly_all_hold_holds_both(self):
        """At least f(a) + f(b) - 1 of the people: the prior is as narrow as that."""
        known_evidence = evidence([0.97, 0.96, 0.2], 1e-8)
        items = PatternLevel.build([(0,), (1,), (2,)], ItemLaw.learn(known_evidence).posterior(known_evidence))
        pairs = build_pairs(items, EvidenceTable())
        frequent_pair, rare = pairs.positions[0, 1], pairs.positions[0, 2]
        assert pairs.means[frequent_pair] == pytest.approx(0.931, abs=0.01)
        assert np.sqrt(pairs.belief.variance[frequent_pair]) < 0.03
        assert pairs.belief.floor[frequent_pair] == pytest.approx(0.93, abs=0.01)
        assert np.sqrt(pairs.belief.variance[rare]) > np.sqrt(pairs.belief.variance[frequent_pair])

    def test_of_rare_items_nothing_changes(self):
        known_evidence, rare_frequencies = evidence([0.02, 0.01], 1e-5), np.array([0.01, 0.02])
        plain = ItemsetGuess(means=rare_frequencies**2, variance=rare_frequencies**4, cap=rare_frequencies)
        floored = ItemsetGuess(
            means=rare_frequencies**2, variance=rare_frequencies**4, cap=rare_frequencies, floor=np.zeros(2)
        )
        assert PAIRS.posterior(known_evidence, plain).means == pytest.approx(
            PAIRS.posterior(known_evidence, floored).means, rel=1e-12
        )

    def test_larger_sets_are_held_by_whoever_holds_two_parts_of_what_all_hold(self):
        def level(sets, means):
            known_evidence = evidence(means, 1e-8)
            return PatternLevel.build(sets, ItemLaw.learn(known_evidence).posterior(known_evidence))

        items = level([(0,), (1,), (2,)], [0.99, 0.98, 0.97])
        pairs = level([(0, 1), (0, 2), (1, 2)], [0.97, 0.96, 0.95])
        larger_sets = build_larger_sets([items, pairs], np.ones(3), EvidenceTable())
        assert larger_sets is not None
        lowest_frequency = 2 / 3 * (0.97 + 0.96 + 0.95) - (0.99 + 0.98 + 0.97) / 3
        assert larger_sets.belief.floor[0] == pytest.approx(lowest_frequency, abs=0.01)
        assert larger_sets.means[0] == pytest.approx(0.94, abs=0.015)


def test_of_data_that_everyone_holds_most_of_pairs_are_told_apart():
    """Twelve items that 99 to 88 of 100 hold, each by itself: more than half of the points of the top eight pairs.

    Of four seeds it is .53 to .86, and .86 with the one here; before frequencies were cut at 1 it was .19 to .47.
    """
    rng = np.random.default_rng(3)
    holdings = rng.random((40_000, 24)) < np.concatenate((np.linspace(0.995, 0.88, 12), np.full(12, 0.4)))
    baskets = read([set(np.flatnonzero(row).tolist()) for row in holdings])
    outcome = simulate(baskets, top=8, least=2, epsilon=8, seed=5, speed="aggregated", score=True)
    assert outcome.scores["normalised cumulative rank"] > 0.5
