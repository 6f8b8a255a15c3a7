"""Protocols led by truthful people: every round is answered as it is expected without noise."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from discreet.local import Protocol
from discreet.local.device import find_values
from discreet.local.study import Ask, Estimate, ProtocolResult, StudyGoal, converse
from discreet.registry import protocol


def fractions_of(baskets: list[set[int]]) -> Callable[[Ask], Estimate]:
    """Answer every round as it is expected without noise, among endlessly many people."""

    def hear(ask: Ask) -> Estimate:
        people, oracle = 10**12, ask.oracle
        shares = np.zeros(ask.question.values)
        for basket in baskets:
            values = find_values(ask.form, basket)
            kept_share = 1.0 if oracle.single else min(1.0, oracle.pad / max(len(values), 1))
            shares[values] += kept_share / len(baskets)
        expected_supports = people * (shares * float(oracle.p_held) + (1 - shares) * float(oracle.p_other))
        return Estimate(ask, people, np.rint(expected_supports).astype(np.int64))

    return hear


# Table I of the paper: a, c, e; b, d, e; a, b, e; a, d, e; a, f.
TABLE_1 = [{0, 2, 4}, {1, 3, 4}, {0, 1, 4}, {0, 3, 4}, {0, 5}]


def led(name: str | Protocol, baskets: list[set[int]], **fields: object) -> tuple[ProtocolResult, list[Ask]]:
    """Return what a protocol learns from these people, and what it asks them."""
    parameters = StudyGoal(**{"items": 6, "top": 3, "epsilon": Fraction(2)} | fields)
    plan = protocol(name)
    plan.check(parameters)
    outcome, estimates = converse(plan.ask_rounds(parameters), fractions_of(baskets), reports=plan.reports)
    return outcome, [estimate.ask for estimate in estimates]
