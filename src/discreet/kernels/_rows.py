"""Kernels that turn bytes into numbers and fields, and rows of codes into sorted sets.

A line of text is a row. Kernels that read text return the number of values read and the place of the stop (-1 at
the end of the text), so that the caller, which knows the file, can name the problem. Bytes are compared as 64-bit
integers: unsigned and signed integers must not meet, in compiled code nor in plain Python.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _plain_rows as plain_rows
from ._jit import helper, kernel
from ._parts import sort

Bytes = NDArray[np.uint8]
Codes = NDArray[np.int32]
Offsets = NDArray[np.int64]
Numbers = NDArray[Any]  # int32 or int64: a kernel is compiled once per type

_TAB, _NEWLINE, _RETURN, _SPACE, _QUOTE = 9, 10, 13, 32, 34
_ZERO, _NINE, _DELETE = 48, 57, 127


@helper
def _ends_line(text: Bytes, place: int) -> bool:
    """Return whether the carriage return at `place` belongs to a line end."""
    return place + 1 == len(text) or text[place + 1] == _NEWLINE


@kernel(plain=plain_rows.parse_numbers, work=lambda text, *_: len(text))
def parse_numbers(text: Bytes, limit: int, refuse_zeros: bool, values: Numbers, sizes: Codes) -> tuple[int, int, int]:
    """Read whole numbers up to `limit` separated by blanks; return (numbers, lines, place of the error or -1).

    `refuse_zeros` refuses leading zeros, which would be lost. A number of 19 digits is checked without overflowing.
    """
    count = 0
    lines = 0
    row = 0
    place = 0
    end = len(text)
    while place < end:
        byte = np.int64(text[place])
        if _ZERO <= byte <= _NINE:
            start = place
            while not refuse_zeros and place + 1 < end and byte == _ZERO and _ZERO <= text[place + 1] <= _NINE:
                place += 1
                byte = np.int64(text[place])
            first_digit = place
            value = np.int64(0)
            while _ZERO <= byte <= _NINE and place - first_digit < 18:
                value = value * 10 + (byte - _ZERO)
                place += 1
                if place == end:
                    break
                byte = np.int64(text[place])
            if place < end and _ZERO <= byte <= _NINE:
                # 2^63 - 1 = 9223372036854775807: the 19th digit is at most 7 after 922337203685477580.
                if value > 922337203685477580 or (value == 922337203685477580 and byte > _ZERO + 7):
                    return count, lines, start
                value = value * 10 + (byte - _ZERO)
                place += 1
            is_separated = place == end or (
                text[place] == _SPACE or text[place] == _NEWLINE or text[place] == _TAB or text[place] == _RETURN
            )
            has_leading_zero = refuse_zeros and text[start] == _ZERO and place - start > 1
            if not is_separated or has_leading_zero or value > limit:
                return count, lines, start
            values[count] = value
            count += 1
        elif byte == _SPACE or byte == _TAB or (byte == _RETURN and _ends_line(text, place)):
            place += 1
        elif byte == _NEWLINE:
            sizes[lines] = count - row
            row = count
            lines += 1
            place += 1
        else:
            return count, lines, place
    # The last line may lack its line end.
    if end > 0 and text[end - 1] != _NEWLINE:
        sizes[lines] = count - row
        lines += 1
    return count, lines, -1


@helper
def _copy_quoted(text: Bytes, place: int, data: Bytes, used_bytes: int) -> tuple[int, int]:
    """Copy the field with its opening quote at `place`; return the place after the closing quote.

    -1 stands for a quote that does not close on its line, -2 - p for a control byte at p.
    """
    end = len(text)
    place += 1
    while place < end and text[place] != _NEWLINE:
        if text[place] == _QUOTE:
            if place + 1 == end or text[place + 1] != _QUOTE:
                return place + 1, used_bytes
            place += 1
        elif (text[place] < _SPACE and text[place] != _TAB) or text[place] == _DELETE:
            return -1 if text[place] == _RETURN and _ends_line(text, place) else -2 - place, used_bytes
        data[used_bytes] = text[place]
        used_bytes += 1
        place += 1
    return -1, used_bytes


@kernel(plain=plain_rows.split_fields, work=lambda text, *_: len(text))
def split_fields(text: Bytes, delimiter: int, data: Bytes, ends: Codes, sizes: Codes) -> tuple[int, int, int, int]:
    """Copy the fields of each line to `data`, end to end; return (fields, lines, bytes used, place of the error or -1).

    A space as the delimiter stands for any run of blanks. Any other delimiter separates fields as in CSV: blanks around
    fields do not count, quotes protect, and an empty field is no field. Field i is ``data[ends[i]:ends[i + 1]]``.
    """
    by_blanks = delimiter == _SPACE
    fields = 0
    lines = 0
    row = 0
    used_bytes = 0
    place = 0
    end = len(text)
    ends[0] = 0
    while place < end:
        byte = np.int64(text[place])
        if byte != delimiter and (byte == _SPACE or byte == _TAB):
            place += 1
            continue
        if byte == _QUOTE and not by_blanks:
            start = place
            place, used_bytes = _copy_quoted(text, place, data, used_bytes)
            if place < 0:
                return fields, lines, used_bytes, start if place == -1 else -2 - place
            while place < end and text[place] != delimiter and (text[place] == _SPACE or text[place] == _TAB):
                place += 1
            if (
                place < end
                and text[place] != delimiter
                and text[place] != _NEWLINE
                and not (text[place] == _RETURN and _ends_line(text, place))
            ):
                return fields, lines, used_bytes, start
        else:
            while place < end:
                byte = np.int64(text[place])
                if byte == _NEWLINE or byte == delimiter or (by_blanks and byte == _TAB):
                    break
                if (byte < _SPACE and byte != _TAB) or byte == _DELETE:
                    if byte == _RETURN and _ends_line(text, place):
                        break
                    return fields, lines, used_bytes, place
                data[used_bytes] = text[place]
                used_bytes += 1
                place += 1
            # Blanks before the delimiter were copied with the field.
            while used_bytes > ends[fields] and (data[used_bytes - 1] == _SPACE or data[used_bytes - 1] == _TAB):
                used_bytes -= 1
        if used_bytes > ends[fields]:
            fields += 1
            ends[fields] = used_bytes
        if place < end and text[place] == _RETURN:
            place += 1
        if place < end:
            if text[place] == _NEWLINE:
                sizes[lines] = fields - row
                row = fields
                lines += 1
            place += 1
    if end > 0 and text[end - 1] != _NEWLINE:
        sizes[lines] = fields - row
        lines += 1
    return fields, lines, used_bytes, -1


@kernel(plain=plain_rows.mark_present, work=lambda values, _: len(values))
def mark_present(values: Numbers, is_present: NDArray[np.bool_]) -> None:
    """Mark each value as present."""
    for place in range(len(values)):
        is_present[values[place]] = True


@kernel(plain=plain_rows.translate, work=lambda values, *_: len(values))
def translate(values: Numbers, table: Codes, output: Codes) -> None:
    """Write the table entry of each value."""
    for place in range(len(values)):
        output[place] = table[values[place]]


@kernel(plain=plain_rows.scatter, work=lambda rows, *_: len(rows))
def scatter(rows: Offsets, codes: Codes, cursor: Offsets, output: Codes) -> None:
    """Write each code to the next free place of its row; `cursor` starts as the rows' offsets."""
    for place in range(len(rows)):
        row = rows[place]
        output[cursor[row]] = codes[place]
        cursor[row] += 1


