"""What text is: its encoding, what stands between its fields, and whether it looks like a table.

Only the beginning of a file is looked at, so that the same file is always read alike, and what was found is logged.
Nothing here decides who is who: where lines might be rows of a table, the caller asks.
"""

from __future__ import annotations

import codecs
import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ..errors import InputError, MisuseError
from ._build import log
from ._streams import UTF_8, opened

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_HEAD = 1 << 16
_MARKS = {
    codecs.BOM_UTF8: UTF_8,
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# Without a mark: which of the first four bytes are not 0, where these are letters, digits or punctuation.
_UNMARKED = {
    b"\1\0\1\0": "utf-16-le",
    b"\0\1\0\1": "utf-16-be",
    b"\1\0\0\0": "utf-32-le",
    b"\0\0\0\1": "utf-32-be",
}
_TYPED = {"\\t": "\t", "tab": "\t"}


def check_delimiter(delimiter: object) -> str:
    """Return the one character that a delimiter is; a tab may be written as a shell can type it."""
    given = _TYPED.get(delimiter, delimiter) if isinstance(delimiter, str) else delimiter
    if not isinstance(given, str) or len(given) != 1 or not given.isascii() or given.isalnum() or given in '"\r\n\0 ':
        raise MisuseError.format(
            "{delimiter} is {given!r}; it is one character, such as ',' or ';' or '|', or 'tab'; where blanks "
            'stand between items, give {format="fimi"}.',
            given=delimiter,
        )
    return given


def check_encoding(encoding: object) -> str:
    """Return the name Python has for an encoding of text."""
    try:
        found = codecs.lookup(encoding) if isinstance(encoding, str) else None
        if found is None or not found._is_text_encoding:
            raise LookupError
    except (LookupError, ValueError):
        raise MisuseError.format(
            "{encoding} is {given!r}, which is not known; write it as utf-8, utf-16, windows-1252 or latin-1.",
            given=encoding,
        ) from None
    return UTF_8 if found.name in ("utf-8", "utf-8-sig", "ascii") else found.name


@dataclass(frozen=True)
class Sniffed:
    """A text file and its beginning: whole lines, decoded; and whether that is all of it."""

    path: Path
    encoding: str
    lines: tuple[str, ...]
    all: bool

    def between(self, given: str | None, columns: list[str]) -> str:
        """Return what stands between fields: as given, or as line 1 has the columns, or as most lines have it."""
        if given is not None:
            return given
        if columns:
            fitting = [one for one in DELIMITERS if set(columns) <= set(self._header(one))]
        else:
            held = [line for line in self.lines if line.strip()]
            usual = {one: 2 * sum(one in line for line in held) > len(held) for one in DELIMITERS}
            # A comma anywhere is one: names with another of these characters are not taken apart beside it. But where
            # another makes a table of all lines, under a heading without commas, they stand within fields: 1;tea;1,50.
            commas = any("," in line for line in held)
            tables = bool(held) and "," not in held[0]
            fitting = [
                one
                for one, often in usual.items()
                if often and (not commas or (tables and one != "," and self.fields(one) is not None))
            ]
            if len(fitting) > 1:
                raise MisuseError.format(
                    "{path}: it is not clear whether {found} stand between items; say it, as in {delimiter=';'}.",
                    path=self.path,
                    found=" or ".join(DELIMITERS[one] for one in fitting),
                )
        found = fitting[0] if fitting else ","
        if found != ",":
            log.info("%s: %s stand between its fields.", self.path, DELIMITERS[found])
        return found

    def _header(self, delimiter: str) -> list[str]:
        return [name.strip() for name in next(iter(self._rows(delimiter)), [])]

    def _rows(self, delimiter: str) -> list[list[str]]:
        try:
            return list(csv.reader(self.lines, delimiter=delimiter))
        except csv.Error:
            return []

    def fields(self, delimiter: str) -> int | None:
        """Return how many fields a line has if this looks like a table: two or more, on each of several lines."""
        rows = self._rows(delimiter)
        while rows and not rows[-1]:
            rows.pop()
        counts = {len(row) for row in rows}
        return max(counts) if len(rows) > 1 and len(counts) == 1 and counts != {1} else None

    def alone(self, delimiter: str) -> Literal["line", "field"] | None:
        """Say whether there is only one line, which may be a heading, or only one field on each line, blank ones aside.

        Then nothing tells a table without rows, or with a single column, from baskets.
        """
        rows = [row for row in self._rows(delimiter) if row]
        if rows and max(map(len, rows)) == 1:
            return "field"
        return "line" if len(rows) == 1 and self.all else None

    def numbered(self, delimiter: str) -> bool:
        """Whether each line but the first begins with a number, and names follow: an id under its heading."""
        rows = [[field.strip() for field in row] for row in self._rows(delimiter) if row]
        if len(rows) < 2 or any(map(_is_number, rows[0])):
            return False
        below = rows[1:]
        return all(_is_number(row[0]) for row in below) and any(not _is_number(f) for row in below for f in row if f)


def _is_number(field: str) -> bool:
    return field.isascii() and field.isdigit()


def sniff(path: Path, compression: str | None, encoding: str | None) -> Sniffed:
    """Look at the beginning of a text file; its byte order mark tells the encoding, or else it is UTF-8."""
    with opened(path, compression) as (_, stream):
        begins = stream.read(4)
    marked = next((name for mark, name in _MARKS.items() if begins.startswith(mark)), None)
    if encoding is not None and marked is not None and encoding.removesuffix("-le").removesuffix("-be") != marked:
        raise InputError.format(
            "{path} begins with the mark of {marked} text, so {encoding=given} is wrong; leave it out.",
            path=path,
            marked=marked,
            given=encoding,
        )
    if encoding is None and marked is None and (unmarked := _UNMARKED.get(bytes(map(bool, begins)))) is not None:
        raise InputError.format(
            "{path} looks like {found} text without a byte order mark: say so, as in {encoding=found}.",
            path=path,
            found=unmarked,
        )
    found = encoding or marked or UTF_8
    if encoding is None and found != UTF_8:
        log.info("%s: it is %s text, by its byte order mark.", path, found)
    with opened(path, compression, found) as (_, stream):
        head = b""
        while len(head) < _HEAD and (chunk := stream.read(_HEAD - len(head))):
            head += chunk
    lines = list(io.StringIO(head.removeprefix(codecs.BOM_UTF8).decode(errors="replace"), newline=""))
    if len(head) == _HEAD and len(lines) > 1:
        del lines[-1]  # it may be cut
    return Sniffed(path, found, tuple(lines), len(head) < _HEAD)
