"""`count`: its sensitivity by brute force, its law and loss by enumeration, and the coverage of its intervals."""

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


def make_problem(itemsets) -> Problem:
    return Problem(min_length=1, max_length=ITEMS, item_count=ITEMS, people=3, itemsets=column(itemsets))


def answered(people, itemsets):
    """Return the query that is asked, and its true answer."""
    meter = Scripted(1)
    Count().run(engine(people, ITEMS), make_problem(itemsets), meter)
    ((_, query, share, answer),) = meter.asked
    assert share == 1
    return query, answer


@pytest.mark.parametrize("itemsets", LISTS, ids=len)
def test_one_person_moves_each_count_by_one_and_no_more(itemsets):
    query, _ = answered([], itemsets)
    assert query.sensitivity().l1 == query.sensitivity().squared_l2 == len(itemsets)
    added_change = replaced = 0
    for people in list(product(SUBSETS, repeat=2))[::3]:
        _, before = answered(people, itemsets)
        assert before.tolist() == [sum(itemset <= basket for basket in people) for itemset in map(set, itemsets)]
        neighbours = []
        for basket in SUBSETS:
            _, after = answered([*people, basket], itemsets)
            assert set((after - before).tolist()) <= {0, 1}
            added_change = max(added_change, int((after - before).sum()))
            neighbours.append(after)
        for left_answer, right_answer in combinations(neighbours, 2):
            replaced = max(replaced, int(np.abs(left_answer - right_answer).sum()))
    assert added_change == query.sensitivity().l1  # somebody holds all of them
    assert (
        replaced == query.sensitivity().l1_replace == query.sensitivity().squared_l2_replace == len(itemsets)
    )  # all go, or all come


def law(true_count: int, scale: Fraction, people: float = inf) -> dict[int, float]:
    """Return the law of one released count: with discrete Laplace noise, and cut at 0 and at the number of people."""
    q = exp(-1 / float(scale))
    largest_noise = ceil(float(scale) * log(1e9))
    probabilities: dict[int, float] = {}
    for noise in range(-largest_noise, largest_noise + 1):
        value = min(max(true_count + noise, 0), people)
        probabilities[value] = probabilities.get(value, 0.0) + (1 - q) / (1 + q) * q ** abs(noise)
    return probabilities


def counts(people, itemsets) -> list[int]:
    return [sum(set(itemset) <= set(basket) for basket in people) for itemset in itemsets]


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
                neighbour = (*people, basket)
            elif people:
                neighbour = (*people[1:], basket)
            else:
                continue
            laws = [[law(true_count, scale) for true_count in counts(data, itemsets)] for data in (people, neighbour)]
            common_values = [
                sorted(law_before.keys() & law_after.keys()) for law_before, law_after in zip(*laws, strict=True)
            ]
            losses |= {
                abs(sum(log(laws[0][place][value] / laws[1][place][value]) for place, value in enumerate(result)))
                for result in product(*common_values)
            }
    assert max(losses) <= epsilon + 1e-6
    assert max(losses) == pytest.approx(epsilon, abs=1e-6)  # nothing is wasted


@pytest.mark.statistical
def test_the_law_of_a_real_run():
    # 1,000 seeded runs on three people against the enumerated law of both counts; false alarm once in a million.
    people, itemsets, runs = [{0, 1}, {0}, {2}], [[0], [0, 1]], 1000
    first_law, second_law = (law(true_count, Fraction(2, 3), people=3) for true_count in counts(people, itemsets))
    job = case(people, itemsets=itemsets, epsilon=3, items=ITEMS, people=3, mechanism="count")
    releases = (carry_out(job, SimulationSource(seed)) for seed in range(runs))
    seen_counts = Counter(tuple(release.patterns.counts.tolist()) for release in releases)
    expected = {(a, b): runs * first_law[a] * second_law[b] for a, b in product(first_law, second_law)}
    assert set(seen_counts) <= set(expected)
    # Results too rare for the approximation are taken together.
    likely_results = [result for result, often in expected.items() if often > 8]
    observed = [
        *(seen_counts[result] for result in likely_results),
        runs - sum(seen_counts[result] for result in likely_results),
    ]
    chances = [
        *(expected[result] for result in likely_results),
        runs - sum(expected[result] for result in likely_results),
    ]
    assert len(likely_results) > 10
    assert stats.chisquare(observed, chances).pvalue > 1e-6


@pytest.mark.statistical
@pytest.mark.parametrize(("epsilon", "delta"), [("0.5", 0), ("0.05", 0), ("0.5", "1e-6")])
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_intervals_hold_the_true_counts(epsilon, delta, neighbours):
    # 4 x 300 intervals, each right in 95 of 100 cases or more: below 0.918 (five deviations) once in a million tests.
    baskets = groceries(500, seed=2)
    itemsets = [["whole milk"], ["bananas"], ["bananas", "whole milk"], ["whole milk", "gold"]]
    true_counts = np.array([sum(set(itemset) <= basket for basket in baskets) for itemset in itemsets])
    question = {"epsilon": epsilon, "delta": delta, "neighbours": neighbours, "mechanism": "count"}
    job = case(baskets, itemsets=itemsets, items={*baskets.vocabulary, "gold"}, **question)
    inside = []
    for seed in range(300):
        patterns = carry_out(job, SimulationSource(seed)).patterns
        inside.append((patterns.low <= true_counts) & (true_counts <= patterns.high))
    assert np.mean(inside) > 0.918


def test_given_itemsets_are_counted_in_the_order_given():
    people = [{"tea", "milk"}] * 60 + [{"tea", "milk", "bread"}] * 30 + [{"bread"}] * 20
    release = discreet.count(people, [{"tea", "milk"}, {"gold"}, {"bread"}], epsilon=10**6, really=True)
    assert release.patterns.counts.tolist() == [90, 0, 50]
    assert release.guarantee.epsilon == 10**6
    assert [sorted(pattern.items) for pattern in release.patterns] == [["milk", "tea"], ["gold"], ["bread"]]


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
