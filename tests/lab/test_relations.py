"""What is compared on relations: all of it in one setting, and Figure 1 of Dong et al."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import pytest

import discreet
from discreet.local.study import StudyGoal, simulate
from discreet_lab.comparators.relation_protocols import CHAINS, list_protocols

FIGURE = [{1, 2}] * 20 + [{1, 3}] * 20 + [{2, 3}] * 10 + [{4, 5, 6}] * 25


@pytest.mark.parametrize("pair_kind", ["given", "after", "together"])
def test_three_in_ten_answer_for_items(pair_kind):
    protocols = list_protocols(pair_kind)
    assert ("CALM" in protocols) == (pair_kind == "together")
    for protocol in protocols.values():
        protocol.check(StudyGoal(items=100, top=32, epsilon=Fraction(4)))
        shares = [Fraction(share) for share in protocol.shares]
        assert (shares[0], sum(shares)) == (Fraction(3, 10), 1)
        assert (protocol.how, protocol.items, protocol.support) == (pair_kind, 64, 1600)


def test_chains_are_compared_where_they_are_wanted():
    assert CHAINS not in list_protocols()
    plan = list_protocols("given", items=5, support=20, cascade=3)[CHAINS]
    assert (plan.how, plan.items, plan.support, plan.cascade) == ("given", 5, 20, 3)


@pytest.mark.parametrize(
    ("name", "expected"), [("SVIM", True), ("SVSM", False), ("CALM", True), ("PCKV", True), ("`pairs`", True)]
)
def test_figure_1(name, expected):
    """Guessed candidates have none of the relations wanted, so SVSM finds none; all others find all six."""
    plan = list_protocols(items=6, support=12)[name]
    outcome = simulate(discreet.read(FIGURE * 4000), plan, top=6, epsilon=4, seed=1, speed="aggregated")
    relations = {(*rule.antecedent, *rule.consequent) for rule in outcome.relations}
    assert relations & set(permutations((4, 5, 6), 2)) == (set(permutations((4, 5, 6), 2)) if expected else set())
