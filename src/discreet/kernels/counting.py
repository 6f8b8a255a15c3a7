"""Counting given itemsets, and finding the rows that hold one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import plain_counting, plain_rows
from .bits import popcount
from .jit import kernel
from .mining import I32, I64, U64, Ranks, intersect

_ONE = np.uint64(1)
# So many words of each bitmap are gone through at a time: those of a hundred bitmaps stay near the processor.
_BLOCK = 512


@kernel(plain=plain_rows.count_codes, work=lambda codes, _: len(codes))
def count_codes(codes: I32, tally: I64) -> None:
    """Add up how often each code occurs; numpy's bincount would make a copy of eight bytes a code first."""
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
    first: int,
    last: int,
    counts: I64,
) -> None:
    """Count the itemsets whose rarest item has a rank in [first, last).

    The rows are laid out as for the miner. Itemset s is the row ``ranks[offsets[s]:offsets[s + 1]]``, falling, of at
    least two ranks; the itemsets of root r are numbered from ``groups[r]`` to before ``groups[r + 1]``.
    """
    local = np.full(max(last, 1), -1, np.int32)
    members = np.empty(max(last, 1), np.int32)
    arena = np.empty(1024, np.uint64)
    for root in range(first, last):
        if groups[root] == groups[root + 1]:
            continue
        partners = 0
        for j in range(offsets[groups[root]], offsets[groups[root + 1]]):
            if ranks[j] != root and local[ranks[j]] < 0:
                local[ranks[j]] = partners
                members[partners] = ranks[j]
                partners += 1
        words = (heads[root + 1] - heads[root] + 63) >> 6
        if (partners + 1) * words > arena.shape[0]:
            arena = np.empty(max(2 * arena.shape[0], (partners + 1) * words), np.uint64)
        arena[: partners * words] = np.uint64(0)
        row = np.int64(0)
        for p in range(heads[root], heads[root + 1]):
            bit = _ONE << np.uint64(row & 63)
            q = positions[p] - 1
            while flat[q] >= 0:
                here = local[flat[q]]
                if here >= 0:
                    arena[here * words + (row >> 6)] |= bit
                q -= 1
            row += 1
        spare = arena[partners * words : (partners + 1) * words]
        for s in range(groups[root], groups[root + 1]):
            at = np.int64(local[ranks[offsets[s] + 1]]) * words
            total = np.uint64(0)
            for w in range(words):
                spare[w] = arena[at + w]
                total += popcount(spare[w])
            count = np.int64(total)
            for j in range(offsets[s] + 2, offsets[s + 1]):
                at = np.int64(local[ranks[j]]) * words
                count = intersect(spare, arena[at : at + words], spare)
            counts[s] = count
        for m in range(partners):
            local[members[m]] = -1


def _words(bitmaps: U64, offsets: I64, places: I32, first: int, last: int, *_: object) -> float:
    return float((offsets[last] - offsets[first]) * bitmaps.shape[1])


@kernel(plain=plain_counting.count_columns, work=_words)
def count_columns(bitmaps: U64, offsets: I64, places: I32, first: int, last: int, counts: I64) -> None:
    """Count the itemsets from `first` to before `last`, of two items or more, by bitmaps over all rows.

    Itemset s is of the bitmaps ``places[offsets[s]:offsets[s + 1]]``.
    """
    counts[first:last] = 0
    spare = np.empty(_BLOCK, np.uint64)
    for low in range(0, bitmaps.shape[1], _BLOCK):
        high = min(low + _BLOCK, bitmaps.shape[1])
        both = spare[: high - low]
        for s in range(first, last):
            begin = offsets[s]
            count = intersect(bitmaps[places[begin], low:high], bitmaps[places[begin + 1], low:high], both)
            for j in range(begin + 2, offsets[s + 1]):
                count = intersect(both, bitmaps[places[j], low:high], both)
            counts[s] += count


@kernel(plain=plain_counting.count_pairs, work=plain_rows.codes_of_some)
def count_pairs(offsets: I64, codes: I32, rank: Ranks, first: int, last: int, together: I64) -> None:
    """Add how many rows from `first` to before `last` hold both of every two items that have a rank.

    Those of ranks i > j are added to ``together[i, j]``.
    """
    here = np.empty(together.shape[0], np.int64)
    for row in range(first, last):
        held = 0
        for j in range(offsets[row], offsets[row + 1]):
            one = np.int64(rank[codes[j]])
            if one < 0:
                continue
            for k in range(held):
                other = here[k]
                together[max(one, other), min(one, other)] += 1
            here[held] = one
            held += 1


@kernel
def rows_holding(offsets: I64, codes: I32, wanted: I32) -> NDArray[np.bool_]:
    """Say which rows hold all of `wanted`; both are sorted."""
    total = offsets.shape[0] - 1
    holds = np.zeros(total, np.bool_)
    for row in range(total):
        found = 0
        for j in range(offsets[row], offsets[row + 1]):
            if found < wanted.shape[0] and codes[j] == wanted[found]:
                found += 1
        holds[row] = found == wanted.shape[0]
    return holds
