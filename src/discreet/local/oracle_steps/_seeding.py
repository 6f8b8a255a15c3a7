"""Oracles that hash: a report is the seed of a hash function and a place, and supports the values hashed near it.

A device draws a seed of its own, or in rounds with many people the number of a published seed. Reports with published
seeds fall into a table of seeds and buckets. Reading it costs seeds times candidates, for any number of people.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...errors import MisuseError
from ...kernels import tabulate
from .. import Counts, Oracle, ReportColumns
from ..device import WORD
from ._adding import Adder, AggregateReading, SupportAdder
from ._codec import Field, SeedField, WholeField
from ._collisions import LEAST_SEEDS, LOSS, MOST_CELLS, WORTH, Collisions, Overlaps, amplified, seeds_for
from ._hashing import count_hashed, windows_met
from ._honest import HonestLaw, count_colliding_values
from ._published import SeedTable, TableReading, published_pairs

Pair: TypeAlias = tuple[NDArray[np.uint32], NDArray[np.uint32]]


@dataclass(frozen=True, kw_only=True)
class HashedOracle(Oracle):
    """An oracle with a hash function and a place as its report; `seeds` is the number of published seeds, if any.

    A subclass makes the reports with seeds of either kind, and has the law of reports with fresh seeds.
    """

    seeds: int | None = None

    # The name of the field with the place: with published seeds, a bucket of the hash function.
    place: ClassVar[str]

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.seeds is not None and (not 2 <= self.seeds < WORD or self.seeds & (self.seeds - 1)):
            raise MisuseError(f"Published seeds are a power of two from 2 to {WORD // 2:,}; {self.seeds:,} were given.")

    @property
    def seed_numbers(self) -> dict[str, int]:
        """The number of published seeds, as it travels with the numbers of the oracle; empty for fresh seeds."""
        return {} if self.seeds is None else {"seeds": self.seeds}

    @property
    @abstractmethod
    def own_chance(self) -> Fraction:
        """Return the probability of a bucket with one of the device's own symbols."""

    @property
    @abstractmethod
    def places(self) -> int:
        """Return the number of places: with published seeds, of the buckets of a table."""

    @abstractmethod
    def numbered(self, seeds: int | None) -> Self:
        """Return the oracle with the given number of published seeds, or with fresh seeds for None."""

    @property
    @abstractmethod
    def fresh_law(self) -> HonestLaw:
        """Return the law of honest reports with fresh seeds."""

    @abstractmethod
    def count_fresh_cells(self, columns: ReportColumns) -> Counts | None:
        """Return `cells` of reports with fresh seeds."""

    def find_functions(self, columns: ReportColumns) -> Pair:
        """Return the multiplier and the increment of the hash function of each report."""
        return (columns["first"], columns["second"]) if self.seeds is None else published_pairs(columns["seed"])

    def find_windows(self, columns: ReportColumns) -> Pair:
        """Return the start and the width of the window of each report: its bucket, out of 2^32 hashes."""
        # Rounded up, as the device rounds hash * places / 2^32 down: bucket b begins at the least hash of b.
        low = -(-WORD * columns[self.place] // self.places)
        width = -(-WORD * (columns[self.place] + 1) // self.places) - low
        return low.astype(np.uint32), width.astype(np.uint32)

    @property
    def symbols_at_most(self) -> int:
        """The largest number of symbols that a report answers for."""
        return self.pad if self.sets else 1

    @property
    def overlaps(self) -> Overlaps:
        """The variance in a table from symbols of one device in one bucket."""
        return Overlaps.of(self.symbols_at_most, self.places, float(self.own_chance))

    def rare_variance(self, people: int) -> float:
        """Return the variance of the frequency of a symbol that is never sampled."""
        # Var = q (1 - q) / ((p - q)^2 n), Wang et al. 2017.
        p_other = float(self.p_other)
        return p_other * (1 - p_other) / ((float(self.own_chance) - p_other) ** 2 * max(people, 1))

    def expecting(self, people: int) -> Self:
        """Return the oracle with published seeds if the number of people makes them worthwhile, and else itself."""
        smallest = self.numbered(2)  # with the buckets of any number of published seeds
        if self.seeds or LEAST_SEEDS * smallest.places > MOST_CELLS or people < LEAST_SEEDS * WORTH:
            return self
        noise = smallest.rare_variance(1)
        # A table may have coarser buckets, at the cost of some variance.
        room = (1 + LOSS) * self.rare_variance(1) / noise - 1
        symbols = self.symbols_in_all
        seeds = seeds_for(people, smallest.places, symbols, noise, smallest.symbols_at_most, smallest.overlaps, room)
        return self if seeds is None else self.numbered(seeds)

    def as_asked(self, form: Mapping[str, Any]) -> Self:
        """Return the oracle with the number of published seeds of a form, or with fresh seeds."""
        seeds = form.get("seeds")
        return self if seeds == self.seeds else self.numbered(seeds)

    @property
    def fields(self) -> tuple[Field, ...]:
        """Return the fields of a report: a seed or its number, and a place."""
        seed = SeedField() if self.seeds is None else WholeField("seed", self.seeds, np.uint32)
        return (seed, WholeField(self.place, self.places, np.uint32 if self.places == WORD else np.int64))

    @cached_property
    def adder(self) -> Adder:
        """Return the adder of a table, or of supports, which divides the candidates among all cores."""
        if self.seeds is not None:
            return TableAdder(oracle=self, seeds=self.seeds)
        return SupportAdder(size=self.size, supports=self.supports, on_all_cores=True)

    @property
    def at_once(self) -> int:
        """The number of values that some seed puts into one window: fewer with fewer seeds to choose from."""
        return min(self.size, count_colliding_values(self.p_other, int(self.fields[0].bits)))

    @property
    def amplified(self) -> Fraction:
        """The largest relative influence of a report, through the values of a table that are solved for together."""
        if self.seeds is None:
            return Fraction(1)
        return amplified(self.seeds, self.places, self.symbols_in_all, self.symbols_at_most)

    @property
    def excess(self) -> float:
        """The excess of `HonestLaw.excess`; with published seeds it is known and subtracted."""
        return super().excess if self.seeds is None else 0.0

    @property
    def honest(self) -> HonestLaw | None:
        """The law of honest reports; None if published seeds put values together for all devices."""
        return self.fresh_law if self.seeds is None else None

    def variance(self, frequency: Any, people: int = 1) -> Any:
        """Return the variance of an estimate; with published seeds, with the largest variance from collisions."""
        variance = super().variance
        if self.seeds is None:
            return variance(frequency, people)
        collisions = Collisions(
            seeds=self.seeds,
            buckets=self.places,
            symbols=self.symbols_in_all,
            noise=self.rare_variance(people),
            held=self.symbols_at_most,
            overlaps=self.overlaps,
        )
        leaked = variance(0.0, people) * collisions.leaked + collisions.leaked_by_company(frequency)
        return variance(frequency, people) * (1 + collisions.solved) + leaked

    def cells(self, columns: ReportColumns) -> Counts | None:
        """Return the number of reports in each of some equally likely places; None with published seeds."""
        return self.count_fresh_cells(columns) if self.seeds is None else None

    def supports(self, columns: ReportColumns) -> Counts:
        """Return the number of reports with the hash of each candidate in their window."""
        return count_hashed(*self.find_functions(columns), *self.find_windows(columns), self.size)

    def match_values(self, columns: ReportColumns, values: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether each value lies in the window of each report."""
        return windows_met(*self.find_functions(columns), *self.find_windows(columns), values)


@dataclass(frozen=True, kw_only=True, eq=False)
class TableAdder(Adder):
    """The addition of reports in a table of published seeds and buckets."""

    oracle: HashedOracle
    seeds: int

    quick: ClassVar[bool] = True

    def start(self) -> Counts:
        """Return a table without reports."""
        return np.zeros((self.seeds, self.oracle.places), np.int64)

    def add(self, aggregate: Counts, columns: ReportColumns, times: int = 1) -> None:
        """Add reports to the table."""
        tabulate(columns["seed"], columns[self.oracle.place], times, aggregate)

    def read_aggregate(self, aggregate: Counts) -> AggregateReading:
        """Return the mean supports under fresh seeds for the frequencies of the table."""
        oracle = self.oracle
        symbols, own_chance = oracle.symbols_in_all, float(oracle.own_chance)
        table = SeedTable(table=aggregate, symbols=symbols, own_chance=own_chance, held=oracle.symbols_at_most)
        return TableReading(supports=table.supports()[: oracle.size], table=table)

    def count_lots(self, aggregate: Counts) -> Counts:
        """Return the number of reports with each published seed."""
        return np.asarray(aggregate.sum(1))

    def find_lots(self, columns: ReportColumns) -> NDArray[np.uint32]:
        """Return the number of each report's seed."""
        return np.asarray(columns["seed"], np.uint32)
