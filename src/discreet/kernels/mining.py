"""The exact miner: a depth-first search over bitmaps of the rows that hold a prefix.

Items are *ranks* here: 0 is the most frequent item that may occur in a pattern. Rows are laid out flat, each a run
of ascending ranks behind a sentinel of -1, so that a position in the flat array suffices to find the earlier part of
its row. A pattern is grown from its rarest item towards more frequent items.

Patterns are *records* in depth-first order: (depth, rank, count). The items of a record are its own rank and the ranks
of its ancestors, and an ancestor is the last record before it with a smaller depth. That is twelve bytes a pattern at
any length. An item that lies in all rows of its parent is a *perfect* extension: every record below the parent is a
record below the item too, with an equal count, so the miner copies it and counts nothing again.

Items may be the nodes of a forest; then no pattern has two items of which one stands above the second.
`spans` has for each rank the begin of its part of a walk through the forest, and behind all begins the ends; two parts
overlap just where one item stands above the second. Without a forest `spans` is empty. With a forest no extension is
perfect: an item that may join a node need not be allowed to join every pattern below the node.

A search for the count of rank K alone writes no records: perfect extensions are counted as choices, and a pattern is
left out once enough patterns are known to reach a larger count. So ties cost nothing: one long basket has more subsets
than any list can hold.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._bits import popcount
from ._jit import helper, kernel
from ._parts import sort
from ._plain_mining import mine_dense as mine_dense_plain, mine_sparse as mine_sparse_plain

Ranks = NDArray[Any]  # two bytes each if all ranks fit, else four
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]

_ONE_BIT = np.uint64(1)
# A literal in a call has a type of its own in numba, which would compile the callee once more for that type.
_ZERO = np.int64(0)
_UNIT = np.int64(1)

# The query is one array of numbers, so that compiled code passes a single argument; the constants are places in it.
MIN_COUNT = 0  # the minimum count; rises during a search for the top K
MIN_LENGTH = 1  # the minimum number of items …
MAX_LENGTH = 2  # … and the maximum
TOP_K = 3  # K, or 0 for all patterns
SEEN_COUNT = 4  # the number of patterns at or over the threshold, during a search for the top K
MAX_RECORDS = 5  # the maximum number of records
CLOSED_ONLY = 6  # 1 to leave out patterns that are certainly not closed
MAX_TIED_LENGTH = 7  # the maximum number of items of a pattern with a count equal to the threshold
RECHECK_SIZE = 8  # the number of records at which `limit_ties` runs again
RANK_TARGET = 9  # for the count of rank K alone: the number of patterns of any length to examine, else 0 …
MET_COUNT = 10  # … and the number of examined patterns at or over the threshold
QUERY_SIZE = 11


@helper
def intersect(left_bits: U64, right_bits: U64, common: U64) -> int:
    """Write the bits that two bitmaps share to `common`; return the number of shared bits."""
    total = np.uint64(0)
    for w in range(left_bits.shape[0]):
        word = left_bits[w] & right_bits[w]
        common[w] = word
        total += popcount(word)
    return np.int64(total)


@helper
def grow_records(array: I32, size: int) -> I32:
    """Return a larger copy of an array of records or of a stack."""
    larger = np.empty(size, np.int32)
    for i in range(array.shape[0]):
        larger[i] = array[i]
    return larger


@helper
def grow_arena(array: U64, used_words: int, size: int) -> U64:
    """Return a copy of an arena with `size` words: its first `used_words` words, then free ones."""
    larger = np.empty(size, np.uint64)
    for i in range(used_words):
        larger[i] = array[i]
    return larger


@helper
def append_record(records: I32, size: int, depth: int, rank: int, count: int) -> I32:
    """Append one record; return the records, which may have moved to a larger array."""
    if 3 * (size + 1) > records.shape[0]:
        records = grow_records(records, 2 * records.shape[0])
    records[3 * size] = depth
    records[3 * size + 1] = rank
    records[3 * size + 2] = count
    return records


@helper
def watch_threshold(depth: int, count: int, query: I64, pattern_tally: I64) -> None:
    """Note a pattern for top-K: raise the threshold `query[MIN_COUNT]` as far as K patterns still reach it."""
    if depth < query[MIN_LENGTH] or count < query[MIN_COUNT]:
        return
    pattern_tally[count] += 1
    query[SEEN_COUNT] += 1
    while query[SEEN_COUNT] - pattern_tally[query[MIN_COUNT]] >= query[TOP_K]:
        query[SEEN_COUNT] -= pattern_tally[query[MIN_COUNT]]
        query[MIN_COUNT] += 1
        query[MAX_TIED_LENGTH] = query[MAX_LENGTH]  # the limit on ties held for the old threshold only


@helper
def limit_ties(records: I32, size: int, query: I64) -> None:
    """Limit the length of patterns at the threshold count: among patterns of equal count the shorter ones come first.

    Without this limit, a top-K query with K above the number of patterns of count two would list every subset of every
    row.
    """
    above = 0
    # Lengths from 64 on share a cell: no tie limit is set there.
    tied_counts = np.zeros(65, np.int64)
    for record in range(size):
        if records[3 * record] >= query[MIN_LENGTH]:
            if records[3 * record + 2] > query[MIN_COUNT]:
                above += 1
            elif records[3 * record + 2] == query[MIN_COUNT]:
                tied_counts[min(records[3 * record], 64)] += 1
    for depth in range(64):
        above += tied_counts[depth]
        if above >= query[TOP_K]:
            query[MAX_TIED_LENGTH] = min(query[MAX_TIED_LENGTH], depth)
            break
    # Doubling keeps the cost of all calls linear in the final number of records (amortised).
    query[RECHECK_SIZE] = 2 * size + 4096


@helper
def repeat_records(records: I32, begin: int, end: int, query: I64) -> tuple[I32, int]:
    """Append copies of the records from `begin` to before `end`, one level deeper, behind the record at `end`.

    Returns the records and their new number, or -1 where the number would pass the limit.
    """
    if query[TOP_K] > 0 and 2 * end - begin >= query[RECHECK_SIZE]:
        limit_ties(records, end, query)
    size = end + 1
    for record in range(begin, end):
        depth = np.int64(records[3 * record]) + 1
        count = np.int64(records[3 * record + 2])
        # A pattern at the threshold count may be cut shorter: see `limit_ties`.
        if depth <= (query[MAX_LENGTH] if count > query[MIN_COUNT] else query[MAX_TIED_LENGTH]):
            if size > query[MAX_RECORDS]:
                return records, np.int64(-1)
            records = append_record(records, size, depth, np.int64(records[3 * record + 1]), count)
            size += 1
    return records, size


@helper
def are_related(spans: I32, left_rank: int, right_rank: int) -> bool:
    """Return whether one of two ranks stands above the second in the forest."""
    ranks = spans.shape[0] // 2
    return bool(spans[left_rank] < spans[ranks + right_rank] and spans[right_rank] < spans[ranks + left_rank])


@helper
def explore_node(
    records: I32,
    size: int,
    arena: U64,
    stack: I32,
    extensions: int,
    words: int,
    first_extension: int,
    depth: int,
    spans: I32,
    query: I64,
    pattern_tally: I64,
) -> tuple[I32, int, U64, I32]:
    """Append the records of all patterns below one node.

    `stack` holds the node's extensions as rows (rank, count, slot): slot is the place of the bitmap in `arena`
    in units of `words`, or -1 where the extension is perfect. Only extensions from `first_extension` on are followed.
    `records` is a flat array of triples; it, `arena` and `stack` are replaced by larger arrays when full, and returned.
    """
    # Levels of the search; doubled when full, since a pattern may be as long as a row.
    maximum = np.int64(64)
    start = np.zeros(maximum, np.int64)  # per level: its first extension on the stack …
    stop = np.zeros(maximum, np.int64)  # … and the place behind its last extension
    next_extension = np.zeros(maximum, np.int64)  # the extension followed next
    segment = np.zeros(maximum, np.int64)  # where the records below the node begin
    slots = np.zeros(maximum, np.int64)  # arena slots in use up to this level
    level = 0
    start[0] = 0
    stop[0] = extensions
    next_extension[0] = first_extension
    segment[0] = size
    slots[0] = extensions
    is_closed_only = query[CLOSED_ONLY] == 1
    forest = spans.shape[0] > 0
    while level >= 0:
        if next_extension[level] == stop[level]:
            level -= 1
            continue
        x = next_extension[level]
        next_extension[level] += 1
        count = np.int64(stack[3 * x + 1])
        if count < query[MIN_COUNT]:
            continue
        rank = np.int64(stack[3 * x])
        below = np.int64(depth + level + 1)
        if query[TOP_K] > 0:
            if size >= query[RECHECK_SIZE]:
                limit_ties(records, size, query)
            if count == query[MIN_COUNT] and below > query[MAX_TIED_LENGTH]:
                continue  # a tie that comes after the first K patterns
        if size > query[MAX_RECORDS]:
            return records, np.int64(-1), arena, stack
        if stack[3 * x + 2] < 0:
            # Perfect: equal records again, one deeper, and no counting.
            mark = size
            records = append_record(records, size, below, rank, count)
            records, size = repeat_records(records, segment[level], size, query)
            if size < 0:
                return records, size, arena, stack
            if query[TOP_K] > 0:
                for record in range(mark, size):
                    watch_threshold(
                        np.int64(records[3 * record]), np.int64(records[3 * record + 2]), query, pattern_tally
                    )
            continue
        records = append_record(records, size, below, rank, count)
        size += 1
        if query[TOP_K] > 0:
            watch_threshold(below, count, query, pattern_tally)
        deepest = query[MAX_LENGTH] if count > query[MIN_COUNT] else query[MAX_TIED_LENGTH]
        if below >= deepest or x == start[level]:
            continue
        # The child's own extensions: the extensions of the node before x, on the rows that hold x too.
        top = stop[level]
        if 3 * (top + x - start[level]) > stack.shape[0]:
            stack = grow_records(stack, max(2 * stack.shape[0], 3 * (top + x - start[level])))
        slot = slots[level]
        if (slot + x - start[level]) * words > arena.shape[0]:
            arena = grow_arena(arena, arena.shape[0], max(2 * arena.shape[0], (slot + x - start[level]) * words))
        own_base = stack[3 * x + 2] * words
        bitmap = arena[own_base : own_base + words]
        for y in range(start[level], x):
            if stack[3 * y + 2] < 0:
                stack[3 * top] = stack[3 * y]
                stack[3 * top + 1] = count
                stack[3 * top + 2] = -1
                top += 1
                continue
            if stack[3 * y + 1] < query[MIN_COUNT] or (forest and are_related(spans, rank, np.int64(stack[3 * y]))):
                continue
            other_base = stack[3 * y + 2] * words
            c = intersect(bitmap, arena[other_base : other_base + words], arena[slot * words : (slot + 1) * words])
            if c < query[MIN_COUNT]:
                continue
            if c == count and is_closed_only:
                # The item joins the node instead of extending it: a record with a negative count says so.
                records = append_record(records, size, below, np.int64(stack[3 * y]), -count)
                size += 1
                continue
            stack[3 * top] = stack[3 * y]
            stack[3 * top + 1] = c
            if c == count and not forest:
                stack[3 * top + 2] = -1
            else:
                # Perfect extensions share their parent's rows and need no bitmap of their own.
                stack[3 * top + 2] = slot
                slot += 1
            top += 1
        if top > stop[level]:
            level += 1
            if level == maximum:
                maximum *= 2
                start, stop, next_extension = grow_levels(start), grow_levels(stop), grow_levels(next_extension)
                segment, slots = grow_levels(segment), grow_levels(slots)
            start[level] = stop[level - 1]
            stop[level] = top
            next_extension[level] = start[level]
            segment[level] = size
            slots[level] = slot
    return records, size, arena, stack


@helper
def grow_levels(array: I64) -> I64:
    """Return a copy of twice the size, filled up with zeros."""
    larger = np.zeros(2 * array.shape[0], np.int64)
    for i in range(array.shape[0]):
        larger[i] = array[i]
    return larger


@helper
def count_choices(free: int, min_size: int, max_size: int, cap: int) -> int:
    """Return the number of subsets of `free` items with `min_size` to `max_size` items, at most `cap`."""
    total = np.int64(0)
    for size in range(max(min_size, 0), min(max_size, free) + 1):
        ways = np.int64(1)
        for factor in range(1, min(size, free - size) + 1):
            ways = ways * (free - factor + 1) // factor
            if ways >= cap:  # up to free / 2 the binomial coefficients only rise
                break
        total += ways
        if total >= cap:
            return np.int64(cap)
    return total


@helper
def tally_node(depth: int, free: int, count: int, query: I64, pattern_tally: I64) -> None:
    """Count a node with the subsets of its `free` perfect extensions; raise the threshold over a count that K reach.

    `pattern_tally` has the number of patterns of the queried lengths by count, and behind it the number of patterns of
    any length up to the maximum.
    """
    if count < query[MIN_COUNT]:
        return
    max_more = query[MAX_LENGTH] - depth
    any_length_base = pattern_tally.shape[0] // 2
    choice_count = count_choices(free, query[MIN_LENGTH] - depth, max_more, query[TOP_K])
    pattern_tally[count] += choice_count
    query[SEEN_COUNT] += choice_count
    if query[MIN_LENGTH] > 1:
        choice_count = count_choices(free, _ZERO, max_more, query[RANK_TARGET])
        pattern_tally[any_length_base + count] += choice_count
        query[MET_COUNT] += choice_count
    while query[SEEN_COUNT] >= query[TOP_K] or query[MET_COUNT] >= query[RANK_TARGET]:
        query[SEEN_COUNT] -= pattern_tally[query[MIN_COUNT]]
        query[MET_COUNT] -= pattern_tally[any_length_base + query[MIN_COUNT]]
        query[MIN_COUNT] += 1


@helper
def survey_node(
    arena: U64, stack: I32, extensions: int, words: int, root_count: int, spans: I32, query: I64, pattern_tally: I64
) -> tuple[U64, I32]:
    """Count all patterns at and below an item that `root_count` rows hold.

    `stack` and `arena` are the arrays of `explore_node`.

    A perfect extension of a node can join every pattern below the node, so it need not be followed: it adds one item to
    the free choices.
    """
    maximum = np.int64(64)
    start = np.zeros(maximum, np.int64)  # as in `explore_node`, without perfect extensions
    stop = np.zeros(maximum, np.int64)
    next_extension = np.zeros(maximum, np.int64)
    slots = np.zeros(maximum, np.int64)
    free = np.zeros(maximum, np.int64)  # the number of perfect extensions of the node and its ancestors
    forest = spans.shape[0] > 0
    top = np.int64(0)
    for x in range(extensions):
        if stack[3 * x + 2] >= 0:
            for part in range(3):
                stack[3 * top + part] = stack[3 * x + part]
            top += 1
    level = 0
    stop[0] = top
    slots[0] = extensions
    free[0] = extensions - top
    tally_node(_UNIT, free[0], root_count, query, pattern_tally)
    while level >= 0:
        if next_extension[level] == stop[level]:
            level -= 1
            continue
        x = next_extension[level]
        next_extension[level] += 1
        count = np.int64(stack[3 * x + 1])
        if count < query[MIN_COUNT]:
            continue
        depth = np.int64(level + 2)
        top = stop[level]
        slot = slots[level]
        free_count = free[level]
        if depth < query[MAX_LENGTH]:
            if 3 * (top + x - start[level]) > stack.shape[0]:
                stack = grow_records(stack, max(2 * stack.shape[0], 3 * (top + x - start[level])))
            if (slot + x - start[level]) * words > arena.shape[0]:
                arena = grow_arena(arena, arena.shape[0], max(2 * arena.shape[0], (slot + x - start[level]) * words))
            own_base = stack[3 * x + 2] * words
            bitmap = arena[own_base : own_base + words]
            for y in range(start[level], x):
                if stack[3 * y + 1] < query[MIN_COUNT]:
                    continue
                if forest and are_related(spans, np.int64(stack[3 * x]), np.int64(stack[3 * y])):
                    continue
                other_base = stack[3 * y + 2] * words
                c = intersect(bitmap, arena[other_base : other_base + words], arena[slot * words : (slot + 1) * words])
                if c == count and not forest:
                    free_count += 1
                elif c >= query[MIN_COUNT]:
                    stack[3 * top] = stack[3 * y]
                    stack[3 * top + 1] = c
                    stack[3 * top + 2] = slot
                    slot += 1
                    top += 1
        tally_node(depth, free_count, count, query, pattern_tally)
        if top > stop[level]:
            level += 1
            if level == maximum:
                maximum *= 2
                start, stop, next_extension = grow_levels(start), grow_levels(stop), grow_levels(next_extension)
                slots, free = grow_levels(slots), grow_levels(free)
            start[level] = stop[level - 1]
            stop[level] = top
            next_extension[level] = start[level]
            slots[level] = slot
            free[level] = free_count
    return arena, stack


@kernel(plain=mine_sparse_plain, bounded=True)
def mine_sparse(
    flat: Ranks,
    positions: I32,
    heads: I64,
    supports: I64,
    first_root: int,
    last_root: int,
    spans: I32,
    query: I64,
    pattern_tally: I64,
) -> I32:
    """Return the records of all patterns by their rarest rank in [first_root, last_root), with small bitmaps per root.

    `positions[heads[r]:heads[r + 1]]` are the positions of rank r that have a predecessor; `supports` are the item
    counts. A query for the count of a rank alone returns no records and leaves the threshold one above that count. A
    single record of depth -1 says that the record limit was passed.
    """
    records = np.empty(3 * 1024, np.int32)
    size = np.int64(0)
    stack = np.empty(3 * 256, np.int32)
    arena = np.empty(1024, np.uint64)
    counts = np.zeros(max(last_root, 1), np.int32)
    local = np.full(max(last_root, 1), -1, np.int32)
    hits = np.empty(max(last_root, 1), np.int32)
    forest = spans.shape[0] > 0
    for root in range(first_root, last_root):
        if supports[root] < query[MIN_COUNT]:
            continue
        if size > query[MAX_RECORDS]:
            break
        if query[RANK_TARGET] == 0:
            records = append_record(records, size, _UNIT, root, supports[root])
            size += 1
            if query[TOP_K] > 0:
                watch_threshold(_UNIT, supports[root], query, pattern_tally)
        # Rows that begin with the root extend no pattern, so they have no position here.
        rows = heads[root + 1] - heads[root]
        if (
            rows < query[MIN_COUNT]
            or query[MAX_LENGTH] < 2
            or (supports[root] == query[MIN_COUNT] and query[MAX_TIED_LENGTH] < 2)
        ):
            if query[RANK_TARGET] > 0:
                tally_node(_UNIT, _ZERO, supports[root], query, pattern_tally)
            continue
        min_count = query[MIN_COUNT]
        met_count = 0  # in a large vocabulary, a list of the ranks met is cheaper than a scan of all ranks
        for p in range(heads[root], heads[root + 1]):
            q = positions[p] - 1
            # 4,096 counts of four bytes fit a first-level cache: below it a scan of all ranks beats a list of hits.
            if root < 4096:
                while flat[q] >= 0:
                    counts[flat[q]] += 1
                    q -= 1
            else:
                while flat[q] >= 0:
                    if counts[flat[q]] == 0:
                        hits[met_count] = flat[q]
                        met_count += 1
                    counts[flat[q]] += 1
                    q -= 1
        if root >= 4096:
            sort(hits, _ZERO, np.int64(met_count))
        extensions = np.int64(0)
        proper = 0
        for candidate in range(root if root < 4096 else met_count):
            r = candidate if root < 4096 else np.int64(hits[candidate])
            c = counts[r]
            counts[r] = 0
            if c >= min_count and not (forest and are_related(spans, root, np.int64(r))):
                if c == supports[root] and query[CLOSED_ONLY] == 1:
                    records = append_record(records, size, _UNIT, np.int64(r), -np.int64(c))
                    size += 1
                    continue
                if 3 * (extensions + 1) > stack.shape[0]:
                    stack = grow_records(stack, 2 * stack.shape[0])
                stack[3 * extensions] = r
                stack[3 * extensions + 1] = c
                if c == supports[root] and not forest:
                    stack[3 * extensions + 2] = -1
                else:
                    stack[3 * extensions + 2] = extensions
                    local[r] = extensions
                    proper += 1
                extensions += 1
        if extensions == 0:
            if query[RANK_TARGET] > 0:
                tally_node(_UNIT, _ZERO, supports[root], query, pattern_tally)
            continue
        words = np.int64(0)
        if proper > 1 and query[MAX_LENGTH] > 2:
            # One bit a row that holds at least two proper extensions; no other row can matter below.
            stride = (rows + 63) >> 6
            if extensions * stride > arena.shape[0]:
                arena = np.empty(max(2 * arena.shape[0], extensions * stride), np.uint64)
            arena[: extensions * stride] = np.uint64(0)
            row = np.int64(0)
            for p in range(heads[root], heads[root + 1]):
                q = positions[p] - 1
                hit_count = 0
                while flat[q] >= 0:
                    extension = local[flat[q]]
                    if extension >= 0:
                        hits[hit_count] = extension
                        hit_count += 1
                    q -= 1
                if hit_count > 1:
                    word = row >> 6
                    bit = _ONE_BIT << np.uint64(row & 63)
                    for h in range(hit_count):
                        arena[hits[h] * stride + word] |= bit
                    row += 1
            # Bitmaps lie `stride` apart when built; close the gaps so that one number, `words`, places them.
            words = (row + 63) >> 6
            if words < stride:
                for x in range(1, extensions):
                    for w in range(words):
                        arena[x * words + w] = arena[x * stride + w]
        for x in range(extensions):
            local[stack[3 * x]] = -1
        if query[RANK_TARGET] > 0:
            arena, stack = survey_node(arena, stack, extensions, words, supports[root], spans, query, pattern_tally)
            continue
        records, size, arena, stack = explore_node(
            records, size, arena, stack, extensions, words, _ZERO, _UNIT, spans, query, pattern_tally
        )
        if size < 0:
            break
    if size < 0 or size > query[MAX_RECORDS]:
        records[0] = -1
        return records[:3].copy()
    return records[: 3 * size].copy()


def _estimate_intersections(bitmaps: U64, supports: I64, first_root: int, last_root: int, *_: object) -> float:
    """Return the work of the first level: one intersection per pair of a root and a more frequent rank."""
    return float((last_root * last_root - first_root * first_root) * bitmaps.shape[1] / 32)


@kernel(plain=mine_dense_plain, work=_estimate_intersections, bounded=True)
def mine_dense(
    bitmaps: U64, supports: I64, first_root: int, last_root: int, spans: I32, query: I64, pattern_tally: I64
) -> I32:
    """Return the records of all patterns with their rarest rank in [first_root, last_root), from bitmaps over all rows.

    The result has the form that `mine_sparse` returns.
    """
    words = bitmaps.shape[1]
    records = np.empty(3 * 1024, np.int32)
    size = np.int64(0)
    stack = np.empty(3 * max(2 * last_root, 64), np.int32)
    arena = np.empty(64 * words, np.uint64)
    forest = spans.shape[0] > 0
    for root in range(first_root, last_root):
        if supports[root] < query[MIN_COUNT]:
            continue
        if size > query[MAX_RECORDS]:
            break
        if query[RANK_TARGET] == 0:
            records = append_record(records, size, _UNIT, root, supports[root])
            size += 1
            if query[TOP_K] > 0:
                watch_threshold(_UNIT, supports[root], query, pattern_tally)
        if query[MAX_LENGTH] < 2 or (supports[root] == query[MIN_COUNT] and query[MAX_TIED_LENGTH] < 2):
            if query[RANK_TARGET] > 0:
                tally_node(_UNIT, _ZERO, supports[root], query, pattern_tally)
            continue
        extensions = np.int64(0)
        slot = np.int64(0)
        for r in range(root):
            if supports[r] < query[MIN_COUNT] or (forest and are_related(spans, root, r)):
                continue
            if (slot + 1) * words > arena.shape[0]:
                arena = grow_arena(arena, slot * words, 2 * arena.shape[0])
            c = intersect(bitmaps[root], bitmaps[r], arena[slot * words : (slot + 1) * words])
            if c < query[MIN_COUNT]:
                continue
            if c == supports[root] and query[CLOSED_ONLY] == 1:
                records = append_record(records, size, _UNIT, np.int64(r), -np.int64(c))
                size += 1
                continue
            stack[3 * extensions] = r
            stack[3 * extensions + 1] = c
            if c == supports[root] and not forest:
                stack[3 * extensions + 2] = -1
            else:
                stack[3 * extensions + 2] = slot
                slot += 1
            extensions += 1
        if query[RANK_TARGET] > 0:
            arena, stack = survey_node(arena, stack, extensions, words, supports[root], spans, query, pattern_tally)
            continue
        records, size, arena, stack = explore_node(
            records, size, arena, stack, extensions, words, _ZERO, _UNIT, spans, query, pattern_tally
        )
        if size < 0:
            break
    if size < 0 or size > query[MAX_RECORDS]:
        records[0] = -1
        return records[:3].copy()
    return records[: 3 * size].copy()
