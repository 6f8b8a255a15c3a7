"""Tables of published seeds: the reports per seed and bucket, and the estimate of each symbol from a table.

A table has a row per seed and a column per bucket. The seeds are the seeds of `local.device.draws.derive_seed`, by
number: a block of rows is known by the number of its first row, and no list of seeds is kept.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ._devices import (
    U32,
    draw_arc_point,
    draw_below,
    draw_place,
    draw_sample,
    draw_symbol,
    hash_item,
    longest_row_size,
    start_stream,
)
from ._jit import helper, kernel
from ._parts import sum_in_order
from .mining import I32, I64

F64: TypeAlias = NDArray[np.float64]

TABLE_TILE = 2048
"""Symbols per tile: 2,048 sums of four bytes stay in the first-level cache."""
_ONE_BIT, _SEED_STREAM = np.uint32(1), np.uint32(0x9E3779B9)
_MAX_COMPARED_BUCKETS = 12  # up to here comparisons, which vectorise, are faster than lookups
_S32 = np.uint64(32)


@helper
def factor_of_seed(number: int) -> np.uint32:
    """Return the factor of a published hash function, which is odd."""
    return np.uint32(hash_item(2 * number, _ONE_BIT, _SEED_STREAM) | _ONE_BIT)


@helper
def summand_of_seed(number: int) -> np.uint32:
    """Return the summand of a published hash function."""
    return hash_item(2 * number + 1, _ONE_BIT, _SEED_STREAM)


@kernel
def published_seeds(numbers: U32, factors: U32, summands: U32) -> None:
    """Write the factor and the summand of each numbered seed."""
    for position in range(len(numbers)):
        factors[position] = factor_of_seed(np.int64(numbers[position]))
        summands[position] = summand_of_seed(np.int64(numbers[position]))


@kernel
def report_numbered(
    offsets: I64,
    symbols: I32,
    people: I64,
    seed: np.uint64,
    pad: int,
    size: int,
    dummies: int,
    weight: np.uint64,
    buckets: int,
    seeds: int,
    reports: I64,
    numbers: U32,
) -> None:
    """Write one report per person by randomised response over the buckets of a published hash function."""
    state = np.zeros(3, np.uint64)
    for row in range(len(people)):
        start_stream(state, seed, people[row])
        own_symbol = draw_symbol(state, symbols, offsets[row], offsets[row + 1], pad, size, dummies)
        number = draw_below(state, seeds)
        numbers[row] = np.uint32(number)
        hash_value = np.uint64(hash_item(own_symbol, factor_of_seed(number), summand_of_seed(number)))
        bucket = np.int64((hash_value * np.uint64(buckets)) >> _S32)
        draw = draw_place(state, weight, 1, buckets - 1)
        reports[row] = bucket if draw == 0 else draw - (1 if draw <= bucket else 0)


@kernel
def report_spots(
    offsets: I64,
    symbols: I32,
    people: I64,
    seed: np.uint64,
    pad: int,
    weight: np.uint64,
    points: int,
    seeds: int,
    reports: I64,
    numbers: U32,
) -> None:
    """Write one of the few points of a wheel per person, likelier a point of an own symbol's hash."""
    state = np.zeros(3, np.uint64)
    own_symbols = np.empty(longest_row_size(offsets), np.int64)
    for row in range(len(people)):
        start_stream(state, seed, people[row])
        own_count = draw_sample(state, symbols, offsets[row], offsets[row + 1], pad, own_symbols)
        number = draw_below(state, seeds)
        numbers[row] = np.uint32(number)
        reports[row] = draw_arc_point(
            state, own_symbols, own_count, factor_of_seed(number), summand_of_seed(number), 1, points, weight
        )


@kernel
def tabulate(numbers: U32, values: I64, times: int, table: I64) -> None:
    """Add each report to its table cell, `times` times."""
    for row in range(len(numbers)):
        table[numbers[row], values[row]] += times


