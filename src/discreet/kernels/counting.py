"""Counting given itemsets, and finding the rows that hold an itemset."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import _plain_counting as plain_counting, _plain_rows as plain_rows
from ._bits import popcount
from ._jit import kernel
from .mining import I32, I64, U64, Ranks, intersect

_ONE_BIT = np.uint64(1)
# Words of each bitmap that are read at a time: 4 KiB, so a hundred bitmaps stay in a second-level cache.
_WORDS_AT_ONCE = 512


@kernel(plain=plain_rows.count_codes, work=lambda codes, _: len(codes))
def count_codes(codes: I32, tally: I64) -> None:
    """Add the number of occurrences of each code; numpy's bincount would first copy eight bytes a code."""
    for j in range(codes.shape[0]):
        tally[codes[j]] += 1


@kernel
def count_sets(
    flat: Ranks,
    positions: I32,
    heads: I64,
    offsets: I64,
    ranks: I32,
    groups: I64,
    first_root: int,
    last_root: int,
    counts: I64,
) -> None:
    """Count the itemsets with their rarest rank in [first_root, last_root).

    The rows are laid out as for the miner. Itemset s is the row ``ranks[offsets[s]:offsets[s + 1]]``, falling, of at
    least two ranks; the itemsets of root r are numbered from ``groups[r]`` to before ``groups[r + 1]``.
    """
    place_of_rank = np.full(max(last_root, 1), -1, np.int32)
    partner_ranks = np.empty(max(last_root, 1), np.int32)
    arena = np.empty(1024, np.uint64)
    for root in range(first_root, last_root):
        if groups[root] == groups[root + 1]:
            continue
        partner_count = 0
        for j in range(offsets[groups[root]], offsets[groups[root + 1]]):
            if ranks[j] != root and place_of_rank[ranks[j]] < 0:
                place_of_rank[ranks[j]] = partner_count
                partner_ranks[partner_count] = ranks[j]
                partner_count += 1
        words = (heads[root + 1] - heads[root] + 63) >> 6
        if (partner_count + 1) * words > arena.shape[0]:
            arena = np.empty(max(2 * arena.shape[0], (partner_count + 1) * words), np.uint64)
        arena[: partner_count * words] = np.uint64(0)
        row_place = np.int64(0)
        for p in range(heads[root], heads[root + 1]):
            # Bitmaps cover only the rows of the root: no row outside can hold an itemset of the root.
            bit = _ONE_BIT << np.uint64(row_place & 63)
            q = positions[p] - 1
            while flat[q] >= 0:
                local_place = place_of_rank[flat[q]]
                if local_place >= 0:
                    arena[local_place * words + (row_place >> 6)] |= bit
                q -= 1
            row_place += 1
        scratch = arena[partner_count * words : (partner_count + 1) * words]
        for s in range(groups[root], groups[root + 1]):
            base = np.int64(place_of_rank[ranks[offsets[s] + 1]]) * words
            total = np.uint64(0)
            for w in range(words):
                scratch[w] = arena[base + w]
                total += popcount(scratch[w])
            count = np.int64(total)
            for j in range(offsets[s] + 2, offsets[s + 1]):
                base = np.int64(place_of_rank[ranks[j]]) * words
                count = intersect(scratch, arena[base : base + words], scratch)
            counts[s] = count
        for m in range(partner_count):
            # Only the entries of this root are reset.
            place_of_rank[partner_ranks[m]] = -1


def _count_words(bitmaps: U64, offsets: I64, places: I32, first_set: int, last_set: int, *_: object) -> float:
    """Return the number of bitmap words to read."""
    return float((offsets[last_set] - offsets[first_set]) * bitmaps.shape[1])


@kernel(plain=plain_counting.count_columns, work=_count_words)
def count_columns(bitmaps: U64, offsets: I64, places: I32, first_set: int, last_set: int, counts: I64) -> None:
    """Count the itemsets from `first_set` to before `last_set`, of two items or more, by bitmaps over all rows.

    Itemset s has the bitmaps ``places[offsets[s]:offsets[s + 1]]``.
    """
    counts[first_set:last_set] = 0
    scratch = np.empty(_WORDS_AT_ONCE, np.uint64)
    for low in range(0, bitmaps.shape[1], _WORDS_AT_ONCE):
        high = min(low + _WORDS_AT_ONCE, bitmaps.shape[1])
        common = scratch[: high - low]
        for s in range(first_set, last_set):
            begin = offsets[s]
            count = intersect(bitmaps[places[begin], low:high], bitmaps[places[begin + 1], low:high], common)
            for j in range(begin + 2, offsets[s + 1]):
                count = intersect(common, bitmaps[places[j], low:high], common)
            counts[s] += count


@kernel(plain=plain_counting.count_pairs, work=plain_rows.count_codes_of_ranked_rows)
def count_pairs(offsets: I64, codes: I32, rank: Ranks, first_row: int, last_row: int, pair_counts: I64) -> None:
    """Add the number of rows from `first_row` to before `last_row` that hold both items of each pair of ranked items.

    The count of ranks i > j is added to ``pair_counts[i, j]``.
    """
    ranks_of_row = np.empty(pair_counts.shape[0], np.int64)
    for row in range(first_row, last_row):
        rank_count = 0
        for j in range(offsets[row], offsets[row + 1]):
            rank_of_code = np.int64(rank[codes[j]])
            if rank_of_code < 0:
                continue
            for k in range(rank_count):
                earlier = ranks_of_row[k]
                pair_counts[max(rank_of_code, earlier), min(rank_of_code, earlier)] += 1
            ranks_of_row[rank_count] = rank_of_code
            rank_count += 1


@kernel
def rows_holding(offsets: I64, codes: I32, wanted_codes: I32) -> NDArray[np.bool_]:
    """Return for each row whether it holds all of `wanted_codes`; rows and codes are sorted."""
    row_count = offsets.shape[0] - 1
    holds = np.zeros(row_count, np.bool_)
    for row in range(row_count):
        match_count = 0
        for j in range(offsets[row], offsets[row + 1]):
            if match_count < wanted_codes.shape[0] and codes[j] == wanted_codes[match_count]:
                match_count += 1
        holds[row] = match_count == wanted_codes.shape[0]
    return holds
