"""Tables in DuckDB: opened from files, Arrow streams and queries.

A `Workspace` is a DuckDB database in a temporary folder, with a limit of memory beyond which DuckDB writes to disk.
Streams are copied into it, so that `_tables` can scan a table several times. PostgreSQL and SQLite are queried through
their own drivers, because DuckDB would have to download an extension.
"""

from __future__ import annotations

import csv
import json
import re
import struct
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, Literal, TypeVar
from urllib.parse import urlsplit

from ..errors import EmptyDataError, InputError, LimitError, MisuseError
from ..heavy import duckdb, pa
from ..kernels import threads
from ..temporary import make_temporary_directory
from ._columns import INTEGER_TYPE, Column, Table, quote_name, quote_text
from ._places import FileFormat, find_format
from ._redaction import (
    QUERY_NAME,
    SAY_ENCODING,
    build_read_error,
    check_duckdb_query,
    check_query,
    hide_secrets,
    public_name,
)
from ._sniffing import DELIMITERS
from ._streams import COMPRESSIONS, MAX_EXPANSION, UTF_8, MemoryLimit, unpack_file
from ._typed_files import open_feather, read_declared_size, read_feather_size, read_sheet

T = TypeVar("T")

# A sample value of each SQLite type.
_SQLITE_VALUES = {"integer": "0", "real": "0.5", "text": "''", "blob": "x''"}


@contextmanager
def workspace(memory_limit: MemoryLimit) -> Iterator[Workspace]:
    """Return a workspace with a limit of memory, as a context; its folder is removed at the end."""
    with (
        make_temporary_directory() as folder,
        _connect(folder) as connection,
        ThreadPoolExecutor(1) as thread,
    ):
        # An extension is code from the network: none is installed during a read.
        connection.execute("SET autoinstall_known_extensions = false")
        # A name in a query is a table or a file, never a variable of the calling program.
        # Otherwise a query could read any data frame of the calling program.
        connection.execute("SET python_enable_replacements = false")
        # In a notebook without ipywidgets the setting is off, and DuckDB refuses to change it.
        if connection.execute("SELECT current_setting('enable_progress_bar')").fetchall()[0][0]:
            connection.execute("SET enable_progress_bar = false")
        # Times without a zone are read alike on every machine.
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(f"SET threads = {threads()}")
        connection.execute(f"SET temp_directory = {quote_text(folder)}")
        connection.execute(f"SET memory_limit = {quote_text(memory_limit.text)}")
        yield Workspace(connection, Path(folder), memory_limit, thread)


def _connect(folder: Path) -> Any:
    try:
        # On disk, and not in memory: DuckDB moves data over the limit there.
        return duckdb.connect(str(folder / "workspace.duckdb"))
    except duckdb.Error:
        raise LimitError(
            f"No temporary database can be made in {folder.parent}: the disk may be full or failing; set TMPDIR to "
            "another folder."
        ) from None


