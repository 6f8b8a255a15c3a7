"""A preview of the data before payment, for the curator alone.

A list of items that occur in no basket, or two swapped columns, would spend a budget on noise. So the holder of
the data may see the number of people and items, the listed items that occur, and the expected error of counts. **None
of this is private.** It is shown on the curator's terminal alone: it enters no file, log, result or ledger. `release`
itself never decides by it: users may ask questions through a program.
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
from ._keywords import Keywords, ReleaseOptions, build_question, with_keywords
from ._question import Question
from ._resolving import build_cases, read_data
from ._run import carry_out

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from ..baskets import AnyBaskets, Baskets, Item

_TRIAL_RUNS = 3  # with noise that is discarded; more: a steadier forecast, and a longer wait at the terminal


@dataclass(frozen=True, kw_only=True)
class Preview:
    """The result of :func:`discreet.preview`. **Not private**: for the curator's eyes.

    Parameters
    ----------
    people, items
        The number of people in the data, and of the different items that they hold.
    listed_items, matched_items
        The number of items on the public list, and of the listed items in the data; None without a list.
    hint
        The likely flaw of a list without any item in the data; "" otherwise.
    expected_patterns, margin
        The expected number of patterns, and the median margin of their counts, in people: from trial runs with noise
        that was discarded. The margin is None without counts.
    shares
        The name of each step with its share of the budget.
    segments, outside
        The number of releases, one per segment; and of people outside all segments.
    """

    people: int
    items: int
    listed_items: int | None
    matched_items: int | None
    hint: str
    expected_patterns: int
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
        """The preview in sentences."""
        basket_text = "" if self.baskets is None else f", {number_of(self.baskets, 'basket')}"
        people_text = number_of(self.people, "person", "people")
        lines = [f"Read {people_text}{basket_text} and {number_of(self.items, 'item')}."]
        if self.listed_items is not None:
            lines.append(
                f"Of {number_of(self.listed_items, 'item')} on the list, {self.matched_items:,} "
                f"occur{'s' * (self.matched_items == 1)}."
            )
        if self.outside:
            lines.append(f"{self.outside:,} of them are in none of the segments that are listed, and are left out.")
        if self.hint:
            lines.append(self.hint)
        patterns = f"about {number_of(self.expected_patterns, 'pattern')}"
        if self.margin is None:
            lines.append(f"Expect {patterns}, without counts.")
        elif self.expected_patterns:
            lines.append(
                f"Expect {patterns}, with counts off by ± {self.margin:,} {self._unit} or less for half of them."
            )
        else:
            lines.append(f"Expect no pattern at all: too few {self._unit} hold anything.")
        return lines

    @property
    def _unit(self) -> str:
        return "people" if self.baskets is None else "baskets"

    def __str__(self) -> str:
        head = f"{self.mechanism} would spend {Budget(epsilon=self.epsilon, delta=self.delta)}:"
        width = max(len(step) for step, _ in self.shares)
        table = [f"  {step:<{width}}  {float(share):>6.1%}" for step, share in self.shares]
        segments = [f"{self.segments:,} segments, for the price of one."] if self.segments > 1 else []
        return "\n".join([*self.lines, "", head, *table, *segments, "Nothing was spent. For your eyes: not private."])

    __repr__ = __str__


_NO_LISTED_ITEM = "Nobody holds any item on the list: a release would spend the budget on noise."
_NO_LISTED_SEGMENT = "Nobody is in any segment on the list: a release would spend the budget on noise."


@with_keywords(Question, ReleaseOptions)
def preview(
    baskets: Baskets | Any,
    itemsets: Any = None,
    question: Question | None = None,
    *,
    by: str | Sequence[Item] | NDArray[Any] | None = None,
    segments: Iterable[Item] | Literal["public"] | None = None,
    **options: Unpack[ReleaseOptions],
) -> Preview:
    """Preview the data of a release, before paying for it.

    Privacy: **none**. The result depends on the exact data: it is for the curator's eyes, and must not be
    shown, logged or published elsewhere. Nothing is spent, and no ledger is read.

    Parameters
    ----------
    baskets, question, by, segments
        As for :func:`discreet.release`, or for :func:`discreet.release_by`; `ledger`, `who`, `same_data` and `progress`
        are for the release itself, and make no difference here.
    itemsets
        As for :func:`discreet.count`, to preview a count.
    FIELDS

    Examples
    --------
    >>> import discreet
    >>> baskets = [{"tea", "milk"}] * 600 + [{"bread"}] * 300
    >>> look = discreet.preview(baskets, top=3, epsilon=1, items=["BREAD", "MILK", "TEA"])
    >>> (look.people, look.listed_items, look.matched_items)
    (900, 3, 0)
    >>> print(look.hint[-60:])
    The case of letters differs: without that, some would match.
    """
    keywords = Keywords.parse(options)
    values = keywords.question | ({"by": by} if isinstance(by, str) else {})
    values |= {name: value for name, value in (("itemsets", itemsets), ("segments", segments)) if value is not None}
    question = build_question(question, values)
    data = read_data(baskets, by=question.by, **keywords.reading_options)
    return preview_cases(data, build_cases(question, data, segment_of=None if isinstance(by, str) else by))


def preview_cases(data: AnyBaskets, cases: Mapping[Item, Case]) -> Preview:
    """Return the preview of the cases of one question, by segment."""
    # The largest segment stands for all: the forecast is one text, and segments have a release each.
    case = max(cases.values(), key=lambda segment_case: len(segment_case.baskets))  # more people: more patterns
    # A new seed each time: a fixed seed would show one draw of noise as if it were typical.
    trials = [carry_out(case, SimulationSource(randbits(64))).patterns for _ in range(_TRIAL_RUNS)]
    # A count that noise cut to 0 has a short interval that hides the margin, so the widest of the trials is shown.
    margins = [median(widths) for trial in trials if (widths := list(filter(isfinite, margins_of(trial))))]
    # Only a list of the user can fail to meet the data.
    has_list = case.item_source == "listed"
    listed_counts = sum(segment_case.baskets.item_counts for segment_case in cases.values())
    return Preview(
        people=data.people,
        items=int(np.count_nonzero(data.item_counts)),
        listed_items=len(case.baskets.vocabulary) if has_list else None,
        matched_items=int(np.count_nonzero(listed_counts)) if has_list else None,
        hint=_build_hint(data, case, find_list_flaw(data, cases)),
        expected_patterns=len(trials[0]),
        margin=ceil(max(margins, default=0)) if case.question.counts else None,
        shares=tuple(case.steps()),
        mechanism=case.mechanism.name,
        epsilon=case.budget.epsilon,
        delta=case.budget.delta,
        segments=len(cases),
        outside=data.people - sum(segment_case.baskets.people for segment_case in cases.values()),
        baskets=len(data) if data.has_receipts else None,
    )


def find_list_flaw(data: AnyBaskets, cases: Mapping[Item, Case]) -> str:
    """Return the message that a list of segments or items has nothing in common with the data; "" if it has."""
    case = next(iter(cases.values()))
    if not len(data):
        return ""
    if not any(len(segment_case.baskets) for segment_case in cases.values()):
        return _NO_LISTED_SEGMENT
    has_listed_item = any(segment_case.baskets.item_counts.any() for segment_case in cases.values())
    return "" if has_listed_item or case.item_source != "listed" else _NO_LISTED_ITEM


def _build_hint(data: AnyBaskets, case: Case, flaw: str) -> str:
    """Return the message about a list with its likely cause; "" for a list without a flaw."""
    if flaw == _NO_LISTED_SEGMENT:
        return f"{flaw} Are they written as in the data?"
    return f"{flaw} {_guess_cause(data, case)}" if flaw else ""


def _guess_cause(data: AnyBaskets, case: Case) -> str:
    """Return the likely reason why no item of the list occurs: the first way in which labels would match."""
    # As texts, as a list of numbers is often read as text.
    listed_labels = {str(label) for label in case.baskets.vocabulary.labels.to_pylist()}
    data_labels = {str(label) for label in data.vocabulary.labels.to_pylist()}
    # In this order, as labels that match unchanged also match without spaces or case.
    if listed_labels & data_labels:
        return "Those in the segments on the list hold none of it."
    if {label.strip() for label in listed_labels} & {label.strip() for label in data_labels}:
        return "There are spaces around names: without them, some would match."
    if {label.casefold() for label in listed_labels} & {label.casefold() for label in data_labels}:
        return "The case of letters differs: without that, some would match."
    if data_labels & {part.strip() for label in listed_labels for mark in ",;\t|" for part in label.split(mark)}:
        return "Its lines have several columns: give a list with one item per line."
    return "Is it the list of these data, and were the columns of person and item not taken for one another?"
