"""The exact audit: all results of a mechanism with their exact chances, on two neighbours.

Where a run consists of choices (and of counts of one cell), every outcome of each step is followed in turn. The chances
of all results on both sides give the loss itself: no bound, no argument about sensitivity. Runs that draw keys or add
noise to long vectors have too many results, and are left to the coupled and the statistical audit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil, exp, inf, perm, sqrt
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
from ._attack import Attack
from ._engines import Engines
from ._laws import DIGITS, ONE, ZERO, law, noise
from ._neighbours import AuditQuestion, Database, NeighbourPair, list_pairs, list_planned_cases, list_small_cases
from ._runs import run_to_values
from ._steps import Differs
from ._verdict import Attempt

# Bounds the outcomes of one step. Larger: more questions are enumerated, and audits take longer.
_MAX_OUTCOMES = 250
# Noise is followed to this many scales (Laplace) or deviations (Gaussian): beyond lie 1e-7 and 1e-15 of its mass.
_TAIL_WIDTHS = {True: 16, False: 8}
# The number of small pairs per question, beside the planned pairs. Larger: audits take longer.
_SMALL_PAIRS = 12
# A loss is converted to floating point once, which errs by far less than this share.
_ROUNDING = 1 + 1e-9


@dataclass(frozen=True, kw_only=True)
class ExactOutcomes:
    """Results as text with their chances; `is_complete` states that no further result is possible."""

    chances: dict[str, Interval]
    is_complete: bool

    @property
    def missing(self) -> Decimal:
        """The largest total chance of the results that were not followed."""
        return Decimal(0) if self.is_complete else 1 - sum((low for low, _ in self.chances.values()), Decimal(0))


class Endless(Exception):  # noqa: N818
    """A step has too many outcomes to follow them all."""


class Walker(Meter):
    """A meter that follows one path of outcomes and lists the paths beside it."""

    def walk(self, path: tuple[int, ...]) -> None:
        """Begin to follow a path of outcomes, and the first outcome of every step after it."""
        self.path = list(path)
        self.place = [0]
        self.chance = [ONE]
        self.open_paths: list[tuple[int, ...]] = []
        self.unlisted_picks: list[int] = []
        self.is_complete = [True]

    def _branch(self, outcomes: Sequence[Interval]) -> int:
        """Return the outcome to follow; the paths of all further outcomes are stored."""
        place = self.place[0]
        if place == len(self.path):
            self.open_paths += [(*self.path, number) for number in range(1, len(outcomes))]
            self.path.append(0)
        self.place[0] += 1
        outcome = self.path[place]
        self.chance[0] = intervals.multiply(self.chance[0], outcomes[outcome], DIGITS)
        return outcome

    def count(self, purpose: str, engine: SealedEngine, query: Query, share: Fraction) -> Noisy:
        """Follow each value near the exact answer, for a query with one cell."""
        # The charge is made as in a release; only the noise is followed instead of drawn.
        noisy = super().count(purpose, engine, query, share)
        exact = unsealed(engine.answer(query))
        if noisy.variance == 0:
            return Noisy(exact, noisy.scale, noisy.variance)
        width = noisy.scale if noisy.scale is not None else Fraction(sqrt(noisy.variance))
        tail = ceil(_TAIL_WIDTHS[noisy.scale is not None] * width)
        if len(exact) != 1 or 2 * tail + 1 > _MAX_OUTCOMES:
            raise Endless
        self.is_complete[0] = False
        law_of_noise = noise(noisy.scale, noisy.variance, tail)
        noise_value = list(law_of_noise)[self._branch(list(law_of_noise.values()))]
        return Noisy(exact + noise_value, noisy.scale, noisy.variance)

    def _choose(self, purpose: str, candidates: Candidates, picks: int, share: Fraction, way: Way) -> Selection:
        """Follow each list of picks; unlisted candidates are numbered after the listed candidates."""
        # Before the charge and the draw: an endless step costs no time.
        if perm(candidates.total_count, picks) > _MAX_OUTCOMES:
            raise Endless
        super()._choose(purpose, candidates, picks, share, way)
        rate = self.rate(picks, share, way, monotone=candidates.monotone, step=candidates.step)
        scores = (*candidates.scores.tolist(), *[candidates.unlisted_score] * candidates.unlisted)
        # The law depends on differences of scores alone: equal differences share one cached law.
        best_score = max(scores, default=0)
        law_of_picks = law(tuple(score - best_score for score in scores), rate, picks, way)
        picked_numbers = list(law_of_picks)[self._branch(list(law_of_picks.values()))]
        listed_count = len(candidates.scores)
        self.unlisted_picks[:] = [
            candidates.unlisted,
            *(number - listed_count for number in picked_numbers if number >= listed_count),
        ]
        return Selection(tuple(number if number < listed_count else -1 for number in picked_numbers))

    def _draw_unlisted(self, listed_itemsets: Itemsets, universe: Universe, count: int) -> list[ItemTuple]:
        """Return the picked unlisted itemsets: unlisted itemsets are numbered in a fixed order."""
        unlisted_count, *numbers = self.unlisted_picks
        # The number of an unlisted itemset is arbitrary, as all have one score.
        all_itemsets = universe.others(listed_itemsets.tuples(), unlisted_count, lambda _: 0)
        return [all_itemsets[number] for number in numbers]

    def below(self, bound: int) -> int:
        """Follow each number below the bound."""
        if bound > _MAX_OUTCOMES:
            raise Endless
        # The draw is independent of the data, so all its values are equally likely on both sides.
        chance = intervals.ratio(Fraction(1, bound), DIGITS)
        return self._branch([chance] * bound)

    def secret(self) -> int:
        """Give up: the number of keys is too large."""
        raise Endless

    def _find(
        self, purpose: str, counts: I64, max_itemsets: int, share: Fraction, itemsets: Itemsets
    ) -> tuple[NDArray[np.bool_], Noisy, int]:
        """Give up: a search releases the noisy counts of its itemsets."""
        raise Endless


def enumerate_results(case: Case, engines: Engines) -> ExactOutcomes:
    """Return every result of a case that was followed, as text, with its chance."""
    chances: dict[str, Interval] = {}
    is_complete = True
    pending: list[tuple[int, ...]] = [()]
    source = SimulationSource(0)
    while pending:
        meter = build_meter(case, source, kind=Walker)
        meter.walk(pending.pop())
        text = repr(run_to_values(case, meter, engines))
        chances[text] = intervals.add(chances.get(text, ZERO), meter.chance[0], DIGITS)
        pending += meter.open_paths
        is_complete = is_complete and meter.is_complete[0]
    return ExactOutcomes(chances=chances, is_complete=is_complete)


def find_loss(outcomes: ExactOutcomes, other_outcomes: ExactOutcomes, delta: Fraction) -> float:
    """Return an epsilon that the first law certainly exceeds over the second law, given a delta."""
    if delta:
        return _find_loss_at_delta(outcomes, other_outcomes, float(delta))
    largest_loss = -inf
    missing = other_outcomes.missing  # each result may have all of the missing chance
    for result, chance in outcomes.chances.items():
        other_chance = other_outcomes.chances.get(result, ZERO)[1] + missing
        if other_chance == 0:
            return inf
        ratio = intervals.divide(chance, (other_chance, other_chance), DIGITS)
        largest_loss = max(largest_loss, float(intervals.ln(ratio, DIGITS)[0])) if ratio[0] > 0 else largest_loss
    return largest_loss


def _find_loss_at_delta(outcomes: ExactOutcomes, other_outcomes: ExactOutcomes, delta: float) -> float:
    """Return the smallest epsilon at which no event is likelier by more than its exponential and delta."""
    chances = ((low, other_outcomes.chances.get(result, ZERO)[1]) for result, (low, _) in outcomes.chances.items())
    chance_pairs = np.array([(float(chance), float(other_chance)) for chance, other_chance in chances])
    missing = float(other_outcomes.missing)

    def excess(epsilon: float) -> float:
        return (
            float(np.maximum(chance_pairs[:, 0] - exp(epsilon) * chance_pairs[:, 1], 0).sum()) - exp(epsilon) * missing
        )

    low, high = 0.0, 60.0
    if excess(high) > delta:
        return inf
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > delta else (low, middle)
    return low


def exact(mechanism: Mechanism, budget: Budget, neighbours: Neighbours) -> Attempt:
    """Return the attempt on small questions and pairs of neighbours, with the largest loss."""
    attack, result_count = Attack("exact"), 0
    for question in _questions(mechanism, neighbours):
        engines = Engines()
        outcomes_of: dict[Database, ExactOutcomes] = {}
        try:
            for pair in _select_pairs(question, neighbours):
                for database in pair.databases:
                    if database not in outcomes_of:
                        case = question.case(mechanism, budget, neighbours, database)
                        outcomes_of[database] = enumerate_results(case, engines)
                first, second = (outcomes_of[database] for database in pair.databases)
                # The claim holds in both directions: either side may be the likelier one.
                loss = max(find_loss(first, second, budget.delta), find_loss(second, first, budget.delta))
                attack.add(pair, question, loss)
        except (Endless, MisuseError, Differs):
            continue  # a refused question is skipped, and a breach of the rules is reported by the coupled audit
        result_count += sum(len(outcomes.chances) for outcomes in outcomes_of.values())
    if attack.loss > float(budget.epsilon) * _ROUNDING:
        attack.breach = (
            f"The chances of one result differ by a factor of exp({attack.loss:.6g}) between the neighbours."
        )
    return attack.attempt(
        f"{attack.pairs:,} pairs of neighbours, {result_count:,} results", nothing="nothing: it has too many results"
    )


def _questions(mechanism: Mechanism, neighbours: Neighbours) -> list[AuditQuestion]:
    """Return questions with few results: patterns alone, and a public number of people."""
    public: dict[str, Any] = {} if neighbours is Neighbours.REPLACE else {"people": 5}
    forms: list[tuple[int, dict[str, Any]]] = []
    if "top" in mechanism.answers:
        forms += [(2, {"top": 1}), (2, {"top": 2}), (3, {"top": 1}), (3, {"top": 2, "lengths": (1, 2)})]
    if "threshold" in mechanism.answers:
        forms += [(1, {"min_count": 2}), (2, {"min_count": 1})]
    questions = [AuditQuestion(items=items, words={**words, **public, "counts": False}) for items, words in forms]
    if "itemsets" in mechanism.answers:
        questions.append(AuditQuestion(items=1, words={"itemsets": [[0]], **public}))
    return questions


def _select_pairs(question: AuditQuestion, neighbours: Neighbours) -> list[NeighbourPair]:
    """Return the planned pairs, and `_SMALL_PAIRS` of the small pairs, evenly spread."""
    small_pairs = list(list_pairs(list_small_cases(question.items, neighbours), neighbours))
    return [
        *list_pairs(list_planned_cases(question.items, question.marks), neighbours),
        *small_pairs[:: max(1, len(small_pairs) // _SMALL_PAIRS)],
    ]
