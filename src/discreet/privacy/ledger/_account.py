"""The arithmetic of a ledger: total, spent and remaining budget of an account.

Two ways of accounting, fixed for life. In *pure* accounting, the epsilons of spends add up. In *zcdp* accounting, the
rhos of spends add up, and the own deltas of spends reduce the delta of the account. All amounts are exact fractions,
rounded against the spender. Files and data are handled by `ledger`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_FLOOR
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ...errors import BudgetError, MisuseError
from ...results import rounded as rounded
from ...wording import RichDisplay
from .. import GRID, Budget, Neighbours, epsilon_for, exact, rho_for, shown
from ._fingerprint import Fingerprint

if TYPE_CHECKING:
    from rich.text import Text

Accounting: TypeAlias = Literal["pure", "zcdp"]
Progress: TypeAlias = Literal["spent", "released"]

# A delta may be far smaller than the grid of epsilon and rho: its grid is as fine as the longest accepted number.
DELTA_GRID = Fraction(1, 10**60)

# The parameter of a spend entered on behalf of another program.
ELSEWHERE = "elsewhere"

# Chosen: e^epsilon is beyond any meaning long before, and any limit above 20 keeps numbers short.
_MAX_EPSILON = 10**9


@dataclass(frozen=True, kw_only=True)
class Spend:
    """One spend, as recorded in the ledger.

    `changed` says whether the data differ from the data of the spend before. It depends on the data: it is for the
    operator, and must not enter a release. `head` is the head of the chain right after the spend. The head depends on
    this entry and all earlier entries, and on no private value, so that it may be published.
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

    @property
    def elsewhere(self) -> bool:
        """Whether another program spent the budget: :meth:`Ledger.spend_elsewhere` entered the spend."""
        return self.parameters == {ELSEWHERE: True}

    def to_dict(self) -> dict[str, Any]:
        """Return the public values, with numbers as exact text: all fields except `changed`."""
        values = _plain_values(vars(self))
        del values["changed"]
        return dict(zip(self.columns(), values.values(), strict=True))

    @classmethod
    def columns(cls) -> list[str]:
        """Return the names of the public values in files: `discovery_delta` is `own_delta` in every file."""
        names = [name for name in cls.__dataclass_fields__ if name != "changed"]
        return ["own_delta" if name == "discovery_delta" else name for name in names]


