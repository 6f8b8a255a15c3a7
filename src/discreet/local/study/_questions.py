"""The questions to a device, and their answers: each basket becomes a few of the question's values.

A question is a small frozen value; its JSON form is sent to devices. `local.device.answering.find_values` computes the
answer of one basket; `answers` computes the answers of many, and a test checks that both agree.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...baskets import Baskets, Offsets, Vocabulary, starts
from ...errors import MisuseError
from ...kernels import count_below, count_held, find_prefixes, gather_rows, list_held, sum_rows
from ..device import MOST_CELLS
from ._texts import TextNumbers

PersonNumbers: TypeAlias = NDArray[np.int64]
HeldValues: TypeAlias = tuple[Offsets, NDArray[np.int32]]


class QuestionCandidates(ABC):
    """A list of candidates, of which each person holds some: items, itemsets or relations."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __getitem__(self, position: int) -> tuple[int, ...]: ...

    @abstractmethod
    def form(self) -> dict[str, Any]:
        """Return the candidates as fields of a question's form."""

    def as_asked(self, form: Mapping[str, Any]) -> Self:
        """Return the candidates in the order of a question that was asked before, by default its own."""
        return self

    @abstractmethod
    def answers(self, baskets: Baskets, people: PersonNumbers) -> HeldValues:
        """Return the positions of the candidates that each person holds, ascending, row by row."""


@dataclass(frozen=True)
class CandidateList(QuestionCandidates):
    """All items below a number, or a list of itemsets.

    Parameters
    ----------
    items
        The number of items, where `itemsets` is empty: the candidates are the items from 0 to `items` - 1.
    itemsets
        The itemsets, each a tuple of ascending item numbers.
    texts
        The numbering of texts as items, where no list has the items.
    """

    items: int = 0
    itemsets: tuple[tuple[int, ...], ...] = ()
    texts: TextNumbers | None = None

    def __post_init__(self) -> None:
        if bool(self.items) == bool(self.itemsets) or self.items < 0:
            raise MisuseError(
                "A question is about a number of items, or about a list of itemsets, and about something."
            )
        if not all(self.itemsets) or len(set(self.itemsets)) < len(self.itemsets):
            raise MisuseError("The itemsets of a question are different from each other, and none is empty.")

    def __len__(self) -> int:
        return self.items or len(self.itemsets)

    def __getitem__(self, position: int) -> tuple[int, ...]:
        return self.itemsets[position] if self.itemsets else (position,)

    def form(self) -> dict[str, Any]:
        """Return the candidates as JSON values: a number, or a list of items and of lists of items; and the texts."""
        candidates = self.items or [list(itemset) if len(itemset) > 1 else itemset[0] for itemset in self.itemsets]
        return {"of": candidates} if self.texts is None else {"of": candidates, "texts": self.texts.form()}

    def answers(self, baskets: Baskets, people: PersonNumbers) -> HeldValues:
        """Return the positions of the candidates that each person holds, ascending, row by row."""
        if self.texts is not None:
            offsets, held_items = self.texts.answers(baskets, people)
            if self.items == len(self.texts):
                return offsets, held_items
            rows = Baskets(offsets, held_items, Vocabulary(range(len(self.texts))))
            return CandidateList(self.items, self.itemsets).answers(rows, np.arange(len(people)))
        if self.items:
            sizes = np.empty(len(people), np.int64)
            count_below(baskets.offsets, baskets.codes, people, self.items, sizes)
            offsets = starts(sizes)
            held_items = np.empty(offsets[-1], np.int32)
            gather_rows(baskets.offsets, baskets.codes, people, offsets, held_items)
            return offsets, held_items
        sizes, marks = np.zeros(len(people), np.int64), np.zeros(baskets.items, np.uint8)
        arguments = (baskets.offsets, baskets.codes, people, *self._by_anchor(baskets), marks)
        count_held(*arguments, sizes)
        offsets = starts(sizes)
        held_items = np.empty(offsets[-1], np.int32)
        list_held(*arguments, offsets, held_items)
        return offsets, held_items

    def _by_anchor(self, baskets: Baskets) -> tuple[Offsets, NDArray[np.int64], Offsets, NDArray[np.int64]]:
        """Return the candidates grouped by their rarest item, the anchor; grouping is for speed and changes no answer.

        The arrays are, in this order: for each item the start of its group, the candidates by group, for each candidate
        the start of its other items, and the further items.
        """
        counts, item_count = baskets.item_counts, baskets.items
        anchors: list[int] = []
        further_items: list[list[int]] = []
        for itemset in self.itemsets:
            # No basket holds an item beyond the vocabulary: the candidate goes to a group that is never read.
            is_inside = all(item < item_count for item in itemset)
            anchor = min(itemset, key=lambda item: counts[item]) if is_inside else item_count
            anchors.append(anchor)
            further_items.append([item for item in itemset if item != anchor] if is_inside else [])
        order = np.argsort(np.array(anchors), kind="stable")
        group_starts = starts(np.bincount(np.array(anchors), minlength=item_count + 1)[:item_count])
        flat_items = np.array([item for items in further_items for item in items], np.int64)
        return group_starts, order, starts([len(items) for items in further_items]), flat_items


