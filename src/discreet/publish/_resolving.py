"""From a question to cases: the check of a question against a data set, before anything is spent.

Every error of a release is raised here, from public values and from facts about the data that the curator may see.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..baskets import (
    ITEM_CHOICES,
    AnyBaskets,
    Baskets,
    Codes,
    Hierarchy,
    Item,
    Vocabulary,
    build_empty_baskets,
    check_unrelated,
    convert_to_names,
    describe_public_list,
    generalised,
    match_label,
    recode_baskets,
    render_nearest_hint,
    resolve_basket_cap,
    resolve_items,
    resolve_public_items,
)
from ..checks import is_whole
from ..curator import Mechanism
from ..errors import EmptyDataError, Message, MisuseError, build_message
from ..privacy import Neighbours, serious
from ..registry import mechanism as mechanism_of
from ..results import Itemsets
from ..wording import number_of
from ._case import ASSUMED_ITEM_COUNT, Case, ItemSource
from ._question import BasketQuestion, Question

# The fix where a person may have several rows, in a wording for Python and one for the command line.
PERSON_COLUMN_HINT = Message(
    'Say who is who: person="customer", item="product", here or in discreet.read(…). Without person= '
    "every row is taken for the whole basket of one person; if that is so, hand over what discreet.read(…) returns.",
    "Say which column holds the person (--person) and which the item (--item); or say --one-row-a-person, if every row "
    "is one person's whole basket.",
)
_SEGMENT_NAMES_HINT = build_message(
    "{by} has a name or a number for each person, such as 'north' or 3, and so has a list of segments."
)
_SEGMENTS_HINT = build_message(
    "Say which there are: list them, {several}, also those nobody is in; or declare with {segments='public'} that "
    "those found in the data are public knowledge.",
    several=Message("segments=['north', 'south']", "--segment north --segment south, or --segments FILE"),
)


def read_data(baskets: AnyBaskets | Any, *, by: Any = None, **reading_options: Any) -> AnyBaskets:
    """Return the data, read with the column of segments if `by` names one; a source without people is no error."""
    from ..baskets import read_people

    # Baskets that were read already keep their column; a table has to be read with it.
    if isinstance(by, str) and reading_options.get("person") is not None:
        reading_options["by"] = by
    try:
        return read_people(baskets, person_advice=PERSON_COLUMN_HINT, **reading_options)
    except EmptyDataError:
        # Whether the data are empty is private: noise has to answer.
        return build_empty_baskets(**reading_options)


def build_cases(
    question: Question,
    data: AnyBaskets,
    *,
    segment_of: Sequence[Item] | NDArray[Any] | None = None,
    trying: bool = False,
) -> dict[Item, Case]:
    """Return the cases of a question over a data set, by segment: one case, under the name "", without segments.

    1. Resolve the public list of items; without one, the items are selected later, with noise.
    2. Recode the data and the items of the question to that list.
    3. Check that a pattern can answer the question, and that the mechanism accepts it.
    4. Split the case by segment.

    Parameters
    ----------
    question, data
        The question, and the baskets that it is asked about.
    segment_of
        The segment of each person, in the order of the people; None if the segments are a column of the data.
    trying
        Whether the noise will be seeded: a mechanism then needs no proof page.
    """
    # `auto` selects patterns, and given itemsets leave nothing to select.
    name = "count" if question.itemsets is not None and question.mechanism == "auto" else question.mechanism
    mechanism: Mechanism = mechanism_of(name, question.settings, trying=trying)
    data.check()
    vocabulary, declared, hierarchy = _resolve_item_list(question, data)
    typed_items = _TypedItems.from_question(question, data)
    item_source: ItemSource = "data" if question.items_are_public else "listed"
    if vocabulary is None:
        item_source = "mechanism" if mechanism.finds else "finding step"
        if item_source == "finding step" and question.budget.pure:
            raise MisuseError.format(
                "A release with epsilon alone needs a public list of items. {choices}", choices=ITEM_CHOICES
            )
        # Items that were typed are public by that; an error about a missing one would depend on private data. All
        # labels become names, against the choice of the reader: one name among numbers turns every label into text.
        typed_items = typed_items.convert_each(str)
        more_names = [str(item) for item in (*typed_items.contains, *typed_items.excludes)]
        vocabulary = convert_to_names(data.vocabulary, more_names)
    recoded_data = generalised(recode_baskets(data, vocabulary), hierarchy, question.level)
    recoded_data.check()  # the ancestors of items make baskets larger
    vocabulary = listed_items = recoded_data.vocabulary
    # The list decides whether an item is a number or a name.
    typed_items = typed_items.convert_each(lambda item: match_label(item, listed_items))
    typed_items.check(question, vocabulary, hierarchy)
    # Unique: an item that is required twice is required once.
    required_items = np.unique(vocabulary.codes(typed_items.contains))
    cap = _check_cap(question, data)
    people, public = resolve_public_facts(declared, question, data)
    public += tuple(source.fact() for source in (hierarchy, data.vocabulary.names) if source is not None)
    # A private number of items must not enter the record.
    item_facts = {"items": len(vocabulary) if item_source in ("listed", "data") else "found privately"}
    case = Case(
        question=question,
        mechanism=mechanism,
        baskets=recoded_data,
        required_items=required_items,
        extra_items=_select_extra_items(required_items, vocabulary.codes(typed_items.excludes), recoded_data),
        itemsets=typed_items.encode_itemsets(vocabulary),
        people=people,
        item_source=item_source,
        public=public,
        max_baskets=cap,
        record=typed_items.update_record(question.record) | item_facts,
    )
    _check_patterns_possible(case)
    if question.by is None and segment_of is None:
        # A list of segments without a column would be ignored in silence.
        if question.segments is not None:
            raise MisuseError.format("{segments} lists the segments of {by=}: give that too.")
        return {"": case}
    return _split_by_segment(case, question.by if segment_of is None else segment_of)


def _resolve_item_list(question: Question, data: AnyBaskets) -> tuple[Vocabulary | None, str, Hierarchy | None]:
    """Return the public list of items, the origin of its publicity, and the hierarchy in the names of the data."""
    items: Any = question.items
    if question.hierarchy is not None:
        hierarchy = question.hierarchy.renamed(data.vocabulary.names)
        return *resolve_public_items(hierarchy, items, data), hierarchy
    if items is None and question.itemsets is not None:
        items = {item for itemset in question.itemsets for item in itemset}
    return *resolve_items(items, data), None


@dataclass(frozen=True)
class _TypedItems:
    """The item labels of a question, by field; converted step by step to the labels of the list."""

    contains: list[Item]
    excludes: list[Item]
    itemsets: list[list[Item]] | None

    @classmethod
    def from_question(cls, question: Question, data: AnyBaskets) -> _TypedItems:
        """Return the items of a question, with codes in place of the names that a table of names has."""
        # A user types the name of an item, the data have its code.
        table = data.vocabulary.names
        itemsets = None if question.itemsets is None else [list(itemset) for itemset in question.itemsets]
        typed_items = cls(list(question.contains), list(question.excludes), itemsets)
        return typed_items if table is None else typed_items._convert(table.resolved)

    def convert_each(self, convert: Callable[[Item], Item]) -> _TypedItems:
        """Return the items, each converted by a function."""
        return self._convert(lambda items: [convert(item) for item in items])

    def _convert(self, convert: Callable[[list[Item]], list[Item]]) -> _TypedItems:
        itemsets = None if self.itemsets is None else [convert(itemset) for itemset in self.itemsets]
        return _TypedItems(convert(self.contains), convert(self.excludes), itemsets)

    def check(self, question: Question, vocabulary: Vocabulary, hierarchy: Hierarchy | None) -> None:
        """Check that the list has every item, and that no item is both required and excluded."""
        labels = [*self.contains, *self.excludes, *(item for itemset in self.itemsets or () for item in itemset)]
        if question.items_are_public:
            _check_found_labels(labels, vocabulary)
        else:
            _check_listed_labels(labels, vocabulary, hierarchy if question.items is None else None, question.level)
        if contradictions := sorted({*self.contains} & {*self.excludes}, key=str):
            raise MisuseError.format(
                "{label!r} is in both {contains} and {excludes}: no pattern can have it and not have it.",
                label=contradictions[0],
            )

    def encode_itemsets(self, vocabulary: Vocabulary) -> Itemsets | None:
        """Return the itemsets as codes of the list; None without itemsets."""
        if self.itemsets is None:
            return None
        return Itemsets.of(np.unique(vocabulary.codes(itemset)) for itemset in self.itemsets)

    def update_record(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Return the record of a question with its items in the labels of the list."""
        return dict(record) | {name: getattr(self, name) for name in ("contains", "excludes") if name in record}


