"""Beliefs of adept: posteriors against numeric integration, sizes and paddings, scales, and its next questions."""

from __future__ import annotations

import ast
from fractions import Fraction
from itertools import combinations
from math import erf, exp, factorial, log, sqrt
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import discreet
from discreet.baskets import quest
from discreet.local.estimation import (
    BINS,
    Evidence,
    HeldSizes,
    ItemsetGuess,
    PatternBeliefs,
    _beliefs as beliefs,
    _candidates as candidates,
    _priors as priors,
    _sizes as sizes,
)
from discreet.local.estimation._beliefs import ItemLaw, log_scaled_cdf
from discreet.local.estimation._candidates import CommonErrors, EvidenceTable, PatternLevel, build_larger_sets
from discreet.local.estimation._priors import PAIRS, ItemsetPrior, fit_prior
from discreet.local.protocols import Adept, adept
from discreet.local.protocols.adept import RoundEstimate, best_oracle
from discreet.local.study import (
    Ask,
    CandidateList,
    CandidateQuestion,
    Estimate,
    Partition,
    SizeQuestion,
    StudyGoal,
    simulate,
)


def evidence(values, noise, relative=0.0) -> Evidence:
    values = np.atleast_1d(np.asarray(values, float))
    noise, relative, growth = (np.full(len(values), number) for number in (noise, relative, 0.0))
    return Evidence(values=values, noise=noise, relative=relative, growth=growth)


def guessed(guess, cap, unsure=0.0) -> ItemsetGuess:
    return ItemsetGuess(means=np.array([guess]), variance=np.array([unsure]), cap=np.array([cap]))


def normal(x, mean, variance):
    return np.exp(-((x - mean) ** 2) / (2 * variance)) / np.sqrt(2 * np.pi * variance)


class TestLogScaled:
    @pytest.mark.parametrize("z", [-8.0, -3.0, -1.0, -0.1, 0.0, 0.1, 1.0, 3.0, 6.0])
    def test_is_the_normal_law(self, z):
        tail = (1 + erf(z / sqrt(2))) / 2 if z > -4 else (1 / sqrt(2 * np.pi)) * np.exp(-(z**2) / 2) / -z
        expected_log = log(tail) + z**2 / 2
        assert log_scaled_cdf(np.array([z]))[0] == pytest.approx(expected_log, abs=2e-2 if z < -4 else 1e-6)

    def test_nothing_cancels_far_below(self):
        """There the law is about exp(-z^2 / 2) / (-z sqrt(2 pi))."""
        assert log_scaled_cdf(np.array([-1e6]))[0] == pytest.approx(-log(1e6 * sqrt(2 * np.pi)), abs=1e-5)


class TestTwoPart:
    @settings(max_examples=15)
    @given(
        value=st.floats(-0.05, 0.3),
        deviation=st.floats(0.003, 0.05),
        guess=st.floats(0.002, 0.1),
        cap=st.floats(0.1, 0.5),
        unsure=st.floats(0, 1e-4),
    )
    def test_against_integration(self, value, deviation, guess, cap, unsure):
        """Mean, variance and the chance to be over a threshold, and the likelihood that numbers are fitted by."""
        prior, variance = ItemsetPrior(1.2, 0.3, 0.1, 0.2), deviation**2
        known_evidence, guessed_law = evidence(value, variance), guessed(guess, cap, unsure)
        slab_variance, reach = 0.3 * (1.2 * guess) ** 2 + 1.2**2 * unsure + 1e-14, 0.2 * cap
        frequencies = np.linspace(-1.0, 2.0, 300_001)
        step = frequencies[1] - frequencies[0]
        slab = np.where(frequencies >= 0, np.exp(-np.maximum(frequencies, 0) / reach) / reach, 0.0)
        joint_density = (0.9 * normal(frequencies, 1.2 * guess, slab_variance) + 0.1 * slab) * normal(
            value, frequencies, variance
        )
        total = joint_density.sum() * step
        mean = (joint_density * frequencies).sum() * step / total
        variance_about_mean = (joint_density * (frequencies - mean) ** 2).sum() * step / total
        belief = prior.posterior(known_evidence, guessed_law)
        assert belief.means[0] == pytest.approx(mean, abs=2e-4)
        assert belief.variance[0] == pytest.approx(variance_about_mean, rel=0.02, abs=1e-7)
        probability_over = joint_density[frequencies > 0.04].sum() * step / total
        assert belief.probability_above(0.04)[0] == pytest.approx(probability_over, abs=2e-3)
        assert prior.likelihood(known_evidence, guessed_law, np.ones(1)) == pytest.approx(log(total), abs=2e-3)

    def test_what_was_not_measured_is_the_prior(self):
        prior = ItemsetPrior(1.0, 0.5, 0.1, 0.15)
        belief = prior.posterior(Evidence.unmeasured(1), guessed(0.02, 0.2))
        assert belief.means[0] == pytest.approx(0.9 * 0.02 + 0.1 * 0.03, rel=1e-3)
        assert belief.probability_above(0.1)[0] == pytest.approx(0.1 * np.exp(-0.1 / 0.03), rel=1e-2)

    def test_an_estimate_that_chance_hardly_explains_stays(self):
        """The slab is there for it: one normal law would pull it to the guess with all others."""
        known_evidence = evidence(0.15, 0.005**2)
        assert PAIRS.posterior(known_evidence, guessed(0.005, 0.2)).means[0] == pytest.approx(0.15, abs=0.002)

    def test_noise_is_pulled_to_the_guess(self):
        known_evidence = evidence(0.015, 0.02**2)
        assert abs(PAIRS.posterior(known_evidence, guessed(0.001, 0.02)).means[0] - 0.001) < 0.002

    def test_fit(self):
        """2,000 sets of which 15 % are of the slab: all four numbers are found, on a fixed seed."""
        generator = np.random.default_rng(1)
        guess, cap = generator.uniform(0.01, 0.05, 2000), np.full(2000, 0.3)
        true_frequencies = np.where(
            generator.random(2000) < 0.15,
            generator.exponential(0.4 * cap),
            1.4 * guess * (1 + sqrt(0.1) * generator.standard_normal(2000)),
        )
        known_evidence = evidence(true_frequencies + 0.002 * generator.standard_normal(2000), 0.002**2)
        fitted_prior = fit_prior(PAIRS, known_evidence, ItemsetGuess(means=guess, variance=np.zeros(2000), cap=cap))
        assert fitted_prior.slope == pytest.approx(1.4, rel=0.15)
        assert fitted_prior.spread == pytest.approx(0.1, rel=0.5)
        assert fitted_prior.share == pytest.approx(0.15, rel=0.3)
        assert fitted_prior.reach == pytest.approx(0.4, rel=0.3)

    def test_nothing_measured_leaves_the_defaults(self):
        assert fit_prior(PAIRS, Evidence.unmeasured(3), guessed(0.1, 0.2)) is PAIRS


