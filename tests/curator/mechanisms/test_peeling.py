"""`peeling`: the candidates, the law of the picks, their loss, and the result."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import combinations
from math import exp, log

import numpy as np
import pytest
from hypothesis import given, strategies as st

import discreet
import strategies
from discreet.auditing import law
from discreet.baskets import groceries
from discreet.curator.mechanisms.peeling import PICK_STEP, Peeling, PickableItemsets, pick_patterns
from discreet.exact import LocalEngine, Supports
from discreet.planning import trial
from discreet.privacy import Budget, Meter, Neighbours, unsealed
from discreet.privacy.sampling import SimulationSource
from discreet.results import Itemsets
from naive import watching

ADD = Neighbours.ADD_REMOVE
ITEMS = 4
SUBSETS = strategies.subsets(ITEMS)
PEOPLE = [{0, 1, 2}] * 3 + [{0, 1}] * 2 + [{2, 3}, {0}, {3}]
SHOP = groceries(400, seed=3)


engine = partial(watching.engine, items=ITEMS)
make_problem = partial(watching.make_problem, max_length=ITEMS, item_count=ITEMS, people=9, top=3)


def meter(epsilon, delta=0, seed=1, neighbours=ADD) -> Meter:
    return Meter(Budget.of(epsilon, delta), neighbours, SimulationSource(seed))


def list_pickable(picked_itemsets: tuple, longest: int) -> list[tuple[int, ...]]:
    """Return the candidates by their definition: not yet picked, with all parts of one item less picked."""
    every = [itemset for size in range(1, longest + 1) for itemset in combinations(range(ITEMS), size)]
    return [
        itemset
        for itemset in every
        if itemset not in picked_itemsets
        and all(part in picked_itemsets for part in combinations(itemset, len(itemset) - 1) if part)
    ]


def count_people(people, itemset) -> int:
    return sum(set(itemset) <= basket for basket in people)


@given(
    people=st.lists(st.sets(st.integers(0, ITEMS - 1)), max_size=9),
    places=st.lists(st.integers(0, 99), max_size=10),
    longest=st.integers(1, 4),
)
def test_what_can_be_picked_is_what_all_parts_of_were(people, places, longest):
    growing = PickableItemsets(engine(people), make_problem(max_length=longest))
    for place in places:
        candidates = growing.candidates().tuples()
        assert sorted(candidates) == sorted(list_pickable(tuple(growing.picked), longest))
        assert unsealed(growing.counts).tolist() == [count_people(people, itemset) for itemset in candidates]
        assert growing.counts.monotone
        assert growing.counts.step == 1
        if not candidates:
            break
        growing.take(place % len(candidates))
        assert growing.picked[-1] == candidates[place % len(candidates)]


def chances(people, rate: Fraction, picks: int, way: str) -> dict[tuple, float]:
    """The chance of every list of picks, from the law of one choice."""
    chance_by_picks = {(): 1.0}
    for _ in range(picks):
        longer = {}
        for picks_before, chance in chance_by_picks.items():
            pickable = list_pickable(picks_before, ITEMS)
            scores = tuple(count_people(people, itemset) for itemset in pickable)
            for (place,), (low, high) in law(scores, rate, 1, way).items():
                longer[*picks_before, pickable[place]] = chance * float(low + high) / 2
        chance_by_picks = longer
    return chance_by_picks


@pytest.mark.statistical
@pytest.mark.parametrize(("delta", "way"), [(0, "permute-and-flip"), ("1e-3", "exponential")])
def test_the_picks_have_the_law_of_peeling(delta, way):
    # Chi-square over all lists of three picks that are expected five times or more, the others together: a fair sampler
    # exceeds its mean by five deviations with a probability below one in ten thousand; the seed is fixed.
    runs = 1_000
    one_meter = meter(3, delta)
    rate = one_meter.rate(1, Fraction(1, 3), way)
    expected = {picked_list: runs * chance for picked_list, chance in chances(PEOPLE, rate, 3, way).items()}
    assert sum(expected.values()) == pytest.approx(runs)
    crowd, seen_counts = engine(PEOPLE), dict.fromkeys(expected, 0)
    source = SimulationSource(5)
    for _ in range(runs):
        picked_itemsets = pick_patterns(crowd, make_problem(), Meter(Budget.of(3, delta), ADD, source), Fraction(1))
        seen_counts[tuple(picked_itemsets)] += 1
    often = [frequent_lists for frequent_lists, expected_count in expected.items() if expected_count >= 5]
    rare_counts = [
        runs - sum(seen_counts[picked_list] for picked_list in often),
        runs - sum(expected[picked_list] for picked_list in often),
    ]
    pairs = [(seen_counts[picked_list], expected[picked_list]) for picked_list in often] + (
        [(rare_counts[0], rare_counts[1])] if rare_counts[1] > 1 else []
    )
    statistic = sum((mine - fair) ** 2 / fair for mine, fair in pairs)
    assert statistic < len(pairs) + 5 * (2 * len(pairs)) ** 0.5


@pytest.mark.parametrize("way", ["exponential", "permute-and-flip"])
def test_no_basket_more_changes_a_chance_by_more_than_was_charged(way):
    # Every list of three picks, every basket over four items: the largest loss, exactly but for rounding.
    rate = Fraction(2, 5)
    before = chances(PEOPLE, rate, 3, way)
    losses = []
    for basket in SUBSETS:
        after = chances([*PEOPLE, basket], rate, 3, way)
        assert after.keys() == before.keys()
        losses.append(max(abs(log(after[picked_list] / before[picked_list])) for picked_list in before))
    assert max(losses) <= 3 * rate + 1e-9
    assert max(losses) > 0.6 * 3 * rate


class Watched(Meter):
    """A meter that notes which way was taken at which rate."""

    def choose(self, purpose, scores, picks, share, way="exponential"):
        self.choices_seen.append((purpose, picks, way, self.rate(picks, share, way)))
        return super().choose(purpose, scores, picks, share, way)


def test_a_pick_costs_its_part():
    pure = Watched(Budget.of(2), ADD, SimulationSource(1))
    pure.choices_seen = []
    Peeling().run(engine(PEOPLE), make_problem(), pure)
    assert pure.choices_seen == [(PICK_STEP, 1, "permute-and-flip", Fraction(2, 5))] * 3
    assert sum(charge.epsilon for charge in pure.charges) == 2
    spent_shares = {}
    for charge in pure.charges:
        spent_shares[charge.what] = spent_shares.get(charge.what, 0) + charge.epsilon / 2
    plan = dict(Peeling().plan(make_problem()))
    assert sum(plan.values()) == 1
    assert spent_shares[PICK_STEP] == plan[PICK_STEP]
    concentrated = Watched(Budget.of(2, "1e-6"), ADD, SimulationSource(1))
    concentrated.choices_seen = []
    Peeling().run(engine(PEOPLE), make_problem(), concentrated)
    assert {way for _, _, way, _ in concentrated.choices_seen} == {"exponential"}
    pick_epsilon = concentrated.choices_seen[0][3]
    assert float(pick_epsilon) == pytest.approx((8 * Fraction(3, 5) * concentrated.total / 3) ** 0.5)
    assert exp(float(pick_epsilon)) > 1


class TestWithoutNoise:
    """At such an epsilon every pick is the best one and the noise is next to nothing."""

    @pytest.mark.parametrize("delta", [0, "1e-6"])
    @pytest.mark.parametrize(("top", "lengths"), [(1, None), (10, None), (60, None), (25, (1, 2)), (30, 1)])
    def test_the_top(self, top, lengths, delta):
        question = {"top": top, "items": "public", "lengths": lengths, "mechanism": "peeling"}
        release = trial(SHOP, seed=1, epsilon=10**9, delta=delta, people=len(SHOP), **question)
        exact = discreet.mine(SHOP, top=top, lengths=lengths)
        true_counts = LocalEngine(SHOP).answer(Supports(itemsets_of(release, SHOP)))
        assert sorted(true_counts.tolist()) == sorted(exact.counts.tolist())

    def test_the_patterns_alone(self):
        release = trial(SHOP, seed=1, epsilon=10**9, top=20, items="public", counts=False, mechanism="peeling")
        assert len(release.patterns) == 20
        assert not release.patterns.counted


@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_counts_do_not_contradict_each_other(delta):
    people = [{0, 1, 2, 3}] * 90 + [{0, 1}] * 5
    for seed in range(4):
        release = trial(people, seed=seed, top=12, epsilon=1, delta=delta, items=4, people=95, mechanism="peeling")
        known_counts = release.patterns.to_dict()
        assert max(known_counts.values()) <= 95
        assert all(
            known_counts[itemset] <= known_counts[part]
            for itemset in known_counts
            for part in known_counts
            if part < itemset
        )


def itemsets_of(release, shop):
    """Return the itemsets of a release in the codes of the baskets it was made of."""

    codes = {label: code for code, label in enumerate(shop.vocabulary)}
    return Itemsets.of([tuple(sorted(codes[item] for item in pattern.items)) for pattern in release.patterns])


@pytest.mark.parametrize("epsilon", ["0.0001", "1"])
@pytest.mark.parametrize("people", [[], [{0}], [{0, 1, 2, 3}]], ids=["nobody", "one", "all items"])
def test_as_many_patterns_as_were_asked_for_whatever_the_data(people, epsilon):
    for top in (1, 7, 15):
        release = trial(people, seed=top, top=top, epsilon=epsilon, items=ITEMS, mechanism="peeling")
        assert len(release.patterns) == top
        assert len({pattern.items for pattern in release.patterns}) == top


@pytest.mark.parametrize(
    ("setting", "question", "message"),
    [
        ({"selecting": 1}, {}, "selecting lies between 0 and 1; 1 was given."),
        (
            {},
            {"lengths": 2},
            "peeling finds longer patterns by way of their parts: ask for lengths from 1 on, or another mechanism.",
        ),
        ({}, {"top": 1_001, "items": 5_000}, "peeling picks at most 1,000 patterns; top is 1,001: ask for fewer."),
        (
            {},
            {"top": 9, "lengths": (1, 2), "items": 3},
            "top is 9, but 3 items have only 6 itemsets of 1 to 2 items: ask for at most so many.",
        ),
    ],
)
def test_what_is_refused(setting, question, message):
    assert watching.refusal("peeling", setting, question) == message


def test_useful_on_a_shop():
    # Seeds are fixed, so it cannot fail by chance.
    shop = groceries(20_000, seed=1)
    truth = {pattern.items for pattern in discreet.mine(shop, top=50)}
    missed_shares = []
    for seed in range(3):
        release = trial(
            shop, seed=seed, top=50, epsilon=1, delta="1e-6", items="public", people=len(shop), mechanism="peeling"
        )
        missed_shares.append(1 - len(truth & {pattern.items for pattern in release.patterns}) / 50)
    assert np.mean(missed_shares) < 0.15
