"""What an account holds, what was spent of it and what it can still afford: the arithmetic of a ledger.

Two ways of accounting, for life: in *pure* accounting the epsilons of spends add up; in *zcdp* accounting their rhos
do, and their own deltas come off the account's delta. All amounts are exact fractions, rounded against whoever spends.
Files and data are the business of `ledger`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_FLOOR
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ...errors import BudgetError, MisuseError, told
from ...results.promise import rounded as rounded
from ...wording import Rendered
from ..budget import GRID, Budget, Neighbours, epsilon_for, exact, rho_for, shown
from .fingerprint import Fingerprint

if TYPE_CHECKING:
    from rich.text import Text

Accounting: TypeAlias = Literal["pure", "zcdp"]
Progress: TypeAlias = Literal["spent", "released"]

# A delta may be far smaller than the grid of epsilon and rho: its own is as fine as the longest number that is typed.
DELTA_GRID = Fraction(1, 10**60)

_MOST = 10**9  # no epsilon is larger: such a promise says nothing


@dataclass(frozen=True, kw_only=True)
class Spend:
    """One use of a budget, as it stands in the ledger.

    `changed` says that the data were not those of the spend before. It depends on the data: it is for the operator, and
    must not enter a release. `head` is the head of the ledger's chain right after the spend. It depends on this and on
    every entry before it, and on nothing private, so it may be shown to anyone.
    """

    number: int
    at: str
    who: str
    what: str
    parameters: Mapping[str, Any]
    epsilon: Fraction
    delta: Fraction
    rho: Fraction
    discovery_delta: Fraction
    changed: bool
    state: Progress
    release: str | None
    head: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that may be handed on, numbers as exact text: all but `changed`."""
        told = _plain(vars(self))
        del told["changed"]
        return dict(zip(self.columns(), told.values(), strict=True))

    @classmethod
    def columns(cls) -> list[str]:
        """Return the names that these values have in files: one of them has had another from the first."""
        names = [name for name in cls.__dataclass_fields__ if name != "changed"]
        return ["own_delta" if name == "discovery_delta" else name for name in names]


