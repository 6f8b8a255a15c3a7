"""Runs over an imagined crowd, and their measures against the true patterns of the crowd.

A mechanism runs as a release, with a meter of seeded noise; a protocol runs as a conversation. So each forecast has the
real shares, scales and oracles of the registered mechanism or protocol.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import ceil, inf, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..curator.steps import fit_rising
from ..errors import LimitError, MisuseError
from ..exact import Supports, mine
from ..local.study import ProtocolResult, StudyGoal, converse, scored_relations
from ..privacy import Budget, Neighbours
from ..privacy.sampling import SimulationSource
from ..publish import Question, build_cases, carry_out
from ..registry import Entry
from ..results import Itemsets, Patterns
from ._crowd import ImaginedCrowd, ScaledEngine

F64 = NDArray[np.float64]

RUNS = 3  # of each mechanism and protocol: their spread is small beside the uncertainty about the data
_MAX_PATTERNS = 1_000_000  # patterns over a threshold: larger takes more memory, smaller refuses more thresholds
_DEVIATIONS = 1.96  # standard deviations of a 95 % interval of a normal variable


@dataclass(frozen=True, kw_only=True)
class ForecastTask:
    """The question of a forecast, in public numbers.

    Parameters
    ----------
    top, min_support
        The number of patterns, or the smallest fraction of the people who hold them: one of the two.
    min_length, max_length
        The smallest and the largest number of items of a pattern; `max_length` is None for no bound.
    budget, neighbours
        The budget, and the neighbouring relation of the curator's guarantee.
    max_baskets
        The largest number of baskets of a person that take part; None if it is selected with noise, or people have one.
    """

    top: int | None
    min_support: Fraction | None
    min_length: int
    max_length: int | None
    budget: Budget
    neighbours: Neighbours
    max_baskets: int | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class CrowdTruth:
    """The true patterns of a crowd or of data that a question asks for, the most frequent first.

    Parameters
    ----------
    itemsets
        The patterns.
    counts
        The number of people who hold each; of baskets, if people have several.
    min_count
        The smallest count of a pattern that the question asks for.
    people
        The number of people, or of baskets.
    """

    itemsets: list[tuple[int, ...]]
    counts: F64
    min_count: float
    people: int

    @classmethod
    def of(cls, patterns: Patterns, min_count: float, people: int) -> CrowdTruth:
        """Return mined patterns as the truth about a number of people, or baskets."""
        scale = people / max(patterns.people, 1)
        codes, ends = patterns.codes.tolist(), patterns.offsets.tolist()
        itemsets = [tuple(sorted(codes[start:end])) for start, end in pairwise(ends)]
        counts = patterns.counts.astype(np.float64) * scale
        return cls(itemsets=itemsets, counts=counts, min_count=min_count * scale, people=people)


def mine_truth(crowd: ImaginedCrowd, task: ForecastTask) -> CrowdTruth:
    """Return the true patterns of an imagined crowd that a question asks for."""
    lengths = (task.min_length, task.max_length)
    if task.min_support is None:
        patterns = mine(crowd.baskets, top=task.top, lengths=lengths)
        min_count = int(patterns.counts.min()) if len(patterns) else 1
    else:
        min_count = max(1, ceil(task.min_support * len(crowd.baskets)))
        try:
            patterns = mine(crowd.baskets, min_count=min_count, lengths=lengths, limit=_MAX_PATTERNS)
        except LimitError:
            raise LimitError.format(
                "Under this curve more than {many:,} patterns are as frequent as that. Ask for a larger "
                "{min_support}, for shorter ones ({lengths=}), or for the first of them ({top=}).",
                many=_MAX_PATTERNS,
            ) from None
    return CrowdTruth.of(patterns, min_count, crowd.counted)


@dataclass(frozen=True, kw_only=True)
class CrowdRun:
    """The result of one run over a crowd, or over data.

    Parameters
    ----------
    precision, recall
        The share of the found patterns that are right, and of the right patterns that are found; None for counts of
        named patterns.
    interval
        The margin of the 95 % interval of a median pattern, in people; in baskets, if people have several.
    found_flags
        Whether each true pattern was found, in their order.
    rounds, reports, size
        The number of rounds, the number of people in the smallest round, and the largest size of a report in bytes: 0
        for a curator.
    questions
        The number of queries to the engine: 0 for a collector.
    chosen
        The mechanism that `auto` selected; empty for other mechanisms.
    participants
        The number of people or baskets that took part, if not all did; else 0.
    max_baskets
        The largest number of baskets of a person that took part, if people have several: 0 otherwise.
    """

    precision: float | None
    recall: float | None
    interval: float
    found_flags: tuple[bool, ...] = ()
    rounds: int = 0
    reports: int = 0
    size: int = 0
    questions: int = 0
    chosen: str = ""
    participants: int = 0
    max_baskets: int = 0


def judge_patterns(
    itemsets: Sequence[tuple[int, ...]], counts: F64, crowd_truth: CrowdTruth
) -> tuple[float, float, tuple[bool, ...]]:
    """Return the precision, the recall, and whether each true pattern was found.

    A pattern is right if it has at least as many holders as the last true pattern, so that ties are no errors.

    Parameters
    ----------
    itemsets, counts
        The found patterns, and their true counts.
    crowd_truth
        The true patterns.
    """
    if not crowd_truth.itemsets:
        return (1.0 if not len(itemsets) else 0.0), 1.0, ()
    is_right = counts >= crowd_truth.min_count - 1e-6
    itemset_set = set(itemsets)
    found_flags = tuple(itemset in itemset_set for itemset in crowd_truth.itemsets)
    recall = min(1.0, float(is_right.sum()) / len(crowd_truth.itemsets))
    return (float(is_right.mean()) if len(itemsets) else 0.0), recall, found_flags


def estimate_visible_support(runs: Sequence[CrowdRun], crowd_truth: CrowdTruth) -> float:
    """Return the smallest support that stands out from noise; infinite if none does.

    It is the smallest support of a pattern that is found in half of the runs, after the share of runs that find a
    pattern is smoothed to rise with its support; and at least half an interval, so that it is never 0.
    """
    interval = float(np.median([run.interval / max(run.participants or crowd_truth.people, 1) for run in runs]))
    if not crowd_truth.itemsets or not runs[0].found_flags:
        return interval
    # Each run finds or misses a pattern; over runs this becomes a probability.
    shares = np.mean([run.found_flags for run in runs], axis=0)
    # A mechanism for single items is not measured by pairs: only lengths count of which it found a pattern.
    lengths = np.array([len(itemset) for itemset in crowd_truth.itemsets])
    relevant = np.flatnonzero(np.isin(lengths, lengths[shares > 0]))
    order = relevant[np.argsort(crowd_truth.counts[relevant], kind="stable")]
    visible_rows = np.flatnonzero(fit_rising(shares[order]) >= 0.5 - 1e-9)
    if not len(visible_rows):
        return inf
    return max(float(crowd_truth.counts[order][visible_rows[0]]) / crowd_truth.people, interval)


def try_mechanism(
    entry: Entry, crowd: ImaginedCrowd, task: ForecastTask, crowd_truth: CrowdTruth, seed: int
) -> CrowdRun:
    """Run a mechanism over a crowd as a release, with seeded noise."""
    # Such a mechanism counts named patterns and finds none: the true patterns are named.
    counts_named = "itemsets" in entry.answers and not {"top", "threshold"} & set(entry.answers)
    if counts_named and not crowd_truth.itemsets:
        raise MisuseError(f"{entry.name} counts patterns that are named, and there is none to name.")
    fields: dict[str, Any] = (
        {"itemsets": [list(itemset) for itemset in crowd_truth.itemsets[: task.top]]}
        if counts_named
        else {"top": task.top, "min_support": task.min_support, "lengths": (task.min_length, task.max_length)}
    )
    question = Question(
        really=True,  # a forecast has no guarantee to warn of
        **fields,
        epsilon=task.budget.epsilon,
        delta=task.budget.delta,
        items="public",
        people=None if crowd.baskets.has_receipts else crowd.people,
        max_baskets=task.max_baskets,
        mechanism=entry.name,
    )
    case = build_cases(question, crowd.baskets)[""]
    # Replacing a person has other sensitivities, and other noise, than adding one.
    case = replace(case, question=replace(question, neighbours=task.neighbours))
    queries: list[str] = []

    def engine(baskets: Any) -> ScaledEngine:
        # The engine of the whole crowd is kept over runs, with its preparations.
        inner = crowd.exact if baskets is crowd.baskets else type(crowd.exact)(baskets)
        return ScaledEngine(inner, crowd.scale, queries)

    release = carry_out(case, SimulationSource(seed), engine)
    max_baskets = int(release.facts["most baskets of a person"]) if crowd.baskets.has_receipts else 0
    run = CrowdRun(
        precision=None,
        recall=None,
        interval=compute_margin(release.patterns),
        questions=len(queries),
        chosen=release.chosen_mechanism,
        participants=release.patterns.people if max_baskets else 0,
        max_baskets=max_baskets,
    )
    if counts_named:
        return run
    # Labels of imagined items are their numbers, so patterns compare as tuples of numbers.
    itemsets = itemsets_of(release.patterns)
    precision, recall, found_flags = judge_patterns(itemsets, _count_itemsets(crowd, itemsets), crowd_truth)
    return replace(run, precision=precision, recall=recall, found_flags=found_flags)


def compute_margin(patterns: Patterns) -> float:
    """Return the median margin of the patterns' intervals, as a count: infinite without patterns."""
    if patterns.low is None or patterns.high is None or not len(patterns):
        return inf
    return float(np.median((patterns.high - patterns.low) / 2))


