"""Screening: what a collector can tell of a round's reports without knowing who is honest.

Some things hold for honest reports whatever people hold (`HonestLaw`). Where a round does not keep to them, somebody
made reports up, and an alarm says what was seen. Reports that no honest device is likely to have sent are left out.
All of it is the collector's own arithmetic over reports that it has: nobody is asked anything, and privacy is
untouched. It stops crafted reports, and not a false basket told by the rules: that looks like an honest one.

A round is gone through up to three times, in blocks: what is added up, which values come together, which reports are
left out. Each time whole numbers are summed over the blocks, in any order and on any machine. What stays in memory
grows with the values that are watched and not with the number of reports. Where no single report can be told from an
honest one, the values that come together too often are lowered by as much as they do.
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

# What an alarm is about: two values that are named together too often, a value that more people seem to hold than there
# are or fewer than none, cells of a report that are not as likely as each other, reports that name too many or too few,
# lots that too many drew.
Sign: TypeAlias = Literal["together", "supports", "cells", "ones", "lots"]
# What some of the blocks come to: arrays of whole numbers, which add up number by number to those of the whole round.
Sums: TypeAlias = tuple[Counts, ...]
# Goes through a round once: gives all of its blocks to a function, in one part or in many, and returns the sums of all.
Over: TypeAlias = Callable[[Callable[[Iterable[ReportColumns]], Sums]], Sums]

WATCHED = 256
"""How many values are looked at two by two, those with the largest supports: one that few name is lifted by nobody."""
FALSE_ALARM = 1 / 2000
"""The probability that a round of honest reports raises an alarm at most: it is shared out evenly among the signs."""
_SIGN_ALARM = FALSE_ALARM / len(get_args(Sign))
_DROPPED = 0.1
"""How many honest reports are expected to be left out of a round with liars at most, for naming too many flagged
values."""


@dataclass(frozen=True, kw_only=True)
class Alarm:
    """Something in a round that honest reports do not bring about.

    Parameters
    ----------
    sign
        What was seen.
    values
        The values it was seen of, ascending; cells and lots where it is about those. None where it is about whole
        reports.
    reports
        How many reports are left out for it.
    lowered
        By how many reports the values are lowered, those together that are lowered the most by one.
    """

    sign: Sign
    values: tuple[int, ...]
    reports: int = 0
    lowered: int = 0

    def __str__(self) -> str:
        many = len(self.values)
        said = {
            "together": f"{many:,} values are named together more often than honest reports do, whatever is held",
            "supports": f"{many:,} values are named more often than if everybody held them, or less than if nobody did",
            "cells": f"{many:,} of the places that a report can lie in are not as likely as the others",
            "lots": f"{many:,} published seeds are named more often than devices draw them",
            "ones": "some reports name more or fewer values than honest ones do",
        }[self.sign]
        left = f"{self.reports:,} reports are left out" if self.reports else ""
        less = f"what up to {self.lowered:,} reports added to each is taken off" if self.lowered else ""
        done = " and ".join(part for part in (left, less) if part)
        return f"{said}; {done}." if done else f"{said}."


@dataclass(frozen=True, kw_only=True, eq=False)
class Screened:
    """A round after screening.

    Parameters
    ----------
    people, supports
        How many reports are counted, and what they add up to.
    left_out
        How many others there are.
    alarms
        What was seen.
    sieve
        Tells those that are counted from the others.
    """

    people: int
    supports: Counts
    left_out: int
    alarms: tuple[Alarm, ...]
    sieve: Sieve

    def places(self, blocks: Iterable[ReportColumns]) -> NDArray[np.int64]:
        """Return the places of the reports that are left out among all of the round, ascending."""
        return np.flatnonzero(np.concatenate([np.zeros(0, bool), *map(self.sieve.out, blocks)]))


class Screen:
    """The screening of one round, by what its reports come to.

    Parameters
    ----------
    oracle
        The oracle of the round.
    sums
        What `counted` gives of all reports.
    """

    def __init__(self, oracle: Oracle, sums: Sums) -> None:
        self.oracle, self.law = oracle, oracle.honest
        self.people, self.aggregate = int(sums[0][0]), sums[1]
        self._cells = sums[2] if len(sums[2]) else None
        self._reading: AggregateReading | None = None  # of the aggregate as it is now
        self._watched: NDArray[np.int64] | None = None
        self._together = np.zeros((0, 0), np.int64)

    @property
    def supports(self) -> Counts:
        """What the reports that were added support."""
        return self.reading.supports

    @property
    def reading(self) -> AggregateReading:
        """What was added up, read once."""
        if self._reading is None:
            self._reading = self.oracle.adder.read(self.aggregate)
        return self._reading

    @cached_property
    def crowded(self) -> NDArray[np.int64] | None:
        """The lots that too many reports drew, as everything was added; None where the oracle has no lots.

        A lot is drawn before a device looks at its basket, so leaving one out with all of its reports biases nothing.
        """
        lots = self.oracle.adder.count_lots(self.aggregate)
        if lots is None:
            return None
        usual = self.people / len(lots)
        return np.flatnonzero(lots > usual + far(usual, len(lots)))

    @property
    def pairs(self) -> bool:
        """Whether the blocks are to be gone through again for values that come together."""
        return self.law is not None and self.oracle.at_once > 1 and self.oracle.size > 1 and self.people > 0

    @property
    def watched(self) -> NDArray[np.int64]:
        """The values that are looked at two by two, ascending."""
        if self._watched is None:
            largest = np.argsort(-self.supports, kind="stable")[:WATCHED]
            self._watched = np.sort(largest).astype(np.int64)
        return self._watched

    def pair(self, sums: Sums) -> None:
        """Take what `paired` gives of all reports: which of the watched values come together."""
        (self._together,) = sums

    def leave(self, sums: Sums) -> None:
        """Take reports out again that were added and paired: what `sifted` gives of them."""
        self.people -= int(sums[0][:1].sum())
        self.aggregate -= sums[1]
        self._reading = None
        if len(self._together):
            self._together -= sums[2]

    def flagged(self) -> NDArray[np.int64]:
        """Return the values that come together with another one more often than honest reports bring about.

        What two values have in common beyond how often each is named has a mean of at most `excess` a report and a mean
        square of at most `square`; `far` bounds it for all pairs of watched values at once.
        """
        return self.watched[self._over() > 0] if self.people else np.zeros(0, np.int64)

    @property
    def _pair_count(self) -> int:
        return comb(len(self.watched), 2)

    def _over(self) -> NDArray[np.float64]:
        """Return by how much each watched value comes together too often with the one it does so most with, or 0."""
        if self.law is None:
            return self._over_in_table()
        if not len(self._together):
            return np.zeros(len(self.watched))
        q, alone = float(self.law.p_other), self.supports[self.watched]
        seen = self._together - q * (alone[:, None] + alone) + self.people * q * q
        usual = self.people * float(self.law.excess)
        over = np.where(seen > usual + far(self.people * float(self.law.square), self._pair_count), seen - usual, 0.0)
        np.fill_diagonal(over, 0.0)
        return np.asarray(over.max(1, initial=0.0))

    def _over_in_table(self) -> NDArray[np.float64]:
        """Return the same of an aggregate that tells by itself how often values come together."""
        shared = self.reading.shared(self.watched)
        if shared is None:
            return np.zeros(len(self.watched))
        over = np.where(shared.more > far(shared.variance, self._pair_count), shared.more / shared.worth, 0.0)
        np.fill_diagonal(over, 0.0)
        return np.asarray(over.max(1, initial=0.0)) * (1 - float(self.oracle.p_other))

    def lower(self) -> int:
        """Take off the supports what made-up reports added that cannot be told from honest ones; return the most.

        A made-up report that names a value with another one adds (1 - q) (1 - q) to what the two have in common, and
        1 - q more to the support than a report that says nothing. So nobody is lowered by more than was added.
        """
        q, over = float(self.oracle.p_other), self._over()
        least = np.maximum(self.supports[self.watched] - round(self.people * q), 0)
        off = np.minimum(np.rint(over / (1 - q)).astype(np.int64), least)
        self.supports[self.watched] -= off
        return int(off.max(initial=0))

    def limit(self, flagged: int) -> int | None:
        """Return from how many flagged values on a report is left out, or None where no number is improbable enough.

        Any report is at most `ratio` times as likely for some basket as under the blank law.
        """
        if self.law is None or self.law.tail is None or not flagged:
            return None
        expected = self.people * float(self.law.ratio) * self.law.tail(flagged)
        rare = np.flatnonzero(expected <= _DROPPED)
        return int(rare[0]) if len(rare) else None

    @property
    def ones(self) -> tuple[int, int] | None:
        """The fewest and the most values that a report names which names each by itself; None for other oracles."""
        if self.law is None or self.law.tail is None or not self.oracle.each_alone or not self.people:
            return None
        tail, most = self.people * float(self.law.ratio) * self.law.tail(self.oracle.size), _SIGN_ALARM / 2
        rare = np.flatnonzero(tail <= most)
        # At most so many, and not at least one more.
        few = np.flatnonzero(self.people * float(self.law.ratio) - tail > most)
        return max(int(few[0]) - 1, 0) if len(few) else 0, int(rare[0]) - 1 if len(rare) else self.oracle.size

    def alarms(self) -> tuple[Alarm, ...]:
        """Return what the sums alone say, with nobody left out for it."""
        found, comparisons = [], 2 * self.oracle.size
        held, other = float(self.oracle.p_held), float(self.oracle.p_other)
        # Of a table, supports are made of estimates, whose variance is more than that of sums of reports.
        each = self.people * (held - other) ** 2 * self.people
        variances = [each * float(self.oracle.variance(fraction, self.people)) for fraction in (1.0, 0.0)]
        most = self.people * held + far(variances[0], comparisons)
        least = self.people * other - far(variances[1], comparisons)
        beyond = np.flatnonzero((self.supports > most) | (self.supports < least))
        if len(beyond):
            found.append(Alarm(sign="supports", values=tuple(beyond.tolist())))
        if self._cells is not None:
            chance = 1 / len(self._cells)
            wide = far(self.people * chance * (1 - chance), 2 * len(self._cells))
            off = np.flatnonzero(np.abs(self._cells - self.people * chance) > wide)
            if len(off):
                found.append(Alarm(sign="cells", values=tuple(off.tolist())))
        return tuple(found)


def far(variance: Any, comparisons: int) -> Any:
    """Return how far sums of independent numbers of at most 1 stray from their means, but for one sign's false alarms.

    By Bernstein's inequality any of so many compared sums does so with a probability of `_SIGN_ALARM` at most.
    """
    log_chance = log(max(1, comparisons) / _SIGN_ALARM)
    return np.sqrt(2 * log_chance * variance) + 2 * log_chance / 3


@dataclass(frozen=True, kw_only=True, eq=False)
class Sieve:
    """Which reports are left out: those that name many flagged values, or too many or too few at all, or a full lot.

    `limit` is from how many `flagged` values on, `ones` the fewest and the most that may be named, and `crowd` are the
    lots that are full; None where nobody is left out for that.
    """

    oracle: Oracle
    flagged: NDArray[np.int64]
    limit: int | None = None
    ones: tuple[int, int] | None = None
    crowd: NDArray[np.int64] | None = None

    @property
    def open(self) -> bool:
        """Whether everybody stays."""
        return self.limit is None and self.ones is None and self.crowd is None

    def why(self, columns: ReportColumns) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which reports name many flagged values, which too many or too few at all, and which a full lot."""
        oracle, none = self.oracle, np.zeros(_rows(columns), bool)
        many = none if self.limit is None else oracle.named(columns, self.flagged).sum(1) >= self.limit
        odd = none
        if self.ones is not None:
            named = oracle.named(columns, np.arange(oracle.size)).sum(1)
            odd = (named < self.ones[0]) | (named > self.ones[1])
        full = none if self.crowd is None else np.isin(oracle.adder.find_lots(columns), self.crowd)
        return np.asarray(many), np.asarray(odd), full

    def out(self, columns: ReportColumns) -> NDArray[np.bool_]:
        """Return which reports are left out."""
        many, odd, full = self.why(columns)
        return many | odd | full