@dataclass(frozen=True, kw_only=True)
class State(Rendered):
    """Where an account stands.

    `spent` and `remaining` are epsilons in pure accounting and rhos in zCDP accounting. `epsilon_spent` is what all
    releases so far promise together, at the budget's delta, if none was chosen by what others had shown. What holds in
    any case is the budget. `epsilon_left` is the most that a release may still ask for, in zCDP accounting with a delta
    up to the budget's. `delta_left` is how much delta of their own releases may still bring.

    `unrecorded` counts the spends of which no release was recorded. `head` is the head of the chain. `anchor` is where
    the ledger says that the head is kept too: a path, ``"command:…"`` with the name of a program, or None.
    """

    name: str
    created: str
    accounting: Accounting
    neighbours: Neighbours
    budget: Budget
    most: Fraction | None
    spent: Fraction
    remaining: Fraction
    epsilon_spent: Fraction
    epsilon_left: Fraction
    delta_left: Fraction
    spends: int
    unrecorded: int
    head: str
    anchor: str | None

    @property
    def promise(self) -> str:
        """What was allowed, in words."""
        text = f"epsilon {rounded(self.budget.epsilon)}"
        if self.accounting == "zcdp":
            text += f" at delta {rounded(self.budget.delta)}"
        text += f", {self.neighbours.words}"
        return text if self.most is None else f"{text}, at most {rounded(self.most)} per release"

    def lines(self) -> list[str]:
        """Return what there is to say, a line each."""
        lines = [f"  budget     {self.promise}"]
        if self.accounting == "pure":
            lines.append(f"  spent      epsilon {rounded(self.spent)}")
            lines.append(f"  remaining  epsilon {rounded(self.remaining, ROUND_FLOOR)}")
        else:
            promised = f"epsilon {rounded(self.epsilon_spent)} at delta {rounded(self.budget.delta)}"
            lines.append(f"  spent      rho {rounded(self.spent)}: {promised}")
            lines.append(
                f"  remaining  rho {rounded(self.remaining, ROUND_FLOOR)}: a release may ask for epsilon "
                f"{rounded(self.epsilon_left, ROUND_FLOOR)}, and bring a delta of its own of "
                f"{rounded(self.delta_left, ROUND_FLOOR)}"
            )
        lines.append(f"  head       {self.head}")
        if self.anchor is not None:
            lines.append(f"  anchor     {self.anchor}")
        return lines if self.spends else [*lines, "  nothing was spent yet"]

    def __rich__(self) -> Text:
        from rich.text import Text

        return Text("\n".join([self.name or "ledger", *self.lines()]))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, numbers as exact text."""
        told = _plain(vars(self))
        return told | {"budget": _plain(vars(self.budget)), "neighbours": self.neighbours.value}


@dataclass(frozen=True, kw_only=True)
class Price:
    """What a release would cost, rounded against it."""

    epsilon: Fraction
    delta: Fraction
    rho: Fraction
    discovery_delta: Fraction
    neighbours: Neighbours

    @classmethod
    def of(
        cls, epsilon: Fraction, delta: Fraction, rho: Fraction, discovery_delta: Fraction, neighbours: Neighbours
    ) -> Price:
        """Return a cost that makes sense."""
        promised = sensible(Budget.of(epsilon, delta))
        asked = cls(
            epsilon=charged(promised.epsilon),
            delta=charged(promised.delta, DELTA_GRID),
            rho=charged(exact(rho, "rho")),
            discovery_delta=charged(exact(discovery_delta, "discovery_delta"), DELTA_GRID),
            neighbours=neighbours,
        )
        if asked.rho <= 0 or not 0 <= asked.discovery_delta <= asked.delta:
            raise MisuseError(
                "A release costs a rho over 0 and brings a discovery delta from 0 to its delta; "
                f"rho {shown(asked.rho)}, discovery delta {shown(asked.discovery_delta)} and delta "
                f"{shown(asked.delta)} were given."
            )
        return asked


@dataclass(frozen=True, kw_only=True)
class Account:
    """Whose budget it is, how large, and what is known about the data it belongs to."""

    name: str
    created: str
    accounting: Accounting
    neighbours: Neighbours
    budget: Budget
    most: Fraction | None
    key: bytes = field(repr=False)
    known: Fingerprint | None
    head: str
    anchor: str | None

    def check(self, spends: Sequence[Spend], asked: Price) -> None:
        """Raise unless one more release at this cost is of the right kind and within the budget."""
        if asked.neighbours is not self.neighbours:
            raise MisuseError(
                f"The ledger is kept for neighbours who {self.neighbours.words}, and this release promises "
                f"{asked.neighbours.words}; the two are never added up. Ask for a release that promises the former."
            )
        if self.accounting == "pure" and asked.delta:
            raise MisuseError(
                f"The ledger is kept in pure epsilon, and this release has a delta of {shown(asked.delta)}. Ask for "
                "one without delta."
            )
        if self.most is not None and asked.epsilon > self.most:
            raise MisuseError(
                told(
                    "{epsilon} is {given}, but the ledger allows at most {allowed} per release.",
                    given=rounded(asked.epsilon),
                    allowed=rounded(self.most),
                )
            )
        if self.accounting == "pure":
            self._check_epsilon(spends, asked)
        else:
            self._check_rho(spends, asked)

    def _check_epsilon(self, spends: Sequence[Spend], asked: Price) -> None:
        spent, _ = self._sums(spends)
        remaining = self.budget.epsilon - spent
        if asked.epsilon > remaining:
            advice = _advice(self._allowed(remaining), "")
            raise _refused("epsilon", asked.epsilon, spent, remaining, self.budget.epsilon, advice)

    def _check_rho(self, spends: Sequence[Spend], asked: Price) -> None:
        spent, own = self._sums(spends)
        kept = self._kept([*spends, asked])
        if own + asked.discovery_delta > kept:
            advice = "Ask for a smaller delta: half of the ledger's is for what releases bring of their own."
            if own == kept:
                advice = "Ask for a release that brings no delta of its own: say which items there are."
            raise _refused("delta", asked.discovery_delta, own, kept - own, kept, advice)
        delta = self.budget.delta - kept
        if epsilon_for(spent + asked.rho, delta) > self.budget.epsilon:
            whole = rho_for(self.budget.epsilon, delta)
            # The two functions may disagree by a step of their grid; what is refused is never said to remain.
            remaining = max(Fraction(0), min(whole - spent, asked.rho - GRID))
            advice = _advice(self._allowed(self._within(remaining)), " with a delta")
            kind = "Losses add up by zCDP here, as rho. "
            raise _refused("rho", asked.rho, spent, remaining, whole, kind + advice)

    def _kept(self, spends: Sequence[Spend | Price]) -> Fraction:
        """Return how much of delta is for what releases bring of their own; the rest turns rho into epsilon.

        Half of it, unless the very first spend needs all of delta for its rho. Decided before anything was released,
        and for life: where later spends could still choose, they could choose by what was released (`ledger.md`).
        """
        half = self.budget.delta / 2
        whole = spends and spends[0].discovery_delta == 0 and epsilon_for(spends[0].rho, half) > self.budget.epsilon
        return Fraction(0) if whole else half

    def _within(self, rho: Fraction) -> Fraction:
        """Return an epsilon that costs at most rho when it is asked for with a delta up to the account's."""
        return max(Fraction(0), epsilon_for(rho, self.budget.delta) - GRID)

    def state(self, spends: Sequence[Spend | Price]) -> State:
        """Return where the account stands after these spends."""
        spent, own = self._sums(spends)
        if self.accounting == "pure":
            remaining = epsilon_left = self.budget.epsilon - spent
            epsilon_spent = spent
            delta_left = Fraction(0)
        else:
            kept = self._kept(spends)
            delta = self.budget.delta - kept if spends else self.budget.delta
            remaining = max(Fraction(0), rho_for(self.budget.epsilon, delta) - spent)
            epsilon_left = self._within(remaining) if spends else self.budget.epsilon
            epsilon_spent = epsilon_for(spent, delta)
            delta_left = kept - own
        return State(
            name=self.name,
            created=self.created,
            accounting=self.accounting,
            neighbours=self.neighbours,
            budget=self.budget,
            most=self.most,
            spent=spent,
            remaining=remaining,
            epsilon_spent=epsilon_spent,
            epsilon_left=self._allowed(epsilon_left),
            delta_left=delta_left,
            spends=len(spends),
            unrecorded=sum(not (isinstance(spend, Spend) and spend.state == "released") for spend in spends),
            head=self.head,
            anchor=self.anchor,
        )

    def _sums(self, spends: Sequence[Spend | Price]) -> tuple[Fraction, Fraction]:
        """Return the loss of all spends, in the unit of the account, and their own deltas."""
        pure = self.accounting == "pure"
        loss = sum((spend.epsilon if pure else spend.rho for spend in spends), Fraction(0))
        return loss, sum((spend.discovery_delta for spend in spends), Fraction(0))

    def _allowed(self, epsilon: Fraction) -> Fraction:
        return epsilon if self.most is None else min(epsilon, self.most)


