"""Forests as one would write them on a whiteboard: walk up from every item."""

from __future__ import annotations

from itertools import combinations


def above(parents: list[int], item: int) -> list[int]:
    """Return what stands above an item, the nearest first."""
    found = []
    while (item := parents[item]) >= 0:
        found.append(item)
    return found


def apart(parents: list[int], items: frozenset[int]) -> bool:
    """Say whether no item of these stands above another."""
    return not any(other in above(parents, one) for one in items for other in items)


def antichains(parents: list[int], least: int = 0, longest: int = 99) -> list[frozenset[int]]:
    """Return all sets of items of these lengths in which none stands above another."""
    items = range(len(parents))
    sizes = range(least, min(longest, len(parents)) + 1)
    return [one for size in sizes for one in map(frozenset, combinations(items, size)) if apart(parents, one)]


def widened(parents: list[int], basket: frozenset[int]) -> frozenset[int]:
    """Return a basket with all that stands above its items."""
    return basket.union(*(above(parents, item) for item in basket)) if basket else basket
