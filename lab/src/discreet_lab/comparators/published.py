"""LDPMiner as published, for comparison: its padding comes from the raw data, and each person answers twice.

It is not among the protocols with a public name because of its padding (A16). Its guarantee is computed as for any
protocol, and does not cover the padding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from discreet.errors import MisuseError
from discreet.local import Protocol
from discreet.local.device import WORD
from discreet.local.oracle_steps import make
from discreet.local.study import (
    Ask,
    CandidateEstimates,
    CandidateList,
    CandidateQuestion,
    Estimate,
    PeopleGroup,
    ProtocolResult,
    RoundGenerator,
    StudyGoal,
)


@dataclass(frozen=True, kw_only=True)
class PublishedLDPMiner(Protocol):
    """Find the most frequent items by two reports of each person, each with half of epsilon.

    Parameters
    ----------
    padding
        The 90th percentile of the number of items of a person: given in the paper, and known from the raw data only.
    candidates
        The number of candidates per wanted item.
    first_oracle, oracle
        The oracle that finds candidates, and the oracle that estimates them.
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

    def check(self, parameters: StudyGoal) -> None:
        """Check the settings."""
        if self.padding < 1 or self.candidates < 1:
            raise MisuseError("padding and candidates are 1 or more.")
        if parameters.least > 1:
            raise MisuseError(f"{self.name} finds single items.")
        for oracle in (self.first_oracle, self.oracle):
            make(oracle, parameters.epsilon / 2, 2)

    def ask_rounds(self, parameters: StudyGoal) -> RoundGenerator:
        """Yield the two questions, and return the items."""
        all_people, half_epsilon = PeopleGroup(0, WORD), parameters.epsilon / 2
        question = CandidateQuestion(CandidateList(items=parameters.items))
        first_estimate: Estimate = yield Ask.of(
            "which items", all_people, question, self.first_oracle, half_epsilon, pad=self.padding
        )
        first_evidence = CandidateEstimates(
            candidates=question.candidates,
            values=first_estimate.values,
            variance=first_estimate.variance,
            pad=self.padding,
            correction=1.0,
        )
        candidates = CandidateList(
            itemsets=tuple((place,) for place in sorted(first_evidence.select_best(self.candidates * parameters.top)))
        )
        second_estimate: Estimate = yield Ask.of(
            "which candidates",
            all_people,
            CandidateQuestion(candidates),
            self.oracle,
            half_epsilon,
            pad=len(candidates),
        )
        evidence = CandidateEstimates(
            candidates=candidates,
            values=second_estimate.values,
            variance=second_estimate.variance,
            pad=len(candidates),
            correction=1.0,
        )
        places = evidence.select_best(len(candidates))
        return ProtocolResult(
            itemsets=tuple(candidates[place] for place in places),
            values=evidence.values[places],
            variance=evidence.variance[places],
            notes=("The padding was taken from the raw data: what it gives away is not counted.",),
        )
