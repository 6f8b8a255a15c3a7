"""Tables in a cluster become baskets: by a shuffle on the person, as blocks that stay in the cluster.

1. The distinct items come to the driver, few beside the events, and are numbered in the order of their labels, as in
   every reader.
2. Each event becomes its person and a code, and a shuffle brings the events of a person to one partition.
3. The codes of a person become a sorted set, or with `basket=` a sorted set for each basket, next to
   the further baskets of the person.

Only totals come back to the driver. The result does not depend on the partitions of the table.
"""

from __future__ import annotations

import logging
import re
import secrets
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from ..baskets import (
    EXACT_FLOAT_LIMIT,
    MOST_ITEMS,
    Column,
    ColumnChecks,
    Labels,
    ReadOptions,
    Table,
    Vocabulary,
    is_spark_frame,
    parse_labels,
    sort_labels,
)
from ..errors import EmptyDataError, InputError, LimitError, MisuseError, build_message
from ..heavy import pa, sql, sql_types
from ..wording import number_of
from ._baskets import BlockView, SparkBaskets, StoredBlocks, measure_blocks
from ._blocks import map_to_blocks
from ._building import LabelCodes, build_blocks, build_list_blocks, encode_events, list_labels
from ._session import Cluster, clear_errors, session_for

_WHOLE_TYPES = ("tinyint", "smallint", "int", "bigint")
# The number of events of a partition: at least the first, if tasks are idle otherwise, and at most the second. Smaller
# partitions cost more starts of tasks, and larger ones more memory.
_MIN_PARTITION_EVENTS, _MAX_PARTITION_EVENTS = 20_000, 4_000_000
# A whole number with a decimal point.
_POINTED = r"^-?[0-9]+\.0*$"
log = logging.getLogger("discreet")


@dataclass(frozen=True)
class _SelectedColumn:
    """A column that the user named: its Spark expression, and the type of its values."""

    name: str
    expression: Any
    type: str


def _is_text(type_name: str) -> bool:
    """Return whether a type of Spark is text, with any collation."""
    return re.fullmatch(r"string( collate \w+)?|(var)?char\(\d+\)", type_name) is not None


def read_frame(source: Any, call: ReadOptions, max_items: int | None, seed: int | None) -> SparkBaskets:
    """Return the baskets of a data frame, or of files that Spark reads; the options are those of `discreet.read`."""
    call.refuse_options("Baskets in a cluster have no order", "time", "pair", "ordered")
    call.refuse_options("Spark reads tables", "query", "encoding")
    with clear_errors():
        if is_spark_frame(source):
            call.refuse_options("The data are in Spark already", "format", "delimiter")
            cluster = Cluster(source.sparkSession)
            opened = OpenedTable.from_frame(cluster, source, "The table")
        else:
            cluster = Cluster(session_for())
            opened = open_files(cluster, source, call)
        cluster.progress = call.progress
        try:
            return _Reader(cluster, opened, call).read_baskets(max_items, seed)
        finally:
            cluster.progress = None


