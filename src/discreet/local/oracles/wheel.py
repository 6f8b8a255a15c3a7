"""The wheel: values are hashed onto a circle, and a point is reported that likely lies within an arc of one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ...errors import MisuseError
from ...kernels.devices import report_points
from ..device.loss import WIDE, WORD
from ..oracle import Answered, Counts, Report, ReportColumns, SetValued, check_ranges, grown, weighed
from ..oracle_steps.hashing import HashedWindows
from ..oracle_steps.honest import HonestLaw, Together, independent
from ..oracle_steps.reading import fields, number, seed, seeds, whole


@dataclass(frozen=True, kw_only=True)
class Wheel(HashedWindows, SetValued):
    """Hash up to `pad` values onto a circle of 2^32 points; each begins an arc of points that weigh `inside`."""

    arc: int
    inside: int

    name: ClassVar[str] = "wheel"
    summary: ClassVar[str] = (
        "a point near the hash of any held value: small reports for sets over any number of candidates"
    )
    citation: ClassVar[str] = "Wang, Qian, Hu, Zhu, Zhou, Li, Yang 2020 (wheel mechanism)"

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
        """The length of an arc and the weight of its points."""
        return {"arc": self.arc, "inside": str(self.inside)}

    @property
    def p_held(self) -> Fraction:
        """A point of the value's own arc, whatever other arcs lie over it."""
        return Fraction(self.arc * self.inside, WIDE)

    @property
    def p_other(self) -> Fraction:
        """The hash of another value begins an arc anywhere."""
        return Fraction(self.arc, WORD)

    @property
    def bits(self) -> float:
        """A seed and a point."""
        return 95

    def reports(self, answered: Answered, seed: int) -> ReportColumns:
        """Return a hash function and one point per person."""
        many = len(answered.people)
        point, first, second = (np.empty(many, np.uint32) for _ in range(3))
        report_points(*answered.arguments(seed), self.pad, np.uint64(self.inside), self.arc, point, first, second)
        return {"first": first, "second": second, "point": point}

    def windows(self, columns: ReportColumns) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Return from where on an arc that holds each report's point may begin, and for how long."""
        low = columns["point"] - np.uint32(self.arc - 1)
        return low, np.full(len(low), self.arc, np.uint32)

    @property
    def honest(self) -> HonestLaw:
        """Blank is any hash function with any point, in whose arcs other values lie by themselves."""
        own, other = self.p_held, self.p_other
        ways = [Together(both=other * other, one=other, other=other), Together(both=own * other, one=own, other=other)]
        if self.pad > 1:
            ways.append(Together(both=own * other, one=own, other=own))
        ratio = Fraction(self.inside * WORD, WIDE)
        return HonestLaw(p_other=other, together=tuple(ways), ratio=ratio, tail=independent(other))

    def cells(self, columns: ReportColumns) -> Counts:
        """Return how many points lie in each sixteenth of the circle."""
        return np.bincount(columns["point"] >> np.uint32(28), minlength=16).astype(np.int64)

    def written(self, columns: ReportColumns, row: int) -> Report:
        """Return a seed and a point."""
        seed = [int(columns["first"][row]), int(columns["second"][row])]
        return {"seed": seed, "point": int(columns["point"][row])}

    def flaw(self, report: Any) -> str:
        """Return whether it is no seed and point."""
        return fields(report, "seed", "point") or seed(report["seed"]) or number("point", report["point"], WORD)

    def columns(self, reports: Sequence[Report]) -> ReportColumns:
        """Return the seeds and points."""
        return {**seeds(reports), "point": whole(reports, "point").astype(np.uint32)}
