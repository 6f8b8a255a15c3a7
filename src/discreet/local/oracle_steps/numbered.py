"""What oracles that hash have in common where many people answer: devices draw one of a few published seeds.

Reports then fall into a table of seeds and buckets, so that reading it costs seeds times candidates, however many
people there are. With fresh seeds everything is as without this module.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log2
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ...errors import MisuseError
from ...kernels.tables import tabulate
from ..device.loss import WORD
from ..oracle import Answered, Counts, Report, ReportColumns
from .adding import AggregateReading
from .collisions import LEAST_SEEDS, LOSS, MOST_CELLS, WORTH, Collisions, Overlaps, amplified, seeds_for
from .hashing import HashedWindows
from .honest import found_together
from .published import SeedTable, TableReading, published_pairs
from .reading import fields, number, seed, seeds, whole


@dataclass(frozen=True, kw_only=True)
class NumberedSeeds(HashedWindows):
    """An oracle whose report is a hash function and a place; `seeds`, where given, is how many seeds are published."""

    seeds: int | None = None

    # What a report calls the place that it names: with published seeds, a bucket of the hash function.
    place: ClassVar[str]

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.seeds is not None and (not 2 <= self.seeds < WORD or self.seeds & (self.seeds - 1)):
            raise MisuseError(f"Published seeds are a power of two from 2 to {WORD // 2:,}; {self.seeds:,} were given.")

    @property
    @abstractmethod
    def told(self) -> Fraction:
        """The probability of a bucket that one of the device's own symbols is in."""

    @property
    @abstractmethod
    def places(self) -> int:
        """How many places there are: with published seeds, the buckets of a table."""

    @abstractmethod
    def numbered(self, seeds: int | None) -> Self:
        """Return the oracle with so many published seeds, or with fresh ones."""

    @property
    def _held(self) -> int:
        """How many symbols a report answers for at most."""
        return self.pad if self.sets else 1

    @property
    def _overlaps(self) -> Overlaps:
        return Overlaps.of(self._held, self.places, float(self.told))

    def _noise(self, people: int) -> float:
        """Return the variance of the frequency of a symbol that is never sampled."""
        other = float(self.p_other)
        return other * (1 - other) / ((float(self.told) - other) ** 2 * max(people, 1))

    def expecting(self, people: int) -> Self:
        """Return the oracle with published seeds where so many people make them worth while, and otherwise as it is."""
        if self.seeds is not None:
            return self
        asked = self.numbered(2)  # whose buckets are those of any number of published seeds
        if LEAST_SEEDS * asked.places > MOST_CELLS or people < LEAST_SEEDS * WORTH:
            return self
        noise = asked._noise(1)
        room = (1 + LOSS) * self._noise(1) / noise - 1  # buckets may be coarser than what they stand for
        symbols = self.size + self.dummies
        seeds = seeds_for(people, asked.places, symbols, noise, asked._held, asked._overlaps, room)
        return self if seeds is None else self.numbered(seeds)

    def as_asked(self, form: Mapping[str, Any]) -> Self:
        """Return the oracle with as many published seeds as the form has, or fresh ones."""
        seeds = form.get("seeds")
        return self if seeds == self.seeds else self.numbered(seeds)

    def variance(self, frequency: Any, people: int = 1) -> Any:
        """Return the variance of an estimate: with published seeds, also what collisions add to it at most."""
        fresh = super().variance(frequency, people)
        if self.seeds is None:
            return fresh
        added = Collisions(
            seeds=self.seeds,
            buckets=self.places,
            symbols=self.size + self.dummies,
            noise=self._noise(people),
            held=self._held,
            overlaps=self._overlaps,
        )
        return fresh * (1 + added.solved) + super().variance(0.0, people) * added.leaked

    @property
    def bits(self) -> float:
        """A seed and a place."""
        return (63 if self.seeds is None else log2(self.seeds)) + ceil(log2(self.places))

    @property
    def at_once(self) -> int:
        """As many as some seed puts into one bucket: fewer where fewer seeds can be chosen."""
        if self.seeds is None:
            return super().at_once
        return min(self.size, found_together(self.p_other, self.seeds.bit_length() - 1))

    @property
    def amplified(self) -> Fraction:
        """With published seeds a report also adds through the values that are solved for together."""
        if self.seeds is None:
            return super().amplified
        return amplified(self.seeds, self.places, self.size + self.dummies, self._held)

    @property
    def excess(self) -> float:
        """What published seeds have of it is known, and taken off; `amplified` allows for the rest."""
        return super().excess if self.seeds is None else 0.0

    @property
    def drawn_together(self) -> bool:
        """Whether reports are made at every speed: they are where that is quick."""
        return self.joint or self.seeds is not None

    def windows(self, columns: ReportColumns) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Return where each report's bucket begins, and how wide it is."""
        low = -(-WORD * columns[self.place] // self.places)
        width = -(-WORD * (columns[self.place] + 1) // self.places) - low
        return low.astype(np.uint32), width.astype(np.uint32)

    def functions(self, columns: ReportColumns) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Return the seeds, those that are published by their number."""
        return super().functions(columns) if self.seeds is None else published_pairs(columns["seed"])

    def empty(self) -> Counts:
        """Return no supports, or a table of seeds and buckets without reports."""
        return super().empty() if self.seeds is None else np.zeros((self.seeds, self.places), np.int64)

    def add(self, aggregate: Counts, columns: ReportColumns, times: int = 1) -> None:
        """Add reports to the table, or what they support."""
        if self.seeds is None:
            super().add(aggregate, columns, times)
        else:
            tabulate(columns["seed"], columns[self.place], times, aggregate)

    @property
    def adds_on_all_cores(self) -> bool:
        """Whether a block is: not to a table."""
        return self.seeds is None and super().adds_on_all_cores

    def add_drawn(
        self, aggregate: Counts, answered: Answered, seed: int, generator: np.random.Generator | None
    ) -> None:
        """Add everyone's reports; those that fall into a table are made at every speed, as that is quick."""
        super().add_drawn(aggregate, answered, seed, generator if self.seeds is None else None)

    def reading(self, aggregate: Counts) -> AggregateReading:
        """Return the supports: of a table, those that fresh seeds have on average for the frequencies that it says."""
        if self.seeds is None:
            return super().reading(aggregate)
        table = SeedTable(table=aggregate, symbols=self.size + self.dummies, own=float(self.told), held=self._held)
        return TableReading(supports=table.supports()[: self.size], table=table)

    def lots(self, aggregate: Counts) -> Counts | None:
        """Return how many reports name each published seed."""
        return None if self.seeds is None else np.asarray(aggregate.sum(1))

    def lot(self, columns: ReportColumns) -> NDArray[np.uint32]:
        """Return the number of each report's seed."""
        return np.asarray(columns["seed"], np.uint32)

    def written(self, columns: ReportColumns, row: int) -> Report:
        """Return a seed, or the number of one, and a place."""
        named = {self.place: int(columns[self.place][row])}
        if self.seeds is not None:
            return {"seed": int(columns["seed"][row]), **named}
        return {"seed": [int(columns["first"][row]), int(columns["second"][row])], **named}

    def flaw(self, report: Any) -> str:
        """Return whether it is no seed and place."""
        flaw = fields(report, "seed", self.place)
        if not flaw:
            flaw = seed(report["seed"]) if self.seeds is None else number("seed", report["seed"], self.seeds)
        return flaw or number(self.place, report[self.place], self.places)

    def columns(self, reports: Sequence[Report]) -> ReportColumns:
        """Return the seeds and places."""
        told = whole(reports, self.place)
        if self.seeds is not None:
            return {"seed": whole(reports, "seed").astype(np.uint32), self.place: told}
        return {**seeds(reports), self.place: told}
