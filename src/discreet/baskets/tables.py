"""Tables become rows: grouped by person out of core, taken as lists, or read as one-hot columns.

Grouping never sorts the events. DuckDB numbers the people and the items in order and counts each person's events;
then the events stream through in any order, as two numbers each, and a kernel drops every item into its person's
row. Only events with a time are sorted, and that by DuckDB, on disk if need be.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, NobodyError, told
from ..kernels.rows import scatter, translate
from .allowance import Allowance
from .arrow import as_numpy
from .build import Collector, Labels, Rows, log, mixture, parse_labels, shown, sort_labels
from .core import Codes, Item, Offsets, Pairs, Segments, Vocabulary
from .databases import Column, Table, Workspace, quoted
from .memory import column_labels
from .streams import Progress

_LIST = re.compile(r"\[\d*\]$")
_INTEGERS = re.compile(r"U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|\"NULL\"")
_REALS = re.compile(r"FLOAT|DOUBLE|DECIMAL\(.*\)")
_NAMES = re.compile(r"VARCHAR|ENUM\(.*\)", re.DOTALL)
_UNLISTED = "item of a list"  # what SQL calls the items of lists
_JSON_NAMES = {
    "ARRAY": "a list",
    "BIGINT": "a number",
    "BOOLEAN": "true or false",
    "DOUBLE": "a fraction",
    "LARGE": "a number",
    "OBJECT": "an object",
    "VARCHAR": "text",
}
# Whole numbers, and those over 64 bits: DuckDB calls the latter fractions, but keeps their digits.
_JSON_INTEGERS = {"BIGINT", "LARGE"}
# From here on, floating point has the same number for several whole ones.
_BLURRED = {"FLOAT": 1 << 24, "DOUBLE": 1 << 53}
_CONTROL = r"[\x00-\x08\x0e-\x1f\x7f]"


def holds_lists(column: Column) -> bool:
    """Whether a column holds lists."""
    return _LIST.search(column.type) is not None


def _kind(type_: str) -> Literal["numbers", "reals", "names"] | None:
    if _INTEGERS.fullmatch(type_):
        return "numbers"
    if _REALS.fullmatch(type_):
        return "reals"
    return "names" if _NAMES.fullmatch(type_) else None


def _rows(count: int) -> str:
    return f"{count:,} row{'' if count == 1 else 's'}"


@dataclass(frozen=True)
class _Events:
    """The table of events: how to select the person, the items and the time from it."""

    work: Workspace
    table: Table
    items: tuple[Column, ...]
    person: Column | None = None
    time: Column | None = None

    def value(self, column: Column) -> str:
        """Return the SQL of a column's value: null where there is none."""
        if self.table.untyped == "text":
            return f"nullif(trim({column.sql}, E' \\t'), '')"
        if self.table.untyped == "json":
            return f"({column.sql} ->> '$')"
        if column.type in ("FLOAT", "DOUBLE"):
            return f"CASE WHEN isnan({column.sql}) THEN NULL ELSE {column.sql} END"
        return column.sql

    def ask(self, *questions: str) -> tuple[Any, ...]:
        return self.work.row(self.table.name, f"SELECT {', '.join(questions)} FROM {self.table.sql}")  # noqa: S608

    @cached_property
    def columns(self) -> list[Column]:
        return [column for column in (self.person, *self.items, self.time) if column is not None]

    @cached_property
    def json_kinds(self) -> dict[Column, set[str]]:
        """Say of each column of JSON which types its values have, in one pass over the file."""
        answers = self.ask(*(f"list(DISTINCT {_json_kind(column.sql)})" for column in self.columns))
        return {
            column: {kind for kind in answer or () if kind not in (None, "NULL")}
            for column, answer in zip(self.columns, answers, strict=True)
        }

    @cached_property
    def whole(self) -> dict[Column, bool]:
        """Say of each column of an untyped table whether it has whole numbers alone, in one pass over the file."""
        if self.table.untyped is None:
            return dict.fromkeys(self.columns, False)
        if self.table.untyped == "json":
            return {column: kinds <= _JSON_INTEGERS for column, kinds in self.json_kinds.items()}
        answers = self.ask(*map(self._whole, self.columns))
        return {column: bool(answer) for column, answer in zip(self.columns, answers, strict=True)}

    def _whole(self, column: Column) -> str:
        """Return the question whether a column of text has whole numbers alone."""
        value = self.value(column)
        same = f"coalesce(TRY_CAST({value} AS BIGINT)::VARCHAR = {value}, false)"
        if column in self.items:
            same += f" AND NOT starts_with({value}, '-')"
        return f"bool_and({value} IS NULL OR ({same}))"

    def _number(self, column: Column) -> str:
        """Return the SQL of a value known to be a whole number or none; casting text takes blanks off by itself."""
        if self.table.untyped == "text":
            # A bare column would have its type changed in the CSV reader, which does not try but fails.
            return f"TRY_CAST(nullif({column.sql}, '') AS BIGINT)"
        return f"CAST({self.value(column)} AS BIGINT)"

    def person_value(self, person: Column) -> str:
        """Return the SQL of the person: JSON must be all numbers or all text, so that 1 and "1" do not meet."""
        value = self.value(person)
        kind = person.type
        if self.table.untyped == "json":
            kinds = self.json_kinds[person]
            numbers = kinds & {*_JSON_INTEGERS, "DOUBLE"}
            if kinds - numbers - {"VARCHAR"} or (numbers and "VARCHAR" in kinds):
                raise InputError(
                    f"{self.table.name}: {person.name!r} is {_listed(kinds)}, by record; "
                    "people are all numbers or all names (text)."
                )
            kind = "DOUBLE" if "DOUBLE" in kinds else ""
            if "LARGE" in kinds and kind != "DOUBLE":
                return value
        if kind in _BLURRED:
            number = f"CAST({value} AS {kind})"
            blurred = f"count(*) FILTER (WHERE {number} <> floor({number}) OR abs({number}) >= {_BLURRED[kind]})"
            if rows := self.ask(blurred)[0]:
                raise InputError(
                    told(
                        "{table}: column {column!r} ({person=}) is floating point, and not a whole number below "
                        "{largest:,} in {rows}: people might be taken for one another. Keep it as text, or as whole "
                        "numbers, where it comes from.",
                        table=self.table.name,
                        column=person.name,
                        largest=_BLURRED[kind],
                        rows=_rows(rows),
                    )
                )
            return f"CAST({number} AS BIGINT)"
        return self._number(person) if self.whole[person] else value

    def time_value(self, time: Column) -> str:
        """Return the SQL of the time: text is a number or an ISO date and time."""
        value = self.value(time)
        if self.table.untyped is None and _kind(time.type) != "names":
            return value
        if self.whole[time]:
            return self._number(time)
        total, reals, times = self.ask(
            f"count({value})", f"count(TRY_CAST({value} AS DOUBLE))", f"count(TRY_CAST({value} AS TIMESTAMPTZ))"
        )
        if reals == total:
            return f"CAST({value} AS DOUBLE)"
        if times == total:
            return f"CAST({value} AS TIMESTAMPTZ)"
        raise InputError(
            told(
                "{table}: column {column!r} ({time=}) has values that are no time (in {rows}); write numbers, or "
                "dates and times as 2026-03-31 17:05:00.",
                table=self.table.name,
                column=time.name,
                rows=_rows(total - max(reals, times)),
            )
        )

    def item_values(self, labels: Labels) -> list[str]:
        """Return the SQL of the items: all 64-bit numbers or all text."""
        values = [self.value(column) for column in self.items]
        kinds = {self._item_kind(column) for column in self.items}
        if self.table.untyped == "json" and labels is None:
            found = set().union(*(self.json_kinds[column] for column in self.items))
            if "VARCHAR" in found and found & _JSON_INTEGERS:
                raise mixture(self.table.name)
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
                        told(
                            "{table}: item {bad} in column {column!r} is not a whole number that fits 64 bits; "
                            '{labels="names"} reads items as names.',
                            table=self.table.name,
                            bad=shown(bad),
                            column=column.name,
                        )
                    )
            return [f"CAST({value} AS BIGINT)" for value in values]
        return [f"CAST({value} AS VARCHAR)" for value in values]

    def _item_kind(self, column: Column) -> Literal["numbers", "reals", "names"]:
        if self.table.untyped == "json":
            strange = self.json_kinds[column] - {*_JSON_INTEGERS, "VARCHAR"}
            if strange:
                lists = "" if len(self.items) > 1 else ", or lists of these in all records"
                raise InputError(
                    f"{self.table.name}: {column.name!r} is {_listed(strange)} in some records; "
                    f"items are whole numbers or names (text){lists}."
                )
        if self.table.untyped is not None:
            return "numbers" if self.whole[column] else "names"
        kind = _kind(column.type)
        if kind is None:
            what = "lists of lists" if holds_lists(column) else f"of type {column.type}"
            raise InputError(
                f"{self.table.name}: column {column.name!r} is {what}; items are whole numbers or names: "
                "cast the column to text."
            )
        return kind

    def _whole_item(self, column: Column, value: str) -> str:
        if self.table.untyped == "text":
            return self._number(column)
        fits = f"TRY_CAST({value} AS BIGINT)"
        if column.type in _BLURRED:
            fits = f"CASE WHEN abs({value}) < {_BLURRED[column.type]} THEN {fits} END"
        broken, large = self.ask(
            f"count(*) FILTER (WHERE {value} <> floor({value}))" if _kind(column.type) == "reals" else "0",
            f"count(*) FILTER (WHERE {value} IS NOT NULL AND {fits} IS NULL)",
        )
        if broken:
            raise InputError(
                f"{self.table.name}: column {column.name!r} has numbers that are not whole (in {_rows(broken)}); "
                "items are whole numbers or names: cast the column to text."
            )
        if large:
            raise InputError(
                told(
                    "{table}: column {column!r} has numbers that do not fit 64 bits (in {rows}); "
                    '{labels="names"} reads items as names.',
                    table=self.table.name,
                    column=column.name,
                    rows=_rows(large),
                )
            )
        return self._number(column)


