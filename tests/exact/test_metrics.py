import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import discreet
from discreet import Vocabulary
from discreet.errors import MisuseError
from discreet.exact import cumulative_rank, f_score, false_negative_rate, score, squared_error
from discreet.exact._metrics import (
    Approximation,
    Usefulness,
    approximation,
    completeness,
    false_positive_rate,
    precision,
    ranked,
    recall,
    relative_error,
    soundness,
    usefulness,
)
from discreet.results import Patterns

A, B, C, D, E = (frozenset(label) for label in "abcde")
AB = A | B

TRUTH = {A: 100, B: 80, C: 60, AB: 50, D: 10}
FOUND = {A: 90, C: 66, D: 55, E: 52}
NOTHING: dict[frozenset[str], int] = {}


def test_by_hand_top_three():
    # The true top three are a, b, c (3, 2, 1 points); the three highest found are a, c, d.
    result = score(FOUND, TRUTH, top=3, people=200, universe=10)
    assert result.to_dict() == {
        "found": 3,
        "wanted": 3,
        "precision": 2 / 3,
        "recall": 2 / 3,
        "f_score": 2 / 3,
        "false_negative_rate": 1 - 2 / 3,
        "false_positive_rate": 1 / 7,
        "cumulative_rank": 4 / 6,
        "squared_error": (10**2 + 6**2) / 2,
        "support_squared_error": pytest.approx((10**2 + 6**2) / 2 / 200**2),
        "median_relative_error": 0.1,
        "mean_relative_error": pytest.approx((0.1 + 0.1 + 4.5) / 3),
    }


def test_by_hand_at_a_count():
    # Wanted: 50 or more, so a, b, c, ab. With slack 0.25: over 62.5 must be found, under 37.5 must not.
    result = score(FOUND, TRUTH, min_count=50, slack=0.25, floor=20)
    assert result.to_dict() == {
        "found": 4,
        "wanted": 4,
        "precision": 0.5,
        "recall": 0.5,
        "f_score": 0.5,
        "false_negative_rate": 0.5,
        "squared_error": 68.0,
        "median_relative_error": pytest.approx((0.1 + 45 / 20) / 2),
        "mean_relative_error": pytest.approx((0.1 + 0.1 + 45 / 20 + 52 / 20) / 4),
        "completeness": 0.5,
        "soundness": 0.5,
    }
    assert result.cumulative_rank is None


def test_lengths():
    assert score(TRUTH, TRUTH, top=1, lengths=2).to_dict()["wanted"] == 1
    assert score({A: 1}, TRUTH, top=3, lengths=2).recall == 0
    assert score(TRUTH, TRUTH, top=3, lengths=(1, 1)).cumulative_rank == 1


def test_rank_ties_go_to_shorter_sets_then_labels():
    assert ranked({B: 5, AB: 5, A: 5, C: 7}) == [C, A, B, AB]
    assert ranked({frozenset({10}): 1, frozenset({9}): 1}) == [{9}, {10}]
    assert ranked({A: 1, B: 2}, top=5) == [B, A]


def test_the_rank_is_the_true_one():
    # Erratum B14: a released order that is upside down changes nothing.
    assert cumulative_rank({A: 1, B: 2, C: 3}, TRUTH, top=3) == 1
    assert cumulative_rank({A: 9}, TRUTH, top=2) == 2 / 3
    assert cumulative_rank({B: 9}, TRUTH, top=2) == 1 / 3


def test_finding_more_than_the_top_earns_nothing():
    assert cumulative_rank({D: 9, E: 8, A: 1}, TRUTH, top=2) == 0


@pytest.mark.parametrize(
    ("found", "truth", "expected"),
    [
        (NOTHING, TRUTH, {"precision": 1, "recall": 0, "f_score": 0, "cumulative_rank": 0}),
        (FOUND, NOTHING, {"precision": 0, "recall": 1, "f_score": 0, "cumulative_rank": 1}),
        (NOTHING, NOTHING, {"precision": 1, "recall": 1, "f_score": 1, "cumulative_rank": 1}),
    ],
)
def test_nothing(found, truth, expected):
    result = score(found, truth, top=3)
    assert {name: result.to_dict()[name] for name in expected} == expected
    assert math.isnan(result.squared_error)
    assert math.isnan(result.mean_relative_error) == (not found)
    near = approximation(found, truth, min_count=50, slack=0.1)
    assert near.soundness == (0 if found else 1)
    assert near.completeness == (0 if truth else 1)


