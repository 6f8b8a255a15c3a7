"""The search for association rules among mined patterns.

The counts of a rule are looked up, never counted again, so both of its sides must be among the patterns. This makes
rules of private patterns post-processing: they cost no privacy beyond the patterns. The search itself is a kernel.
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
from ._measures import measure_bounds
from ._patterns import Patterns, need_counts
from ._rules import Rules, ends_at, parse_minimum
from ._significance import MAX_PEOPLE, adjust_p_values, count_tests, largest_p_values, p_values, related_pairs

# Patterns searched by one thread between two checks of the limit. More: a later stop; fewer: more calls of the kernel.
_STRIDE = 16_384


@dataclass(frozen=True, kw_only=True)
class BasketSample:
    """One random basket of each person, for tests of rules where people have several baskets.

    Baskets of one person are not independent, but people are: counts of baskets have no p-value, and sampled counts do.

    Parameters
    ----------
    people
        The number of people.
    count
        The function from itemsets to the number of sampled baskets that hold each.
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
    sample: BasketSample | None = None,
) -> Rules:
    """Return the association rules among patterns: the largest confidence first, then the largest support.

    Each pattern is split into an antecedent and a consequent in every way. The counts of both are looked up among the
    patterns; a split with a missing side (below the support, not closed, or not in the top) cannot be measured and is
    left out, and `omitted` has the number of these splits.

    Rules of private patterns have an interval for their confidence, from the intervals of two counts. An antecedent
    with a noisy count of 0 or less gives no rule, and a confidence over 1 is cut to 1.

    Every rule has a p-value, and one that is adjusted for how many rules were tested: see :doc:`/significance`. Where
    baskets are counted it is found in one basket of each person, and without these (`sample`) there is none.

    Privacy: costs nothing beyond the patterns, as only patterns are used.

    Parameters
    ----------
    patterns
        The mined patterns.
    min_confidence
        The smallest confidence, between 0 and 1.
    min_lift
        The smallest lift.
    consequents
        ``"one"`` for rules with a single item on the right, ``"any"`` for all.
    significance, redundant
        As for :meth:`Rules.where`: the largest adjusted p-value, and whether redundant rules are kept.
    limit
        The number of rules, with the omitted rules, beyond which a `LimitError` stops the search.
    sample
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
    minimums = (parse_fraction("min_confidence", min_confidence), parse_minimum("min_lift", min_lift))
    if consequents not in ("any", "one"):
        raise MisuseError(f"consequents is {consequents!r}, but it must be 'any' or 'one'.")
    max_consequent = 1 if consequents == "one" else int(patterns.sizes.max(initial=0))
    *row_columns, omitted = _search(patterns, minimums, max_consequent, parse_positive("limit", limit))
    counts, antecedent_counts, _ = (patterns.counts[rows] for rows in row_columns)
    confidence = counts / antecedent_counts
    # Noisy counts may contradict each other: a part may count less than the whole.
    if patterns.noisy:
        confidence = np.minimum(confidence, 1)
    # The largest confidence first, and the largest count first among equal ones.
    order = np.lexsort((-counts, -confidence))
    pattern_rows, antecedent_rows, consequent_rows = (rows[order] for rows in row_columns)
    sides = (antecedent_rows, consequent_rows, pattern_rows)
    side_counts = [patterns.counts[rows] for rows in sides]
    ends = None
    if patterns.low is not None and patterns.high is not None:
        ends = ends_at(((patterns.low, patterns.high),) * 3, *sides)
    people = patterns.people_within or (patterns.people,) * 2
    low, high = (None, None) if ends is None else measure_bounds("confidence", people, *ends)
    lineage = None if patterns.hierarchy is None else patterns.hierarchy.lineage(patterns.vocabulary)
    # The family of tests depends on the patterns alone, never on the thresholds: choosing them later costs no
    # validity.
    test_count = count_tests(patterns.sizes, max_consequent)
    if lineage is not None:
        test_count -= related_pairs(patterns.itemsets, max_consequent, lineage)
    p = None
    # Beyond this number the sum of the tail would take longer than the search for the rules.
    if max(patterns.people, *people) > MAX_PEOPLE:
        pass
    elif patterns.unit == "baskets":
        p = None if sample is None else _sample_p_values(patterns.itemsets, sample, sides)
    elif ends is not None:
        p = largest_p_values(people, *ends)
    elif not patterns.noisy:
        p = p_values(patterns.people, *side_counts)
    # A number of tests without p-values would adjust nothing, and reads as 0.
    result = Rules(
        antecedents=patterns.itemsets.take(antecedent_rows),
        consequents=patterns.itemsets.take(consequent_rows),
        antecedent_counts=side_counts[0],
        consequent_counts=side_counts[1],
        counts=side_counts[2],
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
        p_adjusted=None if p is None else adjust_p_values(p, test_count),
        tested=0 if p is None else test_count,
        hierarchy=patterns.hierarchy,
    )
    return result.where(significance=significance, redundant=redundant)


def _sample_p_values(itemsets: Itemsets, sample: BasketSample, sides: tuple[Positions, ...]) -> NDArray[np.float64]:
    """Return the p-values of rules in one basket of each person, with counts of these baskets."""
    # An itemset occurs in many rules, and is counted once.
    used_rows, places = np.unique(np.concatenate(sides), return_inverse=True)
    counts = sample.count(itemsets.take(used_rows))[places]
    return p_values(sample.people, *np.split(counts, 3))


def _search(
    patterns: Patterns, minimums: tuple[float, float], max_consequent: int, limit: int
) -> tuple[Positions, Positions, Positions, int]:
    """Return the rows of each rule's pattern, antecedent and consequent, and the number of omitted rules."""
    from ..kernels import find_rules, in_threads, threads

    index = patterns.index
    table = (index.slots, index.hashes, patterns.offsets, patterns.codes, index.keys)
    # Noisy counts may grow with more items: then a low confidence does not bound the confidence of longer consequents.
    shape = (max_consequent, not patterns.noisy)

    def piece(start: int) -> tuple[Positions, Positions, Positions, int, int]:
        """Return the rules of a block of patterns, with the numbers of omitted and rejected rules."""
        rule_count: tuple[Positions, Positions, Positions, int, int] = find_rules(
            start,
            min(start + _STRIDE, len(patterns)),
            table,
            patterns.counts,
            patterns.people,
            minimums,
            shape,
            limit,
        )
        return rule_count

    # Batches of a few blocks: a search beyond the limit stops early, and not after all patterns.
    starts = range(0, len(patterns), _STRIDE)
    parts: list[tuple[Positions, Positions, Positions, int, int]] = []
    rule_count = omitted = 0
    for batch in range(0, len(starts), threads()):
        fresh = in_threads(piece, starts[batch : batch + threads()])
        rule_count += sum(len(part[0]) + part[4] for part in fresh)
        omitted += sum(part[3] for part in fresh)
        if rule_count + omitted > limit:
            _refuse_rules(rule_count, omitted, limit)
        parts += fresh
    nothing = np.empty(0, np.int64)
    columns = [np.concatenate([nothing, *(part[side] for part in parts)]) for side in range(3)]
    return columns[0], columns[1], columns[2], omitted


def _refuse_rules(rule_count: int, omitted: int, limit: int) -> NoReturn:
    """Raise the error about too many rules, with the cause."""
    if omitted > rule_count:
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
