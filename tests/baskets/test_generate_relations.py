"""Stand-ins with relations: what the papers say of their sets holds for these."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from discreet.baskets import applets, cascades, viewings
from discreet.errors import MisuseError
from discreet.exact import relations

KINDS = [applets, cascades, viewings]


def rows(offsets, *columns):
    """Return each person's part of some columns, as tuples."""
    pairs = list(zip(*(column.tolist() for column in columns), strict=True))
    return [pairs[start:stop] for start, stop in pairwise(offsets)]


@pytest.mark.parametrize("make", KINDS)
def test_a_seed_decides_everything(make):
    assert make(300, seed=5) == make(300, seed=5)
    assert make(300, seed=5) != make(300, seed=6)


@pytest.mark.parametrize("make", [applets, cascades])
def test_pairs_are_sorted_and_unique_and_of_what_is_held(make):
    baskets = make(400, seed=1)
    for person, pairs in enumerate(rows(baskets.pairs.offsets, baskets.pairs.first, baskets.pairs.second)):
        assert pairs == sorted(set(pairs))
        assert all(before != after for before, after in pairs)
        assert baskets[person] >= {item for pair in pairs for item in pair}


def test_applets_are_two_hundred_with_a_heavy_tail():
    baskets = applets(40_000, seed=2)
    _, often = np.unique(baskets.pairs.first * 354 + baskets.pairs.second, return_counts=True)
    falling = np.sort(often)[::-1] / baskets.people
    assert (baskets.items, len(often), int((baskets.item_counts > 0).sum())) == (354, 200, 354)
    # Five standard deviations: under one false alarm in a million for each.
    for rank in (1, 10, 100):
        share = 0.2 / rank**0.7
        assert abs(falling[rank - 1] - share) < 5 * np.sqrt(share / baskets.people)


def test_relations_of_applets_can_be_told_apart_by_their_confidence():
    """Between the first and the last of those wanted, and beyond, confidences fall without a plateau."""
    reliable = relations(applets(100_000, seed=0), how="given", items=64, top=48)
    confidences = [relation.confidence for relation in reliable]
    assert len(confidences) > 40
    assert confidences[0] > 2 * confidences[31] > 2 * 1.2 * confidences[40]


def test_cascades_are_pairs_that_go_on():
    baskets = cascades(40_000, seed=2)
    chains: dict[tuple[int, int, int], int] = {}
    for pairs in rows(baskets.pairs.offsets, baskets.pairs.first, baskets.pairs.second):
        for first_item, middle in pairs:
            for middle_item, last_item in pairs:
                if middle_item == middle:
                    chains[first_item, middle, last_item] = chains.get((first_item, middle, last_item), 0) + 1
    common = sorted(chains.values(), reverse=True)
    assert common[0] > 0.08 * baskets.people
    assert common[40] > 0.005 * baskets.people
    # Both halves of a cascade are applets, of which there are no more than before.
    assert len(np.unique(baskets.pairs.first * 354 + baskets.pairs.second)) == 200


def test_viewings_are_in_order_and_some_follow_others():
    baskets = viewings(20_000, seed=2)
    events = baskets.sequences
    lengths = np.diff(events.offsets)
    assert (baskets.items, int(lengths.min())) == (5_000, 2)
    viewing_rows = rows(events.offsets, events.codes)
    assert all(baskets[person] == {item for (item,) in viewing_rows[person]} for person in range(200))
    # Next to each other: the commonest pair is far commoner than its two movies make it by chance.
    ends = np.zeros(len(events.codes), bool)
    ends[events.offsets[1:] - 1] = True
    codes = events.codes.astype(np.int64)
    steps = (codes[:-1] * 5_000 + codes[1:])[~ends[:-1]]
    often = np.bincount(np.unique(steps, return_inverse=True)[1])
    likeliest_step = np.unique(steps)[often.argmax()]
    share = np.bincount(codes, minlength=5_000) / len(codes)
    assert often.max() > 3 * len(steps) * share[likeliest_step // 5_000] * share[likeliest_step % 5_000]


@pytest.mark.parametrize("make", KINDS)
def test_misuse(make):
    with pytest.raises(MisuseError) as caught:
        make(0)
    assert str(caught.value) == "people is 0; it must be a whole number, 1 or more."
    with pytest.raises(MisuseError) as caught:
        make(10, seed=-1)
    assert str(caught.value) == "seed is -1; it must be a whole number, 0 or more: try seed=0."
