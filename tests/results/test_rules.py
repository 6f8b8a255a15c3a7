from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

import discreet
from discreet.errors import LimitError
from discreet.results import rules
from discreet.results._measures import MEASURES, measure
from naive import rules as naive
from naive.rules import count_patterns, make_patterns

baskets_of_names = st.lists(st.frozensets(st.sampled_from("abcdef"), max_size=5), min_size=1, max_size=15)

BASKETS = [{"tea", "milk"}, {"tea", "milk", "jam"}, {"tea"}, {"milk", "jam"}, {"bread"}, {"tea", "milk"}]


def rule_counts(result):
    return {(rule.antecedent, rule.consequent): rule.count for rule in result}


def expected_rules(counts, min_confidence, single_consequent=False):
    return {
        (antecedent, itemset - antecedent): counts[itemset]
        for itemset in counts
        for antecedent in counts
        if antecedent < itemset
        and counts[itemset] / counts[antecedent] >= min_confidence
        and not (single_consequent and len(itemset - antecedent) > 1)
    }


@given(
    baskets_of_names,
    st.integers(1, 3),
    st.sampled_from([0.0, 0.5, 0.75, 1.0]),
    st.sampled_from(["any", "one"]),
)
def test_rules_and_all_measures_equal_brute_force(baskets, min_count, min_confidence, consequents):
    counts = count_patterns(baskets, min_count)
    result = make_patterns(counts, len(baskets)).rules(min_confidence, consequents=consequents)
    assert rule_counts(result) == expected_rules(counts, min_confidence, consequents == "one")
    assert result.omitted == 0
    columns = {name: result.measure(name).tolist() for name in MEASURES}
    for place, rule in enumerate(result):
        antecedent_count, right = counts[rule.antecedent], counts[rule.consequent]
        true_measures = naive.measures(len(baskets), antecedent_count, right, rule.count)
        assert {name: columns[name][place] for name in MEASURES} == pytest.approx(true_measures, rel=1e-12, abs=1e-15)
        assert (rule.support, rule.confidence, rule.lift) == tuple(
            columns[name][place] for name in ("support", "confidence", "lift")
        )


@given(baskets_of_names)
def test_confidence_falls_then_support(baskets):
    patterns = make_patterns(count_patterns(baskets), len(baskets))
    result = patterns.sort(descending=False).rules(0)
    keys = [(-rule.confidence, -rule.count) for rule in result]
    assert keys == sorted(keys)


@given(baskets_of_names, st.sampled_from([0.0, 0.55, 0.8]))
def test_frame_equals_mlxtend(baskets, min_confidence):
    association_rules = pytest.importorskip("mlxtend.frequent_patterns").association_rules
    patterns = make_patterns(count_patterns(baskets), len(baskets))
    if not len(patterns):
        return
    mine = patterns.rules(min_confidence).to_pandas()
    # A hair lower, because mlxtend divides rounded fractions: 3/7 over 5/7 may fall below 0.6.
    with np.errstate(divide="ignore", invalid="ignore"):
        theirs = association_rules(patterns.to_pandas(), min_threshold=min_confidence - 1e-12)
    assert list(mine.columns) == [*theirs.columns, "cosine", "count", "p", "p_adjusted"]
    order = lambda row: (sorted(row[0]), sorted(row[1]))  # noqa: E731
    ours = sorted(mine[theirs.columns].itertuples(index=False, name=None), key=order)
    their_rows = sorted(theirs.itertuples(index=False, name=None), key=order)
    assert [row[:2] for row in ours] == [row[:2] for row in their_rows]
    for our_row, their_row in zip(ours, their_rows, strict=True):
        assert our_row[2:] == pytest.approx(their_row[2:], rel=1e-9, abs=1e-12)


def test_edges_of_the_measures():
    everybody = {name: float(measure(name, 4, [4], [4], [4])[0]) for name in MEASURES}
    assert everybody == {
        "support": 1, "confidence": 1, "lift": 1, "leverage": 0, "conviction": math.inf, "cosine": 1,
        "jaccard": 1, "kulczynski": 1, "certainty": 0, "zhang": 0,
    }  # fmt: skip
    never_together = {name: float(measure(name, 4, [2], [2], [0])[0]) for name in MEASURES}
    assert never_together == {
        "support": 0, "confidence": 0, "lift": 0, "leverage": -0.25, "conviction": 0.5, "cosine": 0,
        "jaccard": 0, "kulczynski": 0, "certainty": -1, "zhang": -1,
    }  # fmt: skip


def test_leverage_is_exactly_zero_where_the_sides_are_independent():
    assert measure("leverage", 49, [7], [7], [1]).tolist() == [0.0]
    assert measure("zhang", 49, [7], [7], [1]).tolist() == [0.0]


def test_sides_that_are_not_among_the_patterns_are_counted():
    # The only pattern of two items lacks one of its two items: one side is missing in both directions.
    result = make_patterns({frozenset("a"): 5, frozenset("ab"): 3}, 8, labels="ab").rules(0)
    assert (len(result), result.omitted) == (0, 2)
    # A failing confidence is not an omission: a → b fails whatever the count of b.
    assert make_patterns({frozenset("a"): 5, frozenset("ab"): 3}, 8, labels="ab").rules(0.9).omitted == 1


def test_private_counts_are_not_pruned():
    # a,b → c fails with its noisy counts, but a → b,c holds; true counts could not do that.
    counts = {frozenset(items): count for items, count in
              {"a": 4, "b": 9, "c": 9, "ab": 9, "ac": 9, "bc": 9, "abc": 4}.items()}  # fmt: skip
    zero = np.zeros(len(counts))
    private = make_patterns(counts, 10, low=zero, high=zero).rules(0.9)
    assert (frozenset("a"), frozenset("bc")) in rule_counts(private)
    assert (frozenset("a"), frozenset("bc")) not in rule_counts(make_patterns(counts, 10).rules(0.9))


