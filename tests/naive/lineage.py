"""Forests as one would write them on a whiteboard: walk up from every item."""

from __future__ import annotations

from itertools import combinations


def above(parents: list[int], item: int) -> list[int]:
    """Return the ancestors of an item, the nearest first."""
    ancestors = []
    while (item := parents[item]) >= 0:
        ancestors.append(item)
    return ancestors


def are_unrelated(parents: list[int], items: frozenset[int]) -> bool:
    """Return whether no item is an ancestor of a second item of the set."""
    return not any(ancestor in above(parents, item) for item in items for ancestor in items)


def antichains(parents: list[int], min_length: int = 0, longest: int = 99) -> list[frozenset[int]]:
    """Return all sets of unrelated items with the given lengths."""
    items = range(len(parents))
    sizes = range(min_length, min(longest, len(parents)) + 1)
    return [
        itemset
        for size in sizes
        for itemset in map(frozenset, combinations(items, size))
        if are_unrelated(parents, itemset)
    ]


def widened(parents: list[int], basket: frozenset[int]) -> frozenset[int]:
    """Return a basket with all that stands above its items."""
    return basket.union(*(above(parents, item) for item in basket)) if basket else basket
