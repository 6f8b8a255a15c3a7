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
from discreet.local.study import CandidateQuestion, FoldedProjection, Projection, RelationItems, Relations, SizeQuestion
from discreet.local.study._pair_questions import round_to_grid
from naive import relations as naive

KNOWN_ITEMS = 7
PAIR_KINDS = ("together", "after", "given")
EVENTS = st.lists(st.lists(st.integers(0, KNOWN_ITEMS - 1), max_size=9), max_size=6)
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
        Vocabulary(list(range(KNOWN_ITEMS))),
        sequences=Sequences(
            offsets_of(events),
            codes_of(events),
            None if tied == 1 else codes_of([[position // tied for position in range(len(row))] for row in events]),
        ),
        pairs=Pairs(
            offsets_of(given_pairs),
            codes_of([[a for a, _ in row] for row in given_pairs]),
            codes_of([[b for _, b in row] for row in given_pairs]),
        ),
    )
    return baskets, events, [(pairs, tied) for pairs in given_pairs]


def own_pairs(pair_kind, events, facts_of_person):
    given_pairs, tied = facts_of_person
    if pair_kind == "given":
        return set(given_pairs)
    moments = [position // tied for position in range(len(events))]
    return naive.after(events, moments) if pair_kind == "after" else naive.pairs_of_basket(set(events))


def agree(question, pair_kind, world):
    baskets, events, given_pairs = world
    form = question.form() | {"oracle": {"span": SPAN}}
    for chosen_people in (np.arange(len(events)), np.arange(len(events))[::-2].copy()):
        offsets, values = question.answers(baskets, chosen_people)
        answers = [values[a:b].tolist() for a, b in pairwise(offsets)]
        expected = [
            find_values(form, set(events[person]), own_pairs(pair_kind, events[person], given_pairs[person]))
            for person in chosen_people
        ]
        assert answers == expected


ORDER = (4, 0, 9, 2, 5)  # nobody can hold 9
BONDS = ((0, 2), (2, 0), (4, 5))


@pytest.mark.parametrize("pair_kind", PAIR_KINDS)
@pytest.mark.parametrize("bonds", [(), BONDS], ids=["items", "bonds"])
class TestEveryKind:
    @given(world=people())
    def test_which_and_how_many(self, pair_kind, bonds, world):
        chains = [(0, 2), (2, 0), (5, 4), (9, 0)] + ([(0, 2, 4), (0, 2, 5), (2, 0, 4), (4, 5, 0)] if bonds else [])
        relations = Relations(RelationItems(ORDER, pair_kind, bonds), tuple(chains))
        agree(CandidateQuestion(relations), pair_kind, world)
        agree(SizeQuestion(relations, (0, 1, 3)), pair_kind, world)

    @given(world=people(), weights=st.lists(st.integers(-9, 9), min_size=16, max_size=16), reach=st.integers(0, 300))
    def test_projection(self, pair_kind, bonds, world, weights, reach):
        items = RelationItems(ORDER, pair_kind, bonds)
        left_weights, right_weights = tuple(weights[: len(items)]), tuple(weights[8 : 8 + len(items)])
        agree(Projection(items=items, left=left_weights, right=right_weights, low=-reach, high=reach), pair_kind, world)

    @given(world=people())
    def test_pairs_are_those_of_sets(self, pair_kind, bonds, world):
        baskets, events, given_pairs = world
        items = RelationItems(ORDER, pair_kind, bonds)
        offsets, codes = items.pairs(baskets, np.arange(len(events)))
        back = {rank: item for item, rank in items.rank.items()}
        for person, (start, stop) in enumerate(pairwise(offsets)):
            mine = {(back[code // len(items)], back[code % len(items)]) for code in codes[start:stop].tolist()}
            pairs_of_person = {
                pair for pair in own_pairs(pair_kind, events[person], given_pairs[person]) if set(pair) <= set(ORDER)
            }
            assert mine == naive.bonded(pairs_of_person, bonds)
            assert len(mine) == stop - start


@given(people(), st.integers(1, 9), st.lists(st.integers(-9, 9), min_size=6, max_size=6))
def test_folded(world, items, weights):
    baskets, events, _ = world
    question = FoldedProjection(items=items, left=(0,), right=(0,), low=0, high=0) if items == 1 else None
    side = question.width if question else {2: 2, 3: 2, 4: 2}.get(items, 3)
    left_weights, right_weights = tuple(weights[:side]), tuple(weights[3 : 3 + side])
    question = FoldedProjection(items=items, left=left_weights, right=right_weights, low=-50, high=60)
    agree(question, "folded", world)
    numbers = np.empty(len(events), np.int64)
    question.add_up(baskets, np.arange(len(events)), (np.array(left_weights), np.array(right_weights), numbers))
    assert numbers.tolist() == [naive.folded(set(row), items, side, left_weights, right_weights) for row in events]


def test_a_number_is_brought_to_the_nearest_point_and_clipped():
    rounded_numbers = round_to_grid(np.array([-10, -4, 0, 1, 4, 99]), -4, 4, 8)
    assert rounded_numbers.tolist() == [-8, -8, 0, 2, 8, 8]
    assert round_to_grid(np.array([5, 6]), 3, 3, 8).tolist() == [0, 0]


REFUSED = [
    (lambda: RelationItems((0,), "together"), "Relations are between two items or more, all different."),
    (
        lambda: RelationItems((0, 1), "together", ((0, 5),)),
        "Bonds are pairs of two different items that are asked about, each named once.",
    ),
    (
        lambda: Relations(THREE_ITEMS, ((0, 7),)),
        "A relation is a pair of two different items that are asked about; (0, 7) is not.",
    ),
    (
        lambda: Relations(THREE_ITEMS, ((1, 0, 2),)),
        "A relation is a pair of two different items that are asked about; (1, 0, 2) is not.",
    ),
    (
        lambda: Relations(THREE_ITEMS, ()),
        "The relations of a question are different from each other, and there is one.",
    ),
    (
        lambda: Projection(items=THREE_ITEMS, left=(1, 2), right=(1, 2, 3, 4), low=0, high=1),
        "A projection has one weight per item on both sides, and a range that is not upside down.",
    ),
    (
        lambda: FoldedProjection(items=4, left=(1, 2), right=(1, 2), low=1, high=0),
        "A projection has one weight per item on both sides, and a range that is not upside down.",
    ),
    (
        lambda: SizeQuestion(Relations(THREE_ITEMS, ((0, 1),)), (1, 2)),
        "The bins of a count begin at 0 and ascend, and there are two or more.",
    ),
]
THREE_ITEMS = RelationItems((0, 1, 2), "together", ((0, 1),))


@pytest.mark.parametrize(("make_question", "message"), REFUSED, ids=range(len(REFUSED)))
def test_what_makes_no_sense_is_refused(make_question, message):
    with pytest.raises(MisuseError) as refused:
        make_question()
    assert str(refused.value) == message