@helper
def _buckets(items: U32, factor: np.uint32, summand: np.uint32, buckets: np.uint64, bucket_numbers: U32) -> None:
    """Write the bucket of each item: hash * buckets / 2^32, rounded down."""
    for position in range(len(items)):
        bucket_numbers[position] = np.uint32((np.uint64(hash_item(items[position], factor, summand)) * buckets) >> _S32)


@kernel
def leftover(
    start: int,
    table: I64,
    items: U32,
    weights: F64,
    left_places: I32,
    right_places: I32,
    pair_weights: F64,
    slope: float,
    scale: float,
    residuals: I32,
) -> None:
    """Write the residual of each cell: reports minus the reports expected from weighted symbols, times `scale`.

    Symbols outside of `items` are expected to spread evenly. Pair i of items, at ``left_places[i]`` and
    ``right_places[i]``, adds ``pair_weights[i]`` to a cell that both items share. A row of N reports has N * (1/g +
    slope * (w - W/g)) expected reports in one of g cells, with w the weights in the cell and W the weights of the row.
    """
    rows, buckets = table.shape
    buckets_of_items = np.empty(len(items), np.uint32)
    bucket_weights = np.empty(buckets, np.float64)
    # Summed in a fixed order, so that the compiled and the plain form round alike.
    weight_sum = sum_in_order(weights)
    for row in range(rows):
        number = start + row
        _buckets(items, factor_of_seed(number), summand_of_seed(number), np.uint64(buckets), buckets_of_items)
        bucket_weights[:] = 0.0
        for position in range(len(items)):
            bucket_weights[buckets_of_items[position]] += weights[position]
        row_weight = weight_sum
        for pair in range(len(left_places)):
            if buckets_of_items[left_places[pair]] == buckets_of_items[right_places[pair]]:
                bucket_weights[buckets_of_items[left_places[pair]]] += pair_weights[pair]
                row_weight += pair_weights[pair]
        report_count = 0
        for bucket in range(buckets):
            report_count += table[row, bucket]
        for bucket in range(buckets):
            expected = report_count * ((1.0 - slope * row_weight) / buckets + slope * bucket_weights[bucket])
            residuals[row, bucket] = np.int32(np.rint(scale * (table[row, bucket] - expected)))


@kernel
def sum_cells(start: int, cells: I32, edges: U32, items: U32, sums: I64) -> None:
    """Add up, for each symbol, one cell of each row: the cell into which the row's hash function puts the symbol.

    With few buckets, the sum adds the step between neighbouring cells wherever the hash reaches the edge between them,
    four edges at a time. That vectorises; with many buckets cells are looked up. Sums of one call have to fit into 32
    bits.
    """
    rows, buckets = cells.shape
    zero = np.int32(0)
    tally = np.empty(TABLE_TILE, np.int32)
    hashes = np.empty(TABLE_TILE, np.uint32)
    # Steps between the cells of a row, padded to a multiple of four with edges that add nothing.
    steps, step_edges = (
        np.zeros(_MAX_COMPARED_BUCKETS + 4, np.int32),
        np.full(_MAX_COMPARED_BUCKETS + 4, np.uint32(0xFFFFFFFF), np.uint32),
    )
    for tile_start in range(0, len(items), TABLE_TILE):
        tile = items[tile_start : tile_start + TABLE_TILE]
        tile_size = len(tile)
        tally[:tile_size] = zero
        for row in range(rows):
            factor, summand = factor_of_seed(start + row), summand_of_seed(start + row)
            if buckets > _MAX_COMPARED_BUCKETS:
                _buckets(tile, factor, summand, np.uint64(buckets), hashes)
                for position in range(tile_size):
                    tally[position] += cells[row, np.uint64(hashes[position])]
                continue
            first_cell = cells[row, 0]
            for bucket in range(1, buckets):
                steps[bucket - 1] = np.int32(cells[row, bucket] - cells[row, bucket - 1])
                step_edges[bucket - 1] = edges[bucket]
            s0, s1, s2, s3 = steps[0], steps[1], steps[2], steps[3]
            e0, e1, e2, e3 = step_edges[0], step_edges[1], step_edges[2], step_edges[3]
            for position in range(tile_size):
                value = hash_item(tile[position], factor, summand)
                hashes[position] = value
                tally[position] += np.int32(
                    first_cell
                    + (s0 if value >= e0 else zero)
                    + (s1 if value >= e1 else zero)
                    + (s2 if value >= e2 else zero)
                    + (s3 if value >= e3 else zero)
                )
            for next_step in range(4, buckets - 1, 4):
                s0, s1, s2, s3 = steps[next_step], steps[next_step + 1], steps[next_step + 2], steps[next_step + 3]
                e0, e1, e2, e3 = (
                    step_edges[next_step],
                    step_edges[next_step + 1],
                    step_edges[next_step + 2],
                    step_edges[next_step + 3],
                )
                for position in range(tile_size):
                    value = hashes[position]
                    tally[position] += np.int32(
                        (s0 if value >= e0 else zero)
                        + (s1 if value >= e1 else zero)
                        + (s2 if value >= e2 else zero)
                        + (s3 if value >= e3 else zero)
                    )
        for position in range(tile_size):
            sums[tile_start + position] += tally[position]


