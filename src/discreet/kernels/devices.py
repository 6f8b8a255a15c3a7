"""Many devices at once: the very reports `local.device.client` makes, drawn from a stream of words per person.

A simulation gives every person a stream of words that depends on the seed and the person alone, so the order of work
does not matter and any one report can be made again by `local.device.client` from the same bytes. Each function mirrors
the one of `local.device.client` or `local.device.draws` it is named after, draw for draw.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from . import plain_devices
from .jit import helper, kernel
from .mining import I32, I64, U64
from .parts import sort

U32: TypeAlias = NDArray[np.uint32]

_ONE = np.uint64(1)
_LOW = np.uint64(0xFFFFFFFF)
_WORD = np.uint64(1 << 32)
_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_S27 = np.uint64(27)
_S30 = np.uint64(30)
_S31 = np.uint64(31)
_S32 = np.uint64(32)
_HASH1 = np.uint32(0x21F0AAAD)
_HASH2 = np.uint32(0xD35A2D97)


@helper
def scrambled(value: np.uint64) -> np.uint64:
    """Return a word of 64 bits mixed up (the finaliser of SplitMix64: Steele, Lea, Flood 2014)."""
    value = (value ^ (value >> _S30)) * _MIX1
    value = (value ^ (value >> _S27)) * _MIX2
    return value ^ (value >> _S31)


@helper
def begin(state: U64, seed: np.uint64, person: int) -> None:
    """Start the stream of one person."""
    state[0] = scrambled(scrambled(seed) + np.uint64(person) * _STEP)
    state[1] = np.uint64(0)  # the half of the last 64 bits that is still to be used
    state[2] = np.uint64(0)  # whether there is one


@helper
def word(state: U64) -> np.uint64:
    """Return the next 32 bits of the stream, the low half of 64 first."""
    if state[2] == _ONE:
        state[2] = np.uint64(0)
        return np.uint64(state[1])
    state[0] += _STEP
    drawn = scrambled(state[0])
    state[1] = drawn >> _S32
    state[2] = _ONE
    return drawn & _LOW


@helper
def below(state: U64, bound: int) -> int:
    """Return a number below the bound."""
    if bound <= 1:
        return np.int64(0)
    size = np.uint64(bound)
    limit = _WORD - _WORD % size
    while True:
        drawn = word(state)
        if drawn < limit:
            return np.int64(drawn % size)


@helper
def place(state: U64, weight: np.uint64, inside: int, outside: int) -> int:
    """Return a place: the first `inside` have `weight` each, those after them share the rest."""
    low = word(state)
    drawn = low + (word(state) << _S32)
    mass = weight * np.uint64(inside)
    if drawn < mass:
        return np.int64(drawn // weight)
    return np.int64(inside) + np.int64((drawn - mass) % np.uint64(outside))


@helper
def hashed(item: int, first: np.uint32, second: np.uint32) -> np.uint32:
    """Return the hash of an item as `local.device.draws.mixed` has it."""
    value = np.uint32(np.uint32(item) * first + second)
    value = np.uint32((value ^ (value >> np.uint32(16))) * _HASH1)
    value = np.uint32((value ^ (value >> np.uint32(15))) * _HASH2)
    return np.uint32(value ^ (value >> np.uint32(15)))


@helper
def symbol(state: U64, held: I32, low: int, high: int, pad: int, size: int, dummies: int) -> int:
    """Return the one symbol a padded row is sampled down to."""
    many = high - low
    drawn = below(state, max(many, pad))
    if drawn < many:
        return np.int64(held[low + drawn])
    return np.int64(size + (drawn - many) % dummies)


@helper
def some(state: U64, held: I32, low: int, high: int, many: int, chosen: I64) -> int:
    """Put `many` of a row into `chosen`, or all where there are no more; return how many those are."""
    count = high - low
    if count <= many:
        for place_ in range(count):
            chosen[place_] = held[low + place_]
        return count
    for place_ in range(count):
        chosen[place_] = held[low + place_]
    for place_ in range(many):
        other = place_ + below(state, count - place_)
        swapped = chosen[place_]
        chosen[place_] = chosen[other]
        chosen[other] = swapped
    return many


@helper
def longest_row(offsets: I64) -> int:
    """Return how many values the longest row has, at least 1."""
    longest = 1
    for row in range(len(offsets) - 1):
        longest = max(longest, offsets[row + 1] - offsets[row])
    return longest


@kernel
def sample_symbols(
    offsets: I64, held: I32, people: I64, seed: np.uint64, pad: int, size: int, dummies: int, out: I64
) -> None:
    """Sample everyone's row down to one symbol: what an aggregated simulation starts from."""
    state = np.zeros(3, np.uint64)
    for row in range(len(people)):
        begin(state, seed, people[row])
        out[row] = symbol(state, held, offsets[row], offsets[row + 1], pad, size, dummies)