def _select_extra_items(required_items: Codes, excluded_items: Codes, data: AnyBaskets) -> Codes:
    """Return the codes of the items that may be added to the required items."""
    # A pattern has the required items besides, so they are not added again.
    is_allowed = np.ones(len(data.vocabulary), np.bool_)
    is_allowed[required_items] = is_allowed[excluded_items] = False
    if data.lineage is not None:
        # No pattern has an item and its ancestor.
        check_unrelated(data.lineage, required_items, data.vocabulary)
        is_allowed &= ~data.lineage.related_to(required_items)
    return np.flatnonzero(is_allowed).astype(np.int32)


def resolve_public_facts(
    declared: str, question: BasketQuestion, data: AnyBaskets
) -> tuple[int | None, tuple[str, ...]]:
    """Return the number of people if it is public, and the facts that the guarantee states as public, in words.

    `declared` is the fact about the item list; "" without a list.
    """
    sentences = [declared] if declared else []
    # Adding a person changes the number of people, so it is public by declaration alone.
    if question.relation is Neighbours.ADD_REMOVE:
        if question.people is not None:
            sentences.append(f"that there are {question.people:,} people, as declared")
        return question.people, tuple(sentences)
    if question.people is not None and question.people != data.people:
        raise MisuseError.format(
            "Under {neighbours='replace'} the number of people is public as it is: leave {people} out."
        )
    # A delta of one in the number of people may reveal a person; under replacing, that number is public.
    serious(question.budget, question.really, max(1, data.people))
    sentences.append(f"that there are {data.people:,} people")
    # The number of baskets stays private: replacing a person changes it.
    return None if data.has_receipts else max(1, data.people), tuple(sentences)


