"""Counting a family of itemsets with a weight for each row, which depends on how many members of the family it holds.

The family is laid out as trees of items, in depth-first order: node v stands for the item ``items[v]`` after those
above it, its subtree ends before ``ends[v]``, and ``members[v]`` is the itemset that ends there, or -1. The trees with
root x are the nodes from ``heads[x]`` to before ``heads[x + 1]``, so a row meets only the trees of its own items, and
leaves a tree where it lacks an item.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import plain_counting
from .jit import kernel
from .mining import I32, I64
from .plain_rows import codes_between

Marks = NDArray[np.uint8]


def _codes_of_people(owners: I64, offsets: I64, codes: I32, first: int, last: int, *_: object) -> float:
    """Return how many codes the rows of some people have."""
    return codes_between(offsets, codes, int(owners[first]), int(owners[last]))


@kernel
def plant(offsets: I64, codes: I32, order: I64, heads: I64, items: I32, ends: I32, members: I32) -> None:
    """Lay a family out as trees.

    Itemset ``order[i]`` comes i-th: first items rise, and those with a common beginning lie together. There is room for
    as many nodes as the itemsets have codes. An itemset given twice has two nodes: each is counted by itself.
    """
    many = 0
    rooted = 0
    path = np.empty(len(codes) + 1, np.int32)
    depth = 0
    for i in range(len(order)):
        low, high = offsets[order[i]], offsets[order[i] + 1]
        shared = 0
        while shared < depth and shared < high - low - 1 and items[path[shared]] == codes[low + shared]:
            shared += 1
        for level in range(shared, depth):
            ends[path[level]] = many
        while rooted <= codes[low]:
            heads[rooted] = many
            rooted += 1
        for level in range(shared, high - low):
            items[many] = codes[low + level]
            members[many] = -1
            path[level] = many
            many += 1
        depth = high - low
        members[many - 1] = order[i]
    for level in range(depth):
        ends[path[level]] = many
    heads[rooted:] = many


@kernel(plain=plain_counting.count_members, work=codes_between)
def count_members(
    offsets: I64, codes: I32, first: int, last: int, heads: I64, items: I32, ends: I32, members: I32, held: I32
) -> None:
    """Write how many members of the family each row from `first` to before `last` holds."""
    marks = np.zeros(len(heads), np.uint8)
    for row in range(first, last):
        low, high = offsets[row], offsets[row + 1]
        for at in range(low, high):
            marks[codes[at]] = 1
        many = 0
        for at in range(low, high):
            node = heads[codes[at]]
            stop = heads[codes[at] + 1]
            while node < stop:
                if marks[items[node]]:
                    many += members[node] >= 0
                    node += 1
                else:
                    node = np.int64(ends[node])
        for at in range(low, high):
            marks[codes[at]] = 0
        held[row] = many


@kernel(plain=plain_counting.add_weights, work=codes_between)
def add_weights(
    offsets: I64,
    codes: I32,
    first: int,
    last: int,
    heads: I64,
    items: I32,
    ends: I32,
    members: I32,
    weights: I32,
    sums: I64,
) -> None:
    """Add the weight of each row from `first` to before `last` to the members it holds."""
    marks = np.zeros(len(heads), np.uint8)
    for row in range(first, last):
        weight = weights[row]
        if weight == 0:
            continue
        low, high = offsets[row], offsets[row + 1]
        for at in range(low, high):
            marks[codes[at]] = 1
        for at in range(low, high):
            node = heads[codes[at]]
            stop = heads[codes[at] + 1]
            while node < stop:
                if marks[items[node]]:
                    if members[node] >= 0:
                        sums[members[node]] += weight
                    node += 1
                else:
                    node = np.int64(ends[node])
        for at in range(low, high):
            marks[codes[at]] = 0


@kernel(plain=plain_counting.load_people, work=_codes_of_people)
def load_people(
    owners: I64,
    offsets: I64,
    codes: I32,
    first: int,
    last: int,
    heads: I64,
    items: I32,
    ends: I32,
    members: I32,
    many: int,
    loads: I64,
) -> None:
    """Write what each person from `first` to before `last` holds: over the members, the squares of how many rows do.

    Person i has the rows from ``owners[i]`` to before ``owners[i + 1]``; there are so many members.
    """
    marks = np.zeros(len(heads), np.uint8)
    tally = np.zeros(many, np.int32)
    met = np.empty(many, np.int32)
    for person in range(first, last):
        load = 0
        seen = 0
        for row in range(owners[person], owners[person + 1]):
            low, high = offsets[row], offsets[row + 1]
            for at in range(low, high):
                marks[codes[at]] = 1
            for at in range(low, high):
                node = heads[codes[at]]
                stop = heads[codes[at] + 1]
                while node < stop:
                    if marks[items[node]]:
                        member = members[node]
                        if member >= 0:
                            held = tally[member]
                            if held == 0:
                                met[seen] = member
                                seen += 1
                            load += 2 * held + 1
                            tally[member] = held + 1
                        node += 1
                    else:
                        node = np.int64(ends[node])
            for at in range(low, high):
                marks[codes[at]] = 0
        for at in range(seen):
            tally[met[at]] = 0
        loads[person] = load
