"""Tables become rows: grouped by person out of core, taken as lists, or read as one-hot columns.

Grouping never sorts the events. DuckDB numbers the people and the items in order and counts each person's events;
then the events stream through in any order, as two numbers each, and a kernel drops every item into its person's
row. Only events with a time are sorted, and that by DuckDB, on disk if need be.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, MisuseError
from ..kernels.rows import scatter, translate
from .arrow import as_numpy
from .build import Collector, Labels, Rows, log, parse_labels, sort_labels
from .core import Codes, Item, Offsets, Pairs, Vocabulary
from .databases import Table, Workspace, quoted
from .memory import label_array
from .streams import Progress

_LIST = re.compile(r"\[\d*\]$")
_INTEGERS = re.compile(r"U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER")
_REALS = re.compile(r"FLOAT|DOUBLE|DECIMAL\(.*\)")
_NAMES = re.compile(r"VARCHAR|ENUM\(.*\)", re.DOTALL)


def is_list(table: Table, column: str) -> bool:
    """Whether a column holds lists."""
    return _LIST.search(table.columns[column]) is not None


def check_columns(table: Table, **given: str | None) -> None:
    """See that the columns asked for are there."""
    for option, column in given.items():
        if column is not None and column not in table.columns:
            raise InputError(
                f"{table.name} has no column {column!r} ({option}=); its columns are {', '.join(table.columns)}."
            )


def _kind(type_: str) -> Literal["numbers", "reals", "names"] | None:
    if _INTEGERS.fullmatch(type_):
        return "numbers"
    if _REALS.fullmatch(type_):
        return "reals"
    return "names" if _NAMES.fullmatch(type_) else None


@dataclass(frozen=True)
class _Events:
    """The table of events: how to select the person, the items and the time from it."""

    work: Workspace
    table: Table
    person: str
    items: tuple[str, ...]
    time: str | None

    def value(self, column: str) -> str:
        """Return the SQL of a column's value: null where there is none."""
        if self.table.untyped == "text":
            return f"nullif(trim({quoted(column)}), '')"
        if self.table.untyped == "json":
            return f"({quoted(column)} ->> '$')"
        if _REALS.fullmatch(self.table.columns[column]) and "DECIMAL" not in self.table.columns[column]:
            return f"CASE WHEN isnan({quoted(column)}) THEN NULL ELSE {quoted(column)} END"
        return quoted(column)

    def ask(self, *questions: str) -> tuple[Any, ...]:
        return self.work.row(self.table.name, f"SELECT {', '.join(questions)} FROM {self.table.sql}")  # noqa: S608

    def _whole(self, column: str) -> str:
        """Return the question whether an untyped column has whole numbers alone."""
        value = self.value(column)
        if self.table.untyped == "json":
            return f"bool_and(json_type({quoted(column)}) IN ('UBIGINT', 'BIGINT'))"
        same = f"coalesce(TRY_CAST({value} AS BIGINT)::VARCHAR = {value}, false)"
        if column in self.items:
            same += f" AND NOT starts_with({value}, '-')"
        return f"bool_and({value} IS NULL OR ({same}))"

    @cached_property
    def whole(self) -> dict[str, bool]:
        """Say of each column of an untyped table whether it has whole numbers alone, in one pass over the file."""
        columns = [column for column in (self.person, *self.items, self.time) if column is not None]
        if self.table.untyped is None:
            return dict.fromkeys(columns, False)
        answers = self.ask(*map(self._whole, columns))
        return {column: bool(answer) for column, answer in zip(columns, answers, strict=True)}

    def person_value(self) -> str:
        value = self.value(self.person)
        return f"CAST({value} AS BIGINT)" if self.whole[self.person] else value

    def time_value(self) -> str:
        """Return the SQL of the time: text is a number or an ISO date and time."""
        assert self.time is not None  # noqa: S101
        value = self.value(self.time)
        if self.table.untyped is None and _kind(self.table.columns[self.time]) != "names":
            return value
        if self.whole[self.time]:
            return f"CAST({value} AS BIGINT)"
        total, reals, times = self.ask(
            f"count({value})", f"count(TRY_CAST({value} AS DOUBLE))", f"count(TRY_CAST({value} AS TIMESTAMPTZ))"
        )
        if reals == total:
            return f"CAST({value} AS DOUBLE)"
        if times == total:
            return f"CAST({value} AS TIMESTAMPTZ)"
        raise InputError(
            f"{self.table.name}: column {self.time!r} (time=) has values that are no time "
            f"(in {total - max(reals, times):,} rows); write numbers, or dates and times as 2026-03-31 17:05:00."
        )

    def item_values(self, labels: Labels) -> list[str]:
        """Return the SQL of the items: all 64-bit numbers or all text."""
        values = [self.value(column) for column in self.items]
        kinds = {self._item_kind(column) for column in self.items}
        if "names" not in kinds:
            if labels != "names" or "reals" in kinds:
                values = [self._whole_item(column, value) for column, value in zip(self.items, values, strict=True)]
            return [f"CAST({value} AS VARCHAR)" for value in values] if labels == "names" else values
        if labels == "numbers":
            for column, value in zip(self.items, values, strict=True):
                wrong = f"NOT regexp_full_match({value}, '[0-9]+') OR TRY_CAST({value} AS BIGINT) IS NULL"
                bad = self.ask(f"min({value}) FILTER (WHERE {wrong})")[0]
                if bad is not None:
                    raise InputError(
                        f"{self.table.name}: item {bad!r} in column {column!r} is not a whole number "
                        'that fits 64 bits; labels="names" reads items as names.'
                    )
            return [f"CAST({value} AS BIGINT)" for value in values]
        return [f"CAST({value} AS VARCHAR)" for value in values]

    def _item_kind(self, column: str) -> str:
        if self.table.untyped is not None:
            return "numbers" if self.whole[column] else "names"
        return _item_kind(self.table, column, self.table.columns[column])

    def _whole_item(self, column: str, value: str) -> str:
        if self.table.untyped == "text":
            return f"CAST({value} AS BIGINT)"
        fits = f"TRY_CAST({value} AS BIGINT)"
        broken, large = self.ask(
            f"count(*) FILTER (WHERE {value} <> floor({value}))" if self.table.untyped is None else "0",
            f"count(*) FILTER (WHERE {value} IS NOT NULL AND {fits} IS NULL)",
        )
        if broken:
            raise InputError(
                f"{self.table.name}: column {column!r} has numbers that are not whole (in {broken:,} rows); "
                "items are whole numbers or names: cast the column to text."
            )
        if large:
            raise InputError(
                f"{self.table.name}: column {column!r} has numbers that do not fit 64 bits (in {large:,} rows); "
                'labels="names" (--labels names) reads items as names.'
            )
        return f"CAST({value} AS BIGINT)"


