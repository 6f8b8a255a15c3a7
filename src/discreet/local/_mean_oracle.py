"""What a mean oracle is: how one number on a device becomes one report, and what the mean of many numbers is.

Numbers are whole, from -span to span, and stand for -1 to 1: a public grid, so that every probability is a whole
number over a power of two. A number beyond the range counts as its end (D5). The expected report is exactly linear in
the number, so estimates are exactly unbiased.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from secrets import token_bytes
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ..errors import MisuseError
from ._oracle import Answered, Counts, Report, ReportColumns, check_epsilon
from .device import ANSWERS, Draws, compute_ratio
from .oracle_steps import SHORT, Influence, Randomiser

SPAN = 1 << 10
_WIDEST = 1 << 16


@dataclass(frozen=True, kw_only=True)
class Mean:
    """An estimated mean.

    Parameters
    ----------
    value
        The mean, of numbers from -1 to 1; noise takes it beyond.
    variance
        How far it is off, as an estimate for everybody of whom these people are a random part.
    people
        How many reports it is made of.
    """

    value: float
    variance: float
    people: int


@dataclass(frozen=True, kw_only=True)
class MeanOracle(Randomiser):
    """A mean oracle.

    Parameters
    ----------
    span
        The largest number on a device, which stands for 1: a power of two.
    """

    span: int = SPAN

    name: ClassVar[str]
    summary: ClassVar[str]
    citation: ClassVar[str]
    # What it has in common with the oracles of frequencies: one value per person, and reports that add up exactly.
    size: ClassVar[int] = 1
    pad: ClassVar[int] = 1
    single: ClassVar[bool] = True
    drawn_together: ClassVar[bool] = True
    live: ClassVar[bool] = True
    delta: ClassVar[Fraction] = Fraction(0)
    # How many whole numbers reports add up to.
    kept: ClassVar[int] = 1

    def __post_init__(self) -> None:
        check_epsilon(self.epsilon)
        if not 1 <= self.span <= _WIDEST or self.span & (self.span - 1):
            raise MisuseError(f"The span of a mean is a power of two up to {_WIDEST:,}; {self.span:,} was given.")

    @classmethod
    @abstractmethod
    def make(cls, epsilon: Fraction, span: int = SPAN) -> Self:
        """Return the oracle with the best integers for these numbers."""

    @property
    @abstractmethod
    def square(self) -> tuple[Fraction, Fraction]:
        """The expected square of what one report is worth: the first, and the second times the value's square."""

    @property
    @abstractmethod
    def largest(self) -> Fraction:
        """The largest number one report can be worth."""

    @property
    def influence(self) -> Influence:
        """What one report can add to the sum, whose every true number is at most 1."""
        return Influence(people=self.largest, values=1)

    @abstractmethod
    def worth(self, columns: ReportColumns) -> NDArray[np.float64]:
        """Return the number each report speaks for: noisy, and right on average."""

    @abstractmethod
    def total(self, supports: Counts, people: int) -> float:
        """Return the sum of what reports are worth, from the whole numbers they add up to."""

    @property
    def longest_report(self) -> int:
        """The bytes of the longest report: all are short."""
        return SHORT

    @property
    def form(self) -> dict[str, Any]:
        """The oracle as it travels."""
        return {"oracle": self.name, "span": self.span, **self.numbers}

    @cached_property
    def ratio(self) -> Fraction:
        """How much likelier some report can be for one number than for another: at most e to the epsilon."""
        return compute_ratio(self.form)

    def randomise(self, value: int, take: Callable[[int], bytes] = token_bytes) -> Report:
        """Return the report of one device with this number."""
        return ANSWERS[self.name](self.form, [value], Draws(take))

    def variance(self, value: Fraction) -> Fraction:
        """Return the variance of what one report is worth, exactly, for a number from -1 to 1."""
        first, second = self.square
        return first + (second - 1) * value * value

    def estimate(self, supports: Counts, people: int) -> NDArray[np.float64]:
        """Return the mean, one number."""
        return np.array([self.total(supports, people) / people if people else 0.0])

    def spread(self, values: NDArray[np.float64], people: int) -> NDArray[np.float64]:
        """Return the variance of the mean, as an estimate for everybody.

        It is exact where the square of a report's worth does not depend on the number (duchi), and otherwise the
        largest that numbers of this mean can have.
        """
        if not people:
            return np.full(1, np.inf)
        first, second = map(float, self.square)
        return (first + second - np.minimum(values * values, 1.0)) / people

    def mean(self, columns: ReportColumns) -> Mean:
        """Return the mean of reports with its variance."""
        people = len(next(iter(columns.values())))
        value = self.estimate(self.supports(columns), people)
        return Mean(value=float(value[0]), variance=float(self.spread(value, people)[0]), people=people)

    def clipped(self, answered: Answered) -> NDArray[np.int64]:
        """Return everyone's one number, within the range (D5)."""
        return np.clip(answered.held, -self.span, self.span).astype(np.int64)
