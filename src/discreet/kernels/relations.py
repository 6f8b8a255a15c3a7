"""Which ordered pairs of some items each person holds: given ones, one after the other in time, or simply together.

Items of interest have a rank below `width`; the pair of ranks (a, b) has the code a * width + b. Lists ascend. A bond
is a pair that stands for an item: it has a rank of its own, after those of the items.
"""

from __future__ import annotations

import numpy as np

from .jit import helper, kernel
from .mining import I32, I64
from .parts import place_of, sort


@kernel
def pairs_given(
    offsets: I64, first: I32, second: I32, people: I64, ranks: I64, width: int, starts: I64, held: I32, sizes: I64
) -> None:
    """Write the given pairs of ranked items; where `held` is empty, only how many they are."""
    for row in range(len(people)):
        many = 0
        for at in range(offsets[people[row]], offsets[people[row] + 1]):
            one, other = ranks[first[at]], ranks[second[at]]
            if one >= 0 and other >= 0 and one != other:
                if len(held):
                    held[starts[row] + many] = one * width + other
                many += 1
        sizes[row] = many
        if len(held):
            sort(held, starts[row], starts[row] + many)


@kernel
def pairs_together(
    offsets: I64, codes: I32, people: I64, ranks: I64, width: int, starts: I64, held: I32, sizes: I64
) -> None:
    """Write all ordered pairs of different ranked items of a basket; where `held` is empty, only how many they are."""
    own = np.empty(width, np.int64)
    for row in range(len(people)):
        many = _ranked(offsets, codes, people[row], ranks, own)
        sizes[row] = many * (many - 1)
        if len(held):
            place = starts[row]
            for one in range(many):
                for other in range(many):
                    if one != other:
                        held[place] = own[one] * width + own[other]
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
    held: I32,
    sizes: I64,
) -> None:
    """Write the pairs (a, b) where some b comes after some a; where `held` is empty, only how many they are.

    What has the same moment is at the same time; without moments, everything has a time of its own.
    """
    own = np.empty(width, np.int64)
    earliest = np.empty(width, np.int64)
    latest = np.full(width, -1, np.int64)
    for row in range(len(people)):
        many = 0
        for at in range(offsets[people[row]], offsets[people[row] + 1]):
            rank = ranks[codes[at]]
            if rank >= 0:
                moment = moments[at] if len(moments) else at
                if latest[rank] < 0:
                    own[many] = rank
                    many += 1
                    earliest[rank] = moment
                latest[rank] = moment
        mine = own[:many].copy()
        sort(mine, 0, many)
        count = 0
        for one in range(many):
            for other in range(many):
                if one != other and earliest[mine[one]] < latest[mine[other]]:
                    if len(held):
                        held[starts[row] + count] = mine[one] * width + mine[other]
                    count += 1
        sizes[row] = count
        for at in range(many):
            latest[own[at]] = -1


@kernel
def project(
    offsets: I64,
    codes: I32,
    people: I64,
    ranks: I64,
    width: int,
    starts: I64,
    held: I32,
    left: I64,
    right: I64,
    out: I64,
) -> None:
    """Write each sum of left[a] * right[b] over the pairs a person holds, and of left[a] * right[a] over the items."""
    own = np.empty(width, np.int64)
    for row in range(len(people)):
        total = 0
        many = _ranked(offsets, codes, people[row], ranks, own)
        for at in range(many):
            total += left[own[at]] * right[own[at]]
        for at in range(starts[row], starts[row + 1]):
            total += left[held[at] // width] * right[held[at] % width]
        out[row] = total


@kernel
def project_together(
    offsets: I64, codes: I32, people: I64, ranks: I64, bonds: I64, left: I64, right: I64, out: I64
) -> None:
    """Write each product of two sums over what a person holds, items and bonds: that of `left`, and that of `right`."""
    width = len(left) - len(bonds)
    has = np.zeros(width, np.uint8)
    own = np.empty(width, np.int64)
    for row in range(len(people)):
        one, other = 0, 0
        many = _ranked(offsets, codes, people[row], ranks, own)
        for at in range(many):
            has[own[at]] = 1
            one += left[own[at]]
            other += right[own[at]]
        for at in range(len(bonds)):
            if has[bonds[at] // len(left)] and has[bonds[at] % len(left)]:
                one += left[width + at]
                other += right[width + at]
        for at in range(many):
            has[own[at]] = 0
        out[row] = one * other


@kernel
def add_bonds(starts: I64, held: I32, bonds: I64, width: int, ends: I64, joined: I32, sizes: I64) -> None:
    """Write each list of pairs with what follows from bonds; where `joined` is empty, only how many those are.

    Who holds the pair (a, b), which is a bond, has that bond with itself, and with every c but a that b is paired with.
    """
    first = width - len(bonds)
    for row in range(len(starts) - 1):
        start, stop = starts[row], starts[row + 1]
        many = stop - start
        if len(joined):
            for at in range(many):
                joined[ends[row] + at] = held[start + at]
        for at in range(len(bonds)):
            one, other = bonds[at] // width, bonds[at] % width
            place = place_of(held, start, stop, bonds[at])
            if place < stop and held[place] == bonds[at]:
                bond = first + at
                place = place_of(held, start, stop, other * width)
                while place < stop and held[place] < (other + 1) * width:
                    third = held[place] % width
                    if third != one:
                        if len(joined):
                            joined[ends[row] + many] = bond * width + third
                        many += 1
                    place += 1
                if len(joined):
                    joined[ends[row] + many] = bond * width + bond
                many += 1
        sizes[row] = many


@kernel
def count_chains(starts: I64, held: I32, width: int, counts: I64) -> None:
    """Count who holds each chain (a, b, c): both pairs (a, b) and (b, c); its code is (a * width + b) * width + c."""
    for row in range(len(starts) - 1):
        start, stop = starts[row], starts[row + 1]
        for at in range(start, stop):
            one, other = held[at] // width, held[at] % width
            place = place_of(held, start, stop, other * width)
            while place < stop and held[place] < (other + 1) * width:
                third = held[place] % width
                if third != one:
                    counts[held[at] * width + third] += 1
                place += 1


@kernel
def project_folded(
    offsets: I64, codes: I32, people: I64, items: int, side: int, left: I64, right: I64, out: I64
) -> None:
    """Write each sum of left[a] * right[b] over the items a * side + b below `items` that a person holds."""
    for row in range(len(people)):
        total = 0
        for at in range(offsets[people[row]], offsets[people[row] + 1]):
            if codes[at] < items:
                total += left[codes[at] // side] * right[codes[at] % side]
        out[row] = total


@helper
def _ranked(offsets: I64, codes: I32, person: int, ranks: I64, own: I64) -> int:
    """Put the ranks a basket has into `own`, ascending, and return how many they are."""
    many = 0
    for at in range(offsets[person], offsets[person + 1]):
        rank = ranks[codes[at]]
        if rank >= 0:
            place = many
            while place > 0 and own[place - 1] > rank:
                own[place] = own[place - 1]
                place -= 1
            own[place] = rank
            many += 1
    return many
