"""Tables of published seeds against tables filled cell by cell."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from discreet.kernels import TABLE_TILE, leftover, meet, published_seeds, share_cells, sum_cells, tabulate
from discreet.local import SimulatedAnswers
from discreet.local.device import derive_seed
from discreet.local.oracle_steps import oracles
from naive import devices, tables

STARTS = st.sampled_from([0, 5, 4096, (1 << 31) - 40])
BUCKETS = st.sampled_from([2, 3, 4, 5, 6, 9, 12, 13, 40])


def codes(items):
    return np.array(items, np.uint32)


def edges(buckets):
    return np.array([-(-(place << 32) // buckets) for place in range(buckets)], np.uint32)


@given(st.lists(st.integers(0, (1 << 31) - 1), max_size=20))
def test_seeds_are_the_device_s(numbers):
    firsts, seconds = np.empty(len(numbers), np.uint32), np.empty(len(numbers), np.uint32)
    published_seeds(codes(numbers), firsts, seconds)
    assert list(zip(firsts.tolist(), seconds.tolist(), strict=True)) == [derive_seed(number) for number in numbers]


@pytest.mark.parametrize("name", ["olh", "blh", "wheel"])
@settings(max_examples=15)
@given(
    st.sampled_from([1, 3, 70]),
    st.integers(1, 4),
    st.sampled_from(["0.5", "1", "4", "20"]),
    st.sampled_from([2, 1024, 1 << 31]),
    st.integers(0, 2**64 - 1),
    st.randoms(use_true_random=False),
)
def test_reports(name, size, pad, epsilon, seeds, seed, random):
    oracle = oracles()[name].make(Fraction(epsilon), size, pad=pad).numbered(seeds)
    rows = [[], list(range(size)), *(sorted(random.sample(range(size), min(size, 3))) for _ in range(4))]
    people = [random.randrange(2**40) for _ in rows]
    offsets = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    symbols = np.array([value for row in rows for value in row], np.int32)
    columns = oracle.reports(SimulatedAnswers(offsets=offsets, values=symbols, people=np.array(people)), seed)
    reports = [oracle.codec.make_report(columns, row) for row in range(len(rows))]
    assert reports == devices.reports(oracle.form, rows, people, seed)


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 2)), max_size=30))
def test_reports_fall_into_a_table_and_are_taken_out_again(reports):
    numbers, values = codes([number for number, _ in reports]), np.array([number for _, number in reports], np.int64)
    table = np.zeros((8, 3), np.int64)
    tabulate(numbers, values, 1, table)
    assert table.tolist() == tables.tabulated(numbers.tolist(), values.tolist(), 8, 3)
    tabulate(numbers, values, -1, table)
    assert not table.any()


@given(STARTS, BUCKETS, st.lists(st.integers(0, 1 << 28), max_size=8, unique=True), st.integers(0, 1000))
def test_what_is_left_of_a_table(start, buckets, items, seed):
    generator = np.random.default_rng(seed)
    table = generator.integers(0, 500, (6, buckets))
    weights = generator.random(len(items)) / max(1, len(items))
    pairs = np.array([(b, a) for b in range(len(items)) for a in range(b) if generator.random() < 0.5], np.int32)
    lefts, rights = pairs.reshape(-1, 2).T.copy()
    extra = -generator.random(len(lefts)) / max(1, len(lefts))
    output = np.empty(table.shape, np.int32)
    leftover(start, table, codes(items), weights, lefts, rights, extra, 0.3, 16.0, output)
    pair_weights = list(zip(lefts.tolist(), rights.tolist(), extra.tolist(), strict=True))
    expected = np.array(tables.leftover(start, table.tolist(), items, weights.tolist(), pair_weights, 0.3, 16.0))
    assert np.abs(output - expected).max() < 0.5 + 1e-6
    # A row of residuals adds up to nothing, but for rounding.
    assert np.abs(output.sum(1)).max() <= buckets / 2 + 1e-6


@given(STARTS, BUCKETS, st.integers(0, 1000))
def test_sums_of_cells(start, buckets, seed):
    generator = np.random.default_rng(seed)
    cells = generator.integers(-(1 << 20), 1 << 20, (7, buckets)).astype(np.int32)
    items = generator.integers(0, 1 << 28, 9).astype(np.uint32)
    sums = np.full(9, 5, np.int64)
    sum_cells(start, cells, edges(buckets), items, sums)
    assert (sums - 5).tolist() == tables.sums(start, cells.tolist(), items.tolist())


def test_more_symbols_than_a_tile():
    cells = np.arange(24, dtype=np.int32).reshape(6, 4)
    items = np.arange(TABLE_TILE + 3, dtype=np.uint32)
    sums = np.zeros(len(items), np.int64)
    sum_cells(9, cells, edges(4), items, sums)
    for place in (0, TABLE_TILE - 1, TABLE_TILE, TABLE_TILE + 2):
        assert sums[place] == tables.sums(9, cells.tolist(), [place])[0]


@given(STARTS, BUCKETS, st.lists(st.integers(0, 1 << 28), max_size=8, unique=True), st.integers(0, 1000))
def test_what_symbols_put_into_each_other(start, buckets, items, seed):
    generator = np.random.default_rng(seed)
    reports, weights = generator.integers(0, 90, 6), generator.random(len(items))
    output = np.zeros(len(items))
    meet(start, reports, buckets, codes(items), weights, output)
    expected = tables.met(start, reports.tolist(), buckets, items, weights.tolist())
    assert output.tolist() == pytest.approx(expected, abs=1e-8)


@given(
    STARTS,
    BUCKETS,
    st.sampled_from([1.0, 16.0, 4096.0]),
    st.lists(st.integers(0, 1 << 28), max_size=6, unique=True),
    st.integers(0, 1000),
)
def test_what_is_left_in_cells_that_symbols_share(start, buckets, scale, items, seed):
    generator = np.random.default_rng(seed)
    table = generator.integers(0, 90, (6, buckets))
    cells = (scale * generator.uniform(-40, 40, (6, buckets))).astype(np.int32)
    residuals, noise = np.zeros((len(items), len(items)), np.int64), np.zeros((len(items), len(items)))
    people = np.zeros_like(residuals)
    share_cells(start, cells, table, scale, codes(items), residuals, noise, people)
    expected = tables.sum_shared_cells(start, cells.tolist(), table.tolist(), scale, items)
    assert residuals.tolist() == expected[0]
    assert noise.ravel().tolist() == pytest.approx(np.array(expected[1]).ravel().tolist())
    assert people.tolist() == expected[2]
