"""A card that is no card and has no compiler: every kernel of `kernels.cu` again, block by block and thread by thread.

Blocks are gone through one by one. What the threads of a block do is written over arrays of thread numbers, with the
places that each of them reads and writes worked out as there, so that an index that is off is found out.
"""

from __future__ import annotations

import numpy as np

from discreet.local.device import derive_seed, hash_item
from naive import devices

THREADS, ITEMS = 256, 8
OLH, WHEEL, WINDOW = 0, 1, 2


def _flat(words):
    """Return words that may lie at the beginning of bytes."""
    flat = words.reshape(-1)
    return flat if flat.dtype == np.uint32 else flat[: len(flat) // 4 * 4].view(np.uint32)


def _hashes(items, first, second):
    return np.array([hash_item((int(first), int(second)), int(item)) for item in items], np.uint64)


def _seen(words, kind, number):
    """Return the seed and the window of a report: none where it is no report."""
    first, second, third = (int(one) for one in words[:3])
    if kind == WINDOW:
        return first, second, third, int(words[3])
    if not first & 1 or (kind == OLH and third >= number):
        return first, second, 0, 0
    if kind == WHEEL:
        return first, second, (third - number + 1) % 2**32, number
    low, high = (-(-(one << 32) // number) for one in (third, third + 1))
    return first, second, low, high - low


def count_reports(grid, words, wide, kind, number, many, slice_, size, counts):
    rows = _flat(words)[: many * wide].reshape(many, wide)
    for y in range(grid[1]):
        mine = [_seen(one, kind, int(number)) for one in rows[y * slice_ : min((y + 1) * slice_, many)]]
        for x in range(grid[0]):
            items = x * THREADS * ITEMS + np.arange(THREADS * ITEMS)
            items = items[items < size]
            for first, second, low, width in mine:
                off = (_hashes(items, first, second) + np.uint64(2**32 - low)) % np.uint64(2**32)
                counts[items] += (off < width).astype(np.uint64)


def look_over(grid, words, kind, number, many, cells, counts, refused):
    rows = _flat(words)[: 3 * many].reshape(many, 3)
    for block in range(grid[0]):
        for thread in range(THREADS):
            for row in range(block * THREADS + thread, many, grid[0] * THREADS):
                first, _, third = rows[row].tolist()
                if not first & 1 or (kind == OLH and third >= number):
                    refused[0] += np.uint64(1)
                elif cells:
                    counts[third if kind == OLH else third >> 28] += np.uint64(1)


def _rows(grid, many):
    rows = np.arange(grid[0] * THREADS)
    assert grid[1] == 1
    assert len(rows) - many < THREADS, "more blocks than are needed"
    return [int(row) for row in rows[rows < many]]


def tabulate(grid, words, many, seeds, buckets, table, refused):
    flat = _flat(words)
    for row in _rows(grid, many):
        number, value = flat[2 * row : 2 * row + 2].tolist()
        if number < seeds and value < buckets:
            table.reshape(-1)[number * int(buckets) + value] += np.uint64(1)
        else:
            refused[0] += np.uint64(1)


def _bucket(number, item, buckets):
    return hash_item(derive_seed(number), int(item)) * int(buckets) >> 32


def weigh_rows(grid, start, rows, buckets, items, weights, many, begin, inside):
    for row in _rows(grid, rows):
        mine = [float(begin)] * int(buckets)
        for item, weight in zip(items[:many].tolist(), weights[:many].tolist(), strict=True):
            mine[_bucket(int(start) + row, item, buckets)] += weight
        inside.reshape(-1)[row * int(buckets) : (row + 1) * int(buckets)] = mine


def take_off(grid, rows, buckets, table, inside, slope, even, scale, cells):
    for row in _rows(grid, rows):
        place = slice(row * int(buckets), (row + 1) * int(buckets))
        counts, mine = table.reshape(-1)[place].tolist(), inside.reshape(-1)[place].tolist()
        expected = [sum(counts) * (1 / int(buckets) + float(slope) * one - float(even)) for one in mine]
        left = [float(scale) * (count - one) for count, one in zip(counts, expected, strict=True)]
        cells.reshape(-1)[place] = np.rint(left).astype(np.int32)


def sum_cells(grid, start, rows, slice_, step, buckets, cells, symbols, sums):
    for y in range(grid[1]):
        mine = range(y * int(slice_), min((y + 1) * int(slice_), int(rows)))
        for x in range(grid[0]):
            items = x * THREADS * ITEMS + np.arange(THREADS * ITEMS)
            items = items[items < symbols]
            for at in range(0, len(mine), int(step)):
                tally = np.zeros(len(items), np.int32)
                for row in mine[at : at + int(step)]:
                    hashes = _hashes(items, *derive_seed(int(start) + row))
                    tally += cells.reshape(-1)[
                        row * int(buckets) + (hashes * int(buckets) >> np.uint64(32)).astype(int)
                    ]
                sums[items] += tally


def meet_rows(grid, start, rows, part, buckets, reports, inside, items, many, out):
    for y in range(grid[1]):
        for x in range(grid[0]):
            for thread in range(THREADS):
                if (at := x * THREADS + thread) >= many:
                    continue
                total = 0.0
                for row in range(y * int(part), min((y + 1) * int(part), int(rows))):
                    bucket = _bucket(int(start) + row, items[at], buckets)
                    total += float(reports[row]) * float(inside.reshape(-1)[row * int(buckets) + bucket])
                out.reshape(-1)[y * int(many) + at] = total


def _made(grid, form, offsets, held, people, seed, many, words, wide):
    offsets, held, people = offsets.view(np.int64), held.view(np.int32), people.view(np.int64)
    for row in _rows(grid, many):
        mine = sorted(held[offsets[row] : offsets[row + 1]].tolist())
        (report,) = devices.reports(form, [mine], [int(people[row])], int(seed))
        flat = [number for one in report.values() for number in (one if isinstance(one, list) else [one])]
        words.reshape(-1)[row * wide : (row + 1) * wide] = flat


def make_hashed(grid, offsets, held, people, seed, pad, size, dummies, weight, buckets, many, words):
    form = {"oracle": "olh", "size": int(size), "pad": int(pad), "dummies": int(dummies)}
    form |= {"buckets": int(buckets), "inside": str(int(weight))}
    _made(grid, form, offsets, held, people, seed, many, words, 3)


def make_numbered(grid, offsets, held, people, seed, pad, size, dummies, weight, buckets, seeds, many, words):
    form = {"oracle": "olh", "size": int(size), "pad": int(pad), "dummies": int(dummies)}
    form |= {"buckets": int(buckets), "inside": str(int(weight)), "seeds": int(seeds)}
    _made(grid, form, offsets, held, people, seed, many, words, 2)


def make_points(grid, offsets, held, people, seed, pad, weight, arc, many, words):
    form = {"oracle": "wheel", "size": 1 << 27, "pad": int(pad), "dummies": 0}
    form |= {"arc": int(arc), "inside": str(int(weight))}
    _made(grid, form, offsets, held, people, seed, many, words, 3)


KERNELS = {
    one.__name__: one
    for one in (
        count_reports, look_over, tabulate, weigh_rows, take_off, sum_cells, meet_rows, make_hashed, make_numbered,
        make_points,
    )
}  # fmt: skip
