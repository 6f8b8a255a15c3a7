"""LDPMiner as it was published, for comparison: not private in its padding, and every person is asked twice.

It is kept here, apart from the protocols that can be asked for by name, because its padding is taken from the raw
data (A16). What it promises is computed as for any protocol; it does not cover the padding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from discreet.errors import MisuseError
from discreet.local import Protocol
from discreet.local.device import WORD
from discreet.local.oracle_steps import make
from discreet.local.study import Ask, CandidateEstimates, CandidateList, Estimate, Learnt, Talk, Wanted, Which, Who


@dataclass(frozen=True, kw_only=True)
class PublishedLDPMiner(Protocol):
    """Find the most frequent items by two reports of everybody, each with half of epsilon.

    Parameters
    ----------
    padding
        What nine in ten people hold at most: a number that the paper takes for given, and that only the raw data have.
    candidates
        How many candidates are kept for every item wanted.
    first_oracle, oracle
        How candidates are found, and how they are estimated.
    """

    padding: int
    candidates: int = 2
    first_oracle: str = "blh"
    oracle: str = "sue"

    name: ClassVar[str] = "ldpminer-published"
    summary: ClassVar[str] = "the most frequent items by two reports per person, with a padding from the raw data"
    citation: ClassVar[str] = "Qin, Yang, Yu, Khalil, Xiao, Ren 2016"
    proof: ClassVar[str] = "ldpminer-published.md"
    reports: ClassVar[int] = 2
    public: ClassVar[tuple[str, ...]] = ("the items", "the padding, though it was taken from the raw data")

    def check(self, wanted: Wanted) -> None:
        """Refuse settings that do not add up."""
        if self.padding < 1 or self.candidates < 1:
            raise MisuseError("padding and candidates are 1 or more.")
        if wanted.least > 1:
            raise MisuseError(f"{self.name} finds single items.")
        for oracle in (self.first_oracle, self.oracle):
            make(oracle, wanted.epsilon / 2, 2)

    def talk(self, wanted: Wanted) -> Talk:
        """Lead the conversation."""
        everyone, half = Who(0, WORD), wanted.epsilon / 2
        question = Which(CandidateList(items=wanted.items))
        first: Estimate = yield Ask.of("which items", everyone, question, self.first_oracle, half, pad=self.padding)
        seen = CandidateEstimates(
            candidates=question.of, values=first.values, variance=first.variance, pad=self.padding, correction=1.0
        )
        kept = CandidateList(
            itemsets=tuple((place,) for place in sorted(seen.select_best(self.candidates * wanted.top)))
        )
        answer: Estimate = yield Ask.of("which candidates", everyone, Which(kept), self.oracle, half, pad=len(kept))
        found = CandidateEstimates(
            candidates=kept, values=answer.values, variance=answer.variance, pad=len(kept), correction=1.0
        )
        places = found.select_best(len(kept))
        return Learnt(
            itemsets=tuple(kept[place] for place in places),
            values=found.values[places],
            variance=found.variance[places],
            notes=("The padding was taken from the raw data: what it gives away is not counted.",),
        )
