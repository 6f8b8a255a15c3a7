"""The declared sizes of Parquet, Feather and Excel files: a few packed bytes may unpack to gigabytes.

Arrow and calamine allocate the size that a file declares, and may end the process. So each size is read first, without
unpacking: from the metadata of Parquet, from the messages of Arrow's own format, from the cells of a workbook.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator, Sequence
from functools import reduce
from lzma import LZMAError
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile, is_zipfile

from ..errors import InputError, MisuseError
from ..heavy import pa
from ._build import log
from ._streams import MemoryLimit

_FILE, _OLD = b"ARROW1\0\0", b"FEA1"
_DICTIONARY, _BATCH = 2, 3  # the types of messages with a body
_VALUE_BYTES = 8
_CHUNK = 1 << 20  # bytes
_LONGEST_TAG = 1 << 12  # bytes that are kept of one chunk for a tag that continues in the next chunk
_CELL_BYTES = 32  # memory of a cell in calamine, empty or not
_MOST_COLUMNS = 1 << 14  # of a sheet in Excel
# The positions in the tags of rows and cells, and the tags of cells, which may lack a position.
_POSITION = re.compile(rb"""\sr\s*=\s*["']([A-Z]{0,3})([0-9]{1,7})["']""")
_CELL = re.compile(rb"<(?:\w+:)?c[\s/>]")


def read_feather_size(path: Path) -> int:
    """Return the unpacked size of a file in bytes, as the file declares it."""
    total = 0
    with pa.memory_map(str(path)) as file:
        signature = file.read(len(_FILE))
        if signature[:4] == _OLD:
            raise InputError(f"{path} is a Feather file of version 1; write it again, with any newer library.")
        file.seek(len(_FILE) if signature == _FILE else 0)
        reader = pa.ipc.MessageReader.open_stream(file)
        while True:
            try:
                message = reader.read_next_message()
            except StopIteration:
                return total
            total += _compute_unpacked_size(message.metadata.to_pybytes(), message.body)


def _compute_unpacked_size(meta: bytes, body: Any) -> int:
    """Return the unpacked size of the body of a message, by its metadata (the flatbuffer `Message` of Arrow)."""
    message = _Flat(meta, struct.unpack_from("<I", meta, 0)[0])
    kind = message.number(1, "B")
    if kind not in (_DICTIONARY, _BATCH):
        return 0
    batch = message.table(2)
    if kind == _DICTIONARY and batch is not None:
        batch = batch.table(1)
    if batch is None:
        return 0
    is_packed = batch.table(3) is not None
    total = _VALUE_BYTES * max(batch.number(0, "q"), 0)
    for start, length in batch.pairs(2):
        size = max(length, 0)
        # A packed buffer begins with its unpacked size, a whole number of 64 bits.
        if is_packed and length >= _VALUE_BYTES:
            size = max(struct.unpack_from("<q", body, start)[0], size)
        total += size
    return total


class _Flat:
    """A table of a flatbuffer, with fields by number."""

    def __init__(self, data: bytes, position: int) -> None:
        self._data, self._position = data, position
        self._fields = position - struct.unpack_from("<i", data, position)[0]

    def _locate_field(self, number: int) -> int | None:
        size = struct.unpack_from("<H", self._data, self._fields)[0]
        if 4 + 2 * number >= size:
            return None
        offset: int = struct.unpack_from("<H", self._data, self._fields + 4 + 2 * number)[0]
        return self._position + offset if offset else None

    def number(self, number: int, form: str) -> int:
        position = self._locate_field(number)
        # A flatbuffer leaves out a field that has its default, 0.
        return 0 if position is None else int(struct.unpack_from(f"<{form}", self._data, position)[0])

    def table(self, number: int) -> _Flat | None:
        position = self._locate_field(number)
        if position is None:
            return None
        return _Flat(self._data, position + struct.unpack_from("<I", self._data, position)[0])

    def pairs(self, number: int) -> Iterator[tuple[int, int]]:
        position = self._locate_field(number)
        if position is not None:
            position += struct.unpack_from("<I", self._data, position)[0]
            for entry in range(struct.unpack_from("<I", self._data, position)[0]):
                yield struct.unpack_from("<qq", self._data, position + 4 + 16 * entry)


def open_feather(path: Path) -> Any:
    """Return a reader of the batches of a file.

    The file is read as a stream, without the list of batches at its end, which might have other batches than the
    stream that `read_feather_size` examined.
    """
    file = pa.memory_map(str(path))
    file.seek(len(_FILE) if file.read(len(_FILE)) == _FILE else 0)
    return pa.ipc.open_stream(file)


def read_declared_size(connection: Any, path: Path | str) -> int:
    """Return the unpacked size of the largest column in bytes, as DuckDB reads it from the metadata.

    For a damaged file Arrow would end the process instead of raising an exception.
    """
    query = (
        f"SELECT max(taken) FROM (SELECT greatest({_VALUE_BYTES} * sum(greatest(num_values, 0)), "  # noqa: S608
        "sum(greatest(total_uncompressed_size, 0))) AS taken FROM parquet_metadata(?) GROUP BY column_id)"
    )
    return int(connection.execute(query, [str(path)]).fetchall()[0][0] or 0)


def read_sheet(path: Path, column_names: Sequence[str], memory_limit: MemoryLimit) -> pa.Table:
    """Return the first sheet; its first row names the columns; columns that are not in `column_names` are empty."""
    check_extent(path, memory_limit)
    names, rows = _read_rows(path)
    columns = [
        _build_column(path, name, [row[number] for row in rows]) if name in column_names else pa.nulls(len(rows))
        for number, name in enumerate(names)
    ]
    return pa.Table.from_arrays(columns, names)


def check_extent(path: Path, memory_limit: MemoryLimit) -> None:
    """Check that a workbook and each of its sheets fit the limit of memory.

    A workbook is a zip archive, and a sheet with two cells in opposite corners takes the memory of all cells between:
    without enough memory, calamine ends the process. Workbooks in older formats have small sheets.
    """
    if not is_zipfile(path):
        return
    try:
        with ZipFile(path) as folder:
            unpacked_bytes = 0
            for member in folder.infolist():
                # All members are measured: any member may be the sheet that calamine opens.
                rows, columns, unplaced, tail = 0, 0, 0, b""
                with folder.open(member) as stream:
                    while chunk := stream.read(_CHUNK):
                        unpacked_bytes += len(chunk)
                        memory_limit.check(str(path), unpacked_bytes)
                        text = tail + chunk
                        end = text.rfind(b">") + 1
                        positions = _POSITION.findall(text, 0, end)
                        rows = max([rows, *(int(row) for _, row in positions)])
                        columns = max([columns, *(_column_number(letters) for letters, _ in positions)])
                        unplaced += len(_CELL.findall(text, 0, end)) - sum(bool(letters) for letters, _ in positions)
                        # A tag may be cut by the end of the chunk, so its beginning is kept.
                        tail = text[end:][-_LONGEST_TAG:]
                # Cells without a position follow one another, so their number bounds the columns.
                memory_limit.check(str(path), _CELL_BYTES * rows * max(columns, min(unplaced, _MOST_COLUMNS)))
    except (BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError, zlib.error, LZMAError):
        raise InputError(f"{path} cannot be read as a workbook: it is damaged; get the file again.") from None


def _column_number(letters: bytes) -> int:
    """Return the number of a column by its letters: A is 1, Z is 26, AA is 27."""
    return reduce(lambda number, letter: 26 * number + letter - 64, letters, 0)


def _read_rows(path: Path) -> tuple[list[str], list[list[Any]]]:
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        raise MisuseError(
            f"Reading {path} needs a package: pip install 'discreet[excel]'; or save the sheet as CSV, and give that."
        ) from None
    try:
        book = CalamineWorkbook.from_path(path)
        sheets = book.sheet_names
        rows = book.get_sheet_by_index(0).to_python(skip_empty_area=False)
    except (CalamineError, OSError, IndexError, ValueError) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise InputError(f"{path} cannot be read as a workbook: {reason}.") from None
    if len(sheets) > 1:
        log.info("%s: it has %s sheets, of which the first is read.", path, len(sheets))
    # Formatted cells without values leave empty rows.
    nonempty_rows = [list(row) for row in rows if any(value != "" for value in row)]
    if not nonempty_rows:
        raise InputError(f"{path}: the first sheet is empty; its first row must name the columns.")
    return [str(name).strip() for name in nonempty_rows[0]], nonempty_rows[1:]


def _build_column(path: Path, name: str, values: list[Any]) -> pa.Array:
    """Return a column of a sheet as an Arrow array of one type: numbers, text or times."""
    cells = [None if value == "" else value for value in values]
    kinds = {
        "number" if isinstance(value, int | float) else type(value).__name__ for value in cells if value is not None
    }
    if len(kinds) > 1 or bool in map(type, cells):
        raise InputError(
            f"{path}: column {name!r} holds values of several types, or true and false; format it as text in the sheet."
        )
    # All numbers of a sheet are floating point; `_events` converts whole numbers.
    return pa.array(cells, pa.float64() if kinds == {"number"} else pa.large_string() if kinds <= {"str"} else None)
