"""Questions about relations: many people at once answer as one device does, for all kinds of pairs."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st

from discreet.baskets import Baskets, Pairs, Sequences, Vocabulary
from discreet.errors import MisuseError
from discreet.local import SPAN
from discreet.local.device import find_values
from discreet.local.study import FoldedProjection, HowMany, Items, Projection, Relations, Which
from discreet.local.study._pair_questions import round_to_grid
from naive import relations as naive

KNOWN = 7
HOW = ("together", "after", "given")
EVENTS = st.lists(st.lists(st.integers(0, KNOWN - 1), max_size=9), max_size=6)
PAIRS = st.sets(st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(lambda pair: pair[0] != pair[1]), max_size=12)


def offsets_of(rows):
    return np.cumsum([0, *map(len, rows)]).astype(np.int64)


def codes_of(rows):
    return np.array([code for row in rows for code in row], np.int32)


@st.composite
def people(draw):
    """Everyone's events, the basket they make, and given pairs."""
    events = draw(EVENTS)
    rows = [sorted(set(row)) for row in events]
    given_pairs = [sorted(draw(PAIRS)) for _ in rows]
    tied = draw(st.sampled_from([1, 2, 4]))  # so many at a time
    baskets = Baskets(
        offsets_of(rows),
        codes_of(rows),
        Vocabulary(list(range(KNOWN))),
        sequences=Sequences(
            offsets_of(events),
            codes_of(events),
            None if tied == 1 else codes_of([[at // tied for at in range(len(row))] for row in events]),
        ),
        pairs=Pairs(
            offsets_of(given_pairs),
            codes_of([[a for a, _ in row] for row in given_pairs]),
            codes_of([[b for _, b in row] for row in given_pairs]),
        ),
    )
    return baskets, events, [(pairs, tied) for pairs in given_pairs]


def own_pairs(how, events, beside):
    given_pairs, tied = beside
    if how == "given":
        return set(given_pairs)
    moments = [at // tied for at in range(len(events))]
    return naive.after(events, moments) if how == "after" else naive.pairs_of_basket(set(events))


def agree(question, how, world):
    baskets, events, beside = world
    form = question.form() | {"oracle": {"span": SPAN}}
    for some in (np.arange(len(events)), np.arange(len(events))[::-2].copy()):
        offsets, values = question.answers(baskets, some)
        answers = [values[a:b].tolist() for a, b in pairwise(offsets)]
        expected = [find_values(form, set(events[one]), own_pairs(how, events[one], beside[one])) for one in some]
        assert answers == expected


ORDER = (4, 0, 9, 2, 5)  # nobody can hold 9
BONDS = ((0, 2), (2, 0), (4, 5))


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("bonds", [(), BONDS], ids=["items", "bonds"])
class TestEveryKind:
    @given(world=people())
    def test_which_and_how_many(self, how, bonds, world):
        chains = [(0, 2), (2, 0), (5, 4), (9, 0)] + ([(0, 2, 4), (0, 2, 5), (2, 0, 4), (4, 5, 0)] if bonds else [])
        of = Relations(Items(ORDER, how, bonds), tuple(chains))
        agree(Which(of), how, world)
        agree(HowMany(of, (0, 1, 3)), how, world)

    @given(world=people(), weights=st.lists(st.integers(-9, 9), min_size=16, max_size=16), reach=st.integers(0, 300))
    def test_projection(self, how, bonds, world, weights, reach):
        items = Items(ORDER, how, bonds)
        left, right = tuple(weights[: len(items)]), tuple(weights[8 : 8 + len(items)])
        agree(Projection(items=items, left=left, right=right, low=-reach, high=reach), how, world)

    @given(world=people())
    def test_pairs_are_those_of_sets(self, how, bonds, world):
        baskets, events, beside = world
        items = Items(ORDER, how, bonds)
        offsets, codes = items.pairs(baskets, np.arange(len(events)))
        back = {rank: one for one, rank in items.rank.items()}
        for at, (start, stop) in enumerate(pairwise(offsets)):
            mine = {(back[code // len(items)], back[code % len(items)]) for code in codes[start:stop].tolist()}
            own = {pair for pair in own_pairs(how, events[at], beside[at]) if set(pair) <= set(ORDER)}
            assert mine == naive.bonded(own, bonds)
            assert len(mine) == stop - start


@given(people(), st.integers(1, 9), st.lists(st.integers(-9, 9), min_size=6, max_size=6))
def test_folded(world, items, weights):
    baskets, events, _ = world
    question = FoldedProjection(items=items, left=(0,), right=(0,), low=0, high=0) if items == 1 else None
    side = question.width if question else {2: 2, 3: 2, 4: 2}.get(items, 3)
    left, right = tuple(weights[:side]), tuple(weights[3 : 3 + side])
    question = FoldedProjection(items=items, left=left, right=right, low=-50, high=60)
    agree(question, "folded", world)
    out = np.empty(len(events), np.int64)
    question.add_up(baskets, np.arange(len(events)), np.array(left), np.array(right), out)
    assert out.tolist() == [naive.folded(set(row), items, side, left, right) for row in events]


def test_a_number_is_brought_to_the_nearest_point_and_clipped():
    found = round_to_grid(np.array([-10, -4, 0, 1, 4, 99]), -4, 4, 8)
    assert found.tolist() == [-8, -8, 0, 2, 8, 8]
    assert round_to_grid(np.array([5, 6]), 3, 3, 8).tolist() == [0, 0]


REFUSED = [
    (lambda: Items((0,), "together"), "Relations are between two items or more, all different."),
    (
        lambda: Items((0, 1), "together", ((0, 5),)),
        "Bonds are pairs of two different items that are asked about, each named once.",
    ),
    (
        lambda: Relations(THREE, ((0, 7),)),
        "A relation is a pair of two different items that are asked about; (0, 7) is not.",
    ),
    (
        lambda: Relations(THREE, ((1, 0, 2),)),
        "A relation is a pair of two different items that are asked about; (1, 0, 2) is not.",
    ),
    (
        lambda: Relations(THREE, ()),
        "The relations of a question are different from each other, and there is one.",
    ),
    (
        lambda: Projection(items=THREE, left=(1, 2), right=(1, 2, 3, 4), low=0, high=1),
        "A projection has one weight per item on both sides, and a range that is not upside down.",
    ),
    (
        lambda: FoldedProjection(items=4, left=(1, 2), right=(1, 2), low=1, high=0),
        "A projection has one weight per item on both sides, and a range that is not upside down.",
    ),
    (
        lambda: HowMany(Relations(THREE, ((0, 1),)), (1, 2)),
        "The bins of a count begin at 0 and ascend, and there are two or more.",
    ),
]
THREE = Items((0, 1, 2), "together", ((0, 1),))


@pytest.mark.parametrize(("made", "message"), REFUSED, ids=range(len(REFUSED)))
def test_what_makes_no_sense_is_refused(made, message):
    with pytest.raises(MisuseError) as refused:
        made()
    assert str(refused.value) == message
