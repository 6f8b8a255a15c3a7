"""The number of people and the counts of patterns, made to agree: no pattern is held by more people than there are.

The number of people gets a small share of the budget, so its noise is often longer than that of a count, and a noisy
count may be the larger one. Only released numbers are looked at. The proof is in `reconciling.md`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..results import cut_to_range

F64 = NDArray[np.float64]

LEAST_MARGIN = 0.5  # of a whole number without noise, so that every number has a weight


@dataclass(frozen=True, kw_only=True, eq=False)
class Reconciled:
    """The number of people, and counts with their intervals, of which none is over that number."""

    people: int
    estimates: F64
    low: F64
    high: F64


def reconcile(people: int, people_margin: int, estimates: F64, low: F64, high: F64) -> Reconciled:
    """Return the nearest numbers of which no count is over the number of people, and wider intervals of the counts.

    1. Minimise (n - people)^2 / v + sum of (x_i - estimate_i)^2 / v_i over n >= x_i, where the variances are in
       proportion to the squared margins: pool the people with the largest counts, one by one, as long as the next count
       is over their weighted mean (isotonic regression for a star: Barlow et al. 1972, section 2.3).
    2. Keep n within the interval of the number of people; a number that is public stays as it is.
    3. Cut counts to n, with their intervals where n is public; else intervals reach down to the cut counts at least.

    Parameters
    ----------
    people, people_margin
        The number of people and how far off it may be, both released; a margin of 0 where the number is public.
    estimates, low, high
        The released counts with their intervals.

    Examples
    --------
    >>> counts = np.array([609.0, 90.0])
    >>> made = reconcile(551, 60, counts, counts - 60, counts + 60)
    >>> made.people, made.estimates, made.low, made.high
    (580, array([580.,  90.]), array([549.,  30.]), array([669., 150.]))
    """
    margins = np.maximum(estimates - low, high - estimates)
    bound = float(people)
    if people_margin:
        bound = min(_pooled(float(people), float(people_margin), estimates, margins), people + people_margin)
    whole = max(0, round(bound))
    if not people_margin:
        estimates, low, high = cut_to_range(estimates, low, high, most=whole)
        return Reconciled(people=whole, estimates=estimates, low=low, high=high)
    cut = np.minimum(estimates, whole)
    return Reconciled(people=whole, estimates=cut, low=np.minimum(low, cut), high=high)


def people_interval(people: int, margin: int) -> tuple[int, int]:
    """Return the interval of a noisy number of people, which is cut to 0 and keeps its reach.

    Examples
    --------
    >>> people_interval(500, 60), people_interval(-90, 60)
    ((440, 560), (0, 60))
    """
    return max(0, people - margin), max(0, people) + margin


def _pooled(people: float, people_margin: float, estimates: F64, margins: F64) -> float:
    """Return the weighted mean of the people and of the counts that lie over it."""
    order = np.argsort(-estimates, kind="stable")
    weights = 1 / np.maximum(np.concatenate(([people_margin], margins[order])), LEAST_MARGIN) ** 2
    values = np.concatenate(([people], estimates[order]))
    means = np.cumsum(weights * values) / np.cumsum(weights)
    # The mean rises while the next count is over it, and falls from there on: means[k] is that of people and k counts.
    over = np.flatnonzero(~(values[1:] > means[:-1]))
    return float(means[over[0]] if len(over) else means[-1])
