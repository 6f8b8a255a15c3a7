"""The reading of a table of published seeds and buckets: frequencies by least squares.

Devices that draw one of S published seeds make reports that fall into a table. With few seeds, some values share
buckets more often than average for all devices, so that a frequent value leaks into them. But the seeds are known: the
expected reports of frequent values in each cell are computed and subtracted, and the remainder is read again. `olh.md`
has the law of the estimates (section *Published seeds*), and `collisions` the number of seeds that it needs. Where a
device answers for a set, two of its values may share a bucket, which then is not twice as likely: `wheel.md` says how
that is corrected.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil, floor, log2, sqrt
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...kernels import TABLE_TILE, in_threads, leftover, meet, published_seeds, share_cells, sum_cells, threads
from ._adding import AggregateReading, Counts, SharedReports
from ._collisions import FAR, PAIRED, PARTNERS, WELL, Overlaps, takes_pairs
from .on_card import on_card

Values: TypeAlias = NDArray[np.float64]
# Symbols and their weights; the positions of both members of each pair, and the extra frequency of the pair.
Explained: TypeAlias = tuple[NDArray[np.uint32], Values, NDArray[np.int32], NDArray[np.int32], Values]

# Passes over all symbols. Each pass finds the symbols that the leak of earlier symbols hid. The loop ends earlier if no
# new symbol leaks (`_TOLERABLE_LEAK`): the number only bounds the time.
_MAX_PASSES = 5
_TOLERABLE_LEAK = 0.01  # of the variance: frequencies that leak less are not subtracted
_MAX_STEPS = 12  # of conjugate gradients, which gain a digit or more with each
_ROWS = 1 << 12  # of a table, that a thread reads at a time
_BLOCK_ROWS = 1 << 15  # of a table, with their remaining cells in memory at a time
# The largest effect of rounding the cells on the sum of a symbol over a table, in deviations of its noise. Any number
# far below 1 would do; 1/64 is below the resolution of tests of thousands of rounds.
_ROUNDING = 1 / 64
_MAX_SUM = 1 << 30  # of cells, so that a sum fits into 32 bits with a sign


def published_pairs(numbers: NDArray[np.uint32]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return the seed of each number: `local.device.draws.derive_seed`."""
    multipliers, increments = np.empty(len(numbers), np.uint32), np.empty(len(numbers), np.uint32)
    published_seeds(numbers, multipliers, increments)
    return multipliers, increments


@dataclass(frozen=True, kw_only=True, eq=False)
class SharedBuckets:
    """Pairs of symbols, and the extra frequency of their shared buckets beyond the frequency of both symbols alone."""

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    extra: Values


_NO_PAIRS = SharedBuckets(rows=np.zeros(0, np.int64), columns=np.zeros(0, np.int64), extra=np.zeros(0))


def _limit_partners(rows: NDArray[np.int64], columns: NDArray[np.int64], max_partners: int) -> NDArray[np.bool_]:
    """Return whether each pair is among the first `max_partners` kept pairs of both of its symbols."""
    partner_counts = np.zeros(max(rows.max(initial=0), columns.max(initial=0)) + 1, np.int64)
    is_kept = np.empty(len(rows), bool)
    for position, (row, column) in enumerate(zip(rows.tolist(), columns.tolist(), strict=True)):
        is_kept[position] = partner_counts[row] < max_partners and partner_counts[column] < max_partners
        partner_counts[[row, column]] += is_kept[position]
    return is_kept


