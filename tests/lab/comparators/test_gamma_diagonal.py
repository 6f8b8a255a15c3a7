"""`det-gd` and `ran-gd`: the law of a report over all of its choices, unbiased estimates, odd tables."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, combinations
from math import prod

import numpy as np
import pytest

import discreet
from discreet.errors import InputError, MisuseError
from discreet.privacy.sampling import SimulationSource, Source
from discreet_lab.comparators import det_gd, perturbing, ran_gd
from discreet_lab.comparators.comparator import ComparatorTask
from discreet_lab.comparators.det_gd import DetGD
from discreet_lab.comparators.perturbing import PerturbedTable, draw_below
from discreet_lab.comparators.ran_gd import RanGD
from discreet_lab.data.generators import census


def law(mechanism, cells, record, monkeypatch, bounds, first_range=None):
    """Return the exact law of one person's report: every combination of what could be drawn, once each."""
    choices = [range(bound) for bound in bounds]
    if first_range is not None:
        choices[0] = first_range
    grid = iter(np.stack(np.meshgrid(*choices, indexing="ij")).reshape(len(bounds), -1))
    bounds_asked = []

    def every(source, bound, count):
        bounds_asked.append(bound)
        return next(grid).astype(np.int64)

    for module in (det_gd, ran_gd, perturbing):
        monkeypatch.setattr(module, "draw_below", every)
    combination_count = prod(map(len, choices))
    reports = mechanism.draw_reports(np.full(combination_count, record), cells, SimulationSource(0))
    assert bounds_asked == list(bounds)
    return [Fraction(int(count), combination_count) for count in np.bincount(reports, minlength=cells)]


def det_law(mechanism, cells, record, monkeypatch):
    total = mechanism.gamma.numerator + (cells - 1) * mechanism.gamma.denominator
    return law(mechanism, cells, record, monkeypatch, (total, cells - 1))


@pytest.mark.parametrize("gamma", ["19", "3/2"])
@pytest.mark.parametrize("cells", [2, 3, 5])
def test_a_report_of_det_gd_loses_gamma_exactly(cells, gamma, monkeypatch):
    mechanism = DetGD(gamma=gamma)
    laws = [det_law(mechanism, cells, record, monkeypatch) for record in range(cells)]
    assert all(sum(report_law) == 1 for report_law in laws)
    ratios = {
        report_law[report] / other_law[report] for report_law in laws for other_law in laws for report in range(cells)
    }
    assert max(ratios) == mechanism.gamma == 1 / min(ratios)


@pytest.mark.parametrize("cells", [40, 60])
def test_a_report_of_ran_gd_has_the_law_of_det_gd_unless_what_was_drawn_is_known(cells, monkeypatch):
    monkeypatch.setattr(ran_gd, "_STEPS", 2)
    mechanism = RanGD(gamma="3", spread="1/2")
    bounds = (5, (3 + cells - 1) * 2 * 2, cells - 1)
    for record in (0, cells - 1):
        assert law(mechanism, cells, record, monkeypatch, bounds) == det_law(
            DetGD(gamma="3"), cells, record, monkeypatch
        )
    worst_ratio = Fraction(0)
    for step in range(5):
        laws_given_matrix = [
            law(mechanism, cells, record, monkeypatch, bounds, range(step, step + 1)) for record in (0, 1)
        ]
        worst_ratio = max(
            worst_ratio, *(chance / other_chance for chance, other_chance in zip(*laws_given_matrix, strict=True))
        )
    assert worst_ratio == mechanism.largest_ratio(cells) > mechanism.gamma


def test_what_is_lost_where_the_draw_is_known():
    assert round(float(RanGD().largest_ratio(2_000)), 1) == 28.6
    assert RanGD(spread=0).largest_ratio(2_000) == 19
    assert RanGD().largest_ratio(1) == 1


class Words(Source):
    """Words that were written down."""

    simulated = True

    def __init__(self, *word_lists):
        super().__init__()
        self.several = list(word_lists)

    def words(self, count):
        words = self.several.pop(0)
        assert len(words) == count
        return np.array(words, np.uint64) << np.uint64(61)


def test_numbers_below_a_bound_are_drawn_by_rejection():
    drawn_numbers = draw_below(Words(range(8), [4, 6, 0], [7], [2]), 5, 8)
    assert drawn_numbers.tolist() == [0, 1, 2, 3, 4, 4, 2, 0]
    assert draw_below(SimulationSource(0), 1, 3).tolist() == [0, 0, 0]
    assert draw_below(SimulationSource(0), 5, 0).tolist() == []