def _item_kind(table: Table, column: str, type_: str) -> Literal["numbers", "reals", "names"]:
    kind = _kind(type_)
    if kind is None:
        raise InputError(
            f"{table.name}: column {column!r} is of type {type_}; items are whole numbers or names: "
            "cast the column to text."
        )
    return kind


def group(
    work: Workspace,
    table: Table,
    *,
    person: str,
    items: tuple[str, ...],
    time: str | None,
    labels: Labels,
    nulls: Literal["error", "drop"],
    progress: Progress,
) -> Rows:
    """Group the rows of a table by person: one `items` column, or the two of a pair."""
    work.keep_order(False)
    if len(items) == 1:
        table = _unlisted(work, table, items[0])
    events = _Events(work, table, person, items, time)
    columns = [f"{events.person_value()} AS person"]
    columns += [f"{value} AS item{i}" for i, value in enumerate(events.item_values(labels))]
    if time is not None:
        columns.append(f"{events.time_value()} AS time")
    work.run(table.name, f"CREATE TABLE events AS SELECT {', '.join(columns)} FROM {table.sql}")  # noqa: S608
    _check_nulls(events, nulls)
    if progress is not None:
        progress(0.4)
    count = " + ".join(f"count(item{i})" for i in range(len(items)))
    work.run(
        table.name,
        "CREATE TABLE people AS SELECT person, held, row_number() OVER (ORDER BY person) - 1 AS row "  # noqa: S608
        f"FROM (SELECT person, {count} AS held FROM events GROUP BY person)",
    )
    union = " UNION ALL ".join(f"SELECT item{i} AS item FROM events" for i in range(len(items)))  # noqa: S608
    work.run(
        table.name,
        "CREATE TABLE items AS SELECT item, CAST(row_number() OVER (ORDER BY item) - 1 AS INTEGER) AS code "  # noqa: S608
        f"FROM (SELECT DISTINCT item FROM ({union}) WHERE item IS NOT NULL)",
    )
    if progress is not None:
        progress(0.6)
    offsets = _person_offsets(work, table.name)
    codes = _stream(work, table.name, offsets, len(items), time is not None, progress)
    pairs, repeated = (None, 0) if len(items) == 1 else _pairs(work, table.name, len(offsets) - 1)
    return Rows(
        offsets=offsets,
        codes=codes,
        vocabulary=_vocabulary(work, table),
        pairs=pairs,
        repeated_pairs=repeated,
    )


