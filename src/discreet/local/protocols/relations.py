"""LDP-RM: relations that many people hold and that can be relied on.

The items first; then a matrix with the support of every pair of them, learnt through few numbers that people have of
it; then the likeliest pairs one by one. As printed, a round asks again about the directions of the round before; the
corrected form asks about new ones too, and weighs all answers by their precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np

from ...errors import MisuseError
from ..estimation import (
    WIDEST,
    Direction,
    Matrix,
    MatrixBelief,
    MatrixProtocol,
    PairSupports,
    Step,
    Whole,
    ask_directions,
    bounds,
    check_rounds,
    compose_matrix,
    decomposed,
    direction_of,
    estimate_mean,
    independent,
    public_signs,
    rank_of,
    round_direction,
    theta_at,
)
from ..study import Estimate, Estimated, Items, Pair, Partition, Wanted
from .pairs import Singles

_LEADING = 4  # directions of a round whose sums are asked about too


@dataclass(frozen=True, kw_only=True)
class RelationMiner(MatrixProtocol):
    """Find the relations with the largest confidence among those with the largest support.

    Parameters
    ----------
    form
        ``"corrected"``, or ``"printed"`` as the article has it, where only privacy and arithmetic are put right.
    theta
        Which share of the singular values the leading directions of a round have, in the first round and in the last.
    rounds
        How often the matrix is asked about. With 0 it is the independence guess, and its people answer for the
        relations.
    fresh
        How many directions of a round are new ones (corrected), at most.
    cascade
        How many relations become items themselves, half the rounds on: ((a, b), c) is a relation then (corrected).
    shares, how, items, support, finder, means
        Of the people: for the items, for the matrix, and for the relations one by one; what makes a relation; among how
        many of the most frequent items; how many relations the matrix leaves; which protocol finds the items (`usual`:
        svim as printed, and svim-better corrected); and the oracle of means.
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
        """Whether items and relations are asked for as the article has it."""
        return self.form == "printed"

    def check(self, wanted: Wanted) -> None:
        """Refuse settings that do not add up."""
        super().check(wanted)
        check_rounds(self, 0)
        if not 0 <= self.cascade <= self.items:
            raise MisuseError(f"cascade is from 0 to the number of items, {self.items}; {self.cascade} was given.")
        if self.cascade and (self.printed or self.rounds < 2):
            raise MisuseError("cascade is for the corrected form, with 2 rounds or more.")

    def matrix(self, singles: Singles, found: Estimated, line: Partition, share: Fraction, epsilon: Fraction) -> Step:
        """Ask a share of the people about the matrix, round by round."""
        items, guess = Items(singles.order, self.how), independent(singles.values)
        if not self.rounds:
            return PairSupports(items=items, values=guess, guess=guess)
        part = share / self.rounds
        if self.printed:
            values = guess
            for at in range(self.rounds):
                left, singular, right = decomposed(values)
                many = rank_of(singular, theta_at(self, at))
                if not many:
                    break  # nothing is left to ask about
                ways = [_printed(round_direction(left[:, one]), round_direction(right[:, one])) for one in range(many)]
                answers = yield ask_directions(_named(at), items, ways, self.means, epsilon, line, part)
                values = _updated(values, answers)
            return PairSupports(items=items, values=values, guess=guess)
        together = self.how == "together"
        most = _most(found, len(singles.order))
        belief = MatrixBelief(guess=guess, doubt=_doubt(singles), symmetric=together)
        values, number = guess, 0
        for at in range(self.rounds):
            if self.cascade and at == self.rounds // 2:
                items = Items(singles.order, self.how, _bonds(values, singles.order, self.cascade, together=together))
                belief = _extended(belief, values, belief.variance(), items)
                values = belief.mean()
            pairs = self._directions(values, theta_at(self, at), number, together=together)
            number += self.fresh
            ways = [(one, other, *bounds(one, other, most, together=together)) for one, other in pairs]
            answers = yield ask_directions(_named(at), items, ways, self.means, epsilon, line, part)
            for answer in answers:
                one, other = direction_of(answer)
                belief.add_measurement(one.astype(np.float64), other.astype(np.float64), *estimate_mean(answer))
            values = belief.mean()
        return PairSupports(items=items, values=values, guess=belief.guess, doubt=belief.variance())

    def _directions(self, values: Matrix, theta: float, number: int, *, together: bool) -> list[tuple[Whole, Whole]]:
        """Return the directions of a round: the leading ones as they are believed now, with each other, and fresh ones.

        Where an entry and its mirror image are the same, squares say everything: of a direction, and of the sum of two.
        """
        left, singular, right = decomposed(values)
        many, width = min(rank_of(singular, theta), _LEADING), len(values)
        fresh = min(self.fresh, width * (width - 1) // (2 if together else 1))  # no more than there are entries
        if together:
            ways = [left[:, one] + left[:, other] for one in range(many) for other in range(one + 1)]
            ways += [public_signs(width, number + at) for at in range(fresh)]
            return [(round_direction(way), round_direction(way)) for way in ways]
        both = [(left[:, one], right[:, other]) for one in range(many) for other in range(many)]
        both += [
            (public_signs(width, 2 * (number + at)), public_signs(width, 2 * (number + at) + 1)) for at in range(fresh)
        ]
        return [(round_direction(one), round_direction(other)) for one, other in both]


def _named(at: int) -> str:
    return f"matrix, round {at + 1}"


def _printed(left: Whole, right: Whole) -> Direction:
    """Return a pair of directions with the range that any set of relations has, equations (21) and (22)."""
    return (left, right, *bounds(left, right, len(left), together=False))


def _updated(before: Matrix, answers: Sequence[Estimate]) -> Matrix:
    """Return the matrix of the next round (29); what nobody was asked about stays as it was."""
    ways = [direction_of(answer) for answer in answers]
    values = [estimate_mean(answer)[0] if answer.people else None for answer in answers]
    left = np.array([one for one, _ in ways], np.float64).T
    right = np.array([other for _, other in ways], np.float64).T
    # Directions in whole numbers have a length, which the projection has twice.
    length = (left**2).sum(0) * (right**2).sum(0)
    kept = [float(left[:, at] @ before @ right[:, at]) if value is None else value for at, value in enumerate(values)]
    return compose_matrix(left, np.array(kept) / length, right)


def _most(found: Estimated, width: int) -> int:
    """Return how many of the items most people hold at most, as sizes were learnt: the range of numbers follows."""
    if found.sizes is None:
        return width
    return min(width, max(2, found.sizes.padding("percentile", WIDEST)))


def _doubt(singles: Singles) -> Matrix:
    """Return how far the guess may be off, up to a factor: a pair has up to as many people as its rarer item."""
    doubt: Matrix = np.minimum.outer(singles.chances, singles.chances) ** 2
    np.fill_diagonal(doubt, np.maximum(singles.variance, 1e-12))
    return np.maximum(doubt, 1e-12)


def _bonds(values: Matrix, order: tuple[int, ...], many: int, *, together: bool) -> tuple[Pair, ...]:
    """Return the relations that become items: those with the largest support."""
    allowed = np.triu(np.ones_like(values), 1) if together else 1 - np.eye(len(values))
    ranked = np.argsort(np.where(allowed.ravel() > 0, -values.ravel(), np.inf), kind="stable")
    width = len(order)
    return tuple((order[code // width], order[code % width]) for code in ranked[: min(many, int(allowed.sum()))])


def _extended(belief: MatrixBelief, values: Matrix, variance: Matrix, items: Items) -> MatrixBelief:
    """Return the belief with rows and columns for bonds, guessed from what is believed now.

    A bond (a, b) goes with c as often as b does, where chains are asked about; with items that are together, it has c
    by chance, and its own items always.
    """
    old, width, rank = len(values), len(items), items.rank
    guess, doubt = np.zeros((width, width)), np.full((width, width), 1e-12)
    guess[:old, :old], doubt[:old, :old] = belief.guess, belief.doubt
    alone = np.clip(np.diag(values), 1e-6, 1.0)
    together = belief.symmetric
    size = np.concatenate((alone, [_fraction(values[rank[a,], rank[b,]]) for a, b in items.bonds]))
    for a, b in items.bonds:
        at, one, other = rank[a, b], rank[a,], rank[b,]
        guess[at, at], doubt[at, at] = size[at], max(float(variance[one, other]), 1e-12)
        for third in range(width if together else old):
            if third == at or (not together and third in (one, other)):
                continue
            inside = third in (one, other)
            share = 1.0 if inside else size[third] if together else _fraction(values[other, third]) / alone[other]
            guess[at, third] = size[at] * min(share, 1.0)
            doubt[at, third] = doubt[at, at] if inside else max(min(size[at], size[third]) ** 2, 1e-12)
            if together:
                guess[third, at], doubt[third, at] = guess[at, third], doubt[at, third]
    return belief.extend(guess, doubt)


def _fraction(value: Any) -> float:
    return min(max(float(value), 0.0), 1.0)
