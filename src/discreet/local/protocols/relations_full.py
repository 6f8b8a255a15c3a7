"""HM-RM: relations through every entry of the matrix, each asked of different people: unbiased, and noisy."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from ...errors import MisuseError
from ..estimation import (
    Matrix,
    MatrixProtocol,
    PairSupports,
    Step,
    ask_directions,
    bounds,
    decomposed,
    direction_of,
    estimate_mean,
    independent,
    round_direction,
)
from ..study import CandidateEstimates, Items, Partition, Wanted
from .pairs import Singles

MOST_ITEMS = 128  # the rounds are the square of it, all simultaneous


@dataclass(frozen=True, kw_only=True)
class RelationsFull(MatrixProtocol):
    """Find relations as `relations` does, but measure every entry of the matrix in the basis of the guess.

    Parameters
    ----------
    shares, how, items, support, finder, means
        As for `relations`.
    """

    name: ClassVar[str] = "relations-full"
    summary: ClassVar[str] = "relations through all numbers of the matrix, one per person: unbiased, and noisy"
    citation: ClassVar[str] = "Dong, Zhang, Jia, Ling, Yang, Luo, Fu 2024, section 5.2 (HM-RM)"

    def check(self, goal: Wanted) -> None:
        """Check the settings for a goal."""
        super().check(goal)
        if self.items > MOST_ITEMS:
            raise MisuseError(f"relations-full relates up to {MOST_ITEMS} items; {self.items} were given.")

    def matrix(
        self, singles: Singles, item_estimates: CandidateEstimates, line: Partition, share: Fraction, epsilon: Fraction
    ) -> Step:
        """Ask about every pair of directions, each a part of the share."""
        items, guess = Items(singles.order, self.how), independent(singles.values)
        left, _, right = decomposed(guess)
        lefts, rights = [round_direction(column) for column in left.T], [round_direction(column) for column in right.T]
        pairs = [(one, other, *bounds(one, other, len(one), together=False)) for one in lefts for other in rights]
        answers = yield ask_directions("matrix", items, pairs, self.means, epsilon, line, share)
        core = np.array([estimate_mean(answer)[0] for answer in answers]).reshape(guess.shape)
        # The directions of the questions: another processor may have computed them.
        asked = [direction_of(answer) for answer in answers]
        left_rows = np.array([left for left, _ in asked[:: len(guess)]], np.float64)
        right_rows = np.array([right for _, right in asked[: len(guess)]], np.float64)
        # Rounded directions are not quite orthogonal; with their inverses the result is exact nevertheless.
        values: Matrix = np.linalg.inv(left_rows) @ core @ np.linalg.inv(right_rows).T
        return PairSupports(items=items, values=values, guess=guess)
