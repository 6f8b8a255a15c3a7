"""How good one release is, so that mechanisms can be compared over any question: what it misses, and how far off it is.

The numbers are defined so that nobody looks better by finding less. Everything is measured over the patterns that are
wanted, the same for all: a pattern that a release does not list counts with what the release says about it, which is
that no more people hold it than the last one listed, or than the threshold.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...baskets.core import Baskets
from ...errors import MisuseError
from ...exact.engine import LocalEngine
from ...exact.query import Supports
from ...results.itemsets import Itemsets
from ...results.patterns import Patterns
from ..run.questions import ReleaseQuestion, SimulationQuestion
from ..run.trial import trial
from .measures import DataKey, Numbers, Run, data_key, loaded

DEFAULT = "auto"
"""Whose regret it is: the mechanism that is taken where none is named."""

Codes: TypeAlias = tuple[int, ...]
F64: TypeAlias = NDArray[np.float64]

MINED = 1_000
"""How many patterns are mined at least, so that questions of one length share them, and ties at their ends are seen."""


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


def regret(run: Run) -> Numbers:
    """Run a mechanism of the curator with a public list of items, asked by ``question``.

    ``answered`` is 0 where the mechanism does not answer such questions, or where the data have no such patterns.
    """
    question, key = ReleaseQuestion.parse(run.asked["question"]), data_key(run)
    wanted = wanted_patterns(key, question)
    if wanted is None:
        return {"answered": 0.0}
    engine = engine_of(key)
    asked: dict[str, Any] = {"top": question.top} if question.over is None else {"min_count": wanted.last}
    if run.line.settings:
        asked["settings"] = dict(run.line.settings)
    try:
        found = trial(
            run.baskets,
            seed=seed_of(run),
            engine=lambda baskets: engine if baskets is engine.baskets else LocalEngine(baskets),
            items="public",
            mechanism=run.line.name,
            lengths=question.lengths,
            epsilon=question.epsilon,
            delta=question.delta,
            **asked,
        )
    except MisuseError:
        if run.line.name == DEFAULT:
            raise
        return {"answered": 0.0}
    return {"answered": 1.0} | judged(listed_patterns(engine, found.patterns), wanted, rules=question.lengths is None)


def judged(listed: ListedPatterns, wanted: WantedPatterns, *, rules: bool) -> Numbers:
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


def listed_patterns(engine: LocalEngine, patterns: Patterns) -> ListedPatterns:
    """Return what was released or found beside how many people really hold it."""
    itemsets = Itemsets(patterns.offsets, patterns.codes)
    true = engine.answer(Supports(itemsets)) if len(patterns) else np.empty(0)
    nothing = np.full(len(patterns), np.nan)
    return ListedPatterns(
        itemsets=_tuples(patterns),
        said=patterns.counts.astype(np.float64),
        low=nothing if patterns.low is None else patterns.low,
        high=nothing if patterns.high is None else patterns.high,
        true=true.astype(np.float64),
    )


def _tuples(patterns: Patterns) -> list[Codes]:
    codes = patterns.codes.tolist()
    return [tuple(codes[start:end]) for start, end in pairwise(patterns.offsets.tolist())]


def wanted_patterns(key: DataKey, question: ReleaseQuestion | SimulationQuestion) -> WantedPatterns | None:
    """Return what a question asks for in the data; None where they have no such patterns."""
    rank = question.top or question.over or 1
    many = max(MINED, 2 * rank)
    found = mined(key, question.lengths, many)
    counts = sorted(found.values(), reverse=True)
    if question.over is None:
        last = counts[:rank][-1] if counts else 0
        above = {itemset: count for itemset, count in found.items() if count > last}
        return WantedPatterns(many=min(rank, len(counts)), last=last, counts=above, threshold=False) if counts else None
    # At a count that may go on beyond what was mined, thresholds would have patterns without number.
    known = [count for count in counts if len(counts) < many or count > counts[-1]]
    if not known:
        return None
    last = known[:rank][-1]
    over = {itemset: count for itemset, count in found.items() if count >= last}
    return WantedPatterns(many=len(over), last=last, counts=over, threshold=True)


@lru_cache(maxsize=8)
def mined(key: DataKey, lengths: int | tuple[int, None] | None, many: int) -> dict[Codes, int]:
    """Return the most frequent patterns of the data, with their counts."""
    from ...exact.mine import mine

    found = mine(loaded(*key), top=many, lengths=lengths)
    return dict(zip(_tuples(found), found.counts.tolist(), strict=True))


@lru_cache(maxsize=1)
def engine_of(key: DataKey) -> LocalEngine:
    """Return one engine for all releases from the same data: what it keeps between them are exact answers."""
    baskets: Baskets = loaded(*key)
    return LocalEngine(baskets)


def seed_of(run: Run) -> int:
    """Return a seed of this run's own: equal seeds would give the same noise to every question and mechanism."""
    name = run.data.name if run.data else ""
    text = f"{run.seed} {name} {run.line.name} {run.asked['question']}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6])
