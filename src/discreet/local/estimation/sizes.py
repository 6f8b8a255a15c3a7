"""How many candidates people hold, from a round that asked for it in bins, and what a padding cuts off.

A bin far out weighs a lot where sums are scaled up: whoever holds a thousand counts a thousand times. Of twenty such
bins noise alone lifts one over two deviations every few runs, so no bin is believed by itself. All laws of a grid are
compared with all bins at once, and their mean counts, each law by how well it explains the bins. No law is quite true:
each bin may be off by a share of itself, which is learnt too. By that share the bins are moved from the law, and the
law says how a bin is divided. Nothing here asks anybody; all of it is post-processing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import hypot, sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..study.conversation import Estimate

Values: TypeAlias = NDArray[np.float64]

BINS = (0, 1, 2, 3, 4, 5, 6, 8, 11, 15, 21, 29, 41, 65, 92, 130, 184, 260, 368, 520, 736, 1040)
"""Where the bins of a size begin. Subset selection makes hardly more noise with 22 bins than with 14, and whoever holds
ten items holds ninety ordered pairs."""

FEW = (0, 1, 2, 3, 4, 6, 9, 14, 24, 41, 92, 260)
"""Where they begin if liars must not decide. With few bins a report adds less to each; what lies beyond is one bin, of
which a report can be only once."""

_LARGEST = 1500  # up to here laws say how many are held
_MEANS = np.geomspace(0.02, 150, 50)
_SHAPES = np.array([0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.5, 5.0, 10.0, 30.0])
_MEDIANS = np.geomspace(0.5, 150, 30)
_WIDTHS = np.linspace(0.3, 2.4, 8)
TYPICAL = (2.0, 1.5)
"""How many people hold before anything was heard, and how far that may be off: one deviation of its logarithm."""
# Before anything was heard, a shape is about 1, and the width of a logarithm about .8. How far each may be from that:
# one deviation, of the shape that of its logarithm.
_USUAL, _ROOM = (1.0, 0.8), (1.5, 0.4)
_LOG_NORMAL = 0.2  # how much a log-normal law counts beside a negative binomial one
_TAILS = ((0.0, 1, 1.0), (0.1, 10, 0.05), (0.1, 25, 0.05), (0.2, 10, 0.05), (0.2, 25, 0.05), (0.3, 10, 0.05))
_TAIL_WIDTH = 1.0  # of the logarithm
_MOST_NONE = 0.9  # of the people, who hold none for reasons of their own
_MISFITS = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8)  # by which share of itself a bin of a law may be off
_OUTSTANDING = 4  # deviations of noise, beyond which a bin is off whatever other bins say
_SURE = 4  # deviations that the last bin has to be over 0 for more than the laws say to be held
_BEYOND = 30  # numbers that then stand for all there are
EXPOSURES = np.concatenate(([0.0], np.geomspace(1e-7, 60, 240)))
_ACTIVE = np.geomspace(1e-4, 1e4, 1000)  # how many times as many items as others people hold
_SHARED_OUT, _DAMPED = 60, 0.7  # steps in which what is held is shared out among lengths, and how far each goes
_HARDLY_ANY = 1e-6  # of all that is held, the least that a length has


@dataclass(frozen=True, kw_only=True, eq=False)
class Cut:
    """What a padding leaves of candidates, for every rate of a grid.

    Parameters
    ----------
    left, true
        What is seen of a candidate of each rate, and what there is of it.
    ratio
        The second over the first.
    slope
        How fast the second grows with the first.
    """

    left: Values
    true: Values
    ratio: Values
    slope: Values


@dataclass(frozen=True, kw_only=True, eq=False)
class HeldSizes:
    """The law of how many candidates a person holds, and how sure it is.

    Parameters
    ----------
    sizes, chances
        The numbers held, from 0, and the probability of each. After the last bin's own come those beyond all laws.
    first
        At which of them each bin begins.
    noise
        The covariance of the probabilities of the bins: of a law all bins of a tail are off together.
    mean_off
        How far the mean number held may be off because the last bin does not say where in it people are.
    exposed
        Of some candidates: how many of them people hold who hold so many of all, up to a factor. None where that grows
        as what they hold in all.
    """

    sizes: NDArray[np.int64]
    chances: Values
    first: NDArray[np.int64]
    noise: Values
    mean_off: float = 0.0
    exposed: Values | None = None

    @classmethod
    def of(
        cls, answer: Estimate, first: tuple[int, ...], most: int, typical: tuple[float, float] = TYPICAL
    ) -> HeldSizes:
        """Fit the bins that a round told.

        Parameters
        ----------
        answer
            What the round's reports say.
        first
            Where each bin begins.
        most
            How many there are to hold.
        typical
            How many people are expected to hold, and how far that may be off: one deviation of its logarithm.
        """
        starts, many = np.array(first), min(most, _LARGEST) + 1
        law, misfit, noise = _fitted(answer.values, answer.variance, starts, many, typical)
        expected = np.add.reduceat(law, starts)
        off, variance = answer.values - expected, np.maximum(answer.variance, 1e-18)
        spread = np.maximum(misfit * expected**2, off**2 - _OUTSTANDING**2 * variance)
        weight = spread / (spread + variance)
        moved = np.clip(expected + weight * off, 0.0, None)
        moved = moved if moved.sum() > 0 else expected  # a few reports may put nobody anywhere
        bins = np.repeat(np.arange(len(starts)), np.diff([*starts, many]))
        # Where the law has nobody, a size is the likelier the smaller it is.
        shape = law + 1e-12 / np.maximum(np.arange(many), 1)
        chances = shape * (moved / np.add.reduceat(shape, starts))[bins]
        noise = np.diag(weight * answer.variance) + (1 - weight)[:, None] * noise * (1 - weight)
        held = cls(sizes=np.arange(many), chances=chances / chances.sum(), first=starts, noise=noise)
        if most <= _LARGEST:
            return held
        return held._carried(answer.values[-1] - _SURE * sqrt(answer.variance[-1]), most)

    def _carried(self, sure: float, most: int) -> HeldSizes:
        """Return this with the people who are surely in the last bin anywhere up to `most`, as no law tells where.

        All magnitudes count alike, and that it may be any one of them is said by `mean_off`. Where noise alone may have
        put people there, the laws are believed: a few in a thousand who hold ten thousand would be most of all held.
        """
        last = int(self.first[-1])
        mass = float(self.chances[last:].sum())
        sure = min(sure, mass)
        if sure <= 0:
            return self
        beyond = np.rint(np.geomspace(last, most, _BEYOND)).astype(np.int64)
        within = self.chances.copy()
        within[last:] *= 1 - sure / mass
        return HeldSizes(
            sizes=np.concatenate((self.sizes, beyond)),
            chances=np.concatenate((within, np.full(_BEYOND, sure / _BEYOND))),
            first=self.first,
            noise=self.noise,
            mean_off=sure * float(beyond.std()),
        )

    def fractions(self) -> Values:
        """Return the fractions of people who hold 1, 2, 3 … of the candidates."""
        fractions: Values = np.bincount(self.sizes, self.chances).astype(np.float64)[1:]
        return fractions

    def up_to(self, share: float) -> int:
        """Return how many so large a share of the people holds at most, and 1 at least."""
        within = np.cumsum(self.chances) >= share * float(self.chances.sum()) - 1e-12
        return max(1, int(self.sizes[np.argmax(within)]))

    def correction(self, pad: int) -> float:
        """Return by how much the sum of all estimates falls short where people hold more than `pad` (A5, A6)."""
        held = self._exposed * self.chances
        kept = float((held * _kept(self.sizes, pad)).sum())
        return float(held.sum()) / kept if kept > 0 else 1.0

    def doubt(self, pad: int) -> float:
        """Return how far the correction may be off, relative to it: one standard deviation."""
        mass = np.maximum(np.add.reduceat(self.chances, self.first), 1e-300)
        whole = np.add.reduceat(self.sizes * self.chances, self.first) / mass
        kept = np.add.reduceat(np.minimum(self.sizes, pad) * self.chances, self.first) / mass
        total, left = float((whole * mass).sum()), float((kept * mass).sum())
        if left <= 0:
            return 1.0
        slope = whole / total - kept / left
        return min(hypot(sqrt(max(float(slope @ self.noise @ slope), 0.0)), self.mean_off / total), 1.0)

    def restored(self, values: Values, pad: int) -> tuple[Values, Values]:
        """Return estimates with what the padding cuts off given back to each, and by what their noise grows.

        A candidate is taken to be held with the chance 1 - exp(-x c) where c are held in all: one that is rare comes
        in proportion to c and is cut as all are on average, while one that is frequent is in small baskets as well,
        and loses less. What is seen of it says x, and x says what there is.
        """
        slope = np.interp(values, self.cut(pad).left, self.cut(pad).slope)
        # What is seen of next to everyone hardly says more than that; it is not taken for sure all the same.
        return values * self.ratio(values, pad), np.maximum(slope, 1.0)

    def ratio(self, values: Values, pad: int) -> Values:
        """Return by what estimates are multiplied to give back what the padding cuts off."""
        return np.interp(values, self.cut(pad).left, self.cut(pad).ratio)

    def grows(self, frequency: float, pad: int) -> float:
        """Return by what the estimate of a candidate that so many hold is to be multiplied."""
        return float(np.interp(frequency, self.cut(pad).true, self.cut(pad).ratio))

    def follows(self, pad: int, frequencies: Values) -> Values:
        """Return how far the estimate of a candidate that so many hold follows an error of the correction.

        What was seen of it is seen; only what was given back is off. So a rare one is off by as much as the correction
        is, and a frequent one, of which less was cut off, by less.
        """
        cut = self.cut(pad)
        most = 1 - 1 / cut.ratio[0]
        return np.asarray(
            (1 - 1 / np.interp(frequencies, cut.true, cut.ratio)) / most if most > 0 else np.ones(len(frequencies))
        )

    def cut(self, pad: int) -> Cut:
        """Return what a padding leaves of candidates of every rate."""
        if pad not in self._cuts:
            self._cuts[pad] = self._cut(pad)
        return self._cuts[pad]

    @cached_property
    def _cuts(self) -> dict[int, Cut]:
        """What was tabled so far, by padding."""
        return {}

    def _cut(self, pad: int) -> Cut:
        left, true = self._by_rate @ _kept(self.sizes, pad), self._by_rate.sum(1)
        if left[-1] <= 0:
            return Cut(left=left, true=true, ratio=np.ones(len(left)), slope=np.ones(len(left)))
        rare = self.correction(pad)
        ratio = np.concatenate(([rare], true[1:] / np.maximum(left[1:], 1e-300)))
        steps = np.maximum(np.diff(left), 1e-300)
        slope = np.minimum(np.concatenate(([rare], np.diff(true) / steps)), ratio)
        return Cut(left=left, true=true, ratio=ratio, slope=slope)

    @cached_property
    def _by_rate(self) -> Values:
        """How many people hold so many and a candidate of each rate."""
        return np.asarray(-np.expm1(-EXPOSURES[:, None] * self._exposed) * self.chances)

    @property
    def _exposed(self) -> Values:
        return self.sizes.astype(np.float64) if self.exposed is None else self.exposed

    def by_length(self, expected: Mapping[int, float]) -> dict[int, HeldSizes]:
        """Return what holds for candidates of each length, of which so many each are expected to be held.

        Who is s times as active as others holds s times as many items, and s^2 times as many pairs. So of pairs that
        are asked about beside items more is cut off than of the items: they are held by those who hold the most.
        """
        sizes, mean = self.sizes.astype(np.float64), float(self.sizes @ self.chances)
        lengths, sums = np.array([*expected]), np.array([*expected.values()])
        if len(lengths) < 2 or mean <= 0 or sums.sum() <= 0:
            return dict.fromkeys(expected, self)
        shares = np.maximum(sums / sums.sum(), _HARDLY_ANY)
        # Of each length, what who is as active as `_ACTIVE` says holds; the factors are those that fit the shares.
        powers, factors = _ACTIVE ** lengths[:, None], shares.copy()
        for _ in range(_SHARED_OUT):
            every = factors @ powers
            active = np.exp(np.interp(np.log(np.maximum(sizes, 0.5) / mean), np.log(every), np.log(_ACTIVE)))
            held = factors[:, None] * active ** lengths[:, None]
            held *= sizes / held.sum(0)
            factors = factors * (shares * mean / np.maximum(held @ self.chances, 1e-300)) ** _DAMPED
        held *= (mean / np.maximum(held @ self.chances, 1e-300))[:, None]
        return {length: replace(self, exposed=one) for length, one in zip(expected, held, strict=True)}


def _kept(sizes: NDArray[np.int64], pad: int) -> Values:
    """Return which part of what people hold a padding keeps."""
    return np.asarray(np.minimum(1.0, pad / np.maximum(sizes, 1)))


def _fitted(
    shares: Values, variance: Values, first: NDArray[np.int64], many: int, typical: tuple[float, float]
) -> tuple[Values, float, Values]:
    """Return the mean of all laws of the grid, how far bins are off from it, and the covariance of its bins.

    Each law counts by how well it explains the bins, and by how likely it was before. The second is the mean square of
    the share of itself that a bin is off by.
    """
    laws, likely, centres = _laws()
    likely = likely - (np.log(centres / typical[0]) / typical[1]) ** 2 / 2
    laws = laws[:, :many] / np.maximum(laws[:, :many].sum(1, keepdims=True), 1e-300)
    tails = np.array([share * _long(median, many) for share, median, _ in _TAILS])
    rest = 1 - tails.sum(1)
    binned = rest[:, None, None] * np.add.reduceat(laws, first, axis=1) + np.add.reduceat(tails, first, axis=1)[:, None]
    # (1 - z) (law + tail) + z none, for every law and every tail: of the z the best is known.
    more = np.eye(1, len(first)) - binned
    best = ((shares - binned) * more).sum(-1) / np.maximum((more**2).sum(-1), 1e-300)
    none = np.clip(best, 0.0, _MOST_NONE)
    grid = binned + none[..., None] * more
    squares, noise = (shares - grid) ** 2, np.maximum(variance, 1e-18)
    prior = np.log([chance for _, _, chance in _TAILS])[:, None] + likely
    logs = []
    for misfit in _MISFITS:
        total = noise + (misfit * grid) ** 2
        logs.append(prior - (squares / total + np.log(total)).sum(-1) / 2)
    every = np.exp(np.array(logs) - np.max(logs))
    every /= every.sum()
    weights = every.sum(0)
    some = weights * (1 - none)
    law = (some * rest[:, None]).sum(0) @ laws + some.sum(1) @ tails
    law[0] += (weights * none).sum()
    away = (grid - np.add.reduceat(law, first)).reshape(-1, len(first))
    return law, float(every.sum((1, 2)) @ np.square(_MISFITS)), (away * weights.reshape(-1, 1)).T @ away


def _long(median: float, many: int) -> Values:
    """Return a log-normal law of a long tail."""
    sizes = np.arange(1, many)
    law = np.concatenate(([0.0], np.exp(-((np.log(sizes / median) / _TAIL_WIDTH) ** 2) / 2) / sizes))
    return np.asarray(law / max(law.sum(), 1e-300))


@lru_cache(maxsize=1)
def _laws() -> tuple[Values, Values, Values]:
    """Return laws of how many are held, one per row: negative binomial ones, and log-normal ones.

    With them how likely the form of each is before anything was heard, the logarithm, up to a constant; and its mean or
    median.
    """
    sizes = np.arange(1, _LARGEST + 1)
    mean, shape = (one.ravel()[:, None] for one in np.meshgrid(_MEANS, _SHAPES))
    odds = mean / (mean + shape)
    steps = np.log((sizes - 1 + shape) / sizes) + np.log(odds)
    logs = shape * np.log1p(-odds) + np.concatenate((np.zeros((len(mean), 1)), np.cumsum(steps, 1)), 1)
    median, width = (one.ravel()[:, None] for one in np.meshgrid(_MEDIANS, _WIDTHS))
    tails = np.exp(-(np.log(sizes / median) ** 2) / (2 * width**2)) / sizes
    tails = np.concatenate((np.zeros((len(tails), 1)), tails / np.maximum(tails.sum(1, keepdims=True), 1e-300)), 1)
    (usual, wide), rooms = _USUAL, _ROOM
    narrow = np.log(shape / usual) / rooms[0]
    broad = (width - wide) / rooms[1]
    likely = np.concatenate((-(narrow**2) / 2, np.log(_LOG_NORMAL) - broad**2 / 2))
    return np.concatenate((np.exp(logs), tails)), likely.ravel(), np.concatenate((mean, median)).ravel()
