"""Subset selection: a small set of symbols, likely with the own symbol. The most exact oracle for one value."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from .. import OneValue, compute_threshold, exp_rounded_down
from ..device import WORD
from ..oracle_steps import HonestLaw, PairLaw, Subsets, tail_without_replacement


@dataclass(frozen=True, kw_only=True)
class Subset(Subsets, OneValue):
    """Report a set of symbols with the sampled symbol more often than a random set has it."""

    name: ClassVar[str] = "subset"
    summary: ClassVar[str] = "a few values, likely the own one among them: the most exact for one value"
    citation: ClassVar[str] = "Wang, Huang, Wang, Nie, Xia, Yang, Xu 2016; Ye, Barg 2018"

    @classmethod
    def make(cls, epsilon: Fraction, size: int, *, pad: int = 1, single: bool = False) -> Self:
        """Return the oracle with the better of the two sizes around symbols / (e^epsilon + 1)."""
        growth, symbols = exp_rounded_down(epsilon), size + (not single)
        # The variance is least at symbols / (e^epsilon + 1) (Ye, Barg 2018): one of the whole numbers around it.
        lower_size = int(symbols / (growth + 1))
        oracles = []
        for set_size in {min(max(1, lower_size), symbols - 1), min(lower_size + 1, symbols - 1)}:
            hit = compute_threshold(set_size * growth / (set_size * growth + symbols - set_size))
            oracles.append(cls(epsilon=epsilon, size=size, pad=pad, single=single, many=set_size, hit=hit))
        return min(oracles, key=lambda oracle: (oracle.variance(0.0), oracle.many))

    @property
    def honest(self) -> HonestLaw:
        """The law of honest reports; the blank law draws any set of `many` symbols."""
        symbols, set_size, p_own = self.symbols_in_all, self.many, self.p_own
        with_own = PairLaw(
            both=p_own * Fraction(set_size - 1, symbols - 1), first_value=p_own, second_value=self.p_other
        )
        without_own = PairLaw(both=self._unsampled_pair_chance, first_value=self.p_other, second_value=self.p_other)
        ratio = max(p_own * symbols / set_size, (1 - p_own) * symbols / (symbols - set_size))
        tail = tail_without_replacement(symbols, set_size)
        return HonestLaw(p_other=self.p_other, pair_laws=(without_own, with_own), ratio=ratio, tail=tail)

    @property
    def _unsampled_pair_chance(self) -> Fraction:
        """The probability that a report has two given symbols besides the own; 0 for fewer than three symbols."""
        symbols, set_size, p_own = self.symbols_in_all, self.many, self.p_own
        if symbols < 3:
            return Fraction(0)
        return (set_size - 1) * (p_own * (set_size - 2) + (1 - p_own) * set_size) / ((symbols - 1) * (symbols - 2))

    @property
    def p_own(self) -> Fraction:
        """The probability that the set has the own symbol."""
        return Fraction(self.hit, WORD)

    @property
    def p_other(self) -> Fraction:
        """The probability that the set has a given symbol besides the own."""
        unsampled = self.symbols_in_all - 1
        return self.p_own * Fraction(self.many - 1, unsampled) + (1 - self.p_own) * Fraction(self.many, unsampled)
