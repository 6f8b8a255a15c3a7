"""Kernels that count as whole-array operations: what runs where they are not compiled. Same results, to the bit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]
Bool = NDArray[np.bool_]

# How many cells of a table of items by rows are filled at a time.
_CELLS = 1 << 25
# Below this, counts are exact in a matrix product of single precision.
_EXACT = 1 << 24


def count_columns(bitmaps: U64, offsets: I64, places: I32, first: int, last: int, counts: I64) -> None:
    for one in range(first, last):
        chosen = places[offsets[one] : offsets[one + 1]]
        counts[one] = np.bitwise_count(np.bitwise_and.reduce(bitmaps[chosen], axis=0)).sum(dtype=np.int64)


def tally_columns(bitmaps: U64, first: int, last: int, places: I32, spread: U64, cells: I64) -> None:
    words = bitmaps[places, first:last].astype("<u8", copy=False)
    bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
    masks = np.zeros(bits.shape[1], np.int64)
    for place, column in enumerate(bits):
        masks |= column.astype(np.int64) << place
    found = np.bincount(masks, minlength=len(cells))
    cells[1:] += found[1:]


def count_together(named: Bool, counts: I64) -> None:
    for start in range(0, len(named), _EXACT):
        some = named[start : start + _EXACT].astype(np.float32)
        counts += (some.T @ some).astype(np.int64)


def count_pairs(offsets: I64, codes: I32, rank: NDArray[Any], first: int, last: int, together: I64) -> None:
    step = min(max(_CELLS // max(len(together), 1), 1), _EXACT)
    for low in range(first, last, step):
        high = min(low + step, last)
        named = np.zeros((high - low, len(together)), np.bool_)
        here = rank[codes[offsets[low] : offsets[high]]]
        row = np.repeat(np.arange(high - low), np.diff(offsets[low : high + 1]))
        named[row[here >= 0], here[here >= 0]] = True
        both = np.zeros_like(together)
        count_together(named, both)
        together += np.tril(both, -1)


def count_symbols(reports: I32, counts: I64) -> None:
    counts += np.bincount(reports.reshape(-1), minlength=len(counts))


def count_members(
    offsets: I64, codes: I32, first: int, last: int, heads: I64, items: I32, ends: I32, members: I32, held: I32
) -> None:
    held[first:last] = 0
    for _, rows in _walk(offsets, codes, first, last, heads, items, ends, members):
        held[rows] += 1


def add_weights(
    offsets: I64,
    codes: I32,
    first: int,
    last: int,
    heads: I64,
    items: I32,
    ends: I32,
    members: I32,
    weights: I32,
    sums: I64,
) -> None:
    for member, rows in _walk(offsets, codes, first, last, heads, items, ends, members):
        sums[member] += weights[rows].sum(dtype=np.int64)


def load_people(
    owners: I64,
    offsets: I64,
    codes: I32,
    first: int,
    last: int,
    heads: I64,
    items: I32,
    ends: I32,
    members: I32,
    many: int,
    loads: I64,
) -> None:
    loads[first:last] = 0
    low, high = int(owners[first]), int(owners[last])
    whose = np.repeat(np.arange(first, last), np.diff(owners[first : last + 1]))
    tallies: dict[int, I64] = {}
    for member, rows in _walk(offsets, codes, low, high, heads, items, ends, members):
        tally = tallies.setdefault(member, np.zeros(last - first, np.int64))
        tally += np.bincount(whose[rows - low] - first, minlength=last - first)
    for tally in tallies.values():
        loads[first:last] += tally**2


def _walk(
    offsets: I64, codes: I32, first: int, last: int, heads: I64, items: I32, ends: I32, members: I32
) -> Iterator[tuple[int, I64]]:
    """Yield the members of a family that rows hold, each with these rows; a subtree that no row is in is left out."""
    nodes = int(heads[-1])
    used = np.unique(items[:nodes])
    line = np.full(len(heads), -1, np.int64)
    line[used] = np.arange(len(used))
    lines, following, member_of = line[items[:nodes]].tolist(), ends[:nodes].tolist(), members[:nodes].tolist()
    step = max(_CELLS // max(len(used), 1), 1)
    for low in range(first, last, step):
        high = min(low + step, last)
        holds = np.zeros((len(used), high - low), np.bool_)
        here = line[codes[offsets[low] : offsets[high]]]
        row = np.repeat(np.arange(high - low), np.diff(offsets[low : high + 1]))
        holds[here[here >= 0], row[here >= 0]] = True
        above: list[tuple[int, Any]] = []  # where the subtree of each node on the way ends, and its rows
        node = 0
        while node < nodes:
            while above and node >= above[-1][0]:
                above.pop()
            column = holds[lines[node]]
            rows = np.flatnonzero(column) if not above else above[-1][1][column[above[-1][1]]]
            if not len(rows):
                node = following[node]
                continue
            if member_of[node] >= 0:
                yield member_of[node], rows + low
            above.append((following[node], rows))
            node += 1


def count_held(
    offsets: I64,
    codes: I32,
    people: I64,
    anchors: I64,
    anchored: I64,
    bounds: I64,
    others: I64,
    marks: NDArray[np.uint8],
    sizes: I64,
) -> None:
    rows, _ = _candidates(offsets, codes, people, anchors, anchored, bounds, others)
    sizes[: len(people)] = np.bincount(rows, minlength=len(people))


def list_held(
    offsets: I64,
    codes: I32,
    people: I64,
    anchors: I64,
    anchored: I64,
    bounds: I64,
    others: I64,
    marks: NDArray[np.uint8],
    starts: I64,
    held: I32,
) -> None:
    rows, found = _candidates(offsets, codes, people, anchors, anchored, bounds, others)
    order = np.lexsort((found, rows))
    many = np.bincount(rows, minlength=len(people))
    within = np.arange(len(rows)) - np.repeat(np.cumsum(many) - many, many)
    held[np.repeat(starts[: len(people)], many) + within] = found[order]


def _expanded(low: I64, many: I64) -> tuple[I64, I64]:
    """Return for runs of `many` numbers from `low` on which run each is of, and the number."""
    which = np.repeat(np.arange(len(many)), many)
    return which, np.arange(len(which)) - np.repeat(np.cumsum(many) - many - low, many)


def _candidates(
    offsets: I64, codes: I32, people: I64, anchors: I64, anchored: I64, bounds: I64, others: I64
) -> tuple[I64, I64]:
    """Return the candidates that people hold, with the row of each."""
    rows, at = _expanded(offsets[people], offsets[people + 1] - offsets[people])
    own = codes[at].astype(np.int64)
    which, where = _expanded(anchors[own], anchors[own + 1] - anchors[own])
    found, holders = anchored[where], rows[which]
    needs = bounds[found + 1] - bounds[found]
    if needs.any():
        # A basket holds a code where the pair of row and code is there; rows and codes ascend, and so do pairs.
        width = np.int64(len(anchors))
        pairs = rows * width + own
        asked, place = _expanded(bounds[found], needs)
        wanted = holders[asked] * width + others[place]
        near = np.minimum(np.searchsorted(pairs, wanted), len(pairs) - 1)
        lacking = np.bincount(asked[pairs[near] != wanted], minlength=len(found)) > 0
        found, holders = found[~lacking], holders[~lacking]
    return holders, found


def count_below(offsets: I64, codes: I32, people: I64, bound: int, sizes: I64) -> None:
    rows, at = _expanded(offsets[people], offsets[people + 1] - offsets[people])
    sizes[: len(people)] = np.bincount(rows[codes[at] < bound], minlength=len(people))


def gather_rows(offsets: I64, codes: I32, people: I64, starts: I64, held: I32) -> None:
    many = np.diff(starts[: len(people) + 1])
    _, at = _expanded(offsets[people], many)
    _, to = _expanded(starts[: len(people)], many)
    held[to] = codes[at]


def rows_of_people(offsets: I64, codes: I32, people: I64, *_: object) -> float:
    """Return about how many codes some people hold."""
    return float(len(people) * len(codes) / max(len(offsets) - 1, 1))
