"""Counting patterns that were chosen before, with fresh noise: in the way that is predicted to err least.

Three ways are open. Each pattern by itself costs noise for every one of them. The cells of small bases that hold all
of them cost noise for every basis, and add up to each pattern. Clipped counting costs what a basket may add, and leaves
unsure what clipping takes away. What the first two leave is known beforehand; what the third one leaves is known once
people are counted by how many of the patterns they hold.

The noise had no part in the choice: so intervals need not be widened for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from ...exact.query import LARGEST_BASIS, Cells, Query, Supports
from ...privacy.meter import Meter, Noisy
from ...privacy.sealed import SealedEngine
from ...results.itemsets import Itemsets
from ..mechanism import Found, Task
from .basis_cover import Basis, cover
from .cell_estimates import F64, NORMAL, fit_up
from .clipped_counting import (
    COARSE,
    LOOKING,
    Tally,
    choose_sure_total,
    count_clipped,
    falling,
    held_histogram,
    looked_at,
)

SHOWN = "counting what is shown"
EACH = "Each pattern was counted by itself."
SUMMED = "Counts are sums over baskets by which part of small sets of items they have."
CLIPPED = (
    "People who hold many of the patterns count less for each of them. Estimates are corrected for it as if these were "
    "people like all others, and intervals allow for any."
)
FRESH = "The noise of these counts had no part in the choice, so intervals hold for the last patterns too."
# Bases have so many items at most.
LARGEST = 12
# More patterns than this are not covered with bases: it would take minutes.
COVERED = 1_000
# Nor where counts by themselves would be off by so many times what they are: cells seldom gain that much.
GAIN = 6
# Where the predicted error is less than this part of a count, nothing else is looked for.
FINE = 0.02


@dataclass(frozen=True, eq=False)
class WinnerCounts:
    """Estimates of the counts of patterns, their deviations, and 95 % intervals that hold whatever the data are."""

    estimates: F64
    deviations: F64
    low: F64
    high: F64
    how: str


def count_winners(
    what: str, engine: SealedEngine, meter: Meter, task: Task, itemsets: Itemsets, share: Fraction, mark: float
) -> WinnerCounts:
    """Count patterns with a share of the budget; `mark` is about what most of them count, released or public."""
    each = Supports(itemsets)
    by_each = float(blank(meter, each, share).margin())
    bases = covering(itemsets) if by_each <= GAIN * mark else []
    cells, by_cells = Cells(tuple(bases)), np.inf
    if bases:
        by_cells = float(np.median(_cells(bases, blank(meter, cells, share), task, itemsets)[1]))
    best = min(by_each, by_cells)
    if best > FINE * mark and looked_at(itemsets, meter):
        histogram = held_histogram(engine, meter, itemsets, share * LOOKING, COARSE)
        share -= share * LOOKING
        total, length = choose_sure_total(itemsets, histogram, meter, share, mark)
        if length < best:
            clipped = count_clipped(what, engine, meter, itemsets, share, mark, histogram, total)
            return WinnerCounts(clipped.tally.estimates, clipped.tally.deviations, *clipped.bounds(), CLIPPED)
    if by_cells < by_each:
        noisy = meter.count(what, engine, cells, share)
        estimates, margins = _cells(bases, noisy, task, itemsets)
        return WinnerCounts(estimates, margins / NORMAL, estimates - margins, estimates + margins, SUMMED)
    noisy = meter.count(what, engine, each, share)
    counts, margin = noisy.values.astype(np.float64), noisy.margin()
    return WinnerCounts(counts, np.full(len(counts), noisy.deviation), counts - margin, counts + margin, EACH)


def recount(engine: SealedEngine, task: Task, meter: Meter, known: Tally, spare: Itemsets) -> Found:
    """Count what is shown with all that is left. Estimates go by all that is known, intervals by fresh noise alone.

    How many there are must not show in what is spent: where there are none, spare ones are counted and not shown.
    """
    if not len(known):
        count_clipped(SHOWN, engine, meter, spare, meter.left, 1.0)
        nothing = np.empty(0)
        return Found(itemsets=known.itemsets, estimates=nothing, low=nothing, high=nothing)
    mark = max(1.0, float(np.median(known.estimates)))
    counted = count_winners(SHOWN, engine, meter, task, known.itemsets, meter.left, mark)
    merged = known.merged(np.arange(len(known)), Tally(known.itemsets, counted.estimates, counted.deviations))
    estimates = falling(known.itemsets, merged.estimates, task.crowd)
    return Found(
        itemsets=known.itemsets,
        estimates=estimates,
        low=np.minimum(np.floor(counted.low), estimates),
        high=np.maximum(np.ceil(counted.high), estimates),
        notes=(counted.how, FRESH),
    )


def covering(itemsets: Itemsets) -> list[Basis]:
    """Return bases that hold every pattern; none where that cannot be."""
    names = itemsets.tuples()
    if len(names) > COVERED or max(map(len, names), default=0) > LARGEST:
        return []
    items = sorted({item for name in names for item in name})
    place = {item: number for number, item in enumerate(items)}
    pairs = sorted({(place[one], place[other]) for name in names for one, other in combinations(name, 2)})
    bases = [tuple(items[number] for number in basis) for basis in cover(len(items), pairs, LARGEST, 2)]
    held = [set(basis) for basis in bases]
    for name in sorted(names, key=len, reverse=True):
        if not any(one.issuperset(name) for one in held):
            bases.append(name)
            held.append(set(name))
    return bases if max(map(len, bases)) <= LARGEST_BASIS else []


def blank(meter: Meter, query: Query, share: Fraction) -> Noisy:
    """Return an answer of zeros with the noise that a share would buy: to see what it would leave."""
    return Noisy(np.zeros(query.cells, np.int64), *meter.scale(query, share))


def _cells(bases: list[Basis], noisy: Noisy, task: Task, itemsets: Itemsets) -> tuple[F64, F64]:
    """Return what cells say about the patterns, and 95 % margins."""
    names = itemsets.tuples()
    sums = fit_up(bases, noisy, min(map(len, names)), max(map(len, names)), task.known_people)
    place = {name: number for number, name in enumerate(sums.itemsets.tuples())}
    where = np.array([place[tuple(sorted(name))] for name in names])
    return sums.estimates[where], sums.margins[where]
