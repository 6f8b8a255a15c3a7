"""PCKV: keys with values, the paper's split, Figure 1, hardly any data, and refusals."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import discreet
from discreet.baskets import Baskets, Pairs, Vocabulary, starts
from discreet.errors import MisuseError
from discreet.local import SimulatedAnswers
from discreet.local.device import find_values
from discreet.local.oracle_steps import oracles
from discreet.local.study import KeyQuestion, RelationItems, Relations, StudyGoal, simulate
from discreet.registry import protocol

FIGURE = [{1, 2}] * 20 + [{1, 3}] * 20 + [{2, 3}] * 10 + [{4, 5, 6}] * 25
KNOWN_ITEMS = 6
PAIR = st.tuples(st.integers(0, KNOWN_ITEMS - 1), st.integers(0, KNOWN_ITEMS - 1)).filter(
    lambda pair: pair[0] != pair[1]
)


@given(
    st.lists(st.lists(PAIR, max_size=5, unique=True), max_size=8),
    st.permutations(range(KNOWN_ITEMS)),
    st.integers(2, KNOWN_ITEMS),
    st.sampled_from(["given", "together"]),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_everyone_answers_as_their_device_does(pair_lists, order, item_count, pair_kind, absent, random):
    pairs = [sorted(pair_list) for pair_list in pair_lists]
    rows = [
        sorted({item for pair in pair_list for item in pair} | {random.randrange(KNOWN_ITEMS)}) for pair_list in pairs
    ]
    baskets = Baskets(
        starts([len(row) for row in rows]),
        np.array([item for row in rows for item in row], np.int32),
        Vocabulary(list(range(KNOWN_ITEMS))),
        None,
        Pairs(
            starts([len(pairs_of_person) for pairs_of_person in pairs]),
            np.array([antecedent for pairs_of_person in pairs for antecedent, _ in pairs_of_person], np.int32),
            np.array([consequent for pairs_of_person in pairs for _, consequent in pairs_of_person], np.int32),
        ),
    )
    possible_pairs = list(permutations(order[:item_count], 2))
    asked_pairs = tuple(random.sample(possible_pairs, random.randint(1, len(possible_pairs))))
    question = KeyQuestion(Relations(RelationItems(tuple(order[:item_count]), pair_kind), asked_pairs), absent)
    for people in (np.arange(len(rows)), np.arange(len(rows))[::-2].copy()):
        offsets, values = question.answers(baskets, people)
        answers = [values[a:b].tolist() for a, b in pairwise(offsets)]
        assert answers == [find_values(question.form(), rows[person], pairs[person]) for person in people]
        assert all(0 <= value < question.values for answer in answers for value in answer)


def test_keys_are_pairs():
    relations = Relations(RelationItems((0, 1, 2), "given", bonds=((0, 1),)), ((0, 1, 2),))
    with pytest.raises(MisuseError) as error:
        KeyQuestion(relations)
    assert str(error.value) == "Keys are relations of two items."


@pytest.mark.parametrize("epsilon", ["0.5", "1", "4"])
@pytest.mark.parametrize("pad", [1, 3, 20])
def test_pckv_grr_is_grr_over_keys_with_values(epsilon, pad):
    """With the paper's split all pairs of key and value but the own one are as likely, and their ratio is grr's."""
    keys, exp_rounded_down = 50, float(np.exp(float(epsilon)))
    everything = keys + pad
    p_kept = (pad * (exp_rounded_down - 1) + 2) / (pad * (exp_rounded_down - 1) + 2 * everything)
    right = (pad * (exp_rounded_down - 1) + 1) / (pad * (exp_rounded_down - 1) + 2)
    p_other = (1 - p_kept) / (everything - 1)
    assert p_kept * (1 - right) == pytest.approx(p_other / 2)
    oracle = oracles()["grr"].make(Fraction(epsilon), 2 * keys, pad=pad)
    assert float(oracle.p_own / oracle.p_other) == pytest.approx(p_kept * right / (p_other / 2))


def test_values_are_told_apart():
    """Three in ten have a key with +1, and two in ten with -1: at epsilon 3 each estimate is off by about 0.005."""
    for name in ("pckv-ue", "grr"):
        oracle = oracles()[name].make(Fraction(3), 6)
        rows = [[3]] * 30_000 + [[2]] * 20_000 + [[]] * 50_000
        answered = SimulatedAnswers(
            offsets=starts([len(row) for row in rows]),
            values=np.array([value for row in rows for value in row], np.int32),
            people=np.arange(len(rows)),
        )
        estimate = oracle.estimate(oracle.supports(oracle.reports(answered, 5)), len(rows))
        assert estimate == pytest.approx([0, 0, 0.2, 0.3, 0, 0], abs=0.03)


@pytest.mark.parametrize("oracle", ["pckv-ue", "grr", "adaptive"])
@pytest.mark.parametrize("keys", ["relation", "first"])
def test_figure_1_is_found(oracle, keys):
    baskets = discreet.read(FIGURE * 4000)
    pairs_found = []
    for seed in range(3):
        outcome = simulate(
            baskets,
            "pckv",
            top=6,
            epsilon=4,
            seed=seed,
            speed="aggregated",
            settings={"items": 6, "support": 12, "oracle": oracle, "keys": keys},
        )
        pairs_found.append({(*rule.antecedent, *rule.consequent) for rule in outcome.relations})
    assert pairs_found == [set(permutations((4, 5, 6), 2))] * 3
    assert outcome.guarantee.epsilon == Fraction(4)
    assert outcome.facts["key padding"] == (3 if keys == "relation" else 15)


@pytest.mark.parametrize("speed", ["person", "aggregated"])
@pytest.mark.parametrize("keys", ["relation", "first"])
@pytest.mark.parametrize(
    "rows",
    [[set()] * 50, [{1}], [{1}] * 500, [set(), {1, 2}], [{1, 2, 3}] * 3],
    ids=["empty", "one", "same", "two", "three"],
)
def test_it_ends_well_on_hardly_any_data(rows, keys, speed):
    baskets = discreet.read([{"a"}, *({str(item) for item in row} for row in rows)])
    outcome = simulate(baskets, "pckv", top=4, epsilon=1, seed=2, speed=speed, score=True, settings={"keys": keys})
    assert len(outcome.relations) <= 4
    assert np.isfinite(outcome.relations.low).all()


@pytest.mark.parametrize(
    ("given_settings", "message"),
    [
        ({"shares": "0.5 0.6 0.1"}, "The shares of pckv are 0.0001 or more each, and add up to 1 at most."),
        ({"shares": "0.3 0.1 0.00000000001"}, "The shares of pckv are 0.0001 or more each, and add up to 1 at most."),
        (
            {"padding": 10**9},
            "A padding is 1 to 4,032, the keys that 64 items make; 1,000,000,000 was given.",
        ),
        ({"shares": "0.5 0 0.1"}, "The shares of pckv are 0.0001 or more each, and add up to 1 at most."),
        ({"items": 1}, "pckv relates 2 to 256 items; 1 were given."),
        ({"padding": 0}, "A padding is 1 to 4,032, the keys that 64 items make; 0 was given."),
        ({"percentile": "0"}, "percentile is over 0 and at most 1, such as 0.9; 0 was given."),
        ({"keys": "second"}, "the setting keys of pckv is relation or first; 'second' was given."),
        ({"oracle": "olh"}, "the setting oracle of pckv is adaptive, pckv-ue or grr; 'olh' was given."),
    ],
    ids=range(9),
)
def test_settings_that_make_no_sense_are_refused(given_settings, message):
    with pytest.raises(MisuseError) as error:
        protocol("pckv", given_settings).check(StudyGoal(items=200, top=4, epsilon=Fraction(1)))
    assert str(error.value) == message
