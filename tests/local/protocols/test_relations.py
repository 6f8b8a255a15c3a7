"""LDP-RM and its kin: the fixed point of the printed form, Figure 1, ranges that hold, and inputs at the edge."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, strategies as st

import discreet
from discreet import MisuseError
from discreet.baskets import Baskets, Pairs, Sequences, Vocabulary
from discreet.local.estimation import (
    MatrixBelief,
    bounds,
    compose_matrix,
    decomposed,
    independent,
    public_signs,
    rank_of,
    round_direction,
)
from discreet.local.estimation._spectral import reach
from discreet.local.protocols import RelationMiner, RelationsFull
from discreet.local.protocols.svd_fo import SVDFO
from discreet.local.study import StudyGoal, simulate
from discreet_lab.measure.noise_free import learn_without_noise

WEIGHTS = st.lists(st.integers(-9, 9), min_size=4, max_size=4).map(lambda weights: np.array(weights, np.int64))

# Figure 1 of Dong et al. 2024: the one way to have its supports with 75 people.
FIGURE = [{"x1", "x2"}] * 20 + [{"x1", "x3"}] * 20 + [{"x2", "x3"}] * 10 + [{"x4", "x5", "x6"}] * 25
WANTED_PAIRS = set(permutations(("x4", "x5", "x6"), 2))


@pytest.fixture(scope="module")
def figure():
    return discreet.read(FIGURE * 4000)


def pairs_of(relations):
    return {(*rule.antecedent, *rule.consequent) for rule in relations}


def count_found_pairs(baskets, seed, **changes):
    relation_settings = {"items": 6, "support": 12} | changes
    outcome = simulate(baskets, "relations", top=6, epsilon=4, seed=seed, settings=relation_settings)
    return len(pairs_of(outcome.relations) & WANTED_PAIRS)


class TestFigure1:
    def test_the_corrected_form_finds_what_is_wanted(self, figure):
        # Seeds are fixed, so this does not fail by chance; all 10 of them find all six.
        assert sum(count_found_pairs(figure, seed) == 6 for seed in range(10)) >= 9

    def test_the_independence_guess_does_not(self, figure):
        assert [count_found_pairs(figure, seed, rounds=0) for seed in range(3)] == [0, 0, 0]

    def test_nor_does_the_printed_form_with_one_direction(self, figure):
        assert [count_found_pairs(figure, seed, form="printed") for seed in range(3)] == [0, 0, 0]

    def test_the_filter_stands_beside_a_guess_and_chance(self, figure):
        outcome = simulate(
            figure, "relations", top=6, epsilon=4, seed=3, score=True, settings={"items": 6, "support": 12}
        )
        assert outcome.scores["frequent relations kept by the matrix"] == 1.0
        assert outcome.scores["frequent relations kept by the independence guess"] == 0.5
        assert outcome.scores["frequent relations kept by chance"] == pytest.approx(12 / 30)
        assert outcome.scores["F-score"] == 1.0


class TestFixedPoint:
    @given(st.lists(st.floats(0.01, 1.0), min_size=2, max_size=8, unique=True), st.integers(1, 8), st.integers(0, 99))
    def test_directions_after_an_update_are_those_before(self, supports, direction_count, seed):
        left_directions, _, right_directions = decomposed(independent(np.array(supports)))
        direction_count = min(direction_count, len(supports))
        # Whatever the values that were heard, as long as they can be told apart.
        heard_values = np.random.default_rng(seed).permutation(np.arange(1.0, direction_count + 1)) / direction_count
        after_left, singular, after_right = decomposed(
            compose_matrix(left_directions[:, :direction_count], heard_values, right_directions[:, :direction_count])
        )
        assert singular[:direction_count] == pytest.approx(np.sort(heard_values)[::-1])
        for rank, place in enumerate(np.argsort(-heard_values)):
            assert abs(after_left[:, rank] @ left_directions[:, place]) == pytest.approx(1.0)
            assert abs(after_right[:, rank] @ right_directions[:, place]) == pytest.approx(1.0)

    def test_without_noise_more_rounds_change_nothing(self):
        baskets = discreet.read(FIGURE * 40)
        result_of_one_round, result_of_five_rounds = (
            learn_without_noise(
                baskets,
                "relations",
                top=6,
                epsilon=4,
                seed=1,
                settings={"form": "printed", "items": 6, "support": 30, "theta": (1, 1), "rounds": rounds},
            )
            for rounds in (1, 5)
        )
        assert result_of_one_round.selected[:12] == result_of_five_rounds.selected[:12]

    def test_without_noise_the_corrected_form_has_the_truth(self):
        result = learn_without_noise(
            discreet.read(FIGURE * 400), "relations", top=6, epsilon=4, seed=1, settings={"items": 6, "support": 12}
        )
        assert result.related is not None
        assert set(zip(result.related.first, result.related.second, strict=True)) == {
            ((a,), (b,)) for a, b in permutations((3, 4, 5), 2)
        }
        assert result.related.values == pytest.approx(1 / 3, abs=0.05)


class TestSpectral:
    def test_supports_are_fractions_before_they_are_multiplied(self):
        guess = independent(np.array([1.2, 0.5, -0.1]))
        assert guess == pytest.approx(np.array([[1.0, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 0.0]]))

    def test_rank_is_a_share_of_the_sum(self):
        singular = np.array([5.0, 3.0, 2.0])
        assert [rank_of(singular, theta) for theta in (0.1, 0.5, 0.51, 0.8, 1.0)] == [1, 1, 2, 2, 3]
        assert rank_of(np.zeros(3), 0.5) == 0

    @given(WEIGHTS, WEIGHTS, st.integers(0, 4))
    def test_ranges_hold_for_everyone_with_so_many_items(self, left_weights, right_weights, max_items):
        for item_indicators in product((0, 1), repeat=4):
            if sum(item_indicators) > max_items:
                continue
            mine = np.array(item_indicators)
            low, high = bounds(left_weights, right_weights, max_items, together=True)
            assert low <= int(left_weights @ mine) * int(right_weights @ mine) <= high
            low, high = bounds(left_weights, left_weights, max_items, together=True)
            assert low == 0
            assert int(left_weights @ mine) ** 2 <= high == max(reach(left_weights, max_items)) ** 2
            low, high = bounds(left_weights, -left_weights, max_items, together=True)
            assert low <= -(int(left_weights @ mine) ** 2) <= high == 0

    @given(WEIGHTS, WEIGHTS, st.lists(st.booleans(), min_size=16, max_size=16))
    def test_ranges_hold_for_any_set_of_relations(self, left_weights, right_weights, entries):
        low, high = bounds(left_weights, right_weights, 4, together=False)
        matrix = np.array(entries).reshape(4, 4)
        assert low <= int(left_weights @ matrix @ right_weights) <= high
        every = np.outer(left_weights, right_weights)
        assert (low, high) == (int(every[every < 0].sum()), int(every[every > 0].sum()))

    def test_a_square_has_the_smaller_range(self):
        way = np.array([3, 2, -4, -1], np.int64)
        assert bounds(way, way, 4, together=True) == (0, 25)
        assert bounds(way, way, 4, together=False) == (-50, 50)

    def test_fresh_directions_differ_and_are_public(self):
        rows = [tuple(public_signs(64, number)) for number in range(400)]
        assert len(set(rows)) == 400
        assert abs(np.mean(rows)) < 0.02  # by 25,600 signs: three standard deviations
        assert round_direction(np.array([0.5, -1.0, 0.0])).tolist() == [2048, -4096, 0]
        assert round_direction(np.zeros(2)).tolist() == [0, 0]

    @pytest.mark.parametrize("symmetric", [True, False])
    def test_exact_answers_about_everything_are_believed(self, symmetric):
        rng = np.random.default_rng(5)
        truth = rng.random((4, 4))
        truth = truth + truth.T if symmetric else truth
        belief = MatrixBelief(guess=np.full((4, 4), 0.5), doubt=np.ones((4, 4)), symmetric=symmetric)
        assert belief.mean() == pytest.approx(belief.guess)
        assert belief.variance() == pytest.approx(belief.doubt)
        for _ in range(40):
            left_weights = rng.standard_normal(4)
            right_weights = left_weights if symmetric else rng.standard_normal(4)
            belief.add_measurement(left_weights, right_weights, float(left_weights @ truth @ right_weights), 1e-12)
        assert belief.mean() == pytest.approx(truth, abs=1e-4)
        assert belief.variance().max() < 1e-4

    @pytest.mark.parametrize("symmetric", [True, False])
    def test_rounds_add_up_to_what_all_answers_say_at_once(self, symmetric):
        rng = np.random.default_rng(6)
        guess = independent(rng.random(5))
        rounds, belief_at_once = (MatrixBelief(guess=guess, doubt=guess**2, symmetric=symmetric) for _ in range(2))
        for number in range(24):
            left_weights = rng.standard_normal(5)
            right_weights = left_weights if symmetric else rng.standard_normal(5)
            heard_value = float(left_weights @ guess @ right_weights) + rng.standard_normal()
            for belief in (rounds, belief_at_once):
                belief.add_measurement(left_weights, right_weights, heard_value, 0.2)
            if number % 7 == 3:
                rounds.mean()
        assert rounds.mean() == pytest.approx(belief_at_once.mean(), abs=1e-12)
        assert rounds.variance() == pytest.approx(belief_at_once.variance(), abs=1e-12)

    def test_answers_that_are_surer_than_rounding_allows(self):
        belief = MatrixBelief(guess=np.zeros((3, 3)), doubt=np.full((3, 3), 1e6), symmetric=False)
        for _ in range(20):
            belief.add_measurement(np.ones(3), np.ones(3), 9.0, 0.0)
        assert belief.mean() == pytest.approx(np.ones((3, 3)), abs=1e-3)
        assert np.isfinite(belief.variance()).all()

    def test_precision_weighs_and_nobody_says_nothing(self):
        belief = MatrixBelief(guess=np.zeros((1, 1)), doubt=np.ones((1, 1)), symmetric=True)
        belief.add_measurement(np.ones(1), np.ones(1), 9.0, float("inf"))
        assert belief.mean() == pytest.approx(0.0)
        belief.add_measurement(np.ones(1), np.ones(1), 3.0, 0.5)
        # The factor of the doubt is the likeliest of the powers of two around 3: with 2² it is 4 / 4.5 of the answer.
        factor = (float(belief.mean()[0, 0]) / 3) * 0.5 / (1 - float(belief.mean()[0, 0]) / 3)
        assert factor in (pytest.approx(4.0), pytest.approx(16.0))


class TestFull:
    def test_without_noise_it_is_the_truth(self):
        result = learn_without_noise(
            discreet.read(FIGURE * 4000),
            "relations-full",
            top=6,
            epsilon=4,
            seed=2,
            settings={"items": 6, "support": 12},
        )
        assert result.related is not None
        assert {*result.related.first} == {(3,), (4,), (5,)}
        assert len(result.selected) == 12

    def test_every_entry_is_asked_of_other_people(self, figure):
        outcome = simulate(figure, "relations-full", top=6, epsilon=4, seed=1, settings={"items": 6, "support": 12})
        assert sum(line.name.startswith("matrix") for line in outcome.rounds) == 36
        assert outcome.guarantee.epsilon == 4

    def test_too_many_items(self):
        with pytest.raises(MisuseError) as refused:
            RelationsFull(items=200).check(StudyGoal(items=500, top=5, epsilon=Fraction(1)))
        assert str(refused.value) == "relations-full relates up to 128 items; 200 were given."


def build_listed_baskets(rows, items):
    """Return baskets of numbers with a list of `items` items."""
    return Baskets(laid(rows), flat(rows), Vocabulary(list(range(items))))


def laid(rows):
    return np.cumsum([0, *map(len, rows)]).astype(np.int64)


def flat(rows):
    return np.array([value for mine in rows for value in mine], np.int32)


def made_up(people=60_000, items=300, seed=4):
    """A long list of which thirty-one items are frequent."""
    chance = np.where(np.arange(items) % 10 == 3, 0.2, 0.002)
    chance[0] = 1.0
    rows = np.random.default_rng(seed).random((people, items)) < chance
    return build_listed_baskets([np.flatnonzero(row).tolist() for row in rows], items)


class TestSVDFO:
    def test_finds_frequent_items_of_a_long_list(self):
        outcome = simulate(made_up(), "svd-fo", top=31, epsilon=4, seed=1, settings={"rounds": 2, "fresh": 8})
        names = {next(iter(pattern.items)) for pattern in outcome.patterns}
        assert len(names & {0, *range(3, 300, 10)}) >= 29
        assert outcome.facts["side"] == 18

    @pytest.mark.parametrize("items", [1, 2, 3])
    def test_short_lists(self, items):
        baskets = build_listed_baskets([[0]] * 50, items)
        outcome = simulate(baskets, "svd-fo", top=1, epsilon=2, seed=1, settings={"rounds": 1, "fresh": 2})
        assert len(outcome.patterns) == 1


CASCADE = [{"a", "b", "c"}] * 30 + [{"a"}] * 15 + [{"b"}] * 15 + [{"d"}] * 20 + [{"c", "d"}] * 5


class TestCascade:
    def test_three_items_that_are_together(self):
        outcome = simulate(
            discreet.read(CASCADE * 1500),
            "relations",
            top=4,
            epsilon=4,
            seed=3,
            settings={"items": 4, "support": 12, "cascade": 2},
        )
        assert any(
            rule.antecedent == {"a", "b"} and rule.consequent == {"c"} and rule.confidence > 0.9
            for rule in outcome.relations
        )

    def test_chains_of_given_pairs(self):
        chains = [(0, 1), (1, 2)], [(0, 1)], [(0, 1)], [(3, 0)]
        baskets = related([chains[person % 4] for person in range(60_000)], 4, "given")
        outcome = simulate(
            baskets,
            "relations",
            top=6,
            epsilon=4,
            seed=3,
            settings={"items": 4, "support": 14, "cascade": 1, "how": "given"},
        )
        chained = [rule for rule in outcome.relations if len(rule.antecedent) == 2]
        # Three in four have 0 → 1, and a third of those go on to 2.
        assert [(rule.antecedent, rule.consequent) for rule in chained] == [({0, 1}, {2})]
        assert chained[0].confidence == pytest.approx(1 / 3, abs=0.1)


GOAL = StudyGoal(items=100, top=5, epsilon=Fraction(1))
REFUSED = [
    (RelationMiner(items=1), "relations relates 2 to 256 items; 1 were given."),
    (RelationMiner(support=0), "support is a number of relations, 1 or more; 0 was given."),
    (
        RelationMiner(support=4),
        "The 5 most reliable relations are wanted of the 4 most frequent: give a larger support, or a smaller top.",
    ),
    (RelationMiner(theta=("0", "1")), "theta is over 0 and at most 1, twice; 0 1 was given."),
    (RelationMiner(theta=("0.5", "1.5")), "theta is over 0 and at most 1, twice; 0.5 1.5 was given."),
    (RelationMiner(rounds=101), "rounds is from 0 to 100; 101 was given."),
    (RelationMiner(fresh=0), "fresh is from 1 to 1,000; 0 was given."),
    (RelationMiner(cascade=65), "cascade is from 0 to the number of items, 64; 65 was given."),
    (RelationMiner(cascade=1, form="printed"), "cascade is for the corrected form, with 2 rounds or more."),
    (
        RelationMiner(shares=("0.5", "0.5", "0.5")),
        "The shares of relations are 0.0001 or more each, and add up to 1 at most.",
    ),
    (
        RelationMiner(shares=("0.3", "0.35", "0.00001")),
        "The shares of relations are 0.0001 or more each, and add up to 1 at most.",
    ),
    (RelationMiner(means="grr"), "There is no oracle of means 'grr'; there are duchi, hm, pm."),
    (SVDFO(rounds=0), "rounds is from 1 to 100; 0 was given."),
    (SVDFO(theta=("2", "1")), "theta is over 0 and at most 1, twice; 2 1 was given."),
    (SVDFO(shares=("0", "0.5", "0.5")), "The shares of svd-fo are 0.0001 or more each, and add up to 1 at most."),
    (SVDFO(means="x"), "There is no oracle of means 'x'; there are duchi, hm, pm."),
    (SVDFO(candidates=0), "There is at least one candidate for every pattern wanted; 0 was given."),
    (SVDFO(fresh=1001), "fresh is from 1 to 1,000; 1001 was given."),
    (
        SVDFO(candidates=10**9),
        "1,000,000,000 candidates for each of 5 items are more than 100,000, which no question has room for: give "
        "fewer candidates, or a smaller top.",
    ),
    (
        SVDFO(rounds=3, fresh=1000),
        "3 rounds with 1,000 fresh directions each are 3,000, and svd-fo takes 2,000 in all: give fewer rounds, or "
        "fewer fresh directions.",
    ),
    (
        RelationMiner(rounds=100, fresh=21),
        "100 rounds with 21 fresh directions each are 2,100, and relations takes 2,000 in all: give fewer rounds, or "
        "fewer fresh directions.",
    ),
]


@pytest.mark.parametrize(("plan", "message"), REFUSED, ids=range(len(REFUSED)))
def test_settings_that_make_no_sense_are_refused(plan, message):
    with pytest.raises(MisuseError) as refused:
        plan.check(GOAL)
    assert str(refused.value) == message


@pytest.mark.parametrize("form", ["printed", "corrected"])
@pytest.mark.parametrize("pair_kind", ["together", "after", "given"])
@pytest.mark.parametrize(
    "changes",
    [
        {"items": 2},
        {"items": 4, "support": 10**6},
        {"items": 4, "rounds": 8, "fresh": 3},
        {"items": 3, "theta": (1, "0.01"), "means": "pm"},
        {"items": 3, "rounds": 0},
    ],
    ids=["two items", "all pairs", "more rounds than people", "falling rank", "guess"],
)
class TestEdges:
    def test_few_people(self, form, pair_kind, changes):
        baskets = related([[(0, 1), (1, 2)], [(0, 2)], [(3, 0)]], 4, pair_kind)
        outcome = simulate(
            baskets, "relations", top=2, epsilon=1, seed=1, settings={"form": form, "how": pair_kind} | changes
        )
        assert len(outcome.relations) == 2
        assert outcome.guarantee.epsilon == 1

    def test_nobody_holds_anything(self, form, pair_kind, changes):
        baskets = related([[]], 4, pair_kind)
        outcome = simulate(
            baskets, "relations", top=1, epsilon=1, seed=1, settings={"form": form, "how": pair_kind} | changes
        )
        assert len(outcome.relations) == 1


def related(pairs, items, pair_kind):
    """Return baskets of numbers with an order or pairs as well."""
    events = [[item for pair in mine for item in pair] for mine in pairs]
    baskets = build_listed_baskets([sorted(set(mine)) for mine in events], items)
    if pair_kind == "after":
        return replace(baskets, sequences=Sequences(laid(events), flat(events)))
    antecedents, consequents = ([[pair[side] for pair in mine] for mine in pairs] for side in (0, 1))
    return (
        replace(baskets, pairs=Pairs(laid(pairs), flat(antecedents), flat(consequents)))
        if pair_kind == "given"
        else baskets
    )


def test_one_item_has_no_relations():
    outcome = simulate([{"a"}] * 50, "relations", top=1, epsilon=1, seed=1)
    assert len(outcome.relations) == 0
    assert outcome.notes == (
        "Fewer than two items were there to relate, so there are no relations.",
        "1 relations were wanted and 0 were estimated.",
    )
