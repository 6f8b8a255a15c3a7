"""The basket that each device answers for in a simulation: drawn from the baskets of a person, and mapped to a level.

A device with several baskets draws one, as `local.device.choosing` does, and is a device with one basket from then on;
protocols and estimates are unaware of it. They estimate the expected number of people whose drawn basket holds a
pattern: each basket counts with the probability that it is drawn.

With a hierarchy, a device maps its drawn basket before it answers. Each basket is mapped by itself, so that mapping all
baskets before the draw gives the same. Sizes, paddings and estimates are of mapped baskets, and the loss of a report is
unchanged: `baskets/hierarchy.md` has the proof.
"""

from __future__ import annotations

from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...baskets import (
    AnyBaskets,
    Baskets,
    Hierarchy,
    Item,
    generalised,
    recode_baskets,
    resolve_public_items,
    take_rows,
)
from ...errors import LimitError, MisuseError
from ...exact import Supports, engine_of, mine
from ...kernels import draw_tickets
from ...results import Itemsets, Patterns
from ..device import WORD, Draws, draw_position
from ._seeded_words import SeededWords, seed_of

if TYPE_CHECKING:
    from .. import Protocol

TrueCounts: TypeAlias = dict[frozenset[Item], float]

# The largest number of patterns that are counted to find the most frequent ones. Larger: more memory; smaller: less
# data can be scored.
_LIMIT = 2_000_000
_DIGITS = 9  # decimals of a sum of fractions that rounding leaves right
_TOLERANCE = 1e-6  # above the rounding error of a sum of fractions, and below the step of any true sum


def draw_baskets(baskets: Baskets, seed: int, max_baskets: int = 1) -> Baskets:
    """Return the basket that each person's device answers for, drawn from a stream of words of this person.

    Persons with equal baskets draw independently, as their devices do.
    """
    if baskets.owners is None:
        return baskets
    basket_counts, stream = np.diff(baskets.owners), seed_of(seed, "basket")
    bounds = np.maximum(basket_counts, max_baskets)
    words = np.empty(baskets.people, np.uint32)
    draw_tickets(np.uint64(stream), words)
    positions = np.minimum(words % bounds, basket_counts)
    # A word from the incomplete last multiple of the bound would bias the draw: the device draws again. This is rare.
    for person in np.flatnonzero(words >= WORD - WORD % bounds).tolist():
        positions[person] = draw_position(
            int(basket_counts[person]), max_baskets, Draws(SeededWords(stream, person).take)
        )
    # A position beyond a person's baskets is an empty basket, which is added as the last row.
    rows = np.where(positions < basket_counts, baskets.owners[:-1] + positions, len(baskets))
    offsets, codes = take_rows(np.append(baskets.offsets, baskets.offsets[-1]), rows, baskets.codes)
    segments = None if baskets.segments is None else baskets.segments.take(baskets.owners[:-1])
    return Baskets(
        offsets,
        codes,
        baskets.vocabulary,
        segments=segments,
        lineage=baskets.lineage,
        hierarchy=baskets.hierarchy,
    )


def expected_counts(baskets: AnyBaskets, patterns: Patterns, max_baskets: int = 1) -> NDArray[np.float64]:
    """Return the expected number of people whose drawn basket holds each pattern."""
    return baskets.reduce(partial(_expected_counts, itemsets=patterns.itemsets, max_baskets=max_baskets), np.add)


def _expected_counts(baskets: Baskets, itemsets: Itemsets, max_baskets: int) -> NDArray[np.float64]:
    # The bound of a basket: it is drawn with a probability of 1 / bound.
    bounds = np.ones(len(baskets), np.int64)
    if baskets.owners is not None:
        basket_counts = np.diff(baskets.owners)
        bounds = np.repeat(np.maximum(basket_counts, max_baskets), basket_counts)
    total = np.zeros(len(itemsets))
    for bound in np.unique(bounds):
        total += engine_of(baskets.rows(np.flatnonzero(bounds == bound))).answer(Supports(itemsets)) / bound
    return total


def true_patterns(baskets: Baskets, max_baskets: int, top: int, least: int) -> TrueCounts:
    """Return the patterns of the largest expected counts in drawn baskets, with these counts.

    A basket is drawn with a probability of at most 1 / `max_baskets`, so an expected count is at most the plain count
    over `max_baskets`. Hence two steps: find the smallest expected count of any `top` good patterns, and mine all
    patterns that can exceed it.
    """
    lengths = (least, None)
    plain = mine(baskets, top=top, lengths=lengths)
    sampled = mine(draw_baskets(baskets, 0, max_baskets), top=top, lengths=lengths)
    complete = [patterns for patterns in (plain, sampled) if len(patterns) == top]
    if complete:
        reached = max(float(expected_counts(baskets, patterns, max_baskets).min()) for patterns in complete)
        try:
            min_count = max(1, ceil(reached * max_baskets - _TOLERANCE))
            plain = mine(baskets, min_count=min_count, lengths=lengths, limit=_LIMIT)
        except LimitError:
            raise LimitError.format(
                "What is true of these people is too much to look through: ask for fewer patterns, or leave "
                "{score} out."
            ) from None
    counts = expected_counts(baskets, plain, max_baskets).round(_DIGITS)
    best_rows = np.argsort(-counts, kind="stable")[:top]
    itemsets = list(plain.itemsets.sets(baskets.vocabulary))
    return {itemsets[row]: float(counts[row]) for row in best_rows.tolist()}


def render_drawing_note(max_baskets: int) -> str:
    """Return the note on drawn baskets: which basket answers, the unit of counts, and the unit of privacy."""
    if max_baskets == 1:
        text = (
            "Counts are of people. Each answered for one of their baskets, drawn at random, so everybody weighs the "
            "same, however many baskets they have."
        )
    else:
        text = (
            f"Counts are of people. Each answered for one of their baskets, drawn at random; those with fewer than "
            f"{max_baskets:,} had empty baskets added up to that number, and could draw one. {max_baskets:,} times a "
            f"count estimates a number of baskets, of which a person has {max_baskets:,} at most."
        )
    return f"{text} The unit of privacy is the person, with all their baskets."


def map_baskets(baskets: Baskets, hierarchy: Hierarchy | None, level: Any, plan: Protocol) -> Baskets:
    """Return baskets as devices map them: with the items above theirs, or with the items of one level in their place.

    The list of a protocol has all labels of the hierarchy too, or all of the level, even if no person holds them: it is
    public, as the hierarchy is.
    """
    if hierarchy is not None:
        check_levels(plan, level)
        hierarchy = hierarchy.renamed(baskets.vocabulary.names)
        baskets = recode_baskets(baskets, resolve_public_items(hierarchy, "public", baskets)[0])
    return generalised(baskets, hierarchy, level)


def check_levels(plan: Protocol, level: Any) -> None:
    """Check that a protocol can use a hierarchy, at one level or across levels."""
    if plan.unlisted:
        raise MisuseError.format(
            "{name} finds out what the items are, so nothing is known of what stands above them: leave "
            "{hierarchy} out.",
            name=plan.name,
        )
    if level is None and not plan.across:
        raise MisuseError.format(
            "{name} would relate items to those that stand above them: ask for one level with {level=}, or use "
            "another protocol, such as adept.",
            name=plan.name,
        )
