"""Top-K by Laplace noise on truncated counts (Bhaskar et al. 2010, algorithms 2 and 4)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from ..exact.engine import Engine
from ..privacy.budget import Budget
from ..privacy.meter import Meter
from .choosing import CITATION, check_settings, check_top, choose_and_count, plan, slack
from .mechanism import Answers, Asked, Found, Mechanism, Plan
from .universe import Universe


@dataclass(frozen=True, kw_only=True)
class Laplace(Mechanism):
    """Settings of `laplace`: as those of `exponential`."""

    selecting: Fraction = Fraction(1, 2)
    doubt: Fraction = Fraction(1, 10)
    floor: Fraction = Fraction(1, 20)

    name: ClassVar[str] = "laplace"
    summary: ClassVar[str] = (
        "Adds noise to the count of every itemset there could be, takes the largest, and counts those anew with noise."
    )
    citation: ClassVar[str] = CITATION
    answers: ClassVar[tuple[Answers, ...]] = ("top",)

    def __post_init__(self) -> None:
        check_settings(self)

    def check(self, asked: Asked, budget: Budget) -> None:
        """Refuse a question that has fewer answers than are asked for."""
        super().check(asked, budget)
        check_top(asked)

    def plan(self, asked: Asked) -> Plan:
        """Choose with one share, count with the other."""
        return plan(self.selecting, asked)

    def run(self, engine: Engine, asked: Asked, meter: Meter) -> Found:
        """Choose among truncated counts, then count the picks."""
        shares = dict(self.plan(asked))
        top = asked.top or 0
        many = Universe(asked.items, asked.least, asked.longest).many
        rate = meter.rate(top, shares["choosing the patterns"], "laplace")
        gamma = slack("laplace", top, many, self.doubt, rate)
        return choose_and_count("laplace", self.doubt, self.floor, gamma, engine, asked, meter, shares)
