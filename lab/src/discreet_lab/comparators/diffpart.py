"""DiffPart (Chen, Mohammed, Fung, Desai, Xiong 2011): baskets published by top-down splits, then mined.

A taxonomy groups items by their numbers, without regard to meaning. All baskets begin in one partition, and each step
replaces one group by its children with items of a basket. A partition with a low noisy count is dropped; a
basket at the bottom is published as often as its noisy count says. Proof: `diffpart.md`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp, log
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.baskets import Baskets, starts
from discreet.errors import MisuseError
from discreet.exact import mine
from discreet.privacy import exact
from discreet.privacy.sampling import Source, discrete_laplace

from .comparator import Comparator, ComparatorResult, ComparatorTask

I64 = NDArray[np.int64]
Node = tuple[int, int]  # the height of a group over the items, and its number from the left

# Charges are rounded down to multiples of 1 / _GRID, so that sums of many charges stay short fractions.
_GRID = 2**48
# The square root of two: the standard deviation of Laplace noise of scale 1. Public, and its error does not matter.
_ROOT = Fraction(141_421_356, 10**8)
_MAX_FAN_OUT = 14  # a split counts 2**14 subsets of children


@dataclass(frozen=True, kw_only=True)
class Taxonomy:
    """Items in groups of `fan_out` consecutive numbers, and groups in groups, up to one root."""

    items: int
    fan_out: int

    @property
    def root(self) -> Node:
        """The group of all items."""
        height = 1
        while self.fan_out**height < self.items:
            height += 1
        return height, 0

    def list_children(self, node: Node) -> range:
        """Return the numbers of the child groups, or of the items, of a group."""
        height, number = node
        child_size = self.fan_out ** (height - 1)
        first_child = number * self.fan_out
        return range(first_child, min(first_child + self.fan_out, -(-self.items // child_size)))

    def count_groups(self, node: Node) -> int:
        """Return the number of groups from this one down, itself included."""
        height, number = node
        low = number * self.fan_out**height
        high = min(low + self.fan_out**height, self.items)
        return sum(-(-(high - low) // self.fan_out**h) for h in range(1, height + 1))


@dataclass(frozen=True, eq=False)
class ItemPartition:
    """People with items of all listed groups, all listed items, and no items elsewhere."""

    people: I64
    groups: tuple[Node, ...]
    items: tuple[int, ...]
    remaining_epsilon: Fraction


@dataclass(frozen=True, eq=False)
class PublishedBaskets:
    """Baskets, the number of copies of each, and the number of splits."""

    baskets: tuple[tuple[int, ...], ...]
    times: tuple[int, ...]
    splits: int


@dataclass(frozen=True, kw_only=True)
class DiffPart(Comparator):
    """Settings of `diffpart`.

    Parameters
    ----------
    fan_out
        The number of children of a group.
    splitting
        The threshold of a further split, in standard deviations of the noise, times the height of the highest group
        (the article's C1).
    publishing
        The threshold of a published basket, in standard deviations of the noise (the article's C2).
    """

    fan_out: int = 10
    splitting: Fraction = Fraction(4)
    publishing: Fraction = Fraction(11, 4)

    name: ClassVar[str] = "diffpart"
    summary: ClassVar[str] = "Publishes made-up baskets by splitting the true ones along a taxonomy, and mines those."
    citation: ClassVar[str] = (
        "R. Chen, N. Mohammed, B. C. M. Fung, B. C. Desai, L. Xiong. Publishing set-valued data via differential "
        "privacy. PVLDB 4(11), 2011."
    )
    proof: ClassVar[str] = "diffpart.md"

    def __post_init__(self) -> None:
        if not 2 <= self.fan_out <= _MAX_FAN_OUT:
            raise MisuseError(f"fan_out lies between 2 and {_MAX_FAN_OUT}; {self.fan_out} was given.")
        for name in ("splitting", "publishing"):
            value = exact(getattr(self, name), name)
            if value < 0:
                raise MisuseError(f"{name} is 0 or more; {getattr(self, name)} was given.")
            object.__setattr__(self, name, value)
        # On average fewer than two of the empty children may pass, or the number of partitions grows without bound.
        if (2**self.fan_out - 1) * exp(-float(_ROOT * self.splitting)) >= 4:
            smallest = log((2**self.fan_out - 1) / 4) / float(_ROOT)
            raise MisuseError(
                f"With fan_out = {self.fan_out} noise alone would go on splitting: set splitting over {smallest:.2f};"
                f" {self.splitting} was given."
            )

    def find(self, baskets: Baskets, task: ComparatorTask, source: Source) -> ComparatorResult:
        """Publish baskets, and return their frequent patterns."""
        if task.epsilon is None or task.epsilon < Fraction(1, 1000):
            raise MisuseError("diffpart needs an epsilon of 0.001 or more.")
        published = self.publish(baskets, task.epsilon, source)
        people = sum(published.times)
        facts = {"published": float(people), "splits": float(published.splits)}
        if people < task.count:
            return ComparatorResult(counts={}, facts=facts)
        sizes = [len(basket) for basket in published.baskets]
        rows = np.repeat(np.arange(len(sizes)), published.times)
        offsets = starts(sizes)
        codes = np.array([code for basket in published.baskets for code in basket], np.int32)
        lengths = np.array(sizes, np.int64)[rows]
        ends = starts(lengths)
        places = np.arange(ends[-1]) - np.repeat(ends[:-1] - offsets[rows], lengths)
        copies = Baskets(ends, codes[places], baskets.vocabulary)
        mined = mine(copies, min_count=task.count, lengths=(task.least, task.longest))
        return ComparatorResult(counts=dict(mined.to_dict()), facts=facts)

    def publish(self, baskets: Baskets, epsilon: Fraction, source: Source) -> PublishedBaskets:
        """Split the baskets of all people along the taxonomy, and return the published baskets."""
        taxonomy = Taxonomy(items=baskets.items, fan_out=self.fan_out)
        half_epsilon = epsilon / 2
        published: list[tuple[tuple[int, ...], int]] = []
        people = np.flatnonzero(baskets.sizes)
        partitions = [ItemPartition(people, (taxonomy.root,), (), half_epsilon)] if baskets.items else []
        splits = 0
        while partitions:
            parent = partitions.pop()
            splits += 1
            for part, noisy_count, threshold in self._split(parent, baskets, taxonomy, half_epsilon, source):
                if noisy_count < threshold:
                    continue
                if part.groups:
                    partitions.append(part)
                    continue
                epsilon_left = half_epsilon + part.remaining_epsilon
                # Children of the very last group were counted with the whole remaining budget; count any other here.
                copies = noisy_count
                if sum(map(taxonomy.count_groups, parent.groups)) > 1:
                    copies = len(part.people) + int(discrete_laplace(source, 1 / epsilon_left, 1)[0])
                if copies >= max(1, ceil(_ROOT * self.publishing / epsilon_left)):
                    published.append((tuple(sorted(part.items)), copies))
        published.sort()
        return PublishedBaskets(
            tuple(basket for basket, _ in published), tuple(copies for _, copies in published), splits
        )

    def _split(
        self, parent: ItemPartition, baskets: Baskets, taxonomy: Taxonomy, half_epsilon: Fraction, source: Source
    ) -> list[tuple[ItemPartition, int, int]]:
        """Return the children of a partition with a noisy count that passes: child, noisy count, threshold."""
        height = max(group[0] for group in parent.groups)
        highest = [group for group in parent.groups if group[0] == height]
        group = highest[source.below(len(highest))]
        groups = sum(map(taxonomy.count_groups, parent.groups))
        is_last = groups == 1
        charge = (
            half_epsilon + parent.remaining_epsilon
            if is_last
            else Fraction(int(parent.remaining_epsilon / (groups - 1) * _GRID), _GRID)
        )
        factor = self.publishing if is_last else self.splitting * height
        threshold = max(1, ceil(_ROOT * factor / charge))
        children = taxonomy.list_children(group)
        kinds = _find_kinds(baskets, parent.people, children, taxonomy.fan_out ** (height - 1))
        counts = np.bincount(kinds, minlength=1 << len(children))[1:]
        noisy_counts = counts + discrete_laplace(source, 1 / charge, len(counts))
        other_groups = tuple(other_group for other_group in parent.groups if other_group != group)
        order = np.argsort(kinds, kind="stable")
        bounds = np.searchsorted(kinds[order], np.arange((1 << len(children)) + 1))
        parts = []
        for kind in (np.flatnonzero(noisy_counts >= threshold) + 1).tolist():
            chosen_children = [child for place, child in enumerate(children) if kind >> place & 1]
            part = ItemPartition(
                parent.people[order[bounds[kind] : bounds[kind + 1]]],
                other_groups if height == 1 else (*other_groups, *((height - 1, child) for child in chosen_children)),
                (*parent.items, *chosen_children) if height == 1 else parent.items,
                parent.remaining_epsilon if is_last else parent.remaining_epsilon - charge,
            )
            parts.append((part, int(noisy_counts[kind - 1]), threshold))
        return parts


def _find_kinds(baskets: Baskets, people: I64, children: range, child_size: int) -> I64:
    """Return for each person the set of children with items in the basket, as the bits of a number."""
    sizes = baskets.sizes[people]
    ends = starts(sizes)
    places = np.arange(ends[-1]) - np.repeat(ends[:-1] - baskets.offsets[people], sizes)
    child = baskets.codes[places].astype(np.int64) // child_size - children.start
    is_inside = (child >= 0) & (child < len(children))
    person = np.repeat(np.arange(len(people)), sizes)[is_inside]
    has_child = np.zeros((len(children), len(people)), np.bool_)
    has_child[child[is_inside], person] = True
    return np.asarray((has_child.T @ (1 << np.arange(len(children)))) if len(people) else np.zeros(0), np.int64)
