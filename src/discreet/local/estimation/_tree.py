"""A tree of prefixes with noisy counts: the selection of paths, the agreement of counts, and the mining of the tree.

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
    """One path: the fraction of baskets that begin with it, after inference (`value`) and as measured (`heard`)."""

    path: Path
    value: float
    heard: float
    variance: float
    guess: float


class MinedTree(NamedTuple):
    """An itemset of the tree: the sums over its nodes of their values, estimates and variances."""

    ranks: Path
    value: float
    heard: float
    variance: float


class Tree:
    """The paths that were asked for, level by level."""

    def __init__(self, chances: Values) -> None:
        self.chances = chances
        # Sums of log(1 - p): the probability that no rank of a gap is present is exp of a difference.
        self.absent = np.concatenate(([0.0], np.cumsum(np.log1p(-chances))))
        self.levels: list[dict[Path, Node]] = [{(): Node((), 1.0, 1.0, 0.0, 1.0)}]

    def step(self, after: int, rank: int) -> float:
        """Return the probability that `rank` follows `after`: it is present and no rank in between is (B7)."""
        return float(self.chances[rank] * np.exp(self.absent[rank] - self.absent[after + 1]))

    def candidates(self, max_paths: int) -> list[Path]:
        """Return the likeliest paths of the next level: their parent's count times the probability of the step."""
        scored_paths = []
        for node in self.levels[-1].values():
            if node.value > 0:
                after = node.path[-1] if node.path else -1
                for rank in range(after + 1, len(self.chances)):
                    # Negative ranks: of equal scores, nlargest then keeps the paths of more frequent items.
                    scored_paths.append((node.value * self.step(after, rank), tuple(-r for r in (*node.path, rank))))
        return sorted(tuple(-r for r in path) for _, path in nlargest(max_paths, scored_paths))

    def guesses(self, paths: list[Path]) -> Values:
        """Return the probability of each path from the items alone, the gap before its first item included (B7)."""
        return np.array([self._guess(path) for path in paths])

    def _guess(self, path: Path) -> float:
        guess, after = 1.0, -1
        for rank in path:
            guess *= self.step(after, rank)
            after = rank
        return guess

    def add(self, paths: list[Path], values: Values, estimates: Values, variance: Values) -> None:
        """Add a level: its values, and its estimates, which noise may take below 0."""
        self.levels.append(
            {
                path: Node(path, float(value), float(estimate), float(path_variance), self._guess(path))
                for path, value, estimate, path_variance in zip(paths, values, estimates, variance, strict=True)
            }
        )

    def missing(self) -> Values:
        """Return, by rank, the share of an item's people on none of its paths: cut off, or on paths not asked for.

        Noise may take the share below 0 or above 1.
        """
        path_sums = np.zeros(len(self.chances))
        for level in self.levels[1:]:
            for node in level.values():
                path_sums[node.path[-1]] += node.heard
        share: Values = 1 - path_sums / self.chances
        return share

    def infer(self, rounds: int, min_theta: float, *, printed: bool) -> None:
        """Make the counts of children agree with their parent's, from the root down, several times (B8)."""
        children: dict[Path, list[Node]] = {}
        for level in self.levels[1:]:
            for node in level.values():
                children.setdefault(node.path[:-1], []).append(node)
        parents = [(node, children[path]) for level in self.levels for path, node in level.items() if path in children]
        for _ in range(rounds):
            for parent, parent_children in parents:
                _agree(parent, parent_children, min_theta, printed)

    def mine(self, max_sets: int, largest: int, related: NDArray[np.bool_] | None = None) -> list[MinedTree]:
        """Return the `max_sets` most frequent sets of two to `largest` ranks.

        1. The people with a set are on the paths that have its last member at some node and its further members above
           that node: the counts of these nodes add up.
        2. Sets grow from their last member upwards, as in FP-growth (Han et al. 2000), while the sum is large enough.

        Nodes with the value 0 count too: their estimates may be below 0, and without them the sums would be too large.
        No set has two ranks that are `related`, as an item is to one above it. Paths do, each person on one has both.
        """
        nodes = [node for level in self.levels[1:] for node in level.values()]
        if not nodes:
            return []
        has_rank = np.zeros((len(nodes), len(self.chances)), bool)
        for row, node in enumerate(nodes):
            has_rank[row, list(node.path)] = True
        value = np.array([node.value for node in nodes])
        estimates = np.array([node.heard for node in nodes])
        variance = np.array([node.variance for node in nodes])
        last_ranks = np.array([node.path[-1] for node in nodes])
        heap: list[tuple[float, Path, float, float]] = []

        def grow(ranks: Path, rows: NDArray[np.int64]) -> None:
            for rank in range(ranks[0] - 1, -1, -1):
                if related is not None and related[rank, list(ranks)].any():
                    continue
                rank_rows = rows[has_rank[rows, rank]]
                total = float(value[rank_rows].sum())
                # A larger set is no more frequent: a sum below the least of a full heap ends this branch.
                if total <= 0 or (len(heap) == max_sets and total <= heap[0][0]):
                    continue
                grown_ranks = (rank, *ranks)
                entry = (total, grown_ranks, float(estimates[rank_rows].sum()), float(variance[rank_rows].sum()))
                if len(heap) < max_sets:
                    heap.append(entry)
                    heap.sort()
                else:
                    heappushpop(heap, entry)
                if len(grown_ranks) < largest:
                    grow(grown_ranks, rank_rows)

        for rank in range(len(self.chances) - 1, -1, -1):
            rows = np.flatnonzero(last_ranks == rank)
            if len(rows):
                grow((rank,), rows)
        return [
            MinedTree(ranks, total, *sums)
            for total, ranks, *sums in sorted(heap, key=lambda entry: (-entry[0], entry[1]))
        ]


