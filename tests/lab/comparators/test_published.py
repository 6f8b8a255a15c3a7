"""LDPMiner as it was published: everybody is asked twice, and that is what its guarantee says."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet import MisuseError
from discreet.baskets import groceries
from discreet.local.device import WORD
from discreet.local.study import Ask, Estimate, Wanted, Who, compute_guarantee, converse, simulate
from discreet_lab.comparators.published import PublishedLDPMiner


def heard(asked: Ask) -> Estimate:
    """Some answer, the same for the same round."""
    drawn = np.random.default_rng(asked.who.start).integers(0, 900, asked.question.values)
    return Estimate(asked, 1000, drawn)


def test_the_published_form_asks_everyone_twice():
    plan = PublishedLDPMiner(padding=3)
    wanted = Wanted(items=40, top=3, epsilon=Fraction(1))
    _, estimates = converse(plan.talk(wanted), heard, reports=plan.reports)
    asks = [one.ask for one in estimates]
    assert [(one.who, one.oracle.name, one.oracle.epsilon, one.oracle.pad) for one in asks] == [
        (Who(0, WORD), "blh", Fraction(1, 2), 3),
        (Who(0, WORD), "sue", Fraction(1, 2), 6),
    ]
    guarantee = compute_guarantee(asks, plan.public)
    assert guarantee.epsilon == 1
    assert guarantee.public == ("the items", "the padding, though it was taken from the raw data")
    with pytest.raises(MisuseError, match="asks people again"):
        converse(plan.talk(wanted), heard)


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