def test_false_positive_rate_edges():
    assert false_positive_rate([A], [A], universe=1) == 0
    assert false_positive_rate([B], [A], universe=2) == 1


def test_approximation_at_its_bounds():
    # 1.15 * 100 is a little under 115 in binary: as typed, 115 does not exceed it and need not be found.
    truth = {A: 115, B: 116, C: 85, D: 84}
    assert approximation({B: 1, C: 1}, truth, min_count=100, slack=0.15) == Approximation(completeness=1, soundness=1)
    assert approximation({B: 1, C: 1}, truth, min_count=100, slack=0.15).holds
    assert not approximation({A: 1, C: 1}, truth, min_count=100, slack=0.15).holds
    assert approximation({B: 1, D: 1}, truth, min_count=100, slack=0.15).soundness == 0.5
    assert completeness({A: 1}, truth, above=100) == 0.5
    assert soundness({E: 1}, truth, below=1) == 0


def usual(found, **changed):
    return usefulness(found, TRUTH, **{"top": 3, "people": 200, "margin": 0.05, "accuracy": 0.05} | changed)


def test_usefulness():
    # The third count is 60 and the margin 10 people: over 70 must be found, under 50 must not.
    assert usual({A: 95, B: 90, AB: 41}) == Usefulness(sound=True, complete=True, accurate=True, full=True)
    assert usual({A: 95, B: 90, AB: 41}).holds
    assert usual({A: 95, B: 90, AB: 39.5}) == Usefulness(sound=True, complete=True, accurate=False, full=True)
    assert usual({A: 95, B: 90, D: 10}) == Usefulness(sound=False, complete=True, accurate=True, full=True)
    assert usual({A: 95, C: 60, AB: 50}) == Usefulness(sound=True, complete=False, accurate=True, full=True)
    assert usual({A: 95, B: 80}) == Usefulness(sound=True, complete=True, accurate=True, full=False)
    assert not any(usual(found).holds for found in ({A: 95, B: 80}, {A: 95, C: 60, AB: 50}, NOTHING))
    # Fewer itemsets than asked for occur: the last count is 0 (erratum E11), so anything is sound.
    assert usual({A: 100, B: 80, C: 60, AB: 50, D: 10, E: 0}, top=6).holds


def test_relative_error_has_a_floor():
    assert relative_error({E: 5}, TRUTH) == 5
    assert relative_error({E: 5}, TRUTH, floor=10) == 0.5
    assert relative_error({A: 110, B: 88, D: 20}, TRUTH) == 0.1
    assert relative_error({A: 110, B: 88, D: 20}, TRUTH, summary="mean") == pytest.approx(0.4)


def test_patterns_and_mappings_are_the_same():
    patterns = Patterns(
        offsets=np.array([0, 1, 2, 4]),
        codes=np.array([0, 1, 0, 1], dtype=np.int32),
        counts=np.array([6, 5, 4]),
        vocabulary=Vocabulary(["a", "b"]),
        people=10,
    )
    counts = {A: 6, B: 5, AB: 4}
    found = {A: 5, AB: 4.5, C: 1}
    assert score(found, patterns, top=2) == score(found, counts, top=2)
    assert score(patterns, found, top=2) == score(counts, found, top=2)
    assert squared_error(patterns, patterns) == 0


labels = [frozenset(labels) for size in (1, 2) for labels in itertools.combinations("abcd", size)]
some_counts = st.dictionaries(st.sampled_from(labels), st.integers(0, 8), max_size=len(labels))


