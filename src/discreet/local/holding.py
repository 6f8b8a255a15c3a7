"""How a basket answers a question: the few values it becomes before anything is randomised. Standard library only."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from typing import Any


def held(question: Mapping[str, Any], basket: Iterable[int], pairs: Iterable[tuple[int, int]] = ()) -> list[int]:
    """Return the values a basket answers a question with, ascending; `pairs` are the relations it has of its own."""
    items, of = set(basket), question["of"]
    if question["ask"] == "prefix":
        mine = [item for item in question["order"] if item in items][: question["length"]]
        return [of.index(mine) if mine in of else len(of)]
    if question["ask"] == "projection":
        return [_on_grid(question, _projected(question, items, pairs))]
    if isinstance(of, int):
        found = sorted(item for item in items if 0 <= item < of)
    elif question.get("pairs") == "own":
        related = set(pairs)
        found = [at for at, (one, other) in enumerate(of) if (one, other) in related]
    else:
        found = [at for at, one in enumerate(of) if (items.issuperset(one) if isinstance(one, list) else one in items)]
    if question["ask"] == "how-many":
        return [bisect_right(question["bins"], len(found)) - 1]
    return found


def _projected(question: Mapping[str, Any], items: set[int], pairs: Iterable[tuple[int, int]]) -> int:
    """Return the sum of left × right over the items held and over the pairs of different items held."""
    place, left, right = {item: at for at, item in enumerate(question["of"])}, question["left"], question["right"]
    mine = [place[item] for item in items if item in place]
    if question["pairs"] == "together":
        return int(sum(left[at] for at in mine) * sum(right[at] for at in mine))
    related = [(place[one], place[other]) for one, other in set(pairs) if one in place and other in place]
    ordered = [(one, other) for one, other in related if one != other]
    return int(sum(left[one] * right[other] for one, other in [*ordered, *zip(mine, mine, strict=True)]))


def _on_grid(question: Mapping[str, Any], total: int) -> int:
    """Bring a number from the question's range to the nearest point of the oracle's grid; what is beyond is clipped."""
    low, high, span = question["low"], question["high"], question["oracle"]["span"]
    if low == high:
        return 0
    return int((4 * span * (min(max(total, low), high) - low) + high - low) // (2 * (high - low)) - span)
