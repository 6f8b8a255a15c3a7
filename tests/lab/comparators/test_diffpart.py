"""`diffpart`: the law of what is published, charges along a path, and what comes back without noise."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import ceil, inf, log

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import discreet
from discreet.baskets import Baskets, Vocabulary, starts
from discreet.errors import MisuseError
from discreet.privacy.sampling import SimulationSource
from discreet_lab.comparators import diffpart
from discreet_lab.comparators.comparator import ComparatorTask
from discreet_lab.comparators.diffpart import DiffPart, Taxonomy
from discreet_lab.measure.exact_values import exceed_probability

TINY = DiffPart(fan_out=2, splitting="1/2", publishing="1/4")
ITEMS, COUNT_LIMIT = 3, 3  # published counts from MOST on are taken for one


def baskets_of(rows, items):
    """Return baskets over a public list of items."""
    codes = [code for row in rows for code in sorted(row)]
    return Baskets(starts([len(row) for row in rows]), np.array(codes, np.int32), Vocabulary(list(range(items))))


@settings(max_examples=30)
@given(items=st.integers(1, 60), fan_out=st.integers(2, 7))
def test_groups_against_counting(items, fan_out):
    taxonomy = Taxonomy(items=items, fan_out=fan_out)

    def below(node):
        """Return the items of a group, and how many groups there are from it down."""
        height, _ = node
        if height == 0:
            return [node[1]], 0
        parts = [below((height - 1, child)) for child in taxonomy.list_children(node)]
        assert 1 <= len(parts) <= fan_out
        return [item for part, _ in parts for item in part], 1 + sum(basket_count for _, basket_count in parts)

    root_items, groups = below(taxonomy.root)
    assert root_items == list(range(items))
    assert groups == taxonomy.count_groups(taxonomy.root)


def product(laws):
    """Return the law of several independent results together."""
    joint_law = {frozenset(): 1.0}
    for law in laws:
        pairs = ((result, other_result) for result in joint_law.items() for other_result in law.items())
        joint_law = {
            result | other_result: chance * other_chance for (result, chance), (other_result, other_chance) in pairs
        }
    return joint_law


def counted_law(basket, true_count, epsilon, threshold):
    """Return the law of publishing one basket: not at all, so many times, or MOST times and more."""
    rate = float(epsilon)
    law = {frozenset(): 1 - exceed_probability(threshold - true_count, rate)}
    for times in range(threshold, COUNT_LIMIT):
        law[frozenset({(basket, times)})] = exceed_probability(times - true_count, rate) - exceed_probability(
            times + 1 - true_count, rate
        )
    law[frozenset({(basket, COUNT_LIMIT)})] = exceed_probability(max(COUNT_LIMIT, threshold) - true_count, rate)
    return law


def published(rows, epsilon):
    """Return the law of all that is published of baskets over three items, two to a group: written out by hand.

    The groups are {0, 1} and {2} under one root: three in all.
    """
    half = Fraction(epsilon) / 2
    root = Fraction(141_421_356, 10**8)
    first_share = half / 2  # two of the three splits of a path are paid by this half
    threshold = max(1, ceil(root * TINY.splitting * 2 / first_share))
    low = [{0}, {1}, {0, 1}]
    remaining_share = half - first_share

    def times(basket):
        return sum(set(row) == set(basket) for row in rows)

    def bottom(baskets, share):
        need = max(1, ceil(root * TINY.publishing / share))
        return product([counted_law(tuple(sorted(basket)), times(basket), share, need) for basket in baskets])

    def partition_law(count, law, charge, need):
        """Return the law of a partition that is dropped unless its noisy count passes."""
        passed = exceed_probability(need - count, float(charge))
        mixed = {result: chance * passed for result, chance in law.items()}
        mixed[frozenset()] = mixed.get(frozenset(), 0.0) + 1 - passed
        return mixed

    def people(baskets):
        return sum(map(times, baskets))

    mixed_baskets = [low_basket | {2} for low_basket in low]
    need = max(1, ceil(root * TINY.splitting / remaining_share))
    # Of those with items of both groups, one group or the other is split first.
    one_way = partition_law(people(mixed_baskets), bottom(mixed_baskets, half), remaining_share, need)
    other_way = product(
        [
            partition_law(times(low_basket), bottom([low_basket], half), remaining_share, need)
            for low_basket in mixed_baskets
        ]
    )
    either_way = Counter()
    for way in (one_way, other_way):
        for result, chance in way.items():
            either_way[result] += chance / 2
    parts = [
        partition_law(people(low), bottom(low, half + remaining_share), first_share, threshold),
        partition_law(times({2}), bottom([{2}], half + remaining_share), first_share, threshold),
        partition_law(people(mixed_baskets), dict(either_way), first_share, threshold),
    ]
    return product(parts)


DATA = [
    [],
    [{0}],
    [{2}],
    [{0, 2}],
    [{0, 1, 2}],
    [{0}, {0}, {0, 2}],
    [{1, 2}, {0, 2}, {2}, {2}],
]


@pytest.mark.parametrize(
    ("number", "epsilon"),
    [
        pytest.param(number, epsilon, marks=[] if (number + epsilon) % 2 else pytest.mark.slow)
        for number in range(len(DATA))
        for epsilon in (1, 6)
    ],
)
def test_the_law_of_what_is_published_moves_by_epsilon_at_most(number, epsilon):
    rows = DATA[number]
    law = published(rows, epsilon)
    assert sum(law.values()) == pytest.approx(1)
    for further_basket in ([0], [2], [0, 1], [0, 1, 2]):
        other_law = published([*rows, set(further_basket)], epsilon)
        assert law.keys() == other_law.keys()
        worst_loss = max(
            abs(log(law[result]) - log(other_law[result])) if law[result] and other_law[result] else inf
            for result in law
        )
        assert worst_loss <= epsilon + 1e-9


@pytest.mark.statistical
@pytest.mark.parametrize("number", [3, 5, 6])
def test_runs_follow_the_law(number):
    """A chi-square statistic of 500 runs, with a false alarm in one of a million seeds."""
    from scipy.stats import chi2

    rows, runs, epsilon = DATA[number], 500, 6
    law = published(rows, epsilon)
    baskets = baskets_of(rows, ITEMS)
    observed = Counter()
    for seed in range(runs):
        published_baskets = TINY.publish(baskets, Fraction(epsilon), SimulationSource(seed))
        pairs = zip(published_baskets.baskets, published_baskets.times, strict=True)
        observed[frozenset((basket, min(times, COUNT_LIMIT)) for basket, times in pairs)] += 1
    assert observed.keys() <= law.keys()
    likely_results = [result for result, chance in law.items() if chance * runs >= 10]
    cells = [(observed[result], law[result] * runs) for result in likely_results]
    cells.append((runs - sum(observed_count for observed_count, _ in cells), runs - sum(mean for _, mean in cells)))
    statistic = sum((observed_count - mean) ** 2 / mean for observed_count, mean in cells)
    assert statistic < chi2.ppf(1 - 1e-6, len(cells) - 1)


def test_charges_along_a_path_add_up_to_epsilon(monkeypatch):
    scales = []

    def quiet(source, scale, count):
        scales.append(scale)
        return np.zeros(count, np.int64)

    monkeypatch.setattr(diffpart, "discrete_laplace", quiet)
    epsilon = Fraction(10**6)
    for row in ({0}, {0, 1, 17, 29}, set(range(30))):
        scales.clear()
        published_baskets = DiffPart(fan_out=3, splitting=1).publish(
            baskets_of([row] * 5, 30), epsilon, SimulationSource(1)
        )
        assert published_baskets.baskets == (tuple(sorted(row)),)
        assert published_baskets.times == (5,)
        assert epsilon - 1 < sum(1 / scale for scale in scales) <= epsilon


@settings(max_examples=25)
@given(rows=st.lists(st.frozensets(st.integers(0, 19), max_size=6), max_size=12), fan_out=st.integers(2, 5))
def test_next_to_no_noise_gives_every_basket_back(rows, fan_out):
    published_baskets = DiffPart(fan_out=fan_out, splitting=2).publish(
        baskets_of(rows, 20), Fraction(10**9), SimulationSource(0)
    )
    true_counts = Counter(tuple(sorted(row)) for row in rows if row)
    assert dict(zip(published_baskets.baskets, published_baskets.times, strict=True)) == dict(true_counts)


def test_what_is_published_is_mined():
    rows = [{0, 1}] * 30 + [{1, 2}] * 20 + [{7}] * 4
    answer = DiffPart().find(
        baskets_of(rows, 12), ComparatorTask(count=20, epsilon=Fraction(10**6)), SimulationSource(0)
    )
    true_counts = discreet.mine([{str(item) for item in row} for row in rows], min_count=20).to_dict()
    assert {frozenset(map(str, itemset)): count for itemset, count in answer.counts.items()} == true_counts
    assert answer.facts["published"] == 54
    pairs = DiffPart().find(
        baskets_of(rows, 12), ComparatorTask(count=20, least=2, longest=2, epsilon=Fraction(10**6)), SimulationSource(0)
    )
    assert set(pairs.counts) == {frozenset({0, 1}), frozenset({1, 2})}


@pytest.mark.parametrize("rows", [[], [set()], [set()] * 5], ids=["nobody", "one", "several"])
@pytest.mark.parametrize("items", [0, 1, 25])
def test_empty_baskets_and_short_lists(rows, items):
    task = ComparatorTask(count=1, epsilon=Fraction(1))
    for seed in range(5):
        answer = DiffPart().find(baskets_of(rows, items), task, SimulationSource(seed))
        assert answer.facts["published"] == 0 or items


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DiffPart(fan_out=1), "fan_out lies between 2 and 14; 1 was given."),
        (lambda: DiffPart(publishing=-1), "publishing is 0 or more; -1 was given."),
        (
            lambda: DiffPart(splitting=3),
            "With fan_out = 10 noise alone would go on splitting: set splitting over 3.92; 3 was given.",
        ),
        (
            lambda: DiffPart().find(baskets_of([{0}], 1), ComparatorTask(count=1), SimulationSource(0)),
            "diffpart needs an epsilon of 0.001 or more.",
        ),
    ],
    ids=["fan_out", "publishing", "splitting", "epsilon"],
)
def test_misuse(make, message):
    with pytest.raises(MisuseError) as caught:
        make()
    assert str(caught.value) == message
