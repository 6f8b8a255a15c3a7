"""The curator's one door: check -> price -> pay -> run -> record, for releases, counts, relations and rankings alike.

The check comes before this module: a `CheckedQuestion` has passed every test on its data. `answer` is the path from
there to a result. The price is computed from public values; after payment only the values that a meter releases may
depend on the data.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeAlias, TypeVar

from ..checks import parse_switch
from ..errors import DiscreetError, MisuseError
from ..privacy import Budget, Meter, Neighbours, rho_for, shown
from ..privacy.ledger import Price
from ..privacy.sampling import Source, SystemSource

if TYPE_CHECKING:
    from os import PathLike

    from ..baskets import AnyBaskets, Item
    from ..privacy.ledger import Ledger, Spend
    from ._question import PrivacyQuestion

Steps: TypeAlias = list[tuple[str, Fraction]]
LedgerLike: TypeAlias = "str | PathLike[str] | Ledger | None"


class Digestible(Protocol):
    """A result that a ledger can record."""

    # A ledger keeps a digest: it identifies a result without repeating it.
    def digest(self) -> str:
        """Return a hash of all released values."""


ResultT = TypeVar("ResultT", bound=Digestible)


class CheckedQuestion(ABC, Generic[ResultT]):
    """A question that was checked against one data set: the door needs no more than this to price and to record it."""

    question: PrivacyQuestion

    @property
    def budget(self) -> Budget:
        """The budget that the result may spend, paid as a whole."""
        return self.question.budget

    @property
    def neighbours(self) -> Neighbours:
        """The neighbour relation of the promise."""
        return self.question.relation

    @property
    def discovery_delta(self) -> Fraction:
        """The part of delta that selects items or patterns outside a public list: 0 with a public list."""
        return Fraction(0)

    @property
    @abstractmethod
    def ledger_entry(self) -> tuple[str, Mapping[str, Any]]:
        """The name and the parameters, all public, under which a ledger records the spend."""

    @abstractmethod
    def steps(self) -> Steps:
        """Return the name of each step with its share of the budget, in order."""

    @abstractmethod
    def run(self, meter: Meter) -> ResultT:
        """Return the result from the values that a meter releases."""


MeterT = TypeVar("MeterT", bound=Meter)


@dataclass(frozen=True)
class Payer:
    """The account that pays: a ledger or None, the user's name, and a claim that the data are the ledger's data."""

    ledger: LedgerLike = None
    who: str = ""
    same_data: bool = False


@dataclass(frozen=True)
class Observer:
    """Functions that are called during a release, with public values alone.

    Parameters
    ----------
    progress
        Called before each step with the planned share of the budget of all earlier steps, from 0 to 1.
    stage
        Called with the name of each step before the step is taken.
    receipt
        Called with the receipt right after payment. The spend stands from then on, even if the run fails.
    """

    progress: Callable[[float], object] | None = None
    stage: Callable[[str], object] | None = None
    receipt: Callable[[Receipt], object] | None = None


def answer(
    baskets: AnyBaskets | None,
    cases: Mapping[Item, CheckedQuestion[ResultT]],
    *,
    payer: Payer | None = None,
    observer: Observer | None = None,
) -> dict[Item, ResultT]:
    """Return the result of each case, by segment: all cases are paid for together, run in turn, then recorded.

    Parameters
    ----------
    baskets
        The data, by which a ledger recognises its data set; None where no baskets exist.
    cases
        The checked question once per segment, or once under the name "". Segments are disjoint sets of people, so
        by parallel composition the price of all cases together is the price of one.
    payer, observer
        The account that pays, and functions that are called on the way.
    """
    # Check. The cases were checked when they were built; a bad callback must not fail after payment either.
    payer, observer = payer or Payer(), observer or Observer()
    if observer.progress is not None and not callable(observer.progress):
        raise MisuseError(
            f"progress is a function that takes a number from 0 to 1; {observer.progress!r:.80} was given."
        )
    # Price: the whole budget, not the part that the case will spend, so that the price is public.
    case = next(iter(cases.values()))
    price = price_budget(case.budget, case.neighbours, case.discovery_delta)
    # Pay. From this line on, only metered values may depend on the data.
    # After every check, so that no error that the user could avoid costs budget.
    receipt = pay(price, build_ledger_entry(cases), payer, baskets)
    if observer.receipt is not None:
        observer.receipt(receipt)
    # Run.
    results: dict[Item, ResultT] = {}
    begin_step = _build_step_callback(case, len(cases), results, observer)
    try:
        for segment, segment_case in cases.items():
            results[segment] = segment_case.run(build_meter(segment_case, SystemSource(), begin_step))
    except DiscreetError as error:
        # A failure of a cluster may depend on the data, so nothing is refunded. An observer of the receipt has the
        # receipt already; without one the error carries it.
        if observer.receipt is not None or not str(receipt):
            raise
        raise type(error)(f"{error} {receipt}") from error
    if observer.progress is not None:
        observer.progress(1.0)
    # Record.
    receipt.record(result.digest() for result in results.values())
    return results


def price_budget(budget: Budget, neighbours: Neighbours, discovery_delta: Fraction = Fraction(0)) -> Price:
    """Return the price of a whole budget, in the units of a ledger."""
    conversion = budget.delta - discovery_delta
    # Pure epsilon-DP is epsilon**2 / 2 - zCDP (Bun, Steinke 2016, proposition 1.4).
    rho = rho_for(budget.epsilon, conversion) if conversion else budget.epsilon**2 / 2
    return Price.of(budget.epsilon, budget.delta, rho, discovery_delta, neighbours)


def build_meter(
    case: CheckedQuestion[Any],
    source: Source,
    stage: Callable[[str], object] | None = None,
    kind: type[MeterT] = Meter,  # type: ignore[assignment]
) -> MeterT:
    """Return the meter of a case; with a seeded source it marks every result as simulated. The audit has own kinds."""
    return kind(case.budget, case.neighbours, source, discovery_delta=case.discovery_delta, stage=stage)


def build_ledger_entry(cases: Mapping[Item, CheckedQuestion[Any]]) -> tuple[str, dict[str, Any]]:
    """Return the name and the parameters of the spend that pays for all segments."""
    name, parameters = next(iter(cases.values())).ledger_entry
    # A copy: the record of a case is frozen in its result.
    entry = {key: dict(value) if isinstance(value, Mapping) else value for key, value in parameters.items()}
    question = entry.get("asked")
    # One spend for all segments, so the record names them together.
    if question is not None and question.pop("segment", None) is not None:
        question["segments"] = list(cases)
    return name, entry


def pay(price: Price, entry: tuple[str, Mapping[str, Any]], payer: Payer, baskets: AnyBaskets | None) -> Receipt:
    """Spend the price and return the receipt; without a ledger nothing is spent and the receipt is empty."""
    same_data = parse_switch("same_data", payer.same_data)
    # Without a ledger the release has its guarantee, and no account adds it up with further releases.
    if payer.ledger is None:
        return Receipt()
    account, (name, parameters) = open_ledger(payer.ledger), entry
    spend = account.spend(
        **vars(price), what=name, parameters=parameters, who=payer.who, baskets=baskets, same_data=same_data
    )
    return Receipt(account, spend)


@dataclass(frozen=True)
class Receipt:
    """The evidence that a result was paid for; empty where no ledger paid."""

    ledger: Ledger | None = None
    spend: Spend | None = None

    def record(self, digests: Iterable[str]) -> None:
        """Write the digest of the results beside the spend."""
        if self.ledger is None or self.spend is None:
            return
        # Releases of several segments are one spend, and so have one digest.
        digest, *later_digests = digests
        if later_digests:
            digest = sha256("".join((digest, *later_digests)).encode()).hexdigest()
        # The spend stands, and the ledger shows it without a result. A ledger that cannot be written any more is no
        # reason to lose a result that was paid for.
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


def compute_remaining_epsilon(case: CheckedQuestion[Any], baskets: AnyBaskets | None, payer: Payer) -> Fraction:
    """Return the epsilon that remains in the ledger after a case; a budget beyond the ledger's is an error."""
    price = price_budget(case.budget, case.neighbours, case.discovery_delta)
    account = open_ledger(payer.ledger).check(**vars(price), baskets=baskets, same_data=payer.same_data)
    return account.epsilon_left


