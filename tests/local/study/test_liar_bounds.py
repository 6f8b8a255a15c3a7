"""Intervals that hold for any lies of a share of the reports: against the worst possible reports, oracle by oracle."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import discreet
from discreet.baskets import Baskets, Vocabulary, starts
from discreet.errors import MisuseError
from discreet.local import SimulatedAnswers
from discreet.local.oracle_steps import oracles
from discreet.local.study import (
    Ask,
    CandidateList,
    CandidateQuestion,
    Estimate,
    LiarBounds,
    PeopleGroup,
    SizeQuestion,
    StudyGoal,
)
from discreet.local.study._liars import liar_margins
from discreet.registry import protocol
from discreet.results import load, promise_lines
from discreet_lab.measure.liars import Liars, select_targets, simulate_attack

EVERYONE = PeopleGroup(0, 1 << 32)
PEOPLE, SHARE, HELD_SHARE = 20_000, Fraction(1, 10), 0.4
RUNS = 120
# An end misses in 1 of 40 runs at most: more than 12 of 120 are an accident in one of 20,000 tests.
MOST_MISSES = 12
LIVE = [name for name, entry in oracles().items() if entry.live]


def find_report(oracle, want: bool, *, holds: list[int]) -> np.ndarray:
    """Return the supports of a real report that names the first value, or that does not."""
    for _ in range(10_000):
        columns = oracle.codec.make_columns([oracle.randomise(holds)])
        supports = oracle.supports(columns)
        if bool(supports[0]) is want:
            return supports
    raise AssertionError


def answered(holds_item: np.ndarray) -> SimulatedAnswers:
    """Return the answers of people who hold the marked values, a row each."""
    lines, values = np.nonzero(holds_item)
    return SimulatedAnswers(
        offsets=starts(np.bincount(lines, minlength=len(holds_item))),
        values=values.astype(np.int32),
        people=np.arange(len(holds_item)),
    )


@pytest.mark.parametrize("lifting", [True, False])
@pytest.mark.parametrize("name", ["olh", "wheel"])
def test_the_truth_is_inside_with_published_seeds(name, lifting):
    """One in ten names the value with every seed, or never does: at most 4 of 30 ends miss, once in 4,000 tests."""
    plain = Ask.of("which", EVERYONE, CandidateQuestion(CandidateList(items=3)), name, Fraction(2), pad=3)
    ask = replace(plain, oracle=plain.frequencies.numbered(1024))
    oracle, liars, misses = ask.frequencies, int(SHARE * PEOPLE), {Fraction(1, 10**9): 0, SHARE: 0}
    for run in range(30):
        generator = np.random.default_rng(run)
        honest = generator.random((PEOPLE - liars, 3)) < (HELD_SHARE, 0.2, 0.2)
        seeds, values = generator.integers(0, 1024, liars).astype(np.uint32), np.arange(oracle.places)
        cells = {"seed": np.repeat(seeds, len(values)), oracle.place: np.tile(values, liars)}
        names = oracle.match_values(cells, np.zeros(1, np.int64)).reshape(liars, -1)
        lies = {"seed": seeds, oracle.place: np.argmax(names == lifting, axis=1)}
        aggregate = oracle.adder.start()
        for columns in (oracle.reports(answered(honest), run), lies):
            oracle.adder.add(aggregate, columns)
        truth = HELD_SHARE * (1 - float(SHARE)) + (0.0 if lifting else float(SHARE))
        for share in misses:
            low, high = LiarBounds([Estimate(ask, PEOPLE, oracle.adder.decode(aggregate))], share).itemset((0,))
            misses[share] += not low <= truth <= high
    assert misses[SHARE] <= 4
    assert misses[Fraction(1, 10**9)] > 25


def test_a_round_of_sizes_with_published_seeds_cuts_off_as_much():
    """What sizes say of a padding is about as sure as with fresh seeds, and not as where nothing is known."""
    sizes = Ask.of("how many", EVERYONE, SizeQuestion(CandidateList(items=30), tuple(range(11))), "olh", Fraction(2))
    item_ask = Ask.of("which", EVERYONE, CandidateQuestion(CandidateList(items=30)), "olh", Fraction(2), pad=3)
    size_estimate = Estimate(item_ask, PEOPLE, np.full(30, PEOPLE // item_ask.frequencies.buckets))
    ends = []
    for ask in (sizes, replace(sizes, oracle=replace(sizes.frequencies, seeds=1024))):
        supports = np.full(11, PEOPLE // ask.frequencies.buckets)
        ends.append(LiarBounds([size_estimate, Estimate(ask, PEOPLE, supports)], Fraction(1, 1000)).itemset((0,))[1])
    assert ends[0] < ends[1] < 1.5 * ends[0]


@pytest.mark.parametrize("lifting", [True, False])
@pytest.mark.parametrize("name", LIVE)
def test_the_truth_is_inside_whatever_liars_send(name, lifting):
    """One in ten sends the worst report there is: those who lift hold nothing, those who lower hold the value."""
    ask = Ask.of("which", EVERYONE, CandidateQuestion(CandidateList(items=3)), name, Fraction(2), pad=3)
    oracle, generator = ask.frequencies, np.random.default_rng(7)
    liars = int(SHARE * PEOPLE)
    lie = find_report(oracle, lifting, holds=[0] if lifting else [1])
    misses = dict.fromkeys(("nobody", "half", "share"), 0)
    for run in range(RUNS):
        honest = generator.random((PEOPLE - liars, 3)) < (HELD_SHARE, 0.2, 0.2)
        supports = oracle.sample_supports(answered(honest), run, generator) + liars * lie
        # What is true of everybody a round could have asked: liars are people too.
        truth = HELD_SHARE * (1 - float(SHARE)) + (0.0 if lifting else float(SHARE))
        for share, word in ((Fraction(1, 10**9), "nobody"), (SHARE / 2, "half"), (SHARE, "share")):
            low, high = LiarBounds([Estimate(ask, PEOPLE, supports)], share).itemset((0,))
            misses[word] += not low <= truth <= high
    assert misses["share"] <= MOST_MISSES
    # It is no wider than it has to be: with half of it, or without any, it is nearly always wrong.
    assert misses["nobody"] >= misses["half"] >= RUNS - MOST_MISSES


@pytest.mark.parametrize("name", LIVE)
def test_what_a_padding_cuts_off_is_allowed_for_though_sizes_are_lied_about(name):
    """The value is in the largest baskets alone, of which most is cut off; liars say that nobody has such."""
    candidates = CandidateList(items=6)
    ask = Ask.of("which", EVERYONE, CandidateQuestion(candidates), name, Fraction(2), pad=2)
    sizes = Ask.of("how many", EVERYONE, SizeQuestion(candidates, (0, 1, 2, 3, 5)), "grr", Fraction(2))
    oracle, generator, liars, truth = ask.frequencies, np.random.default_rng(3), int(SHARE * PEOPLE), 0.3
    lie, size_lie = find_report(oracle, False, holds=[1]), find_report(sizes.frequencies, True, holds=[0])
    misses = unasked = 0
    for run in range(60):
        holds_many = generator.random(PEOPLE - liars) < (truth - float(SHARE)) / (1 - float(SHARE))
        item_answers = answered(holds_many[:, None] | (np.arange(6) == 1))
        size_answers = answered(np.where(holds_many, 4, 1)[:, None] == np.arange(5))
        item_estimate = Estimate(ask, PEOPLE, oracle.sample_supports(item_answers, run, generator) + liars * lie)
        size_supports = sizes.frequencies.sample_supports(size_answers, run, generator) + liars * size_lie
        low, high = LiarBounds([Estimate(sizes, PEOPLE, size_supports), item_estimate], SHARE).itemset((0,))
        misses += not low <= truth <= high
        unasked += LiarBounds([item_estimate], SHARE).itemset((0,))[1] < 1
    assert misses <= 8  # of 60: an accident in one of 10,000 tests
    assert unasked == 0  # where nobody was asked for sizes, there may be any number of large baskets


@pytest.mark.parametrize("name", LIVE)
def test_reach_is_what_the_best_and_the_worst_report_do(name):
    """Against the estimate itself, a report at a time."""
    oracle = oracles()[name].make(Fraction(1), 5, pad=2)
    raises, lowers = liar_margins(oracle, 0.1)
    assert raises == pytest.approx(0.1 * float(oracle.influence.people))
    # Nine honest ones who hold it, on average, and one who does not say so.
    nine = oracle.estimate(np.full(5, 9 * float(oracle.p_held)), 10)[0]
    assert 1 - nine == pytest.approx(lowers)


def crowd(people: int = 20_000, items: int = 60) -> Baskets:
    generator = np.random.default_rng(5)
    chances = 0.5 / np.arange(1, items + 1) ** 0.9
    lines, columns = np.nonzero(generator.random((people, items)) < chances)
    offsets = np.concatenate(([0], np.cumsum(np.bincount(lines, minlength=people)))).astype(np.int64)
    return Baskets(offsets, columns.astype(np.int32), Vocabulary([f"item {code}" for code in range(items)]))


def outside(baskets: Baskets, patterns) -> int:
    """Return the number of patterns with a true count outside the interval."""
    sets = [set(baskets.codes[a:b].tolist()) for a, b in zip(baskets.offsets, baskets.offsets[1:], strict=False)]
    missed_intervals = 0
    for row in range(len(patterns)):
        items = set(patterns.codes[patterns.offsets[row] : patterns.offsets[row + 1]].tolist())
        missed_intervals += not patterns.low[row] <= sum(items <= basket for basket in sets) <= patterns.high[row]
    return missed_intervals


@pytest.mark.parametrize("name", ["adept", "svsm"])
def test_a_whole_conversation_with_crafted_reports(name):
    """Five in a hundred craft their reports, and nobody screens: as listed, counts are off, and intervals are not."""
    baskets, plan = crowd(), protocol(name)
    goal = StudyGoal(items=baskets.items, top=12, epsilon=Fraction(2))
    liars = Liars(share=0.05, targets=select_targets(baskets, first=30), attack="crafted", seed=1)
    # Liars draw their rounds as everybody does, so that some rounds have a few more of them than others.
    outcomes = {
        share: simulate_attack(baskets, plan, goal, liars, seed=1, screen=False, malicious=share).patterns
        for share in (Fraction(0), Fraction(6, 100))
    }
    honest, widened = outcomes.values()
    assert honest.counts.tolist() == widened.counts.tolist()
    assert outside(baskets, honest) >= 2
    assert outside(baskets, widened) == 0


def test_what_no_round_asked_about_is_as_rare_as_its_rarest_part():
    ask = Ask.of("which", EVERYONE, CandidateQuestion(CandidateList(items=2)), "grr", Fraction(1), pad=2)
    estimate = Estimate(ask, 1000, np.array([900, 400]))
    bounds = LiarBounds([estimate], Fraction(1, 1000))
    assert bounds.itemset((0, 1)) == (0.0, pytest.approx(bounds.itemset((1,), 2)[1]))
    assert bounds.itemset((7,)) == (0.0, 1.0)
    assert LiarBounds([Estimate(ask, 0, np.array([0, 0]))], Fraction(1, 100)).itemset((0,)) == (0.0, 1.0)


@pytest.mark.parametrize("name", ["pairs", "relations", "calm"])
def test_confidences_are_widened_too(name):
    question = {"top": 4, "epsilon": 4, "seed": 3, "speed": "aggregated", "settings": {"items": 5, "support": 12}}
    plain = discreet.simulate(crowd(5000, 12), name, **question).relations
    widened = discreet.simulate(crowd(5000, 12), name, **question, assume_malicious="2%").relations
    assert (widened.low <= plain.low).all()
    assert (widened.high >= plain.high).all()
    assert (widened.high - widened.low > plain.high - plain.low).any()
    assert ((widened.low >= 0) & (widened.high <= 1)).all()


def test_the_outcome_says_so_and_carries_it_into_files(tmp_path: Path):
    question = {"top": 5, "epsilon": 2, "seed": 3, "speed": "aggregated"}
    plain, outcome_without_liars = (
        discreet.simulate(crowd(5000), **question, **changes) for changes in ({}, {"assume_malicious": 0})
    )
    assert plain.patterns.to_dict() == outcome_without_liars.patterns.to_dict()
    assert plain.to_dict() == outcome_without_liars.to_dict()
    widened = [discreet.simulate(crowd(5000), **question, assume_malicious=share) for share in ("1%", 0.01, "1/100")]
    assert len({str(outcome.to_dict()) for outcome in widened}) == 1
    assert widened[0].question["assume_malicious"] == "1%"
    (note,) = [note for note in widened[0].notes if "liars" in note]
    assert "up to 1% of the reports of each round" in note
    assert "push some off" in note
    widened[0].save(tmp_path / "found.json")
    assert "up to 1% of the reports" in promise_lines(load(tmp_path / "found.json"))[0]


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        ("one percent", ""),
        ("100%", ""),
        ("-1%", ""),
        (-0.1, ""),
        (float("nan"), ""),
        (None, ""),
        (True, ""),
        (1, " For 1 % type assume_malicious='1%'."),
        ("2.5", " For 2.5 % type assume_malicious='2.5%'."),
        (100, ""),
    ],
)
def test_what_is_no_part_of_the_reports(options, hint):
    with pytest.raises(MisuseError) as caught:
        discreet.simulate([{"a"}], top=1, epsilon=1, seed=1, assume_malicious=options)
    assert str(caught.value) == (
        f"assume_malicious is a part of all, from 0% to below 100%, such as 1% or 0.01; {options!r} was given.{hint}"
    )
    assert "--assume-malicious is a part" in caught.value.message.typed
