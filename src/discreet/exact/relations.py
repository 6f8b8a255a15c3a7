"""What is true about relations: how many people hold each ordered pair of items, and which pairs are the most reliable.

A person holds a pair because the data say so (`given`), because b came after a in time (`after`; what is at the same
time is not after), or because both items are in the basket (`together`). The relations wanted are those of Dong et al.
2024, section 3.1: of the pairs with the largest support, the ones with the largest confidence. Where relations may be
built on relations, ((a, b), c), a person holds one who holds both (a, b) and (b, c); its confidence is its support over
that of (a, b).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..baskets.core import Baskets, Codes, Offsets, on_this_machine, starts
from ..checks import positive
from ..errors import MisuseError, told
from ..kernels.jit import in_threads
from ..kernels.relations import count_chains, pairs_after, pairs_given, pairs_together
from ..results.itemsets import Itemsets
from ..results.rules import How as How
from ..results.rules import Rules
from ..wording import hinted

# The code of a pair, rank times width plus rank, has to fit 31 bits.
MOST_ITEMS = 46_340
# A table of all relations of three items has to fit into memory.
MOST_CHAINED = 256
# Pairs that are laid out at a time, and up to how many different ones a table of all of them is made.
_ROOM = 1 << 24
_TABLE = 1 << 26


# A relation is about all that a person holds.
MERGED = "Counts are of people: what all baskets of a person hold was put together."


def checked_how(how: Any, baskets: Baskets) -> How:
    """Return what makes a pair, if the data have it."""
    if how not in ("given", "after", "together"):
        raise MisuseError(f"A relation is 'given', 'after' or 'together'; {how!r} was given.")
    if how == "given" and baskets.pairs is None:
        raise MisuseError(
            told("These data have no pairs: read them with {pair=}, two columns of items; or use 'together'.")
        )
    if how == "after" and baskets.sequences is None:
        raise MisuseError(
            told(
                "These data have no order: read them with {time=}, a column of times, or {ordered=True}; "
                "or use 'together'."
            )
        )
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
            moments = np.empty(0, np.int32) if events.moments is None else events.moments
            pairs_after(events.offsets, events.codes, moments, people, ranks, width, offsets, held, sizes)
        elif how == "together":
            pairs_together(baskets.offsets, baskets.codes, people, ranks, width, offsets, held, sizes)
        offsets = starts(sizes)
    return offsets, held


def pair_counts(baskets: Baskets, order: NDArray[np.int64], how: How) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the codes of the pairs of these items that anyone holds, ascending, and how many people hold each."""
    width, ranks, spans = _laid_out(baskets, order, how)

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


