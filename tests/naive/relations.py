"""Which pairs people hold, and sums over them, by sets."""

from __future__ import annotations

from itertools import permutations


def pairs_of_basket(basket):
    return set(permutations(sorted(basket), 2))


def after(events, moments=None):
    """Return the pairs (a, b) with a b later than an a; items of one moment are at one time."""
    times = range(len(events)) if moments is None else moments
    timed_events = list(zip(events, times, strict=True))
    return {
        (a, b)
        for a, first_time in timed_events
        for b, second_time in timed_events
        if a != b and first_time < second_time
    }


def bonded(pairs, bonds):
    """Return the pairs that a person holds, items as (a,) and bonds as (a, b), with the pairs that bonds imply."""
    sides = {((a,), (b,)) for a, b in pairs}
    # A held bond counts as one item, and goes on with each pair that begins with its second item.
    for a, b in bonds:
        if (a, b) in pairs:
            sides.add(((a, b), (a, b)))
            sides |= {((a, b), (c,)) for bond_start, c in pairs if bond_start == b and c != a}
    return sides


def chained(pairs):
    """Return the chains (a, b, c) of three different items with both steps held."""
    return {(a, b, c) for a, b in pairs for pair_start, c in pairs if pair_start == b and c != a}


def folded(basket, items, side, left_weights, right_weights):
    return sum(left_weights[item // side] * right_weights[item % side] for item in basket if item < items)
