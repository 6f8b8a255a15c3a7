"""What a private mechanism may ask of the data: frozen values that know how much one person can change the answer.

A query says how one person's baskets become a vector of whole numbers, none of them negative; an engine adds these up
over people. Its sensitivity is how far one person moves that sum: `Query.sensitivity` says it for people who have one
basket each, or at most so many. It has the largest sum of the entries that a person can add, the largest sum of their
squares, and the largest single entry: all for adding or removing a person.

Most queries add up baskets, whoever has them. A person with c baskets then adds the sum of c vectors: entries and their
sum are at most c times those of one basket, and the sum of squares c squared times, as all c may be equal. Queries that
look at all of a person's baskets at once (`BasketsEach`, `Held`, `Clipped`) say it themselves.

Where one person is replaced, one such vector goes and another comes. The L1 sensitivity doubles at most, and so does
the squared L2 sensitivity, as no entry is negative. But no cell moves by more than the largest entry, so counts that
one basket may hold all of move by no more than before. Which relation holds, and the noise that follows, is the
business of `privacy`.

`Kth` and `Largest` are not sums but order statistics of counts. Adding a basket raises each count by 0 or 1, so any
order statistic, and any maximum over a fixed family, rises by 0 or 1 too, and by c at most with c baskets; replacing
one person moves each count by no more than that, up or down, and so these.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import MisuseError
from ..results.itemsets import Itemsets
from .bounds import degree_bound

# The largest basis whose cells are counted: two to this power cells.
LARGEST_BASIS = 16
# About so many itemsets are looked at for one answer: those held by too few people to be among them are not told apart.
LOOKED_AT = 1_000_000
# Clipped sums are in so many parts of a person.
PARTS = 1 << 10


@dataclass(frozen=True, kw_only=True)
class Sensitivity:
    """How far one person moves an answer at most.

    Parameters
    ----------
    l1, squared_l2, linf
        The sum of the moves of all numbers, the sum of their squares, and the largest, where a person is added.
    l1_replace, squared_l2_replace
        The same where one person takes the place of another.
    """

    l1: int
    squared_l2: int
    linf: int
    l1_replace: int
    squared_l2_replace: int

    @classmethod
    def of(cls, cells: int, l1: int, squared_l2: int, linf: int) -> Sensitivity:
        """Return what follows for an answer whose vectors have no negative entries."""
        return cls(
            l1=l1,
            squared_l2=squared_l2,
            linf=linf,
            l1_replace=min(2 * l1, cells * linf),
            squared_l2_replace=min(2 * squared_l2, cells * linf**2),
        )


class Query(ABC):
    """One question about the data, whose answer is a vector of whole numbers."""

    @property
    @abstractmethod
    def cells(self) -> int:
        """How many numbers the answer has."""

    @abstractmethod
    def sensitivity(self, baskets: int = 1) -> Sensitivity:
        """Return how far one person moves the answer who has so many baskets at most."""

    @property
    def monotone(self) -> bool:
        """Whether adding a person lowers no entry: true of sums of vectors without negative entries."""
        return True


class BasketQuery(Query):
    """A question whose answer is made of baskets one by one, whoever has them."""

    @property
    @abstractmethod
    def l1_sensitivity(self) -> int:
        """The largest sum of entries that one basket adds."""

    def sensitivity(self, baskets: int = 1) -> Sensitivity:
        """Return how far one person moves the answer: so many baskets, which may all be the same.

        Entries of one basket are 0 or 1 and their own squares.
        """
        most = self.l1_sensitivity
        return Sensitivity.of(self.cells, baskets * most, baskets**2 * most, baskets)


@dataclass(frozen=True)
class BasketCount(BasketQuery):
    """How many baskets there are: as many as people, where everyone has one."""

    @property
    def cells(self) -> int:
        """One number."""
        return 1

    @property
    def l1_sensitivity(self) -> int:
        """Each basket counts once."""
        return 1


@dataclass(frozen=True)
class BasketsEach(Query):
    """How many people have how many baskets.

    Bin i counts those who have `edges[i]` of them or more, and fewer than `edges[i + 1]`; the last has no upper end.
    """

    edges: tuple[int, ...]

    def __post_init__(self) -> None:
        _check_edges(self.edges)

    @property
    def cells(self) -> int:
        """One number a bin."""
        return len(self.edges)

    def sensitivity(self, baskets: int = 1) -> Sensitivity:
        """Everyone is in one bin at most, however many baskets that is."""
        return Sensitivity.of(self.cells, 1, 1, 1)


@dataclass(frozen=True)
class Sizes(BasketQuery):
    """How many baskets have 0, 1, 2 … up to `longest` items; those that have more are counted with the longest."""

    longest: int

    def __post_init__(self) -> None:
        if self.longest < 1:
            raise MisuseError(f"The longest size to tell apart is at least 1; {self.longest} was given.")

    @property
    def cells(self) -> int:
        """From 0 to the longest."""
        return self.longest + 1

    @property
    def l1_sensitivity(self) -> int:
        """Each basket is in one bin."""
        return 1


@dataclass(frozen=True, eq=False)
class Truncation:
    """Cut every basket to at most `longest` items before it is counted.

    Which items stay is a function of the basket, of how many equal ones come before it, of the public values here and
    of `key`, a secret drawn once per release, and of nothing else: not of other baskets (C6). So for every key, one
    more basket means one more cut basket, in whatever order they come, and what is counted afterwards has the
    sensitivity of baskets of at most `longest` items.

    Without `sets` the items that stay are drawn at random. With `sets` and their `scores`, candidates of one size each,
    those stay that keep the heaviest candidates (paper 002, algorithm 8).
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
    """How many baskets hold each of the given itemsets, as they are or truncated first.

    One basket can hold all itemsets, unless it was truncated: then each size allows at most so many (C12).
    """

    itemsets: Itemsets
    truncation: Truncation | None = None

    @property
    def cells(self) -> int:
        """One number an itemset."""
        return len(self.itemsets)

    @cached_property
    def l1_sensitivity(self) -> int:
        """As many itemsets as one basket can hold at once."""
        if self.truncation is None:
            return len(self.itemsets)
        sizes = self.itemsets.sizes
        total = 0
        for size in np.unique(sizes).tolist():
            alike = self.itemsets.take(np.flatnonzero(sizes == size))
            total += degree_bound(alike.offsets, alike.codes, self.truncation.longest)
        return total


