"""The kernels of the miner, one by one, against their twins."""

# internals: this module hands kernels the arrays that the search makes.
from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given, strategies as st

import strategies
from csr import csr
from discreet.exact import RowLayout, _search as search
from discreet.kernels import assemble, counting, kernel, row_layout
from discreet.kernels._bits import popcount
from discreet.kernels.mining import count_choices, intersect
from naive import mining as naive

rows_of = strategies.rows(10, 12, longest=8)


def lay(rows, rank, dtype=np.int16):
    offsets, codes = csr(rows)
    flat = np.full(len(codes) + len(rows) + 1, -9, dtype)
    end = row_layout.rank_rows(offsets, codes, np.array(rank, dtype), 0, len(rows), flat, 0)
    return flat, end


@given(rows_of, st.permutations(list(range(10))), st.integers(0, 10), st.sampled_from([np.int16, np.int32]))
def test_rank_rows(rows, order, dropped, dtype):
    rank = [r if r >= dropped else -1 for r in order]
    flat, end = lay(rows, rank, dtype)
    assert flat[:end].tolist() == naive.flat_rows(rows, rank)


def test_rank_rows_of_long_baskets():
    rows = [list(range(200)), [3], list(range(0, 200, 2))]
    rank = list(range(200))[::-1]
    flat, end = lay(rows, rank)
    assert flat[:end].tolist() == naive.flat_rows(rows, rank)


@given(rows_of)
def test_positions(rows):
    flat, end = lay(rows, list(range(10)))
    twin = naive.positions(flat[:end].tolist(), 10)
    tally = np.zeros(10, np.int64)
    row_layout.count_positions(flat, 0, end, tally)
    assert tally.tolist() == [len(places) for places in twin]
    heads = np.concatenate(([0], np.cumsum(tally)))
    patterns = np.empty(heads[-1], np.int32)
    row_layout.fill_positions(flat, 0, end, heads[:-1].copy(), patterns)
    assert patterns.tolist() == [place for places in twin for place in places]


@kernel
def count_bits(words):
    total = np.uint64(0)
    for word in words:
        total += popcount(word)
    return total


@kernel
def choose(free, min_size, max_size, cap):
    return count_choices(free, min_size, max_size, cap)


@given(st.integers(0, 40), st.integers(-3, 42), st.integers(-3, 45), st.integers(1, 10**6))
def test_choices(free, min_size, max_size, cap):
    ways = sum(comb(free, size) for size in range(max(min_size, 0), min(max_size, free) + 1))
    assert choose(free, min_size, max_size, cap) == min(ways, cap)


@pytest.mark.parametrize("is_dense", [True, False])
@given(
    rows_of.map(lambda rows: [frozenset(row) for row in rows]),
    st.integers(1, 200),
    st.integers(1, 5),
    st.integers(0, 4),
    st.integers(0, 300),
)
def test_the_count_of_a_rank(is_dense, rows, rank, min_size, expected_count, work):
    offsets, codes = csr([sorted(row) for row in rows])
    supports = RowLayout.plain(offsets, codes, 10)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "_is_dense", lambda rows, counts: is_dense)
        patch.setattr(search, "_FIRST_ITEMS", 3)
        patch.setattr(search, "_MAX_FIRST_ITEMS", 3)
        patterns = search.count_of_rank(supports, rank, min_size, min_size + expected_count, rank + work)
    assert patterns == naive.count_of_rank(rows, rank, min_size, min_size + expected_count, rank + work)


@kernel
def meet(left_row, right, common):
    return intersect(left_row, right, common)


words_of = st.lists(st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1)), max_size=20)


@given(words_of)
def test_bits(pairs):
    left_bits = np.array([a for a, _ in pairs], np.uint64)
    right = np.array([b for _, b in pairs], np.uint64)
    common = np.zeros_like(left_bits)
    assert count_bits(left_bits) == sum(a.bit_count() for a, _ in pairs)
    assert meet(left_bits, right, common) == sum((a & b).bit_count() for a, b in pairs)
    assert common.tolist() == [a & b for a, b in pairs]


@given(rows_of, st.integers(0, 10))
def test_bitmaps(rows, dropped):
    rank = np.array([r - dropped if r >= dropped else 10 for r in range(10)], np.int16)
    offsets, codes = csr(rows)
    bitmaps = np.zeros((11, 1), np.uint64)
    row_layout.fill_bitmaps(offsets, codes, rank, 0, len(rows), bitmaps)
    for r in range(10):
        assert int(bitmaps[r, 0]) == sum(1 << i for i, row in enumerate(rows) if r + dropped in row)


