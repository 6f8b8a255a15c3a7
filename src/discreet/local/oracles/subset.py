"""Subset selection: a few symbols, likely with the own one among them. The most exact oracle for one value."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from ..device.loss import WORD
from ..oracle import OneValue, chance, grown
from ..oracle_steps.honest import HonestLaw, Together, without_putting_back
from ..oracle_steps.subsets import Subsets


@dataclass(frozen=True, kw_only=True)
class Subset(Subsets, OneValue):
    """Report a set of symbols that holds the sampled one more often than chance would have it."""

    name: ClassVar[str] = "subset"
    summary: ClassVar[str] = "a few values, likely the own one among them: the most exact for one value"
    citation: ClassVar[str] = "Wang, Huang, Wang, Nie, Xia, Yang, Xu 2016; Ye, Barg 2018"

    @classmethod
    def make(cls, epsilon: Fraction, size: int, *, pad: int = 1, single: bool = False) -> Self:
        """Return the oracle with the better of the two sizes around symbols / (e^epsilon + 1)."""
        growth, symbols = grown(epsilon), size + (not single)
        near = int(symbols / (growth + 1))
        made = []
        for many in {min(max(1, near), symbols - 1), min(near + 1, symbols - 1)}:
            hit = chance(many * growth / (many * growth + symbols - many))
            made.append(cls(epsilon=epsilon, size=size, pad=pad, single=single, many=many, hit=hit))
        return min(made, key=lambda oracle: (oracle.variance(0.0), oracle.many))

    @property
    def honest(self) -> HonestLaw:
        """Blank is any set of so many symbols; the own one is in it or not."""
        symbols, many, own = self.symbols_in_all, self.many, self.p_own
        alone = Together(both=own * Fraction(many - 1, symbols - 1), one=own, other=self.p_other)
        neither = Together(both=self._neither, one=self.p_other, other=self.p_other)
        ratio = max(own * symbols / many, (1 - own) * symbols / (symbols - many))
        tail = without_putting_back(symbols, many)
        return HonestLaw(p_other=self.p_other, together=(neither, alone), ratio=ratio, tail=tail)

    @property
    def _neither(self) -> Fraction:
        """Two values that are not the own one: there are two only where there are three symbols."""
        symbols, many, own = self.symbols_in_all, self.many, self.p_own
        if symbols < 3:
            return Fraction(0)
        return (many - 1) * (own * (many - 2) + (1 - own) * many) / ((symbols - 1) * (symbols - 2))

    @property
    def p_own(self) -> Fraction:
        """The set meets the own symbol."""
        return Fraction(self.hit, WORD)

    @property
    def p_other(self) -> Fraction:
        """One of the others of the set, whether it meets the own symbol or not."""
        others = self.symbols_in_all - 1
        return self.p_own * Fraction(self.many - 1, others) + (1 - self.p_own) * Fraction(self.many, others)
