"""Finding itemsets among millions by hash, and the rules with both sides in the table.

The hash of an itemset is the XOR of its items' keys, so the hash of the remainder after taking items out costs one XOR
per item. Hashes only narrow the search: codes are compared before an itemset counts as found.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._jit import helper, kernel

Array = Any


@kernel
def hash_itemsets(offsets: Array, codes: Array, keys: Array) -> Array:
    """Return the hash of each itemset: the XOR of its items' keys."""
    hashes = np.zeros(len(offsets) - 1, np.int64)
    for row in range(len(hashes)):
        for place in range(offsets[row], offsets[row + 1]):
            hashes[row] ^= keys[codes[place]]
    return hashes


@helper
def _rows_equal(
    offsets: Array, codes: Array, row: int, second_offsets: Array, second_codes: Array, second_row: int
) -> bool:
    """Return whether two rows of two tables have equal codes."""
    start, second_start = offsets[row], second_offsets[second_row]
    size = offsets[row + 1] - start
    if second_offsets[second_row + 1] - second_start != size:
        return False
    for place in range(size):
        if codes[start + place] != second_codes[second_start + place]:
            return False
    return True


@kernel
def fill_slots(slots: Array, hashes: Array, offsets: Array, codes: Array) -> None:
    """Fill a hash table of open addressing with itemset numbers; the number of slots is a power of two."""
    slot_mask = len(slots) - 1
    for row in range(len(hashes)):
        slot = hashes[row] & slot_mask
        while slots[slot] >= 0:
            candidate = slots[slot]
            if hashes[candidate] == hashes[row] and _rows_equal(offsets, codes, candidate, offsets, codes, row):
                break
            # Linear probing: a collision costs the next slot, mostly in one cache line.
            slot = (slot + 1) & slot_mask
        if slots[slot] < 0:
            slots[slot] = row


@kernel
def find_itemsets(
    slots: Array,
    hashes: Array,
    offsets: Array,
    codes: Array,
    wanted_hashes: Array,
    wanted_offsets: Array,
    wanted_codes: Array,
) -> Array:
    """Return the position of each wanted itemset in the table, or -1."""
    slot_mask = len(slots) - 1
    positions = np.full(len(wanted_hashes), -1, np.int64)
    for row in range(len(wanted_hashes)):
        slot = wanted_hashes[row] & slot_mask
        while slots[slot] >= 0:
            candidate = slots[slot]
            if hashes[candidate] == wanted_hashes[row] and _rows_equal(
                offsets, codes, candidate, wanted_offsets, wanted_codes, row
            ):
                positions[row] = candidate
                break
            slot = (slot + 1) & slot_mask
    return positions


@helper
def _find_side(
    slots: Array,
    hashes: Array,
    offsets: Array,
    codes: Array,
    row: int,
    is_consequent: Array,
    side_mark: bool,
    hash_value: int,
) -> int:
    """Return the position of one side of the itemset `row`: the items with a mark of `side_mark`; or -1."""
    slot_mask = len(slots) - 1
    start, stop = offsets[row], offsets[row + 1]
    slot = hash_value & slot_mask
    while slots[slot] >= 0:
        candidate = slots[slot]
        if hashes[candidate] == hash_value:
            place, end = offsets[candidate], offsets[candidate + 1]
            is_equal = True
            for item in range(start, stop):
                if is_consequent[item - start] == side_mark:
                    if place == end or codes[place] != codes[item]:
                        is_equal = False
                        break
                    place += 1
            if is_equal and place == end:
                return int(candidate)
        slot = (slot + 1) & slot_mask
    return -1


@helper
def _ensure_room(column: Array, size: int) -> Array:
    """Return the column, doubled when `size` entries fill it."""
    if size < len(column):
        return column
    larger = np.empty(2 * len(column), np.int64)
    for position in range(size):
        larger[position] = column[position]
    return larger


@kernel
def find_rules(
    first_row: int,
    stop_row: int,
    table: tuple[Array, Array, Array, Array, Array],
    counts: Array,
    people: int,
    minimums: tuple[float, float],
    shape: tuple[int, bool],
    limit: int,
) -> tuple[Array, Array, Array, int, int]:
    """Split the itemsets from `first_row` to before `stop_row` into two sides wherever both sides are in the table.

    The table is (slots, hashes, offsets, codes, keys), the minimums are (confidence, lift), the shape is (maximum
    number of items of a consequent, whether a failing confidence prunes). Returns the positions of the itemset, the
    antecedent and the consequent of each rule, the number of splits with a side that is not in the table, and the
    number of splits with a low lift. Stops early once rules and skipped splits together pass `limit`.

    Consequents grow one item at a time. With true counts, moving an item from the antecedent to the
    consequent can only lower the confidence, so a failing split need not be grown; noisy counts do not
    allow that.
    """
    slots, hashes, offsets, codes, keys = table
    min_confidence, min_lift = minimums
    max_consequent, prunes = shape
    itemsets = np.empty(1024, np.int64)
    antecedent = np.empty(1024, np.int64)
    consequent = np.empty(1024, np.int64)
    size = 0
    missing_count = 0
    low_lift_count = 0
    for row in range(first_row, stop_row):
        start = offsets[row]
        length = offsets[row + 1] - start
        max_depth = min(length - 1, max_consequent)
        is_consequent = np.zeros(max(length, 1), np.bool_)
        path = np.empty(max(length, 1), np.int64)
        depth = 0
        position = 0
        hash_value = np.int64(0)
        while max_depth > 0:
            if position == length or depth == max_depth:
                if depth == 0:
                    break
                depth -= 1
                position = path[depth]
                hash_value ^= keys[codes[start + position]]
                is_consequent[position] = False
                position += 1
                continue
            path[depth] = position
            is_consequent[position] = True
            hash_value ^= keys[codes[start + position]]
            depth += 1
            can_grow = True
            antecedent_row = _find_side(
                slots, hashes, offsets, codes, row, is_consequent, False, hashes[row] ^ hash_value
            )
            if antecedent_row < 0:
                missing_count += 1
            elif counts[antecedent_row] <= 0 or counts[row] / counts[antecedent_row] < min_confidence:
                can_grow = not prunes
            else:
                consequent_row = _find_side(slots, hashes, offsets, codes, row, is_consequent, True, hash_value)
                if consequent_row < 0:
                    missing_count += 1
                elif (
                    counts[consequent_row] > 0
                    and float(people) * counts[row] / (float(counts[antecedent_row]) * counts[consequent_row])
                    >= min_lift
                ):
                    itemsets = _ensure_room(itemsets, size)
                    antecedent = _ensure_room(antecedent, size)
                    consequent = _ensure_room(consequent, size)
                    itemsets[size], antecedent[size], consequent[size] = row, antecedent_row, consequent_row
                    size += 1
                else:
                    low_lift_count += 1
            if size + missing_count + low_lift_count > limit:
                return itemsets[:size], antecedent[:size], consequent[:size], missing_count, low_lift_count
            position += 1
            if not can_grow:
                depth -= 1
                is_consequent[position - 1] = False
                hash_value ^= keys[codes[start + position - 1]]
    return itemsets[:size], antecedent[:size], consequent[:size], missing_count, low_lift_count
