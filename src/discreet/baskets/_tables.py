"""Rows of a table: grouped by person, or one row per list.

1. DuckDB numbers the people and the items in order, and counts the events of each person.
2. Events are read in any order, as a pair of numbers, and a kernel writes each item into the row of its person.

So events are never sorted, except events with a time, which DuckDB sorts on disk if memory is short.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..errors import EmptyDataError, InputError
from ..heavy import pa, pc
from ..kernels import scatter
from ..wording import number_of
from ._arrow import as_numpy
from ._build import Collector, Labels, Rows, log
from ._columns import Column, ColumnChecks, Table
from ._core import Codes, Offsets, Pairs, Segments, Vocabulary, starts
from ._databases import Workspace
from ._events import (
    Events,
    cast_to_list,
    unnest_lists,
)
from ._streams import Progress

_CONTROL = r"[\x00-\x08\x0e-\x1f\x7f]"


def group_rows(
    work: Workspace,
    table: Table,
    *,
    person: Column,
    items: tuple[Column, ...],
    basket: Column | None,
    time: Column | None,
    by: Column | None,
    labels: Labels,
    nulls: Literal["error", "drop"],
    progress: Progress,
) -> Rows:
    """Return the rows of a table grouped by person, or by person and basket.

    `items` is one column, or the two columns of a pair and possibly a third column of further items.
    """
    work.keep_order(False)
    if len(items) == 1:
        table, item = unnest_lists(work, table, items[0])
        items = (item,)
    events = Events(work, table, items, person, time, basket)
    columns = [f"{events.person_value(person)} AS person"]
    columns += [f"{value} AS item{i}" for i, value in enumerate(events.item_values(labels))]
    group_columns = "person"
    if basket is not None:
        columns.append(f"{events.basket_value(basket)} AS basket")
        group_columns = "person, basket"
    if time is not None:
        columns.append(f"{events.time_value(time)} AS time")
    if by is not None:
        columns.append(f"{Events(work, table, (by,)).item_values(None)[0]} AS segment")
    work.run(table.name, f"CREATE TABLE events AS SELECT {', '.join(columns)} FROM {table.sql}")  # noqa: S608
    _check_nulls(events, nulls)
    if progress is not None:
        progress(0.4)
    count = " + ".join(f"count(item{i})" for i in range(len(items)))
    segment = ", min(segment) AS segment, max(segment) AS other" if by is not None else ""
    # Rows are numbered by person first, so the baskets of a person are neighbours.
    work.run(
        table.name,
        f"CREATE TABLE people AS SELECT *, row_number() OVER (ORDER BY {group_columns}) - 1 AS row "  # noqa: S608
        f"FROM (SELECT {group_columns}, {count} AS held{segment} FROM events GROUP BY {group_columns})",
    )
    # The code of an item is its position among all sorted items.
    union = " UNION ALL ".join(f"SELECT item{i} AS item FROM events" for i in range(len(items)))  # noqa: S608
    work.run(
        table.name,
        "CREATE TABLE items AS SELECT item, CAST(row_number() OVER (ORDER BY item) - 1 AS INTEGER) AS code "  # noqa: S608
        f"FROM (SELECT DISTINCT item FROM ({union}) WHERE item IS NOT NULL)",
    )
    # Binary junk parses as CSV, but has control characters.
    if table.untyped == "text":
        for name, column, sources in (("people", "person", (person,)), ("items", "item", items)):
            if not all(events.is_whole[source] for source in sources):
                _check_text(work, table.name, name, column)
    _check_one_notation(work, table.name, person)
    if progress is not None:
        progress(0.6)
    offsets = _read_offsets(work, table.name, time is not None)
    codes, moments = _read_codes(work, table.name, offsets, len(items), time is not None, progress, group_columns)
    pairs, repeated = (None, 0) if len(items) == 1 else _read_pairs(work, table.name, len(offsets) - 1)
    owners = None
    if basket is not None:
        # Baskets of a person are neighbours.
        basket_counts = "SELECT count(*) FROM people GROUP BY person ORDER BY min(row)"
        owners = starts(_read_column(work, table.name, basket_counts, np.int64))
    return Rows(
        offsets=offsets,
        codes=codes,
        vocabulary=_read_vocabulary(work, table.name),
        moments=moments,
        pairs=pairs,
        repeated_pairs=repeated,
        segments=None if by is None else _read_segments(work, table.name, by.name),
        owners=owners,
    )


def _read_segments(work: Workspace, name: str, column: str) -> Segments:
    """Return the segment of each person, after a check that each person has exactly one."""
    several_segments = "SELECT person FROM people GROUP BY person HAVING min(segment) <> max(other)"
    if work.row(name, f"SELECT count(*) FROM people WHERE segment IS NULL OR person IN ({several_segments})")[0]:  # noqa: S608
        raise ColumnChecks(name, column).build_segment_error()
    work.run(
        name,
        "CREATE TABLE segments AS "
        "SELECT segment, CAST(row_number() OVER (ORDER BY segment) - 1 AS INTEGER) AS code "
        "FROM (SELECT DISTINCT segment FROM people)",
    )
    sql = "SELECT code FROM people JOIN segments USING (segment) ORDER BY row"
    codes = _read_column(work, name, sql, np.int32)
    return Segments(column, codes, _read_vocabulary(work, name, "SELECT segment FROM segments ORDER BY code"))


def _check_nulls(events: Events, nulls: Literal["error", "drop"]) -> None:
    name = events.table.name
    without_time = "person IS NOT NULL AND time IS NULL AND item0 IS NOT NULL" if events.time is not None else "false"
    without_basket = "person IS NOT NULL AND basket IS NULL" if events.basket is not None else "false"
    total, persons, baskets, times = events.work.row(
        name,
        f"SELECT count(*), count(*) FILTER (person IS NULL), count(*) FILTER ({without_basket}), "  # noqa: S608
        f"count(*) FILTER ({without_time}) FROM events",
    )
    if not total:
        raise EmptyDataError(f"{name} has no rows.")
    for missing, role, column in (
        (persons, "person", events.person),
        (baskets, "basket", events.basket),
        (times, "time", events.time),
    ):
        if missing and nulls == "error" and column is not None:
            rows = f"{missing:,} of {number_of(total, 'row')}"
            raise ColumnChecks(name, column.name).build_missing_error(role, missing, rows)
    # Rows are deleted before people are numbered.
    if persons:
        events.work.run(name, "DELETE FROM events WHERE person IS NULL")
    if baskets:
        events.work.run(name, "DELETE FROM events WHERE basket IS NULL")
    if times:
        # The event is dropped, but its person stays.
        events.work.run(name, f"UPDATE events SET item0 = NULL WHERE {without_time}")  # noqa: S608
    if missing := persons + baskets + times:
        missing_parts = "a person, a basket" if events.basket is not None else "a person"
        log.info("%s: left out %s without %s or a time.", name, number_of(missing, "row"), missing_parts)


def _check_text(work: Workspace, name: str, table: str, column: str) -> None:
    sql = f"SELECT count(*) FROM {table} WHERE regexp_matches(CAST({column} AS VARCHAR), '{_CONTROL}')"  # noqa: S608
    if work.row(name, sql)[0]:
        raise InputError(f"{name} is not text: some {table} have control characters; a CSV file is UTF-8 text.")


def _check_one_notation(work: Workspace, name: str, person: Column) -> None:
    """Check that no number is written as two person ids, as 7 and 7.0 in two files."""
    (type_,) = work.row(name, "SELECT any_value(typeof(person)) FROM people")
    if type_ != "VARCHAR":
        return
    decimals = (
        r"SELECT split_part(person, '.', 1) AS person FROM people WHERE regexp_full_match(person, '-?[0-9]+\.0*')"
    )
    if work.row(name, f"SELECT count(*) FROM people SEMI JOIN ({decimals}) USING (person)")[0]:  # noqa: S608
        raise ColumnChecks(name, person.name).build_notation_error()


def _read_offsets(work: Workspace, name: str, ordered: bool) -> Offsets:
    """Return the start of each person's row, after a check that all rows fit the limit of memory."""
    people, events = work.row(name, "SELECT count(*), sum(held) FROM people")
    # Two arrays of 64 bits per person, and one or two of 32 bits per event.
    work.memory_limit.check(name, 2 * 8 * people + 4 * (1 + ordered) * int(events or 0))
    offsets = np.zeros(people + 1, np.int64)
    start = 1
    for batch in work.batches(name, "SELECT held FROM people ORDER BY row"):
        offsets[start : start + len(batch)] = as_numpy(batch.column(0))
        start += len(batch)
    return np.cumsum(offsets, out=offsets)


