"""Races: every tally offers its best member not yet taken, and the best of them all is taken, again and again.

A member's key is known by bounds in floating point (`float_filter`) and, only where those leave two members in doubt,
exactly: by an interval that is made as narrow as it takes (`intervals`). The members of a tally come in order: the
waits between them add up, so that a tally that gives many members costs as many steps. The proofs are in
`selection.md`.
"""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np

from . import float_filter, intervals
from .float_filter import KeyBounds, TallyWeights
from .intervals import Interval, Lazy, Uniform
from .sources import Source

_ZERO = (Decimal(0), Decimal(0))
_ONE = (Decimal(1), Decimal(1))


class Race(ABC):
    """A race of tallies: their scores, the largest first, and how many members each has."""

    def __init__(self, source: Source, scores: Sequence[int], many: Sequence[int], rate: Fraction) -> None:
        self.source, self.scores, self.many = source, scores, many
        self.crowd = TallyWeights(scores, many, rate)

    def winners(self, picks: int) -> list[int]:
        """Return the places of the tallies of the first `picks` members, in their order."""
        if not picks:
            return []
        words = self.source.words(len(self.many))
        waited = float_filter.waits(words)
        # Each of the first `picks` members is behind none but the first members of so many tallies.
        waiting = [
            Member(self, place, int(words[place]), (float(waited[0][place]), float(waited[1][place])))
            for place in float_filter.contenders(*self._bounds(slice(None), waited), picks).tolist()
        ]
        heapq.heapify(waiting)
        chosen: list[int] = []
        while len(chosen) < picks:
            best = waiting[0]
            chosen.append(best.place)
            if best.next():
                heapq.heapreplace(waiting, best)
            else:
                heapq.heappop(waiting)
        return chosen

    def bounds(self, place: int, waited: tuple[float, float]) -> tuple[float, float]:
        """Return bounds of the key of a member whose wait, times how many members there are, is known by bounds."""
        low, high = self._bounds(slice(place, place + 1), (np.array([waited[0]]), np.array([waited[1]])))
        return float(low[0]), float(high[0])

    def _bounds(self, places: slice, waited: KeyBounds) -> KeyBounds:
        if self.crowd.usable:
            return self.rough(places, waited)
        return np.full(len(waited[0]), -np.inf), np.full(len(waited[0]), np.inf)

    @abstractmethod
    def rough(self, places: slice, waited: KeyBounds) -> KeyBounds:
        """Return bounds of keys in floating point; the largest key is the best."""

    @abstractmethod
    def exact(self, place: int, wait: Wait) -> Any:
        """Return a key that can be told from any other one."""

    @abstractmethod
    def beats(self, one: Any, other: Any) -> bool:
        """Say which of two exact keys is the better one."""


class Member:
    """The best member of a tally that is not yet taken."""

    def __init__(self, race: Race, place: int, word: int, waited: tuple[float, float]) -> None:
        self.place = place
        self._race = race
        self._wait = Wait(race.many[place], Uniform(race.source, word, 64))
        self._waited = waited
        self._look()

    def _look(self) -> None:
        self._low, self._high = self._race.bounds(self.place, self._waited)
        self._key: Any = None

    def next(self) -> bool:
        """Become the next member of the tally; False if that was the last one."""
        many, gap = self._race.many[self.place], self._wait.members
        if gap == many:
            return False
        word = self._race.source.bits(64)
        self._wait.add(Uniform(self._race.source, word, 64))
        low, high = float_filter.waits(np.array([word], np.uint64))
        share = many / (many - gap)
        self._waited = self._waited[0] + float(low[0]) * share, self._waited[1] + float(high[0]) * share
        self._look()
        return True

    def exact(self) -> Any:
        """Return the exact key."""
        if self._key is None:
            self._key = self._race.exact(self.place, self._wait)
        return self._key

    def __lt__(self, other: Member) -> bool:
        """Say whether this one comes before another."""
        if self._low > other._high:
            return True
        if other._low > self._high:
            return False
        return self._race.beats(self.exact(), other.exact())


class Wait:
    """How long the current member of a tally waits: the sum of the waits between members, the i-th over m - i + 1."""

    def __init__(self, many: int, first: Uniform) -> None:
        self._many = many
        # Where there are many members waits are close together, and their images close to one: digits make up for it.
        self.digits = many.bit_length() * 3 // 10 + 1
        self._uniforms = [first]
        self._sums: dict[tuple[int, int], tuple[int, Interval]] = {}

    @property
    def members(self) -> int:
        """Which member it is, the first being 1."""
        return len(self._uniforms)

    def add(self, uniform: Uniform) -> None:
        """Go on to the next member."""
        self._uniforms.append(uniform)

    def within(self, bits: int, digits: int) -> Interval:
        """Return the interval of the wait when so many bits of every uniform number are looked at."""
        done, total = self._sums.get((bits, digits), (0, _ZERO))
        for gap in range(done, self.members):
            wait = intervals.negative(intervals.ln(self._uniforms[gap].within(bits), digits))
            share = intervals.ratio(Fraction(1, self._many - gap), digits)
            total = intervals.add(total, intervals.times(wait, share, digits), digits)
        self._sums[bits, digits] = self.members, total
        return total


