"""Truncation against its twins, against the paper's example, and against the promise that it is local."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray
from scipy import stats

import strategies
from csr import csr, to_rows
from discreet.kernels import keep_smart, keep_some, number_equal, split_rows, trim_columns
from naive import truncate as naive

ITEMS = 14
KEYS = st.integers(0, 2**64 - 1)
ROWS = strategies.rows(ITEMS, 8, shortest=4)
MAX_CODES = st.integers(0, 8)


@st.composite
def candidates(draw: st.DrawFn) -> dict[tuple[int, ...], int]:
    """Sets of one size with a score each, few different scores so that ties are common, in any order."""
    size = draw(st.integers(1, 4))
    frequent_codes = draw(st.lists(st.integers(0, ITEMS - 1), min_size=size, max_size=9, unique=True))
    everything = list(combinations(sorted(frequent_codes), size))
    candidate_list = draw(st.lists(st.sampled_from(everything), max_size=40, unique=True))
    return {candidate: draw(st.integers(0, 6)) for candidate in candidate_list}


def kept_rows(offsets: NDArray[np.int64], codes: NDArray[np.int32]) -> list[list[int]]:
    assert offsets[-1] == len(codes)
    return to_rows(offsets, codes)


def cut_by_chance(rows: list[list[int]], max_codes: int, key: int, copies=None) -> list[list[int]]:
    return kept_rows(*keep_some(*csr(rows), max_codes, key, copies=copies))


def cut_by_candidates(rows: list[list[int]], max_codes: int, key: int, scores: dict[tuple[int, ...], int], copies=None):
    values = np.array(list(scores.values()), np.int64)
    return kept_rows(*keep_smart(*csr(rows), ITEMS, max_codes, key, *csr(scores), values, copies))


@given(ROWS, MAX_CODES, KEYS)
def test_keep_some(rows, max_codes, key):
    cut_rows = cut_by_chance(rows, max_codes, key)
    assert cut_rows == [naive.keep_some(row, max_codes, key) for row in rows]
    for row, kept_row in zip(rows, cut_rows, strict=True):
        assert set(kept_row) <= set(row)
        assert len(kept_row) == min(len(row), max_codes)


@given(ROWS, MAX_CODES, KEYS, candidates())
def test_keep_smart(rows, max_codes, key, scores):
    cut_rows = cut_by_candidates(rows, max_codes, key, scores)
    assert cut_rows == [naive.keep_smart(row, max_codes, key, scores) for row in rows]
    for row, kept_row in zip(rows, cut_rows, strict=True):
        assert set(kept_row) <= set(row)
        assert len(kept_row) <= max_codes
        if len(row) <= max_codes:
            assert kept_row == row


EQUAL_ROWS = st.lists(
    st.sampled_from([[], [3], [1, 2, 5], [1, 2, 6], [0, 1, 2, 3, 4, 5, 6], [2, 3, 5, 9]]), max_size=30
)


@given(EQUAL_ROWS, KEYS)
def test_number_equal(rows, key):
    copy_numbers = number_equal(*csr(rows), key)
    assert copy_numbers.tolist() == naive.number_equal(rows)


@given(EQUAL_ROWS, MAX_CODES, KEYS, candidates())
def test_equal_rows_may_have_fates_of_their_own(rows, max_codes, key, scores):
    copies = number_equal(*csr(rows), key)
    rows_and_copies = list(zip(rows, copies.tolist(), strict=True))
    assert cut_by_chance(rows, max_codes, key, copies) == [
        naive.keep_some(row, max_codes, key, copy) for row, copy in rows_and_copies
    ]
    cut_rows = cut_by_candidates(rows, max_codes, key, scores, copies)
    assert cut_rows == [naive.keep_smart(row, max_codes, key, scores, copy) for row, copy in rows_and_copies]
    for row, trimmed_row, kept_row in zip(rows, trimmed(rows, max_codes, key, scores, copies), cut_rows, strict=True):
        assert trimmed_row <= set(row)
        assert all((set(candidate) <= trimmed_row) == (set(candidate) <= set(kept_row)) for candidate in scores)


@pytest.mark.parametrize("way", ["some", "smart"])
def test_one_more_row_is_one_more_cut_row(way):
    """All databases of up to four rows over four baskets, one more at every place; and each row replaced."""
    kinds = [[0, 1, 2, 3], [1, 2, 3, 4], [0, 4], [0, 2, 3, 4, 5]]
    scores = {(0, 1, 2): 5, (2, 3, 4): 4, (0, 3, 5): 4}

    def cut_rows(rows):
        copies = number_equal(*csr(rows), 5)
        cut_list = cut_by_chance(rows, 2, 5, copies) if way == "some" else cut_by_candidates(rows, 2, 5, scores, copies)
        assert all(len(kept_row) <= 2 for kept_row in cut_list)
        return Counter(map(tuple, cut_list))

    cut_of_rows = {
        rows: cut_rows(list(rows)) for row_count in range(5) for rows in product(map(tuple, kinds), repeat=row_count)
    }
    for rows, cut_before in cut_of_rows.items():
        for place, added_row in product(range(len(rows) + 1), map(tuple, kinds)) if len(rows) < 4 else ():
            after = cut_of_rows[*rows[:place], added_row, *rows[place:]]
            assert not cut_before - after  # no other row changes
            (new_cut,) = (after - cut_before).elements()
            assert set(new_cut) <= set(added_row)
        for place, replacement in product(range(len(rows)), map(tuple, kinds)):
            after = cut_of_rows[*rows[:place], replacement, *rows[place + 1 :]]
            assert (cut_before - after).total() == (after - cut_before).total() <= 1


def trimmed(
    rows: list[list[int]], max_codes: int, key: int, scores: dict[tuple[int, ...], int], copies=None
) -> list[set[int]]:
    """Return the codes of each row that remain in the columns of candidate codes."""
    used_codes = sorted({code for candidate in scores for code in candidate})
    bitmaps = np.zeros((len(used_codes), (len(rows) + 63) // 64), np.uint64)
    for number, row in enumerate(rows):
        held_places = [place for place, code in enumerate(used_codes) if code in row]
        bitmaps[held_places, number // 64] |= np.uint64(1 << number % 64)
    values = np.array(list(scores.values()), np.int64)
    trim_columns(*csr(rows), ITEMS, max_codes, key, *csr(scores), values, bitmaps, copies)
    bits = [[int(word) >> bit & 1 for word in line for bit in range(64)] for line in bitmaps]
    return [{code for code, line in zip(used_codes, bits, strict=True) if line[number]} for number in range(len(rows))]


@given(ROWS, st.integers(1, 6), KEYS, candidates(), st.integers(1, 30))
def test_trimmed_columns_hold_the_candidates_that_cut_rows_hold(rows, max_codes, key, scores, copies):
    """Over enough rows to fill several words; codes of no candidate do not count."""
    rows = rows * copies
    trimmed_rows = trimmed(rows, max_codes, key, scores)
    for row, trimmed_row, kept_row in zip(
        rows, trimmed_rows, cut_by_candidates(rows, max_codes, key, scores), strict=True
    ):
        assert trimmed_row <= set(row)
        assert all((set(candidate) <= trimmed_row) == (set(candidate) <= set(kept_row)) for candidate in scores)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_long_rows_and_many_candidates(size):
    """Rows and candidates beyond the first size of every scratch array, so that every array grows."""
    generator = np.random.default_rng(5)
    rows = [sorted(generator.choice(200, row_size, replace=False).tolist()) for row_size in (150, 3, 90, 0, 199)]
    frequent = generator.choice(200, 24, replace=False).tolist()
    scores = {candidate: int(generator.integers(0, 50)) for candidate in combinations(sorted(frequent), size)}
    values = np.array(list(scores.values()), np.int64)
    cut_rows = kept_rows(*keep_smart(*csr(rows), 200, 8, 99, *csr(scores), values))
    assert cut_rows == [naive.keep_smart(row, 8, 99, scores) for row in rows]
    assert cut_by_chance(rows, 40, 99) == [naive.keep_some(row, 40, 99) for row in rows]


def test_example_1_of_the_paper():
    """Zeng, Naughton, Cai 2012, section 5.3.2: {2, 3} grows from 8 to 12 and passes {4, 5}."""
    scores = {(1, 2): 10, (2, 3): 8, (4, 5): 9}
    assert cut_by_candidates([[1, 2, 3, 4, 5]], 3, 1, scores) == [[1, 2, 3]]
    # With room for one more, {4, 5} is the only one left that adds anything, and one of its two codes fits.
    assert cut_by_candidates([[1, 2, 3, 4, 5]], 4, 1, scores)[0] in ([1, 2, 3, 4], [1, 2, 3, 5])


def test_ends_where_it_should():
    """Erratum C7: at `most` codes it stops; it stops too when no candidate adds a code; the last one is trimmed."""
    scores = {(0, 1, 2): 5, (3, 4, 5): 4}
    row = list(range(9))
    assert cut_by_candidates([row], 3, 1, scores) == [[0, 1, 2]]
    trimmed = cut_by_candidates([row], 5, 1, scores)[0]
    assert trimmed[:3] == [0, 1, 2]
    assert len(trimmed) == 5
    assert cut_by_candidates([row], 8, 1, scores) == [[0, 1, 2, 3, 4, 5]]
    assert cut_by_candidates([row], 8, 1, {}) == [[]]
    assert cut_by_candidates([[6, 7, 8, 9]], 3, 1, scores) == [[]]
    assert cut_by_candidates([], 3, 1, scores) == []


def test_a_code_counts_once():
    """Erratum C7: had {3, 4} been credited for 3 in both rounds (to 6 + 3 + 3), it would pass {5, 6} of weight 10."""
    scores = {(1, 3): 20, (1, 2): 19, (3, 4): 6, (5, 6): 10}
    assert cut_by_candidates([[1, 2, 3, 4, 5, 6]], 5, 1, scores) == [[1, 2, 3, 5, 6]]


@given(ROWS, st.integers(0, 4), KEYS, candidates(), st.randoms(use_true_random=False))
def test_is_local(rows, max_codes, key, scores, chance):
    """Other rows, their order and their number change nothing (erratum C6)."""
    numbers = list(range(len(rows))) * 2
    chance.shuffle(numbers)
    numbers = numbers[: chance.randint(0, len(numbers))]
    for cut_rows in (
        lambda given: cut_by_chance(given, max_codes, key),
        lambda given: cut_by_candidates(given, max_codes, key, scores),
    ):
        before = cut_rows(rows)
        assert cut_rows([rows[number] for number in numbers]) == [before[number] for number in numbers]
        assert all(cut_rows([row]) == [cut_row] for row, cut_row in zip(rows, before, strict=True))


@given(ROWS, MAX_CODES, KEYS, candidates(), st.randoms(use_true_random=False))
def test_order_of_candidates_does_not_matter(rows, max_codes, key, scores, chance):
    shuffled = list(scores.items())
    chance.shuffle(shuffled)
    assert cut_by_candidates(rows, max_codes, key, dict(shuffled)) == cut_by_candidates(rows, max_codes, key, scores)


@pytest.mark.parametrize("workers", ["1", "3"])
def test_threads_change_nothing(monkeypatch, workers):
    generator = np.random.default_rng(2)
    rows = [sorted(set(generator.integers(0, ITEMS, generator.integers(0, 25)).tolist())) for _ in range(300)]
    scores = dict.fromkeys(combinations(range(10), 2), 3)
    monkeypatch.setenv("DISCREET_THREADS", workers)
    assert cut_by_chance(rows, 4, 7) == [naive.keep_some(row, 4, 7) for row in rows]
    assert cut_by_candidates(rows, 4, 7, scores) == [naive.keep_smart(row, 4, 7, scores) for row in rows]


@given(st.lists(st.integers(0, 9), max_size=30), st.integers(1, 12))
def test_pieces_cover_all_rows_once(sizes, max_pieces):
    runs = split_rows(np.cumsum([0, *sizes]), max_pieces)
    assert [row for first_row, last_row in runs for row in range(first_row, last_row)] == list(range(len(sizes)))
    assert len(runs) <= max_pieces
    assert all(first_row < last_row for first_row, last_row in runs)


@pytest.mark.statistical
def test_every_code_is_kept_about_as_often():
    """Over keys, and over rows under one key; and keeping one code says nothing about its neighbour.

    Fixed keys. Each chi-square below raises a false alarm once in a million, so all four together in 4e-6 of runs.
    """
    row = [3, 4, 5, 900, 901, 40_000, 41_000, 2**31 - 2]
    runs, max_codes = 1500, 3
    kept_sets = [frozenset(cut_by_chance([row], max_codes, key * 0x9E3779B97F4A7C15 % 2**64)[0]) for key in range(runs)]
    # All 56 sets of three codes are equally likely, and so are single codes and pairs.
    set_counts = [kept_sets.count(frozenset(code_set)) for code_set in combinations(row, max_codes)]
    assert stats.chisquare(set_counts).pvalue > 1e-6
    # Rows that share seven codes and differ in the eighth: under one key each has a fate of its own.
    shared_codes = row[:7]
    cut_rows = cut_by_chance(
        [sorted([*shared_codes, last_code]) for last_code in range(1000, 1000 + runs)], max_codes, 11
    )
    code_counts = [sum(code in kept_row for kept_row in cut_rows) for code in shared_codes]
    code_counts.append(max_codes * runs - sum(code_counts))
    # The counts of the eight codes always add up, so that 7/8 of the sum of squares is a chi-square of seven.
    spread = 7 / 8 * sum((count - runs * 3 / 8) ** 2 for count in code_counts) / (runs * 3 / 8 * 5 / 8)
    assert stats.chi2.sf(spread, 7) > 1e-6
    # Equal rows with copy numbers: under one key the 56 sets are equally likely again.
    copies = cut_by_chance([row] * runs, max_codes, 12, np.arange(runs, dtype=np.int32))
    assert stats.chisquare(list(Counter(map(tuple, copies)).values())).pvalue > 1e-6
    assert len(set(map(tuple, copies))) == 56
    # Keys that differ in one bit only.
    kept_codes = [cut_by_chance([row], 1, 1 << bit | turn << 40)[0][0] for bit in range(40) for turn in range(50)]
    assert stats.chisquare([kept_codes.count(code) for code in row]).pvalue > 1e-6


def test_codes_of_one_name_are_cut_to_the_length_too():
    rows = [list(range(12)), list(range(5, 12))]
    for key in range(20):
        offsets, codes = keep_some(*csr(rows), 4, key, np.zeros(12, np.uint64))
        assert to_rows(offsets, codes) == [[0, 1, 2, 3], [5, 6, 7, 8]]
