"""Readers of the formats of rows: files become results again. Every value of a file is checked before it is used."""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Mapping
from contextlib import suppress
from fractions import Fraction
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..baskets import Hierarchy, Unit, public_path, read_declared_size
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
from ._untrusted import MAX_WHOLE, check_header, exact_number, parse_about, parse_json, translated

if TYPE_CHECKING:
    import pyarrow as pa

    from ._formats import ResultFormat

# The fields of a header that belong to the table, and not to the provenance.
_HEADER_FIELDS = {
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
# The columns of a CSV file that repeat the guarantee for a reader, and the column with the whole header.
GUARANTEE_COLUMNS = ("model", "neighbours", "epsilon", "delta")
_LOSSES = ("epsilon", "delta")
ABOUT_COLUMN = "about"
# The file beside a table, and the pointer to it in the column of the header. Sixteen digits of a digest detect a
# mistaken file. They need not resist an attack: a person with write access to one file can change both.
_ABOUT_SUFFIX = ".about.json"
_DIGITS = 16
_POINTER = re.compile(rf"([^/\\\x00]+{re.escape(_ABOUT_SUFFIX)}) sha256:([0-9a-f]{{{_DIGITS}}})")
PEOPLE_ENDS = ("people_low", "people_high")
_ARROW_START = b"ARROW1\0\0"
UNITS: tuple[Unit, ...] = ("people", "baskets")
# The largest file that is read, in bytes, and the largest number of rows per byte of a packed table. Larger: a damaged
# file can ask for more memory; smaller: a long table of equal rows is refused.
_MAX_BYTES, _MAX_ROWS_PER_BYTE = 1 << 32, 1 << 8
_KINDS = ("patterns", "rules", "relations")


def guarantee_texts(provenance: Provenance) -> dict[str, str | None]:
    """Return the guarantee as a table repeats it: model, neighbours and losses by name, numbers as decimals."""
    guarantee = provenance.guarantee or StatedGuarantee()
    values = {name: getattr(guarantee, name) for name in GUARANTEE_COLUMNS}
    return {name: shown(value) if isinstance(value, Fraction) else value for name, value in values.items()}


def _plain_text(value: object) -> str:
    """Return an exact number as a decimal text; a value that is no number as its text."""
    try:
        return shown(exact_number(value))
    except (ValueError, ZeroDivisionError, OverflowError):
        return str(value)


def load(path: str | os.PathLike[str], form: ResultFormat) -> Any:
    """Return the result in a file of a format; any flaw of the file is an `InputError`."""
    # Read once: a file that changes between two reads could pass the check with one content and load another.
    file = Path(path)
    content = read_bytes(file)
    with translated(file, form.title):
        return form.read(file, content)


def read_bytes(path: Path) -> bytes:
    """Return the content of a file, if its size is allowed for a result."""
    try:
        size = path.stat().st_size
        if size > _MAX_BYTES:
            raise InputError(f"{path} has {size:,} bytes; a result of over {_MAX_BYTES:,} is not read back.")
        return path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"There is no file {public_path(path)}.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None


def read_parquet(path: Path, content: bytes) -> Result:
    """Return the result of a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = pq.ParquetFile(pa.BufferReader(content))
    declared_bytes = _declared_bytes(path)
    # Packed, equal rows take few bytes: a damaged file may declare any number of them.
    if not 0 <= file.metadata.num_rows <= _MAX_ROWS_PER_BYTE * len(
        content
    ) or declared_bytes > 8 * _MAX_ROWS_PER_BYTE * len(content):
        raise InputError(f"{path} is damaged: {len(content):,} bytes do not hold what it says that it holds.")
    header = parse_about(path, (file.schema_arrow.metadata or {}).get(b"discreet", b"{}"), "its metadata")
    if (plain := read_plain(path, header)) is not None:
        return plain
    kind = _read_kind(path, header)
    # Read as a dictionary, a long name takes its memory once.
    leaves = [file.schema.column(place).path for place in range(len(file.schema))]
    table = pq.ParquetFile(pa.BufferReader(content), read_dictionary=leaves).read()
    return _build_from_table(path, kind, table, header)


def read_arrow(path: Path, content: bytes) -> Result:
    """Return the result of an Arrow file that discreet wrote.

    The stream inside the file is read, because the stream is checked: the footer of a file may point elsewhere.
    """
    import pyarrow as pa

    if not content.startswith(_ARROW_START):
        raise InputError(f"{path} is damaged: it does not begin as an Arrow file does.")
    stream = pa.py_buffer(content).slice(len(_ARROW_START))
    for message in pa.ipc.MessageReader.open_stream(pa.BufferReader(stream)):
        if _is_packed(message.type, message.metadata.to_pybytes()):
            raise InputError(f"{path} has packed columns, which discreet does not write: save it as .parquet instead.")
    reader = pa.ipc.open_stream(pa.BufferReader(stream))
    header = parse_about(path, (reader.schema.metadata or {}).get(b"discreet", b"{}"), "its metadata")
    if (plain := read_plain(path, header)) is not None:
        return plain
    kind = _read_kind(path, header)
    table = reader.read_all()
    if table.num_rows > len(content):
        raise InputError(f"{path} is damaged: {len(content):,} bytes do not hold what it says that it holds.")
    return _build_from_table(path, kind, table, header)


def _build_from_table(path: Path, kind: str, table: pa.Table, header: dict[str, Any]) -> Patterns | Rules:
    """Return the patterns or rules of an Arrow table, after a check of all its buffers."""
    # A damaged buffer could otherwise be read beyond its end.
    table.validate(full=True)
    return _build(path, kind, {name: table[name] for name in table.column_names}, header)


def _is_packed(kind: str, metadata: bytes) -> bool:
    """Return whether the columns of an Arrow message are compressed, so that few bytes stand for any number of values.

    A message is a flatbuffer: `Message.header` is field 2, `DictionaryBatch.data` is field 1 and
    `RecordBatch.compression` is field 3 (Apache Arrow, format/Message.fbs).
    """

    def number(form: str, place: int) -> int:
        """Return a number of the flatbuffer, in a format of `struct`."""
        value: int = struct.unpack_from(form, metadata, place)[0]
        return value

    def field_place(table: int, field: int) -> int | None:
        """Return the place of a field of a table; None for an absent field."""
        names = table - number("<i", table)
        slot = 4 + 2 * field
        shift = number("<H", names + slot) if slot < number("<H", names) else 0
        return table + shift if shift else None

    def follow(table: int, field: int) -> int:
        """Return the place of the table that a field refers to."""
        place = field_place(table, field)
        return table if place is None else place + number("<I", place)

    if kind not in ("record batch", "dictionary"):
        return False
    batch = follow(number("<I", 0), 2)
    return field_place(follow(batch, 1) if kind == "dictionary" else batch, 3) is not None


def _declared_bytes(path: Path) -> int:
    """Return the number of bytes that the columns of a Parquet file declare to hold."""
    import duckdb

    # DuckDB takes some file names for glob patterns, so the file gets a plain name.
    with make_temporary_directory() as folder, duckdb.connect() as connection:
        alias = folder / "result.parquet"
        alias.symlink_to(path.resolve())
        try:
            return read_declared_size(connection, alias)
        except duckdb.Error:
            raise InputError(f"{path} is damaged: what it says of its columns cannot be read.") from None


def read_plain(path: Path, header: Any) -> Result | None:
    """Return the result of plain values; None where the header announces patterns or rules."""
    kind = reader_of(header.get("discreet")) if isinstance(header, dict) else None
    return None if kind is None else kind.from_dict(header, path)


def read_json(path: Path, content: bytes) -> Result:
    """Return the result of a JSON file."""
    header = parse_json(path, content)
    plain = read_plain(path, header)
    return _read_rows(path, header) if plain is None else plain


def _read_rows(path: Path, header: Any) -> Patterns | Rules:
    """Return the patterns or rules of a parsed JSON object."""
    kind = _read_kind(path, header)
    rows = header.get(kind)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError(f"{path}: {kind!r} must be a list of objects.")
    # The first row decides which optional columns exist; a later row without one is an error with its number.
    columns: dict[str, Any] = {}
    optional = [name for name in ("low", "high", *BOUNDS, *ENDS, *P_VALUES) if rows and name in rows[0]]
    for name in (*required_columns(kind), *optional):
        try:
            columns[name] = [row[name] for row in rows]
        except KeyError:
            number = next(number for number, row in enumerate(rows, 1) if name not in row)
            raise InputError(f"{path}: number {number} of the {kind} has no {name!r}.") from None
    return _build(path, kind, columns, header)


def parse_rows(text: str) -> Patterns | Rules:
    """Return the patterns or rules of a JSON text, as a service sends it."""
    place = Path("result.json")
    with translated(place, "JSON"):
        return _read_rows(place, parse_json(place, text))


def _cell_types() -> dict[str, Any]:
    """Return the Arrow type of each column of a table of cells."""
    import pyarrow as pa

    int64, float64, text = pa.int64(), pa.float64(), pa.large_string()
    people_columns = [name for unit in UNITS for name in (unit, *people_end_names(unit))]
    types = dict.fromkeys(("items", "antecedent", "consequent", *GUARANTEE_COLUMNS, ABOUT_COLUMN), text)
    types |= dict.fromkeys(("low", "high", *BOUNDS, *ENDS, *P_VALUES), float64)
    return types | dict.fromkeys((*people_columns, *COUNTS), int64) | {"simulated": pa.bool_()}


def cell_table_of(columns: Mapping[str, list[Any]]) -> pa.Table:
    """Return the cells of a workbook as a table of typed columns; a wrong value raises an Arrow error."""
    import pyarrow as pa

    types = _cell_types()
    float64, text = pa.float64(), pa.large_string()
    # A workbook stores whole numbers as floats: they become integers only if nothing is lost.
    arrays = {name: pa.array(cells, float64 if types[name] == pa.int64() else types[name])
              for name, cells in columns.items() if name in types}  # fmt: skip
    unread = {name: pa.nulls(len(cells), text) for name, cells in columns.items() if name not in types}
    return pa.table(unread | {name: cells.cast(types[name]) for name, cells in arrays.items()})


def _read_delimited(path: Path, content: bytes, *, delimiter: str) -> Patterns | Rules:
    """Return the patterns or rules of a table of text."""
    import pyarrow as pa
    import pyarrow.csv as csv

    table = csv.read_csv(
        pa.BufferReader(content),
        read_options=csv.ReadOptions(block_size=1 << 25),
        parse_options=csv.ParseOptions(delimiter=delimiter),
        # A blank cell is null: a row without items carries the header of a result without patterns.
        convert_options=csv.ConvertOptions(
            column_types=_cell_types(), strings_can_be_null=True, quoted_strings_can_be_null=False
        ),
    )
    return build_from_cells(path, table)


read_csv = partial(_read_delimited, delimiter=",")
read_tsv = partial(_read_delimited, delimiter="\t")


def build_from_cells(path: Path, table: pa.Table, header_text: str | None = None) -> Patterns | Rules:
    """Return the patterns or rules of a table of cells; `header_text` is the header where no column has it."""
    if "baskets" in table.column_names and "people" not in table.column_names:
        as_people = dict(zip(("baskets", *people_end_names("baskets")), ("people", *PEOPLE_ENDS), strict=True))
        table = table.rename_columns([as_people.get(name, name) for name in table.column_names])
        unit: Unit = "baskets"
    else:
        unit = "people"
    # A table of cells announces no kind: its columns tell.
    kind = "rules" if "antecedent" in table.column_names else "patterns"
    absent = [name for name in (*required_columns(kind), "people") if name not in table.column_names]
    if absent:
        raise InputError(
            f"{path} has no column {absent[0]!r}; it has {', '.join(table.column_names)}. "
            "Patterns have items, count, support, people; to read baskets use discreet.read(). Tables of other results "
            "have their rows alone: all of it is in a .json file."
        )
    # The columns show the unit, so that a table without a header keeps it.
    header = {"unit": unit} | _read_repeated(path, kind, table, header_text)
    if header["unit"] != unit:
        raise InputError(
            f"{path}: its columns count {unit}, and the column {ABOUT_COLUMN!r} says otherwise: it was changed."
        )
    rows = table.filter(table[_side_columns(kind)[0]].is_valid())
    columns: dict[str, Any] = {name: rows[name] for name in rows.column_names}
    for name in _side_columns(kind):
        columns[name] = _parse_cells(path, rows[name].to_pylist())
    # A release of patterns only has a column of counts without a value.
    has_counts = not len(rows) or rows["count"].null_count < len(rows)
    return _build(path, header.pop("kind", kind), columns, {"counted": has_counts, **header})


def _read_repeated(path: Path, kind: str, table: pa.Table, header_text: str | None) -> dict[str, Any]:
    """Return the header of a table of cells; the columns that repeat parts of it must agree with it."""
    repeated: dict[str, Any] = {}
    for name in ("people", *PEOPLE_ENDS, *GUARANTEE_COLUMNS, "simulated", ABOUT_COLUMN):
        values = table[name].drop_null().unique().to_pylist() if name in table.column_names else []
        if len(values) > 1:
            raise InputError(f"{path}: the column {name!r} must be the same in all rows, but has {len(values)} values.")
        if values:
            repeated[name] = values[0]
    repeated_texts = {name: repeated.pop(name) for name in GUARANTEE_COLUMNS if name in repeated}
    repeated_texts |= {name: _plain_text(repeated_texts[name]) for name in _LOSSES if name in repeated_texts}
    header_text, place = (
        (repeated.pop(ABOUT_COLUMN, None), f"the column {ABOUT_COLUMN!r}")
        if header_text is None
        else (header_text, "its second sheet")
    )
    if header_text is not None and not header_text.startswith("{"):
        header_text, place = _read_beside(path, header_text)
    if header_text is None:  # its row or its file was removed: the repeated columns remain
        return {"people": 0} | repeated | ({"guarantee": repeated_texts} if repeated_texts else {})
    header = _with_people_names(parse_about(path, header_text, place))
    header_kind = _read_kind(path, header)
    if (header_kind == "patterns") != (kind == "patterns"):
        raise InputError(f"{path}: {place} speaks of {header_kind}, and the table has {kind}.")
    provenance = Provenance.from_dict({name: header.get(name) for name in ("guarantee", "simulated")}, path)
    stated_texts = {name: value for name, value in guarantee_texts(provenance).items() if value is not None}
    all_values = header | {"simulated": provenance.simulated}
    if repeated_texts != stated_texts or any(all_values.get(name) != value for name, value in repeated.items()):
        raise InputError(f"{path}: its columns say something else than {place}: it was changed by hand.")
    return {**header, "kind": header_kind}


def beside_table(path: Path) -> Path:
    """Return the path of the file beside a CSV table, which has the whole header."""
    return path.with_name(path.name + _ABOUT_SUFFIX)


def compute_digest(content: bytes) -> str:
    """Return the digest by which a table names the file beside it."""
    return sha256(content).hexdigest()[:_DIGITS]


def _read_beside(path: Path, pointer: str) -> tuple[str | None, str]:
    """Return the text of the file beside a table, None for a missing file; and its name for messages."""
    match = _POINTER.fullmatch(pointer)
    if match is None:
        raise InputError(f"{path}: the column {ABOUT_COLUMN!r} does not hold what discreet wrote there.")
    # The table may have been renamed with the file or alone. The name has no directory, so that no table can point
    # outside its own directory.
    places = dict.fromkeys((beside_table(path), path.with_name(match[1])))
    about_path = next((place for place in places if place.is_file()), None)
    if about_path is None:
        return None, ""
    # The digest ties the header to this table: the header of a different table would state a wrong guarantee.
    content = read_bytes(about_path)
    if compute_digest(content) != match[2]:
        raise InputError(
            f"{about_path} is not the file that was written with {path}: put that back, or remove it to read what the "
            "table says alone."
        )
    return content.decode(errors="replace"), str(about_path)


def people_end_names(unit: Unit) -> tuple[str, str]:
    """Return the names that files have for the interval of the number of people or baskets."""
    return f"{unit}_low", f"{unit}_high"


def _with_people_names(header: dict[str, Any]) -> dict[str, Any]:
    """Return a header with its unit, and with the number of baskets under the name `people`."""
    if "unit" in header:
        return header
    if "baskets" not in header or "people" in header:
        return header | {"unit": "people"}
    names = dict(zip(("baskets", *people_end_names("baskets")), ("people", *PEOPLE_ENDS), strict=True))
    return {names.get(name, name): value for name, value in header.items()} | {"unit": "baskets"}


def _parse_cells(path: Path, cells: list[str]) -> list[Any]:
    """Return the items of each cell; JSON arrays, as earlier versions wrote them, are parsed at once."""
    # One parse for all cells is many times as fast; a damaged cell falls through to the loop, which names its line.
    if cells and all(cell.startswith("[") for cell in cells):
        with suppress(InputError):
            parsed: list[Any] = parse_json(path, "[" + ",".join(cells) + "]")
            if len(parsed) == len(cells):
                return parsed
    itemsets = []
    for line, cell in enumerate(cells, 2):
        try:
            itemsets.append(parse_json(path, cell) if cell.startswith("[") else parse_cell(cell))
        except (InputError, ValueError, RecursionError):
            raise InputError(
                f"{path}, line {line}: {cell[:80]!r} is not an itemset; write its items between semicolons, such as "
                "milk; tea or 3; 17, and names that have some in double quotes."
            ) from None
    return itemsets


def _read_kind(path: Path, header: Any) -> str:
    """Return ``"patterns"``, ``"rules"`` or ``"relations"``, as a header announces."""
    tag = header.get("discreet") if isinstance(header, dict) else None
    for kind in _KINDS:
        if tag == f"{kind}/1":
            return kind
    reason = f"its form is {tag!r}" if tag is not None else "it does not say 'discreet'"
    raise InputError(
        f"{path} holds no patterns or rules of this version of discreet ({reason}; known are 'patterns/1', 'rules/1' "
        "and 'relations/1'). To read baskets use discreet.read()."
    )


def _side_columns(kind: str) -> tuple[str, ...]:
    """Return the names of the columns of itemsets."""
    return ("items",) if kind == "patterns" else ("antecedent", "consequent")


def required_columns(kind: str) -> tuple[str, ...]:
    """Return the columns that a table of patterns, or of rules, must have."""
    return (*_side_columns(kind), *(("count",) if kind == "patterns" else COUNTS))


def _build(path: Path, kind: str, columns: dict[str, Any], header: dict[str, Any]) -> Patterns | Rules:
    """Return the result of columns, which are Arrow arrays or Python lists, after a check of all values."""
    absent = [name for name in required_columns(kind) if name not in columns]
    if absent:
        raise InputError(f"{path} has no column {absent[0]!r}; it has {', '.join(columns)}.")
    # Rows are columns already: the header alone is checked, so that its limits do not depend on their number.
    fields = _with_people_names({name: value for name, value in header.items() if name != kind})
    check_header(path, fields)
    people, unit = fields["people"], fields["unit"]
    if unit not in UNITS:
        raise InputError(f"{path}: it counts {unit!r:.80}, and must count people or baskets.")
    people_low, people_high = (fields.get(name) for name in PEOPLE_ENDS)
    people_within = None if people_low is None or people_high is None else (people_low, people_high)
    has_counts = kind != "patterns" or header.get("counted") is not False
    names = [name for name in required_columns(kind) if name in COUNTS and has_counts]
    counts = {COUNTS[name]: _whole_numbers(path, name, columns[name]) for name in names}
    sides, vocabulary = _itemsets(path, [columns[name] for name in _side_columns(kind)])
    provenance = Provenance.from_dict(
        {name: value for name, value in fields.items() if name not in _HEADER_FIELDS}, path
    )
    # An exact result has no provenance at all, and a header without one reads as an empty one.
    promised = None if provenance == Provenance() else provenance
    low, high = (
        _bound(path, name, columns.get(name)) if has_counts else None
        for name in (("low", "high") if kind == "patterns" else BOUNDS)
    )
    ends = None if kind == "patterns" else _ends(path, columns)
    hierarchy = _hierarchy(path, fields.get("hierarchy"))
    if (low is None) != (high is None) or (ends is not None and low is None):
        raise InputError(f"{path} has one end of its intervals and not the other: it was changed or damaged.")
    if low is not None and high is not None and bool(np.any(low > high)):
        raise InputError(f"{path}: the low end of an interval is over its high end.")
    # Noisy counts may lie outside the range; exact counts cannot.
    if promised is None and low is None and any(np.any((column < 0) | (column > people)) for column in counts.values()):
        raise InputError(f"{path}: a count is below 0 or over {people:,}, the number of {unit}.")
    common: dict[str, Any] = counts | {
        "vocabulary": vocabulary,
        "people": people,
        "low": low,
        "high": high,
        "provenance": promised,
        "people_within": people_within,
        "unit": unit,
        "hierarchy": hierarchy,
    }
    if kind == "patterns":
        common.setdefault("counts", np.zeros(len(sides[0]), np.int64))
        return Patterns(offsets=sides[0].offsets, codes=sides[0].codes, counted=has_counts, **common)
    p, p_adjusted = (_bound(path, name, columns.get(name)) for name in P_VALUES)
    if (p is None) != (p_adjusted is None) or any(
        column is not None and not bool(np.all((column >= 0) & (column <= 1))) for column in (p, p_adjusted)
    ):
        raise InputError(f"{path}: 'p' and 'p_adjusted' must both be there, and between 0 and 1.")
    return Rules(
        antecedents=sides[0],
        consequents=sides[1],
        omitted=fields.get("omitted") or 0,
        kind="relations" if kind == "relations" else "rules",
        how=_relation_kind(path, fields) if kind == "relations" else None,
        ends=ends,
        p=p,
        p_adjusted=p_adjusted,
        tested=fields.get("tested", 0 if p is None else None),
        **common,
    )


def _relation_kind(path: Path, header: Mapping[str, Any]) -> How | None:
    """Return the kind of relations; earlier versions wrote it into the question or the settings."""
    kind = header.get("how")
    if kind is None:
        earlier = [header.get(part) for part in ("asked", "settings")]
        kind = next((part["how"] for part in earlier if isinstance(part, Mapping) and part.get("how") in HOWS), None)
    if kind is not None and kind not in HOWS:
        raise InputError(f"{path}: a relation is 'given', 'after' or 'together', and not {kind!r:.80}.")
    return kind


def _hierarchy(path: Path, values: Any) -> Hierarchy | None:
    """Return the hierarchy of a header, if it has one."""
    try:
        return None if values is None else Hierarchy.from_dict(values)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _ends(path: Path, columns: Mapping[str, Any]) -> tuple[Ends, Ends, Ends] | None:
    """Return the intervals of the three counts of each rule; None where a column is missing."""
    ends = [end for end in (_bound(path, name, columns.get(name)) for name in ENDS) if end is not None]
    if len(ends) < len(ENDS):
        return None
    return (ends[0], ends[1]), (ends[2], ends[3]), (ends[4], ends[5])


def _itemsets(path: Path, columns: list[Any]) -> tuple[list[Itemsets], Any]:
    """Return the columns of lists as itemsets over one vocabulary."""
    import pyarrow as pa

    parts = [_flatten_lists(path, column) for column in columns]
    # Both sides of rules share one vocabulary, so that equal items have equal codes.
    sizes = np.concatenate([lengths for lengths, _ in parts])
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64, copy=False)
    try:
        values = pa.chunked_array([flat for _, flat in parts if len(flat)] or [pa.array([], pa.int64())])
    except (pa.ArrowInvalid, TypeError):
        _refuse_items(path)
    # Codes are numbered anew in the order of labels: the numbers of a file are of no use to a reader.
    itemsets, vocabulary = in_label_order(offsets, values.unify_dictionaries().combine_chunks().dictionary_encode())
    inside = np.repeat(np.arange(len(sizes)), sizes)
    repeated = np.flatnonzero((np.diff(inside) == 0) & (np.diff(itemsets.codes) == 0))
    if len(repeated):
        label = vocabulary.label(itemsets.codes[repeated[0]])
        raise InputError(f"{path}: an itemset holds {label!r} twice.")
    rows = len(parts[0][0])
    return [itemsets.cut(side * rows, (side + 1) * rows) for side in range(len(parts))], vocabulary


def _flatten_lists(path: Path, column: Any) -> tuple[Any, pa.Array]:
    """Return the length of each list, and the values of all lists as int64 or as encoded text."""
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
    value_type = flat.type.value_type if pa.types.is_dictionary(flat.type) else flat.type
    are_names = pa.types.is_string(value_type) or pa.types.is_large_string(value_type)
    if flat.null_count or not (are_names or pa.types.is_signed_integer(flat.type)):
        _refuse_items(path)
    return lengths, _encode_names(flat) if are_names else flat.cast(pa.int64())


def _encode_names(names: pa.Array) -> pa.DictionaryArray:
    """Return names as a dictionary array with the occurring names alone, each once: a file may have others."""
    import pyarrow as pa

    encoded = names.dictionary_encode()
    used_codes = encoded.indices.unique()
    names_used = encoded.dictionary.take(used_codes).cast(pa.large_string()).dictionary_encode()
    table = np.zeros(len(encoded.dictionary), np.int32)
    table[used_codes.to_numpy()] = names_used.indices.to_numpy()
    return pa.DictionaryArray.from_arrays(table[encoded.indices.to_numpy()], names_used.dictionary)


def _refuse_items(path: Path) -> NoReturn:
    """Raise the error about items of a wrong type."""
    raise InputError(f"{path}: items must be all whole numbers or all names, in lists.")


def _whole_numbers(path: Path, name: str, column: Any) -> NDArray[np.int64]:
    """Return a column of whole numbers between -2^53 and 2^53."""
    import pyarrow as pa

    # A count without a value, or with a fraction, is no count.
    values = _numbers(path, name, column)
    if values.null_count or not (pa.types.is_integer(values.type) or len(values) == 0):
        raise InputError(f"{path}: {name!r} must hold whole numbers.")
    counts = np.array(values.cast(pa.int64()))
    if len(counts) and not -MAX_WHOLE <= counts.min() <= counts.max() <= MAX_WHOLE:
        raise InputError(f"{path}: {name!r} holds numbers over 2^53, which no count is.")
    return counts


def _bound(path: Path, name: str, column: Any) -> NDArray[np.float64] | None:
    """Return a column of ends of intervals, or of p-values; None for an absent column."""
    return None if column is None else np.array(_numbers(path, name, column), np.float64)


def _numbers(path: Path, name: str, column: Any) -> pa.Array:
    """Return a column of numbers."""
    import pyarrow as pa

    try:
        values = pa.array(column) if isinstance(column, list) else column.combine_chunks()
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        raise InputError(f"{path}: {name!r} must hold numbers.") from None
    if not any(kind(values.type) for kind in (pa.types.is_integer, pa.types.is_floating, pa.types.is_null)):
        raise InputError(f"{path}: {name!r} must hold numbers.")
    return values.cast(pa.float64()) if pa.types.is_null(values.type) else values
