"""One trial on data: a release with seeded noise, measured against what is true of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from math import ceil, isfinite
from typing import Any

import numpy as np

from ..baskets.recoding import table_onto
from ..checks import LARGEST, support
from ..errors import LimitError, MisuseError, told
from ..exact.engine import Engine
from ..exact.judging import WantedPatterns, judged, listed_patterns, tuples_of
from ..exact.mine import mine
from ..privacy.meter import Meter
from ..privacy.sampling.sources import SimulationSource
from ..publish import Job, metered
from ..results.patterns import Patterns
from ..results.trials import Trial
from .trying import interval_of

# The most patterns that may lie over a threshold.
_MOST = 1_000_000


def wanted_patterns(job: Job, scale: float = 1.0) -> WantedPatterns:
    """Return what is asked for, as it is in the data; mined once for all trials."""
    asked = job.recorded_question
    vocabulary = job.baskets.vocabulary
    barred = np.setdiff1d(np.arange(len(vocabulary), dtype=np.int32), np.union1d(job.allowed, job.prefix))
    which: dict[str, Any] = {
        "lengths": (job.least, job.longest),
        "contains": vocabulary.take(job.prefix).to_pylist(),
        "excludes": vocabulary.take(barred).to_pylist(),
    }
    threshold = job.top is None
    if job.top is not None:
        found = mine(job.baskets, top=job.top, **which)
        last = round(int(found.counts.min(initial=LARGEST)) * scale)
    else:
        people = round(len(job.baskets) * scale)
        last = job.min_count or max(1, ceil(support(asked["min_support"]) * people))
        try:
            found = mine(job.baskets, min_count=max(1, ceil(last / scale)), limit=_MOST, **which)
        except LimitError:
            raise LimitError(
                told(
                    "More than {many:,} patterns lie over this threshold: ask for a larger one, for shorter patterns "
                    "({lengths=}), or for the first of them ({top=}).",
                    many=_MOST,
                )
            ) from None
    if not len(found):
        raise MisuseError(
            told(
                "Nobody in these data holds such a pattern, so there is nothing to find: ask for others, for a smaller "
                "threshold, or give the list of items that is theirs ({items=})."
            )
        )
    counts = {one: round(count * scale) for one, count in zip(tuples_of(found), found.counts.tolist(), strict=True)}
    above = counts if threshold else {one: count for one, count in counts.items() if count > last}
    return WantedPatterns(many=len(found), last=last, counts=above, threshold=threshold)


def tried(job: Job, wanted: WantedPatterns, seed: int, engine: Callable[[Any], Engine], truth: Engine) -> Trial:
    """Make one release with seeded noise, and measure it.

    Parameters
    ----------
    job, wanted
        The question, and what is true of it.
    seed
        The same seed gives the same noise.
    engine
        Who answers for baskets: anew for each trial, so that it takes as long as a release would.
    truth
        An engine over all baskets, kept over trials, to look up what was found.
    """
    seen: list[Engine] = []

    def watched(baskets: Any) -> Engine:
        seen.append(engine(baskets))
        return seen[-1]

    began = time.perf_counter()
    meter = Meter(job.budget, job.neighbours, SimulationSource(seed), discovery_delta=job.discovery_delta)
    release = metered(job, meter, watched)
    seconds = time.perf_counter() - began
    found = _coded(release.patterns, job)
    listed = listed_patterns(truth, found)
    numbers = judged(listed, wanted, rules=False)
    # Where people have several baskets, an interval is for the count among those that took part in this run.
    part = listed.true
    if job.baskets.several:
        part = listed_patterns(seen[1 if job.choosing_cap else 0], found).true
    margin = interval_of(release.patterns)
    return Trial(
        found=1 - numbers["missed"],
        error=numbers["median_error"],
        listed=len(found),
        held=int(((listed.low <= part) & (part <= listed.high)).sum()),
        margin=margin if isfinite(margin) else None,
        seconds=seconds,
        chosen=release.chosen,
    )


def _coded(patterns: Patterns, job: Job) -> Patterns:
    """Return released patterns in the codes of the data: where the list is not public, a release numbers items anew."""
    vocabulary = job.baskets.vocabulary
    if patterns.vocabulary is vocabulary:
        return patterns
    return replace(patterns, codes=table_onto(patterns.vocabulary, vocabulary)[patterns.codes], vocabulary=vocabulary)
