"""Sheets of Excel and OpenDocument files as Arrow tables, read by python-calamine if it is installed."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from functools import reduce
from lzma import LZMAError
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile, ZipFile, is_zipfile

from ..errors import InputError, MisuseError
from ._allowance import MemoryLimit
from ._build import log

if TYPE_CHECKING:
    import pyarrow as pa

_CHUNK = 1 << 20  # bytes
_LONGEST_TAG = 1 << 12  # bytes that are kept of one chunk for a tag that continues in the next chunk
_CELL_BYTES = 32  # memory of a cell in calamine, empty or not
_MOST_COLUMNS = 1 << 14  # of a sheet in Excel
# The positions in the tags of rows and cells, and the tags of cells, which may lack a position.
_POSITION = re.compile(rb"""\sr\s*=\s*["']([A-Z]{0,3})([0-9]{1,7})["']""")
_CELL = re.compile(rb"<(?:\w+:)?c[\s/>]")


def read_sheet(path: Path, column_names: Sequence[str], memory_limit: MemoryLimit) -> pa.Table:
    """Return the first sheet; its first row names the columns; columns that are not in `column_names` are empty."""
    import pyarrow as pa

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
    import pyarrow as pa

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