@pytest.mark.parametrize("shape", [(2, 3), (2, 2, 3), (4,)])
def test_estimates_of_expected_reports_are_the_true_counts(shape):
    source = np.random.default_rng(3)
    cells = prod(shape)
    factor = 7 + 2 * (cells - 1)  # so many times as many people, and expected numbers of reports are whole
    true_counts = source.integers(0, 50, shape) * factor
    mechanism, people = DetGD(gamma="7/2"), int(true_counts.sum())
    expected = (5 * true_counts + 2 * people) // factor
    axes = range(len(shape))
    for gone in chain.from_iterable(combinations(axes, axis_count) for axis_count in range(len(shape))):
        estimated_counts = mechanism.estimate_counts(expected.sum(axis=gone), cells)
        assert estimated_counts == pytest.approx(true_counts.sum(axis=gone), abs=1e-6)


@pytest.mark.statistical
@pytest.mark.parametrize("kind", [DetGD, RanGD])
def test_estimates_of_drawn_reports_are_near(kind):
    """A mean of 200 runs lies within five of its deviations: a false alarm in less than 1e-5 of all seeds."""
    mechanism = kind(gamma="9")
    records = np.repeat(np.arange(36), np.arange(36) * 10)
    means = []
    for seed in range(200):
        observed = np.bincount(mechanism.draw_reports(records, 36, SimulationSource(seed)), minlength=36)
        means.append(mechanism.estimate_counts(observed, 36))
    spread = np.std(means, axis=0) / np.sqrt(len(means))
    assert np.all(np.abs(np.mean(means, axis=0) - np.arange(36) * 10) < 5 * spread)


def test_without_noise_to_speak_of_the_true_patterns_are_found():
    baskets = census(2_000, seed=1)
    for mechanism in (DetGD(gamma=2**31), RanGD(gamma=2**31, spread=0)):
        counts = mechanism.find(baskets, ComparatorTask(count=200, least=2, longest=4), SimulationSource(1)).counts
        assert counts == pytest.approx(discreet.mine(baskets, min_count=200, lengths=(2, 4)).to_dict(), abs=0.1)


def test_a_pattern_is_found_only_if_its_parts_are():
    table = PerturbedTable(np.zeros(0, np.int64), (("a=1", "a=2"), ("b=1", "b=2")))
    mechanism = DetGD()
    # Many reports of (1, 1) beside many fewer of a = 1 than expected: the pair passes, one of its items does not.
    report_table = np.array([[60, 0], [70, 70]])
    assert (
        mechanism.estimate_counts(report_table, 4)[0, 0]
        > 55
        > mechanism.estimate_counts(report_table.sum(axis=1), 4)[0] - 20
    )
    patterns = mechanism.mine_reports(report_table, table, ComparatorTask(count=65))
    assert frozenset({"a=1"}) not in patterns
    assert not any("a=1" in itemset for itemset in patterns)


def test_nobody_and_one_record():
    nobody = discreet.read([])
    assert DetGD().find(nobody, ComparatorTask(count=1), SimulationSource(0)).counts == {}
    alike = discreet.read([{"a=1", "b=1"}] * 9)
    counts = DetGD().find(alike, ComparatorTask(count=9), SimulationSource(0)).counts
    assert counts == {frozenset(itemset): 9.0 for itemset in ({"a=1"}, {"b=1"}, {"a=1", "b=1"})}


def test_attributes_whose_labels_lie_apart_are_told_apart():
    baskets = discreet.read([{"a-b=1", "a=1"}, {"a-b=2", "a=2"}, {"a-b=1", "a=3"}])
    table = PerturbedTable.from_baskets(baskets)
    assert table.shape == (2, 3)
    places = np.stack(np.unravel_index(table.records, table.shape), axis=1).tolist()
    labels = [{table.values[axis][place] for axis, place in enumerate(row)} for row in places]
    assert labels == list(baskets)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [{"tea"}],
            "The item 'tea' is not of the form attribute=value, which a categorical table needs: name the items so, "
            "or load 'made-up-census'.",
        ),
        ([{"a=1", "b=1"}, {"a=1"}], "Everyone must hold exactly one value of each of the 2 attributes."),
        ([{"a=1", "b=1"}, {"a=1", "a=2"}], "Everyone must hold exactly one value of each of the 2 attributes."),
    ],
    ids=["no attributes", "one is missing", "two of one"],
)
def test_what_is_no_table(rows, message):
    with pytest.raises(InputError) as caught:
        PerturbedTable.from_baskets(discreet.read(rows))
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DetGD(gamma=1), "gamma lies over 1 and is a short fraction, such as 19; 1 was given."),
        (lambda: RanGD(spread=1), "spread is a short fraction from 0 to below 1, such as 1/2; 1 was given."),
        (
            lambda: RanGD().check(4),
            "With gamma = 19 and spread = 1/2 a table of 4 different records is too small: set spread or gamma lower.",
        ),
        (
            lambda: PerturbedTable.from_baskets(
                discreet.read([{f"{letter}={n}"} for letter in "abcdefg" for n in range(9)])
            ),
            "The table has 4,782,969 different records, more than 1,000,000: leave attributes out.",
        ),
    ],
    ids=["gamma", "spread", "small", "large"],
)
def test_misuse(make, message):
    with pytest.raises(MisuseError) as caught:
        make()
    assert str(caught.value) == message