@dataclass(frozen=True, kw_only=True, eq=False)
class SeedTable:
    """A table of reports, and the parameters of its oracle.

    Parameters
    ----------
    table
        The number of reports with each seed (row) and bucket (column).
    symbols
        The number of symbols, with the dummies.
    own_chance
        The probability of the bucket of the device's own symbol.
    held
        The largest number of symbols that a device answers for.
    """

    table: Counts
    symbols: int
    own_chance: float
    held: int = 1

    @cached_property
    def reports(self) -> Counts:
        """The number of reports with each seed."""
        sums: Counts = self.table.sum(1)
        return sums

    @cached_property
    def people(self) -> int:
        """The number of reports."""
        return int(self.reports.sum())

    @cached_property
    def cells(self) -> float:
        """The number of independent cells: (buckets - 1) / (1/S + 1/n) on average, for n reports and S seeds."""
        squares = float((self.reports.astype(np.float64) ** 2).sum())
        return self.people**2 / squares * (self._buckets - 1)

    @cached_property
    def _max_reports(self) -> int:
        """The number of reports with the most frequent seed."""
        return max(1, int(self.reports.max(initial=0)))

    @cached_property
    def _scale(self) -> float:
        """The fraction 1 / scale of a report that remaining cells are rounded to; a power of two.

        A remaining cell is a whole number less the expected reports. Where seeds have few reports, expected reports are
        alike in many cells, and so is the rounding. All S cells of a symbol together move its sum by at most
        S / (2 scale) reports, and the sum has the noise sqrt(n q (1 - q)). In the cells that two symbols share, the
        rounding is smaller still relative to the noise.
        """
        noise = sqrt(max(1, self.people) * (self._buckets - 1)) / self._buckets
        min_scale = len(self.table) / (2 * _ROUNDING * noise)
        # Rounded up for precision, and down for the sums of 32 bits, which is the stricter bound.
        return 2.0 ** min(max(0, ceil(log2(min_scale))), floor(log2(_MAX_SUM / self._max_reports)))

    @property
    def _buckets(self) -> int:
        return int(self.table.shape[1])

    @property
    def _slope(self) -> float:
        """The excess of the probability of the own bucket over any other bucket's."""
        return (self.own_chance * self._buckets - 1) / (self._buckets - 1)

    def supports(self) -> Counts:
        """Return the mean supports under fresh seeds for the estimated frequencies, rounded."""
        uniform = 1 / self._buckets
        return np.rint(self.people * (uniform + (self.own_chance - uniform) * self.frequencies())).astype(np.int64)

    def frequencies(self) -> Values:
        """Return the fraction of the reports that each symbol was sampled for, by least squares over frequent symbols.

        1. Frequent symbols are solved for together, which subtracts their leaks.
        2. All further symbols are read from the remainder.

        Solving never makes the remainder larger, for any table. The number of symbols that are solved for is bounded by
        the number of seeds, so that the iteration converges.
        """
        return self._solution[0]

    @cached_property
    def _solution(self) -> tuple[Values, NDArray[np.int64], SharedBuckets]:
        """The frequencies, and the symbols and pairs that were solved for."""
        if not self.people:
            return np.zeros(self.symbols), np.zeros(0, np.int64), _NO_PAIRS
        estimates, solved, frequent = self._first_estimates, np.zeros(0), np.zeros(0, np.int64)
        noise = (self._buckets - 1) / self._buckets**2 / ((self.own_chance - 1 / self._buckets) ** 2 * self.people)
        for _ in range(_MAX_PASSES - 1):
            new_symbols = self._find_frequent(estimates, frequent, noise, int(self.cells / WELL))
            if (estimates[new_symbols] ** 2).sum() <= _TOLERABLE_LEAK * noise * self.cells:
                break
            frequent, start = np.concatenate((frequent, new_symbols)), np.concatenate((solved, estimates[new_symbols]))
            solved = self._solve(frequent, self._first_estimates[frequent], start)
            estimates = self._read(frequent, solved)
            # Each symbol that is solved for takes a part 1 / cells of any further symbol with it.
            estimates /= 1 - len(frequent) / self.cells
            estimates[frequent] = solved
        pairs = self._find_pairs(frequent, solved, noise)
        if len(pairs.extra):
            estimates = self._read(frequent, solved, pairs)
            # Pairs are orthogonal to single symbols on average over seeds, but not for the seeds of this table.
            solved = solved + self._solve(frequent, estimates[frequent], np.zeros(len(frequent)))
            estimates /= 1 - (len(frequent) + len(pairs.extra)) / self.cells
            estimates[frequent] = solved
        return estimates, frequent, pairs

    @cached_property
    def _first_estimates(self) -> Values:
        """The frequencies before any symbol is subtracted."""
        return self._read(np.zeros(0, np.int64), np.zeros(0))

    def estimate_pair_excess(self, values: NDArray[np.int64]) -> tuple[Values, Values]:
        """Return the excess of shared reports of each pair of values over their frequencies, and its variance.

        The values are solved for too, which subtracts their own frequencies. Where the table has no room to solve for
        all values, the frequent symbols and the most frequent values are solved for; the excess of the rarest is 0.
        """
        excess, variance = np.zeros((2, len(values), len(values)))
        estimates, frequent, pairs = self._solution
        room = int(self.cells / WELL) - len(frequent) - len(pairs.extra) if self.people else 0
        unsolved = np.flatnonzero(~np.isin(values, frequent))
        rarest = unsolved[np.argsort(-estimates[values[unsolved]], kind="stable")][max(0, room) :]
        positions = np.setdiff1d(np.arange(len(values)), rarest)
        if room < 0 or not len(positions):
            return excess, variance
        symbols = np.union1d(frequent, values[positions])
        solved = self._solve(symbols, self._first_estimates[symbols], estimates[symbols])
        remainder, noise, reports = self._share(values[positions], symbols, solved, pairs)
        noise += self._company_variance(solved[np.searchsorted(symbols, values[positions])], reports)
        excess[np.ix_(positions, positions)] = remainder + remainder.T
        variance[np.ix_(positions, positions)] = noise + noise.T
        return excess, variance

    def _company_variance(self, frequencies: Values, reports: Counts) -> Values:
        """Return the variance in the shared cells of each pair of values from further values of their holders.

        It is the variance of the probability of the own bucket over all hash functions
        (`Collisions.leaked_by_company`), times the squared reports of the rows that put the two values together.
        """
        overlaps = Overlaps.of(self.held, self._buckets, self.own_chance)
        pairs_are_taken = takes_pairs(self.held, len(self.table), self._buckets)
        company = overlaps.crowded_company if pairs_are_taken else overlaps.company
        reports_per_row = float((self.reports.astype(np.float64) ** 2).sum()) / self.people
        squares = np.clip(frequencies, 0.0, 1.0) ** 2
        chance = (self._slope * (1 - 1 / self._buckets)) ** 2 * company
        variance: Values = chance * reports_per_row * reports * (squares[:, None] + squares)
        return variance

    def _share(
        self, values: NDArray[np.int64], items: NDArray[np.int64], solved: Values, pairs: SharedBuckets
    ) -> tuple[Values, Values, Counts]:
        """Return the remainder in the shared cells of each pair of values, its variance, and the reports there."""
        size, watched = len(values), values.astype(np.uint32)
        explained, scale = self._explain(items, solved, pairs), self._scale
        rows = max(_ROWS, -(-len(self.table) // 16))
        card_cells: Any = None
        # The kernel of the card takes no pairs.
        if not len(pairs.extra):
            codes, weights = explained[:2]
            work = len(self.table) * len(codes)
            card_cells = on_card(work, lambda card: card.leftover(self.table, codes, weights, self._slope, scale))

        def share_part(start: int) -> tuple[Counts, Values, Counts]:
            table = self.table[start : start + rows]
            spread = np.zeros((size, size))
            sums, people = np.zeros((size, size), np.int64), np.zeros((size, size), np.int64)
            if card_cells is not None:
                cells = card_cells[start : start + rows]
            else:
                cells = np.empty(table.shape, np.int32)
                leftover(start, table, *explained, self._slope, scale, cells)
            share_cells(start, cells, table, scale, watched, sums, spread, people)
            return sums, spread, people

        remainder, noise, people = share_part(0)
        for sums, spread, part_people in in_threads(share_part, range(rows, len(self.table), rows)):
            remainder += sums
            noise += spread
            people += part_people
        return remainder / scale, noise, people

    def _find_pairs(self, items: NDArray[np.int64], solved: Values, noise: float) -> SharedBuckets:
        """Return the pairs that visibly many people hold together, the strongest first.

        Where a device holds two values of one bucket, the bucket is no likelier than for one value: the remainder is
        negative. A positive remainder was not made by honest devices; it stays in the table for screening.
        """
        seeds = len(self.table)
        if not takes_pairs(self.held, seeds, self._buckets):
            return _NO_PAIRS
        order = np.argsort(-solved, kind="stable")[: PAIRED * self.held]
        values = items[order[solved[order] > FAR * sqrt(noise * self._buckets)]]
        remainder, spread, people = self._share(values, items, solved, _NO_PAIRS)
        rows, columns = np.nonzero(remainder < -FAR * np.sqrt(spread))
        reports_per_pair = self._slope * (1 - 1 / self._buckets) * (1 - 2 / self._buckets)
        extra = remainder[rows, columns] / (reports_per_pair * people[rows, columns])
        strongest = np.argsort(extra, kind="stable")
        strongest = strongest[_limit_partners(rows[strongest], columns[strongest], seeds // PARTNERS)][
            : max(0, int(self.cells / WELL) - len(items))
        ]
        if float((extra[strongest] ** 2).sum()) <= _TOLERABLE_LEAK * noise * self.cells * self._buckets:
            return _NO_PAIRS
        return SharedBuckets(rows=values[rows[strongest]], columns=values[columns[strongest]], extra=extra[strongest])

    def _explain(self, items: NDArray[np.int64], solved: Values, pairs: SharedBuckets) -> Explained:
        """Return the symbols and pairs to subtract from the table, with their weights.

        A pair is subtracted as the product of both members, each less its mean: it then has no effect on either alone.
        """
        order = np.argsort(items, kind="stable")
        rows, columns = (order[np.searchsorted(items[order], members)] for members in (pairs.rows, pairs.columns))
        weights = solved.copy()
        for members in (rows, columns):
            np.subtract.at(weights, members, pairs.extra / self._buckets)
        return items.astype(np.uint32), weights, rows.astype(np.int32), columns.astype(np.int32), pairs.extra

    def _find_frequent(
        self, estimates: Values, solved_symbols: NDArray[np.int64], noise: float, max_symbols: int
    ) -> NDArray[np.int64]:
        """Return the frequent symbols that are not solved for yet, the most frequent first.

        The leaks into a symbol are part of its noise; the sum of all squares tells their variance.
        """
        unsolved = estimates.copy()
        unsolved[solved_symbols] = 0.0
        unsolved_count = self.symbols - len(solved_symbols)
        # The sum of squares has the noise and the leak of each symbol in it, both of which are subtracted.
        squares = (float((unsolved**2).sum()) - unsolved_count * noise) / (1 + unsolved_count / self.cells)
        min_frequency = FAR * sqrt(noise + max(squares, 0.0) / self.cells)
        frequent = np.flatnonzero(unsolved > min_frequency)
        return frequent[np.argsort(-unsolved[frequent], kind="stable")][: max_symbols - len(solved_symbols)]

    def _solve(self, items: NDArray[np.int64], target: Values, start: Values) -> Values:
        """Return the frequencies of symbols that explain `target`: conjugate gradients (Hestenes, Stiefel 1952)."""
        solution, residual = start.copy(), target - self._meet(items, start)
        step, square = residual.copy(), float(residual @ residual)
        tolerance = 1e-10 * float(target @ target)
        for _ in range(_MAX_STEPS):
            if square <= tolerance:
                break
            image = self._meet(items, step)
            length = square / float(step @ image)
            solution += length * step
            residual -= length * image
            previous_square, square = square, float(residual @ residual)
            step = residual + (square / previous_square) * step
        return solution

    def _meet(self, items: NDArray[np.int64], weights: Values) -> Values:
        """Return the sum at each symbol that symbols of the given frequencies cause together."""
        codes, buckets = items.astype(np.uint32), self._buckets

        def meet_part(start: int) -> Values:
            sums = np.zeros(len(items))
            meet(start, self.reports[start : start + _ROWS], buckets, codes, weights, sums)
            return sums

        # Blocks do not depend on the number of threads, and so neither does the rounding of their sum.
        work = 2 * len(self.table) * len(items)
        parts: Any = on_card(work, lambda card: card.meet(self.reports, buckets, codes, weights, _ROWS))
        if parts is None:
            parts = in_threads(meet_part, range(0, len(self.table), _ROWS))
        total: Values = np.sum(parts, axis=0)
        total /= self.people * (1 - 1 / buckets)
        return total

    def _read(self, items: NDArray[np.int64], solved: Values, pairs: SharedBuckets = _NO_PAIRS) -> Values:
        """Return the frequency of each symbol in the remainder after symbols and pairs were subtracted."""
        buckets, explained = self._buckets, self._explain(items, solved, pairs)
        edges = np.array([-(-(place << 32) // buckets) for place in range(buckets)], np.uint32)
        sums = np.zeros(self.symbols, np.int64)
        # Each thread has its own symbols and counts in their place: no sums have to be merged.
        part_count = threads() * -(-self.symbols // (threads() * TABLE_TILE))
        symbol_parts = np.array_split(np.arange(self.symbols, dtype=np.uint32), part_count)
        sum_parts = np.array_split(sums, part_count)
        scale = self._scale
        rows = min(_ROWS, int(_MAX_SUM / (scale * self._max_reports)))  # rows with sums that fit into 32 bits

        def read_block(start: int) -> None:
            table = self.table[start : start + _BLOCK_ROWS]
            cells = np.empty(table.shape, np.int32)
            slices = [slice(first_row, first_row + rows) for first_row in range(0, len(table), rows)]

            def subtract(part: slice) -> None:
                leftover(start + part.start, table[part], *explained, self._slope, scale, cells[part])

            def count(position: int) -> None:
                for part in slices:
                    sum_cells(start + part.start, cells[part], edges, symbol_parts[position], sum_parts[position])

            in_threads(subtract, slices)
            in_threads(count, range(part_count))

        card_sums: Counts | None = None
        if not len(pairs.extra):
            codes, weights = explained[:2]
            work = len(self.table) * (self.symbols + len(items))
            card_sums = on_card(
                work, lambda card: card.table_sums(self.table, codes, weights, self._slope, scale, rows, self.symbols)
            )
        if card_sums is not None:
            sums = card_sums
        else:
            for start in range(0, len(self.table), _BLOCK_ROWS):
                read_block(start)
        frequencies: Values = sums / (scale * self.people * (self.own_chance - 1 / buckets))
        return frequencies


@dataclass(frozen=True, kw_only=True, eq=False)
class TableReading(AggregateReading):
    """A table that was read: its supports, and the reports that values share."""

    table: SeedTable

    def estimate_pair_excess(self, values: NDArray[np.int64]) -> SharedReports | None:
        """Return the excess of shared reports of each pair of values; None for two buckets, where it is not known."""
        buckets = self.table.table.shape[1]
        # 1 - 2 / buckets is 0: a report that names both values then adds nothing to their excess.
        if buckets < 3:
            return None
        excess, variance = self.table.estimate_pair_excess(values)
        return SharedReports(excess=excess, variance=variance, worth=1 - 2 / buckets)
