"""The values that a basket answers a question with, before any randomisation. Standard library only.

The time of an answer can be observed from outside. The loops therefore run over all entries of the question,
for every basket. Three steps alone take longer for more items: building sets of the held items, adding up the
pairs of a projection, and questions about all items below a number. Their time depends on the number of held items
and not on the items. The work is linear in the length of the question and in the number of held items.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping
from itertools import islice, pairwise
from operator import index
from typing import Any, NamedTuple

# The largest number of items, and of pairs of either kind, that a device answers for: later entries are ignored. It
# bounds the work of an answer by a public number. A device with more items still answers, because a refusal would
# reveal the number of its items; so the limit is not one of the limits of questions in `limits`. Larger: answers take
# longer on every device, which waits for the longest answer; smaller: long baskets lose more items.
MOST_HELD = 1 << 15

# The largest number of symbols in the texts of an answer, each text with its end: later texts are ignored. It trades
# time for completeness as `MOST_HELD` does; eight symbols per item.
MOST_SYMBOLS_HELD = 1 << 18

OWN = ("after", "given")  # kinds of pairs that a device has beside its items
END = "\n"  # the end of every text, and a symbol within none


def whole_numbers(items: Iterable[Any]) -> list[int]:
    """Return items as plain integers, from integers of any type; booleans are refused."""
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
    """Return texts as a list; every entry is checked before any entry is refused."""
    held_texts = list(texts)
    if sum([not isinstance(text, str) for text in held_texts]):
        raise ValueError("A study without a list of items asks for texts: this device holds other things.")
    return held_texts


def whole_pairs(pairs: Iterable[Iterable[Any]]) -> list[tuple[int, int]]:
    """Return the first `MOST_HELD` relations as pairs of plain integers."""
    held_pairs = [whole_numbers(pair) for pair in islice(pairs, MOST_HELD)]
    if any(len(pair) != 2 for pair in held_pairs):
        raise ValueError("A relation is a pair of two items: this device has others.")
    return [(left_item, second) for left_item, second in held_pairs]


def first_texts(texts: Iterable[Any]) -> list[str]:
    """Return the first texts, up to `MOST_SYMBOLS_HELD` symbols together."""
    symbols_left, answered_texts = MOST_SYMBOLS_HELD, []
    for text in texts:
        symbols_left -= len(text) + 1 if isinstance(text, str) else 1
        if symbols_left < 0:
            break
        answered_texts.append(text)
    return plain_texts(answered_texts)


class DeviceData(NamedTuple):
    """The data of a device, checked, and cut to the part that it answers for."""

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
        """Return the data of a device, or raise a `ValueError`, which must not depend on the question."""
        items = whole_numbers(islice(basket, MOST_HELD))
        return cls(items, None if texts is None else first_texts(texts), whole_pairs(given), whole_pairs(after))


def number_texts(coding: Mapping[str, Any], texts: Iterable[str]) -> list[int]:
    """Return the numbers of texts by the coding of a question, ascending.

    A text with the beginning b has the number of b on the list `begin`, followed by a digit for each of the next
    `step` symbols: 0 for the end and beyond. A text that is too long, empty or of other symbols has no number.
    """
    begin_numbers = {begin: number for number, begin in enumerate(coding["begin"])}
    digits = {symbol: digit for digit, symbol in enumerate(coding["alphabet"], start=1)}
    lengths, base, step = sorted({len(begin) for begin in begin_numbers}), len(digits) + 1, coding["step"]
    numbers = set()
    for text in texts:
        if not 0 < len(text) <= coding["length"] or sum([symbol not in digits for symbol in text]):
            continue
        ended_text = text + END
        for length in lengths:
            number, following = begin_numbers.get(ended_text[:length]), ended_text[length : length + step]
            if number is not None:
                for symbol in following:
                    number = number * base + digits.get(symbol, 0)
                numbers.add(number * base ** (step - len(following)))
    return sorted(numbers)


def find_values(question: Mapping[str, Any], basket: Iterable[Any], pairs: Iterable[tuple[int, int]] = ()) -> list[int]:
    """Return the values that a basket answers a question with, ascending.

    Parameters
    ----------
    question
        The question, checked.
    basket
        The numbers of the held items, or the held texts for a question about texts.
    pairs
        The pairs of the device, of the kind that the question is about.
    """
    items = set(number_texts(question["texts"], basket) if "texts" in question else basket)
    kind, candidates = question["ask"], question["of"]
    if kind == "prefix":
        prefix = [item for item in question["order"] if item in items][: question["length"]]
        # The first of equal candidates counts: the dictionary is filled from the back.
        positions = {tuple(candidate): position for position, candidate in reversed([*enumerate(candidates)])}
        return [positions.get(tuple(prefix), len(candidates))]
    if kind == "cells":
        return [sum(1 << bit for bit, item in enumerate(candidates) if item in items)]
    if kind == "projection":
        return [_clip_to_grid(question, _project(question, items, pairs))]
    if isinstance(candidates, int):
        values = sorted(item for item in items if 0 <= item < candidates)
    else:
        held_flags = _find_held_candidates(question, items, set(map(tuple, pairs)))
        if kind == "valued":
            # Value 2c + 1 is a held relation, 2c its first item without the relation.
            key_flags = [question["absent"] and candidate[0] in items for candidate in candidates]
            return [2 * code + is_held for code, is_held in enumerate(held_flags) if is_held or key_flags[code]]
        values = [code for code, is_held in enumerate(held_flags) if is_held]
    if kind == "how-many":
        return [bisect_right(question["bins"], len(values)) - 1]
    return values


def _as_chain(candidate: Any) -> list[Any]:
    """Return a candidate as a list of items: a single item is a chain of one."""
    return candidate if isinstance(candidate, list) else [candidate]


def _find_held_candidates(question: Mapping[str, Any], items: set[int], pairs: set[tuple[int, ...]]) -> list[bool]:
    """Return for each candidate whether the device holds it: all its items, or the pairs from each to the next."""
    candidates = question["of"]
    if question.get("pairs") in OWN:
        chains = map(_as_chain, candidates)
        return [_has_all(pairwise(chain), pairs) if len(chain) > 1 else chain[0] in items for chain in chains]
    return [_has_all(entry, items) if isinstance(entry, list) else entry in items for entry in candidates]


def _has_all(entries: Iterable[Any], collection: Collection[Any]) -> bool:
    """Return whether a collection has all entries; unlike `all`, it looks every entry up, so its time is equal."""
    return sum([entry not in collection for entry in entries]) == 0


def _project(question: Mapping[str, Any], items: set[int], pairs: Iterable[tuple[int, int]]) -> int:
    """Return the sum of left × right over all pairs of held entries, an entry with itself among them.

    Entries are items and bonds, which are pairs that the question lists beside its items. The bond (a, b) is paired
    with every item c other than a that b is paired with.
    """
    entries, left_weights, right_weights = question["of"], question["left"], question["right"]
    if question["pairs"] == "folded":
        side = len(left_weights)
        return int(
            sum(left_weights[item // side] * right_weights[item % side] for item in items if 0 <= item < entries)
        )
    held_pairs = set(map(tuple, pairs))
    held_flags = _find_held_candidates(question, items, held_pairs)
    if question["pairs"] == "together":
        left_sum = sum(is_held * weight for is_held, weight in zip(held_flags, left_weights, strict=True))
        return int(left_sum) * int(
            sum(is_held * weight for is_held, weight in zip(held_flags, right_weights, strict=True))
        )
    chains = [_as_chain(entry) for entry in entries]
    item_weights = {chain[0]: right_weights[code] for code, chain in enumerate(chains) if len(chain) == 1}
    # The right weights of the partners of each item. Every held pair is added, whether or not the question lists it,
    # and for each entry the partners that are items of the entry are subtracted.
    partner_weights = dict.fromkeys((left_item for left_item, _ in held_pairs), 0)
    for left_item, right_item in held_pairs:
        partner_weights[left_item] += item_weights.get(right_item, 0)
    total = 0
    for code, chain in enumerate(chains):
        inner = sum([((chain[-1], item) in held_pairs) * item_weights.get(item, 0) for item in set(chain)])
        leads = held_flags[code] or len(chain) == 1  # an item leads a pair even if it is not in the basket
        own_weight = held_flags[code] * right_weights[code]
        total += left_weights[code] * (own_weight + leads * (partner_weights.get(chain[-1], 0) - inner))
    return int(total)


def _clip_to_grid(question: Mapping[str, Any], number: int) -> int:
    """Return the point of the oracle's grid that is nearest to a number, after clipping to the question's range."""
    low, high, span = question["low"], question["high"], question["oracle"]["span"]
    if low == high:
        return 0
    return int((4 * span * (min(max(number, low), high) - low) + high - low) // (2 * (high - low)) - span)
