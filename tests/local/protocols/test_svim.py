"""SVIM and LDPMiner: their rounds, the people of each round, and the results."""

# internals: this module reads settings as the registry does.
from __future__ import annotations

import os
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InputError, MisuseError
from discreet.local.device import WORD
from discreet.local.study import (
    Ask,
    CandidateList,
    Estimate,
    PeopleGroup,
    ProtocolResult,
    SimulatedPeople,
    SizeQuestion,
    SizesRound,
    StudyGoal,
    converse,
)
from discreet.registry import protocol, protocols
from discreet.registry._settings import parse_value
from discreet_lab.data.datasets import load, path

GOAL = StudyGoal(items=40, top=3, epsilon=Fraction(2))


def nothing(ask: Ask) -> Estimate:
    """A round of nobody."""
    return Estimate(ask, 0, np.zeros(ask.question.values, np.int64))


def run_rounds(
    name: str, goal: StudyGoal = GOAL, **settings
) -> tuple[ProtocolResult, list[tuple[str, Fraction, int, str]]]:
    """Return the rounds: name, share of the people, values, oracle."""
    result, estimates = converse(protocol(name, settings).ask_rounds(goal), nothing)
    rounds = [estimate.ask for estimate in estimates]
    share = [
        Fraction(asked_round.group.stop - asked_round.group.start, WORD).limit_denominator(1000)
        for asked_round in rounds
    ]
    return result, [
        (asked_round.name, part, asked_round.question.values, asked_round.oracle.name)
        for asked_round, part in zip(rounds, share, strict=True)
    ]


def test_svim_as_the_paper_has_it():
    """Half prune with a padding of 1, a tenth tell sizes from 0 to 2k (A7), and the rest estimate 2k candidates."""
    assert run_rounds("svim")[1] == [
        ("which items", Fraction(1, 2), 40, "olh"),
        ("how many candidates", Fraction(1, 10), 7, "olh"),
        ("which candidates", Fraction(2, 5), 6, "grr"),
    ]


def test_ldpminer_as_the_paper_evaluates_it():
    assert run_rounds("ldpminer")[1] == [
        ("how many items", Fraction(1, 10), 41, "olh"),
        ("which items", Fraction(2, 5), 40, "blh"),
        ("which candidates", Fraction(1, 2), 6, "sue"),
    ]


def test_better():
    names = [(name, share) for name, share, _, _ in run_rounds("svim-better")[1]]
    assert names == [
        ("how many items", Fraction(1, 20)),
        ("which items", Fraction(9, 20)),
        ("how many candidates", Fraction(1, 10)),
        ("which candidates", Fraction(2, 5)),
    ]


@pytest.mark.parametrize("items", [1, 5, 6])
def test_no_pruning_where_there_is_nothing_to_prune(items):
    """The people who would have pruned answer for the candidates; sizes go up to all of them (A7)."""
    _, rounds = run_rounds("svim", StudyGoal(items=items, top=3, epsilon=Fraction(2)))
    assert [(name, share, values) for name, share, values, _ in rounds] == [
        ("how many candidates", Fraction(1, 5), items + 1),
        ("which candidates", Fraction(4, 5), items),
    ]


def test_sizes_of_many_candidates_that_were_not_pruned_go_up_to_all_of_them():
    _, rounds = run_rounds("svim", StudyGoal(items=150, top=75, epsilon=Fraction(2)))
    assert rounds[0][2] == 151


def test_when_nobody_answers_there_is_still_an_end():
    result, _ = run_rounds("svim")
    assert result.facts == {"padding": 1, "correction": 1.0}
    assert result.itemsets == tuple((item,) for item in range(6))  # of equal ones, those first in the list
    assert not result.values.any()


def test_everyone_is_asked_once_for_all_protocols():
    for name in protocols():
        plan = protocol(name)
        plan.check(GOAL)
        _, estimates = converse(plan.ask_rounds(GOAL), nothing)
        assert all(estimate.ask.oracle.epsilon == GOAL.epsilon for estimate in estimates), name


