"""From a question to cases: the question is fitted to a data set and checked, before anything is spent.

What may go wrong goes wrong here, on public values and on the data as their operator may look at them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..baskets import (
    CHOICES,
    AnyBaskets,
    Baskets,
    Codes,
    Hierarchy,
    Item,
    Vocabulary,
    check_apart,
    checked_cap,
    generalised,
    item_list,
    like,
    names,
    nearest_hint,
    nobody,
    onto,
    public_fact,
    public_items,
)
from ..checks import is_whole
from ..curator import Mechanism
from ..errors import Message, MisuseError, NobodyError, build_message
from ..privacy import Neighbours, serious
from ..registry import mechanism as mechanism_of
from ..results import Itemsets
from ..wording import number_of
from ._case import MANY_ITEMS, Case, ItemSource
from ._question import BasketQuestion, Question

# What to do where rows may repeat a person: Python can hand over what was read, a command line cannot.
WHOSE = Message(
    'Say who is who: person="customer", item="product", here or in discreet.read(…). Without person= '
    "every row is taken for the whole basket of one person; if that is so, hand over what discreet.read(…) returns.",
    "Say which column holds the person (--person) and which the item (--item); or say --one-row-a-person, if every row "
    "is one person's whole basket.",
)
_NAMED = build_message(
    "{by} has a name or a number for each person, such as 'north' or 3, and so has a list of segments."
)
_SEGMENTS = build_message(
    "Say which there are: list them, {several}, also those nobody is in; or declare with {segments='public'} that "
    "those found in the data are public knowledge.",
    several=Message("segments=['north', 'south']", "--segment north --segment south, or --segments FILE"),
)


def everyone(baskets: AnyBaskets | Any, *, by: Any = None, **reading: Any) -> AnyBaskets:
    """Read the data, and the column of segments if `by` names one; that there is nobody in them is no error."""
    from ..baskets import read_people

    if isinstance(by, str) and reading.get("person") is not None:
        reading["by"] = by
    try:
        return read_people(baskets, otherwise=WHOSE, **reading)
    except NobodyError:
        return nobody(**reading)


def cases_of(
    question: Question,
    held: AnyBaskets,
    *,
    segment_of: Sequence[Item] | NDArray[Any] | None = None,
    trying: bool = False,
) -> dict[Item, Case]:
    """Return the cases of a question over a data set, by segment: one, under the name "", where there are none.

    Parameters
    ----------
    question, held
        What is asked, and the data.
    segment_of
        The segment of each person, in their order, where these are in no column.
    trying
        Whether the noise will be seeded: then a mechanism needs no proof page.
    """
    mechanism = _mechanism(question, trying)
    held.check()
    vocabulary, declared, hierarchy = _public_list(question, held)
    typed = _TypedItems.of(question, held)
    item_source: ItemSource = "data" if _is_public(question.items) else "listed"
    if vocabulary is None:
        item_source = "mechanism" if mechanism.finds else "finding step"
        if item_source == "finding step" and question.budget.pure:
            raise MisuseError.format(
                "A release with epsilon alone needs a public list of items. {choices}", choices=CHOICES
            )
        # Items that were typed are public by that; they may not be found missing. All are names, whatever a reader took
        # them for: one person's name among numbers would turn every label into text.
        typed = typed.each(str)
        vocabulary = names(held.vocabulary, [str(item) for item in (*typed.contains, *typed.excludes)])
    over = generalised(onto(held, vocabulary), hierarchy, question.level)
    over.check()  # with what stands above their items they are larger
    vocabulary = over.vocabulary
    listed = vocabulary
    typed = typed.each(lambda item: like(item, listed))  # whether an item is a number or a name is for the list to say
    typed.check(question, vocabulary, hierarchy)
    required = np.unique(vocabulary.codes(typed.contains))
    cap = _cap(question, held)
    people, public = public_facts(declared, question, held)
    public += tuple(known.fact() for known in (hierarchy, held.vocabulary.names) if known is not None)
    case = Case(
        question=question,
        mechanism=mechanism,
        baskets=over,
        required=required,
        allowed=_allowed(required, vocabulary.codes(typed.excludes), over),
        itemsets=typed.coded_itemsets(vocabulary),
        people=people,
        item_source=item_source,
        public=public,
        max_baskets=cap,
        record=typed.recorded(question.record)
        | {"items": len(vocabulary) if item_source in ("listed", "data") else "found privately"},
    )
    _check_patterns_possible(case)
    if question.by is None and segment_of is None:
        if question.segments is not None:
            raise MisuseError.format("{segments} lists the segments of {by=}: give that too.")
        return {"": case}
    return _segmented(case, question.by if segment_of is None else segment_of)


def _mechanism(question: Question, trying: bool) -> Mechanism:
    """Return the mechanism that a question asks for; given itemsets are counted, whatever `auto` would choose."""
    name = "count" if question.itemsets is not None and question.mechanism == "auto" else question.mechanism
    mechanism: Mechanism = mechanism_of(name, question.settings, trying=trying)
    return mechanism


def _is_public(items: Any) -> bool:
    """Say whether the items found in the data were declared public."""
    return isinstance(items, str) and items == "public"


def _public_list(question: Question, held: AnyBaskets) -> tuple[Vocabulary | None, str, Hierarchy | None]:
    """Return the public list of items, how it came to be public, and the hierarchy in the names of the data."""
    items: Any = question.items
    if question.hierarchy is not None:
        hierarchy = question.hierarchy.renamed(held.vocabulary.names)
        return *public_items(hierarchy, items, held), hierarchy
    if items is None and question.itemsets is not None:
        items = {item for itemset in question.itemsets for item in itemset}
    return *item_list(items, held), None


@dataclass(frozen=True)
class _TypedItems:
    """The items that a question names: the labels of each field, step by step in the words of the list."""

    contains: list[Item]
    excludes: list[Item]
    itemsets: list[list[Item]] | None

    @classmethod
    def of(cls, question: Question, held: AnyBaskets) -> _TypedItems:
        """Return the items of a question; those that have a name beside their code by their code."""
        called = held.vocabulary.names
        itemsets = None if question.itemsets is None else [list(itemset) for itemset in question.itemsets]
        typed = cls(list(question.contains), list(question.excludes), itemsets)
        return typed if called is None else typed._map(called.resolved)

    def each(self, change: Callable[[Item], Item]) -> _TypedItems:
        """Return the items after a change of each of them."""
        return self._map(lambda items: [change(item) for item in items])

    def _map(self, change: Callable[[list[Item]], list[Item]]) -> _TypedItems:
        itemsets = None if self.itemsets is None else [change(itemset) for itemset in self.itemsets]
        return _TypedItems(change(self.contains), change(self.excludes), itemsets)

    def check(self, question: Question, vocabulary: Vocabulary, hierarchy: Hierarchy | None) -> None:
        """Refuse items that the list does not have, and an item that patterns must have and may not have."""
        every = [*self.contains, *self.excludes, *(item for itemset in self.itemsets or () for item in itemset)]
        if _is_public(question.items):
            _check_public(every, vocabulary)
        else:
            _check_listed(every, vocabulary, hierarchy if question.items is None else None, question.level)
        if both := sorted({*self.contains} & {*self.excludes}, key=str):
            raise MisuseError.format(
                "{label!r} is in both {contains} and {excludes}: no pattern can have it and not have it.", label=both[0]
            )

    def coded_itemsets(self, vocabulary: Vocabulary) -> Itemsets | None:
        """Return the itemsets in codes of the list."""
        if self.itemsets is None:
            return None
        return Itemsets.of(np.unique(vocabulary.codes(itemset)) for itemset in self.itemsets)

    def recorded(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Return the record of a question with its items as the list has them."""
        return {name: getattr(self, name) if name in ("contains", "excludes") else one for name, one in record.items()}


