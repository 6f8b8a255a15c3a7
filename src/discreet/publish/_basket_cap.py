"""How many baskets of a person take part, where nobody said it: chosen from a noisy histogram that is paid for.

More baskets of each mean more noise on every count, as one person moves it by as many; fewer mean that less of the data
takes part, and not of everyone alike. The choice is where the two are least together, for a pattern in a usual share of
the baskets. The proof is in `basket_cap.md`.
"""

from __future__ import annotations

from fractions import Fraction
from math import hypot, sqrt

import numpy as np

from ..curator.steps import LOSS_SPREAD, Histogram, denoise_histogram
from ..exact import BasketCount, BasketsEach
from ..privacy import Meter, Noisy
from ..wording import number_of

# Where the bins of the histogram begin, and the caps there are to choose from. Public: not the most that anyone has.
CAPS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
# The pattern that the choice is made for: in so large a share of the baskets, counted with so much of the budget.
USUAL_SUPPORT = 0.02
USUAL_SHARE = Fraction(1, 10)


def each_query() -> BasketsEach:
    """Return the question how many people have how many baskets."""
    return BasketsEach(CAPS)


def choose_cap(noisy: Noisy, meter: Meter) -> int:
    """Return how many baskets of each person take part, from released and public numbers alone."""
    seen = Histogram.of(CAPS, denoise_histogram(noisy, CAPS), CAPS[-1] * 2)
    total = float((seen.people * seen.loads).sum())
    if not total > 0:
        return 1
    unit = sqrt(meter.scale_for(BasketCount(), USUAL_SHARE, 1)[1])
    errors = []
    for cap in CAPS:
        kept = float((seen.people * np.minimum(seen.loads, cap)).sum())
        errors.append(hypot(cap * unit / (USUAL_SUPPORT * kept), LOSS_SPREAD * (1 - kept / total)))
    return CAPS[int(np.argmin(errors))]


def cap_told(most: int, chosen: bool) -> str:
    """Return the sentences about how many baskets take part, what counts are of and what intervals are for."""
    how = "A number chosen with noise" if chosen else "As was asked"
    return (
        f"Counts are of baskets, and the unit of privacy is the person. {how}: of each person "
        f"{number_of(most, 'basket takes', 'baskets take')} part at most, and where there are more, so many of them "
        f"drawn at random. So each basket of a person with n baskets weighs {most:,} / n on average where n is larger "
        f"than {most:,}, and 1 otherwise. Intervals are for the sum of these weights: they cover the noise and the "
        "draw."
    )
