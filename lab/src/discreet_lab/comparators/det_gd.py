"""DET-GD of FRAPP (Agrawal and Haritsa 2005): records perturbed by one gamma-diagonal matrix. Proof: `det-gd.md`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.privacy.sampling import Source

from .perturbing import GammaDiagonal, draw_below


@dataclass(frozen=True, kw_only=True)
class DetGD(GammaDiagonal):
    """`det-gd` has no settings but gamma."""

    name: ClassVar[str] = "det-gd"
    summary: ClassVar[str] = (
        "Everyone reports their record of a table, or any other one; supports are found from the reports."
    )
    proof: ClassVar[str] = "det-gd.md"

    def draw_kept(self, cells: int, people: int, source: Source) -> NDArray[np.bool_]:
        """Draw whether each record is kept, with probability gamma / (gamma + cells - 1)."""
        numerator, denominator = self.gamma.numerator, self.gamma.denominator
        return draw_below(source, numerator + (cells - 1) * denominator, people) < numerator
