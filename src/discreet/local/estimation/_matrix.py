"""The common steps of protocols that learn relations through a matrix: items, then the matrix, then the best relations.

Each protocol has its own questions about the matrix.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias

import numpy as np

from ...errors import MisuseError
from ...privacy import exact
from ..oracle_steps import means
from ..protocols import SVIM, RelationProtocol, Singles, make_item_protocol
from ..study import (
    Ask,
    CandidateEstimates,
    Estimate,
    FoldedProjection,
    NumberQuestion,
    Partition,
    Projection,
    ProtocolResult,
    QuestionCandidates,
    RelationEstimates,
    RelationItems,
    Relations,
    RoundGenerator,
    StudyGoal,
    Values,
    check_candidates,
    check_parts,
    estimate_candidates,
    frequency_at,
    sides,
    truncation_error,
)
from ._beliefs import Evidence
from ._priors import ItemsetGuess, shrink_estimates
from ._spectral import Direction, Matrix, MatrixBelief, Sides

# The part of the last group of people that answers for sizes, as svim's 0.1 of 0.5.
_SIZES_SHARE = Fraction(1, 5)
# Chosen among six values on other seeds (`relations.md`, line 12).
_CURIOSITY = 0.1  # deviations that are added to an entry when relations are selected for a question


@dataclass(frozen=True, kw_only=True, eq=False)
class PairSupports:
    """A matrix of supports of pairs: of items, and of items with bonds.

    Parameters
    ----------
    items
        The items and bonds of its rows and columns.
    values
        The estimate of each entry.
    guess
        The support of each entry if items are independent.
    doubt
        The variance of each entry, if it is known.
    """

    items: RelationItems
    values: Matrix
    guess: Matrix
    doubt: Matrix | None = None

    @property
    def ranked(self) -> Matrix:
        """The scores that relations are selected by: of two equal estimates, the less certain one may be larger."""
        return self.values if self.doubt is None else self.values + _CURIOSITY * np.sqrt(self.doubt)

    def select_relations(self, values: Matrix, count: int) -> list[tuple[int, ...]]:
        """Return the relations with the largest entries: pairs of items, and bonds with an item outside the bond."""
        rows = [(item,) for item in self.items.order] + list(self.items.bonds)
        width = len(self.items.order)
        relations: list[tuple[int, ...]] = []
        for position in np.argsort(-values[:, :width].ravel(), kind="stable").tolist():
            antecedent, consequent = rows[position // width], self.items.order[position % width]
            if consequent not in antecedent:
                relations.append((*antecedent, consequent))
            if len(relations) == count:
                break
        return relations

    def entries_of(self, matrix: Matrix, relations: list[tuple[int, ...]]) -> Values:
        """Return the entry of each relation."""
        rank = self.items.rank
        places = [(rank[antecedent], rank[consequent]) for antecedent, consequent in map(sides, relations)]
        entries: Values = matrix[tuple(np.array(places, np.int64).reshape(-1, 2).T)]
        return entries

    def guess_of(self, relations: list[tuple[int, ...]]) -> ItemsetGuess:
        """Return the estimates of relations as a guess, each with the rarer of its two sides as its cap."""
        rank, side_supports = self.items.rank, np.clip(np.diag(self.values), 0.0, 1.0)
        return ItemsetGuess(
            means=np.maximum(self.entries_of(self.values, relations), 0.0),
            variance=np.zeros(len(relations)) if self.doubt is None else self.entries_of(self.doubt, relations),
            cap=np.array(
                [
                    min(side_supports[rank[antecedent]], side_supports[rank[consequent]])
                    for antecedent, consequent in map(sides, relations)
                ],
                np.float64,
            ),
        )


Step: TypeAlias = Generator[Ask | tuple[Ask, ...], Any, PairSupports]


@dataclass(frozen=True, kw_only=True)
class MatrixProtocol(RelationProtocol):
    """Relations through a matrix of supports.

    Parameters
    ----------
    shares
        The shares of the people: for the items, for the matrix, and for single relations.
    how
        The kind of relation: ``"together"`` in a basket, one ``"after"`` the other, or ``"given"`` as data.
    items
        The number of the most frequent items to search for relations.
    support
        The number of relations that are selected from the matrix, by their support.
    finder
        The protocol that finds the items; `usual` is svim as printed, and svim-better otherwise.
    means
        The oracle of means: hm, pm or duchi.
    """

    shares: tuple[str, str, str] = ("0.3", "0.35", "0.35")
    finder: Literal["usual", "svim", "svim-better"] = "usual"
    means: str = "hm"

    @property
    def printed(self) -> bool:
        """Whether the questions about items and relations are those of the article."""
        return True

    def check(self, goal: StudyGoal) -> None:
        """Refuse settings that do not add up."""
        check_parts(self.name, self.parts)
        self.check_items(goal)
        check_means(self.means)
        check_candidates(1, "0.9", goal.epsilon, size_oracle=self._oracles[0], oracles=self._oracles[1:])

    @property
    def item_protocol(self) -> SVIM:
        """The protocol that finds the items: svim as printed and svim-better otherwise, unless `finder` says so."""
        usual_finder = "svim" if self.printed else "svim-better"
        return make_item_protocol(usual_finder if self.finder == "usual" else self.finder)

    @property
    def _oracles(self) -> tuple[str, str]:
        return ("olh", "grr-or-olh") if self.printed else ("adaptive", "adaptive")

    @abstractmethod
    def matrix(
        self, singles: Singles, item_estimates: CandidateEstimates, line: Partition, share: Fraction, epsilon: Fraction
    ) -> Step:
        """Ask a share of the people about the matrix."""

    def ask_rounds(self, goal: StudyGoal) -> RoundGenerator:
        """Lead the conversation."""
        line, (items_share, matrix_share, relations_share) = Partition(), self.parts
        item_estimates, singles = yield from self.find_singles(goal, line, items_share)
        if len(singles.order) < 2:
            return singles.result_without_relations()
        matrix = yield from self.matrix(singles, item_estimates, line, matrix_share, goal.epsilon)
        if line.taken < items_share + matrix_share:
            relations_share += items_share + matrix_share - line.taken  # no person was asked about the matrix
        relations = matrix.select_relations(matrix.ranked, self.support)
        for bond in matrix.items.bonds:  # the confidence of a relation with a bond needs the support of the bond
            relations += [bond] if bond not in relations else []
        questions = self._questions(relations)
        estimated = yield from estimate_candidates(
            Relations(matrix.items, tuple(questions)),
            line,
            (relations_share * _SIZES_SHARE, relations_share * (1 - _SIZES_SHARE)),
            goal.epsilon,
            oracles=self._oracles,
            padding="percentile" if self.printed else "predicted",
            binning="each" if self.printed else "bins",
            frequency=frequency_at(matrix.entries_of(matrix.values, relations), goal.top),
            largest_size=min(len(questions), _MAX_RELATIONS_PER_PERSON),
            about="relations",
        )
        relations, positions = self._answered(relations, estimated.candidates)
        values, variance = estimated.values[positions], estimated.variance[positions]
        if not self.printed:
            # Other people measured the matrix: an estimate that is mostly noise is shrunk to their answer.
            values, variance = shrink_estimates(Evidence.noisy(values, variance), matrix.guess_of(relations))
            variance = (
                variance + truncation_error(values, estimated.correction) ** 2
            )  # not shrunk: one error for all, see `pairs`
        facts = {
            "item padding": item_estimates.pad,
            "relation padding": estimated.pad,
            "relations asked about": len(questions),
        }
        related = _most_reliable(relations, values, variance, singles, goal.top)
        by_guess = matrix.select_relations(matrix.guess, self.support)
        return ProtocolResult(
            itemsets=tuple((item,) for item in singles.order),
            values=singles.values,
            variance=singles.variance,
            facts=facts,
            related=related,
            selected=tuple(relations[: self.support]),
            guessed=tuple(by_guess),
        )

    def _questions(self, relations: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
        """Return the relations to ask about: one of the orders of items that are simply together."""
        questions: dict[Any, tuple[int, ...]] = {}
        for chain in relations:
            questions.setdefault(self._answer_key(chain), chain)
        return list(questions.values())

    def _answer_key(self, chain: tuple[int, ...]) -> tuple[int, ...] | frozenset[int]:
        """Return the key of a relation's answer: relations with equal keys have one answer."""
        return chain if self.printed or self.how != "together" else frozenset(chain)

    def _answered(
        self, relations: list[tuple[int, ...]], candidates: QuestionCandidates
    ) -> tuple[list[tuple[int, ...]], list[int]]:
        """Return the chosen relations with an answer, and the position of each answer."""
        positions = {self._answer_key(candidates[position]): position for position in range(len(candidates))}
        answered = [chain for chain in relations if self._answer_key(chain) in positions]
        return answered, [positions[self._answer_key(chain)] for chain in answered]


