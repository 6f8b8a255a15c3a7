"""A query reads: one statement, and nothing that writes, attaches or sets.

What a query may do is held up twice. Here its text is seen to be one reading statement; and a database is opened for
reading alone, or asked within a transaction that is (`databases`), as the text does not tell what a function does.
DuckDB parses for itself. The text for SQLite and PostgreSQL is cut into strings, comments and the rest, by the rules
of each, as a semicolon within a string ends nothing.
"""

from __future__ import annotations

import re
from typing import Any, Literal

from ..errors import MisuseError, build_message

_FIRST = re.compile(r"[\s(]*(SELECT|WITH|VALUES|TABLE)\b", re.IGNORECASE)
_TEXTS = r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*"
_TOKENS = {
    "sqlite": re.compile(rf"{_TEXTS}|`(?:[^`]|``)*`|\[[^\]]*\]|/\*.*?(?:\*/|\Z)", re.DOTALL),
    "postgresql": re.compile(
        rf"(?<!\w)[eE]'(?:[^'\\]|''|\\.)*'|{_TEXTS}|(?<![\w$])\$([A-Za-z_]\w*)?\$.*?\$(?(1)\1)\$|/\*", re.DOTALL
    ),
}
_EDGE = re.compile(r"/\*|\*/")


def check_query(query: str, kind: Literal["sqlite", "postgresql"]) -> None:
    """See that a query is one reading statement, in which every bracket has its counterpart."""
    bare = _bare(query, kind)
    depth = 0
    for mark in re.findall(r"[()]", bare):
        depth += 1 if mark == "(" else -1
        if depth < 0:
            break
    # It is put in brackets of ours, which it must not leave.
    if depth:
        raise MisuseError.format("The query has brackets without a counterpart; {rest}", rest=_ALLOWED)
    statements = [part for part in bare.split(";") if part.strip()]
    if len(statements) > 1:
        raise _several(len(statements))
    if statements and not _FIRST.match(statements[0]):
        first = statements[0].split()[0]
        raise MisuseError.format("The query begins with {first}; {rest}", first=first, rest=_ALLOWED)


def check_parsed(query: str, connection: Any) -> None:
    """See that DuckDB takes a query for one reading statement; what it cannot parse it says itself."""
    import duckdb

    statements = connection.extract_statements(query)
    if len(statements) > 1:
        raise _several(len(statements))
    for statement in statements:
        if statement.type != duckdb.StatementType.SELECT:
            raise _writes(statement.type.name)
    try:
        # A WITH clause may copy to a file, or change a table, at the top level alone: within brackets it is refused.
        connection.execute(f"EXPLAIN SELECT * FROM (\n{query}\n)")  # noqa: S608
    except duckdb.BinderException as error:
        if "must be at the top level" in str(error):
            raise _writes("WITH … AS (COPY …) or the like") from None


def _bare(query: str, kind: Literal["sqlite", "postgresql"]) -> str:
    """Return a query with a blank in the place of each string, quoted name and comment."""
    bare, place = [], 0
    while found := _TOKENS[kind].search(query, place):
        bare += [query[place : found.start()], " "]
        place = found.end()
        depth = 1 if found[0] == "/*" else 0
        while depth and (edge := _EDGE.search(query, place)):  # comments of PostgreSQL lie within each other
            depth += 1 if edge[0] == "/*" else -1
            place = edge.end()
        if depth:
            place = len(query)
    return "".join([*bare, query[place:]])


_ALLOWED = build_message('{query} is one statement that reads, as in {query="SELECT person, item FROM …"}.')


def _several(number: int) -> MisuseError:
    return MisuseError.format("The query has {number} statements; {rest}", number=number, rest=_ALLOWED)


def _writes(word: str) -> MisuseError:
    return MisuseError.format("The query does something else than read ({word}); {rest}", word=word, rest=_ALLOWED)
