"""LDP-RM: relations that many people hold and that are reliable.

1. Find the items.
2. Learn a matrix with the support of every pair of items, from a few weighted sums per person.
3. Ask for the likeliest pairs.

In the printed form, a round repeats the directions of the round before. The corrected form adds new directions, and
weighs all answers by their precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, ClassVar, Literal

import numpy as np

from ...errors import MisuseError
from ..estimation import (
    WIDEST,
    Matrix,
    MatrixBelief,
    MatrixProtocol,
    PairSupports,
    Sides,
    Step,
    add_answers,
    add_ranges,
    ask_directions,
    check_rounds,
    compose_matrix,
    decomposed,
    direction_of,
    estimate_mean,
    independent,
    public_signs,
    rank_of,
    round_pairs,
    theta_at,
)
from ..study import CandidateEstimates, Estimate, Pair, Partition, RelationItems, StudyGoal
from .pairs import Singles

# The leading directions of a round that are combined with each other. More: each combination has fewer people.
_LEADING = 4
_MIN_VARIANCE = 1e-12  # of a matrix entry: a variance of 0 would make its precision infinite


@dataclass(frozen=True, kw_only=True)
class RelationMiner(MatrixProtocol):
    """Find the relations with the largest confidence among those with the largest support.

    Parameters
    ----------
    form
        ``"corrected"``, or ``"printed"`` as in the article, with corrections of privacy and arithmetic alone.
    theta
        The share of the singular values that the leading directions of a round have, in the first and the last round.
    rounds
        The number of rounds about the matrix. With 0 it is the guess of independent items, and its people answer for
        the relations.
    fresh
        The largest number of new directions of a round (corrected).
    cascade
        The number of relations that become items themselves, after half of the rounds: ((a, b), c) is a relation then
        (corrected).
    shares, how, items, support, finder, means
        The shares of the people: for the items, for the matrix, and for the relations; the kind of relation; the number
        of the most frequent items; the number of relations that are selected by the matrix; the protocol that finds the
        items (`usual`: svim as printed, and svim-better corrected); and the oracle of means.
    """

    form: Literal["corrected", "printed"] = "corrected"
    theta: tuple[str, str] = ("0.5", "0.5")
    rounds: int = 5
    fresh: int = 64
    cascade: int = 0

    name: ClassVar[str] = "relations"
    summary: ClassVar[str] = "relations by support and confidence, through a few numbers of a matrix of all pairs"
    citation: ClassVar[str] = "Dong, Zhang, Jia, Ling, Yang, Luo, Fu 2024 (LDP-RM)"

    @property
    def printed(self) -> bool:
        """Whether items and relations are asked for as in the article."""
        return self.form == "printed"

    def check(self, goal: StudyGoal) -> None:
        """Check the settings for a goal."""
        super().check(goal)
        check_rounds(self, 0)
        if not 0 <= self.cascade <= self.items:
            raise MisuseError(f"cascade is from 0 to the number of items, {self.items}; {self.cascade} was given.")
        if self.cascade and (self.printed or self.rounds < 2):
            raise MisuseError("cascade is for the corrected form, with 2 rounds or more.")

    def matrix(
        self, singles: Singles, item_estimates: CandidateEstimates, line: Partition, share: Fraction, epsilon: Fraction
    ) -> Step:
        """Ask a share of the people about the matrix, round by round."""
        items, guess = RelationItems(singles.order, self.how), independent(singles.values)
        if not self.rounds:
            return PairSupports(items=items, values=guess, guess=guess)
        round_share, values, together = share / self.rounds, guess, self.how == "together"
        if self.printed:
            for number in range(self.rounds):
                left_vectors, singular, right_vectors = decomposed(values)
                rank = rank_of(singular, theta_at(self, number))
                if not rank:
                    break  # no direction is left to ask about
                # The range that any set of relations has, equations (21) and (22).
                directions = add_ranges(round_pairs(zip(left_vectors.T[:rank], right_vectors.T[:rank], strict=True)))
                name = f"matrix, round {number + 1}"
                answers = yield ask_directions(name, items, directions, self.means, epsilon, line, round_share)
                values = _project(values, answers)
            return PairSupports(items=items, values=values, guess=guess)
        max_items = _max_items(item_estimates, len(singles.order))
        belief = MatrixBelief(guess=guess, doubt=_guess_variance(singles), symmetric=together)
        for number in range(self.rounds):
            if self.cascade and number == self.rounds // 2:
                bonds = _select_bonds(values, singles.order, self.cascade, together=together)
                items = RelationItems(singles.order, self.how, bonds)
                belief = _extend_belief(belief, values, belief.variance(), items)
                values = belief.mean()
            pairs = self._directions(values, theta_at(self, number), number * self.fresh, together=together)
            directions = add_ranges(pairs, max_items, together=together)
            name = f"matrix, round {number + 1}"
            answers = yield ask_directions(name, items, directions, self.means, epsilon, line, round_share)
            add_answers(belief, answers)
            values = belief.mean()
        return PairSupports(items=items, values=values, guess=belief.guess, doubt=belief.variance())

    def _directions(self, values: Matrix, theta: float, fresh_start: int, *, together: bool) -> list[Sides]:
        """Return the pairs of directions of a round: the leading ones of the belief with each other, and fresh ones.

        In a symmetric matrix, squares suffice: of a direction, and of the sum of two.
        """
        left_vectors, singular, right_vectors = decomposed(values)
        rank, width = min(rank_of(singular, theta), _LEADING), len(values)
        fresh = min(self.fresh, width * (width - 1) // (2 if together else 1))  # no more than entries
        if together:
            sums = [left_vectors[:, row] + left_vectors[:, column] for row in range(rank) for column in range(row + 1)]
            sums += [public_signs(width, fresh_start + number) for number in range(fresh)]
            return round_pairs(zip(sums, sums, strict=True))
        leading = product(left_vectors.T[:rank], right_vectors.T[:rank])
        return round_pairs(leading) + fresh_pairs(width, range(fresh_start, fresh_start + fresh))


def fresh_pairs(width: int, numbers: range) -> list[Sides]:
    """Return the pairs of public random directions with some numbers."""
    return round_pairs((public_signs(width, 2 * number), public_signs(width, 2 * number + 1)) for number in numbers)


def _project(before: Matrix, answers: Sequence[Estimate]) -> Matrix:
    """Return the matrix of the next round (29); a direction without people keeps its value."""
    directions = zip(*(direction_of(answer) for answer in answers), strict=True)
    left_columns, right_columns = (np.array(weights, np.float64).T for weights in directions)
    values = [
        estimate_mean(answer)[0]
        if answer.people
        else float(left_columns[:, column] @ before @ right_columns[:, column])
        for column, answer in enumerate(answers)
    ]
    # Rounded directions have a length, which the projection has twice.
    squared_lengths = (left_columns**2).sum(0) * (right_columns**2).sum(0)
    return compose_matrix(left_columns, np.array(values) / squared_lengths, right_columns)


def _max_items(item_estimates: CandidateEstimates, width: int) -> int:
    """Return the number of related items that most people do not exceed, which bounds the range of their numbers."""
    if item_estimates.sizes is None:
        return width
    return min(width, max(2, item_estimates.sizes.padding("percentile", WIDEST)))


def _guess_variance(singles: Singles) -> Matrix:
    """Return the variance of the guess, up to a factor: a pair has at most as many people as its rarer item."""
    variance: Matrix = np.minimum.outer(singles.frequencies, singles.frequencies) ** 2
    np.fill_diagonal(variance, singles.variance)
    return np.maximum(variance, _MIN_VARIANCE)


def _select_bonds(values: Matrix, order: tuple[int, ...], count: int, *, together: bool) -> tuple[Pair, ...]:
    """Return the relations that become items: those with the largest support."""
    is_pair = np.triu(np.ones_like(values), 1) if together else 1 - np.eye(len(values))
    ranked_codes = np.argsort(np.where(is_pair.ravel() > 0, -values.ravel(), np.inf), kind="stable")
    width = len(order)
    return tuple((order[code // width], order[code % width]) for code in ranked_codes[: min(count, int(is_pair.sum()))])


def _extend_belief(belief: MatrixBelief, values: Matrix, variance: Matrix, items: RelationItems) -> MatrixBelief:
    """Return the belief with rows and columns for bonds, guessed from the present values.

    For chains, the share of holders of a bond (a, b) with c is that of holders of b. For items held together, it is the
    frequency of c, and 1 for the items of the bond.
    """
    item_count, width, rank = len(values), len(items), items.rank
    guess, doubt = np.zeros((width, width)), np.full((width, width), _MIN_VARIANCE)
    guess[:item_count, :item_count], doubt[:item_count, :item_count] = belief.guess, belief.doubt
    frequencies = np.clip(np.diag(values), 1e-6, 1.0)
    together = belief.symmetric
    bond_frequencies = [_clip_frequency(values[rank[a,], rank[b,]]) for a, b in items.bonds]
    sizes = np.concatenate((frequencies, bond_frequencies))
    for a, b in items.bonds:
        bond, first_item, second_item = rank[a, b], rank[a,], rank[b,]
        guess[bond, bond], doubt[bond, bond] = sizes[bond], max(float(variance[first_item, second_item]), _MIN_VARIANCE)
        for third in range(width if together else item_count):
            is_inside = third in (first_item, second_item)
            if third == bond or (is_inside and not together):
                continue
            if is_inside:
                share = 1.0
            elif together:
                share = sizes[third]
            else:
                share = _clip_frequency(values[second_item, third]) / frequencies[second_item]
            guess[bond, third] = sizes[bond] * min(share, 1.0)
            shared_variance = max(min(sizes[bond], sizes[third]) ** 2, _MIN_VARIANCE)
            doubt[bond, third] = doubt[bond, bond] if is_inside else shared_variance
            if together:
                guess[third, bond], doubt[third, bond] = guess[bond, third], doubt[bond, third]
    return belief.extend(guess, doubt)


def _clip_frequency(value: Any) -> float:
    return min(max(float(value), 0.0), 1.0)
