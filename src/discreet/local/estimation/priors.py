"""What estimates are pulled to, and how far: a prior that is learnt from the estimates themselves.

Most pairs of items are about as frequent as chance has them; a few are many times as frequent. One normal law for how
far the guess is off would pull those few down with all others, so there are two parts: near the guess for the many, and
anywhere up to the rarer item for the few.
"""

from __future__ import annotations

from math import pi, sqrt
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Values: TypeAlias = NDArray[np.float64]


class PriorLaw(NamedTuple):
    """The numbers of the prior, which are all positive.

    Parameters
    ----------
    factor
        What is near the guess is so many times the guess.
    off
        By which share of that it is off.
    odds
        How many values are anywhere, for one that is near the guess.
    reach
        Which share of what it can be at most a value has that is anywhere, on average.
    """

    factor: float = 1.0
    off: float = 0.7
    odds: float = 0.1
    reach: float = 0.3


# Of the logarithms, before anything was seen. Values that are anywhere have a long tail: a reach that fits the many
# small ones among them would pull down the few large ones, so it may move the least.
_DEVIATIONS = PriorLaw(0.7, 0.7, 1.0, 0.3)
_FIRST_STEP, _LAST_STEP, _MOST_STEPS = 0.8, 0.04, 40
_TRIED_STEP = 0.2  # by which numbers are moved to see how much hangs on them


def two_part(
    values: Values, variance: Values, guess: Values, most: Values, guess_variance: Values | float = 0.0
) -> tuple[Values, Values]:
    """Return what to expect of the true values, and their variance, under a prior of two parts.

    A true value is either near the guess, normally distributed around a multiple of it and off by a share of it, or it
    is anywhere from 0 on, exponentially distributed by a share of what it can be at most. The numbers are those that
    make the estimates likeliest, near typical ones where the estimates say little; how far those may be off is part of
    the variance.

    Parameters
    ----------
    values, variance
        Estimates, and how far they are off.
    guess, guess_variance
        What each would be by chance, and how far that is off because it was made of estimates itself.
    most
        What each can be at most, as far as that is known.
    """
    if not len(values):
        return values, variance
    noise, guess, most = np.maximum(variance, 1e-18), np.maximum(guess, 0.0), np.maximum(most, 1e-9)
    seen = _Seen(values, noise, guess, most, guess_variance)
    law = _likeliest(seen)
    expected, around = under(law, *seen)
    return expected, around + _unsure(law, seen)


def under(
    law: PriorLaw, values: Values, noise: Values, guess: Values, most: Values, guess_variance: Values | float = 0.0
) -> tuple[Values, Values]:
    """Return what to expect of the true values, and their variance, under a prior with these numbers."""
    parts = _parts(law, values, noise, guess, most, guess_variance)
    near = 1 / (1 + np.exp(np.clip(parts.anywhere - parts.near, -700, 700)))
    spread = (law.off * law.factor * guess) ** 2 + law.factor**2 * guess_variance + 1e-18
    center = law.factor * guess
    first = center + (values - center) * spread / (spread + noise)
    first_spread = spread * noise / (spread + noise)
    deviation = np.sqrt(noise)
    slope = _slope(parts.place)
    second = deviation * (parts.place + slope)
    second_spread = np.maximum(noise * (1 - parts.place * slope - slope**2), 0.0)
    expected = near * first + (1 - near) * second
    around = near * (first_spread + (first - expected) ** 2) + (1 - near) * (second_spread + (second - expected) ** 2)
    return expected, around


class _Seen(NamedTuple):
    """Estimates, how far they are off, and what is known of the true values beside them."""

    values: Values
    noise: Values
    guess: Values
    most: Values
    guess_variance: Values | float


class _Parts(NamedTuple):
    """How likely each estimate is under either part, as logarithms, and how far the second part is from 0."""

    near: Values
    anywhere: Values
    place: Values


