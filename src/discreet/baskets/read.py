"""`read`, the one door for data: it looks at what it was given and calls the reader for it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from ..errors import InputError, MisuseError
from .build import Labels, Rows, cap, finish
from .core import Baskets, Item
from .streams import COMPRESSIONS, Progress

Format = Literal["fimi", "csv", "tsv", "json", "parquet", "onehot", "sqlite", "duckdb"]

_SUFFIXES: dict[str, str] = {
    ".dat": "fimi",
    ".txt": "fimi",
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".parquet": "parquet",
    ".db": "database",
    ".sqlite": "database",
    ".sqlite3": "database",
    ".duckdb": "database",
}
_FORMATS = ("fimi", "csv", "tsv", "json", "parquet", "onehot", "sqlite", "duckdb")
_DELIMITERS = {"fimi": " ", "csv": ",", "tsv": "\t"}


def read(
    source: Any = None,
    *,
    person: str | None = None,
    item: str | None = None,
    time: str | None = None,
    pair: tuple[str, str] | None = None,
    query: str | None = None,
    format: Format | None = None,  # noqa: A002
    labels: Literal["numbers", "names"] | Sequence[Item] | None = None,
    ordered: bool = False,
    max_items: int | None = None,
    nulls: Literal["error", "drop"] = "error",
    seed: int | None = None,
    memory: str = "2GB",
    progress: Callable[[float], object] | None = None,
) -> Baskets:
    """Read baskets: from a file, a database, a data frame, a sparse matrix, or a list of sets.

    Parameters
    ----------
    source
        One of

        - a path. The suffix tells the format, after ``.gz``, ``.xz`` or ``.zst``: ``.dat`` and ``.txt`` are FIMI
          text (a basket a line, blanks between items); ``.csv`` and ``.tsv`` are a table with a header if `person` is
          given, and otherwise a basket a line, each field an item; ``.jsonl``, ``.ndjson`` and ``.json`` have a
          basket a line (a list, or an object with the list ``items`` and perhaps a list ``pairs`` of pairs), or
          records if `person` is given; ``.parquet``; ``.db``, ``.sqlite`` and ``.duckdb`` with a `query`. A blank
          line of text is an empty basket.
        - the address of a database, with a `query`: ``sqlite:///file.db``, ``duckdb:///file.duckdb``,
          ``postgresql://user@host/name``.
        - nothing, with a `query` over files: ``query="SELECT customer, product FROM 'sales/*.parquet'"``.
        - a data frame or table (pandas, polars, pyarrow, a DuckDB relation: anything with the Arrow C stream). If
          all its columns are true/false it is one-hot: a column an item, a row a basket.
        - a scipy sparse matrix: a row is a basket, a column an item, and what is not zero is held.
        - an iterable of sets, lists or tuples of items.
        - `Baskets`, which pass through.
    person, item
        The columns of a table with one row an item. All rows of a person become one basket, and people come in the
        order of that column. A row without an item says that the person exists. `item` may be a column of lists; a
        table of lists needs no `person`: then a row is a basket.
    time
        A column that orders a person's events, which are kept as `Baskets.sequences`; of events at the same time,
        the smaller item comes first.
    pair
        Two columns instead of `item`: each row gives its person a pair, kept as `Baskets.pairs`. The basket is the
        items of the pairs.
    query
        SQL for a database, or for DuckDB over files.
    format
        The format, where the suffix does not tell it: ``fimi``, ``csv``, ``tsv``, ``json``, ``parquet``, ``sqlite``,
        ``duckdb``; or ``onehot`` for a data frame of zeros and ones.
    labels
        ``"numbers"`` or ``"names"``, to say what items are. By default the type of the column, or of the JSON value,
        says it. In text with a basket a line the first line with items does: they are numbers if all of them are
        digits without a leading zero and fit 64 bits. In a CSV table the same must hold for the whole column. For a
        sparse matrix or a one-hot table, the list of the columns' names.
    ordered
        Keep the order of the items in each line or list, repeats included, as `Baskets.sequences`.
    max_items
        Keep at most so many items of each basket, chosen uniformly at random. Order and pairs keep the chosen items.
    nulls
        What to do with rows that have no person (or an item without a time): ``"error"`` or ``"drop"``.
    seed
        Makes the choice of `max_items` repeatable.
    memory
        How much memory grouping a table may take before it goes to disk.
    progress
        Called now and then with the fraction done.

    Returns
    -------
    Baskets
        Codes are in the order of the labels: numbers by size, names by their text.

    Examples
    --------
    >>> import discreet
    >>> baskets = discreet.read([{"tea", "milk"}, {"milk", "bread"}, set()])
    >>> baskets
    Baskets(3 people, 3 items, 1.33 a basket)
    >>> sorted(baskets[1])
    ['bread', 'milk']

    A table has a column for the person and one for the item:

    >>> import pyarrow
    >>> sales = pyarrow.table({"customer": [7, 7, 3], "product": ["tea", "milk", "tea"]})
    >>> [sorted(basket) for basket in discreet.read(sales, person="customer", item="product")]
    [['tea'], ['milk', 'tea']]
    """
    if max_items is not None and max_items < 1:
        raise MisuseError(f"max_items is {max_items}; it must be 1 or more.")
    if nulls not in ("error", "drop"):
        raise MisuseError(f'nulls is {nulls!r}; it is "error" or "drop".')
    if format is not None and format not in _FORMATS:
        raise MisuseError(f"format is {format!r}; it is one of {', '.join(_FORMATS)}.")
    if isinstance(labels, str) and labels not in ("numbers", "names"):
        raise MisuseError(f'labels is {labels!r}; it is "numbers" or "names".')
    if isinstance(source, Baskets):
        return source if max_items is None else cap(source, max_items, seed)
    call = _Call(
        person=person,
        item=item,
        time=time,
        pair=pair,
        query=query,
        format=format,
        labels=labels,
        ordered=ordered,
        nulls=nulls,
        memory=memory,
        progress=progress,
    )
    name, rows = call.rows(source)
    if ordered and rows.pairs is not None:
        raise MisuseError(f"{name}: ordered=True does not go with given pairs, which have no order.")
    baskets = finish(rows, name=name, ordered=ordered or time is not None, max_items=max_items, seed=seed)
    if progress is not None:
        progress(1.0)
    return baskets


@dataclass(frozen=True, kw_only=True)
class _Call:
    """The options of one call, and the choice of the reader by them."""

    person: str | None
    item: str | None
    time: str | None
    pair: tuple[str, str] | None
    query: str | None
    format: str | None
    labels: Literal["numbers", "names"] | Sequence[Item] | None
    ordered: bool
    nulls: Literal["error", "drop"]
    memory: str
    progress: Progress

    def rows(self, source: Any) -> tuple[str, Rows]:
        """Return what to call the source in messages, and its rows."""
        self._check_columns()
        if source is None:
            return "The query", self._query(None, self._needed_query("a source or a query"))
        if isinstance(source, str) and "://" in source:
            return source, self._address(source)
        if isinstance(source, (str, os.PathLike)):
            return str(source), self._file(Path(source))
        if self.query is not None:
            raise MisuseError("query= goes with a database or with no source, not with data in memory.")
        if hasattr(source, "tocsr"):
            return "The matrix", self._sparse(source)
        if hasattr(source, "__arrow_c_stream__"):
            reader = _stream(source)
            if reader is not None:
                return "The table", self._frame(reader)
        if not isinstance(source, Iterable) or isinstance(source, bytes):
            raise MisuseError(
                f"Cannot read baskets from {type(source).__name__}: give a path, a data frame, "
                "a sparse matrix or a list of sets."
            )
        from .memory import read_iterable

        self._refuse_columns("A list of baskets")
        return "The baskets given", read_iterable(source, labels=self._kind(), ordered=self.ordered)

    def _check_columns(self) -> None:
        if self.pair is not None and (self.item is not None or self.time is not None):
            raise MisuseError("pair= takes the place of item=, and has no time=; give the person and the pair alone.")
        if self.pair is not None and (isinstance(self.pair, str) or len(self.pair) != 2):
            raise MisuseError(f'pair is {self.pair!r}; it is two columns, as in pair=("before", "after").')
        for option, given in (("time", self.time), ("pair", self.pair)):
            if given is not None and self.person is None:
                raise MisuseError(f"{option}= needs person=, the column that says whose rows they are.")
        if self.person is not None and self.item is None and self.pair is None:
            raise MisuseError("person= needs item=, the column of the items (or pair=, two columns).")
        if self.ordered and self.person is not None and self.time is None:
            raise MisuseError("ordered=True is for a basket a line; rows of a table are put in order by time=.")

    def _refuse_columns(self, what: str) -> None:
        for option, given in (("person", self.person), ("item", self.item)):
            if given is not None:
                raise MisuseError(f"{what} has no columns, so {option}={given!r} means nothing here; leave it out.")

    def _kind(self) -> Labels:
        """Return `labels` where it cannot be a list."""
        if self.labels is None or isinstance(self.labels, str):
            return cast(Labels, self.labels)
        raise MisuseError(
            'labels= lists names for a sparse matrix or a one-hot table; here it is "numbers" or "names".'
        )

    def _needed_query(self, what: str) -> str:
        if self.query is None:
            raise MisuseError(f'There must be {what}: give query="SELECT person, item FROM …".')  # noqa: S608
        return self.query

    def _wanted(self) -> list[str]:
        """Return the columns that are named."""
        return [name for name in (self.person, self.item, self.time, *(self.pair or ())) if name is not None]

    def _address(self, address: str) -> Rows:
        scheme, rest = address.split("://", 1)
        if scheme in ("sqlite", "duckdb") and rest.startswith("/"):
            return self._database(Path(rest[1:]), scheme)
        if scheme in ("postgresql", "postgres"):
            from .databases import workspace

            query = self._needed_query("a query to ask a database")
            with workspace(self.memory) as work:
                return self._table(work, work.postgresql(address, query, self._wanted()))
        raise MisuseError(
            f"{address.split('@')[-1]} is not an address discreet reads; those are sqlite:///file.db, "
            "duckdb:///file.duckdb and postgresql://user@host/name."
        )

    def _database(self, path: Path, kind: str | None) -> Rows:
        from .databases import kind_of_database, workspace

        found = kind_of_database(path)
        if kind not in (None, found):
            raise InputError(f"{path} is not a database of the kind {kind}, but {found}.")
        query = self._needed_query("a query to ask a database")
        if found == "duckdb":
            return self._query(path, query)
        with workspace(self.memory) as work:
            return self._table(work, work.sqlite(path, query, self._wanted()))

    def _query(self, database: Path | None, query: str) -> Rows:
        from .databases import workspace

        with workspace(self.memory) as work:
            return self._table(work, work.query(query, database))

    def _file(self, path: Path) -> Rows:
        from .databases import workspace
        from .streams import check_file

        check_file(path)
        compression = COMPRESSIONS.get(path.suffix.lower())
        suffix = Path(path.stem).suffix if compression else path.suffix
        format_ = self.format or _SUFFIXES.get(suffix.lower())
        if format_ in ("database", "sqlite", "duckdb") and not compression:
            return self._database(path, None if format_ == "database" else format_)
        if format_ is None:
            known = ", ".join(_FORMATS[:5])
            raise MisuseError(f"The suffix of {path} does not tell its format; give format= as one of {known}.")
        if format_ == "onehot":
            raise MisuseError(f"{path} cannot be read as onehot, which is for data frames; read it with pandas first.")
        if format_ in ("database", "sqlite", "duckdb"):
            raise MisuseError(f"{path} is a compressed database; unpack it first.")
        if self.query is not None:
            raise MisuseError(
                "query= goes with a database or with no source; to query a file, leave the source out and "  # noqa: S608
                f"write query=\"SELECT … FROM '{path}'\"."
            )
        if format_ != "parquet" and self.person is None:
            return self._lines(path, compression, format_)
        with workspace(self.memory) as work:
            if format_ == "parquet":
                table = work.parquet(path, compression)
            elif format_ == "json":
                table = work.json(path, compression)
            elif format_ == "fimi":
                raise MisuseError(f"{path} is FIMI text, a basket a line: it has no columns; leave person= out.")
            else:
                table = work.csv(path, compression, _DELIMITERS[format_])
            return self._table(work, table)

    def _lines(self, path: Path, compression: str | None, format_: str) -> Rows:
        self._refuse_columns(f"{path}, read a basket a line,")
        if format_ == "json":
            from .memory import read_json_lines

            return read_json_lines(path, compression, labels=self._kind(), progress=self.progress)
        from .text import read_lines

        return read_lines(
            path, compression, delimiter=_DELIMITERS[format_], labels=self._kind(), progress=self.progress
        )

    def _sparse(self, matrix: Any) -> Rows:
        from .memory import read_sparse

        self._refuse_columns("A sparse matrix")
        if self.ordered:
            raise MisuseError("ordered=True is for a basket a line; a sparse matrix has no order.")
        if isinstance(self.labels, str):
            raise MisuseError("labels= of a sparse matrix is the list of its columns' names.")
        return read_sparse(matrix, self.labels)

    def _frame(self, reader: Any) -> Rows:
        from .databases import workspace
        from .tables import is_one_hot, one_hot

        named = self.person is not None or self.item is not None
        if self.format not in (None, "onehot"):
            raise MisuseError(f"format={self.format!r} is for files; a data frame is read as it is, or as onehot.")
        if self.format == "onehot" or (is_one_hot(reader.schema) and not named):
            if named or self.ordered:
                raise MisuseError(
                    "A one-hot table has a row a basket, without order; leave person=, item= and ordered= out."
                )
            return one_hot("The table", reader, self.labels)
        with workspace(self.memory) as work:
            return self._table(work, work.arrow("The table", reader, self._wanted()))

    def _table(self, work: Any, table: Any) -> Rows:
        from .tables import check_columns, group, is_list, lists

        check_columns(table, person=self.person, item=self.item, time=self.time)
        for column in self.pair or ():
            check_columns(table, pair=column)
        if self.person is not None:
            return group(
                work,
                table,
                person=self.person,
                items=self.pair or (str(self.item),),
                time=self.time,
                labels=self._kind(),
                nulls=self.nulls,
                progress=self.progress,
            )
        found = [self.item] if self.item else [column for column in table.columns if is_list(table, column)]
        if len(found) != 1 or not is_list(table, found[0]):
            raise MisuseError(
                f"{table.name} needs person= and item=, the columns of the people and of what they hold; "
                f"its columns are {', '.join(table.columns)}."
            )
        return lists(work, table, found[0], self._kind())


def _stream(source: Any) -> Any:
    """Return a reader of a frame's rows, or None for a single column of values."""
    import pyarrow as pa

    try:
        return pa.RecordBatchReader.from_stream(source)
    except (pa.ArrowInvalid, TypeError) as error:
        if "Sparse" in str(error):
            raise InputError(
                "A pandas frame with sparse columns cannot be read as it is: "
                "give frame.sparse.to_coo() and labels=list(frame.columns)."
            ) from None
        return None
