"""Patterns over a threshold in baskets cut once, at random (Zeng, Naughton, Cai 2012, algorithms 6 and 7)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from ...exact import Truncation
from ...results import Itemsets
from ..steps import F64, I64, Level, MiningRun, SizeHistogram, ThresholdLevels


@dataclass(frozen=True, kw_only=True)
class TruncatedNaive(ThresholdLevels):
    """Settings of `truncated-naive`: the settings of mining level by level alone."""

    name: ClassVar[str] = "truncated-naive"
    summary: ClassVar[str] = (
        "Cuts every basket at random to a common length, and counts with noise the itemsets whose subsets were over "
        "the threshold."
    )

    def truncation(self, mining_run: MiningRun, size: int, sets: Itemsets, scores: I64, share: Fraction) -> Truncation:
        """Return the random cut, which is equal for all lengths."""
        return mining_run.first_truncation

    def _longest_countable(self, mining_run: MiningRun) -> int:
        """Return the common cut length: no longer itemset survives the cut."""
        return mining_run.first_truncation.longest

    def kept_share(self, size_histogram: SizeHistogram, size: int, longest: int) -> float:
        """Return 1: counts are not corrected."""
        return 1.0

    def estimates(self, level: Level) -> F64:
        """Return the noisy counts, uncorrected."""
        return level.noisy.values.astype(np.float64)

    def ceilings(self, level: Level) -> F64:
        """Return the noisy counts, uncorrected."""
        return self.estimates(level)
