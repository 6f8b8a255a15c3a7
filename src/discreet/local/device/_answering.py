"""How a basket answers a question: the few values it becomes before anything is randomised. Standard library only.

How long that takes could be seen from outside, so the loops go over the question, and look at all of it whatever is
held. Only making sets of what is held, adding up the pairs of a projection, and questions about all items below a
number take longer for more of it: by how much there is, and not by what it is. The work is linear in the length of the
question and in what is held.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping
from itertools import islice, pairwise
from operator import index
from typing import Any, NamedTuple

MOST_HELD = 1 << 15
"""Items that a device answers for, and pairs of either kind: what comes after the first of them is ignored.

So the work of an answer has a bound that is known before anything is held. No limit of what is asked, and so not in
`limits`: a device that holds more is not refused, which would show.
"""

MOST_SYMBOLS_HELD = 1 << 18
"""Symbols of the texts that a device answers for, with the end of each counted: texts after the first are ignored."""

OWN = ("after", "given")  # kinds of pairs that a device has beside its items
END = "\n"  # what every text ends with, and none has inside


def whole_numbers(items: Iterable[Any]) -> list[int]:
    """Return items as plain whole numbers, whatever kind of whole numbers they are; true and false are none."""
    held_items = list(items)
    try:
        if any(isinstance(item, bool) for item in held_items):
            raise TypeError
        return [index(item) for item in held_items]
    except TypeError:
        raise ValueError(
            "A basket holds whole numbers, the places of items on the study's list: this one has other things."
        ) from None


def plain_texts(texts: Iterable[Any]) -> list[str]:
    """Return texts as a list, after all of them were looked at: what is no text is refused."""
    held_texts = list(texts)
    if sum([not isinstance(text, str) for text in held_texts]):
        raise ValueError("A study without a list of items asks for texts: this device holds other things.")
    return held_texts


def whole_pairs(pairs: Iterable[Iterable[Any]]) -> list[tuple[int, int]]:
    """Return relations as pairs of plain whole numbers: as many as a device answers for."""
    held_pairs = [whole_numbers(pair) for pair in islice(pairs, MOST_HELD)]
    if any(len(pair) != 2 for pair in held_pairs):
        raise ValueError("A relation is a pair of two items: this device has others.")
    return [(first, second) for first, second in held_pairs]


def first_texts(texts: Iterable[Any]) -> list[str]:
    """Return the texts that a device answers for: those at the front that are not too long together."""
    symbols_left, first = MOST_SYMBOLS_HELD, []
    for text in texts:
        symbols_left -= len(text) + 1 if isinstance(text, str) else 1
        if symbols_left < 0:
            break
        first.append(text)
    return plain_texts(first)


class DeviceData(NamedTuple):
    """What a device holds, checked, and cut to what it answers for."""

    items: list[int]
    texts: list[str] | None
    given: list[tuple[int, int]]
    after: list[tuple[int, int]]

    @classmethod
    def of(
        cls,
        basket: Iterable[Any],
        texts: Iterable[Any] | None = None,
        given: Iterable[Iterable[Any]] = (),
        after: Iterable[Iterable[Any]] = (),
    ) -> DeviceData:
        """Return what is held, or raise a `ValueError`: whatever is asked, and before anything is asked for."""
        items = whole_numbers(islice(basket, MOST_HELD))
        return cls(items, None if texts is None else first_texts(texts), whole_pairs(given), whole_pairs(after))


def numbered(told: Mapping[str, Any], texts: Iterable[str]) -> list[int]:
    """Return the items that texts are by what a question tells of them.

    A text that begins with one of `begin` is the number of that one and of the `step` symbols that follow: a digit
    each, 0 for the end and for what would follow it. Texts that are longer, empty or of other symbols are no items.
    """
    places = {one: at for at, one in enumerate(told["begin"])}
    digits = {symbol: at for at, symbol in enumerate(told["alphabet"], start=1)}
    lengths, base, step = sorted({len(one) for one in places}), len(digits) + 1, told["step"]
    found = set()
    for text in texts:
        if not 0 < len(text) <= told["length"] or sum([symbol not in digits for symbol in text]):
            continue
        whole = text + END
        for length in lengths:
            at, follows = places.get(whole[:length]), whole[length : length + step]
            if at is not None:
                for symbol in follows:
                    at = at * base + digits.get(symbol, 0)
                found.add(at * base ** (step - len(follows)))
    return sorted(found)


def held(question: Mapping[str, Any], basket: Iterable[Any], pairs: Iterable[tuple[int, int]] = ()) -> list[int]:
    """Return the values a basket answers a question with, ascending; `pairs` are its own ones of the kind asked for.

    The basket is of texts where the question tells how those become items.
    """
    items, of = set(numbered(question["texts"], basket) if "texts" in question else basket), question["of"]
    if question["ask"] == "prefix":
        mine = [item for item in question["order"] if item in items][: question["length"]]
        places = {tuple(one): len(of) - back for back, one in enumerate(reversed(of), start=1)}
        return [places.get(tuple(mine), len(of))]
    if question["ask"] == "cells":
        return [sum(1 << at for at, item in enumerate(of) if item in items)]
    if question["ask"] == "projection":
        return [_on_grid(question, _projected(question, items, pairs))]
    if isinstance(of, int):
        found = sorted(item for item in items if 0 <= item < of)
    else:
        has = _has(question, items, set(map(tuple, pairs)))
        if question["ask"] == "valued":
            apart = [question["absent"] and one[0] in items for one in of]
            return [2 * at + own for at, own in enumerate(has) if own or apart[at]]
        found = [at for at, own in enumerate(has) if own]
    if question["ask"] == "how-many":
        return [bisect_right(question["bins"], len(found)) - 1]
    return found


def _has(question: Mapping[str, Any], items: set[int], related: set[tuple[int, ...]]) -> list[bool]:
    """Return whether each entry of a list is held: one item, or several as items or by pairs from each to the next."""
    if question.get("pairs") in OWN:
        chains = [one if isinstance(one, list) else [one] for one in question["of"]]
        return [_all(pairwise(chain), related) if len(chain) > 1 else chain[0] in items for chain in chains]
    return [_all(one, items) if isinstance(one, list) else one in items for one in question["of"]]


def _all(some: Iterable[Any], among: Collection[Any]) -> bool:
    """Return whether all of these are there; unlike `all`, it looks for every one."""
    return sum([one not in among for one in some]) == 0


def _projected(question: Mapping[str, Any], items: set[int], pairs: Iterable[tuple[int, int]]) -> int:
    """Return the sum of left × right over what is held, with itself and in pairs of different ones.

    What is held are items, and bonds: pairs that the question names beside its items. The bond (a, b) is paired with
    every c but a that b is paired with.
    """
    of, left, right = question["of"], question["left"], question["right"]
    if question["pairs"] == "folded":
        side = len(left)
        return int(sum(left[item // side] * right[item % side] for item in items if 0 <= item < of))
    related = set(map(tuple, pairs))
    has = _has(question, items, related)
    if question["pairs"] == "together":
        return int(sum(own * one for own, one in zip(has, left, strict=True))) * int(
            sum(own * other for own, other in zip(has, right, strict=True))
        )
    chains = [one if isinstance(one, list) else [one] for one in of]
    alone = {chain[0]: right[at] for at, chain in enumerate(chains) if len(chain) == 1}
    # What each item is paired with weighs, and of that, for each entry, what is not the entry's own. Every pair held
    # is added, whether or not the question is about it.
    weights = dict.fromkeys((first for first, _ in related), 0)
    for first, second in related:
        weights[first] += alone.get(second, 0)
    total = 0
    for at, chain in enumerate(chains):
        inner = sum([((chain[-1], other) in related) * alone.get(other, 0) for other in set(chain)])
        leads = has[at] or len(chain) == 1  # an item is one side of a pair whether or not it is in the basket
        total += left[at] * (has[at] * right[at] + leads * (weights.get(chain[-1], 0) - inner))
    return int(total)


def _on_grid(question: Mapping[str, Any], total: int) -> int:
    """Bring a number from the question's range to the nearest point of the oracle's grid; what is beyond is clipped."""
    low, high, span = question["low"], question["high"], question["oracle"]["span"]
    if low == high:
        return 0
    return int((4 * span * (min(max(total, low), high) - low) + high - low) // (2 * (high - low)) - span)
