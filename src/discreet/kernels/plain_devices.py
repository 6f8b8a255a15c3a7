"""Kernels of devices as plain Python with the words of everybody's stream made at once. Same reports, to the bit."""

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
_ALL = 2**64 - 1
_WORD = 2**32
_FIRST = 16  # words of 64 bits that are made of each stream beforehand: few reports take more
_PEOPLE = 4096


def _scrambled(values: U64) -> U64:
    values = (values ^ (values >> np.uint64(30))) * np.uint64(_MIX1)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(_MIX2)
    return values ^ (values >> np.uint64(31))


def _begun(seed: np.uint64, people: I64) -> U64:
    """Return the state in which the stream of each person begins."""
    first = _scrambled(np.array([seed], np.uint64))
    return _scrambled(first + people.astype(np.uint64) * np.uint64(_STEP))


def _later(state: int) -> Iterator[int]:
    """Yield the words of a stream behind those that were made beforehand."""
    while True:
        state = (state + _STEP) & _ALL
        value = state
        value = ((value ^ value >> 30) * _MIX1) & _ALL
        value = ((value ^ value >> 27) * _MIX2) & _ALL
        value ^= value >> 31
        yield value % _WORD
        yield value >> 32


def _streams(seed: np.uint64, people: I64) -> Iterator[Iterator[int]]:
    """Yield the words of 32 bits of each person, as `devices.word` draws them."""
    steps = np.arange(1, _FIRST + 1, dtype=np.uint64) * np.uint64(_STEP)
    for start in range(0, len(people), _PEOPLE):
        states = _begun(seed, people[start : start + _PEOPLE])
        words = _scrambled(states[:, None] + steps)
        halves = np.stack((words & np.uint64(_WORD - 1), words >> np.uint64(32)), axis=2)
        last = (states + steps[-1]).tolist()
        for row, own in enumerate(halves.reshape(len(states), 2 * _FIRST).tolist()):
            yield chain(own, _later(last[row]))


def tickets(seed: np.uint64, out: U32) -> None:
    states = _begun(seed, np.arange(len(out), dtype=np.int64))
    out[:] = _scrambled(states + np.uint64(_STEP)) & np.uint64(_WORD - 1)


def _below(words: Iterator[int], bound: int) -> int:
    if bound <= 1:
        return 0
    limit = _WORD - _WORD % bound
    for drawn in words:
        if drawn < limit:
            return drawn % bound
    raise AssertionError


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
    many = out.shape[1]
    everything = size + dummies
    ends, values = offsets.tolist(), held.tolist()
    for row, words in enumerate(_streams(seed, people)):
        own = values[ends[row] : ends[row + 1]]
        if one:
            drawn = _below(words, max(len(own), pad))
            own = [own[drawn] if drawn < len(own) else size + (drawn - len(own)) % dummies]
        elif len(own) <= pad:
            own += range(size, size + pad - len(own))
        else:
            for place in range(pad):
                other = place + _below(words, len(own) - place)
                own[place], own[other] = own[other], own[place]
            own = own[:pad]
        mine = set(own)
        inside = next(words) < hit
        while True:
            first = own[_below(words, len(own))] if inside else -1
            chosen = {first} if inside else set()
            while len(chosen) < many:
                other = _below(words, everything)
                if inside or other not in mine:
                    chosen.add(other)
            if not inside or _below(words, len(chosen & mine)) == 0:
                break
        out[row] = sorted(chosen)
