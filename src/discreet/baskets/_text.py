"""Text with one basket per line: FIMI (blanks between items) and wide CSV.

The file passes through in blocks, each parsed by compiled code on all cores. The first line that has items decides
whether items are numbers or names, unless the caller says: numbers are digits, without a leading zero (which would
be lost), that fit 64 bits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..kernels import in_threads, parse_numbers, split_fields, threads
from ._allowance import Allowance
from ._arrow import as_numpy
from ._build import LARGEST, SMALL, Collector, Labels, Rows, parse_labels
from ._core import Codes
from ._streams import PACKED, UTF_8, Progress, blocks

if TYPE_CHECKING:
    import pyarrow as pa

Bytes = NDArray[np.uint8]

_WORTH_A_THREAD = 1 << 16
_SPREAD = 8  # bytes that a byte of text may take while it is parsed
_RETURN = 13
_NO_BLANK = re.compile(rb"[^ \t\r\n]")
_NEWLINE = re.compile(rb"\n")


def read_lines(
    path: Path,
    compression: str | None,
    allowed: Allowance,
    *,
    delimiter: str,
    labels: Labels,
    encoding: str = UTF_8,
    progress: Progress = None,
) -> Rows:
    """Read one basket per line; a `delimiter` other than a space means CSV fields, quotes included."""
    lines = _Lines(path, allowed, delimiter, labels)
    return lines.read(blocks(path, compression, allowed, _SPREAD, progress, encoding))


class _Lines:
    """One pass over one file. The number of lines done is kept for messages."""

    def __init__(self, path: Path, allowed: Allowance, delimiter: str, labels: Labels) -> None:
        self._path = path
        self._spaced = delimiter == " "
        self._delimiter = ord(delimiter)
        self._given: Labels = labels
        self._kind: Labels = labels
        self._done = 0
        self._collector = Collector(str(path), allowed)

    def read(self, source: Iterator[Bytes]) -> Rows:
        for block in source:
            if self._kind is None:
                self._kind = self._decide(block)
            pieces = _cut(block)
            if self._spaced and self._kind == "numbers":
                for piece, (sizes, values, bad) in zip(pieces, in_threads(self._numbers, pieces), strict=True):
                    self._check(piece, bad)
                    self._collector.add_numbers(sizes, values)
                    self._done += len(sizes)
            else:
                for piece, (sizes, names, bad) in zip(pieces, in_threads(self._names, pieces), strict=True):
                    self._check(piece, bad)
                    self._check_names(piece, names.dictionary)
                    self._collector.add_names(sizes, names)
                    self._done += len(sizes)
        return self._collector.finish(self._kind)

    def _decide(self, block: Bytes) -> Labels:
        """Say what the first line with items holds, or None while there is none."""
        found = _NO_BLANK.search(block.data)
        while found is not None:
            start = found.start()
            newline = _NEWLINE.search(block.data, start)
            end = len(block) if newline is None else newline.start()
            line = block[start:end]
            if self._spaced:
                return "numbers" if self._numbers(line)[2] < 0 else "names"
            _, names, bad = self._names(line)
            self._check(block, start + bad if bad >= 0 else -1)
            self._check_names(block, names.dictionary)
            if len(names):
                return "numbers" if parse_labels(names.dictionary, plain=True)[0] is not None else "names"
            # Empty fields alone, such as "" or two commas, are no items.
            found = _NO_BLANK.search(block.data, end)
        return None

    def _numbers(self, piece: Bytes) -> tuple[Codes, NDArray[Any], int]:
        plain = self._given is None
        sizes = np.empty(np.count_nonzero(piece == 10) + 1, np.int32)
        values: NDArray[Any] = np.empty(len(piece) // 2 + 1, np.int32)
        count, lines, bad = parse_numbers(piece, SMALL, plain, values, sizes)
        if bad >= 0:
            # Perhaps only too large for 32 bits, which nearly all data fit.
            values = np.empty(len(piece) // 2 + 1, np.int64)
            count, lines, bad = parse_numbers(piece, LARGEST, plain, values, sizes)
        return sizes[:lines], values[:count].copy(), bad

    def _names(self, piece: Bytes) -> tuple[Codes, pa.DictionaryArray, int]:
        import pyarrow as pa

        sizes = np.empty(np.count_nonzero(piece == 10) + 1, np.int32)
        ends = np.empty(len(piece) // 2 + 2, np.int32)
        data = np.empty(len(piece), np.uint8)
        fields, lines, used, bad = split_fields(piece, self._delimiter, data, ends, sizes)
        buffers = [None, pa.py_buffer(ends[: fields + 1]), pa.py_buffer(data[:used])]
        names = pa.Array.from_buffers(pa.string(), fields, buffers)
        return sizes[:lines], names.dictionary_encode(), bad

    def _check(self, piece: Bytes, bad: int) -> None:
        if bad >= 0:
            self._fail(piece, bad)

    def _check_names(self, piece: Bytes, names: pa.Array) -> None:
        """See that names are text and, in a file of numbers, numbers; find the place only if they are not."""
        import pyarrow as pa

        try:
            names.validate(full=True)
        except pa.ArrowInvalid:
            try:
                piece.tobytes().decode()
            except UnicodeDecodeError as error:
                self._fail(piece, error.start)
        if self._kind == "numbers":
            _, bad = parse_labels(names, plain=self._given is None)
            if bad is not None:
                self._fail_number(self._find_line(piece, bad), bad)

    def _find_line(self, piece: Bytes, name: str) -> int:
        """Return the line of the first field that reads `name`."""
        sizes, names, _ = self._names(piece)
        code = names.dictionary.to_pylist().index(name)
        field = np.flatnonzero(as_numpy(names.indices) == code)[0]
        return self._done + 1 + int(np.searchsorted(np.cumsum(sizes), field, side="right"))

    def _fail(self, piece: Bytes, bad: int) -> NoReturn:
        text = piece.tobytes()
        line = self._done + 1 + text.count(b"\n", 0, bad)
        byte = text[bad]
        if (byte < 32 and byte != 9) or byte == 127:
            self._fail_junk(line, byte)
        token = text[bad : text.find(b"\n", bad) if text.find(b"\n", bad) >= 0 else len(text)]
        if not self._spaced and byte == ord('"'):
            raise InputError(
                f"{self._path}, line {line}: a quote is not closed before the end of its field; "
                'write a quote within a name twice (""), and a name on one line.'
            )
        try:
            self._fail_number(line, token.split()[0].decode())
        except UnicodeDecodeError as error:
            self._fail_junk(line, token[error.start])

    def _fail_junk(self, line: int, byte: int) -> NoReturn:
        if byte == _RETURN:
            raise InputError(
                f"{self._path}, line {line}: a carriage return stands alone; each line must end in a line feed."
            )
        raise InputError.format(
            "{path}, line {line}: byte 0x{byte:02x} is not text; a file of baskets is UTF-8 text (a compressed one "
            "ends in {packed}), or says its {encoding=}, as windows-1252.",
            path=self._path,
            packed=PACKED,
            line=line,
            byte=byte,
        ) from None

    def _fail_number(self, line: int, token: str) -> NoReturn:
        # The item itself is not shown: it is what some person holds.
        if not token.isascii() or not token.isdigit():
            problem = "an item is not a whole number"
        elif (digits := token.lstrip("0")) and (len(digits), digits) > (19, str(LARGEST)):
            problem = f"an item is larger than {LARGEST:,}, the largest number an item can be"
        else:
            problem = "an item has a leading zero, which a number would lose"
        reason = "" if self._given else ", and the first line with items has only numbers"
        raise InputError.format(
            '{path}, line {line}: {problem}{reason}; {labels="names"} reads items as names.',
            path=self._path,
            line=line,
            problem=problem,
            reason=reason,
        ) from None


def _cut(block: Bytes) -> list[Bytes]:
    """Cut a block at line ends into about equal pieces, one per thread."""
    count = min(threads(), len(block) // _WORTH_A_THREAD)
    edges = [0]
    for part in range(1, count):
        place = max(len(block) * part // count, edges[-1])
        end = _NEWLINE.search(block.data, place)
        if end is None:
            break
        edges.append(end.end())
    edges.append(len(block))
    return [block[start:end] for start, end in pairwise(edges) if end > start]
