"""Oracles that hash: a report is the seed of a hash function and a place, and supports the values hashed near it.

Devices get their seeds in two ways, which are two randomisers. With `FreshSeeds` each device draws its own seed. With
`PublishedSeeds` it draws the number of a published seed: reports then fall into a table of seeds and buckets, and
reading a round costs seeds times candidates, for any number of people. `HashedOracle.seeding` picks one of the two,
once; all code that depends on the seeds stands in its class.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...errors import MisuseError
from ...kernels import tabulate
from .. import Answered, Counts, Oracle, ReportColumns
from ..device import WORD
from ._adding import Adder, AggregateReading, SupportAdder
from ._codec import Field, SeedField, WholeField
from ._collisions import LEAST_SEEDS, LOSS, MOST_CELLS, WORTH, Collisions, Overlaps, amplified, seeds_for
from ._hashing import count_hashed, windows_met
from ._honest import HonestLaw, count_colliding_values
from ._published import SeedTable, TableReading, published_pairs

Pair: TypeAlias = tuple[NDArray[np.uint32], NDArray[np.uint32]]
Variance: TypeAlias = Callable[[Any, int], Any]


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
        self.seeding.check()

    @cached_property
    def seeding(self) -> FreshSeeds | PublishedSeeds:
        """The source of the devices' seeds."""
        return FreshSeeds(self) if self.seeds is None else PublishedSeeds(self, self.seeds)

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

    @abstractmethod
    def make_fresh_reports(self, answered: Answered, seed: int) -> ReportColumns:
        """Return the report of each person with a fresh seed."""

    @abstractmethod
    def make_published_reports(self, answered: Answered, seed: int, seeds: int) -> ReportColumns:
        """Return the report of each person with one of `seeds` published seeds."""

    @property
    @abstractmethod
    def fresh_law(self) -> HonestLaw:
        """Return the law of honest reports with fresh seeds."""

    @abstractmethod
    def count_fresh_cells(self, columns: ReportColumns) -> Counts | None:
        """Return `cells` of reports with fresh seeds."""

    def find_fresh_windows(self, columns: ReportColumns) -> Pair:
        """Return the start and the width of the window of each report with a fresh seed: its bucket."""
        return self.find_buckets(columns)

    def find_buckets(self, columns: ReportColumns) -> Pair:
        """Return the start and the width of the bucket of each report, out of 2^32 hashes."""
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
        return (self.seeding.field, WholeField(self.place, self.places, np.uint32 if self.places == WORD else np.int64))

    @cached_property
    def adder(self) -> Adder:
        """Return the adder of supports, or of a table."""
        return self.seeding.make_adder()

    @property
    def at_once(self) -> int:
        """The number of values that some seed puts into one window: fewer with fewer seeds to choose from."""
        return min(self.size, count_colliding_values(self.p_other, int(self.seeding.field.bits)))

    @property
    def amplified(self) -> Fraction:
        """The largest influence of a report, relative to its influence by the values that it names."""
        return self.seeding.amplified

    @property
    def excess(self) -> float:
        """The excess of `HonestLaw.excess`; with published seeds it is known and subtracted."""
        return min(super().excess, self.seeding.most_excess)

    @property
    def honest(self) -> HonestLaw | None:
        """The law of honest reports; None if published seeds put values together for all devices."""
        return self.seeding.honest

    def variance(self, frequency: Any, people: int = 1) -> Any:
        """Return the variance of an estimate; with published seeds, with the largest variance from collisions."""
        return self.seeding.add_collisions(super().variance, frequency, people)

    def reports(self, answered: Answered, seed: int) -> ReportColumns:
        """Return a seed or its number, and a place, for each person."""
        return self.seeding.make_reports(answered, seed)

    def cells(self, columns: ReportColumns) -> Counts | None:
        """Return the number of reports in each of some equally likely places; None with published seeds."""
        return self.seeding.count_cells(columns)

    def supports(self, columns: ReportColumns) -> Counts:
        """Return the number of reports with the hash of each candidate in their window."""
        return count_hashed(*self.seeding.find_pairs(columns), *self.seeding.find_windows(columns), self.size)

    def named(self, columns: ReportColumns, values: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether each value lies in the window of each report."""
        return windows_met(*self.seeding.find_pairs(columns), *self.seeding.find_windows(columns), values)


@dataclass(frozen=True, eq=False)
class FreshSeeds:
    """Each device draws its own seed of a hash function."""

    oracle: HashedOracle

    field: ClassVar[Field] = SeedField()
    # The numbers of the seeds that travel with the oracle.
    numbers: ClassVar[dict[str, int]] = {}
    # The largest influence of a report, relative to its influence by the values that it names.
    amplified: ClassVar[Fraction] = Fraction(1)
    # A bound of `HonestLaw.excess`; infinity leaves it to the law.
    most_excess: ClassVar[float] = inf

    def check(self) -> None:
        """Accept any seed: a device draws it."""

    def add_collisions(self, variance: Variance, frequency: Any, people: int) -> Any:
        """Return the variance of an estimate: the noise of the reports."""
        return variance(frequency, people)

    @property
    def honest(self) -> HonestLaw:
        """Return the law of the oracle."""
        return self.oracle.fresh_law

    def make_adder(self) -> Adder:
        """Return the adder of supports; it divides the candidates among all cores."""
        return SupportAdder(size=self.oracle.size, supports=self.oracle.supports, on_all_cores=True)

    def make_reports(self, answered: Answered, seed: int) -> ReportColumns:
        """Return the seed and the place of each person."""
        return self.oracle.make_fresh_reports(answered, seed)

    def count_cells(self, columns: ReportColumns) -> Counts | None:
        """Return the reports that name each place, or each part of all places."""
        return self.oracle.count_fresh_cells(columns)

    def find_pairs(self, columns: ReportColumns) -> Pair:
        """Return the seeds of the reports."""
        return columns["first"], columns["second"]

    def find_windows(self, columns: ReportColumns) -> Pair:
        """Return the windows of the oracle."""
        return self.oracle.find_fresh_windows(columns)


@dataclass(frozen=True, eq=False)
class PublishedSeeds:
    """Each device draws the number of one of `seeds` published seeds, a power of two."""

    oracle: HashedOracle
    seeds: int

    most_excess: ClassVar[float] = 0.0  # it is known and subtracted; `amplified` bounds the remainder
    # Published seeds put equal values together for all devices: screening looks at lots instead.
    honest: ClassVar[None] = None

    def check(self) -> None:
        """Check that the number of seeds is a power of two."""
        if not 2 <= self.seeds < WORD or self.seeds & (self.seeds - 1):
            raise MisuseError(f"Published seeds are a power of two from 2 to {WORD // 2:,}; {self.seeds:,} were given.")

    @property
    def field(self) -> Field:
        """The field of the number of a seed."""
        return WholeField("seed", self.seeds, np.uint32)

    @property
    def numbers(self) -> dict[str, int]:
        """The number of seeds, as a number of the oracle."""
        return {"seeds": self.seeds}

    @property
    def amplified(self) -> Fraction:
        """The largest relative influence of a report, through the values that are solved for together."""
        oracle = self.oracle
        return amplified(self.seeds, oracle.places, oracle.symbols_in_all, oracle.symbols_at_most)

    def add_collisions(self, variance: Variance, frequency: Any, people: int) -> Any:
        """Return the variance of an estimate, with the largest variance from collisions."""
        oracle = self.oracle
        collisions = Collisions(
            seeds=self.seeds,
            buckets=oracle.places,
            symbols=oracle.symbols_in_all,
            noise=oracle.rare_variance(people),
            held=oracle.symbols_at_most,
            overlaps=oracle.overlaps,
        )
        leaked = variance(0.0, people) * collisions.leaked + collisions.leaked_by_company(frequency)
        return variance(frequency, people) * (1 + collisions.solved) + leaked

    def make_adder(self) -> Adder:
        """Return the adder of a table."""
        return TableAdder(oracle=self.oracle, seeds=self.seeds)

    def make_reports(self, answered: Answered, seed: int) -> ReportColumns:
        """Return the number of the seed and the bucket of each person."""
        return self.oracle.make_published_reports(answered, seed, self.seeds)

    def count_cells(self, columns: ReportColumns) -> None:
        """Return None: buckets of published seeds are not equally likely."""

    def find_pairs(self, columns: ReportColumns) -> Pair:
        """Return the seeds of the numbers in the reports."""
        return published_pairs(columns["seed"])

    def find_windows(self, columns: ReportColumns) -> Pair:
        """Return the buckets of the reports."""
        return self.oracle.find_buckets(columns)


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

    def read(self, aggregate: Counts) -> AggregateReading:
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
