"""Tables from anywhere, opened by DuckDB: files, Arrow streams, SQL.

A `Workspace` is a DuckDB database in a temporary folder with a limit on memory; what does not fit goes to disk.
Sources that can be read only once are copied into it, so that `tables` may look at a table as often as it likes.
PostgreSQL and SQLite are asked through their own drivers: DuckDB would have to download an extension for them.
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

from ..errors import InputError, LimitError, MisuseError, NobodyError
from ..kernels import threads
from ..temporary import make_temporary_directory
from . import _feather as feather
from ._allowance import Allowance
from ._columns import INTEGERS, Column, Table, literal, quoted
from ._parquet import declared
from ._queries import check_parsed, check_query
from ._redaction import QUERY, SAY_ENCODING, failed, hidden, public_name
from ._streams import FOLDED, UTF_8, unpacked

T = TypeVar("T")

# A value of each of SQLite's types, by the name it has there.
_SQLITE_VALUES = {"integer": "0", "real": "0.5", "text": "''", "blob": "x''"}


@contextmanager
def workspace(allowed: Allowance) -> Iterator[Workspace]:
    """Open a workspace that keeps to the memory allowed, and clear it away afterwards."""
    with (
        make_temporary_directory() as folder,
        _connected(folder) as connection,
        ThreadPoolExecutor(1) as thread,
    ):
        connection.execute("SET autoinstall_known_extensions = false")
        # A name in a query is a table or a file, never a variable of the program that asks.
        connection.execute("SET python_enable_replacements = false")
        # It is off in a notebook without ipywidgets, where DuckDB refuses to hear of it at all, even to switch it off.
        if connection.execute("SELECT current_setting('enable_progress_bar')").fetchall()[0][0]:
            connection.execute("SET enable_progress_bar = false")
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(f"SET threads = {threads()}")
        connection.execute(f"SET temp_directory = {literal(folder)}")
        connection.execute(f"SET memory_limit = {literal(allowed.written)}")
        yield Workspace(connection, Path(folder), allowed, thread)


def _connected(folder: Path) -> Any:
    import duckdb

    try:
        return duckdb.connect(str(folder / "workspace.duckdb"))
    except duckdb.Error:
        raise LimitError(
            f"No temporary database can be made in {folder.parent}: the disk may be full or failing; set TMPDIR to "
            "another folder."
        ) from None


class Workspace:
    """A database of our own, and the sources opened in it."""

    def __init__(self, connection: Any, folder: Path, allowed: Allowance, thread: ThreadPoolExecutor) -> None:
        self._connection = connection
        self._folder = folder
        self.allowed = allowed
        self._thread = thread
        self._numbers = count()

    def do(self, task: Callable[[Any], T]) -> T:
        """Do something with the connection; what DuckDB says of it is the caller's to tell."""
        return self._do(lambda: task(self._connection))

    def ask(self, name: str, task: Callable[[Any], T]) -> T:
        """Do something with the connection; an error names `name`."""
        with self._told(name):
            return self.do(task)

    def _do(self, task: Callable[[], T]) -> T:
        """Let DuckDB work in a thread of its own: here it would not always hear an interrupt before it is done."""
        running = self._thread.submit(task)
        try:
            return running.result()
        except KeyboardInterrupt:
            # A query that has only just begun forgets that it was interrupted.
            while not running.done():
                self._connection.interrupt()
                wait([running], 0.1)
            raise

    @contextmanager
    def _told(self, name: str) -> Iterator[None]:
        """Say in our own way what DuckDB has to say about `name`."""
        import duckdb
        import pyarrow as pa

        try:
            yield
        except (duckdb.Error, pa.ArrowException, RuntimeError, OSError) as error:
            text = str(error)
            if isinstance(error, duckdb.OutOfMemoryException) or "Out of Memory Error" in text:
                raise LimitError.format(
                    '{name}: grouping its rows takes more memory than {allowed}; give more, as in {memory="8GB"}.',
                    name=name,
                    allowed=self.allowed.written,
                ) from None
            raise failed(name, text.replace(f"{self._folder}/", "")) from None

    def run(self, name: str, sql: str) -> None:
        """Run a statement; an error names `name`."""
        with self._told(name):
            self._do(lambda: self._connection.execute(sql))

    def row(self, name: str, sql: str) -> tuple[Any, ...]:
        """Return the one row of an answer."""
        with self._told(name):
            answer: tuple[Any, ...] = self._do(lambda: self._connection.execute(sql).fetchall()[0])
        return answer

    def batches(self, name: str, sql: str) -> Iterator[Any]:
        """Yield an answer as Arrow record batches."""
        with self._told(name):
            reader = self._do(lambda: self._connection.sql(sql).to_arrow_reader(1 << 18))
            while (batch := self._do(lambda: next(reader, None))) is not None:
                yield batch

    def keep_order(self, keep: bool) -> None:
        """Say whether answers come in the order of the source, which takes more memory."""
        self._connection.execute(f"SET preserve_insertion_order = {keep}")

    def _describe(self, name: str, sql: str) -> dict[str, str]:
        with self._told(name):
            question = f"DESCRIBE SELECT * FROM {sql}"  # noqa: S608
            rows = self._do(lambda: self._connection.execute(question).fetchall())
        return {row[0]: row[1] for row in rows}

    def table(self, name: str, sql: str, untyped: Literal["text", "json"] | None = None) -> Table:
        """Return something to select from, with its columns."""
        types = self._describe(name, sql)
        columns = tuple(Column(name=column, sql=quoted(column), type=type_) for column, type_ in types.items())
        return Table(name=name, sql=sql, columns=columns, untyped=untyped)

    def copied(self, name: str, sql: str, wanted: list[str], untyped: Literal["text", "json"] | None = None) -> Table:
        """Copy the columns wanted, so that they are fetched once; a table without them stays where it is."""
        found = self.table(name, sql, untyped)
        if not set(wanted) <= {column.name for column in found.columns}:
            return found
        chosen = ", ".join(column.sql for column in found.columns if not wanted or column.name in wanted)
        source = f"source{next(self._numbers)}"
        self.run(name, f"CREATE TABLE {source} AS SELECT {chosen} FROM {sql}")  # noqa: S608
        return self.table(name, source, untyped)

    def _place(self, path: Path, compression: str | None, encoding: str = UTF_8) -> Path:
        """Return the file, unpacked, under a name in which DuckDB sees no pattern."""
        plain = unpacked(path, compression, self._folder, encoding, self.allowed)
        if re.search(r"[*?\[\]{}]", str(plain)):
            alias = self._folder / f"source-{sum(1 for _ in self._folder.glob('source-*'))}{plain.suffix}"
            alias.symlink_to(plain.resolve())
            plain = alias
        return plain

    def csv(self, path: Path, compression: str | None, delimiter: str, encoding: str = UTF_8) -> Table:
        """Open a CSV file with a header; all its columns are text."""
        place = self._place(path, compression, encoding)
        names = _header(path, place, delimiter)
        columns = tuple(Column(name=name, sql=f"c{i}", type="VARCHAR") for i, name in enumerate(names))
        types = ", ".join(f"{column.sql}: 'VARCHAR'" for column in columns)
        options = f"auto_detect=false, header=true, delim={literal(delimiter)}, quote='\"', escape='\"'"
        limits = "max_line_size=16777216, hive_partitioning=false"
        sql = f"read_csv({literal(place)}, {options}, columns={{{types}}}, {limits})"
        return Table(name=str(path), sql=sql, columns=columns, untyped="text")

    def json(self, path: Path, compression: str | None, encoding: str = UTF_8) -> Table:
        """Open JSON records, one per line or all in one list."""
        place = self._place(path, compression, encoding)
        options = "format='auto', records=true, maximum_depth=1, sample_size=-1, hive_partitioning=false"
        try:
            return self.table(str(path), f"read_json({literal(place)}, {options})", "json")
        except InputError:
            # DuckDB's own count of lines is one too high.
            _check_json(path, place)
            raise

    def parquet(self, path: Path, compression: str | None) -> Table:
        """Open a Parquet file."""
        place = self._place(path, compression)
        self._check_declared(path, self.ask(str(path), lambda connection: declared(connection, place)))
        # A folder such as person=5 must not take the place of the column in the file.
        return self.table(str(path), f"read_parquet({literal(place)}, hive_partitioning=false)")

    def feather(self, path: Path, compression: str | None, wanted: list[str]) -> Table:
        """Copy the columns wanted of a file in Arrow's own format."""
        place = self._place(path, compression)
        try:
            self._check_declared(path, feather.declared(place))
            reader = feather.batches(place)
        except (struct.error, ValueError, OSError, RuntimeError):
            raise InputError(f"{path} is damaged or cut short, or no Feather file: get the file again.") from None
        return self.arrow(str(path), reader, wanted)

    def _check_declared(self, path: Path, taken: int) -> None:
        """Refuse a file that unpacks to far more than itself, and than is allowed."""
        packed = path.stat().st_size
        most = max(self.allowed.size, FOLDED * packed)
        if taken > most:
            raise LimitError.format(
                "{path} has {packed:,} bytes and unpacks to over {largest:,}, which data hardly do; if it is "
                'what you expect, give more memory, as in {memory="64GB"}.',
                path=path,
                packed=packed,
                largest=most,
            )

    def arrow(self, name: str, reader: Any, wanted: list[str], skip: int = 0) -> Table:
        """Copy the columns wanted (those with lists, if none is named) of an Arrow stream, from row `skip` on."""
        import pyarrow as pa

        names = reader.schema.names
        if wanted:
            chosen = [i for i, column in enumerate(names) if column in wanted and set(wanted) <= set(names)]
        else:
            chosen = [i for i, field in enumerate(reader.schema) if is_list_type(field.type)]
        types: dict[str, str] = {}
        source = f"source{next(self._numbers)}"
        if chosen:
            stopped: list[BaseException] = []
            stream = _chosen(reader, chosen, skip, stopped)
            copied = f"CREATE TABLE {source} AS SELECT * FROM stream"  # noqa: S608
            try:
                with self._told(name):
                    self._connection.register("stream", stream)
                    self._do(lambda: self._connection.execute(copied))
                    self._connection.unregister("stream")
            except InputError:
                # What DuckDB says then is only that the stream has ended early.
                for error in stopped:
                    if not isinstance(error, (pa.ArrowException, OSError)):
                        raise error from None
                    raise failed(name, str(error)) from None
                raise
            types = self._describe(name, source)
        columns = (Column(name=column, sql=f"c{i}", type=types.get(f"c{i}", "")) for i, column in enumerate(names))
        return Table(name=name, sql=source, columns=tuple(columns))

    def excel(self, path: Path, compression: str | None, wanted: list[str]) -> Table:
        """Open the first sheet of a workbook."""
        from ._excel import read_sheet

        plain = unpacked(path, compression, self._folder, allowed=self.allowed)
        return self.arrow(str(path), read_sheet(plain, wanted, self.allowed).to_reader(), wanted)

    def union(self, name: str, tables: list[Table], wanted: dict[str, str]) -> Table:
        """Put tables one after another; `wanted` says by which option each column of them is asked for."""
        columns = []
        for place, (column, option) in enumerate(wanted.items()):
            types = {table.name: table.find(column, option).type for table in tables}
            first, type_ = next(iter(types.items()))
            other = next((one for one in types if types[one] != type_), first)
            # Text beside numbers, or fractions beside whole ones, might make two people one.
            if other != first and not all(map(INTEGERS.fullmatch, types.values())):
                raise InputError(
                    f"{name}: column {column!r} is of type {type_} in {first}, but {types[other]} in {other}; make "
                    "them the same first."
                )
            columns.append(Column(name=column, sql=f"w{place}", type=type_ if other == first else "HUGEINT"))
        selects = []
        for table in tables:
            chosen = (f"{table.find(column.name, wanted[column.name]).sql} AS {column.sql}" for column in columns)
            selects.append(f"SELECT {', '.join(chosen)} FROM {table.sql}")  # noqa: S608
        sql = f"({' UNION ALL '.join(selects)})"
        return Table(name=name, sql=sql, columns=tuple(columns), untyped=tables[0].untyped)

    def query(self, query: str, database: Path | None = None) -> Table:
        """Open the answer of a query over files, or over a DuckDB database."""
        if database is not None:
            self.run(str(database), f"ATTACH {literal(database.resolve())} AS given (READ_ONLY)")
            self._connection.execute("USE given")
        with self._told(QUERY):
            self._do(lambda: check_parsed(query, self._connection))
        self.run(QUERY, f"CREATE TABLE workspace.main.source AS {query}")
        self._connection.execute("USE workspace.main")
        return self.table(QUERY, "source")

    def sqlite(self, path: Path, query: str, wanted: list[str], time: str | None) -> Table:
        """Open the answer of a query over an SQLite database.

        There each value has a type of its own, but the driver takes a column's type from its first values. So the
        answer is kept, its columns are seen to be of one type, and a row with values of these types is put first.
        Integers beside reals become floating point, in which large ones are not told apart: only `time` may have both.
        """
        name = str(path)
        check_query(query, "sqlite")
        uri = f"file:{str(path.resolve()).replace('%', '%25').replace('?', '%3f').replace('#', '%23')}?mode=ro"
        with _asked("sqlite", uri, name) as cursor:
            cursor.execute(f"CREATE TEMP TABLE answer AS SELECT * FROM (\n{query}\n)")  # noqa: S608
            cursor.execute("SELECT * FROM temp.answer LIMIT 0")
            there = [column[0] for column in cursor.description]
            if not wanted or not set(wanted) <= set(there):
                columns = tuple(Column(name=column, sql="", type="") for column in there)
                return Table(name=name, sql="", columns=columns)
            columns_wanted = list(dict.fromkeys(wanted))
            types = ", ".join(f"group_concat(DISTINCT typeof({quoted(column)}))" for column in columns_wanted)
            cursor.execute(f"SELECT {types} FROM temp.answer")  # noqa: S608
            first = []
            for column, found in zip(columns_wanted, cursor.fetchone(), strict=True):
                kinds = set((found or "").split(",")) - {"null", ""}
                if len(kinds) > 1 and (kinds != {"integer", "real"} or column != time):
                    raise InputError(
                        f"{name}: column {column!r} holds values of several types; "
                        f"cast it: SELECT CAST({column} AS TEXT) AS {column}."
                    )
                first.append(f"{_SQLITE_VALUES.get(max(kinds, default=''), 'NULL')} AS {quoted(column)}")
            rest = ", ".join(map(quoted, columns_wanted))
            cursor.execute(f"SELECT {', '.join(first)} UNION ALL SELECT {rest} FROM temp.answer")  # noqa: S608
            with cursor.fetch_record_batch() as reader:
                return self.arrow(name, reader, wanted, skip=1)

    def postgresql(self, uri: str, query: str, wanted: list[str]) -> Table:
        """Open the answer of a query over a PostgreSQL database."""
        name = public_name(uri)
        check_query(query, "postgresql")
        with _asked("postgresql", uri, name) as cursor:
            cursor.execute("SET TRANSACTION READ ONLY")
            cursor.execute(query)
            with cursor.fetch_record_batch() as reader:
                return self.arrow(name, reader, wanted)


