"""Ordered pairs of ranked items per person: recorded pairs, pairs in time order, or all pairs of a basket.

Items of interest have a rank below `width`; the pair of ranks (a, b) has the code a * width + b. Lists ascend. A bond
is a pair that stands for an item: it has a rank of its own, after the ranks of the items.

Each function that lists pairs runs twice: first with an empty list, to write the sizes alone, then with a list of the
summed size.
"""

from __future__ import annotations

import numpy as np

from ._jit import helper, kernel
from ._parts import find_place, sort
from .mining import I32, I64


@kernel
def pairs_given(
    offsets: I64, lefts: I32, rights: I32, people: I64, ranks: I64, width: int, starts: I64, pairs: I32, sizes: I64
) -> None:
    """Write the recorded pairs of ranked items; with an empty `pairs`, only the number of pairs per person."""
    for row in range(len(people)):
        pair_count = 0
        for position in range(offsets[people[row]], offsets[people[row] + 1]):
            left_rank, right_rank = ranks[lefts[position]], ranks[rights[position]]
            if left_rank >= 0 and right_rank >= 0 and left_rank != right_rank:
                if len(pairs):
                    pairs[starts[row] + pair_count] = left_rank * width + right_rank
                pair_count += 1
        sizes[row] = pair_count
        if len(pairs):
            sort(pairs, starts[row], starts[row] + pair_count)


@kernel
def pairs_together(
    offsets: I64, codes: I32, people: I64, ranks: I64, width: int, starts: I64, pairs: I32, sizes: I64
) -> None:
    """Write all ordered pairs of ranked items of a basket; with an empty `pairs`, only their number per person."""
    own_ranks = np.empty(width, np.int64)
    for row in range(len(people)):
        rank_count = _collect_ranks(offsets, codes, people[row], ranks, own_ranks)
        sizes[row] = rank_count * (rank_count - 1)
        if len(pairs):
            place = starts[row]
            for i in range(rank_count):
                for j in range(rank_count):
                    if i != j:
                        pairs[place] = own_ranks[i] * width + own_ranks[j]
                        place += 1


@kernel
def pairs_after(
    offsets: I64,
    codes: I32,
    moments: I32,
    people: I64,
    ranks: I64,
    width: int,
    starts: I64,
    pairs: I32,
    sizes: I64,
) -> None:
    """Write the pairs (a, b) with some b later than some a; with an empty `pairs`, only the number of pairs per person.

    Entries of one moment are simultaneous; without moments, the position of each entry is its time.
    """
    own_ranks = np.empty(width, np.int64)
    earliest = np.empty(width, np.int64)
    latest = np.full(width, -1, np.int64)
    for row in range(len(people)):
        rank_count = 0
        for position in range(offsets[people[row]], offsets[people[row] + 1]):
            rank = ranks[codes[position]]
            if rank >= 0:
                moment = moments[position] if len(moments) else position
                if latest[rank] < 0:
                    own_ranks[rank_count] = rank
                    rank_count += 1
                    earliest[rank] = moment
                latest[rank] = moment
        sorted_ranks = own_ranks[:rank_count].copy()
        # Codes of pairs ascend only if both ranks of the pairs do.
        sort(sorted_ranks, 0, rank_count)
        count = 0
        for i in range(rank_count):
            for j in range(rank_count):
                # Some b is later than some a exactly if the last b is later than the first a.
                if i != j and earliest[sorted_ranks[i]] < latest[sorted_ranks[j]]:
                    if len(pairs):
                        pairs[starts[row] + count] = sorted_ranks[i] * width + sorted_ranks[j]
                    count += 1
        sizes[row] = count
        for position in range(rank_count):
            # Only touched cells are reset: a sweep over all ranks would cost `width` per person.
            latest[own_ranks[position]] = -1


