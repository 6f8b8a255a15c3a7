"""Baskets that are Python objects already: iterables of sets or lists, scipy's sparse matrices, JSON lines.

JSON belongs here because a line of it is a Python list once it is parsed: the same rules say what an item may be.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, MisuseError, NobodyError
from ._allowance import Allowance
from ._arrow import as_arrow
from ._build import Collector, Labels, Rows, canonical_pairs, mixture, sort_labels
from ._core import Item, Offsets, label_array, starts
from ._streams import UTF_8, Progress, blocks

_BATCH = 1 << 16
_SPREAD = 32  # bytes that a byte of JSON may take as Python objects: [[],[],[]]
_FOLLOW = "items are whole numbers or names (text)"
_FIELDS = {"items", "pairs"}


@dataclass(frozen=True)
class _Names:
    """What to call the rows of a batch in a message."""

    what: str
    numbers: Sequence[int]

    def __getitem__(self, row: int) -> str:
        return f"{self.what} {self.numbers[row]}"


class _ItemReader:
    """Feeds Python values to a collector and says where the first unfit one is."""

    def __init__(self, name: str, allowed: Allowance, labels: Labels) -> None:
        self._name = name
        self._labels: Labels = labels
        self._collector = Collector(name, allowed)
        self._text: bool | None = None

    def add(self, sizes: NDArray[np.int64], values: list[Any], places: _Names) -> None:
        """Add rows of `sizes` items; `places` names each of them for a message."""
        import pyarrow as pa

        kinds = set(map(type, values))
        text = {issubclass(kind, str) for kind in kinds}
        if any(not issubclass(kind, (int, np.integer, str)) or kind is bool for kind in kinds):
            wrong = next(i for i, value in enumerate(values) if not _fit(value))
            row = _row_of(sizes, wrong)
            raise InputError(f"{places[row]}: {_FOLLOW}, not {type(values[wrong]).__name__}.")
        if self._labels is None and text:
            self._text = min(text) if self._text is None else self._text
            if text != {self._text}:
                wrong = next(i for i, value in enumerate(values) if isinstance(value, str) != self._text)
                raise mixture(places[_row_of(sizes, wrong)])
        if self._labels is not None and text:
            values = [value if isinstance(value, str) else _digits(value) for value in values]
        elif text != {True}:
            try:
                self._collector.add_numbers(sizes, np.array(values, np.int64))
            except OverflowError:
                wrong = next(i for i, value in enumerate(values) if not -(2**63) <= value < 2**63)
                raise InputError.format(
                    '{place}: an item does not fit 64 bits; {labels="names"} reads items as names.',
                    place=places[_row_of(sizes, wrong)],
                ) from None
            return
        try:
            names = pa.array(values, pa.large_string())
        except UnicodeEncodeError:
            wrong = next(i for i, value in enumerate(values) if any("\ud800" <= letter <= "\udfff" for letter in value))
            raise InputError(
                f"{places[_row_of(sizes, wrong)]}: an item is not text (it has a lone surrogate)."
            ) from None
        self._collector.add_names(sizes, names)

    def finish(self) -> Rows:
        return self._collector.finish(self._labels)


def _digits(number: Any) -> str:
    try:
        return str(number)
    except ValueError:
        raise InputError("An item is a number with too many digits; convert it to text first.") from None


def _fit(value: object) -> bool:
    return isinstance(value, (int, np.integer, str)) and not isinstance(value, bool)


def _row_of(sizes: NDArray[np.int64], place: int) -> int:
    return int(np.searchsorted(np.cumsum(sizes), place, side="right"))


def _sizes(rows: Sequence[Any]) -> NDArray[np.int64]:
    return np.fromiter(map(len, rows), np.int64, len(rows))


def read_iterable(source: Iterable[Any], allowed: Allowance, *, labels: Labels, ordered: bool) -> Rows:
    """Read an iterable of sets, lists, tuples or other iterables of items."""
    items = _ItemReader("The baskets given", allowed, labels)
    baskets = iter(source)
    done = 0
    while batch := list(islice(baskets, _BATCH)):
        kinds: set[Any] = set(map(type, batch))
        for kind in kinds:
            wrong = issubclass(kind, (str, bytes, Mapping)) or not issubclass(kind, Iterable)
            # An array without dimensions calls itself iterable too.
            if hasattr(kind, "ndim"):
                flat = [i for i, basket in enumerate(batch) if getattr(basket, "ndim", 1) == 0]
                if flat:
                    raise _no_basket(done + flat[0], kind)
            if wrong or (ordered and issubclass(kind, Set)):
                number = done + next(i for i, basket in enumerate(batch) if type(basket) is kind)
                if wrong:
                    raise _no_basket(number, kind)
                raise MisuseError.format(
                    "{ordered=True}, but basket {number} is a {kept_as}, which has no order; give lists.",
                    number=number,
                    kept_as=kind.__name__,
                )
        batch = [basket if hasattr(basket, "__len__") else list(basket) for basket in batch]
        names = _Names("Basket", range(done, done + len(batch)))
        items.add(_sizes(batch), list(chain.from_iterable(batch)), names)
        done += len(batch)
    return items.finish()


def _no_basket(number: int, kind: type) -> InputError:
    article = "an" if kind.__name__[0] in "aeiou" else "a"
    return InputError(
        f"Basket {number} is {article} {kind.__name__}; a basket is a set or a list of items, as in "
        'discreet.read([{"tea", "milk"}, {"bread"}]).'
    )


def read_sparse(matrix: Any, names: Iterable[Item] | None) -> Rows:
    """Read a scipy sparse matrix: a row is a basket, one column per item, and what is not zero is held."""
    if len(matrix.shape) != 2:
        raise InputError(
            f"The matrix has no rows and columns (its shape is {matrix.shape}); give one with one row per person."
        )
    given = None if names is None else column_labels(names, matrix.shape[1], "the matrix")
    matrix = matrix.tocsr()
    try:
        matrix.check_format(full_check=True)
    except ValueError as error:
        raise InputError(f"The matrix is damaged: {error}.") from None
    kept = matrix.data != 0
    before = starts(kept)
    return _numbered(before[matrix.indptr], matrix.indices[kept], matrix.shape[1], given)


def read_dense(matrix: NDArray[Any], names: Iterable[Item] | None) -> Rows:
    """Read an array of true and false, or of 1 and 0: a row is a basket, one column per item."""
    if matrix.dtype != np.bool_:
        if not holds_zeros_and_ones(matrix):
            raise InputError("The array has values other than 0 and 1; it is not one-hot.")
        matrix = matrix == 1
    given = None if names is None else column_labels(names, matrix.shape[1], "the array")
    return _numbered(starts(matrix.sum(axis=1)), np.nonzero(matrix)[1], matrix.shape[1], given)


def holds_zeros_and_ones(matrix: NDArray[Any]) -> bool:
    """Whether an array of numbers has 0 and 1 alone."""
    return matrix.dtype.kind in "iuf" and bool(np.isin(matrix, (0, 1)).all())


def _numbered(offsets: Offsets, columns: NDArray[Any], width: int, given: Any) -> Rows:
    """Return rows of the numbers of columns, under the labels given for these."""
    found = np.flatnonzero(np.bincount(columns, minlength=width))
    labels = as_arrow(found) if given is None else given.take(as_arrow(found))
    vocabulary, order = sort_labels(labels, None, "The matrix")
    table = np.zeros(width, np.int32)
    table[found] = order
    return Rows(offsets=offsets, codes=table[columns], vocabulary=vocabulary)


def column_labels(labels: Any, columns: int, what: str) -> Any:
    """Return the labels given for columns as an Arrow array, after the rules of a vocabulary."""
    if isinstance(labels, Set) or not isinstance(labels, Iterable):
        raise MisuseError.format(
            "{labels} is a {given}; give a list with the name of each column, in order.",
            given=type(labels).__name__,
        )
    names = labels.to_pylist() if hasattr(labels, "to_pylist") else list(labels)
    if len(names) != columns:
        raise MisuseError.format(
            "{labels} has {given:,} names, but {what} has {columns:,} columns; give one for each.",
            given=len(names),
            what=what,
            columns=columns,
        )
    found = label_array(names)
    if len(found.unique()) != len(found):
        raise MisuseError.format("{labels} names an item twice; give each column a name of its own.")
    return found


def read_json_lines(
    path: Path,
    compression: str | None,
    allowed: Allowance,
    *,
    labels: Labels,
    encoding: str = UTF_8,
    progress: Progress = None,
) -> tuple[Rows, list[str]]:
    """Read one basket per line: a list of items, or an object with the list `items` and perhaps `pairs`.

    Returns the names of the other fields too: they do not enter the baskets.
    """
    items = _ItemReader(str(path), allowed, labels)
    line = 0
    people = 0
    others: dict[str, None] = {}
    pair_people: list[NDArray[np.int64]] = []
    pair_counts: list[NDArray[np.int64]] = []
    for block in blocks(path, compression, allowed, _SPREAD, progress, encoding):
        texts = block.tobytes().split(b"\n")
        last = line + len(texts) - (not texts[-1])
        numbers = [line + i for i, text in enumerate(texts, 1) if not text.isspace() and text]
        baskets = [_parse(path, number, texts[number - line - 1]) for number in numbers]
        for basket in baskets:
            if isinstance(basket, dict) and not basket.keys() <= _FIELDS:
                others.update(dict.fromkeys(name for name in basket if name not in _FIELDS))
        pairs = [_pairs(path, number, basket) for number, basket in zip(numbers, baskets, strict=True)]
        rows = [_row(path, number, basket, pair) for number, basket, pair in zip(numbers, baskets, pairs, strict=True)]
        items.add(_sizes(rows), list(chain.from_iterable(rows)), _Names(f"{path}, line", numbers))
        counts = _sizes(pairs)
        pair_counts.append(counts)
        pair_people.append(people + np.repeat(np.arange(len(pairs)), counts))
        line, people = last, people + len(rows)
    if not people:
        raise NobodyError(f"{path} has no baskets, only blank lines; an empty basket is written as [].")
    return _with_pairs(items.finish(), np.concatenate(pair_counts), np.concatenate(pair_people)), list(others)


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
    """Return the items of a basket, those of its pairs last; a null is no item."""
    items = basket
    if isinstance(basket, dict):
        if "items" not in basket and "pairs" not in basket:
            there = ", ".join(map(repr, basket)) or "none"
            raise InputError.format(
                '{path}, line {number} has no list "items"; its fields are {there}. '
                "For one record per item, give {person=} and {item=}.",
                path=path,
                number=number,
                there=there,
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


def _with_pairs(rows: Rows, counts: NDArray[np.int64], people: NDArray[np.int64]) -> Rows:
    """Take the pairs, which stand at the end of each row, out of the rows as well."""
    if not len(people):
        return rows
    begins = rows.offsets[1:] - 2 * counts
    within = np.arange(len(people)) - np.repeat(np.cumsum(counts) - counts, counts)
    places = begins[people] + 2 * within
    pairs, repeated = canonical_pairs(len(counts), people, rows.codes[places], rows.codes[places + 1])
    return Rows(
        offsets=rows.offsets,
        codes=rows.codes,
        vocabulary=rows.vocabulary,
        pairs=pairs,
        repeated_pairs=repeated,
    )
