"""What the driver makes of sums alone: ranks among itemsets whose counts are known or bounded, and bins of sizes."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, strategies as st

pytest.importorskip("pyspark")

from discreet.results import Itemsets
from discreet.spark._baskets import Survey, _surveyed_together
from discreet.spark._mining import _Listing


@given(
    st.lists(st.tuples(st.integers(5, 60), st.integers(0, 9), st.booleans(), st.booleans()), max_size=30),
    st.integers(1, 12),
)
def test_the_rank_is_that_of_the_true_counts_once_what_decides_is_settled(listed, k):
    """Of each: the true count, by how much the bound is over it, whether it is exact, and whether it is asked about."""
    true = np.array([count for count, *_ in listed], np.int64)
    exact = np.array([sure for _, _, sure, _ in listed], np.bool_)
    within = np.array([asked for *_, asked in listed], np.bool_)
    counts = true + np.where(exact, 0, np.array([over for _, over, *_ in listed], np.int64))
    threshold = 10
    kept = counts >= threshold  # a list has all that may reach its threshold
    true, exact, within, counts = true[kept], exact[kept], within[kept], counts[kept]
    sets = Itemsets.of(np.array([place], np.int32) for place in range(len(true)))
    listing = _Listing(threshold, 3, sets, counts, exact.copy())
    places = listing.undecided(k, within)
    assert within[places].all()
    assert not exact[places].any()
    listing.settle(places, true[places])
    reached = np.sort(true[within & (true >= threshold)])[::-1]
    assert listing.rank(k, within) == (int(reached[k - 1]) if k <= len(reached) else 0)


@given(
    st.lists(st.integers(0, 12), max_size=30), st.lists(st.integers(0, 12), max_size=30), st.sets(st.integers(0, 14))
)
def test_bins_of_sizes_that_were_put_together(one, other, edges):
    nobody = np.zeros(0, np.int32)

    def survey(sizes):
        many = Counter(sizes)
        lengths = np.array(sorted(many), np.int64)
        return Survey(
            np.zeros(3, np.int64), lengths, np.array([many[size] for size in sorted(many)], np.int64), nobody, nobody
        )

    edges = tuple(sorted(edges | {1}))
    expected = [0] * len(edges)
    for size in one + other:
        fits = [place for place, edge in enumerate(edges) if size >= edge]
        if fits:
            expected[fits[-1]] += 1
    assert _surveyed_together(survey(one), survey(other)).binned(edges).tolist() == expected
