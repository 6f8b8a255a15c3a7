"""How the exact miner goes about it: choose a layout of the rows, split the work over threads, put the result in order.

Internal; :func:`discreet.mine` is the door. Everything here is in codes and counts, nothing in labels or fractions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from math import comb
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..baskets.core import starts
from ..checks import LARGEST
from ..errors import LimitError, Message, told
from ..kernels import assemble, counting, mining
from ..kernels.jit import in_threads, threads
from ..kernels.pieces import pieces
from ..results.itemsets import Itemsets
from .rows import RowLayout, by_count, largest, lay_out, narrow, ranks_of

Kind: TypeAlias = Literal["all", "closed", "maximal"]
Progress: TypeAlias = Callable[[float], object]
FoundArrays: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]
I32: TypeAlias = NDArray[np.int32]
I64: TypeAlias = NDArray[np.int64]
U64: TypeAlias = NDArray[np.uint64]

# How many bytes of bitmaps the search for closed and maximal patterns may use.
_BITMAPS = 1 << 24
# Where the counts of items alone leave more than some of them in the running for the top, the few most frequent ones
# and their patterns say more.
_FEW = 64
_SOME = 256
# Itemsets are counted by columns where that takes no more words than so many times the codes of all rows.
_WORDS = 16
# All pairs of some items are counted at once where no more items are asked about than the first, and the square of
# their number is no more than so many times the pairs that are asked for.
_SQUARE = 1024
_OF_SQUARE = 8


@dataclass(frozen=True, kw_only=True)
class SearchBounds:
    """What is to be found: at least `count` people, between `least` and `most` items (without the prefix).

    With `work` only a count is: that of rank `top`, or where that is more, of rank `work` among the patterns of any
    length up to the most.
    """

    count: int
    least: int
    most: int
    limit: int
    kind: Kind = "all"
    top: int = 0
    work: int = 0

    def numbers(self) -> I64:
        """Return the same as the kernels take it.

        What is closed or maximal shows only beside patterns with one more item, so those are looked at too.
        """
        closed = int(self.kind != "all")
        numbers = np.zeros(mining.NUMBERS, np.int64)
        numbers[mining.COUNT] = self.count
        numbers[mining.LEAST] = self.least
        numbers[mining.MOST] = numbers[mining.TIED] = self.most + closed
        numbers[mining.TOP] = self.top
        numbers[mining.LIMIT] = self.limit
        numbers[mining.CLOSED] = closed
        numbers[mining.AGAIN] = 4096
        numbers[mining.WORK] = self.work
        return numbers


def search(rows: RowLayout, wanted: SearchBounds, progress: Progress | None = None) -> FoundArrays:
    """Find patterns and return them in order as offsets, codes and counts.

    The order: falling count, then rising size, then the items compared from the rarest to the most frequent.
    """
    if wanted.top and wanted.kind == "closed":
        return _top_closed(rows, wanted, progress)
    if rows.lineage is not None and wanted.kind != "all":
        return _condensed_apart(rows, wanted, progress)
    if wanted.top:
        wanted = _raised(rows, wanted)
    labels = rows.frequent(wanted.count)
    _check_longest(rows, wanted)
    batches, threshold = _records(rows, labels, wanted, progress)
    if wanted.kind == "all":
        found = _ordered(batches, labels, rows, replace(wanted, count=threshold))
    else:
        found = _condensed(*_unjoined(batches), labels, rows.prefix, wanted)
    return _with_prefix_alone(found, rows.held[labels], rows.people, rows.prefix, wanted)


def _condensed_apart(rows: RowLayout, wanted: SearchBounds, progress: Progress | None) -> FoundArrays:
    """Find closed or maximal patterns where items stand above others: among all of them, as none joins a node there."""
    nothing = np.empty(0, np.int32)
    every = replace(wanted, kind="all", least=1, most=wanted.most + 1)
    try:
        offsets, codes, counts = search(replace(rows, prefix=nothing), every, progress)
    except LimitError:
        raise LimitError(too_many(wanted)) from None
    # Those who hold the prefix hold what stands above it too: only what may be added counts.
    free, held = rows.frequent(1), np.zeros_like(rows.held)
    held[free] = rows.held[free]
    return assemble_sets(
        Itemsets(offsets, codes), counts, held=held, people=rows.people, prefix=rows.prefix, wanted=wanted
    )


def assemble_sets(
    itemsets: Itemsets, counts: I64, *, held: I64, people: int, prefix: I32, wanted: SearchBounds
) -> FoundArrays:
    """Put patterns that were found elsewhere in the order of :func:`search`, and leave those that are wanted.

    Parameters
    ----------
    itemsets, counts
        All patterns that `wanted.count` people or more hold and that have no more than the most items; where closed or
        maximal ones are wanted, no more than one item more.
    held, people
        How many hold each item, and how many people there are: those who hold the prefix.
    prefix
        What every pattern has besides.
    wanted
        Which of them are wanted.
    """
    labels = by_count(held, np.flatnonzero(held >= max(wanted.count, 1)))
    ranks = Itemsets(itemsets.offsets, ranks_of(labels, len(held))[itemsets.codes])
    # As the miner has them, so that nothing is compiled anew; more people are more than the miner takes.
    small: NDArray[Any] = counts.astype(np.int32) if int(counts.max(initial=0)) <= np.iinfo(np.int32).max else counts
    if wanted.kind == "all":
        right = (ranks.sizes >= wanted.least) & (ranks.sizes <= wanted.most) & (small >= wanted.count)
        found = _in_order(ranks.take(np.flatnonzero(right)), small[right], labels, prefix)
    else:
        found = _condensed(ranks, small, labels, prefix, wanted)
    return _with_prefix_alone(found, held[labels], people, prefix, wanted)


def _with_prefix_alone(found: FoundArrays, held: I64, people: int, prefix: I32, wanted: SearchBounds) -> FoundArrays:
    """Put the prefix first where it is a pattern by itself; `held` says how many hold each item that may be added."""
    alone = True
    if wanted.kind != "all":
        # The prefix alone is closed if no item lies in all its rows, maximal if no item can be added at all.
        alone = not len(held) or (wanted.kind == "closed" and int(held[0]) < people)
    if alone and len(prefix) and wanted.least <= 0 <= wanted.most and people >= wanted.count:
        found = _prefix_first(found, people, prefix)
    return _first(found, wanted.top) if wanted.top else found


def count_of_rank(rows: RowLayout, rank: int, least: int, most: int, work: int) -> int:
    """Return the count of a rank among all patterns of these lengths; 0 where fewer occur.

    It is not less than the count of rank `work`, at least as large a number, among those of 1 to `most` items: however
    long the patterns, no more of their parts have to be looked at. Ties are counted and not listed.
    """
    wanted = SearchBounds(count=1, least=least, most=most, limit=LARGEST, top=rank, work=work)
    wanted = _raised(rows, wanted)
    return _records(rows, rows.frequent(wanted.count), wanted, None)[1] - 1


def _first(found: FoundArrays, top: int) -> FoundArrays:
    offsets, codes, counts = found
    offsets = offsets[: top + 1]
    return offsets, codes[: offsets[-1]], counts[:top]


def _top_closed(rows: RowLayout, wanted: SearchBounds, progress: Progress | None) -> FoundArrays:
    """Lower the threshold until enough closed patterns reach it; a threshold that enough patterns reach is a start."""
    alone = search(rows, replace(wanted, kind="all"))
    count = int(alone[2].min(initial=rows.people)) if len(alone[2]) == wanted.top else 1
    while True:
        found = search(rows, replace(wanted, top=0, count=max(count, 1)), progress)
        if len(found[2]) >= wanted.top or count <= 1:
            return _first(found, wanted.top)
        count //= 2


def _prefix_first(found: FoundArrays, people: int, prefix: I32) -> FoundArrays:
    offsets, codes, counts = found
    return (
        np.concatenate(([0], offsets + len(prefix))),
        np.concatenate((prefix, codes)),
        np.concatenate(([people], counts)),
    )


def _records(rows: RowLayout, labels: I32, wanted: SearchBounds, progress: Progress | None) -> tuple[list[I32], int]:
    """Run the kernels; return their records in depth-first order, and the threshold reached."""
    counts = rows.held[labels]
    if not len(labels):
        return [], wanted.count
    numbers, spans = wanted.numbers(), rows.spans(labels)
    seen = np.zeros((2 if wanted.work else 1) * (rows.people + 2) if wanted.top else 0, np.int64)
    task: Callable[[tuple[int, int]], I32]
    if _is_dense(rows, counts):
        columns, places = rows.columns.of(labels)
        in_order = bool((places == np.arange(len(places))).all())
        bitmaps = columns[: len(places)] if in_order else columns[places]
        # Each item is met with all before it: so the work of the first ones goes with the square of their number.
        at = np.unique(np.rint(len(labels) * np.sqrt(np.linspace(0, 1, 16 * threads() + 1)))).astype(np.int64)

        def task(piece: tuple[int, int]) -> I32:
            return mining.mine_dense(bitmaps, counts, *piece, spans, numbers, seen)

    else:
        flat, positions, heads = lay_out(rows, labels)
        cuts = np.linspace(0, len(positions) + len(labels), 16 * threads() + 1)
        at = np.unique(np.searchsorted(heads + np.arange(len(heads)), cuts))
        at[-1] = len(labels)

        def task(piece: tuple[int, int]) -> I32:
            return mining.mine_sparse(flat, positions, heads, counts, *piece, spans, numbers, seen)

    # Where the threshold rises as patterns are found, all is one piece of work, the most frequent items first.
    work = [(0, len(labels))] if wanted.top else [(int(a), int(b)) for a, b in pairwise(at) if a < b]
    total = 0

    def counted(piece: tuple[int, int]) -> I32:
        nonlocal total
        batch = task(piece)
        total += len(batch) // 3
        if total > wanted.limit or (len(batch) and batch[0] < 0):
            raise LimitError(too_many(wanted))
        return batch

    try:
        # Rare items have the larger part of the lattice below them: begin with those, so that threads end together.
        batches = in_threads(counted, work[::-1], progress)[::-1]
    except BaseException:
        numbers[mining.LIMIT] = -1  # what still runs sees that it has passed the limit, and stops
        raise
    return batches, int(numbers[mining.COUNT])


def _check_longest(rows: RowLayout, wanted: SearchBounds) -> None:
    """Stop before the work begins where one row alone has too many subsets, each of which counts."""
    if wanted.count > 1 or wanted.top or wanted.kind != "all" or not len(rows.codes) or rows.lineage is not None:
        return  # where items stand above others, not every subset counts
    ends = rows.offsets
    if not rows.allowed.all():
        ends = np.concatenate(([0], np.cumsum(rows.allowed[rows.codes])))[ends]
    longest = int(np.diff(ends).max())
    subsets = 0
    for size in range(max(wanted.least, 1), min(wanted.most, longest) + 1):
        subsets += comb(longest, size)
        if subsets > wanted.limit:
            raise LimitError(too_many(wanted))


def too_many(wanted: SearchBounds) -> Message:
    """Say that there are more patterns than the limit, and what to do about it."""
    what = "patterns" if wanted.kind == "all" else f"candidates for {wanted.kind} patterns"
    if wanted.top:
        ask = told("Ask for fewer ({top=}), for shorter ones ({lengths=}), or raise {limit=}")
    else:
        ask = told("Raise {min_count} or {min_support}, ask for shorter ones ({lengths=}), or raise {limit=}")
    return told(
        "There are more than {allowed:,} {what}. {ask} if memory allows.", allowed=wanted.limit, what=what, ask=ask
    )


def _is_dense(rows: RowLayout, counts: I64) -> bool:
    """Whether bitmaps over all rows are cheaper than a set of bitmaps for each item, and not too large."""
    if not rows.columns.fit(len(counts)):
        return False
    entries = int(counts.sum())
    all_pairs = len(counts) ** 2 * rows.people / 1024
    row_by_row = 3 * entries * entries / max(rows.people, 1)
    return all_pairs < row_by_row


def _raised(rows: RowLayout, wanted: SearchBounds) -> SearchBounds:
    """Raise the count to one that at least `top` patterns reach: as many do among the most frequent items alone.

    Where only the count of a rank is wanted, to one more: what ties with that rank need not be looked at.
    """
    alone = largest(rows.held[rows.allowed], wanted.top) if wanted.least <= 1 else 0
    wanted = replace(wanted, count=max(wanted.count, alone + (wanted.work > 0)))
    labels = rows.frequent(wanted.count)
    if len(labels) <= (_SOME if alone else _FEW):
        return wanted
    return replace(wanted, count=_records(rows, labels[:_FEW], wanted, None)[1])


def _ordered(batches: list[I32], labels: I32, rows: RowLayout, wanted: SearchBounds) -> FoundArrays:
    """Put the records in order and write their patterns; scratch is let go before the codes are written."""
    sizes, counts = _column(batches, 0), _column(batches, 2)
    deepest = int(sizes.max(initial=0))
    wanted_here = (sizes >= wanted.least) & (sizes <= wanted.most) & (counts >= wanted.count)
    everything = bool(wanted_here.all())
    kept = np.empty(0, np.int64) if everything else np.flatnonzero(wanted_here)
    places = np.full(len(sizes), -1, np.int32)
    if not everything:
        sizes, counts = sizes[kept], counts[kept]
    order = assemble.order_patterns(sizes, counts, deepest, int(counts.max(initial=0)))
    if wanted.top:
        order = order[: wanted.top]
    places[order if everything else kept[order]] = np.arange(len(order), dtype=np.int32)
    offsets = starts(sizes[order] + np.int32(len(rows.prefix)))
    found_counts = counts[order].astype(np.int64)
    del sizes, counts, kept, order
    codes = np.empty(offsets[-1], np.int32)
    ends = np.cumsum([len(batch) // 3 for batch in batches], dtype=np.int64)

    def write(b: int) -> None:
        mine = places[ends[b] - len(batches[b]) // 3 : ends[b]]
        assemble.write_patterns(batches[b], mine, labels, rows.prefix, deepest, offsets, codes)

    in_threads(write, range(len(batches)))
    return offsets, codes, found_counts


def _column(batches: list[I32], column: int) -> I32:
    return np.concatenate([batch[column::3] for batch in batches] or [np.empty(0, np.int32)])


def _unjoined(batches: list[I32]) -> tuple[Itemsets, I32]:
    """Return the candidates for closed and maximal patterns that records stand for, as ranks, with their counts."""
    records = np.concatenate(batches or [np.empty(0, np.int32)])
    sizes, counts = assemble.measure_joined(records)
    ranks = np.empty(int(sizes.sum()), np.int32)
    assemble.write_joined(records, int(records[0::3].max(initial=0)), int(sizes.max(initial=0)), ranks)
    return Itemsets(starts(sizes), ranks), counts


def _condensed(candidates: Itemsets, counts: I32, labels: I32, prefix: I32, wanted: SearchBounds) -> FoundArrays:
    """Keep of all candidates the closed or the maximal ones: those that no other (of the same count) contains."""
    sizes = candidates.sizes
    if wanted.kind == "closed":
        order = np.lexsort((-sizes, counts))
        groups = np.flatnonzero(np.diff(counts[order], prepend=-1, append=-1))
    else:
        order = np.argsort(-sizes, kind="stable")
        groups = np.array([0, len(order)])
    candidates, counts = candidates.take(order), counts[order]
    # A bitmap an item is quick where items are few, as in dense data; lists are small where they are many.
    few = len(labels) * len(counts) // 8 <= _BITMAPS
    unsubsumed = assemble.unsubsumed_by_bitmaps if few else assemble.unsubsumed_by_lists
    kept = unsubsumed(candidates.offsets, candidates.codes, groups.astype(np.int64), len(labels))
    kept &= (candidates.sizes >= wanted.least) & (candidates.sizes <= wanted.most)
    return _in_order(candidates.take(np.flatnonzero(kept)), counts[kept], labels, prefix)


def _in_order(found: Itemsets, counts: I32, labels: I32, prefix: I32) -> FoundArrays:
    """Return patterns of ranks in the order of :func:`search`, as codes, with the prefix in each."""
    falling = found.codes.copy()
    assemble.sort_falling(found.offsets, falling)
    order = assemble.order_sets(found.offsets, falling, counts)
    found = found.take(order)
    codes = labels[found.codes]
    assemble.sort_rising(found.offsets, codes)
    offsets = found.offsets
    if len(prefix):
        offsets, codes = with_prefix(offsets, codes, prefix)
    return offsets, codes, counts[order].astype(np.int64)


def with_prefix(offsets: I64, codes: I32, prefix: I32) -> tuple[I64, I32]:
    """Put the codes of `prefix` into every row."""
    sizes = np.diff(offsets)
    wider = starts(sizes + len(prefix))
    mixed = np.empty(wider[-1], np.int32)
    own = np.repeat(wider[:-1] - offsets[:-1], sizes) + np.arange(len(codes))
    mixed[own] = codes
    mixed[(wider[1:, None] - 1 - np.arange(len(prefix))).ravel()] = np.tile(prefix, len(sizes))
    rows = np.repeat(np.arange(len(sizes)), sizes + len(prefix))
    return wider, mixed[np.lexsort((mixed, rows))]


def count_sets(rows: RowLayout, offsets: I64, codes: I32) -> I64:
    """Count given itemsets: row i of (`offsets`, `codes`) is the i-th, its codes ascending and unique."""
    held = rows.held
    sets = Itemsets(offsets, codes)
    counts = np.zeros(len(sets), np.int64)
    single = sets.sizes == 1
    counts[single] = held[codes[offsets[:-1][single]]]
    possible = sets.sizes > 1
    empty_handed = held[codes] == 0
    if empty_handed.any():  # someone asks for an item nobody holds
        possible[np.repeat(np.arange(len(sets)), sets.sizes)[empty_handed]] = False
    several = np.flatnonzero(possible)
    if not len(several):
        return counts
    chosen = sets.take(several)
    used = np.zeros(len(held), np.bool_)
    used[chosen.codes] = True
    labels = by_count(held, np.flatnonzero(used))
    if len(chosen.codes) * rows.columns.words <= _WORDS * len(rows.codes) and rows.columns.fit(len(labels)):
        bitmaps, places = rows.columns.of(chosen.codes)
        counts[several] = count_columns(bitmaps, chosen.offsets, places)
    elif (chosen.sizes == 2).all() and len(labels) <= _SQUARE and len(labels) ** 2 <= _OF_SQUARE * len(chosen):
        counts[several] = _by_pairs(rows, chosen, labels)
    else:
        counts[several] = _by_positions(rows, chosen, labels)
    return counts


def count_columns(bitmaps: U64, offsets: I64, places: I32) -> I64:
    """Count itemsets of two items or more by their columns: itemset i is of ``places[offsets[i]:offsets[i + 1]]``."""
    counts = np.zeros(len(offsets) - 1, np.int64)
    in_threads(
        lambda piece: counting.count_columns(bitmaps, offsets, places, *piece, counts), pieces(offsets, threads())
    )
    return counts


def _by_pairs(rows: RowLayout, sets: Itemsets, labels: I32) -> I64:
    """Count pairs, which are many of those that `labels` have, by counting all of these in one pass."""
    rank = ranks_of(labels, len(rows.allowed))
    table = narrow(rank, len(labels))
    work = list(rows.pieces())
    tallies = np.zeros((len(work), len(labels), len(labels)), np.int64)
    in_threads(lambda t: counting.count_pairs(rows.offsets, rows.codes, table, *work[t], tallies[t]), range(len(work)))
    ranks = rank[sets.codes].reshape(-1, 2)
    found: I64 = tallies.sum(axis=0)[ranks.max(axis=1), ranks.min(axis=1)]
    return found


def _by_positions(rows: RowLayout, sets: Itemsets, labels: I32) -> I64:
    """Count itemsets of two items or more in the rows of their rarest items; `labels` are all their items."""
    ranks = ranks_of(labels, len(rows.allowed))[sets.codes]
    assemble.sort_falling(sets.offsets, ranks)
    roots = ranks[sets.offsets[:-1]]
    order = np.argsort(roots, kind="stable")
    chosen = Itemsets(sets.offsets, ranks).take(order)
    groups = np.searchsorted(roots[order], np.arange(len(labels) + 1)).astype(np.int64)
    flat, positions, heads = lay_out(rows, labels)
    result = np.zeros(len(sets), np.int64)
    cuts = np.unique(np.linspace(0, len(labels), 8 * threads() + 1).astype(np.int64))
    work = [(int(a), int(b)) for a, b in pairwise(cuts)]
    in_threads(
        lambda piece: counting.count_sets(flat, positions, heads, chosen.offsets, chosen.codes, groups, *piece, result),
        work,
    )
    counts = np.empty(len(sets), np.int64)
    counts[order] = result
    return counts
