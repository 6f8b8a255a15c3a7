"""Triangular roots entry by entry."""

from __future__ import annotations

from math import sqrt


def root(spread, factor):
    """Return the upper triangular matrix whose product with itself, turned, is 1 + factor * spread."""
    many = len(spread)
    found = [[0.0] * many for _ in range(many)]
    for column in range(many):
        for row in range(column + 1):
            left = factor * spread[row][column] + (row == column)
            left -= sum(found[at][row] * found[at][column] for at in range(row))
            found[row][column] = sqrt(left) if row == column else left / found[row][row]
    return found


def along(root, vector):
    """Return x with root' x = vector."""
    found = []
    for at, value in enumerate(vector):
        found.append((value - sum(root[before][at] * found[before] for before in range(at))) / root[at][at])
    return found


def back(root, vector):
    """Return x with root x = vector."""
    found = list(vector)
    for at in reversed(range(len(found))):
        found[at] = (found[at] - sum(root[at][other] * found[other] for other in range(at + 1, len(found)))) / root[at][
            at
        ]
    return found
