from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from csr import close_to_writing, csr
from discreet.kernels import fill_slots, find_itemsets, find_rules, hash_itemsets
from naive import rules as naive

# Up to 70 items, so that rows longer than a machine word of marks can be asked for by hand.
KEYS = np.random.default_rng(5).integers(1, 2**62, 70)
# Keys that make many itemsets collide: the result must not depend on the hash.
POOR_KEYS = np.array([1, 1, 2, 2, 3, 3, 0, 0], np.int64)

row = st.frozensets(st.integers(0, 7), max_size=6).map(sorted)
rows = st.lists(row, max_size=30)
keys = st.sampled_from([KEYS, POOR_KEYS])


def table(rows, keys):
    offsets, codes = csr(rows)
    hashes = hash_itemsets(offsets, codes, keys)
    slots = np.full(1 << max(3, (2 * len(rows)).bit_length()), -1, np.int64)
    fill_slots(slots, hashes, offsets, codes)
    return slots, hashes, offsets, codes, keys


@given(rows, keys)
def test_hashes_are_the_xor_of_the_keys(rows, keys):
    assert hash_itemsets(*csr(rows), keys).tolist() == naive.hash_itemsets(rows, keys)


@given(rows, rows, keys)
def test_finds_the_first_equal_row(rows, wanted_sets, keys):
    slots, hashes, offsets, codes, _ = table(rows, keys)
    wanted_sets = wanted_sets + rows
    wanted_offsets, wanted_codes = csr(wanted_sets)
    wanted_hashes = hash_itemsets(wanted_offsets, wanted_codes, keys)
    positions = find_itemsets(slots, hashes, offsets, codes, wanted_hashes, wanted_offsets, wanted_codes)
    assert positions.tolist() == naive.find_itemsets(rows, wanted_sets)


def run(rows, counts, keys=KEYS, people=20, minimums=(0.0, 0.0), shape=(99, False), limit=10**9, part=None):
    first_set, stop = part or (0, len(rows))
    counts = close_to_writing(np.array(counts, np.int64))
    *columns, missing, _ = find_rules(first_set, stop, table(rows, keys), counts, people, minimums, shape, limit)
    return list(zip(*(column.tolist() for column in columns), strict=True)), missing


@given(
    st.dictionaries(row.map(tuple), st.integers(0, 20), max_size=30),
    keys,
    st.sampled_from([0.0, 0.5, 0.8, 1.0]),
    st.sampled_from([0.0, 1.0, 1.5]),
    st.sampled_from([1, 2, 99]),
)
def test_finds_the_same_rules_among_any_counts(people_counts, keys, min_confidence, min_lift, largest):
    rows, counts = [list(row) for row in people_counts], list(people_counts.values())
    expected = naive.find_rules(rows, counts, 20, min_confidence, min_lift, largest)
    assert run(rows, counts, keys, minimums=(min_confidence, min_lift), shape=(largest, False)) == expected


@given(
    st.lists(st.frozensets(st.integers(0, 7), max_size=6), max_size=20),
    st.integers(1, 4),
    st.sampled_from([0.0, 0.5, 0.8, 1.0]),
)
def test_pruning_loses_no_rule_where_counts_are_true(baskets, min_count, min_confidence):
    people_counts = naive.count_patterns(baskets, min_count)
    rows, counts = [sorted(itemset) for itemset in people_counts], list(people_counts.values())
    expected = naive.find_rules(rows, counts, 20, min_confidence, 0.0, 99)
    assert expected[1] == 0
    assert run(rows, counts, minimums=(min_confidence, 0.0), shape=(99, True)) == expected


def test_parts_put_together_are_the_whole():
    people_counts = naive.count_patterns([{0, 1, 2, 3}, {1, 2, 3}, {0, 3}, {2, 3}])
    rows, counts = [sorted(itemset) for itemset in people_counts], list(people_counts.values())
    halves = [run(rows, counts, part=part)[0] for part in ((0, 7), (7, len(rows)))]
    assert halves[0] + halves[1] == run(rows, counts)[0]
    assert len(halves[0]) > 0
    assert len(halves[1]) > 0


def test_more_rules_than_the_first_buffers_hold():
    rows = [[code] for code in range(40)] + [
        [left_code, right] for left_code in range(40) for right in range(left_code)
    ]
    rows = [sorted(row) for row in rows]
    counts = [10] * 40 + [5] * (len(rows) - 40)
    assert run(rows, counts) == naive.find_rules(rows, counts, 20, 0.0, 0.0, 99)
    assert len(run(rows, counts)[0]) == 2 * 780


def test_a_row_of_seventy_items_stops_at_the_limit():
    positions, missing = run([list(range(70))], [5], limit=1000)
    assert (positions, missing) == ([], 1001)
