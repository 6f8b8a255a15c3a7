"""Local hashing: randomised response over the few buckets of a hash function that each device draws for itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, comb
from typing import Any, ClassVar, Self

import numpy as np

from ...errors import MisuseError
from ...kernels import report_hashed, report_numbered
from .. import Counts, OneValue, ReportColumns, SimulatedAnswers, compute_weight, exp_rounded_down
from ..device import WEIGHT_SCALE
from ..oracle_steps import HashedOracle, HonestLaw, independent_pair_laws, independent_tail

# The largest number of buckets that are counted one by one, for an alarm about unequal cells. With more, a round has
# too few reports per bucket for a bound; half and double move the limit by an epsilon of ln 2.
_MAX_CELLS = 1 << 12
_MAX_BUCKETS = 1 << 31  # beyond, some buckets would have no hash of 32 bits


@dataclass(frozen=True, kw_only=True)
class OLH(HashedOracle, OneValue):
    """Hash the sampled symbol to a bucket and report this bucket or any other.

    `share`, if given, is the number of padded values that may meet in one bucket: the sampling then hides more, with a
    probability of failure (Theorem 5). Its privacy is never pure (A14).

    `seeds`, if given, is the number of published seeds: a device draws the number of one seed. Reports then fall into a
    table of seeds and buckets, and reading it costs seeds times candidates, for any number of people.
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
        if None not in (self.seeds, self.share):
            raise MisuseError("An oracle that counts on the sampling draws fresh seeds: leave seeds out.")

    @classmethod
    def make(cls, epsilon: Fraction, size: int, *, pad: int = 1, single: bool = False) -> Self:
        """Return the oracle with the better of the two numbers of buckets around e^epsilon + 1 (A4)."""
        growth = exp_rounded_down(epsilon)
        bucket_counts = {max(2, int(growth) + 1), max(2, int(growth) + 2)}
        oracles = [cls._with_buckets(epsilon, size, pad, single, buckets, growth) for buckets in sorted(bucket_counts)]
        return min(oracles, key=lambda oracle: oracle.variance(0.0))

    @classmethod
    def _with_buckets(
        cls, epsilon: Fraction, size: int, pad: int, single: bool, buckets: int, growth: Fraction
    ) -> Self:
        inside = compute_weight(growth, 1, buckets - 1)
        return cls(epsilon=epsilon, size=size, pad=pad, single=single, buckets=buckets, inside=inside)

    @classmethod
    def sampled(cls, epsilon: Fraction, size: int, *, pad: int, delta: Fraction) -> Self:
        """Return the oracle that relies on the sampling, and fails with a probability of at most `delta`."""
        if not 0 < delta < 1:
            raise MisuseError(f"delta is over 0 and below 1; {float(delta):g} was given.")
        for share in range(1, pad + 1):
            # Each bucket has at most share / pad of the sampling (Theorem 5): the least share within delta is best.
            growth = Fraction(pad, share) * (exp_rounded_down(epsilon) - 1) + 1
            buckets = ceil(growth) + 1
            if buckets >= _MAX_BUCKETS:
                raise MisuseError(
                    f"A padding of {pad:,} at epsilon {float(epsilon):g} needs too many buckets: use olh."
                )
            if Fraction(comb(pad, share + 1), buckets**share) <= delta:
                inside = compute_weight(growth, 1, buckets - 1)
                return cls(epsilon=epsilon, size=size, pad=pad, buckets=buckets, inside=inside, share=share)
        raise AssertionError("unreachable: all of the padding may meet in one bucket")

    def expecting(self, people: int) -> Self:
        """Return the oracle with published seeds for very many people, unless it relies on the sampling."""
        return self if self.share is not None else super().expecting(people)

    def numbered(self, seeds: int | None) -> Self:
        """Return the oracle with the given number of published seeds, or with fresh seeds for None."""
        return replace(self, seeds=seeds)

    @property
    def numbers(self) -> dict[str, Any]:
        """The numbers that travel: buckets, the weight of the own bucket, and the share and the seeds, if given."""
        share = {} if self.share is None else {"share": self.share}
        return {"buckets": self.buckets, "inside": str(self.inside), **share, **self.seed_numbers}

    @property
    def dummies(self) -> int:
        """The number of dummies: one, or the padding if the oracle relies on the sampling.

        An empty basket with one dummy symbol would always have its whole padding in one bucket (A3).
        """
        return super().dummies if self.share is None else self.pad

    @property
    def p_own(self) -> Fraction:
        """The probability of the own bucket."""
        return Fraction(self.inside, WEIGHT_SCALE)

    @property
    def p_other(self) -> Fraction:
        """The probability that any other symbol is hashed to the reported bucket."""
        return Fraction(1, self.buckets)

    @property
    def own_chance(self) -> Fraction:
        """The probability of the own bucket."""
        return self.p_own

    @property
    def places(self) -> int:
        """The number of buckets."""
        return self.buckets

    def reports(self, answered: SimulatedAnswers, seed: int) -> ReportColumns:
        """Return a hash function, or the number of a published seed, and a bucket for each person."""
        people = len(answered.people)
        arguments = (*answered.arguments(seed), self.pad, self.size, self.dummies, np.uint64(self.inside), self.buckets)
        value, multiplier, increment = (
            np.empty(people, np.int64),
            np.empty(people, np.uint32),
            np.empty(people, np.uint32),
        )
        if self.seeds is not None:
            report_numbered(*arguments, self.seeds, value, multiplier)
            return {"seed": multiplier, "value": value}
        report_hashed(*arguments, value, multiplier, increment)
        return {"first": multiplier, "second": increment, "value": value}

    @property
    def fresh_law(self) -> HonestLaw:
        """The law of honest reports; the blank law draws any hash function with any bucket."""
        p_own, p_other = self.p_own, self.p_other
        ratio = max(p_own * self.buckets, (1 - p_own) * self.buckets / (self.buckets - 1))
        return HonestLaw(
            p_other=p_other,
            pair_laws=independent_pair_laws(p_own, p_other),
            ratio=ratio,
            tail=independent_tail(p_other),
        )

    def count_fresh_cells(self, columns: ReportColumns) -> Counts | None:
        """Return the number of reports with each bucket; None for too many buckets."""
        # With more buckets, most would have too few reports for a test of their counts.
        if self.buckets > _MAX_CELLS:
            return None
        return np.bincount(columns["value"], minlength=self.buckets).astype(np.int64)
