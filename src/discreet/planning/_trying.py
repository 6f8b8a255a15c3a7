"""Running over an imagined crowd what would run over the real one, and measuring what comes out.

Mechanisms go through the curator's own door with a meter of seeded noise, protocols through their own conversation. So
whatever is registered is forecast, with the shares, scales and oracles it really has; nothing is typed twice.
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
from ..local.study import Learnt, Wanted, converse, scored_relations
from ..privacy import Budget, Meter, Neighbours
from ..privacy.sampling import SimulationSource
from ..publish import Question, build_cases, run_case
from ..registry import Entry
from ..results import Itemsets, Patterns
from ._crowd import ImaginedCrowd, ScaledEngine

F64 = NDArray[np.float64]

# How often each is run; the spread over runs is small beside what is not known about the data.
RUNS = 3
# How many patterns may be asked for by a threshold.
_MOST = 1_000_000
# A normal variable keeps within so many deviations of its mean in 95 of 100 cases.
_DEVIATIONS = 1.96


@dataclass(frozen=True, kw_only=True)
class ForecastTask:
    """The question that is forecast, in public numbers.

    Parameters
    ----------
    top, min_support
        How many patterns, or held by which fraction of the people: one of the two.
    least, longest
        How many items a pattern has; `longest` is None where there is no bound.
    budget, neighbours
        What may be spent, and what the curator's promise is about.
    max_baskets
        How many baskets of each person take part, where they have several; None has it chosen with noise.
    """

    top: int | None
    min_support: Fraction | None
    least: int
    longest: int | None
    budget: Budget
    neighbours: Neighbours
    max_baskets: int | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class CrowdTruth:
    """The patterns that are asked for, as they are in a crowd or in data, the most frequent first.

    Parameters
    ----------
    itemsets
        The patterns.
    counts
        How many people hold each; how many baskets, where people have several.
    last
        The count that makes a pattern one of them.
    people
        How many people, or baskets, there are.
    """

    itemsets: list[tuple[int, ...]]
    counts: F64
    last: float
    people: int

    @classmethod
    def of(cls, patterns: Patterns, last: float, people: int) -> CrowdTruth:
        """Return mined patterns as the truth about so many people, or baskets."""
        scale = people / max(patterns.people, 1)
        codes, ends = patterns.codes.tolist(), patterns.offsets.tolist()
        itemsets = [tuple(sorted(codes[a:b])) for a, b in pairwise(ends)]
        counts = patterns.counts.astype(np.float64) * scale
        return cls(itemsets=itemsets, counts=counts, last=last * scale, people=people)


def truth(crowd: ImaginedCrowd, asked: ForecastTask) -> CrowdTruth:
    """Return the patterns of an imagined crowd that are asked for."""
    lengths = (asked.least, asked.longest)
    if asked.min_support is None:
        found = mine(crowd.baskets, top=asked.top, lengths=lengths)
        last = int(found.counts.min()) if len(found) else 1
    else:
        last = max(1, ceil(asked.min_support * len(crowd.baskets)))
        try:
            found = mine(crowd.baskets, min_count=last, lengths=lengths, limit=_MOST)
        except LimitError:
            raise LimitError.format(
                "Under this curve more than {many:,} patterns are as frequent as that. Ask for a larger "
                "{min_support}, for shorter ones ({lengths=}), or for the first of them ({top=}).",
                many=_MOST,
            ) from None
    return CrowdTruth.of(found, last, crowd.counted)


@dataclass(frozen=True, kw_only=True)
class Tried:
    """What one run over a crowd, or over data, gave.

    Parameters
    ----------
    precision, recall
        Which share of what was found is right, and which share of what is right was found; None for counts of
        patterns that are named.
    interval
        Half of the 95 % interval of a count in the middle, in people; in baskets, where people have several.
    found
        Which of the true patterns were found, in their order.
    rounds, reports, size
        How many rounds there are, how many people answer in the smallest of them, and how many bytes a report has at
        most: 0 for a curator.
    questions
        How often the engine was asked: 0 for a collector.
    chosen
        The mechanism that did the work, where another one chose it.
    among
        How many people or baskets took part, if not all did.
    max_baskets
        How many baskets of a person took part at most, where people have several: 0 otherwise.
    """

    precision: float | None
    recall: float | None
    interval: float
    found: tuple[bool, ...] = ()
    rounds: int = 0
    reports: int = 0
    size: int = 0
    questions: int = 0
    chosen: str = ""
    among: int = 0
    max_baskets: int = 0


def judged(found: Sequence[tuple[int, ...]], counts: F64, true: CrowdTruth) -> tuple[float, float, tuple[bool, ...]]:
    """Return precision, recall, and which true patterns were found, given the true counts of those found.

    Whatever as many people hold as the last of the true ones is right: ties are not held against anyone.
    """
    if not true.itemsets:
        return (1.0 if not len(found) else 0.0), 1.0, ()
    right = counts >= true.last - 1e-6
    known = set(found)
    held = tuple(one in known for one in true.itemsets)
    recall = min(1.0, float(right.sum()) / len(true.itemsets))
    return (float(right.mean()) if len(found) else 0.0), recall, held


def visible(tried: Sequence[Tried], true: CrowdTruth) -> float:
    """Return the smallest support that can be told from noise; infinite where none can.

    That is the smallest support of a pattern that is found in half of the runs, when the share in which patterns are
    found is smoothed to rise with their support; and no less than half an interval, so that this does not reach 0.
    """
    interval = float(np.median([one.interval / max(one.among or true.people, 1) for one in tried]))
    if not true.itemsets or not tried[0].found:
        return interval
    shares = np.mean([one.found for one in tried], axis=0)
    # What only finds single items is not held to pairs: which lengths it finds shows in what it found.
    lengths = np.array([len(one) for one in true.itemsets])
    meant = np.flatnonzero(np.isin(lengths, lengths[shares > 0]))
    order = meant[np.argsort(true.counts[meant], kind="stable")]
    seen = np.flatnonzero(fit_rising(shares[order]) >= 0.5 - 1e-9)
    if not len(seen):
        return inf
    return max(float(true.counts[order][seen[0]]) / true.people, interval)


def try_mechanism(entry: Entry, crowd: ImaginedCrowd, asked: ForecastTask, true: CrowdTruth, seed: int) -> Tried:
    """Run a mechanism over a crowd through the curator's door, with seeded noise."""
    named = "itemsets" in entry.answers and not {"top", "threshold"} & set(entry.answers)
    if named and not true.itemsets:
        raise MisuseError(f"{entry.name} counts patterns that are named, and there is none to name.")
    question: dict[str, Any] = (
        {"itemsets": [list(one) for one in true.itemsets[: asked.top]]}
        if named
        else {"top": asked.top, "min_support": asked.min_support, "lengths": (asked.least, asked.longest)}
    )
    question_to_ask = Question(
        really=True,  # nothing is promised by a forecast
        **question,
        epsilon=asked.budget.epsilon,
        delta=asked.budget.delta,
        items="public",
        people=None if crowd.baskets.several else crowd.people,
        max_baskets=asked.max_baskets,
        mechanism=entry.name,
    )
    # Where a person is replaced, the sensitivities and the noise are others.
    case = build_cases(question_to_ask, crowd.baskets)[""]
    case = replace(case, question=replace(question_to_ask, neighbours=asked.neighbours))
    meter = Meter(case.budget, case.neighbours, SimulationSource(seed), discovery_delta=case.discovery_delta)
    calls: list[str] = []

    def engine(baskets: Any) -> ScaledEngine:
        inner = crowd.exact if baskets is crowd.baskets else type(crowd.exact)(baskets)
        return ScaledEngine(inner, crowd.scale, calls)

    release = run_case(case, meter, engine)
    most = int(release.facts["most baskets of a person"]) if crowd.baskets.several else 0
    run = Tried(
        precision=None,
        recall=None,
        interval=interval_of(release.patterns),
        questions=len(calls),
        chosen=release.chosen,
        among=release.patterns.people if most else 0,
        max_baskets=most,
    )
    if named:
        return run
    found = itemsets_of(release.patterns)
    precision, recall, held = judged(found, _counts(crowd, found), true)
    return replace(run, precision=precision, recall=recall, found=held)


