"""Files of results become results again: whatever a file says is checked before anything is made of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..baskets.core import Unit
from ..baskets.database_messages import public_path
from ..baskets.hierarchy import Hierarchy
from ..baskets.parquet import declared
from ..errors import InputError
from ..temporary import passing_folder
from .itemsets import Itemsets, in_label_order
from .measures import Ends
from .patterns import Patterns
from .promise import shown
from .rules import BOUNDS, COUNTS, ENDS, HOWS, P_VALUES, How, Rules
from .untrusted import MOST, check_about, exact_number, parse, parse_about, translated

if TYPE_CHECKING:
    import pyarrow as pa

Result: TypeAlias = Patterns | Rules

# What a file says of a result about which nothing is promised, and what it says besides `about`.
EXACT = {"guarantee": None, "simulated": False}
_OWN = {"discreet", "unit", "people", "people_low", "people_high", "omitted", "tested", "counted", "hierarchy", "how"}
# The columns of a CSV file that repeat what was promised, for whoever looks at it, and the one that has all of it.
PROMISE = ("model", "neighbours", "epsilon", "delta")
_LOSSES = ("epsilon", "delta")
ALL = "about"
WITHIN = ("people_low", "people_high")
UNITS: tuple[Unit, ...] = ("people", "baskets")
# Bytes of a file that is read back, and rows for each byte of a table.
_LARGEST, _FOLDED = 1 << 32, 1 << 8
_KINDS = ("patterns", "rules", "relations")
# What says more than a table can hold.
_WHOLE_IN_JSON = {"comparison/1": "comparison", "differences/1": "list of differences"}
# What else JSON files may hold, by what they say of themselves: from a file and its values.
Others: TypeAlias = Mapping[str, Callable[[Path, dict[str, Any]], Any]]


def promised_texts(about: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the promise as a table repeats it: numbers as a person would write them."""
    promised = about.get("guarantee")
    told: dict[str, str | None] = dict.fromkeys(PROMISE)
    if not isinstance(promised, Mapping):
        return told
    for name in PROMISE:
        if (value := promised.get(name)) is not None:
            told[name] = _plainly(value) if name in _LOSSES else str(value)
    return told


def _plainly(number: object) -> str:
    """Return an exact number as a person would write it; what is none comes back as it is."""
    try:
        return shown(exact_number(number))
    except (ValueError, ZeroDivisionError, OverflowError):
        return str(number)


def load(path: str | os.PathLike[str], form: str, others: Others | None = None) -> Any:
    """Read patterns or rules from a file of a format, or what `others` make of theirs.

    Whatever is wrong with it is an `InputError`.
    """
    shown = Path(path)
    content = read_bytes(shown)
    with translated(shown, "Parquet" if form == "parquet" else form.upper()):
        if form == "json":
            return _load_json(shown, content, others or {})
        return (_load_csv if form == "csv" else _load_parquet)(shown, content)


def read_bytes(shown: Path) -> bytes:
    """Return what a file holds, where that is not too much for a result."""
    try:
        size = shown.stat().st_size
        if size > _LARGEST:
            raise InputError(f"{shown} has {size:,} bytes; a result of over {_LARGEST:,} is not read back.")
        return shown.read_bytes()
    except FileNotFoundError:
        raise InputError(f"There is no file {public_path(shown)}.") from None
    except OSError as error:
        raise InputError(f"{shown} cannot be read: {error.strerror}.") from None


def _load_parquet(path: Path, content: bytes) -> Result:
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = pq.ParquetFile(pa.BufferReader(content))
    taken = _declared(path)
    # Equal rows take next to nothing packed.
    if not 0 <= file.metadata.num_rows <= _FOLDED * len(content) or taken > 8 * _FOLDED * len(content):
        raise InputError(f"{path} is damaged: {len(content):,} bytes do not hold what it says that it holds.")
    about = parse_about(path, (file.schema_arrow.metadata or {}).get(b"discreet", b"{}"), "its metadata")
    kind = _known_kind(path, about)
    # A long name that occurs often is held once.
    leaves = [file.schema.column(place).path for place in range(len(file.schema))]
    table = pq.ParquetFile(pa.BufferReader(content), read_dictionary=leaves).read()
    table.validate(full=True)
    return _build(path, kind, {name: table[name] for name in table.column_names}, about)


