"""What a mechanism is: a frozen value with its settings, asked one question over an engine and a meter.

A mechanism lives in one file of this room, with its proof page beside it. The registry finds it there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..baskets.core import Unit
from ..baskets.lineage import Lineage
from ..errors import MisuseError, told
from ..exact.universe import Universe
from ..privacy.budget import Budget
from ..privacy.meter import Meter
from ..privacy.sealed import SealedEngine
from ..registry.settings import settle
from ..results.itemsets import Itemsets

Answers: TypeAlias = Literal["top", "threshold", "itemsets"]
Plan: TypeAlias = list[tuple[str, Fraction]]


@dataclass(frozen=True, kw_only=True)
class Task:
    """The question, in public and released values only.

    Parameters
    ----------
    top
        How many patterns, or None.
    count
        The threshold as a number of people, or None.
    least, longest, bounded
        How many items a pattern may have; `bounded` says whether the longest was given, or follows from the rest.
    items
        How many items the public list has. Patterns are of codes from 0 to before it. Very many where there is no list
        and the mechanism finds the items itself.
    fixed, alone
        How many items every pattern has beside those, and whether they are a pattern by themselves: for messages.
    people, people_margin, counted
        The number of people: public, or released with noise; then how far off it may be, with 95 % confidence. Where
        every pattern has some items beside, `counted` says whether it is of those who hold these, the only ones an
        engine knows, or of all.
    counts
        Whether the counts are wanted too, or the patterns only.
    itemsets
        The itemsets to count, where they are given.
    epsilon
        What the whole release may spend, for mechanisms that plan in absolute numbers.
    among
        Which patterns there are to find, in words, where it is not all of the list of items: what is promised about
        the result is promised about these.
    unit
        What counts are of, and `people` is the number of: people, or baskets where a person may have several.
    lineage
        Which items stand above which, where some do: no pattern has two of which one stands above the other.
    """

    top: int | None = None
    count: int | None = None
    least: int
    longest: int
    bounded: bool = False
    items: int
    fixed: int = 0
    alone: bool = False
    people: int
    people_margin: int = 0
    counted: bool = True
    counts: bool = True
    itemsets: Itemsets | None = None
    epsilon: Fraction | None = None
    among: str = ""
    unit: Unit = "people"
    lineage: Lineage | None = None

    def universe(self, longest: int | None = None) -> Universe:
        """Return all patterns there are of the lengths that were asked for, or up to another longest one."""
        return Universe(self.items, self.least, self.longest if longest is None else longest, self.lineage)

    def antichains(self, itemsets: Itemsets) -> NDArray[np.bool_]:
        """Say which itemsets may be patterns: those in which no item stands above another."""
        if self.lineage is None:
            return np.ones(len(itemsets), np.bool_)
        return self.lineage.antichains(itemsets.offsets, itemsets.codes)

    @property
    def crowd(self) -> int:
        """The most people there are, as far as public and released numbers say."""
        return self.people + self.people_margin

    @property
    def known_people(self) -> tuple[float, float] | None:
        """How many people an engine knows and the variance of that number; None where it is of others too."""
        return (float(self.people), (self.people_margin / 1.96) ** 2) if self.counted else None


@dataclass(frozen=True, kw_only=True, eq=False)
class Found:
    """What a mechanism found: itemsets with an estimate of each count and an interval for the true one.

    Everything in it is released: it is made of noisy values and of public ones.

    Parameters
    ----------
    itemsets
        The patterns, in codes of the engine.
    estimates, low, high
        The estimated number of people who hold each, and a 95 % interval; None where only patterns were asked for.
    facts
        Numbers that were found on the way and released, by name in plain words.
    notes
        Sentences for the reader: what was chosen and why, and what is promised about the result.
    chosen
        The mechanism that did the work, where another one chose it.
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
    # Whether it needs a delta (True), never uses one (False), or takes either (None).
    delta: ClassVar[bool | None] = None
    # Whether it finds its items itself, where no list of them is public.
    finds: ClassVar[bool] = False
    model: ClassVar[Literal["central"]] = "central"

    def __post_init__(self) -> None:
        settle(self)

    def check(self, task: Task, budget: Budget) -> None:
        """Refuse what this mechanism cannot do, from public values alone and before anything is spent."""
        if task.top is not None and "top" not in self.answers:
            raise MisuseError(
                told(
                    "{name} finds patterns over a threshold: give {min_support} or {min_count}, not {top}.",
                    name=self.name,
                )
            )
        if task.count is not None and "threshold" not in self.answers:
            raise MisuseError(
                told("{name} finds the top patterns: give {top}, not {min_support} or {min_count}.", name=self.name)
            )
        if self.delta is True and budget.pure:
            raise MisuseError(told("{name} needs a delta over 0, such as {delta=1e-6}.", name=self.name))
        if self.delta is False and not budget.pure:
            raise MisuseError(
                told("{name} is a pure mechanism and makes no use of a delta: leave {delta} out.", name=self.name)
            )

    @abstractmethod
    def plan(self, task: Task) -> Plan:
        """Return what the budget will be spent on: shares by name, known before the data are looked at."""

    @abstractmethod
    def run(self, engine: SealedEngine, task: Task, meter: Meter) -> Found:
        """Find the patterns. From here on nothing but what the meter returns may depend on the data."""


def settings_of(how: Mechanism) -> dict[str, Any]:
    """Return the settings a mechanism has, as plain values."""
    values = {setting.name: getattr(how, setting.name) for setting in fields(how)}  # type: ignore[arg-type]
    return {name: str(value) if isinstance(value, Fraction) else value for name, value in values.items()}
