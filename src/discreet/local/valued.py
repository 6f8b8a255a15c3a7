"""Questions about keys with values: relations, each with plus or minus one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..baskets.core import Baskets, starts
from ..errors import MisuseError
from .questions import Candidates, Held, People, Question
from .relations import Relations


@dataclass(frozen=True)
class Valued(Question):
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
        return {"ask": self.ask, "of": of, "pairs": self.of.items.own, "absent": self.absent}

    def answers(self, baskets: Baskets, people: People) -> Held:
        """Return keys with values, row by row."""
        offsets, found = self.of.answers(baskets, people)
        if not self.absent:
            return offsets, 2 * found + 1
        many = len(self.of)
        present = np.repeat(np.arange(len(people)), np.diff(offsets)) * many + found
        items = Candidates(itemsets=tuple((item,) for item in self.of.items.order))
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
