"""Binary local hashing: two buckets, for any epsilon. Kept for comparison, simulated only: `olh` is as good."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from .. import exp_rounded_down
from ..device import ANSWERS, LOSSES, Loss
from .olh import OLH


@dataclass(frozen=True, kw_only=True)
class BLH(OLH):
    """Hash the sampled symbol to one of two buckets and report this bucket or its opposite."""

    name: ClassVar[str] = "blh"
    summary: ClassVar[str] = "one of two buckets of a hash function, or the other: for comparison, simulated only"
    citation: ClassVar[str] = "Bassily, Smith 2015; as a frequency oracle: Wang, Blocki, Li, Jha 2017"

    live: ClassVar[bool] = False
    answer = staticmethod(ANSWERS["olh"])
    loss = Loss(LOSSES["olh"].ratio, "size pad dummies buckets inside", optional="seeds")

    @classmethod
    def make(cls, epsilon: Fraction, size: int, *, pad: int = 1, single: bool = False) -> Self:
        """Return the oracle with two buckets."""
        return cls._with_buckets(epsilon, size, pad, single, 2, exp_rounded_down(epsilon))
