"""Publishing relations a → b: who holds a has b after it, or with it, or as the data say.

No mechanism of the registry, as those know baskets and no order. The most frequent items are found first. Then every
person's ordered pairs of these become the basket of that person, over a list of pairs that is released by then. So
pairs are counted by what counts items, with the sensitivities it has, and the pairs of all items are never laid out.
The proof is in `relations.md`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from ..baskets.core import Baskets, Codes, Vocabulary, on_this_machine
from ..baskets.recoding import item_list, onto, table_onto
from ..checks import positive, switch
from ..curator.mechanism import Found, Task
from ..curator.mechanisms.clipped import ClippedCounting
from ..errors import LimitError, MisuseError, told
from ..exact.engine import Engine, engine_of
from ..exact.query import BasketCount
from ..exact.relations import MERGED, How, checked_how, held_pairs, usual_how
from ..privacy.budget import Budget, Neighbours, Relation
from ..privacy.guarantee import Guarantee
from ..privacy.meter import Meter
from ..privacy.sampling.sources import SystemSource
from ..privacy.sealed import SealedEngine
from ..results.itemsets import Itemsets
from ..results.measures import within
from ..results.patterns import Patterns
from ..results.rules import Rules
from ..wording import hinted
from .job import PEOPLE
from .payment import pay, price
from .question import checked_budget, everyone, public_facts
from .result import Release
from .run import shown_counts

if TYPE_CHECKING:
    from os import PathLike

    from ..privacy.ledger.ledger import Ledger

NAME = "release-relations"
# The share that finds the most frequent items and counts them; what is left finds pairs and counts those.
ITEMS = Fraction(3, 10)
# Pairs of so many items are a list that is counted as fast as one of items.
MOST_AMONG = 300

_SUMMARY = (
    "Finds the most frequent items, then counts their ordered pairs, people who hold many of them scaled down; shows "
    "the pairs that most people hold."
)
_COUNTING = "counting the people"


@dataclass(frozen=True, kw_only=True, eq=False)
class RelationJob:
    """A checked question for relations, ready to be carried out.

    Parameters
    ----------
    baskets, listed, codes
        The data; the same over the public list of items; and the place on that list of each item of the data, or -1.
    how
        What makes a pair.
    top, among
        How many relations, and among how many of the most frequent items.
    budget, neighbours, people, public, asked
        As for patterns.
    notes
        What is to be said of how the question was taken.
    """

    baskets: Baskets
    listed: Baskets
    codes: Codes
    how: How
    top: int
    among: int
    budget: Budget
    neighbours: Neighbours
    people: int | None
    public: tuple[str, ...]
    asked: dict[str, Any]
    notes: tuple[str, ...] = ()

    def pairs(self, chosen: Codes) -> Baskets:
        """Return the ordered pairs of some items that each person has, as a basket: a → b is one of k (k - 1) items."""
        width = len(chosen)
        places = np.full(len(self.listed.vocabulary) + 1, -1, np.int64)  # the last is for items that are not listed
        places[chosen] = np.arange(width)
        offsets, held = held_pairs(self.baskets, np.arange(len(self.baskets)), places[self.codes], width, self.how)
        first, second = held // width, held % width
        codes = (first * (width - 1) + second - (second > first)).astype(np.int32)
        return Baskets(offsets, codes, Vocabulary(list(range(width * (width - 1)))))


def prepare_relations(
    baskets: Baskets | Any,
    *,
    how: How | None = None,
    top: int,
    among: int = 40,
    epsilon: Any,
    delta: Any = 0,
    items: Any = None,
    people: int | None = None,
    neighbours: Relation = "add-remove",
    really: bool = False,
) -> RelationJob:
    """Check a question before anything is spent: what may go wrong goes wrong here."""
    budget = checked_budget(epsilon, delta, switch("really", really), people)
    relation = Neighbours.typed(neighbours)
    read = on_this_machine(everyone(baskets), "release_relations()")
    held = read.merged_people()
    how = checked_how(usual_how(held) if how is None else how, held)
    vocabulary, declared = item_list(items, held)
    if vocabulary is None:
        raise MisuseError(
            told(
                "Relations need a public list of items: give it with {items=}, a file with one per line, a list or a "
                "number; or declare with {items='public'} that the items found in the data are public knowledge."
            )
        )
    if len(vocabulary) < 2:
        raise MisuseError("A relation is of two items: the list must have at least two.")
    many = min(positive("among", among), len(vocabulary))
    if not 2 <= many <= MOST_AMONG:
        raise MisuseError(
            told(
                "{among} is a number of items from 2 to {most_items}; {given!r} was given.",
                most_items=MOST_AMONG,
                given=among,
            )
        )
    possible = many * (many - 1)
    if positive("top", top) > possible:
        raise MisuseError(
            told(
                "{top} is {given:,}, but {many:,} items have only {possible:,} ordered pairs: ask for fewer, or raise "
                "{among}.",
                given=top,
                many=many,
                possible=possible,
            )
        )
    people, public = public_facts(declared, people, relation, held, budget, really)
    _fit(held, how, many)
    return RelationJob(
        baskets=held,
        listed=onto(held, vocabulary),
        codes=table_onto(held.vocabulary, vocabulary),
        how=how,
        top=int(top),
        among=many,
        budget=budget,
        neighbours=relation,
        people=people,
        public=public,
        asked={"relations": int(top), "how": how, "among": many, "items": len(vocabulary)},
        notes=(MERGED,) if read.several else (),
    )


def _fit(baskets: Baskets, how: How, among: int) -> None:
    """Refuse data with more pairs than can be counted at once: before paying, as nothing may be refused after it."""
    if how == "given" and baskets.pairs is not None:
        pairs = len(baskets.pairs.first)
    else:
        sizes = np.minimum(baskets.sizes, among)
        pairs = int((sizes * (sizes - 1)).sum())
    if pairs + len(baskets) >= np.iinfo(np.int32).max:
        raise LimitError(
            told("These people may have more pairs in all than can be counted at once: lower {among}, or {max_items=}.")
        )


@hinted
def release_relations(
    baskets: Baskets | Any,
    *,
    person: str | None = None,
    item: str | None = None,
    time: str | None = None,
    pair: tuple[str, str] | None = None,
    how: How | None = None,
    top: int,
    among: int = 40,
    epsilon: Any,
    delta: Any = 0,
    items: Any = None,
    people: int | None = None,
    neighbours: Relation = "add-remove",
    really: bool = False,
    ledger: str | PathLike[str] | Ledger | None = None,
    who: str = "",
    same_data: bool = False,
) -> Release:
    """Publish relations a → b that many people have, under central differential privacy.

    Privacy: as :func:`discreet.release`. The unit is the person, with everything they did, in whatever order.

    Parameters
    ----------
    baskets
        What :func:`discreet.read` returns, or anything it accepts. One row is one person.
    person, item, time, pair
        The columns of a table, as for :func:`discreet.read`.
    how
        What makes a pair: ``"given"``, ``"after"`` or ``"together"``; None for what the data have, as for
        :func:`discreet.relations`.
    top
        How many relations: those that most people have.
    among
        Among how many of the most frequent items.
    epsilon, delta, items, people, neighbours, really, ledger, who, same_data
        As for :func:`discreet.release`; `items` has to be given.

    Returns
    -------
    Release
        Its `relations` have support and confidence, with intervals; its `patterns` are the items that were found.

    Examples
    --------
    >>> import discreet
    >>> trips = discreet.read([["pram", "toys"]] * 600 + [["toys"]] * 300, ordered=True)
    >>> release = discreet.release_relations(trips, top=1, epsilon=1, items=["pram", "toys"])
    >>> len(release.relations), release.relations.kind, release.guarantee.epsilon
    (1, 'relations', Fraction(1, 1))
    """
    held = everyone(baskets, person=person, item=item, time=time, pair=pair)
    job = prepare_relations(
        held,
        how=how,
        top=top,
        among=among,
        epsilon=epsilon,
        delta=delta,
        items=items,
        people=people,
        neighbours=neighbours,
        really=really,
    )
    return answer_relations(job, ledger=ledger, who=who, same_data=same_data)


def answer_relations(
    job: RelationJob,
    *,
    ledger: str | PathLike[str] | Ledger | None = None,
    who: str = "",
    same_data: bool = False,
    paid: Callable[[Any], object] | None = None,
) -> Release:
    """Spend first, then compute, then record what came of it."""
    receipt = pay(
        ledger,
        price(job.budget, job.neighbours),
        what=NAME,
        parameters={"asked": job.asked},
        who=who,
        baskets=job.baskets,
        same_data=switch("same_data", same_data),
    )
    if paid is not None:
        paid(receipt)
    release = metered_relations(job, Meter(job.budget, job.neighbours, SystemSource()))
    receipt(release.digest())
    return release


def metered_relations(job: RelationJob, meter: Meter, engine: Callable[[Any], Engine] = engine_of) -> Release:
    """Make the release of a job with what a meter lets out of an engine; the audit brings its own of both."""
    known, margin = job.people, 0
    if known is None:
        counted = meter.count(_COUNTING, SealedEngine(engine(job.listed)), BasketCount(), PEOPLE)
        known, margin = max(0, int(counted.values[0])), counted.margin()
    spread = None if job.people is not None else (max(0, known - margin), known + margin)
    how = ClippedCounting()

    def best(baskets: Baskets, top: int, part: Meter) -> Found:
        """Return the `top` most frequent items of baskets, counted."""
        task = Task(
            top=top,
            least=1,
            longest=1,
            bounded=True,
            items=baskets.items,
            people=known,
            people_margin=margin,
            epsilon=job.budget.epsilon,
        )
        return how.run(SealedEngine(engine(baskets), baskets.items), task, part)

    items = best(job.listed, job.among, meter.part(ITEMS))
    chosen = np.sort(items.itemsets.codes)
    pairs = best(job.pairs(chosen), job.top, meter.part(meter.left))
    patterns = _patterns(job, items, known, spread)
    relations = _relations(job, pairs, chosen, patterns)
    guarantee = Guarantee.of(job.budget, meter.charges, neighbours=job.neighbours, public=job.public)
    made = Release(
        patterns=patterns,
        relations=relations,
        guarantee=guarantee,
        mechanism=NAME,
        asked=job.asked,
        facts=_facts(items=items, pairs=pairs),
        notes=tuple(dict.fromkeys((*job.notes, *items.notes, *pairs.notes))),
        simulated=meter.simulated,
        when=datetime.now(UTC).date().isoformat(),
        citations=(how.citation,),
        summary=_SUMMARY,
    )
    about = made.to_dict()
    beside = {"patterns": patterns.to_arrow().to_pylist()}
    return replace(made, patterns=replace(patterns, about=about), relations=replace(relations, about=about | beside))


def _facts(**steps: Found) -> dict[str, Any]:
    return {f"{name}, {what}": fact for what, found in steps.items() for name, fact in found.facts.items()}


def _patterns(job: RelationJob, found: Found, people: int, spread: tuple[int, int] | None) -> Patterns:
    """Return the items that were found, the most frequent first."""
    counts, low, high = shown_counts(found)
    order = np.argsort(-counts, kind="stable")
    itemsets = found.itemsets.take(order)
    return Patterns(
        offsets=itemsets.offsets,
        codes=itemsets.codes,
        counts=counts[order],
        vocabulary=job.listed.vocabulary,
        people=people,
        low=low[order],
        high=high[order],
        people_within=spread,
    )


def _relations(job: RelationJob, found: Found, chosen: Codes, items: Patterns) -> Rules:
    """Return the pairs as relations, those that most people have first, with the counts of their sides."""
    counts, low, high = shown_counts(found)
    order = np.argsort(-counts, kind="stable")
    counts, low, high = counts[order], low[order], high[order]
    codes = found.itemsets.codes[order].astype(np.int64)
    first, second = codes // (len(chosen) - 1), codes % (len(chosen) - 1)
    second = second + (second >= first)
    # Where each of the chosen stands among the items that are shown.
    places = np.argsort(items.codes)
    left, right = places[first], places[second]
    if items.low is None or items.high is None:
        raise AssertionError("items are counted with intervals")
    ends = (
        (items.low[left], items.high[left]),
        (items.low[right], items.high[right]),
        (low, high),
    )
    bounds = within("confidence", items.people_within or (items.people,) * 2, *ends)
    rows = np.arange(len(codes) + 1)
    return Rules(
        antecedents=Itemsets(rows, chosen[first].astype(np.int32)),
        consequents=Itemsets(rows.copy(), chosen[second].astype(np.int32)),
        counts=counts,
        # With noise nobody may seem to hold an item; a share of nobody is none.
        antecedent_counts=np.maximum(items.counts[left], 1),
        consequent_counts=np.maximum(items.counts[right], 1),
        vocabulary=job.listed.vocabulary,
        people=items.people,
        low=bounds[0],
        high=bounds[1],
        kind="relations",
        how=job.how,
        people_within=items.people_within,
        ends=ends,
    )
