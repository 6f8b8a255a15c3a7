"""Sizes, paddings and corrections, which protocols share (A5 to A9)."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from statistics import NormalDist
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, strategies as st

from discreet.errors import MisuseError
from discreet.local.device import WORD
from discreet.local.estimation import BINS
from discreet.local.study import (
    Ask,
    CandidateEstimates,
    CandidateList,
    CandidateQuestion,
    Estimate,
    Partition,
    PeopleGroup,
    SizeQuestion,
    SizesRound,
    converse,
    estimate_candidates,
)

NINE = Fraction(9, 10)
EVERYONE = PeopleGroup(0, WORD)


def sizes(*fractions: float) -> SizesRound:
    return SizesRound(fractions=np.array(fractions, float))


def exactly(ask: Ask, frequencies: list[float], people: int) -> Estimate:
    """What a round hears if noise were to leave every count where it is expected."""
    p_held, p_other = float(ask.oracle.p_held), float(ask.oracle.p_other)
    expected_supports = [round(people * (share * p_held + (1 - share) * p_other)) for share in frequencies]
    return Estimate(ask, people, np.array(expected_supports, np.int64))


def round_of(question: SizeQuestion, frequencies: list[float], people: int = 10**9, oracle: str = "olh") -> Estimate:
    return exactly(Ask.of("how many", EVERYONE, question, oracle, Fraction(1)), frequencies, people)


class TestCorrection:
    """A5, A6: the ratio of all item occurrences to those that are left when baskets are cut."""

    def test_by_hand(self):
        assert sizes(0.5, 0.3, 0.2).correction(2) == pytest.approx((0.5 + 0.6 + 0.6) / (0.5 + 0.6 + 0.4))
        assert sizes(0.5, 0.3, 0.2).correction(3) == 1.0
        assert sizes(0, 0, 0, 1).correction(1) == 4.0

    def test_not_as_printed(self):
        """The printed form counts people where occurrences are meant: always 1 with L - L, too large with l - L."""
        kept_fractions = 0.9, 0.0, 0.05, 0.05
        people, cut_occurrences = sum(kept_fractions), 1 * kept_fractions[2] + 2 * kept_fractions[3]
        right = sizes(*kept_fractions).correction(2)
        assert right == pytest.approx((0.9 + 0.15 + 0.2) / (0.9 + 0.1 + 0.1))
        assert right != pytest.approx(people / (people - cut_occurrences))

    def test_nothing_stood_out(self):
        """A8: then there is nothing to scale by."""
        assert sizes(0, 0, 0).correction(1) == 1.0
        assert sizes(0, 0, 0).padding("percentile", NINE) == 1

    @given(st.lists(st.lists(st.integers(0, 6), max_size=7, unique=True), min_size=1, max_size=20), st.integers(1, 7))
    def test_restores_the_total(self, baskets, pad):
        """What is expected to be left of each basket, scaled up, adds up to all there is (A5)."""
        basket_sizes = [len(basket) for basket in baskets]
        shares = [basket_sizes.count(size) / len(basket_sizes) for size in range(1, 8)]
        kept_occurrences = sum(min(1.0, pad / len(basket)) for basket in baskets for _ in basket)
        assert kept_occurrences * sizes(*shares).correction(pad) == pytest.approx(sum(basket_sizes))


class TestPadding:
    def test_percentile_is_over_its_share(self):
        assert sizes(0.5, 0.4, 0.1).padding("percentile", NINE) == 3  # 0.9 is not over 0.9
        assert sizes(0.5, 0.41, 0.09).padding("percentile", NINE) == 2

    def test_never_exceeded(self):
        """A8: the largest size that stood out."""
        assert sizes(0.5, 0.4, 0.1, 0.0, 0.0).padding("percentile", Fraction(1)) == 3

    def test_given_and_all(self):
        assert sizes(0.5, 0.5).padding(7, NINE) == 7

    def test_predicted_weighs_noise_against_what_is_cut(self):
        mostly_one = sizes(0.9, *[0.0] * 8, 0.1)

        def best_padding(people: float, typical_frequency: float) -> int:
            return mostly_one.best_padding("wheel", Fraction(1), 128, people, typical_frequency)

        assert best_padding(1e3, 0.03) == 1  # noise is all there is
        assert best_padding(1e9, 0.3) == 10  # there is none
        assert best_padding(1e4, 0.03) <= best_padding(1e6, 0.03) <= best_padding(1e8, 0.03)

    def test_predicted_where_one_candidate_is_all(self):
        assert sizes(1.0).best_padding("adaptive", Fraction(1), 1, 100, 0.5) == 1

    def test_predicted_stops_where_an_oracle_has_no_room(self):
        """Paddings this oracle is not made for are left out; there is always one."""
        assert sizes(0.5, 0.5).best_padding("privset", Fraction(1), 3, 1e6, 0.1) in (1, 2)


class TestSizes:
    def test_one_lucky_draw_far_over_the_padding_does_not_scale_everything_up(self):
        """Nine standard deviations at size 2, and 3.8 at size 40: noise has that in one of 200 runs."""
        ask = Ask.of(
            "how many", PeopleGroup(0, WORD), SizeQuestion.up_to(CandidateList(items=64), 64), "olh", Fraction(1)
        )
        people = 100_000
        deviation = sqrt(ask.oracle.variance(0.0, people))
        fractions = [0.0] * 65
        fractions[2], fractions[40] = 9 * deviation, 3.8 * deviation
        sizes_round = SizesRound.of(exactly(ask, fractions, people))
        assert np.flatnonzero(sizes_round.fractions).tolist() == [1, 39]
        assert sizes_round.correction(2) == 1.0
        assert sizes_round.correction(20) > 1.5  # not far over it
        fractions[40] = 6 * deviation
        assert SizesRound.of(exactly(ask, fractions, people)).correction(2) > 5

    CANDIDATES = CandidateList(items=6)

    def test_threshold_is_of_the_group_and_of_its_oracle(self):
        """A8: F^-1(1 - 0.05 / 2k) standard deviations of this round's own noise; the first value is not a size."""
        question = SizeQuestion.up_to(self.CANDIDATES, 6)
        for oracle in ("olh", "subset"):
            for people in (5_000, 500_000):
                ask = Ask.of("how many", EVERYONE, question, oracle, Fraction(1))
                edge = NormalDist().inv_cdf(1 - 0.05 / 6) * sqrt(ask.oracle.variance(0.0, people))
                estimate = exactly(ask, [0.9, edge * 1.05, edge * 0.95, 0.0, -0.1, 0.0, 0.0], people)
                assert np.flatnonzero(SizesRound.of(estimate).fractions).tolist() == [0]

    def test_the_print_on_T10I4D100K(self):
        """A8: the threshold is 2.9 % of a group of 50,000 at epsilon 1 and k = 64, and 9 % of one of 5,000."""
        question = SizeQuestion.up_to(CandidateList(items=128), 128)
        oracle = Ask.of("how many", EVERYONE, question, "olh", Fraction(1)).oracle
        threshold = [
            NormalDist().inv_cdf(1 - 0.05 / 128) * sqrt(oracle.variance(0.0, person_count))
            for person_count in (50_000, 5_000)
        ]
        assert threshold == pytest.approx([0.029, 0.09], rel=0.03)

    def test_sizes_begin_at_one(self):
        estimate = round_of(SizeQuestion.up_to(self.CANDIDATES, 6), [0.5, 0.3, 0.2, 0, 0, 0, 0])
        assert SizesRound.of(estimate).fractions == pytest.approx([0.3, 0.2, 0, 0, 0, 0], abs=1e-6)

    def test_bins_are_spread_over_their_sizes(self):
        question = SizeQuestion(CandidateList(items=12), (0, 1, 2, 8, 11))
        kept_fractions = SizesRound.of(round_of(question, [0.1, 0.2, 0.3, 0.15, 0.25]), "bins").fractions
        assert len(kept_fractions) == 12
        assert [
            kept_fractions[:1].sum(),
            kept_fractions[1:7].sum(),
            kept_fractions[7:10].sum(),
            kept_fractions[10:].sum(),
        ] == pytest.approx([0.2, 0.3, 0.15, 0.25], abs=1e-6)
        assert (kept_fractions > 0).all()  # by the law that fits best, and nowhere nothing

    def test_the_last_of_all_bins_is_open(self):
        """Its sizes go on to all candidates, by the law that fits."""
        kept_fractions = SizesRound.of(
            round_of(SizeQuestion(CandidateList(items=900), BINS[:14]), [0.5, *[0.0] * 12, 0.5]), "bins"
        ).fractions
        assert (len(kept_fractions), kept_fractions[64:].sum()) == (900, pytest.approx(0.5, abs=1e-4))

    @pytest.mark.parametrize("far_size", [65, 520, 1040])
    def test_a_lucky_bin_far_out_is_not_believed(self, far_size):
        """Three standard deviations in one bin of twenty: noise has that in one of forty runs."""
        question = SizeQuestion(CandidateList(items=2016), BINS)
        ask = Ask.of("how many", EVERYONE, question, "subset", Fraction(1))
        people = 30_000
        deviation = sqrt(ask.oracle.variance(0.0, people))
        shares = dict(zip(BINS, self.halves(BINS, 2017), strict=True))
        plain = SizesRound.of(exactly(ask, list(shares.values()), people), "bins").correction(3)
        shares[far_size] += 3 * deviation
        lucky = SizesRound.of(exactly(ask, list(shares.values()), people), "bins").correction(3)
        assert plain == pytest.approx(1 / (1 - 1 / 8), rel=0.05)
        assert lucky == pytest.approx(plain, rel=0.15)

    @staticmethod
    def halves(bins: tuple[int, ...], end: int) -> list[float]:
        """Return the share of people in each bin if half hold nothing, a quarter one item, an eighth two …"""
        ends = (*bins[1:], end)
        return [
            sum(0.5 ** (size + 1) for size in range(min_size, end_size))
            for min_size, end_size in zip(bins, ends, strict=True)
        ]

    def test_a_bin_that_stands_far_out_of_the_noise_is_believed(self):
        """A fifth of the people hold thirty; no law of few numbers has that beside halves."""
        bins = BINS[:12]
        ask = Ask.of("how many", EVERYONE, SizeQuestion(CandidateList(items=40), bins), "subset", Fraction(1))
        shares = [0.8 * share for share in self.halves(bins, 41)]
        shares[bins.index(29)] += 0.2
        kept_fractions = SizesRound.of(exactly(ask, shares, 1_000_000), "bins").fractions
        assert kept_fractions[28:].sum() == pytest.approx(0.2, abs=0.01)

    @pytest.mark.parametrize("people", [0, 1, 20])
    def test_hardly_anyone_scales_nothing_up_by_much(self, people):
        """Whatever noise makes of the bins, which go on to 2,016; fixed seeds."""
        ask = Ask.of("how many", EVERYONE, SizeQuestion(CandidateList(items=2016), BINS), "subset", Fraction(1))
        for seed in range(20):
            counts = np.random.default_rng(seed).binomial(people, 0.3, len(BINS))
            sizes_round = SizesRound.of(Estimate(ask, people, counts), "bins")
            assert np.isfinite(sizes_round.fractions).all()
            assert 1 <= sizes_round.correction(1) < 30

    def test_bins_of_one_each_are_bins_all_the_same(self):
        """Seven candidates in bins 0 to 6: the last bin has those who hold six or seven."""
        estimate = round_of(SizeQuestion(CandidateList(items=7), (0, 1, 2, 3, 4, 5, 6)), [*[0.0] * 6, 1.0])
        assert len(SizesRound.of(estimate, "bins").fractions) == 7
        assert len(SizesRound.of(estimate).fractions) == 6

    def test_another_question(self):
        ask = Ask.of("which", EVERYONE, CandidateQuestion(self.CANDIDATES), "olh", Fraction(1))
        with pytest.raises(MisuseError) as error:
            SizesRound.of(exactly(ask, [0.0] * 6, 100))
        assert str(error.value) == "Sizes are learnt from a round that asks how many."