class Workspace:
    """A temporary DuckDB database, and the sources opened in it."""

    def __init__(self, connection: Any, folder: Path, memory_limit: MemoryLimit, thread: ThreadPoolExecutor) -> None:
        self._connection = connection
        self._folder = folder
        self.memory_limit = memory_limit
        self._thread = thread
        self._numbers = count()

    def ask(self, name: str, task: Callable[[Any], T]) -> T:
        """Return the result of `task` on the connection; an error names the source `name`."""
        with self._translate_errors(name):
            return self.do(task)

    def do(self, task: Callable[[Any], T]) -> T:
        """Return the result of `task` on the connection; errors of DuckDB pass through.

        The task runs in a second thread: in the main thread DuckDB may miss an interrupt.
        """
        future = self._thread.submit(task, self._connection)
        try:
            return future.result()
        except KeyboardInterrupt:
            # A query that has just begun may miss an interrupt, so interrupts are repeated.
            while not future.done():
                self._connection.interrupt()
                wait([future], 0.1)
            raise

    @contextmanager
    def _translate_errors(self, name: str) -> Iterator[None]:
        """Raise errors of DuckDB and Arrow as errors of ours that name the source `name`."""
        try:
            yield
        except (duckdb.Error, pa.ArrowException, RuntimeError, OSError) as error:
            text = str(error)
            # DuckDB raises the error under different types, depending on the operator.
            if isinstance(error, duckdb.OutOfMemoryException) or "Out of Memory Error" in text:
                raise LimitError.format(
                    '{name}: grouping its rows takes more memory than {allowed}; give more, as in {memory="8GB"}.',
                    name=name,
                    allowed=self.memory_limit.text,
                ) from None
            raise build_read_error(name, text.replace(f"{self._folder}/", "")) from None

    def run(self, name: str, sql: str) -> None:
        """Run a statement; an error names the source `name`."""
        self.ask(name, lambda connection: connection.execute(sql))

    def row(self, name: str, sql: str) -> tuple[Any, ...]:
        """Return the single row of the result of a query."""
        rows: list[tuple[Any, ...]] = self.ask(name, lambda connection: connection.execute(sql).fetchall())
        return rows[0]

    def batches(self, name: str, sql: str) -> Iterator[Any]:
        """Yield the result of a query as Arrow record batches."""
        with self._translate_errors(name):
            reader = self.do(lambda connection: connection.sql(sql).to_arrow_reader(1 << 18))
            while (batch := self.do(lambda _: next(reader, None))) is not None:
                yield batch

    def keep_order(self, keep: bool) -> None:
        """Set whether results are in the order of the source, which takes more memory."""
        self._connection.execute(f"SET preserve_insertion_order = {keep}")

    def _describe(self, name: str, sql: str) -> dict[str, str]:
        statement = f"DESCRIBE SELECT * FROM {sql}"  # noqa: S608
        rows = self.ask(name, lambda connection: connection.execute(statement).fetchall())
        return {row[0]: row[1] for row in rows}

    def table(self, name: str, sql: str, untyped: Literal["text", "json"] | None = None) -> Table:
        """Return the table that `sql` names after FROM, with its columns."""
        types = self._describe(name, sql)
        columns = tuple(Column(name=column, sql=quote_name(column), type=type_) for column, type_ in types.items())
        return Table(name=name, sql=sql, columns=columns, untyped=untyped)

    def copied(
        self, name: str, sql: str, column_names: list[str], untyped: Literal["text", "json"] | None = None
    ) -> Table:
        """Return a copy of the columns in `column_names`, to fetch them once; if one is missing, the uncopied table."""
        table = self.table(name, sql, untyped)
        if not set(column_names) <= {column.name for column in table.columns}:
            return table
        columns = ", ".join(column.sql for column in table.columns if not column_names or column.name in column_names)
        # Each source has its own table: several files may be open at once.
        source = f"source{next(self._numbers)}"
        self.run(name, f"CREATE TABLE {source} AS SELECT {columns} FROM {sql}")  # noqa: S608
        return self.table(name, source, untyped)

    def _unpack(self, path: Path, compression: str | None, encoding: str = UTF_8) -> Path:
        """Return the path of the unpacked file, without characters that DuckDB reads as a pattern."""
        plain = unpack_file(path, compression, self._folder, encoding, self.memory_limit)
        if re.search(r"[*?\[\]{}]", str(plain)):
            # A link in the temporary folder has a plain name.
            alias = self._folder / f"source-{sum(1 for _ in self._folder.glob('source-*'))}{plain.suffix}"
            alias.symlink_to(plain.resolve())
            plain = alias
        return plain

    def csv(self, path: Path, compression: str | None, delimiter: str, encoding: str = UTF_8) -> Table:
        """Return the table of a CSV file with a header; all columns are text."""
        place = self._unpack(path, compression, encoding)
        names = _header(path, place, delimiter)
        columns = tuple(Column(name=name, sql=f"c{i}", type="VARCHAR") for i, name in enumerate(names))
        types = ", ".join(f"{column.sql}: 'VARCHAR'" for column in columns)
        # All options are fixed: the detection of DuckDB depends on its version and on the first rows.
        options = f"auto_detect=false, header=true, delim={quote_text(delimiter)}, quote='\"', escape='\"'"
        limits = "max_line_size=16777216, hive_partitioning=false"
        sql = f"read_csv({quote_text(place)}, {options}, columns={{{types}}}, {limits})"
        return Table(name=str(path), sql=sql, columns=columns, untyped="text")

    def json(self, path: Path, compression: str | None, encoding: str = UTF_8) -> Table:
        """Return the table of JSON records, one per line or all in one list."""
        place = self._unpack(path, compression, encoding)
        # maximum_depth=1 keeps values as JSON, and sample_size=-1 derives columns from all rows.
        options = "format='auto', records=true, maximum_depth=1, sample_size=-1, hive_partitioning=false"
        try:
            return self.table(str(path), f"read_json({quote_text(place)}, {options})", "json")
        except InputError:
            # DuckDB reports a line number that is one too high, so the line is searched here.
            _check_json(path, place)
            raise

    def parquet(self, path: Path, compression: str | None) -> Table:
        """Return the table of a Parquet file."""
        place = self._unpack(path, compression)
        self._check_declared(path, self.ask(str(path), lambda connection: read_declared_size(connection, place)))
        # A folder such as person=5 must not replace the column of the file.
        return self.table(str(path), f"read_parquet({quote_text(place)}, hive_partitioning=false)")

    def feather(self, path: Path, compression: str | None, column_names: list[str]) -> Table:
        """Return a copy of the columns in `column_names` of a file in Arrow's own format."""
        place = self._unpack(path, compression)
        try:
            self._check_declared(path, read_feather_size(place))
            reader = open_feather(place)
        except (struct.error, ValueError, OSError, RuntimeError):
            raise InputError(f"{path} is damaged or cut short, or no Feather file: get the file again.") from None
        return self.arrow(str(path), reader, column_names)

    def _check_declared(self, path: Path, declared_bytes: int) -> None:
        """Check that a file declares at most the limit of memory, or a plausible multiple of its own size."""
        packed = path.stat().st_size
        limit = max(self.memory_limit.size, MAX_EXPANSION * packed)
        if declared_bytes > limit:
            raise LimitError.format(
                "{path} has {packed:,} bytes and unpacks to over {largest:,}, which data hardly do; if it is "
                'what you expect, give more memory, as in {memory="64GB"}.',
                path=path,
                packed=packed,
                largest=limit,
            )

    def arrow(self, name: str, reader: Any, column_names: list[str], skip: int = 0) -> Table:
        """Return a copy of the columns in `column_names` of an Arrow stream, without its first `skip` rows.

        With an empty `column_names`, all columns of lists are copied.
        """
        names = reader.schema.names
        if column_names:
            selected = [
                i for i, column in enumerate(names) if column in column_names and set(column_names) <= set(names)
            ]
        else:
            selected = [i for i, field in enumerate(reader.schema) if is_list_type(field.type)]
        types: dict[str, str] = {}
        source = f"source{next(self._numbers)}"
        if selected:
            errors: list[BaseException] = []
            stream = _select_columns(reader, selected, skip, errors)
            statement = f"CREATE TABLE {source} AS SELECT * FROM stream"  # noqa: S608
            try:
                with self._translate_errors(name):
                    self._connection.register("stream", stream)
                    self.do(lambda connection: connection.execute(statement))
                    self._connection.unregister("stream")
            except InputError:
                # DuckDB reports only that the stream ended early; the stream recorded the reason.
                for error in errors:
                    if not isinstance(error, (pa.ArrowException, OSError)):
                        raise error from None
                    raise build_read_error(name, str(error)) from None
                raise
            types = self._describe(name, source)
        columns = (Column(name=column, sql=f"c{i}", type=types.get(f"c{i}", "")) for i, column in enumerate(names))
        return Table(name=name, sql=source, columns=tuple(columns))

    def excel(self, path: Path, compression: str | None, column_names: list[str]) -> Table:
        """Return the table of the first sheet of a workbook."""
        plain = unpack_file(path, compression, self._folder, memory_limit=self.memory_limit)
        return self.arrow(str(path), read_sheet(plain, column_names, self.memory_limit).to_reader(), column_names)

    def union(self, name: str, tables: list[Table], options: dict[str, str]) -> Table:
        """Return tables one after another; `options` has the option of `read` for each column."""
        columns = []
        for number, (column, option) in enumerate(options.items()):
            types = {table.name: table.find(column, option).type for table in tables}
            first, type_ = next(iter(types.items()))
            second = next((name for name in types if types[name] != type_), first)
            # A cast of numbers to text, or of whole numbers to fractions, could merge two people.
            if second != first and not all(map(INTEGER_TYPE.fullmatch, types.values())):
                raise InputError(
                    f"{name}: column {column!r} is of type {type_} in {first}, but {types[second]} in {second}; make "
                    "them the same first."
                )
            columns.append(Column(name=column, sql=f"w{number}", type=type_ if second == first else "HUGEINT"))
        selects = []
        for table in tables:
            expressions = (f"{table.find(column.name, options[column.name]).sql} AS {column.sql}" for column in columns)
            selects.append(f"SELECT {', '.join(expressions)} FROM {table.sql}")  # noqa: S608
        sql = f"({' UNION ALL '.join(selects)})"
        return Table(name=name, sql=sql, columns=tuple(columns), untyped=tables[0].untyped)

    def query(self, query: str, database: Path | None = None) -> Table:
        """Return the result of a query over files, or over a DuckDB database."""
        # Attached read-only, so the query cannot change the file.
        if database is not None:
            self.run(str(database), f"ATTACH {quote_text(database.resolve())} AS given (READ_ONLY)")
            self._connection.execute("USE given")
        self.ask(QUERY_NAME, lambda connection: check_duckdb_query(query, connection))
        self.run(QUERY_NAME, f"CREATE TABLE workspace.main.source AS {query}")
        self._connection.execute("USE workspace.main")
        return self.table(QUERY_NAME, "source")

    def sqlite(self, path: Path, query: str, column_names: list[str], time: str | None) -> Table:
        """Return the result of a query over an SQLite database.

        In SQLite each value has its own type, but the driver takes the type of a column from its first values. So the
        result is stored, each column is checked to have one type, and a first row of sample values fixes the types.
        Integers and reals together become floating point, which merges large integers: only `time` may have both.
        """
        name = str(path)
        check_query(query, "sqlite")
        # The URI of SQLite opens the file read-only; its reserved characters are escaped.
        uri = f"file:{str(path.resolve()).replace('%', '%25').replace('?', '%3f').replace('#', '%23')}?mode=ro"
        with _open_cursor("sqlite", uri, name) as cursor:
            # The query runs once: a second run may be slow, or may give different values.
            cursor.execute(f"CREATE TEMP TABLE answer AS SELECT * FROM (\n{query}\n)")  # noqa: S608
            cursor.execute("SELECT * FROM temp.answer LIMIT 0")
            names = [column[0] for column in cursor.description]
            if not column_names or not set(column_names) <= set(names):
                columns = tuple(Column(name=column, sql="", type="") for column in names)
                return Table(name=name, sql="", columns=columns)
            columns_wanted = list(dict.fromkeys(column_names))
            types = ", ".join(f"group_concat(DISTINCT typeof({quote_name(column)}))" for column in columns_wanted)
            cursor.execute(f"SELECT {types} FROM temp.answer")  # noqa: S608
            samples = []
            for column, type_list in zip(columns_wanted, cursor.fetchone(), strict=True):
                value_types = set((type_list or "").split(",")) - {"null", ""}
                if len(value_types) > 1 and (value_types != {"integer", "real"} or column != time):
                    raise InputError(
                        f"{name}: column {column!r} holds values of several types; "
                        f"cast it: SELECT CAST({column} AS TEXT) AS {column}."
                    )
                samples.append(f"{_SQLITE_VALUES.get(max(value_types, default=''), 'NULL')} AS {quote_name(column)}")
            selected = ", ".join(map(quote_name, columns_wanted))
            cursor.execute(f"SELECT {', '.join(samples)} UNION ALL SELECT {selected} FROM temp.answer")  # noqa: S608
            with cursor.fetch_record_batch() as reader:
                return self.arrow(name, reader, column_names, skip=1)

    def postgresql(self, uri: str, query: str, column_names: list[str]) -> Table:
        """Return the result of a query over a PostgreSQL database."""
        name = public_name(uri)
        check_query(query, "postgresql")
        with _open_cursor("postgresql", uri, name) as cursor:
            # A function in the query could write: the server refuses that in a read-only transaction.
            cursor.execute("SET TRANSACTION READ ONLY")
            cursor.execute(query)
            with cursor.fetch_record_batch() as reader:
                return self.arrow(name, reader, column_names)


