"""Cells of bases against their twins."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st

import strategies
from csr import csr
from discreet.kernels import count_cells, count_in_columns, sum_supersets
from naive import cells as naive

ITEMS = 12
ROWS = strategies.rows(ITEMS, 12)
BASES = st.lists(st.lists(st.integers(0, ITEMS - 1), max_size=5, unique=True), max_size=6)


def count(rows: list[list[int]], bases: list[list[int]]) -> list[list[int]]:
    offsets, counts = count_cells(*csr(rows), ITEMS, *(array.copy() for array in csr(bases)))
    assert offsets[-1] == len(counts)
    return [counts[a:b].tolist() for a, b in pairwise(offsets)]


@given(ROWS, BASES)
def test_count_cells(rows, bases):
    """Bases overlap, repeat each other, are in any order, and may be empty."""
    assert count(rows, bases) == [naive.count_cells(rows, basis) for basis in bases]


def count_by_columns(rows: list[list[int]], bases: list[list[int]]) -> list[list[int]]:
    bitmaps = np.zeros((ITEMS, (len(rows) + 63) // 64), np.uint64)
    for number, row in enumerate(rows):
        bitmaps[row, number // 64] |= np.uint64(1 << number % 64)
    offsets = np.cumsum([0, *map(len, bases)]).astype(np.int64)
    places = np.array([code for basis in bases for code in basis], np.int32)
    counts = count_in_columns(bitmaps, len(rows), offsets, places)
    ends = np.cumsum([0, *(2 ** len(basis) for basis in bases)])
    return [counts[a:b].tolist() for a, b in pairwise(ends)]


@given(
    st.lists(st.sets(st.integers(0, ITEMS - 1)).map(sorted), max_size=140),
    st.lists(st.lists(st.integers(0, ITEMS - 1), max_size=11, unique=True), max_size=4),
)
def test_count_in_columns(rows, bases):
    """Rows of several words, bases of more than eight codes, and bases without a held code."""
    assert count_by_columns(rows, bases) == [naive.count_cells(rows, basis) for basis in bases]


@pytest.mark.parametrize("workers", ["1", "3"])
def test_threads_change_nothing(monkeypatch, workers):
    monkeypatch.setenv("DISCREET_THREADS", workers)
    generator = np.random.default_rng(3)
    rows = [np.flatnonzero(generator.random(ITEMS) < 0.4).tolist() for _ in range(200)]
    bases = [[0, 1, 2, 3], [11, 3, 7], [5]]
    counts = count(rows, bases)
    assert counts == [naive.count_cells(rows, basis) for basis in bases]
    assert all(sum(cells) == len(rows) for cells in counts)
    assert count_by_columns(rows, bases) == counts


@given(ROWS, st.lists(st.integers(0, ITEMS - 1), max_size=6, unique=True))
def test_sums_over_supersets_count_the_holders_of_all_codes(rows, basis):
    cells = np.array(count(rows, [basis])[0])
    before = cells.tolist()
    sums = sum_supersets(cells).tolist()
    assert sums == naive.supersets(before)
    assert cells.tolist() == before
    for mask, total in enumerate(sums):
        expected = {code for bit, code in enumerate(basis) if mask >> bit & 1}
        assert total == sum(expected <= set(row) for row in rows)


@given(st.integers(0, 6).flatmap(lambda bits: st.lists(st.integers(-100, 100), min_size=2**bits, max_size=2**bits)))
def test_sums_over_supersets_of_noisy_cells(cells):
    assert sum_supersets(np.array(cells, np.int64)).tolist() == naive.supersets(cells)
