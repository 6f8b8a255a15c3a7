"""Intervals of supports that hold all at once, computed from intervals that hold one by one.

A result states a 95 % interval for each count, and not the law of its noise. One property of that law suffices here:
the noise is log-concave, as discrete Laplace and discrete Gaussian noise and sums of them are (a convolution of
log-concave laws is log-concave: Ibragimov 1956). Then log S is concave for the survival function
S(k) = P(|noise| >= k), with S(0) = 1, so S(r k) <= S(k)^r for r >= 1. An interval that fails in 5 of 100 cases fails
in .05^r once its reach is r times as long.

With a cap on the baskets of a person, intervals cover the draw of these baskets too. It is a sum of independent
hypergeometric counts, which are log-concave as well (`publish/basket_cap.md`).
"""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._intervals import SINGLE_FAILURE
from ._measures import Ends, shares
from ._patterns import Patterns
from ._provenance import BIAS_FACT

FAMILY_FAILURE = 0.05  # the probability that any interval of a comparison fails: the usual level


def stretch_of(interval_count: int) -> float:
    """Return the factor by which the reach of several intervals must grow, for all to hold at once.

    Each may fail in FAMILY_FAILURE / interval_count of all cases (Bonferroni): .05^r = .05 / interval_count.

    Examples
    --------
    >>> stretch_of(1), round(stretch_of(60), 2)
    (1.0, 2.37)
    """
    return max(1.0, log(FAMILY_FAILURE / max(interval_count, 1)) / log(SINGLE_FAILURE))


def interval_count_of(patterns: Patterns, compared_count: int) -> int:
    """Return the number of intervals on which the supports of some compared patterns rest."""
    if patterns.low is None or not compared_count:
        return 0
    return compared_count + (patterns.people_within is not None)


def stretched_supports(patterns: Patterns, stretch: float) -> Ends:
    """Return the lowest and the highest support of each pattern, with the reach of intervals times `stretch`."""
    if patterns.low is None or patterns.high is None:
        if patterns.provenance is None:
            return patterns.supports, patterns.supports
        # Private counts with an unknown noise: a support may be anything.
        return np.zeros(len(patterns)), np.ones(len(patterns))
    # A bias beyond the intervals has no known size, so the support may be anything.
    if patterns.provenance is not None and BIAS_FACT in (patterns.provenance.facts or {}):
        return np.zeros(len(patterns)), np.ones(len(patterns))
    counts = patterns.counts.astype(np.float64)
    # Counts are cut at a public number of people alone: a noisy one is no bound.
    max_count = patterns.people if patterns.people_within is None else np.inf
    reach = _stretched(_reach(counts, patterns.low, patterns.high, max_count), stretch)
    people: tuple[float, float] = (patterns.people, patterns.people)
    if patterns.people_within is not None:
        fewest, max_count = patterns.people_within
        people_reach = float(_stretched(np.array(max(patterns.people - fewest, max_count - patterns.people)), stretch))
        people = patterns.people - people_reach, patterns.people + people_reach
    return shares(people, (counts - reach, counts + reach))


def _stretched(reach: NDArray[Any], stretch: float) -> NDArray[Any]:
    # |noise| <= m is |noise| < m + 1 in whole numbers, also for m = 0: noise that is 0 in 95 of 100 cases is larger in
    # 5 cases. The 1 also covers ends and counts that were rounded inwards.
    return (reach + 1) * stretch - 1


def _reach(counts: NDArray[Any], low: NDArray[Any], high: NDArray[Any], max_count: float) -> NDArray[Any]:
    """Return the reach of the noise of each count to either side.

    A result cuts its intervals at 0 and at a public number of people, `max_count`, which shortens one side: the longer
    side is the reach. Earlier versions cut both sides of a cut count. A cut count gets at least the longest reach of
    the uncut counts, and an infinite reach if it is still 0.
    """
    # The longer side: an interval that was cut on one side has its whole reach on the other.
    reach: NDArray[Any] = np.maximum(high - counts, counts - low)
    is_cut = (counts <= 0) | (counts >= max_count)
    reach[is_cut] = np.maximum(reach[is_cut], reach[~is_cut].max(initial=0))
    reach[is_cut & (reach <= 0)] = np.inf
    return reach