@dataclass(frozen=True, kw_only=True)
class State(RichDisplay):
    """The state of an account.

    `spent` and `remaining` are epsilons in pure accounting and rhos in zCDP accounting. `epsilon_spent` is the joint
    promise of all releases, at the budget's delta, if no release was chosen by the results of earlier releases. The
    budget holds in any case. `epsilon_left` is the largest epsilon of a further release, in zCDP accounting with a
    delta up to the budget's. `delta_left` is the remaining own delta of further releases.

    `unrecorded` counts the spends of discreet without a recorded release. `head` is the head of the chain. `anchor` is
    the place that keeps the head too, as the ledger remembers it: a path, ``"command:…"`` with the name of a program,
    or None.
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
        """The budget, in words."""
        text = f"epsilon {rounded(self.budget.epsilon)}"
        if self.accounting == "zcdp":
            text += f" at delta {rounded(self.budget.delta)}"
        text += f", {self.neighbours.words}"
        return text if self.most is None else f"{text}, at most {rounded(self.most)} per release"

    def lines(self) -> list[str]:
        """Return the state as lines of text."""
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
        """Return plain values, with numbers as exact text."""
        values = _plain_values(vars(self))
        return values | {"budget": _plain_values(vars(self.budget)), "neighbours": self.neighbours.value}


@dataclass(frozen=True, kw_only=True)
class Price:
    """The cost of a release, rounded against the release."""

    epsilon: Fraction
    delta: Fraction
    rho: Fraction
    discovery_delta: Fraction
    neighbours: Neighbours

    @classmethod
    def of(
        cls, epsilon: Fraction, delta: Fraction, rho: Fraction, discovery_delta: Fraction, neighbours: Neighbours
    ) -> Price:
        """Return the price of a release, after checking that the amounts are possible."""
        budget = check_epsilon(Budget.of(epsilon, delta))
        price = cls(
            epsilon=round_charge(budget.epsilon),
            delta=round_charge(budget.delta, DELTA_GRID),
            rho=round_charge(exact(rho, "rho")),
            discovery_delta=round_charge(exact(discovery_delta, "discovery_delta"), DELTA_GRID),
            neighbours=neighbours,
        )
        if price.rho <= 0 or not 0 <= price.discovery_delta <= price.delta:
            raise MisuseError(
                "A release costs a rho over 0 and brings a discovery delta from 0 to its delta; "
                f"rho {shown(price.rho)}, discovery delta {shown(price.discovery_delta)} and delta "
                f"{shown(price.delta)} were given."
            )
        return price


@dataclass(frozen=True, kw_only=True)
class Account:
    """The account of one data set: its name, budget and way of accounting, and the fingerprint of the data."""

    name: str
    created: str
    accounting: Accounting
    neighbours: Neighbours
    budget: Budget
    max_epsilon: Fraction | None
    key: bytes = field(repr=False)
    fingerprint: Fingerprint | None
    head: str
    anchor: str | None

    def check(self, spends: Sequence[Spend], price: Price, capped: bool = True) -> None:
        """Check that a further release at this price is of the right kind and within the budget; raise otherwise.

        `capped` says whether the cap per release applies too.
        """
        if price.neighbours is not self.neighbours:
            raise MisuseError(
                f"The ledger is kept for neighbours who {self.neighbours.words}, and this release promises "
                f"{price.neighbours.words}; the two are never added up. Ask for a release that promises the former."
            )
        if self.accounting == "pure" and price.delta:
            raise MisuseError(
                f"The ledger is kept in pure epsilon, and this release has a delta of {shown(price.delta)}. Ask for "
                "one without delta."
            )
        if capped and self.max_epsilon is not None and price.epsilon > self.max_epsilon:
            raise MisuseError.format(
                "{epsilon} is {given}, but the ledger allows at most {allowed} per release.",
                given=rounded(price.epsilon),
                allowed=rounded(self.max_epsilon),
            )
        if self.accounting == "pure":
            self._check_epsilon(spends, price)
        else:
            self._check_rho(spends, price)

    def _check_epsilon(self, spends: Sequence[Spend], price: Price) -> None:
        spent_epsilon, _ = self._sum_spends(spends)
        remaining = self.budget.epsilon - spent_epsilon
        if price.epsilon > remaining:
            advice = _advice(self._cap_epsilon(remaining), "")
            raise _budget_error("epsilon", price.epsilon, spent_epsilon, remaining, self.budget.epsilon, advice)

    def _check_rho(self, spends: Sequence[Spend], price: Price) -> None:
        spent_rho, own_deltas = self._sum_spends(spends)
        own_delta_limit = self._own_delta_limit([*spends, price])
        if own_deltas + price.discovery_delta > own_delta_limit:
            advice = "Ask for a smaller delta: half of the ledger's is for what releases bring of their own."
            if own_deltas == own_delta_limit:
                advice = "Ask for a release that brings no delta of its own: say which items there are."
            raise _budget_error(
                "delta", price.discovery_delta, own_deltas, own_delta_limit - own_deltas, own_delta_limit, advice
            )
        delta = self.budget.delta - own_delta_limit
        if epsilon_for(spent_rho + price.rho, delta) > self.budget.epsilon:
            total_rho = rho_for(self.budget.epsilon, delta)
            # `epsilon_for` and `rho_for` may disagree by a step of the grid: a refused amount must not seem to remain.
            remaining = max(Fraction(0), min(total_rho - spent_rho, price.rho - GRID))
            advice = _advice(self._cap_epsilon(self._affordable_epsilon(remaining)), " with a delta")
            kind = "Losses add up by zCDP here, as rho. "
            raise _budget_error("rho", price.rho, spent_rho, remaining, total_rho, kind + advice)

    def _own_delta_limit(self, spends: Sequence[Spend | Price]) -> Fraction:
        """Return the limit of the sum of own deltas; the remainder of delta converts rho into epsilon.

        The limit is delta / 2, or 0 if the first spend needs all of delta for its rho. It is fixed for life before any
        release: a later choice could depend on results of releases (`ledger.md`, "Why delta is divided beforehand").
        """
        half = self.budget.delta / 2
        needs_all_delta = (
            spends and spends[0].discovery_delta == 0 and epsilon_for(spends[0].rho, half) > self.budget.epsilon
        )
        return Fraction(0) if needs_all_delta else half

    def _affordable_epsilon(self, rho: Fraction) -> Fraction:
        """Return an epsilon that costs at most `rho` at any delta up to the account's delta."""
        return max(Fraction(0), epsilon_for(rho, self.budget.delta) - GRID)

    def state(self, spends: Sequence[Spend | Price]) -> State:
        """Return the state of the account after the given spends."""
        spent_amount, own_deltas = self._sum_spends(spends)
        if self.accounting == "pure":
            remaining = epsilon_left = self.budget.epsilon - spent_amount
            epsilon_spent = spent_amount
            delta_left = Fraction(0)
        else:
            own_delta_limit = self._own_delta_limit(spends)
            delta = self.budget.delta - own_delta_limit if spends else self.budget.delta
            remaining = max(Fraction(0), rho_for(self.budget.epsilon, delta) - spent_amount)
            epsilon_left = self._affordable_epsilon(remaining) if spends else self.budget.epsilon
            epsilon_spent = epsilon_for(spent_amount, delta)
            delta_left = own_delta_limit - own_deltas
        return State(
            name=self.name,
            created=self.created,
            accounting=self.accounting,
            neighbours=self.neighbours,
            budget=self.budget,
            most=self.max_epsilon,
            spent=spent_amount,
            remaining=remaining,
            epsilon_spent=epsilon_spent,
            epsilon_left=self._cap_epsilon(epsilon_left),
            delta_left=delta_left,
            spends=len(spends),
            unrecorded=sum(
                not (isinstance(spend, Spend) and (spend.state == "released" or spend.elsewhere)) for spend in spends
            ),
            head=self.head,
            anchor=self.anchor,
        )

    def _sum_spends(self, spends: Sequence[Spend | Price]) -> tuple[Fraction, Fraction]:
        """Return the loss of all spends, in the unit of the account, and the sum of their own deltas."""
        pure = self.accounting == "pure"
        loss = sum((spend.epsilon if pure else spend.rho for spend in spends), Fraction(0))
        return loss, sum((spend.discovery_delta for spend in spends), Fraction(0))

    def _cap_epsilon(self, epsilon: Fraction) -> Fraction:
        """Return an epsilon, lowered to the cap per release."""
        return epsilon if self.max_epsilon is None else min(epsilon, self.max_epsilon)


