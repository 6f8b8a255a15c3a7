"""Simulated conversations: repeatable, two speeds that agree, computed promises, and refusals of bad input."""

# internals: this module counts the threads that kernels get.
from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest

import discreet
from discreet.baskets import Baskets, Vocabulary
from discreet.errors import InputError, MisuseError
from discreet.exact import cumulative_rank
from discreet.kernels import _jit as jit
from discreet.local.device import WORD
from discreet.local.study import (
    Ask,
    CandidateList,
    CandidateQuestion,
    Estimate,
    PeopleGroup,
    ProtocolResult,
    SimulatedPeople,
    SizeQuestion,
    build_patterns,
    simulate,
)
from discreet.registry import protocols

NAMES = ["ldpminer", "svim", "svim-better", "svsm", "svsm-better"]
ITEMS = 60


def make_shop(people: int, seed: int = 0) -> Baskets:
    """Baskets of about four items, the first ones most often; one in twenty is empty."""
    generator = np.random.default_rng(seed)
    chances = 0.5 / np.arange(1, ITEMS + 1) ** 0.7
    rows, columns = np.nonzero(generator.random((people, ITEMS)) < chances)
    is_kept = generator.random(people)[rows] > 0.05
    offsets = np.concatenate(([0], np.cumsum(np.bincount(rows[is_kept], minlength=people)))).astype(np.int64)
    return Baskets(offsets, columns[is_kept].astype(np.int32), Vocabulary([f"item {code}" for code in range(ITEMS)]))


@pytest.fixture(scope="module")
def baskets() -> Baskets:
    return make_shop(20_000)


def text_of(outcome) -> str:
    return json.dumps([outcome.to_dict(), [[sorted(k), v] for k, v in outcome.patterns.to_dict().items()]])


@pytest.mark.parametrize("speed", ["person", "aggregated"])
@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_outcome(name, speed, baskets, monkeypatch):
    """Whatever the number of threads; another seed gives another."""
    first_outcome = simulate(baskets, name, top=5, epsilon=2, seed=7, speed=speed)
    monkeypatch.setenv("DISCREET_THREADS", "1")
    assert jit.threads() == 1
    outcome_again = simulate(baskets, name, top=5, epsilon=2, seed=7, speed=speed)
    assert text_of(first_outcome) == text_of(outcome_again)
    assert first_outcome.patterns.low.tobytes() == outcome_again.patterns.low.tobytes()
    assert text_of(simulate(baskets, name, top=5, epsilon=2, seed=8, speed=speed)) != text_of(first_outcome)


@pytest.mark.parametrize("oracle", ["grr", "olh", "blh", "oue", "sue", "hr", "subset", "privset", "wheel"])
@pytest.mark.parametrize("pad", [1, 3])
def test_two_speeds_agree_in_distribution(oracle, pad, baskets):
    """Means and variances of supports over 40 runs each; an alarm at 5 standard errors is false once in 10^5 cases."""
    part = Baskets(baskets.offsets[:801], baskets.codes[: baskets.offsets[800]], baskets.vocabulary)
    ask = Ask.of(
        "which", PeopleGroup(0, WORD), CandidateQuestion(CandidateList(items=12)), oracle, Fraction(1), pad=pad
    )
    runs = 40

    def supports(speed) -> np.ndarray:
        supports_heard = []
        for seed in range(runs):
            crowd = SimulatedPeople(baskets=part, seed=seed + (1000 if speed == "person" else 0), speed=speed)
            supports_heard.append(crowd.hear(ask, crowd.numbers()).supports)
        return np.array(supports_heard, float)

    person_supports, aggregated_supports = supports("person"), supports("aggregated")
    standard_error = np.sqrt((person_supports.var(0, ddof=1) + aggregated_supports.var(0, ddof=1)) / runs)
    assert np.all(np.abs(person_supports.mean(0) - aggregated_supports.mean(0)) < 5 * standard_error)
    # The logarithm of a ratio of two variances, each of 40 runs: its standard deviation is 2 / sqrt(39).
    ratio = np.log(person_supports.var(0, ddof=1) / aggregated_supports.var(0, ddof=1))
    assert np.abs(ratio).max() < 5 * 2 / np.sqrt(runs - 1)


