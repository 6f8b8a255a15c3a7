"""How far the draw of baskets under a cap may move a count, from released numbers alone: intervals that cover it too.

A person with n baskets, of which at most c take part, has c of them drawn where n > c. The count of a pattern among the
drawn baskets is then an estimate of the *weighed count*, in which each basket of such a person weighs c / n: a number
that the data and the cap decide, whatever was drawn. So it is what intervals are for. The proof is in `basket_cap.md`.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]

# A 95 % interval, as all intervals of releases are.
NORMAL_QUANTILE = NormalDist().inv_cdf(0.975)


def cover_draw(estimates: F64, low: F64, high: F64, baskets: float) -> tuple[F64, F64]:
    """Return intervals for the weighed counts, made of intervals for the counts among the drawn baskets.

    1. The variance of the draw is at most t * (1 - t / B) for a weighed count t of B baskets (Hoeffding 1956, 1963).
       Its largest value over the interval of the count is taken.
    2. The reach of the draw is that of a score interval (Wilson 1927): z**2 / 2 + z * sqrt(variance + z**2 / 4).
    3. Noise and draw are independent: the squares of their reaches add up. Ends are whole numbers, rounded outwards.

    Parameters
    ----------
    estimates, low, high
        The released counts, with intervals that cover the noise.
    baskets
        The highest number of baskets that may take part, released.

    Examples
    --------
    >>> counts = np.array([5_000.0, 3.0])
    >>> [ends.tolist() for ends in cover_draw(counts, counts - 30, counts + 30, 10_000)]
    [[4895.0, -30.0], [5105.0, 36.0]]
    """
    most = np.maximum(baskets, high)
    farthest = np.clip(most / 2, np.maximum(low, 0), np.maximum(high, 0))
    variance = farthest * (1 - farthest / np.maximum(most, 1))
    reach = NORMAL_QUANTILE**2 / 2 + NORMAL_QUANTILE * np.sqrt(variance + NORMAL_QUANTILE**2 / 4)
    return np.floor(estimates - np.hypot(estimates - low, reach)), np.ceil(
        estimates + np.hypot(high - estimates, reach)
    )