def itemsets_of(patterns: Patterns) -> list[tuple[int, ...]]:
    """Return patterns over numbered items as tuples of the numbers."""
    labels = np.asarray(patterns.vocabulary.take(patterns.codes).to_pylist(), np.int64)
    return [tuple(sorted(labels[start:end].tolist())) for start, end in pairwise(patterns.offsets.tolist())]


def try_protocol(
    entry: Entry, crowd: ImaginedCrowd, task: ForecastTask, crowd_truth: CrowdTruth, seed: int
) -> CrowdRun:
    """Lead the conversation of a protocol with a crowd; reports are drawn from a seeded source."""
    # A delta is the curator's: local reports have pure epsilon.
    if not task.budget.pure:
        task = replace(task, budget=Budget(epsilon=task.budget.epsilon))
    plan = entry.make()
    if task.min_length > 2:
        raise MisuseError.format(
            "{name} finds single items, or patterns of two items or more: {lengths} begins at 1 or 2.", name=entry.name
        )
    # Protocols have no threshold: they look for as many patterns as are over it.
    top = len(crowd_truth.itemsets) if task.top is None else task.top
    item_count = 0 if plan.unlisted else crowd.baskets.items
    goal = StudyGoal(items=item_count, top=max(1, top), epsilon=task.budget.epsilon, least=task.min_length)
    plan.check(goal)
    asked_crowd = crowd.spelt(plan.symbols, plan.length) if plan.unlisted else crowd
    # A stream of its own, so that the draws of the reports are apart from the draws of the crowd.
    generator = np.random.default_rng([seed, 1])
    outcome, estimates = converse(
        plan.ask_rounds(goal), lambda ask: asked_crowd.hear(ask, generator), reports=plan.reports, people=crowd.people
    )
    # Protocols without a list answer with texts, and the truth has numbers.
    if outcome.texts is not None:
        outcome = replace(outcome, itemsets=_crowd_itemsets(outcome, asked_crowd))
    precision, recall, found_flags, interval = _score(plan, outcome, crowd, task, crowd_truth, goal)
    return CrowdRun(
        precision=precision,
        recall=recall,
        interval=interval,
        found_flags=found_flags,
        rounds=len(estimates),
        reports=min(estimate.people for estimate in estimates),
        size=max(ceil(estimate.ask.oracle.bits / 8) for estimate in estimates),
    )


