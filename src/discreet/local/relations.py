"""Questions about relations: ordered pairs of items that a person holds, given, in time, or together.

A device that has events or relations makes its pairs of them before it is asked anything; `together` pairs follow from
the basket alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..baskets.core import Baskets, starts
from ..errors import MisuseError
from ..kernels.relating import pairs_after, pairs_given, pairs_together, project
from .oracles.mean import SPAN
from .questions import Held, People, Question, one_each

How: TypeAlias = Literal["given", "after", "together"]
Pair: TypeAlias = tuple[int, int]


def checked_how(how: Any, baskets: Baskets) -> How:
    """Return what makes a pair, if the data have it."""
    if how not in ("given", "after", "together"):
        raise MisuseError(f"A relation is 'given', 'after' or 'together'; {how!r} was given.")
    if how == "given" and baskets.pairs is None:
        raise MisuseError("These data have no pairs: read them with two columns of items, or use 'together'.")
    if how == "after" and baskets.sequences is None:
        raise MisuseError("These data have no order: read them with a column of times, or use 'together'.")
    return how  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Items:
    """The items whose relations are asked about, by rank, and what makes a pair of them."""

    order: tuple[int, ...]
    how: How

    def __post_init__(self) -> None:
        if len(self.order) < 2 or len(set(self.order)) < len(self.order):
            raise MisuseError("Relations are between two items or more, all different.")

    def ranks(self, baskets: Baskets) -> NDArray[np.int64]:
        """Return the rank of each item, or -1."""
        ranks = np.full(max(baskets.items, max(self.order) + 1), -1, np.int64)
        ranks[list(self.order)] = np.arange(len(self.order))
        return ranks

    def pairs(self, baskets: Baskets, people: People) -> Held:
        """Return the pairs that each of these people holds, as codes rank * width + rank, ascending."""
        ranks, width = self.ranks(baskets), len(self.order)
        sizes, nothing = np.zeros(len(people), np.int64), np.empty(0, np.int32)
        offsets = starts(sizes)
        for _ in range(2):  # first how many, then which
            held = np.empty(offsets[-1], np.int32) if offsets[-1] else nothing
            if self.how == "given" and baskets.pairs is not None:
                given = baskets.pairs
                pairs_given(given.offsets, given.first, given.second, people, ranks, width, offsets, held, sizes)
            elif self.how == "after" and baskets.sequences is not None:
                events = baskets.sequences
                pairs_after(events.offsets, events.codes, people, ranks, width, offsets, held, sizes)
            else:
                pairs_together(baskets.offsets, baskets.codes, people, ranks, width, offsets, held, sizes)
            offsets = starts(sizes)
        return offsets, held

    @property
    def form(self) -> str:
        """Where a device takes its pairs from: its basket, or those it has made."""
        return "together" if self.how == "together" else "own"


@dataclass(frozen=True)
class Relations:
    """Ordered pairs of items, one by one."""

    items: Items
    of: tuple[Pair, ...]

    def __post_init__(self) -> None:
        known = set(self.items.order)
        for pair in self.of:
            if len(pair) != 2 or pair[0] == pair[1] or not known.issuperset(pair):
                raise MisuseError(f"A relation is a pair of two different items that are asked about; {pair} is not.")
        if not self.of or len(set(self.of)) < len(self.of):
            raise MisuseError("The relations of a question are different from each other, and there is one.")

    def __len__(self) -> int:
        return len(self.of)

    def answers(self, baskets: Baskets, people: People) -> Held:
        """Return which of the relations each person holds."""
        offsets, codes = self.items.pairs(baskets, people)
        width = len(self.items.order)
        rank = {item: place for place, item in enumerate(self.items.order)}
        places = np.full(width * width, -1, np.int32)
        places[[rank[one] * width + rank[other] for one, other in self.of]] = np.arange(len(self.of))
        found = places[codes]
        kept = np.concatenate(([0], np.cumsum(found >= 0)))[offsets]
        found = found[found >= 0]
        rows = np.repeat(np.arange(len(people)), np.diff(kept))
        return kept.astype(np.int64), found[np.lexsort((found, rows))]


@dataclass(frozen=True)
class WhichRelations(Question):
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
        return {"ask": self.ask, "of": [list(pair) for pair in self.of.of], "pairs": self.of.items.form}

    def answers(self, baskets: Baskets, people: People) -> Held:
        """Return the relations held."""
        return self.of.answers(baskets, people)


@dataclass(frozen=True)
class HowManyRelations(Question):
    """Ask how many of these relations a person holds, in bins as `HowMany` has them."""

    ask: ClassVar[str] = "how-many"
    single: ClassVar[bool] = True
    of: Relations
    bins: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.bins) < 2 or self.bins[0] != 0 or any(one >= other for one, other in pairwise(self.bins)):
            raise MisuseError("The bins of a count begin at 0 and ascend, and there are two or more.")

    @property
    def values(self) -> int:
        """One value a bin."""
        return len(self.bins)

    def form(self) -> dict[str, Any]:
        """Return the question as it travels."""
        of = [list(pair) for pair in self.of.of]
        return {"ask": self.ask, "of": of, "pairs": self.of.items.form, "bins": list(self.bins)}

    def answers(self, baskets: Baskets, people: People) -> Held:
        """Return the bin of each count."""
        counts = np.diff(self.of.answers(baskets, people)[0])
        return one_each(np.searchsorted(np.array(self.bins), counts, side="right") - 1)


@dataclass(frozen=True)
class Projection(Question):
    """Ask for one number: the sum of left[a] * right[b] over the pairs (a, b) a person holds, and over a = b the items.

    The number is brought from the public range `low` to `high` onto the grid of a mean oracle, and clipped there (D5).
    """

    ask: ClassVar[str] = "projection"
    single: ClassVar[bool] = True
    items: Items
    left: tuple[int, ...]
    right: tuple[int, ...]
    low: int
    high: int
    span: int = SPAN

    def __post_init__(self) -> None:
        if not len(self.left) == len(self.right) == len(self.items.order) or self.low > self.high:
            raise MisuseError("A projection has one weight an item on both sides, and a range that is not upside down.")

    @property
    def values(self) -> int:
        """One number."""
        return 1

    def form(self) -> dict[str, Any]:
        """Return the question as it travels."""
        return {
            "ask": self.ask,
            "of": list(self.items.order),
            "pairs": self.items.form,
            "left": list(self.left),
            "right": list(self.right),
            "low": self.low,
            "high": self.high,
        }

    def answers(self, baskets: Baskets, people: People) -> Held:
        """Return the number of each person on the grid."""
        offsets, held = self.items.pairs(baskets, people)
        totals = np.empty(len(people), np.int64)
        left, right = np.array(self.left, np.int64), np.array(self.right, np.int64)
        ranks, width = self.items.ranks(baskets), len(self.items.order)
        project(baskets.offsets, baskets.codes, people, ranks, width, offsets, held, left, right, totals)
        return one_each(on_grid(totals, self.low, self.high, self.span))


def on_grid(totals: NDArray[np.int64], low: int, high: int, span: int) -> NDArray[np.int64]:
    """Return numbers from `low` to `high` as whole numbers from -span to span; 0 where there is one."""
    if low == high:
        return np.zeros(len(totals), np.int64)
    width = high - low
    return (4 * span * (np.clip(totals, low, high) - low) + width) // (2 * width) - span
