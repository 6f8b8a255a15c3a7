"""The store of a single service: one SQLite file with a write-ahead log, forced to the disk with every transaction.

The log shows every transaction by itself, and so the tokens that were spent with each group of reports. It is emptied
after every transaction that takes reports, before the next: a copy of the files shows the last transaction at most. The
file itself shows no order: spent tokens stay in place, and a block is rewritten with each report that is added to it.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import COUNTED, Upload
from ._schema import TABLES
from ._store import UNSPENT, StoreError, StudyStore, decide_codes, parse_key

# Seconds that a transaction waits for the lock. Larger: an upload to a slow disk waits longer; smaller: it is refused
# earlier.
_LOCK_SECONDS = 30
# KiB of pages that a thread caches. Any of 40 threads may read: with 64 MiB each they took 2.9 GiB. The thread that
# takes reports looks up tokens all over the file, and needs the larger cache.
_READING_CACHE, _TAKING_CACHE = 4 << 10, 64 << 10
_SETTINGS = (
    "journal_mode = WAL",
    "synchronous = FULL",  # an acknowledged report is on the disk
    "secure_delete = ON",  # deleted reports are overwritten with zeros
    f"cache_size = -{_READING_CACHE}",
    "journal_size_limit = 67108864",
    "temp_store = MEMORY",  # no report goes to a temporary file
)


class _ThreadConnection(NamedTuple):
    """The connection of a thread, and the lock under which it is used: SQLite crashes if it is closed while in use."""

    connection: sqlite3.Connection
    lock: threading.RLock


class SQLiteStore(StudyStore):
    """A store in one file. Each thread has its own connection."""

    kind = "sqlite"
    placeholder = "?"

    def __init__(self, path: Path) -> None:
        self.path, self.place = path, str(path)
        self._local = threading.local()
        self._connections: list[_ThreadConnection] = []
        self._is_closed = False
        self._open_blocks = {}
        self._lock = threading.Lock()
        self._log = path.with_name(f"{path.name}-wal")
        _keep_private(path)
        with self._naming_the_store(), self._borrow() as connection:
            script = TABLES.format(bytes="BLOB", long="INTEGER", clustered=" WITHOUT ROWID")
            connection.executescript(f"BEGIN IMMEDIATE; {script} COMMIT")
        with self.write_cursor() as cursor:
            self._check_version(cursor)

    @contextlib.contextmanager
    def _borrow(self) -> Iterator[sqlite3.Connection]:
        """Lend the connection of this thread; the store is not closed before its return."""
        connection, lock = getattr(self._local, "connection", None) or self._connect()
        with lock:
            self._check_open()
            yield connection

    def _check_open(self) -> None:
        if self._is_closed:
            raise StoreError(f"The store {self.path} is closed.")

    def _connect(self) -> _ThreadConnection:
        connection = sqlite3.connect(self.path, timeout=_LOCK_SECONDS, isolation_level=None, check_same_thread=False)
        for setting in _SETTINGS:
            connection.execute(f"PRAGMA {setting}").close()
        lent = _ThreadConnection(connection, threading.RLock())
        with self._lock:
            if self._is_closed:
                connection.close()
            self._check_open()
            self._connections.append(lent)
        self._local.connection = lent
        return lent

    def close(self) -> None:
        """Close every connection, after its current transaction."""
        with self._lock:
            self._is_closed = True
            connections = list(self._connections)
            self._connections.clear()
        for connection, lock in connections:
            with lock:
                connection.close()

    @contextlib.contextmanager
    def _naming_the_store(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            # SQLite makes a log beside the file, also for reading.
            is_locked_place = getattr(error, "sqlite_errorname", "").startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY"))
            fix = (
                " Its directory must be writable, also for reading: copy it to such a place." if is_locked_place else ""
            )
            raise StoreError(f"The store {self.path} cannot be used: {error}.{fix}") from None

    @contextlib.contextmanager
    def read_cursor(self) -> Iterator[Any]:
        """Yield a cursor that reads."""
        with self._naming_the_store(), self._borrow() as connection, contextlib.closing(connection.cursor()) as cursor:
            yield cursor

    @contextlib.contextmanager
    def write_cursor(self) -> Iterator[Any]:
        """Yield the cursor of a transaction, after all earlier transactions."""
        with self.read_cursor() as cursor:
            cursor.execute("BEGIN IMMEDIATE")
            try:
                yield cursor
                cursor.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    cursor.execute("ROLLBACK")
                raise

    def now(self) -> float:
        """Return the time of this machine in seconds: the file is on it."""
        return time()

    def take(self, name: str, upload: Upload) -> tuple[NDArray[np.uint8], int]:
        """Spend tokens and store reports. Mostly all tokens are unspent, and that case is tried first."""
        self._enlarge_cache()
        with self.write_cursor() as cursor:
            cursor.execute("SELECT state, people FROM rounds WHERE study = ? AND number = ?", (name, upload.round))
            rows = cursor.fetchall()
            state, people = rows[0] if rows else ("drafted", 0)  # the protocol asks for it, and it is not stored yet
            fresh = np.flatnonzero(upload.codes == COUNTED).tolist()
            codes = upload.codes
            cursor.execute("SAVEPOINT trial")
            if state != "open" or not self._spend(cursor, name, upload, fresh):
                cursor.execute("ROLLBACK TO trial")
                stored_keys = self._select_keys(cursor, name, [upload.tokens[row] for row in fresh])
                codes = decide_codes(upload, stored_keys, round_is_open=state == "open")
                fresh = np.flatnonzero((codes == COUNTED) & (upload.codes == COUNTED)).tolist()
                self._spend(cursor, name, upload, fresh)
            if fresh:
                self._add_reports(cursor, name, upload.round, upload.words[fresh])
                people += len(fresh)
                cursor.execute(
                    "UPDATE rounds SET people = ? WHERE study = ? AND number = ?", (people, name, upload.round)
                )
        return codes, people

    def _enlarge_cache(self) -> None:
        """Give this thread, which takes reports, the larger cache."""
        if not getattr(self._local, "takes_reports", False):
            with self._naming_the_store(), self._borrow() as connection:
                connection.execute(f"PRAGMA cache_size = -{_TAKING_CACHE}").close()
            self._local.takes_reports = True

    def after_taking(self) -> None:
        """Empty the log, which shows the reports and tokens of one transaction together."""
        self.tidy()

    def _spend(self, cursor: Any, name: str, upload: Upload, rows: list[int]) -> bool:
        """Spend the tokens of some rows of an upload, and return whether all existed and were unspent."""
        cursor.executemany(
            "UPDATE tokens SET used = ? WHERE study = ? AND hash = ? AND used = ?",
            [(upload.keys[row], name, upload.tokens[row], UNSPENT) for row in rows],
        )
        return not rows or cursor.rowcount == len(rows)

    def _select_keys(self, cursor: Any, name: str, tokens: Sequence[bytes]) -> dict[bytes, bytes | None]:
        stored_keys: dict[bytes, bytes | None] = {}
        for token in tokens:
            cursor.execute("SELECT used FROM tokens WHERE study = ? AND hash = ?", (name, token))
            for (column,) in cursor.fetchall():
                stored_keys[token] = parse_key(column)
        return stored_keys

    def _remove_block(self, cursor: Any, block: int) -> list[tuple[bytes]]:
        # Two statements: RETURNING needs SQLite 3.35, and Python 3.11 runs with older libraries.
        cursor.execute("SELECT words FROM blocks WHERE id = ?", (block,))
        rows: list[tuple[bytes]] = cursor.fetchall()
        cursor.execute("DELETE FROM blocks WHERE id = ?", (block,))
        return rows

    def tidy(self, *, wait: float = 0) -> bool:
        """Copy the log into the file, where deleted content is overwritten, and empty the log."""
        try:
            if not self._log.stat().st_size:
                return True
            with self._borrow() as connection:
                connection.execute(f"PRAGMA busy_timeout = {round(1000 * wait)}").close()
                try:
                    with contextlib.closing(connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")) as cursor:
                        ((busy, *_),) = cursor.fetchall()
                finally:
                    connection.execute(f"PRAGMA busy_timeout = {1000 * _LOCK_SECONDS}").close()
        except FileNotFoundError:
            return True
        except (OSError, sqlite3.Error):
            return False  # on a full disk, say: the transactions are stored, and a later call empties the log
        return not busy


def _keep_private(path: Path) -> None:
    """Make a file with access for its owner alone, or remove the access of other users; likewise for its log."""
    with contextlib.suppress(OSError):  # a file that cannot be made raises when it is opened
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    for ending in ("", "-wal", "-shm"):
        file = path.with_name(path.name + ending)
        with contextlib.suppress(OSError):
            if file.stat().st_mode & 0o077:
                file.chmod(0o600)
