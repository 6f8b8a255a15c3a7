"""One trial on data: a release with seeded noise, measured against what is true of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from math import ceil, isfinite
from typing import Any

import numpy as np

from ..baskets import build_code_table
from ..checks import MAX_COUNT
from ..errors import LimitError, MisuseError
from ..exact import Engine, WantedPatterns, judged, listed_patterns, mine, tuples_of
from ..local.study import expected_counts
from ..privacy import Meter
from ..privacy.sampling import SimulationSource
from ..publish import Case, run_case
from ..results import Patterns, Trial
from ._trying import interval_of

# The most patterns that may lie over a threshold.
_MOST = 1_000_000


def wanted_patterns(case: Case, scale: float = 1.0) -> WantedPatterns:
    """Return what is asked for, as it is in the data; mined once for all trials."""
    vocabulary = case.baskets.vocabulary
    barred = np.setdiff1d(np.arange(len(vocabulary), dtype=np.int32), np.union1d(case.extra_items, case.required_items))
    which: dict[str, Any] = {
        "lengths": (case.question.min_length, case.question.max_length),
        "contains": vocabulary.take(case.required_items).to_pylist(),
        "excludes": vocabulary.take(barred).to_pylist(),
    }
    threshold = case.question.top is None
    if case.question.top is not None:
        found = mine(case.baskets, top=case.question.top, **which)
        last = round(int(found.counts.min(initial=MAX_COUNT)) * scale)
    else:
        people = round(len(case.baskets) * scale)
        last = case.question.min_count or max(1, ceil(case.question.min_support * people))
        try:
            found = mine(case.baskets, min_count=max(1, ceil(last / scale)), limit=_MOST, **which)
        except LimitError:
            raise LimitError.format(
                "More than {many:,} patterns lie over this threshold: ask for a larger one, for shorter patterns "
                "({lengths=}), or for the first of them ({top=}).",
                many=_MOST,
            ) from None
    if not len(found):
        raise MisuseError.format(
            "Nobody in these data holds such a pattern, so there is nothing to find: ask for others, for a smaller "
            "threshold, or give the list of items that is theirs ({items=})."
        )
    counts = {one: round(count * scale) for one, count in zip(tuples_of(found), found.counts.tolist(), strict=True)}
    above = counts if threshold else {one: count for one, count in counts.items() if count > last}
    return WantedPatterns(many=len(found), last=last, counts=above, threshold=threshold)


def tried(case: Case, wanted: WantedPatterns, seed: int, engine: Callable[[Any], Engine], truth: Engine) -> Trial:
    """Make one release with seeded noise, and measure it.

    Parameters
    ----------
    case, wanted
        The question, and what is true of it.
    seed
        The same seed gives the same noise.
    engine
        Who answers for baskets: anew for each trial, so that it takes as long as a release would.
    truth
        An engine over all baskets, kept over trials, to look up what was found.
    """
    began = time.perf_counter()
    meter = Meter(case.budget, case.neighbours, SimulationSource(seed), discovery_delta=case.discovery_delta)
    release = run_case(case, meter, engine)
    seconds = time.perf_counter() - began
    found = _coded(release.patterns, case)
    listed = listed_patterns(truth, found)
    numbers = judged(listed, wanted, rules=False)
    # Where people have several baskets, an interval is for the weighed count: `publish/basket_cap.md`.
    true_counts = listed.true_counts
    if case.baskets.several:
        cap = int(release.facts["most baskets of a person"])
        true_counts = cap * expected_counts(case.baskets, found, cap)
    margin = interval_of(release.patterns)
    return Trial(
        found=1 - numbers["missed"],
        error=numbers["median_error"],
        listed=len(found),
        held=int(((listed.low <= true_counts) & (true_counts <= listed.high)).sum()),
        margin=margin if isfinite(margin) else None,
        seconds=seconds,
        chosen=release.chosen,
    )


def _coded(patterns: Patterns, case: Case) -> Patterns:
    """Return released patterns in the codes of the data: where the list is not public, a release numbers items anew."""
    vocabulary = case.baskets.vocabulary
    if patterns.vocabulary is vocabulary:
        return patterns
    table = build_code_table(patterns.vocabulary, vocabulary)
    return replace(patterns, codes=table[patterns.codes], vocabulary=vocabulary)
