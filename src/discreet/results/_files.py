"""Results in files: saved and loaded in the format of the suffix.

- **CSV**: one row per pattern or rule. An itemset is in one cell, its items between semicolons, ``milk; tea`` or ``3;
  17``; `cells.py` puts some names in quotes, so that every name is read back and no cell is a formula. The column
  `people` repeats the number of people, or `baskets` the number of baskets; an exact result without rows loses it, and
  loads with 0. A private result repeats its guarantee in columns: `model`, `neighbours`, `epsilon`, `delta`,
  `simulated`. The whole header is one JSON object in a file beside the table, ``patterns.csv.about.json``. The first
  cell of the column `about` has the name of this file and its digest. A table written to a stream has no file beside
  it, and the columns alone. A result without patterns has one row without items, which carries the columns. Earlier
  versions wrote itemsets as JSON arrays and the whole header into the first cell of `about`: their files are read too.
- **JSON**: one object. `discreet` states the content and the version of its form: ``patterns/1``, ``rules/1``,
  ``relations/1``. Then come `people`, `guarantee`, `simulated` and the other fields of `about`. `patterns`, `rules` or
  `relations` have one line per row. Relations may have `patterns`, the items of their pairs, and `how`, their kind.
  `hierarchy` has the levels, the level of each item, and the items above it.
  Infinite and undefined numbers are null, and so are the counts of a release of patterns only (``"counted": false``).
  For patterns with intervals, `noise_from` is the row, from 0 on, of the first interval that reaches down to 0: from
  this row on, patterns may have no holder. It is null without such an interval.
  Other results are plain values: a comparison of mechanisms is ``comparison/1``, the differences of two results
  ``differences/1``, a forecast ``forecast/1``, a verdict ``verdict/1`` and a ranking ``ranking/1``. Their tables have a
  row for each trial, difference, expectation, attempt or label. JSON, Parquet, Arrow and XLSX have all values.
- **TSV**: as CSV, with tabulators.
- **Parquet**, **Arrow**: the table of ``to_arrow()``, with the other members of the JSON object in the file's metadata
  under the key `discreet`; of results that are plain values, the whole object.
- **XLSX**: the columns of CSV on the first sheet, and the header on the second.

Supports, measures and the column `level` are written for people and other programs; reading computes them anew from the
counts and the hierarchy.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, BinaryIO

from ..atomic_write import is_special, open_replacement
from ..errors import InputError
from ._formats import HEAD_BYTES, ROW_FORMATS, ResultFormat, find_format, format_of, is_page
from ._loading import UNITS, beside_table, compute_digest, load as read_back, required_columns
from ._patterns import Patterns
from ._result import Result
from ._rules import Rules
from ._writing import header_of

__all__ = [
    "beside_table",
    "format_of",
    "holds_result",
    "is_page",
    "load",
    "load_rows",
    "save",
    "save_rows",
    "write",
]


def save(result: Result, path: str | os.PathLike[str], *, title: str | None = None) -> None:
    """Write the rows of a result to a file, or its report or picture, by the suffix."""
    # The format decides before anything is computed: a wrong suffix costs no rendering of a page.
    form = format_of(path, "rows", "page", "picture")
    # The rows of a release are its patterns or relations: the same file as of these alone.
    if "rows" in form.contents:
        save_rows(result.row_source, path, form)
    elif "page" in form.contents:
        page = result.report(title=title)
        with open_replacement(path) as stream:
            stream.write(page.encode())
    else:
        result.plot().save(path)


def save_rows(result: Result, path: str | os.PathLike[str], form: ResultFormat) -> None:
    """Write the rows of a result to a file; an earlier file remains until the new file is complete.

    The header of a table of text goes into a file beside it, which is written first.
    """
    # A missing package is reported before the earlier file is touched.
    form.check_installed()
    file = Path(path)
    if not form.has_file_beside or is_special(file):
        with open_replacement(path) as stream:
            form.write(result, stream)
        return
    # The header comes first: a table without its header would be read back without a guarantee.
    about_path, pointer = beside_table(file), None
    if _has_provenance(result):
        content = json.dumps(header_of(result), ensure_ascii=False, indent=1).encode() + b"\n"
        with open_replacement(about_path) as stream:
            stream.write(content)
        pointer = f"{about_path.name} sha256:{compute_digest(content)}"
    with open_replacement(path) as stream:
        form.write(result, stream, pointer)
    if pointer is None and _is_provenance(about_path):
        about_path.unlink()  # it belongs to the replaced table


def _is_provenance(path: Path) -> bool:
    """Return whether a file looks like the file beside a table."""
    try:
        with path.open("rb") as stream:
            # Only a file that discreet wrote is removed: a user may have a file of this name.
            return b'"discreet"' in stream.read(64)
    except OSError:
        return False


def _has_provenance(result: Result) -> bool:
    """Return whether a header has more than the number of people."""
    if not isinstance(result, Patterns | Rules):
        return False
    relations = isinstance(result, Rules) and result.how is not None
    return result.provenance is not None or result.hierarchy is not None or relations


def write(result: Result, stream: BinaryIO, form: str) -> None:
    """Write the rows of a result to an open binary stream, in a format given by name."""
    ROW_FORMATS[form].check_installed()
    ROW_FORMATS[form].write(result, stream)


def load(path: str | os.PathLike[str]) -> Any:
    """Return the result of a file that its `save` or the command line wrote.

    Parameters
    ----------
    path
        A file of any format of rows. A ``.csv`` or ``.tsv`` file of a result other than patterns and rules cannot be
        read, as it has the rows alone.

    Returns
    -------
    Patterns, Rules, Comparison, Differences, Forecast, Verdict or Ranking
        Equal to the saved result. The vocabulary of patterns and rules has the occurring items alone. The file of a
        release or an outcome has its patterns, or its relations, with their guarantee.
    """
    return read_back(path, format_of(path))


def load_rows(path: str | os.PathLike[str]) -> Patterns | Rules:
    """Return the patterns or rules of a file; any other result is an error."""
    result = load(path)
    if not isinstance(result, Patterns | Rules):
        raise InputError(f"{path} holds no patterns or rules, but {result.NOUN}.")
    return result


def holds_result(path: str | os.PathLike[str]) -> bool:
    """Return whether the start of a file, or its metadata, looks like a result that :func:`load` reads."""
    file = Path(path)
    form = find_format(file, "rows")
    # A folder may have the suffix of a result, and data sets of several files do.
    if form is None or not file.is_file():
        return False
    try:
        with file.open("rb") as stream:
            head = stream.read(HEAD_BYTES)
        if form.magic:
            return head.startswith(form.magic) and form.has_mark(file)
    except OSError:
        return False
    # The start suffices: the key `discreet` is the first that a writer writes.
    if form.name == "json":
        return head.lstrip().startswith(b"{") and b'"discreet"' in head
    line = head.split(b"\n")[0].decode(errors="replace").replace('"', "").strip("\r\ufeff")
    names = set(line.replace("\t", ",").split(","))
    return any({*required_columns(kind), unit} <= names for kind in ("patterns", "rules") for unit in UNITS)
