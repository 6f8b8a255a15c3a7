"""Results in files, and back: CSV, JSON and Parquet, chosen by the suffix.

- **CSV**: one row a pattern or rule. An itemset is the text of a JSON array in one cell, ``["milk", "tea"]``
  or ``[3, 17]``, so that commas, quotes and spaces in names, and the name "3" beside the number 3, all come
  back. The column `people` repeats the number of people; of an exact result without rows it is lost, and loads with 0.
  A private result has columns for its promise too (`model`, `neighbours`, `epsilon`, `delta`, `simulated`), and all
  that travels with it as one JSON object in the first cell of the column `about`. Where nothing was found, one row
  without items carries them.
- **JSON**: one object with `discreet` (what it holds and the version of its form: ``patterns/1``,
  ``rules/1``, ``relations/1``), `people`, `guarantee`, `simulated` and all else that `about` holds, and `patterns`,
  `rules` or `relations`, one line each. Relations may have `patterns` beside them: the items they are of.
  What is infinite or undefined is null, and so are the counts of a release of patterns only (``"counted": false``).
- **Parquet**: the table of ``to_arrow()``, with the other members of the JSON object in the file's metadata
  under the key `discreet`.

Supports and measures are written for people and other programs; reading takes the counts and computes them
anew.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, NoReturn, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, MisuseError
from .checks import as_written
from .itemsets import Itemsets, in_label_order
from .measures import Ends
from .patterns import Patterns
from .promise import shown
from .rules import BOUNDS, COUNTS, ENDS, Rules
from .writing import written

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Format", "format_of", "holds_result", "load", "save", "write", "written"]

Format: TypeAlias = Literal["csv", "json", "parquet"]
Result: TypeAlias = Patterns | Rules

# Rows turned into text at a time.
_STRIDE = 100_000

# What a file says of a result about which nothing is promised, and what it says besides `about`.
_EXACT = {"guarantee": None, "simulated": False}
_OWN = {"discreet", "people", "people_low", "people_high", "omitted", "counted"}
# The columns of a CSV file that repeat what was promised, for whoever looks at it, and the one that has all of it.
_PROMISE = ("model", "neighbours", "epsilon", "delta")
_ALL = "about"
_FARTHEST = 100  # digits before or after the point of a number that is written out
_WITHIN = ("people_low", "people_high")
_KINDS = ("patterns", "rules", "relations")


def format_of(path: str | os.PathLike[str]) -> Format:
    """Return the format that the suffix of `path` stands for."""
    suffix = Path(path).suffix.lower().removeprefix(".")
    for known in get_args(Format):
        if suffix == known:
            return known  # type: ignore[no-any-return]
    given = f"ends in .{suffix}" if suffix else "has no suffix"
    raise MisuseError(f"{Path(path)} {given}, but results are kept in .csv, .json or .parquet files.")


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
            _write_objects(columns, stream, first=start == 0)
        else:
            _write_cells(columns | _promise_columns(part, len(part), told=start == 0), stream)
    if form == "json":
        stream.write(b"\n]}\n")


def _kind(result: Result) -> str:
    return "patterns" if isinstance(result, Patterns) else result.kind


def _about(result: Result) -> dict[str, Any]:
    own: dict[str, Any] = {"discreet": f"{_kind(result)}/1", "people": result.people}
    if result.people_within is not None:
        own["people_low"], own["people_high"] = result.people_within
    if isinstance(result, Rules):
        own["omitted"] = result.omitted
    elif not result.counted:
        own["counted"] = False
    return own | (_EXACT if result.about is None else dict(result.about))


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


def _promise_columns(result: Result, rows: int, told: bool = True) -> dict[str, Any]:
    """Return what a CSV file repeats in every row: the people, and what was promised; with all of it in the first."""
    import pyarrow as pa

    columns: dict[str, Any] = {"people": np.full(rows, result.people)}
    if result.people_within is not None:
        columns |= {name: np.full(rows, end) for name, end in zip(_WITHIN, result.people_within, strict=True)}
    if result.about is None:
        return columns
    for name, value in _promised(result.about).items():
        columns[name] = pa.array([value] * rows, pa.large_string())
    columns["simulated"] = np.full(rows, bool(result.about.get("simulated")))
    columns[_ALL] = pa.array(
        [json.dumps(_about(result)) if told and not row else None for row in range(rows)], pa.large_string()
    )
    return columns


def _promised(about: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the promise as a table repeats it: numbers as a person would write them."""
    promised = about.get("guarantee")
    told: dict[str, str | None] = dict.fromkeys(_PROMISE)
    if isinstance(promised, Mapping):
        told |= {name: str(promised.get(name)) for name in _PROMISE}
        told |= {name: _plainly(str(promised[name])) for name in ("epsilon", "delta") if name in promised}
    return told


