"""Publishing relations a → b: who holds a has b after it, or with it, or as the data say.

No mechanism of the registry, as those know baskets and no order. The most frequent items are found first. Then every
person's ordered pairs of these become the basket of that person, over a list of pairs that is released by then. So
pairs are counted by what counts items, with the sensitivities it has, and the pairs of all items are never laid out.
The proof is in `relations.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from ..baskets import Baskets, Codes, Vocabulary, item_list, on_this_machine, onto, table_onto
from ..curator import Found, Problem
from ..curator.mechanisms import ClippedCounting
from ..errors import LimitError, MisuseError
from ..exact import MERGED, BasketCount, Engine, How, checked_how, engine_of, held_pairs, usual_how
from ..privacy import Guarantee, Meter, Relation, SealedEngine
from ..results import Itemsets, Patterns, Rules, whole_counts, within
from ._case import PEOPLE
from ._door import Observer, Payer, Steps, answer
from ._keywords import Keywords, asks
from ._other_questions import RelationQuestion
from ._question import OfQuestion
from ._reconciling import people_interval, reconcile
from ._resolving import everyone, public_facts
from ._result import Release

if TYPE_CHECKING:
    from os import PathLike

    from ..privacy.ledger import Ledger

RELATIONS_NAME = "release-relations"
# The share that finds the most frequent items and counts them; what is left finds pairs and counts those.
ITEMS = Fraction(3, 10)
# Pairs of so many items are a list that is counted as fast as one of items.
MOST_AMONG = 300

_SUMMARY = (
    "Finds the most frequent items, then counts their ordered pairs, people who hold many of them scaled down; shows "
    "the pairs that most people hold."
)
_COUNTING = "counting the people"


@dataclass(frozen=True, kw_only=True, eq=False)
class RelationCase(OfQuestion):
    """A question for relations, resolved against one data set and checked.

    Parameters
    ----------
    question
        The question as it was asked.
    baskets, listed, codes
        The data; the same over the public list of items; and the place on that list of each item of the data, or -1.
    how
        What makes a pair.
    among
        Among how many of the most frequent items, at most those of the list.
    people, public, record
        As for patterns.
    notes
        What is to be said of how the question was taken.
    """

    question: RelationQuestion
    baskets: Baskets
    listed: Baskets
    codes: Codes
    how: How
    among: int
    people: int | None
    public: tuple[str, ...]
    record: dict[str, Any]
    notes: tuple[str, ...] = ()

    @property
    def discovery_delta(self) -> Fraction:
        """No part of delta finds items: they are public."""
        return Fraction(0)

    @property
    def ledger_entry(self) -> tuple[str, Mapping[str, Any]]:
        """The name and the parameters under which a ledger records the spend."""
        return RELATIONS_NAME, {"asked": self.record}

    def steps(self) -> Steps:
        """Return the shares of the budget by the name of the step that spends them."""
        before = [(_COUNTING, PEOPLE)] if self.people is None else []
        pairs = 1 - ITEMS - sum((share for _, share in before), Fraction(0))
        return [*before, ("finding the items", ITEMS), ("finding the pairs", pairs)]

    def pairs(self, chosen: Codes) -> Baskets:
        """Return the ordered pairs of some items that each person has, as a basket: a → b is one of k (k - 1) items."""
        width = len(chosen)
        places = np.full(len(self.listed.vocabulary) + 1, -1, np.int64)  # the last is for items that are not listed
        places[chosen] = np.arange(width)
        offsets, held = held_pairs(self.baskets, np.arange(len(self.baskets)), places[self.codes], width, self.how)
        first, second = held // width, held % width
        codes = (first * (width - 1) + second - (second > first)).astype(np.int32)
        return Baskets(offsets, codes, Vocabulary(list(range(width * (width - 1)))))


def relation_case(question: RelationQuestion, baskets: Baskets | Any) -> RelationCase:
    """Return the case of a question over a data set, before anything is spent: what may go wrong goes wrong here."""
    read = on_this_machine(everyone(baskets), "release_relations()")
    held = read.merged_people()
    how = checked_how(usual_how(held) if question.how is None else question.how, held)
    vocabulary, declared = item_list(question.items, held)
    if vocabulary is None:
        raise MisuseError.format(
            "Relations need a public list of items: give it with {items=}, a file with one per line, a list or a "
            "number; or declare with {items='public'} that the items found in the data are public knowledge."
        )
    if len(vocabulary) < 2:
        raise MisuseError("A relation is of two items: the list must have at least two.")
    among = min(question.among, len(vocabulary))
    if not 2 <= among <= MOST_AMONG:
        raise MisuseError.format(
            "{among} is a number of items from 2 to {most_items}; {given!r} was given.",
            most_items=MOST_AMONG,
            given=question.among,
        )
    possible = among * (among - 1)
    if question.top > possible:
        raise MisuseError.format(
            "{top} is {given:,}, but {item_count:,} items have only {possible:,} ordered pairs: ask for fewer, or "
            "raise {among}.",
            given=question.top,
            item_count=among,
            possible=possible,
        )
    people, public = public_facts(declared, question, held)
    _fit(held, how, among)
    return RelationCase(
        question=question,
        baskets=held,
        listed=onto(held, vocabulary),
        codes=table_onto(held.vocabulary, vocabulary),
        how=how,
        among=among,
        people=people,
        public=public,
        record={"relations": question.top, "how": how, "among": among, "items": len(vocabulary)},
        notes=(MERGED,) if read.several else (),
    )


def _fit(baskets: Baskets, how: How, among: int) -> None:
    """Refuse data with more pairs than can be counted at once: before paying, as nothing may be refused after it."""
    if how == "given" and baskets.pairs is not None:
        pairs = len(baskets.pairs.first)
    else:
        sizes = np.minimum(baskets.sizes, among)
        pairs = int((sizes * (sizes - 1)).sum())
    if pairs + len(baskets) >= np.iinfo(np.int32).max:
        raise LimitError.format(
            "These people may have more pairs in all than can be counted at once: lower {among}, or {max_items=}."
        )


class RelationOptions(TypedDict, total=False):
    """The keywords of :func:`release_relations`, for type checkers."""

    person: str | None
    item: str | None
    time: str | None
    pair: tuple[str, str] | None
    top: int | None
    how: How | None
    among: int
    epsilon: Any
    delta: Any
    items: Any
    people: int | None
    neighbours: Relation
    really: bool
    ledger: str | PathLike[str] | Ledger | None
    who: str
    same_data: bool


@asks(RelationQuestion, RelationOptions)
def release_relations(baskets: Baskets | Any, **options: Unpack[RelationOptions]) -> Release:
    """Publish relations a → b that many people have, under central differential privacy.

    Privacy: as :func:`discreet.release`. The unit is the person, with everything they did, in whatever order.

    Parameters
    ----------
    baskets
        What :func:`discreet.read` returns, or anything it accepts. One row is one person.
    FIELDS

    Returns
    -------
    Release
        Its `relations` have support and confidence, with intervals; its `patterns` are the items that were found.

    Examples
    --------
    >>> import discreet
    >>> trips = discreet.read([["pram", "toys"]] * 600 + [["toys"]] * 300, ordered=True)
    >>> release = discreet.release_relations(trips, top=1, epsilon=1, items=["pram", "toys"])
    >>> len(release.relations), release.relations.kind, release.guarantee.epsilon
    (1, 'relations', Fraction(1, 1))
    """
    keywords = Keywords.of(options)
    case = relation_case(RelationQuestion(**keywords.question), everyone(baskets, **keywords.reading))
    return answer_relations(case, payer=keywords.payer)


def answer_relations(case: RelationCase, *, payer: Payer | None = None, observer: Observer | None = None) -> Release:
    """Return the release of a case: paid for, then made."""
    return answer({"": case}, metered_relations, baskets=case.baskets, payer=payer, observer=observer)[""]


def metered_relations(case: RelationCase, meter: Meter, engine: Callable[[Any], Engine] = engine_of) -> Release:
    """Make the release of a case with what a meter lets out of an engine; the audit brings its own of both."""
    noisy_people, margin = case.people, 0
    if noisy_people is None:
        counted = meter.count(_COUNTING, SealedEngine(engine(case.listed)), BasketCount(), PEOPLE)
        noisy_people, margin = int(counted.values[0]), counted.margin()
    spread = None if case.people is not None else people_interval(noisy_people, margin)
    how = ClippedCounting()

    def best(baskets: Baskets, top: int, part: Meter) -> Found:
        """Return the `top` most frequent items of baskets, counted."""
        problem = Problem(
            top=top,
            min_length=1,
            max_length=1,
            max_length_given=True,
            item_count=baskets.items,
            people=max(0, noisy_people),
            people_margin=margin,
            epsilon=case.budget.epsilon,
        )
        return how.run(SealedEngine(engine(baskets), baskets.items), problem, part)

    items = best(case.listed, case.among, meter.part(ITEMS))
    chosen = np.sort(items.itemsets.codes)
    pairs = best(case.pairs(chosen), case.question.top, meter.part(meter.left))
    people, items, pairs = _reconciled(noisy_people, margin, items, pairs)
    patterns = _patterns(case, items, people, spread)
    relations = _relations(case, pairs, chosen, patterns)
    guarantee = Guarantee.of(case.budget, meter.charges, neighbours=case.neighbours, public=case.public)
    made = Release(
        patterns=patterns,
        relations=relations,
        guarantee=guarantee,
        mechanism=RELATIONS_NAME,
        asked=case.record,
        facts=_facts(items=items, pairs=pairs),
        notes=tuple(dict.fromkeys((*case.notes, *items.notes, *pairs.notes))),
        simulated=meter.simulated,
        when=datetime.now(UTC).date().isoformat(),
        citations=(how.citation,),
        summary=_SUMMARY,
    )
    provenance = made.provenance
    beside = replace(provenance, others={"patterns": patterns.to_arrow().to_pylist()})
    return replace(
        made, patterns=replace(patterns, provenance=provenance), relations=replace(relations, provenance=beside)
    )


def _facts(**steps: Found) -> dict[str, Any]:
    return {f"{name}, {what}": fact for what, found in steps.items() for name, fact in found.facts.items()}


def _reconciled(people: int, margin: int, items: Found, pairs: Found) -> tuple[int, Found, Found]:
    """Return the number of people, the items and the pairs, with counts of which none is over that number."""
    columns = [np.concatenate(both) for both in zip(_columns(items), _columns(pairs), strict=True)]
    made = reconcile(people, margin, *columns)
    parts = slice(0, len(items.itemsets)), slice(len(items.itemsets), None)
    first, second = (
        replace(side, estimates=made.estimates[part], low=made.low[part], high=made.high[part])
        for side, part in zip((items, pairs), parts, strict=True)
    )
    return made.people, first, second


def _columns(found: Found) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the estimates of a step and both ends of their intervals."""
    if found.estimates is None or found.low is None or found.high is None:
        raise AssertionError("items and pairs are counted with intervals")
    return found.estimates, found.low, found.high


