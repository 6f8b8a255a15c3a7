"""Tables in a cluster become baskets: one a person, by a shuffle on the person, as blocks that stay in the cluster.

Which items there are is asked first: they are few beside the events, come to the driver, and are numbered there in the
order of their labels, as every reader numbers them. Then each event becomes its person and a code, events of a person
meet in one partition, and their codes become a sorted set. Only numbers that describe the whole come back. Nothing
depends on how the table is partitioned.
"""

from __future__ import annotations

import logging
import re
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..baskets.build import Labels, Rows, finish, parse_labels, sort_labels
from ..baskets.call import Call
from ..baskets.columns import Column, Table
from ..baskets.core import Codes, Offsets, Segments, Vocabulary, starts
from ..baskets.frames import is_spark_frame
from ..baskets.recoding import MOST_ITEMS
from ..errors import InputError, LimitError, MisuseError, NobodyError, told
from ..kernels.truncate import keep_some
from ..wording import number_of
from .baskets import BlockView, SparkBaskets, StoredBlocks
from .blocks import CODES, NARROW, SCHEMA, Block, Numbered, written
from .session import Cluster, TableChangedError, session_for

_WHOLE = ("tinyint", "smallint", "int", "bigint")
_EVENTS = "person {person}, code int, segment int"
# How many events a partition has, about: no fewer, where there are tasks to spare, and no more.
_SMALL, _LARGE = 20_000, 4_000_000
# A person's codes that have not been sorted yet, before repeats among them are merged.
_UNSORTED = 1 << 22

# Labels, or items, that a task keeps before it passes them on: to tell new ones from them, or to find all at once.
_MET = 1 << 20

log = logging.getLogger("discreet")


@dataclass(frozen=True)
class _Chosen:
    """A column that was named: how it is selected, and what type its values have."""

    name: str
    sql: Any
    type: str


def read_frame(source: Any, call: Call, max_items: int | None, seed: int | None) -> SparkBaskets:
    """Read a data frame, or files that Spark reads, as :func:`discreet.read` says."""
    call.refuse("Baskets in a cluster have no order", "time", "pair", "ordered")
    call.refuse("Spark reads tables", "query", "encoding")
    untyped = False
    if is_spark_frame(source):
        call.refuse("The data are in Spark already", "format", "delimiter")
        cluster, frame, name = Cluster(source.sparkSession), source, "The table"
    else:
        cluster = Cluster(session_for())
        frame, untyped = _opened(cluster, source, call)
        name = str(source)
    reader = _Reader(cluster, frame, name, call, untyped)
    cluster.progress = call.progress
    try:
        return reader.baskets(max_items, seed)
    finally:
        cluster.progress = None


def _opened(cluster: Cluster, source: Any, call: Call) -> tuple[Any, bool]:
    """Open files as a data frame, and say whether its columns are all text."""
    if not isinstance(source, str) and not hasattr(source, "__fspath__"):
        raise MisuseError(
            told(
                '{engine="spark"} reads a data frame of Spark, or files; {given} was given.',
                given=type(source).__name__,
            )
        )
    place = str(source)
    suffix = place.rstrip("*").removesuffix(".gz").removesuffix(".zst").rpartition(".")[2].lower()
    form = call.format or {"jsonl": "json", "ndjson": "json", "pq": "parquet"}.get(suffix, suffix)
    if form not in ("parquet", "csv", "tsv", "json", "orc"):
        raise MisuseError(
            told(
                "Spark reads Parquet, ORC, CSV, TSV and JSON records; {place} is none of them by its suffix. Give "
                "{format=} as one of parquet, csv, tsv, json.",
                place=place,
            )
        )
    reader = cluster.session.read
    with cluster.step("opening files"):
        if form in ("csv", "tsv"):
            between = call.delimiter or ("\t" if form == "tsv" else ",")
            # Quotes as everybody writes them, lines in quotes, and no row of another length: as files are read here.
            rules: dict[str, Any] = {"quote": '"', "escape": '"', "multiLine": True, "mode": "FAILFAST"}
            reader = reader.option("columnPruning", "false")
            return reader.csv(place, header=True, sep=between, inferSchema=False, **rules), True
        if call.delimiter is not None:
            call.refuse(f"{place} is not CSV", "delimiter")
        return getattr(reader, form)(place), False