def _declared(path: Path) -> int:
    import duckdb

    # DuckDB takes some names for patterns, so the file gets one that is none.
    with passing_folder() as folder, duckdb.connect() as connection:
        alias = folder / "result.parquet"
        alias.symlink_to(path.resolve())
        try:
            return declared(connection, alias)
        except duckdb.Error:
            raise InputError(f"{path} is damaged: what it says of its columns cannot be read.") from None


def _load_json(path: Path, content: bytes, others: Others) -> Any:
    about = parse(path, content)
    tag = about.get("discreet") if isinstance(about, dict) else None
    if isinstance(tag, str) and tag in others:
        return others[tag](path, about)
    kind = _known_kind(path, about)
    rows = about.get(kind)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError(f"{path}: {kind!r} must be a list of objects.")
    columns: dict[str, Any] = {}
    optional = [name for name in ("low", "high", *BOUNDS, *ENDS, *P_VALUES) if rows and name in rows[0]]
    for name in (*needed(kind), *optional):
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
    types = dict.fromkeys(("items", "antecedent", "consequent", *PROMISE, ALL), text) | {"simulated": pa.bool_()}
    types |= dict.fromkeys(("low", "high", *BOUNDS, *ENDS, *P_VALUES), real)
    types |= dict.fromkeys((*(name for unit in UNITS for name in (unit, *within_of(unit))), *COUNTS), whole)
    table = csv.read_csv(
        pa.BufferReader(content),
        read_options=csv.ReadOptions(block_size=1 << 25),
        # What is blank is not there: a row without items carries what is known of a result without patterns.
        convert_options=csv.ConvertOptions(
            column_types=types, strings_can_be_null=True, quoted_strings_can_be_null=False
        ),
    )
    if "baskets" in table.column_names and "people" not in table.column_names:
        as_people = dict(zip(("baskets", *within_of("baskets")), ("people", *WITHIN), strict=True))
        table = table.rename_columns([as_people.get(name, name) for name in table.column_names])
        unit: Unit = "baskets"
    else:
        unit = "people"
    kind = "rules" if "antecedent" in table.column_names else "patterns"
    absent = [name for name in (*needed(kind), "people") if name not in table.column_names]
    if absent:
        raise InputError(
            f"{path} has no column {absent[0]!r}; it has {', '.join(table.column_names)}. "
            "Patterns have items, count, support, people; to read baskets use discreet.read()."
        )
    about = {"unit": unit} | _told(path, kind, table)
    if about["unit"] != unit:
        raise InputError(f"{path}: its columns count {unit}, and the column {ALL!r} says otherwise: it was changed.")
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
    for name in ("people", *WITHIN, *PROMISE, "simulated", ALL):
        values = table[name].drop_null().unique().to_pylist() if name in table.column_names else []
        if len(values) > 1:
            raise InputError(f"{path}: the column {name!r} must be the same in all rows, but has {len(values)} values.")
        if values:
            about[name] = values[0]
    promised = {name: about.pop(name) for name in PROMISE if name in about}
    promised |= {name: _plainly(promised[name]) for name in _LOSSES if name in promised}
    whole = about.pop(ALL, None)
    if whole is None:  # the row that had it was removed: what the other rows repeat is left
        return about | ({"guarantee": promised} if promised else {})
    told = _in_people(parse_about(path, whole, f"the column {ALL!r}"))
    known = _known_kind(path, told)
    if (known == "patterns") != (kind == "patterns"):
        raise InputError(f"{path}: the column {ALL!r} speaks of {known}, and the table has {kind}.")
    stated = {name: value for name, value in promised_texts(told).items() if value is not None}
    repeated = told | {"simulated": bool(told.get("simulated"))}
    if promised != stated or any(repeated.get(name) != value for name, value in about.items()):
        raise InputError(f"{path}: its columns say something else than the column {ALL!r}: it was changed by hand.")
    return {**told, "kind": known}


def within_of(unit: Unit) -> tuple[str, str]:
    """Return what the ends of the interval for the number of people or baskets are called in files."""
    return f"{unit}_low", f"{unit}_high"


