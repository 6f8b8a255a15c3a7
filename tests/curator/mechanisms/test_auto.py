"""`auto`: its choices and their reasons, and that it answers every question."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import inf

import numpy as np
import pytest

import discreet
from discreet import MisuseError
from discreet.baskets import groceries
from discreet.curator import Problem
from discreet.curator.mechanisms import auto
from discreet.curator.mechanisms.auto import Auto
from discreet.curator.mechanisms.bases import Bases
from discreet.curator.steps import HISTOGRAM_STEP
from discreet.planning import trial
from discreet.privacy import Budget, Meter, Neighbours, Noisy
from discreet.privacy.sampling import SimulationSource
from discreet.registry import mechanism

ADD = Neighbours.ADD_REMOVE
SHOP = groceries(500, seed=3)
DENSE_BASKETS = [{0, 1, 2, 3, 4}] * 900 + [{0, 1, 2}] * 500 + [{3, 4, 5}] * 300
SPARSE = [{person % 60} for person in range(3_000)]
# Twelve items, six of which some people hold, among very many who hold nothing.
FEW_ITEMS = [{0, 1, 2, 3, 4, 5}] * 2_600 + [{6, 7, 8, 9, 10, 11}] * 2_400 + [set()] * 55_000
PROBLEM = Problem(top=100, min_length=1, max_length=4, item_count=1_000, people=100_000)
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


def run_auto(baskets, seed=1, **question):
    return trial(baskets, seed=seed, mechanism="auto", **({"epsilon": 1, "items": "public"} | question))


@pytest.mark.parametrize("question", QUESTIONS, ids=str)
def test_every_question_is_answered_as_it_was_put(question):
    for seed, (epsilon, delta) in enumerate([("0.05", 0), (1, 0), (8, 0), (1, "1e-6")]):
        release = run_auto(SHOP, seed=seed, epsilon=epsilon, delta=delta, **question)
        mechanism_name = release.facts["mechanism chosen"]
        assert mechanism_name in ("bases", "clipped", "peeling", "exponential", "truncated")
        assert release.notes[0 if len(release.patterns) else 1].startswith(f"{mechanism_name} was chosen: ")
        assert release.citations == (mechanism(mechanism_name).citation, mechanism("auto").citation)
        assert len(release.patterns) <= question.get("top", len(release.patterns))
        assert release.patterns.counted is question.get("counts", True)
        lengths = question.get("lengths", (1, 99))
        min_length, max_length = lengths if isinstance(lengths, tuple) else (lengths, lengths)
        assert all(min_length <= len(pattern.items) <= max_length for pattern in release.patterns)


def test_items_are_found_where_they_are_not_listed():
    release = run_auto([{"tea", "milk"}] * 3_000, top=3, delta="1e-6", items=None)
    assert {item for pattern in release.patterns for item in pattern.items} == {"tea", "milk"}


class TestByFacts:
    @pytest.mark.parametrize(
        ("problem", "name"),
        [
            (replace(PROBLEM, min_length=13, max_length=13), "exponential"),
            (replace(PROBLEM, min_length=13, max_length=13, top=None, threshold=5), "truncated"),
        ],
    )
    def test_what_was_asked_decides(self, problem, name):
        mechanism_by_facts = auto._choose_by_facts(problem)
        assert mechanism_by_facts is not None
        assert mechanism_by_facts[0].name == name
        assert Auto().plan(problem) == mechanism_by_facts[0].plan(problem)

    def test_otherwise_something_is_measured(self):
        assert auto._choose_by_facts(PROBLEM) is None
        assert Auto().plan(PROBLEM) == [
            ("measuring the count of the last pattern", Fraction(3, 100)),
            ("finding the patterns", Fraction(97, 100)),
        ]
        # A threshold that few people reach needs no sure number of patterns.
        for count, share in ((5, Fraction(1, 50)), (10_000, Fraction(1, 20))):
            assert Auto().plan(replace(PROBLEM, top=None, threshold=count)) == [
                ("choosing how many patterns", share),
                ("finding the patterns", 1 - share),
            ]


def meter(epsilon="1", delta=0) -> Meter:
    return Meter(Budget.of(epsilon, delta), ADD, SimulationSource(1))


class TestByMeasurement:
    def test_spreads(self):
        # With K = 100, 105 patterns are looked for: 20 items go with 41 pairs, so 61 picks share 3/5 of epsilon.
        assert auto._count_picks(PROBLEM, 100, 20) == 61
        assert auto._item_pick_error(PROBLEM, 100, 20, meter()) == pytest.approx(61 / 0.6)
        assert auto._count_picks(PROBLEM, 100, 12) == 12
        assert auto._pattern_pick_error(100, meter()) == pytest.approx(100 / 0.6)
        assert auto._pattern_pick_error(1_001, meter()) == inf
        # 20 items of triples go with all 190 pairs of them.
        assert auto._count_picks(replace(PROBLEM, min_length=3), 100, 20) == 210
        # A delta makes picks cheaper.
        assert auto._item_pick_error(PROBLEM, 100, 20, meter(delta="1e-6")) < 61 / 0.6 / 2

    @pytest.mark.parametrize(("after", "slope"), [(400, 0.15), (280, 0.515), (200, 1.0), (100, 1.5), (0, 1.5)])
    def test_the_slope_is_measured(self, monkeypatch, after, slope):
        noisy = Noisy(np.array([after]), Fraction(1), Fraction(2))
        monkeypatch.setattr(Meter, "count", lambda *arguments: noisy)
        assert auto._measure_slope(None, replace(PROBLEM, top=10), meter(), 400) == pytest.approx(slope, abs=0.001)
        assert auto._measure_slope(None, replace(PROBLEM, top=None, threshold=5), meter(), 400) == auto.DEFAULT_SLOPE

    @pytest.mark.parametrize(
        ("question", "charge_name"),
        [
            ({"top": 20}, "counting the items every pattern has"),
            ({"top": 20, "counts": False}, "counting the people with the given items"),
            ({"top": 20, "lengths": (2, 4)}, "counting the people with the given items"),
            ({"min_count": 150}, "counting the items every pattern has"),
            ({"min_count": 150, "lengths": (2, 4)}, "counting the people with the given items"),
        ],
        ids=str,
    )
    def test_what_is_dense_is_judged_among_those_who_hold_the_given_items(self, question, charge_name):
        baskets = [{9, 0, 1, 2, 3, 4}] * 300 + [{9, 0, 1, 2}] * 200 + [{5}] * 20_000
        for delta in (0, "1e-6"):
            release = run_auto(baskets, contains=9, people=20_500, epsilon=2, delta=delta, **question)
            assert release.facts["mechanism chosen"] in ("bases", "peeling")
            assert " of all" in release.notes[0]
            assert [charge.what for charge in release.guarantee.charges].count(charge_name) == 1

    def test_counting_those_who_hold_the_given_items_is_planned(self):
        plan = Auto().plan(replace(PROBLEM, required_count=1, people_known_to_engine=False))
        assert plan[0] == ("counting the people with the given items", Fraction(1, 50))
        assert plan[1] == ("measuring the count of the last pattern", Fraction(49, 50) * Fraction(3, 100))
        assert sum(share for _, share in plan) == 1

    def test_picking_longer_patterns_one_by_one_is_for_where_it_finds_them(self):
        pairs = replace(PROBLEM, min_length=2, max_length=2, top=10)
        assert auto._can_pick_longer(pairs, 300, meter())
        assert not auto._can_pick_longer(pairs, 200, meter())
        assert auto._can_pick_longer(replace(pairs, with_counts=False), 200, meter())
        assert not auto._can_pick_longer(PROBLEM, 50_000, meter(delta="1e-6"))
        assert not auto._can_pick_longer(replace(pairs, max_length=900, item_count=5_000), 50_000, meter())

    @pytest.mark.parametrize(
        ("baskets", "question", "name"),
        [
            (DENSE_BASKETS, {"top": 30}, "bases"),
            (DENSE_BASKETS, {"top": 30, "delta": "1e-6"}, "peeling"),
            ([{0, 1, 2, 3, 4}] * 900 + [{0, 1, 2}] * 100, {"top": 30, "delta": "1e-6"}, "bases"),
            (DENSE_BASKETS, {"top": 8, "lengths": 2, "delta": "1e-6"}, "bases"),
            (DENSE_BASKETS, {"min_count": 300}, "bases"),
            (DENSE_BASKETS, {"min_count": 300, "delta": "1e-6"}, "bases"),
            (SPARSE, {"top": 40}, "clipped"),
            (SPARSE, {"top": 3, "epsilon": 9, "lengths": 1}, "peeling"),
            (SPARSE, {"min_count": 45, "lengths": 1}, "clipped"),
            (DENSE_BASKETS, {"min_count": 300, "lengths": 1}, "clipped"),
            ([*SPARSE] * 60, {"top": 20, "seed": 2}, "clipped"),
            (SPARSE, {"min_count": 45}, "clipped"),
            (FEW_ITEMS, {"top": 100, "people": 60_000}, "bases"),
            (FEW_ITEMS, {"min_count": 2_000, "people": 60_000}, "bases"),
            (SPARSE, {"top": 2, "lengths": 2, "epsilon": 200}, "exponential"),
        ],
        ids=lambda value: value if isinstance(value, str) else None,
    )
    def test_each_is_reached_by_some_data(self, baskets, question, name):
        release = run_auto(baskets, **question)
        assert release.facts["mechanism chosen"] == name


BULK = [set(range(50))] * 400 + [{50 + person % 2_000} for person in range(30_000)]


class TestWhatClippingHides:
    def test_bulk_buyers_are_found_where_clipped_counts_hide_them(self):
        # 400 people hold the same fifty items, and nobody else does: clipped to one person, each is eight of them.
        release = run_auto(BULK, top=200, epsilon=2, seed=2)
        assert release.facts["mechanism chosen"] == "bases"
        assert any("hold many more" in note for note in release.notes)
        assert all(max(pattern.items) < 50 for pattern in release.patterns)

    @pytest.mark.parametrize("question", [{"top": 50, "lengths": 1}, {"top": 100, "lengths": 2}, {"top": 100}], ids=str)
    def test_of_every_length(self, question):
        release = run_auto(BULK, **question, epsilon=1, seed=3)
        assert release.facts["mechanism chosen"] == "bases"
        assert any("hold many more" in note for note in release.notes)

    def test_where_those_who_hold_frequent_items_hold_few_others_nothing_is_hidden(self):
        # As many people as before hold the first fifty, each of them one; others hold fifty that are rare.
        baskets = [{person % 50} for person in range(20_000)] + [set(range(50, 100))] * 100
        release = run_auto(baskets, top=50, lengths=1, epsilon=2, seed=2)
        assert not any("hold many more" in note for note in release.notes)

    def test_items_alone_where_they_are_nearly_all_patterns(self):
        # 60 items that one in eleven holds among many others that fewer hold: pairs are rare.
        chance, rng = np.where(np.arange(600) < 60, 0.09, 0.06), np.random.default_rng(5)
        baskets = [set(np.flatnonzero(rng.random(600) < chance).tolist()) for _ in range(4_000)]
        release = run_auto(baskets, top=40, epsilon=1, seed=2)
        assert auto.ITEMS_ONLY in release.notes
        assert all(len(pattern.items) == 1 for pattern in release.patterns)
        # Half of the people hold the same three items: longer patterns stand clear, and are not left out.
        baskets = [basket | ({700, 701, 702} if person % 2 else set()) for person, basket in enumerate(baskets)]
        release = run_auto(baskets, top=40, epsilon=1, seed=2)
        assert auto.ITEMS_ONLY not in release.notes
        assert {700, 701} in [set(pattern.items) for pattern in release.patterns]
        # Over a threshold leaving out would be no answer.
        assert auto.ITEMS_ONLY not in run_auto(baskets, min_count=310, epsilon=1, seed=2).notes


class TestWhatComesBack:
    @pytest.mark.parametrize("delta", [0, "1e-6"])
    def test_the_exact_top_where_there_is_next_to_no_noise(self, delta):
        release = run_auto(DENSE_BASKETS, top=12, epsilon=10**6, delta=delta, seed=2)
        exact = discreet.mine(DENSE_BASKETS, top=12)
        true_counts = dict(discreet.mine(DENSE_BASKETS, min_count=1).to_dict())
        assert sorted(true_counts[pattern.items] for pattern in release.patterns) == sorted(exact.counts.tolist())

    def test_facts_come_from_the_measurement_and_from_the_chosen(self):
        release = run_auto(DENSE_BASKETS, top=30)
        assert list(release.facts) == [
            "mechanism chosen", "count of the last pattern, about", "items expected", "items picked", "pairs picked",
            "bases counted",
        ]  # fmt: skip
        threshold_release = run_auto(DENSE_BASKETS, min_count=300)
        assert list(threshold_release.facts)[:3] == ["mechanism chosen", "patterns expected", "items expected"]
        sparse = run_auto(SPARSE, top=40)
        assert list(sparse.facts)[:2] == ["mechanism chosen", "count of the last pattern, about"]

    @pytest.mark.parametrize("delta", [0, "1e-6"])
    @pytest.mark.parametrize("question", [{"top": 30}, {"min_count": 300}, {"top": 8, "lengths": 2}], ids=str)
    def test_every_branch_spends_all(self, question, delta):
        for baskets in (DENSE_BASKETS, SPARSE):
            release = run_auto(baskets, delta=delta, **question)
            assert release.guarantee.epsilon > Fraction(998, 1000)


def test_the_choice_is_a_function_of_released_values(monkeypatch):
    # With every measurement replaced by the same number, very different data lead to the same choice.
    right = Meter.count

    def fixed(self, purpose, engine, query, share):
        noisy = right(self, purpose, engine, query, share)
        if purpose not in (auto.LAST_COUNT_STEP, auto.SLOPE_STEP, HISTOGRAM_STEP):
            return noisy
        return Noisy(np.full(len(noisy.values), 400), noisy.scale, noisy.variance)

    monkeypatch.setattr(Meter, "count", fixed)
    monkeypatch.setattr(Bases, "choose_item_count", lambda *arguments: 5)
    choices = set()
    for baskets in ([], [{0}], DENSE_BASKETS, [{0, 1, 2, 3, 4, 5}] * 2_000):
        release = run_auto(baskets, top=20, items=6, people=3_000)
        choices.add((release.notes[0], str(release.facts["mechanism chosen"])))
    assert len(choices) == 1


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
        run_auto([{0, 1}], **question)
    assert str(caught.value) == message


def test_useful_on_a_shop():
    # Seeds are fixed, so it cannot fail by chance.
    shop = groceries(20_000, seed=1)
    truth = {pattern.items for pattern in discreet.mine(shop, top=50)}
    missed_shares = [
        1
        - len(truth & {pattern.items for pattern in run_auto(shop, seed=seed, top=50, people=len(shop)).patterns}) / 50
        for seed in range(3)
    ]
    assert np.mean(missed_shares) < 0.2
