"""A tree of prefixes with noisy counts: which paths to ask for next, making counts agree, and mining it.

Everything is in ranks (0 is the most frequent item) and in fractions of all people, on one scale throughout (B4).
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from heapq import heappushpop, nlargest
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Path = tuple[int, ...]


@dataclass
class Node:
    """One path: how many people's baskets begin with it, as it is made to agree with all else and as it was heard."""

    path: Path
    value: float
    heard: float
    variance: float
    guess: float


class Mined(NamedTuple):
    """An itemset of the tree: the sums over its nodes of their values, and of what was heard with its variance."""

    ranks: Path
    value: float
    heard: float
    variance: float


class Tree:
    """The paths that were asked for, level by level."""

    def __init__(self, chances: Values) -> None:
        self.chances = chances
        self.absent = np.concatenate(([0.0], np.cumsum(np.log1p(-chances))))  # logs, so that a gap is a difference
        self.levels: list[dict[Path, Node]] = [{(): Node((), 1.0, 1.0, 0.0, 1.0)}]

    def step(self, after: int, rank: int) -> float:
        """Return the chance that `rank` comes next after `after`: it is there, and nothing in between is (B7)."""
        return float(self.chances[rank] * np.exp(self.absent[rank] - self.absent[after + 1]))

    def candidates(self, most: int) -> list[Path]:
        """Return the paths of the next level that are likeliest: their parent's count times the chance of the step."""
        found = []
        for node in self.levels[-1].values():
            if node.value > 0:
                after = node.path[-1] if node.path else -1
                for rank in range(after + 1, len(self.chances)):
                    found.append((node.value * self.step(after, rank), tuple(-r for r in (*node.path, rank))))
        return sorted(tuple(-r for r in path) for _, path in nlargest(most, found))

    def guesses(self, paths: list[Path]) -> Values:
        """Return the chance of each path from the items alone, the gap before its first item included (B7)."""
        return np.array([self._guess(path) for path in paths])

    def _guess(self, path: Path) -> float:
        guess, after = 1.0, -1
        for rank in path:
            guess *= self.step(after, rank)
            after = rank
        return guess

    def add(self, paths: list[Path], values: Values, heard: Values, variance: Values) -> None:
        """Add a level: its values, and what was heard, which noise takes below 0 too."""
        self.levels.append(
            {
                path: Node(path, float(value), float(said), float(wide), self._guess(path))
                for path, value, said, wide in zip(paths, values, heard, variance, strict=True)
            }
        )

    def missing(self) -> Values:
        """Return, by rank, which share of an item's people were heard on none of its paths: cut, or not asked for.

        Noise takes it beyond 0 and 1.
        """
        heard = np.zeros(len(self.chances))
        for level in self.levels[1:]:
            for node in level.values():
                heard[node.path[-1]] += node.heard
        share: Values = 1 - heard / self.chances
        return share

    def infer(self, rounds: int, least: float, *, printed: bool) -> None:
        """Make children agree with their parent, from the root down, several times (B8)."""
        children: dict[Path, list[Node]] = {}
        for level in self.levels[1:]:
            for node in level.values():
                children.setdefault(node.path[:-1], []).append(node)
        parents = [(node, children[path]) for level in self.levels for path, node in level.items() if path in children]
        for _ in range(rounds):
            for parent, own in parents:
                _agree(parent, own, least, printed)

    def mine(self, most: int, largest: int, related: NDArray[np.bool_] | None = None) -> list[Mined]:
        """Return the `most` frequent sets of two to `largest` ranks.

        A set is held by those whose path has its last member at some node and the others above it: counts of nodes
        add up. Sets grow from their last member upwards, as FP-growth does it, and only where the sum is large enough.
        Nodes of 0 count too: what was heard of them may be below 0, and without it those sums would be too large.
        No set has two ranks that are `related`, as an item is to one above it; paths do, as everyone on one holds both.
        """
        nodes = [node for level in self.levels[1:] for node in level.values()]
        if not nodes:
            return []
        held = np.zeros((len(nodes), len(self.chances)), bool)
        for row, node in enumerate(nodes):
            held[row, list(node.path)] = True
        value = np.array([node.value for node in nodes])
        heard = np.array([node.heard for node in nodes])
        variance = np.array([node.variance for node in nodes])
        last = np.array([node.path[-1] for node in nodes])
        best: list[tuple[float, Path, float, float]] = []

        def grow(ranks: Path, rows: NDArray[np.int64]) -> None:
            for rank in range(ranks[0] - 1, -1, -1):
                if related is not None and related[rank, list(ranks)].any():
                    continue
                kept = rows[held[rows, rank]]
                total = float(value[kept].sum())
                if total <= 0 or (len(best) == most and total <= best[0][0]):
                    continue
                wider = (rank, *ranks)
                entry = (total, wider, float(heard[kept].sum()), float(variance[kept].sum()))
                if len(best) < most:
                    best.append(entry)
                    best.sort()
                else:
                    heappushpop(best, entry)
                if len(wider) < largest:
                    grow(wider, kept)

        for rank in range(len(self.chances) - 1, -1, -1):
            rows = np.flatnonzero(last == rank)
            if len(rows):
                grow((rank,), rows)
        return [Mined(ranks, total, *rest) for total, ranks, *rest in sorted(best, key=lambda one: (-one[0], one[1]))]


