"""Patterns over a threshold in baskets cut once, at random (Zeng, Naughton, Cai 2012, algorithms 6 and 7)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from ...exact.query import Truncation
from ...results.itemsets import Itemsets
from ..steps.threshold_levels import Level, Situation, ThresholdLevels
from ..steps.truncation import F64, I64, Spread


@dataclass(frozen=True, kw_only=True)
class TruncatedNaive(ThresholdLevels):
    """Settings of `truncated-naive`: those of mining level by level, and no others."""

    name: ClassVar[str] = "truncated-naive"
    summary: ClassVar[str] = (
        "Cuts every basket at random to a common length, and counts with noise the itemsets whose subsets were over "
        "the threshold."
    )

    def truncation(self, situation: Situation, size: int, sets: Itemsets, scores: I64, share: Fraction) -> Truncation:
        """Cut at random, for all sizes alike."""
        return situation.first

    def _deepest(self, situation: Situation) -> int:
        return situation.first.longest

    def kept(self, spread: Spread, size: int, longest: int) -> float:
        """Take the counts as they are."""
        return 1.0

    def estimates(self, level: Level) -> F64:
        """Take the counts as they are."""
        return level.noisy.values.astype(np.float64)

    def ceilings(self, level: Level) -> F64:
        """Take the counts as they are."""
        return self.estimates(level)
