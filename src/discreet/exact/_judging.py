"""The quality of a list of patterns found with noise: missed patterns, and errors of counts.

No measure improves if fewer patterns are listed. All measures run over the wanted patterns, which are fixed: for an
unlisted pattern, the list implies a count of at most the last listed count, or of the threshold. Without ties, the
missed share is one minus the recall of `metrics`, or one minus its F-score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..results import Itemsets, Patterns
from ._engine import Engine
from ._query import Supports

Codes: TypeAlias = tuple[int, ...]
F64: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class WantedPatterns:
    """The wanted patterns, with their true counts.

    Parameters
    ----------
    many
        The number of wanted patterns.
    last
        The smallest wanted count; for a top, more patterns may tie at this count than fit.
    counts
        The wanted patterns with a count over `last`; for a threshold, all wanted patterns.
    threshold
        Whether the wanted patterns are all patterns over a threshold, instead of a top.
    """

    many: int
    last: int
    counts: Mapping[Codes, int]
    threshold: bool


@dataclass(frozen=True, kw_only=True)
class ListedPatterns:
    """The listed patterns of a release, with released counts, intervals and true counts."""

    itemsets: Sequence[Codes]
    released_counts: F64
    low: F64
    high: F64
    true_counts: F64


def judged(release: ListedPatterns, target: WantedPatterns, *, rules: bool) -> dict[str, float]:
    """Return the missed share and the errors of a release.

    ``missed`` is the unlisted share of a top; a pattern that ties with the last wanted count is correct. Over a
    threshold, ``missed`` is one minus the F-score, so that listing all patterns does not help. ``median_error`` and
    ``high_error`` are the median and the 90th percentile of relative errors over the wanted patterns; an error of less
    than one person counts as one person. ``confidence_error`` is the mean error of the confidences of rules; a
    confidence that cannot be computed from the release counts as 0. ``covered`` is the share of listed intervals that
    contain the true count.
    """
    listed_count = len(release.itemsets)
    # More patterns may tie at the last count than the top has places.
    correct_count = min(int((release.true_counts >= target.last).sum()), target.many)
    missed_share = (
        1 - 2 * correct_count / (listed_count + target.many) if target.threshold else 1 - correct_count / target.many
    )
    errors = _errors(release, target)
    numbers = {
        "found": float(listed_count),
        "missed": missed_share,
        "median_error": float(np.median(errors)),
        "high_error": float(np.quantile(errors, 0.9)),
    }
    if listed_count:
        numbers["covered"] = float(
            ((release.low <= release.true_counts) & (release.true_counts <= release.high)).mean()
        )
    if rules and (confidence_errors := _confidence_errors(release, target)):
        numbers["confidence_error"] = float(np.mean(confidence_errors))
    return numbers


def _errors(release: ListedPatterns, target: WantedPatterns) -> F64:
    """Return the relative error of each wanted pattern; among ties at the last places, listed patterns go first."""
    # The list implies this count for an unlisted pattern: at most the last listed count, or the threshold.
    fallback_count = (
        float(target.last)
        if target.threshold
        else float(release.released_counts.min(initial=np.inf))
        if len(release.released_counts)
        else 0
    )
    released = dict(zip(release.itemsets, release.released_counts.tolist(), strict=True))
    estimates = [released.get(itemset, fallback_count) for itemset in target.counts]
    # The last places of a top are filled by patterns that tie at the last count.
    places = target.many - len(estimates)
    tied_counts = (
        [] if target.threshold else release.released_counts[release.true_counts == target.last].tolist()[:places]
    )
    estimates += tied_counts + [fallback_count] * (places - len(tied_counts))
    true_counts = np.array([*target.counts.values(), *([target.last] * places)], np.float64)
    errors: F64 = np.maximum(np.abs(np.array(estimates) - true_counts), 1) / true_counts
    return errors


def _confidence_errors(release: ListedPatterns, target: WantedPatterns) -> list[float]:
    """Return the confidence error of each rule with one item on the right, over patterns above the last."""
    released = dict(zip(release.itemsets, release.released_counts.tolist(), strict=True))
    errors = []
    for itemset, count in target.counts.items():
        for place in range(len(itemset) if len(itemset) > 1 else 0):
            body = itemset[:place] + itemset[place + 1 :]
            # A subset is at least as frequent as the pattern, and so wanted too.
            confidence = count / target.counts[body]
            readable = itemset in released and released.get(body, 0) > 0
            estimate = min(max(released[itemset] / released[body], 0.0), 1.0) if readable else 0.0
            errors.append(abs(estimate - confidence))
    return errors


def listed_patterns(engine: Engine, patterns: Patterns) -> ListedPatterns:
    """Return released patterns beside their true counts."""
    itemsets = Itemsets(patterns.offsets, patterns.codes)
    true_counts = engine.answer(Supports(itemsets)) if len(patterns) else np.empty(0)
    # NaN compares as false, so a release without intervals covers nothing.
    no_interval = np.full(len(patterns), np.nan)
    return ListedPatterns(
        itemsets=tuples_of(patterns),
        released_counts=patterns.counts.astype(np.float64),
        low=no_interval if patterns.low is None else patterns.low,
        high=no_interval if patterns.high is None else patterns.high,
        true_counts=true_counts.astype(np.float64),
    )


def tuples_of(patterns: Patterns) -> list[Codes]:
    """Return the codes of each pattern."""
    codes = patterns.codes.tolist()
    return [tuple(codes[start:end]) for start, end in pairwise(patterns.offsets.tolist())]
