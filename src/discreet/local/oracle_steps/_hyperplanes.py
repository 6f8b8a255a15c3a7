"""The reports that meet each symbol, both points of a projective space: the sums over all hyperplanes at once.

The points that meet a symbol are a hyperplane, about one point in `field` of the space. A sum for each symbol alone
would cost symbols times points. Here coordinates are summed out one after another, as in a Fourier transform and in
whole numbers: a step turns one coordinate of the reports into one of the symbols, and costs `field` additions per cell.
`local/oracles/geometry.md` has the proof.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ...kernels import fold, in_threads, threads
from ..device import count_space_points
from ._adding import Counts

_MIN_PLACES = 1 << 12  # places of one thread, of field times field cells each: fewer do not pay for a thread


def met(cells: Counts, field: int, coordinates: int, point_count: int) -> Counts:
    """Return the number of reports that meet each of the first `point_count` points, from the reports of each point."""
    # The number of points that are needed with each number of coordinates, from all of them down to one.
    needed_counts = [point_count]
    for _ in range(coordinates - 1):
        needed_counts.append((needed_counts[-1] - 2) // field + 1 if needed_counts[-1] > 1 else 0)
    report_counts, reports_before = np.zeros(needed_counts.pop(), np.int64), int(cells[0])
    for length in range(2, coordinates + 1):
        # A group of reports has its leading 1 at one position; groups come from the last position to the first.
        group = cells[count_space_points(field, length - 1) : count_space_points(field, length)]
        report_counts = _add_coordinate(report_counts, group, field, needed_counts.pop(), reports_before)
        reports_before += int(cells[count_space_points(field, length - 1) : count_space_points(field, length)].sum())
    return report_counts


def coordinates_of(numbers: NDArray[np.int64], field: int, coordinates: int) -> NDArray[np.int64]:
    """Return the coordinates of points, a row per point: the first that is not 0 is 1."""
    rows = np.zeros((len(numbers), coordinates), np.int64)
    quotients = numbers.copy()
    for column in range(coordinates - 1, -1, -1):
        # At the leading 1 the quotient is 0; before it, at the leading zeros, it is -1.
        rows[:, column] = np.where(quotients > 0, (quotients - 1) % field, quotients == 0)
        quotients = np.where(quotients > 0, (quotients - 1) // field, -1)
    return rows


@lru_cache(maxsize=1)
def _inverses(field: int) -> NDArray[np.int64]:
    return np.array([0, *(pow(value, -1, field) for value in range(1, field))], np.int64)


def numbers_of(places: NDArray[np.int64], field: int) -> NDArray[np.int64]:
    """Return the number of each point from any of its coordinates, a row per point: multiples are one point."""
    inverse = _inverses(field)
    leading = places[np.arange(len(places)), (places != 0).argmax(1)]
    scaled = places * inverse[leading][:, None] % field
    numbers = np.full(len(places), -1, np.int64)
    for column in scaled.T:
        numbers = np.where(numbers < 0, np.where(column > 0, 0, -1), numbers * field + column + 1)
    return numbers


def met_together(cells: Counts, field: int, coordinates: int, values: NDArray[np.int64]) -> Counts:
    """Return the number of reports that meet both points of each pair, from the reports of each point.

    Two points span a line of `field` + 1 points. A report that meets both meets all points of the line, and any other
    report meets exactly one. So the reports of all points of the line add up to all reports, plus `field` times the
    reports that meet both.
    """
    report_counts = met(cells, field, coordinates, count_space_points(field, coordinates))
    places = coordinates_of(values, field, coordinates)
    rows, columns = np.triu_indices(len(values), 1)
    sums = report_counts[values[columns]] - int(cells.sum())
    for factor in range(field):
        sums += report_counts[numbers_of((places[rows] + factor * places[columns]) % field, field)]
    pair_counts = np.diag(report_counts[values])
    pair_counts[rows, columns] = pair_counts[columns, rows] = sums // field
    return pair_counts


def _add_coordinate(shorter: Counts, group: Counts, field: int, point_count: int, reports_before: int) -> Counts:
    """Return the counts of points with one coordinate more, from the earlier reports and one more group of reports."""
    counts = np.empty(point_count, np.int64)
    counts[:1] = reports_before  # (0, …, 0, 1) meets exactly the reports with the first coordinate 0
    counts[1:] = np.repeat(shorter, field)[: point_count - 1]
    # A report meets a point if their product is 0: the added coordinate is minus the sum of the products before.
    negatives = -np.arange(field) % field
    levels = []
    while len(group) > 1:
        levels.append(group)
        group = group.reshape(-1, field).sum(1)
    for digits, level in enumerate(reversed(levels)):
        # Points with `digits` coordinates after the leading 1: those of `shorter`, and one coordinate more.
        start = count_space_points(field, digits)
        shorter_count = min(len(shorter) - start, field**digits)
        if shorter_count <= 0:
            break
        sums = _fold_level(level, field, digits, shorter_count)[:shorter_count, negatives].reshape(-1)
        section = counts[1 + field * start : 1 + field * (start + shorter_count)]
        section += sums[: len(section)]
    return counts


def _fold_level(level: Counts, field: int, digits: int, list_count: int) -> Counts:
    """Return the count of reports of each sum, a row for each of the first `list_count` lists of factors."""
    folded_count, sums = 1, np.ascontiguousarray(level)
    for remaining in range(digits - 1, -1, -1):
        # The first factor is the most significant one: only it has values beyond the lists that are needed.
        factor_count = -(-list_count // field**remaining) if remaining == digits - 1 else field
        sums = _sum_out(sums, folded_count, field, factor_count, field**remaining * folded_count)
        folded_count *= factor_count
    return sums.reshape(-1, field)


def _sum_out(sums: Counts, folded_count: int, field: int, factor_count: int, place_count: int) -> Counts:
    """Return the sums with one coordinate summed out, on all cores."""
    result = np.empty(place_count * factor_count * field, np.int64)
    step = max(_MIN_PLACES, -(-place_count // threads()))

    def fold_places(start: int) -> None:
        fold(sums, folded_count, field, factor_count, start, min(start + step, place_count), result)

    in_threads(fold_places, range(0, place_count, step))
    return result
