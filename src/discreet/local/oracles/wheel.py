"""The wheel: values are hashed onto a circle, and a point is reported that likely lies within an arc of one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ...errors import MisuseError
from ...kernels.devices import report_points
from ...kernels.tables import report_spots
from ..device.loss import WIDE, WORD
from ..oracle import Answered, Counts, Report, ReportColumns, SetValued, check_ranges, grown, weighed
from ..oracle_steps.honest import HonestLaw, Together, independent
from ..oracle_steps.numbered import NumberedSeeds


@dataclass(frozen=True, kw_only=True)
class Wheel(NumberedSeeds, SetValued):
    """Hash up to `pad` values onto a circle of `points`; each begins an arc of points that weigh `inside`.

    `seeds`, where it is given, is how many seeds are published. The circle then has as few points as make an arc of
    one of them, so that reports fall into a table of seeds and points: a value is supported by its own point alone.
    """

    arc: int
    inside: int
    points: int = WORD

    name: ClassVar[str] = "wheel"
    summary: ClassVar[str] = (
        "a point near the hash of any held value: small reports for sets over any number of candidates"
    )
    citation: ClassVar[str] = "Wang, Qian, Hu, Zhu, Zhou, Li, Yang 2020 (wheel mechanism)"
    place: ClassVar[str] = "point"

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.seeds is None) != (self.points == WORD) or (self.seeds is not None and self.arc != 1):
            raise MisuseError("A wheel has few points and arcs of one where seeds are published: use numbered.")

    @classmethod
    def make(cls, epsilon: Fraction, size: int, *, pad: int = 1, single: bool = False) -> Self:
        """Return the oracle with the arc that makes the variance least for a candidate that nobody holds."""
        check_ranges(epsilon, size, pad, single)
        growth = grown(epsilon)
        arc = int(WORD / (2 * pad - 1 + pad * growth))
        if arc < 1:
            raise MisuseError(f"A padding of {pad:,} leaves no room on the wheel: use a smaller one.")
        inside = weighed(growth, pad * arc, WORD - pad * arc)
        return cls(epsilon=epsilon, size=size, pad=pad, single=single, arc=arc, inside=inside)

    def numbered(self, seeds: int | None) -> Self:
        """Return the oracle with so many published seeds, or with fresh ones.

        The points are the better of the two whole numbers around what makes the variance least.
        """
        if seeds is None:
            return self.make(self.epsilon, self.size, pad=self.pad, single=self.single)
        growth = grown(self.epsilon)
        near = min(int(2 * self.pad - 1 + self.pad * growth), WORD - 2)
        made = [
            replace(self, seeds=seeds, points=points, arc=1, inside=weighed(growth, self.pad, points - self.pad))
            for points in (near, near + 1)
        ]
        return min(made, key=lambda oracle: oracle._noise(1))

    @classmethod
    def longest(cls, epsilon: Fraction) -> int:
        """Return how many arcs of one point fit at least."""
        return max(1, int((WORD + 1) / (grown(epsilon) + 2)))

    @property
    def dummies(self) -> int:
        """None: where fewer values are held, more of the circle is outside."""
        return 0

    @property
    def numbers(self) -> dict[str, Any]:
        """The length of an arc and the weight of its points; the points and seeds, where these are published."""
        more = {} if self.seeds is None else {"points": self.points, "seeds": self.seeds}
        return {"arc": self.arc, "inside": str(self.inside), **more}

    @property
    def told(self) -> Fraction:
        """A point of an own arc: those of all points of one arc together."""
        return self.p_held

    @property
    def places(self) -> int:
        """The points of the circle."""
        return self.points

    @property
    def p_held(self) -> Fraction:
        """A point of the value's own arc, whatever other arcs lie over it."""
        return Fraction(self.arc * self.inside, WIDE)

    @property
    def p_other(self) -> Fraction:
        """The hash of another value begins an arc anywhere."""
        return Fraction(self.arc, self.points)

    def reports(self, answered: Answered, seed: int) -> ReportColumns:
        """Return a hash function and one point per person."""
        many = len(answered.people)
        if self.seeds is not None:
            spot, number_of = np.empty(many, np.int64), np.empty(many, np.uint32)
            weight = np.uint64(self.inside)
            report_spots(*answered.arguments(seed), self.pad, weight, self.points, self.seeds, spot, number_of)
            return {"seed": number_of, "point": spot}
        point, first, second = (np.empty(many, np.uint32) for _ in range(3))
        report_points(*answered.arguments(seed), self.pad, np.uint64(self.inside), self.arc, point, first, second)
        return {"first": first, "second": second, "point": point}

    def windows(self, columns: ReportColumns) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Return from where on an arc that holds each report's point may begin, and for how long."""
        if self.seeds is not None:
            return super().windows(columns)
        low = columns["point"] - np.uint32(self.arc - 1)
        return low, np.full(len(low), self.arc, np.uint32)

    @property
    def honest(self) -> HonestLaw | None:
        """Blank is any hash function with any point, in whose arcs other values lie by themselves.

        Values that published seeds put together come together for everybody: there, lots are looked at instead.
        """
        if self.seeds is not None:
            return None
        own, other = self.p_held, self.p_other
        ways = [Together(both=other * other, one=other, other=other), Together(both=own * other, one=own, other=other)]
        if self.pad > 1:
            ways.append(Together(both=own * other, one=own, other=own))
        ratio = Fraction(self.inside * WORD, WIDE)
        return HonestLaw(p_other=other, together=tuple(ways), ratio=ratio, tail=independent(other))

    def cells(self, columns: ReportColumns) -> Counts | None:
        """Return how many points lie in each sixteenth of the circle."""
        if self.seeds is not None:
            return None
        return np.bincount(columns["point"] >> np.uint32(28), minlength=16).astype(np.int64)

    def columns(self, reports: Sequence[Report]) -> ReportColumns:
        """Return the seeds and points, those of the large circle as words."""
        found = super().columns(reports)
        return found if self.seeds is not None else {**found, "point": found["point"].astype(np.uint32)}
