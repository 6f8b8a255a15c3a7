"""Asking and paying: the public functions of the curator's side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Required, TypeAlias, TypedDict, Unpack, overload

from numpy.typing import NDArray

from ..baskets.core import Baskets, Item
from ..curator.mechanism import Mechanism
from ..curator.paying import Price, pay, price
from ..curator.release import Release
from ..exact.checks import several
from ..privacy.budget import shown
from ..privacy.source import SystemSource
from .job import Job, Relation
from .making import carry_out
from .question import everyone, prepare

if TYPE_CHECKING:
    from os import PathLike

    from ..privacy.ledger import Ledger

Progress: TypeAlias = Callable[[float], object]

_MANY = 10**6


class Question(TypedDict, total=False):
    """The keywords of :func:`release` but for `by`, for type checkers: with `by` there is a release a segment."""

    top: int | None
    min_support: Any
    min_count: int | None
    epsilon: Required[Any]
    delta: Any
    items: Any
    people: int | None
    mechanism: str | Mechanism
    settings: Mapping[str, Any] | None
    lengths: Any
    contains: Item | Iterable[Item]
    excludes: Item | Iterable[Item]
    counts: bool
    neighbours: Relation
    segments: Iterable[Item] | None
    ledger: str | PathLike[str] | Ledger | None
    who: str
    same_data: bool
    progress: Progress | None


@overload
def release(baskets: Baskets | Any, *, by: None = None, **question: Unpack[Question]) -> Release: ...
@overload
def release(
    baskets: Baskets | Any, *, by: Sequence[Item] | NDArray[Any], **question: Unpack[Question]
) -> dict[Item, Release]: ...
def release(
    baskets: Baskets | Any,
    *,
    top: int | None = None,
    min_support: Any = None,
    min_count: int | None = None,
    epsilon: Any,
    delta: Any = 0,
    items: Any = None,
    people: int | None = None,
    mechanism: str | Mechanism = "auto",
    settings: Mapping[str, Any] | None = None,
    lengths: Any = None,
    contains: Item | Iterable[Item] = (),
    excludes: Item | Iterable[Item] = (),
    counts: bool = True,
    neighbours: Relation = "add-remove",
    by: Sequence[Item] | NDArray[Any] | None = None,
    segments: Iterable[Item] | None = None,
    ledger: str | PathLike[str] | Ledger | None = None,
    who: str = "",
    same_data: bool = False,
    progress: Progress | None = None,
) -> Release | dict[Item, Release]:
    """Publish what people hold together, under central differential privacy.

    Privacy: the unit is the person; the result is (epsilon, delta)-differentially private under adding or removing one
    person, or replacing one. See :doc:`/release`.

    Parameters
    ----------
    baskets
        What :func:`discreet.read` returns, or anything it accepts. One row is one person.
    top, min_support, min_count
        Which patterns: how many, or from which fraction or number of people on. Exactly one of them.
    epsilon, delta
        The budget this release may spend, as exact numbers: ``1``, ``"0.3"``. With a delta over 0 the budget is kept
        by zCDP and buys less noise.
    items
        The public list of items: a file with one a line, a list, or a number N for 0 to N - 1; ``"public"`` declares
        the items found in the data to be public. Without it they are found privately, which needs a delta.
    people
        The number of people, where it is public; otherwise it is counted with noise.
    mechanism, settings
        A name of :func:`discreet.mechanisms`, and its settings by name.
    lengths
        How many items a pattern has: a number, or the least and the most.
    contains, excludes
        Items every pattern must have, and items no pattern may have.
    counts
        False for the patterns alone: all that is left after counting the people then goes into choosing them.
    neighbours
        ``"add-remove"``: the number of people is private. ``"replace"``: it is public, and noise doubles.
    by, segments
        A segment for each person, such as a region: one release a segment, for the price of one, as nobody is in
        two. `segments` lists them; without it those found in the data are declared public.
    ledger
        The account that pays: a path or an open ledger. It is written before anything is computed.
    who
        Who asks, for the ledger.
    same_data
        Asserts that the data are those of the ledger although they look different.
    progress
        Called with the share of the stages that are done.

    Returns
    -------
    Release
        Or, with `by`, a dictionary from segment to release.

    Examples
    --------
    >>> import discreet
    >>> baskets = [{"tea", "milk"}] * 600 + [{"bread"}] * 300
    >>> release = discreet.release(baskets, top=3, epsilon=1, items=["bread", "milk", "tea"])
    >>> len(release.patterns), release.guarantee.epsilon
    (3, Fraction(1, 1))
    """
    held = everyone(baskets)  # once: what is compared with the ledger is what is released
    jobs = prepare(
        held,
        top=top,
        min_support=min_support,
        min_count=min_count,
        epsilon=epsilon,
        delta=delta,
        items=items,
        people=people,
        mechanism=mechanism,
        settings=settings,
        lengths=lengths,
        contains=contains,
        excludes=excludes,
        counts=counts,
        neighbours=neighbours,
        by=by,
        segments=segments,
    )
    done = _pay_and_run(held, jobs, ledger, who, same_data, progress)
    return done if by is not None else next(iter(done.values()))


def count(
    baskets: Baskets | Any,
    itemsets: Iterable[Iterable[Item]],
    *,
    epsilon: Any,
    delta: Any = 0,
    items: Any = None,
    people: int | None = None,
    neighbours: Relation = "add-remove",
    ledger: str | PathLike[str] | Ledger | None = None,
    who: str = "",
    same_data: bool = False,
) -> Release:
    """Count given itemsets, each with noise.

    Privacy: as :func:`discreet.release`. The itemsets are public, as you typed them; the noise grows with their number.

    Examples
    --------
    >>> import discreet
    >>> counted = discreet.count([{"tea", "milk"}] * 500, [{"tea", "milk"}, {"tea"}], epsilon=1)
    >>> len(counted.patterns)
    2
    """
    wanted = [several(itemset, "itemsets") for itemset in itemsets]
    named = {item for itemset in wanted for item in itemset}
    held = everyone(baskets)
    jobs = prepare(
        held,
        itemsets=wanted,
        epsilon=epsilon,
        delta=delta,
        items=named if items is None else items,
        people=people,
        mechanism="count",
        neighbours=neighbours,
    )
    return next(iter(_pay_and_run(held, jobs, ledger, who, same_data, None).values()))


def quote(jobs: Mapping[Item, Job]) -> list[tuple[str, Fraction]]:
    """Return what a release would spend its budget on, as shares by name; segments cost as much as one of them."""
    job = next(iter(jobs.values()))
    steps = job.plan()
    rest = 1 - sum((share for _, share in steps), Fraction(0))
    # How many items will be found is not known before, and how many the data have must not show: say many.
    asked = job.asked(_MANY if job.finding else max(len(job.allowed), 1), job.people or 1)
    return [*steps, *((what, rest * share) for what, share in job.mechanism.plan(asked))]


def affordable(job: Job, baskets: Baskets, ledger: str | PathLike[str], same_data: bool = False) -> str:
    """Say what a ledger would have left after a job; a budget it does not have is an error, as it would be then."""
    from ..privacy.ledger import Ledger

    left = Ledger.open(ledger).check(**_price(job), baskets=baskets, same_data=same_data)
    return f"The ledger {ledger} allows it, and would have epsilon = {shown(left.epsilon_left)} left."


def _price(job: Job) -> Price:
    return price(job.budget, job.neighbours, job.own_delta)


def _pay_and_run(
    baskets: Baskets, jobs: dict[Item, Job], ledger: Any, who: str, same_data: bool, progress: Progress | None
) -> dict[Item, Release]:
    """Spend first, then compute, then record what came of it."""
    job = next(iter(jobs.values()))
    record = pay(
        ledger,
        _price(job),
        what=job.mechanism.name,
        parameters={"asked": dict(job.words), "settings": dict(job.settings)},
        who=who,
        baskets=baskets,
        same_data=same_data,
    )
    source = SystemSource()
    done = {}
    for place, (name, one) in enumerate(jobs.items()):
        done[name] = carry_out(one, source)
        if progress is not None:
            progress((place + 1) / len(jobs))
    if ledger is not None:
        digests = [release.digest() for release in done.values()]
        record(digests[0] if len(digests) == 1 else sha256("".join(digests).encode()).hexdigest())
    return done
