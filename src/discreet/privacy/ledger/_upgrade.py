"""Upgrade of a ledger from version 1, without a chain, to version 2, in one transaction."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ...errors import MisuseError
from ..sampling import SystemSource
from . import _entries as book, _storage as storage
from ._chain import ChainEntry

_VERSION_1 = storage.Schema(version=1, tables={"account": "", "spend": ""})
# The columns are listed, and not copied whole: a damaged file of version 1 must not bring unknown values into a chain.
_PRIVATE_COLUMNS = ("key", "digest", "distinct_rows", "sketch")
_ACCOUNT_COLUMNS = ("name", "created", "accounting", "neighbours", "epsilon", "delta", "most")
_SPEND_COLUMNS = ("number", "at", "who", "what", *book.AMOUNTS)


def upgrade(path: Path) -> None:
    """Rewrite a ledger of version 1: equal account, spends and releases, with a chain."""
    if storage.read_version(path) == book.FORM.version:
        raise MisuseError(f"{path} is up to date already.")
    with storage.open_ledger(path, _VERSION_1) as file, file.writing() as connection:
        (account,) = book.read_rows(connection, "account")
        spends = book.read_rows(connection, "spend")
        for statement in book.FORM.tables.values():
            connection.execute(statement)
        for table in _VERSION_1.tables:
            connection.execute(f"drop table {table}")
        book.insert(connection, "private", _select_columns(account, _PRIVATE_COLUMNS))
        entries: list[ChainEntry] = []
        identity = SystemSource().words(4).tobytes().hex()
        book.append(
            connection, entries, {"kind": "ledger", "identity": identity} | _select_columns(account, _ACCOUNT_COLUMNS)
        )
        for spend in spends:
            content = {"kind": "spend", "parameters": json.loads(spend["parameters"])} | _select_columns(
                spend, _SPEND_COLUMNS
            )
            book.append(connection, entries, content, bool(spend["changed"]))
            if spend["release"] is not None:
                content = {"kind": "release", "spend": spend["number"], "digest": spend["release"]}
                book.append(connection, entries, content)
        # Within the transaction: an interrupted upgrade leaves version 1 unchanged.
        connection.execute(f"pragma user_version = {book.FORM.version}")
        file.form = book.FORM


def _select_columns(row: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: row[name] for name in names}
