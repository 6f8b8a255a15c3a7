"""Intervals of noisy numbers that are cut to the range in which the true number lies.

A count is cut to 0 and to a public number of people. The noise does not know this range, and its reach must survive the
cut: an interval [n, n] would state a noisy count as an exact one.
"""

from __future__ import annotations

from math import log

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]

SINGLE_FAILURE = 0.05  # the probability that the interval of one count, or of the number of people, fails
FALSE_SHARE = 0.05  # the false discovery rate: patterns without holders among patterns with an interval above 0


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
    in_range = np.clip(estimates, least, most)
    reaching_down = np.minimum(low, in_range - np.maximum(estimates - low, half))
    reaching_up = np.maximum(high, in_range + np.maximum(high - estimates, half))
    low = np.where(estimates >= most, reaching_down, low)
    high = np.where(estimates <= least, reaching_up, high)
    return in_range, np.clip(low, least, most), np.clip(high, least, most)


def whole_counts(estimates: F64, low: F64, high: F64) -> tuple[NDArray[np.int64], F64, F64]:
    """Return estimates and intervals as whole numbers, from 0 on.

    True counts are whole, so whole ends lose no coverage; and a shown count lies within its interval.
    """
    estimates, low, high = cut_to_range(estimates, low, high, least=0)
    counts = np.rint(estimates).astype(np.int64)
    return counts, np.minimum(np.ceil(low), counts), np.maximum(np.floor(high), counts)


def lower_doubtful(estimates: F64, low: F64, candidate_count: int) -> F64:
    """Return the lower ends of patterns over a threshold, with 0 for a pattern that noise may have lifted over it.

    1. A pattern without holders has an estimate x with P(noise >= x) <= .05^(x / (x - low + 1)): the noise is
       log-concave, and more than x - low in 5 of 100 cases at most (see `simultaneous`). This is its p-value.
    2. Sort the p-values of the shown patterns. The patterns up to the last p_(k) <= .05 k / candidate_count keep their
       intervals (Benjamini, Hochberg 1995). On average at most 5 of 100 among them have no holder.

    Parameters
    ----------
    estimates, low
        The estimates of the patterns shown, and the lower ends of their 95 % intervals.
    candidate_count
        The number of itemsets counted with equal noise, from which the shown patterns were selected.

    Examples
    --------
    >>> estimates = np.array([90.0, 40.0, 12.0])
    >>> lower_doubtful(estimates, estimates - 9, 3).tolist(), lower_doubtful(estimates, estimates - 9, 5_000).tolist()
    ([81.0, 31.0, 3.0], [81.0, 31.0, 0.0])
    """
    # Logarithms: the p-values of large counts are below the smallest float.
    log_p = np.where(low > 0, estimates / (estimates - low + 1) * log(SINGLE_FAILURE), 0.0)
    ranks = np.arange(1, len(log_p) + 1)
    order = np.argsort(log_p, kind="stable")
    passing = np.flatnonzero(log_p[order] <= np.log(FALSE_SHARE * ranks / max(candidate_count, len(log_p), 1)))
    kept_rows = order[: passing[-1] + 1] if len(passing) else order[:0]
    result = np.minimum(low, 0.0)
    result[kept_rows] = low[kept_rows]
    return result
