"""Prefixes: items that no list has are found, counted and held in intervals; texts without holders are not shown."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

from discreet.baskets import Baskets, Vocabulary
from discreet.errors import MisuseError
from discreet.local.device import check
from discreet.local.protocols import prefixes
from discreet.local.protocols.prefixes import Prefixes, drop_noise
from discreet.local.study import Estimate, ProtocolResult, SimulatedPeople, StudyGoal, converse, simulate
from replaying import replay, stored

SYLLABLES = ("ba", "co", "di", "fu", "ga", "he", "ki", "lo", "mi", "nu")
PLANTED = ("example.com", "a", "milk and tea", "x" * 12)
SMALL_SETTINGS = {"alphabet": "abcdefghiklmnouxtp. ", "length": 12, "oracle": "olh"}


@pytest.fixture
def _short_blocks(monkeypatch):
    """Ask in more rounds about fewer candidates, which takes less time."""
    monkeypatch.setattr(prefixes, "MOST_VALUES", 1 << 14)


def crowd(people: int, shares: tuple[float, ...], seed: int = 1, extra: int = 2000) -> Baskets:
    """Return people of whom a share holds each planted text, and the others one of very many; alphabets are theirs."""
    generator = np.random.default_rng(seed)
    other_texts = {"".join(generator.choice(SYLLABLES, generator.integers(2, 6))) for _ in range(extra)}
    planted = [*PLANTED[: len(shares)]]
    labels = sorted({*planted, *other_texts})
    codes = generator.integers(0, len(labels), people)
    edges = np.cumsum([0.0, *shares])
    draws = generator.random(people)
    for place, text in enumerate(planted):
        codes[(draws >= edges[place]) & (draws < edges[place + 1])] = labels.index(text)
    return Baskets(np.arange(people + 1), codes.astype(np.int32), Vocabulary(labels))


def truth(baskets: Baskets) -> dict[str, int]:
    return dict(zip(baskets.vocabulary, np.bincount(baskets.codes, minlength=baskets.items).tolist(), strict=True))


@pytest.mark.usefixtures("_short_blocks")
@pytest.mark.parametrize("speed", ["person", "aggregated"])
def test_planted_texts_are_found_and_counted(speed):
    """False alarms: each text is found but for a chance below one in a million, and the noise is a tenth of a count."""
    baskets = crowd(40_000, (0.25, 0.2, 0.15, 0.1))
    settings = SMALL_SETTINGS
    outcome = simulate(baskets, "prefixes", top=4, epsilon=4, seed=2, speed=speed, settings=settings)
    counts = truth(baskets)
    count_by_text = {next(iter(itemset)): count for itemset, count in outcome.patterns.to_dict().items()}
    assert set(count_by_text) == set(PLANTED)
    for text, count in count_by_text.items():
        assert count == pytest.approx(counts[text], rel=0.1)
    assert str(outcome.guarantee) == "local differential privacy, replace one person, epsilon = 4"
    assert outcome.guarantee.public == ("the alphabet", "the length of the longest text")
    assert sum(line.people for line in outcome.rounds) == len(baskets)


@pytest.mark.usefixtures("_short_blocks")
def test_texts_of_other_symbols_and_longer_ones_are_no_items():
    baskets = crowd(20_000, (0.3, 0.3, 0.2))
    outcome = simulate(
        baskets,
        "prefixes",
        top=3,
        epsilon=4,
        seed=2,
        settings={"alphabet": "abcdefghijkl", "length": 3, "oracle": "olh"},
    )
    assert [next(iter(itemset)) for itemset in outcome.patterns.to_dict()] == ["a"]


@pytest.mark.usefixtures("_short_blocks")
def test_people_hold_sets():
    """What is padded is given back: three texts that half of the people hold each, together or not."""
    generator = np.random.default_rng(5)
    holdings = generator.random((30_000, 3)) < 0.5
    codes = np.flatnonzero(holdings.ravel()) % 3
    baskets = Baskets(np.cumsum([0, *holdings.sum(1)]), codes.astype(np.int32), Vocabulary(["cab", "dog", "emu"]))
    settings = {"alphabet": "abcdefghijklmnopqrstuvwxyz", "length": 4, "oracle": "olh"}
    outcome = simulate(baskets, "prefixes", top=3, epsilon=4, seed=3, settings=settings)
    assert sorted(next(iter(itemset)) for itemset in outcome.patterns.to_dict()) == ["cab", "dog", "emu"]
    true_counts = {text: int(count) for text, count in zip(("cab", "dog", "emu"), holdings.sum(0), strict=True)}
    assert outcome.patterns.counts.tolist() == pytest.approx([15_000] * 3, rel=0.2)
    for itemset, low, high in zip(outcome.patterns.to_dict(), outcome.patterns.low, outcome.patterns.high, strict=True):
        assert low <= true_counts[next(iter(itemset))] <= high


def test_itemsets_of_what_was_found():
    """Adept takes the survivors: other people are asked for the patterns, and nobody twice."""
    generator = np.random.default_rng(5)
    holds_both, tea = generator.random(60_000) < 0.4, generator.random(60_000) < 0.3
    holdings = np.stack((holds_both, holds_both, tea), 1)
    codes = np.flatnonzero(holdings.ravel()) % 3
    baskets = Baskets(np.cumsum([0, *holdings.sum(1)]), codes.astype(np.int32), Vocabulary(["jam", "rye", "tea"]))
    settings = {"find": "itemsets", "alphabet": "aejmrty", "length": 3, "shares": "0.4 0.6", "oracle": "olh"}
    outcome = simulate(baskets, "prefixes", top=4, epsilon=4, seed=3, settings=settings)
    count_by_itemset = {frozenset(itemset): count for itemset, count in outcome.patterns.to_dict().items()}
    assert count_by_itemset[frozenset({"jam", "rye"})] == pytest.approx(24_000, rel=0.15)
    assert {frozenset({"jam"}), frozenset({"rye"})} <= set(count_by_itemset)
    assert outcome.reports == 1
    pairs_outcome = simulate(baskets, "prefixes", top=1, least=2, epsilon=4, seed=3, settings=settings)
    assert list(map(frozenset, pairs_outcome.patterns.to_dict())) == [frozenset({"jam", "rye"})]


def count_intervals(runs: int, shares: tuple[float, ...], epsilon: int) -> tuple[list[float], int, int, int]:
    """Return errors of a planted count, and the numbers of holding intervals, of all, and of texts without holders."""
    deviations, inside, interval_count, nobody = [], 0, 0, 0
    baskets = crowd(30_000, shares)
    counts = truth(baskets)
    settings = SMALL_SETTINGS
    for seed in range(runs):
        patterns = simulate(
            baskets, "prefixes", top=4, epsilon=epsilon, seed=seed, speed="aggregated", settings=settings
        ).patterns
        for itemset, low, count, high in zip(
            patterns.to_dict(), patterns.low, patterns.counts, patterns.high, strict=True
        ):
            text = next(iter(itemset))
            nobody += text not in counts
            inside, interval_count = inside + (low <= counts.get(text, 0) <= high), interval_count + 1
            if text == PLANTED[0]:
                deviations.append(float(count / counts[text] - 1))
    return deviations, inside, interval_count, nobody


@pytest.mark.usefixtures("_short_blocks")
def test_counts_are_unbiased_and_intervals_hold_the_truth():
    """Twelve runs: a mean beyond 4 % of the count, or over one interval of six missing, once in a thousand times."""
    deviations, inside, interval_count, nobody = count_intervals(12, (0.3, 0.2), 3)
    assert len(deviations) == 12
    assert abs(np.mean(deviations)) < 0.04
    assert inside >= 5 / 6 * interval_count
    assert nobody == 0


def test_where_nothing_is_frequent_nothing_is_told():
    """What nobody holds is in one result of twenty at most: more than three of eight, once in three thousand."""
    wrong = 0
    for seed in range(8):
        nothing = Baskets(np.zeros(2001, np.int64), np.zeros(0, np.int32), Vocabulary(["a"]))
        outcome = simulate(
            nothing, "prefixes", top=8, epsilon=1, seed=seed, settings={"alphabet": "abc", "length": 3, "oracle": "olh"}
        )
        wrong += len(outcome.patterns) > 0
        assert outcome.notes
    assert wrong <= 3


def test_what_does_not_stand_out_is_left_out():
    result = ProtocolResult(
        itemsets=((0,), (1,)), values=np.array([0.1, 0.015]), variance=np.array([1e-4, 1e-4]), texts=("a", "b")
    )
    assert drop_noise(result).itemsets == ((0,),)
    assert drop_noise(result).notes == (
        "1 of what was asked about in the end do not stand out from the noise, and are left out.",
    )


def led(plan: Prefixes, goal: StudyGoal, share: float, people: int = 1000):
    """Return what is asked where every report speaks for everything, or nothing."""
    asked_forms = []

    def hear(ask):
        asked_forms.append(ask)
        return Estimate(ask, people, np.full(ask.oracle.aggregate_size, int(share * people), np.int64))

    result, estimates = converse(plan.ask_rounds(goal), hear)
    return result, estimates, asked_forms


@pytest.mark.parametrize("find", ["items", "itemsets"])
@pytest.mark.parametrize("share", [0.0, 1.0])
def test_whatever_is_heard_it_ends_and_devices_answer(find, share):
    plan, goal = Prefixes(find=find, length=3, oracle="olh"), StudyGoal(items=0, top=4, epsilon=Fraction(1))
    plan.check(goal)
    result, estimates, asked_forms = led(plan, goal, share)
    assert result.texts is not None
    assert len(asked_forms) <= 20
    for ask in asked_forms:
        check(json.loads(json.dumps(ask.form)), 1)
    replayed = replay(plan.ask_rounds(goal), [stored(estimate) for estimate in estimates])
    assert replayed.result is not None
    assert replayed.result.itemsets == result.itemsets


@pytest.mark.usefixtures("_short_blocks")
def test_a_conversation_is_asked_byte_for_byte_again():
    baskets = crowd(5000, (0.4, 0.3))
    plan, goal = Prefixes(**SMALL_SETTINGS), StudyGoal(items=0, top=3, epsilon=Fraction(4))
    people = SimulatedPeople(baskets=baskets, seed=3, speed="person")
    result, estimates = converse(plan.ask_rounds(goal), lambda ask: people.hear(ask, people.numbers()))
    replayed = replay(plan.ask_rounds(goal), [stored(estimate) for estimate in estimates])
    assert [estimate.ask.text() for estimate in replayed.estimates] == [estimate.ask.text() for estimate in estimates]
    assert replayed.result is not None
    assert (replayed.result.texts, replayed.result.values.tolist()) == (result.texts, result.values.tolist())


def test_rounds_go_on_by_as_many_symbols_as_fit():
    plan = Prefixes()
    assert [plan._step(beginning_count) for beginning_count in (1, 2, 200, 227, 228, 20_000, 10**6)] == [
        3,
        3,
        2,
        2,
        1,
        1,
        1,
    ]
    assert Prefixes(alphabet="ab")._step(1) == 13


def test_people_who_are_not_needed_are_asked_in_the_end(monkeypatch):
    """Texts of one symbol are found in a round: where no noise is gone on with, all the others count them."""
    monkeypatch.setattr(prefixes, "STANDS_OUT", 9.0)
    baskets = Baskets(np.arange(4001), np.zeros(4000, np.int32), Vocabulary(["a"]))
    outcome = simulate(
        baskets, "prefixes", top=1, epsilon=4, seed=1, settings={"alphabet": "abc", "length": 20, "oracle": "olh"}
    )
    assert outcome.facts["rounds of finding"] == 1
    assert sum(line.people for line in outcome.rounds if line.name.endswith("texts")) > 2000


@pytest.mark.parametrize(
    ("settings", "goal", "message"),
    [
        ({"alphabet": "aa"}, {}, "An alphabet is the symbols of texts, each printable and written once, or ascii"),
        ({"length": 0}, {}, "The longest text has 1 to 1,024 symbols; 0 was given."),
        ({"shares": "0.9 0.2"}, {}, "The shares of prefixes are 0.0001 or more each, and add up to 1 at most."),
        ({"sizes": "0.9"}, {}, "sizes is from 0.001 to 0.5 of each round; 0.9 was given."),
        ({"candidates": 0}, {}, "There is at least one candidate for every pattern wanted; 0 was given."),
        ({}, {"least": 2}, "prefixes finds single items: say find=itemsets for patterns of two items or more."),
        ({"candidates": 20}, {"top": 90_000}, "1,800,000 texts of up to 24 symbols do not fit into one question"),
    ],
)
def test_what_is_refused(settings, goal, message):
    with pytest.raises(MisuseError, match=f"^{message}"):
        Prefixes(**settings).check(StudyGoal(**{"items": 0, "top": 4, "epsilon": Fraction(1)} | goal))