@contextmanager
def _open_cursor(kind: Literal["sqlite", "postgresql"], uri: str, name: str) -> Iterator[Any]:
    """Return a cursor of a database through its driver, as a context; an error names `name` and no password."""
    from importlib import import_module

    try:
        driver = import_module(f"adbc_driver_{kind}.dbapi")
        from adbc_driver_manager import Error
    except ImportError:
        system = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}[kind]
        raise MisuseError(f"Reading from {system} needs a driver: pip install 'discreet[sql]'.") from None
    try:
        with driver.connect(uri) as connection, connection.cursor() as cursor:
            yield cursor
    except Error as error:
        text = str(error) if kind == "sqlite" else hide_secrets(str(error), uri)
        raise build_read_error(name, text) from None


def is_list_type(type_: Any) -> bool:
    """Return whether an Arrow type is a type of lists."""
    checks = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    views = (pa.types.is_list_view, pa.types.is_large_list_view)
    return any(check(type_) for check in (*checks, *views))


def _select_columns(reader: Any, selected: list[int], skip: int, errors: list[BaseException]) -> Any:
    """Return the stream of the columns with the numbers `selected`, named c0, c1 …; adds its error to `errors`."""

    def widen(type_: Any) -> Any:
        # DuckDB has no half precision.
        if is_list_type(type_) and pa.types.is_float16(type_.value_type):
            return pa.list_(pa.float32())
        return pa.float32() if pa.types.is_float16(type_) else type_

    schema = pa.schema([(f"c{i}", widen(reader.schema.field(i).type)) for i in selected])

    def batches() -> Iterator[Any]:
        remaining = skip
        try:
            for batch in reader:
                start = min(remaining, len(batch))
                remaining -= start
                columns = [batch.column(i).slice(start) for i in selected]
                for column in columns:
                    # A foreign library built the arrays: an offset out of range would read foreign memory.
                    column.validate(full=True)
                columns = [
                    column if column.type == field.type else column.cast(field.type)
                    for column, field in zip(columns, schema, strict=True)
                ]
                yield pa.RecordBatch.from_arrays(columns, schema=schema)
        except BaseException as error:
            errors.append(error)
            raise

    return pa.RecordBatchReader.from_batches(schema, batches())