def round_charge(value: Fraction, grid: Fraction = GRID) -> Fraction:
    """Return a loss, rounded up to the next multiple of the grid if its denominator is larger than the grid's.

    Short fractions stay exact, so that three thirds of a budget are the whole budget.
    """
    return value if value.denominator <= grid.denominator else ceil(value / grid) * grid


def check_epsilon(budget: Budget) -> Budget:
    """Return a budget, after checking that its epsilon is not absurd."""
    if budget.epsilon > _MAX_EPSILON:
        raise MisuseError.format(
            "{epsilon} is over {largest:,}, which promises nothing; give one such as 0.5 or 1.", largest=_MAX_EPSILON
        )
    return budget


def _budget_error(
    unit: Literal["epsilon", "rho", "delta"],
    requested: Fraction,
    spent: Fraction,
    remaining: Fraction,
    total: Fraction,
    advice: str,
) -> BudgetError:
    return BudgetError(
        f"The budget does not allow it: {unit} {rounded(requested)} requested, {rounded(spent)} of {rounded(total)} "
        f"spent, {rounded(remaining, ROUND_FLOOR)} remaining, {rounded(requested - remaining)} missing. {advice}",
        requested,
        spent,
        remaining,
        unit,
    )


def _advice(epsilon: Fraction, suffix: str) -> str:
    if epsilon:
        return f"Ask for epsilon {rounded(epsilon, ROUND_FLOOR)} or less{suffix}."
    return "Nothing more can be released from these data: a budget does not grow back."


def _plain_values(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: str(value) if isinstance(value, Fraction) else value for name, value in values.items()}
