"""Noise for releases: whole numbers, drawn exactly.

The discrete Laplace distribution of a scale b gives x with probability proportional to exp(-|x| / b); the discrete
Gaussian of a variance v with probability proportional to exp(-x^2 / (2 v)). Scales and variances are exact fractions.
One that is very long is rounded up first, which adds noise and never takes any away. The proofs are in `samplers.md`.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, isqrt

import numpy as np
from numpy.typing import NDArray

from ...errors import MisuseError
from ...kernels.noise import RESERVE
from ...kernels.noise import discrete_laplace as fill_laplace
from . import intervals
from .intervals import Interval, Lazy, Uniform
from .sources import Source

_WORDS_A_DRAW = 16
_AT_ONCE = 1 << 17  # draws for which words are held in memory
_LONGEST = 2**54
_LONGEST_VARIANCE = 2**106
_GRID = 2**20
_MARGIN = 1e-9


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
    >>> from discreet.privacy.sampling.sources import SimulationSource
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
        words = source.words(_WORDS_A_DRAW * min(many - done, _AT_ONCE) + 2 * RESERVE)
        fresh, _ = fill_laplace(words, scale.numerator, scale.denominator, drawn[done:])
        done += fresh
    return drawn


def short(value: Fraction, longest: int = _LONGEST) -> Fraction:
    """Return a number whose numerator and denominator are below `longest`, the same one or one rounded up.

    Without `longest` it is a scale; a variance is a square and may be longer.
    """
    if value.numerator < longest and value.denominator < longest:
        return value
    rounded = Fraction(ceil(value * _GRID), _GRID) if value < longest // _GRID else Fraction(ceil(value))
    if rounded.numerator >= longest:
        raise MisuseError("The noise asked for is larger than any count: epsilon is too small for these baskets.")
    return rounded


def discrete_gaussian(source: Source, variance: Fraction, many: int) -> NDArray[np.int64]:
    """Draw `many` whole numbers of discrete Gaussian noise, by rejection from discrete Laplace noise.

    After algorithm 3 of Canonne, Kamath, Steinke (2020): with t = floor(sigma) + 1, a draw y of scale t is kept with
    probability exp(-(|y| - variance / t)^2 / (2 variance)).

    Parameters
    ----------
    source
        Where the bits come from.
    variance
        An exact fraction, 0 or more; 0 is no noise. One whose numerator or denominator is 2^106 or more is rounded up.
    many
        How many to draw.

    Examples
    --------
    >>> from discreet.privacy.sampling.sources import SimulationSource
    >>> discrete_gaussian(SimulationSource(7), Fraction(50, 3), 4).dtype
    dtype('int64')
    """
    if variance < 0 or many < 0:
        raise MisuseError(f"A variance and a number of draws are 0 or more; {variance} and {many} were given.")
    drawn = np.zeros(many, np.int64)
    if variance == 0:
        return drawn
    variance = short(variance, _LONGEST_VARIANCE)
    scale = isqrt(int(variance)) + 1
    done = 0
    while done < many:
        proposals = discrete_laplace(source, Fraction(scale), min(2 * (many - done) + 8, _AT_ONCE))
        kept = proposals[_kept(source, proposals, variance, scale)][: many - done]
        drawn[done : done + len(kept)] = kept
        done += len(kept)
    return drawn


def _kept(source: Source, proposals: NDArray[np.int64], variance: Fraction, scale: int) -> NDArray[np.bool_]:
    """Decide for each proposal whether it is kept: whether a uniform number lies below the probability of keeping it.

    Floating point only looks for those numbers that lie so far from the probability that no error could have moved
    them to the other side (`samplers.md` bounds it by a thousandth of the margin). The others are looked at exactly.
    """
    words = source.words(len(proposals))
    uniforms = words.astype(np.float64) * 2.0**-64
    behind = np.abs(proposals).astype(np.float64) - float(variance / scale)
    chances = np.exp(-(behind * behind) / (2 * float(variance)))
    kept: NDArray[np.bool_] = uniforms < chances
    for place in np.flatnonzero(np.abs(uniforms - chances) <= _MARGIN).tolist():
        exponent = (abs(int(proposals[place])) - variance / scale) ** 2 / (2 * variance)
        kept[place] = _decays(Uniform(source, int(words[place]), 64), exponent)
    return kept


def _decays(uniform: Uniform, exponent: Fraction) -> bool:
    """Say whether a uniform number lies below exp(-exponent), drawing as many more of its bits as that takes."""

    def chance(bits: int) -> Interval:
        digits = intervals.digits_for(bits)
        return intervals.exp(intervals.negative(intervals.ratio(exponent, digits)), digits)

    return intervals.smaller(Lazy(uniform.within), Lazy(chance))


def coin(source: Source, exponent: Fraction) -> bool:
    """Toss a coin that falls heads with probability exp(-exponent), exactly, for an exponent of 0 or more."""
    whole = int(exponent)
    return all(_short_coin(source, Fraction(1)) for _ in range(whole)) and _short_coin(source, exponent - whole)


def _short_coin(source: Source, exponent: Fraction) -> bool:
    k = 1
    while source.below(exponent.denominator * k) < exponent.numerator:
        k += 1
    return k % 2 == 1