@contextmanager
def _asked(kind: Literal["sqlite", "postgresql"], uri: str, name: str) -> Iterator[Any]:
    """Open a database through its driver and give a cursor; an error names `name` and no password."""
    from importlib import import_module

    try:
        driver = import_module(f"adbc_driver_{kind}.dbapi")
        from adbc_driver_manager import Error
    except ImportError:
        what = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}[kind]
        raise MisuseError(f"Reading from {what} needs a driver: pip install 'discreet[sql]'.") from None
    try:
        with driver.connect(uri) as connection, connection.cursor() as cursor:
            yield cursor
    except Error as error:
        text = str(error) if kind == "sqlite" else hidden(str(error), uri)
        raise failed(name, text) from None


def is_list_type(type_: Any) -> bool:
    """Whether an Arrow type is one of lists."""
    import pyarrow as pa

    checks = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    views = (pa.types.is_list_view, pa.types.is_large_list_view)
    return any(check(type_) for check in (*checks, *views))


def _chosen(reader: Any, chosen: list[int], skip: int, stopped: list[BaseException]) -> Any:
    """Return the stream of some columns, named c0, c1 … by their place; what stops it is added to `stopped`."""
    import pyarrow as pa

    def plain(type_: Any) -> Any:
        # DuckDB does not know half precision.
        if is_list_type(type_) and pa.types.is_float16(type_.value_type):
            return pa.list_(pa.float32())
        return pa.float32() if pa.types.is_float16(type_) else type_

    schema = pa.schema([(f"c{i}", plain(reader.schema.field(i).type)) for i in chosen])

    def batches() -> Iterator[Any]:
        left = skip
        try:
            for batch in reader:
                start = min(left, len(batch))
                left -= start
                columns = [batch.column(i).slice(start) for i in chosen]
                for column in columns:
                    # What another library built is not taken on trust: an offset too large would be read all the same.
                    column.validate(full=True)
                for place, field in enumerate(schema):
                    if columns[place].type != field.type:
                        columns[place] = columns[place].cast(field.type)
                yield pa.RecordBatch.from_arrays(columns, schema=schema)
        except BaseException as error:
            stopped.append(error)
            raise

    return pa.RecordBatchReader.from_batches(schema, batches())


