"""The file of a ledger: SQLite that is written whole, read whole, or refused with a clear error.

SQLite's own check finds broken pages and no changed digit. A digest of every row is therefore stored beside the rows,
compared at each reading and renewed at each change. The digest guards against damage; a writer of the file can forge
it. This module does not interpret the rows.

SQLite stores the means to roll back an interrupted spend in a journal named after the file. A process that opens the
file by a second name finds no journal and spends; the next process that uses the first name rolls that spend back. So a
file with two names is refused.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from ...errors import InputError, MisuseError, quote_word

# Seconds to wait for a process with the lock, which a spend holds to check and to write alone. Chosen: half or double
# only moves the moment of the error beside a process that hangs.
PATIENCE = 5.0
NOTHING = "Nothing was spent"
_HEADER = 100  # bytes every SQLite file begins with
_MOUNTS = Path("/proc/self/mountinfo")  # of Linux
_APPLICATION = 0x64_73_6C_67  # "dslg", by which a file is known as a ledger

_PAGES = "pragma quick_check(1)"
_UNREAD_PAGE = re.compile(r"unable to get the page\. error code=(\d+)")  # the error of an unreadable page

_SEAL = """
create table seal (       -- one row
    digest blob not null  -- BLAKE2 of all rows of all other tables
)
"""
# DELETE keeps the ledger one file. EXTRA waits until the end of a transaction is on the disk too: with FULL, power lost
# right after a spend could bring the journal back, and take from the ledger what was paid for a result already shown.
_PRAGMAS = ("journal_mode = delete", "synchronous = extra", "fullfsync = on")


@dataclass(frozen=True, kw_only=True)
class Schema:
    """The layout of a file: its version, and its tables with their create statements."""

    version: int
    tables: dict[str, str]


def create(path: Path, form: Schema, fill: Callable[[sqlite3.Connection], object]) -> None:
    """Create a new file, readable by its owner alone, and let `fill` write into it; on any failure no file is left."""
    try:
        # Created before SQLite opens it: the mode protects the key from the first byte on, and an existing file is
        # never overwritten.
        path.touch(mode=0o600, exist_ok=False)
    except FileExistsError:
        problem = "is a directory" if path.is_dir() else "exists already"
        raise MisuseError(
            f"Cannot create {path}: it {problem}, and nothing is overwritten by a ledger. Give another name."
        ) from None
    except FileNotFoundError:
        raise MisuseError(
            f"Cannot create {path}: there is no directory {path.parent}; make it first, or give another place."
        ) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "a file name has no null character"
        raise MisuseError(f"Cannot create {str(path)[:200]!r}: {reason}. Give another place.") from None
    try:
        with _translate_errors(path), closing(_connect(path)) as connection:
            _prepare(connection)
            connection.execute("begin immediate")
            for statement in (*form.tables.values(), _SEAL):
                connection.execute(statement)
            fill(connection)
            connection.execute("insert into seal values (?)", (_seal(connection, form),))
            connection.execute(f"pragma application_id = {_APPLICATION}")
            connection.execute(f"pragma user_version = {form.version}")
            connection.execute("commit")
    except BaseException as error:
        for leftover in (path, path.with_name(f"{path.name}-journal")):
            with suppress(OSError):
                leftover.unlink()
        if isinstance(error, _Doubt):
            raise _disk_error(path, "disk I/O error") from None
        raise


class _Doubt(Exception):  # noqa: N818
    """The contents differ from the seal, or a read failed: a second look decides between damage and a disk error."""


class LedgerFile:
    """An open file that passed all checks. `open_ledger` translates the errors of SQLite."""

    def __init__(self, path: Path, form: Schema, connection: sqlite3.Connection, spend_note: str) -> None:
        self.path = path
        self.spend_note = spend_note
        self.form = form
        self.connection = connection

    def begin_reading(self) -> AbstractContextManager[sqlite3.Connection]:
        """Read one state of the file throughout the block, checked against its seal."""
        return self._unchanged("begin")

    def hold_lock(self) -> AbstractContextManager[sqlite3.Connection]:
        """Read one state of the file, and lock out writers; the block changes nothing."""
        return self._unchanged("begin immediate")

    @contextmanager
    def _unchanged(self, begin: str) -> Iterator[sqlite3.Connection]:
        self.connection.execute(begin)
        try:
            self._check()
            yield self.connection
        finally:
            self._roll_back()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Lock the file for the block; all changes are kept at its end, or none if the block raises."""
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
        if not _matches_seal(self.connection, self.form):
            raise _Doubt

    def _roll_back(self) -> None:
        # If rolling back fails too, the journal stays for the next connection to roll back.
        with suppress(sqlite3.Error):
            if self.connection.in_transaction:
                self.connection.execute("rollback")


