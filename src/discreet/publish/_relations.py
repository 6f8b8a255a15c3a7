"""Publishing relations a → b: a person with a has b after it, or together with it, or as a pair in the data.

It is no mechanism of the registry, as mechanisms take baskets without order. The most frequent items are selected
first. Then the ordered pairs of selected items that a person has become the basket of the person, over a list of pairs
that is released by then. So the mechanism for items counts pairs too, with its own sensitivities, and the pairs of all
items are never enumerated. The proof is in `relations.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from ..baskets import Baskets, Codes, Vocabulary, build_code_table, recode_baskets, require_local_baskets, resolve_items
from ..curator import Found, Problem
from ..curator.mechanisms import ClippedCounting
from ..errors import LimitError, MisuseError
from ..exact import MERGED_NOTE, Engine, How, checked_how, engine_of, held_pairs, usual_how
from ..privacy import Guarantee, Meter, SealedEngine
from ..results import Itemsets, Patterns, Rules, measure_bounds, whole_counts
from ._case import PEOPLE_SHARE
from ._door import CheckedQuestion, Steps, answer
from ._keywords import BasketOptions, Keywords, with_keywords
from ._other_questions import RelationQuestion
from ._reconciling import people_interval, reconcile
from ._resolving import read_data, resolve_public_facts
from ._result import Release
from ._run import NoisyCount, count_baskets

RELATIONS_NAME = "release-relations"
# The share of the budget that selects and counts the items; the remainder selects and counts the pairs. Chosen: a
# larger share misses fewer items of frequent pairs, and makes the counts of pairs noisier.
ITEMS_SHARE = Fraction(3, 10)
# Bounds the list of pairs by 300 * 299 = 89,700 entries, which is counted as fast as a list of as many items.
MAX_AMONG = 300

_SUMMARY = (
    "Finds the most frequent items, then counts their ordered pairs, people who hold many of them scaled down; shows "
    "the pairs that most people hold."
)
_PEOPLE_STEP, _ITEMS_STEP, _PAIRS_STEP = "counting the people", "finding the items", "finding the pairs"


@dataclass(frozen=True, kw_only=True, eq=False)
class RelationCase(CheckedQuestion[Release]):
    """A question for relations, resolved against one data set and checked.

    Parameters
    ----------
    question
        The question of the user.
    baskets, listed_baskets, codes
        The data; the data recoded to the public list of items; and the code on that list of each item of the
        data, -1 for an unlisted item.
    pair_kind
        The kind of pair: `given`, `after` or `together`.
    item_limit
        The number of items that pairs are made of, at most the length of the list.
    people, public, record
        As in `Case`.
    notes
        Sentences for the reader about the interpretation of the question.
    """

    question: RelationQuestion
    baskets: Baskets
    listed_baskets: Baskets
    codes: Codes
    pair_kind: How
    item_limit: int
    people: int | None
    public: tuple[str, ...]
    record: dict[str, Any]
    notes: tuple[str, ...] = ()

    @property
    def ledger_entry(self) -> tuple[str, Mapping[str, Any]]:
        """The name and the parameters, all public, under which a ledger records the spend."""
        return RELATIONS_NAME, {"asked": self.record}

    def steps(self) -> Steps:
        """Return the name of each step with its share of the budget, in order."""
        # A public number of people costs nothing, and its share goes to the pairs.
        people_share = PEOPLE_SHARE if self.people is None else Fraction(0)
        people_steps = [(_PEOPLE_STEP, people_share)] if people_share else []
        return [*people_steps, (_ITEMS_STEP, ITEMS_SHARE), (_PAIRS_STEP, 1 - ITEMS_SHARE - people_share)]

    def run(self, meter: Meter) -> Release:
        """Return the release from the values that a meter releases."""
        return run_relations(self, meter)

    def pair_baskets(self, selected_items: Codes) -> Baskets:
        """Return a basket per person with the ordered pairs of selected items: a → b is one of k (k - 1) items."""
        width = len(selected_items)
        # The last place is for unlisted items.
        places = np.full(len(self.listed_baskets.vocabulary) + 1, -1, np.int64)
        places[selected_items] = np.arange(width)
        offsets, pairs = held_pairs(
            self.baskets, np.arange(len(self.baskets)), places[self.codes], width, self.pair_kind
        )
        left_places, right_places = pairs // width, pairs % width
        # Pairs of an item with itself do not exist: codes to the right of the diagonal move down by one.
        codes = (left_places * (width - 1) + right_places - (right_places > left_places)).astype(np.int32)
        return Baskets(offsets, codes, Vocabulary(list(range(width * (width - 1)))))


def build_relation_case(question: RelationQuestion, baskets: Baskets | Any) -> RelationCase:
    """Return the case of a question over a data set. Every error is raised here, before anything is spent."""
    data = require_local_baskets(read_data(baskets), "release_relations()")
    # Order and pairs are of a person, over all receipts.
    people_baskets = data.merged_people()
    pair_kind = checked_how(usual_how(people_baskets) if question.how is None else question.how, people_baskets)
    vocabulary, declared = resolve_items(question.items, people_baskets)
    if vocabulary is None:
        raise MisuseError.format(
            "Relations need a public list of items: give it with {items=}, a file with one per line, a list or a "
            "number; or declare with {items='public'} that the items found in the data are public knowledge."
        )
    # One item has no pairs, and the budget would buy nothing.
    if len(vocabulary) < 2:
        raise MisuseError("A relation is of two items: the list must have at least two.")
    item_limit = min(question.among, len(vocabulary))
    if not 2 <= item_limit <= MAX_AMONG:
        raise MisuseError.format(
            "{among} is a number of items from 2 to {most_items}; {given!r} was given.",
            most_items=MAX_AMONG,
            given=question.among,
        )
    possible = item_limit * (item_limit - 1)
    if question.top > possible:
        raise MisuseError.format(
            "{top} is {given:,}, but {item_count:,} items have only {possible:,} ordered pairs: ask for fewer, or "
            "raise {among}.",
            given=question.top,
            item_count=item_limit,
            possible=possible,
        )
    people, public = resolve_public_facts(declared, question, people_baskets)
    _check_pair_count(people_baskets, pair_kind, item_limit)
    return RelationCase(
        question=question,
        baskets=people_baskets,
        # Both are kept: pairs need the order in the data, and counts need the list.
        listed_baskets=recode_baskets(people_baskets, vocabulary),
        codes=build_code_table(people_baskets.vocabulary, vocabulary),
        pair_kind=pair_kind,
        item_limit=item_limit,
        people=people,
        public=public,
        record={"relations": question.top, "how": pair_kind, "among": item_limit, "items": len(vocabulary)},
        notes=(MERGED_NOTE,) if data.has_receipts else (),
    )


def _check_pair_count(baskets: Baskets, pair_kind: How, item_limit: int) -> None:
    """Check that the largest possible number of pairs fits into codes of 32 bits, as no error may follow payment."""
    if pair_kind == "given" and baskets.pairs is not None:
        pairs = len(baskets.pairs.first)
    else:
        sizes = np.minimum(baskets.sizes, item_limit)
        pairs = int((sizes * (sizes - 1)).sum())
    if pairs + len(baskets) >= np.iinfo(np.int32).max:
        raise LimitError.format(
            "These people may have more pairs in all than can be counted at once: lower {among}, or {max_items=}."
        )


class RelationOptions(BasketOptions, total=False):
    """The keywords of :func:`release_relations`, for type checkers."""

    time: str | None
    pair: tuple[str, str] | None
    top: int | None
    how: How | None
    among: int


@with_keywords(RelationQuestion, RelationOptions)
def release_relations(baskets: Baskets | Any, **options: Unpack[RelationOptions]) -> Release:
    """Publish frequent relations a → b, under central differential privacy.

    Privacy: as :func:`discreet.release`. The unit is the person, with all items in any order.

    Parameters
    ----------
    baskets
        The result of :func:`discreet.read`, or any data that it accepts. One row is one person.
    FIELDS

    Returns
    -------
    Release
        Its `relations` have support and confidence, with intervals; its `patterns` are the selected items.

    Examples
    --------
    >>> import discreet
    >>> trips = discreet.read([["pram", "toys"]] * 600 + [["toys"]] * 300, ordered=True)
    >>> release = discreet.release_relations(trips, top=1, epsilon=1, items=["pram", "toys"])
    >>> len(release.relations), release.relations.kind, release.guarantee.epsilon
    (1, 'relations', Fraction(1, 1))
    """
    keywords = Keywords.parse(options)
    case = build_relation_case(RelationQuestion(**keywords.question), read_data(baskets, **keywords.reading_options))
    return answer(case.baskets, {"": case}, payer=keywords.payer)[""]


def run_relations(case: RelationCase, meter: Meter, engine: Callable[[Any], Engine] = engine_of) -> Release:
    """Return the release of a case from the values that a meter releases of an engine; the audit replaces both.

    1. Count the people.
    2. Select and count the most frequent items.
    3. Select and count the most frequent ordered pairs of the selected items.
    4. Reconcile the counts, and state the guarantee from the charges of the meter.
    """
    people = NoisyCount(case.people or 0, 0)
    if case.people is None:
        people = count_baskets(_PEOPLE_STEP, PEOPLE_SHARE, case.listed_baskets, meter, engine)
    # It bounds the pairs that a person adds: see line 4 of the proof in `relations.md`.
    mechanism = ClippedCounting()

    def select_top(baskets: Baskets, top: int, part: Meter) -> Found:
        """Return the `top` most frequent items of baskets, counted."""
        problem = Problem(
            top=top,
            min_length=1,
            max_length=1,
            max_length_given=True,
            item_count=baskets.items,
            people=max(0, people.value),
            people_margin=people.margin,
            epsilon=case.budget.epsilon,
        )
        return mechanism.run(SealedEngine(engine(baskets), baskets.items), problem, part)

    items = select_top(case.listed_baskets, case.item_limit, meter.part(ITEMS_SHARE))
    # In the order of the list: ranks of noisy counts would change with every release.
    selected_items = np.sort(items.itemsets.codes)
    pairs = select_top(case.pair_baskets(selected_items), case.question.top, meter.part(meter.left))
    people_count, items, pairs = _reconcile_steps(people, items, pairs)
    patterns = _build_patterns(case, items, people_count, people_interval(*people) if case.people is None else None)
    relations = _build_relations(case, pairs, selected_items, patterns)
    release = Release(
        patterns=patterns,
        relations=relations,
        guarantee=Guarantee.of(case.budget, meter.charges, neighbours=case.neighbours, public=case.public),
        mechanism=RELATIONS_NAME,
        question=case.record,
        facts={
            f"{step}, {name}": fact
            for step, selection in (("items", items), ("pairs", pairs))
            for name, fact in selection.facts.items()
        },
        notes=tuple(dict.fromkeys((*case.notes, *items.notes, *pairs.notes))),
        simulated=meter.simulated,
        date=datetime.now(UTC).date().isoformat(),
        citations=(mechanism.citation,),
        summary=_SUMMARY,
    )
    provenance = release.provenance
    # A file of relations alone has no patterns: their counts go into its provenance.
    with_items = replace(provenance, others={"patterns": patterns.to_arrow().to_pylist()})
    return replace(
        release, patterns=replace(patterns, provenance=provenance), relations=replace(relations, provenance=with_items)
    )


def _reconcile_steps(people: NoisyCount, items: Found, pairs: Found) -> tuple[int, Found, Found]:
    """Return the number of people, the items and the pairs, with each count at most the number of people."""
    columns = [np.concatenate(pair) for pair in zip(_interval_columns(items), _interval_columns(pairs), strict=True)]
    reconciled = reconcile(*people, *columns)
    # Both steps are reconciled with one number of people, so that both tables agree.
    count = len(items.itemsets)
    items, pairs = (
        replace(selection, estimates=reconciled.estimates[part], low=reconciled.low[part], high=reconciled.high[part])
        for selection, part in ((items, slice(0, count)), (pairs, slice(count, None)))
    )
    return reconciled.people, items, pairs


def _interval_columns(selection: Found) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the estimates of a step and both ends of their intervals."""
    if selection.estimates is None or selection.low is None or selection.high is None:
        raise AssertionError("items and pairs are counted with intervals")
    return selection.estimates, selection.low, selection.high


