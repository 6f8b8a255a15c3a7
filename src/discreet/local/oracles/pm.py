"""The piecewise mechanism: a point of a range, likelier one near the number. The best for numbers near 0."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ...kernels import report_pieces
from .. import SPAN, Counts, MeanOracle, ReportColumns, SimulatedAnswers, compute_weight, exp_rounded_down
from ..device import WEIGHT_SCALE
from ..oracle_steps import Field, WholeField

# Points outside of the window. A power of two: the weight inside can then be chosen so that the remaining weight is
# divisible by their number, and the expected report is exactly linear in the number.
_OUTSIDE = 1 << 20


@dataclass(frozen=True, kw_only=True)
class PM(MeanOracle):
    """Report a point; points of the window from (number + span) × step on have the weight `inside` each."""

    window: int
    inside: int

    name: ClassVar[str] = "pm"
    summary: ClassVar[str] = "a point near the number: the most exact mean of numbers near 0 for large epsilon"
    citation: ClassVar[str] = "Wang, Xiao, Yang, Zhao, Hui, Shin, Shin, Yu 2019"

    @classmethod
    def make(cls, epsilon: Fraction, span: int = SPAN) -> Self:
        """Return the oracle; window / outside = 1 / e^(epsilon / 2), as in the article."""
        window = max(1, round(_OUTSIDE / exp_rounded_down(epsilon / 2)))
        inside = compute_weight(exp_rounded_down(epsilon), window, _OUTSIDE) // _OUTSIDE * _OUTSIDE
        return cls(epsilon=epsilon, span=span, window=window, inside=inside)

    @property
    def step(self) -> int:
        """The number of points that the window moves for one step of the grid."""
        return _OUTSIDE // (2 * self.span)

    @property
    def points(self) -> int:
        """The number of points."""
        return _OUTSIDE + self.window

    @property
    def numbers(self) -> dict[str, Any]:
        """The numbers that travel: the points, the window, its step, and the weight of its points."""
        return {"step": self.step, "window": self.window, "points": self.points, "inside": str(self.inside)}

    @property
    def _excess(self) -> tuple[Fraction, Fraction]:
        """The probability of a point outside, and the excess of the probability of a point inside."""
        outside = Fraction(WEIGHT_SCALE - self.inside * self.window, WEIGHT_SCALE * _OUTSIDE)
        return outside, Fraction(self.inside, WEIGHT_SCALE) - outside

    @property
    def _unit(self) -> Fraction:
        """The number per point, from the middle: the inverse slope of the mean point in the number."""
        return 1 / (self._excess[1] * self.window * self.step * self.span)

    @property
    def square(self) -> tuple[Fraction, Fraction]:
        """The mean square of a report: its constant part, and the factor of the squared number.

        The first has the squares of all points from the middle and of the window from its own middle; the second is the
        squared move of the window by the number.
        """
        outside, excess = self._excess
        spread = outside * _squares(self.points) + excess * _squares(self.window)
        moved = excess * self.window * (self.step * self.span) ** 2
        return spread * self._unit**2, moved * self._unit**2

    @property
    def largest(self) -> Fraction:
        """The largest value of a report: the value of the last point."""
        return Fraction(self.points - 1, 2) * self._unit

    def reports(self, answered: SimulatedAnswers, seed: int) -> ReportColumns:
        """Return one point for each person."""
        point = np.empty(len(answered.people), np.int64)
        window = self.span, self.step, self.window, self.points
        report_pieces(*self.kernel_arguments(answered, seed), *window, np.uint64(self.inside), point)
        return {"point": point}

    def worth(self, columns: ReportColumns) -> NDArray[np.float64]:
        """Return the value of each report: its distance from the middle, times the unit."""
        values: NDArray[np.float64] = (columns["point"] - (self.points - 1) / 2) * float(self._unit)
        return values

    def supports(self, columns: ReportColumns) -> Counts:
        """Return the sum of the points."""
        return np.array([columns["point"].sum()], np.int64)

    def total(self, supports: Counts, people: int) -> float:
        """Return the sum of the values of all reports."""
        return float((int(supports[0]) - Fraction(people * (self.points - 1), 2)) * self._unit)

    @property
    def fields(self) -> tuple[Field, ...]:
        """Return the fields of a report: one point."""
        return (WholeField("point", self.points),)


def _squares(point_count: int) -> Fraction:
    """Return the sum of the squared distances of neighbouring points from their middle."""
    # n (n^2 - 1) / 12: n times the variance of a discrete uniform law.
    return Fraction(point_count * (point_count * point_count - 1), 12)
