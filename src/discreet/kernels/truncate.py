"""Cutting rows down to at most so many codes, each row by itself.

Truncation bounds what one person adds to any count, and it does so only if it is *local*: what is kept of a row is a
function of that row's codes, of public arguments and of a key, a secret drawn once per release. It depends on no other
row, nor on where the row stands. Then, whatever the key, data that differ in one row still differ in at most one row
once they are cut (Zeng, Naughton, Cai 2012, theorem 7; erratum C6 says how the printed algorithm loses this).

Where chance has a say, it is the *mark* of a code in its row: a number mixed from key, row and code. Marks only have
to be even, so that every code of a row is kept about as often as the others; no promise rests on how well they are
mixed. The marks of one row all differ, mixing being one to one.

Equal rows are cut alike under the same key, unless each is told how many equal ones come before it (`number_equal`):
then each has a fate of its own, and what cutting loses of a code averages out over them. That is local for whoever
looks at the rows as a whole. What c equal rows keep is f(0), ..., f(c - 1), in some order; one more adds f(c), one
fewer takes f(c - 1) away, and rows of other codes keep what they kept. Which of the equal rows keeps what depends on
their order: so this is for counts over all rows, not for rows with something else beside them.

Rows are sorted and without repeats: row i is ``codes[offsets[i]:offsets[i + 1]]``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .jit import helper, in_threads, kernel, threads
from .pieces import pieces

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]

# Long rows are far more work than short ones, so there are more pieces than threads.
PIECES_A_THREAD = 8


def _mixed(word: np.uint64) -> np.uint64:
    """Return the same as `mix`; numpy would warn of each product that passes 64 bits."""
    whole = int(word)
    whole = (whole ^ whole >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    whole = (whole ^ whole >> 27) * 0x94D049BB133111EB % 2**64
    return np.uint64(whole ^ whole >> 31)


@helper(plain=_mixed)
def mix(word: np.uint64) -> np.uint64:
    """Return a word of which every bit depends on every bit of the given one, one to one."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@helper
def mark_row(codes: I32 | U64, start: int, size: int, key: np.uint64, marks: U64) -> None:
    """Mark each code of a row, or its name: two rounds of mixing, between them what the whole row holds."""
    together = np.uint64(0)
    for j in range(size):
        marks[j] = mix(key ^ np.uint64(codes[start + j]))
        together ^= marks[j]
    together = mix(together)
    for j in range(size):
        marks[j] = mix(marks[j] ^ together)


@helper
def smallest(values: U64, size: int, rank: int) -> np.uint64:
    """Return the value that `rank` of the first `size` values are smaller than (Hoare's selection), mixing them up."""
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
    found: np.uint64 = values[rank]
    return found


@kernel
def cut_rows(
    offsets: I64,
    codes: I32,
    named: I32 | U64,
    copies: I32,
    first: int,
    last: int,
    key: np.uint64,
    kept_offsets: I64,
    kept: I32,
) -> None:
    """Keep of each row from `first` to before `last` as many codes as `kept_offsets` leaves room for."""
    marks = np.empty(64, np.uint64)
    spare = np.empty(64, np.uint64)
    for row in range(first, last):
        start = offsets[row]
        size = offsets[row + 1] - start
        at = kept_offsets[row]
        room = kept_offsets[row + 1] - at
        if size == room:
            for j in range(size):
                kept[at + j] = codes[start + j]
            continue
        if room == 0:
            continue
        if marks.shape[0] < size:
            marks = np.empty(2 * size, np.uint64)
            spare = np.empty(2 * size, np.uint64)
        mark_row(named, start, size, key ^ mix(np.uint64(copies[row])), marks)
        for j in range(size):
            spare[j] = marks[j]
        highest = smallest(spare, size, room - 1)
        # Codes of one name have one mark: of those at the border the first ones are kept, as many as fit.
        border = room
        for j in range(size):
            if marks[j] < highest:
                border -= 1
        for j in range(size):
            if marks[j] == highest:
                border -= 1
            if marks[j] < highest or (marks[j] == highest and border >= 0):
                kept[at] = codes[start + j]
                at += 1