class TestItemLaw:
    def test_learns_that_most_are_next_to_nothing(self):
        """2,000 items at 0.001 and 20 at 0.1, noise of 0.01, fixed seed: the few keep their place."""
        generator = np.random.default_rng(2)
        true_frequencies = np.concatenate((np.full(2000, 0.001), np.full(20, 0.1)))
        known_evidence = evidence(true_frequencies + 0.01 * generator.standard_normal(2020), 1e-4)
        law = ItemLaw.learn(known_evidence)
        belief = law.posterior(known_evidence)
        assert law.weights.sum() == pytest.approx(1)
        assert np.abs(belief.means[:2000] - 0.001).mean() < 0.001
        assert np.abs(belief.means[2000:] - 0.1).mean() < 0.008
        assert belief.probability_above(0.05)[2000:].min() > 0.95
        assert belief.probability_above(0.05)[:2000].max() < 0.6
        assert law.posterior_means(known_evidence).tolist() == pytest.approx(belief.means.tolist())

    def test_what_is_known_well_is_not_moved(self):
        """Parts are as wide as they are apart, so nothing is drawn to a grid."""
        true_frequencies = np.geomspace(0.01, 0.9, 300)
        known_evidence = evidence(true_frequencies, 1e-8)
        assert ItemLaw.learn(known_evidence).posterior(known_evidence).means == pytest.approx(
            true_frequencies, rel=0.01
        )

    def test_a_relative_error_does_not_excuse_noise(self):
        """An estimate five deviations of noise from 0 is not 0, however unsure corrections of frequent items are."""
        zeros = np.random.default_rng(3).standard_normal(3000) * 0.01
        plain = evidence(np.append(zeros, 0.06), 1e-4)
        loose = evidence(np.append(zeros, 0.06), 1e-4, 0.1)
        assert ItemLaw.learn(loose).posterior(loose).means[-1] > 0.02
        assert ItemLaw.learn(plain).posterior(plain).means[-1] > 0.02


class TestEvidence:
    def test_merging_is_by_precision(self):
        merged_evidence = evidence(0.1, 1.0).merge(evidence(0.4, 0.5), np.zeros(1))
        assert merged_evidence.values[0] == pytest.approx(0.3)
        assert merged_evidence.noise[0] == pytest.approx(1 / 3)

    def test_nothing_adds_nothing(self):
        merged_evidence = Evidence.unmeasured(1).merge(evidence(0.4, 0.5, 0.2), np.zeros(1))
        assert (merged_evidence.values[0], merged_evidence.noise[0], merged_evidence.relative[0]) == (0.4, 0.5, 0.2)


def told_by(law: np.ndarray, people: int = 10**9) -> Estimate:
    """Return the estimate of a round about sizes without noise."""
    candidates_of_round = CandidateList(items=len(law) - 1)
    bins = tuple(first_size for first_size in BINS if first_size < len(law))
    ask = Ask.of(
        "sizes", Partition().next(Fraction(1, 2)), SizeQuestion(candidates_of_round, bins), "subset", Fraction(1)
    )
    oracle, shares = ask.oracle, np.add.reduceat(law, bins)
    expected_supports = people * (shares * float(oracle.p_held) + (1 - shares) * float(oracle.p_other))
    return Estimate(ask, people, np.rint(expected_supports).astype(np.int64))


def law_of(*parts: tuple[int, float], max_size: int = 200) -> np.ndarray:
    law = np.zeros(max_size + 1)
    for size, share in parts:
        law[size] += share
    return law


