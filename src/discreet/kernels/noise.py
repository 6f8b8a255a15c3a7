"""Exact noise from fair bits: no floating point anywhere.

After Canonne, Kamath, Steinke, "The discrete Gaussian for differential privacy" (NeurIPS 2020): a coin that falls
heads with probability exp(-a/b) is made of fair coins by von Neumann's series, and the discrete Laplace
distribution of such coins. Words of 64 fair bits are handed in; a kernel stops before a draw for which too
few are left, so what is drawn never depends on where the words end.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .jit import helper, kernel

I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]

# A draw begins only if so many words are left. One needs about fifteen; the chance of needing so many is below 2^-900.
RESERVE = 4096


@helper
def below(words: U64, place: int, bound: int) -> tuple[int, int]:
    """Draw a number below `bound` (at most 2^62) by rejection; return it and the place of the next word."""
    mask = np.uint64(1)
    while mask < np.uint64(bound):
        mask <<= np.uint64(1)
    mask -= np.uint64(1)
    while True:
        drawn = np.int64(words[place] & mask)
        place += 1
        if drawn < bound:
            return drawn, place


@helper
def decays(words: U64, place: int, above: int, beneath: int) -> tuple[bool, int]:
    """Toss a coin that falls heads with probability exp(-above / beneath), for above <= beneath."""
    k = 1
    while True:
        drawn, place = below(words, place, beneath * k)
        if drawn >= above:
            break
        k += 1
    return k % 2 == 1, place


@kernel
def discrete_laplace(words: U64, above: int, beneath: int, drawn: I64) -> tuple[int, int]:
    """Fill `drawn` with discrete Laplace noise of scale above / beneath as far as the words reach.

    Returns how many were drawn and how many words were used. The probability of x is proportional to
    exp(-|x| * beneath / above); `above` is at most 2^54.
    """
    place = 0
    done = 0
    enough = words.shape[0] - RESERVE
    while done < drawn.shape[0] and place <= enough:
        while True:
            rest, place = below(words, place, above)
            kept, place = decays(words, place, rest, above)
            if not kept:
                continue
            whole = np.int64(0)
            while True:
                kept, place = decays(words, place, 1, 1)
                if not kept:
                    break
                whole += 1
            size = (rest + above * whole) // beneath
            negative = (words[place] & np.uint64(1)) == np.uint64(1)
            place += 1
            if negative and size == 0:
                continue  # zero has no sign: counted once
            drawn[done] = -size if negative else size
            done += 1
            break
    return done, place
