"""Counting the support of candidates, against plain sums."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings, strategies as st

from discreet.kernels import apply_hadamard, count_bits, count_symbols, count_together, count_windows
from naive import supports as naive

WORDS = st.integers(0, 2**32 - 1)


@settings(max_examples=30)
@given(
    st.lists(st.tuples(WORDS.map(lambda word: word | 1), WORDS, WORDS, WORDS), max_size=6),
    st.lists(st.integers(0, 2**31), max_size=9),
)
def test_windows(reports, items):
    columns = [np.array([report[place] for report in reports], np.uint32) for place in range(4)]
    counts = np.full(len(items), 5, np.int64)
    count_windows(*columns, np.array(items, np.uint32), counts)
    assert (counts - 5).tolist() == naive.windows(*(column.tolist() for column in columns), items)


def test_windows_over_more_candidates_than_a_tile():
    columns = [np.array([word], np.uint32) for word in (77, 13, 2**31, 2**30)]
    counts = np.zeros(5000, np.int64)
    count_windows(*columns, np.arange(5000, dtype=np.uint32), counts)
    assert counts.tolist() == naive.windows(*(column.tolist() for column in columns), range(5000))


@settings(max_examples=30)
@given(st.integers(1, 70), st.sampled_from([0, 1, 6, 7, 8, 20, 251, 252, 253, 600]), st.randoms(use_true_random=False))
def test_bits(size, people, random):
    """Reports that fill slices of eight bits, up to the last and beyond; one in three has all bits set."""
    width = (size + 31) // 32
    words = [lambda: random.getrandbits(32)] * 2 + [lambda: 0xFFFFFFFF]
    rows = [[random.choice(words)() for _ in range(width)] for _ in range(people)]
    counts = np.full(size, 5, np.int64)
    count_bits(np.array(rows, np.uint32).reshape(people, width), size, counts)
    assert (counts - 5).tolist() == naive.bits(rows, size)


def test_slices_that_are_full():
    counts = np.zeros(40, np.int64)
    count_bits(np.full((504, 2), 0xFFFFFFFF, np.uint32), 40, counts)
    assert counts.tolist() == [504] * 40


@settings(max_examples=30)
@given(st.integers(1, 30), st.integers(0, 9), st.randoms(use_true_random=False))
def test_symbols(size, people, random):
    count = random.randint(1, size)
    rows = [sorted(random.sample(range(size), count)) for _ in range(people)]
    counts = np.full(size, 5, np.int64)
    count_symbols(np.array(rows, np.int32).reshape(people, count), counts)
    assert (counts - 5).tolist() == naive.symbols(rows, size)


@settings(max_examples=10)
@given(st.integers(0, 5), st.sampled_from([0, 1, 63, 64, 65, 4096, 4100]), st.integers(0, 2**32))
def test_together(size, count, seed):
    named_values = np.random.default_rng(seed).random((count, size)) < 0.5
    counts = np.full((size, size), 5, np.int64)
    count_together(named_values, counts)
    assert (counts - 5).tolist() == (named_values.T.astype(int) @ named_values.astype(int)).tolist()


@settings(max_examples=30)
@given(st.integers(0, 5), st.randoms(use_true_random=False))
def test_transform(power, random):
    values = [random.randint(-1000, 1000) for _ in range(1 << power)]
    output = np.array(values, np.int64)
    apply_hadamard(output)
    assert output.tolist() == naive.transformed(values)
