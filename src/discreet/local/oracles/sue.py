"""Symmetric unary encoding, which basic RAPPOR is: all bits are right with equal probability."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from .. import compute_threshold, exp_rounded_down
from ..device import WORD
from ..oracle_steps import LOSS, Unary, answer


@dataclass(frozen=True, kw_only=True)
class SUE(Unary):
    """Report one bit per candidate, each turned round with equal probability."""

    name: ClassVar[str] = "sue"
    summary: ClassVar[str] = (
        "one bit per candidate, all turned round alike (basic RAPPOR): for comparison, simulated only"
    )
    citation: ClassVar[str] = "Erlingsson, Pihur, Korolova 2014; as a frequency oracle: Wang, Blocki, Li, Jha 2017"

    live: ClassVar[bool] = False
    answer = staticmethod(answer)
    loss = LOSS

    @classmethod
    def make(cls, epsilon: Fraction, size: int, *, pad: int = 1, single: bool = False) -> Self:
        """Return the oracle; two bits differ between baskets, so each has half of epsilon."""
        root = exp_rounded_down(epsilon / 2)
        keep = compute_threshold(root / (root + 1))
        return cls(epsilon=epsilon, size=size, pad=pad, single=single, keep=keep, lie=WORD - keep)
