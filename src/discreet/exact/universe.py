"""All itemsets of a range of lengths over a public list of items: how many there are, and drawing some evenly.

Their number may be far beyond any list (C(41270, 3) is 10^13), so they are numbered and never written down (E10).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property
from math import comb, lgamma, log

# Up to so many itemsets, those not listed are found by going through all; beyond, by drawing until one fits.
_FEW = 100_000
# Up to so many items for each one of an itemset, its codes are found by going down from the last; beyond, by bisection.
_DENSE = 64
# Itemsets with longer numbers than this, in bits, take too long to draw, and none would stand out of the noise.
MOST_BITS = 1_000


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

    @property
    def bits(self) -> float:
        """About how long the number of an itemset is, without working out how many there are."""
        longest = min(self.longest, self.items)
        length = min(max(self.least, self.items // 2), longest)
        if length < self.least:
            return 0.0
        ways = lgamma(self.items + 1) - lgamma(length + 1) - lgamma(self.items - length + 1)
        return ways / log(2)

    def up_to(self, bound: int) -> int:
        """Return how many itemsets there are; beyond the bound, the bound: that is soon said."""
        if self.least < self.items and self.items >= bound and self.least <= self.longest:
            return bound  # of any length but that of all items there are as many as items, or more
        total = 0
        for length in range(self.least, min(self.longest, self.items) + 1):
            total += comb(self.items, length)
            if total >= bound:
                return bound
        return total

    def itemset(self, number: int) -> tuple[int, ...]:
        """Return the itemset of a number from 0 to before `many`, its codes ascending."""
        for place, many in enumerate(self.sizes):
            if number < many:
                return _subset(number, self.least + place, self.items)
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


def _subset(number: int, length: int, items: int) -> tuple[int, ...]:
    """Return the subset of a number in the combinatorial number system: the sum of C(code, place)."""
    codes: list[int] = []
    if items > _DENSE * length:
        for place in range(length, 0, -1):
            code = _largest(number, place)
            number -= comb(code, place)
            codes.append(code)
        return tuple(codes[::-1])
    code, many = items - 1, comb(items - 1, length)  # many is C(code, place) all the way down
    while length:
        if many <= number:
            codes.append(code)
            number -= many
            many = many * length // max(code, 1)
            length -= 1
        else:
            many = many * (code - length) // code
        code -= 1
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
