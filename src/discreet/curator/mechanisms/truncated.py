"""Patterns over a threshold: smart truncating and double standards (Zeng, Naughton, Cai 2012, algorithms 3 to 5)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import ClassVar

import numpy as np

from ...exact.query import BasketCount, Truncation
from ...privacy.budget import Neighbours
from ...results.itemsets import Itemsets
from ..steps.threshold_levels import Level, Situation, ThresholdLevels
from ..steps.truncation import (
    F64,
    I64,
    Keep,
    Spread,
    bounds,
    check_choice,
    check_shares,
    cut_at,
    most_before,
    posterior,
)


@dataclass(frozen=True, kw_only=True)
class Truncated(ThresholdLevels):
    """Settings of `truncated`, besides those of mining level by level.

    Parameters
    ----------
    smart
        Whether baskets keep the items of the candidates that promise most; otherwise they keep any.
    double_standards
        Whether counts are corrected for what cutting loses, on average where patterns are found and at most where
        candidates are; otherwise they are taken as they are.
    keep
        What cutting is taken to leave of those who hold a longer pattern: all (``"none"``: nothing is corrected, as
        smart truncating keeps what is counted), or what a random cut would leave if their baskets were like everyone's
        (``"uniform"``, the paper's), longer (``"size-biased"``), or the square root of that (``"root"``).
    keep_items
        The same for single items. Their baskets are cut at random.
    doubt
        The probability with which more than the most may be lost (the paper's rho).
    """

    smart: bool = True
    double_standards: bool = True
    keep: Keep = "none"
    keep_items: Keep = "size-biased"
    doubt: Fraction = Fraction(1, 100)

    name: ClassVar[str] = "truncated"
    summary: ClassVar[str] = (
        "Cuts every basket to the items of promising candidates, anew for each length of patterns, and counts with "
        "noise what may be frequent once the cut is corrected for."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_shares(self, "doubt")
        check_choice("keep", self.keep, Keep)
        check_choice("keep_items", self.keep_items, Keep)

    def truncation(self, situation: Situation, size: int, sets: Itemsets, scores: I64, share: Fraction) -> Truncation:
        """Cut single items as algorithm 1 does; then to the length that loses least, by the candidates' scores."""
        spread = situation.spread
        if size == 1:
            return situation.first
        longest = size
        if size < spread.longest:
            most = bounds(sets.codes, size, spread.longest, self.bound)
            if situation.meter.neighbours is Neighbours.REPLACE:
                most = np.minimum(2 * most, len(sets))  # as `l1_sensitivity_replace` of the query that will be asked
            unit = sqrt(situation.meter.scale(BasketCount(), share)[1])
            deviations = unit * (most if situation.meter.pure else np.sqrt(most))
            model = "uniform" if self.keep == "none" else self.keep
            longest = cut_at(situation.count, spread.kept(size, model), deviations, size)
        return Truncation(longest, situation.first.key, *((sets, scores) if self.smart else ()))

    def kept(self, spread: Spread, size: int, longest: int) -> float:
        """Return what the model of the settings says."""
        if not self.double_standards:
            return 1.0
        return float(spread.kept(size, self.keep_items if size == 1 else self.keep)[longest])

    def estimates(self, level: Level) -> F64:
        """Return the average original counts (equation 11)."""
        if not self.double_standards:
            return level.noisy.values.astype(np.float64)
        return posterior(level.noisy) / level.kept

    def ceilings(self, level: Level) -> F64:
        """Return the maximal original counts (equation 12), at the mean of the posterior."""
        if not self.double_standards:
            return self.estimates(level)
        return most_before(posterior(level.noisy), self.doubt) / level.kept
