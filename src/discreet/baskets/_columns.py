"""Tables and columns, with their names in SQL and in messages."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from ..errors import InputError, Message, build_message, name_options
from ..wording import number_of
from ._build import mixed_items_error

INTEGER_TYPE = re.compile(r"U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER")  # the types of whole numbers in DuckDB
# A message has at most 40 column names of at most 60 letters: about one screen.
_LONGEST_NAME, _MOST_NAMES = 60, 40
_JSON_NAMES = {
    "ARRAY": "a list",
    "BIGINT": "a number",
    "BOOLEAN": "true or false",
    "DOUBLE": "a fraction",
    "LARGE": "a number",
    "OBJECT": "an object",
    "VARCHAR": "text",
}
# Types of whole numbers; LARGE is a number over 64 bits, which DuckDB calls DOUBLE but keeps as text.
JSON_INTEGERS = {"BIGINT", "LARGE"}
# From here on, floating point represents several whole numbers by one value.
EXACT_FLOAT_LIMIT = {"FLOAT": 1 << 24, "DOUBLE": 1 << 53}


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column: its name in the source, its SQL expression, and its type in DuckDB."""

    name: str
    sql: str
    type: str


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table of a query: `sql` is the text after FROM.

    `untyped` is set if all columns are text, or JSON values; their types are then derived from the values.
    """

    name: str
    sql: str
    columns: tuple[Column, ...]
    untyped: Literal["text", "json"] | None = None

    def find(self, name: str, option: str) -> Column:
        """Return the column with a name, which must be unique; errors name the option of `read` that names it."""
        columns = [column for column in self.columns if column.name == name]
        if len(columns) == 1:
            return columns[0]
        if columns:
            raise InputError.format(
                "{table} has {count} columns {name!r} ({option}); rename all but one.",
                table=self.name,
                count=len(columns),
                name=name,
                option=name_options(option, equals="="),
            )
        # A name that differs in case only is the most likely typing error.
        similar = [column.name for column in self.columns if column.name.lower() == name.lower()]
        if similar and any(re.fullmatch(re.escape(name) + r"_\d+", column.name) for column in self.columns):
            # DuckDB ignores case and has numbered the second name.
            raise InputError(f"{self.name} has columns that differ only in case, {similar[0]} and {name}; rename one.")
        raise InputError.format(
            "{table} has no column {name!r} ({option}); {listing}.",
            table=self.name,
            name=name,
            option=name_options(option, equals="="),
            listing=self.listing,
        )

    @property
    def listing(self) -> str:
        """The part of a message that lists the columns."""
        names = [
            column.name if len(column.name) <= _LONGEST_NAME else f"{column.name[:_LONGEST_NAME]}…"
            for column in self.columns
        ]
        if not names:
            return "it has no columns"
        remainder = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        return f"its columns are {', '.join(name or repr('') for name in names[:_MOST_NAMES])}{remainder}"


@dataclass(frozen=True)
class ColumnChecks:
    """Checks of a column of a table, with errors that name both and show no value."""

    table: str
    column: str

    def build_error(self, problem: Message) -> InputError:
        """Return the error for the column; `problem` is the rest of the sentence."""
        return InputError.format(
            "{table}: column {column!r} {problem}", table=self.table, column=self.column, problem=problem
        )

    def check_people(self, kinds: set[str]) -> None:
        """Check that the people of JSON records are all numbers or all text."""
        # 1 and "1" are two people, so a column with both has no safe reading.
        numbers = kinds & {*JSON_INTEGERS, "DOUBLE"}
        if kinds - numbers - {"VARCHAR"} or (numbers and "VARCHAR" in kinds):
            raise self._build_kinds_error(kinds, ", by record; people are all numbers or all names (text)")

    def check_baskets(self, kinds: set[str]) -> None:
        """Check that the baskets of JSON records are all text or all of other types: 1 and "1" would be merged."""
        if "VARCHAR" in kinds and len(kinds) > 1:
            raise self._build_kinds_error(kinds, ", by record; baskets are all numbers or all names (text)")

    def check_items(self, kinds: set[str], alone: bool) -> None:
        """Check that the items of JSON records are whole numbers or names; `alone` for the only item column."""
        if unfit := kinds - {*JSON_INTEGERS, "VARCHAR"}:
            lists = ", or lists of these in all records" if alone else ""
            raise self._build_kinds_error(unfit, f" in some records; items are whole numbers or names (text){lists}")

    def check_one_type(self, kinds: set[str]) -> None:
        """Check that the items of JSON records are not a mixture of numbers and names."""
        if "VARCHAR" in kinds and kinds & JSON_INTEGERS:
            raise mixed_items_error(self.table)

    def check_floats(self, kind: str, rows: int) -> None:
        """Check that no row has a person in floating point that is not an exact whole number."""
        if rows:
            raise self.build_error(
                build_message(
                    "({person=}) is floating point, and not a whole number below {largest:,} in {rows}: people might "
                    "be taken for one another. Keep it as text, or as whole numbers, where it comes from.",
                    largest=EXACT_FLOAT_LIMIT[kind],
                    rows=number_of(rows, "row"),
                )
            )

    def build_type_error(self, content: str) -> InputError:
        """Return the error for items of a type that is neither whole numbers nor names."""
        return self.build_error(
            build_message("is {content}; items are whole numbers or names: cast the column to text.", content=content)
        )

    def build_notation_error(self) -> InputError:
        """Return the error for a number that is written as two person ids, as 7 and 7.0 in two files."""
        return self.build_error(
            build_message(
                "({person=}) has the same number written in two ways, with a decimal point and without, as 7.0 and 7: "
                "one person would be taken for two. Write all of them alike."
            )
        )

    def build_segment_error(self) -> InputError:
        """Return the error for people without a segment, or with several."""
        return InputError.format(
            "{table}: everyone must have one value in the column {column!r} ({by=}), not none or several.",
            table=self.table,
            column=self.column,
        )

    def build_missing_error(self, role: str, missing: int, rows: str) -> InputError:
        """Return the error for rows without a person, a basket or a time; `rows` is their number in words."""
        return InputError.format(
            '{table}: {rows} {have} no {role} (column {column!r}); {nulls="drop"} leaves {them} out.',
            rows=rows,
            have="has" if missing == 1 else "have",
            role=role,
            them="it" if missing == 1 else "them",
            table=self.table,
            column=self.column,
        )

    def _build_kinds_error(self, kinds: set[str], problem: str) -> InputError:
        """Return the error for types of JSON, in plain words."""
        words = " or ".join(sorted({_JSON_NAMES.get(kind, kind.lower()) for kind in kinds}))
        return InputError(f"{self.table}: {self.column!r} is {words}{problem}.")


def quote_name(name: str) -> str:
    """Return a name as a quoted SQL name."""
    return '"' + name.replace('"', '""') + '"'


def quote_text(text: object) -> str:
    """Return a value as an SQL string."""
    return "'" + str(text).replace("'", "''") + "'"