def need(name: str):
    """Load a data set, or skip where it is not at hand; in CI it must be."""
    try:
        path(name)
    except InputError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(error))
    return load(name)


def test_the_size_of_baskets_on_T10I4D100K():
    """A8: among the true top 128, nine in ten hold up to 7; a group of 50,000 learns that at epsilon 1. Seeds fixed."""
    baskets = need("T10I4D100K")
    best_items = sorted(np.argsort(-baskets.item_counts, kind="stable")[:128].tolist())
    candidates = CandidateList(itemsets=tuple((item,) for item in best_items))
    sizes_of_people = np.diff(candidates.answers(baskets, np.arange(len(baskets)))[0])
    counts = np.bincount(sizes_of_people, minlength=129)[1:].astype(float)
    assert SizesRound(fractions=counts).padding("percentile", Fraction(9, 10)) == 7
    ask = Ask.of("how many", PeopleGroup(0, WORD // 2), SizeQuestion.up_to(candidates, 128), "olh", Fraction(1))
    paddings = []
    for seed in range(10):
        crowd = SimulatedPeople(baskets=baskets, seed=seed, speed="aggregated")
        paddings.append(SizesRound.of(crowd.hear(ask, crowd.numbers())).padding("percentile", Fraction(9, 10)))
    assert 6.5 <= np.mean(paddings) <= 7.5
    assert set(paddings) <= {6, 7, 8}


class TestRefused:
    @pytest.mark.parametrize(
        ("name", "settings", "message"),
        [
            (
                "svim",
                {"shares": "0 1 1 1"},
                "The shares of svim are 0 or 0.0001 and more, add up to 1 at most, and some prune and some estimate.",
            ),
            (
                "svim",
                {"shares": (0, 0.5, 0.1, 0)},
                "The shares of svim are 0 or 0.0001 and more, add up to 1 at most, and some prune and some estimate.",
            ),
            ("svim", {"shares": "0 half 0.1 0.4"}, "a share is a number such as 1, 0.5 or 1/3; half was given."),
            (
                "svim",
                {"shares": "0.5 0.5"},
                "the setting shares of svim is 4 numbers with spaces or commas between them; '0.5 0.5' was given.",
            ),
            (
                "svim",
                {"shares": 3},
                "the setting shares of svim is 4 numbers with spaces or commas between them; 3 was given.",
            ),
            (
                "svim",
                {"shares": [None, 1, 1, 1]},
                "the setting shares of svim is text or a number; None was given.",
            ),
            ("svim", {"candidates": 0}, "There is at least one candidate for every pattern wanted; 0 was given."),
            ("svim", {"candidates": "two"}, "the setting candidates of svim is a whole number; 'two' was given."),
            ("svim", {"candidates": 2.5}, "the setting candidates of svim is a whole number; 2.5 was given."),
            ("svim", {"candidates": True}, "the setting candidates of svim is a whole number; True was given."),
            (
                "svim",
                {"padding": "median"},
                "the setting padding of svim is a whole number, percentile, predicted or all; 'median' was given.",
            ),
            ("svim", {"padding": 0}, "A padding is 1 or more; 0 was given."),
            ("svim", {"first_padding": "-2"}, "A first_padding is 1 or more; -2 was given."),
            (
                "svim",
                {"first_padding": "percentile"},
                "The first_padding is percentile, which is learnt from sizes: give them a share over 0.",
            ),
            (
                "svim",
                {"shares": "0 0.5 0 0.5"},
                "The padding is percentile, which is learnt from sizes: give them a share over 0.",
            ),
            ("svim", {"percentile": 0}, "percentile is over 0 and at most 1, such as 0.9; 0 was given."),
            ("svim", {"percentile": "90"}, "percentile is over 0 and at most 1, such as 0.9; 90 was given."),
            ("svim", {"corrected": "maybe"}, "the setting corrected of svim is on or off; 'maybe' was given."),
            ("svim", {"sizes": "some"}, "the setting sizes of svim is each or bins; 'some' was given."),
            (
                "svsm",
                {"items": "apriori"},
                "the setting items of svsm is svim, svim-better or ldpminer; 'apriori' was given.",
            ),
            (
                "svsm",
                {"shares": "1 0.1 0.4"},
                "The shares of svsm are 0 or 0.0001 and more, and add up to 1 at most; items and itemsets need some.",
            ),
            (
                "svsm",
                {"shares": "0.5 0 0.5"},
                "The padding is percentile, which is learnt from sizes: give them a share over 0.",
            ),
        ],
        ids=str,
    )
    def test_settings(self, name, settings, message):
        with pytest.raises(MisuseError) as error:
            protocol(name, settings).check(GOAL)
        assert str(error.value) == message

    def test_a_setting_there_is_not(self):
        with pytest.raises(MisuseError) as error:
            protocol("ldpminer", {"pad": 3})
        assert str(error.value) == (
            "ldpminer has no setting 'pad': it has shares, candidates, first_oracle, first_padding, size_oracle, "
            "oracle, padding, percentile, corrected, sizes, robust."
        )

    def test_an_oracle_there_is_not(self):
        for setting in ("oracle", "first_oracle", "size_oracle"):
            with pytest.raises(MisuseError, match=r"^There is no oracle 'rappor'; there are adaptive, grr-or-olh, blh"):
                protocol("svim", {setting: "rappor"}).check(GOAL)

    def test_itemsets(self):
        with pytest.raises(MisuseError) as error:
            protocol("svim").check(StudyGoal(items=40, top=3, epsilon=Fraction(2), least=2))
        assert str(error.value) == "svim finds single items: use svsm for patterns of two items or more."

    def test_a_protocol_there_is_not(self):
        with pytest.raises(MisuseError) as error:
            protocol("svms")
        assert str(error.value) == (
            f"There is no protocol 'svms'; there are {', '.join(protocols())}. Did you mean 'svsm'?"
        )
        with pytest.raises(MisuseError, match=r"^protocol is one of the names that "):
            protocol(3)

    def test_settings_beside_a_protocol(self):
        with pytest.raises(MisuseError) as error:
            protocol(protocol("svim"), {"candidates": 3})
        assert str(error.value) == "Settings belong to a protocol given by name: put them into the object instead."

    def test_the_published_form_is_not_there_by_name(self):
        assert "ldpminer-published" not in protocols()


def test_settings_as_typed_on_a_command_line():
    text = {"shares": "0,0.5,0.1,0.4", "candidates": "3", "first_padding": "2", "padding": "all", "corrected": "off"}
    settings = {"shares": [0, 0.5, Fraction(1, 10), "0.4"], "candidates": 3, "first_padding": 2, "padding": "all"}
    protocol_of_text, protocol_of_values = protocol("svim", text), protocol("svim", settings | {"corrected": False})
    assert protocol_of_text.parts == protocol_of_values.parts == [0, Fraction(1, 2), Fraction(1, 10), Fraction(2, 5)]  # type: ignore[attr-defined]
    assert protocol_of_text != protocol_of_values  # shares are kept as they were written
    assert (protocol_of_text.candidates, protocol_of_text.first_padding, protocol_of_text.corrected) == (3, 2, False)  # type: ignore[attr-defined]


def test_every_protocol_of_ours_has_its_proof_page():
    for name, registered in protocols().items():
        if registered.package == "discreet":
            assert (registered.proof.name, registered.unproven) == (f"{name}.md", "")


@pytest.mark.parametrize(
    ("value", "hint", "expected_value"),
    [
        ("7", int | None, 7),
        ("none", int | None, None),
        (None, int | None, None),
        (Fraction(1, 3), Fraction, Fraction(1, 3)),
        ("x", int | bytes, "x"),
        (Fraction(1, 3), str, "1/3"),
        (0.25, str, "0.25"),
        ("1 2", tuple[int, str], (1, "2")),
        ("ON", bool, True),
        (False, bool, False),
    ],
    ids=str,
)
def test_settings_are_read_by_their_type(value, hint, expected_value):
    """Types this package does not know are left to the package that brings them."""
    assert parse_value(value, hint, "the setting") == expected_value
