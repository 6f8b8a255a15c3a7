"""How many candidates people hold, from a noisy histogram: a law of few numbers, and what stands out against it.

A bin far out weighs a lot where sums are scaled up: whoever holds a thousand counts a thousand times. Of twenty such
bins noise alone lifts one over two deviations every few runs, so no bin is believed by itself. A law is fitted to all
of them at once, and a bin moves away from it by as much as other bins say that the law is off.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Values: TypeAlias = NDArray[np.float64]

LARGEST = 4096  # sizes beyond are taken for this one
_MEANS = tuple(np.geomspace(0.02, 400.0, 60).tolist())
_SHAPES = (0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.5, 5.0, 10.0, 30.0)
# Where noise is all there is, people hold about two. The logarithms of mean and shape have a deviation of one and a
# half, around two and one: a mean of a hundred costs as much as one bin that is off by two and a half deviations.
_TYPICAL, _ROOM = 2.0, 1.5
# How far a bin of the law may be off, as a share of itself: the likeliest is chosen.
_SHARES = (0.0, 0.01, 0.02, 0.04, 0.08, 0.15, 0.3, 0.6, 1.0)
_OUTSTANDING = 4.0  # deviations of noise, beyond which a bin is off whatever other bins say


def fitted(bins: tuple[int, ...], end: int, values: Values, noise: float) -> Values:
    """Return the fractions of people who hold 1, 2, 3 … of the candidates.

    Parameters
    ----------
    bins, end
        The least size of each bin, from 0 on, and one more than the largest size.
    values, noise
        Estimates of how many people are in each bin, as fractions, and the variance of one.
    """
    end = min(end, max(LARGEST, bins[-1]) + 1)
    laws, costs = _laws(bins, end)
    inside = np.add.reduceat(laws, bins, axis=1)
    noise = max(noise, 1e-18)
    # Some hold none for reasons of their own: of the share of those, the best is known for each law.
    more = -inside
    more[:, 0] += 1.0
    off = values - inside
    zeros = np.clip((off * more).sum(1) / np.maximum((more**2).sum(1), 1e-300), 0.0, 1.0)
    best = int(np.argmin(((off - zeros[:, None] * more) ** 2).sum(1) / noise + costs))
    law = laws[best] * (1.0 - zeros[best])
    law[0] += zeros[best]
    expected, left = np.add.reduceat(law, bins), off[best] - zeros[best] * more[best]
    spread = np.maximum((_share(expected, left, noise) * expected) ** 2, left**2 - _OUTSTANDING**2 * noise)
    shrunk = np.clip(expected + left * spread / (spread + noise), 0.0, 1.0)
    sizes, of = np.arange(end), np.searchsorted(np.array(bins), np.arange(end), side="right") - 1
    # Where the law has nobody, a size is the likelier the smaller it is.
    shape = law + 1e-12 / np.maximum(sizes, 1)
    kept: Values = (shrunk[of] * shape / np.add.reduceat(shape, bins)[of])[1:]
    return kept


def _share(expected: Values, left: Values, noise: float) -> float:
    """Return the likeliest share of themselves that bins of the law are off by."""

    def unlikely(share: float) -> float:
        total = noise + (share * expected) ** 2
        return float((np.log(total) + left**2 / total).sum())

    return min(_SHARES, key=unlikely)


@lru_cache(maxsize=4)
def _laws(bins: tuple[int, ...], end: int) -> tuple[Values, Values]:
    """Return negative binomial laws up to a size, a row each, and how unlikely each is before anything was heard."""
    means, shapes = (grid.ravel() for grid in np.meshgrid(_MEANS, _SHAPES, indexing="ij"))
    sizes = np.arange(1, end)
    steps = np.log((sizes - 1 + shapes[:, None]) / sizes) + np.log(means / (means + shapes))[:, None]
    logs = np.concatenate((np.zeros((len(means), 1)), np.cumsum(steps, axis=1)), axis=1)
    laws = np.exp(logs - logs.max(1, keepdims=True))
    laws /= laws.sum(1, keepdims=True)
    costs = (np.log(means / _TYPICAL) / _ROOM) ** 2 + (np.log(shapes) / _ROOM) ** 2
    return laws, costs
