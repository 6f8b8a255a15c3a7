"""How many reports meet every symbol, where both are points of a projective space: all hyperplanes summed at once.

The points that meet a symbol are a hyperplane, which has one point in `field`. Summing each by itself would cost
symbols times points. Here coordinates are summed out one after the other, as in a Fourier transform and in whole
numbers: a step turns one coordinate of the reports into one of the symbols, and costs `field` additions per cell.
`local/oracles/geometry.md` has the proof.
"""

from __future__ import annotations

import numpy as np

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