@dataclass
class _Reader:
    """One table on its way to baskets."""

    cluster: Cluster
    frame: Any
    name: str
    call: Call
    untyped: bool

    def baskets(self, max_items: int | None, seed: int | None) -> SparkBaskets:
        """Return the baskets."""
        self.cluster.check()
        call = self.call
        if call.person is None:
            item = self._lists_alone()
            person = by = None
        else:
            if call.item is None:
                raise MisuseError(told("{person=} needs {item=}, the column of the items."))
            person, item = self._person(call.person), self._items(call.item, "item")
            by = None if call.by is None else self._items(call.by, "by")
        found, vocabulary, table = self._vocabulary(item, person, call.kind())
        capped = None
        if max_items is not None:
            secret = secrets.token_bytes(8) if seed is None else np.random.default_rng(seed).bytes(8)
            capped = max_items, int.from_bytes(secret), vocabulary.identities
        parts, segments = None, None
        if by is not None:
            parts, segments, places = self._vocabulary(by, person, None)
        items = len(vocabulary)
        with self.cluster.step("making one basket a person"):
            if person is None:
                frame = self.frame.select(item.sql.alias("item")).mapInArrow(
                    self.cluster.guarded(partial(_from_lists, found=found, table=table, items=items, cap=capped)),
                    SCHEMA,
                )
            else:
                chosen = [person.sql.alias("person"), item.sql.alias("item")]
                coding: dict[str, Any] = {"found": found, "table": table}
                if by is not None:
                    chosen.append(by.sql.alias("segment"))
                    coding |= {"parts": parts, "places": places}
                events = self.frame.select(*chosen).mapInArrow(
                    self.cluster.guarded(partial(_coded, **coding)), _EVENTS.format(person=person.type)
                )
                build = partial(_built, items=items, cap=capped, segmented=by is not None)
                frame = (
                    events.repartition(self._partitions(), "person")
                    .sortWithinPartitions("person")
                    .mapInArrow(self.cluster.guarded(build), SCHEMA)
                )
            frame = frame.persist()
            stored, sums = self._measured(frame, items)
        try:
            self._check(stored, sums["left_out"], sums["strange"], person, by)
        except BaseException:
            frame.unpersist()
            raise
        if sums["left_out"]:
            log.info("%s: left out %s without a person.", self.name, number_of(sums["left_out"], "row"))
        merged = sums["merged"]
        if merged:
            log.info("%s: merged %s of an item in a basket.", self.name, number_of(merged, "repeat"))
        return SparkBaskets(
            cluster=self.cluster,
            blocks=stored,
            vocabulary=vocabulary,
            view=BlockView(items=items, segments=0 if segments is None else len(segments)),
            column=None if by is None else by.name,
            segment_vocabulary=segments,
            merged=merged,
        )

    def _check(
        self, stored: StoredBlocks, left_out: int, strange: int, person: _Chosen | None, by: _Chosen | None
    ) -> None:
        if not stored.people and not left_out:
            raise NobodyError(f"{self.name} has no rows.")
        if left_out and self.call.nulls == "error" and person is not None:
            raise InputError(
                told(
                    '{name}: {rows} {have} no person (column {column!r}); {nulls="drop"} leaves {them} out.',
                    name=self.name,
                    rows=number_of(left_out, "row"),
                    have="has" if left_out == 1 else "have",
                    column=person.name,
                    them="it" if left_out == 1 else "them",
                )
            )
        if strange and by is not None:
            raise InputError(
                told(
                    "{name}: everyone must have one value in the column {column!r} ({by=}), not none or several.",
                    name=self.name,
                    column=by.name,
                )
            )

    def _measured(self, frame: Any, items: int) -> tuple[StoredBlocks, dict[str, int]]:
        """Lay the blocks out, and return them with what all of them come to."""
        from pyspark.sql import functions as sql

        sums = [sql.sum(name).alias(name) for name in ("people", "left_out", "merged", "strange")]
        held, at = sql.sum(sql.length("codes")).alias("bytes"), sql.count_distinct("at").alias("partitions")
        table = self.cluster.collected(frame.withColumn("at", sql.spark_partition_id()).agg(*sums, held, at))
        told_of = {name: int(value or 0) for name, value in table.to_pylist()[0].items()}
        codes = told_of["bytes"] // (2 if items <= NARROW else 4)
        return StoredBlocks(frame, told_of["partitions"], told_of["people"], codes).kept(), told_of

    def _partitions(self) -> int:
        """Return over how many partitions people are laid out: few where there are few, and none too large."""
        from pyspark.sql import functions as sql

        item = self._table.find(self.call.item or "", "item")
        each = sql.greatest(sql.size(sql.col(item.sql)), sql.lit(1)) if item.type.startswith("array") else sql.lit(1)
        events = int(self.cluster.collected(self.frame.agg(sql.sum(each).alias("events"))).column(0)[0].as_py() or 0)
        return max(1, min(self.cluster.parallelism, events // _SMALL), -(-events // _LARGE))

    @cached_property
    def _table(self) -> Table:
        with self.cluster.step("looking at the columns"):
            types = self.frame.dtypes
        quoted = [f"`{name.replace('`', '``')}`" for name, _ in types]
        columns = tuple(Column(name=name, sql=sql, type=kind) for sql, (name, kind) in zip(quoted, types, strict=True))
        return Table(name=self.name, sql="", columns=columns)

    def _person(self, name: str) -> _Chosen:
        """Return the column of the people: as whole numbers, or as text."""
        column = self._table.find(name, "person")
        value = self._value(column)
        if column.type in ("float", "double"):
            raise InputError(
                told(
                    "{table}: column {column!r} ({person=}) is floating point: people might be taken for one another. "
                    "Cast it to whole numbers or to text.",
                    table=self.name,
                    column=name,
                )
            )
        if re.match("array|map|struct|variant|binary", column.type):
            raise InputError(
                told(
                    "{table}: column {column!r} ({person=}) is of type {found}; people are whole numbers or text.",
                    table=self.name,
                    column=name,
                    found=column.type,
                )
            )
        kind = "bigint" if column.type in _WHOLE else "string"
        chosen = _Chosen(name, value.cast(kind), kind)
        if kind == "string":
            self._check_written_alike(chosen)
        return chosen

    def _check_written_alike(self, person: _Chosen) -> None:
        """Refuse ids that are text and the same number written in two ways: 7 and 7.0."""
        from pyspark.sql import functions as sql

        ids = self.frame.select(person.sql.alias("id"))
        pointed = ids.where(sql.col("id").rlike(r"^-?[0-9]+\.0*$"))
        with self.cluster.step("looking at ids"):
            if not self.cluster.collected(pointed.limit(1)).num_rows:
                return
            plain = pointed.select(sql.split_part("id", sql.lit("."), sql.lit(1)).alias("id"))
            if not self.cluster.collected(ids.join(plain.distinct(), "id", "leftsemi").limit(1)).num_rows:
                return
        raise InputError(
            told(
                "{name}: column {column!r} ({person=}) has the same number written in two ways, with a decimal point "
                "and without, as 7.0 and 7: one person would be taken for two. Write all of them alike.",
                name=self.name,
                column=person.name,
            )
        )

    def _items(self, name: str, option: str) -> _Chosen:
        """Return a column of items, or of lists of them: as whole numbers, or as text."""
        column = self._table.find(name, option)
        inner = column.type
        if found := re.fullmatch(r"array<(.*)>", column.type):
            inner = found[1]
        if inner not in (*_WHOLE, "string") and not re.match(r"(var)?char\(", inner):
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
        return sql.nullif(sql.trim(value, sql.lit(" \t")), sql.lit("")) if self.untyped else value

    def _lists_alone(self) -> _Chosen:
        """Return the one column of lists, where every row is a basket."""
        table = self._table
        lists = [column for column in table.columns if column.type.startswith("array<")]
        if self.call.item is not None:
            lists = [column for column in lists if column.name == table.find(self.call.item, "item").name]
        if len(lists) != 1:
            raise MisuseError(
                told(
                    "{table} needs {person=} and {item=}, the columns of the people and of what they hold; {listing}.",
                    table=self.name,
                    listing=table.listing,
                )
            )
        others = [column.name for column in table.columns if column.name != lists[0].name]
        if others:
            self.call.ask_whose(self.name, f"rows with columns beside the items ({', '.join(others[:5])})")
        self.call.refuse(f"{self.name} is read with one basket per row, without people", "nulls")
        return self._items(lists[0].name, "item")

    def _vocabulary(self, column: _Chosen, person: _Chosen | None, kind: Labels) -> tuple[bytes, Vocabulary, Codes]:
        """Return the labels as they occur (in Arrow's bytes), what they are called, and the code of each."""
        import pyarrow as pa

        # What nobody has is not listed: rows without a person are left out.
        people = self.frame if person is None else self.frame.where(person.sql.isNotNull())
        labels = people.select(column.sql.alias("label"))
        if self._table.find(column.name, "item").type.startswith("array"):
            labels = labels.mapInArrow(self.cluster.guarded(_occurring), f"label {column.type}")
        distinct = labels.where("label is not null").distinct()
        with self.cluster.step("listing the items"):
            table = self.cluster.collected(distinct.limit(MOST_ITEMS + 1))
        if len(table) > MOST_ITEMS:
            raise LimitError(f"{self.name}: column {column.name!r} has more than {MOST_ITEMS:,} different values.")
        found = table.column("label").combine_chunks()
        if isinstance(found, pa.ChunkedArray):
            found = pa.concat_arrays([*found.chunks, pa.array([], found.type)])
        found = found.cast(pa.int64() if pa.types.is_integer(found.type) else pa.large_string())
        if self.untyped and kind is None and parse_labels(found, plain=True)[0] is not None:
            kind = "numbers"
        vocabulary, codes = sort_labels(found, kind, self.name)
        stream = pa.BufferOutputStream()
        options = pa.ipc.IpcWriteOptions(compression="zstd")
        with pa.ipc.new_stream(stream, pa.schema([("label", found.type)]), options=options) as writer:
            writer.write_batch(pa.record_batch([found], names=["label"]))
        return stream.getvalue().to_pybytes(), vocabulary, codes


def _occurring(batches: Iterable[Any]) -> Iterator[Any]:
    """Run in an executor: the labels that occur in lists, each once, or a few times where there are very many."""
    import pyarrow as pa
    import pyarrow.compute as pc

    met: list[Any] = []
    for batch in batches:
        values = batch.column(0).flatten()
        values = values.cast(pa.int64()) if pa.types.is_integer(values.type) else values
        met = [pc.unique(pa.concat_arrays([*met, pc.unique(values)]))]
        if len(met[0]) > _MET:
            yield pa.RecordBatch.from_arrays(met, names=["label"])
            met = []
    if met:
        yield pa.RecordBatch.from_arrays(met, names=["label"])


def _labels(written_labels: bytes) -> Any:
    import pyarrow as pa

    with pa.ipc.open_stream(written_labels) as reader:
        return reader.read_all().column(0).combine_chunks()


def _gathered(batches: Iterable[Any], labels: Any) -> Iterator[Any]:
    """Yield batches that have about as many items as there are labels: finding any takes a table of all of these."""
    import pyarrow as pa

    least = min(len(labels), _MET)
    waiting: list[Any] = []
    many = 0
    for batch in batches:
        waiting.append(batch)
        many += max(len(getattr(column, "values", column)) for column in batch.columns)
        if many >= least:
            yield from pa.Table.from_batches(waiting).combine_chunks().to_batches()
            waiting, many = [], 0
    if waiting:
        yield from pa.Table.from_batches(waiting).combine_chunks().to_batches()


def _codes_of(values: Any, labels: Any, table: Codes) -> NDArray[np.int32]:
    """Return the code of each value, -1 where there is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(labels, pa.ChunkedArray):
        labels = pa.concat_arrays([*labels.chunks, pa.array([], labels.type)])
    found = pc.index_in(values.cast(labels.type), value_set=labels)
    if found.null_count != values.null_count:
        raise TableChangedError
    places = found.fill_null(-1).to_numpy(zero_copy_only=False)
    codes: NDArray[np.int32] = np.append(table, np.int32(-1))[places].astype(np.int32)
    return codes


def _unlisted(lists: Any, labels: Any, table: Codes) -> tuple[Offsets, Codes]:
    """Return where the events of each row begin, and their codes; an empty row has one, -1: it exists."""
    import pyarrow.compute as pc

    sizes = pc.list_value_length(lists).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    places = starts(np.maximum(sizes, 1))
    codes = np.full(places[-1], -1, np.int32)
    codes[np.repeat(places[:-1] - starts(sizes)[:-1], sizes) + np.arange(int(sizes.sum()))] = _codes_of(
        lists.flatten(), labels, table
    )
    return places, codes


def _coded(
    batches: Iterable[Any], found: bytes, table: Codes, parts: bytes | None = None, places: Codes | None = None
) -> Iterator[Any]:
    """Run in an executor: events as their person and a code, -1 where there is no item.

    Rows without a person are left out; how many they are goes along, as the code of nobody.
    """
    import pyarrow as pa

    labels, segments = _labels(found), None if parts is None else _labels(parts)
    for batch in _gathered(batches, labels):
        nobody = batch.column(0).null_count
        if nobody:
            batch = batch.filter(batch.column(0).is_valid())
        people, items = batch.column(0), batch.column(1)
        marks = np.full(len(batch), -1, np.int32)
        if segments is not None and places is not None:
            marks = _codes_of(batch.column(2), segments, places)
        if pa.types.is_list(items.type) or pa.types.is_large_list(items.type):
            places_of, codes = _unlisted(items, labels, table)
            owners = np.repeat(np.arange(len(items)), np.diff(places_of))
            people, marks = people.take(pa.array(owners)), marks[owners]
        else:
            codes = _codes_of(items, labels, table)
        if nobody:
            people = pa.concat_arrays([people, pa.nulls(1, people.type)])
            codes, marks = np.append(codes, np.int32(nobody)), np.append(marks, np.int32(-1))
        yield pa.RecordBatch.from_arrays(
            [people, pa.array(codes, pa.int32()), pa.array(marks, pa.int32())], names=["person", "code", "segment"]
        )


def _built(batches: Iterable[Any], items: int, cap: Any, segmented: bool) -> Iterator[Any]:
    """Run in an executor: events in the order of their people become blocks."""
    return written(_blocks(batches, items, cap, segmented), items)


def _blocks(batches: Iterable[Any], items: int, cap: Any, segmented: bool) -> Iterator[Block]:
    import pyarrow.compute as pc

    left_out, last, waiting = 0, None, 0
    held = _Events.none()
    gathered = [held]
    for batch in batches:
        people = batch.column(0)
        codes, marks = (batch.column(place).to_numpy() for place in (1, 2))
        if people.null_count:
            missing = people.is_null().to_numpy(zero_copy_only=False)
            left_out += int(codes[missing].sum())
            people, codes, marks = people.filter(people.is_valid()), codes[~missing], marks[~missing]
        if not len(people):
            continue
        new = np.ones(len(people), np.bool_)
        if len(people) > 1:
            new[1:] = pc.not_equal(people.slice(1), people.slice(0, len(people) - 1)).to_numpy(zero_copy_only=False)
        new[0] = last is None or people[0].as_py() != last
        last = people[len(people) - 1].as_py()
        gathered.append(_Events(new, codes, marks))
        waiting += len(codes)
        if waiting >= CODES:
            held = _Events.joined(gathered)
            # The last person may go on in the next batch.
            end = int(np.flatnonzero(held.begun)[-1])
            if end:
                yield _block(held.part(0, end), items=items, cap=cap, segmented=segmented)
            rest = held.part(end, len(held.codes))
            gathered = [rest.without_repeats() if len(rest.codes) > _UNSORTED else rest]
            waiting = 0  # what is kept of a long basket is not looked at again before as much more has come
    held = _Events.joined(gathered)
    if len(held.codes) or left_out:
        yield _block(held, items=items, cap=cap, segmented=segmented, left_out=left_out)


@dataclass(frozen=True, eq=False)
class _Events:
    """Events of people, one after the other: which of them is a person's first, its code, and the segment it names."""

    begun: NDArray[np.bool_]
    codes: Codes
    marks: Codes

    @classmethod
    def none(cls) -> _Events:
        return cls(np.empty(0, np.bool_), np.empty(0, np.int32), np.empty(0, np.int32))

    @classmethod
    def joined(cls, several: list[_Events]) -> _Events:
        begun, codes, marks = ([getattr(one, name) for one in several] for name in ("begun", "codes", "marks"))
        return cls(np.concatenate(begun), np.concatenate(codes), np.concatenate(marks))

    def part(self, first: int, last: int) -> _Events:
        return _Events(self.begun[first:last], self.codes[first:last], self.marks[first:last])

    def without_repeats(self) -> _Events:
        """Merge the repeats of one person, of whom there may be more to come: several segments stay several."""
        codes, marks = np.unique(np.stack((self.codes, self.marks)), axis=1)
        begun = np.zeros(len(codes), np.bool_)
        begun[0] = self.begun[0]
        return _Events(begun, codes, marks)


def _block(events: _Events, *, items: int, cap: Any, segmented: bool, left_out: int = 0) -> Block:
    """Make the baskets of people whose events lie end to end; a code of -1 only says that they exist."""
    begun, codes, marks = events.begun, events.codes, events.marks
    at = np.append(np.flatnonzero(begun), len(begun))
    owners = np.repeat(np.arange(len(at) - 1), np.diff(at))
    held = codes >= 0
    sizes = np.bincount(owners[held], minlength=len(at) - 1)
    segments, strange = None, 0
    if segmented:
        low, high = (np.full(len(at) - 1, start, np.int32) for start in (np.iinfo(np.int32).max, -1))
        some = marks >= 0
        np.minimum.at(low, owners[some], marks[some])
        np.maximum.at(high, owners[some], marks[some])
        strange = int((low != high).sum())
        segments = Segments("", np.maximum(high, 0), Numbered(int(high.max(initial=0)) + 1))
    rows = Rows(offsets=starts(sizes), codes=codes[held], vocabulary=Numbered(items), segments=segments)
    baskets = finish(rows, name="")
    if cap is not None:
        most, key, identities = cap
        offsets, kept = keep_some(baskets.offsets, baskets.codes, most, key, identities)
        baskets = replace(baskets, offsets=offsets, codes=kept)
    return Block.of(baskets, left_out=left_out, merged=baskets.merged, strange=strange)


def _from_lists(batches: Iterable[Any], found: bytes, table: Codes, items: int, cap: Any) -> Iterator[Any]:
    """Run in an executor: every row is a basket."""
    return written(_listed(batches, _labels(found), table, items, cap), items)


def _listed(batches: Iterable[Any], labels: Any, table: Codes, items: int, cap: Any) -> Iterator[Block]:
    for batch in _gathered(batches, labels):
        lists = batch.column(0)
        places, events = _unlisted(lists, labels, table)
        begun = np.zeros(len(events), np.bool_)
        begun[places[:-1]] = True
        if len(batch):
            yield _block(_Events(begun, events, events), items=items, cap=cap, segmented=False)