def test_many_people_are_asked_with_published_seeds_at_both_speeds():
    """Reports into a table are made at either speed, so both give the same numbers, and nothing is drawn one by one."""
    few_baskets, times = make_shop(3000), 100
    sizes = np.tile(np.diff(few_baskets.offsets), times)
    many_baskets = Baskets(
        np.concatenate(([0], np.cumsum(sizes))), np.tile(few_baskets.codes, times), few_baskets.vocabulary
    )
    settings = {"first_oracle": "olh", "oracle": "olh", "size_oracle": "olh", "padding": 3}
    outcomes = [
        simulate(many_baskets, "svim", top=5, epsilon=2, seed=7, speed=speed, settings=settings)
        for speed in ("person", "aggregated")
    ]
    assert [outcome.marginal for outcome in outcomes] == [False, False]
    assert outcomes[0].patterns.to_dict() == outcomes[1].patterns.to_dict()
    true_itemsets = {pattern.items for pattern in discreet.mine(few_baskets, top=5, lengths=1)}
    assert len(true_itemsets & set(outcomes[0].patterns.to_dict())) >= 4


def test_sums_over_very_many_items_are_drawn_once_for_as_many_people(baskets):
    """Otherwise drawing would cost people × items; reports that are made come in blocks that stay in a cache."""
    ask = Ask.of("", PeopleGroup(0, 1 << 32), CandidateQuestion(CandidateList(100_000)), "olh", Fraction(1))
    published = replace(ask, oracle=replace(ask.frequencies, seeds=1024))
    for speed, person_count in (("person", 1 << 15), ("aggregated", 100_000)):
        crowd = SimulatedPeople(baskets=baskets, seed=1, speed=speed)
        assert crowd._block_size(ask.oracle) == person_count
        assert crowd._block_size(published.oracle) == 1 << 15


def test_marginal_where_counts_were_drawn_one_by_one(baskets):
    exact = {"first_oracle": "grr", "size_oracle": "grr", "oracle": "oue"}
    question = {"top": 5, "epsilon": 1, "seed": 1}
    assert not simulate(baskets, "svim", speed="aggregated", settings=exact, **question).marginal
    assert simulate(baskets, "svim", speed="aggregated", **question).marginal
    assert not simulate(baskets, "svim", speed="person", **question).marginal


def test_what_the_outcome_says(baskets):
    progress_calls = []
    outcome = simulate(
        baskets,
        "svsm",
        top=5,
        epsilon="1/2",
        seed=1,
        score=True,
        progress=lambda name, fraction_done: progress_calls.append((name, fraction_done)),
    )
    assert str(outcome.guarantee) == "local differential privacy, replace one person, epsilon = 0.5"
    assert [(line.name, line.oracle, line.pad, line.epsilon) for line in outcome.rounds] == [
        ("which items", "olh", 1, "1/2"),
        ("how many candidates", "olh", 1, "1/2"),
        ("which candidates", outcome.rounds[2].oracle, outcome.facts["item padding"], "1/2"),
        ("how many itemsets", "olh", 1, "1/2"),
        ("which itemsets", outcome.rounds[4].oracle, outcome.facts["itemset padding"], "1/2"),
    ]
    assert sum(line.people for line in outcome.rounds) == len(baskets)  # the empty-handed too (A7, X3)
    expected_question = {"top": 5, "least": 1, "epsilon": "1/2", "seed": 1, "speed": "person", "screen": True}
    assert dict(outcome.question) == expected_question
    assert outcome.settings["shares"] == ("0.5", "0.1", "0.4")
    assert outcome.simulated
    assert (len(outcome), outcome.people) == (5, len(baskets))
    assert set(outcome.scores) == {
        "normalised cumulative rank",
        "F-score",
        "squared error",
        "normalised cumulative rank, 2 items or more",
        "F-score, 2 items or more",
    }
    longer, truth = outcome.all_patterns.where(lengths=(2, None))[:5], discreet.mine(baskets, top=5, lengths=(2, None))
    rank = cumulative_rank(longer, truth, top=5)
    assert outcome.scores["normalised cumulative rank, 2 items or more"] == rank  # A12
    assert set(simulate(baskets, "svsm", top=5, epsilon=1, seed=1, score=True, least=2).scores) == {
        "normalised cumulative rank",
        "F-score",
        "squared error",
    }
    assert outcome.to_dict()["reports"] == 1
    assert [name for name, fraction_done in progress_calls if fraction_done == 1.0] == [
        line.name for line in outcome.rounds
    ]
    assert json.loads(json.dumps(outcome.to_dict()))["simulated"] is True
    assert np.all(outcome.patterns.low <= outcome.patterns.counts + 0.5)
    assert np.all(outcome.patterns.counts <= outcome.patterns.high + 0.5)


