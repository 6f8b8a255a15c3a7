"""What is true about relations: how many people hold each ordered pair of items, and which pairs are the most reliable.

A person holds a pair because the data say so (`given`), because b came after a in time (`after`), or because both
items are in the basket (`together`). The relations wanted are those of Dong et al. 2024, section 3.1: of the pairs
with the largest support, the ones with the largest confidence.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..baskets.core import Baskets, Codes, Offsets, starts
from ..errors import MisuseError
from ..kernels.jit import in_threads
from ..kernels.relating import pairs_after, pairs_given, pairs_together
from .checks import positive
from .itemsets import Itemsets
from .rules import Rules

How: TypeAlias = Literal["given", "after", "together"]

# The code of a pair, rank times width plus rank, has to fit 31 bits.
MOST_ITEMS = 46_340
# Pairs that are laid out at a time, and up to how many different ones a table of all of them is made.
_ROOM = 1 << 24
_TABLE = 1 << 26


def checked_how(how: Any, baskets: Baskets) -> How:
    """Return what makes a pair, if the data have it."""
    if how not in ("given", "after", "together"):
        raise MisuseError(f"A relation is 'given', 'after' or 'together'; {how!r} was given.")
    if how == "given" and baskets.pairs is None:
        raise MisuseError("These data have no pairs: read them with two columns of items, or use 'together'.")
    if how == "after" and baskets.sequences is None:
        raise MisuseError("These data have no order: read them with a column of times, or use 'together'.")
    return how  # type: ignore[no-any-return]


def held_pairs(
    baskets: Baskets, people: NDArray[np.int64], ranks: NDArray[np.int64], width: int, how: How
) -> tuple[Offsets, Codes]:
    """Return the pairs of ranked items that each of these people holds, as codes rank * width + rank, ascending.

    Parameters
    ----------
    baskets, people
        The data, and the numbers of the people.
    ranks, width
        The rank of each item, or -1, and how many ranks there are.
    how
        What makes a pair; data that do not have it hold none.
    """
    sizes, held = np.zeros(len(people), np.int64), np.empty(0, np.int32)
    offsets = starts(sizes)
    for _ in range(2):  # first how many, then which
        held = np.empty(offsets[-1], np.int32)
        if how == "given" and baskets.pairs is not None:
            given = baskets.pairs
            pairs_given(given.offsets, given.first, given.second, people, ranks, width, offsets, held, sizes)
        elif how == "after" and baskets.sequences is not None:
            events = baskets.sequences
            pairs_after(events.offsets, events.codes, people, ranks, width, offsets, held, sizes)
        elif how == "together":
            pairs_together(baskets.offsets, baskets.codes, people, ranks, width, offsets, held, sizes)
        offsets = starts(sizes)
    return offsets, held


def pair_counts(baskets: Baskets, order: NDArray[np.int64], how: How) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the codes of the pairs of these items that anyone holds, ascending, and how many people hold each."""
    width = len(order)
    ranks = np.full(baskets.items, -1, np.int64)
    ranks[order] = np.arange(width)
    # A person's pairs are at most the square of what they hold or did: rows are laid out in pieces of bounded size.
    rows = baskets.pairs if how == "given" else baskets.sequences if how == "after" else baskets
    lengths = np.diff(rows.offsets if rows is not None else baskets.offsets)
    weights = lengths if how == "given" else np.minimum(lengths, width) ** 2
    edges = np.flatnonzero(np.diff(np.cumsum(weights) // _ROOM, prepend=-1)).tolist()
    spans = list(pairwise([*edges, len(weights)]))

    def count(span: tuple[int, int]) -> tuple[NDArray[Any], NDArray[Any]]:
        return np.unique(held_pairs(baskets, np.arange(*span), ranks, width, how)[1], return_counts=True)

    if width * width <= _TABLE:
        table = np.zeros(width * width, np.int64)
        for span in spans:
            table += np.bincount(held_pairs(baskets, np.arange(*span), ranks, width, how)[1], minlength=width * width)
        codes = np.flatnonzero(table)
        return codes, table[codes]
    found = in_threads(count, spans)
    everything = np.concatenate([codes for codes, _ in found] or [np.empty(0, np.int32)])
    codes, places = np.unique(everything, return_inverse=True)
    counts = np.zeros(len(codes), np.int64)
    np.add.at(counts, places, np.concatenate([many for _, many in found] or [np.empty(0, np.int64)]))
    return codes.astype(np.int64), counts


def relations(
    baskets: Baskets, *, how: How = "together", items: int | None = None, support: int = 1600, top: int = 32
) -> Rules:
    """Return the most reliable of the most frequent relations, the most reliable first.

    Parameters
    ----------
    baskets
        The data.
    how
        What makes a pair: ``"given"``, ``"after"`` or ``"together"``.
    items
        Among how many of the most frequent items (the papers' k); None for all of them.
    support
        Of how many pairs with the largest support (k_s).
    top
        How many relations with the largest confidence (k_c). Equal ones go by support, then by their items.

    Examples
    --------
    >>> import discreet
    >>> found = relations(discreet.read([{"tea", "milk"}] * 3 + [{"milk"}]), top=1)
    >>> [(sorted(rule.antecedent), sorted(rule.consequent), rule.confidence) for rule in found]
    [(['tea'], ['milk'], 1.0)]
    """
    how = checked_how(how, baskets)
    positive("support", support)
    positive("top", top)
    counts = baskets.item_counts
    many = baskets.items if items is None else min(positive("items", items), baskets.items)
    if many > MOST_ITEMS:
        raise MisuseError(f"Relations are counted among up to {MOST_ITEMS:,} items; there are {many:,}: give items=64.")
    order = np.argsort(-counts, kind="stable")[:many].astype(np.int64)
    codes, held = pair_counts(baskets, order, how) if many else (np.empty(0, np.int64), np.empty(0, np.int64))
    kept = np.argsort(-held, kind="stable")[:support]
    first, second, held = order[codes[kept] // max(many, 1)], order[codes[kept] % max(many, 1)], held[kept]
    # Given pairs may be of items that a basket does not list: nobody is then known to hold the first (D8).
    confidence = held / np.maximum(counts[first], 1)
    best = np.argsort(-confidence, kind="stable")[:top]
    sides = [
        Itemsets(np.arange(len(best) + 1, dtype=np.int64), side[best].astype(np.int32)) for side in (first, second)
    ]
    return Rules(
        antecedents=sides[0],
        consequents=sides[1],
        counts=held[best],
        antecedent_counts=counts[first[best]],
        consequent_counts=counts[second[best]],
        vocabulary=baskets.vocabulary,
        people=len(baskets),
    )