def interval_of(patterns: Patterns) -> float:
    """Return half of the interval of the pattern in the middle, as counts are: infinite where nothing was found."""
    if patterns.low is None or patterns.high is None or not len(patterns):
        return inf
    return float(np.median((patterns.high - patterns.low) / 2))


def itemsets_of(patterns: Patterns) -> list[tuple[int, ...]]:
    """Return patterns over numbered items as tuples of the numbers."""
    labels = np.asarray(patterns.vocabulary.take(patterns.codes).to_pylist(), np.int64)
    ends = patterns.offsets.tolist()
    return [tuple(sorted(labels[a:b].tolist())) for a, b in pairwise(ends)]


def try_protocol(entry: Entry, crowd: ImaginedCrowd, asked: ForecastTask, true: CrowdTruth, seed: int) -> Tried:
    """Lead the conversation of a protocol with a crowd; reports are drawn from a seeded source."""
    if not asked.budget.pure:
        asked = replace(asked, budget=Budget(epsilon=asked.budget.epsilon))
    plan = entry.make()
    top = len(true.itemsets) if asked.top is None else asked.top
    if asked.least > 2:
        raise MisuseError.format(
            "{name} finds single items, or patterns of two items or more: {lengths} begins at 1 or 2.", name=entry.name
        )
    listed = 0 if plan.unlisted else crowd.baskets.items
    wanted = Wanted(items=listed, top=max(1, top), epsilon=asked.budget.epsilon, least=asked.least)
    plan.check(wanted)
    asking = crowd.spelt(plan.symbols, plan.length) if plan.unlisted else crowd
    generator = np.random.default_rng([seed, 1])
    learnt, heard = converse(
        plan.talk(wanted), lambda ask: asking.hear(ask, generator), reports=plan.reports, people=crowd.people
    )
    if learnt.texts is not None:
        learnt = replace(learnt, itemsets=_named(learnt, asking))
    precision, recall, held, interval = _scored(plan, learnt, crowd, asked, true, wanted)
    return Tried(
        precision=precision,
        recall=recall,
        interval=interval,
        found=held,
        rounds=len(heard),
        reports=min(one.people for one in heard),
        size=max(ceil(one.ask.oracle.bits / 8) for one in heard),
    )