def render_affordability(ledger: LedgerLike, remaining_epsilon: Fraction) -> str:
    """Return the sentence that a ledger can pay for a case, and the epsilon that remains after it."""
    return f"The ledger {ledger} allows it, and would have epsilon = {shown(remaining_epsilon)} left."


def open_ledger(ledger: Any) -> Ledger:
    """Return a ledger that is given as an object or by its path; its first use opens the file."""
    from os import PathLike
    from pathlib import Path

    from ..privacy.ledger import Ledger

    if isinstance(ledger, Ledger):
        return ledger
    if not isinstance(ledger, str | PathLike):
        raise MisuseError.format(
            "{ledger} is the path of a ledger, such as 'budget.db', or what Ledger.open returns; {given!r} was given.",
            given=ledger,
        )
    # Opened by its first use: a path that is no ledger fails at payment, before any noise is drawn.
    return Ledger(Path(ledger))


def _build_step_callback(
    case: CheckedQuestion[Any], case_count: int, results: Mapping[Item, object], observer: Observer
) -> Callable[[str], None]:
    """Return a function of a step's name that calls the observer's `progress` and `stage`.

    Progress is (finished cases + planned share of the steps before this one) / cases: the plan is public, so the figure
    is too. A step that the plan does not name leaves the progress unchanged.
    """
    # The plan is asked once, as all segments have one plan.
    names, shares = zip(*case.steps(), strict=True)
    share_before = dict(zip(names, accumulate(shares[:-1], initial=Fraction(0)), strict=True))

    def begin_step(name: str) -> None:
        if observer.progress is not None and name in share_before:
            observer.progress((len(results) + float(share_before[name])) / case_count)
        if observer.stage is not None:
            observer.stage(name)

    return begin_step
