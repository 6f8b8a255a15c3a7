"""Device kernels as plain Python with the words of all streams drawn at once; the reports are equal to the bit."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np
from numpy.typing import NDArray

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U32 = NDArray[np.uint32]
U64 = NDArray[np.uint64]

_STEP, _MIX1, _MIX2 = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_WORD64_MASK = 2**64 - 1
_WORD = 2**32
_EARLY_WORDS = 16  # 64-bit words of each stream that are drawn at once: few reports take more
# 4,096 people times 32 words of 4 bytes: half a megabyte, which stays in a second-level cache.
_PEOPLE_AT_ONCE = 4096


def _mix_words(values: U64) -> U64:
    """Return words mixed by the finaliser of SplitMix64, as `devices.mix_word` does."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(_MIX1)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(_MIX2)
    return values ^ (values >> np.uint64(31))


def _start_states(seed: np.uint64, people: I64) -> U64:
    """Return the first state of the stream of each person."""
    mixed_seed = _mix_words(np.array([seed], np.uint64))
    return _mix_words(mixed_seed + people.astype(np.uint64) * np.uint64(_STEP))


def _draw_later_words(state: int) -> Iterator[int]:
    """Yield the words of a stream behind the early words."""
    while True:
        state = (state + _STEP) & _WORD64_MASK
        value = state
        value = ((value ^ value >> 30) * _MIX1) & _WORD64_MASK
        value = ((value ^ value >> 27) * _MIX2) & _WORD64_MASK
        value ^= value >> 31
        yield value % _WORD
        yield value >> 32


def _draw_streams(seed: np.uint64, people: I64) -> Iterator[Iterator[int]]:
    """Yield the 32-bit words of each person, as `devices.draw_word` draws them."""
    steps = np.arange(1, _EARLY_WORDS + 1, dtype=np.uint64) * np.uint64(_STEP)
    for start in range(0, len(people), _PEOPLE_AT_ONCE):
        states = _start_states(seed, people[start : start + _PEOPLE_AT_ONCE])
        words = _mix_words(states[:, None] + steps)
        halves = np.stack((words & np.uint64(_WORD - 1), words >> np.uint64(32)), axis=2)
        last_states = (states + steps[-1]).tolist()
        for row, early_words in enumerate(halves.reshape(len(states), 2 * _EARLY_WORDS).tolist()):
            yield chain(early_words, _draw_later_words(last_states[row]))


def draw_tickets(seed: np.uint64, output: U32) -> None:
    """Draw one 32-bit ticket per person."""
    states = _start_states(seed, np.arange(len(output), dtype=np.int64))
    output[:] = _mix_words(states + np.uint64(_STEP)) & np.uint64(_WORD - 1)


def _draw_below(words: Iterator[int], bound: int) -> int:
    """Draw a number below `bound`, as `devices.draw_below` does."""
    if bound <= 1:
        return 0
    limit = _WORD - _WORD % bound
    for draw in words:
        if draw < limit:
            return draw % bound
    raise AssertionError


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
    """Write a sorted subset per person, as `devices.report_subsets` does, draw for draw."""
    subset_size = reports.shape[1]
    symbol_count = size + dummies
    ends, values = offsets.tolist(), symbols.tolist()
    for row, words in enumerate(_draw_streams(seed, people)):
        own_symbols = values[ends[row] : ends[row + 1]]
        if is_single:
            draw = _draw_below(words, max(len(own_symbols), pad))
            own_symbols = [own_symbols[draw] if draw < len(own_symbols) else size + (draw - len(own_symbols)) % dummies]
        elif len(own_symbols) <= pad:
            own_symbols += range(size, size + pad - len(own_symbols))
        else:
            for place in range(pad):
                swap_place = place + _draw_below(words, len(own_symbols) - place)
                own_symbols[place], own_symbols[swap_place] = own_symbols[swap_place], own_symbols[place]
            own_symbols = own_symbols[:pad]
        own_set = set(own_symbols)
        inside = next(words) < inside_bound
        while True:
            own_symbol = own_symbols[_draw_below(words, len(own_symbols))] if inside else -1
            samples = {own_symbol} if inside else set()
            while len(samples) < subset_size:
                swap_place = _draw_below(words, symbol_count)
                if inside or swap_place not in own_set:
                    samples.add(swap_place)
            if not inside or _draw_below(words, len(samples & own_set)) == 0:
                break
        reports[row] = sorted(samples)
