"""The audit of protocols about relations: what devices have beside their baskets is tried in every way."""

# internals: this module plants a biased answer in the code of devices.
from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from discreet.auditing import Holding, _local_talk as local_talk, audit, crowd
from discreet.auditing._holdings import build_baskets, list_small_holdings
from discreet.auditing._local import DEVICE, case_of, countable, spread
from discreet.local.device import WORD, _answering as answering
from discreet.local.oracle_steps import means, oracles
from discreet.local.study import (
    Ask,
    CandidateQuestion,
    KeyQuestion,
    PeopleGroup,
    Projection,
    RelationItems,
    Relations,
    SizeQuestion,
)
from discreet.registry import protocol
from naive import relations as naive

EVERYONE, UNIT_EPSILON = PeopleGroup(0, WORD), Fraction(1)
FEW_ITEMS = {"items": 3, "rounds": 2, "fresh": 2}
SLOW = pytest.mark.slow  # seconds each, for what the others differ in but one by one
SETTINGS = [
    ("pairs", {"how": "after", "items": 3}),
    ("pairs", {"how": "given", "items": 3, "finder": "svim"}),
    ("pckv", {"how": "after", "items": 3, "keys": "first", "oracle": "pckv-ue"}),
    ("pckv", {"how": "given", "items": 3, "keys": "relation", "oracle": "pckv-ue"}),
    pytest.param("pckv", {"how": "given", "items": 3, "keys": "first", "oracle": "grr"}, marks=SLOW),
    pytest.param("pckv", {"items": 3, "keys": "first"}, marks=SLOW),
    ("relations", {"cascade": 2, **FEW_ITEMS}),
    ("relations", {"how": "after", "form": "printed", **FEW_ITEMS}),
    pytest.param("relations", {"how": "after", "cascade": 2, **FEW_ITEMS}, marks=SLOW),
    ("relations", {"how": "given", "cascade": 2, **FEW_ITEMS}),
    pytest.param("relations-full", {"how": "after", "items": 3}, marks=SLOW),
    ("relations-full", {"how": "given", "items": 3}),
]


@pytest.mark.parametrize(("name", "settings"), SETTINGS, ids=range(len(SETTINGS)))
def test_every_kind_of_question_stands(name, settings):
    verdict = audit(name, epsilon=1, runs=50, settings=settings)
    assert verdict.stands, verdict
    assert [attempt.means for attempt in verdict.attempts] == ["coupled", "exact", "statistical"]
    assert verdict.attempts[1].loss == pytest.approx(1)


@pytest.mark.parametrize("pair_kind", ["after", "given"])
def test_own_pairs_are_among_what_is_enumerated(pair_kind):
    _, cases = local_talk.coupled(protocol("pairs", {"how": pair_kind, "items": 3}), UNIT_EPSILON, 1)
    relation_cases = [case for case in cases if "relations" in case.question]
    assert {case.question.split("'")[1] for case in relation_cases} == {"how many relations", "which relations"}
    assert all(any(" → " in basket for basket in case.baskets) for case in relation_cases)
    assert all(len(case.baskets) > 4 for case in relation_cases)


def asks_of(pair_kind):
    items = RelationItems((0, 1, 2), pair_kind, ((0, 1), (1, 2)))
    pairs = Relations(items, ((0, 1), (1, 0), (2, 1)))
    chains = Relations(items, ((0, 1), (0, 1, 2), (1, 2, 0)))
    number = Projection(items=items, left=(3, 1, -2, 5, 1), right=(1, 4, 1, -3, 2), low=-20, high=30)
    return [
        Ask.of("", EVERYONE, CandidateQuestion(chains), "grr", UNIT_EPSILON, pad=2),
        Ask.of("", EVERYONE, SizeQuestion(chains, (0, 1, 3)), "grr", UNIT_EPSILON),
        Ask.of("", EVERYONE, KeyQuestion(pairs, absent=True), "pckv-ue", UNIT_EPSILON, pad=2),
        Ask.of("", EVERYONE, KeyQuestion(pairs), "grr", UNIT_EPSILON),
        *(Ask.mean("", EVERYONE, number, name, UNIT_EPSILON) for name in means()),
    ]


@pytest.mark.parametrize("pair_kind", ["together", "after", "given"])
def test_the_law_of_every_question_about_relations(pair_kind):
    """Bonds, absent keys, counts and numbers: no report is likelier by more than e for one holding than for another."""
    for ask in asks_of(pair_kind):
        case = case_of(ask, list_small_holdings(3), UNIT_EPSILON)
        assert len(case.baskets) > 1
        assert 0 < case.loss().epsilon <= 1


