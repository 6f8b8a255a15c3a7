"""Exact mining, the public functions: check the arguments, in labels and fractions, and search by codes and counts."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..baskets import Baskets, check_unrelated, draw_one_basket_each, generalised, starts, take_rows
from ..checks import MAX_LENGTH, is_whole, parse_items, parse_lengths, parse_positive, parse_support
from ..errors import MisuseError, build_message, name_options
from ..results import BasketSample, Itemsets, Patterns, rules as rules_among
from ..wording import hint_keywords
from ._engine import engine_of
from ._query import Supports
from ._search import Kind, Progress, SearchBounds

if TYPE_CHECKING:
    from ..baskets import AnyBaskets, Codes, Item, Offsets
    from ..results import Rules

Lengths: TypeAlias = int | tuple[int, int | None]

# From this minimum length on, only baskets of at least that length are searched. For a minimum length of 2, the search
# lists only single items in addition.
_TRIMMED_LENGTH = 3


@hint_keywords
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
    """Find the frequent itemsets, exactly. The result is not private.

    Select patterns in exactly one of four ways: `min_support`, `min_count`, `top` or `itemsets`.

    Parameters
    ----------
    baskets
        Baskets of :func:`discreet.read`, or anything it accepts.
    person, item
        The columns of a table with one row per item, as for :func:`discreet.read`.
    min_support
        The least fraction of people, over 0 and at most 1. Read as the decimal number it is written as, so that
        0.07 of 100 people are 7.
    min_count
        The least number of people, at least 1.
    top
        The number of patterns with the largest counts.
    itemsets
        The itemsets to count, instead of a search; the result has their order.
    lengths
        The number of items of a pattern: a number, or the least and the most (None for no bound), both included.
    contains, excludes
        Items every pattern must have, and items no pattern may have. Patterns are then closed or maximal
        among the allowed patterns.
    kind
        ``"all"``; ``"closed"``: no item can be added without losing people; ``"maximal"``: no item can be added
        without falling below the threshold.
    hierarchy, level
        The hierarchy of items: a file, a data frame, or a dictionary from an item to its parent. Patterns are then
        across levels, but no pattern has an item and its ancestor. With `level`, a name or a number, patterns are of
        that level alone. See :doc:`/hierarchies`.
    limit
        The number of patterns at which to stop with a `LimitError` instead of filling memory.
    progress
        Called repeatedly with the finished share of the work, up to 1.

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
    from ..baskets import read

    data = generalised(read(baskets, person=person, item=item), hierarchy, level)
    if itemsets is not None:
        _check_exclusive("itemsets", min_support=min_support, min_count=min_count, top=top, lengths=lengths)
        _check_exclusive(
            "itemsets", contains=contains or None, excludes=excludes or None, kind=None if kind == "all" else kind
        )
        return _count_itemsets(data, itemsets)
    min_length, max_length = (1, MAX_LENGTH) if lengths is None else parse_lengths(lengths)
    if kind not in ("all", "closed", "maximal"):
        raise MisuseError.format("{kind} is 'all', 'closed' or 'maximal', not {given!r}.", given=kind)
    if kind == "maximal" and top is not None:
        raise MisuseError.format(
            "Maximal patterns are those at a threshold: give {min_support} or {min_count} instead of {top}."
        )
    count = _check_threshold(data, min_support, min_count, top)
    prefix, extensions = _constraints(data, parse_items(contains, "contains"), parse_items(excludes, "excludes"))
    extensions = _restrict_to_long_baskets(data, prefix, extensions, count, min_length)
    if extensions is not None and not len(extensions) and min_length > len(prefix):
        return _build_patterns(data, starts([]), np.empty(0, np.int32), np.empty(0, np.int64))
    # The search counts the items besides the prefix.
    fixed = len(prefix)
    bounds = SearchBounds(
        count=count,
        min_length=min_length - fixed,
        max_length=max_length - fixed,
        limit=parse_positive("limit", limit),
        kind=kind,
        top=0 if top is None else parse_positive("top", top),
    )
    patterns = engine_of(data).search(bounds, extensions=extensions, prefix=prefix, progress=progress)
    return _build_patterns(data, *patterns)


