"""Slow twin of `discreet.kernels._projecting`: plain Python, one idea a line."""

from __future__ import annotations

from itertools import combinations

Pattern = tuple[int, ...]


def borders(row: list[int], known_patterns: set[Pattern], max_length: int) -> list[tuple[Pattern, list[int]]]:
    """Return the patterns of a row, from the rarest item on, that are not known while all they begin with is.

    With each come the row's items that are more frequent than its last, unless it has the most items already.
    """
    borders_of_row = []
    for size in range(1, min(max_length, len(row)) + 1):
        for pattern in combinations(sorted(row, reverse=True), size):
            begun = [pattern[:length] for length in range(1, size)]
            if pattern not in known_patterns and all(prefix in known_patterns for prefix in begun):
                borders_of_row.append(
                    (pattern, [item for item in sorted(row) if item < pattern[-1]] if size < max_length else [])
                )
    return borders_of_row
