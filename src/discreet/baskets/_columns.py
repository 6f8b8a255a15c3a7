"""Tables to select from and their columns, as SQL calls them and as messages name them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from ..errors import InputError, name_options

INTEGERS = re.compile(r"U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER")  # DuckDB's types of whole numbers
_LONGEST_NAME, _MOST_NAMES = 60, 40  # letters of a column's name, and columns, that a message shows


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column: its name in the source, what SQL calls it, and DuckDB's type of it."""

    name: str
    sql: str
    type: str


@dataclass(frozen=True, kw_only=True)
class Table:
    """Something to select from: `sql` stands after FROM.

    `untyped` says that the columns are text, or JSON values, whose kind only the contents tell.
    """

    name: str
    sql: str
    columns: tuple[Column, ...]
    untyped: Literal["text", "json"] | None = None

    def find(self, name: str, option: str) -> Column:
        """Return the one column of that name; an error says which `option` asked for it."""
        found = [column for column in self.columns if column.name == name]
        if len(found) == 1:
            return found[0]
        if found:
            raise InputError.format(
                "{table} has {many} columns {name!r} ({option}); rename all but one.",
                table=self.name,
                many=len(found),
                name=name,
                option=name_options(option, equals="="),
            )
        alike = [column.name for column in self.columns if column.name.lower() == name.lower()]
        if alike and any(re.fullmatch(re.escape(name) + r"_\d+", column.name) for column in self.columns):
            # DuckDB has numbered it, as it does not tell such names apart.
            raise InputError(f"{self.name} has columns that differ only in case, {alike[0]} and {name}; rename one.")
        raise InputError.format(
            "{table} has no column {name!r} ({option}); {listing}.",
            table=self.name,
            name=name,
            option=name_options(option, equals="="),
            listing=self.listing,
        )

    @property
    def listing(self) -> str:
        """What to say of the columns that are there."""
        names = [
            column.name if len(column.name) <= _LONGEST_NAME else f"{column.name[:_LONGEST_NAME]}…"
            for column in self.columns
        ]
        if not names:
            return "it has no columns"
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        return f"its columns are {', '.join(name or repr('') for name in names[:_MOST_NAMES])}{more}"


def quoted(name: str) -> str:
    """Return an SQL name."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: object) -> str:
    """Return an SQL text."""
    return "'" + str(text).replace("'", "''") + "'"
