"""Points and hyperplanes against their enumeration."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, settings, strategies as st

from discreet.kernels import count_points, fold
from discreet.local import SimulatedAnswers
from discreet.local.oracles.geometry import Geometry
from naive import devices, geometry

FIELDS = st.sampled_from([2, 3, 5, 7])


@settings(max_examples=25)
@given(
    st.sampled_from([1, 2, 7, 70, 1000]),
    st.integers(1, 4),
    st.sampled_from(["0.1", "0.5", "1", "2", "4", "9"]),
    st.integers(0, 2**64 - 1),
    st.randoms(use_true_random=False),
)
def test_reports(size, pad, epsilon, seed, random):
    oracle = Geometry.make(Fraction(epsilon), size, pad=pad)
    rows = [[], *([random.randrange(size)] for _ in range(8)), sorted(random.sample(range(size), min(size, 6)))]
    people = [random.randrange(2**40) for _ in rows]
    offsets = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    symbols = np.array([value for row in rows for value in row], np.int32)
    columns = oracle.reports(SimulatedAnswers(offsets=offsets, values=symbols, people=np.array(people)), seed)
    reports = [oracle.codec.make_report(columns, row) for row in range(len(rows))]
    assert reports == devices.reports(oracle.form, rows, people, seed)


@given(st.lists(st.integers(0, 12), max_size=30))
def test_points_are_counted_and_taken_out_again(answers):
    cells = np.zeros(13, np.int64)
    count_points(np.array(answers, np.int64), 1, cells)
    assert cells.tolist() == geometry.count_values(answers, 13)
    count_points(np.array(answers, np.int64), -1, cells)
    assert not cells.any()


@given(FIELDS, st.integers(1, 6), st.integers(1, 3), st.integers(1, 7), st.integers(0, 1000), st.data())
def test_a_coordinate_that_is_summed_out(field, done_count, before, factor_count, seed, data):
    factor_count = min(factor_count, field)
    cells = np.random.default_rng(seed).integers(0, 50, before * field * done_count * field)
    places = before * done_count
    middle = data.draw(st.integers(0, places))
    folded = np.empty(places * factor_count * field, np.int64)
    fold(cells, done_count, field, factor_count, 0, middle, folded)
    fold(cells, done_count, field, factor_count, middle, places, folded)
    assert folded.tolist() == geometry.folded(cells.tolist(), done_count, field, factor_count)
