"""All itemsets of a range of lengths over a public list of items: how many there are, and drawing some evenly.

Their number may be far beyond any list (C(41270, 3) is 10^13), so they are numbered and never written down (E10).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property
from math import comb

# Up to so many itemsets, those not listed are found by going through all; beyond, by drawing until one fits.
_FEW = 100_000


@dataclass(frozen=True)
class Universe:
    """The itemsets of `least` to `longest` items, each from 0 to before `items`."""

    items: int
    least: int
    longest: int

    @cached_property
    def sizes(self) -> list[int]:
        """How many itemsets there are of each length, from the least to the longest."""
        return [comb(self.items, length) for length in range(self.least, min(self.longest, self.items) + 1)]

    @cached_property
    def many(self) -> int:
        """How many itemsets there are."""
        return sum(self.sizes)

    def itemset(self, number: int) -> tuple[int, ...]:
        """Return the itemset of a number from 0 to before `many`, its codes ascending."""
        for place, many in enumerate(self.sizes):
            if number < many:
                return _subset(number, self.least + place)
            number -= many
        raise IndexError(f"there are {self.many:,} itemsets")

    def others(
        self, listed: Collection[tuple[int, ...]], many: int, below: Callable[[int], int]
    ) -> list[tuple[int, ...]]:
        """Draw so many different itemsets that are not listed, every such choice as likely as the others.

        `below` draws an even number below a bound.
        """
        drawn: list[tuple[int, ...]] = []
        taken = set(listed)
        if self.many <= _FEW or self.many - len(taken) < self.many // 4:
            rest = [one for one in map(self.itemset, range(self.many)) if one not in taken]
            for place in range(many):
                other = place + below(len(rest) - place)
                rest[place], rest[other] = rest[other], rest[place]
            return rest[:many]
        while len(drawn) < many:
            one = self.itemset(below(self.many))
            if one not in taken:
                taken.add(one)
                drawn.append(one)
        return drawn


def _subset(number: int, length: int) -> tuple[int, ...]:
    """Return the subset of a number in the combinatorial number system: the sum of C(code, place)."""
    codes = []
    for place in range(length, 0, -1):
        code = _largest(number, place)
        number -= comb(code, place)
        codes.append(code)
    return tuple(codes[::-1])


def _largest(number: int, place: int) -> int:
    """Return the largest code for which C(code, place) is at most the number."""
    low, high = place - 1, place
    while comb(high, place) <= number:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if comb(middle, place) <= number:
            low = middle
        else:
            high = middle
    return low
