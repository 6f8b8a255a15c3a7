"""What the driver makes of sums alone: ranks among itemsets whose counts are known or bounded, and bins of sizes."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, strategies as st

pytest.importorskip("pyspark")

from discreet.results import Itemsets
from discreet.spark._baskets import Survey, _merge_surveys
from discreet.spark._mining import _CandidateList


@given(
    st.lists(st.tuples(st.integers(5, 60), st.integers(0, 9), st.booleans(), st.booleans()), max_size=30),
    st.integers(1, 12),
)
def test_the_rank_is_that_of_the_true_counts_once_what_decides_is_settled(listed_rows, k):
    """Of each: the true count, by how much the bound is over it, whether it is exact, and whether it is asked about."""
    true_counts = np.array([count for count, *_ in listed_rows], np.int64)
    exact = np.array([is_exact for _, _, is_exact, _ in listed_rows], np.bool_)
    is_ranked = np.array([is_asked for *_, is_asked in listed_rows], np.bool_)
    counts = true_counts + np.where(exact, 0, np.array([excess for _, excess, *_ in listed_rows], np.int64))
    threshold = 10
    reaches_threshold = counts >= threshold  # a list has all that may reach its threshold
    true_counts, exact, is_ranked, counts = (
        true_counts[reaches_threshold],
        exact[reaches_threshold],
        is_ranked[reaches_threshold],
        counts[reaches_threshold],
    )
    sets = Itemsets.of(np.array([place], np.int32) for place in range(len(true_counts)))
    listing = _CandidateList(threshold, 3, sets, counts, exact.copy())
    places = listing.find_undecided(k, is_ranked)
    assert is_ranked[places].all()
    assert not exact[places].any()
    listing.set_counts(places, true_counts[places])
    reached = np.sort(true_counts[is_ranked & (true_counts >= threshold)])[::-1]
    assert listing.count_of_rank(k, is_ranked) == (int(reached[k - 1]) if k <= len(reached) else 0)


@given(
    st.lists(st.integers(0, 12), max_size=30), st.lists(st.integers(0, 12), max_size=30), st.sets(st.integers(0, 14))
)
def test_bins_of_sizes_that_were_put_together(first_sizes, second_sizes, edges):
    nobody = np.zeros(0, np.int32)

    def survey(sizes):
        size_counts = Counter(sizes)
        lengths = np.array(sorted(size_counts), np.int64)
        return Survey(
            np.zeros(3, np.int64),
            lengths,
            np.array([size_counts[size] for size in sorted(size_counts)], np.int64),
            nobody,
            nobody,
        )

    edges = tuple(sorted(edges | {1}))
    expected = [0] * len(edges)
    for size in first_sizes + second_sizes:
        fits = [place for place, edge in enumerate(edges) if size >= edge]
        if fits:
            expected[fits[-1]] += 1
    assert _merge_surveys(survey(first_sizes), survey(second_sizes)).count_bins(edges).tolist() == expected
