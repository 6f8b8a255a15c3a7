"""The truth about relations, against counting by hand, and how relations are scored."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import discreet
from discreet.baskets import Baskets, Pairs, Sequences, Vocabulary, starts
from discreet.errors import MisuseError
from discreet.exact import _relations as relating, relations, score_relations
from discreet.exact._relations import chain_counts
from discreet.local.study import simulate
from naive import relations as naive

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
            np.array([before for pairs in flat for before, _ in pairs], np.int32),
            np.array([after for pairs in flat for _, after in pairs], np.int32),
        ),
    )


def by_hand(baskets, events, given_pairs, pair_kind, items, support, top, longest=2):
    """Return the relations by the definition, one person at a time: first side, second side, and how many hold it."""
    baskets_held = [set(row) for row in baskets]
    counts = [sum(item in row for row in baskets_held) for item in range(ITEMS)]
    frequent_items = sorted(range(ITEMS), key=lambda item: (-counts[item], item))[:items]

    def count_holders(*chain):
        """How many people take every step of the chain."""
        steps = list(pairwise(chain))
        if pair_kind == "together":
            return sum(set(chain) <= row for row in baskets_held)
        if pair_kind == "given":
            return sum(set(steps) <= set(pairs) for pairs in given_pairs)
        return sum(
            all(any(item == a and b in row[position + 1 :] for position, item in enumerate(row)) for a, b in steps)
            for row in events
        )

    chains = [chain for length in range(2, longest + 1) for chain in permutations(frequent_items, length)]
    if pair_kind == "together":  # {a, b} is one first side
        chains = [
            chain
            for chain in chains
            if len(chain) == 2 or frequent_items.index(chain[0]) < frequent_items.index(chain[1])
        ]
    shares = [
        (-count_holders(*chain), len(chain), [frequent_items.index(item) for item in chain], chain) for chain in chains
    ]
    kept_chains = [
        (chain, -negative_count) for negative_count, _, _, chain in sorted(shares)[:support] if negative_count
    ]

    def reliable(place):
        chain, chain_count = kept_chains[place]
        first_side_count = counts[chain[0]] if len(chain) == 2 else count_holders(*chain[:-1])
        return -chain_count / max(first_side_count, 1), place

    best_chains = [kept_chains[rank_place] for rank_place in sorted(range(len(kept_chains)), key=reliable)[:top]]
    return [
        (
            sorted(relation_chain[:-1]) if pair_kind == "together" else list(relation_chain[:-1]),
            [relation_chain[-1]],
            best_count,
        )
        for relation_chain, best_count in best_chains
    ]


def list_relations(found_relations):
    """Return relations in the same form."""
    sides = (
        [side.codes[a:b].tolist() for a, b in pairwise(side.offsets)]
        for side in (found_relations.antecedents, found_relations.consequents)
    )
    return list(zip(*sides, found_relations.counts.tolist(), strict=True))


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


@given(ROWS, st.integers(1, 6), st.integers(1, 20), st.integers(1, 8), st.booleans(), st.sampled_from([2, 3]))
def test_relations_are_those_of_the_definition(rows, items, support, top, table, longest):
    events, given_pairs = [row for row, _ in rows], [pairs for _, pairs in rows]
    baskets = laid(events, given_pairs)
    before = relating._MAX_TABLE_CELLS
    relating._MAX_TABLE_CELLS = before if table else 0  # both ways of counting
    try:
        for pair_kind in ("together", "after", "given"):
            found_relations = relations(baskets, how=pair_kind, items=items, support=support, top=top, longest=longest)
            expected = by_hand(baskets, events, given_pairs, pair_kind, items, support, top, longest)
            assert list_relations(found_relations) == expected
            single = [place for place, (first_side, _, _) in enumerate(expected) if len(first_side) == 1]
            item_counts = [baskets.item_counts[expected[place][0][0]] for place in single]
            assert found_relations.antecedent_counts[single].tolist() == item_counts
            assert (
                found_relations.counts <= np.maximum(found_relations.antecedent_counts, 1)
            ).all() or pair_kind == "given"
    finally:
        relating._MAX_TABLE_CELLS = before


@given(ROWS)
def test_chains_are_those_of_sets(rows):
    """The kernel counts what sets say, and of items that are together one order of the first two."""
    events, given_pairs = [row for row, _ in rows], [pairs for _, pairs in rows]
    baskets, order = laid(events, given_pairs), np.arange(ITEMS)
    pairs_by_kind = {
        "together": [naive.pairs_of_basket(set(row)) for row in baskets],
        "after": [naive.after(row) for row in events],
        "given": given_pairs,
    }
    for pair_kind, pairs in pairs_by_kind.items():
        expected = Counter(chain for mine in pairs for chain in naive.chained(mine))
        codes, counts = chain_counts(baskets, order, pair_kind)
        chains = [(code // ITEMS**2, code // ITEMS % ITEMS, code % ITEMS) for code in codes.tolist()]
        kept_chains = {
            chain: chain_count
            for chain, chain_count in expected.items()
            if pair_kind != "together" or chain[0] < chain[1]
        }
        assert dict(zip(chains, counts.tolist(), strict=True)) == kept_chains


def test_figure_1():
    """The six relations wanted are those among x4, x5, x6; the next would be x2 → x1 and x3 → x1."""
    found_relations = relations(discreet.read(FIGURE), items=6, support=12, top=8)
    expected = [({a}, {b}, 1.0) for a, b in permutations((4, 5, 6), 2)] + [({2}, {1}, 2 / 3), ({3}, {1}, 2 / 3)]
    assert [(set(rule.antecedent), set(rule.consequent), rule.confidence) for rule in found_relations] == expected


def test_rows_are_counted_in_pieces(monkeypatch):
    baskets = discreet.read(FIGURE)
    whole_relations = relations(baskets, top=12)
    monkeypatch.setattr(relating, "_PAIRS_AT_A_TIME", 7)
    assert relations(baskets, top=12) == whole_relations
    monkeypatch.setattr(relating, "_MAX_TABLE_CELLS", 1)
    assert relations(baskets, top=12) == whole_relations


@pytest.mark.parametrize("rows", [[], [set()], [{1}], [{1}, {2}]], ids=["nobody", "nothing", "one", "apart"])
def test_no_relations(rows):
    assert len(relations(discreet.read([{1}, *rows]))) == 0


@pytest.mark.parametrize(
    ("given_options", "message"),
    [
        ({"how": "near"}, "A relation is 'given', 'after' or 'together'; 'near' was given."),
        (
            {"how": "given"},
            "These data have no pairs: read them with pair=, two columns of items; or use 'together'.",
        ),
        (
            {"how": "after"},
            "These data have no order: read them with time=, a column of times, or ordered=True; or use 'together'.",
        ),
        ({"items": 0}, "items is 0, but it must be a whole number, 1 or more."),
        ({"support": 0}, "support is 0, but it must be a whole number, 1 or more."),
        ({"top": "3"}, "top is '3', but it must be a whole number, 1 or more."),
        ({"longest": 4}, "longest is 2 or 3, the items of a relation at most; 4 was given."),
    ],
    ids=range(7),
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
    with pytest.raises(MisuseError) as error:
        relations(discreet.read([range(257)]), longest=3)
    assert str(error.value) == "Relations are counted among up to 256 items; there are 257: give items=64."


class TestScores:
    TRUTH = relations(discreet.read(FIGURE), support=12, top=6)

    def test_by_hand(self):
        """Of six, ranks 1, 3 and 5 were found, with 6, 4 and 2 of 21 points, and a fourth that is wrong."""
        everything = relations(discreet.read(FIGURE), support=12, top=8)
        score = score_relations(everything.take(np.array([0, 2, 4, 7])), self.TRUTH)
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

    def test_relations_built_on_relations(self):
        """Who takes both steps counts, in their order: 0 → 1 → 2 is not 1 → 0 → 2."""
        chains = [(0, 1), (1, 2)], [(1, 0), (0, 2)], [(0, 1)], [(0, 1), (1, 2)]
        baskets = laid([[]] * 4, list(chains))
        truth = relations(baskets, how="given", longest=3)
        triples = {
            tuple(first_side + second): triple_count
            for first_side, second, triple_count in list_relations(truth)
            if len(first_side) == 2
        }
        assert triples == {(0, 1, 2): 2, (1, 0, 2): 1}
        confidences = {
            tuple(sides): confidence
            for sides, confidence in zip(
                (f + s for f, s, _ in list_relations(truth)), truth.measure("confidence"), strict=True
            )
        }
        assert (confidences[0, 1, 2], confidences[1, 0, 2]) == (2 / 3, 1.0)
        # As sets the two are one: the score tells them apart where it is told to.
        assert score_relations(truth, truth, ordered=True).wanted == len(truth)
        assert score_relations(truth, truth).wanted == len(truth) - 1

    def test_a_simulation_is_scored_with_them(self):
        chains = [(0, 1), (1, 2)], [(0, 1), (1, 2)], [(0, 1)], [(3, 0)]
        baskets = laid([[]] * 20_000, [chains[person % 4] for person in range(20_000)])
        settings = {"items": 4, "support": 14, "cascade": 2, "how": "given"}
        outcome = simulate(baskets, "relations", top=4, epsilon=6, seed=3, settings=settings, score=True)
        assert list_relations(relations(baskets, how="given", items=4, support=14, top=4, longest=3))[3][:2] == (
            [0, 1],
            [2],
        )
        assert outcome.scores["F-score, 3 items"] == outcome.scores["normalised cumulative rank, 3 items"] == 1.0
        assert outcome.scores["F-score"] == 1.0
        del settings["cascade"]
        outcome = simulate(baskets, "relations", top=4, epsilon=6, seed=3, settings=settings, score=True)
        assert "F-score, 3 items" not in outcome.scores