def _allowed(required: Codes, excluded: Codes, over: AnyBaskets) -> Codes:
    """Return the codes of the items that may be added to those every pattern has."""
    free = np.ones(len(over.vocabulary), np.bool_)
    free[required] = free[excluded] = False
    if over.lineage is not None:
        check_apart(over.lineage, required, over.vocabulary)
        free &= ~over.lineage.related_to(required)
    return np.flatnonzero(free).astype(np.int32)


def public_facts(declared: str, question: BasketQuestion, held: AnyBaskets) -> tuple[int | None, tuple[str, ...]]:
    """Return the number of people where it is public, and what is taken for public, in words."""
    sentences = [declared] if declared else []
    if question.relation is Neighbours.ADD_REMOVE:
        if question.people is not None:
            sentences.append(f"that there are {question.people:,} people, as declared")
        return question.people, tuple(sentences)
    if question.people is not None and question.people != held.people:
        raise MisuseError.format(
            "Under {neighbours='replace'} the number of people is public as it is: leave {people} out."
        )
    serious(question.budget, question.really, max(1, held.people))
    sentences.append(f"that there are {held.people:,} people")
    # How many baskets they have between them is not public.
    return None if held.several else max(1, held.people), tuple(sentences)


def _cap(question: Question, held: AnyBaskets) -> int | None:
    """Return how many baskets of each person take part, where that was said; how many people there are goes not."""
    cap = checked_cap(question.max_baskets, held)
    if held.several and question.people is not None:
        raise MisuseError.format(
            "{people} declares how many people there are, and here baskets are counted: how many take part is "
            "found with noise. Leave {people} out."
        )
    return cap


