"""The file behind a ledger: SQLite that is written whole, read whole, or refused with a clear error.

SQLite's own check finds broken pages, not a changed digit, so a digest of every row is kept beside the rows, compared
whenever they are read and renewed with every change. It guards against damage; whoever can write the file can forge it.
Nothing here knows what the rows mean.

SQLite keeps what it takes to go back from a spend that was broken off in a journal that is named after the file. Who
comes by another name finds no journal, spends, and has that taken back by the next who comes by the first name. So a
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

from ...errors import InputError, MisuseError, word

PATIENCE = 5.0  # seconds to wait for another process
NOTHING = "Nothing was spent"
_HEADER = 100  # bytes every SQLite file begins with
_MOUNTS = Path("/proc/self/mountinfo")  # of Linux
_APPLICATION = 0x64_73_6C_67  # "dslg", by which a file is known as a ledger

_PAGES = "pragma quick_check(1)"
_UNREAD = re.compile(r"unable to get the page\. error code=(\d+)")  # what SQLite says of a page that cannot be read

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
    """How a file is laid out: its version, and its tables with the statements that make them."""

    version: int
    tables: dict[str, str]


def create(path: Path, form: Schema, fill: Callable[[sqlite3.Connection], object]) -> None:
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
    except BaseException as error:
        for leftover in (path, path.with_name(f"{path.name}-journal")):
            with suppress(OSError):
                leftover.unlink()
        if isinstance(error, _Doubt):
            raise _failing(path, "disk I/O error") from None
        raise


class _Doubt(Exception):  # noqa: N818
    """What was read is not what was written, or was not read well: a second look decides."""


class LedgerFile:
    """An open file that was found whole. What SQLite complains about is told by `opened` in our words."""

    def __init__(self, path: Path, form: Schema, connection: sqlite3.Connection, kept: str) -> None:
        self.path = path
        self.kept = kept
        self.form = form
        self.connection = connection

    def reading(self) -> AbstractContextManager[sqlite3.Connection]:
        """See one state of the file throughout the block, checked against its seal."""
        return self._unchanged("begin")

    def holding(self) -> AbstractContextManager[sqlite3.Connection]:
        """See one state of the file, and keep everyone else from changing it; nothing is changed here either."""
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
        if not _fits(self.connection, self.form):
            raise _Doubt

    def _roll_back(self) -> None:
        # Where rolling back fails too, the journal is left for the next connection to roll back.
        with suppress(sqlite3.Error):
            if self.connection.in_transaction:
                self.connection.execute("rollback")


@contextmanager
def opened(path: Path, form: Schema, kept: str = NOTHING) -> Iterator[LedgerFile]:
    """Open a file that was made by :func:`create` and is whole; `kept` is what errors say about what was spent."""
    _check_place(path)
    try:
        with _translated(path, kept), closing(_connected(path)) as connection:
            # Asked of SQLite, not read from the file: closing a file that SQLite has open too drops its locks.
            if connection.execute("pragma application_id").fetchone()[0] != _APPLICATION:
                raise InputError(f"{path} is a database of another program, not a ledger; give the ledger's own file.")
            found = connection.execute("pragma user_version").fetchone()[0]
            if found > form.version:
                raise InputError(
                    f"{path} was written by a newer discreet (its version is {found}, this one knows {form.version}): "
                    "update discreet to use it."
                )
            if 0 < found < form.version:
                raise InputError(
                    f"{path} was written by an earlier discreet (its version is {found}, this one writes "
                    f"{form.version}): `discreet ledger upgrade {word(path)}` brings it up to date, and loses nothing "
                    "of it."
                )
            if found != form.version or connection.execute(_PAGES).fetchall() != [("ok",)]:
                raise _Doubt
            _prepare(connection)
            yield LedgerFile(path, form, connection, kept)
    except _Doubt:
        raise (damaged(path, kept) if _is_damaged(path, form) else _failing(path, "disk I/O error")) from None


def version(path: Path) -> int:
    """Return the version that a file says it has; 0 where it cannot be told, as :func:`opened` will say."""
    _check_place(path)
    try:
        with closing(_connected(path)) as connection:
            found: int = connection.execute("pragma user_version").fetchone()[0]
            return found
    except sqlite3.Error:
        return 0


def _is_damaged(path: Path, form: Schema) -> bool:
    """Look again, with a new connection: an error of the disk is no damage, though SQLite may say so of both.

    Putting back a copy, the advice for damage, would throw away what was spent since. It is not given where a second
    look finds everything in order, nor where it is reading that fails.
    """
    try:
        with closing(_connected(path)) as connection:
            pages = connection.execute(_PAGES).fetchall()
            if pages != [("ok",)]:
                codes = [int(code) for (line,) in pages for code in _UNREAD.findall(str(line))]
                return all(code & 0xFF != sqlite3.SQLITE_IOERR for code in codes)
            return connection.execute("pragma user_version").fetchone() != (form.version,) or not _fits(
                connection, form
            )
    except sqlite3.Error as error:
        return _code(error) != sqlite3.SQLITE_IOERR
    except UnicodeDecodeError:
        return True


def damaged(path: Path, kept: str = NOTHING) -> InputError:
    """Return the error for a file whose contents are not what was written."""
    return InputError(
        f"{path} is damaged: its contents are not what was written. {kept}. Put back a copy, and spend from "
        "it again what was released since the copy was made."
    )


def _connected(path: Path) -> sqlite3.Connection:
    uri = f"{path.resolve().as_uri()}?mode=rw"
    return sqlite3.connect(uri, uri=True, timeout=PATIENCE, isolation_level=None)


def _prepare(connection: sqlite3.Connection) -> None:
    for pragma in _PRAGMAS:
        connection.execute(f"pragma {pragma}")


def _fits(connection: sqlite3.Connection, form: Schema) -> bool:
    """Say whether the rows are those that were sealed."""
    return connection.execute("select digest from seal").fetchall() == [(_seal(connection, form),)]


def _seal(connection: sqlite3.Connection, form: Schema) -> bytes:
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
            f"There is no ledger {shown}; make one with `discreet ledger create {word(shown)} --epsilon 1`."
        ) from None
    except OSError as error:
        raise InputError(f"{shown} cannot be read: {error.strerror}.") from None
    except ValueError:
        raise InputError(f"There is no ledger {shown!r}: its name has a null character.") from None
    if stat.S_ISDIR(status.st_mode):
        raise InputError(f"{shown} is a directory; give the file of the ledger in it.")
    if not stat.S_ISREG(status.st_mode):
        raise InputError(f"{shown} is not a regular file but a pipe or a device; a ledger is a file.")
    if status.st_nlink > 1:
        raise InputError(
            f"{shown} has {status.st_nlink} names (hard links), and whoever spends by one of them may undo what was "
            f"spent by another. Keep one name: `find FOLDER -samefile {shown}` lists them. Symbolic links are fine."
        )
    if _is_mounted(path.resolve()):
        raise InputError(
            f"{shown} is mounted by itself, and whoever spends by one of its paths may undo what was spent by another. "
            "Mount the folder that it lies in instead, so that what SQLite writes beside it is there too."
        )
    if status.st_size == 0:
        raise InputError(
            f"{shown} is empty. If a ledger was there, put back a copy; if making one was interrupted, remove the file "
            "and make it again."
        )
    if status.st_size < _HEADER:  # SQLite would take it for an empty database
        raise _unknown(path)


def _is_mounted(place: Path) -> bool:
    """Say whether a file is a mount point, as one that is handed to a container alone."""
    try:
        if place.stat().st_dev != place.parent.stat().st_dev:
            return True
        points = [line.split()[4] for line in _MOUNTS.read_bytes().splitlines()]
    except (OSError, IndexError):
        return False  # another system, where a file of the same disk cannot be told
    # The kernel writes blanks, line feeds and backslashes as three octal digits.
    return os.fsencode(place) in [re.sub(rb"\\([0-7]{3})", lambda code: bytes([int(code[1], 8)]), at) for at in points]


def _unknown(path: Path) -> InputError:
    return InputError(f"{path} is not a ledger, or so damaged that it cannot be told; put back a copy if it was one.")


@contextmanager
def _translated(path: Path, kept: str = NOTHING) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise _in_words(path, error, kept) from error


def _code(error: sqlite3.Error | UnicodeDecodeError) -> int:
    # Errors of Python's own making, such as text that is not UTF-8, have no code: they come from damaged rows.
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
    return code & 0xFF


def _in_words(path: Path, error: sqlite3.Error | UnicodeDecodeError, kept: str) -> Exception:
    code = _code(error)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return InputError(
            f"{path} is locked: another process has been using it for {PATIENCE:g} seconds. {kept}; try again "
            "when it is done."
        )
    if code == sqlite3.SQLITE_FULL:
        return InputError(f"{path} cannot be written: the disk is full. {kept}; make room and try again.")
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH):
        return InputError(
            f"{path} cannot be opened for writing: you need permission to write it and to make files in {path.parent}. "
            f"{kept}."
        )
    if code == sqlite3.SQLITE_IOERR:
        return _failing(path, str(error))
    if code == sqlite3.SQLITE_NOTADB:
        return _unknown(path)
    return _Doubt()


def _failing(path: Path, error: str) -> InputError:
    return InputError(
        f"{path} cannot be read or written: {error}; the disk may be full or failing. Nothing was released; "
        f"`discreet ledger show {word(path)}` says what was spent."
    )
