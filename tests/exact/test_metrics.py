import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import discreet
from discreet import Vocabulary
from discreet.errors import MisuseError
from discreet.exact import (
    cumulative_rank,
    f_score,
    false_negative_rate,
    precision,
    rank_itemsets,
    recall,
    squared_error,
)
from discreet.results import Patterns
from discreet_lab.measure.scores import (
    Approximation,
    Usefulness,
    approximation,
    completeness,
    false_positive_rate,
    relative_error,
    score,
    soundness,
    usefulness,
)

A, B, C, D, E = (frozenset(label) for label in "abcde")
AB = A | B

TRUTH = {A: 100, B: 80, C: 60, AB: 50, D: 10}
ESTIMATES = {A: 90, C: 66, D: 55, E: 52}
NOTHING: dict[frozenset[str], int] = {}


def test_by_hand_top_three():
    # The true top three are a, b, c (3, 2, 1 points); the three highest found are a, c, d.
    result = score(ESTIMATES, TRUTH, top=3, people=200, universe=10)
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
    result = score(ESTIMATES, TRUTH, min_count=50, slack=0.25, floor=20)
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
    assert rank_itemsets({B: 5, AB: 5, A: 5, C: 7}) == [C, A, B, AB]
    assert rank_itemsets({frozenset({10}): 1, frozenset({9}): 1}) == [{9}, {10}]
    assert rank_itemsets({A: 1, B: 2}, top=5) == [B, A]


def test_the_rank_is_the_true_one():
    # Erratum B14: a released order that is upside down changes nothing.
    assert cumulative_rank({A: 1, B: 2, C: 3}, TRUTH, top=3) == 1
    assert cumulative_rank({A: 9}, TRUTH, top=2) == 2 / 3
    assert cumulative_rank({B: 9}, TRUTH, top=2) == 1 / 3


def test_finding_more_than_the_top_earns_nothing():
    assert cumulative_rank({D: 9, E: 8, A: 1}, TRUTH, top=2) == 0


@pytest.mark.parametrize(
    ("estimates", "truth", "expected"),
    [
        (NOTHING, TRUTH, {"precision": 1, "recall": 0, "f_score": 0, "cumulative_rank": 0}),
        (ESTIMATES, NOTHING, {"precision": 0, "recall": 1, "f_score": 0, "cumulative_rank": 1}),
        (NOTHING, NOTHING, {"precision": 1, "recall": 1, "f_score": 1, "cumulative_rank": 1}),
    ],
)
def test_nothing(estimates, truth, expected):
    result = score(estimates, truth, top=3)
    assert {name: result.to_dict()[name] for name in expected} == expected
    assert math.isnan(result.squared_error)
    assert math.isnan(result.mean_relative_error) == (not estimates)
    approximate = approximation(estimates, truth, min_count=50, slack=0.1)
    assert approximate.soundness == (0 if estimates else 1)
    assert approximate.completeness == (0 if truth else 1)


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


def usual_usefulness(estimates, **changed):
    return usefulness(estimates, TRUTH, **{"top": 3, "people": 200, "margin": 0.05, "accuracy": 0.05} | changed)


def test_usefulness():
    # The third count is 60 and the margin 10 people: over 70 must be found, under 50 must not.
    assert usual_usefulness({A: 95, B: 90, AB: 41}) == Usefulness(sound=True, complete=True, accurate=True, full=True)
    assert usual_usefulness({A: 95, B: 90, AB: 41}).holds
    assert usual_usefulness({A: 95, B: 90, AB: 39.5}) == Usefulness(
        sound=True, complete=True, accurate=False, full=True
    )
    assert usual_usefulness({A: 95, B: 90, D: 10}) == Usefulness(sound=False, complete=True, accurate=True, full=True)
    assert usual_usefulness({A: 95, C: 60, AB: 50}) == Usefulness(sound=True, complete=False, accurate=True, full=True)
    assert usual_usefulness({A: 95, B: 80}) == Usefulness(sound=True, complete=True, accurate=True, full=False)
    assert not any(usual_usefulness(estimates).holds for estimates in ({A: 95, B: 80}, {A: 95, C: 60, AB: 50}, NOTHING))
    # Fewer itemsets than asked for occur: the last count is 0 (erratum E11), so anything is sound.
    assert usual_usefulness({A: 100, B: 80, C: 60, AB: 50, D: 10, E: 0}, top=6).holds


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
    estimates = {A: 5, AB: 4.5, C: 1}
    assert score(estimates, patterns, top=2) == score(estimates, counts, top=2)
    assert score(patterns, estimates, top=2) == score(counts, estimates, top=2)
    assert squared_error(patterns, patterns) == 0


labels = [frozenset(labels) for size in (1, 2) for labels in itertools.combinations("abcd", size)]
some_counts = st.dictionaries(st.sampled_from(labels), st.integers(0, 8), max_size=len(labels))


