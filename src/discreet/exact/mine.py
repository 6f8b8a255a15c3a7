"""Exact mining: the public door. Checks what was asked, in labels and fractions, and hands codes and counts on."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..baskets.core import Baskets, starts
from ..baskets.hierarchy import check_apart, generalised
from ..baskets.resample import one_each
from ..checks import UNBOUNDED, is_whole, positive, several, span, support
from ..errors import MisuseError, named, told
from ..results.itemsets import Itemsets
from ..results.patterns import Patterns
from ..results.rule_search import OneEach
from ..results.rule_search import rules as rules_among
from ..wording import hinted
from .engine import engine_of
from .query import Supports
from .search import Kind, Progress, SearchBounds

if TYPE_CHECKING:
    from ..baskets.core import AnyBaskets, Codes, Item
    from ..results.rules import Rules

Lengths: TypeAlias = int | tuple[int, int | None]


@hinted
def mine(
    baskets: Baskets | Any,
    *,
    person: str | None = None,
    item: str | None = None,
    min_support: float | str | Fraction | Decimal | None = None,
    min_count: int | None = None,
    top: int | None = None,
    itemsets: Iterable[Iterable[Item]] | None = None,
    lengths: Lengths | None = None,
    contains: Item | Iterable[Item] = (),
    excludes: Item | Iterable[Item] = (),
    kind: Kind = "all",
    hierarchy: Any = None,
    level: int | str | None = None,
    limit: int = 10_000_000,
    progress: Progress | None = None,
) -> Patterns:
    """Find the itemsets many people hold, exactly. Nothing about the result is private.

    Say which patterns are wanted in exactly one of four ways: `min_support`, `min_count`, `top` or `itemsets`.

    Parameters
    ----------
    baskets
        What :func:`discreet.read` returns, or anything it accepts.
    person, item
        The columns of a table with one row per item, as for :func:`discreet.read`.
    min_support
        The least fraction of people, over 0 and at most 1. Read as the decimal number it is written as, so that
        0.07 of 100 people are 7.
    min_count
        The least number of people, at least 1.
    top
        How many patterns: those with the largest counts.
    itemsets
        Count these and no others; the result is in the order given.
    lengths
        How many items a pattern has: a number, or the least and the most (None for no bound), both included.
    contains, excludes
        Items every pattern must have, and items no pattern may have. Closed and maximal patterns are then
        those among the patterns that are allowed.
    kind
        ``"all"``; ``"closed"``: no item can be added without losing people; ``"maximal"``: no item can be added
        without falling below the threshold.
    hierarchy, level
        Which items stand above others: a file, a data frame, or a dictionary from an item to the one above. Patterns
        are then across levels, but none has an item and one above it. With `level`, a name or a number, they are of
        that level alone. See :doc:`/hierarchies`.
    limit
        The number of patterns at which to stop with a `LimitError` instead of filling memory.
    progress
        Called now and then with the share of the work that is done, up to 1.

    Returns
    -------
    Patterns
        By falling count, then rising size, then the items compared from the rarest to the most frequent (items of
        equal count in the order of the vocabulary).

    Examples
    --------
    >>> import discreet
    >>> baskets = [{"tea", "milk"}, {"tea", "milk", "bread"}, {"bread"}, {"tea"}]
    >>> [(sorted(p.items), p.count) for p in discreet.mine(baskets, min_support=0.5)]
    [(['tea'], 3), (['bread'], 2), (['milk'], 2), (['milk', 'tea'], 2)]
    """
    from ..baskets.read import read

    held = generalised(read(baskets, person=person, item=item), hierarchy, level)
    if itemsets is not None:
        _only("itemsets", min_support=min_support, min_count=min_count, top=top, lengths=lengths)
        _only("itemsets", contains=contains or None, excludes=excludes or None, kind=None if kind == "all" else kind)
        return _count(held, itemsets)
    least, most = (1, UNBOUNDED) if lengths is None else span(lengths)
    if kind not in ("all", "closed", "maximal"):
        raise MisuseError(told("{kind} is 'all', 'closed' or 'maximal', not {given!r}.", given=kind))
    if kind == "maximal" and top is not None:
        raise MisuseError(
            told("Maximal patterns are those at a threshold: give {min_support} or {min_count} instead of {top}.")
        )
    count = _threshold(held, min_support, min_count, top)
    prefix, allowed = _constraints(held, several(contains, "contains"), several(excludes, "excludes"))
    fixed = len(prefix)
    wanted = SearchBounds(
        count=count,
        least=least - fixed,
        most=most - fixed,
        limit=positive("limit", limit),
        kind=kind,
        top=0 if top is None else positive("top", top),
    )
    offsets, codes, counts = engine_of(held).search(wanted, allowed=allowed, prefix=prefix, progress=progress)
    return Patterns(
        offsets=offsets,
        codes=codes,
        counts=counts,
        vocabulary=held.vocabulary,
        people=len(held),
        unit=held.unit,
        hierarchy=held.hierarchy,
    )


@hinted
def rules(
    baskets: Baskets | Any,
    *,
    person: str | None = None,
    item: str | None = None,
    min_support: float | str | Fraction | Decimal | None = None,
    min_count: int | None = None,
    min_confidence: float = 0.5,
    min_lift: float = 0.0,
    lengths: Lengths | None = None,
    antecedent: Item | Iterable[Item] = (),
    consequent: Item | Iterable[Item] = (),
    significance: float | None = None,
    redundant: bool = True,
    hierarchy: Any = None,
    level: int | str | None = None,
    limit: int = 10_000_000,
    progress: Progress | None = None,
) -> Rules:
    """Find association rules, exactly: who holds these mostly holds those too. Nothing about the result is private.

    :meth:`Patterns.rules` finds them among patterns that were mined already.

    Parameters
    ----------
    baskets, person, item
        As for :func:`discreet.mine`.
    min_support, min_count
        The least fraction or number of people who hold all items of a rule: exactly one of the two.
    min_confidence, min_lift
        The least of these measures.
    lengths
        How many items a rule has, both sides together: a number, or the least and the most.
    antecedent, consequent
        An item, or several that must all be on that side.
    significance
        The level, such as 0.05: rules with an adjusted p-value of at most this. See :doc:`/significance`.
    redundant
        False leaves out rules that are no better than a more general one.
    hierarchy, level, limit, progress
        As for :func:`discreet.mine`.

    Examples
    --------
    >>> import discreet
    >>> baskets = [{"tea", "milk"}, {"tea", "milk", "bread"}, {"bread"}, {"tea"}]
    >>> [(sorted(r.antecedent), sorted(r.consequent), r.confidence) for r in discreet.rules(baskets, min_support=0.5)]
    [(['milk'], ['tea'], 1.0), (['tea'], ['milk'], 0.6666666666666666)]
    """
    from ..baskets.read import read

    threshold_of_rules(min_support, min_count)
    # Shorter patterns are needed to measure the longer ones.
    most = None if lengths is None else (1, None if span(lengths)[1] == UNBOUNDED else span(lengths)[1])
    held = generalised(read(baskets, person=person, item=item), hierarchy, level)
    patterns = mine(held, min_support=min_support, min_count=min_count, lengths=most, limit=limit, progress=progress)
    found = rules_among(patterns, min_confidence, min_lift=min_lift, limit=limit, one_each=_one_each(held))
    return found.where(
        antecedent=antecedent,
        consequent=consequent,
        lengths=lengths,
        significance=significance,
        redundant=redundant,
    )


def _one_each(held: AnyBaskets) -> OneEach | None:
    """Return one basket of each person, where people have several; in a cluster none is drawn.

    The seed is fixed, so that the same data have the same p-values, and nobody looks for the draw they like.
    """
    if not held.several or not isinstance(held, Baskets):
        return None
    drawn = one_each(held, seed=0)
    return OneEach(people=len(drawn), count=lambda itemsets: engine_of(drawn).answer(Supports(itemsets)))


def threshold_of_rules(min_support: object, min_count: object) -> None:
    """See that there is one threshold for rules, before anything is read."""
    if (min_support is None) == (min_count is None):
        raise MisuseError(
            told(
                "Say how many people must hold the items of a rule by one of {min_support} (a fraction of people) or "
                "{min_count} (a number of people)."
            )
        )


def _threshold(baskets: AnyBaskets, min_support: Any, min_count: Any, top: Any) -> int:
    given = [
        name
        for name, value in (("min_support", min_support), ("min_count", min_count), ("top", top))
        if value is not None
    ]
    if len(given) != 1:
        raise MisuseError(
            told(
                "Say which patterns are wanted by exactly one of {min_support} (a fraction of people), {min_count} (a "
                "number of people), {top} (how many patterns) or {itemsets} (count just these); {those} given.",
                those=told("{several} were", several=named(*given)) if given else "none of them was",
            )
        )
    if top is not None:
        positive("top", top)
        return 1
    if min_count is not None:
        return _count_threshold(min_count, len(baskets))
    return max(1, ceil(support(min_support) * len(baskets)))


def _count_threshold(min_count: Any, people: int) -> int:
    if not is_whole(min_count):
        hint = told("; for a fraction of people write {min_support=given}", given=min_count)
        raise MisuseError(
            told(
                "{min_count} is a whole number of people; {given!r} was given{hint}.",
                given=min_count,
                hint=hint if isinstance(min_count, float) else "",
            )
        )
    if min_count < 1:
        raise MisuseError(told("{min_count} is a number of people, at least 1; {given} was given.", given=min_count))
    if min_count > people > 0:
        raise MisuseError(
            told(
                "{min_count} is {given:,}, but there are only {there:,} people: no pattern can reach it. "
                "Give at most {there:,}.",
                given=min_count,
                there=people,
            )
        )
    return int(min_count)


def _constraints(held: AnyBaskets, contains: list[Item], excludes: list[Item]) -> tuple[Codes, Codes | None]:
    """Return the codes every pattern has, and those it may have besides; None where these are all."""
    vocabulary = held.vocabulary
    prefix, without = np.unique(vocabulary.codes(contains)), vocabulary.codes(excludes)
    both = sorted(set(contains) & set(excludes), key=str)
    if both:
        raise MisuseError(
            told(
                "{label!r} is in both {contains} and {excludes}: no pattern can have it and not have it.", label=both[0]
            )
        )
    if not len(prefix) and not len(without):
        return prefix, None
    allowed = np.ones(len(vocabulary), np.bool_)
    allowed[prefix] = allowed[without] = False
    if held.lineage is not None:
        check_apart(held.lineage, prefix, vocabulary)
        allowed &= ~held.lineage.related_to(prefix)
    return prefix, np.flatnonzero(allowed).astype(np.int32)


def _count(baskets: AnyBaskets, itemsets: Iterable[Iterable[Item]]) -> Patterns:
    sets = [np.unique(baskets.vocabulary.codes(several(itemset, "itemsets"))) for itemset in itemsets]
    if any(not len(codes) for codes in sets):
        raise MisuseError(told("{itemsets} has an empty itemset: everyone holds it. Leave it out."))
    offsets = starts([len(codes) for codes in sets])
    codes = np.concatenate([*sets, np.empty(0, np.int32)]).astype(np.int32)
    counts = engine_of(baskets).answer(Supports(Itemsets(offsets, codes)))
    return Patterns(
        offsets=offsets,
        codes=codes,
        counts=counts,
        vocabulary=baskets.vocabulary,
        people=len(baskets),
        unit=baskets.unit,
        hierarchy=baskets.hierarchy,
    )


def _only(name: str, **others: Any) -> None:
    given = [other for other, value in others.items() if value is not None]
    if given:
        raise MisuseError(told("{several} exclude each other: give one of them.", several=named(name, *given)))
