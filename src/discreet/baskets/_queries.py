"""Checks that a query is one statement that only reads: no writes, no ATTACH, no SET.

Two barriers protect a database. This module checks the text of the query; and databases are opened read-only, or
queried in a read-only transaction (`_databases`), because the text does not show the effects of a function. DuckDB
parses queries itself. For SQLite and PostgreSQL, strings and comments are removed first, by the rules of each: a
semicolon within a string ends no statement.
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
    """Check that a query is one statement that reads, with balanced brackets."""
    text = _strip_strings(query, kind)
    depth = 0
    for mark in re.findall(r"[()]", text):
        depth += 1 if mark == "(" else -1
        if depth < 0:
            break
    # The caller puts the query in brackets, which it must not close.
    if depth:
        raise MisuseError.format("The query has brackets without a counterpart; {rule}", rule=_QUERY_RULE)
    statements = [part for part in text.split(";") if part.strip()]
    if len(statements) > 1:
        raise _build_count_error(len(statements))
    if statements and not _FIRST.match(statements[0]):
        first = statements[0].split()[0]
        raise MisuseError.format("The query begins with {first}; {rule}", first=first, rule=_QUERY_RULE)


def check_duckdb_query(query: str, connection: Any) -> None:
    """Check that DuckDB parses a query as one statement that reads; its syntax errors pass through."""
    import duckdb

    statements = connection.extract_statements(query)
    if len(statements) > 1:
        raise _build_count_error(len(statements))
    for statement in statements:
        if statement.type != duckdb.StatementType.SELECT:
            raise _build_write_error(statement.type.name)
    try:
        # A WITH clause can write only at the top level: DuckDB refuses it within brackets.
        connection.execute(f"EXPLAIN SELECT * FROM (\n{query}\n)")  # noqa: S608
    except duckdb.BinderException as error:
        if "must be at the top level" in str(error):
            raise _build_write_error("WITH … AS (COPY …) or the like") from None


def _strip_strings(query: str, kind: Literal["sqlite", "postgresql"]) -> str:
    """Return a query with a blank in place of each string, quoted name and comment."""
    parts, start = [], 0
    while token := _TOKENS[kind].search(query, start):
        parts += [query[start : token.start()], " "]
        start = token.end()
        depth = 1 if token[0] == "/*" else 0
        while depth and (edge := _EDGE.search(query, start)):  # comments of PostgreSQL are nested
            depth += 1 if edge[0] == "/*" else -1
            start = edge.end()
        if depth:
            start = len(query)
    return "".join([*parts, query[start:]])


_QUERY_RULE = build_message('{query} is one statement that reads, as in {query="SELECT person, item FROM …"}.')


def _build_count_error(number: int) -> MisuseError:
    return MisuseError.format("The query has {number} statements; {rule}", number=number, rule=_QUERY_RULE)


def _build_write_error(word: str) -> MisuseError:
    return MisuseError.format("The query does something else than read ({word}); {rule}", word=word, rule=_QUERY_RULE)
