"""One-hot tables: a column per item, with true or 1 for the holders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ._allowance import MemoryLimit
from ._build import Collector, Labels, Rows, parse_labels, recode, sort_labels
from ._core import Item
from ._memory import check_column_labels


def read_one_hot(name: str, reader: Any, memory_limit: MemoryLimit, labels: Labels | Sequence[Item]) -> Rows:
    """Return the baskets of a table with a column per item: true or 1 in the rows of the holders."""
    import pyarrow as pa

    index = _find_index_columns(reader.schema)
    numbers = [number for number, column in enumerate(reader.schema.names) if column not in index]
    columns = [reader.schema.names[number] for number in numbers]
    for number, column in zip(numbers, columns, strict=True):
        type_ = _value_type(reader.schema.field(number).type)
        if not (pa.types.is_boolean(type_) or pa.types.is_integer(type_) or pa.types.is_floating(type_)):
            raise InputError(f"{name}: column {column!r} is of type {type_}; a one-hot column is true/false or 0/1.")
    collector = Collector(name, memory_limit)
    for batch in reader:
        rows: list[NDArray[np.int64]] = []
        for number, column in zip(numbers, columns, strict=True):
            array = batch.column(number)
            try:
                # A foreign library may have built the array: an index out of range would read foreign memory.
                array.validate(full=True)
            except pa.ArrowInvalid as error:
                raise InputError(f"{name}: column {column!r} is damaged: {error}.") from None
            array = array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
            values = np.nan_to_num(np.asarray(array.fill_null(False if pa.types.is_boolean(array.type) else 0)))
            rows.append(np.flatnonzero(values))
            if np.any(values[rows[-1]] != 1):
                raise InputError(f"{name}: column {column!r} has values other than 0 and 1; it is not one-hot.")
        holders = np.concatenate([np.empty(0, np.int64), *rows])
        items = np.repeat(np.arange(len(columns)), [len(row) for row in rows])
        collector.add_numbers(np.bincount(holders, minlength=len(batch)), items[np.argsort(holders, kind="stable")])
    return _name_items(name, collector.build_rows(None), columns, labels)


def _name_items(name: str, rows: Rows, columns: list[str], labels: Labels | Sequence[Item]) -> Rows:
    """Return rows of column numbers under the names of the columns; names that are all numbers become numbers."""
    import pyarrow as pa

    if labels is not None and not isinstance(labels, str):
        names = check_column_labels(labels, len(columns), "the table").take(rows.vocabulary.labels)
        label_type: Labels = None
    else:
        column, count = max(Counter(columns).items(), key=lambda pair: pair[1], default=("", 0))
        if count > 1:
            raise InputError(f"{name} has {count} columns {column!r}; rename all but one.")
        names = pa.array(columns, pa.large_string()).take(rows.vocabulary.labels)
        has_numbers = parse_labels(names, plain=True)[0] is not None
        label_type = cast(Labels, labels) or ("numbers" if has_numbers else "names")
    vocabulary, table = sort_labels(names, label_type, name)
    return replace(rows, codes=recode(rows.codes, table), vocabulary=vocabulary)


def is_one_hot(schema: Any) -> bool:
    """Return whether all columns are true/false."""
    import pyarrow as pa

    index = _find_index_columns(schema)
    types = [_value_type(field.type) for field in schema if field.name not in index]
    return bool(types) and all(map(pa.types.is_boolean, types))


def _value_type(type_: Any) -> Any:
    """Return the type of the values of a column; the values of categories have their own type."""
    import pyarrow as pa

    return type_.value_type if pa.types.is_dictionary(type_) else type_


def _find_index_columns(schema: Any) -> set[str]:
    """Return the columns that are the index of a pandas frame."""
    metadata = schema.pandas_metadata or {}
    return {column for column in metadata.get("index_columns", []) if isinstance(column, str)}
