"""Counting a family of itemsets with row weights, which depend on the number of family members in the row.

The family is laid out as trees of items, in depth-first order: node v stands for the item ``items[v]`` behind the items
above it, its subtree ends before ``ends[v]``, and ``members[v]`` is the itemset that ends there, or -1. The trees with
root x are the nodes from ``heads[x]`` to before ``heads[x + 1]``. So a row visits only the trees of its own items, and
leaves a tree at the first missing item.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import _plain_counting as plain_counting
from ._jit import kernel
from ._plain_rows import count_codes_of_rows
from .mining import I32, I64

Marks = NDArray[np.uint8]


def _count_codes_of_people(
    owners: I64, offsets: I64, codes: I32, first_person: int, last_person: int, *_: object
) -> float:
    """Return the number of codes in the rows of the given people."""
    return count_codes_of_rows(offsets, codes, int(owners[first_person]), int(owners[last_person]))


@kernel
def plant(offsets: I64, codes: I32, order: I64, heads: I64, items: I32, ends: I32, members: I32) -> None:
    """Lay a family out as trees.

    Itemset ``order[i]`` comes i-th: first items rise, and itemsets with a common beginning are neighbours. The arrays
    have room for one node per code. An itemset given twice has two nodes: each is counted by itself.
    """
    node_count = 0
    rooted_count = 0
    path = np.empty(len(codes) + 1, np.int32)
    depth = 0
    for i in range(len(order)):
        low, high = offsets[order[i]], offsets[order[i] + 1]
        shared_length = 0
        while (
            shared_length < depth
            and shared_length < high - low - 1
            and items[path[shared_length]] == codes[low + shared_length]
        ):
            shared_length += 1
        for level in range(shared_length, depth):
            # The nodes of this level that the next itemset does not share end here.
            ends[path[level]] = node_count
        while rooted_count <= codes[low]:
            heads[rooted_count] = node_count
            rooted_count += 1
        for level in range(shared_length, high - low):
            items[node_count] = codes[low + level]
            members[node_count] = -1
            path[level] = node_count
            node_count += 1
        depth = high - low
        members[node_count - 1] = order[i]
    for level in range(depth):
        ends[path[level]] = node_count
    heads[rooted_count:] = node_count


@kernel(plain=plain_counting.count_members, work=count_codes_of_rows)
def count_members(
    offsets: I64,
    codes: I32,
    first_row: int,
    last_row: int,
    heads: I64,
    items: I32,
    ends: I32,
    members: I32,
    member_counts: I32,
) -> None:
    """Write the number of family members that each row from `first_row` to before `last_row` holds."""
    marks = np.zeros(len(heads), np.uint8)
    for row in range(first_row, last_row):
        low, high = offsets[row], offsets[row + 1]
        for position in range(low, high):
            marks[codes[position]] = 1
        member_count = 0
        for position in range(low, high):
            node = heads[codes[position]]
            stop = heads[codes[position] + 1]
            while node < stop:
                if marks[items[node]]:
                    member_count += members[node] >= 0
                    node += 1
                else:
                    # The row lacks the item, so no member below the node can be held.
                    node = np.int64(ends[node])
        for position in range(low, high):
            marks[codes[position]] = 0
        member_counts[row] = member_count


@kernel(plain=plain_counting.add_weights, work=count_codes_of_rows)
def add_weights(
    offsets: I64,
    codes: I32,
    first_row: int,
    last_row: int,
    heads: I64,
    items: I32,
    ends: I32,
    members: I32,
    weights: I32,
    sums: I64,
) -> None:
    """Add the weight of each row from `first_row` to before `last_row` to the sums of its members."""
    marks = np.zeros(len(heads), np.uint8)
    for row in range(first_row, last_row):
        weight = weights[row]
        if weight == 0:
            continue
        low, high = offsets[row], offsets[row + 1]
        for position in range(low, high):
            marks[codes[position]] = 1
        for position in range(low, high):
            node = heads[codes[position]]
            stop = heads[codes[position] + 1]
            while node < stop:
                if marks[items[node]]:
                    if members[node] >= 0:
                        sums[members[node]] += weight
                    node += 1
                else:
                    node = np.int64(ends[node])
        for position in range(low, high):
            marks[codes[position]] = 0


@kernel(plain=plain_counting.load_people, work=_count_codes_of_people)
def load_people(
    owners: I64,
    offsets: I64,
    codes: I32,
    first_person: int,
    last_person: int,
    heads: I64,
    items: I32,
    ends: I32,
    members: I32,
    member_count: int,
    loads: I64,
) -> None:
    """Write the load of each person: the sum over members of (number of the person's rows with the member)^2.

    Person i has the rows from ``owners[i]`` to before ``owners[i + 1]``; members are numbered below `member_count`.
    """
    marks = np.zeros(len(heads), np.uint8)
    tally = np.zeros(member_count, np.int32)
    met_members = np.empty(member_count, np.int32)
    for person in range(first_person, last_person):
        load = 0
        met_count = 0
        for row in range(owners[person], owners[person + 1]):
            low, high = offsets[row], offsets[row + 1]
            for position in range(low, high):
                marks[codes[position]] = 1
            for position in range(low, high):
                node = heads[codes[position]]
                stop = heads[codes[position] + 1]
                while node < stop:
                    if marks[items[node]]:
                        member = members[node]
                        if member >= 0:
                            row_count = tally[member]
                            if row_count == 0:
                                met_members[met_count] = member
                                met_count += 1
                            # (n + 1)^2 - n^2 = 2n + 1: the sum of squares grows by this when a row is added.
                            load += 2 * row_count + 1
                            tally[member] = row_count + 1
                        node += 1
                    else:
                        node = np.int64(ends[node])
            for position in range(low, high):
                marks[codes[position]] = 0
        for position in range(met_count):
            # Only met members are reset: a sweep would cost the whole family per person.
            tally[met_members[position]] = 0
        loads[person] = load
