"""All itemsets of a range of lengths over a public list of items: their number, and uniform draws.

The number may be far beyond any list (C(41270, 3) is about 10^13), so that itemsets are numbered and never enumerated
(E10). With a lineage, an itemset must not contain an item and its ancestor: `antichains` counts and numbers them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb, lgamma, log

import numpy as np

from ..baskets import Lineage

# Up to this number of itemsets, unlisted itemsets are enumerated; beyond, they are drawn by rejection. Both draws are
# uniform.
_MAX_ENUMERATED = 100_000
# An upper limit of log2(number of itemsets): larger universes take too long to draw from, and no itemset would stand
# out of the noise.
MAX_NUMBER_BITS = 1_000


@dataclass(frozen=True)
class Universe:
    """The itemsets of `min_length` to `longest` items, with item codes from 0 to `items` - 1.

    With a lineage over the items, only itemsets without an item and its ancestor.
    """

    items: int
    min_length: int
    longest: int
    lineage: Lineage | None = None

    @cached_property
    def _forest(self) -> Forest | None:
        return None if self.lineage is None else Forest(self.lineage, min(self.longest, self.items))

    @cached_property
    def sizes(self) -> list[int]:
        """The number of itemsets of each length, from `min_length` on."""
        if self._forest is not None:
            return self._forest.sizes[self.min_length :]
        return [comb(self.items, length) for length in range(self.min_length, min(self.longest, self.items) + 1)]

    @cached_property
    def itemset_count(self) -> int:
        """The number of itemsets."""
        return sum(self.sizes)

    @property
    def bits(self) -> float:
        """An upper estimate of log2 of the largest number of itemsets of one length, without counting the itemsets."""
        longest = min(self.longest, self.items)
        length = min(max(self.min_length, self.items // 2), longest)
        if length < self.min_length:
            return 0.0
        log_count = lgamma(self.items + 1) - lgamma(length + 1) - lgamma(self.items - length + 1)
        return log_count / log(2)

    def up_to(self, bound: int) -> int:
        """Return min(number of itemsets, bound), without computing a number far beyond the bound."""
        if self.lineage is not None:
            return _count_antichains(self.lineage, self.min_length, min(self.longest, self.items), bound)
        if self.min_length < self.items and self.items >= bound and self.min_length <= self.longest:
            return bound  # C(items, length) >= items for 0 < length < items
        total = 0
        for length in range(self.min_length, min(self.longest, self.items) + 1):
            total += comb(self.items, length)
            if total >= bound:
                return bound
        return total

    def itemset(self, number: int) -> tuple[int, ...]:
        """Return the itemset with a number from 0 to `itemset_count` - 1, with ascending codes."""
        for place, length_count in enumerate(self.sizes):
            if number < length_count:
                size = self.min_length + place
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
        # Drawn itemsets join the listed ones: no itemset is drawn twice.
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


def _count_antichains(lineage: Lineage, min_length: int, longest: int, bound: int) -> int:
    """Return min(number of antichains, bound); the size limit doubles, as short antichains mostly reach the bound."""
    max_size = min_length
    while True:
        max_size = min(max_size, longest)
        total = sum(Forest(lineage, max_size, bound).sizes[min_length:])
        if total >= bound or max_size >= longest:
            return min(total, bound)
        max_size *= 2


# Up to this number of items per code, a descent over all codes finds a subset; beyond, bisection. Changes speed only.
_MAX_DENSE_RATIO = 64


def subset(number: int, length: int, items: int) -> tuple[int, ...]:
    """Return the subset with a number in the combinatorial number system: number = sum of C(code, place)."""
    codes: list[int] = []
    if not length:
        return ()
    if items > _MAX_DENSE_RATIO * length:
        for place in range(length, 0, -1):
            code = _find_largest_code(number, place)
            number -= comb(code, place)
            codes.append(code)
        return tuple(codes[::-1])
    code, binomial = items - 1, comb(items - 1, length)  # binomial = C(code, length) in each step
    while length:
        if binomial <= number:
            codes.append(code)
            number -= binomial
            binomial = binomial * length // max(code, 1)
            length -= 1
        else:
            binomial = binomial * (code - length) // code
        code -= 1
    return tuple(codes[::-1])


def _find_largest_code(number: int, place: int) -> int:
    """Return the largest code with C(code, place) <= number."""
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


@dataclass(frozen=True, eq=False)
class ItemTree:
    """An item with its children: leaves, and trees of children with children. The root stands above all items.

    `suffix_products[i]` is the product of the polynomials of the leaves and of the trees from the i-th on; `polynomial`
    counts the antichains of the item and its descendants.
    """

    code: int
    leaves: tuple[int, ...]
    trees: tuple[ItemTree, ...]
    suffix_products: tuple[list[int], ...]

    @property
    def polynomial_below(self) -> list[int]:
        """The polynomial of the descendants of the item."""
        return self.suffix_products[0]

    @cached_property
    def polynomial(self) -> list[int]:
        """The polynomial of the item and its descendants: one more antichain of size 1."""
        constant, linear, *higher = (
            [*self.polynomial_below, 0] if len(self.polynomial_below) == 1 else self.polynomial_below
        )
        return [constant, linear + 1, *higher]


class Forest:
    """The antichains of up to `longest` items; a number of antichains beyond `bound` is replaced by the bound."""

    def __init__(self, lineage: Lineage, longest: int, bound: int | None = None) -> None:
        self.longest = longest
        self._bound = bound
        self._root = self._build_tree(lineage)

    @property
    def sizes(self) -> list[int]:
        """The number of antichains of each size from 0 on; sizes beyond the list have none."""
        return self._root.polynomial_below

    def itemset(self, number: int, size: int) -> tuple[int, ...]:
        """Return the antichain with a number among the antichains of its size, with ascending codes."""
        return tuple(sorted(_find_antichain(self._root, number, size)))

    def _build_tree(self, lineage: Lineage) -> ItemTree:
        parents = lineage.parents
        inner = np.unique(parents[parents >= 0])
        is_inner = np.zeros(len(parents), np.bool_)
        is_inner[inner] = True
        leaf_codes = np.flatnonzero(~is_inner)
        leaf_codes = leaf_codes[np.argsort(parents[leaf_codes], kind="stable")]
        leaf_parents, group_starts = np.unique(parents[leaf_codes], return_index=True)
        leaves = dict(zip(leaf_parents.tolist(), np.split(leaf_codes, group_starts[1:]), strict=len(leaf_codes) > 0))
        trees: dict[int, list[ItemTree]] = {}
        # The deepest items first, so that children exist before their parent is built.
        for code in [*inner[np.argsort(-lineage.depths[inner], kind="stable")].tolist(), -1]:
            own_leaves = leaves.get(code)
            tree = self._build_node(code, () if own_leaves is None else tuple(own_leaves.tolist()), trees.pop(code, []))
            if code >= 0:
                trees.setdefault(int(parents[code]), []).append(tree)
        return tree

    def _build_node(self, code: int, leaves: tuple[int, ...], trees: list[ItemTree]) -> ItemTree:
        leaf_count = len(leaves)
        products = [self._truncate([comb(leaf_count, size) for size in range(min(leaf_count, self.longest) + 1)])]
        for tree in reversed(trees):
            products.append(self._multiply(tree.polynomial, products[-1]))
        return ItemTree(code, leaves, tuple(trees), tuple(reversed(products)))

    def _multiply(self, left_factor: Sequence[int], right_factor: Sequence[int]) -> list[int]:
        coefficients = [0] * min(len(left_factor) + len(right_factor) - 1, self.longest + 1)
        for place, value in enumerate(left_factor):
            if value:
                for right_place, factor in enumerate(right_factor[: len(coefficients) - place]):
                    coefficients[place + right_place] += value * factor
        return self._truncate(coefficients)

    def _truncate(self, polynomial: list[int]) -> list[int]:
        polynomial = polynomial[: self.longest + 1]
        return polynomial if self._bound is None else [min(value, self._bound) for value in polynomial]


def _find_antichain(tree: ItemTree, number: int, size: int) -> list[int]:
    """Return the antichain with a number among the antichains of a size below an item."""
    codes: list[int] = []
    for place, child in enumerate(tree.trees):
        suffix = tree.suffix_products[place + 1]
        for child_size, child_count in enumerate(child.polynomial[: size + 1]):
            suffix_count = suffix[size - child_size] if size - child_size < len(suffix) else 0
            # Mixed radix: antichains are ordered by the part in this child, then by the part in the suffix.
            if number < child_count * suffix_count:
                child_number, number = divmod(number, suffix_count)
                codes += _find_in_child(child, child_number, child_size)
                size -= child_size
                break
            number -= child_count * suffix_count
    return [*codes, *(tree.leaves[leaf] for leaf in subset(number, size, len(tree.leaves)))]


def _find_in_child(child: ItemTree, number: int, size: int) -> list[int]:
    if size == 0:
        return []
    count_below = child.polynomial_below[size] if size < len(child.polynomial_below) else 0
    return _find_antichain(child, number, size) if number < count_below else [child.code]