@settings(max_examples=200)
@given(found=some_counts, truth=some_counts, top=st.integers(1, 6), data=st.data())
def test_brute_force(found, truth, top, data):
    wanted = sorted(truth, key=lambda itemset: (-truth[itemset], len(itemset), "".join(sorted(itemset))))[:top]
    hits = sum(itemset in found for itemset in wanted)
    assert recall(found, wanted) == (hits / len(wanted) if wanted else 1)
    assert precision(found, wanted) == (hits / len(found) if found else 1)
    assert false_negative_rate(found, wanted) == 1 - recall(found, wanted)
    p, r = precision(found, wanted), recall(found, wanted)
    assert f_score(found, wanted) == pytest.approx(2 * p * r / (p + r) if p + r else 0)
    false = sum(itemset in found for itemset in labels if itemset not in wanted)
    assert false_positive_rate(found, wanted, universe=len(labels)) == false / (len(labels) - len(wanted))

    best = sorted(found, key=lambda itemset: (-found[itemset], len(itemset), "".join(sorted(itemset))))[:top]
    points = sum(len(wanted) - wanted.index(itemset) for itemset in best if itemset in wanted)
    assert cumulative_rank(found, truth, top=top) == pytest.approx(
        points / (len(wanted) * (len(wanted) + 1) / 2) if wanted else 1
    )
    assert 0 <= cumulative_rank(found, truth, top=top) <= 1

    both = [itemset for itemset in labels if itemset in found and itemset in truth]
    if both:
        errors = np.array([found[itemset] - truth[itemset] for itemset in both])
        assert squared_error(found, truth) == pytest.approx(np.mean(errors**2))
        assert squared_error(found, truth, people=4) == pytest.approx(np.mean((errors / 4) ** 2))
    if found:
        true = np.array([truth.get(itemset, 0) for itemset in found])
        errors = np.abs(np.array(list(found.values())) - true) / np.maximum(true, 2)
        assert relative_error(found, truth, floor=2) == pytest.approx(np.median(errors))
        assert relative_error(found, truth, floor=2, summary="mean") == pytest.approx(np.mean(errors))

    threshold = data.draw(st.integers(1, 8))
    near = approximation(found, truth, min_count=threshold, slack=0.5)
    assert near.holds == all(
        (itemset in found or truth.get(itemset, 0) <= 1.5 * threshold)
        and (itemset not in found or truth.get(itemset, 0) >= 0.5 * threshold)
        for itemset in labels
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: score(FOUND, TRUTH),
            "Give what was asked for: top=64 or min_count=500, one of the two.",
        ),
        (
            lambda: score(FOUND, TRUTH, top=3, min_count=5),
            "Give what was asked for: top=64 or min_count=500, one of the two.",
        ),
        (
            lambda: score(FOUND, TRUTH, top=3, slack=0.1),
            "slack is measured around min_count: give min_count as well, or leave slack out.",
        ),
        (lambda: score(FOUND, TRUTH, top=0), "top is 0; it must be 1 or more."),
        (
            lambda: score(FOUND, TRUTH, top=3, lengths=(3, 2)),
            "lengths is (3, 2); give one number such as 2, or the smallest and the largest: (2, 5).",
        ),
        (
            lambda: approximation(FOUND, TRUTH, min_count=5, slack=-0.1),
            "slack is -0.1; it must be 0 or more: try slack=0.2.",
        ),
        (lambda: relative_error(FOUND, TRUTH, floor=0), "floor is 0; it must be above 0: try floor=1."),
        (
            lambda: false_positive_rate(FOUND, TRUTH, universe=4),
            "universe is 4, but 6 different itemsets were given: give the number of all possible itemsets.",
        ),
    ],
)
def test_misuse(call, message):
    with pytest.raises(MisuseError) as caught:
        call()
    assert str(caught.value) == message


def test_patterns_are_taken_as_their_itemsets():
    found = discreet.mine([{"a", "b"}, {"a"}, {"c"}], min_count=1)
    truth = discreet.mine([{"a", "b"}, {"a"}, {"a"}], min_count=1)
    assert precision(found, truth) == 3 / 4
    assert recall(found, truth) == 1
    assert f_score(found, truth) == f_score(found.to_dict(), truth.to_dict()) == 6 / 7
    assert false_negative_rate(truth, found) == 1 / 4
    assert false_positive_rate(found, truth, universe=7) == 1 / 4
