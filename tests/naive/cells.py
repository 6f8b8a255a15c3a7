"""Slow twins of `discreet.kernels._cells`."""

from __future__ import annotations


def count_cells(rows: list[list[int]], basis: list[int]) -> list[int]:
    """Return the number of rows for each exact subset of the codes of one basis."""
    counts = [0] * 2 ** len(basis)
    for row in rows:
        counts[sum(1 << bit for bit, code in enumerate(basis) if code in row)] += 1
    return counts


def supersets(counts: list[int]) -> list[int]:
    # An itemset is held by the people of every cell that has all its codes.
    return [
        sum(count for superset, count in enumerate(counts) if superset & mask == mask) for mask in range(len(counts))
    ]
