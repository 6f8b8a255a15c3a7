"""SVD-FO: the most frequent items of a long list, folded into a square that is learnt as the matrix of `relations`.

Item number i is the entry in row i // side and column i % side. The estimate of the square selects candidates, and each
candidate is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import isqrt
from typing import ClassVar

import numpy as np

from ...errors import MisuseError
from .. import Protocol
from ..estimation import (
    WIDEST,
    Direction,
    Evidence,
    ItemsetGuess,
    Matrix,
    MatrixBelief,
    WholeNumbers,
    add_answers,
    ask_directions,
    bounds,
    check_means,
    check_rounds,
    decomposed,
    rank_of,
    round_pairs,
    shrink_estimates,
    theta_at,
)
from ..study import (
    LARGEST_SIZE,
    MOST_PATTERNS,
    CandidateList,
    Partition,
    RoundGenerator,
    StudyGoal,
    Values,
    check_candidates,
    check_parts,
    estimate_candidates,
)
from .relations import fresh_pairs

# The leading directions of a round that are combined with each other. More: each combination has fewer people.
_LEADING = 6
_OUTSTANDING = 3.0  # standard deviations: noise alone puts 1 in 740 items above it, who then keep their estimate
_MIN_VARIANCE = 1e-12  # of a matrix entry: a variance of 0 would make its precision infinite
MOST_ITEMS = 1 << 18  # the weights of a direction are the side of the square, 512 numbers


@dataclass(frozen=True, kw_only=True)
class SVDFO(Protocol):
    """Find the most frequent items of a long list.

    Parameters
    ----------
    shares
        The shares of the people: for a first estimate of the items, for the square, and for the candidates.
    candidates
        The number of candidates per item of the top.
    theta, rounds, fresh, means
        As for `relations`.
    """

    shares: tuple[str, str, str] = ("0.3", "0.35", "0.35")
    candidates: int = 2
    theta: tuple[str, str] = ("0.5", "0.5")
    rounds: int = 5
    fresh: int = 32
    means: str = "hm"

    name: ClassVar[str] = "svd-fo"
    across: ClassVar[bool] = True
    summary: ClassVar[str] = "the most frequent items of a long list, folded into a square"
    citation: ClassVar[str] = "Dong, Zhang, Jia, Ling, Yang, Luo, Fu 2024, section 6.2 (SVD-FO)"

    def check(self, goal: StudyGoal) -> None:
        """Check the settings for a goal."""
        check_parts(self.name, self.parts)
        check_rounds(self, 1)
        if goal.least > 1:
            raise MisuseError("svd-fo finds single items: use svsm for patterns of two items or more.")
        if goal.items > MOST_ITEMS:
            raise MisuseError(f"svd-fo folds up to {MOST_ITEMS:,} items; there are {goal.items:,}.")
        check_means(self.means)
        check_candidates(self.candidates, "0.9", goal.epsilon, size_oracle="adaptive", oracles=("adaptive",))
        if self.candidates * goal.top > MOST_PATTERNS:
            raise MisuseError.format(
                "{candidates:,} candidates for each of {wanted:,} items are more than {room:,}, which no question "
                "has room for: give fewer candidates, or a smaller {top}.",
                candidates=self.candidates,
                wanted=goal.top,
                room=MOST_PATTERNS,
            )

    def ask_rounds(self, goal: StudyGoal) -> RoundGenerator:
        """Lead the conversation."""
        line, (items_share, square_share, last_share) = Partition(), self.parts
        estimates = yield from estimate_candidates(
            CandidateList(items=goal.items),
            line,
            (items_share / 10, items_share * Fraction(9, 10)),
            goal.epsilon,
            oracles=("adaptive", "adaptive"),
            padding="predicted",
            binning="bins",
            largest_size=LARGEST_SIZE,
            about="items",
        )
        side = isqrt(goal.items - 1) + 1
        values, variance = _guess_square(estimates.values, estimates.variance, side)
        max_items = 2 if estimates.sizes is None else max(2, estimates.sizes.padding("percentile", WIDEST))
        belief = MatrixBelief(guess=values, doubt=variance, symmetric=False)
        for number in range(self.rounds):
            directions = self._directions(values, number, min(max_items, goal.items))
            round_share = square_share / self.rounds
            answers = yield ask_directions(
                f"square, round {number + 1}", goal.items, directions, self.means, goal.epsilon, line, round_share
            )
            add_answers(belief, answers)
            values = belief.mean()
        best_items = np.argsort(-values.ravel()[: goal.items], kind="stable")[: self.candidates * goal.top]
        candidates = yield from estimate_candidates(
            CandidateList(itemsets=tuple((int(item),) for item in np.sort(best_items))),
            line,
            (last_share / 5, last_share * Fraction(4, 5)),
            goal.epsilon,
            oracles=("adaptive", "adaptive"),
            padding="predicted",
            binning="bins",
            about="candidates",
        )
        return candidates.build_result({"side": side, "padding": candidates.pad, "correction": candidates.correction})

    def _directions(self, values: Matrix, number: int, max_items: int) -> list[Direction]:
        """Return the directions of a round: the leading ones with each other, and fresh ones."""
        left_vectors, singular, right_vectors = decomposed(values)
        rank = min(rank_of(singular, theta_at(self, number)), _LEADING)
        leading = product(left_vectors.T[:rank], right_vectors.T[:rank])
        pairs = round_pairs(leading) + fresh_pairs(len(values), range(number * self.fresh, (number + 1) * self.fresh))
        return [(*pair, *_number_range(*pair, max_items)) for pair in pairs]


def _number_range(left_side: WholeNumbers, right_side: WholeNumbers, max_items: int) -> tuple[int, int]:
    """Return the range of the number of a person with up to `max_items` items; larger numbers are clipped (D5)."""
    low, high = bounds(left_side, right_side, len(left_side), together=False)
    # A person has an entry per item: a number is at most `max_items` times the largest product.
    largest = int(np.abs(left_side).max(initial=0)) * int(np.abs(right_side).max(initial=0))
    return max(low, -max_items * largest), min(high, max_items * largest)


def _guess_square(values: Values, variance: Values, side: int) -> tuple[Matrix, Matrix]:
    """Return the square of the first estimates, and its variance.

    Estimates that stand out are kept. Further estimates are shrunk to the product of their row and column sums. Entries
    beyond the list are 0, with next to no variance.
    """
    square, square_variance = np.zeros(side * side), np.full(side * side, _MIN_VARIANCE)
    noise = float(variance.min())
    noisy = np.flatnonzero(values <= _OUTSTANDING * np.sqrt(noise))
    square[noisy] = values[noisy]
    rows, columns = (np.clip(square.reshape(side, side).sum(axis), 0.0, None) for axis in (1, 0))
    products = (np.outer(rows, columns) / max(float(rows.sum()), 1e-12)).ravel()
    caps = np.minimum.outer(rows, columns).ravel()
    square[: len(values)], square_variance[: len(values)] = values, variance
    guess = ItemsetGuess(means=products[noisy], variance=np.zeros(len(noisy)), cap=caps[noisy])
    evidence = Evidence.noisy(values[noisy], np.full(len(noisy), noise))
    square[noisy], square_variance[noisy] = shrink_estimates(evidence, guess)
    return square.reshape(side, side), np.maximum(square_variance, _MIN_VARIANCE).reshape(side, side)