@kernel
def sample_sets(offsets: I64, held: I32, people: I64, seed: np.uint64, pad: int, counts: I64) -> None:
    """Count how many people hold each value once everyone's row is cut to `pad` values."""
    state = np.zeros(3, np.uint64)
    chosen = np.empty(longest_row(offsets), np.int64)
    for row in range(len(people)):
        begin(state, seed, people[row])
        many = some(state, held, offsets[row], offsets[row + 1], pad, chosen)
        for at in range(many):
            counts[chosen[at]] += 1


@kernel
def report_values(
    offsets: I64,
    held: I32,
    people: I64,
    seed: np.uint64,
    pad: int,
    size: int,
    dummies: int,
    weight: np.uint64,
    out: I64,
) -> None:
    """Report by generalised randomised response."""
    state = np.zeros(3, np.uint64)
    for row in range(len(people)):
        begin(state, seed, people[row])
        own = symbol(state, held, offsets[row], offsets[row + 1], pad, size, dummies)
        drawn = place(state, weight, 1, size + dummies - 1)
        out[row] = own if drawn == 0 else drawn - (1 if drawn <= own else 0)


@kernel
def report_hashed(
    offsets: I64,
    held: I32,
    people: I64,
    seed: np.uint64,
    pad: int,
    size: int,
    dummies: int,
    weight: np.uint64,
    buckets: int,
    out: I64,
    firsts: U32,
    seconds: U32,
) -> None:
    """Report by randomised response over hash buckets."""
    state = np.zeros(3, np.uint64)
    for row in range(len(people)):
        begin(state, seed, people[row])
        own = symbol(state, held, offsets[row], offsets[row + 1], pad, size, dummies)
        firsts[row] = np.uint32(word(state) | _ONE)
        seconds[row] = np.uint32(word(state))
        bucket = np.int64((np.uint64(hashed(own, firsts[row], seconds[row])) * np.uint64(buckets)) >> _S32)
        drawn = place(state, weight, 1, buckets - 1)
        out[row] = bucket if drawn == 0 else drawn - (1 if drawn <= bucket else 0)


@helper
def bits(state: U64, count: int, threshold: int, out: U32, row: int) -> None:
    """Put bits into a row of words, each 1 with the chance of the threshold."""
    width = (count + 31) // 32
    level = 0
    while (threshold >> level) & 1 == 0:
        level += 1
    for at in range(width):
        out[row, at] = np.uint32(0)
    while level < 32:
        chosen = (threshold >> level) & 1
        for at in range(width):
            fair = np.uint32(word(state))
            if chosen == 1:
                out[row, at] = out[row, at] | fair
            else:
                out[row, at] = out[row, at] & fair
        level += 1
    if count % 32:
        out[row, width - 1] = out[row, width - 1] & np.uint32((1 << (count % 32)) - 1)


