"""How good one release is, so that mechanisms can be compared over any question.

What it misses, and how far off it is, is measured by `discreet.exact._judging`; here are the questions and the data.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Any

from discreet.baskets import Baskets
from discreet.errors import MisuseError
from discreet.exact import Codes, LocalEngine, WantedPatterns, judged, listed_patterns, tuples_of
from discreet.planning import trial

from ..run.questions import ReleaseQuestion, SimulationQuestion
from .measures import DataKey, Numbers, Run, data_key, loaded

DEFAULT = "auto"
"""Whose regret it is: the mechanism that is taken where none is named."""

MINED = 1_000
"""How many patterns are mined at least, so that questions of one length share them, and ties at their ends are seen."""


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
    from discreet.exact import mine

    found = mine(loaded(*key), top=many, lengths=lengths)
    return dict(zip(tuples_of(found), found.counts.tolist(), strict=True))


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
