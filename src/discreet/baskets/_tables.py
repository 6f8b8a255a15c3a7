"""Tables become rows: grouped by person out of core, or taken as lists.

Grouping never sorts the events. DuckDB numbers the people and the items in order and counts each person's events;
then the events stream through in any order, as two numbers each, and a kernel drops every item into its person's
row. Only events with a time are sorted, and that by DuckDB, on disk if need be.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, NobodyError
from ..kernels import scatter
from ..wording import number_of
from ._arrow import as_numpy
from ._build import Collector, Labels, Rows, log
from ._columns import Column, Table
from ._core import Codes, Offsets, Pairs, Segments, Vocabulary, starts
from ._databases import Workspace
from ._events import Events, as_list, unlisted
from ._streams import Progress

_CONTROL = r"[\x00-\x08\x0e-\x1f\x7f]"


def group(
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
    """Group the rows of a table by person, or by person and basket.

    There is one `items` column, or the two of a pair, and perhaps one after them.
    """
    work.keep_order(False)
    if len(items) == 1:
        table, item = unlisted(work, table, items[0])
        items = (item,)
    events = Events(work, table, items, person, time, basket)
    columns = [f"{events.person_value(person)} AS person"]
    columns += [f"{value} AS item{i}" for i, value in enumerate(events.item_values(labels))]
    whose = "person"
    if basket is not None:
        columns.append(f"{events.basket_value(basket)} AS basket")
        whose = "person, basket"
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
    work.run(
        table.name,
        f"CREATE TABLE people AS SELECT *, row_number() OVER (ORDER BY {whose}) - 1 AS row "  # noqa: S608
        f"FROM (SELECT {whose}, {count} AS held{segment} FROM events GROUP BY {whose})",
    )
    union = " UNION ALL ".join(f"SELECT item{i} AS item FROM events" for i in range(len(items)))  # noqa: S608
    work.run(
        table.name,
        "CREATE TABLE items AS SELECT item, CAST(row_number() OVER (ORDER BY item) - 1 AS INTEGER) AS code "  # noqa: S608
        f"FROM (SELECT DISTINCT item FROM ({union}) WHERE item IS NOT NULL)",
    )
    if table.untyped == "text":
        for place, column, sources in (("people", "person", (person,)), ("items", "item", items)):
            if not all(events.whole[source] for source in sources):
                _check_text(work, table.name, place, column)
    _check_written_alike(work, table.name, person)
    if progress is not None:
        progress(0.6)
    offsets = _person_offsets(work, table.name, time is not None)
    codes, moments = _stream(work, table.name, offsets, len(items), time is not None, progress, whose)
    pairs, repeated = (None, 0) if len(items) == 1 else _pairs(work, table.name, len(offsets) - 1)
    return Rows(
        offsets=offsets,
        codes=codes,
        vocabulary=_vocabulary(work, table.name),
        moments=moments,
        pairs=pairs,
        repeated_pairs=repeated,
        segments=None if by is None else _segments(work, table.name, by.name),
        owners=None if basket is None else _owners(work, table.name),
    )


def _owners(work: Workspace, name: str) -> Offsets:
    """Return where the baskets of each person begin: they lie together."""
    batches = work.batches(name, "SELECT count(*) FROM people GROUP BY person ORDER BY min(row)")
    return starts(np.concatenate([np.empty(0, np.int64), *(as_numpy(batch.column(0)) for batch in batches)]))


def _segments(work: Workspace, name: str, column: str) -> Segments:
    """Return the segment of each person, who must have one and no more."""
    several = "SELECT person FROM people GROUP BY person HAVING min(segment) <> max(other)"
    if work.row(name, f"SELECT count(*) FROM people WHERE segment IS NULL OR person IN ({several})")[0]:  # noqa: S608
        raise InputError.format(
            "{name}: everyone must have one value in the column {column!r} ({by=}), not none or several.",
            name=name,
            column=column,
        )
    found = "SELECT segment, CAST(row_number() OVER (ORDER BY segment) - 1 AS INTEGER) AS code FROM (%s)"
    distinct = "SELECT DISTINCT segment FROM people"
    work.run(name, f"CREATE TABLE segments AS {found % distinct}")
    batches = work.batches(name, "SELECT code FROM people JOIN segments USING (segment) ORDER BY row")
    codes = np.concatenate([np.empty(0, np.int32), *(as_numpy(batch.column(0)) for batch in batches)])
    return Segments(column, codes, _vocabulary(work, name, "SELECT segment FROM segments ORDER BY code"))


def _check_nulls(events: Events, nulls: Literal["error", "drop"]) -> None:
    name = events.table.name
    late = "person IS NOT NULL AND time IS NULL AND item0 IS NOT NULL" if events.time is not None else "false"
    loose = "person IS NOT NULL AND basket IS NULL" if events.basket is not None else "false"
    total, persons, baskets, times = events.work.row(
        name,
        f"SELECT count(*), count(*) FILTER (person IS NULL), count(*) FILTER ({loose}), "  # noqa: S608
        f"count(*) FILTER ({late}) FROM events",
    )
    if not total:
        raise NobodyError(f"{name} has no rows.")
    for missing, what, column in (
        (persons, "person", events.person),
        (baskets, "basket", events.basket),
        (times, "time", events.time),
    ):
        if missing and nulls == "error" and column is not None:
            raise InputError.format(
                '{name}: {missing:,} of {rows} {have} no {what} (column {column!r}); {nulls="drop"} leaves {them} out.',
                name=name,
                missing=missing,
                rows=number_of(total, "row"),
                have="has" if missing == 1 else "have",
                what=what,
                column=column.name,
                them="it" if missing == 1 else "them",
            )
    if persons:
        events.work.run(name, "DELETE FROM events WHERE person IS NULL")
    if baskets:
        events.work.run(name, "DELETE FROM events WHERE basket IS NULL")
    if times:
        # The event is left out; the person who had it is there all the same.
        events.work.run(name, f"UPDATE events SET item0 = NULL WHERE {late}")  # noqa: S608
    if missing := persons + baskets + times:
        needed = "a person, a basket" if events.basket is not None else "a person"
        log.info("%s: left out %s without %s or a time.", name, number_of(missing, "row"), needed)


def _check_text(work: Workspace, name: str, table: str, column: str) -> None:
    sql = f"SELECT count(*) FROM {table} WHERE regexp_matches(CAST({column} AS VARCHAR), '{_CONTROL}')"  # noqa: S608
    if work.row(name, sql)[0]:
        raise InputError(f"{name} is not text: some {table} have control characters; a CSV file is UTF-8 text.")


def _check_written_alike(work: Workspace, name: str, person: Column) -> None:
    """Refuse ids that are text and the same number written in two ways: one file has 7 and another 7.0."""
    (type_,) = work.row(name, "SELECT any_value(typeof(person)) FROM people")
    if type_ != "VARCHAR":
        return
    pointed = r"SELECT split_part(person, '.', 1) AS person FROM people WHERE regexp_full_match(person, '-?[0-9]+\.0*')"
    if work.row(name, f"SELECT count(*) FROM people SEMI JOIN ({pointed}) USING (person)")[0]:  # noqa: S608
        raise InputError.format(
            "{name}: column {column!r} ({person=}) has the same number written in two ways, with a decimal point "
            "and without, as 7.0 and 7: one person would be taken for two. Write all of them alike.",
            name=name,
            column=person.name,
        )


def _person_offsets(work: Workspace, name: str, ordered: bool) -> Offsets:
    """Return where each person's row begins, if all of them are within what is allowed."""
    people, held = work.row(name, "SELECT count(*), sum(held) FROM people")
    work.allowed.check(name, 2 * 8 * people + 4 * (1 + ordered) * int(held or 0))
    offsets = np.zeros(people + 1, np.int64)
    place = 1
    for batch in work.batches(name, "SELECT held FROM people ORDER BY row"):
        offsets[place : place + len(batch)] = as_numpy(batch.column(0))
        place += len(batch)
    return np.cumsum(offsets, out=offsets)


