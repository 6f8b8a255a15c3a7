"""What stands in the file of a ledger: its tables, its entries, and what they say.

Everything that anyone may know is an entry of the chain, as a text that is hashed as it stands. What is secret or
depends on the data stands beside it, and enters neither a text nor a head.
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
from ..budget import Budget, Neighbours
from . import storage
from .account import Account, Spend
from .chain import ChainEntry, broken, following
from .fingerprint import Fingerprint

# What a spend costs: the names that files have, and ours.
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
    """All that a ledger says: the account, its spends, and the chain they are read from."""

    account: Account
    spends: list[Spend]
    entries: list[ChainEntry]

    def __contains__(self, head: str) -> bool:
        return any(entry.head == head for entry in self.entries)


def load(file: storage.LedgerFile) -> Book:
    """Read everything, and refuse it where the chain does not hold."""
    rows = rows_of(file.connection, "entry")
    try:
        entries = [ChainEntry(text=row["text"], head=row["head"]) for row in rows]
    except LookupError:  # names of columns are not sealed: a bit of one was turned over
        raise storage.damaged(file.path, file.kept) from None
    place = broken(entries)
    if place is not None:
        raise InputError(
            f"{file.path} was changed by hand: its entry {place} does not follow from the ones before it. "
            f"{file.kept}. Put back a copy made before that, and spend from it again what was released since."
        )
    try:
        (private,) = rows_of(file.connection, "private")
        return _read(private, entries, [bool(row["changed"]) for row in rows])
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        # Sealed and chained, and yet not what was written: someone has made it up.
        raise storage.damaged(file.path, file.kept) from None


def append(
    connection: sqlite3.Connection, entries: list[ChainEntry], content: Mapping[str, Any], changed: bool | None = None
) -> None:
    """Write one entry more, in the file and in the list."""
    entry = following(entries, content)
    row = {"number": len(entries), "text": entry.text, "head": entry.head, "changed": changed}
    insert(connection, "entry", row)
    entries.append(entry)


def insert(connection: sqlite3.Connection, table: str, row: Mapping[str, Any]) -> None:
    """Write one row."""
    places = ", ".join(f":{name}" for name in row)
    connection.execute(f"insert into {table} ({', '.join(row)}) values ({places})", row)  # noqa: S608


def keep(connection: sqlite3.Connection, known: Fingerprint) -> None:
    """Write down what is known about the data."""
    connection.execute(
        "update private set digest = ?, distinct_rows = ?, sketch = ?", (known.digest, known.distinct, known.sketch)
    )


def _read(private: Mapping[str, Any], entries: list[ChainEntry], changed: list[bool]) -> Book:
    known = None
    if private["digest"] is not None:
        known = Fingerprint(digest=private["digest"], distinct=private["distinct_rows"], sketch=private["sketch"])
    first, *others = (entry.content for entry in entries)
    if first["kind"] != "ledger":
        raise ValueError
    released: dict[int, str] = {}
    anchor = None
    paid: list[dict[str, Any]] = []
    for entry, content, other in zip(entries[1:], others, changed[1:], strict=True):
        match content.pop("kind"):
            case "spend":
                paid.append(content | {"head": entry.head, "changed": other})
            case "release":
                released[content["spend"]] = content["digest"]
            case "anchor":
                anchor = content["place"]
            case _:
                raise ValueError
    account = Account(
        name=first["name"],
        created=first["created"],
        accounting="pure" if first["accounting"] == "pure" else "zcdp",
        neighbours=Neighbours.kept(first["neighbours"]),
        budget=Budget(epsilon=Fraction(first["epsilon"]), delta=Fraction(first["delta"])),
        most=None if first["most"] is None else Fraction(first["most"]),
        key=private["key"],
        known=known,
        head=entries[-1].head,
        anchor=anchor,
    )
    spends = [
        Spend(
            **{name: value for name, value in row.items() if name not in AMOUNTS}
            | {ours: Fraction(row[name]) for name, ours in AMOUNTS.items()}
            | {"state": "released" if row["number"] in released else "spent", "release": released.get(row["number"])}
        )
        for row in paid
    ]
    if [spend.number for spend in spends] != list(range(1, len(spends) + 1)):
        raise ValueError
    return Book(account, spends, entries)


def rows_of(connection: sqlite3.Connection, table: str) -> list[dict[str, Any]]:
    """Return all rows of a table, by column."""
    cursor = connection.execute(f"select * from {table} order by rowid")  # noqa: S608
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]


def as_text(content: Mapping[str, Any]) -> str:
    """Return JSON that can be kept; raises TypeError or ValueError for what is none."""
    text = json.dumps(content, default=_plain, ensure_ascii=False, allow_nan=False, sort_keys=True)
    text.encode()
    return text


def _plain(value: Any) -> int | str:
    if isinstance(value, Integral):  # numpy's
        return int(value)
    if isinstance(value, Fraction):
        return str(value)
    raise TypeError
