"""Detection of the encoding and the delimiter of a text file, and of lines that look like a table.

Only the first 64 KiB of a file are examined, and each detection is logged. If lines might be rows of a table, the
caller refuses the file: this module never decides that a line is a person.
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
from ._streams import UTF_8, open_stream

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_HEAD_BYTES = 1 << 16  # larger: safer detection, smaller: less time per file
_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: UTF_8,
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# Encodings by the nonzero bytes among the first four, for ASCII text without a byte order mark.
_UNMARKED = {
    b"\1\0\1\0": "utf-16-le",
    b"\0\1\0\1": "utf-16-be",
    b"\1\0\0\0": "utf-32-le",
    b"\0\0\0\1": "utf-32-be",
}
_TYPED = {"\\t": "\t", "tab": "\t"}


def check_delimiter(delimiter: object) -> str:
    """Return the delimiter as one character; a tab may be written as a backslash and t, or as "tab"."""
    character = _TYPED.get(delimiter, delimiter) if isinstance(delimiter, str) else ""
    if len(character) != 1 or not character.isascii() or character.isalnum() or character in '"\r\n\0 ':
        raise MisuseError.format(
            "{delimiter} is {given!r}; it is one character, such as ',' or ';' or '|', or 'tab'; where blanks "
            'stand between items, give {format="fimi"}.',
            given=delimiter,
        )
    return character


def check_encoding(encoding: object) -> str:
    """Return the name of a text encoding in Python."""
    try:
        codec = codecs.lookup(encoding) if isinstance(encoding, str) else None
        if codec is None or not codec._is_text_encoding:
            raise LookupError
    except (LookupError, ValueError):
        raise MisuseError.format(
            "{encoding} is {given!r}, which is not known; write it as utf-8, utf-16, windows-1252 or latin-1.",
            given=encoding,
        ) from None
    return UTF_8 if codec.name in ("utf-8", "utf-8-sig", "ascii") else codec.name


@dataclass(frozen=True)
class TextHead:
    """A text file and its first lines, decoded; `is_complete` if the file has no more lines."""

    path: Path
    encoding: str
    lines: tuple[str, ...]
    is_complete: bool

    def find_delimiter(self, delimiter: str | None, columns: list[str]) -> str:
        """Return the delimiter of the fields.

        It is `delimiter` if set, the delimiter by which line 1 has all `columns`, or the delimiter of most lines.
        """
        if delimiter is not None:
            return delimiter
        if columns:
            candidates = [mark for mark in DELIMITERS if set(columns) <= set(self._header(mark))]
        else:
            lines = [line for line in self.lines if line.strip()]
            candidates = [mark for mark in DELIMITERS if 2 * sum(mark in line for line in lines) > len(lines)]
            # A comma in any line is the delimiter, beside which further marks belong to names. But if a different mark
            # makes a table of all lines, under a heading without commas, commas belong to fields, as in 1;tea;1,50.
            if any("," in line for line in lines):
                may_be_table = "," not in lines[0]
                candidates = [
                    mark for mark in candidates if may_be_table and mark != "," and self.fields(mark) is not None
                ]
            if len(candidates) > 1:
                raise MisuseError.format(
                    "{path}: it is not clear whether {found} stand between items; say it, as in {delimiter=';'}.",
                    path=self.path,
                    found=" or ".join(DELIMITERS[mark] for mark in candidates),
                )
        mark = candidates[0] if candidates else ","
        if mark != ",":
            log.info("%s: %s stand between its fields.", self.path, DELIMITERS[mark])
        return mark

    def _header(self, delimiter: str) -> list[str]:
        return [name.strip() for name in next(iter(self._rows(delimiter)), [])]

    def _rows(self, delimiter: str) -> list[list[str]]:
        try:
            return list(csv.reader(self.lines, delimiter=delimiter))
        except csv.Error:
            return []

    def fields(self, delimiter: str) -> int | None:
        """Return the number of fields per line if several lines have equal numbers, two or more; else None."""
        rows = self._rows(delimiter)
        while rows and not rows[-1]:
            rows.pop()
        counts = {len(row) for row in rows}
        return max(counts) if len(rows) > 1 and len(counts) == 1 and counts != {1} else None

    def alone(self, delimiter: str) -> Literal["line", "field"] | None:
        """Return "line" for a file of a single line, "field" for lines of a single field; else None.

        These may be baskets, or a table without rows, or with a single column. Blank lines do not count.
        """
        # A blank line is an empty basket, and says nothing about fields.
        rows = [row for row in self._rows(delimiter) if row]
        if rows and max(map(len, rows)) == 1:
            return "field"
        return "line" if len(rows) == 1 and self.is_complete else None

    def numbered(self, delimiter: str) -> bool:
        """Return whether each line after the first is a number followed by names, as ids under a heading are."""
        rows = [[field.strip() for field in row] for row in self._rows(delimiter) if row]
        if len(rows) < 2 or any(map(_is_number, rows[0])):
            return False
        below = rows[1:]
        fields = [field for row in below for field in row if field]
        return all(_is_number(row[0]) for row in below) and not all(map(_is_number, fields))


def _is_number(field: str) -> bool:
    return field.isascii() and field.isdigit()


def sniff(path: Path, compression: str | None, encoding: str | None) -> TextHead:
    """Return the first lines of a text file, in the encoding of its byte order mark; without a mark, in UTF-8."""
    with open_stream(path, compression) as (_, stream):
        first_bytes = stream.read(4)
    marked = next((name for mark, name in _BYTE_ORDER_MARKS.items() if first_bytes.startswith(mark)), None)
    if encoding is not None and marked is not None and encoding.removesuffix("-le").removesuffix("-be") != marked:
        raise InputError.format(
            "{path} begins with the mark of {marked} text, so {encoding=given} is wrong; leave it out.",
            path=path,
            marked=marked,
            given=encoding,
        )
    # Without this check, UTF-16 text would be read as binary junk.
    if encoding is None and marked is None and (unmarked := _UNMARKED.get(bytes(map(bool, first_bytes)))) is not None:
        raise InputError.format(
            "{path} looks like {found} text without a byte order mark: say so, as in {encoding=found}.",
            path=path,
            found=unmarked,
        )
    actual = encoding or marked or UTF_8
    if encoding is None and actual != UTF_8:
        log.info("%s: it is %s text, by its byte order mark.", path, actual)
    # The second pass decodes: the byte order mark of the first decides how.
    with open_stream(path, compression, actual) as (_, stream):
        head = b""
        while len(head) < _HEAD_BYTES and (chunk := stream.read(_HEAD_BYTES - len(head))):
            head += chunk
    # newline="" keeps carriage returns, which the reader of the rows interprets.
    lines = list(io.StringIO(head.removeprefix(codecs.BOM_UTF8).decode(errors="replace"), newline=""))
    if len(head) == _HEAD_BYTES and len(lines) > 1:
        del lines[-1]  # the last line may be incomplete
    return TextHead(path, actual, tuple(lines), len(head) < _HEAD_BYTES)
