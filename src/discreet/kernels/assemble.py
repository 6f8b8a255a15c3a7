"""From the miner's records to patterns: ordered, and written as sorted item codes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._jit import kernel
from ._parts import sort

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
Bool = NDArray[np.bool_]


@kernel
def order_patterns(sizes: I32, counts: I32, largest: int, max_count: int) -> I32:
    """Return the stable order by falling count, then rising size, by two counting sorts."""
    record_count = sizes.shape[0]
    bins = np.zeros(largest + 2, np.int64)
    for i in range(record_count):
        bins[sizes[i] + 1] += 1
    for b in range(largest + 1):
        bins[b + 1] += bins[b]
    # Counting sorts are stable: sorting by size first and by count second leaves sizes rising within a count.
    by_size = np.empty(record_count, np.int32)
    for i in range(record_count):
        by_size[bins[sizes[i]]] = i
        bins[sizes[i]] += 1
    bins = np.zeros(max_count + 2, np.int64)
    for i in range(record_count):
        bins[max_count - counts[i] + 1] += 1
    for b in range(max_count + 1):
        bins[b + 1] += bins[b]
    order = np.empty(record_count, np.int32)
    for j in range(record_count):
        i = by_size[j]
        b = max_count - counts[i]
        order[bins[b]] = i
        bins[b] += 1
    return order


@kernel
def write_patterns(
    records: I32, places: I32, labels: I32, prefix: I32, max_depth: int, offsets: I64, codes: I32
) -> None:
    """Write the items of each record i to `codes[offsets[places[i]]:]`, sorted; records with place -1 are skipped.

    `labels` gives the code of each rank; the codes of `prefix` (sorted) belong to every pattern.
    """
    prefix_length = prefix.shape[0]
    width = prefix_length + max_depth + 1
    paths = np.empty((max_depth + 1) * width, np.int32)
    for j in range(prefix_length):
        paths[j] = prefix[j]
    total = records.shape[0] // 3
    for i in range(total):
        depth = records[3 * i]
        code = labels[records[3 * i + 1]]
        parent_base = (depth - 1) * width
        row_base = depth * width
        length = prefix_length + depth
        j = 0
        while j < length - 1 and paths[parent_base + j] < code:
            paths[row_base + j] = paths[parent_base + j]
            j += 1
        paths[row_base + j] = code
        for k in range(j + 1, length):
            paths[row_base + k] = paths[parent_base + k - 1]
        if places[i] >= 0:
            code_base = offsets[places[i]]
            for k in range(length):
                codes[code_base + k] = paths[row_base + k]


@kernel
def measure_joined(records: I32) -> tuple[I32, I32]:
    """Return for closed-mode records the size of each node's pattern, with all joined items, and its count."""
    total = records.shape[0] // 3
    sizes = np.empty(total, np.int32)
    counts = np.empty(total, np.int32)
    max_depth = 1
    for i in range(total):
        max_depth = max(max_depth, records[3 * i])
    joined_counts = np.zeros(max_depth + 1, np.int64)  # items that joined at each depth of the current path
    nodes = 0
    for i in range(total):
        depth = records[3 * i]
        if records[3 * i + 2] < 0:
            joined_counts[depth] += 1
            sizes[nodes - 1] += 1
            continue
        joined_counts[depth] = 0
        size = depth
        for d in range(1, depth):
            size += joined_counts[d]
        sizes[nodes] = size
        counts[nodes] = records[3 * i + 2]
        nodes += 1
    return sizes[:nodes].copy(), counts[:nodes].copy()


@kernel
def write_joined(records: I32, max_depth: int, largest: int, ranks: I32) -> None:
    """Write the ranks of the patterns that `measure_joined` measured end to end, each pattern sorted."""
    own_ranks = np.empty(max_depth + 1, np.int32)
    joined_ranks = np.empty((max_depth + 1) * (largest + 1), np.int32)
    joined_counts = np.zeros(max_depth + 1, np.int64)
    total = records.shape[0] // 3
    write_position = 0
    i = 0
    while i < total:
        depth = records[3 * i]
        own_ranks[depth] = records[3 * i + 1]
        joined_counts[depth] = 0
        i += 1
        while i < total and records[3 * i + 2] < 0:
            joined_ranks[depth * (largest + 1) + joined_counts[depth]] = records[3 * i + 1]
            joined_counts[depth] += 1
            i += 1
        begin = write_position
        for d in range(1, depth + 1):
            ranks[write_position] = own_ranks[d]
            write_position += 1
            for j in range(joined_counts[d]):
                ranks[write_position] = joined_ranks[d * (largest + 1) + j]
                write_position += 1
        sort(ranks, begin, write_position)


