"""Databases: the queries that users may ask, and errors in our words, without passwords and private values.

Two barriers protect a database. This module checks that a query is one statement that reads: no writes, no ATTACH, no
SET. And databases are opened read-only, or queried in a read-only transaction (`_databases`), because the text does not
show the effects of a function. DuckDB parses queries itself. For SQLite and PostgreSQL, strings and comments are
removed first, by the rules of each: a semicolon within a string ends no statement.
"""

from __future__ import annotations

import re
from typing import Any, Literal
from urllib.parse import unquote

from ..errors import InputError, Message, MisuseError, build_message
from ..heavy import duckdb

QUERY_NAME = "The query"  # the name of the result of a query
SAY_ENCODING = build_message('say what it is, as in {encoding="windows-1252"}.')
# An address, also with the single slash that a path leaves of two; a single letter is a drive of Windows.
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/+(.*)", re.DOTALL)
_QUOTED = re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]+://[^\s'\"<>|]+")
_SECRET = re.compile(r"pass|key|secret|token|sig|cred|auth|code", re.IGNORECASE)
_SHORT = 2  # a secret of up to 2 letters is hidden as a whole word only, because it is part of many words
_LONG = 8  # an option of a web address with 8 letters or more may be a secret, whatever its name
# Messages of DuckDB and PostgreSQL about a failed conversion, which quote private values.
_VALUE_PROBLEM = re.compile(
    r"^(?:Conversion|Out of Range) Error\b|\binvalid (?:input syntax for|byte sequence)\b|\bout of range\b|\bDETAIL:",
    re.IGNORECASE,
)
_CSV_PROBLEM = r"CSV Error on Line: (\d+)\n.*?\n((?:Expected|Value|Invalid|Maximum|Unterminated)[^\n]*)"


def public_name(address: str) -> str:
    """Return an address without user, password, options and signatures, for messages and the log."""
    scheme, _, location_part = address.partition("://")
    before, _, after = location_part.rpartition("@")
    location = re.split(r"[?#;]", after)[0]
    # If the password cannot be located with certainty, all of the address is hidden.
    if re.search(r"[?#]", before) or re.search(r":(?!\d*(?:$|[/,\]:]))", re.sub(r"\[[^]]*\]", "", location)):
        return f"{scheme}://…"
    return f"{scheme}://{location}"


def public_path(path: object) -> str:
    """Return the path of a file for messages; an address, also as a path, becomes its `public_name`."""
    match = _ADDRESS.fullmatch(str(path))
    return str(path) if match is None else public_name(f"{match[1]}://{match[2]}")


def hide_secrets(message: str, address: str) -> str:
    """Return a message without the secrets of an address.

    Secrets of a web address are the user, the password and all text after a question mark; secrets of a database
    address are passwords, keys and tokens. All addresses that the message quotes are shortened too.
    """
    name = public_name(address)
    for text in (address, unquote(address)):
        message = message.replace(text, name)
    message = hide_address_options(message)
    # Drivers quote parts of an address, decoded or not, anywhere in a message.
    secrets = _find_secrets(address, name)
    # Longer secrets first: a short one may be a part of a longer one.
    for secret in sorted({*secrets, *map(unquote, secrets)} - {""}, key=len, reverse=True):
        # A short secret within a longer word is no secret.
        word = rf"(?<!\w){re.escape(secret)}(?!\w)"
        message = re.sub(word, "…", message) if len(secret) <= _SHORT else message.replace(secret, "…")
    return message


def hide_address_options(message: str) -> str:
    """Return a message with each quoted address replaced by its `public_name`."""
    return _QUOTED.sub(lambda match: public_name(match[0]), message)


def _find_secrets(address: str, name: str) -> list[str]:
    scheme, _, location_part = address.partition("://")
    # The parts of the address are unknown, so each of them counts as a secret.
    if name.endswith("…"):
        return re.split(r"[@:/?#&=;]", location_part)
    before, _, after = location_part.rpartition("@")
    user, _, password = before.partition(":")
    is_web = scheme not in ("postgresql", "postgres")
    secrets = [password, *re.split(r"[@/]", password), user if is_web else ""]
    options = re.split(r"[?#;]", after, maxsplit=1)[1:]
    secrets += options if is_web else []
    for option in re.split(r"[&#?;]", options[0] if options else ""):
        key, _, value = option.partition("=")
        if _SECRET.search(key) or (is_web and len(value) >= _LONG):
            secrets.append(value)
    return secrets


def clean_error(error: InputError, address: str) -> InputError:
    """Return an error of equal type without the secrets of an address."""
    told_of = error.message
    return type(error)(
        Message(hide_secrets(told_of.python, address), hide_secrets(told_of.typed, address), told_of.options)
    )


def build_read_error(name: str, message: str) -> InputError:
    """Return the error for a source that a database cannot read, without messages that quote private values."""
    # A query may call error() with text of its rows.
    if _VALUE_PROBLEM.search(message) or (name == QUERY_NAME and message.startswith("Invalid Input Error")):
        return InputError(
            f"{name}: a value cannot be read as the query or its column asks. Which value is not shown, as it may be "
            "private: cast the column to text."
        )
    return InputError.format("{name}{reason}", name=name, reason=_extract_problem(hide_address_options(message)))


def _extract_problem(message: str) -> str | Message:
    """Return the problem in a message of a database, on one line, as the text after the name of the source."""
    line = re.search(_CSV_PROBLEM, message, re.DOTALL)
    if line is not None and "not utf-8 encoded" in message:
        return build_message(", line {line}: it is not UTF-8 text; {fix}", line=line[1], fix=SAY_ENCODING)
    if line is not None:
        return f", line {line[1]}: {line[2].strip().rstrip('.')}."
    if "json_read expected records" in message:
        return build_message(
            " has lines that are not objects; with {person=} and {item=} each line is an object with these fields."
        )
    if "state machine reached an invalid state" in message:
        return (
            ": it cannot be cut into rows; all its lines must end alike (in a line feed, or all in a carriage return "
            "and a line feed), and each quote must be closed."
        )
    message = re.split(r"\n\s*\n|\nLINE |\nquery: |\nPossible |\nDid you mean", message.strip())[0]
    message = re.sub(r' in file "[^"]*"| at end of file \'[^\']*\'| Did you mean .*', "", message)
    return ": " + " ".join(message.split()).rstrip(".?!") + "."


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
