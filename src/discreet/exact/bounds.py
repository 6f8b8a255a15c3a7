"""How many of some itemsets one basket can hold, from the itemsets alone.

Such a bound is the sensitivity of their counts, so it must never be too small; no basket is looked at.
"""

from __future__ import annotations

from math import comb

import numpy as np

from ..baskets.core import Codes, Offsets
from ..errors import MisuseError


def degree_bound(set_offsets: Offsets, set_codes: Codes, most: int) -> int:
    """Return a number that no basket of at most `most` items holds more of these itemsets than.

    Parameters
    ----------
    set_offsets, set_codes
        Itemsets of one size, all different: itemset i is ``set_codes[set_offsets[i]:set_offsets[i + 1]]``.
    most
        How many items a basket has at most.

    Notes
    -----
    Count the pairs of an itemset inside the basket and one of its items: size times as many as there are such itemsets.
    One item is in no more of them than there are itemsets with it, nor than there are ways to fill up an itemset from
    the rest of the basket. Hence the sum over the best `most` items, divided by the size (erratum C12); and never more
    than C(most, size), the bound of Zeng, Naughton, Cai (2012).

    Examples
    --------
    >>> degree_bound(np.array([0, 2, 4, 6]), np.array([2, 3, 4, 5, 6, 7], np.int32), most=3)
    1
    """
    sizes = np.unique(np.diff(set_offsets)).tolist()
    if not sizes:
        return 0
    if len(sizes) > 1:
        raise MisuseError(
            f"The bound is for itemsets of one size; sizes from {sizes[0]} to {sizes[-1]} were given. "
            "Bound each size by itself."
        )
    size, many = int(sizes[0]), len(set_offsets) - 1
    if most < size:
        return 0
    if size == 0:
        return many
    degrees = np.unique(set_codes, return_counts=True)[1]
    largest = np.sort(np.minimum(degrees, min(comb(most - 1, size - 1), many)))[-most:]
    return min(int(largest.sum()) // size, comb(most, size), many)


def lengths_for(top: int, least: int) -> int:
    """Return the most items a pattern among the top can have: its subsets are at least as frequent (A10)."""
    size = least
    while sum(comb(size + 1, length) for length in range(least, size + 2)) <= top:
        size += 1
    return size
