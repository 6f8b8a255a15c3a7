"""Projective geometry response: a point of a finite space, likelier one of the hyperplane that is the own value's.

Values and reports are points of one projective space over a prime field. Two hyperplanes have equally many points in
common, whichever they are, so a report says as little of any other value as of the next. All hyperplanes are summed in
one go (`oracle_steps/hyperplanes.py`): reading a round costs about items times e^epsilon, and a report is one number.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, isqrt, log2
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ...kernels.geometry import count_points, report_meeting
from ..device.loss import WORD, points
from ..oracle import Answered, Counts, OneValue, Report, ReportColumns, chance, check_ranges, grown
from ..oracle_steps.adding import AggregateReading
from ..oracle_steps.honest import HonestLaw, Together
from ..oracle_steps.hyperplanes import coordinates_of, met, met_together
from ..oracle_steps.reading import fields, number, whole

ROOM = 1 << 25
"""Points of a space that is chosen: 256 MiB of whole numbers, as for a table of published seeds."""
_EACH = 4  # points for each symbol, where that is more
_LINE = 512  # points of a line that are gone through for every two values


@dataclass(frozen=True, kw_only=True)
class Geometry(OneValue):
    """Report a point that meets the sampled symbol's with the probability `hit` out of 2^32.

    `field` is how many values a coordinate has, a prime, and `coordinates` how many of them a point has.
    """

    field: int
    coordinates: int
    hit: int

    name: ClassVar[str] = "geometry"
    summary: ClassVar[str] = (
        "a point of a finite space, likelier one that meets the own value: quick to read for millions"
    )
    citation: ClassVar[str] = "Feldman, Nelson, Nguyen, Talwar 2022"
    # It is about as exact as `olh` up to an epsilon of 6, worse beyond where no space fits, and less well screened: for
    # rounds that are too large to be read otherwise.
    by_name: ClassVar[bool] = True

    @classmethod
    def make(cls, epsilon: Fraction, size: int, *, pad: int = 1, single: bool = False) -> Self:
        """Return the oracle with the field and coordinates of least variance that have room."""
        check_ranges(epsilon, size, pad, single)
        field, many, hit = _best(grown(epsilon), size + (not single))
        return cls(epsilon=epsilon, size=size, pad=pad, single=single, field=field, coordinates=many, hit=hit)

    @property
    def numbers(self) -> dict[str, int]:
        """The space, and how often a report meets the own symbol."""
        return {"field": self.field, "coordinates": self.coordinates, "hit": self.hit}

    @property
    def points(self) -> int:
        """How many points the space has."""
        return points(self.field, self.coordinates)

    @property
    def p_own(self) -> Fraction:
        """The reported point meets the own symbol."""
        return Fraction(self.hit, WORD)

    @property
    def p_other(self) -> Fraction:
        """It meets another: any two have the same number of points in common."""
        return _other(self.field, self.coordinates, self.p_own)

    @property
    def bits(self) -> float:
        """One point."""
        return ceil(log2(self.points))

    @property
    def at_once(self) -> int:
        """All that meet one point: a hyperplane of low numbers has as many as any."""
        return min(self.size, points(self.field, self.coordinates - 1))

    @property
    def honest(self) -> HonestLaw:
        """Blank is any point. A third symbol on a line with two others brings these together, whoever holds it."""
        field, many, own, other = self.field, self.coordinates, self.p_own, self.p_other
        each, shared = points(field, many - 1), points(field, many - 2)
        both = own * Fraction(shared, each)
        ways = [Together(both=both, one=own, other=other), Together(both=both, one=other, other=other)]
        if many > 2:
            all_three = points(field, many - 3)
            apart = own * Fraction(all_three, each) + (1 - own) * Fraction(shared - all_three, field ** (many - 1))
            ways.append(Together(both=apart, one=other, other=other))
        return HonestLaw(p_other=other, together=tuple(ways), ratio=own * Fraction(self.points, each), tail=None)

    @property
    def drawn_together(self) -> bool:
        """Whether reports are made at every speed: they are, as that is quick."""
        return True

    def add_drawn(
        self, aggregate: Counts, answered: Answered, seed: int, generator: np.random.Generator | None
    ) -> None:
        """Add everyone's reports, made one by one at every speed."""
        super().add_drawn(aggregate, answered, seed, None)

    def written(self, columns: ReportColumns, row: int) -> Report:
        """Return one point."""
        return {"point": int(columns["point"][row])}

    def flaw(self, report: Any) -> str:
        """Return whether it is no point."""
        return fields(report, "point") or number("point", report["point"], self.points)

    def columns(self, reports: Sequence[Report]) -> ReportColumns:
        """Return the points."""
        return {"point": whole(reports, "point")}

    def reports(self, answered: Answered, seed: int) -> ReportColumns:
        """Return a point per person."""
        point = np.empty(len(answered.people), np.int64)
        space = self.field, self.coordinates, self.hit
        report_meeting(*answered.arguments(seed), self.pad, self.size, self.dummies, *space, point)
        return {"point": point}

    def empty(self) -> Counts:
        """Return no reports of any point."""
        return np.zeros(self.points, np.int64)

    def add(self, aggregate: Counts, columns: ReportColumns, times: int = 1) -> None:
        """Count the points."""
        count_points(columns["point"], times, aggregate)

    def reading(self, aggregate: Counts) -> AggregateReading:
        """Return how many reports meet each candidate."""
        supports = met(aggregate, self.field, self.coordinates, self.size)
        return PointReading(supports=supports, cells=aggregate, field=self.field, coordinates=self.coordinates)

    def supports(self, columns: ReportColumns) -> Counts:
        """Count the points, and sum all hyperplanes."""
        aggregate = self.empty()
        self.add(aggregate, columns)
        return self.decoded(aggregate)

    def named(self, columns: ReportColumns, values: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which of the values each report meets."""
        places = coordinates_of(columns["point"], self.field, self.coordinates)[:, ::-1]
        named = np.empty((len(places), len(values)), bool)
        for at, one in enumerate(coordinates_of(values, self.field, self.coordinates)):
            named[:, at] = (places * one % self.field).sum(1) % self.field == 0
        return named


@dataclass(frozen=True, kw_only=True, eq=False)
class PointReading(AggregateReading):
    """Points that were counted, and what else they tell."""

    cells: Counts
    field: int
    coordinates: int

    def together(self, values: NDArray[np.int64]) -> Counts | None:
        """Return how many reports meet both of every two values; None where lines have very many points."""
        if self.field > _LINE:
            return None
        return met_together(self.cells, self.field, self.coordinates, values)


def _other(field: int, many: int, own: Fraction) -> Fraction:
    """Return the chance of a symbol that is not the own one: any two meet the same number of points."""
    each, shared = points(field, many - 1), points(field, many - 2)
    return own * Fraction(shared, each) + (1 - own) * Fraction(each - shared, field ** (many - 1))


@lru_cache(maxsize=256)
def _best(growth: Fraction, symbols: int) -> tuple[int, int, int]:
    """Return the field, the coordinates and the threshold of least variance that have room."""
    made = []
    for field, many in _spaces(symbols, int(growth) + 1, max(ROOM, _EACH * symbols)):
        inside = points(field, many - 1) * growth
        hit = chance(inside / (inside + field ** (many - 1)))
        own = Fraction(hit, WORD)
        other = _other(field, many, own)
        if 0 < hit < WORD:
            variance = other * (1 - other) / (own - other) ** 2
            made.append((variance, points(field, many), field, many, hit))
    return min(made)[2:]


def _spaces(symbols: int, best: int, room: int) -> Iterator[tuple[int, int]]:
    """Yield spaces with a point for every symbol: for each number of coordinates, primes near the best."""
    many = 2
    while True:
        low, high = (_least(bound, many) for bound in (symbols, room + 1))
        # The two around the best, the least that has a point for everybody, and the largest that has room.
        for near in {_prime(max(best, low), 1), _prime(max(best, 2), -1), _prime(max(high - 1, 2), -1)}:
            if near >= low and points(near, many) <= room:
                yield near, many
        if low == 2:
            return
        many += 1


def _least(bound: int, many: int) -> int:
    """Return the least field, prime or not, that makes so many points of so many coordinates."""
    return 2 + bisect_left(range(2, bound + 2), bound, key=lambda field: points(field, many))


def _prime(near: int, step: int) -> int:
    """Return the first prime from a number on, in steps of 1 or -1."""
    while near > 2 and any(near % divisor == 0 for divisor in range(2, isqrt(near) + 1)):
        near += step
    return near
