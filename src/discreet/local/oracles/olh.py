"""Local hashing: randomised response over the few buckets of a hash function that each device draws for itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, comb, log2
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ...errors import MisuseError
from ...kernels.devices import report_hashed
from ..device.loss import WIDE, WORD
from ..oracle import Answered, Counts, OneValue, Report, ReportColumns, grown, weighed
from ..oracle_steps.hashing import HashedWindows
from ..oracle_steps.honest import HonestLaw, apart, independent
from ..oracle_steps.reading import fields, number, seed, seeds, whole

_MOST_CELLS = 1 << 12  # that are counted one by one
_MOST_BUCKETS = 1 << 31  # beyond, some would be hashed to by nothing


@dataclass(frozen=True, kw_only=True)
class OLH(HashedWindows, OneValue):
    """Hash the sampled symbol to a bucket and report the bucket or another.

    `share`, where it is given, is how many of the padded values may meet in one bucket: the sampling then hides more,
    with a probability of failing (Theorem 5). Such an oracle is never pure (A14).
    """

    buckets: int
    inside: int
    share: int | None = None

    name: ClassVar[str] = "olh"
    summary: ClassVar[str] = "a bucket of a hash function, or another: small reports for any number of candidates"
    citation: ClassVar[str] = "Wang, Blocki, Li, Jha 2017; with delta: Wang, Li, Jha 2018, Theorem 5"

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

    @property
    def numbers(self) -> dict[str, Any]:
        """The buckets and the weight of the own one."""
        numbers = {"buckets": self.buckets, "inside": str(self.inside)}
        return numbers if self.share is None else {**numbers, "share": self.share}

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
        return 63 + ceil(log2(self.buckets))

    def reports(self, answered: Answered, seed: int) -> ReportColumns:
        """Return a hash function and a bucket a person."""
        many = len(answered.people)
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

    @property
    def honest(self) -> HonestLaw:
        """Blank is any hash function with any bucket, which other values fall into by themselves."""
        own, other = self.p_own, self.p_other
        ratio = max(own * self.buckets, (1 - own) * self.buckets / (self.buckets - 1))
        return HonestLaw(p_other=other, together=apart(own, other), ratio=ratio, tail=independent(other))

    def cells(self, columns: ReportColumns) -> Counts | None:
        """Return how many reports name each bucket, where all can be told apart."""
        if self.buckets > _MOST_CELLS:
            return None
        return np.bincount(columns["value"], minlength=self.buckets).astype(np.int64)

    def written(self, columns: ReportColumns, row: int) -> Report:
        """Return a seed and a bucket."""
        seed = [int(columns["first"][row]), int(columns["second"][row])]
        return {"seed": seed, "value": int(columns["value"][row])}

    def flaw(self, report: Any) -> str:
        """Return whether it is no seed and bucket."""
        return fields(report, "seed", "value") or seed(report["seed"]) or number("value", report["value"], self.buckets)

    def columns(self, reports: Sequence[Report]) -> ReportColumns:
        """Return the seeds and buckets."""
        return {**seeds(reports), "value": whole(reports, "value")}
