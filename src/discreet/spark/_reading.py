"""Tables in a cluster become baskets: by a shuffle on the person, as blocks that stay in the cluster.

Which items there are is asked first: they are few beside the events, come to the driver, and are numbered there in the
order of their labels, as every reader numbers them. Then each event becomes its person and a code, events of a person
meet in one partition, and their codes become a sorted set: one, or with `basket=` one for each basket, which then lie
together. Only numbers that describe the whole come back. Nothing depends on how the table is partitioned.
"""

from __future__ import annotations

import logging
import re
import secrets
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..baskets import (
    BLURRED,
    MOST_ITEMS,
    Call,
    Codes,
    Column,
    Labels,
    Table,
    Vocabulary,
    check_baskets,
    check_blurred,
    check_items,
    check_mixture,
    check_people,
    is_spark_frame,
    parse_labels,
    sort_labels,
)
from ..errors import InputError, LimitError, MisuseError, NobodyError
from ..wording import number_of
from ._baskets import BlockView, SparkBaskets, StoredBlocks, measure_blocks
from ._blocks import SCHEMA
from ._building import built, coded, from_lists, occurring
from ._opening import OpenedTable, open_files
from ._session import Cluster, clear_errors, session_for

_WHOLE = ("tinyint", "smallint", "int", "bigint")
# How many events a partition has, about: no fewer, where there are tasks to spare, and no more.
_SMALL, _LARGE = 20_000, 4_000_000
# A whole number written with a decimal point.
_POINTED = r"^-?[0-9]+\.0*$"
log = logging.getLogger("discreet")


@dataclass(frozen=True)
class _Chosen:
    """A column that was named: how it is selected, and what type its values have."""

    name: str
    sql: Any
    type: str


def _is_text(type_: str) -> bool:
    """Whether a type of Spark's is text, whatever order its words are kept in."""
    return re.fullmatch(r"string( collate \w+)?|(var)?char\(\d+\)", type_) is not None


