"""The exact law of each way of choosing, over single candidates: the chance of every ordered list of picks.

Everything is written anew from the definitions, and nothing is drawn, so that the samplers are held to something that
shares no code with them. Chances are intervals that certainly hold them (see `privacy.sampling.intervals`); those of
the Laplace choice are computed in floating point, and their intervals are as wide as its error may be.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import permutations
from math import ceil

import numpy as np
from numpy.typing import NDArray

from ..privacy import Way
from ..privacy.sampling import Interval, intervals

F64 = NDArray[np.float64]

DIGITS = 50
ZERO: Interval = (Decimal(0), Decimal(0))
ONE: Interval = (Decimal(1), Decimal(1))

# Noise this many scales away has a chance below 10^-17; sums of positive numbers err by less than this share.
_FAR = 40
_ERROR = Decimal("1e-9")


@lru_cache(maxsize=4096)
def law(scores: tuple[int, ...], rate: Fraction, picks: int, way: Way) -> dict[tuple[int, ...], Interval]:
    """Return the chance of each ordered list of picks, by the numbers of the candidates."""
    if way == "laplace":
        return {order: _laplace(scores, rate, order) for order in permutations(range(len(scores)), picks)}
    one = _proportional if way in ("exponential", "gumbel") else _permute_and_flip
    found: dict[tuple[int, ...], Interval] = {(): ONE}
    for _ in range(picks):
        longer = {}
        for taken, chance in found.items():
            left = [number for number in range(len(scores)) if number not in taken]
            best = max(scores[number] for number in left)
            weights = [_power(rate * (scores[number] - best)) for number in left]
            for place, number in enumerate(left):
                longer[*taken, number] = intervals.multiply(chance, one(weights, place), DIGITS)
        found = longer
    return found


def _power(exponent: Fraction) -> Interval:
    return intervals.exp(intervals.ratio(exponent, DIGITS), DIGITS)


def _proportional(weights: list[Interval], place: int) -> Interval:
    """One pick of the exponential mechanism: in proportion to its weight."""
    total = ZERO
    for weight in weights:
        total = intervals.add(total, weight, DIGITS)
    return intervals.divide(weights[place], total, DIGITS)


def _permute_and_flip(weights: list[Interval], place: int) -> Interval:
    """One pick of permute-and-flip: w times the integral over t from 0 to 1 of the product of 1 - v t (v the others).

    McKenna, Sheldon 2020, section 4: the others that come before it in a random order must all have failed.
    """
    products = [ONE]  # of each number of other weights, all such products added up
    for other, weight in enumerate(weights):
        if other != place:
            shifted = [ZERO, *(intervals.multiply(product, weight, DIGITS) for product in products)]
            products = [intervals.add(one, two, DIGITS) for one, two in zip([*products, ZERO], shifted, strict=True)]
    total = ZERO
    for size, product in enumerate(products):
        part = intervals.divide(product, (Decimal(size + 1), Decimal(size + 1)), DIGITS)
        total = intervals.add(total, intervals.negate(part) if size % 2 else part, DIGITS)
    return intervals.multiply(total, weights[place], DIGITS)


def _laplace(scores: tuple[int, ...], rate: Fraction, order: tuple[int, ...]) -> Interval:
    """Return the chance that these candidates have the largest noisy scores, in this order, ties broken evenly.

    An even tie-break is as good as adding a uniform number below 1 to each noisy score: so each has a density that is
    constant between whole numbers, and a distribution function that is linear there. Between two whole numbers
    the chance that all others are smaller is a polynomial, and so is its integral against a constant density.
    """
    far = ceil(_FAR / rate)
    values = np.arange(min(scores) - far, max(scores) + far + 1)
    decay = np.exp(-float(rate))

    def density(number: int) -> F64:
        return np.asarray((1 - decay) / (1 + decay) * decay ** np.abs(values - scores[number]).astype(float))

    def below(number: int) -> F64:
        """Return the chance of a noisy score below each value."""
        off = (values - 1 - scores[number]).astype(float)
        far_above, far_below = decay ** np.maximum(off + 1, 0), decay ** np.maximum(-off, 0)
        chances: F64 = np.where(off >= 0, 1 - far_above / (1 + decay), far_below / (1 + decay))
        return chances

    smaller = np.ones((len(values), 1))  # a polynomial between two whole numbers, by its coefficients
    for number in set(range(len(scores))) - set(order):
        grown = np.zeros((len(values), smaller.shape[1] + 1))
        grown[:, :-1] += below(number)[:, None] * smaller
        grown[:, 1:] += density(number)[:, None] * smaller
        smaller = grown
    for number in reversed(order):
        powers = np.arange(1, smaller.shape[1] + 1)
        inside = density(number)[:, None] * smaller / powers
        whole = inside.sum(axis=1)
        smaller = np.concatenate(((np.cumsum(whole) - whole)[:, None], inside), axis=1)
    chance = Decimal(float(smaller[-1].sum()))
    missed = Decimal(2 * len(order)) * Decimal(float(decay) ** far)
    return chance * (1 - _ERROR), chance * (1 + _ERROR) + missed


@lru_cache(maxsize=4096)
def noise(scale: Fraction | None, variance: Fraction, far: int) -> dict[int, Interval]:
    """Return the chance of each value of the noise from -far to far: discrete Laplace, or Gaussian without a scale."""
    if scale is not None:
        decay = _power(-1 / scale)
        norm = intervals.divide(intervals.one_minus(decay, DIGITS), intervals.add(ONE, decay, DIGITS), DIGITS)
        weights = [_power(-value / scale) for value in range(far + 1)]
        return {value: intervals.multiply(norm, weights[abs(value)], DIGITS) for value in range(-far, far + 1)}
    weights = [_power(-Fraction(value * value) / (2 * variance)) for value in range(2 * far + 1)]
    total = weights[0]
    for weight in weights[1:]:
        total = intervals.add(total, intervals.add(weight, weight, DIGITS), DIGITS)
    # Beyond twice as far as is looked at each weight is at most a third of the one before.
    most = intervals.add(total, weights[-1], DIGITS)
    return {value: intervals.divide(weights[abs(value)], (total[0], most[1]), DIGITS) for value in range(-far, far + 1)}
