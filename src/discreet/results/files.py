"""Results in files, and back: CSV, JSON and Parquet, chosen by the suffix.

- **CSV**: one row per pattern or rule. An itemset is the text of a JSON array in one cell, ``["milk", "tea"]`` or ``[3,
  17]``. So commas, quotes and spaces in names, and the name "3" beside the number 3, all come back. The column `people`
  repeats the number of people, or `baskets` that of baskets where these are counted; of an exact result without rows it
  is lost, and loads with 0. A private result has columns for its promise too: `model`, `neighbours`, `epsilon`,
  `delta`, `simulated`. All that travels with it is one JSON object in the first cell of the column `about`. Where
  nothing was found, one row without items carries them.
- **JSON**: one object. `discreet` says what it holds and the version of its form: ``patterns/1``, ``rules/1``,
  ``relations/1``. Then come `people`, `guarantee`, `simulated` and all else that `about` holds. `patterns`, `rules` or
  `relations` have one line each. Relations may have `patterns` beside them: the items they are of,
  and `how` says what makes one.
  `hierarchy` has the levels, the level of each item that occurs, and what stands above it, where there is one.
  What is infinite or undefined is null, and so are the counts of a release of patterns only (``"counted": false``).
  A comparison of mechanisms is ``comparison/1``, and what changed between two results ``differences/1``.
- **Parquet**: the table of ``to_arrow()``, with the other members of the JSON object in the file's metadata
  under the key `discreet`.

Supports and measures are written for people and other programs; reading takes the counts and computes them
anew. So is the column `level` that results with a hierarchy have.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, TypeAlias, get_args

import numpy as np

from ..atomic_write import written
from ..baskets.database_messages import public_path
from ..errors import InputError, MisuseError
from .levels import told_hierarchy
from .loading import ALL, EXACT, UNITS, Result, needed, promised_texts, within_of
from .loading import load as read_back
from .patterns import Patterns
from .rules import Rules
from .untrusted import translated

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Format", "format_of", "holds_result", "is_page", "load", "load_rows", "save", "write", "written"]

Format: TypeAlias = Literal["csv", "json", "parquet"]

# Rows turned into text at a time.
_STRIDE = 100_000


def format_of(path: str | os.PathLike[str]) -> Format:
    """Return the format that the suffix of `path` stands for."""
    suffix = Path(path).suffix.lower().removeprefix(".")
    for known in get_args(Format):
        if suffix == known:
            return known  # type: ignore[no-any-return]
    named = Path(public_path(path))  # an address is no place for a result, and may have a secret
    suffix = suffix and named.suffix.lower().removeprefix(".")
    given = f"ends in .{suffix}" if suffix else "has no suffix"
    raise MisuseError(f"{named} {given}, but results are kept in .csv, .json or .parquet files.")


def is_page(path: str | os.PathLike[str]) -> bool:
    """Whether the suffix of `path` is that of a page."""
    return Path(path).suffix.lower() in (".html", ".htm")


def save(result: Result, path: str | os.PathLike[str]) -> None:
    """Write patterns or rules to a file; an earlier file stays as it is until the new one is complete."""
    form = format_of(path)
    with written(path) as stream:
        write(result, stream, form)


def write(result: Result, stream: BinaryIO, form: Format) -> None:
    """Write patterns or rules to an open binary stream."""
    if form == "parquet":
        import pyarrow.parquet as pq

        about = {"discreet": json.dumps(_about(result))}
        pq.write_table(result.to_arrow().replace_schema_metadata(about), stream, compression="zstd")
        return
    if form == "json":
        head = json.dumps(_about(result))[1:-1]
        stream.write(f'{{{head},\n"{_kind(result)}": ['.encode())
    else:
        stream.write((",".join({**_text_columns(result[:0]), **_promise_columns(result, 0)}) + "\n").encode())
        if not len(result) and result.about is not None:
            _write_cells(_carrier(result), stream)
    for start in range(0, len(result), _STRIDE):
        part = result[start : start + _STRIDE]
        columns = _text_columns(part)
        if form == "json":
            columns |= _quoted(columns)
            _write_objects(columns, stream, first=start == 0)
        else:
            _write_cells(columns | _promise_columns(part, len(part), told=start == 0), stream)
    if form == "json":
        stream.write(b"\n]}\n")


def _kind(result: Result) -> str:
    return "patterns" if isinstance(result, Patterns) else result.kind


def _about(result: Result) -> dict[str, Any]:
    own: dict[str, Any] = {"discreet": f"{_kind(result)}/1", result.unit: result.people}
    if result.people_within is not None:
        own |= dict(zip(within_of(result.unit), result.people_within, strict=True))
    if isinstance(result, Rules):
        own |= {"omitted": result.omitted, "tested": result.tested}
        if result.how is not None:
            own["how"] = result.how
    elif not result.counted:
        own["counted"] = False
    if result.hierarchy is not None:
        own["hierarchy"] = told_hierarchy(result)
    return own | (EXACT if result.about is None else dict(result.about))


def _text_columns(part: Result) -> dict[str, Any]:
    """Return the columns of a part of a table with itemsets as JSON text."""
    table = part.to_arrow()
    columns: dict[str, Any] = {name: table[name].combine_chunks() for name in table.column_names}
    if isinstance(part, Patterns):
        columns["items"] = part.itemsets.to_json(part.vocabulary)
    else:
        columns["antecedent"] = part.antecedents.to_json(part.vocabulary)
        columns["consequent"] = part.consequents.to_json(part.vocabulary)
    return columns


def _quoted(columns: dict[str, Any]) -> dict[str, Any]:
    """Return the columns of texts as JSON has them."""
    import pyarrow as pa

    if "level" not in columns:
        return {}
    return {"level": pa.array([json.dumps(level) for level in columns["level"].to_pylist()], pa.large_string())}


def _promise_columns(result: Result, rows: int, told: bool = True) -> dict[str, Any]:
    """Return what a CSV file repeats in every row: the people, and what was promised; with all of it in the first."""
    import pyarrow as pa

    columns: dict[str, Any] = {result.unit: np.full(rows, result.people)}
    if result.people_within is not None:
        ends = zip(within_of(result.unit), result.people_within, strict=True)
        columns |= {name: np.full(rows, end) for name, end in ends}
    if result.about is None and result.hierarchy is None and (isinstance(result, Patterns) or result.how is None):
        return columns
    if result.about is not None:
        for name, value in promised_texts(result.about).items():
            columns[name] = pa.array([value] * rows, pa.large_string())
        columns["simulated"] = np.full(rows, bool(result.about.get("simulated")))
    columns[ALL] = pa.array(
        [json.dumps(_about(result)) if told and not row else None for row in range(rows)], pa.large_string()
    )
    return columns


def _carrier(result: Result) -> dict[str, Any]:
    """Return one row without items that carries the promise of a result in which nothing was found."""
    import pyarrow as pa

    blank = {name: pa.nulls(1, pa.large_string()) for name in _text_columns(result[:0])}
    return blank | _promise_columns(result, 1)


def _write_cells(columns: dict[str, Any], stream: BinaryIO) -> None:
    import pyarrow as pa
    import pyarrow.csv as csv

    options = csv.WriteOptions(include_header=False, batch_size=_STRIDE)
    csv.write_csv(pa.table(columns), stream, options)


def _write_objects(columns: dict[str, Any], stream: BinaryIO, first: bool) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    def constant(text: str) -> pa.Scalar:
        return pa.scalar(text, pa.large_string())

    pieces: list[Any] = []
    for place, (name, column) in enumerate(columns.items()):
        pieces.append(constant(f'{", " if place else "{"}"{name}": '))
        texts = column.cast(pa.large_string())
        if pa.types.is_floating(column.type):
            texts = pc.if_else(pc.is_finite(column), texts, constant("null"))
        pieces.append(texts.fill_null("null"))
    lines = pc.binary_join_element_wise(*pieces, constant("}"), constant(""))
    joined = pc.binary_join(
        pa.LargeListArray.from_arrays(pa.array([0, len(lines)], pa.int64()), lines), constant(",\n")
    )
    stream.write(b"\n" if first else b",\n")
    stream.write(joined[0].as_buffer())


def load(path: str | os.PathLike[str]) -> Any:
    """Read a result that its `save` or the command line wrote to a file.

    Parameters
    ----------
    path
        A ``.csv``, ``.json`` or ``.parquet`` file; of comparisons and differences a ``.json`` file.

    Returns
    -------
    Patterns, Rules, Comparison or Differences
        Equal to what was saved. The vocabulary of patterns and rules has only the items that occur in them.
    """
    from .comparison import FORM as COMPARISON
    from .comparison import Comparison
    from .differences import FORM, Differences

    return read_back(path, format_of(path), {COMPARISON: Comparison.from_dict, FORM: Differences.from_dict})


def load_rows(path: str | os.PathLike[str]) -> Result:
    """Read patterns or rules, and nothing else."""
    found: Result = read_back(path, format_of(path))
    return found


def holds_result(path: str | os.PathLike[str]) -> bool:
    """Whether a file looks like one that :func:`load` reads; only its beginning or its metadata is looked at."""
    shown = Path(path)
    suffix = shown.suffix.lower()
    if suffix not in (".csv", ".json", ".parquet") or not shown.is_file():
        return False
    if suffix == ".parquet":
        import pyarrow.parquet as pq

        try:
            with translated(shown, "Parquet"):
                return b"discreet" in (pq.read_schema(shown).metadata or {})
        except InputError:
            return False
    try:
        with shown.open("rb") as stream:
            head = stream.read(4096)
    except OSError:
        return False
    if suffix == ".json":
        return head.lstrip().startswith(b"{") and b'"discreet"' in head
    names = head.split(b"\n")[0].decode(errors="replace").replace('"', "").strip("\r\ufeff").split(",")
    return any({*needed(kind), unit} <= set(names) for kind in ("patterns", "rules") for unit in UNITS)
