"""Baskets made by hand are checked where they enter: what sensitivities rest on is not left to whoever makes them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.baskets import Baskets, Pairs, Segments, Sequences, Vocabulary
from discreet.errors import InputError

ITEMS = Vocabulary(["milk", "tea"])
REGIONS = Vocabulary(["north", "south"])


def places(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)


def codes(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int32)


def receipts(*regions: int) -> Baskets:
    """Return three receipts of two people, the first two of one of them."""
    return Baskets(
        places(0, 1, 2, 3),
        codes(0, 1, 0),
        ITEMS,
        segments=Segments("region", codes(*regions), REGIONS),
        owners=places(0, 2, 3),
    )


@pytest.mark.parametrize("regions", [(0, 1, 0), (1, 0, 0), (0, 1, 1)])
def test_a_person_in_two_segments_is_refused(regions):
    # Segments are charged once for all of them, as each person is in one.
    with pytest.raises(InputError) as caught:
        receipts(*regions)
    assert str(caught.value) == (
        "The segments: all baskets of a person are in one segment, and those of some people are in several. Give each "
        "basket the segment of its person."
    )


def test_the_same_by_replacing():
    with pytest.raises(InputError, match="in one segment"):
        replace(receipts(0, 0, 1), segments=Segments("region", codes(0, 1, 1), REGIONS))


def test_people_in_one_segment_each_are_counted():
    counts = discreet.count_by(
        receipts(0, 0, 1), [["milk"]], "region", segments=["north", "south"], items=["milk", "tea"], epsilon=1,
        max_baskets=2,
    )  # fmt: skip
    assert list(counts) == ["north", "south"]


@pytest.mark.parametrize(("before", "after"), [((0, 0), (1, 1)), ((1, 0), (0, 1)), ((0, 0), (1, 0))])
def test_pairs_that_are_there_twice_or_in_no_order_are_refused(before, after):
    # A relation that is given twice would count its person twice.
    with pytest.raises(InputError) as caught:
        Baskets(places(0, 2), codes(0, 1), ITEMS, pairs=Pairs(places(0, 2), codes(*before), codes(*after)))
    assert str(caught.value) == (
        "The pairs: those of each person ascend, and none is there twice; discreet.read() sorts them."
    )


def test_pairs_of_different_people_may_be_the_same():
    pairs = Pairs(places(0, 2, 3), codes(0, 1, 0), codes(1, 0, 1))
    assert Baskets(places(0, 2, 3), codes(0, 1, 0), ITEMS, pairs=pairs).pairs is pairs


def test_moments_that_descend_are_refused():
    with pytest.raises(InputError) as caught:
        Baskets(places(0, 2), codes(0, 1), ITEMS, sequences=Sequences(places(0, 2), codes(1, 0), codes(5, 3)))
    assert str(caught.value) == "The order: the moments of each person never descend; those given do."


def test_moments_begin_anew_with_each_person():
    order = Sequences(places(0, 1, 1, 3), codes(1, 0, 1), codes(5, 3, 3))
    assert Baskets(places(0, 1, 1, 3), codes(1, 0, 1), ITEMS, sequences=order).sequences is order


@pytest.mark.parametrize(
    ("offsets", "item_codes"), [((0, 2), (1, 0)), ((0, 2), (1, 1)), ((0, 1, 3), (0, 1, 1)), ((0, 3, 3), (0, 1, 0))]
)
def test_rows_in_no_order_or_with_repeats_are_refused(offsets, item_codes):
    with pytest.raises(InputError, match="ascend"):
        Baskets(places(*offsets), codes(*item_codes), ITEMS)


def test_a_vocabulary_with_a_label_twice_is_refused():
    for labels in (["tea", "tea"], [7, 3, 7], pa.array(["tea", "milk", "tea"]), pa.array([2, 2])):
        with pytest.raises(InputError) as caught:
            Vocabulary(labels)
        assert str(caught.value) == "The vocabulary has a label twice: give every code a label of its own."
    assert list(Vocabulary(["tea", "milk"])) == ["tea", "milk"]


def test_nobody_writes_to_baskets_through_the_array_they_are_a_view_of():
    item_codes, rows = codes(0, 1, 0, 1), places(0, 2, 4)
    owners, regions = places(0, 1, 2), codes(0, 1)
    baskets = Baskets(
        rows[:], item_codes[:][:], ITEMS, owners=owners[:], segments=Segments("region", regions[:], REGIONS)
    )
    for array in (rows, item_codes, owners, regions):
        with pytest.raises(ValueError, match="read-only"):
            array[1] = 0
    assert list(baskets) == [{"milk", "tea"}] * 2
    moments = codes(0, 1, 0, 1)
    Baskets(rows, item_codes, ITEMS, sequences=Sequences(rows[:], item_codes[:], moments[:]))
    with pytest.raises(ValueError, match="read-only"):
        moments[0] = 5