def talk(candidates: CandidateList, **settings):
    step = {"oracles": ("olh", "grr"), "padding": "percentile", "about": "items"} | settings
    shares = step.pop("shares", (Fraction(1, 10), Fraction(1, 2)))
    return (yield from estimate_candidates(candidates, Partition(), shares, Fraction(2), **step))


class TestEstimating:
    """Everyone holds both of two candidates, or the first alone."""

    SHARES: ClassVar = {"how many items": [0.0, 0.6, 0.4], "which items": [1.0, 0.4]}

    def ask(self, shares_by_round=None, **settings) -> CandidateEstimates:
        def hear(ask: Ask) -> Estimate:
            shares = self.SHARES[ask.name] if shares_by_round is None else shares_by_round[ask.name]
            return exactly(ask, shares, 10**10)

        estimates, self.heard = converse(talk(CandidateList(items=2), **settings), hear)
        return estimates

    def test_learnt_padding_and_no_correction_needed(self):
        estimates = self.ask()
        assert (estimates.pad, estimates.correction) == (2, 1.0)
        assert estimates.values == pytest.approx([1.0, 0.4], abs=1e-4)
        assert [estimate.ask.question.values for estimate in self.heard] == [3, 2]

    def test_scaled_up_for_what_was_cut(self):
        estimates = self.ask(padding=1)
        assert estimates.correction == pytest.approx(1.4, abs=1e-4)
        assert estimates.values == pytest.approx([1.4, 0.56], abs=1e-3)

    def test_intervals_are_wider_by_half_of_what_was_cut(self):
        deviations = np.sqrt(self.ask(padding=1).variance)
        assert deviations == pytest.approx(np.array([1.0, 0.56]) * (1 - 1 / 1.4) / 2, rel=1e-2)
        assert np.sqrt(self.ask(padding=1, corrected=False).variance) == pytest.approx(
            np.array([1.0, 0.4]) * (1 - 1 / 1.4) / 2, rel=1e-2
        )

    def test_as_it_is(self):
        assert self.ask(padding=1, corrected=False).correction == 1.0

    def test_padded_to_all_without_sizes(self):
        estimates = self.ask(padding="all", shares=(Fraction(0), Fraction(1)))
        assert (estimates.pad, estimates.correction, len(self.heard)) == (2, 1.0, 1)

    def test_all_candidates_zero(self):
        """A8: nothing stands out, so the padding is 1 and the factor too."""
        nothing = {"how many items": [1.0, 0.0, 0.0], "which items": [0.0, 0.0]}
        estimates = self.ask(nothing)
        assert (estimates.pad, estimates.correction) == (1, 1.0)

    def test_sizes_have_a_largest_where_baskets_are_asked_for(self):
        settings = {"oracles": ("grr", "olh"), "padding": 1, "largest_size": 3, "about": "items"}

        def hear(ask: Ask) -> Estimate:
            return Estimate(ask, 10, np.zeros(ask.question.values, np.int64))

        _, estimates = converse(talk(CandidateList(items=9), **settings), hear)
        assert estimates[0].ask.question.values == 4
        _, estimates = converse(talk(CandidateList(items=9), **settings | {"largest_size": None}), hear)
        assert estimates[0].ask.question.values == 10


def test_ties_stand_in_the_order_of_the_candidates():
    values = np.array([0.1, 0.3, 0.3, -0.2])
    candidate_estimates = CandidateEstimates(
        candidates=CandidateList(items=4), values=values, variance=values, pad=1, correction=1.0
    )
    assert candidate_estimates.select_best(3) == [1, 2, 0]
    assert candidate_estimates.select_best(9) == [1, 2, 0, 3]
    assert (candidate_estimates.frequency_at(3), candidate_estimates.frequency_at(4)) == (0.1, 1e-4)
