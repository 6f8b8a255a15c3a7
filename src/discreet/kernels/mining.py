"""The exact miner: depth first over bitmaps of the rows that hold a prefix.

Items are *ranks* here: 0 is the most frequent item that may occur in a pattern. Rows are laid out flat, each a run
of ascending ranks behind a sentinel of -1, so that a position in the flat array is enough to find the part of its
row that comes before it. A pattern is grown from its rarest item towards more frequent ones.

Found patterns are *records* in depth-first order: (depth, rank, count). The items of a record are its own rank and
those of its ancestors, and an ancestor is the last record before it with a smaller depth. That is twelve bytes a
pattern, however long it is; and when an item lies in all rows of its parent (a *perfect* extension), everything found
below the parent so far is found again below the item, with the same counts, so it is copied, not counted again.

Items may stand above one another, in a forest; then no pattern has both of two such items. `spans` tells which do: of
each rank where its part of a walk through the forest begins, and behind all these where it ends; parts have something
in common just where one item stands above the other. Without a forest it is empty. With one nothing is perfect: what
may join a node need not join all that lies below it.

Where only the count of a rank is wanted, nothing is written at all: perfect extensions are counted as choices, and
what reaches no more than the count that enough patterns are known to reach is left out. So ties cost nothing, however
many: one long basket has more subsets than any list can hold.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .bits import popcount
from .jit import helper, kernel
from .parts import sort
from .plain_mining import mine_dense as mine_dense_plain
from .plain_mining import mine_sparse as mine_sparse_plain

Ranks = NDArray[Any]  # two bytes each where they fit, else four
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]

_ONE = np.uint64(1)
# Numbers that are written into a call are types of their own to the compiler, which then compiles what is called again.
_NONE = np.int64(0)
_SINGLE = np.int64(1)

# What is wanted travels as one array of numbers; these are their places in it.
COUNT = 0  # the least count; rises while the top K are searched for
LEAST = 1  # the least number of items …
MOST = 2  # … and the most
TOP = 3  # K, or 0 for all
SEEN = 4  # how many patterns at or over the threshold were seen, while K are searched for
LIMIT = 5  # how many records may be written
CLOSED = 6  # 1 to leave out what is certainly not closed
TIED = 7  # the most items of a pattern whose count is the threshold itself
AGAIN = 8  # the number of records at which to find that anew
WORK = 9  # where only the count of rank K is wanted: how many patterns of any length to look at, else 0 …
MET = 10  # … and how many at or over the threshold were met
NUMBERS = 11


@helper
def intersect(one: U64, other: U64, both: U64) -> int:
    total = np.uint64(0)
    for w in range(one.shape[0]):
        word = one[w] & other[w]
        both[w] = word
        total += popcount(word)
    return np.int64(total)


@helper
def grown32(array: I32, size: int) -> I32:
    larger = np.empty(size, np.int32)
    for i in range(array.shape[0]):
        larger[i] = array[i]
    return larger


@helper
def grown_words(array: U64, used: int, size: int) -> U64:
    larger = np.empty(size, np.uint64)
    for i in range(used):
        larger[i] = array[i]
    return larger


@helper
def put(records: I32, size: int, depth: int, rank: int, count: int) -> I32:
    """Write one more record; return the records, which may have moved to a larger place."""
    if 3 * (size + 1) > records.shape[0]:
        records = grown32(records, 2 * records.shape[0])
    records[3 * size] = depth
    records[3 * size + 1] = rank
    records[3 * size + 2] = count
    return records


@helper
def watch(depth: int, count: int, wanted: I64, seen: I64) -> None:
    """Note a pattern for top-K: raise the threshold `wanted[COUNT]` as far as K patterns still reach it."""
    if depth < wanted[LEAST] or count < wanted[COUNT]:
        return
    seen[count] += 1
    wanted[SEEN] += 1
    while wanted[SEEN] - seen[wanted[COUNT]] >= wanted[TOP]:
        wanted[SEEN] -= seen[wanted[COUNT]]
        wanted[COUNT] += 1
        wanted[TIED] = wanted[MOST]  # what is known about ties was about the old threshold


@helper
def limit_ties(records: I32, size: int, wanted: I64) -> None:
    """Find how large a pattern at the threshold itself may be: of equal counts, the smaller sizes come first.

    Without this, asking for more patterns than there are with a count of two would list every subset of every row.
    """
    above = 0
    tied = np.zeros(65, np.int64)
    for record in range(size):
        if records[3 * record] >= wanted[LEAST]:
            if records[3 * record + 2] > wanted[COUNT]:
                above += 1
            elif records[3 * record + 2] == wanted[COUNT]:
                tied[min(records[3 * record], 64)] += 1
    for depth in range(64):
        above += tied[depth]
        if above >= wanted[TOP]:
            wanted[TIED] = min(wanted[TIED], depth)
            break
    wanted[AGAIN] = 2 * size + 4096


@helper
def repeat(records: I32, begin: int, end: int, wanted: I64) -> tuple[I32, int]:
    """Write the records from `begin` to before `end` again, one deeper, behind the record at `end`.

    Returns the records and their new number, or -1 where that would pass the limit.
    """
    if wanted[TOP] > 0 and 2 * end - begin >= wanted[AGAIN]:
        limit_ties(records, end, wanted)
    size = end + 1
    for record in range(begin, end):
        depth = np.int64(records[3 * record]) + 1
        count = np.int64(records[3 * record + 2])
        if depth <= (wanted[MOST] if count > wanted[COUNT] else wanted[TIED]):
            if size > wanted[LIMIT]:
                return records, np.int64(-1)
            records = put(records, size, depth, np.int64(records[3 * record + 1]), count)
            size += 1
    return records, size


@helper
def related(spans: I32, one: int, other: int) -> bool:
    """Whether one of two ranks stands above the other."""
    ranks = spans.shape[0] // 2
    return bool(spans[one] < spans[ranks + other] and spans[other] < spans[ranks + one])


@helper
def explore(
    records: I32,
    size: int,
    arena: U64,
    stack: I32,
    extensions: int,
    words: int,
    first: int,
    depth: int,
    spans: I32,
    wanted: I64,
    seen: I64,
) -> tuple[I32, int, U64, I32]:
    """Find everything below one node.

    `stack` holds the node's extensions as rows (rank, count, slot): slot is the place of the bitmap in `arena`
    in units of `words`, or -1 where the extension is perfect. Only extensions from `first` on are followed.
    `records` is a flat array of triples; it, `arena` and `stack` are replaced by larger ones when full, and returned.
    """
    maximum = np.int64(64)
    start = np.zeros(maximum, np.int64)  # of each level: its first extension on the stack …
    stop = np.zeros(maximum, np.int64)  # … and behind its last
    here = np.zeros(maximum, np.int64)  # the extension followed next
    segment = np.zeros(maximum, np.int64)  # where the records below the node begin
    slots = np.zeros(maximum, np.int64)  # arena slots in use up to this level
    level = 0
    start[0] = 0
    stop[0] = extensions
    here[0] = first
    segment[0] = size
    slots[0] = extensions
    closed = wanted[CLOSED] == 1
    forest = spans.shape[0] > 0
    while level >= 0:
        if here[level] == stop[level]:
            level -= 1
            continue
        x = here[level]
        here[level] += 1
        count = np.int64(stack[3 * x + 1])
        if count < wanted[COUNT]:
            continue
        rank = np.int64(stack[3 * x])
        below = np.int64(depth + level + 1)
        if wanted[TOP] > 0:
            if size >= wanted[AGAIN]:
                limit_ties(records, size, wanted)
            if count == wanted[COUNT] and below > wanted[TIED]:
                continue  # not the tie that is wanted
        if size > wanted[LIMIT]:
            return records, np.int64(-1), arena, stack
        if stack[3 * x + 2] < 0:
            # Perfect: the same records again, one deeper, and no counting.
            mark = size
            records = put(records, size, below, rank, count)
            records, size = repeat(records, segment[level], size, wanted)
            if size < 0:
                return records, size, arena, stack
            if wanted[TOP] > 0:
                for record in range(mark, size):
                    watch(np.int64(records[3 * record]), np.int64(records[3 * record + 2]), wanted, seen)
            continue
        records = put(records, size, below, rank, count)
        size += 1
        if wanted[TOP] > 0:
            watch(below, count, wanted, seen)
        deepest = wanted[MOST] if count > wanted[COUNT] else wanted[TIED]
        if below >= deepest or x == start[level]:
            continue
        # The child's own extensions: those of the node that come before x, on the rows that hold x too.
        top = stop[level]
        if 3 * (top + x - start[level]) > stack.shape[0]:
            stack = grown32(stack, max(2 * stack.shape[0], 3 * (top + x - start[level])))
        slot = slots[level]
        if (slot + x - start[level]) * words > arena.shape[0]:
            arena = grown_words(arena, arena.shape[0], max(2 * arena.shape[0], (slot + x - start[level]) * words))
        mine = stack[3 * x + 2] * words
        bitmap = arena[mine : mine + words]
        for y in range(start[level], x):
            if stack[3 * y + 2] < 0:
                stack[3 * top] = stack[3 * y]
                stack[3 * top + 1] = count
                stack[3 * top + 2] = -1
                top += 1
                continue
            if stack[3 * y + 1] < wanted[COUNT] or (forest and related(spans, rank, np.int64(stack[3 * y]))):
                continue
            other = stack[3 * y + 2] * words
            c = intersect(bitmap, arena[other : other + words], arena[slot * words : (slot + 1) * words])
            if c < wanted[COUNT]:
                continue
            if c == count and closed:
                # Joins the node instead of extending it: told by a record with a negative count.
                records = put(records, size, below, np.int64(stack[3 * y]), -count)
                size += 1
                continue
            stack[3 * top] = stack[3 * y]
            stack[3 * top + 1] = c
            if c == count and not forest:
                stack[3 * top + 2] = -1
            else:
                stack[3 * top + 2] = slot
                slot += 1
            top += 1
        if top > stop[level]:
            level += 1
            if level == maximum:
                maximum *= 2
                start, stop, here = grown64(start), grown64(stop), grown64(here)
                segment, slots = grown64(segment), grown64(slots)
            start[level] = stop[level - 1]
            stop[level] = top
            here[level] = start[level]
            segment[level] = size
            slots[level] = slot
    return records, size, arena, stack


@helper
def grown64(array: I64) -> I64:
    larger = np.zeros(2 * array.shape[0], np.int64)
    for i in range(array.shape[0]):
        larger[i] = array[i]
    return larger


@helper
def choices(free: int, least: int, most: int, enough: int) -> int:
    """Return in how many ways `least` to `most` things can be taken out of `free`, but no more than `enough`."""
    total = np.int64(0)
    for many in range(max(least, 0), min(most, free) + 1):
        ways = np.int64(1)
        for taken in range(1, min(many, free - many) + 1):
            ways = ways * (free - taken + 1) // taken
            if ways >= enough:  # up to the half of them, it only rises
                break
        total += ways
        if total >= enough:
            return np.int64(enough)
    return total


@helper
def tally(depth: int, free: int, count: int, wanted: I64, seen: I64) -> None:
    """Note a node with its perfect extensions, `free` of them, and raise the threshold over a count that K reach.

    `seen` has the patterns of the wanted lengths by their counts, and behind them those of any length up to the most.
    """
    if count < wanted[COUNT]:
        return
    most = wanted[MOST] - depth
    behind = seen.shape[0] // 2
    many = choices(free, wanted[LEAST] - depth, most, wanted[TOP])
    seen[count] += many
    wanted[SEEN] += many
    if wanted[LEAST] > 1:
        many = choices(free, _NONE, most, wanted[WORK])
        seen[behind + count] += many
        wanted[MET] += many
    while wanted[SEEN] >= wanted[TOP] or wanted[MET] >= wanted[WORK]:
        wanted[SEEN] -= seen[wanted[COUNT]]
        wanted[MET] -= seen[behind + wanted[COUNT]]
        wanted[COUNT] += 1


@helper
def survey(
    arena: U64, stack: I32, extensions: int, words: int, held: int, spans: I32, wanted: I64, seen: I64
) -> tuple[U64, I32]:
    """Count everything at and below an item that `held` rows hold; stack and arena are those of `explore`.

    A perfect extension of a node can join everything below it, so it need not be followed: it is one item more to
    choose from.
    """
    maximum = np.int64(64)
    start = np.zeros(maximum, np.int64)  # as in `explore`, but without the perfect ones
    stop = np.zeros(maximum, np.int64)
    here = np.zeros(maximum, np.int64)
    slots = np.zeros(maximum, np.int64)
    free = np.zeros(maximum, np.int64)  # how many perfect extensions the node and those above it have
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
    tally(_SINGLE, free[0], held, wanted, seen)
    while level >= 0:
        if here[level] == stop[level]:
            level -= 1
            continue
        x = here[level]
        here[level] += 1
        count = np.int64(stack[3 * x + 1])
        if count < wanted[COUNT]:
            continue
        depth = np.int64(level + 2)
        top = stop[level]
        slot = slots[level]
        joined = free[level]
        if depth < wanted[MOST]:
            if 3 * (top + x - start[level]) > stack.shape[0]:
                stack = grown32(stack, max(2 * stack.shape[0], 3 * (top + x - start[level])))
            if (slot + x - start[level]) * words > arena.shape[0]:
                arena = grown_words(arena, arena.shape[0], max(2 * arena.shape[0], (slot + x - start[level]) * words))
            mine = stack[3 * x + 2] * words
            bitmap = arena[mine : mine + words]
            for y in range(start[level], x):
                if stack[3 * y + 1] < wanted[COUNT]:
                    continue
                if forest and related(spans, np.int64(stack[3 * x]), np.int64(stack[3 * y])):
                    continue
                other = stack[3 * y + 2] * words
                c = intersect(bitmap, arena[other : other + words], arena[slot * words : (slot + 1) * words])
                if c == count and not forest:
                    joined += 1
                elif c >= wanted[COUNT]:
                    stack[3 * top] = stack[3 * y]
                    stack[3 * top + 1] = c
                    stack[3 * top + 2] = slot
                    slot += 1
                    top += 1
        tally(depth, joined, count, wanted, seen)
        if top > stop[level]:
            level += 1
            if level == maximum:
                maximum *= 2
                start, stop, here = grown64(start), grown64(stop), grown64(here)
                slots, free = grown64(slots), grown64(free)
            start[level] = stop[level - 1]
            stop[level] = top
            here[level] = start[level]
            slots[level] = slot
            free[level] = joined
    return arena, stack


@kernel(plain=mine_sparse_plain, bounded=True)
def mine_sparse(
    flat: Ranks, positions: I32, heads: I64, held: I64, first: int, last: int, spans: I32, wanted: I64, seen: I64
) -> I32:
    """Find all patterns whose rarest item has a rank in [first, last), each from its own small set of bitmaps.

    `positions[heads[r]:heads[r + 1]]` are the places of r that have a predecessor; `held` are the counts of items.
    Returns the records, none where only the count of a rank is wanted: the threshold is then left one over it. One
    record of depth -1 when the limit was passed.
    """
    records = np.empty(3 * 1024, np.int32)
    size = np.int64(0)
    stack = np.empty(3 * 256, np.int32)
    arena = np.empty(1024, np.uint64)
    counts = np.zeros(max(last, 1), np.int32)
    local = np.full(max(last, 1), -1, np.int32)
    hits = np.empty(max(last, 1), np.int32)
    forest = spans.shape[0] > 0
    for root in range(first, last):
        if held[root] < wanted[COUNT]:
            continue
        if size > wanted[LIMIT]:
            break
        if wanted[WORK] == 0:
            records = put(records, size, _SINGLE, root, held[root])
            size += 1
            if wanted[TOP] > 0:
                watch(_SINGLE, held[root], wanted, seen)
        rows = heads[root + 1] - heads[root]
        if rows < wanted[COUNT] or wanted[MOST] < 2 or (held[root] == wanted[COUNT] and wanted[TIED] < 2):
            if wanted[WORK] > 0:
                tally(_SINGLE, _NONE, held[root], wanted, seen)
            continue
        least = wanted[COUNT]
        met = 0  # in a large vocabulary, looking at what was met is cheaper than at all that might have been
        for p in range(heads[root], heads[root + 1]):
            q = positions[p] - 1
            if root < 4096:
                while flat[q] >= 0:
                    counts[flat[q]] += 1
                    q -= 1
            else:
                while flat[q] >= 0:
                    if counts[flat[q]] == 0:
                        hits[met] = flat[q]
                        met += 1
                    counts[flat[q]] += 1
                    q -= 1
        if root >= 4096:
            sort(hits, _NONE, np.int64(met))
        extensions = np.int64(0)
        proper = 0
        for candidate in range(root if root < 4096 else met):
            r = candidate if root < 4096 else np.int64(hits[candidate])
            c = counts[r]
            counts[r] = 0
            if c >= least and not (forest and related(spans, root, np.int64(r))):
                if c == held[root] and wanted[CLOSED] == 1:
                    records = put(records, size, _SINGLE, np.int64(r), -np.int64(c))
                    size += 1
                    continue
                if 3 * (extensions + 1) > stack.shape[0]:
                    stack = grown32(stack, 2 * stack.shape[0])
                stack[3 * extensions] = r
                stack[3 * extensions + 1] = c
                if c == held[root] and not forest:
                    stack[3 * extensions + 2] = -1
                else:
                    stack[3 * extensions + 2] = extensions
                    local[r] = extensions
                    proper += 1
                extensions += 1
        if extensions == 0:
            if wanted[WORK] > 0:
                tally(_SINGLE, _NONE, held[root], wanted, seen)
            continue
        words = np.int64(0)
        if proper > 1 and wanted[MOST] > 2:
            # One bit a row that holds at least two proper extensions; no other row can matter below.
            stride = (rows + 63) >> 6
            if extensions * stride > arena.shape[0]:
                arena = np.empty(max(2 * arena.shape[0], extensions * stride), np.uint64)
            arena[: extensions * stride] = np.uint64(0)
            row = np.int64(0)
            for p in range(heads[root], heads[root + 1]):
                q = positions[p] - 1
                found = 0
                while flat[q] >= 0:
                    here = local[flat[q]]
                    if here >= 0:
                        hits[found] = here
                        found += 1
                    q -= 1
                if found > 1:
                    word = row >> 6
                    bit = _ONE << np.uint64(row & 63)
                    for h in range(found):
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
        if wanted[WORK] > 0:
            arena, stack = survey(arena, stack, extensions, words, held[root], spans, wanted, seen)
            continue
        records, size, arena, stack = explore(
            records, size, arena, stack, extensions, words, _NONE, _SINGLE, spans, wanted, seen
        )
        if size < 0:
            break
    if size < 0 or size > wanted[LIMIT]:
        records[0] = -1
        return records[:3].copy()
    return records[: 3 * size].copy()


def _meetings(bitmaps: U64, held: I64, first: int, last: int, *_: object) -> float:
    return float((last * last - first * first) * bitmaps.shape[1] / 32)


@kernel(plain=mine_dense_plain, work=_meetings, bounded=True)
def mine_dense(bitmaps: U64, held: I64, first: int, last: int, spans: I32, wanted: I64, seen: I64) -> I32:
    """Find all patterns whose rarest item has a rank in [first, last), from bitmaps over all rows.

    Returns what `mine_sparse` returns.
    """
    words = bitmaps.shape[1]
    records = np.empty(3 * 1024, np.int32)
    size = np.int64(0)
    stack = np.empty(3 * max(2 * last, 64), np.int32)
    arena = np.empty(64 * words, np.uint64)
    forest = spans.shape[0] > 0
    for root in range(first, last):
        if held[root] < wanted[COUNT]:
            continue
        if size > wanted[LIMIT]:
            break
        if wanted[WORK] == 0:
            records = put(records, size, _SINGLE, root, held[root])
            size += 1
            if wanted[TOP] > 0:
                watch(_SINGLE, held[root], wanted, seen)
        if wanted[MOST] < 2 or (held[root] == wanted[COUNT] and wanted[TIED] < 2):
            if wanted[WORK] > 0:
                tally(_SINGLE, _NONE, held[root], wanted, seen)
            continue
        extensions = np.int64(0)
        slot = np.int64(0)
        for r in range(root):
            if held[r] < wanted[COUNT] or (forest and related(spans, root, r)):
                continue
            if (slot + 1) * words > arena.shape[0]:
                arena = grown_words(arena, slot * words, 2 * arena.shape[0])
            c = intersect(bitmaps[root], bitmaps[r], arena[slot * words : (slot + 1) * words])
            if c < wanted[COUNT]:
                continue
            if c == held[root] and wanted[CLOSED] == 1:
                records = put(records, size, _SINGLE, np.int64(r), -np.int64(c))
                size += 1
                continue
            stack[3 * extensions] = r
            stack[3 * extensions + 1] = c
            if c == held[root] and not forest:
                stack[3 * extensions + 2] = -1
            else:
                stack[3 * extensions + 2] = slot
                slot += 1
            extensions += 1
        if wanted[WORK] > 0:
            arena, stack = survey(arena, stack, extensions, words, held[root], spans, wanted, seen)
            continue
        records, size, arena, stack = explore(
            records, size, arena, stack, extensions, words, _NONE, _SINGLE, spans, wanted, seen
        )
        if size < 0:
            break
    if size < 0 or size > wanted[LIMIT]:
        records[0] = -1
        return records[:3].copy()
    return records[: 3 * size].copy()
