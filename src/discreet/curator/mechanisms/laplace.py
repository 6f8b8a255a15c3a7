"""Top-K by Laplace noise on truncated counts (Bhaskar et al. 2010, algorithms 2 and 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...privacy import Way
from ..steps import ItemsetChoice


@dataclass(frozen=True, kw_only=True)
class Laplace(ItemsetChoice):
    """Settings of `laplace`: the settings of `ItemsetChoice`."""

    name: ClassVar[str] = "laplace"
    summary: ClassVar[str] = (
        "Adds noise to the count of every itemset there could be, takes the largest, and counts those anew with noise."
    )

    def choice(self) -> Way:
        """Return the choice of the largest noisy counts."""
        return "laplace"
