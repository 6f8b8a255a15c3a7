"""The files of a source, with their formats: of a name, a pattern, a folder, a list, or copied from an open file.

A folder means all files in it and below, except files with a name that begins with a dot or a low line: Spark and Hive
write their own notes in them. A folder such as ``country=DE`` below the given folder is a column of the rows in it (a
hive tree). Open files and standard input are copied to a temporary file for readers that open a file several times;
messages and the log name the source as the user does.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from glob import glob
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import unquote

from ..errors import DiscreetError, InputError, LimitError, Message, MisuseError
from ..temporary import make_temporary_directory
from ._build import shorten_value
from ._columns import INTEGER_TYPE, Column, Table, quote_text
from ._redaction import public_path
from ._streams import COMPRESSIONS, find_archive_member

_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"  # the folder value by which Hive writes a missing value
_INT64_END = 2**63
_SHOWN_FILES = 3  # in a message


@dataclass(frozen=True)
class Part:
    """A file, and the names and values of the columns in the names of its folders, as text."""

    path: Path
    folders: tuple[tuple[str, str], ...] = ()


def list_parts(source: str | os.PathLike[str], format_: str | None = None) -> list[Part] | None:
    """Return the files of a pattern or a folder, sorted by path; None for the name of a single file."""
    text = os.fspath(source)
    path = Path(text)
    if _is_folder(path):
        return _list_folder(path, format_)
    # A file may have a wildcard in its name.
    if not any(mark in text for mark in "*?[") or path.exists():
        return None
    matches = sorted(map(Path, glob(text, recursive=True)))  # noqa: PTH207
    # A pattern that names files and folders means the files: a folder beside them may hold anything.
    files = [match for match in matches if not match.is_dir()]
    if len(files) > 1 and not path.name.startswith("_"):
        files = [file for file in files if not file.name.startswith("_")] or files
    root = _root(path)
    if files:
        return [Part(file, _parse_folders(file, root)) for file in files]
    if matches:
        parts = [part for match in matches for part in _list_folder(match, format_)]
        return [replace(part, folders=_parse_folders(part.path, root)) for part in parts]
    if any(mark in text for mark in "*?"):
        raise InputError(f"There is no file that {public_path(text)} names.")
    return None


def list_all_parts(sources: Iterable[str | os.PathLike[str]], format_: str | None = None) -> list[Part]:
    """Return the files of a list of names, patterns and folders, in its order; a repeated file is an error."""
    parts: list[Part] = []
    for source in sources:
        text = os.fspath(source)
        if not isinstance(text, str) or not text or text == "-" or "://" in text:
            given = shorten_value(public_path(text) if isinstance(text, str) else text)
            raise MisuseError(
                f"A list of files holds {given}; it is of names of files, patterns and folders: read anything else by "
                "itself."
            )
        files = list_parts(text, format_)
        if files is None and not Path(text).exists() and isinstance(source, str):
            raise InputError(
                f"There is no file {shorten_value(public_path(text))}. A list of texts names files; a basket is a set "
                'or a list of items, as in discreet.read([{"tea", "milk"}, {"bread"}]).'
            )
        parts += [Part(Path(text))] if files is None else files
    seen_paths: set[Path] = set()
    for part in parts:
        # A link and its target are one file, whose people would be counted twice.
        place = part.path.resolve()
        if place in seen_paths:
            raise MisuseError(f"{part.path} is among the files twice; name each file once.")
        seen_paths.add(place)
    return parts


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False  # check_file reports the reason


def _list_folder(folder: Path, format_: str | None) -> list[Part]:
    files = [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)
    ]
    if not files:
        raise InputError(f"{folder} is a folder without any file in it; give one with data, or a file.")
    unknown = [path for path in files if format_ is None and find_format(path) is None and path.suffix != ".zip"]
    if unknown:
        shown_names = ", ".join(str(path.relative_to(folder)) for path in unknown[:_SHOWN_FILES])
        raise MisuseError.format(
            "{folder} holds files whose suffix does not tell their format ({few}{more}); name those to read, as in "
            "{pattern}, or give {format=}.",
            folder=folder,
            few=shown_names,
            more=", …" if len(unknown) > _SHOWN_FILES else "",
            pattern=folder / "*.csv",
        )
    return [Part(path, _parse_folders(path, folder)) for path in files]


def _root(pattern: Path) -> Path:
    """Return the folder before the first wildcard of a pattern."""
    fixed = []
    for part in pattern.parts:
        if any(mark in part for mark in "*?["):
            break
        fixed.append(part)
    return Path(*fixed)


def _parse_folders(path: Path, root: Path) -> tuple[tuple[str, str], ...]:
    """Return the columns and values of the folders between the root and a file, as in ``country=DE``."""
    folders = path.relative_to(root).parts[:-1]
    pairs = (part.partition("=") for part in folders)
    return tuple((unquote(name), unquote(value)) for name, equals, value in pairs if equals and name)


def find_folder_types(parts: list[Part]) -> dict[str, Literal["BIGINT", "VARCHAR"]]:
    """Return the DuckDB type of each column in the names of folders: BIGINT if all values are 64-bit whole numbers."""
    values: dict[str, set[str]] = {}
    for part in parts:
        for name, value in part.folders:
            values.setdefault(name, set()).add(value)
    return {name: "BIGINT" if all(map(_is_int64, texts - {_NO_VALUE})) else "VARCHAR" for name, texts in values.items()}


def _is_int64(text: str) -> bool:
    digits = text.removeprefix("-")
    # Canonical numerals only: the folders 7 and 07 are two values.
    return digits.isascii() and digits.isdigit() and str(int(text)) == text and -_INT64_END <= int(text) < _INT64_END


def add_folder_columns(table: Table, part: Part, types: dict[str, Literal["BIGINT", "VARCHAR"]]) -> Table:
    """Return the table of a file with the columns of its folders; a column of the file comes before one of a folder."""
    file_columns = {column.name for column in table.columns}
    folder_columns = []
    for name, value in part.folders:
        if name in file_columns:
            continue
        # A table of text has text in all columns, and one of JSON has JSON.
        type_ = "VARCHAR" if table.untyped == "text" else types[name]
        sql = "NULL" if value == _NO_VALUE else value if INTEGER_TYPE.fullmatch(type_) else quote_text(value)
        sql = f"CAST({sql} AS {type_})"
        folder_columns.append(Column(name=name, sql=f"to_json({sql})" if table.untyped == "json" else sql, type=type_))
    return replace(table, columns=(*table.columns, *folder_columns))


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


_STANDARD = "Standard input"
_OBJECT = "The file object"
_CHUNK = 1 << 16  # bytes; small, so that a slow stream is copied as it arrives
# The first bytes of packed data. A workbook is a zip archive too, but is not unpacked.
_SIGNATURES = {
    b"\x1f\x8b": ".gz",
    b"BZh": ".bz2",
    b"\xfd7zXZ\x00": ".xz",
    b"\x28\xb5\x2f\xfd": ".zst",
    b"PK\x03\x04": ".zip",
}


def open_standard_input() -> Any:
    """Return the stream of standard input, after a check that it is piped."""
    stream = sys.stdin
    if stream is None or stream.closed or stream.isatty():
        raise InputError.format(
            "The source is -, standard input, but nothing is piped into it: give a file, or `cat sales.csv | "
            "discreet …`."
        )
    return getattr(stream, "buffer", stream)


@contextmanager
def copy_stream(stream: Any, format_: str | None) -> Iterator[tuple[str, Path, bool]]:
    """Return the name of a stream, the path of a copy, and whether it has text instead of bytes, as a context."""
    is_standard = sys.stdin is not None and stream in (sys.stdin, getattr(sys.stdin, "buffer", None))
    stream_name = None if is_standard else getattr(stream, "name", None)
    name = _STANDARD if is_standard else stream_name if isinstance(stream_name, str) and stream_name else _OBJECT
    # Without the suffix of a compression: the stream may be unpacked already.
    path = Path(name)
    name_suffix = Path(path.stem).suffix if path.suffix.lower() in COMPRESSIONS else path.suffix
    suffix = "" if is_standard or name is _OBJECT else name_suffix
    if format_ is None and find_format(Path(f"x{suffix}")) is None:
        raise MisuseError.format(
            "{name} has no suffix that tells its format: say it by {format=}, as one of {known}.",
            name=name,
            known=", ".join(FORMATS[:8]),
        )
    with make_temporary_directory() as folder:
        # The first bytes tell a compression, which a stream has no suffix for.
        first_chunk = _read_chunk(stream, name)
        is_text = isinstance(first_chunk, str)
        packed_suffix = "" if is_text else _find_packed_suffix(first_chunk, format_ or find_format(Path(f"x{suffix}")))
        copy = folder / f"given{suffix}{packed_suffix}"
        with _rename_source(str(copy), name):
            _copy(stream, first_chunk, copy, name)
            yield name, copy, is_text


def _find_packed_suffix(first_chunk: bytes, format_: str | None) -> str:
    suffix = next((suffix for signature, suffix in _SIGNATURES.items() if first_chunk.startswith(signature)), "")
    return "" if suffix == ".zip" and format_ == "excel" else suffix


def _read_chunk(stream: Any, name: str) -> Any:
    try:
        chunk = stream.read(_CHUNK)
    except (OSError, ValueError, EOFError) as error:
        # A UnicodeError is a ValueError, and its text has private bytes.
        reason = "its text cannot be decoded" if isinstance(error, UnicodeError) else str(error).rstrip(".")
        raise InputError(f"{name} cannot be read: {reason}.") from None
    if not isinstance(chunk, str | bytes):
        raise MisuseError(f"{name} gives {type(chunk).__name__} when it is read, neither bytes nor text.")
    return chunk


def _copy(stream: Any, first_chunk: Any, copy: Path, name: str) -> None:
    chunk = first_chunk
    try:
        with copy.open("wb") as file:
            while chunk:
                file.write(chunk.encode("utf-8", "surrogatepass") if isinstance(chunk, str) else chunk)
                chunk = _read_chunk(stream, name)
    except OSError as error:
        raise LimitError(
            f"{name} cannot be kept in {copy.parent}: {error.strerror}; set TMPDIR to a folder with enough room."
        ) from None


@contextmanager
def _rename_source(copy: str, name: str) -> Iterator[None]:
    """Replace the path of the copy by the name of the source, in the log and in errors, as a context."""

    def rename(record: logging.LogRecord) -> bool:
        record.msg, record.args = record.getMessage().replace(copy, name), ()
        return True

    log = logging.getLogger("discreet")
    log.addFilter(rename)
    try:
        yield
    except DiscreetError as error:
        error.message = Message(error.message.python.replace(copy, name), error.message.typed.replace(copy, name))
        error.args = (str(error.message), *error.args[1:])
        raise
    finally:
        log.removeFilter(rename)
