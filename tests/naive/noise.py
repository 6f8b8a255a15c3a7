"""Exact noise in plain Python, from the same words in the same order."""

from __future__ import annotations


def _below(words: list[int], bound: int) -> int:
    bits = (bound - 1).bit_length()
    while True:
        drawn = words.pop(0) & ((1 << bits) - 1)
        if drawn < bound:
            return drawn


def _decays(words: list[int], above: int, beneath: int) -> bool:
    k = 1
    while _below(words, beneath * k) < above:
        k += 1
    return k % 2 == 1


def discrete_laplace(words: list[int], above: int, beneath: int) -> int:
    while True:
        rest = _below(words, above)
        if not _decays(words, rest, above):
            continue
        whole = 0
        while _decays(words, 1, 1):
            whole += 1
        size = (rest + above * whole) // beneath
        negative = words.pop(0) & 1
        if not (negative and size == 0):
            return -size if negative else size