def chain_counts(baskets: Baskets, order: NDArray[np.int64], how: How) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the codes of the chains (a, b, c) of these items that anyone holds, ascending, and how many people do.

    The code is that of the pair (a, b) times the number of items, plus c. Of two items that are simply together, the
    more frequent comes first: the other order would say the same again.
    """
    width, ranks, spans = _laid_out(baskets, order, how)
    table = np.zeros(width**3, np.int64)
    for span in spans:
        offsets, held = held_pairs(baskets, np.arange(*span), ranks, width, how)
        count_chains(offsets, held, width, table)
    codes = np.flatnonzero(table)
    if how == "together":
        codes = codes[codes // width**2 < codes // width % width]
    return codes, table[codes]


def _laid_out(
    baskets: Baskets, order: NDArray[np.int64], how: How
) -> tuple[int, NDArray[np.int64], list[tuple[int, int]]]:
    """Return how many ranks there are, the rank of each item or -1, and spans of people to lay pairs out for."""
    width = len(order)
    ranks = np.full(baskets.items, -1, np.int64)
    ranks[order] = np.arange(width)
    # A person's pairs are at most the square of what they hold or did: rows are laid out in pieces of bounded size.
    rows = baskets.pairs if how == "given" else baskets.sequences if how == "after" else baskets
    lengths = np.diff(rows.offsets if rows is not None else baskets.offsets)
    weights = lengths if how == "given" else np.minimum(lengths, width) ** 2
    edges = np.flatnonzero(np.diff(np.cumsum(weights) // _ROOM, prepend=-1)).tolist()
    return width, ranks, list(pairwise([*edges, len(weights)]))


def usual_how(baskets: Baskets) -> How:
    """Return what makes a pair where nobody says: what the data have beside baskets."""
    return "given" if baskets.pairs is not None else "after" if baskets.sequences is not None else "together"


@hinted
def relations(
    baskets: Baskets | Any,
    *,
    person: str | None = None,
    item: str | None = None,
    time: str | None = None,
    pair: tuple[str, str] | None = None,
    how: How | None = None,
    items: int | None = None,
    support: int = 1600,
    top: int = 32,
    longest: int = 2,
) -> Rules:
    """Find the most reliable of the most frequent relations a → b, exactly. Nothing about the result is private.

    Parameters
    ----------
    baskets
        What :func:`discreet.read` returns, or anything it accepts.
    person, item, time, pair
        The columns of a table, as for :func:`discreet.read`.
    how
        What makes a pair: ``"given"``, ``"after"`` or ``"together"``. None for pairs that are given, where the data
        have them; else for the order of events, where they have one; else for what is together.
    items
        Among how many of the most frequent items (the papers' k); None for all of them.
    support
        Of how many relations with the largest support (k_s).
    top
        How many relations with the largest confidence (k_c). Equal ones go by support, then by their items.
    longest
        2 for pairs alone; 3 for relations ((a, b), c) too, which then compete with pairs. Of items that are simply
        together, {a, b} is one first side; otherwise ((a, b), c) and ((b, a), c) are two relations, and the codes of a
        first side come in its order.

    Examples
    --------
    >>> import discreet
    >>> found = discreet.relations([{"tea", "milk"}] * 3 + [{"milk"}], top=1)
    >>> [(sorted(rule.antecedent), sorted(rule.consequent), rule.confidence) for rule in found]
    [(['tea'], ['milk'], 1.0)]
    >>> shopping = discreet.read([["pram", "toys"]] * 3 + [["toys", "pram"]], ordered=True)
    >>> [(*one.antecedent, *one.consequent, one.count) for one in discreet.relations(shopping)]
    [('pram', 'toys', 3), ('toys', 'pram', 1)]
    """
    from ..baskets.read import read

    everything = on_this_machine(read(baskets, person=person, item=item, time=time, pair=pair), "relations()")
    baskets = everything.merged_people()
    how = checked_how(usual_how(baskets) if how is None else how, baskets)
    positive("support", support)
    positive("top", top)
    if longest not in (2, 3):
        raise MisuseError(f"longest is 2 or 3, the items of a relation at most; {longest!r} was given.")
    counts = baskets.item_counts
    many = baskets.items if items is None else min(positive("items", items), baskets.items)
    most = MOST_ITEMS if longest == 2 else MOST_CHAINED
    if many > most:
        raise MisuseError(
            told(
                "Relations are counted among up to {limit_is:,} items; there are {many:,}: give {items=64}.",
                limit_is=most,
                many=many,
            )
        )
    order = np.argsort(-counts, kind="stable")[:many].astype(np.int64)
    codes, held = pair_counts(baskets, order, how) if many else (np.empty(0, np.int64), np.empty(0, np.int64))
    alone = counts[order[codes // max(many, 1)]]
    if longest == 3 and many:
        chains, more = chain_counts(baskets, order, how)
        # Who holds a chain holds its first pair, so that pair is there.
        alone = np.concatenate((alone, held[np.searchsorted(codes, chains // many)]))
        codes, held = np.concatenate((codes, many * many + chains)), np.concatenate((held, more))
    kept = np.argsort(-held, kind="stable")[:support]
    # Given pairs may be of items that a basket does not list: nobody is then known to hold the first (D8).
    best = kept[np.argsort(-held[kept] / np.maximum(alone[kept], 1), kind="stable")[:top]]
    first = [_first(int(code), order, how) for code in codes[best]]
    last = order[codes[best] % max(many, 1)].astype(np.int32)
    return Rules(
        antecedents=Itemsets.of(first),
        consequents=Itemsets(np.arange(len(best) + 1, dtype=np.int64), last),
        counts=held[best],
        antecedent_counts=alone[best],
        consequent_counts=counts[last],
        vocabulary=baskets.vocabulary,
        people=len(baskets),
        kind="relations",
        how=how,
    )


def _first(code: int, order: NDArray[np.int64], how: How) -> list[int]:
    """Return the items of the first side: one for a pair; for a chain, whose codes come after those of pairs, two."""
    many = len(order)
    if code < many * many:
        return [int(order[code // many])]
    pair = divmod((code - many * many) // many, many)
    side = [int(order[rank]) for rank in pair]
    return sorted(side) if how == "together" else side
