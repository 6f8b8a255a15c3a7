"""Readers of public tables: hierarchies, and names of codes, from files, data frames, dictionaries or lists of rows."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ..checks import is_whole
from ..errors import EmptyDataError, InputError, MisuseError, build_message
from ._formats import FileFormat, resolve_format
from ._frames import build_column_stream, has_attribute, open_frame
from ._redaction import public_path
from ._sniffing import sniff
from ._streams import check_file, open_stream

_TEXT, _ARROW = ("csv", "tsv"), ("parquet", "feather")
# Bytes of a table after unpacking: room for ten million rows of a hundred bytes; a larger file is a mistake.
_MAX_TABLE_BYTES = 1 << 30

Table: TypeAlias = Literal["hierarchy", "names"]
_TABLE_NAMES: dict[Table, str] = {"hierarchy": "The hierarchy", "names": "The names"}
_VERBS: dict[Table, str] = {"hierarchy": "is", "names": "are"}
_NOUNS: dict[Table, str] = {"hierarchy": "a hierarchy", "names": "names"}
_CELL_PROBLEMS: dict[Table, str] = {
    "hierarchy": "holds {}, where items are names or whole numbers: convert it to text.",
    "names": "hold {}, where codes and names are text or whole numbers.",
}
HIERARCHY_SHAPE = build_message(
    "A hierarchy is a table of two columns, an item and what stands right above it; or of more, an item and what "
    "stands above it level by level. Its first line has the names of the columns."
)
NAMES_SHAPE = (
    "Names are a table whose first two columns are a code and what it is called; its first line names the columns."
)
_NOT_A_TABLE = "{} is no table that {} {} read from: give CSV, TSV, Parquet or Feather, or a data frame."


def read_table_rows(source: Any, kind: Table = "hierarchy") -> tuple[list[str], Iterable[Iterable[Any]]]:
    """Return the column names of a table and its rows; a list of rows has no column names.

    `kind` is the kind of the table, for messages.
    """
    if isinstance(source, str | os.PathLike):
        try:
            return _read_file(Path(source), kind)
        except EmptyDataError:
            raise InputError(f"{_TABLE_NAMES[kind]} in {source} {_VERBS[kind]} empty.") from None
    if isinstance(source, Mapping):
        return _read_arrow(build_column_stream(source, []).reader)
    if not isinstance(source, bytes) and has_attribute(source, "__arrow_c_stream__"):
        stream = open_frame(source, [])
        if stream is not None and not stream.single:
            return _read_arrow(stream.reader)
    if isinstance(source, Iterable) and not isinstance(source, bytes):
        rows = list(source)
        if all(isinstance(row, list | tuple) for row in rows):
            return [], rows
    if kind == "names":
        raise MisuseError.format(
            "{names} is a file, a data frame, a dictionary from codes to names, or a list of pairs; {found} was "
            "given. {shape}",
            found=type(source).__name__,
            shape=NAMES_SHAPE,
        )
    raise MisuseError.format(
        "{hierarchy} is a file, a data frame, a dictionary from each item to what stands above it, or a list of "
        "pairs; {found} was given. {shape}",
        found=type(source).__name__,
        shape=HIERARCHY_SHAPE,
    )


def _read_file(path: Path, kind: Table) -> tuple[list[str], Iterable[Iterable[Any]]]:
    if not path.exists():
        raise InputError(f"There is no file {public_path(path)} with {_NOUNS[kind]}.")
    check_file(path)
    try:
        form = resolve_format(path, None)
    except MisuseError:
        raise InputError(_NOT_A_TABLE.format(path, _NOUNS[kind], _VERBS[kind])) from None
    if form.format in _TEXT:
        names, *rows = _read_text_rows(path, form, kind) or [[]]
        return names, rows
    if form.format in _ARROW:
        return _read_arrow(_open_arrow_file(path, form, kind))
    raise InputError(_NOT_A_TABLE.format(path, _NOUNS[kind], _VERBS[kind]))


def _read_text_rows(path: Path, form: FileFormat, kind: Table) -> list[list[str]]:
    head = sniff(path, form.compression, None)
    delimiter = "\t" if form.format == "tsv" else head.find_delimiter(None, [])
    with open_stream(path, form.compression, head.encoding) as (_, stream):
        content = stream.read(_MAX_TABLE_BYTES + 1)
    if len(content) > _MAX_TABLE_BYTES:
        verb = "has" if kind == "hierarchy" else "have"
        raise InputError(f"{_TABLE_NAMES[kind]} in {path} {verb} over {_MAX_TABLE_BYTES:,} bytes.")
    try:
        text = bytes(content).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(
            f"{_TABLE_NAMES[kind]} in {path} {_VERBS[kind]} not UTF-8 text: save it so, or give a data frame."
        ) from None
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        rows = [[cell.strip() for cell in row] for row in reader]
        return [row for row in rows if any(row)]
    except csv.Error as error:
        raise InputError(f"{_TABLE_NAMES[kind]} in {path} cannot be read: {error}.") from None


def _open_arrow_file(path: Path, form: FileFormat, kind: Table) -> Any:
    import pyarrow as pa

    try:
        if form.format == "parquet":
            from pyarrow import parquet

            return parquet.read_table(path).to_reader()
        from pyarrow import feather

        return feather.read_table(path).to_reader()
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{_TABLE_NAMES[kind]} in {path} cannot be read: {error}.") from None


def _read_arrow(reader: Any) -> tuple[list[str], Iterator[Iterable[Any]]]:
    table = reader.read_all()
    return [str(name) for name in table.column_names], zip(
        *(column.to_pylist() for column in table.columns), strict=True
    )


def read_label(value: Any, kind: Table) -> str:
    """Return a cell of a public table as text; "" for a missing value."""
    # NaN, the missing value of pandas, differs from itself.
    if value is None or value != value:
        return ""
    if isinstance(value, bool) or not (isinstance(value, str) or is_whole(value)):
        raise InputError(f"{_TABLE_NAMES[kind]} {_CELL_PROBLEMS[kind].format(type(value).__name__)}")
    return str(value)


def find_clash(labels: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the first two keys with equal labels; None if all labels differ."""
    keys: dict[str, str] = {}
    return next(((keys[label], key) for key, label in labels.items() if keys.setdefault(label, key) != key), None)
