"""The curator's one door: price, pay, run, record, for releases, counts, relations and rankings alike.

Checking comes before this module: a case is a question that was checked against the data, so that everything that can
fail has failed. `answer` is then the whole way to a result. The price is known before the data are asked anything; from
payment on, nothing but what a meter lets out may depend on the data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from ..checks import parse_switch
from ..errors import DiscreetError, MisuseError
from ..privacy import Budget, Meter, Neighbours, rho_for, shown
from ..privacy.ledger import Price
from ..privacy.sampling import Source, SystemSource

if TYPE_CHECKING:
    from os import PathLike

    from ..baskets import AnyBaskets, Item
    from ..privacy.ledger import Ledger, Spend

Steps: TypeAlias = list[tuple[str, Fraction]]
LedgerLike: TypeAlias = "str | PathLike[str] | Ledger | None"


class Payable(Protocol):
    """A question that was checked against one data set: all that the door has to know of it."""

    @property
    def budget(self) -> Budget:
        """The budget that the result may spend, all of which is paid."""

    @property
    def neighbours(self) -> Neighbours:
        """The neighbour relation of the promise."""

    @property
    def discovery_delta(self) -> Fraction:
        """The part of delta that is kept for items or patterns that no public list names."""

    @property
    def ledger_entry(self) -> tuple[str, Mapping[str, Any]]:
        """The name and the parameters under which a ledger records the spend: public values."""

    def steps(self) -> Steps:
        """Return the shares of the budget by the name of the step that spends them."""


class Digestible(Protocol):
    """A result that a ledger can record."""

    def digest(self) -> str:
        """Return a hash of everything that is released."""


PayableT = TypeVar("PayableT", bound=Payable)
ResultT = TypeVar("ResultT", bound=Digestible)


@dataclass(frozen=True)
class Payer:
    """The account that pays, and what it is told: a ledger or none, a name, and whether the data are the same."""

    ledger: LedgerLike = None
    who: str = ""
    same_data: bool = False


@dataclass(frozen=True)
class Observer:
    """Functions that are called on the way, with public values alone.

    Parameters
    ----------
    progress
        Called with the share of the planned budget that the steps before this one have.
    stage
        Called with the name of each step before the step is taken.
    paid
        Called with the receipt as soon as there is one: from then on the spend stands, whatever happens.
    """

    progress: Callable[[float], object] | None = None
    stage: Callable[[str], object] | None = None
    paid: Callable[[Receipt], object] | None = None


def answer(
    cases: Mapping[Item, PayableT],
    run: Callable[[PayableT, Meter], ResultT],
    *,
    baskets: AnyBaskets | None,
    payer: Payer | None = None,
    observer: Observer | None = None,
) -> dict[Item, ResultT]:
    """Return the result of each case, by segment: priced and paid for together, run one by one, then recorded.

    Parameters
    ----------
    cases
        The checked question, once per segment (or once, under the name ""). Nobody is in two segments, so that all of
        them together cost what one of them costs.
    run
        Makes the result of a case from what a meter lets out.
    baskets
        The data by which a ledger knows whether it pays for the same people; None where there are none.
    payer, observer
        The account that pays, and functions that are called on the way.
    """
    payer, observer = payer or Payer(), observer or Observer()
    if observer.progress is not None and not callable(observer.progress):
        raise MisuseError(
            f"progress is a function that takes a number from 0 to 1; {observer.progress!r:.80} was given."
        )
    case = next(iter(cases.values()))
    receipt = pay(price_of(case), entry_of(cases), payer, baskets)
    if observer.paid is not None:
        observer.paid(receipt)
    results: dict[Item, ResultT] = {}
    begin_step = _progress_of(case, len(cases), results, observer)
    try:
        for segment, one in cases.items():
            results[segment] = run(one, meter_for(one, SystemSource(), begin_step))
    except DiscreetError as error:
        # Whether a cluster does its work depends on the data too, so that nothing can be given back. An observer of the
        # receipt has it already.
        if observer.paid is not None or not str(receipt):
            raise
        raise type(error)(f"{error} {receipt}") from error
    if observer.progress is not None:
        observer.progress(1.0)
    receipt.record(result.digest() for result in results.values())
    return results


def price(budget: Budget, neighbours: Neighbours, discovery_delta: Fraction = Fraction(0)) -> Price:
    """Return the price of a whole budget, in the units of a ledger."""
    conversion = budget.delta - discovery_delta
    # Pure epsilon-DP is epsilon**2 / 2 - zCDP (Bun, Steinke 2016, proposition 1.4).
    rho = rho_for(budget.epsilon, conversion) if conversion else budget.epsilon**2 / 2
    return Price.of(budget.epsilon, budget.delta, rho, discovery_delta, neighbours)


def price_of(case: Payable) -> Price:
    """Return the price of a case: its whole budget, whatever the case will spend."""
    return price(case.budget, case.neighbours, case.discovery_delta)


def meter_for(case: Payable, source: Source, stage: Callable[[str], object] | None = None) -> Meter:
    """Return the meter of a case; with a seeded source whatever it lets out is marked as simulated."""
    return Meter(case.budget, case.neighbours, source, discovery_delta=case.discovery_delta, stage=stage)


def entry_of(cases: Mapping[Item, Payable]) -> tuple[str, dict[str, Any]]:
    """Return the name and parameters of the one spend that pays for all segments."""
    name, parameters = next(iter(cases.values())).ledger_entry
    entry = {key: dict(value) if isinstance(value, Mapping) else value for key, value in parameters.items()}
    asked = entry.get("asked")
    if asked is not None and asked.pop("segment", None) is not None:
        asked["segments"] = list(cases)
    return name, entry


def pay(cost: Price, entry: tuple[str, Mapping[str, Any]], payer: Payer, baskets: AnyBaskets | None) -> Receipt:
    """Spend, and return the receipt. Without a ledger nothing is spent and nothing recorded."""
    same_data = parse_switch("same_data", payer.same_data)
    if payer.ledger is None:
        return Receipt()
    account, (name, parameters) = ledger_of(payer.ledger), entry
    spend = account.spend(
        **vars(cost), what=name, parameters=parameters, who=payer.who, baskets=baskets, same_data=same_data
    )
    return Receipt(account, spend)


@dataclass(frozen=True)
class Receipt:
    """The evidence that a result was paid for, where a ledger paid."""

    ledger: Ledger | None = None
    spend: Spend | None = None

    def record(self, digests: Iterable[str]) -> None:
        """Write the digest of the results beside the spend."""
        if self.ledger is None or self.spend is None:
            return
        listed = list(digests)
        digest = listed[0] if len(listed) == 1 else sha256("".join(listed).encode()).hexdigest()
        # The spend stands, and the ledger shows it without a result: a ledger that cannot be written any more is no
        # reason to lose what was paid for.
        with suppress(DiscreetError):
            self.ledger.record(self.spend, digest)

    def __str__(self) -> str:
        """Return a sentence that names the spend; empty without a ledger."""
        if self.ledger is None or self.spend is None:
            return ""
        return (
            f"What was paid stays paid: spend {self.spend.number} of {self.ledger.path}, epsilon = "
            f"{shown(self.spend.epsilon)}."
        )


def epsilon_left(case: Payable, baskets: AnyBaskets | None, payer: Payer) -> Fraction:
    """Return the epsilon that the ledger would have left after a case; a budget it does not have is an error."""
    account = ledger_of(payer.ledger).check(**vars(price_of(case)), baskets=baskets, same_data=payer.same_data)
    return account.epsilon_left


def affordable(ledger: LedgerLike, left: Fraction) -> str:
    """Return the sentence that a ledger could pay, and what it would have left."""
    return f"The ledger {ledger} allows it, and would have epsilon = {shown(left)} left."


def ledger_of(given: Any) -> Ledger:
    """Return the ledger that was given, as an object or by its path; its first use opens the file."""
    from os import PathLike
    from pathlib import Path

    from ..privacy.ledger import Ledger

    if isinstance(given, Ledger):
        return given
    if not isinstance(given, str | PathLike):
        raise MisuseError.format(
            "{ledger} is the path of a ledger, such as 'budget.db', or what Ledger.open returns; {given!r} was given.",
            given=given,
        )
    return Ledger(Path(given))


def _progress_of(
    case: Payable, case_count: int, finished: Mapping[Item, object], observer: Observer
) -> Callable[[str], None]:
    """Return a function that passes the name of a step on, and the share of the plan that comes before the step."""
    # The place of a step in the plan is public; steps that the plan does not name leave the progress where it is.
    names, shares = zip(*case.steps(), strict=True)
    begins = dict(zip(names, accumulate(shares[:-1], initial=Fraction(0)), strict=True))

    def begin_step(name: str) -> None:
        if observer.progress is not None and name in begins:
            observer.progress((len(finished) + float(begins[name])) / case_count)
        if observer.stage is not None:
            observer.stage(name)

    return begin_step
