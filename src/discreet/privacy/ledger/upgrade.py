"""Bringing a ledger of version 1, whose spends were not chained, up to version 2, in one transaction."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ...errors import MisuseError
from ..sampling.sources import SystemSource
from . import entries as book
from . import storage
from .chain import ChainEntry

_FIRST = storage.Schema(version=1, tables={"account": "", "spend": ""})
_PRIVATE = ("key", "digest", "distinct_rows", "sketch")
_SAID = ("name", "created", "accounting", "neighbours", "epsilon", "delta", "most")
_PAID = ("number", "at", "who", "what", *book.AMOUNTS)


def upgrade(path: Path) -> None:
    """Rewrite a ledger of version 1: the same account, spends and releases, chained from now on."""
    if storage.version(path) == book.FORM.version:
        raise MisuseError(f"{path} is up to date already.")
    with storage.opened(path, _FIRST) as file, file.writing() as connection:
        (account,) = book.rows_of(connection, "account")
        spends = book.rows_of(connection, "spend")
        for statement in book.FORM.tables.values():
            connection.execute(statement)
        for table in _FIRST.tables:
            connection.execute(f"drop table {table}")
        book.insert(connection, "private", _some(account, _PRIVATE))
        entries: list[ChainEntry] = []
        identity = SystemSource().words(4).tobytes().hex()
        book.append(connection, entries, {"kind": "ledger", "identity": identity} | _some(account, _SAID))
        for spend in spends:
            content = {"kind": "spend", "parameters": json.loads(spend["parameters"])} | _some(spend, _PAID)
            book.append(connection, entries, content, bool(spend["changed"]))
            if spend["release"] is not None:
                content = {"kind": "release", "spend": spend["number"], "digest": spend["release"]}
                book.append(connection, entries, content)
        connection.execute(f"pragma user_version = {book.FORM.version}")
        file.form = book.FORM


def _some(row: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: row[name] for name in names}
