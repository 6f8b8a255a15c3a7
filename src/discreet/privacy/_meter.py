"""The only way from an exact answer to a released answer: noise is added here, and its cost is recorded here.

A mechanism holds a meter, and no random source. It names a share of its budget for each step; the meter draws noise
scaled to the sensitivity of the query under the neighbour relation, and records the charge. The guarantee of a release
is composed of the recorded charges, so that a mechanism cannot claim more privacy than it paid for.

The budget has one currency: epsilon for a pure budget, rho for a budget with a delta (zCDP). Shares are exact fractions
of the budget. The proofs are in `meter.md`.
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
from ..exact import Query, Universe
from ..results import Itemsets
from ._budget import Budget, Charge, Neighbours, rho_for
from ._sealed import I64, SealedAnswer, SealedEngine, SealedList, unsealed
from .sampling import Source, Tallies, discrete_gaussian, discrete_laplace, intervals, selection, shorten_fraction

ItemTuple: TypeAlias = tuple[int, ...]
Way: TypeAlias = Literal["exponential", "gumbel", "permute-and-flip", "laplace"]

# The usual level of confidence intervals. It widens the stated intervals and changes no noise and no cost.
CONFIDENCE = 0.95
# The samplers of the selection methods; "laplace" has an interface of its own, `selection.noisy_top`.
_DRAWS = {
    "exponential": selection.exponential,
    "gumbel": selection.gumbel,
    "permute-and-flip": selection.permute_and_flip,
}
_BOUNDED_RANGE = ("exponential", "gumbel")
_ROOT_GRID = 10**18  # a square root is rounded down by at most 10^-18: the loss of budget is negligible


@dataclass(frozen=True, eq=False)
class Noisy:
    """Counts with noise of a known law: discrete Laplace of a scale, or discrete Gaussian of a variance."""

    values: I64
    scale: Fraction | None
    variance: Fraction

    def margin(self, confidence: float = CONFIDENCE) -> int:
        """Return the smallest m with Pr[|noise| <= m] >= confidence."""
        outside = 1 - confidence
        if self.variance == 0:
            return 0
        if self.scale is None:
            return ceil(normal_point(outside) * sqrt(self.variance))
        # Pr[noise > m] = Pr[noise < -m] = q^(m + 1) / (1 + q), q = exp(-1 / scale)
        rate = 1 / float(self.scale)
        log_norm = log1p(np.exp(-rate)) if rate < 700 else 0.0
        return max(0, ceil((log(2 / outside) - log_norm) / rate) - 1)

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise."""
        return sqrt(self.variance)


def normal_point(outside: float) -> float:
    """Return z with Pr[|Z| > z] <= outside for a standard normal Z."""
    low, high = 0.0, 40.0
    # 60 halvings of 40 exhaust the precision of a double; `high` always stays valid.
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if erfc(middle / sqrt(2)) > outside else (low, middle)
    return high


@dataclass(frozen=True, eq=False)
class Candidates:
    """The unsealed candidates of a selection: their scores, and the largest change of a score.

    Each listed candidate has a score; each of the `unlisted` further candidates has the score `unlisted_score`. Adding
    a person changes each score by at most `step`; with `monotone`, all scores then change in one direction. `itemsets`
    names the listed candidates if some candidates are unlisted: the audit matches candidates by it.
    """

    scores: I64
    unlisted_score: int = 0
    unlisted: int = 0
    step: int = 1
    monotone: bool = True
    itemsets: Itemsets | None = None

    @property
    def total_count(self) -> int:
        """The number of candidates, listed and unlisted."""
        return len(self.scores) + self.unlisted


@dataclass(frozen=True, kw_only=True, eq=False)
class SelectedItemsets:
    """Itemsets over a noisy threshold, the largest noisy count first, with the threshold.

    Ties are ordered by codes: the order in which the engine lists itemsets depends on the data.
    """

    itemsets: Itemsets
    values: I64
    margin: int
    threshold: int


def moves(query: Query, neighbours: Neighbours, baskets: int = 1) -> tuple[int, int]:
    """Return the L1 norm and the squared L2 norm of the largest difference between answers for two neighbours.

    A person has at most `baskets` baskets.
    """
    sensitivity = query.sensitivity(baskets)
    if neighbours is Neighbours.REPLACE:
        return sensitivity.l1_replace, sensitivity.squared_l2_replace
    return sensitivity.l1, sensitivity.squared_l2


