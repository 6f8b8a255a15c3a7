"""Points and hyperplanes of a projective space over a prime field: reports of `geometry`, and how they add up.

A point is a vector whose first coordinate that is not 0 is a 1. They are numbered: (0, …, 0, 1) is 0, and a point with
one more coordinate x behind that of number n is `field` n + 1 + x. Two points u and y *meet* where the sum of
u[i] y[last - i] is 0 in the field; the points that meet one are a hyperplane.
"""

from __future__ import annotations

import numpy as np

from .devices import begin, below, symbol, word
from .jit import helper, kernel
from .mining import I32, I64


@helper
def spread(number: int, field: int, coordinates: I64) -> None:
    """Put the coordinates of the point of a number into an array as long as they are many."""
    at = len(coordinates) - 1
    while number > 0:
        coordinates[at] = (number - 1) % field
        number = (number - 1) // field
        at -= 1
    coordinates[at] = 1
    for before in range(at):
        coordinates[before] = 0


@kernel
def report_meeting(
    offsets: I64,
    held: I32,
    people: I64,
    seed: np.uint64,
    pad: int,
    size: int,
    dummies: int,
    field: int,
    many: int,
    hit: int,
    out: I64,
) -> None:
    """Report a point of the projective space, likelier one that meets the own symbol's."""
    state = np.zeros(3, np.uint64)
    own, told = np.empty(many, np.int64), np.empty(many, np.int64)
    outside, inside = np.int64(1), np.int64(0)
    for _ in range(many - 1):
        inside += outside
        outside *= field
    for row in range(len(people)):
        begin(state, seed, people[row])
        spread(symbol(state, held, offsets[row], offsets[row + 1], pad, size, dummies), field, own)
        lead, behind = 0, np.int64(1)
        while own[lead] == 0:
            lead += 1
            behind *= field
        free = many - 1 - lead
        more = np.int64(0)
        if word(state) < np.uint64(hit):
            # Any point of one coordinate less; the one that makes it meet is put between.
            spread(below(state, inside), field, told[1:])
            for at in range(free):
                told[at] = told[at + 1]
        else:
            drawn = below(state, outside)
            rest, front = drawn % behind, drawn // behind
            for at in range(many - 1, free, -1):
                told[at] = rest % field
                rest //= field
            if front == 0:
                told[:free] = 0
                more = np.int64(1)
            else:
                spread((front - 1) // (field - 1), field, told[:free])
                more = 1 + (front - 1) % (field - 1)
        for at in range(free):
            more = (more - own[many - 1 - at] * told[at]) % field
        told[free] = more
        number = np.int64(-1)
        for at in range(many):
            if number >= 0:
                number = field * number + 1 + told[at]
            elif told[at] == 1:
                number = np.int64(0)
        out[row] = number


@kernel
def count_points(points: I64, times: int, cells: I64) -> None:
    """Add reports to how many there are of each point."""
    for row in range(len(points)):
        cells[points[row]] += times


@kernel
def fold(given: I64, made: int, field: int, few: int, start: int, stop: int, out: I64) -> None:
    """Sum one coordinate of points out, for the first `few` values of the coordinate of a symbol that it meets.

    `given` has a cell for every y, made coordinates u and sum z. That of `out` for u, a and z is the sum, over y, of
    those with the sum z - a y. Of what stands before y, with all of u, places from `start` to before `stop` are done.
    """
    row = made * field
    for place in range(start, stop):
        base = (place // made) * row * field + (place % made) * field
        for factor in range(few):
            told = (place * few + factor) * field
            for z in range(field):
                at = z
                total = given[base + z]
                for y in range(1, field):
                    at -= factor
                    if at < 0:
                        at += field
                    total += given[base + y * row + at]
                out[told + z] = total
