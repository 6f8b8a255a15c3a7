"""The options of one call of `read`: checked, and used to choose the reader of the source."""

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
from ._build import Labels, Rows, join_rows, shorten_value
from ._core import Item
from ._databases import EXTENSIONS, format_of_address, kind_of_database, open_address, workspace
from ._events import is_list_column
from ._frames import ArrowStream, build_column_stream, build_record_stream, has_attribute, open_frame
from ._memory import (
    has_zeros_and_ones,
    is_one_hot,
    read_dense,
    read_iterable,
    read_json_lines,
    read_one_hot,
    read_sparse,
)
from ._places import (
    FORMATS,
    TABLE_FORMATS,
    TEXT_FORMATS,
    FileFormat,
    Part,
    add_folder_columns,
    copy_stream,
    find_folder_types,
    list_all_parts,
    list_parts,
    open_standard_input,
    resolve_format,
)
from ._redaction import QUERY_NAME, clean_error, public_name
from ._sniffing import DELIMITERS, TextHead, check_delimiter, check_encoding, sniff
from ._streams import MemoryLimit, Progress, check_file
from ._tables import group_rows, read_lists
from ._text import read_lines

# The options of text files alone, and the options of tables alone.
TEXT = ("delimiter", "encoding")
_FILES = "The files given"
TABLE = ("person", "item", "basket", "time", "pair", "by", "nulls")


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """The options of one call of `read`, and the choice of the reader.

    `person_advice` ends the message for a source that may have several rows per person; None allows this source.
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
    memory_limit: MemoryLimit
    progress: Progress = None
    person_advice: str | Message | None = None

    def __post_init__(self) -> None:
        for option in ("person", "item", "basket", "time", "by", "query"):
            given = getattr(self, option)
            if given is not None and not isinstance(given, str):
                expected = "SQL, as text" if option == "query" else "the name of one column, as text"
                raise MisuseError.format(
                    "{option} is {given}; it is {expected}.",
                    option=name_options(option),
                    given=shorten_value(given),
                    expected=expected,
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
            if getattr(self, option) is not None and self.person is None:
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

    def refuse_options(self, reason: str, *options: str) -> None:
        """Raise an error if one of `options` is set, which has no meaning for this source, with the reason."""
        for option in options:
            value = getattr(self, option)
            # A default that is typed out changes nothing, so it is no mistake.
            if value is not None and value is not False and (option, value) != ("nulls", "error"):
                python = f'"{value}"' if isinstance(value, str) else shorten_value(value)
                raise MisuseError.format(
                    "{reason}, so {option} means nothing here; leave it out.",
                    reason=reason,
                    option=render_option(option, value, python),
                )

    def require_person(self, name: str, columns: str | Message = "lines") -> None:
        """Raise an error that asks for the option `person`, if the caller protects people and rows may repeat them."""
        if self.person_advice is not None:
            raise MisuseError.format(
                "{name}: which column is the person? A release protects people, and {columns} may repeat one. "
                "{otherwise}",
                name=name,
                columns=columns,
                otherwise=self.person_advice,
            )

    def read_rows(self, source: Any) -> tuple[str, Rows]:
        """Return the name of the source for messages, and its rows."""
        if source is None:
            # DuckDB opens the files that the query names, so options about one file have no meaning.
            query = self._require_query("a source or a query")
            self.refuse_options("A query over files names them itself", "format", *TEXT)
            return QUERY_NAME, self._read_query(None, query)
        # An address may hold a password, so it never enters the messages about files.
        if isinstance(source, str) and "://" in source:
            return self._read_address(source)
        if isinstance(source, (str, os.PathLike)):
            if not os.fspath(source):
                raise MisuseError('The path is empty; give the name of a file, as in discreet.read("sales.csv").')
            if source == "-":
                return self._read_open_file(open_standard_input())
            parts = list_parts(source, self.format)
            name = str(source)
            return name, self._read_file(Path(source)) if parts is None else self._read_parts(name, parts)
        if callable(getattr(type(source), "read", None)):  # the reader of a Spark session is called so too
            return self._read_open_file(source)
        # An iterator can be read only once: its first element is put back in front.
        source, first = _peek(source)
        if isinstance(source, list | tuple) and source and all(isinstance(path, str | os.PathLike) for path in source):
            parts = list_all_parts(source, self.format)
            return _FILES, self._read_parts(_FILES, parts)
        return self._read_memory(source, first)

    def _read_memory(self, source: Any, first: Any) -> tuple[str, Rows]:
        """Read an object in memory; `first` is the first element of a list or an iterator."""
        self.refuse_options("The data are in memory", "query", *TEXT)
        # scipy is not imported: its matrices have their method.
        if has_attribute(source, "tocsr"):
            self.refuse_options("A sparse matrix has one row per basket, without order", *TABLE, "ordered", "format")
            return "The matrix", read_sparse(source, self._column_labels())
        is_table = self.person is not None or self.item is not None
        if isinstance(source, Mapping):
            if is_table or self.format is not None:
                return self._read_frame(build_column_stream(source, self._named_columns()))
            # Rows of a dictionary of baskets are its values; the keys are people and are dropped.
            _check_no_columns(source)
            source = source.values()
        if is_table and isinstance(first, Mapping):
            return self._read_frame(build_record_stream(source, self._named_columns(), self.memory_limit))
        frame = open_frame(source, self._named_columns())
        if frame is not None:
            return self._read_frame(frame)
        dimensions = getattr(source, "ndim", None)
        is_scalar = isinstance(dimensions, int) and not dimensions
        if not isinstance(source, Iterable) or isinstance(source, bytes) or is_scalar:
            raise MisuseError(
                f"Cannot read baskets from {type(source).__name__}: give a path, a data frame, "
                "a sparse matrix or a list of sets."
            )
        # An array of two dimensions is a one-hot matrix or a list of baskets of equal size; only the values can tell.
        if isinstance(source, np.ndarray) and source.ndim == 2:
            if source.dtype == np.bool_ or self.format == "onehot":
                self.refuse_options(
                    "An array of true and false has one row per basket, without order", *TABLE, "ordered"
                )
                return "The array", read_dense(source, self._column_labels())
            if source.shape[1] > 2 and source.size and has_zeros_and_ones(source):
                raise MisuseError.format(
                    'The array has 0 and 1 alone: say {format="onehot"}, if each column is an item, or give '
                    "lists of items."
                )
        self.refuse_options("A list of baskets is neither a table nor a file", *TABLE, "format")
        return "The baskets given", read_iterable(
            source, self.memory_limit, labels=self.label_type(), ordered=self.ordered
        )

    def label_type(self) -> Labels:
        """Return the option `labels`, which is no list here."""
        if self.labels is None or isinstance(self.labels, str):
            return cast(Labels, self.labels)
        raise MisuseError.format(
            '{labels=} lists names for a sparse matrix or a one-hot table; here it is "numbers" or "names".'
        )

    def _require_query(self, needed: str) -> str:
        if self.query is None:
            raise MisuseError.format(
                'There must be {needed}: give {query="SELECT person, item FROM …"}.', needed=needed
            )
        return self.query.strip().rstrip(";")

    def _named_columns(self) -> list[str]:
        """Return the columns that the options name."""
        columns = (self.person, self.item, self.basket, self.time, self.by, *(self.pair or ()))
        return [column for column in columns if column is not None]

    def _read_open_file(self, stream: Any) -> tuple[str, Rows]:
        """Read an open file."""
        with copy_stream(stream, self.format) as (name, path, text):
            if text:
                self.refuse_options(f"{name} is text that was decoded already", "encoding")
            return name, self._read_file(path)

    def _read_address(self, address: str) -> tuple[str, Rows]:
        """Read the source at an address; no message has a secret of the address."""
        # Messages of drivers quote the address with its password.
        try:
            return self._read_remote(address)
        except InputError as error:
            raise clean_error(error, address) from None

    def _read_remote(self, address: str) -> tuple[str, Rows]:
        scheme, rest = address.split("://", 1)
        if scheme in EXTENSIONS:
            # DuckDB decodes remote text itself, and only as UTF-8.
            self.refuse_options("A file elsewhere is a table in UTF-8", "encoding", "query")
            form = format_of_address(address, self.format)
            with workspace(self.memory_limit) as work:
                table = open_address(work, address, form, self._named_columns(), self.delimiter)
                return table.name, self._read_table(work, table)
        # A file: address is a path with escapes such as %20.
        if scheme == "file":
            return self.read_rows(unquote(urlsplit(address).path))
        self.refuse_options("The address tells what it is", "format", *TEXT)
        if scheme in ("sqlite", "duckdb") and rest.startswith("/") and rest != "/":
            # sqlite:///file.db has an empty host before the path; a fourth slash makes the path absolute.
            path = Path(rest[1:])
            check_file(path)
            return str(path), self._read_database(path, scheme)
        name = public_name(address)
        if scheme in ("postgresql", "postgres"):
            query = self._require_query("a query to ask a database")
            with workspace(self.memory_limit) as work:
                return name, self._read_table(work, work.postgresql(address, query, self._named_columns()))
        raise MisuseError(
            f"{name} is not an address discreet reads; those are sqlite:///file.db, duckdb:///file.duckdb, "
            "postgresql://user@host/name, and files at https://, s3://, gs://, az:// and the like."
        )

    def _read_database(self, path: Path, kind: str | None) -> Rows:
        # The first bytes decide, and not the suffix: .db is a suffix of both databases.
        actual = kind_of_database(path)
        if kind not in (None, actual):
            raise InputError(f"{path} is not a database of the kind {kind}, but {actual}.")
        query = self._require_query("a query to ask a database")
        if actual == "duckdb":
            return self._read_query(path, query)
        with workspace(self.memory_limit) as work:
            return self._read_table(work, work.sqlite(path, query, self._named_columns(), self.time))

    def _read_query(self, database: Path | None, query: str) -> Rows:
        with workspace(self.memory_limit) as work:
            return self._read_table(work, work.query(query, database))

    def _read_file(self, path: Path) -> Rows:
        check_file(path)
        form = resolve_format(path, self.format)
        format_, compression = form.format, form.compression
        if format_ in ("database", "sqlite", "duckdb") and not compression:
            self.refuse_options(f"{path} is a database", *TEXT)
            return self._read_database(path, None if format_ == "database" else format_)
        self._check_format(path, format_)
        # Without people, text has one basket per line; the binary formats are tables in any case.
        if format_ in ("fimi", "baskets") or (self.person is None and format_ not in ("parquet", "feather", "excel")):
            return self._read_text(sniff(path, compression, self.encoding), form)
        with workspace(self.memory_limit) as work:
            return self._read_table(work, self._open_table(work, path, form, self._named_columns()))

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

    def _open_table(self, work: Any, path: Path, form: FileFormat, column_names: list[str]) -> Any:
        """Return a file as a table in the workspace."""
        if form.format in ("parquet", "feather", "excel"):
            self.refuse_options(f"{path} is not text", *TEXT)
            if form.format == "parquet":
                return work.parquet(path, form.compression)
            return getattr(work, form.format)(path, form.compression, column_names)
        # JSON and CSV need the encoding before DuckDB opens them.
        text = sniff(path, form.compression, self.encoding)
        if form.format == "json":
            self.refuse_options(f"{path} is JSON", "delimiter")
            return work.json(path, form.compression, text.encoding)
        delimiter = text.find_delimiter(self._explicit_delimiter(form), column_names)
        return work.csv(path, form.compression, delimiter, text.encoding)

    def _read_parts(self, name: str, parts: list[Part]) -> Rows:
        """Read several files: as one table with people, or one after another with a basket per line or row."""
        forms = {part.path: resolve_format(part.path, self.format) for part in parts}
        formats = {form.format for form in forms.values()}
        # A union of tables needs typed columns, or text columns, in all files.
        if len(formats) > 1 or (self.person is not None and not formats <= set(TABLE_FORMATS)):
            verb = "are" if name == _FILES else "is a folder with files" if Path(name).is_dir() else "names files"
            raise MisuseError(
                f"{name} {verb} of the kinds {', '.join(sorted(formats))}; several files are "
                "read as one table if all of them are CSV, or all TSV, JSON, Parquet, Feather or Excel."
            )
        # All files are checked before the first is read.
        for part in parts:
            check_file(part.path)
            self._check_format(part.path, *formats)
        if self.person is None:
            return self._read_and_join(name, [part.path for part in parts], *formats)
        options = {option: getattr(self, option) for option in ("person", "item", "basket", "time", "by")}
        column_names = {column: option for option, column in options.items() if column is not None}
        column_names |= dict.fromkeys(self.pair or (), "pair")
        types = find_folder_types(parts)
        with workspace(self.memory_limit) as work:
            tables = []
            for part in parts:
                # A column of a folder is not searched in the file.
                folders = {column for column, _ in part.folders}
                inside = [column for column in self._named_columns() if column not in folders]
                tables.append(
                    add_folder_columns(self._open_table(work, part.path, forms[part.path], inside), part, types)
                )
            return self._read_table(work, work.union(name, tables, column_names))

    def _read_and_join(self, name: str, paths: list[Path], format_: str) -> Rows:
        """Read files with one basket per line or row. The first text file with items decides the type of all items."""
        parts: list[Rows] = []
        # Files without items, or with numbers only, say nothing about the type of later files.
        options = self
        for path in paths:
            parts.append(options._read_file(path))
            has_names = len(parts[-1].vocabulary) > 0 and not parts[-1].vocabulary.numeric
            if options.labels is None and format_ in TEXT_FORMATS and has_names:
                options = replace(self, labels="names")
        return join_rows(name, parts, self.memory_limit)

    def _explicit_delimiter(self, form: FileFormat) -> str | None:
        """Return the delimiter of the option or of the format, if any."""
        tabs = form.format == "tsv" or (form.format == "baskets" and form.suffix == ".tsv")
        return self.delimiter or ("\t" if tabs else None)

    def _read_text(self, text: TextHead, form: FileFormat) -> Rows:
        path, format_, compression = text.path, form.format, form.compression
        if format_ in ("csv", "tsv") and self.item is not None:
            raise MisuseError.format(
                "{path} is read with one basket per line unless {person=} and {item=} are given; give both for a "
                "table, or neither.",
                path=path,
            )
        self.refuse_options(f"{path} is read with one basket per line and has no columns", *TABLE)
        options: dict[str, Any] = {"labels": self.label_type(), "encoding": text.encoding, "progress": self.progress}
        if format_ == "json":
            self.refuse_options(f"{path} is JSON", "delimiter")
            rows, other_fields = read_json_lines(path, compression, self.memory_limit, **options)
            if other_fields:
                self.require_person(str(path), f"records with fields beside the items ({_join_names(other_fields)})")
            return rows
        if format_ == "fimi":
            self.refuse_options(f"{path} has blanks between items", "delimiter")
            delimiters = next((name for delimiter, name in DELIMITERS.items() if text.fields(delimiter)), None)
            if delimiters is not None:
                self.require_person(
                    str(path),
                    build_message(
                        'lines that have as many {delimiters} each, as in a table ({format="csv"} reads one),',
                        delimiters=delimiters,
                    ),
                )
                if self.format is None:
                    raise _build_table_error(
                        path,
                        f"as many {delimiters}",
                        build_message('{format="csv"} and '),
                        build_message('{format="fimi"}'),
                    )
            return read_lines(path, compression, self.memory_limit, delimiter=" ", **options)
        self.require_person(str(path))
        delimiter = text.find_delimiter(self._explicit_delimiter(form), [])
        # The option format="baskets" confirms that lines are baskets, so they are not examined.
        if format_ != "baskets":
            fields = text.fields(delimiter)
            if fields is not None:
                raise _build_table_error(path, f"{fields} fields", "", build_message('{format="baskets"}'))
            if (single := text.alone(delimiter)) is not None:
                raise _build_short_table_error(path, single)
            if text.numbered(delimiter):
                pattern = "a number and then names, but for the first,"
                raise _build_table_error(path, pattern, "", build_message('{format="baskets"}'))
        return read_lines(path, compression, self.memory_limit, delimiter=delimiter, **options)

    def _column_labels(self) -> Sequence[Item] | None:
        """Return the option `labels`, which names the columns of a matrix here."""
        if isinstance(self.labels, str):
            raise MisuseError.format("{labels=} of a sparse matrix is the list of its columns' names.")
        return self.labels

    def _read_frame(self, frame: ArrowStream) -> tuple[str, Rows]:
        is_table = self.person is not None or self.item is not None
        if frame.single:
            self.refuse_options("A single column has one basket per row", *TABLE, "format")
        if self.format not in (None, "onehot"):
            raise MisuseError.format(
                "{format=given} is for files; a data frame is read as it is, or as onehot.", given=self.format
            )
        # A table of booleans is one-hot unless the caller names its columns.
        if self.format == "onehot" or (is_one_hot(frame.reader.schema) and not is_table):
            self.refuse_options("A one-hot table has one row per basket, without order", *TABLE, "ordered")
            return frame.name, read_one_hot(frame.name, frame.reader, self.memory_limit, self.labels)
        with workspace(self.memory_limit) as work:
            return frame.name, self._read_table(work, work.arrow(frame.name, frame.reader, self._named_columns()))

    def _read_table(self, work: Any, table: Any) -> Rows:
        if self.person is not None:
            person = table.find(self.person, "person")
            items = [table.find(column, "pair") for column in self.pair or ()]
            if self.item is not None:
                items.append(table.find(self.item, "item"))
                if self.pair is not None and is_list_column(items[-1]):
                    raise MisuseError.format(
                        "{item=given} holds lists; beside {pair=} it is a column of single items.", given=self.item
                    )
            columns = {option: getattr(self, option) for option in ("basket", "time", "by")}
            return group_rows(
                work,
                table,
                person=person,
                items=tuple(items),
                labels=self.label_type(),
                nulls=self.nulls,
                progress=self.progress,
                **{option: None if name is None else table.find(name, option) for option, name in columns.items()},
            )
        if self.item is not None:
            list_columns = [table.find(self.item, "item")]
        else:
            list_columns = [column for column in table.columns if is_list_column(column)]
        if len(list_columns) != 1 or not is_list_column(list_columns[0]):
            raise MisuseError.format(
                "{table} needs {person=} and {item=}, the columns of the people and of what they hold; {listing}.",
                table=table.name,
                listing=table.listing,
            )
        other_columns = [column.name for column in table.columns if column is not list_columns[0]]
        if other_columns:
            self.require_person(table.name, f"rows with columns beside the items ({_join_names(other_columns)})")
        self.refuse_options(f"{table.name} is read with one basket per row, without people", "nulls")
        return read_lists(work, table, list_columns[0], self.label_type())


def _build_table_error(path: Path, pattern: str, format_hint: str | Message, baskets_hint: Message) -> MisuseError:
    """Return the error for lines that may be rows of a table; it shows no content, which is private."""
    return MisuseError.format(
        "{path} looks like a table: its first lines have {pattern} each. Say which column holds the person and which "
        'the item, as in {format_hint}{person="customer"} and {item="product"}; or {baskets_hint}, if every line is a '
        "basket.",
        path=path,
        pattern=pattern,
        format_hint=format_hint,
        baskets_hint=baskets_hint,
    )


def _build_short_table_error(path: Path, unit: Literal["line", "field"]) -> MisuseError:
    """Return the error for text that may be baskets, or a table without rows or with a single column."""
    if unit == "line":
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


def _peek(source: Any) -> tuple[Any, Any]:
    """Return the source and the first element of a list or an iterator; None without an element.

    The returned iterator has all elements. An iterator of paths is returned as a list.
    """
    if isinstance(source, list | tuple):
        return source, source[0] if source else None
    if not isinstance(source, Iterator) or has_attribute(source, "__arrow_c_stream__"):
        return source, None
    head = list(islice(source, 1))
    all_elements = chain(head, source)
    first = head[0] if head else None
    return list(all_elements) if isinstance(first, os.PathLike) else all_elements, first


def _check_no_columns(source: Mapping[Any, Any]) -> None:
    """Check that a dictionary of baskets does not look like the columns of a table."""
    sizes = [len(values) if isinstance(values, list | tuple | np.ndarray) else -1 for values in source.values()]
    # Baskets of one size are possible, but a table passed without its options is more likely.
    if len(set(sizes)) == 1 and len(sizes) > 1 and sizes[0] > 1:
        raise MisuseError.format(
            "The dictionary looks like a table: all its lists are of one length. Say which of them is the person "
            'and which the item, as in {person="customer"} and {item="product"}; or give sets, if each is a basket.'
        )


def _join_names(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