def _check_cap(question: Question, data: AnyBaskets) -> int | None:
    """Return the largest number of baskets of one person, if the question states it."""
    cap = resolve_basket_cap(question.max_baskets, data)
    if data.has_receipts and question.people is not None:
        raise MisuseError.format(
            "{people} declares how many people there are, and here baskets are counted: how many take part is "
            "found with noise. Leave {people} out."
        )
    return cap


def _check_patterns_possible(case: Case) -> None:
    """Check that patterns can answer the question and that the mechanism accepts it, by public values alone."""
    question, item_count = case.question, len(case.extra_items)
    # Checked here, as the mechanism sees lengths without the required items.
    if question.max_length is not None and question.max_length < case.required_count:
        raise MisuseError(
            f"Patterns of at most {number_of(question.max_length, 'item')} cannot contain "
            f"{number_of(case.required_count, 'item')}."
        )
    # An empty list that was found in the data is no error: noise has to answer.
    if case.has_public_items and not item_count and case.itemsets is None:
        if len(case.baskets.vocabulary):
            raise MisuseError("No item is left that a pattern could have: the list of items is used up.")
        if question.level is not None and case.item_source == "listed":
            raise MisuseError.format("All items of the list stand above that {level}: nothing is left to count.")
    # Private numbers are replaced by public ones: the item count by a large one, a private number of people by 1.
    has_item_count = case.has_public_items and len(case.baskets.vocabulary)
    problem = case.problem(item_count if has_item_count else ASSUMED_ITEM_COUNT, case.people or 1)
    if case.itemsets is None and problem.min_length > problem.item_count:
        raise MisuseError.format(
            "{lengths} asks for patterns of {asked:,} items or more, but a pattern can have only {there}: ask "
            "for less.",
            asked=question.min_length,
            there=number_of(problem.item_count + case.required_count, "item"),
        )
    case.mechanism.check(problem, question.budget)


def _check_found_labels(labels: list[Item], vocabulary: Vocabulary) -> None:
    """Check that the items of a question are in the data, which were declared public."""
    for label in labels:
        # A number among names, or a name among numbers, has a message of its own in `Vocabulary.codes`.
        if label not in vocabulary and isinstance(label, str) != vocabulary.numeric:
            raise MisuseError(f"{label!r} is not an item of this data{render_nearest_hint(label, vocabulary)}.")


def _check_listed_labels(labels: list[Item], vocabulary: Vocabulary, hierarchy: Hierarchy | None, level: Any) -> None:
    """Check that the items of a question are on the list: on that level of a hierarchy, if the list is one."""
    for label in labels:
        if label in vocabulary:
            continue
        if hierarchy is None:
            raise MisuseError(
                f"{label!r} is not on the list of items that was given{render_nearest_hint(label, vocabulary)}: add it "
                "there, or leave it out."
            )
        if str(label) in hierarchy.heights and level is not None:
            ancestor = hierarchy.at(str(label), hierarchy.level(level))
            instead = "leave it out, or ask" if ancestor is None else f"ask for {ancestor!r}, or"
            raise MisuseError.format(
                "{label!r} is not on that {level}: {instead} for another level.", label=label, instead=instead
            )
        raise MisuseError.format(
            "{label!r} is not in the hierarchy{near}: add it there, list the items by {items=}, or leave it out.",
            label=label,
            near=render_nearest_hint(label, vocabulary),
        )