def test_counts_are_out_of_all_people(baskets):
    """A9: estimates of a group stand for everybody. Noise at epsilon 8 is far below a tenth; the seed is fixed."""
    outcome = simulate(baskets, "svim", top=3, epsilon=8, seed=2)
    truth = discreet.mine(baskets, top=3, lengths=1).to_dict()
    for itemset, count in outcome.patterns.to_dict().items():
        assert count == pytest.approx(truth[itemset], rel=0.1)


def test_saved_and_read_again(baskets, tmp_path):
    outcome = simulate(baskets, "svim", top=3, epsilon=1, seed=2)
    outcome.save(tmp_path / "found.json")
    loaded = discreet.load(tmp_path / "found.json")
    assert loaded.to_dict() == outcome.patterns.to_dict()


class TestOddData:
    @pytest.mark.parametrize("speed", ["person", "aggregated"])
    @pytest.mark.parametrize("name", NAMES)
    @pytest.mark.parametrize("rows", [[["a"]], [[], ["a"], []], [["a", "b"]] * 3, [["a"], ["b"], ["c"]]], ids=str)
    def test_hardly_anybody(self, name, speed, rows):
        """One person, one item, fewer people than groups, top over the universe."""
        outcome = simulate(rows, name, top=50, epsilon=1, seed=1, speed=speed)
        assert len(outcome) <= 7
        missing_note = f"50 patterns were wanted and {len(outcome)} were estimated."
        assert missing_note in outcome.notes
        nobody = any(not line.people for line in outcome.rounds)
        silent = ", ".join(repr(line.name) for line in outcome.rounds if not line.people)
        silent_note = (
            f"There are too few people for this protocol: nobody was asked {silent}, and nothing is known of it."
        )
        assert (silent_note in outcome.notes) == nobody
        assert outcome.guarantee.epsilon == 1

    def test_a_round_without_people_says_nothing(self):
        """Even where one report alone would say nearly everything."""
        ask = Ask.of("any", PeopleGroup(0, WORD), CandidateQuestion(CandidateList(items=3)), "grr", Fraction(20))
        nobody = Estimate(ask, 0, np.zeros(3, np.int64))
        result = ProtocolResult(itemsets=((0,), (1,), (2,)), values=nobody.values, variance=nobody.variance)
        patterns = build_patterns(result, Vocabulary(list("abc")), 9)
        assert (patterns.low.tolist(), patterns.high.tolist()) == ([0] * 3, [9] * 3)

    @pytest.mark.parametrize("speed", ["person", "aggregated"])
    @pytest.mark.parametrize("name", NAMES)
    @pytest.mark.parametrize("people", [0, 500])
    def test_nobody_holds_anything(self, name, speed, people):
        """All candidates are zero: a padding of 1, no correction, and an end (A8)."""
        empty = Baskets(np.zeros(people + 1, np.int64), np.empty(0, np.int32), Vocabulary(list("abcdefghij")))
        outcome = simulate(empty, name, top=3, epsilon=1, seed=1, speed=speed)
        assert sum(line.people for line in outcome.rounds) <= people
        if people == 0:
            assert not outcome.patterns.counts.any()

    def test_everyone_reports_nothing_too(self):
        """A7: sizes begin at 0, so nobody is silent."""
        empty = Baskets(np.zeros(301, np.int64), np.empty(0, np.int32), Vocabulary(list("abcdef")))
        crowd = SimulatedPeople(baskets=empty, seed=1, speed="person")
        for question in (SizeQuestion.up_to(CandidateList(items=6), 6), CandidateQuestion(CandidateList(items=6))):
            ask = Ask.of("any", PeopleGroup(0, WORD), question, "grr", Fraction(20))
            estimate = crowd.hear(ask, crowd.numbers())
            assert estimate.people == 300
            assert estimate.supports.tolist() == ([300, *[0] * 6] if question.single else [0] * 6)

    def test_no_items_at_all(self):
        with pytest.raises(InputError) as error:
            simulate([[], []], "svim", top=3, epsilon=1, seed=1)
        assert str(error.value) == "Nobody holds anything and no items are listed: there is nothing to ask about."


