"""What protocols share that learn relations through a matrix: the items, then the matrix, then the likeliest pairs.

How the matrix is asked about is each protocol's own.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias

import numpy as np

from ...errors import MisuseError
from ...exact.relations import How
from ...privacy.budget import exact
from ..oracle_steps.choice import means
from ..protocol import Protocol
from ..protocols.pairs import Singles, check_relations, found_by, relied_on
from ..protocols.svim import SVIM
from ..study.conversation import Ask, Estimate, Learnt, Partition, Related, Talk, Wanted
from ..study.pair_questions import Folded, Items, NumberQuestion, Projection, Relations, sides
from ..study.rounds import AskedValues, Estimated, Values, check_parts, checked, cut_off, estimating, last_of
from .beliefs import Evidence
from .priors import Guessed, pulled
from .spectral import Matrix, Whole

# Of those who answer for relations one by one: who say how many they hold, as svim's 0.1 of 0.5.
_SIZES = Fraction(1, 5)
_CURIOSITY = 0.1  # deviations, by which a relation is believed larger where it is decided what is asked about


@dataclass(frozen=True, kw_only=True, eq=False)
class PairSupports:
    """A matrix of supports: of items and bonds with each other.

    Parameters
    ----------
    items
        What its rows and columns are.
    values
        What is believed of each entry.
    guess
        What chance would have: the independence guess.
    doubt
        How far each entry may be off, as a variance, where that is known.
    """

    items: Items
    values: Matrix
    guess: Matrix
    doubt: Matrix | None = None

    @property
    def ranked(self) -> Matrix:
        """What relations are chosen by: of two that are believed equal, the one that is less sure may be the larger."""
        return self.values if self.doubt is None else self.values + _CURIOSITY * np.sqrt(self.doubt)

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

    def guessed(self, of: list[tuple[int, ...]]) -> Guessed:
        """Return what is believed of these relations, as a guess.

        They are at most as frequent as the rarer of their two sides is believed to be.
        """
        rank, alone = self.items.rank, np.clip(np.diag(self.values), 0.0, 1.0)
        return Guessed(
            guess=np.maximum(self.at(self.values, of), 0.0),
            unsure=np.zeros(len(of)) if self.doubt is None else self.at(self.doubt, of),
            cap=np.array([min(alone[rank[one]], alone[rank[other]]) for one, other in map(sides, of)], np.float64),
        )


# A direction on either side, and the range of the number that people have of it.
Direction: TypeAlias = tuple[Whole, Whole, int, int]
Step: TypeAlias = Generator[Ask | tuple[Ask, ...], Any, PairSupports]


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
    finder
        Which protocol finds the items; `usual` is svim as printed, and svim-better otherwise.
    means
        The oracle of means: hm, pm or duchi.
    """

    shares: tuple[str, str, str] = ("0.3", "0.35", "0.35")
    how: How = "together"
    items: int = 64
    support: int = 1600
    finder: Literal["usual", "svim", "svim-better"] = "usual"
    means: str = "hm"

    @property
    def printed(self) -> bool:
        """Whether items and relations are asked for as the article has it."""
        return True

    def check(self, wanted: Wanted) -> None:
        """Refuse settings that do not add up."""
        check_parts(self.name, self.parts)
        check_relations(self, wanted)
        check_means(self.means)
        self._finder.check(Wanted(items=wanted.items, top=self.items, epsilon=wanted.epsilon))
        checked(1, "0.9", wanted.epsilon, size_oracle=self._oracles[0], oracles=self._oracles[1:])

    @property
    def _finder(self) -> SVIM:
        usual = "svim" if self.printed else "svim-better"
        return found_by(usual if self.finder == "usual" else self.finder)

    @property
    def _oracles(self) -> tuple[str, str]:
        return ("olh", "grr-or-olh") if self.printed else ("adaptive", "adaptive")

    @abstractmethod
    def matrix(self, singles: Singles, found: Estimated, line: Partition, share: Fraction, epsilon: Fraction) -> Step:
        """Ask a share of the people about the matrix."""

    def talk(self, wanted: Wanted) -> Talk:
        """Lead the conversation."""
        line, (first, second, third) = Partition(), self.parts
        found = yield from self._finder.items(wanted.items, self.items, wanted.epsilon, line, first)
        singles = Singles.of(found, self.items)
        if len(singles.order) < 2:
            return singles.alone()
        matrix = yield from self.matrix(singles, found, line, second, wanted.epsilon)
        if line.taken < first + second:
            third += first + second - line.taken  # nobody was asked about the matrix
        chosen = matrix.best(matrix.ranked, self.support)
        for bond in matrix.items.bonds:  # what a bond is relied on by has to be known
            chosen += [bond] if bond not in chosen else []
        asked = self._asked(chosen)
        estimated = yield from estimating(
            Relations(matrix.items, tuple(asked)),
            line,
            (third * _SIZES, third * (1 - _SIZES)),
            wanted.epsilon,
            oracles=self._oracles,
            padding="percentile" if self.printed else "predicted",
            told="each" if self.printed else "bins",
            near=last_of(matrix.at(matrix.values, chosen), wanted.top),
            longest=min(len(asked), _LONGEST),
            about="relations",
        )
        chosen, place = self._answered(chosen, estimated.of)
        values, variance = estimated.values[place], estimated.variance[place]
        if not self.printed:
            # Other people said something about the same numbers: where these are mostly noise, that is believed.
            values, variance = pulled(Evidence.noisy(values, variance), matrix.guessed(chosen))
            variance = variance + cut_off(values, estimated.correction) ** 2  # it is the same for all, as in `pairs`
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

    def _asked(self, chosen: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
        """Return which relations are asked about.

        Items that are simply together are so in any order: one answer says it for all of them.
        """
        asked: dict[Any, tuple[int, ...]] = {}
        for chain in chosen:
            asked.setdefault(self._same(chain), chain)
        return list(asked.values())

    def _same(self, chain: tuple[int, ...]) -> tuple[int, ...] | frozenset[int]:
        """Return what relations have in common that one answer is about."""
        return chain if self.printed or self.how != "together" else frozenset(chain)

    def _answered(self, chosen: list[tuple[int, ...]], of: AskedValues) -> tuple[list[tuple[int, ...]], list[int]]:
        """Return the relations chosen that were asked about, and the place of each among those."""
        places = {self._same(of[place]): place for place in range(len(of))}
        found = [chain for chain in chosen if self._same(chain) in places]
        return found, [places[self._same(chain)] for chain in found]


_LONGEST = 128  # how many relations of one person are told apart from more
WIDEST = Fraction(95, 100)  # of the people: what the range of a number has room for; beyond it is clipped
MOST_ROUNDS, MOST_FRESH = 100, 1000
MOST_WAYS = 2000  # fresh directions of all rounds: what is believed after them takes memory by the square of these


def check_means(name: str) -> None:
    """Refuse an oracle of means that there is not."""
    if name not in means():
        raise MisuseError(f"There is no oracle of means {name!r}; there are {', '.join(means())}.")


def check_rounds(plan: Any, least: int) -> None:
    """Refuse numbers of rounds and of directions that make no sense: settings `theta`, `rounds` and `fresh`."""
    if any(not 0 < exact(theta, "theta") <= 1 for theta in plan.theta):
        raise MisuseError(f"theta is over 0 and at most 1, twice; {' '.join(plan.theta)} was given.")
    if not least <= plan.rounds <= MOST_ROUNDS:
        raise MisuseError(f"rounds is from {least} to {MOST_ROUNDS}; {plan.rounds} was given.")
    if not 1 <= plan.fresh <= MOST_FRESH:
        raise MisuseError(f"fresh is from 1 to {MOST_FRESH:,}; {plan.fresh} was given.")
    if plan.rounds * plan.fresh > MOST_WAYS:
        raise MisuseError(
            f"{plan.rounds} rounds with {plan.fresh:,} fresh directions each are {plan.rounds * plan.fresh:,}, and "
            f"{plan.name} takes {MOST_WAYS:,} in all: give fewer rounds, or fewer fresh directions."
        )


def theta_at(plan: Any, at: int) -> float:
    """Return the share of the singular values in a round: from the first setting to the last, evenly."""
    first, last = (float(exact(theta, "theta")) for theta in plan.theta)
    return first + (last - first) * at / max(1, int(plan.rounds) - 1)


def asked(
    name: str,
    of: Items | int,
    ways: list[Direction],
    oracle: str,
    epsilon: Fraction,
    line: Partition,
    share: Fraction,
) -> tuple[Ask, ...]:
    """Return the rounds that ask for one number each, at once: of one direction on either side, within a range."""
    made, rounds = means()[oracle].make(epsilon), []
    for at, (left, right, low, high) in enumerate(ways, 1):
        one, other = tuple(left.tolist()), tuple(right.tolist())
        question: NumberQuestion
        if isinstance(of, int):
            question = Folded(items=of, left=one, right=other, low=low, high=high)
        else:
            question = Projection(items=of, left=one, right=other, low=low, high=high)
        who = line.next(share / len(ways))
        rounds.append(Ask(name=f"{name}, {at} of {len(ways)}", who=who, question=question, oracle=made))
    return tuple(rounds)


def direction(answer: Estimate) -> tuple[Whole, Whole]:
    """Return the direction on either side that a round was asked about; a study that goes on elsewhere has no other."""
    question = answer.ask.question
    if not isinstance(question, NumberQuestion):
        raise MisuseError(f"The round {answer.ask.name!r} is not about one number.")
    return np.array(question.left, np.int64), np.array(question.right, np.int64)


def measured(answer: Estimate) -> tuple[float, float]:
    """Return the mean number that people have, on the scale of its question, and its variance."""
    question = answer.ask.question
    if not isinstance(question, NumberQuestion):
        raise MisuseError(f"The round {answer.ask.name!r} is not about one number.")
    half = (question.high - question.low) / 2
    return question.low + half * (float(answer.values[0]) + 1), half * half * float(answer.variance[0])


def _reliable(chosen: list[tuple[int, ...]], values: Values, variance: Values, singles: Singles, top: int) -> Related:
    """Return the most reliable relations, the most reliable first; of equal ones, the most frequent.

    A confidence is a ratio of two noisy numbers: a relation has no more people than its first side, which is what
    `relied_on` says (D8).
    """
    alone: dict[tuple[int, ...], tuple[float, float]] = {
        (item,): (float(value), float(wide))
        for item, value, wide in zip(singles.order, singles.values, singles.variance, strict=True)
    }
    alone |= {chain: (float(values[at]), float(variance[at])) for at, chain in enumerate(chosen) if len(chain) == 2}
    first = np.array([alone[chain[:-1]] for chain in chosen]).reshape(-1, 2)
    second = np.array([alone[chain[-1:]] for chain in chosen]).reshape(-1, 2)
    floor = relied_on(first[:, 0], first[:, 1])
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
