"""Asking and paying: the public functions of the curator's side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from hashlib import sha256
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal, Unpack

from numpy.typing import NDArray

from ..baskets.core import AnyBaskets, Baskets, Item
from ..checks import several, switch
from ..curator.mechanism import Mechanism
from ..errors import DiscreetError, MisuseError, told
from ..privacy.budget import Relation
from ..privacy.ledger.account import Price
from ..privacy.sampling.sources import SystemSource
from ..wording import hinted
from .job import MANY_ITEMS, Job
from .keywords import CountOptions, Progress, ReleaseOptions, parted
from .payment import Receipt, allowed, ledger_of, pay, price
from .question import everyone, prepare
from .result import Release
from .run import carry_out

if TYPE_CHECKING:
    from os import PathLike

    from ..privacy.ledger.ledger import Ledger


@hinted
def release(
    baskets: Baskets | Any,
    *,
    person: str | None = None,
    item: str | None = None,
    basket: str | None = None,
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
    max_baskets: int | None = None,
    hierarchy: Any = None,
    level: int | str | None = None,
    really: bool = False,
    ledger: str | PathLike[str] | Ledger | None = None,
    who: str = "",
    same_data: bool = False,
    progress: Progress | None = None,
) -> Release:
    """Publish what people hold together, under central differential privacy.

    Privacy: the unit is the person; the result is (epsilon, delta)-differentially private under adding or removing one
    person, or replacing one. See :doc:`/release`.

    Parameters
    ----------
    baskets
        What :func:`discreet.read` returns, or anything it accepts. One row is one person, unless it was read with
        ``basket=``.
    person, item, basket
        The columns of a table with one row per item, as for :func:`discreet.read`. With `basket` a person may have
        several baskets: counts are of these, and the unit of privacy is the person all the same.
    top, min_support, min_count
        Which patterns: how many, or from which fraction or number of people on. Exactly one of them.
    epsilon, delta
        The budget this release may spend, as exact numbers: ``1``, ``"0.3"``. With a delta over 0 the budget is kept
        by zCDP and buys less noise.
    items
        The public list of items: a file with one per line, a list, or a number N for 0 to N - 1. ``"public"`` declares
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
        ``"add-remove"``: the number of people is private. ``"replace"``: it is public, and noise is up
        to twice as large, but for counts of patterns in whole baskets.
    max_baskets
        Where a person may have several baskets, how many of each take part, drawn at random: a public number. Without
        it a small share of the budget chooses one. See :doc:`/receipts`.
    hierarchy, level
        Which items stand above others, as for :func:`discreet.mine`: public. Its items are the list of items where no
        other is given. See :doc:`/hierarchies`.
    really
        Allows an epsilon over 20, or a delta over 0.001 or over one in `people`, which otherwise count as slips.
    ledger
        The account that pays: a path or an open ledger. It is written before anything is computed.
    who
        Who asks, for the ledger.
    same_data
        Asserts that the data are those of the ledger although they look different.
    progress
        Called at each step with the share of the budget that was planned for the steps before it: a public number.

    Examples
    --------
    >>> import discreet
    >>> baskets = [{"tea", "milk"}] * 600 + [{"bread"}] * 300
    >>> release = discreet.release(baskets, top=3, epsilon=1, items=["bread", "milk", "tea"])
    >>> len(release.patterns), release.guarantee.epsilon
    (3, Fraction(1, 1))
    """
    # Once: what is compared with the ledger is what is released.
    held = everyone(baskets, person=person, item=item, basket=basket)
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
        max_baskets=max_baskets,
        hierarchy=hierarchy,
        level=level,
        really=really,
    )
    done = answer(held, jobs, ledger=ledger, who=who, same_data=same_data, progress=progress)
    return next(iter(done.values()))


def release_by(
    baskets: Baskets | Any,
    by: str | Sequence[Item] | NDArray[Any],
    *,
    segments: Iterable[Item] | Literal["public"] | None = None,
    **question: Unpack[ReleaseOptions],
) -> dict[Item, Release]:
    """Publish what people hold together, one release per segment, for the price of one.

    Privacy: as :func:`discreet.release`. A person is in one segment, so the releases together cost what one costs.

    Parameters
    ----------
    baskets
        What :func:`discreet.read` returns, or anything it accepts. One row is one person, unless it was read with
        ``basket=``.
    by
        A segment for each person, such as a region: a list, or the column that :func:`discreet.read` was told to keep
        by ``by=``.
    segments
        The public list of segments, also those nobody is in. ``"public"`` declares those found in the data to be
        public.
    question
        Everything else as for :func:`discreet.release`.

    Examples
    --------
    >>> import discreet
    >>> baskets, regions = [{"tea"}] * 600 + [{"bread"}] * 300, ["north"] * 600 + ["south"] * 300
    >>> asked = {"top": 1, "epsilon": 1, "items": ["bread", "tea"]}
    >>> made = discreet.release_by(baskets, regions, segments=["north", "south"], **asked)
    >>> list(made)
    ['north', 'south']
    """
    reading, paying, asked = parted("release_by", question, ReleaseOptions)
    held = everyone(baskets, by=by, **reading)
    return answer(held, prepare(held, by=by, segments=segments, **asked), **paying)


@hinted
def count(
    baskets: Baskets | Any,
    itemsets: Iterable[Iterable[Item]],
    *,
    person: str | None = None,
    item: str | None = None,
    basket: str | None = None,
    epsilon: Any,
    delta: Any = 0,
    items: Any = None,
    people: int | None = None,
    neighbours: Relation = "add-remove",
    max_baskets: int | None = None,
    hierarchy: Any = None,
    level: int | str | None = None,
    really: bool = False,
    ledger: str | PathLike[str] | Ledger | None = None,
    who: str = "",
    same_data: bool = False,
) -> Release:
    """Count given itemsets, each with noise.

    Privacy: as :func:`discreet.release`. The itemsets are public, as you typed them; the noise grows with their number.

    Parameters
    ----------
    baskets
        What :func:`discreet.read` returns, or anything it accepts. One row is one person, unless it was read with
        ``basket=``.
    person, item, basket
        The columns of a table with one row per item, as for :func:`discreet.read`. With `basket` a person may have
        several baskets: counts are of these, and the unit of privacy is the person all the same.
    itemsets
        A list of itemsets: ``[{"tea", "milk"}, {"bread"}]``.
    epsilon, delta, items, people, neighbours, max_baskets, hierarchy, level, really, ledger, who, same_data
        As for :func:`discreet.release`; without `items`, those of the itemsets are the list.

    Examples
    --------
    >>> import discreet
    >>> counted = discreet.count([{"tea", "milk"}] * 500, [{"tea", "milk"}, {"tea"}], epsilon=1)
    >>> len(counted.patterns)
    2
    """
    held = everyone(baskets, person=person, item=item, basket=basket)
    jobs = prepare_count(
        held,
        itemsets,
        epsilon=epsilon,
        delta=delta,
        items=items,
        people=people,
        neighbours=neighbours,
        max_baskets=max_baskets,
        hierarchy=hierarchy,
        level=level,
        really=really,
    )
    done = answer(held, jobs, ledger=ledger, who=who, same_data=same_data)
    return next(iter(done.values()))


def count_by(
    baskets: Baskets | Any,
    itemsets: Iterable[Iterable[Item]],
    by: str | Sequence[Item] | NDArray[Any],
    *,
    segments: Iterable[Item] | Literal["public"] | None = None,
    **question: Unpack[CountOptions],
) -> dict[Item, Release]:
    """Count given itemsets in every segment, each with noise, for the price of one.

    Privacy: as :func:`discreet.release`; a person is in one segment.

    Parameters
    ----------
    baskets, itemsets
        As for :func:`discreet.count`.
    by, segments
        As for :func:`discreet.release_by`.
    question
        Everything else as for :func:`discreet.count`.

    Examples
    --------
    >>> import discreet
    >>> regions = ["north"] * 300 + ["south"] * 200
    >>> made = discreet.count_by([{"tea"}] * 500, [{"tea"}], regions, segments=["north", "south"], epsilon=1)
    >>> list(made)
    ['north', 'south']
    """
    reading, paying, asked = parted("count_by", question, CountOptions)
    held = everyone(baskets, by=by, **reading)
    return answer(held, prepare_count(held, itemsets, by=by, segments=segments, **asked), **paying)


def prepare_count(baskets: AnyBaskets, itemsets: Any, *, items: Any = None, **question: Any) -> dict[Item, Job]:
    """Check a question for given itemsets, as :func:`prepare` does for others."""
    wanted = _named(itemsets)
    # A hierarchy lists what it knows: of the items of the itemsets alone, nothing would stand below them.
    typed = items is None and question.get("hierarchy") is None
    listed = {item for itemset in wanted for item in itemset} if typed else items
    return prepare(baskets, itemsets=wanted, items=listed, mechanism="count", **question)


def _named(itemsets: Any) -> list[list[Item]]:
    """Return the itemsets; items that stand where itemsets should are not taken for either."""
    held = [] if isinstance(itemsets, str) or not isinstance(itemsets, Iterable) else list(itemsets)
    if isinstance(itemsets, str) or any(isinstance(one, str) or not isinstance(one, Iterable) for one in held):
        items = [itemsets] if isinstance(itemsets, str) else sorted(held, key=str)[:2]
        single = ", ".join(f"{{{item!r}}}" for item in items)
        together = f", and for those who hold them together [{{{', '.join(map(repr, items))}}}]" * (len(items) > 1)
        raise MisuseError(
            told(
                "{itemsets} is a list of sets of items; {given!r:.80} was given. For the people who hold each item "
                "write [{single}]{together}.",
                given=itemsets,
                single=single,
                together=together,
            )
        )
    if not isinstance(itemsets, Iterable):
        raise MisuseError(
            told(
                "{itemsets} is a list of sets of items, as in [{{'tea', 'milk'}}]; {given!r:.80} was given.",
                given=itemsets,
            )
        )
    if not held:
        raise MisuseError("There is no itemset to count: give at least one.")
    wanted = [several(itemset, "an itemset") for itemset in held]
    if not all(wanted):
        raise MisuseError(told("{itemsets} has an empty itemset: everyone holds it. Leave it out."))
    return wanted


def quote(jobs: Mapping[Item, Job]) -> list[tuple[str, Fraction]]:
    """Return what a release would spend its budget on, as shares by name; segments cost as much as one of them."""
    job = next(iter(jobs.values()))
    steps = job.plan()
    rest = 1 - sum((share for _, share in steps), Fraction(0))
    # How many items will be found is not known before, and how many the data have must not show: say many.
    asked = job.asked(MANY_ITEMS if job.finding else max(len(job.allowed), 1), job.people or 1)
    return [*steps, *((what, rest * share) for what, share in job.mechanism.plan(asked))]


def affordable(job: Job, baskets: AnyBaskets, ledger: str | PathLike[str] | Ledger, same_data: bool = False) -> str:
    """Say what a ledger would have left after a job; a budget it does not have is an error, as it would be then."""
    left = ledger_of(ledger).check(**vars(_price(job)), baskets=baskets, same_data=same_data)
    return allowed(ledger, left.epsilon_left)


def _price(job: Job) -> Price:
    return price(job.budget, job.neighbours, job.discovery_delta)


def answer(
    baskets: AnyBaskets,
    jobs: Mapping[Item, Job],
    *,
    ledger: str | PathLike[str] | Ledger | None = None,
    who: str = "",
    same_data: bool = False,
    progress: Progress | None = None,
    stage: Callable[[str], object] | None = None,
    paid: Callable[[Receipt], object] | None = None,
) -> dict[Item, Release]:
    """Spend first, then compute, then record what came of it.

    Parameters
    ----------
    baskets, jobs
        The data, and what :func:`prepare` made of a question about them.
    ledger, who, same_data, progress
        As for :func:`release`.
    stage
        Called with the name of each step before it is taken.
    paid
        Called with the receipt as soon as there is one: from then on the spend stands, whatever happens.
    """
    if progress is not None and not callable(progress):
        raise MisuseError(f"progress is a function that takes a number from 0 to 1; {progress!r:.80} was given.")
    same_data = switch("same_data", same_data)
    job = next(iter(jobs.values()))
    # Where in the plan a step stands is public; steps that the plan does not name leave the progress where it is.
    names, shares = zip(*quote(jobs), strict=True)
    begins = dict(zip(names, accumulate(shares[:-1], initial=Fraction(0)), strict=True))
    receipt = pay(
        ledger,
        _price(job),
        what=job.mechanism.name,
        parameters={"asked": _asked(jobs), "settings": dict(job.settings)},
        who=who,
        baskets=baskets,
        same_data=same_data,
    )
    if paid is not None:
        paid(receipt)
    source = SystemSource()
    done: dict[Item, Release] = {}

    def began(what: str) -> None:
        if progress is not None and what in begins:
            progress((len(done) + float(begins[what])) / len(jobs))
        if stage is not None:
            stage(what)

    try:
        for name, one in jobs.items():
            done[name] = carry_out(one, source, began)
    except DiscreetError as error:
        # Whether a cluster does its work depends on the data too, so there is nothing to give back. Who asked to be
        # told of the receipt has it.
        if paid is not None or not str(receipt):
            raise
        raise type(error)(f"{error} {receipt}") from error
    if progress is not None:
        progress(1.0)
    digests = [release.digest() for release in done.values()]
    receipt(digests[0] if len(digests) == 1 else sha256("".join(digests).encode()).hexdigest())
    return done


def _asked(jobs: Mapping[Item, Job]) -> dict[str, Any]:
    """Return the question for the ledger: one line for all segments."""
    words = dict(next(iter(jobs.values())).recorded_question)
    if words.pop("segment", None) is not None:
        words["segments"] = list(jobs)
    return words
