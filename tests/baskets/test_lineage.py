"""Which items stand above which, against walking up from every item."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from discreet import InputError
from discreet.baskets import Lineage, recode_lineage, starts
from discreet.baskets._lineage import MAX_LEVELS
from naive import lineage as naive
from strategies import forests


def made(parents) -> Lineage:
    return Lineage(np.array(parents, np.int32))


@given(forests(8))
def test_spans_meet_just_where_one_item_stands_above_the_other(parents):
    lineage = made(parents)
    begins, ends = lineage.spans.reshape(2, -1)
    assert lineage.depths.tolist() == [len(naive.above(parents, item)) for item in range(len(parents))]
    for one in range(len(parents)):
        for other in range(len(parents)):
            related = one == other or not naive.are_unrelated(parents, frozenset({one, other}))
            assert (begins[one] < ends[other] and begins[other] < ends[one]) == related
    assert sorted(begins.tolist()) == list(range(len(parents)))


@given(forests(8), st.lists(st.frozensets(st.integers(0, 7), max_size=4), max_size=6))
def test_antichains_and_relatives(parents, sets):
    sets = [frozenset(item % len(parents) for item in one) for one in sets] if parents else []
    rows = [sorted(one) for one in sets]
    codes = np.array([code for row in rows for code in row], np.int32)
    lineage = made(parents)
    found = lineage.antichains(starts([len(row) for row in rows]), codes)
    assert found.tolist() == [naive.are_unrelated(parents, one) for one in sets]
    for one in sets:
        related = [
            any(item == other or not naive.are_unrelated(parents, frozenset({item, other})) for other in one)
            for item in range(len(parents))
        ]
        assert lineage.related_to(np.array(sorted(one), np.int32)).tolist() == related


@given(forests(8), st.data())
def test_where_an_item_is_dropped_the_next_above_takes_its_place(parents, data):
    kept = data.draw(st.permutations(range(len(parents)))) if parents else []
    kept = kept[: data.draw(st.integers(0, len(kept)))]
    table = np.full(len(parents), -1, np.int32)
    for code, item in enumerate(kept):
        table[item] = code
    found = made(parents).recoded(table, len(kept))
    for code, item in enumerate(kept):
        nearest = next((above for above in naive.above(parents, item) if above in kept), None)
        assert found.parents[code] == (-1 if nearest is None else kept.index(nearest))
    assert (recode_lineage(made(parents), table, len(kept)) is None) == bool((found.parents < 0).all())
    some = np.array(sorted(kept), np.int32)
    places = np.full(len(parents), -1, np.int32)
    places[some] = np.arange(len(some), dtype=np.int32)
    assert made(parents).only(some) == recode_lineage(made(parents), places, len(some))


def test_spans_of_some_items_are_laid_out_as_kernels_take_them():
    lineage = made([-1, 0, 0, 1])
    assert lineage.spans.tolist() == [0, 1, 3, 2, 4, 3, 4, 3]
    assert lineage.take_spans(np.array([3, 0], np.int32)).tolist() == [2, 0, 3, 4]


@pytest.mark.parametrize("parents", [[0], [1, 0], [1, 2, 0, -1], [-2], [1], [-1, 5]])
def test_what_is_no_forest_is_refused(parents):
    with pytest.raises(InputError, match="lineage"):
        made(parents)


def test_as_many_levels_as_fit():
    chain = np.arange(-1, MAX_LEVELS, dtype=np.int32)
    assert Lineage(chain).depths.max() == MAX_LEVELS
    with pytest.raises(InputError, match="at most 64"):
        Lineage(np.arange(-1, MAX_LEVELS + 1, dtype=np.int32))


def test_codes_are_checked_and_cannot_be_changed():
    with pytest.raises(InputError):
        Lineage(np.array([-1, 0]))
    lineage = made([-1, 0])
    with pytest.raises(ValueError, match="read-only"):
        lineage.parents[0] = 1
    assert lineage == made([-1, 0]) != made([-1, -1])
    assert len(lineage) == 2
