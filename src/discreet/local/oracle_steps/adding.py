"""What reports add up to: the aggregate of a round, for every kind of oracle.

An *aggregate* is an array of whole numbers that begins with zeros (`empty`). Blocks of reports are added to it (`add`),
in any order and on any machine, as aggregates of parts of a round add up number by number to that of the whole. At the
end it is read once (`decoded`): supports, from which everything else is computed. For most oracles the aggregate is the
supports. Where devices draw from published seeds it is a table of seeds and buckets, which costs one step per report to
add to, and seeds times candidates to read, whatever the number of people.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...baskets.core import Offsets
from .reading import ReportColumns, ReportReader

Counts: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Answered:
    """Who answered what: the values of each row, and the number of the person behind it in the simulation."""

    offsets: Offsets
    held: NDArray[np.int32]
    people: NDArray[np.int64]

    def arguments(self, seed: int) -> tuple[Offsets, NDArray[np.int32], NDArray[np.int64], np.uint64]:
        """Return what every kernel of devices begins with."""
        return self.offsets, self.held, self.people, np.uint64(seed)


@dataclass(frozen=True, kw_only=True, eq=False)
class SharedReports:
    """How many reports every two of some values have in common beyond what people hold explains.

    Parameters
    ----------
    more, variance
        By how many that is, and how far chance takes it: honest reports make 0 of it on average, whatever is held.
    worth
        What a made-up report that names both adds to it, over what it adds to the support of either.
    """

    more: NDArray[np.float64]
    variance: NDArray[np.float64]
    worth: float


@dataclass(frozen=True, kw_only=True, eq=False)
class AggregateReading:
    """An aggregate that was read: the supports that it stands for."""

    supports: Counts

    def shared(self, values: NDArray[np.int64]) -> SharedReports | None:
        """Return how often every two of some values come together, where an aggregate tells; None where it does not."""
        return None

    def together(self, values: NDArray[np.int64]) -> Counts | None:
        """Return how many reports name both of every two values, where an aggregate tells; None where it does not."""
        return None


class ReportAdder(ReportReader):
    """How reports of an oracle are added up. Subclasses say what a report supports."""

    @property
    @abstractmethod
    def kept(self) -> int:
        """How many whole numbers an aggregate is read as."""

    @abstractmethod
    def reports(self, answered: Answered, seed: int) -> ReportColumns:
        """Return everyone's report, as columns: from a person's stream of words, what `randomise` returns."""

    @abstractmethod
    def supports(self, columns: ReportColumns) -> Counts:
        """Return what these reports by themselves support, counted report by report."""

    def expecting(self, people: int) -> Self:
        """Return the oracle as so many people are best asked through it: a public number, known before anyone is."""
        return self

    def as_asked(self, form: Mapping[str, Any]) -> Self:
        """Return the oracle as it was put to people before, by its form, where `expecting` made the difference."""
        return self

    def empty(self) -> Counts:
        """Return the aggregate of no reports."""
        return np.zeros(self.kept, np.int64)

    def add(self, aggregate: Counts, columns: ReportColumns, times: int = 1) -> None:
        """Add a block of reports to an aggregate; -1 times takes reports out that are in there."""
        aggregate += times * self.supports(columns)

    @property
    def adds_on_all_cores(self) -> bool:
        """Whether a block of reports is added on all cores by itself: a second aggregate then makes nothing quicker."""
        return False

    def add_drawn(
        self, aggregate: Counts, answered: Answered, seed: int, generator: np.random.Generator | None
    ) -> None:
        """Add everyone's reports: made one by one, or what they add up to drawn, where that is quicker."""
        self.add(aggregate, self.reports(answered, seed))

    def reading(self, aggregate: Counts) -> AggregateReading:
        """Return an aggregate read; it may be the aggregate's own memory."""
        return AggregateReading(supports=aggregate)

    def decoded(self, aggregate: Counts) -> Counts:
        """Return the supports that an aggregate stands for."""
        return self.reading(aggregate).supports

    def lots(self, aggregate: Counts) -> Counts | None:
        """Return how many reports drew each of some lots that are all as likely.

        A lot is drawn without looking at the basket and told, such as the number of a seed. None where there are none.
        """
        return None

    def lot(self, columns: ReportColumns) -> NDArray[np.uint32]:
        """Return the lot that each report drew, where there are lots."""
        raise NotImplementedError
