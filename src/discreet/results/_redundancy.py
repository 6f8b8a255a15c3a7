"""Which rules say nothing that a more general rule does not say as well.

A rule is more general than another with the same consequent if its antecedent is a part of the other's; the most
general one has none at all, and its confidence is the share of all people who hold the consequent. A rule that is not
more reliable than a more general one is redundant: the items that it adds are for nothing.

With a hierarchy, a rule is more general too if an item of its antecedent stands above one of the other's (after Srikant
and Agrawal 1995): whoever holds milk holds dairy. In either case everybody with the one antecedent has the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ..baskets import Lineage, starts
from ._itemsets import Index, Itemsets, Mask, Positions

Column = NDArray[np.float64]

# Up to so many more general antecedents all of them are looked up; beyond it, rules are compared one by one.
_LOOKED_UP = 4096


def redundant(
    antecedents: Itemsets,
    consequents: Itemsets,
    items: int,
    reached: Column,
    sure: Column,
    from_all: Mask,
    lineage: Lineage | None = None,
) -> Mask:
    """Say which rules are no better than a more general one among them.

    Parameters
    ----------
    antecedents, consequents, items
        The two sides of each rule, and how many items there are.
    reached, sure
        How large the confidence of each may be at most, and is at least: twice the same where it is exact. A rule is
        no better than another if what it may reach is not over what the other one has for sure.
    from_all
        Which rules are known to be no better than the one without antecedent.
    lineage
        Which items stand above which, if any do.
    """
    found = from_all.copy()
    # One itemset per rule: the items of the consequent are numbered after all others.
    right = Itemsets(consequents.offsets, (consequents.codes + items).astype(np.int32))
    index = Index(_beside(antecedents, right), 2 * items)
    sizes = antecedents.sizes
    table = _above(items, lineage)
    # An item may be left out, stay, or give way to one that stands above it.
    ways = 1 + len(table)
    looked_up = np.array([ways**size <= _LOOKED_UP for size in range(int(sizes.max(initial=0)) + 1)])[sizes]
    for size in range(1, int(sizes[looked_up].max(initial=0)) + 1):
        rows = np.flatnonzero((sizes == size) & ~found)
        for choice in _general(size, ways):
            if not len(rows):
                break
            kept = [place for place in range(size) if choice[place] >= 0]
            codes = antecedents.codes[antecedents.offsets[rows][:, None] + np.array(kept)]
            codes = np.sort(table[[choice[place] for place in kept], codes], axis=1)
            # Not every item has as many above it, and two may have the same: then it is none, or a smaller one.
            here = np.flatnonzero((codes[:, 0] >= 0) & (np.diff(codes, axis=1) > 0).all(1))
            part = Itemsets(np.arange(len(here) + 1) * len(kept), codes[here].ravel())
            general = index.find(_beside(part, right.take(rows[here])))
            worse = (general >= 0) & (reached[rows[here]] <= sure[general])
            found[rows[here[worse]]] = True
            rows = rows[~found[rows]]
    for row in np.flatnonzero(~looked_up & ~found).tolist():
        left, then = antecedents.cut(row, row + 1).codes, consequents.cut(row, row + 1).codes
        same = (consequents.sizes == len(then)) & (consequents.holding(then) == len(then))
        held = np.unique(table[:, left])
        general = (antecedents.holding(held[held >= 0]) == sizes) & (np.arange(len(sizes)) != row)
        found[row] = bool((same & general & (reached[row] <= sure)).any())
    return found


def _above(items: int, lineage: Lineage | None) -> NDArray[np.int32]:
    """Return each item, and row by row what stands above it, the nearest first; -1 where there is nothing more."""
    table = [np.arange(items, dtype=np.int32)]
    for _ in range(0 if lineage is None else int(lineage.depths.max(initial=0))):
        table.append(np.where(table[-1] >= 0, lineage.parents[table[-1]], -1).astype(np.int32))  # type: ignore[union-attr]
    return np.array(table)


def _general(size: int, ways: int) -> Iterator[tuple[int, ...]]:
    """Yield what becomes of each item, -1 where it is left out: short ones first, as these settle most rules."""
    choices = product(range(-1, ways - 1), repeat=size)
    yield from sorted(
        (choice for choice in choices if any(choice) and max(choice) >= 0), key=lambda choice: -choice.count(-1)
    )


def _beside(left: Itemsets, right: Itemsets) -> Itemsets:
    """Return two columns as one, row by row."""
    sizes = left.sizes + right.sizes
    offsets = starts(sizes)
    codes = np.empty(offsets[-1], np.int32)
    for column, begin in ((left, offsets[:-1]), (right, offsets[:-1] + left.sizes)):
        codes[_places(begin, column)] = column.codes
    return Itemsets(offsets, codes)


def _places(begin: Positions, column: Itemsets) -> Positions:
    return np.repeat(begin - column.offsets[:-1], column.sizes) + np.arange(len(column.codes))
