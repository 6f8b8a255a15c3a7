"""Optimised unary encoding: the own bit is a fair coin, and any other bit is rarely wrong."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import ClassVar, Self

from .. import exp_rounded_down
from ..device import WORD
from ..oracle_steps import LOSS, Unary, answer


@dataclass(frozen=True, kw_only=True)
class OUE(Unary):
    """Report one bit per candidate; the own bit is 1 in one of two reports, any other bit in one of e^epsilon + 1."""

    name: ClassVar[str] = "oue"
    summary: ClassVar[str] = (
        "one bit per candidate, the own one by a fair coin: as exact as olh, for comparison, simulated only"
    )
    citation: ClassVar[str] = "Wang, Blocki, Li, Jha 2017"

    live: ClassVar[bool] = False
    answer = staticmethod(answer)
    loss = LOSS

    @classmethod
    def make(cls, epsilon: Fraction, size: int, *, pad: int = 1, single: bool = False) -> Self:
        """Return the oracle; lies are rounded up, against the collector."""
        # p = 1/2 and q = 1 / (e^epsilon + 1) have the least variance for rare candidates (Wang et al. 2017).
        lie = ceil(WORD / (exp_rounded_down(epsilon) + 1))
        return cls(epsilon=epsilon, size=size, pad=pad, single=single, keep=WORD // 2, lie=lie)