def _plainly(number: str) -> str:
    """Return an exact number as a person would write it; what is none comes back as it is."""
    exact = as_written(number)
    if exact is None or (isinstance(exact, Decimal) and abs(exact.adjusted()) > _FARTHEST):
        return number
    return shown(Fraction(exact))


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


def load(path: str | os.PathLike[str]) -> Result:
    """Read patterns or rules that their `save` or the command line wrote to a file.

    Parameters
    ----------
    path
        A ``.csv``, ``.json`` or ``.parquet`` file.

    Returns
    -------
    Patterns or Rules
        Equal to what was saved. The vocabulary has only the items that occur in it.
    """
    form = format_of(path)
    shown = Path(path)
    try:
        content = shown.read_bytes()
    except FileNotFoundError:
        raise InputError(f"There is no file {shown}.") from None
    except OSError as error:
        raise InputError(f"{shown} cannot be read: {error.strerror}.") from None
    return {"csv": _load_csv, "json": _load_json, "parquet": _load_parquet}[form](shown, content)


def holds_result(path: str | os.PathLike[str]) -> bool:
    """Whether a file looks like one that :func:`load` reads; only its beginning or its metadata is looked at."""
    shown = Path(path)
    suffix = shown.suffix.lower()
    if suffix not in (".csv", ".json", ".parquet") or not shown.is_file():
        return False
    if suffix == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            return b"discreet" in (pq.read_schema(shown).metadata or {})
        except (pa.ArrowException, OSError):
            return False
    try:
        with shown.open("rb") as stream:
            head = stream.read(4096)
    except OSError:
        return False
    if suffix == ".json":
        return head.lstrip().startswith(b"{") and b'"discreet"' in head
    names = head.split(b"\n")[0].decode(errors="replace").replace('"', "").strip("\r\ufeff").split(",")
    return any({*_needed(kind), "people"} <= set(names) for kind in ("patterns", "rules"))


def _load_parquet(path: Path, content: bytes) -> Result:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(pa.BufferReader(content))
    except pa.ArrowException as error:
        raise InputError(f"{path} cannot be read as Parquet: {_first_line(error)}.") from None
    about = json.loads((table.schema.metadata or {}).get(b"discreet", b"{}"))
    kind = _known_kind(path, about)
    return _build(path, kind, {name: table[name] for name in table.column_names}, about)


def _load_json(path: Path, content: bytes) -> Result:
    try:
        about = json.loads(content)
    except RecursionError:
        raise InputError(f"{path} cannot be read: its brackets are nested too deeply.") from None
    except ValueError as error:
        raise InputError(f"{path} cannot be read as JSON: {error}.") from None
    kind = _known_kind(path, about)
    rows = about.get(kind)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError(f"{path}: {kind!r} must be a list of objects.")
    columns: dict[str, Any] = {}
    optional = [name for name in ("low", "high", *BOUNDS, *ENDS) if rows and name in rows[0]]
    for name in (*_needed(kind), *optional):
        try:
            columns[name] = [row[name] for row in rows]
        except KeyError:
            number = next(number for number, row in enumerate(rows, 1) if name not in row)
            raise InputError(f"{path}: number {number} of the {kind} has no {name!r}.") from None
    return _build(path, kind, columns, about)


def _load_csv(path: Path, content: bytes) -> Result:
    import pyarrow as pa
    import pyarrow.csv as csv

    whole, real, text = pa.int64(), pa.float64(), pa.large_string()
    types = dict.fromkeys(("items", "antecedent", "consequent", *_PROMISE, _ALL), text) | {"simulated": pa.bool_()}
    types |= dict.fromkeys(("low", "high", *BOUNDS, *ENDS), real)
    types |= dict.fromkeys(("people", *_WITHIN, *COUNTS), whole)
    try:
        table = csv.read_csv(
            pa.BufferReader(content),
            read_options=csv.ReadOptions(block_size=1 << 25),
            # What is blank is not there: a row without items carries what is known of a result without patterns.
            convert_options=csv.ConvertOptions(
                column_types=types, strings_can_be_null=True, quoted_strings_can_be_null=False
            ),
        )
    except pa.ArrowException as error:
        raise InputError(f"{path} cannot be read as CSV: {_first_line(error)}.") from None
    kind = "rules" if "antecedent" in table.column_names else "patterns"
    absent = [name for name in (*_needed(kind), "people") if name not in table.column_names]
    if absent:
        raise InputError(
            f"{path} has no column {absent[0]!r}; it has {', '.join(table.column_names)}. "
            "Patterns have items, count, support, people; to read baskets use discreet.read()."
        )
    about = _told(path, kind, table)
    held = table.filter(table[_sides(kind)[0]].is_valid())
    columns: dict[str, Any] = {name: held[name] for name in held.column_names}
    for name in _sides(kind):
        columns[name] = _parse_cells(path, held[name].to_pylist())
    # A column of counts without a single one is how patterns only look here.
    counted = not len(held) or held["count"].null_count < len(held)
    return _build(path, about.pop("kind", kind), columns, {"counted": counted, **about})


