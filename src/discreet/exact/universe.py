"""All itemsets of a range of lengths over a public list of items: how many there are, and drawing some evenly.

Their number may be far beyond any list (C(41270, 3) is 10^13), so they are numbered and never written down (E10).
Where items stand above others, itemsets with two such items are none: `antichains` counts and numbers the others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property
from math import comb, lgamma, log

from ..baskets.lineage import Lineage
from .antichains import Forest
from .numbering import subset

# Up to so many itemsets, those not listed are found by going through all; beyond, by drawing until one fits.
_FEW = 100_000
# Itemsets with longer numbers than this, in bits, take too long to draw, and none would stand out of the noise.
MOST_BITS = 1_000


@dataclass(frozen=True)
class Universe:
    """The itemsets of `least` to `longest` items, each from 0 to before `items`.

    With a lineage over these items, those of them that have no two items of which one stands above the other.
    """

    items: int
    least: int
    longest: int
    lineage: Lineage | None = None

    @cached_property
    def _forest(self) -> Forest | None:
        return None if self.lineage is None else Forest(self.lineage, min(self.longest, self.items))

    @cached_property
    def sizes(self) -> list[int]:
        """How many itemsets there are of each length, from the least to the longest."""
        if self._forest is not None:
            return self._forest.sizes[self.least :]
        return [comb(self.items, length) for length in range(self.least, min(self.longest, self.items) + 1)]

    @cached_property
    def many(self) -> int:
        """How many itemsets there are."""
        return sum(self.sizes)

    @property
    def bits(self) -> float:
        """About how long the number of an itemset is, or more, without working out how many there are."""
        longest = min(self.longest, self.items)
        length = min(max(self.least, self.items // 2), longest)
        if length < self.least:
            return 0.0
        ways = lgamma(self.items + 1) - lgamma(length + 1) - lgamma(self.items - length + 1)
        return ways / log(2)

    def up_to(self, bound: int) -> int:
        """Return how many itemsets there are; beyond the bound, the bound: that is soon said."""
        if self.lineage is not None:
            return _up_to(self.lineage, self.least, min(self.longest, self.items), bound)
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
                size = self.least + place
                forest = self._forest
                return subset(number, size, self.items) if forest is None else forest.itemset(number, size)
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


def _up_to(lineage: Lineage, least: int, longest: int, bound: int) -> int:
    """Return how many antichains there are, or the bound; lengths are looked at few by few, as mostly few suffice."""
    deepest = least
    while True:
        deepest = min(deepest, longest)
        many = sum(Forest(lineage, deepest, bound).sizes[least:])
        if many >= bound or deepest >= longest:
            return min(many, bound)
        deepest *= 2