@st.composite
def records_of(draw, *, joins=False):
    """Records as the miner writes them: the depth rises by at most one, ranks fall along a path."""
    records, path = [], []
    for _ in range(draw(st.integers(0, 25))):
        depth = draw(st.integers(1, len(path) + 1))
        above = path[depth - 2] if depth > 1 else 20
        if above == 0:
            continue
        rank = draw(st.integers(0, above - 1))
        path = [*path[: depth - 1], rank]
        count = draw(st.integers(1, 6))
        records.append((depth, rank, count))
        if joins:
            free = sorted(set(range(20, 26)) - {r for _, r, c in records if c < 0})
            records += [(depth, r, -count) for r in free[: draw(st.integers(0, 2))]]
    return records


@given(records_of(), st.permutations(list(range(20))), st.booleans())
def test_order_and_write_patterns(records, labels, fixed):
    prefix = [30, 31] if fixed else []
    sizes = np.array([d for d, _, _ in records], np.int32)
    counts = np.array([c for _, _, c in records], np.int32)
    order = assemble.order_patterns(sizes, counts, int(sizes.max(initial=0)), int(counts.max(initial=0)))
    assert order.tolist() == sorted(range(len(records)), key=lambda i: (-records[i][2], records[i][0], i))
    order = order[: max(len(order) - 2, 0)]
    places = np.full(len(records), -1, np.int32)
    places[order] = np.arange(len(order))
    offsets = np.concatenate(([0], np.cumsum(sizes[order] + len(prefix)))).astype(np.int64)
    codes = np.full(offsets[-1], -9, np.int32)
    flat = np.array(records, np.int32).ravel()
    assemble.write_patterns(
        flat, places, np.array(labels, np.int32), np.array(prefix, np.int32), int(sizes.max(initial=0)), offsets, codes
    )
    twin = naive.paths(records)
    for place, record in enumerate(order):
        expected = sorted([labels[rank] for rank in twin[record]] + prefix)
        assert codes[offsets[place] : offsets[place + 1]].tolist() == expected


@given(records_of(joins=True))
def test_joined(records):
    flat = np.array(records, np.int32).ravel()
    twin = naive.join_nodes(records)
    sizes, counts = assemble.measure_joined(flat)
    assert counts.tolist() == [count for _, count in twin]
    assert sizes.tolist() == [len(items) for items, _ in twin]
    codes = np.empty(int(sizes.sum()), np.int32)
    deepest = max((d for d, _, _ in records), default=0)
    assemble.write_joined(flat, deepest, int(sizes.max(initial=0)), codes)
    assert codes.tolist() == [item for items, _ in twin for item in items]


@given(st.lists(st.sets(st.frozensets(st.integers(0, 6), min_size=1), max_size=12), max_size=4))
def test_unsubsumed(groups):
    groups = [sorted(group, key=lambda items: (-len(items), sorted(items))) for group in groups]
    offsets, codes = csr([sorted(items) for group in groups for items in group])
    starts = np.concatenate(([0], np.cumsum([len(group) for group in groups]))).astype(np.int64)
    assert assemble.unsubsumed_by_bitmaps(offsets, codes, starts, 7).tolist() == naive.unsubsumed(groups)
    assert assemble.unsubsumed_by_lists(offsets, codes, starts, 7).tolist() == naive.unsubsumed(groups)


def test_unsubsumed_of_many_sets():
    # 286 sets of three out of thirteen contain none of each other and fill several words of the bitmaps.
    from itertools import combinations

    group = [frozenset(items) for items in combinations(range(13), 3)]
    group += [frozenset(items) for items in combinations(range(14), 2)]
    offsets, codes = csr([sorted(items) for items in group])
    for kernel_ in (assemble.unsubsumed_by_bitmaps, assemble.unsubsumed_by_lists):
        kept_flags = kernel_(offsets, codes, np.array([0, len(group)]), 14)
        assert kept_flags.tolist() == naive.unsubsumed([group])
        assert kept_flags.sum() == 286 + 13


@given(st.lists(st.tuples(st.frozensets(st.integers(0, 6)), st.integers(1, 3)), max_size=20))
def test_order_sets(sets):
    rows = [sorted(items, reverse=True) for items, _ in sets]
    offsets, ranks = csr(rows)
    order = assemble.order_sets(offsets, ranks.copy(), np.array([count for _, count in sets], np.int32))
    assert order.tolist() == sorted(range(len(sets)), key=lambda i: (-sets[i][1], len(rows[i]), rows[i], i))


