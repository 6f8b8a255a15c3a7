"""What a private mechanism may ask of the data: frozen values that know how much one person can change the answer.

A query says how one basket becomes a vector of whole numbers, none of them negative; an engine adds these up over
people. Its sensitivity is how far one person moves that sum. `l1_sensitivity` is the largest sum of the entries one
basket can add, `squared_l2_sensitivity` the largest sum of their squares, `linf_sensitivity` the largest single entry:
all for adding or removing a person.

Where one person is replaced, one such vector goes and another comes. The L1 sensitivity doubles at most, and so does
the squared L2 sensitivity, as no entry is negative. But no cell moves by more than the largest entry, so counts that
one basket may hold all of move by no more than before: `l1_sensitivity_replace`, `squared_l2_sensitivity_replace`.
Which relation holds, and the noise that follows, is the business of `privacy`.

`Kth` and `Largest` are not sums but order statistics of counts. Adding a person raises each count by 0 or 1, so any
order statistic, and any maximum over a fixed family, rises by 0 or 1 too; replacing one moves each count by 1 at most,
up or down, and so these. Their bound is 1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import isqrt

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


class Query(ABC):
    """One question about the data, whose answer is a vector of whole numbers."""

    @property
    @abstractmethod
    def cells(self) -> int:
        """How many numbers the answer has."""

    @property
    @abstractmethod
    def l1_sensitivity(self) -> int:
        """The largest sum of entries that one basket adds."""

    @property
    def squared_l2_sensitivity(self) -> int:
        """The largest sum of squared entries that one basket adds; entries of 0 and 1 are their own squares."""
        return self.l1_sensitivity

    @property
    def linf_sensitivity(self) -> int:
        """The largest entry; none is larger than their sum."""
        return self.l1_sensitivity

    @property
    def monotone(self) -> bool:
        """Whether adding a person lowers no entry: true of sums of vectors without negative entries."""
        return True

    @property
    def l1_sensitivity_replace(self) -> int:
        """The largest sum of moves where one basket takes the place of another."""
        return min(2 * self.l1_sensitivity, self.cells * self.linf_sensitivity)

    @property
    def squared_l2_sensitivity_replace(self) -> int:
        """The largest sum of squared moves where one basket takes the place of another."""
        return min(2 * self.squared_l2_sensitivity, self.cells * self.linf_sensitivity**2)


@dataclass(frozen=True)
class People(Query):
    """How many people there are."""

    @property
    def cells(self) -> int:
        """One number."""
        return 1

    @property
    def l1_sensitivity(self) -> int:
        """Everyone counts once."""
        return 1


@dataclass(frozen=True)
class Sizes(Query):
    """How many people hold 0, 1, 2 … up to `longest` items; those who hold more are counted with the longest."""

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
        """Everyone is in one bin."""
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
class Supports(Query):
    """How many people hold each of the given itemsets, in baskets as they are or truncated first.

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

    @property
    def linf_sensitivity(self) -> int:
        """Everyone counts once for an itemset."""
        return 1


@dataclass(frozen=True, eq=False)
class Held(Query):
    """How many people hold how many of the given itemsets.

    Bin i counts those who hold `edges[i]` of them or more, and fewer than `edges[i + 1]`; the last has no upper end.
    Those who hold fewer than the first edge are not counted. Edges are public: none is the most that anyone holds.
    """

    itemsets: Itemsets
    edges: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.edges or self.edges[0] < 1 or any(low >= high for low, high in pairwise(self.edges)):
            raise MisuseError(f"The edges of bins rise from 1 or more; {list(self.edges)} were given.")

    @property
    def cells(self) -> int:
        """One number a bin."""
        return len(self.edges)

    @property
    def l1_sensitivity(self) -> int:
        """Everyone is in one bin at most."""
        return 1


@dataclass(frozen=True, eq=False)
class Clipped(Query):
    """How many people hold each of the given itemsets, each basket scaled down so that it adds `total` at most in all.

    Numbers are in parts of a person, `PARTS` to one. A basket that holds r of the itemsets adds to each of them the
    largest whole number of parts, up to a person, of which r add up to `total`; with `root`, of which the squares of r
    add up to `total` times `PARTS`. Rounding is down, as nearest could double what a basket adds.
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

    @property
    def l1_sensitivity(self) -> int:
        """By the choice of weights W: r W <= total; with root, r W is the root of r times that of r W^2."""
        everything = PARTS * len(self.itemsets)
        return min(isqrt(everything * self.total) if self.root else self.total, everything)

    @property
    def squared_l2_sensitivity(self) -> int:
        """As r W^2 <= total PARTS: with root by the choice of weights, without it as no weight is over PARTS."""
        return PARTS * min(self.total, PARTS * len(self.itemsets))

    @property
    def linf_sensitivity(self) -> int:
        """A person, in parts."""
        return PARTS

    @property
    def weights(self) -> NDArray[np.int64]:
        """What a basket adds to each of the itemsets it holds, by how many it holds."""
        many = np.maximum(np.arange(len(self.itemsets) + 1, dtype=np.int64), 1)
        weights: NDArray[np.int64] = np.minimum(self.total // many, PARTS)
        if self.root:
            squares = np.arange(PARTS + 1, dtype=np.int64) ** 2
            weights = np.searchsorted(squares, PARTS * self.total // many, side="right") - 1
        return weights


@dataclass(frozen=True)
class Cells(Query):
    """For each basis, a few items, how many people hold exactly which of them: two to the power of its size cells.

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
        """Everyone is in one cell of each basis."""
        return len(self.bases)

    @property
    def linf_sensitivity(self) -> int:
        """Everyone counts once in a cell."""
        return 1


@dataclass(frozen=True)
class Kth(Query):
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

    @property
    def l1_sensitivity(self) -> int:
        """An order statistic moves no further than any of the numbers it orders: by a person, in parts."""
        return self.clipped.linf_sensitivity

    @property
    def squared_l2_sensitivity(self) -> int:
        """One number: the square of its largest move."""
        return self.l1_sensitivity**2


@dataclass(frozen=True)
class Largest(Query):
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