def test_itemsets_nobody_holds_give_no_rules():
    counts = {frozenset("a"): 0, frozenset("b"): 3, frozenset("ab"): 0}
    assert rule_counts(make_patterns(counts, 5).rules(0)) == {}


def test_empty_patterns_give_empty_rules_with_all_columns():
    result = make_patterns({}, 7).rules()
    assert (len(result), list(result), result.people, result.omitted) == (0, [], 7, 0)
    assert result.to_arrow().column_names == [
        "antecedent", "consequent", "count", "antecedent_count", "consequent_count", *MEASURES, "p", "p_adjusted",
    ]  # fmt: skip
    assert len(result.to_pandas().columns) == 18
    assert result.to_polars().shape == (0, 17)


def test_min_lift():
    patterns = make_patterns(count_patterns(BASKETS), 6)
    everything = patterns.rules(0)
    lifts = everything.measure("lift")
    assert rule_counts(patterns.rules(0, min_lift=1.2)) == rule_counts(everything.where(min_lift=1.2))
    assert 0 < np.count_nonzero(lifts >= 1.2) < len(lifts)


def test_where():
    result = make_patterns(count_patterns(BASKETS), 6).rules(0)
    selected = result.where(antecedent="tea", consequent=["milk"], min_count=2, min_confidence=0.5)
    assert rule_counts(selected) == {(frozenset({"tea"}), frozenset({"milk"})): 3}
    assert result.where() is result
    assert list(result.where(lengths=3)) == [rule for rule in result if len(rule.antecedent | rule.consequent) == 3]
    assert len(result.where(lengths=(2, None))) == len(result) > len(result.where(lengths=(3, 9))) > 0
    assert len(result.where(min_conviction=1e9)) == int(np.isinf(result.measure("conviction")).sum())


def test_sort_and_top():
    result = make_patterns(count_patterns(BASKETS), 6).rules(0)
    assert result.sort("lift").measure("lift").tolist() == sorted(result.measure("lift").tolist(), reverse=True)
    assert result.sort("count", descending=False).counts.tolist() == sorted(result.counts.tolist())
    assert result.top(3, by="zhang") == result.sort("zhang")[:3]


def test_indexing_slicing_and_equality():
    result = make_patterns(count_patterns(BASKETS), 6).rules(0)
    everything = list(result)
    assert [result[place] for place in range(len(result))] == everything
    assert result[-1] == everything[-1]
    assert list(result[1:7:2]) == everything[1:7:2]
    assert result[:] == result
    assert result[1:] != result[:-1]
    assert result != everything
    with pytest.raises(IndexError, match=f"^There are {len(result)} rules, numbered from 0; 99 is none of them.$"):
        result[99]


def test_arrow_and_polars():
    result = make_patterns(count_patterns(BASKETS), 6).rules(0.9)
    assert rule_counts(result) == {(frozenset({"jam"}), frozenset({"milk"})): 2, (frozenset({"jam", "tea"}),
                             frozenset({"milk"})): 1}  # fmt: skip
    first_row = result.to_arrow().slice(0, 1).to_pylist()[0]
    assert (first_row["antecedent"], first_row["consequent"]) == (["jam"], ["milk"])
    assert (first_row["count"], first_row["antecedent_count"], first_row["consequent_count"]) == (2, 2, 4)
    assert first_row["lift"] == 1.5
    assert result.to_polars().to_dicts()[0] == first_row


def test_limits_stop_before_memory_is_full():
    patterns = make_patterns(count_patterns([set(range(8))]), 1)
    every = 3**8 - 2 * 2**8 + 1  # each item left, right or outside, less those with an empty side
    assert len(rules(patterns, limit=every)) == every
    with pytest.raises(LimitError) as raised:
        rules(patterns, limit=every - 1)
    assert str(raised.value) == (
        "These patterns give more than 6,049 rules to look at. Raise min_confidence or the support the patterns were "
        "mined with, use consequents='one', or allow more with limit=60_490."
    )
    # The command line has no such option.
    assert raised.value.message.typed.endswith("patterns were mined with, or allow more with --limit 60_490.")
    huge = make_patterns({frozenset(range(60)): 3}, 9)
    with pytest.raises(LimitError) as raised:
        huge.rules(limit=1000)
    assert str(raised.value) == (
        "These patterns give more than 1,000 possible rules, most of which cannot be measured because one side is "
        "not among the patterns. Mine all frequent patterns rather than closed, maximal or top ones, or use "
        "consequents='one'."
    )
    assert raised.value.message.typed.endswith("rather than closed, maximal or top ones.")
    assert huge.rules(consequents="one").omitted == 60


def test_many_patterns_are_searched_in_pieces(monkeypatch):
    patterns = make_patterns(count_patterns([set("abcde"), set("abc"), set("bcd"), set("de")]), 4)
    whole_rules = patterns.rules(0.3)
    monkeypatch.setattr("discreet.results._rule_search._STRIDE", 3)
    assert patterns.rules(0.3) == whole_rules
    assert len(whole_rules) > 10


def test_the_limit_counts_what_lift_refuses():
    patterns = discreet.mine([frozenset(range(14))] * 3 + [frozenset()], min_count=2)
    with pytest.raises(LimitError):
        rules(patterns, 0.5, min_lift=1.5, limit=100_000)