class TestHeldSizes:
    def fit_sizes(self, law: np.ndarray, people: int = 10**9) -> HeldSizes:
        size_estimate = told_by(law, people)
        return HeldSizes.fit(size_estimate, size_estimate.ask.question.bins, len(law) - 1)

    def test_bins_without_noise_are_kept(self):
        law = law_of((0, 0.1), (1, 0.2), (3, 0.4), (5, 0.3))
        assert self.fit_sizes(law).chances[:6] == pytest.approx(law[:6], abs=0.01)

    def test_the_correction_is_that_of_the_sums(self):
        """A5, A6: what is held over what is kept."""
        law = law_of((1, 0.5), (4, 0.5))
        held_sizes = self.fit_sizes(law)
        assert held_sizes.correction(2) == pytest.approx(2.5 / 1.5, rel=0.03)
        assert held_sizes.correction(4) == pytest.approx(1, abs=0.02)

    def test_rare_candidates_are_cut_as_all_are_and_frequent_ones_less(self):
        law = law_of((2, 0.6), (20, 0.4))
        held_sizes = self.fit_sizes(law)
        values, slope = held_sizes.restore_frequencies(np.array([-0.01, 1e-6, 0.5]), 2)
        assert values[0] / -0.01 == pytest.approx(held_sizes.correction(2))
        assert values[1] / 1e-6 == pytest.approx(held_sizes.correction(2), rel=0.01)
        assert 0.5 < values[2] < 0.5 * held_sizes.correction(2)
        assert (slope >= 1).all()

    def test_restoring_undoes_the_cut(self):
        """Candidates held with the chance 1 - exp(-x c), cut to three of c."""
        law = law_of((1, 0.3), (3, 0.3), (8, 0.3), (30, 0.1))
        sizes, rates = np.arange(len(law)), np.array([0.001, 0.01, 0.1, 0.5])
        by_rate = 1 - np.exp(-rates[:, None] * sizes)
        cut_frequencies = by_rate @ (law * np.minimum(1, 3 / np.maximum(sizes, 1)))
        held_sizes = HeldSizes(sizes=sizes, chances=law, bin_starts=np.array([0, 1]), covariance=np.zeros((2, 2)))
        assert held_sizes.restore_frequencies(cut_frequencies, 3)[0] == pytest.approx(by_rate @ law, rel=2e-3)

    def test_pairs_beside_items_are_with_those_who_hold_the_most(self):
        """People of whom some hold ten times as many items as others, and a hundred times as many pairs."""
        active = np.array([1, 2, 5, 10])
        items, pairs = 2 * active, active**2
        law = law_of(*zip((items + pairs).tolist(), [0.4, 0.3, 0.2, 0.1], strict=True))
        held_sizes = HeldSizes(
            sizes=np.arange(len(law)), chances=law, bin_starts=np.array([0, 1]), covariance=np.zeros((2, 2))
        )
        shares = np.array([0.4, 0.3, 0.2, 0.1])
        kept_shares = np.minimum(1, 4 / (items + pairs))
        by_length = held_sizes.by_length({1: float(items @ shares), 2: float(pairs @ shares)})
        for length, items_or_pairs in ((1, items), (2, pairs)):
            cut_frequency, true_frequency = (
                0.001 * items_or_pairs @ (shares * kept_shares),
                0.001 * items_or_pairs @ shares,
            )
            assert by_length[length].restore_frequencies(np.array([cut_frequency]), 4)[0][0] == pytest.approx(
                true_frequency, rel=0.03
            )
            assert abs(held_sizes.restore_frequencies(np.array([cut_frequency]), 4)[0][0] / true_frequency - 1) > 0.15

    @pytest.mark.parametrize("expected", [{2: 1.5}, {1: 0.0, 2: 0.0}])
    def test_one_length_is_cut_as_all_are(self, expected):
        held_sizes = self.fit_sizes(law_of((2, 0.6), (20, 0.4)))
        assert all(sizes_of_length is held_sizes for sizes_of_length in held_sizes.by_length(expected).values())

    def test_nobody_holds_any(self):
        law = law_of((0, 1.0))
        held_sizes = HeldSizes(
            sizes=np.arange(len(law)), chances=law, bin_starts=np.array([0, 1]), covariance=np.zeros((2, 2))
        )
        assert held_sizes.by_length({1: 0.1, 2: 0.1})[2].correction(1) == 1.0

    @pytest.mark.parametrize("typical_size", [2.0, 8.0, 20.0])
    def test_what_is_typical_is_believed_where_nobody_was_asked(self, typical_size):
        size_estimate = told_by(law_of((1, 1.0)), 0)
        held_sizes = HeldSizes.fit(size_estimate, size_estimate.ask.question.bins, 200, (typical_size, 0.1))
        assert typical_size / 2 < held_sizes.sizes @ held_sizes.chances < 2 * typical_size

    @pytest.mark.parametrize("size", [1100, 3000, 9000])
    def test_what_is_held_beyond_all_laws_is_in_doubt(self, size):
        """Of 10,000: the last bin does not say where in it people are."""
        held_sizes = self.fit_sizes(law_of((size, 1.0), max_size=10_000))
        assert held_sizes.chances.sum() == pytest.approx(1)
        assert 0.5 < held_sizes.doubt(40) < 1
        assert abs(held_sizes.correction(40) - size / 40) < 1.96 * held_sizes.doubt(40) * held_sizes.correction(40)

    def test_noise_alone_puts_nobody_there(self):
        """A hundredth of two thousand people in the last bin is within their noise."""
        sizes_of_few = self.fit_sizes(law_of((3, 0.99), (5000, 0.01), max_size=10_000), 2000)
        assert (sizes_of_few.mean_error, len(sizes_of_few.sizes)) == (0.0, 1501)
        sizes_of_many = self.fit_sizes(law_of((3, 0.99), (5000, 0.01), max_size=10_000))
        assert sizes_of_many.correction(40) > 3 * sizes_of_few.correction(40)

    def test_nobody_was_asked(self):
        held_sizes = self.fit_sizes(law_of((1, 1.0)), people=0)
        assert held_sizes.chances.sum() == pytest.approx(1)
        assert held_sizes.correction(40) >= 1
        assert 0 <= held_sizes.doubt(1) <= 1

    def test_nobody_anywhere(self):
        """Reports of few people may say so of every bin."""
        estimate_of_nobody = SimpleNamespace(values=np.full(3, -2.0), variance=np.full(3, 1e-4))
        assert HeldSizes.fit(estimate_of_nobody, BINS[:3], 2).chances.sum() == pytest.approx(1)

    def test_one_item(self):
        held_sizes = self.fit_sizes(law_of((0, 0.5), (1, 0.5), max_size=1))
        assert held_sizes.chances == pytest.approx([0.5, 0.5], abs=0.01)

    def test_padding_is_near_what_people_hold(self):
        held_sizes = self.fit_sizes(law_of((4, 1.0)))
        assert 3 <= best_oracle(held_sizes, Fraction(2), 100, 500_000, (0.03, 0.02)).pad <= 5
        assert best_oracle(self.fit_sizes(law_of((1, 1.0))), Fraction(2), 100, 500_000, (0.03, 0.02)).pad == 1

    @pytest.mark.parametrize(("held_size", "pads"), [(4, (2, 3, 4, 5)), (200, (1, 2, 3, 4, 5))])
    def test_paddings_up_to_five_are_compared_whatever_liars_can_drive(self, held_size, pads):
        """At an epsilon of .5 half of the people is all that is trusted, and they hold nothing here."""
        candidates_of_round, goal = CandidateList(items=200), StudyGoal(items=200, top=8, epsilon=Fraction(1, 2))
        talk = Adept().ask_round(candidates_of_round, Partition(), Fraction(1, 2), goal, (0.02, 0.02), "items")
        ask, people = next(talk), 200_000
        shares = np.add.reduceat(law_of((0, 0.6), (held_size, 0.4)), ask.question.bins)
        oracle = ask.oracle
        supports = people * (shares * float(oracle.p_held) + (1 - shares) * float(oracle.p_other))
        assert talk.send(Estimate(ask, people, np.rint(supports).astype(np.int64))).frequencies.pad in pads

    def test_a_frequent_candidate_follows_an_error_of_the_correction_less(self):
        held_sizes = self.fit_sizes(law_of((2, 0.6), (20, 0.4)))
        rare, middle, frequent = held_sizes.error_share(2, np.array([0.0, 0.2, 0.7])).tolist()
        assert rare == pytest.approx(1)
        assert rare > middle > frequent > 0
        assert self.fit_sizes(law_of((0, 0.5), (1, 0.5), max_size=1)).error_share(1, np.array([0.1])).tolist() == [1.0]

    @pytest.mark.parametrize("deviation", [0.0125, 0.02])
    def test_the_doubt_is_as_large_as_the_error(self, deviation):
        """Bins of a long tail are off together. Half of all errors are below two thirds of a deviation.

        Twenty runs on a fixed seed: over one and a quarter is that median less often than once in ten thousand.
        """
        sizes, generator, errors = np.arange(1, 401), np.random.default_rng(1), []
        tail = np.exp(-(np.log(sizes / 1.5) ** 2) / (2 * 1.2**2)) / sizes
        law = np.concatenate(([0.2], 0.8 * tail / tail.sum()))
        bins = tuple(first_size for first_size in BINS if first_size < len(law))
        shares, kept_sizes = np.add.reduceat(law, bins), np.minimum(np.arange(401), 6)
        true_correction = (np.arange(401) @ law) / (kept_sizes @ law)
        for _ in range(20):
            noisy_shares = shares + deviation * generator.standard_normal(len(bins))
            size_estimate = SimpleNamespace(values=noisy_shares, variance=np.full(len(bins), deviation**2))
            held_sizes = HeldSizes.fit(size_estimate, bins, 400)
            errors.append(abs(log(held_sizes.correction(6) / true_correction)) / held_sizes.doubt(6))
        assert 0.3 < np.median(errors) < 1.25

    @pytest.mark.parametrize(("kind", "deviation", "max_error"), [("long", 0.015, 0.2), ("pairs", 0.004, 0.12)])
    def test_one_grid_serves_long_tails_and_few_held(self, kind, deviation, max_error):
        """All items, whose sizes have a long tail, and pairs of few items, whose sizes have gaps; a fixed seed.

        The root mean square of twenty logarithms is a third below the bound, with deviations of a sixth of itself:
        noise passes it less often than once in a hundred. One law that expects few to be held has .57 and .08 here, and
        a grid of laws that expects nothing .22 and .45.
        """
        law = np.zeros(2017)
        if kind == "long":
            sizes = np.arange(1, 2017)
            tail = np.exp(-(np.log(sizes / 3) ** 2) / (2 * 1.3**2)) / sizes
            law[0], law[1:] = 0.05, 0.95 * tail / tail.sum()
        else:
            for item_count in range(30):
                law[item_count * (item_count - 1) // 2] += exp(-1.8) * 1.8**item_count / factorial(item_count)
        generator, shares = np.random.default_rng(1), np.add.reduceat(law, BINS)
        true_correction = (np.arange(2017) @ law) / (np.minimum(np.arange(2017), 2) @ law)
        errors = []
        for _ in range(20):
            noisy_shares = shares + deviation * generator.standard_normal(len(BINS))
            size_estimate = SimpleNamespace(values=noisy_shares, variance=np.full(len(BINS), deviation**2))
            errors.append(log(HeldSizes.fit(size_estimate, BINS, 2016).correction(2) / true_correction))
        assert sqrt(np.mean(np.square(errors))) < max_error

    def test_little_is_known_of_a_correction_from_few_people(self):
        law = law_of((1, 0.5), (10, 0.5))
        assert self.fit_sizes(law, 500).doubt(2) > 3 * self.fit_sizes(law, 500_000).doubt(2)

    def test_what_may_be_off_hangs_on_no_sign(self):
        """An estimate hardly below 0 is as rare as one hardly over it, and as much of it was cut off."""
        law = law_of((2, 0.5), (20, 0.5))
        held_sizes = HeldSizes(
            sizes=np.arange(len(law)), chances=law, bin_starts=np.array([0, 1]), covariance=np.zeros((2, 2))
        )
        answer = SimpleNamespace(
            ask=SimpleNamespace(frequencies=SimpleNamespace(pad=2, spread=lambda values, people: np.full(1, 1e-6))),
            people=1000,
            values=np.array([-1e-3, -1e-9, 1e-9, 0.4]),
            variance=np.full(4, 1e-6),
        )
        round_estimate = RoundEstimate.of(answer, held_sizes)
        relative = round_estimate.evidence.relative
        # Half as large an error as each has of its own is common to all, on top; the sizes are known for sure here.
        assert round_estimate.doubt == pytest.approx(sqrt(relative[2]) / 2, rel=1e-6)
        assert relative[:3] == pytest.approx(np.full(3, relative[2]), rel=1e-6)
        assert relative[3] < relative[2]

    def test_nothing_is_cut_where_nobody_holds_more(self):
        size_estimate = told_by(law_of((1, 1.0)))
        held_sizes = HeldSizes.fit(size_estimate, size_estimate.ask.question.bins, 200)
        answer = Estimate(
            Ask.of(
                "which", Partition().next(Fraction(1, 2)), CandidateQuestion(CandidateList(items=2)), "grr", Fraction(1)
            ),
            100,
            np.array([50, 10]),
        )
        round_estimate = RoundEstimate.of(answer, held_sizes)
        assert round_estimate.evidence.values == pytest.approx(answer.values, rel=0.01)
        assert round_estimate.correction == pytest.approx(1, abs=0.01)


def level(sets: list[tuple[int, ...]], means: list[float]) -> PatternLevel:
    known_evidence = evidence(means, 1e-12)
    return PatternLevel.build(sets, ItemLaw.learn(known_evidence).posterior(known_evidence))


class TestLarger:
    def test_the_guess_takes_two_members_apart_where_the_rest_is_held(self):
        """f(ab) f(ac) / f(a), and the same for b and c, in the geometric mean."""
        items = level([(0,), (1,), (2,)], [0.5, 0.4, 0.3])
        pairs = level([(0, 1), (0, 2), (1, 2)], [0.3, 0.2, 0.2])
        larger_sets = build_larger_sets([items, pairs], np.ones(3), EvidenceTable())
        assert larger_sets is not None
        assert larger_sets.sets == [(0, 1, 2)]
        core = (0.3 * 0.2 / 0.5 * 0.3 * 0.2 / 0.4 * 0.2 * 0.2 / 0.3) ** (1 / 3)
        assert larger_sets.belief.centres[0, 0] == pytest.approx(core, rel=0.01)

    def test_all_parts_have_to_be_likely(self):
        items = level([(0,), (1,), (2,)], [0.5, 0.4, 0.3])
        pairs = level([(0, 1), (0, 2), (1, 2)], [0.3, 0.2, 0.2])
        assert build_larger_sets([items, pairs], np.array([1.0, 1.0, 0.0]), EvidenceTable()) is None


class TestPicture:
    def picture(self, values: list[float], noise: float, **goal) -> PatternBeliefs:
        return PatternBeliefs(evidence(values, noise), 0.0, **{"top": 3, "least": 1, "largest": 2} | goal)

    def test_nothing_is_asked_where_everything_is_known(self):
        assert self.picture([0.6, 0.5, 0.4, 1e-5, 1e-5], 1e-12, largest=1).uncertain_patterns(0.01, 100) == []

    def test_of_very_many_items_those_are_kept_that_may_matter(self, monkeypatch):
        """What is believed and asked for is the same as if all were kept, also after a round about some of them."""
        noise = np.random.default_rng(3).normal(0, 0.003, 5000)
        known_evidence = evidence(np.maximum(0.3 / np.arange(1, 5001), 1e-4) + noise, 9e-6)
        beliefs_by_limit = []
        for max_kept_items in (candidates.MAX_KEPT_ITEMS, 600):
            monkeypatch.setattr(candidates, "MAX_KEPT_ITEMS", max_kept_items)
            picture = PatternBeliefs(known_evidence, 0.1, top=20, least=1, largest=2)
            asked_patterns = picture.uncertain_patterns(0.01, 50)
            picture.add(asked_patterns, evidence(np.linspace(0.02, 0.001, len(asked_patterns)), 1e-6), 0.1)
            assert len(picture.items.values) == min(max_kept_items, 5000)
            levels = [(level.sets, level.means.tolist()) for level in picture.levels]
            beliefs_by_limit.append(
                (
                    asked_patterns,
                    levels,
                    picture.most_frequent(20),
                    picture.target_frequency,
                    picture.precision_of_items,
                )
            )
        assert beliefs_by_limit[0][:4] == beliefs_by_limit[1][:4]
        assert beliefs_by_limit[0][4] == pytest.approx(beliefs_by_limit[1][4], rel=0.05)

    def test_then_the_top_is_asked_for_its_counts(self):
        assert self.picture([0.4, 1e-5, 0.6, 0.5, 1e-5], 1e-12, largest=1).most_frequent(3) == [(0,), (2,), (3,)]
        assert len(simulate([{"a"}] * 900, "adept", top=1, epsilon=8, seed=1).rounds) == 8

    def test_what_is_sure_is_not_asked(self):
        picture = self.picture([0.6, 0.5, 0.21, 0.2, 0.001], 1e-4, largest=1)
        assert picture.uncertain_patterns(0.01, 100) == [(2,), (3,)]
        assert picture.uncertain_patterns(0.01, 1) in ([(2,)], [(3,)])

    def test_a_person_is_expected_to_hold_few_of_what_is_asked(self):
        """Of forty items that every second person holds; the most uncertain come first, and one at least."""
        picture = self.picture(np.linspace(0.45, 0.55, 40), 1e-3, top=20, largest=1)
        means = dict(zip(picture.levels[0].sets, picture.levels[0].means, strict=True))
        every, few_patterns = picture.uncertain_patterns(0.01, 100), picture.uncertain_patterns(0.01, 100, 5)
        assert sum(means[itemset] for itemset in every) > 15
        assert 4 < sum(means[itemset] for itemset in few_patterns) <= 5
        chances = dict(
            zip(picture.levels[0].sets, picture.levels[0].belief.probability_above(picture.threshold), strict=True)
        )
        certainty_of_rest = [abs(chances[itemset] - 0.5) for itemset in every if itemset not in few_patterns]
        assert max(abs(chances[itemset] - 0.5) for itemset in few_patterns) <= min(certainty_of_rest)
        assert len(picture.uncertain_patterns(0.01, 100, 0.1)) == 1
        assert sum(means[itemset] for itemset in picture.most_frequent(20, 5)) <= 5

    @pytest.mark.parametrize(("top", "items"), [(3, 200), (300, 900), (500, 1000)])
    def test_as_many_items_are_looked_at_as_are_wanted_and_few_are_paired(self, top, items):
        picture = self.picture(np.geomspace(0.5, 1e-3, 1000), 1e-8, top=top)
        assert len(picture.levels[0].sets) == items
        paired = min(items, 400)
        assert len(picture.levels[1].sets) == paired * (paired - 1) // 2

    def test_what_a_round_is_to_tell_is_no_rarer_than_what_there_is(self):
        """Three items and three wanted: no border, but frequencies to tell. Of more, those at the border."""
        few_items = self.picture([0.6, 0.5, 0.4], 1e-6, largest=1)
        assert few_items.threshold < 1e-5
        assert few_items.target_frequency == pytest.approx(0.5, rel=0.01)
        more_items = self.picture([0.6, 0.5, 0.4, 0.01], 1e-6, largest=1)
        assert more_items.target_frequency >= more_items.threshold
        assert more_items.target_frequency == pytest.approx(0.4, rel=0.05)

    def test_the_threshold_is_where_as_many_are_expected(self):
        picture = self.picture([0.6, 0.5, 0.3, 0.1, 0.05], 1e-10, largest=1)
        assert 0.1 <= picture.threshold <= 0.3

    def test_no_set_is_believed_more_frequent_than_its_parts(self):
        picture = self.picture([0.6, 0.5, 0.4, 0.3], 1e-4, top=8, largest=3)
        pairs = picture.levels[1].sets
        picture.add(pairs, evidence(np.full(len(pairs), 0.9), 1e-4), 0.0)
        self.check(picture)

    @pytest.mark.parametrize("prior", [True, False])
    def test_nor_where_nobody_holds_anything(self, prior):
        picture = self.picture([-0.01, -0.01, -0.01, -0.01], 1e-4, top=15, largest=3, prior=prior)
        pairs = picture.levels[1].sets
        picture.add(pairs, evidence(np.full(len(pairs), 0.01), 1e-4), 0.0)
        self.check(picture)

    def check(self, picture: PatternBeliefs) -> None:
        mean_by_itemset = {
            itemset: value
            for pattern_level in picture.levels
            for itemset, value in zip(pattern_level.sets, pattern_level.means, strict=True)
        }
        for itemset, value in mean_by_itemset.items():
            assert all(value <= mean_by_itemset[part] for part in combinations(itemset, len(itemset) - 1) if part)

    def test_without_a_prior_an_estimate_is_believed_as_it_is(self):
        known_evidence = evidence([0.5, 0.4, -0.01, 0.02], 1e-4, 0.01)
        picture = PatternBeliefs(known_evidence, 0.0, top=3, least=1, largest=2, prior=False)
        items, pairs = picture.levels
        assert items.sets == [(0,), (1,), (3,), (2,)]
        assert items.means.tolist() == [0.5, 0.4, 0.02, 0.0]
        assert items.belief.variance[:2] == pytest.approx([1e-4 + 0.01 * 0.25, 1e-4 + 0.01 * 0.16])
        assert pairs.means[pairs.positions[0, 1]] == pytest.approx(0.2)
        picture.add([(0, 1), (0, 3)], evidence([0.31, -0.01], 1e-6), 0.0)
        pairs = picture.levels[1]
        assert pairs.means[[pairs.positions[0, 1], pairs.positions[0, 3]]].tolist() == [0.31, 0.0]

    def test_without_merging_the_newest_counts(self):
        picture = PatternBeliefs(evidence([0.5, 0.4, 0.3], 1e-4), 0.0, top=2, least=1, largest=2, merged=False)
        picture.add([(0,), (0, 1)], evidence([0.54, 0.2], 1e-2), 0.0)
        assert picture.items.values.tolist() == [0.54, 0.4, 0.3]
        assert picture.items.noise.tolist() == [1e-2, 1e-4, 1e-4]
        picture.add([(0, 1)], evidence([0.3], 1e-2), 0.0)
        assert picture.table.evidence_of([(0, 1)]).values.tolist() == [0.3]


class TestScale:
    """All estimates of a round share the error of one correction."""

    def picture(self, doubt: float) -> PatternBeliefs:
        return PatternBeliefs(evidence([0.5, 0.4, 0.3, 0.2], 1e-8), doubt, top=2, least=1, largest=1)

    def test_what_a_round_lies_over_what_is_believed(self):
        beliefs = (np.array([0.5, 0.3]), np.zeros(2))
        common_errors = CommonErrors.estimate(
            evidence([0.6, 0.36], 1e-6), beliefs, (0.0, 0.5), (np.ones(2), np.ones(2))
        )
        assert (common_errors.earlier, common_errors.doubt) == (0.0, 0.0)
        assert common_errors.newer == pytest.approx(0.2, rel=1e-4)
        assert common_errors.spare == pytest.approx(1e-6 / (0.5**2 + 0.3**2), rel=1e-4)

    def test_nothing_is_known_before(self):
        nothing = np.zeros(0)
        common_errors = CommonErrors.estimate(evidence([], 1.0), (nothing, nothing), (0.1, 0.2), (nothing, nothing))
        assert (common_errors.earlier, common_errors.newer, common_errors.doubt, common_errors.spare) == (
            0.0,
            0.0,
            0.1,
            0.0,
        )

    def test_is_a_regression(self):
        """The same by least squares, with a row for what is known of either error before."""
        generator = np.random.default_rng(4)
        means, variance = generator.uniform(0.05, 0.6, 12), generator.uniform(1e-5, 1e-4, 12)
        follows = (generator.uniform(0.3, 1, 12), generator.uniform(0.3, 1, 12))
        known_evidence = evidence(means * 1.1 + 0.01 * generator.standard_normal(12), 1e-4, 0.01)
        common_errors = CommonErrors.estimate(known_evidence, (means, variance), (0.1, 0.2), follows)
        deviations = np.sqrt(1e-4 + variance + 0.01 * means**2)
        rows = np.vstack(
            (np.stack((-means * follows[0], means * follows[1]), 1) / deviations[:, None], np.diag([10, 5]))
        )
        expected_errors = np.linalg.lstsq(
            rows, np.append((known_evidence.values - means) / deviations, [0.0, 0.0]), rcond=None
        )[0]
        inverse_information = np.linalg.inv(rows.T @ rows)
        assert [common_errors.earlier, common_errors.newer] == pytest.approx(expected_errors.tolist())
        assert common_errors.doubt == pytest.approx(sqrt(inverse_information[0, 0]))
        assert common_errors.spare == pytest.approx(np.array([1, -1]) @ inverse_information @ np.array([1, -1]))

    def test_what_was_hardly_cut_off_is_hardly_moved(self):
        """A round about rare items says that all were too high; the most frequent one, all of which was seen, stays."""

        def follows(frequencies):
            return 1.0 - (frequencies > 0.3)

        items = evidence([0.5, 0.1, 0.09, 0.08], 1e-8)
        picture = PatternBeliefs(items, 0.2, follows, top=2, least=1, largest=1)
        picture.add([(1,), (2,)], evidence([0.08, 0.072], 1e-8), 0.0, follows)
        assert picture.items.values == pytest.approx([0.5, 0.08, 0.072, 0.064], rel=0.02)

    @pytest.mark.parametrize(
        ("doubt", "other_doubt", "expected_frequency"), [(0.0, 0.1, 0.5), (0.1, 0.0, 0.6), (0.1, 0.1, 0.55)]
    )
    def test_the_less_certain_gives_way(self, doubt, other_doubt, expected_frequency):
        picture = self.picture(doubt)
        picture.add([(0,), (1,)], evidence([0.6, 0.48], 1e-8), other_doubt)
        assert picture.items.values[0] == pytest.approx(expected_frequency, rel=0.02)
        assert picture.doubt <= doubt

    def test_the_law_moves_with_the_items_it_was_learnt_from(self):
        """It would pull those nobody was asked about again to where all were before."""
        picture = self.picture(0.3)
        items, law = picture.items.values, picture.law
        picture.add([(0,), (1,)], evidence([0.4, 0.32], 1e-8), 0.0)
        factor = picture.items.values[3] / items[3]
        assert factor == pytest.approx(0.8, rel=0.01)
        assert picture.law.centres == pytest.approx(law.centres * factor)
        assert picture.law.spreads == pytest.approx(law.spreads * factor)

    def test_two_that_are_sure_are_merged_as_they_are(self):
        picture = self.picture(0.0)
        picture.add([(0,), (1,)], evidence([0.6, 0.48], 1e-8), 0.0)
        assert picture.items.values[:2] == pytest.approx([0.55, 0.44])


def render_number(number: float) -> str:
    """Return a number as the page writes it: 20,000, .15, 1e-9."""
    if number == int(number):
        return f"{int(number):,}"
    return f"{number:.10g}".replace("0.", ".", 1) if abs(number) >= 1e-4 else f"{number:.0e}".replace("e-0", "e-")


def render_constant(value) -> str:
    """Return a constant as the page writes it: a long list by its length, first and last number."""
    if isinstance(value, ItemsetPrior):
        value = (value.slope, value.spread, value.share, value.reach)
    if isinstance(value, int | float):
        return render_number(value)
    if isinstance(value[0], tuple):
        return ", ".join(render_constant(entry) for entry in value)
    if len(value) > 5:
        return f"{len(value)} from {render_number(value[0])} to {render_number(value[-1])}"
    return f"({', '.join(render_number(entry) for entry in value)})"


@pytest.mark.parametrize("module", [adept, beliefs, candidates, priors, sizes], ids=lambda module: module.__name__)
def test_every_constant_is_on_the_page(module):
    """With its value: those of a row stand in the order of its names."""
    page = Path(adept.__file__).with_suffix(".md").read_text().partition("## Constants")[2]
    rows = [line.split("|")[1:3] for line in page.splitlines() if line.startswith("| `")]
    documented_constants = {}
    for names, values in rows:
        documented_constants |= dict(
            zip((name.strip(" `") for name in names.split(",")), values.strip().split("; "), strict=True)
        )
    expected_constants = {}
    for node in ast.parse(Path(module.__file__).read_text()).body:
        plain = isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) != "TypeAlias"
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if plain else []
        for name in (leaf.id for target in targets for leaf in ast.walk(target) if isinstance(leaf, ast.Name)):
            expected_constants[name] = render_constant(getattr(module, name))
    assert expected_constants == {name: documented_constants.get(name) for name in expected_constants}


