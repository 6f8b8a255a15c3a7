"""The battery: what it holds, and how it is told."""

from __future__ import annotations

import pytest

from discreet import MisuseError
from discreet.auditing._neighbours import (
    AuditQuestion,
    NeighbourPair,
    build_baskets,
    generate_pairs,
    list_questions,
    list_small_cases,
)
from discreet.curator.mechanisms.count import Count
from discreet.curator.mechanisms.exponential import Exponential
from discreet.privacy import Budget, Neighbours

ADD_REMOVE, REPLACED = Neighbours.ADD_REMOVE, Neighbours.REPLACE


def test_a_pair_is_told_in_words():
    assert str(NeighbourPair(rows=(), more=(0, 2))) == "nobody else; with and without one person who holds {0, 2}"
    rows = (((0,), 1000), ((1, 2), 4))
    assert str(NeighbourPair(rows=rows, more=())) == (
        "1,000 × {0}, 4 × {1, 2}; with and without one person who holds {}"
    )
    assert str(NeighbourPair(rows=rows, more=(0,), instead=tuple(range(8)))) == (
        "1,000 × {0}, 4 × {1, 2}; one person who holds {0, 1 … 7} (8 items), or {0} instead"
    )


@pytest.mark.parametrize("neighbours", Neighbours)
def test_pairs_differ_in_one_person(neighbours):
    question = AuditQuestion(items=3, words={"min_count": 20})
    rows_seen = set()
    for pair in generate_pairs(question, neighbours, 1):
        before, after = pair.databases
        assert len(build_baskets(after, 3)) - len(build_baskets(before, 3)) == (neighbours is ADD_REMOVE)
        assert before != after
        assert max((item for row, _ in (*before, *after) for item in row), default=0) < 3
        rows_seen.add((before, after))
    assert (() in {before for before, _ in rows_seen}) == (neighbours is ADD_REMOVE)
    assert (((2,), 1), ((0,), 300)) in {after for _, after in rows_seen}


def test_counts_around_thresholds_are_there():
    question = AuditQuestion(items=3, words={"min_count": 100})
    assert question.marks == [1, 2, 5, 100]
    counts = {times for pair in generate_pairs(question, ADD_REMOVE, 1) for _, times in pair.rows}
    assert {4, 5, 99, 100} <= counts


def test_the_questions_share_all_small_databases():
    list_of_questions = list_questions(Exponential(), Budget.of(1))
    for items in (1, 2, 3):
        of_these = [question for question in list_of_questions if question.items == items]
        met = {pair.databases for question in of_these for pair in generate_pairs(question, ADD_REMOVE, 1)}
        for rows, changes in list_small_cases(items, ADD_REMOVE):
            for changed_rows in changes:
                assert NeighbourPair(rows=rows, more=changed_rows).databases in met


def test_questions_without_a_list_need_a_delta():
    assert all(question.listed for question in list_questions(Exponential(), Budget.of(1)))
    loose = [question for question in list_questions(Exponential(), Budget.of(1, "1e-6")) if not question.listed]
    assert str(loose[0]) == "top=3, lengths=(1, 2) over 3 items that are not listed"
    assert all("itemsets" in question.words for question in list_questions(Count(), Budget.of(1)))


def test_the_items_of_the_data_are_those_up_to_the_last_one_held():
    question = AuditQuestion(items=4, words={"top": 1}, listed=False)
    job = question.case(Exponential(), Budget.of(1, "1e-6"), ADD_REMOVE, (((0, 2), 1),))
    assert list(job.baskets.vocabulary) == ["0", "1", "2"]
    assert job.selects_items


def test_backwards_a_new_item_comes_before_all_others():
    loose = list_questions(Exponential(), Budget.of(1, "1e-6"))
    question = next(question for question in loose if question.backwards)
    assert str(question) == "top=3, lengths=1 over 12 items that are not listed, the last one first"
    jobs = [
        question.case(Exponential(), Budget.of(1, "1e-6"), ADD_REMOVE, database)
        for database in ((((0, 2), 1),), (((11,), 1), ((0, 2), 1)))
    ]
    assert [list(job.baskets.vocabulary) for job in jobs] == [
        ["10", "11", "9"],
        sorted(map(str, range(12))),
    ]
    assert [[set(row) for row in job.baskets] for job in jobs] == [[{"9", "11"}], [{"0"}, {"9", "11"}]]
    # Others hold more items than may take part where items are found, and the person who differs a new one.
    rows = {(pair.rows, pair.more) for pair in generate_pairs(question, ADD_REMOVE, 1)}
    assert ((tuple(range(11)), 300),) in {common_rows for common_rows, changed_row in rows if changed_row == (11,)}


def test_one_name_among_numbers_makes_names_of_all():
    loose = list_questions(Exponential(), Budget.of(1, "1e-6"))
    question = next(question for question in loose if question.mixed)
    assert str(question) == "top=3, lengths=(1, 2) over 4 items that are not listed, the last one a name"
    before, after = ((((0, 2), 1),), (((3,), 1), ((0, 2), 1)))
    assert [list(question._data(database).vocabulary) for database in (before, after)] == [
        [0, 1, 2],
        ["0", "1", "2", "tea"],
    ]
    rows = {(pair.rows, pair.more) for pair in generate_pairs(question, ADD_REMOVE, 1)}
    assert ((((0, 1, 2), 300),), (3,)) in rows


def test_baskets_with_more_subsets_than_could_be_listed():
    crowded_questions = [question for question in list_questions(Exponential(), Budget.of(1)) if question.items > 12]
    assert [question.words for question in crowded_questions] == [{"top": 3, "lengths": 12}]
    met = list(generate_pairs(crowded_questions[0], ADD_REMOVE, 1))
    assert str(met[1]) == "1 × {0, 1 … 39} (40 items); with and without one person who holds {0, 1 … 39} (40 items)"
    assert {len(pair.rows) for pair in met} == {0, 1, 3}


def test_a_question_that_is_refused_is_refused_by_its_own_error():
    with pytest.raises(MisuseError, match="top is 5, but 1 item has only 1 itemset of 1 item"):
        AuditQuestion(items=1, words={"top": 5, "lengths": 1}).case(Exponential(), Budget.of(1), ADD_REMOVE, ())
