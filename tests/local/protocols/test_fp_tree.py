"""LDP-FPMiner: its tree against counting by hand, its switches, and conversations that end early."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet import MisuseError
from discreet.baskets.generate import groceries
from discreet.exact.metrics import cumulative_rank
from discreet.local.asking import Wanted
from discreet.local.protocols.fp_tree import FPTree
from discreet.local.protocols.rounds import Sizes
from discreet.local.protocols.tree import Node, Tree, _agree, balanced, balanced_at_random, cut_share
from discreet.local.simulate import simulate

QUIET = settings(derandomize=True, max_examples=60, deadline=None)


def grown(rows: list[frozenset[int]], width: int) -> Tree:
    """Return the tree of these baskets without noise: every path of every level, with its true share."""
    tree = Tree(np.full(width, 0.5))
    for level in range(1, width + 1):
        firsts = [tuple(sorted(row))[:level] for row in rows]
        paths = sorted({path for path in firsts if len(path) == level})
        if not paths:
            break
        tree.add(paths, np.array([firsts.count(path) / len(rows) for path in paths]), np.zeros(len(paths)))
    return tree


@QUIET
@given(st.lists(st.frozensets(st.integers(0, 5), max_size=6), min_size=1, max_size=30))
def test_mining_a_tree_without_noise_counts_itemsets(rows):
    mined = {ranks: value for ranks, value, _ in grown(rows, 6).mine(10**6, 6)}
    expected = {}
    for size in range(2, 7):
        for ranks in combinations(range(6), size):
            share = sum(row.issuperset(ranks) for row in rows) / len(rows)
            if share:
                expected[ranks] = pytest.approx(share)
    assert mined == expected


@QUIET
@given(st.lists(st.frozensets(st.integers(0, 5), max_size=6), min_size=1, max_size=30), st.integers(1, 8))
def test_mining_for_the_top_finds_the_same_as_sorting_everything(rows, top):
    tree = grown(rows, 6)
    everything = sorted((value for _, value, _ in tree.mine(10**6, 4)), reverse=True)[:top]
    assert [value for _, value, _ in tree.mine(top, 4)] == pytest.approx(everything)


def test_the_guess_of_a_path_has_the_gap_before_its_first_item():
    tree = Tree(np.array([0.6, 0.5, 0.2]))  # the article's own example for x_2 alone is (1 - f_1) f_2: 0.20 (B7)
    assert tree.guesses([(1,), (0, 2), (0, 1)]) == pytest.approx([0.4 * 0.5, 0.6 * 0.5 * 0.2, 0.6 * 0.5])


def test_candidates_are_children_of_what_is_there_and_the_likeliest_ones():
    tree = Tree(np.array([0.6, 0.5, 0.2]))
    tree.add([(0,), (1,), (2,)], np.array([0.5, 0.2, 0.0]), np.zeros(3))
    assert tree.candidates(10) == [(0, 1), (0, 2), (1, 2)]  # nothing under (2,), whose count is 0 (B3)
    assert tree.candidates(1) == [(0, 1)]


def test_what_baskets_longer_than_the_tree_lose():
    chances = np.full(20, 0.25)
    rows = np.random.default_rng(5).random((100_000, 20)) < chances
    sizes = np.bincount(rows.sum(axis=1), minlength=21)[1:] / len(rows)
    for ranks in ((0, 1), (0, 12), (18, 19), (1, 9, 19)):
        held = rows[:, list(ranks)].all(axis=1)
        place = rows[:, : ranks[-1] + 1].sum(axis=1)  # where the last of the set stands in a basket
        for height in range(len(ranks), 12):
            cut = float((place[held] > height).mean())
            # Items are drawn without putting them back, which the formula passes over: off by .03 at most here. The
            # rest is five standard deviations of the share in some 1,500 baskets and more.
            assert cut_share(ranks, chances, sizes, height) == pytest.approx(cut, abs=0.03 + 0.065)
    assert cut_share((18, 19), chances, sizes, 20) == pytest.approx(0.0, abs=1e-12)
    assert cut_share((18, 19), chances, np.zeros(20), 2) == 0.0
    assert cut_share((0, 1), np.array([0.5, 0.5]), np.array([0.5, 0.5]), 1) == 1.0  # the tree has no room for two


def test_what_is_cut_is_given_back_by_the_guess_and_brings_no_noise():
    chances, sizes = np.array([0.6, 0.5, 0.4, 0.3, 0.2]), Sizes(kept=np.array([0.2, 0.2, 0.2, 0.1, 0.1]))
    mined = [((0, 4), 0.05, 1e-6)]
    lost = cut_share((0, 4), chances, sizes.kept, 2)
    assert 0.3 < lost < 1
    for corrected, expected in ((False, 0.05), (True, 0.05 + lost * 0.6 * 0.2)):
        plan = FPTree(itemset_weight="1", corrected=corrected)
        assert plan._weighed(mined, chances, sizes, 2) == [((0, 4), pytest.approx(expected), pytest.approx(1e-6))]


def test_one_child_agrees_with_its_parent_by_half_each():
    for printed in (True, False):
        parent, child = Node((0,), 0.4, 0.0, 0.5), Node((0, 1), 0.6, 0.0, 0.5)
        _agree(parent, [child], 0.3, printed)
        assert (parent.value, child.value) == pytest.approx((0.5, 0.5))


def test_least_squares_minimise_what_they_say_and_the_printed_form_does_not():
    """B8: under sum(children) = theta * parent, the changes are the smallest possible."""
    parent, own = Node((0,), 0.5, 0.0, 0.5), [Node((0, 1), 0.1, 0.0, 0.15), Node((0, 2), 0.12, 0.0, 0.1)]
    before = [parent.value, *(node.value for node in own)]
    _agree(parent, own, 0.3, False)
    after = [parent.value, *(node.value for node in own)]
    assert sum(after[1:]) == pytest.approx(0.5 * after[0])
    best = sum((one - other) ** 2 for one, other in zip(before, after, strict=True))
    for step in np.linspace(-0.2, 0.2, 41):
        moved = before[0] + step
        gap = (0.5 * moved - sum(before[1:])) / 2
        assert best <= (moved - before[0]) ** 2 + 2 * gap**2 + 1e-12


@QUIET
@given(st.lists(st.floats(-1, 1), min_size=1, max_size=20), st.floats(0.1, 2))
def test_balancing_evenly_keeps_the_total_and_goes_below_0_nowhere(values, total):
    fitting = balanced(np.array(values), total)
    assert fitting.min() >= 0
    assert fitting.sum() == pytest.approx(total)


@QUIET
@given(st.lists(st.floats(-1, 1), min_size=1, max_size=20))
def test_balancing_at_random_ends_whatever_the_values_and_repeats(values):
    given_values = np.array(values)
    fitting = balanced_at_random(given_values, 1000)
    assert fitting.min() >= 0
    assert np.array_equal(fitting, balanced_at_random(given_values, 1000))
    assert fitting.sum() <= np.clip(given_values, 0, None).sum() + 1e-9


@pytest.mark.parametrize(
    "switches",
    [
        {},
        {"path_weight": "1", "itemset_weight": "1", "inference": "none", "balance": "none"},
        {"inference": "printed", "balance": "printed"},
        {"itemset_weight": "shrunk", "corrected": False},
        {"oracle": "olh", "size_oracle": "olh"},
    ],
    ids=["default", "bare", "printed", "shrunk", "olh"],
)
def test_it_finds_what_people_hold_together(switches):
    # Ten times more people than needed at this epsilon: over 0.8 in all of 20 seeds tried, the worst at 0.9.
    baskets = groceries(40_000, seed=3)
    outcome = simulate(baskets, FPTree(**switches), top=20, epsilon=4, seed=1)
    assert cumulative_rank(outcome.patterns, discreet.mine(baskets, top=20), top=20) > 0.8
    assert outcome.guarantee.epsilon == Fraction(4)


@pytest.mark.parametrize(
    "rows",
    [[set()] * 50, [{1}], [{1}] * 500, [set(), {1, 2}], [{1, 2, 3}] * 3],
    ids=["empty", "one", "same", "two", "three"],
)
def test_it_ends_well_on_hardly_any_data(rows):
    baskets = discreet.read([{"a"}, *({str(item) for item in row} for row in rows)])
    outcome = simulate(baskets, "fp-tree", top=4, epsilon=1, seed=2)
    assert len(outcome.patterns) <= 4
    assert (outcome.patterns.counts >= 0).all()


@pytest.mark.parametrize(
    ("given_settings", "message"),
    [
        ({"shares": ("0.5", "0.6", "0.1")}, "The shares of fp-tree are over 0, and add up to 1 at most."),
        ({"shares": ("0.5", "0", "0.1")}, "The shares of fp-tree are over 0, and add up to 1 at most."),
        ({"path_weight": "2"}, "path_weight is from 0 to 1; 2 was given."),
        ({"theta": "-1"}, "theta is from 0 to 1; -1 was given."),
        ({"itemset_weight": "1.5"}, "itemset_weight is from 0 to 1, or shrunk; 1.5 was given."),
        ({"paths": 0}, "paths is 1 or more, and inference_rounds 0 or more."),
    ],
    ids=range(6),
)
def test_settings_that_make_no_sense_are_refused(given_settings, message):
    with pytest.raises(MisuseError) as error:
        FPTree(**given_settings).check(Wanted(items=10, top=4, epsilon=Fraction(1)))
    assert str(error.value) == message
