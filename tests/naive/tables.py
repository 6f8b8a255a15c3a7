"""Tables of published seeds, cell by cell."""

from __future__ import annotations

from discreet.local.device import derive_seed, hash_item


def bucket(number, item, buckets):
    return hash_item(derive_seed(number), item) * buckets >> 32


def tabulated(numbers, values, seeds, buckets):
    reports = list(zip(numbers, values, strict=True))
    return [[reports.count((seed, value)) for value in range(buckets)] for seed in range(seeds)]


def leftover(start, table, items, weights, together, slope, scale):
    found = []
    for row, cells in enumerate(table):
        buckets, many = len(cells), sum(cells)
        inside = [0.0] * buckets
        for item, weight in zip(items, weights, strict=True):
            inside[bucket(start + row, item, buckets)] += weight
        for one, other, extra in together:
            both = {bucket(start + row, items[place], buckets) for place in (one, other)}
            if len(both) == 1:
                inside[both.pop()] += extra
        even = sum(inside) / buckets
        expected = [many * (1 / buckets + slope * (one - even)) for one in inside]
        found.append([scale * (cell - one) for cell, one in zip(cells, expected, strict=True)])
    return found


def sums(start, cells, items):
    return [sum(row[bucket(start + at, item, len(row))] for at, row in enumerate(cells)) for item in items]


def met(start, reports, buckets, items, weights):
    found = []
    for item in items:
        total = 0.0
        for at, many in enumerate(reports):
            mine = bucket(start + at, item, buckets)
            shared = sum(
                weight
                for other, weight in zip(items, weights, strict=True)
                if bucket(start + at, other, buckets) == mine
            )
            total += many * (shared - sum(weights) / buckets)
        found.append(total)
    return found


def shared(start, cells, table, scale, items):
    """Return `scale` times what is left in cells that two share, its variance and all reports: a pair once."""
    left = [[0] * len(items) for _ in items]
    noise = [[0.0] * len(items) for _ in items]
    people = [[0] * len(items) for _ in items]
    for at, row in enumerate(cells):
        for one, item in enumerate(items):
            for other in range(one):
                place = bucket(start + at, item, len(row))
                if place == bucket(start + at, items[other], len(row)):
                    expected, many = table[at][place] - row[place] / scale, sum(table[at])
                    left[one][other] += row[place]
                    noise[one][other] += max(0, expected) * max(0, 1 - max(0, expected) / max(1, many))
                    people[one][other] += many
    return left, noise, people