@given(st.lists(st.lists(st.integers(0, 99), max_size=9), max_size=9))
def test_sort_falling(rows):
    offsets, ranks = csr(rows)
    rising, ranks = ranks.copy(), ranks.copy()
    assemble.sort_rising(offsets, rising)
    assert rising.tolist() == [rank for row in rows for rank in sorted(row)]
    assemble.sort_falling(offsets, ranks)
    assert ranks.tolist() == [rank for row in rows for rank in sorted(row, reverse=True)]


@given(st.lists(st.integers(0, 9)))
def test_count_codes(codes):
    tally = np.zeros(10, np.int64)
    counting.count_codes(np.array(codes, np.int32), tally)
    assert tally.tolist() == [codes.count(code) for code in range(10)]


@given(rows_of, st.frozensets(st.integers(0, 9), max_size=3))
def test_rows_holding(rows, wanted_codes):
    offsets, codes = csr(rows)
    supports = counting.rows_holding(offsets, codes, np.array(sorted(wanted_codes), np.int32))
    assert supports.tolist() == [wanted_codes <= set(row) for row in rows]


@given(rows_of, st.permutations(list(range(10))), st.integers(0, 10))
def test_count_pairs(rows, order, dropped):
    offsets, codes = csr(rows)
    rank = np.array([r if r < dropped else -1 for r in order], np.int16)
    pair_counts = np.zeros((dropped, dropped), np.int64)
    half = len(rows) // 2
    counting.count_pairs(offsets, codes, rank, 0, half, pair_counts)
    counting.count_pairs(offsets, codes, rank, half, len(rows), pair_counts)
    for left_code in range(dropped):
        for right in range(dropped):
            common = {order.index(left_code), order.index(right)}
            expected = sum(common <= set(row) for row in rows) if right < left_code else 0
            assert pair_counts[left_code, right] == expected


@given(rows_of, st.lists(st.frozensets(st.integers(0, 9), min_size=2, max_size=4), max_size=12))
def test_count_sets(rows, sets):
    flat, end = lay(rows, list(range(10)))
    tally = np.zeros(10, np.int64)
    row_layout.count_positions(flat, 0, end, tally)
    heads = np.concatenate(([0], np.cumsum(tally)))
    places = np.empty(heads[-1], np.int32)
    row_layout.fill_positions(flat, 0, end, heads[:-1].copy(), places)
    falling = sorted(sorted(items, reverse=True) for items in sets)
    offsets, ranks = csr(falling)
    groups = np.searchsorted([row[0] for row in falling], np.arange(11)).astype(np.int64)
    counts = np.full(len(falling), -1, np.int64)
    counting.count_sets(flat, places, heads, offsets, ranks, groups, 0, 10, counts)
    assert counts.tolist() == [sum(set(items) <= set(row) for row in rows) for items in falling]


@given(
    st.lists(st.frozensets(st.integers(0, 6)), max_size=150),
    st.lists(st.frozensets(st.integers(0, 6), min_size=2, max_size=4), max_size=12),
)
def test_count_columns(rows, sets):
    bitmaps = np.zeros((7, (len(rows) + 63) // 64), np.uint64)
    row_layout.fill_bitmaps(*csr([sorted(row) for row in rows]), np.arange(7, dtype=np.int16), 0, len(rows), bitmaps)
    offsets, places = csr([sorted(items) for items in sets])
    counts = np.full(len(sets), -1, np.int64)
    counting.count_columns(bitmaps, offsets, places.copy(), 0, len(sets), counts)
    assert counts.tolist() == [sum(items <= row for row in rows) for items in sets]


def test_count_columns_longer_than_a_block():
    generator = np.random.default_rng(4)
    bitmaps = generator.integers(0, 2**63, (3, 1100), dtype=np.uint64)
    counts = np.empty(2, np.int64)
    offsets, places = csr([[0, 2], [2, 1, 0]])
    counting.count_columns(bitmaps, offsets, places.copy(), 0, 2, counts)
    assert counts[0] == np.bitwise_count(bitmaps[0] & bitmaps[2]).sum()
    assert counts[1] == np.bitwise_count(bitmaps[0] & bitmaps[1] & bitmaps[2]).sum()
