"""Files of results become results again: whatever a file says is checked before anything is made of it."""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Mapping
from contextlib import suppress
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..baskets import Hierarchy, Unit, declared, public_path
from ..errors import InputError
from ..temporary import make_temporary_directory
from ._cells import parse_cell
from ._itemsets import Itemsets, in_label_order
from ._measures import Ends
from ._patterns import Patterns
from ._promise import shown
from ._provenance import Provenance, StatedGuarantee
from ._result import Result, reader_of
from ._rules import BOUNDS, COUNTS, ENDS, HOWS, P_VALUES, How, Rules
from ._untrusted import MOST, check_header, exact_number, parse, parse_about, translated

if TYPE_CHECKING:
    import pyarrow as pa

    from ._formats import ResultFormat

# What a file says besides the provenance.
_OWN = {
    "discreet",
    "unit",
    "people",
    "people_low",
    "people_high",
    "omitted",
    "tested",
    "counted",
    "hierarchy",
    "how",
    "noise_from",
}
# The columns of a CSV file that repeat what was promised, for whoever looks at it, and the one that has all of it.
PROMISE = ("model", "neighbours", "epsilon", "delta")
_LOSSES = ("epsilon", "delta")
ALL = "about"
# The file beside a table, and how the column says which it is. Sixteen digits tell apart what stands there by mistake;
# whoever can change one file can change the other.
_BESIDE = ".about.json"
_DIGITS = 16
_POINTER = re.compile(rf"([^/\\\x00]+{re.escape(_BESIDE)}) sha256:([0-9a-f]{{{_DIGITS}}})")
WITHIN = ("people_low", "people_high")
_ARROW_START = b"ARROW1\0\0"
UNITS: tuple[Unit, ...] = ("people", "baskets")
# Bytes of a file that is read back, and rows for each byte of a table.
_LARGEST, _FOLDED = 1 << 32, 1 << 8
_KINDS = ("patterns", "rules", "relations")


def promised_texts(provenance: Provenance) -> dict[str, str | None]:
    """Return the promise as a table repeats it: numbers as a person would write them."""
    stated = provenance.guarantee or StatedGuarantee()
    values = {name: getattr(stated, name) for name in PROMISE}
    return {name: shown(value) if isinstance(value, Fraction) else value for name, value in values.items()}


def _plainly(number: object) -> str:
    """Return an exact number as a person would write it; what is none comes back as it is."""
    try:
        return shown(exact_number(number))
    except (ValueError, ZeroDivisionError, OverflowError):
        return str(number)


def load(path: str | os.PathLike[str], form: ResultFormat) -> Any:
    """Read a result from a file of a format; whatever is wrong with it is an `InputError`."""
    shown = Path(path)
    content = read_bytes(shown)
    with translated(shown, form.title):
        return form.read(shown, content)


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


