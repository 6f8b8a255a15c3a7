"""Mining across levels against trying every itemset, with compiled kernels and plain ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import discreet
from discreet import Baskets, MisuseError, Vocabulary
from discreet.baskets import Lineage, generalised, starts
from discreet.exact import Kth, LocalEngine, Truncation
from naive import lineage as naive, mining
from strategies import baskets as some_baskets, forests

PRODUCTS = {"milk": "dairy", "cheese": "dairy", "bread": "bakery", "dairy": "food", "bakery": "food"}
SHOP = [["milk", "bread"], ["cheese", "bread"], ["milk", "cheese", "tea"], ["tea"], ["milk", "bread", "tea"], []]


def widened(parents, people) -> Baskets:
    rows = [sorted(naive.widened(parents, basket)) for basket in people]
    codes = np.array([code for row in rows for code in row], np.int32)
    return Baskets(
        starts([len(row) for row in rows]),
        codes,
        Vocabulary(range(len(parents))),
        lineage=Lineage(np.array(parents, np.int32)),
    )


def codes_within(parents, people):
    return [frozenset(item % len(parents) for item in basket) for basket in people]


def expected(parents, people, count, min_size, max_size, contains, excludes, kind):
    """Return patterns as they are defined: of antichains alone, closed and maximal among these."""
    wide_baskets = [naive.widened(parents, basket) for basket in people]
    frequent = {
        items: itemset_count
        for items, itemset_count in mining.supports(wide_baskets).items()
        if itemset_count >= count and contains <= items and not items & excludes and naive.are_unrelated(parents, items)
    }
    if kind == "closed":
        frequent = {x: c for x, c in frequent.items() if not any(x < y and d == c for y, d in frequent.items())}
    elif kind == "maximal":
        frequent = {x: c for x, c in frequent.items() if not any(x < y for y in frequent)}
    return mining.ordered(wide_baskets, {x: c for x, c in frequent.items() if min_size <= len(x) <= max_size})


@pytest.mark.parametrize("compiled", ["0", "1"])
@given(
    forests(7, min_count=1),
    some_baskets(7, max_count=8),
    st.integers(1, 3),
    st.integers(1, 2),
    st.integers(0, 3),
    st.sampled_from(["all", "closed", "maximal"]),
    st.sets(st.integers(0, 6), max_size=1),
    st.sets(st.integers(0, 6), max_size=1),
)
def test_patterns(compiled, parents, people, count, min_size, further_sizes, kind, contains, excludes):
    people = codes_within(parents, people)
    contains = frozenset(item % len(parents) for item in contains)
    excludes = frozenset(item % len(parents) for item in excludes) - contains
    count = min(count, max(1, len(people)))
    wide_baskets = widened(parents, people)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCREET_JIT", compiled)
        found_patterns = discreet.mine(
            wide_baskets,
            min_count=count,
            lengths=(min_size, min_size + further_sizes),
            kind=kind,
            contains=sorted(contains),
            excludes=sorted(excludes),
        )
    patterns = [(frozenset(pattern.items), pattern.count) for pattern in found_patterns]
    twin = expected(parents, people, count, min_size, min_size + further_sizes, contains, excludes, kind)
    assert dict(patterns) == dict(twin)
    if not contains:  # else equal counts are in the order of how many hold each item beside those
        assert patterns == twin


@given(forests(7, min_count=1), some_baskets(7, max_count=8), st.integers(1, 12), st.integers(1, 3))
def test_counts_of_ranks(parents, people, rank, longest):
    people = codes_within(parents, people)
    engine = LocalEngine(widened(parents, people))
    counts = sorted(
        (
            itemset_count
            for _, itemset_count in expected(parents, people, 1, 1, longest, frozenset(), frozenset(), "all")
        ),
        reverse=True,
    )
    assert engine.answer(Kth(rank, 1, longest))[0] == (counts[rank - 1] if rank <= len(counts) else 0)
    assert engine.cut(Truncation(99, 1)).lineage == engine.lineage


class TestShop:
    BASKETS = discreet.read(SHOP)

    def test_across_levels(self):
        patterns = discreet.mine(self.BASKETS, min_count=1, hierarchy=PRODUCTS)
        counts = {frozenset(pattern.items): pattern.count for pattern in patterns}
        assert counts[frozenset({"dairy", "bakery"})] == 3
        assert counts[frozenset({"food", "tea"})] == 2
        above = {label: {label, *generalise(label)} for label in [*PRODUCTS, "food", "tea"]}
        for items in counts:
            assert not any(
                pattern != other_item and other_item in above[pattern] for pattern in items for other_item in items
            )

    def test_one_level(self):
        patterns = discreet.mine(self.BASKETS, min_count=2, hierarchy=PRODUCTS, level=1)
        assert {frozenset(pattern.items): pattern.count for pattern in patterns} == {
            frozenset({"dairy"}): 4,
            frozenset({"bakery"}): 3,
            frozenset({"tea"}): 3,
            frozenset({"dairy", "bakery"}): 3,
            frozenset({"dairy", "tea"}): 2,
        }

    def test_rules_say_nothing_that_the_hierarchy_says(self):
        rules = discreet.rules(self.BASKETS, min_count=1, min_confidence=0.5, hierarchy=PRODUCTS)
        assert len(rules)
        for rule in rules:
            items = [*rule.antecedent, *rule.consequent]
            assert not any(other_item in generalise(item) for item in items for other_item in items)
        assert any(set(rule.antecedent) == {"cheese"} for rule in rules)

    def test_a_pattern_never_has_what_is_above_its_items(self):
        with pytest.raises(MisuseError) as caught:
            discreet.mine(self.BASKETS, top=3, hierarchy=PRODUCTS, contains=["milk", "food"])
        assert (
            str(caught.value)
            == "contains has 'milk' and 'food', which stands above it: no pattern has both. Leave 'food' out."
        )

    def test_a_level_needs_a_hierarchy(self):
        with pytest.raises(MisuseError, match=r"give hierarchy= too"):
            discreet.mine(self.BASKETS, top=3, level=1)
        with pytest.raises(MisuseError, match=r"0 to 2; 'aisle' was given"):
            discreet.rules(self.BASKETS, min_count=1, hierarchy=PRODUCTS, level="aisle")

    def test_widened_once_is_widened(self):
        wide_baskets = generalised(self.BASKETS, PRODUCTS)
        assert list(discreet.mine(wide_baskets, top=9)) == list(discreet.mine(self.BASKETS, top=9, hierarchy=PRODUCTS))


def generalise(label: str) -> list[str]:
    ancestors = []
    while label in PRODUCTS:
        label = PRODUCTS[label]
        ancestors.append(label)
    return ancestors
