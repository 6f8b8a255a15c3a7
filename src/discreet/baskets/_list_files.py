"""Readers of public files and tables: lists of items, segments, labels or itemsets, hierarchies, names of codes.

All lists have one format, which `docs/reading.md` states. The meaning of a line depends on the file and on the public
list of items, never on the data. An ambiguous file is refused before any budget is spent. Hierarchies, and names of
codes, come from files, data frames, dictionaries or lists of rows.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ..checks import is_whole
from ..errors import EmptyDataError, InputError, MisuseError, build_message, render_option
from ..heavy import pa
from ..wording import number_of
from ._core import Item, Vocabulary
from ._frames import build_column_stream, has_attribute, open_frame
from ._places import FileFormat, resolve_format
from ._redaction import public_path
from ._sniffing import sniff
from ._streams import check_file, open_stream

Lists: TypeAlias = Literal["items", "segments", "labels"]
Separator: TypeAlias = Literal["JSON lists", "tabs", "commas", "semicolons", "blanks", "lines"]

# Room for ten million names of a hundred letters, the largest list of items (MOST_ITEMS).
MAX_LIST_BYTES = 1 << 30

_CHARACTERS: dict[Separator, str] = {"tabs": "\t", "commas": ",", "semicolons": ";"}
# The separators by suffix; for all further files the contents decide.
_BY_SUFFIX: dict[str, Separator] = {".dat": "blanks", ".tsv": "tabs", ".jsonl": "JSON lists", ".ndjson": "JSON lists"}
# Usual headings of a column that was exported from a table.
_HEADING = re.compile(
    "(article|categor(y|ie)|code|id|item|item_?id|label|movie|movie_?id|name|page|product|product_?id|region|segment|sku|"
    "stock_?code|title|value)s?"
)
_QUOTED_WORD = re.compile(r'"((?:[^"]|"")*)"(?:\s+|$)|([^\s"]+)(?:\s+|$)')


@dataclass(frozen=True)
class ItemsetFile:
    """The itemsets of a file, as texts, and the separator of their items."""

    itemsets: list[list[str]]
    separator: Separator

    def __str__(self) -> str:
        formats: dict[Separator, str] = {"lines": "each one item", "JSON lists": "each a JSON list"}
        format_ = formats.get(self.separator, f"items between {self.separator}")
        return f"{number_of(len(self.itemsets), 'itemset')}, {format_}"


def read_labels(path: Path, kind: Lists) -> list[str]:
    """Return the names of a list file, one per line, without double quotes around a name."""
    lines = [line for line in _read_stripped_lines(path, kind) if line]
    separator = next(
        (
            name
            for name, character in (("tab", "\t"), ("comma", ","), ("semicolon", ";"))
            if lines and all(character in _without_quoted(line) for line in lines)
        ),
        None,
    )
    if separator is not None:
        raise InputError(
            f"Every line of {path} has a {separator}: it is a table, or has several {kind} in one line. A list of "
            f"{kind} has one per line; a name that has a {separator} stands in double quotes."
        )
    return [_unquoted(line) for line in lines]


def heading_note(path: Path, labels: list[Item], kind: Lists) -> str:
    """Return a warning if the first line of a list reads like the heading of a column, else ""."""
    if len(labels) < 2 or not isinstance(labels[0], str):
        return ""
    first = labels[0]
    is_heading = _HEADING.fullmatch(first.casefold().replace(" ", "_")) is not None
    has_numbers = all(isinstance(label, int) or label.isdecimal() for label in labels[1:])
    if not is_heading and (not has_numbers or first.isdecimal()):
        return ""
    return (
        f"The first line of {path}, {first!r}, reads like a heading, and is taken for one of the {kind}: remove it, if "
        "it is none."
    )


def read_itemset_file(path: Path, public_items: Vocabulary | None = None) -> ItemsetFile:
    """Return the itemsets of a file, one per line; `public_items` is the public list of items, if any.

    1. If all lines are JSON lists, each line is a JSON list.
    2. Otherwise items are separated by tabs, commas or semicolons; without one, by blanks.
    3. If two readings are possible, the reading with all items on the public list is returned. Without a list, or if
       both readings fit the list, the file is refused.
    """
    lines = [line for line in _read_stripped_lines(path, "itemsets") if line]
    # An empty question would be answered with an empty result, which is hardly meant.
    if not lines:
        raise InputError(f"{path} is empty: --itemsets is a file with one itemset per line.")
    texts = None if public_items is None else {str(label) for label in public_items}
    separators = _separators(path, lines)
    # A public list resolves whether a comma separates items or belongs to a name.
    if texts is not None and {"commas", "semicolons"} & set(separators):
        separators.append("lines")  # names on the list may have commas
    readings: dict[Separator, list[list[str]]] = {}
    for separator in separators:
        itemset_lists = _split_lines(path, lines, separator)
        if itemset_lists not in readings.values():
            readings[separator] = itemset_lists
    if len(readings) > 1 and texts is not None:
        listed_readings = {
            separator: itemset_lists
            for separator, itemset_lists in readings.items()
            if all(item in texts for itemset in itemset_lists for item in itemset)
        }
        # If no reading fits the list, any reading leads to the error that names an unlisted item.
        readings = listed_readings or dict(list(readings.items())[:1])
    if len(readings) > 1:
        raise InputError(_ambiguous(path, readings))
    ((separator, itemsets),) = readings.items()
    return ItemsetFile(itemsets, separator)


def find_nearest_labels(label: Item, vocabulary: Vocabulary, most: int = 3) -> list[Item]:
    """Return at most `most` labels of a public list that are similar to an unlisted label, the nearest first."""
    from difflib import get_close_matches

    labels = {str(item): item for item in vocabulary}
    word = str(label).casefold()
    folded = {text.casefold(): text for text in labels}
    # The comparison of letters takes a second for 100,000 names; longer lists are searched for whole words only.
    similar = get_close_matches(word, folded, most, 0.6) if len(folded) <= 100_000 else []
    pattern = re.compile(rf"\b{re.escape(word)}\b")
    similar += [text for text in folded if pattern.search(text) or re.search(rf"\b{re.escape(text)}\b", word)][:most]
    return [labels[folded[text]] for text in dict.fromkeys(similar)][:most]


def _separators(path: Path, lines: list[str]) -> list[Separator]:
    """Return the possible separators of the items of each line."""
    suffix = next((suffix_text.lower() for suffix_text in path.suffixes if suffix_text.lower() in _BY_SUFFIX), None)
    if suffix is not None:
        return [_BY_SUFFIX[suffix]]
    # A name may begin with a bracket, so all lines must.
    if all(line.startswith("[") for line in lines):
        return ["JSON lists"]
    open_parts = [_without_quoted(line) for line in lines]
    if any("\t" in part for part in open_parts):
        return ["tabs"]
    separators: list[Separator] = [
        separator
        for separator in ("commas", "semicolons")
        if any(_CHARACTERS[separator] in part for part in open_parts)
    ]
    if separators or ".csv" in map(str.lower, path.suffixes):
        return separators or ["lines"]
    # Numbers have no blanks, and a file with quotes has them around names with blanks.
    if all(part.replace(" ", "").isdecimal() for part in open_parts) or open_parts != lines:
        return ["blanks"]
    return ["blanks", "lines"]


def _split_lines(path: Path, lines: list[str], separator: Separator) -> list[list[str]]:
    """Return the items of each line, as texts, without repeats."""
    itemsets = []
    for number, line in enumerate(lines, 1):
        try:
            items = [item.strip() for item in _split_line(line, separator)]
        except (csv.Error, ValueError, RecursionError):
            formats = ["items between " + separator, 'a JSON list, such as ["whole milk", "tea"]']
            raise InputError(
                f"{path}, itemset {number}: {line[:80]!r} cannot be read as {formats[separator == 'JSON lists']}."
            ) from None
        items = [item for item in items if item]
        if not items:
            raise InputError(f"{path}, itemset {number}: {line[:80]!r} has no item in it.")
        itemsets.append(list(dict.fromkeys(items)))
    return itemsets


def _split_line(line: str, separator: Separator) -> list[str]:
    """Return the items of a line, or raise `csv.Error` or `ValueError` if the separator does not fit."""
    if separator == "JSON lists":
        items = json.loads(line)
        if not isinstance(items, list) or not all(isinstance(item, str) or is_whole(item) for item in items):
            raise ValueError
        return [str(item) for item in items]
    if separator == "lines":
        return [_unquoted(line)]
    if separator == "blanks":
        return _split_words(line)
    reader = csv.reader([line], delimiter=_CHARACTERS[separator], strict=True, skipinitialspace=True)
    return next(reader)


def _split_words(line: str) -> list[str]:
    """Return the words between blanks; a name with blanks is in double quotes."""
    words, start = [], 0
    while start < len(line):
        match = _QUOTED_WORD.match(line, start)
        if match is None:
            raise ValueError  # a double quote is not closed, or is within a name
        words.append(match[2] if match[1] is None else match[1].replace('""', '"'))
        start = match.end()
    return words


def _without_quoted(line: str) -> str:
    """Return a line with empty quotes in the place of quoted text."""
    return re.sub(r'"(?:[^"]|"")*"', '""', line)


def _unquoted(line: str) -> str:
    """Return the name of a line, without double quotes as CSV or JSON write them."""
    if len(line) < 2 or not (line[0] == line[-1] == '"'):
        return line
    try:
        name: Any = json.loads(line)
    except ValueError:
        inner = line[1:-1]
        return inner.replace('""', '"') if '"' not in inner.replace('""', "") else line
    return str(name)


def _read_stripped_lines(path: Path, kind: Lists | Literal["itemsets"]) -> list[str]:
    """Return the lines of a text file without blanks at their ends."""
    usage = "--itemsets is a file with one itemset per line."
    try:
        compression = resolve_format(path, None).compression
    except MisuseError:
        compression = None
    try:
        if path.is_dir():
            raise IsADirectoryError
        # A list from a spreadsheet is often UTF-16 with a byte order mark.
        encoding = sniff(path, compression, None).encoding
        with open_stream(path, compression, encoding) as (_, stream):
            content = bytes(stream.read(MAX_LIST_BYTES + 1))
        if len(content) > MAX_LIST_BYTES:
            raise InputError(f"The list of {kind} in {path} has over {MAX_LIST_BYTES:,} bytes; it has one per line.")
        return [line.strip() for line in io.StringIO(content.decode("utf-8-sig"))]
    except EmptyDataError:
        return []
    except FileNotFoundError:
        if kind == "itemsets":
            raise InputError(f"There is no file {public_path(path)}: {usage}") from None
        raise InputError.format(
            "There is no file {path} with a list of {listed}. For the {listed} found in the data write {public}.",
            path=public_path(path),
            listed=kind,
            public=render_option(kind, "public"),
        ) from None
    except IsADirectoryError:
        raise InputError(f"{path} is a directory: give a file with one per line as the list of {kind}.") from None
    except UnicodeDecodeError:
        raise InputError(f"The list of {kind} in {path} is not UTF-8 text.") from None
    except OSError as error:
        raise InputError(f"The list of {kind} in {path} cannot be read: {error.strerror}.") from None


def _ambiguous(path: Path, readings: dict[Separator, list[list[str]]]) -> str:
    """Return the message about an ambiguous file, with the first itemset that differs."""
    first, second, *_ = readings.values()
    number, itemsets = next(
        (i, pair) for i, pair in enumerate(zip(first, second, strict=True), 1) if pair[0] != pair[1]
    )
    alternatives = " or ".join(
        f"{number_of(len(itemset), 'item')} ({', '.join(map(repr, itemset[:3]))}{', …' * (len(itemset) > 3)})"
        for itemset in itemsets
    )
    return (
        f"{path}, itemset {number} can be read as {alternatives}. Nothing was spent. Write a comma between items, or "
        "each line as a JSON list, and names that have blanks or commas in double quotes."
    )


_TEXT, _ARROW = ("csv", "tsv"), ("parquet", "feather")
# Bytes of a table after unpacking: room for ten million rows of a hundred bytes; a larger file is a mistake.
_MAX_TABLE_BYTES = 1 << 30

Table: TypeAlias = Literal["hierarchy", "names"]
_TABLE_NAMES: dict[Table, str] = {"hierarchy": "The hierarchy", "names": "The names"}
_VERBS: dict[Table, str] = {"hierarchy": "is", "names": "are"}
_NOUNS: dict[Table, str] = {"hierarchy": "a hierarchy", "names": "names"}
_CELL_PROBLEMS: dict[Table, str] = {
    "hierarchy": "holds {}, where items are names or whole numbers: convert it to text.",
    "names": "hold {}, where codes and names are text or whole numbers.",
}
HIERARCHY_SHAPE = build_message(
    "A hierarchy is a table of two columns, an item and what stands right above it; or of more, an item and what "
    "stands above it level by level. Its first line has the names of the columns."
)
NAMES_SHAPE = (
    "Names are a table whose first two columns are a code and what it is called; its first line names the columns."
)
_NOT_A_TABLE = "{} is no table that {} {} read from: give CSV, TSV, Parquet or Feather, or a data frame."


def read_table_rows(source: Any, kind: Table = "hierarchy") -> tuple[list[str], Iterable[Iterable[Any]]]:
    """Return the column names of a table and its rows; a list of rows has no column names.

    `kind` is the kind of the table, for messages.
    """
    if isinstance(source, str | os.PathLike):
        try:
            return _read_file(Path(source), kind)
        except EmptyDataError:
            raise InputError(f"{_TABLE_NAMES[kind]} in {source} {_VERBS[kind]} empty.") from None
    if isinstance(source, Mapping):
        return _read_arrow(build_column_stream(source, []).reader)
    if not isinstance(source, bytes) and has_attribute(source, "__arrow_c_stream__"):
        stream = open_frame(source, [])
        if stream is not None and not stream.single:
            return _read_arrow(stream.reader)
    if isinstance(source, Iterable) and not isinstance(source, bytes):
        rows = list(source)
        if all(isinstance(row, list | tuple) for row in rows):
            return [], rows
    if kind == "names":
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
        shape=HIERARCHY_SHAPE,
    )


def _read_file(path: Path, kind: Table) -> tuple[list[str], Iterable[Iterable[Any]]]:
    if not path.exists():
        raise InputError(f"There is no file {public_path(path)} with {_NOUNS[kind]}.")
    check_file(path)
    try:
        form = resolve_format(path, None)
    except MisuseError:
        raise InputError(_NOT_A_TABLE.format(path, _NOUNS[kind], _VERBS[kind])) from None
    if form.format in _TEXT:
        names, *rows = _read_text_rows(path, form, kind) or [[]]
        return names, rows
    if form.format in _ARROW:
        return _read_arrow(_open_arrow_file(path, form, kind))
    raise InputError(_NOT_A_TABLE.format(path, _NOUNS[kind], _VERBS[kind]))


def _read_text_rows(path: Path, form: FileFormat, kind: Table) -> list[list[str]]:
    head = sniff(path, form.compression, None)
    delimiter = "\t" if form.format == "tsv" else head.find_delimiter(None, [])
    with open_stream(path, form.compression, head.encoding) as (_, stream):
        content = stream.read(_MAX_TABLE_BYTES + 1)
    if len(content) > _MAX_TABLE_BYTES:
        verb = "has" if kind == "hierarchy" else "have"
        raise InputError(f"{_TABLE_NAMES[kind]} in {path} {verb} over {_MAX_TABLE_BYTES:,} bytes.")
    try:
        text = bytes(content).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(
            f"{_TABLE_NAMES[kind]} in {path} {_VERBS[kind]} not UTF-8 text: save it so, or give a data frame."
        ) from None
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        rows = [[cell.strip() for cell in row] for row in reader]
        return [row for row in rows if any(row)]
    except csv.Error as error:
        raise InputError(f"{_TABLE_NAMES[kind]} in {path} cannot be read: {error}.") from None


def _open_arrow_file(path: Path, form: FileFormat, kind: Table) -> Any:
    try:
        if form.format == "parquet":
            from pyarrow import parquet

            return parquet.read_table(path).to_reader()
        from pyarrow import feather

        return feather.read_table(path).to_reader()
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{_TABLE_NAMES[kind]} in {path} cannot be read: {error}.") from None


def _read_arrow(reader: Any) -> tuple[list[str], Iterator[Iterable[Any]]]:
    table = reader.read_all()
    return [str(name) for name in table.column_names], zip(
        *(column.to_pylist() for column in table.columns), strict=True
    )


def read_label(value: Any, kind: Table) -> str:
    """Return a cell of a public table as text; "" for a missing value."""
    # NaN, the missing value of pandas, differs from itself.
    if value is None or value != value:
        return ""
    if isinstance(value, bool) or not (isinstance(value, str) or is_whole(value)):
        raise InputError(f"{_TABLE_NAMES[kind]} {_CELL_PROBLEMS[kind].format(type(value).__name__)}")
    return str(value)


def find_clash(labels: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the first two keys with equal labels; None if all labels differ."""
    keys: dict[str, str] = {}
    return next(((keys[label], key) for key, label in labels.items() if keys.setdefault(label, key) != key), None)
