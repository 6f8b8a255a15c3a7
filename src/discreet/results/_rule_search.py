"""Association rules are found among mined patterns.

A rule's counts are looked up, never counted again, so both of its sides must be among the patterns. That makes
rules of private patterns post-processing: they cost no privacy beyond what the patterns cost. The search itself is a
kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..checks import parse_fraction, parse_positive
from ..errors import LimitError, Message, MisuseError
from ._itemsets import Itemsets, Positions
from ._measures import within
from ._patterns import Patterns, need_counts
from ._rules import Rules, ends_at, number
from ._significance import MOST_PEOPLE, adjusted, family, p_values, related_pairs, worst_p_values

# Patterns searched by one thread at a time, between two looks at the limit.
_STRIDE = 16_384


@dataclass(frozen=True, kw_only=True)
class OneEach:
    """One basket of each person, drawn at random, to test rules on where people have several.

    Baskets of one person are no independent draws, and people are: so counts of baskets have no p-value, and these do.

    Parameters
    ----------
    people
        How many there are.
    count
        How many of their drawn baskets hold each of some itemsets.
    """

    people: int
    count: Callable[[Itemsets], NDArray[np.int64]]


def rules(
    patterns: Patterns,
    min_confidence: float = 0.5,
    *,
    min_lift: float = 0.0,
    consequents: Literal["any", "one"] = "any",
    significance: float | None = None,
    redundant: bool = True,
    limit: int = 10_000_000,
    one_each: OneEach | None = None,
) -> Rules:
    """Return the association rules among patterns: the largest confidence first, then the largest support.

    Each pattern is split into an antecedent and a consequent in every way. The counts of both are looked up
    among the patterns; a split with a side that is not there (below the support, or not closed, or not in
    the top) cannot be measured and is left out, and `omitted` says how many were.

    Rules of private patterns have an interval for their confidence, from those of the two counts. An antecedent
    with a noisy count of 0 or less gives no rule, and a confidence over 1 is cut to 1.

    Every rule has a p-value, and one that is adjusted for how many rules were tested: see :doc:`/significance`. Where
    baskets are counted it is found in one basket of each person, and without these (`one_each`) there is none.

    Privacy: costs nothing more than the patterns did, as only they are looked at.

    Parameters
    ----------
    patterns
        What was mined.
    min_confidence
        The smallest confidence, between 0 and 1.
    min_lift
        The smallest lift.
    consequents
        ``"one"`` for rules with a single item on the right, ``"any"`` for all.
    significance, redundant
        As for :meth:`Rules.where`: the largest adjusted p-value, and whether rules that are no better than more general
        ones are kept.
    limit
        How many rules may be found, those left out included, before a `LimitError` stops the search.
    one_each
        One basket of each person, where baskets are counted and are at hand.

    Examples
    --------
    >>> from discreet import Vocabulary
    >>> patterns = Patterns(
    ...     offsets=np.array([0, 1, 2, 4]),
    ...     codes=np.array([0, 1, 0, 1], dtype=np.int32),
    ...     counts=np.array([6, 5, 4]),
    ...     vocabulary=Vocabulary(["milk", "tea"]),
    ...     people=10,
    ... )
    >>> rule = rules(patterns, min_confidence=0.7)[0]
    >>> rule.antecedent, rule.consequent, rule.confidence
    (frozenset({'tea'}), frozenset({'milk'}), 0.8)
    """
    need_counts(patterns, "rules()")
    least = (parse_fraction("min_confidence", min_confidence), number("min_lift", min_lift))
    if consequents not in ("any", "one"):
        raise MisuseError(f"consequents is {consequents!r}, but it must be 'any' or 'one'.")
    whole, left, right, omitted = _search(patterns, least, consequents == "one", parse_positive("limit", limit))
    confidence = patterns.counts[whole] / patterns.counts[left]
    if patterns.noisy:
        confidence = np.minimum(confidence, 1)
    order = np.lexsort((-patterns.counts[whole], -confidence))
    whole, left, right = whole[order], left[order], right[order]
    ends = None
    if patterns.low is not None and patterns.high is not None:
        ends = ends_at(((patterns.low, patterns.high),) * 3, left, right, whole)
    people = patterns.people_within or (patterns.people,) * 2
    low, high = (None, None) if ends is None else within("confidence", people, *ends)
    lineage = None if patterns.hierarchy is None else patterns.hierarchy.lineage(patterns.vocabulary)
    largest = 1 if consequents == "one" else int(patterns.sizes.max(initial=0))
    tested = family(patterns.sizes, largest)
    if lineage is not None:
        tested -= related_pairs(patterns.itemsets, largest, lineage)
    p = None
    if max(patterns.people, *people) > MOST_PEOPLE:
        pass
    elif patterns.unit == "baskets":
        p = None if one_each is None else _over_people(patterns.itemsets, one_each, left, right, whole)
    elif ends is not None:
        p = worst_p_values(people, *ends)
    elif not patterns.noisy:
        p = p_values(patterns.people, patterns.counts[left], patterns.counts[right], patterns.counts[whole])
    found = Rules(
        antecedents=patterns.itemsets.take(left),
        consequents=patterns.itemsets.take(right),
        counts=patterns.counts[whole],
        antecedent_counts=patterns.counts[left],
        consequent_counts=patterns.counts[right],
        vocabulary=patterns.vocabulary,
        people=patterns.people,
        omitted=omitted,
        low=low,
        high=high,
        provenance=patterns.provenance,
        people_within=patterns.people_within,
        unit=patterns.unit,
        ends=ends,
        p=p,
        p_adjusted=None if p is None else adjusted(p, tested),
        tested=0 if p is None else tested,
        hierarchy=patterns.hierarchy,
    )
    return found.where(significance=significance, redundant=redundant)


def _over_people(
    itemsets: Itemsets, one_each: OneEach, left: Positions, right: Positions, whole: Positions
) -> NDArray[np.float64]:
    """Return the p-values of rules in one basket of each person, where each side and both are counted anew."""
    needed, places = np.unique(np.concatenate((left, right, whole)), return_inverse=True)
    counts = one_each.count(itemsets.take(needed))[places]
    return p_values(one_each.people, *np.split(counts, 3))


def _search(
    patterns: Patterns, least: tuple[float, float], one: bool, limit: int
) -> tuple[Positions, Positions, Positions, int]:
    """Return the positions of each rule's whole, antecedent and consequent, and how many were left out."""
    from ..kernels import find_rules, in_threads, threads

    index = patterns.index
    table = (index.slots, index.hashes, patterns.offsets, patterns.codes, index.keys)
    largest = 1 if one else int(patterns.sizes.max(initial=0))
    # Noisy counts may grow with more items, so there a low confidence says nothing about longer consequents.
    shape = (largest, not patterns.noisy)

    def piece(start: int) -> tuple[Positions, Positions, Positions, int, int]:
        found: tuple[Positions, Positions, Positions, int, int] = find_rules(
            start,
            min(start + _STRIDE, len(patterns)),
            table,
            patterns.counts,
            patterns.people,
            least,
            shape,
            limit,
        )
        return found

    starts = range(0, len(patterns), _STRIDE)
    parts: list[tuple[Positions, Positions, Positions, int, int]] = []
    found = omitted = 0
    for batch in range(0, len(starts), threads()):
        fresh = in_threads(piece, starts[batch : batch + threads()])
        found += sum(len(part[0]) + part[4] for part in fresh)
        omitted += sum(part[3] for part in fresh)
        if found + omitted > limit:
            _stop(found, omitted, limit)
        parts += fresh
    nothing = np.empty(0, np.int64)
    columns = [np.concatenate([nothing, *(part[side] for part in parts)]) for side in range(3)]
    return columns[0], columns[1], columns[2], omitted


def _stop(found: int, omitted: int, limit: int) -> NoReturn:
    if omitted > found:
        raise LimitError.format(
            "These patterns give more than {allowed:,} possible rules, most of which cannot be measured because "
            "one side is not among the patterns. Mine all frequent patterns rather than closed, maximal or top "
            "ones{single}.",
            allowed=limit,
            single=Message(", or use consequents='one'", ""),
        )
    raise LimitError.format(
        "These patterns give more than {allowed:,} rules to look at. Raise {min_confidence} or the support the "
        "patterns were mined with, {single}or allow more with {limit=more:_}.",
        allowed=limit,
        single=Message("use consequents='one', ", ""),
        more=10 * limit,
    )
