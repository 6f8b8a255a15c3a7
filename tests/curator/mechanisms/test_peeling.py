"""`peeling`: what can be picked, the law of the picks, what they lose, and what comes back."""

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
asking = partial(watching.make_problem, max_length=ITEMS, item_count=ITEMS, people=9, top=3)


def meter(epsilon, delta=0, seed=1, neighbours=ADD) -> Meter:
    return Meter(Budget.of(epsilon, delta), neighbours, SimulationSource(seed))


def allowed(done: tuple, longest: int) -> list[tuple[int, ...]]:
    """What can be picked, by its definition: not yet picked, and all parts with one item less picked."""
    every = [itemset for size in range(1, longest + 1) for itemset in combinations(range(ITEMS), size)]
    return [
        one
        for one in every
        if one not in done and all(part in done for part in combinations(one, len(one) - 1) if part)
    ]


def held(people, itemset) -> int:
    return sum(set(itemset) <= basket for basket in people)


@given(
    people=st.lists(st.sets(st.integers(0, ITEMS - 1)), max_size=9),
    places=st.lists(st.integers(0, 99), max_size=10),
    longest=st.integers(1, 4),
)
def test_what_can_be_picked_is_what_all_parts_of_were(people, places, longest):
    growing = PickableItemsets(engine(people), asking(max_length=longest))
    for place in places:
        named = growing.candidates().tuples()
        assert sorted(named) == sorted(allowed(tuple(growing.picked), longest))
        assert unsealed(growing.counts).tolist() == [held(people, one) for one in named]
        assert growing.counts.monotone
        assert growing.counts.step == 1
        if not named:
            break
        growing.take(place % len(named))
        assert growing.picked[-1] == named[place % len(named)]


def chances(people, rate: Fraction, picks: int, way: str) -> dict[tuple, float]:
    """The chance of every list of picks, from the law of one choice."""
    found = {(): 1.0}
    for _ in range(picks):
        longer = {}
        for done, chance in found.items():
            named = allowed(done, ITEMS)
            scores = tuple(held(people, one) for one in named)
            for (place,), (low, high) in law(scores, rate, 1, way).items():
                longer[*done, named[place]] = chance * float(low + high) / 2
        found = longer
    return found


@pytest.mark.statistical
@pytest.mark.parametrize(("delta", "way"), [(0, "permute-and-flip"), ("1e-3", "exponential")])
def test_the_picks_have_the_law_of_peeling(delta, way):
    # Chi-square over all lists of three picks that are expected five times or more, the others together: a fair sampler
    # exceeds its mean by five deviations with a probability below one in ten thousand; the seed is fixed.
    runs = 1_000
    one = meter(3, delta)
    rate = one.rate(1, Fraction(1, 3), way)
    expected = {done: runs * chance for done, chance in chances(PEOPLE, rate, 3, way).items()}
    assert sum(expected.values()) == pytest.approx(runs)
    crowd, seen = engine(PEOPLE), dict.fromkeys(expected, 0)
    source = SimulationSource(5)
    for _ in range(runs):
        done = pick_patterns(crowd, asking(), Meter(Budget.of(3, delta), ADD, source), Fraction(1))
        seen[tuple(done)] += 1
    often = [done for done, many in expected.items() if many >= 5]
    rest = [runs - sum(seen[done] for done in often), runs - sum(expected[done] for done in often)]
    pairs = [(seen[done], expected[done]) for done in often] + ([(rest[0], rest[1])] if rest[1] > 1 else [])
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
        losses.append(max(abs(log(after[done] / before[done])) for done in before))
    assert max(losses) <= 3 * rate + 1e-9
    assert max(losses) > 0.6 * 3 * rate


class Watched(Meter):
    """A meter that notes which way was taken at which rate."""

    def choose(self, what, scores, picks, share, way="exponential"):
        self.seen.append((what, picks, way, self.rate(picks, share, way)))
        return super().choose(what, scores, picks, share, way)


