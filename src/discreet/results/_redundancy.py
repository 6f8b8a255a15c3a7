"""Redundant rules: rules with no larger confidence than a more general rule.

A rule is more general than a second rule with an equal consequent if its antecedent is a proper part of the second
antecedent; the most general rule has no antecedent, and its confidence is the support of the consequent. The items that
a redundant rule adds do not make it more reliable.

With a hierarchy, an antecedent with an item above an item of the second antecedent is more general too (after Srikant
and Agrawal 1995): every holder of milk holds dairy. In both cases all holders of the longer antecedent hold the more
general one.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ..baskets import Lineage, starts
from ._itemsets import Index, Itemsets, Mask, Positions

Column = NDArray[np.float64]

# The largest number of more general antecedents of a rule that are looked up; beyond it, the rule is compared with all
# rules. Larger: more look-ups per rule; smaller: more comparisons, whose time grows with the square of the rules.
_MAX_LOOKUPS = 4096


def find_redundant(
    antecedents: Itemsets,
    consequents: Itemsets,
    items: int,
    reachable: Column,
    guaranteed: Column,
    from_all: Mask,
    lineage: Lineage | None = None,
) -> Mask:
    """Return for each rule whether a more general rule of the table is as good.

    Parameters
    ----------
    antecedents, consequents, items
        The two sides of each rule, and the number of items.
    reachable, guaranteed
        The largest and the smallest possible confidence of each rule; equal for exact counts. A rule is redundant if
        its largest possible confidence does not exceed the smallest possible one of a more general rule.
    from_all
        For each rule, whether it is known to be no better than the rule without antecedent.
    lineage
        The items above each item; None without a hierarchy.
    """
    is_redundant = from_all.copy()
    # One itemset per rule: the items of the consequent are numbered after all others.
    # With separate numbers, one look-up finds a rule by both of its sides.
    right = Itemsets(consequents.offsets, (consequents.codes + items).astype(np.int32))
    index = Index(_join_rows(antecedents, right), 2 * items)
    sizes = antecedents.sizes
    table = _ancestor_table(items, lineage)
    # An item may be left out, stay, or be replaced by an item above it.
    choice_count = 1 + len(table)
    # The number of generalisations grows exponentially with the size: long antecedents are compared row by row.
    looked_up = np.array([choice_count**size <= _MAX_LOOKUPS for size in range(int(sizes.max(initial=0)) + 1)])[sizes]
    for size in range(1, int(sizes[looked_up].max(initial=0)) + 1):
        rows = np.flatnonzero((sizes == size) & ~is_redundant)
        for choice in _generalisations(size, choice_count):
            # Short generalisations come first and settle most rules, so later ones are rarely looked up.
            if not len(rows):
                break
            kept_places = [place for place in range(size) if choice[place] >= 0]
            codes = antecedents.codes[antecedents.offsets[rows][:, None] + np.array(kept_places)]
            codes = np.sort(table[[choice[place] for place in kept_places], codes], axis=1)
            # An item may have fewer items above it, and two items may share one: then the row has fewer items.
            valid_rows = np.flatnonzero((codes[:, 0] >= 0) & (np.diff(codes, axis=1) > 0).all(1))
            part = Itemsets(np.arange(len(valid_rows) + 1) * len(kept_places), codes[valid_rows].ravel())
            general = index.find(_join_rows(part, right.take(rows[valid_rows])))
            is_worse = (general >= 0) & (reachable[rows[valid_rows]] <= guaranteed[general])
            is_redundant[rows[valid_rows[is_worse]]] = True
            rows = rows[~is_redundant[rows]]
    for row in np.flatnonzero(~looked_up & ~is_redundant).tolist():
        antecedent, consequent = antecedents.cut(row, row + 1).codes, consequents.cut(row, row + 1).codes
        same_consequent = (consequents.sizes == len(consequent)) & (consequents.holding(consequent) == len(consequent))
        ancestors = np.unique(table[:, antecedent])
        general = (antecedents.holding(ancestors[ancestors >= 0]) == sizes) & (np.arange(len(sizes)) != row)
        is_redundant[row] = bool((same_consequent & general & (reachable[row] <= guaranteed)).any())
    return is_redundant


def _ancestor_table(items: int, lineage: Lineage | None) -> NDArray[np.int32]:
    """Return each item in the first row, and below it the items above it, the nearest first; -1 for no item."""
    table = [np.arange(items, dtype=np.int32)]
    for _ in range(0 if lineage is None else int(lineage.depths.max(initial=0))):
        table.append(np.where(table[-1] >= 0, lineage.parents[table[-1]], -1).astype(np.int32))  # type: ignore[union-attr]
    return np.array(table)


def _generalisations(size: int, ways: int) -> Iterator[tuple[int, ...]]:
    """Yield the choices for the items of an antecedent, -1 to leave one out; short ones first."""
    choices = product(range(-1, ways - 1), repeat=size)
    yield from sorted(
        (choice for choice in choices if any(choice) and max(choice) >= 0), key=lambda choice: -choice.count(-1)
    )


def _join_rows(antecedents: Itemsets, consequents: Itemsets) -> Itemsets:
    """Return two columns as one: each row has the items of both."""
    sizes = antecedents.sizes + consequents.sizes
    offsets = starts(sizes)
    codes = np.empty(offsets[-1], np.int32)
    for column, begin in ((antecedents, offsets[:-1]), (consequents, offsets[:-1] + antecedents.sizes)):
        codes[_places(begin, column)] = column.codes
    return Itemsets(offsets, codes)


def _places(begin: Positions, column: Itemsets) -> Positions:
    """Return the places of the codes of a column in an array where its rows begin at `begin`."""
    return np.repeat(begin - column.offsets[:-1], column.sizes) + np.arange(len(column.codes))
