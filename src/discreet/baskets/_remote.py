"""Remote files: web addresses and buckets, which DuckDB reads by an extension.

Extensions are code, so they are never downloaded during a read: a message says how to install a missing one. Files
that must be examined before they are read, such as packed text, are refused.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ..errors import LimitError, MisuseError
from ._columns import Table, quote_text
from ._formats import FileFormat, find_format
from ._parquet import read_declared_size
from ._redaction import public_name
from ._sniffing import DELIMITERS
from ._streams import COMPRESSIONS

if TYPE_CHECKING:
    from ._databases import Workspace

_WEB = ("http", "https", "hf", "s3", "s3a", "s3n", "gs", "gcs", "r2")
_AZURE = ("az", "azure", "abfss")
EXTENSIONS = {**dict.fromkeys(_WEB, "httpfs"), **dict.fromkeys(_AZURE, "azure")}


def format_of_address(address: str, format_: str | None) -> FileFormat:
    """Return the format of a remote file, by the option or by its suffix; only formats of tables in DuckDB pass."""
    name = public_name(address)
    path = Path(urlsplit(address).path.rstrip("/") or "/")
    if path.suffix.lower() in COMPRESSIONS:
        raise MisuseError(f"{name} is packed; download it first, and give the file.")
    actual = format_ or find_format(path)
    if actual not in ("csv", "tsv", "json", "parquet"):
        raise MisuseError.format(
            "{name} cannot be read from where it is: that is for tables in Parquet, CSV, TSV and JSON (by suffix, "
            "or by {format=}). Download it first, and give the file.",
            name=name,
        )
    return FileFormat(actual, None, path.suffix)


def open_address(
    work: Workspace, address: str, form: FileFormat, column_names: list[str], delimiter: str | None
) -> Table:
    """Return a copy of the columns in `column_names` of a remote table; with an empty list, of all columns."""
    name = public_name(address)
    _load_extension(work, name, address.partition("://")[0])
    if form.format == "parquet":
        _check_size(work, name, address)
        return work.copied(name, f"read_parquet({quote_text(address)})", column_names)
    if form.format == "json":
        options = "format='auto', records=true, maximum_depth=1, sample_size=-1"
        return work.copied(name, f"read_json({quote_text(address)}, {options})", column_names, "json")
    return _copy_csv(work, name, address, column_names, "\t" if form.format == "tsv" else delimiter)


def _copy_csv(work: Workspace, name: str, address: str, column_names: list[str], delimiter: str | None) -> Table:
    """Return a copy of a CSV table; its delimiter is the option, or the first by which line 1 has all columns."""
    first_table: Table | None = None
    for mark in [delimiter] if delimiter else DELIMITERS:
        options = f"all_varchar=true, header=true, quote='\"', escape='\"', delim={quote_text(mark)}"
        table = work.table(name, f"read_csv({quote_text(address)}, {options})", "text")
        first_table = first_table or table
        if set(column_names) <= {column.name for column in table.columns}:
            return work.copied(name, table.sql, column_names, "text")
    assert first_table is not None  # noqa: S101
    return first_table


def _check_size(work: Workspace, name: str, address: str) -> None:
    size = work.ask(name, lambda connection: read_declared_size(connection, address))
    if size > work.memory_limit.size:
        raise LimitError.format(
            "{name} has a column of over {largest:,} bytes when it is unpacked; if it is what you expect, give "
            'more memory, as in {memory="64GB"}.',
            name=name,
            largest=work.memory_limit.size,
        )


def _load_extension(work: Workspace, name: str, scheme: str) -> None:
    extension = EXTENSIONS.get(scheme)
    if extension is None:  # a local file
        return
    import duckdb

    def load(connection: Any) -> None:
        connection.execute(f"LOAD {extension}")

    try:
        work.do(load)
    except duckdb.Error:
        raise MisuseError(
            f"Reading {name} needs DuckDB's extension {extension}, which is not installed: run "
            f"`python -c \"import duckdb; duckdb.sql('INSTALL {extension}')\"` once, or download the file first."
        ) from None