def _unlisted(work: Workspace, table: Table, item: str) -> Table:
    """Give a column of lists one row an item; an empty list leaves a row without one."""
    others = ", ".join(quoted(column) for column in table.columns if column != item)
    name = quoted(item)
    if table.untyped == "json":
        kinds = work.row(
            table.name,
            f"SELECT list(DISTINCT json_type({name})) FILTER ({name} IS NOT NULL) FROM {table.sql}",  # noqa: S608
        )[0]
        strange = set(kinds or []) & {"ARRAY", "OBJECT", "BOOLEAN", "DOUBLE"}
        if strange == {"ARRAY"} and set(kinds) <= {"ARRAY", "NULL"}:
            lists = f"CASE WHEN json_array_length({name}) > 0 THEN CAST({name} AS JSON[]) ELSE [NULL] END"
            sql = f"(SELECT {others}, unnest({lists}) AS {name} FROM {table.sql})"  # noqa: S608
            return _unlisted(work, replace(table, sql=sql), item)
        if strange:
            raise InputError(
                f"{table.name}: {item!r} is {' or '.join(sorted(kind.lower() for kind in strange))} in some records; "
                "items are whole numbers or names (text), or lists of these."
            )
        return table
    if not is_list(table, item):
        return table
    inner = _LIST.sub("", table.columns[item])
    lists = f"CASE WHEN len({name}) > 0 THEN CAST({name} AS {inner}[]) ELSE [NULL] END"
    sql = f"(SELECT {others}, unnest({lists}) AS {name} FROM {table.sql})"  # noqa: S608
    return replace(table, sql=sql, columns={**table.columns, item: inner})


def _check_nulls(events: _Events, nulls: Literal["error", "drop"]) -> None:
    name = events.table.name
    late = "time IS NULL AND item0 IS NOT NULL" if events.time is not None else "false"
    total, persons, times = events.work.row(
        name,
        "SELECT count(*), count(*) FILTER (person IS NULL), "  # noqa: S608
        f"count(*) FILTER (person IS NOT NULL AND {late}) FROM events",
    )
    if not total:
        raise InputError(f"{name} has no rows.")
    for missing, what, column in ((persons, "person", events.person), (times, "time", events.time)):
        if missing and nulls == "error":
            raise InputError(
                f"{name}: {missing:,} of {total:,} rows have no {what} (column {column!r}); "
                'nulls="drop" (--nulls drop) leaves them out.'
            )
    if persons or times:
        events.work.run(name, f"DELETE FROM events WHERE person IS NULL OR ({late})")  # noqa: S608
        log.info("%s: left out %s rows without a person or a time.", name, f"{persons + times:,}")


