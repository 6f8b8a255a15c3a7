"""HM-RM: relations through every number of the matrix, each asked of other people: no bias, and much noise."""

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
from ..study import Estimated, Items, Partition, Wanted
from .pairs import Singles

MOST_ITEMS = 128  # their square is the number of questions, which are all asked at once


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

    def check(self, wanted: Wanted) -> None:
        """Refuse settings that do not add up."""
        super().check(wanted)
        if self.items > MOST_ITEMS:
            raise MisuseError(f"relations-full relates up to {MOST_ITEMS} items; {self.items} were given.")

    def matrix(self, singles: Singles, found: Estimated, line: Partition, share: Fraction, epsilon: Fraction) -> Step:
        """Ask about every pair of directions, each a part of the share."""
        items, guess = Items(singles.order, self.how), independent(singles.values)
        left, _, right = decomposed(guess)
        lefts, rights = [round_direction(one) for one in left.T], [round_direction(one) for one in right.T]
        ways = [(one, other, *bounds(one, other, len(one), together=False)) for one in lefts for other in rights]
        answers = yield ask_directions("matrix", items, ways, self.means, epsilon, line, share)
        core = np.array([estimate_mean(answer)[0] for answer in answers]).reshape(guess.shape)
        asked_of = [direction_of(answer) for answer in answers]
        lefts, rights = [one for one, _ in asked_of[:: len(guess)]], [other for _, other in asked_of[: len(guess)]]
        # Directions in whole numbers are not quite orthogonal: their inverses make the answer exact all the same.
        one, other = np.array(lefts, np.float64), np.array(rights, np.float64)
        values: Matrix = np.linalg.inv(one) @ core @ np.linalg.inv(other).T
        return PairSupports(items=items, values=values, guess=guess)
