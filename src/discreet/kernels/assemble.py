"""From the miner's records to patterns: put in order, written out as sorted item codes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .jit import kernel
from .parts import sort

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
Bool = NDArray[np.bool_]


@kernel
def order_patterns(sizes: I32, counts: I32, largest: int, most: int) -> I32:
    """Return the stable order by falling count, then rising size, by two counting sorts."""
    kept = sizes.shape[0]
    bins = np.zeros(largest + 2, np.int64)
    for i in range(kept):
        bins[sizes[i] + 1] += 1
    for b in range(largest + 1):
        bins[b + 1] += bins[b]
    by_size = np.empty(kept, np.int32)
    for i in range(kept):
        by_size[bins[sizes[i]]] = i
        bins[sizes[i]] += 1
    bins = np.zeros(most + 2, np.int64)
    for i in range(kept):
        bins[most - counts[i] + 1] += 1
    for b in range(most + 1):
        bins[b + 1] += bins[b]
    order = np.empty(kept, np.int32)
    for j in range(kept):
        i = by_size[j]
        b = most - counts[i]
        order[bins[b]] = i
        bins[b] += 1
    return order


@kernel
def write_patterns(records: I32, places: I32, labels: I32, prefix: I32, deepest: int, offsets: I64, codes: I32) -> None:
    """Write the items of each record i to `codes[offsets[places[i]]:]`, sorted; records placed at -1 are left out.

    `labels` gives the code of each rank; the codes of `prefix` (sorted) belong to every pattern.
    """
    fixed = prefix.shape[0]
    width = fixed + deepest + 1
    paths = np.empty((deepest + 1) * width, np.int32)
    for j in range(fixed):
        paths[j] = prefix[j]
    total = records.shape[0] // 3
    for i in range(total):
        depth = records[3 * i]
        code = labels[records[3 * i + 1]]
        above = (depth - 1) * width
        here = depth * width
        length = fixed + depth
        j = 0
        while j < length - 1 and paths[above + j] < code:
            paths[here + j] = paths[above + j]
            j += 1
        paths[here + j] = code
        for k in range(j + 1, length):
            paths[here + k] = paths[above + k - 1]
        if places[i] >= 0:
            at = offsets[places[i]]
            for k in range(length):
                codes[at + k] = paths[here + k]


@kernel
def measure_joined(records: I32) -> tuple[I32, I32]:
    """Return for closed-mode records the size of each node's pattern with all that joined it, and its count."""
    total = records.shape[0] // 3
    sizes = np.empty(total, np.int32)
    counts = np.empty(total, np.int32)
    deepest = 1
    for i in range(total):
        deepest = max(deepest, records[3 * i])
    joined = np.zeros(deepest + 1, np.int64)  # items that joined at each depth of the current path
    nodes = 0
    for i in range(total):
        depth = records[3 * i]
        if records[3 * i + 2] < 0:
            joined[depth] += 1
            sizes[nodes - 1] += 1
            continue
        joined[depth] = 0
        size = depth
        for d in range(1, depth):
            size += joined[d]
        sizes[nodes] = size
        counts[nodes] = records[3 * i + 2]
        nodes += 1
    return sizes[:nodes].copy(), counts[:nodes].copy()


@kernel
def write_joined(records: I32, deepest: int, largest: int, ranks: I32) -> None:
    """Write the ranks of the patterns that `measure_joined` measured one after the other, each sorted."""
    own = np.empty(deepest + 1, np.int32)
    joined = np.empty((deepest + 1) * (largest + 1), np.int32)
    many = np.zeros(deepest + 1, np.int64)
    total = records.shape[0] // 3
    at = 0
    i = 0
    while i < total:
        depth = records[3 * i]
        own[depth] = records[3 * i + 1]
        many[depth] = 0
        i += 1
        while i < total and records[3 * i + 2] < 0:
            joined[depth * (largest + 1) + many[depth]] = records[3 * i + 1]
            many[depth] += 1
            i += 1
        begin = at
        for d in range(1, depth + 1):
            ranks[at] = own[d]
            at += 1
            for j in range(many[d]):
                ranks[at] = joined[d * (largest + 1) + j]
                at += 1
        sort(ranks, begin, at)


