"""Tables from anywhere, opened by DuckDB: files, Arrow streams, SQL.

A `Workspace` is a DuckDB database in a temporary folder with a limit on memory; what does not fit goes to disk.
Sources that can be read only once are copied into it, so that `tables` may look at a table as often as it likes.
PostgreSQL and SQLite are asked through their own drivers: DuckDB would have to download an extension for them.
"""

from __future__ import annotations

import csv
import json
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ..errors import InputError, LimitError, MisuseError
from ..kernels.jit import threads
from .streams import check_file, unpacked

_CSV_PROBLEM = r"CSV Error on Line: (\d+)\n.*?\n((?:Expected|Value|Invalid|Maximum|Unterminated)[^\n]*)"


@dataclass(frozen=True, kw_only=True)
class Table:
    """Something to select from: `sql` stands after FROM, `columns` gives DuckDB's type of each.

    `untyped` says that the columns are text, or JSON values, whose kind only the contents tell.
    """

    name: str
    sql: str
    columns: dict[str, str]
    untyped: Literal["text", "json"] | None = None


def quoted(name: str) -> str:
    """Return an SQL name."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: object) -> str:
    """Return an SQL text."""
    return "'" + str(text).replace("'", "''") + "'"


@contextmanager
def workspace(memory: str) -> Iterator[Workspace]:
    """Open a workspace that keeps to `memory`, and clear it away afterwards."""
    import duckdb

    with (
        tempfile.TemporaryDirectory(prefix="discreet-", ignore_cleanup_errors=True) as folder,
        duckdb.connect(str(Path(folder) / "workspace.duckdb")) as connection,
    ):
        connection.execute("SET autoinstall_known_extensions = false")
        connection.execute("SET enable_progress_bar = false")
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(f"SET threads = {threads()}")
        connection.execute(f"SET temp_directory = {literal(folder)}")
        try:
            connection.execute(f"SET memory_limit = {literal(memory)}")
        except duckdb.Error:
            raise MisuseError(f'memory is {memory!r}; write it as "2GB" or "500MB".') from None
        yield Workspace(connection, Path(folder), memory)


class Workspace:
    """A database of our own, and the sources opened in it."""

    def __init__(self, connection: Any, folder: Path, memory: str) -> None:
        self._connection = connection
        self._folder = folder
        self._memory = memory

    @contextmanager
    def _told(self, name: str) -> Iterator[None]:
        """Say in our own way what DuckDB has to say about `name`."""
        import duckdb

        try:
            yield
        except duckdb.OutOfMemoryException:
            raise LimitError(
                f'{name}: grouping its rows takes more memory than {self._memory}; give more, as in memory="8GB".'
            ) from None
        except duckdb.Error as error:
            raise InputError(name + _reason(str(error))) from None

    def run(self, name: str, sql: str) -> None:
        """Run a statement; an error names `name`."""
        with self._told(name):
            self._connection.execute(sql)

    def row(self, name: str, sql: str) -> tuple[Any, ...]:
        """Return the one row of an answer."""
        with self._told(name):
            answer: tuple[Any, ...] = self._connection.execute(sql).fetchall()[0]
        return answer

    def batches(self, name: str, sql: str) -> Iterator[Any]:
        """Yield an answer as Arrow record batches."""
        with self._told(name):
            yield from self._connection.sql(sql).to_arrow_reader(1 << 18)

    def keep_order(self, keep: bool) -> None:
        """Say whether answers come in the order of the source, which takes more memory."""
        self._connection.execute(f"SET preserve_insertion_order = {keep}")

    def _describe(self, name: str, sql: str) -> dict[str, str]:
        with self._told(name):
            rows = self._connection.execute(f"DESCRIBE SELECT * FROM {sql}").fetchall()  # noqa: S608
        return {row[0]: row[1] for row in rows}

    def _table(self, name: str, sql: str, untyped: Literal["text", "json"] | None = None) -> Table:
        return Table(name=name, sql=sql, columns=self._describe(name, sql), untyped=untyped)

    def _place(self, path: Path, compression: str | None) -> Path:
        """Return the file, unpacked, under a name in which DuckDB sees no pattern."""
        plain = unpacked(path, compression, self._folder)
        if re.search(r"[*?\[\]{}]", str(plain)):
            alias = self._folder / f"source{plain.suffix}"
            alias.symlink_to(plain.resolve())
            plain = alias
        return plain

    def csv(self, path: Path, compression: str | None, delimiter: str) -> Table:
        """Open a CSV file with a header; all its columns are text."""
        place = self._place(path, compression)
        with place.open("rb") as file:
            line = file.readline(1 << 20)
        try:
            header = next(csv.reader([line.decode("utf-8-sig")], delimiter=delimiter), [])
        except (UnicodeDecodeError, csv.Error):
            raise InputError(f"{path}, line 1 is not text; a CSV file is UTF-8 text.") from None
        names = [name.strip() for name in header]
        if not all(names) or len(set(map(str.lower, names))) != len(names):
            raise InputError(
                f"{path}, line 1 must name the columns, each by a name of its own; it reads {', '.join(header)!r}."
            )
        columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in names)
        options = f"auto_detect=false, header=true, delim={literal(delimiter)}, quote='\"', escape='\"'"
        sql = f"read_csv({literal(place)}, {options}, columns={{{columns}}}, max_line_size=16777216)"
        return Table(name=str(path), sql=sql, columns=dict.fromkeys(names, "VARCHAR"), untyped="text")

    def json(self, path: Path, compression: str | None) -> Table:
        """Open JSON records, one a line or all in one list."""
        place = self._place(path, compression)
        sql = f"read_json({literal(place)}, format='auto', records=true, maximum_depth=1, sample_size=-1)"
        try:
            return self._table(str(path), sql, "json")
        except InputError:
            # DuckDB's own count of lines is one too high.
            _check_json_lines(path, place)
            raise

    def parquet(self, path: Path, compression: str | None) -> Table:
        """Open a Parquet file."""
        return self._table(str(path), f"read_parquet({literal(self._place(path, compression))})")

    def arrow(self, name: str, reader: Any, wanted: list[str]) -> Table:
        """Copy the columns wanted (all of them, if none is named) of an Arrow stream."""
        there = [column for column in wanted if column in reader.schema.names]
        columns = ", ".join(map(quoted, there)) if there else "*"
        self._connection.register("stream", reader)
        self.run(name, f"CREATE TABLE source AS SELECT {columns} FROM stream")  # noqa: S608
        self._connection.unregister("stream")
        table = self._table(name, "source")
        columns_there = {column: table.columns.get(column, "") for column in reader.schema.names}
        return Table(name=name, sql="source", columns=columns_there)

    def query(self, query: str, database: Path | None = None) -> Table:
        """Open the answer of a query over files, or over a DuckDB database."""
        if database is not None:
            self.run(str(database), f"ATTACH {literal(database.resolve())} AS given (READ_ONLY)")
            self._connection.execute("USE given")
        self.run("The query", f"CREATE TABLE workspace.main.source AS {query.strip().rstrip(';')}")
        self._connection.execute("USE workspace")
        return self._table("The query", "source")

    def sqlite(self, path: Path, query: str, wanted: list[str]) -> Table:
        """Open the answer of a query over an SQLite database."""
        driver = _driver("sqlite")
        uri = f"file:{str(path.resolve()).replace('%', '%25').replace('?', '%3f').replace('#', '%23')}?mode=ro"
        # SQLite's columns have no type but that of their values; the driver decides by the first batch.
        options = {"adbc.sqlite.query.batch_rows": "65536"}
        return self._driven(driver, uri, str(path), query, wanted, options)

    def postgresql(self, uri: str, query: str, wanted: list[str]) -> Table:
        """Open the answer of a query over a PostgreSQL database."""
        name = re.sub(r"//[^@/]*@", "//", uri)
        return self._driven(_driver("postgresql"), uri, name, query, wanted, {})

    def _driven(
        self, driver: Any, uri: str, name: str, query: str, wanted: list[str], options: dict[str, str]
    ) -> Table:
        from adbc_driver_manager import Error

        try:
            with driver.connect(uri) as connection, connection.cursor() as cursor:
                if options:
                    cursor.adbc_statement.set_options(**options)
                cursor.execute(query)
                with cursor.fetch_record_batch() as reader:
                    return self.arrow(name, reader, wanted)
        except Error as error:
            raise InputError(name + _reason(str(error))) from None


def _driver(kind: str) -> Any:
    from importlib import import_module

    try:
        return import_module(f"adbc_driver_{kind}.dbapi")
    except ImportError:
        name = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}[kind]
        raise MisuseError(f"Reading from {name} needs a driver: pip install 'discreet[sql]'.") from None


def _reason(message: str) -> str:
    """Return the telling part of a database's message, on one line, as what follows the name of the source."""
    line = re.search(_CSV_PROBLEM, message, re.DOTALL)
    if line is not None:
        return f", line {line[1]}: {line[2].strip().rstrip('.')}."
    if "json_read expected records" in message:
        return " has lines that are not objects; with person= and item= each line is an object with these fields."
    message = re.split(r"\n\s*\n|\nLINE |\nquery: |\nPossible ", message.strip())[0]
    message = re.sub(r' in file "[^"]*"| at end of file \'[^\']*\'', "", message)
    return ": " + " ".join(message.split()).rstrip(".?") + "."


def _check_json_lines(path: Path, plain: Path) -> None:
    """Raise an error that names the first line that is not JSON, if the file has one record a line."""
    with plain.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                try:
                    json.loads(line)
                except ValueError:
                    if number > 1 or line.lstrip()[:1] != b"[":
                        raise InputError(
                            f"{path}, line {number} is not a JSON object; write one record a line."
                        ) from None
                    return


def kind_of_database(path: Path) -> Literal["sqlite", "duckdb"]:
    """Tell the two kinds of database file apart by how they begin."""
    check_file(path)
    with path.open("rb") as file:
        head = file.read(16)
    if head.startswith(b"SQLite format 3"):
        return "sqlite"
    if head[8:12] == b"DUCK":
        return "duckdb"
    raise InputError(f"{path} is neither an SQLite nor a DuckDB database.")
