"""The mean and the spread of several runs, with a suitable number of digits."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from statistics import fmean, stdev

from ..run.experiment import Metric


def compute_mean(numbers: Sequence[float]) -> tuple[float, float]:
    """Return the mean and the standard deviation of the finite numbers; NaN and 0 if no number is finite."""
    finite_numbers = [number for number in numbers if isfinite(number)]
    if not finite_numbers:
        return float("nan"), 0.0
    return fmean(finite_numbers), stdev(finite_numbers) if len(finite_numbers) > 1 else 0.0


def format_number(number: float, metric: Metric) -> str:
    """Return a number as text, with the digits of its metric."""
    return f"{number:.1e}" if metric.logarithmic else f"{number:.{metric.digits}f}"
