"""The account of what was spent on one data set: one file, written before a result is shown.

A spend is checked against the budget and written down in one transaction, so that of two processes that race for the
last of it one is refused, and a process that dies after the spend leaves it standing. The proof that a ledger keeps its
promise is in `ledger.md`. Fractions are kept exactly, as text; the file itself is the business of `sealed`.
"""

from __future__ import annotations

import csv
import io
import json
import os
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from ..errors import MisuseError
from . import sealed
from .account import Account, Asked, Spend, State, sensible
from .budget import Budget, Neighbours, exact, shown
from .fingerprint import Fingerprint, Rows
from .source import SystemSource

if TYPE_CHECKING:
    from ..baskets.core import Baskets

__all__ = ["Ledger", "Spend", "State"]

_LONGEST = 200  # characters of a name
_AMOUNTS = ("epsilon", "delta", "rho", "own_delta")
_KEY_WORDS = 4  # of 64 bits: the key of the fingerprint

_FORM = sealed.Form(
    version=1,
    tables={
        "account": """
create table account (        -- one row: whose budget this is, and how large
    name text not null,       -- what the operator calls the data
    created text not null,    -- when, in UTC
    accounting text not null, -- 'pure': epsilons add up; 'zcdp': rhos do. For life: it follows from delta
    neighbours text not null, -- the relation every spend must have, in words
    epsilon text not null,    -- the budget, an exact fraction
    delta text not null,      -- likewise; 0 in pure accounting
    most text,                -- the largest epsilon one release may take; null for no limit
    key blob not null,        -- secret: 32 random bytes that key the fingerprint
    digest blob,              -- fingerprint: of all rows; null until a spend came with its data
    distinct_rows integer,    -- fingerprint: how many rows differ
    sketch blob               -- fingerprint: the smallest hashes of rows
)""",
        "spend": """
create table spend (                -- one row a release that was paid for
    number integer primary key,     -- 1, 2, 3 …
    at text not null,               -- when, in UTC
    who text not null,              -- who asked
    what text not null,             -- the mechanism
    parameters text not null,       -- its public parameters, as JSON
    epsilon text not null,          -- what the release promises, rounded up; what it costs in pure accounting
    delta text not null,            -- what the release promises; never a cost by itself
    rho text not null,              -- what it costs in zCDP accounting, rounded up
    own_delta text not null,        -- the chance that the promise fails besides: comes off the account's delta
    changed integer not null,       -- 1 if the data were not those of the spend before
    state text not null check (state in ('spent', 'released')),
    release text                    -- the digest of what was released; null until that is recorded
)""",
    },
)


