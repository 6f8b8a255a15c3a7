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


def build_lineage(parents) -> Lineage:
    return Lineage(np.array(parents, np.int32))


@given(forests(8))
def test_spans_meet_just_where_one_item_stands_above_the_other(parents):
    lineage = build_lineage(parents)
    begins, ends = lineage.spans.reshape(2, -1)
    assert lineage.depths.tolist() == [len(naive.above(parents, item)) for item in range(len(parents))]
    for first_item in range(len(parents)):
        for second_item in range(len(parents)):
            related = first_item == second_item or not naive.are_unrelated(
                parents, frozenset({first_item, second_item})
            )
            assert (begins[first_item] < ends[second_item] and begins[second_item] < ends[first_item]) == related
    assert sorted(begins.tolist()) == list(range(len(parents)))


@given(forests(8), st.lists(st.frozensets(st.integers(0, 7), max_size=4), max_size=6))
def test_antichains_and_relatives(parents, sets):
    sets = [frozenset(item % len(parents) for item in itemset) for itemset in sets] if parents else []
    rows = [sorted(itemset) for itemset in sets]
    codes = np.array([code for row in rows for code in row], np.int32)
    lineage = build_lineage(parents)
    are_antichains = lineage.antichains(starts([len(row) for row in rows]), codes)
    assert are_antichains.tolist() == [naive.are_unrelated(parents, itemset) for itemset in sets]
    for itemset in sets:
        related = [
            any(
                item == other_item or not naive.are_unrelated(parents, frozenset({item, other_item}))
                for other_item in itemset
            )
            for item in range(len(parents))
        ]
        assert lineage.related_to(np.array(sorted(itemset), np.int32)).tolist() == related


@given(forests(8), st.data())
def test_where_an_item_is_dropped_the_next_above_takes_its_place(parents, data):
    kept_items = data.draw(st.permutations(range(len(parents)))) if parents else []
    kept_items = kept_items[: data.draw(st.integers(0, len(kept_items)))]
    table = np.full(len(parents), -1, np.int32)
    for code, item in enumerate(kept_items):
        table[item] = code
    recoded_lineage = build_lineage(parents).recoded(table, len(kept_items))
    for code, item in enumerate(kept_items):
        nearest = next((above for above in naive.above(parents, item) if above in kept_items), None)
        assert recoded_lineage.parents[code] == (-1 if nearest is None else kept_items.index(nearest))
    assert (recode_lineage(build_lineage(parents), table, len(kept_items)) is None) == bool(
        (recoded_lineage.parents < 0).all()
    )
    kept_array = np.array(sorted(kept_items), np.int32)
    places = np.full(len(parents), -1, np.int32)
    places[kept_array] = np.arange(len(kept_array), dtype=np.int32)
    assert build_lineage(parents).only(kept_array) == recode_lineage(build_lineage(parents), places, len(kept_array))


def test_spans_of_some_items_are_laid_out_as_kernels_take_them():
    lineage = build_lineage([-1, 0, 0, 1])
    assert lineage.spans.tolist() == [0, 1, 3, 2, 4, 3, 4, 3]
    assert lineage.take_spans(np.array([3, 0], np.int32)).tolist() == [2, 0, 3, 4]


@pytest.mark.parametrize("parents", [[0], [1, 0], [1, 2, 0, -1], [-2], [1], [-1, 5]])
def test_what_is_no_forest_is_refused(parents):
    with pytest.raises(InputError, match="lineage"):
        build_lineage(parents)


def test_as_many_levels_as_fit():
    chain = np.arange(-1, MAX_LEVELS, dtype=np.int32)
    assert Lineage(chain).depths.max() == MAX_LEVELS
    with pytest.raises(InputError, match="at most 64"):
        Lineage(np.arange(-1, MAX_LEVELS + 1, dtype=np.int32))


def test_codes_are_checked_and_cannot_be_changed():
    with pytest.raises(InputError):
        Lineage(np.array([-1, 0]))
    lineage = build_lineage([-1, 0])
    with pytest.raises(ValueError, match="read-only"):
        lineage.parents[0] = 1
    assert lineage == build_lineage([-1, 0]) != build_lineage([-1, -1])
    assert len(lineage) == 2
