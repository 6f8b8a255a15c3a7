"""Tables whose columns are items: true or 1 where a row's person holds the item."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..kernels import translate
from ._allowance import Allowance
from ._build import Collector, Labels, Rows, parse_labels, sort_labels
from ._core import Item
from ._memory import column_labels


def one_hot(name: str, reader: Any, allowed: Allowance, labels: Labels | Sequence[Item]) -> Rows:
    """Read a table whose columns are items: true or 1 where a row's person holds the item."""
    import pyarrow as pa

    index = _index(reader.schema)
    places = [place for place, column in enumerate(reader.schema.names) if column not in index]
    columns = [reader.schema.names[place] for place in places]
    for place, column in zip(places, columns, strict=True):
        type_ = _plain(reader.schema.field(place).type)
        if not (pa.types.is_boolean(type_) or pa.types.is_integer(type_) or pa.types.is_floating(type_)):
            raise InputError(f"{name}: column {column!r} is of type {type_}; a one-hot column is true/false or 0/1.")
    collector = Collector(name, allowed)
    for batch in reader:
        rows: list[NDArray[np.int64]] = []
        for place, column in zip(places, columns, strict=True):
            given = batch.column(place)
            try:
                given.validate(full=True)
            except pa.ArrowInvalid as error:
                raise InputError(f"{name}: column {column!r} is damaged: {error}.") from None
            given = given.dictionary_decode() if pa.types.is_dictionary(given.type) else given
            values = np.nan_to_num(np.asarray(given.fill_null(False if pa.types.is_boolean(given.type) else 0)))
            rows.append(np.flatnonzero(values))
            if np.any(values[rows[-1]] != 1):
                raise InputError(f"{name}: column {column!r} has values other than 0 and 1; it is not one-hot.")
        held = np.concatenate([np.empty(0, np.int64), *rows])
        items = np.repeat(np.arange(len(columns)), [len(row) for row in rows])
        collector.add_numbers(np.bincount(held, minlength=len(batch)), items[np.argsort(held, kind="stable")])
    return _renamed(name, collector.finish(None), columns, labels)


def _renamed(name: str, rows: Rows, columns: list[str], labels: Labels | Sequence[Item]) -> Rows:
    """Give numbered columns their names; names that are all numbers are numbers, as in a text file."""
    import pyarrow as pa

    if labels is not None and not isinstance(labels, str):
        found = column_labels(labels, len(columns), "the table").take(rows.vocabulary.labels)
        kind: Labels = None
    else:
        column, count = max(Counter(columns).items(), key=lambda found: found[1], default=("", 0))
        if count > 1:
            raise InputError(f"{name} has {count} columns {column!r}; rename all but one.")
        found = pa.array(columns, pa.large_string()).take(rows.vocabulary.labels)
        plain = parse_labels(found, plain=True)[0] is not None
        kind = cast(Labels, labels) or ("numbers" if plain else "names")
    vocabulary, table = sort_labels(found, kind, name)
    codes = np.empty_like(rows.codes)
    translate(rows.codes, table, codes)
    return replace(rows, codes=codes, vocabulary=vocabulary)


def is_one_hot(schema: Any) -> bool:
    """Whether all columns are true/false."""
    import pyarrow as pa

    index = _index(schema)
    types = [_plain(field.type) for field in schema if field.name not in index]
    return bool(types) and all(map(pa.types.is_boolean, types))


def _plain(type_: Any) -> Any:
    """Return the type of what is held: categories are of some type too."""
    import pyarrow as pa

    return type_.value_type if pa.types.is_dictionary(type_) else type_


def _index(schema: Any) -> set[str]:
    """Return the columns that are a pandas frame's index."""
    described = schema.pandas_metadata or {}
    return {column for column in described.get("index_columns", []) if isinstance(column, str)}
