"""Files that nothing may replace: those of a service, and SQLite databases, which ledgers are.

A key, a spent budget and the reports of people cannot be made again. So whatever writes a file for the user asks here
first, and no option lifts it.
"""

from __future__ import annotations

from pathlib import Path

from .errors import MisuseError

# The names of the files of a service, as `collector/_documents.py`, `collector/_serving.py` and `collector/storage`
# have them. A lock is empty, so that its name alone protects it.
SERVICE_FILES = ("signing.key", "serving.lock", "collector.sqlite")
_DATABASE = b"SQLite format 3\0"  # https://www.sqlite.org/fileformat2.html, section 1.3.1
# What SQLite writes beside a database: sections 3 and 4.1 of the same page, and the first bytes of two of them.
_BESIDE_DATABASE = ("-wal", "-shm", "-journal")
_LOGS = (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83", b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7")


def check_unprotected(shown: Path) -> None:
    """Refuse a path whose file nothing may replace: one of a service, a database, or the log of a database."""
    try:
        target = shown.resolve()
        kind = _protected_kind(target)
    except (OSError, RuntimeError):
        return  # a path that cannot be followed is refused by whoever writes there
    if kind:
        raise MisuseError(f"{shown} {kind}, which is never replaced: nothing was changed. Write to another file.")


def _protected_kind(target: Path) -> str:
    """Return what a protected file is, in words; an empty text for any other file."""
    base = next((target.name.removesuffix(end) for end in _BESIDE_DATABASE if target.name.endswith(end)), "")
    if target.name in SERVICE_FILES or base in SERVICE_FILES:
        return "is a file of a service"
    head = _first_bytes(target)
    if head.startswith(_DATABASE):
        return "is a database, such as a ledger"
    # A log may be empty, or not there at the moment: SQLite would take what lies in its place for the log.
    if head.startswith(_LOGS) or (base and _first_bytes(target.with_name(base)).startswith(_DATABASE)):
        return "is the log of a database, such as a ledger"
    return ""


def _first_bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(len(_DATABASE))
    except OSError:
        return b""