@kernel
def chain_equal(offsets: I64, codes: I32, key: np.uint64, table: I32, numbers: I32) -> None:
    """Count for each row the equal ones before it.

    The table, a power of two of places that start as -1, more than there are rows, holds the last row of each kind.
    Rows are compared code by code: that two kinds meet at one place costs time only, and as places depend on a secret,
    nobody can have them meet on purpose.
    """
    for row in range(numbers.shape[0]):
        start = offsets[row]
        size = offsets[row + 1] - start
        word = np.uint64(size)
        for j in range(start, start + size):
            word ^= mix(key ^ np.uint64(codes[j]))
        place = np.int64(mix(word) >> np.uint64(1)) & (table.shape[0] - 1)
        numbers[row] = 0
        while table[place] >= 0:
            other = table[place]
            begin = offsets[other]
            same = offsets[other + 1] - begin == size
            for j in range(size):
                if not same:
                    break
                same = codes[start + j] == codes[begin + j]
            if same:
                numbers[row] = numbers[other] + 1
                break
            place = (place + 1) & (table.shape[0] - 1)
        table[place] = row


def number_equal(offsets: I64, codes: I32, key: int) -> I32:
    """Return for each row how many equal ones come before it. The key, a secret, decides nothing but the time it takes.

    Examples
    --------
    >>> number_equal(np.array([0, 2, 3, 5]), np.array([1, 4, 1, 1, 4], np.int32), key=7).tolist()
    [0, 0, 1]
    """
    rows = len(offsets) - 1
    numbers = np.empty(rows, np.int32)
    chain_equal(offsets, codes, np.uint64(key), np.full(2 << rows.bit_length(), -1, np.int32), numbers)
    return numbers


def keep_some(
    offsets: I64, codes: I32, most: int, key: int, names: U64 | None = None, copies: I32 | None = None
) -> tuple[I64, I32]:
    """Keep of every row at most `most` codes, any of them as likely as the others.

    TRUNCATE of Zeng, Naughton, Cai (2012, algorithm 1).

    Parameters
    ----------
    offsets, codes
        The rows.
    most
        How many codes a row may keep, 0 or more; rows no longer are kept as they are.
    key
        64 secret bits, drawn once per release.
    names
        What each code is marked by; the code itself where it is None. Where the numbering of codes depends on other
        rows, as in a list of items that was read from the data, only such names keep the cut local.
    copies
        How many equal rows come before each, where equal rows shall not be cut alike: see the head of this module.

    Returns
    -------
    offsets, codes
        The rows, cut, in the same order.

    Examples
    --------
    >>> rows = np.array([0, 2, 6]), np.array([1, 4, 0, 2, 3, 5], np.int32)
    >>> offsets, codes = keep_some(*rows, most=3, key=7)
    >>> offsets.tolist(), codes[:2].tolist()
    ([0, 2, 5], [1, 4])
    """
    named = codes if names is None else names[codes]
    kept_offsets = summed(np.minimum(np.diff(offsets), most))
    kept = np.empty(kept_offsets[-1], np.int32)
    secret = np.uint64(key)
    equal = alike(offsets) if copies is None else copies
    in_threads(
        lambda piece: cut_rows(offsets, codes, named, equal, *piece, secret, kept_offsets, kept),
        pieces(offsets, PIECES_A_THREAD * threads()),
    )
    return kept_offsets, kept


def alike(offsets: I64) -> I32:
    """Return the numbers that have equal rows cut alike."""
    return np.zeros(len(offsets) - 1, np.int32)


def summed(sizes: I64) -> I64:
    """Return where rows of these sizes begin, and where the last one ends."""
    offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets
