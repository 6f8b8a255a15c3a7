"""Relations asked for directly: Figure 1 of Dong et al., the prior, hardly any data, and refusals."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import discreet
from discreet.baskets import Baskets, Pairs, Sequences, Vocabulary, starts
from discreet.errors import MisuseError
from discreet.exact import relations, score_relations
from discreet.local.estimation import Evidence, ItemsetGuess, shrink_estimates
from discreet.local.estimation._priors import RELATIONS
from discreet.local.protocols import PairsProtocol as PairsProtocol, Singles
from discreet.local.study import CandidateEstimates, CandidateList, StudyGoal, build_rules, simulate
from discreet.registry import protocol

PEOPLE = 300_000
FIGURE = [{1, 2}] * 20 + [{1, 3}] * 20 + [{2, 3}] * 10 + [{4, 5, 6}] * 25
WANTED_PAIRS = set(permutations((4, 5, 6), 2))
SIZES = {"items": 6, "support": 12}


@pytest.fixture(scope="module")
def figure() -> Baskets:
    return discreet.read(FIGURE * (PEOPLE // len(FIGURE)))


def pairs_of(rules) -> set[tuple[int, int]]:
    return {(*rule.antecedent, *rule.consequent) for rule in rules}


@pytest.mark.parametrize("prior", ["two-part", "normal", "none"])
def test_figure_1_is_found(prior, figure):
    """All ten fixed seeds find all six; nine are asked for."""
    relations_found = [
        pairs_of(
            simulate(
                figure,
                "pairs",
                top=6,
                epsilon=4,
                seed=seed,
                speed="aggregated",
                settings={**SIZES, "prior": prior},
            ).relations
        )
        for seed in range(10)
    ]
    assert sum(pairs_of_run == WANTED_PAIRS for pairs_of_run in relations_found) >= 9


def test_figure_1_is_not_found_by_the_guess(figure):
    """With the true frequencies of the items and no noise at all, chance has other pairs in front."""
    counts = figure.item_counts / len(figure)
    candidates = CandidateList(itemsets=tuple((item,) for item in range(6)))
    singles = Singles.of(
        CandidateEstimates(candidates=candidates, values=counts, variance=counts * 0, pad=1, correction=1.0), 6
    )
    asked_relations = singles.relations("together")
    guess = singles.independent_frequencies(asked_relations.chains)
    result = singles.build_result(asked_relations, guess, guess * 0, support=12, top=6, facts={})
    assert not pairs_of(build_rules(result.related, figure.vocabulary, len(figure))) & WANTED_PAIRS


def make_ordered_baskets(people: int, seed: int = 0) -> Baskets:
    """People who mostly do 1 after 0 and 3 after 2, and have pairs of what they did one right after the other."""
    generator = np.random.default_rng(seed)
    events = []
    for _ in range(people):
        row = [int(item) for item in generator.permutation(8)[: generator.integers(0, 3)]]
        first_items = [[0, 1], [2, 3]][int(generator.integers(2))] if generator.random() < 0.5 else []
        events.append([*first_items, *(item for item in row if item not in first_items)])
    rows = [sorted(set(row)) for row in events]
    pairs = [sorted(set(pairwise(row))) for row in events]
    return Baskets(
        starts([len(row) for row in rows]),
        np.array([item for row in rows for item in row], np.int32),
        Vocabulary(list(range(8))),
        Sequences(starts([len(row) for row in events]), np.array([item for row in events for item in row], np.int32)),
        Pairs(
            starts([len(pairs_of_person) for pairs_of_person in pairs]),
            np.array([antecedent for pairs_of_person in pairs for antecedent, _ in pairs_of_person], np.int32),
            np.array([consequent for pairs_of_person in pairs for _, consequent in pairs_of_person], np.int32),
        ),
    )


@pytest.fixture(scope="module")
def ordered() -> Baskets:
    return make_ordered_baskets(20_000)


@pytest.mark.parametrize("pair_kind", ["given", "after", "together"])
def test_every_kind_of_relation(pair_kind, ordered):
    """At epsilon 6 the deviation of a confidence is about 0.01, and what is wanted stands out by 0.2."""
    expected_pairs = {(0, 1), (2, 3)} if pair_kind != "together" else {(0, 1), (1, 0), (2, 3), (3, 2)}
    top = len(expected_pairs)
    outcome = simulate(
        ordered, "pairs", top=top, epsilon=6, seed=1, score=True, settings={"how": pair_kind, "items": 8}
    )
    assert pairs_of(outcome.relations) == expected_pairs
    truth = relations(ordered, how=pair_kind, items=8, top=top)
    assert outcome.scores["confidence error"] == score_relations(outcome.relations, truth).confidence_error < 0.01
    assert outcome.guarantee.epsilon == Fraction(6)
    assert [line.name for line in outcome.rounds][-2:] == ["how many relations", "which relations"]
    assert len(outcome.patterns) == 8  # the items they are of


def test_intervals_hold_the_true_confidence(ordered):
    """Over ten fixed seeds; of 200 intervals 90 % are promised (union of two), all but a few hold it."""
    truth = relations(ordered, how="after", items=8, support=56, top=56)
    true_confidences = {(*rule.antecedent, *rule.consequent): rule.confidence for rule in truth}
    inside = []
    for seed in range(10):
        outcome = simulate(
            ordered, "pairs", top=20, epsilon=3, seed=seed, speed="aggregated", settings={"how": "after", "items": 8}
        ).relations
        inside += [
            rule.low <= true_confidences.get((*rule.antecedent, *rule.consequent), 0) <= rule.high for rule in outcome
        ]
    assert np.mean(inside) > 0.85


def draw_estimates(
    seed: int, *, noise: float, frequent_count: int = 12, pair_count: int = 1000
) -> tuple[np.ndarray, ...]:
    """Return estimates, variances, guesses, caps and the truth: `frequent_count` pairs have about half of their cap."""
    generator = np.random.default_rng(seed)
    left_frequencies, right_frequencies = generator.uniform(0.01, 0.12, (2, pair_count))
    guess, caps = left_frequencies * right_frequencies, np.minimum(left_frequencies, right_frequencies)
    true_frequencies = 0.8 * guess * generator.lognormal(0, 0.3, pair_count)
    true_frequencies[:frequent_count] = caps[:frequent_count] * generator.uniform(0.3, 0.8, frequent_count)
    return (
        true_frequencies + generator.normal(0, noise, pair_count),
        np.full(pair_count, noise**2),
        guess,
        caps,
        true_frequencies,
    )


def two_part(values, variance, guess, caps, doubt=0.0):
    """Return the posterior means and variances."""
    guessed = ItemsetGuess(means=guess, variance=np.full(len(guess), doubt), cap=caps)
    return shrink_estimates(Evidence.noisy(values, variance), guessed)


class TestPrior:
    def test_the_numbers_of_the_prior_are_not_sure_either(self):
        """One estimate says little about them, so they are about as unsure as before: that is in its variance."""
        value, variance, guess, caps = (np.array([number]) for number in (0.02, 1e-3, 0.02, 0.2))
        known_evidence, guessed = (
            Evidence.noisy(value, variance),
            ItemsetGuess(means=guess, variance=np.zeros(1), cap=caps),
        )
        assert (
            shrink_estimates(known_evidence, guessed)[1] > 1.2 * RELATIONS.posterior(known_evidence, guessed).variance
        )

    def test_what_has_no_noise_stays(self):
        values, guess = np.array([0.3, 0.01, 0.02, 0.5]), np.array([0.02, 0.01, 0.02, 0.02])
        pulled, wide_variance = two_part(values, np.zeros(4), guess, np.full(4, 0.5))
        assert pulled == pytest.approx(values, abs=1e-6)
        assert wide_variance.max() < 1e-9

    def test_few_that_stand_out_stay_and_the_rest_is_pulled(self):
        """One normal law would pull all of them alike."""
        values, variance, guess, caps, true_frequencies = draw_estimates(1, noise=0.002)
        pulled, _ = two_part(values, variance, guess, caps)
        assert np.abs(pulled[:12] - values[:12]).max() < 0.004
        assert (
            np.abs(pulled[12:] - true_frequencies[12:]).mean()
            < 0.5 * np.abs(values[12:] - true_frequencies[12:]).mean()
        )

    @pytest.mark.parametrize("noise", [0.0005, 0.002, 0.008, 0.03])
    def test_never_worse_than_nothing(self, noise):
        """Ten fixed seeds: what to expect is nearer to the truth than the estimate is, and finds as many of the far."""
        differences = []
        for seed in range(10):
            values, variance, guess, caps, true_frequencies = draw_estimates(seed, noise=noise)
            pulled, _ = two_part(values, variance, guess, caps)
            assert ((pulled - true_frequencies) ** 2).mean() < ((values - true_frequencies) ** 2).mean()
            hit_count, plain = (int((np.argsort(-estimates / caps)[:12] < 12).sum()) for estimates in (pulled, values))
            differences.append(hit_count - plain)
        assert min(differences) >= -1
        assert sum(differences) >= 0

    def test_intervals_hold_the_truth(self):
        """Two deviations, five fixed seeds, 5,000 values: 95 % where the law were true."""
        inside = []
        for seed in range(5):
            values, variance, guess, caps, true_frequencies = draw_estimates(seed, noise=0.004)
            pulled, wide_variance = two_part(values, variance, guess, caps)
            inside.append((np.abs(pulled - true_frequencies) < 2 * np.sqrt(wide_variance)).mean())
        assert np.mean(inside) > 0.9

    @given(
        st.lists(st.tuples(st.floats(-1, 1), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1)), max_size=30),
        st.sampled_from([0.0, 1.0]),
    )
    def test_whatever_the_numbers(self, rows, doubt):
        values, variance, guess, caps = (np.array([row[column] for row in rows]) for column in range(4))
        pulled, wide_variance = two_part(values, variance, guess, caps, doubt)
        assert np.isfinite(pulled).all()
        assert np.isfinite(wide_variance).all()
        assert (wide_variance >= 0).all()


@pytest.mark.parametrize("seed", range(6))
def test_the_prior_never_loses_what_is_found_without_it(seed, crowded_baskets):
    """A few of many pairs are real, at two epsilons: the prior finds as many of them, but for one."""
    for epsilon in (2, 4):
        pairs_found = [
            pairs_of(
                simulate(
                    crowded_baskets,
                    "pairs",
                    top=8,
                    epsilon=epsilon,
                    seed=seed,
                    speed="aggregated",
                    settings={"items": 24, "prior": prior},
                ).relations
            )
            for prior in ("two-part", "none")
        ]
        real_pairs = {(a, b) for item in range(0, 8, 2) for a, b in ((item, item + 1), (item + 1, item))}
        assert len(pairs_found[0] & real_pairs) >= len(pairs_found[1] & real_pairs) - 1


@pytest.fixture(scope="module")
def crowded_baskets() -> Baskets:
    """40,000 people with some of 24 items by chance, and four pairs of them that come together."""
    generator = np.random.default_rng(3)
    holdings = generator.random((40_000, 24)) < np.linspace(0.12, 0.03, 24)
    for item in range(0, 8, 2):
        holds_both = generator.random(len(holdings)) < 0.05
        holdings[holds_both, item : item + 2] = True
    return discreet.read([set(np.flatnonzero(row).tolist()) for row in holdings])


@pytest.mark.parametrize("speed", ["person", "aggregated"])
@pytest.mark.parametrize(
    "rows",
    [[set()] * 50, [{1}], [{1}] * 500, [set(), {1, 2}], [{1, 2, 3}] * 3],
    ids=["empty", "one", "same", "two", "three"],
)
def test_it_ends_well_on_hardly_any_data(rows, speed):
    baskets = discreet.read([{"a"}, *({str(item) for item in row} for row in rows)])
    outcome = simulate(baskets, "pairs", top=4, epsilon=1, seed=2, speed=speed, score=True)
    relation_count = len(outcome.relations)
    assert relation_count <= 4
    assert (f"4 relations were wanted and {relation_count} were estimated." in outcome.notes) == (relation_count < 4)
    assert ((outcome.relations.low <= outcome.relations.high) | (relation_count == 0)).all()


def test_what_a_padding_cuts_off_stays_in_the_intervals():
    """Where all estimates are scaled up by one factor, no agreement among them says that it is right."""
    rows = np.random.default_rng(1).random((9000, 10)) < 0.5
    baskets = [{f"item {code}" for code in np.flatnonzero(row)} for row in rows]
    outcome = simulate(baskets, "pairs", top=4, epsilon=2, seed=2, settings={"padding": 1})
    cut_share = (1 - 1 / outcome.facts["relation correction"]) / 2
    for rule in outcome.relations:
        assert rule.low == 0.0 or rule.confidence - rule.low > 1.9 * cut_share * rule.confidence


def test_one_item_has_no_relations():
    outcome = simulate([{"a"}] * 30, "pairs", top=4, epsilon=1, seed=2, score=True)
    assert len(outcome.relations) == 0
    assert outcome.notes[0] == "Fewer than two items were there to relate, so there are no relations."


@pytest.mark.parametrize(
    ("given_settings", "message"),
    [
        (
            {"shares": "0.5 0.6 0.1"},
            "The shares of pairs are 0, or 0.0001 or more each, and add up to 1 at most; items and relations need "
            "some.",
        ),
        ({"items": 1}, "pairs relates 2 to 256 items; 1 were given."),
        ({"items": 257}, "pairs relates 2 to 256 items; 257 were given."),
        ({"support": 0}, "support is a number of relations, 1 or more; 0 was given."),
        (
            {"support": 3},
            "The 4 most reliable relations are wanted of the 3 most frequent: give a larger support, or a smaller top.",
        ),
        (
            {"shares": "0.5 0 0.5"},
            "The padding is predicted, which is learnt from sizes: give them a share over 0.",
        ),
        ({"oracle": "best"}, None),
        (
            {"oracle": "privset", "items": 256},
            "privset answers for up to 5,000 candidates, and there are 32,640: use wheel.",
        ),
        (
            {"oracle": "privset", "items": 128, "how": "after", "padding": 2, "guessed": True, "support": 6000},
            "privset answers for up to 5,000 candidates, and there are 6,000: use wheel.",
        ),
    ],
    ids=range(9),
)
def test_settings_that_make_no_sense_are_refused(given_settings, message):
    with pytest.raises(MisuseError) as error:
        protocol("pairs", given_settings).check(StudyGoal(items=300, top=4, epsilon=Fraction(1)))
    assert str(error.value) == message if message else "There is no oracle 'best'" in str(error.value)


def test_more_than_relations_is_refused():
    with pytest.raises(MisuseError) as error:
        PairsProtocol().check(StudyGoal(items=10, top=4, epsilon=Fraction(1), least=2))
    assert str(error.value) == "pairs finds relations of two items: leave least out."


def test_data_without_order_are_refused_before_anyone_is_asked():
    with pytest.raises(MisuseError) as error:
        simulate([{"a", "b"}], "pairs", top=4, epsilon=1, seed=2, settings={"how": "after"})
    assert str(error.value) == (
        "These data have no order: read them with time=, a column of times, or ordered=True; or use 'together'."
    )