def _read_codes(
    work: Workspace, name: str, offsets: Offsets, columns: int, ordered: bool, progress: Progress, group_columns: str
) -> tuple[Codes, Codes | None]:
    """Return the codes of all rows and, for events with a time, their moments as in `Sequences`."""
    codes = np.empty(offsets[-1], np.int32)
    moments = np.empty(offsets[-1] if ordered else 0, np.int32)
    # The next free position of each row.
    cursor = offsets.copy()
    rows_read = 0
    moment = ", CAST(dense_rank() OVER (PARTITION BY people.row ORDER BY time) AS INTEGER) AS moment" if ordered else ""
    for column in range(columns):
        sql = (
            f"SELECT people.row AS row, items.code AS code{moment} FROM events JOIN people USING ({group_columns}) "  # noqa: S608
            f"JOIN items ON events.item{column} = items.item"
        )
        # Simultaneous events are sorted by item, so the order of the source has no influence.
        for batch in work.batches(name, f"{sql} ORDER BY row, moment, code" if ordered else sql):
            scatter(as_numpy(batch.column(0)), as_numpy(batch.column(1)), cursor, codes)
            if ordered:  # sorted rows arrive in the order of `codes`
                moments[rows_read : rows_read + len(batch)] = as_numpy(batch.column(2))
            rows_read += len(batch)
            if progress is not None:
                progress(0.6 + 0.4 * rows_read / len(codes))
    # If all persons have as many moments as events, no events are simultaneous.
    moment_count = moments[offsets[1:][np.diff(offsets) > 0] - 1].sum(dtype=np.int64) if ordered else 0
    return codes, moments if moment_count < len(moments) else None


