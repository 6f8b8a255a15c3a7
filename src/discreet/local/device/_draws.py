"""Random choices on a device, each made from bytes in a stated order, and the hash family. Standard library only."""

from __future__ import annotations

from collections.abc import Callable, Collection
from secrets import token_bytes

from ._loss import WORD

MASK = WORD - 1
_FAMILY = (1, 0x9E3779B9)  # the seed that published seeds are hashed from


class Draws:
    """Random choices made from bytes: words of four, the least significant byte first."""

    def __init__(self, take: Callable[[int], bytes] = token_bytes) -> None:
        self.take = take

    def word(self) -> int:
        """Return 32 fair bits."""
        return int.from_bytes(self.take(4), "little")

    def seed(self) -> tuple[int, int]:
        """Return a seed of the hash family: an odd number and any number."""
        return self.word() | 1, self.word()

    def published(self, seeds: int) -> int:
        """Return the number of one of so many published seeds, a power of two of them."""
        return self.below(seeds)

    def chance(self, threshold: int) -> bool:
        """Return True with probability `threshold` / 2^32."""
        return self.word() < threshold

    def below(self, bound: int) -> int:
        """Return a number from 0 to before `bound`, each as likely; nothing is drawn where there is no choice."""
        while bound > 1:
            word = self.word()
            if word < WORD - WORD % bound:
                return word % bound
        return 0

    def place(self, weight: int, inside: int, outside: int) -> int:
        """Return a place: the first `inside` have `weight` / 2^64 each, the `outside` after them share the rest."""
        drawn = self.word() + WORD * self.word()
        if drawn < weight * inside:
            return drawn // weight
        return inside + (drawn - weight * inside) % outside

    def bits(self, count: int, threshold: int) -> int:
        """Return `count` bits, each 1 with probability `threshold` / 2^32: the threshold's bits choose or / and.

        No oracle of format 1 draws so; those kept for comparison do.
        """
        drawn, width = 0, (count + 31) // 32 * 4
        for level in range((threshold & -threshold).bit_length() - 1, 32):
            fair = int.from_bytes(self.take(width), "little")
            drawn = drawn | fair if threshold >> level & 1 else drawn & fair
        return drawn & ((1 << count) - 1)

    def some(self, many: int, values: Collection[int]) -> list[int]:
        """Return `many` of the values, every such set as likely, or all where there are no more."""
        left = list(values)
        if len(left) > many:
            for place in range(many):
                other = place + self.below(len(left) - place)
                left[place], left[other] = left[other], left[place]
        return left[:many]

    def filled(self, chosen: set[int], many: int, bound: int, without: Collection[int] = ()) -> set[int]:
        """Return `many` numbers below `bound`: the chosen and others not among `without`, every such set as likely."""
        while len(chosen) < many:
            other = self.below(bound)
            if other not in without:
                chosen.add(other)
        return chosen

    def until(self, attempt: Callable[[], set[int] | None]) -> set[int]:
        """Return what the first attempt that succeeds gives; no attempt may know of those before it."""
        while (found := attempt()) is None:
            pass
        return found


def mixed(seed: tuple[int, int], item: int) -> int:
    """Return the 32-bit hash of an item: multiply and add by the seed, then mix (constants: Wellons, hash-prospector).

    Privacy asks nothing of it, since the seed is drawn without looking at the basket.
    """
    value = item * seed[0] + seed[1] & MASK
    value = (value ^ value >> 16) * 0x21F0AAAD & MASK
    value = (value ^ value >> 15) * 0xD35A2D97 & MASK
    return value ^ value >> 15


def published(number: int) -> tuple[int, int]:
    """Return the published seed of a number below 2^31: two hashes of it, the lowest bit of the first set."""
    return mixed(_FAMILY, 2 * number) | 1, mixed(_FAMILY, 2 * number + 1)
