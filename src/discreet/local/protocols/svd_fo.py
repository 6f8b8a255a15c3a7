"""SVD-FO: the most frequent items of a long list, folded into a square that is learnt as `relations` learns its matrix.

Item number i is the entry in row i // side and column i % side. What is learnt of the square chooses candidates, and
those are asked about one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
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
    Whole,
    ask_directions,
    bounds,
    check_means,
    check_rounds,
    decomposed,
    direction_of,
    estimate_mean,
    public_signs,
    rank_of,
    round_direction,
    shrink_estimates,
    theta_at,
)
from ..study import (
    LONGEST,
    MOST_PATTERNS,
    CandidateList,
    Learnt,
    Partition,
    Talk,
    Values,
    Wanted,
    check_parts,
    checked,
    estimating,
)

_LEADING = 6
_OUTSTANDING = 3.0  # standard deviations of noise
MOST_ITEMS = 1 << 18  # a direction has as many weights as the side of the square


@dataclass(frozen=True, kw_only=True)
class SVDFO(Protocol):
    """Find the most frequent items of a long list.

    Parameters
    ----------
    shares
        Of the people: for a first look at the items, for the square, and for the candidates.
    candidates
        How many candidates the square leaves for every item wanted.
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

    def check(self, wanted: Wanted) -> None:
        """Refuse settings that do not add up."""
        check_parts(self.name, self.parts)
        check_rounds(self, 1)
        if wanted.least > 1:
            raise MisuseError("svd-fo finds single items: use svsm for patterns of two items or more.")
        if wanted.items > MOST_ITEMS:
            raise MisuseError(f"svd-fo folds up to {MOST_ITEMS:,} items; there are {wanted.items:,}.")
        check_means(self.means)
        checked(self.candidates, "0.9", wanted.epsilon, size_oracle="adaptive", oracles=("adaptive",))
        if self.candidates * wanted.top > MOST_PATTERNS:
            raise MisuseError.format(
                "{candidates:,} candidates for each of {wanted:,} items are more than {room:,}, which no question "
                "has room for: give fewer candidates, or a smaller {top}.",
                candidates=self.candidates,
                wanted=wanted.top,
                room=MOST_PATTERNS,
            )

    def talk(self, wanted: Wanted) -> Talk:
        """Lead the conversation."""
        line, (first, second, third) = Partition(), self.parts
        seen = yield from estimating(
            CandidateList(items=wanted.items),
            line,
            (first / 10, first * Fraction(9, 10)),
            wanted.epsilon,
            oracles=("adaptive", "adaptive"),
            padding="predicted",
            told="bins",
            longest=LONGEST,
            about="items",
        )
        side = isqrt(wanted.items - 1) + 1
        guess, doubt = _guess(seen.values, seen.variance, side)
        most = 2 if seen.sizes is None else max(2, seen.sizes.padding("percentile", WIDEST))
        belief = MatrixBelief(guess=guess, doubt=doubt, symmetric=False)
        values = guess
        for at in range(self.rounds):
            ways = self._ways(values, at, min(most, wanted.items))
            part = second / self.rounds
            answers = yield ask_directions(
                f"square, round {at + 1}", wanted.items, ways, self.means, wanted.epsilon, line, part
            )
            for answer in answers:
                one, other = direction_of(answer)
                belief.add_measurement(one.astype(np.float64), other.astype(np.float64), *estimate_mean(answer))
            values = belief.mean()
        places = np.argsort(-values.ravel()[: wanted.items], kind="stable")[: self.candidates * wanted.top]
        found = yield from estimating(
            CandidateList(itemsets=tuple((int(place),) for place in np.sort(places))),
            line,
            (third / 5, third * Fraction(4, 5)),
            wanted.epsilon,
            oracles=("adaptive", "adaptive"),
            padding="predicted",
            told="bins",
            about="candidates",
        )
        order = found.best(len(found.of))
        return Learnt(
            itemsets=tuple(found.of[place] for place in order),
            values=found.values[order],
            variance=found.variance[order],
            facts={"side": side, "padding": found.pad, "correction": found.correction},
        )

    def _ways(self, values: Matrix, at: int, most: int) -> list[Direction]:
        """Return the directions of a round: the leading ones with each other, and fresh ones."""
        left, singular, right = decomposed(values)
        many, side = min(rank_of(singular, theta_at(self, at)), _LEADING), len(values)
        both = [(left[:, one], right[:, other]) for one in range(many) for other in range(many)]
        numbers = range(at * self.fresh, (at + 1) * self.fresh)
        both += [(public_signs(side, 2 * number), public_signs(side, 2 * number + 1)) for number in numbers]
        ways = [(round_direction(one), round_direction(other)) for one, other in both]
        # Someone with so many items has so many entries: no more than so many times the largest product.
        return [(one, other, *_within(one, other, most)) for one, other in ways]


def _within(left: Whole, right: Whole, most: int) -> tuple[int, int]:
    """Return the range of the number of a person with up to so many entries; beyond it is clipped (D5)."""
    low, high = bounds(left, right, len(left), together=False)
    largest = int(np.abs(left).max(initial=0)) * int(np.abs(right).max(initial=0))
    return max(low, -most * largest), min(high, most * largest)


def _guess(values: Values, variance: Values, side: int) -> tuple[Matrix, Matrix]:
    """Return the square as it was first seen, and how far that may be off.

    What stands out is taken as it is. The rest is pulled to what its rows and columns have by chance. Entries beyond
    the list are 0, and known to be.
    """
    first, off = np.zeros(side * side), np.full(side * side, 1e-12)
    noise = float(variance.min())
    plain = np.flatnonzero(values <= _OUTSTANDING * np.sqrt(noise))
    first[plain] = values[plain]
    square = first.reshape(side, side)
    rows, columns = np.clip(square.sum(1), 0.0, None), np.clip(square.sum(0), 0.0, None)
    chance = (np.outer(rows, columns) / max(float(rows.sum()), 1e-12)).ravel()
    first[: len(values)], off[: len(values)] = values, variance
    most = np.minimum.outer(rows, columns).ravel()
    guessed = ItemsetGuess(means=chance[plain], variance=np.zeros(len(plain)), cap=most[plain])
    first[plain], off[plain] = shrink_estimates(Evidence.noisy(values[plain], np.full(len(plain), noise)), guessed)
    return first.reshape(side, side), np.maximum(off, 1e-12).reshape(side, side)
