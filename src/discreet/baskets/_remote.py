"""Files elsewhere: addresses of the web and of buckets, which DuckDB reads by an extension of its own.

An extension is never fetched unasked, as that would be code from elsewhere in the middle of a read: where it is not
installed, a message says how to install it. What cannot be looked at first, such as packed text, is not read so.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ..errors import LimitError, MisuseError
from ._columns import Table, literal
from ._formats import FileFormat, known_format
from ._parquet import declared
from ._redaction import public_name
from ._sniffing import DELIMITERS
from ._streams import COMPRESSIONS

if TYPE_CHECKING:
    from ._databases import Workspace

_WEB = ("http", "https", "hf", "s3", "s3a", "s3n", "gs", "gcs", "r2")
_AZURE = ("az", "azure", "abfss")
EXTENSIONS = {**dict.fromkeys(_WEB, "httpfs"), **dict.fromkeys(_AZURE, "azure")}


def format_of_address(address: str, given: str | None) -> FileFormat:
    """Return the format of a file elsewhere, by the end of its path; only tables that DuckDB reads pass."""
    name = public_name(address)
    path = Path(urlsplit(address).path.rstrip("/") or "/")
    if path.suffix.lower() in COMPRESSIONS:
        raise MisuseError(f"{name} is packed; download it first, and give the file.")
    found = given or known_format(path)
    if found not in ("csv", "tsv", "json", "parquet"):
        raise MisuseError.format(
            "{name} cannot be read from where it is: that is for tables in Parquet, CSV, TSV and JSON (by suffix, "
            "or by {format=}). Download it first, and give the file.",
            name=name,
        )
    return FileFormat(found, None, path.suffix)


def opened_address(work: Workspace, address: str, form: FileFormat, wanted: list[str], delimiter: str | None) -> Table:
    """Copy the columns wanted of a table elsewhere; without any, all of them."""
    name = public_name(address)
    _load(work, name, address.partition("://")[0])
    if form.format == "parquet":
        _check_size(work, name, address)
        return work.copied(name, f"read_parquet({literal(address)})", wanted)
    if form.format == "json":
        options = "format='auto', records=true, maximum_depth=1, sample_size=-1"
        return work.copied(name, f"read_json({literal(address)}, {options})", wanted, "json")
    return _csv(work, name, address, wanted, "\t" if form.format == "tsv" else delimiter)


def _csv(work: Workspace, name: str, address: str, wanted: list[str], delimiter: str | None) -> Table:
    """Copy a table of text: what stands between fields is what line 1 has the columns by, as for a file here."""
    first: Table | None = None
    for one in [delimiter] if delimiter else DELIMITERS:
        options = f"all_varchar=true, header=true, quote='\"', escape='\"', delim={literal(one)}"
        table = work.table(name, f"read_csv({literal(address)}, {options})", "text")
        first = first or table
        if set(wanted) <= {column.name for column in table.columns}:
            return work.copied(name, table.sql, wanted, "text")
    assert first is not None  # noqa: S101
    return first


def _check_size(work: Workspace, name: str, address: str) -> None:
    taken = work.ask(name, lambda connection: declared(connection, address))
    if taken > work.allowed.size:
        raise LimitError.format(
            "{name} has a column of over {largest:,} bytes when it is unpacked; if it is what you expect, give "
            'more memory, as in {memory="64GB"}.',
            name=name,
            largest=work.allowed.size,
        )


def _load(work: Workspace, name: str, scheme: str) -> None:
    extension = EXTENSIONS.get(scheme)
    if extension is None:  # a file of this machine, which needs none
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
