"""What protocols share that learn relations through a matrix: the items, then the matrix, then the likeliest pairs.

How the matrix is asked about is each protocol's own.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from ...errors import MisuseError
from ...exact.relating import How
from ...privacy.budget import exact
from ..asking import Ask, Estimate, Learnt, Line, Related, Talk, Wanted
from ..oracles.known import means
from ..relations import Folded, Items, Number, Projection, Relations, sides
from .pairs import Singles, check_relations, found_by
from .priors import two_part
from .protocol import Protocol
from .rounds import Estimated, Values, checked, estimating
from .spectral import Matrix, Whole

_SIZES = Fraction(
    1, 5
)  # of those who answer for relations one by one: who say how many they hold, as svim's 0.1 of 0.5


@dataclass(frozen=True, kw_only=True, eq=False)
class Supports:
    """A matrix of supports: of items and bonds with each other.

    Parameters
    ----------
    items
        What its rows and columns are.
    values
        What is believed of each entry.
    guess
        What chance would have: the independence guess.
    """

    items: Items
    values: Matrix
    guess: Matrix

    def best(self, values: Matrix, many: int) -> list[tuple[int, ...]]:
        """Return the relations with the largest entries: pairs of items, and bonds with an item that is not theirs."""
        rows = [(item,) for item in self.items.order] + list(self.items.bonds)
        width = len(self.items.order)
        found: list[tuple[int, ...]] = []
        for code in np.argsort(-values[:, :width].ravel(), kind="stable").tolist():
            first, second = rows[code // width], self.items.order[code % width]
            if second not in first:
                found.append((*first, second))
            if len(found) == many:
                break
        return found

    def at(self, matrix: Matrix, of: list[tuple[int, ...]]) -> Values:
        """Return the entries of these relations."""
        rank = self.items.rank
        places = [(rank[one], rank[other]) for one, other in map(sides, of)]
        found: Values = matrix[tuple(np.array(places, np.int64).reshape(-1, 2).T)]
        return found


# A direction on either side, and the range of the number that people have of it.
Way: TypeAlias = tuple[Whole, Whole, int, int]
Step: TypeAlias = Generator[Ask | tuple[Ask, ...], Any, Supports]


@dataclass(frozen=True, kw_only=True)
class MatrixProtocol(Protocol):
    """Relations through a matrix of supports.

    Parameters
    ----------
    shares
        Of the people: for the items, for the matrix, and for the relations one by one.
    how
        What makes a relation: ``"together"`` in a basket, one ``"after"`` the other, or ``"given"`` as data.
    items
        Among how many of the most frequent items.
    support
        How many relations the matrix leaves, by their support.
    means
        The oracle of means: hm, pm or duchi.
    """

    shares: tuple[str, str, str] = ("0.3", "0.35", "0.35")
    how: How = "together"
    items: int = 64
    support: int = 1600
    means: str = "hm"

    @property
    def parts(self) -> list[Fraction]:
        """The shares as numbers."""
        return [exact(share, "a share") for share in self.shares]

    @property
    def printed(self) -> bool:
        """Whether items and relations are asked for as the article has it."""
        return True

    def check(self, wanted: Wanted) -> None:
        """Refuse settings that do not add up."""
        if any(share <= 0 for share in self.parts) or sum(self.parts) > 1:
            raise MisuseError(f"The shares of {self.name} are over 0, and add up to 1 at most.")
        check_relations(self, wanted)
        check_means(self.means)
        finder = found_by("svim" if self.printed else "svim-better")
        finder.check(Wanted(items=wanted.items, top=self.items, epsilon=wanted.epsilon))
        checked(1, "0.9", wanted.epsilon, size_oracle=self._oracles[0], oracles=self._oracles[1:])

    @property
    def _oracles(self) -> tuple[str, str]:
        return ("olh", "grr-or-olh") if self.printed else ("adaptive", "adaptive")

    @abstractmethod
    def matrix(self, singles: Singles, found: Estimated, line: Line, share: Fraction, epsilon: Fraction) -> Step:
        """Ask a share of the people about the matrix."""

    def talk(self, wanted: Wanted) -> Talk:
        """Lead the conversation."""
        line, (first, second, third) = Line(), self.parts
        finder = found_by("svim" if self.printed else "svim-better")
        found = yield from finder.items(wanted.items, self.items, wanted.epsilon, line, first)
        singles = Singles.of(found, self.items)
        if len(singles.order) < 2:
            return singles.alone()
        matrix = yield from self.matrix(singles, found, line, second, wanted.epsilon)
        if line.taken < first + second:
            third += first + second - line.taken  # nobody was asked about the matrix
        chosen = matrix.best(matrix.values, self.support)
        for bond in matrix.items.bonds:  # what a bond is relied on by has to be known
            chosen += [bond] if bond not in chosen else []
        asked, place = self._asked(chosen)
        estimated = yield from estimating(
            Relations(matrix.items, tuple(asked)),
            line,
            (third * _SIZES, third * (1 - _SIZES)),
            wanted.epsilon,
            oracles=self._oracles,
            padding="percentile" if self.printed else "predicted",
            told="each" if self.printed else "bins",
            near=_near(matrix.at(matrix.values, chosen), wanted.top),
            longest=min(len(asked), _LONGEST),
            about="relations",
        )
        values, variance = estimated.values[place], estimated.variance[place]
        if not self.printed:
            # Other people said something about the same numbers: where these are mostly noise, that is believed.
            values, variance = two_part(values, variance, matrix.at(matrix.values, chosen))
        facts = {"item padding": found.pad, "relation padding": estimated.pad, "relations asked about": len(asked)}
        related = _reliable(chosen, values, variance, singles, wanted.top)
        by_guess = matrix.best(matrix.guess, self.support)
        return Learnt(
            itemsets=tuple((item,) for item in singles.order),
            values=singles.values,
            variance=singles.variance,
            facts=facts,
            related=related,
            kept=tuple(chosen[: self.support]),
            guessed=tuple(by_guess),
        )

    def _asked(self, chosen: list[tuple[int, ...]]) -> tuple[list[tuple[int, ...]], list[int]]:
        """Return which relations are asked about, and the place among them of each that was chosen.

        Items that are simply together are so in any order: one answer says it for all of them.
        """
        if self.printed or self.how != "together":
            return chosen, list(range(len(chosen)))
        places: dict[frozenset[int], int] = {}
        for chain in chosen:
            places.setdefault(frozenset(chain), len(places))
        first = {places[frozenset(chain)]: chain for chain in reversed(chosen)}
        return [first[at] for at in range(len(places))], [places[frozenset(chain)] for chain in chosen]


_LONGEST = 128  # how many relations of one person are told apart from more


def check_means(name: str) -> None:
    """Refuse an oracle of means that there is not."""
    if name not in means():
        raise MisuseError(f"There is no oracle of means {name!r}; there are {', '.join(means())}.")


def asked(
    name: str,
    of: Items | int,
    ways: list[Way],
    oracle: str,
    epsilon: Fraction,
    line: Line,
    share: Fraction,
) -> tuple[Ask, ...]:
    """Return the rounds that ask for one number each, at once: of one direction on either side, within a range."""
    made, rounds = means()[oracle].make(epsilon), []
    for at, (left, right, low, high) in enumerate(ways, 1):
        one, other = tuple(left.tolist()), tuple(right.tolist())
        question: Number
        if isinstance(of, int):
            question = Folded(items=of, left=one, right=other, low=low, high=high)
        else:
            question = Projection(items=of, left=one, right=other, low=low, high=high)
        who = line.next(share / len(ways))
        rounds.append(Ask(name=f"{name}, {at} of {len(ways)}", who=who, question=question, oracle=made))
    return tuple(rounds)


def measured(answer: Estimate) -> tuple[float, float]:
    """Return the mean number that people have, on the scale of its question, and its variance."""
    question = answer.ask.question
    if not isinstance(question, Number):
        raise MisuseError(f"The round {answer.ask.name!r} is not about one number.")
    half = (question.high - question.low) / 2
    return question.low + half * (float(answer.values[0]) + 1), half * half * float(answer.variance[0])


def _near(values: Values, top: int) -> float:
    """Return about how frequent the last of the top relations is."""
    return min(max(1e-4, float(np.sort(values)[::-1][min(top, len(values)) - 1])), 1.0)


def _reliable(chosen: list[tuple[int, ...]], values: Values, variance: Values, singles: Singles, top: int) -> Related:
    """Return the most reliable relations, the most reliable first; of equal ones, the most frequent.

    A confidence is a ratio of two noisy numbers: a first side is at least what its own noise is, and a relation has no
    more people than its first side (D8).
    """
    alone: dict[tuple[int, ...], tuple[float, float]] = {
        (item,): (float(value), float(wide))
        for item, value, wide in zip(singles.order, singles.values, singles.variance, strict=True)
    }
    alone |= {chain: (float(values[at]), float(variance[at])) for at, chain in enumerate(chosen) if len(chain) == 2}
    first = np.array([alone[chain[:-1]] for chain in chosen]).reshape(-1, 2)
    second = np.array([alone[chain[-1:]] for chain in chosen]).reshape(-1, 2)
    floor = np.clip(np.maximum(first[:, 0], np.sqrt(first[:, 1])), 1e-6, 1.0)
    confidence = np.clip(values, 0.0, floor) / floor
    best = np.lexsort((-values, -confidence))[:top]
    return Related(
        first=tuple(chosen[place][:-1] for place in best),
        second=tuple(chosen[place][-1:] for place in best),
        values=values[best],
        variance=variance[best],
        first_values=floor[best],
        first_variance=first[best, 1],
        second_values=np.clip(second[best, 0], 0.0, 1.0),
    )