@kernel(plain=plain_rows.sort_rows, work=plain_rows.count_codes_of_rows)
def sort_rows(offsets: Offsets, codes: Codes, first_row: int, last_row: int, sizes: Codes) -> None:
    """Sort rows `first_row` to `last_row` in place and move repeats out; `sizes` gets the kept size of each row."""
    for row in range(first_row, last_row):
        start = offsets[row]
        end = offsets[row + 1]
        # Insertion is faster up to a few dozen codes; longer rows are often sorted already, so a check comes first.
        if end - start > 48:
            is_ordered = True
            for place in range(start + 1, end):
                if codes[place - 1] > codes[place]:
                    is_ordered = False
                    break
            if not is_ordered:
                sort(codes, start, end)
        else:
            for place in range(start + 1, end):
                code = codes[place]
                hole = place
                while hole > start and codes[hole - 1] > code:
                    codes[hole] = codes[hole - 1]
                    hole -= 1
                codes[hole] = code
        kept_end = start
        for place in range(start, end):
            if place == start or codes[place] != codes[kept_end - 1]:
                codes[kept_end] = codes[place]
                kept_end += 1
        sizes[row] = kept_end - start


@kernel(plain=plain_rows.close_gaps)
def close_gaps(offsets: Offsets, codes: Codes, sizes: Codes) -> None:
    """Move the first `sizes` codes of each row together and correct the offsets, in place."""
    kept_end = np.int64(0)
    for row in range(len(sizes)):
        start = offsets[row]
        offsets[row] = kept_end
        for place in range(start, start + sizes[row]):
            codes[kept_end] = codes[place]
            kept_end += 1
    offsets[len(sizes)] = kept_end


@kernel
def mark_held_codes(
    offsets: Offsets, codes: Codes, basket_offsets: Offsets, basket_codes: Codes, is_held: NDArray[np.bool_]
) -> None:
    """Write for each code whether the basket of its row holds it; baskets ascend."""
    for row in range(len(offsets) - 1):
        start = basket_offsets[row]
        end = basket_offsets[row + 1]
        for place in range(offsets[row], offsets[row + 1]):
            lower = start
            upper = end
            while lower < upper:
                middle = (lower + upper) // 2
                if basket_codes[middle] < codes[place]:
                    lower = middle + 1
                else:
                    upper = middle
            is_held[place] = lower < end and basket_codes[lower] == codes[place]