def counted(blocks: Iterable[ReportColumns], oracle: Oracle) -> Sums:
    """Return how many reports there are, what they add up to, and how many lie in each cell, where there are cells."""
    people, aggregate = np.zeros(1, np.int64), oracle.adder.start()
    nobody = oracle.cells(oracle.codec.make_columns([]))
    cells = np.zeros(0, np.int64) if nobody is None else nobody
    for columns in blocks:
        people += _rows(columns)
        oracle.adder.add(aggregate, columns)
        more = oracle.cells(columns)
        if more is not None:
            cells = cells + more
    return people, aggregate, cells


def paired(blocks: Iterable[ReportColumns], oracle: Oracle, watched: NDArray[np.int64]) -> Sums:
    """Return how many reports name both of every two values that are watched."""
    both = np.zeros((len(watched), len(watched)), np.int64)
    for columns in blocks:
        both += together(oracle.named(columns, watched))
    return (both,)


def sifted(blocks: Iterable[ReportColumns], sieve: Sieve, watched: NDArray[np.int64]) -> Sums:
    """Return how many reports are left out, and for what; what they add up to, and `paired` of them."""
    oracle, many = sieve.oracle, np.zeros(4, np.int64)
    aggregate, both = oracle.adder.start(), np.zeros((len(watched), len(watched)), np.int64)
    for columns in blocks:
        named, odd, full = sieve.why(columns)
        out = named | odd | full
        many += [out.sum(), named.sum(), (odd & ~named).sum(), full.sum()]
        if out.any():
            some = {name: column[out] for name, column in columns.items()}
            oracle.adder.add(aggregate, some)
            if len(watched):
                both += together(oracle.named(some, watched))
    return many, aggregate, both


