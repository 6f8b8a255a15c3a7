"""Finding itemsets among millions by hash, and the rules whose two sides are found.

An itemset's hash is the XOR of its items' keys, so that of what remains when items are taken out costs one
XOR. Hashes only narrow the search: the codes themselves are compared before anything is called found.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .jit import helper, kernel

Array = Any


@kernel
def hash_rows(offsets: Array, codes: Array, keys: Array) -> Array:
    hashes = np.zeros(len(offsets) - 1, np.int64)
    for row in range(len(hashes)):
        for place in range(offsets[row], offsets[row + 1]):
            hashes[row] ^= keys[codes[place]]
    return hashes


@helper
def _same_row(offsets: Array, codes: Array, row: int, other_offsets: Array, other_codes: Array, other: int) -> bool:
    start, other_start = offsets[row], other_offsets[other]
    size = offsets[row + 1] - start
    if other_offsets[other + 1] - other_start != size:
        return False
    for place in range(size):
        if codes[start + place] != other_codes[other_start + place]:
            return False
    return True


@kernel
def fill_slots(slots: Array, hashes: Array, offsets: Array, codes: Array) -> None:
    last = len(slots) - 1
    for row in range(len(hashes)):
        slot = hashes[row] & last
        while slots[slot] >= 0:
            held = slots[slot]
            if hashes[held] == hashes[row] and _same_row(offsets, codes, held, offsets, codes, row):
                break
            slot = (slot + 1) & last
        if slots[slot] < 0:
            slots[slot] = row


@kernel
def find_rows(
    slots: Array,
    hashes: Array,
    offsets: Array,
    codes: Array,
    wanted_hashes: Array,
    wanted_offsets: Array,
    wanted_codes: Array,
) -> Array:
    last = len(slots) - 1
    found = np.full(len(wanted_hashes), -1, np.int64)
    for row in range(len(wanted_hashes)):
        slot = wanted_hashes[row] & last
        while slots[slot] >= 0:
            held = slots[slot]
            if hashes[held] == wanted_hashes[row] and _same_row(
                offsets, codes, held, wanted_offsets, wanted_codes, row
            ):
                found[row] = held
                break
            slot = (slot + 1) & last
    return found


@helper
def _find_side(
    slots: Array,
    hashes: Array,
    offsets: Array,
    codes: Array,
    row: int,
    in_consequent: Array,
    side: bool,
    hashed: int,
) -> int:
    """Return the position of one side of the itemset `row`: the items whose mark equals `side`."""
    last = len(slots) - 1
    start, stop = offsets[row], offsets[row + 1]
    slot = hashed & last
    while slots[slot] >= 0:
        held = slots[slot]
        if hashes[held] == hashed:
            place, end = offsets[held], offsets[held + 1]
            equal = True
            for item in range(start, stop):
                if in_consequent[item - start] == side:
                    if place == end or codes[place] != codes[item]:
                        equal = False
                        break
                    place += 1
            if equal and place == end:
                return int(held)
        slot = (slot + 1) & last
    return -1


@helper
def _room(column: Array, size: int) -> Array:
    if size < len(column):
        return column
    larger = np.empty(2 * len(column), np.int64)
    for at in range(size):
        larger[at] = column[at]
    return larger


@kernel
def find_rules(
    first: int,
    stop: int,
    table: tuple[Array, Array, Array, Array, Array],
    counts: Array,
    people: int,
    minimums: tuple[float, float],
    shape: tuple[int, bool],
    limit: int,
) -> tuple[Array, Array, Array, int, int]:
    """Split the itemsets from `first` to before `stop` into two sides wherever both are in the table.

    The table is (slots, hashes, offsets, codes, keys), the minimums are (confidence, lift), the shape is
    (most items of a consequent, whether a failing confidence prunes). Returns the positions of the whole,
    the antecedent and the consequent of each rule, how many splits were left out because a side is not in the
    table, and how many because of their lift. Stops early, with more than `limit` of all these together.

    Consequents grow one item at a time. With true counts, moving an item from the antecedent to the
    consequent can only lower the confidence, so a failing split need not be grown; noisy counts do not
    allow that.
    """
    slots, hashes, offsets, codes, keys = table
    min_confidence, min_lift = minimums
    largest, prunes = shape
    whole = np.empty(1024, np.int64)
    antecedent = np.empty(1024, np.int64)
    consequent = np.empty(1024, np.int64)
    size = 0
    missing = 0
    refused = 0
    for row in range(first, stop):
        start = offsets[row]
        length = offsets[row + 1] - start
        deepest = min(length - 1, largest)
        in_consequent = np.zeros(max(length, 1), np.bool_)
        picked = np.empty(max(length, 1), np.int64)
        depth = 0
        position = 0
        hashed = np.int64(0)
        while deepest > 0:
            if position == length or depth == deepest:
                if depth == 0:
                    break
                depth -= 1
                position = picked[depth]
                hashed ^= keys[codes[start + position]]
                in_consequent[position] = False
                position += 1
                continue
            picked[depth] = position
            in_consequent[position] = True
            hashed ^= keys[codes[start + position]]
            depth += 1
            grow = True
            left = _find_side(slots, hashes, offsets, codes, row, in_consequent, False, hashes[row] ^ hashed)
            if left < 0:
                missing += 1
            elif counts[left] <= 0 or counts[row] / counts[left] < min_confidence:
                grow = not prunes
            else:
                right = _find_side(slots, hashes, offsets, codes, row, in_consequent, True, hashed)
                if right < 0:
                    missing += 1
                elif (
                    counts[right] > 0
                    and float(people) * counts[row] / (float(counts[left]) * counts[right]) >= min_lift
                ):
                    whole = _room(whole, size)
                    antecedent = _room(antecedent, size)
                    consequent = _room(consequent, size)
                    whole[size], antecedent[size], consequent[size] = row, left, right
                    size += 1
                else:
                    refused += 1
            if size + missing + refused > limit:
                return whole[:size], antecedent[:size], consequent[:size], missing, refused
            position += 1
            if not grow:
                depth -= 1
                in_consequent[position - 1] = False
                hashed ^= keys[codes[start + position - 1]]
    return whole[:size], antecedent[:size], consequent[:size], missing, refused