class DeviceQuestion(ABC):
    """One question to a device; each subclass is a frozen value."""

    ask: ClassVar[str]
    # Whether every basket answers with exactly one value: then no padding is needed.
    single: ClassVar[bool]
    # Whether the answer is a number with a mean to estimate, rather than a set of values.
    number: ClassVar[bool] = False

    @property
    @abstractmethod
    def values(self) -> int:
        """The number of values that an answer can have."""

    @abstractmethod
    def form(self) -> dict[str, Any]:
        """Return the question's JSON form, without its oracle."""

    def as_asked(self, form: Mapping[str, Any]) -> Self:
        """Return this question with the weights and the order of a question that was asked before.

        A different processor rounds differently: a direction then has other weights, and a list another order. A
        protocol that continues from a stored answer takes both from the question that was answered.
        """
        return self

    @abstractmethod
    def answers(self, baskets: Baskets, people: PersonNumbers) -> HeldValues:
        """Return the values of each person's answer, row by row, equal to the values of `find_values` on a device."""


@dataclass(frozen=True)
class ListQuestion(DeviceQuestion):
    """A question about a list of candidates."""

    candidates: QuestionCandidates

    def form(self) -> dict[str, Any]:
        """Return the question's JSON form."""
        return {"ask": self.ask, **self.candidates.form()}

    def as_asked(self, form: Mapping[str, Any]) -> Self:
        """Return the question with its candidates in the order of a question that was asked before."""
        return replace(self, candidates=self.candidates.as_asked(form))


@dataclass(frozen=True)
class CandidateQuestion(ListQuestion):
    """Ask for the candidates that a person holds."""

    ask: ClassVar[str] = "which"
    single: ClassVar[bool] = False

    @property
    def values(self) -> int:
        """The number of candidates."""
        return len(self.candidates)

    def answers(self, baskets: Baskets, people: PersonNumbers) -> HeldValues:
        """Return the positions of the candidates that each person holds."""
        return self.candidates.answers(baskets, people)


@dataclass(frozen=True)
class SizeQuestion(ListQuestion):
    """Ask for the number of candidates that a person holds.

    The answer is the position of the last of `bins` that is at most the number. People without a candidate answer too
    (A7), and the last bin has no upper end.
    """

    ask: ClassVar[str] = "how-many"
    single: ClassVar[bool] = True
    bins: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.bins) < 2 or self.bins[0] != 0 or any(low >= high for low, high in pairwise(self.bins)):
            raise MisuseError("The bins of a count begin at 0 and ascend, and there are two or more.")

    @classmethod
    def up_to(cls, candidates: QuestionCandidates, largest: int) -> SizeQuestion:
        """Return the question with a bin for each number from 0 to `largest`."""
        return cls(candidates, tuple(range(largest + 1)))

    @property
    def values(self) -> int:
        """The number of bins."""
        return len(self.bins)

    def form(self) -> dict[str, Any]:
        """Return the question's JSON form."""
        return {**super().form(), "bins": list(self.bins)}

    def answers(self, baskets: Baskets, people: PersonNumbers) -> HeldValues:
        """Return the bin of each person's number of candidates."""
        counts = np.diff(self.candidates.answers(baskets, people)[0])
        return one_value_each(np.searchsorted(np.array(self.bins), counts, side="right") - 1)