class TestFewPeople:
    """Where reports are few and most of them true, an estimate of 0 has next to no noise, and a large one much."""

    def test_noise_goes_by_what_is_true(self):
        known_evidence = Evidence(
            values=np.array([0.0, 0.4]), noise=np.array([0.01, 0.09]), relative=np.zeros(2), growth=np.array([0.2, 0.2])
        )
        assert known_evidence.noise_at(np.array([0.0, 0.0])).tolist() == pytest.approx([0.01, 0.01])
        assert known_evidence.noise_at(np.array([0.4, 0.4])).tolist() == pytest.approx([0.09, 0.09])
        merged_evidence = known_evidence.merge(known_evidence, np.array([0.2, 0.2]))
        assert merged_evidence.noise.tolist() == pytest.approx([0.005, 0.045])
        assert merged_evidence.noise_at(np.zeros(2)).tolist() == pytest.approx([0.005, 0.005])
        steep = Evidence(values=np.array([0.1]), noise=np.array([0.01]), relative=np.zeros(1), growth=np.array([-0.1]))
        assert steep.noise_at(np.array([1.0])).tolist() == pytest.approx([0.01])  # never below all that was seen
        assert (steep.merge(known_evidence.take(np.array([1])), np.array([0.4])).noise > 0).all()
        assert known_evidence.scale(0.5).noise_at(np.full(2, 0.2)).tolist() == pytest.approx([0.0225, 0.0225])

    @pytest.mark.statistical
    @pytest.mark.parametrize("epsilon", [4, 8])
    def test_intervals_hold_where_people_are_few_and_hold_much(self, epsilon):
        """40 items each of 1,500, 4,000 people: .97 of 300 intervals held; before, none did at epsilon 4.

        The seeds are fixed. With an interval of 95 % less than .85 would hold once in 10^9.
        """
        baskets = quest(4000, items=1500, mean_size=40, mean_pattern=4, seed=3)
        intervals_hold = []
        for seed in range(3):
            patterns = simulate(baskets, "adept", top=50, epsilon=epsilon, seed=seed).patterns
            true_counts = {
                pattern.items: pattern.count
                for pattern in discreet.mine(baskets, itemsets=[pattern.items for pattern in patterns])
            }
            ends = zip(patterns, patterns.low, patterns.high, strict=True)
            intervals_hold += [low <= true_counts.get(pattern.items, 0) <= high for pattern, low, high in ends]
            assert (patterns.counts > 0).all()
        assert np.mean(intervals_hold) > 0.85
