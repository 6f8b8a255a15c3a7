"""Slow twin of `discreet.kernels._projecting`: plain Python, one idea a line."""

from __future__ import annotations

from itertools import combinations

Pattern = tuple[int, ...]


def borders(row: list[int], known: set[Pattern], most: int) -> list[tuple[Pattern, list[int]]]:
    """Return the patterns of a row, from the rarest item on, that are not known while all they begin with is.

    With each come the row's items that are more frequent than its last, unless it has the most items already.
    """
    found = []
    for size in range(1, min(most, len(row)) + 1):
        for pattern in combinations(sorted(row, reverse=True), size):
            begun = [pattern[:many] for many in range(1, size)]
            if pattern not in known and all(one in known for one in begun):
                found.append((pattern, [item for item in sorted(row) if item < pattern[-1]] if size < most else []))
    return found
