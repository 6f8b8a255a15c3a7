"""The contents of a ledger file: its tables, its entries and their meaning.

Every public fact is an entry of the chain, hashed as the stored text. Secret values and values that depend on the data
are stored in a table of their own, and enter neither a text nor a head.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral
from typing import Any

from ...errors import InputError
from .. import Budget, Neighbours
from . import _storage as storage
from ._account import Account, Spend
from ._chain import ChainEntry, find_broken_entry, next_entry
from ._fingerprint import Fingerprint

# The amounts of a spend: the name in files, and the name of the field.
AMOUNTS = {"epsilon": "epsilon", "delta": "delta", "rho": "rho", "own_delta": "discovery_delta"}

FORM = storage.Schema(
    version=2,
    tables={
        "private": """
create table private (        -- one row: what nobody else may see
    key blob not null,        -- secret: 32 random bytes that key the fingerprint
    digest blob,              -- fingerprint: of all rows; null until a spend came with its data
    distinct_rows integer,    -- fingerprint: how many rows differ
    sketch blob               -- fingerprint: the smallest hashes of rows
)""",
        "entry": """
create table entry (            -- one row for each thing that happened, in order; the first says whose budget this is
    number integer primary key, -- 0, 1, 2 …
    text text not null,         -- what happened, as JSON with a kind: ledger, spend, release or anchor
    head text not null,         -- SHA-256 of the head before, a line feed and the text
    changed integer             -- for a spend, 1 if the data were not those of the spend before; private
)""",
    },
)


@dataclass(frozen=True)
class Book:
    """The parsed contents of a ledger: the account, its spends, and the chain of entries."""

    account: Account
    spends: list[Spend]
    entries: list[ChainEntry]

    def __contains__(self, head: str) -> bool:
        return any(entry.head == head for entry in self.entries)


def load(file: storage.LedgerFile) -> Book:
    """Read all entries; raise if the chain is broken or the contents are damaged."""
    rows = read_rows(file.connection, "entry")
    try:
        entries = [ChainEntry(text=row["text"], head=row["head"]) for row in rows]
    except LookupError:  # the seal does not cover column names: a bit of a name is damaged
        raise storage.damage_error(file.path, file.spend_note) from None
    place = find_broken_entry(entries)
    if place is not None:
        raise InputError(
            f"{file.path} was changed by hand: its entry {place} does not follow from the ones before it. "
            f"{file.spend_note}. Put back a copy made before that, and spend from it again what was released since."
        )
    try:
        (private,) = read_rows(file.connection, "private")
        return _parse_book(private, entries, [bool(row["changed"]) for row in rows])
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        # Sealed and chained, and yet no valid contents: the file was forged.
        raise storage.damage_error(file.path, file.spend_note) from None


def append(
    connection: sqlite3.Connection, entries: list[ChainEntry], content: Mapping[str, Any], changed: bool | None = None
) -> None:
    """Write one more entry, into the file and into the list."""
    entry = next_entry(entries, content)
    row = {"number": len(entries), "text": entry.text, "head": entry.head, "changed": changed}
    insert(connection, "entry", row)
    entries.append(entry)


def insert(connection: sqlite3.Connection, table: str, row: Mapping[str, Any]) -> None:
    """Write one row into a table."""
    places = ", ".join(f":{name}" for name in row)
    connection.execute(f"insert into {table} ({', '.join(row)}) values ({places})", row)  # noqa: S608


def store_fingerprint(connection: sqlite3.Connection, fingerprint: Fingerprint) -> None:
    """Write the fingerprint of the data."""
    connection.execute(
        "update private set digest = ?, distinct_rows = ?, sketch = ?",
        (fingerprint.digest, fingerprint.distinct, fingerprint.sketch),
    )


def _parse_book(private: Mapping[str, Any], entries: list[ChainEntry], changed: list[bool]) -> Book:
    fingerprint = None
    if private["digest"] is not None:
        fingerprint = Fingerprint(digest=private["digest"], distinct=private["distinct_rows"], sketch=private["sketch"])
    header, *contents = (entry.content for entry in entries)
    if header["kind"] != "ledger":
        raise ValueError
    released: dict[int, str] = {}
    anchor = None
    spend_rows: list[dict[str, Any]] = []
    for entry, content, is_changed in zip(entries[1:], contents, changed[1:], strict=True):
        match content.pop("kind"):
            case "spend":
                spend_rows.append(content | {"head": entry.head, "changed": is_changed})
            case "release":
                released[content["spend"]] = content["digest"]
            case "anchor":
                anchor = content["place"]
            case _:
                raise ValueError
    account = Account(
        name=header["name"],
        created=header["created"],
        accounting="pure" if header["accounting"] == "pure" else "zcdp",
        neighbours=Neighbours.parse_stored(header["neighbours"]),
        budget=Budget(epsilon=Fraction(header["epsilon"]), delta=Fraction(header["delta"])),
        max_epsilon=None if header["most"] is None else Fraction(header["most"]),
        key=private["key"],
        fingerprint=fingerprint,
        head=entries[-1].head,
        anchor=anchor,
    )
    spends = [
        Spend(
            **{name: value for name, value in row.items() if name not in AMOUNTS}
            | {ours: Fraction(row[name]) for name, ours in AMOUNTS.items()}
            | {"state": "released" if row["number"] in released else "spent", "release": released.get(row["number"])}
        )
        for row in spend_rows
    ]
    if [spend.number for spend in spends] != list(range(1, len(spends) + 1)):
        raise ValueError
    return Book(account, spends, entries)


def read_rows(connection: sqlite3.Connection, table: str) -> list[dict[str, Any]]:
    """Return all rows of a table, as dictionaries by column name."""
    cursor = connection.execute(f"select * from {table} order by rowid")  # noqa: S608
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]


def encode_json(content: Mapping[str, Any]) -> str:
    """Return canonical JSON; raise TypeError or ValueError for values that JSON cannot represent."""
    # Sorted keys and no NaN: equal contents give equal text in every program.
    text = json.dumps(content, default=_encode_number, ensure_ascii=False, allow_nan=False, sort_keys=True)
    text.encode()
    return text


def _encode_number(value: Any) -> int | str:
    if isinstance(value, Integral):  # numpy's
        return int(value)
    if isinstance(value, Fraction):
        return str(value)
    raise TypeError
