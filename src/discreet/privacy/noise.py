"""Noise for releases: whole numbers, drawn exactly.

The discrete Laplace distribution of a scale b gives x with probability proportional to exp(-|x| / b); the discrete
Gaussian of a variance v with probability proportional to exp(-x^2 / (2 v)). Scales and variances are exact fractions.
One too long for the compiled sampler is rounded up first, which adds noise and never takes any away.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, isqrt

import numpy as np
from numpy.typing import NDArray

from ..errors import MisuseError
from ..kernels.noise import RESERVE
from ..kernels.noise import discrete_laplace as fill_laplace
from .source import Source

_WORDS_A_DRAW = 16
_LONGEST = 2**54
_GRID = 2**20


def discrete_laplace(source: Source, scale: Fraction, many: int) -> NDArray[np.int64]:
    """Draw `many` whole numbers of discrete Laplace noise.

    Parameters
    ----------
    source
        Where the bits come from.
    scale
        An exact fraction, 0 or more; 0 is no noise.
    many
        How many to draw.

    Examples
    --------
    >>> from discreet.privacy.source import SimulationSource
    >>> discrete_laplace(SimulationSource(7), Fraction(5, 2), 4).dtype
    dtype('int64')
    """
    if scale < 0 or many < 0:
        raise MisuseError(f"A scale and a number of draws are 0 or more; {scale} and {many} were given.")
    drawn = np.zeros(many, np.int64)
    if scale == 0:
        return drawn
    scale = short(scale)
    done = 0
    while done < many:
        words = source.words(_WORDS_A_DRAW * (many - done) + 2 * RESERVE)
        fresh, _ = fill_laplace(words, scale.numerator, scale.denominator, drawn[done:])
        done += fresh
    return drawn


def short(scale: Fraction) -> Fraction:
    """Return a scale whose numerator and denominator are below 2^54, the same one or one rounded up."""
    if scale.numerator < _LONGEST and scale.denominator < _LONGEST:
        return scale
    rounded = Fraction(ceil(scale * _GRID), _GRID) if scale < _LONGEST // _GRID else Fraction(ceil(scale))
    if rounded.numerator >= _LONGEST:
        raise MisuseError("The noise asked for is larger than any count: epsilon is too small for these baskets.")
    return rounded


def discrete_gaussian(source: Source, variance: Fraction, many: int) -> NDArray[np.int64]:
    """Draw `many` whole numbers of discrete Gaussian noise, by rejection from discrete Laplace noise.

    After algorithm 3 of Canonne, Kamath, Steinke (2020): with t = floor(sigma) + 1, a draw y of scale t is kept with
    probability exp(-(|y| - variance / t)^2 / (2 variance)), an exact coin.
    """
    if variance < 0 or many < 0:
        raise MisuseError(f"A variance and a number of draws are 0 or more; {variance} and {many} were given.")
    drawn = np.zeros(many, np.int64)
    if variance == 0:
        return drawn
    scale = isqrt(int(variance)) + 1
    done = 0
    while done < many:
        for proposal in discrete_laplace(source, Fraction(scale), 2 * (many - done) + 8).tolist():
            if done < many and coin(source, (abs(proposal) - variance / scale) ** 2 / (2 * variance)):
                drawn[done] = proposal
                done += 1
    return drawn


def coin(source: Source, exponent: Fraction) -> bool:
    """Toss a coin that falls heads with probability exp(-exponent), exactly, for an exponent of 0 or more."""
    whole = int(exponent)
    return all(_short_coin(source, Fraction(1)) for _ in range(whole)) and _short_coin(source, exponent - whole)


def _short_coin(source: Source, exponent: Fraction) -> bool:
    k = 1
    while source.below(exponent.denominator * k) < exponent.numerator:
        k += 1
    return k % 2 == 1
