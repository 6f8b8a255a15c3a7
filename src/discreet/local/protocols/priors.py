"""What estimates are pulled to, and how far: priors that are learnt from the estimates themselves.

Most pairs of items are about as frequent as chance has them; a few are many times as frequent. One normal law for how
far the guess is off would pull those few down with all others, so there are two: a narrow one for the many, and a wide
one for the few.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Values: TypeAlias = NDArray[np.float64]

_STEPS = 60


def two_part(values: Values, variance: Values, guess: Values) -> tuple[Values, Values]:
    """Return what to expect of the true values, and their variance, under a prior of two parts around a guess.

    A true value is the guess, times one factor for all, and an error: for a share of the values a small one, for the
    others a large one. The factor, the share and both sizes are those that make the estimates likeliest (expectation
    maximisation), so that there is nothing to tune. Estimates without noise stay as they are.

    Parameters
    ----------
    values, variance
        Estimates, and how far they are off.
    guess
        What each would be by chance.
    """
    if len(values) < 3:
        return values, variance
    noise = np.maximum(variance, 1e-18)
    off = values - guess
    total = max(float((off**2 - noise).mean()), 0.0)
    # From a quarter and four times what one normal law would have, the two find their places.
    spreads, shares, factor = np.array([total / 4, 4 * total]) + 1e-12, np.array([0.9, 0.1]), 1.0
    for _ in range(_STEPS):
        wide = spreads[:, None] + noise
        weights = _weights(values - factor * guess, wide, shares)
        shares = np.clip(weights.mean(1), 0.01, 0.99)
        precise = (weights / wide).sum(0)
        factor = float((precise * guess * values).sum() / max((precise * guess**2).sum(), 1e-300))
        left = (values - factor * guess) * spreads[:, None] / wide
        spread_left = spreads[:, None] * noise / wide
        spreads = (weights * (left**2 + spread_left)).sum(1) / np.maximum(weights.sum(1), 1e-300) + 1e-12
    off, wide = values - factor * guess, spreads[:, None] + noise
    weights = _weights(off, wide, shares)
    means = off * spreads[:, None] / wide
    expected = (weights * means).sum(0)
    around = (weights * (means**2 + spreads[:, None] * noise / wide)).sum(0) - expected**2
    return factor * guess + expected, np.maximum(around, 0.0)


def _weights(off: Values, wide: Values, shares: Values) -> Values:
    """Return how likely each value is of each part."""
    logs = np.log(shares)[:, None] - off**2 / (2 * wide) - np.log(wide) / 2
    logs -= logs.max(0)
    likely = np.exp(logs)
    weights: Values = likely / likely.sum(0)
    return weights
