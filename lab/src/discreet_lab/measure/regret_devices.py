"""The quality of the outcome of one local protocol, for comparisons of protocols over any question to devices.

The loss of the normalised cumulative rank replaces misses. Errors are compared on patterns that two protocols both
find, so that each run reports the error of each wanted pattern, by the place of the pattern.
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
from .measures import DataKey, Numbers, Run, data_key, load_baskets
from .regret import MINED, build_engine, derive_seed, mine_top, select_wanted

DEFAULT = "adept"
"""The protocol of a study without a named protocol."""
ERROR = "error of "
"""The prefix of the metric of one wanted pattern's error; the place of the pattern among the wanted follows."""


def measure_regret(run: Run) -> Numbers:
    """Return the loss and the errors of a local protocol; the option is ``question``. Sums of reports are drawn.

    ``answered`` is 0 if the protocol refuses the question, or if the data have no wanted patterns.
    """
    question, key = SimulationQuestion.parse(run.asked["question"]), data_key(run)
    wanted_patterns = select_wanted(key, question)
    if wanted_patterns is None:
        return {"answered": 0.0}
    options: dict[str, Any] = {"top": question.top, "least": question.least, "epsilon": question.epsilon}
    try:
        outcome = simulate(
            run.baskets, build_protocol(run, question), seed=derive_seed(run), speed="aggregated", **options
        )
    except MisuseError:
        if run.line.name == DEFAULT:
            raise
        return {"answered": 0.0}
    return {"answered": 1.0} | judge_devices(listed_patterns(build_engine(key), outcome.patterns), wanted_patterns)


def build_protocol(run: Run, question: SimulationQuestion) -> Protocol:
    """Return the protocol of a line with its settings; `reference` gets the true top."""
    from discreet.registry import protocol

    if run.line.name == Reference.name:
        return build_reference(data_key(run), question)
    plan: Protocol = protocol(run.line.name, dict(run.line.settings))
    return plan


def build_reference(key: DataKey, question: SimulationQuestion) -> Reference:
    """Return the protocol that asks all people about the true top, twice as many patterns as wanted."""
    count_of_pattern = mine_top(key, question.lengths, max(MINED, CANDIDATES * question.top))
    candidates = sorted(count_of_pattern, key=lambda pattern: (-count_of_pattern[pattern], len(pattern), pattern))[
        : CANDIDATES * question.top
    ]
    people, last_count = len(load_baskets(*key)), count_of_pattern[candidates[min(question.top, len(candidates)) - 1]]
    itemsets = tuple(sorted(candidates, key=lambda pattern: (len(pattern), pattern)))
    return Reference(itemsets=itemsets, near=last_count / people)


def judge_devices(patterns: ListedPatterns, wanted_patterns: WantedPatterns) -> Numbers:
    """Return the loss of an outcome, the share of right intervals, and the relative error of each wanted pattern in it.

    An error of less than one person counts as one person.
    """
    listed_count = len(patterns.itemsets)
    numbers = {"found": float(listed_count), "missed": 1 - compute_cumulative_rank(patterns, wanted_patterns)}
    if listed_count:
        numbers["covered"] = float(
            ((patterns.low <= patterns.true_counts) & (patterns.true_counts <= patterns.high)).mean()
        )
    places = {itemset: place for place, itemset in enumerate(wanted_patterns.counts)}
    for itemset, released_count, true_count in zip(
        patterns.itemsets, patterns.released_counts.tolist(), patterns.true_counts.tolist(), strict=True
    ):
        if itemset in places:
            numbers[f"{ERROR}{places[itemset]}"] = max(abs(released_count - true_count), 1.0) / true_count
    return numbers


def compute_cumulative_rank(patterns: ListedPatterns, wanted_patterns: WantedPatterns) -> float:
    """Return the normalised cumulative rank, in which the order of ties does not count.

    With w wanted patterns, the most frequent pattern is worth w points, the next w - 1, down to 1. Patterns of equal
    count share the points of their places equally, up to the number of these places.
    """
    counts = np.array(
        [
            *wanted_patterns.counts.values(),
            *([wanted_patterns.last] * (wanted_patterns.many - len(wanted_patterns.counts))),
        ]
    )
    counts = np.sort(counts)[::-1]
    points: dict[int, list[int]] = {}
    for rank, count in enumerate(counts.tolist()):
        points.setdefault(count, []).append(wanted_patterns.many - rank)
    listed_of_count: Mapping[int, int] = Counter(np.rint(patterns.true_counts).astype(np.int64).tolist())
    points_reached = sum(
        min(listed_of_count.get(count, 0), len(tied_points)) * sum(tied_points) / len(tied_points)
        for count, tied_points in points.items()
    )
    return points_reached / (wanted_patterns.many * (wanted_patterns.many + 1) / 2)
