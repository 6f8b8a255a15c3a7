"""Tables and columns, with their names in SQL and in messages."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from ..errors import InputError, name_options

INTEGER_TYPE = re.compile(r"U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER")  # the types of whole numbers in DuckDB
# A message has at most 40 column names of at most 60 letters: about one screen.
_LONGEST_NAME, _MOST_NAMES = 60, 40


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


def quote_name(name: str) -> str:
    """Return a name as a quoted SQL name."""
    return '"' + name.replace('"', '""') + '"'


def quote_text(text: object) -> str:
    """Return a value as an SQL string."""
    return "'" + str(text).replace("'", "''") + "'"
