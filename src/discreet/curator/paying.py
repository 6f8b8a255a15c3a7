"""Paying from a ledger before anything is computed: what every door of the curator does first.

The price is all that a release may spend, whatever it will: it is known beforehand and does not depend on the data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypedDict

from ..errors import DiscreetError
from ..privacy.budget import Budget, Neighbours
from ..privacy.meter import Meter
from ..privacy.source import SystemSource

if TYPE_CHECKING:
    from os import PathLike

    from ..baskets.core import Baskets
    from ..privacy.ledger import Ledger


class Price(TypedDict):
    """What a release takes from a ledger."""

    epsilon: Fraction
    delta: Fraction
    rho: Fraction
    own_delta: Fraction
    neighbours: Neighbours


def price(budget: Budget, neighbours: Neighbours, own_delta: Fraction = Fraction(0)) -> Price:
    """Return what a budget takes from a ledger; `own_delta` is the part of delta for finding what nobody listed."""
    meter = Meter(budget, neighbours, SystemSource(), finding=own_delta)
    return {
        "epsilon": budget.epsilon,
        "delta": budget.delta,
        "rho": meter.total**2 / 2 if meter.pure else meter.total,
        "own_delta": own_delta,
        "neighbours": neighbours,
    }


def pay(
    ledger: str | PathLike[str] | Ledger | None,
    cost: Price,
    *,
    what: str,
    parameters: Mapping[str, Any],
    who: str,
    baskets: Baskets | None,
    same_data: bool = False,
) -> Callable[[str], object]:
    """Spend, and return what is to be called with the digest of the release once there is one.

    Without a ledger nothing is spent and nothing recorded.
    """
    if ledger is None:
        return lambda digest: None
    from ..privacy.ledger import Ledger

    account = ledger if isinstance(ledger, Ledger) else Ledger.open(ledger)
    spend = account.spend(**cost, what=what, parameters=parameters, who=who, baskets=baskets, same_data=same_data)

    def record(digest: str) -> None:
        # The spend stands, and the ledger shows it without a release: a ledger that cannot be written any more is no
        # reason to lose what was paid for.
        with suppress(DiscreetError):
            account.record(spend, digest)

    return record
