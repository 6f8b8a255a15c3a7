"""Top-K by the exponential mechanism over truncated counts (Bhaskar et al. 2010, algorithms 1 and 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ...privacy import Way
from ..steps import ItemsetChoice

_METHODS = ("exponential", "gumbel", "permute-and-flip")


@dataclass(frozen=True, kw_only=True)
class Exponential(ItemsetChoice):
    """Settings of `exponential`: the settings of `ItemsetChoice`, and the selection method.

    Parameters
    ----------
    way
        ``"exponential"`` picks pattern after pattern; ``"gumbel"`` has an equal distribution in one shot;
        ``"permute-and-flip"`` never has a larger expected error for one pick.
    """

    way: Literal["exponential", "gumbel", "permute-and-flip"] = "exponential"

    name: ClassVar[str] = "exponential"
    summary: ClassVar[str] = (
        "Picks the patterns one after the other, the frequent ones exponentially likelier, and counts the picks with "
        "noise."
    )

    def choice(self) -> Way:
        """Return the selection method of the settings."""
        return self.way