def _split_by_segment(case: Case, by: Any) -> dict[Item, Case]:
    """Return a case per segment. Each person is in one segment, so the price of all cases is the price of one."""
    if case.neighbours is Neighbours.REPLACE or case.people is not None:
        raise MisuseError.format(
            "Segments are for {neighbours='add-remove'} without {people=}: who is replaced may change the segment."
        )
    data_segments, select_people = _read_segments(case.baskets, by)
    listed_segments, origin = _resolve_segment_list(case.question.segments, data_segments)
    # One lookup per segment of the data puts each person into at most one listed segment. The list decides whether
    # segments are numbers or names, so its texts match too.
    # By name, so that the order of the data does not matter.
    places = {name: place for place, name in enumerate(listed_segments)}
    text_places = {str(name): place for name, place in places.items()}
    place_of = np.array([places.get(name, text_places.get(str(name), -1)) for name in data_segments], np.int64)
    public = (*case.public, describe_public_list(len(listed_segments), "segment", origin))
    return {
        name: replace(
            case,
            baskets=select_people(np.flatnonzero(place_of == place).astype(np.int32)),
            public=public,
            record={**case.record, "segment": name},
        )
        for name, place in places.items()
    }


def _read_segments(baskets: AnyBaskets, by: Any) -> tuple[list[Any], Callable[[Codes], AnyBaskets]]:
    """Return the segments in the data, and a function that selects the people of some by their places in that list."""
    if isinstance(by, str):
        # The column was named when the data were read; a second name would mean different segments.
        column = baskets.segment_column
        if column != by and len(baskets):
            raise MisuseError.format(
                "{by} is {column!r}, but the baskets were read with {held} beside them: read them with "
                "discreet.read(…, {by=column}), or hand over a segment for each person as a list.",
                column=by,
                held="no segments" if column is None else f"the segments {column!r}",
            )
        # Empty data have no column of segments, which must not show as an error.
        return (baskets.segment_labels, baskets.select_segments) if column == by else ([], lambda _: baskets)
    if not isinstance(by, Iterable):
        raise MisuseError.format(
            "{by} is the column that was kept by discreet.read(…, {by=}), or a segment for each person, as a list "
            "in the order of the baskets; {given!r:.80} was given.",
            given=by,
        )
    # Baskets in a cluster have no order that a list could follow.
    if not isinstance(baskets, Baskets):
        raise MisuseError.format(
            "These baskets are in a cluster and have no order: read them with discreet.read(…, {by=}), a column."
        )
    values: list[Any] = by.tolist() if isinstance(by, np.ndarray) else list(by)
    if len(values) != baskets.people:
        raise MisuseError.format("{by} is a segment for each person: as many as there are people, in their order.")
    # NaN is not equal to itself. A person without a segment would be in no release, without a word.
    if any(value is None or value != value for value in values):
        raise MisuseError.format("{by} has no segment for some people: give everyone one.")
    segments = _unique_segments(values)
    numbers = {segment: number for number, segment in enumerate(segments)}
    codes = np.array([numbers[value] for value in values], np.int32)
    if baskets.owners is not None:
        # One row per basket: all baskets of a person are in the segment of the person.
        codes = np.repeat(codes, np.diff(baskets.owners))
    return segments, lambda places: baskets.rows(np.flatnonzero(np.isin(codes, places)))


def _resolve_segment_list(segments: Any, data_segments: list[Any]) -> tuple[list[Item], str]:
    """Return the public list of segments and the origin of its publicity: declared, never by default (X5)."""
    if segments is None:
        raise MisuseError.format(
            "Segments that few people are in would give them away by their names. {choices}", choices=_SEGMENTS_HINT
        )
    if isinstance(segments, str) and segments == "public":
        # Sorted, as the order of the data is private even where the values are public.
        values, origin = sorted(_unique_segments(data_segments), key=str), "as found in the data"
    elif isinstance(segments, str) or not isinstance(segments, Iterable):
        raise MisuseError.format(
            "{segments} is a list; {given!r:.80} was given. {choices}", given=segments, choices=_SEGMENTS_HINT
        )
    else:
        values, origin = list(segments), "as declared"
    listed_names: list[Item] = [int(name) if is_whole(name) else name for name in _unique_segments(values)]
    if not all(isinstance(name, str | int | float) and name != "" for name in listed_names):
        raise MisuseError(_SEGMENT_NAMES_HINT)
    if not listed_names:
        raise MisuseError.format("There is no segment. {choices}", choices=_SEGMENTS_HINT)
    return listed_names, origin


def _unique_segments(values: list[Any]) -> list[Any]:
    """Return the unique values in their order; a value that is no name or number is an error."""
    try:
        return list(dict.fromkeys(values))
    except TypeError:
        raise MisuseError(_SEGMENT_NAMES_HINT) from None
