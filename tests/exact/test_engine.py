"""The engine against plain Python, and the sensitivity of every query by brute force over neighbouring data."""

from __future__ import annotations

from itertools import chain, combinations, product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import discreet
import strategies
from discreet import Baskets, LimitError, MisuseError, Vocabulary
from discreet.baskets import starts
from discreet.checks import MAX_LENGTH
from discreet.exact import (
    PARTS,
    BasketCount,
    BasketsEach,
    Cells,
    ClippedCounts,
    Kth,
    KthClipped,
    Largest,
    LoadHistogram,
    LocalEngine,
    Query,
    Sizes,
    Supports,
    Truncation,
    _engine as engine_module,
    _rows as layout,
    _search as search,
)
from discreet.exact._query import BasketQuery
from discreet.results import Itemsets

ITEMS = 4
SUBSETS = strategies.subsets(ITEMS)
baskets_of = strategies.people(ITEMS, 7)


def column(sets) -> Itemsets:
    rows = [sorted(members) for members in sets]
    return Itemsets(starts([len(row) for row in rows]), np.array(list(chain(*rows)), np.int32))


def engine(people) -> LocalEngine:
    itemsets = column(people)
    return LocalEngine(Baskets(itemsets.offsets, itemsets.codes, Vocabulary(range(ITEMS))))


def counts(people, min_size=1, longest=ITEMS) -> dict[frozenset, int]:
    sets = [subset for subset in SUBSETS if min_size <= len(subset) <= longest]
    return {subset: sum(subset <= basket for basket in people) for subset in sets}


PAIRS = column([chosen_set for chosen_set in SUBSETS if len(chosen_set) == 2])
MIXED = column([chosen_set for chosen_set in SUBSETS if 1 <= len(chosen_set) <= 3])