def _person_offsets(work: Workspace, name: str) -> Offsets:
    offsets = np.zeros(work.row(name, "SELECT count(*) FROM people")[0] + 1, np.int64)
    place = 1
    for batch in work.batches(name, "SELECT held FROM people ORDER BY row"):
        offsets[place : place + len(batch)] = as_numpy(batch.column(0))
        place += len(batch)
    return np.cumsum(offsets, out=offsets)


def _stream(work: Workspace, name: str, offsets: Offsets, columns: int, ordered: bool, progress: Progress) -> Codes:
    """Fill the rows with the codes of the events."""
    codes = np.empty(offsets[-1], np.int32)
    cursor = offsets.copy()
    done = 0
    for column in range(columns):
        sql = (
            "SELECT people.row AS row, items.code AS code FROM events JOIN people USING (person) "  # noqa: S608
            f"JOIN items ON events.item{column} = items.item"
        )
        # Events of the same moment are ordered by item, so that the order of the source does not matter.
        for batch in work.batches(name, f"{sql} ORDER BY row, time, code" if ordered else sql):
            scatter(as_numpy(batch.column(0)), as_numpy(batch.column(1)), cursor, codes)
            done += len(batch)
            if progress is not None:
                progress(0.6 + 0.4 * done / len(codes))
    return codes


def _pairs(work: Workspace, name: str, people: int) -> tuple[Pairs, int]:
    given = work.row(name, "SELECT count(*) FROM events WHERE item0 IS NOT NULL AND item1 IS NOT NULL")[0]
    sql = (
        "SELECT DISTINCT people.row AS row, a.code AS first, b.code AS second FROM events "
        "JOIN people USING (person) JOIN items a ON events.item0 = a.item JOIN items b ON events.item1 = b.item "
        "ORDER BY row, first, second"
    )
    batches = list(work.batches(name, sql))
    rows, first, second = (_joined([as_numpy(batch.column(i)) for batch in batches]) for i in range(3))
    offsets = np.zeros(people + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=people), out=offsets[1:])
    return Pairs(offsets, first.astype(np.int32), second.astype(np.int32)), given - len(rows)


def _joined(blocks: list[NDArray[Any]]) -> NDArray[np.int64]:
    return np.concatenate([np.empty(0, np.int64), *blocks])


def _vocabulary(work: Workspace, table: Table) -> Vocabulary:
    import pyarrow as pa
    import pyarrow.compute as pc

    batches = list(work.batches(table.name, "SELECT item FROM items ORDER BY code"))
    if not sum(map(len, batches)):
        return Vocabulary([])
    labels = pa.chunked_array([batch.column(0) for batch in batches])
    text = not pa.types.is_integer(labels.type)
    if (
        text
        and table.untyped == "text"
        and pc.any(pc.match_substring_regex(labels, r"[\x00-\x08\x0e-\x1f\x7f]")).as_py()
    ):
        raise InputError(f"{table.name} is not text: some items have control characters; a CSV file is UTF-8 text.")
    return Vocabulary(labels.cast(pa.large_string() if text else pa.int64()).combine_chunks())


