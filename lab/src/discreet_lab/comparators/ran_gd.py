"""RAN-GD of FRAPP (Agrawal and Haritsa 2005): a gamma-diagonal matrix drawn for each person. Proof: `ran-gd.md`."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.errors import MisuseError
from discreet.privacy import exact
from discreet.privacy.sampling import Source

from .perturbing import GammaDiagonal, draw_below

# The diagonal moves by a multiple of spread / _STEPS: finer than any estimate shows.
_STEPS = 2**10


@dataclass(frozen=True, kw_only=True)
class RanGD(GammaDiagonal):
    """Settings of `ran-gd`, besides gamma.

    Parameters
    ----------
    spread
        The largest deviation of the probability of keeping a record from its mean, as a share of the mean.
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
        """Raise for a table so small that a record would be kept with a probability over 1."""
        if self.largest_keep_probability(cells) > 1:
            raise MisuseError(
                f"With gamma = {self.gamma} and spread = {self.spread} a table of {cells:,} different records is too"
                " small: set spread or gamma lower."
            )

    def largest_keep_probability(self, cells: int) -> Fraction:
        """Return the largest probability of keeping a record."""
        return (1 + self.spread) * self.gamma / (self.gamma + cells - 1)

    def largest_ratio(self, cells: int) -> Fraction:
        """Return the largest ratio of two probabilities of a report, if the matrix of the person is known.

        With the highest probability of keeping, that is own / other; with the lowest, other / own may be larger.
        """
        lowest = (1 - self.spread) * self.gamma / (self.gamma + cells - 1)
        if cells == 1:
            return Fraction(1)
        ratios = []
        for own_probability in (self.largest_keep_probability(cells), lowest):
            other_probability = (1 - own_probability) / (cells - 1)
            ratios += [own_probability / other_probability, other_probability / own_probability]
        return max(ratios)

    def draw_kept(self, cells: int, people: int, source: Source) -> NDArray[np.bool_]:
        """Draw whether each record is kept, with a probability drawn uniformly around that of det-gd."""
        numerator, denominator = self.gamma.numerator, self.gamma.denominator
        steps = draw_below(source, 2 * _STEPS + 1, people) - _STEPS
        unit = self.spread.denominator * _STEPS
        total = (numerator + (cells - 1) * denominator) * unit
        return draw_below(source, total, people) < numerator * (unit + self.spread.numerator * steps)
