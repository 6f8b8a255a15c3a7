"""Tables of published seeds, cell by cell."""

from __future__ import annotations

from discreet.local.device import derive_seed, hash_item


def bucket(number, item, buckets):
    return hash_item(derive_seed(number), item) * buckets >> 32


def tabulated(numbers, values, seeds, buckets):
    reports = list(zip(numbers, values, strict=True))
    return [[reports.count((seed, value)) for value in range(buckets)] for seed in range(seeds)]


def leftover(start, table, items, weights, shared_pairs, slope, scale):
    rows_left = []
    for row, cells in enumerate(table):
        buckets, report_count = len(cells), sum(cells)
        inside = [0.0] * buckets
        for item, weight in zip(items, weights, strict=True):
            inside[bucket(start + row, item, buckets)] += weight
        for place_a, place_b, extra in shared_pairs:
            pair_buckets = {bucket(start + row, items[place], buckets) for place in (place_a, place_b)}
            if len(pair_buckets) == 1:
                inside[pair_buckets.pop()] += extra
        even = sum(inside) / buckets
        # Reports fall evenly into buckets, but for the weights of the values in each bucket.
        expected = [report_count * (1 / buckets + slope * (share - even)) for share in inside]
        rows_left.append([scale * (cell - share) for cell, share in zip(cells, expected, strict=True)])
    return rows_left


def sums(start, cells, items):
    return [sum(row[bucket(start + index, item, len(row))] for index, row in enumerate(cells)) for item in items]


def met(start, reports, buckets, items, weights):
    sums_by_item = []
    for item in items:
        total = 0.0
        for row, report_count in enumerate(reports):
            mine = bucket(start + row, item, buckets)
            shared_weight = sum(
                weight
                for item_met, weight in zip(items, weights, strict=True)
                if bucket(start + row, item_met, buckets) == mine
            )
            total += report_count * (shared_weight - sum(weights) / buckets)
        sums_by_item.append(total)
    return sums_by_item


def sum_shared_cells(start, cells, table, scale, items):
    """Return `scale` times the residuals of cells that two items share, their variance and all reports: a pair once."""
    cell_sums = [[0] * len(items) for _ in items]
    noise = [[0.0] * len(items) for _ in items]
    people = [[0] * len(items) for _ in items]
    for row_number, row in enumerate(cells):
        for left_index, item in enumerate(items):
            for right_index in range(left_index):
                place = bucket(start + row_number, item, len(row))
                if place == bucket(start + row_number, items[right_index], len(row)):
                    expected, report_count = table[row_number][place] - row[place] / scale, sum(table[row_number])
                    cell_sums[left_index][right_index] += row[place]
                    noise[left_index][right_index] += max(0, expected) * max(
                        0, 1 - max(0, expected) / max(1, report_count)
                    )
                    people[left_index][right_index] += report_count
    return cell_sums, noise, people
