"""One sign: high or low, likelier as the number is. The best mean oracle for small epsilon."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ...errors import MisuseError
from ...kernels.devices import report_signs
from ..device.loss import WORD
from ..mean_oracle import SPAN, MeanOracle
from ..oracle import Answered, Counts, Report, ReportColumns, grown
from ..oracle_steps.reading import fields, number, whole


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
        growth = grown(epsilon)
        slope = int((growth - 1) / (growth + 1) * (WORD // 2) / span)
        if slope < 1:
            raise MisuseError(f"A span of {span:,} is too fine for epsilon {float(epsilon):g}: use a smaller one.")
        return cls(epsilon=epsilon, span=span, slope=slope)

    @property
    def numbers(self) -> dict[str, int]:
        """How much likelier 1 is a step of the grid."""
        return {"slope": self.slope}

    @property
    def bits(self) -> float:
        """A sign."""
        return 1

    @property
    def _unit(self) -> Fraction:
        """What a sign is worth."""
        return Fraction(WORD // 2, self.slope * self.span)

    @property
    def square(self) -> tuple[Fraction, Fraction]:
        """The same for every number."""
        return self._unit**2, Fraction(0)

    @property
    def largest(self) -> Fraction:
        """One unit."""
        return self._unit

    def reports(self, answered: Answered, seed: int) -> ReportColumns:
        """Return one sign per person."""
        sign = np.empty(len(answered.people), np.int64)
        report_signs(self.clipped(answered), answered.people, np.uint64(seed), self.slope, sign)
        return {"sign": sign}

    def worth(self, columns: ReportColumns) -> NDArray[np.float64]:
        """Return the unit or its opposite."""
        return (2 * columns["sign"] - 1) * float(self._unit)

    def supports(self, columns: ReportColumns) -> Counts:
        """Return how many signs are 1."""
        return np.array([columns["sign"].sum()], np.int64)

    def total(self, supports: Counts, people: int) -> float:
        """Return the signs less their opposites."""
        return float((2 * int(supports[0]) - people) * self._unit)

    def written(self, columns: ReportColumns, row: int) -> Report:
        """Return one sign."""
        return {"sign": int(columns["sign"][row])}

    def flaw(self, report: Any) -> str:
        """Return whether it is no sign."""
        return fields(report, "sign") or number("sign", report["sign"], 2)

    def columns(self, reports: Sequence[Report]) -> ReportColumns:
        """Return the signs."""
        return {"sign": whole(reports, "sign")}