def _check_patterns_possible(case: Case) -> None:
    """Refuse a question that no pattern can answer, and one that the mechanism refuses; by public values alone."""
    question, item_count = case.question, len(case.allowed)
    if question.max_length is not None and question.max_length < case.required_count:
        raise MisuseError(
            f"Patterns of at most {number_of(question.max_length, 'item')} cannot contain "
            f"{number_of(case.required_count, 'item')}."
        )
    # That the data have no item, where theirs are the list, is for the noise to tell.
    if case.items_known and not item_count and case.itemsets is None:
        if len(case.baskets.vocabulary):
            raise MisuseError("No item is left that a pattern could have: the list of items is used up.")
        if question.level is not None and case.item_source == "listed":
            raise MisuseError.format("All items of the list stand above that {level}: nothing is left to count.")
    # Where the items are still to be found, the question is checked as if there were many; and a threshold that is a
    # fraction as if there were one person.
    known = case.items_known and len(case.baskets.vocabulary)
    problem = case.problem(item_count if known else MANY_ITEMS, case.people or 1)
    if case.itemsets is None and problem.min_length > problem.item_count:
        raise MisuseError.format(
            "{lengths} asks for patterns of {asked:,} items or more, but a pattern can have only {there}: ask "
            "for less.",
            asked=question.min_length,
            there=number_of(problem.item_count + case.required_count, "item"),
        )
    case.mechanism.check(problem, question.budget)


def _check_public(labels: list[Item], vocabulary: Vocabulary) -> None:
    """Raise for an item that is not among those of the data, which were declared public."""
    for label in labels:
        # A number among names, and the other way round, has a message of its own.
        if label not in vocabulary and isinstance(label, str) != vocabulary.numeric:
            raise MisuseError(f"{label!r} is not an item of this data{nearest_hint(label, vocabulary)}.")


def _check_listed(labels: list[Item], vocabulary: Vocabulary, listing: Hierarchy | None, level: Any) -> None:
    """Refuse what is not on the list; with a `listing`, that is the items of a hierarchy, as they are on its level."""
    for label in labels:
        if label in vocabulary:
            continue
        if listing is None:
            raise MisuseError(
                f"{label!r} is not on the list of items that was given{nearest_hint(label, vocabulary)}: add it there, "
                "or leave it out."
            )
        if str(label) in listing.heights and level is not None:
            there = listing.at(str(label), listing.level(level))
            instead = "leave it out, or ask" if there is None else f"ask for {there!r}, or"
            raise MisuseError.format(
                "{label!r} is not on that {level}: {instead} for another level.", label=label, instead=instead
            )
        raise MisuseError.format(
            "{label!r} is not in the hierarchy{near}: add it there, list the items by {items=}, or leave it out.",
            label=label,
            near=nearest_hint(label, vocabulary),
        )