def _header(path: Path, place: Path, delimiter: str) -> list[str]:
    """Return the column names of a CSV file. DuckDB would number repeated names, so it does not parse the header."""
    with place.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        try:
            header = next(csv.reader(iter(lambda: file.readline(1 << 20), ""), delimiter=delimiter), [])
        except csv.Error as error:
            raise InputError(f"{path}, line 1 does not name columns: {error}.") from None
    try:
        "".join(header).encode()
    except UnicodeEncodeError:
        raise InputError.format("{path}, line 1 is not UTF-8 text; {fix}", path=path, fix=SAY_ENCODING) from None
    if not header:
        raise InputError(f"{path}, line 1 is blank; it must name the columns.")
    return [name.strip() for name in header]


def _check_json(path: Path, plain: Path) -> None:
    """Raise an error with the number of the first line that is not JSON, if the file has one record per line."""
    with plain.open("rb") as file:
        # Empty lists and records are common mistakes; both fit in the first 64 KiB.
        head = file.read(1 << 16)
        if re.fullmatch(rb"(\xef\xbb\xbf)?\s*\[\s*\]\s*", head):
            raise EmptyDataError(f"{path} has no rows.")
        if re.fullmatch(rb"(\xef\xbb\xbf)?[\s\[\],{}]*", head) and b"{" in head:
            raise InputError(f"{path} has records without fields; each is an object with the fields asked for.")
        file.seek(0)
        for number, line in enumerate(file, 1):
            if line.strip():
                try:
                    json.loads(line)
                except (ValueError, RecursionError):
                    if number > 1 or line.lstrip()[:1] != b"[":
                        raise InputError(
                            f"{path}, line {number} is not a JSON object; write one record per line."
                        ) from None
                    return