@dataclass
class _Reader:
    """Reads one table."""

    cluster: Cluster
    opened: OpenedTable
    call: ReadOptions

    @property
    def name(self) -> str:
        """The name of the table in messages."""
        return self.opened.table.name

    def _checks(self, column: str) -> ColumnChecks:
        return ColumnChecks(self.name, column)

    def read_baskets(self, max_items: int | None, seed: int | None) -> SparkBaskets:
        """Return the baskets, of at most `max_items` items each, a uniform choice by `seed` or by a secret."""
        self.cluster.check()
        call = self.call
        keys: dict[str, _SelectedColumn] = {}
        segment_column = None
        event_count = 0
        if call.person is None:
            item = self._select_only_list()
        else:
            if call.item is None:
                raise MisuseError.format("{person=} needs {item=}, the column of the items.")
            event_count = self._check_rows(
                self.opened.table.find(call.person, "person"), self.opened.table.find(call.item, "item")
            )
            keys["person"] = self._select_person(call.person)
            item = self._select_items(call.item, "item", call.label_type())
            if call.basket is not None:
                keys["basket"] = self._select_basket(call.basket)
            segment_column = None if call.by is None else self._select_items(call.by, "by", None)
        vocabulary, item_codes = self._list_labels(item, keys, call.label_type())
        cap = None
        if max_items is not None:
            secret = secrets.token_bytes(8) if seed is None else np.random.default_rng(seed).bytes(8)
            cap = max_items, int.from_bytes(secret), vocabulary.identities
        segment_codes = None
        segment_vocabulary = None
        if segment_column is not None:
            segment_vocabulary, segment_codes = self._list_labels(segment_column, keys, None)
        items, has_receipts = len(vocabulary), "basket" in keys
        with self.cluster.step("making the baskets of people"):
            if not keys:
                build = partial(build_list_blocks, label_codes=item_codes, items=items, cap=cap)
                prepared = self.opened.frame.select(item.expression.alias("item"))
            else:
                columns = keys | {"item": item} | ({} if segment_column is None else {"segment": segment_column})
                rows = self.opened.frame.select(*(column.expression.alias(name) for name, column in columns.items()))
                encode = partial(encode_events, has_receipts=has_receipts, items=item_codes, segments=segment_codes)
                schema = ", ".join([*(f"{name} {key.type}" for name, key in keys.items()), "code int, segment int"])
                events = rows.mapInArrow(self.cluster.guard(encode), schema)
                build = partial(
                    build_blocks,
                    has_receipts=has_receipts,
                    items=items,
                    cap=cap,
                    has_segments=segment_codes is not None,
                )
                prepared = events.repartition(self._choose_partitions(event_count), "person")
                prepared = prepared.sortWithinPartitions(*keys)
            frame = map_to_blocks(self.cluster, prepared, build, items).persist()
            stored, totals = measure_blocks(self.cluster, frame, items)
        try:
            self._check_totals(stored, totals, keys, segment_column)
        except BaseException:
            frame.unpersist()
            raise
        if left_out := totals["rows_without_person"] + totals["rows_without_basket"]:
            missing = "a person or a basket" if has_receipts else "a person"
            log.info("%s: left out %s without %s.", self.name, number_of(left_out, "row"), missing)
        merged = totals["merged"]
        if merged:
            log.info("%s: merged %s of an item in a basket.", self.name, number_of(merged, "repeat"))
        segment_count = 0 if segment_vocabulary is None else len(segment_vocabulary)
        return SparkBaskets(
            cluster=self.cluster,
            blocks=stored,
            vocabulary=vocabulary,
            view=BlockView(items=items, segments=segment_count, has_receipts=has_receipts),
            segment_column=None if segment_column is None else segment_column.name,
            segment_vocabulary=segment_vocabulary,
            merged=merged,
            has_receipts=has_receipts,
        )

    def _choose_partitions(self, event_count: int) -> int:
        """Return the number of partitions of people: few for little data, and none too large."""
        worth_a_task = min(self.cluster.parallelism, event_count // _MIN_PARTITION_EVENTS)
        return max(1, worth_a_task, -(-event_count // _MAX_PARTITION_EVENTS))

    def _check_totals(
        self,
        stored: StoredBlocks,
        totals: dict[str, int],
        keys: dict[str, _SelectedColumn],
        segment_column: _SelectedColumn | None,
    ) -> None:
        """Check that rows have a person and a basket, and people one segment."""
        missing_keys = {"person": totals["rows_without_person"], "basket": totals["rows_without_basket"]}
        if not stored.people and not any(missing_keys.values()):
            raise EmptyDataError(f"{self.name} has no rows.")
        for key, column in keys.items():
            rows = missing_keys[key]
            if rows and self.call.nulls == "error":
                raise self._checks(column.name).build_missing_error(key, rows, number_of(rows, "row"))
        if totals["people_without_segment"] and segment_column is not None:
            raise self._checks(segment_column.name).build_segment_error()

    def _check_rows(self, person: Column, item: Column) -> int:
        """Check the rows in one pass: broken lines, and ids that a float has blurred; return the number of events."""
        value, null = self._convert_empty(person), sql.lit(None).cast("string")
        is_list = item.type.startswith("array")
        # An empty list is one event: its person exists.
        events = sql.greatest(sql.size(sql.col(item.sql)), sql.lit(1)) if is_list else sql.lit(1)
        person_type = person.type.upper()
        is_blurred = sql.lit(False)
        if person_type in EXACT_FLOAT_LIMIT:
            number = sql.abs(value)
            # Beyond this limit, two whole numbers are one float.
            is_blurred = (number != sql.floor(number)) | (number >= EXACT_FLOAT_LIMIT[person_type])
        text = value if _is_text(person.type) else null
        broken = null if self.opened.broken is None else sql.col(self.opened.broken)
        counts = {
            "events": sql.sum(events),
            "broken": sql.count(broken),
            "blurred": sql.count(sql.when(is_blurred, 1)),
            "pointed": sql.count(sql.when(text.rlike(_POINTED), 1)),
        }
        with self.cluster.step("looking at the rows"):
            columns = (count.alias(name) for name, count in counts.items())
            table = self.cluster.collect(self.opened.frame.agg(*columns))
        count_of = {name: int(count or 0) for name, count in table.to_pylist()[0].items()}
        if broken_lines := count_of["broken"]:
            raise InputError(
                f"{self.name}: {number_of(broken_lines, 'line')} {'has' if broken_lines == 1 else 'have'} more or "
                "fewer fields than the heading, or quotes that do not end: correct "
                f"{'it' if broken_lines == 1 else 'them'}."
            )
        self._checks(person.name).check_floats(person_type, count_of["blurred"])
        if count_of["pointed"]:
            self._check_written_alike(person)
        return count_of["events"]

    def _select_person(self, name: str) -> _SelectedColumn:
        """Return the column of people as whole numbers or as text, equal if and only if the values are equal."""
        column = self.opened.table.find(name, "person")
        if self.opened.untyped == "json":
            is_list = column.type.startswith("array")
            self._checks(name).check_people({"ARRAY"} if is_list else self.opened.list_kinds(column))
        if re.match("array|map|struct|variant|binary", column.type):
            problem = build_message(
                "({person=}) is of type {found}; people are whole numbers or text.", found=column.type
            )
            raise self._checks(name).build_error(problem)
        if column.type.upper() in EXACT_FLOAT_LIMIT:
            return _SelectedColumn(name, self._convert_empty(column).try_cast("bigint"), "bigint")
        return self._select_key(column)

    def _select_basket(self, name: str) -> _SelectedColumn:
        """Return the column of baskets in a form that is equal if and only if its values are equal.

        Fractions and truth values are valid too: a blurred number merges baskets, and never people.
        """
        column = self.opened.table.find(name, "basket")
        if re.match("array|map|struct|variant", column.type):
            problem = build_message(
                "({basket=}) is of type {found}; in a cluster baskets are told apart by numbers, text, dates or times: "
                "cast the column to text.",
                found=column.type,
            )
            raise self._checks(name).build_error(problem)
        if self.opened.untyped == "json":
            self._checks(name).check_baskets(self.opened.list_kinds(column))
        if column.type.upper() in EXACT_FLOAT_LIMIT:
            # 0.0 and -0.0 are equal, and differ as text: adding 0.0 makes both 0.0.
            return _SelectedColumn(name, self._convert_empty(column).cast("double") + sql.lit(0.0), "double")
        if column.type == "binary":
            return _SelectedColumn(name, sql.hex(sql.col(column.sql)), "string")
        return self._select_key(column)

    def _select_key(self, column: Column) -> _SelectedColumn:
        """Return a column as whole numbers or as text, in any time zone and with any collation of the session."""
        value = self._convert_empty(column)
        if column.type == "timestamp":
            # As text it would be local time, in which an hour of autumn occurs twice.
            return _SelectedColumn(column.name, sql.unix_micros(value), "bigint")
        if column.type in _WHOLE_TYPES:
            return _SelectedColumn(column.name, value.cast("bigint"), "bigint")
        return _SelectedColumn(column.name, value.cast("string"), "string")

    def _check_written_alike(self, person: Column) -> None:
        """Check that no id of a column of text is written in two ways, as 7 and 7.0."""
        with self.cluster.step("looking at ids"):
            ids = self.opened.frame.select(self._convert_empty(person).cast("string").alias("id"))
            pointed_ids = ids.where(sql.col("id").rlike(_POINTED))
            whole_parts = pointed_ids.select(sql.split_part("id", sql.lit("."), sql.lit(1)).alias("id"))
            if not self.cluster.collect(ids.join(whole_parts.distinct(), "id", "leftsemi").limit(1)).num_rows:
                return
        raise self._checks(person.name).build_notation_error()

    def _select_items(self, name: str, option: str, labels: Labels) -> _SelectedColumn:
        """Return a column of items, or of lists of items, as whole numbers or as text."""
        column = self.opened.table.find(name, option)
        list_match = re.fullmatch(r"array<(.*)>", column.type)
        item_type = list_match[1] if list_match else column.type
        if self.opened.untyped == "json":
            kinds = self.opened.list_kinds(column)
            self._checks(name).check_items(kinds, alone=True)
            if labels is None:
                self._checks(name).check_one_type(kinds)
        if item_type not in _WHOLE_TYPES and not _is_text(item_type):
            problem = "lists of lists" if item_type.startswith("array") else f"of type {column.type}"
            raise self._checks(name).build_type_error(problem)
        value = self._convert_empty(column)
        if item_type in _WHOLE_TYPES:
            # Arrow widens the numbers in executors, which is faster than a cast in Spark.
            return _SelectedColumn(name, value, "bigint")
        return _SelectedColumn(name, value.cast("array<string>" if list_match else "string"), "string")

    def _convert_empty(self, column: Column) -> Any:
        """Return the expression of a column, with NaN and, in files of text, empty text as null."""
        value = sql.col(column.sql)
        if column.type.upper() in EXACT_FLOAT_LIMIT:
            return sql.when(~sql.isnan(value), value)
        return sql.nullif(sql.trim(value, sql.lit(" \t")), sql.lit("")) if self.opened.untyped == "text" else value

    def _select_only_list(self) -> _SelectedColumn:
        """Return the only column, of lists, each of which is the basket of one person."""
        table = self.opened.table
        lists = [column for column in table.columns if column.type.startswith("array<")]
        if self.call.item is not None:
            lists = [column for column in lists if column.name == table.find(self.call.item, "item").name]
        if len(lists) != 1:
            raise MisuseError.format(
                "{table} needs {person=} and {item=}, the columns of the people and of what they hold; {listing}.",
                table=self.name,
                listing=table.listing,
            )
        further_columns = [column.name for column in table.columns if column.name != lists[0].name]
        if further_columns:
            self.call.require_person(
                self.name, f"rows with columns beside the items ({', '.join(further_columns[:5])})"
            )
        self.call.refuse_options(f"{self.name} is read with one basket per row, without people", "nulls")
        return self._select_items(lists[0].name, "item", self.call.label_type())

    def _list_labels(
        self, column: _SelectedColumn, keys: dict[str, _SelectedColumn], kind: Labels
    ) -> tuple[Vocabulary, LabelCodes]:
        """Return the vocabulary of a column, and its labels in the order of Spark, with their codes."""
        # Rows without a person or a basket are left out: their labels must not enter the vocabulary.
        with self.cluster.step("listing the items"):
            frame = self.opened.frame
            for key in keys.values():
                frame = frame.where(key.expression.isNotNull())
            labels = frame.select(column.expression.alias("label"))
            if self.opened.table.find(column.name, "item").type.startswith("array"):
                labels = labels.mapInArrow(self.cluster.guard(list_labels), f"label {column.type}")
            distinct_labels = labels.where("label is not null").distinct()
            table = self.cluster.collect(distinct_labels.limit(MOST_ITEMS + 1))
        if len(table) > MOST_ITEMS:
            raise LimitError(f"{self.name}: column {column.name!r} has more than {MOST_ITEMS:,} different values.")
        values = pa.concat_arrays([*table.column("label").chunks, pa.array([], table.schema.field("label").type)])
        values = values.cast(pa.int64() if pa.types.is_integer(values.type) else pa.large_string())
        if self.opened.untyped == "text" and kind is None and parse_labels(values, plain=True)[0] is not None:
            kind = "numbers"
        vocabulary, codes = sort_labels(values, kind, self.name)
        stream = pa.BufferOutputStream()
        # Compressed: each task receives the labels.
        options = pa.ipc.IpcWriteOptions(compression="zstd")
        with pa.ipc.new_stream(stream, pa.schema([("label", values.type)]), options=options) as writer:
            writer.write_batch(pa.record_batch([values], names=["label"]))
        return vocabulary, LabelCodes(stream.getvalue().to_pybytes(), codes)


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
            dtypes = frame.dtypes
            renamed_frame = frame.toDF(*(f"c{position}" for position in range(len(dtypes))))
        columns = [Column(name=column, sql=f"c{position}", type=kind) for position, (column, kind) in enumerate(dtypes)]
        visible_columns = tuple(column for column in columns if column.name != _BROKEN)
        broken = next((column.sql for column in columns if column.name == _BROKEN), None)
        return cls(cluster, renamed_frame, Table(name=name, sql="", columns=visible_columns), broken=broken, **options)

    def list_kinds(self, column: Column) -> set[str]:
        """Return the kinds of the values of a JSON column, or of the entries of its lists."""
        is_list = column.type.startswith("array<")
        value_type = column.type[6:-1] if is_list else column.type
        if value_type != "string":
            return {_find_kind(value_type.upper())}
        # Text, alone or beside a second kind: read again as variants, where each value has its own type.
        variant_type = sql_types.ArrayType(sql_types.VariantType()) if is_list else sql_types.VariantType()
        reader = self.cluster.session.read.schema(_build_schema({column.name: variant_type}))
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


def _build_schema(types: dict[str, Any]) -> Any:
    """Return the schema of columns, from the type of each column."""
    return sql_types.StructType([sql_types.StructField(name, type_) for name, type_ in types.items()])


def _reopen_with_text(opened: OpenedTable, frame: Any, name: str) -> OpenedTable:
    """Open JSON records again with one column as text: Spark would read 1 and 1.0 as one number."""
    types = {field.name: field.dataType for field in frame.schema.fields}
    if name in types:
        types[name] = sql_types.StringType()
    with opened.cluster.step("opening files"):
        text_frame = opened.cluster.session.read.schema(_build_schema(types)).json(opened.path)
    return OpenedTable.from_frame(opened.cluster, text_frame, opened.table.name, untyped="json", path=opened.path)


def _open_text(cluster: Cluster, path: str, delimiter: str) -> OpenedTable:
    """Open CSV by the rules of the reader on this machine: doubled quotes, line breaks in quotes, equal rows."""
    rules: dict[str, Any] = {"sep": delimiter, "quote": '"', "escape": '"', "multiLine": True, "header": True}
    # With pruning, Spark would not notice a row of a different length.
    reader = cluster.session.read.option("columnPruning", "false")
    with cluster.step("opening files"):
        unmarked_frame = reader.csv(path, inferSchema=False, **rules)
        _check_headings(cluster, unmarked_frame, path)
        schema = _build_schema(dict.fromkeys([*unmarked_frame.columns, _BROKEN], sql_types.StringType()))
        frame = reader.csv(path, schema=schema, columnNameOfCorruptRecord=_BROKEN, mode="PERMISSIVE", **rules)
    return OpenedTable.from_frame(cluster, frame, path, untyped="text")


def _check_headings(cluster: Cluster, frame: Any, path: str) -> None:
    """Check that all files have one heading: Spark would read all columns by the heading of the first file."""
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