def _scored(
    plan: Any, learnt: Learnt, crowd: ImaginedCrowd, asked: ForecastTask, true: CrowdTruth, wanted: Wanted
) -> tuple[float, float, tuple[bool, ...], float]:
    """Return precision, recall, which true patterns were found, and the interval, of what a conversation ended with."""
    if learnt.related is not None:
        from ..local.study import build_rules

        related = build_rules(learnt.related, crowd.baskets.vocabulary, len(crowd.baskets))
        score = scored_relations(crowd.baskets, plan, related, wanted)["F-score"]
        off = _half(learnt.related.variance[: wanted.top], crowd.people)
        return score, score, (), off
    longest = asked.longest or len(max(learnt.itemsets, key=len, default=()))
    places = [place for place, one in enumerate(learnt.itemsets) if asked.least <= len(one) <= longest][: wanted.top]
    found = [learnt.itemsets[place] for place in places]
    precision, recall, held = judged(found, _counts(crowd, found), true)
    return precision, recall, held, _half(learnt.variance[places], crowd.people)


def _named(learnt: Learnt, crowd: ImaginedCrowd) -> tuple[tuple[int, ...], ...]:
    """Return what was found by the numbers of the crowd's items; a text that nobody holds has one beyond them."""
    vocabulary, texts = crowd.baskets.vocabulary, learnt.texts or ()
    codes = [vocabulary.code(text) if text in vocabulary else len(vocabulary) + at for at, text in enumerate(texts)]
    return tuple(tuple(sorted(codes[item] for item in one)) for one in learnt.itemsets)


def _half(variance: F64, people: int) -> float:
    return _DEVIATIONS * sqrt(float(np.median(variance))) * people if len(variance) else inf


def _counts(crowd: ImaginedCrowd, found: list[tuple[int, ...]]) -> F64:
    """Return how many people or baskets of a crowd hold each of these: none, where an item is none of the crowd's."""
    counts = np.zeros(len(found))
    there = [at for at, one in enumerate(found) if max(one, default=0) < crowd.baskets.items]
    if there:
        itemsets: Itemsets = Itemsets.of([found[at] for at in there])
        counts[there] = crowd.exact.answer(Supports(itemsets)).astype(np.float64) * crowd.scale
    return counts
