"""Bounds of the number of itemsets within one basket, from the itemsets alone.

Such a bound is the sensitivity of counts: it must never be too small, and no basket is read.
"""

from __future__ import annotations

from math import comb

import numpy as np

from ..baskets import Codes, Offsets
from ..errors import MisuseError


def degree_bound(set_offsets: Offsets, set_codes: Codes, max_items: int) -> int:
    """Return an upper bound of the number of given itemsets within one basket of at most `max_items` items.

    Parameters
    ----------
    set_offsets, set_codes
        Distinct itemsets of one size: itemset i is ``set_codes[set_offsets[i]:set_offsets[i + 1]]``.
    max_items
        The largest number of items in a basket.

    Notes
    -----
    Double counting of pairs (itemset within the basket, item of the itemset) gives n * size = sum over items of the
    number of itemsets with the item. An item is in at most min(degree, C(max_items - 1, size - 1)) itemsets within the
    basket. Hence n <= (sum of the `max_items` largest minima) / size (erratum C12), and n <= C(max_items, size), the
    bound of Zeng, Naughton, Cai (2012).

    Examples
    --------
    >>> degree_bound(np.array([0, 2, 4, 6]), np.array([2, 3, 4, 5, 6, 7], np.int32), max_items=3)
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
    size, set_count = int(sizes[0]), len(set_offsets) - 1
    if max_items < size:
        return 0
    # The empty itemset is within every basket.
    if size == 0:
        return set_count
    # The degree of an item is the number of itemsets with the item.
    degrees = np.unique(set_codes, return_counts=True)[1]
    # The basket with the most itemsets has, at best, the items of largest degree.
    largest = np.sort(np.minimum(degrees, min(comb(max_items - 1, size - 1), set_count)))[-max_items:]
    return min(int(largest.sum()) // size, comb(max_items, size), set_count)


def lengths_for(top: int, min_length: int) -> int:
    """Return the largest length of a pattern among the top: all its subsets are at least as frequent (A10)."""
    # One more item would need all its subsets of the allowed lengths among the top.
    size = min_length
    while sum(comb(size + 1, length) for length in range(min_length, size + 2)) <= top:
        size += 1
    return size
