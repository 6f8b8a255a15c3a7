"""Exact relations: the number of people with each ordered pair of items, and the most reliable pairs.

A person has a pair (a, b) because the data contain it (`given`), because b came after a in time (`after`; events at one
time have no order), or because both items are in the basket (`together`). The wanted relations follow Dong et al. 2024,
section 3.1: among the pairs with the largest support, the pairs with the largest confidence. If relations may contain
relations, ((a, b), c), a person has the chain ((a, b), c) if the person has (a, b) and (b, c); confidence = support of
the chain / support of (a, b).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..baskets import Baskets, Codes, Offsets, require_local_baskets, starts
from ..checks import parse_positive
from ..errors import MisuseError
from ..kernels import count_chains, in_threads, pairs_after, pairs_given, pairs_together
from ..results import How as How, Itemsets, Rules
from ..wording import hint_keywords

I64: TypeAlias = NDArray[np.int64]

# The code of a pair, rank * width + rank, must fit 31 bits: floor(sqrt(2**31)) = 46340.
MOST_ITEMS = 46_340
# A table of all chains of three items must fit into memory: 256**3 counts of 8 bytes are 128 MiB.
MOST_CHAINED = 256
# The number of pairs laid out at a time (64 MiB), and the largest number of cells of a table of all pairs (512 MiB).
# Larger: more memory; smaller: more pieces, and sorting instead of a table.
_PAIRS_AT_A_TIME = 1 << 24
_MAX_TABLE_CELLS = 1 << 26


# A relation is about all baskets of a person together.
MERGED_NOTE = "Counts are of people: what all baskets of a person hold was put together."


def checked_how(how: Any, baskets: Baskets) -> How:
    """Return the kind of pair, after checking that the data have pairs of this kind."""
    if how not in ("given", "after", "together"):
        raise MisuseError(f"A relation is 'given', 'after' or 'together'; {how!r} was given.")
    if how == "given" and baskets.pairs is None:
        raise MisuseError.format(
            "These data have no pairs: read them with {pair=}, two columns of items; or use 'together'."
        )
    if how == "after" and baskets.sequences is None:
        raise MisuseError.format(
            "These data have no order: read them with {time=}, a column of times, or {ordered=True}; or use 'together'."
        )
    return how  # type: ignore[no-any-return]


def held_pairs(baskets: Baskets, people: I64, ranks: I64, width: int, how: How) -> tuple[Offsets, Codes]:
    """Return the pairs of ranked items of each person, as ascending codes rank * width + rank.

    Parameters
    ----------
    baskets, people
        The data, and the numbers of the people.
    ranks, width
        The rank of each item, or -1, and the number of ranks.
    how
        The kind of pair; data without pairs of this kind give no pairs.
    """
    sizes, pair_codes = np.zeros(len(people), np.int64), np.empty(0, np.int32)
    offsets = starts(sizes)
    for _ in range(2):  # the first pass counts pairs, the second writes them
        pair_codes = np.empty(offsets[-1], np.int32)
        if how == "given" and baskets.pairs is not None:
            given_pairs = baskets.pairs
            pairs_given(
                given_pairs.offsets,
                given_pairs.first,
                given_pairs.second,
                people,
                ranks,
                width,
                offsets,
                pair_codes,
                sizes,
            )
        elif how == "after" and baskets.sequences is not None:
            events = baskets.sequences
            moments = np.empty(0, np.int32) if events.moments is None else events.moments
            pairs_after(events.offsets, events.codes, moments, people, ranks, width, offsets, pair_codes, sizes)
        elif how == "together":
            pairs_together(baskets.offsets, baskets.codes, people, ranks, width, offsets, pair_codes, sizes)
        offsets = starts(sizes)
    return offsets, pair_codes


def pair_counts(baskets: Baskets, order: I64, how: How) -> tuple[I64, I64]:
    """Return the ascending codes of the occurring pairs of some items, and the number of people with each pair."""
    width, ranks, spans = _plan_spans(baskets, order, how)

    def count(span: tuple[int, int]) -> tuple[NDArray[Any], NDArray[Any]]:
        return np.unique(held_pairs(baskets, np.arange(*span), ranks, width, how)[1], return_counts=True)

    # A table of all pairs needs no sorting; beyond its limit, each span is sorted and the spans are merged.
    if width * width <= _MAX_TABLE_CELLS:
        table = np.zeros(width * width, np.int64)
        for span in spans:
            table += np.bincount(held_pairs(baskets, np.arange(*span), ranks, width, how)[1], minlength=width * width)
        codes = np.flatnonzero(table)
        return codes, table[codes]
    span_counts = in_threads(count, spans)
    all_codes = np.concatenate([codes for codes, _ in span_counts] or [np.empty(0, np.int32)])
    codes, places = np.unique(all_codes, return_inverse=True)
    counts = np.zeros(len(codes), np.int64)
    np.add.at(counts, places, np.concatenate([span_part for _, span_part in span_counts] or [np.empty(0, np.int64)]))
    return codes.astype(np.int64), counts


def chain_counts(baskets: Baskets, order: I64, how: How) -> tuple[I64, I64]:
    """Return the ascending codes of the occurring chains (a, b, c) of some items, and the number of people with each.

    The code is the code of the pair (a, b) times the number of items, plus c. If items are only together, the more
    frequent of a and b comes first: the reverse order would repeat the relation.
    """
    width, ranks, spans = _plan_spans(baskets, order, how)
    table = np.zeros(width**3, np.int64)
    for span in spans:
        offsets, pair_codes = held_pairs(baskets, np.arange(*span), ranks, width, how)
        count_chains(offsets, pair_codes, width, table)
    codes = np.flatnonzero(table)
    if how == "together":
        codes = codes[codes // width**2 < codes // width % width]
    return codes, table[codes]


def _plan_spans(baskets: Baskets, order: I64, how: How) -> tuple[int, I64, list[tuple[int, int]]]:
    """Return the number of ranks, the rank of each item or -1, and spans of people with bounded numbers of pairs."""
    width = len(order)
    ranks = np.full(baskets.items, -1, np.int64)
    ranks[order] = np.arange(width)
    # A person has at most the square of the number of items or events in pairs: this bounds the size of a span.
    rows = baskets.pairs if how == "given" else baskets.sequences if how == "after" else baskets
    lengths = np.diff(rows.offsets if rows is not None else baskets.offsets)
    weights = lengths if how == "given" else np.minimum(lengths, width) ** 2
    edges = np.flatnonzero(np.diff(np.cumsum(weights) // _PAIRS_AT_A_TIME, prepend=-1)).tolist()
    return width, ranks, list(pairwise([*edges, len(weights)]))


def usual_how(baskets: Baskets) -> How:
    """Return the default kind of pair: `given` or `after` if the data have it, else `together`."""
    return "given" if baskets.pairs is not None else "after" if baskets.sequences is not None else "together"


@hint_keywords
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
    """Find the most reliable of the most frequent relations a → b, exactly. The result is not private.

    Parameters
    ----------
    baskets
        Baskets of :func:`discreet.read`, or anything it accepts.
    person, item, time, pair
        The columns of a table, as for :func:`discreet.read`.
    how
        The kind of pair: ``"given"``, ``"after"`` or ``"together"``. None for ``"given"`` if the data have pairs, else
        ``"after"`` if the data have an order of events, else ``"together"``.
    items
        The number of most frequent items among which relations are counted (the papers' k); None for all items.
    support
        The number of relations with the largest support to choose from (k_s).
    top
        The number of relations with the largest confidence (k_c). Ties go by support, then by items.
    longest
        2 for pairs alone; 3 for relations ((a, b), c) too, which then compete with pairs. For ``"together"``, {a, b} is
        a set; otherwise ((a, b), c) and ((b, a), c) are two relations, and the codes of an antecedent keep its order.

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
    from ..baskets import read

    data = require_local_baskets(read(baskets, person=person, item=item, time=time, pair=pair), "relations()")
    baskets = data.merged_people()
    how = checked_how(usual_how(baskets) if how is None else how, baskets)
    parse_positive("support", support)
    parse_positive("top", top)
    if longest not in (2, 3):
        raise MisuseError(f"longest is 2 or 3, the items of a relation at most; {longest!r} was given.")
    counts = baskets.item_counts
    item_count = baskets.items if items is None else min(parse_positive("items", items), baskets.items)
    max_items = MOST_ITEMS if longest == 2 else MOST_CHAINED
    if item_count > max_items:
        raise MisuseError.format(
            "Relations are counted among up to {limit_is:,} items; there are {many:,}: give {items=64}.",
            limit_is=max_items,
            many=item_count,
        )
    # A stable sort breaks ties by code, so that equal data give equal relations.
    order = np.argsort(-counts, kind="stable")[:item_count].astype(np.int64)
    codes, supports = pair_counts(baskets, order, how) if item_count else (np.empty(0, np.int64), np.empty(0, np.int64))
    # Without items there are no pairs, and a division by the width would fail.
    antecedent_supports = counts[order[codes // max(item_count, 1)]]
    if longest == 3 and item_count:
        chains, chain_supports = chain_counts(baskets, order, how)
        # A person with a chain has its first pair, so that the pair is among `codes`.
        antecedent_supports = np.concatenate(
            (antecedent_supports, supports[np.searchsorted(codes, chains // item_count)])
        )
        codes, supports = (
            np.concatenate((codes, item_count * item_count + chains)),
            np.concatenate((supports, chain_supports)),
        )
    most_supported = np.argsort(-supports, kind="stable")[:support]
    # Given pairs may be of items missing in the basket: the support of the antecedent may then be 0 (D8).
    most_confident = most_supported[
        np.argsort(-supports[most_supported] / np.maximum(antecedent_supports[most_supported], 1), kind="stable")[:top]
    ]
    antecedents = [_decode_antecedent(int(code), order, how) for code in codes[most_confident]]
    consequent_codes = order[codes[most_confident] % max(item_count, 1)].astype(np.int32)
    return Rules(
        antecedents=Itemsets.of(antecedents),
        consequents=Itemsets(np.arange(len(most_confident) + 1, dtype=np.int64), consequent_codes),
        counts=supports[most_confident],
        antecedent_counts=antecedent_supports[most_confident],
        consequent_counts=counts[consequent_codes],
        vocabulary=baskets.vocabulary,
        people=len(baskets),
        kind="relations",
        how=how,
    )


def _decode_antecedent(code: int, order: I64, how: How) -> list[int]:
    """Return the items of the antecedent: one for a pair, two for a chain, with codes above the codes of pairs."""
    item_count = len(order)
    if code < item_count * item_count:
        return [int(order[code // item_count])]
    pair = divmod((code - item_count * item_count) // item_count, item_count)
    side = [int(order[rank]) for rank in pair]
    return sorted(side) if how == "together" else side
