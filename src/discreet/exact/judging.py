"""How good a list of patterns is that was found with noise: what it misses, and how far off its counts are.

The numbers are defined so that nobody looks better by finding less. Everything is measured over the patterns that are
wanted, the same for all: a pattern that is not listed counts with what the list says about it, which is that no more
people hold it than the last one listed, or than the threshold. Where nothing ties, what is missed is one minus the
recall of `metrics`, or one minus its F-score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..results.itemsets import Itemsets
from ..results.patterns import Patterns
from .engine import Engine
from .query import Supports

Codes: TypeAlias = tuple[int, ...]
F64: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class WantedPatterns:
    """The patterns that are wanted, as they are in the data.

    Parameters
    ----------
    many
        How many there are.
    last
        The count that makes a pattern one of them; of a top, several may have it that do not all fit.
    counts
        The wanted patterns that are more frequent than the last; of a threshold all of them.
    threshold
        Whether they are all patterns over a threshold, and not the top of all.
    """

    many: int
    last: int
    counts: Mapping[Codes, int]
    threshold: bool


@dataclass(frozen=True, kw_only=True)
class ListedPatterns:
    """What a release lists: patterns, their released counts and intervals, and how many people really hold each."""

    itemsets: Sequence[Codes]
    said: F64
    low: F64
    high: F64
    true: F64


def judged(listed: ListedPatterns, wanted: WantedPatterns, *, rules: bool) -> dict[str, float]:
    """Return what a release misses and how far off it is.

    ``missed`` is the share of a top that is not listed; whatever as many people hold as the last one wanted is right,
    so ties are held against nobody. Over a threshold it is one minus the F-score, so that listing everything does not
    help. ``median_error`` and ``high_error`` are the median and the 90th percentile of relative errors over the wanted
    patterns. An error of less than one person counts as one. ``confidence_error`` is the mean error of the confidences
    of rules; one that cannot be read off the release counts as 0. ``covered`` is the share of intervals that hold the
    true count, over all that is listed.
    """
    many = len(listed.itemsets)
    right = min(int((listed.true >= wanted.last).sum()), wanted.many)
    missed = 1 - 2 * right / (many + wanted.many) if wanted.threshold else 1 - right / wanted.many
    errors = _errors(listed, wanted)
    numbers = {
        "found": float(many),
        "missed": missed,
        "median_error": float(np.median(errors)),
        "high_error": float(np.quantile(errors, 0.9)),
    }
    if many:
        numbers["covered"] = float(((listed.low <= listed.true) & (listed.true <= listed.high)).mean())
    if rules and (off := _confidence_errors(listed, wanted)):
        numbers["confidence_error"] = float(np.mean(off))
    return numbers


def _errors(listed: ListedPatterns, wanted: WantedPatterns) -> F64:
    """Return the relative error of each wanted pattern; of those that tie for the last places, listed ones go first."""
    rest = float(wanted.last) if wanted.threshold else float(listed.said.min(initial=np.inf)) if len(listed.said) else 0
    known = dict(zip(listed.itemsets, listed.said.tolist(), strict=True))
    said = [known.get(itemset, rest) for itemset in wanted.counts]
    places = wanted.many - len(said)
    tied = [] if wanted.threshold else listed.said[listed.true == wanted.last].tolist()[:places]
    said += tied + [rest] * (places - len(tied))
    true = np.array([*wanted.counts.values(), *([wanted.last] * places)], np.float64)
    off: F64 = np.maximum(np.abs(np.array(said) - true), 1) / true
    return off


def _confidence_errors(listed: ListedPatterns, wanted: WantedPatterns) -> list[float]:
    """Return the error of the confidence of each rule with one item on the right, of the patterns before the last."""
    known = dict(zip(listed.itemsets, listed.said.tolist(), strict=True))
    off = []
    for itemset, count in wanted.counts.items():
        for place in range(len(itemset) if len(itemset) > 1 else 0):
            body = itemset[:place] + itemset[place + 1 :]
            # Whoever holds a pattern holds its parts, so these are as frequent and wanted too.
            true = count / wanted.counts[body]
            readable = itemset in known and known.get(body, 0) > 0
            said = min(max(known[itemset] / known[body], 0.0), 1.0) if readable else 0.0
            off.append(abs(said - true))
    return off


def listed_patterns(engine: Engine, patterns: Patterns) -> ListedPatterns:
    """Return what was released or found beside how many people really hold it."""
    itemsets = Itemsets(patterns.offsets, patterns.codes)
    true = engine.answer(Supports(itemsets)) if len(patterns) else np.empty(0)
    nothing = np.full(len(patterns), np.nan)
    return ListedPatterns(
        itemsets=tuples_of(patterns),
        said=patterns.counts.astype(np.float64),
        low=nothing if patterns.low is None else patterns.low,
        high=nothing if patterns.high is None else patterns.high,
        true=true.astype(np.float64),
    )


def tuples_of(patterns: Patterns) -> list[Codes]:
    """Return the codes of each pattern."""
    codes = patterns.codes.tolist()
    return [tuple(codes[start:end]) for start, end in pairwise(patterns.offsets.tolist())]
