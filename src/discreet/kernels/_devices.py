"""Reports of many simulated devices: the reports of `local.device.client`, drawn from a stream of words per person.

A simulation gives each person a stream of words that depends on the seed and the number of the person alone. So the
result does not depend on the order of work, and `local.device.client` draws any single report again from equal bytes.
Each helper here mirrors one function of `local.device.client` or `local.device.draws`, draw for draw.

Names of parameters in all `report_...` kernels: row i of ``symbols[offsets[i]:offsets[i + 1]]`` belongs to person
``people[i]``; `pad` is the padded row size, `size` the number of real symbols, `dummies` the number of dummy symbols
behind them. A probability is given as a bound on a 32-bit word or as a weight in units of 2^-64.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from . import _plain_devices as plain_devices
from ._jit import helper, kernel
from ._parts import sort
from .mining import I32, I64, U64

U32: TypeAlias = NDArray[np.uint32]

_ONE_BIT = np.uint64(1)
_LOW = np.uint64(0xFFFFFFFF)
_WORD = np.uint64(1 << 32)
# Constants and shifts of SplitMix64 (Steele, Lea, Flood 2014); `plain_devices` repeats them.
_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_S27 = np.uint64(27)
_S30 = np.uint64(30)
_S31 = np.uint64(31)
_S32 = np.uint64(32)
# Multipliers of the 32-bit mixer of lowest bias found by Wellons' hash prospector (16-15-15, low bias 0.107).
_HASH1 = np.uint32(0x21F0AAAD)
_HASH2 = np.uint32(0xD35A2D97)


@helper
def mix_word(value: np.uint64) -> np.uint64:
    """Return a 64-bit word mixed by the finaliser of SplitMix64 (Steele, Lea, Flood 2014)."""
    value = (value ^ (value >> _S30)) * _MIX1
    value = (value ^ (value >> _S27)) * _MIX2
    return value ^ (value >> _S31)


@helper
def start_stream(state: U64, seed: np.uint64, person: int) -> None:
    """Start the stream of one person: write its first state to `state`."""
    # Two mixings keep streams of neighbouring people and of neighbouring seeds unrelated.
    state[0] = mix_word(mix_word(seed) + np.uint64(person) * _STEP)
    state[1] = np.uint64(0)  # the unused half of the last 64 bits
    state[2] = np.uint64(0)  # 1 while that half is unused


@helper
def draw_word(state: U64) -> np.uint64:
    """Return the next 32 bits of the stream, the low half of 64 first."""
    if state[2] == _ONE_BIT:
        state[2] = np.uint64(0)
        return np.uint64(state[1])
    state[0] += _STEP
    draw = mix_word(state[0])
    state[1] = draw >> _S32
    state[2] = _ONE_BIT
    return draw & _LOW


@helper
def draw_below(state: U64, bound: int) -> int:
    """Draw a number below `bound`, without bias: words at or above the last multiple of `bound` are rejected."""
    if bound <= 1:
        return np.int64(0)
    size = np.uint64(bound)
    # The largest multiple of the bound up to 2^32: below it, each remainder has an equal number of words.
    limit = _WORD - _WORD % size
    while True:
        draw = draw_word(state)
        if draw < limit:
            return np.int64(draw % size)


@helper
def draw_place(state: U64, weight: np.uint64, likely_count: int, other_count: int) -> int:
    """Draw a place: each of the first `likely_count` has the given weight, all further places share the remainder."""
    low = draw_word(state)
    # The low half comes first, as in `local.device.draws`.
    draw = low + (draw_word(state) << _S32)
    mass = weight * np.uint64(likely_count)
    if draw < mass:
        return np.int64(draw // weight)
    return np.int64(likely_count) + np.int64((draw - mass) % np.uint64(other_count))


@helper
def hash_item(item: int, factor: np.uint32, summand: np.uint32) -> np.uint32:
    """Return the 32-bit hash of an item, as `local.device.draws.hash_item` defines it."""
    value = np.uint32(np.uint32(item) * factor + summand)
    value = np.uint32((value ^ (value >> np.uint32(16))) * _HASH1)
    value = np.uint32((value ^ (value >> np.uint32(15))) * _HASH2)
    return np.uint32(value ^ (value >> np.uint32(15)))


@helper
def draw_symbol(state: U64, symbols: I32, low: int, high: int, pad: int, size: int, dummies: int) -> int:
    """Draw one symbol of a row that is padded to `pad` symbols with dummies."""
    row_size = high - low
    draw = draw_below(state, max(row_size, pad))
    if draw < row_size:
        return np.int64(symbols[low + draw])
    return np.int64(size + (draw - row_size) % dummies)


@helper
def draw_sample(state: U64, symbols: I32, low: int, high: int, max_count: int, samples: I64) -> int:
    """Sample up to `max_count` symbols of a row without replacement into `samples`; return the number of samples."""
    row_size = high - low
    if row_size <= max_count:
        for position in range(row_size):
            samples[position] = symbols[low + position]
        return row_size
    for position in range(row_size):
        samples[position] = symbols[low + position]
    # A partial Fisher-Yates shuffle: only the first `max_count` places are drawn.
    for position in range(max_count):
        swap_position = position + draw_below(state, row_size - position)
        swapped_symbol = samples[position]
        samples[position] = samples[swap_position]
        samples[swap_position] = swapped_symbol
    return max_count


@helper
def longest_row_size(offsets: I64) -> int:
    """Return the size of the longest row, at least 1."""
    longest = 1
    for row in range(len(offsets) - 1):
        longest = max(longest, offsets[row + 1] - offsets[row])
    return longest


@kernel
def sample_symbols(
    offsets: I64, symbols: I32, people: I64, seed: np.uint64, pad: int, size: int, dummies: int, reports: I64
) -> None:
    """Sample the row of each person down to one symbol: the input of an aggregated simulation."""
    state = np.zeros(3, np.uint64)
    for row in range(len(people)):
        start_stream(state, seed, people[row])
        reports[row] = draw_symbol(state, symbols, offsets[row], offsets[row + 1], pad, size, dummies)


@kernel
def sample_sets(offsets: I64, symbols: I32, people: I64, seed: np.uint64, pad: int, counts: I64) -> None:
    """Count the people that hold each symbol after the row of each person is cut to `pad` symbols."""
    state = np.zeros(3, np.uint64)
    samples = np.empty(longest_row_size(offsets), np.int64)
    for row in range(len(people)):
        start_stream(state, seed, people[row])
        count = draw_sample(state, symbols, offsets[row], offsets[row + 1], pad, samples)
        for position in range(count):
            counts[samples[position]] += 1


@kernel
def report_values(
    offsets: I64,
    symbols: I32,
    people: I64,
    seed: np.uint64,
    pad: int,
    size: int,
    dummies: int,
    weight: np.uint64,
    reports: I64,
) -> None:
    """Write one report per person by generalised randomised response."""
    state = np.zeros(3, np.uint64)
    for row in range(len(people)):
        start_stream(state, seed, people[row])
        own_symbol = draw_symbol(state, symbols, offsets[row], offsets[row + 1], pad, size, dummies)
        draw = draw_place(state, weight, 1, size + dummies - 1)
        # Place 0 is the own symbol; the remaining places number all symbols except the own one.
        reports[row] = own_symbol if draw == 0 else draw - (1 if draw <= own_symbol else 0)


@kernel
def report_hashed(
    offsets: I64,
    symbols: I32,
    people: I64,
    seed: np.uint64,
    pad: int,
    size: int,
    dummies: int,
    weight: np.uint64,
    buckets: int,
    reports: I64,
    factors: U32,
    summands: U32,
) -> None:
    """Write one report per person by randomised response over hash buckets."""
    state = np.zeros(3, np.uint64)
    for row in range(len(people)):
        start_stream(state, seed, people[row])
        own_symbol = draw_symbol(state, symbols, offsets[row], offsets[row + 1], pad, size, dummies)
        factors[row] = np.uint32(draw_word(state) | _ONE_BIT)
        summands[row] = np.uint32(draw_word(state))
        bucket = np.int64((np.uint64(hash_item(own_symbol, factors[row], summands[row])) * np.uint64(buckets)) >> _S32)
        draw = draw_place(state, weight, 1, buckets - 1)
        reports[row] = bucket if draw == 0 else draw - (1 if draw <= bucket else 0)


@helper
def draw_bits(state: U64, bit_count: int, threshold: int, words: U32, row: int) -> None:
    """Draw independent bits into a row of words, each bit 1 with probability threshold / 2^32."""
    width = (bit_count + 31) // 32
    level = 0
    # The words stay 0 up to the lowest bit of the threshold that is set, so no word is drawn for lower levels.
    while (threshold >> level) & 1 == 0:
        level += 1
    for position in range(width):
        words[row, position] = np.uint32(0)
    while level < 32:
        threshold_bit = (threshold >> level) & 1
        for position in range(width):
            fair = np.uint32(draw_word(state))
            if threshold_bit == 1:
                words[row, position] = words[row, position] | fair
            else:
                words[row, position] = words[row, position] & fair
        level += 1
    # Bits behind the last one would otherwise depend on chance, and reports would not be canonical.
    if bit_count % 32:
        words[row, width - 1] = words[row, width - 1] & np.uint32((1 << (bit_count % 32)) - 1)


@kernel
def report_bits(
    offsets: I64,
    symbols: I32,
    people: I64,
    seed: np.uint64,
    pad: int,
    size: int,
    true_bit_bound: int,
    false_bit_bound: int,
    reports: U32,
) -> None:
    """Write one report per person by unary encoding: a row of 32-bit words per person."""
    state = np.zeros(3, np.uint64)
    for row in range(len(people)):
        start_stream(state, seed, people[row])
        own_symbol = draw_symbol(state, symbols, offsets[row], offsets[row + 1], pad, size, 1)
        draw_bits(state, size, false_bit_bound, reports, row)
        if own_symbol < size:
            bit = np.uint32(np.uint32(1) << np.uint32(own_symbol % 32))
            reports[row, own_symbol // 32] = reports[row, own_symbol // 32] & ~bit
            if draw_word(state) < np.uint64(true_bit_bound):
                reports[row, own_symbol // 32] = reports[row, own_symbol // 32] | bit


@kernel
def report_signed(
    offsets: I64,
    symbols: I32,
    people: I64,
    seed: np.uint64,
    pad: int,
    size: int,
    true_bit_bound: int,
    false_bit_bound: int,
    key_bits: U32,
    signs: U32,
) -> None:
    """Write the reported keys of each person, and their signs: two rows of 32-bit words per person."""
    state = np.zeros(3, np.uint64)
    for row in range(len(people)):
        start_stream(state, seed, people[row])
        own_symbol = draw_symbol(state, symbols, offsets[row], offsets[row + 1], pad, size, 1)
        draw_bits(state, (size + 1) // 2, false_bit_bound, key_bits, row)
        # A sign is drawn for each key, also for keys not reported: the number of words must not depend on the report.
        draw_bits(state, (size + 1) // 2, 1 << 31, signs, row)
        is_true_key = draw_word(state) < np.uint64(true_bit_bound)
        key = own_symbol // 2
        bit = np.uint32(np.uint32(1) << np.uint32(key % 32))
        if own_symbol < size and is_true_key and key_bits[row, key // 32] & bit == 0:
            key_bits[row, key // 32] = key_bits[row, key // 32] | bit
            if own_symbol % 2 == 1:
                signs[row, key // 32] = signs[row, key // 32] | bit
            else:
                signs[row, key // 32] = signs[row, key // 32] & ~bit
        for position in range(key_bits.shape[1]):
            signs[row, position] = signs[row, position] & key_bits[row, position]


@kernel
def report_rows(
    offsets: I64,
    symbols: I32,
    people: I64,
    seed: np.uint64,
    pad: int,
    size: int,
    dummies: int,
    rows: int,
    true_bit_bound: int,
    reports: I64,
    signs: I64,
) -> None:
    """Write one entry of a Hadamard matrix per person: the number of the matrix row and the noisy sign."""
    state = np.zeros(3, np.uint64)
    for row in range(len(people)):
        start_stream(state, seed, people[row])
        own_symbol = draw_symbol(state, symbols, offsets[row], offsets[row + 1], pad, size, dummies)
        reports[row] = draw_below(state, rows)
        common_bits = np.int64(reports[row]) & (own_symbol + 1)
        # A Hadamard entry is (-1)^popcount(row & column), with columns numbered from 1.
        sign = 0
        while common_bits:
            common_bits &= common_bits - 1
            sign = 1 - sign
        signs[row] = sign if draw_word(state) < np.uint64(true_bit_bound) else 1 - sign


@kernel(plain=plain_devices.report_subsets, work=lambda *given: 30.0 * given[-1].size)
def report_subsets(
    offsets: I64,
    symbols: I32,
    people: I64,
    seed: np.uint64,
    pad: int,
    size: int,
    dummies: int,
    inside_bound: int,
    is_single: bool,
    reports: I32,
) -> None:
    """Write a sorted subset per person, likelier one with an own symbol (a single one, or a padded set)."""
    state = np.zeros(3, np.uint64)
    own_symbols = np.empty(max(longest_row_size(offsets), pad), np.int64)
    subset_size = reports.shape[1]
    symbol_count = size + dummies
    own_marks = np.zeros(symbol_count, np.uint8)
    chosen_marks = np.zeros(symbol_count, np.uint8)
    for row in range(len(people)):
        start_stream(state, seed, people[row])
        low, high = offsets[row], offsets[row + 1]
        if is_single:
            own_symbols[0] = draw_symbol(state, symbols, low, high, pad, size, dummies)
            own_count = 1
        else:
            own_count = draw_sample(state, symbols, low, high, pad, own_symbols)
            for position in range(own_count, pad):
                own_symbols[position] = size + position - own_count
            own_count = pad
        for position in range(own_count):
            own_marks[own_symbols[position]] = 1
        inside = draw_word(state) < np.uint64(inside_bound)
        while True:
            count = 0
            common_count = 0
            if inside:
                own_symbol = own_symbols[draw_below(state, own_count)]
                chosen_marks[own_symbol] = 1
                reports[row, 0] = own_symbol
                count = 1
                common_count = 1
            while count < subset_size:
                candidate = draw_below(state, symbol_count)
                if chosen_marks[candidate] == 0 and (inside or own_marks[candidate] == 0):
                    chosen_marks[candidate] = 1
                    reports[row, count] = candidate
                    count += 1
                    common_count += own_marks[candidate]
            for position in range(subset_size):
                chosen_marks[reports[row, position]] = 0
            # A subset with k own symbols can be drawn from each of the k: accepting 1 in k evens the draws out.
            if not inside or draw_below(state, common_count) == 0:
                break
        for position in range(own_count):
            own_marks[own_symbols[position]] = 0
        sort(reports[row], 0, subset_size)


@kernel
def report_points(
    offsets: I64,
    symbols: I32,
    people: I64,
    seed: np.uint64,
    pad: int,
    weight: np.uint64,
    arc: int,
    reports: U32,
    factors: U32,
    summands: U32,
) -> None:
    """Write a point of the wheel per person, likelier a point within an arc of an own symbol."""
    state = np.zeros(3, np.uint64)
    own_symbols = np.empty(longest_row_size(offsets), np.int64)
    for row in range(len(people)):
        start_stream(state, seed, people[row])
        count = draw_sample(state, symbols, offsets[row], offsets[row + 1], pad, own_symbols)
        factors[row] = np.uint32(draw_word(state) | _ONE_BIT)
        summands[row] = np.uint32(draw_word(state))
        reports[row] = np.uint32(
            draw_arc_point(state, own_symbols, count, factors[row], summands[row], arc, np.int64(1) << 32, weight)
        )


@helper
def draw_arc_point(
    state: U64,
    own_symbols: I64,
    count: int,
    factor: np.uint32,
    summand: np.uint32,
    arc: int,
    circle: int,
    weight: np.uint64,
) -> int:
    """Draw a point of a circle, likelier a point within an arc of one of the first `count` own symbols."""
    # Arcs may overlap or wrap around the circle, so the covered points are counted over sorted arcs.
    starts = np.empty(count, np.int64)
    for position in range(count):
        starts[position] = np.int64(
            (np.uint64(hash_item(own_symbols[position], factor, summand)) * np.uint64(circle)) >> _S32
        )
    sort(starts, 0, count)
    wrapped = max(starts[count - 1] + arc - circle, 0) if count else 0
    covered_points = wrapped
    arc_end = wrapped
    for position in range(count):
        arc_start = max(starts[position], arc_end)
        arc_end = max(min(starts[position] + arc, circle), arc_end)
        covered_points += arc_end - arc_start
    draw = draw_place(state, weight, covered_points, circle - covered_points)
    return _locate_point(starts, count, arc, circle, wrapped, draw, covered_points)


@helper
def _locate_point(
    starts: I64, count: int, arc: int, circle: int, wrapped: int, inside_place: int, covered_points: int
) -> int:
    """Return the point of the circle at a place that is counted along the arcs, or along the gaps behind the arcs."""
    outside_place = inside_place - covered_points
    arc_end = np.int64(0)
    for position in range(-1, count):
        if position < 0:
            arc_start = np.int64(0)
            arc_end = np.int64(wrapped)
        else:
            arc_start = max(starts[position], arc_end)
            arc_end = max(min(starts[position] + arc, circle), arc_end)
        if outside_place >= arc_start:
            outside_place += arc_end - arc_start
        if 0 <= inside_place < arc_end - arc_start:
            return arc_start + inside_place
        inside_place -= arc_end - arc_start
    return outside_place


@helper
def _draw_sign(state: U64, value: int, slope: int) -> int:
    """Draw a sign: 1 with probability 1/2 + slope * value / 2^32."""
    return 1 if draw_word(state) < np.uint64((np.int64(1) << 31) + slope * value) else 0


@helper
def _draw_piece(state: U64, value: int, span: int, step: int, window: int, points: int, weight: np.uint64) -> int:
    """Draw a point: each point of the window of the value has the given weight."""
    # The window starts at a public function of the value; points outside of the window are numbered around it.
    start = (value + span) * step
    draw = draw_place(state, weight, window, points - window)
    if draw < window:
        return start + draw
    return draw - window if draw - window < start else draw


@kernel
def report_signs(values: I64, people: I64, seed: np.uint64, slope: int, reports: I64) -> None:
    """Write one sign per person, likelier the sign of the value (Duchi, Jordan, Wainwright 2018)."""
    state = np.zeros(3, np.uint64)
    for row in range(len(people)):
        start_stream(state, seed, people[row])
        reports[row] = _draw_sign(state, values[row], slope)


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
    reports: I64,
) -> None:
    """Write one point per person, likelier in the window of the value (piecewise mechanism, Wang et al. 2019)."""
    state = np.zeros(3, np.uint64)
    for row in range(len(people)):
        start_stream(state, seed, people[row])
        reports[row] = _draw_piece(state, values[row], span, step, window, points, weight)


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
    reports: I64,
) -> None:
    """Toss a coin per person, and write a point (kind 1) or a sign (kind 0): the hybrid mechanism, Wang et al. 2019."""
    state = np.zeros(3, np.uint64)
    for row in range(len(people)):
        start_stream(state, seed, people[row])
        if draw_word(state) < np.uint64(choose):
            kinds[row] = 1
            reports[row] = _draw_piece(state, values[row], span, step, window, points, weight)
        else:
            kinds[row] = 0
            reports[row] = _draw_sign(state, values[row], slope)


@kernel(plain=plain_devices.draw_tickets)
def draw_tickets(seed: np.uint64, words: U32) -> None:
    """Draw one 32-bit ticket per person."""
    state = np.zeros(3, np.uint64)
    for person in range(len(words)):
        start_stream(state, seed, person)
        words[person] = np.uint32(draw_word(state))