def test_a_pick_costs_its_part():
    pure = Watched(Budget.of(2), ADD, SimulationSource(1))
    pure.seen = []
    Peeling().run(engine(PEOPLE), asking(), pure)
    assert pure.seen == [(PICK_STEP, 1, "permute-and-flip", Fraction(2, 5))] * 3
    assert sum(charge.epsilon for charge in pure.charges) == 2
    spent = {}
    for charge in pure.charges:
        spent[charge.what] = spent.get(charge.what, 0) + charge.epsilon / 2
    plan = dict(Peeling().plan(asking()))
    assert sum(plan.values()) == 1
    assert spent[PICK_STEP] == plan[PICK_STEP]
    concentrated = Watched(Budget.of(2, "1e-6"), ADD, SimulationSource(1))
    concentrated.seen = []
    Peeling().run(engine(PEOPLE), asking(), concentrated)
    assert {way for _, _, way, _ in concentrated.seen} == {"exponential"}
    each = concentrated.seen[0][3]
    assert float(each) == pytest.approx((8 * Fraction(3, 5) * concentrated.total / 3) ** 0.5)
    assert exp(float(each)) > 1


class TestWithoutNoise:
    """At such an epsilon every pick is the best one and the noise is next to nothing."""

    @pytest.mark.parametrize("delta", [0, "1e-6"])
    @pytest.mark.parametrize(("top", "lengths"), [(1, None), (10, None), (60, None), (25, (1, 2)), (30, 1)])
    def test_the_top(self, top, lengths, delta):
        question = {"top": top, "items": "public", "lengths": lengths, "mechanism": "peeling"}
        found = trial(SHOP, seed=1, epsilon=10**9, delta=delta, people=len(SHOP), **question)
        exact = discreet.mine(SHOP, top=top, lengths=lengths)
        true = LocalEngine(SHOP).answer(Supports(itemsets_of(found, SHOP)))
        assert sorted(true.tolist()) == sorted(exact.counts.tolist())

    def test_the_patterns_alone(self):
        found = trial(SHOP, seed=1, epsilon=10**9, top=20, items="public", counts=False, mechanism="peeling")
        assert len(found.patterns) == 20
        assert not found.patterns.counted


@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_counts_do_not_contradict_each_other(delta):
    people = [{0, 1, 2, 3}] * 90 + [{0, 1}] * 5
    for seed in range(4):
        made = trial(people, seed=seed, top=12, epsilon=1, delta=delta, items=4, people=95, mechanism="peeling")
        known = made.patterns.to_dict()
        assert max(known.values()) <= 95
        assert all(known[one] <= known[part] for one in known for part in known if part < one)


def itemsets_of(found, shop):
    """Return the itemsets of a release in the codes of the baskets it was made of."""

    codes = {label: code for code, label in enumerate(shop.vocabulary)}
    return Itemsets.of([tuple(sorted(codes[item] for item in one.items)) for one in found.patterns])


@pytest.mark.parametrize("epsilon", ["0.0001", "1"])
@pytest.mark.parametrize("people", [[], [{0}], [{0, 1, 2, 3}]], ids=["nobody", "one", "all items"])
def test_as_many_patterns_as_were_asked_for_whatever_the_data(people, epsilon):
    for top in (1, 7, 15):
        made = trial(people, seed=top, top=top, epsilon=epsilon, items=ITEMS, mechanism="peeling")
        assert len(made.patterns) == top
        assert len({one.items for one in made.patterns}) == top


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
    truth = {one.items for one in discreet.mine(shop, top=50)}
    missed = []
    for seed in range(3):
        found = trial(
            shop, seed=seed, top=50, epsilon=1, delta="1e-6", items="public", people=len(shop), mechanism="peeling"
        )
        missed.append(1 - len(truth & {one.items for one in found.patterns}) / 50)
    assert np.mean(missed) < 0.15
