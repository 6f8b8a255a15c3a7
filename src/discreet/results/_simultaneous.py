"""Intervals of supports that hold all at once, made of intervals that hold one by one.

A result states a 95 % interval for each count, and not the law of its noise. One property of that law suffices here:
the noise is log-concave, as discrete Laplace and discrete Gaussian noise and sums of them are (a convolution of
log-concave laws is log-concave: Ibragimov 1956). Then log S is concave for the survival function
S(k) = P(|noise| >= k), with S(0) = 1, so S(r k) <= S(k)^r for r >= 1. An interval that fails in 5 of 100 cases fails
in .05^r once its reach is r times as long.

Where at most so many baskets of a person take part, intervals cover the draw of these too. It is a sum of independent
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

FAMILY_FAILURE = 0.05  # how often any interval of a comparison may fail


def stretch_of(interval_count: int) -> float:
    """Return how many times longer the reach of each of several intervals must be, for all of them to hold at once.

    Each may fail in FAMILY_FAILURE / interval_count of all cases (Bonferroni): .05^r = .05 / interval_count.

    Examples
    --------
    >>> stretch_of(1), round(stretch_of(60), 2)
    (1.0, 2.37)
    """
    return max(1.0, log(FAMILY_FAILURE / max(interval_count, 1)) / log(SINGLE_FAILURE))


def interval_count_of(patterns: Patterns, compared_count: int) -> int:
    """Return the number of intervals that supports of so many patterns rest on."""
    if patterns.low is None or not compared_count:
        return 0
    return compared_count + (patterns.people_within is not None)


def stretched_supports(patterns: Patterns, stretch: float) -> Ends:
    """Return the lowest and the highest support of each pattern, with intervals whose reach is so many times longer."""
    if patterns.low is None or patterns.high is None:
        if patterns.provenance is None:
            return patterns.supports, patterns.supports
        # Private counts of which no interval says how noisy they are.
        return np.zeros(len(patterns)), np.ones(len(patterns))
    if patterns.provenance is not None and BIAS_FACT in (patterns.provenance.facts or {}):
        return np.zeros(len(patterns)), np.ones(len(patterns))
    counts = patterns.counts.astype(np.float64)
    most = patterns.people if patterns.people_within is None else np.inf
    reach = _stretched(_reach(counts, patterns.low, patterns.high, most), stretch)
    people: tuple[float, float] = (patterns.people, patterns.people)
    if patterns.people_within is not None:
        fewest, most = patterns.people_within
        people_reach = float(_stretched(np.array(max(patterns.people - fewest, most - patterns.people)), stretch))
        people = patterns.people - people_reach, patterns.people + people_reach
    return shares(people, (counts - reach, counts + reach))


def _stretched(reach: NDArray[Any], stretch: float) -> NDArray[Any]:
    # |noise| <= m is |noise| < m + 1 in whole numbers, also where m is 0: noise that is 0 in 95 of 100 cases is not in
    # the others. The 1 also covers ends and counts that were rounded inwards.
    return (reach + 1) * stretch - 1


def _reach(counts: NDArray[Any], low: NDArray[Any], high: NDArray[Any], most: float) -> NDArray[Any]:
    """Return how far the noise of each count reaches to either side.

    A result cuts its intervals at 0 and at a public number of people, `most`, which makes one side shorter: the longer
    side is the reach. Results of earlier versions cut both sides where the count itself was cut. Such a count has the
    longest reach of the others at least, and any reach where its own is 0 and there are no others.
    """
    reach: NDArray[Any] = np.maximum(high - counts, counts - low)
    cut = (counts <= 0) | (counts >= most)
    reach[cut] = np.maximum(reach[cut], reach[~cut].max(initial=0))
    reach[cut & (reach <= 0)] = np.inf
    return reach
