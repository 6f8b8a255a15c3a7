"""Exact noise from fair bits: no floating point anywhere.

After Canonne, Kamath, Steinke, "The discrete Gaussian for differential privacy" (NeurIPS 2020): a coin that falls heads
with probability exp(-a/b) is made from fair coins by von Neumann's series, and the discrete Laplace distribution from
coins of that kind. The caller passes words of 64 fair bits; a kernel stops before a draw for which too few words are
left, so the draws never depend on the place where the words end.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._jit import helper, kernel

I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]

# Words that a draw needs to begin. A draw uses about 15 words; P(more than 4,096) is below 2^-900.
RESERVE = 4096


@helper
def draw_below(words: U64, place: int, bound: int) -> tuple[int, int]:
    """Draw a number below `bound` (at most 2^62) by rejection; return it and the place of the next word."""
    mask = np.uint64(1)
    while mask < np.uint64(bound):
        mask <<= np.uint64(1)
    mask -= np.uint64(1)
    while True:
        draw = np.int64(words[place] & mask)
        place += 1
        if draw < bound:
            return draw, place


@helper
def toss_decay_coin(words: U64, place: int, numerator: int, denominator: int) -> tuple[bool, int]:
    """Toss a coin that falls heads with probability exp(-numerator / denominator), for numerator <= denominator."""
    k = 1
    while True:
        draw, place = draw_below(words, place, denominator * k)
        # Toss k succeeds with probability x / k; the first failing k is odd with probability exp(-x) (algorithm 1).
        if draw >= numerator:
            break
        k += 1
    return k % 2 == 1, place


@kernel
def fill_discrete_laplace(words: U64, numerator: int, denominator: int, noise: I64) -> tuple[int, int]:
    """Fill `noise` with discrete Laplace noise of scale numerator / denominator as far as the words reach.

    P(x) is proportional to exp(-|x| * denominator / numerator); `numerator` is at most 2^54. Returns the number of
    draws and the number of used words.
    """
    place = 0
    noise_count = 0
    last_start = words.shape[0] - RESERVE
    while noise_count < noise.shape[0] and place <= last_start:
        while True:
            remainder, place = draw_below(words, place, numerator)
            is_heads, place = toss_decay_coin(words, place, remainder, numerator)
            if not is_heads:
                continue
            quotient = np.int64(0)
            while True:
                is_heads, place = toss_decay_coin(words, place, 1, 1)
                if not is_heads:
                    break
                quotient += 1
            magnitude = (remainder + numerator * quotient) // denominator
            is_negative = (words[place] & np.uint64(1)) == np.uint64(1)
            place += 1
            if is_negative and magnitude == 0:
                continue  # zero has no sign, so half of its draws are rejected (Canonne et al., algorithm 2)
            noise[noise_count] = -magnitude if is_negative else magnitude
            noise_count += 1
            break
    return noise_count, place
