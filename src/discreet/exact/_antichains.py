"""Antichains of items: itemsets without an item and its ancestor, counted by size and numbered.

The number of antichains of each size is a coefficient of a generating polynomial. For an item: P(x) = x + product of
the P of its children (the item itself goes with no descendant); for an item without children: P(x) = 1 + x. Leaves are
multiplied together as (1 + x)^n = sum of C(n, k) x^k, because most items are leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb

import numpy as np

from ..baskets import Lineage
from ._numbering import subset


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
