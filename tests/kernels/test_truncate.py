"""Truncation against its twins, the paper's example, and what privacy needs of it: that it is local."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

import strategies
from csr import csr, to_rows
from discreet.kernels.pieces import pieces
from discreet.kernels.truncate import keep_some, number_equal
from discreet.kernels.truncate_smart import keep_smart, trim_columns
from naive import truncate as naive

ITEMS = 14
KEYS = st.integers(0, 2**64 - 1)
ROWS = strategies.rows(ITEMS, 8, shortest=4)
MOST = st.integers(0, 8)


@st.composite
def candidates(draw: st.DrawFn) -> dict[tuple[int, ...], int]:
    """Sets of one size with a score each, few different scores so that ties are common, in any order."""
    size = draw(st.integers(1, 4))
    few = draw(st.lists(st.integers(0, ITEMS - 1), min_size=size, max_size=9, unique=True))
    everything = list(combinations(sorted(few), size))
    chosen = draw(st.lists(st.sampled_from(everything), max_size=40, unique=True))
    return {one: draw(st.integers(0, 6)) for one in chosen}


def kept_rows(offsets: NDArray[np.int64], codes: NDArray[np.int32]) -> list[list[int]]:
    assert offsets[-1] == len(codes)
    return to_rows(offsets, codes)


def some(rows: list[list[int]], most: int, key: int, copies=None) -> list[list[int]]:
    return kept_rows(*keep_some(*csr(rows), most, key, copies=copies))


def smart(rows: list[list[int]], most: int, key: int, scores: dict[tuple[int, ...], int], copies=None):
    values = np.array(list(scores.values()), np.int64)
    return kept_rows(*keep_smart(*csr(rows), ITEMS, most, key, *csr(scores), values, copies))


@given(ROWS, MOST, KEYS)
def test_keep_some(rows, most, key):
    kept = some(rows, most, key)
    assert kept == [naive.keep_some(row, most, key) for row in rows]
    for row, left in zip(rows, kept, strict=True):
        assert set(left) <= set(row)
        assert len(left) == min(len(row), most)


@given(ROWS, MOST, KEYS, candidates())
def test_keep_smart(rows, most, key, scores):
    kept = smart(rows, most, key, scores)
    assert kept == [naive.keep_smart(row, most, key, scores) for row in rows]
    for row, left in zip(rows, kept, strict=True):
        assert set(left) <= set(row)
        assert len(left) <= most
        if len(row) <= most:
            assert left == row


EQUAL_ROWS = st.lists(
    st.sampled_from([[], [3], [1, 2, 5], [1, 2, 6], [0, 1, 2, 3, 4, 5, 6], [2, 3, 5, 9]]), max_size=30
)


@given(EQUAL_ROWS, KEYS)
def test_number_equal(rows, key):
    found = number_equal(*csr(rows), key)
    assert found.tolist() == naive.number_equal(rows)


@given(EQUAL_ROWS, MOST, KEYS, candidates())
def test_equal_rows_may_have_fates_of_their_own(rows, most, key, scores):
    copies = number_equal(*csr(rows), key)
    each = list(zip(rows, copies.tolist(), strict=True))
    assert some(rows, most, key, copies) == [naive.keep_some(row, most, key, copy) for row, copy in each]
    kept = smart(rows, most, key, scores, copies)
    assert kept == [naive.keep_smart(row, most, key, scores, copy) for row, copy in each]
    for row, found, left in zip(rows, trimmed(rows, most, key, scores, copies), kept, strict=True):
        assert found <= set(row)
        assert all((set(one) <= found) == (set(one) <= set(left)) for one in scores)


@pytest.mark.parametrize("way", ["some", "smart"])
def test_one_more_row_is_one_more_cut_row(way):
    """All databases of up to four rows over four baskets, one more at every place; and one replaced by another."""
    kinds = [[0, 1, 2, 3], [1, 2, 3, 4], [0, 4], [0, 2, 3, 4, 5]]
    scores = {(0, 1, 2): 5, (2, 3, 4): 4, (0, 3, 5): 4}

    def cut(rows):
        copies = number_equal(*csr(rows), 5)
        kept = some(rows, 2, 5, copies) if way == "some" else smart(rows, 2, 5, scores, copies)
        assert all(len(left) <= 2 for left in kept)
        return Counter(map(tuple, kept))

    seen = {rows: cut(list(rows)) for many in range(5) for rows in product(map(tuple, kinds), repeat=many)}
    for rows, kept in seen.items():
        for place, more in product(range(len(rows) + 1), map(tuple, kinds)) if len(rows) < 4 else ():
            after = seen[*rows[:place], more, *rows[place:]]
            assert not kept - after  # nobody else keeps anything else
            (added,) = (after - kept).elements()
            assert set(added) <= set(more)
        for place, other in product(range(len(rows)), map(tuple, kinds)):
            after = seen[*rows[:place], other, *rows[place + 1 :]]
            assert (kept - after).total() == (after - kept).total() <= 1


def trimmed(
    rows: list[list[int]], most: int, key: int, scores: dict[tuple[int, ...], int], copies=None
) -> list[set[int]]:
    """Return what each row has left in columns of the codes of candidates."""
    used = sorted({code for one in scores for code in one})
    bitmaps = np.zeros((len(used), (len(rows) + 63) // 64), np.uint64)
    for number, row in enumerate(rows):
        held = [place for place, code in enumerate(used) if code in row]
        bitmaps[held, number // 64] |= np.uint64(1 << number % 64)
    values = np.array(list(scores.values()), np.int64)
    trim_columns(*csr(rows), ITEMS, most, key, *csr(scores), values, bitmaps, copies)
    bits = [[int(word) >> bit & 1 for word in line for bit in range(64)] for line in bitmaps]
    return [{code for code, line in zip(used, bits, strict=True) if line[number]} for number in range(len(rows))]


@given(ROWS, st.integers(1, 6), KEYS, candidates(), st.integers(1, 30))
def test_trimmed_columns_hold_the_candidates_that_cut_rows_hold(rows, most, key, scores, copies):
    """Over as many rows as fill several words; what else a row keeps is nobody's business."""
    rows = rows * copies
    left = trimmed(rows, most, key, scores)
    for row, found, kept in zip(rows, left, smart(rows, most, key, scores), strict=True):
        assert found <= set(row)
        assert all((set(one) <= found) == (set(one) <= set(kept)) for one in scores)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_long_rows_and_many_candidates(size):
    """Rows and candidates beyond the first size of every scratch array, so that all of them grow."""
    generator = np.random.default_rng(5)
    rows = [sorted(generator.choice(200, many, replace=False).tolist()) for many in (150, 3, 90, 0, 199)]
    frequent = generator.choice(200, 24, replace=False).tolist()
    scores = {one: int(generator.integers(0, 50)) for one in combinations(sorted(frequent), size)}
    values = np.array(list(scores.values()), np.int64)
    kept = kept_rows(*keep_smart(*csr(rows), 200, 8, 99, *csr(scores), values))
    assert kept == [naive.keep_smart(row, 8, 99, scores) for row in rows]
    assert some(rows, 40, 99) == [naive.keep_some(row, 40, 99) for row in rows]