def _stream(
    work: Workspace, name: str, offsets: Offsets, columns: int, ordered: bool, progress: Progress, whose: str
) -> tuple[Codes, Codes | None]:
    """Fill the rows with the codes of the events; where they have a time, say which were at the same one."""
    codes = np.empty(offsets[-1], np.int32)
    moments = np.empty(offsets[-1] if ordered else 0, np.int32)
    cursor = offsets.copy()
    done = 0
    moment = ", CAST(dense_rank() OVER (PARTITION BY people.row ORDER BY time) AS INTEGER) AS moment" if ordered else ""
    for column in range(columns):
        sql = (
            f"SELECT people.row AS row, items.code AS code{moment} FROM events JOIN people USING ({whose}) "  # noqa: S608
            f"JOIN items ON events.item{column} = items.item"
        )
        # Events of the same moment are listed by item, so that the order of the source does not matter.
        for batch in work.batches(name, f"{sql} ORDER BY row, moment, code" if ordered else sql):
            scatter(as_numpy(batch.column(0)), as_numpy(batch.column(1)), cursor, codes)
            if ordered:  # rows come one after the other, as they lie
                moments[done : done + len(batch)] = as_numpy(batch.column(2))
            done += len(batch)
            if progress is not None:
                progress(0.6 + 0.4 * done / len(codes))
    # As many moments as events: nothing was at the same time as anything else.
    last = moments[offsets[1:][np.diff(offsets) > 0] - 1].sum(dtype=np.int64) if ordered else 0
    return codes, moments if last < len(moments) else None


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


def _vocabulary(work: Workspace, name: str, sql: str = "SELECT item FROM items ORDER BY code") -> Vocabulary:
    import pyarrow as pa

    batches = list(work.batches(name, sql))
    if not sum(map(len, batches)):
        return Vocabulary([])
    labels = pa.chunked_array([batch.column(0) for batch in batches])
    numeric = pa.types.is_integer(labels.type)
    return Vocabulary(labels.cast(pa.int64() if numeric else pa.large_string()).combine_chunks())


def lists(work: Workspace, table: Table, column: Column, labels: Labels) -> Rows:
    """Read a column of lists, one basket per row, in the order of the table."""
    import pyarrow as pa
    import pyarrow.compute as pc

    # What items are, and whether they fit, is asked of the items one by one, as if the lists were rows.
    single, item = unlisted(work, table, column)
    value = Events(work, single, (item,)).item_values(labels)[0]
    collector = Collector(table.name, work.allowed)
    people = 0
    sql = f"SELECT list_transform({as_list(column)}, lambda {item.sql}: {value}) FROM {table.sql}"  # noqa: S608
    for batch in work.batches(table.name, sql):
        rows = batch.column(0)
        people += len(rows)
        sizes = as_numpy(pc.list_value_length(rows).fill_null(0)).astype(np.int64)
        values = rows.flatten()
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
        raise NobodyError(f"{table.name} has no rows.")
    return collector.finish(None)
