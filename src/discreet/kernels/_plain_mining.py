"""The exact miner as whole-array operations: the form of `mining` that runs without compiling.

The records and their order equal the records of the compiled form: only the inner loop, over all extensions of a node
at once, is numpy's. The arguments do not tell the duration of a search, so the search is given a number of seconds, and
it changes its arguments only after it has ended.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._tiers import OutOfTime

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]
Node = tuple[list[int], list[int], list[int], U64]
"""Extensions: their ranks, their counts, and the line of each in the bitmaps, or -1 for a perfect extension."""

_WORDS_AT_ONCE = 1 << 17  # of bitmaps, intersected at a time: 1 MiB stays in a second-level cache


@dataclass
class _Search:
    """One call of the miner, on copies of the arrays it may change; `mining` names the places of `query`."""

    query: list[int]
    pattern_tally: I64
    end_time: float
    spans: I32
    records: list[int] = field(default_factory=list)

    @property
    def size(self) -> int:
        """Return the number of records."""
        return len(self.records) // 3

    def unrelated_places(self, rank: int, ranks: Sequence[int]) -> list[int]:
        """Return the places of the ranks that stand neither above `rank` nor below it."""
        if not len(self.spans):
            return list(range(len(ranks)))
        begins, ends = self.spans.reshape(2, -1)
        other_ranks = np.array(ranks, np.int64)
        return np.flatnonzero((begins[other_ranks] >= ends[rank]) | (begins[rank] >= ends[other_ranks])).tolist()

    def check_time(self) -> None:
        """Raise `OutOfTime` after the end time; nothing that outlives the call has changed by then."""
        if perf_counter() > self.end_time:
            raise OutOfTime


def mine_dense(
    bitmaps: U64,
    supports: I64,
    first_root: int,
    last_root: int,
    spans: I32,
    query: I64,
    pattern_tally: I64,
    seconds: float = math.inf,
) -> I32:
    """Return the records of `mining.mine_dense`, or raise `OutOfTime` after `seconds`."""

    def extensions(root: int, search: _Search) -> Node:
        other_ranks = search.unrelated_places(root, range(root))
        return _intersect_extensions(
            bitmaps[root], other_ranks, (supports[other_ranks].tolist(), other_ranks, bitmaps), search
        )

    return _mine(extensions, supports, None, first_root, last_root, spans, query, pattern_tally, seconds)


def mine_sparse(
    flat: NDArray[Any],
    positions: I32,
    heads: I64,
    supports: I64,
    first_root: int,
    last_root: int,
    spans: I32,
    query: I64,
    pattern_tally: I64,
    seconds: float = math.inf,
) -> I32:
    """Return the records of `mining.mine_sparse`, or raise `OutOfTime` after `seconds`."""
    from .mining import MAX_LENGTH, MIN_COUNT

    sentinel_places = np.maximum.accumulate(
        np.where(flat < 0, np.arange(len(flat)), 0)
    )  # the sentinel of each position's row

    def extensions(root: int, search: _Search) -> Node:
        ends = positions[heads[root] : heads[root + 1]].astype(np.int64)
        sizes = ends - sentinel_places[ends] - 1
        row_numbers = np.repeat(np.arange(len(ends)), sizes)
        rank_in_row = np.arange(len(row_numbers)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        ranks = flat[np.repeat(sentinel_places[ends] + 1, sizes) + rank_in_row].astype(np.int64)
        counts = np.bincount(ranks, minlength=root)
        frequent_ranks = np.flatnonzero(counts >= search.query[MIN_COUNT])
        frequent_ranks = frequent_ranks[search.unrelated_places(root, frequent_ranks.tolist())]
        proper = (counts[frequent_ranks] < supports[root]) | (len(spans) > 0)
        lines = np.where(proper, np.cumsum(proper) - 1, -1)
        bits = np.zeros((int(proper.sum()), (len(ends) + 63) >> 6), np.uint64)
        if len(bits) > 1 and search.query[MAX_LENGTH] > 2:
            line = np.full(root, -1, np.int64)
            line[frequent_ranks] = lines
            lines_of_codes = line[ranks]
            row_numbers, lines_of_codes = row_numbers[lines_of_codes >= 0], lines_of_codes[lines_of_codes >= 0]
            np.bitwise_or.at(
                bits.reshape(-1),
                lines_of_codes * bits.shape[1] + (row_numbers >> 6),
                np.uint64(1) << (row_numbers & 63).astype(np.uint64),
            )
        return frequent_ranks.tolist(), counts[frequent_ranks].tolist(), lines.tolist(), bits

    return _mine(extensions, supports, np.diff(heads), first_root, last_root, spans, query, pattern_tally, seconds)


def _intersect_extensions(
    bitmap: U64, labels: Sequence[int], extensions: tuple[Sequence[int], Sequence[int], U64], search: _Search
) -> Node:
    """Return the node of the extensions that reach the threshold together with a bitmap, by their labels.

    `extensions` are the counts of the extensions, their lines, and the bitmaps of the lines.
    """
    from .mining import MIN_COUNT

    counts, lines, bits = extensions
    min_count = search.query[MIN_COUNT]
    candidate_places = [place for place, count in enumerate(counts) if count >= min_count]
    kept_labels: list[int] = []
    totals: list[int] = []
    common_batches: list[U64] = []
    places_at_once = max(_WORDS_AT_ONCE // max(len(bitmap), 1), 1)
    for start in range(0, len(candidate_places), places_at_once):
        batch = candidate_places[start : start + places_at_once]
        common_bits = bits[[lines[place] for place in batch]] & bitmap
        batch_counts = np.bitwise_count(common_bits).sum(axis=1, dtype=np.int64)
        frequent_places = np.flatnonzero(batch_counts >= min_count)
        kept_labels += [labels[batch[place]] for place in frequent_places.tolist()]
        totals += batch_counts[frequent_places].tolist()
        common_batches.append(common_bits[frequent_places])
    common_bits = np.concatenate(common_batches) if common_batches else np.zeros((0, len(bitmap)), np.uint64)
    return kept_labels, totals, list(range(len(kept_labels))), common_bits


def _mine(
    extensions: Callable[[int, _Search], Node],
    supports: I64,
    rows: I64 | None,
    first_root: int,
    last_root: int,
    spans: I32,
    query_array: I64,
    pattern_tally: I64,
    seconds: float,
) -> I32:
    """Return the records of all roots; `extensions` gives the extensions of a root."""
    from .mining import (
        MAX_LENGTH,
        MAX_RECORDS,
        MAX_TIED_LENGTH,
        MIN_COUNT,
        RANK_TARGET,
        TOP_K,
        tally_node,
        watch_threshold,
    )

    search = _Search(query_array.tolist(), pattern_tally.copy(), perf_counter() + seconds, spans)
    query: Any = search.query
    counts = supports.tolist()
    # The query changes as plain numbers: an array would box each number again.
    complete = True
    for root in range(first_root, last_root):
        search.check_time()
        if counts[root] < query[MIN_COUNT]:
            continue
        if search.size > query[MAX_RECORDS]:
            break
        if query[RANK_TARGET] == 0:
            search.records += (1, root, counts[root])
            if query[TOP_K] > 0:
                watch_threshold(1, counts[root], query, search.pattern_tally)
        is_rare = rows is not None and rows[root] < query[MIN_COUNT]
        if is_rare or query[MAX_LENGTH] < 2 or (counts[root] == query[MIN_COUNT] and query[MAX_TIED_LENGTH] < 2):
            if query[RANK_TARGET] > 0:
                tally_node(1, 0, counts[root], query, search.pattern_tally)
            continue
        node = _mark_perfect(extensions(root, search), range(root), counts[root], 1, search)
        if query[RANK_TARGET] > 0:
            _survey(node, counts[root], search)
        else:
            complete = _explore(node, search)
            if not complete:
                break
    query_array[:] = query
    pattern_tally[:] = search.pattern_tally
    if not complete or search.size > query[MAX_RECORDS]:
        return np.array([-1, *(search.records[1:3] or (0, 0))], np.int32)
    return np.array(search.records, np.int32)


def _mark_perfect(node: Node, rank_of_label: Sequence[int], count: int, depth: int, search: _Search) -> Node:
    """Mark the perfect extensions of a node; in closed mode they join the node and are dropped.

    `rank_of_label` has the rank of each label.
    """
    from .mining import CLOSED_ONLY

    labels, counts, lines, bits = node
    if count not in counts or len(
        search.spans
    ):  # an item that may join a node of a forest need not join all nodes below
        return node
    if search.query[CLOSED_ONLY] == 1:
        for label, extension_count in zip(labels, counts, strict=True):
            if extension_count == count:
                search.records += (depth, rank_of_label[label], -count)
        kept_places = [place for place, extension_count in enumerate(counts) if extension_count != count]
        return [labels[p] for p in kept_places], [counts[p] for p in kept_places], [lines[p] for p in kept_places], bits
    return (
        labels,
        counts,
        [-1 if extension_count == count else line for extension_count, line in zip(counts, lines, strict=True)],
        bits,
    )


def _explore(node: Node, search: _Search) -> bool:
    """Append the records of all patterns below a root, like `mining.explore_node`; return whether the limit holds."""
    from .mining import (
        MAX_LENGTH,
        MAX_RECORDS,
        MAX_TIED_LENGTH,
        MIN_COUNT,
        RECHECK_SIZE,
        TOP_K,
        limit_ties,
        watch_threshold,
    )

    query, records = search.query, search.records
    query_array: Any = query
    flat: Any = records
    levels: list[tuple[Node, Iterator[int], int]] = [(node, iter(range(len(node[0]))), search.size)]
    while levels:
        (ranks, counts, lines, _), next_places, segment = levels[-1]
        x = next(next_places, None)
        if x is None:
            levels.pop()
            continue
        count = counts[x]
        if count < query[MIN_COUNT]:
            continue
        below = len(levels) + 1
        if query[TOP_K] > 0:
            if search.size >= query[RECHECK_SIZE]:
                limit_ties(flat, search.size, query_array)
            if count == query[MIN_COUNT] and below > query[MAX_TIED_LENGTH]:
                continue
        if search.size > query[MAX_RECORDS]:
            return False
        search.check_time()
        if lines[x] < 0:
            mark = search.size
            if not _repeat(segment, below, ranks[x], count, search):
                return False
            if query[TOP_K] > 0:
                for record in range(mark, search.size):
                    watch_threshold(records[3 * record], records[3 * record + 2], query_array, search.pattern_tally)
            continue
        records += (below, ranks[x], count)
        if query[TOP_K] > 0:
            watch_threshold(below, count, query_array, search.pattern_tally)
        deepest = query[MAX_LENGTH] if count > query[MIN_COUNT] else query[MAX_TIED_LENGTH]
        if below >= deepest or x == 0:
            continue
        child = _child_node(levels[-1][0], x, below, search)
        if child[0]:
            levels.append((child, iter(range(len(child[0]))), search.size))
    return True


def _repeat(segment: int, below: int, rank: int, count: int, search: _Search) -> bool:
    """Append a perfect extension and copies of all records below its node; return whether the limit holds."""
    from .mining import MAX_LENGTH, MAX_RECORDS, MAX_TIED_LENGTH, MIN_COUNT, RECHECK_SIZE, TOP_K, limit_ties

    query, records = search.query, search.records
    end = search.size
    query_array: Any = query
    flat: Any = records
    if query[TOP_K] > 0 and 2 * end - segment >= query[RECHECK_SIZE]:
        limit_ties(flat, end, query_array)
    records += (below, rank, count)
    for record in range(segment, end):
        depth, old_rank, record_count = records[3 * record : 3 * record + 3]
        if depth + 1 <= (query[MAX_LENGTH] if record_count > query[MIN_COUNT] else query[MAX_TIED_LENGTH]):
            if search.size > query[MAX_RECORDS]:
                return False
            records += (depth + 1, old_rank, record_count)
    return True


def _child_node(node: Node, x: int, below: int, search: _Search) -> Node:
    """Return the node of a child: the extensions of the node before x, on the rows that hold x too."""
    ranks, counts, lines, bits = node
    count = counts[x]
    proper = [place for place in search.unrelated_places(ranks[x], ranks[:x]) if lines[place] >= 0]
    proper_extensions = [counts[place] for place in proper], [lines[place] for place in proper], bits
    proper_part = _mark_perfect(
        _intersect_extensions(bits[lines[x]], proper, proper_extensions, search), ranks, count, below, search
    )
    # A perfect extension of the node is perfect for the child: rows of the child are rows of the node.
    perfect = [(place, count, -1) for place in range(x) if lines[place] < 0]
    all_extensions = sorted(perfect + list(zip(*proper_part[:3], strict=True)))
    return (
        [ranks[place] for place, _, _ in all_extensions],
        [extension_count for _, extension_count, _ in all_extensions],
        [line for _, _, line in all_extensions],
        proper_part[3],
    )


def _survey(node: Node, supports: int, search: _Search) -> None:
    """Count all patterns at and below a root, like `mining.survey_node`: a perfect extension is one free item more."""
    from .mining import MAX_LENGTH, MIN_COUNT, tally_node

    query: Any = search.query
    ranks, counts, lines, bits = node
    proper = [place for place, line in enumerate(lines) if line >= 0]
    free = len(lines) - len(proper)
    proper_node = [ranks[p] for p in proper], [counts[p] for p in proper], [lines[p] for p in proper], bits
    tally_node(1, free, supports, query, search.pattern_tally)
    levels: list[tuple[Node, Iterator[int], int]] = [(proper_node, iter(range(len(proper))), free)]
    while levels:
        (ranks, counts, lines, bits), next_places, free_count = levels[-1]
        x = next(next_places, None)
        if x is None:
            levels.pop()
            continue
        count = counts[x]
        if count < query[MIN_COUNT]:
            continue
        search.check_time()
        depth = len(levels) + 1
        child: Node = [], [], [], bits[:0]
        if depth < query[MAX_LENGTH]:
            earlier_places = search.unrelated_places(ranks[x], ranks[:x])
            earlier_extensions = (
                [counts[place] for place in earlier_places],
                [lines[place] for place in earlier_places],
                bits,
            )
            places, totals, _, common_bits = _intersect_extensions(
                bits[lines[x]], earlier_places, earlier_extensions, search
            )
            kept_places = [place for place, total in enumerate(totals) if total != count or len(search.spans)]
            free_count += len(totals) - len(kept_places)
            child = [ranks[places[p]] for p in kept_places], [totals[p] for p in kept_places], kept_places, common_bits
        tally_node(depth, free_count, count, query, search.pattern_tally)
        if child[0]:
            levels.append((child, iter(range(len(child[0]))), free_count))
