"""Writers of the formats of rows, except workbooks: results become bytes.

A writer takes a result, an open binary stream, and the pointer to a file beside a table. Patterns and rules are written
in parts. The places of files, and the file beside a table, belong to `files`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from ._cells import cell_text, itemset_cells
from ._itemsets import Itemsets
from ._loading import ABOUT_COLUMN, guarantee_texts, people_end_names
from ._patterns import Patterns
from ._provenance import Provenance
from ._rules import Rules

if TYPE_CHECKING:
    import pyarrow as pa

    from ..baskets import Vocabulary
    from ._result import Result

_STRIDE = 100_000  # rows rendered as text at once. More: more memory; fewer: more calls of Arrow


def write_json(result: Result, stream: BinaryIO, pointer: str | None = None) -> None:
    """Write a result as one JSON object."""
    if not isinstance(result, Patterns | Rules):
        stream.write((json.dumps(result.to_dict(), indent=1) + "\n").encode())
        return
    stream.write(f'{{{json.dumps(header_of(result))[1:-1]},\n"{_kind(result)}": ['.encode())
    # In parts: the text of millions of rows takes several times the memory of their columns.
    for start in range(0, len(result), _STRIDE):
        columns = _columns(result[start : start + _STRIDE], Itemsets.to_json, json.dumps)
        _write_objects(columns, stream, is_first=start == 0)
    stream.write(b"\n]}\n")


def _write_delimited(result: Result, stream: BinaryIO, pointer: str | None = None, *, delimiter: str) -> None:
    """Write a table of text with a header line."""
    import pyarrow.csv as csv

    options = csv.WriteOptions(include_header=False, batch_size=_STRIDE, delimiter=delimiter)
    for number, part in enumerate(cell_tables(result, pointer)):
        if not number:
            # Column names of patterns and rules need no quotes; results of plain values had quotes from the start.
            quote = "" if isinstance(result, Patterns | Rules) else '"'
            stream.write((delimiter.join(f"{quote}{name}{quote}" for name in part.column_names) + "\n").encode())
        csv.write_csv(part, stream, options)


write_csv = partial(_write_delimited, delimiter=",")
write_tsv = partial(_write_delimited, delimiter="\t")


def write_parquet(result: Result, stream: BinaryIO, pointer: str | None = None) -> None:
    """Write the table of a result as Parquet, with its header in the metadata."""
    import pyarrow.parquet as pq

    pq.write_table(_table_with_header(result), stream, compression="zstd")


def write_arrow(result: Result, stream: BinaryIO, pointer: str | None = None) -> None:
    """Write the table of a result as an Arrow file, which is a Feather file too, with its header in the metadata."""
    import pyarrow as pa

    table = _table_with_header(result)
    # Not compressed: the size of the file bounds the memory of a reader, and programs can map it.
    with pa.ipc.new_file(stream, table.schema) as writer:
        writer.write_table(table)


def _table_with_header(result: Result) -> pa.Table:
    """Return the Arrow table of a result with its header as metadata."""
    return result.to_arrow().replace_schema_metadata({"discreet": json.dumps(header_of(result))})


def cell_tables(result: Result, pointer: str | None) -> Iterator[pa.Table]:
    """Return the rows of a result as tables of cells, in parts; the first part has the columns, perhaps all rows."""
    import pyarrow as pa

    if not isinstance(result, Patterns | Rules):
        yield result.cell_table()
        return
    yield pa.table(_cell_columns(result[:0]) | _promise_columns(result, 0, pointer))
    if not len(result) and result.provenance is not None:
        yield pa.table(_empty_row(result, pointer))
    for start in range(0, len(result), _STRIDE):
        part = result[start : start + _STRIDE]
        yield pa.table(_cell_columns(part) | _promise_columns(part, len(part), pointer, start == 0))


def _kind(result: Patterns | Rules) -> str:
    """Return ``"patterns"``, ``"rules"`` or ``"relations"``."""
    return "patterns" if isinstance(result, Patterns) else result.kind


def header_of(result: Result) -> dict[str, Any]:
    """Return the header of a result: the values that a file has beside the rows."""
    if not isinstance(result, Patterns | Rules):
        return result.to_dict()
    header: dict[str, Any] = {"discreet": f"{_kind(result)}/1", result.unit: result.people}
    if result.people_within is not None:
        header |= dict(zip(people_end_names(result.unit), result.people_within, strict=True))
    if isinstance(result, Rules):
        header |= {"omitted": result.omitted, "tested": result.tested}
        if result.how is not None:
            header["how"] = result.how
    elif not result.counted:
        header["counted"] = False
    elif result.low is not None:
        header["noise_from"] = result.noise_from
    if result.hierarchy is not None:
        header["hierarchy"] = result.hierarchy_values
    return header | (result.provenance or Provenance()).to_dict()


def _columns(
    rows: Patterns | Rules,
    render_itemsets: Callable[[Itemsets, Vocabulary], pa.Array],
    render_text: Callable[[str], str],
) -> dict[str, Any]:
    """Return the columns of some rows, with itemsets and levels rendered as text."""
    import pyarrow as pa

    # From the public table, so that a file has the columns that the documentation lists.
    table = rows.to_arrow()
    columns: dict[str, Any] = {name: table[name].combine_chunks() for name in table.column_names}
    # The sides of a row are the first columns of its table.
    for name, side in zip(table.column_names, rows.sides, strict=False):
        columns[name] = render_itemsets(side, rows.vocabulary)
    if "level" in columns:
        columns["level"] = pa.array(map(render_text, columns["level"].to_pylist()), pa.large_string())
    return columns


def _cell_columns(rows: Patterns | Rules) -> dict[str, Any]:
    """Return the columns of some rows with itemsets as cells of a spreadsheet."""
    return _columns(rows, itemset_cells, cell_text)


def _promise_columns(result: Patterns | Rules, rows: int, pointer: str | None, is_first: bool = True) -> dict[str, Any]:
    """Return the columns that a CSV file repeats in every row, and in the first row the pointer to the file beside it.

    These columns are the number of people, and the guarantee.
    """
    import pyarrow as pa

    columns: dict[str, Any] = {result.unit: np.full(rows, result.people)}
    if result.people_within is not None:
        ends = zip(people_end_names(result.unit), result.people_within, strict=True)
        columns |= {name: np.full(rows, end) for name, end in ends}
    if result.provenance is not None:
        for name, value in guarantee_texts(result.provenance).items():
            columns[name] = pa.array([value] * rows, pa.large_string())
        columns["simulated"] = np.full(rows, result.provenance.simulated)
    if pointer is not None:
        # Once in the first row: repeated, a long name would double the size of a table.
        columns[ABOUT_COLUMN] = pa.array(
            [None if row or not is_first else pointer for row in range(rows)], pa.large_string()
        )
    return columns


def _empty_row(result: Patterns | Rules, pointer: str | None) -> dict[str, Any]:
    """Return one row without items, which carries the guarantee of a result without patterns."""
    import pyarrow as pa

    blank = {name: pa.nulls(1, pa.large_string()) for name in _cell_columns(result[:0])}
    return blank | _promise_columns(result, 1, pointer)


def _write_objects(columns: dict[str, Any], stream: BinaryIO, is_first: bool) -> None:
    """Write rows as JSON objects, one per line; columns of text must be JSON already."""
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
    text = pc.binary_join(pa.LargeListArray.from_arrays(pa.array([0, len(lines)], pa.int64()), lines), constant(",\n"))
    stream.write(b"\n" if is_first else b",\n")
    stream.write(text[0].as_buffer())