@kernel
def project_relations(
    offsets: I64,
    codes: I32,
    people: I64,
    ranks: I64,
    width: int,
    starts: I64,
    pairs: I32,
    left_weights: I64,
    right_weights: I64,
    products: I64,
) -> None:
    """Write sum(left[a] * right[b] over held pairs) + sum(left[a] * right[a] over held items) per person."""
    own_ranks = np.empty(width, np.int64)
    for row in range(len(people)):
        total = 0
        rank_count = _collect_ranks(offsets, codes, people[row], ranks, own_ranks)
        for position in range(rank_count):
            total += left_weights[own_ranks[position]] * right_weights[own_ranks[position]]
        for position in range(starts[row], starts[row + 1]):
            total += left_weights[pairs[position] // width] * right_weights[pairs[position] % width]
        products[row] = total


@kernel
def project_together(
    offsets: I64, codes: I32, people: I64, ranks: I64, bonds: I64, left_weights: I64, right_weights: I64, products: I64
) -> None:
    """Write the product of two sums per person, over held items and bonds: of left weights, and of right weights."""
    width = len(left_weights) - len(bonds)
    has_rank = np.zeros(width, np.uint8)
    own_ranks = np.empty(width, np.int64)
    for row in range(len(people)):
        left_sum, right_sum = 0, 0
        rank_count = _collect_ranks(offsets, codes, people[row], ranks, own_ranks)
        for position in range(rank_count):
            has_rank[own_ranks[position]] = 1
            left_sum += left_weights[own_ranks[position]]
            right_sum += right_weights[own_ranks[position]]
        for position in range(len(bonds)):
            if has_rank[bonds[position] // len(left_weights)] and has_rank[bonds[position] % len(left_weights)]:
                left_sum += left_weights[width + position]
                right_sum += right_weights[width + position]
        for position in range(rank_count):
            has_rank[own_ranks[position]] = 0
        products[row] = left_sum * right_sum


@kernel
def add_bonds(starts: I64, pairs: I32, bonds: I64, width: int, ends: I64, extended_pairs: I32, sizes: I64) -> None:
    """Write each list of pairs with the pairs that follow from bonds; with an empty `extended_pairs`, the sizes.

    A person that holds the pair (a, b), a bond, holds that bond with itself, and with each c except a for which (b, c)
    is held.
    """
    first_bond = width - len(bonds)
    for row in range(len(starts) - 1):
        start, stop = starts[row], starts[row + 1]
        pair_count = stop - start
        if len(extended_pairs):
            for position in range(pair_count):
                extended_pairs[ends[row] + position] = pairs[start + position]
        for position in range(len(bonds)):
            a, b = bonds[position] // width, bonds[position] % width
            place = find_place(pairs, start, stop, bonds[position])
            if place < stop and pairs[place] == bonds[position]:
                bond_rank = first_bond + position
                place = find_place(pairs, start, stop, b * width)
                while place < stop and pairs[place] < (b + 1) * width:
                    c = pairs[place] % width
                    if c != a:
                        if len(extended_pairs):
                            extended_pairs[ends[row] + pair_count] = bond_rank * width + c
                        pair_count += 1
                    place += 1
                if len(extended_pairs):
                    extended_pairs[ends[row] + pair_count] = bond_rank * width + bond_rank
                pair_count += 1
        sizes[row] = pair_count


@kernel
def count_chains(starts: I64, pairs: I32, width: int, counts: I64) -> None:
    """Count the holders of each chain (a, b, c), that is of both pairs (a, b) and (b, c).

    code = (a * width + b) * width + c
    """
    for row in range(len(starts) - 1):
        start, stop = starts[row], starts[row + 1]
        for position in range(start, stop):
            a, b = pairs[position] // width, pairs[position] % width
            place = find_place(pairs, start, stop, b * width)
            while place < stop and pairs[place] < (b + 1) * width:
                c = pairs[place] % width
                if c != a:
                    counts[pairs[position] * width + c] += 1
                place += 1


@kernel
def project_folded(
    offsets: I64, codes: I32, people: I64, items: int, side: int, left_weights: I64, right_weights: I64, products: I64
) -> None:
    """Write sum(left[a] * right[b] over held items a * side + b below `items`) per person."""
    for row in range(len(people)):
        total = 0
        for position in range(offsets[people[row]], offsets[people[row] + 1]):
            if codes[position] < items:
                total += left_weights[codes[position] // side] * right_weights[codes[position] % side]
        products[row] = total


@helper
def _collect_ranks(offsets: I64, codes: I32, person: int, ranks: I64, own_ranks: I64) -> int:
    """Write the ranks of a basket to `own_ranks`, ascending; return the number of ranks."""
    rank_count = 0
    for position in range(offsets[person], offsets[person + 1]):
        rank = ranks[codes[position]]
        if rank >= 0:
            place = rank_count
            # Baskets are short, so insertion beats a general sort.
            while place > 0 and own_ranks[place - 1] > rank:
                own_ranks[place] = own_ranks[place - 1]
                place -= 1
            own_ranks[place] = rank
            rank_count += 1
    return rank_count
