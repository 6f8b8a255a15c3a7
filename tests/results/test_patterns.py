from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from discreet.baskets import Vocabulary
from discreet.results import Patterns
from discreet.results._patterns import Pattern
from naive.rules import count_patterns, make_patterns

BASKETS = [{"tea", "milk"}, {"tea", "milk", "jam"}, {"tea"}, {"milk", "jam"}, set(), {"tea", "milk"}]
COUNTS = count_patterns(BASKETS)

count_tables = st.one_of(
    st.dictionaries(st.frozensets(st.sampled_from("abcdef"), max_size=4), st.integers(0, 50), max_size=20),
    st.dictionaries(st.frozensets(st.integers(-5, 5), max_size=4), st.integers(0, 50), max_size=20),
)


def patterns(**bounds):
    return make_patterns(COUNTS, len(BASKETS), **bounds)


@given(count_tables)
def test_patterns_are_a_sequence_of_what_was_counted(counts):
    result = make_patterns(counts, 50)
    everything = list(result)
    assert {pattern.items: pattern.count for pattern in everything} == counts == result.to_dict()
    assert len(result) == len(counts)
    assert [result[place] for place in range(len(result))] == everything
    assert [result[place - len(result)] for place in range(len(result))] == everything
    for selection in (slice(2, 5), slice(None, None, -1), slice(7, 3), slice(1, None, 2), slice(-3, None)):
        assert list(result[selection]) == everything[selection]
    assert all(pattern.support == pattern.count / 50 for pattern in everything)
    assert result.sizes.tolist() == [len(pattern.items) for pattern in everything]


@given(count_tables, count_tables)
def test_count_of_looks_up_every_itemset(counts, other_itemsets):
    result = make_patterns(counts, 50)
    for itemset in counts:
        assert result.count_of(itemset) == counts[itemset]
        assert set(itemset) in result
    names = {type(item) for itemset in counts for item in itemset} or {int}
    for itemset in other_itemsets:
        if {type(item) for item in itemset} <= names:
            assert result.count_of(itemset) == counts.get(itemset)


@given(count_tables, st.integers(1, 2), st.integers(2, 4), st.integers(0, 50))
def test_where_equals_a_plain_filter(counts, min_size, max_size, min_count):
    result = make_patterns(counts, 50)
    selected = result.where(lengths=(min_size, max_size), min_count=min_count)
    assert list(selected) == [
        pattern for pattern in result if min_size <= len(pattern.items) <= max_size and pattern.count >= min_count
    ]
    for item in list(result.vocabulary)[:2]:
        assert list(result.where(contains=item)) == [pattern for pattern in result if item in pattern.items]
        assert list(result.where(excludes=[item])) == [pattern for pattern in result if item not in pattern.items]
    first_items = list(result.vocabulary)[:2]
    if first_items:
        assert list(result.where(contains=first_items)) == [
            pattern for pattern in result if set(first_items) <= pattern.items
        ]


def test_where_by_support_and_one_length():
    assert patterns().where(lengths=1, min_support=0.5).to_dict() == {
        frozenset({"tea"}): 4,
        frozenset({"milk"}): 4,
    }
    assert patterns().where(min_support=0.51).to_dict() == {frozenset({"tea"}): 4, frozenset({"milk"}): 4}
    assert patterns().where(lengths=(2, None)) == patterns().where(lengths=(2, 3)) != patterns().where(lengths=2)
    everything = patterns()
    assert everything.where() is everything.where(excludes=[], contains=set()) is everything


def test_sort_keeps_the_order_of_equals():
    by_size = patterns().sort("size", descending=False)
    assert by_size.sizes.tolist() == sorted(patterns().sizes.tolist())
    assert by_size.where(lengths=2) == patterns().where(lengths=2)
    assert by_size.sort() != patterns().sort("size")


def test_top_takes_the_largest_counts_of_any_order():
    assert patterns().sort("size").top(3).counts.tolist() == [4, 4, 3]
    assert len(patterns().top(1000)) == len(COUNTS)


def test_equality_is_about_labels():
    assert patterns() == make_patterns(COUNTS, 6, labels=["aniseed", "jam", "milk", "tea", "zest"])
    assert patterns() != make_patterns(COUNTS, 7)
    assert patterns() != make_patterns(COUNTS | {frozenset({"tea"}): 5}, 6)
    assert patterns() != patterns()[:-1]
    assert patterns() != COUNTS
    name_patterns, number_patterns = (make_patterns({frozenset({item}): 3}, 5) for item in (1, "1"))
    assert name_patterns != number_patterns
    assert make_patterns({frozenset({"a"}): 3}, 5) != make_patterns({frozenset({"b"}): 3}, 5)
    assert make_patterns({frozenset(): 3}, 5, labels=["a"]) == make_patterns({frozenset(): 3}, 5, labels=[1])


def test_labels_numbered_in_another_order_are_still_equal():
    patterns = make_patterns({frozenset({"a", "b"}): 3}, 5)
    reordered = Patterns(
        offsets=np.array([0, 2]), codes=np.array([0, 1], np.int32), counts=np.array([3]),
        vocabulary=Vocabulary(["b", "a"]), people=5,
    )  # fmt: skip
    assert patterns == reordered


def test_bounds_travel():
    low, high = np.arange(len(COUNTS)) - 0.5, np.arange(len(COUNTS)) + 0.5
    result = patterns(low=low, high=high)
    assert result != patterns()
    assert result[2] == Pattern(result[2].items, result[2].count, result[2].support, 1.5, 2.5)
    assert result[1:3].low.tolist() == [0.5, 1.5]
    assert result.where(contains="jam").high.tolist() == [
        place + 0.5 for place, pattern in enumerate(result) if "jam" in pattern.items
    ]
    assert result.to_arrow().column_names == ["items", "count", "support", "low", "high", "support_low", "support_high"]
    assert list(result.to_pandas().columns) == [
        "support", "itemsets", "count", "low", "high", "support_low", "support_high",
    ]  # fmt: skip


def test_arrow_of_names_and_numbers():
    import pyarrow as pa

    table = patterns().to_arrow()
    assert table.column_names == ["items", "count", "support"]
    assert table["items"].type == pa.large_list(pa.large_string())
    assert {frozenset(row["items"]): row["count"] for row in table.to_pylist()} == COUNTS
    assert make_patterns({frozenset({3, 1}): 2}, 4).to_arrow().to_pylist() == [
        {"items": [1, 3], "count": 2, "support": 0.5}
    ]


def test_polars():
    assert patterns().to_polars().to_dicts() == patterns().to_arrow().to_pylist()


def test_pandas_is_what_mlxtend_makes():
    frame = patterns().to_pandas()
    assert list(frame.columns) == ["support", "itemsets", "count"]
    assert dict(zip(frame["itemsets"], frame["count"], strict=True)) == COUNTS
    assert frame["support"].tolist() == patterns().supports.tolist()


def test_no_people_no_division():
    assert make_patterns({frozenset({"a"}): 0}, 0).supports.tolist() == [0.0]
