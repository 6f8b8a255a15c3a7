"""Floating point that only sets aside what cannot matter, so that exact arithmetic is asked about the rest alone.

Everything here is a bound: a key certainly lies between its `low` and its `high`, and whoever is set aside has lost.
Where bounds leave a choice open, `selection` and `race` look at intervals of decimal numbers and at more random bits.
How large the errors can be is worked out in `selection.md`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import exp, isqrt, log, log1p

import numpy as np
from numpy.typing import NDArray

from .sources import Source

F64 = NDArray[np.float64]
U64 = NDArray[np.uint64]
KeyBounds = tuple[F64, F64]

# Words of 64 bits closer than this to either end say too little about the number they begin.
ENDS = 2**24
# The relative error of a wait that was read off 64 bits, and what rounding adds to any logarithm.
RELATIVE = 2.0**-22
ROUNDING = 2.0**-46
# A number this many times closer to a border than errors could carry it is not settled here.
WIDER = 8

_LEAST = 2.0**-30
_LARGEST = Fraction(2**900)
_LONGEST = 2**20  # bits of a number of candidates
_RIVALS = 16  # how many candidates of a flip may be expected over the level
_FEW = 256  # tallies, for which a level is not worth its while
_SURE = 2.0**-10
_TIRED = 200.0  # weights are taken anew when the best one left has fallen by a factor of exp of this


def in_range(value: Fraction) -> bool:
    """Say whether a rate or a scale is one that floating point can hold, with room to calculate."""
    return 1 / _LARGEST <= value <= _LARGEST


class TallyWeights:
    """Tallies: how far each lies behind another one, and the logarithm of how many candidates it has left."""

    def __init__(self, scores: Sequence[int], many: Sequence[int], rate: Fraction) -> None:
        near = not scores or scores[0] - scores[-1] < 2**64
        self.usable = near and max(many, default=1).bit_length() <= _LONGEST and in_range(rate)
        self._offsets = np.array([scores[0] - score for score in scores] if self.usable else [], np.uint64)
        self._rate = float(rate) if self.usable else 0.0
        self.logs = np.array([log(count) for count in many] if self.usable else [], np.float64)

    def behind(self, first: int = 0) -> F64:
        """Return the rate times how far each score from the place `first` on lies below the score there."""
        offsets = self._offsets[first:]
        return (offsets - offsets[:1]).astype(np.float64) * self._rate

    def take(self, place: int, left: int) -> None:
        """Note how many candidates a tally has left."""
        if self.usable:
            self.logs[place] = log(left) if left else -np.inf


class PeelingFilter:
    """One pick of the exponential mechanism: where a uniform number falls, if it is not too close to a border.

    Weights are added up in blocks, so that a pick costs no more than the root of how many tallies there are.
    """

    def __init__(self, scores: Sequence[int], many: Sequence[int], rate: Fraction) -> None:
        self._crowd = TallyWeights(scores, many, rate)
        self._width = isqrt(len(many)) + 1
        self._room = WIDER * 2.0**-49 * (800 + self._crowd.logs.max(initial=0.0) + self._width)
        self._first, self._shift = -1, 0.0
        self._behind = self._blocks = self._sums = np.empty(0)

    def place(self, first: int, uniform: float, more: float) -> int | None:
        """Return where a number from `uniform` to `more` beyond falls, or None if it is too close to a border."""
        if not self._crowd.usable:
            return None
        if self._first < 0 or self._behind[first - self._first] > _TIRED:
            self._begin(first)
        totals = np.cumsum(self._sums)
        at, room = uniform * totals[-1], (self._room + more) * totals[-1]
        block = int(np.searchsorted(totals, at))
        start = totals[block - 1] if block else 0.0
        sums = start + np.cumsum(self._blocks[block])
        inner = min(int(np.searchsorted(sums, at)), self._width - 1)
        place = block * self._width + inner
        before = (sums[inner - 1] if inner else start) if place else -np.inf
        return self._first + place if before + room < at < sums[inner] - room else None

    def _begin(self, first: int) -> None:
        """Weigh the tallies from the place `first` on."""
        self._behind = self._crowd.behind(first)
        exponents = self._crowd.logs[first:] - self._behind
        self._first, self._shift = first, float(exponents.max())
        self._blocks = np.zeros((-(-len(exponents) // self._width), self._width))
        self._blocks.ravel()[: len(exponents)] = np.exp(exponents - self._shift)
        self._sums = self._blocks.sum(axis=1)

    def take(self, place: int, left: int) -> None:
        """Note that of a tally one candidate fewer is left."""
        if not self._crowd.usable:
            return
        self._crowd.take(place, left)
        block, inner = divmod(place - self._first, self._width)
        exponent = self._crowd.logs[place] - self._behind[place - self._first] - self._shift
        self._blocks[block, inner] = exp(exponent)
        self._sums[block] = self._blocks[block].sum()


def waits(words: U64) -> KeyBounds:
    """Return bounds of -ln U for uniform numbers U that begin with these 64 bits."""
    rest = ~words  # the bits of 1 - U, so that a number next to 1 loses none of them
    value = (words.astype(np.float64) + 0.5) * 2.0**-64
    complement = (rest.astype(np.float64) + 0.5) * 2.0**-64
    wait = np.where(complement < 0.5, -np.log1p(-np.minimum(complement, 0.5)), -np.log(value))
    certain = (words >= ENDS) & (rest >= ENDS)
    return np.where(certain, wait * (1 - RELATIVE), 0.0), np.where(certain, wait * (1 + RELATIVE), np.inf)


def gumbel(behind: F64, logs: F64, waited: KeyBounds) -> KeyBounds:
    """Return bounds of the keys of a race: those of members who waited so long, times how many there were."""
    slack = _LEAST + ROUNDING * (behind + logs)
    with np.errstate(divide="ignore"):
        early, late = np.log(waited[0]), np.log(waited[1])
    return logs - behind - late - slack, logs - behind - early + slack


def laplace(behind: F64, logs: F64, waited: KeyBounds, scale: float) -> KeyBounds:
    """Return bounds of score and discrete Laplace noise, both whole numbers; scores are how far they lie behind."""
    norm = log1p(exp(-1 / scale)) if scale > 2.0**-9 else 0.0
    bounds = []
    for wait, sign in ((waited[1], -1.0), (waited[0], 1.0)):
        with np.errstate(divide="ignore", over="ignore"):
            exponents = np.log(wait) - logs
            up = -scale * (_log_tail(exponents) + norm)
            down = scale * (norm - np.exp(exponents))
        slack = sign * scale * (_LEAST + ROUNDING * logs)
        noise = np.where(
            up > 0,
            np.ceil(up * (1 + sign * ROUNDING) + slack) - 1,
            np.ceil(down - sign * ROUNDING * np.minimum(down, 0.0) + slack),
        )
        # Whole numbers beyond 2^52 are not told apart any more.
        wide = np.abs(noise) + behind
        bounds.append(noise - behind + sign * np.where(wide < 2.0**52, 0.0, wide * ROUNDING))
    return bounds[0], bounds[1]


def _log_tail(exponents: F64) -> F64:
    """Return ln(1 - exp(-t)) for t = exp(exponents), t being far below 1 where there are many candidates."""
    small = exponents < -40.0
    kept = np.log(-np.expm1(-np.exp(np.clip(exponents, -40.0, 709.0))))
    return np.where(small, exponents, kept)


def contenders(low: F64, high: F64, picks: int) -> NDArray[np.int64]:
    """Return the places of those who may be among the best `picks`."""
    if len(low) <= picks:
        return np.arange(len(low))
    bar = np.partition(low, len(low) - picks)[len(low) - picks]
    return np.flatnonzero(high >= bar)


class Flips:
    """Who may have the largest rate * score + exponential noise, pick after pick.

    Most numbers lie so far below a level that their first eight bits tell, and no more of them is drawn: the level is
    where the sixteenth largest key of a pick was, and is looked for anew when nobody reaches it any more.
    """

    def __init__(self, scores: Sequence[int], many: Sequence[int], rate: Fraction) -> None:
        self._crowd = TallyWeights(scores, many, rate)
        self._many = len(many)
        self._behind = self._crowd.behind()
        self._level = np.inf
        self._limits = np.empty(0, np.uint64)
        self._heads = np.empty(0, np.uint8)

    def draw(self, source: Source, first: int) -> dict[int, int]:
        """Draw a uniform number for each tally; return the first 64 bits of those that may have the largest key.

        No tally before the place `first` has candidates left.
        """
        heads = source.words(-(-self._many // 8)).view(np.uint8)[: self._many]
        if self._crowd.usable and self._behind[first] > 2.0**20:  # so far behind, rounding would blur the keys
            self._behind[first:] = self._crowd.behind(first)
            self._level = np.inf
        over, words = np.empty(0, np.int64), np.empty(0, np.uint64)
        if self._level < np.inf:
            over = np.flatnonzero(~heads <= self._heads)
            words = _continued(source, heads[over])
            reached = ~words <= self._limits[over]
            low, high = self._keys(over[reached], words[reached])
            if low.max(initial=-np.inf) > self._level:
                rivals = high >= low.max()
                return dict(zip(over[reached][rivals].tolist(), words[reached][rivals].tolist(), strict=True))
        known = np.zeros(self._many, np.bool_)
        known[over] = True
        every = np.empty(self._many, np.uint64)
        every[over], every[~known] = words, _continued(source, heads[~known])
        places = np.arange(first, self._many)
        if self._crowd.usable:
            low, high = self._keys(places, every[first:])
            self._raise(low)
            places = places[high >= low.max()]
        return dict(zip(places.tolist(), every[places].tolist(), strict=True))

    def take(self, place: int, left: int) -> None:
        """Note that of a tally one candidate fewer is left."""
        self._crowd.take(place, left)
        if not left and self._level < np.inf:
            self._limits[place] = self._heads[place] = 0

    def _keys(self, places: NDArray[np.int64], words: U64) -> KeyBounds:
        early, late = waits(words)
        logs, behind = self._crowd.logs[places], self._behind[places]
        gone = np.isneginf(logs)
        logs = np.where(gone, 0.0, logs)
        slack = _LEAST + ROUNDING * (np.abs(behind) + logs)
        with np.errstate(divide="ignore"):
            low = -_log_tail(np.log(late) - logs) - behind - slack
            high = -_log_tail(np.log(early) - logs) - behind + slack
        return np.where(gone, -np.inf, low), np.where(gone, -np.inf, high)

    def _raise(self, low: F64) -> None:
        """Set the level to one that about sixteen keys pass, and what the words of numbers that pass it are."""
        self._level = np.inf
        if len(low) < _FEW:
            return
        level = float(np.partition(low, len(low) - _RIVALS)[len(low) - _RIVALS])
        if not np.isfinite(level):
            return
        self._level = level
        above = level + self._behind
        # A key passes with probability 1 - (1 - exp(-above))^many.
        kept = np.maximum(above, _SURE)
        rare = kept > 40.0
        single = np.where(rare, -kept, np.log(-np.log1p(-np.exp(-np.minimum(kept, 40.0)))))
        chances = -np.expm1(-np.exp(np.minimum(self._crowd.logs + single, 700.0)))
        chances = np.where(above < _SURE, 1.0, np.minimum(chances * (1 + 2.0**-12), 1.0))
        chances[np.isneginf(self._crowd.logs)] = 0.0
        self._limits = np.full(len(chances), 2**64 - 1, np.uint64)
        below = chances < 1 - 2.0**-12
        self._limits[below] = (chances[below] * 2.0**64).astype(np.uint64) + np.uint64(1)
        self._heads = (self._limits >> np.uint64(56)).astype(np.uint8)


def _continued(source: Source, heads: NDArray[np.uint8]) -> U64:
    """Return words that begin with these eight bits."""
    return heads.astype(np.uint64) << np.uint64(56) | source.words(len(heads)) >> np.uint64(8)
