"""The prior of itemsets around a guess, learnt from the estimates themselves, and what estimates are pulled to by it.

An itemset is either about as frequent as its parts suggest (the core) or anything up to what its rarest part allows
(the slab): most pairs of items have little to do with each other, and a few come together nearly always. One law for
both would pull the few down with the many.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .beliefs import Belief, Evidence, Values, log_scaled, mixed

_UNKNOWN = 1e6  # the variance of what was not measured
_NARROWEST = 1e-14  # the least variance of a core
_LEAST_NOISE = 1e-18
_LEAST_MEAN = 1e-9  # of a slab


@dataclass(frozen=True, kw_only=True, eq=False)
class Guessed:
    """What sets would be by their parts.

    Parameters
    ----------
    guess, unsure
        If members had nothing to do with each other, and the variance of that from the noise of the parts.
    cap, floor
        The most and the least it can be; nothing is the least where that is not given.
    """

    guess: Values
    unsure: Values
    cap: Values
    floor: Values | None = None

    @property
    def least(self) -> Values:
        """The floor."""
        return np.zeros(len(self.guess)) if self.floor is None else self.floor

    def take(self, places: NDArray[Any]) -> Guessed:
        """Return that of some."""
        floor = None if self.floor is None else self.floor[places]
        return Guessed(guess=self.guess[places], unsure=self.unsure[places], cap=self.cap[places], floor=floor)


class _Parts(NamedTuple):
    """Both parts after an estimate: the logarithms of their weights, and where the estimate leaves them."""

    core: Values
    slab: Values
    centre: Values  # of the core before the estimate, and its variance
    wide: Values
    noise: Values  # of the estimate, were it of the core
    moved: Values  # the centre of the slab after the estimate, which is cut at the floor, and its variance
    loose: Values


@dataclass(frozen=True)
class TwoPart:
    """The prior of itemsets around a guess: (1 - share) Normal(slope g, spread (slope g)^2) + share Exp(reach cap).

    Both g and the cap are over the floor, and so is what they say: where nearly everyone holds every member, nearly
    everyone holds them all, and it is only uncertain how many do not.

    Parameters
    ----------
    slope, spread
        Of the core: how much more frequent than guessed sets are, and the relative variance around that.
    share, reach
        Of the slab: how many sets are in it, and their mean as a part of what their rarest part allows.
    """

    slope: float
    spread: float
    share: float
    reach: float

    def believed(self, known: Evidence, guessed: Guessed) -> Belief:
        """Return what to believe of sets."""
        parts = self._parts(known, guessed)
        weights = np.exp(np.stack((parts.core, parts.slab)) - np.maximum(parts.core, parts.slab))
        weights /= weights.sum(0)
        pull = parts.wide / (parts.wide + parts.noise)
        centres = np.stack((parts.centre + pull * (known.values - parts.centre), parts.moved))
        spreads = np.sqrt(np.stack((pull * parts.noise, parts.loose)))
        return mixed(weights, centres, spreads, np.array([False, True]), guessed.least)

    def likelihood(self, known: Evidence, guessed: Guessed, many: Values) -> float:
        """Return the log likelihood of measured sets, each counted so many times."""
        parts = self._parts(known, guessed)
        return float((many * np.logaddexp(parts.core, parts.slab)).sum())

    def _parts(self, known: Evidence, guessed: Guessed) -> _Parts:
        values, plain = known.values, np.clip(known.noise, _LEAST_NOISE, _UNKNOWN)
        floor = guessed.least
        more = self.slope * (guessed.guess - floor)
        centre = floor + more
        noise = np.clip(known.noise_at(centre), _LEAST_NOISE, _UNKNOWN) + known.relative * centre**2
        wide = self.spread * more**2 + self.slope**2 * guessed.unsure + _NARROWEST
        total = wide + noise
        core = np.log1p(-self.share) - (values - centre) ** 2 / (2 * total) - np.log(2 * np.pi * total) / 2
        mean = np.maximum(self.reach * (guessed.cap - floor), _LEAST_MEAN)
        # In the slab a set is about as frequent as it was seen to be.
        loose = plain + known.relative * np.clip(values, 0.0, guessed.cap) ** 2
        over = values - floor
        moved = over - loose / mean
        z = moved / np.sqrt(loose)
        tail = log_scaled(-np.abs(z))
        # Either side of the floor in the form in which nothing cancels.
        below = tail - over**2 / (2 * loose)
        above = np.log1p(-np.exp(tail - z**2 / 2)) + loose / (2 * mean**2) - over / mean
        slab = np.log(self.share / mean) + np.where(z < 0, below, above)
        return _Parts(core, slab, centre, wide, noise, floor + moved, loose)


PAIRS = TwoPart(slope=1.0, spread=0.5, share=0.1, reach=0.15)
"""What is believed of pairs before any was measured."""
LARGER = TwoPart(slope=1.0, spread=0.3, share=0.1, reach=0.3)
"""The same of larger sets, whose guess is nearer."""
RELATIONS = TwoPart(slope=1.0, spread=0.5, share=0.1, reach=0.3)
"""The same of relations between few items, the most reliable of which are wanted: those that are far from the guess."""
_MOST_FITTED = 4000
_ROUNDS = 7
_FIRST_STEP, _SHRINKS = 0.8, 0.7  # how far a number is moved first, and by what that shrinks from round to round
_LOOSE = (0.3, 1.0, 1.0, 0.7)  # how far, on a scale of logarithms, each number may be from its default
# The same of relations. A slab has a long tail: a reach that fits the many small ones in it would pull down the few
# large ones, so it may move the least.
_LOOSER = (0.7, 1.4, 1.0, 0.3)
# Relations may be far from typical: where next to no noise is left, all numbers are. One search would end on the way.
_TIMES = 6
_TRIED_STEP = 0.2  # by which numbers are moved to see how much hangs on them


class _Measured(NamedTuple):
    """Sets that a prior is learnt from, each counted so many times, what it was before, and how loosely that holds."""

    default: TwoPart
    loose: tuple[float, ...]
    known: Evidence
    guessed: Guessed
    many: Values

    @classmethod
    def of(cls, default: TwoPart, loose: tuple[float, ...], known: Evidence, guessed: Guessed) -> _Measured:
        """Take all measured sets that may matter, and of the others some that stand for all."""
        asked = np.flatnonzero(np.isfinite(known.noise))
        by_guess = asked[np.argsort(-guessed.guess[asked], kind="stable")]
        half = _MOST_FITTED // 2
        rest = by_guess[half:]
        step = max(1, -(-len(rest) // half))
        chosen = np.concatenate((by_guess[:half], rest[::step]))
        many = np.concatenate((np.ones(len(by_guess[:half])), np.full(len(rest[::step]), float(step))))
        return cls(default, loose, known.take(chosen), guessed.take(chosen), many)

    def score(self, at: Values) -> float:
        """Return how likely the sets are under a prior with these numbers, as logarithms, and these under theirs."""
        away = (at - _logs(self.default)) / self.loose
        return _from_logs(at).likelihood(self.known, self.guessed, self.many) - float((away**2).sum()) / 2


def fitted(default: TwoPart, known: Evidence, guessed: Guessed) -> TwoPart:
    """Return the prior whose numbers make the measured sets likeliest, held loosely to their defaults.

    One number at a time is moved up or down, by steps that shrink: the same estimates always give the same prior, and
    it takes as long whatever they are.
    """
    return _likeliest(_Measured.of(default, _LOOSE, known, guessed))


def _likeliest(measured: _Measured, times: int = 1) -> TwoPart:
    """Return the likeliest numbers, searched for so many times: each begins where the one before ended."""
    if not len(measured.many):
        return measured.default
    at = _logs(measured.default)
    best = measured.score(at)
    for _ in range(times):
        before, width = best, _FIRST_STEP
        for _ in range(_ROUNDS):
            for number in range(len(at)):
                for sign in (1.0, -1.0):
                    moved = at.copy()
                    moved[number] += sign * width
                    reached = measured.score(moved)
                    if reached > best:
                        best, at = reached, moved
                        break
            width *= _SHRINKS
        if best == before:
            break
    return _from_logs(at)


def pulled(known: Evidence, guessed: Guessed) -> tuple[Values, Values]:
    """Return what to expect of relations under the prior learnt from them, and the variance of that.

    How far the numbers of the prior may be off is part of the variance. A number may be off by what one over the
    curvature of its cost says, and what is expected moves with it. Far from the likeliest the cost need not curve; then
    the number is no surer than it was before anything was seen.
    """
    measured = _Measured.of(RELATIONS, _LOOSER, known, guessed)
    prior = _likeliest(measured, _TIMES)
    belief = prior.believed(known, guessed)
    at, variance = _logs(prior), belief.variance
    best = measured.score(at)
    for number, loose in enumerate(_LOOSER):
        step = np.zeros(len(at))
        step[number] = _TRIED_STEP
        curve = (2 * best - measured.score(at + step) - measured.score(at - step)) / _TRIED_STEP**2
        up, down = (_from_logs(at + sign * step).believed(known, guessed).means for sign in (1, -1))
        variance = variance + ((up - down) / (2 * _TRIED_STEP)) ** 2 / max(curve, 1 / loose**2)
    return belief.means, variance


def _logs(prior: TwoPart) -> Values:
    return np.asarray(np.log([prior.slope, prior.spread, prior.share / (1 - prior.share), prior.reach]))


def _from_logs(at: Values) -> TwoPart:
    slope, spread, odds, reach = np.exp(at).tolist()
    return TwoPart(slope, spread, odds / (1 + odds), min(reach, 1.0))
