"""PrivSet: a small set of symbols, likely to meet the padded set. The most exact oracle for sets of few candidates."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb
from typing import ClassVar, Self

import numpy as np

from ...errors import MisuseError
from .. import SetValued, check_ranges, compute_threshold, exp_rounded_down
from ..device import WORD
from ..oracle_steps import HonestLaw, PairLaw, Subsets, tail_without_replacement

# Beyond, binomial coefficients and reports grow large, and the wheel is nearly as exact.
_MAX_CANDIDATES = 5000


@dataclass(frozen=True, kw_only=True)
class PrivSet(Subsets, SetValued):
    """Report a set of symbols that meets the device's padded set more often than a random set would."""

    name: ClassVar[str] = "privset"
    summary: ClassVar[str] = "a few values, likely to meet the whole set: the most exact for sets of few candidates"
    citation: ClassVar[str] = "Wang, Huang, Nie, Wang, Xu, Yang 2018"

    @classmethod
    def make(cls, epsilon: Fraction, size: int, *, pad: int = 1, single: bool = False) -> Self:
        """Return the oracle with the number of symbols in a report that makes the variance least."""
        check_ranges(epsilon, size, pad, single)
        if size > _MAX_CANDIDATES:
            raise MisuseError(
                f"privset answers for up to {_MAX_CANDIDATES:,} candidates, and there are {size:,}: use wheel."
            )
        growth, dummies = exp_rounded_down(epsilon), 0 if single else pad
        set_size = _select_set_size(float(growth), size + dummies, pad)
        missing, subsets = comb(size + dummies - pad, set_size), comb(size + dummies, set_size)
        # Each set that meets the padded set is `growth` times as likely as each set that misses it.
        meeting = (subsets - missing) * growth
        hit = compute_threshold(meeting / (meeting + missing))
        return cls(epsilon=epsilon, size=size, pad=pad, single=single, many=set_size, hit=hit)

    @property
    def dummies(self) -> int:
        """The number of dummies: the padding, as all dummies differ (A3)."""
        return 0 if self.single else self.pad

    @cached_property
    def _sets(self) -> tuple[int, int]:
        """The number of sets of the size of a report, and the number of sets without own values."""
        return comb(self.symbols_in_all, self.many), comb(self.symbols_in_all - self.pad, self.many)

    @cached_property
    def p_held(self) -> Fraction:
        """The probability that a report has a given own value."""
        subsets, missing = self._sets
        return Fraction(self.hit, WORD) * Fraction(comb(self.symbols_in_all - 1, self.many - 1), subsets - missing)

    @cached_property
    def p_other(self) -> Fraction:
        """The probability that a report has a given value outside the padded set."""
        subsets, missing = self._sets
        hit = Fraction(self.hit, WORD)
        missing_own = comb(self.symbols_in_all - self.pad - 1, self.many - 1)
        meeting_own = comb(self.symbols_in_all - 1, self.many - 1) - missing_own
        return hit * Fraction(meeting_own, subsets - missing) + (1 - hit) * Fraction(missing_own, missing)

    @property
    def honest(self) -> HonestLaw:
        """The law of honest reports; the blank law draws any set of `many` symbols."""
        subsets, missing = self._sets
        hit, p_own, p_other = Fraction(self.hit, WORD), self.p_held, self.p_other
        pair_sets = _count_subsets(self.symbols_in_all - 2, self.many - 2)
        missing_pair_sets = _count_subsets(self.symbols_in_all - self.pad - 2, self.many - 2)
        with_own = hit * Fraction(pair_sets, subsets - missing)
        without_own = hit * Fraction(pair_sets - missing_pair_sets, subsets - missing)
        without_own += (1 - hit) * Fraction(missing_pair_sets, missing)
        pair_laws = [
            PairLaw(both=without_own, first_value=p_other, second_value=p_other),
            PairLaw(both=with_own, first_value=p_own, second_value=p_other),
        ]
        if self.pad > 1:
            pair_laws.append(PairLaw(both=with_own, first_value=p_own, second_value=p_own))
        ratio = max(hit * Fraction(subsets, subsets - missing), (1 - hit) * Fraction(subsets, missing))
        tail = tail_without_replacement(self.symbols_in_all, self.many)
        return HonestLaw(p_other=p_other, pair_laws=tuple(pair_laws), ratio=ratio, tail=tail)


def _count_subsets(symbols: int, set_size: int) -> int:
    """Return the number of sets of `set_size` symbols; 0 for negative numbers."""
    return comb(symbols, set_size) if symbols >= 0 and set_size >= 0 else 0


def _select_set_size(growth: float, symbols: int, pad: int) -> int:
    """Return the number of symbols in a report with the least variance for a candidate outside all baskets."""
    set_sizes = np.arange(1, symbols - pad + 1)
    factors = np.arange(pad)
    # C(symbols - pad, n) / C(symbols, n), by logarithms: the coefficients themselves are beyond floating point.
    missed = np.exp(np.log1p(-set_sizes[:, None] / (symbols - factors)).sum(1))
    weight = missed + (1 - missed) * growth
    share = set_sizes / symbols
    missed_share = missed * set_sizes / (symbols - pad)  # C(symbols - pad - 1, n - 1) / C(symbols, n)
    p_held = share * growth / weight
    p_other = (missed_share + (share - missed_share) * growth) / weight
    gap = np.maximum(p_held - p_other, 1e-12)  # where hardly any set misses, both round to one number
    return int(set_sizes[np.argmin(p_other * (1 - p_other) / gap**2)])
