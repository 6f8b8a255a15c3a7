"""The three parts of an oracle: a randomiser, a codec and an adder.

- The *randomiser* is the oracle's own class, in a file of its own: the integers that travel, one report, and its exact
  law (`local.oracle` for frequencies, `local.mean_oracle` for means).
- The *codec* turns reports into bytes, columns and words, and back. It is made of the `fields` that a randomiser lists.
- The *adder* turns columns into an aggregate and an aggregate into supports. Most oracles add up the supports of each
  block; a table of published seeds and the points of a space have adders of their own.

Where a report names a hash function, devices draw its seed afresh or from published seeds (`HashedOracle.seeds`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields as dataclass_fields
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from ._adding import Adder, Counts, SimulatedAnswers, SupportAdder
from ._codec import Codec, Field, ReportColumns

# The fields of all oracles: they travel under their own keys, or not at all.
_SHARED = frozenset({"epsilon", "size", "pad", "single", "span"})


@dataclass(frozen=True, kw_only=True)
class Randomiser(ABC):
    """The law of one report. A subclass lists the fields of a report and the supports of a block of reports.

    Parameters
    ----------
    epsilon
        The privacy loss of one report.
    """

    epsilon: Fraction

    name: ClassVar[str]

    @property
    @abstractmethod
    def fields(self) -> tuple[Field, ...]:
        """Return the fields of a report, in the order in which a device writes them."""

    @property
    @abstractmethod
    def longest_report(self) -> int:
        """Return the bytes of the longest report that a device sends for this question."""

    @property
    @abstractmethod
    def aggregate_size(self) -> int:
        """Return the number of whole numbers that an aggregate is read as."""

    @property
    def numbers(self) -> dict[str, Any]:
        """Return the oracle's own numbers in their JSON form, by the names that its class gives them.

        A weight (`inside`) is out of 2^64: it travels as digits, as JavaScript reads numbers beyond 2^53 inexactly.
        """
        # The fields of a class are its own numbers: a new oracle lists them once.
        names = (field.name for field in dataclass_fields(self) if field.name not in _SHARED)
        return {name: str(getattr(self, name)) if name == "inside" else getattr(self, name) for name in names}

    @property
    def bits(self) -> float:
        """Return the bits of a report."""
        return sum(field.bits for field in self.fields)

    @cached_property
    def codec(self) -> Codec:
        """Return the codec of its reports."""
        return Codec(oracle=self.name, longest=self.longest_report, fields=self.fields)

    @cached_property
    def adder(self) -> Adder:
        """Return the adder of its reports."""
        return SupportAdder(size=self.aggregate_size, supports=self.supports)

    @abstractmethod
    def reports(self, answered: SimulatedAnswers, seed: int) -> ReportColumns:
        """Return the report of each person, as columns: equal to `randomise` on the person's words."""

    @abstractmethod
    def supports(self, columns: ReportColumns) -> Counts:
        """Return the supports of a block of reports."""

    def expecting(self, people: int) -> Self:
        """Return the best variant of the oracle for a number of people: a public number, known before the round."""
        return self

    def as_asked(self, form: Mapping[str, Any]) -> Self:
        """Return the variant of the oracle that a round was asked with, from its form, after `expecting`."""
        return self

    def add_drawn(
        self, aggregate: Counts, answered: SimulatedAnswers, seed: int, generator: np.random.Generator | None
    ) -> None:
        """Add the report of each person; a subclass may draw the sums of all reports from a generator instead."""
        self.adder.add(aggregate, self.reports(answered, seed))
