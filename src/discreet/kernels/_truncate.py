"""Cutting rows down to a bounded number of codes, each row by itself.

Truncation bounds the contribution of one person to any count, and it does so only if it is *local*: the kept codes of a
row are a function of that row's codes, of public arguments and of a key, a secret drawn once per release. They depend
on no second row, nor on the place of the row. Then, under every key, data that differ in one row still differ in at
most one row after the cut (Zeng, Naughton, Cai 2012, theorem 7; erratum C6 says how the printed algorithm loses this).

Chance enters through the *mark* of a code in its row: a number mixed from key, row and code. Marks only have to be
even, so that each code of a row is kept about equally often; no promise rests on the quality of the mixing. All marks
of one row differ, since mixing is one to one.

Equal rows are cut alike under one key, unless each row is given the number of equal rows before it (`number_equal`):
then each row has a fate of its own, and the losses of a code average out over the equal rows. That is local for a
reader of the set of rows. Let f(i) be the cut of the i-th of c equal rows: the c rows keep f(0), ..., f(c - 1) in some
order; one row more adds f(c), one row fewer removes f(c - 1), and rows with different codes keep their cuts. The cut of
a single one of the equal rows depends on their order. So copy numbers serve counts over all rows only, never rows that
carry a second column.

Rows are sorted and without repeats: row i is ``codes[offsets[i]:offsets[i + 1]]``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._jit import helper, in_threads, kernel, threads
from ._pieces import split_rows

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]

# Long rows are far more work than short ones, so a thread takes several pieces.
PIECES_A_THREAD = 8


def _mix_plain(word: np.uint64) -> np.uint64:
    """Return the word that `mix` returns; numpy would warn of each product above 64 bits."""
    number = int(word)
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    number = (number ^ number >> 27) * 0x94D049BB133111EB % 2**64
    return np.uint64(number ^ number >> 31)


@helper(plain=_mix_plain)
def mix(word: np.uint64) -> np.uint64:
    """Return a word of which each bit depends on each bit of the argument, one to one (SplitMix64's finaliser)."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@helper
def mark_row(codes: I32 | U64, start: int, size: int, key: np.uint64, marks: U64) -> None:
    """Write the mark of each code (or name) of a row: two rounds of mixing, and the XOR of the row between them."""
    row_mark = np.uint64(0)
    for j in range(size):
        marks[j] = mix(key ^ np.uint64(codes[start + j]))
        row_mark ^= marks[j]
    row_mark = mix(row_mark)
    for j in range(size):
        marks[j] = mix(marks[j] ^ row_mark)


@helper
def smallest(values: U64, size: int, rank: int) -> np.uint64:
    """Return the value of the given rank among the first `size` values (Hoare's selection); reorder the values."""
    low = 0
    high = size - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i = low
        j = high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while pivot < values[j]:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if rank <= j:
            high = j
        elif rank >= i:
            low = i
        else:
            break
    value: np.uint64 = values[rank]
    return value


@kernel
def cut_rows(
    offsets: I64,
    codes: I32,
    code_names: I32 | U64,
    copy_numbers: I32,
    first_row: int,
    last_row: int,
    key: np.uint64,
    kept_offsets: I64,
    kept_codes: I32,
) -> None:
    """Write the kept codes of each row from `first_row` to before `last_row`: each as long as `kept_offsets` allows."""
    # Grown to the longest row; 64 codes cover most rows, so most calls never grow.
    marks = np.empty(64, np.uint64)
    spare = np.empty(64, np.uint64)
    for row in range(first_row, last_row):
        start = offsets[row]
        size = offsets[row + 1] - start
        write_position = kept_offsets[row]
        room = kept_offsets[row + 1] - write_position
        if size == room:
            for j in range(size):
                kept_codes[write_position + j] = codes[start + j]
            continue
        if room == 0:
            continue
        if marks.shape[0] < size:
            marks = np.empty(2 * size, np.uint64)
            spare = np.empty(2 * size, np.uint64)
        mark_row(code_names, start, size, key ^ mix(np.uint64(copy_numbers[row])), marks)
        for j in range(size):
            spare[j] = marks[j]
        # The largest kept mark: the cut keeps the `room` smallest marks of the row.
        highest = smallest(spare, size, room - 1)
        # Codes with one name have one mark: at the border the first equal marks are kept, up to the free room.
        border_room = room
        for j in range(size):
            if marks[j] < highest:
                border_room -= 1
        for j in range(size):
            if marks[j] == highest:
                border_room -= 1
            if marks[j] < highest or (marks[j] == highest and border_room >= 0):
                kept_codes[write_position] = codes[start + j]
                write_position += 1


@kernel
def chain_equal(offsets: I64, codes: I32, key: np.uint64, table: I32, copy_numbers: I32) -> None:
    """Write the number of equal rows before each row. Rows may be any lists of codes, with repeats.

    The table is a power of two of slots that start as -1, more slots than rows; a slot holds the last row of one kind.
    Rows are compared code by code: two kinds that meet at one slot cost time only, and as slots depend on a secret, no
    person can make them meet on purpose.
    """
    for row in range(copy_numbers.shape[0]):
        start = offsets[row]
        size = offsets[row + 1] - start
        word = np.uint64(size)
        for j in range(size):
            # The place enters, so that repeats do not cancel out and reordered rows do not meet.
            word ^= mix(key ^ np.uint64(codes[start + j]) ^ (np.uint64(j) << np.uint64(32)))
        slot = np.int64(mix(word) >> np.uint64(1)) & (table.shape[0] - 1)
        copy_numbers[row] = 0
        while table[slot] >= 0:
            last_equal = table[slot]
            begin = offsets[last_equal]
            is_equal = offsets[last_equal + 1] - begin == size
            for j in range(size):
                if not is_equal:
                    break
                is_equal = codes[start + j] == codes[begin + j]
            if is_equal:
                copy_numbers[row] = copy_numbers[last_equal] + 1
                break
            slot = (slot + 1) & (table.shape[0] - 1)
        table[slot] = row


def number_equal(offsets: I64, codes: I32, key: int) -> I32:
    """Return for each row the number of equal rows before it. The key, a secret, decides nothing but the running time.

    Examples
    --------
    >>> number_equal(np.array([0, 2, 3, 5]), np.array([1, 4, 1, 1, 4], np.int32), key=7).tolist()
    [0, 0, 1]
    """
    rows = len(offsets) - 1
    copy_numbers = np.empty(rows, np.int32)
    chain_equal(offsets, codes, np.uint64(key), np.full(2 << rows.bit_length(), -1, np.int32), copy_numbers)
    return copy_numbers


def keep_some(
    offsets: I64, codes: I32, max_codes: int, key: int, names: U64 | None = None, copies: I32 | None = None
) -> tuple[I64, I32]:
    """Keep of each row at most `max_codes` codes, each code of a row equally likely.

    TRUNCATE of Zeng, Naughton, Cai (2012, algorithm 1).

    Parameters
    ----------
    offsets, codes
        The rows.
    max_codes
        The maximum number of kept codes of a row, 0 or more; shorter rows are kept whole.
    key
        64 secret bits, drawn once per release.
    names
        The name by which each code is marked; the code itself where `names` is None. Where the numbering of codes
        depends on more than one row, as in a list of items that was read from the data, only names keep the cut local.
    copies
        The number of equal rows before each row, where equal rows shall not be cut alike: see the head of this module.

    Returns
    -------
    offsets, codes
        The rows, cut, in unchanged order.

    Examples
    --------
    >>> rows = np.array([0, 2, 6]), np.array([1, 4, 0, 2, 3, 5], np.int32)
    >>> offsets, codes = keep_some(*rows, max_codes=3, key=7)
    >>> offsets.tolist(), codes[:2].tolist()
    ([0, 2, 5], [1, 4])
    """
    code_names = codes if names is None else names[codes]
    kept_offsets = offsets_of_sizes(np.minimum(np.diff(offsets), max_codes))
    kept_codes = np.empty(kept_offsets[-1], np.int32)
    secret = np.uint64(key)
    copy_numbers = zero_copy_numbers(offsets) if copies is None else copies
    in_threads(
        lambda piece: cut_rows(offsets, codes, code_names, copy_numbers, *piece, secret, kept_offsets, kept_codes),
        split_rows(offsets, PIECES_A_THREAD * threads()),
    )
    return kept_offsets, kept_codes


def zero_copy_numbers(offsets: I64) -> I32:
    """Return a copy number of 0 for each row, so that equal rows are cut alike."""
    return np.zeros(len(offsets) - 1, np.int32)


def offsets_of_sizes(sizes: I64) -> I64:
    """Return the begin of each row of the given sizes, and the end of the last row."""
    offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets
