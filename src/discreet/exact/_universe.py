"""All itemsets of a range of lengths over a public list of items: their number, and uniform draws.

The number may be far beyond any list (C(41270, 3) is about 10^13), so that itemsets are numbered and never enumerated
(E10). With a lineage, an itemset must not contain an item and its ancestor: `antichains` counts and numbers them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property
from math import comb, lgamma, log

from ..baskets import Lineage
from ._antichains import Forest
from ._numbering import subset

# Up to this number of itemsets, unlisted itemsets are enumerated; beyond, they are drawn by rejection. Both draws are
# uniform.
_MAX_ENUMERATED = 100_000
# An upper limit of log2(number of itemsets): larger universes take too long to draw from, and no itemset would stand
# out of the noise.
MAX_NUMBER_BITS = 1_000


@dataclass(frozen=True)
class Universe:
    """The itemsets of `least` to `longest` items, with item codes from 0 to `items` - 1.

    With a lineage over the items, only itemsets without an item and its ancestor.
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
        """The number of itemsets of each length, from `least` on."""
        if self._forest is not None:
            return self._forest.sizes[self.least :]
        return [comb(self.items, length) for length in range(self.least, min(self.longest, self.items) + 1)]

    @cached_property
    def itemset_count(self) -> int:
        """The number of itemsets."""
        return sum(self.sizes)

    @property
    def bits(self) -> float:
        """An upper estimate of log2 of the largest number of itemsets of one length, without counting the itemsets."""
        longest = min(self.longest, self.items)
        length = min(max(self.least, self.items // 2), longest)
        if length < self.least:
            return 0.0
        log_count = lgamma(self.items + 1) - lgamma(length + 1) - lgamma(self.items - length + 1)
        return log_count / log(2)

    def up_to(self, bound: int) -> int:
        """Return min(number of itemsets, bound), without computing a number far beyond the bound."""
        if self.lineage is not None:
            return _count_antichains(self.lineage, self.least, min(self.longest, self.items), bound)
        if self.least < self.items and self.items >= bound and self.least <= self.longest:
            return bound  # C(items, length) >= items for 0 < length < items
        total = 0
        for length in range(self.least, min(self.longest, self.items) + 1):
            total += comb(self.items, length)
            if total >= bound:
                return bound
        return total

    def itemset(self, number: int) -> tuple[int, ...]:
        """Return the itemset with a number from 0 to `itemset_count` - 1, with ascending codes."""
        for place, length_count in enumerate(self.sizes):
            if number < length_count:
                size = self.least + place
                forest = self._forest
                return subset(number, size, self.items) if forest is None else forest.itemset(number, size)
            number -= length_count
        raise IndexError(f"there are {self.itemset_count:,} itemsets")

    def others(
        self, listed: Collection[tuple[int, ...]], count: int, below: Callable[[int], int]
    ) -> list[tuple[int, ...]]:
        """Draw `count` distinct itemsets that are not listed; all choices are equally likely.

        `below` draws a uniform number below a bound.
        """
        itemsets: list[tuple[int, ...]] = []
        excluded = set(listed)
        if self.itemset_count <= _MAX_ENUMERATED or self.itemset_count - len(excluded) < self.itemset_count // 4:
            candidates = [
                itemset for itemset in map(self.itemset, range(self.itemset_count)) if itemset not in excluded
            ]
            # A partial Fisher-Yates shuffle.
            for place in range(count):
                swap_place = place + below(len(candidates) - place)
                candidates[place], candidates[swap_place] = candidates[swap_place], candidates[place]
            return candidates[:count]
        while len(itemsets) < count:
            itemset = self.itemset(below(self.itemset_count))
            if itemset not in excluded:
                excluded.add(itemset)
                itemsets.append(itemset)
        return itemsets


def _count_antichains(lineage: Lineage, least: int, longest: int, bound: int) -> int:
    """Return min(number of antichains, bound); the size limit doubles, as short antichains mostly reach the bound."""
    max_size = least
    while True:
        max_size = min(max_size, longest)
        total = sum(Forest(lineage, max_size, bound).sizes[least:])
        if total >= bound or max_size >= longest:
            return min(total, bound)
        max_size *= 2