@contextmanager
def open_ledger(path: Path, form: Schema, spend_note: str = NOTHING) -> Iterator[LedgerFile]:
    """Open a whole file made by :func:`create`; errors say `spend_note` about the spend."""
    _check_place(path)
    try:
        with _translate_errors(path, spend_note), closing(_connect(path)) as connection:
            # Read through SQLite: POSIX drops all locks of a process on a file when any of its descriptors is closed.
            if connection.execute("pragma application_id").fetchone()[0] != _APPLICATION:
                raise InputError(f"{path} is a database of another program, not a ledger; give the ledger's own file.")
            version = connection.execute("pragma user_version").fetchone()[0]
            if version > form.version:
                raise InputError(
                    f"{path} was written by a newer discreet (its version is {version}, this one knows {form.version}"
                    "): update discreet to use it."
                )
            if 0 < version < form.version:
                raise InputError(
                    f"{path} was written by an earlier discreet (its version is {version}, this one writes "
                    f"{form.version}): `discreet ledger upgrade {quote_word(path)}` brings it up to date, and loses "
                    "nothing of it."
                )
            if version != form.version or connection.execute(_PAGES).fetchall() != [("ok",)]:
                raise _Doubt
            _prepare(connection)
            yield LedgerFile(path, form, connection, spend_note)
    except _Doubt:
        raise (
            damage_error(path, spend_note) if _is_damaged(path, form) else _disk_error(path, "disk I/O error")
        ) from None


def read_version(path: Path) -> int:
    """Return the version stated in a file; 0 if it cannot be read, as :func:`open_ledger` will report."""
    _check_place(path)
    try:
        with closing(_connect(path)) as connection:
            version: int = connection.execute("pragma user_version").fetchone()[0]
            return version
    except sqlite3.Error:
        return 0


def _is_damaged(path: Path, form: Schema) -> bool:
    """Return whether a second look, with a new connection, finds damage: SQLite reports disk errors as damage too.

    The advice for damage, to restore a copy, would discard later spends. It is not given if the second look finds
    the file in order, nor if reading fails.
    """
    try:
        with closing(_connect(path)) as connection:
            pages = connection.execute(_PAGES).fetchall()
            if pages != [("ok",)]:
                codes = [int(code) for (line,) in pages for code in _UNREAD_PAGE.findall(str(line))]
                return all(code & 0xFF != sqlite3.SQLITE_IOERR for code in codes)
            return connection.execute("pragma user_version").fetchone() != (form.version,) or not _matches_seal(
                connection, form
            )
    except sqlite3.Error as error:
        return _code(error) != sqlite3.SQLITE_IOERR
    except UnicodeDecodeError:
        return True


def damage_error(path: Path, spend_note: str = NOTHING) -> InputError:
    """Return the error for a file with contents other than those written."""
    return InputError(
        f"{path} is damaged: its contents are not what was written. {spend_note}. Put back a copy, and spend from "
        "it again what was released since the copy was made."
    )


def _connect(path: Path) -> sqlite3.Connection:
    uri = f"{path.resolve().as_uri()}?mode=rw"
    return sqlite3.connect(uri, uri=True, timeout=PATIENCE, isolation_level=None)


def _prepare(connection: sqlite3.Connection) -> None:
    for pragma in _PRAGMAS:
        connection.execute(f"pragma {pragma}")


def _matches_seal(connection: sqlite3.Connection, form: Schema) -> bool:
    """Return whether the rows match the seal."""
    return connection.execute("select digest from seal").fetchall() == [(_seal(connection, form),)]


