"""Kernels against their slow twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

from csr import close_to_writing, csr, to_rows
from discreet.kernels import _rows as kernels
from naive import rows as naive

SMALL_INTEGER = 2**31 - 1
ROWS = st.lists(st.lists(st.integers(0, 40), max_size=60), max_size=12)


def to_bytes(text: str) -> NDArray[np.uint8]:
    return np.frombuffer(bytearray(text.encode()), np.uint8)


def parse(text: str, limit: int, plain: bool) -> list[list[int]] | None:
    values = np.empty(len(text) // 2 + 1, np.int64)
    sizes = np.empty(text.count("\n") + 1, np.int32)
    count, lines, bad_place = kernels.parse_numbers(to_bytes(text), limit, plain, values, sizes)
    if bad_place >= 0:
        return None
    assert sizes[:lines].sum() == count
    return to_rows(np.cumsum([0, *sizes[:lines]]), values[:count])


def split_fields(text: str, delimiter: str) -> tuple[list[list[str]], int]:
    raw = to_bytes(text)
    ends = np.empty(len(raw) // 2 + 2, np.int32)
    sizes = np.empty(text.count("\n") + 1, np.int32)
    data = np.empty(len(raw), np.uint8)
    fields, lines, used_bytes, bad_place = kernels.split_fields(raw, ord(delimiter), data, ends, sizes)
    assert bad_place >= 0 or used_bytes == ends[fields]
    result = [data[ends[i] : ends[i + 1]].tobytes().decode() for i in range(fields)]
    rows = iter(result)
    return [[next(rows) for _ in range(size)] for size in sizes[:lines].tolist()], bad_place


@given(st.text("0129 \t\n", max_size=40), st.booleans())
def test_numbers(text: str, plain: bool) -> None:
    assert parse(text, SMALL_INTEGER, plain) == naive.numbers(text, SMALL_INTEGER, plain)


@given(st.text("05x \n-", max_size=12), st.booleans())
def test_what_is_no_number(text: str, plain: bool) -> None:
    assert parse(text, SMALL_INTEGER, plain) == naive.numbers(text, SMALL_INTEGER, plain)


@given(st.lists(st.integers(10**17, 10**20) | st.integers(2**63 - 3, 2**63 + 3), max_size=3), st.booleans())
def test_large_numbers(values: list[int], plain: bool) -> None:
    text = " ".join(map(str, values))
    assert parse(text, naive.LARGEST, plain) == naive.numbers(text, naive.LARGEST, plain)


@pytest.mark.parametrize(
    ("text", "place"),
    [("1 2\n3 x4\n", 6), ("12x", 0), ("1 02", 2), ("1\r2\n", 1), ("7 \0", 2), ("1 9223372036854775808", 2)],
)
def test_place_of_what_is_no_number(text: str, place: int) -> None:
    sizes, values = np.empty(9, np.int32), np.empty(9, np.int64)
    assert kernels.parse_numbers(to_bytes(text), naive.LARGEST, True, values, sizes)[2] == place


def test_line_ends() -> None:
    assert parse("1 2\r\n\r\n3\r", SMALL_INTEGER, True) == [[1, 2], [], [3]]
    assert split_fields("a b\r\n\r\nc\r", " ") == ([["a", "b"], [], ["c"]], -1)
    assert split_fields('a,"b"\r\n\r\nc\r', ",") == ([["a", "b"], [], ["c"]], -1)


@given(st.text("ab é,\t\n", max_size=40), st.sampled_from(" ,\t"))
def test_fields(text: str, delimiter: str) -> None:
    assert split_fields(text, delimiter) == (naive.fields(text, delimiter), -1)


@given(st.lists(st.text('ab ,"', min_size=1, max_size=6), min_size=1, max_size=5))
def test_quoted_fields(names: list[str]) -> None:
    line = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    assert split_fields(f"{line}\n", ",") == ([names], -1)
    assert naive.quoted_fields(line) == names


@pytest.mark.parametrize(
    ("text", "place"), [('a,"b\n', 2), ('a,"b"c\n', 2), ("a\0b\n", 1), ('a,"\x01"\n', 3), ("a\x7f", 1), ('"a\r\n', 0)]
)
def test_place_of_bad_fields(text: str, place: int) -> None:
    assert split_fields(text, ",")[1] == place


@given(ROWS)
def test_sort_and_close(rows: list[list[int]]) -> None:
    offsets, codes = (array.copy() for array in csr(rows))
    sizes = np.empty(len(rows), np.int32)
    middle = len(rows) // 2
    kernels.sort_rows(offsets, codes, 0, middle, sizes)
    kernels.sort_rows(offsets, codes, middle, len(rows), sizes)
    kernels.close_gaps(offsets, codes, sizes)
    assert to_rows(offsets, codes[: offsets[-1]]) == naive.sort_rows(rows)


@given(ROWS, st.sets(st.integers(0, 40)))
def test_held(rows: list[list[int]], kept_flags: set[int]) -> None:
    offsets, codes = csr(rows)
    baskets = (array.copy() for array in csr([sorted(kept_flags & set(row)) for row in rows]))
    output = np.empty(len(codes), np.bool_)
    kernels.mark_held_codes(offsets, codes, *baskets, output)
    assert output.tolist() == [code in kept_flags for row in rows for code in row]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9)), max_size=40))
def test_scatter(events: list[tuple[int, int]]) -> None:
    expected = [[code for row, code in events if row == person] for person in range(6)]
    offsets, _ = csr(expected)
    output = np.empty(len(events), np.int32)
    rows = close_to_writing(np.array([row for row, _ in events], np.int64))
    codes = close_to_writing(np.array([code for _, code in events], np.int32))
    kernels.scatter(rows, codes, offsets.copy(), output)
    assert to_rows(offsets, output) == expected


@given(st.lists(st.integers(0, 30)), st.sampled_from([np.int32, np.int64]))
def test_mark_and_translate(values: list[int], kind: type[np.signedinteger]) -> None:
    array = np.array(values, kind)
    present = np.zeros(31, np.bool_)
    kernels.mark_present(array, present)
    assert np.flatnonzero(present).tolist() == sorted(set(values))
    output = np.empty(len(values), np.int32)
    kernels.translate(array, np.arange(31, dtype=np.int32) * 2, output)
    assert output.tolist() == [2 * value for value in values]