def _json_kind(value: str) -> str:
    """Return the SQL of the type of a JSON value, where whole numbers are told apart by whether they fit 64 bits."""
    text = f"CAST({value} AS VARCHAR)"
    whole = f"CASE WHEN TRY_CAST({text} AS BIGINT) IS NULL THEN 'LARGE' ELSE 'BIGINT' END"
    return (
        f"CASE json_type({value}) WHEN 'BIGINT' THEN {whole} WHEN 'UBIGINT' THEN {whole} "
        f"WHEN 'DOUBLE' THEN CASE WHEN regexp_full_match({text}, '-?[0-9]+') THEN 'LARGE' ELSE 'DOUBLE' END "
        f"ELSE json_type({value}) END"
    )


def _listed(kinds: set[str]) -> str:
    """Return the names people know JSON's types by."""
    return " or ".join(sorted({_JSON_NAMES.get(kind, kind.lower()) for kind in kinds}))


def group(
    work: Workspace,
    table: Table,
    *,
    person: Column,
    items: tuple[Column, ...],
    time: Column | None,
    by: Column | None,
    labels: Labels,
    nulls: Literal["error", "drop"],
    progress: Progress,
) -> Rows:
    """Group the rows of a table by person: one `items` column, or the two of a pair, and perhaps one after them."""
    work.keep_order(False)
    if len(items) == 1:
        table, item = _unlisted(work, table, items[0])
        items = (item,)
    events = _Events(work, table, items, person, time)
    columns = [f"{events.person_value(person)} AS person"]
    columns += [f"{value} AS item{i}" for i, value in enumerate(events.item_values(labels))]
    if time is not None:
        columns.append(f"{events.time_value(time)} AS time")
    if by is not None:
        columns.append(f"{_Events(work, table, (by,)).item_values(None)[0]} AS segment")
    work.run(table.name, f"CREATE TABLE events AS SELECT {', '.join(columns)} FROM {table.sql}")  # noqa: S608
    _check_nulls(events, nulls)
    if progress is not None:
        progress(0.4)
    count = " + ".join(f"count(item{i})" for i in range(len(items)))
    segment = ", min(segment) AS segment, max(segment) AS other" if by is not None else ""
    work.run(
        table.name,
        "CREATE TABLE people AS SELECT *, row_number() OVER (ORDER BY person) - 1 AS row "  # noqa: S608
        f"FROM (SELECT person, {count} AS held{segment} FROM events GROUP BY person)",
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
    codes, moments = _stream(work, table.name, offsets, len(items), time is not None, progress)
    pairs, repeated = (None, 0) if len(items) == 1 else _pairs(work, table.name, len(offsets) - 1)
    return Rows(
        offsets=offsets,
        codes=codes,
        vocabulary=_vocabulary(work, table.name),
        moments=moments,
        pairs=pairs,
        repeated_pairs=repeated,
        segments=None if by is None else _segments(work, table.name, by.name),
    )


def _segments(work: Workspace, name: str, column: str) -> Segments:
    """Return the segment of each person, who must have one and no more."""
    if work.row(name, "SELECT count(*) FROM people WHERE segment IS NULL OR segment <> other")[0]:
        raise InputError(
            told(
                "{name}: everyone must have one value in the column {column!r} ({by=}), not none or several.",
                name=name,
                column=column,
            )
        )
    found = "SELECT segment, CAST(row_number() OVER (ORDER BY segment) - 1 AS INTEGER) AS code FROM (%s)"
    distinct = "SELECT DISTINCT segment FROM people"
    work.run(name, f"CREATE TABLE segments AS {found % distinct}")
    batches = work.batches(name, "SELECT code FROM people JOIN segments USING (segment) ORDER BY row")
    codes = np.concatenate([np.empty(0, np.int32), *(as_numpy(batch.column(0)) for batch in batches)])
    return Segments(column, codes, _vocabulary(work, name, "SELECT segment FROM segments ORDER BY code"))


def _unlisted(work: Workspace, table: Table, item: Column) -> tuple[Table, Column]:
    """Give a column of lists one row per item; an empty list leaves a row without one."""
    if table.untyped == "json":
        kinds = _Events(work, table, (item,)).json_kinds[item]
        if kinds != {"ARRAY"}:
            return table, item
        filled, lists, inner = f"json_array_length({item.sql})", f"CAST({item.sql} AS JSON[])", item.type
    elif holds_lists(item):
        filled, lists, inner = f"len({item.sql})", _as_list(item), _LIST.sub("", item.type)
    else:
        return table, item
    taken = {column.sql.lower() for column in table.columns}
    name = next(name for i in count() if (name := quoted(f"{_UNLISTED}{i or ''}")) not in taken)
    value = f"unnest(CASE WHEN {filled} > 0 THEN {lists} ELSE [NULL] END) AS {name}"
    sql = f"(SELECT *, {value} FROM {table.sql})"  # noqa: S608
    return replace(table, sql=sql), replace(item, sql=name, type=inner)


def _as_list(column: Column) -> str:
    """Return the SQL of a column of lists; those of a fixed size are a type of their own."""
    return column.sql if column.type.endswith("[]") else f"CAST({column.sql} AS {_LIST.sub('[]', column.type)})"


def _check_nulls(events: _Events, nulls: Literal["error", "drop"]) -> None:
    name = events.table.name
    late = "person IS NOT NULL AND time IS NULL AND item0 IS NOT NULL" if events.time is not None else "false"
    total, persons, times = events.work.row(
        name,
        f"SELECT count(*), count(*) FILTER (person IS NULL), count(*) FILTER ({late}) FROM events",  # noqa: S608
    )
    if not total:
        raise NobodyError(f"{name} has no rows.")
    for missing, what, column in ((persons, "person", events.person), (times, "time", events.time)):
        if missing and nulls == "error" and column is not None:
            raise InputError(
                told(
                    '{name}: {missing:,} of {rows} {have} no {what} (column {column!r}); {nulls="drop"} leaves '
                    "{them} out.",
                    name=name,
                    missing=missing,
                    rows=_rows(total),
                    have="has" if missing == 1 else "have",
                    what=what,
                    column=column.name,
                    them="it" if missing == 1 else "them",
                )
            )
    if persons:
        events.work.run(name, "DELETE FROM events WHERE person IS NULL")
    if times:
        # The event is left out; the person who had it is there all the same.
        events.work.run(name, f"UPDATE events SET item0 = NULL WHERE {late}")  # noqa: S608
    if persons or times:
        log.info("%s: left out %s without a person or a time.", name, _rows(persons + times))


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
        raise InputError(
            told(
                "{name}: column {column!r} ({person=}) has the same number written in two ways, with a decimal point "
                "and without, as 7.0 and 7: one person would be taken for two. Write all of them alike.",
                name=name,
                column=person.name,
            )
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
    work: Workspace, name: str, offsets: Offsets, columns: int, ordered: bool, progress: Progress
) -> tuple[Codes, Codes | None]:
    """Fill the rows with the codes of the events; where they have a time, say which were at the same one."""
    codes = np.empty(offsets[-1], np.int32)
    moments = np.empty(offsets[-1] if ordered else 0, np.int32)
    cursor = offsets.copy()
    done = 0
    moment = ", CAST(dense_rank() OVER (PARTITION BY people.row ORDER BY time) AS INTEGER) AS moment" if ordered else ""
    for column in range(columns):
        sql = (
            f"SELECT people.row AS row, items.code AS code{moment} FROM events JOIN people USING (person) "  # noqa: S608
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
    unlisted, item = _unlisted(work, table, column)
    value = _Events(work, unlisted, (item,)).item_values(labels)[0]
    collector = Collector(table.name, work.allowed)
    people = 0
    sql = f"SELECT list_transform({_as_list(column)}, lambda {item.sql}: {value}) FROM {table.sql}"  # noqa: S608
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


def one_hot(name: str, reader: Any, allowed: Allowance, labels: Labels | Sequence[Item]) -> Rows:
    """Read a table whose columns are items: true or 1 where a row's person holds the item."""
    import pyarrow as pa

    index = _index(reader.schema)
    places = [place for place, column in enumerate(reader.schema.names) if column not in index]
    columns = [reader.schema.names[place] for place in places]
    for place, column in zip(places, columns, strict=True):
        type_ = _plain(reader.schema.field(place).type)
        if not (pa.types.is_boolean(type_) or pa.types.is_integer(type_) or pa.types.is_floating(type_)):
            raise InputError(f"{name}: column {column!r} is of type {type_}; a one-hot column is true/false or 0/1.")
    collector = Collector(name, allowed)
    for batch in reader:
        rows: list[NDArray[np.int64]] = []
        for place, column in zip(places, columns, strict=True):
            given = batch.column(place)
            try:
                given.validate(full=True)
            except pa.ArrowInvalid as error:
                raise InputError(f"{name}: column {column!r} is damaged: {error}.") from None
            given = given.dictionary_decode() if pa.types.is_dictionary(given.type) else given
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
        found = column_labels(labels, len(columns), "the table").take(rows.vocabulary.labels)
        kind: Labels = None
    else:
        column, count = max(Counter(columns).items(), key=lambda found: found[1], default=("", 0))
        if count > 1:
            raise InputError(f"{name} has {count} columns {column!r}; rename all but one.")
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
    types = [_plain(field.type) for field in schema if field.name not in index]
    return bool(types) and all(map(pa.types.is_boolean, types))


def _plain(type_: Any) -> Any:
    """Return the type of what is held: categories are of some type too."""
    import pyarrow as pa

    return type_.value_type if pa.types.is_dictionary(type_) else type_


def _index(schema: Any) -> set[str]:
    """Return the columns that are a pandas frame's index."""
    described = schema.pandas_metadata or {}
    return {column for column in described.get("index_columns", []) if isinstance(column, str)}
