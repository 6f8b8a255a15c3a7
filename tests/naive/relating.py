"""Which pairs people hold, and sums over them, by sets."""

from __future__ import annotations

from itertools import permutations


def together(basket):
    return set(permutations(sorted(basket), 2))


def after(events):
    return {(a, b) for at, a in enumerate(events) for b in events[at + 1 :] if a != b}


def bonded(pairs, bonds):
    """Return pairs of what is held, items as (a,) and bonds as (a, b): with those that follow from bonds."""
    found = {((a,), (b,)) for a, b in pairs}
    for a, b in bonds:
        if (a, b) in pairs:
            found.add(((a, b), (a, b)))
            found |= {((a, b), (c,)) for other, c in pairs if other == b and c != a}
    return found


def folded(basket, items, side, left, right):
    return sum(left[item // side] * right[item % side] for item in basket if item < items)
