"""Points of a projective space and the hyperplanes that they meet, point by point."""

from __future__ import annotations

from itertools import product


def points(field, coordinate_count):
    """Return all points by their numbers: by the number of coordinates after the leading 1, then by the coordinates."""
    return [
        (0,) * (coordinate_count - 1 - behind) + (1, *tail)
        for behind in range(coordinate_count)
        for tail in product(range(field), repeat=behind)
    ]


def meet(point, hyperplane, field):
    # A hyperplane has a normal vector with as many coordinates, here with the last coordinate first.
    return sum(a * b for a, b in zip(point, reversed(hyperplane), strict=True)) % field == 0


def count_values(values, value_count):
    return [values.count(point) for point in range(value_count)]


def met(cells, field, coordinate_count, point_count):
    every = points(field, coordinate_count)
    return [
        sum(cell for cell, hyperplane in zip(cells, every, strict=True) if meet(point, hyperplane, field))
        for point in every[:point_count]
    ]


def folded(cells, made_coordinates, field, factor_count):
    """Return the cells of (before, made, factor, sum) from the cells of (before, y, made, sum)."""
    folded_cells = []
    for before in range(len(cells) // (field * made_coordinates * field)):
        for u, factor, z in product(range(made_coordinates), range(factor_count), range(field)):
            total = 0
            for y in range(field):
                total += cells[((before * field + y) * made_coordinates + u) * field + (z - factor * y) % field]
            folded_cells.append(total)
    return folded_cells
