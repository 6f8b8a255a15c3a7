"""What a device can be asked, and how baskets answer: each basket becomes a few of the question's values.

A question is a small frozen value; its JSON form is what travels. `local.device.answering.find_values` says how one
basket answers; `answers` says it for many, and a test holds the two together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
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


@dataclass(frozen=True)
class CandidateList:
    """What is asked about: all items below a number, or itemsets one by one.

    Parameters
    ----------
    items
        All items from 0 to before it, where `itemsets` is empty.
    itemsets
        The itemsets, each a tuple of ascending item numbers.
    texts
        How texts become items, where no list has them.
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

    def __getitem__(self, place: int) -> tuple[int, ...]:
        return self.itemsets[place] if self.itemsets else (place,)

    def form(self) -> dict[str, Any]:
        """Return the candidates as they travel: a number, or a list of items and of lists of items; and the texts."""
        of = self.items or [list(one) if len(one) > 1 else one[0] for one in self.itemsets]
        return {"of": of} if self.texts is None else {"of": of, "texts": self.texts.form()}

    def answers(self, baskets: Baskets, people: PersonNumbers) -> HeldValues:
        """Return the candidates that each of these people holds, ascending, row by row."""
        if self.texts is not None:
            offsets, held = self.texts.answers(baskets, people)
            if self.items == len(self.texts):
                return offsets, held
            rows = Baskets(offsets, held, Vocabulary(range(len(self.texts))))
            return CandidateList(self.items, self.itemsets).answers(rows, np.arange(len(people)))
        if self.items:
            sizes = np.empty(len(people), np.int64)
            count_below(baskets.offsets, baskets.codes, people, self.items, sizes)
            offsets = starts(sizes)
            held = np.empty(offsets[-1], np.int32)
            gather_rows(baskets.offsets, baskets.codes, people, offsets, held)
            return offsets, held
        anchors, anchored, bounds, others = self._by_anchor(baskets)
        sizes, marks = np.zeros(len(people), np.int64), np.zeros(baskets.items, np.uint8)
        looked_up = (baskets.offsets, baskets.codes, people, anchors, anchored, bounds, others, marks)
        count_held(*looked_up, sizes)
        offsets = starts(sizes)
        held = np.empty(offsets[-1], np.int32)
        list_held(*looked_up, offsets, held)
        return offsets, held

    def _by_anchor(self, baskets: Baskets) -> tuple[Offsets, NDArray[np.int64], Offsets, NDArray[np.int64]]:
        """Lay the candidates out by their rarest item, which makes looking baskets up short and changes no answer."""
        counts, known = baskets.item_counts, baskets.items
        anchors: list[int] = []
        others: list[list[int]] = []
        for itemset in self.itemsets:
            inside = all(item < known for item in itemset)
            anchor = min(itemset, key=lambda item: counts[item]) if inside else known
            anchors.append(anchor)
            others.append([item for item in itemset if item != anchor] if inside else [])
        order = np.argsort(np.array(anchors), kind="stable")
        places = starts(np.bincount(np.array(anchors), minlength=known + 1)[:known])
        rest = np.array([item for some in others for item in some], np.int64)
        return places, order, starts([len(some) for some in others]), rest


class DeviceQuestion(ABC):
    """One question: subclasses are frozen values."""

    ask: ClassVar[str]
    # Whether every basket answers with exactly one value, so that no padding is needed.
    single: ClassVar[bool]
    # Whether the answer is a number, of which the mean is estimated, and not one of some values.
    number: ClassVar[bool] = False

    @property
    @abstractmethod
    def values(self) -> int:
        """How many values there are to answer with."""

    @abstractmethod
    def form(self) -> dict[str, Any]:
        """Return the question as it travels, without its oracle."""

    def as_asked(self, form: Mapping[str, Any]) -> Self:
        """Return this question as it was asked before, where that differs by what floating point makes of it alone.

        Another processor rounds otherwise, and then a direction has other weights and a list another order. A protocol
        that goes on from an answer takes these from the question that was answered.
        """
        return self

    @abstractmethod
    def answers(self, baskets: Baskets, people: PersonNumbers) -> HeldValues:
        """Return what these people answer with: values row by row, as `local.device.answering.find_values` has it."""


@dataclass(frozen=True)
class Which(DeviceQuestion):
    """Ask which of these a person holds."""

    ask: ClassVar[str] = "which"
    single: ClassVar[bool] = False
    of: CandidateList

    @property
    def values(self) -> int:
        """One value a candidate."""
        return len(self.of)

    def form(self) -> dict[str, Any]:
        """Return the question as it travels."""
        return {"ask": self.ask, **self.of.form()}

    def answers(self, baskets: Baskets, people: PersonNumbers) -> HeldValues:
        """Return the candidates held."""
        return self.of.answers(baskets, people)


@dataclass(frozen=True)
class BinnedCount(DeviceQuestion):
    """Ask how many of something a person holds.

    The answer is a bin: the number of the last of `bins` that is not above the count. Empty-handed people answer too
    (A7), and the last bin takes whatever is above it.
    """

    ask: ClassVar[str] = "how-many"
    single: ClassVar[bool] = True
    of: Any  # what says which of it people hold, by `answers`
    bins: tuple[int, ...]

    def __post_init__(self) -> None:
        check_bins(self.bins)

    @property
    def values(self) -> int:
        """One value a bin."""
        return len(self.bins)

    def answers(self, baskets: Baskets, people: PersonNumbers) -> HeldValues:
        """Return the bin of each count."""
        counts = np.diff(self.of.answers(baskets, people)[0])
        return one_each(np.searchsorted(np.array(self.bins), counts, side="right") - 1)


