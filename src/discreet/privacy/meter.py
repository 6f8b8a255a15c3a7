"""The only way from an exact answer to a released one: noise is added here, and its cost is written down here.

A mechanism holds a meter, not a source. It names a share of its budget for each step; the meter draws the noise that
the query's own sensitivity asks for under the neighbour relation, and records the charge. The guarantee of a release
is composed of what the meter recorded, so a mechanism cannot claim what it did not do.

The budget is kept in one currency: epsilon where it is pure, rho where it has a delta (zCDP). Shares are exact
fractions of it. The proofs are in `meter.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, erfc, floor, isqrt, log, log1p, sqrt
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import MisuseError
from ..exact.query import Query
from ..exact.universe import Universe
from ..results.itemsets import Itemsets
from .budget import Budget, Charge, Neighbours, rho_for
from .sampling import intervals, selection
from .sampling.samplers import discrete_gaussian, discrete_laplace, short
from .sampling.selection import Tallies
from .sampling.sources import Source
from .sealed import I64, SealedAnswer, SealedEngine, SealedList, unsealed

ItemTuple: TypeAlias = tuple[int, ...]
Way: TypeAlias = Literal["exponential", "gumbel", "permute-and-flip", "laplace"]

CONFIDENCE = 0.95
_DRAWS = {
    "exponential": selection.exponential,
    "gumbel": selection.gumbel,
    "permute-and-flip": selection.permute_and_flip,
}
_RANGED = ("exponential", "gumbel")
_ROOT_GRID = 10**18


@dataclass(frozen=True, eq=False)
class Noisy:
    """Counts with noise of a known law: discrete Laplace of a scale, or discrete Gaussian of a variance."""

    values: I64
    scale: Fraction | None
    variance: Fraction

    def margin(self, confidence: float = CONFIDENCE) -> int:
        """Return the smallest m for which the noise lies within -m … m with at least this probability."""
        outside = 1 - confidence
        if self.variance == 0:
            return 0
        if self.scale is None:
            return ceil(normal_point(outside) * sqrt(self.variance))
        # The noise is over m with probability q^(m + 1) / (1 + q), q = exp(-1 / scale); below -m with the same.
        rate = 1 / float(self.scale)
        log_norm = log1p(np.exp(-rate)) if rate < 700 else 0.0
        return max(0, ceil((log(2 / outside) - log_norm) / rate) - 1)

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise."""
        return sqrt(self.variance)


def normal_point(outside: float) -> float:
    """Return how many deviations a normal variable is away from its mean with at most this probability."""
    low, high = 0.0, 40.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if erfc(middle / sqrt(2)) > outside else (low, middle)
    return high


@dataclass(frozen=True, eq=False)
class Candidates:
    """What a choice is made from, unsealed: scores, and how they may move.

    Listed candidates have a score each; `unlisted` of them are not listed and all have the score `rest`. Adding a
    person changes each score by at most `step`; `monotone` says that all of them then move in one direction.
    `itemsets` says what the listed ones are, wherever some are not listed: the audit follows them by it.
    """

    scores: I64
    rest: int = 0
    unlisted: int = 0
    step: int = 1
    monotone: bool = True
    itemsets: Itemsets | None = None

    @property
    def many(self) -> int:
        """How many candidates there are in all."""
        return len(self.scores) + self.unlisted


@dataclass(frozen=True, kw_only=True, eq=False)
class Things:
    """Itemsets that were found, the largest noisy count first, with the threshold they passed.

    Ties are ordered by the codes: the order in which the engine lists itemsets depends on the data.
    """

    itemsets: Itemsets
    values: I64
    margin: int
    threshold: int


def moves(query: Query, neighbours: Neighbours, baskets: int = 1) -> tuple[int, int]:
    """Return how far a query's answers for two neighbours are apart at most: the L1 and the squared L2 norm.

    A person has so many baskets at most.
    """
    one = query.sensitivity(baskets)
    return (one.l1_replace, one.squared_l2_replace) if neighbours is Neighbours.REPLACE else (one.l1, one.squared_l2)


