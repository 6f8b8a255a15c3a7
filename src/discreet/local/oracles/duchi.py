"""One sign, high or low: a larger number makes a high sign likelier. The best mean oracle for small epsilon."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ...errors import MisuseError
from ...kernels import report_signs
from .. import SPAN, Counts, MeanOracle, ReportColumns, SimulatedAnswers, exp_rounded_down
from ..device import WORD
from ..oracle_steps import Field, WholeField


@dataclass(frozen=True, kw_only=True)
class Duchi(MeanOracle):
    """Report 1 with the probability 1/2 + slope × number / 2^32."""

    slope: int

    name: ClassVar[str] = "duchi"
    summary: ClassVar[str] = "one sign: the most exact mean for small epsilon"
    citation: ClassVar[str] = "Duchi, Jordan, Wainwright 2018"

    @classmethod
    def make(cls, epsilon: Fraction, span: int = SPAN) -> Self:
        """Return the oracle; the slope is rounded down, against the collector."""
        growth = exp_rounded_down(epsilon)
        # A smaller slope is more private: rounding never raises the loss above epsilon.
        slope = int((growth - 1) / (growth + 1) * (WORD // 2) / span)
        if slope < 1:
            raise MisuseError(f"A span of {span:,} is too fine for epsilon {float(epsilon):g}: use a smaller one.")
        return cls(epsilon=epsilon, span=span, slope=slope)

    @property
    def _unit(self) -> Fraction:
        """The value of a sign: the inverse slope of its mean in the number."""
        return Fraction(WORD // 2, self.slope * self.span)

    @property
    def square(self) -> tuple[Fraction, Fraction]:
        """The mean square of a report, with no part that depends on the number."""
        # A report is plus or minus the unit: its square is constant.
        return self._unit**2, Fraction(0)

    @property
    def largest(self) -> Fraction:
        """The largest value of a report."""
        return self._unit

    def reports(self, answered: SimulatedAnswers, seed: int) -> ReportColumns:
        """Return one sign for each person."""
        sign = np.empty(len(answered.people), np.int64)
        report_signs(*self.kernel_arguments(answered, seed), self.slope, sign)
        return {"sign": sign}

    def worth(self, columns: ReportColumns) -> NDArray[np.float64]:
        """Return the value of each report: plus or minus the unit."""
        return (2 * columns["sign"] - 1) * float(self._unit)

    def supports(self, columns: ReportColumns) -> Counts:
        """Return the number of signs that are 1."""
        return np.array([columns["sign"].sum()], np.int64)

    def total(self, supports: Counts, people: int) -> float:
        """Return the sum of the values of all reports."""
        return float((2 * int(supports[0]) - people) * self._unit)

    @property
    def fields(self) -> tuple[Field, ...]:
        """Return the fields of a report: one sign."""
        return (WholeField("sign", 2),)
