"""SVSM: the guess, how long a pattern may be, shares, and how items and itemsets are ranked together."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import prod

import numpy as np
import pytest
from hypothesis import given, strategies as st

import discreet
from discreet import MisuseError
from discreet.local.device import WORD
from discreet.local.protocols.svsm import guess_itemsets, longest_pattern, shrink_to_guess
from discreet.local.study import Ask, Estimate, StudyGoal, converse, simulate
from discreet.registry import protocol
from truthful import TABLE_1, led


class TestLongest:
    """A10: all subsets of a pattern are at least as frequent, so a pattern of s has 2^s - 1 in the top with it."""

    @pytest.mark.parametrize(
        ("top", "size"),
        [(1, 1), (2, 1), (3, 2), (6, 2), (7, 3), (30, 4), (31, 5), (32, 5), (62, 5), (63, 6), (64, 6)],
    )
    def test_all_sizes(self, top, size):
        assert longest_pattern(top, 1) == size

    @pytest.mark.parametrize(("top", "size"), [(1, 2), (3, 2), (4, 3), (10, 3), (11, 4), (25, 4), (26, 5), (64, 6)])
    def test_two_items_or_more(self, top, size):
        """Then 2^s - 1 - s subsets count; a pair is always allowed."""
        assert longest_pattern(top, 2) == size

    def test_against_the_definition(self):
        for top in range(1, 300):
            assert longest_pattern(top, 1) == max(s for s in range(1, 12) if 2**s - 1 <= top)
            assert longest_pattern(top, 2) == max([2, *(s for s in range(2, 12) if 2**s - 1 - s <= top)])


def brute(values: np.ndarray, largest: int) -> list[float]:
    """All products of two to `largest` scaled values over 0, the largest first."""
    positive_values = [value for value in values if value > 0]
    scaled = [0.9 * value / max(positive_values) for value in positive_values]
    return sorted((prod(factors) for n in range(2, largest + 1) for factors in combinations(scaled, n)), reverse=True)


class TestGuessed:
    @given(
        st.lists(st.floats(-0.2, 1.0, allow_subnormal=False).map(lambda x: round(x, 3)), max_size=8),
        st.integers(1, 60),
        st.integers(2, 4),
    )
    def test_equals_brute_force(self, estimates, set_count, largest):
        """A11: estimates below 0 and of 0 are in no guess; fewer sets than wanted are all there are."""
        values = np.array(estimates)
        guessed_itemsets = guess_itemsets(np.clip(values, 0, None), set_count, largest)
        expected_products = brute(values, largest) if (values > 0).any() else []
        top = values.max(initial=0)
        assert [prod(0.9 * values[rank] / top for rank in ranks) for ranks in guessed_itemsets] == pytest.approx(
            expected_products[:set_count]
        )
        assert len(guessed_itemsets) == min(set_count, len(expected_products))
        assert len({frozenset(ranks) for ranks in guessed_itemsets}) == len(guessed_itemsets)
        assert all(2 <= len(set(ranks)) == len(ranks) <= largest for ranks in guessed_itemsets)
        assert all(values[rank] > 0 for ranks in guessed_itemsets for rank in ranks)

    def test_two_below_zero_make_no_guess(self):
        assert guess_itemsets(np.clip(np.array([-0.5, -0.4, 0.1]), 0, None), 5, 3) == []

    def test_nothing_to_guess_from(self):
        assert guess_itemsets(np.zeros(4), 5, 3) == []
        assert guess_itemsets(np.array([0.3]), 5, 3) == []

    def test_ties_stand_in_the_order_of_the_items(self):
        assert guess_itemsets(np.array([0.5, 0.5, 0.5]), 2, 2) == [(0, 1), (0, 2)]

    def test_the_most_frequent_does_not_come_for_free(self):
        """The factor of 0.9: without the most frequent item a set is likelier than with it."""
        guessed_itemsets = guess_itemsets(np.array([1.0, 0.9, 0.8]), 9, 3)
        assert guessed_itemsets.index((1, 2)) < guessed_itemsets.index((0, 1, 2))


class TestTableI:
    def test_the_three_most_frequent(self):
        truth = discreet.mine([set("ace"), set("bde"), set("abe"), set("ade"), set("af")], top=3).to_dict()
        assert truth == {frozenset("a"): 4, frozenset("e"): 4, frozenset("ae"): 3}

    @pytest.mark.parametrize("name", ["svsm", "svsm-better"])
    def test_are_what_is_learnt(self, name):
        result, _ = led(name, TABLE_1)
        assert result.itemsets[:3] == ((0,), (4,), (0, 4))
        assert result.values[:3] == pytest.approx([0.8, 0.8, 0.6], abs=0.02)

    @pytest.mark.parametrize("name", ["svim", "svim-better", "ldpminer"])
    def test_and_the_items(self, name):
        result, _ = led(name, TABLE_1, top=2)
        assert result.itemsets[:2] == ((0,), (4,))
        assert result.values[:2] == pytest.approx([0.8, 0.8], abs=0.02)

    def test_from_reports(self):
        """With 20,000 people of each kind, at epsilon 4; the seed is fixed."""
        baskets = [set("ace"), set("bde"), set("abe"), set("ade"), set("af")] * 20_000
        outcome = simulate(baskets, "svsm", top=3, epsilon=4, seed=1)
        assert set(outcome.patterns.to_dict()) == {frozenset("a"), frozenset("e"), frozenset("ae")}


class TestRounds:
    def test_shares(self):
        """A15: half for the items with 50, 10 and 40 % inside, then 10 % for sizes and 40 % for estimates, of all."""
        _, asks = led("svsm", TABLE_1, items=40)
        share = [
            Fraction(asked_round.group.stop - asked_round.group.start, WORD).limit_denominator(1000)
            for asked_round in asks
        ]
        assert share == [Fraction(text) for text in ("1/4", "1/20", "1/5", "1/10", "2/5")]
        assert asks[-1].group.stop == WORD

    def test_sizes_of_itemsets_begin_at_zero_and_end_with_the_guess(self):
        """A7: also where there are fewer than 2k guesses."""
        _, asks = led("svsm", TABLE_1, items=40, top=3)
        sizes, which_round = asks[-2:]
        assert sizes.question.values == which_round.question.values + 1
        assert which_round.question.values == 3  # three items make three pairs; six were wanted

    def test_items_ascend_within_a_candidate(self):
        _, asks = led("svsm", [{5, 2}, {5, 2}, {5}], items=6, top=3)
        assert asks[-1].form["of"][0] == [2, 5]

    def test_no_two_items_stand_out(self):
        def hear(ask: Ask) -> Estimate:
            return Estimate(ask, 0, np.zeros(ask.question.values, np.int64))

        goal = StudyGoal(items=40, top=3, epsilon=Fraction(2))
        result, estimates = converse(protocol("svsm").ask_rounds(goal), hear)
        assert [estimate.ask.name for estimate in estimates] == [
            "which items",
            "how many candidates",
            "which candidates",
        ]
        assert result.itemsets == ((0,), (1,), (2,))
        assert result.notes == (
            "No two items stood out, so no itemset could be guessed: the patterns are single items.",
        )


class TestRanked:
    """A12: items and itemsets are ranked together; two items or more apart."""

    PEOPLE = [{0, 1}] * 9 + [{2}] * 6 + [{3}] * 3 + [{4}] * 2

    def test_together_subsets_first_where_equal(self):
        result, _ = led("svsm", self.PEOPLE, top=4)
        assert result.itemsets[:4] == ((0,), (1,), (0, 1), (2,))

    def test_apart(self):
        """Two items or more are asked for with `least`; the guess and the rest of the talk stay what they are."""
        baskets = [{"a", "b"}] * 6_000 + [{"a"}] * 3_000 + [{"b"}] * 2_000 + [{"d"}] * 1_000
        outcome_of_all = simulate(baskets, "svsm", top=4, epsilon=8, seed=3)
        outcome_of_pairs = simulate(baskets, "svsm", top=4, epsilon=8, seed=3, least=2)
        assert [len(items) for items in outcome_of_all.patterns.to_dict()] == [1, 1, 2, 1]
        assert all(len(items) > 1 for items in outcome_of_pairs.patterns.to_dict())
        assert next(iter(outcome_of_pairs.patterns.to_dict())) == frozenset("ab")
        assert {1, 2} <= {len(items) for items in outcome_of_pairs.all_patterns.to_dict()}


class TestShrunk:
    def test_all_noise_gives_the_guess(self):
        values, guess = np.array([0.3, -0.1]), np.array([0.1, 0.1])
        shrunken, variance = shrink_to_guess(values, np.ones(2), guess)
        assert shrunken == pytest.approx(guess)
        assert variance == pytest.approx([1, 1])  # two guesses say little about how far guesses are off

    def test_no_interval_shrinks_to_nothing(self):
        values, guess = np.array([0.1, 0.2, 0.3]), np.array([0.11, 0.19, 0.31])
        variance = shrink_to_guess(values, np.full(3, 0.01), guess)[1]
        assert (variance >= 0.005).all()
        assert (shrink_to_guess(values, np.full(3, 0.01), guess, np.full(3, 0.5))[1] > variance + 0.4).all()

    def test_no_noise_gives_the_estimate(self):
        values, guess = np.array([0.3, 0.2]), np.array([0.1, 0.1])
        assert shrink_to_guess(values, np.full(2, 1e-12), guess)[0] == pytest.approx(values)

    def test_between(self):
        """The weight is off / (off + noise), and what is off is the mean square beyond the noise."""
        values, guess, noise = np.array([0.4, 0.0]), np.array([0.2, 0.2]), np.array([0.02, 0.02])
        shrunken, variance = shrink_to_guess(values, noise, guess)
        assert shrunken == pytest.approx([0.3, 0.1])
        assert variance == pytest.approx([0.01, 0.01])


@pytest.mark.parametrize("top", [1, 2])
def test_one_or_two_patterns_are_single_items_and_everyone_is_asked_about_those(top):
    baskets = discreet.read([{"a", "b"}] * 3000 + [{"c"}] * 2000)
    outcome = simulate(baskets, "svsm", top=top, epsilon=2, seed=1)
    assert sum(line.people for line in outcome.rounds) == len(baskets)
    assert outcome.notes[0].startswith("Of one or two patterns none has two items")


def test_what_people_answer_never_asks_more_of_an_oracle_than_it_takes():
    """At epsilon 20 the wheel has room for 8 arcs: long baskets are cut, and nobody's baskets end the conversation."""
    for person_count in (1, 12):
        baskets = discreet.read([set(range(person_count))] * 500 + [set(range(14))])
        outcome = simulate(baskets, "svim", top=14, epsilon=20, seed=1, settings={"oracle": "wheel"})
        assert outcome.rounds[-1].pad <= 8


@pytest.mark.parametrize(
    ("protocol", "settings", "top", "message"),
    [
        (
            "svsm",
            {"oracle": "privset"},
            3000,
            "privset answers for up to 5,000 candidates, and there are 6,000: use wheel.",
        ),
        (
            "svim",
            {"shares": "0 0.5 0.00000000001 0.4"},
            2,
            "The shares of svim are 0 or 0.0001 and more, add up to 1 at most, and some prune and some estimate.",
        ),
    ],
    ids=["privset", "share"],
)
def test_what_could_only_fail_later_is_refused_first(protocol, settings, top, message):
    asked_names = []
    with pytest.raises(MisuseError) as error:
        simulate([{1, 2}] * 9, protocol, top=top, epsilon=1, seed=1, settings=settings, transcript=asked_names.append)
    assert str(error.value) == message
    assert asked_names == []
