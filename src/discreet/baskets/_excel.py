"""Sheets of Excel and OpenDocument files as Arrow tables, read through python-calamine where that is installed."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from lzma import LZMAError
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile, ZipFile, is_zipfile

from ..errors import InputError, MisuseError
from ._allowance import Allowance
from ._build import log

if TYPE_CHECKING:
    import pyarrow as pa

_CHUNK = 1 << 20
_LONGEST_TAG = 1 << 12
_A_CELL = 32  # bytes of one, empty or not
_MOST_COLUMNS = 1 << 14
# Where rows and cells of a sheet say that they are, and cells that may not say it.
_PLACE = re.compile(rb"""\sr\s*=\s*["']([A-Z]{0,3})([0-9]{1,7})["']""")
_CELL = re.compile(rb"<(?:\w+:)?c[\s/>]")


def read_sheet(path: Path, wanted: Sequence[str], allowed: Allowance) -> pa.Table:
    """Return the first sheet: its first row names the columns; those that are not wanted stay empty."""
    import pyarrow as pa

    check_extent(path, allowed)
    names, rows = _rows(path)
    columns = [
        _column(path, name, [row[place] for row in rows]) if name in wanted else pa.nulls(len(rows))
        for place, name in enumerate(names)
    ]
    return pa.Table.from_arrays(columns, names)


def check_extent(path: Path, allowed: Allowance) -> None:
    """Refuse a workbook whose contents, or a sheet of which, take more memory than is allowed.

    A workbook is a packed folder, and two cells in the corners of a sheet make all between them: calamine would end the
    whole process where there is not so much memory. Workbooks of another kind have small sheets.
    """
    if not is_zipfile(path):
        return
    try:
        with ZipFile(path) as folder:
            taken = 0
            for member in folder.infolist():
                rows, columns, unnamed, rest = 0, 0, 0, b""
                with folder.open(member) as stream:
                    while chunk := stream.read(_CHUNK):
                        taken += len(chunk)
                        allowed.check(str(path), taken)
                        text = rest + chunk
                        end = text.rfind(b">") + 1
                        places = _PLACE.findall(text, 0, end)
                        rows = max([rows, *(int(row) for _, row in places)])
                        columns = max([columns, *(_column_number(letters) for letters, _ in places)])
                        unnamed += len(_CELL.findall(text, 0, end)) - sum(bool(letters) for letters, _ in places)
                        rest = text[end:][-_LONGEST_TAG:]
                allowed.check(str(path), _A_CELL * rows * max(columns, min(unnamed, _MOST_COLUMNS)))
    except (BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError, zlib.error, LZMAError):
        raise InputError(f"{path} cannot be read as a workbook: it is damaged; get the file again.") from None


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number


def _rows(path: Path) -> tuple[list[str], list[list[Any]]]:
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
    # Rows without anything in them are left by cells that once were formatted.
    filled = [list(row) for row in rows if any(value != "" for value in row)]
    if not filled:
        raise InputError(f"{path}: the first sheet is empty; its first row must name the columns.")
    return [str(name).strip() for name in filled[0]], filled[1:]


def _column(path: Path, name: str, values: list[Any]) -> pa.Array:
    """Return a column as it is typed in the sheet: numbers, text or times, but not several of them."""
    import pyarrow as pa

    held = [None if value == "" else value for value in values]
    kinds = {
        "number" if isinstance(value, int | float) else type(value).__name__ for value in held if value is not None
    }
    if len(kinds) > 1 or bool in map(type, held):
        raise InputError(
            f"{path}: column {name!r} holds values of several types, or true and false; format it as text in the sheet."
        )
    # A sheet has floating point alone; which of it is a whole number is seen to where tables are read.
    return pa.array(held, pa.float64() if kinds == {"number"} else pa.large_string() if kinds <= {"str"} else None)
