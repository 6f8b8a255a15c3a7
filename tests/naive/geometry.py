"""Points of a projective space and what meets what, one point by one."""

from __future__ import annotations

from itertools import product


def points(field, many):
    """Return all points in the order of their numbers: by how many coordinates follow the leading 1, then by these."""
    return [
        (0,) * (many - 1 - behind) + (1, *rest)
        for behind in range(many)
        for rest in product(range(field), repeat=behind)
    ]


def meet(one, other, field):
    return sum(a * b for a, b in zip(one, reversed(other), strict=True)) % field == 0


def counted(told, many):
    return [told.count(point) for point in range(many)]


def met(cells, field, many, wanted):
    every = points(field, many)
    return [
        sum(cell for cell, other in zip(cells, every, strict=True) if meet(one, other, field)) for one in every[:wanted]
    ]


def folded(given, made, field, few):
    """Return the cells of (before, made, factor, sum), from those of (before, y, made, sum)."""
    found = []
    for before in range(len(given) // (field * made * field)):
        for u, factor, z in product(range(made), range(few), range(field)):
            total = 0
            for y in range(field):
                total += given[((before * field + y) * made + u) * field + (z - factor * y) % field]
            found.append(total)
    return found
