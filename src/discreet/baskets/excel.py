"""Sheets of Excel and OpenDocument files as Arrow tables, read through python-calamine where that is installed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError, MisuseError
from .build import log

if TYPE_CHECKING:
    import pyarrow as pa


def read_sheet(path: Path, wanted: Sequence[str]) -> pa.Table:
    """Return the first sheet: its first row names the columns; those that are not wanted stay empty."""
    import pyarrow as pa

    names, rows = _rows(path)
    columns = [
        _column(path, name, [row[place] for row in rows]) if name in wanted else pa.nulls(len(rows))
        for place, name in enumerate(names)
    ]
    return pa.Table.from_arrays(columns, names)


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
