"""Which candidates each person holds: what a device looks up in its own basket, for many baskets at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import plain_counting
from .jit import helper, kernel
from .mining import I32, I64
from .parts import place_of, sort
from .plain_counting import rows_of_people


@kernel(plain=plain_counting.count_held, work=rows_of_people)
def count_held(
    offsets: I64,
    codes: I32,
    people: I64,
    anchors: I64,
    anchored: I64,
    bounds: I64,
    others: I64,
    marks: NDArray[np.uint8],
    sizes: I64,
) -> None:
    """Write how many candidates each person holds.

    Candidates are found by one item of theirs, their anchor: `anchored[anchors[x]:anchors[x + 1]]` are those of item x,
    and candidate c needs `others[bounds[c]:bounds[c + 1]]` besides. `marks` is a scratch byte an item, all zero.
    """
    for row in range(len(people)):
        low, high = offsets[people[row]], offsets[people[row] + 1]
        for at in range(low, high):
            marks[codes[at]] = 1
        sizes[row] = 0
        for at in range(low, high):
            for where in range(anchors[codes[at]], anchors[codes[at] + 1]):
                if _all_marked(others, bounds[anchored[where]], bounds[anchored[where] + 1], marks):
                    sizes[row] += 1
        for at in range(low, high):
            marks[codes[at]] = 0


@kernel(plain=plain_counting.list_held, work=rows_of_people)
def list_held(
    offsets: I64,
    codes: I32,
    people: I64,
    anchors: I64,
    anchored: I64,
    bounds: I64,
    others: I64,
    marks: NDArray[np.uint8],
    starts: I64,
    held: I32,
) -> None:
    """Write the candidates each person holds, ascending, at `starts`, which `count_held` gave."""
    for row in range(len(people)):
        low, high = offsets[people[row]], offsets[people[row] + 1]
        for at in range(low, high):
            marks[codes[at]] = 1
        place = starts[row]
        for at in range(low, high):
            for where in range(anchors[codes[at]], anchors[codes[at] + 1]):
                if _all_marked(others, bounds[anchored[where]], bounds[anchored[where] + 1], marks):
                    held[place] = anchored[where]
                    place += 1
        for at in range(low, high):
            marks[codes[at]] = 0
        sort(held, starts[row], place)


@helper
def _all_marked(others: I64, low: int, high: int, marks: NDArray[np.uint8]) -> bool:
    for at in range(low, high):
        if marks[others[at]] == 0:
            return False
    return True


@kernel(plain=plain_counting.count_below, work=rows_of_people)
def count_below(offsets: I64, codes: I32, people: I64, bound: int, sizes: I64) -> None:
    """Write how many of the items of some people, which ascend, are below a number."""
    for row in range(len(people)):
        low, high = offsets[people[row]], offsets[people[row] + 1]
        sizes[row] = place_of(codes, low, high, bound) - low


@kernel(plain=plain_counting.gather_rows, work=rows_of_people)
def gather_rows(offsets: I64, codes: I32, people: I64, starts: I64, held: I32) -> None:
    """Write the rows of some people end to end, each cut to its place."""
    for row in range(len(people)):
        low = offsets[people[row]]
        for at in range(starts[row + 1] - starts[row]):
            held[starts[row] + at] = codes[low + at]


@kernel
def sum_rows(offsets: I64, codes: I32, people: I64, worth: I64, out: I64) -> None:
    """Write what the items of each person are worth together."""
    for row in range(len(people)):
        total = 0
        for at in range(offsets[people[row]], offsets[people[row] + 1]):
            total += worth[codes[at]]
        out[row] = total


@kernel
def find_prefixes(
    offsets: I64,
    codes: I32,
    people: I64,
    ranks: I64,
    length: int,
    width: int,
    keys: I64,
    children: I64,
    none: int,
    out: I64,
) -> None:
    """Write which prefix each person's first `length` ranked items make, walking down a tree of prefixes.

    `ranks` is the rank of each item, or -1. The child of node v by rank r is `children[i]` where `keys[i]` is
    v * width + r; keys ascend. After `length` steps a node is the number of a prefix; `none` says there is no such.
    """
    first = np.empty(length + 1, np.int64)
    for row in range(len(people)):
        many = 0
        for at in range(offsets[people[row]], offsets[people[row] + 1]):
            rank = ranks[codes[at]]
            if rank < 0 or (many == length and rank > first[length - 1]):
                continue
            place = min(many, length)
            while place > 0 and first[place - 1] > rank:
                first[place] = first[place - 1]
                place -= 1
            first[place] = rank
            many = min(many + 1, length)
        out[row] = none
        if many < length:
            continue
        node = 0
        for step in range(length):
            key = node * width + first[step]
            where = place_of(keys, 0, len(keys), key)
            if where == len(keys) or keys[where] != key:
                node = -1
                break
            node = children[where]
        if node >= 0:
            out[row] = node


@helper
def _numbered(codes: I32, low: int, high: int, table: I32, scratch: I32) -> int:
    """Write the numbers of a row's items to `scratch`, ascending and each once, and return how many there are."""
    many = 0
    for at in range(low, high):
        number = table[codes[at]]
        place = many
        while place > 0 and scratch[place - 1] > number:
            place -= 1
        if number < 0 or (place > 0 and scratch[place - 1] == number):
            continue
        for other in range(many, place, -1):
            scratch[other] = scratch[other - 1]
        scratch[place] = number
        many += 1
    return many


@kernel
def count_numbered(offsets: I64, codes: I32, people: I64, table: I32, scratch: I32, sizes: I64) -> None:
    """Write how many different numbers the items of each person have by a table; those of -1 have none."""
    for row in range(len(people)):
        sizes[row] = _numbered(codes, offsets[people[row]], offsets[people[row] + 1], table, scratch)


@kernel
def list_numbered(offsets: I64, codes: I32, people: I64, table: I32, scratch: I32, starts: I64, held: I32) -> None:
    """Write those numbers, ascending, at `starts`, which `count_numbered` gave."""
    for row in range(len(people)):
        many = _numbered(codes, offsets[people[row]], offsets[people[row] + 1], table, scratch)
        for at in range(many):
            held[starts[row] + at] = scratch[at]
