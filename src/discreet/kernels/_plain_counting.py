"""Counting kernels as whole-array operations: the forms that run without compiling, with results equal to the bit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]
Bool = NDArray[np.bool_]

# Cells of a table of items by rows that are filled at a time: 32 MiB of bytes.
_CELLS_AT_ONCE = 1 << 25
# Single precision has 24 bits: counts up to 2^24 are exact in its matrix product, which is the fastest.
_MAX_EXACT_ROWS = 1 << 24


def count_columns(bitmaps: U64, offsets: I64, places: I32, first_itemset: int, last_itemset: int, counts: I64) -> None:
    """Write the count of each itemset: the bits that its bitmaps share."""
    for itemset in range(first_itemset, last_itemset):
        bitmap_places = places[offsets[itemset] : offsets[itemset + 1]]
        counts[itemset] = np.bitwise_count(np.bitwise_and.reduce(bitmaps[bitmap_places], axis=0)).sum(dtype=np.int64)


def tally_columns(bitmaps: U64, first_word: int, last_word: int, places: I32, spread: U64, cells: I64) -> None:
    """Add rows to the cells of one basis; the mask of a row gathers one bit of each bitmap."""
    words = bitmaps[places, first_word:last_word].astype("<u8", copy=False)
    bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
    masks = np.zeros(bits.shape[1], np.int64)
    for place, column in enumerate(bits):
        masks |= column.astype(np.int64) << place
    counts_of_masks = np.bincount(masks, minlength=len(cells))
    cells[1:] += counts_of_masks[1:]


def count_together(named_values: Bool, counts: I64) -> None:
    """Add the number of reports that name both values of each pair: a matrix product of the table by itself."""
    for start in range(0, len(named_values), _MAX_EXACT_ROWS):
        block = named_values[start : start + _MAX_EXACT_ROWS].astype(np.float32)
        counts += (block.T @ block).astype(np.int64)


def count_pairs(offsets: I64, codes: I32, rank: NDArray[Any], first_row: int, last_row: int, pair_counts: I64) -> None:
    """Add the number of rows that hold both ranks of each pair, below the diagonal."""
    step = min(max(_CELLS_AT_ONCE // max(len(pair_counts), 1), 1), _MAX_EXACT_ROWS)
    for low_row in range(first_row, last_row, step):
        high_row = min(low_row + step, last_row)
        named_values = np.zeros((high_row - low_row, len(pair_counts)), np.bool_)
        ranks_of_codes = rank[codes[offsets[low_row] : offsets[high_row]]]
        rows_of_codes = np.repeat(np.arange(high_row - low_row), np.diff(offsets[low_row : high_row + 1]))
        named_values[rows_of_codes[ranks_of_codes >= 0], ranks_of_codes[ranks_of_codes >= 0]] = True
        block_counts = np.zeros_like(pair_counts)
        count_together(named_values, block_counts)
        pair_counts += np.tril(block_counts, -1)


def count_symbols(reports: I32, counts: I64) -> None:
    """Add the number of reports with each symbol."""
    counts += np.bincount(reports.reshape(-1), minlength=len(counts))


def count_members(
    offsets: I64,
    codes: I32,
    first_row: int,
    last_row: int,
    heads: I64,
    items: I32,
    ends: I32,
    members: I32,
    member_counts: I32,
) -> None:
    """Write the number of family members that each row holds."""
    member_counts[first_row:last_row] = 0
    for _, rows in _walk_family(offsets, codes, first_row, last_row, heads, items, ends, members):
        member_counts[rows] += 1


def add_weights(
    offsets: I64,
    codes: I32,
    first_row: int,
    last_row: int,
    heads: I64,
    items: I32,
    ends: I32,
    members: I32,
    weights: I32,
    sums: I64,
) -> None:
    """Add the weight of each row to the sums of the members that the row holds."""
    for member, rows in _walk_family(offsets, codes, first_row, last_row, heads, items, ends, members):
        sums[member] += weights[rows].sum(dtype=np.int64)


def load_people(
    owners: I64,
    offsets: I64,
    codes: I32,
    first_person: int,
    last_person: int,
    heads: I64,
    items: I32,
    ends: I32,
    members: I32,
    member_count: int,
    loads: I64,
) -> None:
    """Write the load of each person: the sum over members of (number of the person's rows with the member)^2."""
    loads[first_person:last_person] = 0
    low_row, high_row = int(owners[first_person]), int(owners[last_person])
    person_of_row = np.repeat(np.arange(first_person, last_person), np.diff(owners[first_person : last_person + 1]))
    tallies: dict[int, I64] = {}
    for member, rows in _walk_family(offsets, codes, low_row, high_row, heads, items, ends, members):
        tally = tallies.setdefault(member, np.zeros(last_person - first_person, np.int64))
        tally += np.bincount(person_of_row[rows - low_row] - first_person, minlength=last_person - first_person)
    for tally in tallies.values():
        loads[first_person:last_person] += tally**2


def _walk_family(
    offsets: I64, codes: I32, first_row: int, last_row: int, heads: I64, items: I32, ends: I32, members: I32
) -> Iterator[tuple[int, I64]]:
    """Yield each family member that some row holds, with the rows; subtrees without rows are skipped."""
    nodes = int(heads[-1])
    used_items = np.unique(items[:nodes])
    line = np.full(len(heads), -1, np.int64)
    line[used_items] = np.arange(len(used_items))
    lines, following, member_of = line[items[:nodes]].tolist(), ends[:nodes].tolist(), members[:nodes].tolist()
    step = max(_CELLS_AT_ONCE // max(len(used_items), 1), 1)
    for low_row in range(first_row, last_row, step):
        high_row = min(low_row + step, last_row)
        holds = np.zeros((len(used_items), high_row - low_row), np.bool_)
        ranks_of_codes = line[codes[offsets[low_row] : offsets[high_row]]]
        rows_of_codes = np.repeat(np.arange(high_row - low_row), np.diff(offsets[low_row : high_row + 1]))
        holds[ranks_of_codes[ranks_of_codes >= 0], rows_of_codes[ranks_of_codes >= 0]] = True
        open_subtrees: list[tuple[int, Any]] = []  # the end of the subtree of each open node, and the rows of the node
        node = 0
        while node < nodes:
            while open_subtrees and node >= open_subtrees[-1][0]:
                open_subtrees.pop()
            column = holds[lines[node]]
            rows = np.flatnonzero(column) if not open_subtrees else open_subtrees[-1][1][column[open_subtrees[-1][1]]]
            if not len(rows):
                node = following[node]
                continue
            if member_of[node] >= 0:
                yield member_of[node], rows + low_row
            open_subtrees.append((following[node], rows))
            node += 1


def count_held(
    offsets: I64,
    codes: I32,
    people: I64,
    anchors: I64,
    anchored: I64,
    bounds: I64,
    other_items: I64,
    marks: NDArray[np.uint8],
    sizes: I64,
) -> None:
    """Write the number of candidates that each person holds."""
    rows, _ = _find_held_candidates(offsets, codes, people, anchors, anchored, bounds, other_items)
    sizes[: len(people)] = np.bincount(rows, minlength=len(people))


def list_held(
    offsets: I64,
    codes: I32,
    people: I64,
    anchors: I64,
    anchored: I64,
    bounds: I64,
    other_items: I64,
    marks: NDArray[np.uint8],
    starts: I64,
    held_candidates: I32,
) -> None:
    """Write the candidates that each person holds, ascending, from `starts` on."""
    rows, candidates = _find_held_candidates(offsets, codes, people, anchors, anchored, bounds, other_items)
    order = np.lexsort((candidates, rows))
    held_counts = np.bincount(rows, minlength=len(people))
    rank_in_row = np.arange(len(rows)) - np.repeat(np.cumsum(held_counts) - held_counts, held_counts)
    held_candidates[np.repeat(starts[: len(people)], held_counts) + rank_in_row] = candidates[order]


def _expand_ranges(starts: I64, lengths: I64) -> tuple[I64, I64]:
    """Return the range number of each number in the ranges [starts, starts + lengths), and the number itself."""
    range_numbers = np.repeat(np.arange(len(lengths)), lengths)
    return range_numbers, np.arange(len(range_numbers)) - np.repeat(np.cumsum(lengths) - lengths - starts, lengths)


def _find_held_candidates(
    offsets: I64, codes: I32, people: I64, anchors: I64, anchored: I64, bounds: I64, other_items: I64
) -> tuple[I64, I64]:
    """Return the row and the candidate of each held candidate."""
    rows, positions = _expand_ranges(offsets[people], offsets[people + 1] - offsets[people])
    own_codes = codes[positions].astype(np.int64)
    entry_of_holder, anchor_places = _expand_ranges(anchors[own_codes], anchors[own_codes + 1] - anchors[own_codes])
    candidates, holders = anchored[anchor_places], rows[entry_of_holder]
    needs = bounds[candidates + 1] - bounds[candidates]
    if needs.any():
        # A basket holds a code if row * width + code is listed; rows and codes ascend, and so does the list.
        width = np.int64(len(anchors))
        pairs = rows * width + own_codes
        candidate_of_need, place = _expand_ranges(bounds[candidates], needs)
        needed_pairs = holders[candidate_of_need] * width + other_items[place]
        nearest_places = np.minimum(np.searchsorted(pairs, needed_pairs), len(pairs) - 1)
        is_lacking = (
            np.bincount(candidate_of_need[pairs[nearest_places] != needed_pairs], minlength=len(candidates)) > 0
        )
        candidates, holders = candidates[~is_lacking], holders[~is_lacking]
    return holders, candidates


def count_below(offsets: I64, codes: I32, people: I64, code_bound: int, sizes: I64) -> None:
    """Write the number of codes below `code_bound` that each person holds."""
    rows, positions = _expand_ranges(offsets[people], offsets[people + 1] - offsets[people])
    sizes[: len(people)] = np.bincount(rows[codes[positions] < code_bound], minlength=len(people))


def gather_rows(offsets: I64, codes: I32, people: I64, starts: I64, gathered: I32) -> None:
    """Write the rows of the given people end to end, each cut to its room."""
    sizes = np.diff(starts[: len(people) + 1])
    _, positions = _expand_ranges(offsets[people], sizes)
    _, targets = _expand_ranges(starts[: len(people)], sizes)
    gathered[targets] = codes[positions]


def estimate_code_count(offsets: I64, codes: I32, people: I64, *_: object) -> float:
    """Return the estimated number of codes that the given people hold: people times the mean row size."""
    return float(len(people) * len(codes) / max(len(offsets) - 1, 1))
