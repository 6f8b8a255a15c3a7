"""Points and hyperplanes of a projective space over a prime field: reports of `geometry`, and sums over them.

A point is a vector with a first nonzero coordinate of 1. Points are numbered: (0, …, 0, 1) is 0, and the point with one
coordinate x appended to point n is `field` n + 1 + x. Two points u and y *meet* where sum(u[i] y[last - i]) = 0 in the
field; the points that meet a given point are a hyperplane.
"""

from __future__ import annotations

import numpy as np

from ._devices import draw_below, draw_symbol, draw_word, start_stream
from ._jit import helper, kernel
from .mining import I32, I64


@helper
def spread(number: int, field: int, coordinates: I64) -> None:
    """Write the coordinates of the numbered point to an array, with zeros in front."""
    position = len(coordinates) - 1
    while number > 0:
        coordinates[position] = (number - 1) % field
        number = (number - 1) // field
        position -= 1
    coordinates[position] = 1
    for earlier_position in range(position):
        coordinates[earlier_position] = 0


@kernel
def report_meeting(
    offsets: I64,
    symbols: I32,
    people: I64,
    seed: np.uint64,
    pad: int,
    size: int,
    dummies: int,
    field: int,
    count: int,
    inside_bound: int,
    reports: I64,
) -> None:
    """Write a point of the projective space per person, likelier a point that meets the point of the own symbol."""
    state = np.zeros(3, np.uint64)
    own_point, reported = np.empty(count, np.int64), np.empty(count, np.int64)
    outside_count, inside_count = np.int64(1), np.int64(0)
    # Numbers of points: (field^(count - 1) - 1) / (field - 1) meet a given point, field^(count - 1) do not.
    for _ in range(count - 1):
        inside_count += outside_count
        outside_count *= field
    for row in range(len(people)):
        start_stream(state, seed, people[row])
        spread(draw_symbol(state, symbols, offsets[row], offsets[row + 1], pad, size, dummies), field, own_point)
        # The meeting condition is solved for the coordinate opposite the first nonzero one of the own point.
        lead_position, tail_count = 0, np.int64(1)
        while own_point[lead_position] == 0:
            lead_position += 1
            tail_count *= field
        free = count - 1 - lead_position
        free_coordinate = np.int64(0)
        if draw_word(state) < np.uint64(inside_bound):
            # Any point of one coordinate less; the coordinate that makes the point meet is inserted.
            spread(draw_below(state, inside_count), field, reported[1:])
            for position in range(free):
                reported[position] = reported[position + 1]
        else:
            draw = draw_below(state, outside_count)
            tail_draw, head_number = draw % tail_count, draw // tail_count
            for position in range(count - 1, free, -1):
                reported[position] = tail_draw % field
                tail_draw //= field
            if head_number == 0:
                reported[:free] = 0
                free_coordinate = np.int64(1)
            else:
                spread((head_number - 1) // (field - 1), field, reported[:free])
                free_coordinate = 1 + (head_number - 1) % (field - 1)
        for position in range(free):
            free_coordinate = (free_coordinate - own_point[count - 1 - position] * reported[position]) % field
        reported[free] = free_coordinate
        number = np.int64(-1)
        for position in range(count):
            if number >= 0:
                number = field * number + 1 + reported[position]
            elif reported[position] == 1:
                number = np.int64(0)
        reports[row] = number


@kernel
def count_points(points: I64, times: int, cells: I64) -> None:
    """Add `times` to the cell of each reported point."""
    for row in range(len(points)):
        cells[points[row]] += times


@kernel
def fold(sums: I64, done_count: int, field: int, factor_count: int, start: int, stop: int, folded: I64) -> None:
    """Sum one coordinate of points out, for the first `factor_count` values of a symbol's opposite coordinate.

    `sums` has a cell for each y, each of `done_count` coordinates u and each sum z. The cell of `folded` for u, a and z
    is the sum over y of sums[y, u, z - a y]. Only the places from `start` to before `stop` are done, counted over u and
    the coordinates before y.
    """
    row = done_count * field
    for draw_place in range(start, stop):
        base = (draw_place // done_count) * row * field + (draw_place % done_count) * field
        for factor in range(factor_count):
            output_base = (draw_place * factor_count + factor) * field
            for z in range(field):
                cell = z
                total = sums[base + z]
                for y in range(1, field):
                    # z - a y is stepped by a: a subtraction and a test cost less than a remainder.
                    cell -= factor
                    if cell < 0:
                        cell += field
                    total += sums[base + y * row + cell]
                folded[output_base + z] = total
