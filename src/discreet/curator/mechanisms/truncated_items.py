"""Single items over a threshold in baskets cut at random (Zeng, Naughton, Cai 2012, algorithms 1 and 2: F1M)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from ...errors import MisuseError
from ...exact import Sizes, Supports, Truncation
from ...privacy import Budget, Meter, SealedEngine
from .. import Answers, Found, Mechanism, Plan, Problem
from ..steps import CITATION, SIZES, Keep, SizeHistogram, check_choice, check_numbers, check_shares, rows, size_share

ITEMS = "counting the items"


@dataclass(frozen=True, kw_only=True)
class TruncatedItems(Mechanism):
    """Settings of `truncated-items`.

    Parameters
    ----------
    truncate
        Whether baskets are cut; otherwise the noise is calibrated to all items.
    coverage
        Baskets are cut to the length that this share of people does not exceed.
    longest_size
        The largest counted basket size.
    keep
        The correction for the loss by cutting: none (``"none"``), for holders with the basket sizes of all people
        (``"uniform"``), for larger baskets (``"size-biased"``), or the square root of the latter (``"root"``).
    """

    truncate: bool = True
    coverage: Fraction = Fraction(17, 20)
    longest_size: int = 64
    keep: Keep = "size-biased"

    name: ClassVar[str] = "truncated-items"
    summary: ClassVar[str] = "Cuts every basket at random to a common length, and counts every single item with noise."
    citation: ClassVar[str] = CITATION
    answers: ClassVar[tuple[Answers, ...]] = ("top", "threshold")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_shares(self, "coverage")
        check_numbers(self, "longest_size")
        check_choice("keep", self.keep, Keep)

    def check(self, problem: Problem, budget: Budget) -> None:
        """Refuse questions beyond single items."""
        super().check(problem, budget)
        if problem.min_length > 1:
            raise MisuseError.format(
                "{name} finds single items, but patterns of at least {asked} items were asked for: leave {lengths} "
                "out, or take the mechanism truncated.",
                name=self.name,
                asked=problem.min_length,
            )
        if problem.top is not None and problem.top > problem.item_count:
            raise MisuseError.format(
                "{top} is {given:,}, but there are only {there:,} items: ask for at most so many.",
                given=problem.top,
                there=problem.item_count,
            )

    def plan(self, problem: Problem) -> Plan:
        """Count the basket sizes with a small share and the items with the remainder."""
        if not self.truncate:
            return [(ITEMS, Fraction(1))]
        sizes_share = size_share(problem, Fraction(1))
        return [(SIZES, sizes_share), (ITEMS, 1 - sizes_share)]

    def run(self, engine: SealedEngine, problem: Problem, meter: Meter) -> Found:
        """Cut the baskets, count the items, and keep the items over the threshold or at the top."""
        items = rows(np.arange(problem.item_count, dtype=np.int32)[:, None])
        query = Supports(items)
        kept_share = 1.0
        facts: dict[str, int] = {}
        notes = ["Only single items were looked for."]
        if self.truncate:
            sizes = Sizes(min(self.longest_size, problem.item_count))
            size_histogram = SizeHistogram.of(
                meter.count(SIZES, engine, sizes, dict(self.plan(problem))[SIZES]), problem.item_count
            )
            # The length comes from the noisy histogram only: the longest remaining basket would be private (C3).
            cut_length = size_histogram.covering_length(self.coverage)
            query = Supports(items, Truncation(cut_length, meter.secret()))
            kept_share = float(size_histogram.kept_shares(1, self.keep)[cut_length])
            facts["length baskets were cut to"] = cut_length
            notes.append(
                f"Baskets were cut to {cut_length} items at most. That is taken to leave {kept_share:.0%} of the "
                f"{problem.unit} that hold an item, and the counts are corrected for it."
            )
        noisy = meter.count(ITEMS, engine, query, meter.left)
        estimates = noisy.values.astype(np.float64) / kept_share
        if self.truncate:
            low, high = size_histogram.interval(noisy, size_histogram.kept_by_size(1, cut_length))
        else:
            low, high = estimates - noisy.margin(), estimates + noisy.margin()
        if problem.top is None:
            positions = np.flatnonzero(estimates >= (problem.threshold or 1))
        else:
            positions = np.sort(np.argsort(-estimates, kind="stable")[: problem.top])
        low = np.minimum(low, estimates)[positions]
        return Found(
            itemsets=items.take(positions),
            estimates=estimates[positions] if problem.with_counts else None,
            low=problem.lower_ends(estimates[positions], low, problem.item_count) if problem.with_counts else None,
            high=np.maximum(high, estimates)[positions] if problem.with_counts else None,
            facts=facts,
            notes=tuple(notes),
        )
