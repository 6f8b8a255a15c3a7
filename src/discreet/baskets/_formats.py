"""The format and the compression of a file, by its name, or by the name of the file in an archive."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from ..errors import MisuseError
from ._streams import COMPRESSIONS, find_archive_member

Format = Literal["fimi", "csv", "tsv", "baskets", "json", "parquet", "feather", "excel", "onehot", "sqlite", "duckdb"]

FORMATS: tuple[str, ...] = get_args(Format)
# The formats of several files that are read as one table, and the text formats without types.
TABLE_FORMATS = ("csv", "tsv", "json", "parquet", "feather", "excel")
TEXT_FORMATS = ("fimi", "csv", "tsv", "baskets")
_SUFFIXES = {
    "fimi": (".dat", ".txt"),
    "csv": (".csv",),
    "tsv": (".tsv",),
    "json": (".json", ".jsonl", ".ndjson"),
    "parquet": (".parquet", ".pq"),
    "feather": (".feather", ".arrow"),
    "excel": (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"),
    "database": (".db", ".sqlite", ".sqlite3", ".duckdb"),
}
_FORMAT_BY_SUFFIX = {suffix: format_ for format_, suffixes in _SUFFIXES.items() for suffix in suffixes}


@dataclass(frozen=True)
class FileFormat:
    """The format of a file, its compression, and its suffix before the suffix of the compression."""

    format: str
    compression: str | None
    suffix: str


def find_format(path: Path) -> str | None:
    """Return the format of a file by its suffix; None for an unknown suffix."""
    return _FORMAT_BY_SUFFIX.get(_split_suffix(path)[0])


def resolve_format(path: Path, format_: str | None) -> FileFormat:
    """Return the format of a file: the option, or by its suffix, or by the suffix of the file in a zip archive."""
    suffix, compression = _split_suffix(path)
    if compression == "zip" and (format_ or _FORMAT_BY_SUFFIX.get(suffix)) is None:
        suffix = Path(find_archive_member(path)).suffix.lower()
    actual = format_ or _FORMAT_BY_SUFFIX.get(suffix)
    if actual is None:
        raise MisuseError.format(
            "The suffix of {path} does not tell its format; give {format=} as one of {known}.",
            path=path,
            known=", ".join(FORMATS[:8]),
        )
    return FileFormat(actual, compression, suffix)


def _split_suffix(path: Path) -> tuple[str, str | None]:
    compression = COMPRESSIONS.get(path.suffix.lower())
    return (Path(path.stem).suffix if compression else path.suffix).lower(), compression
