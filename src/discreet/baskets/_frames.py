"""Data frames of any library as streams of Arrow batches."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import InputError
from ..heavy import pa
from ._streams import MemoryLimit

_BATCH = 1 << 16  # records between two checks of the memory
_VALUE_BYTES = 8  # a lower bound


@dataclass(frozen=True)
class ArrowStream:
    """A table as a stream of Arrow batches; `single` if it is one column of lists."""

    name: str
    reader: Any
    single: bool = False


def has_attribute(source: Any, name: str) -> bool:
    """Return whether the type of an object has an attribute.

    The type is asked because some objects, such as frames of Spark, return an attribute for every name.
    """
    return hasattr(type(source), name)


def is_spark_frame(source: Any) -> bool:
    """Return whether an object is a data frame of Spark, classic or Connect, without an import of Spark."""
    return any(
        kind.__name__ == "DataFrame" and f"{kind.__module__}.".startswith("pyspark.sql.")
        for kind in type(source).__mro__
    )


def is_result(source: Any) -> bool:
    """Return whether an object is a result of discreet, which is a table but has no baskets."""
    return any(f"{kind.__module__}.".startswith("discreet.") for kind in type(source).__mro__)


def open_frame(source: Any, column_names: list[str]) -> ArrowStream | None:
    """Return the rows of a data frame, or of a single column of lists; None for any other object."""
    if has_attribute(source, "collect_schema") or has_attribute(source, "scanner"):
        source = _select_columns(source, column_names)
    if not has_attribute(source, "__arrow_c_stream__") and not has_attribute(source, "__arrow_c_array__"):
        return None
    is_stream = has_attribute(source, "__arrow_c_stream__")
    try:
        if is_stream:
            return ArrowStream("The table", pa.RecordBatchReader.from_stream(_select_columns(source, column_names)))
    except (TypeError, ValueError, OverflowError) as error:
        if has_attribute(source, "columns"):
            raise _build_frame_error(str(error)) from None
    # A series is a stream without columns, which a reader of batches refuses.
    try:
        column = pa.chunked_array(source if is_stream else [pa.array(source)])
    except (TypeError, ValueError):
        return None
    if pa.types.is_struct(column.type):
        return ArrowStream("The table", pa.Table.from_struct_array(column).to_reader())
    from ._databases import is_list_type

    if not len(column) or not is_list_type(column.type):
        return None
    return ArrowStream("The baskets given", pa.table({"items": column}).to_reader(), single=True)


def _select_columns(source: Any, column_names: list[str]) -> Any:
    """Return a frame with only the columns in `column_names`: Arrow may not know the types of further columns."""
    if has_attribute(source, "collect"):  # a lazy frame of polars
        names = source.collect_schema().names()
        selected = [name for name in names if name in column_names]
        return (source.select(selected) if column_names and set(column_names) <= set(names) else source).collect()
    if has_attribute(source, "scanner"):  # a dataset of pyarrow, or of a package that builds on it
        has_all = column_names and set(column_names) <= set(source.schema.names)
        return source.scanner(columns=list(column_names) if has_all else None).to_reader()
    if not column_names or not has_attribute(source, "iloc"):
        return source
    names = [str(column) for column in source.columns]
    # Arrow turns a named index of pandas into a column, so an index may be the person.
    if not set(column_names) <= {*names, *map(str, source.index.names)}:
        return source
    return source.iloc[:, [number for number, name in enumerate(names) if name in column_names]]


def build_column_stream(columns: Mapping[Any, Any], column_names: list[str]) -> ArrowStream:
    """Return a dictionary of columns as a table; columns that are not in `column_names` may have any values."""
    values_by_name = {str(name): values for name, values in columns.items()}
    selected = column_names if column_names and set(column_names) <= set(values_by_name) else list(values_by_name)
    arrays: dict[str, Any] = {}
    for name in selected:
        try:
            arrays[name] = pa.array(values_by_name[name])
        except (TypeError, ValueError, OverflowError):
            raise InputError(
                f"The table: column {name!r} holds values of several types, or of one that Arrow does not know; "
                "convert it."
            ) from None
    lengths = {name: len(values) for name, values in arrays.items()}
    if len(set(lengths.values())) > 1:
        length_list = ", ".join(f"{name}: {length:,}" for name, length in lengths.items())
        raise InputError(f"The table: its columns have different lengths ({length_list}).")
    rows = next(iter(lengths.values()), 0)
    # Columns without values stay, for the message that lists all columns.
    arrays |= {name: pa.nulls(rows) for name in values_by_name if name not in arrays}
    return ArrowStream("The table", pa.table(arrays).to_reader())


def build_record_stream(records: Iterable[Any], column_names: list[str], memory_limit: MemoryLimit) -> ArrowStream:
    """Return dictionaries, one per row, as a table; a missing key is a missing value."""
    # Only the columns that options name are kept: records may have large further fields.
    columns: dict[str, list[Any]] = {name: [] for name in column_names}
    names: dict[str, None] = {}
    for number, record in enumerate(records):
        if not isinstance(record, Mapping):
            raise InputError(
                f"Record {number} is {type(record).__name__}, and not a dictionary; all of them name their columns."
            )
        names.update(dict.fromkeys(map(str, record)))
        for name, values in columns.items():
            values.append(record.get(name))
        # Records have no size of their own, so a lower bound is counted.
        if number % _BATCH == 0:
            memory_limit.check("The records given", _VALUE_BYTES * number * len(columns))
    rows = len(next(iter(columns.values()), []))
    ordered = dict.fromkeys(name for name in columns if name in names) | names
    return build_column_stream({name: columns.get(name, [None] * rows) for name in ordered}, column_names)


def _build_frame_error(problem: str) -> InputError:
    """Return the error for a frame that Arrow cannot read, without the private values in its message."""
    # The messages of Arrow quote values of the frame, so only known ones are translated.
    if "Sparse" in problem:
        return InputError.format(
            "A pandas frame with sparse columns cannot be read as it is: "
            "give frame.sparse.to_coo() and {labels=}list(frame.columns)."
        )
    if "Duplicate column names" in problem:
        return InputError("The table has several columns of the same name; rename all but one.")
    if "too large" in problem:
        return InputError("The table has whole numbers that do not fit 64 bits in a column; convert it to text.")
    column = re.search(r"column (.+?) with type", problem)
    subject = f"column {column[1]!r}" if column else "a column"
    return InputError(
        f"The table: {subject} holds values of several types, or of one that Arrow does not know; convert it."
    )
