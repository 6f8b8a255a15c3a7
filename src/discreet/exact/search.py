"""How the exact miner goes about it: choose a layout of the rows, split the work over threads, put the result in order.

Internal; :func:`discreet.mine` is the door. Everything here is in codes and counts, nothing in labels or fractions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from math import comb
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..baskets.core import starts
from ..errors import LimitError
from ..kernels import assemble, counting, mining
from ..kernels.jit import in_threads, threads
from .itemsets import Itemsets

Kind: TypeAlias = Literal["all", "closed", "maximal"]
Progress: TypeAlias = Callable[[float], object]
Found: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]
I32: TypeAlias = NDArray[np.int32]
I64: TypeAlias = NDArray[np.int64]
Ranks: TypeAlias = NDArray[Any]

# How many bytes of bitmaps the search for closed and maximal patterns may use.
_BITMAPS = 1 << 24


@dataclass(frozen=True, kw_only=True)
class Rows:
    """The rows to search, and how: which codes may occur, which codes every pattern has besides."""

    offsets: I64
    codes: I32
    allowed: NDArray[np.bool_]
    prefix: I32

    @property
    def people(self) -> int:
        """How many rows there are."""
        return len(self.offsets) - 1

    def pieces(self, align: int = 1) -> Iterator[tuple[int, int]]:
        """Split the rows into runs of about equal work, one a thread, at multiples of `align`."""
        at = np.searchsorted(self.offsets, np.linspace(0, len(self.codes), threads() + 1))
        at = np.minimum(at // align * align, self.people)
        at[-1] = self.people
        return ((int(a), int(b)) for a, b in pairwise(at) if a < b)


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What is to be found: at least `count` people, between `least` and `most` items (without the prefix)."""

    count: int
    least: int
    most: int
    limit: int
    kind: Kind = "all"
    top: int = 0

    def numbers(self) -> I64:
        """Return the same as the kernels take it.

        What is closed or maximal shows only beside patterns with one more item, so those are looked at too.
        """
        closed = int(self.kind != "all")
        numbers = np.zeros(9, np.int64)
        numbers[mining.COUNT] = self.count
        numbers[mining.LEAST] = self.least
        numbers[mining.MOST] = numbers[mining.TIED] = self.most + closed
        numbers[mining.TOP] = self.top
        numbers[mining.LIMIT] = self.limit
        numbers[mining.CLOSED] = closed
        numbers[mining.AGAIN] = 4096
        return numbers


def search(rows: Rows, wanted: Wanted, progress: Progress | None = None) -> Found:
    """Find patterns and return them in order as offsets, codes and counts.

    The order: falling count, then rising size, then the items compared from the rarest to the most frequent.
    """
    if wanted.top and wanted.kind == "closed":
        return _top_closed(rows, wanted, progress)
    held = _held(rows)
    if wanted.top:
        wanted = replace(wanted, count=max(wanted.count, _first_threshold(rows, held, wanted)))
    labels = _frequent(held, rows.allowed, wanted.count)
    _check_longest(rows, wanted)
    batches, threshold = _records(rows, held, labels, wanted, progress)
    if wanted.kind == "all":
        found = _ordered(batches, labels, rows, replace(wanted, count=threshold))
        alone = True
    else:
        found = _condensed(batches, labels, rows, wanted)
        # The prefix alone is closed if no item lies in all its rows, maximal if no item can be added at all.
        alone = not len(labels) or (wanted.kind == "closed" and int(held[labels[0]]) < rows.people)
    if alone and len(rows.prefix) and wanted.least <= 0 <= wanted.most and rows.people >= wanted.count:
        found = _prefix_first(found, rows)
    return _first(found, wanted.top) if wanted.top else found


def _first(found: Found, top: int) -> Found:
    offsets, codes, counts = found
    offsets = offsets[: top + 1]
    return offsets, codes[: offsets[-1]], counts[:top]


def _top_closed(rows: Rows, wanted: Wanted, progress: Progress | None) -> Found:
    """Lower the threshold until enough closed patterns reach it; a threshold that enough patterns reach is a start."""
    alone = search(rows, replace(wanted, kind="all"))
    count = int(alone[2].min(initial=rows.people)) if len(alone[2]) == wanted.top else 1
    while True:
        found = search(rows, replace(wanted, top=0, count=max(count, 1)), progress)
        if len(found[2]) >= wanted.top or count <= 1:
            return _first(found, wanted.top)
        count //= 2


def _prefix_first(found: Found, rows: Rows) -> Found:
    offsets, codes, counts = found
    size = len(rows.prefix)
    return (
        np.concatenate(([0], offsets + size)),
        np.concatenate((rows.prefix, codes)),
        np.concatenate(([rows.people], counts)),
    )


def _held(rows: Rows) -> I64:
    """Return how many rows hold each code."""
    parts = np.array_split(rows.codes, threads())
    tallies = np.zeros((len(parts), len(rows.allowed)), np.int64)
    in_threads(lambda t: counting.count_codes(parts[t], tallies[t]), range(len(parts)))
    held: I64 = tallies.sum(axis=0)
    return held


