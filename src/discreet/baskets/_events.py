"""SQL expressions for the person, the items and the time of a row, from columns of text, numbers or JSON.

The types of a column are checked on the whole table before rows are read: so the error for unfit values has the number
of their rows, and no conversion merges two people.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from typing import Any, Literal

from ..errors import InputError, build_message
from ..wording import number_of
from ._build import Labels
from ._columns import EXACT_FLOAT_LIMIT, INTEGER_TYPE, JSON_INTEGERS, Column, ColumnChecks, Table, quote_name
from ._databases import Workspace

_LIST = re.compile(r"\[\d*\]$")
# Types of DuckDB whose values may be items; reals are checked to be whole numbers.
_REALS = re.compile(r"FLOAT|DOUBLE|DECIMAL\(.*\)")
_NAMES = re.compile(r"VARCHAR|ENUM\(.*\)", re.DOTALL)
_UNNESTED = "item of a list"  # the SQL name of the column of unnested items


def is_list_column(column: Column) -> bool:
    """Return whether a column has values of a list type."""
    return _LIST.search(column.type) is not None


def _kind(type_: str) -> Literal["numbers", "reals", "names"] | None:
    if INTEGER_TYPE.fullmatch(type_) or type_ == '"NULL"':
        return "numbers"
    if _REALS.fullmatch(type_):
        return "reals"
    return "names" if _NAMES.fullmatch(type_) else None


@dataclass(frozen=True)
class Events:
    """The table of events, and the columns of the person, the items, the time and the basket."""

    work: Workspace
    table: Table
    items: tuple[Column, ...]
    person: Column | None = None
    time: Column | None = None
    basket: Column | None = None

    def value(self, column: Column) -> str:
        """Return the SQL of the value of a column: null for a missing value."""
        if self.table.untyped == "text":
            return f"nullif(trim({column.sql}, E' \\t'), '')"
        if self.table.untyped == "json":
            return f"({column.sql} ->> '$')"
        if column.type in ("FLOAT", "DOUBLE"):
            return f"CASE WHEN isnan({column.sql}) THEN NULL ELSE {column.sql} END"
        return column.sql

    def _checks(self, column: Column) -> ColumnChecks:
        return ColumnChecks(self.table.name, column.name)

    def query(self, *expressions: str) -> tuple[Any, ...]:
        """Return the values of aggregate expressions over the whole table, in one scan."""
        return self.work.row(self.table.name, f"SELECT {', '.join(expressions)} FROM {self.table.sql}")  # noqa: S608

    @cached_property
    def columns(self) -> list[Column]:
        """The columns of the person, the items and the time."""
        return [column for column in (self.person, *self.items, self.time) if column is not None]

    @cached_property
    def json_kinds(self) -> dict[Column, set[str]]:
        """The types of the values of each JSON column, in one scan of the file."""
        columns = [*self.columns, *([] if self.basket is None else [self.basket])]
        results = self.query(*(f"list(DISTINCT {_json_kind(column.sql)})" for column in columns))
        return {
            column: {kind for kind in result or () if kind not in (None, "NULL")}
            for column, result in zip(columns, results, strict=True)
        }

    @cached_property
    def is_whole(self) -> dict[Column, bool]:
        """Whether each column of an untyped table has only whole numbers, in one scan of the file."""
        if self.table.untyped is None:
            return dict.fromkeys(self.columns, False)
        if self.table.untyped == "json":
            return {column: kinds <= JSON_INTEGERS for column, kinds in self.json_kinds.items()}
        results = self.query(*map(self._check_whole, self.columns))
        return {column: bool(result) for column, result in zip(self.columns, results, strict=True)}

    def _check_whole(self, column: Column) -> str:
        """Return the SQL of whether a text column has only whole numbers in canonical notation."""
        value = self.value(column)
        is_canonical = f"coalesce(TRY_CAST({value} AS BIGINT)::VARCHAR = {value}, false)"
        if column in self.items:
            is_canonical += f" AND NOT starts_with({value}, '-')"
        return f"bool_and({value} IS NULL OR ({is_canonical}))"

    def _number(self, column: Column) -> str:
        """Return the SQL of a checked whole number, or null; casts of text strip blanks."""
        if self.table.untyped == "text":
            # A cast of a bare column changes its type in the CSV reader, which fails where TRY_CAST returns null.
            return f"TRY_CAST(nullif({column.sql}, '') AS BIGINT)"
        return f"CAST({self.value(column)} AS BIGINT)"

    def person_value(self, person: Column) -> str:
        """Return the SQL of the person. JSON must be all numbers or all text: 1 and "1" are two people."""
        value = self.value(person)
        kind = person.type
        if self.table.untyped == "json":
            kinds = self.json_kinds[person]
            self._checks(person).check_people(kinds)
            kind = "DOUBLE" if "DOUBLE" in kinds else ""
            if "LARGE" in kinds and kind != "DOUBLE":
                return value
        # A person id in floating point is exact only if it is whole and below the limit.
        if kind in EXACT_FLOAT_LIMIT:
            number = f"CAST({value} AS {kind})"
            blurred = (
                f"count(*) FILTER (WHERE {number} <> floor({number}) OR abs({number}) >= {EXACT_FLOAT_LIMIT[kind]})"
            )
            self._checks(person).check_floats(kind, self.query(blurred)[0])
            return f"CAST({number} AS BIGINT)"
        return self._number(person) if self.is_whole[person] else value

    def basket_value(self, basket: Column) -> str:
        """Return the SQL of the basket. JSON must be all text or all of other types: 1 and "1" are two baskets."""
        if self.table.untyped == "json":
            self._checks(basket).check_baskets(self.json_kinds[basket])
        return self.value(basket)

    def time_value(self, time: Column) -> str:
        """Return the SQL of the time; text must be numbers, or dates and times by ISO 8601."""
        value = self.value(time)
        if self.table.untyped is None and _kind(time.type) != "names":
            return value
        if self.is_whole[time]:
            return self._number(time)
        # All values must be of one kind: numbers have no order with times.
        total, reals, times = self.query(
            f"count({value})", f"count(TRY_CAST({value} AS DOUBLE))", f"count(TRY_CAST({value} AS TIMESTAMPTZ))"
        )
        if reals == total:
            return f"CAST({value} AS DOUBLE)"
        if times == total:
            return f"CAST({value} AS TIMESTAMPTZ)"
        raise self._checks(time).build_error(
            build_message(
                "({time=}) has values that are no time (in {rows}); write numbers, or dates and times as 2026-03-31 "
                "17:05:00.",
                rows=number_of(total - max(reals, times), "row"),
            )
        )

    def item_values(self, labels: Labels) -> list[str]:
        """Return the SQL of each item column: all 64-bit numbers or all text, as `labels` demands."""
        values = [self.value(column) for column in self.items]
        kinds = {self._item_kind(column) for column in self.items}
        # With the option `labels` all values are converted to one type.
        if self.table.untyped == "json" and labels is None:
            self._checks(self.items[0]).check_one_type(set().union(*map(self.json_kinds.__getitem__, self.items)))
        if "names" not in kinds:
            # Numbers are checked before they become names: 7.0 and 7 are one item.
            if labels != "names" or "reals" in kinds:
                values = [self._whole_item(column, value) for column, value in zip(self.items, values, strict=True)]
            return [f"CAST({value} AS VARCHAR)" for value in values] if labels == "names" else values
        if labels == "numbers":
            for column, value in zip(self.items, values, strict=True):
                is_unfit = f"NOT regexp_full_match({value}, '[0-9]+') OR TRY_CAST({value} AS BIGINT) IS NULL"
                unfit_rows = self.query(f"count({value}) FILTER (WHERE {is_unfit})")[0]
                if unfit_rows:
                    problem = build_message(
                        'has items that are not whole numbers that fit 64 bits (in {rows}); {labels="names"} reads '
                        "items as names.",
                        rows=number_of(unfit_rows, "row"),
                    )
                    raise self._checks(column).build_error(problem)
            return [f"CAST({value} AS BIGINT)" for value in values]
        return [f"CAST({value} AS VARCHAR)" for value in values]

    def _item_kind(self, column: Column) -> Literal["numbers", "reals", "names"]:
        if self.table.untyped == "json":
            self._checks(column).check_items(self.json_kinds[column], alone=len(self.items) == 1)
        if self.table.untyped is not None:
            return "numbers" if self.is_whole[column] else "names"
        kind = _kind(column.type)
        if kind is None:
            content = "lists of lists" if is_list_column(column) else f"of type {column.type}"
            raise self._checks(column).build_type_error(content)
        return kind

    def _whole_item(self, column: Column, value: str) -> str:
        if self.table.untyped == "text":
            return self._number(column)
        fits = f"TRY_CAST({value} AS BIGINT)"
        if column.type in EXACT_FLOAT_LIMIT:
            fits = f"CASE WHEN abs({value}) < {EXACT_FLOAT_LIMIT[column.type]} THEN {fits} END"
        fraction_count, large_count = self.query(
            f"count(*) FILTER (WHERE {value} <> floor({value}))" if _kind(column.type) == "reals" else "0",
            f"count(*) FILTER (WHERE {value} IS NOT NULL AND {fits} IS NULL)",
        )
        if fraction_count:
            raise InputError(
                f"{self.table.name}: column {column.name!r} has numbers that are not whole (in "
                f"{number_of(fraction_count, 'row')}); items are whole numbers or names: cast the column to text."
            )
        if large_count:
            problem = build_message(
                'has numbers that do not fit 64 bits (in {rows}); {labels="names"} reads items as names.',
                rows=number_of(large_count, "row"),
            )
            raise self._checks(column).build_error(problem)
        return self._number(column)


def _json_kind(value: str) -> str:
    """Return the SQL of the type of a JSON value: BIGINT for whole numbers of 64 bits, LARGE for larger ones."""
    text = f"CAST({value} AS VARCHAR)"
    # DuckDB parses large whole numbers as DOUBLE; their text shows that they are whole.
    whole = f"CASE WHEN TRY_CAST({text} AS BIGINT) IS NULL THEN 'LARGE' ELSE 'BIGINT' END"
    return (
        f"CASE json_type({value}) WHEN 'BIGINT' THEN {whole} WHEN 'UBIGINT' THEN {whole} "
        f"WHEN 'DOUBLE' THEN CASE WHEN regexp_full_match({text}, '-?[0-9]+') THEN 'LARGE' ELSE 'DOUBLE' END "
        f"ELSE json_type({value}) END"
    )


def unnest_lists(work: Workspace, table: Table, item: Column) -> tuple[Table, Column]:
    """Return the table and the column with one row per item of a list; an empty list becomes a row without an item."""
    if table.untyped == "json":
        kinds = Events(work, table, (item,)).json_kinds[item]
        if kinds != {"ARRAY"}:
            return table, item
        length, lists, inner = f"json_array_length({item.sql})", f"CAST({item.sql} AS JSON[])", item.type
    elif is_list_column(item):
        length, lists, inner = f"len({item.sql})", cast_to_list(item), _LIST.sub("", item.type)
    else:
        return table, item
    column_names = {column.sql.lower() for column in table.columns}
    name = next(name for i in count() if (name := quote_name(f"{_UNNESTED}{i or ''}")) not in column_names)
    # [NULL] keeps the row of an empty list: its person exists.
    value = f"unnest(CASE WHEN {length} > 0 THEN {lists} ELSE [NULL] END) AS {name}"
    sql = f"(SELECT *, {value} FROM {table.sql})"  # noqa: S608
    return replace(table, sql=sql), replace(item, sql=name, type=inner)


def cast_to_list(column: Column) -> str:
    """Return the SQL of a column of lists, with lists of a fixed size cast to lists of any size."""
    return column.sql if column.type.endswith("[]") else f"CAST({column.sql} AS {_LIST.sub('[]', column.type)})"
