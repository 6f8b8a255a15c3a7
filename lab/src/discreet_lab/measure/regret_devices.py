"""How good the outcome of one local protocol is, so that protocols can be compared over any question to devices.

What is lost of the normalised cumulative rank takes the place of misses. Counts are compared on patterns that both of
two protocols find, so each run tells the error of every wanted pattern it found, by its place among them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from discreet.errors import MisuseError
from discreet.exact import ListedPatterns, WantedPatterns, listed_patterns
from discreet.local import Protocol
from discreet.local.study import simulate

from ..comparators.reference import CANDIDATES, Reference
from ..run.questions import SimulationQuestion
from .measures import DataKey, Numbers, Run, data_key, loaded
from .regret import MINED, engine_of, mined, seed_of, wanted_patterns

DEFAULT = "adept"
"""Whose regret it is: the protocol that is taken where none is named."""
ERROR = "error of "
"""How the name of the error of one wanted pattern begins; its place among the wanted ones follows."""


def regret_devices(run: Run) -> Numbers:
    """Run a local protocol, asked by ``question``; what its reports add up to is drawn.

    ``answered`` is 0 where the protocol does not answer such questions, or where the data have no such patterns.
    """
    question, key = SimulationQuestion.parse(run.asked["question"]), data_key(run)
    wanted = wanted_patterns(key, question)
    if wanted is None:
        return {"answered": 0.0}
    asked: dict[str, Any] = {"top": question.top, "least": question.least, "epsilon": question.epsilon}
    try:
        found = simulate(run.baskets, protocol_of(run, question), seed=seed_of(run), speed="aggregated", **asked)
    except MisuseError:
        if run.line.name == DEFAULT:
            raise
        return {"answered": 0.0}
    return {"answered": 1.0} | judged_devices(listed_patterns(engine_of(key), found.patterns), wanted)


def protocol_of(run: Run, question: SimulationQuestion) -> Protocol:
    """Return the protocol of a line with its settings; the one that cheats is told the true top."""
    from discreet.registry import protocol

    if run.line.name == Reference.name:
        return true_top(data_key(run), question)
    plan: Protocol = protocol(run.line.name, dict(run.line.settings))
    return plan


def true_top(key: DataKey, question: SimulationQuestion) -> Reference:
    """Return the protocol that asks everybody about twice as many patterns as are wanted, the truly most frequent."""
    found = mined(key, question.lengths, max(MINED, CANDIDATES * question.top))
    best = sorted(found, key=lambda one: (-found[one], len(one), one))[: CANDIDATES * question.top]
    people, last = len(loaded(*key)), found[best[min(question.top, len(best)) - 1]]
    itemsets = tuple(sorted(best, key=lambda one: (len(one), one)))
    return Reference(itemsets=itemsets, near=last / people)


def judged_devices(listed: ListedPatterns, wanted: WantedPatterns) -> Numbers:
    """Return what an outcome misses, which intervals hold, and the relative error of every wanted pattern in it.

    An error of less than one person counts as one.
    """
    many = len(listed.itemsets)
    numbers = {"found": float(many), "missed": 1 - cumulative_rank(listed, wanted)}
    if many:
        numbers["covered"] = float(((listed.low <= listed.true_counts) & (listed.true_counts <= listed.high)).mean())
    places = {itemset: place for place, itemset in enumerate(wanted.counts)}
    for itemset, said, true in zip(
        listed.itemsets, listed.released_counts.tolist(), listed.true_counts.tolist(), strict=True
    ):
        if itemset in places:
            numbers[f"{ERROR}{places[itemset]}"] = max(abs(said - true), 1.0) / true
    return numbers


def cumulative_rank(listed: ListedPatterns, wanted: WantedPatterns) -> float:
    """Return the normalised cumulative rank, in which ties are held against nobody.

    The most frequent pattern is worth as many points as are wanted, the next one less, down to 1. Patterns that as many
    people hold share the points of their places alike, and none is worth more than there are places for.
    """
    counts = np.array([*wanted.counts.values(), *([wanted.last] * (wanted.many - len(wanted.counts)))])
    counts = np.sort(counts)[::-1]
    points: dict[int, list[int]] = {}
    for rank, count in enumerate(counts.tolist()):
        points.setdefault(count, []).append(wanted.many - rank)
    found: Mapping[int, int] = Counter(np.rint(listed.true_counts).astype(np.int64).tolist())
    reached = sum(min(found.get(count, 0), len(one)) * sum(one) / len(one) for count, one in points.items())
    return reached / (wanted.many * (wanted.many + 1) / 2)