def test_example_1_of_the_paper():
    """Zeng, Naughton, Cai 2012, section 5.3.2: {2, 3} grows from 8 to 12 and passes {4, 5}."""
    scores = {(1, 2): 10, (2, 3): 8, (4, 5): 9}
    assert smart([[1, 2, 3, 4, 5]], 3, 1, scores) == [[1, 2, 3]]
    # With room for one more, {4, 5} is the only one left that adds anything, and one of its two codes fits.
    assert smart([[1, 2, 3, 4, 5]], 4, 1, scores)[0] in ([1, 2, 3, 4], [1, 2, 3, 5])


def test_ends_where_it_should():
    """Erratum C7: at `most` codes it stops; it stops too when no candidate adds a code; the last one is trimmed."""
    scores = {(0, 1, 2): 5, (3, 4, 5): 4}
    row = list(range(9))
    assert smart([row], 3, 1, scores) == [[0, 1, 2]]
    trimmed = smart([row], 5, 1, scores)[0]
    assert trimmed[:3] == [0, 1, 2]
    assert len(trimmed) == 5
    assert smart([row], 8, 1, scores) == [[0, 1, 2, 3, 4, 5]]
    assert smart([row], 8, 1, {}) == [[]]
    assert smart([[6, 7, 8, 9]], 3, 1, scores) == [[]]
    assert smart([], 3, 1, scores) == []


def test_a_code_counts_once():
    """Erratum C7: had {3, 4} been credited for 3 in both rounds (to 6 + 3 + 3), it would pass {5, 6} of weight 10."""
    scores = {(1, 3): 20, (1, 2): 19, (3, 4): 6, (5, 6): 10}
    assert smart([[1, 2, 3, 4, 5, 6]], 5, 1, scores) == [[1, 2, 3, 5, 6]]


