"""A look at the data before anything is paid for, for the curator alone.

A list of items that nobody's basket meets, or columns taken for one another, would spend a budget on noise. So the
curator, who holds the data, may look: how many people and items were read, how many items of the list occur, and how
far off counts would be. **None of this is private.** It is shown on the curator's terminal and nowhere else: it enters
no file, no log, no result and no ledger, and `release` itself never decides by it, since whoever may put questions
through a program of yours would learn from a refusal whether anybody holds what they named.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, isfinite
from secrets import randbits
from statistics import median
from typing import TYPE_CHECKING, Any, Literal, Unpack

import numpy as np

from ..privacy import Budget
from ..privacy.sampling import SimulationSource
from ..results import margins_of
from ..wording import number_of
from ._case import Case
from ._keywords import Keywords, ReleaseOptions, asks, question_of
from ._question import Question
from ._resolving import cases_of, everyone
from ._run import carry_out

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from ..baskets import AnyBaskets, Baskets, Item

_TRIED = 3  # runs with noise that is thrown away


@dataclass(frozen=True, kw_only=True)
class Preview:
    """What :func:`discreet.preview` returns. **Not private**: for the eyes of whoever holds the data.

    Parameters
    ----------
    people, items
        How many people, and how many different items they hold, as they were read.
    listed, met
        How many items the public list has, and how many of these anybody holds; None where there is no list.
    hint
        What may be wrong with a list that nobody's basket meets.
    found, margin
        How many patterns a release would have, and by how many people half of its counts may be off or more. Both were
        tried out with noise that was thrown away. None where there are no counts.
    shares
        What the budget would be spent on.
    segments, outside
        How many releases there would be, one per segment; and how many people are in none of the segments.
    """

    people: int
    items: int
    listed: int | None
    met: int | None
    hint: str
    found: int
    margin: int | None
    shares: tuple[tuple[str, Fraction], ...]
    mechanism: str
    epsilon: Fraction
    delta: Fraction
    segments: int = 1
    outside: int = 0
    baskets: int | None = None

    @property
    def lines(self) -> list[str]:
        """What was seen, in sentences."""
        several = "" if self.baskets is None else f", {number_of(self.baskets, 'basket')}"
        told = [f"Read {number_of(self.people, 'person', 'people')}{several} and {number_of(self.items, 'item')}."]
        if self.listed is not None:
            told.append(f"Of {number_of(self.listed, 'item')} on the list, {self.met:,} occur{'s' * (self.met == 1)}.")
        if self.outside:
            told.append(f"{self.outside:,} of them are in none of the segments that are listed, and are left out.")
        if self.hint:
            told.append(self.hint)
        many = f"about {number_of(self.found, 'pattern')}"
        if self.margin is None:
            told.append(f"Expect {many}, without counts.")
        elif self.found:
            told.append(f"Expect {many}, with counts off by ± {self.margin:,} {self._unit} or less for half of them.")
        else:
            told.append(f"Expect no pattern at all: too few {self._unit} hold anything.")
        return told

    @property
    def _unit(self) -> str:
        return "people" if self.baskets is None else "baskets"

    def __str__(self) -> str:
        head = f"{self.mechanism} would spend {Budget(epsilon=self.epsilon, delta=self.delta)}:"
        width = max(len(what) for what, _ in self.shares)
        table = [f"  {what:<{width}}  {float(share):>6.1%}" for what, share in self.shares]
        segments = [f"{self.segments:,} segments, for the price of one."] if self.segments > 1 else []
        return "\n".join([*self.lines, "", head, *table, *segments, "Nothing was spent. For your eyes: not private."])

    __repr__ = __str__


ITEMS = "Nobody holds any item on the list: a release would spend the budget on noise."
SEGMENTS = "Nobody is in any segment on the list: a release would spend the budget on noise."


@asks(Question, ReleaseOptions)
def preview(
    baskets: Baskets | Any,
    itemsets: Any = None,
    question: Question | None = None,
    *,
    by: str | Sequence[Item] | NDArray[Any] | None = None,
    segments: Iterable[Item] | Literal["public"] | None = None,
    **options: Unpack[ReleaseOptions],
) -> Preview:
    """Look at what a release would be about, before paying for it.

    Privacy: **none**. What it returns depends on the data as they are: it is for whoever holds them, and must not be
    shown, logged or handed on. Nothing is spent, and no ledger is asked.

    Parameters
    ----------
    baskets, question, by, segments
        As for :func:`discreet.release`, or for :func:`discreet.release_by`; `ledger`, `who`, `same_data` and `progress`
        are for the release itself, and make no difference here.
    itemsets
        As for :func:`discreet.count`, where that is what you are going to ask.
    FIELDS

    Examples
    --------
    >>> import discreet
    >>> baskets = [{"tea", "milk"}] * 600 + [{"bread"}] * 300
    >>> look = discreet.preview(baskets, top=3, epsilon=1, items=["BREAD", "MILK", "TEA"])
    >>> (look.people, look.listed, look.met)
    (900, 3, 0)
    >>> print(look.hint[-60:])
    The case of letters differs: without that, some would match.
    """
    keywords = Keywords.of(options)
    values = keywords.question | {
        name: one for name, one in (("itemsets", itemsets), ("segments", segments)) if one is not None
    }
    asked = question_of(question, values | ({"by": by} if isinstance(by, str) else {}))
    held = everyone(baskets, by=asked.by, **keywords.reading)
    return look(held, cases_of(asked, held, segment_of=None if isinstance(by, str) else by))


def look(held: AnyBaskets, cases: Mapping[Item, Case]) -> Preview:
    """Return what a curator may want to see of cases that are ready to be paid for."""
    case = max(cases.values(), key=lambda one: len(one.baskets))  # where there are most people, the most is found
    tried = [carry_out(case, SimulationSource(randbits(64))).patterns for _ in range(_TRIED)]
    # A count that is cut at 0 hides how far it may be off, so the widest of a few runs is told.
    margins = [median(reach) for one in tried if (reach := list(filter(isfinite, margins_of(one))))]
    named = case.item_source == "listed"
    return Preview(
        people=held.people,
        items=int(np.count_nonzero(held.item_counts)),
        listed=len(case.baskets.vocabulary) if named else None,
        met=_occurring(cases) if named else None,
        hint=_hint(held, case, missed(held, cases)),
        found=len(tried[0]),
        margin=ceil(max(margins, default=0)) if case.question.counts else None,
        shares=tuple(case.steps()),
        mechanism=case.mechanism.name,
        epsilon=case.budget.epsilon,
        delta=case.budget.delta,
        segments=len(cases),
        outside=held.people - sum(one.baskets.people for one in cases.values()),
        baskets=len(held) if held.several else None,
    )


def missed(held: AnyBaskets, cases: Mapping[Item, Case]) -> str:
    """Say so where there are people, and a list of items or segments meets none of them; nothing otherwise."""
    case = next(iter(cases.values()))
    if not len(held):
        return ""
    if not any(len(one.baskets) for one in cases.values()):
        return SEGMENTS
    meets = case.item_source != "listed" or any(one.baskets.item_counts.any() for one in cases.values())
    return "" if meets else ITEMS


def _occurring(cases: Mapping[Item, Case]) -> int:
    """Return how many items of the list anybody holds."""
    return int(np.count_nonzero(sum(case.baskets.item_counts for case in cases.values())))


def _hint(held: AnyBaskets, case: Case, wrong: str) -> str:
    """Say what is likely to be wrong with a list that has nothing in common with the data, beside that it has not."""
    why = ""
    if wrong is SEGMENTS:
        why = " Are they written as in the data?"
    elif wrong:
        why = f" {_why(held, case)}"
    return wrong + why


def _why(held: AnyBaskets, case: Case) -> str:
    listed = {str(label) for label in case.baskets.vocabulary.labels.to_pylist()}
    there = {str(label) for label in held.vocabulary.labels.to_pylist()}
    if listed & there:
        return "Those in the segments on the list hold none of it."
    if {label.strip() for label in listed} & {label.strip() for label in there}:
        return "There are spaces around names: without them, some would match."
    if {label.casefold() for label in listed} & {label.casefold() for label in there}:
        return "The case of letters differs: without that, some would match."
    parts = {part.strip() for label in listed for mark in ",;\t|" if mark in label for part in label.split(mark)}
    if parts & there:
        return "Its lines have several columns: give a list with one item per line."
    return "Is it the list of these data, and were the columns of person and item not taken for one another?"
