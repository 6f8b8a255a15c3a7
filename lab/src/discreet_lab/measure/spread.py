"""Several runs as one number: mean and spread, and as many digits as say something."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from statistics import fmean, stdev

from ..run.experiment import Metric


def middle(numbers: Sequence[float]) -> tuple[float, float]:
    """Return the mean and the standard deviation of the numbers that are there."""
    there = [number for number in numbers if isfinite(number)]
    if not there:
        return float("nan"), 0.0
    return fmean(there), stdev(there) if len(there) > 1 else 0.0


def shown(number: float, metric: Metric) -> str:
    """Return a number with as many digits as say something."""
    return f"{number:.1e}" if metric.logarithmic else f"{number:.{metric.digits}f}"