def _agree(parent: Node, children: list[Node], min_theta: float, printed: bool) -> None:
    """Move the counts of a parent and of its children to agree; `theta` is the share of the parent in its children."""
    child_count, total = len(children), sum(node.value for node in children)
    theta = 1.0 if parent.value < total or parent.guess <= 0 else sum(node.guess for node in children) / parent.guess
    theta = min(theta, 1.0)
    # Too small a share of the parent says too little of it.
    if theta < min_theta:
        return
    is_root = not parent.path  # each basket begins with the empty path: its count is known
    if is_root:
        parent_estimate = parent.value
    elif printed:
        # (b^2 - b) / (b^2 - 1) and (b - 1) / (b^2 - 1), with their common factor cancelled for the sake of one child.
        parent_estimate = (child_count * parent.value + total / theta) / (child_count + 1)
    else:
        # Least squares of the parent and of total / theta, with variances 1 and child_count / theta^2.
        parent_estimate = (child_count * parent.value + theta * total) / (child_count + theta**2)
    parent.value = max(parent_estimate, 0.0)
    for node in children:
        node.value = max(node.value + (parent_estimate * theta - total) / child_count, 0.0)


def cut_share(ranks: Path, chances: Values, sizes: Values, height: int) -> float:
    """Return the share of a set's people with more items up to its last one than the tree is high (B5).

    Each further item of a person is before the last member of the set with the probability that the frequencies of the
    items give, independently of the person's remaining items: their number is binomial.

    Parameters
    ----------
    ranks, chances
        The ranks of the set, and the frequency of each item, by rank.
    sizes
        The share of people with 1, 2, 3 … of the items.
    height
        The largest number of a basket's items in the tree.
    """
    last_rank, set_chances, set_size = ranks[-1], float(chances[list(ranks)].sum()), len(ranks)
    further_chances = float(chances.sum()) - set_chances
    earlier_chances = float(chances[: last_rank + 1].sum()) - set_chances
    chance = min(max(earlier_chances / further_chances, 0.0), 1.0) if further_chances > 0 else 0.0
    set_people = cut_people = 0.0
    for size, share in enumerate(sizes.tolist(), 1):
        if share > 0 and size >= set_size:
            further_items = size - set_size
            fits = sum(
                comb(further_items, earlier) * chance**earlier * (1 - chance) ** (further_items - earlier)
                for earlier in range(min(further_items, height - set_size) + 1)
            )
            # A basket of this size has comb(size, set_size) sets of the size of this one.
            set_people += share * comb(size, set_size)
            cut_people += share * comb(size, set_size) * (1 - min(fits, 1.0))
    return cut_people / set_people if set_people > 0 else 0.0


def balanced(values: Values, total: float) -> Values:
    """Return the nearest values of 0 or more with the given total (Norm-Sub, Wang et al. 2020)."""
    falling = np.sort(values)[::-1]
    shift = (total - np.cumsum(falling)) / np.arange(1, len(values) + 1)
    last_positive = int(np.flatnonzero(falling + shift > 0)[-1])
    fitting: Values = np.clip(values + shift[last_positive], 0.0, None)
    return fitting


def balanced_at_random(values: Values, people: int) -> Values:
    """Return values of 0 or more as the paper prints it: one person at a time is taken from a random value above 0.

    The randomness follows from the values: a conversation has no randomness of its own. Only values still above 0 are
    taken from, until the negative values are made up for or no value is above 0.
    """
    unit = 1.0 / max(people, 1)
    debt = round(float(-values[values < 0].sum()) / unit)
    counts = np.floor(np.clip(values, 0, None) / unit).astype(np.int64)
    fractions = np.clip(values, 0, None) - counts * unit
    seed = int.from_bytes(blake2b(values.tobytes(), digest_size=8).digest(), "little")
    generator = np.random.default_rng(seed)
    debt = min(debt, int(counts.sum()))
    while debt > 0:
        places = np.flatnonzero(counts)
        # All of the debt at once, as many draws of one person each: a value that ran out is left out of the next step.
        removed = np.minimum(generator.multinomial(debt, np.full(len(places), 1 / len(places))), counts[places])
        counts[places] -= removed
        debt -= int(removed.sum())
    balanced_values: Values = (counts * unit + fractions).astype(np.float64)
    return balanced_values
