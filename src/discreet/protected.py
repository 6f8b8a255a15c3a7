"""The check for files that no command may replace: files of a service, and SQLite databases like ledgers.

A key, a spent budget and the reports of people cannot be restored. Every write of an output file calls this check
first, and no option lifts it.
"""

from __future__ import annotations

from pathlib import Path

from .errors import MisuseError

# The names of the files of a service, as `collector/_documents.py`, `collector/_serving.py` and `collector/storage`
# have them. A lock is empty, so that its name alone protects it.
SERVICE_FILES = ("signing.key", "serving.lock", "collector.sqlite")
_DATABASE_MAGIC = b"SQLite format 3\0"  # https://www.sqlite.org/fileformat2.html, section 1.3.1
# The suffixes of the logs of a database, and the first bytes of two kinds of logs: sections 3 and 4.1 of that page.
_LOG_SUFFIXES = ("-wal", "-shm", "-journal")
_LOG_MAGICS = (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83", b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7")


def check_unprotected(typed_path: Path) -> None:
    """Raise MisuseError if a path is a file of a service, a database, or the log of a database."""
    try:
        target = typed_path.resolve()
        kind = _find_protected_kind(target)
    except (OSError, RuntimeError):
        return  # a path that cannot be resolved cannot be written either
    if kind:
        raise MisuseError(f"{typed_path} {kind}, which is never replaced: nothing was changed. Write to another file.")


def _find_protected_kind(target: Path) -> str:
    """Return the kind of a protected file as a phrase; "" for any further file."""
    base = next((target.name.removesuffix(end) for end in _LOG_SUFFIXES if target.name.endswith(end)), "")
    if target.name in SERVICE_FILES or base in SERVICE_FILES:
        return "is a file of a service"
    head = _read_first_bytes(target)
    if head.startswith(_DATABASE_MAGIC):
        return "is a database, such as a ledger"
    # A log may be empty or absent now: SQLite would read any file under its name as the log.
    if head.startswith(_LOG_MAGICS) or (base and _read_first_bytes(target.with_name(base)).startswith(_DATABASE_MAGIC)):
        return "is the log of a database, such as a ledger"
    return ""


def _read_first_bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(len(_DATABASE_MAGIC))
    except OSError:
        return b""
