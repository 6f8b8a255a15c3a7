"""Generalised randomised response: the value itself with some probability, any other alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log2
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ...kernels.devices import report_values
from ..device.loss import WIDE
from ..oracle import Answered, Counts, OneValue, Report, ReportColumns, grown, weighed
from ..oracle_steps.honest import HonestLaw, Together, without_putting_back
from ..oracle_steps.reading import fields, number, whole


@dataclass(frozen=True, kw_only=True)
class GRR(OneValue):
    """Report the sampled symbol or another one. Sampling amplifies privacy, since all dummies differ (A3)."""

    inside: int

    name: ClassVar[str] = "grr"
    summary: ClassVar[str] = "the value itself, or any other: best for few candidates or long baskets"
    citation: ClassVar[str] = "Warner 1965; Kairouz, Oh, Viswanath 2014; amplification: Wang, Li, Jha 2018, Theorem 1"
    joint: ClassVar[bool] = True

    @classmethod
    def make(cls, epsilon: Fraction, size: int, *, pad: int = 1, single: bool = False) -> Self:
        """Return the oracle; `inside` grows with the padding, as one symbol in `pad` is sampled (A1)."""
        growth = pad * (grown(epsilon) - 1) + 1
        others = size - 1 if single else size + pad - 1
        inside = weighed(growth, 1, max(others, 1))
        return cls(epsilon=epsilon, size=size, pad=pad, single=single, inside=inside)

    @property
    def numbers(self) -> dict[str, Any]:
        """The weight of the sampled symbol."""
        return {"inside": str(self.inside)}

    @property
    def dummies(self) -> int:
        """As many as the padding, all different (A3)."""
        return 0 if self.single else self.pad

    @property
    def symbols_in_all(self) -> int:
        """Candidates and dummies."""
        return self.size + self.dummies

    @property
    def p_own(self) -> Fraction:
        """The sampled symbol's weight."""
        return Fraction(self.inside, WIDE)

    @property
    def p_other(self) -> Fraction:
        """The rest, shared."""
        return Fraction(WIDE - self.inside, WIDE * (self.symbols_in_all - 1))

    @property
    def bits(self) -> float:
        """One symbol."""
        return ceil(log2(self.symbols_in_all))

    def reports(self, answered: Answered, seed: int) -> ReportColumns:
        """Return one symbol per person."""
        value = np.empty(len(answered.people), np.int64)
        report_values(*answered.arguments(seed), self.pad, self.size, self.dummies, np.uint64(self.inside), value)
        return {"value": value}

    def supports(self, columns: ReportColumns) -> Counts:
        """Count each symbol, and leave the dummies out."""
        return np.bincount(columns["value"], minlength=self.symbols_in_all)[: self.size].astype(np.int64)

    def named(self, columns: ReportColumns, values: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return the one value of each report."""
        return np.equal(columns["value"][:, None], values)

    @property
    def at_once(self) -> int:
        """One."""
        return 1

    @property
    def honest(self) -> HonestLaw:
        """No two values come together, and any symbol alone is blank."""
        own, other = self.p_own, self.p_other
        ways = tuple(Together(both=Fraction(0), one=one, other=other) for one in (other, own))
        ratio, tail = own * self.symbols_in_all, without_putting_back(self.symbols_in_all, 1)
        return HonestLaw(p_other=other, together=ways, ratio=ratio, tail=tail)

    def written(self, columns: ReportColumns, row: int) -> Report:
        """Return one symbol."""
        return {"value": int(columns["value"][row])}

    def flaw(self, report: Any) -> str:
        """Return whether it is no symbol."""
        return fields(report, "value") or number("value", report["value"], self.symbols_in_all)

    def columns(self, reports: Sequence[Report]) -> ReportColumns:
        """Return the symbols."""
        return {"value": whole(reports, "value")}

    def sample_supports(self, answered: Answered, seed: int, generator: np.random.Generator) -> Counts:
        """Draw from the joint law: some keep their symbol, and all others together are spread evenly."""
        symbols = self.symbols(answered, seed)
        kept = generator.binomial(symbols, float(self.p_own - self.p_other))
        even = np.full(self.symbols_in_all, 1 / self.symbols_in_all)
        spread = generator.multinomial(len(answered.people) - kept.sum(), even)
        return (kept + spread)[: self.size].astype(np.int64)
