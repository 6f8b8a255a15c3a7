"""Itemsets in which no item stands above another: how many there are of each size, and the one of a number.

They are counted by the tree. Below an item lie its own antichains: those of what stands right below it, put together
freely. With the item itself there is one more, as nothing below goes with it. So the number of each size is a
coefficient of a product of polynomials: that of an item is x plus the product of those of its children, and that of an
item with none below is 1 + x. Items without children are taken together, as there are many of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb

import numpy as np

from ..baskets.lineage import Lineage
from .numbering import subset


@dataclass(frozen=True, eq=False)
class ItemTree:
    """What stands right below an item: those that have nothing below them, and the rest; or what stands below nothing.

    `behind[i]` is the polynomial of the leaves and all trees from the i-th on, put together, and `whole` that of the
    item itself with what is below it.
    """

    code: int
    leaves: tuple[int, ...]
    trees: tuple[ItemTree, ...]
    behind: tuple[list[int], ...]

    @property
    def below(self) -> list[int]:
        """The polynomial of all that is below the item."""
        return self.behind[0]

    @cached_property
    def whole(self) -> list[int]:
        """The polynomial of the item and all that is below it: of size 1 there is one more."""
        first, second, *rest = [*self.below, 0] if len(self.below) == 1 else self.below
        return [first, second + 1, *rest]


class Forest:
    """The antichains of up to `longest` items; beyond `bound` of a size, their number is the bound."""

    def __init__(self, lineage: Lineage, longest: int, bound: int | None = None) -> None:
        self.longest = longest
        self._bound = bound
        self._root = self._planted(lineage)

    @property
    def sizes(self) -> list[int]:
        """How many antichains there are of each size, from 0 on; none of sizes that are not listed."""
        return self._root.below

    def itemset(self, number: int, size: int) -> tuple[int, ...]:
        """Return the antichain of a number among those of its size, its codes ascending."""
        return tuple(sorted(_drawn(self._root, number, size)))

    def _planted(self, lineage: Lineage) -> ItemTree:
        parents = lineage.parents
        inner = np.unique(parents[parents >= 0])
        is_inner = np.zeros(len(parents), np.bool_)
        is_inner[inner] = True
        alone = np.flatnonzero(~is_inner)
        alone = alone[np.argsort(parents[alone], kind="stable")]
        above, first = np.unique(parents[alone], return_index=True)
        leaves = dict(zip(above.tolist(), np.split(alone, first[1:]), strict=len(alone) > 0))
        trees: dict[int, list[ItemTree]] = {}
        # The deepest first, so that what is below an item is there when it is made.
        for code in [*inner[np.argsort(-lineage.depths[inner], kind="stable")].tolist(), -1]:
            own = leaves.get(code)
            tree = self._tree(code, () if own is None else tuple(own.tolist()), trees.pop(code, []))
            if code >= 0:
                trees.setdefault(int(parents[code]), []).append(tree)
        return tree

    def _tree(self, code: int, leaves: tuple[int, ...], trees: list[ItemTree]) -> ItemTree:
        many = len(leaves)
        behind = [self._cut([comb(many, size) for size in range(min(many, self.longest) + 1)])]
        for tree in reversed(trees):
            behind.append(self._product(tree.whole, behind[-1]))
        return ItemTree(code, leaves, tuple(trees), tuple(reversed(behind)))

    def _product(self, one: Sequence[int], other: Sequence[int]) -> list[int]:
        made = [0] * min(len(one) + len(other) - 1, self.longest + 1)
        for place, value in enumerate(one):
            if value:
                for further, factor in enumerate(other[: len(made) - place]):
                    made[place + further] += value * factor
        return self._cut(made)

    def _cut(self, polynomial: list[int]) -> list[int]:
        polynomial = polynomial[: self.longest + 1]
        return polynomial if self._bound is None else [min(value, self._bound) for value in polynomial]


def _drawn(tree: ItemTree, number: int, size: int) -> list[int]:
    """Return the antichain of a number among those of a size below an item."""
    codes: list[int] = []
    for place, child in enumerate(tree.trees):
        rest = tree.behind[place + 1]
        for own, ways in enumerate(child.whole[: size + 1]):
            others = rest[size - own] if size - own < len(rest) else 0
            if number < ways * others:
                mine, number = divmod(number, others)
                codes += _of_child(child, mine, own)
                size -= own
                break
            number -= ways * others
    return [*codes, *(tree.leaves[at] for at in subset(number, size, len(tree.leaves)))]


def _of_child(child: ItemTree, number: int, size: int) -> list[int]:
    if size == 0:
        return []
    below = child.below[size] if size < len(child.below) else 0
    return _drawn(child, number, size) if number < below else [child.code]
