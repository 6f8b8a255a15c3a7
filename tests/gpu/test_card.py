"""Counts and tables of a card, against the compiled kernels: equal numbers to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from discreet.gpu._card import Card
from discreet.gpu._driver import kernel_names, source
from discreet.kernels import leftover, meet, sum_cells
from discreet.local.oracle_steps import count_hashed, hashes
from gpu.shim import COMPILER, ShimDriver, compiled

FEW_EXAMPLES = settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
BUCKETS = st.sampled_from([2, 3, 4, 16, 17, 40])

NO_PAIRS = np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0)


def words(generator, word_count):
    return tuple(generator.integers(0, 1 << 32, word_count, dtype=np.uint32) for _ in range(4))


@FEW_EXAMPLES
@given(st.sampled_from([0, 1, 3, 40]), st.sampled_from([1, 300, 2049]), st.integers(1, 30), st.integers(0, 99))
def test_reports_are_counted(driver, report_count, size, chunk_size, seed):
    reports = words(np.random.default_rng(seed), report_count)
    counts = Card(driver=driver, chunk_size=chunk_size).count_supports(*reports, size)
    assert counts.dtype == np.int64
    assert (counts == count_hashed(*reports, size)).all()


def edges(buckets):
    return np.array([-(-(place << 32) // buckets) for place in range(buckets)], np.uint32)


def table_of(generator, rows, buckets, items):
    table = generator.integers(0, 4000, (rows, buckets))
    codes = generator.choice(5000, items, replace=False).astype(np.uint32)
    return table, codes, generator.random(items) / max(1, items)


@FEW_EXAMPLES
@given(BUCKETS, st.sampled_from([1, 7, 300]), st.sampled_from([0, 1, 9]), st.integers(2, 700), st.integers(0, 99))
def test_what_is_left_of_a_table(driver, buckets, rows, items, chunk_size, seed):
    table, codes, weights = table_of(np.random.default_rng(seed), rows, buckets, items)
    expected_cells = np.empty(table.shape, np.int32)
    leftover(0, table, codes, weights, *NO_PAIRS, 0.3, 16.0, expected_cells)
    assert (
        Card(driver=driver, chunk_size=chunk_size).leftover(table, codes, weights, 0.3, 16.0) == expected_cells
    ).all()


@FEW_EXAMPLES
@given(BUCKETS, st.sampled_from([1, 7, 260]), st.sampled_from([1, 5, 4096]), st.integers(2, 700), st.integers(0, 99))
def test_a_table_is_read(driver, buckets, rows, fitting, chunk_size, seed):
    symbols = 40 if rows > 100 else 2050
    table, codes, weights = table_of(np.random.default_rng(seed), rows, buckets, 3)
    cells, expected_sums = np.empty(table.shape, np.int32), np.zeros(symbols, np.int64)
    leftover(0, table, codes, weights, *NO_PAIRS, 0.3, 16.0, cells)
    for start in range(0, rows, fitting):
        part = cells[start : start + fitting]
        sum_cells(start, part, edges(buckets), np.arange(symbols, dtype=np.uint32), expected_sums)
    card = Card(driver=driver, chunk_size=chunk_size)
    assert (card.table_sums(table, codes, weights, 0.3, 16.0, fitting, symbols) == expected_sums).all()


@FEW_EXAMPLES
@given(
    BUCKETS,
    st.sampled_from([1, 7, 300]),
    st.sampled_from([1, 9, 257]),
    st.sampled_from([3, 64, 512]),
    st.integers(0, 99),
)
def test_what_symbols_put_into_each_other(driver, buckets, rows, items, part, seed):
    generator = np.random.default_rng(seed)
    table, codes, weights = table_of(generator, rows, buckets, items if rows < 100 else 3)
    weights -= 0.2 / len(weights)
    reports = table.sum(1)
    expected_counts = []
    for start in range(0, rows, part):
        expected_counts.append(np.zeros(len(codes)))
        meet(start, reports[start : start + part], buckets, codes, weights, expected_counts[-1])
    counts = Card(driver=driver, chunk_size=600).meet(reports, buckets, codes, weights, part)
    assert counts.tobytes() == np.array(expected_counts).tobytes()


def test_tables_of_many_buckets_are_read(library):
    # So many that not even one row is kept nearby.
    table, codes, weights = table_of(np.random.default_rng(5), 6, 5000, 4)
    card, expected_counts, cells = (
        Card(driver=ShimDriver(library)),
        np.zeros(3000, np.int64),
        np.empty(table.shape, np.int32),
    )
    leftover(0, table, codes, weights, *NO_PAIRS, 0.3, 16.0, cells)
    sum_cells(0, cells, edges(5000), np.arange(3000, dtype=np.uint32), expected_counts)
    assert (card.table_sums(table, codes, weights, 0.3, 16.0, 4096, 3000) == expected_counts).all()


def test_the_text_has_no_header_and_names_its_kernels():
    assert "#include" not in source()
    assert len(kernel_names(source())) == source().count("__global__ void")


@pytest.mark.skipif(COMPILER is None, reason="There is no C++ compiler.")
@pytest.mark.parametrize(
    ("right", "wrong", "backwards"),
    [
        ("if (item + at * THREADS < size && tally[at])", "if (tally[at])", False),  # beyond the last item
        # A barrier too few, before and after reports are brought near.
        (
            "        __syncthreads();\n        if (threadIdx.x < here) near[",
            "        if (threadIdx.x < here) near[",
            False,
        ),
        (
            "kind, number);\n        __syncthreads();",
            "kind, number);\n",
            True,
        ),
        ("item * first + second", "item * second + first", False),
        ("< one.width ? 1u", "<= one.width ? 1u", False),
        ("blockIdx.y * slice;\n    i64 stop", "blockIdx.x * slice;\n    i64 stop", False),
    ],
)
def test_what_is_wrong_with_a_kernel_is_seen(tmp_path, right, wrong, backwards):
    assert source().count(right) >= 1
    driver = ShimDriver(compiled(tmp_path, source().replace(right, wrong, 1)), backwards)
    reports = words(np.random.default_rng(3), 5000)
    # Some windows are empty, and begin where the hash of an item is.
    reports[2][:50], reports[3][:50] = hashes(reports[0][:50], reports[1][:50], np.array([7]))[:, 0], 0
    with pytest.raises(AssertionError):
        assert (Card(driver=driver).count_supports(*reports, 300) == count_hashed(*reports, 300)).all()
