"""Questions about pairs: relations are ordered pairs of items of one person, given as data, in time, or held together.

A device with events or given relations derives its pairs before it answers; pairs that are held `together` follow from
the basket alone.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
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
from ._questions import (
    CandidateList,
    DeviceQuestion,
    HeldValues,
    PersonNumbers,
    QuestionCandidates,
    item_ranks,
    one_value_each,
)

Pair: TypeAlias = tuple[int, int]
# The weights of both sides of a projection, and the array that the number of each person is written to.
ProjectionSums: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True)
class RelationItems:
    """The items that relations are made of, by rank, and the kind of relation.

    Parameters
    ----------
    order
        The items.
    how
        The kind of relation between two items.
    bonds
        Pairs that count as items themselves: a person who has the pair has the bond. The bond (a, b) is related to c
        where (b, c) is a relation too.
    """

    order: tuple[int, ...]
    how: How
    bonds: tuple[Pair, ...] = ()

    def __post_init__(self) -> None:
        items = set(self.order)
        if len(self.order) < 2 or len(items) < len(self.order):
            raise MisuseError("Relations are between two items or more, all different.")
        if len(set(self.bonds)) < len(self.bonds) or any(a == b or not items >= {a, b} for a, b in self.bonds):
            raise MisuseError("Bonds are pairs of two different items that are asked about, each named once.")

    def __len__(self) -> int:
        return len(self.order) + len(self.bonds)

    @cached_property
    def rank(self) -> dict[tuple[int, ...], int]:
        """The rank of each item and of each bond, as tuples of items."""
        return {side: rank for rank, side in enumerate((*((item,) for item in self.order), *self.bonds))}

    @cached_property
    def codes(self) -> NDArray[np.int64]:
        """The code of each bond's pair: rank of its first item * width + rank of its second item."""
        return np.array([self.rank[a,] * len(self) + self.rank[b,] for a, b in self.bonds], np.int64)

    def pairs(self, baskets: Baskets, people: PersonNumbers) -> HeldValues:
        """Return the pairs that each person holds, as codes rank * width + rank, pairs of bonds last."""
        checked_how(self.how, baskets)
        width = len(self)
        offsets, pairs = held_pairs(baskets, people, item_ranks(self.order, baskets), width, self.how)
        if not self.bonds:
            return offsets, pairs
        sizes = np.zeros(len(people), np.int64)
        # Two passes: the first counts the pairs of each person, the second writes them.
        add_bonds(offsets, pairs, self.codes, width, offsets, np.empty(0, np.int32), sizes)
        all_offsets = starts(sizes)
        all_pairs = np.empty(all_offsets[-1], np.int32)
        if len(all_pairs):
            add_bonds(offsets, pairs, self.codes, width, all_offsets, all_pairs, sizes)
        return all_offsets, all_pairs

    def form(self) -> list[int | list[int]]:
        """Return items and bonds as JSON values."""
        return [*self.order, *map(list, self.bonds)]


@dataclass(frozen=True)
class Relations(QuestionCandidates):
    """A list of relations: ordered pairs of items, and chains (a, b, c) of the bond (a, b) with c."""

    items: RelationItems
    chains: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        ranks = self.items.rank
        for chain in self.chains:
            if len(set(chain)) < len(chain) or not all(side in ranks for side in sides(chain)):
                raise MisuseError(f"A relation is a pair of two different items that are asked about; {chain} is not.")
        if not self.chains or len(set(self.chains)) < len(self.chains):
            raise MisuseError("The relations of a question are different from each other, and there is one.")

    def __len__(self) -> int:
        return len(self.chains)

    def __getitem__(self, position: int) -> tuple[int, ...]:
        return self.chains[position]

    def form(self) -> dict[str, Any]:
        """Return the relations and their kind as JSON values."""
        return {"of": [list(chain) for chain in self.chains], "pairs": self.items.how}

    def as_asked(self, form: Mapping[str, Any]) -> Self:
        """Return the relations of a question that was asked before, of the same items."""
        return replace(self, chains=tuple(map(tuple, form["of"])))

    def answers(self, baskets: Baskets, people: PersonNumbers) -> HeldValues:
        """Return the positions of the relations that each person holds, ascending, row by row."""
        offsets, codes = self.items.pairs(baskets, people)
        width, rank = len(self.items), self.items.rank
        positions = np.full(width * width, -1, np.int32)
        positions[
            [rank[antecedent] * width + rank[consequent] for antecedent, consequent in map(sides, self.chains)]
        ] = np.arange(len(self))
        held_positions = positions[codes]
        held_offsets = np.concatenate(([0], np.cumsum(held_positions >= 0)))[offsets]
        held_positions = held_positions[held_positions >= 0]
        rows = np.repeat(np.arange(len(people)), np.diff(held_offsets))
        return held_offsets.astype(np.int64), held_positions[np.lexsort((held_positions, rows))]


