"""Files that list something public: items, segments or labels one per line, or itemsets one per line.

One format for all of them, stated in `docs/reading.md`. What a line means is settled by the file, and by the public
list of items where there is one: never by the data. A file with two meanings is refused, before anything is paid.
"""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ..checks import is_whole
from ..errors import InputError, MisuseError, NobodyError, render_option
from ..wording import number_of
from ._core import Item, Vocabulary
from ._formats import format_of
from ._redaction import public_path
from ._sniffing import sniff
from ._streams import opened

Lists: TypeAlias = Literal["items", "segments", "labels"]
Division: TypeAlias = Literal["JSON lists", "tabs", "commas", "semicolons", "blanks", "lines"]

# Bytes of a list that is read: enough for ten million names of a hundred letters.
MAX_LIST_BYTES = 1 << 30

_CHARACTERS: dict[Division, str] = {"tabs": "\t", "commas": ",", "semicolons": ";"}
# What files of these suffixes have between items; the items of all others are told by what is in them.
_BY_SUFFIX: dict[str, Division] = {".dat": "blanks", ".tsv": "tabs", ".jsonl": "JSON lists", ".ndjson": "JSON lists"}
# What the first line of a column is called where it is exported from a table.
_HEADING = re.compile(
    "(article|categor(y|ie)|code|id|item|item_?id|label|movie|movie_?id|name|page|product|product_?id|region|segment|sku|"
    "stock_?code|title|value)s?"
)
_QUOTED_WORD = re.compile(r'"((?:[^"]|"")*)"(?:\s+|$)|([^\s"]+)(?:\s+|$)')


@dataclass(frozen=True)
class ItemsetFile:
    """The itemsets of a file, as texts, and what stands between the items of one."""

    itemsets: list[list[str]]
    division: Division

    def __str__(self) -> str:
        ways: dict[Division, str] = {"lines": "each one item", "JSON lists": "each a JSON list"}
        way = ways.get(self.division, f"items between {self.division}")
        return f"{number_of(len(self.itemsets), 'itemset')}, {way}"


def read_labels(path: Path, what: Lists) -> list[str]:
    """Return the names that a file lists, one per line; names in double quotes come without them."""
    lines = [line for line in _lines(path, what) if line]
    between = next(
        (
            name
            for name, character in (("tab", "\t"), ("comma", ","), ("semicolon", ";"))
            if lines and all(character in _without_quoted(line) for line in lines)
        ),
        None,
    )
    if between is not None:
        raise InputError(
            f"Every line of {path} has a {between}: it is a table, or has several {what} in one line. A list of {what} "
            f"has one per line; a name that has a {between} stands in double quotes."
        )
    return [_unquoted(line) for line in lines]


def heading_note(path: Path, labels: list[Item], what: Lists) -> str:
    """Return a warning where the first line of a list reads like the heading of a column; else nothing."""
    if len(labels) < 2 or not isinstance(labels[0], str):
        return ""
    first, others = labels[0], labels[1:]
    numbers = all(isinstance(label, int) or label.isdecimal() for label in others)
    heading = _HEADING.fullmatch(first.casefold().replace(" ", "_"))
    if heading is None and (not numbers or first.isdecimal()):
        return ""
    return (
        f"The first line of {path}, {first!r}, reads like a heading, and is taken for one of the {what}: remove it, if "
        "it is none."
    )


def read_itemset_file(path: Path, known: Vocabulary | None = None) -> ItemsetFile:
    """Return the itemsets of a file, one per line; `known` is the public list of items, where there is one.

    1. A line is a JSON list where all lines are.
    2. Otherwise items stand between tabs, commas or semicolons, or between blanks where there is none of these.
    3. Where that leaves two readings, the one whose items are all on the list holds; without a list, or where both are,
       the file is refused.
    """
    lines = [line for line in _lines(path, "itemsets") if line]
    if not lines:
        raise InputError(f"{path} is empty: --itemsets is a file with one itemset per line.")
    texts = None if known is None else {str(label) for label in known}
    divisions = _divisions(path, lines)
    if texts is not None and {"commas", "semicolons"} & set(divisions):
        divisions.append("lines")  # names of the list may have commas themselves
    readings: dict[Division, list[list[str]]] = {}
    for division in divisions:
        reading = _divided(path, lines, division)
        if reading not in readings.values():
            readings[division] = reading
    if len(readings) > 1 and texts is not None:
        listed = {
            division: reading
            for division, reading in readings.items()
            if all(item in texts for itemset in reading for item in itemset)
        }
        # Where no reading is all of items on the list, any leads to the error that names one that is not.
        readings = listed or dict(list(readings.items())[:1])
    if len(readings) > 1:
        raise InputError(_ambiguous(path, readings))
    ((division, itemsets),) = readings.items()
    return ItemsetFile(itemsets, division)


def nearest_labels(label: Item, vocabulary: Vocabulary, most: int = 3) -> list[Item]:
    """Return the labels of a public list that are most like one that is not on it, the nearest first."""
    from difflib import get_close_matches

    labels = {str(one): one for one in vocabulary}
    wanted = str(label).casefold()
    folded = {text.casefold(): text for text in labels}
    # Comparing letter by letter takes a second for 100,000 names: of longer lists, only those that contain the words.
    near = get_close_matches(wanted, folded, most, 0.6) if len(folded) <= 100_000 else []
    words = re.compile(rf"\b{re.escape(wanted)}\b")
    near += [text for text in folded if words.search(text) or re.search(rf"\b{re.escape(text)}\b", wanted)][:most]
    return [labels[folded[text]] for text in dict.fromkeys(near)][:most]


