"""The files of a name, a pattern, a folder, or a list.

A folder means all files in it and below, except files with a name that begins with a dot or a low line: Spark and Hive
write their own notes in them. A folder such as ``country=DE`` below the given folder is a column of the rows in it (a
hive tree).
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from glob import glob
from pathlib import Path
from typing import Literal
from urllib.parse import unquote

from ..errors import InputError, MisuseError
from ._build import shorten_value
from ._columns import INTEGER_TYPE, Column, Table, quote_text
from ._formats import find_format
from ._redaction import public_path

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
