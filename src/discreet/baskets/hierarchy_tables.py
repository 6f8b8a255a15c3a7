"""The tables that hierarchies come in: files, data frames, dictionaries of columns, rows. Here they become rows."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ..errors import InputError, MisuseError, NobodyError, told
from .database_messages import public_path
from .formats import FileFormat, format_of
from .frames import arrow_stream, has, table_of
from .sniffing import sniff
from .streams import check_file, opened

_TEXT, _ARROW = ("csv", "tsv"), ("parquet", "feather")
_LARGEST = 1 << 30  # bytes of a table
_NO_TABLE = "{} is no table that a hierarchy is read from: give CSV, TSV, Parquet or Feather, or a data frame."


def table_rows(source: Any) -> tuple[list[str], Iterable[Iterable[Any]]]:
    """Return the names of the columns of a table and its rows; no names where nothing names them."""
    from .hierarchy import SHAPE

    if isinstance(source, str | os.PathLike):
        try:
            return _file(Path(source))
        except NobodyError:
            raise InputError(f"The hierarchy in {source} is empty.") from None
    if isinstance(source, Mapping):
        return _arrow(table_of(source, []).reader)
    if not isinstance(source, bytes) and has(source, "__arrow_c_stream__"):
        stream = arrow_stream(source, [])
        if stream is not None and not stream.single:
            return _arrow(stream.reader)
    if isinstance(source, Iterable) and not isinstance(source, bytes):
        rows = list(source)
        if all(isinstance(row, list | tuple) for row in rows):
            return [], rows
    raise MisuseError(
        told(
            "{hierarchy} is a file, a data frame, a dictionary from each item to what stands above it, or a list of "
            "pairs; {found} was given. {shape}",
            found=type(source).__name__,
            shape=SHAPE,
        )
    )


def _file(path: Path) -> tuple[list[str], Iterable[Iterable[Any]]]:
    if not path.exists():
        raise InputError(f"There is no file {public_path(path)} with a hierarchy.")
    check_file(path)
    try:
        form = format_of(path, None)
    except MisuseError:
        raise InputError(_NO_TABLE.format(path)) from None
    if form.format in _TEXT:
        names, *rows = _text_rows(path, form) or [[]]
        return names, rows
    if form.format in _ARROW:
        return _arrow(_arrow_file(path, form))
    raise InputError(_NO_TABLE.format(path))


def _text_rows(path: Path, form: FileFormat) -> list[list[str]]:
    begins = sniff(path, form.compression, None)
    between = "\t" if form.format == "tsv" else begins.between(None, [])
    with opened(path, form.compression, begins.encoding) as (_, stream):
        content = stream.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise InputError(f"The hierarchy in {path} has over {_LARGEST:,} bytes.")
    try:
        text = bytes(content).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"The hierarchy in {path} is not UTF-8 text: save it so, or give a data frame.") from None
    try:
        read = csv.reader(io.StringIO(text, newline=""), delimiter=between, strict=True)
        rows = [[cell.strip() for cell in row] for row in read]
        return [row for row in rows if any(row)]
    except csv.Error as error:
        raise InputError(f"The hierarchy in {path} cannot be read: {error}.") from None


def _arrow_file(path: Path, form: FileFormat) -> Any:
    import pyarrow as pa

    try:
        if form.format == "parquet":
            from pyarrow import parquet

            return parquet.read_table(path).to_reader()
        from pyarrow import feather

        return feather.read_table(path).to_reader()
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"The hierarchy in {path} cannot be read: {error}.") from None


def _arrow(reader: Any) -> tuple[list[str], Iterator[Iterable[Any]]]:
    table = reader.read_all()
    return [str(name) for name in table.column_names], zip(
        *(column.to_pylist() for column in table.columns), strict=True
    )