@settings(max_examples=200)
@given(estimates=some_counts, truth=some_counts, top=st.integers(1, 6), data=st.data())
def test_brute_force(estimates, truth, top, data):
    expected_top = sorted(truth, key=lambda itemset: (-truth[itemset], len(itemset), "".join(sorted(itemset))))[:top]
    hits = sum(itemset in estimates for itemset in expected_top)
    assert recall(estimates, expected_top) == (hits / len(expected_top) if expected_top else 1)
    assert precision(estimates, expected_top) == (hits / len(estimates) if estimates else 1)
    assert false_negative_rate(estimates, expected_top) == 1 - recall(estimates, expected_top)
    p, r = precision(estimates, expected_top), recall(estimates, expected_top)
    assert f_score(estimates, expected_top) == pytest.approx(2 * p * r / (p + r) if p + r else 0)
    false_positives = sum(itemset in estimates for itemset in labels if itemset not in expected_top)
    assert false_positive_rate(estimates, expected_top, universe=len(labels)) == false_positives / (
        len(labels) - len(expected_top)
    )

    best_estimates = sorted(
        estimates, key=lambda itemset: (-estimates[itemset], len(itemset), "".join(sorted(itemset)))
    )[:top]
    points = sum(
        len(expected_top) - expected_top.index(itemset) for itemset in best_estimates if itemset in expected_top
    )
    assert cumulative_rank(estimates, truth, top=top) == pytest.approx(
        points / (len(expected_top) * (len(expected_top) + 1) / 2) if expected_top else 1
    )
    assert 0 <= cumulative_rank(estimates, truth, top=top) <= 1

    common_itemsets = [itemset for itemset in labels if itemset in estimates and itemset in truth]
    if common_itemsets:
        errors = np.array([estimates[itemset] - truth[itemset] for itemset in common_itemsets])
        assert squared_error(estimates, truth) == pytest.approx(np.mean(errors**2))
        assert squared_error(estimates, truth, people=4) == pytest.approx(np.mean((errors / 4) ** 2))
    if estimates:
        true_counts = np.array([truth.get(itemset, 0) for itemset in estimates])
        errors = np.abs(np.array(list(estimates.values())) - true_counts) / np.maximum(true_counts, 2)
        assert relative_error(estimates, truth, floor=2) == pytest.approx(np.median(errors))
        assert relative_error(estimates, truth, floor=2, summary="mean") == pytest.approx(np.mean(errors))

    threshold = data.draw(st.integers(1, 8))
    approximate = approximation(estimates, truth, min_count=threshold, slack=0.5)
    assert approximate.holds == all(
        (itemset in estimates or truth.get(itemset, 0) <= 1.5 * threshold)
        and (itemset not in estimates or truth.get(itemset, 0) >= 0.5 * threshold)
        for itemset in labels
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: score(ESTIMATES, TRUTH),
            "Give what was asked for: top=64 or min_count=500, one of the two.",
        ),
        (
            lambda: score(ESTIMATES, TRUTH, top=3, min_count=5),
            "Give what was asked for: top=64 or min_count=500, one of the two.",
        ),
        (
            lambda: score(ESTIMATES, TRUTH, top=3, slack=0.1),
            "slack is measured around min_count: give min_count as well, or leave slack out.",
        ),
        (lambda: score(ESTIMATES, TRUTH, top=0), "top is 0; it must be 1 or more."),
        (
            lambda: score(ESTIMATES, TRUTH, top=3, lengths=(3, 2)),
            "lengths is (3, 2); give one number such as 2, or the smallest and the largest: (2, 5).",
        ),
        (
            lambda: approximation(ESTIMATES, TRUTH, min_count=5, slack=-0.1),
            "slack is -0.1; it must be 0 or more: try slack=0.2.",
        ),
        (lambda: relative_error(ESTIMATES, TRUTH, floor=0), "floor is 0; it must be above 0: try floor=1."),
        (
            lambda: false_positive_rate(ESTIMATES, TRUTH, universe=4),
            "universe is 4, but 6 different itemsets were given: give the number of all possible itemsets.",
        ),
    ],
)
def test_misuse(call, message):
    with pytest.raises(MisuseError) as caught:
        call()
    assert str(caught.value) == message


def test_patterns_are_taken_as_their_itemsets():
    patterns = discreet.mine([{"a", "b"}, {"a"}, {"c"}], min_count=1)
    truth = discreet.mine([{"a", "b"}, {"a"}, {"a"}], min_count=1)
    assert precision(patterns, truth) == 3 / 4
    assert recall(patterns, truth) == 1
    assert f_score(patterns, truth) == f_score(patterns.to_dict(), truth.to_dict()) == 6 / 7
    assert false_negative_rate(truth, patterns) == 1 / 4
    assert false_positive_rate(patterns, truth, universe=7) == 1 / 4
