"""Reader of text with one basket per line: FIMI (blanks between items) and CSV.

The file is read in blocks, which compiled code parses on all cores. Without the option `labels`, the first line with
items decides whether items are numbers or names: numbers are digits without a leading zero, which would be lost, and
fit 64 bits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..heavy import pa
from ..kernels import in_threads, parse_numbers, split_fields, threads
from ._arrow import as_numpy
from ._build import MAX_INT32, MAX_INT64, Collector, Labels, Rows, parse_labels
from ._core import Codes
from ._streams import COMPRESSION_SUFFIXES, UTF_8, MemoryLimit, Progress, read_blocks

Bytes = NDArray[np.uint8]

_THREAD_BYTES = 1 << 16  # bytes of text per thread; below, starting a thread takes longer than parsing
_SPREAD = 8  # bytes of memory per byte of text, at most, while it is parsed
_CARRIAGE_RETURN = 13
_NO_BLANK = re.compile(rb"[^ \t\r\n]")
_NEWLINE = re.compile(rb"\n")


def read_lines(
    path: Path,
    compression: str | None,
    memory_limit: MemoryLimit,
    *,
    delimiter: str,
    labels: Labels,
    encoding: str = UTF_8,
    progress: Progress = None,
) -> Rows:
    """Return the baskets of a file, one per line; a `delimiter` other than a blank means CSV with quotes."""
    lines = _Lines(path, memory_limit, delimiter, labels)
    return lines.read(read_blocks(path, compression, memory_limit, _SPREAD, progress, encoding))


class _Lines:
    """A scan of a file, with the number of read lines for messages."""

    def __init__(self, path: Path, memory_limit: MemoryLimit, delimiter: str, labels: Labels) -> None:
        self._path = path
        self._has_blanks = delimiter == " "
        self._delimiter = ord(delimiter)
        self._label_option: Labels = labels
        self._label_type: Labels = labels
        self._lines_read = 0
        self._collector = Collector(str(path), memory_limit)

    def read(self, source: Iterator[Bytes]) -> Rows:
        for block in source:
            if self._label_type is None:
                self._label_type = self._detect_type(block)
            pieces = _split_block(block)
            if self._has_blanks and self._label_type == "numbers":
                for piece, (sizes, values, problem) in zip(
                    pieces, in_threads(self._parse_numbers, pieces), strict=True
                ):
                    self._check_bytes(piece, problem)
                    self._collector.add_numbers(sizes, values)
                    self._lines_read += len(sizes)
            else:
                for piece, (sizes, names, problem) in zip(pieces, in_threads(self._parse_names, pieces), strict=True):
                    self._check_bytes(piece, problem)
                    self._check_names(piece, names.dictionary)
                    self._collector.add_names(sizes, names)
                    self._lines_read += len(sizes)
        return self._collector.build_rows(self._label_type)

    def _detect_type(self, block: Bytes) -> Labels:
        """Return the type of the items of the first line with items; None if the block has no items."""
        match = _NO_BLANK.search(block.data)
        while match is not None:
            start = match.start()
            newline = _NEWLINE.search(block.data, start)
            end = len(block) if newline is None else newline.start()
            line = block[start:end]
            if self._has_blanks:
                return "numbers" if self._parse_numbers(line)[2] < 0 else "names"
            _, names, problem = self._parse_names(line)
            self._check_bytes(block, start + problem if problem >= 0 else -1)
            self._check_names(block, names.dictionary)
            if len(names):
                return "numbers" if parse_labels(names.dictionary, plain=True)[0] is not None else "names"
            # A line of empty fields, such as "" or two commas, has no items.
            match = _NO_BLANK.search(block.data, end)
        return None

    def _parse_numbers(self, piece: Bytes) -> tuple[Codes, NDArray[Any], int]:
        plain = self._label_option is None
        # One size per line feed, and one for a last line without it.
        sizes = np.empty(np.count_nonzero(piece == 10) + 1, np.int32)
        # Sizes and values are allocated at their largest, because the kernel does not check bounds.
        # A number needs a digit and a separator, two bytes at least.
        values: NDArray[Any] = np.empty(len(piece) // 2 + 1, np.int32)
        count, lines, problem = parse_numbers(piece, MAX_INT32, plain, values, sizes)
        if problem >= 0:
            # The number may only be too large for 32 bits, which nearly all data fit.
            values = np.empty(len(piece) // 2 + 1, np.int64)
            count, lines, problem = parse_numbers(piece, MAX_INT64, plain, values, sizes)
        return sizes[:lines], values[:count].copy(), problem

    def _parse_names(self, piece: Bytes) -> tuple[Codes, pa.DictionaryArray, int]:
        sizes = np.empty(np.count_nonzero(piece == 10) + 1, np.int32)
        ends = np.empty(len(piece) // 2 + 2, np.int32)
        data = np.empty(len(piece), np.uint8)
        fields, lines, byte_count, problem = split_fields(piece, self._delimiter, data, ends, sizes)
        buffers = [None, pa.py_buffer(ends[: fields + 1]), pa.py_buffer(data[:byte_count])]
        names = pa.Array.from_buffers(pa.string(), fields, buffers)
        return sizes[:lines], names.dictionary_encode(), problem

    def _check_bytes(self, piece: Bytes, problem: int) -> None:
        if problem >= 0:
            self._fail(piece, problem)

    def _check_names(self, piece: Bytes, names: pa.Array) -> None:
        """Check that names are UTF-8 text and, in a file of numbers, numbers; only an error needs the line."""
        try:
            # The kernel copies bytes; Arrow checks that they are UTF-8.
            names.validate(full=True)
        except pa.ArrowInvalid:
            try:
                piece.tobytes().decode()
            except UnicodeDecodeError as error:
                self._fail(piece, error.start)
        if self._label_type == "numbers":
            _, problem = parse_labels(names, plain=self._label_option is None)
            if problem is not None:
                self._fail_number(self._find_line(piece, problem), problem)

    def _find_line(self, piece: Bytes, name: str) -> int:
        """Return the line of the first field that reads `name`."""
        sizes, names, _ = self._parse_names(piece)
        code = names.dictionary.to_pylist().index(name)
        field = np.flatnonzero(as_numpy(names.indices) == code)[0]
        return self._lines_read + 1 + int(np.searchsorted(np.cumsum(sizes), field, side="right"))

    def _fail(self, piece: Bytes, problem: int) -> NoReturn:
        text = piece.tobytes()
        line = self._lines_read + 1 + text.count(b"\n", 0, problem)
        byte = text[problem]
        # A control character means a binary or packed file.
        if (byte < 32 and byte != 9) or byte == 127:
            self._fail_junk(line, byte)
        token = text[problem : text.find(b"\n", problem) if text.find(b"\n", problem) >= 0 else len(text)]
        if not self._has_blanks and byte == ord('"'):
            raise InputError(
                f"{self._path}, line {line}: a quote is not closed before the end of its field; "
                'write a quote within a name twice (""), and a name on one line.'
            )
        try:
            self._fail_number(line, token.split()[0].decode())
        except UnicodeDecodeError as error:
            self._fail_junk(line, token[error.start])

    def _fail_junk(self, line: int, byte: int) -> NoReturn:
        if byte == _CARRIAGE_RETURN:
            raise InputError(
                f"{self._path}, line {line}: a carriage return stands alone; each line must end in a line feed."
            )
        raise InputError.format(
            "{path}, line {line}: byte 0x{byte:02x} is not text; a file of baskets is UTF-8 text (a compressed one "
            "ends in {packed}), or says its {encoding=}, as windows-1252.",
            path=self._path,
            packed=COMPRESSION_SUFFIXES,
            line=line,
            byte=byte,
        ) from None

    def _fail_number(self, line: int, token: str) -> NoReturn:
        # The item is private, so the message does not show it.
        if not token.isascii() or not token.isdigit():
            problem = "an item is not a whole number"
        elif (digits := token.lstrip("0")) and (len(digits), digits) > (19, str(MAX_INT64)):
            problem = f"an item is larger than {MAX_INT64:,}, the largest number an item can be"
        else:
            problem = "an item has a leading zero, which a number would lose"
        reason = "" if self._label_option else ", and the first line with items has only numbers"
        raise InputError.format(
            '{path}, line {line}: {problem}{reason}; {labels="names"} reads items as names.',
            path=self._path,
            line=line,
            problem=problem,
            reason=reason,
        ) from None


def _split_block(block: Bytes) -> list[Bytes]:
    """Return the pieces of a block, cut at line ends, about equal, one per thread."""
    # A thread needs enough text to be worth its start.
    count = min(threads(), len(block) // _THREAD_BYTES)
    edges = [0]
    for part in range(1, count):
        start = max(len(block) * part // count, edges[-1])
        end = _NEWLINE.search(block.data, start)
        if end is None:
            break
        edges.append(end.end())
    edges.append(len(block))
    return [block[start:end] for start, end in pairwise(edges) if end > start]
