"""Whole conversations with liars: effects of crafted reports and lies about sizes, with the defences and without."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import discreet
from discreet.baskets import Baskets, Vocabulary
from discreet.errors import MisuseError
from discreet.exact import cumulative_rank, mine
from discreet.local.estimation import BINS, FEW_BINS
from discreet.local.oracle_steps import adaptive, error, honest_share, oracles
from discreet.local.oracle_steps._choice import SIZE_LIARS, TARGETS
from discreet.local.study import StudyGoal, size_bins
from discreet.registry import protocol
from discreet_lab.measure.liars import ATTACKS, Liars, craft_reports, select_targets, simulate_attack

TOP = 32
ITEMS = 300


@pytest.fixture(scope="module")
def baskets():
    """Baskets of about four items, the first ones most often."""
    generator = np.random.default_rng(5)
    chances = 0.6 / np.arange(1, ITEMS + 1) ** 0.9
    rows, columns = np.nonzero(generator.random((40_000, ITEMS)) < chances)
    offsets = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=40_000)))).astype(np.int64)
    return Baskets(offsets, columns.astype(np.int32), Vocabulary([f"item {code}" for code in range(ITEMS)]))


@pytest.fixture(scope="module")
def truth(baskets):
    return mine(baskets, top=TOP)


def run(baskets, name, attack, share, *, screen, seed=1, **settings):
    goal = StudyGoal(items=baskets.items, top=TOP, epsilon=Fraction(1))
    liars = Liars(share=share, targets=select_targets(baskets), attack=attack, seed=seed)
    return simulate_attack(baskets, protocol(name, settings), goal, liars, seed=seed, screen=screen)


def test_crafted_reports_lift_targets_unless_they_are_screened(baskets, truth):
    """The same seeds: with 5 of 100 crafting, targets come up; screened, none does, and the rest is found."""
    plain = run(baskets, "adept", "crafted", 0.05, screen=False)
    screened = run(baskets, "adept", "crafted", 0.05, screen=True)
    assert plain.lifted >= 1
    assert screened.lifted == 0
    assert screened.left_out > 500
    assert screened.honest_left_out <= 3
    assert screened.alarms >= 1
    ranks = [cumulative_rank(outcome.patterns, truth, top=TOP) for outcome in (plain, screened)]
    assert ranks[0] + 0.2 < ranks[1] > 0.8


@pytest.mark.parametrize("name", ["adept", "fp-tree"])
def test_lies_about_sizes_do_not_decide_paddings_and_heights(name, baskets, truth):
    """5 of 100 claim to hold the most there is."""
    ranks = {}
    for robust in (False, True):
        outcome = run(baskets, name, "sizes", 0.05, screen=False, robust=robust)
        ranks[robust] = cumulative_rank(outcome.patterns, truth, top=TOP)
    honest = cumulative_rank(run(baskets, name, "sizes", 0.0, screen=False).patterns, truth, top=TOP)
    assert ranks[True] > honest - 0.15
    assert ranks[True] > ranks[False]


def test_a_false_basket_told_by_the_rules_is_one_of_many(baskets):
    """One target each: nothing is made up, so nothing is seen; ten targets share what one report can add."""
    outcome = run(baskets, "adept", "one target", 0.01, screen=True)
    assert (outcome.alarms, outcome.left_out, outcome.lifted) == (0, 0, 0)


def test_whoever_screens_an_honest_study_sees_nothing(baskets):
    screened = discreet.simulate(baskets, top=TOP, epsilon=2, seed=3)
    unscreened = discreet.simulate(baskets, top=TOP, epsilon=2, seed=3, screen=False)
    assert screened.patterns.to_dict() == unscreened.patterns.to_dict()
    assert all((line.left_out, line.alarms) == (0, ()) for line in screened.rounds)
    assert (screened.question["screen"], unscreened.question["screen"]) == (True, False)
    assert not discreet.simulate(baskets, top=TOP, epsilon=2, seed=3, speed="aggregated").question["screen"]


@pytest.mark.statistical
@pytest.mark.parametrize("name", ["svim", "svsm"])
def test_an_honest_study_of_people_who_are_all_alike_is_not_accused(name):
    """Less than one report in a cell of a table of published seeds: 12 rounds, by chance once in 160 times at most."""
    person_count, size = 100_000, 3
    held_values = np.tile(np.arange(size, dtype=np.int32), person_count)
    alike = Baskets(
        np.arange(person_count + 1) * size, held_values, Vocabulary([f"item {code}" for code in range(ITEMS)])
    )
    for seed in range(2):
        outcome = discreet.simulate(alike, name, top=10, epsilon=4, seed=seed)
        assert all((line.left_out, line.alarms) == (0, ()) for line in outcome.rounds)


def test_reports_that_are_too_many_to_keep_are_made_again(baskets, monkeypatch):
    from discreet.local.study import _simulate as simulate

    outcome = discreet.simulate(baskets, top=TOP, epsilon=2, seed=3)
    monkeypatch.setattr(simulate, "_MAX_KEPT_BYTES", 0)
    assert discreet.simulate(baskets, top=TOP, epsilon=2, seed=3).patterns.to_dict() == outcome.patterns.to_dict()


def test_choosing_weighs_what_liars_could_add():
    """With many people noise is next to nothing, and what one report can add decides."""
    plain = adaptive(Fraction(2), 300, pad=6, people=10**9)
    wary = adaptive(Fraction(2), 300, pad=6, people=10**9, liars=0.01)
    assert wary.influence.harm(TARGETS) < plain.influence.harm(TARGETS)
    assert error(wary, 0.0, 10**9, 0.01) < error(plain, 0.0, 10**9, 0.01)
    assert error(plain, 0.0, 100) == plain.variance(0.0, 100)


def test_the_share_that_liars_about_sizes_cannot_move():
    grr = oracles()["grr"].make(Fraction(1), 12, single=True)
    assert honest_share(grr) == pytest.approx(1 - SIZE_LIARS * float(grr.influence.people))
    # Many bins through subset selection: a few liars are most of what is seen.
    assert honest_share(oracles()["subset"].make(Fraction(1), 22, single=True)) == 0.5


def test_sizes_are_told_apart_as_finely_as_liars_allow():
    """Few bins, unless epsilon is so large that a report adds to little beside itself."""
    assert size_bins(1515, Fraction(1)) == FEW_BINS
    assert size_bins(1515, Fraction(4)) == BINS
    assert size_bins(1, Fraction(1)) == size_bins(1, Fraction(4)) == (0, 1)


def test_every_attack_is_told_apart(baskets):
    with pytest.raises(MisuseError, match="No crafted reports are known for hr"):
        craft_reports(oracles()["hr"].make(Fraction(1), 5), [1], 3, np.random.default_rng(1))
    assert ATTACKS == ("crafted", "one target", "sizes")
    assert len({item for pair in select_targets(baskets) for item in pair}) == 20