def _read_pairs(work: Workspace, name: str, people: int) -> tuple[Pairs, int]:
    pair_events = work.row(name, "SELECT count(*) FROM events WHERE item0 IS NOT NULL AND item1 IS NOT NULL")[0]
    sql = (
        "SELECT DISTINCT people.row AS row, a.code AS first, b.code AS second FROM events "
        "JOIN people USING (person) JOIN items a ON events.item0 = a.item JOIN items b ON events.item1 = b.item "
        "ORDER BY row, first, second"
    )
    batches = list(work.batches(name, sql))
    rows, first_items, second_items = (
        np.concatenate([np.empty(0, np.int64), *(as_numpy(batch.column(i)) for batch in batches)]) for i in range(3)
    )
    offsets = starts(np.bincount(rows, minlength=people))
    return Pairs(offsets, first_items.astype(np.int32), second_items.astype(np.int32)), pair_events - len(rows)


def _read_column(work: Workspace, name: str, sql: str, type_: type[np.integer[Any]]) -> NDArray[Any]:
    """Return the first column of the result of a query."""
    return np.concatenate([np.empty(0, type_), *(as_numpy(batch.column(0)) for batch in work.batches(name, sql))])


def _read_vocabulary(work: Workspace, name: str, sql: str = "SELECT item FROM items ORDER BY code") -> Vocabulary:
    # Arrow cannot join zero chunks, so a vocabulary without labels is built by itself.
    batches = list(work.batches(name, sql))
    if not sum(map(len, batches)):
        return Vocabulary([])
    labels = pa.chunked_array([batch.column(0) for batch in batches])
    numeric = pa.types.is_integer(labels.type)
    return Vocabulary(labels.cast(pa.int64() if numeric else pa.large_string()).combine_chunks())


def read_lists(work: Workspace, table: Table, column: Column, labels: Labels) -> Rows:
    """Return the baskets of a column of lists, one per row, in the order of the table."""
    # The type and range of the items are checked on the unnested table, which has one item per row.
    single, item = unnest_lists(work, table, column)
    value = Events(work, single, (item,)).item_values(labels)[0]
    collector = Collector(table.name, work.memory_limit)
    people = 0
    sql = f"SELECT list_transform({cast_to_list(column)}, lambda {item.sql}: {value}) FROM {table.sql}"  # noqa: S608
    for batch in work.batches(table.name, sql):
        rows = batch.column(0)
        people += len(rows)
        sizes = as_numpy(pc.list_value_length(rows).fill_null(0)).astype(np.int64)
        values = rows.flatten()
        # A null in a list is no item: the size of its row shrinks.
        if values.null_count:
            is_valid = as_numpy(values.is_valid().cast(pa.uint8())) == 1
            owners = np.repeat(np.arange(len(sizes)), sizes)[is_valid]
            sizes = np.bincount(owners, minlength=len(sizes))
            values = values.drop_null()
        if pa.types.is_integer(values.type):
            collector.add_numbers(sizes, as_numpy(values))
        else:
            collector.add_names(sizes, values)
    if not people:
        raise EmptyDataError(f"{table.name} has no rows.")
    return collector.build_rows(None)
