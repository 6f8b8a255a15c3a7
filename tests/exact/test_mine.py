"""The miner against its naive twin, on both of its layouts, in one thread and in several."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import example, given, settings, strategies as st

import discreet
import strategies
from discreet import LimitError, MisuseError
from discreet.baskets import quest
from discreet.exact import _search as search
from discreet.kernels import enabled
from naive import mining as naive

baskets_of = strategies.baskets(9, 24, 7)


@pytest.fixture(params=["sparse", "dense", "chosen"])
def layout(request, monkeypatch):
    if request.param != "chosen":
        monkeypatch.setattr(search, "_is_dense", lambda rows, counts: request.param == "dense")
    if request.param == "sparse":
        monkeypatch.setattr(search, "_MAX_BITMAP_BYTES", -1)
    return request.param


@pytest.fixture(params=["1", "3"])
def threads(request, monkeypatch):
    monkeypatch.setenv("DISCREET_THREADS", request.param)


def list_patterns(patterns):
    return [(pattern.items, pattern.count) for pattern in patterns]


@pytest.mark.usefixtures("layout", "threads")
class TestAgainstTheTwin:
    @given(baskets_of, st.integers(1, 4), st.sampled_from(["all", "closed", "maximal"]))
    @example([frozenset({0, 1, 2, 3, 4, 5})] * 3, 1, "all")
    @example([frozenset({0, 1, 2, 3, 4, 5})] * 3, 1, "closed")
    @example([], 1, "all")
    @example([frozenset()], 1, "closed")
    def test_all_closed_and_maximal(self, baskets, count, kind):
        if count > len(baskets):
            count = max(1, len(baskets))
        if not baskets:
            assert list_patterns(discreet.mine(baskets, top=1)) == []
            return
        patterns = discreet.mine(baskets, min_count=count, kind=kind)
        assert list_patterns(patterns) == naive.mine(baskets, count, kind=kind)
        assert patterns.people == len(baskets)

    @given(
        baskets_of.filter(lambda baskets: any(baskets)),
        st.integers(1, 3),
        st.integers(1, 3),
        st.integers(0, 3),
        st.sampled_from(["all", "closed", "maximal"]),
        st.data(),
    )
    def test_lengths_contains_and_excludes(self, baskets, count, min_size, further_sizes, kind, data):
        items = sorted(frozenset().union(*baskets))
        contains = data.draw(st.frozensets(st.sampled_from(items), max_size=2))
        excludes = data.draw(st.frozensets(st.sampled_from(items), max_size=2)) - contains
        count = min(count, len(baskets))
        patterns = discreet.mine(
            baskets,
            min_count=count,
            lengths=(min_size, min_size + further_sizes),
            contains=contains,
            excludes=excludes,
            kind=kind,
        )
        twin = naive.mine(baskets, count, min_size, min_size + further_sizes, contains, excludes, kind)
        assert dict(list_patterns(patterns)) == dict(twin)
        if not contains:
            assert list_patterns(patterns) == twin

    @given(baskets_of, st.integers(1, 30), st.integers(1, 4), st.booleans())
    def test_top(self, baskets, top, min_size, fixed):
        lengths = min_size if fixed else (min_size, None)
        max_size = min_size if fixed else 99
        patterns = discreet.mine(baskets, top=top, lengths=lengths)
        assert list_patterns(patterns) == naive.mine(baskets, 1, min_size, max_size)[:top]

    @settings(max_examples=30)
    @given(baskets_of, st.integers(1, 10))
    def test_top_of_closed(self, baskets, top):
        assert (
            list_patterns(discreet.mine(baskets, top=top, kind="closed")) == naive.mine(baskets, 1, kind="closed")[:top]
        )


@given(baskets_of, st.lists(st.frozensets(st.integers(0, 8), min_size=1, max_size=4), max_size=12))
def test_given_itemsets_are_counted_in_their_order(baskets, itemsets):
    held_items = frozenset().union(*baskets)
    itemsets = [itemset & held_items for itemset in itemsets if itemset & held_items]
    patterns = discreet.mine(baskets, itemsets=itemsets)
    assert [pattern.items for pattern in patterns] == itemsets
    assert patterns.counts.tolist() == [sum(itemset <= basket for basket in baskets) for itemset in itemsets]


def test_an_item_that_nobody_holds_counts_zero():
    import numpy as np

    baskets = discreet.Baskets(
        np.array([0, 2]), np.array([0, 1], np.int32), discreet.Vocabulary(["bread", "milk", "tea"])
    )
    assert discreet.mine(baskets, itemsets=[{"tea"}, {"milk", "tea"}, {"milk", "bread"}]).counts.tolist() == [0, 0, 1]


def test_more_than_64_rows_and_many_words():
    baskets = [frozenset(i for i in range(9) if (row >> i) & 1) for row in range(512)] * 3
    for count in (300, 96, 6):
        assert list_patterns(discreet.mine(baskets, min_count=count)) == naive.mine(baskets, count)


def test_a_long_basket_has_a_long_closed_pattern():
    baskets = [frozenset(range(300))] * 2 + [frozenset(range(150, 400))]
    patterns = discreet.mine(baskets, min_count=1, kind="closed")
    assert sorted((len(p.items), p.count) for p in patterns) == [(150, 3), (250, 1), (300, 2)]
    assert [len(p.items) for p in discreet.mine(baskets, min_count=2, kind="maximal")] == [300]


def test_support_is_read_as_the_decimal_it_is_written_as():
    baskets = [{"a"}] * 7 + [set()] * 93
    for support in (0.07, "0.07", Fraction(7, 100)):
        assert len(discreet.mine(baskets, min_support=support)) == 1
    assert len(discreet.mine(baskets, min_support=0.0701)) == 0


def test_empty_baskets_are_people():
    assert discreet.mine([{"a"}, set(), set(), set()], min_count=1)[0].support == 0.25


def test_absurd_numbers_are_bounds_like_others():
    baskets = [{"tea", "milk"}, {"tea"}]
    assert len(discreet.mine(baskets, min_support="1e-999999999")) == 3
    assert len(discreet.mine(baskets, top=10**30, limit=10**30, lengths=(1, 10**30))) == 3
    assert len(discreet.mine(baskets, min_support="1/2", lengths=(10**30, None))) == 0


class TestBeyondSmallData:
    """Enough patterns and items to reach the parts of the miner that small data never see."""

    @pytest.mark.parametrize("lengths", [(1, None), (2, 3), 3])
    @pytest.mark.parametrize("top", [100, 2_000, 6_000])
    def test_top_equals_the_top_of_all(self, lengths, top, layout):
        baskets = quest(400, 60, 12, 4, patterns=50, seed=1)
        patterns = discreet.mine(baskets, top=top, lengths=lengths)
        assert len(patterns) == top
        everything = discreet.mine(baskets, min_count=int(patterns.counts[-1]), lengths=lengths)
        assert patterns == everything.top(top)

    # What needs more than two bytes per item is compiled anew, which takes 20 seconds: that is for `make soak`.
    @pytest.mark.parametrize("items", [5_000, pytest.param(33_500, marks=pytest.mark.slow)])
    def test_a_vocabulary_of_more_than_4096_and_more_than_32768(self, items):
        # Pairs of neighbours, twice each; plus two large baskets.
        baskets = [{i, (i + 1) % items} for i in range(items)] * 2 + [set(range(0, items, 500))] * 2
        patterns = discreet.mine(baskets, min_count=2, lengths=(1, 2))
        holders = len(range(0, items, 500))
        assert len(patterns) == items + items + holders * (holders - 1) // 2
        singles = [p for p in patterns if len(p.items) == 1]
        assert {p.count for p in patterns if len(p.items) == 2} == {2}
        assert [p.count for p in singles] == [6] * holders + [4] * (items - holders)
        tied = [max(p.items) for p in singles if p.count == 4]
        assert tied == sorted(tied)
        # From the rarest item to the most frequent: ranks are (count falling, label rising).
        rank = {min(p.items): r for r, p in enumerate(singles)}
        keys = [sorted((rank[i] for i in p.items), reverse=True) for p in patterns if len(p.items) == 2]
        assert keys == sorted(keys)
        assert discreet.mine(baskets, itemsets=[{0, 1}, {0, 500}, {1, 3}, {0, 500, 1000}]).counts.tolist() == [
            2,
            2,
            0,
            2,
        ]


class TestLimit:
    def test_stops_soon(self, layout):
        # All patterns of 400 items that everyone holds would take ages to list; the first pieces are enough.
        with pytest.raises(LimitError):
            discreet.mine([frozenset(range(400))] * 2 + [frozenset()], min_count=2, limit=100_000)

    def test_stops_with_what_to_do(self, layout):
        baskets = [frozenset(range(40))] * 3
        with pytest.raises(LimitError) as raised:
            discreet.mine(baskets, min_count=1, limit=1000)
        assert str(raised.value) == (
            "There are more than 1,000 patterns. Raise min_count or min_support, ask for shorter ones (lengths=), "
            "or raise limit= if memory allows."
        )

    def test_exactly_the_limit_is_allowed(self, layout):
        baskets = [frozenset(range(5))] * 3
        assert len(discreet.mine(baskets, min_count=1, limit=31)) == 31
        with pytest.raises(LimitError):
            discreet.mine(baskets, min_count=1, limit=30)

    def test_short_patterns_of_long_baskets_do_not_explode(self, layout):
        baskets = [frozenset(range(100))] * 3
        assert len(discreet.mine(baskets, min_count=3, lengths=(1, 2))) == 100 + 4950

    def test_top_of_long_baskets_takes_the_shortest_of_equal_counts(self, layout):
        baskets = [frozenset(range(60))] * 3 + [frozenset(range(30))]
        patterns = discreet.mine(baskets, top=2_000)
        counts = [(p.count, len(p.items)) for p in patterns]
        expected = [(4, 1)] * 30 + [(4, 2)] * 435 + [(4, 3)] * 1535
        assert counts == expected

    def test_top_stops_too(self, layout):
        with pytest.raises(LimitError) as raised:
            discreet.mine([frozenset(range(60))] * 3, top=30_000, limit=20_000)
        assert str(raised.value) == (
            "There are more than 20,000 patterns. Ask for fewer (top=), for shorter ones (lengths=), "
            "or raise limit= if memory allows."
        )

    def test_one_long_row_stops_at_once(self):
        baskets = discreet.read([range(1_000_000 if enabled() else 20_000), [1, 2]])  # plain Python takes its time
        with pytest.raises(LimitError):
            discreet.mine(baskets, min_count=1)
        assert len(discreet.mine(baskets, min_count=2)) == 3
        assert len(discreet.mine(baskets, top=10)) == 10


FOUR_WAYS = (
    "Say which patterns are wanted by exactly one of min_support (a fraction of people), min_count (a number of "
    "people), top (how many patterns) or itemsets (count just these); "
)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, FOUR_WAYS + "none of them was given."),
        ({"min_count": 1, "top": 3}, FOUR_WAYS + "min_count and top were given."),
        ({"top": 0}, "top is 0, but it must be a whole number, 1 or more."),
        ({"top": 2.5}, "top is 2.5, but it must be a whole number, 1 or more."),
        ({"min_count": 0}, "min_count is a number of people, at least 1; 0 was given."),
        ({"min_count": -4}, "min_count is a number of people, at least 1; -4 was given."),
        (
            {"min_count": 0.1},
            "min_count is a whole number of people; 0.1 was given; for a fraction of people write min_support=0.1.",
        ),
        (
            {"min_count": 4},
            "min_count is 4, but there are only 3 people: no pattern can reach it. Give at most 3.",
        ),
        (
            {"min_support": 5},
            "min_support is a fraction of people, over 0 and at most 1; 5 was given. For 5 % write 0.05; "
            "for a number of people use min_count.",
        ),
        (
            {"min_support": -0.1},
            "min_support is a fraction of people, over 0 and at most 1; -0.1 was given. "
            "For every pattern that occurs at all use min_count=1.",
        ),
        (
            {"min_support": float("nan")},
            "min_support is a fraction of people, over 0 and at most 1, such as 0.01; nan was given.",
        ),
        (
            {"min_support": "one"},
            "min_support is a fraction of people, over 0 and at most 1, such as 0.01; 'one' was given.",
        ),
        (
            {"top": 3, "lengths": 0},
            "lengths is how many items a pattern has: a number such as 3, or the least and the most, such as (2, 4) "
            "or (2, None), from 1 on; 0 was given.",
        ),
        (
            {"top": 3, "lengths": (3, 2)},
            "lengths is how many items a pattern has: a number such as 3, or the least and the most, such as (2, 4) "
            "or (2, None), from 1 on; (3, 2) was given.",
        ),
        ({"top": 3, "kind": "open"}, "kind is 'all', 'closed' or 'maximal', not 'open'."),
        (
            {"top": 3, "kind": "maximal"},
            "Maximal patterns are those at a threshold: give min_support or min_count instead of top.",
        ),
        ({"top": 3, "limit": 0}, "limit is 0, but it must be a whole number, 1 or more."),
        ({"top": 3, "contains": "coffee"}, "'coffee' is not an item of this data."),
        (
            {"top": 3, "contains": 5},
            "5 is not an item of this data: its items are names, not numbers; put it in quotes.",
        ),
        (
            {"top": 3, "contains": "tea", "excludes": ["tea"]},
            "'tea' is in both contains and excludes: no pattern can have it and not have it.",
        ),
        ({"itemsets": [[]]}, "itemsets has an empty itemset: everyone holds it. Leave it out."),
        ({"itemsets": [["tea"]], "top": 2}, "itemsets and top exclude each other: give one of them."),
        ({"itemsets": [["tea"]], "lengths": 2}, "itemsets and lengths exclude each other: give one of them."),
        ({"itemsets": [["tea"]], "kind": "closed"}, "itemsets and kind exclude each other: give one of them."),
        (
            {"min_support": "1e400"},
            "min_support is a fraction of people, over 0 and at most 1; 1e400 was given. For a number of people use "
            "min_count.",
        ),
    ],
)
def test_misuse(options, message):
    with pytest.raises(MisuseError) as raised:
        discreet.mine([{"tea", "milk"}, {"tea"}, {"milk", "bread"}], **options)
    assert str(raised.value) == message


def test_progress_is_told_and_complete():
    progress_values = []
    baskets = [frozenset(pair) for pair in combinations(range(12), 2)]
    discreet.mine(baskets, min_count=1, progress=progress_values.append)
    assert progress_values == sorted(progress_values)
    assert progress_values[-1] == 1


LONG_BASKETS = {"one of 32": [set(range(32)), {1, 2}, {2, 3}], "several": [set(range(30)), set(range(2, 32)), {40, 41}]}


@pytest.mark.parametrize("baskets", LONG_BASKETS.values(), ids=LONG_BASKETS)
def test_lengths_beyond_the_longest_basket_find_nothing(baskets):
    """A search for them lists all subsets of a long basket, which are more than any limit, before it has none."""
    for question in ({"top": 4}, {"min_count": 1}, {"min_support": 0.01}, {"top": 4, "kind": "closed"}):
        assert len(discreet.mine(baskets, lengths=40, **question)) == 0
        assert len(discreet.mine(baskets, lengths=(33, None), contains=[2, 3], **question)) == 0
    assert len(discreet.mine(baskets, lengths=40, min_count=1, kind="maximal")) == 0
    # 30 items beside 2 are in the basket, but the excluded ones are not in a pattern.
    assert len(discreet.mine(baskets, lengths=(32, None), excludes=[5], top=4)) == 0


@pytest.mark.parametrize("baskets", LONG_BASKETS.values(), ids=LONG_BASKETS)
def test_rules_beyond_the_longest_basket_are_none(baskets):
    rules = discreet.rules(baskets, min_count=1, lengths=(33, 40), significance=0.05)
    assert len(rules) == 0
    assert rules.people == 3


@settings(max_examples=60)
@given(
    st.lists(st.sets(st.integers(0, 7), max_size=8), min_size=1, max_size=8),
    st.integers(3, 6),
    st.integers(1, 3),
    st.sampled_from(["all", "closed", "maximal"]),
)
def test_long_patterns_are_those_of_all_lengths(baskets, min_size, count, kind):
    """Looking in long baskets alone gives what filtering all patterns gives, in the same order."""
    if count > len(baskets):
        return
    every = discreet.mine(baskets, min_count=count, kind=kind)
    assert list(discreet.mine(baskets, min_count=count, lengths=(min_size, None), kind=kind)) == [
        pattern for pattern in every if len(pattern.items) >= min_size
    ]
    if kind == "all" and any(baskets):
        item = min(set().union(*baskets))
        all_patterns = discreet.mine(baskets, min_count=count, lengths=(min_size, None), contains=item)
        assert all_patterns.to_dict() == {
            pattern.items: pattern.count
            for pattern in every
            if len(pattern.items) >= min_size and item in pattern.items
        }
