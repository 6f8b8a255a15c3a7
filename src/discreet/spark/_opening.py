"""Data frames and files that Spark reads, as tables with plain names for columns; nothing here knows what a basket is.

A line that is broken is no error of Spark's: it would stand in the log of the executor that met it. Such lines come
through with a mark, and are counted. And Spark calls a column of JSON text as soon as its records differ: of what kinds
they are is asked of the records themselves.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

from ..baskets import Call, Column, Table
from ..errors import InputError, MisuseError
from ._session import Cluster

# What the column is called in which Spark keeps lines that are broken: nobody's column.
_BROKEN = "discreet: a line that is broken"
# Kinds of JSON values, by what Spark calls their types, in the words of `baskets.events`.
_KINDS = {
    "BIGINT": "BIGINT",
    "STRING": "VARCHAR",
    "DOUBLE": "DOUBLE",
    "BOOLEAN": "BOOLEAN",
    "STRUCT": "OBJECT",
    "OBJECT": "OBJECT",
    "ARRAY": "ARRAY",
}


@dataclass(frozen=True)
class OpenedTable:
    """A table in Spark: `sql` of each column is its name in the frame, and `type` is Spark's.

    `broken` is the column of lines that could not be read, in a frame that may have some. `untyped` says that all is
    text, or JSON, which lies at `place`.
    """

    cluster: Cluster
    frame: Any
    table: Table
    broken: str | None = None
    untyped: Literal["text", "json"] | None = None
    place: str = ""

    @classmethod
    def of(cls, cluster: Cluster, frame: Any, name: str, **beside: Any) -> OpenedTable:
        """Name the columns by their places: theirs may be the same, or differ in case alone, or be SQL."""
        with cluster.step("looking at the columns"):
            types = frame.dtypes
            plain = frame.toDF(*(f"c{place}" for place in range(len(types))))
        columns = [Column(name=name, sql=f"c{place}", type=kind) for place, (name, kind) in enumerate(types)]
        shown = tuple(column for column in columns if column.name != _BROKEN)
        broken = next((column.sql for column in columns if column.name == _BROKEN), None)
        return cls(cluster, plain, Table(name=name, sql="", columns=shown), broken=broken, **beside)

    def kinds(self, column: Column) -> set[str]:
        """Return the kinds of the values of JSON records, or of what lists of them hold."""
        from pyspark.sql import functions as sql
        from pyspark.sql.types import ArrayType, StructField, StructType, VariantType

        lists = column.type.startswith("array<")
        inner = column.type[6:-1] if lists else column.type
        if inner != "string":
            return {_kind(inner.upper())}
        # Text, or anything beside it.
        type_ = ArrayType(VariantType()) if lists else VariantType()
        reader = self.cluster.session.read.schema(StructType([StructField(column.name, type_)]))
        with self.cluster.step("looking at the kinds of values"):
            values = reader.json(self.place).toDF("value")
            values = values.select(sql.explode("value").alias("value")) if lists else values
            kind = sql.regexp_extract(sql.schema_of_variant("value"), r"^(\w+(\(.*\))?)", 1)
            found = self.cluster.collected(values.select(kind.alias("kind")).distinct())
        return {_kind(one) for one in found.column("kind").to_pylist() if one not in (None, "VOID")}


def _kind(written: str) -> str:
    """Return the kind of a type; a number of more than 64 bits is a decimal one to Spark."""
    if written.startswith("DECIMAL"):
        return "LARGE" if written.endswith(",0)") else "DOUBLE"
    return _KINDS.get(re.split("[<(]", written)[0], written.lower())


def open_files(cluster: Cluster, source: Any, call: Call) -> OpenedTable:
    """Open files that Spark reads."""
    if not isinstance(source, str) and not hasattr(source, "__fspath__"):
        raise MisuseError.format(
            '{engine="spark"} reads a data frame of Spark, or files; {given} was given.', given=type(source).__name__
        )
    place = str(source)
    suffix = place.rstrip("*").removesuffix(".gz").removesuffix(".zst").rpartition(".")[2].lower()
    form = call.format or {"jsonl": "json", "ndjson": "json", "pq": "parquet"}.get(suffix, suffix)
    if form not in ("parquet", "csv", "tsv", "json", "orc"):
        raise MisuseError.format(
            "Spark reads Parquet, ORC, CSV, TSV and JSON records; {place} is none of them by its suffix. Give "
            "{format=} as one of parquet, csv, tsv, json.",
            place=place,
        )
    if form in ("csv", "tsv"):
        return _open_text(cluster, place, call.delimiter or ("\t" if form == "tsv" else ","))
    if call.delimiter is not None:
        call.refuse(f"{place} is not CSV", "delimiter")
    reader = cluster.session.read
    if form != "json":
        with cluster.step("opening files"):
            frame = getattr(reader, form)(place)
        return OpenedTable.of(cluster, frame, place)
    with cluster.step("opening files"):
        frame = reader.json(place, columnNameOfCorruptRecord=_BROKEN)
    opened = OpenedTable.of(cluster, frame, place, untyped="json", place=place)
    if opened.broken is not None:
        # Spark has looked at every record to name the columns.
        raise InputError(f"{place}: some lines are no JSON records; Spark reads one record per line.")
    return opened if call.basket is None else _with_text(opened, frame, call.basket)


def _with_text(opened: OpenedTable, frame: Any, name: str) -> OpenedTable:
    """Open JSON records anew with a column as it is written, where Spark would take 1 and 1.0 for one number."""
    from pyspark.sql.types import StringType, StructField, StructType

    kept = [StructField(name, StringType()) if field.name == name else field for field in frame.schema.fields]
    with opened.cluster.step("opening files"):
        again = opened.cluster.session.read.schema(StructType(kept)).json(opened.place)
    return OpenedTable.of(opened.cluster, again, opened.table.name, untyped="json", place=opened.place)


def _open_text(cluster: Cluster, place: str, delimiter: str) -> OpenedTable:
    """Open CSV as files are read here: quotes as everybody writes them, lines in quotes, no row of another length."""
    from pyspark.sql.types import StringType, StructField, StructType

    rules: dict[str, Any] = {"sep": delimiter, "quote": '"', "escape": '"', "multiLine": True, "header": True}
    reader = cluster.session.read.option("columnPruning", "false")
    with cluster.step("opening files"):
        plain = reader.csv(place, inferSchema=False, **rules)
        _check_headings(cluster, plain, place)
        names = [*plain.columns, _BROKEN]
        schema = StructType([StructField(name, StringType()) for name in names])
        frame = reader.csv(place, schema=schema, columnNameOfCorruptRecord=_BROKEN, mode="PERMISSIVE", **rules)
    return OpenedTable.of(cluster, frame, place, untyped="text")


def _check_headings(cluster: Cluster, frame: Any, place: str) -> None:
    """Refuse files of different headings: Spark would take the columns of all for those of the first."""
    from pyspark.sql import functions as sql

    files = frame.inputFiles()
    if len(files) < 2:
        return
    lines = cluster.session.read.text(files).select("value", "_metadata.file_path", "_metadata.file_block_start")
    begin = lines.where("file_block_start = 0").withColumn("at", sql.monotonically_increasing_id())
    first = begin.groupBy("file_path").agg(sql.min_by("value", "at").alias("heading"))
    heading = sql.regexp_replace("heading", "^\ufeff|\r$", "")
    if cluster.collected(first.select(heading.alias("heading")).distinct().limit(2)).num_rows > 1:
        raise InputError(f"{place} names files of different headings: make them the same first.")