def test_many_keys_are_audited_as_the_first_and_the_last():
    items = RelationItems((0, 1, 2, 3), "given")
    pairs = Relations(items, ((0, 1), (1, 2), (2, 3), (3, 0)))
    ask = Ask.of("", EVERYONE, KeyQuestion(pairs, absent=True), "pckv-ue", UNIT_EPSILON)
    people = [Holding(), Holding((0, 1, 3)), Holding((3,), given=((0, 1), (3, 0))), Holding((1, 2), given=((1, 2),))]
    case = case_of(ask, people, UNIT_EPSILON)
    assert case.oracle.size == 4
    assert case.baskets == {
        "nothing and no pairs": (),
        "{0, 1, 3} and no pairs": (0, 2),
        "{3} and 0 → 1, 3 → 0": (1, 3),
    }


def test_a_device_that_takes_the_wrong_pairs_is_found(monkeypatch):
    right = DEVICE.client

    def swapped(form, basket, *, given, after, **options):
        return right(form, basket, given=after, after=given, **options)

    monkeypatch.setattr(DEVICE, "client", swapped)
    attempt = audit("pairs", epsilon=1, runs=50, settings={"how": "after", "items": 3}).attempts[0]
    assert not attempt.stands
    assert attempt.why.startswith("In the round 'how many relations', a device that holds ")
    assert attempt.why.endswith(" sends another report than the simulation says.")


def test_questions_with_very_many_reports_are_left_to_smaller_ones():
    make = {name: kind.make for name, kind in oracles().items()}
    assert countable(make["privset"](UNIT_EPSILON, 6, pad=3))
    assert not countable(make["privset"](UNIT_EPSILON, 20, pad=3))
    assert not countable(make["oue"](UNIT_EPSILON, 20))
    assert countable(make["pckv-ue"](UNIT_EPSILON, 800, pad=30))
    assert countable(make["grr"](UNIT_EPSILON, 20, pad=17))
    assert countable(means()["hm"].make(UNIT_EPSILON))


def test_of_many_numbers_the_outermost_are_compared():
    assert spread([(3,), (-7,), (9,)]) == [(-7,), (3,), (9,)]
    assert spread([(number,) for number in range(101)]) == [(0,), (25,), (50,), (75,), (100,)]


class TestHoldings:
    def test_what_comes_after(self):
        for person in (*list_small_holdings(4), *crowd(9, 50, 1)):
            assert set(person.after) == naive.after(person.events)

    def test_small_ones_have_all_kinds_of_pairs(self):
        people = list_small_holdings(3)
        for form in ({"pairs": "given"}, {"pairs": "after"}):
            pair_sets = {person.question_pairs(form) for person in people if person.items == (0, 1, 2)}
            assert {len(pairs) for pairs in pair_sets} >= {0, 3, 6}
            assert {person.question_pairs(form) for person in people if not person.items} >= {(), ((1, 0),)}
        assert all(person.question_pairs({}) == () for person in people)
        assert people[-1].render({"pairs": "given"}) == "{1000000} and 1000000 → 0, 0 → 1000000"

    def test_a_crowd_holds_as_data_what_it_holds(self):
        rows = crowd(8, 40, 3)
        assert (rows[0], rows[-1].items) == (Holding(), tuple(range(7)))
        baskets = build_baskets(rows, 8)
        for values, offsets, expected_rows in (
            (baskets.codes, baskets.offsets, [row.items for row in rows]),
            (baskets.sequences.codes, baskets.sequences.offsets, [row.events for row in rows]),
            (baskets.pairs.first, baskets.pairs.offsets, [[before for before, _ in row.given] for row in rows]),
            (baskets.pairs.second, baskets.pairs.offsets, [[after for _, after in row.given] for row in rows]),
        ):
            assert [values[a:b].tolist() for a, b in pairwise(offsets)] == [list(row) for row in expected_rows]
        people = np.arange(len(rows))
        for pair_kind in answering.OWN:
            question = CandidateQuestion(Relations(RelationItems((0, 1, 5), pair_kind), ((0, 1), (5, 0), (1, 5))))
            offsets, values = question.answers(baskets, people)
            answers = [values[a:b].tolist() for a, b in pairwise(offsets)]
            assert answers == [row.values(question.form()) for row in rows]