def _patterns(case: RelationCase, found: Found, people: int, spread: tuple[int, int] | None) -> Patterns:
    """Return the items that were found, the most frequent first."""
    counts, low, high = whole_counts(*_columns(found))
    order = np.argsort(-counts, kind="stable")
    itemsets = found.itemsets.take(order)
    return Patterns(
        offsets=itemsets.offsets,
        codes=itemsets.codes,
        counts=counts[order],
        vocabulary=case.listed.vocabulary,
        people=people,
        low=low[order],
        high=high[order],
        people_within=spread,
    )


def _relations(case: RelationCase, found: Found, chosen: Codes, items: Patterns) -> Rules:
    """Return the pairs as relations, those that most people have first, with the counts of their sides."""
    counts, low, high = whole_counts(*_columns(found))
    order = np.argsort(-counts, kind="stable")
    counts, low, high = counts[order], low[order], high[order]
    codes = found.itemsets.codes[order].astype(np.int64)
    first, second = codes // (len(chosen) - 1), codes % (len(chosen) - 1)
    second = second + (second >= first)
    # Where each of the chosen stands among the items that are shown.
    places = np.argsort(items.codes)
    left, right = places[first], places[second]
    if items.low is None or items.high is None:
        raise AssertionError("items are counted with intervals")
    ends = (
        (items.low[left], items.high[left]),
        (items.low[right], items.high[right]),
        (low, high),
    )
    bounds = within("confidence", items.people_within or (items.people,) * 2, *ends)
    rows = np.arange(len(codes) + 1)
    return Rules(
        antecedents=Itemsets(rows, chosen[first].astype(np.int32)),
        consequents=Itemsets(rows.copy(), chosen[second].astype(np.int32)),
        counts=counts,
        # With noise nobody may seem to hold an item; a share of nobody is none.
        antecedent_counts=np.maximum(items.counts[left], 1),
        consequent_counts=np.maximum(items.counts[right], 1),
        vocabulary=case.listed.vocabulary,
        people=items.people,
        low=bounds[0],
        high=bounds[1],
        kind="relations",
        how=case.how,
        people_within=items.people_within,
        ends=ends,
    )
