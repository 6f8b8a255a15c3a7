"""How many reports meet every symbol, where both are points of a projective space: all hyperplanes summed at once.

The points that meet a symbol are a hyperplane, which has one point in `field`. Summing each by itself would cost
symbols times points. Here coordinates are summed out one after the other, as in a Fourier transform and in whole
numbers: a step turns one coordinate of the reports into one of the symbols, and costs `field` additions per cell.
`local/oracles/geometry.md` has the proof.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ...kernels.geometry import fold
from ...kernels.jit import in_threads, threads
from ..device.loss import points
from .adding import Counts

_PIECE = 1 << 12  # places, of field times field cells each, from which on threads share them


def met(cells: Counts, field: int, coordinates: int, wanted: int) -> Counts:
    """Return how many reports meet each of the first `wanted` points, from how many there are of every point."""
    # Of how many points of one coordinate less the wanted ones go on, down to those of one coordinate.
    needed = [wanted]
    for _ in range(coordinates - 1):
        needed.append((needed[-1] - 2) // field + 1 if needed[-1] > 1 else 0)
    found, before = np.zeros(needed.pop(), np.int64), int(cells[0])
    for many in range(2, coordinates + 1):
        # Reports whose last coordinate is the first that is not 0 have been looked at; these have `many` behind it.
        found = _extended(found, cells[points(field, many - 1) : points(field, many)], field, needed.pop(), before)
        before += int(cells[points(field, many - 1) : points(field, many)].sum())
    return found


def coordinates_of(numbers: NDArray[np.int64], field: int, coordinates: int) -> NDArray[np.int64]:
    """Return the coordinates of points, a row per point: the first that is not 0 is 1."""
    found = np.zeros((len(numbers), coordinates), np.int64)
    left = numbers.copy()
    for at in range(coordinates - 1, -1, -1):
        # The 1 that leads has the number 0 left of it, and the zeros before it none.
        found[:, at] = np.where(left > 0, (left - 1) % field, left == 0)
        left = np.where(left > 0, (left - 1) // field, -1)
    return found


@lru_cache(maxsize=1)
def _inverses(field: int) -> NDArray[np.int64]:
    return np.array([0, *(pow(value, -1, field) for value in range(1, field))], np.int64)


def numbers_of(places: NDArray[np.int64], field: int) -> NDArray[np.int64]:
    """Return the numbers of points by any coordinates of theirs, a row per point: multiples are one point."""
    inverse = _inverses(field)
    first = places[np.arange(len(places)), (places != 0).argmax(1)]
    scaled = places * inverse[first][:, None] % field
    found = np.full(len(places), -1, np.int64)
    for column in scaled.T:
        found = np.where(found < 0, np.where(column > 0, 0, -1), found * field + column + 1)
    return found


def met_together(cells: Counts, field: int, coordinates: int, values: NDArray[np.int64]) -> Counts:
    """Return how many reports meet both of every two points, from how many there are of every point.

    The two span a line of `field` + 1 points. A report that meets both meets all of these, and any other meets just
    one. So the reports of all points of the line add up to all reports, and `field` times those that meet both.
    """
    each = met(cells, field, coordinates, points(field, coordinates))
    places = coordinates_of(values, field, coordinates)
    one, other = np.triu_indices(len(values), 1)
    sums = each[values[other]] - int(cells.sum())
    for times in range(field):
        sums += each[numbers_of((places[one] + times * places[other]) % field, field)]
    both = np.diag(each[values])
    both[one, other] = both[other, one] = sums // field
    return both


def _extended(shorter: Counts, group: Counts, field: int, wanted: int, before: int) -> Counts:
    """Return what meets points of one coordinate more: reports that were looked at, and one more group of them."""
    found = np.empty(wanted, np.int64)
    found[:1] = before  # (0, …, 0, 1) meets all reports whose first coordinate is 0, and no other
    found[1:] = np.repeat(shorter, field)[: wanted - 1]
    turned = -np.arange(field) % field
    levels = []
    while len(group) > 1:
        levels.append(group)
        group = group.reshape(-1, field).sum(1)
    for digits, level in enumerate(reversed(levels)):
        # Points with so many coordinates behind the first that is not 0: those of `shorter`, and one coordinate more.
        first = points(field, digits)
        many = min(len(shorter) - first, field**digits)
        if many <= 0:
            break
        sums = _folded(level, field, digits, many)[:many, turned].reshape(-1)
        part = found[1 + field * first : 1 + field * (first + many)]
        part += sums[: len(part)]
    return found


def _folded(level: Counts, field: int, digits: int, many: int) -> Counts:
    """Return, for the first `many` lists of so many factors, how many reports have each sum: a row per list."""
    made, given = 1, np.ascontiguousarray(level)
    for left in range(digits - 1, -1, -1):
        # The first factor is the most significant one, so that only it has values that nobody wants.
        few = -(-many // field**left) if left == digits - 1 else field
        given = _summed_out(given, made, field, few, field**left * made)
        made *= few
    return given.reshape(-1, field)


def _summed_out(given: Counts, made: int, field: int, few: int, places: int) -> Counts:
    """Sum one coordinate out, on all cores."""
    out = np.empty(places * few * field, np.int64)
    each = max(_PIECE, -(-places // threads()))

    def part(start: int) -> None:
        fold(given, made, field, few, start, min(start + each, places), out)

    in_threads(part, range(0, places, each))
    return out
