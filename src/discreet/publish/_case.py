"""A question over one data set: the input of the door, from which the `Problem` of a mechanism is built."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import Any, Literal, TypeAlias

import numpy as np

from ..baskets import AnyBaskets, Codes, Lineage, build_position_table, recode_lineage
from ..checks import MAX_LENGTH
from ..curator import Mechanism, Problem, settings_of
from ..exact import lengths_for
from ..privacy import Meter
from ..results import Itemsets
from ._door import CheckedQuestion, Steps
from ._question import Question
from ._result import Release

# The steps before the mechanism, and their shares of the budget. Chosen, not derived: a larger share sharpens the step
# and leaves less to the mechanism. The number of people scales every support, but as one large count it needs little.
BASKETS_STEP, BASKETS_SHARE = "counting how many baskets people have", Fraction(1, 25)
PEOPLE_SHARE = Fraction(1, 50)  # the name of its step has the unit: `Case.count_step`
REQUIRED_STEP, REQUIRED_SHARE = "counting the items every pattern has", Fraction(1, 20)
ITEMS_STEP, ITEMS_SHARE = "finding the items", Fraction(1, 5)
# The sensitivity of the item selection: more of a basket's items reach the step, with noise in proportion.
MAX_SELECTION_ITEMS = 10
# Stands for the private number of items in plans and checks, which are public: large, so that no limit is passed late.
ASSUMED_ITEM_COUNT = 10**6


# The origin of the item list: a list of the user, the data by public declaration, or a noisy selection by a step before
# the mechanism or by the mechanism itself.
ItemSource: TypeAlias = Literal["listed", "data", "finding step", "mechanism"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Case(CheckedQuestion[Release]):
    """A question resolved against one data set, ready to run: every check has passed.

    Parameters
    ----------
    question
        The question of the user.
    mechanism
        The mechanism that answers it.
    baskets
        The data, recoded to the items that patterns are made of.
    required_items, extra_items
        The codes of the items that every pattern has, and of the items that may be added to them.
    itemsets
        The itemsets to count; None where patterns are selected.
    people
        The number of people, if it is public.
    item_source
        The origin of the item list.
    public
        The facts that the guarantee states as public, in words.
    max_baskets
        The largest number of baskets of one person that take part; None to select it with noise, or where a person has
        one basket.
    record
        The question in the form that a result and a ledger store.
    """

    question: Question
    mechanism: Mechanism
    baskets: AnyBaskets
    required_items: Codes
    extra_items: Codes
    itemsets: Itemsets | None
    people: int | None
    item_source: ItemSource
    public: tuple[str, ...]
    max_baskets: int | None
    record: Mapping[str, Any]

    @property
    def has_public_items(self) -> bool:
        """Whether the item list is public, so that no item has to be selected."""
        return self.item_source in ("listed", "data")

    @property
    def selects_items(self) -> bool:
        """Whether a step before the mechanism selects the items with noise."""
        return self.item_source == "finding step"

    @property
    def discovery_delta(self) -> Fraction:
        """The part of delta that is reserved to select unlisted items or patterns; the remainder converts zCDP."""
        # The mechanism selects patterns by itself with the whole delta.
        if self.mechanism.finds:
            return self.budget.delta
        return self.budget.delta / 2 if self.selects_items else Fraction(0)

    @property
    def required_count(self) -> int:
        """The number of items that every pattern has."""
        return len(self.required_items)

    @property
    def required_is_pattern(self) -> bool:
        """Whether the required items are a pattern by themselves."""
        return bool(self.required_count) and self.question.min_length <= self.required_count

    @property
    def counts_required(self) -> bool:
        """Whether the holders of the required items are counted.

        Their count against a threshold has to be paid for, even where the count is not shown.
        """
        return self.required_is_pattern and (self.question.counts or self.question.top is None)

    @property
    def selects_cap(self) -> bool:
        """Whether the largest number of baskets of one person is selected with noise."""
        return self.baskets.has_receipts and self.max_baskets is None

    @property
    def count_step(self) -> str:
        """The name of the step that counts all people, or all baskets: the unit of the patterns."""
        return f"counting the {self.baskets.unit}"

    @property
    def ledger_entry(self) -> tuple[str, Mapping[str, Any]]:
        """The name and the parameters, all public, under which a ledger records the spend."""
        return self.mechanism.name, {"asked": self.record, "settings": settings_of(self.mechanism)}

    def steps(self) -> Steps:
        """Return the name of each step with its share of the budget, in order."""
        steps = [
            (name, share)
            for is_taken, name, share in (
                (self.selects_cap, BASKETS_STEP, BASKETS_SHARE),
                (self.people is None, self.count_step, PEOPLE_SHARE),
                (self.counts_required, REQUIRED_STEP, REQUIRED_SHARE),
                (self.selects_items, ITEMS_STEP, ITEMS_SHARE),
            )
            if is_taken
        ]
        # The shares are exact fractions and add up to 1, so that no part of the budget is lost to rounding.
        remaining_share = 1 - sum((share for _, share in steps), Fraction(0))
        # The number of items in the data is private, and the number selected is not known yet.
        item_count = ASSUMED_ITEM_COUNT if self.selects_items else max(len(self.extra_items), 1)
        # The plan is asked with public numbers alone, as it is shown before payment.
        mechanism_steps = self.mechanism.plan(self.problem(item_count, self.people or 1))
        return [*steps, *((name, remaining_share * share) for name, share in mechanism_steps)]

    def run(self, meter: Meter) -> Release:
        """Return the release from the values that a meter releases."""
        from ._run import run_case  # which imports this module

        return run_case(self, meter)

    def problem(self, item_count: int, people: int) -> Problem:
        """Return the problem of the mechanism: patterns of the items that may be added to the required items."""
        question, required_count = self.question, self.required_count
        if self.item_source == "mechanism":
            item_count = MAX_LENGTH  # the mechanism selects items; the number in the data must not show in the problem
        # The mechanism adds items to the required ones, so its lengths are lengths of the added part.
        min_length = max(1, question.min_length - required_count)
        top = None if question.top is None else question.top - self.required_is_pattern
        max_length = MAX_LENGTH if question.max_length is None else question.max_length - required_count
        if question.max_length is None and top is not None:
            # Without a stated length, a top needs no longer patterns than its number can fill.
            max_length = lengths_for(max(top, 1), min_length)
        threshold = question.min_count
        if question.min_support is not None:
            # Rounded up: a pattern below the stated support must not pass.
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
            people_known_to_engine=self.counts_required or not required_count,
            with_counts=question.counts,
            itemsets=self.itemsets,
            epsilon=self.budget.epsilon,
            scope=self._scope,
            unit=self.baskets.unit,
            lineage=self.lineage,
        )

    @cached_property
    def lineage(self) -> Lineage | None:
        """The hierarchy over the codes of the problem; None without a hierarchy."""
        lineage, item_count = self.baskets.lineage, self.baskets.items
        codes = self.extra_items if self.itemsets is None else np.arange(item_count, dtype=np.int32)
        # The lineage of the whole list fits; computing it again takes time on large hierarchies.
        if lineage is None or len(codes) == item_count:
            return lineage
        return recode_lineage(lineage, build_position_table(codes, item_count), len(codes))

    @property
    def _scope(self) -> str:
        if self.required_count:
            return f"patterns that contain the given items and others{' that were found' if self.selects_items else ''}"
        return "patterns of the items that were found" if self.selects_items else ""
