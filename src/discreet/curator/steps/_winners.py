"""Count patterns that were selected before, with fresh noise, by the method of least predicted error.

Each pattern by itself: noise grows with the number of patterns. Cells of small bases that hold all patterns: noise
grows with the number of bases, and cells add up to each pattern. Clipped counting: noise grows with the contribution
bound, and clipping adds a loss. The errors of the first two methods are public; the error of the third follows from the
histogram of loads.

The noise had no part in the selection, so intervals need no widening.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from ...exact import LARGEST_BASIS, Cells, Query, Supports
from ...privacy import Meter, Noisy, SealedEngine
from ...results import Itemsets
from .. import Found, Problem
from ._basis_cover import Basis, cover
from ._cell_estimates import F64, NORMAL, fit_cells
from ._clipped_counting import (
    COARSE_BINS,
    HISTOGRAM_SHARE,
    Tally,
    average_monotone,
    choose_interval_total,
    count_clipped,
    measure_histogram,
    needs_histogram,
)

SHOWN_STEP = "counting what is shown"
SINGLE_COUNTS_NOTE = "Each pattern was counted by itself."
CELL_SUMS_NOTE = "Counts are sums over baskets by which part of small sets of items they have."
CLIPPED_NOTE = (
    "People who hold many of the patterns count less for each of them. Estimates are corrected for it as if these were "
    "people like all others, and intervals allow for any."
)
FRESH_NOISE_NOTE = "The noise of these counts had no part in the choice, so intervals hold for the last patterns too."
# The largest number of items of a basis: a basis of 12 items has 4,096 cells.
MAX_BASIS_ITEMS = 12
# Beyond this number, patterns are not covered with bases: the cover would take minutes.
MAX_COVERED = 1_000
# Bases are not tried where the error of single counts exceeds this multiple of the mark: cells seldom gain that much.
MAX_CELL_GAIN = 6
# Below this predicted relative error, clipped counting is not tried.
GOOD_ERROR = 0.02


@dataclass(frozen=True, eq=False)
class WinnerCounts:
    """Estimates of the counts of patterns, their deviations, and 95 % intervals that are valid on any data."""

    estimates: F64
    deviations: F64
    low: F64
    high: F64
    method_note: str


def count_shown(
    step_name: str,
    engine: SealedEngine,
    meter: Meter,
    problem: Problem,
    itemsets: Itemsets,
    share: Fraction,
    mark: float,
) -> WinnerCounts:
    """Count patterns with a share of the budget; `mark` is a typical count, released or public."""
    support_query = Supports(itemsets)
    support_error = float(predict_noise(meter, support_query, share).margin())
    # The errors of single counts and of cells follow from public values, so their comparison is free.
    bases = cover_patterns(itemsets) if support_error <= MAX_CELL_GAIN * mark else []
    cells, cell_error = Cells(tuple(bases)), np.inf
    if bases:
        cell_error = float(
            np.median(_estimate_from_cells(bases, predict_noise(meter, cells, share), problem, itemsets)[1])
        )
    least_error = min(support_error, cell_error)
    if least_error > GOOD_ERROR * mark and needs_histogram(itemsets, meter):
        histogram = measure_histogram(engine, meter, itemsets, share * HISTOGRAM_SHARE, COARSE_BINS)
        # The histogram is charged even if clipped counting then loses the comparison: the comparison reads it.
        share -= share * HISTOGRAM_SHARE
        total, length = choose_interval_total(itemsets, histogram, meter, share, mark)
        if length < least_error:
            clipped = count_clipped(step_name, engine, meter, itemsets, share, mark, histogram, total)
            return WinnerCounts(clipped.tally.estimates, clipped.tally.deviations, *clipped.bounds(), CLIPPED_NOTE)
    if cell_error < support_error:
        noisy = meter.count(step_name, engine, cells, share)
        estimates, margins = _estimate_from_cells(bases, noisy, problem, itemsets)
        return WinnerCounts(estimates, margins / NORMAL, estimates - margins, estimates + margins, CELL_SUMS_NOTE)
    noisy = meter.count(step_name, engine, support_query, share)
    counts, margin = noisy.values.astype(np.float64), noisy.margin()
    return WinnerCounts(
        counts, np.full(len(counts), noisy.deviation), counts - margin, counts + margin, SINGLE_COUNTS_NOTE
    )


def recount(
    engine: SealedEngine, problem: Problem, meter: Meter, known_tally: Tally, spare_itemsets: Itemsets
) -> Found:
    """Count the shown patterns with the remaining budget; intervals use the fresh counts alone, estimates all counts.

    The spent budget must not reveal the number of shown patterns: without any, spare itemsets are counted and not
    shown.
    """
    if not len(known_tally):
        count_clipped(SHOWN_STEP, engine, meter, spare_itemsets, meter.left, 1.0)
        no_counts = np.empty(0)
        return Found(itemsets=known_tally.itemsets, estimates=no_counts, low=no_counts, high=no_counts)
    mark = max(1.0, float(np.median(known_tally.estimates)))
    fresh_counts = count_shown(SHOWN_STEP, engine, meter, problem, known_tally.itemsets, meter.left, mark)
    # Earlier estimates improve the new ones, but only the fresh noise is independent of the selection.
    merged_tally = known_tally.merge_counts(
        np.arange(len(known_tally)), Tally(known_tally.itemsets, fresh_counts.estimates, fresh_counts.deviations)
    )
    estimates = average_monotone(known_tally.itemsets, merged_tally.estimates, problem.max_people)
    return Found(
        itemsets=known_tally.itemsets,
        estimates=estimates,
        low=np.minimum(np.floor(problem.lower_ends(fresh_counts.estimates, fresh_counts.low)), estimates),
        high=np.maximum(np.ceil(fresh_counts.high), estimates),
        notes=(fresh_counts.method_note, FRESH_NOISE_NOTE),
    )


def cover_patterns(itemsets: Itemsets) -> list[Basis]:
    """Return bases that hold each pattern; none where the patterns are too many or too long."""
    patterns = itemsets.tuples()
    if len(patterns) > MAX_COVERED or max(map(len, patterns), default=0) > MAX_BASIS_ITEMS:
        return []
    items = sorted({item for pattern in patterns for item in pattern})
    numbers = {item: number for number, item in enumerate(items)}
    pairs = sorted(
        {(numbers[first], numbers[second]) for pattern in patterns for first, second in combinations(pattern, 2)}
    )
    bases = [tuple(items[number] for number in basis) for basis in cover(len(items), pairs, MAX_BASIS_ITEMS, 2)]
    basis_sets = [set(basis) for basis in bases]
    # The cover holds each pair; longer patterns that lie in no basis become bases of their own.
    for pattern in sorted(patterns, key=len, reverse=True):
        if not any(basis_set.issuperset(pattern) for basis_set in basis_sets):
            bases.append(pattern)
            basis_sets.append(set(pattern))
    return bases if max(map(len, bases)) <= LARGEST_BASIS else []


def predict_noise(meter: Meter, query: Query, share: Fraction) -> Noisy:
    """Return an answer of zeros with the noise that a share buys, to predict its error."""
    return Noisy(np.zeros(query.cells, np.int64), *meter.scale(query, share))


def _estimate_from_cells(bases: list[Basis], noisy: Noisy, problem: Problem, itemsets: Itemsets) -> tuple[F64, F64]:
    """Return the estimates of the patterns from noisy cells, and their 95 % margins."""
    patterns = itemsets.tuples()
    sums = fit_cells(bases, noisy, min(map(len, patterns)), max(map(len, patterns)), problem.engine_people)
    positions_by_itemset = {pattern: number for number, pattern in enumerate(sums.itemsets.tuples())}
    positions = np.array([positions_by_itemset[tuple(sorted(pattern))] for pattern in patterns])
    return sums.estimates[positions], sums.margins[positions]
