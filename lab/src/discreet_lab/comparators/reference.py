"""What could be known: everyone answers one round about patterns that include the true top, ranked as estimated.

Nobody can run this, as it is told what to ask about; it is kept here, apart from the protocols that can be asked for by
name. It is not a bound: a protocol that believes estimates by what all of them suggest can be better at the same noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from discreet.errors import MisuseError
from discreet.local import Protocol
from discreet.local.protocols import Adept
from discreet.local.study import CandidateList, Learnt, Partition, Talk, Wanted

CANDIDATES = 2
"""How many of the true top are asked about for every pattern wanted."""


@dataclass(frozen=True, kw_only=True)
class Reference(Protocol):
    """Estimate patterns that were given, by one round of everybody, as `adept` asks where nobody lies.

    Parameters
    ----------
    itemsets
        The patterns: numbers of items. They are of the true top, and taken from the raw data.
    near
        How frequent the last one wanted is, taken from the raw data too.
    """

    itemsets: tuple[tuple[int, ...], ...]
    near: float

    name: ClassVar[str] = "reference"
    summary: ClassVar[str] = "one round of everybody about the true top, which nobody may know"
    citation: ClassVar[str] = "ours"
    proof: ClassVar[str] = "reference.md"
    public: ClassVar[tuple[str, ...]] = ("the items", "what is asked about, though it was taken from the raw data")

    def __post_init__(self) -> None:
        """Take the patterns as they are: nobody types them."""

    def check(self, wanted: Wanted) -> None:
        """Refuse settings that do not add up."""
        if not self.itemsets:
            raise MisuseError(f"{self.name} is told what to ask about, and nothing was told.")
        Adept().check(wanted)

    def talk(self, wanted: Wanted) -> Talk:
        """Lead the conversation."""
        of, near = CandidateList(itemsets=self.itemsets), (self.near, self.near)
        asking = Adept(robust=False)
        told = yield from asking.ask_round(of, Partition(), Fraction(1), wanted, near, "of the true top")
        values = told.evidence.values
        variance = told.evidence.noise + (told.evidence.relative + told.doubt**2) * np.clip(values, 0.0, 1.0) ** 2
        order = np.argsort(-values, kind="stable")
        return Learnt(
            itemsets=tuple(of[place] for place in order.tolist()),
            values=values[order],
            variance=variance[order],
            facts=told.facts("of the true top"),
            notes=("It was told the true top: what that gives away is not counted.",),
        )
