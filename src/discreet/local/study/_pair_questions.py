"""Questions about pairs: relations, which are ordered pairs of items a person holds, given, in time, or together.

A device that has events or relations makes its pairs of them before it is asked anything; `together` pairs follow from
the basket alone.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isqrt
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...baskets import Baskets, starts
from ...errors import MisuseError
from ...exact import How, checked_how, held_pairs
from ...kernels import add_bonds, project_folded, project_relations, project_together
from .. import SPAN
from ._questions import BinnedCount, CandidateList, DeviceQuestion, HeldValues, PersonNumbers, one_each

Pair: TypeAlias = tuple[int, int]


@dataclass(frozen=True)
class Items:
    """The items whose relations are asked about, by rank, and what makes a pair of them.

    Parameters
    ----------
    order
        The items.
    how
        What makes a pair.
    bonds
        Pairs that stand for items themselves: whoever has the pair has the bond. The bond (a, b) is paired with c where
        (b, c) is a pair too.
    """

    order: tuple[int, ...]
    how: How
    bonds: tuple[Pair, ...] = ()

    def __post_init__(self) -> None:
        known = set(self.order)
        if len(self.order) < 2 or len(known) < len(self.order):
            raise MisuseError("Relations are between two items or more, all different.")
        if len(set(self.bonds)) < len(self.bonds) or any(a == b or not known >= {a, b} for a, b in self.bonds):
            raise MisuseError("Bonds are pairs of two different items that are asked about, each named once.")

    def __len__(self) -> int:
        return len(self.order) + len(self.bonds)

    @cached_property
    def rank(self) -> dict[tuple[int, ...], int]:
        """The rank of each item and of each bond, as tuples of items."""
        return {one: rank for rank, one in enumerate((*((item,) for item in self.order), *self.bonds))}

    @cached_property
    def codes(self) -> NDArray[np.int64]:
        """The pairs that the bonds are, as codes."""
        return np.array([self.rank[one,] * len(self) + self.rank[other,] for one, other in self.bonds], np.int64)

    def ranks(self, baskets: Baskets) -> NDArray[np.int64]:
        """Return the rank of each item, or -1."""
        ranks = np.full(max(baskets.items, max(self.order) + 1), -1, np.int64)
        ranks[list(self.order)] = np.arange(len(self.order))
        return ranks

    def pairs(self, baskets: Baskets, people: PersonNumbers) -> HeldValues:
        """Return the pairs that each of these people holds, as codes rank * width + rank, those of bonds last."""
        checked_how(self.how, baskets)
        width = len(self)
        offsets, held = held_pairs(baskets, people, self.ranks(baskets), width, self.how)
        if self.bonds:
            sizes = np.zeros(len(people), np.int64)
            add_bonds(offsets, held, self.codes, width, offsets, np.empty(0, np.int32), sizes)
            ends = starts(sizes)
            joined = np.empty(ends[-1], np.int32)
            if len(joined):
                add_bonds(offsets, held, self.codes, width, ends, joined, sizes)
            return ends, joined
        return offsets, held

    def form(self) -> list[int | list[int]]:
        """Return items and bonds as they travel."""
        return [*self.order, *map(list, self.bonds)]


@dataclass(frozen=True)
class Relations:
    """Relations one by one: ordered pairs of items, and chains (a, b, c) of the bond (a, b) with c."""

    items: Items
    of: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        known = self.items.rank
        for chain in self.of:
            if len(set(chain)) < len(chain) or not all(side in known for side in sides(chain)):
                raise MisuseError(f"A relation is a pair of two different items that are asked about; {chain} is not.")
        if not self.of or len(set(self.of)) < len(self.of):
            raise MisuseError("The relations of a question are different from each other, and there is one.")

    def __len__(self) -> int:
        return len(self.of)

    def __getitem__(self, place: int) -> tuple[int, ...]:
        return self.of[place]

    def listed(self, of: Sequence[Sequence[int]]) -> Relations:
        """Return other relations of the same items, as they travel."""
        return Relations(self.items, tuple(map(tuple, of)))

    def answers(self, baskets: Baskets, people: PersonNumbers) -> HeldValues:
        """Return which of the relations each person holds."""
        offsets, codes = self.items.pairs(baskets, people)
        width, rank = len(self.items), self.items.rank
        places = np.full(width * width, -1, np.int32)
        places[[rank[one] * width + rank[other] for one, other in map(sides, self.of)]] = np.arange(len(self.of))
        found = places[codes]
        kept = np.concatenate(([0], np.cumsum(found >= 0)))[offsets]
        found = found[found >= 0]
        rows = np.repeat(np.arange(len(people)), np.diff(kept))
        return kept.astype(np.int64), found[np.lexsort((found, rows))]


def sides(chain: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the two sides of a relation: all but its last item, and that."""
    return chain[:-1], chain[-1:]


