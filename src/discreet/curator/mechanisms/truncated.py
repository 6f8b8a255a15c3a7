"""Patterns over a threshold: smart truncating and double standards (Zeng, Naughton, Cai 2012, algorithms 3 to 5)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import ClassVar

import numpy as np

from ...exact import BasketCount, Truncation
from ...privacy import Neighbours
from ...results import Itemsets
from ..steps import (
    F64,
    I64,
    Keep,
    Level,
    MiningRun,
    SizeHistogram,
    ThresholdLevels,
    bound_basket_supports,
    bound_count_before_cut,
    check_choice,
    check_shares,
    choose_cut_length,
    posterior_means,
)


@dataclass(frozen=True, kw_only=True)
class Truncated(ThresholdLevels):
    """Settings of `truncated`, besides the settings of mining level by level.

    Parameters
    ----------
    smart
        Whether baskets keep the items of the most promising candidates; otherwise they keep random items.
    double_standards
        Whether counts are corrected for the loss by cutting: on average for patterns, at most for candidates.
    keep
        The model of the share of holders of a longer pattern that a cut leaves. ``"none"``: all (no correction, as
        smart truncating keeps the counted itemsets); ``"uniform"``: a random cut of baskets with the sizes of all
        people (the paper's model); ``"size-biased"``: of larger baskets; ``"root"``: the square root of the latter.
    keep_items
        The model for single items; their baskets are cut at random.
    doubt
        The probability with which the loss may exceed its upper estimate (the paper's rho).
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

    def truncation(self, mining_run: MiningRun, size: int, sets: Itemsets, scores: I64, share: Fraction) -> Truncation:
        """Return the cut of algorithm 1 for single items, and the cut of least loss for longer candidates."""
        size_histogram = mining_run.size_histogram
        if size == 1:
            return mining_run.first_truncation
        cut_length = size
        if size < size_histogram.longest:
            max_supports = bound_basket_supports(sets.codes, size, size_histogram.longest, self.bound)
            if mining_run.meter.neighbours is Neighbours.REPLACE:
                max_supports = np.minimum(
                    2 * max_supports, len(sets)
                )  # as `l1_sensitivity_replace` of the query that will be asked
            unit_deviation = sqrt(mining_run.meter.scale(BasketCount(), share)[1])
            deviations = unit_deviation * (max_supports if mining_run.meter.pure else np.sqrt(max_supports))
            model = "uniform" if self.keep == "none" else self.keep
            cut_length = choose_cut_length(mining_run.count, size_histogram.kept_shares(size, model), deviations, size)
        return Truncation(cut_length, mining_run.first_truncation.key, *((sets, scores) if self.smart else ()))

    def kept_share(self, size_histogram: SizeHistogram, size: int, longest: int) -> float:
        """Return the share according to the model of the settings."""
        if not self.double_standards:
            return 1.0
        return float(size_histogram.kept_shares(size, self.keep_items if size == 1 else self.keep)[longest])

    def estimates(self, level: Level) -> F64:
        """Return the average original counts (equation 11)."""
        if not self.double_standards:
            return level.noisy.values.astype(np.float64)
        return posterior_means(level.noisy) / level.kept_share

    def ceilings(self, level: Level) -> F64:
        """Return the maximal original counts (equation 12), at the mean of the posterior."""
        if not self.double_standards:
            return self.estimates(level)
        return bound_count_before_cut(posterior_means(level.noisy), self.doubt) / level.kept_share
