"""Clipped counting by sets and whole numbers."""

from __future__ import annotations

from math import isqrt

PARTS = 1024


def count_held(basket, itemsets):
    """Return how many of the itemsets a basket holds."""
    return sum(set(itemset) <= set(basket) for itemset in itemsets)


def sums(baskets, itemsets, weights):
    """Return for each itemset what the baskets that hold it weigh."""
    return [
        sum(weight for basket, weight in zip(baskets, weights, strict=True) if set(itemset) <= set(basket))
        for itemset in itemsets
    ]


def squares(baskets, itemsets):
    """Return the squares of how many of a person's baskets hold each of the itemsets, added up."""
    return sum(sum(set(itemset) <= set(basket) for basket in baskets) ** 2 for itemset in itemsets)


def weight(itemset_count, total, root):
    """Return the largest weight, up to a person, with which so many itemsets stay within a total."""
    if not itemset_count:
        return 0
    fits = [
        w for w in range(PARTS + 1) if (itemset_count * w * w <= PARTS * total if root else itemset_count * w <= total)
    ]
    assert not root or fits[-1] == min(PARTS, isqrt(PARTS * total // itemset_count))
    return fits[-1]
