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


def ordered(baskets: list[Basket], counts: dict[Basket, int]) -> list[tuple[Basket, int]]:
    """The documented order: falling count, rising size, then items from the rarest to the most frequent."""
    item_counts: dict[int, int] = {}
    for basket in baskets:
        for item in basket:
            item_counts[item] = item_counts.get(item, 0) + 1
    rank = {item: r for r, item in enumerate(sorted(item_counts, key=lambda item: (-item_counts[item], item)))}

    def key(pair: tuple[Basket, int]) -> tuple[int, int, list[int]]:
        items, count = pair
        return -count, len(items), sorted((rank[item] for item in items), reverse=True)

    return sorted(counts.items(), key=key)


def mine(
    baskets: list[Basket],
    count: int,
    min_length: int = 1,
    max_length: int = 99,
    contains: frozenset[int] = frozenset(),
    excludes: frozenset[int] = frozenset(),
    kind: str = "all",
) -> list[tuple[Basket, int]]:
    frequent = {
        items: c for items, c in supports(baskets).items() if c >= count and contains <= items and not items & excludes
    }
    if kind == "closed":
        # No superset has an equal count.
        frequent = {x: c for x, c in frequent.items() if not any(x < y and d == c for y, d in frequent.items())}
    elif kind == "maximal":
        # No superset is frequent.
        frequent = {x: c for x, c in frequent.items() if not any(x < y for y in frequent)}
    return ordered(baskets, {x: c for x, c in frequent.items() if min_length <= len(x) <= max_length})


def count_of_rank(baskets: list[Basket], rank: int, min_length: int, max_length: int, work: int) -> int:
    """Return the count of a rank, or the larger count of rank `work` among all sets of up to `max_length` items."""
    counts_by_itemset = {items: count for items, count in supports(baskets).items() if len(items) <= max_length}
    counts_in_range = [count for items, count in counts_by_itemset.items() if len(items) >= min_length]
    falling = [(rank, sorted(counts_in_range, reverse=True)), (work, sorted(counts_by_itemset.values(), reverse=True))]
    return max(counts[place - 1] if place <= len(counts) else 0 for place, counts in falling)


# Twins of the single kernels, in lists and dictionaries.


def flat_rows(rows: list[list[int]], rank: list[int]) -> list[int]:
    """Each row that keeps anything, as sorted ranks behind a -1."""
    flat: list[int] = []
    for row in rows:
        kept_ranks = sorted(rank[code] for code in row if rank[code] >= 0)
        if kept_ranks:
            flat += [-1, *kept_ranks]
    return flat


def positions(flat: list[int], ranks: int) -> list[list[int]]:
    """For each rank its positions that have a predecessor in their row."""
    positions_by_rank: list[list[int]] = [[] for _ in range(ranks)]
    for place in range(1, len(flat)):
        if flat[place] >= 0 and flat[place - 1] >= 0:
            positions_by_rank[flat[place]].append(place)
    return positions_by_rank


def paths(records: list[tuple[int, int, int]]) -> list[list[int]]:
    """The ranks of each record and its ancestors."""
    path: list[int] = []
    ancestor_paths = []
    for depth, rank, _ in records:
        path = [*path[: depth - 1], rank]
        ancestor_paths.append(path)
    return ancestor_paths


def join_nodes(records: list[tuple[int, int, int]]) -> list[tuple[list[int], int]]:
    """For each node of closed-mode records its ranks with all that joined it or an ancestor, and its count."""
    nodes: list[tuple[list[list[int]], int]] = []
    path: list[list[int]] = []
    for depth, rank, count in records:
        if count < 0:
            path[depth - 1].append(rank)
        else:
            path = [*path[: depth - 1], [rank]]
            nodes.append((path, count))
    return [(sorted(rank for level in levels for rank in level), count) for levels, count in nodes]


def unsubsumed(groups: list[list[frozenset[int]]]) -> list[bool]:
    return [not any(itemset < superset for superset in group) for group in groups for itemset in group]