@kernel
def unsubsumed_by_bitmaps(offsets: I64, codes: I32, groups: I64, items: int) -> Bool:
    """Say which sets are contained in no other set of their group.

    Sets of a group follow each other, larger ones first; `groups` are the starts of the groups and the end.
    """
    keep = np.zeros(offsets.shape[0] - 1, np.bool_)
    words = 1
    table = np.zeros(items * words, np.uint64)  # for each item a bitmap of the sets kept that hold it
    one = np.uint64(1)
    for g in range(groups.shape[0] - 1):
        kept = 0
        for s in range(groups[g], groups[g + 1]):
            found = False
            for w in range((kept + 63) >> 6):
                both = ~np.uint64(0)
                for j in range(offsets[s], offsets[s + 1]):
                    both &= table[codes[j] * words + w]
                    if both == 0:
                        break
                if both != 0:
                    found = True
                    break
            if found:
                continue
            keep[s] = True
            if kept >> 6 == words:
                wider = np.zeros(items * words * 2, np.uint64)
                for i in range(items):
                    for w in range(words):
                        wider[i * words * 2 + w] = table[i * words + w]
                table = wider
                words *= 2
            for j in range(offsets[s], offsets[s + 1]):
                table[codes[j] * words + (kept >> 6)] |= one << np.uint64(kept & 63)
            kept += 1
        for s in range(groups[g], groups[g + 1]):
            if keep[s]:
                for j in range(offsets[s], offsets[s + 1]):
                    for w in range((kept + 63) >> 6):
                        table[codes[j] * words + w] = np.uint64(0)
    return keep


@kernel
def unsubsumed_by_lists(offsets: I64, codes: I32, groups: I64, items: int) -> Bool:
    """Say the same as `unsubsumed_by_bitmaps`, from a list for each item of the sets kept that hold it."""
    total = offsets.shape[0] - 1
    keep = np.zeros(total, np.bool_)
    heads = np.full(items, -1, np.int64)
    lengths = np.zeros(items, np.int64)
    following = np.empty(codes.shape[0], np.int64)  # entry j, for codes[j], belongs to the set holders[j]
    holders = np.empty(codes.shape[0], np.int64)
    for g in range(groups.shape[0] - 1):
        for s in range(groups[g], groups[g + 1]):
            rarest = codes[offsets[s]]
            for j in range(offsets[s], offsets[s + 1]):
                if lengths[codes[j]] < lengths[rarest]:
                    rarest = codes[j]
            found = False
            entry = heads[rarest]
            while entry >= 0 and not found:
                k = offsets[holders[entry]]
                end = offsets[holders[entry] + 1]
                found = True
                for j in range(offsets[s], offsets[s + 1]):
                    while k < end and codes[k] < codes[j]:
                        k += 1
                    if k == end or codes[k] != codes[j]:
                        found = False
                        break
                entry = following[entry]
            if found:
                continue
            keep[s] = True
            for j in range(offsets[s], offsets[s + 1]):
                following[j] = heads[codes[j]]
                holders[j] = s
                heads[codes[j]] = j
                lengths[codes[j]] += 1
        for s in range(groups[g], groups[g + 1]):
            for j in range(offsets[s], offsets[s + 1]):
                heads[codes[j]] = -1
                lengths[codes[j]] = 0
    return keep


@kernel
def order_sets(offsets: I64, ranks: I32, counts: I32) -> I64:
    """Return the order by falling count, then rising size, then the ranks compared one by one, by a merge sort.

    Each row of `ranks` falls, so the rarest items of two sets are compared first: the miner's own order.
    """
    total = counts.shape[0]
    order = np.arange(total)
    spare = np.empty(total, np.int64)
    width = 1
    while width < total:
        for begin in range(0, total, 2 * width):
            middle = min(begin + width, total)
            end = min(begin + 2 * width, total)
            left = begin
            right = middle
            for k in range(begin, end):
                take_left = right == end
                if left < middle and right < end:
                    a = order[left]
                    b = order[right]
                    take_left = True
                    if counts[a] != counts[b]:
                        take_left = counts[a] > counts[b]
                    else:
                        size_a = offsets[a + 1] - offsets[a]
                        size_b = offsets[b + 1] - offsets[b]
                        if size_a != size_b:
                            take_left = size_a < size_b
                        else:
                            for j in range(size_a):
                                one = ranks[offsets[a] + j]
                                other = ranks[offsets[b] + j]
                                if one != other:
                                    take_left = one < other
                                    break
                if take_left:
                    spare[k] = order[left]
                    left += 1
                else:
                    spare[k] = order[right]
                    right += 1
        order, spare = spare, order
        width *= 2
    return order


@kernel
def sort_falling(offsets: I64, ranks: I32) -> None:
    """Sort each row in place, largest first."""
    for i in range(offsets.shape[0] - 1):
        row = ranks[offsets[i] : offsets[i + 1]]
        sort(ranks, offsets[i], offsets[i + 1])
        half = row.shape[0] // 2
        for j in range(half):
            row[j], row[row.shape[0] - 1 - j] = row[row.shape[0] - 1 - j], row[j]


@kernel
def sort_rising(offsets: I64, codes: I32) -> None:
    """Sort each row in place, smallest first."""
    for i in range(offsets.shape[0] - 1):
        sort(codes, offsets[i], offsets[i + 1])
