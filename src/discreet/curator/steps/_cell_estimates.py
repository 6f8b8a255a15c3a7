"""Estimate counts of itemsets from the noisy cells of bases: sums, averages over bases, and margins.

All inputs are released or public. `add_cells` follows the article: an itemset is a sum of cells, averaged over its
bases. `fit_cells` uses that all bases count equal people: it fits all cells together by least squares, and to
the number of people where this number is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import sqrt
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ...baskets import starts
from ...kernels import sum_supersets
from ...privacy import Noisy
from ...results import Itemsets
from .. import Problem
from ._basis_cover import Basis

I64 = NDArray[np.int64]
F64 = NDArray[np.float64]
Number = TypeVar("Number", np.int64, np.float64)

# Two-sided 95 % point of the standard normal distribution.
NORMAL = 1.96
# Margins of integer noise shrink by a little less than half a person, see `_compute_margins`.
ROUNDING_ALLOWANCE = 0.3
# A declared number of people further than this from the number in the cells is ignored.
_PLAUSIBLE_STDS = 4.0


@dataclass(frozen=True, eq=False)
class Sums:
    """Itemsets with estimates of their counts, 95 % margins, and the worth that orders them."""

    itemsets: Itemsets
    estimates: F64
    margins: F64
    worth: F64

    def patterns(self, problem: Problem) -> Sums:
        """Return the possible patterns: without an item and its ancestor."""
        if problem.lineage is None:
            return self
        positions = np.flatnonzero(problem.mark_antichains(self.itemsets))
        estimates, worth = self.estimates[positions], self.worth[positions]
        is_ordered_by_estimate = self.worth is self.estimates
        return Sums(
            self.itemsets.take(positions),
            estimates,
            self.margins[positions],
            estimates if is_ordered_by_estimate else worth,
        )

    def count_over(self, order: I64, count: int) -> int:
        """Return the number of itemsets, in the order of their worth, that are taken to have a count or more.

        The order has less error than the estimates, and the estimates give its level: the nearest falling line along
        the order decides (isotonic regression).
        """
        if self.worth is self.estimates:
            return int(np.count_nonzero(self.estimates >= count))
        # Inverse variances, up to a common factor: margins are proportional to deviations. The floor avoids 1 / 0.
        weights = 1 / np.maximum(self.margins[order], 1e-9) ** 2
        blocks: list[
            tuple[float, float, int]
        ] = []  # the mean of some estimates in a row, their weight, and the number of estimates
        for block in zip(self.estimates[order].tolist(), weights.tolist(), [1] * len(order), strict=True):
            value, weight, block_size = block
            # Pool adjacent violators: blocks merge while an earlier block has a smaller mean.
            while blocks and blocks[-1][0] <= value:
                last_value, last_weight, last_size = blocks.pop()
                value = (last_value * last_weight + value * weight) / (last_weight + weight)
                weight, block_size = last_weight + weight, last_size + block_size
            blocks.append((value, weight, block_size))
        return sum(block_size for value, _, block_size in blocks if value >= count)


def add_cells(bases: list[Basis], noisy: Noisy, min_length: int, max_length: int) -> Sums:
    """Return the sums of cells for all itemsets of these lengths within the bases.

    `noisy` has the cells of the bases end to end. An itemset in several bases has the mean of their estimates, weighted
    by inverse variance; the variance is proportional to the number of added cells.
    """
    columns = [sum_supersets(cells)[None].astype(np.float64) for cells in _split_cells(bases, noisy.values)]
    itemsets, (estimates,), weights, cubes = _average_itemsets(bases, columns, min_length, max_length)
    margins = _compute_margins(noisy, float(noisy.variance) / weights, cubes / weights**2)
    return Sums(itemsets, estimates, margins, estimates)


def fit_cells(
    bases: list[Basis], noisy: Noisy, min_length: int, max_length: int, people: tuple[float, float] | None = None
) -> Sums:
    """Return the least-squares estimates of all itemsets of these lengths within the bases, from all cells together.

    The Walsh-Hadamard coefficients of a basis (one for each subset of its items) have uncorrelated noise of equal
    variance. Two bases agree where the coefficients of their shared subsets agree. So the least-squares fit is the
    weighted mean of each coefficient over the bases that have it. The coefficient of the empty subset is the number of
    people.

    The worth of an itemset is not its estimate, but the sum of projected cells: the nearest cells that are at least 0
    and add up to the number of people. The worth has less error where most cells are empty, but it has a bias.

    Parameters
    ----------
    bases, noisy
        The bases, and their cells end to end.
    min_length, max_length
        The smallest and largest number of items of an itemset.
    people
        The number of people in the cells and the variance of this number, or None.

    Examples
    --------
    >>> from fractions import Fraction
    >>> cells = Noisy(np.array([50, 8, 12, 30]), Fraction(1), Fraction(2))
    >>> fitted = fit_cells([(3, 7)], cells, 1, 2, (104.0, 0.0))
    >>> fitted.estimates.round(3).tolist()  # four people more, spread over all cells
    [40.0, 44.0, 31.0]
    """
    cell_variance = max(float(noisy.variance), 1e-9)
    spectra = [_transform_walsh(cells.astype(np.float64)) for cells in _split_cells(bases, noisy.values)]
    # Subsets shared by bases have the mean of their Walsh coefficients, weighted by 2^-|B|.
    weighted, weights = _average_spectra(bases, spectra)
    total_weight = sum(2.0 ** -len(basis) for basis in bases)
    # The coefficient of the empty subset is the sum of all cells: each basis estimates the number of people.
    mean_people = (
        sum(2.0 ** -len(basis) * float(spectrum[0]) for basis, spectrum in zip(bases, spectra, strict=True))
        / total_weight
    )
    people_sum = mean_people * total_weight, total_weight
    if people is not None and _is_plausible(*people, mean_people, cell_variance / total_weight):
        # The number of people is one more observation of the empty subset; a public number has almost infinite weight.
        precision = cell_variance / max(people[1], cell_variance * 1e-12)
        people_sum = people_sum[0] + people[0] * precision, total_weight + precision
    columns = []
    for basis, values, basis_weights in zip(
        bases, _split_cells(bases, weighted), _split_cells(bases, weights), strict=True
    ):
        values[0], basis_weights[0] = people_sum
        fitted = values / basis_weights
        bit_counts = np.bitwise_count(np.arange(len(fitted), dtype=np.uint64))
        mean_factors = 0.5**bit_counts
        estimates = _subset_sums(fitted * (-1.0) ** bit_counts) * mean_factors
        variances = _subset_sums(cell_variance / basis_weights) * mean_factors**2
        # The largest weight of one cell: for holders of the whole itemset all signs agree.
        max_cell_weights = _subset_sums(2.0 ** -len(basis) / basis_weights) * mean_factors
        # The Walsh transform is its own inverse, up to the number of cells.
        cells = project_cells(_transform_walsh(fitted) / len(fitted), max(float(fitted[0]), 1.0))
        columns.append(
            np.array((estimates, variances, max_cell_weights**2 * cell_variance / variances, sum_supersets(cells)))
        )
    itemsets, (estimates, variances, tails, worth), _, _ = _average_itemsets(bases, columns, min_length, max_length)
    # Without noise the estimates are exact; the floor of the variance above avoids division by zero.
    if not noisy.variance:
        variances = np.zeros(len(variances))
    return Sums(itemsets, estimates, _compute_margins(noisy, variances, tails), worth)


def project_cells(cells: F64, total: float) -> F64:
    """Return the nearest numbers that are at least 0 and add up to a positive total (Euclidean projection).

    Examples
    --------
    >>> project_cells(np.array([5.0, 3.0, -2.0]), 6.0).tolist()
    [4.0, 2.0, 0.0]
    """
    sorted_cells = np.sort(cells)[::-1]
    levels = (np.cumsum(sorted_cells) - total) / np.arange(1, len(cells) + 1)
    last_positive = max(1, int(np.count_nonzero(sorted_cells > levels))) - 1
    nearest: F64 = np.maximum(cells - levels[last_positive], 0.0)
    return nearest


def _is_plausible(people: float, variance: float, cell_people: float, cell_variance: float) -> bool:
    """Return whether the cells agree with a number of people, which may have been declared wrongly."""
    return abs(people - cell_people) <= _PLAUSIBLE_STDS * sqrt(variance + cell_variance)


def _split_cells(bases: list[Basis], values: NDArray[Number]) -> list[NDArray[Number]]:
    """Return the values of each basis, one per cell, from values that lie end to end."""
    return np.split(values, np.cumsum([1 << len(basis) for basis in bases])[:-1])


def _average_spectra(bases: list[Basis], spectra: list[F64]) -> tuple[F64, F64]:
    """Return the weighted sums of the coefficients of each subset over its bases, and the sums of the weights.

    The result has one number per mask of each basis, end to end. The number of a subset follows from the number of the
    subset without its last item and from this item, so the work is proportional to the number of cells.
    """
    sizes = [len(basis) for basis in bases]
    offsets = np.cumsum([0] + [1 << size for size in sizes[:-1]])
    masks = [np.arange(1 << size) for size in sizes]
    last_items = [np.maximum(np.frexp(mask)[1] - 1, 0) for mask in masks]
    rest_masks = np.concatenate(
        [start + (mask & ~(1 << last_item)) for start, mask, last_item in zip(offsets, masks, last_items, strict=True)]
    )
    item_codes = np.concatenate(
        [np.array(basis)[last_item] for basis, last_item in zip(bases, last_items, strict=True)]
    )
    bit_counts = np.bitwise_count(np.concatenate(masks))
    terms = np.repeat([2.0**-size for size in sizes], [1 << size for size in sizes])
    values, weights = np.concatenate(spectra) * terms, terms.copy()
    subset_numbers = np.zeros(len(bit_counts), np.int64)
    for size in range(1, max(sizes) + 1):
        positions = np.flatnonzero(bit_counts == size)
        keys = subset_numbers[rest_masks[positions]] * (int(item_codes.max()) + 1) + item_codes[positions]
        subset_numbers[positions] = np.unique(keys, return_inverse=True)[1].reshape(-1)
        values[positions] = np.bincount(subset_numbers[positions], values[positions])[subset_numbers[positions]]
        weights[positions] = np.bincount(subset_numbers[positions], weights[positions])[subset_numbers[positions]]
    return values, weights


def _transform_walsh(values: F64) -> F64:
    """Return for each mask the sum of all values, negated where mask and position share an odd number of bits."""
    sums = values.copy()
    step = 1
    while step < len(sums):
        pairs = sums.reshape(-1, 2, step)
        pairs[:, 0], pairs[:, 1] = pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]
        step *= 2
    return sums


def _subset_sums(values: F64) -> F64:
    """Return for each mask the sum over all masks that it contains."""
    return sum_supersets(values[::-1])[::-1]


def _average_itemsets(
    bases: list[Basis], columns: list[F64], min_length: int, max_length: int
) -> tuple[Itemsets, F64, F64, F64]:
    """Return all itemsets of these lengths within the bases, and each column averaged over their bases.

    A column has one number per mask of a basis. The weight is 1 / (number of cells that hold the whole itemset); the
    sums of the weights and of their cubes are returned too.
    """
    codes, sizes = [np.empty(0, np.int32)], [np.empty(0, np.int64)]
    averaged_columns = [np.empty((len(columns[0]) + 2, 0))]
    for size in range(min_length, min(max_length, max(map(len, bases))) + 1):
        rows, mask_values, cells = [], [], []
        for basis, column in zip(bases, columns, strict=True):
            positions, masks = _list_subsets(len(basis), size)
            rows.append(np.array(basis, np.int32)[positions])
            mask_values.append(column[:, masks])
            cells.append(np.full(len(masks), 2.0 ** (len(basis) - size)))
        distinct_rows, row_numbers = np.unique(np.concatenate(rows), axis=0, return_inverse=True)
        # The variance of a sum is proportional to the number of its cells.
        terms = 1 / np.concatenate(cells)
        weight = np.bincount(row_numbers.reshape(-1), terms)
        sums = [np.bincount(row_numbers.reshape(-1), terms * column) for column in np.concatenate(mask_values, axis=1)]
        codes.append(distinct_rows.ravel())
        sizes.append(np.full(len(distinct_rows), size))
        averaged_columns.append(
            np.array(
                (
                    *(weighted_sum / weight for weighted_sum in sums),
                    weight,
                    np.bincount(row_numbers.reshape(-1), terms**3),
                )
            )
        )
    *averages, weights, cubes = np.concatenate(averaged_columns, axis=1)
    return Itemsets(starts(np.concatenate(sizes)), np.concatenate(codes)), np.array(averages), weights, cubes


def _compute_margins(noisy: Noisy, variances: F64, tails: F64) -> F64:
    """Return 95 % margins of sums with the given variances; `tails` is a third of their excess kurtosis.

    z = 1.96 + (1.96^3 - 3 * 1.96) / 24 * kurtosis: first term of the Cornish-Fisher expansion. A single Laplace
    variable has excess kurtosis 3.
    """
    points = NORMAL + (NORMAL**3 - 3 * NORMAL) / 24 * (3 * tails if noisy.scale is not None else 0)
    # The noise of a cell is an integer: P(|Z| <= m) is about P(|Y| <= m + 1/2) for continuous Y.
    margins: F64 = np.ceil(np.maximum(points * np.sqrt(variances) - ROUNDING_ALLOWANCE, 0.0))
    return margins


@lru_cache(maxsize=256)
def _list_subsets(item_count: int, size: int) -> tuple[I64, I64]:
    """Return all choices of `size` out of `item_count` positions, one per row, and the mask of each."""
    positions = np.array(list(combinations(range(item_count), size)), np.int64).reshape(-1, size)
    return positions, (1 << positions).sum(axis=1)
