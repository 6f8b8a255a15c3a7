"""Which candidates baskets hold, by sets."""

from __future__ import annotations


def list_held(basket, itemsets):
    return [place for place, itemset in enumerate(itemsets) if set(itemset) <= set(basket)]


def prefix(basket, order, prefixes, length):
    mine = tuple(item for item in order if item in basket)[:length]
    return prefixes.index(mine) if mine in prefixes else len(prefixes)


def numbered(basket, table):
    return sorted({table[item] for item in basket if table[item] >= 0})


def total(basket, worth):
    return sum(worth[item] for item in basket)