class Ledger:
    """The budget of one data set, and what was spent of it.

    Made by :meth:`create`, found again by :meth:`open`. Every call opens the file, checks that it is whole, and
    closes it.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> ledger = Ledger.create(f"{folder.name}/budget.db", epsilon=1)
    >>> half = Fraction(1, 2)
    >>> spend = ledger.spend(
    ...     epsilon=half, delta=Fraction(0), rho=half**2 / 2, own_delta=Fraction(0), neighbours=Neighbours.ADD_REMOVE,
    ...     what="laplace", parameters={"top": 10}, who="me", baskets=None,
    ... )
    >>> ledger.record(spend, "the digest of the release")
    >>> ledger.state().remaining
    Fraction(1, 2)
    >>> folder.cleanup()
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __repr__(self) -> str:
        return f"Ledger({str(self.path)!r})"

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        *,
        epsilon: Any,
        delta: Any = 0,
        neighbours: Neighbours | Literal["add-remove", "replace"] = "add-remove",
        most: Any = None,
        name: str = "",
    ) -> Ledger:
        """Make the ledger of a data set. It is kept for life, as it is made.

        Parameters
        ----------
        path
            The file to make; nothing may be there.
        epsilon, delta
            The whole budget. Without a delta, only releases without one can be paid from it, and their epsilons add up;
            with one, losses add up by zCDP.
        neighbours
            The relation that every release must promise: ``"add-remove"`` or ``"replace"``.
        most
            The largest epsilon one release may take.
        name
            What you call the data.

        Privacy: the file holds a secret key and a fingerprint of the data; keep it as you keep the data.
        """
        budget = sensible(Budget.of(epsilon, delta))
        limit = None if most is None else exact(most, "most")
        if limit is not None and not 0 < limit <= budget.epsilon:
            raise MisuseError(
                f"most is {shown(limit)}, but it must be over 0 and at most the whole budget, {shown(budget.epsilon)}."
            )
        row = {
            "name": _text(name, "name", least=0),
            "created": _now(),
            "accounting": "pure" if budget.pure else "zcdp",
            "neighbours": Neighbours.typed(neighbours).value,
            "epsilon": str(budget.epsilon),
            "delta": str(budget.delta),
            "most": None if limit is None else str(limit),
            "key": SystemSource().words(_KEY_WORDS).tobytes(),
            "digest": None,
            "distinct_rows": None,
            "sketch": None,
        }
        place = Path(path)
        sealed.create(place, _FORM, lambda connection: _insert(connection, "account", row))
        return cls(place)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Ledger:
        """Return the ledger in a file, if it is one and whole."""
        ledger = cls(Path(path))
        ledger.spends()
        return ledger

    def spend(
        self,
        *,
        epsilon: Fraction,
        delta: Fraction,
        rho: Fraction,
        own_delta: Fraction,
        neighbours: Neighbours,
        what: str,
        parameters: Mapping[str, Any],
        who: str,
        baskets: Baskets | None,
        same_data: bool = False,
    ) -> Spend:
        """Pay for a release before it is made: check and write down, in one transaction.

        Parameters
        ----------
        epsilon, delta
            What the release promises.
        rho, own_delta
            Its loss by zCDP, and the probability with which it may fail besides.
        neighbours
            The relation it promises this for.
        what, parameters, who
            The mechanism, its public parameters and who asked, for the record. None of them may depend on the data.
        baskets
            The data, to be compared with the fingerprint; None where they are not at hand.
        same_data
            These are the ledger's own data, even if they look like others.

        Returns
        -------
        Spend
            As written. Its `changed` is for the operator.

        Privacy: costs what it is told; raises `BudgetError` and spends nothing where the budget has less left.
        """
        asked = Asked.of(epsilon, delta, rho, own_delta, neighbours)
        told = {"who": _text(who, "who", least=0), "what": _text(what, "what"), "parameters": _as_json(parameters)}
        with sealed.opened(self.path, _FORM) as file:
            rows = self._hashed(file, baskets)  # hashing large data must not keep others from the ledger
            with file.writing() as connection:
                account, spends = _load(file)
                changed = self._check(account, spends, asked, rows, same_data)
                _insert(
                    connection,
                    "spend",
                    {"number": len(spends) + 1, "at": _now()}
                    | told
                    | {name: str(getattr(asked, name)) for name in _AMOUNTS}
                    | {"changed": int(changed), "state": "spent", "release": None},
                )
                # Nobody is part of any data set, so forgetting the rows for an empty one would let any other in later.
                if rows is not None and (account.known is None or len(rows.distinct)):
                    _keep(connection, rows.fingerprint())
                return _load(file)[1][-1]

    def check(
        self,
        *,
        epsilon: Fraction,
        delta: Fraction,
        rho: Fraction,
        own_delta: Fraction,
        neighbours: Neighbours,
        baskets: Baskets | None,
        same_data: bool = False,
    ) -> State:
        """Return the state that :meth:`spend` would leave, or raise what it would raise. Nothing is spent."""
        asked = Asked.of(epsilon, delta, rho, own_delta, neighbours)
        with sealed.opened(self.path, _FORM) as file:
            rows = self._hashed(file, baskets)
            with file.reading():
                account, spends = _load(file)
            self._check(account, spends, asked, rows, same_data)
            return account.state([*spends, asked])

    def record(self, spend: Spend, digest: str) -> None:
        """Write down that the release which `spend` paid for has left the building, by its digest."""
        digest = _text(digest, "digest")
        with sealed.opened(self.path, _FORM) as file, file.writing() as connection:
            _, spends = _load(file)
            kept = spends[spend.number - 1] if 0 < spend.number <= len(spends) else None
            if kept is None or (kept.at, kept.who, kept.what) != (spend.at, spend.who, spend.what):
                raise MisuseError(f"Spend {spend.number} is not one of {self.path}: record it where it was spent.")
            if kept.release not in (None, digest):
                raise MisuseError(
                    f"Spend {spend.number} of {self.path} has another release recorded already; each release needs a "
                    "spend of its own."
                )
            connection.execute(
                "update spend set state = 'released', release = ? where number = ?", (digest, spend.number)
            )

    def spends(self) -> tuple[Spend, ...]:
        """Return all spends, in order."""
        with sealed.opened(self.path, _FORM) as file, file.reading():
            return tuple(_load(file)[1])

    def state(self) -> State:
        """Return where the account stands."""
        with sealed.opened(self.path, _FORM) as file, file.reading():
            account, spends = _load(file)
            return account.state(spends)

    def export(self, stream: BinaryIO, format: Literal["json", "csv"] = "json") -> None:  # noqa: A002
        """Write the account and its spends for others to read: nothing in it depends on the data.

        Parameters
        ----------
        stream
            Where to; bytes.
        format
            ``"json"``: one object with `ledger` and `spends`. ``"csv"``: a line a spend.
        """
        with sealed.opened(self.path, _FORM) as file, file.reading():
            account, spends = _load(file)
        if format == "json":
            told = {"ledger": account.state(spends).to_dict(), "spends": [spend.to_dict() for spend in spends]}
            stream.write(json.dumps(told, ensure_ascii=False, indent=1).encode() + b"\n")
        elif format == "csv":
            text = io.StringIO()
            lines = csv.writer(text, lineterminator="\n")
            lines.writerow(name for name in Spend.__dataclass_fields__ if name != "changed")
            for spend in spends:
                lines.writerow((spend.to_dict() | {"parameters": _as_json(spend.parameters)}).values())
            stream.write(text.getvalue().encode())
        else:
            raise MisuseError(f"A ledger is exported as json or csv; {format!r} was given.")

    def _hashed(self, file: sealed.Sealed, baskets: Baskets | None) -> Rows | None:
        if baskets is None:
            return None
        with file.reading():
            key = _load(file)[0].key
        return Rows.of(baskets, key)

    def _check(
        self, account: Account, spends: Sequence[Spend], asked: Asked, rows: Rows | None, same_data: bool
    ) -> bool:
        """Raise unless the account allows it and the data are its own; say whether they have changed."""
        account.check(spends, asked)
        if rows is None or account.known is None:
            return False
        likeness = rows.likeness(account.known)
        if likeness == "other" and not same_data:
            raise MisuseError(
                f"{self.path} is the ledger of other data: most of these baskets are not among them. Nothing was "
                "spent. Use the ledger of these data. If they are the same data, much changed, say so with "
                "same_data=True."
            )
        return likeness != "same"


def _load(file: sealed.Sealed) -> tuple[Account, list[Spend]]:
    try:
        (row,) = _rows_of(file.connection, "account")
        known = None
        if row["digest"] is not None:
            known = Fingerprint(digest=row["digest"], distinct=row["distinct_rows"], sketch=row["sketch"])
        account = Account(
            name=row["name"],
            created=row["created"],
            accounting="pure" if row["accounting"] == "pure" else "zcdp",
            neighbours=Neighbours(row["neighbours"]),
            budget=Budget(epsilon=Fraction(row["epsilon"]), delta=Fraction(row["delta"])),
            most=None if row["most"] is None else Fraction(row["most"]),
            key=row["key"],
            known=known,
        )
        spends = [
            Spend(
                **row
                | {name: Fraction(row[name]) for name in _AMOUNTS}
                | {"parameters": json.loads(row["parameters"]), "changed": bool(row["changed"])}
            )
            for row in _rows_of(file.connection, "spend")
        ]
    except (ArithmeticError, LookupError, TypeError, ValueError):
        # Sealed, and yet not what was written: someone has edited the file.
        raise sealed.damaged(file.path) from None
    return account, spends


def _rows_of(connection: sqlite3.Connection, table: str) -> list[dict[str, Any]]:
    cursor = connection.execute(f"select * from {table} order by rowid")  # noqa: S608
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]


def _insert(connection: sqlite3.Connection, table: str, row: Mapping[str, Any]) -> None:
    places = ", ".join(f":{name}" for name in row)
    connection.execute(f"insert into {table} ({', '.join(row)}) values ({places})", row)  # noqa: S608


def _keep(connection: sqlite3.Connection, known: Fingerprint) -> None:
    connection.execute(
        "update account set digest = ?, distinct_rows = ?, sketch = ?", (known.digest, known.distinct, known.sketch)
    )


def _text(value: str, name: str, least: int = 1) -> str:
    """Return a text that can be kept, and shown in a terminal."""
    if not isinstance(value, str) or not least <= len(value) <= _LONGEST or not value.isprintable():
        raise MisuseError(
            f"{name} is a text of {least} to {_LONGEST} letters on one line; {str(value)[:40]!r} was given."
        )
    return value


def _as_json(parameters: Mapping[str, Any]) -> str:
    def plain(value: Any) -> int | str:
        if isinstance(value, Integral):  # numpy's
            return int(value)
        if isinstance(value, Fraction):
            return str(value)
        raise TypeError

    try:
        text = json.dumps(dict(parameters), default=plain, ensure_ascii=False, allow_nan=False, sort_keys=True)
        text.encode()
    except (TypeError, ValueError):
        raise MisuseError(
            "Parameters are kept as JSON: texts, finite numbers, true, false, lists and objects of these."
        ) from None
    return text


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
