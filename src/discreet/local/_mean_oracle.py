"""A mean oracle: the randomisation of a device's number as one report, and the mean of many reports.

Numbers are integers from -span to span, for -1 to 1: a public grid, on which every probability is an integer over a
power of two. A number outside the range counts as its nearest end (D5). The expected report is exactly linear in the
number, so that estimates are exactly unbiased.
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
from ._oracle import Counts, Report, ReportColumns, SimulatedAnswers, check_epsilon
from .device import ANSWERS, Draws, compute_ratio
from .oracle_steps import SHORT, Influence, Randomiser

SPAN = 1 << 10  # the grid moves a number by at most 2^-11, below the noise of a million reports at epsilon 1
_MAX_SPAN = 1 << 16  # larger: finer numbers; smaller: more of the 2^32 thresholds for each step of the grid


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
    # As an oracle of frequencies it would have one value per person, and reports that add up exactly.
    size: ClassVar[int] = 1
    pad: ClassVar[int] = 1
    single: ClassVar[bool] = True
    drawn_together: ClassVar[bool] = True
    live: ClassVar[bool] = True
    delta: ClassVar[Fraction] = Fraction(0)
    # The length of the aggregate.
    aggregate_size: ClassVar[int] = 1

    def __post_init__(self) -> None:
        check_epsilon(self.epsilon)
        if not 1 <= self.span <= _MAX_SPAN or self.span & (self.span - 1):
            raise MisuseError(f"The span of a mean is a power of two up to {_MAX_SPAN:,}; {self.span:,} was given.")

    @classmethod
    @abstractmethod
    def make(cls, epsilon: Fraction, span: int = SPAN) -> Self:
        """Return the oracle with the integers of least variance within epsilon."""

    @property
    @abstractmethod
    def square(self) -> tuple[Fraction, Fraction]:
        """The numbers a and b of the expected square of a report's worth, a + b * value**2."""

    @property
    @abstractmethod
    def largest(self) -> Fraction:
        """The largest worth of a report."""

    @property
    def influence(self) -> Influence:
        """The largest influence of one report on the sum, to which a person adds at most 1."""
        return Influence(people=self.largest, values=1)

    @abstractmethod
    def worth(self, columns: ReportColumns) -> NDArray[np.float64]:
        """Return the worth of each report: an unbiased estimate of its number, from -1 to 1 without noise."""

    @abstractmethod
    def total(self, supports: Counts, people: int) -> float:
        """Return the sum of the worths of the reports, from their aggregate."""

    @property
    def longest_report(self) -> int:
        """The bytes of the longest report: all are short."""
        return SHORT

    @property
    def form(self) -> dict[str, Any]:
        """The oracle in its JSON form."""
        return {"oracle": self.name, "span": self.span, **self.numbers}

    @cached_property
    def ratio(self) -> Fraction:
        """The largest ratio of the probabilities of a report for two numbers: at most e^epsilon."""
        return compute_ratio(self.form)

    def randomise(self, value: int, take: Callable[[int], bytes] = token_bytes) -> Report:
        """Return the report of one device with this number; `take` is the source of random bytes."""
        return ANSWERS[self.name](self.form, [value], Draws(take))

    def variance(self, value: Fraction) -> Fraction:
        """Return the variance of the worth of one report, exactly, for a number from -1 to 1."""
        constant, factor = self.square
        return constant + (factor - 1) * value * value

    def estimate(self, supports: Counts, people: int) -> NDArray[np.float64]:
        """Return the mean as an array of one number."""
        return np.array([self.total(supports, people) / people if people else 0.0])

    def spread(self, values: NDArray[np.float64], people: int) -> NDArray[np.float64]:
        """Return the variance of the mean as an estimate about all people.

        It is exact if the square of a report's worth does not depend on the number (duchi), and otherwise the largest
        variance of numbers with this mean.
        """
        if not people:
            return np.full(1, np.inf)
        constant, factor = map(float, self.square)
        return (constant + factor - np.minimum(values * values, 1.0)) / people

    def kernel_arguments(
        self, answered: SimulatedAnswers, seed: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], np.uint64]:
        """Return the first arguments of each kernel: the clipped numbers (D5), the people, and the seed."""
        return np.clip(answered.values, -self.span, self.span).astype(np.int64), answered.people, np.uint64(seed)
