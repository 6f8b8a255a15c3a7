"""Rounds that protocols share: finding candidates, how many of them people hold, and how many people hold each.

This is the ladder of Wang, Li, Jha 2018, figure 3: from LDPMiner at its foot to SVIM at its head, each step is one
setting of `Items`.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from statistics import NormalDist
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...errors import MisuseError
from ..asking import Ask, Estimate, Line
from ..questions import Candidates, HowMany, Which

Values: TypeAlias = NDArray[np.float64]
# How long a basket is taken to be: so many, what nine in ten people hold at most, what people hold on average,
# or as many as there are candidates.
Padding: TypeAlias = int | Literal["percentile", "mean", "all"]

LONGEST = 64  # a larger basket counts as one of this size where basket sizes are asked for


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """How many candidates people hold, learnt from a round: fractions of people who hold 1, 2, 3 … of them."""

    kept: Values

    @classmethod
    def of(cls, seen: Estimate) -> Sizes:
        """Keep what stands out from the noise (the significance threshold of section V): nothing else is told."""
        values = seen.values[1:]
        wide = seen.ask.oracle.variance(0.0, seen.people)  # of this group and of the oracle it used (A8)
        threshold = NormalDist().inv_cdf(1 - 0.05 / len(values)) * sqrt(wide)
        return cls(kept=np.where(values > threshold, values, 0.0))

    def padding(self, how: Padding, percentile: Fraction) -> int:
        """Return the padding; 1 where nothing stood out (A8)."""
        total = self.kept.sum()
        if isinstance(how, int):
            return how
        if how == "all":
            return len(self.kept)
        if total <= 0:
            return 1
        if how == "mean":
            return max(1, round(float((np.arange(1, len(self.kept) + 1) * self.kept).sum() / total)))
        return int(np.argmax(np.cumsum(self.kept) / total > float(percentile))) + 1

    def correction(self, pad: int) -> float:
        """Return by how much estimates fall short where people hold more than `pad`: a ratio of sums (A5, A6)."""
        sizes = np.arange(1, len(self.kept) + 1)
        seen = float((np.minimum(sizes, pad) * self.kept).sum())
        return float((sizes * self.kept).sum()) / seen if seen > 0 else 1.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimated:
    """Candidates with the fraction of people who hold each, its variance, and how they were asked for."""

    of: Candidates
    values: Values
    variance: Values
    pad: int
    correction: float

    def best(self, many: int) -> list[int]:
        """Return the places of the `many` most frequent, ties in the order of the candidates."""
        places: list[int] = np.argsort(-self.values, kind="stable")[:many].tolist()
        return places


Step: TypeAlias = Generator[Ask, Any, Estimated]


def estimating(
    of: Candidates,
    line: Line,
    shares: tuple[Fraction, Fraction],
    epsilon: Fraction,
    *,
    oracles: tuple[str, str],
    padding: Padding,
    percentile: Fraction = Fraction(9, 10),
    corrected: bool = True,
    about: str,
) -> Step:
    """Ask how many of the candidates people hold, where the padding needs it, and then which.

    Parameters
    ----------
    shares, oracles
        Of the people, and by name: for the sizes and for the candidates.
    corrected
        Whether estimates are scaled up for what the padding leaves out.
    """
    pad, correction = padding if isinstance(padding, int) else len(of), 1.0
    if shares[0]:
        question = HowMany.up_to(of, min(len(of), LONGEST) if of.items else len(of))
        seen: Estimate = yield Ask.of(f"how many {about}", line.next(shares[0]), question, oracles[0], epsilon)
        sizes = Sizes.of(seen)
        pad = sizes.padding(padding, percentile)
        correction = sizes.correction(pad) if corrected else 1.0
    elif padding in ("percentile", "mean"):
        raise MisuseError("A padding that is learnt needs a share of the people to learn it from.")
    answer: Estimate = yield Ask.of(f"which {about}", line.next(shares[1]), Which(of), oracles[1], epsilon, pad=pad)
    values = answer.values * correction
    return Estimated(of=of, values=values, variance=answer.variance * correction**2, pad=pad, correction=correction)
