"""The reference: all people answer one round about patterns that include the true top, ranked by estimate.

The question is taken from the raw data, so that no study can run it; it is not among the protocols with a public name.
It is no bound: a protocol that combines estimates can be better at equal noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from discreet.errors import MisuseError
from discreet.local import Protocol
from discreet.local.protocols import Adept
from discreet.local.study import CandidateList, Partition, ProtocolResult, RoundGenerator, StudyGoal

CANDIDATES = 2
"""The number of candidates from the true top per wanted pattern. Larger: more noise for each; smaller: less
chance for a pattern near the end."""


@dataclass(frozen=True, kw_only=True)
class Reference(Protocol):
    """Estimate given patterns by one round of all people, with the settings of `adept` without liars.

    Parameters
    ----------
    itemsets
        The patterns, by item codes: the true top, from the raw data.
    near
        The support of the last wanted pattern, from the raw data.
    """

    itemsets: tuple[tuple[int, ...], ...]
    near: float

    name: ClassVar[str] = "reference"
    summary: ClassVar[str] = "one round of everybody about the true top, which nobody may know"
    citation: ClassVar[str] = "ours"
    proof: ClassVar[str] = "reference.md"
    public: ClassVar[tuple[str, ...]] = ("the items", "what is asked about, though it was taken from the raw data")

    def __post_init__(self) -> None:
        """Accept the patterns unchecked: users do not type them."""

    def check(self, parameters: StudyGoal) -> None:
        """Check the settings."""
        if not self.itemsets:
            raise MisuseError(f"{self.name} is told what to ask about, and nothing was told.")
        Adept().check(parameters)

    def ask_rounds(self, parameters: StudyGoal) -> RoundGenerator:
        """Yield the question, and return the patterns."""
        candidates, support_range = CandidateList(itemsets=self.itemsets), (self.near, self.near)
        adept = Adept(robust=False)
        answer = yield from adept.ask_round(
            candidates, Partition(), Fraction(1), parameters, support_range, "of the true top"
        )
        values = answer.evidence.values
        variance = answer.evidence.noise + (answer.evidence.relative + answer.doubt**2) * np.clip(values, 0.0, 1.0) ** 2
        order = np.argsort(-values, kind="stable")
        return ProtocolResult(
            itemsets=tuple(candidates[place] for place in order.tolist()),
            values=values[order],
            variance=variance[order],
            facts=answer.facts("of the true top"),
            notes=("It was told the true top: what that gives away is not counted.",),
        )
