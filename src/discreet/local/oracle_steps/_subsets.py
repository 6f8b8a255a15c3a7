"""The common part of oracles with a subset of the symbols as the report."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...kernels import count_symbols, in_threads, report_subsets, threads
from .. import Counts, Oracle, ReportColumns, SimulatedAnswers
from ._codec import Field, SubsetField


@dataclass(frozen=True, kw_only=True)
class Subsets(Oracle):
    """Report `many` symbols, which meet the device's own with the probability `hit` out of 2^32."""

    many: int
    hit: int

    def reports(self, answered: SimulatedAnswers, seed: int) -> ReportColumns:
        """Return a row of symbols for each person."""
        values = np.empty((len(answered.people), self.many), np.int32)
        report_subsets(*answered.arguments(seed), self.pad, self.size, self.dummies, self.hit, not self.sets, values)
        return {"values": values}

    def supports(self, columns: ReportColumns) -> Counts:
        """Return the count of each symbol without the dummies."""

        def count(part: NDArray[np.int32]) -> Counts:
            counts = np.zeros(self.symbols_in_all, np.int64)
            count_symbols(part, counts)
            return counts

        parts = np.array_split(np.ascontiguousarray(columns["values"]), threads())
        counts: Counts = np.sum(in_threads(count, parts), axis=0)
        return counts[: self.size]

    def match_values(self, columns: ReportColumns, values: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether each row of symbols has each value."""
        # Symbols outside `values` go to a spare last column, which is cut off.
        place = np.full(self.symbols_in_all, len(values), np.int64)
        place[values] = np.arange(len(values))
        rows = np.zeros((len(columns["values"]), len(values) + 1), bool)
        np.put_along_axis(rows, place[columns["values"]], True, axis=1)
        return rows[:, : len(values)]

    @property
    def at_once(self) -> int:
        """The number of candidates that one report names."""
        return min(self.many, self.size)

    @property
    def fields(self) -> tuple[Field, ...]:
        """Return the fields of a report: the symbols, ascending."""
        return (SubsetField("values", self.many, self.symbols_in_all),)
