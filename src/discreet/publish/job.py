"""A checked question, ready to be carried out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np

from ..baskets.core import AnyBaskets, Codes
from ..baskets.lineage import Lineage, recoded
from ..baskets.recoding import numbering
from ..checks import UNBOUNDED
from ..curator.mechanism import Mechanism, Task
from ..exact.bounds import lengths_for
from ..privacy.budget import Budget, Neighbours
from ..results.itemsets import Itemsets

# Shares of the budget that the door itself spends.
HOW_MANY_EACH = "counting how many baskets people have"
PEOPLE = Fraction(1, 50)
PREFIX = Fraction(1, 20)
FINDING = Fraction(1, 5)
# Of the budget where people have several baskets: how many they have is looked at with so much.
BASKETS = Fraction(1, 25)
# How many items of a basket may take part in finding the items.
FINDABLE = 10
# How many items there may be, for checks before they are found.
MANY_ITEMS = 10**6


@dataclass(frozen=True, kw_only=True, eq=False)
class Job:
    """A checked question, ready to be carried out: what is asked, of which engine, at what price.

    Which items there are is public where they are `listed`: by a list, or `read` from the data and declared so; or the
    items are found with noise, by a step before the mechanism (`finding`) or by the mechanism itself.

    Where people have several baskets, `max_baskets` says how many of each take part; None has it chosen with noise.
    """

    baskets: AnyBaskets
    mechanism: Mechanism
    budget: Budget
    neighbours: Neighbours
    top: int | None
    min_count: int | None
    min_support: Fraction | None
    least: int
    longest: int | None
    prefix: Codes
    allowed: Codes
    people: int | None
    counts: bool
    itemsets: Itemsets | None
    listed: bool
    read: bool
    finding: bool
    public: tuple[str, ...]
    recorded_question: Mapping[str, Any]
    settings: Mapping[str, Any]
    max_baskets: int | None = None

    @property
    def discovery_delta(self) -> Fraction:
        """The part of delta kept for finding items or patterns nobody listed; the rest turns zCDP into epsilon."""
        if self.mechanism.finds:
            return self.budget.delta
        return self.budget.delta / 2 if self.finding else Fraction(0)

    @property
    def fixed(self) -> int:
        """How many items every pattern has."""
        return len(self.prefix)

    @property
    def alone(self) -> bool:
        """Whether the items every pattern has are a pattern by themselves."""
        return bool(self.fixed) and self.least <= self.fixed

    @property
    def counted(self) -> bool:
        """Whether those who hold the items every pattern has are counted.

        Whether these are over a threshold has to be paid for, also where the count is not shown.
        """
        return self.alone and (self.counts or self.top is None)

    @property
    def choosing_cap(self) -> bool:
        """Whether it is chosen with noise how many baskets of each person take part."""
        return self.baskets.several and self.max_baskets is None

    @property
    def counting(self) -> str:
        """What counting everything there is is called: patterns are counted in the same unit."""
        return f"counting the {self.baskets.unit}"

    def plan(self) -> list[tuple[str, Fraction]]:
        """Return what the door spends before the mechanism does, by name."""
        steps = []
        if self.choosing_cap:
            steps.append((HOW_MANY_EACH, BASKETS))
        if self.people is None:
            steps.append((self.counting, PEOPLE))
        if self.counted:
            steps.append(("counting the items every pattern has", PREFIX))
        if self.finding:
            steps.append(("finding the items", FINDING))
        return steps

    def asked(self, items: int, people: int) -> Task:
        """Return the question to the mechanism: over the items that may be added to those every pattern has."""
        if not self.listed and not self.finding:
            items = UNBOUNDED  # the mechanism finds them; how many the data have must not show in the question
        least = max(1, self.least - self.fixed)
        top = None if self.top is None else self.top - self.alone
        longest = UNBOUNDED if self.longest is None else self.longest - self.fixed
        if self.longest is None and top is not None:
            longest = lengths_for(max(top, 1), least)
        longest = min(longest, max(items, 1))
        count = self.min_count
        if self.min_support is not None:
            count = max(1, ceil(self.min_support * people))
        return Task(
            top=top,
            count=count,
            least=least,
            longest=max(longest, least),
            bounded=self.longest is not None,
            items=items,
            fixed=self.fixed,
            alone=self.alone,
            people=people,
            counted=self.counted or not self.fixed,
            counts=self.counts,
            itemsets=self.itemsets,
            epsilon=self.budget.epsilon,
            among=self._among,
            unit=self.baskets.unit,
            lineage=self.lineage,
        )

    @cached_property
    def lineage(self) -> Lineage | None:
        """Which of the items that patterns are looked for among stand above which."""
        held = self.baskets
        codes = self.allowed if self.itemsets is None else np.arange(held.items, dtype=np.int32)
        if held.lineage is None or len(codes) == held.items:
            return held.lineage
        return recoded(held.lineage, numbering(codes, held.items), len(codes))

    @property
    def _among(self) -> str:
        if self.fixed:
            return f"patterns that contain the given items and others{' that were found' if self.finding else ''}"
        return "patterns of the items that were found" if self.finding else ""
