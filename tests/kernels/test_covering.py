"""Changes of variance by merges, against the twin: to the last bit, as ties between merges hang on it."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given, strategies as st

from discreet.kernels import merge_changes
from naive import covering as naive

ITEMS = 9


@given(
    st.lists(st.sets(st.integers(0, ITEMS - 1), min_size=1, max_size=6), min_size=2, max_size=8),
    st.sets(st.sampled_from(list(combinations(range(ITEMS), 2)))),
    st.integers(0, 9),
)
def test_merge_changes(bases, pairs, spare):
    # Every item and every pair that is looked at lies in some basis.
    bases += [{item} for item in range(ITEMS)] + [set(pair) for pair in pairs]
    pairs = sorted(pairs)
    masks = np.zeros((len(bases), ITEMS), np.bool_)
    for place, basis in enumerate(bases):
        masks[place, list(basis)] = True
    item_sums = np.array([sum(2.0 ** (1 - len(b)) for b in bases if item in b) for item in range(ITEMS)])
    known_pairs = np.array([sum(2.0 ** (2 - len(b)) for b in bases if set(pair) <= b) for pair in pairs])
    lookup = np.full((ITEMS, ITEMS), -1)
    for number, pair in enumerate(pairs):
        lookup[pair] = number
    merges = list(combinations(range(len(bases)), 2))
    lefts, rights = np.array(merges).T.copy()
    largest = max(len(bases[a] | bases[b]) for a, b in merges) + spare
    changes = np.empty(len(merges))
    merge_changes(masks, lefts, rights, largest, item_sums, known_pairs, lookup, changes)
    assert (
        changes.tolist() == naive.merge_changes(masks, lefts, rights, largest, item_sums, known_pairs, lookup).tolist()
    )


def test_a_merge_by_hand():
    # {0, 1} and {1, 2} become {0, 1, 2}: items 0 and 2 had 1/2 and have 1/4; item 1 had 1 and has 1/4; the pair (0, 1)
    # had 1 and has 1/2. Variances are one over that: 2 more for each of the outer items, 3 for the middle, 1 the pair.
    masks = np.array([[1, 1, 0], [0, 1, 1]], np.bool_)
    lookup = np.full((3, 3), -1)
    lookup[0, 1] = 0
    changes = np.empty(1)
    merge_changes(masks, np.array([0]), np.array([1]), 3, np.array([0.5, 1, 0.5]), np.array([1.0]), lookup, changes)
    assert changes.tolist() == [2 + 2 + 3 + 1]