@dataclass(frozen=True, eq=False)
class Held(Query):
    """How many people hold how many of the given itemsets, in all their baskets together.

    An itemset that v of a person's baskets hold counts v times, or with `squares` v squared times: a person's load. Bin
    i counts those with a load of `edges[i]` or more, and less than `edges[i + 1]`; the last has no upper end. Those
    below the first edge are not counted. Edges are public: none is the most that anyone holds.
    """

    itemsets: Itemsets
    edges: tuple[int, ...]
    squares: bool = False

    def __post_init__(self) -> None:
        _check_edges(self.edges)

    @property
    def cells(self) -> int:
        """One number a bin."""
        return len(self.edges)

    def sensitivity(self, baskets: int = 1) -> Sensitivity:
        """Everyone is in one bin at most, however many baskets the load is from."""
        return Sensitivity.of(self.cells, 1, 1, 1)


@dataclass(frozen=True, eq=False)
class Clipped(Query):
    """How many baskets hold each of the given itemsets, each person scaled down to add `total` at most in all.

    Numbers are in parts of a basket, `PARTS` to one. A person's load r is how many of the itemsets the baskets hold, in
    all of them together; with `root`, an itemset in v of them counts v squared times. Each basket adds to each itemset
    it holds the same weight, the largest whole number of parts up to a basket of which r add up to `total`; with
    `root`, of which the squares of r add up to `total` times `PARTS`. Rounding is down, as nearest could double what a
    person adds.
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
        """Return how far one person moves the answer: the whole person is clipped, not each basket.

        A person adds v W to an itemset that v baskets hold, at most c of them; the load is r. Without root, W r <=
        total is the sum of what is added; no entry is more than c PARTS or than that sum, and the squares add up to no
        more than the largest entry times the sum. With root, W^2 r <= total PARTS is the sum of squares, and the sum of
        what is added is at most the root of that times the number of cells.
        """
        most, cells = baskets * PARTS, self.cells
        if self.root:
            squared = min(self.total * PARTS, most**2 * cells)
            linf = min(most, isqrt(squared))
            l1 = min(isqrt(cells * squared), most * cells)
        else:
            l1 = min(self.total, most * cells)
            linf = min(most, l1)
            squared = min(linf * l1, most**2 * cells)
        return Sensitivity.of(cells, l1, squared, linf)

    def weights(self, loads: NDArray[np.integer[Any]]) -> NDArray[np.int32]:
        """Return what people of these loads add to each itemset for each basket that holds it."""
        many = np.maximum(loads, 1).astype(np.int64)
        if self.root:
            squares = np.arange(PARTS + 1, dtype=np.int64) ** 2
            places = np.searchsorted(squares, PARTS * self.total // many, side="right") - 1
        else:
            places = np.minimum(self.total // many, PARTS)
        weights: NDArray[np.int32] = places.astype(np.int32)
        return weights


@dataclass(frozen=True)
class Cells(BasketQuery):
    """For each basis, a few items, how many baskets hold exactly which of them: two to the power of its size cells.

    The cells of the bases lie end to end; in a basis, bit j of the place says whether the j-th item is held.
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
    """The k-th largest count over all itemsets of `least` to `longest` items of the vocabulary; 0 where fewer occur.

    The rank runs over all itemsets, also over those nobody holds (E11): the smallest count that was mined would not do.
    Nor is the answer less than the count of rank `rank` + 1 over all itemsets of 1 to `longest` items: patterns of many
    items have so many parts that no more can be looked at. A maximum of two order statistics.
    """

    k: int
    least: int
    longest: int
    rank: int = LOOKED_AT

    @property
    def cells(self) -> int:
        """One number."""
        return 1

    @property
    def l1_sensitivity(self) -> int:
        """Order statistics of counts that each rise by 0 or 1."""
        return 1