def _in_people(told: dict[str, Any]) -> dict[str, Any]:
    """Return what a file says with the number that supports are fractions of as that of people, and what it is of."""
    if "unit" in told:
        return told
    if "baskets" not in told or "people" in told:
        return told | {"unit": "people"}
    names = dict(zip(("baskets", *within_of("baskets")), ("people", *WITHIN), strict=True))
    return {names.get(name, name): value for name, value in told.items()} | {"unit": "baskets"}


def _parse_cells(path: Path, cells: list[str]) -> list[Any]:
    with suppress(InputError):
        parsed: list[Any] = parse(path, "[" + ",".join(cells) + "]")
        if len(parsed) == len(cells):
            return parsed
    for line, cell in enumerate(cells, 2):
        try:
            parse(path, cell)
        except InputError:
            raise InputError(
                f"{path}, line {line}: {cell[:80]!r} is not an itemset; write it as a JSON array, such as "
                '["milk", "tea"] or [3, 17].'
            ) from None
    raise InputError(f'{path}: the itemsets are not JSON arrays, such as ["milk", "tea"] or [3, 17].')


def _known_kind(path: Path, about: Any) -> str:
    tag = about.get("discreet") if isinstance(about, dict) else None
    for kind in _KINDS:
        if tag == f"{kind}/1":
            return kind
    if isinstance(tag, str) and tag in _WHOLE_IN_JSON and path.suffix.lower() != ".json":
        raise InputError(f"{path} holds the table of a {_WHOLE_IN_JSON[tag]}: all of it is in its .json file.")
    found = f"its form is {tag!r}" if tag is not None else "it does not say 'discreet'"
    raise InputError(
        f"{path} holds no patterns or rules of this version of discreet ({found}; known are 'patterns/1', 'rules/1' "
        "and 'relations/1'). To read baskets use discreet.read()."
    )


def _sides(kind: str) -> tuple[str, ...]:
    return ("items",) if kind == "patterns" else ("antecedent", "consequent")


def needed(kind: str) -> tuple[str, ...]:
    """Return the columns that a table of this kind must have."""
    return (*_sides(kind), *(("count",) if kind == "patterns" else COUNTS))


def _build(path: Path, kind: str, columns: dict[str, Any], about: dict[str, Any]) -> Result:
    """Make the result from columns that are Arrow arrays or Python lists."""
    absent = [name for name in needed(kind) if name not in columns]
    if absent:
        raise InputError(f"{path} has no column {absent[0]!r}; it has {', '.join(columns)}.")
    told = _in_people({name: value for name, value in about.items() if name != kind})
    check_about(path, told)
    people, unit = told["people"], told["unit"]
    if unit not in UNITS:
        raise InputError(f"{path}: it counts {unit!r:.80}, and must count people or baskets.")
    few, many = (told.get(name) for name in WITHIN)
    within = None if few is None or many is None else (few, many)
    counted = kind != "patterns" or about.get("counted") is not False
    names = [name for name in needed(kind) if name in COUNTS and counted]
    counts = {COUNTS[name]: _whole_numbers(path, name, columns[name]) for name in names}
    sides, vocabulary = _itemsets(path, [columns[name] for name in _sides(kind)])
    travels = {name: value for name, value in told.items() if name not in _OWN}
    promised = None if travels in ({}, EXACT) else travels
    low, high = (
        _bound(path, name, columns.get(name)) if counted else None
        for name in (("low", "high") if kind == "patterns" else BOUNDS)
    )
    ends = None if kind == "patterns" else _ends(path, columns)
    hierarchy = _hierarchy(path, told.get("hierarchy"))
    if (low is None) != (high is None) or (ends is not None and low is None):
        raise InputError(f"{path} has one end of its intervals and not the other: it was changed or damaged.")
    if low is not None and high is not None and bool(np.any(low > high)):
        raise InputError(f"{path}: the low end of an interval is over its high end.")
    if promised is None and low is None and any(np.any((held < 0) | (held > people)) for held in counts.values()):
        raise InputError(f"{path}: a count is below 0 or over {people:,}, the number of {unit}.")
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
            unit=unit,
            hierarchy=hierarchy,
        )
    p, p_adjusted = (_bound(path, name, columns.get(name)) for name in P_VALUES)
    if (p is None) != (p_adjusted is None) or any(
        column is not None and not bool(np.all((column >= 0) & (column <= 1))) for column in (p, p_adjusted)
    ):
        raise InputError(f"{path}: 'p' and 'p_adjusted' must both be there, and between 0 and 1.")
    return Rules(
        antecedents=sides[0],
        consequents=sides[1],
        counts=counts["counts"],
        antecedent_counts=counts["antecedent_counts"],
        consequent_counts=counts["consequent_counts"],
        vocabulary=vocabulary,
        people=people,
        omitted=told.get("omitted") or 0,
        low=low,
        high=high,
        about=promised,
        kind="relations" if kind == "relations" else "rules",
        how=_how(path, told) if kind == "relations" else None,
        people_within=within,
        unit=unit,
        ends=ends,
        p=p,
        p_adjusted=p_adjusted,
        tested=told.get("tested", 0 if p is None else None),
        hierarchy=hierarchy,
    )


