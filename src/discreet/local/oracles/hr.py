"""Hadamard response in its binary form: one entry of a large matrix of signs, right or turned round.

Kept for comparison, and simulated only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from ...kernels.devices import report_rows
from ...kernels.supports import transform
from ..device.client import sampled
from ..device.draws import Draws
from ..device.loss import WORD, Loss, both, odds
from ..oracle import Answered, Counts, OneValue, Report, ReportColumns, chance, grown
from ..oracle_steps.honest import HonestLaw, apart
from ..oracle_steps.reading import fields, number, whole


def _answer(oracle: Mapping[str, Any], values: list[int], draws: Draws) -> Report:
    symbol = sampled(oracle, values, draws)
    row = draws.below(oracle["rows"])
    sign = (row & symbol + 1).bit_count() & 1
    return {"row": row, "sign": sign if draws.chance(oracle["keep"]) else 1 - sign}


def _loss(oracle: Mapping[str, Any]) -> Fraction:
    return both(odds(oracle["keep"]))


@dataclass(frozen=True, kw_only=True)
class HR(OneValue):
    """Draw a row of the Hadamard matrix, and report the sign in the sampled symbol's column or its opposite."""

    rows: int
    keep: int

    name: ClassVar[str] = "hr"
    summary: ClassVar[str] = "one sign of a Hadamard matrix: quick to add up, for comparison, simulated only"
    citation: ClassVar[str] = "Bassily, Nissim, Stemmer, Thakurta 2017; Acharya, Sun, Zhang 2019"

    live: ClassVar[bool] = False
    answer = staticmethod(_answer)
    loss = Loss(_loss, "size pad dummies rows keep")

    @classmethod
    def make(cls, epsilon: Fraction, size: int, *, pad: int = 1, single: bool = False) -> Self:
        """Return the oracle; column 0 is all alike and stands for nothing."""
        growth = grown(epsilon)
        rows = 1 << (size + (0 if single else 1)).bit_length()
        return cls(epsilon=epsilon, size=size, pad=pad, single=single, rows=rows, keep=chance(growth / (growth + 1)))

    @property
    def numbers(self) -> dict[str, int]:
        """The rows of the matrix, and how often the sign is right."""
        return {"rows": self.rows, "keep": self.keep}

    @property
    def p_own(self) -> Fraction:
        """The sign is that of the own column."""
        return Fraction(self.keep, WORD)

    @property
    def p_other(self) -> Fraction:
        """Two columns agree in half of the rows."""
        return Fraction(1, 2)

    @property
    def bits(self) -> float:
        """A row and a sign."""
        return self.rows.bit_length()

    def reports(self, answered: Answered, seed: int) -> ReportColumns:
        """Return a row and one sign per person."""
        row, sign = np.empty(len(answered.people), np.int64), np.empty(len(answered.people), np.int64)
        report_rows(*answered.arguments(seed), self.pad, self.size, self.dummies, self.rows, self.keep, row, sign)
        return {"row": row, "sign": sign}

    def supports(self, columns: ReportColumns) -> Counts:
        """Add the signs up by row; the transform of the sums has agreements less disagreements by column."""
        sums = np.bincount(columns["row"], weights=1 - 2 * columns["sign"], minlength=self.rows).astype(np.int64)
        transform(sums)
        return (len(columns["row"]) + sums[1 : self.size + 1]) // 2

    @property
    def honest(self) -> HonestLaw:
        """Blank is any row with any sign; two columns agree in half of the rows, and many may agree in one."""
        law = apart(self.p_own, self.p_other)
        return HonestLaw(p_other=self.p_other, together=law, ratio=2 * self.p_own, tail=None)

    def cells(self, columns: ReportColumns) -> Counts:
        """Return how many reports have each row."""
        return np.bincount(columns["row"], minlength=self.rows).astype(np.int64)

    def written(self, columns: ReportColumns, row: int) -> Report:
        """Return a row and a sign."""
        return {"row": int(columns["row"][row]), "sign": int(columns["sign"][row])}

    def flaw(self, report: Any) -> str:
        """Return whether it is no row and sign."""
        wrong = fields(report, "row", "sign") or number("row", report["row"], self.rows)
        return wrong or number("sign", report["sign"], 2)

    def columns(self, reports: Sequence[Report]) -> ReportColumns:
        """Return the rows and signs."""
        return {"row": whole(reports, "row"), "sign": whole(reports, "sign")}
