"""Top-K by the exponential mechanism over truncated counts (Bhaskar et al. 2010, algorithms 1 and 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ...privacy.meter import Way
from ..steps.itemset_choice import Choosing

_WAYS = ("exponential", "gumbel", "permute-and-flip")


@dataclass(frozen=True, kw_only=True)
class Exponential(Choosing):
    """Settings of `exponential`: those of `Choosing`, and the way.

    Parameters
    ----------
    way
        ``"exponential"`` peels off one pattern after the other; ``"gumbel"`` is the same law in one shot;
        ``"permute-and-flip"`` never does worse in expectation for one pick.
    """

    way: Literal["exponential", "gumbel", "permute-and-flip"] = "exponential"

    name: ClassVar[str] = "exponential"
    summary: ClassVar[str] = (
        "Picks the patterns one after the other, the frequent ones exponentially likelier, and counts the picks with "
        "noise."
    )

    def choice(self) -> Way:
        """Pick in the way that was set."""
        return self.way