def read_parquet(path: Path, content: bytes) -> Result:
    """Return the result of a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = pq.ParquetFile(pa.BufferReader(content))
    taken = _declared(path)
    # Equal rows take next to nothing packed.
    if not 0 <= file.metadata.num_rows <= _FOLDED * len(content) or taken > 8 * _FOLDED * len(content):
        raise InputError(f"{path} is damaged: {len(content):,} bytes do not hold what it says that it holds.")
    about = parse_about(path, (file.schema_arrow.metadata or {}).get(b"discreet", b"{}"), "its metadata")
    if (plain := read_plain(path, about)) is not None:
        return plain
    kind = _known_kind(path, about)
    # A long name that occurs often is held once.
    leaves = [file.schema.column(place).path for place in range(len(file.schema))]
    table = pq.ParquetFile(pa.BufferReader(content), read_dictionary=leaves).read()
    table.validate(full=True)
    return _build(path, kind, {name: table[name] for name in table.column_names}, about)


def read_arrow(path: Path, content: bytes) -> Result:
    """Return the result of an Arrow file that discreet wrote.

    It is read as the stream that such a file has inside, which is what was looked at: a footer may point elsewhere.
    """
    import pyarrow as pa

    if not content.startswith(_ARROW_START):
        raise InputError(f"{path} is damaged: it does not begin as an Arrow file does.")
    stream = pa.py_buffer(content).slice(len(_ARROW_START))
    for message in pa.ipc.MessageReader.open_stream(pa.BufferReader(stream)):
        if _is_packed(message.type, message.metadata.to_pybytes()):
            raise InputError(f"{path} has packed columns, which discreet does not write: save it as .parquet instead.")
    reader = pa.ipc.open_stream(pa.BufferReader(stream))
    about = parse_about(path, (reader.schema.metadata or {}).get(b"discreet", b"{}"), "its metadata")
    if (plain := read_plain(path, about)) is not None:
        return plain
    kind = _known_kind(path, about)
    table = reader.read_all()
    if table.num_rows > len(content):
        raise InputError(f"{path} is damaged: {len(content):,} bytes do not hold what it says that it holds.")
    table.validate(full=True)
    return _build(path, kind, {name: table[name] for name in table.column_names}, about)


def _is_packed(kind: str, metadata: bytes) -> bool:
    """Return whether the columns of an Arrow message are packed, so that few bytes may stand for any number of them.

    A message is a flatbuffer: `Message.header` is field 2, `DictionaryBatch.data` is field 1 and
    `RecordBatch.compression` is field 3 (Apache Arrow, format/Message.fbs).
    """

    def number(form: str, place: int) -> int:
        found: int = struct.unpack_from(form, metadata, place)[0]
        return found

    def field_place(table: int, field: int) -> int | None:
        names = table - number("<i", table)
        slot = 4 + 2 * field
        shift = number("<H", names + slot) if slot < number("<H", names) else 0
        return table + shift if shift else None

    def follow(table: int, field: int) -> int:
        place = field_place(table, field)
        return table if place is None else place + number("<I", place)

    if kind not in ("record batch", "dictionary"):
        return False
    batch = follow(number("<I", 0), 2)
    return field_place(follow(batch, 1) if kind == "dictionary" else batch, 3) is not None


def _declared(path: Path) -> int:
    import duckdb

    # DuckDB takes some names for patterns, so the file gets one that is none.
    with make_temporary_directory() as folder, duckdb.connect() as connection:
        alias = folder / "result.parquet"
        alias.symlink_to(path.resolve())
        try:
            return declared(connection, alias)
        except duckdb.Error:
            raise InputError(f"{path} is damaged: what it says of its columns cannot be read.") from None


def read_plain(path: Path, about: Any) -> Result | None:
    """Return the result whose plain values are all of it; None where a file says that it holds patterns or rules."""
    kind = reader_of(about.get("discreet")) if isinstance(about, dict) else None
    return None if kind is None else kind.from_dict(about, path)


def read_json(path: Path, content: bytes) -> Result:
    """Return the result of a JSON file."""
    about = parse(path, content)
    plain = read_plain(path, about)
    return _read_rows(path, about) if plain is None else plain


def _read_rows(path: Path, about: Any) -> Patterns | Rules:
    """Return the patterns or rules of plain values."""
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


def rows_of_text(text: str) -> Patterns | Rules:
    """Return the patterns or rules of the text of a JSON file, as a service hands them over."""
    place = Path("result.json")
    with translated(place, "JSON"):
        return _read_rows(place, parse(place, text))


def _cell_types() -> dict[str, Any]:
    """Return the types of the columns that are read from tables of cells."""
    import pyarrow as pa

    whole, real, text = pa.int64(), pa.float64(), pa.large_string()
    types = dict.fromkeys(("items", "antecedent", "consequent", *PROMISE, ALL), text) | {"simulated": pa.bool_()}
    types |= dict.fromkeys(("low", "high", *BOUNDS, *ENDS, *P_VALUES), real)
    return types | dict.fromkeys((*(name for unit in UNITS for name in (unit, *within_of(unit))), *COUNTS), whole)


def cell_table_of(columns: Mapping[str, list[Any]]) -> pa.Table:
    """Return the cells of a workbook as a table, with the columns that are read; other values raise what Arrow does."""
    import pyarrow as pa

    types = _cell_types()
    real, text = pa.float64(), pa.large_string()
    arrays = {name: pa.array(cells, real if types[name] == pa.int64() else types[name])
              for name, cells in columns.items() if name in types}  # fmt: skip
    named = {name: pa.nulls(len(cells), text) for name, cells in columns.items() if name not in types}
    return pa.table(named | {name: cells.cast(types[name]) for name, cells in arrays.items()})


def read_csv(path: Path, content: bytes) -> Patterns | Rules:
    """Return the patterns or rules of a table with commas."""
    return _read_delimited(path, content, ",")


def read_tsv(path: Path, content: bytes) -> Patterns | Rules:
    """Return the patterns or rules of a table with tabulators."""
    return _read_delimited(path, content, "\t")


def _read_delimited(path: Path, content: bytes, delimiter: str) -> Patterns | Rules:
    import pyarrow as pa
    import pyarrow.csv as csv

    table = csv.read_csv(
        pa.BufferReader(content),
        read_options=csv.ReadOptions(block_size=1 << 25),
        parse_options=csv.ParseOptions(delimiter=delimiter),
        # What is blank is not there: a row without items carries what is known of a result without patterns.
        convert_options=csv.ConvertOptions(
            column_types=_cell_types(), strings_can_be_null=True, quoted_strings_can_be_null=False
        ),
    )
    return build_from_cells(path, table)


def build_from_cells(path: Path, table: pa.Table, whole: str | None = None) -> Patterns | Rules:
    """Return the patterns or rules of a table of cells; `whole` is what else is known, where no column has it."""
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
            "Patterns have items, count, support, people; to read baskets use discreet.read(). Tables of other results "
            "have their rows alone: all of it is in a .json file."
        )
    about = {"unit": unit} | _told(path, kind, table, whole)
    if about["unit"] != unit:
        raise InputError(f"{path}: its columns count {unit}, and the column {ALL!r} says otherwise: it was changed.")
    held = table.filter(table[_sides(kind)[0]].is_valid())
    columns: dict[str, Any] = {name: held[name] for name in held.column_names}
    for name in _sides(kind):
        columns[name] = _parse_cells(path, held[name].to_pylist())
    # A column of counts without a single one is how patterns only look here.
    counted = not len(held) or held["count"].null_count < len(held)
    return _build(path, about.pop("kind", kind), columns, {"counted": counted, **about})


def _told(path: Path, kind: str, table: pa.Table, whole: str | None) -> dict[str, Any]:
    """Return what the columns that repeat themselves say: the people, and what was promised."""
    about: dict[str, Any] = {}
    for name in ("people", *WITHIN, *PROMISE, "simulated", ALL):
        values = table[name].drop_null().unique().to_pylist() if name in table.column_names else []
        if len(values) > 1:
            raise InputError(f"{path}: the column {name!r} must be the same in all rows, but has {len(values)} values.")
        if values:
            about[name] = values[0]
    promised = {name: about.pop(name) for name in PROMISE if name in about}
    promised |= {name: _plainly(promised[name]) for name in _LOSSES if name in promised}
    whole, where = (about.pop(ALL, None), f"the column {ALL!r}") if whole is None else (whole, "its second sheet")
    if whole is not None and not whole.startswith("{"):
        whole, where = _read_beside(path, whole)
    if whole is None:  # the row that had it was removed, or the file: what the other rows repeat is left
        return {"people": 0} | about | ({"guarantee": promised} if promised else {})
    told = _in_people(parse_about(path, whole, where))
    known = _known_kind(path, told)
    if (known == "patterns") != (kind == "patterns"):
        raise InputError(f"{path}: {where} speaks of {known}, and the table has {kind}.")
    provenance = Provenance.from_dict({name: told.get(name) for name in ("guarantee", "simulated")}, path)
    stated = {name: value for name, value in promised_texts(provenance).items() if value is not None}
    repeated = told | {"simulated": provenance.simulated}
    if promised != stated or any(repeated.get(name) != value for name, value in about.items()):
        raise InputError(f"{path}: its columns say something else than {where}: it was changed by hand.")
    return {**told, "kind": known}


def beside_table(path: Path) -> Path:
    """Return the file beside a CSV table that has all it has no columns for."""
    return path.with_name(path.name + _BESIDE)


def digest_of(content: bytes) -> str:
    """Return what tells the file beside a table from that of another table."""
    return sha256(content).hexdigest()[:_DIGITS]


def _read_beside(path: Path, pointer: str) -> tuple[str | None, str]:
    """Return what the file beside a table says, None where it is gone; and what it is called in messages."""
    found = _POINTER.fullmatch(pointer)
    if found is None:
        raise InputError(f"{path}: the column {ALL!r} does not hold what discreet wrote there.")
    # A table that was renamed together with its file, or alone. The name is a file's of the same folder, whatever a
    # table says.
    places = dict.fromkeys((beside_table(path), path.with_name(found[1])))
    beside = next((place for place in places if place.is_file()), None)
    if beside is None:
        return None, ""
    content = read_bytes(beside)
    if digest_of(content) != found[2]:
        raise InputError(
            f"{beside} is not the file that was written with {path}: put that back, or remove it to read what the "
            "table says alone."
        )
    return content.decode(errors="replace"), str(beside)


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
    """Return the items of each cell; of cells that earlier versions wrote, JSON arrays, all at once."""
    if cells and all(cell.startswith("[") for cell in cells):
        with suppress(InputError):
            parsed: list[Any] = parse(path, "[" + ",".join(cells) + "]")
            if len(parsed) == len(cells):
                return parsed
    itemsets = []
    for line, cell in enumerate(cells, 2):
        try:
            itemsets.append(parse(path, cell) if cell.startswith("[") else parse_cell(cell))
        except (InputError, ValueError, RecursionError):
            raise InputError(
                f"{path}, line {line}: {cell[:80]!r} is not an itemset; write its items between semicolons, such as "
                "milk; tea or 3; 17, and names that have some in double quotes."
            ) from None
    return itemsets


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


def needed(kind: str) -> tuple[str, ...]:
    """Return the columns that a table of this kind must have."""
    return (*_sides(kind), *(("count",) if kind == "patterns" else COUNTS))


def _build(path: Path, kind: str, columns: dict[str, Any], about: dict[str, Any]) -> Patterns | Rules:
    """Make the result from columns that are Arrow arrays or Python lists."""
    absent = [name for name in needed(kind) if name not in columns]
    if absent:
        raise InputError(f"{path} has no column {absent[0]!r}; it has {', '.join(columns)}.")
    told = _in_people({name: value for name, value in about.items() if name != kind})
    check_header(path, told)
    people, unit = told["people"], told["unit"]
    if unit not in UNITS:
        raise InputError(f"{path}: it counts {unit!r:.80}, and must count people or baskets.")
    few, many = (told.get(name) for name in WITHIN)
    within = None if few is None or many is None else (few, many)
    counted = kind != "patterns" or about.get("counted") is not False
    names = [name for name in needed(kind) if name in COUNTS and counted]
    counts = {COUNTS[name]: _whole_numbers(path, name, columns[name]) for name in names}
    sides, vocabulary = _itemsets(path, [columns[name] for name in _sides(kind)])
    provenance = Provenance.from_dict({name: value for name, value in told.items() if name not in _OWN}, path)
    promised = None if provenance == Provenance() else provenance
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
            provenance=promised,
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
        provenance=promised,
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