# With a bin for each size, more bins have fewer people each. Chosen.
_MAX_RELATIONS_PER_PERSON = 128  # the largest number of relations of one person that a question about sizes tells
# A wider range adds variance with its square; a narrower range clips more baskets (`relations.md`, notes).
WIDEST = Fraction(95, 100)  # the share of the people with a number within the range; further numbers are clipped
# Limits of settings, far above the defaults of 5 rounds and 64 directions: every direction has a group of its own.
MAX_ROUNDS, MAX_FRESH = 100, 1000
MAX_DIRECTIONS = 2000  # fresh directions of all rounds: the covariance of their answers takes memory by its square


def check_means(name: str) -> None:
    """Check the name of an oracle of means."""
    if name not in means():
        raise MisuseError(f"There is no oracle of means {name!r}; there are {', '.join(means())}.")


def check_rounds(plan: Any, min_rounds: int) -> None:
    """Check the settings `theta`, `rounds` and `fresh` of a protocol."""
    if any(not 0 < exact(theta, "theta") <= 1 for theta in plan.theta):
        raise MisuseError(f"theta is over 0 and at most 1, twice; {' '.join(plan.theta)} was given.")
    if not min_rounds <= plan.rounds <= MAX_ROUNDS:
        raise MisuseError(f"rounds is from {min_rounds} to {MAX_ROUNDS}; {plan.rounds} was given.")
    if not 1 <= plan.fresh <= MAX_FRESH:
        raise MisuseError(f"fresh is from 1 to {MAX_FRESH:,}; {plan.fresh} was given.")
    if plan.rounds * plan.fresh > MAX_DIRECTIONS:
        raise MisuseError(
            f"{plan.rounds} rounds with {plan.fresh:,} fresh directions each are {plan.rounds * plan.fresh:,}, and "
            f"{plan.name} takes {MAX_DIRECTIONS:,} in all: give fewer rounds, or fewer fresh directions."
        )