@kernel
def meet(start: int, reports: I64, buckets: int, items: U32, weights: F64, products: F64) -> None:
    """Multiply the matrix of the least squares by a vector of weights, without storing the matrix.

    products[s] += sum over rows of reports[row] * (weights in the bucket of s - mean weight of a bucket)
    """
    buckets_of_items = np.empty(len(items), np.uint32)
    bucket_weights = np.empty(buckets, np.float64)
    mean_weight = sum_in_order(weights) / buckets
    for row in range(len(reports)):
        number = start + row
        _buckets(items, factor_of_seed(number), summand_of_seed(number), np.uint64(buckets), buckets_of_items)
        # Subtracting the mean first makes each row of the matrix sum to zero.
        bucket_weights[:] = -mean_weight
        for position in range(len(items)):
            bucket_weights[buckets_of_items[position]] += weights[position]
        for position in range(len(items)):
            products[position] += reports[row] * bucket_weights[buckets_of_items[position]]


@kernel
def share_cells(
    start: int,
    cells: I32,
    table: I64,
    scale: float,
    items: U32,
    residual_sums: I64,
    noise_variances: F64,
    report_sums: I64,
) -> None:
    """Add up the residuals, the noise variances and the reports of the cells that each two symbols share.

    Each pair is added once, at [later, earlier]. `cells` are the residuals times `scale`, as `leftover` writes them,
    and so are the sums; the expected reports of a cell are `table` minus the residual. The report sums count whole
    rows. variance = expected * (1 - expected / reports), of a multinomial cell.
    """
    rows, buckets = cells.shape
    buckets_of_items = np.empty(len(items), np.uint32)
    bucket_members = np.empty((buckets, len(items)), np.int32)
    bucket_sizes = np.empty(buckets, np.int64)
    for row in range(rows):
        number = start + row
        _buckets(items, factor_of_seed(number), summand_of_seed(number), np.uint64(buckets), buckets_of_items)
        bucket_sizes[:] = 0
        report_count = 0
        for bucket in range(buckets):
            report_count += table[row, bucket]
        for position in range(len(items)):
            bucket = buckets_of_items[position]
            cell = np.int64(cells[row, bucket])
            # Residuals are rounded, so an expectation may come out slightly below zero.
            expected = max(0.0, table[row, bucket] - cell / scale)
            variance = expected * max(0.0, 1.0 - expected / max(1, report_count))
            for rank in range(bucket_sizes[bucket]):
                earlier = bucket_members[bucket, rank]
                residual_sums[position, earlier] += cell
                noise_variances[position, earlier] += variance
                report_sums[position, earlier] += report_count
            bucket_members[bucket, bucket_sizes[bucket]] = position
            bucket_sizes[bucket] += 1
