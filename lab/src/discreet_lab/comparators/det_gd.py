"""DET-GD of FRAPP (Agrawal and Haritsa 2005): records behind one gamma-diagonal matrix. Proof: `det-gd.md`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.privacy.sampling import Source

from .perturbing import GammaDiagonal, below


@dataclass(frozen=True, kw_only=True)
class DetGD(GammaDiagonal):
    """`det-gd` has no settings but gamma."""

    name: ClassVar[str] = "det-gd"
    summary: ClassVar[str] = (
        "Everyone reports their record of a table, or any other one; supports are found from the reports."
    )
    proof: ClassVar[str] = "det-gd.md"

    def keeping(self, cells: int, people: int, source: Source) -> NDArray[np.bool_]:
        """Keep a record with probability gamma over gamma + cells - 1."""
        own, other = self.gamma.numerator, self.gamma.denominator
        return below(source, own + (cells - 1) * other, people) < own
