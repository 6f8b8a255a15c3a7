"""Predictions of errors before any count decide the method of counting: they are held against trials."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import discreet
from discreet.baskets import groceries, quest
from discreet.curator import Problem
from discreet.curator.steps import _winners as winners, choose_total, count_clipped, fit_cells, measure_histogram
from discreet.curator.steps._cell_estimates import NORMAL
from discreet.exact import Cells, LocalEngine, Supports
from discreet.privacy import Budget, Meter, Neighbours, SealedEngine
from discreet.privacy.sampling import SimulationSource
from discreet.results import Itemsets

# A prediction is right within this factor, over or under. With fixed seeds there are no false alarms.
TOLERANCE_FACTOR = 1.5
SETS = {"groceries": groceries(20_000, seed=2), "quest": quest(20_000, items=300, mean_size=8, mean_pattern=3, seed=3)}
TRIALS = 12
HALF = Fraction(1, 2)


@pytest.fixture(params=[("0.5", 0), ("0.5", "1e-6")], ids=["pure", "delta"])
def meter(request):
    return lambda seed=0: Meter(Budget.of(*request.param), Neighbours.ADD_REMOVE, SimulationSource(seed))


@pytest.fixture(params=SETS)
def baskets(request):
    return SETS[request.param]


def agree(predicted: float, errors: list[np.ndarray]) -> None:
    observed_error = float(np.sqrt(np.mean(np.square(errors))))
    assert predicted / TOLERANCE_FACTOR <= observed_error <= predicted * TOLERANCE_FACTOR


def top(baskets, pattern_count: int) -> tuple[Itemsets, np.ndarray]:
    patterns = discreet.mine(baskets, top=pattern_count)
    return Itemsets(patterns.offsets, patterns.codes), patterns.counts.astype(float)


def test_counts_by_themselves(baskets, meter):
    itemsets, true_counts = top(baskets, 10)
    predicted = winners.predict_noise(meter(), Supports(itemsets), HALF).deviation
    engine = SealedEngine(LocalEngine(baskets))
    agree(
        predicted,
        [meter(seed).count("x", engine, Supports(itemsets), HALF).values - true_counts for seed in range(TRIALS)],
    )


def test_sums_of_cells(baskets, meter):
    itemsets, true_counts = top(baskets, 20)
    bases, names = winners.cover_patterns(itemsets), itemsets.tuples()
    query, longest = Cells(tuple(bases)), max(map(len, names))

    def fit_sums(noisy):
        sums = fit_cells(bases, noisy, 1, longest)
        place = {name: number for number, name in enumerate(sums.itemsets.tuples())}
        places = [place[tuple(sorted(name))] for name in names]
        return sums.estimates[places], sums.margins[places]

    predicted = float(np.sqrt(np.mean(fit_sums(winners.predict_noise(meter(), query, HALF))[1] ** 2))) / NORMAL
    engine = SealedEngine(LocalEngine(baskets))
    agree(predicted, [fit_sums(meter(seed).count("x", engine, query, HALF))[0] - true_counts for seed in range(TRIALS)])


def test_clipped_counts_of_items_about_the_mark(baskets, meter):
    # What clipping leaves unsure is predicted from a noisy histogram, for items as they usually are.
    singles, counts = Itemsets.singles(baskets.items), np.bincount(baskets.codes, minlength=baskets.items)
    places_near_mark = np.argsort(-counts)[30:60]
    mark = float(np.median(counts[places_near_mark]))
    engine, errors, predicted = SealedEngine(LocalEngine(baskets)), [], []
    for seed in range(TRIALS):
        trial = meter(seed)
        histogram = measure_histogram(engine, trial, singles, Fraction(1, 16))
        total, error = choose_total(singles, histogram, trial, HALF, mark)
        predicted.append(error)
        counted_family = count_clipped("x", engine, trial, singles, HALF, mark, histogram, total)
        errors.append(counted_family.tally.estimates[places_near_mark] - counts[places_near_mark])
    agree(float(np.mean(predicted)), errors)


def test_what_winners_are_said_to_be_off_by(baskets, meter):
    # Whichever way is taken, the deviations that go with the counts weigh them when they are merged.
    itemsets, true_counts = top(baskets, 30)
    problem = Problem(top=30, min_length=1, max_length=5, item_count=baskets.items, people=len(baskets))
    engine, errors, predicted_deviations = SealedEngine(LocalEngine(baskets)), [], []
    for seed in range(TRIALS):
        counted_family = winners.count_shown(
            "x", engine, meter(seed), problem, itemsets, HALF, float(np.median(true_counts))
        )
        errors.append(counted_family.estimates - true_counts)
        predicted_deviations.append(counted_family.deviations)
    agree(float(np.sqrt(np.mean(np.square(predicted_deviations)))), errors)
