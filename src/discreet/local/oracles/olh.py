"""Local hashing: randomised response over the few buckets of a hash function that each device draws for itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, comb, log2
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ...errors import MisuseError
from ...kernels.devices import report_hashed
from ...kernels.tables import report_numbered, tabulate
from ..device.loss import WIDE, WORD
from ..oracle import Answered, Counts, OneValue, Report, ReportColumns, grown, weighed
from ..oracle_steps.adding import AggregateReading
from ..oracle_steps.hashing import HashedWindows
from ..oracle_steps.honest import HonestLaw, apart, found_together, independent
from ..oracle_steps.published import Collisions, SeedTable, TableReading, amplified, published_pairs, seeds_for
from ..oracle_steps.reading import fields, number, seed, seeds, whole

_MOST_CELLS = 1 << 12  # that are counted one by one
_MOST_BUCKETS = 1 << 31  # beyond, some would be hashed to by nothing


@dataclass(frozen=True, kw_only=True)
class OLH(HashedWindows, OneValue):
    """Hash the sampled symbol to a bucket and report the bucket or another.

    `share`, where it is given, is how many of the padded values may meet in one bucket: the sampling then hides more,
    with a probability of failing (Theorem 5). Such an oracle is never pure (A14).

    `seeds`, where it is given, is how many seeds are published: a device draws the number of one. Reports then fall
    into a table of seeds and buckets, so that reading it costs seeds times candidates, however many people there are.
    """

    buckets: int
    inside: int
    share: int | None = None
    seeds: int | None = None

    name: ClassVar[str] = "olh"
    summary: ClassVar[str] = (
        "a bucket of a hash function, or another: small reports for any number of candidates and people"
    )
    citation: ClassVar[str] = "Wang, Blocki, Li, Jha 2017; with delta: Wang, Li, Jha 2018, Theorem 5"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.seeds is None:
            return
        if self.share is not None:
            raise MisuseError("An oracle that counts on the sampling draws fresh seeds: leave seeds out.")
        if not 2 <= self.seeds < WORD or self.seeds & (self.seeds - 1):
            raise MisuseError(f"Published seeds are a power of two from 2 to {WORD // 2:,}; {self.seeds:,} were given.")

    @classmethod
    def make(cls, epsilon: Fraction, size: int, *, pad: int = 1, single: bool = False) -> Self:
        """Return the oracle with the better of the two numbers of buckets around e^epsilon + 1 (A4)."""
        growth = grown(epsilon)
        around = {max(2, int(growth) + 1), max(2, int(growth) + 2)}
        made = [cls._with(epsilon, size, pad, single, buckets, growth) for buckets in sorted(around)]
        return min(made, key=lambda oracle: oracle.variance(0.0))

    @classmethod
    def _with(cls, epsilon: Fraction, size: int, pad: int, single: bool, buckets: int, growth: Fraction) -> Self:
        inside = weighed(growth, 1, buckets - 1)
        return cls(epsilon=epsilon, size=size, pad=pad, single=single, buckets=buckets, inside=inside)

    @classmethod
    def sampled(cls, epsilon: Fraction, size: int, *, pad: int, delta: Fraction) -> Self:
        """Return the oracle that counts on the sampling, and fails with a probability of at most `delta`."""
        if not 0 < delta < 1:
            raise MisuseError(f"delta is over 0 and below 1; {float(delta):g} was given.")
        for share in range(1, pad + 1):
            growth = Fraction(pad, share) * (grown(epsilon) - 1) + 1
            buckets = ceil(growth) + 1
            if buckets >= _MOST_BUCKETS:
                raise MisuseError(
                    f"A padding of {pad:,} at epsilon {float(epsilon):g} needs too many buckets: use olh."
                )
            if Fraction(comb(pad, share + 1), buckets**share) <= delta:
                inside = weighed(growth, 1, buckets - 1)
                return cls(epsilon=epsilon, size=size, pad=pad, buckets=buckets, inside=inside, share=share)
        raise AssertionError("unreachable: all of the padding may meet in one bucket")

    def expecting(self, people: int) -> Self:
        """Return the oracle with published seeds where so many people make them worth while, and otherwise as it is."""
        if self.seeds is not None or self.share is not None:
            return self
        seeds = seeds_for(people, self.buckets, self.size + self.dummies, self._noise(1))
        return self if seeds is None else replace(self, seeds=seeds)

    def as_asked(self, form: Mapping[str, Any]) -> Self:
        """Return the oracle with as many published seeds as the form has, or fresh ones."""
        seeds = form.get("seeds")
        return self if seeds == self.seeds else replace(self, seeds=seeds)

    def _noise(self, people: int) -> float:
        """Return the variance of the frequency of a symbol that is never sampled."""
        other = float(self.p_other)
        return other * (1 - other) / ((float(self.p_own) - other) ** 2 * max(people, 1))

    def variance(self, frequency: Any, people: int = 1) -> Any:
        """Return the variance of an estimate: with published seeds, also what collisions add to it at most."""
        fresh = super().variance(frequency, people)
        if self.seeds is None:
            return fresh
        added = Collisions(
            seeds=self.seeds, buckets=self.buckets, symbols=self.size + self.dummies, noise=self._noise(people)
        )
        return fresh * (1 + added.solved) + super().variance(0.0, people) * added.leaked

    @property
    def numbers(self) -> dict[str, Any]:
        """The buckets and the weight of the own one; the share and the seeds, where there are such."""
        more = {"share": self.share, "seeds": self.seeds}
        given = {name: number for name, number in more.items() if number is not None}
        return {"buckets": self.buckets, "inside": str(self.inside), **given}

    @property
    def dummies(self) -> int:
        """One for nothing at all; as many as the padding where the sampling is counted on.

        An empty basket whose dummies are one symbol would put all of them into one bucket, always (A3).
        """
        return super().dummies if self.share is None else self.pad

    @property
    def p_own(self) -> Fraction:
        """The own bucket's weight."""
        return Fraction(self.inside, WIDE)

    @property
    def p_other(self) -> Fraction:
        """Another symbol falls into the reported bucket as into any."""
        return Fraction(1, self.buckets)

    @property
    def bits(self) -> float:
        """A seed and a bucket."""
        return (63 if self.seeds is None else log2(self.seeds)) + ceil(log2(self.buckets))

    @property
    def at_once(self) -> int:
        """As many as some seed puts into one bucket: fewer where fewer seeds can be chosen."""
        if self.seeds is None:
            return super().at_once
        return min(self.size, found_together(self.p_other, self.seeds.bit_length() - 1))

    @property
    def amplified(self) -> Fraction:
        """With published seeds a report also adds through the values that are solved for together."""
        return super().amplified if self.seeds is None else amplified(self.buckets)

    @property
    def excess(self) -> float:
        """What published seeds have of it is known, and taken off; `amplified` allows for the rest."""
        return super().excess if self.seeds is None else 0.0

    @property
    def drawn_together(self) -> bool:
        """Whether reports are made at every speed: they are where that is quick."""
        return self.joint or self.seeds is not None

    def reports(self, answered: Answered, seed: int) -> ReportColumns:
        """Return a hash function and a bucket a person."""
        many = len(answered.people)
        if self.seeds is not None:
            bucket, number_of = np.empty(many, np.int64), np.empty(many, np.uint32)
            report_numbered(
                *answered.arguments(seed),
                self.pad,
                self.size,
                self.dummies,
                np.uint64(self.inside),
                self.buckets,
                self.seeds,
                bucket,
                number_of,
            )
            return {"seed": number_of, "value": bucket}
        value, first, second = np.empty(many, np.int64), np.empty(many, np.uint32), np.empty(many, np.uint32)
        report_hashed(
            *answered.arguments(seed),
            self.pad,
            self.size,
            self.dummies,
            np.uint64(self.inside),
            self.buckets,
            value,
            first,
            second,
        )
        return {"first": first, "second": second, "value": value}

    def windows(self, columns: ReportColumns) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Return where each report's bucket begins, and how wide it is."""
        low = -(-WORD * columns["value"] // self.buckets)
        width = -(-WORD * (columns["value"] + 1) // self.buckets) - low
        return low.astype(np.uint32), width.astype(np.uint32)

    def functions(self, columns: ReportColumns) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Return the seeds, those that are published by their number."""
        return super().functions(columns) if self.seeds is None else published_pairs(columns["seed"])

    def empty(self) -> Counts:
        """Return no supports, or a table of seeds and buckets without reports."""
        return super().empty() if self.seeds is None else np.zeros((self.seeds, self.buckets), np.int64)

    def add(self, aggregate: Counts, columns: ReportColumns, times: int = 1) -> None:
        """Add reports to the table, or what they support."""
        if self.seeds is None:
            super().add(aggregate, columns, times)
        else:
            tabulate(columns["seed"], columns["value"], times, aggregate)

    def add_drawn(
        self, aggregate: Counts, answered: Answered, seed: int, generator: np.random.Generator | None
    ) -> None:
        """Add everyone's reports; those that fall into a table are made at every speed, as that is quick."""
        super().add_drawn(aggregate, answered, seed, generator if self.seeds is None else None)

    def reading(self, aggregate: Counts) -> AggregateReading:
        """Return the supports: of a table, those that fresh seeds have on average for the frequencies that it says."""
        if self.seeds is None:
            return super().reading(aggregate)
        table = SeedTable(table=aggregate, symbols=self.size + self.dummies, own=float(self.p_own))
        return TableReading(supports=table.supports()[: self.size], table=table)

    def lots(self, aggregate: Counts) -> Counts | None:
        """Return how many reports name each published seed."""
        return None if self.seeds is None else np.asarray(aggregate.sum(1))

    def lot(self, columns: ReportColumns) -> NDArray[np.uint32]:
        """Return the number of each report's seed."""
        return np.asarray(columns["seed"], np.uint32)

    @property
    def honest(self) -> HonestLaw | None:
        """Blank is any hash function with any bucket, which other values fall into by themselves.

        Values that published seeds put together come together for everybody: there, lots are looked at instead.
        """
        if self.seeds is not None:
            return None
        own, other = self.p_own, self.p_other
        ratio = max(own * self.buckets, (1 - own) * self.buckets / (self.buckets - 1))
        return HonestLaw(p_other=other, together=apart(own, other), ratio=ratio, tail=independent(other))

    def cells(self, columns: ReportColumns) -> Counts | None:
        """Return how many reports name each bucket, where all can be told apart."""
        if self.seeds is not None or self.buckets > _MOST_CELLS:
            return None
        return np.bincount(columns["value"], minlength=self.buckets).astype(np.int64)

    def written(self, columns: ReportColumns, row: int) -> Report:
        """Return a seed, or the number of one, and a bucket."""
        if self.seeds is not None:
            return {"seed": int(columns["seed"][row]), "value": int(columns["value"][row])}
        seed = [int(columns["first"][row]), int(columns["second"][row])]
        return {"seed": seed, "value": int(columns["value"][row])}

    def flaw(self, report: Any) -> str:
        """Return whether it is no seed and bucket."""
        flaw = fields(report, "seed", "value")
        if not flaw:
            flaw = seed(report["seed"]) if self.seeds is None else number("seed", report["seed"], self.seeds)
        return flaw or number("value", report["value"], self.buckets)

    def columns(self, reports: Sequence[Report]) -> ReportColumns:
        """Return the seeds and buckets."""
        if self.seeds is not None:
            return {"seed": whole(reports, "seed").astype(np.uint32), "value": whole(reports, "value")}
        return {**seeds(reports), "value": whole(reports, "value")}
