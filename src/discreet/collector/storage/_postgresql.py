"""The store of several services side by side: a PostgreSQL database.

Servers meet in the rows alone. Tokens are locked in the order of their hashes and the round after them, so that no two
transactions deadlock. Closing a round waits for reports that are being stored; later reports are refused.

Rows name the transaction that wrote them, and the database's log has them all: a reader of its files sees which
tokens were spent with which reports. Old versions of blocks are removed every few seconds; `docs/studies.md` says which
traces stay.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from queue import LifoQueue
from time import monotonic, sleep
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg import errors

from .. import COUNTED, Upload
from ._schema import TABLES
from ._store import StoreError, StudyStore, decide_codes, parse_key

# Connections of one server. PostgreSQL allows 100 by default: larger, fewer servers fit; smaller, readers wait.
_CONNECTIONS = 8
_OPTIONS = "-c lock_timeout=30s -c statement_timeout=120s"
# Attempts of a transaction that collides. Larger: an upload waits longer; smaller: more are refused.
_ATTEMPTS = 5
_TIDY_SECONDS = 5  # between two clean-ups; larger: old versions stay longer; smaller: more of the database's time
_RETRY_SECONDS = 0.2  # between two attempts while a scrub waits; larger: a scrub returns later; smaller: more queries
# The pause after an incomplete clean-up, in durations of the clean-up. It limits the load while an old snapshot stays.
_PAUSE_DURATIONS = 9
# VACUUM keeps a row version for an older snapshot (of a backup, say), and succeeds. It marks a page without old
# versions as visible to all; the second table has the long values of the first.
_UNCLEAN_PAGES = """
SELECT COALESCE(SUM(GREATEST(relpages - relallvisible, 0)), 0)::bigint FROM pg_class WHERE oid IN (
    SELECT unnest(ARRAY[oid, reltoastrelid]) FROM pg_class WHERE oid = %s::regclass
)
"""
_TABLES_LOCK = 0x64697363  # the lock under which tables are made: an arbitrary number, equal for all servers


class PostgreSQLStore(StudyStore):
    """A store in a database, with a pool of connections."""

    kind = "postgresql"
    placeholder = "%s"

    def __init__(self, address: str) -> None:
        self._address = address
        parts = urlsplit(address)
        self.place = f"{parts.hostname or 'the local server'}{parts.path}"  # without a password
        self._free: LifoQueue[psycopg.Connection[Any] | None] = LifoQueue()
        for _ in range(_CONNECTIONS):
            self._free.put(None)
        self._open_blocks = {}
        self._scrubbed = 0  # the number of scrubbed rounds at the last clean-up
        self._note_scrub()  # a service may have been killed before its clean-up
        try:
            self._make_tables()
        except BaseException:
            self.close()
            raise

    def _make_tables(self) -> None:
        with self.write_cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", (_TABLES_LOCK,))
            for statement in TABLES.format(bytes="BYTEA", long="BIGINT", clustered="").split(";"):
                if statement.strip():
                    cursor.execute(statement)
            self._check_version(cursor)

    @contextlib.contextmanager
    def _borrow(self) -> Iterator[psycopg.Connection[Any]]:
        """Lend a connection, and open a lost one again. A call waits while all connections are in use."""
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
    def _naming_the_store(self) -> Iterator[None]:
        try:
            yield
        except (errors.DeadlockDetected, errors.SerializationFailure):
            raise
        except psycopg.Error as error:
            message = str(error).partition("\n")[0].strip() or type(error).__name__
            raise StoreError(f"The store {self.place} cannot be used: {message.rstrip('.')}.") from None

    @contextlib.contextmanager
    def read_cursor(self) -> Iterator[Any]:
        """Yield a cursor that reads."""
        with self._naming_the_store(), self._borrow() as connection, connection.cursor(binary=True) as cursor:
            yield cursor

    @contextlib.contextmanager
    def write_cursor(self) -> Iterator[Any]:
        """Yield the cursor of a transaction."""
        with self.read_cursor() as cursor, cursor.connection.transaction():
            yield cursor

    def now(self) -> float:
        """Return the time of the database in seconds."""
        ((seconds,),) = self._rows("SELECT extract(epoch FROM clock_timestamp())::float8")
        return float(seconds)

    def take(self, name: str, upload: Upload) -> tuple[NDArray[np.uint8], int]:
        """Spend tokens and store reports; retry a transaction that collided."""
        for _ in range(_ATTEMPTS - 1):
            with contextlib.suppress(errors.DeadlockDetected, errors.SerializationFailure):
                return self._take_once(name, upload)
        return self._take_once(name, upload)

    def _take_once(self, name: str, upload: Upload) -> tuple[NDArray[np.uint8], int]:
        with self.write_cursor() as cursor:
            tokens = [upload.tokens[row] for row in np.flatnonzero(upload.codes == COUNTED)]
            stored_keys = self._select_keys(cursor, name, tokens, lock="FOR UPDATE")
            codes = decide_codes(upload, stored_keys, round_is_open=True)
            fresh = np.flatnonzero((codes == COUNTED) & (upload.codes == COUNTED)).tolist()
            # The row of the round stays locked until the end of the transaction, so it cannot close before.
            cursor.execute(
                "UPDATE rounds SET people = people + %s WHERE study = %s AND number = %s AND state = 'open' "
                "RETURNING people",
                (len(fresh), name, upload.round),
            )
            rows = cursor.fetchall()
            if not rows:
                codes = decide_codes(upload, stored_keys, round_is_open=False)
                cursor.execute("SELECT people FROM rounds WHERE study = %s AND number = %s", (name, upload.round))
                rows = cursor.fetchall() or [(0,)]  # the protocol asks for the round, and it is not stored yet
            elif fresh:
                cursor.execute(
                    "UPDATE tokens SET used = given.used "
                    "FROM (SELECT unnest(%b::bytea[]) AS hash, unnest(%b::bytea[]) AS used) AS given "
                    "WHERE tokens.study = %s AND tokens.hash = given.hash",
                    ([upload.tokens[row] for row in fresh], [upload.keys[row] for row in fresh], name),
                )
                self._add_reports(cursor, name, upload.round, upload.words[fresh])
                self._untidy["blocks"] = True
        return codes, int(rows[0][0])

    def _select_keys(
        self, cursor: Any, name: str, tokens: Sequence[bytes], lock: str = ""
    ) -> dict[bytes, bytes | None]:
        cursor.execute(
            f"SELECT hash, used FROM tokens WHERE study = %s AND hash = ANY(%b) ORDER BY hash {lock}",  # noqa: S608
            (name, list(tokens)),
        )
        return {token: parse_key(column) for token, column in cursor.fetchall()}

    def _remove_block(self, cursor: Any, block: int) -> list[tuple[bytes]]:
        cursor.execute("DELETE FROM blocks WHERE id = %s RETURNING words", (block,))
        return list(cursor.fetchall())

    def _note_scrub(self) -> None:
        self._untidy = {"blocks": True, "tokens": True}
        self._tidied, self._tidying_seconds = float("-inf"), 0.0

    def tidy(self, *, wait: float = 0) -> bool:
        """Remove old row versions from the tables; the database's log is beyond reach."""
        begun = monotonic()
        if begun - self._tidied < max(_TIDY_SECONDS, _PAUSE_DURATIONS * self._tidying_seconds):
            return not any(self._untidy.values())
        try:
            self._notice_scrubs()
            while not self._vacuum() and monotonic() - begun < wait:
                sleep(_RETRY_SECONDS)
        except StoreError:
            return False
        self._tidied, is_tidy = monotonic(), not any(self._untidy.values())
        self._tidying_seconds = 0.0 if is_tidy or wait else self._tidied - begun
        return is_tidy

    def _notice_scrubs(self) -> None:
        """Note that a second process scrubbed rounds since the last call: the command `study scrub`, or a service."""
        ((scrubbed,),) = self._rows("SELECT COUNT(*) FROM rounds WHERE state = 'scrubbed'")
        if scrubbed != self._scrubbed:
            self._untidy = dict.fromkeys(self._untidy, True)
            self._scrubbed = scrubbed

    def _vacuum(self) -> bool:
        """Vacuum the tables that need it, and return whether no old row version is left in them."""
        for table in [table for table, is_untidy in self._untidy.items() if is_untidy]:
            self._untidy[table] = False  # before: reports that come meanwhile set it again
            is_clean = False
            try:
                with self.read_cursor() as cursor:
                    # With the index: otherwise few old versions leave their traces, and their pages count as unclean.
                    cursor.execute(f"VACUUM (INDEX_CLEANUP ON) {table}")
                    cursor.execute(_UNCLEAN_PAGES, (table,))
                    ((unclean_pages,),) = cursor.fetchall()
                    is_clean = not unclean_pages
            finally:
                if not is_clean:
                    self._untidy[table] = True
        return not any(self._untidy.values())
