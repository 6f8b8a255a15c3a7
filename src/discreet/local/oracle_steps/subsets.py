"""What the oracles that report a subset have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernels.devices import report_subsets
from ...kernels.jit import in_threads, threads
from ...kernels.supports import count_symbols
from ..oracle import Answered, Counts, Oracle, Report, ReportColumns
from .reading import fields


@dataclass(frozen=True, kw_only=True)
class Subsets(Oracle):
    """Report `many` symbols, which meet the device's own with the probability `hit` out of 2^32."""

    many: int
    hit: int

    @property
    def numbers(self) -> dict[str, int]:
        """How many symbols, and how often they meet the own ones."""
        return {"many": self.many, "hit": self.hit}

    @property
    def symbols_in_all(self) -> int:
        """Candidates and dummies."""
        return self.size + self.dummies

    @property
    def bits(self) -> float:
        """So many symbols."""
        return self.many * ceil(log2(self.symbols_in_all))

    def reports(self, answered: Answered, seed: int) -> ReportColumns:
        """Return a row of symbols a person."""
        values = np.empty((len(answered.people), self.many), np.int32)
        report_subsets(*answered.arguments(seed), self.pad, self.size, self.dummies, self.hit, not self.sets, values)
        return {"values": values}

    def supports(self, columns: ReportColumns) -> Counts:
        """Count each symbol, and leave the dummies out."""

        def count(part: NDArray[np.int32]) -> Counts:
            counts = np.zeros(self.symbols_in_all, np.int64)
            count_symbols(part, counts)
            return counts

        parts = np.array_split(np.ascontiguousarray(columns["values"]), threads())
        counts: Counts = np.sum(in_threads(count, parts), axis=0)
        return counts[: self.size]

    def named(self, columns: ReportColumns, values: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which of the values each row of symbols has."""
        place = np.full(self.symbols_in_all, len(values), np.int64)
        place[values] = np.arange(len(values))
        rows = np.zeros((len(columns["values"]), len(values) + 1), bool)
        np.put_along_axis(rows, place[columns["values"]], True, axis=1)
        return rows[:, : len(values)]

    @property
    def at_once(self) -> int:
        """All symbols of a report."""
        return min(self.many, self.size)

    def written(self, columns: ReportColumns, row: int) -> Report:
        """Return the symbols, ascending."""
        return {"values": columns["values"][row].tolist()}

    def flaw(self, report: Any) -> str:
        """Return whether it is no row of symbols."""
        wrong = fields(report, "values")
        if wrong:
            return wrong
        values = report["values"]
        if not isinstance(values, list) or len(values) != self.many or not set(map(type, values)) <= {int}:
            return f"its values are not {self.many:,} whole numbers"
        if values[0] < 0 or values[-1] >= self.symbols_in_all or any(a >= b for a, b in pairwise(values)):
            return f"its values do not ascend from 0 to below {self.symbols_in_all:,}"
        return ""

    def columns(self, reports: Sequence[Report]) -> ReportColumns:
        """Return the rows of symbols."""
        return {"values": np.array([report["values"] for report in reports], np.int32).reshape(-1, self.many)}
