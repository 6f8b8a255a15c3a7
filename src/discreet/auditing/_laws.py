"""The exact law of each way of selection, over single candidates: the chance of every ordered list of picks.

The code derives from the definitions and draws nothing, so the samplers are compared with code that shares no line with
them. Chances are intervals that certainly contain them (see `privacy.sampling.intervals`). Chances of the Laplace
selection are computed in floating point, with intervals as wide as the error bound.
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
_TAIL_SCALES = 40
_RELATIVE_ERROR = Decimal("1e-9")


@lru_cache(maxsize=4096)
def law(scores: tuple[int, ...], rate: Fraction, picks: int, way: Way) -> dict[tuple[int, ...], Interval]:
    """Return the chance of each ordered list of picks, by the numbers of the candidates."""
    if way == "laplace":
        return {order: _laplace_chance(scores, rate, order) for order in permutations(range(len(scores)), picks)}
    pick_law = _pick_proportional if way in ("exponential", "gumbel") else _pick_permute_and_flip
    chances: dict[tuple[int, ...], Interval] = {(): ONE}
    for _ in range(picks):
        longer_lists = {}
        for picks_so_far, chance in chances.items():
            remaining = [number for number in range(len(scores)) if number not in picks_so_far]
            best_score = max(scores[number] for number in remaining)
            weights = [_exp_interval(rate * (scores[number] - best_score)) for number in remaining]
            for place, number in enumerate(remaining):
                longer_lists[*picks_so_far, number] = intervals.multiply(chance, pick_law(weights, place), DIGITS)
        chances = longer_lists
    return chances


def _exp_interval(exponent: Fraction) -> Interval:
    return intervals.exp(intervals.ratio(exponent, DIGITS), DIGITS)


def _pick_proportional(weights: list[Interval], place: int) -> Interval:
    """Return the chance of one pick of the exponential mechanism: in proportion to its weight."""
    total = ZERO
    for weight in weights:
        total = intervals.add(total, weight, DIGITS)
    return intervals.divide(weights[place], total, DIGITS)


def _pick_permute_and_flip(weights: list[Interval], place: int) -> Interval:
    """Return the chance of one pick of permute-and-flip, for the candidate at a place.

    w times the integral over t from 0 to 1 of the product of 1 - v t, over the weights v of all further candidates: all
    candidates before it in a random order must have failed (McKenna, Sheldon 2020, section 4).
    """
    products = [ONE]  # products[k]: the sum of all products of k further weights
    for number, weight in enumerate(weights):
        if number != place:
            shifted = [ZERO, *(intervals.multiply(product, weight, DIGITS) for product in products)]
            products = [
                intervals.add(sum_product, shifted_product, DIGITS)
                for sum_product, shifted_product in zip([*products, ZERO], shifted, strict=True)
            ]
    total = ZERO
    for size, product in enumerate(products):
        part = intervals.divide(product, (Decimal(size + 1), Decimal(size + 1)), DIGITS)
        total = intervals.add(total, intervals.negate(part) if size % 2 else part, DIGITS)
    return intervals.multiply(total, weights[place], DIGITS)


def _laplace_chance(scores: tuple[int, ...], rate: Fraction, order: tuple[int, ...]) -> Interval:
    """Return the chance that candidates have the largest noisy scores, in this order, ties broken evenly.

    An even tie-break equals a uniform number below 1 that is added to each noisy score: each score then has a density
    that is constant between whole numbers, and a distribution function that is linear there. Between two whole
    numbers the chance that all further candidates are smaller is a polynomial, and so is its integral against a
    constant density.
    """
    far = ceil(_TAIL_SCALES / rate)
    values = np.arange(min(scores) - far, max(scores) + far + 1)
    decay = np.exp(-float(rate))

    def density(number: int) -> F64:
        return np.asarray((1 - decay) / (1 + decay) * decay ** np.abs(values - scores[number]).astype(float))

    def below(number: int) -> F64:
        """Return the chance of a noisy score below each value."""
        distance = (values - 1 - scores[number]).astype(float)
        far_above, far_below = decay ** np.maximum(distance + 1, 0), decay ** np.maximum(-distance, 0)
        chances: F64 = np.where(distance >= 0, 1 - far_above / (1 + decay), far_below / (1 + decay))
        return chances

    all_smaller = np.ones((len(values), 1))  # a polynomial between two whole numbers, by its coefficients
    for number in set(range(len(scores))) - set(order):
        product = np.zeros((len(values), all_smaller.shape[1] + 1))
        product[:, :-1] += below(number)[:, None] * all_smaller
        product[:, 1:] += density(number)[:, None] * all_smaller
        all_smaller = product
    for number in reversed(order):
        powers = np.arange(1, all_smaller.shape[1] + 1)
        antiderivative = density(number)[:, None] * all_smaller / powers
        mass = antiderivative.sum(axis=1)
        all_smaller = np.concatenate(((np.cumsum(mass) - mass)[:, None], antiderivative), axis=1)
    chance = Decimal(float(all_smaller[-1].sum()))
    tail_chance = Decimal(2 * len(order)) * Decimal(float(decay) ** far)
    return chance * (1 - _RELATIVE_ERROR), chance * (1 + _RELATIVE_ERROR) + tail_chance


@lru_cache(maxsize=4096)
def noise(scale: Fraction | None, variance: Fraction, far: int) -> dict[int, Interval]:
    """Return the chance of each noise value from -far to far: discrete Laplace, or Gaussian without a scale."""
    if scale is not None:
        decay = _exp_interval(-1 / scale)
        norm = intervals.divide(intervals.one_minus(decay, DIGITS), intervals.add(ONE, decay, DIGITS), DIGITS)
        weights = [_exp_interval(-value / scale) for value in range(far + 1)]
        return {value: intervals.multiply(norm, weights[abs(value)], DIGITS) for value in range(-far, far + 1)}
    weights = [_exp_interval(-Fraction(value * value) / (2 * variance)) for value in range(2 * far + 1)]
    total = weights[0]
    for weight in weights[1:]:
        total = intervals.add(total, intervals.add(weight, weight, DIGITS), DIGITS)
    # Beyond 2 * far each weight is at most a third of the weight before it, so the tail adds at most the last weight.
    largest_total = intervals.add(total, weights[-1], DIGITS)
    return {
        value: intervals.divide(weights[abs(value)], (total[0], largest_total[1]), DIGITS)
        for value in range(-far, far + 1)
    }