def _parts(
    law: PriorLaw, values: Values, noise: Values, guess: Values, most: Values, guess_variance: Values | float
) -> _Parts:
    center = law.factor * guess
    wide = (law.off * center) ** 2 + law.factor**2 * guess_variance + noise
    near = -np.log1p(law.odds) - (values - center) ** 2 / (2 * wide) - np.log(2 * pi * wide) / 2
    mean = law.reach * most
    deviation = np.sqrt(noise)
    place = values / deviation - deviation / mean
    # Either side of 0 in the form that neither overflows nor cancels.
    below = _scaled_tail(np.maximum(-place, 0.0)) / 2
    above = 1 - _scaled_tail(np.maximum(place, 0.0)) / 2 * np.exp(-(np.maximum(place, 0.0) ** 2) / 2)
    low = np.log(below) - values**2 / (2 * noise)
    high = np.log(above) + noise / (2 * mean**2) - values / mean
    anywhere = np.log(law.odds / (1 + law.odds)) - np.log(mean) + np.where(place < 0, low, high)
    return _Parts(near, anywhere, place)


_TYPICAL = np.log(np.array(PriorLaw()))


def _unlikely(logs: Values, seen: _Seen) -> float:
    """Return how unlikely estimates are under a prior with these numbers, as logarithms, and how odd those are."""
    parts = _parts(PriorLaw(*np.exp(logs)), *seen)
    cost = ((logs - _TYPICAL) / _DEVIATIONS) ** 2
    return float(cost.sum() / 2 - np.logaddexp(parts.near, parts.anywhere).sum())


def _unsure(law: PriorLaw, seen: _Seen) -> Values:
    """Return the variance of what is expected because the numbers of the prior are learnt from the estimates.

    A number may be off by what one over the curvature of its cost says, and what is expected moves with it. Far from
    the likeliest the cost need not curve; then the number is no surer than it was before anything was seen.
    """
    logs, cost = np.log(np.array(law)), _unlikely(np.log(np.array(law)), seen)
    total = np.zeros(len(seen.values))
    for at, deviation in enumerate(_DEVIATIONS):
        step = np.zeros(len(logs))
        step[at] = _TRIED_STEP
        curve = (_unlikely(logs + step, seen) + _unlikely(logs - step, seen) - 2 * cost) / _TRIED_STEP**2
        moved = under(PriorLaw(*np.exp(logs + step)), *seen)[0] - under(PriorLaw(*np.exp(logs - step)), *seen)[0]
        total += (moved / (2 * _TRIED_STEP)) ** 2 / max(curve, 1 / deviation**2)
    return total


def _likeliest(seen: _Seen) -> PriorLaw:
    """Return the likeliest numbers: one after the other is made larger or smaller, by ever smaller steps."""
    best, step = _TYPICAL.copy(), _FIRST_STEP
    least = _unlikely(best, seen)
    for _ in range(_MOST_STEPS):
        before = least
        for at in range(len(best)):
            for move in (step, -step):
                tried = best.copy()
                tried[at] += move
                cost = _unlikely(tried, seen)
                if cost < least:
                    best, least = tried, cost
                    break
        if least == before:
            step /= 2
            if step < _LAST_STEP:
                break
    return PriorLaw(*np.exp(best).tolist())


def _slope(place: Values) -> Values:
    """Return the density of the normal law over its distribution function."""
    below = sqrt(2 / pi) / _scaled_tail(np.maximum(-place, 0.0))
    up = np.maximum(place, 0.0)
    density = np.exp(-(up**2) / 2) / sqrt(2 * pi)
    above = density / (1 - _scaled_tail(up) / 2 * np.exp(-(up**2) / 2))
    slope: Values = np.where(place < 0, below, above)
    return slope


# Of the approximation of the scaled tail, from its constant on (Press et al., Numerical Recipes, 6.2).
_TERMS = (-1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806)
_MORE_TERMS = (0.27886807, -1.13520398, 1.48851587, -0.82215223, 0.17087277)


def _scaled_tail(place: Values) -> Values:
    """Return twice the upper tail of the normal law, over exp(-place² / 2), for 0 and more; to seven digits."""
    short = 1 / (1 + place / sqrt(8))
    total = np.zeros_like(short)
    for term in reversed(_TERMS + _MORE_TERMS):
        total = total * short + term
    tail: Values = short * np.exp(total)
    return tail
