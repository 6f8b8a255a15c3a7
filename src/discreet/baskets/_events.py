"""How the person, the items and the time of a row are selected from a table, as SQL: text, numbers and JSON alike.

What a column holds is asked of the whole table before it is selected, so that a value that does not fit is refused with
how many rows have such, and nobody is taken for somebody else. Nothing is grouped or read here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from typing import Any, Literal

from ..errors import InputError
from ..wording import number_of
from ._build import Labels, mixture
from ._columns import INTEGERS, Column, Table, quoted
from ._databases import Workspace

_LIST = re.compile(r"\[\d*\]$")
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
BLURRED = {"FLOAT": 1 << 24, "DOUBLE": 1 << 53}


def holds_lists(column: Column) -> bool:
    """Whether a column holds lists."""
    return _LIST.search(column.type) is not None


def _kind(type_: str) -> Literal["numbers", "reals", "names"] | None:
    if INTEGERS.fullmatch(type_) or type_ == '"NULL"':
        return "numbers"
    if _REALS.fullmatch(type_):
        return "reals"
    return "names" if _NAMES.fullmatch(type_) else None


@dataclass(frozen=True)
class Events:
    """The table of events: how to select the person, the items and the time from it."""

    work: Workspace
    table: Table
    items: tuple[Column, ...]
    person: Column | None = None
    time: Column | None = None
    basket: Column | None = None

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
        """Return the answers to questions about the whole table, in one pass over it."""
        return self.work.row(self.table.name, f"SELECT {', '.join(questions)} FROM {self.table.sql}")  # noqa: S608

    @cached_property
    def columns(self) -> list[Column]:
        """The columns that are selected."""
        return [column for column in (self.person, *self.items, self.time) if column is not None]

    @cached_property
    def json_kinds(self) -> dict[Column, set[str]]:
        """Say of each column of JSON which types its values have, in one pass over the file."""
        columns = [*self.columns, *([] if self.basket is None else [self.basket])]
        answers = self.ask(*(f"list(DISTINCT {_json_kind(column.sql)})" for column in columns))
        return {
            column: {kind for kind in answer or () if kind not in (None, "NULL")}
            for column, answer in zip(columns, answers, strict=True)
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
            check_people(self.table.name, person.name, kinds)
            kind = "DOUBLE" if "DOUBLE" in kinds else ""
            if "LARGE" in kinds and kind != "DOUBLE":
                return value
        if kind in BLURRED:
            number = f"CAST({value} AS {kind})"
            blurred = f"count(*) FILTER (WHERE {number} <> floor({number}) OR abs({number}) >= {BLURRED[kind]})"
            check_blurred(self.table.name, person.name, kind, self.ask(blurred)[0])
            return f"CAST({number} AS BIGINT)"
        return self._number(person) if self.whole[person] else value

    def basket_value(self, basket: Column) -> str:
        """Return the SQL of what tells the baskets of a person apart: in JSON, text or anything else, but not both."""
        if self.table.untyped == "json":
            check_baskets(self.table.name, basket.name, self.json_kinds[basket])
        return self.value(basket)

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
        raise InputError.format(
            "{table}: column {column!r} ({time=}) has values that are no time (in {rows}); write numbers, or "
            "dates and times as 2026-03-31 17:05:00.",
            table=self.table.name,
            column=time.name,
            rows=number_of(total - max(reals, times), "row"),
        )

    def item_values(self, labels: Labels) -> list[str]:
        """Return the SQL of the items: all 64-bit numbers or all text."""
        values = [self.value(column) for column in self.items]
        kinds = {self._item_kind(column) for column in self.items}
        if self.table.untyped == "json" and labels is None:
            check_mixture(self.table.name, set().union(*(self.json_kinds[column] for column in self.items)))
        if "names" not in kinds:
            if labels != "names" or "reals" in kinds:
                values = [self._whole_item(column, value) for column, value in zip(self.items, values, strict=True)]
            return [f"CAST({value} AS VARCHAR)" for value in values] if labels == "names" else values
        if labels == "numbers":
            for column, value in zip(self.items, values, strict=True):
                wrong = f"NOT regexp_full_match({value}, '[0-9]+') OR TRY_CAST({value} AS BIGINT) IS NULL"
                unfit_rows = self.ask(f"count({value}) FILTER (WHERE {wrong})")[0]
                if unfit_rows:
                    raise InputError.format(
                        "{table}: column {column!r} has items that are not whole numbers that fit 64 bits (in "
                        '{rows}); {labels="names"} reads items as names.',
                        table=self.table.name,
                        column=column.name,
                        rows=number_of(unfit_rows, "row"),
                    )
            return [f"CAST({value} AS BIGINT)" for value in values]
        return [f"CAST({value} AS VARCHAR)" for value in values]

    def _item_kind(self, column: Column) -> Literal["numbers", "reals", "names"]:
        if self.table.untyped == "json":
            check_items(self.table.name, column.name, self.json_kinds[column], alone=len(self.items) == 1)
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
        if column.type in BLURRED:
            fits = f"CASE WHEN abs({value}) < {BLURRED[column.type]} THEN {fits} END"
        broken, large = self.ask(
            f"count(*) FILTER (WHERE {value} <> floor({value}))" if _kind(column.type) == "reals" else "0",
            f"count(*) FILTER (WHERE {value} IS NOT NULL AND {fits} IS NULL)",
        )
        if broken:
            raise InputError(
                f"{self.table.name}: column {column.name!r} has numbers that are not whole (in "
                f"{number_of(broken, 'row')}); items are whole numbers or names: cast the column to text."
            )
        if large:
            raise InputError.format(
                "{table}: column {column!r} has numbers that do not fit 64 bits (in {rows}); "
                '{labels="names"} reads items as names.',
                table=self.table.name,
                column=column.name,
                rows=number_of(large, "row"),
            )
        return self._number(column)


def check_people(table: str, column: str, kinds: set[str]) -> None:
    """Refuse people of JSON records who are numbers here and text there, or neither."""
    numbers = kinds & {*_JSON_INTEGERS, "DOUBLE"}
    if kinds - numbers - {"VARCHAR"} or (numbers and "VARCHAR" in kinds):
        raise InputError(
            f"{table}: {column!r} is {_listed(kinds)}, by record; people are all numbers or all names (text)."
        )


def check_baskets(table: str, column: str, kinds: set[str]) -> None:
    """Refuse baskets of JSON records that are text here and something else there: 1 and "1" would be one basket."""
    if "VARCHAR" in kinds and len(kinds) > 1:
        raise InputError(
            f"{table}: {column!r} is {_listed(kinds)}, by record; baskets are all numbers or all names (text)."
        )


def check_items(table: str, column: str, kinds: set[str], alone: bool) -> None:
    """Refuse items of JSON records that are neither whole numbers nor names."""
    strange = kinds - {*_JSON_INTEGERS, "VARCHAR"}
    if strange:
        lists = ", or lists of these in all records" if alone else ""
        raise InputError(
            f"{table}: {column!r} is {_listed(strange)} in some records; items are whole numbers or names (text)"
            f"{lists}."
        )


def check_mixture(table: str, kinds: set[str]) -> None:
    """Refuse items of JSON records that are numbers here and names there."""
    if "VARCHAR" in kinds and kinds & _JSON_INTEGERS:
        raise mixture(table)


def check_blurred(table: str, column: str, kind: str, rows: int) -> None:
    """Refuse people in floating point, where so many rows have numbers that it cannot tell apart."""
    if rows:
        raise InputError.format(
            "{table}: column {column!r} ({person=}) is floating point, and not a whole number below {largest:,} in "
            "{rows}: people might be taken for one another. Keep it as text, or as whole numbers, where it comes "
            "from.",
            table=table,
            column=column,
            largest=BLURRED[kind],
            rows=number_of(rows, "row"),
        )


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


def unlisted(work: Workspace, table: Table, item: Column) -> tuple[Table, Column]:
    """Give a column of lists one row per item; an empty list leaves a row without one."""
    if table.untyped == "json":
        kinds = Events(work, table, (item,)).json_kinds[item]
        if kinds != {"ARRAY"}:
            return table, item
        filled, lists, inner = f"json_array_length({item.sql})", f"CAST({item.sql} AS JSON[])", item.type
    elif holds_lists(item):
        filled, lists, inner = f"len({item.sql})", as_list(item), _LIST.sub("", item.type)
    else:
        return table, item
    taken = {column.sql.lower() for column in table.columns}
    name = next(name for i in count() if (name := quoted(f"{_UNLISTED}{i or ''}")) not in taken)
    value = f"unnest(CASE WHEN {filled} > 0 THEN {lists} ELSE [NULL] END) AS {name}"
    sql = f"(SELECT *, {value} FROM {table.sql})"  # noqa: S608
    return replace(table, sql=sql), replace(item, sql=name, type=inner)


def as_list(column: Column) -> str:
    """Return the SQL of a column of lists; those of a fixed size are a type of their own."""
    return column.sql if column.type.endswith("[]") else f"CAST({column.sql} AS {_LIST.sub('[]', column.type)})"
