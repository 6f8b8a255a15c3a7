"""`count`: its sensitivity by brute force, its law and loss by enumeration, and how often its intervals are right."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from math import ceil, exp, inf, log

import numpy as np
import pytest
from scipy import stats

import discreet
import strategies
from discreet import MisuseError
from discreet.baskets import groceries
from discreet.curator import Problem
from discreet.curator.mechanisms.count import Count
from discreet.privacy import Budget, Meter, Neighbours
from discreet.privacy.sampling import SimulationSource
from discreet.publish import carry_out
from naive.truncated import Scripted, column
from naive.watching import engine
from questions import case

ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE
ITEMS = 3
SUBSETS = strategies.subsets(ITEMS)
# Nested, overlapping and apart; one twice; and all there are.
LISTS = [[{0}], [{0}, {0, 1}], [{0}, {1, 2}, {0, 1, 2}], [{1}, {1}], SUBSETS[1:]]


def asking(itemsets) -> Problem:
    return Problem(min_length=1, max_length=ITEMS, item_count=ITEMS, people=3, itemsets=column(itemsets))


def answered(people, itemsets):
    """Return the query that is asked, and its true answer."""
    meter = Scripted(1)
    Count().run(engine(people, ITEMS), asking(itemsets), meter)
    ((_, query, share, answer),) = meter.asked
    assert share == 1
    return query, answer


@pytest.mark.parametrize("itemsets", LISTS, ids=len)
def test_one_person_moves_each_count_by_one_and_no_more(itemsets):
    query, _ = answered([], itemsets)
    assert query.sensitivity().l1 == query.sensitivity().squared_l2 == len(itemsets)
    added = replaced = 0
    for people in list(product(SUBSETS, repeat=2))[::3]:
        _, before = answered(people, itemsets)
        assert before.tolist() == [sum(one <= basket for basket in people) for one in map(set, itemsets)]
        beside = []
        for basket in SUBSETS:
            _, after = answered([*people, basket], itemsets)
            assert set((after - before).tolist()) <= {0, 1}
            added = max(added, int((after - before).sum()))
            beside.append(after)
        for one, other in combinations(beside, 2):
            replaced = max(replaced, int(np.abs(one - other).sum()))
    assert added == query.sensitivity().l1  # somebody holds all of them
    assert (
        replaced == query.sensitivity().l1_replace == query.sensitivity().squared_l2_replace == len(itemsets)
    )  # all go, or all come


def law(true: int, scale: Fraction, people: float = inf) -> dict[int, float]:
    """Return the law of one released count: with discrete Laplace noise, and cut at 0 and at the number of people."""
    q = exp(-1 / float(scale))
    far = ceil(float(scale) * log(1e9))
    told: dict[int, float] = {}
    for noise in range(-far, far + 1):
        value = min(max(true + noise, 0), people)
        told[value] = told.get(value, 0.0) + (1 - q) / (1 + q) * q ** abs(noise)
    return told


def counts(people, itemsets) -> list[int]:
    return [sum(set(one) <= set(basket) for basket in people) for one in itemsets]


@pytest.mark.parametrize("relation", [ADD, REPLACE])
def test_the_exact_loss_is_within_epsilon(relation):
    # Every result of two counts, on every neighbour of some data: the largest ratio of chances is what is paid for.
    itemsets, epsilon = [{0}, {0, 1}], Fraction(3)
    query, _ = answered([], itemsets)
    scale, _ = Meter(Budget.of(epsilon), relation, SimulationSource(1)).scale(query, Fraction(1))
    losses = set()
    for people in [(), ({0},), ({0, 1}, {2}), ({0, 1}, {0, 1}, {0})]:
        for basket in SUBSETS:
            if relation is ADD:
                other = (*people, basket)
            elif people:
                other = (*people[1:], basket)
            else:
                continue
            laws = [[law(true, scale) for true in counts(held, itemsets)] for held in (people, other)]
            shared = [sorted(one.keys() & two.keys()) for one, two in zip(*laws, strict=True)]
            losses |= {
                abs(sum(log(laws[0][place][value] / laws[1][place][value]) for place, value in enumerate(result)))
                for result in product(*shared)
            }
    assert max(losses) <= epsilon + 1e-6
    assert max(losses) == pytest.approx(epsilon, abs=1e-6)  # nothing is wasted


@pytest.mark.statistical
def test_the_law_of_a_real_run():
    # 1,000 seeded runs on three people against the enumerated law of both counts; false alarm once in a million.
    people, itemsets, runs = [{0, 1}, {0}, {2}], [[0], [0, 1]], 1000
    one, two = (law(true, Fraction(2, 3), people=3) for true in counts(people, itemsets))
    job = case(people, itemsets=itemsets, epsilon=3, items=ITEMS, people=3, mechanism="count")
    made = (carry_out(job, SimulationSource(seed)) for seed in range(runs))
    seen = Counter(tuple(one.patterns.counts.tolist()) for one in made)
    expected = {(a, b): runs * one[a] * two[b] for a, b in product(one, two)}
    assert set(seen) <= set(expected)
    # Results too rare for the approximation are taken together.
    likely = [result for result, often in expected.items() if often > 8]
    observed = [*(seen[result] for result in likely), runs - sum(seen[result] for result in likely)]
    chances = [*(expected[result] for result in likely), runs - sum(expected[result] for result in likely)]
    assert len(likely) > 10
    assert stats.chisquare(observed, chances).pvalue > 1e-6


@pytest.mark.statistical
@pytest.mark.parametrize(("epsilon", "delta"), [("0.5", 0), ("0.05", 0), ("0.5", "1e-6")])
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_intervals_hold_the_true_counts(epsilon, delta, neighbours):
    # 4 x 300 intervals, each right in 95 of 100 cases or more: below 0.918 (five deviations) once in a million tests.
    baskets = groceries(500, seed=2)
    named = [["whole milk"], ["bananas"], ["bananas", "whole milk"], ["whole milk", "gold"]]
    true = np.array([sum(set(one) <= basket for basket in baskets) for one in named])
    question = {"epsilon": epsilon, "delta": delta, "neighbours": neighbours, "mechanism": "count"}
    job = case(baskets, itemsets=named, items={*baskets.vocabulary, "gold"}, **question)
    inside = []
    for seed in range(300):
        made = carry_out(job, SimulationSource(seed)).patterns
        inside.append((made.low <= true) & (true <= made.high))
    assert np.mean(inside) > 0.918


def test_given_itemsets_are_counted_in_the_order_given():
    people = [{"tea", "milk"}] * 60 + [{"tea", "milk", "bread"}] * 30 + [{"bread"}] * 20
    found = discreet.count(people, [{"tea", "milk"}, {"gold"}, {"bread"}], epsilon=10**6, really=True)
    assert found.patterns.counts.tolist() == [90, 0, 50]
    assert found.guarantee.epsilon == 10**6
    assert [sorted(one.items) for one in found.patterns] == [["milk", "tea"], ["gold"], ["bread"]]


@pytest.mark.parametrize("items", [None, ["tea"]])
@pytest.mark.parametrize(
    ("itemsets", "message"),
    [
        ([], "There is no itemset to count: give at least one."),
        ([["tea"], []], "itemsets has an empty itemset: everyone holds it. Leave it out."),
    ],
)
def test_nothing_to_count(itemsets, message, items):
    with pytest.raises(MisuseError) as caught:
        discreet.count([{"tea"}], itemsets, epsilon=1, items=items)
    assert str(caught.value) == message
