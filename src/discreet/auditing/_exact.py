"""Enumerating what a mechanism can say, with the exact chance of each result, on two neighbours.

Where a run consists of choices (and of counts of one cell), every outcome of each of them is followed in turn. The
chances of all results on both sides give the loss itself: no bound, no argument about sensitivity. Runs that draw keys
or add noise to long vectors have too many results; for them there are the other two ways.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil, exp, inf, perm, sqrt
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..curator import Mechanism
from ..errors import MisuseError
from ..exact import Query, Universe
from ..privacy import I64, Budget, Candidates, ItemTuple, Meter, Neighbours, Noisy, SealedEngine, Way, unsealed
from ..privacy.sampling import Interval, Selection, SimulationSource, intervals
from ..publish import Case, build_meter
from ..results import Itemsets
from ._coupled import ended
from ._engines import NAME, Engines
from ._laws import DIGITS, ONE, ZERO, law, noise
from ._neighbours import AuditQuestion, Database, NeighbourPair, pairs, planned, small
from ._steps import Differs
from ._verdict import Attempt

# More outcomes of one step than this are not followed.
_MOST = 250
# Noise is followed this many scales (Laplace) or deviations (Gaussian) away.
_FAR = {True: 16, False: 8}
# How many small pairs of neighbours are enumerated for each question, beside the planned ones.
_SMALL = 12


@dataclass(frozen=True, kw_only=True)
class ExactOutcomes:
    """Results as text with their chances; `whole` says that they are all there are."""

    chances: dict[str, Interval]
    whole: bool

    @property
    def missing(self) -> Decimal:
        """The largest chance that results which were not followed can have together."""
        return Decimal(0) if self.whole else 1 - sum((low for low, _ in self.chances.values()), Decimal(0))


class Endless(Exception):  # noqa: N818
    """A step has too many outcomes to follow them all."""


class Walker(Meter):
    """A meter that follows one path of outcomes and says which others there are."""

    def walk(self, path: tuple[int, ...]) -> None:
        """Follow these outcomes, and the first one of every step after them."""
        self.path = list(path)
        self.place = [0]
        self.chance = [ONE]
        self.others: list[tuple[int, ...]] = []
        self.beyond: list[int] = []
        self.whole = [True]

    def _branch(self, outcomes: Sequence[Interval]) -> int:
        """Return which outcome to follow; the ones not followed yet are noted."""
        place = self.place[0]
        if place == len(self.path):
            self.others += [(*self.path, other) for other in range(1, len(outcomes))]
            self.path.append(0)
        self.place[0] += 1
        outcome = self.path[place]
        self.chance[0] = intervals.multiply(self.chance[0], outcomes[outcome], DIGITS)
        return outcome

    def count(self, what: str, engine: SealedEngine, query: Query, share: Fraction) -> Noisy:
        """Follow each value near the truth, where there is one cell."""
        noisy = super().count(what, engine, query, share)
        exact = unsealed(engine.answer(query))
        if noisy.variance == 0:
            return Noisy(exact, noisy.scale, noisy.variance)
        width = noisy.scale if noisy.scale is not None else Fraction(sqrt(noisy.variance))
        far = ceil(_FAR[noisy.scale is not None] * width)
        if len(exact) != 1 or 2 * far + 1 > _MOST:
            raise Endless
        self.whole[0] = False
        law_of_noise = noise(noisy.scale, noisy.variance, far)
        added = list(law_of_noise)[self._branch(list(law_of_noise.values()))]
        return Noisy(exact + added, noisy.scale, noisy.variance)

    def _choose(self, what: str, candidates: Candidates, picks: int, share: Fraction, way: Way) -> Selection:
        """Follow each list of picks; candidates that are not listed are numbered after the others."""
        if perm(candidates.total_count, picks) > _MOST:
            raise Endless
        super()._choose(what, candidates, picks, share, way)
        rate = self.rate(picks, share, way, monotone=candidates.monotone, step=candidates.step)
        scores = (*candidates.scores.tolist(), *[candidates.rest] * candidates.unlisted)
        best = max(scores, default=0)
        lists = law(tuple(score - best for score in scores), rate, picks, way)
        chosen = list(lists)[self._branch(list(lists.values()))]
        listed = len(candidates.scores)
        self.beyond[:] = [candidates.unlisted, *(number - listed for number in chosen if number >= listed)]
        return Selection(tuple(number if number < listed else -1 for number in chosen))

    def _draw_unlisted(self, listed: Itemsets, universe: Universe, many: int) -> list[ItemTuple]:
        """Name the itemsets that are not listed by going through all of them, always in the same order."""
        unlisted, *numbers = self.beyond
        every = universe.others(listed.tuples(), unlisted, lambda _: 0)
        return [every[number] for number in numbers]

    def below(self, bound: int) -> int:
        """Follow each number."""
        if bound > _MOST:
            raise Endless
        each = intervals.ratio(Fraction(1, bound), DIGITS)
        return self._branch([each] * bound)

    def secret(self) -> int:
        """Give up: there are too many keys."""
        raise Endless

    def _find(
        self, what: str, counts: I64, most: int, share: Fraction, things: Itemsets
    ) -> tuple[NDArray[np.bool_], Noisy, int]:
        """Give up: noisy counts are released with what is found."""
        raise Endless


def results(case: Case, engines: Engines) -> ExactOutcomes:
    """Return every result of a case that was followed, as text, with its chance."""
    found: dict[str, Interval] = {}
    whole = True
    pending: list[tuple[int, ...]] = [()]
    source = SimulationSource(0)
    while pending:
        meter = build_meter(case, source, kind=Walker)
        meter.walk(pending.pop())
        told = repr(ended(case, meter, engines))
        found[told] = intervals.add(found.get(told, ZERO), meter.chance[0], DIGITS)
        pending += meter.others
        whole = whole and meter.whole[0]
    return ExactOutcomes(chances=found, whole=whole)


def loss_between(one: ExactOutcomes, other: ExactOutcomes, delta: Fraction) -> float:
    """Return an epsilon that the first of two laws certainly exceeds over the other one, allowing for a delta."""
    if delta:
        return _at_delta(one, other, float(delta))
    worst = -inf
    missing = other.missing  # may have had any of these results
    for result, chance in one.chances.items():
        against = other.chances.get(result, ZERO)[1] + missing
        if against == 0:
            return inf
        ratio = intervals.divide(chance, (against, against), DIGITS)
        worst = max(worst, float(intervals.ln(ratio, DIGITS)[0])) if ratio[0] > 0 else worst
    return worst


def _at_delta(one: ExactOutcomes, other: ExactOutcomes, delta: float) -> float:
    """Return the smallest epsilon at which no event is likelier by more than its exponential and delta."""
    chances = ((low, other.chances.get(result, ZERO)[1]) for result, (low, _) in one.chances.items())
    pairs = np.array([(float(mine), float(yours)) for mine, yours in chances])
    missing = float(other.missing)

    def excess(epsilon: float) -> float:
        return float(np.maximum(pairs[:, 0] - exp(epsilon) * pairs[:, 1], 0).sum()) - exp(epsilon) * missing

    low, high = 0.0, 60.0
    if excess(high) > delta:
        return inf
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > delta else (low, middle)
    return low


def exact(mechanism: Mechanism, budget: Budget, neighbours: Neighbours) -> Attempt:
    """Enumerate the results of small questions on pairs of neighbours, and return the largest loss."""
    begun = perf_counter()
    worst: tuple[float, NeighbourPair | None, AuditQuestion | None] = (0.0, None, None)
    tried = many = 0
    for question in _questions(mechanism, neighbours):
        engines = Engines()
        known: dict[Database, ExactOutcomes] = {}
        try:
            for pair in _chosen(question, neighbours):
                for database in pair.databases:
                    if database not in known:
                        known[database] = results(question.case(mechanism, budget, neighbours, database), engines)
                one, other = (known[database] for database in pair.databases)
                loss = max(loss_between(one, other, budget.delta), loss_between(other, one, budget.delta))
                tried += 1
                if worst[1] is None or loss > worst[0]:
                    worst = loss, pair, question
        except (Endless, MisuseError, Differs):
            continue  # what is refused is not asked, and what breaks the rules of a release is found by coupling
        many += sum(len(found.chances) for found in known.values())
    loss, worst_pair, worst_question = worst
    stands = loss <= float(budget.epsilon) * (1 + 1e-9)
    why = "" if stands else f"The chances of one result differ by a factor of exp({loss:.6g}) between the neighbours."
    return Attempt(
        means="exact",
        stands=stands,
        loss=max(loss, 0.0),
        tried=f"{tried:,} pairs of neighbours, {many:,} results" if tried else "nothing: it has too many results",
        engine=NAME if tried else "",
        pairs=tried,
        paths=("made-up baskets in memory",) if tried else (),
        pair=str(worst_pair) if worst_pair else "",
        question=str(worst_question) if worst_question else "",
        why=why,
        seconds=perf_counter() - begun,
    )


def _questions(mechanism: Mechanism, neighbours: Neighbours) -> list[AuditQuestion]:
    """Return questions whose results can be listed: patterns alone, and no more people than are public."""
    public: dict[str, Any] = {} if neighbours is Neighbours.REPLACE else {"people": 5}
    asked: list[tuple[int, dict[str, Any]]] = []
    if "top" in mechanism.answers:
        asked += [(2, {"top": 1}), (2, {"top": 2}), (3, {"top": 1}), (3, {"top": 2, "lengths": (1, 2)})]
    if "threshold" in mechanism.answers:
        asked += [(1, {"min_count": 2}), (2, {"min_count": 1})]
    patterns = [AuditQuestion(items=items, words={**words, **public, "counts": False}) for items, words in asked]
    if "itemsets" in mechanism.answers:
        patterns.append(AuditQuestion(items=1, words={"itemsets": [[0]], **public}))
    return patterns


def _chosen(question: AuditQuestion, neighbours: Neighbours) -> list[NeighbourPair]:
    """Return the planned pairs, and so many small ones, evenly spread."""
    every = list(pairs(small(question.items, neighbours), neighbours))
    return [*pairs(planned(question.items, question.marks), neighbours), *every[:: max(1, len(every) // _SMALL)]]
