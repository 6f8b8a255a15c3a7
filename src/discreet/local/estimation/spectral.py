"""The linear algebra behind relations: a matrix of supports, the directions it is asked about in, and what answers say.

Directions are whole numbers, so that what a device computes is exactly what is accounted for here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...kernels.roots import along_root, back_from_root, grow_root
from ..device.draws import mixed

Matrix: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]

SCALE = 4096  # the largest weight of a direction
_SMALL, _SURE = 1e-12, 1e-8
_ROOM = 1 << 22  # numbers that are laid out at a time
# How far off the guess may be, against the variance it is taken to have: the likeliest is chosen.
_FACTORS = tuple(4.0**power for power in range(-4, 4))


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
class _Weighed:
    """How answers covary, in units of their own noise: one a diagonal entry, and what the doubt adds, times a factor.

    Parameters
    ----------
    spread, noise
        What the doubt adds, and the noise as deviations.
    place, roots
        Which of the factors is the likeliest, and the triangular roots of the variance with it and with its neighbours.
    along
        How the answers surprise, along the root of the likeliest.
    """

    spread: Matrix = field(default_factory=lambda: np.zeros((0, 0)))
    noise: Matrix = field(default_factory=lambda: np.zeros(0))
    place: int = 0
    roots: dict[int, Matrix] = field(default_factory=dict)
    along: Matrix = field(default_factory=lambda: np.zeros(0))

    @property
    def factor(self) -> float:
        """The likeliest factor."""
        return _FACTORS[self.place]

    @property
    def root(self) -> Matrix:
        """The root of the variance with it."""
        return self.roots[self.place]

    def grown(self, spread: Matrix, noise: Matrix, surprise: Matrix) -> _Weighed:
        """Return this with more answers. The first time all factors are tried, then those next to the likeliest."""
        roots: dict[int, Matrix] = {}
        along: dict[int, Matrix] = {}
        unlikely: dict[int, float] = {}

        def tried(place: int) -> float:
            if place not in roots:
                before = self.roots.get(place, np.zeros((0, 0)))
                roots[place] = np.zeros(spread.shape)
                roots[place][: len(before), : len(before)] = before
                grow_root(spread, _FACTORS[place], len(before), roots[place])
                along[place] = surprise.copy()
                along_root(roots[place], along[place])
                size = 2 * float(np.log(np.diag(roots[place])).sum())
                unlikely[place] = size + float(along[place] @ along[place])
            return unlikely[place]

        near = range(len(_FACTORS))
        best = min(near, key=tried) if not self.roots else self.place
        while True:
            near = range(max(0, best - 1), min(len(_FACTORS), best + 2))
            better = min(near, key=tried)
            if better == best:
                break
            best = better
        kept = {place: roots[place] for place in near}
        return _Weighed(spread=spread, noise=noise, place=best, roots=kept, along=along[best])


@dataclass(kw_only=True)
class MatrixBelief:
    """What is believed of a matrix: a guess, how far it may be off, and what was measured of it.

    The entries are taken to be independently off, or in symmetric pairs, with a variance known up to one factor, and
    measurements to be weighted sums of entries with noise of a known variance. What is believed after them is what
    their precision says.

    Answers come in rounds: how those of a new round covary with all there are is added to what is known, and so is
    what they add to the root of that.

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
    _weighed: _Weighed | None = None

    def measured(self, left: Matrix, right: Matrix, value: float, variance: float) -> None:
        """Take note of the sum of left × right over the entries; an answer of nobody says nothing."""
        size = float(np.linalg.norm(left) * np.linalg.norm(right))
        if size > 0 and np.isfinite(variance):
            self._left.append(left / size)
            self._right.append(right)
            self._heard.append(value / size)
            self._noise.append(max(variance / size**2, 1e-18))

    def extended(self, guess: Matrix, doubt: Matrix) -> MatrixBelief:
        """Return the belief about a larger matrix, of which this one is the first corner."""
        more = (0, len(guess) - len(self.guess))
        return MatrixBelief(
            guess=guess,
            doubt=doubt,
            symmetric=self.symmetric,
            _left=[np.pad(one, more) for one in self._left],
            _right=[np.pad(one, more) for one in self._right],
            _heard=list(self._heard),
            _noise=list(self._noise),
        )

    def mean(self) -> Matrix:
        """Return what is believed now of each entry."""
        mean = self.guess.copy()
        if self._heard:
            known = self._up_to_date()
            solved = known.along.copy()
            back_from_root(known.root, solved)
            solved /= known.noise
            for part, _, covered in self._blocks():
                mean[part] += known.factor * (solved @ covered).reshape(mean[part].shape)
        return mean

    def variance(self) -> Matrix:
        """Return how far what is believed may be off."""
        if not self._heard:
            return self.doubt.copy()
        known = self._up_to_date()
        variance = known.factor * self.doubt
        root = np.linalg.inv(known.root).T / known.noise
        for part, _, covered in self._blocks():
            variance[part] -= ((known.factor * (root @ covered)) ** 2).sum(axis=0).reshape(variance[part].shape)
        return np.clip(variance, 0.0, None)

    def _up_to_date(self) -> _Weighed:
        """Return how all answers covary, and the likeliest factor of the doubt with them."""
        many, known = len(self._heard), self._weighed or _Weighed()
        before = len(known.spread)
        if before == many:
            return known
        spread, surprise = np.zeros((many, many)), np.array(self._heard)
        for part, rows, covered in self._blocks():
            spread[before:] += covered[before:] @ rows.T
            surprise -= rows @ self.guess[part].ravel()
        spread[:before, before:] = spread[before:, :before].T
        # An answer is no surer than rounding lets it be, so that every variance has a root.
        sure = np.sqrt(np.maximum(np.array(self._noise), _SURE * np.diag(spread)))
        noise = np.concatenate((known.noise, sure[before:]))
        spread /= np.outer(noise, noise)
        spread[:before, :before] = known.spread
        self._weighed = known.grown(spread, noise, surprise / noise)
        return self._weighed

    def _blocks(self) -> Iterator[tuple[slice, Matrix, Matrix]]:
        """Return some rows of the matrix at a time: the weights of its entries in each answer, and how they covary."""
        left, right = np.array(self._left), np.array(self._right)
        many = max(1, _ROOM // (left.size or 1))
        for start in range(0, len(self.guess), many):
            part = slice(start, start + many)
            rows = left[:, part, None] * right[:, None, :]
            covered = rows.copy()
            if self.symmetric:
                covered += right[:, part, None] * left[:, None, :]
                for place in range(start, min(start + many, len(self.guess))):
                    covered[:, place - start, place] /= 2
            covered *= self.doubt[part]
            yield part, rows.reshape(len(left), -1), covered.reshape(len(left), -1)
