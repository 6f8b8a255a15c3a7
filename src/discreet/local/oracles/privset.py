"""PrivSet: a few symbols, likely to meet the whole padded set: the most exact for sets of few candidates."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb
from typing import ClassVar, Self

import numpy as np

from ...errors import MisuseError
from ..device.loss import WORD
from ..oracle import SetValued, chance, check_ranges, grown
from ..oracle_steps.honest import HonestLaw, Together, without_putting_back
from ..oracle_steps.subsets import Subsets

# Beyond, binomial coefficients and reports grow large; the wheel is near it there.
_LARGEST = 5000


@dataclass(frozen=True, kw_only=True)
class PrivSet(Subsets, SetValued):
    """Report a set of symbols that meets the device's padded set more often than chance would have it."""

    name: ClassVar[str] = "privset"
    summary: ClassVar[str] = "a few values, likely to meet the whole set: the most exact for sets of few candidates"
    citation: ClassVar[str] = "Wang, Huang, Nie, Wang, Xu, Yang 2018"

    @classmethod
    def make(cls, epsilon: Fraction, size: int, *, pad: int = 1, single: bool = False) -> Self:
        """Return the oracle with as many symbols a report as make the variance least."""
        check_ranges(epsilon, size, pad, single)
        if size > _LARGEST:
            raise MisuseError(f"privset answers for up to {_LARGEST:,} candidates, and there are {size:,}: use wheel.")
        growth, dummies = grown(epsilon), 0 if single else pad
        many = _best_many(float(growth), size + dummies, pad)
        missing, everything = comb(size + dummies - pad, many), comb(size + dummies, many)
        meeting = (everything - missing) * growth
        hit = chance(meeting / (meeting + missing))
        return cls(epsilon=epsilon, size=size, pad=pad, single=single, many=many, hit=hit)

    @property
    def dummies(self) -> int:
        """As many as the padding, all different (A3)."""
        return 0 if self.single else self.pad

    @cached_property
    def _sets(self) -> tuple[int, int]:
        """How many sets there are, and how many miss the own values."""
        return comb(self.symbols_in_all, self.many), comb(self.symbols_in_all - self.pad, self.many)

    @cached_property
    def p_held(self) -> Fraction:
        """One own value, given that some is met."""
        everything, missing = self._sets
        return Fraction(self.hit, WORD) * Fraction(comb(self.symbols_in_all - 1, self.many - 1), everything - missing)

    @cached_property
    def p_other(self) -> Fraction:
        """One value that is not held, whether some own one is met or none."""
        everything, missing = self._sets
        hit = Fraction(self.hit, WORD)
        rest = comb(self.symbols_in_all - self.pad - 1, self.many - 1)
        return hit * Fraction(comb(self.symbols_in_all - 1, self.many - 1) - rest, everything - missing) + (
            1 - hit
        ) * Fraction(rest, missing)

    @property
    def honest(self) -> HonestLaw:
        """Blank is any set of so many symbols; it meets the own ones or misses them."""
        everything, missing = self._sets
        hit, own, other = Fraction(self.hit, WORD), self.p_held, self.p_other
        both = _count(self.symbols_in_all - 2, self.many - 2)
        apart = _count(self.symbols_in_all - self.pad - 2, self.many - 2)
        met = hit * Fraction(both, everything - missing)
        neither = hit * Fraction(both - apart, everything - missing) + (1 - hit) * Fraction(apart, missing)
        ways = [Together(both=neither, one=other, other=other), Together(both=met, one=own, other=other)]
        if self.pad > 1:
            ways.append(Together(both=met, one=own, other=own))
        ratio = max(hit * Fraction(everything, everything - missing), (1 - hit) * Fraction(everything, missing))
        tail = without_putting_back(self.symbols_in_all, self.many)
        return HonestLaw(p_other=other, together=tuple(ways), ratio=ratio, tail=tail)


def _count(symbols: int, many: int) -> int:
    """Return how many sets of so many symbols there are; none of fewer than none."""
    return comb(symbols, many) if symbols >= 0 and many >= 0 else 0


def _best_many(growth: float, symbols: int, pad: int) -> int:
    """Return the number of symbols a report with the least variance for a candidate that nobody holds."""
    many = np.arange(1, symbols - pad + 1)
    left = np.arange(pad)
    missed = np.exp(np.log1p(-many[:, None] / (symbols - left)).sum(1))  # C(symbols - pad, many) / C(symbols, many)
    weight = missed + (1 - missed) * growth
    share = many / symbols
    apart = missed * many / (symbols - pad)  # C(symbols - pad - 1, many - 1) / C(symbols, many)
    held = share * growth / weight
    other = (apart + (share - apart) * growth) / weight
    apart_by = np.maximum(held - other, 1e-12)  # where hardly any set misses, the two round to the same
    return int(many[np.argmin(other * (1 - other) / apart_by**2)])
