"""Projective geometry response: a point of a finite space, likelier a point of the hyperplane of the own value.

Values and reports are points of one projective space over a prime field. Any two hyperplanes have an equal number of
common points, so that a report says equally little about each value but the own. All hyperplanes are summed at once
(`oracle_steps/hyperplanes.py`): reading a round costs about items times e^epsilon, and a report is one number.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import isqrt
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ...kernels import count_points, report_meeting
from .. import Counts, OneValue, ReportColumns, SimulatedAnswers, check_ranges, compute_threshold, exp_rounded_down
from ..device import WORD, count_space_points
from ..oracle_steps import (
    Adder,
    AggregateReading,
    Field,
    HonestLaw,
    PairLaw,
    WholeField,
    coordinates_of,
    met,
    met_together,
)

# The largest number of points of a space: 256 MiB of whole numbers. Double of it doubles the
# memory and the time of reading; `geometry.md` has the variance that the bound costs.
ROOM = 1 << 25
_POINTS_PER_SYMBOL = 4  # a space may have more than `ROOM` points for many symbols: four for each
# Points of a line, which are summed for each of the 32,640 pairs of watched values: 17 million look-ups. The time is
# linear in the limit; half and double move the epsilon from which pairs are not counted by ln 2.
_MAX_LINE_POINTS = 512


@dataclass(frozen=True, kw_only=True)
class Geometry(OneValue):
    """Report a point that meets the sampled symbol's with the probability `hit` out of 2^32.

    `field` is the number of values of a coordinate, a prime, and `coordinates` the number of coordinates of a point.
    """

    field: int
    coordinates: int
    hit: int

    name: ClassVar[str] = "geometry"
    summary: ClassVar[str] = (
        "a point of a finite space, likelier one that meets the own value: quick to read for millions"
    )
    citation: ClassVar[str] = "Feldman, Nelson, Nguyen, Talwar 2022"
    # It is about as exact as `olh` up to an epsilon of 6, worse beyond where no space fits, and less well screened. It
    # is for rounds that are too large for other oracles.
    by_name: ClassVar[bool] = True

    @classmethod
    def make(cls, epsilon: Fraction, size: int, *, pad: int = 1, single: bool = False) -> Self:
        """Return the oracle with the field and the coordinates of least variance, within the room for points."""
        check_ranges(epsilon, size, pad, single)
        field, coordinates, hit = _select_space(exp_rounded_down(epsilon), size + (not single))
        return cls(epsilon=epsilon, size=size, pad=pad, single=single, field=field, coordinates=coordinates, hit=hit)

    @property
    def points(self) -> int:
        """The number of points of the space."""
        return count_space_points(self.field, self.coordinates)

    @property
    def p_own(self) -> Fraction:
        """The probability that the reported point meets the own symbol."""
        return Fraction(self.hit, WORD)

    @property
    def p_other(self) -> Fraction:
        """The probability that it meets any other symbol: any two symbols have equally many common points."""
        return _unsampled_chance(self.field, self.coordinates, self.p_own)

    @property
    def at_once(self) -> int:
        """The largest number of symbols that meet one point: the points of a hyperplane."""
        return min(self.size, count_space_points(self.field, self.coordinates - 1))

    @property
    def honest(self) -> HonestLaw:
        """The law of honest reports; the blank law draws any point.

        A third symbol on the line of two symbols puts both together, for each holder of the third.
        """
        field, coordinates, p_own, p_other = self.field, self.coordinates, self.p_own, self.p_other
        # Points of a hyperplane, and points in the intersection of two.
        plane_points = count_space_points(field, coordinates - 1)
        common_points = count_space_points(field, coordinates - 2)
        p_both = p_own * Fraction(common_points, plane_points)
        pair_laws = [
            PairLaw(both=p_both, first_value=p_own, second_value=p_other),
            PairLaw(both=p_both, first_value=p_other, second_value=p_other),
        ]
        if coordinates > 2:
            # Two symbols that are not on a line with the own symbol.
            triple_points = count_space_points(field, coordinates - 3)
            outside_points = field ** (coordinates - 1)
            independent = p_own * Fraction(triple_points, plane_points)
            independent += (1 - p_own) * Fraction(common_points - triple_points, outside_points)
            pair_laws.append(PairLaw(both=independent, first_value=p_other, second_value=p_other))
        ratio = p_own * Fraction(self.points, plane_points)
        return HonestLaw(p_other=p_other, pair_laws=tuple(pair_laws), ratio=ratio, tail=None)

    @property
    def fields(self) -> tuple[Field, ...]:
        """Return the fields of a report: one point."""
        return (WholeField("point", self.points),)

    def reports(self, answered: SimulatedAnswers, seed: int) -> ReportColumns:
        """Return a point for each person."""
        point = np.empty(len(answered.people), np.int64)
        space = self.field, self.coordinates, self.hit
        report_meeting(*answered.arguments(seed), self.pad, self.size, self.dummies, *space, point)
        return {"point": point}

    @cached_property
    def adder(self) -> Adder:
        """Return the adder of points."""
        return PointAdder(field=self.field, coordinates=self.coordinates, points=self.points, size=self.size)

    def supports(self, columns: ReportColumns) -> Counts:
        """Return the number of reports that meet each candidate."""
        aggregate = self.adder.start()
        self.adder.add(aggregate, columns)
        return self.adder.decode(aggregate)

    def match_values(self, columns: ReportColumns, values: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether each report meets each value."""
        places = coordinates_of(columns["point"], self.field, self.coordinates)[:, ::-1]
        is_named = np.empty((len(places), len(values)), bool)
        for column, value in enumerate(coordinates_of(values, self.field, self.coordinates)):
            # Reduced before the sum, so that no sum overflows.
            is_named[:, column] = (places * value % self.field).sum(1) % self.field == 0
        return is_named


