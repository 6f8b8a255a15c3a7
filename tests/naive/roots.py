"""Triangular roots entry by entry."""

from __future__ import annotations

from math import sqrt


def root(spread, factor):
    """Return the upper triangular matrix R with R' R = 1 + factor * spread."""
    size = len(spread)
    entries = [[0.0] * size for _ in range(size)]
    # Cholesky's method, column by column.
    for column in range(size):
        for row in range(column + 1):
            remainder = factor * spread[row][column] + (row == column)
            remainder -= sum(entries[index][row] * entries[index][column] for index in range(row))
            entries[row][column] = sqrt(remainder) if row == column else remainder / entries[row][row]
    return entries


def along(root, vector):
    """Return x with root' x = vector."""
    solution = []
    # Forward substitution.
    for index, value in enumerate(vector):
        solution.append(
            (value - sum(root[before][index] * solution[before] for before in range(index))) / root[index][index]
        )
    return solution


def back(root, vector):
    """Return x with root x = vector."""
    solution = list(vector)
    # Back substitution.
    for index in reversed(range(len(solution))):
        solution[index] = (
            solution[index] - sum(root[index][column] * solution[column] for column in range(index + 1, len(solution)))
        ) / root[index][index]
    return solution
