"""Paying from a ledger before anything is computed: what every door of the curator does first.

The price is all that a release may spend, whatever it will: it is known beforehand and does not depend on the data.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ..errors import DiscreetError, MisuseError, told
from ..privacy.budget import Budget, Neighbours, rho_for, shown
from ..privacy.ledger.account import Price

if TYPE_CHECKING:
    from os import PathLike

    from ..baskets.core import AnyBaskets
    from ..privacy.ledger.ledger import Ledger, Spend


@dataclass(frozen=True)
class Receipt:
    """What shows that a release was paid for; called with the digest of the release once there is one."""

    ledger: Ledger | None = None
    spend: Spend | None = None

    def __call__(self, digest: str) -> None:
        """Write the digest beside the spend."""
        if self.ledger is None or self.spend is None:
            return
        # The spend stands, and the ledger shows it without a release: a ledger that cannot be written any more is no
        # reason to lose what was paid for.
        with suppress(DiscreetError):
            self.ledger.record(self.spend, digest)

    def __str__(self) -> str:
        """Say which spend it is, for whoever has lost what was paid for."""
        if self.ledger is None or self.spend is None:
            return ""
        return (
            f"What was paid stays paid: spend {self.spend.number} of {self.ledger.path}, epsilon = "
            f"{shown(self.spend.epsilon)}."
        )


def price(budget: Budget, neighbours: Neighbours, discovery_delta: Fraction = Fraction(0)) -> Price:
    """Return what a budget takes from a ledger; `discovery_delta` is the part of delta for what nobody listed."""
    conversion = budget.delta - discovery_delta
    # Pure epsilon-DP is epsilon²/2-zCDP (Bun, Steinke 2016).
    rho = rho_for(budget.epsilon, conversion) if conversion else budget.epsilon**2 / 2
    return Price.of(budget.epsilon, budget.delta, rho, discovery_delta, neighbours)


def pay(
    ledger: str | PathLike[str] | Ledger | None,
    cost: Price,
    *,
    what: str,
    parameters: Mapping[str, Any],
    who: str,
    baskets: AnyBaskets | None,
    same_data: bool = False,
) -> Receipt:
    """Spend, and return the receipt. Without a ledger nothing is spent and nothing recorded."""
    if ledger is None:
        return Receipt()
    account = ledger_of(ledger)
    spend = account.spend(**vars(cost), what=what, parameters=parameters, who=who, baskets=baskets, same_data=same_data)
    return Receipt(account, spend)


def allowed(ledger: object, left: Fraction) -> str:
    """Say that a ledger could pay, and what it would have left."""
    return f"The ledger {ledger} allows it, and would have epsilon = {shown(left)} left."


def ledger_of(given: Any) -> Ledger:
    """Return the ledger that was given, as an object or by its path; whatever is asked of it opens the file."""
    from os import PathLike
    from pathlib import Path

    from ..privacy.ledger.ledger import Ledger

    if isinstance(given, Ledger):
        return given
    if not isinstance(given, str | PathLike):
        raise MisuseError(
            told(
                "{ledger} is the path of a ledger, such as 'budget.db', or what Ledger.open returns; {given!r} was "
                "given.",
                given=given,
            )
        )
    return Ledger(Path(given))
