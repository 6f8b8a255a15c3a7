"""Shares and rule measures carry the noise of every number they are made of, that of the people included."""

from __future__ import annotations

import re
from itertools import product

import numpy as np
import pytest

import discreet
from discreet import MisuseError
from discreet.planning import trial
from discreet.results import load, measure_bounds
from discreet.results._measures import MEASURES, measure
from naive.rules import make_patterns

COUNTS = {frozenset({"tea"}): 80, frozenset({"milk"}): 60, frozenset({"tea", "milk"}): 55}


def noisy(**changes):
    values = {"low": np.array([70.0, 50.0, 45.0]), "high": np.array([90.0, 70.0, 65.0]), "people_within": (90, 110)}
    return make_patterns(COUNTS, 100, **values | changes)


def test_supports_have_an_interval_of_their_own():
    low, high = noisy().support_bounds
    assert low.tolist() == pytest.approx([70 / 110, 50 / 110, 45 / 110])
    assert high.tolist() == pytest.approx([1, 70 / 90, 65 / 90])
    known_low, _ = noisy(people_within=None).support_bounds
    assert known_low.tolist() == pytest.approx([0.7, 0.5, 0.45])
    assert make_patterns(COUNTS, 100).support_bounds is None
    assert noisy(people_within=(0, 5)).support_bounds[1].tolist() == [1, 1, 1]
    unknown = noisy(low=np.full(3, np.nan), high=np.full(3, np.nan)).support_bounds
    assert [end.tolist() for end in unknown] == [[0, 0, 0], [1, 1, 1]]


def test_they_stay_with_the_patterns_and_in_tables():
    selection = noisy()[1:].where(min_count=56)
    assert (len(selection), selection.people_within) == (1, (90, 110))
    assert (
        selection.to_arrow().column_names[-2:]
        == list(selection.to_pandas().columns[-2:])
        == ["support_low", "support_high"]
    )
    assert repr(selection).splitlines()[0] == "1 pattern of about 100 people (90 to 110)"
    assert noisy().rules(0)[1:].people_within == (90, 110)
    assert noisy() != noisy(people_within=(90, 111))


@pytest.mark.parametrize("name", MEASURES)
def test_measures_lie_within_what_their_counts_allow(name):
    # Every truth that lies in a box of intervals, and could be true at all: by brute force over boxes of small numbers.
    generator = np.random.default_rng(7)
    for _ in range(60):
        ends = [np.sort(generator.integers(0, 9, 2)) for _ in range(3)]
        people = tuple(sorted(generator.integers(1, 12, 2).tolist()))
        low, high = measure_bounds(name, people, *(tuple(np.array([float(end)]) for end in pair) for pair in ends))
        for n, a, c, b in product(*(range(start, final + 1) for start, final in (people, *ends))):
            if max(a, c) <= n and b <= min(a, c) and b >= a + c - n and a > 0 and c > 0:
                value = measure(name, n, np.array([a]), np.array([c]), np.array([b]))[0]
                assert low[0] - 1e-12 <= value <= high[0] + 1e-12, (name, n, a, c, b, people, ends)


def test_certain_counts_leave_no_doubt():
    counts = [(np.array([value]),) * 2 for value in (5.0, 6.0, 4.0)]
    for name in MEASURES:
        low, high = measure_bounds(name, (10, 10), *counts)
        value = measure(name, 10, np.array([5]), np.array([6]), np.array([4]))
        assert low == pytest.approx(value), name
        assert high == pytest.approx(value), name


def test_unknown_counts_say_nothing():
    unknown = (np.array([np.nan]),) * 2
    for name, ends in {"confidence": (0, 1), "lift": (0, np.inf), "jaccard": (0, 1), "support": (0, 1)}.items():
        low, high = measure_bounds(name, (0, 10), unknown, unknown, unknown)
        assert (low[0], high[0]) == ends


def test_rules_have_bounds_for_every_measure():
    rules = noisy().rules(0)
    for name in MEASURES:
        low, high = rules.bounds(name)
        assert (low <= rules.measure(name) + 1e-12).all(), name
        assert (rules.measure(name) <= high + 1e-12).all(), name
    low, high = rules.bounds("lift")
    assert low.tolist() == pytest.approx([90 * 45 / (90 * 70)] * 2)
    assert high.tolist() == pytest.approx([110 * 65 / (70 * 50)] * 2)
    assert rules.sort("lift_low") == rules
    assert make_patterns(COUNTS, 100).rules(0).bounds("lift") is None
    with pytest.raises(MisuseError, match="'luck' is not a measure of rules"):
        rules.bounds("luck")


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_they_come_back_from_files(form, tmp_path):
    for result in (noisy(), noisy(people_within=None), noisy().rules(0), noisy()[:0]):
        saved_result = result if len(result) else noisy(about={"guarantee": None, "simulated": True})[:0]
        saved_result.save(tmp_path / f"r.{form}")
        assert load(tmp_path / f"r.{form}") == saved_result


@pytest.mark.statistical
@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_intervals_of_shares_hold(delta):
    # 200 releases, in each of which two intervals of 95 % may fail: with a chance of .0975 each at
    # worst, 34 or more fail with a probability below 0.001. Dividing by the noisy number of people, over 100 failed.
    failed = excess_count = 0
    for seed in range(200):
        release = trial([{"tea", "milk"}] * 2000, seed=seed, top=1, epsilon=1, delta=delta, items="public", lengths=2)
        low, high = release.patterns.support_bounds
        failed += not low[0] <= 1 <= high[0]
        fewest, most_people = release.patterns.people_within
        excess_count += not fewest <= 2000 <= most_people
        assert high[0] <= 1
    assert failed < 34
    assert excess_count < 23  # of intervals of 95 %: 23 or more fail with a probability below 0.001


@pytest.mark.statistical
def test_lifts_of_a_release_hold():
    # The lift of two sides that everybody holds is 1; 100 releases, at most 20 % fail at worst: 33 or more have a
    # probability below 0.002.
    failed = 0
    for seed in range(100):
        release = trial([{"tea", "milk"}] * 500 + [{"tea"}] * 500, seed=seed, top=3, epsilon=1, items="public")
        rules = release.rules(0)
        low, high = rules.bounds("lift")
        failed += bool(len(rules)) and not (low[0] <= 1 <= high[0])
    assert failed < 33


def test_a_report_shows_no_share_over_one_and_the_people_with_their_interval():
    for seed in range(5):
        release = trial([{"tea", "milk"}] * 60, seed=seed, top=3, epsilon="0.5", items="public")
        page = release.report()
        fewest, most_people = release.patterns.people_within
        assert f"it lies between {fewest:,} and {most_people:,}, in 95 of 100 cases" in page
        shares = [float(share.replace(",", "")) for share in re.findall(r"([0-9.,]+)\u202f%", page)]
        assert shares
        assert max(shares) <= 100


def test_where_the_number_of_people_is_known_it_has_no_interval():
    for question in ({"people": 120}, {"neighbours": "replace"}):
        release = discreet.release([{"tea"}] * 120, top=1, epsilon=1, items="public", **question)
        assert release.patterns.people_within is None