def sides(chain: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the two sides of a relation: all items but the last, and the last."""
    return chain[:-1], chain[-1:]


@dataclass(frozen=True)
class KeyQuestion(DeviceQuestion):
    """Ask for the relations that a person holds, as keys with a value: 2k is key k with -1, and 2k + 1 with +1.

    Parameters
    ----------
    relations
        The relations, pairs of items.
    absent
        Whether a person who holds the first item of a relation without the relation has its key with the value -1. If
        not, every key has +1.
    """

    ask: ClassVar[str] = "valued"
    single: ClassVar[bool] = False
    relations: Relations
    absent: bool = False

    def __post_init__(self) -> None:
        if any(len(pair) != 2 for pair in self.relations.chains):
            raise MisuseError("Keys are relations of two items.")

    @property
    def values(self) -> int:
        """Two values per relation."""
        return 2 * len(self.relations)

    def form(self) -> dict[str, Any]:
        """Return the question's JSON form."""
        return {"ask": self.ask, **self.relations.form(), "absent": self.absent}

    def answers(self, baskets: Baskets, people: PersonNumbers) -> HeldValues:
        """Return keys with values, row by row."""
        offsets, held_relations = self.relations.answers(baskets, people)
        if not self.absent:
            return offsets, 2 * held_relations + 1
        # A key of a person is coded as row * key_count + key, so that sets of keys are sets of numbers.
        key_count, rows = len(self.relations), np.arange(len(people))
        present = np.repeat(rows, np.diff(offsets)) * key_count + held_relations
        order = self.relations.items.order
        items = CandidateList(itemsets=tuple((item,) for item in order))
        item_offsets, ranks = items.answers(baskets, people)
        # The keys of each first item, end to end, in the order of the items.
        first_ranks = np.array([order.index(pair[0]) for pair in self.relations.chains])
        keys_by_item, sizes = np.argsort(first_ranks, kind="stable"), np.bincount(first_ranks, minlength=len(items))
        held_sizes = sizes[ranks]
        positions = np.arange(held_sizes.sum())
        positions += np.repeat(starts(sizes)[:-1][ranks] - starts(held_sizes)[:-1], held_sizes)
        item_rows = np.repeat(np.repeat(rows, np.diff(item_offsets)), held_sizes)
        absent = np.setdiff1d(item_rows * key_count + keys_by_item[positions], present, assume_unique=True)
        coded = np.sort(np.concatenate((2 * present + 1, 2 * absent)))
        counts = np.bincount(coded // (2 * key_count), minlength=len(people))
        return starts(counts), (coded % (2 * key_count)).astype(np.int32)


@dataclass(frozen=True)
class NumberQuestion(DeviceQuestion):
    """Ask for one whole number, clipped to a public range and rounded to the grid of a mean oracle (D5).

    Parameters
    ----------
    left, right
        The weights of both sides, whole numbers.
    low, high
        The range of the number.
    span
        The largest number of the grid: its numbers are from -span to span.
    """

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
        """The number of weights of each side."""

    @property
    def values(self) -> int:
        """One number."""
        return 1

    def answers(self, baskets: Baskets, people: PersonNumbers) -> HeldValues:
        """Return the number of each person, rounded to the grid."""
        totals = np.empty(len(people), np.int64)
        self.add_up(baskets, people, (np.array(self.left, np.int64), np.array(self.right, np.int64), totals))
        return one_value_each(round_to_grid(totals, self.low, self.high, self.span))

    @abstractmethod
    def add_up(self, baskets: Baskets, people: PersonNumbers, sums: ProjectionSums) -> None:
        """Write the number of each person, before clipping, to the last array of `sums`."""

    def weights(self) -> dict[str, Any]:
        """Return weights and range as JSON values."""
        return {"left": list(self.left), "right": list(self.right), "low": self.low, "high": self.high}

    def as_asked(self, form: Mapping[str, Any]) -> Self:
        """Return the question with the weights and the range of a question that was asked before."""
        left_weights, right_weights = tuple(form["left"]), tuple(form["right"])
        return replace(self, left=left_weights, right=right_weights, low=form["low"], high=form["high"])


@dataclass(frozen=True, kw_only=True)
class Projection(NumberQuestion):
    """Ask for the sum of left[a] * right[b] over the pairs (a, b) that a person holds, and over a = b of each item.

    For pairs held `together`, the sum is over all pairs of items and bonds: a product of two sums.
    """

    items: RelationItems

    @property
    def width(self) -> int:
        """One weight per item and bond."""
        return len(self.items)

    def form(self) -> dict[str, Any]:
        """Return the question's JSON form."""
        return {"ask": self.ask, "of": self.items.form(), "pairs": self.items.how, **self.weights()}

    def add_up(self, baskets: Baskets, people: PersonNumbers, sums: ProjectionSums) -> None:
        """Write the number of each person, before clipping, to the last array of `sums`."""
        ranks = item_ranks(self.items.order, baskets)
        if self.items.how == "together":
            project_together(baskets.offsets, baskets.codes, people, ranks, self.items.codes, *sums)
            return
        pairs = self.items.pairs(baskets, people)
        project_relations(baskets.offsets, baskets.codes, people, ranks, self.width, *pairs, *sums)


@dataclass(frozen=True, kw_only=True)
class FoldedProjection(NumberQuestion):
    """Ask for the sum of left[a] * right[b] over the items a * width + b that a person holds: a list as a square."""

    items: int

    @property
    def width(self) -> int:
        """The side of the square."""
        return isqrt(self.items - 1) + 1

    def form(self) -> dict[str, Any]:
        """Return the question's JSON form."""
        return {"ask": self.ask, "of": self.items, "pairs": "folded", **self.weights()}

    def add_up(self, baskets: Baskets, people: PersonNumbers, sums: ProjectionSums) -> None:
        """Write the number of each person, before clipping, to the last array of `sums`."""
        project_folded(baskets.offsets, baskets.codes, people, self.items, self.width, *sums)


def round_to_grid(totals: NDArray[np.int64], low: int, high: int, span: int) -> NDArray[np.int64]:
    """Return numbers from `low` to `high` as whole numbers from -span to span; 0 where `low` equals `high`."""
    if low == high:
        return np.zeros(len(totals), np.int64)
    width = high - low
    return (4 * span * (np.clip(totals, low, high) - low) + width) // (2 * width) - span
