"""Decisions that depend on unpaid data are found, also those that small data with small answers never reach."""

# internals: this module plants decisions into the run of a release.
from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

from auditing import decisions, planted
from discreet.auditing._coupled import coupled
from discreet.auditing._replayed import replayed
from discreet.curator.mechanisms import auto
from discreet.curator.mechanisms.count import Count
from discreet.exact import Supports
from discreet.privacy import Budget, Neighbours, unsealed
from discreet.publish import _run as publish_run
from discreet.registry import mechanisms

ADD_REMOVE, REPLACED = Neighbours.ADD_REMOVE, Neighbours.REPLACE
UNIT_BUDGET, LOOSE = Budget.of(1), Budget.of(1, "1/1000")
# Larger than any answer that the coupled audit gives.
LARGE_COUNT = 5_000


class Deciding(planted.Planted):
    """Counts once, and decides how to go on where a noisy count is large: by what it may not look at."""

    def run(self, engine, problem, meter):
        query = Supports(planted.every_item(problem.item_count))
        noisy = meter.count("counting", engine, query, planted.WHOLE_SHARE / 2)
        if noisy.values[0] > LARGE_COUNT and self.decides(unsealed(engine).baskets):
            noisy = meter.count("counting again", engine, query, planted.WHOLE_SHARE / 2)
        return self.build_result(problem, noisy.values.astype(float))


@dataclass(frozen=True, kw_only=True)
class ByParity(Deciding):
    def decides(self, baskets):
        return len(baskets) % 2 == 1


@dataclass(frozen=True, kw_only=True)
class BySizeOfEngine(Deciding):
    def decides(self, baskets):
        return len(baskets) > 20


@dataclass(frozen=True, kw_only=True)
class ByLongestBasket(Deciding):
    def decides(self, baskets):
        return baskets.sizes.max(initial=0) > 3


@dataclass(frozen=True, kw_only=True)
class ByWhatIsHeldFirst(Deciding):
    def decides(self, baskets):
        return len(baskets.codes) > 0 and baskets.codes[0] == 0


@dataclass(frozen=True, kw_only=True)
class ByOrderOfLabels(Deciding):
    """Orders labels by their exact counts."""

    def decides(self, baskets):
        return bool((np.diff(baskets.item_counts) > 0).any())


@dataclass(frozen=True, kw_only=True)
class ByWhetherNothingIsHeld(Deciding):
    def decides(self, baskets):
        return not len(baskets.codes)


@dataclass(frozen=True, kw_only=True)
class ByNothing(Deciding):
    def decides(self, baskets):
        return True


BY_PEOPLE = (ByParity, BySizeOfEngine)  # public where one person is replaced
BY_BASKETS = (ByLongestBasket, ByWhatIsHeldFirst, ByOrderOfLabels, ByWhetherNothingIsHeld)


@pytest.mark.parametrize(
    ("kind", "neighbours"), [*product((*BY_PEOPLE, *BY_BASKETS), [ADD_REMOVE]), *product(BY_BASKETS, [REPLACED])]
)
def test_a_decision_by_unpaid_data_is_found(kind, neighbours):
    attempt = replayed(kind(), UNIT_BUDGET, neighbours, 1, scripts=60)
    assert attempt.stands is False
    assert "counting again" in attempt.why
    assert attempt.pair
    assert attempt.question


@pytest.mark.parametrize("budget", [UNIT_BUDGET, LOOSE], ids=["pure", "zCDP"])
def test_a_decision_by_answers_stands(budget):
    attempt = replayed(ByNothing(), budget, ADD_REMOVE, 1, scripts=30)
    assert attempt.stands, attempt.why
    assert attempt.pairs > 60


SAMPLE = (
    "run:is_dense",
    "_find_in_sparse_data:can_peel and _count_picks",
    "_find_in_dense_data:is_separable or",
    "_find_in_sparse_data:item_count is not None",
)
# These change nothing unless several measurements come out just so, which 200 scripts do not meet.
RARE = (
    "_find_in_sparse_data:item_count >= ITEM_PATTERN_PART * top",
    "_find_in_sparse_data:item_count <= few_items",
    "_can_afford_item_count:problem.top is None",
)
BEFORE_DATA = ("check", "plan", "_choose_by_facts", "_rank_share", "_truncated")


def found_in_auto(name, tree):
    mechanism = decisions.planted_in(auto, tree, "Auto")
    return any(
        replayed(mechanism, budget, ADD_REMOVE, 1, scripts=200).stands is False for budget in (UNIT_BUDGET, LOOSE)
    )


@pytest.mark.parametrize("start", SAMPLE)
def test_auto_deciding_by_parity_is_found(start):
    planted_here = [decision for decision in decisions.decisions(auto, BEFORE_DATA) if decision[0].startswith(start)]
    assert len(planted_here) == 1
    assert found_in_auto(*planted_here[0])


@pytest.mark.slow  # some minutes: each decision of `auto` once
@pytest.mark.timeout(3000)
def test_every_decision_of_auto_by_parity_is_found():
    every = list(decisions.decisions(auto, BEFORE_DATA))
    assert len(every) > 30
    missed_decisions = [name for name, tree in every if not name.startswith(RARE) and not found_in_auto(name, tree)]
    assert missed_decisions == []


@pytest.mark.parametrize("name", sorted(mechanisms()))
def test_our_own_mechanisms_stand(name):
    needs = mechanisms()[name].kind.delta
    attempt = replayed(
        mechanisms()[name].make(), LOOSE if needs is not False else UNIT_BUDGET, ADD_REMOVE, 2, scripts=12
    )
    assert attempt.stands, (attempt.why, attempt.question, attempt.pair)


class TestDecisionsOfARelease:
    """Planted beside the mechanism, where every release passes: a note by exact data."""

    @pytest.fixture
    def plant(self, monkeypatch):
        right = publish_run._cap_baskets

        def go(is_noted):
            def cap_baskets(case, meter, engine):
                baskets, notes = right(case, meter, engine)
                return baskets, [*notes, "planted"] if is_noted(case.baskets) else notes

            monkeypatch.setattr(publish_run, "_cap_baskets", cap_baskets)

        return go

    @pytest.mark.parametrize("limit", [9, 20, 40, 137, 200, 365, 500, 999, 1_900])
    @pytest.mark.parametrize("name", ["count", "exponential"])
    def test_by_the_number_of_people_at_any_limit(self, name, limit, plant):
        plant(lambda baskets: len(baskets) > limit)
        attempt = replayed(mechanisms()[name].make(), UNIT_BUDGET, ADD_REMOVE, 1, scripts=20)
        assert attempt.outcome == "broken"
        assert "differ in their notes" in attempt.why

    @pytest.mark.parametrize("limit", [12, 30])
    def test_by_a_long_basket_where_itemsets_are_named(self, limit, plant):
        plant(lambda baskets: baskets.sizes.max(initial=0) > limit)
        assert replayed(Count(), UNIT_BUDGET, ADD_REMOVE, 1, scripts=20).outcome == "broken"
        assert coupled(Count(), UNIT_BUDGET, ADD_REMOVE, 1).outcome == "broken"
