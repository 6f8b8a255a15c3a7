"""Bytes become numbers and fields; rows of codes become sorted sets.

A line of text is a row. Kernels that read text return how far they came and where they stopped (`bad`, -1 if
nowhere), so that the caller, who knows the file, can say what is wrong with it. Bytes are compared as 64-bit
integers: unsigned and signed ones must not meet, in compiled code nor in plain Python.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import plain_rows
from .jit import helper, kernel
from .parts import sort

Bytes = NDArray[np.uint8]
Codes = NDArray[np.int32]
Offsets = NDArray[np.int64]
Numbers = NDArray[Any]  # int32 or int64: kernels are compiled for what they get

_TAB, _NEWLINE, _RETURN, _SPACE, _QUOTE = 9, 10, 13, 32, 34
_ZERO, _NINE, _DELETE = 48, 57, 127


@helper
def _ends_line(text: Bytes, place: int) -> bool:
    """Whether the carriage return at `place` belongs to a line end."""
    return place + 1 == len(text) or text[place + 1] == _NEWLINE


@kernel(plain=plain_rows.parse_numbers, work=lambda text, *_: len(text))
def parse_numbers(text: Bytes, limit: int, plain: bool, values: Numbers, sizes: Codes) -> tuple[int, int, int]:
    """Read whole numbers up to `limit` set apart by blanks; return (numbers, lines, bad).

    `plain` refuses leading zeros, which would be lost. A number of 19 digits is checked without overflowing.
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
            while not plain and place + 1 < end and byte == _ZERO and _ZERO <= text[place + 1] <= _NINE:
                place += 1
                byte = np.int64(text[place])
            leading = place
            value = np.int64(0)
            while _ZERO <= byte <= _NINE and place - leading < 18:
                value = value * 10 + (byte - _ZERO)
                place += 1
                if place == end:
                    break
                byte = np.int64(text[place])
            if place < end and _ZERO <= byte <= _NINE:
                if value > 922337203685477580 or (value == 922337203685477580 and byte > _ZERO + 7):
                    return count, lines, start
                value = value * 10 + (byte - _ZERO)
                place += 1
            separate = place == end or (
                text[place] == _SPACE or text[place] == _NEWLINE or text[place] == _TAB or text[place] == _RETURN
            )
            zeros = plain and text[start] == _ZERO and place - start > 1
            if not separate or zeros or value > limit:
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
    if end > 0 and text[end - 1] != _NEWLINE:
        sizes[lines] = count - row
        lines += 1
    return count, lines, -1


@helper
def _unquote(text: Bytes, place: int, data: Bytes, used: int) -> tuple[int, int]:
    """Copy the field whose opening quote is at `place`; return the place after the closing one.

    -1 stands for a quote that does not close on its line, -2 - p for a control byte at p.
    """
    end = len(text)
    place += 1
    while place < end and text[place] != _NEWLINE:
        if text[place] == _QUOTE:
            if place + 1 == end or text[place + 1] != _QUOTE:
                return place + 1, used
            place += 1
        elif (text[place] < _SPACE and text[place] != _TAB) or text[place] == _DELETE:
            return -1 if text[place] == _RETURN and _ends_line(text, place) else -2 - place, used
        data[used] = text[place]
        used += 1
        place += 1
    return -1, used


