"""The linear algebra behind relations: a matrix of supports, the directions it is asked about in, and what answers say.

Directions are whole numbers, so that what a device computes is exactly what is accounted for here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..draws import mixed

Matrix: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]

SCALE = 4096  # the largest weight of a direction
_SMALL = 1e-12
# How far off the guess may be, as a multiple of what it is taken for: the likeliest is chosen.
_OFF = tuple(2.0**power for power in range(-4, 4))


def independent(supports: Matrix) -> Matrix:
    """Return which fraction of people would hold both, were all items independent (equation (10)).

    Supports are fractions, whatever noise made of them (D8).
    """
    clipped = np.clip(supports, 0.0, 1.0)
    guess: Matrix = np.outer(clipped, clipped)
    np.fill_diagonal(guess, clipped)
    return guess


def decomposed(matrix: Matrix) -> tuple[Matrix, Matrix, Matrix]:
    """Return left vectors, singular values and right vectors, vectors as columns.

    Of a vector and its opposite, the one whose largest weight is positive is the left one.
    """
    left, singular, right = np.linalg.svd(matrix)
    signs = np.sign(left[np.argmax(np.abs(left), axis=0), np.arange(len(singular))])
    return left * signs, singular, right.T * signs


def rank_of(singular: Matrix, theta: float) -> int:
    """Return the fewest singular values with this share of their sum (equation (31), D7); 0 where all are 0."""
    total = float(singular.sum())
    if total <= _SMALL:
        return 0
    enough = np.cumsum(singular) >= (theta - _SMALL) * total
    return int(np.argmax(enough)) + 1 if enough.any() else len(singular)


def updated(left: Matrix, values: Matrix, right: Matrix) -> Matrix:
    """Return the matrix with these values along pairs of directions (equation (29)).

    It has `left` and `right` for singular vectors already: the printed iteration stands still (D1).
    """
    matrix: Matrix = (left * values) @ right.T
    return matrix


def whole(direction: Matrix) -> Whole:
    """Return a direction in whole numbers, the largest of them `SCALE`."""
    largest = float(np.abs(direction).max(initial=0.0))
    if largest <= _SMALL:
        return np.zeros(len(direction), np.int64)
    return np.rint(direction * (SCALE / largest)).astype(np.int64)


def signs(width: int, number: int) -> Matrix:
    """Return a public row of signs: the same for everyone, and unlike those of other numbers."""
    seed = (2 * number + 1, 0x9E3779B9)
    return np.array([1.0 - 2.0 * (mixed(seed, place) & 1) for place in range(width)])


def reach(direction: Whole, most: int) -> tuple[int, int]:
    """Return the largest sums of so many weights: of positive ones, and of negative ones without their sign."""
    ordered = np.sort(direction)
    positive = int(np.clip(ordered[::-1][:most], 0, None).sum())
    return positive, -int(np.clip(ordered[:most], None, 0).sum())


def bounds(left: Whole, right: Whole, most: int, *, together: bool) -> tuple[int, int]:
    """Return the range of the number of a person with up to `most` items, for every set of relations (21), (22).

    What someone with more items has beyond it is clipped (D5). Items that are simply together make a product of two
    sums; for one direction with itself that is a square, whose range is much smaller (D6).
    """
    one, other = reach(left, most), reach(right, most)
    if together and np.array_equal(left, right):
        return 0, max(one) ** 2
    if together and np.array_equal(left, -right):
        return -(max(one) ** 2), 0
    if together:
        return -max(one[0] * other[1], one[1] * other[0]), max(one[0] * other[0], one[1] * other[1])
    return -(one[0] * other[1] + one[1] * other[0]), one[0] * other[0] + one[1] * other[1]


@dataclass(kw_only=True)
class Belief:
    """What is believed of a matrix: a guess, how far it may be off, and what was measured of it.

    The entries are taken to be independently off, or in symmetric pairs, with a variance known up to one factor, and
    measurements to be weighted sums of entries with noise of a known variance. What is believed after them is what
    their precision says.

    Parameters
    ----------
    guess, doubt
        The matrix before anything was measured, and the variance of each entry up to a factor.
    symmetric
        Whether an entry and its mirror image are the same number.
    """

    guess: Matrix
    doubt: Matrix
    symmetric: bool
    _left: list[Matrix] = field(default_factory=list)
    _right: list[Matrix] = field(default_factory=list)
    _heard: list[float] = field(default_factory=list)
    _noise: list[float] = field(default_factory=list)

    def measured(self, left: Matrix, right: Matrix, value: float, variance: float) -> None:
        """Take note of the sum of left × right over the entries; an answer of nobody says nothing."""
        size = float(np.linalg.norm(left) * np.linalg.norm(right))
        if size > 0 and np.isfinite(variance):
            self._left.append(left / size)
            self._right.append(right)
            self._heard.append(value / size)
            self._noise.append(max(variance / size**2, 1e-18))

    def extended(self, guess: Matrix, doubt: Matrix) -> Belief:
        """Return the belief about a larger matrix, of which this one is the first corner."""
        more = (0, len(guess) - len(self.guess))
        return Belief(
            guess=guess,
            doubt=doubt,
            symmetric=self.symmetric,
            _left=[np.pad(one, more) for one in self._left],
            _right=[np.pad(one, more) for one in self._right],
            _heard=list(self._heard),
            _noise=list(self._noise),
        )

    def posterior(self) -> tuple[Matrix, Matrix]:
        """Return what is believed now of each entry, and its variance."""
        if not self._heard:
            return self.guess.copy(), self.doubt.copy()
        left, right, noise = np.array(self._left), np.array(self._right), np.array(self._noise)
        shape = (len(left), *self.guess.shape)
        rows = np.einsum("ma,mb->mab", left, right)
        if self.symmetric:
            mirrored = rows + rows.transpose(0, 2, 1)
            place = np.arange(len(self.guess))
            mirrored[:, place, place] /= 2
        else:
            mirrored = rows
        covered = (mirrored * self.doubt).reshape(len(left), -1)
        rows = rows.reshape(len(left), -1)
        surprise = np.array(self._heard) - rows @ self.guess.ravel()
        spread = rows @ covered.T
        factor = max(_OFF, key=lambda off: _likelihood(surprise, off * off * spread + np.diag(noise))) ** 2
        # Equal questions leave the matrix regular only by their noise, which is over 0.
        solved = np.linalg.solve(factor * spread + np.diag(noise), np.column_stack((surprise, factor * covered)))
        mean = self.guess + (factor * covered.T @ solved[:, 0]).reshape(shape[1:])
        variance = factor * self.doubt - (factor * covered * solved[:, 1:]).sum(axis=0).reshape(shape[1:])
        return mean, np.clip(variance, 0.0, None)


def _likelihood(surprise: Matrix, spread: Matrix) -> float:
    """Return how likely a surprise is, up to a constant, as a logarithm."""
    sign, size = np.linalg.slogdet(spread)
    return -0.5 * float(size + surprise @ np.linalg.solve(spread, surprise)) if sign > 0 else -np.inf