def _rank(labels: I32, codes: int) -> I32:
    """Return the rank of each code, -1 for those that have none."""
    rank = np.full(codes, -1, np.int32)
    rank[labels] = np.arange(len(labels), dtype=np.int32)
    return rank


def _narrow(rank: I32, ranks: int) -> Ranks:
    """Return ranks in two bytes where they fit: half the memory to go through."""
    return rank.astype(np.int16) if ranks < 2**15 else rank


def _frequent(held: NDArray[np.int64], allowed: NDArray[np.bool_], count: int) -> I32:
    """Return the codes that may occur in a pattern, most frequent first, ties by code: the code of each rank."""
    codes = np.flatnonzero(allowed & (held >= max(count, 1)))
    return codes[np.argsort(-held[codes], kind="stable")].astype(np.int32)


def _records(
    rows: Rows, held: NDArray[np.int64], labels: I32, wanted: Wanted, progress: Progress | None
) -> tuple[list[I32], int]:
    """Run the kernels; return their records in depth-first order, and the threshold reached."""
    rank = _narrow(_rank(labels, len(held)), len(labels))
    counts = held[labels].astype(np.int64)
    if not len(labels):
        return [], wanted.count
    numbers = wanted.numbers()
    seen = np.zeros(rows.people + 2 if wanted.top else 0, np.int64)
    dense = _is_dense(rows, counts)
    task: Callable[[tuple[int, int]], I32]
    if dense:
        bitmaps = np.zeros((len(labels), (rows.people + 63) // 64), np.uint64)
        in_threads(
            lambda piece: mining.fill_bitmaps(rows.offsets, rows.codes, rank, *piece, bitmaps),
            rows.pieces(align=64),
        )
        # Items that everyone holds stay in one piece of work: each repeats what was found before it.
        whole = max(int(np.count_nonzero(counts == rows.people)), 1)
        work = [(0, whole)] + [(r, r + 1) for r in range(whole, len(labels))]

        def task(piece: tuple[int, int]) -> I32:
            return mining.mine_dense(bitmaps, counts, rows.people, *piece, numbers, seen)

    else:
        flat, positions, heads = _positions(rows, rank, len(labels))
        cuts = np.linspace(0, len(positions) + len(labels), 16 * threads() + 1)
        at = np.unique(np.searchsorted(heads + np.arange(len(heads)), cuts))
        at[-1] = len(labels)
        work = [(int(a), int(b)) for a, b in pairwise(at) if a < b]

        def task(piece: tuple[int, int]) -> I32:
            return mining.mine_sparse(flat, positions, heads, counts, *piece, numbers, seen)

    if wanted.top:
        # The threshold rises as patterns are found, so all is one piece of work, the most frequent items first.
        work = [(0, len(labels))]
    total = 0

    def counted(piece: tuple[int, int]) -> I32:
        nonlocal total
        batch = task(piece)
        total += len(batch) // 3
        if total > wanted.limit or (len(batch) and batch[0] < 0):
            raise LimitError(_too_many(wanted))
        return batch

    try:
        # Rare items have the larger part of the lattice below them: begin with those, so that threads end together.
        batches = in_threads(counted, work[::-1], progress)[::-1]
    except BaseException:
        numbers[mining.LIMIT] = -1  # what still runs sees that it has passed the limit, and stops
        raise
    return batches, int(numbers[mining.COUNT])


def _check_longest(rows: Rows, wanted: Wanted) -> None:
    """Stop before the work begins where one row alone has too many subsets, each of which counts."""
    if wanted.count > 1 or wanted.top or wanted.kind != "all" or not len(rows.codes):
        return
    usable = np.concatenate(([0], np.cumsum(rows.allowed[rows.codes])))
    longest = int(np.diff(usable[rows.offsets]).max())
    subsets = 0
    for size in range(max(wanted.least, 1), min(wanted.most, longest) + 1):
        subsets += comb(longest, size)
        if subsets > wanted.limit:
            raise LimitError(_too_many(wanted))


def _too_many(wanted: Wanted) -> str:
    what = "patterns" if wanted.kind == "all" else f"candidates for {wanted.kind} patterns"
    if wanted.top:
        ask = "Ask for fewer (top=), for shorter ones (lengths=), or raise limit="
    else:
        ask = "Raise min_count or min_support, ask for shorter ones (lengths=), or raise limit="
    return f"There are more than {wanted.limit:,} {what}. {ask} if memory allows."


def _is_dense(rows: Rows, counts: I64) -> bool:
    """Whether bitmaps over all rows are cheaper than a set of bitmaps for each item, and no larger than the data."""
    entries = int(counts.sum())
    bitmaps = len(counts) * rows.people / 8
    if bitmaps > max(4 * len(rows.codes) + 8 * rows.people, 1 << 20):
        return False
    all_pairs = len(counts) ** 2 * rows.people / 1024
    row_by_row = 3 * entries * entries / max(rows.people, 1)
    return all_pairs < row_by_row


def _positions(rows: Rows, rank: Ranks, ranks: int) -> tuple[Ranks, I32, I64]:
    """Lay the rows out flat (see `kernels.mining`), and list for each rank its positions."""
    flat = np.empty(len(rows.codes) + rows.people + 1, rank.dtype)
    if len(flat) > np.iinfo(np.int32).max:
        raise LimitError(
            f"These baskets hold {len(rows.codes):,} items in all; two thousand million is the most that can be mined "
            "at once. Cap them with max_items=."
        )

    def lay(piece: tuple[int, int]) -> tuple[int, int]:
        base = int(rows.offsets[piece[0]]) + piece[0]
        return base, mining.rank_rows(rows.offsets, rows.codes, rank, *piece, flat, base)

    laid = in_threads(lay, rows.pieces())
    tallies = np.zeros((len(laid) + 1, ranks), np.int64)
    in_threads(lambda t: mining.count_positions(flat, *laid[t], tallies[t + 1]), range(len(laid)))
    heads = starts(tallies.sum(axis=0))
    cursors = heads[:-1] + np.cumsum(tallies, axis=0)[:-1]
    positions = np.empty(heads[-1], np.int32)
    in_threads(lambda t: mining.fill_positions(flat, *laid[t], cursors[t], positions), range(len(laid)))
    return flat, positions, heads


def _first_threshold(rows: Rows, held: NDArray[np.int64], wanted: Wanted) -> int:
    """Return a count that at least `top` patterns reach: as many do among the most frequent items alone."""
    usable = np.sort(held[rows.allowed])[::-1]
    if wanted.least <= 1 and len(usable) >= wanted.top:
        return max(int(usable[wanted.top - 1]), 1)
    few = _frequent(held, rows.allowed, 1)[:64]
    if len(few) == np.count_nonzero(usable):
        return 1
    _, threshold = _records(rows, held, few, wanted, None)
    return threshold


def _ordered(batches: list[I32], labels: I32, rows: Rows, wanted: Wanted) -> Found:
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


def _condensed(batches: list[I32], labels: I32, rows: Rows, wanted: Wanted) -> Found:
    """Keep of all candidates the closed or the maximal ones: those that no other (of the same count) contains."""
    records = np.concatenate(batches or [np.empty(0, np.int32)])
    sizes, counts = assemble.measure_joined(records)
    ranks = np.empty(int(sizes.sum()), np.int32)
    assemble.write_joined(records, int(records[0::3].max(initial=0)), int(sizes.max(initial=0)), ranks)
    candidates = Itemsets(starts(sizes), ranks)
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
    found, counts = candidates.take(np.flatnonzero(kept)), counts[kept]
    falling = found.codes.copy()
    assemble.sort_falling(found.offsets, falling)
    order = assemble.order_sets(found.offsets, falling, counts)
    found = found.take(order)
    codes = labels[found.codes]
    assemble.sort_rising(found.offsets, codes)
    offsets = found.offsets
    if len(rows.prefix):
        offsets, codes = with_prefix(offsets, codes, rows.prefix)
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


def count_sets(rows: Rows, offsets: I64, codes: I32) -> I64:
    """Count given itemsets: row i of (`offsets`, `codes`) is the i-th, its codes ascending and unique."""
    held = _held(rows)
    used = np.zeros(len(held), np.bool_)
    used[codes] = True
    labels = _frequent(held, used, 1)
    rank = _rank(labels, len(held))
    sets = Itemsets(offsets, codes)
    counts = np.zeros(len(sets), np.int64)
    possible = np.ones(len(sets), np.bool_)
    empty_handed = rank[codes] < 0
    if empty_handed.any():  # someone asks for an item nobody holds
        possible[np.repeat(np.arange(len(sets)), sets.sizes)[empty_handed]] = False
    single = possible & (sets.sizes == 1)
    counts[single] = held[codes[offsets[:-1][single]]]
    several = np.flatnonzero(possible & (sets.sizes > 1))
    if not len(several):
        return counts
    chosen = sets.take(several)
    ranks = rank[chosen.codes]
    assemble.sort_falling(chosen.offsets, ranks)
    roots = ranks[chosen.offsets[:-1]]
    order = np.argsort(roots, kind="stable")
    chosen = Itemsets(chosen.offsets, ranks).take(order)
    groups = np.searchsorted(roots[order], np.arange(len(labels) + 1)).astype(np.int64)
    flat, positions, heads = _positions(rows, _narrow(rank, len(labels)), len(labels))
    result = np.zeros(len(several), np.int64)
    cuts = np.unique(np.linspace(0, len(labels), 8 * threads() + 1).astype(np.int64))
    work = [(int(a), int(b)) for a, b in pairwise(cuts)]
    in_threads(
        lambda piece: counting.count_sets(flat, positions, heads, chosen.offsets, chosen.codes, groups, *piece, result),
        work,
    )
    counts[several[order]] = result
    return counts
