"""Candidates held per person: the lookup that a device does in its own basket, for many baskets at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import _plain_counting as plain_counting
from ._jit import helper, kernel
from ._parts import find_place, sort
from ._plain_counting import estimate_code_count
from .mining import I32, I64


@kernel(plain=plain_counting.count_held, work=estimate_code_count)
def count_held(
    offsets: I64,
    codes: I32,
    people: I64,
    anchors: I64,
    anchored: I64,
    bounds: I64,
    other_items: I64,
    marks: NDArray[np.uint8],
    sizes: I64,
) -> None:
    """Write the number of candidates that each person holds.

    A candidate is found by one of its items, the anchor: `anchored[anchors[x]:anchors[x + 1]]` are the candidates of
    item x, and candidate c needs `other_items[bounds[c]:bounds[c + 1]]` besides. `marks` is a scratch byte per item,
    all zero.
    """
    for row in range(len(people)):
        low, high = offsets[people[row]], offsets[people[row] + 1]
        for position in range(low, high):
            marks[codes[position]] = 1
        sizes[row] = 0
        for position in range(low, high):
            for anchor_place in range(anchors[codes[position]], anchors[codes[position] + 1]):
                # Each candidate has one anchor, so a person meets it once.
                if _all_marked(other_items, bounds[anchored[anchor_place]], bounds[anchored[anchor_place] + 1], marks):
                    sizes[row] += 1
        for position in range(low, high):
            # Only marked bytes are reset: a sweep over all items would cost the vocabulary per person.
            marks[codes[position]] = 0


@kernel(plain=plain_counting.list_held, work=estimate_code_count)
def list_held(
    offsets: I64,
    codes: I32,
    people: I64,
    anchors: I64,
    anchored: I64,
    bounds: I64,
    other_items: I64,
    marks: NDArray[np.uint8],
    starts: I64,
    held_candidates: I32,
) -> None:
    """Write the candidates that each person holds, ascending, at `starts`, the summed sizes of `count_held`."""
    for row in range(len(people)):
        low, high = offsets[people[row]], offsets[people[row] + 1]
        for position in range(low, high):
            marks[codes[position]] = 1
        place = starts[row]
        for position in range(low, high):
            for anchor_place in range(anchors[codes[position]], anchors[codes[position] + 1]):
                if _all_marked(other_items, bounds[anchored[anchor_place]], bounds[anchored[anchor_place] + 1], marks):
                    held_candidates[place] = anchored[anchor_place]
                    place += 1
        for position in range(low, high):
            marks[codes[position]] = 0
        sort(held_candidates, starts[row], place)


@helper
def _all_marked(other_items: I64, low: int, high: int, marks: NDArray[np.uint8]) -> bool:
    """Return whether a basket holds all of `other_items[low:high]`."""
    for position in range(low, high):
        if marks[other_items[position]] == 0:
            return False
    return True


@kernel(plain=plain_counting.count_below, work=estimate_code_count)
def count_below(offsets: I64, codes: I32, people: I64, code_bound: int, sizes: I64) -> None:
    """Write the number of codes below `code_bound` that each person holds; rows ascend."""
    for row in range(len(people)):
        low, high = offsets[people[row]], offsets[people[row] + 1]
        sizes[row] = find_place(codes, low, high, code_bound) - low


@kernel(plain=plain_counting.gather_rows, work=estimate_code_count)
def gather_rows(offsets: I64, codes: I32, people: I64, starts: I64, gathered: I32) -> None:
    """Write the rows of the given people end to end, each cut to its room."""
    for row in range(len(people)):
        low = offsets[people[row]]
        for position in range(starts[row + 1] - starts[row]):
            gathered[starts[row] + position] = codes[low + position]


@kernel
def sum_rows(offsets: I64, codes: I32, people: I64, weights: I64, sums: I64) -> None:
    """Write the sum of the weights of each person's items."""
    for row in range(len(people)):
        total = 0
        for position in range(offsets[people[row]], offsets[people[row] + 1]):
            total += weights[codes[position]]
        sums[row] = total


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
    no_prefix: int,
    prefixes: I64,
) -> None:
    """Write the prefix that each person's first `length` ranked items make, by descending a tree of prefixes.

    `ranks` is the rank of each item, or -1. The child of node v by rank r is `children[i]` where `keys[i]` is
    v * width + r; keys ascend. After `length` steps a node is the number of a prefix; `no_prefix` stands for no prefix.
    """
    first_ranks = np.empty(length + 1, np.int64)
    for row in range(len(people)):
        kept_count = 0
        for position in range(offsets[people[row]], offsets[people[row] + 1]):
            rank = ranks[codes[position]]
            if rank < 0 or (kept_count == length and rank > first_ranks[length - 1]):
                continue
            place = min(kept_count, length)
            # Insertion into the `length` smallest ranks: lists are a few items long.
            while place > 0 and first_ranks[place - 1] > rank:
                first_ranks[place] = first_ranks[place - 1]
                place -= 1
            first_ranks[place] = rank
            kept_count = min(kept_count + 1, length)
        # Shorter baskets make no prefix of this length.
        prefixes[row] = no_prefix
        if kept_count < length:
            continue
        node = 0
        for step in range(length):
            key = node * width + first_ranks[step]
            child_place = find_place(keys, 0, len(keys), key)
            if child_place == len(keys) or keys[child_place] != key:
                node = -1
                break
            node = children[child_place]
        if node >= 0:
            prefixes[row] = node


@helper
def _collect_numbers(codes: I32, low: int, high: int, table: I32, scratch: I32) -> int:
    """Write the distinct numbers of a row's items to `scratch`, ascending; return the number of numbers."""
    number_count = 0
    for position in range(low, high):
        number = table[codes[position]]
        place = number_count
        while place > 0 and scratch[place - 1] > number:
            place -= 1
        if number < 0 or (place > 0 and scratch[place - 1] == number):
            continue
        for shifted in range(number_count, place, -1):
            scratch[shifted] = scratch[shifted - 1]
        scratch[place] = number
        number_count += 1
    return number_count


@kernel
def count_numbered(offsets: I64, codes: I32, people: I64, table: I32, scratch: I32, sizes: I64) -> None:
    """Write the number of distinct numbers of each person's items by a table; -1 in the table is no number."""
    for row in range(len(people)):
        sizes[row] = _collect_numbers(codes, offsets[people[row]], offsets[people[row] + 1], table, scratch)


@kernel
def list_numbered(
    offsets: I64, codes: I32, people: I64, table: I32, scratch: I32, starts: I64, listed_numbers: I32
) -> None:
    """Write the distinct numbers of each person, ascending, at `starts`, the summed sizes of `count_numbered`."""
    for row in range(len(people)):
        number_count = _collect_numbers(codes, offsets[people[row]], offsets[people[row] + 1], table, scratch)
        for position in range(number_count):
            listed_numbers[starts[row] + position] = scratch[position]
