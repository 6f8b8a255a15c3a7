"""Results in workbooks (XLSX): the rows on the first sheet, the header on the second.

An itemset is in one cell, as in CSV. Every text is written as text, so that neither formulas nor addresses are
evaluated. A spreadsheet stores numbers with 16 digits. Workbooks are read through `python-calamine`.
"""

from __future__ import annotations

import io
import json
import math
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO
from zipfile import BadZipFile, ZipFile

from ..baskets import MemoryLimit, check_extent
from ..errors import InputError, MisuseError
from ._formats import HEAD_BYTES
from ._untrusted import parse_about
from ._writing import cell_tables, header_of

if TYPE_CHECKING:
    from ._result import Result

_MARK = "Written by discreet"
_SHEETS = ("rows", "discreet")
# The limits of the format (ECMA-376; "Excel specifications and limits"). The whole header is cut into cells.
_MAX_ROWS, _MAX_CELL = 1_048_576, 32_767


def write_xlsx(result: Result, stream: BinaryIO, pointer: str | None = None) -> None:
    """Write a result as a workbook; a result beyond the limits of a workbook is refused before anything is written."""
    import xlsxwriter

    # In memory first: a result beyond the limits must not leave half a workbook.
    content = io.BytesIO()
    plain_text = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    with xlsxwriter.Workbook(content, {"in_memory": True, **plain_text}) as book:
        book.set_properties({"comments": _MARK})
        sheet, bold, line = book.add_worksheet(_SHEETS[0]), book.add_format({"bold": True}), 0
        for number, part in enumerate(cell_tables(result, None)):
            if not number:
                sheet.write_row(0, 0, part.column_names, bold)
                sheet.freeze_panes(1, 0)
            if line + len(part) >= _MAX_ROWS:
                raise MisuseError(f"A workbook has at most {_MAX_ROWS:,} rows; save as .csv or .parquet instead.")
            for place, name in enumerate(part.column_names):
                for row, value in enumerate(part[name].to_pylist(), line + 1):
                    _write_cell(sheet, row, place, value)
            line += len(part)
        _write_header(book.add_worksheet(_SHEETS[1]), header_of(result), bold)
    stream.write(content.getvalue())


def _write_cell(sheet: Any, row: int, place: int, value: Any) -> None:
    """Write a value as a number, a truth value or a text."""
    if isinstance(value, bool):
        sheet.write_boolean(row, place, value)
    elif isinstance(value, int | float):
        if math.isfinite(value):
            sheet.write_number(row, place, value)
    elif value is not None:
        if len(value) > _MAX_CELL:
            raise MisuseError(
                f"A cell of a workbook has at most {_MAX_CELL:,} characters, and an itemset has more; save as .csv "
                "or .parquet instead."
            )
        sheet.write_string(row, place, value)


def _write_header(sheet: Any, header: dict[str, Any], bold: Any) -> None:
    """Write a line for each field of a header, for people, and the whole header as JSON, in cells of limited length."""
    lines = [(name, value if isinstance(value, str) else json.dumps(value)) for name, value in header.items()]
    lines = [(name, text if len(text) <= _MAX_CELL else f"{text[:80]}…") for name, text in lines]
    # JSON in one piece after the lines for people: cells cut long texts, and the pieces restore the whole.
    header_text = json.dumps(header)
    lines += [(_HEADER_ROW, header_text[start : start + _MAX_CELL]) for start in range(0, len(header_text), _MAX_CELL)]
    sheet.set_column(0, 1, 24)
    for row, (name, text) in enumerate(lines):
        sheet.write_string(row, 0, name, bold)
        sheet.write_string(row, 1, text)


_HEADER_ROW = "all of it, as JSON"
_ALLOWANCE = MemoryLimit("4GB", 1 << 32)  # as large as any file of a result that is read back


def names_discreet(path: Path) -> bool:
    """Return whether the properties of a workbook state that discreet wrote it."""
    try:
        # The marker is in the properties, so that no sheet is unpacked to recognise a file.
        with ZipFile(path) as folder, folder.open("docProps/core.xml") as stream:
            return _MARK.encode() in stream.read(HEAD_BYTES)
    except (BadZipFile, LookupError, NotImplementedError, RuntimeError, OSError, EOFError, zlib.error):
        return False


def read_xlsx(path: Path, content: bytes) -> Result:
    """Return the result of a workbook that :func:`write_xlsx` wrote."""
    from ._loading import build_from_cells, cell_table_of, read_plain

    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        raise MisuseError(f"Reading {path} needs a package: pip install 'discreet[excel]'.") from None
    check_extent(path, _ALLOWANCE)
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(content))
        if tuple(book.sheet_names) != _SHEETS:
            raise InputError(f"{path} is no workbook that discreet wrote: its sheets are not 'rows' and 'discreet'.")
        names, *rows = book.get_sheet_by_name(_SHEETS[0]).to_python(skip_empty_area=False) or [[]]
        lines = book.get_sheet_by_name(_SHEETS[1]).to_python(skip_empty_area=False)
    except CalamineError as error:
        raise InputError(f"{path} cannot be read as a workbook: {' '.join(str(error).split()).rstrip('.')}.") from None
    header_text = "".join(str(line[1]) for line in lines if len(line) > 1 and line[0] == _HEADER_ROW)
    if not header_text:
        raise InputError(f"{path}: its second sheet does not hold what discreet wrote there.")
    if (plain := read_plain(path, parse_about(path, header_text, "its second sheet"))) is not None:
        return plain
    columns = {
        str(name): [None if row[place] == "" else row[place] for row in rows] for place, name in enumerate(names)
    }
    return build_from_cells(path, cell_table_of(columns), header_text)