def kind_of_database(path: Path) -> Literal["sqlite", "duckdb"]:
    """Return the kind of a database file, by its first bytes."""
    with path.open("rb") as file:
        head = file.read(16)
    if head.startswith(b"SQLite format 3"):
        return "sqlite"
    if head[8:12] == b"DUCK":
        return "duckdb"
    raise InputError(f"{path} is neither an SQLite nor a DuckDB database.")


_WEB = ("http", "https", "hf", "s3", "s3a", "s3n", "gs", "gcs", "r2")
_AZURE = ("az", "azure", "abfss")
EXTENSIONS = {**dict.fromkeys(_WEB, "httpfs"), **dict.fromkeys(_AZURE, "azure")}


def format_of_address(address: str, format_: str | None) -> FileFormat:
    """Return the format of a remote file, by the option or by its suffix; only formats of tables in DuckDB pass."""
    name = public_name(address)
    path = Path(urlsplit(address).path.rstrip("/") or "/")
    if path.suffix.lower() in COMPRESSIONS:
        raise MisuseError(f"{name} is packed; download it first, and give the file.")
    actual = format_ or find_format(path)
    if actual not in ("csv", "tsv", "json", "parquet"):
        raise MisuseError.format(
            "{name} cannot be read from where it is: that is for tables in Parquet, CSV, TSV and JSON (by suffix, "
            "or by {format=}). Download it first, and give the file.",
            name=name,
        )
    return FileFormat(actual, None, path.suffix)