def screened(oracle: Oracle, blocks: Callable[[], Iterable[ReportColumns]]) -> Screened:
    """Screen a round, and return what the reports that are counted add up to.

    Parameters
    ----------
    oracle
        The oracle of the round.
    blocks
        Begins anew with the first block of good reports, each time it is called.
    """
    return screened_over(oracle, lambda part: part(blocks()))


def screened_over(oracle: Oracle, over: Over) -> Screened:
    """Screen a round that is gone through by `over`, wherever its reports lie."""
    screen = Screen(oracle, over(partial(counted, oracle=oracle)))
    if screen.pairs:
        known = screen.reading.together(screen.watched)
        screen.pair(over(partial(paired, oracle=oracle, watched=screen.watched)) if known is None else (known,))
    alarms, crowded = screen.alarms(), screen.crowded
    crowd = crowded if crowded is not None and len(crowded) else None
    # A full lot puts all values of its cells together, whoever holds them: it is left out before these are looked at.
    flagged = screen.flagged() if crowd is None else np.zeros(0, np.int64)
    sieve = Sieve(oracle=oracle, flagged=flagged, limit=screen.limit(len(flagged)), ones=screen.ones, crowd=crowd)
    left = many = odd = full = 0
    if not sieve.open:
        watched = screen.watched if screen.pairs else np.zeros(0, np.int64)
        sums = over(partial(sifted, sieve=sieve, watched=watched))
        left, many, odd, full = map(int, sums[0])
        screen.leave(sums)
    if sieve.crowd is not None:
        flagged = screen.flagged()
        alarms = (Alarm(sign="lots", values=tuple(sieve.crowd.tolist()), reports=full), *alarms)
    if odd:
        alarms = (Alarm(sign="ones", values=(), reports=odd), *alarms)
    if len(flagged):
        values = tuple(flagged.tolist())
        alarms = (Alarm(sign="together", values=values, reports=many, lowered=screen.lower()), *alarms)
    return Screened(people=screen.people, supports=screen.supports, left_out=left, alarms=alarms, sieve=sieve)


def together(named: NDArray[np.bool_]) -> Counts:
    """Return how many reports name both of every two values, from a row per report."""
    size = named.shape[1]

    def count(part: NDArray[np.bool_]) -> Counts:
        counts = np.zeros((size, size), np.int64)
        count_together(part, counts)
        return counts

    parts = np.array_split(np.ascontiguousarray(named), threads())
    counts: Counts = np.sum(in_threads(count, parts), axis=0, dtype=np.int64)
    return counts


def _rows(columns: ReportColumns) -> int:
    return len(next(iter(columns.values())))
