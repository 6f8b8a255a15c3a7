"""The scores of a simulation: its patterns or relations against the truth, which is known there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...baskets import Baskets
from ...exact import How, cumulative_rank, f_score, mine, pair_counts, relations, score_relations, squared_error
from ...results import Patterns, Rules
from .. import Protocol
from ._conversation import ProtocolResult, StudyGoal
from ._device_baskets import true_patterns
from ._outcome import Outcome


def score_outcome(
    baskets: Baskets, plan: Protocol, outcome: Outcome, result: ProtocolResult, goal: StudyGoal, max_baskets: int
) -> dict[str, float]:
    """Return the scores of an outcome, by name."""
    if outcome.relations is not None:
        scores = scored_relations(baskets, plan, outcome.relations, goal)
        return scores | (_score_selection(baskets, result, getattr(plan, "how", "together")) if result.selected else {})
    scores = _score_patterns(baskets, outcome.patterns, goal, max_baskets)
    longer = outcome.all_patterns.where(lengths=(2, None))[: goal.top]
    if goal.least == 1 and len(longer):
        # A12: single items are easier to find, so longer patterns have scores of their own.
        longer_scores = _score_patterns(baskets, longer, replace(goal, least=2), max_baskets)
        names = ("normalised cumulative rank", "F-score")
        scores |= {f"{name}, 2 items or more": longer_scores[name] for name in names}
    return scores


def _score_patterns(baskets: Baskets, patterns: Patterns, goal: StudyGoal, max_baskets: int) -> dict[str, float]:
    """Return the scores of patterns; with several baskets per person, against expected counts in drawn baskets."""
    truth = (
        true_patterns(baskets, max_baskets, goal.top, goal.least)
        if baskets.has_receipts
        else mine(baskets, top=goal.top, lengths=(goal.least, None))
    )
    return {
        "normalised cumulative rank": cumulative_rank(patterns, truth, top=goal.top),
        "F-score": f_score(patterns, truth),
        "squared error": squared_error(patterns, truth),
    }


def scored_relations(baskets: Baskets, plan: Any, estimated: Rules, goal: StudyGoal) -> dict[str, float]:
    """Return the scores of relations against the most reliable of the protocol's number of frequent relations."""
    longest, ordered = 3 if getattr(plan, "cascade", 0) else 2, plan.how != "together"
    truth = relations(baskets, how=plan.how, items=plan.items, support=plan.support, top=goal.top, longest=longest)
    score = score_relations(estimated, truth, ordered=ordered)
    scores = {
        "normalised cumulative rank": score.cumulative_rank,
        "F-score": score.f_score,
        "confidence error": score.confidence_error,
        "confidence error of those found": score.found_confidence_error,
    }
    if longest == 3:
        score = score_relations(estimated.where(lengths=3), truth.where(lengths=3), ordered=ordered)
        scores |= {"normalised cumulative rank, 3 items": score.cumulative_rank, "F-score, 3 items": score.f_score}
    return scores


def _score_selection(baskets: Baskets, result: ProtocolResult, how: How) -> dict[str, float]:
    """Return the share of the most frequent true relations that a protocol selected: beside a guess, and chance (D10).

    The number of true relations is that of the selected ones; relations without a holder do not count. A selection of
    most of all relations has a large share by chance, so chance stands beside it. The evidence has another measure: the
    share of the selected *wanted* relations, which are between the most frequent items and ranked by confidence too.
    """
    order = np.array([itemset[0] for itemset in result.itemsets if len(itemset) == 1], np.int64)
    selected, guessed = ({chain for chain in chains if len(chain) == 2} for chains in (result.selected, result.guessed))
    codes, counts = pair_counts(baskets, order, how)
    most_frequent = codes[np.argsort(-counts, kind="stable")[: len(selected)]]
    width = len(order)
    truth = {(int(order[code // width]), int(order[code % width])) for code in most_frequent}
    pair_count = max(1, width * (width - 1))
    return {
        "frequent relations kept by the matrix": len(truth & selected) / max(1, len(truth)),
        "frequent relations kept by the independence guess": len(truth & guessed) / max(1, len(truth)),
        "frequent relations kept by chance": min(1.0, len(selected) / pair_count),
    }