def _build_patterns(
    case: RelationCase, selection: Found, people: int, people_within: tuple[int, int] | None
) -> Patterns:
    """Return the selected items as patterns, the most frequent first."""
    counts, low, high = whole_counts(*_interval_columns(selection))
    order = np.argsort(-counts, kind="stable")
    # Stable: ties keep the order of the list, which is public.
    itemsets = selection.itemsets.take(order)
    return Patterns(
        offsets=itemsets.offsets,
        codes=itemsets.codes,
        counts=counts[order],
        vocabulary=case.listed_baskets.vocabulary,
        people=people,
        low=low[order],
        high=high[order],
        people_within=people_within,
    )


def _build_relations(case: RelationCase, selection: Found, selected_items: Codes, items: Patterns) -> Rules:
    """Return the pairs as relations, the most frequent first, with the counts of both sides."""
    counts, low, high = whole_counts(*_interval_columns(selection))
    order = np.argsort(-counts, kind="stable")
    counts, low, high = counts[order], low[order], high[order]
    # The inverse of the coding in `pair_baskets`.
    codes = selection.itemsets.codes[order].astype(np.int64)
    left_places, right_places = codes // (len(selected_items) - 1), codes % (len(selected_items) - 1)
    right_places = right_places + (right_places >= left_places)
    # The row of each selected item in the table of patterns.
    rows = np.argsort(items.codes)
    left_rows, right_rows = rows[left_places], rows[right_places]
    if items.low is None or items.high is None:
        raise AssertionError("items are counted with intervals")
    ends = (
        (items.low[left_rows], items.high[left_rows]),
        (items.low[right_rows], items.high[right_rows]),
        (low, high),
    )
    # The interval of a ratio, from the intervals of both counts.
    bounds = measure_bounds("confidence", items.people_within or (items.people,) * 2, *ends)
    offsets = np.arange(len(codes) + 1)
    return Rules(
        antecedents=Itemsets(offsets, selected_items[left_places].astype(np.int32)),
        consequents=Itemsets(offsets.copy(), selected_items[right_places].astype(np.int32)),
        counts=counts,
        # Noise may leave an item without holders; a confidence over 0 holders does not exist.
        antecedent_counts=np.maximum(items.counts[left_rows], 1),
        consequent_counts=np.maximum(items.counts[right_rows], 1),
        vocabulary=case.listed_baskets.vocabulary,
        people=items.people,
        low=bounds[0],
        high=bounds[1],
        kind="relations",
        how=case.pair_kind,
        people_within=items.people_within,
        ends=ends,
    )
