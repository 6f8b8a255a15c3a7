"""Making a release: from here on nothing but what a meter lets out may depend on the data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from ..baskets import AnyBaskets, Codes, Vocabulary, only
from ..checks import MAX_COUNT, MAX_LENGTH
from ..curator import Found, Problem, settings_of
from ..curator.mechanisms import find
from ..exact import BasketCount, Engine, engine_of
from ..privacy import Guarantee, Meter, SealedEngine
from ..privacy.sampling import Source
from ..results import NOTHING, Itemsets, Patterns, whole_counts
from ..wording import number_of
from ._basket_cap import cap_told, choose_cap, each_query
from ._basket_draw import cover_draw
from ._case import BASKETS, FINDABLE, FINDING, HOW_MANY_EACH, PEOPLE, PREFIX, Case
from ._door import meter_for
from ._reconciling import people_interval, reconcile
from ._result import Release


def carry_out(case: Case, source: Source, stage: Callable[[str], object] | None = None) -> Release:
    """Return the release of a case, its budget spent; with a seeded source it is marked as simulated.

    `stage` is called with the name of each step that is paid for, before it is taken: the names are released.
    """
    return metered(case, meter_for(case, source, stage))


def metered(case: Case, meter: Meter, engine: Callable[[Any], Engine] = engine_of) -> Release:
    """Make the release of a case with what a meter lets out of an engine; the audit brings its own of both."""
    baskets, notes = _capped(case, meter, engine)
    most = meter.max_baskets
    noisy_people, margin = case.people, 0
    if noisy_people is None:
        everyone = SealedEngine(engine(baskets), max_baskets=most)
        noisy = meter.count(case.counting, everyone, BasketCount(), PEOPLE)
        noisy_people, margin = int(noisy.values[0]), noisy.margin()
    people = max(0, noisy_people)
    inner = baskets
    if case.required_count:
        inner = inner.holding(case.required)
    # Given itemsets are counted over the whole list; patterns are looked for among the items that may be added.
    back = case.allowed if case.itemsets is None else np.arange(len(case.baskets.vocabulary), dtype=np.int32)
    if case.finding_items:
        back, note = _find_items(inner, back, people + margin, meter, engine)
        notes.append(note)
    inner = only(inner, back)
    alone: tuple[float, int] | None = None
    if case.required_counted:
        holding = SealedEngine(engine(inner), max_baskets=most)
        one = meter.count("counting the items every pattern has", holding, BasketCount(), PREFIX)
        alone = float(one.values[0]), one.margin()
    asked = replace(case.problem(len(back), people), people_margin=margin)
    if alone is not None:
        asked = replace(asked, people=max(0, int(alone[0])), people_margin=alone[1])
    listed = None if asked.item_count == MAX_LENGTH else asked.item_count
    found = _found(case, asked, SealedEngine(engine(inner), listed, max_baskets=most), meter)
    if case.itemsets is None:
        found = _antichains(found, asked)
    patterns = _patterns(case, found, back, (noisy_people, margin), alone)
    if not case.items_known:
        patterns = _without_other_items(patterns)
    if not len(patterns):
        notes.insert(0, NOTHING)
    how = found.chosen or case.mechanism
    guarantee = Guarantee.of(
        case.budget, meter.charges, discovery_delta=case.discovery_delta, neighbours=case.neighbours, public=case.public
    )
    made = Release(
        patterns=patterns,
        guarantee=guarantee,
        mechanism=case.mechanism.name,
        asked=case.record,
        settings=settings_of(how),
        facts={"most baskets of a person": most, **found.facts} if case.baskets.several else dict(found.facts),
        notes=(*notes, *found.notes),
        simulated=meter.simulated,
        when=datetime.now(UTC).date().isoformat(),
        citations=tuple(dict.fromkeys((how.citation, case.mechanism.citation))),
        summary=case.mechanism.summary,
        chosen=found.chosen.name if found.chosen is not None else "",
    )
    return replace(made, patterns=replace(patterns, provenance=made.provenance))


def _capped(case: Case, meter: Meter, engine: Callable[[Any], Engine]) -> tuple[AnyBaskets, list[str]]:
    """Return as many baskets of each person as take part, and say so; from here on the meter reckons with so many."""
    if not case.baskets.several:
        return case.baskets, []
    most = case.max_baskets
    if most is None:
        # Nobody's baskets are capped yet: only what does not depend on how many there are can be asked sensibly.
        meter.max_baskets = MAX_COUNT
        uncapped = SealedEngine(engine(case.baskets), max_baskets=MAX_COUNT)
        most = choose_cap(meter.count(HOW_MANY_EACH, uncapped, each_query(), BASKETS), meter)
    meter.max_baskets = most
    return case.baskets.capped(most, meter.secret()), [cap_told(most, case.max_baskets is None)]


def _found(case: Case, asked: Problem, engine: SealedEngine, meter: Meter) -> Found:
    nothing = Itemsets(np.zeros(1, np.int64), np.empty(0, np.int32))
    blank = np.empty(0, np.float64) if case.question.counts else None
    many = asked.universe().up_to(asked.top) if asked.top is not None else 1
    part = meter.part(meter.left)
    if asked.top is not None and (many == 0 or asked.top == 0):
        return Found(itemsets=nothing, estimates=blank, low=blank, high=blank)
    if asked.top is not None and asked.top > many:
        asked = replace(asked, top=many)
    if asked.item_count == 0:
        return Found(itemsets=nothing, estimates=blank, low=blank, high=blank)
    return case.mechanism.run(engine, asked, part)


def _antichains(found: Found, asked: Problem) -> Found:
    """Leave out what is no pattern, as an item of it stands above another: mechanisms of others may not know of it."""
    kept = asked.mark_antichains(found.itemsets)
    if kept.all():
        return found
    estimates, low, high = (None if one is None else one[kept] for one in (found.estimates, found.low, found.high))
    itemsets = found.itemsets.take(np.flatnonzero(kept))
    return replace(found, itemsets=itemsets, estimates=estimates, low=low, high=high)


def _find_items(
    baskets: AnyBaskets, allowed: Codes, people: int, meter: Meter, engine: Callable[[Any], Engine]
) -> tuple[Codes, str]:
    """Return the items that enough people hold, found with noise; rare items have hardly a chance."""
    inner = SealedEngine(engine(only(baskets, allowed)), max_baskets=meter.max_baskets)
    things = find(inner, meter, "finding the items", FINDING, kept=FINDABLE, least=1, longest=1, people=people)
    found = np.sort(things.itemsets.codes)
    note = (
        f"The list of items was not given: {number_of(len(found), 'item was', 'items were')} found with noise, those "
        f"with about {things.threshold:,} {baskets.unit} or more, of each basket {FINDABLE} items at most."
    )
    return allowed[found], note


def _patterns(
    case: Case, found: Found, back: Codes, people: tuple[int, int], alone: tuple[float, int] | None
) -> Patterns:
    """Return the patterns, ordered by their counts, with labels and with the items that every pattern has.

    `people` is the number of people, as it was counted, with its margin; `alone` the number of people who hold the
    items that every pattern has, with its margin.
    """
    itemsets = _with_prefix(Itemsets(found.itemsets.offsets, back[found.itemsets.codes]), case.required)
    first = Itemsets(np.array([0, case.required_count]), case.required)
    threshold = case.problem(len(back), max(0, people[0])).threshold
    # Among the top they are in any case: no pattern that has them is more frequent.
    listed = case.required_is_pattern and (threshold is None or (alone is not None and alone[0] >= threshold))
    within = people_interval(*people) if case.people is None else None
    if found.estimates is None or not case.question.counts:
        itemsets = _joined(first, itemsets) if listed else itemsets
        return Patterns(
            offsets=itemsets.offsets,
            codes=itemsets.codes,
            counts=np.zeros(len(itemsets), np.int64),
            vocabulary=case.baskets.vocabulary,
            people=max(0, people[0]),
            people_within=within,
            counted=False,
            unit=case.baskets.unit,
            hierarchy=case.baskets.hierarchy,
        )
    estimates, low, high = found.estimates, found.low, found.high
    if low is None or high is None:
        raise AssertionError("estimates come with an interval")
    if alone is not None:
        # Whoever holds a pattern holds the items that every pattern has.
        made = reconcile(int(alone[0]), alone[1], estimates, low, high)
        holders, margin = float(made.people), alone[1]
        estimates, low, high = made.estimates, made.low, made.high
        if listed:
            itemsets = _joined(first, itemsets)
            estimates = np.concatenate(([holders], estimates))
            ends = min(alone[0] - margin, holders), max(alone[0] + margin, holders)
            low, high = np.concatenate(([ends[0]], low)), np.concatenate(([ends[1]], high))
    made = reconcile(people[0], people[1], estimates, low, high)
    order = np.arange(len(itemsets))
    if case.itemsets is None:
        order = np.lexsort((itemsets.sizes, -np.maximum(made.estimates, 0)))
    ordered = itemsets.take(order)
    low, high = made.low, made.high
    if case.baskets.several:
        low, high = cover_draw(made.estimates, low, high, max(0, people[0] + people[1]))
    counts, low, high = whole_counts(made.estimates[order], low[order], high[order])
    return Patterns(
        offsets=ordered.offsets,
        codes=ordered.codes,
        counts=counts,
        vocabulary=case.baskets.vocabulary,
        people=made.people,
        people_within=within,
        low=low,
        high=high,
        unit=case.baskets.unit,
        hierarchy=case.baskets.hierarchy,
    )


def _without_other_items(patterns: Patterns) -> Patterns:
    """Leave out the items that no pattern has: where the list is not public, which others occur must not go along."""
    used = np.unique(patterns.codes)
    codes = np.searchsorted(used, patterns.codes).astype(np.int32)
    return replace(patterns, codes=codes, vocabulary=Vocabulary(patterns.vocabulary.take(used)))


def _with_prefix(itemsets: Itemsets, prefix: Codes) -> Itemsets:
    if not len(prefix):
        return itemsets
    from ..exact import with_prefix

    return Itemsets(*with_prefix(itemsets.offsets, itemsets.codes, prefix))


def _joined(one: Itemsets, other: Itemsets) -> Itemsets:
    return Itemsets(
        np.concatenate((one.offsets, other.offsets[1:] + one.offsets[-1])), np.concatenate((one.codes, other.codes))
    )
