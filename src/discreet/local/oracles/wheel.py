"""The wheel: values are hashed onto a circle, and the reported point likely lies within an arc of an own value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from ...errors import MisuseError
from ...kernels import report_points, report_spots
from .. import Counts, ReportColumns, SetValued, SimulatedAnswers, check_ranges, compute_weight, exp_rounded_down
from ..device import WEIGHT_SCALE, WORD
from ..oracle_steps import HashedOracle, HonestLaw, Pair, PairLaw, independent_tail


@dataclass(frozen=True, kw_only=True)
class Wheel(HashedOracle, SetValued):
    """Hash up to `pad` values onto a circle of `points`; each begins an arc of points of weight `inside`.

    `seeds`, if given, is the number of published seeds. The circle then has few points and arcs of one point, so that
    reports fall into a table of seeds and points: a value is supported by its own point alone.
    """

    arc: int
    inside: int
    points: int = WORD

    name: ClassVar[str] = "wheel"
    summary: ClassVar[str] = (
        "a point near the hash of any held value: small reports for sets over any number of candidates"
    )
    citation: ClassVar[str] = "Wang, Qian, Hu, Zhu, Zhou, Li, Yang 2020 (wheel mechanism)"
    place: ClassVar[str] = "point"

    def __post_init__(self) -> None:
        super().__post_init__()
        has_few_points = self.points != WORD
        if bool(self.seeds) != has_few_points or (has_few_points and self.arc != 1):
            raise MisuseError("A wheel has few points and arcs of one where seeds are published: use numbered.")

    @classmethod
    def make(cls, epsilon: Fraction, size: int, *, pad: int = 1, single: bool = False) -> Self:
        """Return the oracle with the arc that makes the variance least for a candidate outside all baskets."""
        check_ranges(epsilon, size, pad, single)
        growth = exp_rounded_down(epsilon)
        # The arc of least variance, derived in `wheel.md`.
        arc = int(WORD / (2 * pad - 1 + pad * growth))
        if arc < 1:
            raise MisuseError(f"A padding of {pad:,} leaves no room on the wheel: use a smaller one.")
        inside = compute_weight(growth, pad * arc, WORD - pad * arc)
        return cls(epsilon=epsilon, size=size, pad=pad, single=single, arc=arc, inside=inside)

    def numbered(self, seeds: int | None) -> Self:
        """Return the oracle with the given number of published seeds, or with fresh seeds for None.

        The number of points is the better of the two whole numbers around the minimum of the variance.
        """
        if seeds is None:
            return self.make(self.epsilon, self.size, pad=self.pad, single=self.single)
        growth = exp_rounded_down(self.epsilon)
        # The variance is least at 2 l - 1 + l e^epsilon points, as for the arc of `make`.
        lower_count = min(int(2 * self.pad - 1 + self.pad * growth), WORD - 2)
        oracles = [
            replace(self, seeds=seeds, points=points, arc=1, inside=compute_weight(growth, self.pad, points - self.pad))
            for points in (lower_count, lower_count + 1)
        ]
        return min(oracles, key=lambda oracle: oracle.rare_variance(1))

    @classmethod
    def longest(cls, epsilon: Fraction) -> int:
        """Return the largest padding: the number of arcs of one point with room on the circle."""
        # The arc of `make` has a point as long as 2 l - 1 + l e^epsilon <= 2^32.
        return max(1, int((WORD + 1) / (exp_rounded_down(epsilon) + 2)))

    @property
    def dummies(self) -> int:
        """The number of dummies: 0, as a smaller basket leaves more of the circle outside of its arcs."""
        return 0

    @property
    def numbers(self) -> dict[str, Any]:
        """The numbers that travel: the length of an arc, the weight of its points, and the published counts."""
        points = {} if self.points == WORD else {"points": self.points}
        return {"arc": self.arc, "inside": str(self.inside), **points, **self.seed_numbers}

    @property
    def own_chance(self) -> Fraction:
        """The probability of the arc of one own value."""
        return self.p_held

    @property
    def places(self) -> int:
        """The number of points of the circle."""
        return self.points

    @property
    def p_held(self) -> Fraction:
        """The probability of the arc of an own value, for any overlaps with further arcs."""
        return Fraction(self.arc * self.inside, WEIGHT_SCALE)

    @property
    def p_other(self) -> Fraction:
        """The probability of the arc of any other value: its hash is uniform on the circle."""
        return Fraction(self.arc, self.points)

    def reports(self, answered: SimulatedAnswers, seed: int) -> ReportColumns:
        """Return a hash function, or the number of a published seed, and a point for each person."""
        people, arguments = len(answered.people), (*answered.arguments(seed), self.pad, np.uint64(self.inside))
        multiplier, increment = np.empty(people, np.uint32), np.empty(people, np.uint32)
        if self.seeds is not None:
            point = np.empty(people, np.int64)
            report_spots(*arguments, self.points, self.seeds, point, multiplier)
            return {"seed": multiplier, "point": point}
        arc_point = np.empty(people, np.uint32)
        report_points(*arguments, self.arc, arc_point, multiplier, increment)
        return {"first": multiplier, "second": increment, "point": arc_point}

    def find_windows(self, columns: ReportColumns) -> Pair:
        """Return the start and the length of the window of hashes with an arc over the point of each report."""
        if self.seeds is not None:
            return super().find_windows(columns)
        low = columns["point"] - np.uint32(self.arc - 1)
        return low, np.full(len(low), self.arc, np.uint32)

    @property
    def fresh_law(self) -> HonestLaw:
        """The law of honest reports; the blank law draws any hash function with any point."""
        p_own, p_other = self.p_held, self.p_other
        pair_laws = [
            PairLaw(both=p_other * p_other, first_value=p_other, second_value=p_other),
            PairLaw(both=p_own * p_other, first_value=p_own, second_value=p_other),
        ]
        if self.pad > 1:
            pair_laws.append(PairLaw(both=p_own * p_other, first_value=p_own, second_value=p_own))
        ratio = Fraction(self.inside * WORD, WEIGHT_SCALE)
        return HonestLaw(p_other=p_other, pair_laws=tuple(pair_laws), ratio=ratio, tail=independent_tail(p_other))

    def count_fresh_cells(self, columns: ReportColumns) -> Counts:
        """Return the number of points in each sixteenth of the circle."""
        # The upper four bits of 32; `look_over` in `gpu/kernels.cu` counts equal parts.
        return np.bincount(columns["point"] >> np.uint32(28), minlength=16).astype(np.int64)
