"""Projective geometry response: its points, the spaces that are chosen, and reading all hyperplanes at once."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from math import exp, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.local.device.client import coordinates
from discreet.local.device.loss import points
from discreet.local.oracle import Answered
from discreet.local.oracle_steps import hyperplanes
from discreet.local.oracle_steps.choice import adaptive, oracles
from discreet.local.oracle_steps.hyperplanes import coordinates_of, met, numbers_of
from discreet.local.oracles.geometry import ROOM, Geometry
from discreet.local.study.screening import screened, together
from naive import geometry
from naive.enumerating import law

SPACES = [(2, 2), (2, 3), (2, 4), (2, 5), (3, 2), (3, 3), (3, 4), (5, 2), (5, 3), (7, 3)]
# Distance from the truth, in standard deviations, that tests allow: passed by chance once in 1.7 million.
FAR = 5.0


@pytest.mark.parametrize(("field", "many"), [*SPACES, (4, 3), (6, 3)])
def test_every_point_is_reported_as_often_as_any_other_that_meets_as_much(field, many):
    """Two weights, for every symbol there is; also of numbers that are no field, as no device looks at that."""
    every, hit = geometry.points(field, many), Fraction(3, 8)
    assert [tuple(coordinates(number, field, many)) for number in range(points(field, many))] == every
    inside = points(field, many - 1)
    form = {"oracle": "geometry", "size": len(every), "pad": 1, "dummies": 0, "field": field, "coordinates": many}
    form["hit"] = int(hit * (1 << 32))
    for symbol, own in enumerate(every):
        exact = {json.loads(text)["point"]: share for text, share in law(form, [symbol]).items()}
        likely = [geometry.meet(own, other, field) for other in every]
        assert sum(likely) == inside
        share = {True: hit / inside, False: (1 - hit) / (len(every) - inside)}
        assert exact == {point: share[one] for point, one in enumerate(likely)}


@pytest.mark.parametrize(("field", "many"), SPACES)
def test_any_two_meet_the_same_number_of_points(field, many):
    every = geometry.points(field, many)
    meets = np.array([[geometry.meet(one, other, field) for other in every] for one in every]).astype(int)
    shared = meets @ meets.T
    assert set(np.diag(shared)) == {points(field, many - 1)}
    assert set(shared[~np.eye(len(every), dtype=bool)]) == {points(field, many - 2)}


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(SPACES), st.integers(0, 1 << 32), st.data())
def test_all_hyperplanes_at_once(space, seed, data):
    field, many = space
    cells = np.random.default_rng(seed).integers(0, 1 << 40, points(field, many))
    wanted = data.draw(st.integers(1, len(cells)))
    assert met(cells, field, many, wanted).tolist() == geometry.met(cells.tolist(), field, many, wanted)


def test_threads_share_a_hyperplane(monkeypatch):
    cells = np.random.default_rng(1).integers(0, 100, points(3, 7))
    alone = met(cells, 3, 7, 900)
    monkeypatch.setattr(hyperplanes, "_PIECE", 5)
    monkeypatch.setenv("DISCREET_THREADS", "3")
    assert met(cells, 3, 7, 900).tolist() == alone.tolist()


def people(held):
    return Answered(offsets=np.arange(len(held) + 1), held=np.array(held, np.int32), people=np.arange(len(held)))


@pytest.mark.parametrize(("epsilon", "size"), [("1", 1000), ("4", 500), ("1/2", 20)])
def test_reports_name_what_they_meet_and_add_up_to_it(epsilon, size):
    oracle = Geometry.make(Fraction(epsilon), size)
    columns = oracle.reports(people([at % size for at in range(300)]), 3)
    named = oracle.named(columns, np.arange(size))
    assert oracle.supports(columns).tolist() == named.sum(0).tolist()
    every = geometry.points(oracle.field, oracle.coordinates)
    for row, point in enumerate(columns["point"][:5].tolist()):
        assert named[row].tolist() == [geometry.meet(one, every[point], oracle.field) for one in every[:size]]
    aggregate = oracle.empty()
    for part in (slice(0, 100), slice(100, None)):
        oracle.add(aggregate, {"point": columns["point"][part]})
    assert oracle.decoded(aggregate).tolist() == named.sum(0).tolist()


@pytest.mark.statistical
def test_estimates_of_many_items_are_unbiased_and_as_exact_as_stated():
    """2,000 items of which one is held by half: by chance once in 10,000 seeds. The sum of squares has a known mean.

    Errors of two items are correlated where a frequent third one is on a line with both, so the spread of the sum of
    squares is allowed three times that of independent ones.
    """
    oracle, many = Geometry.make(Fraction(1), 2000), 200_000
    held = np.where(np.arange(many) % 2, 7, np.arange(many) // 2 % 2000)
    found = oracle.estimate(oracle.supports(oracle.reports(people(held), 11)), many)
    truth = np.bincount(held, minlength=2000) / many
    deviation = np.sqrt(oracle.variance(truth, many))
    assert np.abs(found - truth).max() < 5.5 * deviation.max()
    squares = ((found - truth) ** 2 / deviation**2).mean()
    assert abs(squares - 1) < 3 * 4 * sqrt(2 / 2000)
    assert abs((found - truth).mean()) < FAR * deviation.mean()


@pytest.mark.parametrize("epsilon", ["0.1", "0.35", "0.5", "1", "1.04", "2", "3", "4", "5", "7"])
def test_the_space_that_is_chosen_is_near_the_best(epsilon):
    """Against local hashing with any number of buckets, whole or not: 4 e^epsilon / (e^epsilon - 1)^2."""
    grown = exp(float(epsilon))
    for size in (1_000, 100_000, 1_000_000):
        oracle = Geometry.make(Fraction(epsilon), size)
        assert size < oracle.points <= ROOM
        assert all(oracle.field % divisor for divisor in range(2, oracle.field))
        assert float(oracle.variance(0.0)) <= 1.032 * 4 * grown / (grown - 1) ** 2
    # And it is that of subset selection over its points.
    subset = oracles()["subset"].make(Fraction(epsilon), 30, single=True)
    small = Geometry.make(Fraction(epsilon), 30, single=True)
    if small.points == 31:
        subset = replace(subset, size=31, many=points(small.field, small.coordinates - 1), hit=small.hit)
        assert subset.p_other == small.p_other


@pytest.mark.parametrize("epsilon", ["0.1", "1", "3", "4", "5"])
def test_very_large_spaces_have_a_few_points_for_each_symbol(epsilon):
    grown = exp(float(epsilon))
    for size in (10**7, (1 << 28) - 1):
        oracle = Geometry.make(Fraction(epsilon), size)
        assert size < oracle.points <= max(ROOM, 4 * (size + 1))
        assert float(oracle.variance(0.0)) <= 1.05 * 4 * grown / (grown - 1) ** 2


def test_it_is_used_by_name_and_not_chosen():
    assert Geometry.by_name
    for size in (10, 10_000, 1_000_000):
        for epsilon in ("0.1", "1", "8"):
            assert adaptive(Fraction(epsilon), size).name != "geometry"


@pytest.mark.statistical
def test_crafted_reports_are_seen_where_epsilon_is_large():
    """A tenth of the reports name two values: at epsilon 4 that is lowered. The alarm rings by chance once in e^18."""
    oracle = Geometry.make(Fraction(4), 400)
    honest = oracle.reports(people([at % 50 for at in range(27_000)]), 5)
    targets = np.array([101, 233])
    both = np.flatnonzero(oracle.named({"point": np.arange(oracle.points)}, targets).all(1))
    lies = {"point": np.resize(both, 3000)}
    assert screened(oracle, lambda: [honest]).alarms == ()
    seen = screened(oracle, lambda: [honest, lies])
    assert (seen.alarms[0].sign, set(targets.tolist()) <= set(seen.alarms[0].values)) == ("together", True)
    plain = oracle.supports({"point": np.concatenate((honest["point"], lies["point"]))})
    assert (seen.supports[targets] < plain[targets] - 1500).all()


@pytest.mark.parametrize(("field", "many"), SPACES)
@settings(max_examples=10)
@given(data=st.data())
def test_who_meets_two_is_told_by_the_points_that_were_counted(field, many, data):
    size = points(field, many)
    oracle = replace(Geometry.make(Fraction(1), 3), field=field, coordinates=many, size=size)
    drawn = np.array(data.draw(st.lists(st.integers(0, size - 1), max_size=40)), np.int64)
    values = np.array(data.draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=9, unique=True)), np.int64)
    cells = np.bincount(drawn, minlength=size).astype(np.int64)
    assert numbers_of(coordinates_of(np.arange(size), field, many), field).tolist() == list(range(size))
    expected = together(oracle.named({"point": drawn}, values)).tolist()
    assert oracle.reading(cells).together(values).tolist() == expected


def test_long_lines_are_not_gone_through():
    oracle = Geometry.make(Fraction(9), 100)
    assert oracle.field > 512
    assert oracle.reading(oracle.empty()).together(np.array([0, 1])) is None
