"""Screening: a collector's detection of reports that no honest device sends, without knowing the honest devices.

Some laws hold for honest reports of any baskets (`HonestLaw`). A round that breaks a law has reports by
liars, and an alarm says so. Reports that honest devices hardly ever send are left out. Screening is computed from
reports that the collector has: no person is asked anything, and privacy is unchanged. It stops crafted reports; it
cannot detect a false basket that is reported by the rules.

Screening reads a round up to three times, in blocks:

1. add up the reports;
2. count the pairs of values that reports name together;
3. add up the reports to leave out.

Each pass sums whole numbers over the blocks, in any order and on any machine. Memory grows with the number of watched
values and not with the number of reports. If no single report differs from honest ones, values that are named together
too often are lowered by the excess.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, partial
from math import comb, log
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from ...kernels import count_together, in_threads, threads
from .. import Counts, Oracle, ReportColumns
from ..oracle_steps import AggregateReading

# The kinds of alarms: two values named together too often, values with more holders than people or less than none,
# cells of a report of unequal probability, reports that name too many or too few values, lots that too many drew.
Sign: TypeAlias = Literal["together", "supports", "cells", "ones", "lots"]
# The sums of some blocks: arrays of whole numbers. The blocks add up to a round, number by number.
Sums: TypeAlias = tuple[Counts, ...]
# Reads a round once: passes its blocks to a function, in one part or several, and returns the sums of all parts.
RoundReader: TypeAlias = Callable[[Callable[[Iterable[ReportColumns]], Sums]], Sums]

# The number of values with counted pairs, by the largest supports: liars gain nothing by raising a value that stays
# rare. Memory and time grow with its square.
WATCHED = 256
# The largest probability that a round of honest reports raises an alarm, shared evenly among the signs.
FALSE_ALARM = 1 / 2000
_SIGN_ALARM = FALSE_ALARM / len(get_args(Sign))
# The largest expected number of honest reports that are left out of a round for naming many flagged values. Larger:
# more reports of liars are left out; smaller: fewer honest ones.
_EXPECTED_LOSS = 0.1


@dataclass(frozen=True, kw_only=True)
class Alarm:
    """A property of a round that honest reports have with negligible probability.

    Parameters
    ----------
    sign
        The kind of the property.
    values
        The values with the property, ascending; numbers of cells or of lots for the signs of this name, empty for whole
        reports.
    reports
        The number of reports that are left out for it.
    lowered
        The largest number of reports that is taken off the support of one value; 0 for signs other than `together`.
    """

    sign: Sign
    values: tuple[int, ...]
    reports: int = 0
    lowered: int = 0

    def __str__(self) -> str:
        count = len(self.values)
        text = {
            "together": f"{count:,} values are named together more often than honest reports do, whatever is held",
            "supports": (
                f"{count:,} values are named more often than if everybody held them, or less than if nobody did"
            ),
            "cells": f"{count:,} of the places that a report can lie in are not as likely as the others",
            "lots": f"{count:,} published seeds are named more often than devices draw them",
            "ones": "some reports name more or fewer values than honest ones do",
        }[self.sign]
        actions = [f"{self.reports:,} reports are left out"] if self.reports else []
        actions += [f"what up to {self.lowered:,} reports added to each is taken off"] if self.lowered else []
        return f"{text}; {' and '.join(actions)}." if actions else f"{text}."


@dataclass(frozen=True, kw_only=True, eq=False)
class Screened:
    """A round after screening.

    Parameters
    ----------
    people, supports
        The number of reports that count, and their supports.
    left_out
        The number of reports that are left out.
    alarms
        The alarms of the round.
    sieve
        The rule that leaves reports out.
    """

    people: int
    supports: Counts
    left_out: int
    alarms: tuple[Alarm, ...]
    sieve: Sieve

    def places(self, blocks: Iterable[ReportColumns]) -> NDArray[np.int64]:
        """Return the positions of the reports that are left out among all reports of the round, ascending."""
        return np.flatnonzero(np.concatenate([np.zeros(0, bool), *map(self.sieve.find_left_out, blocks)]))


class Screen:
    """The screening of one round, from the sums of its reports.

    Parameters
    ----------
    oracle
        The oracle of the round.
    sums
        The result of `sum_reports` for all reports.
    """

    def __init__(self, oracle: Oracle, sums: Sums) -> None:
        self.oracle, self.law = oracle, oracle.honest
        self.people, self.aggregate = int(sums[0][0]), sums[1]
        self._cells = sums[2] if len(sums[2]) else None
        self._reading: AggregateReading | None = None  # of the present aggregate
        self._pair_counts = np.zeros((0, 0), np.int64)

    @property
    def supports(self) -> Counts:
        """The supports by the reports that count."""
        return self.reading.supports

    @property
    def reading(self) -> AggregateReading:
        """The present aggregate, decoded once."""
        if self._reading is None:
            self._reading = self.oracle.adder.read_aggregate(self.aggregate)
        return self._reading

    @cached_property
    def crowded_lots(self) -> NDArray[np.int64] | None:
        """The lots that too many reports drew, of all reports; None for an oracle without lots.

        A device draws its lot before it reads its basket, so leaving out a lot with all of its reports adds no bias.
        """
        lot_counts = self.oracle.adder.count_lots(self.aggregate)
        if lot_counts is None:
            return None
        mean = self.people / len(lot_counts)
        return np.flatnonzero(lot_counts > mean + tail_margin(mean, len(lot_counts)))

    @property
    def needs_pairs(self) -> bool:
        """Whether pairs of values are counted: the oracle has a law for them, and one report can name two values."""
        return self.law is not None and self.oracle.at_once > 1 and self.oracle.size > 1 and self.people > 0

    @cached_property
    def watched(self) -> NDArray[np.int64]:
        """The values with counted pairs, ascending: selected once, by the supports of all reports."""
        return np.sort(np.argsort(-self.supports, kind="stable")[:WATCHED]).astype(np.int64)

    def set_pair_counts(self, sums: Sums) -> None:
        """Take the result of `count_pairs` for all reports."""
        (self._pair_counts,) = sums

    def subtract(self, sums: Sums) -> None:
        """Subtract reports that were added up and paired: the result of `sum_left_out`."""
        self.people -= int(sums[0][:1].sum())
        self.aggregate -= sums[1]
        self._reading = None
        if len(self._pair_counts):
            self._pair_counts -= sums[2]

    def flag_values(self) -> NDArray[np.int64]:
        """Return the values that are named together with a further value too often for honest reports.

        The excess of a pair over two independent values has a mean of at most `excess` per report, and a mean square of
        at most `square`; `tail_margin` bounds it for all pairs of watched values together.
        """
        return self.watched[self._excesses() > 0] if self.people else np.zeros(0, np.int64)

    def _excesses(self) -> NDArray[np.float64]:
        """Return the largest excess of each watched value over all its pairs, in reports; 0 if none stands out."""
        watched_count = len(self.watched)
        comparisons = comb(watched_count, 2)
        if self.law is None:
            return self._table_excesses(comparisons)
        if not len(self._pair_counts):
            return np.zeros(watched_count)
        q, supports = float(self.law.p_other), self.supports[self.watched]
        pair_excess = self._pair_counts - q * (supports[:, None] + supports) + self.people * q * q
        mean = self.people * float(self.law.excess)
        stands_out = pair_excess > mean + tail_margin(self.people * float(self.law.square), comparisons)
        return _row_maxima(np.where(stands_out, pair_excess - mean, 0.0))

    def _table_excesses(self, comparisons: int) -> NDArray[np.float64]:
        """Return the excesses from an aggregate that counts pairs itself."""
        pair_excess = self.reading.estimate_pair_excess(self.watched)
        if pair_excess is None:
            return np.zeros(len(self.watched))
        stands_out = pair_excess.excess > tail_margin(pair_excess.variance, comparisons)
        return _row_maxima(np.where(stands_out, pair_excess.excess / pair_excess.worth, 0.0)) * (
            1 - float(self.oracle.p_other)
        )

    def lower_supports(self) -> int:
        """Subtract the excess of pairs from the supports of their values; return the largest number subtracted.

        A report of a liar that names two values adds (1 - q) * (1 - q) to the excess of the pair, and 1 - q to the
        support of each beyond a report that names no value. So no value is lowered by more than liars added.
        """
        q, excesses = float(self.oracle.p_other), self._excesses()
        # Supports above the supports of a value without holders: only this part can come from liars.
        largest = np.maximum(self.supports[self.watched] - round(self.people * q), 0)
        subtracted = np.minimum(np.rint(excesses / (1 - q)).astype(np.int64), largest)
        self.supports[self.watched] -= subtracted
        return int(subtracted.max(initial=0))

    def flagged_limit(self, flagged_count: int) -> int | None:
        """Return the number of flagged values from which a report is left out; None if each number is probable enough.

        A report is at most `ratio` times as likely for a basket as under the blank law.
        """
        if self.law is None or self.law.tail is None or not flagged_count:
            return None
        expected = self.people * float(self.law.ratio) * self.law.tail(flagged_count)
        improbable = np.flatnonzero(expected <= _EXPECTED_LOSS)
        return int(improbable[0]) if len(improbable) else None

    @property
    def named_range(self) -> tuple[int, int] | None:
        """The smallest and the largest number of values that a report names; None if reports do not name single values.

        A report outside the range is an alarm: the expected number of honest reports outside is below its probability.
        """
        if self.law is None or self.law.tail is None or not self.oracle.each_alone or not self.people:
            return None
        ratio, limit = self.people * float(self.law.ratio), _SIGN_ALARM / 2
        tail = ratio * self.law.tail(self.oracle.size)
        too_many = np.flatnonzero(tail <= limit)
        # P(at most k values) = 1 - P(at least k + 1).
        not_too_few = np.flatnonzero(ratio - tail > limit)
        lowest = max(int(not_too_few[0]) - 1, 0) if len(not_too_few) else 0
        return lowest, int(too_many[0]) - 1 if len(too_many) else self.oracle.size

    def find_alarms(self) -> tuple[Alarm, ...]:
        """Return the alarms that the sums raise; no report is left out for them."""
        alarms, comparisons = [], 2 * self.oracle.size
        p, q = float(self.oracle.p_held), float(self.oracle.p_other)
        # Supports of a table are estimates, with a larger variance than sums of reports.
        scale = self.people * (p - q) ** 2 * self.people
        variances = [scale * float(self.oracle.variance(fraction, self.people)) for fraction in (1.0, 0.0)]
        highest = self.people * p + tail_margin(variances[0], comparisons)
        lowest = self.people * q - tail_margin(variances[1], comparisons)
        impossible = np.flatnonzero((self.supports > highest) | (self.supports < lowest))
        if len(impossible):
            alarms.append(Alarm(sign="supports", values=tuple(impossible.tolist())))
        if self._cells is not None:
            chance = 1 / len(self._cells)
            margin = tail_margin(self.people * chance * (1 - chance), 2 * len(self._cells))
            uneven = np.flatnonzero(np.abs(self._cells - self.people * chance) > margin)
            if len(uneven):
                alarms.append(Alarm(sign="cells", values=tuple(uneven.tolist())))
        return tuple(alarms)


def _row_maxima(excesses: NDArray[np.float64]) -> NDArray[np.float64]:
    np.fill_diagonal(excesses, 0.0)  # a value is no pair with itself
    return np.asarray(excesses.max(1, initial=0.0))


def tail_margin(variance: Any, comparisons: int) -> Any:
    """Return a bound on the distance of sums of independent numbers in [-1, 1] from their means (Bernstein).

    The probability that one of `comparisons` sums exceeds the bound is at most `_SIGN_ALARM`.
    """
    log_chance = log(max(1, comparisons) / _SIGN_ALARM)
    return np.sqrt(2 * log_chance * variance) + 2 * log_chance / 3


@dataclass(frozen=True, kw_only=True, eq=False)
class Sieve:
    """The rule that leaves reports out.

    Parameters
    ----------
    oracle
        The oracle of the round.
    flagged
        The flagged values.
    limit
        The number of flagged values from which a report is left out; None without this rule.
    named_range
        The smallest and the largest number of values that a report may name; None without this rule.
    crowded_lots
        The lots that are left out with their reports; None without this rule.
    """

    oracle: Oracle
    flagged: NDArray[np.int64]
    limit: int | None = None
    named_range: tuple[int, int] | None = None
    crowded_lots: NDArray[np.int64] | None = None

    @property
    def keeps_all(self) -> bool:
        """Whether no report is left out."""
        return self.limit is None and self.named_range is None and self.crowded_lots is None

    def apply_rules(self, columns: ReportColumns) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
        """Return the reports that break each rule: flagged values, number of named values, and crowded lots."""
        oracle, no_reports = self.oracle, np.zeros(_row_count(columns), bool)
        flagged = no_reports if self.limit is None else oracle.match_values(columns, self.flagged).sum(1) >= self.limit
        outside = no_reports
        if self.named_range is not None:
            name_counts = oracle.match_values(columns, np.arange(oracle.size)).sum(1)
            outside = (name_counts < self.named_range[0]) | (name_counts > self.named_range[1])
        in_crowded_lots = no_reports
        if self.crowded_lots is not None:
            in_crowded_lots = np.isin(oracle.adder.find_lots(columns), self.crowded_lots)
        return np.asarray(flagged), np.asarray(outside), in_crowded_lots

    def find_left_out(self, columns: ReportColumns) -> NDArray[np.bool_]:
        """Return the reports that are left out."""
        flagged, outside, in_crowded_lots = self.apply_rules(columns)
        return flagged | outside | in_crowded_lots


def sum_reports(blocks: Iterable[ReportColumns], oracle: Oracle) -> Sums:
    """Return the number of reports, their aggregate, and the number of reports in each cell, if there are cells."""
    people, aggregate = np.zeros(1, np.int64), oracle.adder.start()
    cells = oracle.cells(oracle.codec.make_columns([]))
    cells = np.zeros(0, np.int64) if cells is None else cells
    for columns in blocks:
        people += _row_count(columns)
        oracle.adder.add(aggregate, columns)
        block_cells = oracle.cells(columns)
        if block_cells is not None:
            cells = cells + block_cells
    return people, aggregate, cells


def count_pairs(blocks: Iterable[ReportColumns], oracle: Oracle, watched: NDArray[np.int64]) -> Sums:
    """Return the number of reports that name both of each two watched values."""
    counts = np.zeros((len(watched), len(watched)), np.int64)
    for columns in blocks:
        counts += count_named_pairs(oracle.match_values(columns, watched))
    return (counts,)


def sum_left_out(blocks: Iterable[ReportColumns], sieve: Sieve, watched: NDArray[np.int64]) -> Sums:
    """Return the reports that are left out: their number by rule, their aggregate, and their pairs of watched values.

    The numbers are of all, and of the reports for flagged values, for named values alone, and for crowded lots.
    """
    oracle, report_counts = sieve.oracle, np.zeros(4, np.int64)
    aggregate, pair_counts = oracle.adder.start(), np.zeros((len(watched), len(watched)), np.int64)
    for columns in blocks:
        flagged, outside, in_crowded_lots = sieve.apply_rules(columns)
        left_out = flagged | outside | in_crowded_lots
        report_counts += [left_out.sum(), flagged.sum(), (outside & ~flagged).sum(), in_crowded_lots.sum()]
        if left_out.any():
            reports = {name: column[left_out] for name, column in columns.items()}
            oracle.adder.add(aggregate, reports)
            if len(watched):
                pair_counts += count_named_pairs(oracle.match_values(reports, watched))
    return report_counts, aggregate, pair_counts


def screen_reports(oracle: Oracle, blocks: Callable[[], Iterable[ReportColumns]]) -> Screened:
    """Return a round after screening.

    Parameters
    ----------
    oracle
        The oracle of the round.
    blocks
        A function that returns the blocks of valid reports, from the first block on at each call.
    """
    return screen_round(oracle, lambda sum_blocks: sum_blocks(blocks()))


def screen_round(oracle: Oracle, read: RoundReader) -> Screened:
    """Return a round after screening, with a reader for its reports."""
    screen = Screen(oracle, read(partial(sum_reports, oracle=oracle)))
    if screen.needs_pairs:
        pair_counts = screen.reading.count_joint_reports(screen.watched)
        screen.set_pair_counts(
            read(partial(count_pairs, oracle=oracle, watched=screen.watched)) if pair_counts is None else (pair_counts,)
        )
    alarms, crowded_lots = screen.find_alarms(), screen.crowded_lots
    if crowded_lots is not None and not len(crowded_lots):
        crowded_lots = None
    # A crowded lot raises all pairs of the values in its cells, without liars about them: pairs are flagged after it
    # is left out.
    flagged = screen.flag_values() if crowded_lots is None else np.zeros(0, np.int64)
    limit = screen.flagged_limit(len(flagged))
    sieve = Sieve(
        oracle=oracle, flagged=flagged, limit=limit, named_range=screen.named_range, crowded_lots=crowded_lots
    )
    left_out = flagged_reports = outside_reports = lot_reports = 0
    if not sieve.keeps_all:
        watched = screen.watched if screen.needs_pairs else np.zeros(0, np.int64)
        sums = read(partial(sum_left_out, sieve=sieve, watched=watched))
        left_out, flagged_reports, outside_reports, lot_reports = map(int, sums[0])
        screen.subtract(sums)
    if crowded_lots is not None:
        flagged = screen.flag_values()
        alarms = (Alarm(sign="lots", values=tuple(crowded_lots.tolist()), reports=lot_reports), *alarms)
    if outside_reports:
        alarms = (Alarm(sign="ones", values=(), reports=outside_reports), *alarms)
    if len(flagged):
        values, subtracted = tuple(flagged.tolist()), screen.lower_supports()
        alarms = (Alarm(sign="together", values=values, reports=flagged_reports, lowered=subtracted), *alarms)
    return Screened(people=screen.people, supports=screen.supports, left_out=left_out, alarms=alarms, sieve=sieve)


def count_named_pairs(is_named: NDArray[np.bool_]) -> Counts:
    """Return the number of reports that name both of each two values.

    Parameters
    ----------
    is_named
        Whether a report names a value: one row per report, one column per value.
    """
    size = is_named.shape[1]

    def count(rows: NDArray[np.bool_]) -> Counts:
        counts = np.zeros((size, size), np.int64)
        count_together(rows, counts)
        return counts

    parts = np.array_split(np.ascontiguousarray(is_named), threads())
    counts: Counts = np.sum(in_threads(count, parts), axis=0, dtype=np.int64)
    return counts


def _row_count(columns: ReportColumns) -> int:
    return len(next(iter(columns.values())))
