"""The linear algebra behind relations: a matrix of supports, directions of questions about it, and its estimation.

Directions are whole numbers, so that the device computes exactly the sums that the estimate accounts for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...kernels import along_root, back_from_root, grow_root
from ..device import hash_item

Matrix: TypeAlias = NDArray[np.float64]
WholeNumbers: TypeAlias = NDArray[np.int64]
# The weights of both sides of a question; and with the range of the number that each person computes from them.
Sides: TypeAlias = tuple[WholeNumbers, WholeNumbers]
Direction: TypeAlias = tuple[WholeNumbers, WholeNumbers, int, int]

SCALE = 4096  # the largest weight of a direction: rounding moves a weight by at most 1 / 8192 of the largest
# Arithmetic alone: sums of weights are rounded at about 1e-15, and a covariance needs noise above its rounding to have
# a triangular root.
_NEGLIGIBLE, _RELATIVE_NOISE_FLOOR = 1e-12, 1e-8
_BLOCK_CELLS = 1 << 22  # numbers of a block in memory: 32 MiB of doubles
# The variance of the guess is known up to a factor, and the likeliest factor of the grid is taken. Steps of 4 are steps
# of 2 in deviations. `relations.md` has an experiment on the smallest factor.
_FACTORS = tuple(4.0**power for power in range(-4, 4))


def independent(supports: Matrix) -> Matrix:
    """Return the fraction of people with both items of each pair, if all items are independent (equation (10)).

    Supports are clipped to fractions: noise may move them below 0 or above 1 (D8).
    """
    frequencies = np.clip(supports, 0.0, 1.0)
    guess: Matrix = np.outer(frequencies, frequencies)
    np.fill_diagonal(guess, frequencies)
    return guess


def decomposed(matrix: Matrix) -> tuple[Matrix, Matrix, Matrix]:
    """Return left vectors, singular values and right vectors of a matrix, vectors as columns.

    A singular vector is determined up to its sign: the largest weight of each left vector is made positive.
    """
    left_vectors, singular, right_rows = np.linalg.svd(matrix)
    vector_signs = np.sign(left_vectors[np.argmax(np.abs(left_vectors), axis=0), np.arange(len(singular))])
    return left_vectors * vector_signs, singular, right_rows.T * vector_signs


def rank_of(singular: Matrix, theta: float) -> int:
    """Return the least number of values with the share `theta` of their sum (equation (31), D7); 0 for zeros."""
    total = float(singular.sum())
    if total <= _NEGLIGIBLE:
        return 0
    # The tolerance keeps a share of exactly theta, as of equal values, from depending on rounding.
    reaches_share = np.cumsum(singular) >= (theta - _NEGLIGIBLE) * total
    return int(np.argmax(reaches_share)) + 1 if reaches_share.any() else len(singular)


def compose_matrix(left_vectors: Matrix, values: Matrix, right_vectors: Matrix) -> Matrix:
    """Return the matrix with the given values along pairs of directions (equation (29)).

    The singular vectors of the result are the directions themselves: the printed iteration stands still (D1).
    """
    matrix: Matrix = (left_vectors * values) @ right_vectors.T
    return matrix


def round_direction(direction: Matrix) -> WholeNumbers:
    """Return a direction in whole numbers, with `SCALE` as its largest weight."""
    largest = float(np.abs(direction).max(initial=0.0))
    if largest <= _NEGLIGIBLE:
        return np.zeros(len(direction), np.int64)
    return np.rint(direction * (SCALE / largest)).astype(np.int64)


def public_signs(width: int, number: int) -> Matrix:
    """Return a public row of pseudorandom signs, determined by its number."""
    seed = (
        2 * number + 1,
        0x9E3779B9,
    )  # odd multipliers permute 32-bit words; 0x9E3779B9 is 2^32 over the golden ratio
    return np.array([1.0 - 2.0 * (hash_item(seed, place) & 1) for place in range(width)])


def reach(direction: WholeNumbers, max_items: int) -> tuple[int, int]:
    """Return the largest sum of up to `max_items` weights, and minus the smallest sum."""
    ordered = np.sort(direction)
    positive = int(np.clip(ordered[::-1][:max_items], 0, None).sum())
    return positive, -int(np.clip(ordered[:max_items], None, 0).sum())


def bounds(
    left_weights: WholeNumbers, right_weights: WholeNumbers, max_items: int, *, together: bool
) -> tuple[int, int]:
    """Return the range of a person's number with up to `max_items` items, for any set of relations (21), (22).

    The number of a person with more items is clipped to the range (D5). Items that are simply together make a product
    of two sums; for a direction with itself the product is a square, with a much smaller range (D6).
    """
    (left_high, left_low), (right_high, right_low) = reach(left_weights, max_items), reach(right_weights, max_items)
    if together and np.array_equal(left_weights, right_weights):
        return 0, max(left_high, left_low) ** 2
    if together and np.array_equal(left_weights, -right_weights):
        return -(max(left_high, left_low) ** 2), 0
    if together:
        return -max(left_high * right_low, left_low * right_high), max(left_high * right_high, left_low * right_low)
    # Relations in an order may be any subset of all pairs: the positive and the negative terms of both sides add up.
    return -(left_high * right_low + left_low * right_high), left_high * right_high + left_low * right_low


def round_pairs(pairs: Iterable[tuple[Matrix, Matrix]]) -> list[Sides]:
    """Return pairs of directions in whole numbers."""
    return [(round_direction(left_weights), round_direction(right_weights)) for left_weights, right_weights in pairs]


def add_ranges(pairs: Iterable[Sides], max_items: int | None = None, *, together: bool = False) -> list[Direction]:
    """Return each pair of directions with the range of its number; None for baskets with any number of items."""
    return [
        (*pair, *bounds(*pair, len(pair[0]) if max_items is None else max_items, together=together)) for pair in pairs
    ]


@dataclass(kw_only=True)
class _AnswerCovariance:
    """The covariance of answers, in units of their own noise: the identity, plus a factor times `spread`.

    Parameters
    ----------
    spread, noise
        The covariance from the uncertainty of the guess, and the standard deviation of the noise of each answer.
    position, roots
        The position of the likeliest factor, and the triangular roots of the covariance for it and its neighbours.
    along
        The residuals of the answers, solved along the root of the likeliest factor.
    """

    spread: Matrix = field(default_factory=lambda: np.zeros((0, 0)))
    noise: Matrix = field(default_factory=lambda: np.zeros(0))
    position: int = 0
    roots: dict[int, Matrix] = field(default_factory=dict)
    along: Matrix = field(default_factory=lambda: np.zeros(0))

    @property
    def factor(self) -> float:
        """The likeliest factor."""
        return _FACTORS[self.position]

    @property
    def root(self) -> Matrix:
        """The triangular root of the covariance for the likeliest factor."""
        return self.roots[self.position]

    def grow(self, spread: Matrix, noise: Matrix, residuals: Matrix) -> _AnswerCovariance:
        """Return the covariance with more answers, and its likeliest factor.

        The first call tries all factors, each further call the neighbours of the likeliest: few answers move it far.
        """
        roots: dict[int, Matrix] = {}
        along: dict[int, Matrix] = {}
        costs: dict[int, float] = {}

        def cost(position: int) -> float:
            """Return -2 log likelihood of the residuals for a factor, up to a constant."""
            if position not in roots:
                known_root = self.roots.get(position, np.zeros((0, 0)))
                roots[position] = np.zeros(spread.shape)
                roots[position][: len(known_root), : len(known_root)] = known_root
                grow_root(spread, _FACTORS[position], len(known_root), roots[position])
                along[position] = residuals.copy()
                along_root(roots[position], along[position])
                log_determinant = 2 * float(np.log(np.diag(roots[position])).sum())
                costs[position] = log_determinant + float(along[position] @ along[position])
            return costs[position]

        neighbours = range(len(_FACTORS))
        best_position = min(neighbours, key=cost) if not self.roots else self.position
        while True:
            neighbours = range(max(0, best_position - 1), min(len(_FACTORS), best_position + 2))
            better_position = min(neighbours, key=cost)
            if better_position == best_position:
                break
            best_position = better_position
        kept_roots = {position: roots[position] for position in neighbours}
        return _AnswerCovariance(
            spread=spread, noise=noise, position=best_position, roots=kept_roots, along=along[best_position]
        )


@dataclass(kw_only=True)
class MatrixBelief:
    """The belief about a matrix: a guess, its variance, and the measurements of the matrix.

    The errors of the entries are taken to be independent, or equal in symmetric pairs, with a variance known up to one
    factor. A measurement is a weighted sum of entries with noise of a known variance. The posterior is the one of a
    Gaussian process with these variances.

    Answers come in rounds. The covariance of a new round with all earlier answers is added to the known covariance, and
    its triangular root grows by as many rows: nothing is computed twice.

    Parameters
    ----------
    guess, doubt
        The matrix before any measurement, and the variance of each entry up to a factor.
    symmetric
        Whether an entry and its mirror image are one number.
    """

    guess: Matrix
    doubt: Matrix
    symmetric: bool
    _left_weights: list[Matrix] = field(default_factory=list)
    _right_weights: list[Matrix] = field(default_factory=list)
    _answers: list[float] = field(default_factory=list)
    _noise: list[float] = field(default_factory=list)
    _covariance: _AnswerCovariance | None = None

    def add_measurement(self, left_weights: Matrix, right_weights: Matrix, value: float, variance: float) -> None:
        """Add an estimate of the sum of left weight * right weight * entry; one of infinite variance is dropped."""
        size = float(np.linalg.norm(left_weights) * np.linalg.norm(right_weights))
        if size > 0 and np.isfinite(variance):
            # Directions of length 1 keep the covariance of all answers on one scale.
            self._left_weights.append(left_weights / size)
            self._right_weights.append(right_weights)
            self._answers.append(value / size)
            self._noise.append(max(variance / size**2, 1e-18))

    def extend(self, guess: Matrix, doubt: Matrix) -> MatrixBelief:
        """Return the belief about a larger matrix, with this matrix as its first corner."""
        padding = (0, len(guess) - len(self.guess))
        return MatrixBelief(
            guess=guess,
            doubt=doubt,
            symmetric=self.symmetric,
            _left_weights=[np.pad(weights, padding) for weights in self._left_weights],
            _right_weights=[np.pad(weights, padding) for weights in self._right_weights],
            _answers=list(self._answers),
            _noise=list(self._noise),
        )

    def mean(self) -> Matrix:
        """Return the posterior mean of each entry."""
        mean = self.guess.copy()
        if self._answers:
            covariance = self._update_covariance()
            solution = covariance.along.copy()
            back_from_root(covariance.root, solution)
            solution /= covariance.noise
            for rows, _, covered in self._blocks():
                mean[rows] += covariance.factor * (solution @ covered).reshape(mean[rows].shape)
        return mean

    def variance(self) -> Matrix:
        """Return the posterior variance of each entry."""
        if not self._answers:
            return self.doubt.copy()
        covariance = self._update_covariance()
        variance = covariance.factor * self.doubt
        root = np.linalg.inv(covariance.root).T / covariance.noise
        for rows, _, covered in self._blocks():
            variance[rows] -= ((covariance.factor * (root @ covered)) ** 2).sum(axis=0).reshape(variance[rows].shape)
        return np.clip(variance, 0.0, None)

    def _update_covariance(self) -> _AnswerCovariance:
        """Return the covariance of all answers, with the likeliest factor of the doubt."""
        answer_count, covariance = len(self._answers), self._covariance or _AnswerCovariance()
        known_count = len(covariance.spread)
        if known_count == answer_count:
            return covariance
        spread, residuals = np.zeros((answer_count, answer_count)), np.array(self._answers)
        for rows, weights, covered in self._blocks():
            spread[known_count:] += covered[known_count:] @ weights.T
            residuals -= weights @ self.guess[rows].ravel()
        spread[:known_count, known_count:] = spread[known_count:, :known_count].T
        # The noise is at least what rounding adds, so that each covariance has a triangular root.
        deviations = np.sqrt(np.maximum(np.array(self._noise), _RELATIVE_NOISE_FLOOR * np.diag(spread)))
        noise = np.concatenate((covariance.noise, deviations[known_count:]))
        spread /= np.outer(noise, noise)
        # The known block keeps its bits: its root was computed from them.
        spread[:known_count, :known_count] = covariance.spread
        self._covariance = covariance.grow(spread, noise, residuals / noise)
        return self._covariance

    def _blocks(self) -> Iterator[tuple[slice, Matrix, Matrix]]:
        """Yield blocks of rows: the weights of their entries in each answer, and their covariances with each answer."""
        left_weights, right_weights = np.array(self._left_weights), np.array(self._right_weights)
        row_count = max(1, _BLOCK_CELLS // (left_weights.size or 1))
        for start in range(0, len(self.guess), row_count):
            rows = slice(start, start + row_count)
            weights = left_weights[:, rows, None] * right_weights[:, None, :]
            covered = weights.copy()
            if self.symmetric:
                covered += right_weights[:, rows, None] * left_weights[:, None, :]
                # An entry on the diagonal is its own mirror image, and was added twice.
                for row in range(start, min(start + row_count, len(self.guess))):
                    covered[:, row - start, row] /= 2
            covered *= self.doubt[rows]
            yield rows, weights.reshape(len(left_weights), -1), covered.reshape(len(left_weights), -1)
