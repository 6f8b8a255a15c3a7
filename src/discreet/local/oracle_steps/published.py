"""Reading a table of published seeds and buckets: frequencies by least squares, and how many seeds that needs.

Devices that draw one of S published seeds make reports that fall into a table. With few seeds, values that share
buckets more often than others do so for everybody, so that a frequent value leaks into them. But the seeds are known:
what the frequent values put into each cell is worked out, taken off, and what is left is read again. `olh.md` has the
law of the estimates (section *Published seeds*), and where the numbers below come from.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernels.jit import in_threads, threads
from ...kernels.tables import TILE, leftover, meet, published_seeds, share_cells, sum_cells
from .adding import AggregateReading, Counts, SharedReports
from .on_card import on_card

Values = NDArray[np.float64]

LEAST_SEEDS = 1 << 10
MOST_CELLS = 1 << 25
"""Cells of a table that an oracle is chosen for: 256 MiB."""
LOSS = 0.05
"""By how much of its own the variance may grow for seeds that are published."""
WORTH = 16
"""Reports per seed from which on a table is worth having."""
_FAR = 3.0  # deviations from which on a value counts as frequent
_MISSED = 4.5  # what values below that leak at most: the largest k^2 P(N < 3 - k), in variances each
_FALSE = 1 / 700  # of all values, that noise alone makes frequent
_WELL = 64  # cells for each value that is solved for: the matrix is then within a quarter of the identity
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


@dataclass(frozen=True, kw_only=True)
class Collisions:
    """What collisions cost where devices draw from published seeds: parts of the variance of an estimate.

    Parameters
    ----------
    seeds, buckets
        How many there are.
    symbols
        How many there are, dummies among them.
    noise
        The variance of a symbol's frequency that the reports of all people make, for a rare one.
    """

    seeds: int
    buckets: int
    symbols: int
    noise: float

    @property
    def cells(self) -> float:
        """The cells that can be told apart: what collisions are divided by."""
        return float(self.seeds * (self.buckets - 1))

    @property
    def matter(self) -> float:
        """How many symbols can matter at most: those with a frequency of two deviations, as all add up to 1."""
        return min(float(self.symbols), 0.5 / sqrt(self.noise))

    @property
    def solved(self) -> float:
        """By which part the variance grows as frequent symbols are solved for."""
        return min(self.matter + self.symbols * _FALSE, self.cells / _WELL) / self.cells

    @property
    def leaked(self) -> float:
        """By which part of a rare symbol's variance that of all grows, for what is not taken off."""
        most = self.cells / _WELL
        beyond = 1 / (most * self.noise) if self.matter > most else 0.0
        return (_MISSED * self.matter + beyond) / self.cells

    @property
    def good(self) -> bool:
        """Whether there are seeds enough: the public condition."""
        return self.solved + self.leaked <= LOSS


def amplified(buckets: int) -> Fraction:
    """Return how much more one report can add to a value's estimate than with fresh seeds.

    Solving adds what the report says of all other values that are solved for, each with a small weight of either sign:
    a sum with a deviation of at most sqrt(1 / (64 (g - 1))) of its own. No cell of a table is six of them off. The
    matrix has its eigenvalues over (1 - 1/8)^2, so that no sum of estimates has over (8/7)^2 of its own variance.
    """
    return max(Fraction(8, 7), 1 + Fraction(6 / sqrt(_WELL * (buckets - 1))).limit_denominator(1000))