@kernel(plain=plain_rows.split_fields, work=lambda text, *_: len(text))
def split_fields(text: Bytes, delimiter: int, data: Bytes, ends: Codes, sizes: Codes) -> tuple[int, int, int, int]:
    """Copy the fields of each line to `data`, end to end; return (fields, lines, bytes used, bad).

    A space as the delimiter stands for any run of blanks. Any other one sets fields apart as in CSV: blanks around
    them do not count, quotes protect, and an empty field is no field. Field i is ``data[ends[i]:ends[i + 1]]``.
    """
    spaced = delimiter == _SPACE
    fields = 0
    lines = 0
    row = 0
    used = 0
    place = 0
    end = len(text)
    ends[0] = 0
    while place < end:
        byte = np.int64(text[place])
        if byte != delimiter and (byte == _SPACE or byte == _TAB):
            place += 1
            continue
        if byte == _QUOTE and not spaced:
            start = place
            place, used = _unquote(text, place, data, used)
            if place < 0:
                return fields, lines, used, start if place == -1 else -2 - place
            while place < end and text[place] != delimiter and (text[place] == _SPACE or text[place] == _TAB):
                place += 1
            if (
                place < end
                and text[place] != delimiter
                and text[place] != _NEWLINE
                and not (text[place] == _RETURN and _ends_line(text, place))
            ):
                return fields, lines, used, start
        else:
            while place < end:
                byte = np.int64(text[place])
                if byte == _NEWLINE or byte == delimiter or (spaced and byte == _TAB):
                    break
                if (byte < _SPACE and byte != _TAB) or byte == _DELETE:
                    if byte == _RETURN and _ends_line(text, place):
                        break
                    return fields, lines, used, place
                data[used] = text[place]
                used += 1
                place += 1
            while used > ends[fields] and (data[used - 1] == _SPACE or data[used - 1] == _TAB):
                used -= 1
        if used > ends[fields]:
            fields += 1
            ends[fields] = used
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
    return fields, lines, used, -1


@kernel(plain=plain_rows.mark, work=lambda values, _: len(values))
def mark(values: Numbers, present: NDArray[np.bool_]) -> None:
    for place in range(len(values)):
        present[values[place]] = True


@kernel(plain=plain_rows.translate, work=lambda values, *_: len(values))
def translate(values: Numbers, table: Codes, out: Codes) -> None:
    for place in range(len(values)):
        out[place] = table[values[place]]


@kernel(plain=plain_rows.scatter, work=lambda rows, *_: len(rows))
def scatter(rows: Offsets, codes: Codes, cursor: Offsets, out: Codes) -> None:
    """Put each code at the next free place of its row; `cursor` starts as the rows' offsets."""
    for place in range(len(rows)):
        row = rows[place]
        out[cursor[row]] = codes[place]
        cursor[row] += 1


@kernel(plain=plain_rows.sort_rows, work=plain_rows.codes_between)
def sort_rows(offsets: Offsets, codes: Codes, first: int, last: int, sizes: Codes) -> None:
    """Sort rows `first` to `last` in place and move their repeats out; `sizes` gets what each row keeps."""
    for row in range(first, last):
        start = offsets[row]
        end = offsets[row + 1]
        if end - start > 48:
            ordered = True
            for place in range(start + 1, end):
                if codes[place - 1] > codes[place]:
                    ordered = False
                    break
            if not ordered:
                sort(codes, start, end)
        else:
            for place in range(start + 1, end):
                code = codes[place]
                hole = place
                while hole > start and codes[hole - 1] > code:
                    codes[hole] = codes[hole - 1]
                    hole -= 1
                codes[hole] = code
        kept = start
        for place in range(start, end):
            if place == start or codes[place] != codes[kept - 1]:
                codes[kept] = codes[place]
                kept += 1
        sizes[row] = kept - start


@kernel(plain=plain_rows.close_gaps)
def close_gaps(offsets: Offsets, codes: Codes, sizes: Codes) -> None:
    """Move the first `sizes` codes of each row together and correct the offsets, in place."""
    used = np.int64(0)
    for row in range(len(sizes)):
        start = offsets[row]
        offsets[row] = used
        for place in range(start, start + sizes[row]):
            codes[used] = codes[place]
            used += 1
    offsets[len(sizes)] = used


@kernel
def held(offsets: Offsets, codes: Codes, basket_offsets: Offsets, basket_codes: Codes, out: NDArray[np.bool_]) -> None:
    """Say of each code whether the basket of its row holds it."""
    for row in range(len(offsets) - 1):
        start = basket_offsets[row]
        end = basket_offsets[row + 1]
        for place in range(offsets[row], offsets[row + 1]):
            low = start
            high = end
            while low < high:
                middle = (low + high) // 2
                if basket_codes[middle] < codes[place]:
                    low = middle + 1
                else:
                    high = middle
            out[place] = low < end and basket_codes[low] == codes[place]
