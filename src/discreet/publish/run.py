"""Making a release: from here on nothing but what a meter lets out may depend on the data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..baskets.core import AnyBaskets, Codes, Vocabulary
from ..baskets.recoding import only
from ..checks import LARGEST, UNBOUNDED
from ..curator.mechanism import Found, Task, settings_of
from ..curator.mechanisms.threshold import find
from ..exact.engine import Engine, engine_of
from ..exact.query import BasketCount
from ..privacy.guarantee import Guarantee
from ..privacy.meter import Meter
from ..privacy.sampling.sources import Source
from ..privacy.sealed import SealedEngine
from ..results.itemsets import Itemsets
from ..results.patterns import Patterns
from ..results.show import NOTHING
from ..wording import number_of
from .basket_cap import cap_told, choose_cap, each_query
from .job import BASKETS, FINDABLE, FINDING, HOW_MANY_EACH, PEOPLE, PREFIX, Job
from .result import Release


def carry_out(job: Job, source: Source, stage: Callable[[str], object] | None = None) -> Release:
    """Spend the budget of a job and make its release; with a seeded source it is marked as simulated.

    `stage` is called with the name of each step that is paid for, before it is taken: the names are released.
    """
    return metered(job, Meter(job.budget, job.neighbours, source, discovery_delta=job.discovery_delta, stage=stage))


def metered(job: Job, meter: Meter, engine: Callable[[Any], Engine] = engine_of) -> Release:
    """Make the release of a job with what a meter lets out of an engine; the audit brings its own of both."""
    baskets, notes = _capped(job, meter, engine)
    most = meter.max_baskets
    people, margin = job.people, 0
    within: tuple[int, int] | None = None
    if people is None:
        everyone = SealedEngine(engine(baskets), max_baskets=most)
        noisy = meter.count(job.counting, everyone, BasketCount(), PEOPLE)
        counted, margin = int(noisy.values[0]), noisy.margin()
        people, within = max(0, counted), (max(0, counted - margin), max(0, counted + margin))
    inner = baskets
    if job.fixed:
        inner = inner.holding(job.prefix)
    # Given itemsets are counted over the whole list; patterns are looked for among the items that may be added.
    back = job.allowed if job.itemsets is None else np.arange(len(job.baskets.vocabulary), dtype=np.int32)
    if job.finding:
        back, note = _find_items(inner, back, people + margin, meter, engine)
        notes.append(note)
    inner = only(inner, back)
    alone: tuple[float, int] | None = None
    if job.counted:
        holding = SealedEngine(engine(inner), max_baskets=most)
        one = meter.count("counting the items every pattern has", holding, BasketCount(), PREFIX)
        alone = float(one.values[0]), one.margin()
    asked = replace(job.asked(len(back), people), people_margin=margin)
    if alone is not None:
        asked = replace(asked, people=max(0, int(alone[0])), people_margin=alone[1])
    listed = None if asked.items == UNBOUNDED else asked.items
    found = _found(job, asked, SealedEngine(engine(inner), listed, max_baskets=most), meter)
    if job.itemsets is None:
        found = _antichains(found, asked)
    patterns = replace(_patterns(job, found, back, people, alone), people_within=within)
    if not job.listed:
        patterns = _without_other_items(patterns)
    if not len(patterns):
        notes.insert(0, NOTHING)
    how = found.chosen or job.mechanism
    guarantee = Guarantee.of(
        job.budget, meter.charges, discovery_delta=job.discovery_delta, neighbours=job.neighbours, public=job.public
    )
    made = Release(
        patterns=patterns,
        guarantee=guarantee,
        mechanism=job.mechanism.name,
        asked=job.recorded_question,
        settings=settings_of(how),
        facts={"most baskets of a person": most, **found.facts} if job.baskets.several else dict(found.facts),
        notes=(*notes, *found.notes),
        simulated=meter.simulated,
        when=datetime.now(UTC).date().isoformat(),
        citations=tuple(dict.fromkeys((how.citation, job.mechanism.citation))),
        summary=job.mechanism.summary,
        chosen=found.chosen.name if found.chosen is not None else "",
    )
    return replace(made, patterns=replace(patterns, about=made.to_dict()))


def _capped(job: Job, meter: Meter, engine: Callable[[Any], Engine]) -> tuple[AnyBaskets, list[str]]:
    """Return as many baskets of each person as take part, and say so; from here on the meter reckons with so many."""
    if not job.baskets.several:
        return job.baskets, []
    most = job.max_baskets
    if most is None:
        # Nobody's baskets are capped yet: only what does not depend on how many there are can be asked sensibly.
        meter.max_baskets = LARGEST
        uncapped = SealedEngine(engine(job.baskets), max_baskets=LARGEST)
        most = choose_cap(meter.count(HOW_MANY_EACH, uncapped, each_query(), BASKETS), meter)
    meter.max_baskets = most
    return job.baskets.capped(most, meter.secret()), [cap_told(most, job.max_baskets is None)]


def _found(job: Job, asked: Task, engine: SealedEngine, meter: Meter) -> Found:
    nothing = Itemsets(np.zeros(1, np.int64), np.empty(0, np.int32))
    blank = np.empty(0, np.float64) if job.counts else None
    many = asked.universe().up_to(asked.top) if asked.top is not None else 1
    part = meter.part(meter.left)
    if asked.top is not None and (many == 0 or asked.top == 0):
        return Found(itemsets=nothing, estimates=blank, low=blank, high=blank)
    if asked.top is not None and asked.top > many:
        asked = replace(asked, top=many)
    if asked.items == 0:
        return Found(itemsets=nothing, estimates=blank, low=blank, high=blank)
    return job.mechanism.run(engine, asked, part)


def _antichains(found: Found, asked: Task) -> Found:
    """Leave out what is no pattern, as an item of it stands above another: mechanisms of others may not know of it."""
    kept = asked.antichains(found.itemsets)
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


def _patterns(job: Job, found: Found, back: Codes, people: int, alone: tuple[float, int] | None) -> Patterns:
    """Put labels and the items every pattern has back on, and order the patterns by their estimates."""
    itemsets = _with_prefix(Itemsets(found.itemsets.offsets, back[found.itemsets.codes]), job.prefix)
    first = Itemsets(np.array([0, job.fixed]), job.prefix)
    threshold = job.asked(len(back), people).count
    # Among the top they are in any case: no pattern that has them is more frequent.
    listed = job.alone and (threshold is None or (alone is not None and alone[0] >= threshold))
    if found.estimates is None or not job.counts:
        itemsets = _joined(first, itemsets) if listed else itemsets
        return Patterns(
            offsets=itemsets.offsets,
            codes=itemsets.codes,
            counts=np.zeros(len(itemsets), np.int64),
            vocabulary=job.baskets.vocabulary,
            people=people,
            counted=False,
            unit=job.baskets.unit,
            hierarchy=job.baskets.hierarchy,
        )
    estimates, low, high = found.estimates, found.low, found.high
    if low is None or high is None:
        raise AssertionError("estimates come with an interval")
    if alone is not None and listed:
        value, margin = alone
        itemsets = _joined(first, itemsets)
        estimates = np.concatenate(([value], estimates))
        low, high = np.concatenate(([value - margin], low)), np.concatenate(([value + margin], high))
    estimates, low, high = (np.maximum(column, 0) for column in (estimates, low, high))
    order = np.arange(len(itemsets))
    if job.itemsets is None:
        order = np.lexsort((itemsets.sizes, -estimates))
    ordered = itemsets.take(order)
    counts, low, high = _whole(estimates[order], low[order], high[order])
    return Patterns(
        offsets=ordered.offsets,
        codes=ordered.codes,
        counts=counts,
        vocabulary=job.baskets.vocabulary,
        people=people,
        low=low,
        high=high,
        unit=job.baskets.unit,
        hierarchy=job.baskets.hierarchy,
    )


def shown_counts(found: Found) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the counts that a mechanism found as they are shown, with their intervals."""
    if found.estimates is None or found.low is None or found.high is None:
        raise AssertionError("counts were asked for, and come with an interval")
    return _whole(*(np.maximum(column, 0) for column in (found.estimates, found.low, found.high)))


def _whole(
    estimates: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Return estimates and intervals in whole numbers.

    True counts are whole, so nothing is lost by whole ends; and a count that is shown lies within its interval.
    """
    counts = np.rint(estimates).astype(np.int64)
    return counts, np.minimum(np.ceil(low), counts), np.maximum(np.floor(high), counts)


def _without_other_items(patterns: Patterns) -> Patterns:
    """Leave out the items that no pattern has: where the list is not public, which others occur must not go along."""
    used = np.unique(patterns.codes)
    codes = np.searchsorted(used, patterns.codes).astype(np.int32)
    return replace(patterns, codes=codes, vocabulary=Vocabulary(patterns.vocabulary.take(used)))


def _with_prefix(itemsets: Itemsets, prefix: Codes) -> Itemsets:
    if not len(prefix):
        return itemsets
    from ..exact.search import with_prefix

    return Itemsets(*with_prefix(itemsets.offsets, itemsets.codes, prefix))


def _joined(one: Itemsets, other: Itemsets) -> Itemsets:
    return Itemsets(
        np.concatenate((one.offsets, other.offsets[1:] + one.offsets[-1])), np.concatenate((one.codes, other.codes))
    )
