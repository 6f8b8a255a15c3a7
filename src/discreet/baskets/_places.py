"""Where files are: a name, a pattern, a folder or a list of these becomes the files it stands for.

A folder stands for all files in it and below. Those whose name begins with a dot or a low line are left out, as Spark
and Hive leave them out: they write their own notes there. Folders such as ``country=DE``, below what was given, are a
column of the rows in them (a hive tree).
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
from ._build import shown
from ._columns import INTEGERS, Column, Table, literal
from ._formats import known_format
from ._redaction import public_path

_NOTHING = "__HIVE_DEFAULT_PARTITION__"  # what Hive writes where a column has no value
_LARGEST = 2**63
_FEW = 3


@dataclass(frozen=True)
class Part:
    """One of several files, and the columns that its folders tell: their names, and values as they are written."""

    path: Path
    folders: tuple[tuple[str, str], ...] = ()


def parts_of(source: str | os.PathLike[str], format_: str | None = None) -> list[Part] | None:
    """Return the files that a pattern or a folder stands for, in order; None for what is the name of one file."""
    text = os.fspath(source)
    path = Path(text)
    if _is_folder(path):
        return _within(path, format_)
    if not any(mark in text for mark in "*?[") or path.exists():
        return None
    found = sorted(map(Path, glob(text, recursive=True)))  # noqa: PTH207
    files = [one for one in found if not one.is_dir()]
    if len(files) > 1 and not path.name.startswith("_"):
        files = [one for one in files if not one.name.startswith("_")] or files
    root = _root(path)
    if files:
        return [Part(one, _told(one, root)) for one in files]
    if found:
        return [replace(part, folders=_told(part.path, root)) for one in found for part in _within(one, format_)]
    if any(mark in text for mark in "*?"):
        raise InputError(f"There is no file that {public_path(text)} names.")
    return None


def parts_of_several(sources: Iterable[str | os.PathLike[str]], format_: str | None = None) -> list[Part]:
    """Return the files that a list of names, patterns and folders stands for, in its order; none may come twice."""
    parts: list[Part] = []
    for source in sources:
        text = os.fspath(source)
        if not isinstance(text, str) or not text or text == "-" or "://" in text:
            given = shown(public_path(text) if isinstance(text, str) else text)
            raise MisuseError(
                f"A list of files holds {given}; it is of names of files, patterns and folders: read anything else by "
                "itself."
            )
        found = parts_of(text, format_)
        if found is None and not Path(text).exists() and isinstance(source, str):
            raise InputError(
                f"There is no file {shown(public_path(text))}. A list of texts names files; a basket is a set or a "
                'list of items, as in discreet.read([{"tea", "milk"}, {"bread"}]).'
            )
        parts += [Part(Path(text))] if found is None else found
    seen: set[Path] = set()
    for part in parts:
        place = part.path.resolve()
        if place in seen:
            raise MisuseError(f"{part.path} is among the files twice; name each file once.")
        seen.add(place)
    return parts


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False  # said where the file is looked at


def _within(folder: Path, format_: str | None) -> list[Part]:
    found = [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)
    ]
    if not found:
        raise InputError(f"{folder} is a folder without any file in it; give one with data, or a file.")
    strange = [path for path in found if format_ is None and known_format(path) is None and path.suffix != ".zip"]
    if strange:
        few = ", ".join(str(path.relative_to(folder)) for path in strange[:_FEW])
        raise MisuseError.format(
            "{folder} holds files whose suffix does not tell their format ({few}{more}); name those to read, as in "
            "{pattern}, or give {format=}.",
            folder=folder,
            few=few,
            more=", …" if len(strange) > _FEW else "",
            pattern=folder / "*.csv",
        )
    return [Part(path, _told(path, folder)) for path in found]


def _root(pattern: Path) -> Path:
    """Return the folder that a pattern begins with."""
    fixed = []
    for part in pattern.parts:
        if any(mark in part for mark in "*?["):
            break
        fixed.append(part)
    return Path(*fixed)


def _told(path: Path, root: Path) -> tuple[tuple[str, str], ...]:
    """Return what folders between the root and a file say: ``country=DE`` is a column and its value."""
    folders = path.relative_to(root).parts[:-1]
    pairs = (part.partition("=") for part in folders)
    return tuple((unquote(name), unquote(value)) for name, equals, value in pairs if equals and name)


def kinds_told(parts: list[Part]) -> dict[str, Literal["BIGINT", "VARCHAR"]]:
    """Say of each column that folders tell whether all its values are whole numbers of 64 bits, or else names."""
    values: dict[str, set[str]] = {}
    for part in parts:
        for name, value in part.folders:
            values.setdefault(name, set()).add(value)
    return {name: "BIGINT" if all(map(_is_number, held - {_NOTHING})) else "VARCHAR" for name, held in values.items()}


def _is_number(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdigit() and str(int(text)) == text and -_LARGEST <= int(text) < _LARGEST


def with_told(table: Table, part: Part, kinds: dict[str, Literal["BIGINT", "VARCHAR"]]) -> Table:
    """Return the table of a file with the columns that its folders tell; one that the file has itself stays."""
    there = {column.name for column in table.columns}
    more = []
    for name, value in part.folders:
        if name in there:
            continue
        # A table of text has text in all columns, and one of JSON has JSON.
        kind = "VARCHAR" if table.untyped == "text" else kinds[name]
        sql = "NULL" if value == _NOTHING else value if INTEGERS.fullmatch(kind) else literal(value)
        sql = f"CAST({sql} AS {kind})"
        more.append(Column(name=name, sql=f"to_json({sql})" if table.untyped == "json" else sql, type=kind))
    return replace(table, columns=(*table.columns, *more))