def _divisions(path: Path, lines: list[str]) -> list[Division]:
    """Return what may stand between the items of each line."""
    suffix = next((each.lower() for each in path.suffixes if each.lower() in _BY_SUFFIX), None)
    if suffix is not None:
        return [_BY_SUFFIX[suffix]]
    if all(line.startswith("[") for line in lines):
        return ["JSON lists"]
    open_parts = [_without_quoted(line) for line in lines]
    if any("\t" in part for part in open_parts):
        return ["tabs"]
    divisions: list[Division] = [
        division for division in ("commas", "semicolons") if any(_CHARACTERS[division] in part for part in open_parts)
    ]
    if divisions or ".csv" in map(str.lower, path.suffixes):
        return divisions or ["lines"]
    # Numbers have no blanks in them, and who writes quotes has written them round what has blanks.
    if all(part.replace(" ", "").isdecimal() for part in open_parts) or open_parts != lines:
        return ["blanks"]
    return ["blanks", "lines"]


def _divided(path: Path, lines: list[str], division: Division) -> list[list[str]]:
    """Return the items of each line, as texts."""
    itemsets = []
    for number, line in enumerate(lines, 1):
        try:
            items = [item.strip() for item in _items_of(line, division)]
        except (csv.Error, ValueError, RecursionError):
            way = ["items between " + division, 'a JSON list, such as ["whole milk", "tea"]']
            raise InputError(
                f"{path}, itemset {number}: {line[:80]!r} cannot be read as {way[division == 'JSON lists']}."
            ) from None
        items = [item for item in items if item]
        if not items:
            raise InputError(f"{path}, itemset {number}: {line[:80]!r} has no item in it.")
        itemsets.append(list(dict.fromkeys(items)))
    return itemsets


def _items_of(line: str, division: Division) -> list[str]:
    """Return the items of one line, or raise `csv.Error` or `ValueError` where it cannot be read so."""
    if division == "JSON lists":
        items = json.loads(line)
        if not isinstance(items, list) or not all(isinstance(item, str) or is_whole(item) for item in items):
            raise ValueError
        return [str(item) for item in items]
    if division == "lines":
        return [_unquoted(line)]
    if division == "blanks":
        return _words(line)
    reader = csv.reader([line], delimiter=_CHARACTERS[division], strict=True, skipinitialspace=True)
    return next(reader)


def _words(line: str) -> list[str]:
    """Return what stands between blanks; what has blanks itself stands in double quotes."""
    words, place = [], 0
    while place < len(line):
        found = _QUOTED_WORD.match(line, place)
        if found is None:
            raise ValueError  # a double quote is not closed, or stands within a name
        words.append(found[2] if found[1] is None else found[1].replace('""', '"'))
        place = found.end()
    return words


def _without_quoted(line: str) -> str:
    """Return a line without what stands in double quotes."""
    return re.sub(r'"(?:[^"]|"")*"', '""', line)


def _unquoted(line: str) -> str:
    """Return the name of a line; in double quotes as CSV or JSON write it, without them."""
    if len(line) < 2 or not (line[0] == line[-1] == '"'):
        return line
    try:
        name: Any = json.loads(line)
    except ValueError:
        inner = line[1:-1]
        return inner.replace('""', '"') if '"' not in inner.replace('""', "") else line
    return str(name)


def _lines(path: Path, what: Lists | Literal["itemsets"]) -> list[str]:
    """Return the lines of a text file without blanks at their ends."""
    of_items = "--itemsets is a file with one itemset per line."
    try:
        compression = format_of(path, None).compression
    except MisuseError:
        compression = None
    try:
        if path.is_dir():
            raise IsADirectoryError
        encoding = sniff(path, compression, None).encoding
        with opened(path, compression, encoding) as (_, stream):
            content = bytes(stream.read(MAX_LIST_BYTES + 1))
        if len(content) > MAX_LIST_BYTES:
            raise InputError(f"The list of {what} in {path} has over {MAX_LIST_BYTES:,} bytes; it has one per line.")
        return [line.strip() for line in io.StringIO(content.decode("utf-8-sig"))]
    except NobodyError:
        return []
    except FileNotFoundError:
        if what == "itemsets":
            raise InputError(f"There is no file {public_path(path)}: {of_items}") from None
        raise InputError.format(
            "There is no file {path} with a list of {what}. For the {what} found in the data write {public}.",
            path=public_path(path),
            what=what,
            public=render_option(what, "public"),
        ) from None
    except IsADirectoryError:
        raise InputError(f"{path} is a directory: give a file with one per line as the list of {what}.") from None
    except UnicodeDecodeError:
        raise InputError(f"The list of {what} in {path} is not UTF-8 text.") from None
    except OSError as error:
        raise InputError(f"The list of {what} in {path} cannot be read: {error.strerror}.") from None


def _ambiguous(path: Path, readings: dict[Division, list[list[str]]]) -> str:
    """Return what is said of a file that can be read in two ways, with the first line that differs."""
    first, second, *_ = readings.values()
    place = next(place for place, pair in enumerate(zip(first, second, strict=True)) if pair[0] != pair[1])
    ways = " or ".join(
        f"{len(reading[place])} item{'s' if len(reading[place]) > 1 else ''} "
        f"({', '.join(map(repr, reading[place][:3]))}{', …' * (len(reading[place]) > 3)})"
        for reading in (first, second)
    )
    return (
        f"{path}, itemset {place + 1} can be read as {ways}. Nothing was spent. Write a comma between items, or each "
        "line as a JSON list, and names that have blanks or commas in double quotes."
    )