def queries() -> list[Query]:
    scores = np.arange(len(PAIRS), dtype=np.int64)
    return [
        BasketCount(),
        BasketsEach((1, 2)),
        Sizes(1),
        Sizes(2),
        Sizes(9),
        Supports(PAIRS),
        Supports(MIXED),
        Supports(PAIRS, Truncation(2, 11)),
        Supports(PAIRS, Truncation(3, 12)),
        Supports(MIXED, Truncation(1, 13)),
        Supports(MIXED, Truncation(2, 14)),
        Supports(PAIRS, Truncation(2, 15, PAIRS, scores)),
        Supports(PAIRS, Truncation(3, 16, PAIRS, scores)),
        LoadHistogram(MIXED, (1, 2, 5)),
        *(ClippedCounts(MIXED, total, root) for total in (PARTS, 5 * PARTS // 2) for root in (False, True)),
        *(KthClipped(ClippedCounts(MIXED, PARTS, root), k) for k in (1, 4, 99) for root in (False, True)),
        *(KthClipped(ClippedCounts(Itemsets.singles(ITEMS), 3 * PARTS // 2), k) for k in (1, 2, 4)),
        Cells(((0, 1), (1, 2, 3))),
        Cells(((2,), (0,), (3, 1))),
        *(Kth(k, min_size, longest) for k in (1, 3, 20) for min_size, longest in ((1, 4), (2, 2), (1, 1))),
        *(Kth(k, 3, 4, rank) for k in (1, 3) for rank in (2, 6)),
        *(Largest(size, floor) for size in (1, 2, 4) for floor in (0, 1, 3)),
    ]


@pytest.mark.parametrize("query", queries(), ids=lambda query: type(query).__name__)
def test_one_person_changes_the_answer_by_no_more_than_the_query_says(query):
    # Some baskets added to some two others; what is cut depends on the basket alone.
    databases = list(product(SUBSETS, repeat=2))[::13]
    for people in databases:
        before = engine(people).answer(query)
        assert before.shape == (query.cells,)
        for basket in SUBSETS[::3]:
            change = engine([*people, basket]).answer(query) - before
            assert (change >= 0).all()
            assert change.sum() <= query.sensitivity().l1
            assert (change**2).sum() <= query.sensitivity().squared_l2


@pytest.mark.parametrize("query", queries(), ids=lambda query: type(query).__name__)
def test_one_basket_in_place_of_another_changes_the_answer_by_no_more_than_the_query_says(query):
    furthest = 0
    for people in list(product(SUBSETS, repeat=2))[::23]:
        answers = [engine([*people, basket]).answer(query) for basket in SUBSETS]
        for answer, other_answer in combinations(answers, 2):
            change = np.abs(answer - other_answer)
            sensitivity = query.sensitivity()
            assert change.max() <= sensitivity.linf
            assert change.sum() <= sensitivity.l1_replace <= 2 * sensitivity.l1
            assert (change**2).sum() <= sensitivity.squared_l2_replace <= 2 * sensitivity.squared_l2
            furthest = max(furthest, int(change.sum()))
    if isinstance(query, Sizes | LoadHistogram | Cells) or (isinstance(query, Supports) and query.truncation is None):
        assert furthest == query.sensitivity().l1_replace  # no noise is wasted


@given(people=baskets_of, k=st.integers(1, 17), min_size=st.integers(1, 3), further_sizes=st.integers(0, 2))
def test_the_kth_count_runs_over_all_itemsets(people, k, min_size, further_sizes):
    longest = min(min_size + further_sizes, ITEMS)
    falling = sorted(counts(people, min_size, longest).values(), reverse=True)
    expected = falling[k - 1] if k <= len(falling) else 0
    assert engine(people).answer(Kth(k, min_size, longest)).tolist() == [expected]


@given(people=baskets_of, k=st.integers(1, 4), rank=st.integers(1, 12))
def test_nor_is_it_less_than_a_count_of_shorter_itemsets(people, k, rank):
    falling = sorted(counts(people, 3, 4).values(), reverse=True)
    shorter = sorted(counts(people, 1, 4).values(), reverse=True)
    expected = max(falling[k - 1], shorter[max(rank, k - 1)])
    assert engine(people).answer(Kth(k, 3, 4, rank)).tolist() == [expected]


@given(people=baskets_of, k=st.integers(1, 9), total=st.integers(PARTS, 3 * PARTS), root=st.booleans())
def test_the_kth_clipped_count_is_one_of_the_clipped_counts(people, k, total, root):
    for sets in (MIXED, Itemsets.singles(ITEMS)):
        clipped_query = ClippedCounts(sets, total, root)
        falling = sorted(engine(people).answer(clipped_query).tolist(), reverse=True)
        expected = falling[k - 1] if k <= len(falling) else 0
        assert engine(people).answer(KthClipped(clipped_query, k)).tolist() == [expected]


@given(people=baskets_of, size=st.integers(1, 5), floor=st.integers(0, 4))
def test_the_largest_count_of_a_size(people, size, floor):
    size_counts = [count for itemset, count in counts(people).items() if len(itemset) == size]
    assert engine(people).answer(Largest(size, floor)).tolist() == [max([*size_counts, floor])]


@given(people=baskets_of, bound=st.integers(-1, 5), limit=st.integers(1, 20), min_size=st.integers(1, 2))
def test_what_is_listed_is_exactly_what_lies_above_the_raised_bound(people, bound, limit, min_size):
    true_counts = counts(people, min_size)
    falling = sorted(true_counts.values(), reverse=True)
    raised = max(bound, 0, falling[limit] if limit < len(falling) else 0)
    listed_itemsets = engine(people).above(bound, min_size, ITEMS, limit)
    assert listed_itemsets.bound == raised
    expected = {itemset: count for itemset, count in true_counts.items() if count > raised}
    found_counts = dict(
        zip(listed_itemsets.itemsets.sets(Vocabulary(range(ITEMS))), listed_itemsets.counts.tolist(), strict=True)
    )
    assert found_counts == expected
    assert len(found_counts) <= limit


@given(people=baskets_of, bound=st.integers(0, 4), limit=st.integers(1, 6), looked_at=st.integers(1, 12))
def test_what_is_listed_of_long_itemsets_only(people, bound, limit, looked_at):
    true_counts, shorter = counts(people, 3), sorted(counts(people).values(), reverse=True)
    falling = sorted(true_counts.values(), reverse=True)
    raised = max(bound, falling[limit] if limit < len(falling) else 0, shorter[max(looked_at, limit)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine_module, "MAX_RANKED", looked_at)
        listed_itemsets = engine(people).above(bound, 3, ITEMS, limit)
    assert listed_itemsets.bound == raised
    found_counts = dict(
        zip(listed_itemsets.itemsets.sets(Vocabulary(range(ITEMS))), listed_itemsets.counts.tolist(), strict=True)
    )
    assert found_counts == {itemset: count for itemset, count in true_counts.items() if count > raised}


@given(people=baskets_of)
def test_sizes_supports_and_cells(people):
    local_engine = engine(people)
    assert local_engine.answer(BasketCount()).tolist() == [len(people)]
    sizes = [min(len(basket), 2) for basket in people]
    assert local_engine.answer(Sizes(2)).tolist() == [sizes.count(0), sizes.count(1), sizes.count(2)]
    true_counts = counts(people, 2, 2)
    assert local_engine.answer(Supports(PAIRS)).tolist() == [
        true_counts[subset] for subset in SUBSETS if len(subset) == 2
    ]
    cells = local_engine.answer(Cells(((3, 0), (2,)))).tolist()
    cells_held = [(3 in basket) + 2 * (0 in basket) for basket in people]
    assert cells[:4] == [cells_held.count(mask) for mask in range(4)]
    assert cells[5] == sum(2 in basket for basket in people)


def test_truncation_looks_at_one_basket_at_a_time():
    truncation = Truncation(2, 99)
    people = [frozenset({0, 1, 2, 3}), frozenset({0, 1, 3}), frozenset({1, 2})]
    separate_sum = sum(engine([basket]).answer(Supports(MIXED, truncation)) for basket in people)
    assert engine(people).answer(Supports(MIXED, truncation)).tolist() == separate_sum.tolist()
    assert engine(people[::-1]).answer(Supports(MIXED, truncation)).tolist() == separate_sum.tolist()


many_people = strategies.people(ITEMS, 140, 60)


@settings(max_examples=25)
@given(people=many_people, order=st.permutations(range(len(queries()))))
def test_answers_do_not_depend_on_what_was_asked_before(people, order):
    asked_queries = queries()
    fresh_engine = engine(people)
    for place in order:
        assert (
            fresh_engine.answer(asked_queries[place]).tolist() == engine(people).answer(asked_queries[place]).tolist()
        )


@pytest.mark.parametrize("query", queries(), ids=lambda query: type(query).__name__)
def test_answers_are_the_same_where_columns_do_not_fit(query, monkeypatch):
    generator = np.random.default_rng(6)
    people = [SUBSETS[place] for place in generator.integers(0, len(SUBSETS), 200)]
    before = engine(people).answer(query)
    monkeypatch.setattr(layout, "_MAX_MEMORY_FACTOR", 0)
    monkeypatch.setattr(layout, "_FREE_BYTES", -1)
    assert engine(people).answer(query).tolist() == before.tolist()


@given(strategies.baskets(9, 40), st.lists(st.integers(0, 35), min_size=11, max_size=40))
def test_many_pairs_are_counted_at_once(people, pair_places):
    pairs = [frozenset(pair) for pair in combinations(range(9), 2)]
    sets, baskets = column([pairs[place] for place in pair_places]), column(people)
    counts_by_call = []
    kernel = search.counting.count_pairs
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "_MAX_WORDS_PER_CODE", -1)
        patch.setattr(search.counting, "count_pairs", lambda *given: (counts_by_call.append(given), kernel(*given)))
        total = LocalEngine(Baskets(baskets.offsets, baskets.codes, Vocabulary(range(9)))).total(Supports(sets))
    assert total.tolist() == [sum(pairs[place] <= basket for basket in people) for place in pair_places]
    assert counts_by_call or not all(any(code in basket for basket in people) for code in range(9))


@pytest.mark.parametrize("longest", [1, 2, 3, 4])
def test_candidates_in_cut_baskets_are_counted_as_in_rows_that_were_cut(longest):
    generator = np.random.default_rng(8)
    people = [SUBSETS[place] for place in generator.integers(0, len(SUBSETS), 300)]
    scores = np.array([5, 1, 4, 4, 0, 2])
    truncation = Truncation(longest, 77, PAIRS, scores)
    local_engine = engine(people)
    cut_engine = local_engine.cut(truncation)
    assert local_engine.answer(Supports(PAIRS, truncation)).tolist() == cut_engine.answer(Supports(PAIRS)).tolist()
    # Other itemsets than the candidates are counted in the rows themselves.
    assert local_engine.answer(Supports(MIXED, truncation)).tolist() == cut_engine.answer(Supports(MIXED)).tolist()


@given(people=many_people, k=st.integers(1, 17), min_size=st.integers(1, 2))
def test_the_few_most_frequent_items_give_a_start(people, k, min_size):
    falling = sorted(counts(people, min_size).values(), reverse=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "_FIRST_ITEMS", 2)
        patch.setattr(search, "_MAX_FIRST_ITEMS", 2)
        answer = engine(people).answer(Kth(k, min_size, ITEMS))
    assert answer.tolist() == [falling[k - 1] if k <= len(falling) else 0]


@pytest.mark.parametrize("kind", [str, int])
def test_a_new_item_does_not_change_what_others_keep(kind):
    # Its label comes first, so every other item gets another code.
    names = [f"b{number}" for number in range(30)] if kind is str else list(range(100, 130))
    people = [{names[(3 * person + step * step) % 30] for step in range(9)} for person in range(60)]
    new_item = "a" if kind is str else 1

    def count_kept(baskets) -> dict:
        read_baskets = discreet.read(baskets)
        every = Itemsets(np.arange(read_baskets.items + 1), np.arange(read_baskets.items, dtype=np.int32))
        counts = LocalEngine(read_baskets).answer(Supports(every, Truncation(3, 12345)))
        return dict(zip(read_baskets.vocabulary, counts.tolist(), strict=True))

    before, after = count_kept(people), count_kept([*people, {new_item}])
    assert after.pop(new_item) == 1
    assert after == before


class TestMoreTiesThanCouldBeListed:
    """A basket of thousands of items has more subsets than any memory holds, and nearly all of them are tied."""

    def build_engine(self, *baskets) -> LocalEngine:
        return LocalEngine(discreet.read([set(basket) for basket in baskets]))

    @pytest.mark.parametrize("copies", [1, 2, 3])
    def test_the_count_of_a_rank(self, copies):
        crowd = self.build_engine(*[range(20_000)] * copies)
        for min_size, longest in ((1, 6), (12, 12), (1, MAX_LENGTH), (3, 3)):
            assert crowd.answer(Kth(100_000, min_size, longest)).tolist() == [copies]

    def test_what_lies_above(self):
        engine_of_ranges = self.build_engine(range(5_000), range(2_500, 7_500), [7, 8])
        for limit in (1, 4096, 1_000_000):
            listed_itemsets = engine_of_ranges.above(0, 2, 5, limit)
            assert (listed_itemsets.bound, len(listed_itemsets.counts)) == (2, 0)
        assert engine_of_ranges.above(1, 1, 1, 10_000).counts.tolist() == [2] * 2_502
        assert engine_of_ranges.answer(Largest(3, 1)).tolist() == [2]
        assert engine_of_ranges.answer(Largest(5_001, 1)).tolist() == [2]  # no less than the count of so high a rank

    def test_people_who_are_nearly_alike(self):
        # The patterns of twelve items have more parts than can be looked at: what is not is not told apart.
        generator = np.random.default_rng(5)
        dense_engine = self.build_engine(*(np.flatnonzero(generator.random(200) < 0.9).tolist() for _ in range(64)))
        kth = int(dense_engine.answer(Kth(100, 12, 12, 1_000))[0])
        assert kth == dense_engine.answer(Kth(1_001, 1, 12))[0]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(engine_module, "MAX_RANKED", 1_000)
            listed_itemsets = dense_engine.above(0, 12, 12, 100)
        assert (listed_itemsets.bound, len(listed_itemsets.counts)) == (kth, 0)


def test_too_much_to_mine_is_said_without_a_number(monkeypatch):
    # So many codes that ascend would take 8 GiB.
    monkeypatch.setattr("discreet.baskets._core._check_sets", lambda *_: None)
    offsets = np.array([0, np.iinfo(np.int32).max], np.int64)
    codes = np.broadcast_to(np.int32(0), offsets[-1])
    baskets = Baskets(np.array([0, 1]), np.zeros(1, np.int32), Vocabulary(range(1)))
    object.__setattr__(baskets, "offsets", offsets)  # so many codes would take gigabytes
    object.__setattr__(baskets, "codes", codes)
    with pytest.raises(LimitError) as caught:
        LocalEngine(baskets)
    assert str(caught.value) == (
        "These baskets hold more items in all than can be mined at once: cap them with max_items=."
    )


class Unknown(BasketQuery):
    cells = 1
    l1_sensitivity = 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Sizes(0), "The longest size to tell apart is at least 1; 0 was given."),
        (lambda: Truncation(0, 1), "A basket is cut to at least 1 item; 0 was given."),
        (lambda: Cells(((),)), "A basis is 1 to 16 different items."),
        (lambda: Cells(((1, 1),)), "A basis is 1 to 16 different items."),
        (lambda: engine([]).answer(Unknown()), "This engine cannot answer Unknown."),
    ],
)
def test_misuse(make, message):
    with pytest.raises(MisuseError) as caught:
        make()
    assert str(caught.value) == message