@dataclass(frozen=True, eq=False)
class KthClipped(Query):
    """The k-th largest of the numbers that clipped counting gives, in parts; 0 where there are fewer.

    Beside :class:`Kth` it says what clipping takes from those that count the most.
    """

    clipped: Clipped
    k: int

    @property
    def cells(self) -> int:
        """One number."""
        return 1

    def sensitivity(self, baskets: int = 1) -> Sensitivity:
        """Return the same as for the numbers it orders: an order statistic moves no further than any of them."""
        linf = self.clipped.sensitivity(baskets).linf
        return Sensitivity.of(1, linf, linf**2, linf)


@dataclass(frozen=True)
class Largest(BasketQuery):
    """The largest count over the itemsets of `size` items, or `floor` where that is more (C1).

    Nor is the answer less than the count of rank `rank` + 1 over all itemsets, so that however low the floor, no more
    than `rank` itemsets have to be listed. With a public floor and rank it is a maximum of counts, of an order
    statistic of counts and of a constant.
    """

    size: int
    floor: int
    rank: int = 100_000

    @property
    def cells(self) -> int:
        """One number."""
        return 1

    @property
    def l1_sensitivity(self) -> int:
        """A maximum of numbers that each rise by 0 or 1."""
        return 1


def _check_edges(edges: tuple[int, ...]) -> None:
    if not edges or edges[0] < 1 or any(low >= high for low, high in pairwise(edges)):
        raise MisuseError(f"The edges of bins rise from 1 or more; {list(edges)} were given.")
