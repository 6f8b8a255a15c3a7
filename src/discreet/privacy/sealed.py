"""The file behind a ledger: SQLite that is written whole, read whole, or refused with a clear error.

SQLite's own check finds broken pages, not a changed digit, so a digest of every row is kept beside the rows, compared
whenever they are read and renewed with every change. It guards against damage; whoever can write the file can forge it.
Nothing here knows what the rows mean.
"""

from __future__ import annotations

import json
import sqlite3
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from ..errors import InputError, MisuseError

PATIENCE = 5.0  # seconds to wait for another process
_HEADER = 100  # bytes every SQLite file begins with
_APPLICATION = 0x64_73_6C_67  # "dslg", by which a file is known as a ledger

_SEAL = """
create table seal (       -- one row
    digest blob not null  -- BLAKE2 of all rows of all other tables
)
"""
# DELETE keeps the ledger one file. EXTRA waits until the end of a transaction is on the disk too: with FULL, power lost
# right after a spend could bring the journal back, and take from the ledger what was paid for a result already shown.
_PRAGMAS = ("journal_mode = delete", "synchronous = extra", "fullfsync = on")


@dataclass(frozen=True, kw_only=True)
class Form:
    """How a file is laid out: its version, and its tables with the statements that make them."""

    version: int
    tables: dict[str, str]


def create(path: Path, form: Form, fill: Callable[[sqlite3.Connection], object]) -> None:
    """Make a new file, readable by its owner alone, with what `fill` writes into it; on any failure there is none."""
    try:
        path.touch(mode=0o600, exist_ok=False)
    except FileExistsError:
        what = "is a directory" if path.is_dir() else "exists already"
        raise MisuseError(
            f"Cannot create {path}: it {what}, and nothing is overwritten by a ledger. Give another name."
        ) from None
    except FileNotFoundError:
        raise MisuseError(
            f"Cannot create {path}: there is no directory {path.parent}; make it first, or give another place."
        ) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "a file name has no null character"
        raise MisuseError(f"Cannot create {str(path)[:200]!r}: {reason}. Give another place.") from None
    try:
        with _translated(path), closing(_connected(path)) as connection:
            _prepare(connection)
            connection.execute("begin immediate")
            for statement in (*form.tables.values(), _SEAL):
                connection.execute(statement)
            fill(connection)
            connection.execute("insert into seal values (?)", (_seal(connection, form),))
            connection.execute(f"pragma application_id = {_APPLICATION}")
            connection.execute(f"pragma user_version = {form.version}")
            connection.execute("commit")
    except BaseException:
        for leftover in (path, path.with_name(f"{path.name}-journal")):
            with suppress(OSError):
                leftover.unlink()
        raise