@dataclass(frozen=True)
class WhichRelations(DeviceQuestion):
    """Ask which of these relations a person holds."""

    ask: ClassVar[str] = "which"
    single: ClassVar[bool] = False
    of: Relations

    @property
    def values(self) -> int:
        """One value a relation."""
        return len(self.of)

    def form(self) -> dict[str, Any]:
        """Return the question as it travels."""
        return {"ask": self.ask, "of": [list(pair) for pair in self.of.of], "pairs": self.of.items.how}

    def as_asked(self, form: Mapping[str, Any]) -> Self:
        """Return the question about the relations that were asked about, in their order."""
        return replace(self, of=self.of.listed(form["of"]))

    def answers(self, baskets: Baskets, people: PersonNumbers) -> HeldValues:
        """Return the relations held."""
        return self.of.answers(baskets, people)


@dataclass(frozen=True)
class HowManyRelations(BinnedCount):
    """Ask how many of these relations a person holds."""

    of: Relations

    def form(self) -> dict[str, Any]:
        """Return the question as it travels."""
        of = [list(pair) for pair in self.of.of]
        return {"ask": self.ask, "of": of, "pairs": self.of.items.how, "bins": list(self.bins)}

    def as_asked(self, form: Mapping[str, Any]) -> Self:
        """Return the question about the relations that were asked about, in their order."""
        return replace(self, of=self.of.listed(form["of"]))


