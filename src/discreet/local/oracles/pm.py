"""The piecewise mechanism: a point of a range, likelier one near the number. The best for numbers near 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log2
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ...kernels.devices import report_pieces
from ..device.loss import WIDE
from ..mean_oracle import SPAN, MeanOracle
from ..oracle import Answered, Counts, Report, ReportColumns, grown, weighed
from ..oracle_steps.reading import fields, number, whole

# Points outside of the window. A power of two: the weight inside can then be chosen so that what is left is shared by
# them without a rest, and the expected report is exactly linear in the number.
_OUTSIDE = 1 << 20


@dataclass(frozen=True, kw_only=True)
class PM(MeanOracle):
    """Report a point; those of the window that begins at (number + span) × step weigh `inside` each."""

    window: int
    inside: int

    name: ClassVar[str] = "pm"
    summary: ClassVar[str] = "a point near the number: the most exact mean of numbers near 0 for large epsilon"
    citation: ClassVar[str] = "Wang, Xiao, Yang, Zhao, Hui, Shin, Shin, Yu 2019"

    @classmethod
    def make(cls, epsilon: Fraction, span: int = SPAN) -> Self:
        """Return the oracle; the window is to what is outside as 1 to the root of e^epsilon."""
        window = max(1, round(_OUTSIDE / grown(epsilon / 2)))
        inside = weighed(grown(epsilon), window, _OUTSIDE) // _OUTSIDE * _OUTSIDE
        return cls(epsilon=epsilon, span=span, window=window, inside=inside)

    @property
    def step(self) -> int:
        """How many points the window moves a step of the grid."""
        return _OUTSIDE // (2 * self.span)

    @property
    def points(self) -> int:
        """How many points there are."""
        return _OUTSIDE + self.window

    @property
    def numbers(self) -> dict[str, Any]:
        """The points, the window, how it moves, and the weight of its points."""
        return {"step": self.step, "window": self.window, "points": self.points, "inside": str(self.inside)}

    @property
    def bits(self) -> float:
        """A point."""
        return ceil(log2(self.points))

    @property
    def _excess(self) -> tuple[Fraction, Fraction]:
        """The probability of a point outside, and by how much that of one inside is larger."""
        rest = Fraction(WIDE - self.inside * self.window, WIDE * _OUTSIDE)
        return rest, Fraction(self.inside, WIDE) - rest

    @property
    def _unit(self) -> Fraction:
        """What a point is worth, counted from the middle: the mean point moves so much slower than the number."""
        return 1 / (self._excess[1] * self.window * self.step * self.span)

    @property
    def square(self) -> tuple[Fraction, Fraction]:
        """The squares of all points from the middle, and those of the window, whose middle the number moves."""
        rest, excess = self._excess
        spread = rest * _squares(self.points) + excess * _squares(self.window)
        moved = excess * self.window * (self.step * self.span) ** 2
        return spread * self._unit**2, moved * self._unit**2

    @property
    def largest(self) -> Fraction:
        """The last point."""
        return Fraction(self.points - 1, 2) * self._unit

    def reports(self, answered: Answered, seed: int) -> ReportColumns:
        """Return one point per person."""
        point = np.empty(len(answered.people), np.int64)
        inside = np.uint64(self.inside)
        report_pieces(
            self.clipped(answered),
            answered.people,
            np.uint64(seed),
            self.span,
            self.step,
            self.window,
            self.points,
            inside,
            point,
        )
        return {"point": point}

    def worth(self, columns: ReportColumns) -> NDArray[np.float64]:
        """Return the distance from the middle, as a number."""
        worth: NDArray[np.float64] = (columns["point"] - (self.points - 1) / 2) * float(self._unit)
        return worth

    def supports(self, columns: ReportColumns) -> Counts:
        """Return the sum of the points."""
        return np.array([columns["point"].sum()], np.int64)

    def total(self, supports: Counts, people: int) -> float:
        """Return the distances from the middle."""
        return float((int(supports[0]) - Fraction(people * (self.points - 1), 2)) * self._unit)

    def written(self, columns: ReportColumns, row: int) -> Report:
        """Return one point."""
        return {"point": int(columns["point"][row])}

    def flaw(self, report: Any) -> str:
        """Return whether it is no point."""
        return fields(report, "point") or number("point", report["point"], self.points)

    def columns(self, reports: Sequence[Report]) -> ReportColumns:
        """Return the points."""
        return {"point": whole(reports, "point")}


def _squares(many: int) -> Fraction:
    """Return the sum of the squares of so many points from their middle."""
    return Fraction(many * (many * many - 1), 12)