@dataclass(frozen=True, kw_only=True, eq=False)
class PointAdder(Adder):
    """The count of the reports of each point; all hyperplanes are summed when the counts are read."""

    field: int
    coordinates: int
    points: int
    size: int

    quick: ClassVar[bool] = True

    def start(self) -> Counts:
        """Return the counts of no reports."""
        return np.zeros(self.points, np.int64)

    def add(self, aggregate: Counts, columns: ReportColumns, times: int = 1) -> None:
        """Add the points of the reports to the counts."""
        count_points(columns["point"], times, aggregate)

    def read_aggregate(self, aggregate: Counts) -> AggregateReading:
        """Return the number of reports that meet each candidate."""
        supports = met(aggregate, self.field, self.coordinates, self.size)
        return PointReading(supports=supports, cells=aggregate, field=self.field, coordinates=self.coordinates)


@dataclass(frozen=True, kw_only=True, eq=False)
class PointReading(AggregateReading):
    """A count of points that was read: its supports, and the reports that values share."""

    cells: Counts
    field: int
    coordinates: int

    def count_joint_reports(self, values: NDArray[np.int64]) -> Counts | None:
        """Return the number of reports that meet both values of each pair; None if lines have too many points."""
        if self.field > _MAX_LINE_POINTS:
            return None
        return met_together(self.cells, self.field, self.coordinates, values)


def _unsampled_chance(field: int, coordinates: int, p_own: Fraction) -> Fraction:
    """Return the probability that a report meets a symbol that was not sampled.

    Any two symbols have hyperplanes of equal sizes: `common_points` of the own hyperplane's points meet the symbol.
    """
    plane_points, common_points = count_space_points(field, coordinates - 1), count_space_points(field, coordinates - 2)
    p_missed = Fraction(plane_points - common_points, field ** (coordinates - 1))
    return p_own * Fraction(common_points, plane_points) + (1 - p_own) * p_missed


@lru_cache(maxsize=256)
def _select_space(growth: Fraction, symbols: int) -> tuple[int, int, int]:
    """Return the field, the coordinates and the threshold of least variance, within the room for points."""
    spaces = []
    for field, coordinates in _list_spaces(symbols, int(growth) + 1, max(ROOM, _POINTS_PER_SYMBOL * symbols)):
        # Each of the points inside is `growth` times as likely as each of the points outside.
        inside = count_space_points(field, coordinates - 1) * growth
        hit = compute_threshold(inside / (inside + field ** (coordinates - 1)))
        p_own = Fraction(hit, WORD)
        p_other = _unsampled_chance(field, coordinates, p_own)
        if 0 < hit < WORD:
            variance = p_other * (1 - p_other) / (p_own - p_other) ** 2
            spaces.append((variance, count_space_points(field, coordinates), field, coordinates, hit))
    return min(spaces)[2:]


def _list_spaces(symbols: int, best_field: int, room: int) -> Iterator[tuple[int, int]]:
    """Yield spaces with a point for each symbol: for each number of coordinates, primes near the best field."""
    coordinates = 2
    while True:
        low, high = (_least_field(bound, coordinates) for bound in (symbols, room + 1))
        # The two primes around the best field, the least with a point for each symbol, and the largest within the room.
        above, below = _next_prime(max(best_field, low), 1), _next_prime(max(best_field, 2), -1)
        for field in {above, below, _next_prime(max(high - 1, 2), -1)}:
            if field >= low and count_space_points(field, coordinates) <= room:
                yield field, coordinates
        if low == 2:
            return
        coordinates += 1


def _least_field(bound: int, coordinates: int) -> int:
    """Return the least size of a field, prime or not, with at least `bound` points of the given coordinates."""
    return 2 + bisect_left(range(2, bound + 2), bound, key=lambda field: count_space_points(field, coordinates))


def _next_prime(number: int, step: int) -> int:
    """Return the first prime from a number on, in steps of 1 or -1; 2 ends the steps downwards."""
    while number > 2 and any(number % divisor == 0 for divisor in range(2, isqrt(number) + 1)):
        number += step
    return number
