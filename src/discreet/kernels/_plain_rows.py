"""Kernels of rows as whole-array operations: the forms that run without compiling.

Each function equals its kernel to the bit, in a few passes of numpy instead of one pass of a loop. Where a text is not
as expected, the loop itself runs as plain Python: it alone knows the exact place to stop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Codes = NDArray[np.int32]
Offsets = NDArray[np.int64]
Places = NDArray[np.intp]
Bool = NDArray[np.bool_]

_TAB, _NEWLINE, _RETURN, _SPACE, _QUOTE, _DELETE = 9, 10, 13, 32, 34, 127
_MAX_DIGITS = 18  # any number of 18 digits fits 63 bits; longer numbers need the loop's overflow check


def _plain_loop(name: str) -> Callable[..., Any]:
    """Return the function that a kernel is compiled from."""
    from . import _rows as rows

    function: Callable[..., Any] = getattr(rows, name).function
    return function


def _true_places(flags: Bool) -> Places:
    """Return the places of all true flags."""
    return np.flatnonzero(flags)


def _mark_stray_returns(text: Bytes) -> Bool:
    """Return a flag for each carriage return that is no part of a line end."""
    is_stray: Bool = text == _RETURN
    is_stray[:-1] &= text[1:] != _NEWLINE
    is_stray[-1:] = False
    return is_stray


def _count_per_line(text: Bytes, starts: Places, stop: int, sizes: Codes) -> int:
    """Write the number of `starts` in each line before `stop`; return the number of lines."""
    lines = _true_places(text[:stop] == _NEWLINE)
    starts_before_line = np.searchsorted(starts, lines)
    line_count = len(lines)
    sizes[:line_count] = np.diff(starts_before_line, prepend=0)
    if stop == len(text) and stop > 0 and text[stop - 1] != _NEWLINE:
        sizes[line_count] = len(starts) - (starts_before_line[-1] if line_count else 0)
        line_count += 1
    return line_count


def parse_numbers(
    text: Bytes, limit: int, refuse_zeros: bool, values: NDArray[Any], sizes: Codes
) -> tuple[int, int, int]:
    """Return the result of `rows.parse_numbers`: all digits of one place value are added at once."""
    is_digit = (text - np.uint8(48)) < 10
    edges = _true_places(np.diff(is_digit, prepend=False, append=False))
    starts, ends = edges[0::2], edges[1::2]
    lengths = ends - starts
    longest = int(lengths.max(initial=0))
    if longest > _MAX_DIGITS:
        result: tuple[int, int, int] = _plain_loop("parse_numbers")(text, limit, refuse_zeros, values, sizes)
        return result
    numbers = np.zeros(len(starts), np.int64)
    for place in range(longest):
        has_digit = lengths > place
        if has_digit.all():
            numbers *= 10
            numbers += text[starts + place] - np.uint8(48)
        else:
            numbers[has_digit] = numbers[has_digit] * 10 + (text[starts[has_digit] + place] - np.uint8(48))
    is_wrong = numbers > limit
    if refuse_zeros:
        is_wrong |= (lengths > 1) & (text[starts] == 48)
    is_other = ~is_digit & (text != _SPACE) & (text != _NEWLINE) & (text != _TAB) & (text != _RETURN)
    stop = len(text)
    if is_wrong.any():
        stop = int(starts[np.argmax(is_wrong)])
    for junk in (is_other, _mark_stray_returns(text)):
        if junk.any():
            junk_place = int(np.argmax(junk))
            if junk is is_other and junk_place > 0 and is_digit[junk_place - 1]:
                junk_place = int(
                    starts[np.searchsorted(starts, junk_place) - 1]
                )  # the number that the byte follows is refused from its start
            stop = min(stop, junk_place)
    count = int(np.searchsorted(starts, stop))
    values[:count] = numbers[:count]
    return count, _count_per_line(text, starts[:count], stop, sizes), stop if stop < len(text) else -1


def split_fields(text: Bytes, delimiter: int, data: Bytes, ends: Codes, sizes: Codes) -> tuple[int, int, int, int]:
    """Return the result of `rows.split_fields`; quotes and control bytes are left to the loop."""
    by_blanks = delimiter == _SPACE
    is_blank = (text == _TAB) | (text == _RETURN)
    is_control = ((text < _SPACE) & (text != _NEWLINE) & ~is_blank) | (text == _DELETE) | _mark_stray_returns(text)
    if delimiter != _TAB:
        is_blank |= text == _SPACE
    else:
        is_blank = (text == _SPACE) | (text == _RETURN)
    if is_control.any() or (not by_blanks and (text == _QUOTE).any()):
        result: tuple[int, int, int, int] = _plain_loop("split_fields")(text, delimiter, data, ends, sizes)
        return result
    is_separator = text == _NEWLINE
    if by_blanks:
        is_separator |= is_blank
    else:
        is_separator |= text == delimiter
    # Between two separators, a field reaches from the first byte that is no blank to the last one.
    solid_places = _true_places(~(is_separator | is_blank))
    bounds = np.concatenate((_true_places(is_separator), [len(text)]))
    first_solid = np.searchsorted(solid_places, np.concatenate(([0], bounds[:-1])))
    behind_solid = np.searchsorted(solid_places, bounds)
    is_field = behind_solid > first_solid
    starts, stops = solid_places[first_solid[is_field]], solid_places[behind_solid[is_field] - 1] + 1
    fields = len(starts)
    ends[0] = 0
    np.cumsum(stops - starts, out=ends[1 : fields + 1])
    used_bytes = int(ends[fields])
    field_steps = np.zeros(len(text) + 1, np.int8)
    field_steps[starts] += 1
    field_steps[stops] -= 1
    data[:used_bytes] = text[np.cumsum(field_steps[:-1], dtype=np.int8).view(np.bool_)]
    return fields, _count_per_line(text, starts, len(text), sizes), used_bytes, -1


def mark_present(values: NDArray[Any], is_present: Bool) -> None:
    """Mark each value as present."""
    is_present[values] = True


def translate(values: NDArray[Any], table: Codes, output: Codes) -> None:
    """Write the table entry of each value."""
    np.take(table, values, out=output)


def scatter(rows: Offsets, codes: Codes, cursor: Offsets, output: Codes) -> None:
    """Write each code to the next free place of its row, and advance `cursor`."""
    if len(rows) == 0:
        return
    if (rows[1:] >= rows[:-1]).all():
        order: Any = slice(None)
        sorted_rows = rows
    else:
        order = np.argsort(rows, kind="stable")
        sorted_rows = rows[order]
    counts = np.bincount(sorted_rows, minlength=len(cursor))
    first_places = np.cumsum(counts) - counts
    output[cursor[sorted_rows] + np.arange(len(rows)) - first_places[sorted_rows]] = codes[order]
    cursor += counts


def sort_rows(offsets: Offsets, codes: Codes, first_row: int, last_row: int, sizes: Codes) -> None:
    """Sort rows in place without repeats; `sizes` gets the kept sizes."""
    if last_row <= first_row:
        return
    base = offsets[first_row]
    row_codes = codes[base : offsets[last_row]]
    starts = offsets[first_row : last_row + 1] - base
    counts = np.diff(starts)
    is_row_start = np.zeros(len(row_codes) + 1, np.bool_)
    is_row_start[starts] = True
    # Most data are sorted already: one comparison pass saves the sort.
    is_rising = is_row_start[1:-1] | (row_codes[1:] > row_codes[:-1])
    if not is_rising.all():
        rows = np.repeat(np.arange(last_row - first_row), counts)
        keys = rows << 32 | row_codes
        # One sort of 64-bit numbers (row, code) is faster than a sort per row.
        keys.sort()
        row_codes[:] = keys & 0xFFFFFFFF
        is_first_copy = np.ones(len(row_codes), np.bool_)
        is_first_copy[1:] = is_row_start[1:-1] | (row_codes[1:] != row_codes[:-1])
        kept_counts = np.add.reduceat(
            np.append(is_first_copy, False), np.minimum(starts[:-1], len(row_codes)), dtype=np.int64
        )
        counts = np.where(counts > 0, kept_counts, 0)
        kept_codes = row_codes[is_first_copy]
        place_in_row = np.arange(len(kept_codes)) - np.repeat(np.cumsum(counts) - counts, counts)
        row_codes[np.repeat(starts[:-1], counts) + place_in_row] = kept_codes
    sizes[first_row:last_row] = counts


def close_gaps(offsets: Offsets, codes: Codes, sizes: Codes) -> None:
    """Move the kept codes of all rows together and correct the offsets, in place."""
    starts = offsets[:-1].copy()
    offsets[0] = 0
    np.cumsum(sizes, out=offsets[1:])
    place = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], sizes)
    codes[: offsets[-1]] = codes[place]


def count_codes(codes: Codes, tally: Offsets) -> None:
    """Add the number of occurrences of each code."""
    tally += np.bincount(codes, minlength=len(tally))


def count_codes_of_rows(offsets: Offsets, codes: Codes, first_row: int, last_row: int, *_: object) -> float:
    """Return the number of codes of the rows from `first_row` to before `last_row`."""
    return float(offsets[last_row] - offsets[first_row])


def count_codes_of_ranked_rows(
    offsets: Offsets, codes: Codes, rank: object, first_row: int, last_row: int, *_: object
) -> float:
    """Return the number of codes of the rows, for kernels with a table of ranks before the row range."""
    return float(offsets[last_row] - offsets[first_row])


def row_of_each_code(offsets: Offsets, first_row: int, last_row: int) -> NDArray[np.int64]:
    """Return the row of each code, counted from `first_row`."""
    return np.repeat(np.arange(last_row - first_row), np.diff(offsets[first_row : last_row + 1]))


def fill_bitmaps(
    offsets: Offsets, codes: Codes, rank: NDArray[Any], first_row: int, last_row: int, bitmaps: NDArray[np.uint64]
) -> None:
    """Set the bit of each row in the bitmaps of its ranks."""
    rows = row_of_each_code(offsets, first_row, last_row) + first_row
    ranks = rank[codes[offsets[first_row] : offsets[last_row]]].astype(np.int64)
    flat = bitmaps.reshape(-1)
    places = ranks * bitmaps.shape[1] + (rows >> 6)
    np.bitwise_or.at(flat, places, np.uint64(1) << (rows & 63).astype(np.uint64))


def rank_rows(
    offsets: Offsets, codes: Codes, rank: NDArray[Any], first_row: int, last_row: int, flat: NDArray[Any], base: int
) -> int:
    """Write rows as sorted ranks behind sentinels; return the position behind the last row."""
    ranks = rank[codes[offsets[first_row] : offsets[last_row]]].astype(np.int64)
    keys = (row_of_each_code(offsets, first_row, last_row) << 32 | ranks)[ranks >= 0]
    if not len(keys):
        return base
    keys.sort()
    is_row_start = np.diff(keys >> 32, prepend=-1) != 0
    sentinel_counts = np.cumsum(is_row_start)  # sentinels up to each key
    places = base + np.arange(len(keys)) + sentinel_counts
    flat[places] = keys & 0xFFFFFFFF
    flat[places[is_row_start] - 1] = -1
    return int(places[-1]) + 1


def _positions_with_predecessor(flat: NDArray[Any], first_position: int, last_position: int) -> Places:
    """Return the positions that have a predecessor in their row."""
    has_rank = flat[first_position:last_position] >= 0
    return _true_places(has_rank[1:] & has_rank[:-1]) + first_position + 1


def count_positions(flat: NDArray[Any], first_position: int, last_position: int, tally: Offsets) -> None:
    """Add the number of positions with a predecessor of each rank."""
    tally += np.bincount(flat[_positions_with_predecessor(flat, first_position, last_position)], minlength=len(tally))


def fill_positions(
    flat: NDArray[Any], first_position: int, last_position: int, cursor: Offsets, positions: Codes
) -> None:
    """Write the positions with a predecessor of each rank, and advance `cursor`."""
    sorted_positions = _positions_with_predecessor(flat, first_position, last_position)
    order = np.argsort(flat[sorted_positions], kind="stable")
    ranks, sorted_positions = flat[sorted_positions[order]], sorted_positions[order]
    counts = np.bincount(ranks, minlength=len(cursor))
    rank_in_group = np.arange(len(ranks)) - np.repeat(np.cumsum(counts) - counts, counts)
    positions[cursor[ranks] + rank_in_group] = sorted_positions
    cursor += counts


def count_range(flat: NDArray[Any], first_position: int, last_position: int, *_: object) -> float:
    """Return the number of positions in the range."""
    return float(last_position - first_position)