def _told(path: Path, kind: str, table: pa.Table) -> dict[str, Any]:
    """Return what the columns that repeat themselves say: the people, and what was promised."""
    about: dict[str, Any] = {"people": 0}
    for name in ("people", *_WITHIN, *_PROMISE, "simulated", _ALL):
        values = table[name].drop_null().unique().to_pylist() if name in table.column_names else []
        if len(values) > 1:
            raise InputError(f"{path}: the column {name!r} must be the same in all rows, but has {len(values)} values.")
        if values:
            about[name] = values[0]
    promised = {name: about.pop(name) for name in _PROMISE if name in about}
    promised |= {name: _plainly(promised[name]) for name in ("epsilon", "delta") if name in promised}
    whole = about.pop(_ALL, None)
    if whole is None:  # the row that had it was removed: what the other rows repeat is left
        return about | ({"guarantee": promised} if promised else {})
    try:
        told = json.loads(whole)
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, dict):
        raise InputError(f"{path}: the column {_ALL!r} does not hold what discreet wrote there.")
    known = _known_kind(path, told)
    if (known == "patterns") != (kind == "patterns"):
        raise InputError(f"{path}: the column {_ALL!r} speaks of {known}, and the table has {kind}.")
    stated = {name: value for name, value in _promised(told).items() if value is not None}
    repeated = told | {"simulated": bool(told.get("simulated"))}
    if promised != stated or any(repeated.get(name) != value for name, value in about.items()):
        raise InputError(f"{path}: its columns say something else than the column {_ALL!r}: it was changed by hand.")
    return {**told, "kind": known}


def _parse_cells(path: Path, cells: list[str]) -> list[Any]:
    try:
        parsed: list[Any] = json.loads("[" + ",".join(cells) + "]")
        if len(parsed) == len(cells):
            return parsed
    except (ValueError, TypeError):
        pass
    for line, cell in enumerate(cells, 2):
        try:
            json.loads(cell)
        except (ValueError, TypeError):
            raise InputError(
                f"{path}, line {line}: {cell!r} is not an itemset; write it as a JSON array, such as "
                '["milk", "tea"] or [3, 17].'
            ) from None
    raise InputError(f'{path}: the itemsets are not JSON arrays, such as ["milk", "tea"] or [3, 17].')


def _known_kind(path: Path, about: Any) -> str:
    tag = about.get("discreet") if isinstance(about, dict) else None
    for kind in _KINDS:
        if tag == f"{kind}/1":
            return kind
    found = f"its form is {tag!r}" if tag is not None else "it does not say 'discreet'"
    raise InputError(
        f"{path} holds no patterns or rules of this version of discreet ({found}; known are 'patterns/1', 'rules/1' "
        "and 'relations/1'). To read baskets use discreet.read()."
    )


def _sides(kind: str) -> tuple[str, ...]:
    return ("items",) if kind == "patterns" else ("antecedent", "consequent")


def _needed(kind: str) -> tuple[str, ...]:
    return (*_sides(kind), *(("count",) if kind == "patterns" else COUNTS))


def _build(path: Path, kind: str, columns: dict[str, Any], about: dict[str, Any]) -> Result:
    """Make the result from columns that are Arrow arrays or Python lists."""
    absent = [name for name in _needed(kind) if name not in columns]
    if absent:
        raise InputError(f"{path} has no column {absent[0]!r}; it has {', '.join(columns)}.")
    people = about.get("people")
    if not isinstance(people, int) or people < 0:
        raise InputError(f"{path}: 'people' is {people!r}, but it must be a whole number.")
    within = _within(path, about)
    counted = kind != "patterns" or about.get("counted") is not False
    names = [name for name in _needed(kind) if name in COUNTS and counted]
    counts = {COUNTS[name]: _whole_numbers(path, name, columns[name]) for name in names}
    sides, vocabulary = _itemsets(path, [columns[name] for name in _sides(kind)])
    travels = {name: value for name, value in about.items() if name not in {*_OWN, kind}}
    promised = None if travels in ({}, _EXACT) else travels
    low, high = (
        _bound(path, name, columns.get(name)) if counted else None
        for name in (("low", "high") if kind == "patterns" else BOUNDS)
    )
    if kind == "patterns":
        return Patterns(
            offsets=sides[0].offsets,
            codes=sides[0].codes,
            counts=counts.get("counts", np.zeros(len(sides[0]), np.int64)),
            vocabulary=vocabulary,
            people=people,
            low=low,
            high=high,
            about=promised,
            counted=counted,
            people_within=within,
        )
    return Rules(
        antecedents=sides[0],
        consequents=sides[1],
        counts=counts["counts"],
        antecedent_counts=counts["antecedent_counts"],
        consequent_counts=counts["consequent_counts"],
        vocabulary=vocabulary,
        people=people,
        omitted=about.get("omitted", 0),
        low=low,
        high=high,
        about=promised,
        kind="relations" if kind == "relations" else "rules",
        people_within=within,
        ends=_ends(path, columns),
    )


