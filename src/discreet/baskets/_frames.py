"""Data frames of any library become streams of Arrow batches; nothing here knows what a basket is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import InputError
from ._allowance import Allowance

_BATCH = 1 << 16
_A_VALUE = 8  # bytes, at least


@dataclass(frozen=True)
class ArrowStream:
    """A table as a stream of Arrow batches; `single` if it was one column of lists."""

    name: str
    reader: Any
    single: bool = False


def has(source: Any, name: str) -> bool:
    """Say whether something is of a type that has this name.

    The thing itself is not asked: there are some, such as frames of Spark, that answer to every name.
    """
    return hasattr(type(source), name)


def is_spark_frame(source: Any) -> bool:
    """Say whether something is a data frame of Spark, classic or Connect: by its type, and without loading Spark."""
    return any(
        kind.__name__ == "DataFrame" and f"{kind.__module__}.".startswith("pyspark.sql.")
        for kind in type(source).__mro__
    )


def is_result(source: Any) -> bool:
    """Say whether something is a result of ours, which is a table too, but not one of baskets."""
    return _comes_from(source, "discreet")


def _comes_from(source: Any, package: str) -> bool:
    return any(f"{kind.__module__}.".startswith(f"{package}.") for kind in type(source).__mro__)


def arrow_stream(source: Any, wanted: list[str]) -> ArrowStream | None:
    """Return the rows of a data frame, or of a single column of lists; None for what is neither."""
    if has(source, "collect_schema") or has(source, "scanner"):
        source = _narrowed(source, wanted)
    if not has(source, "__arrow_c_stream__") and not has(source, "__arrow_c_array__"):
        return None
    import pyarrow as pa

    streamed = has(source, "__arrow_c_stream__")
    try:
        if streamed:
            return ArrowStream("The table", pa.RecordBatchReader.from_stream(_narrowed(source, wanted)))
    except (TypeError, ValueError, OverflowError) as error:
        if has(source, "columns"):
            raise _unreadable(str(error)) from None
    try:
        column = pa.chunked_array(source if streamed else [pa.array(source)])
    except (TypeError, ValueError):
        return None
    if pa.types.is_struct(column.type):
        return ArrowStream("The table", pa.Table.from_struct_array(column).to_reader())
    from ._databases import is_list_type

    if not len(column) or not is_list_type(column.type):
        return None
    return ArrowStream("The baskets given", pa.table({"items": column}).to_reader(), single=True)


def _narrowed(source: Any, wanted: list[str]) -> Any:
    """Return a frame without the columns that are not asked for: Arrow may not know what they hold."""
    if has(source, "collect"):  # a lazy one, of polars
        names = source.collect_schema().names()
        chosen = [name for name in names if name in wanted]
        return (source.select(chosen) if wanted and set(wanted) <= set(names) else source).collect()
    if has(source, "scanner"):  # a dataset of pyarrow, or of a package that builds on it
        there = set(source.schema.names)
        return source.scanner(columns=list(wanted) if wanted and set(wanted) <= there else None).to_reader()
    if not wanted or not has(source, "iloc"):
        return source
    names = [str(column) for column in source.columns]
    if not set(wanted) <= {*names, *map(str, source.index.names)}:
        return source
    return source.iloc[:, [place for place, name in enumerate(names) if name in wanted]]


def table_of(columns: Mapping[Any, Any], wanted: list[str]) -> ArrowStream:
    """Return a dictionary of columns as a table; those that are not asked for may hold anything."""
    import pyarrow as pa

    named = {str(name): values for name, values in columns.items()}
    chosen = wanted if wanted and set(wanted) <= set(named) else list(named)
    made: dict[str, Any] = {}
    for name in chosen:
        try:
            made[name] = pa.array(named[name])
        except (TypeError, ValueError, OverflowError):
            raise InputError(
                f"The table: column {name!r} holds values of several types, or of one that Arrow does not know; "
                "convert it."
            ) from None
    lengths = {name: len(values) for name, values in made.items()}
    if len(set(lengths.values())) > 1:
        told_lengths = ", ".join(f"{name}: {length:,}" for name, length in lengths.items())
        raise InputError(f"The table: its columns have different lengths ({told_lengths}).")
    rows = next(iter(lengths.values()), 0)
    # The others are named, for a message that lists what there is.
    made |= {name: pa.nulls(rows) for name in named if name not in made}
    return ArrowStream("The table", pa.table(made).to_reader())


def records_table(records: Iterable[Any], wanted: list[str], allowed: Allowance) -> ArrowStream:
    """Return dictionaries, one for each row, as a table; a name that one of them lacks has no value there."""
    columns: dict[str, list[Any]] = {name: [] for name in wanted}
    there: dict[str, None] = {}
    for number, record in enumerate(records):
        if not isinstance(record, Mapping):
            raise InputError(
                f"Record {number} is {type(record).__name__}, and not a dictionary; all of them name their columns."
            )
        there.update(dict.fromkeys(map(str, record)))
        for name, values in columns.items():
            values.append(record.get(name))
        if number % _BATCH == 0:
            allowed.check("The records given", _A_VALUE * number * len(columns))
    found = {name: values for name, values in columns.items() if name in there}
    return table_of(
        found | {name: [None] * len(next(iter(columns.values()))) for name in there if name not in found}, wanted
    )


def _unreadable(problem: str) -> InputError:
    """Say why Arrow cannot take a frame, without the values it names."""
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
    which = f"column {column[1]!r}" if column else "a column"
    return InputError(
        f"The table: {which} holds values of several types, or of one that Arrow does not know; convert it."
    )