def _how(path: Path, told: Mapping[str, Any]) -> How | None:
    """Return what makes a relation; files of earlier versions say it of private relations and of studies alone."""
    how = told.get("how")
    if how is None:
        earlier = [told.get(part) for part in ("asked", "settings")]
        how = next((one["how"] for one in earlier if isinstance(one, Mapping) and one.get("how") in HOWS), None)
    if how is not None and how not in HOWS:
        raise InputError(f"{path}: a relation is 'given', 'after' or 'together', and not {how!r:.80}.")
    return how


def _hierarchy(path: Path, told: Any) -> Hierarchy | None:
    try:
        return None if told is None else Hierarchy.from_dict(told)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


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
        values = pa.chunked_array([flat for _, flat in parts if len(flat)] or [pa.array([], pa.int64())])
    except (pa.ArrowInvalid, TypeError):
        _refuse_items(path)
    itemsets, vocabulary = in_label_order(offsets, values.unify_dictionaries().combine_chunks().dictionary_encode())
    inside = np.repeat(np.arange(len(sizes)), sizes)
    repeated = np.flatnonzero((np.diff(inside) == 0) & (np.diff(itemsets.codes) == 0))
    if len(repeated):
        label = vocabulary.label(itemsets.codes[repeated[0]])
        raise InputError(f"{path}: an itemset holds {label!r} twice.")
    rows = len(parts[0][0])
    return [itemsets.cut(side * rows, (side + 1) * rows) for side in range(len(parts))], vocabulary


def _lists(path: Path, column: Any) -> tuple[Any, pa.Array]:
    """Return how long each list is, and all their values end to end, as int64 or as encoded text."""
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
    held = flat.type.value_type if pa.types.is_dictionary(flat.type) else flat.type
    named = pa.types.is_string(held) or pa.types.is_large_string(held)
    if flat.null_count or not (named or pa.types.is_signed_integer(flat.type)):
        _refuse_items(path)
    return lengths, _encoded(flat) if named else flat.cast(pa.int64())


def _encoded(names: pa.Array) -> pa.DictionaryArray:
    """Return text by the numbers of its names, each of which occurs and has one: a file may have others."""
    import pyarrow as pa

    encoded = names.dictionary_encode()
    used = encoded.indices.unique()
    again = encoded.dictionary.take(used).cast(pa.large_string()).dictionary_encode()
    table = np.zeros(len(encoded.dictionary), np.int32)
    table[used.to_numpy()] = again.indices.to_numpy()
    return pa.DictionaryArray.from_arrays(table[encoded.indices.to_numpy()], again.dictionary)


def _refuse_items(path: Path) -> NoReturn:
    raise InputError(f"{path}: items must be all whole numbers or all names, in lists.")


def _whole_numbers(path: Path, name: str, column: Any) -> NDArray[np.int64]:
    import pyarrow as pa

    values = _numbers(path, name, column)
    if values.null_count or not (pa.types.is_integer(values.type) or len(values) == 0):
        raise InputError(f"{path}: {name!r} must hold whole numbers.")
    held = np.array(values.cast(pa.int64()))
    if len(held) and not -MOST <= held.min() <= held.max() <= MOST:
        raise InputError(f"{path}: {name!r} holds numbers over 2^53, which no count is.")
    return held


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