def _within(path: Path, about: Mapping[str, Any]) -> tuple[int, int] | None:
    """Return the interval of the number of people, where there is one."""
    few, many = (about.get(name) for name in _WITHIN)
    if few is None and many is None:
        return None
    if not isinstance(few, int) or not isinstance(many, int) or not 0 <= few <= many:
        raise InputError(f"{path}: 'people_low' and 'people_high' are {few!r} and {many!r}, but must be an interval.")
    return few, many


def _ends(path: Path, columns: Mapping[str, Any]) -> tuple[Ends, Ends, Ends] | None:
    """Return the intervals of the three counts of each rule, where all are there."""
    found = [end for end in (_bound(path, name, columns.get(name)) for name in ENDS) if end is not None]
    if len(found) < len(ENDS):
        return None
    return (found[0], found[1]), (found[2], found[3]), (found[4], found[5])


def _itemsets(path: Path, columns: list[Any]) -> tuple[list[Itemsets], Any]:
    """Return the columns of lists as itemsets over one vocabulary."""
    import pyarrow as pa

    parts = [_lists(path, column) for column in columns]
    sizes = np.concatenate([lengths for lengths, _ in parts])
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64, copy=False)
    try:
        values = pa.concat_arrays([flat for _, flat in parts if len(flat)] or [pa.array([], pa.int64())])
    except pa.ArrowInvalid:
        _refuse_items(path)
    itemsets, vocabulary = in_label_order(offsets, values.dictionary_encode())
    inside = np.repeat(np.arange(len(sizes)), sizes)
    repeated = np.flatnonzero((np.diff(inside) == 0) & (np.diff(itemsets.codes) == 0))
    if len(repeated):
        label = vocabulary.label(itemsets.codes[repeated[0]])
        raise InputError(f"{path}: an itemset holds {label!r} twice.")
    rows = len(parts[0][0])
    return [itemsets.cut(side * rows, (side + 1) * rows) for side in range(len(parts))], vocabulary


def _lists(path: Path, column: Any) -> tuple[Any, pa.Array]:
    """Return how long each list is, and all their values end to end, as int64 or as text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(column, list):
        if not all(isinstance(cell, list) for cell in column):
            _refuse_items(path)
        lengths = np.fromiter(map(len, column), np.int64, len(column))
        try:
            flat = pa.array([label for cell in column for label in cell])
        except (pa.ArrowException, ValueError, TypeError, OverflowError):
            _refuse_items(path)
    else:
        lists = column.combine_chunks()
        if not (pa.types.is_list(lists.type) or pa.types.is_large_list(lists.type)) or lists.null_count:
            _refuse_items(path)
        lengths, flat = pc.list_value_length(lists).to_numpy().astype(np.int64), lists.flatten()
    if len(flat) == 0:
        return lengths, pa.array([], pa.int64())
    named = pa.types.is_string(flat.type) or pa.types.is_large_string(flat.type)
    if flat.null_count or not (named or pa.types.is_signed_integer(flat.type)):
        _refuse_items(path)
    return lengths, flat.cast(pa.large_string() if named else pa.int64())


def _refuse_items(path: Path) -> NoReturn:
    raise InputError(f"{path}: items must be all whole numbers or all names, in lists.")


def _whole_numbers(path: Path, name: str, column: Any) -> NDArray[np.int64]:
    import pyarrow as pa

    values = _numbers(path, name, column)
    if values.null_count or not (pa.types.is_integer(values.type) or len(values) == 0):
        raise InputError(f"{path}: {name!r} must hold whole numbers.")
    return np.array(values, np.int64)


def _bound(path: Path, name: str, column: Any) -> NDArray[np.float64] | None:
    return None if column is None else np.array(_numbers(path, name, column), np.float64)


def _numbers(path: Path, name: str, column: Any) -> pa.Array:
    import pyarrow as pa

    try:
        values = pa.array(column) if isinstance(column, list) else column.combine_chunks()
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        raise InputError(f"{path}: {name!r} must hold numbers.") from None
    if not any(kind(values.type) for kind in (pa.types.is_integer, pa.types.is_floating, pa.types.is_null)):
        raise InputError(f"{path}: {name!r} must hold numbers.")
    return values.cast(pa.float64()) if pa.types.is_null(values.type) else values


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
