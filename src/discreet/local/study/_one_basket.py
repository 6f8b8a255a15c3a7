"""Devices that hold several baskets: which one each answers for in a simulation, and what is then true.

A device draws one of its baskets, as `local.device.choosing` has it, and is one with a single basket from then on. So
protocols, estimates and intervals know nothing of it. What they estimate is the expected number of people whose drawn
basket holds a pattern: every basket counts with the chance that it is drawn.
"""

from __future__ import annotations

from functools import partial
from math import ceil
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...baskets import AnyBaskets, Baskets, Item, take_rows
from ...errors import LimitError
from ...exact import Supports, engine_of, mine
from ...kernels import draw_tickets
from ...results import Itemsets, Patterns
from ..device import WORD, Draws, draw_position
from ._seeded_words import SeededWords, seed_of

TrueCounts: TypeAlias = dict[frozenset[Item], float]

_LIMIT = 2_000_000  # patterns that may be looked through for those that are expected most
_DIGITS = 9  # of a sum of fractions, that can be trusted
_CLOSE = 1e-6


def drawn(baskets: Baskets, seed: int, max_baskets: int = 1) -> Baskets:
    """Return the basket that each person's device answers for, drawn from a stream of words of its own.

    Equal people draw independently, as their devices know nothing of each other.
    """
    if baskets.owners is None:
        return baskets
    many, stream = np.diff(baskets.owners), seed_of(seed, "basket")
    bounds = np.maximum(many, max_baskets)
    words = np.empty(baskets.people, np.uint32)
    draw_tickets(np.uint64(stream), words)
    places = np.minimum(words % bounds, many)
    for person in np.flatnonzero(words >= WORD - WORD % bounds).tolist():  # words that are drawn again: hardly ever
        places[person] = draw_position(int(many[person]), max_baskets, Draws(SeededWords(stream, person).take))
    rows = np.where(places < many, baskets.owners[:-1] + places, len(baskets))
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


def expected(baskets: AnyBaskets, patterns: Patterns, max_baskets: int = 1) -> NDArray[np.float64]:
    """Return the number of people whose drawn basket is expected to hold each pattern."""
    return baskets.reduce(partial(_expected_part, itemsets=patterns.itemsets, max_baskets=max_baskets), np.add)


def _expected_part(baskets: Baskets, itemsets: Itemsets, max_baskets: int) -> NDArray[np.float64]:
    bounds = _bounds(baskets, max_baskets)
    total = np.zeros(len(itemsets))
    for bound in np.unique(bounds):
        held = engine_of(baskets.rows(np.flatnonzero(bounds == bound))).answer(Supports(itemsets))
        total += held / bound
    return total


def true_patterns(baskets: Baskets, max_baskets: int, top: int, least: int) -> TrueCounts:
    """Return the patterns that the drawn baskets are expected to hold most often, with the people expected to.

    Each basket is drawn with a chance of at most 1 in `max_baskets`, so what is expected is at most that part of the
    plain count: mining at the least expected number of some good patterns finds all that may be better.
    """
    lengths = (least, None)
    plain = mine(baskets, top=top, lengths=lengths)
    guessed = mine(drawn(baskets, 0, max_baskets), top=top, lengths=lengths)
    full = [some for some in (plain, guessed) if len(some) == top]
    if full:
        reached = max(float(expected(baskets, some, max_baskets).min()) for some in full)
        try:
            # A little less: the last digits of sums of fractions are not to be trusted.
            plain = mine(baskets, min_count=max(1, ceil(reached * max_baskets - _CLOSE)), lengths=lengths, limit=_LIMIT)
        except LimitError:
            raise LimitError.format(
                "What is true of these people is too much to look through: ask for fewer patterns, or leave "
                "{score} out."
            ) from None
    counts = expected(baskets, plain, max_baskets).round(_DIGITS)
    best = np.argsort(-counts, kind="stable")[:top]
    sets = list(plain.itemsets.sets(baskets.vocabulary))
    return {sets[at]: float(counts[at]) for at in best.tolist()}


def _bounds(baskets: Baskets, max_baskets: int) -> NDArray[np.int64]:
    """Return, for every basket, in how many draws of its person's device it is expected once."""
    if baskets.owners is None:
        return np.ones(len(baskets), np.int64)
    many = np.diff(baskets.owners)
    return np.repeat(np.maximum(many, max_baskets), many)


def said(max_baskets: int) -> str:
    """Say whose baskets answered, what counts are of, and what is protected."""
    if max_baskets == 1:
        how = (
            "Counts are of people. Each answered for one of their baskets, drawn at random, so everybody weighs the "
            "same, however many baskets they have."
        )
    else:
        how = (
            f"Counts are of people. Each answered for one of their baskets, drawn at random; those with fewer than "
            f"{max_baskets:,} had empty baskets added up to that number, and could draw one. {max_baskets:,} times a "
            f"count estimates a number of baskets, of which a person has {max_baskets:,} at most."
        )
    return f"{how} The unit of privacy is the person, with all their baskets."