def theta_at(plan: Any, round_number: int) -> float:
    """Return the share of the singular values in a round (from 0): linear from the first setting to the last."""
    first_theta, last_theta = (float(exact(theta, "theta")) for theta in plan.theta)
    return first_theta + (last_theta - first_theta) * round_number / max(1, int(plan.rounds) - 1)


def ask_directions(
    name: str,
    row_items: RelationItems | int,
    directions: list[Direction],
    oracle: str,
    epsilon: Fraction,
    line: Partition,
    share: Fraction,
) -> tuple[Ask, ...]:
    """Return the simultaneous rounds of one number each: of one pair of directions, within a range."""
    mean_oracle, rounds = means()[oracle].make(epsilon), []
    for number, (left_weights, right_weights, low, high) in enumerate(directions, 1):
        left_side, right_side = tuple(left_weights.tolist()), tuple(right_weights.tolist())
        question: NumberQuestion
        if isinstance(row_items, int):
            question = FoldedProjection(items=row_items, left=left_side, right=right_side, low=low, high=high)
        else:
            question = Projection(items=row_items, left=left_side, right=right_side, low=low, high=high)
        people = line.next(share / len(directions))
        rounds.append(
            Ask(name=f"{name}, {number} of {len(directions)}", group=people, question=question, oracle=mean_oracle)
        )
    return tuple(rounds)


def direction_of(answer: Estimate) -> Sides:
    """Return both directions of a round.

    They are read from the question, as a study that is continued elsewhere has no further record of them.
    """
    question = answer.ask.question
    if not isinstance(question, NumberQuestion):
        raise MisuseError(f"The round {answer.ask.name!r} is not about one number.")
    return np.array(question.left, np.int64), np.array(question.right, np.int64)


def estimate_mean(answer: Estimate) -> tuple[float, float]:
    """Return the mean of the numbers of all people, on the scale of their question, and its variance."""
    question = answer.ask.question
    if not isinstance(question, NumberQuestion):
        raise MisuseError(f"The round {answer.ask.name!r} is not about one number.")
    # The oracle of means works on [-1, 1].
    half = (question.high - question.low) / 2
    return question.low + half * (float(answer.values[0]) + 1), half * half * float(answer.variance[0])


def add_answers(belief: MatrixBelief, answers: Iterable[Estimate]) -> None:
    """Add the mean of each round to a belief, as a measurement along the directions of the round."""
    for answer in answers:
        left_weights, right_weights = direction_of(answer)
        belief.add_measurement(
            left_weights.astype(np.float64), right_weights.astype(np.float64), *estimate_mean(answer)
        )


def _most_reliable(
    relations: list[tuple[int, ...]], values: Values, variance: Values, singles: Singles, top: int
) -> RelationEstimates:
    """Return the `top` most reliable relations, the most reliable first; of equal ones, the most frequent."""
    sides_alone: dict[tuple[int, ...], tuple[float, float]] = {
        (item,): (float(value), float(item_variance))
        for item, value, item_variance in zip(singles.order, singles.values, singles.variance, strict=True)
    }
    sides_alone |= {
        chain: (float(values[row]), float(variance[row])) for row, chain in enumerate(relations) if len(chain) == 2
    }
    antecedents = np.array([sides_alone[chain[:-1]] for chain in relations]).reshape(-1, 2)
    consequents = np.array([sides_alone[chain[-1:]] for chain in relations]).reshape(-1, 2)
    return RelationEstimates.most_reliable(
        relations, values, variance, (antecedents[:, 0], antecedents[:, 1]), consequents[:, 0], top
    )