def _partitions(tasks: int, events: int) -> int:
    """Return over how many partitions people are laid out: few where there are few, and none too large."""
    return max(1, min(tasks, events // _SMALL), -(-events // _LARGE))


def read_frame(source: Any, call: Call, max_items: int | None, seed: int | None) -> SparkBaskets:
    """Read a data frame, or files that Spark reads, as :func:`discreet.read` says."""
    call.refuse("Baskets in a cluster have no order", "time", "pair", "ordered")
    call.refuse("Spark reads tables", "query", "encoding")
    with clear_errors():
        if is_spark_frame(source):
            call.refuse("The data are in Spark already", "format", "delimiter")
            cluster = Cluster(source.sparkSession)
            opened = OpenedTable.of(cluster, source, "The table")
        else:
            cluster = Cluster(session_for())
            opened = open_files(cluster, source, call)
        cluster.progress = call.progress
        try:
            return _Reader(cluster, opened, call).baskets(max_items, seed)
        finally:
            cluster.progress = None


@dataclass
class _Reader:
    """One table on its way to baskets."""

    cluster: Cluster
    opened: OpenedTable
    call: Call

    @property
    def frame(self) -> Any:
        """The rows."""
        return self.opened.frame

    @property
    def name(self) -> str:
        """What the table is called in messages."""
        return self.opened.table.name

    def baskets(self, max_items: int | None, seed: int | None) -> SparkBaskets:
        """Return the baskets."""
        self.cluster.check()
        call = self.call
        whose: list[_Chosen] = []
        by = None
        if call.person is None:
            item = self._lists_alone()
        else:
            if call.item is None:
                raise MisuseError.format("{person=} needs {item=}, the column of the items.")
            events = self._looked_through(self._table.find(call.person, "person"), self._table.find(call.item, "item"))
            whose, item = [self._person(call.person)], self._items(call.item, "item", call.kind())
            whose += [] if call.basket is None else [self._basket(call.basket)]
            by = None if call.by is None else self._items(call.by, "by", None)
        found, vocabulary, table = self._vocabulary(item, whose, call.kind())
        capped = None
        if max_items is not None:
            secret = secrets.token_bytes(8) if seed is None else np.random.default_rng(seed).bytes(8)
            capped = max_items, int.from_bytes(secret), vocabulary.identities
        parts, segments, places = None, None, table
        if by is not None:
            parts, segments, places = self._vocabulary(by, whose, None)
        items, several = len(vocabulary), len(whose) > 1
        with self.cluster.step("making the baskets of people"):
            if not whose:
                frame = self.frame.select(item.sql.alias("item")).mapInArrow(
                    self.cluster.guarded(partial(from_lists, found=found, table=table, items=items, cap=capped)),
                    SCHEMA,
                )
            else:
                keys = dict(zip(("person", "basket"), whose, strict=False))
                chosen = keys | {"item": item} | ({} if by is None else {"segment": by})
                coding = partial(coded, several=several, found=found, table=table, parts=parts, places=places)
                coded_events = self.frame.select(*(one.sql.alias(name) for name, one in chosen.items())).mapInArrow(
                    self.cluster.guarded(coding),
                    ", ".join([*(f"{name} {one.type}" for name, one in keys.items()), "code int, segment int"]),
                )
                build = partial(built, several=several, items=items, cap=capped, segmented=by is not None)
                frame = (
                    coded_events.repartition(_partitions(self.cluster.parallelism, events), "person")
                    .sortWithinPartitions(*keys)
                    .mapInArrow(self.cluster.guarded(build), SCHEMA)
                )
            frame = frame.persist()
            stored, sums = measure_blocks(self.cluster, frame, items)
        try:
            self._check(stored, sums, whose, by)
        except BaseException:
            frame.unpersist()
            raise
        if missing := sums["left_out"] + sums["loose"]:
            needed = "a person or a basket" if several else "a person"
            log.info("%s: left out %s without %s.", self.name, number_of(missing, "row"), needed)
        merged = sums["merged"]
        if merged:
            log.info("%s: merged %s of an item in a basket.", self.name, number_of(merged, "repeat"))
        return SparkBaskets(
            cluster=self.cluster,
            blocks=stored,
            vocabulary=vocabulary,
            view=BlockView(items=items, segments=0 if segments is None else len(segments), several=several),
            column=None if by is None else by.name,
            segment_vocabulary=segments,
            merged=merged,
            several=several,
        )

    def _check(self, stored: StoredBlocks, sums: dict[str, int], whose: list[_Chosen], by: _Chosen | None) -> None:
        lacking = [sums["left_out"], sums["loose"]]
        if not stored.people and not any(lacking):
            raise NobodyError(f"{self.name} has no rows.")
        for missing, what, column in zip(lacking, ("person", "basket"), whose, strict=False):
            if missing and self.call.nulls == "error":
                raise InputError.format(
                    '{name}: {rows} {have} no {what} (column {column!r}); {nulls="drop"} leaves {them} out.',
                    name=self.name,
                    rows=number_of(missing, "row"),
                    have="has" if missing == 1 else "have",
                    what=what,
                    column=column.name,
                    them="it" if missing == 1 else "them",
                )
        if sums["strange"] and by is not None:
            raise InputError.format(
                "{name}: everyone must have one value in the column {column!r} ({by=}), not none or several.",
                name=self.name,
                column=by.name,
            )

    @property
    def _table(self) -> Table:
        return self.opened.table

    def _looked_through(self, person: Column, item: Column) -> int:
        """See in one pass that rows are what they should be, and return how many events they hold."""
        from pyspark.sql import functions as sql

        value, none = self._value(person), sql.lit(None).cast("string")
        each = sql.greatest(sql.size(sql.col(item.sql)), sql.lit(1)) if item.type.startswith("array") else sql.lit(1)
        floats = person.type.upper() in BLURRED
        number = sql.abs(value) if floats else sql.lit(0)
        far = (number != sql.floor(number)) | (number >= BLURRED[person.type.upper()]) if floats else sql.lit(False)
        text = value if _is_text(person.type) else none
        broken = none if self.opened.broken is None else sql.col(self.opened.broken)
        asked = {
            "events": sql.sum(each),
            "broken": sql.count(broken),
            "blurred": sql.count(sql.when(far, 1)),
            "pointed": sql.count(sql.when(text.rlike(_POINTED), 1)),
        }
        with self.cluster.step("looking at the rows"):
            found = self.cluster.collected(self.frame.agg(*(one.alias(name) for name, one in asked.items())))
        told_of = {name: int(many or 0) for name, many in found.to_pylist()[0].items()}
        if rows := told_of["broken"]:
            raise InputError(
                f"{self.name}: {number_of(rows, 'line')} {'has' if rows == 1 else 'have'} more or fewer fields than "
                f"the heading, or quotes that do not end: correct {'it' if rows == 1 else 'them'}."
            )
        check_blurred(self.name, person.name, person.type.upper(), told_of["blurred"])
        if told_of["pointed"]:
            self._check_written_alike(person)
        return told_of["events"]

    def _person(self, name: str) -> _Chosen:
        """Return the column of the people: as whole numbers, or as text, which are equal where the values are."""
        column = self._table.find(name, "person")
        if self.opened.untyped == "json":
            check_people(self.name, name, {"ARRAY"} if column.type.startswith("array") else self.opened.kinds(column))
        if re.match("array|map|struct|variant|binary", column.type):
            raise InputError.format(
                "{table}: column {column!r} ({person=}) is of type {found}; people are whole numbers or text.",
                table=self.name,
                column=name,
                found=column.type,
            )
        if column.type.upper() in BLURRED:
            return _Chosen(name, self._value(column).try_cast("bigint"), "bigint")
        return self._key(column)

    def _basket(self, name: str) -> _Chosen:
        """Return the column that tells the baskets of a person apart, as something that is equal where its values are.

        Fractions may do that, and true and false: no person is taken for another by them.
        """
        from pyspark.sql import functions as sql

        column = self._table.find(name, "basket")
        if re.match("array|map|struct|variant", column.type):
            raise InputError.format(
                "{table}: column {column!r} ({basket=}) is of type {found}; in a cluster baskets are told apart by "
                "numbers, text, dates or times: cast the column to text.",
                table=self.name,
                column=name,
                found=column.type,
            )
        if self.opened.untyped == "json":
            check_baskets(self.name, name, self.opened.kinds(column))
        if column.type.upper() in BLURRED:
            # There are two zeros, which are equal; and a column of text would tell them apart.
            return _Chosen(name, self._value(column).cast("double") + sql.lit(0.0), "double")
        if column.type == "binary":
            return _Chosen(name, sql.hex(sql.col(column.sql)), "string")
        return self._key(column)

    def _key(self, column: Column) -> _Chosen:
        """Return a column as whole numbers or as text, whatever the session's time zone and the order of its text."""
        from pyspark.sql import functions as sql

        value = self._value(column)
        if column.type == "timestamp":
            # As text it would be the time on the clocks of the session's zone, which show an hour twice in autumn.
            return _Chosen(column.name, sql.unix_micros(value), "bigint")
        if column.type in _WHOLE:
            return _Chosen(column.name, value.cast("bigint"), "bigint")
        return _Chosen(column.name, value.cast("string"), "string")

    def _check_written_alike(self, person: Column) -> None:
        """Refuse ids that are text and the same number written in two ways: 7 and 7.0."""
        from pyspark.sql import functions as sql

        with self.cluster.step("looking at ids"):
            ids = self.frame.select(self._value(person).cast("string").alias("id"))
            pointed = ids.where(sql.col("id").rlike(_POINTED))
            plain = pointed.select(sql.split_part("id", sql.lit("."), sql.lit(1)).alias("id"))
            if not self.cluster.collected(ids.join(plain.distinct(), "id", "leftsemi").limit(1)).num_rows:
                return
        raise InputError.format(
            "{name}: column {column!r} ({person=}) has the same number written in two ways, with a decimal point "
            "and without, as 7.0 and 7: one person would be taken for two. Write all of them alike.",
            name=self.name,
            column=person.name,
        )

    def _items(self, name: str, option: str, labels: Labels) -> _Chosen:
        """Return a column of items, or of lists of them: as whole numbers, or as text."""
        column = self._table.find(name, option)
        inner = column.type
        if found := re.fullmatch(r"array<(.*)>", column.type):
            inner = found[1]
        if self.opened.untyped == "json":
            kinds = self.opened.kinds(column)
            check_items(self.name, name, kinds, alone=True)
            if labels is None:
                check_mixture(self.name, kinds)
        if inner not in _WHOLE and not _is_text(inner):
            what = "lists of lists" if inner.startswith("array") else f"of type {column.type}"
            raise InputError(
                f"{self.name}: column {name!r} is {what}; items are whole numbers or names: cast the column to text."
            )
        value = self._value(column)
        if inner in _WHOLE:
            return _Chosen(name, value, "bigint")  # Arrow makes numbers wider, which is faster
        return _Chosen(name, value.cast("string" if inner == column.type else "array<string>"), "string")

    def _value(self, column: Column) -> Any:
        from pyspark.sql import functions as sql

        value = sql.col(column.sql)
        if column.type.upper() in BLURRED:
            return sql.when(~sql.isnan(value), value)
        return sql.nullif(sql.trim(value, sql.lit(" \t")), sql.lit("")) if self.opened.untyped == "text" else value

    def _lists_alone(self) -> _Chosen:
        """Return the one column of lists, where every row is a basket."""
        table = self._table
        lists = [column for column in table.columns if column.type.startswith("array<")]
        if self.call.item is not None:
            lists = [column for column in lists if column.name == table.find(self.call.item, "item").name]
        if len(lists) != 1:
            raise MisuseError.format(
                "{table} needs {person=} and {item=}, the columns of the people and of what they hold; {listing}.",
                table=self.name,
                listing=table.listing,
            )
        others = [column.name for column in table.columns if column.name != lists[0].name]
        if others:
            self.call.ask_whose(self.name, f"rows with columns beside the items ({', '.join(others[:5])})")
        self.call.refuse(f"{self.name} is read with one basket per row, without people", "nulls")
        return self._items(lists[0].name, "item", self.call.kind())

    def _vocabulary(self, column: _Chosen, whose: list[_Chosen], kind: Labels) -> tuple[bytes, Vocabulary, Codes]:
        """Return the labels as they occur (in Arrow's bytes), what they are called, and the code of each."""
        import pyarrow as pa

        # What nobody has is not listed: rows without a person, or without a basket, are left out.
        with self.cluster.step("listing the items"):
            people = self.frame
            for one in whose:
                people = people.where(one.sql.isNotNull())
            labels = people.select(column.sql.alias("label"))
            if self._table.find(column.name, "item").type.startswith("array"):
                labels = labels.mapInArrow(self.cluster.guarded(occurring), f"label {column.type}")
            distinct = labels.where("label is not null").distinct()
            table = self.cluster.collected(distinct.limit(MOST_ITEMS + 1))
        if len(table) > MOST_ITEMS:
            raise LimitError(f"{self.name}: column {column.name!r} has more than {MOST_ITEMS:,} different values.")
        found = table.column("label").combine_chunks()
        if isinstance(found, pa.ChunkedArray):
            found = pa.concat_arrays([*found.chunks, pa.array([], found.type)])
        found = found.cast(pa.int64() if pa.types.is_integer(found.type) else pa.large_string())
        if self.opened.untyped == "text" and kind is None and parse_labels(found, plain=True)[0] is not None:
            kind = "numbers"
        vocabulary, codes = sort_labels(found, kind, self.name)
        stream = pa.BufferOutputStream()
        options = pa.ipc.IpcWriteOptions(compression="zstd")
        with pa.ipc.new_stream(stream, pa.schema([("label", found.type)]), options=options) as writer:
            writer.write_batch(pa.record_batch([found], names=["label"]))
        return stream.getvalue().to_pybytes(), vocabulary, codes