class Meter:
    """A budget being spent: draws noise, chooses, and writes down what each step cost.

    `max_baskets` is how many baskets a person has at most in the data that are asked, a public or released number.
    """

    def __init__(
        self,
        budget: Budget,
        neighbours: Neighbours,
        source: Source,
        *,
        discovery_delta: Fraction = Fraction(0),
        stage: Callable[[str], object] | None = None,
    ) -> None:
        """Open a meter; `discovery_delta` is the part of the budget's delta that is kept for finding items.

        `stage` is called with the name of each step before it is taken: the names are those of the charges.
        """
        self.budget = budget
        self.neighbours = neighbours
        self.pure = budget.delta == discovery_delta
        self.conversion = budget.delta - discovery_delta
        self.total = budget.epsilon if self.pure else rho_for(budget.epsilon, self.conversion)
        self.charges: list[Charge] = []
        self.max_baskets = 1
        self._finding = [discovery_delta]  # what is left of it, shared with the parts
        self._source = source
        self._stage = stage
        self._spent = Fraction(0)

    @property
    def simulated(self) -> bool:
        """Whether the noise comes from a seeded source."""
        return self._source.simulated

    @property
    def left(self) -> Fraction:
        """The share of the budget that is not spent."""
        return 1 - self._spent

    def part(self, share: Fraction) -> Meter:
        """Return a meter over a share of this one's budget; what it spends is written down in the same place."""
        self._take(share)
        part = object.__new__(type(self))
        part.__dict__.update(self.__dict__)
        part.total = self.total * share
        part._spent = Fraction(0)
        return part

    def secret(self) -> int:
        """Return a fresh key of 63 bits for a keyed truncation. It must not leave the release."""
        return self._source.bits(63)

    def below(self, bound: int) -> int:
        """Return an even random number below a public bound, for filling up with candidates nobody lists."""
        return self._source.below(bound)

    def epsilon(self, share: Fraction) -> Fraction:
        """Return the epsilon a share is worth where it is spent as one pure step."""
        amount = self.total * share
        return amount if self.pure else _root(2 * amount)

    def scale(self, query: Query, share: Fraction) -> tuple[Fraction | None, Fraction]:
        """Return the scale (None for Gaussian noise) and the variance of the noise a share buys for a query."""
        return self.scale_for(query, share, self.max_baskets)

    def scale_for(self, query: Query, share: Fraction, baskets: int) -> tuple[Fraction | None, Fraction]:
        """Return the same where people have so many baskets at most."""
        amount = self.total * share
        most, squared = moves(query, self.neighbours, baskets)
        if self.pure:
            scale = Fraction(most) / amount
            return scale, 2 * scale**2
        return None, Fraction(squared) / (2 * amount)

    def count(self, what: str, engine: SealedEngine, query: Query, share: Fraction) -> Noisy:
        """Ask the engine, add the noise the query's sensitivity asks for, and charge the share."""
        self._same_baskets(engine.max_baskets)
        self._take(share, what)
        amount = self.total * share
        scale, variance = self.scale(query, share)
        exact = unsealed(engine.answer(query))
        if scale is not None:
            noise = discrete_laplace(self._source, scale, len(exact))
            self.charges.append(Charge.pure(what, amount))
        else:
            noise = discrete_gaussian(self._source, variance, len(exact))
            self.charges.append(Charge.gaussian(what, amount))
        return Noisy(exact + noise, scale, variance)

    def rate(
        self, picks: int, share: Fraction, way: Way, *, monotone: bool = True, step: int | None = None
    ) -> Fraction:
        """Return how much a score counts for in a choice: the r of exp(r * score), or one over the Laplace scale.

        Scores that all move in one direction when a person is added (`monotone`) may count double (E8). When a person
        is replaced, such a score moves up or down by a step at most, and any other by two steps. Without a `step`
        scores are counts of baskets.
        """
        step = self.max_baskets if step is None else step
        each = self._each(self.total * share, picks, way)
        added = self.neighbours is Neighbours.ADD_REMOVE
        if monotone:
            return each / (step if added else 2 * step)
        return each / (2 * step if added else 4 * step)

    def _each(self, amount: Fraction, picks: int, way: Way) -> Fraction:
        """Return the epsilon of one of several picks that an amount of the currency pays for."""
        if self.pure:
            return amount / picks
        if way == "laplace":
            return _root(2 * amount) / picks  # one pure step
        # A pick of the exponential mechanism has a bounded range and costs an eighth of its square, others a half.
        return _root((8 if way in _RANGED else 2) * amount / picks)

    def choose(
        self, what: str, scores: SealedAnswer, picks: int, share: Fraction, way: Way = "exponential"
    ) -> tuple[int, ...]:
        """Choose so many places, those of better scores likelier, and charge the share."""
        candidates = Candidates(unsealed(scores), step=scores.step, monotone=scores.monotone)
        return self._choose(what, candidates, picks, share, way).candidates

    def choose_itemsets(
        self, what: str, listed: SealedList, picks: int, share: Fraction, way: Way = "exponential"
    ) -> list[ItemTuple]:
        """Choose so many itemsets of all there are, those that more people hold likelier, and charge the share."""
        known, universe = unsealed(listed), listed.universe
        if universe is None:
            raise MisuseError("Itemsets are chosen from all there are, and which items there are is not public here.")
        candidates = Candidates(
            known.counts,
            rest=known.bound,
            unlisted=universe.many - len(known.counts),
            step=listed.step,
            itemsets=known.itemsets,
        )
        chosen = self._choose(what, candidates, picks, share, way)
        return self._named(chosen, known.itemsets, universe)

    def _choose(self, what: str, candidates: Candidates, picks: int, share: Fraction, way: Way) -> selection.Chosen:
        self._take(share, what)
        unlisted = (candidates.rest, candidates.unlisted) if candidates.unlisted else None
        tallies = Tallies.of(candidates.scores, unlisted)
        rate = self.rate(picks, share, way, monotone=candidates.monotone, step=candidates.step)
        if way == "laplace":
            places = selection.noisy_top(self._source, tallies, 1 / rate, picks)
        else:
            places = _DRAWS[way](self._source, tallies, rate, picks)
        each = self._each(self.total * share, picks, way)
        rho = (picks * each) ** 2 / 2 if way == "laplace" else picks * each**2 / (8 if way in _RANGED else 2)
        self.charges.append(Charge(what=what, epsilon=picks * each, rho=rho))
        return selection.members(self._source, tallies, places, candidates.scores, unlisted)

    def _named(self, chosen: selection.Chosen, listed: Itemsets, universe: Universe) -> list[ItemTuple]:
        """Return the chosen itemsets in the order of the choice: the listed ones, and as many as needed of the others.

        Which picks were listed depends on the data, so the order must not tell them apart.
        """
        places = np.array(chosen.candidates, np.int64)
        known = iter(listed.take(places[places >= 0]).tuples())
        rest = iter(self._others(listed, universe, chosen.unlisted) if chosen.unlisted else ())
        return [next(rest) if place < 0 else next(known) for place in chosen.candidates]

    def _others(self, listed: Itemsets, universe: Universe, many: int) -> list[ItemTuple]:
        return universe.others(listed.tuples(), many, self.below)

    def find(self, what: str, listed: SealedList, share: Fraction) -> Things:
        """Add noise to the counts of what occurs, and show what passes a threshold that rare things hardly pass.

        Each of a person's baskets adds to at most as many counts as a cut basket has itemsets. Counts are looked at
        above the public floor of the list, which is taken off them: what is not listed has 0, and is never released.
        The chance that something only one person holds is released is charged as delta.
        """
        if listed.floor is None or listed.most is None:
            raise MisuseError(
                "What is found lies above a public floor, in baskets that were cut, and all of it is listed."
            )
        self._same_baskets(listed.step)
        known, floor = unsealed(listed), max(listed.floor, 0)
        kept, noisy, threshold = self._find(what, known.counts - floor, max(1, listed.most), share, known.itemsets)
        places = np.flatnonzero(kept)
        values, names = noisy.values[places] + floor, known.itemsets.take(places).tuples()
        order = sorted(range(len(places)), key=lambda place: (-values[place], len(names[place]), names[place]))
        return Things(
            itemsets=known.itemsets.take(places[order]),
            values=values[order],
            margin=noisy.margin(),
            threshold=threshold + floor,
        )

    def _find(
        self, what: str, counts: I64, most: int, share: Fraction, things: Itemsets
    ) -> tuple[NDArray[np.bool_], Noisy, int]:
        """Return which counts pass, with their noise, and what they had to pass; counts are over 0.

        `things` says what they are of, by which the audit follows them. What did not pass is not released.
        """
        threshold = self.threshold(most, share)
        finding = self._finding[0]
        scale = self._finding_scale(most, share)
        self._take(share, what)
        epsilon = self.epsilon(share)
        noisy = counts + discrete_laplace(self._source, scale, len(counts))
        self.charges.append(Charge.pure(what, epsilon, finding))
        self._finding[0] = Fraction(0)
        return noisy >= threshold, Noisy(noisy, scale, 2 * scale**2), threshold

    def threshold(self, most: int, share: Fraction) -> int:
        """Return the threshold that :meth:`find` would use for this share: rare things hardly pass it."""
        finding = self._finding[0]
        if finding == 0:
            raise MisuseError("Finding things that are not listed needs a delta.")
        # One person brings at most `most` new things a basket, and none counts more than the baskets are. It passes if
        # the noise is threshold - count or more, which has a probability of at most exp(-(threshold - count) / scale).
        digits = 40
        chance = intervals.ln(intervals.ratio(Fraction(self._touched(most)) / finding, digits), digits)
        needed = intervals.times(chance, intervals.ratio(self._finding_scale(most, share), digits), digits)
        return self.max_baskets + max(0, ceil(needed[1]))

    def _finding_scale(self, most: int, share: Fraction) -> Fraction:
        """Return the scale of the noise of :meth:`find`, as it is drawn: one too long is rounded up."""
        return short(Fraction(self._touched(most)) / self.epsilon(share))

    def _touched(self, most: int) -> int:
        """Return how many counts one person moves by one in :meth:`find`, and the one who comes where one is replaced.

        What many baskets add to one count is that many moves.
        """
        return most * self.max_baskets * (2 if self.neighbours is Neighbours.REPLACE else 1)

    def _same_baskets(self, baskets: int) -> None:
        if baskets != self.max_baskets:
            raise AssertionError("a meter reckons with as many baskets of a person as the data have that it asks")

    def _take(self, share: Fraction, what: str | None = None) -> None:
        if share <= 0 or self._spent + share > 1:
            raise AssertionError("a mechanism planned to spend more than its budget")
        self._spent += share
        if self._stage is not None and what is not None:
            self._stage(what)


def _root(square: Fraction) -> Fraction:
    """Return a square root, rounded down to a multiple of 10^-18."""
    return Fraction(isqrt(floor(square * _ROOT_GRID**2)), _ROOT_GRID)


def shares(named: Sequence[tuple[str, Fraction]]) -> dict[str, Fraction]:
    """Return a plan of shares by name; they add up to 1 at most."""
    plan = dict(named)
    if sum(plan.values()) > 1 or min(plan.values(), default=Fraction(1)) <= 0:
        raise AssertionError("the shares of a plan are over 0 and add up to 1 at most")
    return plan
