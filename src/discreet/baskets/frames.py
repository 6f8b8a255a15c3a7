"""Data frames of any library become streams of Arrow batches; nothing here knows what a basket is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ..errors import InputError, told


@dataclass(frozen=True)
class ArrowStream:
    """A table as a stream of Arrow batches; `single` if it was one column of lists."""

    name: str
    reader: Any
    single: bool = False


def is_spark_frame(source: Any) -> bool:
    """Say whether something is a data frame of Spark, classic or Connect: by its type, and without loading Spark.

    What it is asked for tells nothing: objects of Spark answer yes to most names, as to those of their columns.
    """
    kinds = type(source).__mro__
    return any(kind.__name__ == "DataFrame" and kind.__module__.startswith("pyspark.sql") for kind in kinds)


def arrow_stream(source: Any, wanted: list[str]) -> ArrowStream | None:
    """Return the rows of a data frame, or of a single column of lists; None for what is neither."""
    if hasattr(type(source), "collect_schema"):
        source = _narrowed(source, wanted)
    if not hasattr(source, "__arrow_c_stream__") and not hasattr(source, "__arrow_c_array__"):
        return None
    import pyarrow as pa

    streamed = hasattr(source, "__arrow_c_stream__")
    try:
        if streamed:
            return ArrowStream("The table", pa.RecordBatchReader.from_stream(_narrowed(source, wanted)))
    except (TypeError, ValueError, OverflowError) as error:
        if hasattr(source, "columns"):
            raise _unreadable(str(error)) from None
    try:
        column = pa.chunked_array(source if streamed else [pa.array(source)])
    except (TypeError, ValueError):
        return None
    if pa.types.is_struct(column.type):
        return ArrowStream("The table", pa.Table.from_struct_array(column).to_reader())
    from .databases import is_list_type

    if not len(column) or not is_list_type(column.type):
        return None
    return ArrowStream("The baskets given", pa.table({"items": column}).to_reader(), single=True)


def _narrowed(source: Any, wanted: list[str]) -> Any:
    """Return a frame without the columns that are not asked for: Arrow may not know what they hold."""
    if hasattr(source, "collect"):  # a lazy one, of polars
        names = source.collect_schema().names()
        chosen = [name for name in names if name in wanted]
        return (source.select(chosen) if wanted and set(wanted) <= set(names) else source).collect()
    if not wanted or not hasattr(source, "iloc"):
        return source
    names = [str(column) for column in source.columns]
    if not set(wanted) <= {*names, *map(str, source.index.names)}:
        return source
    return source.iloc[:, [place for place, name in enumerate(names) if name in wanted]]


def _unreadable(problem: str) -> InputError:
    """Say why Arrow cannot take a frame, without the values it names."""
    if "Sparse" in problem:
        return InputError(
            told(
                "A pandas frame with sparse columns cannot be read as it is: "
                "give frame.sparse.to_coo() and {labels=}list(frame.columns)."
            )
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
