"""Open files and standard input, copied to a temporary file for readers that open a file several times.

The suffix of the copy says the format. Messages and the log name the source as the user does.
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
from ._formats import FORMATS, find_format
from ._streams import COMPRESSIONS

_STANDARD = "Standard input"
_OBJECT = "The file object"
_CHUNK = 1 << 16  # bytes; small, so that a slow stream is copied as it arrives
# The first bytes of packed data. A workbook is a zip archive too, but is not unpacked.
_SIGNATURES = {
    b"\x1f\x8b": ".gz",
    b"BZh": ".bz2",
    b"\xfd7zXZ\x00": ".xz",
    b"\x28\xb5\x2f\xfd": ".zst",
    b"PK\x03\x04": ".zip",
}


def open_standard_input() -> Any:
    """Return the stream of standard input, after a check that it is piped."""
    stream = sys.stdin
    if stream is None or stream.closed or stream.isatty():
        raise InputError.format(
            "The source is -, standard input, but nothing is piped into it: give a file, or `cat sales.csv | "
            "discreet …`."
        )
    return getattr(stream, "buffer", stream)


@contextmanager
def copy_stream(stream: Any, format_: str | None) -> Iterator[tuple[str, Path, bool]]:
    """Return the name of a stream, the path of a copy, and whether it has text instead of bytes, as a context."""
    is_standard = sys.stdin is not None and stream in (sys.stdin, getattr(sys.stdin, "buffer", None))
    stream_name = None if is_standard else getattr(stream, "name", None)
    name = _STANDARD if is_standard else stream_name if isinstance(stream_name, str) and stream_name else _OBJECT
    suffix = "" if is_standard or name is _OBJECT else _find_suffix(Path(name))
    if format_ is None and find_format(Path(f"x{suffix}")) is None:
        raise MisuseError.format(
            "{name} has no suffix that tells its format: say it by {format=}, as one of {known}.",
            name=name,
            known=", ".join(FORMATS[:8]),
        )
    with make_temporary_directory() as folder:
        first_chunk = _read_chunk(stream, name)
        is_text = isinstance(first_chunk, str)
        packed_suffix = "" if is_text else _find_packed_suffix(first_chunk, format_ or find_format(Path(f"x{suffix}")))
        copy = folder / f"given{suffix}{packed_suffix}"
        with _rename_source(str(copy), name):
            _copy(stream, first_chunk, copy, name)
            yield name, copy, is_text


def _find_suffix(path: Path) -> str:
    """Return the suffix of a name without a compression suffix: the stream may be unpacked already."""
    return Path(path.stem).suffix if path.suffix.lower() in COMPRESSIONS else path.suffix


def _find_packed_suffix(first_chunk: bytes, format_: str | None) -> str:
    suffix = next((suffix for signature, suffix in _SIGNATURES.items() if first_chunk.startswith(signature)), "")
    return "" if suffix == ".zip" and format_ == "excel" else suffix


def _read_chunk(stream: Any, name: str) -> Any:
    try:
        chunk = stream.read(_CHUNK)
    except (OSError, ValueError, EOFError) as error:
        # A UnicodeError is a ValueError, and its text has private bytes.
        reason = "its text cannot be decoded" if isinstance(error, UnicodeError) else str(error).rstrip(".")
        raise InputError(f"{name} cannot be read: {reason}.") from None
    if not isinstance(chunk, str | bytes):
        raise MisuseError(f"{name} gives {type(chunk).__name__} when it is read, neither bytes nor text.")
    return chunk


def _copy(stream: Any, first_chunk: Any, copy: Path, name: str) -> None:
    chunk = first_chunk
    try:
        with copy.open("wb") as file:
            while chunk:
                file.write(chunk.encode("utf-8", "surrogatepass") if isinstance(chunk, str) else chunk)
                chunk = _read_chunk(stream, name)
    except OSError as error:
        raise LimitError(
            f"{name} cannot be kept in {copy.parent}: {error.strerror}; set TMPDIR to a folder with enough room."
        ) from None


@contextmanager
def _rename_source(copy: str, name: str) -> Iterator[None]:
    """Replace the path of the copy by the name of the source, in the log and in errors, as a context."""

    def rename(record: logging.LogRecord) -> bool:
        record.msg, record.args = record.getMessage().replace(copy, name), ()
        return True

    log = logging.getLogger("discreet")
    log.addFilter(rename)
    try:
        yield
    except DiscreetError as error:
        error.message = Message(error.message.python.replace(copy, name), error.message.typed.replace(copy, name))
        error.args = (str(error.message), *error.args[1:])
        raise
    finally:
        log.removeFilter(rename)
