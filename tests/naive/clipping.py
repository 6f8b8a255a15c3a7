"""Clipped counting by sets and whole numbers."""

from __future__ import annotations

from math import isqrt

PARTS = 1024


def count_held(basket, itemsets):
    """Return the number of itemsets that a basket holds."""
    return sum(set(itemset) <= set(basket) for itemset in itemsets)


def sums(baskets, itemsets, weights):
    """Return for each itemset the sum of the weights of its baskets."""
    return [
        sum(weight for basket, weight in zip(baskets, weights, strict=True) if set(itemset) <= set(basket))
        for itemset in itemsets
    ]


def squares(baskets, itemsets):
    """Return the sum over itemsets of the squared number of a person's baskets that hold the itemset."""
    return sum(sum(set(itemset) <= set(basket) for basket in baskets) ** 2 for itemset in itemsets)


def weight(itemset_count, total, root):
    """Return the largest weight, up to a person, with which `itemset_count` itemsets stay within a total."""
    if not itemset_count:
        return 0
    # With `root` the squared weights of a person's itemsets add up to at most the total, otherwise the weights.
    fits = [
        w for w in range(PARTS + 1) if (itemset_count * w * w <= PARTS * total if root else itemset_count * w <= total)
    ]
    assert not root or fits[-1] == min(PARTS, isqrt(PARTS * total // itemset_count))
    return fits[-1]
