"""Slow twins of `discreet.kernels._truncate` and `truncate_smart`: a row at a time, in plain Python."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from operator import xor

Set = tuple[int, ...]


def mix(word: int) -> int:
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB % 2**64
    return word ^ (word >> 31)


def number_equal(rows: list[list[int]]) -> list[int]:
    return [rows[:place].count(row) for place, row in enumerate(rows)]


def marks(row: list[int], key: int, copy: int = 0) -> dict[int, int]:
    """Return the mark of each code of a row that so many equal ones come before."""
    key ^= mix(copy)
    own = {code: mix(key ^ code) for code in row}
    together = mix(reduce(xor, own.values(), 0))
    return {code: mix(mark ^ together) for code, mark in own.items()}


def keep_some(row: list[int], most: int, key: int, copy: int = 0) -> list[int]:
    mark = marks(row, key, copy)
    return row if len(row) <= most else sorted(sorted(row, key=lambda code: (mark[code], code))[:most])


def keep_smart(row: list[int], most: int, key: int, scores: dict[Set, int], copy: int = 0) -> list[int]:
    """Do what algorithm 8 of Zeng, Naughton, Cai says, with errata C6 and C7."""
    if len(row) <= most:
        return row
    mark = marks(row, key, copy)
    weights = {one: Fraction(score) for one, score in sorted(scores.items()) if set(one) <= set(row)}
    shares = {one: weight / len(one) for one, weight in weights.items()}
    kept: set[int] = set()
    while len(kept) < most and weights:
        heaviest = max(weights.values())
        one = next(one for one, weight in weights.items() if weight == heaviest)
        del weights[one]
        fresh = set(sorted(set(one) - kept, key=lambda code: (mark[code], code))[: most - len(kept)])
        kept |= fresh
        for other in list(weights):
            weights[other] += shares[other] * len(fresh & set(other))
            if set(other) <= kept:
                del weights[other]
    return sorted(kept)
