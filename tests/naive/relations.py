"""Which pairs people hold, and sums over them, by sets."""

from __future__ import annotations

from itertools import permutations


def together(basket):
    return set(permutations(sorted(basket), 2))


def after(events, moments=None):
    """Return the pairs (a, b) with a b later than an a; what has the same moment is at the same time."""
    when = range(len(events)) if moments is None else moments
    done = list(zip(events, when, strict=True))
    return {(a, b) for a, first in done for b, second in done if a != b and first < second}


def bonded(pairs, bonds):
    """Return pairs of what is held, items as (a,) and bonds as (a, b): with those that follow from bonds."""
    found = {((a,), (b,)) for a, b in pairs}
    for a, b in bonds:
        if (a, b) in pairs:
            found.add(((a, b), (a, b)))
            found |= {((a, b), (c,)) for other, c in pairs if other == b and c != a}
    return found


def chained(pairs):
    """Return the chains (a, b, c) of three different items whose two steps are both held."""
    return {(a, b, c) for a, b in pairs for other, c in pairs if other == b and c != a}


def folded(basket, items, side, left, right):
    return sum(left[item // side] * right[item % side] for item in basket if item < items)