def seeds_for(people: int, buckets: int, symbols: int, noise: float) -> int | None:
    """Return how many seeds to publish for so many people, a power of two; None where fresh ones are better.

    Parameters
    ----------
    people, buckets, symbols
        How many there are, dummies among the symbols.
    noise
        The variance of a symbol's frequency that one report makes, for a rare one.
    """
    seeds = LEAST_SEEDS
    while seeds * WORTH <= people and seeds * buckets <= MOST_CELLS:
        if Collisions(seeds=seeds, buckets=buckets, symbols=symbols, noise=noise / people).good:
            return seeds
        seeds *= 2
    return None


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
    """

    table: Counts
    symbols: int
    own: float

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
    def _found(self) -> tuple[Values, NDArray[np.int64]]:
        """The frequencies, and the symbols that were solved for."""
        if not self.people:
            return np.zeros(self.symbols), np.zeros(0, np.int64)
        found, solved, frequent = self._first, np.zeros(0), np.zeros(0, np.int64)
        noise = (self._buckets - 1) / self._buckets**2 / ((self.own - 1 / self._buckets) ** 2 * self.people)
        for _ in range(_PASSES - 1):
            new = self._frequent(found, frequent, noise, int(self.cells / _WELL))
            if (found[new] ** 2).sum() <= _ENOUGH * noise * self.cells:
                break
            frequent, begin = np.concatenate((frequent, new)), np.concatenate((solved, found[new]))
            solved = self._solved(frequent, self._first[frequent], begin)
            found = self._read(frequent, solved)
            found /= 1 - len(frequent) / self.cells  # what solving for the others takes off a symbol itself
            found[frequent] = solved
        return found, frequent

    @cached_property
    def _first(self) -> Values:
        """The frequencies as they are read plainly."""
        return self._read(np.zeros(0, np.int64), np.zeros(0))

    def shared(self, values: NDArray[np.int64]) -> tuple[Values, Values]:
        """Return by how much every two values share more reports than their frequencies explain, and its variance.

        These values are solved for too, so that what each has by itself is taken off.
        """
        size = len(values)
        left, noise = np.zeros((size, size), np.int64), np.zeros((size, size))
        solving = np.union1d(self._found[1], values)
        if self.people and len(solving) <= self.cells / _WELL:
            solved = self._solved(solving, self._first[solving], self._found[0][solving])
            codes, watched = solving.astype(np.uint32), values.astype(np.uint32)

            rows = max(_ROWS, -(-len(self.table) // 16))
            work = len(self.table) * len(codes)
            taken = on_card(work, lambda card: card.leftover(self.table, codes, solved, self._slope, 1.0))

            def part(start: int) -> tuple[Counts, Values]:
                table = self.table[start : start + rows]
                sums, spread = np.zeros_like(left), np.zeros_like(noise)
                if taken is not None:
                    cells = taken[start : start + rows]
                else:
                    cells = np.empty(table.shape, np.int32)
                    leftover(start, table, codes, solved, self._slope, 1.0, cells)
                share_cells(start, cells, table, watched, sums, spread)
                return sums, spread

            for sums, spread in in_threads(part, range(0, len(self.table), rows)):
                left += sums
                noise += spread
        return (left + left.T).astype(np.float64), noise + noise.T

    def _frequent(self, found: Values, known: NDArray[np.int64], noise: float, most: int) -> NDArray[np.int64]:
        """Return the symbols that stand out and are not solved for yet, the most frequent first.

        What leaks into each is part of the noise, and known from the sum of all squares.
        """
        rest = found.copy()
        rest[known] = 0.0
        many = self.symbols - len(known)
        squares = (float((rest**2).sum()) - many * noise) / (1 + many / self.cells)
        far = _FAR * sqrt(noise + max(squares, 0.0) / self.cells)
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

    def _read(self, items: NDArray[np.int64], solved: Values) -> Values:
        """Return the frequency of every symbol in what is left when some have been taken off."""
        buckets = self._buckets
        edges = np.array([-(-(place << 32) // buckets) for place in range(buckets)], np.uint32)
        codes, sums = items.astype(np.uint32), np.zeros(self.symbols, np.int64)
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
                leftover(start + part.start, table[part], codes, solved, self._slope, fine, cells[part])

            def count(at: int) -> None:
                for part in parts:
                    sum_cells(start + part.start, cells[part], edges, every[at], places[at])

            in_threads(take, parts)
            in_threads(count, range(many))

        work = len(self.table) * (self.symbols + len(items))
        taken: Counts | None = on_card(
            work, lambda card: card.table_sums(self.table, codes, solved, self._slope, fine, rows, self.symbols)
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
