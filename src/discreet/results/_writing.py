"""Results become bytes: the writers of the formats of rows that `formats` lists, but for workbooks.

A writer takes a result, an open binary stream, and the pointer to a file beside a table. Patterns and rules are written
a part at a time. Where files are and what is written beside them stay in `files`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from ._cells import cell_text, itemset_cells
from ._levels import told_hierarchy
from ._loading import ALL, promised_texts, within_of
from ._patterns import Patterns
from ._provenance import Provenance
from ._rules import Rules

if TYPE_CHECKING:
    import pyarrow as pa

    from ._result import Result

_STRIDE = 100_000  # rows turned into text at a time


def write_json(result: Result, stream: BinaryIO, pointer: str | None = None) -> None:
    """Write a result as one JSON object."""
    if not isinstance(result, Patterns | Rules):
        stream.write((json.dumps(result.to_dict(), indent=1) + "\n").encode())
        return
    stream.write(f'{{{json.dumps(header_of(result))[1:-1]},\n"{_kind(result)}": ['.encode())
    for start in range(0, len(result), _STRIDE):
        columns = _text_columns(result[start : start + _STRIDE])
        _write_objects(columns | _quoted(columns), stream, first=start == 0)
    stream.write(b"\n]}\n")


def write_csv(result: Result, stream: BinaryIO, pointer: str | None = None) -> None:
    """Write a result as a table of text with commas."""
    _write_delimited(result, stream, pointer, ",")


def write_tsv(result: Result, stream: BinaryIO, pointer: str | None = None) -> None:
    """Write a result as a table of text with tabulators."""
    _write_delimited(result, stream, pointer, "\t")


def _write_delimited(result: Result, stream: BinaryIO, pointer: str | None, delimiter: str) -> None:
    import pyarrow.csv as csv

    options = csv.WriteOptions(include_header=False, batch_size=_STRIDE, delimiter=delimiter)
    for number, part in enumerate(cell_tables(result, pointer)):
        if not number:
            # Names of columns are ours and need no quotes; results of other kinds have had them from the start.
            quote = "" if isinstance(result, Patterns | Rules) else '"'
            stream.write((delimiter.join(f"{quote}{name}{quote}" for name in part.column_names) + "\n").encode())
        csv.write_csv(part, stream, options)


def write_parquet(result: Result, stream: BinaryIO, pointer: str | None = None) -> None:
    """Write the table of a result as Parquet, with the rest in its metadata."""
    import pyarrow.parquet as pq

    pq.write_table(_table_with_header(result), stream, compression="zstd")


def write_arrow(result: Result, stream: BinaryIO, pointer: str | None = None) -> None:
    """Write the table of a result as an Arrow file, which is Feather too, with the rest in its metadata."""
    import pyarrow as pa

    table = _table_with_header(result)
    # Not packed, so that a file tells how much memory reading it takes; and so that programs can map it.
    with pa.ipc.new_file(stream, table.schema) as writer:
        writer.write_table(table)


def _table_with_header(result: Result) -> pa.Table:
    return result.to_arrow().replace_schema_metadata({"discreet": json.dumps(header_of(result))})


def cell_tables(result: Result, pointer: str | None) -> Iterator[pa.Table]:
    """Return the rows of a result as tables of cells, a part at a time: the first says the columns, maybe all."""
    import pyarrow as pa

    if not isinstance(result, Patterns | Rules):
        yield result.cell_table()
        return
    yield pa.table(_cell_columns(result[:0]) | _promise_columns(result, 0, pointer))
    if not len(result) and result.provenance is not None:
        yield pa.table(_carrier(result, pointer))
    for start in range(0, len(result), _STRIDE):
        part = result[start : start + _STRIDE]
        yield pa.table(_cell_columns(part) | _promise_columns(part, len(part), pointer, start == 0))


def _kind(result: Patterns | Rules) -> str:
    return "patterns" if isinstance(result, Patterns) else result.kind


def header_of(result: Result) -> dict[str, Any]:
    """Return all that a file says of a result beside its rows."""
    if not isinstance(result, Patterns | Rules):
        return result.to_dict()
    own: dict[str, Any] = {"discreet": f"{_kind(result)}/1", result.unit: result.people}
    if result.people_within is not None:
        own |= dict(zip(within_of(result.unit), result.people_within, strict=True))
    if isinstance(result, Rules):
        own |= {"omitted": result.omitted, "tested": result.tested}
        if result.how is not None:
            own["how"] = result.how
    elif not result.counted:
        own["counted"] = False
    elif result.low is not None:
        own["noise_from"] = result.noise_from
    if result.hierarchy is not None:
        own["hierarchy"] = told_hierarchy(result)
    return own | (result.provenance or Provenance()).to_dict()


def _text_columns(part: Patterns | Rules) -> dict[str, Any]:
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


def _cell_columns(part: Patterns | Rules) -> dict[str, Any]:
    """Return the columns of a part of a table with itemsets as cells of a spreadsheet."""
    import pyarrow as pa

    table = part.to_arrow()
    columns: dict[str, Any] = {name: table[name].combine_chunks() for name in table.column_names}
    if isinstance(part, Patterns):
        columns["items"] = itemset_cells(part.itemsets, part.vocabulary)
    else:
        columns["antecedent"] = itemset_cells(part.antecedents, part.vocabulary)
        columns["consequent"] = itemset_cells(part.consequents, part.vocabulary)
    if "level" in columns:
        columns["level"] = pa.array([cell_text(level) for level in columns["level"].to_pylist()], pa.large_string())
    return columns


def _promise_columns(result: Patterns | Rules, rows: int, pointer: str | None, first: bool = True) -> dict[str, Any]:
    """Return what a CSV file repeats in every row, and in the first the file beside it.

    That is the number of people, and what was promised.
    """
    import pyarrow as pa

    columns: dict[str, Any] = {result.unit: np.full(rows, result.people)}
    if result.people_within is not None:
        ends = zip(within_of(result.unit), result.people_within, strict=True)
        columns |= {name: np.full(rows, end) for name, end in ends}
    if result.provenance is not None:
        for name, value in promised_texts(result.provenance).items():
            columns[name] = pa.array([value] * rows, pa.large_string())
        columns["simulated"] = np.full(rows, result.provenance.simulated)
    if pointer is not None:
        columns[ALL] = pa.array([None if row or not first else pointer for row in range(rows)], pa.large_string())
    return columns


def _carrier(result: Patterns | Rules, pointer: str | None) -> dict[str, Any]:
    """Return one row without items that carries the promise of a result in which nothing was found."""
    import pyarrow as pa

    blank = {name: pa.nulls(1, pa.large_string()) for name in _cell_columns(result[:0])}
    return blank | _promise_columns(result, 1, pointer)


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
