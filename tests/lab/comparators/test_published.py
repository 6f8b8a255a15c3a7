"""LDPMiner as it was published: everybody is asked twice, and that is what its guarantee says."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet import MisuseError
from discreet.baskets import groceries
from discreet.local.device import WORD
from discreet.local.study import Ask, Estimate, PeopleGroup, StudyGoal, compute_guarantee, converse, simulate
from discreet_lab.comparators.published import PublishedLDPMiner


def answer_round(question: Ask) -> Estimate:
    """Some answer, the same for the same round."""
    drawn_counts = np.random.default_rng(question.group.start).integers(0, 900, question.question.values)
    return Estimate(question, 1000, drawn_counts)


def test_the_published_form_asks_everyone_twice():
    plan = PublishedLDPMiner(padding=3)
    parameters = StudyGoal(items=40, top=3, epsilon=Fraction(1))
    _, estimates = converse(plan.ask_rounds(parameters), answer_round, reports=plan.reports)
    asks = [estimate.ask for estimate in estimates]
    assert [
        (estimate.group, estimate.oracle.name, estimate.oracle.epsilon, estimate.oracle.pad) for estimate in asks
    ] == [
        (PeopleGroup(0, WORD), "blh", Fraction(1, 2), 3),
        (PeopleGroup(0, WORD), "sue", Fraction(1, 2), 6),
    ]
    guarantee = compute_guarantee(asks, plan.public)
    assert guarantee.epsilon == 1
    assert guarantee.public == ("the items", "the padding, though it was taken from the raw data")
    with pytest.raises(MisuseError, match="asks people again"):
        converse(plan.ask_rounds(parameters), answer_round)


def test_the_guarantee_comes_from_what_was_asked():
    """Two reports add up; what is public is said."""
    baskets = groceries(2_000, seed=1)
    outcome = simulate(baskets, PublishedLDPMiner(padding=7), top=5, epsilon=1, seed=1)
    assert outcome.guarantee.epsilon == 1
    assert [charge.epsilon for charge in outcome.guarantee.charges] == [Fraction(1, 2)] * 2
    assert outcome.guarantee.public[1] == "the padding, though it was taken from the raw data"
    assert outcome.notes == (
        "The padding was taken from the raw data: what it gives away is not counted.",
        "No device answers through blh or sue, kept for comparison: with these settings the protocol is simulated "
        "only, and no study can run it.",
    )
    assert [line.people for line in outcome.rounds] == [len(baskets)] * 2
    assert outcome.reports == 2