@kernel
def unsubsumed_by_bitmaps(offsets: I64, codes: I32, groups: I64, items: int) -> Bool:
    """Return for each set whether no second set of its group contains it.

    The sets of a group are consecutive, larger sets first; `groups` are the starts of the groups and the end.
    """
    is_maximal = np.zeros(offsets.shape[0] - 1, np.bool_)
    words = 1
    table = np.zeros(items * words, np.uint64)  # for each item a bitmap of the kept sets that hold it
    one_bit = np.uint64(1)
    for g in range(groups.shape[0] - 1):
        kept_count = 0
        for s in range(groups[g], groups[g + 1]):
            is_subsumed = False
            for w in range((kept_count + 63) >> 6):
                common_sets = ~np.uint64(0)
                for j in range(offsets[s], offsets[s + 1]):
                    common_sets &= table[codes[j] * words + w]
                    if common_sets == 0:
                        break
                if common_sets != 0:
                    is_subsumed = True
                    break
            if is_subsumed:
                continue
            is_maximal[s] = True
            if kept_count >> 6 == words:
                wider_table = np.zeros(items * words * 2, np.uint64)
                for i in range(items):
                    for w in range(words):
                        wider_table[i * words * 2 + w] = table[i * words + w]
                table = wider_table
                words *= 2
            for j in range(offsets[s], offsets[s + 1]):
                table[codes[j] * words + (kept_count >> 6)] |= one_bit << np.uint64(kept_count & 63)
            kept_count += 1
        for s in range(groups[g], groups[g + 1]):
            if is_maximal[s]:
                for j in range(offsets[s], offsets[s + 1]):
                    for w in range((kept_count + 63) >> 6):
                        table[codes[j] * words + w] = np.uint64(0)
    return is_maximal


@kernel
def unsubsumed_by_lists(offsets: I64, codes: I32, groups: I64, items: int) -> Bool:
    """Return the result of `unsubsumed_by_bitmaps`, from a list per item of the kept sets that hold the item."""
    total = offsets.shape[0] - 1
    is_maximal = np.zeros(total, np.bool_)
    heads = np.full(items, -1, np.int64)
    lengths = np.zeros(items, np.int64)
    following = np.empty(codes.shape[0], np.int64)  # entry j, for codes[j], belongs to the set holders[j]
    holders = np.empty(codes.shape[0], np.int64)
    for g in range(groups.shape[0] - 1):
        for s in range(groups[g], groups[g + 1]):
            # The shortest list holds the fewest sets to compare with.
            rarest = codes[offsets[s]]
            for j in range(offsets[s], offsets[s + 1]):
                if lengths[codes[j]] < lengths[rarest]:
                    rarest = codes[j]
            is_subsumed = False
            entry = heads[rarest]
            while entry >= 0 and not is_subsumed:
                k = offsets[holders[entry]]
                end = offsets[holders[entry] + 1]
                is_subsumed = True
                for j in range(offsets[s], offsets[s + 1]):
                    while k < end and codes[k] < codes[j]:
                        k += 1
                    if k == end or codes[k] != codes[j]:
                        is_subsumed = False
                        break
                entry = following[entry]
            if is_subsumed:
                continue
            is_maximal[s] = True
            for j in range(offsets[s], offsets[s + 1]):
                following[j] = heads[codes[j]]
                holders[j] = s
                heads[codes[j]] = j
                lengths[codes[j]] += 1
        for s in range(groups[g], groups[g + 1]):
            for j in range(offsets[s], offsets[s + 1]):
                heads[codes[j]] = -1
                lengths[codes[j]] = 0
    return is_maximal


@kernel
def order_sets(offsets: I64, ranks: I32, counts: I32) -> I64:
    """Return the order by falling count, then rising size, then the ranks compared one by one, by a merge sort.

    Each row of `ranks` falls, so the rarest items of two sets are compared first: the miner's own order.
    """
    total = counts.shape[0]
    order = np.arange(total)
    spare = np.empty(total, np.int64)
    width = 1
    # Merging is stable and has no worst case; numba compiles it without a comparison function.
    while width < total:
        for begin in range(0, total, 2 * width):
            middle = min(begin + width, total)
            end = min(begin + 2 * width, total)
            left_place = begin
            right_place = middle
            for k in range(begin, end):
                takes_left = right_place == end
                if left_place < middle and right_place < end:
                    left_set = order[left_place]
                    right_set = order[right_place]
                    takes_left = True
                    if counts[left_set] != counts[right_set]:
                        takes_left = counts[left_set] > counts[right_set]
                    else:
                        left_size = offsets[left_set + 1] - offsets[left_set]
                        right_size = offsets[right_set + 1] - offsets[right_set]
                        if left_size != right_size:
                            takes_left = left_size < right_size
                        else:
                            for j in range(left_size):
                                left_rank = ranks[offsets[left_set] + j]
                                right_rank = ranks[offsets[right_set] + j]
                                if left_rank != right_rank:
                                    takes_left = left_rank < right_rank
                                    break
                if takes_left:
                    spare[k] = order[left_place]
                    left_place += 1
                else:
                    spare[k] = order[right_place]
                    right_place += 1
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
