"""Reconciliation of the number of people with the counts of patterns: no count exceeds the number of people.

The number of people gets a small share of the budget, so its noise often exceeds the noise of a count, and a noisy
count may be the larger number. The inputs are released numbers. The proof is in `reconciling.md`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..results import cut_to_range

F64 = NDArray[np.float64]

MIN_MARGIN = 0.5  # the rounding error of a whole number: a margin of 0 would have an infinite weight


class Reconciled(NamedTuple):
    """A number of people, and counts with intervals, each count at most the number of people."""

    people: int
    estimates: F64
    low: F64
    high: F64


def reconcile(people: int, people_margin: int, estimates: F64, low: F64, high: F64) -> Reconciled:
    """Return the nearest numbers in which no count exceeds the number of people, and wider intervals of the counts.

    1. Minimise (n - people)^2 / v + sum of (x_i - estimate_i)^2 / v_i over n >= x_i, where the variances are in
       proportion to the squared margins: pool the people with the largest counts, one by one, while the next count
       exceeds their weighted mean (isotonic regression for a star: Barlow et al. 1972, section 2.3).
    2. Keep n within the interval of the number of people; a number that is public stays as it is.
    3. Cut counts to n, with their intervals where n is public; else intervals reach down to the cut counts at least.

    Parameters
    ----------
    people, people_margin
        The number of people and the half width of its interval, both released; a margin of 0 if the number is public.
    estimates, low, high
        The released counts with their intervals.

    Examples
    --------
    >>> counts = np.array([609.0, 90.0])
    >>> agreed = reconcile(551, 60, counts, counts - 60, counts + 60)
    >>> agreed.people, agreed.estimates, agreed.low, agreed.high
    (580, array([580.,  90.]), array([549.,  30.]), array([669., 150.]))
    """
    # Intervals need not be symmetric: the wider side stands for the noise.
    margins = np.maximum(estimates - low, high - estimates)
    bound = float(people)
    if people_margin:
        bound = min(_pool_people(float(people), float(people_margin), estimates, margins), people + people_margin)
    people_bound = max(0, round(bound))
    if not people_margin:
        estimates, low, high = cut_to_range(estimates, low, high, most=people_bound)
        return Reconciled(people=people_bound, estimates=estimates, low=low, high=high)
    bounded = np.minimum(estimates, people_bound)
    return Reconciled(people=people_bound, estimates=bounded, low=np.minimum(low, bounded), high=high)


def people_interval(people: int, margin: int) -> tuple[int, int]:
    """Return both ends of the interval of a noisy number of people: cut to 0, with its reach kept.

    Examples
    --------
    >>> people_interval(500, 60), people_interval(-90, 60)
    ((440, 560), (0, 60))
    """
    return max(0, people - margin), max(0, people) + margin


def _pool_people(people: float, people_margin: float, estimates: F64, margins: F64) -> float:
    """Return the weighted mean of the number of people and of all counts above that mean."""
    order = np.argsort(-estimates, kind="stable")
    weights = 1 / np.maximum(np.concatenate(([people_margin], margins[order])), MIN_MARGIN) ** 2
    values = np.concatenate(([people], estimates[order]))
    means = np.cumsum(weights * values) / np.cumsum(weights)
    # means[k] is the mean of the people and of k counts. It rises while the next count exceeds it, and falls after.
    pool_ends = np.flatnonzero(~(values[1:] > means[:-1]))
    return float(means[pool_ends[0]] if len(pool_ends) else means[-1])
