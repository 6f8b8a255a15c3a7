"""Intervals of noisy numbers that are cut to the range in which the true number lies.

A count is cut to 0 and to a public number of people. The noise does not know of that range, and what it says must not
be lost with the cut: an interval such as [n, n] would state a noisy count as one that is known exactly.
"""

from __future__ import annotations

from math import log

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]

SINGLE_FAILURE = 0.05  # how often a stated interval of one count, or of the number of people, may fail
FALSE_SHARE = 0.05  # of the patterns over a threshold with an interval over 0, the part that nobody may hold


def cut_to_range(
    estimates: F64, low: F64, high: F64, *, least: float = -np.inf, most: float = np.inf
) -> tuple[F64, F64, F64]:
    """Return estimates and intervals within a range; an estimate that is cut keeps the reach of its interval.

    The true number t lies in the range, so a cut moves the estimate x to x' with |x' - t| <= |x - t|. An interval
    around x' with the same reach therefore holds t whenever the interval around x does. Its reach towards the range is
    half the length of the interval at least: a mechanism may have moved one end already.

    Parameters
    ----------
    estimates, low, high
        Estimates with their intervals; each estimate lies within its own.
    least, most
        The ends of the range.

    Examples
    --------
    >>> column = np.array([130.0, 95.0, -8.0])
    >>> [part.tolist() for part in cut_to_range(column, column - 20, column + 20, least=0, most=100)]
    [[100.0, 95.0, 0.0], [80.0, 75.0, 0.0], [100.0, 100.0, 20.0]]
    """
    half = (high - low) / 2
    cut = np.clip(estimates, least, most)
    reaching_down = np.minimum(low, cut - np.maximum(estimates - low, half))
    reaching_up = np.maximum(high, cut + np.maximum(high - estimates, half))
    low = np.where(estimates >= most, reaching_down, low)
    high = np.where(estimates <= least, reaching_up, high)
    return cut, np.clip(low, least, most), np.clip(high, least, most)


def whole_counts(estimates: F64, low: F64, high: F64) -> tuple[NDArray[np.int64], F64, F64]:
    """Return estimates and intervals as whole numbers, from 0 on.

    True counts are whole, so nothing is lost by whole ends; and a count that is shown lies within its interval.
    """
    estimates, low, high = cut_to_range(estimates, low, high, least=0)
    counts = np.rint(estimates).astype(np.int64)
    return counts, np.minimum(np.ceil(low), counts), np.maximum(np.floor(high), counts)


def lower_doubtful(estimates: F64, low: F64, candidate_count: int) -> F64:
    """Return the lower ends of patterns over a threshold: 0 for those that noise alone may have lifted over it.

    1. A pattern that nobody holds has an estimate x with P(noise >= x) <= .05^(x / (x - low + 1)): the noise is
       log-concave, and more than x - low in 5 of 100 cases at most (see `simultaneous`). That is its p-value.
    2. Sort the p-values of the patterns shown. The last one with p_(k) <= .05 k / candidate_count ends those that keep
       their intervals (Benjamini, Hochberg 1995). So of these, 5 of 100 are held by nobody at most, on average.

    Parameters
    ----------
    estimates, low
        The estimates of the patterns shown, and the lower ends of their 95 % intervals.
    candidate_count
        The number of itemsets that were counted with the same noise, and of which these are shown.

    Examples
    --------
    >>> estimates = np.array([90.0, 40.0, 12.0])
    >>> lower_doubtful(estimates, estimates - 9, 3).tolist(), lower_doubtful(estimates, estimates - 9, 5_000).tolist()
    ([81.0, 31.0, 3.0], [81.0, 31.0, 0.0])
    """
    log_p = np.where(low > 0, estimates / (estimates - low + 1) * log(SINGLE_FAILURE), 0.0)
    ranks = np.arange(1, len(log_p) + 1)
    order = np.argsort(log_p, kind="stable")
    passing = np.flatnonzero(log_p[order] <= np.log(FALSE_SHARE * ranks / max(candidate_count, len(log_p), 1)))
    kept = order[: passing[-1] + 1] if len(passing) else order[:0]
    lowered = np.minimum(low, 0.0)
    lowered[kept] = low[kept]
    return lowered
