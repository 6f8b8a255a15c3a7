"""Adept as a conversation: its questions, its findings, the purpose of each part, and its refusals."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import numpy as np
import pytest

import discreet
from discreet.baskets import Baskets, Vocabulary
from discreet.errors import MisuseError
from discreet.exact import cumulative_rank
from discreet.local.device import WORD
from discreet.local.study import Estimate, SimulatedPeople, StudyGoal, compute_guarantee, converse, simulate
from discreet.local.study._conversation import most_reports
from discreet.registry import protocol
from discreet_lab.data.generators import latent_groups


@pytest.fixture(scope="module")
def groups() -> Baskets:
    return latent_groups(60_000, seed=5, items=60, groups=6)


class TestFound:
    def test_next_to_no_noise_gives_the_truth(self):
        baskets = [{"a", "b"}] * 9_000 + [{"a", "c"}] * 6_000 + [{"d"}] * 3_000
        outcome = simulate(baskets, "adept", top=5, epsilon=8, seed=1)
        assert set(outcome.patterns.to_dict()) == set(discreet.mine(baskets, top=5).to_dict())
        assert outcome.patterns.to_dict()[frozenset("ab")] == pytest.approx(9_000, rel=0.05)

    def test_better_than_svsm(self, groups):
        """Means over four fixed seeds at epsilon 1; the difference is many times what seeds make of it."""
        truth = discreet.mine(groups, top=16)
        f_scores = {
            name: np.mean(
                [
                    cumulative_rank(
                        simulate(groups, name, top=16, epsilon=1, seed=seed, speed="aggregated").patterns,
                        truth,
                        top=16,
                    )
                    for seed in range(4)
                ]
            )
            for name in ("adept", "svsm")
        }
        assert f_scores["adept"] > f_scores["svsm"] + 0.1

    def test_two_items_or_more(self, groups):
        outcome = simulate(groups, "adept", top=16, epsilon=4, seed=1, least=2, speed="aggregated", score=True)
        assert all(len(items) > 1 for items in outcome.patterns.to_dict())
        assert outcome.scores["normalised cumulative rank"] > 0.7

    def test_both_speeds_give_the_same_on_average(self, groups):
        """The count of the most frequent item over eight seeds each: the means differ by under four deviations.

        The false-alarm rate is below one in ten thousand; seeds are fixed.
        """
        best_itemset = next(iter(discreet.mine(groups, top=1).to_dict()))
        counts = {}
        for speed in ("person", "aggregated"):
            runs = [simulate(groups, "adept", top=2, epsilon=2, seed=seed, speed=speed) for seed in range(8)]
            counts[speed] = np.array([run.all_patterns.to_dict().get(best_itemset, 0) for run in runs])
        person_counts, aggregated_counts = counts["person"], counts["aggregated"]
        assert abs(person_counts.mean() - aggregated_counts.mean()) < 4 * sqrt(
            (person_counts.var(ddof=1) + aggregated_counts.var(ddof=1)) / 8
        )

    def test_intervals(self, groups):
        """In five fixed seeds nine of ten intervals hold the true count."""
        held_intervals, interval_count = 0, 0
        true_counts = discreet.mine(groups, min_count=1, lengths=(1, 4)).to_dict()
        for seed in range(5):
            patterns = simulate(groups, "adept", top=16, epsilon=2, seed=seed, speed="aggregated").patterns
            for items, low, high in zip(patterns.to_dict(), patterns.low, patterns.high, strict=True):
                held_intervals += low - 0.5 <= true_counts.get(items, 0) <= high + 0.5
                interval_count += 1
        assert held_intervals >= 0.9 * interval_count


def led(baskets: Baskets, settings: dict | None = None, **changes) -> list[Estimate]:
    goal = StudyGoal(**{"items": baskets.items, "top": 16, "epsilon": Fraction(1)} | changes)
    crowd = SimulatedPeople(baskets=baskets, seed=1, speed="aggregated")
    numbers = crowd.numbers()
    return list(converse(protocol("adept", settings).ask_rounds(goal), lambda ask: crowd.hear(ask, numbers))[1])


class TestRounds:
    def test_shares(self, groups):
        estimates = led(groups)
        share = [
            Fraction(estimate.ask.group.stop - estimate.ask.group.start, WORD).limit_denominator(10_000)
            for estimate in estimates
        ]
        assert share[:4] == [Fraction(text) for text in ("1/25", "23/50", "1/50", "23/100")]
        assert [estimate.ask.name for estimate in estimates[:4]] == [
            "how many items",
            "which items",
            "how many patterns 2",
            "which patterns 2",
        ]

    def test_one_or_two_patterns_are_items(self, groups):
        estimates = led(groups, top=2)
        assert all(
            len(itemset) == 1 for estimate in estimates[2:] for itemset in estimate.ask.question.candidates.itemsets
        )

    def test_more_wanted_than_there_are(self):
        outcome = simulate([{"a"}, {"b"}] * 500, "adept", top=1000, epsilon=4, seed=1)
        assert len(outcome.patterns) == 3

    def test_more_items_than_are_paired(self):
        """Six hundred items, one per person, and five hundred wanted: all that is found are items."""
        codes = np.tile(np.arange(600, dtype=np.int32), 100)
        baskets = Baskets(np.arange(60_001), codes, Vocabulary([f"i{number}" for number in range(600)]))
        outcome = simulate(baskets, "adept", top=500, epsilon=8, seed=1, speed="aggregated")
        assert [len(pattern.items) for pattern in outcome.patterns] == [1] * 500

    @pytest.mark.parametrize("epsilon", [1, 4])
    def test_of_dense_data_few_patterns_are_asked_about(self, epsilon):
        """Everyone holds 30 of 40 items, and so thousands of sets: a round about all of them would see next to none."""
        for estimate in led(alike(20_000, 30, 40), top=64, epsilon=Fraction(epsilon))[2::2]:
            held_itemsets = sum(all(item < 30 for item in items) for items in estimate.ask.question.candidates.itemsets)
            assert 1 <= held_itemsets <= 40

    def test_a_tiny_epsilon_ends(self, groups):
        outcome = simulate(groups, "adept", top=16, epsilon="0.001", seed=1, speed="aggregated")
        assert len(outcome.patterns) == 16


def alike(people: int, held_items: int = 2, items: int = 3) -> Baskets:
    """Return people who all hold the first `held_items` of `items` items."""
    codes = np.tile(np.arange(held_items, dtype=np.int32), people)
    return Baskets(np.arange(people + 1) * held_items, codes, Vocabulary([f"i{number}" for number in range(items)]))


SETTINGS_WITHOUT = {
    "oracle": {"oracle": "grr-or-olh"},
    "padding": {"first_padding": 1},
    "prior": {"prior": False},
    "uncertain": {"later": "likeliest"},
    "merging": {"merged": False},
}


class TestWithoutAPart:
    """The settings that leave out one part each, to show what it is for."""

    @pytest.mark.parametrize("part", list(SETTINGS_WITHOUT))
    def test_the_first_round_or_a_later_one_is_another(self, groups, part):
        usual_estimates, other_estimates = led(groups), led(groups, SETTINGS_WITHOUT[part])
        asks = [[estimate.ask.text() for estimate in estimates] for estimates in (usual_estimates, other_estimates)]
        # The first round asks how many and which; only its oracle and its padding can be others.
        assert asks[0][0] == asks[1][0]
        assert (asks[0][1] == asks[1][1]) is (part not in ("oracle", "padding"))
        # What the second round is asked about is chosen before anything could be merged.
        assert (asks[0][2] == asks[1][2]) is (part == "merging")
        assert asks[0][4:] != asks[1][4:]

    def test_oracles(self, groups):
        oracle_names = [estimate.ask.frequencies.name for estimate in led(groups, SETTINGS_WITHOUT["oracle"])[1::2]]
        assert all(name in ("grr", "olh") for name in oracle_names)
        assert not all(estimate.ask.frequencies.name in ("grr", "olh") for estimate in led(groups)[1::2])

    @pytest.mark.parametrize("pad", [1, 3])
    def test_first_padding(self, groups, pad):
        assert led(groups)[1].ask.frequencies.pad != pad
        estimates = led(groups, {"first_padding": pad})
        assert estimates[1].ask.frequencies.pad == pad

    def test_a_first_padding_over_all_items_is_all_items(self):
        assert led(alike(900), {"first_padding": 9}, top=2)[1].ask.frequencies.pad == 3

    def test_the_likeliest_are_asked_about(self, groups):
        for estimate in led(groups, SETTINGS_WITHOUT["uncertain"])[2:]:
            assert len(estimate.ask.question.candidates) == 4 * 16

    @pytest.mark.parametrize("part", list(SETTINGS_WITHOUT))
    def test_everyone_is_asked_once(self, groups, part):
        asks = [estimate.ask for estimate in led(groups, SETTINGS_WITHOUT[part])]
        assert most_reports(asks) == 1
        assert compute_guarantee(asks).epsilon == 1

    @pytest.mark.slow  # four seconds, for what the laws of its oracles already say
    def test_the_promise_stands(self):
        """With all parts left out; with none it is audited beside all other protocols."""
        nothing = {
            name: value for settings_of_part in SETTINGS_WITHOUT.values() for name, value in settings_of_part.items()
        }
        verdict = discreet.audit("adept", epsilon=1, runs=100, settings=nothing)
        assert verdict.stands, verdict
        assert verdict.attempts[1].loss == pytest.approx(1)

    @pytest.mark.parametrize("people", [0, 1, 300])
    @pytest.mark.parametrize("part", list(SETTINGS_WITHOUT))
    def test_hardly_any_data(self, part, people):
        patterns = simulate(alike(people), "adept", top=9, epsilon=1, seed=1, settings=SETTINGS_WITHOUT[part]).patterns
        assert np.isfinite(patterns.low).all()
        assert (patterns.low <= patterns.high).all()


class TestRefused:
    @pytest.mark.parametrize("shares", ["0.5 0.25 0.15 0", "0.5 0.5 0.15 0.1"])
    def test_shares(self, shares):
        with pytest.raises(MisuseError) as refused:
            simulate([{"a"}], "adept", top=1, epsilon=1, seed=1, settings={"shares": shares})
        assert str(refused.value) == "The shares of adept are 0.0001 or more each, and add up to 1 at most."

    def test_sizes(self):
        with pytest.raises(MisuseError) as refused:
            simulate([{"a"}], "adept", top=1, epsilon=1, seed=1, settings={"sizes": "0.6"})
        assert str(refused.value) == "sizes is from 0.001 to 0.5 of each round; 0.6 was given."

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"first_padding": 0}, "A first_padding is 1 or more; 0 was given."),
            (
                {"oracle": "wheel"},
                "the setting oracle of adept is adaptive or grr-or-olh; 'wheel' was given.",
            ),
            (
                {"later": "all"},
                "the setting later of adept is uncertain or likeliest; 'all' was given.",
            ),
        ],
        ids=range(3),
    )
    def test_parts(self, settings, message):
        with pytest.raises(MisuseError) as refused:
            simulate([{"a"}], "adept", top=1, epsilon=1, seed=1, settings=settings)
        assert str(refused.value) == message


@pytest.mark.parametrize("people", [2, 8, 80])
def test_few_people_give_wide_intervals(people):
    """What a prior says that was learnt from two items is worth little, and the intervals know."""
    baskets = [{"a", "b"}] * (people // 2) + [{"a"}] * (people - people // 2)
    true_counts = {frozenset("a"): people, frozenset("b"): people // 2, frozenset("ab"): people // 2}
    missed_intervals = 0
    for seed in range(10):
        for pattern in simulate(baskets, "adept", top=3, epsilon=1, seed=seed).patterns:
            missed_intervals += not pattern.low - 0.5 <= true_counts[pattern.items] <= pattern.high + 0.5
    assert missed_intervals <= 4


@pytest.mark.parametrize(("people", "held_items", "items"), [(5000, 5, 8), (1000, 2, 2)])
@pytest.mark.parametrize("min_length", [1, 2])
def test_where_nothing_is_known_intervals_hold_everybody(people, held_items, items, min_length):
    """At an epsilon of a thousandth next to nothing is heard, and all of them may hold a pattern, or nobody."""
    missed_intervals, interval_count = 0, 0
    for seed in range(4):
        patterns = simulate(
            alike(people, held_items, items), "adept", top=20, epsilon="0.001", seed=seed, least=min_length
        )
        for pattern in patterns.patterns:
            true_count = people * all(int(item[1:]) < held_items for item in pattern.items)
            missed_intervals += not pattern.low - 0.5 <= true_count <= pattern.high + 0.5
            interval_count += 1
    assert missed_intervals <= interval_count / 10
