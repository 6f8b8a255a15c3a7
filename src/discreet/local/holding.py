"""How a basket answers a question: the few values it becomes before anything is randomised. Standard library only."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any


def held(question: Mapping[str, Any], basket: Iterable[int], pairs: Iterable[tuple[int, int]] = ()) -> list[int]:
    """Return the values a basket answers a question with, ascending; `pairs` are the relations it has of its own."""
    items, of = set(basket), question["of"]
    if question["ask"] == "prefix":
        mine = [item for item in question["order"] if item in items][: question["length"]]
        return [of.index(mine) if mine in of else len(of)]
    if question["ask"] == "cells":
        return [sum(1 << at for at, item in enumerate(of) if item in items)]
    if question["ask"] == "projection":
        return [_on_grid(question, _projected(question, items, pairs))]
    if isinstance(of, int):
        found = sorted(item for item in items if 0 <= item < of)
    elif question.get("pairs") == "own":
        related = {(one, other) for one, other in pairs}
        found = [at for at, chain in enumerate(of) if related.issuperset(pairwise(chain))]
    else:
        found = [at for at, one in enumerate(of) if (items.issuperset(one) if isinstance(one, list) else one in items)]
    if question["ask"] == "valued":
        apart = [at for at, one in enumerate(of) if question["absent"] and one[0] in items and at not in found]
        return sorted([2 * at + 1 for at in found] + [2 * at for at in apart])
    if question["ask"] == "how-many":
        return [bisect_right(question["bins"], len(found)) - 1]
    return found


def _projected(question: Mapping[str, Any], items: set[int], pairs: Iterable[tuple[int, int]]) -> int:
    """Return the sum of left × right over what is held, with itself and in pairs of different ones.

    What is held are items, and bonds: pairs that the question names beside its items. The bond (a, b) is paired with
    every c but a that b is paired with.
    """
    of, left, right = question["of"], question["left"], question["right"]
    if question["pairs"] == "folded":
        side = len(left)
        return int(sum(left[item // side] * right[item % side] for item in items if 0 <= item < of))
    related, chains = {(one, other) for one, other in pairs}, [one if isinstance(one, list) else [one] for one in of]
    if question["pairs"] == "together":
        mine = [at for at, chain in enumerate(chains) if items.issuperset(chain)]
        return int(sum(left[at] for at in mine) * sum(right[at] for at in mine))
    bonds = [related.issuperset(pairwise(chain)) if len(chain) > 1 else chain[0] in items for chain in chains]
    total = sum(left[at] * right[at] for at, has in enumerate(bonds) if has)
    place = {chain[0]: at for at, chain in enumerate(chains) if len(chain) == 1}
    for one, other in related:
        for at, chain in enumerate(chains):
            if chain[-1] == one and other in place and other not in chain and related.issuperset(pairwise(chain)):
                total += left[at] * right[place[other]]
    return int(total)


def _on_grid(question: Mapping[str, Any], total: int) -> int:
    """Bring a number from the question's range to the nearest point of the oracle's grid; what is beyond is clipped."""
    low, high, span = question["low"], question["high"], question["oracle"]["span"]
    if low == high:
        return 0
    return int((4 * span * (min(max(total, low), high) - low) + high - low) // (2 * (high - low)) - span)
