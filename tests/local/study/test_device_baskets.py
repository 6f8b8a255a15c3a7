"""Devices that hold several baskets: the basket they answer for, the truth, and a simulation of it."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import discreet
from discreet import Baskets, LimitError, MisuseError, Vocabulary
from discreet.baskets import Segments, starts
from discreet.exact import cumulative_rank, squared_error
from discreet.local.device import draw_basket
from discreet.local.study import (
    SeededWords,
    _device_baskets as device_baskets,
    draw_baskets,
    expected_counts,
    seed_of,
    true_patterns,
)

NAMES = ["bread", "milk", "rice", "tea"]


def receipts(people, segments=None) -> Baskets:
    """Return people with several baskets each, of codes."""
    rows = [sorted(basket) for person in people for basket in person]
    codes = np.array([item for row in rows for item in row], np.int32)
    owners = starts([len(person) for person in people])
    segments_of_baskets = None
    if segments is not None:
        item_shares = np.repeat(np.array(segments, np.int32), np.diff(owners))
        segments_of_baskets = Segments("region", item_shares, Vocabulary(["north", "south"]))
    return Baskets(
        starts([len(row) for row in rows]), codes, Vocabulary(NAMES), segments=segments_of_baskets, owners=owners
    )


def shop(people: int, seed: int = 7) -> list[list[list[int]]]:
    """Return people; some have many baskets, and buy different things than most people."""
    source = np.random.default_rng(seed)
    baskets_of_people = []
    for _ in range(people):
        basket_count = 1 + min(int(source.pareto(1.2)), 40)
        item_shares = (0.7, 0.5, 0.1, 0.3) if basket_count < 8 else (0.2, 0.9, 0.6, 0.3)
        baskets_of_people.append(
            [[item for item, share in enumerate(item_shares) if source.random() < share] for _ in range(basket_count)]
        )
    return baskets_of_people


def by_hand(people, max_baskets: int) -> dict[frozenset[str], Fraction]:
    """Return the expected number of people for every pattern, from the definition."""
    expected_counts: Counter[frozenset[str]] = Counter()
    for person in people:
        for basket in person:
            for size in range(1, len(basket) + 1):
                for items in combinations(sorted(basket), size):
                    expected_counts[frozenset(NAMES[item] for item in items)] += Fraction(
                        1, max(len(person), max_baskets)
                    )
    return dict(expected_counts)


@pytest.mark.parametrize("max_baskets", [1, 3])
def test_the_simulator_draws_what_devices_draw(max_baskets):
    people = shop(200)
    baskets = draw_baskets(receipts(people), 5, max_baskets)
    for number, person in enumerate(people):
        words = SeededWords(seed_of(5, "basket"), number)
        assert baskets[number] == {
            NAMES[item] for item in draw_basket(person, max_baskets=max_baskets, take=words.take)
        }
    assert not baskets.has_receipts
    assert baskets.people == 200


def test_words_that_devices_draw_again(monkeypatch):
    """One word in 2^32 / r is drawn again: here those of everybody are."""
    people = [[[0], [1], [2]]] * 50

    def highest(seed, words_out):
        words_out[:] = (1 << 32) - 1

    monkeypatch.setattr(device_baskets, "draw_tickets", highest)
    drawn_again = draw_baskets(receipts(people), 5)
    monkeypatch.undo()
    assert drawn_again == draw_baskets(receipts(people), 5)


def test_segments_come_along():
    drawn_baskets = draw_baskets(receipts([[[0], [1]], [[2]], [[3], [3], [3]]], segments=[1, 0, 1]), 1)
    assert drawn_baskets.segments.of_people() == ["south", "north", "south"]


def test_one_basket_each_is_left_as_it_is():
    baskets = discreet.read([{"tea"}, {"milk"}])
    assert draw_baskets(baskets, 3) is baskets


@pytest.mark.parametrize("max_baskets", [1, 4])
def test_equal_people_draw_by_themselves_and_every_basket_is_as_likely(max_baskets):
    """6,000 equal people; a chi-square over its 99.999 % point is a false alarm once in 100,000."""
    from scipy.stats import chi2

    basket_count = 3
    drawn_baskets = draw_baskets(receipts([[[0], [1], [2]]] * 6000), 11, max_baskets)
    observed_counts = [*drawn_baskets.item_counts[:basket_count].tolist(), int((drawn_baskets.sizes == 0).sum())]
    expected_counts = [6000 / max(basket_count, max_baskets)] * basket_count + [
        6000 * max(0, max_baskets - basket_count) / max(basket_count, max_baskets)
    ]
    assert sum(observed_counts) == 6000
    compared_pairs = [
        (observed, expected) for observed, expected in zip(observed_counts, expected_counts, strict=True) if expected
    ]
    assert sum((observed - expected) ** 2 / expected for observed, expected in compared_pairs) < chi2.ppf(
        0.99999, len(compared_pairs) - 1
    )
    assert len(compared_pairs) == len([observed for observed in observed_counts if observed])


@pytest.mark.parametrize("max_baskets", [1, 2, 5, 100])
def test_what_is_expected_is_every_basket_by_its_chance(max_baskets):
    people = shop(60)
    truth = by_hand(people, max_baskets)
    patterns = discreet.mine(receipts(people), min_count=1)
    counts = dict(
        zip(
            patterns.itemsets.sets(patterns.vocabulary),
            expected_counts(receipts(people), patterns, max_baskets),
            strict=True,
        )
    )
    assert counts == pytest.approx({itemset: float(count) for itemset, count in truth.items()})


@pytest.mark.parametrize("max_baskets", [1, 3])
@pytest.mark.parametrize(("top", "min_length"), [(1, 1), (3, 1), (4, 2), (100, 1)])
@pytest.mark.parametrize("seed", range(5))
def test_the_true_top_is_that_of_the_definition(max_baskets, top, min_length, seed):
    people = shop(40, seed)
    truth = {itemset: count for itemset, count in by_hand(people, max_baskets).items() if len(itemset) >= min_length}
    best_counts = sorted(truth.values(), reverse=True)[:top]
    patterns = true_patterns(receipts(people), max_baskets, top, min_length)
    assert sorted(patterns.values(), reverse=True) == pytest.approx([float(count) for count in best_counts])
    assert all(count == pytest.approx(float(truth[itemset])) for itemset, count in patterns.items())


def test_the_true_top_is_not_that_of_baskets():
    """One person buys rice a hundred times, and weighs as much as anyone."""
    people = [[[2]] * 100, *[[[3]]] * 5]
    assert list(true_patterns(receipts(people), 1, 2, 1)) == [{"tea"}, {"rice"}]
    assert list(true_patterns(receipts(people), 100, 2, 1)) == [{"rice"}, {"tea"}]


def test_a_truth_that_is_too_much(monkeypatch):
    monkeypatch.setattr(device_baskets, "_LIMIT", 2)
    with pytest.raises(LimitError) as caught:
        true_patterns(receipts([[[0, 1, 2]], [[0, 1, 2]] * 2]), 1, 2, 1)
    assert str(caught.value) == (
        "What is true of these people is too much to look through: ask for fewer patterns, or leave score out."
    )


@pytest.mark.parametrize("max_baskets", [1, 3])
def test_intervals_hold_what_is_expected(max_baskets):
    """Over 32 of 160 intervals that miss are a false alarm once in 5,000, even if the four of a run miss together.

    Against counts of baskets, or of people who ever hold it, nearly all of them miss.
    """
    people = shop(4000)
    baskets, truth = receipts(people), by_hand(people, max_baskets)
    ever = {item: sum(any(name in basket for basket in person) for person in people) for name, item in enumerate(NAMES)}
    missed_intervals, of_ever = [], []
    for seed in range(40):
        for pattern in discreet.simulate(
            baskets, "svim", top=4, epsilon=4, seed=seed, max_baskets=max_baskets
        ).patterns:
            missed_intervals.append(not pattern.low <= truth[pattern.items] <= pattern.high)
            of_ever.append(not pattern.low <= ever[next(iter(pattern.items))] <= pattern.high)
    assert len(missed_intervals) == 160
    assert sum(missed_intervals) <= 32
    assert sum(of_ever) >= 128


def test_estimates_weigh_people_and_not_baskets():
    """Who buys rice has 30 baskets, and the others have one: a fifth of the people, and 15 of 17 baskets.

    Over 30 runs the mean is off by four standard errors once in 15,000.
    """
    baskets = receipts([[[2]] * 30] * 1000 + [[[3]]] * 4000)
    counts_by_cap = {1: [], 30: []}
    for max_baskets, counts in counts_by_cap.items():
        for seed in range(30):
            outcome = discreet.simulate(baskets, "svim", top=2, epsilon=4, seed=seed, max_baskets=max_baskets)
            counts.append(outcome.all_patterns.to_dict().get(frozenset({"tea"}), 0))
    for max_baskets, true_count in ((1, 4000), (30, 4000 / 30)):
        counts = np.array(counts_by_cap[max_baskets], float)
        assert (
            abs(counts.mean() - true_count) < 4 * counts.std(ddof=1) / np.sqrt(30) + 25
        )  # estimates below 0 are shown as 0


def test_what_the_outcome_says():
    baskets = receipts(shop(500))
    outcome = discreet.simulate(baskets, top=3, epsilon=4, seed=1, score=True)
    assert outcome.notes[0] == (
        "Counts are of people. Each answered for one of their baskets, drawn at random, so everybody weighs the same, "
        "however many baskets they have. The unit of privacy is the person, with all their baskets."
    )
    assert (outcome.people, outcome.patterns.unit, outcome.question["max_baskets"]) == (500, "people", 1)
    assert sum(line.people for line in outcome.rounds) == 500
    assert outcome.scores["normalised cumulative rank"] > 0
    outcome_of_several = discreet.simulate(baskets, top=3, epsilon=4, seed=1, max_baskets=4)
    assert outcome_of_several.notes[0] == (
        "Counts are of people. Each answered for one of their baskets, drawn at random; those with fewer than 4 had "
        "empty baskets added up to that number, and could draw one. 4 times a count estimates a number of baskets, of "
        "which a person has 4 at most. The unit of privacy is the person, with all their baskets."
    )
    assert outcome_of_several.question["max_baskets"] == 4
    outcome_of_drawn = discreet.simulate(draw_baskets(baskets, 1), top=3, epsilon=4, seed=1)
    assert outcome_of_drawn.patterns.to_dict() == outcome.patterns.to_dict()
    assert "max_baskets" not in outcome_of_drawn.question


def test_scores_are_against_what_is_expected():
    people = shop(2000)
    for max_baskets in (1, 5):
        outcome = discreet.simulate(receipts(people), top=4, epsilon=4, seed=1, score=True, max_baskets=max_baskets)
        expected_counts = by_hand(people, max_baskets)
        best_itemsets = sorted(expected_counts, key=lambda itemset: -expected_counts[itemset])[:4]
        truth = {itemset: float(expected_counts[itemset]) for itemset in best_itemsets}
        assert outcome.scores["normalised cumulative rank"] == cumulative_rank(outcome.patterns, truth, top=4)
        assert outcome.scores["squared error"] == pytest.approx(squared_error(outcome.patterns, truth))
        assert outcome.scores["squared error"] < 100**2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_baskets": 0}, "max_baskets is 0, but it must be a whole number, 1 or more."),
        ({"max_baskets": 10**7}, "max_baskets is at most 1,000,000; 10000000 was given."),
        (
            {"protocol": "pairs", "score": True},
            "Relations are not compared with the truth where devices answer for one of several baskets: leave score "
            "out.",
        ),
    ],
)
def test_what_is_refused(options, message):
    with pytest.raises(MisuseError) as caught:
        discreet.simulate(receipts(shop(50)), top=3, epsilon=4, seed=1, **options)
    assert str(caught.value) == message


def test_a_cap_is_for_people_with_several():
    with pytest.raises(MisuseError, match="max_baskets is for people with several baskets: read them with basket="):
        discreet.simulate([{"tea"}] * 50, top=1, epsilon=4, seed=1, max_baskets=2)


def test_relations_of_what_is_together():
    outcome = discreet.simulate(
        receipts(shop(800)), "pairs", top=3, epsilon=4, seed=1, settings={"items": 4, "support": 6}
    )
    assert outcome.relations.people == 800
    with pytest.raises(MisuseError, match="order"):
        discreet.simulate(receipts(shop(50)), "pairs", top=3, epsilon=4, seed=1, settings={"how": "after"})


def test_the_result_in_a_file(tmp_path):
    discreet.simulate(receipts(shop(300)), top=3, epsilon=4, seed=1, max_baskets=2).save(tmp_path / "found.json")
    document = json.loads((tmp_path / "found.json").read_text())
    assert document["people"] == 300
    assert document["asked"]["max_baskets"] == 2
    assert document["notes"][0].startswith("Counts are of people.")
