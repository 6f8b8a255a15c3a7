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


def _hashes(items, multiplier, increment):
    return np.array([hash_item((int(multiplier), int(increment)), int(item)) for item in items], np.uint64)


def _window_of(words, kind, number):
    """Return the seed and the window of a report: none where it is no report."""
    multiplier, increment, value = (int(word) for word in words[:3])
    if kind == WINDOW:
        return multiplier, increment, value, int(words[3])
    if not multiplier & 1 or (kind == OLH and value >= number):
        return multiplier, increment, 0, 0
    if kind == WHEEL:
        return multiplier, increment, (value - number + 1) % 2**32, number
    low, high = (-(-(bound << 32) // number) for bound in (value, value + 1))
    return multiplier, increment, low, high - low


def count_reports(grid, words, word_count, kind, number, report_count, slice_, size, counts):
    rows = _flat(words)[: report_count * word_count].reshape(report_count, word_count)
    for y in range(grid[1]):
        mine = [_window_of(row, kind, int(number)) for row in rows[y * slice_ : min((y + 1) * slice_, report_count)]]
        for x in range(grid[0]):
            items = x * THREADS * ITEMS + np.arange(THREADS * ITEMS)
            items = items[items < size]
            for multiplier, increment, low, width in mine:
                offsets = (_hashes(items, multiplier, increment) + np.uint64(2**32 - low)) % np.uint64(2**32)
                counts[items] += (offsets < width).astype(np.uint64)


def look_over(grid, words, kind, number, report_count, cells, counts, refused):
    rows = _flat(words)[: 3 * report_count].reshape(report_count, 3)
    for block in range(grid[0]):
        for thread in range(THREADS):
            for row in range(block * THREADS + thread, report_count, grid[0] * THREADS):
                multiplier, _, third = rows[row].tolist()
                if not multiplier & 1 or (kind == OLH and third >= number):
                    refused[0] += np.uint64(1)
                elif cells:
                    counts[third if kind == OLH else third >> 28] += np.uint64(1)


def _rows(grid, row_count):
    rows = np.arange(grid[0] * THREADS)
    assert grid[1] == 1
    assert len(rows) - row_count < THREADS, "more blocks than are needed"
    return [int(row) for row in rows[rows < row_count]]


def tabulate(grid, words, report_count, seeds, buckets, table, refused):
    flat = _flat(words)
    for row in _rows(grid, report_count):
        number, value = flat[2 * row : 2 * row + 2].tolist()
        if number < seeds and value < buckets:
            table.reshape(-1)[number * int(buckets) + value] += np.uint64(1)
        else:
            refused[0] += np.uint64(1)


def _bucket(number, item, buckets):
    return hash_item(derive_seed(number), int(item)) * int(buckets) >> 32


def weigh_rows(grid, start, rows, buckets, items, weights, item_count, begin, inside):
    for row in _rows(grid, rows):
        mine = [float(begin)] * int(buckets)
        for item, weight in zip(items[:item_count].tolist(), weights[:item_count].tolist(), strict=True):
            mine[_bucket(int(start) + row, item, buckets)] += weight
        inside.reshape(-1)[row * int(buckets) : (row + 1) * int(buckets)] = mine


def take_off(grid, rows, buckets, table, inside, slope, even, scale, cells):
    for row in _rows(grid, rows):
        place = slice(row * int(buckets), (row + 1) * int(buckets))
        counts, mine = table.reshape(-1)[place].tolist(), inside.reshape(-1)[place].tolist()
        expected = [sum(counts) * (1 / int(buckets) + float(slope) * weight - float(even)) for weight in mine]
        residuals = [
            float(scale) * (count - expected_count) for count, expected_count in zip(counts, expected, strict=True)
        ]
        cells.reshape(-1)[place] = np.rint(residuals).astype(np.int32)


def sum_cells(grid, start, rows, slice_, step, buckets, cells, symbols, sums):
    for y in range(grid[1]):
        mine = range(y * int(slice_), min((y + 1) * int(slice_), int(rows)))
        for x in range(grid[0]):
            items = x * THREADS * ITEMS + np.arange(THREADS * ITEMS)
            items = items[items < symbols]
            for offset in range(0, len(mine), int(step)):
                tally = np.zeros(len(items), np.int32)
                for row in mine[offset : offset + int(step)]:
                    hashes = _hashes(items, *derive_seed(int(start) + row))
                    tally += cells.reshape(-1)[
                        row * int(buckets) + (hashes * int(buckets) >> np.uint64(32)).astype(int)
                    ]
                sums[items] += tally


def meet_rows(grid, start, rows, part, buckets, reports, inside, items, item_count, sums_out):
    for y in range(grid[1]):
        for x in range(grid[0]):
            for thread in range(THREADS):
                if (index := x * THREADS + thread) >= item_count:
                    continue
                total = 0.0
                for row in range(y * int(part), min((y + 1) * int(part), int(rows))):
                    bucket = _bucket(int(start) + row, items[index], buckets)
                    total += float(reports[row]) * float(inside.reshape(-1)[row * int(buckets) + bucket])
                sums_out.reshape(-1)[y * int(item_count) + index] = total


def _make_reports(grid, form, offsets, held_items, people, seed, person_count, words, word_count):
    offsets, held_items, people = offsets.view(np.int64), held_items.view(np.int32), people.view(np.int64)
    for row in _rows(grid, person_count):
        mine = sorted(held_items[offsets[row] : offsets[row + 1]].tolist())
        (report,) = devices.reports(form, [mine], [int(people[row])], int(seed))
        flat = [number for entry in report.values() for number in (entry if isinstance(entry, list) else [entry])]
        words.reshape(-1)[row * word_count : (row + 1) * word_count] = flat


def make_hashed(grid, offsets, held_items, people, seed, pad, size, dummies, weight, buckets, person_count, words):
    form = {"oracle": "olh", "size": int(size), "pad": int(pad), "dummies": int(dummies)}
    form |= {"buckets": int(buckets), "inside": str(int(weight))}
    _make_reports(grid, form, offsets, held_items, people, seed, person_count, words, 3)


def make_numbered(
    grid, offsets, held_items, people, seed, pad, size, dummies, weight, buckets, seeds, person_count, words
):
    form = {"oracle": "olh", "size": int(size), "pad": int(pad), "dummies": int(dummies)}
    form |= {"buckets": int(buckets), "inside": str(int(weight)), "seeds": int(seeds)}
    _make_reports(grid, form, offsets, held_items, people, seed, person_count, words, 2)


def make_points(grid, offsets, held_items, people, seed, pad, weight, arc, person_count, words):
    form = {"oracle": "wheel", "size": 1 << 27, "pad": int(pad), "dummies": 0}
    form |= {"arc": int(arc), "inside": str(int(weight))}
    _make_reports(grid, form, offsets, held_items, people, seed, person_count, words, 3)


KERNELS = {
    kernel.__name__: kernel
    for kernel in (
        count_reports, look_over, tabulate, weigh_rows, take_off, sum_cells, meet_rows, make_hashed, make_numbered,
        make_points,
    )
}  # fmt: skip
