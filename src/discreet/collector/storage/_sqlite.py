"""The store of a single service: one SQLite file, written ahead and forced to the disk with every transaction.

The log has every transaction by itself, and so which tokens were spent with which reports. It is emptied after each one
that takes reports, before the next: a copy of the files shows the last of them at most. The file itself has no order:
spent tokens stay where they were, and blocks are written anew with what is added to them.
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

from ...local.oracle_steps import Words
from .. import COUNTED, Upload
from ._schema import TABLES, VERSION
from ._sql import SQLStore
from ._store import BLOCK, UNSPENT, StoreError, decide, packed_bytes, random_place, shuffled, spent_with, words_of

_WAIT = 30  # seconds for another transaction
# KiB of pages that a thread keeps. Any of 40 threads may read, and one takes reports: tokens lie all over the file.
_READING_CACHE, _TAKING_CACHE = 4 << 10, 64 << 10


class _ThreadConnection(NamedTuple):
    """The connection of a thread, and the lock under which it is used: SQLite crashes if it is closed meanwhile."""

    connection: sqlite3.Connection
    lock: threading.RLock


class SQLiteStore(SQLStore):
    """Keeps studies in one file. Each thread has a connection of its own."""

    kind = "sqlite"
    placeholder = "?"

    def __init__(self, path: Path) -> None:
        self.path = path
        self._local = threading.local()
        self._connections: list[_ThreadConnection] = []
        self._closed = False
        self._tails: dict[tuple[str, int], int] = {}
        self._lock = threading.Lock()
        self._log = path.with_name(f"{path.name}-wal")
        _keep_private(path)
        with self._told(), self._lent() as connection:
            script = TABLES.format(bytes="BLOB", long="INTEGER", clustered=" WITHOUT ROWID")
            connection.executescript(f"BEGIN IMMEDIATE; {script} COMMIT")
        with self.writing() as cursor:
            cursor.execute("SELECT version FROM about")
            found = cursor.fetchall()
            if not found:
                cursor.execute("INSERT INTO about (version) VALUES (?)", (VERSION,))
            elif found[0][0] != VERSION:
                raise StoreError(
                    f"{path} was made by another version of discreet (tables {found[0][0]}, not {VERSION})."
                )

    @contextlib.contextmanager
    def _lent(self) -> Iterator[sqlite3.Connection]:
        """Lend the connection of this thread; the store is not closed before it is given back."""
        connection, lock = self._connection()
        with lock:
            self._check_open()
            yield connection

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError(f"The store {self.path} is closed.")

    def _connection(self) -> _ThreadConnection:
        known: _ThreadConnection | None = getattr(self._local, "connection", None)
        if known is not None:
            return known
        made = sqlite3.connect(self.path, timeout=_WAIT, isolation_level=None, check_same_thread=False)
        # An acknowledged report is on the disk; what is scrubbed is overwritten.
        for setting in (
            "journal_mode = WAL", "synchronous = FULL", "secure_delete = ON", f"cache_size = -{_READING_CACHE}",
            "journal_size_limit = 67108864", "temp_store = MEMORY",
        ):  # fmt: skip
            made.execute(f"PRAGMA {setting}").close()
        new = _ThreadConnection(made, threading.RLock())
        with self._lock:
            if self._closed:
                made.close()
            self._check_open()
            self._connections.append(new)
        self._local.connection = new
        return new

    def close(self) -> None:
        """Close every connection, after the transaction it is in."""
        with self._lock:
            self._closed = True
            connections = list(self._connections)
            self._connections.clear()
        for connection, lock in connections:
            with lock:
                connection.close()

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StoreError(f"The store {self.path} cannot be used: {error}.") from None

    @contextlib.contextmanager
    def reading(self) -> Iterator[Any]:
        """Give a cursor to read with."""
        with self._told(), self._lent() as connection, contextlib.closing(connection.cursor()) as cursor:
            yield cursor

    @contextlib.contextmanager
    def writing(self) -> Iterator[Any]:
        """Give a cursor of a transaction, which waits for those before it."""
        with self._told(), self._lent() as connection, contextlib.closing(connection.cursor()) as cursor:
            cursor.execute("BEGIN IMMEDIATE")
            try:
                yield cursor
                cursor.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    cursor.execute("ROLLBACK")
                raise

    def now(self) -> float:
        """Return the time of this machine, which is the file's as well."""
        return time()

    def take(self, name: str, upload: Upload) -> tuple[NDArray[np.uint8], int]:
        """Spend tokens and store reports. Mostly all of them are new, which is tried first."""
        self._keep_more_pages()
        with self.writing() as cursor:
            cursor.execute("SELECT state, people FROM rounds WHERE study = ? AND number = ?", (name, upload.round))
            found = cursor.fetchall()
            state, people = found[0] if found else ("drafted", 0)  # asked for, and not stored yet
            fresh = np.flatnonzero(upload.codes == COUNTED).tolist()
            codes = upload.codes
            cursor.execute("SAVEPOINT trial")
            if state != "open" or not self._spent(cursor, name, upload, fresh):
                cursor.execute("ROLLBACK TO trial")
                known = self._known(cursor, name, [upload.tokens[at] for at in fresh])
                codes = decide(upload, known, open_=state == "open")
                fresh = np.flatnonzero((codes == COUNTED) & (upload.codes == COUNTED)).tolist()
                self._spent(cursor, name, upload, fresh)
            if fresh:
                self._store(cursor, name, upload.round, upload.words[fresh])
                people += len(fresh)
                cursor.execute(
                    "UPDATE rounds SET people = ? WHERE study = ? AND number = ?", (people, name, upload.round)
                )
        return codes, people

    def _keep_more_pages(self) -> None:
        """Give this thread, which takes reports, the larger cache."""
        if not getattr(self._local, "takes_reports", False):
            with self._told(), self._lent() as connection:
                connection.execute(f"PRAGMA cache_size = -{_TAKING_CACHE}").close()
            self._local.takes_reports = True

    def after_taking(self) -> None:
        """Empty the log, which has what was taken together."""
        self.tidy()

    def _spent(self, cursor: Any, name: str, upload: Upload, which: list[int]) -> bool:
        """Spend tokens, and return whether all of them were there and not spent."""
        cursor.executemany(
            "UPDATE tokens SET used = ? WHERE study = ? AND hash = ? AND used = ?",
            [(upload.keys[at], name, upload.tokens[at], UNSPENT) for at in which],
        )
        return not which or cursor.rowcount == len(which)

    def spent(self, name: str, tokens: Sequence[bytes]) -> dict[bytes, bytes | None]:
        """Return what tokens were spent with."""
        with self.reading() as cursor:
            return self._known(cursor, name, tokens)

    def _known(self, cursor: Any, name: str, tokens: Sequence[bytes]) -> dict[bytes, bytes | None]:
        known: dict[bytes, bytes | None] = {}
        for one in tokens:
            cursor.execute("SELECT used FROM tokens WHERE study = ? AND hash = ?", (name, one))
            for (used,) in cursor.fetchall():
                known[one] = spent_with(used)
        return known

    def _store(self, cursor: Any, name: str, number: int, words: Words) -> None:
        """Put reports among those of a block that is not full yet, in random order, and go on with new blocks."""
        wide, tail = words.shape[1], self._tails.get((name, number))
        if tail is not None:
            cursor.execute("SELECT words FROM blocks WHERE id = ?", (tail,))
            found = cursor.fetchall()  # none, where the transaction that made it was undone
            words = np.concatenate([words_of(one, wide) for (one,) in found] + [words])
            cursor.execute("DELETE FROM blocks WHERE id = ?", (tail,))
        words = shuffled(words)
        place = 0
        for start in range(0, len(words), BLOCK):
            place = random_place()
            cursor.execute(
                "INSERT INTO blocks (id, study, round, words) VALUES (?, ?, ?, ?)",
                (place, name, number, packed_bytes(words[start : start + BLOCK])),
            )
        if len(words) % BLOCK:
            self._tails[name, number] = place
        else:
            self._tails.pop((name, number), None)

    def tidy(self, *, wait: float = 0) -> bool:
        """Bring everything into the file, where it was overwritten, and empty the log that still has it."""
        try:
            if not self._log.stat().st_size:
                return True
            with self._lent() as connection:
                connection.execute(f"PRAGMA busy_timeout = {round(1000 * wait)}").close()
                try:
                    with contextlib.closing(connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")) as found:
                        ((busy, *_),) = found.fetchall()
                finally:
                    connection.execute(f"PRAGMA busy_timeout = {1000 * _WAIT}").close()
        except FileNotFoundError:
            return True
        except (OSError, sqlite3.Error):
            return False  # a full disk, say: what is stored is stored, and the log is emptied another time
        return not busy


def _keep_private(path: Path) -> None:
    """Make a file that its owner alone can read, and leave one that is there to its owner alone; its log is like it."""
    with contextlib.suppress(OSError):  # what cannot be made is told when it is opened
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    for end in ("", "-wal", "-shm"):
        one = path.with_name(path.name + end)
        with contextlib.suppress(OSError):
            if one.stat().st_mode & 0o077:
                one.chmod(0o600)
