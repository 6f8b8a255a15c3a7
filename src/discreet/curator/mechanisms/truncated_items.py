"""Single items over a threshold in baskets cut at random (Zeng, Naughton, Cai 2012, algorithms 1 and 2: F1M)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from ...errors import MisuseError, told
from ...exact.query import Sizes, Supports, Truncation
from ...privacy.budget import Budget
from ...privacy.meter import Meter
from ...privacy.sealed import SealedEngine
from ..mechanism import Answers, Found, Mechanism, Plan, Task
from ..steps.candidate_join import rows
from ..steps.truncation import CITATION, SIZES, Keep, Spread, check_choice, check_numbers, check_shares, sizing

ITEMS = "counting the items"


@dataclass(frozen=True, kw_only=True)
class TruncatedItems(Mechanism):
    """Settings of `truncated-items`.

    Parameters
    ----------
    truncate
        Whether baskets are cut at all; otherwise there is noise for as many items as there are.
    coverage
        Baskets are cut to the length that this share of people does not exceed.
    longest_size
        The largest size of baskets that is told apart.
    keep
        How the counts are corrected for what cutting loses: not at all, as if those who hold an item had baskets like
        everyone (``"uniform"``), or longer ones (``"size-biased"``), or by the square root of that (``"root"``).
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

    def check(self, task: Task, budget: Budget) -> None:
        """Refuse questions that single items do not answer."""
        super().check(task, budget)
        if task.least > 1:
            raise MisuseError(
                told(
                    "{name} finds single items, but patterns of at least {asked} items were asked for: leave {lengths} "
                    "out, or take the mechanism truncated.",
                    name=self.name,
                    asked=task.least,
                )
            )
        if task.top is not None and task.top > task.items:
            raise MisuseError(
                told(
                    "{top} is {given:,}, but there are only {there:,} items: ask for at most so many.",
                    given=task.top,
                    there=task.items,
                )
            )

    def plan(self, task: Task) -> Plan:
        """Count the sizes of baskets with a small share and the items with the rest."""
        if not self.truncate:
            return [(ITEMS, Fraction(1))]
        sizes = sizing(task, Fraction(1))
        return [(SIZES, sizes), (ITEMS, 1 - sizes)]

    def run(self, engine: SealedEngine, task: Task, meter: Meter) -> Found:
        """Cut, count, and keep what is over the threshold or at the top."""
        every = rows(np.arange(task.items, dtype=np.int32)[:, None])
        query = Supports(every)
        kept = 1.0
        facts: dict[str, int] = {}
        notes = ["Only single items were looked for."]
        if self.truncate:
            sizes = Sizes(min(self.longest_size, task.items))
            spread = Spread.of(meter.count(SIZES, engine, sizes, dict(self.plan(task))[SIZES]), task.items)
            # The length is read from the noisy histogram only: the longest basket that is left would be private (C3).
            longest = spread.covering(self.coverage)
            query = Supports(every, Truncation(longest, meter.secret()))
            kept = float(spread.kept(1, self.keep)[longest])
            facts["length baskets were cut to"] = longest
            notes.append(
                f"Baskets were cut to {longest} items at most. That is taken to leave {kept:.0%} of the {task.unit} "
                "that hold an item, and the counts are corrected for it."
            )
        noisy = meter.count(ITEMS, engine, query, meter.left)
        estimates = noisy.values.astype(np.float64) / kept
        if self.truncate:
            low, high = spread.interval(noisy, spread.left(1, longest))
        else:
            low, high = estimates - noisy.margin(), estimates + noisy.margin()
        if task.top is None:
            places = np.flatnonzero(estimates >= (task.count or 1))
        else:
            places = np.sort(np.argsort(-estimates, kind="stable")[: task.top])
        return Found(
            itemsets=every.take(places),
            estimates=estimates[places] if task.counts else None,
            low=np.minimum(low, estimates)[places] if task.counts else None,
            high=np.maximum(high, estimates)[places] if task.counts else None,
            facts=facts,
            notes=tuple(notes),
        )
