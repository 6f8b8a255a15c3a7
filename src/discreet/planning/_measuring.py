"""A trial on data: a release with seeded noise, measured against the true patterns."""

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
from ._trying import compute_margin

_MAX_PATTERNS = 1_000_000  # patterns over a threshold: larger takes more memory, smaller refuses more thresholds


def mine_wanted_patterns(case: Case, scale: float = 1.0) -> WantedPatterns:
    """Return the true patterns that a question asks for; they are mined once for all trials.

    Parameters
    ----------
    case
        The question and the data.
    scale
        The number of people that a person in the data represents.
    """
    vocabulary, question = case.baskets.vocabulary, case.question
    # The data may have items beyond the public list, which no mechanism can find.
    excluded = np.setdiff1d(
        np.arange(len(vocabulary), dtype=np.int32), np.union1d(case.extra_items, case.required_items)
    )
    bounds: dict[str, Any] = {
        "lengths": (question.min_length, question.max_length),
        "contains": vocabulary.take(case.required_items).to_pylist(),
        "excludes": vocabulary.take(excluded).to_pylist(),
    }
    is_threshold = question.top is None
    if question.top is not None:
        patterns = mine(case.baskets, top=question.top, **bounds)
        min_count = round(int(patterns.counts.min(initial=MAX_COUNT)) * scale)
    else:
        people = round(len(case.baskets) * scale)
        min_count = question.min_count or max(1, ceil(question.min_support * people))
        try:
            patterns = mine(case.baskets, min_count=max(1, ceil(min_count / scale)), limit=_MAX_PATTERNS, **bounds)
        except LimitError:
            raise LimitError.format(
                "More than {many:,} patterns lie over this threshold: ask for a larger one, for shorter patterns "
                "({lengths=}), or for the first of them ({top=}).",
                many=_MAX_PATTERNS,
            ) from None
    if not len(patterns):
        raise MisuseError.format(
            "Nobody in these data holds such a pattern, so there is nothing to find: ask for others, for a smaller "
            "threshold, or give the list of items that is theirs ({items=})."
        )
    counts = {
        itemset: round(count * scale)
        for itemset, count in zip(tuples_of(patterns), patterns.counts.tolist(), strict=True)
    }
    if not is_threshold:
        # Patterns that tie at the last count are interchangeable: a top need not have any particular one.
        counts = {itemset: count for itemset, count in counts.items() if count > min_count}
    return WantedPatterns(many=len(patterns), last=min_count, counts=counts, threshold=is_threshold)


def run_trial(
    case: Case, wanted_patterns: WantedPatterns, seed: int, engine: Callable[[Any], Engine], truth: Engine
) -> Trial:
    """Return the numbers of a release with seeded noise.

    Parameters
    ----------
    case, wanted_patterns
        The question, and its true patterns.
    seed
        The seed of the noise.
    engine
        The function that builds the engine of the release: a new one for each trial, so that the measured time is that
        of a release.
    truth
        An engine over all baskets, for the true counts of the released patterns; it is kept over trials.
    """
    start = time.perf_counter()
    meter = Meter(case.budget, case.neighbours, SimulationSource(seed), discovery_delta=case.discovery_delta)
    release = run_case(case, meter, engine)
    seconds = time.perf_counter() - start
    patterns = _recode(release.patterns, case)
    released = listed_patterns(truth, patterns)
    numbers = judged(released, wanted_patterns, rules=False)
    true_counts = released.true_counts
    if case.baskets.several:
        # The intervals of a release with a basket cap are for weighted counts: `publish/basket_cap.md`.
        cap = int(release.facts["most baskets of a person"])
        true_counts = cap * expected_counts(case.baskets, patterns, cap)
    margin = compute_margin(release.patterns)
    return Trial(
        found=1 - numbers["missed"],
        error=numbers["median_error"],
        listed=len(patterns),
        held=int(((released.low <= true_counts) & (true_counts <= released.high)).sum()),
        margin=margin if isfinite(margin) else None,
        seconds=seconds,
        chosen=release.chosen,
    )


def _recode(patterns: Patterns, case: Case) -> Patterns:
    """Return released patterns in the codes of the data."""
    vocabulary = case.baskets.vocabulary
    if patterns.vocabulary is vocabulary:
        return patterns
    # Without a public list, a release numbers its items anew.
    table = build_code_table(patterns.vocabulary, vocabulary)
    return replace(patterns, codes=table[patterns.codes], vocabulary=vocabulary)