def _score(
    plan: Any,
    outcome: ProtocolResult,
    crowd: ImaginedCrowd,
    task: ForecastTask,
    crowd_truth: CrowdTruth,
    goal: StudyGoal,
) -> tuple[float, float, tuple[bool, ...], float]:
    """Return the precision, the recall, whether each true pattern was found, and the margin of a conversation."""
    if outcome.related is not None:
        from ..local.study import build_rules

        rules = build_rules(outcome.related, crowd.baskets.vocabulary, len(crowd.baskets))
        score = scored_relations(crowd.baskets, plan, rules, goal)["F-score"]
        return score, score, (), _median_margin(outcome.related.variance[: goal.top], crowd.people)
    max_length = task.max_length or len(max(outcome.itemsets, key=len, default=()))
    has_asked_length = [task.min_length <= len(itemset) <= max_length for itemset in outcome.itemsets]
    rows = np.flatnonzero(has_asked_length)[: goal.top].tolist()
    itemsets = [outcome.itemsets[row] for row in rows]
    precision, recall, found_flags = judge_patterns(itemsets, _count_itemsets(crowd, itemsets), crowd_truth)
    return precision, recall, found_flags, _median_margin(outcome.variance[rows], crowd.people)


def _crowd_itemsets(outcome: ProtocolResult, crowd: ImaginedCrowd) -> tuple[tuple[int, ...], ...]:
    """Return itemsets of texts in the crowd's item numbers; a text without holders has a number beyond them."""
    vocabulary, texts = crowd.baskets.vocabulary, outcome.texts or ()
    codes = [
        vocabulary.code(text) if text in vocabulary else len(vocabulary) + position
        for position, text in enumerate(texts)
    ]
    return tuple(tuple(sorted(codes[item] for item in itemset)) for itemset in outcome.itemsets)


def _median_margin(variance: F64, people: int) -> float:
    return _DEVIATIONS * sqrt(float(np.median(variance))) * people if len(variance) else inf


def _count_itemsets(crowd: ImaginedCrowd, itemsets: list[tuple[int, ...]]) -> F64:
    """Return the count of each itemset in a crowd; 0 for an itemset with an item that the crowd does not have."""
    counts = np.zeros(len(itemsets))
    countable = [row for row, itemset in enumerate(itemsets) if max(itemset, default=0) < crowd.baskets.items]
    if countable:
        query: Itemsets = Itemsets.of([itemsets[row] for row in countable])
        counts[countable] = crowd.exact.answer(Supports(query)).astype(np.float64) * crowd.scale
    return counts
