"""What is handed over open: file objects and standard input.

Readers open what they read more than once, so what comes in is kept in a private folder meanwhile, under a name whose
suffix says what it is. Messages and the log call it what the user calls it.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import DiscreetError, InputError, LimitError, Message, MisuseError
from ..temporary import make_temporary_directory
from ._formats import FORMATS, known_format
from ._streams import COMPRESSIONS

_STANDARD = "Standard input"
_OBJECT = "The file object"
_CHUNK = 1 << 16  # what comes slowly is kept as it comes
# How packed data begin. A workbook is an archive too, and so is not unpacked.
_BEGINS = {
    b"\x1f\x8b": ".gz",
    b"BZh": ".bz2",
    b"\xfd7zXZ\x00": ".xz",
    b"\x28\xb5\x2f\xfd": ".zst",
    b"PK\x03\x04": ".zip",
}


def standard_input() -> Any:
    """Return the stream of standard input, if anything comes in by it."""
    stream = sys.stdin
    if stream is None or stream.closed or stream.isatty():
        raise InputError.format(
            "The source is -, standard input, but nothing is piped into it: give a file, or `cat sales.csv | "
            "discreet …`."
        )
    return getattr(stream, "buffer", stream)


@contextmanager
def kept(stream: Any, format_: str | None) -> Iterator[tuple[str, Path, bool]]:
    """Give what messages call a stream, a file with what it holds, and whether it gave text instead of bytes."""
    standard = sys.stdin is not None and stream in (sys.stdin, getattr(sys.stdin, "buffer", None))
    called = None if standard else getattr(stream, "name", None)
    name = _STANDARD if standard else called if isinstance(called, str) and called else _OBJECT
    suffix = "" if standard or name is _OBJECT else _inner(Path(name))
    if format_ is None and known_format(Path(f"x{suffix}")) is None:
        raise MisuseError.format(
            "{name} has no suffix that tells its format: say it by {format=}, as one of {known}.",
            name=name,
            known=", ".join(FORMATS[:8]),
        )
    with make_temporary_directory() as folder:
        first = _read(stream, name)
        text = isinstance(first, str)
        packed = "" if text else _packed(first, format_ or known_format(Path(f"x{suffix}")))
        copy = folder / f"given{suffix}{packed}"
        with _by_its_name(str(copy), name):
            _copy(stream, first, copy, name)
            yield name, copy, text


def _inner(path: Path) -> str:
    """Return the suffix of a name, before that of how it is packed: the object may have been unpacked already."""
    return Path(path.stem).suffix if path.suffix.lower() in COMPRESSIONS else path.suffix


def _packed(first: bytes, format_: str | None) -> str:
    found = next((suffix for begin, suffix in _BEGINS.items() if first.startswith(begin)), "")
    return "" if found == ".zip" and format_ == "excel" else found


def _read(stream: Any, name: str) -> Any:
    try:
        chunk = stream.read(_CHUNK)
    except (OSError, ValueError, EOFError) as error:
        # A text that cannot be decoded is such an error too, and names bytes of it.
        why = "its text cannot be decoded" if isinstance(error, UnicodeError) else str(error).rstrip(".")
        raise InputError(f"{name} cannot be read: {why}.") from None
    if not isinstance(chunk, str | bytes):
        raise MisuseError(f"{name} gives {type(chunk).__name__} when it is read, neither bytes nor text.")
    return chunk


def _copy(stream: Any, first: Any, copy: Path, name: str) -> None:
    chunk = first
    try:
        with copy.open("wb") as file:
            while chunk:
                file.write(chunk.encode("utf-8", "surrogatepass") if isinstance(chunk, str) else chunk)
                chunk = _read(stream, name)
    except OSError as error:
        raise LimitError(
            f"{name} cannot be kept in {copy.parent}: {error.strerror}; set TMPDIR to a folder with enough room."
        ) from None


@contextmanager
def _by_its_name(copy: str, name: str) -> Iterator[None]:
    """Tell of what was given, and not of the file that it is kept in."""

    def plainly(record: logging.LogRecord) -> bool:
        record.msg, record.args = record.getMessage().replace(copy, name), ()
        return True

    log = logging.getLogger("discreet")
    log.addFilter(plainly)
    try:
        yield
    except DiscreetError as error:
        error.message = Message(error.message.python.replace(copy, name), error.message.typed.replace(copy, name))
        error.args = (str(error.message), *error.args[1:])
        raise
    finally:
        log.removeFilter(plainly)
