"""Reading a table of published seeds and buckets: frequencies by least squares.

Devices that draw one of S published seeds make reports that fall into a table. With few seeds, values that share
buckets more often than others do so for everybody, so that a frequent value leaks into them. But the seeds are known:
what the frequent values put into each cell is worked out, taken off, and what is left is read again. `olh.md` has the
law of the estimates (section *Published seeds*), and `collisions` how many seeds that needs. Where a device answers for
a set, two of its values may share a bucket, which then is not twice as likely: `wheel.md` has what is done about that.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...kernels.jit import in_threads, threads
from ...kernels.tables import TILE, leftover, meet, published_seeds, share_cells, sum_cells
from .adding import AggregateReading, Counts, SharedReports
from .collisions import FAR, PAIRED, PARTNERS, WELL, takes_pairs
from .on_card import on_card

Values: TypeAlias = NDArray[np.float64]
# Symbols and their weights; pairs of them by their places, and what these have beyond that.
Explained: TypeAlias = tuple[NDArray[np.uint32], Values, NDArray[np.int32], NDArray[np.int32], Values]

_PASSES = 5  # over all symbols, at most
_ENOUGH = 0.01  # of the variance: what leaks less is left where it is
_STEPS = 12  # of conjugate gradients, which gain a digit or more with each
_ROWS = 1 << 12  # of a table, that a thread reads at a time
_BLOCK = 1 << 15  # rows whose cells are worked out at a time
_FINE = 16.0  # parts of a report that a leftover is rounded to


def published_pairs(numbers: NDArray[np.uint32]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return the seeds of these numbers: `local.device.draws.published`."""
    firsts, seconds = np.empty(len(numbers), np.uint32), np.empty(len(numbers), np.uint32)
    published_seeds(numbers, firsts, seconds)
    return firsts, seconds


@dataclass(frozen=True, kw_only=True, eq=False)
class SharedBuckets:
    """Pairs of symbols, and by how much the buckets that they share are likelier than both by themselves explain."""

    ones: NDArray[np.int64]
    others: NDArray[np.int64]
    extra: Values


_NO_PAIRS = SharedBuckets(ones=np.zeros(0, np.int64), others=np.zeros(0, np.int64), extra=np.zeros(0))


def _few_each(ones: NDArray[np.int64], others: NDArray[np.int64], most: int) -> NDArray[np.bool_]:
    """Return which of some pairs are among the first so many of both of their symbols."""
    met = np.zeros(max(ones.max(initial=0), others.max(initial=0)) + 1, np.int64)
    few = np.empty(len(ones), bool)
    for at, (one, other) in enumerate(zip(ones.tolist(), others.tolist(), strict=True)):
        few[at] = met[one] < most and met[other] < most
        met[[one, other]] += few[at]
    return few


