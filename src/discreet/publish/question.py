"""Checking a question before anything is spent: what may go wrong goes wrong here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..baskets.capping import checked_cap
from ..baskets.core import AnyBaskets, Baskets, Codes, Item, Vocabulary, nobody
from ..baskets.hierarchy import Hierarchy, check_apart, generalised, public_items
from ..baskets.recoding import CHOICES, item_list, like, names, onto, public_fact
from ..checks import LARGEST, UNBOUNDED, is_whole, positive, several, span, support, switch
from ..curator.mechanism import Mechanism, Task, settings_of
from ..errors import Message, MisuseError, NobodyError, named, told
from ..privacy.budget import Budget, Neighbours, Relation, serious
from ..registry import mechanism as mechanism_of
from ..results.itemsets import Itemsets
from ..wording import number_of
from .job import MANY_ITEMS, Job

# Less would need noise beyond what whole numbers of this machine hold, and would tell nothing.
_SMALLEST = Fraction(1, 10**6)
# More patterns than this would take hours to choose, and none of them would stand out of the noise.
_MOST = 100_000
# What to do where rows may repeat a person: Python can hand over what was read, a command line cannot.
WHOSE = Message(
    'Say who is who: person="customer", item="product", here or in discreet.read(…). Without person= '
    "every row is taken for the whole basket of one person; if that is so, hand over what discreet.read(…) returns.",
    "Say which column holds the person (--person) and which the item (--item); or say --one-row-a-person, if every row "
    "is one person's whole basket.",
)
_NAMED = told("{by} has a name or a number for each person, such as 'north' or 3, and so has a list of segments.")
_SEGMENTS = told(
    "Say which there are: list them, {several}, also those nobody is in; or declare with {segments='public'} that "
    "those found in the data are public knowledge.",
    several=Message("segments=['north', 'south']", "--segment north --segment south, or --segments FILE"),
)


def prepare(
    baskets: Baskets | Any,
    *,
    top: int | None = None,
    min_support: Any = None,
    min_count: int | None = None,
    itemsets: list[list[Item]] | None = None,
    epsilon: Any,
    delta: Any = 0,
    items: Any = None,
    people: int | None = None,
    mechanism: str | Mechanism = "auto",
    settings: Mapping[str, Any] | None = None,
    lengths: Any = None,
    contains: Item | Iterable[Item] = (),
    excludes: Item | Iterable[Item] = (),
    counts: bool = True,
    neighbours: Relation = "add-remove",
    by: Sequence[Item] | NDArray[Any] | None = None,
    segments: Iterable[Item] | None = None,
    max_baskets: int | None = None,
    hierarchy: Any = None,
    level: int | str | None = None,
    really: bool = False,
    trying: bool = False,
) -> dict[Item, Job]:
    """Check a question and make the jobs that answer it: one, or one per segment. Nothing is spent here.

    `trying` is for seeded noise alone: then a mechanism needs no proof page.
    """
    budget = checked_budget(epsilon, delta, switch("really", really), people)
    if top is not None and positive("top", top) > _MOST:
        raise MisuseError(told("{top} is at most {many:,} in a release; {given} was given.", many=_MOST, given=top))
    relation = Neighbours.typed(neighbours)
    how: Mechanism = mechanism_of(mechanism, settings, trying=trying)
    if itemsets is None:
        _one_of(top, min_support, min_count)
    least, longest = (1, None) if lengths is None else span(lengths)
    held = everyone(baskets)
    held.check()
    known = None if hierarchy is None else Hierarchy.read(hierarchy)
    vocabulary, declared = item_list(items, held) if known is None else public_items(known, items, held)
    must, without = several(contains, "contains"), several(excludes, "excludes")
    listed, of_data = vocabulary is not None, isinstance(items, str) and items == "public"
    finding = not listed and not how.finds
    if finding and budget.pure:
        raise MisuseError(told("A release with epsilon alone needs a public list of items. {choices}", choices=CHOICES))
    if vocabulary is None:
        # Items that were typed are public by that; they may not be found missing. All are names, whatever a reader took
        # them for: one person's name among numbers would turn every label into text.
        must, without = ([str(item) for item in typed] for typed in (must, without))
        vocabulary = names(held.vocabulary, [*must, *without])
    over = generalised(onto(held, vocabulary), known, level)
    over.check()  # with what stands above their items they are larger
    vocabulary = over.vocabulary
    if not of_data:
        # How typed items are read depends on the list alone, and so does whether they are right.
        must, without = ([like(item, vocabulary) for item in typed] for typed in (must, without))
        if itemsets is not None:
            itemsets = [[like(item, vocabulary) for item in itemset] for itemset in itemsets]
        asked_for = [*must, *without, *(item for itemset in itemsets or () for item in itemset)]
        _check_listed(asked_for, vocabulary, known if items is None else None, level)
    prefix, barred = np.unique(vocabulary.codes(must)), vocabulary.codes(without)
    both = sorted(set(must) & set(without), key=str)
    if both:
        raise MisuseError(
            told(
                "{label!r} is in both {contains} and {excludes}: no pattern can have it and not have it.", label=both[0]
            )
        )
    free = np.ones(len(vocabulary), np.bool_)
    free[prefix] = free[barred] = False
    if over.lineage is not None:
        check_apart(over.lineage, prefix, vocabulary)
        free &= ~over.lineage.related_to(prefix)
    allowed = np.flatnonzero(free).astype(np.int32)
    cap = _cap(max_baskets, people, held)
    people, public = public_facts(declared, people, relation, held, budget, really)
    if known is not None:
        public = (*public, known.fact())
    if longest == UNBOUNDED:
        longest = None
    if longest is not None and longest < len(prefix):
        raise MisuseError(
            f"Patterns of at most {number_of(longest, 'item')} cannot contain {number_of(len(prefix), 'item')}."
        )
    job = Job(
        baskets=over,
        mechanism=how,
        budget=budget,
        neighbours=relation,
        top=None if top is None else positive("top", top),
        min_count=None if min_count is None else positive("min_count", min_count),
        min_support=None if min_support is None else support(min_support),
        least=least,
        longest=longest,
        prefix=prefix,
        allowed=allowed,
        people=people,
        counts=switch("counts", counts),
        itemsets=None if itemsets is None else _itemsets(itemsets, vocabulary),
        listed=listed,
        read=of_data,
        finding=finding,
        public=public,
        recorded_question=_recorded(
            top, min_support, min_count, lengths, must, without, vocabulary if listed else None, itemsets, cap
        )
        | ({} if known is None else known.recorded(level)),
        settings=settings_of(how),
        max_baskets=cap,
    )
    # That the data have no item, where theirs are the list, is for the noise to tell.
    if listed and not len(allowed) and itemsets is None:
        if len(vocabulary):
            raise MisuseError("No item is left that a pattern could have: the list of items is used up.")
        if level is not None and not of_data:
            raise MisuseError(told("All items of the list stand above that {level}: nothing is left to count."))
    # Where the items are still to be found, the question is checked as if there were many.
    asked = _public_asked(job, len(allowed) if listed and len(vocabulary) else MANY_ITEMS)
    if itemsets is None and asked.least > asked.items:
        there = number_of(asked.items + job.fixed, "item")
        raise MisuseError(
            told(
                "{lengths} asks for patterns of {asked:,} items or more, but a pattern can have only {there}: ask "
                "for less.",
                asked=least,
                there=there,
            )
        )
    how.check(asked, budget)
    if by is None:
        if segments is not None:
            raise MisuseError(told("{segments} lists the segments of {by=}: give that too."))
        return {"": job}
    return _segmented(job, by, segments)


def everyone(baskets: AnyBaskets | Any, *, by: Any = None, **reading: Any) -> AnyBaskets:
    """Read the data, and the column of segments if `by` names one; that there is nobody in them is no error."""
    from ..baskets.read import read_people

    if isinstance(by, str) and reading.get("person") is not None:
        reading["by"] = by
    try:
        return read_people(baskets, otherwise=WHOSE, **reading)
    except NobodyError:
        return nobody(**reading)


def checked_budget(epsilon: Any, delta: Any, really: bool, people: Any) -> Budget:
    """Return the budget of a question, if it leaves anything to spend and is no slip."""
    budget = serious(Budget.of(epsilon, delta), really, known_people(people))
    if budget.epsilon < _SMALLEST:
        raise MisuseError(f"An epsilon below 0.000001 leaves nothing but noise; {epsilon} was given.")
    if not budget.pure and budget.rho == 0:
        raise MisuseError(f"With a delta of {delta}, an epsilon of {epsilon} leaves nothing to spend: raise either.")
    return budget


def public_facts(
    declared: str, people: int | None, relation: Neighbours, held: AnyBaskets, budget: Budget, really: bool
) -> tuple[int | None, tuple[str, ...]]:
    """Return the number of people where it is public, and what is taken for public, in words."""
    if people is not None:
        if positive("people", people) < people:
            raise MisuseError(told("{people} is at most {many:,}; {given} was given.", many=LARGEST, given=people))
        people = int(people)
    public = _public(declared, people, relation, held.people)
    if relation is Neighbours.REPLACE:
        if people is not None and people != held.people:
            raise MisuseError(
                told("Under {neighbours='replace'} the number of people is public as it is: leave {people} out.")
            )
        serious(budget, really, max(1, held.people))
        # How many baskets they have between them is not public.
        people = None if held.several else max(1, held.people)
    return people, public


def known_people(people: Any) -> int | None:
    """Return the number of people where it was declared as one; what it is otherwise is looked at later."""
    return int(people) if is_whole(people) and people > 0 else None


def _cap(max_baskets: Any, people: int | None, held: AnyBaskets) -> int | None:
    """Return how many baskets of each person take part, where that was said; how many people there are goes not."""
    cap = checked_cap(max_baskets, held)
    if held.several and people is not None:
        raise MisuseError(
            told(
                "{people} declares how many people there are, and here baskets are counted: how many take part is "
                "found with noise. Leave {people} out."
            )
        )
    return cap


def _public_asked(job: Job, items: int) -> Task:
    """Return the question as far as it is public, for the check: with a threshold of 1 where it is a fraction."""
    return job.asked(items, job.people or 1)


def _one_of(top: Any, min_support: Any, min_count: Any) -> None:
    given = [
        name
        for name, value in (("top", top), ("min_support", min_support), ("min_count", min_count))
        if value is not None
    ]
    if len(given) != 1:
        raise MisuseError(
            told(
                "Say which patterns are wanted by exactly one of {top} (how many patterns), {min_support} (a fraction "
                "of people) or {min_count} (a number of people); {those} given.",
                those=told("{several} were", several=named(*given)) if given else "none of them was",
            )
        )


def _check_listed(labels: list[Item], vocabulary: Vocabulary, listing: Hierarchy | None, level: Any) -> None:
    """Refuse what is not on the list; with a `listing`, that is the items of a hierarchy, as they are on its level."""
    for label in labels:
        if label in vocabulary:
            continue
        if listing is None:
            raise MisuseError(f"{label!r} is not on the list of items that was given: add it there, or leave it out.")
        if str(label) in listing.heights and level is not None:
            there = listing.at(str(label), listing.level(level))
            instead = "leave it out, or ask" if there is None else f"ask for {there!r}, or"
            raise MisuseError(
                told("{label!r} is not on that {level}: {instead} for another level.", label=label, instead=instead)
            )
        raise MisuseError(
            told(
                "{label!r} is not in the hierarchy: add it there, list the items by {items=}, or leave it out.",
                label=label,
            )
        )


def _public(declared: str, people: int | None, relation: Neighbours, many: int) -> tuple[str, ...]:
    sentences = [declared] if declared else []
    if relation is Neighbours.REPLACE:
        sentences.append(f"that there are {many:,} people")
    elif people is not None:
        sentences.append(f"that there are {people:,} people, as declared")
    return tuple(sentences)


def _recorded(
    top: Any,
    min_support: Any,
    min_count: Any,
    lengths: Any,
    must: list[Item],
    without: list[Item],
    listed: Vocabulary | None,
    itemsets: Any,
    max_baskets: int | None,
) -> dict[str, Any]:
    """Return the question as it was put."""
    words: dict[str, Any] = {}
    if top is not None:
        words["top"] = top
    if min_support is not None:
        words["min_support"] = str(min_support)
    if min_count is not None:
        words["min_count"] = min_count
    if itemsets is not None:
        words["itemsets"] = len(itemsets)
    if lengths is not None:
        words["lengths"] = list(lengths) if isinstance(lengths, tuple | list) else lengths
    if must:
        words["contains"] = must
    if without:
        words["excludes"] = without
    if max_baskets is not None:
        words["max_baskets"] = max_baskets
    words["items"] = "found privately" if listed is None else len(listed)
    return {name: _plain(value) for name, value in words.items()}


def _plain(value: Any) -> Any:
    """Return a value as every format can write it: numpy's numbers as Python's."""
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return int(value) if is_whole(value) else value


def _itemsets(wanted: list[list[Item]], vocabulary: Vocabulary) -> Itemsets:
    return Itemsets.of(np.unique(vocabulary.codes(itemset)) for itemset in wanted)


def _segmented(job: Job, by: Any, segments: Any) -> dict[Item, Job]:
    """Split a job by segment: everyone is in one, so the price of all is the price of one."""
    if job.neighbours is Neighbours.REPLACE or job.people is not None:
        raise MisuseError(
            told(
                "Segments are for {neighbours='add-remove'} without {people=}: who is replaced may change the segment."
            )
        )
    there, within = _segments_of(job.baskets, by)
    listed, how = _segment_list(segments, there)
    # Each person is looked up once, so nobody can be in two segments.
    places = {name: place for place, name in enumerate(listed)}
    # Whether segments are numbers or names is for those who list them to say.
    texts = {str(name): place for name, place in places.items()}
    where = np.array([places.get(value, texts.get(str(value), -1)) for value in there], np.int64)
    public = (*job.public, public_fact(len(listed), "segment", how))
    return {
        name: replace(
            job,
            baskets=within(np.flatnonzero(where == places[name]).astype(np.int32)),
            public=public,
            recorded_question={**job.recorded_question, "segment": name},
        )
        for name in listed
    }


def _segments_of(baskets: AnyBaskets, by: Any) -> tuple[list[Any], Callable[[Codes], AnyBaskets]]:
    """Return the segments people are in, and what says who is in some of them, by their places in that list."""
    if isinstance(by, str):
        column = baskets.segment_column
        if column != by and len(baskets):
            raise MisuseError(
                told(
                    "{by} is {column!r}, but the baskets were read with {held} beside them: read them with "
                    "discreet.read(…, {by=column}), or hand over a segment for each person as a list.",
                    column=by,
                    held="no segments" if column is None else f"the segments {column!r}",
                )
            )
        # Where there is nobody, that there are no segments is no error.
        return (baskets.segment_labels, baskets.within) if column == by else ([], lambda _: baskets)
    if not isinstance(by, Iterable):
        raise MisuseError(
            told(
                "{by} is the column that was kept by discreet.read(…, {by=}), or a segment for each person, as a list "
                "in the order of the baskets; {given!r:.80} was given.",
                given=by,
            )
        )
    if not isinstance(baskets, Baskets):
        raise MisuseError(
            told("These baskets are in a cluster and have no order: read them with discreet.read(…, {by=}), a column.")
        )
    values: list[Any] = by.tolist() if isinstance(by, np.ndarray) else list(by)
    if len(values) != baskets.people:
        raise MisuseError(told("{by} is a segment for each person: as many as there are people, in their order."))
    if any(value is None or value != value for value in values):
        raise MisuseError(told("{by} has no segment for some people: give everyone one."))
    found = _distinct(values)
    numbers = {value: number for number, value in enumerate(found)}
    codes = np.array([numbers[value] for value in values], np.int32)
    if baskets.owners is not None:
        codes = np.repeat(codes, np.diff(baskets.owners))
    return found, lambda some: baskets.rows(np.flatnonzero(np.isin(codes, some)))


def _segment_list(segments: Any, values: list[Any]) -> tuple[list[Item], str]:
    """Return the public list of segments, and how it came to be public: by declaration, never by default (X5)."""
    if segments is None:
        raise MisuseError(
            told("Segments that few people are in would give them away by their names. {choices}", choices=_SEGMENTS)
        )
    if isinstance(segments, str) and segments == "public":
        found, how = sorted(_distinct(values), key=str), "as found in the data"
    elif isinstance(segments, str) or not isinstance(segments, Iterable):
        raise MisuseError(
            told("{segments} is a list; {given!r:.80} was given. {choices}", given=segments, choices=_SEGMENTS)
        )
    else:
        found, how = list(segments), "as declared"
    listed: list[Item] = [_plain(name) for name in _distinct(found)]
    if not all(isinstance(name, str | int | float) and name != "" for name in listed):
        raise MisuseError(_NAMED)
    if not listed:
        raise MisuseError(told("There is no segment. {choices}", choices=_SEGMENTS))
    return listed, how


def _distinct(values: list[Any]) -> list[Any]:
    try:
        return list(dict.fromkeys(values))
    except TypeError:
        raise MisuseError(_NAMED) from None
