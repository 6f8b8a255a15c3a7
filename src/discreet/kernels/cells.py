"""Counting everybody in the cells of a few bases.

A basis is a short list of codes. What a row holds of a basis of b codes is one of 2^b masks, bit j set where it
holds the j-th code, and each mask has a cell: every row is in exactly one cell of each basis. Sums over
cells give the count of every itemset within a basis (Li, Qardaji, Su, Cao 2012).
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from . import plain_counting
from .jit import in_threads, kernel, threads
from .pieces import pieces

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]
Numbers = TypeVar("Numbers", NDArray[np.int64], NDArray[np.float64])

# For each byte its eight bits, each in a byte of its own.
_SPREAD: U64 = np.zeros(256, np.uint64)
for _bit in range(8):
    _SPREAD |= (np.arange(256, dtype=np.uint64) >> np.uint64(_bit) & np.uint64(1)) << np.uint64(8 * _bit)


@kernel
def tally_cells(
    offsets: I64,
    codes: I32,
    first: int,
    last: int,
    home_offsets: I64,
    homes: I32,
    bits: I64,
    cell_offsets: I64,
    cells: I64,
) -> None:
    """Add the rows from `first` to before `last` to all cells but those of mask 0.

    The cells of basis k begin at ``cell_offsets[k]``. Code c is the one of bit ``bits[h]`` in basis ``homes[h]``
    for each h from ``home_offsets[c]`` to before ``home_offsets[c + 1]``.
    """
    bases = cell_offsets.shape[0] - 1
    at = cell_offsets[:-1].copy()  # the cell of the row at hand in each basis
    touched = np.empty(bases, np.int32)
    for row in range(first, last):
        many = 0
        for j in range(offsets[row], offsets[row + 1]):
            for h in range(home_offsets[codes[j]], home_offsets[codes[j] + 1]):
                basis = homes[h]
                if at[basis] == cell_offsets[basis]:
                    touched[many] = basis
                    many += 1
                at[basis] += bits[h]
        for t in range(many):
            basis = touched[t]
            cells[at[basis]] += 1
            at[basis] = cell_offsets[basis]


def _rows_by_width(bitmaps: U64, first: int, last: int, places: I32, *_: object) -> float:
    return 64.0 * (last - first) * len(places)


@kernel(plain=plain_counting.tally_columns, work=_rows_by_width)
def tally_columns(bitmaps: U64, first: int, last: int, places: I32, spread: U64, cells: I64) -> None:
    """Add the rows of the words from `first` to before `last` to the cells of one basis, but those of mask 0.

    Bit j of the mask is that of the bitmap ``places[j]``. Eight rows are looked at at a time: ``spread`` has for each
    byte its bits a byte apart, so that the bytes of a few bitmaps, spread and shifted, add up to eight masks.
    """
    width = places.shape[0]
    here = np.empty(width, np.uint64)
    byte = np.uint64(255)
    for w in range(first, last):
        anyone = np.uint64(0)
        for k in range(width):
            here[k] = bitmaps[places[k], w]
            anyone |= here[k]
        while anyone:
            low = np.uint64(0)
            high = np.uint64(0)
            for k in range(min(width, 8)):
                low |= spread[here[k] & byte] << np.uint64(k)
                here[k] >>= np.uint64(8)
            for k in range(8, width):
                high |= spread[here[k] & byte] << np.uint64(k - 8)
                here[k] >>= np.uint64(8)
            if anyone & byte:
                for _ in range(8):
                    cells[(low & byte) | (high & byte) << np.uint64(8)] += 1
                    low >>= np.uint64(8)
                    high >>= np.uint64(8)
            anyone >>= np.uint64(8)


def count_in_columns(bitmaps: U64, people: int, basis_offsets: I64, places: I32) -> I64:
    """Count the rows in every cell of every basis from a bitmap over all rows for each code.

    Parameters
    ----------
    bitmaps, people
        One bitmap a line, its bits those of so many rows.
    basis_offsets, places
        The bases, of at most 16 codes: the j-th code of basis k has the bitmap ``places[basis_offsets[k] + j]``.

    Returns
    -------
    counts
        As those of `count_cells`.

    Examples
    --------
    >>> bitmaps = np.array([[0b001], [0b011]], np.uint64)  # the first code is in row 0, the second in rows 0 and 1
    >>> count_in_columns(bitmaps, 3, np.array([0, 2]), np.array([0, 1], np.int32)).tolist()
    [1, 0, 1, 1]
    """
    cell_offsets = _cell_offsets(basis_offsets)
    cuts = np.linspace(0, bitmaps.shape[1], threads() + 1).astype(np.int64)
    tallies = np.zeros((len(cuts) - 1, cell_offsets[-1]), np.int64)

    def tally(t: int) -> None:
        for k in range(len(cell_offsets) - 1):
            own = places[basis_offsets[k] : basis_offsets[k + 1]]
            cells = tallies[t, cell_offsets[k] : cell_offsets[k + 1]]
            tally_columns(bitmaps, cuts[t], cuts[t + 1], own, _SPREAD, cells)

    in_threads(tally, range(len(tallies)))
    return _with_others(tallies.sum(axis=0), cell_offsets, people)


def _cell_offsets(basis_offsets: I64) -> I64:
    """Return where the cells of each basis begin."""
    offsets = np.zeros(len(basis_offsets), np.int64)
    np.cumsum(np.left_shift(1, np.diff(basis_offsets)), out=offsets[1:])
    return offsets


def _with_others(counts: I64, cell_offsets: I64, people: int) -> I64:
    """Put those who hold nothing of a basis into its cell of mask 0: all but those in the others."""
    if len(counts):
        begins = cell_offsets[:-1]
        counts[begins] = 0
        counts[begins] = people - np.add.reduceat(counts, begins)
    return counts


def count_cells(offsets: I64, codes: I32, items: int, basis_offsets: I64, basis_codes: I32) -> tuple[I64, I64]:
    """Count the rows in every cell of every basis.

    A row is looked at only for the bases it holds something of, so the cost does not grow with the number of bases
    but with how many the codes of rows are in.

    Parameters
    ----------
    offsets, codes
        The rows, sorted and without repeats.
    items
        How many codes there are; all codes are below.
    basis_offsets, basis_codes
        The bases: the j-th code of basis k is ``basis_codes[basis_offsets[k] + j]``. A code is in a basis once,
        and in as many bases as you like. Each code of a basis doubles its cells, and each thread has a tally of all.

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
    work = pieces(offsets, threads())
    tallies = np.zeros((len(work), cell_offsets[-1]), np.int64)
    in_threads(
        lambda t: tally_cells(offsets, codes, *work[t], home_offsets, homes, bits, cell_offsets, tallies[t]),
        range(len(work)),
    )
    return cell_offsets, _with_others(tallies.sum(axis=0), cell_offsets, len(offsets) - 1)


def supersets(counts: Numbers) -> Numbers:
    """Return for each mask the sum over all masks that contain it: how many rows hold all its codes, perhaps others.

    Examples
    --------
    >>> supersets(np.array([1, 0, 1, 1])).tolist()
    [3, 1, 2, 1]
    """
    sums = counts.copy()
    step = 1
    while step < len(sums):
        pairs = sums.reshape(-1, 2, step)
        pairs[:, 0] += pairs[:, 1]
        step *= 2
    return sums