@hint_keywords
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
    """Find association rules a → b, exactly: people with a mostly have b. The result is not private.

    :meth:`Patterns.rules` finds rules among mined patterns.

    Parameters
    ----------
    baskets, person, item
        As for :func:`discreet.mine`.
    min_support, min_count
        The least fraction or number of people with all items of a rule: exactly one of the two.
    min_confidence, min_lift
        The least confidence and the least lift.
    lengths
        The number of items of a rule, both sides together: a number, or the least and the most.
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
    from ..baskets import read

    # A missing threshold is an error of the call: raise it before reading data.
    threshold_of_rules(min_support, min_count)
    data = generalised(read(baskets, person=person, item=item), hierarchy, level)
    # Shorter patterns are mined too: their counts measure the rules.
    patterns = mine(
        data,
        min_support=min_support,
        min_count=min_count,
        lengths=None if lengths is None else _find_mined_lengths(data, lengths, min_support, min_count),
        limit=limit,
        progress=progress,
    )
    all_rules = rules_among(
        patterns, min_confidence, min_lift=min_lift, limit=limit, sample=_draw_one_basket_each(data)
    )
    return all_rules.where(
        antecedent=antecedent,
        consequent=consequent,
        lengths=lengths,
        significance=significance,
        redundant=redundant,
    )


def _find_mined_lengths(
    baskets: AnyBaskets, lengths: Lengths, min_support: Any, min_count: Any
) -> tuple[int, int | None]:
    """Return the lengths of the patterns to mine for rules of some lengths: shorter patterns measure the rules."""
    min_length, max_length = parse_lengths(lengths)
    count = _check_threshold(baskets, min_support, min_count, None)
    possible_items = _restrict_to_long_baskets(baskets, np.empty(0, np.int32), None, count, min_length)
    # If no pattern is as long as the rules, no rule is measured: all shorter patterns may be too many to list.
    shortest = 1 if possible_items is None or len(possible_items) else min_length
    return shortest, None if max_length == MAX_LENGTH else max_length


def _draw_one_basket_each(baskets: AnyBaskets) -> BasketSample | None:
    """Return one basket of each person, if people have several; None for remote baskets.

    The seed is fixed, so that equal data have equal p-values, and no user can search for a convenient draw.
    """
    if not baskets.has_receipts or not isinstance(baskets, Baskets):
        return None
    sample = draw_one_basket_each(baskets, seed=0)
    return BasketSample(people=len(sample), count=lambda itemsets: engine_of(sample).answer(Supports(itemsets)))


def threshold_of_rules(min_support: object, min_count: object) -> None:
    """Check that exactly one threshold for rules is given, before data are read."""
    if (min_support is None) == (min_count is None):
        raise MisuseError.format(
            "Say how many people must hold the items of a rule by one of {min_support} (a fraction of people) or "
            "{min_count} (a number of people)."
        )


def _check_threshold(baskets: AnyBaskets, min_support: Any, min_count: Any, top: Any) -> int:
    given_names = [
        name
        for name, value in (("min_support", min_support), ("min_count", min_count), ("top", top))
        if value is not None
    ]
    if len(given_names) != 1:
        raise MisuseError.format(
            "Say which patterns are wanted by exactly one of {min_support} (a fraction of people), {min_count} (a "
            "number of people), {top} (how many patterns) or {itemsets} (count just these); {those} given.",
            those=build_message("{several} were", several=name_options(*given_names))
            if given_names
            else "none of them was",
        )
    if top is not None:
        parse_positive("top", top)
        return 1
    if min_count is not None:
        return _count_threshold(min_count, len(baskets))
    # `support` is an exact fraction: 0.07 of 100 people are 7, and never 8 by a rounding error. A count of 0 would
    # admit every itemset.
    return max(1, ceil(parse_support(min_support) * len(baskets)))


def _count_threshold(min_count: Any, people: int) -> int:
    if not is_whole(min_count):
        hint = build_message("; for a fraction of people write {min_support=given}", given=min_count)
        raise MisuseError.format(
            "{min_count} is a whole number of people; {given!r} was given{hint}.",
            given=min_count,
            hint=hint if isinstance(min_count, float) else "",
        )
    if min_count < 1:
        raise MisuseError.format("{min_count} is a number of people, at least 1; {given} was given.", given=min_count)
    if min_count > people > 0:
        raise MisuseError.format(
            "{min_count} is {given:,}, but there are only {there:,} people: no pattern can reach it. "
            "Give at most {there:,}.",
            given=min_count,
            there=people,
        )
    return int(min_count)


def _constraints(baskets: AnyBaskets, contains: list[Item], excludes: list[Item]) -> tuple[Codes, Codes | None]:
    """Return the codes of every pattern, and the further allowed codes; None if all further codes are allowed."""
    vocabulary = baskets.vocabulary
    prefix, excluded_codes = np.unique(vocabulary.codes(contains)), vocabulary.codes(excludes)
    contradictions = sorted(set(contains) & set(excludes), key=str)
    if contradictions:
        raise MisuseError.format(
            "{label!r} is in both {contains} and {excludes}: no pattern can have it and not have it.",
            label=contradictions[0],
        )
    if not len(prefix) and not len(excluded_codes):
        return prefix, None
    extensions = np.ones(len(vocabulary), np.bool_)
    extensions[prefix] = extensions[excluded_codes] = False
    if baskets.lineage is not None:
        check_unrelated(baskets.lineage, prefix, vocabulary)
        extensions &= ~baskets.lineage.related_to(prefix)
    return prefix, np.flatnonzero(extensions).astype(np.int32)


def _restrict_to_long_baskets(
    baskets: AnyBaskets, prefix: Codes, extensions: Codes | None, count: int, min_length: int
) -> Codes | None:
    """Return the codes that a pattern of at least `min_length` items may have besides the prefix; None for all codes.

    Each item of a pattern with `min_length` items and count `count` occurs in at least `count` baskets with at least
    `min_length` possible items. Repeat until nothing changes: (1) keep the baskets with at least `min_length` possible
    items; (2) keep the items in at least `count` kept baskets. All requested patterns remain, and shorter patterns of
    long baskets are not listed: one basket of 32 items has 2**32 subsets.
    """
    if min_length - len(prefix) < _TRIMMED_LENGTH:
        return extensions
    if not isinstance(baskets, Baskets):
        # A cluster returns one number; its search applies the restriction to its own blocks.
        longest = baskets.reduce(_longest_basket, max)
        return np.empty(0, np.int32) if longest < min_length else extensions
    long_baskets = np.flatnonzero(np.diff(baskets.offsets) >= min_length)
    offsets, codes = take_rows(baskets.offsets, long_baskets, baskets.codes)
    possible = np.ones(baskets.items, np.bool_)
    if extensions is not None:
        possible[:] = False
        possible[extensions] = possible[prefix] = True
    sizes = np.diff(offsets)
    while True:
        # Step 1 of the repetition: the number of possible items of each basket.
        inside = possible[codes]
        sizes = np.add.reduceat(inside, starts(sizes)[:-1], dtype=np.int64) if len(sizes) else sizes
        is_long = sizes >= min_length
        codes = codes[inside & np.repeat(is_long, np.diff(offsets))]
        sizes = sizes[is_long]
        offsets = starts(sizes)
        # Step 2: items in too few of the remaining baskets drop out, which may shorten baskets again.
        still_possible = possible & (np.bincount(codes, minlength=baskets.items) >= count)
        if np.array_equal(still_possible, possible):
            break
        possible = still_possible
    # Every pattern contains the prefix: without it no pattern remains.
    if not possible[prefix].all():
        return np.empty(0, np.int32)
    possible[prefix] = False
    return np.flatnonzero(possible).astype(np.int32)


def _longest_basket(part: Baskets) -> int:
    """Return the number of items of the longest basket of a part of the data."""
    return int(np.diff(part.offsets).max(initial=0))


def _build_patterns(baskets: AnyBaskets, offsets: Offsets, codes: Codes, counts: NDArray[np.int64]) -> Patterns:
    """Return patterns of baskets with their counts."""
    return Patterns(
        offsets=offsets,
        codes=codes,
        counts=counts,
        vocabulary=baskets.vocabulary,
        people=len(baskets),
        unit=baskets.unit,
        hierarchy=baskets.hierarchy,
    )


def _count_itemsets(baskets: AnyBaskets, itemsets: Iterable[Iterable[Item]]) -> Patterns:
    # Codes of an itemset are unique and ascending, as the counting kernels require.
    sets = [np.unique(baskets.vocabulary.codes(parse_items(itemset, "itemsets"))) for itemset in itemsets]
    if any(not len(codes) for codes in sets):
        raise MisuseError.format("{itemsets} has an empty itemset: everyone holds it. Leave it out.")
    offsets = starts([len(codes) for codes in sets])
    codes = np.concatenate([*sets, np.empty(0, np.int32)]).astype(np.int32)
    counts = engine_of(baskets).answer(Supports(Itemsets(offsets, codes)))
    return _build_patterns(baskets, offsets, codes, counts)


def _check_exclusive(name: str, **options: Any) -> None:
    given_names = [option for option, value in options.items() if value is not None]
    if given_names:
        raise MisuseError.format(
            "{several} exclude each other: give one of them.", several=name_options(name, *given_names)
        )