class Meter:
    """A budget being spent: draws noise, selects candidates, and records the charge of each step.

    `max_baskets` is the largest number of baskets of a person in the queried data, a public or released number.
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
        """Open a meter; `discovery_delta` is the part of the budget's delta for finding unlisted items.

        `stage` is called with the name of each step before the step is taken: the names are those of the charges.
        """
        self.budget = budget
        self.neighbours = neighbours
        self.pure = budget.delta == discovery_delta
        self.conversion = budget.delta - discovery_delta
        self.total = budget.epsilon if self.pure else rho_for(budget.epsilon, self.conversion)
        self.charges: list[Charge] = []
        self.max_baskets = 1
        self._discovery_deltas = [discovery_delta]  # the remaining delta, in a list that parts share
        self._source = source
        self._stage = stage
        self._spent_share = Fraction(0)

    @property
    def simulated(self) -> bool:
        """Whether the noise comes from a seeded source."""
        return self._source.simulated

    @property
    def left(self) -> Fraction:
        """The unspent share of the budget."""
        return 1 - self._spent_share

    def part(self, share: Fraction) -> Meter:
        """Return a meter over a share of this budget; both meters record their charges in one list."""
        self._spend_share(share)
        part = object.__new__(type(self))
        # The list of charges and the discovery delta are shared, so that parts record in one place.
        part.__dict__.update(self.__dict__)
        part.total = self.total * share
        part._spent_share = Fraction(0)
        return part

    def secret(self) -> int:
        """Return a fresh key of 63 bits for a keyed truncation. The key must not leave the release."""
        return self._source.bits(63)

    def below(self, bound: int) -> int:
        """Return a uniform number below a public bound, for filling up with unlisted candidates."""
        return self._source.below(bound)

    def epsilon(self, share: Fraction) -> Fraction:
        """Return the epsilon of a share that is spent as one pure step: amount, or sqrt(2 rho) in zCDP."""
        amount = self.total * share
        return amount if self.pure else _square_root(2 * amount)

    def scale(self, query: Query, share: Fraction) -> tuple[Fraction | None, Fraction]:
        """Return the scale (None for Gaussian noise) and the variance of the noise of a query for a share."""
        return self.scale_for(query, share, self.max_baskets)

    def scale_for(self, query: Query, share: Fraction, baskets: int) -> tuple[Fraction | None, Fraction]:
        """Return the scale and the variance of the noise if each person has at most `baskets` baskets."""
        amount = self.total * share
        l1_norm, squared_l2_norm = moves(query, self.neighbours, baskets)
        if self.pure:
            # Laplace: b = Delta_1 / epsilon, variance at most 2 b^2. Gaussian: rho = Delta_2^2 / (2 variance).
            scale = Fraction(l1_norm) / amount
            return scale, 2 * scale**2
        return None, Fraction(squared_l2_norm) / (2 * amount)

    def count(self, purpose: str, engine: SealedEngine, query: Query, share: Fraction) -> Noisy:
        """Return the answer to the query with noise scaled to the sensitivity of the query, and charge the share."""
        # The share is spent before the engine answers: an error on the way leaves it spent.
        self._check_max_baskets(engine.max_baskets)
        self._spend_share(share, purpose)
        amount = self.total * share
        scale, variance = self.scale(query, share)
        exact_counts = unsealed(engine.answer(query))
        if scale is not None:
            noise = discrete_laplace(self._source, scale, len(exact_counts))
            self.charges.append(Charge.pure(purpose, amount))
        else:
            noise = discrete_gaussian(self._source, variance, len(exact_counts))
            self.charges.append(Charge.gaussian(purpose, amount))
        return Noisy(exact_counts + noise, scale, variance)

    def rate(
        self, picks: int, share: Fraction, way: Way, *, monotone: bool = True, step: int | None = None
    ) -> Fraction:
        """Return the rate of a score: r in exp(r * score), or 1 / scale for Laplace noise.

        Scores that change in one direction when a person is added (`monotone`) may have twice the rate (E8). When a
        person is replaced, a monotone score changes by at most one step up or down, and any other score by two steps.
        The default `step` is the step of counts of baskets.
        """
        step = self.max_baskets if step is None else step
        pick_epsilon = self._pick_epsilon(self.total * share, picks, way)
        is_add_remove = self.neighbours is Neighbours.ADD_REMOVE
        if monotone:
            return pick_epsilon / (step if is_add_remove else 2 * step)
        return pick_epsilon / (2 * step if is_add_remove else 4 * step)

    def _pick_epsilon(self, amount: Fraction, picks: int, way: Way) -> Fraction:
        """Return the epsilon of one pick, if an amount of the currency pays for `picks` picks."""
        if self.pure:
            return amount / picks
        if way == "laplace":
            return _square_root(2 * amount) / picks  # one pure step
        # rho = epsilon^2 / 8 for a pick with bounded range (Cesar, Rogers 2021), epsilon^2 / 2 for any other pick.
        return _square_root((8 if way in _BOUNDED_RANGE else 2) * amount / picks)

    def choose(
        self, purpose: str, scores: SealedAnswer, picks: int, share: Fraction, way: Way = "exponential"
    ) -> tuple[int, ...]:
        """Choose `picks` places, with larger scores more probable, and charge the share."""
        candidates = Candidates(unsealed(scores), step=scores.step, monotone=scores.monotone)
        return self._choose(purpose, candidates, picks, share, way).candidates

    def choose_itemsets(
        self, purpose: str, sealed_list: SealedList, picks: int, share: Fraction, way: Way = "exponential"
    ) -> list[ItemTuple]:
        """Choose `picks` itemsets of the universe, with larger counts more probable, and charge the share."""
        opened_list, universe = unsealed(sealed_list), sealed_list.universe
        if universe is None:
            raise MisuseError("Itemsets are chosen from all there are, and which items there are is not public here.")
        candidates = Candidates(
            opened_list.counts,
            unlisted_score=opened_list.bound,
            unlisted=universe.itemset_count - len(opened_list.counts),
            step=sealed_list.step,
            itemsets=opened_list.itemsets,
        )
        selection_result = self._choose(purpose, candidates, picks, share, way)
        return self._name_itemsets(selection_result, opened_list.itemsets, universe)

    def _choose(
        self, purpose: str, candidates: Candidates, picks: int, share: Fraction, way: Way
    ) -> selection.Selection:
        self._spend_share(share, purpose)
        unlisted_tally = (candidates.unlisted_score, candidates.unlisted) if candidates.unlisted else None
        # Equal scores are drawn as one tally: the cost does not grow with the number of unlisted candidates.
        tallies = Tallies.group_scores(candidates.scores, unlisted_tally)
        rate = self.rate(picks, share, way, monotone=candidates.monotone, step=candidates.step)
        if way == "laplace":
            tally_picks = selection.noisy_top(self._source, tallies, 1 / rate, picks)
        else:
            tally_picks = _DRAWS[way](self._source, tallies, rate, picks)
        pick_epsilon = self._pick_epsilon(self.total * share, picks, way)
        rho = (
            (picks * pick_epsilon) ** 2 / 2
            if way == "laplace"
            else picks * pick_epsilon**2 / (8 if way in _BOUNDED_RANGE else 2)
        )
        self.charges.append(Charge(what=purpose, epsilon=picks * pick_epsilon, rho=rho))
        return selection.draw_members(self._source, tallies, tally_picks, candidates.scores, unlisted_tally)

    def _name_itemsets(
        self, selection_result: selection.Selection, listed: Itemsets, universe: Universe
    ) -> list[ItemTuple]:
        """Return the chosen itemsets in the order of the picks; unlisted picks get itemsets drawn at random.

        The order must not separate listed from unlisted picks: it depends on the data which picks are listed.
        """
        candidate_numbers = np.array(selection_result.candidates, np.int64)
        listed_itemsets = iter(listed.take(candidate_numbers[candidate_numbers >= 0]).tuples())
        unlisted_itemsets = iter(
            self._draw_unlisted(listed, universe, selection_result.unlisted) if selection_result.unlisted else ()
        )
        return [
            next(unlisted_itemsets) if number < 0 else next(listed_itemsets) for number in selection_result.candidates
        ]

    def _draw_unlisted(self, excluded: Itemsets, universe: Universe, count: int) -> list[ItemTuple]:
        """Return distinct random itemsets of the universe that are not listed."""
        return universe.others(excluded.tuples(), count, self.below)

    def find(self, purpose: str, sealed_list: SealedList, share: Fraction) -> SelectedItemsets:
        """Add noise to the counts of occurring itemsets; return the itemsets over a threshold.

        The threshold is one that rare itemsets hardly pass. Each basket of a person adds to at most `sealed_list.most`
        counts. The public floor of the list is subtracted from the counts: an unlisted itemset has the count 0, and is
        never released. The probability of releasing an itemset of a single person is charged as delta.
        """
        if sealed_list.floor is None or sealed_list.most is None:
            raise MisuseError(
                "What is found lies above a public floor, in baskets that were cut, and all of it is listed."
            )
        self._check_max_baskets(sealed_list.step)
        opened_list, floor = unsealed(sealed_list), max(sealed_list.floor, 0)
        is_kept, noisy_counts, threshold = self._find(
            purpose, opened_list.counts - floor, max(1, sealed_list.most), share, opened_list.itemsets
        )
        places = np.flatnonzero(is_kept)
        values, names = noisy_counts.values[places] + floor, opened_list.itemsets.take(places).tuples()
        # Public ties: by noisy count, length and codes, and never by the order of the engine.
        falling_order = sorted(range(len(places)), key=lambda place: (-values[place], len(names[place]), names[place]))
        return SelectedItemsets(
            itemsets=opened_list.itemsets.take(places[falling_order]),
            values=values[falling_order],
            margin=noisy_counts.margin(),
            threshold=threshold + floor,
        )

    def _find(
        self, purpose: str, counts: I64, max_itemsets: int, share: Fraction, itemsets: Itemsets
    ) -> tuple[NDArray[np.bool_], Noisy, int]:
        """Return which counts pass the threshold, the noisy counts, and the threshold; counts are over 0.

        `itemsets` names the counts for the audit. Counts below the threshold are not released.
        """
        threshold = self.threshold(max_itemsets, share)
        discovery_delta = self._discovery_deltas[0]
        scale = self._discovery_scale(max_itemsets, share)
        self._spend_share(share, purpose)
        epsilon = self.epsilon(share)
        noisy_counts = counts + discrete_laplace(self._source, scale, len(counts))
        self.charges.append(Charge.pure(purpose, epsilon, discovery_delta))
        # The delta is spent once: a second `find` of this meter or of a part raises.
        self._discovery_deltas[0] = Fraction(0)
        return noisy_counts >= threshold, Noisy(noisy_counts, scale, 2 * scale**2), threshold

    def threshold(self, max_itemsets: int, share: Fraction) -> int:
        """Return the threshold of :meth:`find` for this share, which rare itemsets hardly pass."""
        discovery_delta = self._discovery_deltas[0]
        if discovery_delta == 0:
            raise MisuseError("Finding things that are not listed needs a delta.")
        # A new person adds at most max_itemsets new itemsets per basket, each with a count of at most max_baskets.
        # Pr[noise >= threshold - count] <= exp(-(threshold - count) / scale) for each new itemset; their sum is delta.
        digits = 40
        log_ratio = intervals.ln(
            intervals.ratio(Fraction(self._max_changed_counts(max_itemsets)) / discovery_delta, digits), digits
        )
        max_noise = intervals.multiply(
            log_ratio, intervals.ratio(self._discovery_scale(max_itemsets, share), digits), digits
        )
        return self.max_baskets + max(0, ceil(max_noise[1]))

    def _discovery_scale(self, max_itemsets: int, share: Fraction) -> Fraction:
        """Return the noise scale of :meth:`find` as drawn: a fraction too long is rounded up."""
        return shorten_fraction(Fraction(self._max_changed_counts(max_itemsets)) / self.epsilon(share))

    def _max_changed_counts(self, max_itemsets: int) -> int:
        """Return the L1 sensitivity of the counts in :meth:`find`: a replaced person changes counts twice.

        If several baskets of a person add to one count, each basket counts as a change.
        """
        return max_itemsets * self.max_baskets * (2 if self.neighbours is Neighbours.REPLACE else 1)

    def _check_max_baskets(self, baskets: int) -> None:
        """Check that the data have the number of baskets per person that the noise is scaled to."""
        if baskets != self.max_baskets:
            raise AssertionError("the meter and the queried data differ in the largest number of baskets of a person")

    def _spend_share(self, share: Fraction, purpose: str | None = None) -> None:
        if share <= 0 or self._spent_share + share > 1:
            raise AssertionError("a mechanism planned to spend more than its budget")
        self._spent_share += share
        if self._stage is not None and purpose is not None:
            self._stage(purpose)


def _square_root(square: Fraction) -> Fraction:
    """Return a square root, rounded down to a multiple of 10^-18."""
    return Fraction(isqrt(floor(square * _ROOT_GRID**2)), _ROOT_GRID)


def shares(named_shares: Sequence[tuple[str, Fraction]]) -> dict[str, Fraction]:
    """Return a plan of shares by name, after checking that shares are over 0 and add up to at most 1."""
    plan = dict(named_shares)
    if sum(plan.values()) > 1 or min(plan.values(), default=Fraction(1)) <= 0:
        raise AssertionError("the shares of a plan are over 0 and add up to 1 at most")
    return plan
