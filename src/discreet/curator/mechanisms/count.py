"""Private counts of given itemsets: noise for as many people as one basket can be in."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from ...errors import MisuseError, told
from ...exact.query import Supports
from ...privacy.budget import Budget
from ...privacy.meter import Meter
from ...privacy.sealed import SealedEngine
from ..mechanism import Answers, Found, Mechanism, Plan, Task


@dataclass(frozen=True, kw_only=True)
class Count(Mechanism):
    """`count` has no settings."""

    name: ClassVar[str] = "count"
    summary: ClassVar[str] = "Counts the itemsets that were given, each with noise."
    citation: ClassVar[str] = (
        "C. Dwork, F. McSherry, K. Nissim, A. Smith. Calibrating noise to sensitivity in private data analysis. "
        "TCC 2006."
    )
    answers: ClassVar[tuple[Answers, ...]] = ("itemsets",)

    def check(self, task: Task, budget: Budget) -> None:
        """Refuse an empty list, and questions that name no itemsets."""
        if task.itemsets is None:
            raise MisuseError(
                told(
                    "count counts itemsets that are named, and finds none: use discreet.count, on the command line "
                    "`discreet count FILE --itemsets WANTED`; or leave {mechanism} out."
                )
            )
        super().check(task, budget)
        if not len(task.itemsets):
            raise MisuseError("There is no itemset to count: give at least one.")

    def plan(self, task: Task) -> Plan:
        """All of the budget counts."""
        return [("counting the itemsets", Fraction(1))]

    def run(self, engine: SealedEngine, task: Task, meter: Meter) -> Found:
        """Count with noise."""
        if task.itemsets is None:
            raise AssertionError("checked before")
        noisy = meter.count("counting the itemsets", engine, Supports(task.itemsets), Fraction(1))
        values = noisy.values.astype(np.float64)
        margin = noisy.margin()
        return Found(itemsets=task.itemsets, estimates=values, low=values - margin, high=values + margin)
