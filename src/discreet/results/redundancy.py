"""Which rules say nothing that a more general rule does not say as well.

A rule is more general than another with the same consequent if its antecedent is a part of the other's; the most
general one has none at all, and its confidence is the share of all people who hold the consequent. A rule that is not
more reliable than a more general one is redundant: the items that it adds are for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ..baskets.core import starts
from .itemsets import Index, Itemsets, Mask, Positions

Column = NDArray[np.float64]

# Up to so many items of an antecedent all of its parts are looked up; beyond it, rules are compared one by one.
_PARTS = 12


def redundant(
    antecedents: Itemsets, consequents: Itemsets, items: int, reached: Column, sure: Column, from_all: Mask
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
    """
    found = from_all.copy()
    # One itemset per rule: the items of the consequent are numbered after all others.
    right = Itemsets(consequents.offsets, (consequents.codes + items).astype(np.int32))
    index = Index(_beside(antecedents, right), 2 * items)
    sizes = antecedents.sizes
    for size in range(2, min(int(sizes.max(initial=0)), _PARTS) + 1):
        rows = np.flatnonzero((sizes == size) & ~found)
        for kept in _parts(size):
            if not len(rows):
                break
            codes = antecedents.codes[antecedents.offsets[rows][:, None] + np.array(kept)]
            part = Itemsets(np.arange(len(rows) + 1) * len(kept), codes.ravel())
            general = index.find(_beside(part, right.take(rows)))
            worse = (general >= 0) & (reached[rows] <= sure[general])
            found[rows[worse]] = True
            rows = rows[~worse]
    for row in np.flatnonzero((sizes > _PARTS) & ~found).tolist():
        left, then = antecedents.cut(row, row + 1).codes, consequents.cut(row, row + 1).codes
        same = (consequents.sizes == len(then)) & (consequents.holding(then) == len(then))
        parts = (sizes < sizes[row]) & (antecedents.holding(left) == sizes)
        found[row] = bool((same & parts & (reached[row] <= sure)).any())
    return found


def _parts(size: int) -> Iterator[tuple[int, ...]]:
    """Yield the places of the items that a part has: small parts first, as these settle most rules."""
    for kept in range(1, size):
        yield from combinations(range(size), kept)


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
