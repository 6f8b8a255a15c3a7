"""People with several baskets: the cap on the baskets of a person, and the width of the intervals of counts.

1. `choose_cap`: a larger cap means more noise, as one person moves each count by up to the cap; a smaller cap discards
   data, and not evenly over people. The cap is chosen from a noisy histogram, for a pattern of typical support.
2. `cover_draw`: a person with n baskets and a cap c < n has c baskets drawn at random. The count of a pattern among the
   drawn baskets estimates the *weighed count*, in which each basket of the person weighs c / n. The weighed count
   depends on the data and the cap alone, so intervals are for it, and cover noise and draw.

All inputs are released or public. The proof is in `basket_cap.md`.
"""

from __future__ import annotations

from fractions import Fraction
from math import hypot, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from ..curator.steps import LOSS_SPREAD, Histogram, denoise_histogram
from ..exact import BasketCount, BasketsEach
from ..privacy import Meter, Noisy
from ..wording import number_of

F64 = NDArray[np.float64]

# The lower ends of the histogram's bins, and the possible caps: public, not the largest number in the data. Steps of a
# half or a third of an octave, as caps of 2 to 32 miss within .05 as many of the top 50 pairs (`basket_cap.md`).
CAPS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
# The cap is chosen for a pattern in this fraction of the baskets that is counted with this share of the budget. Neither
# was fitted to data: a larger support or share raises the cap.
TYPICAL_SUPPORT = 0.02
TYPICAL_SHARE = Fraction(1, 10)
# A 95 % interval, as all intervals of releases are.
NORMAL_QUANTILE = NormalDist().inv_cdf(0.975)


def each_query() -> BasketsEach:
    """Return the query for the number of people per bin of basket numbers."""
    return BasketsEach(CAPS)


def choose_cap(noisy: Noisy, meter: Meter) -> int:
    """Return the largest number of baskets of one person that take part, from released and public numbers alone."""
    histogram = Histogram.of(CAPS, denoise_histogram(noisy, CAPS), CAPS[-1] * 2)
    total = float((histogram.people * histogram.loads).sum())
    # Noise may leave no person at all; then one basket each is the safe choice.
    if not total > 0:
        return 1
    unit_noise = sqrt(meter.scale_for(BasketCount(), TYPICAL_SHARE, 1)[1])
    errors = []
    for cap in CAPS:
        capped_total = float((histogram.people * np.minimum(histogram.loads, cap)).sum())
        noise_error = cap * unit_noise / (TYPICAL_SUPPORT * capped_total)
        errors.append(hypot(noise_error, LOSS_SPREAD * (1 - capped_total / total)))
    return CAPS[int(np.argmin(errors))]


def describe_cap(cap: int, was_chosen: bool) -> str:
    """Return the note about the cap, the unit of the counts and the meaning of their intervals."""
    origin = "A number chosen with noise" if was_chosen else "As was asked"
    return (
        f"Counts are of baskets, and the unit of privacy is the person. {origin}: of each person "
        f"{number_of(cap, 'basket takes', 'baskets take')} part at most, and where there are more, so many of them "
        f"drawn at random. So each basket of a person with n baskets weighs {cap:,} / n on average where n is larger "
        f"than {cap:,}, and 1 otherwise. Intervals are for the sum of these weights: they cover the noise and the "
        "draw."
    )


def cover_draw(estimates: F64, low: F64, high: F64, baskets: float) -> tuple[F64, F64]:
    """Return both ends of intervals for the weighed counts, from intervals for the counts among the drawn baskets.

    1. The variance of the draw is at most t * (1 - t / B) for a weighed count t of B baskets (Hoeffding 1956, 1963).
       Its largest value over the interval of the count is taken.
    2. The reach of the draw is the reach of a score interval (Wilson 1927): z**2 / 2 + z * sqrt(variance + z**2 / 4).
    3. Noise and draw are independent: the squares of their reaches add up. Ends are whole numbers, rounded outwards.

    Parameters
    ----------
    estimates, low, high
        The released counts, with intervals that cover the noise.
    baskets
        The upper end of the interval of the number of baskets that take part.

    Examples
    --------
    >>> counts = np.array([5_000.0, 3.0])
    >>> [ends.tolist() for ends in cover_draw(counts, counts - 30, counts + 30, 10_000)]
    [[4895.0, -30.0], [5105.0, 36.0]]
    """
    max_baskets = np.maximum(baskets, high)
    # t * (1 - t / B) is largest at t = B / 2, or at the end of the interval nearest to it.
    worst_count = np.clip(max_baskets / 2, np.maximum(low, 0), np.maximum(high, 0))
    variance = worst_count * (1 - worst_count / np.maximum(max_baskets, 1))
    reach = NORMAL_QUANTILE**2 / 2 + NORMAL_QUANTILE * np.sqrt(variance + NORMAL_QUANTILE**2 / 4)
    return np.floor(estimates - np.hypot(estimates - low, reach)), np.ceil(
        estimates + np.hypot(high - estimates, reach)
    )
