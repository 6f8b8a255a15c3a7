"""A question over one data set: what the door is handed, and what a mechanism's `Problem` is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import Any, Literal, TypeAlias

import numpy as np

from ..baskets import AnyBaskets, Codes, Lineage, numbering, recoded
from ..checks import MAX_LENGTH
from ..curator import Mechanism, Problem, settings_of
from ..exact import lengths_for
from ..results import Itemsets
from ._door import Steps
from ._question import OfQuestion, Question

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


# Which items there are: on a list that was given, in the data and declared public, or still to be found with noise, by
# a step before the mechanism or by the mechanism itself.
ItemSource: TypeAlias = Literal["listed", "data", "finding step", "mechanism"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Case(OfQuestion):
    """A question resolved against one data set, ready to be carried out: every check has passed.

    Parameters
    ----------
    question
        The question as it was asked.
    mechanism
        The mechanism that answers it.
    baskets
        The data over the items that patterns are made of.
    required, allowed
        The codes of the items every pattern has, and of those that may be added to them.
    itemsets
        The itemsets to be counted, where these were given.
    people
        The number of people, where it is public.
    item_source
        How it comes that these items are known.
    public
        What the guarantee states as public, in words.
    max_baskets
        How many baskets of each person take part; None to have it chosen with noise, or where a person has one.
    record
        The question as a result and a ledger keep it.
    """

    question: Question
    mechanism: Mechanism
    baskets: AnyBaskets
    required: Codes
    allowed: Codes
    itemsets: Itemsets | None
    people: int | None
    item_source: ItemSource
    public: tuple[str, ...]
    max_baskets: int | None
    record: Mapping[str, Any]

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings of the mechanism, as plain values."""
        return settings_of(self.mechanism)

    @property
    def items_known(self) -> bool:
        """Whether the items are public, so that none have to be found."""
        return self.item_source in ("listed", "data")

    @property
    def finding_items(self) -> bool:
        """Whether a step before the mechanism finds the items with noise."""
        return self.item_source == "finding step"

    @property
    def discovery_delta(self) -> Fraction:
        """The part of delta kept for finding items or patterns nobody listed; the rest turns zCDP into epsilon."""
        if self.mechanism.finds:
            return self.budget.delta
        return self.budget.delta / 2 if self.finding_items else Fraction(0)

    @property
    def required_count(self) -> int:
        """How many items every pattern has."""
        return len(self.required)

    @property
    def required_is_pattern(self) -> bool:
        """Whether the items every pattern has are a pattern by themselves."""
        return bool(self.required_count) and self.question.min_length <= self.required_count

    @property
    def required_counted(self) -> bool:
        """Whether those who hold the items every pattern has are counted.

        Whether these are over a threshold has to be paid for, also where the count is not shown.
        """
        return self.required_is_pattern and (self.question.counts or self.question.top is None)

    @property
    def choosing_cap(self) -> bool:
        """Whether it is chosen with noise how many baskets of each person take part."""
        return self.baskets.several and self.max_baskets is None

    @property
    def counting(self) -> str:
        """What counting everything there is is called: patterns are counted in the same unit."""
        return f"counting the {self.baskets.unit}"

    @property
    def ledger_entry(self) -> tuple[str, Mapping[str, Any]]:
        """The name and the parameters under which a ledger records the spend."""
        return self.mechanism.name, {"asked": self.record, "settings": self.settings}

    def steps(self) -> Steps:
        """Return the shares of the budget by the name of the step that spends them."""
        before = self.steps_before_mechanism()
        rest = 1 - sum((share for _, share in before), Fraction(0))
        # The number of items to be found is not known before, and the number in the data must not show: suppose many.
        item_count = MANY_ITEMS if self.finding_items else max(len(self.allowed), 1)
        planned = self.mechanism.plan(self.problem(item_count, self.people or 1))
        return [*before, *((name, rest * share) for name, share in planned)]

    def steps_before_mechanism(self) -> Steps:
        """Return the shares of the budget that are spent before the mechanism runs, by the name of the step."""
        steps = []
        if self.choosing_cap:
            steps.append((HOW_MANY_EACH, BASKETS))
        if self.people is None:
            steps.append((self.counting, PEOPLE))
        if self.required_counted:
            steps.append(("counting the items every pattern has", PREFIX))
        if self.finding_items:
            steps.append(("finding the items", FINDING))
        return steps

    def problem(self, item_count: int, people: int) -> Problem:
        """Return the question to the mechanism: over the items that may be added to those every pattern has."""
        question, required_count = self.question, self.required_count
        if self.item_source == "mechanism":
            item_count = MAX_LENGTH  # the mechanism finds them; how many the data have must not show in the question
        min_length = max(1, question.min_length - required_count)
        top = None if question.top is None else question.top - self.required_is_pattern
        max_length = MAX_LENGTH if question.max_length is None else question.max_length - required_count
        if question.max_length is None and top is not None:
            max_length = lengths_for(max(top, 1), min_length)
        threshold = question.min_count
        if question.min_support is not None:
            threshold = max(1, ceil(question.min_support * people))
        return Problem(
            top=top,
            threshold=threshold,
            min_length=min_length,
            max_length=max(min(max_length, max(item_count, 1)), min_length),
            max_length_given=question.max_length is not None,
            item_count=item_count,
            required_count=required_count,
            required_is_pattern=self.required_is_pattern,
            people=people,
            people_known_to_engine=self.required_counted or not required_count,
            with_counts=question.counts,
            itemsets=self.itemsets,
            epsilon=self.budget.epsilon,
            scope=self._scope,
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
    def _scope(self) -> str:
        if self.required_count:
            return f"patterns that contain the given items and others{' that were found' if self.finding_items else ''}"
        return "patterns of the items that were found" if self.finding_items else ""
