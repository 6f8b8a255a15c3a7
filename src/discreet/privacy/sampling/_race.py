"""Races: each tally offers its best remaining member, and the best offer is taken, `picks` times.

The key of a member is known by bounds in floating point (`float_filter`). Where the bounds of two keys overlap, exact
intervals are refined until they are disjoint (`intervals`). Members of a tally come in order: the wait of the j-th
member is a sum of j gaps. The proofs are in `selection.md`.
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

from . import _float_filter as float_filter, intervals
from ._float_filter import KeyBounds, TallyWeights
from ._sources import Source
from .intervals import Interval, Lazy, Uniform

_ZERO = (Decimal(0), Decimal(0))
_UNIT = (Decimal(1), Decimal(1))


class Race(ABC):
    """A race of tallies, with their scores, the largest first, and the number of members of each."""

    def __init__(self, source: Source, scores: Sequence[int], member_counts: Sequence[int], rate: Fraction) -> None:
        self.source, self.scores, self.member_counts = source, scores, member_counts
        self.weights = TallyWeights(scores, member_counts, rate)

    def winners(self, picks: int) -> list[int]:
        """Return the tally places of the first `picks` members, in the order of the members."""
        if not picks:
            return []
        words = self.source.words(len(self.member_counts))
        wait_bounds = float_filter.bound_waits(words)
        # The best `picks` members lie in the `picks` tallies with the best first members (`selection.md`, line 7).
        queue = [
            Member(self, place, int(words[place]), (float(wait_bounds[0][place]), float(wait_bounds[1][place])))
            for place in float_filter.find_contenders(*self._key_bounds(slice(None), wait_bounds), picks).tolist()
        ]
        heapq.heapify(queue)
        winner_places: list[int] = []
        while len(winner_places) < picks:
            leader = queue[0]
            winner_places.append(leader.place)
            if leader.advance():
                heapq.heapreplace(queue, leader)
            else:
                heapq.heappop(queue)
        return winner_places

    def single_key_bounds(self, place: int, wait_bounds: tuple[float, float]) -> tuple[float, float]:
        """Return bounds of the key of one member, given bounds of its wait times the member count."""
        low, high = self._key_bounds(slice(place, place + 1), (np.array([wait_bounds[0]]), np.array([wait_bounds[1]])))
        return float(low[0]), float(high[0])

    def _key_bounds(self, places: slice, wait_bounds: KeyBounds) -> KeyBounds:
        """Return bounds of keys; infinite bounds, so that intervals decide, where floating point is not usable."""
        if self.weights.usable:
            return self.bound_keys(places, wait_bounds)
        return np.full(len(wait_bounds[0]), -np.inf), np.full(len(wait_bounds[0]), np.inf)

    @abstractmethod
    def bound_keys(self, places: slice, wait_bounds: KeyBounds) -> KeyBounds:
        """Return bounds of keys in floating point; the largest key is the best."""

    @abstractmethod
    def exact_key(self, place: int, wait: Wait) -> Any:
        """Return a key that can be compared exactly with any other key."""

    @abstractmethod
    def is_better(self, key: Any, other_key: Any) -> bool:
        """Return whether `key` is better than `other_key`, exactly."""


class Member:
    """The best remaining member of a tally."""

    def __init__(self, race: Race, place: int, word: int, wait_bounds: tuple[float, float]) -> None:
        self.place = place
        self._race = race
        self._wait = Wait(race.member_counts[place], Uniform(race.source, word, 64))
        self._wait_bounds = wait_bounds
        self._update_bounds()

    def _update_bounds(self) -> None:
        """Compute the bounds of the key, and forget the exact key of the previous member."""
        self._low, self._high = self._race.single_key_bounds(self.place, self._wait_bounds)
        self._key: Any = None

    def advance(self) -> bool:
        """Move on to the next member of the tally; return False if no member remains."""
        member_count, drawn_count = self._race.member_counts[self.place], self._wait.member_number
        if drawn_count == member_count:
            return False
        word = self._race.source.bits(64)
        self._wait.add(Uniform(self._race.source, word, 64))
        low, high = float_filter.bound_waits(np.array([word], np.uint64))
        # The gap before member i of m is exponential with rate m - i + 1 (Rényi); wait bounds are in units of 1 / m.
        scale = member_count / (member_count - drawn_count)
        self._wait_bounds = self._wait_bounds[0] + float(low[0]) * scale, self._wait_bounds[1] + float(high[0]) * scale
        self._update_bounds()
        return True

    def exact_key(self) -> Any:
        """Return the exact key, computed on first use."""
        if self._key is None:
            self._key = self._race.exact_key(self.place, self._wait)
        return self._key

    def __lt__(self, other: Member) -> bool:
        """Return whether this member comes before the other member: the heap keeps the best member first."""
        if self._low > other._high:
            return True
        if other._low > self._high:
            return False
        return self._race.is_better(self.exact_key(), other.exact_key())


class Wait:
    """The wait of the current member of a tally of m members: sum of E_i / (m - i + 1), E_i exponential (Rényi)."""

    def __init__(self, member_count: int, first_uniform: Uniform) -> None:
        self._member_count = member_count
        # In a large tally, waits are close together and their images close to 1: log10(m) further digits help.
        self.digits = member_count.bit_length() * 3 // 10 + 1
        self._uniforms = [first_uniform]
        self._sums: dict[tuple[int, int], tuple[int, Interval]] = {}

    @property
    def member_number(self) -> int:
        """The number of the current member; the first member has the number 1."""
        return len(self._uniforms)

    def add(self, uniform: Uniform) -> None:
        """Go on to the next member, whose gap is read off `uniform`."""
        self._uniforms.append(uniform)

    def sum_gaps(self, bits: int, digits: int) -> Interval:
        """Return the interval of the wait, given `bits` bits of each uniform number."""
        # Sums of earlier members are kept, so that `picks` members of one tally cost O(picks) and not O(picks^2).
        summed_count, total = self._sums.get((bits, digits), (0, _ZERO))
        for gap in range(summed_count, self.member_number):
            wait = intervals.negate(intervals.ln(self._uniforms[gap].narrow_to(bits), digits))
            share = intervals.ratio(Fraction(1, self._member_count - gap), digits)
            total = intervals.add(total, intervals.multiply(wait, share, digits), digits)
        self._sums[bits, digits] = self.member_number, total
        return total


class Gumbel(Race):
    """Selection by the largest rate * score + Gumbel noise: the smallest ln(wait) - rate * score."""

    def __init__(self, source: Source, scores: Sequence[int], member_counts: Sequence[int], rate: Fraction) -> None:
        super().__init__(source, scores, member_counts, rate)
        self._rate = rate
        self._rate_gaps = self.weights.rate_gaps()

    def bound_keys(self, places: slice, wait_bounds: KeyBounds) -> KeyBounds:
        """Return bounds of the keys."""
        return float_filter.bound_gumbel_keys(self._rate_gaps[places], self.weights.log_counts[places], wait_bounds)

    def exact_key(self, place: int, wait: Wait) -> Lazy:
        """Return ln(wait) - rate * score."""
        head_start = self._rate * self.scores[place]

        def value(bits: int) -> Interval:
            digits = intervals.digits_for(bits) + wait.digits
            log_wait = intervals.ln(wait.sum_gaps(bits, digits), digits)
            return intervals.add(log_wait, intervals.negate(intervals.ratio(head_start, digits)), digits)

        return Lazy(value)

    def is_better(self, key: Lazy, other_key: Lazy) -> bool:
        """Return whether `key` is the smaller key."""
        return intervals.is_smaller(key, other_key)


class LaplaceRace(Race):
    """Selection by the largest score + discrete Laplace noise; ties are broken by fair chance.

    The j-th largest of m uniform numbers is exp(-wait). The noise is its image under the quantile function; the
    position of the uniform number within the step of the distribution function breaks ties fairly.
    """

    def __init__(self, source: Source, scores: Sequence[int], member_counts: Sequence[int], scale: Fraction) -> None:
        super().__init__(source, scores, member_counts, Fraction(1))
        self.weights.usable &= float_filter.is_in_range(scale)
        self._scale = scale
        self._rate_gaps = self.weights.rate_gaps()

    def bound_keys(self, places: slice, wait_bounds: KeyBounds) -> KeyBounds:
        """Return bounds of the noisy scores."""
        return float_filter.bound_laplace_keys(
            self._rate_gaps[places], self.weights.log_counts[places], wait_bounds, float(self._scale)
        )

    def exact_key(self, place: int, wait: Wait) -> NoisyRace:
        """Return the noisy score."""
        return NoisyRace(self.scores[place], wait, self._scale)

    def is_better(self, key: NoisyRace, other_key: NoisyRace) -> bool:
        """Return whether `key` has the larger value or, at equal values, the higher position in its step."""
        if key.value != other_key.value:
            return key.value > other_key.value
        return intervals.is_smaller(other_key.tie_break(), key.tie_break())


class NoisyRace:
    """A score with discrete Laplace noise: an exact whole number, and a position within the quantile's step."""

    def __init__(self, score: int, wait: Wait, scale: Fraction) -> None:
        self._wait, self._scale = wait, scale
        self._bits = intervals.FIRST_BITS
        while (noise := self._settle_noise(self._bits)) is None:
            self._bits *= 2
        self._noise = noise
        self.value = score + noise
        self._tie_break: Lazy | None = None

    def _uniform(self, bits: int, digits: int) -> Interval:
        """Return the interval of the uniform number exp(-wait)."""
        return intervals.exp(intervals.negate(self._wait.sum_gaps(bits, digits)), digits)

    def _settle_noise(self, bits: int) -> int | None:
        """Return the noise, or None if `bits` bits leave it open."""
        digits = intervals.digits_for(bits) + self._wait.digits
        low, high = self._uniform(bits, digits)
        if low <= 0 or high >= 1:
            return None
        noise_low, noise_high = self._quantile(low, digits)[0], self._quantile(high, digits)[1]
        return noise_low if noise_low == noise_high else None

    def _quantile(self, uniform: Decimal, digits: int) -> tuple[int, int]:
        """Return bounds of the smallest x with F(x) >= uniform, F the distribution function of the noise."""
        point = (uniform, uniform)
        norm = intervals.add(_UNIT, self._decay(digits), digits)
        scale = intervals.ratio(self._scale, digits)
        # F(x) = 1 - q^(x + 1) / (1 + q) from 0 on, and q^-x / (1 + q) below.
        upper = intervals.multiply(intervals.one_minus(point, digits), norm, digits)
        steps = intervals.multiply(intervals.negate(intervals.ln(upper, digits)), scale, digits)
        # Next to 0 either branch is right: the interval of each contains the value of the other (`selection.md`,
        # "Keys").
        if ceil(steps[0]) - 1 >= 0:
            return ceil(steps[0]) - 1, ceil(steps[1]) - 1
        lower = intervals.multiply(point, norm, digits)
        steps = intervals.multiply(intervals.negate(intervals.ln(lower, digits)), scale, digits)
        noise_bounds = -int(steps[1].to_integral_value("ROUND_FLOOR")), -int(steps[0].to_integral_value("ROUND_FLOOR"))
        return min(noise_bounds[0], 0), min(noise_bounds[1], 0)

    def _decay(self, digits: int) -> Interval:
        """Return the interval of q = exp(-1 / scale)."""
        return intervals.exp(intervals.negate(intervals.ratio(1 / self._scale, digits)), digits)

    def tie_break(self) -> Lazy:
        """Return the position of the uniform number within its step of the distribution function, from 0 to 1."""
        if self._tie_break is None:
            self._tie_break = Lazy(self._step_position, self._bits)
        return self._tie_break

    def _step_position(self, bits: int) -> Interval:
        """Return the interval of (U - F(noise - 1)) / (F(noise) - F(noise - 1))."""
        # The step of a large noise is narrow: further digits keep the position sharp.
        digits = intervals.digits_for(bits) + self._wait.digits + len(str(self._noise))
        decay = self._decay(digits)
        norm = intervals.add(_UNIT, decay, digits)
        uniform = self._uniform(bits, digits)
        inverse_decay = intervals.exp(intervals.ratio(abs(self._noise) / self._scale, digits), digits)
        if self._noise > 0:
            remainder = intervals.multiply(
                intervals.multiply(intervals.one_minus(uniform, digits), norm, digits), inverse_decay, digits
            )
            height = intervals.one_minus(remainder, digits)
        else:
            remainder = intervals.multiply(intervals.multiply(uniform, norm, digits), inverse_decay, digits)
            height = intervals.add(remainder, intervals.negate(decay), digits)
        return intervals.divide(height, intervals.one_minus(decay, digits), digits)
