"""Random choices on a device, each made from bytes in a stated order, and the hash family. Standard library only."""

from __future__ import annotations

from collections.abc import Callable, Collection
from secrets import token_bytes

from ._loss import WORD

MASK = WORD - 1
_FAMILY = (1, 0x9E3779B9)  # the seed that published seeds are hashed from; 2^32 divided by the golden ratio


class Draws:
    """Random choices made from bytes: words of four bytes, the least significant byte first."""

    def __init__(self, take: Callable[[int], bytes] = token_bytes) -> None:
        self.take = take

    def word(self) -> int:
        """Draw 32 fair bits."""
        return int.from_bytes(self.take(4), "little")

    def seed(self) -> tuple[int, int]:
        """Draw a seed of the hash family: an odd number and any number, both below 2^32."""
        return self.word() | 1, self.word()

    def published(self, seeds: int) -> int:
        """Draw the number of a published seed, from 0 to before `seeds`, a power of two."""
        return self.below(seeds)

    def chance(self, threshold: int) -> bool:
        """Return True with probability `threshold` / 2^32."""
        return self.word() < threshold

    def below(self, bound: int) -> int:
        """Draw a number from 0 to before `bound`, each as likely; a bound of 0 or 1 takes no bytes."""
        while bound > 1:
            word = self.word()
            # Words beyond the last multiple of the bound are drawn again, so that no remainder is likelier.
            if word < WORD - WORD % bound:
                return word % bound
        return 0

    def place(self, weight: int, inside: int, outside: int) -> int:
        """Draw a place: each of the first `inside` with `weight` / 2^64, the `outside` after them equally."""
        number = self.word() + WORD * self.word()
        if number < weight * inside:
            return number // weight
        return inside + (number - weight * inside) % outside

    def bits(self, count: int, threshold: int) -> int:
        """Draw `count` bits, each 1 with probability `threshold` / 2^32: the threshold's bits choose or / and.

        Oracles kept for comparison use it, and no oracle of format 1.
        """
        bits, width = 0, (count + 31) // 32 * 4
        for level in range((threshold & -threshold).bit_length() - 1, 32):
            fair = int.from_bytes(self.take(width), "little")
            bits = bits | fair if threshold >> level & 1 else bits & fair
        return bits & ((1 << count) - 1)

    def some(self, many: int, values: Collection[int]) -> list[int]:
        """Draw `many` of the values, every subset of that size as likely, or all values if they are no more."""
        values = list(values)
        if len(values) > many:
            # The first steps of the Fisher-Yates shuffle.
            for position in range(many):
                swapped = position + self.below(len(values) - position)
                values[position], values[swapped] = values[swapped], values[position]
        return values[:many]

    def filled(self, chosen: set[int], many: int, bound: int, without: Collection[int] = ()) -> set[int]:
        """Draw a set of `many` numbers below `bound`: the chosen and numbers outside `without`, each set as likely."""
        while len(chosen) < many:
            number = self.below(bound)
            if number not in without:
                chosen.add(number)
        return chosen

    def until(self, attempt: Callable[[], set[int] | None]) -> set[int]:
        """Return the set of the first successful attempt; an attempt must not depend on earlier ones."""
        while (result := attempt()) is None:
            pass
        return result


def hash_item(seed: tuple[int, int], item: int) -> int:
    """Return the 32-bit hash of an item: multiply and add by the seed, then mix (constants: Wellons, hash-prospector).

    Privacy asks nothing of the hash, since the seed is drawn without looking at the basket.
    """
    value = item * seed[0] + seed[1] & MASK
    value = (value ^ value >> 16) * 0x21F0AAAD & MASK
    value = (value ^ value >> 15) * 0xD35A2D97 & MASK
    return value ^ value >> 15


def derive_seed(number: int) -> tuple[int, int]:
    """Return the published seed of a number below 2^31: two hashes of the number, the lowest bit of the first set."""
    return hash_item(_FAMILY, 2 * number) | 1, hash_item(_FAMILY, 2 * number + 1)
