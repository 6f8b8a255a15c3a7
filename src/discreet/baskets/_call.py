"""One call of `read`: its options, seen to be right, and the choice of the reader by them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal, cast
from urllib.parse import unquote, urlsplit

import numpy as np

from ..errors import InputError, Message, MisuseError, build_message, name_options, render_option
from ._allowance import Allowance
from ._build import Labels, Rows, shown
from ._core import Item
from ._formats import FORMATS, TABLES, UNTYPED, FileFormat, format_of
from ._frames import ArrowStream, arrow_stream, has, records_table, table_of
from ._handed import kept, standard_input
from ._places import Part, kinds_told, parts_of, parts_of_several, with_told
from ._redaction import QUERY, clean, public_name
from ._remote import EXTENSIONS, format_of_address, opened_address
from ._sniffing import DELIMITERS, Sniffed, check_delimiter, check_encoding, sniff
from ._streams import Progress, check_file

# The options that only text, and those that only a table has a use for.
TEXT = ("delimiter", "encoding")
_FILES = "The files given"
TABLE = ("person", "item", "basket", "time", "pair", "by", "nulls")


@dataclass(frozen=True, kw_only=True)
class Call:
    """The options of one call, and the choice of the reader by them.

    `otherwise` is what to do where rows may repeat a person; None takes every row for a person.
    """

    person: str | None = None
    item: str | None = None
    basket: str | None = None
    time: str | None = None
    pair: tuple[str, str] | None = None
    by: str | None = None
    query: str | None = None
    format: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    labels: Literal["numbers", "names"] | Sequence[Item] | None = None
    ordered: bool = False
    nulls: Literal["error", "drop"] = "error"
    allowed: Allowance
    progress: Progress = None
    otherwise: str | Message | None = None

    def __post_init__(self) -> None:
        for option in ("person", "item", "basket", "time", "by", "query"):
            given = getattr(self, option)
            if given is not None and not isinstance(given, str):
                what = "SQL, as text" if option == "query" else "the name of one column, as text"
                raise MisuseError.format(
                    "{option} is {given}; it is {what}.", option=name_options(option), given=shown(given), what=what
                )
        if self.query is not None and not self.query.strip().rstrip(";"):
            raise MisuseError.format('The query is empty; write {query="SELECT person, item FROM …"}.')
        if self.nulls not in ("error", "drop"):
            raise MisuseError.format('{nulls} is {given!r}; it is "error" or "drop".', given=self.nulls)
        if self.format is not None and self.format not in FORMATS:
            raise MisuseError.format(
                "{format} is {given!r}; it is one of {known}.", given=self.format, known=", ".join(FORMATS)
            )
        if isinstance(self.labels, str) and self.labels not in ("numbers", "names"):
            raise MisuseError.format('{labels} is {given!r}; it is "numbers" or "names".', given=self.labels)
        if self.pair is not None and self.time is not None:
            raise MisuseError.format(
                "{pair=} has no {time=}: give the person and the pair, and {item=} for what is held beside it."
            )
        if self.pair is not None and not (
            isinstance(self.pair, tuple | list)
            and len(self.pair) == 2
            and all(isinstance(column, str) for column in self.pair)
            and self.pair[0] != self.pair[1]
        ):
            raise MisuseError.format(
                '{pair} is {given!r}; it is two different columns, as in {pair=("before", "after")}.',
                given=self.pair,
            )
        if self.delimiter is not None:
            object.__setattr__(self, "delimiter", check_delimiter(self.delimiter))
        if self.encoding is not None:
            object.__setattr__(self, "encoding", check_encoding(self.encoding))
        if self.basket is not None and (self.time is not None or self.pair is not None):
            raise MisuseError.format(
                "{basket=} keeps the baskets of a person apart, and {other} is about all that a person holds: "
                "leave one of them out.",
                other=name_options("time" if self.time is not None else "pair", equals="="),
            )
        if self.basket is not None and self.basket == self.person:
            raise MisuseError.format(
                "{basket=} and {person=} are the same column: leave {basket=} out for one basket a person."
            )
        for option in ("basket", "time", "pair", "by"):
            given = getattr(self, option)
            if given is not None and self.person is None:
                raise MisuseError.format(
                    "{option} needs {person=}, the column that says whose rows they are.",
                    option=name_options(option, equals="="),
                )
        if self.person is not None and self.item is None and self.pair is None:
            raise MisuseError.format("{person=} needs {item=}, the column of the items.")
        if self.ordered and self.person is not None and self.time is None:
            raise MisuseError.format(
                "{ordered=True} is for one basket per line; rows of a table are put in order by {time=}."
            )

    def refuse(self, what: str, *options: str) -> None:
        """Raise an error if one of `options` is given, since it means nothing for `what` is read."""
        for option in options:
            given = getattr(self, option)
            if given is not None and given is not False and (option, given) != ("nulls", "error"):
                written = f'"{given}"' if isinstance(given, str) else shown(given)
                raise MisuseError.format(
                    "{what}, so {option} means nothing here; leave it out.",
                    what=what,
                    option=render_option(option, given, written),
                )

    def ask_whose(self, name: str, columns: str | Message = "lines") -> None:
        """Ask for the person, unless every row was said to be one."""
        if self.otherwise is not None:
            raise MisuseError.format(
                "{name}: which column is the person? A release protects people, and {columns} may repeat one. "
                "{otherwise}",
                name=name,
                columns=columns,
                otherwise=self.otherwise,
            )

    def rows(self, source: Any) -> tuple[str, Rows]:
        """Return what to call the source in messages, and its rows."""
        if source is None:
            query = self._needed_query("a source or a query")
            self.refuse("A query over files names them itself", "format", *TEXT)
            return QUERY, self._query(None, query)
        if isinstance(source, str) and "://" in source:
            return self._address(source)
        if isinstance(source, (str, os.PathLike)):
            if not os.fspath(source):
                raise MisuseError('The path is empty; give the name of a file, as in discreet.read("sales.csv").')
            if source == "-":
                return self._handed(standard_input())
            several = parts_of(source, self.format)
            return str(source), self._file(Path(source)) if several is None else self._several(str(source), several)
        if callable(getattr(type(source), "read", None)):  # the reader of a Spark session is called so too
            return self._handed(source)
        source, first = _first(source)
        if isinstance(source, list | tuple) and source and all(isinstance(one, str | os.PathLike) for one in source):
            parts = parts_of_several(source, self.format)
            return _FILES, self._several(_FILES, parts)
        return self._in_memory(source, first)

    def _in_memory(self, source: Any, first: Any) -> tuple[str, Rows]:
        """Read what this program holds already; `first` is the first of a list or an iterator."""
        self.refuse("The data are in memory", "query", *TEXT)
        if has(source, "tocsr"):
            return "The matrix", self._sparse(source)
        named = self.person is not None or self.item is not None
        if isinstance(source, Mapping):
            if named or self.format is not None:
                return self._frame(table_of(source, self._wanted()))
            _check_baskets(source)
            source = source.values()
        if named and isinstance(first, Mapping):
            return self._frame(records_table(source, self._wanted(), self.allowed))
        found = arrow_stream(source, self._wanted())
        if found is not None:
            return self._frame(found)
        dimensions = getattr(source, "ndim", None)
        number = isinstance(dimensions, int) and not dimensions
        if not isinstance(source, Iterable) or isinstance(source, bytes) or number:
            raise MisuseError(
                f"Cannot read baskets from {type(source).__name__}: give a path, a data frame, "
                "a sparse matrix or a list of sets."
            )
        from ._memory import holds_zeros_and_ones, read_dense, read_iterable

        if isinstance(source, np.ndarray) and source.ndim == 2:
            if source.dtype == np.bool_ or self.format == "onehot":
                self.refuse("An array of true and false has one row per basket, without order", *TABLE, "ordered")
                return "The array", read_dense(source, self._columns())
            if source.shape[1] > 2 and source.size and holds_zeros_and_ones(source):
                raise MisuseError.format(
                    'The array has 0 and 1 alone: say {format="onehot"}, if each column is an item, or give '
                    "lists of items."
                )
        self.refuse("A list of baskets is neither a table nor a file", *TABLE, "format")
        return "The baskets given", read_iterable(source, self.allowed, labels=self.kind(), ordered=self.ordered)

    def kind(self) -> Labels:
        """Return `labels` where it cannot be a list."""
        if self.labels is None or isinstance(self.labels, str):
            return cast(Labels, self.labels)
        raise MisuseError.format(
            '{labels=} lists names for a sparse matrix or a one-hot table; here it is "numbers" or "names".'
        )

    def _needed_query(self, what: str) -> str:
        if self.query is None:
            raise MisuseError.format('There must be {what}: give {query="SELECT person, item FROM …"}.', what=what)
        return self.query.strip().rstrip(";")

    def _wanted(self) -> list[str]:
        """Return the columns that are named."""
        return [name for name in self._columns_named() if name is not None]

    def _columns_named(self) -> tuple[str | None, ...]:
        return (self.person, self.item, self.basket, self.time, self.by, *(self.pair or ()))

    def _handed(self, stream: Any) -> tuple[str, Rows]:
        """Read a file that was handed over open."""
        with kept(stream, self.format) as (name, path, text):
            if text:
                self.refuse(f"{name} is text that was decoded already", "encoding")
            return name, self._file(path)

    def _address(self, address: str) -> tuple[str, Rows]:
        """Read what lies at an address; no message has a secret of it."""
        try:
            return self._at(address)
        except InputError as error:
            raise clean(error, address) from None

    def _at(self, address: str) -> tuple[str, Rows]:
        scheme, rest = address.split("://", 1)
        if scheme in EXTENSIONS:
            from ._databases import workspace

            self.refuse("A file elsewhere is a table in UTF-8", "encoding", "query")
            form = format_of_address(address, self.format)
            with workspace(self.allowed) as work:
                table = opened_address(work, address, form, self._wanted(), self.delimiter)
                return table.name, self._table(work, table)
        if scheme == "file":
            return self.rows(unquote(urlsplit(address).path))
        self.refuse("The address tells what it is", "format", *TEXT)
        if scheme in ("sqlite", "duckdb") and rest.startswith("/") and rest != "/":
            path = Path(rest[1:])
            check_file(path)
            return str(path), self._database(path, scheme)
        name = public_name(address)
        if scheme in ("postgresql", "postgres"):
            from ._databases import workspace

            query = self._needed_query("a query to ask a database")
            with workspace(self.allowed) as work:
                return name, self._table(work, work.postgresql(address, query, self._wanted()))
        raise MisuseError(
            f"{name} is not an address discreet reads; those are sqlite:///file.db, duckdb:///file.duckdb, "
            "postgresql://user@host/name, and files at https://, s3://, gs://, az:// and the like."
        )

    def _database(self, path: Path, kind: str | None) -> Rows:
        from ._databases import kind_of_database, workspace

        found = kind_of_database(path)
        if kind not in (None, found):
            raise InputError(f"{path} is not a database of the kind {kind}, but {found}.")
        query = self._needed_query("a query to ask a database")
        if found == "duckdb":
            return self._query(path, query)
        with workspace(self.allowed) as work:
            return self._table(work, work.sqlite(path, query, self._wanted(), self.time))

    def _query(self, database: Path | None, query: str) -> Rows:
        from ._databases import workspace

        with workspace(self.allowed) as work:
            return self._table(work, work.query(query, database))

    def _file(self, path: Path) -> Rows:
        from ._databases import workspace

        check_file(path)
        form = format_of(path, self.format)
        format_, compression = form.format, form.compression
        if format_ in ("database", "sqlite", "duckdb") and not compression:
            self.refuse(f"{path} is a database", *TEXT)
            return self._database(path, None if format_ == "database" else format_)
        self._check_format(path, format_)
        if format_ in ("fimi", "baskets") or (self.person is None and format_ not in ("parquet", "feather", "excel")):
            return self._lines(sniff(path, compression, self.encoding), form)
        with workspace(self.allowed) as work:
            return self._table(work, self._opened(work, path, form, self._wanted()))

    def _check_format(self, path: Path, format_: str) -> None:
        if format_ == "onehot":
            raise MisuseError(f"{path} cannot be read as onehot, which is for data frames; read it with pandas first.")
        if format_ in ("database", "sqlite", "duckdb"):
            raise MisuseError(f"{path} is a compressed database; unpack it first.")
        if self.query is not None:
            raise MisuseError.format(
                "{query=} goes with a database or with no source; to query a file, leave the source out and "
                "write {query=select}.",
                select=f"SELECT … FROM '{path}'",  # noqa: S608
            )

    def _opened(self, work: Any, path: Path, form: FileFormat, wanted: list[str]) -> Any:
        """Open a file as a table."""
        if form.format in ("parquet", "feather", "excel"):
            self.refuse(f"{path} is not text", *TEXT)
            if form.format == "parquet":
                return work.parquet(path, form.compression)
            return getattr(work, form.format)(path, form.compression, wanted)
        text = sniff(path, form.compression, self.encoding)
        if form.format == "json":
            self.refuse(f"{path} is JSON", "delimiter")
            return work.json(path, form.compression, text.encoding)
        delimiter = text.between(self._given_delimiter(form), wanted)
        return work.csv(path, form.compression, delimiter, text.encoding)

    def _several(self, name: str, parts: list[Part]) -> Rows:
        """Read several files: as one table, or with one basket per line or row and no people, one after another."""
        from ._databases import workspace

        forms = {part.path: format_of(part.path, self.format) for part in parts}
        formats = {form.format for form in forms.values()}
        if len(formats) > 1 or (self.person is not None and not formats <= set(TABLES)):
            raise MisuseError(
                f"{name} {_stands_for(name)} of the kinds {', '.join(sorted(formats))}; several files are "
                "read as one table if all of them are CSV, or all TSV, JSON, Parquet, Feather or Excel."
            )
        for part in parts:
            check_file(part.path)
            self._check_format(part.path, *formats)
        if self.person is None:
            return self._joined(name, [part.path for part in parts], *formats)
        options = {option: getattr(self, option) for option in ("person", "item", "basket", "time", "by")}
        wanted = {column: option for option, column in options.items() if column is not None}
        wanted |= dict.fromkeys(self.pair or (), "pair")
        kinds = kinds_told(parts)
        with workspace(self.allowed) as work:
            tables = []
            for part in parts:
                folders = {column for column, _ in part.folders}
                inside = [column for column in self._wanted() if column not in folders]
                tables.append(with_told(self._opened(work, part.path, forms[part.path], inside), part, kinds))
            return self._table(work, work.union(name, tables, wanted))

    def _joined(self, name: str, paths: list[Path], format_: str) -> Rows:
        """Read files with one basket per line or row; in text, the first that has items decides what items are."""
        from ._joining import joined

        several: list[Rows] = []
        reading = self
        for path in paths:
            several.append(reading._file(path))
            names = len(several[-1].vocabulary) > 0 and not several[-1].vocabulary.numeric
            if reading.labels is None and format_ in UNTYPED and names:
                reading = replace(self, labels="names")
        return joined(name, several, self.allowed)

    def _given_delimiter(self, form: FileFormat) -> str | None:
        """Return the delimiter that was given, or that the format says."""
        tabs = form.format == "tsv" or (form.format == "baskets" and form.suffix == ".tsv")
        return self.delimiter or ("\t" if tabs else None)

    def _lines(self, text: Sniffed, form: FileFormat) -> Rows:
        path, format_, compression = text.path, form.format, form.compression
        if format_ in ("csv", "tsv") and self.item is not None:
            raise MisuseError.format(
                "{path} is read with one basket per line unless {person=} and {item=} are given; give both for a "
                "table, or neither.",
                path=path,
            )
        self.refuse(f"{path} is read with one basket per line and has no columns", *TABLE)
        reading: dict[str, Any] = {"labels": self.kind(), "encoding": text.encoding, "progress": self.progress}
        if format_ == "json":
            from ._memory import read_json_lines

            self.refuse(f"{path} is JSON", "delimiter")
            rows, others = read_json_lines(path, compression, self.allowed, **reading)
            if others:
                self.ask_whose(str(path), f"records with fields beside the items ({_few(others)})")
            return rows
        from ._text import read_lines

        if format_ == "fimi":
            self.refuse(f"{path} has blanks between items", "delimiter")
            looks = next((DELIMITERS[one] for one in DELIMITERS if text.fields(one)), None)
            if looks is not None:
                self.ask_whose(
                    str(path),
                    build_message(
                        'lines that have as many {looks} each, as in a table ({format="csv"} reads one),', looks=looks
                    ),
                )
                if self.format is None:
                    raise _like_a_table(
                        path, f"as many {looks}", build_message('{format="csv"} and '), build_message('{format="fimi"}')
                    )
            return read_lines(path, compression, self.allowed, delimiter=" ", **reading)
        self.ask_whose(str(path))
        delimiter = text.between(self._given_delimiter(form), [])
        if format_ != "baskets":
            fields = text.fields(delimiter)
            if fields is not None:
                raise _like_a_table(path, f"{fields} fields", "", build_message('{format="baskets"}'))
            if (alone := text.alone(delimiter)) is not None:
                raise _less_than_a_table(path, alone)
            if text.numbered(delimiter):
                why = "a number and then names, but for the first,"
                raise _like_a_table(path, why, "", build_message('{format="baskets"}'))
        return read_lines(path, compression, self.allowed, delimiter=delimiter, **reading)

    def _sparse(self, matrix: Any) -> Rows:
        from ._memory import read_sparse

        self.refuse("A sparse matrix has one row per basket, without order", *TABLE, "ordered", "format")
        return read_sparse(matrix, self._columns())

    def _columns(self) -> Sequence[Item] | None:
        """Return `labels` where it names the columns of a matrix."""
        if isinstance(self.labels, str):
            raise MisuseError.format("{labels=} of a sparse matrix is the list of its columns' names.")
        return self.labels

    def _frame(self, found: ArrowStream) -> tuple[str, Rows]:
        from ._databases import workspace
        from ._one_hot import is_one_hot, one_hot

        named = self.person is not None or self.item is not None
        if found.single:
            self.refuse("A single column has one basket per row", *TABLE, "format")
        if self.format not in (None, "onehot"):
            raise MisuseError.format(
                "{format=given} is for files; a data frame is read as it is, or as onehot.", given=self.format
            )
        if self.format == "onehot" or (is_one_hot(found.reader.schema) and not named):
            self.refuse("A one-hot table has one row per basket, without order", *TABLE, "ordered")
            return found.name, one_hot(found.name, found.reader, self.allowed, self.labels)
        with workspace(self.allowed) as work:
            return found.name, self._table(work, work.arrow(found.name, found.reader, self._wanted()))

    def _table(self, work: Any, table: Any) -> Rows:
        from ._events import holds_lists
        from ._tables import group, lists

        if self.person is not None:
            person = table.find(self.person, "person")
            items = [table.find(column, "pair") for column in self.pair or ()]
            if self.item is not None:
                items.append(table.find(self.item, "item"))
                if self.pair is not None and holds_lists(items[-1]):
                    raise MisuseError.format(
                        "{item=given} holds lists; beside {pair=} it is a column of single items.", given=self.item
                    )
            return group(
                work,
                table,
                person=person,
                items=tuple(items),
                basket=None if self.basket is None else table.find(self.basket, "basket"),
                time=None if self.time is None else table.find(self.time, "time"),
                by=None if self.by is None else table.find(self.by, "by"),
                labels=self.kind(),
                nulls=self.nulls,
                progress=self.progress,
            )
        if self.item is not None:
            found = [table.find(self.item, "item")]
        else:
            found = [column for column in table.columns if holds_lists(column)]
        if len(found) != 1 or not holds_lists(found[0]):
            raise MisuseError.format(
                "{table} needs {person=} and {item=}, the columns of the people and of what they hold; {listing}.",
                table=table.name,
                listing=table.listing,
            )
        others = [column.name for column in table.columns if column is not found[0]]
        if others:
            self.ask_whose(table.name, f"rows with columns beside the items ({_few(others)})")
        self.refuse(f"{table.name} is read with one basket per row, without people", "nulls")
        return lists(work, table, found[0], self.kind())


def _like_a_table(path: Path, why: str, also: str | Message, word: Message) -> MisuseError:
    """Return the question about lines that may be the rows of a table; it shows nothing that stands in them."""
    return MisuseError.format(
        "{path} looks like a table: its first lines have {why} each. Say which column holds the person and which "
        'the item, as in {also}{person="customer"} and {item="product"}; or {word}, if every line is a basket.',
        path=path,
        why=why,
        also=also,
        word=word,
    )


def _less_than_a_table(path: Path, alone: Literal["line", "field"]) -> MisuseError:
    """Return the question about text that may be baskets, or a table that lacks its rows or a column."""
    if alone == "line":
        return MisuseError.format(
            "{path} has a single line, which may be the heading of a table without rows. For a table say "
            '{person="customer"} and {item="product"}, the names of its columns; or {format="baskets"}, if this is '
            "the basket of one person.",
            path=path,
        )
    return MisuseError.format(
        "{path} has one field on each line, so nothing in it says what is held together. Give a table with a "
        'column for the person, as in {person="customer"} and {item="product"}; or say what stands between items, '
        'as in {delimiter=";"}; or {format="baskets"}, if every line is the basket of one person.',
        path=path,
    )


def _first(source: Any) -> tuple[Any, Any]:
    """Look at the first of a list or an iterator: paths are files, and dictionaries are records.

    An iterator comes back with it, and one of paths as a list.
    """
    if isinstance(source, list | tuple):
        return source, source[0] if source else None
    if not isinstance(source, Iterator) or has(source, "__arrow_c_stream__"):
        return source, None
    began = list(islice(source, 1))
    whole = chain(began, source)
    first = began[0] if began else None
    return list(whole) if isinstance(first, os.PathLike) else whole, first


def _stands_for(name: str) -> str:
    return "are" if name == _FILES else "is a folder with files" if Path(name).is_dir() else "names files"


def _check_baskets(source: Mapping[Any, Any]) -> None:
    """Refuse a dictionary that looks like the columns of a table, and not like people and what they hold."""
    sizes = [len(values) if isinstance(values, list | tuple | np.ndarray) else -1 for values in source.values()]
    if len(set(sizes)) == 1 and len(sizes) > 1 and sizes[0] > 1:
        raise MisuseError.format(
            "The dictionary looks like a table: all its lists are of one length. Say which of them is the person "
            'and which the item, as in {person="customer"} and {item="product"}; or give sets, if each is a basket.'
        )


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