class Gumbel(Race):
    """The largest rate * score + Gumbel noise: the smallest logarithm of a wait less rate * score."""

    def __init__(self, source: Source, scores: Sequence[int], many: Sequence[int], rate: Fraction) -> None:
        super().__init__(source, scores, many, rate)
        self._rate = rate
        self._behind = self.crowd.behind()

    def rough(self, places: slice, waited: KeyBounds) -> KeyBounds:
        """Return bounds of the keys."""
        return float_filter.gumbel(self._behind[places], self.crowd.logs[places], waited)

    def exact(self, place: int, wait: Wait) -> Lazy:
        """Return the logarithm of the wait less the head start."""
        head_start = self._rate * self.scores[place]

        def value(bits: int) -> Interval:
            digits = intervals.digits_for(bits) + wait.digits
            time = intervals.ln(wait.within(bits, digits), digits)
            return intervals.add(time, intervals.negative(intervals.ratio(head_start, digits)), digits)

        return Lazy(value)

    def beats(self, one: Lazy, other: Lazy) -> bool:
        """Say whether one came earlier."""
        return intervals.smaller(one, other)


class LaplaceRace(Race):
    """The largest score + discrete Laplace noise, ties broken by fair chance.

    The j-th largest of m uniform numbers is exp(-wait); the noise is its image under the quantile function, and
    where in its step it fell is a fair tie-break.
    """

    def __init__(self, source: Source, scores: Sequence[int], many: Sequence[int], scale: Fraction) -> None:
        super().__init__(source, scores, many, Fraction(1))
        self.crowd.usable &= float_filter.in_range(scale)
        self._scale = scale
        self._behind = self.crowd.behind()

    def rough(self, places: slice, waited: KeyBounds) -> KeyBounds:
        """Return bounds of the noisy scores."""
        return float_filter.laplace(self._behind[places], self.crowd.logs[places], waited, float(self._scale))

    def exact(self, place: int, wait: Wait) -> NoisyRace:
        """Return the noisy score."""
        return NoisyRace(self.scores[place], wait, self._scale)

    def beats(self, one: NoisyRace, other: NoisyRace) -> bool:
        """Say whether one is larger, or has the larger mark at the same value."""
        if one.value != other.value:
            return one.value > other.value
        return intervals.smaller(other.tie(), one.tie())


class NoisyRace:
    """A score with discrete Laplace noise: an exact whole number, and its place within the quantile's step."""

    def __init__(self, score: int, wait: Wait, scale: Fraction) -> None:
        self._wait, self._scale = wait, scale
        self._bits = intervals.FIRST_BITS
        while (noise := self._settled(self._bits)) is None:
            self._bits *= 2
        self._noise = noise
        self.value = score + noise
        self._tie: Lazy | None = None

    def _uniform(self, bits: int, digits: int) -> Interval:
        return intervals.exp(intervals.negative(self._wait.within(bits, digits)), digits)

    def _settled(self, bits: int) -> int | None:
        """Return the noise, if so many bits settle it."""
        digits = intervals.digits_for(bits) + self._wait.digits
        low, high = self._uniform(bits, digits)
        if low <= 0 or high >= 1:
            return None
        least, most = self._quantile(low, digits)[0], self._quantile(high, digits)[1]
        return least if least == most else None

    def _quantile(self, uniform: Decimal, digits: int) -> tuple[int, int]:
        """Return bounds of the smallest x with F(x) >= uniform, F the distribution function of the noise."""
        point = (uniform, uniform)
        norm = intervals.add(_ONE, self._decay(digits), digits)
        scale = intervals.ratio(self._scale, digits)
        # F(x) = 1 - q^(x + 1) / (1 + q) from 0 on, and q^-x / (1 + q) below.
        upper = intervals.times(intervals.one_minus(point, digits), norm, digits)
        steps = intervals.times(intervals.negative(intervals.ln(upper, digits)), scale, digits)
        if ceil(steps[0]) - 1 >= 0:
            return ceil(steps[0]) - 1, ceil(steps[1]) - 1
        lower = intervals.times(point, norm, digits)
        steps = intervals.times(intervals.negative(intervals.ln(lower, digits)), scale, digits)
        below = -int(steps[1].to_integral_value("ROUND_FLOOR")), -int(steps[0].to_integral_value("ROUND_FLOOR"))
        return min(below[0], 0), min(below[1], 0)

    def _decay(self, digits: int) -> Interval:
        return intervals.exp(intervals.negative(intervals.ratio(1 / self._scale, digits)), digits)

    def tie(self) -> Lazy:
        """Return where in its step of the distribution function the uniform number fell: 0 at the foot, 1 on top."""
        if self._tie is None:
            self._tie = Lazy(self._mark, self._bits)
        return self._tie

    def _mark(self, bits: int) -> Interval:
        digits = intervals.digits_for(bits) + self._wait.digits + len(str(self._noise))
        decay = self._decay(digits)
        norm = intervals.add(_ONE, decay, digits)
        uniform = self._uniform(bits, digits)
        far = intervals.exp(intervals.ratio(abs(self._noise) / self._scale, digits), digits)
        if self._noise > 0:
            part = intervals.times(intervals.times(intervals.one_minus(uniform, digits), norm, digits), far, digits)
            above = intervals.one_minus(part, digits)
        else:
            part = intervals.times(intervals.times(uniform, norm, digits), far, digits)
            above = intervals.add(part, intervals.negative(decay), digits)
        return intervals.over(above, intervals.one_minus(decay, digits), digits)