@given(ROWS, st.integers(0, 4), KEYS, candidates(), st.randoms(use_true_random=False))
def test_is_local(rows, most, key, scores, chance):
    """Other rows, their order and their number change nothing (erratum C6)."""
    numbers = list(range(len(rows))) * 2
    chance.shuffle(numbers)
    numbers = numbers[: chance.randint(0, len(numbers))]
    for cut in (lambda given: some(given, most, key), lambda given: smart(given, most, key, scores)):
        before = cut(rows)
        assert cut([rows[number] for number in numbers]) == [before[number] for number in numbers]
        assert all(cut([row]) == [left] for row, left in zip(rows, before, strict=True))


@given(ROWS, MOST, KEYS, candidates(), st.randoms(use_true_random=False))
def test_order_of_candidates_does_not_matter(rows, most, key, scores, chance):
    listed = list(scores.items())
    chance.shuffle(listed)
    assert smart(rows, most, key, dict(listed)) == smart(rows, most, key, scores)


@pytest.mark.parametrize("workers", ["1", "3"])
def test_threads_change_nothing(monkeypatch, workers):
    generator = np.random.default_rng(2)
    rows = [sorted(set(generator.integers(0, ITEMS, generator.integers(0, 25)).tolist())) for _ in range(300)]
    scores = dict.fromkeys(combinations(range(10), 2), 3)
    monkeypatch.setenv("DISCREET_THREADS", workers)
    assert some(rows, 4, 7) == [naive.keep_some(row, 4, 7) for row in rows]
    assert smart(rows, 4, 7, scores) == [naive.keep_smart(row, 4, 7, scores) for row in rows]


@given(st.lists(st.integers(0, 9), max_size=30), st.integers(1, 12))
def test_pieces_cover_all_rows_once(sizes, many):
    runs = pieces(np.cumsum([0, *sizes]), many)
    assert [row for first, last in runs for row in range(first, last)] == list(range(len(sizes)))
    assert len(runs) <= many
    assert all(first < last for first, last in runs)


@pytest.mark.statistical
def test_every_code_is_kept_about_as_often():
    """Over keys, and over rows under one key; and keeping one code says nothing about its neighbour.

    Fixed keys. Each chi-square below raises a false alarm once in a million; there are four.
    """
    row = [3, 4, 5, 900, 901, 40_000, 41_000, 2**31 - 2]
    runs, most = 1500, 3
    kept = [frozenset(some([row], most, key * 0x9E3779B97F4A7C15 % 2**64)[0]) for key in range(runs)]
    # All 56 sets of three codes are equally likely, which says the same of single codes and of pairs.
    seen = [kept.count(frozenset(one)) for one in combinations(row, most)]
    assert stats.chisquare(seen).pvalue > 1e-6
    # Rows that share seven codes and differ in the eighth: under one key each has a fate of its own.
    shared = row[:7]
    many = some([sorted([*shared, other]) for other in range(1000, 1000 + runs)], most, 11)
    held = [sum(code in left for left in many) for code in shared]
    held.append(most * runs - sum(held))
    # The counts of the eight codes always add up, so that 7/8 of the sum of squares is a chi-square of seven.
    spread = 7 / 8 * sum((count - runs * 3 / 8) ** 2 for count in held) / (runs * 3 / 8 * 5 / 8)
    assert stats.chi2.sf(spread, 7) > 1e-6
    # Equal rows that are told apart: under one key the 56 sets are equally likely again.
    copies = some([row] * runs, most, 12, np.arange(runs, dtype=np.int32))
    assert stats.chisquare(list(Counter(map(tuple, copies)).values())).pvalue > 1e-6
    assert len(set(map(tuple, copies))) == 56
    # Keys that differ in one bit only.
    first = [some([row], 1, 1 << bit | turn << 40)[0][0] for bit in range(40) for turn in range(50)]
    assert stats.chisquare([first.count(code) for code in row]).pvalue > 1e-6


def test_codes_of_one_name_are_cut_to_the_length_too():
    rows = [list(range(12)), list(range(5, 12))]
    for key in range(20):
        offsets, codes = keep_some(*csr(rows), 4, key, np.zeros(12, np.uint64))
        assert to_rows(offsets, codes) == [[0, 1, 2, 3], [5, 6, 7, 8]]