@dataclass(frozen=True, kw_only=True, eq=False)
class SeedTable:
    """A table of reports, and what its numbers mean.

    Parameters
    ----------
    table
        How many reports name each seed and bucket.
    symbols
        How many symbols there are, dummies among them.
    own
        The probability of the own bucket.
    held
        How many symbols a device answers for at most.
    """

    table: Counts
    symbols: int
    own: float
    held: int = 1

    @cached_property
    def reports(self) -> Counts:
        """How many reports name each seed."""
        sums: Counts = self.table.sum(1)
        return sums

    @cached_property
    def people(self) -> int:
        """How many reports there are."""
        return int(self.reports.sum())

    @cached_property
    def cells(self) -> float:
        """The cells that can be told apart, of seeds as they were drawn: of S seeds and n reports, 1/S + 1/n of one."""
        squares = float((self.reports.astype(np.float64) ** 2).sum())
        return self.people**2 / squares * (self._buckets - 1)

    @property
    def _buckets(self) -> int:
        return int(self.table.shape[1])

    @property
    def _slope(self) -> float:
        """How much likelier the own bucket is than another."""
        return (self.own * self._buckets - 1) / (self._buckets - 1)

    def supports(self) -> Counts:
        """Return the supports of symbols that fresh seeds have on average for these frequencies, rounded."""
        other = 1 / self._buckets
        return np.rint(self.people * (other + (self.own - other) * self.frequencies())).astype(np.int64)

    def frequencies(self) -> Values:
        """Return which fraction of the reports each symbol was sampled for, by least squares over what is frequent.

        Symbols that stand out are solved for together, which takes all off that they put into others. Others are read
        from what is left. Whatever the table is, solving never makes what is left larger; how many symbols are solved
        for is bounded by the seeds there are, so that it converges.
        """
        return self._found[0]

    @cached_property
    def _found(self) -> tuple[Values, NDArray[np.int64], SharedBuckets]:
        """The frequencies, and the symbols and pairs of them that were solved for."""
        if not self.people:
            return np.zeros(self.symbols), np.zeros(0, np.int64), _NO_PAIRS
        found, solved, frequent = self._first, np.zeros(0), np.zeros(0, np.int64)
        noise = (self._buckets - 1) / self._buckets**2 / ((self.own - 1 / self._buckets) ** 2 * self.people)
        for _ in range(_PASSES - 1):
            new = self._frequent(found, frequent, noise, int(self.cells / WELL))
            if (found[new] ** 2).sum() <= _ENOUGH * noise * self.cells:
                break
            frequent, begin = np.concatenate((frequent, new)), np.concatenate((solved, found[new]))
            solved = self._solved(frequent, self._first[frequent], begin)
            found = self._read(frequent, solved)
            found /= 1 - len(frequent) / self.cells  # what solving for the others takes off a symbol itself
            found[frequent] = solved
        pairs = self._pairs(frequent, solved, noise)
        if len(pairs.extra):
            found = self._read(frequent, solved, pairs)
            # Pairs are apart from single symbols on average, and not over these very seeds.
            solved = solved + self._solved(frequent, found[frequent], np.zeros(len(frequent)))
            found /= 1 - (len(frequent) + len(pairs.extra)) / self.cells
            found[frequent] = solved
        return found, frequent, pairs

    @cached_property
    def _first(self) -> Values:
        """The frequencies as they are read plainly."""
        return self._read(np.zeros(0, np.int64), np.zeros(0))

    def shared(self, values: NDArray[np.int64]) -> tuple[Values, Values]:
        """Return by how much every two values share more reports than their frequencies explain, and its variance.

        These values are solved for too, so that what each has by itself is taken off.
        """
        size = len(values)
        found, frequent, pairs = self._found
        solving = np.union1d(frequent, values)
        if not self.people or len(solving) + len(pairs.extra) > self.cells / WELL:
            return np.zeros((size, size)), np.zeros((size, size))
        solved = self._solved(solving, self._first[solving], found[solving])
        left, noise, _ = self._sharing(values, solving, solved, pairs)
        return (left + left.T).astype(np.float64), noise + noise.T

    def _sharing(
        self, values: NDArray[np.int64], items: NDArray[np.int64], solved: Values, pairs: SharedBuckets
    ) -> tuple[Counts, Values, Counts]:
        """Return what is left in the cells that every two values share, its variance, and the reports of those rows."""
        size, watched = len(values), values.astype(np.uint32)
        explained = self._explained(items, solved, pairs)
        rows = max(_ROWS, -(-len(self.table) // 16))
        taken: Any = None
        if not len(pairs.extra):
            codes, weights = explained[:2]
            work = len(self.table) * len(codes)
            taken = on_card(work, lambda card: card.leftover(self.table, codes, weights, self._slope, 1.0))

        def part(start: int) -> tuple[Counts, Values, Counts]:
            table = self.table[start : start + rows]
            spread = np.zeros((size, size))
            sums, people = np.zeros((size, size), np.int64), np.zeros((size, size), np.int64)
            if taken is not None:
                cells = taken[start : start + rows]
            else:
                cells = np.empty(table.shape, np.int32)
                leftover(start, table, *explained, self._slope, 1.0, cells)
            share_cells(start, cells, table, watched, sums, spread, people)
            return sums, spread, people

        left, noise, people = part(0)
        for sums, spread, more in in_threads(part, range(rows, len(self.table), rows)):
            left += sums
            noise += spread
            people += more
        return left, noise, people

    def _pairs(self, items: NDArray[np.int64], solved: Values, noise: float) -> SharedBuckets:
        """Return the pairs that are held together by enough people to be seen, those that share the most first.

        Where a device holds two values of one bucket, that is no likelier than for one of them. So what is left there
        falls short; where it is in excess, no honest devices made it, and it is left for screening to see.
        """
        seeds = len(self.table)
        if not takes_pairs(self.held, seeds, self._buckets):
            return _NO_PAIRS
        order = np.argsort(-solved, kind="stable")[: PAIRED * self.held]
        values = items[order[solved[order] > FAR * sqrt(noise * self._buckets)]]
        left, spread, people = self._sharing(values, items, solved, _NO_PAIRS)
        ones, others = np.nonzero(left < -FAR * np.sqrt(spread))
        each = self._slope * (1 - 1 / self._buckets) * (1 - 2 / self._buckets)
        extra = left[ones, others] / (each * people[ones, others])
        kept = np.argsort(extra, kind="stable")
        kept = kept[_few_each(ones[kept], others[kept], seeds // PARTNERS)][
            : max(0, int(self.cells / WELL) - len(items))
        ]
        if float((extra[kept] ** 2).sum()) <= _ENOUGH * noise * self.cells * self._buckets:
            return _NO_PAIRS
        return SharedBuckets(ones=values[ones[kept]], others=values[others[kept]], extra=extra[kept])

    def _explained(self, items: NDArray[np.int64], solved: Values, pairs: SharedBuckets) -> Explained:
        """Return what a leftover is taken of: symbols, their weights, and pairs of them by their places.

        A pair is taken off as the product of both, each less its mean, so that it says nothing of either by itself.
        """
        order = np.argsort(items, kind="stable")
        ones, others = (order[np.searchsorted(items[order], one)] for one in (pairs.ones, pairs.others))
        weights = solved.copy()
        for members in (ones, others):
            np.subtract.at(weights, members, pairs.extra / self._buckets)
        return items.astype(np.uint32), weights, ones.astype(np.int32), others.astype(np.int32), pairs.extra

    def _frequent(self, found: Values, known: NDArray[np.int64], noise: float, most: int) -> NDArray[np.int64]:
        """Return the symbols that stand out and are not solved for yet, the most frequent first.

        What leaks into each is part of the noise, and known from the sum of all squares.
        """
        rest = found.copy()
        rest[known] = 0.0
        many = self.symbols - len(known)
        squares = (float((rest**2).sum()) - many * noise) / (1 + many / self.cells)
        far = FAR * sqrt(noise + max(squares, 0.0) / self.cells)
        new = np.flatnonzero(rest > far)
        return new[np.argsort(-rest[new], kind="stable")][: most - len(known)]

    def _solved(self, items: NDArray[np.int64], wanted: Values, begin: Values) -> Values:
        """Solve for the frequencies of these symbols by conjugate gradients (Hestenes, Stiefel 1952)."""
        solution, rest = begin.copy(), wanted - self._met(items, begin)
        step, square = rest.copy(), float(rest @ rest)
        enough = 1e-10 * float(wanted @ wanted)
        for _ in range(_STEPS):
            if square <= enough:
                break
            turned = self._met(items, step)
            length = square / float(step @ turned)
            solution += length * step
            rest -= length * turned
            before, square = square, float(rest @ rest)
            step = rest + (square / before) * step
        return solution

    def _met(self, items: NDArray[np.int64], weights: Values) -> Values:
        """Return what symbols of these frequencies put into each of them."""
        codes, buckets = items.astype(np.uint32), self._buckets

        def part(start: int) -> Values:
            out = np.zeros(len(items))
            meet(start, self.reports[start : start + _ROWS], buckets, codes, weights, out)
            return out

        # Blocks do not depend on how many threads there are, and so neither does their sum.
        work = 2 * len(self.table) * len(items)
        parts: Any = on_card(work, lambda card: card.met(self.reports, buckets, codes, weights, _ROWS))
        if parts is None:
            parts = in_threads(part, range(0, len(self.table), _ROWS))
        total: Values = np.sum(parts, axis=0)
        total /= self.people * (1 - 1 / buckets)
        return total

    def _read(self, items: NDArray[np.int64], solved: Values, pairs: SharedBuckets = _NO_PAIRS) -> Values:
        """Return the frequency of every symbol in what is left when some have been taken off, and pairs of them."""
        buckets, explained = self._buckets, self._explained(items, solved, pairs)
        edges = np.array([-(-(place << 32) // buckets) for place in range(buckets)], np.uint32)
        sums = np.zeros(self.symbols, np.int64)
        # Each thread has symbols of its own: it counts in their place, and no sums have to be put together.
        many = threads() * -(-self.symbols // (threads() * TILE))
        every, places = np.array_split(np.arange(self.symbols, dtype=np.uint32), many), np.array_split(sums, many)
        largest = max(1, int(self.reports.max()))
        fine = min(_FINE, (1 << 30) / largest)
        rows = min(_ROWS, int((1 << 30) / (fine * largest)))  # whose sums fit into 32 bits

        def block(start: int) -> None:
            table = self.table[start : start + _BLOCK]
            cells = np.empty(table.shape, np.int32)
            parts = [slice(at, at + rows) for at in range(0, len(table), rows)]

            def take(part: slice) -> None:
                leftover(start + part.start, table[part], *explained, self._slope, fine, cells[part])

            def count(at: int) -> None:
                for part in parts:
                    sum_cells(start + part.start, cells[part], edges, every[at], places[at])

            in_threads(take, parts)
            in_threads(count, range(many))

        taken: Counts | None = None
        if not len(pairs.extra):
            codes, weights = explained[:2]
            work = len(self.table) * (self.symbols + len(items))
            taken = on_card(
                work, lambda card: card.table_sums(self.table, codes, weights, self._slope, fine, rows, self.symbols)
            )
        if taken is not None:
            sums = taken
        else:
            for start in range(0, len(self.table), _BLOCK):
                block(start)
        found: Values = sums / (fine * self.people * (self.own - 1 / buckets))
        return found


@dataclass(frozen=True, kw_only=True, eq=False)
class TableReading(AggregateReading):
    """A table that was read, and what else it tells."""

    table: SeedTable

    def shared(self, values: NDArray[np.int64]) -> SharedReports | None:
        """Return how often values come together in a table; with two buckets it does not tell."""
        buckets = self.table.table.shape[1]
        if buckets < 3:
            return None
        more, variance = self.table.shared(values)
        return SharedReports(more=more, variance=variance, worth=1 - 2 / buckets)
