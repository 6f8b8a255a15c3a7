"""The hybrid mechanism: each device tosses a coin between `pm` and `duchi`, so that no number is estimated badly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ...kernels import report_either
from .. import SPAN, Counts, MeanOracle, Report, ReportColumns, SimulatedAnswers, compute_threshold, exp_rounded_down
from ..device import WORD
from ..oracle_steps import Codec, Field, Mask, WholeField, Words, find_names_flaw
from .duchi import Duchi
from .pm import PM

# Up to this epsilon a sign alone is better for each number (theorem 3 of the article).
_MAX_SIGN_EPSILON = Fraction("0.61")


@dataclass(frozen=True, kw_only=True)
class HM(MeanOracle):
    """Report as `pm` does with the probability `choose` out of 2^32, and as `duchi` does otherwise (D4)."""

    choose: int
    pm: PM
    duchi: Duchi

    name: ClassVar[str] = "hm"
    summary: ClassVar[str] = "a coin between pm and duchi: about as exact for every number"
    # The number of points, their sum, and the number of signs that are 1.
    aggregate_size: ClassVar[int] = 3
    citation: ClassVar[str] = "Wang, Xiao, Yang, Zhao, Hui, Shin, Shin, Yu 2019"

    @classmethod
    def make(cls, epsilon: Fraction, span: int = SPAN) -> Self:
        """Return the oracle with the coin that makes the variance equal for all numbers."""
        choose = 0 if epsilon <= _MAX_SIGN_EPSILON else compute_threshold(1 - 1 / exp_rounded_down(epsilon / 2))
        pm, duchi = PM.make(epsilon, span), Duchi.make(epsilon, span)
        return cls(epsilon=epsilon, span=span, choose=choose, pm=pm, duchi=duchi)

    @property
    def numbers(self) -> dict[str, Any]:
        """The numbers that travel: the coin, and the forms of both mechanisms."""
        return {"choose": self.choose, "pm": self.pm.form, "duchi": self.duchi.form}

    @property
    def bits(self) -> float:
        """The bits of a report: of the mechanism and of a point, or of a sign alone if no point is ever chosen."""
        return 1 + self.pm.bits if self.choose else 1

    @property
    def square(self) -> tuple[Fraction, Fraction]:
        """The mean square of a report. Both mechanisms are unbiased: their squares mix as the coin does."""
        coin = Fraction(self.choose, WORD)
        pm, duchi = self.pm.square, self.duchi.square
        return coin * pm[0] + (1 - coin) * duchi[0], coin * pm[1] + (1 - coin) * duchi[1]

    @property
    def largest(self) -> Fraction:
        """The largest value of a report of either mechanism."""
        return max(self.pm.largest, self.duchi.largest) if self.choose else self.duchi.largest

    def reports(self, answered: SimulatedAnswers, seed: int) -> ReportColumns:
        """Return the mechanism, and the point or the sign, of each person."""
        kind, value = np.empty(len(answered.people), np.int64), np.empty(len(answered.people), np.int64)
        pm, arguments = self.pm, self.kernel_arguments(answered, seed)
        numbers = self.choose, self.duchi.slope, self.span, pm.step, pm.window, pm.points
        report_either(*arguments, *numbers, np.uint64(pm.inside), kind, value)
        return {"kind": kind, "value": value}

    def worth(self, columns: ReportColumns) -> NDArray[np.float64]:
        """Return the value of each report."""
        value = columns["value"]
        return np.where(columns["kind"] == 1, self.pm.worth({"point": value}), self.duchi.worth({"sign": value}))

    def supports(self, columns: ReportColumns) -> Counts:
        """Return the number of points, the sum of the points, and the number of signs that are 1."""
        is_point = columns["kind"] == 1
        return np.array([is_point.sum(), columns["value"][is_point].sum(), columns["value"][~is_point].sum()], np.int64)

    def total(self, supports: Counts, people: int) -> float:
        """Return the sum of the values of all points and signs."""
        point_count = int(supports[0])
        return self.pm.total(supports[1:2], point_count) + self.duchi.total(supports[2:], people - point_count)

    @property
    def fields(self) -> tuple[Field, ...]:
        """Return the columns of a report: whether it is a point, and the point or the sign."""
        # A sign takes two values, also for a coin that never chooses a point.
        return (WholeField("kind", 1 + bool(self.choose)), WholeField("value", max(2, self.pm.points)))

    @cached_property
    def codec(self) -> Codec:
        """Return the codec that writes a report in the form of its mechanism."""
        return EitherCodec(
            oracle=self.name, longest=self.longest_report, fields=self.fields, pm=self.pm.codec, duchi=self.duchi.codec
        )


@dataclass(frozen=True, kw_only=True)
class EitherCodec(Codec):
    """The codec of reports of either mechanism: in JSON, under the name of the mechanism."""

    pm: Codec
    duchi: Codec

    @property
    def _has_points(self) -> bool:
        """Whether the coin can choose a point."""
        return not self.fields[0].find_flaw(1)

    def find_flaw(self, report: Any) -> str:
        """Return the flaw of a report that is of neither mechanism, or of one that the coin never chooses."""
        if self._has_points and not find_names_flaw(report, "pm"):
            return self.pm.find_flaw(report["pm"])
        if find_names_flaw(report, "duchi"):
            return "it is not an object with duchi, or with pm where that is chosen, and nothing else"
        return self.duchi.find_flaw(report["duchi"])

    def make_columns(self, reports: Sequence[Report]) -> ReportColumns:
        """Return the kind of each report, and its point or sign."""
        kinds = np.array(["pm" in report for report in reports], np.int64)
        values = [report["pm"]["point"] if "pm" in report else report["duchi"]["sign"] for report in reports]
        return {"kind": kinds, "value": np.array(values, np.int64)}

    def make_report(self, columns: ReportColumns, row: int) -> Report:
        """Return a point or a sign, under the name of its mechanism."""
        value = int(columns["value"][row])
        return {"pm": {"point": value}} if columns["kind"][row] else {"duchi": {"sign": value}}

    def find_good_rows(self, words: Words) -> Mask:
        """Return whether each row is a point below the bound or a sign."""
        good_rows: Mask = super().find_good_rows(words) & ((words[:, 0] == 1) | (words[:, 1] < 2))
        return good_rows
