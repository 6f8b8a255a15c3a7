"""The store of several services side by side: a PostgreSQL database.

Servers meet in the rows alone. Tokens are locked in the order of their hashes and the round after them, so that no two
wait for each other; a round that is being closed waits for the reports that are being stored, and none comes after.

Rows know the transaction that wrote them, and the database's log has them all: who reads those sees which tokens were
spent with which reports. Old versions of blocks are taken away every few seconds, and the rest is told in the docs.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from queue import LifoQueue
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg import errors

from ...local.oracle_steps import Words
from .. import COUNTED, Upload
from ._schema import TABLES, VERSION
from ._sql import SQLStore
from ._store import BLOCK, StoreError, decide, packed_bytes, random_place, shuffled, spent_with, words_of

_CONNECTIONS = 8  # of one server
_OPTIONS = "-c lock_timeout=30s -c statement_timeout=120s"
_TRIES = 5  # of a transaction that met another
_TIDY = 5  # seconds between one tidying and the next
_ONE_AT_A_TIME = 0x64697363  # the lock under which tables are made: any number, the same for all


class PostgreSQLStore(SQLStore):
    """Keeps studies in a database. A few connections are lent to whoever comes."""

    kind = "postgresql"
    placeholder = "%s"

    def __init__(self, address: str) -> None:
        self._address = address
        told = urlsplit(address)
        self.place = f"{told.hostname or 'the local server'}{told.path}"  # without a password
        self._free: LifoQueue[psycopg.Connection[Any] | None] = LifoQueue()
        for _ in range(_CONNECTIONS):
            self._free.put(None)
        self._tails: dict[tuple[str, int], int] = {}
        # What another service left behind when it was killed is not known: so there is something to do at first.
        self._untidy = {"blocks": True, "tokens": True}
        self._tidied = float("-inf")
        try:
            self._make_tables()
        except BaseException:
            self.close()
            raise

    def _make_tables(self) -> None:
        with self.writing() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", (_ONE_AT_A_TIME,))
            for statement in TABLES.format(bytes="BYTEA", long="BIGINT", clustered="").split(";"):
                if statement.strip():
                    cursor.execute(statement)
            cursor.execute("SELECT version FROM about")
            found = cursor.fetchall()
            if not found:
                cursor.execute("INSERT INTO about (version) VALUES (%s)", (VERSION,))
            elif found[0][0] != VERSION:
                raise StoreError(
                    f"The tables in {self.place} were made by another discreet (version {found[0][0]}, not {VERSION})."
                )

    @contextlib.contextmanager
    def _lent(self) -> Iterator[psycopg.Connection[Any]]:
        """Lend a connection; one that was lost is made anew. Whoever comes when all are lent waits."""
        connection = self._free.get()
        try:
            if connection is None or connection.closed:
                connection = psycopg.connect(self._address, autocommit=True, connect_timeout=10, options=_OPTIONS)
            yield connection
        finally:
            self._free.put(connection)

    def close(self) -> None:
        """Close every connection."""
        for connection in [self._free.get() for _ in range(_CONNECTIONS)]:
            if connection is not None:
                connection.close()
            self._free.put(None)

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except (errors.DeadlockDetected, errors.SerializationFailure):
            raise
        except psycopg.Error as error:
            said = str(error).partition("\n")[0].strip() or type(error).__name__
            raise StoreError(f"The store {self.place} cannot be used: {said.rstrip('.')}.") from None

    @contextlib.contextmanager
    def reading(self) -> Iterator[Any]:
        """Give a cursor to read with."""
        with self._told(), self._lent() as connection, connection.cursor(binary=True) as cursor:
            yield cursor

    @contextlib.contextmanager
    def writing(self) -> Iterator[Any]:
        """Give a cursor of a transaction."""
        with (
            self._told(),
            self._lent() as connection,
            connection.transaction(),
            connection.cursor(binary=True) as cursor,
        ):
            yield cursor

    def now(self) -> float:
        """Return the time of the database."""
        ((seconds,),) = self._rows("SELECT extract(epoch FROM clock_timestamp())::float8")
        return float(seconds)

    def take(self, name: str, upload: Upload) -> tuple[NDArray[np.uint8], int]:
        """Spend tokens and store reports."""
        for _ in range(_TRIES - 1):
            with contextlib.suppress(errors.DeadlockDetected, errors.SerializationFailure):
                return self._taken(name, upload)
        return self._taken(name, upload)

    def _taken(self, name: str, upload: Upload) -> tuple[NDArray[np.uint8], int]:
        with self.writing() as cursor:
            candidates = np.flatnonzero(upload.codes == COUNTED).tolist()
            cursor.execute(
                "SELECT hash, used FROM tokens WHERE study = %s AND hash = ANY(%b) ORDER BY hash FOR UPDATE",
                (name, [upload.tokens[at] for at in candidates]),
            )
            known = {token: spent_with(used) for token, used in cursor.fetchall()}
            codes = decide(upload, known, open_=True)
            fresh = np.flatnonzero((codes == COUNTED) & (upload.codes == COUNTED)).tolist()
            people = self._gate(cursor, name, upload.round, len(fresh))
            if people is None:
                codes = decide(upload, known, open_=False)
                cursor.execute("SELECT people FROM rounds WHERE study = %s AND number = %s", (name, upload.round))
                found = cursor.fetchall()
                people = found[0][0] if found else 0  # asked for, and not stored yet
            elif fresh:
                cursor.execute(
                    "UPDATE tokens SET used = given.used "
                    "FROM (SELECT unnest(%b::bytea[]) AS hash, unnest(%b::bytea[]) AS used) AS given "
                    "WHERE tokens.study = %s AND tokens.hash = given.hash",
                    ([upload.tokens[at] for at in fresh], [upload.keys[at] for at in fresh], name),
                )
                self._store(cursor, name, upload.round, upload.words[fresh])
                self._untidy["blocks"] = True
        return codes, int(people)

    def spent(self, name: str, tokens: Sequence[bytes]) -> dict[bytes, bytes | None]:
        """Return what tokens were spent with."""
        with self.reading() as cursor:
            cursor.execute("SELECT hash, used FROM tokens WHERE study = %s AND hash = ANY(%b)", (name, list(tokens)))
            return {token: spent_with(used) for token, used in cursor.fetchall()}

    def _gate(self, cursor: Any, name: str, number: int, many: int) -> int | None:
        """Add to the people of a round that is open, and hold it open until the end of the transaction."""
        cursor.execute(
            "UPDATE rounds SET people = people + %s WHERE study = %s AND number = %s AND state = 'open' "
            "RETURNING people",
            (many, name, number),
        )
        found = cursor.fetchall()
        return int(found[0][0]) if found else None

    def _store(self, cursor: Any, name: str, number: int, words: Words) -> None:
        """Put reports among those of a block of this server's, in random order, and go on with new blocks."""
        wide, tail = words.shape[1], self._tails.get((name, number))
        if tail is not None:
            cursor.execute("DELETE FROM blocks WHERE id = %s RETURNING words", (tail,))
            words = np.concatenate([words_of(one, wide) for (one,) in cursor.fetchall()] + [words])
        words = shuffled(words)
        places = [random_place() for _ in range(0, len(words), BLOCK)]
        cursor.executemany(
            "INSERT INTO blocks (id, study, round, words) VALUES (%s, %s, %s, %b)",
            [
                (place, name, number, packed_bytes(words[at * BLOCK : (at + 1) * BLOCK]))
                for at, place in enumerate(places)
            ],
        )
        if len(words) % BLOCK:
            self._tails[name, number] = places[-1]
        else:
            self._tails.pop((name, number), None)

    def scrubbed(self) -> None:
        """Note that reports were deleted."""
        self._untidy = {"blocks": True, "tokens": True}
        self._tidied = float("-inf")

    def tidy(self, *, wait: float = 0) -> bool:
        """Take away what deleted and changed rows leave behind in their tables; their log is the database's own."""
        if monotonic() - self._tidied < _TIDY:
            return not any(self._untidy.values())
        for table, owed in self._untidy.items():
            if owed:
                self._untidy[table] = False
                try:
                    with self.reading() as cursor:
                        cursor.execute(f"VACUUM {table}")
                except StoreError:
                    self._untidy[table] = True
                    return False
        self._tidied = monotonic()
        return True
