"""HM-RM: relations through every entry of the matrix, each asked of different people: unbiased, and noisy."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import ClassVar

import numpy as np

from ...errors import MisuseError
from ..estimation import (
    Matrix,
    MatrixProtocol,
    PairSupports,
    Step,
    add_ranges,
    ask_directions,
    decomposed,
    direction_of,
    estimate_mean,
    independent,
    round_direction,
)
from ..study import CandidateEstimates, Partition, RelationItems, StudyGoal
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

    def check(self, goal: StudyGoal) -> None:
        """Check the settings for a goal."""
        super().check(goal)
        if self.items > MOST_ITEMS:
            raise MisuseError(f"relations-full relates up to {MOST_ITEMS} items; {self.items} were given.")

    def matrix(
        self, singles: Singles, item_estimates: CandidateEstimates, line: Partition, share: Fraction, epsilon: Fraction
    ) -> Step:
        """Ask about every pair of directions, each a part of the share."""
        items, guess = RelationItems(singles.order, self.how), independent(singles.values)
        left_vectors, _, right_vectors = decomposed(guess)
        lefts, rights = (list(map(round_direction, vectors.T)) for vectors in (left_vectors, right_vectors))
        pairs = add_ranges(product(lefts, rights))
        answers = yield ask_directions("matrix", items, pairs, self.means, epsilon, line, share)
        core = np.array([estimate_mean(answer)[0] for answer in answers]).reshape(guess.shape)
        # The directions of the questions: another processor may have computed them.
        directions = [direction_of(answer) for answer in answers]
        left_rows = np.array([left_weights for left_weights, _ in directions[:: len(guess)]], np.float64)
        right_rows = np.array([right_weights for _, right_weights in directions[: len(guess)]], np.float64)
        # Rounded directions are not quite orthogonal; with their inverses the result is exact nevertheless.
        values: Matrix = np.linalg.inv(left_rows) @ core @ np.linalg.inv(right_rows).T
        return PairSupports(items=items, values=values, guess=guess)