@dataclass(frozen=True)
class Valued(DeviceQuestion):
    """Ask which of these relations a person holds, as keys with a value: 2k is key k with -1, and 2k + 1 with +1.

    Parameters
    ----------
    of
        The relations, pairs of items.
    absent
        Whether a relation that is not held is a key too where its first item is, with the value -1. Without, every key
        has +1.
    """

    ask: ClassVar[str] = "valued"
    single: ClassVar[bool] = False
    of: Relations
    absent: bool = False

    def __post_init__(self) -> None:
        if any(len(pair) != 2 for pair in self.of.of):
            raise MisuseError("Keys are relations of two items.")

    @property
    def values(self) -> int:
        """Two values a relation."""
        return 2 * len(self.of)

    def form(self) -> dict[str, Any]:
        """Return the question as it travels."""
        of = [list(pair) for pair in self.of.of]
        return {"ask": self.ask, "of": of, "pairs": self.of.items.how, "absent": self.absent}

    def answers(self, baskets: Baskets, people: PersonNumbers) -> HeldValues:
        """Return keys with values, row by row."""
        offsets, found = self.of.answers(baskets, people)
        if not self.absent:
            return offsets, 2 * found + 1
        many = len(self.of)
        present = np.repeat(np.arange(len(people)), np.diff(offsets)) * many + found
        items = CandidateList(itemsets=tuple((item,) for item in self.of.items.order))
        ends, ranks = items.answers(baskets, people)
        # The relations of each first item, end to end, in the order of the items.
        first = np.array([self.of.items.order.index(pair[0]) for pair in self.of.of])
        by_first, sizes = np.argsort(first, kind="stable"), np.bincount(first, minlength=len(items))
        each = sizes[ranks]
        places = np.arange(each.sum()) + np.repeat(starts(sizes)[:-1][ranks] - starts(each)[:-1], each)
        rows = np.repeat(np.repeat(np.arange(len(people)), np.diff(ends)), each)
        absent = np.setdiff1d(rows * many + by_first[places], present, assume_unique=True)
        coded = np.sort(np.concatenate((2 * present + 1, 2 * absent)))
        counts = np.bincount(coded // (2 * many), minlength=len(people))
        return starts(counts), (coded % (2 * many)).astype(np.int32)


@dataclass(frozen=True)
class NumberQuestion(DeviceQuestion):
    """Ask for one whole number, brought from a public range onto the grid of a mean oracle, and clipped there (D5)."""

    ask: ClassVar[str] = "projection"
    single: ClassVar[bool] = True
    number: ClassVar[bool] = True
    left: tuple[int, ...]
    right: tuple[int, ...]
    low: int
    high: int
    span: int = SPAN

    def __post_init__(self) -> None:
        if not len(self.left) == len(self.right) == self.width or self.low > self.high:
            raise MisuseError(
                "A projection has one weight per item on both sides, and a range that is not upside down."
            )

    @property
    @abstractmethod
    def width(self) -> int:
        """How many weights each side has."""

    @property
    def values(self) -> int:
        """One number."""
        return 1

    def answers(self, baskets: Baskets, people: PersonNumbers) -> HeldValues:
        """Return the number of each person on the grid."""
        totals = np.empty(len(people), np.int64)
        self.totals(baskets, people, totals)
        return one_each(on_grid(totals, self.low, self.high, self.span))

    @abstractmethod
    def totals(self, baskets: Baskets, people: PersonNumbers, out: NDArray[np.int64]) -> None:
        """Write everyone's number as it is."""

    def weights(self) -> dict[str, Any]:
        """Return weights and range as they travel."""
        return {"left": list(self.left), "right": list(self.right), "low": self.low, "high": self.high}

    def as_asked(self, form: Mapping[str, Any]) -> Self:
        """Return the question with the directions and the range that were asked for."""
        left, right = tuple(form["left"]), tuple(form["right"])
        return replace(self, left=left, right=right, low=form["low"], high=form["high"])


@dataclass(frozen=True, kw_only=True)
class Projection(NumberQuestion):
    """Ask for the sum of left[a] * right[b] over the pairs (a, b) a person holds, and over a = b what they hold.

    Together it is over all pairs of items and bonds held, so that it is a product of two sums.
    """

    items: Items

    @property
    def width(self) -> int:
        """One weight an item and a bond."""
        return len(self.items)

    def form(self) -> dict[str, Any]:
        """Return the question as it travels."""
        return {"ask": self.ask, "of": self.items.form(), "pairs": self.items.how, **self.weights()}

    def totals(self, baskets: Baskets, people: PersonNumbers, out: NDArray[np.int64]) -> None:
        """Write everyone's number."""
        left, right = np.array(self.left, np.int64), np.array(self.right, np.int64)
        ranks = self.items.ranks(baskets)
        if self.items.how == "together":
            project_together(baskets.offsets, baskets.codes, people, ranks, self.items.codes, left, right, out)
            return
        offsets, held = self.items.pairs(baskets, people)
        project_relations(baskets.offsets, baskets.codes, people, ranks, self.width, offsets, held, left, right, out)


@dataclass(frozen=True, kw_only=True)
class Folded(NumberQuestion):
    """Ask for the sum of left[a] * right[b] over the items a * side + b a person holds: a list folded into a square."""

    items: int

    @property
    def width(self) -> int:
        """The side of the square."""
        return isqrt(self.items - 1) + 1

    def form(self) -> dict[str, Any]:
        """Return the question as it travels."""
        return {"ask": self.ask, "of": self.items, "pairs": "folded", **self.weights()}

    def totals(self, baskets: Baskets, people: PersonNumbers, out: NDArray[np.int64]) -> None:
        """Write everyone's number."""
        left, right = np.array(self.left, np.int64), np.array(self.right, np.int64)
        project_folded(baskets.offsets, baskets.codes, people, self.items, self.width, left, right, out)


def on_grid(totals: NDArray[np.int64], low: int, high: int, span: int) -> NDArray[np.int64]:
    """Return numbers from `low` to `high` as whole numbers from -span to span; 0 where there is one."""
    if low == high:
        return np.zeros(len(totals), np.int64)
    width = high - low
    return (4 * span * (np.clip(totals, low, high) - low) + width) // (2 * width) - span
