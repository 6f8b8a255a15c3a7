"""Tables of published seeds: reports that fall into them, and what a table says of every symbol.

A table has a row per seed and a column per bucket. The seeds are those of `local.device.draws.published`, by number: a
block of rows is known by the number of its first one, and no list of seeds is kept.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .devices import U32, begin, below, hashed, longest_row, place, some, spun, symbol
from .jit import helper, kernel
from .mining import I32, I64
from .parts import added

F64: TypeAlias = NDArray[np.float64]

TILE = 2048
"""Symbols whose sums stay in the nearest cache."""
_ONE, _FAMILY = np.uint32(1), np.uint32(0x9E3779B9)
_FEW = 12  # buckets up to which comparing is quicker than looking up
_S32 = np.uint64(32)


@helper
def first_of(number: int) -> np.uint32:
    """Return the odd half of a published seed."""
    return np.uint32(hashed(2 * number, _ONE, _FAMILY) | _ONE)


@helper
def second_of(number: int) -> np.uint32:
    """Return the other half."""
    return hashed(2 * number + 1, _ONE, _FAMILY)


@kernel
def published_seeds(numbers: U32, firsts: U32, seconds: U32) -> None:
    """Look up the seeds of some numbers."""
    for at in range(len(numbers)):
        firsts[at] = first_of(np.int64(numbers[at]))
        seconds[at] = second_of(np.int64(numbers[at]))


@kernel
def report_numbered(
    offsets: I64,
    held: I32,
    people: I64,
    seed: np.uint64,
    pad: int,
    size: int,
    dummies: int,
    weight: np.uint64,
    buckets: int,
    seeds: int,
    out: I64,
    numbers: U32,
) -> None:
    """Report by randomised response over the buckets of a published hash function."""
    state = np.zeros(3, np.uint64)
    for row in range(len(people)):
        begin(state, seed, people[row])
        own = symbol(state, held, offsets[row], offsets[row + 1], pad, size, dummies)
        number = below(state, seeds)
        numbers[row] = np.uint32(number)
        whole = np.uint64(hashed(own, first_of(number), second_of(number)))
        bucket = np.int64((whole * np.uint64(buckets)) >> _S32)
        drawn = place(state, weight, 1, buckets - 1)
        out[row] = bucket if drawn == 0 else drawn - (1 if drawn <= bucket else 0)


@kernel
def report_spots(
    offsets: I64,
    held: I32,
    people: I64,
    seed: np.uint64,
    pad: int,
    weight: np.uint64,
    points: int,
    seeds: int,
    out: I64,
    numbers: U32,
) -> None:
    """Report one of the few points of a wheel, likelier one that a published hash function gives an own value."""
    state = np.zeros(3, np.uint64)
    own = np.empty(longest_row(offsets), np.int64)
    for row in range(len(people)):
        begin(state, seed, people[row])
        many = some(state, held, offsets[row], offsets[row + 1], pad, own)
        number = below(state, seeds)
        numbers[row] = np.uint32(number)
        out[row] = spun(state, own, many, first_of(number), second_of(number), 1, points, weight)


@kernel
def tabulate(numbers: U32, values: I64, times: int, table: I64) -> None:
    """Add reports to a table."""
    for row in range(len(numbers)):
        table[numbers[row], values[row]] += times


@helper
def _buckets(items: U32, first: np.uint32, second: np.uint32, buckets: np.uint64, out: U32) -> None:
    for at in range(len(items)):
        out[at] = np.uint32((np.uint64(hashed(items[at], first, second)) * buckets) >> _S32)


@kernel
def leftover(
    start: int,
    table: I64,
    items: U32,
    weights: F64,
    ones: I32,
    others: I32,
    extra: F64,
    slope: float,
    scale: float,
    out: I32,
) -> None:
    """Take off each cell what is expected of it, where some symbols have these weights and the others are even.

    Pairs of these symbols, by their places, add some extra to the cells that they share. Out comes `scale` times what
    is left, rounded. A row of N reports has N (1/g + slope (w - W/g)) expected in a cell of g, with w the weights in
    there and W those of the row.
    """
    rows, buckets = table.shape
    at = np.empty(len(items), np.uint32)
    inside = np.empty(buckets, np.float64)
    alone = added(weights)
    for row in range(rows):
        number = start + row
        _buckets(items, first_of(number), second_of(number), np.uint64(buckets), at)
        inside[:] = 0.0
        for place_ in range(len(items)):
            inside[at[place_]] += weights[place_]
        all_ = alone
        for pair in range(len(ones)):
            if at[ones[pair]] == at[others[pair]]:
                inside[at[ones[pair]]] += extra[pair]
                all_ += extra[pair]
        many = 0
        for bucket in range(buckets):
            many += table[row, bucket]
        for bucket in range(buckets):
            expected = many * ((1.0 - slope * all_) / buckets + slope * inside[bucket])
            out[row, bucket] = np.int32(np.rint(scale * (table[row, bucket] - expected)))


@kernel
def sum_cells(start: int, cells: I32, edges: U32, items: U32, sums: I64) -> None:
    """Add up, for each symbol, the cells that it falls into: one of each row.

    With few buckets, what a cell has more than the one before it is added where the hash is at its edge or beyond, four
    edges at a time. That vectorises; with many buckets cells are looked up. Sums of one call have to fit into 32 bits.
    """
    rows, buckets = cells.shape
    none = np.int32(0)
    tally = np.empty(TILE, np.int32)
    whole = np.empty(TILE, np.uint32)
    # Steps between the cells of a row, filled up with edges that add nothing.
    steps, ends = np.zeros(_FEW + 4, np.int32), np.full(_FEW + 4, np.uint32(0xFFFFFFFF), np.uint32)
    for first in range(0, len(items), TILE):
        tile = items[first : first + TILE]
        many = len(tile)
        tally[:many] = none
        for row in range(rows):
            one, other = first_of(start + row), second_of(start + row)
            if buckets > _FEW:
                _buckets(tile, one, other, np.uint64(buckets), whole)
                for at in range(many):
                    tally[at] += cells[row, np.uint64(whole[at])]
                continue
            least = cells[row, 0]
            for bucket in range(1, buckets):
                steps[bucket - 1] = np.int32(cells[row, bucket] - cells[row, bucket - 1])
                ends[bucket - 1] = edges[bucket]
            s0, s1, s2, s3 = steps[0], steps[1], steps[2], steps[3]
            e0, e1, e2, e3 = ends[0], ends[1], ends[2], ends[3]
            for at in range(many):
                value = hashed(tile[at], one, other)
                whole[at] = value
                tally[at] += np.int32(
                    least
                    + (s0 if value >= e0 else none)
                    + (s1 if value >= e1 else none)
                    + (s2 if value >= e2 else none)
                    + (s3 if value >= e3 else none)
                )
            for more in range(4, buckets - 1, 4):
                s0, s1, s2, s3 = steps[more], steps[more + 1], steps[more + 2], steps[more + 3]
                e0, e1, e2, e3 = ends[more], ends[more + 1], ends[more + 2], ends[more + 3]
                for at in range(many):
                    value = whole[at]
                    tally[at] += np.int32(
                        (s0 if value >= e0 else none)
                        + (s1 if value >= e1 else none)
                        + (s2 if value >= e2 else none)
                        + (s3 if value >= e3 else none)
                    )
        for at in range(many):
            sums[first + at] += tally[at]


@kernel
def meet(start: int, reports: I64, buckets: int, items: U32, weights: F64, out: F64) -> None:
    """Add, for each symbol, the weights of all that share its bucket, less an even part, times the reports of the row.

    That is the matrix of the least squares times a vector. Nobody has to store the matrix.
    """
    at = np.empty(len(items), np.uint32)
    inside = np.empty(buckets, np.float64)
    even = added(weights) / buckets
    for row in range(len(reports)):
        number = start + row
        _buckets(items, first_of(number), second_of(number), np.uint64(buckets), at)
        inside[:] = -even
        for place_ in range(len(items)):
            inside[at[place_]] += weights[place_]
        for place_ in range(len(items)):
            out[place_] += reports[row] * inside[at[place_]]


@kernel
def share_cells(start: int, cells: I32, table: I64, items: U32, left: I64, noise: F64, people: I64) -> None:
    """Add what is left of the cells that every two symbols share, how far chance alone takes the sum, and all reports.

    Pairs are added once, the symbol that stands later first. What is expected of a cell is `table` less what is left.
    The reports are those of the whole rows.
    """
    rows, buckets = cells.shape
    at = np.empty(len(items), np.uint32)
    inside = np.empty((buckets, len(items)), np.int32)
    many = np.empty(buckets, np.int64)
    for row in range(rows):
        number = start + row
        _buckets(items, first_of(number), second_of(number), np.uint64(buckets), at)
        many[:] = 0
        reports = 0
        for bucket in range(buckets):
            reports += table[row, bucket]
        for place_ in range(len(items)):
            bucket = at[place_]
            cell = np.int64(cells[row, bucket])
            expected = max(0.0, float(table[row, bucket] - cell))
            spread = expected * max(0.0, 1.0 - expected / max(1, reports))
            for before in range(many[bucket]):
                other = inside[bucket, before]
                left[place_, other] += cell
                noise[place_, other] += spread
                people[place_, other] += reports
            inside[bucket, many[bucket]] = place_
            many[bucket] += 1