def lists(work: Workspace, table: Table, column: str, labels: Labels) -> Rows:
    """Read a column of lists, one basket a row, in the order of the table."""
    import pyarrow as pa
    import pyarrow.compute as pc

    inner = _LIST.sub("", table.columns[column])
    if _LIST.search(inner):
        raise InputError(f"{table.name}: column {column!r} has lists of lists; a basket is one list of items.")
    kind = _item_kind(table, column, inner)
    type_ = "VARCHAR" if kind == "names" else "DOUBLE" if kind == "reals" else "BIGINT"
    collector = Collector(table.name)
    people = 0
    sql = f"SELECT CAST({quoted(column)} AS {type_}[]) FROM {table.sql}"  # noqa: S608
    for batch in work.batches(table.name, sql):
        rows = batch.column(0)
        people += len(rows)
        sizes = as_numpy(pc.list_value_length(rows).fill_null(0)).astype(np.int64)
        values = rows.flatten()
        if kind == "reals":
            values = _whole(table, column, values)
        if values.null_count:
            present = as_numpy(values.is_valid().cast(pa.uint8())) == 1
            owners = np.repeat(np.arange(len(sizes)), sizes)[present]
            sizes = np.bincount(owners, minlength=len(sizes))
            values = values.drop_null()
        if pa.types.is_integer(values.type):
            collector.add_numbers(sizes, as_numpy(values))
        else:
            collector.add_names(sizes, values)
    if not people:
        raise InputError(f"{table.name} has no rows.")
    return collector.finish(labels)


def _whole(table: Table, column: str, values: Any) -> Any:
    import pyarrow as pa

    try:
        return values.cast(pa.int64())
    except pa.ArrowInvalid:
        raise InputError(
            f"{table.name}: column {column!r} has numbers that are not whole; items are whole numbers or names: "
            "cast the column to text."
        ) from None


def one_hot(name: str, reader: Any, labels: Labels | Sequence[Item]) -> Rows:
    """Read a table whose columns are items: true or 1 where a row's person holds the item."""
    import pyarrow as pa

    columns = [column for column in reader.schema.names if column not in _index(reader.schema)]
    for column in columns:
        type_ = reader.schema.field(column).type
        if not (pa.types.is_boolean(type_) or pa.types.is_integer(type_) or pa.types.is_floating(type_)):
            raise InputError(f"{name}: column {column!r} is of type {type_}; a one-hot column is true/false or 0/1.")
    collector = Collector(name)
    for batch in reader:
        rows: list[NDArray[np.int64]] = []
        for column in columns:
            given = batch.column(column)
            values = np.nan_to_num(np.asarray(given.fill_null(False if pa.types.is_boolean(given.type) else 0)))
            rows.append(np.flatnonzero(values))
            if np.any(values[rows[-1]] != 1):
                raise InputError(f"{name}: column {column!r} has values other than 0 and 1; it is not one-hot.")
        held = np.concatenate([np.empty(0, np.int64), *rows])
        items = np.repeat(np.arange(len(columns)), [len(row) for row in rows])
        collector.add_numbers(np.bincount(held, minlength=len(batch)), items[np.argsort(held, kind="stable")])
    return _renamed(name, collector.finish(None), columns, labels)


def _renamed(name: str, rows: Rows, columns: list[str], labels: Labels | Sequence[Item]) -> Rows:
    """Give numbered columns their names; names that are all numbers are numbers, as in a text file."""
    import pyarrow as pa

    if labels is not None and not isinstance(labels, str):
        if len(labels) != len(columns):
            raise MisuseError(f"labels has {len(labels):,} names, but the table has {len(columns):,} columns.")
        found = label_array(labels).take(rows.vocabulary.labels)
        kind: Labels = None
    else:
        found = pa.array(columns, pa.large_string()).take(rows.vocabulary.labels)
        plain = parse_labels(found, plain=True)[0] is not None
        kind = cast(Labels, labels) or ("numbers" if plain else "names")
    vocabulary, table = sort_labels(found, kind, name)
    codes = np.empty_like(rows.codes)
    translate(rows.codes, table, codes)
    return replace(rows, codes=codes, vocabulary=vocabulary)


def is_one_hot(schema: Any) -> bool:
    """Whether all columns are true/false."""
    import pyarrow as pa

    index = _index(schema)
    types = [field.type for field in schema if field.name not in index]
    return bool(types) and all(map(pa.types.is_boolean, types))


def _index(schema: Any) -> set[str]:
    """Return the columns that are a pandas frame's index."""
    described = schema.pandas_metadata or {}
    return {column for column in described.get("index_columns", []) if isinstance(column, str)}
