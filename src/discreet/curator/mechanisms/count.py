"""Noisy counts of given itemsets: the noise scale is the largest number of given itemsets within one basket."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from ...errors import MisuseError
from ...exact import Supports
from ...privacy import Budget, Meter, SealedEngine
from .. import Answers, Found, Mechanism, Plan, Problem


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

    def check(self, problem: Problem, budget: Budget) -> None:
        """Refuse an empty list, and questions without itemsets."""
        if problem.itemsets is None:
            raise MisuseError.format(
                "count counts itemsets that are named, and finds none: use discreet.count, on the command line "
                "`discreet count FILE --itemsets WANTED`; or leave {mechanism} out."
            )
        super().check(problem, budget)
        if not len(problem.itemsets):
            raise MisuseError("There is no itemset to count: give at least one.")

    def plan(self, problem: Problem) -> Plan:
        """Spend the whole budget on counting."""
        return [("counting the itemsets", Fraction(1))]

    def run(self, engine: SealedEngine, problem: Problem, meter: Meter) -> Found:
        """Count the itemsets with noise."""
        if problem.itemsets is None:
            raise AssertionError("checked before")
        noisy = meter.count("counting the itemsets", engine, Supports(problem.itemsets), Fraction(1))
        values = noisy.values.astype(np.float64)
        margin = noisy.margin()
        return Found(itemsets=problem.itemsets, estimates=values, low=values - margin, high=values + margin)
