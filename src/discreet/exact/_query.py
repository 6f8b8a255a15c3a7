"""Queries: frozen values that a private mechanism may ask of the data, each with its sensitivity.

A query maps the baskets of one person to a vector of whole numbers of 0 or more; an engine adds the vectors up over
people. The sensitivity bounds the vector of one person: `Query.sensitivity` returns it for people with at most a given
number of baskets. It consists of the largest L1 norm, the largest squared L2 norm and the largest entry, all for adding
or removing a person.

Most queries add up baskets, regardless of their owners. A person with c baskets then adds a sum of c vectors: L1 norm
and entries are at most c times, and the squared L2 norm at most c^2 times, the norm of one basket, as all c vectors
may be equal. Queries over all baskets of a person at once (`BasketsEach`, `LoadHistogram`, `ClippedCounts`) define
their own sensitivity.

If one person is replaced, one vector is removed and one is added. L1 and squared L2 norm at most double, as no entry is
negative. But no cell changes by more than the largest entry, so that the norm of counts that one basket can reach all
at once does not grow. The neighbour relation and the noise are handled by `privacy`.

`Kth` and `Largest` are order statistics of counts, and no sums. Adding a basket raises each count by 0 or 1. Any order
statistic, and any maximum over a fixed family, therefore rises by 0 or 1 too, and by at most c with c baskets.
Replacing a person changes each count, and hence each order statistic, by at most that amount, up or down.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import comb, isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..baskets import Codes, Offsets
from ..errors import MisuseError
from ..results import Itemsets

# The largest number of items in a basis. Larger: more than 2^16 cells, each with its own noise; smaller: fewer itemsets
# within one basis.
LARGEST_BASIS = 16
# The largest rank of a count: itemsets below it are not distinguished, so that at most about this number is searched.
# Larger: more memory and time for long patterns; smaller: the counts of long patterns are raised more often.
MAX_RANKED = 1_000_000
# Clipped sums are whole numbers of parts of a basket: rounding a weight down loses at most 1 / 1024 of a basket.
PARTS = 1 << 10


@dataclass(frozen=True, kw_only=True)
class Sensitivity:
    """The largest change of an answer by one person.

    Parameters
    ----------
    l1, squared_l2, linf
        The L1 norm, squared L2 norm and largest entry of the change when a person is added.
    l1_replace, squared_l2_replace
        The L1 norm and squared L2 norm of the change when a person is replaced.
    """

    l1: int
    squared_l2: int
    linf: int
    l1_replace: int
    squared_l2_replace: int

    @classmethod
    def of(cls, cells: int, l1: int, squared_l2: int, linf: int) -> Sensitivity:
        """Return the sensitivity of an answer made of vectors without negative entries."""
        return cls(
            l1=l1,
            squared_l2=squared_l2,
            linf=linf,
            l1_replace=min(2 * l1, cells * linf),
            squared_l2_replace=min(2 * squared_l2, cells * linf**2),
        )


class Query(ABC):
    """A question about the data, with a vector of whole numbers as its answer."""

    @property
    @abstractmethod
    def cells(self) -> int:
        """The number of entries of the answer."""

    @abstractmethod
    def sensitivity(self, baskets: int = 1) -> Sensitivity:
        """Return the largest change of the answer by one person with at most `baskets` baskets."""

    @property
    def monotone(self) -> bool:
        """Whether adding a person lowers no entry: true of sums of vectors without negative entries."""
        return True


class BasketQuery(Query):
    """A query with a sum over baskets as its answer, regardless of their owners."""

    @property
    @abstractmethod
    def l1_sensitivity(self) -> int:
        """The largest L1 norm of the vector of one basket."""

    def sensitivity(self, baskets: int = 1) -> Sensitivity:
        """Return the largest change of the answer by one person with at most `baskets` baskets.

        Entries of one basket are 0 or 1, and equal their squares; in the worst case all baskets are equal.
        """
        l1_sensitivity = self.l1_sensitivity
        return Sensitivity.of(self.cells, baskets * l1_sensitivity, baskets**2 * l1_sensitivity, baskets)


@dataclass(frozen=True)
class BasketCount(BasketQuery):
    """The number of baskets; equal to the number of people if each person has one basket."""

    cells = 1
    l1_sensitivity = 1  # each basket counts once


class HistogramQuery(Query):
    """A histogram of people: bin i counts from `edges[i]` to below `edges[i + 1]`, the last bin has no upper end."""

    edges: tuple[int, ...]

    def __post_init__(self) -> None:
        edges = self.edges
        if not edges or edges[0] < 1 or any(low >= high for low, high in pairwise(edges)):
            raise MisuseError(f"The edges of bins rise from 1 or more; {list(edges)} were given.")

    @property
    def cells(self) -> int:
        """One number a bin."""
        return len(self.edges)

    def sensitivity(self, baskets: int = 1) -> Sensitivity:
        """Return the sensitivity: a person is in at most one bin, with any number of baskets."""
        return Sensitivity.of(self.cells, 1, 1, 1)


@dataclass(frozen=True)
class BasketsEach(HistogramQuery):
    """The histogram of the number of baskets of a person.

    Bin i counts the people with at least `edges[i]` and fewer than `edges[i + 1]` baskets; the last bin has no upper
    end.
    """

    edges: tuple[int, ...]


@dataclass(frozen=True)
class Sizes(BasketQuery):
    """The number of baskets with 0, 1, 2 … `longest` items; larger baskets are counted with the longest."""

    longest: int

    def __post_init__(self) -> None:
        if self.longest < 1:
            raise MisuseError(f"The longest size to tell apart is at least 1; {self.longest} was given.")

    @property
    def cells(self) -> int:
        """From 0 to the longest."""
        return self.longest + 1

    l1_sensitivity = 1  # each basket is in one bin


@dataclass(frozen=True, eq=False)
class Truncation:
    """Truncation of each basket to at most `longest` items before counting.

    The remaining items are a function of the basket, of the number of equal baskets before it, of the public values
    here and of `key`, a secret drawn once per release, and of no other basket (C6). So for every key, one more basket
    means one more truncated basket, in any order of baskets, and later counts have the sensitivity of baskets of at
    most `longest` items.

    Without `sets`, the remaining items are drawn at random. With `sets` and their `scores`, candidates of one size
    each, the remaining items keep the heaviest candidates (paper 002, algorithm 8).
    """

    longest: int
    key: int
    sets: Itemsets | None = None
    scores: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        if self.longest < 1:
            raise MisuseError(f"A basket is cut to at least 1 item; {self.longest} was given.")


@dataclass(frozen=True, eq=False)
class Supports(BasketQuery):
    """The number of baskets that contain each given itemset, optionally truncated first.

    One basket can contain all itemsets; after truncation, each size has the bound of `degree_bound` (C12).
    """

    itemsets: Itemsets
    truncation: Truncation | None = None

    @property
    def cells(self) -> int:
        """One number an itemset."""
        return len(self.itemsets)

    @cached_property
    def l1_sensitivity(self) -> int:
        """The largest number of the itemsets within one basket."""
        if self.truncation is None:
            return len(self.itemsets)
        sizes = self.itemsets.sizes
        # The bound is computed once per query: the budget and the noise both ask for it.
        # Itemsets of different sizes are bounded apart (C12): their bounds add up.
        total = 0
        for size in np.unique(sizes).tolist():
            sets_of_size = self.itemsets.take(np.flatnonzero(sizes == size))
            total += degree_bound(sets_of_size.offsets, sets_of_size.codes, self.truncation.longest)
        return total


@dataclass(frozen=True, eq=False)
class LoadHistogram(HistogramQuery):
    """The histogram of loads: the number of given itemsets in all baskets of a person together.

    An itemset within v baskets of a person adds v to the load of the person, or v^2 with `squares`. Bin i counts the
    people with a load from `edges[i]` to below `edges[i + 1]`; the last bin has no upper end. Loads below the first
    edge are not counted. Edges are public: no edge may be the largest load in the data.
    """

    itemsets: Itemsets
    edges: tuple[int, ...]
    squares: bool = False


@dataclass(frozen=True, eq=False)
class ClippedCounts(Query):
    """The number of baskets that contain each given itemset, with each person scaled down to a contribution of `total`.

    Entries are in parts of a basket, `PARTS` parts to one. The load r of a person is the number of given itemsets over
    all baskets; with `root`, an itemset within v baskets adds v^2. Each basket adds a weight W to each itemset within
    it: the largest whole number of parts up to `PARTS` with W * r <= total, or with `root`, W^2 * r <= total * PARTS.
    Weights are rounded down: rounding to nearest could double the contribution of a person.
    """

    itemsets: Itemsets
    total: int
    root: bool = False

    def __post_init__(self) -> None:
        if self.total < 1:
            raise MisuseError(f"A basket adds at least 1 part in all; {self.total} was given.")

    @property
    def cells(self) -> int:
        """One number an itemset."""
        return len(self.itemsets)

    def sensitivity(self, baskets: int = 1) -> Sensitivity:
        """Return the largest change of the answer by one person: the whole person is clipped, not each basket.

        A person adds v W to an itemset within v <= c baskets; r is the load. Without root: L1 = W r <= total; an entry
        is at most min(c PARTS, L1); squared L2 <= (largest entry) * L1. With root: squared L2 = W^2 r <= total PARTS;
        L1 <= sqrt(cells * squared L2), by Cauchy and Schwarz.
        """
        # An itemset within all baskets of a person gets at most PARTS parts from each basket.
        max_entry, cells = baskets * PARTS, self.cells
        if self.root:
            squared = min(self.total * PARTS, max_entry**2 * cells)
            linf = min(max_entry, isqrt(squared))
            l1 = min(isqrt(cells * squared), max_entry * cells)
        else:
            l1 = min(self.total, max_entry * cells)
            linf = min(max_entry, l1)
            squared = min(linf * l1, max_entry**2 * cells)
        return Sensitivity.of(cells, l1, squared, linf)

    def weights(self, loads: NDArray[np.integer[Any]]) -> NDArray[np.int32]:
        """Return the weight of a person for each load: the parts that each basket adds to an itemset."""
        safe_loads = np.maximum(loads, 1).astype(np.int64)
        if self.root:
            squares = np.arange(PARTS + 1, dtype=np.int64) ** 2
            # The largest W with W^2 <= total * PARTS / load, found among all possible weights without a floating-point
            # root.
            places = np.searchsorted(squares, PARTS * self.total // safe_loads, side="right") - 1
        else:
            places = np.minimum(self.total // safe_loads, PARTS)
        weights: NDArray[np.int32] = places.astype(np.int32)
        return weights


@dataclass(frozen=True)
class Cells(BasketQuery):
    """For each basis, a set of a few items, the number of baskets with each subset of the basis: 2^size cells.

    The cells of the bases are concatenated; within a basis, bit j of the cell number says whether item j is present.
    """

    bases: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        for basis in self.bases:
            if not 1 <= len(set(basis)) == len(basis) <= LARGEST_BASIS:
                raise MisuseError(f"A basis is 1 to {LARGEST_BASIS} different items.")

    @property
    def cells(self) -> int:
        """Two to the power of the size of each basis, added up."""
        return sum(1 << len(basis) for basis in self.bases)

    @property
    def l1_sensitivity(self) -> int:
        """A basket is in one cell of each basis."""
        return len(self.bases)


@dataclass(frozen=True)
class Kth(BasketQuery):
    """The k-th largest count over all itemsets of `min_length` to `longest` items of the vocabulary; 0 if fewer occur.

    The rank runs over all itemsets, including itemsets without a holder (E11): the smallest mined count would be wrong.
    The answer is at least the count of rank `rank` + 1 over all itemsets of 1 to `longest` items, because long patterns
    have too many subsets to search. It is a maximum of two order statistics.
    """

    k: int
    min_length: int
    longest: int
    rank: int = MAX_RANKED

    cells = 1
    l1_sensitivity = 1  # an order statistic of counts that each rise by 0 or 1


@dataclass(frozen=True, eq=False)
class KthClipped(Query):
    """The k-th largest entry of a clipped count, in parts; 0 for a shorter answer.

    Beside :class:`Kth`, it shows the loss of the largest counts by clipping.
    """

    clipped: ClippedCounts
    k: int

    cells = 1

    def sensitivity(self, baskets: int = 1) -> Sensitivity:
        """Return the sensitivity: an order statistic changes by at most the largest change of an entry."""
        linf = self.clipped.sensitivity(baskets).linf
        return Sensitivity.of(1, linf, linf**2, linf)


@dataclass(frozen=True)
class Largest(BasketQuery):
    """The largest count over the itemsets of `size` items, or `floor` if larger (C1).

    The answer is at least the count of rank `rank` + 1 over all itemsets, so that at most `rank` itemsets have to be
    listed, with any floor. With a public floor and rank it is a maximum of counts, an order statistic of counts, and a
    constant.
    """

    size: int
    floor: int
    rank: int = 100_000

    cells = 1
    l1_sensitivity = 1  # a maximum of numbers that each rise by 0 or 1


def degree_bound(set_offsets: Offsets, set_codes: Codes, max_items: int) -> int:
    """Return an upper bound of the number of given itemsets within one basket of at most `max_items` items.

    Parameters
    ----------
    set_offsets, set_codes
        Distinct itemsets of one size: itemset i is ``set_codes[set_offsets[i]:set_offsets[i + 1]]``.
    max_items
        The largest number of items in a basket.

    Notes
    -----
    Double counting of pairs (itemset within the basket, item of the itemset) gives n * size = sum over items of the
    number of itemsets with the item. An item is in at most min(degree, C(max_items - 1, size - 1)) itemsets within the
    basket. Hence n <= (sum of the `max_items` largest minima) / size (erratum C12), and n <= C(max_items, size), the
    bound of Zeng, Naughton, Cai (2012).

    Examples
    --------
    >>> degree_bound(np.array([0, 2, 4, 6]), np.array([2, 3, 4, 5, 6, 7], np.int32), max_items=3)
    1
    """
    sizes = np.unique(np.diff(set_offsets)).tolist()
    if not sizes:
        return 0
    if len(sizes) > 1:
        raise MisuseError(
            f"The bound is for itemsets of one size; sizes from {sizes[0]} to {sizes[-1]} were given. "
            "Bound each size by itself."
        )
    size, set_count = int(sizes[0]), len(set_offsets) - 1
    if max_items < size:
        return 0
    # The empty itemset is within every basket.
    if size == 0:
        return set_count
    # The degree of an item is the number of itemsets with the item.
    degrees = np.unique(set_codes, return_counts=True)[1]
    # The basket with the most itemsets has, at best, the items of largest degree.
    largest = np.sort(np.minimum(degrees, min(comb(max_items - 1, size - 1), set_count)))[-max_items:]
    return min(int(largest.sum()) // size, comb(max_items, size), set_count)


def lengths_for(top: int, min_length: int) -> int:
    """Return the largest length of a pattern among the top: all its subsets are at least as frequent (A10)."""
    # One more item would need all its subsets of the allowed lengths among the top.
    size = min_length
    while sum(comb(size + 1, length) for length in range(min_length, size + 2)) <= top:
        size += 1
    return size
