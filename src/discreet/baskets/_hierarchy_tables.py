"""The tables that hierarchies come in: files, data frames, dictionaries of columns, rows. Here they become rows."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ..errors import InputError, MisuseError, NobodyError
from ._formats import FileFormat, format_of
from ._frames import arrow_stream, has, table_of
from ._redaction import public_path
from ._sniffing import sniff
from ._streams import check_file, opened

_TEXT, _ARROW = ("csv", "tsv"), ("parquet", "feather")
_LARGEST = 1 << 30  # bytes of a table

Table: TypeAlias = Literal["hierarchy", "names"]
_SUBJECTS: dict[Table, str] = {"hierarchy": "The hierarchy", "names": "The names"}
_IS: dict[Table, str] = {"hierarchy": "is", "names": "are"}
_WITH: dict[Table, str] = {"hierarchy": "a hierarchy", "names": "names"}
_NO_TABLE = "{} is no table that {} {} read from: give CSV, TSV, Parquet or Feather, or a data frame."


def table_rows(source: Any, what: Table = "hierarchy") -> tuple[list[str], Iterable[Iterable[Any]]]:
    """Return the names of the columns of a table and its rows; no names where nothing names them.

    `what` is what the table holds, for messages.
    """
    from ._hierarchy import SHAPE
    from ._naming import SHAPE as NAMES_SHAPE

    if isinstance(source, str | os.PathLike):
        try:
            return _file(Path(source), what)
        except NobodyError:
            raise InputError(f"{_SUBJECTS[what]} in {source} {_IS[what]} empty.") from None
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
    if what == "names":
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
        shape=SHAPE,
    )


def _file(path: Path, what: Table) -> tuple[list[str], Iterable[Iterable[Any]]]:
    if not path.exists():
        raise InputError(f"There is no file {public_path(path)} with {_WITH[what]}.")
    check_file(path)
    try:
        form = format_of(path, None)
    except MisuseError:
        raise InputError(_NO_TABLE.format(path, _WITH[what], _IS[what])) from None
    if form.format in _TEXT:
        names, *rows = _text_rows(path, form, what) or [[]]
        return names, rows
    if form.format in _ARROW:
        return _arrow(_arrow_file(path, form, what))
    raise InputError(_NO_TABLE.format(path, _WITH[what], _IS[what]))


def _text_rows(path: Path, form: FileFormat, what: Table) -> list[list[str]]:
    begins = sniff(path, form.compression, None)
    between = "\t" if form.format == "tsv" else begins.between(None, [])
    with opened(path, form.compression, begins.encoding) as (_, stream):
        content = stream.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise InputError(
            f"{_SUBJECTS[what]} in {path} {'has' if what == 'hierarchy' else 'have'} over {_LARGEST:,} bytes."
        )
    try:
        text = bytes(content).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(
            f"{_SUBJECTS[what]} in {path} {_IS[what]} not UTF-8 text: save it so, or give a data frame."
        ) from None
    try:
        read = csv.reader(io.StringIO(text, newline=""), delimiter=between, strict=True)
        rows = [[cell.strip() for cell in row] for row in read]
        return [row for row in rows if any(row)]
    except csv.Error as error:
        raise InputError(f"{_SUBJECTS[what]} in {path} cannot be read: {error}.") from None


def _arrow_file(path: Path, form: FileFormat, what: Table) -> Any:
    import pyarrow as pa

    try:
        if form.format == "parquet":
            from pyarrow import parquet

            return parquet.read_table(path).to_reader()
        from pyarrow import feather

        return feather.read_table(path).to_reader()
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{_SUBJECTS[what]} in {path} cannot be read: {error}.") from None


def _arrow(reader: Any) -> tuple[list[str], Iterator[Iterable[Any]]]:
    table = reader.read_all()
    return [str(name) for name in table.column_names], zip(
        *(column.to_pylist() for column in table.columns), strict=True
    )
