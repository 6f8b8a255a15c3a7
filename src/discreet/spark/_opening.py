"""Data frames and files that Spark reads, opened as tables with plain column names; baskets are unknown here.

Spark reports a broken line as an error in the log of the executor that read it, with its text. Broken lines are
therefore marked in a column, and counted. Spark also widens a column of JSON to text as soon as its records differ:
the kinds of the values are then read from the records.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

from ..baskets import Column, ReadOptions, Table
from ..errors import InputError, MisuseError
from ._session import Cluster

# The column in which Spark stores broken lines: a name that no table has.
_BROKEN = "discreet: a line that is broken"
# Kinds of JSON values, from Spark's names of types to names of `baskets.events`.
_KINDS = {
    "BIGINT": "BIGINT",
    "STRING": "VARCHAR",
    "DOUBLE": "DOUBLE",
    "BOOLEAN": "BOOLEAN",
    "STRUCT": "OBJECT",
    "OBJECT": "OBJECT",
    "ARRAY": "ARRAY",
}
_FORMAT_OF_SUFFIX = {"jsonl": "json", "ndjson": "json", "pq": "parquet"}


@dataclass(frozen=True)
class OpenedTable:
    """A table in Spark: `sql` of each column is its name in the frame, and `type` is Spark's type.

    `broken` is the column of unreadable lines, in a frame that may have some. `untyped` says that all values are text,
    or JSON, whose files are at `path`.
    """

    cluster: Cluster
    frame: Any
    table: Table
    broken: str | None = None
    untyped: Literal["text", "json"] | None = None
    path: str = ""

    @classmethod
    def from_frame(cls, cluster: Cluster, frame: Any, name: str, **options: Any) -> OpenedTable:
        """Return a table of a data frame, with columns named by position: names may repeat, or be SQL."""
        with cluster.step("looking at the columns"):
            types = frame.dtypes
            renamed_frame = frame.toDF(*(f"c{position}" for position in range(len(types))))
        columns = [Column(name=column, sql=f"c{position}", type=kind) for position, (column, kind) in enumerate(types)]
        visible_columns = tuple(column for column in columns if column.name != _BROKEN)
        broken = next((column.sql for column in columns if column.name == _BROKEN), None)
        return cls(cluster, renamed_frame, Table(name=name, sql="", columns=visible_columns), broken=broken, **options)

    def list_kinds(self, column: Column) -> set[str]:
        """Return the kinds of the values of a JSON column, or of the entries of its lists."""
        from pyspark.sql import functions as sql
        from pyspark.sql.types import ArrayType, StructField, StructType, VariantType

        is_list = column.type.startswith("array<")
        value_type = column.type[6:-1] if is_list else column.type
        if value_type != "string":
            return {_find_kind(value_type.upper())}
        # Text, alone or beside a second kind: read again as variants, where each value has its own type.
        variant_type = ArrayType(VariantType()) if is_list else VariantType()
        reader = self.cluster.session.read.schema(StructType([StructField(column.name, variant_type)]))
        with self.cluster.step("looking at the kinds of values"):
            values = reader.json(self.path).toDF("value")
            values = values.select(sql.explode("value").alias("value")) if is_list else values
            kind = sql.regexp_extract(sql.schema_of_variant("value"), r"^(\w+(\(.*\))?)", 1)
            table = self.cluster.collect(values.select(kind.alias("kind")).distinct())
        return {_find_kind(kind) for kind in table.column("kind").to_pylist() if kind not in (None, "VOID")}


def _find_kind(type_name: str) -> str:
    """Return the kind of a type of Spark, in which a number of more than 64 bits is decimal."""
    if type_name.startswith("DECIMAL"):
        return "LARGE" if type_name.endswith(",0)") else "DOUBLE"
    return _KINDS.get(re.split("[<(]", type_name)[0], type_name.lower())


def open_files(cluster: Cluster, source: Any, call: ReadOptions) -> OpenedTable:
    """Return the table of files that Spark reads."""
    if not isinstance(source, str) and not hasattr(source, "__fspath__"):
        raise MisuseError.format(
            '{engine="spark"} reads a data frame of Spark, or files; {given} was given.',
            given=type(source).__name__,
        )
    path = str(source)
    suffix = path.rstrip("*").removesuffix(".gz").removesuffix(".zst").rpartition(".")[2].lower()
    file_format = call.format or _FORMAT_OF_SUFFIX.get(suffix, suffix)
    if file_format not in ("parquet", "csv", "tsv", "json", "orc"):
        raise MisuseError.format(
            "Spark reads Parquet, ORC, CSV, TSV and JSON records; {place} is none of them by its suffix. Give "
            "{format=} as one of parquet, csv, tsv, json.",
            place=path,
        )
    if file_format in ("csv", "tsv"):
        return _open_text(cluster, path, call.delimiter or ("\t" if file_format == "tsv" else ","))
    if call.delimiter is not None:
        call.refuse_options(f"{path} is not CSV", "delimiter")
    reader = cluster.session.read
    if file_format != "json":
        with cluster.step("opening files"):
            frame = getattr(reader, file_format)(path)
        return OpenedTable.from_frame(cluster, frame, path)
    with cluster.step("opening files"):
        frame = reader.json(path, columnNameOfCorruptRecord=_BROKEN)
    opened = OpenedTable.from_frame(cluster, frame, path, untyped="json", path=path)
    if opened.broken is not None:
        # Spark has read every record to name the columns, and adds this column only for a broken record.
        raise InputError(f"{path}: some lines are no JSON records; Spark reads one record per line.")
    return opened if call.basket is None else _reopen_with_text(opened, frame, call.basket)


def _reopen_with_text(opened: OpenedTable, frame: Any, name: str) -> OpenedTable:
    """Open JSON records again with one column as text: Spark would read 1 and 1.0 as one number."""
    from pyspark.sql.types import StringType, StructField, StructType

    fields = [StructField(name, StringType()) if field.name == name else field for field in frame.schema.fields]
    with opened.cluster.step("opening files"):
        text_frame = opened.cluster.session.read.schema(StructType(fields)).json(opened.path)
    return OpenedTable.from_frame(opened.cluster, text_frame, opened.table.name, untyped="json", path=opened.path)


def _open_text(cluster: Cluster, path: str, delimiter: str) -> OpenedTable:
    """Open CSV by the rules of the reader on this machine: doubled quotes, line breaks in quotes, equal rows."""
    from pyspark.sql.types import StringType, StructField, StructType

    rules: dict[str, Any] = {"sep": delimiter, "quote": '"', "escape": '"', "multiLine": True, "header": True}
    # With pruning, Spark would not notice a row of a different length.
    reader = cluster.session.read.option("columnPruning", "false")
    with cluster.step("opening files"):
        unmarked_frame = reader.csv(path, inferSchema=False, **rules)
        _check_headings(cluster, unmarked_frame, path)
        schema = StructType([StructField(name, StringType()) for name in [*unmarked_frame.columns, _BROKEN]])
        frame = reader.csv(path, schema=schema, columnNameOfCorruptRecord=_BROKEN, mode="PERMISSIVE", **rules)
    return OpenedTable.from_frame(cluster, frame, path, untyped="text")


def _check_headings(cluster: Cluster, frame: Any, path: str) -> None:
    """Check that all files have one heading: Spark would read all columns by the heading of the first file."""
    from pyspark.sql import functions as sql

    files = frame.inputFiles()
    if len(files) < 2:
        return
    lines = cluster.session.read.text(files).select("value", "_metadata.file_path", "_metadata.file_block_start")
    # Identifiers rise within a block, so that the first line of a file has the smallest.
    start_lines = lines.where("file_block_start = 0").withColumn("line_id", sql.monotonically_increasing_id())
    headings = start_lines.groupBy("file_path").agg(sql.min_by("value", "line_id").alias("heading"))
    heading = sql.regexp_replace("heading", "^\ufeff|\r$", "")
    if cluster.collect(headings.select(heading.alias("heading")).distinct().limit(2)).num_rows > 1:
        raise InputError(f"{path} names files of different headings: make them the same first.")
