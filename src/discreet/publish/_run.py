"""The run of a release: from here on only the values that a meter releases may depend on the data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ..baskets import AnyBaskets, Codes, Vocabulary, restrict_items
from ..checks import MAX_COUNT, MAX_LENGTH
from ..curator import Found, Problem, settings_of
from ..curator.mechanisms import find
from ..exact import BasketCount, Engine, engine_of, with_prefix
from ..privacy import Guarantee, Meter, SealedEngine
from ..privacy.sampling import Source
from ..results import NOTHING, Itemsets, Patterns, whole_counts
from ..wording import number_of
from ._basket_cap import choose_cap, cover_draw, describe_cap, each_query
from ._case import (
    BASKETS_SHARE,
    BASKETS_STEP,
    ITEMS_SHARE,
    ITEMS_STEP,
    MAX_SELECTION_ITEMS,
    PEOPLE_SHARE,
    REQUIRED_SHARE,
    REQUIRED_STEP,
    Case,
)
from ._door import build_meter
from ._reconciling import people_interval, reconcile
from ._result import Release


class NoisyCount(NamedTuple):
    """A released count and the half width of its 95 % interval, or a public count and 0."""

    value: int
    margin: int


def carry_out(case: Case, source: Source, engine: Callable[[Any], Engine] = engine_of) -> Release:
    """Return the release of a case, its budget spent; with a seeded source it is marked as simulated."""
    return run_case(case, build_meter(case, source), engine)


def run_case(case: Case, meter: Meter, engine: Callable[[Any], Engine] = engine_of) -> Release:
    """Return the release of a case from the values that a meter releases of an engine; the audit replaces both.

    1. Cap the baskets of each person, and count the people.
    2. Select the items where no list is public, and count the holders of the required items.
    3. Run the mechanism with the remaining budget, over the people who hold the required items.
    4. Reconcile the counts, and state the guarantee from the charges of the meter.
    """
    baskets, notes = _cap_baskets(case, meter, engine)
    people = NoisyCount(case.people or 0, 0)
    if case.people is None:
        people = count_baskets(case.count_step, PEOPLE_SHARE, baskets, meter, engine)
    # Noise may make the number negative, which no step could use.
    people_count = max(0, people.value)
    if case.required_count:
        baskets = baskets.select_containing(case.required_items)
    # Given itemsets are counted over the whole list; patterns are made of the items that may be added.
    item_codes = case.extra_items if case.itemsets is None else np.arange(case.baskets.items, dtype=np.int32)
    if case.selects_items:
        item_codes, note = _select_items(baskets, item_codes, people_count + people.margin, meter, engine)
        notes.append(note)
    # Items beyond the list cost time in every query, and no pattern may have them.
    baskets = restrict_items(baskets, item_codes)
    problem = replace(case.problem(len(item_codes), people_count), people_margin=people.margin)
    holders: NoisyCount | None = None
    if case.counts_required:
        holders = count_baskets(REQUIRED_STEP, REQUIRED_SHARE, baskets, meter, engine)
        # Within the engine, supports are of the holders: the number of all people would widen every interval.
        problem = replace(problem, people=max(0, holders.value), people_margin=holders.margin)
    # Without a public list, a bound on the codes would reveal the number of items.
    item_count = None if problem.item_count == MAX_LENGTH else problem.item_count
    selection = _run_mechanism(
        case, problem, SealedEngine(engine(baskets), item_count, max_baskets=meter.max_baskets), meter
    )
    if case.itemsets is None:
        # Given itemsets are counted unchanged: the user named them.
        selection = _drop_impossible_itemsets(selection, problem)
    patterns = _build_patterns(case, selection, item_codes, people, holders)
    if not case.has_public_items:
        # A list of all items of the data in the result would publish them.
        patterns = _drop_unused_items(patterns)
    if not len(patterns):
        # First, as the reader of an empty table looks for the reason.
        notes.insert(0, NOTHING)
    # The settings that matter belong to the mechanism that did the work.
    mechanism = selection.chosen or case.mechanism
    guarantee = Guarantee.of(
        case.budget, meter.charges, discovery_delta=case.discovery_delta, neighbours=case.neighbours, public=case.public
    )
    release = Release(
        patterns=patterns,
        guarantee=guarantee,
        mechanism=case.mechanism.name,
        question=case.record,
        settings=settings_of(mechanism),
        facts=({"most baskets of a person": meter.max_baskets} if case.baskets.has_receipts else {})
        | dict(selection.facts),
        notes=(*notes, *selection.notes),
        simulated=meter.simulated,
        date=datetime.now(UTC).date().isoformat(),
        citations=tuple(dict.fromkeys((mechanism.citation, case.mechanism.citation))),
        summary=case.mechanism.summary,
        chosen_mechanism=selection.chosen.name if selection.chosen is not None else "",
    )
    return replace(release, patterns=replace(patterns, provenance=release.provenance))


def count_baskets(
    step: str, share: Fraction, baskets: AnyBaskets, meter: Meter, engine: Callable[[Any], Engine]
) -> NoisyCount:
    """Return the noisy number of baskets, and charge a share of the budget to a step of that name."""
    noisy = meter.count(step, SealedEngine(engine(baskets), max_baskets=meter.max_baskets), BasketCount(), share)
    return NoisyCount(int(noisy.values[0]), noisy.margin())


def _cap_baskets(case: Case, meter: Meter, engine: Callable[[Any], Engine]) -> tuple[AnyBaskets, list[str]]:
    """Return baskets with a bounded number per person, and a note; the meter scales its noise to the bound."""
    # A person with one basket moves each count by one, and needs no cap.
    if not case.baskets.has_receipts:
        return case.baskets, []
    cap = case.max_baskets
    if cap is None:
        # No basket is capped yet: with this bound, any query that a person's number of baskets moves is all noise.
        meter.max_baskets = MAX_COUNT
        uncapped = SealedEngine(engine(case.baskets), max_baskets=MAX_COUNT)
        cap = choose_cap(meter.count(BASKETS_STEP, uncapped, each_query(), BASKETS_SHARE), meter)
    meter.max_baskets = cap
    return case.baskets.capped(cap, meter.secret()), [describe_cap(cap, case.max_baskets is None)]


def _run_mechanism(case: Case, problem: Problem, engine: SealedEngine, meter: Meter) -> Found:
    """Return the result of the mechanism, run with the remaining budget; of an empty problem, no itemsets."""
    # The budget is spent on an empty problem too: a release of selected items must not cost less than it states.
    part = meter.part(meter.left)
    if problem.top is not None:
        problem = replace(problem, top=min(problem.top, problem.universe().up_to(problem.top)))
    if problem.top == 0 or problem.item_count == 0:
        # An empty result has the form of any result, so that readers need no special case.
        no_counts = np.empty(0, np.float64) if case.question.counts else None
        return Found(itemsets=Itemsets.of([]), estimates=no_counts, low=no_counts, high=no_counts)
    return case.mechanism.run(engine, problem, part)


def _drop_impossible_itemsets(selection: Found, problem: Problem) -> Found:
    """Return the result without itemsets of an item and its ancestor: a plugin may know of no hierarchy."""
    is_possible = problem.mark_antichains(selection.itemsets)
    if is_possible.all():
        return selection
    columns = {name: getattr(selection, name) for name in ("estimates", "low", "high")}
    columns = {name: None if column is None else column[is_possible] for name, column in columns.items()}
    return replace(selection, itemsets=selection.itemsets.take(np.flatnonzero(is_possible)), **columns)


def _select_items(
    baskets: AnyBaskets, candidate_items: Codes, max_people: int, meter: Meter, engine: Callable[[Any], Engine]
) -> tuple[Codes, str]:
    """Return the items over a noisy threshold, with a note; an item of few people is hardly ever released."""
    sealed = SealedEngine(engine(restrict_items(baskets, candidate_items)), max_baskets=meter.max_baskets)
    selection = find(
        sealed, meter, ITEMS_STEP, ITEMS_SHARE, kept=MAX_SELECTION_ITEMS, least=1, longest=1, people=max_people
    )
    # In the order of the list, which the codes of the problem keep.
    places = np.sort(selection.itemsets.codes)
    note = (
        f"The list of items was not given: {number_of(len(places), 'item was', 'items were')} found with noise, those "
        f"with about {selection.threshold:,} {baskets.unit} or more, of each basket {MAX_SELECTION_ITEMS} items at "
        "most."
    )
    return candidate_items[places], note


def _build_patterns(
    case: Case, selection: Found, item_codes: Codes, people: NoisyCount, holders: NoisyCount | None
) -> Patterns:
    """Return the patterns with labels and with the required items, in the order of their counts.

    Parameters
    ----------
    selection
        The itemsets over `item_codes`, with estimates.
    item_codes
        The code on the item list for each code of the problem.
    people, holders
        The number of all people, and of the holders of the required items.
    """
    # The mechanism numbers the items of its problem; the result has the codes of the list.
    codes = item_codes[selection.itemsets.codes]
    itemsets = Itemsets(*with_prefix(selection.itemsets.offsets, codes, case.required_items))
    threshold = case.problem(len(item_codes), max(0, people.value)).threshold
    # Among the top the required items are in any case: no pattern with them has more holders.
    adds_required = case.required_is_pattern and (
        threshold is None or (holders is not None and holders.value >= threshold)
    )
    if adds_required:
        itemsets = Itemsets.joined((Itemsets.of([case.required_items.tolist()]), itemsets))
    facts: dict[str, Any] = {
        "vocabulary": case.baskets.vocabulary,
        "people_within": people_interval(*people) if case.people is None else None,
        "unit": case.baskets.unit,
        "hierarchy": case.baskets.hierarchy,
    }
    if selection.estimates is None or not case.question.counts:
        return Patterns(
            offsets=itemsets.offsets,
            codes=itemsets.codes,
            # Without counts the order of the table is the order of the mechanism.
            counts=np.zeros(len(itemsets), np.int64),
            people=max(0, people.value),
            counted=False,
            **facts,
        )
    estimates, low, high = selection.estimates, selection.low, selection.high
    if low is None or high is None:
        raise AssertionError("estimates come with an interval")
    if holders is not None:
        # A holder of a pattern is a holder of the required items.
        holder_count, estimates, low, high = reconcile(*holders, estimates, low, high)
        if adds_required:
            count, ends = float(holder_count), (holders.value - holders.margin, holders.value + holders.margin)
            estimates = np.concatenate(([count], estimates))
            low, high = np.concatenate(([min(ends[0], count)], low)), np.concatenate(([max(ends[1], count)], high))
    people_count, estimates, low, high = reconcile(*people, estimates, low, high)
    if case.baskets.has_receipts:
        # After reconciling, which compares counts of drawn baskets: the intervals of the result are for
        # weighed counts.
        low, high = cover_draw(estimates, low, high, max(0, people.value + people.margin))
    order = np.arange(len(itemsets))
    if case.itemsets is None:
        # By estimates before rounding; of equal counts, shorter patterns first.
        order = np.lexsort((itemsets.sizes, -np.maximum(estimates, 0)))
    itemsets = itemsets.take(order)
    counts, low, high = whole_counts(estimates[order], low[order], high[order])
    return Patterns(
        offsets=itemsets.offsets,
        codes=itemsets.codes,
        counts=counts,
        people=people_count,
        low=low,
        high=high,
        **facts,
    )


def _drop_unused_items(patterns: Patterns) -> Patterns:
    """Return the patterns over their own items alone: without a public list, the occurrence of an item is private."""
    # Numbered anew, as gaps in the codes would show the number of items in the data.
    used_codes = np.unique(patterns.codes)
    codes = np.searchsorted(used_codes, patterns.codes).astype(np.int32)
    return replace(patterns, codes=codes, vocabulary=Vocabulary(patterns.vocabulary.take(used_codes)))
