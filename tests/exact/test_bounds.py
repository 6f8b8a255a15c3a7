"""The degree bound against every basket there is."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from discreet import MisuseError
from discreet.exact._query import degree_bound

ITEMS = 7


def bound(sets: list[tuple[int, ...]], max_count: int) -> int:
    offsets = np.cumsum([0, *map(len, sets)]).astype(np.int64)
    return degree_bound(offsets, np.array([code for members in sets for code in members], np.int32), max_count)


def largest_support(sets: list[tuple[int, ...]], max_count: int) -> int:
    """Return how many of the sets the best basket of at most `most` items holds."""
    baskets = map(set, combinations(range(ITEMS), min(max_count, ITEMS)))
    return max(sum(set(members) <= basket for members in sets) for basket in baskets)


@settings(max_examples=300)
@given(
    st.integers(1, 4).flatmap(
        lambda size: st.lists(st.sampled_from(list(combinations(range(ITEMS), size))), max_size=35, unique=True)
    ),
    st.integers(0, ITEMS + 2),
)
def test_no_basket_holds_more(sets, max_count):
    assert largest_support(sets, max_count) <= bound(sets, max_count) <= len(sets)


def test_the_papers_example():
    """Three pairs without a common item: the paper's bound for baskets of 3 items is 3 (erratum C12)."""
    assert bound([(2, 3), (4, 5), (6, 7)], 3) == 1


def test_what_is_known_exactly():
    pairs = list(combinations(range(ITEMS), 2))
    assert [bound(pairs, max_count) for max_count in range(5)] == [0, 0, 1, 3, 6]
    star = [(0, leaf) for leaf in range(1, 6)]
    assert bound(star, 4) == 3
    assert bound([], 4) == 0
    assert bound([(1,), (2,), (3,)], 2) == 2
    assert bound([()], 2) == 1


def test_sizes_must_agree():
    with pytest.raises(MisuseError) as error:
        bound([(1, 2), (1, 2, 3)], 4)
    assert str(error.value) == (
        "The bound is for itemsets of one size; sizes from 2 to 3 were given. Bound each size by itself."
    )