@dataclass(frozen=True)
class PrefixQuestion(DeviceQuestion):
    """Ask for a person's prefix: the first `length` items of `order` that the person holds.

    Parameters
    ----------
    order
        The items, in the order in which a basket is read.
    prefixes
        The prefixes, each of `length` items in that order; a last value stands for every other prefix.
    length
        The number of items of a prefix, 1 or more.
    """

    ask: ClassVar[str] = "prefix"
    single: ClassVar[bool] = True
    order: tuple[int, ...]
    prefixes: tuple[tuple[int, ...], ...]
    length: int = 1

    def __post_init__(self) -> None:
        ranks = {item: rank for rank, item in enumerate(self.order)}
        if self.length < 1:
            raise MisuseError(f"A prefix has one item or more; {self.length} was given.")
        if len(ranks) < len(self.order) or not self.prefixes or len(set(self.prefixes)) < len(self.prefixes):
            raise MisuseError("The order and the prefixes of a question name nothing twice, and there is a prefix.")
        for prefix in self.prefixes:
            steps = [ranks.get(item, -1) for item in prefix]
            if len(prefix) != self.length or sorted(set(steps)) != steps or -1 in steps:
                raise MisuseError(f"A prefix is {self.length} items of the order, in its order; {prefix} is not.")

    @property
    def values(self) -> int:
        """The number of prefixes, and one value for every other prefix."""
        return len(self.prefixes) + 1

    def form(self) -> dict[str, Any]:
        """Return the question's JSON form."""
        prefixes = [list(prefix) for prefix in self.prefixes]
        return {"ask": self.ask, "order": list(self.order), "of": prefixes, "length": self.length}

    def answers(self, baskets: Baskets, people: PersonNumbers) -> HeldValues:
        """Return the position of each person's prefix."""
        keys, children = self._tree
        ranks = item_ranks(self.order, baskets)
        positions = np.empty(len(people), np.int64)
        arguments = (ranks, self.length, len(self.order), keys, children, len(self.prefixes), positions)
        find_prefixes(baskets.offsets, baskets.codes, people, *arguments)
        return one_value_each(positions)

    @cached_property
    def _tree(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The prefixes as a tree: the keys of `find_prefixes`, and the node behind each key."""
        ranks = {item: rank for rank, item in enumerate(self.order)}
        nodes: dict[tuple[int, ...], int] = {(): 0}
        children: dict[int, int] = {}
        for position, prefix in enumerate(self.prefixes):
            for path in accumulate((item,) for item in prefix):
                node = nodes.setdefault(path, len(nodes))
                is_leaf = len(path) == self.length
                children[nodes[path[:-1]] * len(self.order) + ranks[path[-1]]] = position if is_leaf else node
        keys = sorted(children)
        return np.array(keys, np.int64), np.array([children[key] for key in keys], np.int64)


@dataclass(frozen=True)
class CellQuestion(DeviceQuestion):
    """Ask for the subset of these items that a person holds: one cell of the table of all subsets.

    The number of the cell is the sum of 2**i over the positions i of the items that are held.
    """

    ask: ClassVar[str] = "cells"
    single: ClassVar[bool] = True
    items: tuple[int, ...]

    def __post_init__(self) -> None:
        if not 1 <= len(set(self.items)) == len(self.items) <= MOST_CELLS:
            raise MisuseError(f"Cells are made of 1 to {MOST_CELLS} different items.")

    @property
    def values(self) -> int:
        """The number of subsets of the items."""
        return 1 << len(self.items)

    def form(self) -> dict[str, Any]:
        """Return the question's JSON form."""
        return {"ask": self.ask, "of": list(self.items)}

    def answers(self, baskets: Baskets, people: PersonNumbers) -> HeldValues:
        """Return the cell of each person."""
        bits = np.zeros(max(baskets.items, max(self.items) + 1), np.int64)
        bits[list(self.items)] = 1 << np.arange(len(self.items))
        cells = np.empty(len(people), np.int64)
        sum_rows(baskets.offsets, baskets.codes, people, bits, cells)
        return one_value_each(cells)


def item_ranks(order: tuple[int, ...], baskets: Baskets) -> NDArray[np.int64]:
    """Return the position of each item in `order`, or -1."""
    ranks = np.full(max(baskets.items, max(order) + 1), -1, np.int64)
    ranks[list(order)] = np.arange(len(order))
    return ranks


def one_value_each(values: NDArray[Any]) -> HeldValues:
    """Return one value per person as rows."""
    return np.arange(len(values) + 1, dtype=np.int64), values.astype(np.int32)
