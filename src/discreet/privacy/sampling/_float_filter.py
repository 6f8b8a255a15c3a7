"""Floating-point bounds that discard candidates that certainly lost, so that exact arithmetic decides the rest only.

Every number here is a bound: a key certainly lies between its `low` and its `high`, and a discarded candidate has
certainly lost. Where bounds leave a selection open, `selection` and `race` refine decimal intervals with more random
bits. The error analysis is in `selection.md`, numeric notes.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import exp, isqrt, log, log1p

import numpy as np
from numpy.typing import NDArray

from ._sources import Source

F64 = NDArray[np.float64]
U64 = NDArray[np.uint64]
KeyBounds = tuple[F64, F64]

# A word closer than this to either end leaves a relative error over RELATIVE_ERROR (`selection.md`, "Waits").
MIN_WORD = 2**24
# The relative error of a wait read off 64 bits: four times the proven 2^-24 (`selection.md`, "Waits").
RELATIVE_ERROR = 2.0**-22
# The relative rounding error of a logarithm: 128 units of 2^-53, eight times the proven bound (`selection.md`, "Keys").
ROUNDING = 2.0**-46
# A safety factor on the proven distance to a border: a larger factor sends more picks to exact arithmetic.
BORDER_FACTOR = 8

_MIN_SLACK = 2.0**-30  # absolute error of a key (`selection.md`, "Keys")
_MAX_RATE = Fraction(2**900)  # room to multiply by a score gap of 2^64 before floating point overflows at 2^1024
_MAX_COUNT_BITS = 2**20  # of a member count: its logarithm stays below 2^19.5
# Larger draws more waits per pick, smaller repeats more picks.
_EXPECTED_RIVALS = 16  # candidates expected over the level in one pick; changes the speed and not the law
_MIN_TALLIES = 256  # with fewer tallies, all words are drawn at once; changes the speed and not the law
_MIN_LEVEL_GAP = 2.0**-10  # below this gap ln(-ln(1 - exp(-gap))) loses its digits (`selection.md`, "Levels")
_MAX_RATE_GAP = 200.0  # new weights once the best remaining weight is below exp(-200): double range ends near exp(-745)


def is_in_range(value: Fraction) -> bool:
    """Return whether floating point can represent a rate or a scale with room to calculate."""
    return 1 / _MAX_RATE <= value <= _MAX_RATE


class TallyWeights:
    """The gaps of tally scores, times the rate, and the logarithm of each remaining member count."""

    def __init__(self, scores: Sequence[int], member_counts: Sequence[int], rate: Fraction) -> None:
        # Offsets are exact in 64 bits, and are rounded once, in `rate_gaps`.
        gaps_fit_words = not scores or scores[0] - scores[-1] < 2**64
        self.usable = (
            gaps_fit_words and max(member_counts, default=1).bit_length() <= _MAX_COUNT_BITS and is_in_range(rate)
        )
        self._offsets = np.array([scores[0] - score for score in scores] if self.usable else [], np.uint64)
        self._rate = float(rate) if self.usable else 0.0
        self.log_counts = np.array([log(count) for count in member_counts] if self.usable else [], np.float64)

    def rate_gaps(self, start: int = 0) -> F64:
        """Return rate * (score[start] - score[j]) for each place j from `start` on."""
        offsets = self._offsets[start:]
        return (offsets - offsets[:1]).astype(np.float64) * self._rate

    def update_count(self, place: int, remaining: int) -> None:
        """Set the number of remaining candidates of a tally."""
        if self.usable:
            self.log_counts[place] = log(remaining) if remaining else -np.inf


class PeelingFilter:
    """One pick of the exponential mechanism: the tally of a uniform number that lies clear of every border.

    Weights are summed in sqrt(n) blocks, so that one pick among n tallies costs O(sqrt(n)).
    """

    def __init__(self, scores: Sequence[int], member_counts: Sequence[int], rate: Fraction) -> None:
        self._weights = TallyWeights(scores, member_counts, rate)
        self._width = isqrt(len(member_counts)) + 1
        self._border_margin = BORDER_FACTOR * 2.0**-49 * (800 + self._weights.log_counts.max(initial=0.0) + self._width)
        self._first_place, self._shift = -1, 0.0
        self._rate_gaps = self._blocks = self._sums = np.empty(0)

    def find_place(self, start: int, uniform: float, uncertainty: float) -> int | None:
        """Return the place of a number in [uniform, uniform + uncertainty], or None if a border is too close."""
        if not self._weights.usable:
            return None
        if self._first_place < 0 or self._rate_gaps[start - self._first_place] > _MAX_RATE_GAP:
            self._compute_weights(start)
        totals = np.cumsum(self._sums)
        target, margin = uniform * totals[-1], (self._border_margin + uncertainty) * totals[-1]
        block = int(np.searchsorted(totals, target))
        block_start = totals[block - 1] if block else 0.0
        sums = block_start + np.cumsum(self._blocks[block])
        inner = min(int(np.searchsorted(sums, target)), self._width - 1)
        place = block * self._width + inner
        lower_border = (sums[inner - 1] if inner else block_start) if place else -np.inf
        return self._first_place + place if lower_border + margin < target < sums[inner] - margin else None

    def _compute_weights(self, start: int) -> None:
        """Compute the weights of the tallies from the place `start` on."""
        self._rate_gaps = self._weights.rate_gaps(start)
        exponents = self._weights.log_counts[start:] - self._rate_gaps
        self._first_place, self._shift = start, float(exponents.max())
        self._blocks = np.zeros((-(-len(exponents) // self._width), self._width))
        # The shift makes the largest weight 1, so that no weight overflows.
        self._blocks.ravel()[: len(exponents)] = np.exp(exponents - self._shift)
        self._sums = self._blocks.sum(axis=1)

    def update_count(self, place: int, remaining: int) -> None:
        """Remove one candidate of a tally, and set its number of remaining candidates."""
        if not self._weights.usable:
            return
        self._weights.update_count(place, remaining)
        block, inner = divmod(place - self._first_place, self._width)
        exponent = self._weights.log_counts[place] - self._rate_gaps[place - self._first_place] - self._shift
        self._blocks[block, inner] = exp(exponent)
        # A fresh sum of the block, and no difference: differences would accumulate rounding errors.
        self._sums[block] = self._blocks[block].sum()


def bound_waits(words: U64) -> KeyBounds:
    """Return bounds of -ln U for each uniform number U that begins with a word of 64 bits."""
    complements = ~words  # the bits of 1 - U, so that a number next to 1 loses none of them
    value = (words.astype(np.float64) + 0.5) * 2.0**-64
    complement = (complements.astype(np.float64) + 0.5) * 2.0**-64
    wait = np.where(complement < 0.5, -np.log1p(-np.minimum(complement, 0.5)), -np.log(value))
    is_bounded = (words >= MIN_WORD) & (complements >= MIN_WORD)
    return np.where(is_bounded, wait * (1 - RELATIVE_ERROR), 0.0), np.where(
        is_bounded, wait * (1 + RELATIVE_ERROR), np.inf
    )


def bound_gumbel_keys(rate_gaps: F64, log_counts: F64, wait_bounds: KeyBounds) -> KeyBounds:
    """Return bounds of -rate_gap - ln(wait / member_count), the Gumbel key of a member, for each tally.

    `wait_bounds` are bounds of the wait times the member count; a wait of 0 or infinity gives an infinite bound.
    """
    slack = _MIN_SLACK + ROUNDING * (rate_gaps + log_counts)
    with np.errstate(divide="ignore"):
        log_low, log_high = np.log(wait_bounds[0]), np.log(wait_bounds[1])
    return log_counts - rate_gaps - log_high - slack, log_counts - rate_gaps - log_low + slack


def bound_laplace_keys(score_gaps: F64, log_counts: F64, wait_bounds: KeyBounds, scale: float) -> KeyBounds:
    """Return bounds of discrete Laplace noise less the score gap, both whole numbers, for each tally."""
    # q = exp(-1 / scale) is below exp(-512) for smaller scales: ln(1 + q) is then 0 within the slack.
    norm = log1p(exp(-1 / scale)) if scale > 2.0**-9 else 0.0
    bounds = []
    for wait, sign in ((wait_bounds[1], -1.0), (wait_bounds[0], 1.0)):
        with np.errstate(divide="ignore", over="ignore"):
            exponents = np.log(wait) - log_counts
            positive_noise = -scale * (_log_tail(exponents) + norm)
            negative_noise = scale * (norm - np.exp(exponents))
        # The slack is added before rounding up: the computed quantile may lie just beyond a whole number.
        slack = sign * scale * (_MIN_SLACK + ROUNDING * log_counts)
        noise = np.where(
            positive_noise > 0,
            np.ceil(positive_noise * (1 + sign * ROUNDING) + slack) - 1,
            np.ceil(negative_noise - sign * ROUNDING * np.minimum(negative_noise, 0.0) + slack),
        )
        # A double does not separate whole numbers beyond 2^52.
        magnitudes = np.abs(noise) + score_gaps
        bounds.append(noise - score_gaps + sign * np.where(magnitudes < 2.0**52, 0.0, magnitudes * ROUNDING))
    return bounds[0], bounds[1]


def _log_tail(exponents: F64) -> F64:
    """Return ln(1 - exp(-t)) for t = exp(exponents); t is far below 1 in tallies of many members."""
    # For t < exp(-40), ln(1 - exp(-t)) = ln t to within t / 2, below the rounding error.
    is_tiny = exponents < -40.0
    log_tails = np.log(-np.expm1(-np.exp(np.clip(exponents, -40.0, 709.0))))
    return np.where(is_tiny, exponents, log_tails)


def find_contenders(low: F64, high: F64, picks: int) -> NDArray[np.int64]:
    """Return the places of the candidates that may be among the best `picks`."""
    if len(low) <= picks:
        return np.arange(len(low))
    # At least `picks` keys reach the bar: a key below it is certainly beaten by `picks` keys.
    bar = np.partition(low, len(low) - picks)[len(low) - picks]
    return np.flatnonzero(high >= bar)


class Flips:
    """Filter of the tallies that may have the largest rate * score + exponential noise, pick after pick.

    Most keys lie so far below a level that the first eight bits of the number show it, and no further bits are drawn.
    The level is the sixteenth largest key of an earlier pick. A new level is set when no key reaches the current level.
    """

    def __init__(self, scores: Sequence[int], member_counts: Sequence[int], rate: Fraction) -> None:
        self._weights = TallyWeights(scores, member_counts, rate)
        self._tally_count = len(member_counts)
        self._rate_gaps = self._weights.rate_gaps()
        self._level = np.inf
        self._word_limits = np.empty(0, np.uint64)
        self._byte_limits = np.empty(0, np.uint8)

    def draw_words(self, source: Source, start: int) -> dict[int, int]:
        """Draw a uniform number for each tally; return the first 64 bits for each tally that may have the largest key.

        No tally before the place `start` has remaining candidates.
        """
        first_bytes = source.words(-(-self._tally_count // 8)).view(np.uint8)[: self._tally_count]
        if self._weights.usable and self._rate_gaps[start] > 2.0**20:  # at larger gaps, rounding would blur the keys
            self._rate_gaps[start:] = self._weights.rate_gaps(start)
            self._level = np.inf
        contender_places, words = np.empty(0, np.int64), np.empty(0, np.uint64)
        if self._level < np.inf:
            contender_places = np.flatnonzero(~first_bytes <= self._byte_limits)
            words = _append_bits(source, first_bytes[contender_places])
            is_over_level = ~words <= self._word_limits[contender_places]
            low, high = self._bound_keys(contender_places[is_over_level], words[is_over_level])
            # Discarded keys lie below the level: a key that is certainly over the level beats them all.
            if low.max(initial=-np.inf) > self._level:
                is_rival = high >= low.max()
                return dict(
                    zip(
                        contender_places[is_over_level][is_rival].tolist(),
                        words[is_over_level][is_rival].tolist(),
                        strict=True,
                    )
                )
        # No key is certainly over the level: the missing 56 bits of every number are drawn. Bits drawn already are
        # kept.
        is_drawn = np.zeros(self._tally_count, np.bool_)
        is_drawn[contender_places] = True
        all_words = np.empty(self._tally_count, np.uint64)
        all_words[contender_places], all_words[~is_drawn] = words, _append_bits(source, first_bytes[~is_drawn])
        places = np.arange(start, self._tally_count)
        if self._weights.usable:
            low, high = self._bound_keys(places, all_words[start:])
            self._set_level(low)
            places = places[high >= low.max()]
        return dict(zip(places.tolist(), all_words[places].tolist(), strict=True))

    def update_count(self, place: int, remaining: int) -> None:
        """Set the number of remaining candidates of a tally."""
        self._weights.update_count(place, remaining)
        if not remaining and self._level < np.inf:
            self._word_limits[place] = self._byte_limits[place] = 0

    def _bound_keys(self, places: NDArray[np.int64], words: U64) -> KeyBounds:
        """Return bounds of the largest key of each tally, given the first 64 bits of its number."""
        wait_low, wait_high = bound_waits(words)
        log_counts, rate_gaps = self._weights.log_counts[places], self._rate_gaps[places]
        is_empty = np.isneginf(log_counts)
        log_counts = np.where(is_empty, 0.0, log_counts)
        slack = _MIN_SLACK + ROUNDING * (np.abs(rate_gaps) + log_counts)
        with np.errstate(divide="ignore"):
            low = -_log_tail(np.log(wait_high) - log_counts) - rate_gaps - slack
            high = -_log_tail(np.log(wait_low) - log_counts) - rate_gaps + slack
        return np.where(is_empty, -np.inf, low), np.where(is_empty, -np.inf, high)

    def _set_level(self, low: F64) -> None:
        """Set the level to a key that about sixteen keys pass, and the limits of words that may pass the level."""
        self._level = np.inf
        if len(low) < _MIN_TALLIES:
            return
        level = float(np.partition(low, len(low) - _EXPECTED_RIVALS)[len(low) - _EXPECTED_RIVALS])
        if not np.isfinite(level):
            return
        self._level = level
        level_gaps = level + self._rate_gaps
        # Pr[key > level] = 1 - (1 - exp(-level_gap))^member_count
        safe_gaps = np.maximum(level_gaps, _MIN_LEVEL_GAP)
        # Above 40, ln(-ln(1 - exp(-gap))) = -gap to within exp(-40).
        is_rare = safe_gaps > 40.0
        log_tails = np.where(is_rare, -safe_gaps, np.log(-np.log1p(-np.exp(-np.minimum(safe_gaps, 40.0)))))
        probabilities = -np.expm1(-np.exp(np.minimum(self._weights.log_counts + log_tails, 700.0)))
        probabilities = np.where(level_gaps < _MIN_LEVEL_GAP, 1.0, np.minimum(probabilities * (1 + 2.0**-12), 1.0))
        probabilities[np.isneginf(self._weights.log_counts)] = 0.0
        self._word_limits = np.full(len(probabilities), 2**64 - 1, np.uint64)
        # Limits are raised by 2^-12 and one unit: the proven error of a probability is below 2^-18 (`selection.md`,
        # "Levels").
        is_limited = probabilities < 1 - 2.0**-12
        self._word_limits[is_limited] = (probabilities[is_limited] * 2.0**64).astype(np.uint64) + np.uint64(1)
        self._byte_limits = (self._word_limits >> np.uint64(56)).astype(np.uint8)


def _append_bits(source: Source, first_bytes: NDArray[np.uint8]) -> U64:
    """Return words that begin with the given eight bits, followed by 56 fresh bits."""
    return first_bytes.astype(np.uint64) << np.uint64(56) | source.words(len(first_bytes)) >> np.uint64(8)
