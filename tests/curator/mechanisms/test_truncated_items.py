"""`truncated-items`: single items in baskets that were cut."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from math import exp, log

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import discreet
import strategies
from discreet import MisuseError
from discreet.baskets import groceries
from discreet.curator import Problem
from discreet.curator.mechanisms.truncated_items import ITEMS, TruncatedItems
from discreet.curator.steps import SIZES, _truncation as truncation
from discreet.exact import Sizes, Supports, f_score
from discreet.planning import trial
from discreet.privacy import Budget, Meter, Neighbours
from discreet.privacy.sampling import SimulationSource
from naive import truncated as naive, watching

ALPHABET = 4
SUBSETS = strategies.subsets(ALPHABET)
few_examples = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
people_of = strategies.people(ALPHABET, 8)


def run(people, /, *, items=ALPHABET, seed=1, **question):
    return trial(people, seed=seed, items=items, mechanism="truncated-items", **question)


@pytest.fixture
def noiseless(monkeypatch):
    """Lift the 0.05 of epsilon that sizes get at most, so that a huge epsilon leaves no noise anywhere."""
    monkeypatch.setattr(truncation, "_MAX_SIZE_EPSILON", Fraction(10**6))
    return 10**6


@few_examples
@given(people_of, st.integers(1, 4))
def test_without_noise_it_is_exact(noiseless, people, count):
    release = run(people, min_count=count, epsilon=noiseless, settings={"coverage": 1})
    assert set(release.patterns.to_dict()) == naive.frequent(people, ALPHABET, count, 1)
    assert all(release.patterns.low <= release.patterns.counts)
    assert all(release.patterns.counts <= release.patterns.high)
    untouched = run(people, min_count=count, epsilon=noiseless, settings={"truncate": False})
    assert untouched.patterns.to_dict() == release.patterns.to_dict()
    assert untouched.patterns.to_dict() == {
        itemset: sum(itemset <= basket for basket in people) for itemset in release.patterns.to_dict()
    }


@few_examples
@given(people_of, st.integers(1, 4))
def test_without_noise_the_top_is_exact(noiseless, people, top):
    release = run(people, top=top, epsilon=noiseless, settings={"coverage": 1})
    counts = sorted((sum(item in basket for basket in people) for item in range(ALPHABET)), reverse=True)
    assert sorted(release.patterns.counts.tolist(), reverse=True) == counts[:top]


@pytest.mark.parametrize("epsilon", ["0.05", "0.5", "8"])
def test_charges_are_those_of_the_plan(epsilon):
    people = [{0, 1}, {1, 2, 3}, set()]
    release = run(people, min_count=1, epsilon=epsilon, people=3)
    charged_epsilon = {charge.what: charge.epsilon for charge in release.guarantee.charges}
    sizes = min(Fraction(1, 20), Fraction(epsilon) / 10)
    assert charged_epsilon == {SIZES: sizes, ITEMS: Fraction(epsilon) - sizes}
    assert release.guarantee.epsilon == Fraction(epsilon)
    whole_release = run(people, top=2, epsilon=epsilon, people=3, settings={"truncate": False})
    assert {charge.what: charge.epsilon for charge in whole_release.guarantee.charges} == {ITEMS: Fraction(epsilon)}


@pytest.mark.parametrize("settings", [{}, {"truncate": False}, {"coverage": "0.5", "longest_size": 2}])
def test_one_more_person_changes_no_answer_by_more_than_the_query_says(settings):
    mechanism = TruncatedItems(**settings)
    problem = Problem(threshold=3, min_length=1, max_length=4, item_count=ALPHABET, people=5)
    every = list(product(combinations_with_replacement(SUBSETS, 2), SUBSETS))
    for number, (people, added_person) in enumerate(every[::19]):
        runs = []
        equal = people.count(added_person)
        for data in (people, (*people, added_person), (added_person,) * equal, (added_person,) * (equal + 1)):
            meter = naive.Scripted(number % 50)
            result = mechanism.run(watching.engine(data, ALPHABET), problem, meter)
            runs.append((meter.asked, result))
        (before, result), (after, result_after), (equals, _), (lone_person, _) = runs
        assert result.itemsets.same(result_after.itemsets)
        assert (result.facts, result.notes) == (result_after.facts, result_after.notes)
        for (purpose, query, share, answer), step, equal_step, lone_step in zip(
            before, after, equals, lone_person, strict=True
        ):
            assert (purpose, share) == step[:1] + step[2:3]
            assert naive.same_query(query, step[1])
            assert np.abs(step[3] - answer).sum() <= query.sensitivity().l1
            assert ((step[3] - answer) ** 2).sum() <= query.sensitivity().squared_l2
            # Local (C6): what one person adds depends on nobody but those with an equal basket, and on their number.
            assert (step[3] - answer == lone_step[3] - equal_step[3]).all()


@pytest.mark.statistical
def test_the_law_of_the_items_is_private():
    # Without truncation each item is released by itself, with a chance in closed form: the loss over all sets of items
    # and all neighbours is found by enumeration.
    count, epsilon = 2, 1
    meter = Meter(Budget.of(epsilon), Neighbours.ADD_REMOVE, SimulationSource(1))
    every = naive.column([(item,) for item in range(3)])
    q = exp(-1 / meter.scale(Supports(every), Fraction(1))[0])

    def passes(true_count):
        tail_probability = q ** abs(count - true_count) / (1 + q)
        return tail_probability if true_count < count else 1 - q * tail_probability

    def law(people):
        chances = [passes(sum(item in basket for basket in people)) for item in range(3)]
        return [
            np.prod([p if is_passing else 1 - p for p, is_passing in zip(chances, passing, strict=True)])
            for passing in product((True, False), repeat=3)
        ]

    subsets = [subset for subset in SUBSETS if 3 not in subset]
    losses = [
        max(
            abs(log(probability_before / probability_after))
            for probability_before, probability_after in zip(law(people), law((*people, added_person)), strict=True)
        )
        for people in combinations(subsets, 3)
        for added_person in subsets
    ]
    assert 0.5 < max(losses) <= epsilon
    # And it is the law of what runs: within five deviations, which fails for two of a million seeds.
    people = [{0, 1}, {1, 2}, {1}]
    runs = [run(people, items=3, seed=seed, min_count=count, epsilon=epsilon, people=3, settings={"truncate": False})
            for seed in range(400)]  # fmt: skip
    for item, true_count in enumerate((1, 3, 1)):
        passing_runs = sum({item} in release.patterns for release in runs)
        chance = passes(true_count)
        assert abs(passing_runs - 400 * chance) < 5 * (400 * chance * (1 - chance)) ** 0.5


def test_the_length_comes_from_the_noisy_histogram_only():
    # C3: the longest basket is of no account, only what the meter returned is.
    class FixedHistogramMeter(naive.Scripted):
        def count(self, purpose, engine, query, share):
            noisy = super().count(purpose, engine, query, share)
            if isinstance(query, Sizes):
                noisy.values[:] = [0, 100, 0, 0, 0]
            return noisy

    meter = FixedHistogramMeter(1, epsilon=10**6)
    problem = Problem(threshold=3, min_length=1, max_length=4, item_count=ALPHABET, people=5)
    TruncatedItems().run(watching.engine([{0, 1, 2, 3}] * 50, ALPHABET), problem, meter)
    assert meter.asked[1][1].truncation.longest == 1
    assert meter.asked[1][1].sensitivity().l1 == 1
    assert meter.asked[1][3].sum() == 50


def test_the_correction_is_what_was_asked_for(noiseless):
    # Corrections may go beyond the people there are, and no count does: these others hold nothing.
    people = [{0}] * 300 + [{0, 1, 2, 3}] * 100 + [set()] * 400
    corrected_counts = {
        keep: run(people, top=1, epsilon=noiseless, settings={"coverage": "0.5", "keep": keep}).patterns.counts[0]
        for keep in ("none", "uniform", "root", "size-biased")
    }
    uncorrected_count = corrected_counts["none"]  # of the hundred long baskets about a quarter keeps the item
    assert 310 <= uncorrected_count <= 340
    assert corrected_counts["uniform"] == round(uncorrected_count / (0.75 + 0.25 / 4))
    assert corrected_counts["size-biased"] == round(uncorrected_count / (400 / 700))
    assert corrected_counts["root"] == round(uncorrected_count / (400 / 700) ** 0.5)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"coverage": 0}, "coverage lies over 0 and is at most 1; 0 was given."),
        ({"coverage": "1.5"}, "coverage lies over 0 and is at most 1; 3/2 was given."),
        ({"longest_size": 0}, "longest_size is a whole number, 1 or more; 0 was given."),
        ({"longest_size": 20_000}, "longest_size is at most 10,000; 20,000 was given."),
        (
            {"keep": "all"},
            "the setting keep of truncated-items is none, uniform, size-biased or root; 'all' was given.",
        ),
        ({"truncate": "maybe"}, "the setting truncate of truncated-items is on or off; 'maybe' was given."),
        (
            {"cover": 1},
            "truncated-items has no setting 'cover': it has truncate, coverage, longest_size, keep.",
        ),
    ],
)
def test_settings_are_refused(settings, message):
    with pytest.raises(MisuseError) as raised:
        run([{0}], min_count=1, epsilon=1, settings=settings)
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (
            {"min_count": 1, "lengths": 2},
            "truncated-items finds single items, but patterns of at least 2 items were asked for: leave lengths out, "
            "or take the mechanism truncated.",
        ),
        ({"top": 5}, "top is 5, but there are only 4 items: ask for at most so many."),
    ],
)
def test_questions_are_refused(question, message):
    with pytest.raises(MisuseError) as raised:
        run([{0}], epsilon=1, **question)
    assert str(raised.value) == message


def test_lengths_that_allow_one_item_are_answered_with_single_items():
    for lengths in (None, 1, (1, 3), (1, None)):
        release = run([{0, 1, 2}] * 90, min_count=40, epsilon=10**6, lengths=lengths)
        assert {len(pattern.items) for pattern in release.patterns} == {1}
        assert release.notes[0] == "Only single items were looked for."


def test_made_up_groceries_are_found_and_cutting_is_worth_it():
    baskets = groceries(people=20_000, seed=3)
    count = 600
    truth = discreet.mine(baskets, min_count=count, lengths=1)
    question = {"items": "public", "people": 20_000, "min_count": count, "epsilon": "0.25"}

    def score(**changes):
        runs = [trial(baskets, seed=seed, mechanism="truncated-items", **question, **changes) for seed in range(5)]
        return np.mean([f_score(release.patterns, truth) for release in runs]), runs

    cut_score, runs = score()
    whole_score, _ = score(settings={"truncate": False})
    assert cut_score > 0.9
    assert cut_score > whole_score
    every = discreet.mine(baskets, min_count=1, lengths=1).to_dict()
    inside = [
        low <= every.get(pattern.items, 0) <= high
        for release in runs
        for pattern, low, high in zip(release.patterns, release.patterns.low, release.patterns.high, strict=True)
    ]
    assert np.mean(inside) > 0.9