class Sealed:
    """An open file that was found whole. What SQLite complains about is told by `opened` in our words."""

    def __init__(self, path: Path, form: Form, connection: sqlite3.Connection) -> None:
        self.path = path
        self.form = form
        self.connection = connection

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """See one state of the file throughout the block, checked against its seal."""
        self.connection.execute("begin")
        try:
            self._check()
            yield self.connection
        finally:
            self._roll_back()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Have the file alone for the block; its changes are all kept when it ends, or none if anything is raised."""
        self.connection.execute("begin immediate")
        try:
            self._check()
            yield self.connection
            self.connection.execute("update seal set digest = ?", (_seal(self.connection, self.form),))
            self.connection.execute("commit")
        except BaseException:
            self._roll_back()
            raise

    def _check(self) -> None:
        kept = self.connection.execute("select digest from seal").fetchall()
        if kept != [(_seal(self.connection, self.form),)]:
            raise damaged(self.path)

    def _roll_back(self) -> None:
        # Where rolling back fails too, the journal is left for the next connection to roll back.
        with suppress(sqlite3.Error):
            if self.connection.in_transaction:
                self.connection.execute("rollback")


@contextmanager
def opened(path: Path, form: Form) -> Iterator[Sealed]:
    """Open a file that was made by :func:`create` and is whole."""
    _check_place(path)
    with _translated(path), closing(_connected(path)) as connection:
        # Asked of SQLite, not read from the file: closing a file that SQLite has open too drops its locks.
        if connection.execute("pragma application_id").fetchone()[0] != _APPLICATION:
            raise InputError(f"{path} is a database of another program, not a ledger; give the ledger's own file.")
        version = connection.execute("pragma user_version").fetchone()[0]
        if version > form.version:
            raise InputError(
                f"{path} was written by a newer discreet (its version is {version}, this one knows {form.version}): "
                "update discreet to use it."
            )
        if version != form.version or connection.execute("pragma quick_check(1)").fetchall() != [("ok",)]:
            raise damaged(path)
        _prepare(connection)
        yield Sealed(path, form, connection)


def damaged(path: Path) -> InputError:
    """Return the error for a file whose contents are not what was written."""
    return InputError(
        f"{path} is damaged: its contents are not what was written. Nothing was spent. Put back a copy, and spend from "
        "it again what was released since the copy was made."
    )


def _connected(path: Path) -> sqlite3.Connection:
    uri = f"{path.resolve().as_uri()}?mode=rw"
    return sqlite3.connect(uri, uri=True, timeout=PATIENCE, isolation_level=None)


def _prepare(connection: sqlite3.Connection) -> None:
    for pragma in _PRAGMAS:
        connection.execute(f"pragma {pragma}")


def _seal(connection: sqlite3.Connection, form: Form) -> bytes:
    digest = blake2b(digest_size=32)
    for table in form.tables:
        rows: Sequence[object] = connection.execute(f"select * from {table} order by rowid").fetchall()  # noqa: S608
        digest.update(json.dumps([table, rows], default=bytes.hex).encode())
    return digest.digest()


def _check_place(path: Path) -> None:
    shown = str(path)[:200]
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(
            f"There is no ledger {shown}; make one with `discreet ledger create {shown} --epsilon 1`."
        ) from None
    except OSError as error:
        raise InputError(f"{shown} cannot be read: {error.strerror}.") from None
    except ValueError:
        raise InputError(f"There is no ledger {shown!r}: its name has a null character.") from None
    if stat.S_ISDIR(status.st_mode):
        raise InputError(f"{shown} is a directory; give the file of the ledger in it.")
    if not stat.S_ISREG(status.st_mode):
        raise InputError(f"{shown} is not a regular file but a pipe or a device; a ledger is a file.")
    if status.st_size == 0:
        raise InputError(
            f"{shown} is empty. If a ledger was there, put back a copy; if making one was interrupted, remove the file "
            "and make it again."
        )
    if status.st_size < _HEADER:  # SQLite would take it for an empty database
        raise _unknown(path)


def _unknown(path: Path) -> InputError:
    return InputError(f"{path} is not a ledger, or so damaged that it cannot be told; put back a copy if it was one.")


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise _in_words(path, error) from error


def _in_words(path: Path, error: sqlite3.Error | UnicodeDecodeError) -> InputError:
    # Errors of Python's own making, such as text that is not UTF-8, have no code: they come from damaged rows.
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return InputError(
            f"{path} is locked: another process has been using it for {PATIENCE:g} seconds. Nothing was spent; try "
            "again when it is done."
        )
    if code == sqlite3.SQLITE_FULL:
        return InputError(f"{path} cannot be written: the disk is full. Nothing was spent; make room and try again.")
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH):
        return InputError(
            f"{path} cannot be opened for writing: you need permission to write it and to make files in {path.parent}. "
            "Nothing was spent."
        )
    if code == sqlite3.SQLITE_IOERR:
        return InputError(
            f"{path} cannot be read or written: {error}; the disk may be full or failing. Nothing was released; "
            f"`discreet ledger show {path}` says what was spent."
        )
    if code == sqlite3.SQLITE_NOTADB:
        return _unknown(path)
    return damaged(path)
