"""Local hashing: randomised response over the few buckets of a hash function that each device draws for itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, comb
from typing import Any, ClassVar, Self

import numpy as np

from ...errors import MisuseError
from ...kernels.devices import report_hashed
from ...kernels.tables import report_numbered
from ..device.loss import WIDE
from ..oracle import Answered, Counts, OneValue, ReportColumns, grown, weighed
from ..oracle_steps.honest import HonestLaw, apart, independent
from ..oracle_steps.numbered import NumberedSeeds

_MOST_CELLS = 1 << 12  # that are counted one by one
_MOST_BUCKETS = 1 << 31  # beyond, some would be hashed to by nothing


@dataclass(frozen=True, kw_only=True)
class OLH(NumberedSeeds, OneValue):
    """Hash the sampled symbol to a bucket and report the bucket or another.

    `share`, where it is given, is how many of the padded values may meet in one bucket: the sampling then hides more,
    with a probability of failing (Theorem 5). Such an oracle is never pure (A14).

    `seeds`, where it is given, is how many seeds are published: a device draws the number of one. Reports then fall
    into a table of seeds and buckets, so that reading it costs seeds times candidates, however many people there are.
    """

    buckets: int
    inside: int
    share: int | None = None

    name: ClassVar[str] = "olh"
    summary: ClassVar[str] = (
        "a bucket of a hash function, or another: small reports for any number of candidates and people"
    )
    citation: ClassVar[str] = "Wang, Blocki, Li, Jha 2017; with delta: Wang, Li, Jha 2018, Theorem 5"
    place: ClassVar[str] = "value"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.seeds is not None and self.share is not None:
            raise MisuseError("An oracle that counts on the sampling draws fresh seeds: leave seeds out.")

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
        """Return the oracle with published seeds for very many people, unless it counts on the sampling."""
        return self if self.share is not None else super().expecting(people)

    def numbered(self, seeds: int | None) -> Self:
        """Return the oracle with so many published seeds, or with fresh ones."""
        return replace(self, seeds=seeds)

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
    def told(self) -> Fraction:
        """The own bucket's weight."""
        return self.p_own

    @property
    def places(self) -> int:
        """The buckets."""
        return self.buckets

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
