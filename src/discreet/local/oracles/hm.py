"""The hybrid mechanism: each device tosses a coin between `pm` and `duchi`, so that no number is estimated badly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ...kernels.devices import report_either
from ..device.loss import WORD
from ..mean_oracle import SPAN, MeanOracle
from ..oracle import Answered, Counts, Report, ReportColumns, chance, grown
from ..oracle_steps.reading import fields
from .duchi import Duchi
from .pm import PM

# Up to here a sign alone is better for every number (theorem 3 of the article).
_SIGN_ALONE = Fraction("0.61")


@dataclass(frozen=True, kw_only=True)
class HM(MeanOracle):
    """Report as `pm` does with the probability `choose` out of 2^32, and as `duchi` does otherwise (D4)."""

    choose: int
    pm: PM
    duchi: Duchi

    name: ClassVar[str] = "hm"
    summary: ClassVar[str] = "a coin between pm and duchi: about as exact for every number"
    kept: ClassVar[int] = 3
    citation: ClassVar[str] = "Wang, Xiao, Yang, Zhao, Hui, Shin, Shin, Yu 2019"

    @classmethod
    def make(cls, epsilon: Fraction, span: int = SPAN) -> Self:
        """Return the oracle with the coin that makes the variance the same for every number."""
        choose = 0 if epsilon <= _SIGN_ALONE else chance(1 - 1 / grown(epsilon / 2))
        pm, duchi = PM.make(epsilon, span), Duchi.make(epsilon, span)
        return cls(epsilon=epsilon, span=span, choose=choose, pm=pm, duchi=duchi)

    @property
    def numbers(self) -> dict[str, Any]:
        """The coin, and both mechanisms."""
        return {"choose": self.choose, "pm": self.pm.form, "duchi": self.duchi.form}

    @property
    def bits(self) -> float:
        """Which of them, and at most a point; a sign alone where the coin never falls otherwise."""
        return 1 + self.pm.bits if self.choose else 1

    @property
    def square(self) -> tuple[Fraction, Fraction]:
        """Both are right on average, so the squares mix as the coin does."""
        coin = Fraction(self.choose, WORD)
        pm, duchi = self.pm.square, self.duchi.square
        return coin * pm[0] + (1 - coin) * duchi[0], coin * pm[1] + (1 - coin) * duchi[1]

    @property
    def largest(self) -> Fraction:
        """That of either, where a point is ever chosen."""
        return max(self.pm.largest, self.duchi.largest) if self.choose else self.duchi.largest

    def reports(self, answered: Answered, seed: int) -> ReportColumns:
        """Return which of them, and a point or a sign, a person."""
        kind, value = np.empty(len(answered.people), np.int64), np.empty(len(answered.people), np.int64)
        pm = self.pm
        report_either(
            self.clipped(answered),
            answered.people,
            np.uint64(seed),
            self.choose,
            self.duchi.slope,
            self.span,
            pm.step,
            pm.window,
            pm.points,
            np.uint64(pm.inside),
            kind,
            value,
        )
        return {"kind": kind, "value": value}

    def worth(self, columns: ReportColumns) -> NDArray[np.float64]:
        """Return what each says by itself."""
        value = columns["value"]
        return np.where(columns["kind"] == 1, self.pm.worth({"point": value}), self.duchi.worth({"sign": value}))

    def supports(self, columns: ReportColumns) -> Counts:
        """Return how many reported a point, the sum of the points, and how many signs are 1."""
        points = columns["kind"] == 1
        return np.array([points.sum(), columns["value"][points].sum(), columns["value"][~points].sum()], np.int64)

    def total(self, supports: Counts, people: int) -> float:
        """Return what points and signs are worth together."""
        many = int(supports[0])
        return self.pm.total(supports[1:2], many) + self.duchi.total(supports[2:], people - many)

    def written(self, columns: ReportColumns, row: int) -> Report:
        """Return a point or a sign, under the name of its mechanism."""
        value = int(columns["value"][row])
        return {"pm": {"point": value}} if columns["kind"][row] else {"duchi": {"sign": value}}

    def flaw(self, report: Any) -> str:
        """Return whether it is neither of the two's, or one that the coin never falls for."""
        if self.choose and not fields(report, "pm"):
            return self.pm.flaw(report["pm"])
        if fields(report, "duchi"):
            return "it is not an object with duchi, or with pm where that is chosen, and nothing else"
        return self.duchi.flaw(report["duchi"])

    def columns(self, reports: Sequence[Report]) -> ReportColumns:
        """Return which of them, and the points and signs."""
        kinds = np.array(["pm" in report for report in reports], np.int64)
        told = [report["pm"]["point"] if "pm" in report else report["duchi"]["sign"] for report in reports]
        return {"kind": kinds, "value": np.array(told, np.int64)}
