"""RAN-GD of FRAPP (Agrawal and Haritsa 2005): everyone draws their own gamma-diagonal matrix. Proof: `ran-gd.md`."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.errors import MisuseError
from discreet.privacy import exact
from discreet.privacy.sampling import Source

from .perturbing import GammaDiagonal, below

# The diagonal moves in so many steps to each side.
_STEPS = 2**10


@dataclass(frozen=True, kw_only=True)
class RanGD(GammaDiagonal):
    """Settings of `ran-gd`, besides gamma.

    Parameters
    ----------
    spread
        How far the chance of keeping a record may lie from its mean, as a share of it.
    """

    spread: Fraction = Fraction(1, 2)

    name: ClassVar[str] = "ran-gd"
    summary: ClassVar[str] = "As det-gd, where everyone draws how likely they keep their record, and tells nobody."
    proof: ClassVar[str] = "ran-gd.md"

    def __post_init__(self) -> None:
        super().__post_init__()
        spread = exact(self.spread, "spread")
        if not 0 <= spread < 1 or spread.denominator > 2**10:
            raise MisuseError(f"spread is a short fraction from 0 to below 1, such as 1/2; {self.spread} was given.")
        object.__setattr__(self, "spread", spread)

    def check(self, cells: int) -> None:
        """Refuse a table so small that a record would be kept with a probability over 1."""
        if self.most_kept(cells) > 1:
            raise MisuseError(
                f"With gamma = {self.gamma} and spread = {self.spread} a table of {cells:,} different records is too"
                " small: set spread or gamma lower."
            )

    def most_kept(self, cells: int) -> Fraction:
        """Return the largest probability with which anyone keeps their record."""
        return (1 + self.spread) * self.gamma / (self.gamma + cells - 1)

    def known(self, cells: int) -> Fraction:
        """Return the largest ratio of two probabilities of a report, where it is known what its person drew.

        With the highest chance of keeping, that is own over other; with the lowest, other may be over own.
        """
        lowest = (1 - self.spread) * self.gamma / (self.gamma + cells - 1)
        if cells == 1:
            return Fraction(1)
        ratios = []
        for own in (self.most_kept(cells), lowest):
            other = (1 - own) / (cells - 1)
            ratios += [own / other, other / own]
        return max(ratios)

    def keeping(self, cells: int, people: int, source: Source) -> NDArray[np.bool_]:
        """Keep a record with a probability that is drawn evenly around that of det-gd, once for every person."""
        own, other = self.gamma.numerator, self.gamma.denominator
        moved = below(source, 2 * _STEPS + 1, people) - _STEPS
        unit = self.spread.denominator * _STEPS
        total = (own + (cells - 1) * other) * unit
        return below(source, total, people) < own * (unit + self.spread.numerator * moved)
