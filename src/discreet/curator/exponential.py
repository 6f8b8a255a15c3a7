"""Top-K by the exponential mechanism over truncated counts (Bhaskar et al. 2010, algorithms 1 and 3)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

from ..errors import MisuseError
from ..exact.engine import Engine
from ..privacy.budget import Budget
from ..privacy.meter import Meter
from .choosing import CITATION, check_settings, check_top, choose_and_count, plan, slack
from .mechanism import Answers, Asked, Found, Mechanism, Plan
from .universe import Universe

_WAYS = ("exponential", "gumbel", "permute-and-flip")


@dataclass(frozen=True, kw_only=True)
class Exponential(Mechanism):
    """Settings of `exponential`.

    Parameters
    ----------
    selecting
        The share of the budget that chooses the patterns; the rest counts them.
    doubt
        The probability with which the promise about the result may fail (the papers' rho).
    floor
        The public floor of counts as a fraction of gamma (E3): itemsets below it are not told apart.
    way
        ``"exponential"`` peels off one pattern after the other; ``"gumbel"`` is the same law in one shot;
        ``"permute-and-flip"`` never does worse in expectation for one pick.
    """

    selecting: Fraction = Fraction(1, 2)
    doubt: Fraction = Fraction(1, 10)
    floor: Fraction = Fraction(1, 20)
    way: Literal["exponential", "gumbel", "permute-and-flip"] = "exponential"

    name: ClassVar[str] = "exponential"
    summary: ClassVar[str] = (
        "Picks the patterns one after the other, the frequent ones exponentially likelier, and counts the picks with "
        "noise."
    )
    citation: ClassVar[str] = CITATION
    answers: ClassVar[tuple[Answers, ...]] = ("top",)

    def __post_init__(self) -> None:
        check_settings(self)
        if self.way not in _WAYS:
            raise MisuseError(f"way is {' or '.join(map(repr, _WAYS))}; {self.way!r} was given.")

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
        universe = Universe(asked.items, asked.least, asked.longest)
        rate = meter.rate(top, shares["choosing the patterns"], self.way)
        gamma = slack(self.way, top, universe.many, self.doubt, rate)
        return choose_and_count(self.way, self.doubt, self.floor, gamma, engine, asked, meter, shares)