@kernel
def report_bits(
    offsets: I64, held: I32, people: I64, seed: np.uint64, pad: int, size: int, keep: int, lie: int, out: U32
) -> None:
    """Report by unary encoding: a row of 32-bit words per person."""
    state = np.zeros(3, np.uint64)
    for row in range(len(people)):
        begin(state, seed, people[row])
        own = symbol(state, held, offsets[row], offsets[row + 1], pad, size, 1)
        bits(state, size, lie, out, row)
        if own < size:
            bit = np.uint32(np.uint32(1) << np.uint32(own % 32))
            out[row, own // 32] = out[row, own // 32] & ~bit
            if word(state) < np.uint64(keep):
                out[row, own // 32] = out[row, own // 32] | bit


@kernel
def report_signed(
    offsets: I64,
    held: I32,
    people: I64,
    seed: np.uint64,
    pad: int,
    size: int,
    keep: int,
    lie: int,
    told: U32,
    signs: U32,
) -> None:
    """Report which keys are told, and which of those with a plus: two rows of 32-bit words per person."""
    state = np.zeros(3, np.uint64)
    for row in range(len(people)):
        begin(state, seed, people[row])
        own = symbol(state, held, offsets[row], offsets[row + 1], pad, size, 1)
        bits(state, (size + 1) // 2, lie, told, row)
        bits(state, (size + 1) // 2, 1 << 31, signs, row)
        kept = word(state) < np.uint64(keep)
        key = own // 2
        bit = np.uint32(np.uint32(1) << np.uint32(key % 32))
        if own < size and kept and told[row, key // 32] & bit == 0:
            told[row, key // 32] = told[row, key // 32] | bit
            if own % 2 == 1:
                signs[row, key // 32] = signs[row, key // 32] | bit
            else:
                signs[row, key // 32] = signs[row, key // 32] & ~bit
        for at in range(told.shape[1]):
            signs[row, at] = signs[row, at] & told[row, at]


@kernel
def report_rows(
    offsets: I64,
    held: I32,
    people: I64,
    seed: np.uint64,
    pad: int,
    size: int,
    dummies: int,
    rows: int,
    keep: int,
    out: I64,
    signs: I64,
) -> None:
    """Report one entry of a Hadamard matrix."""
    state = np.zeros(3, np.uint64)
    for row in range(len(people)):
        begin(state, seed, people[row])
        own = symbol(state, held, offsets[row], offsets[row + 1], pad, size, dummies)
        out[row] = below(state, rows)
        both = np.int64(out[row]) & (own + 1)
        sign = 0
        while both:
            both &= both - 1
            sign = 1 - sign
        signs[row] = sign if word(state) < np.uint64(keep) else 1 - sign


@kernel(plain=plain_devices.report_subsets, work=lambda *given: 30.0 * given[-1].size)
def report_subsets(
    offsets: I64,
    held: I32,
    people: I64,
    seed: np.uint64,
    pad: int,
    size: int,
    dummies: int,
    hit: int,
    one: bool,
    out: I32,
) -> None:
    """Report a subset that is likelier to hold one of the own values: of one symbol (`one`), or of a padded set."""
    state = np.zeros(3, np.uint64)
    own = np.empty(max(longest_row(offsets), pad), np.int64)
    many = out.shape[1]
    everything = size + dummies
    mine = np.zeros(everything, np.uint8)
    chosen = np.zeros(everything, np.uint8)
    for row in range(len(people)):
        begin(state, seed, people[row])
        low, high = offsets[row], offsets[row + 1]
        if one:
            own[0] = symbol(state, held, low, high, pad, size, dummies)
            owned = 1
        else:
            owned = some(state, held, low, high, pad, own)
            for at in range(owned, pad):
                own[at] = size + at - owned
            owned = pad
        for at in range(owned):
            mine[own[at]] = 1
        inside = word(state) < np.uint64(hit)
        while True:
            count = 0
            met = 0
            if inside:
                first = own[below(state, owned)]
                chosen[first] = 1
                out[row, 0] = first
                count = 1
                met = 1
            while count < many:
                other = below(state, everything)
                if chosen[other] == 0 and (inside or mine[other] == 0):
                    chosen[other] = 1
                    out[row, count] = other
                    count += 1
                    met += mine[other]
            for at in range(many):
                chosen[out[row, at]] = 0
            if not inside or below(state, met) == 0:
                break
        for at in range(owned):
            mine[own[at]] = 0
        sort(out[row], 0, many)


@kernel
def report_points(
    offsets: I64,
    held: I32,
    people: I64,
    seed: np.uint64,
    pad: int,
    weight: np.uint64,
    arc: int,
    out: U32,
    firsts: U32,
    seconds: U32,
) -> None:
    """Report a point of the wheel, likelier within an arc of one of the own values."""
    state = np.zeros(3, np.uint64)
    own = np.empty(longest_row(offsets), np.int64)
    for row in range(len(people)):
        begin(state, seed, people[row])
        many = some(state, held, offsets[row], offsets[row + 1], pad, own)
        firsts[row] = np.uint32(word(state) | _ONE)
        seconds[row] = np.uint32(word(state))
        out[row] = np.uint32(spun(state, own, many, firsts[row], seconds[row], arc, np.int64(1) << 32, weight))


@helper
def spun(
    state: U64, own: I64, many: int, first: np.uint32, second: np.uint32, arc: int, circle: int, weight: np.uint64
) -> int:
    """Return a point of a circle, likelier within an arc of one of the first so many own values."""
    starts = np.empty(many, np.int64)
    for at in range(many):
        starts[at] = np.int64((np.uint64(hashed(own[at], first, second)) * np.uint64(circle)) >> _S32)
    sort(starts, 0, many)
    wrapped = max(starts[many - 1] + arc - circle, 0) if many else 0
    inside = wrapped
    end = wrapped
    for at in range(many):
        begin_ = max(starts[at], end)
        end = max(min(starts[at] + arc, circle), end)
        inside += end - begin_
    drawn = place(state, weight, inside, circle - inside)
    return _point(starts, many, arc, circle, wrapped, drawn, inside)


@helper
def _point(starts: I64, many: int, arc: int, circle: int, wrapped: int, drawn: int, inside: int) -> int:
    """Return the point that a place inside or outside of the arcs stands for."""
    missed = drawn - inside
    end = np.int64(0)
    for at in range(-1, many):
        if at < 0:
            begin_ = np.int64(0)
            end = np.int64(wrapped)
        else:
            begin_ = max(starts[at], end)
            end = max(min(starts[at] + arc, circle), end)
        if missed >= begin_:
            missed += end - begin_
        if 0 <= drawn < end - begin_:
            return begin_ + drawn
        drawn -= end - begin_
    return missed


@helper
def _sign(state: U64, value: int, slope: int) -> int:
    return 1 if word(state) < np.uint64((np.int64(1) << 31) + slope * value) else 0


@helper
def _piece(state: U64, value: int, span: int, step: int, window: int, points: int, weight: np.uint64) -> int:
    start = (value + span) * step
    drawn = place(state, weight, window, points - window)
    if drawn < window:
        return start + drawn
    return drawn - window if drawn - window < start else drawn


@kernel
def report_signs(values: I64, people: I64, seed: np.uint64, slope: int, out: I64) -> None:
    """Report whether a value is high or low, likelier as it is."""
    state = np.zeros(3, np.uint64)
    for row in range(len(people)):
        begin(state, seed, people[row])
        out[row] = _sign(state, values[row], slope)


@kernel
def report_pieces(
    values: I64,
    people: I64,
    seed: np.uint64,
    span: int,
    step: int,
    window: int,
    points: int,
    weight: np.uint64,
    out: I64,
) -> None:
    """Report a point, likelier one of the window of the value."""
    state = np.zeros(3, np.uint64)
    for row in range(len(people)):
        begin(state, seed, people[row])
        out[row] = _piece(state, values[row], span, step, window, points, weight)


@kernel
def report_either(
    values: I64,
    people: I64,
    seed: np.uint64,
    choose: int,
    slope: int,
    span: int,
    step: int,
    window: int,
    points: int,
    weight: np.uint64,
    kinds: I64,
    out: I64,
) -> None:
    """Toss a coin, and report a point (kind 1) or a sign (kind 0)."""
    state = np.zeros(3, np.uint64)
    for row in range(len(people)):
        begin(state, seed, people[row])
        if word(state) < np.uint64(choose):
            kinds[row] = 1
            out[row] = _piece(state, values[row], span, step, window, points, weight)
        else:
            kinds[row] = 0
            out[row] = _sign(state, values[row], slope)


@kernel(plain=plain_devices.tickets)
def tickets(seed: np.uint64, out: U32) -> None:
    """Draw the one number of each person."""
    state = np.zeros(3, np.uint64)
    for person in range(len(out)):
        begin(state, seed, person)
        out[person] = np.uint32(word(state))