def charged(value: Fraction, grid: Fraction = GRID) -> Fraction:
    """Return what is charged for a loss: the loss itself, or the next multiple of the grid if it is longer than that.

    Short fractions are kept, so that three thirds of a budget are all of it.
    """
    return value if value.denominator <= grid.denominator else ceil(value / grid) * grid


def sensible(budget: Budget) -> Budget:
    """Return a budget whose epsilon is not absurd."""
    if budget.epsilon > _MOST:
        raise MisuseError(
            told("{epsilon} is over {largest:,}, which promises nothing; give one such as 0.5 or 1.", largest=_MOST)
        )
    return budget


def _refused(
    unit: Literal["epsilon", "rho", "delta"],
    requested: Fraction,
    spent: Fraction,
    remaining: Fraction,
    whole: Fraction,
    advice: str,
) -> BudgetError:
    return BudgetError(
        f"The budget does not allow it: {unit} {rounded(requested)} requested, {rounded(spent)} of {rounded(whole)} "
        f"spent, {rounded(remaining, ROUND_FLOOR)} remaining, {rounded(requested - remaining)} missing. {advice}",
        requested,
        spent,
        remaining,
        unit,
    )


def _advice(epsilon: Fraction, how: str) -> str:
    if epsilon:
        return f"Ask for epsilon {rounded(epsilon, ROUND_FLOOR)} or less{how}."
    return "Nothing more can be released from these data: a budget does not grow back."


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: str(value) if isinstance(value, Fraction) else value for name, value in values.items()}