def _header(path: Path, place: Path, delimiter: str) -> list[str]:
    """Return the names of the columns. DuckDB is not asked: it would number those that occur twice."""
    with place.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        try:
            header = next(csv.reader(iter(lambda: file.readline(1 << 20), ""), delimiter=delimiter), [])
        except csv.Error as error:
            raise InputError(f"{path}, line 1 does not name columns: {error}.") from None
    try:
        "".join(header).encode()
    except UnicodeEncodeError:
        raise InputError.format("{path}, line 1 is not UTF-8 text; {way}", path=path, way=SAY_ENCODING) from None
    if not header:
        raise InputError(f"{path}, line 1 is blank; it must name the columns.")
    return [name.strip() for name in header]


def _check_json(path: Path, plain: Path) -> None:
    """Raise an error that names the first line that is not JSON, if the file has one record per line."""
    with plain.open("rb") as file:
        head = file.read(1 << 16)
        if re.fullmatch(rb"(\xef\xbb\xbf)?\s*\[\s*\]\s*", head):
            raise NobodyError(f"{path} has no rows.")
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
    """Tell the two kinds of database file apart by how they begin."""
    with path.open("rb") as file:
        head = file.read(16)
    if head.startswith(b"SQLite format 3"):
        return "sqlite"
    if head[8:12] == b"DUCK":
        return "duckdb"
    raise InputError(f"{path} is neither an SQLite nor a DuckDB database.")