class TestRefused:
    QUESTION: ClassVar = {"top": 3, "epsilon": 1, "seed": 1}

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"top": 0}, "top is 0, but it must be a whole number, 1 or more."),
            ({"top": "3"}, "top is '3', but it must be a whole number, 1 or more."),
            ({"top": 10**9}, "A local protocol finds up to 100,000 patterns; 1,000,000,000 were wanted."),
            ({"epsilon": 0}, "epsilon must be over 0, such as 0.5 or 1; 0 was given."),
            ({"epsilon": "much"}, "epsilon is a number such as 1, 0.5 or 1/3; much was given."),
            ({"epsilon": 21}, "epsilon of a report is from 0.001 to 20; 21 was given."),
            ({"epsilon": "0.0001"}, "epsilon of a report is from 0.001 to 20; 0.0001 was given."),
            ({"least": 3}, "least is 1, or 2 to leave single items out; 3 was given."),
            ({"seed": -1}, "seed is a whole number from 0 on; -1 was given."),
            ({"seed": True}, "seed is a whole number from 0 on; True was given."),
            ({"seed": "7"}, "seed is a whole number from 0 on; '7' was given."),
            ({"speed": "fast"}, "speed is 'person' or 'aggregated'; 'fast' was given."),
            ({"settings": {"pad": 1}}, None),
        ],
        ids=str,
    )
    def test_arguments(self, arguments, message):
        with pytest.raises(MisuseError) as error:
            simulate([["a", "b"]] * 9, "svsm", **self.QUESTION | arguments)
        assert str(error.value) == (
            message
            or "svsm has no setting 'pad': it has shares, items, candidates, size_oracle, oracle, padding, percentile, "
            "corrected, sizes, shrunk, robust."
        )

    def test_nobody_is_asked_before_settings_are_checked(self):
        progress_calls = []
        with pytest.raises(MisuseError):
            simulate(
                [["a"]] * 9,
                "svim",
                settings={"oracle": "none"},
                progress=lambda *arguments: progress_calls.append(arguments),
                **self.QUESTION,
            )
        assert progress_calls == []

    def test_a_list_that_is_no_protocol(self):
        with pytest.raises(MisuseError, match=f"^There is no protocol 'apriori'; there are {', '.join(protocols())}"):
            simulate([["a"]], "apriori", **self.QUESTION)


@pytest.mark.parametrize(
    ("name", "min_held"), [("svim", 0.9), ("svim-better", 0.9), ("svsm", 0.8), ("svsm-better", 0.8)]
)
def test_intervals_hold_the_true_counts(name, min_held, baskets):
    """Over ten fixed seeds at epsilon 2; itemsets of one run share the errors of their items, so they vary more."""
    results = [simulate(baskets, name, top=10, epsilon=2, seed=seed, speed="aggregated").patterns for seed in range(10)]
    inside = []
    for patterns in results:
        sets = [[baskets.vocabulary.code(item) for item in itemset] for itemset in patterns.to_dict()]
        candidates = CandidateList(itemsets=tuple(tuple(sorted(codes)) for codes in sets))
        counts = np.bincount(candidates.answers(baskets, np.arange(len(baskets)))[1], minlength=len(candidates))
        inside += ((patterns.low <= counts) & (counts <= patterns.high)).tolist()
    assert np.mean(inside) >= min_held
