"""LDP-FPMiner: its tree against counting by hand, its switches, and conversations that end early."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import discreet
from discreet import MisuseError
from discreet.baskets import groceries
from discreet.exact import cumulative_rank
from discreet.local.estimation import MinedTree, Tree, balanced, balanced_at_random, cut_share
from discreet.local.estimation._tree import Node, _agree
from discreet.local.oracle_steps import oracles
from discreet.local.protocols import FPTree
from discreet.local.protocols.fp_tree import _error_bound, _itemset_variance
from discreet.local.study import (
    MIN_SHARE,
    MOST_PATTERNS,
    Ask,
    CandidateList,
    Estimate,
    Partition,
    PeopleGroup,
    PrefixQuestion,
    SizesRound,
    StudyGoal,
    simulate,
)

SHARES = "The shares of fp-tree are 0.0001 or more each, and add up to 1 at most."


def exp_rounded_down(rows: list[frozenset[int]], width: int) -> Tree:
    """Return the tree of baskets without noise: every path of every level, with its true share."""
    tree = Tree(np.full(width, 0.5))
    for level in range(1, width + 1):
        firsts = [tuple(sorted(row))[:level] for row in rows]
        paths = sorted({path for path in firsts if len(path) == level})
        if not paths:
            break
        shares = np.array([firsts.count(path) / len(rows) for path in paths])
        tree.add(paths, shares, shares, np.zeros(len(paths)))
    return tree


@given(st.lists(st.frozensets(st.integers(0, 5), max_size=6), min_size=1, max_size=30))
def test_mining_a_tree_without_noise_counts_itemsets(rows):
    mined = {mined_itemset.ranks: mined_itemset.value for mined_itemset in exp_rounded_down(rows, 6).mine(10**6, 6)}
    expected = {}
    for size in range(2, 7):
        for ranks in combinations(range(6), size):
            share = sum(row.issuperset(ranks) for row in rows) / len(rows)
            if share:
                expected[ranks] = pytest.approx(share)
    assert mined == expected


@given(st.lists(st.frozensets(st.integers(0, 5), max_size=6), min_size=1, max_size=30), st.integers(1, 8))
def test_mining_for_the_top_finds_the_same_as_sorting_everything(rows, top):
    tree = exp_rounded_down(rows, 6)
    everything = sorted((mined_itemset.value for mined_itemset in tree.mine(10**6, 4)), reverse=True)[:top]
    assert [mined_itemset.value for mined_itemset in tree.mine(top, 4)] == pytest.approx(everything)


def test_what_was_heard_of_a_set_has_the_nodes_below_0_too():
    tree = Tree(np.array([0.6, 0.5, 0.2]))
    heard_frequencies = np.array([0.5, 0.2, 0.1])
    tree.add([(0,), (1,), (2,)], heard_frequencies, heard_frequencies, np.full(3, 1e-4))
    tree.add([(0, 1), (0, 2), (1, 2)], np.array([0.3, 0.1, 0.0]), np.array([0.25, 0.15, -0.05]), np.full(3, 4e-4))
    tree.add([(0, 1, 2)], np.array([0.0]), np.array([-0.02]), np.array([9e-4]))
    mined = {
        mined_itemset.ranks: (mined_itemset.value, mined_itemset.heard, mined_itemset.variance)
        for mined_itemset in tree.mine(10, 3)
    }
    assert mined == {  # nothing of (1, 2), whose nodes have 0
        (0, 1): pytest.approx((0.3, 0.25, 4e-4)),
        (0, 2): pytest.approx((0.1, 0.13, 13e-4)),
    }
    assert tree.missing() == pytest.approx([1 - 0.5 / 0.6, 1 - 0.45 / 0.5, 1 - 0.18 / 0.2])


def test_the_guess_of_a_path_has_the_gap_before_its_first_item():
    tree = Tree(np.array([0.6, 0.5, 0.2]))  # the article's own example for x_2 alone is (1 - f_1) f_2: 0.20 (B7)
    assert tree.guesses([(1,), (0, 2), (0, 1)]) == pytest.approx([0.4 * 0.5, 0.6 * 0.5 * 0.2, 0.6 * 0.5])


def test_candidates_are_children_of_what_is_there_and_the_likeliest_ones():
    tree = Tree(np.array([0.6, 0.5, 0.2]))
    values = np.array([0.5, 0.2, 0.0])
    tree.add([(0,), (1,), (2,)], values, values, np.zeros(3))
    assert tree.candidates(10) == [(0, 1), (0, 2), (1, 2)]  # nothing under (2,), whose count is 0 (B3)
    assert tree.candidates(1) == [(0, 1)]


def test_what_baskets_longer_than_the_tree_lose():
    chances = np.full(20, 0.25)
    rows = np.random.default_rng(5).random((100_000, 20)) < chances
    sizes = np.bincount(rows.sum(axis=1), minlength=21)[1:] / len(rows)
    for ranks in ((0, 1), (0, 12), (18, 19), (1, 9, 19)):
        holds_itemset = rows[:, list(ranks)].all(axis=1)
        place = rows[:, : ranks[-1] + 1].sum(axis=1)  # where the last of the set stands in a basket
        for height in range(len(ranks), 12):
            cut_share_seen = float((place[holds_itemset] > height).mean())
            # Items are drawn without putting them back, which the formula passes over: off by .03 at most here. The
            # rest is five standard deviations of the share in some 1,500 baskets and more.
            assert cut_share(ranks, chances, sizes, height) == pytest.approx(cut_share_seen, abs=0.03 + 0.065)
    assert cut_share((18, 19), chances, sizes, 20) == pytest.approx(0.0, abs=1e-12)
    assert cut_share((18, 19), chances, np.zeros(20), 2) == 0.0
    assert cut_share((0, 1), np.array([0.5, 0.5]), np.array([0.5, 0.5]), 1) == 1.0  # the tree has no room for two


def test_what_is_cut_is_given_back_by_the_guess():
    tree, sizes = Tree(np.array([0.6, 0.5, 0.4, 0.3, 0.2])), SizesRound(fractions=np.array([0.2, 0.2, 0.2, 0.1, 0.1]))
    lost = cut_share((0, 4), tree.chances, sizes.fractions, 2)
    assert 0.3 < lost < 1
    for corrected, expected in ((False, 0.05), (True, 0.05 + lost * 0.6 * 0.2)):
        plan = FPTree(itemset_weight="1", corrected=corrected)
        values, _ = plan._estimate_itemsets([MinedTree((0, 4), 0.05, 0.05, 1e-6)], tree, sizes, 2)
        assert values == pytest.approx([expected])


def test_no_weight_makes_an_estimate_surer_than_what_was_heard():
    heard_frequency, noise, nothing_lost = np.array([0.10]), np.array([1e-4]), np.zeros(1)
    for value in (0.10, 0.07, 0.12):  # as heard, and moved by 3 and by 2 of 100 people
        wide_variance = _itemset_variance(np.array([value]), heard_frequency, noise, np.array([value]), nothing_lost)
        assert wide_variance == pytest.approx([1e-4 + (value - 0.10) ** 2])


def test_what_was_heard_on_no_path_widens_an_interval():
    value, noise = np.array([0.12]), np.array([1e-4])
    # A quarter is lost, so a third of what there is: 0.04. The estimate has 0.02 of it, and half of it may be wrong.
    assert _itemset_variance(value, np.array([0.10]), noise, value, np.array([0.25])) == pytest.approx(
        [1e-4 + 2 * 0.02**2]
    )
    # Noise may say that everything is lost, or less than nothing.
    largest_variance = _itemset_variance(value, np.array([0.10]), noise, value, np.array([7.0]))
    assert largest_variance == pytest.approx([1e-4 + 0.10**2 + 0.06**2])
    assert _itemset_variance(value, value, noise, value, np.array([-7.0])) == pytest.approx([1e-4])


@pytest.mark.parametrize(
    "switches",
    [{}, {"path_weight": "1", "itemset_weight": "shrunk"}, {"path_weight": "0.7", "itemset_weight": "0.5"}],
    ids=["default", "shrunk", "pulled"],
)
def test_intervals_hold_the_true_count(switches):
    # 0.92 to 1 in ten groups of four seeds; with the noise of the summed nodes alone, 0.68 to 0.76.
    baskets = groceries(40_000, seed=3)
    holds = []
    for seed in range(4):
        outcome = simulate(baskets, FPTree(**switches), top=30, epsilon=4, seed=seed, least=2, speed="aggregated")
        patterns = outcome.patterns
        edges = zip(patterns.offsets, patterns.offsets[1:], strict=False)
        candidates = CandidateList(itemsets=tuple(tuple(sorted(patterns.codes[a:b].tolist())) for a, b in edges))
        counts = np.bincount(candidates.answers(baskets, np.arange(len(baskets)))[1], minlength=len(candidates))
        holds.append((patterns.low <= counts) & (counts <= patterns.high))
    assert np.concatenate(holds).mean() > 0.9


@pytest.mark.parametrize("name", ["adaptive", "grr", "olh", "oue", "subset"])
@pytest.mark.parametrize("epsilon", ["1", "4", "8"])
@pytest.mark.parametrize("size", [11, 193])
def test_no_level_is_off_by_more_than_it_says(name, epsilon, size):
    paths = tuple((item,) for item in range(size - 1))
    ask = Ask.of("paths", PeopleGroup(0, 1), PrefixQuestion(tuple(range(size)), paths, 1), name, Fraction(epsilon))
    people, runs, shares = 20_000, 400, np.array([0.6, 0.2, *[0.0] * (size - 3), 0.2])
    generator = np.random.default_rng(7)
    p_held, p_other = float(ask.frequencies.p_held), float(ask.frequencies.p_other)
    holders = generator.multinomial(people, shares, size=runs)
    supports = generator.binomial(holders, p_held) + generator.binomial(people - holders, p_other)
    estimates = [Estimate(ask, people, supports_of_run) for supports_of_run in supports]
    missed_bounds = sum(
        float(np.abs(estimate.values - shares).max()) > _error_bound(estimate) for estimate in estimates
    )
    # At most 20 of 400 are due; over 41 by chance in one of a million draws.
    assert missed_bounds <= 41


def test_one_child_agrees_with_its_parent_by_half_each():
    for printed in (True, False):
        parent, child = Node((0,), 0.4, 0.4, 0.0, 0.5), Node((0, 1), 0.6, 0.6, 0.0, 0.5)
        _agree(parent, [child], 0.3, printed)
        assert (parent.value, child.value) == pytest.approx((0.5, 0.5))


def test_least_squares_minimise_what_they_say():
    """B8: under sum(children) = theta * parent, the changes are the smallest possible."""
    parent = Node((0,), 0.5, 0.5, 0.0, 0.5)
    children = [Node((0, 1), 0.1, 0.1, 0.0, 0.15), Node((0, 2), 0.12, 0.12, 0.0, 0.1)]
    before = [parent.value, *(node.value for node in children)]
    _agree(parent, children, 0.3, False)
    after = [parent.value, *(node.value for node in children)]
    assert sum(after[1:]) == pytest.approx(0.5 * after[0])
    least_square_sum = sum(
        (value_before - value_after) ** 2 for value_before, value_after in zip(before, after, strict=True)
    )
    for step in np.linspace(-0.2, 0.2, 41):
        moved = before[0] + step
        gap = (0.5 * moved - sum(before[1:])) / 2
        assert least_square_sum <= (moved - before[0]) ** 2 + 2 * gap**2 + 1e-12


@pytest.mark.parametrize("theta", [0.3, 0.6, 0.8, 0.9])
@pytest.mark.parametrize("child_count", [1, 2, 10])
def test_the_printed_weights_make_a_parent_worse_where_few_of_it_are_children(theta, child_count):
    """B8: its variance, of counts that all have a variance of 1, by what a small change of each does to it."""

    def parent_after(change, node_number, printed):
        parent = Node((0,), 10.0, 10.0, 0.0, 1.0)
        children = [
            Node((0, 1 + child), theta * 10 / child_count, 0.0, 0.0, theta / child_count)
            for child in range(child_count)
        ]
        [parent, *children][node_number].value += change
        parent.value += 1e-3  # above its children, so that theta is that of the guesses
        _agree(parent, children, 0.1, printed)
        return parent.value

    def variance(printed):
        changes = (
            parent_after(1e-6, node_number, printed) - parent_after(0, node_number, printed)
            for node_number in range(child_count + 1)
        )
        return sum((change / 1e-6) ** 2 for change in changes)

    assert variance(printed=False) < 1
    assert (variance(printed=True) > 1) == (theta**2 < child_count / (2 * child_count + 1))


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=20), st.floats(0.1, 2))
def test_balancing_evenly_keeps_the_total_and_goes_below_0_nowhere(values, total):
    fitting = balanced(np.array(values), total)
    assert fitting.min() >= 0
    assert fitting.sum() == pytest.approx(total)


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


def test_a_tree_has_two_levels_where_people_hold_one_item():
    # Nine of ten hold one item, so a tree as high as eight of ten need would have one level, and no pair.
    rows = [{"a"}] * 6000 + [{"b"}] * 3000 + [{"a", "b"}] * 1000
    outcome = simulate(discreet.read(rows), "fp-tree", top=2, epsilon=4, seed=1, least=2)
    assert outcome.facts["tree height"] == 2
    assert [pattern.items for pattern in outcome.patterns] == [{"a", "b"}]


def test_whatever_is_refused_is_refused_before_anyone_is_asked():
    goal = StudyGoal(items=10, top=4, epsilon=Fraction(1))
    oracle_names = sorted(oracles())
    for oracle in oracle_names:
        for plan in (FPTree(oracle=oracle), FPTree(size_oracle=oracle)):
            plan.check(goal)
            outcome = simulate(groceries(300, seed=1), plan, top=4, epsilon=1, seed=1)
            assert len(outcome.patterns) <= 4
    message = f"There is no oracle 'nonsense'; there are adaptive, grr-or-olh, {', '.join(oracle_names)}."
    for plan in (FPTree(oracle="nonsense"), FPTree(size_oracle="nonsense")):
        with pytest.raises(MisuseError) as error:
            plan.check(goal)
        assert str(error.value) == message


def test_the_smallest_shares_leave_every_level_of_the_highest_tree_someone():
    line = Partition()
    line.next(Fraction(1, 2))
    audiences = [line.next(MIN_SHARE / MOST_PATTERNS) for _ in range(1000)]
    assert all(audience.start < audience.stop for audience in audiences)


@pytest.mark.parametrize(
    ("given_settings", "message"),
    [
        ({"shares": ("0.5", "0.6", "0.1")}, SHARES),
        ({"shares": ("0.5", "0", "0.1")}, SHARES),
        ({"shares": ("0.5", "0.1", "0.00001")}, SHARES),
        ({"path_weight": "2"}, "path_weight is from 0 to 1; 2 was given."),
        ({"theta": "-1"}, "theta is from 0 to 1; -1 was given."),
        ({"itemset_weight": "1.5"}, "itemset_weight is from 0 to 1, or shrunk; 1.5 was given."),
        ({"paths": 0}, "paths is 1 or more, and inference_rounds from 0 to 1,000."),
        ({"inference_rounds": 1001}, "paths is 1 or more, and inference_rounds from 0 to 1,000."),
        (
            {"paths": 300_000},
            "A level asks for up to 300,000 paths; paths times top, 300,000 times 4, is more: use fewer paths.",
        ),
        (
            {"oracle": "privset", "paths": 1250},
            "privset answers for up to 5,000 candidates, and there are 5,001: use wheel.",
        ),
    ],
    ids=range(10),
)
def test_settings_that_make_no_sense_are_refused(given_settings, message):
    with pytest.raises(MisuseError) as error:
        FPTree(**given_settings).check(StudyGoal(items=10, top=4, epsilon=Fraction(1)))
    assert str(error.value) == message