def _agree(parent: Node, own: list[Node], least: float, printed: bool) -> None:
    many, total = len(own), sum(node.value for node in own)
    theta = 1.0 if parent.value < total or parent.guess <= 0 else sum(node.guess for node in own) / parent.guess
    theta = min(theta, 1.0)
    if theta < least:
        return
    root = not parent.path  # everyone's basket begins with nothing: that count is known
    if root:
        better = parent.value
    elif printed:
        # (b^2 - b) / (b^2 - 1) and (b - 1) / (b^2 - 1), with their common factor cancelled for the sake of one child.
        better = (many * parent.value + total / theta) / (many + 1)
    else:
        better = (many * parent.value + theta * total) / (many + theta**2)
    parent.value = max(better, 0.0)
    for node in own:
        node.value = max(node.value + (better * theta - total) / many, 0.0)


def cut_share(ranks: Path, chances: Values, sizes: Values, height: int) -> float:
    """Return which share of those who hold a set hold more items before its last one than the tree is high (B5).

    Whoever holds the set and some number of items besides has each of these before the last one with the chance that
    the frequencies of the items give it.

    Parameters
    ----------
    ranks, chances
        The set, and how frequent items are, by rank.
    sizes
        Which share of people holds 1, 2, 3 … of the items.
    height
        How many of a basket's items the tree has at most.
    """
    last, own, many = ranks[-1], float(chances[list(ranks)].sum()), len(ranks)
    others = float(chances.sum()) - own
    before = float(chances[: last + 1].sum()) - own
    chance = min(max(before / others, 0.0), 1.0) if others > 0 else 0.0
    held = cut = 0.0
    for size, share in enumerate(sizes.tolist(), 1):
        if share > 0 and size >= many:
            besides = size - many
            fits = sum(
                comb(besides, here) * chance**here * (1 - chance) ** (besides - here)
                for here in range(min(besides, height - many) + 1)
            )
            held += share * comb(size, many)
            cut += share * comb(size, many) * (1 - min(fits, 1.0))
    return cut / held if held > 0 else 0.0


def balanced(values: Values, total: float) -> Values:
    """Return the nearest values of 0 or more with this total (Norm-Sub)."""
    falling = np.sort(values)[::-1]
    shift = (total - np.cumsum(falling)) / np.arange(1, len(values) + 1)
    kept = int(np.flatnonzero(falling + shift > 0)[-1])
    fitting: Values = np.clip(values + shift[kept], 0.0, None)
    return fitting


def balanced_at_random(values: Values, people: int) -> Values:
    """Return values of 0 or more as the paper prints it: one person at a time is taken from a random one over 0.

    The randomness follows from the values, since a conversation has none of its own. Only values still over 0 are
    taken from, and none where the rest is all there is.
    """
    unit = 1.0 / max(people, 1)
    debt = round(float(-values[values < 0].sum()) / unit)
    counts = np.floor(np.clip(values, 0, None) / unit).astype(np.int64)
    over = np.clip(values, 0, None) - counts * unit
    seed = int.from_bytes(blake2b(values.tobytes(), digest_size=8).digest(), "little")
    generator = np.random.default_rng(seed)
    debt = min(debt, int(counts.sum()))
    while debt > 0:
        places = np.flatnonzero(counts)
        taken = np.minimum(generator.multinomial(debt, np.full(len(places), 1 / len(places))), counts[places])
        counts[places] -= taken
        debt -= int(taken.sum())
    left: Values = (counts * unit + over).astype(np.float64)
    return left
