"""Exact noise in plain Python, from the same words in the same order."""

from __future__ import annotations


def _below(words: list[int], bound: int) -> int:
    bits = (bound - 1).bit_length()
    while True:
        bits_drawn = words.pop(0) & ((1 << bits) - 1)
        if bits_drawn < bound:
            return bits_drawn


def _decays(words: list[int], above: int, beneath: int) -> bool:
    k = 1
    while _below(words, beneath * k) < above:
        k += 1
    return k % 2 == 1


def discrete_laplace(words: list[int], above: int, beneath: int) -> int:
    while True:
        remainder = _below(words, above)
        if not _decays(words, remainder, above):
            continue
        quotient = 0
        while _decays(words, 1, 1):
            quotient += 1
        size = (remainder + above * quotient) // beneath
        negative = words.pop(0) & 1
        if not (negative and size == 0):
            return -size if negative else size
