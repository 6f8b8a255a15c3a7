"""The truth about relations, against counting by hand, and how relations are scored."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.baskets.core import Baskets, Pairs, Sequences, Vocabulary, starts
from discreet.errors import MisuseError
from discreet.exact import relating
from discreet.exact.metrics import score_relations
from discreet.exact.relating import relations

FIGURE = [{1, 2}] * 20 + [{1, 3}] * 20 + [{2, 3}] * 10 + [{4, 5, 6}] * 25
ITEMS = 6


def laid(events: list[list[int]], given_pairs: list[list[tuple[int, int]]]) -> Baskets:
    """Return people who did these things in order, and who have these pairs."""
    rows = [
        sorted({*row, *(item for pair in pairs for item in pair)})
        for row, pairs in zip(events, given_pairs, strict=True)
    ]
    flat = [sorted(set(pairs)) for pairs in given_pairs]
    return Baskets(
        starts([len(row) for row in rows]),
        np.array([item for row in rows for item in row], np.int32),
        Vocabulary(list(range(ITEMS))),
        Sequences(starts([len(row) for row in events]), np.array([item for row in events for item in row], np.int32)),
        Pairs(
            starts([len(pairs) for pairs in flat]),
            np.array([one for pairs in flat for one, _ in pairs], np.int32),
            np.array([other for pairs in flat for _, other in pairs], np.int32),
        ),
    )


def by_hand(baskets, events, given_pairs, how, items, support, top):
    """Return the relations by the definition, one person at a time."""
    held = [set(row) for row in baskets]
    counts = [sum(item in row for row in held) for item in range(ITEMS)]
    known = sorted(range(ITEMS), key=lambda item: (-counts[item], item))[:items]
    shares = []
    for a, b in permutations(known, 2):
        if how == "together":
            many = sum({a, b} <= row for row in held)
        elif how == "given":
            many = sum((a, b) in pairs for pairs in given_pairs)
        else:
            many = sum(any(one == a and b in row[at + 1 :] for at, one in enumerate(row)) for row in events)
        if many:
            shares.append((-many, known.index(a), known.index(b), a, b))
    kept = sorted(shares)[:support]
    best = sorted(range(len(kept)), key=lambda at: (kept[at][0] / max(counts[kept[at][3]], 1), at))[:top]
    return [(kept[at][3], kept[at][4], -kept[at][0]) for at in best]


ROWS = st.lists(
    st.tuples(
        st.lists(st.integers(0, ITEMS - 1), max_size=6),
        st.lists(
            st.tuples(st.integers(0, ITEMS - 1), st.integers(0, ITEMS - 1)).filter(lambda pair: pair[0] != pair[1]),
            max_size=4,
        ),
    ),
    max_size=12,
)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(ROWS, st.integers(1, 6), st.integers(1, 20), st.integers(1, 8), st.booleans())
def test_relations_are_those_of_the_definition(rows, items, support, top, table):
    events, given_pairs = [row for row, _ in rows], [pairs for _, pairs in rows]
    baskets = laid(events, given_pairs)
    before = relating._TABLE
    relating._TABLE = before if table else 0  # both ways of counting
    try:
        for how in ("together", "after", "given"):
            found = relations(baskets, how=how, items=items, support=support, top=top)
            expected = by_hand(baskets, events, given_pairs, how, items, support, top)
            sides = (found.antecedents.codes.tolist(), found.consequents.codes.tolist(), found.counts.tolist())
            assert list(zip(*sides, strict=True)) == expected
            assert found.antecedent_counts.tolist() == [baskets.item_counts[a] for a, _, _ in expected]
    finally:
        relating._TABLE = before


def test_figure_1():
    """The six relations wanted are those among x4, x5, x6; the next would be x2 → x1 and x3 → x1."""
    found = relations(discreet.read(FIGURE), items=6, support=12, top=8)
    wanted = [({a}, {b}, 1.0) for a, b in permutations((4, 5, 6), 2)] + [({2}, {1}, 2 / 3), ({3}, {1}, 2 / 3)]
    assert [(set(rule.antecedent), set(rule.consequent), rule.confidence) for rule in found] == wanted


def test_rows_are_counted_in_pieces(monkeypatch):
    baskets = discreet.read(FIGURE)
    whole = relations(baskets, top=12)
    monkeypatch.setattr(relating, "_ROOM", 7)
    assert relations(baskets, top=12) == whole
    monkeypatch.setattr(relating, "_TABLE", 1)
    assert relations(baskets, top=12) == whole


@pytest.mark.parametrize("rows", [[], [set()], [{1}], [{1}, {2}]], ids=["nobody", "nothing", "one", "apart"])
def test_no_relations(rows):
    assert len(relations(discreet.read([{1}, *rows]))) == 0


@pytest.mark.parametrize(
    ("given_options", "message"),
    [
        ({"how": "near"}, "A relation is 'given', 'after' or 'together'; 'near' was given."),
        (
            {"how": "given"},
            "These data have no pairs: read them with two columns of items, or use 'together'.",
        ),
        ({"how": "after"}, "These data have no order: read them with a column of times, or use 'together'."),
        ({"items": 0}, "items is 0, but it must be a whole number, 1 or more."),
        ({"support": 0}, "support is 0, but it must be a whole number, 1 or more."),
        ({"top": "3"}, "top is '3', but it must be a whole number, 1 or more."),
    ],
    ids=range(6),
)
def test_what_is_refused(given_options, message):
    with pytest.raises(MisuseError) as error:
        relations(discreet.read([{"a", "b"}]), **given_options)
    assert str(error.value) == message


def test_too_many_items(monkeypatch):
    monkeypatch.setattr(relating, "MOST_ITEMS", 1)
    with pytest.raises(MisuseError) as error:
        relations(discreet.read([{"a", "b"}]))
    assert str(error.value) == "Relations are counted among up to 1 items; there are 2: give items=64."


class TestScores:
    TRUTH = relations(discreet.read(FIGURE), support=12, top=6)

    def test_by_hand(self):
        """Of six, ranks 1, 3 and 5 were found, with 6, 4 and 2 of 21 points, and a fourth that is wrong."""
        everything = relations(discreet.read(FIGURE), support=12, top=8)
        score = score_relations(everything._take(np.array([0, 2, 4, 7])), self.TRUTH)
        assert score.to_dict() == {
            "found": 4,
            "wanted": 6,
            "precision": 3 / 4,
            "recall": 3 / 6,
            "f_score": pytest.approx(2 * 3 / 10),
            "cumulative_rank": 12 / 21,
            "confidence_error": 0.5,  # three of confidence 1 are missing
            "found_confidence_error": 0.0,
        }

    def test_all_and_nothing(self):
        assert score_relations(self.TRUTH, self.TRUTH).cumulative_rank == 1.0
        nothing = score_relations(self.TRUTH[:0], self.TRUTH)
        assert (nothing.cumulative_rank, nothing.f_score, nothing.confidence_error) == (0.0, 0.0, 1.0)
        assert math.isnan(nothing.found_confidence_error)
        assert math.isnan(score_relations(self.TRUTH, self.TRUTH[:0]).confidence_error)
