"""Counting all rows in the cells of a few bases.

A basis is a short list of codes. A row has one of 2^b masks in a basis of b codes: bit j is set where the row holds the
j-th code. Each mask has a cell, so each row is in exactly one cell of each basis. Sums over cells give the count of
every itemset within a basis (Li, Qardaji, Su, Cao 2012).
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from . import _plain_counting as plain_counting
from ._jit import in_threads, kernel, threads
from ._pieces import split_rows

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]
Numbers = TypeVar("Numbers", NDArray[np.int64], NDArray[np.float64])

# For each byte its eight bits, each in a byte of its own.
_SPREAD_BITS: U64 = np.zeros(256, np.uint64)
for _bit in range(8):
    _SPREAD_BITS |= (np.arange(256, dtype=np.uint64) >> np.uint64(_bit) & np.uint64(1)) << np.uint64(8 * _bit)


@kernel
def tally_cells(
    offsets: I64,
    codes: I32,
    first_row: int,
    last_row: int,
    home_offsets: I64,
    homes: I32,
    bits: I64,
    cell_offsets: I64,
    cells: I64,
) -> None:
    """Add the rows from `first_row` to before `last_row` to all cells except the cells of mask 0.

    The cells of basis k begin at ``cell_offsets[k]``. Code c is the code of bit ``bits[h]`` in basis ``homes[h]``
    for each h from ``home_offsets[c]`` to before ``home_offsets[c + 1]``.
    """
    bases = cell_offsets.shape[0] - 1
    cell_of_basis = cell_offsets[:-1].copy()  # the cell of the current row in each basis
    # Only touched bases are tallied and reset, so bases without a code of the row cost nothing.
    touched = np.empty(bases, np.int32)
    for row in range(first_row, last_row):
        touched_count = 0
        for j in range(offsets[row], offsets[row + 1]):
            for h in range(home_offsets[codes[j]], home_offsets[codes[j] + 1]):
                basis = homes[h]
                if cell_of_basis[basis] == cell_offsets[basis]:
                    touched[touched_count] = basis
                    touched_count += 1
                cell_of_basis[basis] += bits[h]
        for t in range(touched_count):
            basis = touched[t]
            cells[cell_of_basis[basis]] += 1
            cell_of_basis[basis] = cell_offsets[basis]


def _estimate_cell_work(bitmaps: U64, first_word: int, last_word: int, bitmap_places: I32, *_: object) -> float:
    """Return the number of bits to read: 64 rows per word of each bitmap."""
    return 64.0 * (last_word - first_word) * len(bitmap_places)


@kernel(plain=plain_counting.tally_columns, work=_estimate_cell_work)
def tally_columns(
    bitmaps: U64, first_word: int, last_word: int, bitmap_places: I32, spread_bits: U64, cells: I64
) -> None:
    """Add the rows of the words from `first_word` to before `last_word` to the cells of one basis, except mask 0.

    Bit j of the mask comes from the bitmap ``bitmap_places[j]``. Eight rows are read at a time: ``spread_bits`` has for
    each byte its bits a byte apart, so that the bytes of a few bitmaps, spread and shifted, add up to eight masks.
    """
    width = bitmap_places.shape[0]
    words = np.empty(width, np.uint64)
    byte = np.uint64(255)
    for w in range(first_word, last_word):
        any_bits = np.uint64(0)
        for k in range(width):
            words[k] = bitmaps[bitmap_places[k], w]
            any_bits |= words[k]
        # Words without any bit of the basis are rows of mask 0, which the caller fills in.
        while any_bits:
            low_masks = np.uint64(0)
            high_masks = np.uint64(0)
            for k in range(min(width, 8)):
                low_masks |= spread_bits[words[k] & byte] << np.uint64(k)
                words[k] >>= np.uint64(8)
            for k in range(8, width):
                high_masks |= spread_bits[words[k] & byte] << np.uint64(k - 8)
                words[k] >>= np.uint64(8)
            if any_bits & byte:
                for _ in range(8):
                    cells[(low_masks & byte) | (high_masks & byte) << np.uint64(8)] += 1
                    low_masks >>= np.uint64(8)
                    high_masks >>= np.uint64(8)
            any_bits >>= np.uint64(8)


def count_in_columns(bitmaps: U64, people: int, basis_offsets: I64, places: I32) -> I64:
    """Count the rows in every cell of every basis from a bitmap over all rows for each code.

    Parameters
    ----------
    bitmaps, people
        One bitmap a line, over `people` rows.
    basis_offsets, places
        The bases, of at most 16 codes: the j-th code of basis k has the bitmap ``places[basis_offsets[k] + j]``.

    Returns
    -------
    counts
        The counts that `count_cells` returns.

    Examples
    --------
    >>> bitmaps = np.array([[0b001], [0b011]], np.uint64)  # the first code is in row 0, the second in rows 0 and 1
    >>> count_in_columns(bitmaps, 3, np.array([0, 2]), np.array([0, 1], np.int32)).tolist()
    [1, 0, 1, 1]
    """
    cell_offsets = _cell_offsets(basis_offsets)
    cuts = np.linspace(0, bitmaps.shape[1], threads() + 1).astype(np.int64)
    # One tally per thread, summed in the end: threads would wait for shared cells.
    tallies = np.zeros((len(cuts) - 1, cell_offsets[-1]), np.int64)

    def tally(t: int) -> None:
        for k in range(len(cell_offsets) - 1):
            own_places = places[basis_offsets[k] : basis_offsets[k + 1]]
            cells = tallies[t, cell_offsets[k] : cell_offsets[k + 1]]
            tally_columns(bitmaps, cuts[t], cuts[t + 1], own_places, _SPREAD_BITS, cells)

    in_threads(tally, range(len(tallies)))
    return _with_empty_cells(tallies.sum(axis=0), cell_offsets, people)


def _cell_offsets(basis_offsets: I64) -> I64:
    """Return the begin of the cells of each basis: 2^b cells for b codes."""
    offsets = np.zeros(len(basis_offsets), np.int64)
    np.cumsum(np.left_shift(1, np.diff(basis_offsets)), out=offsets[1:])
    return offsets


def _with_empty_cells(counts: I64, cell_offsets: I64, people: int) -> I64:
    """Return counts with the cell of mask 0 of each basis filled: the rows that are in no cell of a larger mask."""
    if len(counts):
        empty_cells = cell_offsets[:-1]
        counts[empty_cells] = 0
        counts[empty_cells] = people - np.add.reduceat(counts, empty_cells)
    return counts


def count_cells(offsets: I64, codes: I32, items: int, basis_offsets: I64, basis_codes: I32) -> tuple[I64, I64]:
    """Count the rows in every cell of every basis.

    A row is visited only for the bases that share a code with it, so the cost does not grow with the number of bases
    but with the number of bases per code.

    Parameters
    ----------
    offsets, codes
        The rows, sorted and without repeats.
    items
        The number of codes; all codes are below it.
    basis_offsets, basis_codes
        The bases: the j-th code of basis k is ``basis_codes[basis_offsets[k] + j]``. A code is in a basis once,
        and in any number of bases. Each code of a basis doubles its cells, and each thread has a tally of all cells.

    Returns
    -------
    offsets, counts
        The count of mask x in basis k is ``counts[offsets[k] + x]``.

    Examples
    --------
    >>> rows = np.array([0, 2, 3, 3]), np.array([0, 2, 2], np.int32)
    >>> offsets, counts = count_cells(*rows, 3, np.array([0, 2]), np.array([0, 2], np.int32))
    >>> counts.tolist()  # neither, code 0 alone, code 2 alone, both
    [1, 0, 1, 1]
    """
    widths = np.diff(basis_offsets)
    cell_offsets = _cell_offsets(basis_offsets)
    order = np.argsort(basis_codes, kind="stable")
    home_offsets = np.searchsorted(basis_codes[order], np.arange(items + 1)).astype(np.int64, copy=False)
    homes = np.repeat(np.arange(len(widths), dtype=np.int32), widths)[order]
    bits = np.left_shift(1, np.arange(len(basis_codes)) - np.repeat(basis_offsets[:-1], widths))[order]
    row_pieces = split_rows(offsets, threads())
    tallies = np.zeros((len(row_pieces), cell_offsets[-1]), np.int64)
    in_threads(
        lambda t: tally_cells(offsets, codes, *row_pieces[t], home_offsets, homes, bits, cell_offsets, tallies[t]),
        range(len(row_pieces)),
    )
    return cell_offsets, _with_empty_cells(tallies.sum(axis=0), cell_offsets, len(offsets) - 1)


def sum_supersets(counts: Numbers) -> Numbers:
    """Return for each mask the sum over all masks that contain it: the number of rows that hold all codes of the mask.

    Examples
    --------
    >>> sum_supersets(np.array([1, 0, 1, 1])).tolist()
    [3, 1, 2, 1]
    """
    sums = counts.copy()
    # The zeta transform over subsets: one pass per code, n 2^n additions in all (Yates 1937).
    step = 1
    while step < len(sums):
        pairs = sums.reshape(-1, 2, step)
        pairs[:, 0] += pairs[:, 1]
        step *= 2
    return sums
