"""Hadamard response in its binary form: one entry of a large matrix of signs, right or inverted.

Kept for comparison, and simulated only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from ...kernels import apply_hadamard, report_rows
from .. import Counts, OneValue, Report, ReportColumns, SimulatedAnswers, compute_threshold, exp_rounded_down
from ..device import WORD, Draws, Loss, odds, sample_symbol, symmetric_ratio
from ..oracle_steps import Field, HonestLaw, WholeField, independent_pair_laws


def _answer(oracle: Mapping[str, Any], values: list[int], draws: Draws) -> Report:
    symbol = sample_symbol(oracle, values, draws)
    row = draws.below(oracle["rows"])
    # The entry of the matrix is the parity of the common bits of row and column; symbol s has the column s + 1.
    sign = (row & symbol + 1).bit_count() & 1
    return {"row": row, "sign": sign if draws.chance(oracle["keep"]) else 1 - sign}


def _loss(oracle: Mapping[str, Any]) -> Fraction:
    return symmetric_ratio(odds(oracle["keep"]))


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
        """Return the oracle; column 0 has equal signs in all rows, and no symbol has it."""
        growth = exp_rounded_down(epsilon)
        # The matrix has a power of two of columns: one for each symbol, and column 0.
        rows = 1 << (size + (0 if single else 1)).bit_length()
        return cls(
            epsilon=epsilon, size=size, pad=pad, single=single, rows=rows, keep=compute_threshold(growth / (growth + 1))
        )

    @property
    def p_own(self) -> Fraction:
        """The probability that the sign equals the sign of the own column."""
        return Fraction(self.keep, WORD)

    @property
    def p_other(self) -> Fraction:
        """The probability that the sign equals the sign of any other column: two columns agree in half of the rows."""
        return Fraction(1, 2)

    def reports(self, answered: SimulatedAnswers, seed: int) -> ReportColumns:
        """Return a row and one sign for each person."""
        row, sign = np.empty(len(answered.people), np.int64), np.empty(len(answered.people), np.int64)
        report_rows(*answered.arguments(seed), self.pad, self.size, self.dummies, self.rows, self.keep, row, sign)
        return {"row": row, "sign": sign}

    def supports(self, columns: ReportColumns) -> Counts:
        """Return the number of reports that agree with each column.

        The transform of the sums of signs by row has the agreements less the disagreements of each column.
        """
        sums = np.bincount(columns["row"], weights=1 - 2 * columns["sign"], minlength=self.rows).astype(np.int64)
        apply_hadamard(sums)
        return (len(columns["row"]) + sums[1 : self.size + 1]) // 2

    @property
    def honest(self) -> HonestLaw:
        """The law of honest reports; the blank law draws any row with any sign, and many columns may agree in a row."""
        law = independent_pair_laws(self.p_own, self.p_other)
        return HonestLaw(p_other=self.p_other, pair_laws=law, ratio=2 * self.p_own, tail=None)

    def cells(self, columns: ReportColumns) -> Counts:
        """Return the number of reports with each row."""
        return np.bincount(columns["row"], minlength=self.rows).astype(np.int64)

    @property
    def fields(self) -> tuple[Field, ...]:
        """Return the fields of a report: a row and a sign."""
        return (WholeField("row", self.rows), WholeField("sign", 2))
