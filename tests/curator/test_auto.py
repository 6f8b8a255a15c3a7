"""`auto`: what it chooses and why, and that it answers everything."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import discreet
from discreet import MisuseError
from discreet.baskets.generate import groceries
from discreet.catalogue import mechanism
from discreet.curator import auto
from discreet.curator.auto import Auto
from discreet.curator.mechanism import Asked
from discreet.lab.trial import trial
from discreet.privacy.budget import Budget, Neighbours
from discreet.privacy.meter import Meter
from discreet.privacy.source import SimulationSource

ADD = Neighbours.ADD_REMOVE
SHOP = groceries(500, seed=3)
DENSE = [{0, 1, 2, 3, 4}] * 900 + [{0, 1, 2}] * 500 + [{3, 4, 5}] * 300
ASKED = Asked(top=100, least=1, longest=4, items=1_000, people=100_000)
QUESTIONS = [
    {"top": 12},
    {"top": 12, "counts": False},
    {"top": 5, "lengths": 1},
    {"top": 40, "lengths": 1},
    {"top": 8, "lengths": 2},
    {"top": 8, "lengths": (2, 3), "counts": False},
    {"top": 3, "lengths": 13},
    {"min_count": 60},
    {"min_support": "0.1", "counts": False},
    {"min_count": 60, "lengths": 1},
    {"min_count": 60, "lengths": (2, 3)},
    {"min_count": 2, "lengths": 13},
    {"top": 6, "contains": ["whole milk"]},
    {"min_count": 20, "excludes": ["whole milk"]},
]


def tried(held, seed=1, **question):
    return trial(held, seed=seed, mechanism="auto", **({"epsilon": 1, "items": "public"} | question))


@pytest.mark.parametrize("question", QUESTIONS, ids=str)
def test_every_question_is_answered_as_it_was_put(question):
    for seed, (epsilon, delta) in enumerate([("0.05", 0), (1, 0), (8, 0), (1, "1e-6")]):
        made = tried(SHOP, seed=seed, epsilon=epsilon, delta=delta, **question)
        chosen = made.facts["mechanism chosen"]
        assert chosen in ("privbasis", "exponential", "truncated", "truncated-items")
        assert made.notes[0].startswith(f"{chosen} was chosen: ")
        assert made.citations == (mechanism(chosen).citation, mechanism("auto").citation)
        assert len(made.patterns) <= question.get("top", len(made.patterns))
        assert made.patterns.counted is question.get("counts", True)
        lengths = question.get("lengths", (1, 99))
        least, most = lengths if isinstance(lengths, tuple) else (lengths, lengths)
        assert all(least <= len(one.items) <= most for one in made.patterns)


def test_items_are_found_where_they_are_not_listed():
    found = tried([{"tea", "milk"}] * 3_000, top=3, delta="1e-6", items=None)
    assert {item for one in found.patterns for item in one.items} == {"tea", "milk"}


class TestByFacts:
    @pytest.mark.parametrize(
        ("asked", "name"),
        [
            (replace(ASKED, longest=1, top=10), "privbasis"),
            (replace(ASKED, longest=1, top=11), "truncated-items"),
            (replace(ASKED, longest=1, top=None, count=5), "truncated-items"),
            (replace(ASKED, least=13, longest=13), "exponential"),
            (replace(ASKED, least=13, longest=13, top=None, count=5), "truncated"),
        ],
    )
    def test_what_was_asked_decides(self, asked, name):
        known = auto._by_facts(asked)
        assert known is not None
        assert known[0].name == name
        assert Auto().plan(asked) == known[0].plan(asked)

    def test_otherwise_something_is_measured(self):
        assert auto._by_facts(ASKED) is None
        assert Auto().plan(ASKED) == [
            ("measuring the count of the last pattern", Fraction(3, 100)),
            ("finding the patterns", Fraction(97, 100)),
        ]
        assert Auto().plan(replace(ASKED, top=None, count=5)) == [
            ("choosing how many patterns", Fraction(1, 20)),
            ("finding the patterns", Fraction(19, 20)),
        ]


def meter(epsilon="1", delta=0) -> Meter:
    return Meter(Budget.of(epsilon, delta), ADD, SimulationSource(1))


class TestByMeasurement:
    # With K = 100 and 40 items, 52 pairs are picked: 92 picks, each with 1/207 of epsilon.
    @pytest.mark.parametrize(
        ("many", "mark", "name", "why"),
        [
            (89, 1_000, "truncated-items", "about 89 of 100 patterns are single items"),
            (110, 3_000, "truncated-items", "about 100 of 100 patterns are single items"),
            (89, 3_000, "privbasis", "110 picks can tell counts of about 3,000 people from smaller ones"),
            (87, 500, "truncated", "110 picks could hardly tell counts of about 500 people from smaller ones"),
            (40, 1_500, "privbasis", "92 picks can tell counts of about 1,500 people from smaller ones"),
            (40, 800, "truncated", "92 picks could hardly tell counts of about 800 people from smaller ones"),
            (5, 160, "privbasis", "5 picks can tell counts of about 160 people from smaller ones"),
            (40, 90, "truncated-items", "with counts of about 90 people little but single items can be found"),
            (13, 205, "privbasis", "48 picks still find more patterns than there are single items among them"),
            (40, 10_000, "privbasis", "many patterns are held by 10,000 people or more, at least 1/10 of all"),
        ],
    )
    def test_the_last_count_and_the_number_of_items_decide(self, many, mark, name, why):
        assert auto._chosen(ASKED, 100, many, mark, meter()) == (name, why)

    def test_longer_patterns_alone_are_no_single_items(self):
        longer = replace(ASKED, least=2)
        assert auto._chosen(longer, 100, 110, 150, meter())[0] == "truncated"

    def test_a_delta_makes_picks_cheaper(self):
        assert auto._chosen(ASKED, 100, 40, 400, meter())[0] == "truncated"
        assert auto._chosen(ASKED, 100, 40, 400, meter(delta="1e-6"))[0] == "privbasis"

    def test_picking_patterns_one_by_one_is_for_where_its_promise_holds(self):
        pairs = replace(ASKED, least=2, longest=2, top=10)
        assert auto._worth_picking(pairs, 10, 500, meter())
        assert not auto._worth_picking(pairs, 10, 300, meter())
        assert auto._worth_picking(replace(pairs, counts=False), 10, 300, meter())
        assert not auto._worth_picking(ASKED, 100, 50_000, meter())
        assert auto._worth_picking(ASKED, 100, 50_000, meter(delta="1e-6"))

    @pytest.mark.parametrize(
        ("held", "question", "name"),
        [
            (DENSE, {"top": 30}, "privbasis"),
            (DENSE, {"top": 5, "lengths": 2}, "exponential"),
            ([{person % 60} for person in range(3_000)], {"top": 40}, "truncated-items"),
            (SHOP, {"top": 150, "epsilon": 40}, "truncated"),
            (DENSE, {"min_count": 300}, "privbasis"),
        ],
        ids=lambda value: value if isinstance(value, str) else None,
    )
    def test_each_is_reached_by_some_data(self, held, question, name):
        made = tried(held, **question)
        assert made.facts["mechanism chosen"] == name


class TestWhatComesBack:
    def test_the_best_of_those_over_a_threshold(self):
        made = tried(SHOP, top=30, epsilon=10**6, seed=2)
        exact = discreet.mine(SHOP, top=30)
        assert made.facts["mechanism chosen"] == "privbasis"
        assert sorted(made.patterns.counts.tolist()) == sorted(exact.counts.tolist())

    def test_level_by_level_the_top_is_kept(self, monkeypatch):
        monkeypatch.setattr(auto, "_chosen", lambda *asked: ("truncated", "the test says so"))
        for counts in (True, False):
            made = tried(SHOP, top=12, epsilon=10**4, counts=counts)
            assert made.facts["mechanism chosen"] == "truncated"
            assert len(made.patterns) == 12
            assert made.patterns.counted is counts
        longer = tried(SHOP, top=12, epsilon=10**4, lengths=(2, 3))
        assert {len(one.items) for one in longer.patterns} <= {2, 3}

    def test_single_items_are_no_more_than_there_are(self, monkeypatch):
        monkeypatch.setattr(auto, "_chosen", lambda *asked: ("truncated-items", "the test says so"))
        made = tried(DENSE, top=30)
        assert len(made.patterns) == 6

    def test_facts_come_from_the_measurement_and_from_the_chosen(self):
        made = tried(DENSE, top=30)
        assert list(made.facts) == [
            "mechanism chosen", "count of the last pattern, about", "items expected", "items picked", "pairs picked",
            "bases counted",
        ]  # fmt: skip
        over = tried(DENSE, min_count=300)
        assert list(over.facts)[:3] == ["mechanism chosen", "patterns expected", "items expected"]


def test_the_choice_is_a_function_of_released_values(monkeypatch):
    # With every measurement replaced by the same number, very different data lead to the same choice.
    from discreet.curator.privbasis import PrivBasis
    from discreet.privacy.meter import Noisy

    right = Meter.count

    def fixed(self, what, engine, query, share):
        noisy = right(self, what, engine, query, share)
        if what != "measuring the count of the last pattern":
            return noisy
        return Noisy(np.array([400]), noisy.scale, noisy.variance)

    monkeypatch.setattr(Meter, "count", fixed)
    monkeypatch.setattr(PrivBasis, "choose_many", lambda *arguments: 5)
    told = set()
    for held in ([], [{0}], DENSE, [{0, 1, 2, 3, 4, 5}] * 2_000):
        made = tried(held, top=20, items=6, people=3_000)
        told.add((made.notes[0], str(made.facts["mechanism chosen"])))
    assert len(told) == 1


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (
            {"top": 9, "lengths": (1, 2), "items": 3},
            "top is 9, but 3 items have only 6 itemsets of 1 to 2 items: ask for at most so many.",
        ),
        (
            {"min_count": 9, "lengths": 40, "items": 50},
            "Patterns of at least 40 items were asked for, but the setting upper of truncated is 32: set it to 40 or "
            "more.",
        ),
        ({"top": 1, "settings": {"way": 1}, "items": 3}, "auto has no setting 'way': it has none."),
    ],
)
def test_what_is_refused(question, message):
    with pytest.raises(MisuseError) as caught:
        tried([{0, 1}], **question)
    assert str(caught.value) == message


def test_useful_on_a_shop():
    # Seeds are fixed, so it cannot fail by chance.
    shop = groceries(20_000, seed=1)
    truth = {one.items for one in discreet.mine(shop, top=50)}
    missed = [
        1 - len(truth & {one.items for one in tried(shop, seed=seed, top=50, people=len(shop)).patterns}) / 50
        for seed in range(3)
    ]
    assert np.mean(missed) < 0.2