def _seal(connection: sqlite3.Connection, form: Schema) -> bytes:
    digest = blake2b(digest_size=32)
    for table in form.tables:
        rows: Sequence[object] = connection.execute(f"select * from {table} order by rowid").fetchall()  # noqa: S608
        digest.update(json.dumps([table, rows], default=bytes.hex).encode())
    return digest.digest()


def _check_place(path: Path) -> None:
    label = str(path)[:200]
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(
            f"There is no ledger {label}; make one with `discreet ledger create {quote_word(label)} --epsilon 1`."
        ) from None
    except OSError as error:
        raise InputError(f"{label} cannot be read: {error.strerror}.") from None
    except ValueError:
        raise InputError(f"There is no ledger {label!r}: its name has a null character.") from None
    if stat.S_ISDIR(status.st_mode):
        raise InputError(f"{label} is a directory; give the file of the ledger in it.")
    if not stat.S_ISREG(status.st_mode):
        raise InputError(f"{label} is not a regular file but a pipe or a device; a ledger is a file.")
    if status.st_nlink > 1:
        raise InputError(
            f"{label} has {status.st_nlink} names (hard links), and whoever spends by one of them may undo what was "
            f"spent by another. Keep one name: `find FOLDER -samefile {label}` lists them. Symbolic links are fine."
        )
    if _is_mounted(path.resolve()):
        raise InputError(
            f"{label} is mounted by itself, and whoever spends by one of its paths may undo what was spent by another. "
            "Mount the folder that it lies in instead, so that what SQLite writes beside it is there too."
        )
    if status.st_size == 0:
        raise InputError(
            f"{label} is empty. If a ledger was there, put back a copy; if making one was interrupted, remove the file "
            "and make it again."
        )
    if status.st_size < _HEADER:  # SQLite would take it for an empty database
        raise _unknown_file_error(path)


def _is_mounted(place: Path) -> bool:
    """Return whether a file is a mount point, such as a file handed to a container alone."""
    try:
        if place.stat().st_dev != place.parent.stat().st_dev:
            return True
        points = [line.split()[4] for line in _MOUNTS.read_bytes().splitlines()]
    except (OSError, IndexError):
        return False  # systems without mountinfo: undetectable on one disk
    # The kernel writes blanks, line feeds and backslashes as three octal digits.
    return os.fsencode(place) in [
        re.sub(rb"\\([0-7]{3})", lambda code: bytes([int(code[1], 8)]), point) for point in points
    ]


def _unknown_file_error(path: Path) -> InputError:
    return InputError(f"{path} is not a ledger, or so damaged that it cannot be told; put back a copy if it was one.")


@contextmanager
def _translate_errors(path: Path, spend_note: str = NOTHING) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise _translate_error(path, error, spend_note) from error


def _code(error: sqlite3.Error | UnicodeDecodeError) -> int:
    # Errors of Python's own making, such as text that is not UTF-8, have no code: they come from damaged rows.
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
    return code & 0xFF


def _translate_error(path: Path, error: sqlite3.Error | UnicodeDecodeError, spend_note: str) -> Exception:
    code = _code(error)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return InputError(
            f"{path} is locked: another process has been using it for {PATIENCE:g} seconds. {spend_note}; try again "
            "when it is done."
        )
    if code == sqlite3.SQLITE_FULL:
        return InputError(f"{path} cannot be written: the disk is full. {spend_note}; make room and try again.")
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH):
        return InputError(
            f"{path} cannot be opened for writing: you need permission to write it and to make files in {path.parent}. "
            f"{spend_note}."
        )
    if code == sqlite3.SQLITE_IOERR:
        return _disk_error(path, str(error))
    if code == sqlite3.SQLITE_NOTADB:
        return _unknown_file_error(path)
    return _Doubt()


def _disk_error(path: Path, error: str) -> InputError:
    return InputError(
        f"{path} cannot be read or written: {error}; the disk may be full or failing. Nothing was released; "
        f"`discreet ledger show {quote_word(path)}` says what was spent."
    )
