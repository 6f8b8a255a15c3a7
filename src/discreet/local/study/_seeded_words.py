"""The random words of a simulated person: what compiled code draws, as bytes for `local.device.client`."""

from __future__ import annotations

import hashlib

_MASK = (1 << 64) - 1
_STEP = 0x9E3779B97F4A7C15


def _scrambled(value: int) -> int:
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    value = (value ^ value >> 27) * 0x94D049BB133111EB & _MASK
    return value ^ value >> 31


class SeededWords:
    """One person's words in one round, the same ones that `kernels.devices` draws."""

    def __init__(self, seed: int, person: int) -> None:
        self._state = _scrambled(_scrambled(seed) + person * _STEP & _MASK)
        self._left = b""

    def take(self, count: int) -> bytes:
        """Return the next bytes; they are taken in whole words."""
        while len(self._left) < count:
            self._state = self._state + _STEP & _MASK
            self._left += _scrambled(self._state).to_bytes(8, "little")
        taken, self._left = self._left[:count], self._left[count:]
        return taken


def seed_of(seed: int, what: str) -> int:
    """Return a seed of 64 bits for one purpose of a simulation."""
    return int.from_bytes(hashlib.blake2b(f"{seed}:{what}".encode(), digest_size=8).digest(), "little")
