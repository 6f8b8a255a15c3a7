"""From the noisy cells of bases to counts of itemsets: sums, averages over bases, and how far off they may be.

Everything here is computed from released cells and public numbers. `add_up` is what the article does: the cells of each
basis are added up, and an itemset in several bases has the average. `fit_up` uses that the bases are about the same
people: all cells are fitted to each other by least squares, and to the number of people where it is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import sqrt
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ...baskets.core import starts
from ...kernels.cells import supersets
from ...privacy.meter import Noisy
from ...results.itemsets import Itemsets
from ..mechanism import Task
from .basis_cover import Basis

I64 = NDArray[np.int64]
F64 = NDArray[np.float64]
Number = TypeVar("Number", np.int64, np.float64)

# The 95 % point of a normal variable.
NORMAL = 1.96
# A little less than half a person.
HALF = 0.3
# A number of people that is further than so many deviations from what the cells say is not believed.
_BELIEVED = 4.0


@dataclass(frozen=True, eq=False)
class Sums:
    """What cells say about itemsets: estimates of their counts, 95 % margins, and what decides which are shown."""

    itemsets: Itemsets
    estimates: F64
    margins: F64
    worth: F64

    def patterns(self, task: Task) -> Sums:
        """Return those that may be patterns: a basis may hold an item and one that stands above it."""
        if task.lineage is None:
            return self
        kept = np.flatnonzero(task.antichains(self.itemsets))
        estimates, worth = self.estimates[kept], self.worth[kept]
        same = self.worth is self.estimates
        return Sums(self.itemsets.take(kept), estimates, self.margins[kept], estimates if same else worth)

    def over(self, order: I64, count: int) -> int:
        """Return how many of the itemsets, in the order of their worth, are taken to have a count or more.

        The order errs less than the estimates, and these say how high it lies: of all falling lines along the order
        the one nearest to the estimates (isotonic regression) decides.
        """
        if self.worth is self.estimates:
            return int(np.count_nonzero(self.estimates >= count))
        weights = 1 / np.maximum(self.margins[order], 1e-9) ** 2
        blocks: list[tuple[float, float, int]] = []  # the mean of some estimates in a row, their weight, how many
        for block in zip(self.estimates[order].tolist(), weights.tolist(), [1] * len(order), strict=True):
            value, weight, many = block
            while blocks and blocks[-1][0] <= value:
                before, heavy, others = blocks.pop()
                value = (before * heavy + value * weight) / (heavy + weight)
                weight, many = heavy + weight, others + many
            blocks.append((value, weight, many))
        return sum(many for value, _, many in blocks if value >= count)


def add_up(bases: list[Basis], noisy: Noisy, least: int, longest: int) -> Sums:
    """Return the sums of cells for all itemsets of these lengths within the bases.

    `noisy` has the cells of the bases end to end. An itemset that lies in several bases has an estimate from each;
    they are averaged with weights of one over their variances, which go with the number of cells that are added up.
    """
    columns = [supersets(cells)[None].astype(np.float64) for cells in _of_bases(bases, noisy.values)]
    itemsets, (estimates,), weights, cubes = _averaged(bases, columns, least, longest)
    margins = _margins(noisy, float(noisy.variance) / weights, cubes / weights**2)
    return Sums(itemsets, estimates, margins, estimates)


def fit_up(
    bases: list[Basis], noisy: Noisy, least: int, longest: int, people: tuple[float, float] | None = None
) -> Sums:
    """Return what cells that agree with each other say about all itemsets of these lengths within the bases.

    The sums of a basis over its cells with signs, one for each of its subsets (Walsh and Hadamard), have uncorrelated
    noise of the same variance, and two bases agree where the sums for the subsets they share do. So least squares is
    averaging each of these sums over the bases that have it. That for no item at all is the number of people.

    Itemsets are shown by other numbers than their estimates: by sums of cells that were projected to the nearest ones
    which are not negative and add up to the number of people. These err less where most cells are empty, but are not
    unbiased.

    Parameters
    ----------
    bases, noisy
        The bases, and their cells end to end.
    least, longest
        How many items an itemset has.
    people
        The number of people in the cells and the variance of that number, where it is known.

    Examples
    --------
    >>> from fractions import Fraction
    >>> cells = Noisy(np.array([50, 8, 12, 30]), Fraction(1), Fraction(2))
    >>> fitted = fit_up([(3, 7)], cells, 1, 2, (104.0, 0.0))
    >>> fitted.estimates.round(3).tolist()  # four people more, spread over all cells
    [40.0, 44.0, 31.0]
    """
    unit = max(float(noisy.variance), 1e-9)
    spectra = [_walsh(cells.astype(np.float64)) for cells in _of_bases(bases, noisy.values)]
    weighted, weights = _agreed(bases, spectra)
    total = sum(2.0 ** -len(basis) for basis in bases)
    own = sum(2.0 ** -len(basis) * float(one[0]) for basis, one in zip(bases, spectra, strict=True)) / total
    everyone = own * total, total
    if people is not None and _believed(*people, own, unit / total):
        precision = unit / max(people[1], unit * 1e-12)
        everyone = everyone[0] + people[0] * precision, total + precision
    columns = []
    for basis, values, sure in zip(bases, _of_bases(bases, weighted), _of_bases(bases, weights), strict=True):
        values[0], sure[0] = everyone
        fitted = values / sure
        held = np.bitwise_count(np.arange(len(fitted), dtype=np.uint64))
        parts = 0.5**held
        estimates = _subset_sums(fitted * (-1.0) ** held) * parts
        variances = _subset_sums(unit / sure) * parts**2
        # The largest weight of one cell: all signs agree for those who hold all of the itemset.
        heaviest = _subset_sums(2.0 ** -len(basis) / sure) * parts
        cells = projected(_walsh(fitted) / len(fitted), max(float(fitted[0]), 1.0))
        columns.append(np.array((estimates, variances, heaviest**2 * unit / variances, supersets(cells))))
    itemsets, (estimates, variances, tails, worth), _, _ = _averaged(bases, columns, least, longest)
    if not noisy.variance:
        variances = np.zeros(len(variances))
    return Sums(itemsets, estimates, _margins(noisy, variances, tails), worth)


def projected(cells: F64, total: float) -> F64:
    """Return the nearest numbers that are 0 or more and add up to a total over 0.

    Examples
    --------
    >>> projected(np.array([5.0, 3.0, -2.0]), 6.0).tolist()
    [4.0, 2.0, 0.0]
    """
    falling = np.sort(cells)[::-1]
    levels = (np.cumsum(falling) - total) / np.arange(1, len(cells) + 1)
    last = max(1, int(np.count_nonzero(falling > levels))) - 1
    nearest: F64 = np.maximum(cells - levels[last], 0.0)
    return nearest


def _believed(people: float, variance: float, own: float, own_variance: float) -> bool:
    """Say whether the cells do not speak against a number of people: it may have been declared wrongly."""
    return abs(people - own) <= _BELIEVED * sqrt(variance + own_variance)


def _of_bases(bases: list[Basis], values: NDArray[Number]) -> list[NDArray[Number]]:
    """Return the numbers of each basis, one per cell, where they lie end to end."""
    return np.split(values, np.cumsum([1 << len(basis) for basis in bases])[:-1])


def _agreed(bases: list[Basis], spectra: list[F64]) -> tuple[F64, F64]:
    """Return the sums over all bases that hold a subset of what they say about it, weighted, and of the weights.

    One number for each mask of each basis, end to end. Subsets are known by a number, which that of the subset without
    its last item and this item give: so the work goes with the number of cells, however many bases share items.
    """
    sizes = [len(basis) for basis in bases]
    offsets = np.cumsum([0] + [1 << size for size in sizes[:-1]])
    masks = [np.arange(1 << size) for size in sizes]
    lasts = [np.maximum(np.frexp(mask)[1] - 1, 0) for mask in masks]
    rest = np.concatenate([start + (m & ~(1 << last)) for start, m, last in zip(offsets, masks, lasts, strict=True)])
    item = np.concatenate([np.array(basis)[last] for basis, last in zip(bases, lasts, strict=True)])
    held = np.bitwise_count(np.concatenate(masks))
    terms = np.repeat([2.0**-size for size in sizes], [1 << size for size in sizes])
    values, weights = np.concatenate(spectra) * terms, terms.copy()
    names = np.zeros(len(held), np.int64)
    for size in range(1, max(sizes) + 1):
        where = np.flatnonzero(held == size)
        keys = names[rest[where]] * (int(item.max()) + 1) + item[where]
        names[where] = np.unique(keys, return_inverse=True)[1].reshape(-1)
        values[where] = np.bincount(names[where], values[where])[names[where]]
        weights[where] = np.bincount(names[where], weights[where])[names[where]]
    return values, weights


def _walsh(values: F64) -> F64:
    """Return for each mask the sum of all values, with a minus where mask and place share an odd number of bits."""
    sums = values.copy()
    step = 1
    while step < len(sums):
        pairs = sums.reshape(-1, 2, step)
        pairs[:, 0], pairs[:, 1] = pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]
        step *= 2
    return sums


def _subset_sums(values: F64) -> F64:
    """Return for each mask the sum over all masks that it contains."""
    return supersets(values[::-1])[::-1]


def _averaged(bases: list[Basis], columns: list[F64], least: int, longest: int) -> tuple[Itemsets, F64, F64, F64]:
    """Return all itemsets of these lengths within the bases, and each column averaged over the bases that hold them.

    A column has a number for each mask of a basis. Weights are one over how many cells have all of the itemset; their
    sums and the sums of their cubes are returned too.
    """
    codes, sizes = [np.empty(0, np.int32)], [np.empty(0, np.int64)]
    found = [np.empty((len(columns[0]) + 2, 0))]
    for size in range(least, min(longest, max(map(len, bases))) + 1):
        rows, values, cells = [], [], []
        for basis, column in zip(bases, columns, strict=True):
            places, masks = _subsets(len(basis), size)
            rows.append(np.array(basis, np.int32)[places])
            values.append(column[:, masks])
            cells.append(np.full(len(masks), 2.0 ** (len(basis) - size)))
        different, where = np.unique(np.concatenate(rows), axis=0, return_inverse=True)
        terms = 1 / np.concatenate(cells)
        weight = np.bincount(where.reshape(-1), terms)
        sums = [np.bincount(where.reshape(-1), terms * column) for column in np.concatenate(values, axis=1)]
        codes.append(different.ravel())
        sizes.append(np.full(len(different), size))
        found.append(np.array((*(part / weight for part in sums), weight, np.bincount(where.reshape(-1), terms**3))))
    *averages, weights, cubes = np.concatenate(found, axis=1)
    return Itemsets(starts(np.concatenate(sizes)), np.concatenate(codes)), np.array(averages), weights, cubes


def _margins(noisy: Noisy, variances: F64, tails: F64) -> F64:
    """Return 95 % margins of sums with these variances; `tails` is a third of their excess kurtosis.

    The 95 % point of a sum of few Laplace variables lies further out than that of a normal one: by the first term of
    Cornish and Fisher, with the excess kurtosis of the sum, 3 for a single one.
    """
    points = NORMAL + (NORMAL**3 - 3 * NORMAL) / 24 * (3 * tails if noisy.scale is not None else 0)
    # The noise of a cell is a whole number: within m of 0 as often as a continuous one within m + 1/2, about.
    margins: F64 = np.ceil(np.maximum(points * np.sqrt(variances) - HALF, 0.0))
    return margins


@lru_cache(maxsize=256)
def _subsets(many: int, size: int) -> tuple[I64, I64]:
    """Return all choices of `size` places out of `many`, one per row, and the mask of each."""
    places = np.array(list(combinations(range(many), size)), np.int64).reshape(-1, size)
    return places, (1 << places).sum(axis=1)
