"""The aggregate of a round, for each kind of oracle: the sums of its reports.

An *aggregate* is an array of whole numbers that begins with zeros (`Adder.start`). Blocks of reports are added to it
(`Adder.add`), in any order and on any machine, as aggregates of parts of a round add up number by number to the
aggregate of the round. At the end it is read once (`Adder.decode`) as supports, from which all results are computed.
For most oracles the aggregate is the supports. Where devices draw from published seeds it is a table of seeds and
buckets, which costs one step per report to add to, and seeds times candidates to read, for any number of people.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...baskets import Offsets
from ._codec import ReportColumns

Counts: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class SimulatedAnswers:
    """The answers of a simulation: the values of each row, and the number of its person."""

    offsets: Offsets
    values: NDArray[np.int32]
    people: NDArray[np.int64]

    def arguments(self, seed: int) -> tuple[Offsets, NDArray[np.int32], NDArray[np.int64], np.uint64]:
        """Return the first arguments of each kernel of devices."""
        return self.offsets, self.values, self.people, np.uint64(seed)


@dataclass(frozen=True, kw_only=True, eq=False)
class SharedReports:
    """The excess of the reports that name both of two values over the reports that honest holders explain.

    Parameters
    ----------
    excess, variance
        The excess of each pair of values, and its variance; of honest reports, its mean is 0 for any baskets.
    worth
        The effect of a forged report that names both values on the excess, relative to its effect on the support of
        one value.
    """

    excess: NDArray[np.float64]
    variance: NDArray[np.float64]
    worth: float


@dataclass(frozen=True, kw_only=True, eq=False)
class AggregateReading:
    """An aggregate that was read: the supports of the candidates."""

    supports: Counts

    def estimate_pair_excess(self, values: NDArray[np.int64]) -> SharedReports | None:
        """Return the excess of shared reports of each pair of values; None if the aggregate does not tell it."""
        return None

    def count_joint_reports(self, values: NDArray[np.int64]) -> Counts | None:
        """Return the number of reports with both values of each pair; None if the aggregate does not tell it."""
        return None


class Adder(ABC):
    """The addition of the reports of an oracle."""

    # Whether adding a report takes one step: a simulation then makes single reports at each speed.
    quick: ClassVar[bool] = False
    # Whether one block of reports is added on all cores: a second thread with its own aggregate then saves no time.
    on_all_cores: bool = False

    @abstractmethod
    def start(self) -> Counts:
        """Return the aggregate of no reports."""

    @abstractmethod
    def add(self, aggregate: Counts, columns: ReportColumns, times: int = 1) -> None:
        """Add a block of reports to an aggregate, or take it out again with `times` -1."""

    def read_aggregate(self, aggregate: Counts) -> AggregateReading:
        """Return the reading of an aggregate; it may share the memory of the aggregate."""
        return AggregateReading(supports=aggregate)

    def decode(self, aggregate: Counts) -> Counts:
        """Return the supports of an aggregate."""
        return self.read_aggregate(aggregate).supports

    def count_lots(self, aggregate: Counts) -> Counts | None:
        """Return the number of reports with each lot; None for an oracle without lots.

        A lot is a public random choice of the device that does not depend on its basket, such as the number of a seed.
        All lots are equally likely.
        """
        return None

    def find_lots(self, columns: ReportColumns) -> NDArray[np.uint32]:
        """Return the lot of each report, for an oracle with lots."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True, eq=False)
class SupportAdder(Adder):
    """Adds up the supports of each block of reports.

    Parameters
    ----------
    size
        The length of the supports.
    supports
        The function from a block of reports to its supports.
    """

    size: int
    supports: Callable[[ReportColumns], Counts]
    on_all_cores: bool = False

    def start(self) -> Counts:
        """Return supports of 0."""
        return np.zeros(self.size, np.int64)

    def add(self, aggregate: Counts, columns: ReportColumns, times: int = 1) -> None:
        """Add the supports of the reports."""
        aggregate += times * self.supports(columns)
