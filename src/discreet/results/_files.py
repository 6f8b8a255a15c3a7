"""Results in files, and back, in the format of `formats` that the suffix tells.

- **CSV**: one row per pattern or rule. An itemset is in one cell, its items between semicolons, ``milk; tea`` or ``3;
  17``; `cells.py` says which names stand in quotes, so that all of them come back and none is a formula. The column
  `people` repeats the number of people, or `baskets` that of baskets where these are counted; of an exact result
  without rows it is lost, and loads with 0. A private result has columns for its promise too: `model`, `neighbours`,
  `epsilon`, `delta`, `simulated`. All that travels with it is one JSON object in a file beside the table,
  ``patterns.csv.about.json``. The first cell of the column `about` has the name of that file and its digest. A table
  that is written to a stream has no file beside it, and the columns alone. Where nothing was found, one row without
  items carries them. Earlier versions wrote itemsets as JSON arrays and everything into the first cell of `about`:
  such files are read too.
- **JSON**: one object. `discreet` says what it holds and the version of its form: ``patterns/1``, ``rules/1``,
  ``relations/1``. Then come `people`, `guarantee`, `simulated` and all else that `about` holds. `patterns`, `rules` or
  `relations` have one line each. Relations may have `patterns` beside them: the items they are of,
  and `how` says what makes one.
  `hierarchy` has the levels, the level of each item that occurs, and what stands above it, where there is one.
  What is infinite or undefined is null, and so are the counts of a release of patterns only (``"counted": false``).
  Where patterns have intervals, `noise_from` is the place, from 0 on, of the first that reaches down to 0: from there
  on patterns may be held by nobody. It is null where none does.
  Other results are plain values: a comparison of mechanisms is ``comparison/1``, what changed between two results
  ``differences/1``, a forecast ``forecast/1``, a verdict ``verdict/1`` and a ranking ``ranking/1``. Their other files
  have a row for each trial, difference, expectation, attempt or label. JSON, Parquet, Arrow and XLSX have all of it.
- **TSV**: as CSV, with tabulators.
- **Parquet**, **Arrow**: the table of ``to_arrow()``, with the other members of the JSON object in the file's metadata
  under the key `discreet`; of results that are plain values, the whole object.
- **XLSX**: the columns of CSV on the first sheet, and on the second what Parquet has in its metadata.

Supports and measures are written for people and other programs; reading takes the counts and computes them
anew. So is the column `level` that results with a hierarchy have.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, BinaryIO

from ..atomic_write import is_special, open_replacement
from ..errors import InputError
from ._formats import LOOKED_AT, ROW_FORMATS, ResultFormat, format_of, is_page, known_format
from ._loading import UNITS, beside_table, digest_of, load as read_back, needed
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
    """Write the rows of a result to a file, or its report or picture where the suffix is that of one."""
    form = format_of(path, "rows", "page", "picture")
    if "rows" in form.contents:
        save_rows(result.row_source, path, form)
    elif "page" in form.contents:
        page = result.report(title=title)
        with open_replacement(path) as stream:
            stream.write(page.encode())
    else:
        result.plot().save(path)


def save_rows(result: Result, path: str | os.PathLike[str], form: ResultFormat) -> None:
    """Write the rows of a result to a file; an earlier file stays as it is until the new one is complete.

    All that a table of text has no columns for goes into a file beside it, which is written first.
    """
    form.check_installed()
    shown = Path(path)
    if not form.has_file_beside or is_special(shown):
        with open_replacement(path) as stream:
            form.write(result, stream)
        return
    beside, pointer = beside_table(shown), None
    if _has_provenance(result):
        content = json.dumps(header_of(result), ensure_ascii=False, indent=1).encode() + b"\n"
        with open_replacement(beside) as stream:
            stream.write(content)
        pointer = f"{beside.name} sha256:{digest_of(content)}"
    with open_replacement(path) as stream:
        form.write(result, stream, pointer)
    if pointer is None and _is_provenance(beside):
        beside.unlink()  # it was about the table that was replaced


def _is_provenance(path: Path) -> bool:
    """Return whether a file looks like one that stands beside a table."""
    try:
        with path.open("rb") as stream:
            return b'"discreet"' in stream.read(64)
    except OSError:
        return False


def _has_provenance(result: Result) -> bool:
    """Return whether more is known of patterns or rules than their rows and the number of people."""
    if not isinstance(result, Patterns | Rules):
        return False
    relations = isinstance(result, Rules) and result.how is not None
    return result.provenance is not None or result.hierarchy is not None or relations


def write(result: Result, stream: BinaryIO, form: str) -> None:
    """Write the rows of a result to an open binary stream, in the format of a name."""
    ROW_FORMATS[form].check_installed()
    ROW_FORMATS[form].write(result, stream)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a result that its `save` or the command line wrote to a file.

    Parameters
    ----------
    path
        A file of any format of rows; of results that are neither patterns nor rules no ``.csv`` or ``.tsv`` file, which
        has their rows alone.

    Returns
    -------
    Patterns, Rules, Comparison, Differences, Forecast, Verdict or Ranking
        Equal to what was saved. The vocabulary of patterns and rules has only the items that occur in them. The file of
        a release or an outcome holds its patterns, or its relations, which carry all that was promised along.
    """
    return read_back(path, format_of(path))


def load_rows(path: str | os.PathLike[str]) -> Patterns | Rules:
    """Read patterns or rules, and nothing else."""
    found = load(path)
    if not isinstance(found, Patterns | Rules):
        raise InputError(f"{path} holds no patterns or rules, but {found.NOUN}.")
    return found


def holds_result(path: str | os.PathLike[str]) -> bool:
    """Whether a file looks like one that :func:`load` reads; only its beginning or its metadata is looked at."""
    shown = Path(path)
    form = known_format(shown, "rows")
    if form is None or not shown.is_file():
        return False
    try:
        with shown.open("rb") as stream:
            head = stream.read(LOOKED_AT)
        if form.magic:
            return head.startswith(form.magic) and form.has_mark(shown)
    except OSError:
        return False
    if form.name == "json":
        return head.lstrip().startswith(b"{") and b'"discreet"' in head
    line = head.split(b"\n")[0].decode(errors="replace").replace('"', "").strip("\r\ufeff")
    names = set(line.replace("\t", ",").split(","))
    return any({*needed(kind), unit} <= names for kind in ("patterns", "rules") for unit in UNITS)