def open_address(
    work: Workspace, address: str, form: FileFormat, column_names: list[str], delimiter: str | None
) -> Table:
    """Return a copy of the columns in `column_names` of a remote table; with an empty list, of all columns."""
    name = public_name(address)
    _load_extension(work, name, address.partition("://")[0])
    if form.format == "parquet":
        _check_size(work, name, address)
        return work.copied(name, f"read_parquet({quote_text(address)})", column_names)
    if form.format == "json":
        options = "format='auto', records=true, maximum_depth=1, sample_size=-1"
        return work.copied(name, f"read_json({quote_text(address)}, {options})", column_names, "json")
    return _copy_csv(work, name, address, column_names, "\t" if form.format == "tsv" else delimiter)


def _copy_csv(work: Workspace, name: str, address: str, column_names: list[str], delimiter: str | None) -> Table:
    """Return a copy of a CSV table; its delimiter is the option, or the first by which line 1 has all columns."""
    first_table: Table | None = None
    for mark in [delimiter] if delimiter else DELIMITERS:
        options = f"all_varchar=true, header=true, quote='\"', escape='\"', delim={quote_text(mark)}"
        table = work.table(name, f"read_csv({quote_text(address)}, {options})", "text")
        first_table = first_table or table
        if set(column_names) <= {column.name for column in table.columns}:
            return work.copied(name, table.sql, column_names, "text")
    assert first_table is not None  # noqa: S101
    return first_table


def _check_size(work: Workspace, name: str, address: str) -> None:
    size = work.ask(name, lambda connection: read_declared_size(connection, address))
    if size > work.memory_limit.size:
        raise LimitError.format(
            "{name} has a column of over {largest:,} bytes when it is unpacked; if it is what you expect, give "
            'more memory, as in {memory="64GB"}.',
            name=name,
            largest=work.memory_limit.size,
        )


def _load_extension(work: Workspace, name: str, scheme: str) -> None:
    extension = EXTENSIONS.get(scheme)
    if extension is None:  # a local file
        return
    try:
        work.do(lambda connection: connection.execute(f"LOAD {extension}"))
    except duckdb.Error:
        raise MisuseError(
            f"Reading {name} needs DuckDB's extension {extension}, which is not installed: run "
            f"`python -c \"import duckdb; duckdb.sql('INSTALL {extension}')\"` once, or download the file first."
        ) from None
