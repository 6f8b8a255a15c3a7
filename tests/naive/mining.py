"""The miner as one would write it on a whiteboard: try every itemset."""

from __future__ import annotations

from itertools import combinations

Basket = frozenset[int]


def supports(baskets: list[Basket]) -> dict[Basket, int]:
    """Every itemset that occurs, with its count."""
    counts: dict[Basket, int] = {}
    for basket in baskets:
        for size in range(1, len(basket) + 1):
            for items in combinations(sorted(basket), size):
                counts[frozenset(items)] = counts.get(frozenset(items), 0) + 1
    return counts


def ordered(baskets: list[Basket], found: dict[Basket, int]) -> list[tuple[Basket, int]]:
    """The documented order: falling count, rising size, then items from the rarest to the most frequent."""
    held: dict[int, int] = {}
    for basket in baskets:
        for item in basket:
            held[item] = held.get(item, 0) + 1
    rank = {item: r for r, item in enumerate(sorted(held, key=lambda item: (-held[item], item)))}

    def key(pair: tuple[Basket, int]) -> tuple[int, int, list[int]]:
        items, count = pair
        return -count, len(items), sorted((rank[item] for item in items), reverse=True)

    return sorted(found.items(), key=key)


def mine(
    baskets: list[Basket],
    count: int,
    least: int = 1,
    most: int = 99,
    contains: frozenset[int] = frozenset(),
    excludes: frozenset[int] = frozenset(),
    kind: str = "all",
) -> list[tuple[Basket, int]]:
    frequent = {
        items: c
        for items, c in supports(baskets).items()
        if c >= count and contains <= items and not items & excludes
    }
    if kind == "closed":
        frequent = {x: c for x, c in frequent.items() if not any(x < y and d == c for y, d in frequent.items())}
    elif kind == "maximal":
        frequent = {x: c for x, c in frequent.items() if not any(x < y for y in frequent)}
    return ordered(baskets, {x: c for x, c in frequent.items() if least <= len(x) <= most})
