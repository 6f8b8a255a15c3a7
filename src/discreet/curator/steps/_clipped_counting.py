"""Clipped counting: count a whole family of itemsets at once, with each person scaled down to a noisily chosen total.

The noise grows with the largest contribution of one person. A holder of r members of the family, over all
baskets, adds c / r to each member where r > c. The total c is chosen from a noisy histogram of r, at the least sum of
the loss by clipping and of the noise. Two queries read the data, and the meter charges both; every other value is
released or public. The proof is in `clipped.md`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, pairwise
from math import hypot, log, sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...baskets import starts
from ...exact import PARTS, ClippedCounts, LoadHistogram
from ...privacy import CONFIDENCE, Meter, Noisy, SealedEngine
from ...results import Itemsets
from ._truncation import fit_rising

F64: TypeAlias = NDArray[np.float64]
I64: TypeAlias = NDArray[np.int64]

LAST_COUNT_STEP = "measuring the count of the last pattern"
HISTOGRAM_STEP = "counting how many candidates baskets hold"
BIASED_NOTE = (
    "The patterns were chosen by the same noisy counts that are shown: those of the last ones tend to be too high."
)

# The constants below were fitted to five data sets; `clipped.md` names the data sets and gives the results of other
# values.
# The share of the budget of each clipped count that measures the histogram.
HISTOGRAM_SHARE = Fraction(1, 8)
# Standard deviation of the loss of one itemset by clipping, as a share of the average loss of the family.
LOSS_SPREAD = 0.5
# A bin that begins at load r is at most r / FINE_BINS wide; the last bin begins at LAST_EDGE at most.
FINE_BINS = 8
# From load COARSE_FROM on, and where a total is chosen by certain bounds, bins are at most r / COARSE_BINS wide: the
# noise of a sum grows with the number of bins.
COARSE_BINS, COARSE_FROM = 4, 64
LAST_EDGE = 1_024
# The loads within one bin are represented by POINTS_PER_BIN evenly spaced points, both ends included.
POINTS_PER_BIN = 5
# A tail count is clear where it exceeds CLEAR_STDS deviations of its noise; an unclear tail is taken to be at most
# HIDDEN_STDS deviations above its noisy value.
CLEAR_STDS, HIDDEN_STDS = 2.5, 0.25
# The unclear tail falls as a power of the load: TAIL_POWER_FACTOR times the power of the last clear doubling, within
# the two bounds; DEFAULT_TAIL_POWER where no bin is clear.
TAIL_POWER_FACTOR = 1.4
MIN_TAIL_POWER, MAX_TAIL_POWER = 1.7, 20.0
DEFAULT_TAIL_POWER = 2.0
# Probability that any of the bounds from the histogram fails (union bound over the bins).
FAILURE_PROBABILITY = 0.005
# Noise of a larger variance (in squared parts) is never drawn; the total is chosen smaller instead.
MAX_NOISE_VARIANCE = 2**100


@dataclass(frozen=True, eq=False)
class Tally:
    """Itemsets, estimates of their counts, and the standard deviations of the estimates (noise and clipping loss)."""

    itemsets: Itemsets
    estimates: F64
    deviations: F64

    def __len__(self) -> int:
        return len(self.itemsets)

    def take(self, positions: I64) -> Tally:
        """Return the itemsets at the given positions."""
        return Tally(self.itemsets.take(positions), self.estimates[positions], self.deviations[positions])

    def take_largest(self, itemset_count: int) -> Tally:
        """Return `itemset_count` itemsets with the largest estimates, in falling order."""
        return self.take(np.argsort(-self.estimates, kind="stable")[:itemset_count])

    def merge_counts(self, positions: I64, second_tally: Tally) -> Tally:
        """Return the tally with the itemsets at `positions` counted a second time, weighted by inverse variance."""
        first_variances, second_variances = self.deviations[positions] ** 2, second_tally.deviations**2
        # Weights are inverse to the variances: the weighted mean of least variance.
        variance_sums = first_variances + second_variances
        weight = np.divide(
            second_variances, variance_sums, out=np.full(len(variance_sums), 0.5), where=variance_sums > 0
        )
        estimates, deviations = self.estimates.copy(), self.deviations.copy()
        estimates[positions] = weight * self.estimates[positions] + (1 - weight) * second_tally.estimates
        deviations[positions] = np.sqrt(weight**2 * first_variances + (1 - weight) ** 2 * second_variances)
        return Tally(self.itemsets, estimates, deviations)

    def lower_to_parts(self, max_people: float) -> Tally:
        """Return the tally with each estimate lowered to the estimates of its subsets, and to `max_people`.

        Subsets are not raised: among very many candidates the largest noise would decide.
        """
        item_tuples = self.itemsets.tuples()
        lowered_estimates = _lower_to_parts(item_tuples, np.minimum(self.estimates, max_people))
        return Tally(
            self.itemsets, np.array([lowered_estimates[item_tuple] for item_tuple in item_tuples]), self.deviations
        )


def average_monotone(itemsets: Itemsets, estimates: F64, max_people: float) -> F64:
    """Return estimates that never exceed the estimate of a subset with one item less, nor `max_people`.

    The result is halfway between lowering each itemset to its subsets and raising each subset to its supersets: either
    step alone has a bias to one side.

    Examples
    --------
    >>> itemsets = Itemsets(np.array([0, 1, 3]), np.array([4, 4, 7], np.int32))
    >>> average_monotone(itemsets, np.array([5.0, 6.0]), 9.0).tolist()
    [5.5, 5.5]
    """
    item_tuples = itemsets.tuples()
    lowered_estimates, raised_estimates = (
        _lower_to_parts(item_tuples, estimates),
        dict(zip(item_tuples, estimates.tolist(), strict=True)),
    )
    for item_tuple in sorted(item_tuples, key=len, reverse=True):
        for subset in combinations(item_tuple, len(item_tuple) - 1):
            if subset in raised_estimates:
                raised_estimates[subset] = max(raised_estimates[subset], raised_estimates[item_tuple])
    halfway: F64 = np.minimum(
        [(lowered_estimates[item_tuple] + raised_estimates[item_tuple]) / 2 for item_tuple in item_tuples], max_people
    )
    return halfway


def _lower_to_parts(item_tuples: list[tuple[int, ...]], estimates: F64) -> dict[tuple[int, ...], float]:
    """Return the estimates, each lowered to the least estimate of its subsets."""
    lowered_estimates = dict(zip(item_tuples, estimates.tolist(), strict=True))
    for item_tuple in sorted(item_tuples, key=len):
        lowered_estimates[item_tuple] = min(
            lowered_estimates[item_tuple],
            *(lowered_estimates.get(subset, np.inf) for subset in combinations(item_tuple, len(item_tuple) - 1)),
        )
    return lowered_estimates


def join_tallies(tallies: Sequence[Tally]) -> Tally:
    """Return one tally of the itemsets of several tallies."""
    sizes = np.concatenate([np.empty(0, np.int64), *(tally.itemsets.sizes for tally in tallies)])
    codes = np.concatenate([np.empty(0, np.int32), *(tally.itemsets.codes for tally in tallies)])
    estimates, deviations = (
        np.concatenate([np.empty(0), *columns])
        for columns in ([tally.estimates for tally in tallies], [tally.deviations for tally in tallies])
    )
    return Tally(Itemsets(starts(sizes), codes), estimates, deviations)


@dataclass(frozen=True, eq=False)
class Histogram:
    """The estimated number of people per load (the number of family members that a person holds), from released values.

    Parameters
    ----------
    loads, people
        Representative loads (see `exact.LoadHistogram`) and the estimated number of people of each load.
    edges, max_people_beyond
        The first load of each bin, and an upper bound on the number of people with this load or more. All bounds hold
        together with probability 1 - `FAILURE_PROBABILITY`.
    max_baskets
        The largest number of baskets of one person.
    """

    loads: F64
    people: F64
    edges: tuple[int, ...] = ()
    max_people_beyond: F64 = field(default_factory=lambda: np.zeros(0))
    max_baskets: int = 1

    @classmethod
    def of(
        cls,
        edges: tuple[int, ...],
        people: F64,
        max_load: int,
        max_people_beyond: F64 | None = None,
        max_baskets: int = 1,
    ) -> Histogram:
        """Spread the people of each bin over its loads; the last bin ends at 1.5 times its start at most."""
        # The last bin is open; its people are placed between its first load and 1.5 times this load.
        bin_bounds = (*edges, min(edges[-1] + max(edges[-1] // 2, 1), max_load + 1))
        loads = [
            np.unique(np.rint(np.linspace(bin_start, bin_end - 1, POINTS_PER_BIN)))
            for bin_start, bin_end in pairwise(bin_bounds)
        ]
        point_counts = np.array([len(points) for points in loads])
        point_people = np.repeat(people / point_counts, point_counts)
        return cls(
            np.concatenate(loads),
            point_people,
            edges,
            np.zeros(0) if max_people_beyond is None else max_people_beyond,
            max_baskets,
        )

    def kept_share(self, total: int, pure: bool) -> float:
        """Return the share of the people of an itemset that clipping to `total` leaves; 1 where the histogram is empty.

        A person with load r holds a member in proportion to r; for the sum over all members this is exact.
        """
        weights = self.people * self.loads
        if not weights.sum() > 0:
            return 1.0
        # Pure budgets scale a person by c / r, zCDP budgets by sqrt(c / r): the L2 norm is bounded, not the L1 norm.
        kept_parts = np.minimum(1.0, total / PARTS / self.loads)
        return float((weights * (kept_parts if pure else np.sqrt(kept_parts))).sum() / weights.sum())

    def typical_count(self, mark: float, itemset_count: int, family_size: int) -> float:
        """Return a typical count of the first `itemset_count` itemsets of a family, the last of which counts `mark`.

        The mean count of the whole family is known; its weight is the part of the family that the itemsets are.
        """
        mean_count, family_part = (
            float((self.people * self.loads).sum()) / family_size,
            min(itemset_count / family_size, 1.0),
        )
        return float(mark * (max(mark, mean_count) / mark) ** family_part)

    def bound_counts(self, sums: F64, query: ClippedCounts) -> F64:
        """Return an upper bound on the number of baskets that hold an itemset, from its clipped sum.

        People with the largest loads add the least per basket. So the bound takes all baskets of the largest loads
        first, as many people as the histogram allows, then baskets of smaller loads, until their weights reach the sum.
        Baskets of weight 0 are always included.
        """
        last_loads = np.array(
            [*(edge - 1 for edge in self.edges[1:]), largest_load(query.cells, self.max_baskets, query.root)]
        )
        baskets_per_person = np.minimum(np.floor(np.sqrt(last_loads)) if query.root else last_loads, self.max_baskets)
        weights = query.weights(last_loads[::-1]) / PARTS
        max_baskets = np.diff(self.max_people_beyond[::-1], prepend=0.0) * baskets_per_person[::-1]
        # A clipped weight of 0 leaves no trace in the sum, so all baskets of this load may hold the itemset.
        unseen_baskets = float(max_baskets[weights == 0].sum())
        max_baskets, weights = max_baskets[weights > 0], weights[weights > 0]
        weighted_sums, basket_sums = (
            np.concatenate(([0.0], np.cumsum(column))) for column in (max_baskets * weights, max_baskets)
        )
        excess_sums = np.maximum(sums - weighted_sums[-1], 0.0)
        max_counts: F64 = unseen_baskets + np.interp(sums, weighted_sums, basket_sums) + excess_sums
        return max_counts


NOTHING_HELD = Histogram(np.ones(1), np.zeros(1), (1,), np.zeros(1))


@dataclass(frozen=True, eq=False)
class ClippedCount:
    """Clipped counts: the tally, the total that one person may add, and the inputs of the intervals."""

    tally: Tally
    total: float
    noisy: Noisy
    query: ClippedCounts
    histogram: Histogram

    def bounds(self, confidence: float = CONFIDENCE) -> tuple[F64, F64]:
        """Return an interval for each count that has the given confidence on any data."""
        failure_probability = min(FAILURE_PROBABILITY, (1 - confidence) / 10)
        sums, margin = self.noisy.values / PARTS, self.noisy.margin(confidence + failure_probability) / PARTS
        return sums - margin, self.histogram.bound_counts(sums + margin, self.query)


def measure_histogram(
    engine: SealedEngine, meter: Meter, itemsets: Itemsets, share: Fraction, fine_bins: int = FINE_BINS
) -> Histogram:
    """Measure the number of people per load with a share of the budget, where one person may hold several members."""
    if not needs_histogram(itemsets, meter):
        return NOTHING_HELD
    max_load = largest_load(len(itemsets), meter.max_baskets, not meter.pure)
    edges = list_edges(max_load, fine_bins)
    noisy = meter.count(HISTOGRAM_STEP, engine, LoadHistogram(itemsets, edges, not meter.pure), share)
    return Histogram.of(edges, denoise_histogram(noisy, edges), max_load, bound_people_beyond(noisy), meter.max_baskets)


def needs_histogram(itemsets: Itemsets, meter: Meter) -> bool:
    """Return whether one person may hold several members: not of a single member in a single basket."""
    return len(itemsets) > 1 or meter.max_baskets > 1


def largest_load(member_count: int, basket_count: int, is_squared: bool) -> int:
    """Return the largest possible load: of a person with `basket_count` baskets that each hold all members."""
    return member_count * (basket_count**2 if is_squared else basket_count)


def bound_people_beyond(noisy: Noisy) -> F64:
    """Return upper bounds on the people in each bin or later ones, all valid but for `FAILURE_PROBABILITY`."""
    values = noisy.values.astype(np.float64)
    term_counts = np.arange(len(values), 0, -1)
    people_beyond = np.cumsum(values[::-1])[::-1] + bound_noise_sum(
        noisy, term_counts, FAILURE_PROBABILITY / len(values)
    )
    max_people: F64 = np.maximum(np.minimum.accumulate(people_beyond), 0.0)
    return max_people


def bound_noise_sum(noisy: Noisy, term_counts: I64, failure_probability: float) -> F64:
    """Return the value that a sum of noise variables exceeds with at most the given probability (Chernoff's bound).

    Gaussian noise of variance v: P(sum of n > x) <= exp(-x^2 / (2 v n)). Laplace noise of scale b: P(sum of n > x) <=
    exp(-t x) / (1 - (t b)^2)^n, at the best t in (0, 1 / b).
    """
    float_counts, log_failure = term_counts.astype(np.float64), -log(failure_probability)
    if noisy.scale is None:
        return noisy.deviation * np.sqrt(2 * log_failure * float_counts)
    # A grid over t b in (0, 1): each t gives a valid bound, so the minimum over the grid is valid too.
    rates = np.linspace(0.01, 0.99, 99)[:, None]
    margins: F64 = float(noisy.scale) * ((log_failure - float_counts * np.log1p(-(rates**2))) / rates).min(axis=0)
    return margins


def count_clipped(
    step_name: str,
    engine: SealedEngine,
    meter: Meter,
    itemsets: Itemsets,
    share: Fraction,
    mark: float,
    histogram: Histogram | None = None,
    total: int | None = None,
) -> ClippedCount:
    """Count itemsets with a share of the budget, with the least error for counts near `mark`.

    Parameters
    ----------
    step_name
        The name under which the counts are charged; the histogram is charged under a name of its own.
    engine, meter
        The sealed engine that counts, and the meter that draws the noise and charges.
    itemsets
        A family of released itemsets, one member or more.
    share
        The share of the budget, between 0 and the remaining budget of the meter.
    mark
        The count where a small error matters most, a released or a public number.
    histogram
        The people per load; None to measure them with a part of the share.
    total
        The largest contribution of one person, in parts; None to choose the total of least error at the mark.
    """
    if histogram is None:
        # The histogram decides the total, so it is paid first; a family of one member needs none.
        histogram_share = share * HISTOGRAM_SHARE if needs_histogram(itemsets, meter) else Fraction(0)
        histogram = measure_histogram(engine, meter, itemsets, histogram_share)
        share -= histogram_share
    if total is None:
        total, _ = choose_total(itemsets, histogram, meter, share, mark)
    query = ClippedCounts(itemsets, total, not meter.pure)
    noisy = meter.count(step_name, engine, query, share)
    kept_share = histogram.kept_share(total, meter.pure)
    # Clipping keeps this share on average, so dividing by it removes the average loss.
    estimates = noisy.values / (PARTS * kept_share)
    loss_deviations = LOSS_SPREAD * (1 - kept_share) * np.maximum(estimates, 0.0)
    tally = Tally(itemsets, estimates, np.hypot(noisy.deviation / (PARTS * kept_share), loss_deviations))
    return ClippedCount(tally, total / PARTS, noisy, query, histogram)


def choose_total(
    itemsets: Itemsets,
    histogram: Histogram,
    meter: Meter,
    share: Fraction,
    mark: float,
    typical_count: float | None = None,
) -> tuple[int, float]:
    """Return the contribution bound (in parts) of least error for a count of `mark` people, and this error.

    Where a larger `typical_count` is known, its relative error has the weight of the relative error at the mark. The
    relative error at the mark is capped at 1: a larger error does not matter, as the count is lost in noise either way.
    """
    best_total, smallest_loss, smallest_error = PARTS, np.inf, np.inf
    for total in list_totals(len(itemsets) * meter.max_baskets):
        kept_share = histogram.kept_share(total, meter.pure)
        variance = meter.scale(ClippedCounts(itemsets, total, not meter.pure), share)[1]
        if variance >= MAX_NOISE_VARIANCE:
            break
        noise, loss_share = sqrt(variance) / (PARTS * kept_share), LOSS_SPREAD * (1 - kept_share)
        error = hypot(noise, loss_share * mark)
        loss = error if typical_count is None else min(error / mark, 1.0) + hypot(noise / typical_count, loss_share)
        if loss < smallest_loss:
            best_total, smallest_loss, smallest_error = total, loss, error
        if kept_share == 1.0:
            break
    return best_total, smallest_error


def choose_interval_total(
    itemsets: Itemsets, histogram: Histogram, meter: Meter, share: Fraction, mark: float
) -> tuple[int, float]:
    """Return the contribution bound (in parts) of the shortest interval at `mark` people, and half its length."""
    best_total, smallest_length = PARTS, np.inf
    for total in list_totals(len(itemsets) * meter.max_baskets):
        kept_share, query = histogram.kept_share(total, meter.pure), ClippedCounts(itemsets, total, not meter.pure)
        scale, variance = meter.scale(query, share)
        if variance >= MAX_NOISE_VARIANCE:
            break
        margin = Noisy(np.zeros(1, np.int64), scale, variance).margin(CONFIDENCE + FAILURE_PROBABILITY) / PARTS
        upper_ends = histogram.bound_counts(np.array([kept_share * mark + margin]), query)
        half_length = (float(upper_ends[0]) - kept_share * mark + margin) / 2
        if half_length < smallest_length:
            best_total, smallest_length = total, half_length
        if kept_share == 1.0:
            break
    return best_total, smallest_length


def list_edges(max_load: int, fine_bins: int = FINE_BINS) -> tuple[int, ...]:
    """Return the first loads of the bins: each load up to `fine_bins`, then half as many bins per doubling.

    The edges end at the largest possible load, a public number, never at the largest load in the data; the last bin is
    open.
    """
    edges, step = [1], 1
    while edges[-1] + step <= min(max_load, LAST_EDGE):
        edges.append(edges[-1] + step)
        while edges[-1] >= (fine_bins if edges[-1] < COARSE_FROM else COARSE_BINS) * step:
            step *= 2
    return tuple(edges)


def list_totals(max_baskets: int) -> list[int]:
    """Return the candidate contribution bounds, in parts: from 1 basket, four per doubling, up to `max_baskets`."""
    # Totals grow geometrically: the search takes a number of steps logarithmic in the number of baskets.
    totals = [PARTS]
    while totals[-1] < max_baskets * PARTS:
        step = PARTS * 2 ** ((totals[-1] // PARTS).bit_length() - 1) // 4
        totals.append(min(totals[-1] + step, max_baskets * PARTS))
    return totals


def denoise_histogram(noisy: Noisy, edges: tuple[int, ...]) -> F64:
    """Return the estimated number of people per bin, from noisy numbers.

    1. The tail sums (people with this load or more) are clear of noise up to some edge; there they are made monotone.
    2. Beyond, the tail falls as a power of the load, somewhat faster than over the last clear doubling, and at most
    `HIDDEN_STDS` deviations above its noisy value.

    Plain noisy values would be worse: one false person at a large load has the weight of that load, and an empty tail
    would ignore the real people there.
    """
    values = noisy.values.astype(np.float64)
    people_beyond = np.cumsum(values[::-1])[::-1]
    deviations = noisy.deviation * np.sqrt(np.arange(len(values), 0, -1))
    is_unclear = people_beyond <= CLEAR_STDS * deviations
    clear_bins = max(1, int(np.argmax(is_unclear)) if is_unclear.any() else len(values))
    fitted_beyond = np.maximum(-fit_rising(-people_beyond), 0.0)
    last_clear, half_edge = clear_bins - 1, int(np.searchsorted(edges, edges[clear_bins - 1] / 2, side="right")) - 1
    # The power is read over the last clear doubling of the load.
    power = DEFAULT_TAIL_POWER
    if half_edge >= 0 and fitted_beyond[last_clear] > 0:
        power = TAIL_POWER_FACTOR * float(
            np.log(fitted_beyond[half_edge] / fitted_beyond[last_clear]) / np.log(edges[last_clear] / edges[half_edge])
        )
        power = min(max(power, MIN_TAIL_POWER), MAX_TAIL_POWER)
    tail_people = fitted_beyond[last_clear] * (np.array(edges[clear_bins:]) / edges[last_clear]) ** -power
    fitted_beyond[clear_bins:] = np.minimum(
        tail_people, np.maximum(people_beyond[clear_bins:], 0.0) + HIDDEN_STDS * deviations[clear_bins:]
    )
    bin_people: F64 = -np.diff(np.minimum.accumulate(fitted_beyond), append=0.0)
    return bin_people
