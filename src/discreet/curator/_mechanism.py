"""The contract of mechanisms: a frozen value with settings, which answers one question with an engine and a meter.

A mechanism has one file in this room, with its proof page beside it. The registry finds it there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import MisuseError
from ..privacy import Budget, Meter, SealedEngine
from ..registry import settle
from ..results import Itemsets
from ._problem import Problem

Answers: TypeAlias = Literal["top", "threshold", "itemsets"]
Plan: TypeAlias = list[tuple[str, Fraction]]


@dataclass(frozen=True, kw_only=True, eq=False)
class Found:
    """The result of a mechanism: itemsets with an estimate of each count and an interval for the true count.

    All values are released: they derive from noisy and public values.

    Parameters
    ----------
    itemsets
        The patterns, in codes of the engine.
    estimates, low, high
        The estimated number of holders of each pattern, and a 95 % interval; None where only patterns are
        requested.
    facts
        Released numbers from the run, by name in plain words.
    notes
        Sentences for the reader: the choices with their reasons, and the promises about the result.
    chosen
        The mechanism that did the work, where the mechanism of the question delegated it.
    """

    itemsets: Itemsets
    estimates: NDArray[np.float64] | None
    low: NDArray[np.float64] | None = None
    high: NDArray[np.float64] | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    chosen: Mechanism | None = None


class Mechanism(ABC):
    """A private algorithm on the curator's side. Subclasses are frozen dataclasses; their fields are the settings."""

    name: ClassVar[str]
    summary: ClassVar[str]
    citation: ClassVar[str]
    answers: ClassVar[tuple[Answers, ...]]
    # Whether the mechanism needs a delta (True), never uses one (False), or takes either (None).
    delta: ClassVar[bool | None] = None
    # Whether the mechanism selects its items itself, where no list of items is public.
    finds: ClassVar[bool] = False
    model: ClassVar[Literal["central"]] = "central"

    def __post_init__(self) -> None:
        settle(self)

    def check(self, problem: Problem, budget: Budget) -> None:
        """Refuse questions beyond this mechanism, from public values alone and before any spending."""
        if problem.top is not None and "top" not in self.answers:
            raise MisuseError.format(
                "{name} finds patterns over a threshold: give {min_support} or {min_count}, not {top}.", name=self.name
            )
        if problem.threshold is not None and "threshold" not in self.answers:
            raise MisuseError.format(
                "{name} finds the top patterns: give {top}, not {min_support} or {min_count}.", name=self.name
            )
        if self.delta is True and budget.pure:
            raise MisuseError.format("{name} needs a delta over 0, such as {delta=1e-6}.", name=self.name)
        if self.delta is False and not budget.pure:
            raise MisuseError.format(
                "{name} is a pure mechanism and makes no use of a delta: leave {delta} out.", name=self.name
            )

    @abstractmethod
    def plan(self, problem: Problem) -> Plan:
        """Return the shares of the budget by step name, from public values alone."""

    @abstractmethod
    def run(self, engine: SealedEngine, problem: Problem, meter: Meter) -> Found:
        """Find the patterns. Only values that the meter returns may depend on the data."""


def settings_of(mechanism: Mechanism) -> dict[str, Any]:
    """Return the settings of a mechanism as plain values."""
    values = {setting.name: getattr(mechanism, setting.name) for setting in fields(mechanism)}  # type: ignore[arg-type]
    return {name: str(value) if isinstance(value, Fraction) else value for name, value in values.items()}
