"""Readers of Python objects: iterables of sets or lists, matrices, and JSON lines.

A parsed JSON line is a Python list, so items of JSON and of Python follow one set of rules.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..errors import EmptyDataError, InputError, MisuseError
from ..heavy import pa
from ._arrow import as_arrow
from ._build import Collector, Labels, Rows, mixed_items_error, parse_labels, recode, sort_labels, sort_pairs
from ._core import Item, Offsets, build_label_array, starts
from ._streams import UTF_8, MemoryLimit, Progress, read_blocks

_BATCH = 1 << 16  # baskets per step; larger: more memory, smaller: more calls
_SPREAD = 32  # bytes of Python objects per byte of JSON, at most: [[],[],[]]
_ITEM_RULE = "items are whole numbers or names (text)"
_FIELDS = {"items", "pairs"}


class _ItemReader:
    """Adds Python values to a collector; errors name the row of the first unfit value."""

    def __init__(self, name: str, memory_limit: MemoryLimit, labels: Labels) -> None:
        self._name = name
        self._labels: Labels = labels
        self._collector = Collector(name, memory_limit)
        self._is_text: bool | None = None

    def add(self, sizes: NDArray[np.int64], values: list[Any], word: str, numbers: Sequence[int]) -> None:
        """Add rows with `sizes` items each; messages name a row by `word` and by its entry of `numbers`."""

        def name_row(position: int) -> str:
            return f"{word} {numbers[int(np.searchsorted(np.cumsum(sizes), position, side='right'))]}"

        types = set(map(type, values))
        is_text = {issubclass(type_, str) for type_ in types}
        # bool is a subclass of int in Python, but no item.
        if any(not issubclass(type_, (int, np.integer, str)) or type_ is bool for type_ in types):
            wrong = next(i for i, value in enumerate(values) if not _is_item(value))
            raise InputError(f"{name_row(wrong)}: {_ITEM_RULE}, not {type(values[wrong]).__name__}.")
        # Without the option `labels`, the first value decides the type of all items.
        if self._labels is None and is_text:
            self._is_text = min(is_text) if self._is_text is None else self._is_text
            if is_text != {self._is_text}:
                wrong = next(i for i, value in enumerate(values) if isinstance(value, str) != self._is_text)
                raise mixed_items_error(name_row(wrong))
        if self._labels is not None and is_text:
            values = [value if isinstance(value, str) else _render_number(value) for value in values]
        elif is_text != {True}:
            try:
                # numpy raises an OverflowError for numbers over 64 bits; only then is the number searched.
                self._collector.add_numbers(sizes, np.array(values, np.int64))
            except OverflowError:
                wrong = next(i for i, value in enumerate(values) if not -(2**63) <= value < 2**63)
                raise InputError.format(
                    '{place}: an item does not fit 64 bits; {labels="names"} reads items as names.',
                    place=name_row(wrong),
                ) from None
            return
        try:
            names = pa.array(values, pa.large_string())
        except UnicodeEncodeError:
            wrong = next(i for i, value in enumerate(values) if any("\ud800" <= letter <= "\udfff" for letter in value))
            raise InputError(f"{name_row(wrong)}: an item is not text (it has a lone surrogate).") from None
        self._collector.add_names(sizes, names)

    def finish(self) -> Rows:
        return self._collector.build_rows(self._labels)


def _render_number(number: Any) -> str:
    try:
        return str(number)
    except ValueError:
        raise InputError("An item is a number with too many digits; convert it to text first.") from None


def _is_item(value: object) -> bool:
    return isinstance(value, (int, np.integer, str)) and not isinstance(value, bool)


def _sizes(rows: Sequence[Any]) -> NDArray[np.int64]:
    return np.fromiter(map(len, rows), np.int64, len(rows))


def read_iterable(source: Iterable[Any], memory_limit: MemoryLimit, *, labels: Labels, ordered: bool) -> Rows:
    """Return the rows of an iterable of sets, lists, tuples or other iterables of items."""
    items = _ItemReader("The baskets given", memory_limit, labels)
    baskets = iter(source)
    baskets_read = 0
    while batch := list(islice(baskets, _BATCH)):
        # Types are checked once per batch, and not per basket: mostly a batch has one type.
        types: set[Any] = set(map(type, batch))
        for kind in types:
            is_unfit = issubclass(kind, (str, bytes, Mapping)) or not issubclass(kind, Iterable)
            # An array without dimensions has the type of an iterable.
            if hasattr(kind, "ndim"):
                scalars = [i for i, basket in enumerate(batch) if getattr(basket, "ndim", 1) == 0]
                if scalars:
                    raise _build_basket_error(baskets_read + scalars[0], kind)
            if is_unfit or (ordered and issubclass(kind, Set)):
                number = baskets_read + next(i for i, basket in enumerate(batch) if type(basket) is kind)
                if is_unfit:
                    raise _build_basket_error(number, kind)
                raise MisuseError.format(
                    "{ordered=True}, but basket {number} is a {type_name}, which has no order; give lists.",
                    number=number,
                    type_name=kind.__name__,
                )
        batch = [basket if hasattr(basket, "__len__") else list(basket) for basket in batch]
        numbers = range(baskets_read, baskets_read + len(batch))
        items.add(_sizes(batch), list(chain.from_iterable(batch)), "Basket", numbers)
        baskets_read += len(batch)
    return items.finish()


def _build_basket_error(number: int, kind: type) -> InputError:
    article = "an" if kind.__name__[0] in "aeiou" else "a"
    return InputError(
        f"Basket {number} is {article} {kind.__name__}; a basket is a set or a list of items, as in "
        'discreet.read([{"tea", "milk"}, {"bread"}]).'
    )


def read_sparse(matrix: Any, names: Iterable[Item] | None) -> Rows:
    """Return the baskets of a scipy sparse matrix: one row per basket, one column per item, nonzero for held items."""
    if len(matrix.shape) != 2:
        raise InputError(
            f"The matrix has no rows and columns (its shape is {matrix.shape}); give one with one row per person."
        )
    labels = None if names is None else check_column_labels(names, matrix.shape[1], "the matrix")
    matrix = matrix.tocsr()
    try:
        # Indices out of range would read foreign memory.
        matrix.check_format(full_check=True)
    except ValueError as error:
        raise InputError(f"The matrix is damaged: {error}.") from None
    is_held = matrix.data != 0
    return _build_numbered_rows(starts(is_held)[matrix.indptr], matrix.indices[is_held], matrix.shape[1], labels)


def read_dense(matrix: NDArray[Any], names: Iterable[Item] | None) -> Rows:
    """Return the baskets of an array of true and false, or of 1 and 0: one row per basket, one column per item."""
    if matrix.dtype != np.bool_:
        if not has_zeros_and_ones(matrix):
            raise InputError("The array has values other than 0 and 1; it is not one-hot.")
        matrix = matrix == 1
    labels = None if names is None else check_column_labels(names, matrix.shape[1], "the array")
    return _build_numbered_rows(starts(matrix.sum(axis=1)), np.nonzero(matrix)[1], matrix.shape[1], labels)


def has_zeros_and_ones(matrix: NDArray[Any]) -> bool:
    """Return whether an array has numbers, and only 0 and 1."""
    return matrix.dtype.kind in "iuf" and bool(np.isin(matrix, (0, 1)).all())


def _build_numbered_rows(offsets: Offsets, columns: NDArray[Any], width: int, column_labels: Any) -> Rows:
    """Return rows of column numbers as rows of codes, under the labels of the columns; None for their numbers."""
    # Only columns with holders become items, as in all readers.
    held_columns = np.flatnonzero(np.bincount(columns, minlength=width))
    labels = as_arrow(held_columns) if column_labels is None else column_labels.take(as_arrow(held_columns))
    vocabulary, codes = sort_labels(labels, None, "The matrix")
    table = np.zeros(width, np.int32)
    table[held_columns] = codes
    return Rows(offsets=offsets, codes=table[columns], vocabulary=vocabulary)


def check_column_labels(labels: Any, columns: int, source: str) -> Any:
    """Return the option `labels` as an Arrow array of different labels, one per column."""
    if isinstance(labels, Set) or not isinstance(labels, Iterable):
        raise MisuseError.format(
            "{labels} is a {given}; give a list with the name of each column, in order.",
            given=type(labels).__name__,
        )
    names = labels.to_pylist() if hasattr(labels, "to_pylist") else list(labels)
    if len(names) != columns:
        raise MisuseError.format(
            "{labels} has {given:,} names, but {source} has {columns:,} columns; give one for each.",
            given=len(names),
            source=source,
            columns=columns,
        )
    column_labels = build_label_array(names)
    if len(column_labels.unique()) != len(column_labels):
        raise MisuseError.format("{labels} names an item twice; give each column a name of its own.")
    return column_labels


def read_json_lines(
    path: Path,
    compression: str | None,
    memory_limit: MemoryLimit,
    *,
    labels: Labels,
    encoding: str = UTF_8,
    progress: Progress = None,
) -> tuple[Rows, list[str]]:
    """Return the baskets of JSON lines: each a list of items, or an object with the lists `items` and `pairs`.

    The second value is the names of all further fields, which are ignored.
    """
    items = _ItemReader(str(path), memory_limit, labels)
    line = 0
    people = 0
    ignored_fields: dict[str, None] = {}
    pair_people: list[NDArray[np.int64]] = []
    pair_counts: list[NDArray[np.int64]] = []
    for block in read_blocks(path, compression, memory_limit, _SPREAD, progress, encoding):
        # A block ends at a line end, so the last text is empty except at the end of the file.
        texts = block.tobytes().split(b"\n")
        last_line = line + len(texts) - (not texts[-1])
        numbers = [line + i for i, text in enumerate(texts, 1) if not text.isspace() and text]
        baskets = [_parse(path, number, texts[number - line - 1]) for number in numbers]
        for basket in baskets:
            if isinstance(basket, dict) and not basket.keys() <= _FIELDS:
                ignored_fields.update(dict.fromkeys(name for name in basket if name not in _FIELDS))
        pairs = [_pairs(path, number, basket) for number, basket in zip(numbers, baskets, strict=True)]
        rows = [_row(path, number, basket, pair) for number, basket, pair in zip(numbers, baskets, pairs, strict=True)]
        items.add(_sizes(rows), list(chain.from_iterable(rows)), f"{path}, line", numbers)
        # The items of pairs are the last items of a row, so only their number has to be remembered.
        counts = _sizes(pairs)
        pair_counts.append(counts)
        pair_people.append(people + np.repeat(np.arange(len(pairs)), counts))
        line, people = last_line, people + len(rows)
    if not people:
        raise EmptyDataError(f"{path} has no baskets, only blank lines; an empty basket is written as [].")
    return _add_pairs(items.finish(), np.concatenate(pair_counts), np.concatenate(pair_people)), list(ignored_fields)


def _parse(path: Path, number: int, text: bytes) -> Any:
    try:
        return json.loads(text)
    except UnicodeDecodeError:
        problem = "is not UTF-8 text"
    except json.JSONDecodeError as error:
        problem = f"is not JSON ({error.msg} at column {error.colno})"
    except ValueError:
        problem = "has a number with too many digits"
    except RecursionError:
        problem = "has too many lists within lists"
    raise InputError(f'{path}, line {number} {problem}; write one basket per line, as ["tea", "milk"].')


def _pairs(path: Path, number: int, basket: Any) -> list[list[Any]]:
    pairs = basket.get("pairs") if isinstance(basket, dict) else None
    if pairs is None:
        return []
    if not isinstance(pairs, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
        raise InputError(f'{path}, line {number}: "pairs" is a list of pairs, as in [["tea", "milk"]].')
    return pairs


def _row(path: Path, number: int, basket: Any, pairs: list[list[Any]]) -> list[Any]:
    """Return the items of a basket, followed by the items of its pairs; nulls are dropped."""
    items = basket
    if isinstance(basket, dict):
        if "items" not in basket and "pairs" not in basket:
            fields = ", ".join(map(repr, basket)) or "none"
            raise InputError.format(
                '{path}, line {number} has no list "items"; its fields are {fields}. '
                "For one record per item, give {person=} and {item=}.",
                path=path,
                number=number,
                fields=fields,
            )
        items = basket.get("items", [])
    if not isinstance(items, list):
        raise InputError(
            f'{path}, line {number} is neither a list of items, as ["tea", "milk"], nor an object with such a list, '
            'as {"items": ["tea", "milk"]}.'
        )
    if None in items:
        items = [item for item in items if item is not None]
    return items + list(chain.from_iterable(pairs)) if pairs else items


def _add_pairs(rows: Rows, counts: NDArray[np.int64], people: NDArray[np.int64]) -> Rows:
    """Return rows with their pairs, which are the last items of each row."""
    if not len(people):
        return rows
    first_pairs = rows.offsets[1:] - 2 * counts
    pair_numbers = np.arange(len(people)) - np.repeat(np.cumsum(counts) - counts, counts)
    positions = first_pairs[people] + 2 * pair_numbers
    pairs, repeated_pairs = sort_pairs(len(counts), people, rows.codes[positions], rows.codes[positions + 1])
    return replace(rows, pairs=pairs, repeated_pairs=repeated_pairs)


def read_one_hot(name: str, reader: Any, memory_limit: MemoryLimit, labels: Labels | Sequence[Item]) -> Rows:
    """Return the baskets of a table with a column per item: true or 1 in the rows of the holders."""
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
    index = _find_index_columns(schema)
    types = [_value_type(field.type) for field in schema if field.name not in index]
    return bool(types) and all(map(pa.types.is_boolean, types))


def _value_type(type_: Any) -> Any:
    """Return the type of the values of a column; the values of categories have their own type."""
    return type_.value_type if pa.types.is_dictionary(type_) else type_


def _find_index_columns(schema: Any) -> set[str]:
    """Return the columns that are the index of a pandas frame."""
    metadata = schema.pandas_metadata or {}
    return {column for column in metadata.get("index_columns", []) if isinstance(column, str)}
