"""Generalised randomised response: the value itself with some probability, else any other value, equally likely."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ...kernels import report_values
from .. import Counts, OneValue, ReportColumns, SimulatedAnswers, compute_weight, exp_rounded_down
from ..device import WEIGHT_SCALE
from ..oracle_steps import Field, HonestLaw, PairLaw, WholeField, tail_without_replacement


@dataclass(frozen=True, kw_only=True)
class GRR(OneValue):
    """Report the sampled symbol or any other. Sampling amplifies privacy, since all dummies differ (A3)."""

    inside: int

    name: ClassVar[str] = "grr"
    summary: ClassVar[str] = "the value itself, or any other: best for few candidates or long baskets"
    citation: ClassVar[str] = "Warner 1965; Kairouz, Oh, Viswanath 2014; amplification: Wang, Li, Jha 2018, Theorem 1"
    # A report is one symbol, so that the counts of a round have a joint law: the multinomial.
    joint: ClassVar[bool] = True

    @classmethod
    def make(cls, epsilon: Fraction, size: int, *, pad: int = 1, single: bool = False) -> Self:
        """Return the oracle; `inside` grows with the padding, as one symbol in `pad` is sampled (A1)."""
        growth = pad * (exp_rounded_down(epsilon) - 1) + 1
        unsampled = size - 1 if single else size + pad - 1
        # A single candidate that every device holds has no other symbol; a weight needs a place outside.
        inside = compute_weight(growth, 1, max(unsampled, 1))
        return cls(epsilon=epsilon, size=size, pad=pad, single=single, inside=inside)

    @property
    def dummies(self) -> int:
        """The number of dummies: the padding, as all dummies differ (A3)."""
        return 0 if self.single else self.pad

    @property
    def p_own(self) -> Fraction:
        """The probability of the sampled symbol."""
        return Fraction(self.inside, WEIGHT_SCALE)

    @property
    def p_other(self) -> Fraction:
        """The probability of any other symbol: an equal share of the remaining probability."""
        return Fraction(WEIGHT_SCALE - self.inside, WEIGHT_SCALE * (self.symbols_in_all - 1))

    def reports(self, answered: SimulatedAnswers, seed: int) -> ReportColumns:
        """Return one symbol for each person."""
        value = np.empty(len(answered.people), np.int64)
        report_values(*answered.arguments(seed), self.pad, self.size, self.dummies, np.uint64(self.inside), value)
        return {"value": value}

    def supports(self, columns: ReportColumns) -> Counts:
        """Return the count of each symbol without the dummies."""
        return np.bincount(columns["value"], minlength=self.symbols_in_all)[: self.size].astype(np.int64)

    def match_values(self, columns: ReportColumns, values: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether each report is each value."""
        return np.equal(columns["value"][:, None], values)

    @property
    def at_once(self) -> int:
        """The number of values that a report can name: 1."""
        return 1

    @property
    def honest(self) -> HonestLaw:
        """The law of honest reports: no report names two values, and the blank law draws any symbol."""
        p_own, p_other = self.p_own, self.p_other
        laws = tuple(PairLaw(both=Fraction(0), first_value=value, second_value=p_other) for value in (p_other, p_own))
        ratio, tail = p_own * self.symbols_in_all, tail_without_replacement(self.symbols_in_all, 1)
        return HonestLaw(p_other=p_other, pair_laws=laws, ratio=ratio, tail=tail)

    @property
    def fields(self) -> tuple[Field, ...]:
        """Return the fields of a report: one symbol."""
        return (WholeField("value", self.symbols_in_all),)

    def sample_supports(self, answered: SimulatedAnswers, seed: int, generator: np.random.Generator) -> Counts:
        """Draw the supports from their joint law.

        A person keeps the symbol with the probability p_own - p_other, and otherwise reports any symbol, the own too.
        """
        symbols = self.symbols(answered, seed)
        kept_counts = generator.binomial(symbols, float(self.p_own - self.p_other))
        uniform = np.full(self.symbols_in_all, 1 / self.symbols_in_all)
        spread_counts = generator.multinomial(len(answered.people) - kept_counts.sum(), uniform)
        return (kept_counts + spread_counts)[: self.size].astype(np.int64)
