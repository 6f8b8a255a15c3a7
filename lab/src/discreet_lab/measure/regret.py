"""The quality of one release, for comparisons of mechanisms over any question.

`discreet.exact._judging` measures misses and errors; this module has the questions and the data.
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
from .measures import DataKey, Numbers, Run, data_key, load_baskets

DEFAULT = "auto"
"""The mechanism of a release without a named mechanism."""

MINED = 1_000
"""The least number of mined patterns: above the largest question, so that questions share one mining."""


def measure_regret(run: Run) -> Numbers:
    """Return the misses and errors of a mechanism of the curator with public items; the option is ``question``.

    ``answered`` is 0 if the mechanism refuses the question, or if the data have no wanted patterns.
    """
    question, key = ReleaseQuestion.parse(run.asked["question"]), data_key(run)
    wanted_patterns = select_wanted(key, question)
    if wanted_patterns is None:
        return {"answered": 0.0}
    engine = build_engine(key)
    options: dict[str, Any] = {"top": question.top} if question.over is None else {"min_count": wanted_patterns.last}
    if run.line.settings:
        options["settings"] = dict(run.line.settings)
    try:
        release_trial = trial(
            run.baskets,
            seed=derive_seed(run),
            engine=lambda baskets: engine if baskets is engine.baskets else LocalEngine(baskets),
            items="public",
            mechanism=run.line.name,
            lengths=question.lengths,
            epsilon=question.epsilon,
            delta=question.delta,
            **options,
        )
    except MisuseError:
        if run.line.name == DEFAULT:
            raise
        return {"answered": 0.0}
    return {"answered": 1.0} | judged(
        listed_patterns(engine, release_trial.patterns), wanted_patterns, rules=question.lengths is None
    )


def select_wanted(key: DataKey, question: ReleaseQuestion | SimulationQuestion) -> WantedPatterns | None:
    """Return the wanted patterns of a question in the data; None if the data have none."""
    rank = question.top or question.over or 1
    mined_count = max(MINED, 2 * rank)
    count_of_pattern = mine_top(key, question.lengths, mined_count)
    counts = sorted(count_of_pattern.values(), reverse=True)
    if question.over is None:
        last_count = counts[:rank][-1] if counts else 0
        patterns_above = {itemset: count for itemset, count in count_of_pattern.items() if count > last_count}
        return (
            WantedPatterns(many=min(rank, len(counts)), last=last_count, counts=patterns_above, threshold=False)
            if counts
            else None
        )
    # The smallest mined count may have further patterns, which were not mined: it is no threshold.
    complete_counts = [count for count in counts if len(counts) < mined_count or count > counts[-1]]
    if not complete_counts:
        return None
    last_count = complete_counts[:rank][-1]
    frequent_patterns = {itemset: count for itemset, count in count_of_pattern.items() if count >= last_count}
    return WantedPatterns(many=len(frequent_patterns), last=last_count, counts=frequent_patterns, threshold=True)


@lru_cache(maxsize=8)
def mine_top(key: DataKey, lengths: int | tuple[int, None] | None, top_count: int) -> dict[Codes, int]:
    """Return the `many` most frequent patterns of the data, with their counts."""
    from discreet.exact import mine

    patterns = mine(load_baskets(*key), top=top_count, lengths=lengths)
    return dict(zip(tuples_of(patterns), patterns.counts.tolist(), strict=True))


@lru_cache(maxsize=1)
def build_engine(key: DataKey) -> LocalEngine:
    """Return one engine for all releases from one data set: it caches exact answers."""
    baskets: Baskets = load_baskets(*key)
    return LocalEngine(baskets)


def derive_seed(run: Run) -> int:
    """Return a seed for this run only: with equal seeds, all questions and mechanisms would have equal noise."""
    name = run.data.name if run.data else ""
    text = f"{run.seed} {name} {run.line.name} {run.asked['question']}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6])
