"""DiffPart (Chen, Mohammed, Fung, Desai, Xiong 2011): baskets published by splitting them top-down, then mined.

A taxonomy that knows nothing of what items mean groups them by their numbers. All baskets begin in one partition, and
each step replaces one group by those of its children that a basket has items of. Partitions whose noisy count is low
are given up; what is left at the bottom is published as many times as its noisy count says. Proof: `diffpart.md`.
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

# Charges are rounded down to multiples of this, so that they stay short however many there are.
_GRID = 2**48
# The square root of two, which is the deviation of Laplace noise of scale 1; a public number of no consequence.
_ROOT = Fraction(141_421_356, 10**8)
_WIDEST = 14


@dataclass(frozen=True, kw_only=True)
class Taxonomy:
    """Items by their numbers in groups of `fan_out`, these in groups of as many, up to one root."""

    items: int
    fan_out: int

    @property
    def root(self) -> Node:
        """The group of all items."""
        height = 1
        while self.fan_out**height < self.items:
            height += 1
        return height, 0

    def children(self, node: Node) -> range:
        """Return the numbers of the groups, or of the items, that a group is made of."""
        height, number = node
        wide = self.fan_out ** (height - 1)
        first = number * self.fan_out
        return range(first, min(first + self.fan_out, -(-self.items // wide)))

    def internal(self, node: Node) -> int:
        """Return how many groups there are from this one down, itself included."""
        height, number = node
        low = number * self.fan_out**height
        high = min(low + self.fan_out**height, self.items)
        return sum(-(-(high - low) // self.fan_out**h) for h in range(1, height + 1))


@dataclass(frozen=True, eq=False)
class ItemPartition:
    """People whose baskets look alike so far: they have items of all these groups, these items, and no others."""

    people: I64
    groups: tuple[Node, ...]
    held: tuple[int, ...]
    left: Fraction


@dataclass(frozen=True, eq=False)
class Published:
    """Baskets with how often each is published, and how many splits that took."""

    baskets: tuple[tuple[int, ...], ...]
    times: tuple[int, ...]
    splits: int


@dataclass(frozen=True, kw_only=True)
class DiffPart(Comparator):
    """Settings of `diffpart`.

    Parameters
    ----------
    fan_out
        How many children a group has.
    splitting
        A partition is split further if its noisy count reaches so many deviations of the noise, times the height of
        its highest group (the article's C1).
    publishing
        A basket is published if its noisy count reaches so many deviations (the article's C2).
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
        if not 2 <= self.fan_out <= _WIDEST:
            raise MisuseError(f"fan_out lies between 2 and {_WIDEST}; {self.fan_out} was given.")
        for name in ("splitting", "publishing"):
            value = exact(getattr(self, name), name)
            if value < 0:
                raise MisuseError(f"{name} is 0 or more; {getattr(self, name)} was given.")
            object.__setattr__(self, name, value)
        # Of the children nobody is in, fewer than two may pass on average, or they multiply beyond all bounds.
        if (2**self.fan_out - 1) * exp(-float(_ROOT * self.splitting)) >= 4:
            least = log((2**self.fan_out - 1) / 4) / float(_ROOT)
            raise MisuseError(
                f"With fan_out = {self.fan_out} noise alone would go on splitting: set splitting over {least:.2f};"
                f" {self.splitting} was given."
            )

    def find(self, baskets: Baskets, wanted: ComparatorTask, source: Source) -> ComparatorResult:
        """Publish baskets, and mine them."""
        if wanted.epsilon is None or wanted.epsilon < Fraction(1, 1000):
            raise MisuseError("diffpart needs an epsilon of 0.001 or more.")
        published = self.publish(baskets, wanted.epsilon, source)
        people = sum(published.times)
        facts = {"published": float(people), "splits": float(published.splits)}
        if people < wanted.count:
            return ComparatorResult(counts={}, facts=facts)
        sizes = [len(basket) for basket in published.baskets]
        rows = np.repeat(np.arange(len(sizes)), published.times)
        offsets = starts(sizes)
        codes = np.array([code for basket in published.baskets for code in basket], np.int32)
        lengths = np.array(sizes, np.int64)[rows]
        ends = starts(lengths)
        places = np.arange(ends[-1]) - np.repeat(ends[:-1] - offsets[rows], lengths)
        copies = Baskets(ends, codes[places], baskets.vocabulary)
        mined = mine(copies, min_count=wanted.count, lengths=(wanted.least, wanted.longest))
        return ComparatorResult(counts=dict(mined.to_dict()), facts=facts)

    def publish(self, baskets: Baskets, epsilon: Fraction, source: Source) -> Published:
        """Split everyone's baskets along the taxonomy, and return what is published of them."""
        taxonomy = Taxonomy(items=baskets.items, fan_out=self.fan_out)
        half = epsilon / 2
        found: list[tuple[tuple[int, ...], int]] = []
        everyone = np.flatnonzero(baskets.sizes)
        waiting = [ItemPartition(everyone, (taxonomy.root,), (), half)] if baskets.items else []
        splits = 0
        while waiting:
            one = waiting.pop()
            splits += 1
            for part, noisy, enough in self._split(one, baskets, taxonomy, half, source):
                if noisy < enough:
                    continue
                if part.groups:
                    waiting.append(part)
                    continue
                rest = half + part.left
                # The children of the last group of all were counted with everything that was left; others are here.
                times = noisy
                if sum(map(taxonomy.internal, one.groups)) > 1:
                    times = len(part.people) + int(discrete_laplace(source, 1 / rest, 1)[0])
                if times >= max(1, ceil(_ROOT * self.publishing / rest)):
                    found.append((tuple(sorted(part.held)), times))
        found.sort()
        return Published(tuple(held for held, _ in found), tuple(times for _, times in found), splits)

    def _split(
        self, one: ItemPartition, baskets: Baskets, taxonomy: Taxonomy, half: Fraction, source: Source
    ) -> list[tuple[ItemPartition, int, int]]:
        """Return the children of a partition that have people or a noisy count that passes: child, count, threshold."""
        height = max(group[0] for group in one.groups)
        highest = [group for group in one.groups if group[0] == height]
        group = highest[source.below(len(highest))]
        groups = sum(map(taxonomy.internal, one.groups))
        last = groups == 1
        charge = half + one.left if last else Fraction(int(one.left / (groups - 1) * _GRID), _GRID)
        factor = self.publishing if last else self.splitting * height
        enough = max(1, ceil(_ROOT * factor / charge))
        children = taxonomy.children(group)
        kinds = _kinds(baskets, one.people, children, taxonomy.fan_out ** (height - 1))
        counts = np.bincount(kinds, minlength=1 << len(children))[1:]
        noisy = counts + discrete_laplace(source, 1 / charge, len(counts))
        rest = tuple(other for other in one.groups if other != group)
        order = np.argsort(kinds, kind="stable")
        bounds = np.searchsorted(kinds[order], np.arange((1 << len(children)) + 1))
        parts = []
        for kind in (np.flatnonzero(noisy >= enough) + 1).tolist():
            chosen = [child for place, child in enumerate(children) if kind >> place & 1]
            part = ItemPartition(
                one.people[order[bounds[kind] : bounds[kind + 1]]],
                rest if height == 1 else (*rest, *((height - 1, child) for child in chosen)),
                (*one.held, *chosen) if height == 1 else one.held,
                one.left if last else one.left - charge,
            )
            parts.append((part, int(noisy[kind - 1]), enough))
        return parts


def _kinds(baskets: Baskets, people: I64, children: range, wide: int) -> I64:
    """Return for everyone which of the children they have items of, as the bits of a number."""
    sizes = baskets.sizes[people]
    ends = starts(sizes)
    places = np.arange(ends[-1]) - np.repeat(ends[:-1] - baskets.offsets[people], sizes)
    child = baskets.codes[places].astype(np.int64) // wide - children.start
    within = (child >= 0) & (child < len(children))
    who = np.repeat(np.arange(len(people)), sizes)[within]
    has = np.zeros((len(children), len(people)), np.bool_)
    has[child[within], who] = True
    return np.asarray((has.T @ (1 << np.arange(len(children)))) if len(people) else np.zeros(0), np.int64)
