"""The exact miner: choose a layout of the rows, split the work over threads, order the patterns.

Internal; :func:`discreet.mine` is the public function. This module works with codes and counts, without labels or
fractions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from math import comb
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..baskets import starts
from ..checks import MAX_COUNT
from ..errors import LimitError, Message, build_message
from ..kernels import assemble, counting, in_threads, mining, split_rows, threads
from ..results import Itemsets
from ._rows import RowLayout, by_count, largest, lay_out, ranks_of, shrink_ranks

Kind: TypeAlias = Literal["all", "closed", "maximal"]
Progress: TypeAlias = Callable[[float], object]
FoundArrays: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]
I32: TypeAlias = NDArray[np.int32]
I64: TypeAlias = NDArray[np.int64]
U64: TypeAlias = NDArray[np.uint64]

# The memory of bitmaps in the search for closed and maximal patterns, in bytes; beyond, lists are used. Both give equal
# patterns.
_MAX_BITMAP_BYTES = 1 << 24
# If item counts leave more items than this in the running for the top, patterns of the first items raise the threshold.
_FIRST_ITEMS = 64
_MAX_FIRST_ITEMS = 256
# Itemsets are counted by columns if the words to read are at most this multiple of the codes of all rows: a word takes
# a fraction of the time of a code, as it is 64 rows at once.
_MAX_WORDS_PER_CODE = 16
# All pairs of some items are counted at once if the items are at most the first number, and the square of their number
# is at most the second number times the requested pairs.
_MAX_SQUARE_ITEMS = 1024
_MAX_SQUARE_RATIO = 8


@dataclass(frozen=True, kw_only=True)
class SearchBounds:
    """Bounds of a search: at least `count` people, from `min_length` to `max_length` items (without the prefix).

    With `work`, only a count is searched: the count of rank `top`, or if larger, the count of rank `work` among the
    patterns of any length up to `max_length`.
    """

    count: int
    min_length: int
    max_length: int
    limit: int
    kind: Kind = "all"
    top: int = 0
    work: int = 0

    def numbers(self) -> I64:
        """Return the bounds in the form of the kernels.

        A pattern is closed or maximal in comparison with patterns of one more item: search one item further.
        """
        is_condensed = int(self.kind != "all")
        numbers = np.zeros(mining.QUERY_SIZE, np.int64)
        numbers[mining.MIN_COUNT] = self.count
        numbers[mining.MIN_LENGTH] = self.min_length
        numbers[mining.MAX_LENGTH] = numbers[mining.MAX_TIED_LENGTH] = self.max_length + is_condensed
        numbers[mining.TOP_K] = self.top
        numbers[mining.MAX_RECORDS] = self.limit
        numbers[mining.CLOSED_ONLY] = is_condensed
        numbers[mining.RECHECK_SIZE] = 4096
        numbers[mining.RANK_TARGET] = self.work
        return numbers


def search(rows: RowLayout, bounds: SearchBounds, progress: Progress | None = None) -> FoundArrays:
    """Return patterns in order, as offsets, codes and counts.

    The order: falling count, then rising size, then the items compared from the rarest to the most frequent.
    """
    if bounds.top and bounds.kind == "closed":
        return _mine_top_closed(rows, bounds, progress)
    if rows.lineage is not None and bounds.kind != "all":
        return _mine_condensed_lineage(rows, bounds, progress)
    if bounds.top:
        bounds = _raise_threshold(rows, bounds)
    labels = rows.frequent(bounds.count)
    _check_longest(rows, bounds)
    batches, threshold = _mine_records(rows, labels, bounds, progress)
    if bounds.kind == "all":
        patterns = _write_patterns(batches, labels, rows, replace(bounds, count=threshold))
    else:
        patterns = _select_condensed(*_write_candidates(batches), labels, rows.prefix, bounds)
    return _add_prefix_pattern(patterns, rows.item_counts[labels], rows.people, rows.prefix, bounds)


def _mine_condensed_lineage(rows: RowLayout, bounds: SearchBounds, progress: Progress | None) -> FoundArrays:
    """Return closed or maximal patterns under a lineage, selected from all patterns.

    The kernels cannot join nodes of a lineage, so that candidates are all patterns of one item more.
    """
    no_prefix = np.empty(0, np.int32)
    all_bounds = replace(bounds, kind="all", min_length=1, max_length=bounds.max_length + 1)
    try:
        offsets, codes, counts = search(replace(rows, prefix=no_prefix), all_bounds, progress)
    except LimitError:
        raise LimitError(too_many(bounds)) from None
    # Rows with the prefix contain its ancestors too: only items that may be added count.
    frequent_codes, extension_counts = rows.frequent(1), np.zeros_like(rows.item_counts)
    extension_counts[frequent_codes] = rows.item_counts[frequent_codes]
    return assemble_sets(
        Itemsets(offsets, codes),
        counts,
        item_counts=extension_counts,
        people=rows.people,
        prefix=rows.prefix,
        bounds=bounds,
    )


def assemble_sets(
    itemsets: Itemsets, counts: I64, *, item_counts: I64, people: int, prefix: I32, bounds: SearchBounds
) -> FoundArrays:
    """Return patterns from elsewhere in the order of :func:`search`, restricted to the bounds.

    Parameters
    ----------
    itemsets, counts
        All patterns with a count of at least `bounds.count` and at most `bounds.most` items; for closed or maximal
        patterns, with at most one item more.
    item_counts, people
        The count of each item, and the number of people: rows with the prefix only.
    prefix
        The items that every pattern contains in addition.
    bounds
        The bounds of the search.
    """
    labels = by_count(item_counts, np.flatnonzero(item_counts >= max(bounds.count, 1)))
    ranks = Itemsets(itemsets.offsets, ranks_of(labels, len(item_counts))[itemsets.codes])
    # The count type of the miner, so that no kernel is compiled again; larger counts are beyond the miner.
    narrow_counts: NDArray[Any] = (
        counts.astype(np.int32) if int(counts.max(initial=0)) <= np.iinfo(np.int32).max else counts
    )
    if bounds.kind == "all":
        is_wanted = (
            (ranks.sizes >= bounds.min_length) & (ranks.sizes <= bounds.max_length) & (narrow_counts >= bounds.count)
        )
        patterns = _order_patterns(ranks.take(np.flatnonzero(is_wanted)), narrow_counts[is_wanted], labels, prefix)
    else:
        patterns = _select_condensed(ranks, narrow_counts, labels, prefix, bounds)
    return _add_prefix_pattern(patterns, item_counts[labels], people, prefix, bounds)


def _add_prefix_pattern(
    patterns: FoundArrays, extension_counts: I64, people: int, prefix: I32, bounds: SearchBounds
) -> FoundArrays:
    """Return patterns with the prefix in front, if the prefix alone is a pattern.

    `extension_counts` are the counts of the items that may be added to the prefix.
    """
    is_pattern = True
    if bounds.kind != "all":
        # The prefix alone is closed if no item lies in all its rows, maximal if no item can be added at all.
        is_pattern = not len(extension_counts) or (bounds.kind == "closed" and int(extension_counts[0]) < people)
    if is_pattern and len(prefix) and bounds.min_length <= 0 <= bounds.max_length and people >= bounds.count:
        patterns = _prepend_prefix(patterns, people, prefix)
    return _take_top(patterns, bounds.top) if bounds.top else patterns


def count_of_rank(rows: RowLayout, rank: int, min_length: int, max_length: int, work: int) -> int:
    """Return the count of a rank among all patterns of `min_length` to `max_length` items; 0 if fewer patterns occur.

    The count is at least the count of rank `work`, a larger rank, among patterns of 1 to `max_length` items: this
    bounds the search for long patterns. Ties are counted and not listed.
    """
    bounds = SearchBounds(count=1, min_length=min_length, max_length=max_length, limit=MAX_COUNT, top=rank, work=work)
    bounds = _raise_threshold(rows, bounds)
    return _mine_records(rows, rows.frequent(bounds.count), bounds, None)[1] - 1


def _take_top(patterns: FoundArrays, top: int) -> FoundArrays:
    offsets, codes, counts = patterns
    offsets = offsets[: top + 1]
    return offsets, codes[: offsets[-1]], counts[:top]


def _mine_top_closed(rows: RowLayout, bounds: SearchBounds, progress: Progress | None) -> FoundArrays:
    """Return the top closed patterns, lowering the threshold until enough patterns reach it."""
    top_patterns = search(rows, replace(bounds, kind="all"))
    count = int(top_patterns[2].min(initial=rows.people)) if len(top_patterns[2]) == bounds.top else 1
    while True:
        patterns = search(rows, replace(bounds, top=0, count=max(count, 1)), progress)
        if len(patterns[2]) >= bounds.top or count <= 1:
            return _take_top(patterns, bounds.top)
        # Halving bounds the wasted work by the work of the last search.
        count //= 2


def _prepend_prefix(patterns: FoundArrays, people: int, prefix: I32) -> FoundArrays:
    offsets, codes, counts = patterns
    return (
        np.concatenate(([0], offsets + len(prefix))),
        np.concatenate((prefix, codes)),
        np.concatenate(([people], counts)),
    )


def _mine_records(
    rows: RowLayout, labels: I32, bounds: SearchBounds, progress: Progress | None
) -> tuple[list[I32], int]:
    """Run the kernels; return their records in depth-first order, and the threshold reached."""
    counts = rows.item_counts[labels]
    if not len(labels):
        return [], bounds.count
    numbers, spans = bounds.numbers(), rows.spans(labels)
    tally = np.zeros((2 if bounds.work else 1) * (rows.people + 2) if bounds.top else 0, np.int64)
    task: Callable[[tuple[int, int]], I32]
    if _is_dense(rows, counts):
        columns, places = rows.columns.find(labels)
        in_order = bool((places == np.arange(len(places))).all())
        bitmaps = columns[: len(places)] if in_order else columns[places]
        # Each item is combined with all items before it: the work grows with the square of the number of items.
        cuts = np.unique(np.rint(len(labels) * np.sqrt(np.linspace(0, 1, 16 * threads() + 1)))).astype(np.int64)

        def task(piece: tuple[int, int]) -> I32:
            return mining.mine_dense(bitmaps, counts, *piece, spans, numbers, tally)

    else:
        flat, positions, heads = lay_out(rows, labels)
        targets = np.linspace(0, len(positions) + len(labels), 16 * threads() + 1)
        cuts = np.unique(np.searchsorted(heads + np.arange(len(heads)), targets))
        cuts[-1] = len(labels)

        def task(piece: tuple[int, int]) -> I32:
            return mining.mine_sparse(flat, positions, heads, counts, *piece, spans, numbers, tally)

    # A rising threshold (`top`) needs one piece of work, with the most frequent items first.
    work = [(0, len(labels))] if bounds.top else [(int(a), int(b)) for a, b in pairwise(cuts) if a < b]
    total = 0

    def count_batch(piece: tuple[int, int]) -> I32:
        nonlocal total
        batch = task(piece)
        total += len(batch) // 3
        if total > bounds.limit or (len(batch) and batch[0] < 0):
            raise LimitError(too_many(bounds))
        return batch

    try:
        # Rare items have the largest part of the lattice: they come first, so that threads end together.
        batches = in_threads(count_batch, work[::-1], progress)[::-1]
    except BaseException:
        numbers[mining.MAX_RECORDS] = -1  # running kernels see a passed limit, and stop
        raise
    return batches, int(numbers[mining.MIN_COUNT])


def _check_longest(rows: RowLayout, bounds: SearchBounds) -> None:
    """Raise before the search if one row alone has too many subsets, each of which counts."""
    if bounds.count > 1 or bounds.top or bounds.kind != "all" or not len(rows.codes) or rows.lineage is not None:
        return  # with a lineage, not every subset counts
    ends = rows.offsets
    if not rows.is_allowed.all():
        ends = np.concatenate(([0], np.cumsum(rows.is_allowed[rows.codes])))[ends]
    check_subset_count(int(np.diff(ends).max()), bounds)


def check_subset_count(basket_size: int, bounds: SearchBounds) -> None:
    """Check that one basket of `basket_size` items has at most `bounds.limit` subsets within the bounds."""
    subset_count = 0
    for size in range(max(bounds.min_length, 1), min(bounds.max_length, basket_size) + 1):
        subset_count += comb(basket_size, size)
        if subset_count > bounds.limit:
            raise LimitError(too_many(bounds))


def too_many(bounds: SearchBounds) -> Message:
    """Return the message for more patterns than the limit, with advice."""
    subject = "patterns" if bounds.kind == "all" else f"candidates for {bounds.kind} patterns"
    if bounds.top:
        advice = build_message("Ask for fewer ({top=}), for shorter ones ({lengths=}), or raise {limit=}")
    else:
        advice = build_message(
            "Raise {min_count} or {min_support}, ask for shorter ones ({lengths=}), or raise {limit=}"
        )
    return build_message(
        "There are more than {allowed:,} {what}. {ask} if memory allows.",
        allowed=bounds.limit,
        what=subject,
        ask=advice,
    )


def _is_dense(rows: RowLayout, counts: I64) -> bool:
    """Return whether bitmaps over all rows are cheaper than bitmaps for each item, and fit the memory."""
    if not rows.columns.fit(len(counts)):
        return False
    entries = int(counts.sum())
    all_pairs = len(counts) ** 2 * rows.people / 1024
    row_by_row = 3 * entries * entries / max(rows.people, 1)
    return all_pairs < row_by_row


def _raise_threshold(rows: RowLayout, bounds: SearchBounds) -> SearchBounds:
    """Return bounds with a count that at least `top` patterns reach, from the counts of the most frequent items.

    If only the count of a rank is searched, the count is one more: ties with that rank need no search.
    """
    item_threshold = largest(rows.item_counts[rows.is_allowed], bounds.top) if bounds.min_length <= 1 else 0
    bounds = replace(bounds, count=max(bounds.count, item_threshold + (bounds.work > 0)))
    labels = rows.frequent(bounds.count)
    if len(labels) <= (_MAX_FIRST_ITEMS if item_threshold else _FIRST_ITEMS):
        return bounds
    return replace(bounds, count=_mine_records(rows, labels[:_FIRST_ITEMS], bounds, None)[1])


def _write_patterns(batches: list[I32], labels: I32, rows: RowLayout, bounds: SearchBounds) -> FoundArrays:
    """Return the patterns of the records in order; scratch arrays are freed before the codes are written."""
    sizes, counts = _join_column(batches, 0), _join_column(batches, 2)
    deepest = int(sizes.max(initial=0))
    is_wanted = (sizes >= bounds.min_length) & (sizes <= bounds.max_length) & (counts >= bounds.count)
    is_complete = bool(is_wanted.all())
    kept_records = np.empty(0, np.int64) if is_complete else np.flatnonzero(is_wanted)
    places = np.full(len(sizes), -1, np.int32)
    if not is_complete:
        sizes, counts = sizes[kept_records], counts[kept_records]
    order = assemble.order_patterns(sizes, counts, deepest, int(counts.max(initial=0)))
    if bounds.top:
        order = order[: bounds.top]
    places[order if is_complete else kept_records[order]] = np.arange(len(order), dtype=np.int32)
    offsets = starts(sizes[order] + np.int32(len(rows.prefix)))
    ordered_counts = counts[order].astype(np.int64)
    del sizes, counts, kept_records, order
    codes = np.empty(offsets[-1], np.int32)
    ends = np.cumsum([len(batch) // 3 for batch in batches], dtype=np.int64)

    def write(b: int) -> None:
        batch_places = places[ends[b] - len(batches[b]) // 3 : ends[b]]
        assemble.write_patterns(batches[b], batch_places, labels, rows.prefix, deepest, offsets, codes)

    in_threads(write, range(len(batches)))
    return offsets, codes, ordered_counts


def _join_column(batches: list[I32], column: int) -> I32:
    return np.concatenate([batch[column::3] for batch in batches] or [np.empty(0, np.int32)])


def _write_candidates(batches: list[I32]) -> tuple[Itemsets, I32]:
    """Return the candidates for closed and maximal patterns, as ranks, with their counts."""
    records = np.concatenate(batches or [np.empty(0, np.int32)])
    sizes, counts = assemble.measure_joined(records)
    ranks = np.empty(int(sizes.sum()), np.int32)
    assemble.write_joined(records, int(records[0::3].max(initial=0)), int(sizes.max(initial=0)), ranks)
    return Itemsets(starts(sizes), ranks), counts


def _select_condensed(candidates: Itemsets, counts: I32, labels: I32, prefix: I32, bounds: SearchBounds) -> FoundArrays:
    """Return the closed or maximal candidates: candidates without a superset (of equal count, for closed patterns)."""
    sizes = candidates.sizes
    if bounds.kind == "closed":
        # A superset of equal count comes first in its group: later itemsets are compared with earlier ones only.
        order = np.lexsort((-sizes, counts))
        groups = np.flatnonzero(np.diff(counts[order], prepend=-1, append=-1))
    else:
        order = np.argsort(-sizes, kind="stable")
        groups = np.array([0, len(order)])
    candidates, counts = candidates.take(order), counts[order]
    # Bitmaps per item are fast for few items, as in dense data; lists are small for many items.
    use_bitmaps = len(labels) * len(counts) // 8 <= _MAX_BITMAP_BYTES
    unsubsumed = assemble.unsubsumed_by_bitmaps if use_bitmaps else assemble.unsubsumed_by_lists
    is_kept = unsubsumed(candidates.offsets, candidates.codes, groups.astype(np.int64), len(labels))
    is_kept &= (candidates.sizes >= bounds.min_length) & (candidates.sizes <= bounds.max_length)
    return _order_patterns(candidates.take(np.flatnonzero(is_kept)), counts[is_kept], labels, prefix)


def _order_patterns(patterns: Itemsets, counts: I32, labels: I32, prefix: I32) -> FoundArrays:
    """Return patterns of ranks in the order of :func:`search`, as codes, with the prefix added."""
    falling = patterns.codes.copy()
    assemble.sort_falling(patterns.offsets, falling)
    order = assemble.order_sets(patterns.offsets, falling, counts)
    patterns = patterns.take(order)
    codes = labels[patterns.codes]
    assemble.sort_rising(patterns.offsets, codes)
    offsets = patterns.offsets
    if len(prefix):
        offsets, codes = with_prefix(offsets, codes, prefix)
    return offsets, codes, counts[order].astype(np.int64)


def with_prefix(offsets: I64, codes: I32, prefix: I32) -> tuple[I64, I32]:
    """Return rows with the codes of `prefix` added to each row."""
    sizes = np.diff(offsets)
    wide_offsets = starts(sizes + len(prefix))
    wide_codes = np.empty(wide_offsets[-1], np.int32)
    own_places = np.repeat(wide_offsets[:-1] - offsets[:-1], sizes) + np.arange(len(codes))
    wide_codes[own_places] = codes
    wide_codes[(wide_offsets[1:, None] - 1 - np.arange(len(prefix))).ravel()] = np.tile(prefix, len(sizes))
    rows = np.repeat(np.arange(len(sizes)), sizes + len(prefix))
    return wide_offsets, wide_codes[np.lexsort((wide_codes, rows))]


def count_sets(rows: RowLayout, offsets: I64, codes: I32) -> I64:
    """Return the count of each given itemset: row i of (`offsets`, `codes`), with ascending unique codes."""
    item_counts = rows.item_counts
    sets = Itemsets(offsets, codes)
    counts = np.zeros(len(sets), np.int64)
    single = sets.sizes == 1
    counts[single] = item_counts[codes[offsets[:-1][single]]]
    is_countable = sets.sizes > 1
    is_absent = item_counts[codes] == 0
    if is_absent.any():  # an item without a holder has no column
        is_countable[np.repeat(np.arange(len(sets)), sets.sizes)[is_absent]] = False
    countable = np.flatnonzero(is_countable)
    if not len(countable):
        return counts
    countable_sets = sets.take(countable)
    is_used = np.zeros(len(item_counts), np.bool_)
    is_used[countable_sets.codes] = True
    labels = by_count(item_counts, np.flatnonzero(is_used))
    if len(countable_sets.codes) * rows.columns.words <= _MAX_WORDS_PER_CODE * len(rows.codes) and rows.columns.fit(
        len(labels)
    ):
        bitmaps, places = rows.columns.find(countable_sets.codes)
        counts[countable] = count_columns(bitmaps, countable_sets.offsets, places)
    elif (
        (countable_sets.sizes == 2).all()
        and len(labels) <= _MAX_SQUARE_ITEMS
        and len(labels) ** 2 <= _MAX_SQUARE_RATIO * len(countable_sets)
    ):
        counts[countable] = _count_by_pairs(rows, countable_sets, labels)
    else:
        counts[countable] = _count_by_positions(rows, countable_sets, labels)
    return counts


def count_columns(bitmaps: U64, offsets: I64, places: I32) -> I64:
    """Return the count of each itemset of two or more items: the columns ``places[offsets[i]:offsets[i + 1]]``."""
    counts = np.zeros(len(offsets) - 1, np.int64)
    in_threads(
        lambda piece: counting.count_columns(bitmaps, offsets, places, *piece, counts), split_rows(offsets, threads())
    )
    return counts


def _count_by_pairs(rows: RowLayout, sets: Itemsets, labels: I32) -> I64:
    """Return the counts of pairs, by counting all pairs of `labels` in one pass."""
    rank = ranks_of(labels, len(rows.is_allowed))
    table = shrink_ranks(rank, len(labels))
    work = list(rows.pieces())
    tallies = np.zeros((len(work), len(labels), len(labels)), np.int64)
    in_threads(lambda t: counting.count_pairs(rows.offsets, rows.codes, table, *work[t], tallies[t]), range(len(work)))
    ranks = rank[sets.codes].reshape(-1, 2)
    counts: I64 = tallies.sum(axis=0)[ranks.max(axis=1), ranks.min(axis=1)]
    return counts


def _count_by_positions(rows: RowLayout, sets: Itemsets, labels: I32) -> I64:
    """Return the counts of itemsets of two or more items, read in the rows of their rarest items.

    `labels` are all items of the itemsets.
    """
    # The rarest item of an itemset has the largest rank: the fewest rows have to be read.
    ranks = ranks_of(labels, len(rows.is_allowed))[sets.codes]
    assemble.sort_falling(sets.offsets, ranks)
    roots = ranks[sets.offsets[:-1]]
    # Itemsets with one rarest item are counted together: its rows are read once.
    order = np.argsort(roots, kind="stable")
    ordered_sets = Itemsets(sets.offsets, ranks).take(order)
    groups = np.searchsorted(roots[order], np.arange(len(labels) + 1)).astype(np.int64)
    flat, positions, heads = lay_out(rows, labels)
    result = np.zeros(len(sets), np.int64)
    cuts = np.unique(np.linspace(0, len(labels), 8 * threads() + 1).astype(np.int64))
    work = [(int(a), int(b)) for a, b in pairwise(cuts)]
    in_threads(
        lambda piece: counting.count_sets(
            flat, positions, heads, ordered_sets.offsets, ordered_sets.codes, groups, *piece, result
        ),
        work,
    )
    counts = np.empty(len(sets), np.int64)
    counts[order] = result
    return counts
