"""Noise for releases: whole numbers, drawn exactly.

Discrete Laplace of scale b: Pr[x] proportional to exp(-|x| / b). Discrete Gaussian of variance v: Pr[x] proportional to
exp(-x^2 / (2 v)). Scales and variances are exact fractions. A fraction too long for 64-bit arithmetic is rounded up
first, which adds noise and never removes noise. The proofs are in `samplers.md`.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, isqrt

import numpy as np
from numpy.typing import NDArray

from ...errors import MisuseError
from ...kernels import RESERVE, fill_discrete_laplace
from . import intervals
from ._sources import Source
from .intervals import Interval, Lazy, Uniform

_WORDS_A_DRAW = 16  # of 64 bits; a surplus avoids further calls of the kernel, and changes no law
# Draws with words in memory at a time: 16 MiB. Larger takes more memory, smaller more calls of the kernel.
_AT_ONCE = 1 << 17
_LONGEST = 2**54  # products with the loop counter, up to 512, must fit 63 bits (`samplers.md`, numeric notes)
_LONGEST_VARIANCE = 2**106  # a variance is a squared scale: twice the bits, less two
_GRID = 2**20  # a rounded scale grows by at most 2^-20
_MARGIN = 1e-9  # a thousand times the proven error of the computed probability (`samplers.md`, line 12)


def discrete_laplace(source: Source, scale: Fraction, count: int) -> NDArray[np.int64]:
    """Draw `count` whole numbers of discrete Laplace noise.

    Parameters
    ----------
    source
        The source of the random bits.
    scale
        The scale b, an exact fraction of 0 or more; 0 means no noise.
    count
        The number of draws, 0 or more.

    Examples
    --------
    >>> from discreet.privacy.sampling._sources import SimulationSource
    >>> discrete_laplace(SimulationSource(7), Fraction(5, 2), 4).dtype
    dtype('int64')
    """
    if scale < 0 or count < 0:
        raise MisuseError(f"A scale and a number of draws are 0 or more; {scale} and {count} were given.")
    noise = np.zeros(count, np.int64)
    if scale == 0:
        return noise
    scale = shorten_fraction(scale)
    drawn_count = 0
    while drawn_count < count:
        # The kernel stops before a draw that could read past the words: RESERVE words are left for the last draw.
        words = source.words(_WORDS_A_DRAW * min(count - drawn_count, _AT_ONCE) + 2 * RESERVE)
        fresh_count, _ = fill_discrete_laplace(words, scale.numerator, scale.denominator, noise[drawn_count:])
        drawn_count += fresh_count
    return noise


def shorten_fraction(value: Fraction, longest: int = _LONGEST) -> Fraction:
    """Return `value`, rounded up where its numerator or denominator is `longest` or more.

    The default of `longest` is the limit of a scale; a variance is a square and may be longer.
    """
    if value.numerator < longest and value.denominator < longest:
        return value
    # Upwards only: less noise than the charge assumes would break the guarantee.
    rounded = Fraction(ceil(value * _GRID), _GRID) if value < longest // _GRID else Fraction(ceil(value))
    if rounded.numerator >= longest:
        raise MisuseError("The noise asked for is larger than any count: epsilon is too small for these baskets.")
    return rounded


def discrete_gaussian(source: Source, variance: Fraction, count: int) -> NDArray[np.int64]:
    """Draw `count` whole numbers of discrete Gaussian noise, by rejection from discrete Laplace noise.

    With t = floor(sigma) + 1, a proposal y of scale t is accepted with probability exp(-(|y| - variance / t)^2 / (2
    variance)) (Canonne, Kamath, Steinke 2020, algorithm 3).

    Parameters
    ----------
    source
        The source of the random bits.
    variance
        The variance, an exact fraction of 0 or more; 0 means no noise. A variance with a numerator or denominator of
        2^106 or more is rounded up.
    count
        The number of draws, 0 or more.

    Examples
    --------
    >>> from discreet.privacy.sampling._sources import SimulationSource
    >>> discrete_gaussian(SimulationSource(7), Fraction(50, 3), 4).dtype
    dtype('int64')
    """
    if variance < 0 or count < 0:
        raise MisuseError(f"A variance and a number of draws are 0 or more; {variance} and {count} were given.")
    noise = np.zeros(count, np.int64)
    if variance == 0:
        return noise
    variance = shorten_fraction(variance, _LONGEST_VARIANCE)
    scale = isqrt(int(variance)) + 1
    drawn_count = 0
    while drawn_count < count:
        # A surplus of proposals makes a second round rare. The surplus changes the speed and not the law.
        proposals = discrete_laplace(source, Fraction(scale), min(2 * (count - drawn_count) + 8, _AT_ONCE))
        accepted = proposals[_accept_proposals(source, proposals, variance, scale)][: count - drawn_count]
        noise[drawn_count : drawn_count + len(accepted)] = accepted
        drawn_count += len(accepted)
    return noise


def _accept_proposals(
    source: Source, proposals: NDArray[np.int64], variance: Fraction, scale: int
) -> NDArray[np.bool_]:
    """Return for each proposal whether a uniform number lies below its probability of acceptance.

    Floating point decides only where the uniform number lies so far from the probability that no rounding error could
    have moved it to the other side: the error is at most a thousandth of the margin (`samplers.md`). The remaining
    comparisons are exact.
    """
    words = source.words(len(proposals))
    uniforms = words.astype(np.float64) * 2.0**-64
    distances = np.abs(proposals).astype(np.float64) - float(variance / scale)
    probabilities = np.exp(-(distances * distances) / (2 * float(variance)))
    is_accepted: NDArray[np.bool_] = uniforms < probabilities
    for place in np.flatnonzero(np.abs(uniforms - probabilities) <= _MARGIN).tolist():
        exponent = (abs(int(proposals[place])) - variance / scale) ** 2 / (2 * variance)
        is_accepted[place] = _is_below_exponential(Uniform(source, int(words[place]), 64), exponent)
    return is_accepted


def _is_below_exponential(uniform: Uniform, exponent: Fraction) -> bool:
    """Return whether a uniform number lies below exp(-exponent), drawing further bits as needed."""

    def exponential(bits: int) -> Interval:
        digits = intervals.digits_for(bits)
        return intervals.exp(intervals.negate(intervals.ratio(exponent, digits)), digits)

    return intervals.is_smaller(Lazy(uniform.narrow_to), Lazy(exponential))


def coin(source: Source, exponent: Fraction) -> bool:
    """Return True with probability exp(-exponent), exactly, for an exponent of 0 or more."""
    integer = int(exponent)
    # exp(-a) = exp(-1)^floor(a) * exp(-(a - floor(a))): von Neumann's series needs an exponent of at most 1.
    return all(_short_coin(source, Fraction(1)) for _ in range(integer)) and _short_coin(source, exponent - integer)


def _short_coin(source: Source, exponent: Fraction) -> bool:
    """Return True with probability exp(-exponent), for an exponent between 0 and 1 (von Neumann)."""
    k = 1
    while source.below(exponent.denominator * k) < exponent.numerator:
        k += 1
    return k % 2 == 1