def _segmented(case: Case, by: Any) -> dict[Item, Case]:
    """Return a case per segment: everyone is in one, so the price of all is the price of one."""
    if case.neighbours is Neighbours.REPLACE or case.people is not None:
        raise MisuseError.format(
            "Segments are for {neighbours='add-remove'} without {people=}: who is replaced may change the segment."
        )
    there, within = _segments_of(case.baskets, by)
    listed, how = _segment_list(case.question.segments, there)
    # Each person is looked up once, so nobody can be in two segments.
    places = {name: place for place, name in enumerate(listed)}
    # Whether segments are numbers or names is for those who list them to say.
    texts = {str(name): place for name, place in places.items()}
    where = np.array([places.get(value, texts.get(str(value), -1)) for value in there], np.int64)
    public = (*case.public, public_fact(len(listed), "segment", how))
    return {
        name: replace(
            case,
            baskets=within(np.flatnonzero(where == places[name]).astype(np.int32)),
            public=public,
            record={**case.record, "segment": name},
        )
        for name in listed
    }


def _segments_of(baskets: AnyBaskets, by: Any) -> tuple[list[Any], Callable[[Codes], AnyBaskets]]:
    """Return the segments people are in, and what says who is in some of them, by their places in that list."""
    if isinstance(by, str):
        column = baskets.segment_column
        if column != by and len(baskets):
            raise MisuseError.format(
                "{by} is {column!r}, but the baskets were read with {held} beside them: read them with "
                "discreet.read(…, {by=column}), or hand over a segment for each person as a list.",
                column=by,
                held="no segments" if column is None else f"the segments {column!r}",
            )
        # Where there is nobody, that there are no segments is no error.
        return (baskets.segment_labels, baskets.within) if column == by else ([], lambda _: baskets)
    if not isinstance(by, Iterable):
        raise MisuseError.format(
            "{by} is the column that was kept by discreet.read(…, {by=}), or a segment for each person, as a list "
            "in the order of the baskets; {given!r:.80} was given.",
            given=by,
        )
    if not isinstance(baskets, Baskets):
        raise MisuseError.format(
            "These baskets are in a cluster and have no order: read them with discreet.read(…, {by=}), a column."
        )
    values: list[Any] = by.tolist() if isinstance(by, np.ndarray) else list(by)
    if len(values) != baskets.people:
        raise MisuseError.format("{by} is a segment for each person: as many as there are people, in their order.")
    if any(value is None or value != value for value in values):
        raise MisuseError.format("{by} has no segment for some people: give everyone one.")
    found = _distinct(values)
    numbers = {value: number for number, value in enumerate(found)}
    codes = np.array([numbers[value] for value in values], np.int32)
    if baskets.owners is not None:
        codes = np.repeat(codes, np.diff(baskets.owners))
    return found, lambda some: baskets.rows(np.flatnonzero(np.isin(codes, some)))


def _segment_list(segments: Any, values: list[Any]) -> tuple[list[Item], str]:
    """Return the public list of segments, and how it came to be public: by declaration, never by default (X5)."""
    if segments is None:
        raise MisuseError.format(
            "Segments that few people are in would give them away by their names. {choices}", choices=_SEGMENTS
        )
    if isinstance(segments, str) and segments == "public":
        found, how = sorted(_distinct(values), key=str), "as found in the data"
    elif isinstance(segments, str) or not isinstance(segments, Iterable):
        raise MisuseError.format(
            "{segments} is a list; {given!r:.80} was given. {choices}", given=segments, choices=_SEGMENTS
        )
    else:
        found, how = list(segments), "as declared"
    listed: list[Item] = [int(name) if is_whole(name) else name for name in _distinct(found)]
    if not all(isinstance(name, str | int | float) and name != "" for name in listed):
        raise MisuseError(_NAMED)
    if not listed:
        raise MisuseError.format("There is no segment. {choices}", choices=_SEGMENTS)
    return listed, how


def _distinct(values: list[Any]) -> list[Any]:
    try:
        return list(dict.fromkeys(values))
    except TypeError:
        raise MisuseError(_NAMED) from None