@dataclass(frozen=True)
class HowMany(BinnedCount):
    """Ask how many of these candidates a person holds."""

    of: CandidateList

    @classmethod
    def up_to(cls, of: CandidateList, most: int) -> HowMany:
        """Ask for the very number, from 0 up to `most` or more."""
        return cls(of, tuple(range(most + 1)))

    def form(self) -> dict[str, Any]:
        """Return the question as it travels."""
        return {"ask": self.ask, **self.of.form(), "bins": list(self.bins)}


@dataclass(frozen=True)
class Prefix(DeviceQuestion):
    """Ask which of these is what a person holds of `order`, cut to its first `length`; none of them is a value too."""

    ask: ClassVar[str] = "prefix"
    single: ClassVar[bool] = True
    order: tuple[int, ...]
    of: tuple[tuple[int, ...], ...]
    length: int = field(default=1)

    def __post_init__(self) -> None:
        ranks = {item: rank for rank, item in enumerate(self.order)}
        if self.length < 1:
            raise MisuseError(f"A prefix has one item or more; {self.length} was given.")
        if len(ranks) < len(self.order) or not self.of or len(set(self.of)) < len(self.of):
            raise MisuseError("The order and the prefixes of a question name nothing twice, and there is a prefix.")
        for prefix in self.of:
            steps = [ranks.get(item, -1) for item in prefix]
            if len(prefix) != self.length or sorted(set(steps)) != steps or -1 in steps:
                raise MisuseError(f"A prefix is {self.length} items of the order, in its order; {prefix} is not.")

    @property
    def values(self) -> int:
        """One value a prefix, and one for none of them."""
        return len(self.of) + 1

    def form(self) -> dict[str, Any]:
        """Return the question as it travels."""
        of = [list(prefix) for prefix in self.of]
        return {"ask": self.ask, "order": list(self.order), "of": of, "length": self.length}

    def answers(self, baskets: Baskets, people: PersonNumbers) -> HeldValues:
        """Return the number of each person's prefix."""
        keys, children = self._tree
        ranks = np.full(max(baskets.items, max(self.order) + 1), -1, np.int64)
        ranks[list(self.order)] = np.arange(len(self.order))
        out = np.empty(len(people), np.int64)
        width, none = len(self.order), len(self.of)
        find_prefixes(baskets.offsets, baskets.codes, people, ranks, self.length, width, keys, children, none, out)
        return one_each(out)

    @cached_property
    def _tree(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The prefixes as a tree: the keys of `find_prefixes` and the node behind each."""
        ranks = {item: rank for rank, item in enumerate(self.order)}
        nodes: dict[tuple[int, ...], int] = {(): 0}
        children: dict[int, int] = {}
        for number, prefix in enumerate(self.of):
            for path in accumulate(((item,) for item in prefix), initial=()):
                if path and path not in nodes:
                    nodes[path] = len(nodes)
                if path:
                    last = len(path) == self.length
                    children[nodes[path[:-1]] * len(self.order) + ranks[path[-1]]] = number if last else nodes[path]
        keys = sorted(children)
        return np.array(keys, np.int64), np.array([children[key] for key in keys], np.int64)


@dataclass(frozen=True)
class CellOfBlock(DeviceQuestion):
    """Ask which of these items a person holds, all at once: one of the cells that all sets of them make.

    The item at place i of the list adds 2^i to the number of the cell.
    """

    ask: ClassVar[str] = "cells"
    single: ClassVar[bool] = True
    of: tuple[int, ...]

    def __post_init__(self) -> None:
        if not 1 <= len(set(self.of)) == len(self.of) <= MOST_CELLS:
            raise MisuseError(f"Cells are made of 1 to {MOST_CELLS} different items.")

    @property
    def values(self) -> int:
        """One value a set of the items."""
        return 1 << len(self.of)

    def form(self) -> dict[str, Any]:
        """Return the question as it travels."""
        return {"ask": self.ask, "of": list(self.of)}

    def answers(self, baskets: Baskets, people: PersonNumbers) -> HeldValues:
        """Return the cell of each person."""
        bits = np.zeros(max(baskets.items, max(self.of) + 1), np.int64)
        bits[list(self.of)] = 1 << np.arange(len(self.of))
        out = np.empty(len(people), np.int64)
        sum_rows(baskets.offsets, baskets.codes, people, bits, out)
        return one_each(out)


def check_bins(bins: tuple[int, ...]) -> None:
    """Refuse bins that a count has no place in, or only one."""
    if len(bins) < 2 or bins[0] != 0 or any(one >= other for one, other in pairwise(bins)):
        raise MisuseError("The bins of a count begin at 0 and ascend, and there are two or more.")


def one_each(values: NDArray[Any]) -> HeldValues:
    """Return one value per person as rows."""
    return np.arange(len(values) + 1, dtype=np.int64), values.astype(np.int32)
