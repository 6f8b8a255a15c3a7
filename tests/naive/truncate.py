"""Slow twins of `discreet.kernels._truncate` and `truncate_smart`: a row at a time, in plain Python."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from operator import xor

Set = tuple[int, ...]


def mix(word: int) -> int:
    # The finalizer of SplitMix64 (Steele, Lea and Flood 2014).
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB % 2**64
    return word ^ (word >> 31)


def number_equal(rows: list[list[int]]) -> list[int]:
    return [rows[:place].count(row) for place, row in enumerate(rows)]


def marks(row: list[int], key: int, copy: int = 0) -> dict[int, int]:
    """Return the mark of each code of a row that has `copy` equal rows before it."""
    key ^= mix(copy)
    item_marks = {code: mix(key ^ code) for code in row}
    # Marks depend on the whole row, so that equal codes of different rows are cut independently.
    row_mark = mix(reduce(xor, item_marks.values(), 0))
    return {code: mix(mark ^ row_mark) for code, mark in item_marks.items()}


def keep_some(row: list[int], max_items: int, key: int, copy: int = 0) -> list[int]:
    mark = marks(row, key, copy)
    return row if len(row) <= max_items else sorted(sorted(row, key=lambda code: (mark[code], code))[:max_items])


def keep_smart(row: list[int], max_items: int, key: int, scores: dict[Set, int], copy: int = 0) -> list[int]:
    """Truncate a row by algorithm 8 of Zeng, Naughton, Cai, with errata C6 and C7."""
    if len(row) <= max_items:
        return row
    mark = marks(row, key, copy)
    weights = {itemset: Fraction(score) for itemset, score in sorted(scores.items()) if set(itemset) <= set(row)}
    shares = {itemset: weight / len(itemset) for itemset, weight in weights.items()}
    kept_items: set[int] = set()
    while len(kept_items) < max_items and weights:
        heaviest = max(weights.values())
        heaviest_itemset = next(itemset for itemset, weight in weights.items() if weight == heaviest)
        del weights[heaviest_itemset]
        fresh = set(
            sorted(set(heaviest_itemset) - kept_items, key=lambda code: (mark[code], code))[
                : max_items - len(kept_items)
            ]
        )
        kept_items |= fresh
        for itemset in list(weights):
            weights[itemset] += shares[itemset] * len(fresh & set(itemset))
            if set(itemset) <= kept_items:
                del weights[itemset]
    return sorted(kept_items)
