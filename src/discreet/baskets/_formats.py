"""What the name of a file tells: its format and how it is packed. Nothing is read here but the list of an archive."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from ..errors import MisuseError
from ._streams import COMPRESSIONS, packed_member

Format = Literal["fimi", "csv", "tsv", "baskets", "json", "parquet", "feather", "excel", "onehot", "sqlite", "duckdb"]

FORMATS: tuple[str, ...] = get_args(Format)
# Those that several files, read as one table, may have; and those that are text without types.
TABLES = ("csv", "tsv", "json", "parquet", "feather", "excel")
UNTYPED = ("fimi", "csv", "tsv", "baskets")
_SUFFIXES: dict[str, str] = {
    ".dat": "fimi",
    ".txt": "fimi",
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".xlsx": "excel",
    ".xlsm": "excel",
    ".xlsb": "excel",
    ".xls": "excel",
    ".ods": "excel",
    ".db": "database",
    ".sqlite": "database",
    ".sqlite3": "database",
    ".duckdb": "database",
}


@dataclass(frozen=True)
class FileFormat:
    """The format of a file, how it is packed, and its suffix without that."""

    format: str
    compression: str | None
    suffix: str


def known_format(path: Path) -> str | None:
    """Return the format that the name of a file tells; None where it tells none."""
    return _SUFFIXES.get(_suffix(path)[0])


def format_of(path: Path, given: str | None) -> FileFormat:
    """Return the format of a file: as given, or as its suffix tells, or that of the one file in an archive."""
    suffix, compression = _suffix(path)
    if compression == "zip" and (given or _SUFFIXES.get(suffix)) is None:
        suffix = Path(packed_member(path)).suffix.lower()
    found = given or _SUFFIXES.get(suffix)
    if found is None:
        raise MisuseError.format(
            "The suffix of {path} does not tell its format; give {format=} as one of {known}.",
            path=path,
            known=", ".join(FORMATS[:8]),
        )
    return FileFormat(found, compression, suffix)


def _suffix(path: Path) -> tuple[str, str | None]:
    compression = COMPRESSIONS.get(path.suffix.lower())
    return (Path(path.stem).suffix if compression else path.suffix).lower(), compression
