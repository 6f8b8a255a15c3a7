"""The random words of a simulated person: the words of the compiled code, as bytes for `local.device.client`."""

from __future__ import annotations

import hashlib

# SplitMix64: Steele, Lea, Flood, Fast splittable pseudorandom number generators, 2014. `kernels.devices` has it too.
_MASK = (1 << 64) - 1
_STEP = 0x9E3779B97F4A7C15


def _scramble(value: int) -> int:
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    value = (value ^ value >> 27) * 0x94D049BB133111EB & _MASK
    return value ^ value >> 31


class SeededWords:
    """The words of one person in one round, equal to those of `kernels.devices`."""

    def __init__(self, seed: int, person: int) -> None:
        self._state = _scramble(_scramble(seed) + person * _STEP & _MASK)
        self._unread = b""

    def take(self, count: int) -> bytes:
        """Return the next `count` bytes."""
        while len(self._unread) < count:
            self._state = self._state + _STEP & _MASK
            self._unread += _scramble(self._state).to_bytes(8, "little")
        next_bytes, self._unread = self._unread[:count], self._unread[count:]
        return next_bytes


def seed_of(seed: int, purpose: str) -> int:
    """Return a seed of 64 bits for one purpose of a simulation."""
    return int.from_bytes(hashlib.blake2b(f"{seed}:{purpose}".encode(), digest_size=8).digest(), "little")
